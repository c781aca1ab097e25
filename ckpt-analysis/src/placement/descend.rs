//! From `main` inwards.

use super::parts::{Reach, Region};
use super::{Chooser, Holder, PlacedSite, Reason, SitePlace};
use crate::calls::{CallId, InBlocks, Loop, LoopId, LoopKind, Trap, Work};
use crate::cost::LoopCost;
use crate::diagnostics::Cause;
use crate::items::{Annotation, FnId, Function, SourceRange};
use crate::source::words::count_time;
use ckpt_compiler::parse::options::Options;
use ckpt_compiler::syntax::marks::Marks;
use ckpt_compiler::visit::{self, Visit};

/// Below this part of a region's cost, what has been found inside does not do.
const ENOUGH: f64 = 0.6;

/// Functions of a recursion that are tried for a site.
const MOST_MEMBERS: usize = 4;

/// Functions that lead to each other deeper than this are not followed.
const DEEPEST: usize = 64;

/// With no site at all, a loop with this share of the run is better than none.
const LAST_RESORT: f64 = 0.01;

/// More phases than this do not get a site each.
const MOST_PHASES: usize = 40;

/// The part of the work that phases make up together which are small each.
const MOST: f64 = 0.6;

/// A coarse loop with a smaller share of the run is let be.
const SMALL: f64 = 0.1;

/// Operations of the longest run that guesses are believed to come to: some hours.
const LONGEST_RUN: f64 = 1e13;

/// With fewer visits in the whole run, a loop is coarse if nobody knows how long an iteration takes.
const FEW_VISITS: f64 = 100.0;

/// The part of an iteration that an inner loop has which stands for it.
const NEARLY_ALL: f64 = 0.9;

