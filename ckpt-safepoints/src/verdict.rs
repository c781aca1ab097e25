//! What is said of a site: safe, and for which numbers of ranks, or what stands in the way.

use crate::explorer::state::{Subject, Violation};
use crate::explorer::{Explorer, Found, PRECISIONS, WIDE};
use crate::machine::way_out::WayOut;
use crate::models::CommModel;
use crate::skeleton::regions::Regions;
use crate::skeleton::{Boundary, CallOp, Op, Skeleton, SourcePlace, Unseen};
use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt;
use std::rc::Rc;

/// Numbers of ranks that are tried where none is given.
const COUNTS: [usize; 6] = [1, 2, 3, 4, 5, 8];

/// Why a site is a safe point.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Safe {
    /// The numbers of ranks for which it has been shown.
    pub ranks: Vec<usize>,
    /// Those for which no rank comes to it.
    pub idle: Vec<usize>,
    /// Those with which there is too much to try.
    pub untried: Vec<usize>,
    /// Whether messages from any rank were tried in all orders.
    pub any_source: bool,
    /// Whether loops were followed to any length, and not only as far as their numbers go.
    pub for_any_length: bool,
    /// Whether a few turns between two visits stand for all of some loop.
    pub few_turns: bool,
    /// Whether the user vouches for it, and it has not been looked at.
    pub vouched: bool,
}

/// What stands in the way of a safe point.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Obstacle {
    /// The call, or where it is not known what is done.
    pub place: Option<SourcePlace>,
    /// The name of the call.
    pub call: String,
    /// The numbers of ranks for which it stands in the way.
    pub ranks: Box<[usize]>,
    /// Why.
    pub why: String,
    /// What can be done about it.
    pub way: WayOut,
}

/// Where a site is shown to be safe with so many numbers of ranks, larger ones with which there is too much to try are taken
/// to be like them.
const ENOUGH: usize = 3;

/// Sites, by their boundaries, and what was said of them.
type Verdicts = HashMap<Vec<usize>, Result<Safe, Obstacle>>;

/// As deep as is needed; with a number of ranks for which it is known not to be safe, the others are only reported along with it.
fn judge_count(
    count: usize,
    subject: Subject<'_>,
    none: Subject<'_>,
    deep: bool,
) -> Result<Found, Violation> {
    let mut last = Violation::new(None, "it was not looked at");
    for precision in PRECISIONS.iter().take(if deep { PRECISIONS.len() } else { 1 }) {
        match Explorer::new(subject, none, *precision).run(count) {
            Ok(found) => return Ok(found),
            // What could not be tried to the end may be safe.
            Err(violation) if last.too_much && violation.unknown => {}
            Err(violation) => last = violation,
        }
    }
    if deep && last.too_much {
        return Explorer::new(subject, none, WIDE).run(count);
    }
    Err(last)
}

/// Answers whether sites are safe points.
#[derive(Debug)]
pub struct SafePoints {
    skeleton: Skeleton,
    model: Rc<dyn CommModel>,
    counts: Vec<usize>,
    verdicts: RefCell<Verdicts>,
}

impl SafePoints {
    /// For a program that uses this library, run with this many ranks or with any number.
    pub fn new(skeleton: Skeleton, model: Rc<dyn CommModel>, ranks: Option<usize>) -> Self {
        Self {
            skeleton,
            model,
            counts: ranks.map_or_else(|| COUNTS.to_vec(), |count| vec![count.max(1)]),
            verdicts: RefCell::default(),
        }
    }

    /// Whether all these sites together are safe points: functions by their numbers, and bytes of their files.
    ///
    /// # Errors
    /// What stands in the way.
    pub fn check(&self, sites: &[(usize, usize)]) -> Result<Safe, Obstacle> {
        let mut boundaries = Vec::new();
        for (function, at) in sites {
            boundaries.extend(self.boundary(*function, *at)?);
        }
        self.check_boundaries(boundaries)
    }

    /// The same of one site, also where the user vouches for it.
    ///
    /// # Errors
    /// What stands in the way.
    pub fn check_though_vouched(&self, function: usize, at: usize) -> Result<Safe, Obstacle> {
        let here = |one: &Boundary| one.function == function && one.at == at && one.user.is_some();
        let found = self.skeleton.boundaries.iter().position(here);
        self.check_boundaries(found.into_iter().collect())
    }

