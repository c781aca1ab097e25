//! Variables that travel as options.
//!
//! A variable that has no value at some site cannot be given one by a restart there. Between the statements that need
//! it, such a variable is *parked* in an `Option`; statements that use it *take* its value first and *put* it back where
//! it is needed again, also before they leave for another turn of a loop. A loop or branch at every site of which the
//! variable is saved takes it once for all its statements.
//!
//! Taken and put is what is *alive*: what may be used again, by the program or to be saved at a site. That has a value
//! on every way, as rustc has checked. Other values stay in the variable, to be dropped where they would be.

use super::schedule::{Mode, Schedule, Segment, behind_the_sites, declared};
use super::{SitePlan, for_each_hidden_jump, for_each_jump};
use crate::cfg::{BindingId, Declaration, Flow, NodeId, Point};
use crate::diagnostics::{Diagnostics, Refusal};
use crate::library::Library;
use crate::liveness::Live;
use crate::spine::{Block, Lowered, SiteId, Spine, SpineStep, Step, StepId, StepKind};
use crate::syntax::mentions::locals_in;
use crate::syntax::region_marks::regions_awaited_in;
use quote::ToTokens;
use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

/// What is taken and put where.
#[derive(Debug, Default)]
pub struct OptionSlots {
    stops: HashMap<StepId, Stop>,
    around: HashMap<StepId, Stop>,
    jumps: HashMap<(StepId, Jump), Vec<BindingId>>,
    at_sites: HashMap<SiteId, Vec<BindingId>>,
    /// The same where a region begins, if its own statements take some of them before its threads are waited for.
    at_regions: HashMap<SiteId, Vec<BindingId>>,
    leaving: BTreeSet<BindingId>,
}

/// What a group of statements takes and puts.
#[derive(Debug, Default, Clone)]
pub struct Stop {
    /// Taken before it.
    pub take: Vec<BindingId>,
    /// Put back after it.
    pub put: Vec<BindingId>,
    /// Parked when it begins.
    pub parked: Vec<BindingId>,
}

/// A jump to a loop or a labelled block.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Jump {
    /// The label, without its tick.
    pub label: Option<String>,
    /// Whether it is a `break`.
    pub breaks: bool,
}

impl OptionSlots {
    /// What a group of statements takes and puts; `first` is its first step.
    pub fn stop(&self, first: StepId) -> Stop {
        self.stops.get(&first).cloned().unwrap_or_default()
    }

    /// The same for the expression around the one that has the step's sites.
    pub fn around(&self, step: StepId) -> Stop {
        self.around.get(&step).cloned().unwrap_or_default()
    }

    /// What is put before a jump in a step.
    pub fn before_jump(&self, step: StepId, jump: Jump) -> &[BindingId] {
        self.jumps.get(&(step, jump)).map_or(&[], Vec::as_slice)
    }

    /// Whether anything is put before a jump in the step.
    pub fn has_jumps(&self, step: StepId) -> bool {
        self.jumps.keys().any(|(of, _)| *of == step)
    }

    /// Whether the variable is parked where a region begins, which may be otherwise where its threads are waited for.
    pub fn is_parked_before(&self, region: SiteId, id: BindingId) -> bool {
        let before = self
            .at_regions
            .get(&region)
            .or_else(|| self.at_sites.get(&region));
        before.is_some_and(|parked| parked.contains(&id))
    }

    /// Whether the site saves the variable while it is parked.
    pub fn is_parked(&self, site: SiteId, id: BindingId) -> bool {
        self.at_sites
            .get(&site)
            .is_some_and(|parked| parked.contains(&id))
    }

    /// Whether the variable is alive behind the statements that declare it.
    pub fn leaves(&self, id: BindingId) -> bool {
        self.leaving.contains(&id)
    }
}

impl OptionSlots {
    /// What is taken and put where, as text; `name` names variables.
    pub(crate) fn text(&self, name: &dyn Fn(BindingId) -> String) -> String {
        let names = |ids: &[BindingId]| {
            let names: Vec<String> = ids.iter().map(|id| name(*id)).collect();
            names.join(", ")
        };
        let stop = |what: &str, step: &StepId, stop: &Stop| {
            let parts = [
                ("takes", &stop.take),
                ("puts", &stop.put),
                ("parked", &stop.parked),
            ];
            let parts = parts.into_iter().filter(|(_, ids)| !ids.is_empty());
            let parts: Vec<String> = parts
                .map(|(word, ids)| format!(" {word} {}", names(ids)))
                .collect();
            (!parts.is_empty()).then(|| ((*step, 0), format!("{what} {step}:{}\n", parts.join(";"))))
        };
        let stops = self
            .stops
            .iter()
            .filter_map(|(step, one)| stop("step", step, one));
        let around = self
            .around
            .iter()
            .filter_map(|(step, one)| stop("around step", step, one));
        let jumps = self.jumps.iter().map(|((step, jump), ids)| {
            let word = if jump.breaks { "break" } else { "continue" };
            let label = jump
                .label
                .as_ref()
                .map_or(String::new(), |label| format!(" '{label}"));
            (
                (*step, 1),
                format!("step {step} before {word}{label}: puts {}\n", names(ids)),
            )
        });
        let mut lines: Vec<_> = stops.chain(around).chain(jumps).collect();
        lines.sort();
        let lines: Vec<String> = lines.into_iter().map(|(_, line)| line).collect();
        lines.concat()
    }
}

