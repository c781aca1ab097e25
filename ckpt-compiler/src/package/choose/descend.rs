//! From `main` inwards.

use super::{Chooser, Holder, PlacedSite, Reason, SitePlace, words};
use crate::marks::Marks;
use crate::package::calls::{Loop, LoopId, LoopKind, Work};
use crate::package::items::{Annotation, FnId, Place};
use std::collections::HashMap;
use syn::visit::{self, Visit};

/// Below this part of a region's cost, what has been found inside does not do.
const ENOUGH: f64 = 0.6;

/// Functions of a recursion that are tried for a site.
const MOST_MEMBERS: usize = 4;

/// Functions that lead to each other deeper than this are not followed.
const DEEPEST: usize = 64;

/// A coarse loop with a smaller share of the run is let be.
const SMALL: f64 = 0.1;

/// A loop known to go round this often needs no better one inside.
const MANY_TRIPS: f64 = 50.0;

/// The part of a loop's cost that a loop inside must carry to be the better place.
const NEARLY_ALL: f64 = 0.8;

/// Operations of an iteration at which the test of a site is nothing.
const WORTHWHILE: f64 = 1e3;

/// Operations of an iteration that make it worthwhile to look for a loop inside.
const LONG: f64 = 1e6;

/// A loop that carries less of the cost is not looked at.
const LEAST_PART: f64 = 0.05;

/// More loops than this are worse than the one around them.
const MOST_TIME_LOOPS: usize = 6;

/// Loops over time steps inside another loop.
struct Search {
    /// Operations of an iteration of the outer loop.
    whole: f64,
    /// Whether a `while` or `loop` counts as one, whatever its names.
    open_too: bool,
    seen: Vec<FnId>,
    found: Vec<LoopId>,
    /// Operations of what has been found, for an iteration of the outer loop.
    part: f64,
}

/// How the descent has come to a place.
#[derive(Debug, Clone, Copy)]
struct Reach {
    /// How often in the whole run, by this way.
    times: f64,
    /// Whether a loop with very short iterations is better than none.
    hot_will_do: bool,
    /// Functions on the way.
    depth: usize,
}

/// A part of the work that may get a site.
#[derive(Debug, Clone, Copy)]
enum Region {
    Loop(LoopId),
    Function(FnId),
}

impl Chooser<'_, '_> {
    /// The sites that are in the source already.
    pub(super) fn sites_of_the_user(&mut self) {
        let analysis = self.analysis;
        for one in analysis
            .items
            .functions
            .iter()
            .filter(|one| self.reachable[one.id.0])
        {
            let mut finder = Written(0);
            finder.visit_block(&one.item.block);
            let arguments = match &one.annotation {
                Annotation::Main(arguments) | Annotation::Instrument(arguments) => Some(arguments),
                Annotation::None => None,
            };
            let chosen_by_macro = arguments.is_some_and(|text| !text.contains("calls")) && finder.0 == 0;
            if finder.0 == 0 && !chosen_by_macro {
                continue;
            }
            let cost = self.costs.functions[one.id.0];
            self.chosen.push(PlacedSite {
                function: one.id,
                site: SitePlace {
                    at: one.body_at,
                    holder: Holder::User,
                },
                place: one.place.clone(),
                header: format!("fn {}", one.name),
                share: cost.share,
                trips: 1.0,
                known: false,
                per_visit: cost.per_call,
                hot: false,
                why: "written by the user".into(),
            });
        }
    }

    /// Chooses, beginning in `main`.
    pub(super) fn descend(&mut self) {
        if self.chosen.iter().any(|site| site.site.holder == Holder::User) {
            return;
        }
        let start = Reach {
            times: 1.0,
            hot_will_do: true,
            depth: 0,
        };
        self.function(self.main, start);
        if self.coverage_of(self.main) < 0.5 {
            self.anything();
        }
    }

