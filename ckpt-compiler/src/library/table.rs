//! One table of call meanings: what one library's TOML file says, or what a user or a program's own macros add.

use super::details::Details;
use super::messages::{CrateMessages, Exchange};
use std::collections::{HashMap, HashSet};

/// One thing that a table says about a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Meaning {
    /// May be called again at any time: it changes nothing and needs nothing but its operands.
    Pure,
    /// The result borrows from the receiver.
    Borrows,
    /// That borrow is exclusive.
    Mutably,
    /// Turns a borrow or an iterator into another one.
    Adapts,
    /// Takes the receiver by `&mut`.
    Changes,
    /// Takes the receiver by value.
    Consumes,
    /// Runs an iterator to its end and makes a new value of it.
    Collects,
    /// The result is rebuilt at a restart, not saved.
    Reexecute,
    /// A macro of a format string and expressions.
    Formats,
    /// Leaves a trace outside the program's variables: it cannot run a second time unnoticed.
    Traces,
    /// Ends the process or the thread.
    Ends,
    /// Calls a closure for every element of the receiver.
    Each,
    /// Changes how many elements the receiver has.
    Grows,
    /// Gives every element of the receiver a new value, without looking at the old ones.
    Fills,
    /// Assigns the receiver a new value, without looking at the old one.
    Resets,
    /// A macro that never leaves a loop around it.
    Stays,
    /// A macro that may leave the function or closure around it.
    Returns,
    /// A macro that may declare variables whose names it is given.
    Declares,
    /// A crate or module of functions in another language, of which nothing is known but what tables say.
    Foreign,
    /// Gives a handle to a generator of random numbers that the system seeds: no two runs draw the same.
    Unseeded,
    /// Draws random numbers that no two runs have alike, or makes a generator or a seed for them.
    Draws,
    /// Seeds the generator of its crate, from which others draw that the system seeds else.
    Seeds,
    /// A function that only computes: it may run again wherever that shows nowhere.
    Again,
    /// A macro of the program's own: what libraries' tables say of one of its name is not meant.
    Own,
    /// Says of a value that it is given by reference whether it is plausible.
    Detects,
}

impl Meaning {
    /// All, with the keys of the tables.
    pub const ALL: [(&'static str, Self); 25] = [
        ("pure", Self::Pure),
        ("borrows", Self::Borrows),
        ("mutably", Self::Mutably),
        ("adapts", Self::Adapts),
        ("changes", Self::Changes),
        ("consumes", Self::Consumes),
        ("collects", Self::Collects),
        ("reexecute", Self::Reexecute),
        ("formats", Self::Formats),
        ("traces", Self::Traces),
        ("ends", Self::Ends),
        ("each", Self::Each),
        ("grows", Self::Grows),
        ("fills", Self::Fills),
        ("resets", Self::Resets),
        ("stays", Self::Stays),
        ("returns", Self::Returns),
        ("declares", Self::Declares),
        ("foreign", Self::Foreign),
        ("unseeded", Self::Unseeded),
        ("draws", Self::Draws),
        ("seeds", Self::Seeds),
        ("again", Self::Again),
        ("own", Self::Own),
        ("detects", Self::Detects),
    ];

    /// Those that are said of macros.
    const OF_MACROS: [Self; 6] = [
        Self::Formats,
        Self::Stays,
        Self::Returns,
        Self::Declares,
        Self::Ends,
        Self::Own,
    ];

    /// The meaning of a key.
    pub fn of_key(key: &str) -> Option<Self> {
        Self::ALL
            .iter()
            .find(|(name, _)| *name == key)
            .map(|(_, one)| *one)
    }

    /// The key of a meaning.
    pub fn key(self) -> &'static str {
        Self::ALL
            .iter()
            .find(|(_, one)| *one == self)
            .map_or("", |(name, _)| name)
    }

    pub(super) fn bit(self) -> u32 {
        1 << self as u8
    }

    pub(super) fn of_macros() -> u32 {
        Self::OF_MACROS.iter().fold(0, |all, one| all | one.bit())
    }
}

/// Segments of a path, and the bits of its meanings.
type PathEntry = (Vec<String>, u32);

/// What one table says of calls.
#[derive(Debug, Clone, Default)]
pub struct CallTable {
    /// Bits of meanings by the name of a method or macro.
    words: HashMap<String, u32>,
    /// Functions by the last segment of their paths.
    paths: HashMap<String, Vec<PathEntry>>,
    /// Operations of one call.
    pub(super) call: HashMap<String, f64>,
    /// Operations for every element of the receiver.
    pub(super) element: HashMap<String, f64>,
    /// Operations of any method of a type, on top.
    pub(super) look_up: HashMap<String, f64>,
    /// Methods that are most likely the standard library's, as `name/arguments`.
    pub(super) common: HashSet<String>,
    /// What only ckpt's own tables say.
    pub(super) details: Details,
    /// What was said, in order: for those who pass it on.
    said: Vec<(Meaning, String)>,
    /// What calls of other crates exchange.
    messages: Vec<CrateMessages>,
}

impl CallTable {
    /// Whether the table says nothing.
    pub fn is_empty(&self) -> bool {
        self.said.is_empty()
            && self.call.is_empty()
            && self.element.is_empty()
            && self.common.is_empty()
            && self.details.is_empty()
            && self.messages.is_empty()
    }

