//! How a run ends when ckpt ends it: exit codes, and the one message that goes with each.
//!
//! Errors that the user or the disk can cause never panic. They end here: one message on stderr that says what
//! happened, where, why and what to do, and an exit code that a batch script can test.

use std::fmt;
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::columns::{columns_of, wrapped};
use super::current;
use super::printable::printable_lines;
use crate::base::sorted;

/// The exit codes of a program under ckpt, beside its own.
pub mod exit_code {
    /// A checkpoint was taken and the run stopped, on a signal or before its time limit: queue it again.
    pub const STOPPED: i32 = 75;
    /// The same, where somebody pressed Ctrl-C.
    pub const INTERRUPTED: i32 = 130;
    /// A restart was asked for and there is no checkpoint that it could use.
    pub const NO_CHECKPOINT: i32 = 76;
    /// The checkpoint does not fit this program: other source, other layout, other types.
    pub const REFUSED: i32 = 77;
    /// The configuration is wrong, or the store cannot be used (locked, unwritable).
    pub const STORE: i32 = 78;
    /// A site that cannot be honoured: an unmarked call, another thread, a consumed argument.
    pub const SITE: i32 = 79;
}

/// Whether a thread is about to end the process with an error: of the process, whatever session it has.
static ENDING: AtomicBool = AtomicBool::new(false);
/// How long other threads leave that to it.
const PATIENCE: Duration = Duration::from_secs(5);

/// The code of a message, `E2002`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Code(pub(crate) u16);

/// Bytes of a code in front of its words: `E2002: `.
const CODE_AND_COLON: usize = 7;

impl Code {
    /// The code with which words begin as they are written in the source; words without one do not compile.
    pub(crate) const fn of_words(words: &str) -> Code {
        let bytes = words.as_bytes();
        assert!(bytes.len() > CODE_AND_COLON && bytes[0] == b'E' && bytes[5] == b':' && bytes[6] == b' ');
        let (mut number, mut at) = (0, 1);
        while at < 5 {
            assert!(bytes[at].is_ascii_digit());
            number = number * 10 + (bytes[at] - b'0') as u16;
            at += 1;
        }
        Code(number)
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "E{:04}", self.0)
    }
}

/// What has happened, in words that begin with the code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Headline {
    /// A mistake of ckpt may have none.
    code: Option<Code>,
    text: String,
}

impl Headline {
    /// Words that begin with their code.
    pub(crate) fn new(code: Code, text: String) -> Headline {
        debug_assert!(text.starts_with(&format!("{code}: ")), "{text}");
        Headline {
            code: Some(code),
            text,
        }
    }

    /// A mistake of ckpt, which has no code.
    pub(crate) fn bug(text: &str) -> Headline {
        Headline {
            code: None,
            text: text.to_owned(),
        }
    }

    fn words(&self) -> &str {
        match self.code {
            Some(_) => &self.text[CODE_AND_COLON..],
            None => &self.text,
        }
    }
}

/// `headline!("E2002: a thread of {team} ..")`, as `format!`: the compiler reads the code.
macro_rules! headline {
    ($words:literal $($arguments:tt)*) => {
        $crate::base::report::Headline::new(
            const { $crate::base::report::Code::of_words($words) },
            format!($words $($arguments)*),
        )
    };
}
pub(crate) use headline;

/// An error that ends the run: rendered once, as a headline and lines `where:`, `why:`, `help:`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fatal {
    pub(crate) code: i32,
    headline: Headline,
    notes: Vec<(&'static str, String)>,
}

impl Fatal {
    pub(crate) fn new(code: i32, headline: Headline) -> Fatal {
        Fatal {
            code,
            headline,
            notes: Vec::new(),
        }
    }

    /// A checkpoint that does not fit this program.
    pub(crate) fn refused(headline: Headline) -> Fatal {
        Fatal::new(exit_code::REFUSED, headline)
    }

    /// A site that cannot be honoured.
    pub(crate) fn site(headline: Headline) -> Fatal {
        Fatal::new(exit_code::SITE, headline)
    }

