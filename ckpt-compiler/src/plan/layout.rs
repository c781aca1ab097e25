//! How the statements of a block are grouped, and how variables get out of what a restart skips.

use super::Plan;
use super::sites::for_each_block;
use crate::classes::Class;
use crate::errors::Diagnostics;
use crate::flow::{Binding, BindingId, Declaration, Event, Flow, Use};
use crate::liveness::Liveness;
use crate::options::Treatment;
use crate::spine::{Block, Lowered, SiteId, Sites, Step, StepId, StepKind};
use std::collections::{BTreeSet, HashMap};

/// How a variable declared in a skipped run gets out of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Declared before the run and initialised in it: nothing moves.
    Deferred,
    /// Moved out at the end of the run, because its name is used for something else in it.
    MovedOut,
    /// Stays inside.
    Trapped,
    /// Travels as an `Option` from statement to statement.
    Carried,
}

/// A group of statements of a block.
#[derive(Debug)]
pub enum Segment<'a> {
    /// An item.
    Item(&'a Step),
    /// Statements that a restart skips together.
    Run(Vec<&'a Step>),
    /// A statement that runs again at restart.
    Replay(&'a Step),
    /// A statement with a site.
    Spine(&'a Step),
}

/// Groups the statements of a block.
pub fn segments<'a>(
    block: &'a Block,
    replays: &BTreeSet<StepId>,
    is_boundary: &dyn Fn(StepId) -> bool,
) -> Vec<Segment<'a>> {
    let mut segments: Vec<Segment<'a>> = Vec::new();
    let mut run: Vec<&'a Step> = Vec::new();
    let flush = |run: &mut Vec<&'a Step>, segments: &mut Vec<Segment<'a>>| {
        if !run.is_empty() {
            segments.push(Segment::Run(std::mem::take(run)));
        }
    };
    for step in &block.steps {
        match &step.kind {
            StepKind::Item(_) => segments.push(Segment::Item(step)),
            StepKind::Plain(_) if replays.contains(&step.range.start) => {
                flush(&mut run, &mut segments);
                segments.push(Segment::Replay(step));
            }
            StepKind::Plain(_) => {
                if is_boundary(step.range.start) {
                    flush(&mut run, &mut segments);
                }
                run.push(step);
            }
            StepKind::Spine(_) => {
                flush(&mut run, &mut segments);
                segments.push(Segment::Spine(step));
            }
        }
    }
    flush(&mut run, &mut segments);
    segments
}

/// The statements that declare a name which their run has declared already: the older variable may still be alive, to
/// the end of the block, so the newer one begins another run. One that was moved (or copied) into the newer does not.
pub fn boundaries(lowered: &Lowered, flow: &Flow, replays: &BTreeSet<StepId>) -> BTreeSet<StepId> {
    let mut found = BTreeSet::new();
    find_boundaries(&lowered.body, flow, replays, &mut found);
    found
}

fn find_boundaries(block: &Block, flow: &Flow, replays: &BTreeSet<StepId>, found: &mut BTreeSet<StepId>) {
    let mut run: Vec<BindingId> = Vec::new();
    for step in &block.steps {
        let start = step.range.start;
        match &step.kind {
            StepKind::Item(_) => {}
            StepKind::Plain(_) if !replays.contains(&start) => {
                let new: Vec<BindingId> = declared(flow, start).map(|(id, _)| id).collect();
                let stays = |old: &BindingId| {
                    let same = new
                        .iter()
                        .any(|id| flow.bindings[*id].ident == flow.bindings[*old].ident);
                    let moves = |event: &Event| {
                        event.binding == *old && event.kind == Use::Move && event.step <= start
                    };
                    same && !flow.events().any(moves) && !flow.bindings[*old].is_plainly_copy()
                };
                if run.iter().any(stays) {
                    found.insert(start);
                    run.clear();
                }
                run.extend(new);
            }
            StepKind::Plain(_) => run.clear(),
            StepKind::Spine(spine) => {
                run.clear();
                for_each_block(&spine.spine, &mut |inner| {
                    find_boundaries(inner, flow, replays, found)
                });
            }
        }
    }
}

/// The statements that must run again at restart: those whose variables are needed beyond their own run.
pub fn replays(lowered: &Lowered, flow: &Flow, liveness: &Liveness, classes: &[Class]) -> BTreeSet<StepId> {
    let mut found = BTreeSet::new();
    let mut finder = Replays {
        flow,
        liveness,
        classes,
        found: &mut found,
    };
    finder.block(&lowered.body);
    found
}

struct Replays<'a> {
    flow: &'a Flow,
    liveness: &'a Liveness,
    classes: &'a [Class],
    found: &'a mut BTreeSet<StepId>,
}

