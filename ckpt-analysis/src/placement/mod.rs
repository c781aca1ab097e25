//! Where the sites go: the loops that together reach almost all of the run time, and the functions that lead to them.
//!
//! From `main` inwards: the outermost loop whose iteration is short against the time between checkpoints, and which goes
//! round more than a few times. Where a loop is too coarse, the choice goes on inside; where no site can be expressed,
//! inside and then outside. Phases that follow each other get one each.

pub mod analysis;
pub mod asked;
pub mod behind;
mod coverage;
mod descend;
mod dropped;
pub mod expressible;
mod parts;
mod rest;
mod route;
mod safe;
mod show;
mod state_in_use;
pub mod team_size;
mod teams;
mod time_loops;

use crate::Analysis;
use crate::calls::{CallId, LoopId, Wrapped};
use crate::cost::{Costs, LoopCost};
use crate::diagnostics::{Cause, RustcObstacle};
use crate::items::{FnId, SourceRange};
use crate::source::Position;
use ckpt_compiler::diagnostics::Diagnostic;
use ckpt_compiler::syntax::marks::SiteSort;
use ckpt_safepoints::SafePoints;
use proc_macro2::Span;
use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

/// Sites that reach less than this part of what a refused one would have reached leave too much outside.
const LEAST_OF_WANTED: f64 = 0.5;

/// Operations above which the iterations of a loop that goes round a few times are long.
const FEW_ARE_LONG: f64 = 1e7;

/// What a choice is measured by.
#[derive(Debug, Clone, PartialEq)]
pub struct ChooseOptions {
    /// An iteration of more operations than this is too long: a checkpoint would wait for it. About one per nanosecond.
    pub longest_iteration: f64,
    /// The same where a part of the estimate is a guess.
    pub longest_guess: f64,
    /// The same for a loop over time steps, whose iterations are what one would wait for.
    pub longest_time_step: f64,
    /// The same where it was measured, in nanoseconds.
    pub longest_measured: f64,
    /// An iteration of fewer operations is quick: most run in a copy of the loop's body without the site.
    pub quick_iteration: f64,
    /// The same where the trips of a loop inside are a guess: it is for how many operations the text may be at most.
    pub quick_guess: f64,
    /// An iteration of fewer operations is too hot: the test at the site would show.
    pub shortest_iteration: f64,
    /// A loop that is known to go round fewer times is too coarse if its iterations are not short.
    pub fewest_trips: f64,
    /// A phase with less than this share of the run gets no site.
    pub least_share: f64,
    /// A hot loop with less than this share of the run gets none.
    pub least_hot_share: f64,
    /// Places that must not be taken, by file and byte: rustc has found that no site can stand there; why, and what that is about.
    pub refused: BTreeMap<(usize, usize), (RustcObstacle, Position)>,
    /// How many ranks the program is run with; otherwise several numbers are tried.
    pub ranks: Option<usize>,
}

impl Default for ChooseOptions {
    fn default() -> Self {
        Self {
            longest_iteration: 2e9,
            longest_guess: 1e10,
            longest_time_step: 1e14,
            longest_measured: 1e10,
            shortest_iteration: 300.0,
            quick_iteration: 2e3,
            quick_guess: 2e5,
            fewest_trips: 6.0,
            least_share: 0.05,
            least_hot_share: 0.25,
            refused: BTreeMap::new(),
            ranks: None,
        }
    }
}

impl ChooseOptions {
    /// With a loop inside whose trips are a guess, an iteration is most likely longer than the estimate.
    fn shortest(&self, guessed: bool) -> f64 {
        let part = if guessed { 0.2 } else { 1.0 };
        part * self.shortest_iteration
    }

    fn is_quick(&self, cost: &LoopCost) -> bool {
        let limit = match cost.guessed {
            true => self.quick_guess,
            false => self.quick_iteration,
        };
        cost.per_iteration < limit
    }

    /// Whether a loop goes round only a few times, in long iterations.
    fn is_few(&self, cost: &LoopCost) -> bool {
        cost.trips < self.fewest_trips && (cost.guessed || cost.per_iteration > FEW_ARE_LONG)
    }

