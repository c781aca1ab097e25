//! Numbers and lengths that flow through the program: out of arguments, fields and results, and out of what loops put
//! into lists.
//!
//! Everything is worked out when it is asked for, and once. What would have to be known to know itself is left out of what
//! it depends on.

use super::UNKNOWN_TRIPS;
use crate::calls::{CallGraph, CallId, Change, LoopId, Occasion, WhatChanges};
use crate::items::FnId;
use crate::items::amount::{Amount, Hop, Leaf, Root, Shape, Told};
use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};

/// What depends on more than this one after the other is not known.
const DEEPEST: usize = 300;

/// No list is taken for longer.
const LONGEST: f64 = 1e12;

/// Where something is asked for: a function, and the call that it was entered by if that is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Context {
    function: FnId,
    call: Option<usize>,
}

/// What has been worked out of a program.
#[derive(Debug)]
pub(super) struct Lengths<'a> {
    graph: &'a CallGraph,
    main: FnId,
    /// The calls that lead to each function, with the index of the callee.
    callers: Vec<Vec<(CallId, usize)>>,
    changes: HashMap<&'a Root, Vec<&'a Change>>,
    known: RefCell<HashMap<(Context, Leaf), Told>>,
    under_way: RefCell<HashSet<(Context, Leaf)>>,
    entries: RefCell<HashMap<FnId, Option<f64>>>,
    depth: Cell<usize>,
}

/// What is put into a list in one call of a function.
#[derive(Debug, Clone, Copy, Default)]
struct Flow {
    /// Elements that are added.
    added: f64,
    /// How often it is made anew, or emptied.
    renewed: f64,
    /// Whether that is more than certain numbers.
    guessed: bool,
    /// Whether something is added at all.
    grows: bool,
    /// Whether elements are taken away.
    shrinks: bool,
}

impl<'a> Lengths<'a> {
    pub(super) fn new(graph: &'a CallGraph, main: FnId) -> Self {
        let mut callers = vec![Vec::new(); graph.bodies.len()];
        for call in &graph.calls {
            for (index, callee) in call.callees.iter().enumerate() {
                callers[callee.0].push((call.id, index));
            }
        }
        let mut changes: HashMap<&Root, Vec<&Change>> = HashMap::new();
        for change in &graph.changes {
            changes.entry(&change.root).or_default().push(change);
        }
        Self {
            graph,
            main,
            callers,
            changes,
            known: RefCell::default(),
            under_way: RefCell::default(),
            entries: RefCell::default(),
            depth: Cell::new(0),
        }
    }

    /// An amount in a function, however that was entered.
    pub(super) fn of(&self, function: FnId, amount: &Amount) -> Option<(f64, bool)> {
        match self.amount(Context { function, call: None }, amount) {
            Told::Number(number, certain) => Some((number, certain)),
            Told::Unknown | Told::Cut => None,
        }
    }

    fn amount(&self, at: Context, amount: &Amount) -> Told {
        amount.value(UNKNOWN_TRIPS, &mut |leaf| self.leaf(at, leaf))
    }

    fn leaf(&self, at: Context, leaf: &Leaf) -> Told {
        // A field is the same everywhere.
        let at = match leaf.root {
            Root::Field(..) => Context {
                function: self.main,
                call: None,
            },
            _ => at,
        };
        let key = (at, leaf.clone());
        if let Some(known) = self.known.borrow().get(&key) {
            return *known;
        }
        if self.depth.get() > DEEPEST {
            return Told::Unknown;
        }
        if !self.under_way.borrow_mut().insert(key.clone()) {
            return Told::Cut;
        }
        self.depth.set(self.depth.get() + 1);
        let found = match &leaf.root {
            Root::Parameter(index) => self.parameter(at, *index, leaf),
            Root::Result(call) => self.result(at, *call, leaf),
            Root::Field(..) | Root::Changed(_) => self.changed(at, leaf),
        };
        self.depth.set(self.depth.get() - 1);
        self.under_way.borrow_mut().remove(&key);
        if found != Told::Cut {
            self.known.borrow_mut().insert(key, found);
        }
        found
    }

    /// What a shape says at the end of a way.
    fn of_shape(&self, at: Context, shape: &Shape, way: &[Hop], is_length: bool) -> Told {
        let found = shape.along(way);
        match is_length {
            true => self.amount(at, &found.length),
            false => self.amount(at, &found.number),
        }
    }

    fn parameter(&self, at: Context, index: usize, leaf: &Leaf) -> Told {
        let of_call = |call: CallId| {
            let call = self.graph.call(call);
            let caller = Context {
                function: call.caller,
                call: None,
            };
            match call.arguments.get(index) {
                Some(given) => self.of_shape(caller, given, &leaf.way, leaf.is_length),
                None => Told::Unknown,
            }
        };
        if let Some(call) = at.call {
            return of_call(CallId(call));
        }
        let callers = &self.callers[at.function.0];
        joined(callers.iter().map(|(call, _)| of_call(*call)))
    }

