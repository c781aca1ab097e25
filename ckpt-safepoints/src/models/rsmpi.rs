//! rsmpi: the crate `mpi`. What its calls do to messages stands in `tables/rsmpi.toml`; here is how its values behave.

use super::table::CallTable;
use super::{Caller, CommModel, Outcome};
use crate::machine::grids::{coordinates, rank_at, shifted};
use crate::skeleton::call::{CallKind, CommCall, Gives};
use crate::values::Value;
use std::rc::Rc;

const CANCELLED: &str = "a request is cancelled, and whether in time is not known";

/// The type of MPI's numbers, a C `int`.
const INTEGER: &str = "i32";

/// The names of rsmpi's objects that nothing but the model itself distinguishes.
const UNIVERSE: &str = "Universe";
const SCOPE: &str = "Scope";
const COLOR: &str = "Color";

fn object(name: &str, of: Value) -> Value {
    Value::Object(name.into(), Rc::new(of))
}

/// The model.
#[derive(Debug)]
pub struct Rsmpi {
    calls: CallTable,
}

impl Default for Rsmpi {
    fn default() -> Self {
        Self {
            calls: CallTable::read(include_str!("../../tables/rsmpi.toml")),
        }
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
        if last.starts_with("MPI_") {
            return self.raw(last);
        }
        let found = self.calls.get(last)?;
        // A method called by its path: `Communicator::barrier(&world)`, but not `Sender::send`.
        let of_mpi = |name: &String| self.calls.lists("owners", name);
        let is_free = found.kind == CallKind::Exchange;
        (is_free || path.iter().any(of_mpi)).then_some(found)
    }

    fn number_type(&self, name: &str) -> Option<&str> {
        self.calls.lists("integers", name).then_some(INTEGER)
    }

