//! rsmpi: communicators, processes, messages, requests.

use super::grids::{coordinates, grid, rank_at, shifted, subgrid};
use super::{Ask, Part, Rank, Request, Sight, State, Wait, What};
use crate::skeleton::Method;
use crate::skeleton::call::{Call, Gives, Sort};
use crate::values::{Place, Value};
use std::rc::Rc;

/// Methods of a communicator that exchange nothing, and whose results do not matter.
const HARMLESS: [&str; 19] = [
    "set_name",
    "get_name",
    "pack",
    "pack_into",
    "pack_size",
    "unpack_into",
    "compare",
    "test_inter",
    "topology",
    "into_topology",
    "get_attr",
    "set_attr",
    "buffer_size",
    "set_buffer_size",
    "detach_buffer",
    "appnum",
    "parent",
    "as_raw",
    "cartesian_map",
];

impl Rank {
    /// The rank's number in a communicator.
    fn number_in(&self, comm: usize, sight: &Sight<'_>) -> Option<i128> {
        let members = &sight.comms.get(comm)?.members;
        members
            .iter()
            .position(|one| *one == self.index)
            .map(|at| at as i128)
    }

    /// Whether the method is one of rsmpi's objects.
    pub(crate) fn mpi_method(
        &mut self,
        method: &Method,
        value: &Value,
        arguments: &[Value],
        sight: &mut Sight<'_>,
    ) -> bool {
        if let Some(call) = &method.message {
            let whom = match value {
                Value::Comm(comm) => Some((*comm, None)),
                Value::Process(comm, rank) => Some((*comm, Some(*rank))),
                Value::AnyProcess(comm) => Some((*comm, None)),
                _ => None,
            };
            if call.sort == Sort::Test {
                if let Value::Request(id) = value {
                    self.test_request(*id, sight);
                    return true;
                }
            } else if let Some((comm, rank)) = whom {
                self.message(
                    call,
                    comm,
                    rank,
                    matches!(value, Value::AnyProcess(_)),
                    arguments,
                    sight,
                );
                return true;
            }
        }
        let name = &*method.name;
        let plain: Vec<Value> = arguments.iter().map(|one| self.value(one)).collect();
        let found = match value {
            Value::Universe => Some(match name {
                "world" => Value::Comm(0),
                _ => Value::Data,
            }),
            Value::Comm(comm) => self.comm_method(*comm, name, &plain, sight),
            Value::Group(members) => self.group_method(members, name, &plain),
            Value::Process(comm, rank) => Some(match name {
                "rank" if sight.comms.get(*comm).is_some() => Value::Int(*rank),
                "is_self" => Value::Bool(self.number_in(*comm, sight) == Some(*rank)),
                "as_communicator" => Value::Comm(*comm),
                "clone" => value.clone(),
                _ => match self.comm_method(*comm, name, &plain, sight) {
                    Some(found) => found,
                    None => return true,
                },
            }),
            Value::AnyProcess(comm) => Some(match name {
                "as_communicator" => Value::Comm(*comm),
                _ => value.clone(),
            }),
            Value::Status(source, tag) => Some(match name {
                "source_rank" => Value::Int(*source),
                "tag" => (**tag).clone(),
                "clone" => value.clone(),
                _ => Value::Data,
            }),
            Value::Request(id) => return self.request_method(*id, name, sight),
            Value::Message(id) => return self.message_method(*id, name, arguments),
            Value::Tuple(parts) if name == "matched_receive_vec" => match parts.first() {
                Some(Value::Message(id)) => return self.message_method(*id, "matched_receive", arguments),
                _ => None,
            },
            Value::Scope => Some(Value::Data),
            _ => return false,
        };
        match found {
            Some(found) => self.push(found),
            None if self.state == State::Runs => {
                self.lose(&format!("`{name}` of a communicator or a group is not followed"))
            }
            None => {}
        }
        true
    }

