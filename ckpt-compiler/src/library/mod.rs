//! What calls mean: data, not code. ckpt brings one TOML table along for each library (`tables/*.toml`); the user adds
//! to them in `[calls]` of `ckpt.toml` or by `means(..)` in an attribute.
//!
//! `read` reads tables; this module answers what they say. The tables in force are those of the thread: the built-in
//! ones, and what [`Tables::in_force_during`] adds for as long as a piece of work lasts.

mod read;
#[cfg(test)]
mod tests;

pub use read::{TableError, Wrong};

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use std::sync::OnceLock;

/// Operations of a call of which nothing is known.
const UNKNOWN_CALL: f64 = 5.0;

/// The tables of the libraries.
const LIBRARIES: [(&str, &str); 11] = [
    ("std", include_str!("../../tables/std.toml")),
    ("rand", include_str!("../../tables/rand.toml")),
    ("rayon", include_str!("../../tables/rayon.toml")),
    ("ndarray", include_str!("../../tables/ndarray.toml")),
    ("nalgebra", include_str!("../../tables/nalgebra.toml")),
    ("clap", include_str!("../../tables/clap.toml")),
    ("csv", include_str!("../../tables/csv.toml")),
    ("image", include_str!("../../tables/image.toml")),
    ("indicatif", include_str!("../../tables/indicatif.toml")),
    ("log", include_str!("../../tables/log.toml")),
    ("mpi", include_str!("../../tables/mpi.toml")),
];

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
    /// The result is made again at a restart, not saved.
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
    /// Gives the receiver a new value, without looking at the old one.
    Resets,
    /// A macro that never leaves a loop around it.
    Stays,
    /// A macro that may leave the function or closure around it.
    Returns,
    /// A macro of the program's own: what libraries' tables say of one of its name is not meant.
    Own,
}

impl Meaning {
    /// All, with the keys of the tables.
    pub const ALL: [(&'static str, Self); 18] = [
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
        ("own", Self::Own),
    ];

    /// Those that are said of macros.
    const OF_MACROS: [Self; 5] = [Self::Formats, Self::Stays, Self::Returns, Self::Ends, Self::Own];

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

    fn bit(self) -> u32 {
        1 << self as u8
    }

    fn of_macros() -> u32 {
        Self::OF_MACROS.iter().fold(0, |all, one| all | one.bit())
    }
}

/// Segments of a path, and the bits of its meanings.
type PathEntry = (Vec<String>, u32);

/// The meaning of calls.
#[derive(Debug, Clone, Default)]
pub struct Tables {
    /// Bits of meanings by the name of a method or macro.
    words: HashMap<String, u32>,
    /// Functions by the last segment of their paths.
    paths: HashMap<String, Vec<PathEntry>>,
    /// Operations of one call.
    call: HashMap<String, f64>,
    /// Operations for every element of the receiver.
    element: HashMap<String, f64>,
    /// Methods that are most likely the standard library's, as `name/arguments`.
    common: HashSet<String>,
    /// What was said, in order: for those who pass it on.
    said: Vec<(Meaning, String)>,
}

thread_local! {
    static IN_FORCE: RefCell<Option<Rc<Tables>>> = const { RefCell::new(None) };
}

impl Tables {
    /// The tables that ckpt brings along.
    pub fn builtin() -> &'static Self {
        static BUILTIN: OnceLock<Tables> = OnceLock::new();
        BUILTIN.get_or_init(|| {
            let mut all = Self::default();
            for (name, text) in LIBRARIES {
                // A table of this crate that is malformed is a bug, and a test reads them all.
                let table = Self::of_library(text).unwrap_or_else(|error| panic!("{name}.toml: {error}"));
                all.add(&table);
            }
            all
        })
    }

    /// The tables in force.
    pub fn current() -> Rc<Self> {
        IN_FORCE.with_borrow_mut(|tables| {
            let tables = tables.get_or_insert_with(|| Rc::new(Self::builtin().clone()));
            Rc::clone(tables)
        })
    }

    /// Adds these tables to those in force while the work lasts.
    pub fn in_force_during<T>(&self, work: impl FnOnce() -> T) -> T {
        struct Before(Rc<Tables>);
        impl Drop for Before {
            fn drop(&mut self) {
                IN_FORCE.set(Some(Rc::clone(&self.0)));
            }
        }
        if self.is_empty() {
            return work();
        }
        let before = Before(Self::current());
        let mut all = (*before.0).clone();
        all.add(self);
        IN_FORCE.set(Some(Rc::new(all)));
        work()
    }

    /// Whether the tables say nothing.
    pub fn is_empty(&self) -> bool {
        self.said.is_empty() && self.call.is_empty() && self.element.is_empty() && self.common.is_empty()
    }

    /// What was said, in the order of the source.
    pub fn said(&self) -> &[(Meaning, String)] {
        &self.said
    }