    fn leaves_receiver(&self, method: &str) -> bool {
        self.calls.lists("queries", method)
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
            Value::Object(name, _) => match (&**name, method) {
                (UNIVERSE, "world") => Value::Comm(0),
                (UNIVERSE | SCOPE, _) => Value::Data,
                _ => return Outcome::Foreign,
            },
            Value::Comm(comm) => return self.of_communicator(caller, *comm, method, &plain),
            Value::Group(members) => match of_group(caller.index(), members, method, &plain) {
                Some(found) => found,
                None => return not_followed(caller, method),
            },
            Value::Process(comm, rank) => match method {
                "rank" if caller.communicator(*comm).is_some() => Value::Int(*rank),
                "is_self" => Value::Bool(caller.number_in(*comm) == Some(*rank)),
                "as_communicator" => Value::Comm(*comm),
                "clone" => receiver.clone(),
                _ => match self.in_communicator(caller, *comm, method, &plain) {
                    Ok(found) => found,
                    Err(_) => return Outcome::Done,
                },
            },
            Value::AnyProcess(comm) => match method {
                "as_communicator" => Value::Comm(*comm),
                _ => receiver.clone(),
            },
            Value::Status(source, tag) => match method {
                "source_rank" => Value::Int(*source),
                "tag" => (**tag).clone(),
                "clone" => receiver.clone(),
                _ => Value::Data,
            },
            Value::Request(id) => return of_request(caller, *id, method),
            Value::Message(id) => return of_message(caller, *id, method, arguments),
            Value::Tuple(parts) if method == "matched_receive_vec" => match parts.first() {
                Some(Value::Message(id)) => return of_message(caller, *id, "matched_receive", arguments),
                _ => return not_followed(caller, method),
            },
            _ => return Outcome::Foreign,
        })
    }

    fn call_function(&self, caller: &mut Caller<'_, '_>, path: &[&str], arguments: &[Value]) -> Outcome {
        Outcome::Gives(match (path, arguments) {
            ([.., "initialize"], []) => Value::some(object(UNIVERSE, Value::Unit)),
            ([.., "initialize_with_threading"], [_]) => {
                Value::some(Value::tuple(vec![object(UNIVERSE, Value::Unit), Value::Data]))
            }
            ([.., "SimpleCommunicator" | "SystemCommunicator", "world"], []) => Value::Comm(0),
            ([.., "SimpleCommunicator" | "SystemCommunicator", "self_comm"], []) => {
                Value::Comm(1 + caller.index())
            }
            ([.., "Color", "with_value"], [color]) => object(COLOR, color.clone()),
            ([.., "Color", "undefined"], []) => object(COLOR, Value::Unit),
            ([.., "WaitGuard", "from"], [request]) => request.clone(),
            ([.., "CancelGuard", "from"], [_]) => return caller.lose(CANCELLED),
            ([.., "request", "scope"], [closure]) => {
                return caller.call_in_scope(closure.clone(), vec![object(SCOPE, Value::Unit)]);
            }
            ([.., "multiple_scope"], [_, closure]) => {
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
        let why = if self.calls.lists("windows", name) {
            "windows are not followed: any rank may write to another's memory"
        } else if self.calls.lists("local", name) {
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
        let ends = match (method, plain) {
            // rsmpi checks the number and panics.
            ("process_at_rank", [Value::Int(rank)]) => {
                let of = caller.communicator(comm).ok_or(Without::NotFollowed)?;
                !(0..of.members.len() as i128).contains(rank)
            }
            ("abort", [_]) => caller.communicator(comm).is_some(),
            _ => false,
        };
        if ends {
            caller.end();
            return Err(Without::Ends);
        }
        self.told_of_communicator(caller, comm, method, plain)
            .ok_or(Without::NotFollowed)
    }

    fn told_of_communicator(
        &self,
        caller: &Caller<'_, '_>,
        comm: usize,
        method: &str,
        plain: &[Value],
    ) -> Option<Value> {
        let of = caller.communicator(comm)?;
        let grid = of.grid.as_ref();
        let numbers = |list: Vec<i128>| Value::list(list.into_iter().map(Value::Int).collect());
        Some(match (method, plain) {
            ("rank", []) => Value::Int(caller.number_in(comm)?),
            ("size" | "target_size", []) => Value::Int(of.members.len() as i128),
            ("process_at_rank", [Value::Int(rank)]) => Value::Process(comm, *rank),
            ("process_at_rank", [_]) => Value::Unknown,
            ("any_process", []) => Value::AnyProcess(comm),
            ("this_process", []) => Value::Process(comm, caller.number_in(comm)?),
            ("as_communicator" | "clone", []) => Value::Comm(comm),
            ("group", []) => Value::Group(Rc::new(of.members.clone())),
            ("num_dimensions", []) => Value::Int(grid?.0.len() as i128),
            ("shift", [Value::Int(axis), Value::Int(by)]) => {
                let me = caller.number_in(comm)?;
                let (dims, periods) = grid?;
                let axis = usize::try_from(*axis).ok().filter(|axis| *axis < dims.len())?;
                let neighbour = |by: i128| match shifted(dims, periods, me, axis, by) {
                    Some(rank) => Value::some(Value::Int(rank)),
                    None => Value::none(),
                };
                Value::tuple(vec![neighbour(-by), neighbour(*by)])
            }
            ("rank_to_coordinates", [Value::Int(rank)]) => numbers(coordinates(&grid?.0, *rank)),
            ("coordinates_to_rank", [Value::List(list)]) => rank_at(&grid?.0, &grid?.1, list)?,
            ("get_layout", []) => {
                let (dims, periods) = grid?;
                let me = coordinates(dims, caller.number_in(comm)?);
                let periods = Value::list(periods.iter().copied().map(Value::Bool).collect());
                let fields = [
                    ("dims", numbers(dims.clone())),
                    ("periods", periods),
                    ("coords", numbers(me)),
                ];
                let fields = fields.into_iter().map(|(name, value)| (Rc::from(name), value));
                Value::Struct("CartesianLayout".into(), Rc::new(fields.collect()))
            }
            (name, _) if self.calls.lists("quiet", name) => Value::Unknown,
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

fn of_request(caller: &mut Caller<'_, '_>, id: u64, method: &str) -> Outcome {
    match method {
        "wait" | "wait_for_data" | "wait_without_status" => caller.wait(vec![id], Value::Data),
        "get" => caller.receive(id, Gives::ValueAndStatus),
        "into" | "clone" | "shrink_scope_to" => Outcome::Gives(Value::Request(id)),
        "cancel" => caller.lose(CANCELLED),
        // It stays open: only a wait or the end of the scope closes it.
        _ => Outcome::Gives(Value::Unknown),
    }
}

fn of_message(caller: &mut Caller<'_, '_>, id: u64, method: &str, arguments: &[Value]) -> Outcome {
    let Some((value, status)) = caller.matched(id) else {
        return Outcome::Gives(Value::Data);
    };
    let given = match method {
        "matched_receive" | "matched_receive_vec" => Value::tuple(vec![value, status]),
        "matched_receive_into" => {
            if let Some(into) = arguments.first() {
                caller.fill(into, value);
            }
            status
        }
        _ => return Outcome::Gives(Value::Data),
    };
    caller.take_matched(id);
    Outcome::Gives(given)
}

/// A method of a group; nothing where it cannot be worked out.
fn of_group(me: usize, members: &Rc<Vec<usize>>, method: &str, plain: &[Value]) -> Option<Value> {
    let group = |list: Vec<usize>| Value::Group(Rc::new(list));
    let both = |other: &[usize], wanted: bool| -> Vec<usize> {
        let kept = members.iter().filter(|one| other.contains(one) == wanted);
        kept.copied().collect()
    };
    Some(match (method, plain) {
        ("clone" | "as_ref", []) => Value::Group(Rc::clone(members)),
        ("size", []) => Value::Int(members.len() as i128),
        ("rank", []) => match members.iter().position(|one| *one == me) {
            Some(at) => Value::some(Value::Int(at as i128)),
            None => Value::none(),
        },
        ("union", [Value::Group(other)]) => {
            let more = other.iter().filter(|one| !members.contains(one));
            group(members.iter().chain(more).copied().collect())
        }
        ("intersection", [Value::Group(other)]) => group(both(other, true)),
        ("difference", [Value::Group(other)]) => group(both(other, false)),
        ("include", [list]) => group(
            positions(list)?
                .into_iter()
                .map(|at| members.get(at).copied())
                .collect::<Option<_>>()?,
        ),
        ("exclude", [list]) => {
            let without = positions(list)?;
            let kept = members.iter().enumerate().filter(|(at, _)| !without.contains(at));
            group(kept.map(|(_, one)| *one).collect())
        }
        ("compare" | "translate_rank" | "translate_ranks", _) => Value::Unknown,
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
