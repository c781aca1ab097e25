//! Diagnostics: what the compiler tells the user, as values that are gathered and shown together.
//!
//! A stage says which [`Refusal`] it is and where. Other stages go by its code, the variable that it is about, and the way
//! out of it, a [`Recovery`]; never by its words, which are in one table and are only shown.

mod words;

pub use words::{Effect, Refusal, Subject};

use crate::names::Locals;
use proc_macro2::{Ident, Span, TokenStream};
use quote::quote_spanned;
use std::fmt;

/// The code of a message, `E1012`: it stays the same when the words change, and has an entry in the book.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Code(pub u16);

impl Code {
    /// The code with which words begin as they are written in the source: `E3012: the checkpoints of {ranks} are ..`.
    ///
    /// # Panics
    /// If they do not; in a constant, they do not compile.
    pub const fn of_words(words: &str) -> Self {
        let bytes = words.as_bytes();
        assert!(bytes.len() > 7 && bytes[0] == b'E' && bytes[5] == b':' && bytes[6] == b' ');
        let (mut number, mut at) = (0, 1);
        while at < 5 {
            assert!(bytes[at].is_ascii_digit());
            number = number * 10 + (bytes[at] - b'0') as u16;
            at += 1;
        }
        Self(number)
    }

    /// The code with which a message begins, and its words: `E1012: a site inside a closure`.
    pub fn in_front_of(message: &str) -> Option<(Self, &str)> {
        let (code, words) = message.split_once(": ")?;
        let digits = code.strip_prefix('E').filter(|digits| digits.len() == 4)?;
        let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
        Some((Self(digits.parse().ok().filter(|_| is_number)?), words))
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "E{:04}", self.0)
    }
}

/// Words for people: they can be shown, and compared to say nothing twice; nothing looks into them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Prose(String);

impl Prose {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<T: Into<String>> From<T> for Prose {
    fn from(text: T) -> Self {
        Self(text.into())
    }
}

impl fmt::Display for Prose {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// What is said of a refusal.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Words {
    /// The code of the message, and what cannot be done.
    pub what: Prose,
    /// Why not.
    pub why: Prose,
    /// What to write instead.
    pub instead: Prose,
}

/// Why what stands in an attribute cannot be read.
#[derive(Debug)]
pub enum Unread {
    /// It is not of the form of any, as syn says.
    Syntax(syn::Error),
    /// It says something that is refused.
    Refused(Span, Refusal),
}

impl From<syn::Error> for Unread {
    fn from(error: syn::Error) -> Self {
        Self::Syntax(error)
    }
}

impl Unread {
    /// What was read of an input, of which syn wants to see nothing left where it was refused.
    ///
    /// # Errors
    /// None but those of syn.
    pub fn drain<T>(
        input: syn::parse::ParseStream<'_>,
        read: Result<T, Self>,
    ) -> syn::Result<Result<T, Self>> {
        match read {
            Err(Self::Syntax(error)) => Err(error),
            Err(refused) => {
                input.parse::<TokenStream>()?;
                Ok(Err(refused))
            }
            Ok(read) => Ok(Ok(read)),
        }
    }
}

/// What may take a function that has been refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recovery {
    /// The statements of every branch as one block.
    BranchesInBlocks,
    /// A name of its own for every variable that hides another.
    OwnNames,
    /// The closures in the iterators of all `for`s run in the bodies.
    ClosuresInBodies,
    /// The iterator in the variable is rebuilt, and asked for as many items as before.
    ReplayIterator,
    /// A site in the thread that begins there as well.
    SiteInThread,
}

impl Refusal {
    /// What may take the function after all.
    pub fn recovery(&self) -> Option<Recovery> {
        match self {
            Self::MovedLater { .. } => Some(Recovery::BranchesInBlocks),
            Self::HiddenAtSite { .. } | Self::HidesMoved { .. } => Some(Recovery::OwnNames),
            Self::ForBorrowsExclusively => Some(Recovery::ClosuresInBodies),
            Self::Advances { .. } => Some(Recovery::ReplayIterator),
            Self::ThreadWithoutSite => Some(Recovery::SiteInThread),
            _ => None,
        }
    }
}

/// One refusal or mistake, at the place in the user's source where it shows.
#[derive(Debug, Clone)]
pub struct Diagnostic {
    /// Where the error is shown.
    pub place: Span,
    /// What it is.
    pub refusal: Refusal,
}

impl Diagnostic {
    /// A refusal at a place.
    pub fn new(place: Span, refusal: Refusal) -> Self {
        Self { place, refusal }
    }

    /// Its code; a mistake of ckpt may have none.
    pub fn code(&self) -> Option<Code> {
        self.refusal.code()
    }

    /// The variable that it is about.
    pub fn binding(&self) -> Option<&Ident> {
        self.refusal.binding()
    }

