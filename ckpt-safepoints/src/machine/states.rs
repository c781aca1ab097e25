//! A rank's state as a whole: renamed, and given up in part.

use super::{BlockedOn, Continuation, Operation, Rank, RankState, Traversal};
use crate::values::widening::widened;
use crate::values::{MemoryPlace, Value};

impl Rank {
    /// With no request open, requests are counted from 0 again.
    pub(crate) fn restart_numbers(&mut self) {
        let drains = self
            .frames
            .iter()
            .any(|frame| matches!(frame.after, Continuation::Drain(_)));
        if self.requests.is_empty() && self.held.is_empty() && !drains {
            self.next = 0;
        }
    }

    /// Gives unknown values other numbers.
    pub(crate) fn rename(&mut self, rename: &mut dyn FnMut(u64) -> u64) {
        self.replace(&mut |part| match part {
            Value::Uniform(number) => Some(Value::Uniform(rename(*number))),
            _ => None,
        });
        for frame in &mut self.frames {
            if let Some(key) = &mut frame.key {
                *key = rename(*key);
            }
            for mark in &mut frame.marks {
                if let Some(key) = &mut mark.key {
                    *key = rename(*key);
                }
            }
        }
    }

    /// Replaces values, wherever they are held.
    pub(crate) fn replace(&mut self, change: &mut dyn FnMut(&Value) -> Option<Value>) {
        let mut value = |value: &mut Value| *value = value.map(change);
        for frame in &mut self.frames {
            frame.slots.iter_mut().for_each(&mut value);
            frame.stack.iter_mut().for_each(&mut value);
            frame.given.iter_mut().for_each(&mut value);
            if let Continuation::Each(Traversal {
                closure,
                current,
                todo,
                done,
                ..
            }) = &mut frame.after
            {
                value(closure);
                value(current);
                todo.iter_mut().chain(done).for_each(&mut value);
            }
        }
        for (data, status) in self.held.values_mut() {
            value(data);
            value(status);
        }
        for request in &mut self.requests {
            if let Operation::Receive { tag, came, .. } = &mut request.operation {
                tag.iter_mut().for_each(&mut value);
                if let Some((data, _, tag)) = came {
                    value(data);
                    value(tag);
                }
            }
        }
        match &mut self.state {
            RankState::Blocked(BlockedOn::Requests(_, given)) => value(given),
            RankState::Blocked(BlockedOn::Probe { tag: Some(tag), .. }) => value(tag),
            _ => {}
        }
    }

    /// The communicators that it holds, or has something under way on.
    pub(crate) fn communicators(&mut self, used: &mut dyn FnMut(usize)) {
        self.replace(&mut |part| {
            if let Value::Comm(comm)
            | Value::Process(comm, _)
            | Value::AnyProcess(comm)
            | Value::Handle(_, comm) = part
            {
                used(*comm);
            }
            None
        });
        for request in &self.requests {
            if let Operation::Receive { comm, .. } | Operation::Collective { comm, .. } = &request.operation {
                used(*comm);
            }
        }
        if let RankState::Blocked(BlockedOn::Probe { comm, .. }) = &self.state {
            used(*comm);
        }
    }

    /// Whether the same functions are being called, at the same steps.
    pub(crate) fn same_shape(&self, other: &Rank) -> bool {
        self.frames.len() == other.frames.len()
            && self
                .frames
                .iter()
                .zip(&other.frames)
                .all(|(a, b)| (a.code, a.pc) == (b.code, b.pc))
    }

    /// Replaces what has changed since an older state.
    pub(crate) fn widen(
        &mut self,
        old: &Rank,
        give_up: &mut dyn FnMut(&MemoryPlace, &Value, &Value) -> Value,
    ) {
        if !self.same_shape(old) {
            return;
        }
        let provenance = self.provenance.clone();
        for (index, (frame, old)) in self.frames.iter_mut().zip(&old.frames).enumerate() {
            for (slot, (value, old)) in frame.slots.iter_mut().zip(&old.slots).enumerate() {
                let place = MemoryPlace {
                    frame: index,
                    slot,
                    path: Vec::new(),
                };
                *value = widened(&place, old, value, &provenance, give_up);
            }
        }
        // What followed from the old values follows no more.
        let changed = self
            .frames
            .iter()
            .zip(&old.frames)
            .any(|(new, old)| new.key != old.key);
        if changed {
            for frame in &mut self.frames {
                frame.key = None;
            }
        }
        for frame in &mut self.frames {
            for mark in &mut frame.marks {
                mark.key = None;
            }
        }
    }
}
