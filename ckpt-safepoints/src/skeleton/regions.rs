//! What a region of a skeleton may do: write to variables, exchange messages, leave early.
//!
//! A region without messages and sites need not be followed: what it may write to is given up, and the rank goes on
//! behind it.

use super::Determinacy;
use super::{Access, CallOp, ControlOp, MemoryOp, Op, Skeleton, ValueOp, Var};
use crate::values::Value;
use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::Range;
use std::rc::Rc;

/// Names of fields that lead to a part of a parameter which may be written to; deeper, all of it.
const DEEPEST_PATH: usize = 6;

/// How sure it is that something is written to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum WriteKind {
    /// It may be.
    Itself,
    /// Only if the variable, or what leads to the part, holds a reference.
    Through,
    /// Only if it is a reference itself.
    Held,
}

/// A variable, the fields that lead to a part of it, and how that may be written to.
pub(crate) type WriteTarget = (Var, Vec<Rc<str>>, WriteKind);

/// What one region may do.
#[derive(Debug, Default)]
pub(crate) struct RegionEffects {
    /// What it may write to.
    pub(crate) writes: Vec<WriteTarget>,
    /// The variables that it looks at.
    pub(crate) reads: Vec<Var>,
    /// Those of them that it looks at by key alone, if they hold a hashed collection.
    pub(crate) by_key: Vec<Var>,
    /// Whether what comes of it depends on nothing but those.
    pub(crate) determinacy: Determinacy,
    /// Whether it exchanges messages or has a site.
    pub(crate) events: bool,
    /// Whether it writes to variables that were there before it.
    pub(crate) writes_outside: bool,
    /// Whether it may leave the function.
    pub(crate) returns: bool,
    /// Whether it may go on outside of itself, in a loop around it.
    pub(crate) leaves: bool,
}

/// What the parts of a skeleton may do, for a choice of sites.
#[derive(Debug)]
pub(crate) struct Regions<'a> {
    skeleton: &'a Skeleton,
    sites: HashSet<usize>,
    /// For each code whether it exchanges messages or has a site, itself or in what it calls.
    events: Vec<bool>,
    /// For each code whether it has a site, itself or in what it calls.
    has_site: Vec<bool>,
    /// Whether a closure, or a function that is used as a value, exchanges messages or has a site.
    hidden: bool,
    hidden_site: bool,
    /// Whether an iterator of the program exchanges messages.
    next_has_events: bool,
    /// For each code and parameter the fields that it may write to; an empty path is all of it.
    written: Vec<Vec<BTreeSet<Vec<Rc<str>>>>>,
    /// Whether what comes of a code depends on its parameters alone.
    determinacy: Vec<Determinacy>,
    /// The closures of each function.
    closures: HashMap<usize, Vec<usize>>,
    known: RefCell<HashMap<(usize, usize, usize), Rc<RegionEffects>>>,
    ahead: RefCell<HashMap<(usize, usize), bool>>,
    /// Calls and loops without messages that took too many steps, by code and step.
    long: RefCell<HashSet<(usize, Option<usize>)>>,
}

impl<'a> Regions<'a> {
    /// For these boundaries as sites.
    pub(crate) fn new(skeleton: &'a Skeleton, sites: &[usize]) -> Self {
        let mut closures: HashMap<usize, Vec<usize>> = HashMap::new();
        for (index, code) in skeleton.codes.iter().enumerate() {
            if let Some(parent) = code.parent {
                closures.entry(parent).or_default().push(index);
            }
        }
        let count = skeleton.codes.len();
        let mut regions = Self {
            skeleton,
            sites: sites.iter().copied().collect(),
            events: vec![false; count],
            has_site: vec![false; count],
            hidden: false,
            hidden_site: false,
            next_has_events: false,
            written: skeleton
                .codes
                .iter()
                .map(|code| vec![BTreeSet::new(); code.parameters.len()])
                .collect(),
            determinacy: vec![Determinacy::Always; count],
            closures,
            known: RefCell::default(),
            ahead: RefCell::default(),
            long: RefCell::default(),
        };
        regions.settle();
        regions
    }