    /// What may take the function after all.
    pub fn recovery(&self) -> Option<Recovery> {
        self.refusal.recovery()
    }

    /// What is said of it.
    pub fn words(&self) -> Words {
        self.refusal.words()
    }

    /// The text that rustc prints.
    pub fn message(&self) -> String {
        let Words { what, why, instead } = self.words();
        let mut text = format!("{SPEAKER}{what}");
        for (label, part) in [(WHY, why), (INSTEAD, instead)] {
            if !part.is_empty() {
                text += &format!("{label}{part}");
            }
        }
        if let Some(code) = self.code() {
            text += &format!("{MORE}{code}");
        }
        text
    }
}

// The parts of a message that rustc prints for a macro, and hands on to the command: written and read here alone.
const SPEAKER: &str = "ckpt: ";
const WHY: &str = "\n  why: ";
const INSTEAD: &str = "\n  instead: ";
const MORE: &str = "\n  more: cargo ckpt explain ";

/// What ckpt has rustc say, through a macro or a trait, taken apart as it was put together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Relayed<'m> {
    /// The code.
    pub code: Code,
    /// What cannot be done, with the code in front.
    pub what: &'m str,
    /// The same without the code.
    pub says: &'m str,
    /// Why not; traits do not say it.
    pub why: &'m str,
    /// What to write instead; traits do not say it.
    pub instead: &'m str,
}

impl<'m> Relayed<'m> {
    /// Reads a message of rustc; nothing where it is rustc's own.
    pub fn read(message: &'m str) -> Option<Self> {
        let message = message.strip_prefix(SPEAKER).unwrap_or(message);
        let cut = |text: &'m str, label| text.split_once(label).unwrap_or((text, ""));
        let (rest, _) = cut(message, MORE);
        let (rest, instead) = cut(rest, INSTEAD);
        let (what, why) = cut(rest, WHY);
        let (code, says) = Code::in_front_of(what)?;
        Some(Self {
            code,
            what,
            says,
            why,
            instead,
        })
    }
}

/// The diagnostics of one function, in the order found.
#[derive(Debug, Default, Clone)]
pub struct Diagnostics(Vec<Diagnostic>);

impl Diagnostics {
    /// Adds a refusal; a second one that says the same at the same place is dropped.
    pub fn refuse(&mut self, place: Span, refusal: Refusal) {
        let what = refusal.words().what;
        let same = |old: &Diagnostic| {
            old.place.start() == place.start() && old.place.end() == place.end() && old.words().what == what
        };
        if !self.0.iter().any(same) {
            self.0.push(Diagnostic::new(place, refusal));
        }
    }

    /// Adds why an attribute cannot be read.
    pub fn unread(&mut self, unread: Unread) {
        match unread {
            Unread::Syntax(error) => self.syntax(&error),
            Unread::Refused(place, refusal) => self.refuse(place, refusal),
        }
    }

    /// Adds a parse error of `syn`.
    pub fn syntax(&mut self, error: &syn::Error) {
        for one in error.clone() {
            let said = one.to_string();
            self.refuse(one.span(), Refusal::Syntax { said });
        }
    }

    /// Whether nothing has been found so far.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The diagnostics found, in order.
    pub fn iter(&self) -> impl Iterator<Item = &Diagnostic> {
        self.0.iter()
    }

    /// Ends a stage: the next one runs only on what this one found sound.
    ///
    /// # Errors
    /// All that has been gathered, when there is anything.
    pub fn propagate(&mut self) -> Result<(), Diagnostics> {
        if self.0.is_empty() {
            Ok(())
        } else {
            Err(std::mem::take(self))
        }
    }

    /// The same with the names of the source.
    #[must_use]
    pub fn restored(&self, locals: &Locals) -> Self {
        let mut restored = self.clone();
        restored.0.iter_mut().for_each(|one| one.refusal.restore(locals));
        restored
    }

    /// One `compile_error!` per diagnostic.
    pub fn to_tokens(&self) -> TokenStream {
        self.0
            .iter()
            .map(|one| {
                let text = one.message();
                let here = one.place.resolved_at(Span::call_site());
                quote_spanned! { here => ::core::compile_error! { #text } }
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_rustc_is_given_to_say_is_read_back() {
        let one = Diagnostic::new(Span::call_site(), Refusal::ConstFunction);
        let Words { what, why, instead } = one.words();
        let message = one.message();
        let read = Relayed::read(&message).unwrap();
        assert_eq!(Some(read.code), one.code());
        assert_eq!(
            [read.what, read.why, read.instead],
            [what, why, instead].map(|one| one.to_string())
        );
        assert_eq!(Relayed::read("E1213: `Rule` cannot be saved").unwrap().why, "");
        assert_eq!(Relayed::read("cannot find value `x` in this scope"), None);
    }
}
