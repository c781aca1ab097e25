//! From what the oracle found to decisions: a derive, a bound, a statement that runs again, a site given up.

use std::collections::BTreeSet;

use ckpt_compiler::package::locate::{self, Found};
use ckpt_compiler::package::rewrite::{Decisions, Place, type_parameter};
use ckpt_compiler::package::types::Types;
use ckpt_compiler::package::{FileId, Program};

use super::oracle::{Finding, Kind};

/// A finding with its places in the user's own source.
#[derive(Debug)]
pub struct Located {
    /// What rustc said.
    pub finding: Finding,
    /// The places that lie in files of the program, the primary ones first: bytes of the original text.
    pub places: Vec<Place>,
    /// Where the type is defined.
    pub definition: Option<Place>,
}

/// What comes of a round.
#[derive(Debug, Default)]
pub struct Round {
    /// Whether a decision is new: it is worth asking again.
    pub changed: bool,
    /// Functions whose sites have to go, with the reason: by a byte inside each.
    pub given_up: Vec<(Place, String)>,
    /// What no decision mends.
    pub unsolved: Vec<usize>,
}

/// Decides.
pub struct Decider<'a> {
    /// The program.
    pub program: &'a Program,
    /// Its types.
    pub types: &'a Types,
    /// Whether the `let` at this place may be run again at a restart although the one-function compiler cannot tell.
    pub repeatable: &'a dyn Fn(Place) -> bool,
    /// Whether a place is in a function that ckpt has put an attribute on.
    pub is_instrumented: &'a dyn Fn(Place) -> bool,
    /// What has been decided so far.
    pub decisions: Decisions,
}

