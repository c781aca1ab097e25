//! rsmpi: the crate `mpi`. What its calls do to messages stands in `tables/rsmpi.toml`; here is how its values behave.

use super::table::{CallTable, Names};
use super::{Caller, CommModel, Outcome};
use crate::machine::grids::{coordinates, rank_at, shifted};
use crate::skeleton::call::{CallKind, CommCall, Gives};
use crate::skeleton::family::Family;
use crate::values::Value;
use serde::Deserialize;
use std::rc::Rc;

const CANCELLED: &str = "a request is cancelled, and whether in time is not known";

/// The type of MPI's numbers, a C `int`.
const INTEGER: &str = "i32";

/// What this model calls objects that nothing else distinguishes.
const UNIVERSE: &str = "Universe";
const SCOPE: &str = "Scope";
const COLOR: &str = "Color";

fn object(name: &str, of: Value) -> Value {
    Value::Object(name.into(), Rc::new(of))
}

/// The model, as the table has it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rsmpi {
    queries: Names,
    quiet: Names,
    integers: Names,
    owners: Names,
    raw: Names,
    windows: Names,
    local: Names,
    layout: Layout,
    universe: Family<OfUniverse>,
    communicators: Family<OfCommunicator>,
    groups: Family<OfGroup>,
    processes: Family<OfProcess>,
    statuses: Family<OfStatus>,
    requests: Family<OfRequest>,
    messages: Family<OfMessage>,
    messages_with_status: Family<OfMessage>,
    functions: Family<Function>,
    calls: CallTable,
}

/// The type that tells a rank where it stands in a grid, and its fields.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Layout {
    name: String,
    dims: String,
    periods: String,
    coords: String,
}

