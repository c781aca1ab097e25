//! Whether something that a checkpoint has hangs on the number of devices. A restart shows a program in which nothing does the
//! devices that are there, and any other as many as it had.
//!
//! The program is followed from `main` on ([`walk`]); where it cannot be, something is taken to hang on the number: to show a
//! program what it had is always right.

mod walk;

use crate::items::FnId;
use crate::placement::analysis::Analysis;
use crate::placement::{Placement, expressible::Words};
use crate::source::{FileId, Position, Program};
use ckpt_compiler::explain::Fate;
use std::collections::{BTreeMap, BTreeSet};

use super::devices::Devices;
use walk::{Hangs, walk};

/// What a restart may do with the number of devices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DeviceNumber {
    /// Nothing that is saved hangs on it: the program is shown the devices that are there.
    Any,
    /// The program is shown as many as it had, because of this.
    AsBefore(Because),
}

/// What hangs on the number of devices, and its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Because {
    /// The file, where it is a place.
    pub file: Option<FileId>,
    /// The line there.
    pub line: usize,
    /// In half a sentence.
    pub what: What,
}

/// What it is.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum What {
    /// A variable that a checkpoint has, or that is needed after a site.
    Variable(String),
    /// A loop or a condition with a site in it.
    Around,
    /// What a kernel or another part of a device is given.
    Given,
    /// A static.
    Static,
    /// A package outside of the program's computes on devices as well.
    Others,
    /// The program is too large to be followed.
    NotFollowed,
}

impl DeviceNumber {
    /// The word for it, as in `--format json`.
    pub fn word(&self) -> &'static str {
        match self {
            DeviceNumber::Any => "malleable",
            DeviceNumber::AsBefore(_) => "pseudo-malleable",
        }
    }
}

impl What {
    /// In half a sentence, behind the place.
    pub fn words(&self) -> String {
        match self {
            What::Variable(name) => {
                format!("`{name}` is needed after a site, and hangs on the number of devices")
            }
            What::Around => "a site is in a loop or a condition that hangs on the number of devices".into(),
            What::Given => "a device is given what hangs on the number of devices".into(),
            What::Static => "a static is given what hangs on the number of devices".into(),
            What::Others => "a package outside of the program's asks for devices as well".into(),
            What::NotFollowed => "the program is too large to be followed".into(),
        }
    }
}

/// What a run that begins in `main` may do with the number of devices; nothing where it does not compute on any. With these words of
/// `#[ckpt(..)]` on statements and parameters.
pub(crate) fn device_number(
    program: &Program,
    analysis: &Analysis,
    (placement, main): (&Placement, FnId),
    words: &BTreeMap<Position, String>,
) -> Option<DeviceNumber> {
    let devices = Devices::of(&analysis.library, program);
    if !devices.are_used() {
        return None;
    }
    let nowhere = |what| {
        Some(DeviceNumber::AsBefore(Because {
            file: None,
            line: 0,
            what,
        }))
    };
    if program.others_ask_for_devices {
        return nowhere(What::Others);
    }
    let Some(found) = walk(program, analysis, &devices, main, &stops(analysis, placement)) else {
        return nowhere(What::NotFollowed);
    };
    let needed = needed(analysis, placement, words);
    let variables = found.variables.iter().filter_map(|(variable, hangs)| {
        let (function, name, line) = variable;
        let fate = needed.get(variable)?;
        let counts = match hangs {
            Hangs::No => false,
            Hangs::Element | Hangs::List => fate.is_saved(),
            Hangs::Number => true,
        };
        let file = analysis.items.function(*function).place.file;
        counts.then(|| (file, *line, What::Variable(name.clone())))
    });
    let places = found.places.into_iter();
    let first = variables.chain(places).min();
    Some(first.map_or(DeviceNumber::Any, |(file, line, what)| {
        DeviceNumber::AsBefore(Because {
            file: Some(file),
            line,
            what,
        })
    }))
}

/// A variable: its function, its name and the line of its declaration.
type Variable = (FnId, String, usize);

/// The sites, and the calls that lead to one.
fn stops(analysis: &Analysis, placement: &Placement) -> BTreeSet<Position> {
    let sites = placement.sites.iter().map(|site| (site.place.file, site.site.at));
    let marked = placement.functions.iter().flat_map(|placed| &placed.calls);
    let calls = marked.flat_map(|name| &name.calls).map(|call| {
        let place = &analysis.graph.call(*call).place;
        (place.file, place.bytes.start)
    });
    sites.chain(calls).collect()
}

/// The variables that are needed after a site, and what becomes of each at some site.
fn needed(
    analysis: &Analysis,
    placement: &Placement,
    words: &BTreeMap<Position, String>,
) -> BTreeMap<Variable, Fate> {
    let mut needed: BTreeMap<Variable, Fate> = BTreeMap::new();
    for candidate in placement.candidates() {
        let function = analysis.items.function(candidate.function);
        let file = function.place.file;
        let here: Words = { words.iter() }
            .filter(|(place, _)| place.0 == file)
            .map(|(place, word)| (place.1, word.clone()))
            .collect();
        let answer = analysis.asked.answer(analysis, &candidate, here);
        let sites = answer
            .ok()
            .and_then(|answer| answer.protection())
            .unwrap_or_default();
        for variable in sites.into_iter().flat_map(|(site, _)| site.variables) {
            let is_needed = variable.fate != Fate::NotNeeded;
            let key = (candidate.function, variable.name, variable.line);
            if is_needed && !needed.get(&key).is_some_and(|known| known.is_saved()) {
                needed.insert(key, variable.fate);
            }
        }
    }
    needed
}
