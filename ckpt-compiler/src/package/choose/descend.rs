//! From `main` inwards.

use super::{Chooser, Holder, PlacedSite, Reason, SitePlace};
use crate::marks::Marks;
use crate::package::calls::{Loop, LoopId, Work};
use crate::package::items::{Annotation, FnId, Place};
use syn::visit::{self, Visit};

/// Below this part of a region's cost, what has been found inside does not do.
const ENOUGH: f64 = 0.6;

/// Functions that lead to each other deeper than this are not followed.
const DEEPEST: usize = 64;

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
        self.function(self.main, true, 0);
        if self.coverage_of(self.main, &mut Vec::new()) < 0.5 {
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
            let reached = self.coverage_of(self.main, &mut Vec::new());
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

    fn function(&mut self, function: FnId, hot_will_do: bool, depth: usize) {
        if depth > DEEPEST || self.visited.contains(&function) {
            return;
        }
        self.visited.push(function);
        let work = &self.analysis.graph.bodies[function.0];
        if self.costs.functions[function.0].is_recursive() {
            self.work(work, false, depth);
            if self.coverage_of(function, &mut Vec::new()) < ENOUGH {
                self.recursion(function);
            }
        } else {
            self.work(work, hot_will_do, depth);
        }
    }

    /// The parts of a piece of work, costliest first.
    fn work(&mut self, work: &Work, hot_will_do: bool, depth: usize) {
        let mut regions: Vec<(f64, Region)> = Vec::new();
        for id in &work.loops {
            regions.push((self.costs.loops[id.0].share, Region::Loop(*id)));
        }
        for id in &work.calls {
            let call = self.analysis.graph.call(*id);
            if call.trap.is_some() {
                continue;
            }
            for callee in &call.callees {
                let share = self.costs.functions[callee.0].share;
                regions.push((share, Region::Function(*callee)));
            }
        }
        regions.retain(|(share, _)| *share >= self.options.least_share);
        regions.sort_by(|a, b| b.0.total_cmp(&a.0));
        for (_, region) in regions {
            match region {
                Region::Loop(id) => self.one_loop(id, hot_will_do, depth),
                Region::Function(id) => self.function(id, hot_will_do, depth + 1),
            }
        }
    }

    fn one_loop(&mut self, id: LoopId, hot_will_do: bool, depth: usize) {
        let one = self.analysis.graph.one_loop(id);
        let cost = self.costs.loops[id.0];
        let options = self.options;
        let too_long = cost.per_iteration > options.longest_iteration;
        let few = cost.known && cost.trips < options.fewest_trips;
        let coarse = too_long || (few && (cost.guessed || cost.per_iteration > 1e7));
        let hot = cost.per_iteration < options.shortest_iteration;
        if hot && (!hot_will_do || cost.share < options.least_hot_share) {
            let why = format!(
                "an iteration is so short (about {:.0} operations) that a site would show",
                cost.per_iteration
            );
            self.pass_over(one, &why);
            return;
        }
        if !coarse && one.can_hold() && self.add_loop(id, "the outermost loop with short iterations") {
            return;
        }
        if coarse {
            let why = if too_long {
                "an iteration takes longer than the time between checkpoints"
            } else {
                "it goes round only a few times"
            };
            self.pass_over(one, why);
        }
        self.work(&one.work, hot_will_do && too_long, depth);
        if coarse && one.can_hold() && self.coverage_inside(id) < ENOUGH {
            self.add_loop(id, "no loop inside it can hold a site that reaches most of it");
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
        let mut members: Vec<FnId> = vec![function];
        let others = self.costs.functions.iter().enumerate();
        members.extend(
            others
                .filter(|(index, cost)| cost.group == group && *index != function.0)
                .map(|(index, _)| FnId(index)),
        );
        for member in members {
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
    pub(super) fn coverage_of(&self, function: FnId, under_way: &mut Vec<FnId>) -> f64 {
        let whole = |site: &PlacedSite| {
            site.function == function && matches!(site.site.holder, Holder::Recursion | Holder::User)
        };
        if self.chosen.iter().any(whole) {
            return 1.0;
        }
        if under_way.contains(&function) || under_way.len() > DEEPEST {
            return 0.0;
        }
        under_way.push(function);
        let part = self.coverage_of_work(&self.analysis.graph.bodies[function.0], under_way);
        under_way.pop();
        part
    }

    fn coverage_inside(&self, id: LoopId) -> f64 {
        if self.has_site(id) {
            return 1.0;
        }
        self.coverage_of_work(&self.analysis.graph.one_loop(id).work, &mut Vec::new())
    }

    fn coverage_of_work(&self, work: &Work, under_way: &mut Vec<FnId>) -> f64 {
        let (mut all, mut reached) = (work.own, 0.0);
        for id in &work.loops {
            let cost = &self.costs.loops[id.0];
            let one = self.analysis.graph.one_loop(*id);
            let weight = cost.trips * cost.per_iteration * one.weight;
            all += weight;
            if self.has_site(*id) {
                reached += weight;
            } else if one.body_at.is_some() {
                reached += weight * self.coverage_of_work(&one.work, under_way);
            }
        }
        for id in &work.calls {
            let call = self.analysis.graph.call(*id);
            for callee in &call.callees {
                let weight =
                    self.costs.functions[callee.0].per_call * call.weight / call.callees.len() as f64;
                all += weight;
                if call.trap.is_none() {
                    reached += weight * self.coverage_of(*callee, under_way);
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
