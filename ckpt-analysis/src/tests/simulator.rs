//! Message passing by brute force: every order in which ranks may go on, with all sends buffered. Each message carries how
//! often its sender had come to the site; one that is received at another count crosses.

use std::collections::{BTreeMap, HashSet, VecDeque};

/// What a rank does.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Event {
    Send {
        to: usize,
        tag: i64,
    },
    Receive {
        from: Option<usize>,
        tag: Option<i64>,
    },
    /// Receives from any rank and sends back to it.
    Answer {
        tag: i64,
    },
    /// 0: barrier, 1: sum for all, 2: broadcast from 0, 3: gather to 0.
    All(u64),
    Site,
}

/// What is so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Truth {
    Safe,
    Crossed(String),
    /// Not a program: some order ends in a deadlock.
    Stuck,
    /// Too many orders for the simulator.
    TooMany,
}

/// States that are looked at.
const MOST: usize = 400_000;

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct State {
    at: Vec<usize>,
    visits: Vec<usize>,
    /// How many collective calls each rank has entered.
    joined: Vec<usize>,
    queues: BTreeMap<(usize, usize), VecDeque<(i64, usize)>>,
    /// How often each rank had come to the site at each collective call.
    counts: Vec<Vec<usize>>,
    /// Ranks that wait in the collective call that they have entered.
    inside: Vec<bool>,
}

/// Goes through all orders.
pub fn simulate(lists: Vec<Vec<Event>>) -> Truth {
    let ranks = lists.len();
    let mut open = vec![State {
        at: vec![0; ranks],
        visits: vec![0; ranks],
        joined: vec![0; ranks],
        queues: BTreeMap::new(),
        counts: vec![Vec::new(); ranks],
        inside: vec![false; ranks],
    }];
    let mut seen = HashSet::new();
    let mut crossed = None;
    while let Some(state) = open.pop() {
        if !seen.insert(state.clone()) {
            continue;
        }
        if seen.len() > MOST {
            return Truth::TooMany;
        }
        let mut next = Vec::new();
        for rank in 0..ranks {
            step(&lists, &state, rank, &mut next, &mut crossed);
        }
        let done = (0..ranks).all(|rank| state.at[rank] == lists[rank].len());
        if next.is_empty() {
            if !done {
                return Truth::Stuck;
            }
            at_the_end(&state, &mut crossed);
        }
        open.extend(next);
    }
    crossed.map_or(Truth::Safe, Truth::Crossed)
}

fn at_the_end(state: &State, crossed: &mut Option<String>) {
    for ((from, to), list) in &state.queues {
        if list.iter().any(|(_, visits)| *visits < state.visits[*to]) {
            crossed.get_or_insert(format!("a message from {from} to {to} is never received"));
        }
    }
    if state.visits.iter().any(|visits| *visits != state.visits[0]) {
        crossed.get_or_insert("the ranks come to the site at different counts".into());
    }
    for counts in &state.counts {
        if *counts != state.counts[0] {
            crossed.get_or_insert("a collective call is on both sides of the site".into());
        }
    }
}

fn step(
    lists: &[Vec<Event>],
    state: &State,
    rank: usize,
    next: &mut Vec<State>,
    crossed: &mut Option<String>,
) {
    let Some(event) = lists[rank].get(state.at[rank]) else {
        return;
    };
    match event {
        Event::Site => {
            let mut new = state.clone();
            new.visits[rank] += 1;
            new.at[rank] += 1;
            next.push(new);
        }
        Event::Send { to, tag } => {
            let mut new = state.clone();
            new.queues
                .entry((rank, *to))
                .or_default()
                .push_back((*tag, state.visits[rank]));
            new.at[rank] += 1;
            next.push(new);
        }
        Event::Receive { from, tag } => {
            for source in 0..lists.len() {
                if from.is_none_or(|from| from == source) {
                    next.extend(received(state, rank, source, *tag, crossed));
                }
            }
        }
        Event::Answer { tag } => {
            for source in 0..lists.len() {
                if let Some(mut new) = received(state, rank, source, Some(*tag), crossed) {
                    let visits = new.visits[rank];
                    new.queues
                        .entry((rank, source))
                        .or_default()
                        .push_back((*tag, visits));
                    next.push(new);
                }
            }
        }
        Event::All(kind) => together(lists, state, rank, *kind, next),
    }
}

fn received(
    state: &State,
    rank: usize,
    source: usize,
    tag: Option<i64>,
    crossed: &mut Option<String>,
) -> Option<State> {
    let list = state.queues.get(&(source, rank))?;
    let at = list
        .iter()
        .position(|(has, _)| tag.is_none_or(|tag| tag == *has))?;
    let mut new = state.clone();
    let list = new.queues.get_mut(&(source, rank))?;
    let (_, visits) = list.remove(at)?;
    if list.is_empty() {
        new.queues.remove(&(source, rank));
    }
    if visits != state.visits[rank] {
        crossed.get_or_insert(format!(
            "a message that {source} sends after {visits} visits is received by {rank} after {}",
            state.visits[rank]
        ));
    }
    new.at[rank] += 1;
    Some(new)
}

/// A rank enters a collective call, or leaves it when those that it waits for are there.
fn together(lists: &[Vec<Event>], state: &State, rank: usize, kind: u64, next: &mut Vec<State>) {
    if !state.inside[rank] {
        let mut new = state.clone();
        new.inside[rank] = true;
        new.joined[rank] += 1;
        new.counts[rank].push(state.visits[rank]);
        next.push(new);
        return;
    }
    let number = state.joined[rank];
    let there = |other: usize| state.joined[other] >= number;
    let goes_on = match kind {
        2 => there(0),
        3 if rank != 0 => true,
        _ => (0..lists.len()).all(there),
    };
    if goes_on {
        let mut new = state.clone();
        new.inside[rank] = false;
        new.at[rank] += 1;
        next.push(new);
    }
}