impl Replays<'_> {
    fn block(&mut self, block: &Block) {
        loop {
            let before = self.found.len();
            for (index, step) in block.steps.iter().enumerate() {
                self.step(block, index, step);
            }
            if self.found.len() == before {
                break;
            }
        }
        for step in &block.steps {
            if let StepKind::Spine(spine) = &step.kind {
                for_each_block(&spine.spine, &mut |inner| self.block(inner));
            }
        }
    }

    fn step(&mut self, block: &Block, index: usize, step: &Step) {
        let StepKind::Plain(plain) = &step.kind else {
            return;
        };
        let later_sites = sites_of(&block.steps[index + 1..]);
        if later_sites.is_empty() {
            return;
        }
        let again = plain.replays || plain.treatment == Some(Treatment::Reexecute);
        let ends = |other: &Step| {
            matches!(other.kind, StepKind::Spine(_)) || self.found.contains(&other.range.start)
        };
        let boundary = block.steps[index + 1..]
            .iter()
            .find(|other| ends(other))
            .map(|other| other.range.start);
        let needed = self.declared(step.range.start).any(|(id, _)| {
            matches!(self.classes[id], Class::Reexecuted { .. })
                && (later_sites
                    .iter()
                    .any(|site| self.liveness.is_live(self.flow, *site, id))
                    || boundary.is_some_and(|boundary| mentioned_from(self.flow, id, boundary)))
        });
        if again || needed {
            self.found.insert(step.range.start);
        }
    }

    fn declared(&self, step: StepId) -> impl Iterator<Item = (BindingId, &Binding)> {
        declared(self.flow, step)
    }
}

/// The variables that a step declares for its block.
pub fn declared(flow: &Flow, step: StepId) -> impl Iterator<Item = (BindingId, &Binding)> {
    flow.bindings
        .iter()
        .enumerate()
        .filter(move |(_, binding)| binding.step == step && matches!(binding.declaration, Declaration::Let))
}

fn mentioned_from(flow: &Flow, id: BindingId, from: StepId) -> bool {
    flow.events()
        .any(|event| event.binding == id && event.step >= from)
}

fn sites_of(steps: &[Step]) -> Vec<SiteId> {
    steps
        .iter()
        .filter_map(|step| match &step.kind {
            StepKind::Spine(spine) => Some(spine.sites),
            _ => None,
        })
        .flat_map(|Sites { first, last }| first..=last)
        .collect()
}

/// Chooses the mode of every variable declared on the spine; returns what must be saved so that it has a value wherever
/// a restart may need one.
pub fn modes(
    lowered: &Lowered,
    flow: &Flow,
    liveness: &Liveness,
    plan: &mut Plan,
    errors: &mut Diagnostics,
) -> Vec<(SiteId, BindingId)> {
    let mut chooser = Chooser {
        flow,
        liveness,
        plan,
        errors,
        modes: HashMap::new(),
        forced: Vec::new(),
    };
    chooser.block(&lowered.body);
    let (modes, forced) = (chooser.modes, chooser.forced);
    plan.modes = modes;
    forced
}

struct Chooser<'a> {
    flow: &'a Flow,
    liveness: &'a Liveness,
    plan: &'a Plan,
    errors: &'a mut Diagnostics,
    modes: HashMap<BindingId, Mode>,
    forced: Vec<(SiteId, BindingId)>,
}