impl Decider<'_> {
    /// One round: all findings of one answer.
    pub fn decide(&mut self, findings: &[Located]) -> Round {
        let mut round = Round::default();
        let before = self.decisions.clone();
        for (index, one) in findings.iter().enumerate() {
            if !self.decide_one(one, &mut round) {
                round.unsolved.push(index);
            }
        }
        round.changed = self.decisions != before || !round.given_up.is_empty();
        round
    }

    fn decide_one(&mut self, one: &Located, round: &mut Round) -> bool {
        match one.finding.kind {
            Kind::MissingBound => self.bound(one),
            Kind::NotCheckpoint | Kind::NotSplit => self.not_checkpoint(one, round),
            Kind::NotSerde => self.not_serde(one),
            Kind::Destructor => self.destructor(one, round),
            Kind::Refusal | Kind::Other => self.give_up(one, round),
        }
    }

    fn bound(&mut self, one: &Located) -> bool {
        let name = &one.finding.type_name;
        let found = one
            .places
            .iter()
            .find_map(|&(file, offset)| type_parameter(self.program, file, offset, name));
        found.is_some_and(|place| {
            self.decisions.bounds.insert(place);
            true
        })
    }

    fn not_checkpoint(&mut self, one: &Located, round: &mut Round) -> bool {
        if let Some(ty) = self.type_of(one) {
            match self.types.held_by(ty, &self.decisions.opaque) {
                Ok(held) => {
                    let missing: BTreeSet<_> = held.difference(&self.decisions.derives).copied().collect();
                    if !missing.is_empty() {
                        self.decisions.derives.extend(missing);
                        return true;
                    }
                }
                Err(field) => {
                    self.decisions.derives.remove(&ty);
                    self.decisions.opaque.insert(ty, field);
                }
            }
        }
        if one.finding.kind == Kind::NotSplit {
            return self.give_up(one, round);
        }
        self.holder(one, round)
    }

    /// The variable, parameter or field that holds a value which cannot be saved.
    fn holder(&mut self, one: &Located, round: &mut Round) -> bool {
        for &place in &one.places {
            match locate::locate(self.program, place.0, place.1) {
                Some(Found::Field {
                    start, name, item, ..
                }) => {
                    let item = (place.0, item);
                    if !self.decisions.derives.contains(&item) {
                        continue;
                    }
                    return self.field((place.0, start), item, &name, one);
                }
                Some(Found::Let { start, treated, .. }) if !treated => {
                    let start = (place.0, start);
                    let runs_again = self.decisions.variables.get(&start) == Some(&"reexecute");
                    if !runs_again && (self.repeatable)(start) {
                        self.decisions.variables.insert(start, "reexecute");
                        return true;
                    }
                    return self.give_up(one, round);
                }
                Some(Found::Parameter { start, .. }) => {
                    let start = (place.0, start);
                    if self.decisions.parameters.insert(start, "reexecute").is_none() {
                        return true;
                    }
                    return self.give_up(one, round);
                }
                _ => {}
            }
        }
        self.give_up(one, round)
    }

    /// A field of a derived type: through serde if the type has it, else the type cannot be saved after all.
    fn field(&mut self, field: Place, item: Place, name: &str, one: &Located) -> bool {
        let foreign = one.definition.is_none();
        let plain = !one.finding.type_name.starts_with(['&', '*'])
            && !one.finding.type_name.contains("dyn ")
            && !one.finding.type_name.contains("fn(")
            && !one.finding.type_name.contains("closure@");
        if foreign && plain && !self.decisions.fields.contains_key(&field) && self.may_have_serde(one) {
            self.decisions.fields.insert(field, "serde");
            return true;
        }
        self.decisions.fields.remove(&field);
        self.decisions.derives.remove(&item);
        let reason = format!("{name}: {}", one.finding.type_name);
        self.decisions.opaque.insert(item, reason);
        true
    }

    /// Types of std never have serde where they have no `Checkpoint`.
    fn may_have_serde(&self, one: &Located) -> bool {
        let name = &one.finding.type_name;
        !["std::", "core::", "alloc::"]
            .iter()
            .any(|start| name.starts_with(start))
    }

    fn not_serde(&mut self, one: &Located) -> bool {
        for &place in &one.places {
            if let Some(Found::Field {
                start, name, item, ..
            }) = locate::locate(self.program, place.0, place.1)
            {
                self.decisions.fields.remove(&(place.0, start));
                self.decisions.derives.remove(&(place.0, item));
                let reason = format!("{name}: {}", one.finding.type_name);
                self.decisions.opaque.insert((place.0, item), reason);
                return true;
            }
        }
        false
    }

    /// A dead value whose destructor must run: it is saved, or, where it cannot be, made again.
    fn destructor(&mut self, one: &Located, round: &mut Round) -> bool {
        for &place in &one.places {
            if let Some(Found::Let {
                start,
                treated: false,
                ..
            }) = locate::locate(self.program, place.0, place.1)
            {
                let start = (place.0, start);
                let word = match self.decisions.variables.get(&start) {
                    None => "save",
                    Some(_) => break,
                };
                self.decisions.variables.insert(start, word);
                return true;
            }
        }
        self.give_up(one, round)
    }

    /// The sites of the function that the error is in have to go: the site is placed further out.
    fn give_up(&self, one: &Located, round: &mut Round) -> bool {
        let place = one.places.iter().find(|&&place| (self.is_instrumented)(place));
        match place {
            Some(&place) => {
                round.given_up.push((place, one.finding.message.clone()));
                true
            }
            None => false,
        }
    }

    /// The type of the program that a finding is about.
    fn type_of(&self, one: &Located) -> Option<Place> {
        if let Some((file, offset)) = one.definition
            && let Some(Found::Type { item, .. }) = locate::locate(self.program, file, offset)
        {
            return Some((file, item));
        }
        let name = &one.finding.type_name;
        let is_plain =
            !name.starts_with(['&', '*', '[', '(']) && !name.contains("dyn ") && !name.contains("{");
        is_plain.then(|| self.types.named(name)).flatten()
    }
}

/// The file of the program with this path.
pub fn file_of(program: &Program, path: &std::path::Path) -> Option<FileId> {
    program
        .files
        .iter()
        .position(|file| file.path == path)
        .map(FileId)
}