    fn result(&self, at: Context, call: usize, leaf: &Leaf) -> Told {
        let call = self.graph.call(CallId(call));
        // Told in a function that was itself entered by a call that is told, it is told by any call of it.
        let within = |function| Context {
            function,
            call: Some(call.id.0),
        };
        if at.function != call.caller {
            return Told::Unknown;
        }
        joined(call.callees.iter().flat_map(|callee| {
            let results = &self.graph.results[callee.0];
            let told = results.told.iter();
            let others = (results.others && !results.told.is_empty()).then_some(Told::Number(0.0, false));
            told.map(move |shape| self.of_shape(within(*callee), shape, &leaf.way, leaf.is_length))
                .chain(others)
        }))
    }

    /// What the changes of a field or a variable make of it.
    fn changed(&self, at: Context, leaf: &Leaf) -> Told {
        let Some(changes) = self.changes.get(&leaf.root) else {
            return Told::Unknown;
        };
        let begins = self.set(at, changes, leaf);
        if !leaf.is_length {
            return begins;
        }
        let flow = self.flow(at, &leaf.root, &leaf.way, true);
        if !flow.grows {
            return match begins {
                // Something that is not seen fills it.
                Told::Number(number, false) if number <= 0.0 => Told::Unknown,
                other => other,
            };
        }
        if flow.shrinks {
            return match begins {
                Told::Number(number, _) if number > 0.0 => Told::Number(number, false),
                _ => Told::Unknown,
            };
        }
        let mut share = self.flow(at, &leaf.root, &[], true).renewed.max(1.0);
        for (index, hop) in leaf.way.iter().enumerate() {
            if *hop == Hop::Element {
                let outer = Leaf {
                    root: leaf.root.clone(),
                    way: leaf.way[..index].to_vec(),
                    is_length: true,
                };
                share *= match self.leaf(at, &outer) {
                    Told::Number(number, _) => number.max(1.0),
                    Told::Unknown | Told::Cut => UNKNOWN_TRIPS,
                };
            }
        }
        let (first, certain) = match begins {
            Told::Number(number, certain) => (number.max(0.0), certain || number == 0.0),
            Told::Unknown | Told::Cut => (0.0, false),
        };
        let length = (first + flow.added / share).min(LONGEST);
        Told::Number(length, certain && !flow.guessed)
    }

    /// What values, set or put in, say of it.
    fn set(&self, at: Context, changes: &[&Change], leaf: &Leaf) -> Told {
        let said = changes.iter().filter_map(|change| {
            let at = self.context(at, change.at);
            let rest = leaf.way.strip_prefix(&change.way[..])?;
            match &change.what {
                // What has nothing in it says nothing of what will be.
                WhatChanges::Set(shape) if shape.is_empty_before(rest) => None,
                WhatChanges::Set(shape) => Some(self.of_shape(at, shape, rest, leaf.is_length)),
                WhatChanges::Adds(_, element) => {
                    let rest = rest.strip_prefix(&[Hop::Element])?;
                    Some(self.of_shape(at, element, rest, leaf.is_length))
                }
                _ => None,
            }
        });
        joined(said)
    }

    /// A change of a variable is seen in the call that asks; one of a field in any.
    fn context(&self, at: Context, change: Occasion) -> Context {
        match at.function == change.function {
            true => at,
            false => Context {
                function: change.function,
                call: None,
            },
        }
    }

    /// What is put into a place, in one call of the function whose variable it is, or in the whole run into a field.
    fn flow(&self, at: Context, root: &Root, way: &[Hop], whole: bool) -> Flow {
        let mut flow = Flow::default();
        let Some(changes) = self.changes.get(root) else {
            return flow;
        };
        if self.depth.get() > DEEPEST {
            return flow;
        }
        self.depth.set(self.depth.get() + 1);
        for change in changes.iter().filter(|one| one.way == way) {
            let at = self.context(at, change.at);
            let (mut times, certain) = match self.times(at, change.at) {
                Some(times) => times,
                None => continue,
            };
            if let Root::Field(..) = root {
                times *= self.entries(change.at.function);
            }
            match &change.what {
                WhatChanges::Set(shape) => {
                    // A parameter begins with what the caller has there.
                    let of_caller = matches!(shape.place, Some((Root::Parameter(_), _)));
                    if whole || !of_caller {
                        flow.renewed += times;
                    }
                }
                WhatChanges::Empties => flow.renewed += times,
                WhatChanges::Takes => flow.shrinks = true,
                WhatChanges::Adds(amount, _) => {
                    let (each, sure) = match self.amount(at, amount) {
                        Told::Number(number, sure) => (number.max(0.0), sure),
                        Told::Unknown => (UNKNOWN_TRIPS, false),
                        Told::Cut => (0.0, false),
                    };
                    flow.grows = true;
                    flow.added += times * each;
                    flow.guessed |= !(certain && sure);
                }
                WhatChanges::Lent(call, index) => {
                    let lent = self.lent(*call, *index);
                    flow.grows |= lent.grows;
                    flow.shrinks |= lent.shrinks;
                    flow.added += times * lent.added;
                    flow.renewed += times * lent.renewed;
                    flow.guessed |= lent.grows && (lent.guessed || !certain);
                }
            }
        }
        self.depth.set(self.depth.get() - 1);
        flow
    }

