//! What a frame says at a site: the variables it saves, those it lent to its callee, the parameters it offers its caller.

use std::any::type_name;
use std::cell::Cell;
use std::fmt;
use std::sync::Mutex;

use super::clean;
use super::saver::{Saver, ValueSaver};
use super::splitting::{Demand, HowToSplit, SplitValue, Splitter};
use super::thread::{FunctionSite, site_plan};
use crate::base::lock::locked;
use crate::plan::VariablePlan;
use crate::state::snapshot::{Content, MovedToMember, SnapshotBuilder, VariableRecord};
use crate::team::{self};
use crate::value::{
    Checkpoint, Column, Encoder, FromSerde, Owner, Parts, Refill, SavedBySerde, can_stand_in,
};
use crate::value::{DynTable, Region};

/// Gathers one checkpoint, frame after frame from the outermost in. A registrar without a builder verifies: it copies no
/// value and only finds out whether every parameter that a caller needs is offered by its callee.
pub struct Registrar {
    builder: Option<SnapshotBuilder>,
    /// How many frames of other threads are in the builder.
    base: usize,
    /// What the frames said, outermost first; the last one is speaking.
    frames: Vec<Said>,
    /// Parameters that the caller of the speaking frame needs.
    pub(super) demanded: Vec<Demand>,
    /// Parameters that the speaking frame needs from its callee.
    demands: Vec<Demand>,
    /// Parameters that the speaking frame offered.
    offered: Vec<u32>,
    /// Parameters that the speaking frame has, and whose type cannot be saved.
    pub(super) unsaveable: Vec<(u32, &'static str, &'static str)>,
    /// Parameters that the speaking frame was passed by value and has used up.
    used_up: Vec<u32>,
    /// Parameters that the speaking frame needs as they are, and that its caller has to pass again.
    needed: Vec<u32>,
    /// Parameters that the speaking frame restores itself.
    required: Vec<&'static str>,
    /// Where in the site's plan the next variable is expected.
    next: usize,
    /// The site that speaks, and the activation of its function.
    speaker: Option<(FunctionSite, u64)>,
    /// The next variable does not change between two visits of this site.
    is_clean: bool,
    /// Nothing looks at it either.
    is_unread: bool,
    /// Whether it stays as it is until the session ends.
    lasts: bool,
    /// The next variable stands in for what another one has.
    stands_in: bool,
}

/// What a value is, without its type.
struct Recorded {
    rust_type: &'static str,
    region: Region,
    is_fixed: bool,
}

/// What a frame said about parameters.
struct Said {
    variables: &'static [VariablePlan],
    /// Variables that live in a parameter of the callee.
    links: Vec<Link>,
    /// Parameters saved in this frame's own record.
    values: Vec<(u32, &'static str)>,
    /// Variables of which a part lives in a parameter of the callee.
    split: Vec<SplitVariable>,
    /// Variables that have moved into members of the region that the frame has opened.
    moves: Vec<MovedToMember>,
}

struct SplitVariable {
    key: &'static str,
    line: u32,
    /// The own parameter that the variable is, if it is one.
    parameter: Option<u32>,
    value: SplitValue,
}

/// A parameter that a caller needs and its callee does not offer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Missing {
    /// It has been moved away.
    Consumed { parameter: u32 },
    /// It is there, and its type cannot be saved.
    Unsaveable {
        parameter: u32,
        key: &'static str,
        rust_type: &'static str,
    },
}

struct Link {
    key: &'static str,
    line: u32,
    /// The own parameter that the variable is, if it is one.
    parameter: Option<u32>,
    callee_parameter: u32,
}

impl Registrar {
    pub(super) fn new(builder: Option<SnapshotBuilder>) -> Registrar {
        Registrar {
            base: builder.as_ref().map_or(0, SnapshotBuilder::frame_count),
            builder,
            frames: Vec::new(),
            demanded: Vec::new(),
            demands: Vec::new(),
            offered: Vec::new(),
            unsaveable: Vec::new(),
            used_up: Vec::new(),
            needed: Vec::new(),
            required: Vec::new(),
            next: 0,
            speaker: None,
            is_clean: false,
            is_unread: false,
            lasts: false,
            stands_in: false,
        }
    }

