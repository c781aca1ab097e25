//! Calls that communicate, as the table of the library has them: messages leave and come, and all ranks do something
//! together.

use super::grids::{grid, subgrid};
use super::model::{Caller, Outcome};
use super::way_out::WayOut;
use super::{BlockedOn, CommEvent, Contribution, Operation, Rank, RankState, Request, View};
use crate::skeleton::Method;
use crate::skeleton::call::{CallKind, CommCall, Gives};
use crate::values::{MemoryPlace, Value};
use std::rc::Rc;

impl Rank {
    /// The rank's number in a communicator.
    pub(super) fn number_in(&self, comm: usize, view: &View<'_>) -> Option<i128> {
        let members = &view.comms.get(comm)?.members;
        members
            .iter()
            .position(|one| *one == self.index)
            .map(|at| at as i128)
    }

    /// Whether the method is one of the communication library's.
    pub(crate) fn library_method(
        &mut self,
        method: &Method,
        value: &Value,
        arguments: &[Value],
        view: &mut View<'_>,
    ) -> bool {
        if let Some(call) = &method.message {
            if call.kind == CallKind::Test {
                if let Value::Request(id) = value {
                    self.test_request(*id, view);
                    return true;
                }
            } else if let Some(peer) = Peer::of(value) {
                self.communicate(call, peer, arguments, view);
                return true;
            }
        }
        let model = view.model;
        let outcome = model.call_method(&mut Caller::new(self, view), &method.name, value, arguments);
        self.comes_to(outcome)
    }

    /// Whether a function that exchanges nothing is one of the communication library's.
    pub(crate) fn library_function(&mut self, path: &[&str], plain: &[Value], view: &mut View<'_>) -> bool {
        let model = view.model;
        let outcome = model.call_function(&mut Caller::new(self, view), path, plain);
        self.comes_to(outcome)
    }

    fn comes_to(&mut self, outcome: Outcome) -> bool {
        match outcome {
            Outcome::Gives(value) => self.push(value),
            Outcome::Done => {}
            Outcome::Foreign => return false,
        }
        true
    }

    fn request(&mut self, operation: Operation) -> u64 {
        // How many there have been does not matter: states in which it differs are the same.
        self.restart_numbers();
        let id = self.next;
        self.next += 1;
        let at = self.at;
        self.requests.push(Request { id, operation, at });
        id
    }

    /// A call that is made on a communicator, a process or any process.
    pub(super) fn communicate(
        &mut self,
        call: &CommCall,
        peer: Peer,
        arguments: &[Value],
        view: &mut View<'_>,
    ) {
        let Peer { comm, rank, any } = peer;
        let me = self.number_in(comm, view);
        if me.is_none() {
            return self.lose("it is called on a communicator that this rank is not in");
        }
        match &call.kind {
            CallKind::Send => match rank {
                Some(to) => {
                    let tag = self.tag_of(call.tag, arguments).unwrap_or(Value::Int(0));
                    self.send(comm, to, tag, call.data, arguments, view);
                    self.after_send(call);
                }
                None => self.lose("it cannot be told where the message goes"),
            },
            CallKind::Receive | CallKind::Probe | CallKind::Ask => {
                if rank.is_none() && !any {
                    return self.lose("it cannot be told where the message comes from");
                }
                let tag = self.tag_of(call.tag, arguments);
                if call.kind == CallKind::Ask && self.is_not_there_yet(view) {
                    return self.push(Value::none());
                }
                if self.state == RankState::Runs {
                    self.receive(call, comm, rank, tag, arguments);
                }
            }
            CallKind::Test => self.push(Value::Data),
            CallKind::Collective(waits) => {
                let collective = match call.request {
                    true => format!("{} (immediate)", call.collective),
                    false => call.collective.to_string(),
                };
                let part = Contribution {
                    collective: collective.into(),
                    waits: Some(*waits),
                    root: rank,
                    same: call.same,
                    data: call
                        .data
                        .and_then(|at| arguments.get(at))
                        .map(|one| self.value(one)),
                    split: None,
                    grid: None,
                    optional: false,
                };
                let into = call.into.and_then(|at| arguments.get(at)).cloned();
                self.collective(call, comm, part, into, view);
            }
            CallKind::Communicator => self.communicator(call, comm, arguments, view),
            CallKind::Exchange => self.lose("it is called in a way that is not known"),
            CallKind::Opaque(why) => self.lose_for(&why.clone(), WayOut::LibraryCalls),
        }
    }

    /// The tag; nothing where the call has none.
    fn tag_of(&self, at: Option<usize>, arguments: &[Value]) -> Option<Value> {
        at.and_then(|at| arguments.get(at)).map(|one| self.value(one))
    }