    fn longest(&self, counts_time: bool, cost: &LoopCost) -> f64 {
        match (counts_time, cost.guessed) {
            (true, true) => self.longest_time_step,
            (false, true) => self.longest_guess,
            (_, false) if cost.seen.is_some() => self.longest_measured,
            (_, false) => self.longest_iteration,
        }
    }
}

/// What a site stands in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Holder {
    /// The first statement of a loop's body.
    Loop(LoopId),
    /// Before another statement of a loop's body.
    Inside(LoopId),
    /// The first statement of the body of a loop without messages, which ranks go round unequally often.
    Phase(LoopId),
    /// Behind such a loop.
    PhaseEnd(LoopId),
    /// Before the statement that leads into the recursion.
    Recursion,
    /// Written by the user.
    User,
}

impl Holder {
    /// The loop whose body it stands in.
    pub fn in_loop(self) -> Option<LoopId> {
        match self {
            Self::Loop(id) | Self::Inside(id) | Self::Phase(id) => Some(id),
            Self::PhaseEnd(_) | Self::Recursion | Self::User => None,
        }
    }

    /// What the site is to the ranks of a program.
    pub fn sort(self) -> SiteSort {
        match self {
            Self::Phase(_) => SiteSort::Phase,
            Self::PhaseEnd(_) => SiteSort::PhaseEnd,
            _ => SiteSort::Common,
        }
    }

    /// Whether the site goes before a statement, and not just behind a brace.
    pub fn before_statement(self) -> bool {
        matches!(self, Self::Recursion | Self::Inside(_))
    }
}

/// A place for a site.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SitePlace {
    /// The byte of the file where the statement goes.
    pub at: usize,
    /// What it stands in.
    pub holder: Holder,
    /// The end of the expression that it is put in front of, where that has no braces: the body of a closure.
    pub wraps: Option<Wrapped>,
}

/// A function as it would be instrumented.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Candidate {
    /// The function.
    pub function: FnId,
    /// Whether it opens the session.
    pub opens_session: bool,
    /// Its sites, in their order.
    pub sites: Vec<SitePlace>,
    /// What `calls(..)` names.
    pub calls: Vec<String>,
}

/// A chosen site.
#[derive(Debug, Clone)]
pub struct PlacedSite {
    /// The function that holds it.
    pub function: FnId,
    /// Where it goes.
    pub site: SitePlace,
    /// The place of the loop or the statement.
    pub place: SourceRange,
    /// The loop's first line.
    pub header: String,
    /// Of the whole run, 0 to 1.
    pub share: f64,
    /// Iterations each time that the loop is reached.
    pub trips: f64,
    /// Whether that is certain.
    pub known: bool,
    /// Operations between two visits.
    pub per_visit: f64,
    /// Whether they were measured, and are nanoseconds.
    pub measured: bool,
    /// Whether the test at the site may show.
    pub hot: bool,
    /// Whether iterations are so short that most of them are to run in a copy of the loop's body without the site.
    pub quick: bool,
    /// Why here.
    pub why: String,
    /// Why no message between processes crosses it; nothing where the program passes none.
    pub safe: Option<String>,
}

impl PlacedSite {
    /// What the site is to the ranks of a program, and whether the loop that it begins has quick iterations.
    pub fn sort(&self) -> SiteSort {
        match self.site.holder {
            Holder::Loop(_) if self.quick && self.safe.is_none() => SiteSort::Short,
            holder => holder.sort(),
        }
    }
}

/// A name for `calls(..)`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MarkedName {
    /// The name or path.
    pub name: String,
    /// The calls that it is meant for.
    pub calls: Vec<CallId>,
    /// Others of the same name that it marks too, though they lead to no site.
    pub also: Vec<CallId>,
}

/// A function that has to be instrumented.
#[derive(Debug, Clone)]
pub struct PlacedFunction {
    /// The function.
    pub function: FnId,
    /// Whether it gets `#[ckpt::main]`.
    pub opens_session: bool,
    /// Whether the user has annotated it: it is kept as it is.
    pub by_user: bool,
    /// What `calls(..)` names.
    pub calls: Vec<MarkedName>,
    /// Its sites: indices into [`Placement::sites`].
    pub sites: Vec<usize>,
}

