//! Whether no message can cross a site, for one number of ranks.
//!
//! The ranks are followed from site to site: all of them stop at every visit, and at a visit nothing may be on its way.
//! Where a receive may get one of several messages, all of them are tried; where a condition is the same on all ranks
//! and not known, both ways are. A state that has been seen is not followed again, and after some visits what goes on
//! changing is given up, so that loops of any length come to an end.

pub(crate) mod ranks;
pub(crate) mod state;
mod widening;

use crate::machine::way_out::WayOut;
use crate::machine::{BlockedOn, Lost, ProgramPoint, RankState};
use crate::skeleton::{ControlOp, Op};
use crate::values::Provenance;
use ranks::Digest;
use state::{Choice, GlobalState, Subject, Violation};
use std::collections::{BTreeMap, HashSet};
use std::hash::Hash;
use std::rc::Rc;

/// How much of the values is followed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Precision {
    /// Visits that are followed with the numbers that the program has then.
    pub(crate) visits: usize,
    /// The same where the order of messages is open.
    pub(crate) visits_with_choices: usize,
    /// States that are looked at.
    pub(crate) states: usize,
    /// Whether conditions that decide about values alone are tried both ways.
    pub(crate) fine: bool,
    /// Whether a few turns stand for all of a loop whose number of turns is not known.
    pub(crate) few_turns: bool,
}

/// One after the other until the site is found safe. What is not known is taken for anything in each, so the first that
/// finds it safe will do; what stands in the way is reported by the last. Loops are followed to any number of turns first: only
/// where that finds no end, or too much is given up for it, a few turns stand for all.
pub(crate) const PRECISIONS: [Precision; 5] = [
    Precision {
        few_turns: false,
        ..ROUGH
    },
    Precision {
        few_turns: false,
        ..FINE
    },
    ROUGH,
    FINE,
    Precision {
        visits: 24,
        visits_with_choices: 5,
        fine: false,
        ..FINE
    },
];

const ROUGH: Precision = Precision {
    visits: 2,
    visits_with_choices: 2,
    states: 3_000,
    fine: false,
    few_turns: true,
};

const FINE: Precision = Precision {
    visits: 3,
    visits_with_choices: 2,
    states: 6_000,
    fine: true,
    few_turns: true,
};

/// Where nothing else is in the way than that there is too much to try: workers that are served in any order are many.
pub(crate) const WIDE: Precision = Precision {
    states: 120_000,
    few_turns: false,
    ..FINE
};

/// Steps of all ranks together, for each state that may be looked at.
const MOST_STEPS: u64 = 1_000;

/// Turns between two visits that stand for all of a loop whose number of turns is the same on all ranks and not known.
const FEW_TURNS: usize = 3;

/// Turns of such a loop with the numbers that they have, before those that change are given up; with those that are not the
/// same on all ranks as well; and in which it must have come to an end.
const EXACT_TURNS: usize = 2;
const COMMON_TURNS: usize = 6;
const MOST_TURNS: usize = 24;

/// The same question at the same place more often than this between two visits is asked too often.
const MOST_QUESTIONS: usize = 4;

/// As often, and there is no end to it.
const MOST_ASKED: usize = 96;

/// Decisions that are tried for a rank that runs ahead.
const MOST_AHEAD: usize = 64;

/// What has been found for one number of ranks.
#[derive(Debug, Clone, Default)]
pub(crate) struct Found {
    /// Visits of the site on the longest way that was followed.
    pub(crate) visits: usize,
    /// Whether a receive from any rank had to be decided.
    pub(crate) any_source: bool,
    /// Whether loops of any length are covered.
    pub(crate) for_any_length: bool,
    /// Whether a few turns of a loop have stood for all.
    pub(crate) few_turns: bool,
}

