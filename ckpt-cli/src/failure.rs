//! What the command line says when it cannot do what was asked: one type, rendered once, in `main`.
//!
//! Every failure has what happened, optionally why (a chain of causes or lines of detail) and, wherever there
//! is one, the next step. It also carries the exit code, so that scripts can tell the cases apart; the table is
//! in `docs/src/exit-codes.md`.

use std::fmt;
use std::io::Write;

use anstyle::{AnsiColor, Style};
use ckpt::store::{StoreError, columns_of, printable_lines, wrapped};

use ckpt_compiler::Code;

/// The exit codes that `cargo ckpt` itself chooses. A program that was started passes its own code through.
pub mod code {
    /// A question was answered with no: a difference, a damaged file, a missing requirement.
    pub const NO: u8 = 1;
    /// The command line itself is wrong (clap uses the same).
    pub const USAGE: u8 = 2;
    /// There is no checkpoint, or not the one that was named.
    pub const NO_CHECKPOINT: u8 = 76;
    /// The checkpoint does not fit what it is to be continued with.
    pub const REFUSED: u8 = 77;
    /// The configuration or the store cannot be used: unreadable, damaged, unwritable, locked.
    pub const STORE: u8 = 78;
    /// The program can have no checkpoint, or not where one is wanted.
    pub const NO_SITE: u8 = 79;
    /// `cargo` could not build the program, or there is no such program.
    pub const BUILD: u8 = 101;
    /// The program was built but could not be started.
    pub const START: u8 = 127;
    /// Ctrl-C, as a shell says it.
    pub const INTERRUPTED: u8 = 130;
}

/// What could not be done, in words that begin with the code of the message.
#[derive(Debug, Clone)]
pub struct What {
    /// The code, which `messages.toml` explains; a mistake of ckpt has none.
    code: Option<Code>,
    text: String,
}

impl What {
    /// Words that begin with their code: [`says!`](crate::failure::says).
    pub fn new(code: Code, text: String) -> Self {
        let (_, text) = text.split_at(CODE_AND_COLON);
        Self {
            code: Some(code),
            text: text.to_owned(),
        }
    }
}

/// Bytes of a code in front of its words: `E3012: `.
const CODE_AND_COLON: usize = 7;

impl From<&StoreError> for What {
    fn from(error: &StoreError) -> Self {
        let text = error.to_string();
        match error.code() {
            Some(code) => Self::new(Code(code), text),
            None => Self { code: None, text },
        }
    }
}

/// `says!("E3012: the checkpoints of {ranks} are not on this machine")`, as `format!`: the compiler reads the code.
macro_rules! says {
    ($words:literal $($arguments:tt)*) => {
        $crate::failure::What::new(
            const { ckpt_compiler::Code::of_words($words) },
            format!($words $($arguments)*),
        )
    };
}
pub(crate) use says;

/// Why a command did not do what it was asked to do.
#[derive(Debug, thiserror::Error)]
pub struct Failure {
    exit: u8,
    /// The code of the message, which `messages.toml` explains.
    code: Option<Code>,
    what: String,
    why: Vec<String>,
    next: Option<String>,
    /// What `--format json` has of it besides.
    fields: serde_json::Map<String, serde_json::Value>,
}

/// The result of everything that can end in a message to the user.
pub type Outcome<T> = Result<T, Failure>;

impl Failure {
    /// A failure with its exit code and one sentence, without a full stop.
    fn new(exit: u8, what: impl Into<What>) -> Self {
        let What { code, text } = what.into();
        Failure {
            exit,
            code,
            what: text,
            why: Vec::new(),
            next: None,
            fields: serde_json::Map::new(),
        }
    }

    /// A question that is answered with no.
    pub fn no(what: impl Into<What>) -> Self {
        Self::new(code::NO, what)
    }

    /// A wrong command line.
    pub fn usage(what: impl Into<What>) -> Self {
        Self::new(code::USAGE, what)
    }

    /// A checkpoint, or a store, that is not there.
    pub fn no_checkpoint(what: impl Into<What>) -> Self {
        Self::new(code::NO_CHECKPOINT, what)
    }