impl Chooser<'_> {
    fn block(&mut self, block: &Block) {
        let plan = self.plan;
        let groups = segments(block, &plan.replays, &|step| plan.begins_a_run(step));
        for (index, group) in groups.iter().enumerate() {
            let later: Vec<SiteId> = groups[index + 1..]
                .iter()
                .filter_map(|other| match other {
                    Segment::Spine(step) => Some(sites_of(std::slice::from_ref(step))),
                    _ => None,
                })
                .flatten()
                .collect();
            match group {
                Segment::Run(steps) if !later.is_empty() => self.run(steps, &later),
                Segment::Spine(step) if !later.is_empty() => self.run(&[step], &later),
                _ => {}
            }
        }
        for step in &block.steps {
            if let StepKind::Spine(spine) = &step.kind {
                for_each_block(&spine.spine, &mut |inner| self.block(inner));
            }
        }
    }

    fn run(&mut self, steps: &[&Step], later: &[SiteId]) {
        let start = steps[0].range.start;
        let end = steps[steps.len() - 1].range.end;
        let declared: Vec<(BindingId, &Binding)> = steps
            .iter()
            .flat_map(|step| declared(self.flow, step.range.start))
            .collect();
        self.late(start..end, later);
        for &(id, binding) in &declared {
            let mode = self.mode(id, binding, &declared, start, end);
            if binding.conditional && mentioned_from(self.flow, id, end) {
                self.errors.refuse(
                    binding.ident.span(),
                    format!(
                        "`{}` is declared under a `#[cfg(..)]` and used across a site",
                        binding.ident
                    ),
                    "whether it exists is decided after ckpt has done its work",
                    "put the `#[cfg(..)]` inside the initialiser: `let x = if cfg!(..) { .. } else { .. };`",
                );
            }
            let used_later = mentioned_from(self.flow, id, end);
            let may_be_gone = |site: &SiteId| self.liveness.may_be_moved(self.flow, *site, id);
            let mode = match mode {
                // Whatever is left of it stays inside: it cannot be moved out a second time.
                Mode::MovedOut if !used_later && later.iter().any(may_be_gone) => Mode::Trapped,
                mode => mode,
            };
            self.modes.insert(id, mode);
            let is_late = binding.init.is_none() && !binding.from_spine;
            if mode == Mode::Trapped || !used_later || is_late || self.plan.classes[id] != Class::Saved {
                continue;
            }
            let missing: Vec<SiteId> = later
                .iter()
                .copied()
                .filter(|site| !self.plan.sites[*site as usize - 1].restores(id))
                .collect();
            let moved = |site: &SiteId| self.liveness.may_be_moved(self.flow, *site, id);
            if missing.is_empty() {
                continue;
            }
            if missing.iter().any(moved) || self.prefers_to_travel(id, binding) {
                self.modes.insert(id, Mode::Carried);
            } else {
                self.forced.extend(missing.into_iter().map(|site| (site, id)));
            }
        }
    }

    /// Variables declared without a value that get one in these steps, and are used after them.
    fn late(&mut self, steps: std::ops::Range<StepId>, later: &[SiteId]) {
        for (id, binding) in self.flow.bindings.iter().enumerate() {
            let is_late = binding.init.is_none()
                && !binding.from_spine
                && matches!(binding.declaration, Declaration::Let);
            let written = |event: &Event| {
                event.binding == id && event.kind == Use::Write && steps.contains(&event.step)
            };
            if !is_late || !self.flow.events().any(written) || !mentioned_from(self.flow, id, steps.end) {
                continue;
            }
            let in_scope = |site: &&SiteId| self.flow.sites[**site as usize - 1].scope.contains(&id);
            let missing = |site: &&SiteId| !self.plan.sites[**site as usize - 1].restores(id);
            self.forced.extend(
                later
                    .iter()
                    .filter(in_scope)
                    .filter(missing)
                    .map(|site| (*site, id)),
            );
        }
    }

    /// A value that is dead at a site need not be saved for the statements in between: it may travel, unless something
    /// borrows from it. Plain numbers are saved, that is simpler to read.
    fn prefers_to_travel(&self, id: BindingId, binding: &Binding) -> bool {
        let borrowed = self
            .flow
            .bindings
            .iter()
            .any(|other| other.inputs.iter().any(|(input, _)| *input == id));
        let aliased = self
            .plan
            .aliases
            .values()
            .flatten()
            .any(|alias| alias.binding == id);
        binding.from_spine && !borrowed && !aliased
    }

    fn mode(
        &self,
        id: BindingId,
        binding: &Binding,
        declared: &[(BindingId, &Binding)],
        start: StepId,
        end: StepId,
    ) -> Mode {
        if matches!(self.plan.classes[id], Class::Reexecuted { .. }) || binding.conditional {
            return Mode::Trapped;
        }
        let same_name = |other: BindingId| self.flow.bindings[other].ident == binding.ident;
        let shadowed = declared.iter().any(|(other, _)| *other > id && same_name(*other));
        // `let energy = energy(&bodies);`: the function's name must not be the variable's before its declaration.
        let is_outer_name = (start..end).any(|step| {
            let names = self.flow.outer_names.get(&step);
            names.is_some_and(|names| names.contains(&binding.ident.to_string()))
        });
        let others = is_outer_name
            || self.flow.events().any(|event| {
                (start..end).contains(&event.step)
                    && event.binding != id
                    && event.kind != Use::Write
                    && same_name(event.binding)
                    && self.flow.bindings[event.binding].step <= binding.step
                    || (start..end).contains(&event.step) && event.binding < id && same_name(event.binding)
            });
        if shadowed {
            Mode::Trapped
        } else if others
            || declared
                .iter()
                .any(|(other, _)| *other != id && same_name(*other))
        {
            Mode::MovedOut
        } else {
            Mode::Deferred
        }
    }
}