macro_rules! kinds {
    ($($(#[$doc:meta])* $name:ident { $($kind:ident,)* })*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
        #[serde(rename_all = "snake_case")]
        enum $name {
            $($kind,)*
        }
    )*};
}

kinds! {
    OfUniverse { World, }
    OfCommunicator {
        Rank, Size, Process, AnyProcess, ThisProcess, Itself, Group, Abort, Dimensions, Shift, Coordinates, RankAt, Layout,
    }
    OfGroup { Itself, Size, Rank, Union, Intersection, Difference, Include, Exclude, Unknown, }
    /// A method that is not listed is one of the process's communicator.
    OfProcess { Rank, IsSelf, Communicator, Itself, }
    OfStatus { Source, Tag, Itself, }
    OfRequest { Wait, Receive, Itself, Cancel, }
    OfMessage { Receive, ReceiveInto, }
    Function {
        Initialize, InitializeThreads, World, OwnCommunicator, Color, NoColor, WaitGuard, CancelGuard, Scope, MultipleScope,
    }
}

impl Default for Rsmpi {
    fn default() -> Self {
        toml::from_str(include_str!("../../tables/rsmpi.toml"))
            .unwrap_or_else(|error| panic!("rsmpi.toml: {error}"))
    }
}

impl CommModel for Rsmpi {
    fn crate_name(&self) -> &str {
        "mpi"
    }

    fn method(&self, name: &str) -> Option<Rc<CommCall>> {
        self.calls.get(name)
    }

    /// `p2p::send_receive(..)`, `Communicator::barrier(&world)`, a raw MPI call.
    fn function(&self, path: &[String]) -> Option<Rc<CommCall>> {
        let last = path.last()?;
        if self.raw.has(last) {
            return self.raw(last);
        }
        let found = self.calls.get(last)?;
        // A method called by its path: `Communicator::barrier(&world)`, but not `Sender::send`.
        let of_mpi = |name: &String| self.owners.has(name);
        let is_free = found.kind == CallKind::Exchange;
        (is_free || path.iter().any(of_mpi)).then_some(found)
    }

    fn number_type(&self, name: &str) -> Option<&str> {
        self.integers.has(name).then_some(INTEGER)
    }

    fn leaves_receiver(&self, method: &str) -> bool {
        self.queries.has(method)
    }

    fn call_method(
        &self,
        caller: &mut Caller<'_, '_>,
        method: &str,
        receiver: &Value,
        arguments: &[Value],
    ) -> Outcome {
        let plain: Vec<Value> = arguments.iter().map(|one| caller.value(one)).collect();
        Outcome::Gives(match receiver {
            Value::Object(name, _) => match (&**name, self.universe.get(method)) {
                (UNIVERSE, Some(OfUniverse::World)) => Value::Comm(0),
                (UNIVERSE | SCOPE, _) => Value::Data,
                _ => return Outcome::Foreign,
            },
            Value::Comm(comm) => return self.of_communicator(caller, *comm, method, &plain),
            Value::Group(members) => {
                let call = self.groups.get(method);
                match call.and_then(|call| of_group(caller.index(), members, call, &plain)) {
                    Some(found) => found,
                    None => return not_followed(caller, method),
                }
            }
            Value::Process(comm, rank) => match self.processes.get(method) {
                Some(OfProcess::Rank) if caller.communicator(*comm).is_some() => Value::Int(*rank),
                Some(OfProcess::IsSelf) => Value::Bool(caller.number_in(*comm) == Some(*rank)),
                Some(OfProcess::Communicator) => Value::Comm(*comm),
                Some(OfProcess::Itself) => receiver.clone(),
                _ => match self.in_communicator(caller, *comm, method, &plain) {
                    Ok(found) => found,
                    Err(_) => return Outcome::Done,
                },
            },
            Value::AnyProcess(comm) => match self.processes.get(method) {
                Some(OfProcess::Communicator) => Value::Comm(*comm),
                _ => receiver.clone(),
            },
            Value::Status(source, tag) => match self.statuses.get(method) {
                Some(OfStatus::Source) => Value::Int(*source),
                Some(OfStatus::Tag) => (**tag).clone(),
                Some(OfStatus::Itself) => receiver.clone(),
                None => Value::Data,
            },
            Value::Request(id) => return of_request(caller, *id, self.requests.get(method)),
            Value::Message(id) => return of_message(caller, *id, self.messages.get(method), arguments),
            Value::Tuple(parts) => match (self.messages_with_status.get(method), parts.first()) {
                (Some(call), Some(Value::Message(id))) => {
                    return of_message(caller, *id, Some(call), arguments);
                }
                (Some(_), _) => return not_followed(caller, method),
                (None, _) => return Outcome::Foreign,
            },
            _ => return Outcome::Foreign,
        })
    }

    fn call_function(&self, caller: &mut Caller<'_, '_>, path: &[&str], arguments: &[Value]) -> Outcome {
        let Some(call) = self.functions.at_end(path) else {
            return Outcome::Foreign;
        };
        Outcome::Gives(match (call, arguments) {
            (Function::Initialize, []) => Value::some(object(UNIVERSE, Value::Unit)),
            (Function::InitializeThreads, [_]) => {
                Value::some(Value::tuple(vec![object(UNIVERSE, Value::Unit), Value::Data]))
            }
            (Function::World, []) => Value::Comm(0),
            (Function::OwnCommunicator, []) => Value::Comm(1 + caller.index()),
            (Function::Color, [color]) => object(COLOR, color.clone()),
            (Function::NoColor, []) => object(COLOR, Value::Unit),
            (Function::WaitGuard, [request]) => request.clone(),
            (Function::CancelGuard, [_]) => return caller.lose(CANCELLED),
            (Function::Scope, [closure]) => {
                return caller.call_in_scope(closure.clone(), vec![object(SCOPE, Value::Unit)]);
            }
            (Function::MultipleScope, [_, closure]) => {
                let given = vec![object(SCOPE, Value::Unit), Value::Data];
                return caller.call_in_scope(closure.clone(), given);
            }
            _ => return Outcome::Foreign,
        })
    }
}

impl Rsmpi {
    /// What a function of MPI itself does: whatever may communicate is not followed.
    fn raw(&self, name: &str) -> Option<Rc<CommCall>> {
        let why = if self.windows.has(name) {
            "windows are not followed: any rank may write to another's memory"
        } else if self.local.has(name) {
            return None;
        } else {
            "calls of MPI itself, past rsmpi, are not followed"
        };
        Some(Rc::new(CommCall::new(name, CallKind::Opaque(why.into()))))
    }

    fn of_communicator(
        &self,
        caller: &mut Caller<'_, '_>,
        comm: usize,
        method: &str,
        plain: &[Value],
    ) -> Outcome {
        match self.in_communicator(caller, comm, method, plain) {
            Ok(found) => Outcome::Gives(found),
            Err(Without::Ends) => Outcome::Done,
            Err(Without::NotFollowed) => not_followed(caller, method),
        }
    }

    fn in_communicator(
        &self,
        caller: &mut Caller<'_, '_>,
        comm: usize,
        method: &str,
        plain: &[Value],
    ) -> Result<Value, Without> {
        let call = self.communicators.get(method);
        let ends = match (call, plain) {
            // rsmpi checks the number and panics.
            (Some(OfCommunicator::Process), [Value::Int(rank)]) => {
                let of = caller.communicator(comm).ok_or(Without::NotFollowed)?;
                !(0..of.members.len() as i128).contains(rank)
            }
            (Some(OfCommunicator::Abort), [_]) => caller.communicator(comm).is_some(),
            _ => false,
        };
        if ends {
            caller.end();
            return Err(Without::Ends);
        }
        let told = call.and_then(|call| self.told_of_communicator(caller, comm, call, plain));
        let is_quiet = || caller.communicator(comm).is_some() && self.quiet.has(method);
        told.or_else(|| is_quiet().then_some(Value::Unknown))
            .ok_or(Without::NotFollowed)
    }

    fn told_of_communicator(
        &self,
        caller: &Caller<'_, '_>,
        comm: usize,
        call: OfCommunicator,
        plain: &[Value],
    ) -> Option<Value> {
        let of = caller.communicator(comm)?;
        let grid = of.grid.as_ref();
        let numbers = |list: Vec<i128>| Value::list(list.into_iter().map(Value::Int).collect());
        Some(match (call, plain) {
            (OfCommunicator::Rank, []) => Value::Int(caller.number_in(comm)?),
            (OfCommunicator::Size, []) => Value::Int(of.members.len() as i128),
            (OfCommunicator::Process, [Value::Int(rank)]) => Value::Process(comm, *rank),
            (OfCommunicator::Process, [_]) => Value::Unknown,
            (OfCommunicator::AnyProcess, []) => Value::AnyProcess(comm),
            (OfCommunicator::ThisProcess, []) => Value::Process(comm, caller.number_in(comm)?),
            (OfCommunicator::Itself, []) => Value::Comm(comm),
            (OfCommunicator::Group, []) => Value::Group(Rc::new(of.members.clone())),
            (OfCommunicator::Dimensions, []) => Value::Int(grid?.0.len() as i128),
            (OfCommunicator::Shift, [Value::Int(axis), Value::Int(by)]) => {
                let me = caller.number_in(comm)?;
                let (dims, periods) = grid?;
                let axis = usize::try_from(*axis).ok().filter(|axis| *axis < dims.len())?;
                let neighbour = |by: i128| match shifted(dims, periods, me, axis, by) {
                    Some(rank) => Value::some(Value::Int(rank)),
                    None => Value::none(),
                };
                Value::tuple(vec![neighbour(-by), neighbour(*by)])
            }
            (OfCommunicator::Coordinates, [Value::Int(rank)]) => numbers(coordinates(&grid?.0, *rank)),
            (OfCommunicator::RankAt, [Value::List(list)]) => rank_at(&grid?.0, &grid?.1, list)?,
            (OfCommunicator::Layout, []) => {
                let (dims, periods) = grid?;
                let me = coordinates(dims, caller.number_in(comm)?);
                let periods = Value::list(periods.iter().copied().map(Value::Bool).collect());
                let fields = [
                    (&self.layout.dims, numbers(dims.clone())),
                    (&self.layout.periods, periods),
                    (&self.layout.coords, numbers(me)),
                ];
                let fields = fields
                    .into_iter()
                    .map(|(name, value)| (Rc::from(name.as_str()), value));
                Value::Struct(self.layout.name.as_str().into(), Rc::new(fields.collect()))
            }
            _ => return None,
        })
    }
}

fn not_followed(caller: &mut Caller<'_, '_>, method: &str) -> Outcome {
    caller.lose(&format!(
        "`{method}` of a communicator or a group is not followed"
    ))
}

/// Why a method of a communicator returns nothing.
enum Without {
    /// The process ends by it.
    Ends,
    /// What it returns is not known.
    NotFollowed,
}

fn of_request(caller: &mut Caller<'_, '_>, id: u64, call: Option<OfRequest>) -> Outcome {
    match call {
        Some(OfRequest::Wait) => caller.wait(vec![id], Value::Data),
        Some(OfRequest::Receive) => caller.receive(id, Gives::ValueAndStatus),
        Some(OfRequest::Itself) => Outcome::Gives(Value::Request(id)),
        Some(OfRequest::Cancel) => caller.lose(CANCELLED),
        // It stays open: only a wait or the end of the scope closes it.
        None => Outcome::Gives(Value::Unknown),
    }
}

fn of_message(caller: &mut Caller<'_, '_>, id: u64, call: Option<OfMessage>, arguments: &[Value]) -> Outcome {
    let Some((value, status)) = caller.matched(id) else {
        return Outcome::Gives(Value::Data);
    };
    let given = match call {
        Some(OfMessage::Receive) => Value::tuple(vec![value, status]),
        Some(OfMessage::ReceiveInto) => {
            if let Some(into) = arguments.first() {
                caller.fill(into, value);
            }
            status
        }
        None => return Outcome::Gives(Value::Data),
    };
    caller.take_matched(id);
    Outcome::Gives(given)
}

/// A method of a group; nothing where it cannot be worked out.
fn of_group(me: usize, members: &Rc<Vec<usize>>, call: OfGroup, plain: &[Value]) -> Option<Value> {
    let group = |list: Vec<usize>| Value::Group(Rc::new(list));
    let both = |other: &[usize], wanted: bool| -> Vec<usize> {
        let kept = members.iter().filter(|one| other.contains(one) == wanted);
        kept.copied().collect()
    };
    Some(match (call, plain) {
        (OfGroup::Itself, []) => Value::Group(Rc::clone(members)),
        (OfGroup::Size, []) => Value::Int(members.len() as i128),
        (OfGroup::Rank, []) => match members.iter().position(|one| *one == me) {
            Some(at) => Value::some(Value::Int(at as i128)),
            None => Value::none(),
        },
        (OfGroup::Union, [Value::Group(other)]) => {
            let more = other.iter().filter(|one| !members.contains(one));
            group(members.iter().chain(more).copied().collect())
        }
        (OfGroup::Intersection, [Value::Group(other)]) => group(both(other, true)),
        (OfGroup::Difference, [Value::Group(other)]) => group(both(other, false)),
        (OfGroup::Include, [list]) => group(
            positions(list)?
                .into_iter()
                .map(|at| members.get(at).copied())
                .collect::<Option<_>>()?,
        ),
        (OfGroup::Exclude, [list]) => {
            let without = positions(list)?;
            let kept = members.iter().enumerate().filter(|(at, _)| !without.contains(at));
            group(kept.map(|(_, one)| *one).collect())
        }
        (OfGroup::Unknown, _) => Value::Unknown,
        _ => return None,
    })
}

fn positions(list: &Value) -> Option<Vec<usize>> {
    let Value::List(parts) = list else { return None };
    let number = |part: &Value| match part {
        Value::Int(number) => usize::try_from(*number).ok(),
        _ => None,
    };
    parts.iter().map(number).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_read_and_knows_the_calls() {
        let model = Rsmpi::default();
        assert_eq!(model.method("send").unwrap().kind, CallKind::Send);
        assert_eq!(model.method("receive_into_with_tag").unwrap().tag, Some(1));
        assert!(model.method("immediate_receive_into").unwrap().request);
        assert!(model.method("rank").is_none());
    }
}