struct OpenPath {
    state: GlobalState,
    visits: usize,
    /// For each site how often all have come to it, and the state when they did last.
    before: BTreeMap<usize, (usize, Rc<GlobalState>)>,
    /// How often each question was asked since the last visit, and the state when it was asked last.
    questions: BTreeMap<ProgramPoint, (usize, Rc<GlobalState>)>,
    /// Whether values have got new names since the last question.
    renamed: bool,
}

/// Follows the ranks of one run after another.
pub(crate) struct Explorer<'a> {
    subject: Subject<'a>,
    /// The same program without the sites: for ranks that run ahead.
    ahead: Subject<'a>,
    precision: Precision,
    fuel: u64,
    seen: HashSet<u128>,
    found: Found,
    provenance: Provenance,
}

impl<'a> Explorer<'a> {
    pub(crate) fn new(subject: Subject<'a>, ahead: Subject<'a>, precision: Precision) -> Self {
        let (fine, few_turns) = (precision.fine, precision.few_turns);
        Self {
            subject: Subject {
                fine,
                few_turns,
                ..subject
            },
            ahead: Subject {
                fine,
                few_turns,
                ..ahead
            },
            precision,
            fuel: MOST_STEPS * precision.states as u64,
            seen: HashSet::new(),
            found: Found::default(),
            provenance: Provenance::default(),
        }
    }

    /// What has been found, or what stands in the way.
    pub(crate) fn run(mut self, ranks: usize) -> Result<Found, Violation> {
        if self.subject.regions.method_has_events("drop") {
            let why = "a destructor exchanges messages, and where it runs is not followed";
            return Err(Violation::new(None, why).with(WayOut::NotInDestructor));
        }
        let mut open = vec![OpenPath {
            state: GlobalState::new(ranks, self.subject.skeleton, &self.provenance),
            visits: 0,
            before: BTreeMap::new(),
            questions: BTreeMap::new(),
            renamed: false,
        }];
        while let Some(path) = open.pop() {
            if self.seen.len() > self.precision.states {
                let why = "there are too many orders in which messages may come to try them all";
                return Err(Violation {
                    too_much: true,
                    ..Violation::new(None, why).with(WayOut::FewerRanks)
                });
            }
            if let Err(violation) = self.follow(path, &mut open) {
                return Err(Violation {
                    too_much: self.fuel == 0,
                    ..violation
                });
            }
        }
        Ok(self.found)
    }

    fn follow(&mut self, mut path: OpenPath, open: &mut Vec<OpenPath>) -> Result<(), Violation> {
        path.state.settle(self.subject, &mut self.fuel, None)?;
        // Behind the last visit nothing matters any more.
        if !path.state.ranks.iter().any(|rank| self.site_ahead(rank)) {
            return Ok(());
        }
        if let Some((question, answer)) = told(&path.state) {
            return self.each_case(path, question, answer, open);
        }
        if let Some(number) = undecided(&path.state) {
            return self.both_ways(path, number, open);
        }
        if let Some(index) = leaving(&path.state) {
            return self.leaves_or_stays(path, index, open);
        }
        let choices = path.state.choices(None)?;
        if !choices.is_empty() {
            return self.each_choice(path, &choices, open);
        }
        let waits_at_site =
            |one: &crate::machine::Rank| matches!(one.state, RankState::Blocked(BlockedOn::Site(_)));
        if path.state.ranks.iter().all(waits_at_site) {
            return self.visit(path, open);
        }
        self.stuck(&path.state)
    }

    /// The program goes on only if a question is answered so: the values that this leaves are tried one after the other.
    fn each_case(
        &mut self,
        path: OpenPath,
        question: u64,
        answer: bool,
        open: &mut Vec<OpenPath>,
    ) -> Result<(), Violation> {
        for case in self
            .provenance
            .cases(question, answer)
            .unwrap_or_else(|| vec![Vec::new()])
        {
            let mut state = path.state.clone();
            state.decisions.insert(question, answer);
            widening::substitute(&mut state, &case);
            open.push(OpenPath {
                state,
                before: BTreeMap::new(),
                questions: path.questions.clone(),
                ..path
            });
        }
        Ok(())
    }