    /// With little reached so far: the costliest loops that can hold a site at all.
    fn anything(&mut self) {
        let mut list: Vec<LoopId> = self
            .analysis
            .graph
            .loops
            .iter()
            .filter(|one| one.can_hold() && self.reachable[one.function.0])
            .map(|one| one.id)
            .collect();
        let total = |id: &LoopId| self.costs.loops[id.0].total;
        list.sort_by(|a, b| total(b).total_cmp(&total(a)));
        for id in list.into_iter().take(60) {
            let share = self.costs.loops[id.0].share;
            let reached = self.coverage_of(self.main);
            if reached >= 0.5 || (!self.chosen.is_empty() && share < 0.1) {
                return;
            }
            if self.covered(Some(id)) {
                continue;
            }
            self.add_loop(id, "the costliest loop that a site can be expressed in");
        }
    }

    /// Whether a loop, or one around it, has a site.
    fn covered(&self, mut within: Option<LoopId>) -> bool {
        while let Some(id) = within {
            if self.has_site(id) {
                return true;
            }
            within = self.analysis.graph.one_loop(id).parent;
        }
        false
    }

    fn has_site(&self, id: LoopId) -> bool {
        self.chosen
            .iter()
            .any(|site| site.site.holder == Holder::Loop(id))
    }

    fn function(&mut self, function: FnId, at: Reach) {
        if at.depth > DEEPEST || self.visited.contains(&function) {
            return;
        }
        self.visited.push(function);
        let work = &self.analysis.graph.bodies[function.0];
        let cost = self.costs.functions[function.0];
        if cost.is_recursive() {
            let inside = Reach {
                times: at.times * cost.depth,
                hot_will_do: false,
                ..at
            };
            self.work(work, inside);
            if self.coverage_of(function) < ENOUGH {
                self.recursion(function);
            }
        } else {
            self.work(work, at);
        }
    }

    /// The parts of a piece of work, with their share of the run when reached from here; costliest first.
    fn regions(&self, work: &Work, times: f64) -> Vec<(f64, f64, Region)> {
        let graph = &self.analysis.graph;
        let total = self.costs.total.max(1.0);
        let mut regions = Vec::new();
        for id in &work.loops {
            let cost = self.costs.loops[id.0];
            let entered = times * graph.one_loop(*id).weight;
            let share = entered * cost.trips * cost.per_iteration / total;
            regions.push((share, entered, Region::Loop(*id)));
        }
        for id in &work.calls {
            let call = graph.call(*id);
            if call.trap.is_some() {
                continue;
            }
            let entered = times * call.weight / call.callees.len().max(1) as f64;
            for callee in &call.callees {
                let share = entered * self.costs.functions[callee.0].per_call / total;
                regions.push((share, entered, Region::Function(*callee)));
            }
        }
        regions.sort_by(|a, b| b.0.total_cmp(&a.0));
        regions
    }

    fn work(&mut self, work: &Work, at: Reach) {
        for (share, times, region) in self.regions(work, at.times) {
            if share < self.options.least_share {
                break;
            }
            match region {
                Region::Loop(id) => self.one_loop(id, share, Reach { times, ..at }),
                Region::Function(id) => {
                    let depth = at.depth + 1;
                    self.function(id, Reach { times, depth, ..at });
                }
            }
        }
    }

    fn one_loop(&mut self, id: LoopId, share: f64, at: Reach) {
        let one = self.analysis.graph.one_loop(id);
        let cost = self.costs.loops[id.0];
        let options = self.options;
        let counts_time = words::count_time(&one.header);
        let longest = options.longest(counts_time, cost.guessed);
        let too_long = cost.per_iteration > longest;
        let few = cost.trips < options.fewest_trips;
        let coarse = too_long || (few && (cost.guessed || cost.per_iteration > 1e7));
        if cost.per_iteration < options.shortest_iteration
            && (!at.hot_will_do || share < options.least_hot_share)
        {
            let why = format!(
                "an iteration is so short (about {:.0} operations) that a site would show",
                cost.per_iteration
            );
            self.pass_over(one, &why);
            return;
        }
        if coarse && share < SMALL {
            return;
        }
        if coarse {
            let why = if too_long {
                "an iteration takes longer than the time between checkpoints"
            } else {
                "it goes round only a few times"
            };
            self.pass_over(one, why);
        } else if one.can_hold() {
            if !counts_time && self.add_time_loop_inside(id) {
                return;
            }
            if self.add_loop(id, "the outermost loop with short iterations") {
                return;
            }
        }
        let inside = Reach {
            times: at.times * cost.trips,
            hot_will_do: at.hot_will_do && too_long,
            ..at
        };
        self.work(&one.work, inside);
        if coarse && one.can_hold() && self.coverage_inside(id) < ENOUGH {
            self.add_loop(id, "no loop inside it can hold a site that reaches most of it");
        }
    }