    /// What was said, in the order of the source.
    pub fn said(&self) -> &[(Meaning, String)] {
        &self.said
    }

    /// Adds what another table says.
    pub fn add(&mut self, other: &Self) {
        for (word, bits) in &other.words {
            let said = self.words.entry(word.clone()).or_default();
            if bits & Meaning::Own.bit() != 0 {
                *said &= !Meaning::of_macros();
            }
            *said |= bits;
        }
        for (last, entries) in &other.paths {
            self.paths
                .entry(last.clone())
                .or_default()
                .extend(entries.iter().cloned());
        }
        let owned = |(name, cost): (&String, &f64)| (name.clone(), *cost);
        self.call.extend(other.call.iter().map(owned));
        self.element.extend(other.element.iter().map(owned));
        self.look_up.extend(other.look_up.iter().map(owned));
        self.common.extend(other.common.iter().cloned());
        self.details.add(&other.details);
        self.said.extend(other.said.iter().cloned());
        self.messages.extend(other.messages.iter().cloned());
    }

    /// Says what the calls of a crate exchange. None of them is made a second time; what stands for a communicator is made
    /// again at a restart, as communicators are.
    pub(super) fn say_messages(&mut self, one: CrateMessages) {
        for call in &one.calls {
            let makes = |what: &Exchange| matches!(what, Exchange::Handle(_) | Exchange::Duplicate(_));
            let meaning = match call.steps.iter().any(|step| makes(&step.what)) {
                true => Meaning::Reexecute,
                false => Meaning::Traces,
            };
            self.say(meaning, &call.path.join("::"), true);
        }
        self.messages.push(one);
    }

    /// What the calls of other crates exchange, crate by crate.
    pub fn messages(&self) -> &[CrateMessages] {
        &self.messages
    }

    /// Says something of a name, or of a path `A::b`: of functions whose path ends so. A user's plain name stands for
    /// methods and functions, one of ckpt's own tables for methods and macros only.
    pub(super) fn say(&mut self, meaning: Meaning, name: &str, by_user: bool) {
        let segments: Vec<String> = name.split("::").map(str::to_owned).collect();
        if let [word] = segments.as_slice() {
            *self.words.entry(word.clone()).or_default() |= meaning.bit();
        }
        if (segments.len() > 1 || by_user)
            && let Some(last) = segments.last().cloned()
        {
            self.paths
                .entry(last)
                .or_default()
                .push((segments, meaning.bit()));
        }
        self.said.push((meaning, name.to_owned()));
    }

    /// Says something of a macro only.
    pub fn say_of_macro(&mut self, meaning: Meaning, name: &str) {
        self.say(meaning, name, false);
    }

    /// Says something of a function of this name.
    pub fn say_of_function(&mut self, meaning: Meaning, name: &str) {
        self.say(meaning, name, true);
    }

    /// Whether the table says anything of a macro of this name.
    pub fn speaks_of_macro(&self, name: &str) -> bool {
        self.bits(name) & Meaning::of_macros() != 0
    }

    /// What is said of a method or macro.
    pub(super) fn bits(&self, word: &str) -> u32 {
        self.words.get(word).copied().unwrap_or_default()
    }

    /// Whether this is said of a method or macro.
    pub fn means(&self, word: &str, meaning: Meaning) -> bool {
        self.bits(word) & meaning.bit() != 0
    }

    /// Whether a function's path ends as one of the table's does that means this.
    pub fn path_means(&self, path: &[String], meaning: Meaning) -> bool {
        let entries = path.last().and_then(|last| self.paths.get(last));
        entries
            .into_iter()
            .flatten()
            .any(|(known, bits)| bits & meaning.bit() != 0 && path.ends_with(known))
    }

    /// Whether what the function gives is rebuilt at a restart.
    pub fn is_device(&self, path: &[String]) -> bool {
        self.path_means(path, Meaning::Reexecute)
            || matches!(path, [name] if self.means(name, Meaning::Reexecute))
    }

    /// Whether what the function gives is a generator that no two runs have alike.
    pub fn is_unseeded(&self, path: &[String]) -> bool {
        path.last()
            .is_some_and(|name| self.means(name, Meaning::Unseeded))
    }

    /// Whether the function draws random numbers that no two runs have alike. Of a name that the program has itself, only what
    /// names the crate as well is meant.
    pub fn draws(&self, path: &[String], is_own: bool) -> bool {
        self.path_means(path, Meaning::Draws)
            || !is_own && path.last().is_some_and(|last| self.means(last, Meaning::Draws))
            || !is_own && self.is_unseeded(path)
    }

    /// Of a function of the program, `Mesh::area`: if the table says that it may be re-executed, its body does not matter.
    pub fn may_be_reexecuted(&self, path: &[String]) -> bool {
        self.path_means(path, Meaning::Pure) || self.path_means(path, Meaning::Reexecute)
    }

    /// Whether the macro never leaves a loop around it of its own accord.
    pub fn stays(&self, name: &str) -> bool {
        self.means(name, Meaning::Stays) || self.means(name, Meaning::Formats)
    }

    /// Whether the macro may leave the function or closure around it.
    pub fn returns(&self, name: &str) -> bool {
        self.means(name, Meaning::Returns)
    }

    /// Whether the macro may declare variables whose names it is given.
    pub fn declares(&self, name: &str) -> bool {
        self.means(name, Meaning::Declares)
    }
}