    /// A checkpoint that does not fit what it is to be continued with.
    pub fn refused(what: impl Into<What>) -> Self {
        Self::new(code::REFUSED, what)
    }

    /// A store or configuration that cannot be used.
    pub fn store(what: impl Into<What>) -> Self {
        Self::new(code::STORE, what)
    }

    /// A program that can have no checkpoint, or not where one is wanted.
    pub fn no_site(what: impl Into<What>) -> Self {
        Self::new(code::NO_SITE, what)
    }

    /// The same where the question was whether there is a place for one: no.
    #[must_use]
    pub fn into_an_answer(mut self) -> Self {
        if self.exit == code::NO_SITE {
            self.exit = code::NO;
        }
        self
    }

    /// A program that cannot be built, or that there is not.
    pub fn build(what: impl Into<What>) -> Self {
        Self::new(code::BUILD, what)
    }

    /// A program that cannot be started, or not be waited for.
    pub fn start(what: impl Into<What>) -> Self {
        Self::new(code::START, what)
    }

    /// Ctrl-C ended a program whose end was to be looked at.
    pub fn interrupted() -> Self {
        Self::new(code::INTERRUPTED, says!("E3022: interrupted"))
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

    /// Says of what the user can choose: `choose one: a, b`.
    pub fn help_list<T: fmt::Display>(self, words: &str, list: impl IntoIterator<Item = T>) -> Self {
        let list: Vec<String> = list.into_iter().map(|one| one.to_string()).collect();
        self.help(format!("{words}: {}", list.join(", ")))
    }

    /// Adds a field for those who read it as data.
    pub fn fields(mut self, name: &str, value: &impl serde::Serialize) -> Self {
        if let Ok(value) = serde_json::to_value(value) {
            self.fields.insert(name.to_owned(), value);
        }
        self
    }

    /// The failure as data.
    pub fn as_data(&self) -> serde_json::Value {
        let mut all = self.fields.clone();
        all.insert("code".into(), self.code.map(|code| code.to_string()).into());
        all.insert("error".into(), self.what.clone().into());
        all.insert("help".into(), self.next.clone().into());
        all.into()
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
        let columns = columns_of(std::io::stderr());
        let code = self.code.map_or_else(String::new, |code| format!("[{code}]"));
        let mut say = |label: &str, style: Style, text: &str, indent: usize| {
            let indent = " ".repeat(indent);
            let mut lines = text.lines();
            let first = format!("{label} {}", lines.next().unwrap_or_default());
            let rest = lines.map(|line| format!("\n{indent}{line}"));
            let whole = wrapped(&(first + &rest.collect::<String>()), columns);
            let text = whole.strip_prefix(label).unwrap_or(&whole);
            let _ = writeln!(out, "{style}{label}{style:#}{text}");
        };
        say(&format!("error{code}:"), red, &printable_lines(&self.what), 2);
        for why in &self.why {
            say(" ", Style::new(), &printable_lines(why), 2);
        }
        if let Some(next) = &self.next {
            say("help:", cyan, &printable_lines(next), 6);
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

/// Says for the user what could not be done because of an error of a library or of the system.
pub trait OrFail<T> {
    /// The failure, with the error as its reason.
    fn or_fail(self, failure: impl FnOnce() -> Failure) -> Outcome<T>;
}

impl<T, E: fmt::Display> OrFail<T> for Result<T, E> {
    fn or_fail(self, failure: impl FnOnce() -> Failure) -> Outcome<T> {
        self.map_err(|error| failure().because(error))
    }
}

/// Turns an error of the system about a file into a failure that names the file.
pub trait AboutFile<T> {
    /// Adds what was being done (`"cannot read"`) and to which file.
    fn about(self, doing: &str, path: &std::path::Path) -> Outcome<T>;
}

impl<T> AboutFile<T> for std::io::Result<T> {
    fn about(self, doing: &str, path: &std::path::Path) -> Outcome<T> {
        self.or_fail(|| {
            Failure::store(says!("E3032: {doing} `{}`", path.display()))
                .help("see to the path, its rights and its disk")
        })
    }
}