    /// A rank may leave for good by what only it knows: no line can be one of its and of the others behind that.
    fn leaves_or_stays(
        &mut self,
        path: OpenPath,
        index: usize,
        open: &mut Vec<OpenPath>,
    ) -> Result<(), Violation> {
        if !self.is_new(&path.state) {
            return Ok(());
        }
        for way in [RankState::Ended, RankState::Runs] {
            let mut state = path.state.clone();
            if way == RankState::Ended {
                state.left = Some((index, state.ranks[index].at));
            }
            state.ranks[index].state = way;
            open.push(OpenPath {
                state,
                before: path.before.clone(),
                questions: path.questions.clone(),
                ..path
            });
        }
        Ok(())
    }

    fn both_ways(
        &mut self,
        mut path: OpenPath,
        number: u64,
        open: &mut Vec<OpenPath>,
    ) -> Result<(), Violation> {
        let (at, is_loop) = self.asked(&path.state, number);
        if self.asks_again(&mut path, at, is_loop) {
            if self.is_new(&path.state) {
                open.push(path);
            }
            return Ok(());
        }
        if !self.is_new(&path.state) {
            return Ok(());
        }
        let few = is_loop && self.precision.few_turns;
        let asked = path.questions.get(&at).map_or(0, |(asked, _)| *asked);
        let mut ways = vec![true, false];
        if few && asked >= FEW_TURNS {
            ways = vec![false];
            self.found.few_turns = true;
        } else if asked >= if is_loop { MOST_TURNS } else { MOST_ASKED } {
            let why = "how messages go on from turn to turn of the loop around this is not found out";
            return Err(Violation {
                unknown: true,
                ..Violation::new(Some(at), why)
            });
        }
        path.questions
            .insert(at, (asked + 1, Rc::new(path.state.clone())));
        for way in ways {
            let mut state = path.state.clone();
            state.decisions.insert(number, way);
            let mut questions = path.questions.clone();
            if few && !way {
                questions.remove(&at);
            }
            open.push(OpenPath {
                state,
                visits: path.visits,
                before: path.before.clone(),
                questions,
                renamed: false,
            });
        }
        Ok(())
    }

    /// The same question once more: values that are not known get new names, so that what comes again is seen to; and what
    /// has changed since the last time is given up, of a loop after few turns, else when it is asked too often. Whether that
    /// was done, and it is to be asked anew.
    fn asks_again(&self, path: &mut OpenPath, at: ProgramPoint, is_loop: bool) -> bool {
        let Some((asked, before)) = path.questions.get(&at) else {
            return false;
        };
        if path.renamed {
            return false;
        }
        let (asked, before, ranks) = (*asked, Rc::clone(before), path.state.ranks.len());
        path.state.ask_anew();
        match (is_loop, self.precision.few_turns) {
            (true, true) => widening::widen_turn(&mut path.state, &before, &self.provenance),
            (true, false) if asked >= COMMON_TURNS => {
                widening::widen(&mut path.state, &before, &self.provenance)
            }
            (true, false) if asked >= EXACT_TURNS => {
                widening::widen_each(&mut path.state, &before, &self.provenance)
            }
            (false, _) if asked >= MOST_QUESTIONS + 2 * ranks => {
                widening::widen_each(&mut path.state, &before, &self.provenance);
            }
            _ => {}
        }
        widening::renumber_between(&mut path.state, &self.provenance);
        path.renamed = true;
        true
    }