    /// Lets the next frame speak.
    ///
    /// # Errors
    /// The first parameter that the frame's caller needs and the frame does not offer.
    pub(super) fn hear(
        &mut self,
        (plan, site): FunctionSite,
        activation: &Cell<u64>,
        frame: &dyn Fn(&mut Registrar),
    ) -> Result<(), Missing> {
        if let Some(builder) = &mut self.builder {
            builder.frame(plan, site);
            if activation.get() == 0 {
                // Of the process: no two activations have the same number, whatever sessions saw them.
                static LAST: Mutex<u64> = Mutex::new(0);
                let mut last = locked(&LAST);
                *last += 1;
                activation.set(*last);
            }
        }
        self.speaker = Some(((plan, site), activation.get()));
        let variables = site_plan((plan, site)).variables;
        self.frames.push(Said {
            variables,
            links: Vec::new(),
            values: Vec::new(),
            split: Vec::new(),
            moves: Vec::new(),
        });
        std::mem::swap(&mut self.demanded, &mut self.demands);
        self.demands.clear();
        self.offered.clear();
        self.unsaveable.clear();
        self.used_up.clear();
        self.needed.clear();
        self.required.clear();
        self.next = 0;
        frame(self);
        let missing = self
            .demanded
            .iter()
            .find(|demand| !self.offered.contains(&demand.parameter) && !self.can_do_without(demand));
        missing.map_or(Ok(()), |demand| Err(self.missing(demand.parameter)))
    }

    /// Whether the caller can pass something else to the frame at restart.
    fn can_do_without(&self, demand: &Demand) -> bool {
        if self.needed.contains(&demand.parameter) {
            return demand.made_again;
        }
        let is_used_up = self.used_up.contains(&demand.parameter);
        (demand.stands_in)() || is_used_up && demand.saver.is_some_and(|saver| (saver.stands_in)())
    }

    fn missing(&self, parameter: u32) -> Missing {
        match self.unsaveable.iter().find(|(index, ..)| *index == parameter) {
            Some((_, key, rust_type)) => Missing::Unsaveable {
                parameter,
                key,
                rust_type,
            },
            None => Missing::Consumed { parameter },
        }
    }