    fn send(
        &mut self,
        comm: usize,
        to: i128,
        tag: Value,
        data: Option<usize>,
        arguments: &[Value],
        view: &mut View<'_>,
    ) {
        if !tag.is_uniform() {
            return self.lose("the tag of the message cannot be worked out");
        }
        let data = data.and_then(|at| arguments.get(at)).map(|one| self.value(one));
        let Ok(to) = usize::try_from(to) else {
            return self.lose("it cannot be told where the message goes");
        };
        view.emitted.push(CommEvent::Send {
            comm,
            to,
            tag,
            data: sent(&data.unwrap_or_default(), view.fine),
            at: self.at,
        });
    }

    fn after_send(&mut self, call: &CommCall) {
        if !matches!(self.state, RankState::Runs) {
            return;
        }
        if call.request {
            let id = self.request(Operation::Sent);
            self.push(Value::Request(id));
        } else {
            self.push(Value::Unit);
        }
    }

    fn receive(
        &mut self,
        call: &CommCall,
        comm: usize,
        source: Option<i128>,
        tag: Option<Value>,
        arguments: &[Value],
    ) {
        if tag.as_ref().is_some_and(|tag| !tag.is_uniform()) {
            return self.lose("the tag that it waits for cannot be worked out");
        }
        let asks = call.kind == CallKind::Ask;
        if call.kind == CallKind::Probe || (asks && call.gives == Gives::Status) {
            let maybe = asks;
            self.state = RankState::Blocked(BlockedOn::Probe {
                comm,
                source,
                tag,
                maybe,
            });
            return;
        }
        let into = call.into.and_then(|at| arguments.get(at)).cloned();
        let into = self.destination(into);
        let id = self.request(Operation::Receive {
            comm,
            source,
            tag,
            into,
            came: None,
        });
        if call.request {
            self.push(Value::Request(id));
        } else if asks {
            self.state = RankState::Blocked(BlockedOn::MaybeReceive(id, call.gives));
        } else {
            self.state = RankState::Blocked(BlockedOn::Receive(id, call.gives));
        }
    }

    /// Where something is put that comes later: what is there is not known from now on.
    fn destination(&mut self, into: Option<Value>) -> Option<MemoryPlace> {
        match into.map(|one| self.followed(one)) {
            Some(Value::Ref(place)) => {
                match self.at_place(&place) {
                    Some(Value::List(_) | Value::Summary(_)) => self.fill(&place, Value::Data),
                    _ => self.forget(&place, None),
                }
                Some(place)
            }
            Some(other) => {
                self.leak(&other);
                None
            }
            None => None,
        }
    }

    fn collective(
        &mut self,
        call: &CommCall,
        comm: usize,
        part: Contribution,
        into: Option<Value>,
        view: &mut View<'_>,
    ) {
        let number = self.calls.entry(comm).or_default();
        let this = *number;
        *number += 1;
        view.emitted.push(CommEvent::Join {
            comm,
            number: this,
            part: Rc::new(part),
            at: self.at,
        });
        let into = self.destination(into);
        let id = self.request(Operation::Collective {
            comm,
            number: this,
            into,
        });
        if call.request {
            self.push(Value::Request(id));
        } else {
            self.state = RankState::Blocked(BlockedOn::Collective(id));
        }
    }

    fn communicator(&mut self, call: &CommCall, comm: usize, arguments: &[Value], view: &mut View<'_>) {
        let plain: Vec<Value> = arguments.iter().map(|one| self.value(one)).collect();
        let me = self.number_in(comm, view).unwrap_or(0);
        let mut part = Contribution {
            collective: call.collective.clone(),
            waits: None,
            root: None,
            same: false,
            data: None,
            split: None,
            grid: None,
            optional: call.optional,
        };
        if let Some(at) = call.color {
            let key = match call.key.and_then(|at| plain.get(at)) {
                None => Some(0),
                Some(Value::Int(key)) => Some(*key),
                Some(_) => None,
            };
            part.split = match (plain.get(at), key) {
                (Some(Value::Object(_, color)), Some(key)) => match **color {
                    Value::Int(color) => Some((Some(color), key)),
                    Value::Unit => Some((None, key)),
                    _ => None,
                },
                _ => None,
            };
            if part.split.is_none() {
                return self.lose("which ranks the new communicator has cannot be worked out");
            }
        } else if let Some(at) = call.group {
            let Some(Value::Group(members)) = plain.get(at) else {
                return self.lose("which ranks the group has cannot be worked out");
            };
            let key = members.iter().position(|one| *one == self.index);
            let color = key.and(members.first()).map(|first| *first as i128);
            part.split = Some((color, key.unwrap_or(0) as i128));
        } else if call.cartesian {
            part.grid = grid(&plain);
            if part.grid.is_none() {
                return self.lose("the grid of the new communicator cannot be worked out");
            }
        } else if let Some(at) = call.retain {
            let old = view.comms.get(comm).and_then(|of| of.grid.clone());
            match old.and_then(|old| subgrid(&old, me, plain.get(at))) {
                Some((color, key, grid)) => {
                    part.split = Some((Some(color), key));
                    part.grid = Some(grid);
                }
                None => return self.lose("which ranks the new communicator has cannot be worked out"),
            }
        }
        self.collective(call, comm, part, None, view);
    }