    /// Where a question is asked, and whether that is the head of a loop which asks whether it goes on.
    fn asked(&self, state: &GlobalState, number: u64) -> (ProgramPoint, bool) {
        let asks =
            |rank: &&crate::machine::Rank| rank.state == RankState::Blocked(BlockedOn::Decision(number));
        let at = state.ranks.iter().find(asks).map_or((0, 0), |rank| rank.at);
        let ops = &self.subject.skeleton.codes[at.0].ops;
        let is_head = match ops.get(at.1) {
            Some(Op::Control(ControlOp::Next(..))) => true,
            Some(Op::Control(ControlOp::Branch(other, join))) => {
                other == join && matches!(ops.get(*join), Some(Op::Control(ControlOp::Exit)))
            }
            _ => false,
        };
        (at, is_head)
    }

    fn each_choice(
        &mut self,
        path: OpenPath,
        choices: &[Choice],
        open: &mut Vec<OpenPath>,
    ) -> Result<(), Violation> {
        if !self.is_new(&path.state) {
            return Ok(());
        }
        self.found.any_source = true;
        if let Some(lost) = lost(&path.state) {
            return Err(lost);
        }
        let mut checked = HashSet::new();
        for choice in choices {
            if checked.insert(choice.0) {
                self.nobody_runs_ahead(&path.state, choice.0)?;
            }
            let mut state = path.state.clone();
            state.choose(*choice)?;
            open.push(OpenPath {
                state,
                visits: path.visits,
                before: path.before.clone(),
                questions: path.questions.clone(),
                renamed: false,
            });
        }
        Ok(())
    }

    /// Ranks that have come to the site may go on while this one still waits for a message from any: none of what they
    /// send then may be one that it takes.
    fn nobody_runs_ahead(&mut self, state: &GlobalState, waiting: usize) -> Result<(), Violation> {
        let mut free = state.clone();
        let mut released = false;
        for index in 0..free.ranks.len() {
            if matches!(free.ranks[index].state, RankState::Blocked(BlockedOn::Site(_))) {
                free.ranks[index].state = RankState::Runs;
                released = true;
            }
        }
        if !released {
            return Ok(());
        }
        let before = state.offers(waiting)?;
        let mut open = vec![free];
        let mut tried = 0;
        while let Some(mut free) = open.pop() {
            tried += 1;
            let too_many = tried > MOST_AHEAD;
            free.settle(self.ahead, &mut self.fuel, Some(waiting))?;
            if let Some((question, answer)) = told(&free) {
                free.decisions.insert(question, answer);
                open.push(free);
                continue;
            }
            if let Some(number) = undecided(&free).filter(|_| !too_many) {
                for way in [true, false] {
                    let mut next = free.clone();
                    next.decisions.insert(number, way);
                    open.push(next);
                }
                continue;
            }
            let at = Some(state.ranks[waiting].at);
            let is_open = leaving(&free).is_some() || lost(&free).is_some();
            if too_many || !free.choices(Some(waiting))?.is_empty() || is_open {
                let why = format!(
                    "rank {waiting} waits here for a message from any rank while others have come to the site already: that \
                     they send it none from behind the site cannot be shown"
                );
                return Err(Violation::new(at, why).with(WayOut::EndTurn));
            }
            for ((comm, source), sent) in free.offers(waiting)? {
                if before.get(&(comm, source)) != Some(&sent) && !before.contains_key(&(comm, source)) {
                    let source = free.global(comm, source);
                    let why = format!(
                        "rank {waiting} waits here for a message from any rank and may get one that rank {source} sends \
                         behind the site"
                    );
                    return Err(Violation::new(at, why).with(WayOut::EndTurn));
                }
            }
        }
        Ok(())
    }

