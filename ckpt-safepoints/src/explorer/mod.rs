//! Whether no message can cross a site, for one number of ranks.
//!
//! The ranks are followed from site to site: all of them stop at every visit, and at a visit nothing may be on its way.
//! Where a receive may get one of several messages, all of them are tried; where a condition is the same on all ranks
//! and not known, both ways are. A state that has been seen is not followed again, and after some visits what goes on
//! changing is given up, so that loops of any length come to an end.

pub(crate) mod collective;
pub(crate) mod ranks;
mod widen;
pub(crate) mod world;

use crate::machine::{At, State, Wait};
use crate::skeleton::Op;
use crate::values::provenance;
use ranks::Digest;
use std::collections::{BTreeMap, HashSet};
use std::hash::Hash;
use std::rc::Rc;
use world::{Choice, Scene, Trouble, World};

/// How much of the values is followed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Depth {
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
/// finds it safe will do; what stands in the way is told by the last. Loops are followed to any number of turns first: only
/// where that finds no end, or too much is given up for it, a few turns stand for all.
pub(crate) const DEPTHS: [Depth; 5] = [
    Depth {
        few_turns: false,
        ..ROUGH
    },
    Depth {
        few_turns: false,
        ..FINE
    },
    ROUGH,
    FINE,
    Depth {
        visits: 24,
        visits_with_choices: 5,
        fine: false,
        ..FINE
    },
];

const ROUGH: Depth = Depth {
    visits: 2,
    visits_with_choices: 2,
    states: 3_000,
    fine: false,
    few_turns: true,
};

const FINE: Depth = Depth {
    visits: 3,
    visits_with_choices: 2,
    states: 6_000,
    fine: true,
    few_turns: true,
};

/// Where nothing else is in the way than that there is too much to try: workers that are served in any order are many.
pub(crate) const WIDE: Depth = Depth {
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

struct Path {
    world: World,
    visits: usize,
    before: Option<Rc<World>>,
    /// How often each question was asked since the last visit, and the state when it was asked last.
    questions: BTreeMap<At, (usize, Rc<World>)>,
    /// Whether values have got new names since the last question.
    renamed: bool,
}

/// Follows the ranks of one run after another.
pub(crate) struct Search<'a> {
    scene: Scene<'a>,
    /// The same program without the sites: for ranks that run ahead.
    ahead: Scene<'a>,
    depth: Depth,
    fuel: u64,
    seen: HashSet<u128>,
    found: Found,
}

impl<'a> Search<'a> {
    pub(crate) fn new(scene: Scene<'a>, ahead: Scene<'a>, depth: Depth) -> Self {
        let (fine, few_turns) = (depth.fine, depth.few_turns);
        provenance::clear();
        Self {
            scene: Scene {
                fine,
                few_turns,
                ..scene
            },
            ahead: Scene {
                fine,
                few_turns,
                ..ahead
            },
            depth,
            fuel: MOST_STEPS * depth.states as u64,
            seen: HashSet::new(),
            found: Found::default(),
        }
    }

    /// What has been found, or what stands in the way.
    pub(crate) fn run(mut self, ranks: usize) -> Result<Found, Trouble> {
        if self.scene.pieces.method_has_events("drop") {
            return Err(Trouble::new(
                None,
                "a destructor exchanges messages, and where it runs is not followed",
            ));
        }
        let mut open = vec![Path {
            world: World::new(ranks, self.scene.skeleton),
            visits: 0,
            before: None,
            questions: BTreeMap::new(),
            renamed: false,
        }];
        while let Some(path) = open.pop() {
            if self.seen.len() > self.depth.states {
                let why = "there are too many orders in which messages may come to try them all";
                return Err(Trouble {
                    too_much: true,
                    ..Trouble::new(None, why)
                });
            }
            if let Err(trouble) = self.follow(path, &mut open) {
                return Err(Trouble {
                    too_much: self.fuel == 0,
                    ..trouble
                });
            }
        }
        Ok(self.found)
    }