    fn comm_method(&mut self, comm: usize, name: &str, plain: &[Value], sight: &Sight<'_>) -> Option<Value> {
        let of = sight.comms.get(comm)?;
        let size = of.members.len() as i128;
        let grid = of.grid.as_ref();
        Some(match (name, plain) {
            ("rank", []) => Value::Int(self.number_in(comm, sight)?),
            ("size" | "target_size", []) => Value::Int(size),
            ("process_at_rank", [Value::Int(rank)]) if (0..size).contains(rank) => {
                Value::Process(comm, *rank)
            }
            ("process_at_rank", [Value::Int(_)]) => {
                // rsmpi checks the number and panics.
                self.state = State::Ended;
                return None;
            }
            ("process_at_rank", [_]) => Value::Unknown,
            ("any_process", []) => Value::AnyProcess(comm),
            ("this_process", []) => Value::Process(comm, self.number_in(comm, sight)?),
            ("as_communicator" | "clone", []) => Value::Comm(comm),
            ("group", []) => Value::Group(Rc::new(of.members.clone())),
            ("abort", [_]) => {
                self.state = State::Ended;
                return None;
            }
            ("num_dimensions", []) => Value::Int(grid?.0.len() as i128),
            ("shift", [Value::Int(axis), Value::Int(by)]) => {
                let me = self.number_in(comm, sight)?;
                let (dims, periods) = grid?;
                let axis = usize::try_from(*axis).ok().filter(|axis| *axis < dims.len())?;
                let neighbour = |by: i128| match shifted(dims, periods, me, axis, by) {
                    Some(rank) => Value::some(Value::Int(rank)),
                    None => Value::none(),
                };
                Value::tuple(vec![neighbour(-by), neighbour(*by)])
            }
            ("rank_to_coordinates", [Value::Int(rank)]) => {
                let coordinates = coordinates(&grid?.0, *rank);
                Value::list(coordinates.into_iter().map(Value::Int).collect())
            }
            ("coordinates_to_rank", [Value::List(list)]) => rank_at(&grid?.0, &grid?.1, list)?,
            ("get_layout", []) => {
                let (dims, periods) = grid?;
                let me = coordinates(dims, self.number_in(comm, sight)?);
                let numbers = |list: &[i128]| Value::list(list.iter().copied().map(Value::Int).collect());
                let periods = Value::list(periods.iter().copied().map(Value::Bool).collect());
                let fields = [
                    ("dims", numbers(dims)),
                    ("periods", periods),
                    ("coords", numbers(&me)),
                ];
                let fields = fields
                    .into_iter()
                    .map(|(name, value)| (Rc::from(name), value))
                    .collect();
                Value::Struct("CartesianLayout".into(), Rc::new(fields))
            }
            (name, _) if HARMLESS.contains(&name) => Value::Unknown,
            _ => return None,
        })
    }

    fn request_method(&mut self, id: u64, name: &str, _sight: &Sight<'_>) -> bool {
        match name {
            "wait" | "wait_for_data" | "wait_without_status" => {
                self.state = State::Waits(Wait::Requests(vec![id], Value::Data));
            }
            "get" => self.state = State::Waits(Wait::Receive(id, Gives::ValueAndStatus)),
            "into" | "clone" | "shrink_scope_to" => self.push(Value::Request(id)),
            "cancel" => self.lose("a request is cancelled, and whether in time is not known"),
            // It stays open: only a wait or the end of the scope closes it.
            _ => self.push(Value::Unknown),
        }
        true
    }

    fn message_method(&mut self, id: u64, name: &str, arguments: &[Value]) -> bool {
        let Some((value, status)) = self.held.get(&id).cloned() else {
            self.push(Value::Data);
            return true;
        };
        match name {
            "matched_receive" | "matched_receive_vec" => self.push(Value::tuple(vec![value, status])),
            "matched_receive_into" => {
                if let Some(Value::Ref(place)) = arguments.first().map(|into| self.followed(into.clone())) {
                    self.fill(&place, value);
                }
                self.push(status);
            }
            _ => {
                self.push(Value::Data);
                return true;
            }
        }
        self.held.remove(&id);
        true
    }

    fn request(&mut self, what: What) -> u64 {
        // How many there have been does not matter: states in which it differs are the same.
        self.restart_numbers();
        let id = self.next;
        self.next += 1;
        let at = self.at;
        self.requests.push(Request { id, what, at });
        id
    }

