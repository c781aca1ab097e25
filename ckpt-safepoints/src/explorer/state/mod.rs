//! All ranks together: messages on their way, collective calls, and who can go on.
//!
//! Every send is taken to be buffered: that leaves the most room for one rank to run ahead of another, and what holds
//! then holds for a send that waits as well. A receive from any rank is decided last, when nothing else can go on
//! (S. Vakkalanka, G. Gopalakrishnan, R. Kirby, CAV 2008): then every message that it may get is there.

mod collective;

use crate::explorer::ranks::Ranks;
use crate::machine::model::CommModel;
use crate::machine::way_out::WayOut;
use crate::machine::{BlockedOn, CommEvent, Communicator, Operation, ProgramPoint, Rank, RankState, View};
use crate::skeleton::Skeleton;
use crate::skeleton::regions::Regions;
use crate::values::{Provenance, Value};
use collective::{CollectiveCall, differs};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// A message on its way.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Message {
    pub(crate) tag: Value,
    pub(crate) data: Value,
    pub(crate) at: ProgramPoint,
}

impl Message {
    /// Gives values that are not known other numbers.
    pub(crate) fn rename(&mut self, rename: &mut dyn FnMut(u64) -> u64) {
        self.replace(&mut |part| match part {
            Value::Uniform(number) => Some(Value::Uniform(rename(*number))),
            _ => None,
        });
    }

    /// Only what is known for certain.
    fn without_names(&mut self) {
        self.data = self.data.map(&mut |part| match part {
            Value::Uniform(_) => Some(Value::Data),
            _ => None,
        });
    }

    /// Replaces values.
    pub(crate) fn replace(&mut self, change: &mut dyn FnMut(&Value) -> Option<Value>) {
        self.tag = self.tag.map(change);
        self.data = self.data.map(change);
    }
}

/// What a search is about.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Subject<'a> {
    pub(crate) skeleton: &'a Skeleton,
    pub(crate) model: &'a dyn CommModel,
    pub(crate) regions: &'a Regions<'a>,
    /// Whether conditions that decide about values, and not about messages at once, are tried both ways as well, and
    /// messages keep what is the same on all ranks.
    pub(crate) fine: bool,
    /// Whether a few turns of a loop stand for all: what its variable is behind the first turn is not looked at.
    pub(crate) few_turns: bool,
}

/// What stands in the way, and where.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Violation {
    pub(crate) at: Option<ProgramPoint>,
    pub(crate) why: String,
    /// Whether there is too much to try, and nothing was found to be in the way.
    pub(crate) too_much: bool,
    /// Whether it was not found out what a rank does, so nothing was found to be in the way either.
    pub(crate) unknown: bool,
    /// What can be done about it.
    pub(crate) way: WayOut,
}

impl Violation {
    pub(crate) fn new(at: Option<ProgramPoint>, why: impl Into<String>) -> Self {
        Self {
            at,
            why: why.into(),
            too_much: false,
            unknown: false,
            way: WayOut::Follow,
        }
    }

    /// The same, and what can be done about it.
    pub(crate) fn with(self, way: WayOut) -> Self {
        Self { way, ..self }
    }
}

/// A message that a rank which waits for any may get: the rank, the communicator, the source.
pub(crate) type Choice = (usize, usize, usize);

/// All ranks.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct GlobalState {
    pub(crate) ranks: Ranks,
    pub(crate) comms: Vec<Communicator>,
    /// By communicator, source and destination.
    pub(crate) in_transit: BTreeMap<(usize, usize, usize), VecDeque<Message>>,
    pub(crate) collectives: BTreeMap<(usize, usize), CollectiveCall>,
    pub(crate) decisions: BTreeMap<u64, bool>,
    /// The ranks that have waited for a message from any: results that come in any order must look alike, or there are too
    /// many orders to try.
    any: BTreeSet<usize>,
    /// The rank that has left for good, if one has, and where.
    pub(crate) left: Option<(usize, ProgramPoint)>,
}

impl GlobalState {
    /// The ranks, all about to call `main`.
    pub(crate) fn new(count: usize, skeleton: &Skeleton, provenance: &Provenance) -> Self {
        let all = Communicator {
            members: (0..count).collect(),
            grid: None,
        };
        let alone = (0..count).map(|rank| Communicator {
            members: vec![rank],
            grid: None,
        });
        Self {
            ranks: Ranks::new((0..count).map(|index| Rank::new(index, skeleton, provenance))),
            comms: std::iter::once(all).chain(alone).collect(),
            in_transit: BTreeMap::new(),
            collectives: BTreeMap::new(),
            decisions: BTreeMap::new(),
            any: BTreeSet::new(),
            left: None,
        }
    }