/// A loop that was wanted and not taken.
#[derive(Debug, Clone)]
pub struct Rejected {
    /// The function.
    pub function: FnId,
    /// The loop or statement.
    pub place: SourceRange,
    /// The loop's first line.
    pub header: String,
    /// Of the whole run, 0 to 1.
    pub share: f64,
    /// Why not.
    pub reasons: Vec<Reason>,
}

impl Rejected {
    /// Whether a site was put there and rustc would not have it.
    pub fn by_rustc(&self) -> bool {
        self.reasons
            .iter()
            .any(|one| matches!(one.cause, Cause::Rustc { .. }))
    }
}

/// Why a site was not possible.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reason {
    /// The function that cannot be instrumented.
    pub function: FnId,
    /// The line of its file, if there is one to show.
    pub line: Option<usize>,
    /// Why.
    pub cause: Cause,
}

/// What is to be done.
#[derive(Debug, Clone, Default)]
pub struct Placement {
    /// The functions, `main` first.
    pub functions: Vec<PlacedFunction>,
    /// The sites.
    pub sites: Vec<PlacedSite>,
    /// Loops that were wanted and not taken.
    pub rejected: Vec<Rejected>,
    /// The share of the run that the sites reach, 0 to 1, as far as estimates go.
    pub coverage: f64,
    /// The estimates.
    pub costs: Costs,
}

impl Placement {
    /// Whether most of the run, as far as a site was wanted in it, has none.
    pub fn leaves_most_outside(&self) -> bool {
        let wanted = self.rejected.iter().map(|one| one.share).fold(0.0, f64::max);
        self.coverage < wanted * LEAST_OF_WANTED
    }

    /// The loops in which a site was meant to be, and in which rustc will not have it: those that are not inside another one.
    pub fn refused_by_rustc(&self) -> Vec<&Rejected> {
        let all: Vec<&Rejected> = self.rejected.iter().filter(|one| one.by_rustc()).collect();
        let is_inside = |one: &Rejected| {
            let around = |other: &&&Rejected| {
                let (inner, outer) = (&one.place, &other.place);
                inner.file == outer.file
                    && inner.bytes != outer.bytes
                    && outer.bytes.start <= inner.bytes.start
                    && inner.bytes.end <= outer.bytes.end
            };
            all.iter().any(|other| around(&other))
        };
        all.iter().copied().filter(|one| !is_inside(one)).collect()
    }

    /// The functions as candidates, as they were verified.
    pub fn candidates(&self) -> Vec<Candidate> {
        let candidate = |one: &PlacedFunction| Candidate {
            function: one.function,
            opens_session: one.opens_session,
            sites: one.sites.iter().map(|index| self.sites[*index].site).collect(),
            calls: one.calls.iter().map(|name| name.name.clone()).collect(),
        };
        self.functions.iter().map(candidate).collect()
    }

    /// The innermost of them around a place.
    pub(crate) fn candidate_around(&self, analysis: &Analysis, place: Position) -> Option<Candidate> {
        let of = |candidate: &Candidate| &analysis.items.function(candidate.function).place;
        let around = { self.candidates().into_iter() }.filter(|candidate| {
            let function = of(candidate);
            function.file == place.0 && function.bytes.contains(&place.1)
        });
        around.min_by_key(|candidate| of(candidate).bytes.len())
    }
}

/// Says whether a function can be instrumented as proposed.
pub type CanHold<'a> = dyn FnMut(&Candidate) -> Result<(), Vec<Diagnostic>> + 'a;

/// Chooses the sites of a program that begins in `main`.
pub fn choose(
    analysis: &Analysis,
    main: FnId,
    options: &ChooseOptions,
    can_hold: &mut CanHold<'_>,
) -> Placement {
    if main.0 >= analysis.items.functions.len() {
        return Placement::default();
    }
    let costs = analysis.costs(main);
    let mut chooser = Chooser {
        analysis,
        costs,
        main,
        options,
        can_hold,
        callers: route::callers(analysis),
        calls: analysis.graph.calls_by_function(),
        reachable: route::reachable(analysis, main),
        chosen: Vec::new(),
        rejected: Vec::new(),
        verified: HashMap::new(),
        visited: Vec::new(),
        recursions: Vec::new(),
        attempts: 0,
        written: false,
        points: analysis.safe_points(main, options.ranks),
    };
    chooser.sites_of_the_user();
    chooser.descend();
    chooser.finish()
}