    fn follow(&mut self, mut path: Path, open: &mut Vec<Path>) -> Result<(), Trouble> {
        path.world.settle(self.scene, &mut self.fuel, None)?;
        // Behind the last visit nothing matters any more.
        if !path.world.ranks.iter().any(|rank| self.site_ahead(rank)) {
            return Ok(());
        }
        if let Some((question, answer)) = told(&path.world) {
            return self.each_case(path, question, answer, open);
        }
        if let Some(number) = undecided(&path.world) {
            return self.both_ways(path, number, open);
        }
        let choices = path.world.choices(None)?;
        if !choices.is_empty() {
            return self.each_choice(path, &choices, open);
        }
        let waits_at_site = |one: &crate::machine::Rank| matches!(one.state, State::Waits(Wait::Site(_)));
        if path.world.ranks.iter().all(waits_at_site) {
            return self.visit(path, open);
        }
        self.stuck(&path.world)
    }

    /// The program goes on only if a question is answered so: the values that this leaves are tried one after the other.
    fn each_case(
        &mut self,
        path: Path,
        question: u64,
        answer: bool,
        open: &mut Vec<Path>,
    ) -> Result<(), Trouble> {
        for case in provenance::cases(question, answer).unwrap_or_else(|| vec![Vec::new()]) {
            let mut world = path.world.clone();
            world.decisions.insert(question, answer);
            widen::substitute(&mut world, &case);
            open.push(Path {
                world,
                before: None,
                questions: path.questions.clone(),
                ..path
            });
        }
        Ok(())
    }