    /// Lets all ranks go on as far as they can without a decision. A frozen rank stays where it is.
    pub(crate) fn settle(
        &mut self,
        subject: Subject<'_>,
        fuel: &mut u64,
        frozen: Option<usize>,
    ) -> Result<(), Violation> {
        loop {
            let mut changed = false;
            for index in (0..self.ranks.len()).filter(|index| Some(*index) != frozen) {
                if self.ranks[index].state == RankState::Runs {
                    self.run(index, subject, fuel)?;
                    changed = true;
                }
                changed |= self.resume(index)?;
            }
            if !changed {
                return Ok(());
            }
        }
    }

    fn run(&mut self, index: usize, subject: Subject<'_>, fuel: &mut u64) -> Result<(), Violation> {
        let mut events = Vec::new();
        let mut view = View {
            skeleton: subject.skeleton,
            model: subject.model,
            regions: subject.regions,
            comms: &self.comms,
            decisions: &self.decisions,
            fine: subject.fine,
            few_turns: subject.few_turns,
            emitted: &mut events,
            fuel,
        };
        self.ranks[index].run(&mut view);
        for event in events {
            self.answer(index, event)?;
        }
        if self.waits_for_any(index) && self.any.insert(index) {
            let comms = &self.comms;
            let to_it = |comm: usize, to: usize| comms[comm].members.get(to) == Some(&index);
            let in_transit = self.in_transit.iter_mut();
            for (_, list) in in_transit.filter(|((comm, _, to), _)| to_it(*comm, *to)) {
                list.iter_mut().for_each(Message::without_names);
            }
        }
        Ok(())
    }

    pub(crate) fn number_in(&self, rank: usize, comm: usize) -> usize {
        let members = &self.comms[comm].members;
        members.iter().position(|one| *one == rank).unwrap_or(0)
    }

    fn answer(&mut self, index: usize, event: CommEvent) -> Result<(), Violation> {
        match event {
            CommEvent::Send {
                comm,
                to,
                tag,
                data,
                at,
            } => {
                let from = self.number_in(index, comm);
                let mut message = Message { tag, data, at };
                if self.any.contains(&self.global(comm, to)) {
                    message.without_names();
                }
                self.in_transit
                    .entry((comm, from, to))
                    .or_default()
                    .push_back(message);
            }
            CommEvent::Join {
                comm,
                number,
                part,
                at,
            } => {
                let me = self.number_in(index, comm);
                let together = self.collectives.entry((comm, number)).or_default();
                if let Some((other, (first, _))) = together.parts.iter().next()
                    && (first.collective != part.collective || first.root != part.root)
                {
                    let (other, why) = (self.comms[comm].members[*other], differs(first, &part));
                    let why = format!("rank {index} calls {why} than rank {other}");
                    return Err(Violation::new(Some(at), why).with(WayOut::CallAlike));
                }
                together.parts.insert(me, (part, at));
            }
        }
        Ok(())
    }

    /// Whether a rank that waits can go on.
    fn resume(&mut self, index: usize) -> Result<bool, Violation> {
        let RankState::Blocked(wait) = self.ranks[index].state.clone() else {
            return Ok(false);
        };
        let maybe_receive = matches!(wait, BlockedOn::MaybeReceive(..));
        match wait {
            BlockedOn::Site(_) | BlockedOn::Leaving => Ok(false),
            BlockedOn::Decision(number) | BlockedOn::Cases(number, _) => {
                let decided = self.decisions.contains_key(&number);
                if decided {
                    self.ranks[index].state = RankState::Runs;
                }
                Ok(decided)
            }
            BlockedOn::Receive(id, gives) | BlockedOn::MaybeReceive(id, gives) => {
                self.deliver(index)?;
                if !self.ranks[index].has_come(id) {
                    return Ok(false);
                }
                let Some((value, status)) = self.ranks[index].received(id) else {
                    return Ok(false);
                };
                let given = self.ranks[index].give(gives, value, status);
                self.ranks[index].go_on(if maybe_receive { Value::some(given) } else { given });
                Ok(true)
            }
            BlockedOn::Probe {
                comm,
                source,
                tag,
                maybe,
            } => {
                let Some(source) = source else { return Ok(false) };
                let me = self.number_in(index, comm);
                let found = self.first(comm, source as usize, me, tag.as_ref(), index)?;
                let Some(at) = found else { return Ok(false) };
                let tag = self.in_transit[&(comm, source as usize, me)][at].tag.clone();
                let status = Value::Status(source, Box::new(tag));
                self.ranks[index].go_on(if maybe { Value::some(status) } else { status });
                Ok(true)
            }
            BlockedOn::Collective(id) => {
                let Some(value) = self.finish(index, id) else {
                    return Ok(false);
                };
                self.ranks[index].go_on(value);
                Ok(true)
            }
            BlockedOn::Requests(ids, value) => {
                self.deliver(index)?;
                let mut left = Vec::new();
                let open = ids.len();
                for id in ids {
                    if !self.request_done(index, id) {
                        left.push(id);
                    }
                }
                if left.len() == open && open > 0 {
                    return Ok(false);
                }
                if left.is_empty() {
                    self.ranks[index].go_on(value);
                    return Ok(true);
                }
                self.ranks[index].state = RankState::Blocked(BlockedOn::Requests(left, value));
                Ok(false)
            }
        }
    }