/// Sites that are tried: each costs a walk over the program.
const MOST_ATTEMPTS: usize = 200;

struct Chooser<'a, 'b> {
    analysis: &'a Analysis,
    costs: Costs,
    main: FnId,
    options: &'a ChooseOptions,
    can_hold: &'a mut CanHold<'b>,
    /// The calls that lead to each function.
    callers: Vec<Vec<CallId>>,
    /// The calls that each function makes.
    calls: Vec<Vec<CallId>>,
    reachable: Vec<bool>,
    chosen: Vec<PlacedSite>,
    rejected: Vec<Rejected>,
    verified: HashMap<Candidate, Result<(), Vec<Reason>>>,
    /// The functions gone into, and whether very hot loops would have done.
    visited: Vec<(FnId, bool)>,
    /// The groups of functions that call each other which have been tried.
    recursions: Vec<usize>,
    attempts: usize,
    /// Whether the user has put sites into the source.
    written: bool,
    /// Of a program that passes messages.
    points: Option<Rc<SafePoints>>,
}

impl Chooser<'_, '_> {
    /// Takes a site, if all functions that lead to it can be instrumented.
    fn try_add(&mut self, site: PlacedSite) -> bool {
        if self
            .chosen
            .iter()
            .any(|one| one.function == site.function && one.site == site.site)
        {
            return true;
        }
        self.attempts += 1;
        if self.attempts > MOST_ATTEMPTS {
            return false;
        }
        let mut sites = self.chosen.clone();
        sites.push(site);
        let Some(new) = sites.last() else { return false };
        let mut result = self
            .not_refused(new)
            .and_then(|()| self.not_below_destructor(new))
            .and_then(|()| self.is_safe_point(&sites))
            .and_then(|safe| self.verify(&sites).map(|()| safe));
        if let Err(reasons) = &result
            && let Some(companions) = self.companions(reasons)
        {
            let with_them = [companions, sites.clone()].concat();
            let together = self.verify(&with_them);
            match together {
                Ok(()) => (sites, result) = (with_them, Ok(None)),
                Err(reasons) => result = Err(reasons),
            }
        }
        match result {
            Ok(safe) => {
                if let Some(new) = sites.last_mut() {
                    new.safe = safe;
                }
                self.chosen = sites;
                true
            }
            Err(reasons) => {
                if let Some(site) = sites.pop() {
                    self.reject(&site, reasons);
                }
                false
            }
        }
    }

    /// Takes a site in a loop without messages, with one behind it where the ranks wait for each other.
    fn add_phase(&mut self, id: LoopId, inside: PlacedSite) -> bool {
        let one = self.analysis.graph.one_loop(id);
        let (Some(points), Some(body_at)) = (&self.points, one.body_at) else {
            return false;
        };
        let Some(end) = points.behind_quiet(one.function.0, body_at) else {
            return false;
        };
        self.attempts += 1;
        if self.attempts > MOST_ATTEMPTS || one.wraps.is_some() || one.in_blocks.is_some() {
            return false;
        }
        let site = |at: usize, holder: Holder| PlacedSite {
            site: SitePlace {
                at,
                holder,
                wraps: None,
            },
            ..inside.clone()
        };
        let behind = PlacedSite {
            trips: 1.0,
            per_visit: inside.per_visit * inside.trips,
            hot: false,
            why: "behind the loop in which each rank takes its own: they wait for each other here".into(),
            ..site(end, Holder::PhaseEnd(id))
        };
        let within = PlacedSite {
            why: format!(
                "{}; no message is exchanged in it, and each rank goes round as often as it does",
                inside.why
            ),
            ..site(body_at, Holder::Phase(id))
        };
        let mut sites = self.chosen.clone();
        sites.extend([within, behind]);
        let result = self
            .not_refused(&inside)
            .and_then(|()| self.not_below_destructor(&inside))
            .and_then(|()| self.is_safe_point(&sites))
            .and_then(|safe| self.verify(&sites).map(|()| safe));
        let Ok(Some(safe)) = result else { return false };
        let new = sites.len() - 2;
        sites[new].safe =
            Some("no message is exchanged in the loop, and none crosses the line behind it".into());
        sites[new + 1].safe = Some(safe);
        self.chosen = sites;
        true
    }