/// Operations of an iteration at which the test of a site is nothing.
pub(super) const WORTHWHILE: f64 = 1e3;

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
            if written_in(&one.item.block) == 0 && !is_chosen_by_attribute(one) {
                continue;
            }
            let cost = self.costs.functions[one.id.0];
            self.chosen.push(PlacedSite {
                function: one.id,
                site: SitePlace {
                    at: one.body_at,
                    holder: Holder::User,
                    wraps: None,
                },
                place: one.place.clone(),
                header: format!("fn {}", one.name),
                share: cost.share,
                trips: 1.0,
                known: false,
                per_visit: cost.per_call,
                measured: cost.seen.is_some(),
                hot: false,
                quick: false,
                why: "written by the user".into(),
                safe: None,
            });
        }
        self.written = !self.chosen.is_empty();
        self.check_sites_of_the_user();
    }

    /// Chooses, beginning in `main`.
    pub(super) fn descend(&mut self) {
        if self.written {
            return;
        }
        let start = Reach {
            times: 1.0,
            whole: self.costs.total,
            least: self.options.least_share,
            in_loop: false,
            hot_will_do: true,
            depth: 0,
        };
        self.function(self.main, start);
        if self.chosen.is_empty() && !self.options.refused.is_empty() {
            self.rest_of_main();
        }
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
            let least = if self.chosen.is_empty() {
                LAST_RESORT
            } else {
                self.options.least_share
            };
            if reached >= 0.5 || share < least {
                return;
            }
            if self.covered(Some(id)) || self.is_one_turn(id) {
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

    pub(super) fn has_site(&self, id: LoopId) -> bool {
        self.chosen
            .iter()
            .any(|site| site.site.holder.in_loop() == Some(id))
    }

    fn function(&mut self, function: FnId, at: Reach) {
        let seen = |one: &(FnId, bool)| one.0 == function && (one.1 || !at.hot_will_do);
        if at.depth > DEEPEST || self.visited.iter().any(seen) {
            return;
        }
        self.visited.push((function, at.hot_will_do));
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

    fn work(&mut self, work: &Work, at: Reach) {
        let parts = self.regions(work, at.times);
        let parts: Vec<_> = parts.iter().map(|part| part.measured(&parts, at)).collect();
        self.parts(parts, at.least);
    }

    /// Goes into the parts that are large enough.
    pub(super) fn parts(&mut self, parts: Vec<(Region, f64, Reach)>, least: f64) {
        let least = least.min(least_of_many(&parts));
        for (region, share, at) in parts {
            if share < least {
                continue;
            }
            let at = Reach { least, ..at };
            match region {
                Region::Loop(id) => self.one_loop(id, share, at),
                Region::Function(id) => {
                    let depth = at.depth + 1;
                    self.function(id, Reach { depth, ..at });
                }
            }
        }
    }

    fn one_loop(&mut self, id: LoopId, share: f64, at: Reach) {
        let one = self.analysis.graph.one_loop(id);
        let cost = self.costs.loops[id.0];
        let options = self.options;
        if !one.can_hold() {
            self.pass_over_closure(one, share);
            return;
        }
        if self.goes_deeper(id) && cost.per_iteration < 10.0 * WORTHWHILE * self.depth_of(one.function) {
            return;
        }
        let counts_time = count_time(&one.header);
        let longest = options.longest(counts_time, &cost);
        let too_long = self.believed(cost) > longest;
        let coarse = too_long || options.is_few(&cost);
        if one.in_blocks.is_some() {
            // Nothing inside can hold one.
            self.add_loop(id, "");
            if self.is_one_block(id) {
                self.pass_over(
                    one,
                    "inside an item no site can be, and all of its few items may be in work at once",
                );
            }
            return;
        }
        if cost.per_iteration < options.shortest(cost.guessed)
            && (!at.hot_will_do || share < options.least_hot_share)
        {
            let why = format!(
                "an iteration is so short (about {:.0} operations) that a site would show",
                cost.per_iteration
            );
            self.pass_over(one, &why);
            return;
        }
        if coarse && share < (2.0 * at.least).min(SMALL) {
            return;
        }
        if coarse {
            let why = if too_long {
                "an iteration takes longer than the time between checkpoints"
            } else {
                "it goes round only a few times"
            };
            self.pass_over(one, why);
        } else {
            if !counts_time && self.add_time_loop_inside(id) {
                return;
            }
            if self.has_finer_inside(id, share, at) {
                return;
            }
            if self.add_loop(id, "the outermost loop with short iterations") {
                return;
            }
        }
        let inside = Reach {
            times: at.times * cost.trips,
            in_loop: true,
            hot_will_do: at.hot_will_do && too_long,
            ..at
        };
        self.work(&one.work, inside);
        if coarse && !self.is_one_turn(id) && self.coverage_inside(id) < ENOUGH {
            self.add_loop(id, "no loop inside it can hold a site that reaches most of it");
        }
    }

    /// A site in the loop inside that has the same work and more visits, if a few iterations are all of a recursion: how
    /// long that takes nobody can say, and a site in each of them would be visited with minutes in between.
    fn has_finer_inside(&mut self, id: LoopId, share: f64, at: Reach) -> bool {
        let (graph, cost) = (&self.analysis.graph, self.costs.loops[id.0]);
        let is_coarse = cost.known && cost.seen.is_none() && at.times * cost.trips < FEW_VISITS;
        let outer = graph.one_loop(id);
        if !is_coarse || !self.is_mostly_recursion(&outer.work, cost.per_iteration, DEEPEST) {
            return false;
        }
        let inner = outer.work.loops.iter().copied().find(|inner| {
            let (one, inside) = (graph.one_loop(*inner), self.costs.loops[inner.0]);
            let all = one.weight * inside.trips * inside.per_iteration;
            one.can_hold()
                && inside.trips > 1.0
                && all >= NEARLY_ALL * cost.per_iteration
                && inside.per_iteration >= WORTHWHILE
        });
        let Some(inner) = inner else {
            return false;
        };
        let inside = Reach {
            times: at.times * cost.trips,
            in_loop: true,
            ..at
        };
        self.one_loop(inner, share, inside);
        if self.coverage_inside(id) < ENOUGH {
            return false;
        }
        let why = "a loop inside it has the same work in shorter parts, and how long these are hangs on a recursion";
        self.pass_over(self.analysis.graph.one_loop(id), why);
        true
    }

    /// Whether the greater part of the operations of a piece of work is in calls of functions that call themselves.
    fn is_mostly_recursion(&self, work: &Work, operations: f64, depth: usize) -> bool {
        let parts = self.regions(work, 1.0);
        parts.first().is_some_and(|part| {
            let of_most = part.operations > 0.5 * operations && depth > 0;
            of_most
                && match part.region {
                    Region::Loop(id) => {
                        let inside = &self.analysis.graph.one_loop(id).work;
                        self.is_mostly_recursion(inside, self.costs.loops[id.0].per_iteration, depth - 1)
                    }
                    Region::Function(id) => {
                        let cost = self.costs.functions[id.0];
                        let inside = &self.analysis.graph.bodies[id.0];
                        cost.is_recursive() || self.is_mostly_recursion(inside, cost.per_call, depth - 1)
                    }
                }
        })
    }

    /// Whether the loop is known to go round once in the whole run: at a site in it nothing has been done yet.
    fn is_one_turn(&self, id: LoopId) -> bool {
        let cost = self.costs.loops[id.0];
        cost.known && cost.total <= 1.001 * cost.per_iteration
    }

    /// Operations of an iteration. Guesses that come to more than a program runs are taken for less.
    fn believed(&self, cost: LoopCost) -> f64 {
        match cost.guessed {
            true => cost.per_iteration * (LONGEST_RUN / self.costs.total).min(1.0),
            false => cost.per_iteration,
        }
    }

    fn depth_of(&self, function: FnId) -> f64 {
        self.costs.functions[function.0].depth
    }

    /// Whether a call in the loop leads back to the function: a site there would be visited for every level.
    fn goes_deeper(&self, id: LoopId) -> bool {
        let graph = &self.analysis.graph;
        let one = graph.one_loop(id);
        let group = self.costs.functions[one.function.0].group;
        if self.depth_of(one.function) <= 1.0 {
            return false;
        }
        self.calls[one.function.0].iter().any(|call| {
            let call = graph.call(*call);
            let inside = graph.nest(call.within).contains(&id);
            let deeper = |callee: &FnId| self.costs.functions[callee.0].group == group;
            inside && call.callees.iter().any(deeper)
        })
    }

    /// A loop that is none: the closure of `.for_each(..)`, or a loop in one.
    fn pass_over_closure(&mut self, one: &Loop, share: f64) {
        if share < self.options.least_hot_share || one.kind == LoopKind::Closure {
            return;
        }
        let loop_is = match &one.kind {
            LoopKind::Each(name) => format!("the iterations are calls of the closure of `.{name}(..)`"),
            _ => match &one.trap {
                Some(Trap::Pool) => format!("it is inside {}", Trap::Pool),
                _ => "it is inside a closure".to_owned(),
            },
        };
        let way_out = match &one.trap {
            Some(trap @ Trap::Pool) => trap.instead(),
            _ => "write a `for` loop in the function's own body, around it or in its place",
        };
        let reason = Reason {
            function: one.function,
            line: Some(one.place.line),
            cause: Cause::Closure { loop_is, way_out },
        };
        let site = self.site_in(one.id, "");
        self.reject(&site, vec![reason]);
    }

    pub(super) fn pass_over(&mut self, one: &Loop, why: &str) {
        if !one.can_hold() {
            return;
        }
        let site = self.site_in(one.id, "");
        let reason = Reason {
            function: one.function,
            line: Some(one.place.line),
            cause: Cause::NotWanted(why.into()),
        };
        self.reject(&site, vec![reason]);
    }

    pub(super) fn site_in(&self, id: LoopId, why: &str) -> PlacedSite {
        let one = self.analysis.graph.one_loop(id);
        let cost = self.costs.loops[id.0];
        PlacedSite {
            function: one.function,
            site: SitePlace {
                at: one.body_at.unwrap_or(one.place.bytes.start),
                holder: Holder::Loop(id),
                wraps: one.wraps,
            },
            place: one.place.clone(),
            header: one.header.clone(),
            share: cost.share,
            trips: cost.trips,
            known: cost.known,
            per_visit: cost.per_iteration,
            measured: cost.seen.is_some() && !cost.guessed,
            hot: one.in_blocks.is_none() && cost.per_iteration < self.options.shortest(cost.guessed),
            quick: one.in_blocks.is_none() && one.wraps.is_none() && self.options.is_quick(&cost),
            why: one
                .in_blocks
                .map_or_else(|| why.into(), |what| between_blocks(what).into()),
            safe: None,
        }
    }

    /// A site at the start of a loop's body, or at the next statement in it that no message crosses.
    pub(super) fn add_loop(&mut self, id: LoopId, why: &str) -> bool {
        let site = self.site_in(id, why);
        if self.try_add(site.clone()) {
            return true;
        }
        for (mut moved, line) in self.safe_places(id, &site) {
            moved.why = format!(
                "{why}; at the start of its body a message may be on its way, before line {line} none is"
            );
            if self.try_add(moved) {
                return true;
            }
        }
        self.add_phase(id, site)
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
            let inside = |id: &&CallId| {
                let call = self.analysis.graph.call(**id);
                let goes_deeper = |callee: &FnId| self.costs.functions[callee.0].group == group;
                call.trap.is_none() && call.callees.iter().any(goes_deeper)
            };
            let deeper = self.calls[member.0].iter().copied();
            let mut deeper: Vec<CallId> = deeper.filter(|id| inside(&id)).collect();
            // A branch that is hardly ever taken would leave the rest without a visit.
            let times = |id: &CallId| {
                let call = self.analysis.graph.call(*id);
                let nest = self.analysis.graph.nest(call.within).into_iter();
                call.weight * nest.map(|id| self.costs.loops[id.0].trips).product::<f64>()
            };
            deeper.sort_by(|one, other| times(other).total_cmp(&times(one)));
            let Some(most) = deeper.first().copied() else {
                continue;
            };
            let call = self.analysis.graph.call(most);
            let item = self.analysis.items.function(member);
            let cost = self.costs.functions[member.0];
            let per_visit = cost.per_call / cost.depth;
            let site = PlacedSite {
                function: member,
                site: SitePlace {
                    at: call.statement_at,
                    holder: Holder::Recursion,
                    wraps: None,
                },
                place: SourceRange {
                    bytes: call.statement_at..call.place.bytes.end.max(call.statement_at),
                    line: call.statement_line,
                    ..call.place.clone()
                },
                header: format!("fn {}", item.name),
                share: cost.share,
                trips: cost.depth,
                known: false,
                per_visit,
                measured: cost.seen.is_some(),
                hot: per_visit < self.options.shortest_iteration,
                quick: false,
                why: "the work is a recursion".into(),
                safe: None,
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
}

/// Where the work is in many small parts: the share of the smallest of those that make up most of it.
fn least_of_many(parts: &[(Region, f64, Reach)]) -> f64 {
    let mut shares: Vec<f64> = parts.iter().map(|(_, share, _)| *share).collect();
    shares.sort_by(|a, b| b.total_cmp(a));
    let all: f64 = shares.iter().sum();
    let mut sum = 0.0;
    for share in shares.into_iter().take(MOST_PHASES) {
        sum += share;
        if sum >= MOST * all {
            return share;
        }
    }
    f64::INFINITY
}

/// Counts the sites in a body.
/// How many sites the user has put there.
pub(super) fn written_in(block: &syn::Block) -> usize {
    let mut finder = Written(0);
    finder.visit_block(block);
    finder.0
}

/// Whether the attribute of a function chooses the loop: with neither a site nor a marked call in it.
pub(super) fn is_chosen_by_attribute(function: &Function) -> bool {
    let (arguments, opens_session) = match &function.annotation {
        Annotation::Main(arguments) => (arguments, true),
        Annotation::Instrument(arguments) => (arguments, false),
        Annotation::None => return false,
    };
    let options = arguments
        .parse()
        .ok()
        .and_then(|arguments| Options::parse(arguments, opens_session).ok());
    options.is_some_and(|options| options.calls.is_empty()) && written_in(&function.item.block) == 0
}

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

/// Why a site stands in the closure of a parallel iterator, and what comes of it.
fn between_blocks(what: InBlocks) -> &'static str {
    match what {
        InBlocks::Exact => "between blocks of its items, of about a quarter of a second each",
        InBlocks::OfParts => {
            "between blocks of its items, of about a quarter of a second each; of floats, what they come to may differ in its \
             last digits from run to run, as without ckpt"
        }
    }
}