    /// Closes a request if what it is about has happened.
    fn request_done(&mut self, index: usize, id: u64) -> bool {
        let rank = &self.ranks[index];
        let Some(at) = rank.requests.iter().position(|one| one.id == id) else {
            return true;
        };
        match rank.requests[at].operation {
            Operation::Sent => {
                self.ranks[index].requests.remove(at);
                true
            }
            Operation::Receive { .. } => rank.has_come(id) && self.ranks[index].received(id).is_some(),
            Operation::Collective { .. } => self.finish(index, id).is_some(),
        }
    }

    /// The first message of a source that has this tag.
    fn first(
        &self,
        comm: usize,
        source: usize,
        to: usize,
        tag: Option<&Value>,
        rank: usize,
    ) -> Result<Option<usize>, Violation> {
        for (at, message) in self
            .in_transit
            .get(&(comm, source, to))
            .into_iter()
            .flatten()
            .enumerate()
        {
            match same_tag(&message.tag, tag) {
                Some(true) => return Ok(Some(at)),
                Some(false) => {}
                None => {
                    let at = Some(self.ranks[rank].at);
                    return Err(Violation::new(
                        at,
                        "whether the tags of two messages are the same cannot be worked out",
                    ));
                }
            }
        }
        Ok(None)
    }

    fn waits_for_any(&self, index: usize) -> bool {
        self.ranks[index].requests.iter().any(|one| {
            matches!(
                &one.operation,
                Operation::Receive {
                    source: None,
                    came: None,
                    ..
                }
            )
        })
    }

    /// Messages that can come to nothing but one receive.
    fn deliver(&mut self, index: usize) -> Result<(), Violation> {
        if self.waits_for_any(index) {
            return Ok(());
        }
        for at in 0..self.ranks[index].requests.len() {
            let Operation::Receive {
                comm,
                source: Some(source),
                tag,
                came: None,
                ..
            } = self.ranks[index].requests[at].operation.clone()
            else {
                continue;
            };
            let me = self.number_in(index, comm);
            if let Some(found) = self.first(comm, source as usize, me, tag.as_ref(), index)? {
                self.take(index, at, (comm, source as usize, me), found);
            }
        }
        Ok(())
    }

    /// Gives a message to a receive.
    fn take(&mut self, index: usize, request: usize, queue: (usize, usize, usize), found: usize) {
        let Some(list) = self.in_transit.get_mut(&queue) else {
            return;
        };
        let Some(message) = list.remove(found) else { return };
        if list.is_empty() {
            self.in_transit.remove(&queue);
        }
        if let Operation::Receive { came, .. } = &mut self.ranks[index].requests[request].operation {
            *came = Some((message.data, queue.1 as i128, message.tag));
        }
    }

    /// What the ranks that wait for any may get.
    pub(crate) fn choices(&self, frozen: Option<usize>) -> Result<Vec<Choice>, Violation> {
        let mut choices = BTreeSet::new();
        for index in (0..self.ranks.len()).filter(|index| Some(*index) != frozen) {
            self.choices_of(index, &mut choices)?;
        }
        Ok(choices.into_iter().collect())
    }

    fn choices_of(&self, index: usize, into: &mut BTreeSet<Choice>) -> Result<(), Violation> {
        let RankState::Blocked(wait) = &self.ranks[index].state else {
            return Ok(());
        };
        if let BlockedOn::Probe {
            comm,
            source: None,
            tag,
            ..
        } = wait
        {
            let me = self.number_in(index, *comm);
            for source in 0..self.comms[*comm].members.len() {
                if self.first(*comm, source, me, tag.as_ref(), index)?.is_some() {
                    into.insert((index, *comm, source));
                }
            }
        }
        if matches!(
            wait,
            BlockedOn::Site(_) | BlockedOn::Decision(_) | BlockedOn::Cases(..) | BlockedOn::Leaving
        ) || !self.waits_for_any(index)
        {
            return Ok(());
        }
        for (comm, source) in self.sources_of(index) {
            if self.matched(index, comm, source)?.is_some() {
                into.insert((index, comm, source));
            }
        }
        Ok(())
    }