    /// Adds what other tables say.
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
        self.common.extend(other.common.iter().cloned());
        self.said.extend(other.said.iter().cloned());
    }

    /// Says something of a name, or of a path `A::b`: of functions whose path ends so. A user's plain name stands for
    /// methods and functions, one of ckpt's own tables for methods and macros only.
    fn say(&mut self, meaning: Meaning, name: &str, by_user: bool) {
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

    /// Whether the tables say anything of a macro of this name.
    pub fn speaks_of_macro(&self, name: &str) -> bool {
        self.words
            .get(name)
            .is_some_and(|bits| bits & Meaning::of_macros() != 0)
    }

    fn means(&self, word: &str, meaning: Meaning) -> bool {
        self.words.get(word).is_some_and(|bits| bits & meaning.bit() != 0)
    }

    /// Whether a function's path ends as one of the tables' does that means this.
    fn path_means(&self, path: &[String], meaning: Meaning) -> bool {
        let entries = path.last().and_then(|last| self.paths.get(last));
        entries
            .into_iter()
            .flatten()
            .any(|(known, bits)| bits & meaning.bit() != 0 && path.ends_with(known))
    }

    /// Whether the tables say anything of a method, function or macro of this name.
    pub fn knows(&self, name: &str) -> bool {
        self.words.contains_key(name)
    }

    /// Whether the method may be called again at any time.
    pub fn is_pure(&self, method: &str) -> bool {
        self.means(method, Meaning::Pure)
    }

    /// Whether the function may be called again at any time.
    pub fn is_pure_function(&self, path: &syn::Path) -> bool {
        self.path_means(&segments(path), Meaning::Pure)
    }

    /// The same of a function of the program, `Mesh::area`: if the tables say that it may run again, its body does not
    /// matter.
    pub fn may_run_again(&self, path: &[String]) -> bool {
        self.path_means(path, Meaning::Pure) || self.path_means(path, Meaning::Reexecute)
    }

    /// Whether the method's result borrows from its receiver.
    pub fn borrows(&self, method: &str) -> bool {
        self.means(method, Meaning::Borrows)
    }

    /// Whether the method's result borrows exclusively from its receiver.
    pub fn borrows_mutably(&self, method: &str) -> bool {
        self.means(method, Meaning::Mutably)
    }

    /// Whether the method turns a borrow or an iterator into another one.
    pub fn adapts(&self, method: &str) -> bool {
        self.means(method, Meaning::Adapts)
    }

    /// Whether the method changes its receiver in place.
    pub fn changes(&self, method: &str) -> bool {
        self.means(method, Meaning::Changes)
    }

    /// Whether the method takes its receiver by value.
    pub fn consumes(&self, method: &str) -> bool {
        self.means(method, Meaning::Consumes) || method.starts_with("into_")
    }

    /// Whether the method runs an iterator to its end and makes a new value of what it gives.
    pub fn collects(&self, method: &str) -> bool {
        self.means(method, Meaning::Collects)
    }

    /// Whether what the function gives is made again at a restart: arguments, clocks, files, devices, and what the user
    /// says.
    pub fn is_device(&self, path: &syn::Path) -> bool {
        let path = segments(path);
        self.path_means(&path, Meaning::Reexecute)
            || matches!(path.as_slice(), [name] if self.means(name, Meaning::Reexecute))
    }

    /// The same of a method.
    pub fn is_device_method(&self, method: &str) -> bool {
        self.means(method, Meaning::Reexecute)
    }

    /// Whether the macro takes a format string or plain expressions, by reference or value.
    pub fn formats(&self, name: &str) -> bool {
        self.means(name, Meaning::Formats)
    }

    /// Whether a method, macro or function of this last name leaves a trace outside the program.
    pub fn leaves_a_trace(&self, name: &str) -> bool {
        self.means(name, Meaning::Traces)
    }

    /// Whether a function or macro of this last name does not come back.
    pub fn ends(&self, name: &str) -> bool {
        self.means(name, Meaning::Ends)
    }

    /// Whether the method calls a closure for each element.
    pub fn calls_for_each(&self, method: &str) -> bool {
        self.means(method, Meaning::Each)
    }

    /// Whether the method changes how many elements its receiver has.
    pub fn grows(&self, method: &str) -> bool {
        self.means(method, Meaning::Grows)
    }

    /// Whether the method gives every element of its receiver a new value.
    pub fn fills(&self, method: &str) -> bool {
        self.means(method, Meaning::Fills)
    }

    /// Whether the method gives its receiver a new value.
    pub fn resets(&self, method: &str) -> bool {
        self.means(method, Meaning::Resets)
    }

    /// Whether the macro never leaves a loop around it of its own accord.
    pub fn stays(&self, name: &str) -> bool {
        self.means(name, Meaning::Stays) || self.formats(name)
    }

    /// Whether the macro may leave the function or closure around it.
    pub fn returns(&self, name: &str) -> bool {
        self.means(name, Meaning::Returns)
    }

    /// Operations of one call, whatever it is applied to.
    pub fn cost_of_call(&self, name: &str) -> f64 {
        self.call.get(name).copied().unwrap_or(UNKNOWN_CALL)
    }

    /// Operations for each element of what the method is applied to.
    pub fn cost_per_element(&self, name: &str) -> Option<f64> {
        self.element.get(name).copied()
    }

    /// Whether a method of this name and number of arguments is most likely the standard library's.
    pub fn is_common(&self, name: &str, arguments: usize) -> bool {
        self.common.contains(&format!("{name}/{arguments}"))
    }
}

/// The names of a path's segments.
pub fn segments(path: &syn::Path) -> Vec<String> {
    path.segments.iter().map(|one| one.ident.to_string()).collect()
}
