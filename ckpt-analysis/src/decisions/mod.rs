//! What it takes that the program around the sites can be saved and restarted: rules that look at the sources and say
//! what a type, a variable, a function or a call needs.
//!
//! | module | what it finds |
//! | --- | --- |
//! | [`reexecution`] | statements that a restart executes again instead of reading what they declare |
//! | [`effects`] | statements that may run a second time |
//! | [`chance`] | random numbers that no two runs have alike |
//! | [`changed_inputs`] | variables that would be another value if they were made a second time |
//! | [`other_branches`] | variables that are used in other branches than those with the sites |
//! | [`refill`] | structs of which a checkpoint holds a part |
//! | [`saved_types`] | what stands in the way of saving a struct or an enum |
//! | [`macro_types`] | structs and enums that a macro declares |
//! | [`destructors`] | types of which a value may do something when it is dropped |
//! | [`devices`] | memory and kernels on devices |
//! | [`changed_fields`] | fields of structs that change places |
//! | [`changed_places`] | arrays on devices that change places |
//! | [`completed`] | what several statements make of something on a device |
//! | [`device_arrays`] | what is done with each array on a device, for people |
//! | [`device_numbers`] | whether something that is saved hangs on the number of devices |
//! | [`watched_devices`] | where the runtime gets to know devices that no library beneath shows it |
//! | [`objects`] | what the objects of a trait need to be saved |
//! | [`writers`] | `Box<dyn Write>`, `Box<dyn Read>` |
//! | [`lent_readers`] | readers of files that only they use |
//! | [`used_up_readers`] | readers whose lines are gone over |
//! | [`mutable_loans`] | exclusive references to what a signature does not name |
//! | [`generic_loans`] | exclusive references to types that hang on type parameters |
//! | [`globals`] | statics and thread-locals that a run may change |
//! | [`functions`] | functions that pointers stand for |
//! | [`library_handles`] | types of libraries that a restart rebuilds, as those that stand for something in MPI |
//! | [`statements`] | what several of these ask of statements |
//! | [`threads`] | threads that outlive the statement that starts them |
//! | [`replaced`] | `std::sync::Barrier` and `std::sync::mpsc`, whose place ckpt's take |
//! | [`outlined_kernels`] | kernels that stay functions, compiled as before |
//! | [`set_later`] | handles on devices that are set up after they were made |
//! | [`spares`] | functions that stand there twice, for restarts and for all other calls |
//! | [`detectors`] | functions that say whether a state is plausible |
//! | [`closure_callers`] | calls of functions that only call a closure, inlined |
//!
//! What rustc says of the rewritten copy is a [`learn::Finding`]; [`learn`] draws conclusions from it, [`knowledge`] is what
//! it has led to so far, and [`recall`] says what still holds of it after a change of the sources.

pub(crate) mod bounds;
pub mod chance;
pub(crate) mod changed_fields;
pub mod changed_inputs;
pub(crate) mod changed_places;
pub mod closure_callers;
pub(crate) mod completed;
pub mod destructors;
pub mod detectors;
pub mod device_arrays;
pub mod device_numbers;
pub(crate) mod devices;
mod dropped_arrays;
pub mod effects;
pub mod foreign;
pub mod functions;
mod generic_loans;
pub mod globals;
mod hidden_on_devices;
mod kept_arrays;
pub mod knowledge;
pub mod learn;
mod lent_readers;
mod library_handles;
pub(crate) mod macro_types;
pub mod mutable_loans;
pub mod objects;
pub mod other_branches;
pub mod outlined_kernels;
pub mod recall;
pub mod reexecution;
pub mod refill;
pub(crate) mod replaced;
pub mod saved_types;
pub(crate) mod set_later;
pub mod spares;
pub(crate) mod statements;
pub mod threads;
mod uploads;
pub(crate) mod used_up_readers;
pub(crate) mod watched_devices;
pub mod writers;

use crate::diagnostics::OpaqueField;
use crate::items::Items;
use crate::placement::expressible::Marks;
use crate::source::edits::Edit;
use crate::source::{Position, Program};
use ckpt_compiler::library::Library;
use std::collections::{BTreeMap, BTreeSet};