    /// What a call puts into one of its arguments.
    fn lent(&self, call: usize, index: usize) -> Flow {
        let call = self.graph.call(CallId(call));
        let mut most = Flow::default();
        for callee in &call.callees {
            let is_it = |one: &(usize, &crate::calls::Changed)| {
                one.1.function == *callee && one.1.parameter == Some(index)
            };
            let mut variables = self.graph.changed.iter().enumerate();
            let Some((number, _)) = variables.find(is_it) else {
                continue;
            };
            let at = Context {
                function: *callee,
                call: Some(call.id.0),
            };
            let guard = (
                at,
                Leaf {
                    root: Root::Changed(number),
                    way: Vec::new(),
                    is_length: false,
                },
            );
            if !self.under_way.borrow_mut().insert(guard.clone()) {
                most.guessed = true;
                continue;
            }
            let flow = self.flow(at, &Root::Changed(number), &[], false);
            self.under_way.borrow_mut().remove(&guard);
            if flow.added >= most.added {
                most = flow;
            }
        }
        most
    }

    /// How often something happens in one call of its function, and whether that is certain; nothing if that depends on
    /// itself.
    fn times(&self, at: Context, occasion: Occasion) -> Option<(f64, bool)> {
        let (mut times, mut certain) = (occasion.weight, occasion.weight == 1.0);
        for id in self.graph.nest(occasion.within) {
            let (trips, known) = self.trips_at(at, id)?;
            let weight = self.graph.one_loop(id).weight;
            times *= trips * weight;
            certain &= known && weight == 1.0;
        }
        Some((times, certain))
    }

    fn trips_at(&self, at: Context, id: LoopId) -> Option<(f64, bool)> {
        match self.amount(at, &self.graph.one_loop(id).trips) {
            Told::Cut => None,
            Told::Number(number, known) if known || number > 0.0 => Some((number.max(0.0), known)),
            Told::Number(..) | Told::Unknown => Some((UNKNOWN_TRIPS, false)),
        }
    }

    /// How often a function is called in the whole run; within a recursion, from outside of it.
    fn entries(&self, function: FnId) -> f64 {
        if function == self.main {
            return 1.0;
        }
        if let Some(known) = self.entries.borrow().get(&function) {
            return known.unwrap_or(0.0);
        }
        if self.depth.get() > DEEPEST {
            return 1.0;
        }
        self.depth.set(self.depth.get() + 1);
        self.entries.borrow_mut().insert(function, None);
        let mut entries = 0.0;
        for (call, index) in &self.callers[function.0] {
            let call = self.graph.call(*call);
            let at = Context {
                function: call.caller,
                call: None,
            };
            let occasion = Occasion {
                function: call.caller,
                within: call.within,
                weight: call.times(*index),
            };
            if let Some((times, _)) = self.times(at, occasion) {
                entries += times * self.entries(call.caller);
            }
        }
        self.depth.set(self.depth.get() - 1);
        self.entries
            .borrow_mut()
            .insert(function, Some(entries.min(LONGEST)));
        entries.min(LONGEST)
    }
}

/// Several values for the same thing: the largest, as a guess where they differ. One that is not known counts as
/// [`UNKNOWN_TRIPS`], and one that depends on what is asked for does not count: it makes the others guesses.
fn joined(values: impl Iterator<Item = Told>) -> Told {
    let (mut all, mut cut) = (None, false);
    for value in values {
        all = Some(match (all, value) {
            (all, Told::Cut) => {
                cut = true;
                match all {
                    Some(all) => all,
                    None => continue,
                }
            }
            (None, value) => value,
            // A warm-up call says nothing about the calls whose number the source does not tell.
            (Some(Told::Number(one, _)), Told::Unknown) | (Some(Told::Unknown), Told::Number(one, _)) => {
                Told::Number(one.max(UNKNOWN_TRIPS), false)
            }
            (Some(Told::Number(old, first)), Told::Number(new, second)) => match old == new {
                true => Told::Number(old, first && second),
                false => Told::Number(old.max(new), false),
            },
            (Some(known), _) => known,
        });
    }
    match (all, cut) {
        (Some(Told::Number(number, certain)), cut) => Told::Number(number, certain && !cut),
        (Some(all), _) => all,
        (None, true) => Told::Cut,
        (None, false) => Told::Unknown,
    }
}