    /// All ranks have come to the site.
    fn visit(&mut self, mut path: OpenPath, open: &mut Vec<OpenPath>) -> Result<(), Violation> {
        clean(&path.state)?;
        path.visits += 1;
        self.found.visits = self.found.visits.max(path.visits);
        widening::renumber(&mut path.state, &self.provenance);
        let exact = if self.found.any_source {
            self.precision.visits_with_choices
        } else {
            self.precision.visits
        };
        let site = match path.state.ranks[0].state {
            RankState::Blocked(BlockedOn::Site(site)) => site,
            _ => 0,
        };
        let (visits, before) = match path.before.remove(&site) {
            Some((visits, before)) => (visits + 1, Some(before)),
            None => (1, None),
        };
        if visits > exact
            && let Some(before) = &before
        {
            widening::widen(&mut path.state, before, &self.provenance);
            widening::renumber(&mut path.state, &self.provenance);
            self.found.for_any_length = true;
        }
        if !self.is_new(&path.state) {
            return Ok(());
        }
        path.before.insert(site, (visits, Rc::new(path.state.clone())));
        for rank in path.state.ranks.iter_mut() {
            rank.state = RankState::Runs;
        }
        open.push(OpenPath {
            questions: BTreeMap::new(),
            renamed: false,
            ..path
        });
        Ok(())
    }

    /// Nobody can go on.
    fn stuck(&self, state: &GlobalState) -> Result<(), Violation> {
        // A rank that is lost or waits for ever matters only if it may come to the site again.
        for rank in state.ranks.iter() {
            let RankState::Lost(lost) = &rank.state else {
                continue;
            };
            if self.site_ahead(rank) {
                return Err(lost_at(rank, lost));
            }
        }
        let at_site = state
            .ranks
            .iter()
            .find(|rank| matches!(rank.state, RankState::Blocked(BlockedOn::Site(_))));
        let someone_lost = lost(state).is_some();
        if let Some((left, at)) = state.left
            && !someone_lost
        {
            // The others wait for it for ever, and come to no site: that run ends without another line.
            let Some(there) = at_site else { return Ok(()) };
            let why = format!(
                "whether this is done depends on data that may differ between the ranks (rank {left}), and rank {} comes to the \
                 site without it",
                there.index
            );
            return Err(Violation::new(Some(at), why).with(WayOut::DecideAlike));
        }
        for rank in state.ranks.iter() {
            let RankState::Blocked(wait) = &rank.state else {
                continue;
            };
            if matches!(wait, BlockedOn::Site(_))
                || (at_site.is_none() && someone_lost && !self.site_ahead(rank))
            {
                continue;
            }
            let at = waited_for(rank, wait);
            let why = match at_site {
                Some(other) if !self.site_ahead(rank) => format!(
                    "rank {} waits here and does not come to the site any more, which rank {} has come to once more: all ranks \
                     must go equally often round the loops that hold it",
                    rank.index, other.index
                ),
                Some(other) => format!(
                    "rank {} waits here for something that is to come when others, as rank {}, have passed the site",
                    rank.index, other.index
                ),
                None if !self.site_ahead(rank) && !someone_lost && self.found.visits > 0 => continue,
                None => format!(
                    "what rank {} waits for here is never sent, as far as can be told",
                    rank.index
                ),
            };
            return Err(Violation::new(Some(at), why).with(if at_site.is_some() {
                self.apart()
            } else {
                WayOut::Follow
            }));
        }
        match (
            at_site,
            state
                .ranks
                .iter()
                .find(|rank| !matches!(rank.state, RankState::Blocked(BlockedOn::Site(_)))),
        ) {
            (Some(there), Some(other)) => {
                let why = format!(
                    "rank {} comes to the site once more than rank {}: all ranks must go equally often round the loops that \
                     hold it",
                    there.index, other.index
                );
                Err(Violation::new(None, why).with(self.apart()))
            }
            _ => Ok(()),
        }
    }

    /// What can be done where the ranks do not come to the site equally often.
    fn apart(&self) -> WayOut {
        match self.found.any_source {
            true => WayOut::Rounds,
            false => WayOut::EquallyOften,
        }
    }

    /// Whether a rank may come to the site again.
    fn site_ahead(&self, rank: &crate::machine::Rank) -> bool {
        if rank.state == RankState::Ended {
            return false;
        }
        let inner = rank.frames.len() - 1;
        rank.frames.iter().enumerate().any(|(index, frame)| {
            // A caller goes on behind its call; the innermost step may be done again.
            let from = if index == inner {
                frame.pc.saturating_sub(1)
            } else {
                frame.pc
            };
            self.subject.regions.site_ahead(frame.code, from)
        })
    }