    fn check_boundaries(&self, mut boundaries: Vec<usize>) -> Result<Safe, Obstacle> {
        boundaries.sort_unstable();
        boundaries.dedup();
        if boundaries.is_empty() {
            return Ok(Safe {
                ranks: self.counts.clone(),
                vouched: true,
                ..Safe::default()
            });
        }
        if let Some(unseen) = self.skeleton.unseen.first() {
            return Err(self.hidden_by(unseen));
        }
        if let Some(known) = self.verdicts.borrow().get(&boundaries) {
            return known.clone();
        }
        let verdict = self.judge(&boundaries);
        self.verdicts.borrow_mut().insert(boundaries, verdict.clone());
        verdict
    }

    fn hidden_by(&self, unseen: &Unseen) -> Obstacle {
        let Unseen { name, library, place } = unseen;
        Obstacle {
            place: Some(place.clone()),
            call: name.clone(),
            ranks: self.counts.as_slice().into(),
            why: format!(
                "the crate depends on `{library}` and is not in the workspace, so that what its calls exchange is not seen"
            ),
            way: WayOut::TellCrate,
        }
    }

    /// The boundary of a site; nothing where the user vouches for it.
    fn boundary(&self, function: usize, at: usize) -> Result<Option<usize>, Obstacle> {
        let boundaries = &self.skeleton.boundaries;
        let here = |one: &Boundary| one.function == function && one.at == at;
        // Where the user's own site stands, a statement begins as well.
        let of_user = boundaries.iter().position(|one| here(one) && one.user.is_some());
        match of_user.or_else(|| boundaries.iter().position(here)) {
            Some(index) if self.skeleton.boundaries[index].user == Some(true) => Ok(None),
            Some(index) => Ok(Some(index)),
            None => Err(Obstacle {
                place: None,
                call: String::new(),
                ranks: self.counts.as_slice().into(),
                why: "the site is not between two statements of a loop's body".into(),
                way: WayOut::BetweenStatements,
            }),
        }
    }

    fn boundaries_in(&self, function: usize) -> impl Iterator<Item = &Boundary> {
        let boundaries = self.skeleton.boundaries.iter();
        boundaries.filter(move |one| one.function == function)
    }

    /// The sites that the user has put into a function: where, at which line, and whether the user vouches for it.
    pub fn sites_of_user(&self, function: usize) -> Vec<(usize, usize, bool)> {
        self.boundaries_in(function)
            .filter_map(|one| Some((one.at, one.line, one.user?)))
            .collect()
    }

    /// Those of them that all ranks are to come to equally often: where.
    pub fn common_sites_of_user(&self, function: usize) -> Vec<usize> {
        let common = |one: &&Boundary| one.user.is_some() && !one.for_itself;
        self.boundaries_in(function)
            .filter(common)
            .map(|one| one.at)
            .collect()
    }

    /// The boundaries between the statements of a loop's body, in order: byte and line.
    pub fn boundaries_of(&self, function: usize, body_at: usize) -> Vec<(usize, usize)> {
        self.boundaries_in(function)
            .filter(|one| one.user.is_none() && one.behind.is_none() && one.body_at == body_at)
            .map(|one| (one.at, one.line))
            .collect()
    }

    /// Whether a loop is one in which each rank may take checkpoints for itself, however often it goes round: it exchanges no
    /// messages, and a rank leaves it to behind it alone. The byte behind it, where a site makes that sure: one that is a safe
    /// point. What each rank has done of the loop does not matter to the messages then: those behind it are the same.
    pub fn behind_quiet(&self, function: usize, body_at: usize) -> Option<usize> {
        let is_it = |one: &&Boundary| one.behind.is_some() && one.body_at == body_at;
        let boundary = self.boundaries_in(function).find(is_it)?;
        let steps = boundary.behind.clone()?;
        let codes = self.skeleton.codes.iter().flat_map(|code| &code.ops);
        let starts_threads = |op: &Op| matches!(op, Op::Call(CallOp::Method(one)) if one.starts_threads);
        let none = Regions::new(&self.skeleton, &[]);
        let region = none.region(function, steps);
        let is_quiet = !region.events && !region.returns && !region.leaves;
        (is_quiet && !{ codes }.any(starts_threads)).then_some(boundary.at)
    }