    /// A loop that may be one over cases, files or repetitions, and so may go round once: a loop over time steps inside
    /// it, which carries nearly all of its cost, is the better place.
    fn add_time_loop_inside(&mut self, outer: LoopId) -> bool {
        let cost = self.costs.loops[outer.0];
        if cost.known && cost.trips >= MANY_TRIPS {
            return false;
        }
        let mut search = Search {
            whole: cost.per_iteration,
            open_too: cost.per_iteration >= LONG,
            seen: Vec::new(),
            found: Vec::new(),
            part: 0.0,
        };
        self.time_loops(&self.analysis.graph.one_loop(outer).work, 1.0, &mut search);
        if search.part < NEARLY_ALL * cost.per_iteration || search.found.len() > MOST_TIME_LOOPS {
            return false;
        }
        let before = self.chosen.clone();
        for inner in search.found {
            if !self.add_loop(
                inner,
                "a loop over time steps that carries nearly all of the cost",
            ) {
                self.chosen = before;
                return false;
            }
        }
        let why = "a loop over time steps inside it is entered more often";
        self.pass_over(self.analysis.graph.one_loop(outer), why);
        true
    }

    /// Gathers the loops over time steps in a piece of work, the outermost of each nest.
    fn time_loops(&self, work: &Work, times: f64, search: &mut Search) {
        let graph = &self.analysis.graph;
        for (_, times, region) in self.regions(work, times) {
            match region {
                Region::Loop(id) => {
                    let (one, cost) = (graph.one_loop(id), self.costs.loops[id.0]);
                    let part = times * cost.trips * cost.per_iteration;
                    if part < LEAST_PART * search.whole {
                        continue;
                    }
                    let open = matches!(one.kind, LoopKind::While | LoopKind::Loop) && search.open_too;
                    let fits = one.can_hold()
                        && cost.per_iteration >= WORTHWHILE
                        && cost.per_iteration <= self.options.longest(true, cost.guessed)
                        && cost.trips >= self.options.fewest_trips;
                    if fits && (words::count_time(&one.header) || open) {
                        search.found.push(id);
                        search.part += part;
                    } else {
                        self.time_loops(&one.work, times * cost.trips, search);
                    }
                }
                Region::Function(id) => {
                    let cost = self.costs.functions[id.0];
                    let known = search.seen.contains(&id) || cost.is_recursive();
                    if known || times * cost.per_call < LEAST_PART * search.whole {
                        continue;
                    }
                    search.seen.push(id);
                    self.time_loops(&graph.bodies[id.0], times, search);
                }
            }
        }
    }

    fn pass_over(&mut self, one: &Loop, why: &str) {
        if !one.can_hold() {
            return;
        }
        let site = self.site_in(one.id, "");
        let reason = Reason {
            function: one.function,
            line: Some(one.place.line),
            what: why.into(),
            why: String::new(),
            instead: String::new(),
        };
        self.reject(&site, vec![reason]);
    }

    fn site_in(&self, id: LoopId, why: &str) -> PlacedSite {
        let one = self.analysis.graph.one_loop(id);
        let cost = self.costs.loops[id.0];
        PlacedSite {
            function: one.function,
            site: SitePlace {
                at: one.body_at.unwrap_or(one.place.bytes.start),
                holder: Holder::Loop(id),
            },
            place: one.place.clone(),
            header: one.header.clone(),
            share: cost.share,
            trips: cost.trips,
            known: cost.known,
            per_visit: cost.per_iteration,
            hot: cost.per_iteration < self.options.shortest_iteration,
            why: why.into(),
        }
    }

    fn add_loop(&mut self, id: LoopId, why: &str) -> bool {
        let site = self.site_in(id, why);
        self.try_add(site)
    }