    fn is_new(&mut self, state: &GlobalState) -> bool {
        let mut digest = Digest::new();
        state.hash(&mut digest);
        self.seen.insert(digest.whole())
    }
}

/// A number that a rank waits to be decided.
fn undecided(state: &GlobalState) -> Option<u64> {
    state.ranks.iter().find_map(|rank| match rank.state {
        RankState::Blocked(BlockedOn::Decision(number)) => Some(number),
        _ => None,
    })
}

/// A rank that may leave for good.
fn leaving(state: &GlobalState) -> Option<usize> {
    let leaves = |rank: &crate::machine::Rank| rank.state == RankState::Blocked(BlockedOn::Leaving);
    state.ranks.iter().position(leaves)
}

/// A question of which the answer is known, which constrains other values.
fn told(state: &GlobalState) -> Option<(u64, bool)> {
    state.ranks.iter().find_map(|rank| match rank.state {
        RankState::Blocked(BlockedOn::Cases(number, answer)) => Some((number, answer)),
        _ => None,
    })
}

fn lost(state: &GlobalState) -> Option<Violation> {
    state.ranks.iter().find_map(|rank| match &rank.state {
        RankState::Lost(lost) => Some(lost_at(rank, lost)),
        _ => None,
    })
}

fn lost_at(rank: &crate::machine::Rank, lost: &Lost) -> Violation {
    Violation {
        unknown: true,
        way: lost.way,
        ..Violation::new(Some(rank.at), format!("{} (rank {})", lost.why, rank.index))
    }
}

/// Where the call is written that a rank waits for.
fn waited_for(rank: &crate::machine::Rank, wait: &BlockedOn) -> ProgramPoint {
    let id = match wait {
        BlockedOn::Receive(id, _) | BlockedOn::MaybeReceive(id, _) | BlockedOn::Collective(id) => Some(*id),
        BlockedOn::Requests(ids, _) => ids.first().copied(),
        _ => None,
    };
    let request = rank.requests.iter().find(|one| Some(one.id) == id);
    request.map_or(rank.at, |one| one.at)
}

/// Whether nothing is on its way when all ranks are at the site.
fn clean(state: &GlobalState) -> Result<(), Violation> {
    let first = &state.ranks[0];
    if let Some(other) = state.ranks.iter().find(|one| one.state != first.state) {
        let why = format!(
            "rank {} comes to one site when rank {} comes to another",
            first.index, other.index
        );
        return Err(Violation::new(Some(other.at), why).with(WayOut::EquallyOften));
    }
    if let Some(((comm, from, to), list)) = state.in_transit.iter().find(|(_, list)| !list.is_empty()) {
        let (from, to) = (state.global(*comm, *from), state.global(*comm, *to));
        let why =
            format!("the message that rank {from} sends here to rank {to} is still on its way at the site");
        return Err(Violation::new(list.front().map(|one| one.at), why).with(WayOut::ReceiveInTurn));
    }
    for rank in state.ranks.iter() {
        if let Some(request) = rank.requests.first() {
            let why = format!(
                "rank {} has not waited yet for what it begins here when it comes to the site",
                rank.index
            );
            return Err(Violation::new(Some(request.at), why).with(WayOut::WaitFirst));
        }
        if !rank.held.is_empty() {
            let why = format!("rank {} holds a matched message at the site", rank.index);
            return Err(Violation::new(Some(rank.at), why).with(WayOut::TakeFirst));
        }
    }
    if let Some((at, missing)) = state.half_done() {
        let why = format!("rank {missing} has not made this collective call yet when it comes to the site");
        return Err(Violation::new(Some(at), why).with(WayOut::CallAlike));
    }
    Ok(())
}