/// What rustc's answers have led to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Decisions {
    /// Types that get `#[derive(ckpt::Checkpoint)]`: the first byte of each item.
    pub derives: BTreeSet<Position>,
    /// Types that cannot be derived, with the field that stands in the way.
    pub opaque: BTreeMap<Position, OpaqueField>,
    /// Types of which a checkpoint holds a part: their variables are rebuilt and filled.
    pub refilled: BTreeSet<Position>,
    /// What such variables are made of that moves into the part that is filled.
    pub parts: BTreeMap<Position, Vec<String>>,
    /// What such variables have their first content from, which may change: `&start`.
    pub copied: BTreeMap<Position, Vec<String>>,
    /// Variables that hold an iterator: `let` statements whose initialiser goes into `ckpt::replayed(..)`.
    pub replayed: BTreeSet<Position>,
    /// `#[ckpt(..)]` on `let` statements and `for` loops: by their first byte.
    pub variables: BTreeMap<Position, &'static str>,
    /// Those of them with arrays on devices that change places with each other.
    pub changing_places: BTreeSet<Position>,
    /// Those of them with handles to something on devices that do.
    pub changing_handles: BTreeSet<Position>,
    /// `#[ckpt(..)]` on parameters.
    pub parameters: BTreeMap<Position, &'static str>,
    /// `#[ckpt(..)]` on fields.
    pub fields: BTreeMap<Position, &'static str>,
    /// What the objects of traits need, by the trait's name as rustc writes it.
    pub objects: BTreeMap<String, Vec<Edit>>,
    /// Type parameters that get the bound `ckpt::Checkpoint`: the first byte of each in its list.
    pub bounds: BTreeSet<Position>,
    /// Type parameters that get a bound which says that nothing in their values changes but by assignment: threads take such values
    /// with them.
    pub fixed: BTreeSet<Position>,
    /// Whether features of other crates are turned on that give their types serde.
    pub serde: bool,
    /// Variables and parameters whose values do not go through serde.
    pub not_serde: BTreeSet<Position>,
    /// Variables that were taken for such as are used in other branches only, and that a site needs.
    pub needed: BTreeSet<Position>,
    /// References that are taken by value: the byte of each `&`.
    pub owned: BTreeSet<Position>,
    /// Calls that use up a reader, written as those of functions: the byte of each method's name, and the function.
    pub used_up: BTreeMap<Position, &'static str>,
    /// Where names for functions are left out: rustc has said no to them.
    pub unnamed_functions: BTreeSet<Position>,
    /// Whether ckpt's channels take the place of std's: where nothing says so, no checkpoint has needed one yet.
    pub channels: Option<bool>,
    /// What the types that a detector looks at are given besides: the first byte of each item. The user's tables say so.
    pub detectors: BTreeMap<Position, String>,
}

impl Decisions {
    /// These, with the statements that are re-executed; what the oracle has led to goes first.
    pub(crate) fn with_reexecuted(&self, again: &reexecution::Reexecuted) -> Self {
        let mut together = self.clone();
        for place in again.keys() {
            together.variables.entry(*place).or_insert("reexecute");
        }
        together
    }

    /// Notes what the variable that is declared there has its first content from, where it is filled.
    pub(crate) fn give_content(
        &mut self,
        library: &Library,
        program: &Program,
        items: &Items,
        place: Position,
    ) {
        let copied = match self.variables.get(&place) {
            Some(&"refill") => refill::copied_contents(library, program, items, place),
            _ => Vec::new(),
        };
        if !copied.is_empty() {
            let copied = copied.into_iter().map(|name| format!("&{name}"));
            self.copied.insert(place, copied.collect());
        }
    }

    /// What the attributes of variables and parameters say.
    pub fn marks(&self) -> Marks {
        let all = self.variables.iter().chain(&self.parameters);
        all.map(|(place, word)| (*place, self.word(*place, word)))
            .collect()
    }

    /// What an attribute says of a variable, with what is moved into it: `refill(cells, rng)`.
    pub fn word(&self, place: Position, word: &str) -> String {
        let all = [self.parts.get(&place), self.copied.get(&place)];
        let all: Vec<&str> = all.into_iter().flatten().flatten().map(String::as_str).collect();
        match word == "refill" && !all.is_empty() {
            true => format!("{word}({})", all.join(", ")),
            false => word.to_owned(),
        }
    }
}