    /// Whether the boundary is a site.
    pub(crate) fn is_site(&self, boundary: usize) -> bool {
        self.sites.contains(&boundary)
    }

    /// A region has taken too many steps: it is given up at once from now on.
    pub(crate) fn note_long(&self, code: usize, enter: Option<usize>) {
        self.long.borrow_mut().insert((code, enter));
    }

    /// Whether it has.
    pub(crate) fn is_long(&self, code: usize, enter: Option<usize>) -> bool {
        self.long.borrow().contains(&(code, enter))
    }

    /// Whether a code exchanges messages or has a site.
    pub(crate) fn has_events(&self, code: usize) -> bool {
        self.events[code]
    }

    /// Whether a code has a site, itself or in what it calls.
    pub(crate) fn leads_to_a_site(&self, code: usize) -> bool {
        self.has_site[code]
    }

    /// What a code may write to of what a parameter refers to.
    pub(crate) fn writes_to(&self, code: usize, parameter: usize) -> impl Iterator<Item = &Vec<Rc<str>>> {
        self.written[code].get(parameter).into_iter().flatten()
    }

    /// Whether a code's result depends on nothing but what it is given.
    pub(crate) fn is_determined(&self, code: usize) -> Determinacy {
        self.determinacy[code]
    }

    fn settle(&mut self) {
        loop {
            let mut changed = false;
            for index in 0..self.skeleton.codes.len() {
                changed |= self.settle_one(index);
            }
            let hidden: Vec<usize> = self.hidden_codes().collect();
            let (events, site) = (
                hidden.iter().any(|code| self.events[*code]),
                hidden.iter().any(|code| self.has_site[*code]),
            );
            let next = self.method_has_events("next");
            changed |= (events, site, next) != (self.hidden, self.hidden_site, self.next_has_events);
            (self.hidden, self.hidden_site, self.next_has_events) = (events, site, next);
            if !changed {
                return;
            }
        }
    }