    /// Ends the gathering: every link is led to the frame that has the value, however many calls it was lent through.
    pub(super) fn finish(self) -> Option<SnapshotBuilder> {
        let mut builder = self.builder?;
        let mut below: Vec<(u32, (usize, &'static str))> = Vec::new();
        for (index, frame) in self.frames.into_iter().enumerate().rev() {
            let index = self.base + index;
            let mut here: Vec<_> = frame
                .values
                .into_iter()
                .map(|(parameter, key)| (parameter, (index, key)))
                .collect();
            for link in frame.links {
                let Some((_, target)) = below
                    .iter()
                    .find(|(parameter, _)| *parameter == link.callee_parameter)
                else {
                    continue;
                };
                builder.link(index, link.key, link.line, link.parameter, target.0, target.1);
                here.extend(link.parameter.map(|parameter| (parameter, *target)));
            }
            for variable in frame.split {
                let SplitVariable {
                    key,
                    line,
                    parameter,
                    value,
                } = variable;
                let column = value.fill(&mut |parameter| {
                    let found = below.iter().find(|(own, _)| *own == parameter);
                    found.map_or(Column::Empty, |(_, (frame, key))| builder.take(*frame, key))
                });
                builder.push(
                    index,
                    VariableRecord {
                        key: key.into(),
                        line,
                        rust_type: "",
                        parameter,
                        content: Content::Value(column),
                    },
                );
                here.extend(parameter.map(|parameter| (parameter, (index, key))));
            }
            for moved in frame.moves {
                // A caller is led on with it, once the member has said what it has.
                here.extend(moved.parameter.map(|parameter| (parameter, (index, moved.key))));
                builder.moves_to_member(MovedToMember {
                    frame: index,
                    ..moved
                });
            }
            below = here;
        }
        Some(builder)
    }

    /// The next variable is not written to between two visits of this site in the same call of its function, as the
    /// compiler has seen.
    pub fn mark_clean(&mut self) {
        self.is_clean = true;
    }

    /// Nor is it read between the two.
    pub fn mark_unread(&mut self) {
        self.is_clean = true;
        self.is_unread = true;
    }

    /// The next variable is not written to behind this site, nor moved, until the session ends.
    pub fn mark_lasting(&mut self) {
        self.is_clean = true;
        self.lasts = true;
    }

    /// The next variable stands in for what another one has: its value means nothing.
    pub fn mark_stand_in(&mut self) {
        self.stands_in = true;
    }

    /// Saves a variable.
    pub fn save<T: Refill + ?Sized>(&mut self, key: &'static str, value: &T) {
        self.record(key, None, value);
    }

    /// Saves a variable that a restart makes again with all of its parts.
    pub fn save_parts<T: Parts<How>, How>(&mut self, key: &'static str, value: &T) {
        self.record_parts(key, None, value);
    }

    /// The same of parameter `index`, which is offered to the caller.
    pub fn parameter_parts<T: Parts<How>, How>(&mut self, index: u32, key: &'static str, value: &T) {
        if self.offer(index, key) {
            self.record_parts(key, Some(index), value);
        }
    }

    fn record_parts<T: Parts<How>, How>(&mut self, key: &'static str, parameter: Option<u32>, value: &T) {
        let what = Recorded {
            rust_type: type_name::<T>(),
            region: Region::of(value),
            is_fixed: false,
        };
        self.record_as(key, parameter, &what, &|to| value.save_parts(to));
    }

    /// Saves a variable that `make` computes again from others.
    pub fn save_or_make<T: Refill>(&mut self, key: &'static str, value: &T, make: &dyn Fn() -> T) {
        if self
            .wanted()
            .is_some_and(|wanted| self.owner(key) == Some(wanted))
        {
            let made = make();
            if let Some(builder) = &mut self.builder {
                builder.is_made(&|to| made.save_part(to));
            }
        }
        self.record(key, None, value);
    }

    /// The variable that is to be made again, where nothing is saved.
    fn wanted(&self) -> Option<Owner> {
        self.builder.as_ref().and_then(SnapshotBuilder::wanted)
    }

    /// A variable of the frame that speaks.
    fn owner(&self, key: &'static str) -> Option<Owner> {
        self.speaker.map(|((_, site), activation)| Owner {
            activation,
            site,
            key,
            lasts: false,
        })
    }

    /// Saves what a variable held when the region began that has lent it to its members.
    pub fn save_entry(&mut self, key: &'static str) {
        self.put_entry(key, None);
    }

    /// As [`Registrar::save_entry`], for parameter `index` of the function, which is offered to its caller.
    pub fn entry_parameter(&mut self, index: u32, key: &'static str) {
        if !self.offer(index, key) {
            return;
        }
        self.put_entry(key, Some(index));
        if let Some(frame) = self.frames.last_mut() {
            frame.values.push((index, key));
        }
    }

    fn put_entry(&mut self, key: &'static str, parameter: Option<u32>) {
        let line = self.line(key);
        let index = self.base + self.frames.len().saturating_sub(1);
        let builder = self.builder.as_mut();
        let Some(builder) = builder.filter(|builder| builder.wanted().is_none()) else {
            return;
        };
        team::with_entry(key, |entry| match entry {
            Some((column, rust_type)) => builder.push(
                index,
                VariableRecord {
                    key: key.into(),
                    line,
                    rust_type,
                    parameter,
                    content: Content::Value(column.clone()),
                },
            ),
            None => builder.fails(
                key,
                "it holds files or shared values, and a region lends it to its threads",
            ),
        });
    }

    /// This frame's variable lives in the callee's parameter `parameter` for the time of the call.
    pub fn lent(&mut self, key: &'static str, parameter: u32, saver: Option<Saver>) {
        let demand = Demand {
            saver,
            objects: saver.and_then(|saver| saver.objects),
            ..Demand::of(parameter)
        };
        self.link(key, None, demand);
    }

    /// This frame's variable has moved into the callee's parameter `parameter`: where it is used up there, something
    /// else of its type is passed at restart.
    pub fn moved<T: Checkpoint>(&mut self, key: &'static str, parameter: u32, _: &Option<T>) {
        let demand = Demand {
            stands_in: can_stand_in::<T>,
            by_value: Some(ValueSaver::of::<T>()),
            ..Demand::of(parameter)
        };
        self.link(key, None, demand);
    }

    /// As [`Registrar::moved`], for a variable that a restart makes again: what it has made is something of its type.
    pub fn moved_and_made_again<T>(&mut self, key: &'static str, parameter: u32, _: &Option<T>) {
        let demand = Demand {
            stands_in: || true,
            made_again: true,
            ..Demand::of(parameter)
        };
        self.link(key, None, demand);
    }

    /// As [`Registrar::moved`], for a variable that is saved through serde.
    pub fn moved_through_serde<T: SavedBySerde>(&mut self, key: &'static str, parameter: u32, _: &Option<T>) {
        let demand = Demand {
            stands_in: can_stand_in::<FromSerde<T>>,
            ..Demand::of(parameter)
        };
        self.link(key, None, demand);
    }

    /// This frame's variable, its own parameter `own` if it is one, has moved into parameter `parameter` of a member of the region that
    /// it has opened. Where that has used it up, something else of its type is passed at restart.
    pub fn moved_to_member<T: Checkpoint>(
        &mut self,
        key: &'static str,
        own: Option<u32>,
        (member, parameter): (&'static str, u32),
        _: &Option<T>,
    ) {
        if own.is_some_and(|own| !self.offer(own, key)) {
            return;
        }
        let line = self.line(key);
        if let Some(frame) = self.frames.last_mut() {
            frame.moves.push(MovedToMember {
                frame: 0,
                key,
                line,
                parameter: own,
                member,
                of_member: parameter,
                stands_in: can_stand_in::<T>,
            });
        }
    }

    /// This frame was passed parameter `parameter` by value, and nothing is left of it.
    pub fn used_up(&mut self, parameter: u32) {
        self.used_up.push(parameter);
    }

    /// This frame goes on with what its caller has passed it as parameter `parameter`, of which nothing is left that could be saved.
    pub fn needs_as_passed(&mut self, parameter: u32) {
        self.needed.push(parameter);
    }

    /// Parameter `index`, which the caller passes again, has moved on into the callee's parameter `callee_parameter`.
    pub fn hands_on(&mut self, index: u32, key: &'static str, callee_parameter: u32) {
        let of_caller = self.demanded.iter().find(|demand| demand.parameter == index);
        let Some(of_caller) = of_caller.copied() else {
            return;
        };
        let demand = Demand {
            parameter: callee_parameter,
            ..of_caller
        };
        self.passes_on(index, key, demand);
    }

    /// What has moved into parameter `parameter` of the member that speaks next is needed to start it again, unless it has used it up.
    pub(super) fn moved_in(&mut self, parameter: u32) {
        self.demands.push(Demand {
            stands_in: || true,
            ..Demand::of(parameter)
        });
    }

    /// This frame needs the callee's by-value parameter `parameter` to make the call again.
    pub fn wants(&mut self, parameter: u32) {
        self.demands.push(Demand::of(parameter));
    }

    /// The walk of this very frame restores its parameter `key`, whether or not the caller needs it. Said before the
    /// parameter is offered.
    pub fn required(&mut self, key: &'static str) {
        self.required.push(key);
    }

    /// Offers parameter `index` to the caller.
    pub fn parameter<T: Refill + ?Sized>(&mut self, index: u32, key: &'static str, value: &T) {
        if self.offer(index, key) {
            self.record(key, Some(index), value);
        }
    }

    /// Offers parameter `index` to the caller; it is itself lent on, to the callee's parameter `callee_parameter`.
    pub fn lent_parameter(
        &mut self,
        index: u32,
        key: &'static str,
        callee_parameter: u32,
        saver: Option<Saver>,
    ) {
        if self.offer(index, key) {
            let demand = self.passed_on(index, callee_parameter);
            let objects = demand.objects.or(saver.and_then(|saver| saver.objects));
            let saver = saver.or(demand.saver);
            let demand = Demand {
                saver,
                objects,
                ..demand
            };
            self.link(key, Some(index), demand);
        }
    }

    /// What the caller demands of parameter `index`, demanded of the callee's parameter that it is lent on to.
    fn passed_on(&self, index: u32, callee_parameter: u32) -> Demand {
        let of_caller = self.demanded.iter().find(|demand| demand.parameter == index);
        Demand {
            as_row: self.demanded_as_row(index),
            saver: of_caller.and_then(|demand| demand.saver),
            by_value: of_caller.and_then(|demand| demand.by_value),
            objects: of_caller.and_then(|demand| demand.objects),
            ..Demand::of(callee_parameter)
        }
    }

    /// Offers parameter `index` to the caller; it has itself moved on into the callee's parameter `callee_parameter`.
    pub fn moved_parameter<T: Checkpoint>(
        &mut self,
        index: u32,
        key: &'static str,
        callee_parameter: u32,
        _: &Option<T>,
    ) {
        let demand = Demand {
            stands_in: can_stand_in::<T>,
            by_value: Some(ValueSaver::of::<T>()),
            ..self.passed_on(index, callee_parameter)
        };
        self.passes_on(index, key, demand);
    }

    /// As [`Registrar::moved_parameter`], for a parameter of which a restart passes what it makes again.
    pub fn moved_parameter_and_made_again<T>(
        &mut self,
        index: u32,
        key: &'static str,
        callee_parameter: u32,
        _: &Option<T>,
    ) {
        let demand = Demand {
            stands_in: || true,
            made_again: true,
            ..self.passed_on(index, callee_parameter)
        };
        self.passes_on(index, key, demand);
    }

    /// As [`Registrar::moved_parameter`], for a parameter that is saved through serde.
    pub fn moved_parameter_through_serde<T: SavedBySerde>(
        &mut self,
        index: u32,
        key: &'static str,
        callee_parameter: u32,
        _: &Option<T>,
    ) {
        let demand = Demand {
            stands_in: can_stand_in::<FromSerde<T>>,
            ..self.passed_on(index, callee_parameter)
        };
        self.passes_on(index, key, demand);
    }

    fn passes_on(&mut self, index: u32, key: &'static str, demand: Demand) {
        if self.offer(index, key) {
            self.link(key, Some(index), demand);
        }
    }

    pub(super) fn offer(&mut self, index: u32, key: &'static str) -> bool {
        self.offered.push(index);
        self.demanded.iter().any(|demand| demand.parameter == index) || self.required.contains(&key)
    }

    /// Whether the caller puts the parameter among other rows.
    pub(super) fn demanded_as_row(&self, index: u32) -> bool {
        self.demanded
            .iter()
            .any(|demand| demand.parameter == index && demand.as_row)
    }

    pub(super) fn record_split(
        &mut self,
        key: &'static str,
        parameter: Option<u32>,
        as_row: bool,
        how: HowToSplit<'_>,
    ) {
        let builder = self.builder.as_mut();
        let value = how(&mut Splitter {
            builder: builder.filter(|builder| builder.wanted().is_none()),
            demands: &mut self.demands,
            as_row,
            objects: None,
        });
        let line = self.line(key);
        if let Some(frame) = self.frames.last_mut() {
            frame.split.push(SplitVariable {
                key,
                line,
                parameter,
                value,
            });
        }
    }

    fn record<T: Refill + ?Sized>(&mut self, key: &'static str, parameter: Option<u32>, value: &T) {
        let what = Recorded {
            rust_type: type_name::<T>(),
            region: Region::of(value),
            is_fixed: T::FIXED,
        };
        self.record_as(key, parameter, &what, &|to| value.save_part(to));
    }

    /// It is not generic: it would be compiled again for every type of every program.
    fn record_as(
        &mut self,
        key: &'static str,
        parameter: Option<u32>,
        what: &Recorded,
        save: &dyn Fn(&mut Encoder<'_>),
    ) {
        let marked = (
            std::mem::take(&mut self.is_clean),
            std::mem::take(&mut self.is_unread),
        );
        let lasts = std::mem::take(&mut self.lasts);
        let stands_in = std::mem::take(&mut self.stands_in);
        if self.builder.is_none() || self.wanted().is_some() {
            return;
        }
        let line = self.line(key);
        let index = self.base + self.frames.len().saturating_sub(1);
        let as_row = parameter.is_some_and(|parameter| self.demanded_as_row(parameter));
        let objects = { self.demanded.iter() }
            .find(|demand| Some(demand.parameter) == parameter)
            .and_then(|demand| demand.objects)
            .map(DynTable::whole);
        let number = objects.and_then(|table| Some((table, table.number_of(what.rust_type)?)));
        let save_named = |to: &mut Encoder<'_>| match number {
            Some((table, number)) => save(&mut to.dynamic(table.names, table.children, number)),
            None => save(to),
        };
        let owner = self.owner(key).filter(|_| marked.0 && what.is_fixed);
        let owner = owner.map(|owner| Owner { lasts, ..owner });
        if let (Some(builder), Some(frame)) = (&mut self.builder, self.frames.last_mut()) {
            builder.mark_clean(owner);
            if marked.1 && owner.is_some() {
                builder.mark_unread();
            }
            builder.stands_in(what.region);
            builder.marks_stand_in(stands_in);
            builder.value_as(
                index,
                key.into(),
                line,
                parameter,
                as_row,
                what.rust_type,
                &save_named,
            );
            builder.marks_stand_in(false);
            if let Some(table) = objects.filter(|_| !builder.last_is_object(index)) {
                builder.fails(key, &table.lacks(what.rust_type));
            }
            builder.stands_in(Region::default());
            builder.mark_clean(None);
            if let (Some((place, _)), Some(owner)) = (self.speaker, owner)
                && clean::is_checked()
                && !clean::is_as_last(owner, save)
            {
                clean::was_written(place, key).exit();
            }
            frame.values.extend(parameter.map(|parameter| (parameter, key)));
        }
    }

    fn link(&mut self, key: &'static str, parameter: Option<u32>, demand: Demand) {
        let callee_parameter = demand.parameter;
        self.demands.push(demand);
        let line = self.line(key);
        if let Some(frame) = self.frames.last_mut() {
            frame.links.push(Link {
                key,
                line,
                parameter,
                callee_parameter,
            });
        }
    }

    /// The line of a variable's declaration. Variables are named in the plan's order, so a search is the exception.
    fn line(&mut self, key: &str) -> u32 {
        let Some(frame) = self.frames.last() else { return 0 };
        let expected = frame
            .variables
            .get(self.next)
            .filter(|variable| variable.key == key);
        self.next += 1;
        match expected.or_else(|| frame.variables.iter().find(|variable| variable.key == key)) {
            Some(variable) => variable.line,
            None => 0,
        }
    }
}

impl fmt::Debug for Registrar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registrar")
            .field("saves", &self.builder.is_some())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
pub(super) mod tests;