/// Finds out what is taken and put where.
pub fn option_slots(
    library: &Library,
    lowered: &Lowered,
    flow: &Flow,
    sites: &[SitePlan],
    schedule: &Schedule,
    errors: &mut Diagnostics,
) -> OptionSlots {
    let saved = flow.sites.iter().zip(sites).flat_map(|(at, site)| {
        let saves = at.scope.iter().filter(|id| site.names(**id));
        saves.map(|id| (at.node, *id))
    });
    let mut router = Router {
        library,
        lowered,
        flow,
        sites,
        schedule,
        live: Live::with_uses(flow, saved),
        errors,
        found: OptionSlots::default(),
    };
    let is_parameter =
        |id: &BindingId| matches!(flow.bindings[*id].declaration, Declaration::Parameter { .. });
    let carried =
        (0..flow.bindings.len()).filter(|id| schedule.crossings.modes.get(id) == Some(&Mode::InSlot));
    let place = SlotState {
        parked: carried.filter(is_parameter).collect(),
        ..SlotState::default()
    };
    router.block(&lowered.body, place);
    router.found
}

/// Where the variables are that travel, at some place of the function.
#[derive(Debug, Clone, Default)]
struct SlotState {
    parked: Vec<BindingId>,
    /// Each with the step at which it was taken.
    taken: Vec<(BindingId, StepId)>,
    targets: Vec<Target>,
}

/// Where jumps go.
#[derive(Debug, Clone)]
struct Target {
    label: Option<String>,
    is_loop: bool,
    to_continue: NodeId,
    to_break: NodeId,
    /// How many variables were taken when it was entered.
    taken: usize,
}

struct Router<'a> {
    library: &'a Library,
    lowered: &'a Lowered,
    flow: &'a Flow,
    sites: &'a [SitePlan],
    schedule: &'a Schedule,
    live: Live,
    errors: &'a mut Diagnostics,
    found: OptionSlots,
}

