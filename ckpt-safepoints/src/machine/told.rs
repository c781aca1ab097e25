//! Calls of crates of which it is told what they exchange: each is a code of its own, with a step for everything that it does.

use super::messages::Peer;
use super::{Rank, View};
use crate::skeleton::call::CallKind;
use crate::skeleton::{TellsOn, ToldCode, ToldStep};
use crate::values::Value;

impl Rank {
    /// A method that may be one of such a crate's: by what it is called on, or by the communicators that it is given.
    pub(super) fn told_method(
        &mut self,
        told: &[ToldCode],
        receiver: &Value,
        arguments: &[Value],
        view: &mut View<'_>,
    ) -> bool {
        let value = self.value(receiver);
        let of_crate = |one: &&ToldCode| matches!(&value, Value::Handle(of, _) if *of == one.of);
        let by_handle: Vec<&ToldCode> = told.iter().filter(of_crate).collect();
        let candidates = match (&value, by_handle.is_empty()) {
            (_, false) => by_handle,
            // Of another crate, or a value of the language.
            (Value::Handle(..) | Value::Comm(_) | Value::Process(..) | Value::AnyProcess(_), true) => {
                return false;
            }
            (value, true)
                if value.is_data() && !value.is_unknown() && !matches!(value, Value::Uniform(_)) =>
            {
                return false;
            }
            _ => told.iter().collect(),
        };
        let mut given = vec![receiver.clone()];
        given.extend(arguments.iter().cloned());
        match candidates[..] {
            [] => return false,
            [one] if one.on == TellsOn::Arguments || matches!(value, Value::Handle(..)) => {
                self.call(one.code, given, None, super::Continuation::Value, view);
            }
            _ => {
                let names: Vec<&str> = candidates.iter().map(|one| one.name.as_ref()).collect();
                self.lose(&format!(
                    "whether this is `{}` cannot be told",
                    names.join("` or `")
                ));
            }
        }
        true
    }

    /// One of the things that such a call does: communicator, rank, tag and destination lie on the stack.
    pub(super) fn told_step(&mut self, step: &ToldStep, view: &mut View<'_>) -> Option<()> {
        let given = self.pop_many(4)?;
        let plain: Vec<Value> = given.iter().map(|one| self.value(one)).collect();
        let told_rank = match &plain[1] {
            Value::Process(comm, rank) => Some(Peer::one(*comm, *rank)),
            Value::AnyProcess(comm) => Some(Peer::any(*comm)),
            _ => None,
        };
        let comm = match (&plain[0], &told_rank) {
            (Value::Comm(comm) | Value::Handle(_, comm) | Value::Process(comm, _), _) => Some(*comm),
            (Value::Unit, Some(peer)) => Some(peer.comm),
            _ => None,
        };
        let Some(comm) = comm.filter(|comm| view.comms.get(*comm).is_some()) else {
            self.lose("it cannot be told on which communicator this is");
            return Some(());
        };
        let members = view.comms[comm].members.len() as i128;
        let peer = match (&plain[1], told_rank) {
            (_, Some(peer)) => Peer { comm, ..peer },
            (_, None) if step.any => Peer::any(comm),
            (Value::Unit, None) => Peer::all(comm),
            (Value::Int(rank), None) if (0..members).contains(rank) => Peer::one(comm, *rank),
            _ => {
                self.lose(match step.call.kind {
                    CallKind::Send => "it cannot be told where the message goes",
                    CallKind::Receive => "it cannot be told where the message comes from",
                    _ => "it cannot be told which rank is the root",
                });
                return Some(());
            }
        };
        self.communicate(&step.call, peer, &given[2..], view);
        Some(())
    }

    /// What is on top is a communicator, or stands for one: what the crate returns stands for it.
    pub(super) fn told_handle(&mut self, of: &std::rc::Rc<str>) -> Option<()> {
        let top = self.pop()?;
        match self.value(&top) {
            Value::Comm(comm)
            | Value::Handle(_, comm)
            | Value::Process(comm, _)
            | Value::AnyProcess(comm) => self.push(Value::Handle(of.clone(), comm)),
            _ => self.lose("it cannot be told on which communicator this exchanges messages"),
        }
        Some(())
    }
}
