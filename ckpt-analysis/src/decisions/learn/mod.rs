//! From what the oracle found to decisions: a derive, a bound, a statement that is re-executed, a site given up.

mod advice;
mod rounds;
mod sites;

pub use rounds::{Lesson, Unsolved, WaysOut, learn, ways_out};

use crate::decisions::Decisions;
use crate::decisions::bounds::{anonymous_parameters, associated_type, type_parameter};
use crate::decisions::effects::ToldMore;
use crate::decisions::objects::object_edits;
use crate::decisions::refill;
use crate::decisions::replaced::is_of_replaced_module;
use crate::decisions::saved_types::Types;
use crate::decisions::writers::{Stream, stream_edits, stream_of};
use crate::decisions::{lent_readers, used_up_readers};
use crate::diagnostics::{HeldIn, OpaqueField, RustcObstacle, Said, TypeAdvice};
use crate::facts::state::{Looked, State};
use crate::items::Items;
use crate::source::edits::line_and_column;
use crate::source::locate::{self, Found};
use crate::source::{Extent, Position, Program};
use advice::{advice, is_of_std};
use ckpt_compiler::library::{self, DeviceMethods, Library};
use std::collections::BTreeSet;

/// What a message of rustc means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FindingKind {
    /// A value of the type cannot be saved.
    NotCheckpoint,
    /// A static of the type cannot be saved.
    NotGlobal,
    /// A region makes a value of the type again, and that may have changed.
    NotFixed,
    /// A type parameter lacks the bound `Checkpoint`.
    MissingBound,
    /// The type does not go through serde.
    NotSerde,
    /// A value that is left out has a destructor.
    Destructor,
    /// A field of the type is lent, and the type cannot be taken apart.
    NotSplit,
    /// What a type borrows does not live as long as it would have to.
    ShortLifetime,
    /// A value is used after it was moved.
    Moved,
    /// A refusal in ckpt's own words.
    Refusal,
    /// Anything else.
    Other,
}

impl FindingKind {
    /// Whether it may be gone once something else is decided.
    pub fn is_vague(self) -> bool {
        matches!(
            self,
            Self::ShortLifetime | Self::Moved | Self::Refusal | Self::Other
        )
    }
}

/// One error of rustc, with its places in the user's own source.
#[derive(Debug, Clone)]
pub struct Finding {
    /// What it means.
    pub kind: FindingKind,
    /// The type that it is about, as rustc writes it; empty where it is about none.
    pub type_name: String,
    /// Where the type is defined.
    pub definition: Option<Position>,
    /// The places that lie in files of the program, the primary ones first: bytes of the original text.
    pub places: Vec<Position>,
    /// What of ckpt stands where the program has std's, as far as it is about that.
    pub is_about: Vec<Exchanged>,
    /// What it says, for people: nothing goes by it.
    pub said: Said,
}

/// What comes of a round.
#[derive(Debug, Default)]
pub struct Round {
    /// Whether a decision is new: it is worth asking again.
    pub changed: bool,
    /// Functions whose sites have to go, with the reason: by a byte inside each.
    pub given_up: Vec<(Position, RustcObstacle)>,
    /// What no decision mends.
    pub unsolved: Vec<usize>,
    /// The `let`s that ckpt has refused, of which nothing has been decided: what mends one may be that others are mended with it.
    refused: BTreeSet<Position>,
    /// What had been decided before it. One cause shows in several findings: what this round has decided on it stands
    /// until rustc has seen it.
    before: Decisions,
}

/// Decides.
pub struct Decider<'a> {
    /// What calls and types of other crates mean.
    pub library: &'a Library,
    /// The program.
    pub program: &'a Program,
    /// What it is made of.
    pub items: &'a Items,
    /// Its types.
    pub types: &'a Types,
    /// Where making the value of the `let` at this place leaves a trace.
    pub leaves_a_trace_at: &'a dyn Fn(Position) -> Option<Extent>,
    /// What the `let` there looks at that is no variable which changes, and may be another by the time of a restart.
    pub looks_at: &'a dyn Fn(Position) -> Option<Looked>,
    /// Whether a value can be made again for a statement that uses it up, as far as what makes it tells.
    pub can_be_made_again: &'a dyn Fn(Position) -> bool,
    /// Where a variable first may get another value than the one that it was made with.
    pub changes_at: &'a dyn Fn(Position) -> Option<Extent>,
    /// What keeps a restart from making again what the `let` at this place declares and statements behind it tell more.
    pub told_more_at: &'a dyn Fn(Position) -> Option<ToldMore>,
    /// What gives the list that the `let` at this place declares another element, in a loop with a site.
    pub grows_at: &'a dyn Fn(Position) -> Option<Extent>,
    /// Where making the first variable that a function of a type makes leaves a trace.
    pub making_leaves_a_trace: &'a dyn Fn(&str) -> Option<Extent>,
    /// Whether the `let` at this place may be re-executed at a restart although the one-function compiler cannot tell; and whether its
    /// value owns all that it has.
    pub repeatable: &'a dyn Fn(Position, bool) -> bool,
    /// Whether a statement that runs again at a restart uses up what the `let` at this place declares, and that may be re-executed with
    /// it and with others.
    pub moved_again: &'a dyn Fn(Position, &BTreeSet<Position>) -> bool,
    /// A variable that the value of the `let` at this place is made from, and that changes.
    pub changed_input: &'a dyn Fn(Position) -> Option<String>,
    /// Whether the value of the `let` at this place may be made anew, whatever its inputs are by then.
    pub renewable: &'a dyn Fn(Position) -> bool,
    /// Whether the value of the `let` at this place may be rebuilt, if it is filled from the checkpoint then.
    pub rebuildable: &'a dyn Fn(Position, &[String]) -> bool,
    /// Whether a value of this type, as rustc writes it, has content on a device.
    pub on_device: &'a dyn Fn(&str) -> bool,
    /// The crates for devices that a type, as rustc writes it, may be of.
    pub device_crates: &'a dyn Fn(&str) -> Vec<String>,
    /// What leads to content on a device that no variable holds, if it hangs on values of this type, as rustc writes it.
    pub hidden_on_device: &'a dyn Fn(&str) -> Option<String>,
    /// Whether a type, as rustc writes it, is that of commands that have begun on a device.
    pub under_way_on_device: &'a dyn Fn(&str) -> bool,
    /// Whether a checkpoint holds that content.
    pub saved_from_device: &'a dyn Fn(&str) -> bool,
    /// Whether a type, as rustc writes it, is that of a handle that may be one to memory on a device.
    pub untyped_on_device: &'a dyn Fn(&str) -> bool,
    /// Whether what makes memory on a device makes the value of the `let` at this place.
    pub made_on_device: &'a dyn Fn(Position) -> bool,
    /// Whether the `let` at this place may hold such a value.
    pub filled_on_device: &'a dyn Fn(Position) -> bool,
    /// Whether the list that the `let` at this place declares gets structs with such values from what stands behind, and no others later.
    pub gathered_on_device: &'a dyn Fn(Position) -> bool,
    /// The `let`s of what the `let` at this place changes places with, and its own.
    pub changing_places_with: &'a dyn Fn(Position) -> BTreeSet<Position>,
    /// Where the program first writes a file, if it does.
    pub file_written: &'a dyn Fn() -> Option<Extent>,
    /// Whether a value of this type, as rustc writes it, is a kernel that keeps its arguments.
    pub keeps_arguments: &'a dyn Fn(&str) -> bool,
    /// Whether the parameter at this place, which is passed by value, may hold such a value.
    pub passed_on_device: &'a dyn Fn(Position) -> bool,
    /// Whether a value of this type, as rustc writes it, is a handle that a restart makes again as it was.
    pub handles_on_device: &'a dyn Fn(&str) -> bool,
    /// Whether the `let` at this place makes an iterator that may be replayed.
    pub replayable: &'a dyn Fn(Position) -> bool,
    /// Whether what the `let` at this place declares is used in other branches only than those with the sites.
    pub is_elsewhere: &'a dyn Fn(Position) -> bool,
    /// Whether a place is in a function that ckpt has put an attribute on.
    pub is_instrumented: &'a dyn Fn(Position) -> bool,
    /// Whether crates that the program depends on have serde behind a feature that is off.
    pub offers_serde: bool,
    /// Where functions are named.
    pub names_functions: &'a dyn Fn(Position) -> bool,
    /// What has been decided so far.
    pub decisions: Decisions,
}

