//! What the command line says when it cannot do what was asked: one type, rendered once, in `main`.
//!
//! Every failure has what happened, optionally why (a chain of causes or lines of detail) and, wherever there
//! is one, the next step. It also carries the exit code, so that scripts can tell the cases apart; the table is
//! in `docs/src/exit-codes.md`.

use std::fmt;
use std::io::Write;

use anstyle::{AnsiColor, Style};
use ckpt_compiler::Code;

/// The exit codes that `cargo ckpt` itself chooses. A program that was started passes its own code through.
pub mod code {
    /// A question was answered with no: a difference, a damaged file, a missing requirement.
    pub const NO: u8 = 1;
    /// The command line itself is wrong (clap uses the same).
    pub const USAGE: u8 = 2;
    /// There is no checkpoint, or not the one that was named.
    pub const NO_CHECKPOINT: u8 = 76;
    /// The configuration or the store cannot be used: unreadable, damaged, unwritable, locked.
    pub const STORE: u8 = 78;
    /// `cargo` could not build the program, or there is no such program.
    pub const BUILD: u8 = 101;
    /// The program was built but could not be started.
    pub const START: u8 = 127;
}

/// Why a command did not do what it was asked to do.
#[derive(Debug, thiserror::Error)]
pub struct Failure {
    exit: u8,
    /// The code of the message, which `messages.toml` explains.
    code: Option<Code>,
    what: String,
    why: Vec<String>,
    next: Option<String>,
}

/// The result of everything that can end in a message to the user.
pub type Outcome<T> = Result<T, Failure>;

impl Failure {
    /// A failure with its exit code and one sentence, without a full stop, behind the code of the message: `E3012: ..`.
    pub fn new(exit: u8, message: impl Into<String>) -> Self {
        let message = message.into();
        let (code, what) = match Code::in_front_of(&message) {
            Some((code, what)) => (Some(code), what.to_owned()),
            None => (None, message),
        };
        Failure {
            exit,
            code,
            what,
            why: Vec::new(),
            next: None,
        }
    }

    /// A wrong command line.
    pub fn usage(what: impl Into<String>) -> Self {
        Self::new(code::USAGE, what)
    }

    /// A store or configuration that cannot be used.
    pub fn store(what: impl Into<String>) -> Self {
        Self::new(code::STORE, what)
    }

    /// Adds a line that says why.
    pub fn because(mut self, why: impl fmt::Display) -> Self {
        self.why.push(why.to_string());
        self
    }

    /// Says what the user can do about it.
    pub fn help(mut self, next: impl Into<String>) -> Self {
        self.next = Some(next.into());
        self
    }

    /// The exit code of the process.
    pub fn exit_code(&self) -> u8 {
        self.exit
    }

    /// Writes the message to standard error, in colour where that is wanted.
    pub fn render(&self) {
        let mut out = anstream::stderr().lock();
        let red = Style::new().bold().fg_color(Some(AnsiColor::Red.into()));
        let cyan = Style::new().bold().fg_color(Some(AnsiColor::Cyan.into()));
        // Nothing can be done about a closed standard error.
        let code = self.code.map_or_else(String::new, |code| format!("[{code}]"));
        let _ = writeln!(out, "{red}error{code}:{red:#} {}", self.what);
        for why in &self.why {
            for line in why.lines() {
                let _ = writeln!(out, "  {line}");
            }
        }
        if let Some(next) = &self.next {
            let mut lines = next.lines();
            let _ = writeln!(out, "{cyan}help:{cyan:#} {}", lines.next().unwrap_or_default());
            for line in lines {
                let _ = writeln!(out, "      {line}");
            }
        }
        if let Some(code) = self.code {
            let _ = writeln!(out, "{cyan}more:{cyan:#} cargo ckpt explain {code}");
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(code) = self.code {
            write!(f, "{code}: ")?;
        }
        f.write_str(&self.what)?;
        for why in &self.why {
            write!(f, ": {why}")?;
        }
        Ok(())
    }
}

/// Turns an error of the system about a file into a failure that names the file.
pub trait AboutFile<T> {
    /// Adds what was being done (`"cannot read"`) and to which file.
    fn about(self, doing: &str, path: &std::path::Path) -> Outcome<T>;
}

impl<T> AboutFile<T> for std::io::Result<T> {
    fn about(self, doing: &str, path: &std::path::Path) -> Outcome<T> {
        self.map_err(|error| {
            Failure::store(format!("E3032: {doing} `{}`", path.display()))
                .because(error)
                .help("see to the path, its rights and its disk")
        })
    }
}