    fn both_ways(&mut self, mut path: Path, number: u64, open: &mut Vec<Path>) -> Result<(), Trouble> {
        let (at, is_loop) = self.asked(&path.world, number);
        if self.asks_again(&mut path, at, is_loop) {
            if self.is_new(&path.world) {
                open.push(path);
            }
            return Ok(());
        }
        if !self.is_new(&path.world) {
            return Ok(());
        }
        let few = is_loop && self.depth.few_turns;
        let asked = path.questions.get(&at).map_or(0, |(asked, _)| *asked);
        let mut ways = vec![true, false];
        if few && asked >= FEW_TURNS {
            ways = vec![false];
            self.found.few_turns = true;
        } else if asked >= if is_loop { MOST_TURNS } else { MOST_ASKED } {
            let why = "how messages go on from turn to turn of the loop around this is not found out";
            return Err(Trouble {
                unknown: true,
                ..Trouble::new(Some(at), why)
            });
        }
        path.questions
            .insert(at, (asked + 1, Rc::new(path.world.clone())));
        for way in ways {
            let mut world = path.world.clone();
            world.decisions.insert(number, way);
            let mut questions = path.questions.clone();
            if few && !way {
                questions.remove(&at);
            }
            open.push(Path {
                world,
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
    fn asks_again(&self, path: &mut Path, at: At, is_loop: bool) -> bool {
        let Some((asked, before)) = path.questions.get(&at) else {
            return false;
        };
        if path.renamed {
            return false;
        }
        let (asked, before, ranks) = (*asked, Rc::clone(before), path.world.ranks.len());
        path.world.ask_anew();
        match (is_loop, self.depth.few_turns) {
            (true, true) => widen::widen_turn(&mut path.world, &before),
            (true, false) if asked >= COMMON_TURNS => widen::widen(&mut path.world, &before),
            (true, false) if asked >= EXACT_TURNS => widen::widen_each(&mut path.world, &before),
            (false, _) if asked >= MOST_QUESTIONS + 2 * ranks => {
                widen::widen_each(&mut path.world, &before);
            }
            _ => {}
        }
        widen::renumber_between(&mut path.world);
        path.renamed = true;
        true
    }

    /// Where a question is asked, and whether that is the head of a loop which asks whether it goes on.
    fn asked(&self, world: &World, number: u64) -> (At, bool) {
        let asks = |rank: &&crate::machine::Rank| rank.state == State::Waits(Wait::Decision(number));
        let at = world.ranks.iter().find(asks).map_or((0, 0), |rank| rank.at);
        let ops = &self.scene.skeleton.codes[at.0].ops;
        let is_head = match ops.get(at.1) {
            Some(Op::Next(..)) => true,
            Some(Op::Branch(other, join)) => other == join && matches!(ops.get(*join), Some(Op::Exit)),
            _ => false,
        };
        (at, is_head)
    }

    fn each_choice(&mut self, path: Path, choices: &[Choice], open: &mut Vec<Path>) -> Result<(), Trouble> {
        if !self.is_new(&path.world) {
            return Ok(());
        }
        self.found.any_source = true;
        if let Some(lost) = lost(&path.world) {
            return Err(lost);
        }
        let mut checked = HashSet::new();
        for choice in choices {
            if checked.insert(choice.0) {
                self.nobody_runs_ahead(&path.world, choice.0)?;
            }
            let mut world = path.world.clone();
            world.choose(*choice)?;
            open.push(Path {
                world,
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
    fn nobody_runs_ahead(&mut self, world: &World, waiting: usize) -> Result<(), Trouble> {
        let mut free = world.clone();
        let mut released = false;
        for index in 0..free.ranks.len() {
            if matches!(free.ranks[index].state, State::Waits(Wait::Site(_))) {
                free.ranks[index].state = State::Runs;
                released = true;
            }
        }
        if !released {
            return Ok(());
        }
        let before = world.offers(waiting)?;
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
            let at = Some(world.ranks[waiting].at);
            if too_many || !free.choices(Some(waiting))?.is_empty() || lost(&free).is_some() {
                let why = format!(
                    "rank {waiting} waits here for a message from any rank while others have come to the site already: that \
                     they send it none from behind the site cannot be shown"
                );
                return Err(Trouble::new(at, why));
            }
            for ((comm, source), sent) in free.offers(waiting)? {
                if before.get(&(comm, source)) != Some(&sent) && !before.contains_key(&(comm, source)) {
                    let source = free.global(comm, source);
                    let why = format!(
                        "rank {waiting} waits here for a message from any rank and may get one that rank {source} sends \
                         behind the site"
                    );
                    return Err(Trouble::new(at, why));
                }
            }
        }
        Ok(())
    }

    /// All ranks have come to the site.
    fn visit(&mut self, mut path: Path, open: &mut Vec<Path>) -> Result<(), Trouble> {
        clean(&path.world)?;
        path.visits += 1;
        self.found.visits = self.found.visits.max(path.visits);
        widen::renumber(&mut path.world);
        let exact = if self.found.any_source {
            self.depth.visits_with_choices
        } else {
            self.depth.visits
        };
        if path.visits > exact
            && let Some(before) = &path.before
        {
            widen::widen(&mut path.world, before);
            widen::renumber(&mut path.world);
            self.found.for_any_length = true;
        }
        if !self.is_new(&path.world) {
            return Ok(());
        }
        let before = Some(Rc::new(path.world.clone()));
        for rank in path.world.ranks.iter_mut() {
            rank.state = State::Runs;
        }
        open.push(Path {
            before,
            questions: BTreeMap::new(),
            renamed: false,
            ..path
        });
        Ok(())
    }

    /// Nobody can go on.
    fn stuck(&self, world: &World) -> Result<(), Trouble> {
        // A rank that is lost or waits for ever matters only if it may come to the site again.
        for rank in world.ranks.iter() {
            let State::Lost(why) = &rank.state else { continue };
            if self.site_ahead(rank) {
                return Err(lost_at(rank, why));
            }
        }
        let at_site = world
            .ranks
            .iter()
            .find(|rank| matches!(rank.state, State::Waits(Wait::Site(_))));
        let someone_lost = lost(world).is_some();
        for rank in world.ranks.iter() {
            let State::Waits(wait) = &rank.state else { continue };
            if matches!(wait, Wait::Site(_)) || (at_site.is_none() && someone_lost && !self.site_ahead(rank))
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
            return Err(Trouble::new(Some(at), why));
        }
        match (
            at_site,
            world
                .ranks
                .iter()
                .find(|rank| !matches!(rank.state, State::Waits(Wait::Site(_)))),
        ) {
            (Some(there), Some(other)) => {
                let why = format!(
                    "rank {} comes to the site once more than rank {}: all ranks must go equally often round the loops that \
                     hold it",
                    there.index, other.index
                );
                Err(Trouble::new(None, why))
            }
            _ => Ok(()),
        }
    }

    /// Whether a rank may come to the site again.
    fn site_ahead(&self, rank: &crate::machine::Rank) -> bool {
        if rank.state == State::Ended {
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
            self.scene.pieces.site_ahead(frame.code, from)
        })
    }

    fn is_new(&mut self, world: &World) -> bool {
        let mut digest = Digest::new();
        world.hash(&mut digest);
        self.seen.insert(digest.whole())
    }
}

/// A number that a rank waits to be decided.
fn undecided(world: &World) -> Option<u64> {
    world.ranks.iter().find_map(|rank| match rank.state {
        State::Waits(Wait::Decision(number)) => Some(number),
        _ => None,
    })
}

/// A question of which the answer is known, which tells of other values.
fn told(world: &World) -> Option<(u64, bool)> {
    world.ranks.iter().find_map(|rank| match rank.state {
        State::Waits(Wait::Cases(number, answer)) => Some((number, answer)),
        _ => None,
    })
}

fn lost(world: &World) -> Option<Trouble> {
    world.ranks.iter().find_map(|rank| match &rank.state {
        State::Lost(why) => Some(lost_at(rank, why)),
        _ => None,
    })
}

fn lost_at(rank: &crate::machine::Rank, why: &str) -> Trouble {
    Trouble {
        unknown: true,
        ..Trouble::new(Some(rank.at), format!("{why} (rank {})", rank.index))
    }
}

/// Where the call is written that a rank waits for.
fn waited_for(rank: &crate::machine::Rank, wait: &Wait) -> At {
    let id = match wait {
        Wait::Receive(id, _) | Wait::MaybeReceive(id, _) | Wait::Collective(id) => Some(*id),
        Wait::Requests(ids, _) => ids.first().copied(),
        _ => None,
    };
    let request = rank.requests.iter().find(|one| Some(one.id) == id);
    request.map_or(rank.at, |one| one.at)
}

/// Whether nothing is on its way when all ranks are at the site.
fn clean(world: &World) -> Result<(), Trouble> {
    let first = &world.ranks[0];
    if let Some(other) = world.ranks.iter().find(|one| one.state != first.state) {
        let why = format!(
            "rank {} comes to one site when rank {} comes to another",
            first.index, other.index
        );
        return Err(Trouble::new(Some(other.at), why));
    }
    if let Some(((comm, from, to), list)) = world.queues.iter().find(|(_, list)| !list.is_empty()) {
        let (from, to) = (world.global(*comm, *from), world.global(*comm, *to));
        let why =
            format!("the message that rank {from} sends here to rank {to} is still on its way at the site");
        return Err(Trouble::new(list.front().map(|one| one.at), why));
    }
    for rank in world.ranks.iter() {
        if let Some(request) = rank.requests.first() {
            let why = format!(
                "rank {} has not waited yet for what it begins here when it comes to the site",
                rank.index
            );
            return Err(Trouble::new(Some(request.at), why));
        }
        if !rank.held.is_empty() {
            let why = format!("rank {} holds a matched message at the site", rank.index);
            return Err(Trouble::new(Some(rank.at), why));
        }
    }
    if let Some((at, missing)) = world.half_done() {
        let why = format!("rank {missing} has not made this collective call yet when it comes to the site");
        return Err(Trouble::new(Some(at), why));
    }
    Ok(())
}