    fn not_refused(&self, site: &PlacedSite) -> Result<(), Vec<Reason>> {
        match self.options.refused.get(&(site.place.file.0, site.site.at)) {
            None => Ok(()),
            Some((obstacle, place)) => Err(vec![Reason {
                function: site.function,
                line: Some(site.place.line),
                cause: Cause::Rustc {
                    obstacle: Box::new(obstacle.clone()),
                    place: *place,
                },
            }]),
        }
    }

    fn reject(&mut self, site: &PlacedSite, reasons: Vec<Reason>) {
        let same = |one: &&mut Rejected| one.place == site.place && one.function == site.function;
        if let Some(known) = self.rejected.iter_mut().find(same) {
            let is_obstacle = |one: &Reason| one.cause.is_obstacle();
            // That it was passed over for its cost says less than why it cannot be after all.
            if !known.reasons.iter().any(is_obstacle) && reasons.iter().any(is_obstacle) {
                known.reasons = reasons;
            }
            return;
        }
        self.rejected.push(Rejected {
            function: site.function,
            place: site.place.clone(),
            header: site.header.clone(),
            share: site.share,
            reasons,
        });
    }

    fn verify(&mut self, sites: &[PlacedSite]) -> Result<(), Vec<Reason>> {
        let functions = self.route(sites)?;
        let mut reasons = Vec::new();
        for one in functions.iter().filter(|one| !one.by_user) {
            let mut places: Vec<SitePlace> = one.sites.iter().map(|index| sites[*index].site).collect();
            places.sort_unstable();
            let candidate = Candidate {
                function: one.function,
                opens_session: one.opens_session,
                sites: places,
                calls: one.calls.iter().map(|name| name.name.clone()).collect(),
            };
            if let Err(more) = self.holds(candidate) {
                reasons.extend(more);
            }
        }
        if reasons.is_empty() { Ok(()) } else { Err(reasons) }
    }

    fn holds(&mut self, candidate: Candidate) -> Result<(), Vec<Reason>> {
        if let Some(known) = self.verified.get(&candidate) {
            return known.clone();
        }
        let function = candidate.function;
        let line = |span: Span| Some(span.start().line).filter(|line| *line > 0);
        let reason = |one: Diagnostic| Reason {
            function,
            line: line(one.place),
            cause: Cause::Refused(one.refusal),
        };
        let result = (self.can_hold)(&candidate).map_err(|list| list.into_iter().map(reason).collect());
        self.verified.insert(candidate, result.clone());
        result
    }

    /// Loops that rustc has refused and that were not tried again.
    fn refused_before(&mut self) {
        let loops = self.analysis.graph.loops.iter();
        let known = loops.filter(|one| {
            let at = (one.place.file.0, one.body_at.unwrap_or(usize::MAX));
            self.options.refused.contains_key(&at) && !self.has_site(one.id)
        });
        let known: Vec<LoopId> = known.map(|one| one.id).collect();
        for id in known {
            let site = self.site_in(id, "");
            if let Err(reasons) = self.not_refused(&site) {
                self.reject(&site, reasons);
            }
        }
    }

    fn finish(mut self) -> Placement {
        self.refused_before();
        // A loop that has its site at another statement is not refused.
        let chosen: Vec<_> = self
            .chosen
            .iter()
            .map(|one| (one.function, one.place.clone()))
            .collect();
        let in_one_block: Vec<_> = { self.chosen.iter() }
            .filter(|one| one.site.holder.in_loop().is_some_and(|id| self.is_one_block(id)))
            .map(|one| one.place.clone())
            .collect();
        self.rejected.retain(|one| {
            in_one_block.contains(&one.place) || !chosen.contains(&(one.function, one.place.clone()))
        });
        self.chosen.sort_by_key(|site| (site.place.file, site.site.at));
        let functions = self.route(&self.chosen).unwrap_or_default();
        Placement {
            coverage: self.coverage_of(self.main),
            functions,
            sites: self.chosen,
            rejected: self.rejected,
            costs: self.costs,
        }
    }
}