    /// A recursion: before the statement that goes deeper, or in the loop around it.
    fn recursion(&mut self, function: FnId) {
        let group = self.costs.functions[function.0].group;
        if self.recursions.contains(&group) {
            return;
        }
        self.recursions.push(group);
        let mut members: Vec<FnId> = vec![function];
        let others = self.costs.functions.iter().enumerate();
        members.extend(
            others
                .filter(|(index, cost)| cost.group == group && *index != function.0)
                .map(|(index, _)| FnId(index)),
        );
        for member in members.into_iter().take(MOST_MEMBERS) {
            let inside = |id: &&crate::package::calls::CallId| {
                let call = self.analysis.graph.call(**id);
                let goes_deeper = |callee: &FnId| self.costs.functions[callee.0].group == group;
                call.trap.is_none() && call.callees.iter().any(goes_deeper)
            };
            let Some(first) = self.calls[member.0].iter().find(inside).copied() else {
                continue;
            };
            let call = self.analysis.graph.call(first);
            let item = self.analysis.items.function(member);
            let cost = self.costs.functions[member.0];
            let per_visit = cost.per_call / cost.depth;
            let site = PlacedSite {
                function: member,
                site: SitePlace {
                    at: call.statement_at,
                    holder: Holder::Recursion,
                },
                place: Place {
                    bytes: call.statement_at..call.place.bytes.end.max(call.statement_at),
                    ..call.place.clone()
                },
                header: format!("fn {}", item.name),
                share: cost.share,
                trips: cost.depth,
                known: false,
                per_visit,
                hot: per_visit < self.options.shortest_iteration,
                why: "the work is a recursion".into(),
            };
            if self.try_add(site) {
                return;
            }
            for id in self.analysis.graph.nest(call.within).into_iter().rev() {
                if self.analysis.graph.one_loop(id).can_hold() && self.add_loop(id, "the work is a recursion")
                {
                    return;
                }
            }
        }
    }

    /// The part of a function's cost that lies under a site.
    pub(super) fn coverage_of(&self, function: FnId) -> f64 {
        self.covered_part(function, &mut HashMap::new())
    }

    /// The same, with what is known of other functions so far; one that is being looked at counts as not reached.
    fn covered_part(&self, function: FnId, known: &mut HashMap<FnId, f64>) -> f64 {
        if let Some(part) = known.get(&function) {
            return *part;
        }
        let whole = |site: &PlacedSite| {
            site.function == function && matches!(site.site.holder, Holder::Recursion | Holder::User)
        };
        if self.chosen.iter().any(whole) {
            known.insert(function, 1.0);
            return 1.0;
        }
        known.insert(function, 0.0);
        let part = self.covered_work(&self.analysis.graph.bodies[function.0], known);
        known.insert(function, part);
        part
    }

    fn coverage_inside(&self, id: LoopId) -> f64 {
        if self.has_site(id) {
            return 1.0;
        }
        self.covered_work(&self.analysis.graph.one_loop(id).work, &mut HashMap::new())
    }

    fn covered_work(&self, work: &Work, known: &mut HashMap<FnId, f64>) -> f64 {
        let (mut all, mut reached) = (work.own, 0.0);
        for id in &work.loops {
            let cost = &self.costs.loops[id.0];
            let one = self.analysis.graph.one_loop(*id);
            let weight = cost.trips * cost.per_iteration * one.weight;
            all += weight;
            if self.has_site(*id) {
                reached += weight;
            } else if one.body_at.is_some() {
                reached += weight * self.covered_work(&one.work, known);
            }
        }
        for id in &work.calls {
            let call = self.analysis.graph.call(*id);
            for callee in &call.callees {
                let weight =
                    self.costs.functions[callee.0].per_call * call.weight / call.callees.len() as f64;
                all += weight;
                if call.trap.is_none() {
                    reached += weight * self.covered_part(*callee, known);
                }
            }
        }
        if all > 0.0 { reached / all } else { 0.0 }
    }
}

/// Counts the sites in a body.
struct Written(usize);

impl<'ast> Visit<'ast> for Written {
    fn visit_macro(&mut self, mac: &'ast syn::Macro) {
        if Marks::is_checkpoint(mac) {
            self.0 += 1;
        }
        visit::visit_macro(self, mac);
    }
    fn visit_item(&mut self, _: &'ast syn::Item) {}
}
