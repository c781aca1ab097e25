//! How much is said, and in which colours: `--quiet`, `--color`, notes on standard error and progress bars. Set once, when
//! the command line has been read.

use std::io::{IsTerminal, Write};
use std::sync::OnceLock;
use std::time::Duration;

use ckpt::store::{columns_of, printable_lines, wrapped};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// When colours are used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Color {
    /// On a terminal, unless `NO_COLOR` is set.
    #[default]
    Auto,
    /// Also in files and pipes.
    Always,
    /// Nowhere.
    Never,
}

/// The options that all commands have.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Output")]
pub struct OutputOptions {
    /// Colours: on a terminal, always or never
    #[arg(long, global = true, value_enum, default_value = "auto", value_name = "WHEN")]
    pub color: Color,
    /// Results and errors only: no notes, no progress, cargo's neither
    #[arg(short, long, global = true)]
    pub quiet: bool,
    /// Take stores and files of this user as well, a name or number: those of others are refused
    #[arg(long, global = true, value_name = "USER", value_parser = user)]
    pub trust: Vec<u32>,
}

/// The number of a user.
fn user(text: &str) -> Result<u32, String> {
    if let Ok(number) = text.parse() {
        return Ok(number);
    }
    match nix::unistd::User::from_name(text) {
        Ok(Some(user)) => Ok(user.uid.as_raw()),
        Ok(None) => Err("this machine knows no user of that name; a number will do".into()),
        Err(error) => Err(error.to_string()),
    }
}

/// What programs that are started are told of whose stores are taken; nothing where the command line says nothing.
pub fn trusted() -> Option<String> {
    let users = &CHOSEN.get()?.trust;
    let numbers: Vec<String> = users.iter().map(u32::to_string).collect();
    (!numbers.is_empty()).then(|| numbers.join(","))
}

static CHOSEN: OnceLock<OutputOptions> = OnceLock::new();

impl OutputOptions {
    /// Makes them those of this process.
    pub fn apply(&self) {
        let choice = match self.color {
            Color::Auto => anstream::ColorChoice::Auto,
            Color::Always => anstream::ColorChoice::Always,
            Color::Never => anstream::ColorChoice::Never,
        };
        choice.write_global();
        if !self.trust.is_empty() {
            ckpt::store::trust(self.trust.clone());
        }
        let _ = CHOSEN.set(self.clone()); // a process has one command line
    }
}

/// Whether only results and errors are wanted.
pub fn is_quiet() -> bool {
    CHOSEN.get().is_some_and(|options| options.quiet)
}

/// The choice of colours, as cargo takes it; none if it is left to the terminal.
pub fn color_for_cargo() -> Option<&'static str> {
    match CHOSEN.get().map_or(Color::Auto, |options| options.color) {
        Color::Auto => None,
        Color::Always => Some("always"),
        Color::Never => Some("never"),
    }
}

/// Whether standard output may be coloured.
pub fn coloured() -> bool {
    match CHOSEN.get().map_or(Color::Auto, |options| options.color) {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => {
            std::io::stdout().is_terminal()
                && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
        }
    }
}

/// What is good to know and no result: `ckpt: ...` on standard error.
pub fn note(text: &str) {
    if !is_quiet() {
        tell(&format!("ckpt: {}", printable_lines(text)));
    }
}

/// Lines on standard error, in the width of the terminal.
pub fn tell(text: &str) {
    let stderr = std::io::stderr();
    let text = wrapped(text, columns_of(&stderr));
    let _ = writeln!(stderr.lock(), "{}", text.trim_end_matches('\n')); // nobody is left to be told
}

/// As `format!`, and tells it: see [`tell`].
macro_rules! told {
    ($($words:tt)*) => {
        $crate::output::tell(&format!($($words)*))
    };
}
pub(crate) use told;

/// Whether somebody at the terminal says yes to a question; nobody is there, nobody does.
pub fn is_meant(question: &str) -> bool {
    if !std::io::stdin().is_terminal() {
        return false;
    }
    eprint!("{question} [y/N] ");
    let _ = std::io::stderr().flush(); // the answer is read all the same
    let mut answer = String::new();
    let read = std::io::stdin().read_line(&mut answer);
    if matches!(read, Ok(0)) {
        tell(""); // nobody has ended the line
    }
    read.is_ok() && matches!(answer.trim().to_lowercase().as_str(), "y" | "yes")
}

/// A spinner until it has a length. On standard error, on a terminal only, and not with `--quiet`.
pub fn spinner() -> ProgressBar {
    let target = match is_quiet() {
        true => ProgressDrawTarget::hidden(),
        false => ProgressDrawTarget::stderr(),
    };
    let bar = ProgressBar::with_draw_target(None, target);
    bar.set_style(style("{spinner} {msg}"));
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

/// A bar over so many bytes, which goes when it is dropped.
pub fn bytes_bar(doing: &'static str, bytes: u64) -> Bar {
    let bar = spinner();
    bar.set_length(bytes);
    bar.set_style(style(
        "{spinner} {msg} {wide_bar} {bytes}/{total_bytes} {bytes_per_sec} {eta}",
    ));
    bar.set_message(doing);
    Bar(bar)
}

/// A bar over steps that somebody else counts, which goes when it is dropped.
pub fn steps_bar(doing: &'static str) -> Bar {
    let bar = spinner();
    bar.set_style(style("{msg} [{wide_bar}] {pos}/{len}").progress_chars("=> "));
    bar.set_message(doing);
    Bar(bar)
}

/// See [`bytes_bar`] and [`steps_bar`].
pub struct Bar(ProgressBar);

impl Bar {
    /// So many bytes more are done.
    pub fn advance(&self, bytes: u64) {
        self.0.inc(bytes);
    }

    /// So many of so many are done.
    pub fn stands_at(&self, done: u64, of: u64) {
        self.0.set_length(of);
        self.0.set_position(done);
    }

    /// Writes something else, which stays above the bar.
    pub fn beside(&self, write: impl FnOnce()) {
        self.0.suspend(write);
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

/// The style of this template.
pub fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_spinner())
}