    fn sources_of(&self, index: usize) -> Vec<(usize, usize)> {
        let mut found = BTreeSet::new();
        for request in &self.ranks[index].requests {
            let Operation::Receive {
                comm,
                source,
                came: None,
                ..
            } = &request.operation
            else {
                continue;
            };
            match source {
                Some(source) => {
                    found.insert((*comm, *source as usize));
                }
                None => found.extend((0..self.comms[*comm].members.len()).map(|source| (*comm, source))),
            }
        }
        found.into_iter().collect()
    }

    /// The next message of a source that a receive of the rank wants, and the first such receive.
    fn matched(&self, index: usize, comm: usize, from: usize) -> Result<Option<(usize, usize)>, Violation> {
        let me = self.number_in(index, comm);
        for (found, message) in self
            .in_transit
            .get(&(comm, from, me))
            .into_iter()
            .flatten()
            .enumerate()
        {
            for (at, request) in self.ranks[index].requests.iter().enumerate() {
                let Operation::Receive {
                    comm: of,
                    source,
                    tag,
                    came: None,
                    ..
                } = &request.operation
                else {
                    continue;
                };
                if *of != comm || source.is_some_and(|source| source as usize != from) {
                    continue;
                }
                match same_tag(&message.tag, tag.as_ref()) {
                    Some(true) => return Ok(Some((at, found))),
                    Some(false) => {}
                    None => {
                        let why = "whether the tags of two messages are the same cannot be worked out";
                        return Err(Violation::new(Some(request.at), why));
                    }
                }
            }
        }
        Ok(None)
    }

    /// Lets a rank that waits for any get the message of this source.
    pub(crate) fn choose(&mut self, (index, comm, source): Choice) -> Result<(), Violation> {
        let me = self.number_in(index, comm);
        if let RankState::Blocked(BlockedOn::Probe {
            tag,
            source: None,
            maybe,
            ..
        }) = self.ranks[index].state.clone()
        {
            if let Some(at) = self.first(comm, source, me, tag.as_ref(), index)? {
                let tag = self.in_transit[&(comm, source, me)][at].tag.clone();
                let status = Value::Status(source as i128, Box::new(tag));
                self.ranks[index].go_on(if maybe { Value::some(status) } else { status });
            }
            return Ok(());
        }
        if let Some((request, found)) = self.matched(index, comm, source)? {
            self.take(index, request, (comm, source, me), found);
        }
        Ok(())
    }

    /// The first message of each source that a rank which waits for any could get.
    pub(crate) fn offers(&self, index: usize) -> Result<BTreeMap<(usize, usize), ProgramPoint>, Violation> {
        let mut choices = BTreeSet::new();
        self.choices_of(index, &mut choices)?;
        let mut offers = BTreeMap::new();
        for (_, comm, source) in choices {
            let me = self.number_in(index, comm);
            let found = match &self.ranks[index].state {
                RankState::Blocked(BlockedOn::Probe { tag, .. }) => {
                    self.first(comm, source, me, tag.as_ref(), index)?
                }
                _ => self.matched(index, comm, source)?.map(|(_, found)| found),
            };
            if let Some(found) = found {
                offers.insert((comm, source), self.in_transit[&(comm, source, me)][found].at);
            }
        }
        Ok(offers)
    }

    /// Ranks that wait for a decision ask once more.
    pub(crate) fn ask_anew(&mut self) {
        for rank in self.ranks.iter_mut() {
            if matches!(rank.state, RankState::Blocked(BlockedOn::Decision(_))) {
                rank.state = RankState::Runs;
            }
        }
    }

    /// The number among all of a rank of a communicator.
    pub(crate) fn global(&self, comm: usize, number: usize) -> usize {
        self.comms[comm].members.get(number).copied().unwrap_or(number)
    }
}

/// Whether a message's tag is the one that is wanted; nothing where that is not known.
fn same_tag(tag: &Value, wanted: Option<&Value>) -> Option<bool> {
    match (tag, wanted) {
        (_, None) => Some(true),
        (Value::Int(a), Some(Value::Int(b))) => Some(a == b),
        // A tag that a crate has for itself.
        (Value::Text(a), Some(Value::Text(b))) => Some(a == b),
        (Value::Text(_), Some(Value::Int(_))) | (Value::Int(_), Some(Value::Text(_))) => Some(false),
        (a, Some(b)) if a == b && a.is_uniform() => Some(true),
        _ => None,
    }
}
