//! How the statements of a block are grouped, and how variables get out of what a restart skips.

use super::{Alias, SitePlan};
use crate::cfg::{Binding, BindingId, Declaration, Event, Flow, Point, Use};
use crate::diagnostics::{Diagnostics, Refusal};
use crate::library::Library;
use crate::liveness::Liveness;
use crate::liveness::copied::is_certainly_copied;
use crate::names::Kind;
use crate::parse::options::Treatment;
use crate::spine::for_each_block;
use crate::spine::{Block, Lowered, SiteId, Sites, Step, StepId, StepKind};
use crate::strategies::{Strategy, owns_a_device};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;

/// How a variable declared in a skipped run gets out of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Declared before the run and initialised in it: nothing moves.
    Deferred,
    /// Moved out at the end of the run, because its name is used for something else in it.
    MovedOut,
    /// Declared behind the run without a value, which it gets in other statements.
    Late,
    /// Stays inside.
    Trapped,
    /// Kept in an option slot from statement to statement, see [`super::option_slots`].
    InSlot,
}

/// A group of statements of a block.
#[derive(Debug)]
pub enum Segment<'a> {
    /// An item.
    Item(&'a Step),
    /// Statements that a restart skips together.
    Run(Vec<&'a Step>),
    /// A statement that is re-executed at restart.
    Reexecuted(&'a Step),
    /// A statement with a site.
    Spine(&'a Step),
}

impl Segment<'_> {
    /// The numbers that its statements cover.
    pub fn range(&self) -> Range<StepId> {
        match self {
            Self::Item(step) | Self::Reexecuted(step) | Self::Spine(step) => step.range.clone(),
            Self::Run(steps) => steps[0].range.start..steps[steps.len() - 1].range.end,
        }
    }
}

/// Which statements a restart skips together, and which are re-executed.
#[derive(Debug, Default)]
pub struct Runs {
    /// The steps that are re-executed at restart.
    pub reexecuted: BTreeSet<StepId>,
    /// The steps that begin a run of their own, because they shadow a variable of the run before.
    pub boundaries: BTreeSet<StepId>,
    /// For every step, the first number behind it.
    step_ends: HashMap<StepId, StepId>,
}

impl Runs {
    /// Groups the statements of a block.
    pub fn segments<'a>(&self, block: &'a Block) -> Vec<Segment<'a>> {
        let mut segments: Vec<Segment<'a>> = Vec::new();
        let mut run: Vec<&'a Step> = Vec::new();
        let flush = |run: &mut Vec<&'a Step>, segments: &mut Vec<Segment<'a>>| {
            if !run.is_empty() {
                segments.push(Segment::Run(std::mem::take(run)));
            }
        };
        for step in &block.steps {
            match &step.kind {
                StepKind::Item(_) => {
                    if step.defines_a_macro() {
                        flush(&mut run, &mut segments);
                    }
                    segments.push(Segment::Item(step));
                }
                StepKind::Plain(_) if self.reexecuted.contains(&step.range.start) => {
                    flush(&mut run, &mut segments);
                    segments.push(Segment::Reexecuted(step));
                }
                StepKind::Plain(_) => {
                    if self.boundaries.contains(&step.range.start) {
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

    /// Where the last of the steps of a group ends.
    pub fn end_of(&self, flow: &Flow, group: &Range<StepId>) -> Option<Point> {
        let ends = |step: &&StepId| group.contains(step) && self.step_ends.get(step) == Some(&group.end);
        let last = flow.points.keys().filter(ends).min()?;
        flow.points.get(last).map(|(_, end)| *end)
    }
}

/// How the variables that runs declare get out of them.
#[derive(Debug, Default)]
pub struct Crossings {
    /// The mode of each.
    pub modes: HashMap<BindingId, Mode>,
    /// For those in option slots: the runs that give them a value again which was moved away before.
    pub reinitialised: HashMap<BindingId, Vec<Range<StepId>>>,
}

/// Borrows taken before a step, because it shadows a variable that a site needs.
pub type Aliases = BTreeMap<StepId, Vec<Alias>>;

/// How the statements of a function are grouped, and how variables cross from one group to another.
#[derive(Debug)]
pub struct Schedule {
    /// The groups.
    pub runs: Runs,
    /// How the variables that runs declare get out of them.
    pub crossings: Crossings,
    /// Borrows taken before a step, because it shadows a variable that a site needs.
    pub aliases: Aliases,
}

/// The statements behind the last one that has a site, in their order: no restart skips them.
pub fn behind_the_sites(block: &Block) -> &[Step] {
    let is_spine = |step: &Step| matches!(step.kind, StepKind::Spine(_));
    let first = block.steps.iter().rposition(is_spine).map_or(0, |last| last + 1);
    &block.steps[first..]
}

/// The statements that declare a name which their run has declared already: the older variable may still be alive, to
/// the end of the block, so the newer one begins another run. One that was moved (or copied) into the newer does not.
fn boundaries(lowered: &Lowered, flow: &Flow, reexecutes: &BTreeSet<StepId>) -> BTreeSet<StepId> {
    let mut found = BTreeSet::new();
    find_boundaries(&lowered.body, flow, reexecutes, &mut found);
    found
}

fn find_boundaries(block: &Block, flow: &Flow, reexecutes: &BTreeSet<StepId>, found: &mut BTreeSet<StepId>) {
    let mut run: Vec<BindingId> = Vec::new();
    for step in &block.steps {
        let start = step.range.start;
        match &step.kind {
            StepKind::Item(_) if step.defines_a_macro() => run.clear(),
            StepKind::Item(_) => {}
            StepKind::Plain(_) if !reexecutes.contains(&start) => {
                let new: Vec<BindingId> = declared(flow, start).map(|(id, _)| id).collect();
                let stays = |old: &BindingId| {
                    let same = new.iter().any(|id| flow.same_name(*id, *old));
                    let moves = |event: &Event| {
                        let takes = event.kind == Use::Move && event.step <= start
                            || event.by_operator && event.step == start;
                        event.binding == *old && takes
                    };
                    same && !flow.events().any(moves) && !flow.bindings[*old].is_plainly_copy()
                };
                if run.iter().any(stays) || borrows_what_moves_out(flow, &run, &new) {
                    found.insert(start);
                    run.clear();
                }
                run.extend(new);
            }
            StepKind::Plain(_) => run.clear(),
            StepKind::Spine(spine) => {
                run.clear();
                for_each_block(&spine.spine, &mut |inner| {
                    find_boundaries(inner, flow, reexecutes, found)
                });
            }
        }
    }
}

/// Whether new variables are made from one of the run that is bound behind it, because its name is that of a function
/// which makes it: `let version = version(); let app = App::new(&version);`. It has to be where it stays before.
fn borrows_what_moves_out(flow: &Flow, run: &[BindingId], new: &[BindingId]) -> bool {
    let is_named_like_its_maker = |id: &BindingId| flow.is_outer_name(flow.bindings[*id].step, *id);
    let inputs = new.iter().flat_map(|id| &flow.bindings[*id].inputs);
    let mut borrowed = inputs
        .filter(|(_, kind)| *kind != Use::Move)
        .map(|(input, _)| input);
    borrowed.any(|input| {
        run.contains(input) && is_named_like_its_maker(input) && !flow.bindings[*input].is_plainly_copy()
    })
}

/// The statements that must run again at restart: those whose variables are needed beyond their own run. Whether one
/// ends a run depends on this, and the other way round.
pub fn runs(lowered: &Lowered, flow: &Flow, liveness: &Liveness, strategies: &[Strategy]) -> Runs {
    let mut runs = Runs {
        step_ends: crate::spine::step_ends(&lowered.body),
        ..Runs::default()
    };
    loop {
        let before = runs.reexecuted.len();
        let mut finder = Reexecuted {
            flow,
            liveness,
            strategies,
            boundaries: &runs.boundaries,
            found: &mut runs.reexecuted,
        };
        finder.block(&lowered.body);
        let found = boundaries(lowered, flow, &runs.reexecuted);
        if runs.reexecuted.len() == before && found.is_subset(&runs.boundaries) {
            return runs;
        }
        runs.boundaries.extend(found);
    }
}

struct Reexecuted<'a> {
    flow: &'a Flow,
    liveness: &'a Liveness,
    strategies: &'a [Strategy],
    boundaries: &'a BTreeSet<StepId>,
    found: &'a mut BTreeSet<StepId>,
}

impl Reexecuted<'_> {
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
        let reexecutes =
            plain.reexecutes && !plain.is_condition() || plain.treatment == Some(Treatment::Reexecute);
        let ends = |other: &Step| {
            let start = &other.range.start;
            matches!(other.kind, StepKind::Spine(_))
                || self.found.contains(start)
                || self.boundaries.contains(start)
        };
        let boundary = block.steps[index + 1..]
            .iter()
            .find(|other| ends(other))
            .map(|other| other.range.start);
        let needed = self.declared(step.range.start).any(|(id, _)| {
            matches!(self.strategies[id], Strategy::Reexecuted { .. })
                && (later_sites
                    .iter()
                    .any(|site| self.liveness.is_live(self.flow, *site, id))
                    || boundary.is_some_and(|boundary| mentioned_from(self.flow, id, boundary)))
        });
        if reexecutes || needed {
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
pub(super) fn crossings(
    given: &Given<'_>,
    errors: &mut Diagnostics,
) -> (Crossings, Vec<(SiteId, BindingId)>) {
    let mut chooser = Chooser {
        given,
        errors,
        found: Crossings::default(),
        forced: Vec::new(),
        runs: Vec::new(),
    };
    chooser.find_runs(&given.lowered.body);
    chooser.block(&given.lowered.body);
    chooser.parameters();
    (chooser.found, chooser.forced)
}

/// What the modes of variables are chosen from.
pub(super) struct Given<'a> {
    pub library: &'a Library,
    pub lowered: &'a Lowered,
    pub flow: &'a Flow,
    pub liveness: &'a Liveness,
    pub strategies: &'a [Strategy],
    pub runs: &'a Runs,
    pub sites: &'a [SitePlan],
    pub aliases: &'a Aliases,
}

struct Chooser<'a> {
    given: &'a Given<'a>,
    errors: &'a mut Diagnostics,
    found: Crossings,
    forced: Vec<(SiteId, BindingId)>,
    /// The runs of all blocks.
    runs: Vec<Range<StepId>>,
}

impl Chooser<'_> {
    fn find_runs(&mut self, block: &Block) {
        let groups = self.given.runs.segments(block);
        let runs = groups.iter().filter(|group| matches!(group, Segment::Run(_)));
        self.runs.extend(runs.map(Segment::range));
        for step in &block.steps {
            if let StepKind::Spine(spine) = &step.kind {
                for_each_block(&spine.spine, &mut |inner| self.find_runs(inner));
            }
        }
    }

    /// The runs that give the variable a value again which statements before the run have moved away: rustc would not
    /// see that a restart skips both or neither.
    fn reinitialising_runs(&self, id: BindingId) -> Vec<Range<StepId>> {
        let gives = |run: &&Range<StepId>| {
            self.given.flow.events().any(|event| {
                event.binding == id
                    && event.kind == Use::Write
                    && run.contains(&event.step)
                    && event.step != self.given.flow.bindings[id].step
            })
        };
        let is_moved = |run: &Range<StepId>| {
            let begin = self.given.flow.points.get(&run.start).map(|(begin, _)| *begin);
            begin.is_some_and(|begin| self.given.liveness.may_be_moved_at(self.given.flow, begin, id))
        };
        let runs = self.runs.iter().filter(gives);
        runs.filter(|run| is_moved(run)).cloned().collect()
    }

    fn block(&mut self, block: &Block) {
        let groups = self.given.runs.segments(block);
        for (index, group) in groups.iter().enumerate() {
            let later: Vec<SiteId> = groups[index + 1..]
                .iter()
                .filter_map(|other| match other {
                    Segment::Spine(step) => Some(sites_of(std::slice::from_ref(step))),
                    _ => None,
                })
                .flatten()
                .collect();
            let after = Later {
                sites: later,
                groups: groups[index + 1..].iter().map(Segment::range).collect(),
            };
            match group {
                Segment::Run(steps) if !after.sites.is_empty() => self.run(steps, &after),
                Segment::Spine(step) if !after.sites.is_empty() => self.run(&[step], &after),
                _ => {}
            }
        }
        for step in &block.steps {
            if let StepKind::Spine(spine) = &step.kind {
                for_each_block(&spine.spine, &mut |inner| self.block(inner));
            }
        }
    }

    /// Parameters that are moved away and given a value again.
    fn parameters(&mut self) {
        for (id, binding) in self.given.flow.bindings.iter().enumerate() {
            let events = || self.given.flow.events().filter(|event| event.binding == id);
            let is_gone = || {
                let mut sites = self.given.flow.sites.iter().enumerate();
                sites.any(|(index, at)| {
                    let site = index as SiteId + 1;
                    at.scope.contains(&id) && self.given.liveness.may_be_moved(self.given.flow, site, id)
                })
            };
            let is_moved =
                events().any(Event::may_move) || events().any(|event| event.by_operator) && is_gone();
            let is_given = self.given.flow.is_given_again(id);
            let is_parameter = matches!(binding.declaration, Declaration::Parameter { .. });
            // Also where a site only offers it: rustc must see that it has a value there.
            let named = self.given.sites.iter().any(|site| site.names(id));
            if is_parameter && named && binding.ident != "self" && is_moved && is_given {
                self.found.modes.insert(id, Mode::InSlot);
                self.found.reinitialised.insert(id, self.reinitialising_runs(id));
            }
        }
    }

    fn run(&mut self, steps: &[&Step], later: &Later) {
        let last = steps[steps.len() - 1];
        let group = Group {
            range: steps[0].range.start..last.range.end,
            last: last.range.start,
        };
        let end = group.range.end;
        let declared: Vec<(BindingId, &Binding)> = steps
            .iter()
            .flat_map(|step| declared(self.given.flow, step.range.start))
            .collect();
        for &(id, binding) in &declared {
            let mode = self.mode(id, binding, &declared, &group);
            if binding.conditional && mentioned_from(self.given.flow, id, end) {
                self.errors.refuse(
                    binding.ident.span(),
                    Refusal::UnderCfg {
                        name: binding.ident.clone(),
                    },
                );
            }
            self.found.modes.insert(id, mode);
            let crosses = match binding.is_late() {
                true => self.groups_with(id, &group.range, later) > 1,
                false => mentioned_from(self.given.flow, id, end),
            };
            if mode == Mode::Trapped || !crosses || self.given.strategies[id] != Strategy::Saved {
                continue;
            }
            let missing: Vec<SiteId> = later
                .sites
                .iter()
                .copied()
                .filter(|site| self.given.flow.sites[*site as usize - 1].scope.contains(&id))
                .filter(|site| !self.given.sites[*site as usize - 1].restores(id))
                .filter(|site| {
                    !binding.is_late() || self.given.liveness.may_have_value(self.given.flow, *site, id)
                })
                .collect();
            let absent = |site: &SiteId| !self.given.liveness.has_value(self.given.flow, *site, id);
            let reinitialised = self.reinitialising_runs(id);
            if !reinitialised.is_empty() {
                self.found.modes.insert(id, Mode::InSlot);
                self.found.reinitialised.insert(id, reinitialised);
                continue;
            }
            if missing.is_empty() {
                continue;
            }
            let is_copied = self.is_copied_by_operators(id) || self.is_copied_and_replayed(id);
            if missing.iter().any(absent) && !is_copied || self.prefers_a_slot(id, binding) {
                self.found.modes.insert(id, Mode::InSlot);
            } else {
                self.forced.extend(missing.into_iter().map(|site| (site, id)));
            }
        }
        self.keep_order(&declared, &group);
        self.put_absent_in_slots(&declared, later);
    }

    /// Whether only an operator may have used the variable up, and a statement that is re-executed needs it, which it could not if the
    /// variable travelled: then it is taken for one that is copied, as most are that operators take.
    fn is_copied_by_operators(&self, id: BindingId) -> bool {
        let events = || self.given.flow.events().filter(|event| event.binding == id);
        events().any(|event| event.by_operator) && !events().any(Event::may_move) && self.is_replayed(id)
    }

    /// Whether the variable is copied where it is taken, and a statement that is re-executed needs it.
    fn is_copied_and_replayed(&self, id: BindingId) -> bool {
        self.is_replayed(id) && is_certainly_copied(self.given.flow, id)
    }

    fn is_replayed(&self, id: BindingId) -> bool {
        let is = |event: &Event| event.kind != Use::Write && self.given.runs.reexecuted.contains(&event.step);
        let mut events = self.given.flow.events().filter(|event| event.binding == id);
        events.any(is)
    }

    /// In how many groups of statements, its own and the later ones, the variable is mentioned.
    fn groups_with(&self, id: BindingId, own: &Range<StepId>, later: &Later) -> usize {
        let mentions = |range: &&Range<StepId>| {
            self.given
                .flow
                .events()
                .any(|event| event.binding == id && range.contains(&event.step))
        };
        std::iter::once(own).chain(&later.groups).filter(mentions).count()
    }

    /// Variables that are bound behind their run are dropped before those that are declared in front of it. So what comes
    /// after such a variable is bound behind the run too.
    fn keep_order(&mut self, declared: &[(BindingId, &Binding)], run: &Group) {
        let behind = |modes: &HashMap<BindingId, Mode>, id: &BindingId| {
            matches!(modes.get(id), Some(Mode::MovedOut | Mode::InSlot))
        };
        let first = declared.iter().find(|(id, _)| behind(&self.found.modes, id));
        let Some(first_step) = first.map(|(_, binding)| binding.step) else {
            return;
        };
        for (id, binding) in declared {
            let follows = binding.step >= first_step && self.found.modes.get(id) == Some(&Mode::Deferred);
            let matters = binding.is_late()
                || !binding.is_plainly_copy() && self.given.strategies[*id] != Strategy::Synthetic;
            let is_needed =
                mentioned_from(self.given.flow, *id, run.range.end) || !self.is_moved_in(*id, run);
            if follows && matters && is_needed {
                self.found.modes.insert(*id, self.behind(*id, binding, run));
            }
        }
    }

    /// What is bound behind its run needs a value there, so at every later site; otherwise it travels.
    fn put_absent_in_slots(&mut self, declared: &[(BindingId, &Binding)], later: &Later) {
        for (id, _) in declared {
            let restored = |site: &SiteId| self.given.sites[*site as usize - 1].restores(*id);
            let moved_out = self.found.modes.get(id) == Some(&Mode::MovedOut);
            let is_absent = match self.given.strategies[*id] {
                Strategy::Saved => !later.sites.iter().all(restored),
                // A device that no site needs: its statement is skipped like the others of the run.
                Strategy::Reexecuted { .. } => true,
                _ => false,
            };
            if moved_out && is_absent {
                self.found.modes.insert(*id, Mode::InSlot);
            }
        }
    }

    fn is_moved_in(&self, id: BindingId, run: &Group) -> bool {
        let moves = |event: &Event| {
            event.binding == id && (event.may_move() || event.by_operator) && run.range.contains(&event.step)
        };
        self.given.flow.events().any(moves)
    }

    /// The mode of a variable that is bound behind its run.
    fn behind(&self, id: BindingId, binding: &Binding, run: &Group) -> Mode {
        let given = |event: &Event| {
            event.binding == id && event.kind == Use::Write && run.range.contains(&event.step)
        };
        match binding.is_late() {
            true if self.given.flow.events().any(given) => Mode::InSlot,
            true => Mode::Late,
            false
                if self.is_moved_in(id, run)
                    && !self.given.liveness.is_live_after(self.given.flow, run.last, id) =>
            {
                Mode::InSlot
            }
            false => Mode::MovedOut,
        }
    }

    /// A value that is dead at a site need not be saved for the statements in between, or for a branch in which the site
    /// is not: it may travel, unless something borrows from it. Plain numbers are saved, that is simpler to read.
    fn prefers_a_slot(&self, id: BindingId, binding: &Binding) -> bool {
        let elsewhere = binding.treatment == Some(Treatment::Elsewhere);
        let is_reexecuted =
            |other: usize| matches!(self.given.strategies[other], Strategy::Reexecuted { .. });
        let borrowed = self
            .given
            .flow
            .bindings
            .iter()
            .enumerate()
            .any(|(number, other)| {
                let is_made_from_it = other.inputs.iter().any(|(input, _)| *input == id);
                is_made_from_it && (!elsewhere || is_reexecuted(number))
            });
        let aliased = self
            .given
            .aliases
            .values()
            .flatten()
            .any(|alias| alias.binding == id);
        (binding.from_spine || elsewhere) && !borrowed && !aliased
    }

    /// Whether a branch that a restart enters has been chosen by what the variable holds, and may borrow from it. The
    /// statement need not be re-executed for that, and the variable has to be where it would be.
    fn is_behind_a_choice(
        &self,
        id: BindingId,
        binding: &Binding,
        declared: &[(BindingId, &Binding)],
    ) -> bool {
        let is_choice = |other: &Binding| other.is_for(Kind::Choice);
        let from_it = |other: &Binding| other.inputs.iter().any(|(input, _)| *input == id);
        !self.given.runs.reexecuted.contains(&binding.step)
            && declared
                .iter()
                .any(|(_, other)| is_choice(other) && from_it(other))
    }

    fn mode(
        &self,
        id: BindingId,
        binding: &Binding,
        declared: &[(BindingId, &Binding)],
        run: &Group,
    ) -> Mode {
        let is_reexecuted = matches!(self.given.strategies[id], Strategy::Reexecuted { .. })
            && !owns_a_device(self.given.library, binding);
        if is_reexecuted && !self.is_behind_a_choice(id, binding, declared) || binding.conditional {
            return Mode::Trapped;
        }
        let same_name = |other: BindingId| self.given.flow.same_name(other, id);
        let shadowed = declared.iter().any(|(other, _)| *other > id && same_name(*other));
        // `let energy = energy(&bodies);`: the function's name must not be the variable's before its declaration.
        let is_outer_name = run
            .range
            .clone()
            .any(|step| self.given.flow.is_outer_name(step, id));
        let used_before = self.given.flow.events().any(|event| {
            run.range.contains(&event.step)
                && same_name(event.binding)
                && (event.binding < id
                    || event.binding != id
                        && event.kind != Use::Write
                        && self.given.flow.bindings[event.binding].step <= binding.step)
        });
        let hides = |aliases: &Vec<Alias>| aliases.iter().any(|alias| same_name(alias.binding));
        let aliased = self.given.aliases.get(&binding.step).is_some_and(hides);
        let names = |site: &crate::cfg::SiteFlow| {
            run.range.contains(&site.step) && site.scope.iter().any(|other| same_name(*other))
        };
        let named_inside = binding.from_spine && self.given.flow.sites.iter().any(names);
        let twice = declared
            .iter()
            .any(|(other, _)| *other != id && same_name(*other));
        if shadowed {
            Mode::Trapped
        } else if is_outer_name || used_before || aliased || named_inside || twice {
            self.behind(id, binding, run)
        } else {
            Mode::Deferred
        }
    }
}

/// A group of statements.
struct Group {
    range: Range<StepId>,
    /// Its last step.
    last: StepId,
}

/// What comes after a group of statements in its block.
struct Later {
    sites: Vec<SiteId>,
    groups: Vec<Range<StepId>>,
}