    /// A function that communicates and is called by its path.
    pub(crate) fn communicate_by_path(&mut self, call: &CommCall, arguments: &[Value], view: &mut View<'_>) {
        if let CallKind::Opaque(why) = &call.kind {
            return self.lose_for(&why.clone(), WayOut::LibraryCalls);
        }
        if call.kind == CallKind::Exchange {
            return self.exchange(call, arguments, view);
        }
        if call.world {
            let peer = [call.to, call.from].into_iter().flatten().next();
            let rank = peer.and_then(|at| arguments.get(at)).map(|one| self.value(one));
            let peer = match rank {
                None => Peer::all(0),
                Some(Value::Int(rank)) => Peer::one(0, rank),
                Some(_) => return self.lose("it cannot be told which process is meant"),
            };
            return self.communicate(call, peer, arguments, view);
        }
        // A method that is called by its path.
        let Some((receiver, rest)) = arguments.split_first() else {
            return self.lose("it is called in a way that is not known");
        };
        match Peer::of(&self.value(receiver)) {
            Some(peer) => self.communicate(call, peer, rest, view),
            None => self.lose(&format!("it cannot be told which process `{}` means", call.name)),
        }
    }

    fn exchange(&mut self, call: &CommCall, arguments: &[Value], view: &mut View<'_>) {
        let at = |index: Option<usize>| index.and_then(|at| arguments.get(at)).map(|one| self.value(one));
        let (Some(Value::Process(comm, to)), from) = (at(call.to), at(call.from)) else {
            return self.lose("it cannot be told where the message goes");
        };
        let source = match from {
            Some(Value::Process(_, from)) => Some(from),
            Some(Value::AnyProcess(_)) => None,
            _ => return self.lose("it cannot be told where the message comes from"),
        };
        let send_tag = self.tag_of(call.send_tag, arguments).unwrap_or(Value::Int(0));
        self.send(comm, to, send_tag, call.data, arguments, view);
        if self.state == RankState::Runs {
            let tag = self.tag_of(call.tag, arguments);
            self.receive(call, comm, source, tag, arguments);
        }
    }

    /// What it has waited for is there.
    pub(crate) fn go_on(&mut self, value: Value) {
        self.state = RankState::Runs;
        self.push(value);
    }

    /// Whether what a receive waits for is there.
    pub(crate) fn has_come(&self, id: u64) -> bool {
        let of_it = |one: &&Request| one.id == id;
        let operation = self.requests.iter().find(of_it).map(|one| &one.operation);
        matches!(operation, Some(Operation::Receive { came: Some(_), .. }))
    }

    /// A receive is done: its value goes where it is wanted.
    pub(crate) fn received(&mut self, id: u64) -> Option<(Value, Value)> {
        let at = self.requests.iter().position(|one| one.id == id)?;
        let Operation::Receive {
            into,
            came: Some((value, source, tag)),
            ..
        } = self.requests[at].operation.clone()
        else {
            return None;
        };
        self.requests.remove(at);
        if let Some(place) = into {
            self.fill(&place, value.clone());
        }
        Some((value, Value::Status(source, Box::new(tag))))
    }

    /// What a receive returns.
    pub(crate) fn give(&mut self, gives: Gives, value: Value, status: Value) -> Value {
        match gives {
            Gives::Nothing => Value::Unit,
            Gives::Value => value,
            Gives::Status => status,
            Gives::ValueAndStatus => Value::tuple(vec![value, status]),
            Gives::MessageAndStatus => {
                let id = self.next;
                self.next += 1;
                self.held.insert(id, (value, status.clone()));
                Value::tuple(vec![Value::Message(id), status])
            }
        }
    }
}

/// Whom a call is made on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Peer {
    pub(super) comm: usize,
    /// A rank of it; nothing for all of it.
    pub(super) rank: Option<i128>,
    /// Whether it is any rank of it.
    pub(super) any: bool,
}

impl Peer {
    fn of(value: &Value) -> Option<Self> {
        match value {
            Value::Comm(comm) => Some(Self::all(*comm)),
            Value::Process(comm, rank) => Some(Self::one(*comm, *rank)),
            Value::AnyProcess(comm) => Some(Self::any(*comm)),
            _ => None,
        }
    }

    pub(super) fn any(comm: usize) -> Self {
        Self {
            any: true,
            ..Self::all(comm)
        }
    }

    pub(super) fn all(comm: usize) -> Self {
        let (rank, any) = (None, false);
        Self { comm, rank, any }
    }

    pub(super) fn one(comm: usize, rank: i128) -> Self {
        Self {
            rank: Some(rank),
            ..Self::all(comm)
        }
    }
}

/// What is known of a message: whole numbers and truth values steer what is done with it; the rest is data, except where
/// that is followed too.
fn sent(value: &Value, fine: bool) -> Value {
    value.map(&mut |part| match part {
        Value::Uniform(_) if fine => None,
        Value::Uniform(_) | Value::Float(_) => Some(Value::Data),
        _ => None,
    })
}