impl Router<'_> {
    fn block(&mut self, block: &Block, mut place: SlotState) {
        let groups = self.schedule.runs.segments(block);
        let is_spine = |group: &Segment<'_>| matches!(group, Segment::Spine(_));
        let guarded = groups.iter().rposition(is_spine).map_or(0, |last| last + 1);
        for group in &groups[..guarded] {
            match group {
                Segment::Item(_) => {}
                Segment::Reexecuted(step) => self.replay(step, &place),
                Segment::Run(steps) => self.run(steps, &place),
                Segment::Spine(step) => self.spine_step(step, &place),
            }
            let range = group.range();
            let new = self.declared_by(group);
            let leaving = new
                .iter()
                .filter(|id| self.is_alive(self.schedule.runs.end_of(self.flow, &range), **id));
            let leaving: Vec<BindingId> = leaving.copied().collect();
            self.found.leaving.extend(leaving);
            place.parked.extend(new);
        }
        let rest: Vec<&Step> = behind_the_sites(block).iter().collect();
        if !rest.is_empty() {
            self.run(&rest, &place);
        }
    }

    fn declared_by(&self, group: &Segment<'_>) -> Vec<BindingId> {
        let steps: Vec<StepId> = match group {
            Segment::Item(step) | Segment::Reexecuted(step) | Segment::Spine(step) => vec![step.range.start],
            Segment::Run(steps) => steps.iter().map(|step| step.range.start).collect(),
        };
        let all = steps.into_iter().flat_map(|step| declared(self.flow, step));
        let carried = |id: &BindingId| self.schedule.crossings.modes.get(id) == Some(&Mode::InSlot);
        all.map(|(id, _)| id).filter(carried).collect()
    }

    fn run(&mut self, steps: &[&Step], place: &SlotState) {
        let range = steps[0].range.start..steps[steps.len() - 1].range.end;
        let used = self.used(&place.parked, &range);
        self.stop(&range, &used, place);
        let mut inside = place.clone();
        inside.taken.extend(used.iter().map(|id| (*id, range.start)));
        for step in steps {
            if let StepKind::Plain(plain) = &step.kind {
                self.jumps(step.range.start, &plain.stmt, &inside);
                self.wait(&plain.stmt, &used);
            }
        }
    }

    /// Where the threads of a region are waited for, its site saves from the variables what its statements have taken.
    fn wait(&mut self, stmt: &syn::Stmt, taken: &[BindingId]) {
        let sites = (1..).zip(&self.lowered.sites);
        let of_regions: Vec<_> = sites
            .filter_map(|(site, one)| Some((site, one.region?)))
            .collect();
        if of_regions.is_empty() {
            return;
        }
        let regions = regions_awaited_in(stmt);
        for (site, _) in of_regions.iter().filter(|(_, region)| regions.contains(region)) {
            if let Some(parked) = self.found.at_sites.get_mut(site) {
                let before = parked.clone();
                parked.retain(|id| !taken.contains(id));
                self.found.at_regions.entry(*site).or_insert(before);
            }
        }
    }

    fn jumps(&mut self, step: StepId, stmt: &syn::Stmt, place: &SlotState) {
        let mut jumps = Vec::new();
        for_each_jump(self.library, stmt, &mut |jump| jumps.push(jump));
        jumps.into_iter().for_each(|jump| self.jump(step, jump, place));
        for_each_hidden_jump(self.library, stmt, &mut |mac, jump| {
            if let Some((aside, _)) = self.to_put(&jump, place).first() {
                self.refuse_hidden_jump(mac, *aside);
            }
        });
    }

    fn refuse_hidden_jump(&mut self, mac: &syn::Macro, aside: BindingId) {
        let name = &self.flow.bindings[aside].ident;
        let last = mac.path.segments.last().map(|last| &last.ident);
        let called = last.map(ToString::to_string).unwrap_or_default();
        self.errors.refuse(
            syn::spanned::Spanned::span(&mac.path),
            Refusal::MacroMayLeave {
                called,
                name: name.clone(),
            },
        );
    }

    fn replay(&mut self, step: &Step, place: &SlotState) {
        self.stop(&step.range, &[], place);
        for id in self.used(&place.parked, &step.range) {
            let borrowed = &self.flow.bindings[id].ident;
            self.errors.refuse(
                borrowed.span(),
                Refusal::MovedLater {
                    borrowed: borrowed.clone(),
                },
            );
        }
    }

    fn spine_step(&mut self, step: &Step, place: &SlotState) {
        let StepKind::Spine(SpineStep { sites, spine, .. }) = &step.kind else {
            return;
        };
        let begin = self.begin(&step.range);
        let whole: Vec<BindingId> = if spine.is_leaf() {
            self.used(&place.parked, &step.range)
        } else {
            let saved = |id: BindingId| {
                let reinitialised = self
                    .schedule
                    .crossings
                    .reinitialised
                    .get(&id)
                    .into_iter()
                    .flatten();
                (sites.first..=sites.last).all(|site| self.sites[site as usize - 1].names(id))
                    && !reinitialised
                        .into_iter()
                        .any(|run| step.range.contains(&run.start))
            };
            let parked = place.parked.iter().copied();
            parked
                .filter(|id| saved(*id) && self.is_alive(begin, *id) && self.is_visible(*id, step))
                .collect()
        };
        self.stop(&step.range, &whole, place);
        let mut inside = place.clone();
        inside.parked.retain(|id| !whole.contains(id));
        inside
            .taken
            .extend(whole.into_iter().map(|id| (id, step.range.start)));
        self.spine(step, spine, inside);
    }

    fn spine(&mut self, step: &Step, spine: &Spine, mut place: SlotState) {
        let start = step.range.start;
        match spine {
            Spine::Site(site) | Spine::Call { site, .. } => {
                let saves = |id: &BindingId| self.sites[*site as usize - 1].names(*id);
                place.parked.retain(saves);
                self.found.at_sites.insert(*site, place.parked);
            }
            Spine::Block { label, block, .. } => {
                if label.is_some() {
                    self.enter(start, label.as_ref(), false, &mut place);
                }
                self.block(block, place);
            }
            Spine::Loop { label, body } => {
                self.enter(start, label.as_ref(), true, &mut place);
                self.block(body, place);
            }
            Spine::If { then, otherwise, .. } => {
                self.block(&then.block, place.clone());
                if let Some(branch) = otherwise {
                    self.block(&branch.block, place);
                }
            }
            Spine::Match { arms, .. } => {
                arms.iter()
                    .for_each(|arm| self.block(&arm.body.block, place.clone()));
            }
            Spine::Context { inner, around } => {
                let mut outside = place.clone();
                if !inner.is_leaf() {
                    let used = self.context(step, around, &place);
                    outside.taken.extend(used.into_iter().map(|id| (id, start)));
                }
                self.jumps(start, &syn::Stmt::Expr((**around).clone(), None), &outside);
                self.spine(step, inner, place);
            }
            Spine::Jump { prefix, value } => {
                let jump = Jump::of_tokens(prefix);
                jump.into_iter().for_each(|jump| self.jump(start, jump, &place));
                self.spine(step, value, place);
            }
        }
    }

    fn enter(&self, step: StepId, label: Option<&syn::Label>, is_loop: bool, place: &mut SlotState) {
        let (to_continue, to_break) = self.flow.targets.get(&step).copied().unwrap_or_default();
        place.targets.push(Target {
            label: label.map(|label| label.name.ident.to_string()),
            is_loop,
            to_continue,
            to_break,
            taken: place.taken.len(),
        });
    }

    /// The expression around a loop or a branch: it is evaluated after it.
    fn context(&mut self, step: &Step, around: &syn::Expr, place: &SlotState) -> Vec<BindingId> {
        let names = locals_in(&self.flow.locals, around.to_token_stream());
        let used =
            |id: &BindingId| names.contains(self.flow.bindings[*id].local) && self.is_visible(*id, step);
        let used: Vec<BindingId> = place.parked.iter().copied().filter(used).collect();
        let begin = self.flow.contexts.get(&step.range.start).copied();
        let stop = Stop {
            take: self.alive(begin, &used),
            put: self.alive(self.schedule.runs.end_of(self.flow, &step.range), &used),
            parked: Vec::new(),
        };
        self.found.around.insert(step.range.start, stop);
        used
    }

    fn stop(&mut self, range: &Range<StepId>, used: &[BindingId], place: &SlotState) {
        let stop = Stop {
            take: self.alive(self.begin(range), used),
            put: self.alive(self.schedule.runs.end_of(self.flow, range), used),
            parked: place.parked.clone(),
        };
        self.found.stops.insert(range.start, stop);
    }

    /// What must be put back before a jump, each with the step at which it was taken.
    fn to_put(&self, jump: &Jump, place: &SlotState) -> Vec<(BindingId, StepId)> {
        let mut targets = place.targets.iter().rev();
        let Some(target) = targets.find(|target| match &jump.label {
            Some(label) => target.label.as_ref() == Some(label),
            None => target.is_loop,
        }) else {
            return Vec::new();
        };
        let node = match jump.breaks {
            true => target.to_break,
            false => target.to_continue,
        };
        let arrival = Some(Point { node, event: 0 });
        let taken = place.taken[target.taken..].iter().copied();
        taken.filter(|(id, _)| self.is_alive(arrival, *id)).collect()
    }

    fn jump(&mut self, step: StepId, jump: Jump, place: &SlotState) {
        let put = self.to_put(&jump, place);
        for (id, since) in &put {
            let name = &self.flow.bindings[*id].ident;
            let hides = |other: &BindingId| {
                *other != *id
                    && self.flow.same_name(*other, *id)
                    && (*since..=step).contains(&self.flow.bindings[*other].step)
            };
            if let Some(other) = (*id + 1..self.flow.bindings.len()).find(hides) {
                self.errors.refuse(
                    self.flow.bindings[other].ident.span(),
                    Refusal::HidesMoved { name: name.clone() },
                );
            }
        }
        let put: Vec<BindingId> = put.into_iter().map(|(id, _)| id).collect();
        if !put.is_empty() {
            self.found.jumps.insert((step, jump), put);
        }
    }

    fn used(&self, parked: &[BindingId], range: &Range<StepId>) -> Vec<BindingId> {
        let used = |id: &BindingId| {
            self.flow
                .events()
                .any(|event| event.binding == *id && range.contains(&event.step))
        };
        parked.iter().copied().filter(used).collect()
    }

    fn begin(&self, range: &Range<StepId>) -> Option<Point> {
        self.flow.points.get(&range.start).map(|(begin, _)| *begin)
    }

    fn is_alive(&self, point: Option<Point>, id: BindingId) -> bool {
        point.is_some_and(|point| self.live.at(self.flow, point, id))
    }

    fn alive(&self, point: Option<Point>, ids: &[BindingId]) -> Vec<BindingId> {
        let alive = |id: &BindingId| self.is_alive(point, *id);
        ids.iter().copied().filter(alive).collect()
    }

    /// Whether the variable's name means this variable when the step begins.
    fn is_visible(&self, id: BindingId, step: &Step) -> bool {
        let StepKind::Spine(spine) = &step.kind else {
            return true;
        };
        let scope = &self.flow.sites[spine.sites.first as usize - 1].scope;
        let newer = scope.iter().skip_while(|other| **other != id).skip(1);
        let of_name = |other: &&BindingId| self.flow.same_name(**other, id);
        let before = |other: &BindingId| self.flow.bindings[*other].step < step.range.start;
        !newer.filter(of_name).any(before)
    }
}