    /// Closures, and functions that are used as values: what calls them is not known by a name.
    fn hidden_codes(&self) -> impl Iterator<Item = usize> + '_ {
        let codes = self.skeleton.codes.iter();
        let closures = codes
            .clone()
            .enumerate()
            .filter(|(_, code)| code.parent.is_some());
        let taken = codes.flat_map(|code| &code.ops).filter_map(|op| match op {
            Op::Value(ValueOp::Push(Value::Function(code))) => Some(*code),
            _ => None,
        });
        closures.map(|(index, _)| index).chain(taken)
    }

    /// Whether a method of the program with this name exchanges messages: one that is called without being named.
    pub(crate) fn method_has_events(&self, name: &str) -> bool {
        let codes = self.skeleton.codes.iter().zip(&self.events);
        codes
            .filter(|(code, _)| code.parent.is_none())
            .any(|(code, events)| *events && code.name.rsplit("::").next() == Some(name))
    }

    /// Whether something exchanges messages that is called by a value of which nothing is known.
    pub(crate) fn has_hidden_events(&self) -> bool {
        self.hidden
    }

    fn settle_one(&mut self, index: usize) -> bool {
        let code = &self.skeleton.codes[index];
        let all = 0..code.ops.len();
        let events = self.range_has_events(index, all.clone());
        let has_site = self.range_has_site(index, all.clone());
        let settled = self.range_determinacy(index, all.clone());
        let mut changed = (events, has_site, settled)
            != (self.events[index], self.has_site[index], self.determinacy[index]);
        (self.events[index], self.has_site[index], self.determinacy[index]) = (events, has_site, settled);
        let parameters: Vec<Vec<usize>> = code
            .parameters
            .iter()
            .map(|pattern| {
                let mut slots = Vec::new();
                pattern.slots(&mut slots);
                slots
            })
            .collect();
        for (var, path, _) in self.range_writes(index, all) {
            if var.up > 0 {
                continue;
            }
            if let Some(at) = parameters.iter().position(|slots| slots.contains(&var.slot)) {
                // A parameter that is a pattern: all of it.
                let mut path = if parameters[at].len() == 1 {
                    path
                } else {
                    Vec::new()
                };
                // A recursion may lead deeper and deeper.
                path.truncate(DEEPEST_PATH);
                changed |= code.is_lent(at) && self.written[index][at].insert(path);
            }
        }
        changed
    }

    /// What a region may do; remembered.
    pub(crate) fn region(&self, code: usize, range: Range<usize>) -> Rc<RegionEffects> {
        let key = (code, range.start, range.end);
        if let Some(known) = self.known.borrow().get(&key) {
            return Rc::clone(known);
        }
        let all = &self.skeleton.codes[code].ops;
        let ops = &all[range.clone()];
        // A `break` leads behind the end of its loop, and so to where the loop goes on to by itself.
        let last = match ops.first() {
            Some(Op::Control(ControlOp::Enter(exit))) if *exit == range.end => range.end + 1,
            _ => range.end,
        };
        let mut region = RegionEffects {
            writes: self.range_writes(code, range.clone()),
            reads: self.range_reads(code, range.clone()),
            by_key: self.range_by_key(code, range.clone()),
            determinacy: self.range_determinacy(code, range.clone()),
            events: self.range_has_events(code, range.clone()),
            ..RegionEffects::default()
        };
        let mut own = HashSet::new();
        for op in ops {
            match op {
                Op::Memory(MemoryOp::Declare(slot)) => {
                    own.insert(*slot);
                }
                Op::Memory(MemoryOp::Bind(_, pattern)) => {
                    let mut slots = Vec::new();
                    pattern.slots(&mut slots);
                    own.extend(slots);
                }
                _ => {}
            }
        }
        let outside = |(var, _, how): &WriteTarget| {
            *how == WriteKind::Itself && (var.up > 0 || !own.contains(&var.slot))
        };
        region.writes_outside = region.writes.iter().any(outside);
        for (at, op) in ops.iter().enumerate() {
            match op {
                Op::Control(ControlOp::Return) => {
                    region.returns |= !(self.events[code] && super::is_error(ops, at))
                }
                Op::Control(ControlOp::Break(_, to)) | Op::Control(ControlOp::Continue(_, to))
                    if !(range.start..=last).contains(to) =>
                {
                    region.leaves = true
                }
                _ => {}
            }
        }
        let region = Rc::new(region);
        self.known.borrow_mut().insert(key, Rc::clone(&region));
        region
    }

    fn closures_of(&self, code: usize) -> impl Iterator<Item = usize> + '_ {
        self.closures.get(&code).into_iter().flatten().copied()
    }

    fn range_has_events(&self, code: usize, range: Range<usize>) -> bool {
        self.skeleton.codes[code].ops[range].iter().any(|op| match op {
            Op::Call(CallOp::Method(one)) => {
                let told = one.told.iter().any(|one| self.events[one.code]);
                one.message.is_some()
                    || told
                    || one
                        .own
                        .iter()
                        .chain(&one.perhaps)
                        .any(|(callee, _)| self.events[*callee])
            }
            Op::Call(CallOp::Outside(one)) => one.message.is_some(),
            Op::Call(CallOp::Told(_)) => true,
            Op::Control(ControlOp::Opaque(_)) => true,
            Op::Control(ControlOp::Boundary(at)) => self.is_site(*at),
            Op::Call(CallOp::Function(callee, _)) => self.events[*callee],
            Op::Value(ValueOp::Closure(callee)) => self.events[*callee],
            Op::Call(CallOp::Any(callees)) => callees.iter().any(|callee| self.events[*callee]),
            Op::Call(CallOp::Value(_)) => self.hidden,
            Op::Control(ControlOp::Next(..)) => self.next_has_events,
            Op::Value(ValueOp::Push(Value::Function(callee))) => self.events[*callee],
            _ => false,
        })
    }

    fn range_has_site(&self, code: usize, range: Range<usize>) -> bool {
        self.skeleton.codes[code].ops[range]
            .iter()
            .any(|op| self.leads_to_site(op))
    }

    fn leads_to_site(&self, op: &Op) -> bool {
        match op {
            Op::Control(ControlOp::Boundary(at)) => self.is_site(*at),
            Op::Call(CallOp::Method(one)) => {
                let mut callees = one.own.iter().chain(&one.perhaps);
                callees.any(|(callee, _)| self.has_site[*callee])
            }
            Op::Call(CallOp::Function(callee, _)) | Op::Value(ValueOp::Closure(callee)) => {
                self.has_site[*callee]
            }
            Op::Call(CallOp::Any(callees)) => callees.iter().any(|callee| self.has_site[*callee]),
            Op::Call(CallOp::Value(_)) => self.hidden_site,
            _ => false,
        }
    }

    /// Whether a site may be come to from a step on, in the same call.
    pub(crate) fn site_ahead(&self, code: usize, from: usize) -> bool {
        if let Some(known) = self.ahead.borrow().get(&(code, from)) {
            return *known;
        }
        let ahead = self.walk_ahead(code, from);
        self.ahead.borrow_mut().insert((code, from), ahead);
        ahead
    }

    fn walk_ahead(&self, code: usize, from: usize) -> bool {
        let ops = &self.skeleton.codes[code].ops;
        let mut seen = vec![false; ops.len()];
        let mut open = vec![from];
        while let Some(pc) = open.pop() {
            if pc >= ops.len() || std::mem::replace(&mut seen[pc], true) {
                continue;
            }
            if self.leads_to_site(&ops[pc]) {
                return true;
            }
            match &ops[pc] {
                Op::Control(ControlOp::Jump(to))
                | Op::Control(ControlOp::Break(_, to))
                | Op::Control(ControlOp::Continue(_, to)) => open.push(*to),
                Op::Control(ControlOp::Branch(to, _)) | Op::Control(ControlOp::Next(_, to)) => {
                    open.extend([pc + 1, *to])
                }
                Op::Control(ControlOp::Return) | Op::Control(ControlOp::End) => {}
                _ => open.push(pc + 1),
            }
        }
        false
    }

    /// Whether a rank that goes on from a step never comes to another one, nor to a site or a message, in the same call.
    pub(crate) fn is_over_from(&self, code: usize, from: usize, never: Option<usize>) -> bool {
        let ops = &self.skeleton.codes[code].ops;
        let mut seen = vec![false; ops.len()];
        let mut open = vec![from];
        while let Some(pc) = open.pop() {
            if Some(pc) == never {
                return false;
            }
            if pc >= ops.len() || std::mem::replace(&mut seen[pc], true) {
                continue;
            }
            if self.range_has_events(code, pc..pc + 1) || self.leads_to_site(&ops[pc]) {
                return false;
            }
            match &ops[pc] {
                Op::Control(ControlOp::Jump(to))
                | Op::Control(ControlOp::Break(_, to))
                | Op::Control(ControlOp::Continue(_, to)) => open.push(*to),
                Op::Control(ControlOp::Branch(to, _)) | Op::Control(ControlOp::Next(_, to)) => {
                    open.extend([pc + 1, *to])
                }
                Op::Control(ControlOp::Return) | Op::Control(ControlOp::End) => {}
                _ => open.push(pc + 1),
            }
        }
        true
    }

    fn range_determinacy(&self, code: usize, range: Range<usize>) -> Determinacy {
        let only = |holds: bool| {
            if holds {
                Determinacy::Always
            } else {
                Determinacy::Never
            }
        };
        let one = &self.skeleton.codes[code];
        let steps = range.clone().zip(&one.ops[range]).map(|(at, op)| match op {
            Op::Call(CallOp::Value(_)) if one.told_calls.contains_key(&at) => {
                self.determinacy[one.told_calls[&at]]
            }
            Op::Call(CallOp::Method(one)) if one.message.is_some() || !one.told.is_empty() => {
                Determinacy::Never
            }
            Op::Call(CallOp::Method(one)) => {
                let own = one.own.iter().map(|(callee, _)| self.determinacy[*callee]);
                own.min().unwrap_or(one.determinacy)
            }
            Op::Call(CallOp::Function(callee, _)) | Op::Value(ValueOp::Closure(callee)) => {
                self.determinacy[*callee]
            }
            Op::Call(CallOp::Text(_, _, writers)) => {
                let settled = writers.iter().map(|one| self.determinacy[*one]);
                settled.min().unwrap_or(Determinacy::Always)
            }
            Op::Call(CallOp::Outside(one)) if one.message.is_some() => Determinacy::Never,
            Op::Call(CallOp::Outside(one)) => one.determinacy,
            Op::Control(ControlOp::Opaque(_))
            | Op::Call(CallOp::Any(_))
            | Op::Call(CallOp::Told(_))
            | Op::Memory(MemoryOp::Havoc(_))
            | Op::Call(CallOp::Value(_)) => Determinacy::Never,
            Op::Value(ValueOp::Reorder(shape)) => only(!shape.is_hashed()),
            Op::Value(ValueOp::Cast(to)) => only(&**to != "*"),
            Op::Value(ValueOp::Push(value)) => only(!value.is_unknown()),
            _ => Determinacy::Always,
        });
        steps.min().unwrap_or(Determinacy::Always)
    }

    fn range_reads(&self, code: usize, range: Range<usize>) -> Vec<Var> {
        let mut reads = BTreeSet::new();
        for op in &self.skeleton.codes[code].ops[range] {
            match op {
                Op::Memory(MemoryOp::Load(var)) | Op::Memory(MemoryOp::Address(var, ..)) => {
                    reads.insert(*var);
                }
                Op::Control(ControlOp::Next(slot, _))
                | Op::Memory(MemoryOp::Test(slot, _))
                | Op::Memory(MemoryOp::Bind(slot, _)) => {
                    reads.insert(Var { up: 0, slot: *slot });
                }
                Op::Value(ValueOp::Closure(inner)) => {
                    let all = 0..self.skeleton.codes[*inner].ops.len();
                    reads.extend(outwards(self.range_reads(*inner, all)));
                }
                _ => {}
            }
        }
        reads.into_iter().collect()
    }

    /// The variables that nothing else is done with than to ask them by key.
    fn range_by_key(&self, code: usize, range: Range<usize>) -> Vec<Var> {
        let one = &self.skeleton.codes[code];
        let (mut by_key, mut others) = (BTreeSet::new(), BTreeSet::new());
        for at in range {
            match &one.ops[at] {
                Op::Memory(MemoryOp::Address(var, ..)) if one.by_key.contains(&at) => {
                    by_key.insert(*var);
                }
                Op::Memory(MemoryOp::Declare(slot)) => {
                    others.insert(Var { up: 0, slot: *slot });
                }
                Op::Memory(MemoryOp::Havoc(vars)) => others.extend(vars),
                _ => {
                    others.extend(self.range_reads(code, at..at + 1));
                    others.extend(
                        self.range_writes(code, at..at + 1)
                            .into_iter()
                            .map(|(var, ..)| var),
                    );
                }
            }
        }
        by_key.difference(&others).copied().collect()
    }

    fn range_writes(&self, code: usize, range: Range<usize>) -> Vec<WriteTarget> {
        let mut writes = BTreeSet::new();
        let ops = &self.skeleton.codes[code].ops;
        for (at, op) in ops.iter().enumerate().take(range.end).skip(range.start) {
            match op {
                Op::Memory(MemoryOp::Address(var, path, Access::Written)) => {
                    writes.insert((*var, path.clone(), WriteKind::Itself));
                }
                Op::Memory(MemoryOp::Address(var, path, Access::Through)) => {
                    writes.insert((*var, path.clone(), WriteKind::Through));
                }
                Op::Memory(MemoryOp::Address(
                    var,
                    path,
                    Access::Given(callee, parameter) | Access::Passed(callee, parameter),
                )) => {
                    let how = match op {
                        Op::Memory(MemoryOp::Address(_, _, Access::Given(..))) => WriteKind::Itself,
                        _ => WriteKind::Through,
                    };
                    for below in self.writes_to(*callee, *parameter) {
                        let path = path.iter().chain(below).cloned().collect();
                        writes.insert((*var, path, how));
                    }
                }
                Op::Memory(MemoryOp::Declare(slot)) | Op::Control(ControlOp::Next(slot, _)) => {
                    writes.insert((Var { up: 0, slot: *slot }, Vec::new(), WriteKind::Itself));
                }
                Op::Memory(MemoryOp::Bind(_, pattern)) => {
                    let mut slots = Vec::new();
                    pattern.slots(&mut slots);
                    writes.extend(
                        slots
                            .into_iter()
                            .map(|slot| (Var { up: 0, slot }, Vec::new(), WriteKind::Itself)),
                    );
                }
                Op::Memory(MemoryOp::Load(var)) => writes.extend(self.handed_on(*var, &ops[at + 1..])),
                Op::Memory(MemoryOp::Havoc(vars)) => {
                    writes.extend(vars.iter().map(|var| (*var, Vec::new(), WriteKind::Itself)))
                }
                Op::Value(ValueOp::Closure(inner)) => self.closure_writes(*inner, &mut writes),
                Op::Call(CallOp::Value(_)) | Op::Call(CallOp::Any(_)) => {
                    let closures: Vec<_> = self.closures_of(code).collect();
                    closures
                        .into_iter()
                        .for_each(|one| self.closure_writes(one, &mut writes));
                }
                _ => {}
            }
        }
        writes.into_iter().collect()
    }

    /// What a variable holds is a value for others: if that is a reference, they may write to what it leads to.
    fn handed_on(&self, var: Var, behind: &[Op]) -> Option<WriteTarget> {
        let mut path = Vec::new();
        let mut next = behind.iter();
        for op in next.by_ref() {
            match op {
                Op::Value(ValueOp::GetField(name)) => path.push(name.clone()),
                Op::Value(ValueOp::Deref)
                | Op::Value(ValueOp::Binary(_))
                | Op::Value(ValueOp::GetElement)
                | Op::Value(ValueOp::Cast(_))
                | Op::Value(ValueOp::Not)
                | Op::Value(ValueOp::Negate)
                | Op::Value(ValueOp::Pop) => {
                    return None;
                }
                _ => break,
            }
        }
        let is_reference = path
            .last()
            .is_none_or(|name| self.skeleton.references.contains(name));
        is_reference.then_some((var, path, WriteKind::Held))
    }

    fn closure_writes(&self, closure: usize, into: &mut BTreeSet<WriteTarget>) {
        let all = 0..self.skeleton.codes[closure].ops.len();
        for (var, path, how) in self.range_writes(closure, all) {
            if var.up > 0 {
                into.insert((
                    Var {
                        up: var.up - 1,
                        ..var
                    },
                    path,
                    how,
                ));
            }
        }
    }
}

fn outwards(vars: Vec<Var>) -> impl Iterator<Item = Var> {
    vars.into_iter().filter(|var| var.up > 0).map(|var| Var {
        up: var.up - 1,
        ..var
    })
}