    pub(crate) fn at(self, place: impl Into<String>) -> Fatal {
        self.note("where", place)
    }

    pub(crate) fn why(self, reason: impl Into<String>) -> Fatal {
        self.note("why", reason)
    }

    pub(crate) fn help(self, advice: impl Into<String>) -> Fatal {
        self.note("help", advice)
    }

    fn note(mut self, label: &'static str, text: impl Into<String>) -> Fatal {
        self.notes.push((label, text.into()));
        sorted::sort_by(&mut self.notes, |(one, _), (other, _)| {
            let place = |label| ["where", "why", "help"].iter().position(|known| *known == label);
            place(*one).cmp(&place(*other))
        });
        self
    }

    pub(crate) fn headline(&self) -> &str {
        &self.headline.text
    }

    /// Prints the message, notes the reason in the job's state and ends the process. Destructors do not run: the
    /// program's state is not to be trusted further.
    pub(crate) fn exit(self) -> ! {
        if let Some(owner) = current::owner() {
            owner.begins_anew_instead(self.headline());
        }
        // What several threads find wrong at once is said once: the others wait until the first has ended the process.
        if ENDING.swap(true, Ordering::SeqCst) {
            std::thread::sleep(PATIENCE);
        } else {
            say(&self.to_string());
            if let Some(owner) = current::owner() {
                owner.refused(self.headline());
            }
        }
        leave(self.code)
    }
}

impl fmt::Display for Fatal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let code = self.headline.code;
        match code {
            Some(code) => write!(f, "error[{code}]: {}", self.headline.words())?,
            None => write!(f, "error: {}", self.headline.words())?,
        }
        for (label, text) in &self.notes {
            let mut lines = text.lines();
            write!(f, "\n  {:<6} {}", format!("{label}:"), lines.next().unwrap_or(""))?;
            for line in lines {
                write!(f, "\n         {line}")?;
            }
        }
        if let Some(code) = code {
            write!(f, "\n  more:  cargo ckpt explain {code}")?;
        }
        Ok(())
    }
}

/// Writes one message to stderr. A closed stderr is no reason to fail.
pub(crate) fn say(message: &str) {
    let rank = current::owner().and_then(|owner| owner.rank());
    let who = rank.map_or_else(String::new, |rank| format!("rank {rank}: "));
    // It may quote a checkpoint, which may hold anything.
    let message = printable_lines(message);
    // In one piece: other ranks write to the same stream.
    let line = format!("ckpt: {who}{message}\n");
    let stderr = std::io::stderr().lock();
    let line = wrapped(&line, columns_of(&stderr));
    let mut rest = line.as_bytes();
    // Past std and past the journal of files: it is no file of the program's that is written to, and what the journal has to say
    // of its own failure would come in the middle of this.
    while !rest.is_empty() {
        match rustix::io::retry_on_intr(|| rustix::io::write(&stderr, rest)) {
            Ok(written @ 1..) => rest = &rest[written..],
            _ => return,
        }
    }
}

/// Ends the process after what the program printed has left its buffer. The other ranks end with it.
pub(crate) fn leave(code: i32) -> ! {
    let _ = std::io::stdout().flush();
    if let Some(owner) = current::owner() {
        owner.abort(code);
    }
    std::process::exit(code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_has_a_headline_and_aligned_notes() {
        let fatal = Fatal::site(Headline::bug("`step` cannot be resumed"))
            .at("main.rs:3")
            .help("write\nthis");
        assert_eq!(
            fatal.to_string(),
            "error: `step` cannot be resumed\n  where: main.rs:3\n  help:  write\n         this"
        );
        assert_eq!(fatal.code, 79);
    }

    #[test]
    fn the_code_of_a_message_stands_in_its_headline_and_at_its_end() {
        let who = "step";
        assert_eq!(
            Fatal::site(headline!("E2002: `{who}` opens {}", 2)).to_string(),
            "error[E2002]: `step` opens 2\n  more:  cargo ckpt explain E2002"
        );
    }
}