    fn judge(&self, boundaries: &[usize]) -> Result<Safe, Obstacle> {
        let regions = Regions::new(&self.skeleton, boundaries);
        let none = Regions::new(&self.skeleton, &[]);
        let subject = |regions| Subject {
            skeleton: &self.skeleton,
            model: &*self.model,
            regions,
            fine: false,
            few_turns: false,
        };
        let judged = self.judge_counts(&self.counts, subject(&regions), subject(&none));
        match judged {
            Err((violation, _)) if violation.too_much && self.counts.len() == 1 => {
                // With so many ranks there is too much to try: fewer of them must do.
                let fewer: Vec<usize> = COUNTS
                    .into_iter()
                    .filter(|count| *count < self.counts[0])
                    .collect();
                let judged = self.judge_counts(&fewer, subject(&regions), subject(&none));
                match judged {
                    Ok(mut safe) if safe.ranks.len() >= ENOUGH => {
                        safe.untried.insert(0, self.counts[0]);
                        Ok(safe)
                    }
                    Ok(_) => Err(self.obstacle(&violation, self.counts.clone())),
                    Err((violation, ranks)) => Err(self.obstacle(&violation, ranks)),
                }
            }
            Err((violation, ranks)) => Err(self.obstacle(&violation, ranks)),
            Ok(safe) if safe.ranks.is_empty() => Err(Obstacle {
                place: None,
                call: String::new(),
                ranks: safe.idle.into(),
                why: "no rank is seen to come to it".into(),
                way: WayOut::Follow,
            }),
            Ok(safe) => Ok(safe),
        }
    }

    /// With these numbers of ranks; what is in the way, and with how many.
    fn judge_counts(
        &self,
        counts: &[usize],
        subject: Subject<'_>,
        none: Subject<'_>,
    ) -> Result<Safe, (Violation, Vec<usize>)> {
        let mut safe = Safe::default();
        let mut violations: Vec<(usize, Violation)> = Vec::new();
        for &count in counts {
            match judge_count(count, subject, none, violations.is_empty()) {
                Ok(found) if found.visits == 0 => safe.idle.push(count),
                Ok(found) => {
                    safe.ranks.push(count);
                    safe.any_source |= found.any_source;
                    safe.for_any_length |= found.for_any_length;
                    safe.few_turns |= found.few_turns;
                }
                Err(violation) if violation.too_much && safe.ranks.len() >= ENOUGH => {
                    safe.untried.push(count)
                }
                Err(violation) => violations.push((count, violation)),
            }
        }
        match violations.first() {
            Some((_, first)) => {
                let ranks = violations.iter().map(|(count, _)| *count).collect();
                Err((first.clone(), ranks))
            }
            None => Ok(safe),
        }
    }

    fn obstacle(&self, violation: &Violation, ranks: Vec<usize>) -> Obstacle {
        let place = violation
            .at
            .and_then(|(code, pc)| self.skeleton.place(code, pc).cloned());
        let op = violation
            .at
            .and_then(|(code, pc)| self.skeleton.codes.get(code)?.ops.get(pc));
        let call = match op {
            Some(Op::Call(CallOp::Method(one))) => one.name.to_string(),
            Some(Op::Call(CallOp::Outside(one))) => {
                one.path.last().map(ToString::to_string).unwrap_or_default()
            }
            Some(Op::Call(CallOp::Told(one))) => one.call.name.to_string(),
            _ => String::new(),
        };
        Obstacle {
            place,
            call,
            ranks: ranks.into(),
            why: violation.why.clone(),
            way: violation.way,
        }
    }

    /// The skeleton as text: the calls that have to do with messages.
    pub fn skeleton(&self) -> String {
        self.skeleton.to_string()
    }
}

impl fmt::Display for Safe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.vouched {
            return f.write_str("you vouch for it: `checkpoint!(safe)` is not looked at");
        }
        write!(f, "no message crosses it with {} ranks", list(&self.ranks))?;
        if !self.idle.is_empty() {
            write!(f, " (with {} it is not come to)", list(&self.idle))?;
        }
        if !self.untried.is_empty() {
            write!(f, " (with {} there is too much to try)", list(&self.untried))?;
        }
        if self.any_source {
            f.write_str(", in whatever order messages from any rank come")?;
        }
        if self.for_any_length {
            f.write_str(", however often the loops go round")?;
        }
        if self.few_turns {
            f.write_str(", with up to three turns of loops between two visits")?;
        }
        Ok(())
    }
}

impl fmt::Display for Obstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(place) = &self.place {
            write!(f, "line {}: ", place.line)?;
        }
        if !self.call.is_empty() {
            write!(f, "`{}`: ", self.call)?;
        }
        write!(f, "{} (with {} ranks)", self.why, list(&self.ranks))
    }
}

/// `1, 2 and 3`
fn list(numbers: &[usize]) -> String {
    let words: Vec<String> = numbers.iter().map(ToString::to_string).collect();
    match words.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
        None => "no".into(),
    }
}