    /// A call that is made on a communicator, a process or any process.
    fn message(
        &mut self,
        call: &Rc<Call>,
        comm: usize,
        rank: Option<i128>,
        any: bool,
        arguments: &[Value],
        sight: &mut Sight<'_>,
    ) {
        let me = self.number_in(comm, sight);
        if me.is_none() {
            return self.lose("it is called on a communicator that this rank is not in");
        }
        match &call.sort {
            Sort::Send => match rank {
                Some(to) => {
                    let tag = self.tag_of(call.tag, arguments).unwrap_or(Value::Int(0));
                    self.send(comm, to, tag, call.data, arguments, sight);
                    self.after_send(call);
                }
                None => self.lose("it cannot be told where the message goes"),
            },
            Sort::Receive | Sort::Probe | Sort::Ask => {
                if rank.is_none() && !any {
                    return self.lose("it cannot be told where the message comes from");
                }
                let tag = self.tag_of(call.tag, arguments);
                if call.sort == Sort::Ask && self.is_not_there_yet(sight) {
                    return self.push(Value::none());
                }
                if self.state == State::Runs {
                    self.receive(call, comm, rank, tag, arguments);
                }
            }
            Sort::Test => self.push(Value::Data),
            Sort::Collective(waits) => {
                let kind = match call.kind.strip_prefix("immediate_") {
                    Some(_) => format!("{} (immediate)", call.kind),
                    None => call.kind.to_string(),
                };
                let part = Part {
                    kind: kind.into(),
                    waits: Some(*waits),
                    root: rank,
                    same: call.same,
                    data: call
                        .data
                        .and_then(|at| arguments.get(at))
                        .map(|one| self.value(one)),
                    split: None,
                    grid: None,
                };
                let into = call.into.and_then(|at| arguments.get(at)).cloned();
                self.collective(call, comm, part, into, sight);
            }
            Sort::Communicator => self.communicator(call, comm, arguments, sight),
            Sort::Exchange => self.lose("it is called in a way that is not known"),
            Sort::Opaque(why) => self.lose(&why.clone()),
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
        sight: &mut Sight<'_>,
    ) {
        if !tag.is_same() {
            return self.lose("the tag of the message cannot be worked out");
        }
        let data = data.and_then(|at| arguments.get(at)).map(|one| self.value(one));
        let Ok(to) = usize::try_from(to) else {
            return self.lose("it cannot be told where the message goes");
        };
        sight.asks.push(Ask::Send {
            comm,
            to,
            tag,
            data: sent(&data.unwrap_or_default(), sight.fine),
            at: self.at,
        });
    }

    fn after_send(&mut self, call: &Call) {
        if !matches!(self.state, State::Runs) {
            return;
        }
        if call.request {
            let id = self.request(What::Sent);
            self.push(Value::Request(id));
        } else {
            self.push(Value::Unit);
        }
    }

    fn receive(
        &mut self,
        call: &Call,
        comm: usize,
        source: Option<i128>,
        tag: Option<Value>,
        arguments: &[Value],
    ) {
        if tag.as_ref().is_some_and(|tag| !tag.is_same()) {
            return self.lose("the tag that it waits for cannot be worked out");
        }
        let asks = call.sort == Sort::Ask;
        if call.sort == Sort::Probe || (asks && call.gives == Gives::Status) {
            let maybe = asks;
            self.state = State::Waits(Wait::Probe {
                comm,
                source,
                tag,
                maybe,
            });
            return;
        }
        let into = call.into.and_then(|at| arguments.get(at)).cloned();
        let into = self.destination(into);
        let id = self.request(What::Receive {
            comm,
            source,
            tag,
            into,
            came: None,
        });
        if call.request {
            self.push(Value::Request(id));
        } else if asks {
            self.state = State::Waits(Wait::MaybeReceive(id, call.gives));
        } else {
            self.state = State::Waits(Wait::Receive(id, call.gives));
        }
    }

    /// Where something is put that comes later: what is there is not known from now on.
    fn destination(&mut self, into: Option<Value>) -> Option<Place> {
        match into.map(|one| self.followed(one)) {
            Some(Value::Ref(place)) => {
                match self.at_place(&place) {
                    Some(Value::List(_) | Value::Many(_)) => self.fill(&place, Value::Data),
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
        call: &Call,
        comm: usize,
        part: Part,
        into: Option<Value>,
        sight: &mut Sight<'_>,
    ) {
        let number = self.calls.entry(comm).or_default();
        let this = *number;
        *number += 1;
        sight.asks.push(Ask::Join {
            comm,
            number: this,
            part: Rc::new(part),
            at: self.at,
        });
        let into = self.destination(into);
        let id = self.request(What::Collective {
            comm,
            number: this,
            into,
        });
        if call.request {
            self.push(Value::Request(id));
        } else {
            self.state = State::Waits(Wait::Collective(id));
        }
    }

    fn communicator(&mut self, call: &Call, comm: usize, arguments: &[Value], sight: &mut Sight<'_>) {
        let plain: Vec<Value> = arguments.iter().map(|one| self.value(one)).collect();
        let me = self.number_in(comm, sight).unwrap_or(0);
        let mut part = Part {
            kind: call.kind.clone(),
            waits: None,
            root: None,
            same: false,
            data: None,
            split: None,
            grid: None,
        };
        if let Some(at) = call.color {
            let key = match call.key.and_then(|at| plain.get(at)) {
                None => Some(0),
                Some(Value::Int(key)) => Some(*key),
                Some(_) => None,
            };
            part.split = match (plain.get(at), key) {
                (Some(Value::Color(color)), Some(key)) => match **color {
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
            let old = sight.comms.get(comm).and_then(|of| of.grid.clone());
            match old.and_then(|old| subgrid(&old, me, plain.get(at))) {
                Some((color, key, grid)) => {
                    part.split = Some((Some(color), key));
                    part.grid = Some(grid);
                }
                None => return self.lose("which ranks the new communicator has cannot be worked out"),
            }
        }
        self.collective(call, comm, part, None, sight);
    }

    /// A function of rsmpi that is called by its path.
    pub(crate) fn mpi_function(&mut self, call: &Rc<Call>, arguments: &[Value], sight: &mut Sight<'_>) {
        if let Sort::Opaque(why) = &call.sort {
            return self.lose(&why.clone());
        }
        if call.sort != Sort::Exchange {
            // A method that is called by its path.
            let Some((receiver, rest)) = arguments.split_first() else {
                return self.lose("it is called in a way that is not known");
            };
            let (comm, rank, any) = match self.value(receiver) {
                Value::Comm(comm) => (comm, None, false),
                Value::Process(comm, rank) => (comm, Some(rank), false),
                Value::AnyProcess(comm) => (comm, None, true),
                _ => return self.lose(&format!("it cannot be told which process `{}` means", call.name)),
            };
            return self.message(call, comm, rank, any, rest, sight);
        }
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
        self.send(comm, to, send_tag, call.data, arguments, sight);
        if self.state == State::Runs {
            let tag = self.tag_of(call.tag, arguments);
            self.receive(call, comm, source, tag, arguments);
        }
    }

    /// Whether a function of rsmpi exchanges nothing and gives something that matters.
    pub(crate) fn mpi_value(&mut self, names: &[&str], plain: &[Value], sight: &mut Sight<'_>) -> bool {
        let found = match (names, plain) {
            ([.., "initialize"], []) => Value::some(Value::Universe),
            ([.., "initialize_with_threading"], [_]) => {
                Value::some(Value::tuple(vec![Value::Universe, Value::Data]))
            }
            ([.., "SimpleCommunicator" | "SystemCommunicator", "world"], []) => Value::Comm(0),
            ([.., "SimpleCommunicator" | "SystemCommunicator", "self_comm"], []) => {
                Value::Comm(1 + self.index)
            }
            ([.., "Color", "with_value"], [color]) => Value::Color(Box::new(color.clone())),
            ([.., "Color", "undefined"], []) => Value::Color(Box::new(Value::Unit)),
            ([.., "WaitGuard", "from"], [request]) => request.clone(),
            ([.., "CancelGuard", "from"], [_]) => {
                self.lose("a request is cancelled, and whether in time is not known");
                return true;
            }
            ([.., "request", "scope"], [closure]) => {
                self.call_scope(closure.clone(), vec![Value::Scope], sight);
                return true;
            }
            ([.., "multiple_scope"], [_, closure]) => {
                self.call_scope(closure.clone(), vec![Value::Scope, Value::Data], sight);
                return true;
            }
            _ => return false,
        };
        self.push(found);
        true
    }

    /// What it has waited for is there.
    pub(crate) fn go_on(&mut self, value: Value) {
        self.state = State::Runs;
        self.push(value);
    }

    /// Whether what a receive waits for is there.
    pub(crate) fn has_come(&self, id: u64) -> bool {
        let of_it = |one: &&Request| one.id == id;
        let what = self.requests.iter().find(of_it).map(|one| &one.what);
        matches!(what, Some(What::Receive { came: Some(_), .. }))
    }

    /// A receive is done: its value goes where it is wanted.
    pub(crate) fn received(&mut self, id: u64) -> Option<(Value, Value)> {
        let at = self.requests.iter().position(|one| one.id == id)?;
        let What::Receive {
            into,
            came: Some((value, source, tag)),
            ..
        } = self.requests[at].what.clone()
        else {
            return None;
        };
        self.requests.remove(at);
        if let Some(place) = into {
            self.fill(&place, value.clone());
        }
        Some((value, Value::Status(source, Box::new(tag))))
    }

    /// What a receive gives back.
    pub(crate) fn give(&mut self, gives: Gives, value: Value, status: Value) -> Value {
        match gives {
            Gives::Nothing => Value::Unit,
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

/// What is known of a message: whole numbers and truth values steer what is done with it; the rest is data, except where
/// that is followed too.
fn sent(value: &Value, fine: bool) -> Value {
    value.map(&mut |part| match part {
        Value::Uniform(_) if fine => None,
        Value::Uniform(_) | Value::Float(_) => Some(Value::Data),
        _ => None,
    })
}