/// What holds a value: where it is declared.
enum Holder {
    /// One variable.
    Let(Position),
    /// Several.
    Tuple(Position),
    /// A parameter that is passed by value.
    Passed(Position),
}

/// What something of ckpt takes the place of, where a checkpoint has to hold it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exchanged {
    /// Traits of objects in boxes.
    Stream(Stream),
    /// Channels.
    Channels,
}

/// The names in a type as rustc writes it: `Vec<a::Cell<T>>` has `Vec`, `a::Cell` and `T`.
fn names_in_type(ty: &str) -> impl Iterator<Item = &str> {
    ty.split(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | ':')))
}

/// Whether it is not decided yet what a restart does for the variable that is declared there: that it is saved is what is tried first.
fn is_open(decisions: &Decisions, variable: Position) -> bool {
    decisions
        .variables
        .get(&variable)
        .is_none_or(|word| *word == "save")
}

impl Decider<'_> {
    /// One round: all findings of one answer.
    pub fn decide(&mut self, findings: &[Finding]) -> Round {
        let refused = findings.iter().filter(|one| one.kind == FindingKind::Refusal);
        let refused = refused.filter_map(|one| self.let_of(one));
        let mut round = Round {
            refused: refused.filter(|place| is_open(&self.decisions, *place)).collect(),
            before: self.decisions.clone(),
            ..Round::default()
        };
        self.own_readers(findings);
        let vague: Vec<bool> = findings.iter().map(|one| self.is_vague(one)).collect();
        for is_vague in [false, true] {
            // What rustc says besides may be gone once a decision is made: a type without size, an ambiguous method.
            if is_vague && self.decisions != round.before {
                break;
            }
            for (index, one) in self.in_order(findings) {
                if vague[index] != is_vague {
                    continue;
                }
                // A reader is found wherever it is lent.
                if self.decisions.owned != round.before.owned && one.type_name.starts_with('&') {
                    continue;
                }
                if !self.decide_one(one, &mut round) {
                    round.unsolved.push(index);
                }
            }
        }
        round.changed = self.decisions != round.before || !round.given_up.is_empty();
        round
    }

    /// Findings as they come, but behind the others those of values that could be made again if the others were not: a site is given
    /// up for the first.
    fn in_order<'f>(&self, findings: &'f [Finding]) -> Vec<(usize, &'f Finding)> {
        let waits = |one: &Finding| {
            one.kind == FindingKind::Refusal && self.let_of(one).is_some_and(self.can_be_made_again)
        };
        let (behind, first): (Vec<_>, Vec<_>) = findings.iter().enumerate().partition(|(_, one)| waits(one));
        first.into_iter().chain(behind).collect()
    }

    /// Whether another decision may be all that is missing: a type that is filled lacks what one of its parameters lacks.
    fn is_vague(&self, one: &Finding) -> bool {
        let is_filled = |ty: Position| self.decisions.refilled.contains(&ty);
        one.kind.is_vague() || self.type_of(one).is_some_and(is_filled)
    }

    /// A type that holds a trait's objects with a lifetime: those that a checkpoint lists live as long as the program.
    fn bounded_objects(&mut self, one: &Finding) -> bool {
        for &place in &one.places {
            if let Some(Found::Field { name, item, .. }) = locate::locate(self.program, place.0, place.1)
                && self.decisions.derives.contains(&(place.0, item))
            {
                let borrowing = OpaqueField {
                    name,
                    type_name: None,
                };
                self.forget((place.0, item), borrowing);
                return true;
            }
        }
        false
    }

    fn decide_one(&mut self, one: &Finding, round: &mut Round) -> bool {
        if self.cannot_name_functions(one) || self.cannot_derive_in_macro(one) {
            return true;
        }
        match one.kind {
            // A method that is there only for types with the bound says the same of types.
            FindingKind::MissingBound => self.bound(one, round) || self.not_checkpoint(one, round),
            FindingKind::NotCheckpoint | FindingKind::NotSplit => self.not_checkpoint(one, round),
            FindingKind::NotGlobal => self.not_global(one, round),
            // A derive says whether it can.
            FindingKind::NotFixed => {
                self.derives_named(one, round) || self.bound_as_fixed(one, round) || self.give_up(one, round)
            }
            FindingKind::NotSerde => self.not_serde(one, round),
            FindingKind::Destructor => self.destructor(one, round),
            FindingKind::ShortLifetime if self.stays_as_it_is(one) || self.bounded_objects(one) => true,
            FindingKind::Other if self.stays_as_it_is(one) => true,
            FindingKind::Moved if self.uses_up_reader(one) => true,
            FindingKind::Moved if self.is_moved_again(one, round) => true,
            FindingKind::Refusal if self.needs_after_all(one, round) => true,
            FindingKind::Refusal if self.is_moved_again(one, round) => true,
            FindingKind::ShortLifetime | FindingKind::Moved | FindingKind::Refusal | FindingKind::Other => {
                self.give_up(one, round)
            }
        }
    }

    /// A function cannot be named where it is: it is hidden there, or of a type that the source does not tell.
    fn cannot_name_functions(&mut self, one: &Finding) -> bool {
        let first = one.places.first();
        let place =
            first.filter(|place| one.kind != FindingKind::NotGlobal && (self.names_functions)(**place));
        place.is_some_and(|place| self.decisions.unnamed_functions.insert(*place))
    }

    /// A type that a macro declares cannot be derived: no field of it can be steered.
    fn cannot_derive_in_macro(&mut self, one: &Finding) -> bool {
        let place = one.places.iter().find_map(|place| self.types.in_macro(*place));
        let derived = place.filter(|place| self.decisions.derives.contains(place));
        // A type of the program that is missing may be all.
        let Some(place) = derived.filter(|place| self.type_of(one).is_none_or(|ty| ty == *place)) else {
            return false;
        };
        let name = self
            .types
            .get(place)
            .map_or_else(String::new, |info| info.name.clone());
        self.forget(place, opaque_field(&name, one));
        true
    }

    fn bound(&mut self, one: &Finding, round: &Round) -> bool {
        let name = &one.type_name;
        let found = one
            .places
            .iter()
            .find_map(|&(file, offset)| type_parameter(self.program, file, offset, name));
        let anonymous = { one.places.iter() }
            .flat_map(|&(file, offset)| anonymous_parameters(self.program, file, offset, name));
        let found: Vec<_> = { found.into_iter().chain(anonymous) }
            .filter(|place| !round.before.bounds.contains(place))
            .collect();
        self.decisions.bounds.extend(&found);
        !found.is_empty()
    }

    /// The type parameters that a type names.
    fn bound_as_fixed(&mut self, one: &Finding, round: &Round) -> bool {
        let program = self.program;
        let places = names_in_type(&one.type_name).flat_map(|word| {
            let named = move |&(file, offset): &Position| type_parameter(program, file, offset, word);
            one.places.iter().filter_map(named)
        });
        let missing: Vec<_> = places
            .filter(|place| !round.before.fixed.contains(place))
            .collect();
        self.decisions.fixed.extend(&missing);
        !missing.is_empty()
    }

    fn not_checkpoint(&mut self, one: &Finding, round: &mut Round) -> bool {
        if one.type_name.starts_with("dyn ") || one.type_name.starts_with("(dyn ") {
            return self.object(one, round);
        }
        if self.channel(one, round) {
            return true;
        }
        let associated = associated_type(self.program, self.items, &one.type_name);
        if let Some(place) = associated.filter(|place| !round.before.bounds.contains(place)) {
            self.decisions.bounds.insert(place);
            return true;
        }
        if (self.on_device)(&one.type_name) {
            // Made again it would be without its content.
            return self.device_array(one, round) || self.give_up(one, round);
        }
        if self.untyped_array(one, round) || self.device_handle(one, round) {
            return true;
        }
        if let Some(ty) = self.type_of(one) {
            if self.refill(ty, one, round) {
                return true;
            }
            if self.decisions.refilled.contains(&ty) {
                // Where a value of it is lent, what it has to be hangs on what is filled.
                let is_new = !round.before.refilled.contains(&ty);
                return self.derives_named(one, round) || is_new || self.give_up(one, round);
            }
            match self.types.held_with_text_by(ty, &self.decisions.opaque) {
                Ok(held) => {
                    let missing: BTreeSet<_> = held.difference(&round.before.derives).copied().collect();
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
        if one.kind == FindingKind::NotSplit {
            return self.give_up(one, round);
        }
        self.holder(one, round)
    }

    /// A static: rustc names its whole type, `&LocalKey<RefCell<[Timer; 64]>>`, so the types of the program in it are derived.
    fn not_global(&mut self, one: &Finding, round: &mut Round) -> bool {
        self.derives_named(one, round)
    }

    /// The types of the program that the name of a type mentions are derived, with all that they hold: rustc speaks of
    /// the whole where it cannot tell which part lacks something.
    fn derives_named(&mut self, one: &Finding, round: &Round) -> bool {
        let words = names_in_type(&one.type_name).filter_map(|word| self.types.named(word));
        let words: Vec<_> = words.collect();
        let refilled = &self.decisions.refilled;
        let words = words.into_iter().filter(|ty| !refilled.contains(ty));
        let mut held = BTreeSet::new();
        for ty in words {
            match self.types.held_with_text_by(ty, &self.decisions.opaque) {
                Ok(more) => held.extend(more),
                Err(_) => return false,
            }
        }
        let missing: Vec<_> = held.difference(&round.before.derives).copied().collect();
        self.decisions.derives.extend(&missing);
        !missing.is_empty()
    }

    /// An object of a trait: an attribute on the trait lists its types.
    fn object(&mut self, one: &Finding, round: &mut Round) -> bool {
        let name = &one.type_name;
        if round.before.objects.contains_key(name) || self.device_object(name).is_some() {
            return self.holder(one, round);
        }
        match object_edits(self.library, self.program, self.items, self.types, name) {
            Ok(needed) => {
                self.decisions.objects.insert(name.clone(), needed.edits);
                self.decisions.derives.extend(needed.derives);
                true
            }
            Err(_) => self.stream(name, round) || self.holder(one, round),
        }
    }

    /// A type among the objects of a trait that has arrays on a device: nothing fills these behind a pointer to the object.
    fn device_object(&self, name: &str) -> Option<String> {
        if (self.device_crates)(name).is_empty() {
            return None;
        }
        let objects = object_edits(self.library, self.program, self.items, self.types, name).ok()?;
        let has_arrays = |ty: &&Position| !refill::filled_fields(self.library, self.program, **ty).is_empty();
        let ty = objects.derives.iter().find(has_arrays)?;
        self.types.get(*ty).map(|info| info.name.clone())
    }

    /// `Box<dyn Write>`: another trait takes the place of std's, of which a checkpoint knows what is behind it.
    fn stream(&mut self, name: &str, round: &Round) -> bool {
        let Some(stream) = stream_of(self.library, name) else {
            return false;
        };
        let edits = stream_edits(stream, self.library, self.program);
        let is_new = !edits.is_empty() && !round.before.objects.contains_key(stream.key());
        if is_new {
            self.decisions.objects.insert(stream.key().into(), edits);
        }
        is_new
    }

    /// `open(path)?.lines()` takes the reader: the call is written so that this shows.
    fn uses_up_reader(&mut self, one: &Finding) -> bool {
        let mut is_new = false;
        for &place in &one.places {
            if let Some(function) = used_up_readers::function_at(self.library, self.program, place) {
                is_new |= self.decisions.used_up.insert(place, function).is_none();
            }
        }
        is_new
    }

    /// A value that a statement uses up which runs again at a restart is made again as well, where that gives the same.
    fn is_moved_again(&mut self, one: &Finding, round: &Round) -> bool {
        let Some(place) = self.let_of(one) else {
            return false;
        };
        let is_new = is_open(&round.before, place) && (self.moved_again)(place, &round.refused);
        if is_new {
            self.decisions.variables.insert(place, "reexecute");
        }
        is_new
    }

    /// A variable that was taken for one which is used in other branches only is needed for a site, now that it is somewhere else or
    /// that other statements run again.
    fn needs_after_all(&mut self, one: &Finding, round: &Round) -> bool {
        let mut is_new = false;
        for &(file, offset) in &one.places {
            if let Some(Found::Let { start, .. }) = locate::locate(self.program, file, offset)
                && round.before.variables.get(&(file, start)) == Some(&"elsewhere")
            {
                self.decisions.variables.remove(&(file, start));
                is_new |= self.decisions.needed.insert((file, start));
            }
        }
        is_new
    }

    /// What is behind a box is none of those that a checkpoint knows, or another crate has to do with a channel: std's stay.
    fn stays_as_it_is(&mut self, one: &Finding) -> bool {
        let mut is_new = false;
        for exchanged in &one.is_about {
            match exchanged {
                Exchanged::Stream(stream) => {
                    if let Some(edits) = self.decisions.objects.get_mut(stream.key()) {
                        is_new |= !edits.is_empty();
                        edits.clear();
                    }
                }
                Exchanged::Channels if self.decisions.channels == Some(true) => {
                    self.decisions.channels = Some(false);
                    is_new = true;
                }
                Exchanged::Channels => {}
            }
        }
        is_new
    }

    /// An end of a channel of std: ckpt's take the place of all channels. One that is still there after that is another crate's.
    fn channel(&mut self, one: &Finding, round: &Round) -> bool {
        let is_new = round.before.channels.is_none() && is_of_replaced_module(self.library, &one.type_name);
        if is_new {
            self.decisions.channels = Some(true);
        }
        is_new
    }

    /// A type with functions or references in it: a restart rebuilds the value, and fills the rest in.
    fn refill(&mut self, ty: Position, one: &Finding, round: &Round) -> bool {
        let is_known = self.decisions.refilled.contains(&ty);
        let stands_in_the_way = |place| self.types.held_by(place, &self.decisions.opaque).is_err();
        let is_on_device = !refill::filled_fields(self.library, self.program, ty).is_empty();
        let is_in_the_way = is_on_device || stands_in_the_way(ty);
        if !is_known && (!is_in_the_way || self.decisions.opaque.contains_key(&ty)) {
            return false;
        }
        let stays = |place| {
            refill::holds_the_same(self.library, self.program, self.items, place)
                || (self.gathered_on_device)(place)
        };
        let variable = match self.variable_of(one) {
            // It is in a list, a tuple or an option.
            Some(Holder::Let(place))
                if round.before.variables.get(&place) == Some(&"refill")
                    && refill::has_no_parameters(self.program, ty) =>
            {
                return stays(place) && self.fill_parts(place, round);
            }
            Some(Holder::Let(variable)) => variable,
            Some(Holder::Tuple(place)) => {
                let is_decided = refill::words_of_fields(self.library, self.program, ty).is_some()
                    && stays(place)
                    && (self.rebuildable)(place, &[])
                    && self.fill_parts(place, round);
                if is_decided && !is_known {
                    self.keep(ty);
                }
                return is_decided;
            }
            Some(Holder::Passed(place)) => {
                if round.before.parameters.get(&place) == Some(&"refill") {
                    return stays(place) && self.refill_passed(place, round);
                }
                let is_decided = refill::words_of_fields(self.library, self.program, ty).is_some()
                    && !refill::is_exchanged(self.library, self.program, self.items, place)
                    && self.refill_passed(place, round);
                if is_decided && !is_known {
                    self.keep(ty);
                }
                return is_decided;
            }
            // In a struct that is filled, it is filled with it.
            None => {
                let is_part = !is_known
                    && is_on_device
                    && self.is_in_filled_struct(one)
                    && refill::words_of_fields(self.library, self.program, ty).is_some();
                if is_part {
                    self.keep(ty);
                }
                return is_part;
            }
        };
        if round.before.variables.contains_key(&variable)
            || refill::is_exchanged(self.library, self.program, self.items, variable)
        {
            return false;
        }
        let lent = refill::lent_variables(self.library, self.program, self.items, variable, ty);
        let parts = refill::parts_of(self.library, self.program, self.items, variable, ty);
        let (Some(parts), Some(lent)) = (parts, lent) else {
            return false;
        };
        if !(self.rebuildable)(variable, &lent) {
            return false;
        }
        if !is_known {
            self.keep(ty);
        }
        self.decisions.parts.insert(variable, parts);
        self.decisions.variables.insert(variable, "refill");
        true
    }

    fn is_in_filled_struct(&self, one: &Finding) -> bool {
        let is = |&(file, offset): &Position| {
            matches!(locate::locate(self.program, file, offset), Some(Found::Field { item, .. })
                if self.decisions.refilled.contains(&(file, item)))
        };
        one.places.iter().any(is)
    }

    /// An array on a device: a restart makes it again, and writes its content.
    fn device_array(&mut self, one: &Finding, round: &Round) -> bool {
        (self.saved_from_device)(&one.type_name)
            && !self.exchanges_arguments(one)
            && self.fill_array(one, round)
    }

    /// Whether kernels that keep their arguments change places: a variable gets those back that it had, and would have to get
    /// the other kernel with them.
    fn exchanges_arguments(&self, one: &Finding) -> bool {
        match self.variable_of(one) {
            Some(Holder::Let(place) | Holder::Tuple(place)) => {
                (self.keeps_arguments)(&one.type_name) && !(self.changing_places_with)(place).is_empty()
            }
            _ => false,
        }
    }

    /// A handle without a type that what makes such an array has made: a checkpoint finds out whether it is one.
    fn untyped_array(&mut self, one: &Finding, round: &Round) -> bool {
        let is_made = |holder| match holder {
            Holder::Let(place) | Holder::Tuple(place) => (self.made_on_device)(place),
            Holder::Passed(_) => false,
        };
        (self.untyped_on_device)(&one.type_name)
            && self.variable_of(one).is_some_and(is_made)
            && self.fill_array(one, round)
    }

    fn fill_array(&mut self, one: &Finding, round: &Round) -> bool {
        let holder = self.variable_of(one);
        let is_filled = match holder {
            Some(Holder::Let(place)) if (self.filled_on_device)(place) => self.refill_variable(place, round),
            Some(Holder::Tuple(place)) if (self.filled_on_device)(place) => self.fill_parts(place, round),
            Some(Holder::Passed(place)) if (self.passed_on_device)(place) => self.refill_passed(place, round),
            _ => false,
        };
        if let (true, Some(Holder::Let(place) | Holder::Tuple(place))) = (is_filled, holder) {
            let places = (self.changing_places_with)(place);
            self.fill_all(&places);
            self.decisions.changing_places.extend(places);
        }
        is_filled
    }

    /// Of those that change places all are filled, whichever of them is needed: it may have another one's.
    fn fill_all(&mut self, places: &BTreeSet<Position>) {
        for &place in places {
            let is_one = matches!(locate::locate(self.program, place.0, place.1), Some(Found::Let { names, .. }) if names.len() == 1);
            let word = if is_one { "refill" } else { "parts" };
            self.decisions.variables.entry(place).or_insert(word);
        }
    }

    /// What leads to something on a device, beside an array: both are made again. Handles that change places do so again at a
    /// restart.
    fn device_handle(&mut self, one: &Finding, round: &Round) -> bool {
        let is_handle = (self.handles_on_device)(&one.type_name) && !self.exchanges_arguments(one);
        let (is_filled, place) = match self.variable_of(one).filter(|_| is_handle) {
            Some(Holder::Let(place)) if !(self.repeatable)(place, true) && (self.filled_on_device)(place) => {
                (self.refill_variable(place, round), place)
            }
            Some(Holder::Tuple(place))
                if !(self.repeatable)(place, true) && (self.filled_on_device)(place) =>
            {
                (self.fill_parts(place, round), place)
            }
            _ => return false,
        };
        if is_filled {
            let places = (self.changing_places_with)(place);
            self.fill_all(&places);
            self.decisions.changing_handles.extend(places);
        }
        is_filled
    }

    /// The variable or variables that a finding is about.
    fn variable_of(&self, one: &Finding) -> Option<Holder> {
        one.places.iter().find_map(
            |&(file, offset)| match locate::locate(self.program, file, offset) {
                Some(Found::Let {
                    start,
                    names,
                    treated: false,
                    ..
                }) => match names.len() {
                    1 => Some(Holder::Let((file, start))),
                    _ => Some(Holder::Tuple((file, start))),
                },
                Some(Found::Parameter {
                    start,
                    by_value: true,
                    ..
                }) => Some(Holder::Passed((file, start))),
                _ => None,
            },
        )
    }

    /// The `let` of what holds it.
    fn let_of(&self, one: &Finding) -> Option<Position> {
        match self.variable_of(one)? {
            Holder::Let(place) | Holder::Tuple(place) => Some(place),
            Holder::Passed(_) => None,
        }
    }

    /// A variable is filled, or, where that was tried, each of its parts.
    fn refill_variable(&mut self, place: Position, round: &Round) -> bool {
        match round.before.variables.get(&place) {
            None => {
                self.decisions.variables.insert(place, "refill");
                self.decisions
                    .give_content(self.library, self.program, self.items, place);
                true
            }
            Some(&"refill") => self.fill_parts(place, round),
            Some(_) => false,
        }
    }

    fn fill_parts(&mut self, place: Position, round: &Round) -> bool {
        let is_new = round.before.variables.get(&place) != Some(&"parts")
            && self
                .decisions
                .parts
                .get(&place)
                .is_none_or(|parts| parts.is_empty());
        if is_new {
            self.decisions.variables.insert(place, "parts");
        }
        is_new
    }

    /// What is passed by value the caller makes again.
    fn refill_passed(&mut self, place: Position, round: &Round) -> bool {
        let word = match round.before.parameters.get(&place) {
            None => "refill",
            Some(&"refill") => "parts",
            Some(_) => return false,
        };
        self.decisions.parameters.insert(place, word);
        true
    }

    /// An iterator that is used up bit by bit: a restart rebuilds it, and brings it to where it was.
    fn iterator(&mut self, one: &Finding, round: &Round) -> bool {
        let variable =
            one.places.iter().find_map(
                |&(file, offset)| match locate::locate(self.program, file, offset) {
                    Some(Found::Let {
                        start,
                        treated: false,
                        ..
                    }) => Some((file, start)),
                    _ => None,
                },
            );
        let new = variable.filter(|place| !round.before.variables.contains_key(place));
        let Some(variable) = new.filter(|&place| (self.replayable)(place)) else {
            return false;
        };
        self.decisions.variables.insert(variable, "refill");
        self.decisions.replayed.insert(variable);
        true
    }

    /// Readers of files that only they use own them.
    fn own_readers(&mut self, findings: &[Finding]) {
        let unsaved = findings
            .iter()
            .filter(|one| one.kind == FindingKind::NotCheckpoint);
        for place in unsaved.flat_map(|one| &one.places) {
            if let Some(Found::Let { start, .. }) = locate::locate(self.program, place.0, place.1) {
                let borrow =
                    lent_readers::borrow_of(self.library, self.program, self.items, (place.0, start));
                self.decisions.owned.extend(borrow);
            }
        }
    }

    fn keep(&mut self, ty: Position) {
        let words = refill::words_of_fields(self.library, self.program, ty).unwrap_or_default();
        self.decisions.fields.extend(words);
        self.decisions.derives.insert(ty);
        if !self.decisions.refilled.insert(ty) {
            return;
        }
        // What has arrays on devices in it is filled with it.
        let names = refill::names_in_filled(self.library, self.program, ty);
        let inner: Vec<Position> = names.iter().filter_map(|name| self.types.named(name)).collect();
        for inner in inner {
            if !refill::filled_fields(self.library, self.program, inner).is_empty() {
                self.keep(inner);
            }
        }
    }

    /// A type cannot be saved after all.
    fn forget(&mut self, item: Position, field: OpaqueField) {
        if self.decisions.refilled.remove(&item) {
            let words = refill::words_of_fields(self.library, self.program, item).unwrap_or_default();
            self.decisions
                .fields
                .retain(|field, _| !words.contains_key(field));
        }
        self.decisions.derives.remove(&item);
        self.decisions.opaque.insert(item, field);
    }

    /// The variable, parameter or field that holds a value which cannot be saved.
    fn holder(&mut self, one: &Finding, round: &mut Round) -> bool {
        for &place in &one.places {
            match locate::locate(self.program, place.0, place.1) {
                Some(Found::Field {
                    start, name, item, ..
                }) => {
                    let item = (place.0, item);
                    if !self.decisions.derives.contains(&item) {
                        continue;
                    }
                    return self.field((place.0, start), item, &name, one, round);
                }
                Some(Found::Let { start, treated, .. }) if !treated => {
                    let start = (place.0, start);
                    let is_known =
                        round.before.variables.contains_key(&start) || round.before.needed.contains(&start);
                    if !is_known && (self.is_elsewhere)(start) {
                        self.decisions.variables.insert(start, "elsewhere");
                        return true;
                    }
                    let runs_again = round.before.variables.get(&start) == Some(&"reexecute");
                    let renews = || self.shows_only(one) && (self.renewable)(start);
                    let owns = self.owns(&one.type_name);
                    if !runs_again && ((self.repeatable)(start, owns) || renews()) {
                        self.decisions.variables.insert(start, "reexecute");
                        return true;
                    }
                    return self.iterator(one, round)
                        || self.variable_through_serde(start, one, round)
                        || self.give_up(one, round);
                }
                Some(Found::For {
                    start,
                    treated: false,
                }) => {
                    let start = (place.0, start);
                    if !round.before.variables.contains_key(&start) && (self.repeatable)(start, false) {
                        self.decisions.variables.insert(start, "reexecute");
                        return true;
                    }
                    return self.give_up(one, round);
                }
                Some(Found::Parameter { start, by_value, .. }) => {
                    let start = (place.0, start);
                    // What is passed by value may change: not so what only leads to something.
                    let is_handle =
                        || (self.handles_on_device)(&one.type_name) && (self.passed_on_device)(start);
                    let is_the_same = !by_value || is_handle();
                    if is_the_same && !round.before.parameters.contains_key(&start) {
                        self.decisions.parameters.insert(start, "reexecute");
                        return true;
                    }
                    if self.may_go_through_serde(one) && !round.before.not_serde.contains(&start) {
                        self.decisions.parameters.insert(start, "serde");
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
    fn field(&mut self, field: Position, item: Position, name: &str, one: &Finding, round: &Round) -> bool {
        if !round.before.fields.contains_key(&field) && self.may_go_through_serde(one) {
            self.decisions.fields.insert(field, "serde");
            return true;
        }
        // A function under another name, which the text of the field does not show.
        if !round.before.refilled.contains(&item)
            && refill::kept_fields(self.library, self.program, item).is_some_and(|kept| kept.contains(&field))
        {
            self.keep(item);
            return true;
        }
        self.decisions.fields.remove(&field);
        self.forget(item, opaque_field(name, one));
        true
    }

    /// A variable with a value of another crate's type, which may change: through serde if the type has it.
    fn variable_through_serde(&mut self, variable: Position, one: &Finding, round: &Round) -> bool {
        let is_new = !round.before.variables.contains_key(&variable);
        let may = is_new && !round.before.not_serde.contains(&variable) && self.may_go_through_serde(one);
        if may {
            self.decisions.variables.insert(variable, "serde");
        }
        may
    }

    /// Whether the value only shows something, so that it may be another one after a restart.
    fn shows_only(&self, one: &Finding) -> bool {
        let last = one.type_name.rsplit("::").next().unwrap_or_default();
        one.definition.is_none() && self.library.says(last, library::Types::ShowsOnly)
    }

    fn may_go_through_serde(&self, one: &Finding) -> bool {
        let name = &one.type_name;
        one.definition.is_none()
            && !name.starts_with(['&', '*'])
            && !["dyn ", "fn(", "closure@"].iter().any(|part| name.contains(part))
            && !is_of_std(self.library, name)
            && self.types.named(name).is_none()
    }

    /// What does not go through serde, even with the features of other crates that are about it.
    fn not_serde(&mut self, one: &Finding, round: &mut Round) -> bool {
        if self.offers_serde && !round.before.serde {
            self.decisions.serde = true;
            return true;
        }
        for &place in &one.places {
            let file = place.0;
            match locate::locate(self.program, file, place.1) {
                Some(Found::Field {
                    start, name, item, ..
                }) => {
                    self.decisions.fields.remove(&(file, start));
                    self.forget((file, item), opaque_field(&name, one));
                    return true;
                }
                Some(Found::Let { start, .. }) => {
                    self.decisions.variables.remove(&(file, start));
                    self.decisions.not_serde.insert((file, start));
                    return true;
                }
                Some(Found::Parameter { start, .. }) => {
                    self.decisions.parameters.insert((file, start), "reexecute");
                    self.decisions.not_serde.insert((file, start));
                    return true;
                }
                _ => {}
            }
        }
        false
    }

    /// A dead value whose destructor must run: it is saved, or, where it cannot be, rebuilt.
    fn destructor(&mut self, one: &Finding, round: &mut Round) -> bool {
        for &place in &one.places {
            if let Some(Found::Let {
                start,
                treated: false,
                ..
            }) = locate::locate(self.program, place.0, place.1)
            {
                let start = (place.0, start);
                let word = match round.before.variables.get(&start) {
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
    fn give_up(&self, one: &Finding, round: &mut Round) -> bool {
        let place = one.places.iter().find(|&&place| (self.is_instrumented)(place));
        match place {
            Some(&place) => {
                round.given_up.push((place, self.obstacle(one, Some(place))));
                true
            }
            None => false,
        }
    }

    /// Why a site cannot be where it is.
    fn obstacle(&self, one: &Finding, place: Option<Position>) -> RustcObstacle {
        let found = place.and_then(|place| locate::locate(self.program, place.0, place.1));
        let holder = match found {
            _ if one.kind == FindingKind::NotGlobal => HeldIn::Static,
            Some(Found::Let { names, .. }) if !names.is_empty() => HeldIn::Variables(names),
            Some(Found::Parameter { name, .. }) => HeldIn::Parameter(name),
            Some(Found::Field { name, .. }) => HeldIn::Field(name),
            _ => HeldIn::Nothing,
        };
        let type_name = one.type_name.clone();
        let mut field = self.field_in_the_way(one).cloned();
        let of_field = field.as_ref().and_then(|field| field.type_name.as_deref());
        let mut advice = advice(self, of_field.unwrap_or(&type_name));
        if matches!(
            advice,
            TypeAdvice::Other | TypeAdvice::Borrows | TypeAdvice::DeviceHandle { .. }
        ) && let Some(Holder::Let(place) | Holder::Tuple(place)) = self.variable_of(one)
            && let Some(told) = (self.told_more_at)(place)
        {
            advice = match told {
                ToldMore::Changed(at) => TypeAdvice::DeviceHandle {
                    crates: (self.device_crates)(&type_name),
                    change: self.written_at(at),
                },
                ToldMore::From(variable) => TypeAdvice::ChangedInput {
                    changed: format!("`{variable}`"),
                },
                ToldMore::Leaves(at) => TypeAdvice::DeviceCommand {
                    crates: (self.device_crates)(&type_name),
                    trace: self.written_at(at).unwrap_or_default(),
                },
            };
        } else if matches!(
            advice,
            TypeAdvice::Device { .. } | TypeAdvice::DeviceHandle { .. } | TypeAdvice::Other
        ) && let Some((changed, of_field)) =
            self.changed_field(one).or_else(|| self.field_of_parameter(one))
        {
            (field, advice) = (Some(changed), of_field);
        } else if matches!(advice, TypeAdvice::Device { .. })
            && let Some(Holder::Let(place)) = self.variable_of(one)
            && let Some(change) = (self.grows_at)(place).and_then(|at| self.written_at(at))
        {
            advice = TypeAdvice::DeviceGrows {
                crates: (self.device_crates)(&type_name),
                change,
            };
        } else if matches!(
            advice,
            TypeAdvice::Device { .. } | TypeAdvice::DeviceHandle { .. } | TypeAdvice::Other
        ) && self.is_of_devices(one, of_field.unwrap_or(&type_name))
            && let Some(found) = { one.places.iter() }.find_map(|place| self.trace_at(*place, &type_name))
        {
            advice = found;
        } else if matches!(advice, TypeAdvice::Other)
            && let Some(found) = { one.places.iter() }.find_map(|place| self.state_at(*place))
        {
            advice = found;
        } else if matches!(advice, TypeAdvice::DeviceHandle { .. })
            && let Some((shared, of_field)) = self.shared_field(one)
        {
            (field, advice) = (Some(shared), of_field);
        } else if matches!(advice, TypeAdvice::Other)
            && let Some(type_name) = self.device_object(&type_name)
        {
            advice = TypeAdvice::DeviceObjects { type_name };
        } else if matches!(advice, TypeAdvice::DeviceHandle { .. } | TypeAdvice::Other)
            && let Some(Holder::Let(place) | Holder::Tuple(place)) = self.variable_of(one)
            && let Some(changed) = (self.changed_input)(place)
        {
            advice = TypeAdvice::ChangedInput {
                changed: format!("`{changed}`"),
            };
        } else if let TypeAdvice::Device { change, .. } | TypeAdvice::DeviceHandle { change, .. } =
            &mut advice
            && let Some(Holder::Let(place) | Holder::Tuple(place)) = self.variable_of(one)
            && !(self.filled_on_device)(place)
        {
            *change = (self.changes_at)(place).and_then(|at| self.written_at(at));
        }
        match one.kind {
            FindingKind::NotCheckpoint
            | FindingKind::NotGlobal
            | FindingKind::MissingBound
            | FindingKind::NotSerde => RustcObstacle::NotSaved {
                holder,
                type_name,
                field,
                advice,
            },
            FindingKind::Destructor => RustcObstacle::Destructor {
                holder,
                type_name,
                field,
                advice,
            },
            FindingKind::NotSplit
            | FindingKind::NotFixed
            | FindingKind::ShortLifetime
            | FindingKind::Refusal
            | FindingKind::Moved
            | FindingKind::Other => RustcObstacle::DoesNotCompile {
                holder,
                said: one.said.clone(),
            },
        }
    }

    /// The field that no checkpoint can hold, however deep it is: `Person.home: Receiver<Place>` for a `Town`.
    fn field_in_the_way(&self, one: &Finding) -> Option<&OpaqueField> {
        self.fields_in_the_way(one).last().map(|(_, field)| *field)
    }

    /// The type that a finding is about and its field that no checkpoint can hold, then the same of that field's type, and so on.
    fn fields_in_the_way(&self, one: &Finding) -> Vec<(Position, &OpaqueField)> {
        let mut open = self.type_of(one);
        let mut found = Vec::new();
        let mut seen = BTreeSet::new();
        while let Some(ty) = open.filter(|ty| seen.insert(*ty))
            && let Some(field) = self.decisions.opaque.get(&ty)
        {
            found.push((ty, field));
            open = field.type_name.as_deref().and_then(|name| self.types.named(name));
        }
        found
    }

    /// Whether a value of this type, as rustc writes it, has nothing of what it was lent.
    fn owns(&self, ty: &str) -> bool {
        use ckpt_compiler::library::Types as Of;
        let borrows = |name: &str| {
            let last = name.rsplit("::").next().unwrap_or(name);
            let of_program = self.items.types.iter().filter(|one| one.name == last);
            [Of::Iterators, Of::TextIterators, Of::Guards]
                .iter()
                .any(|are| self.library.says(last, *are))
                || of_program
                    .flat_map(|one| one.generics.lifetimes())
                    .next()
                    .is_some()
        };
        !ty.contains('&') && !names_in_type(ty).any(borrows)
    }

    /// Whether a finding is about something on a device, or about a struct with a field of such a type.
    fn is_of_devices(&self, one: &Finding, of_field: &str) -> bool {
        let mut names = [one.type_name.as_str(), of_field]
            .into_iter()
            .flat_map(names_in_type);
        let has_arrays = |ty| !refill::filled_fields(self.library, self.program, ty).is_empty();
        names.any(|name| (self.on_device)(name) || (self.handles_on_device)(name))
            || self.type_of(one).is_some_and(has_arrays)
    }

    /// What of making the value of the variable there would change again what was there before, `queue.submit(..)`, line 12 of `main.rs`;
    /// or what it is made from that may be something else by then.
    fn trace_at(&self, place: Position, type_name: &str) -> Option<TypeAdvice> {
        let (file, bytes) = match locate::locate(self.program, place.0, place.1)? {
            Found::Let { start, .. } => (self.leaves_a_trace_at)((place.0, start))?,
            Found::Field { name, .. } => (self.making_leaves_a_trace)(name.split('.').next()?)?,
            Found::Type { name, .. } => (self.making_leaves_a_trace)(&name)?,
            _ => return None,
        };
        let at = self.written_at((file, bytes.clone()))?;
        let text = self.program.file(file).text.get(bytes)?;
        let is_from_file = |call: &syn::ExprMethodCall| self.library.is_call(call, DeviceMethods::FromFiles);
        Some(match syn::parse_str::<syn::Expr>(text) {
            // A static, or a variable that changes inside.
            Ok(syn::Expr::Path(_)) => TypeAdvice::ChangedInput { changed: at },
            Ok(syn::Expr::MethodCall(call)) if is_from_file(&call) => TypeAdvice::DeviceFile {
                made: at,
                written: (self.file_written)().and_then(|at| self.written_at(at))?,
            },
            Ok(expr) if self.takes_from_variable(&expr) => TypeAdvice::TakesFrom { change: at },
            _ => TypeAdvice::DeviceCommand {
                crates: (self.device_crates)(type_name),
                trace: at,
            },
        })
    }

    /// Whether an expression lends a variable, or calls a method of one, that may change it, and is no command of a device.
    fn takes_from_variable(&self, expr: &syn::Expr) -> bool {
        let is_variable =
            |expr: &syn::Expr| matches!(expr, syn::Expr::Path(path) if path.path.get_ident().is_some());
        match expr {
            syn::Expr::Reference(one) => one.mutability.is_some() && is_variable(&one.expr),
            syn::Expr::MethodCall(call) => {
                let method = call.method.to_string();
                let is_command = self.library.leaves_a_trace(&method)
                    || self.library.says(&method, library::Types::DeviceTraces);
                is_variable(&call.receiver)
                    && !is_command
                    && !self.library.says(&method, DeviceMethods::Writes)
            }
            _ => false,
        }
    }

    /// What making the value of the variable there looks at that may be another by then.
    fn state_at(&self, place: Position) -> Option<TypeAdvice> {
        let Found::Let { start, .. } = locate::locate(self.program, place.0, place.1)? else {
            return None;
        };
        let looked = (self.looks_at)((place.0, start))?;
        let at = self.written_at(looked.at)?;
        Some(match looked.kind {
            State::Drawn => TypeAdvice::TakesFrom { change: at },
            State::Static | State::File | State::Inside | State::Order => {
                TypeAdvice::ChangedInput { changed: at }
            }
        })
    }

    /// What is written there, and where that is.
    fn written_at(&self, (file, bytes): Extent) -> Option<String> {
        let source = self.program.file(file);
        let (line, _) = line_and_column(&source.text, bytes.start);
        let text = source.text.get(bytes)?.lines().next().unwrap_or_default();
        let name = source.path.file_name()?.to_string_lossy();
        Some(format!("`{text}`, line {line} of `{name}`"))
    }

    /// The field of these types because of which a restart cannot make again, or fill, what it is in; and what may change it.
    fn changed_field(&self, one: &Finding) -> Option<(OpaqueField, TypeAdvice)> {
        let mut types = self.types_in_the_way(one);
        let changed = types.find_map(|ty| refill::changed_field(self.library, self.program, ty))?;
        let advice = TypeAdvice::DeviceField {
            change: self.written_at(changed.at)?,
            has_arrays: changed.has_arrays,
        };
        Some((changed.field, advice))
    }

    /// The type that a finding is about, and those of its fields in the way, from the outside to the inside.
    fn types_in_the_way(&self, one: &Finding) -> impl Iterator<Item = Position> {
        let of_fields = self.fields_in_the_way(one).into_iter().map(|(ty, _)| ty);
        let around =
            { one.places.iter() }.filter_map(|place| match locate::locate(self.program, place.0, place.1)? {
                Found::Field { item, .. } | Found::Type { item, .. } => Some((place.0, item)),
                _ => None,
            });
        let types: Vec<Position> = { self.type_of(one).into_iter() }
            .chain(of_fields)
            .chain(around)
            .collect();
        types.into_iter()
    }

    /// The field of a type parameter that stands for what has arrays on a device.
    fn field_of_parameter(&self, one: &Finding) -> Option<(OpaqueField, TypeAdvice)> {
        let arguments = one.type_name.split_once('<').map(|(_, arguments)| arguments);
        let ty = self
            .type_of(one)
            .filter(|_| arguments.is_some_and(self.on_device))?;
        let field = refill::field_of_parameter(self.program, ty)?;
        Some((field, TypeAdvice::DeviceParameter))
    }

    /// A field that changes behind shared references, beside what leads to a device.
    fn shared_field(&self, one: &Finding) -> Option<(OpaqueField, TypeAdvice)> {
        let mut types = self.types_in_the_way(one);
        let changed = types.find_map(|ty| refill::shared_field(self.library, self.program, ty))?;
        let change = self.written_at(changed.at)?;
        Some((changed.field, TypeAdvice::DeviceShared { change }))
    }

    /// The type of the program that a finding is about.
    fn type_of(&self, one: &Finding) -> Option<Position> {
        if let Some((file, offset)) = one.definition
            && let Some(Found::Type { item, .. }) = locate::locate(self.program, file, offset)
        {
            return Some((file, item));
        }
        let name = &one.type_name;
        let is_plain =
            !name.starts_with(['&', '*', '[', '(']) && !name.contains("dyn ") && !name.contains("{");
        is_plain.then(|| self.types.named(name)).flatten()
    }
}

/// The field of a type that a finding is about.
fn opaque_field(name: &str, one: &Finding) -> OpaqueField {
    OpaqueField {
        name: name.to_owned(),
        type_name: Some(one.type_name.clone()),
    }
}

#[cfg(test)]
mod tests;
