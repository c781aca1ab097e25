//! Collective calls: who waits for whom, what comes of them, and the communicators that they make.

use super::GlobalState;
use crate::machine::{Communicator, Contribution, Operation, ProgramPoint};
use crate::skeleton::call::CollectiveOrder;
use crate::values::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// A collective call.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(crate) struct CollectiveCall {
    /// By the rank's number in the communicator.
    pub(crate) parts: BTreeMap<usize, (Rc<Contribution>, ProgramPoint)>,
    /// The communicators that came of it, by colour.
    made: Option<BTreeMap<i128, usize>>,
}

impl CollectiveCall {
    /// Gives values that are not known other numbers.
    pub(crate) fn rename(&mut self, rename: &mut dyn FnMut(u64) -> u64) {
        for (part, _) in self.parts.values_mut() {
            if let Some(data) = &part.data {
                let data = data.map(&mut |part| match part {
                    Value::Uniform(number) => Some(Value::Uniform(rename(*number))),
                    _ => None,
                });
                Rc::make_mut(part).data = Some(data);
            }
        }
    }
}

impl GlobalState {
    /// Collective calls that all ranks have left do not matter any more: those that come are numbered from there.
    pub(crate) fn forget_finished_collectives(&mut self) {
        let mut open = BTreeSet::new();
        for rank in self.ranks.iter() {
            open.extend(
                rank.requests
                    .iter()
                    .filter_map(|request| match request.operation {
                        Operation::Collective { comm, number, .. } => Some((comm, number)),
                        _ => None,
                    }),
            );
        }
        let comms = &self.comms;
        self.collectives.retain(|(comm, number), one| {
            one.parts.len() < comms[*comm].members.len() || open.contains(&(*comm, *number))
        });
        for comm in 0..self.comms.len() {
            let of_it = self.collectives.keys().filter(|(of, _)| *of == comm);
            let called = self.comms[comm]
                .members
                .iter()
                .map(|rank| self.ranks[*rank].calls.get(&comm).copied().unwrap_or(0));
            let first = called.chain(of_it.map(|(_, number)| *number)).min().unwrap_or(0);
            if first > 0 {
                self.count_from(comm, first);
            }
        }
    }

    /// The newest communicators that no rank has any more are forgotten: one that is made in each turn of a loop is the
    /// same in each.
    pub(crate) fn forget_lost_communicators(&mut self) {
        let first = 1 + self.ranks.len();
        if self.comms.len() <= first {
            return;
        }
        let mut last = first;
        let mut used = |comm: usize| last = last.max(comm + 1);
        self.in_transit.keys().for_each(|(comm, ..)| used(*comm));
        self.collectives.keys().for_each(|(comm, _)| used(*comm));
        for rank in self.ranks.iter_mut() {
            rank.communicators(&mut used);
        }
        self.comms.truncate(last);
        for rank in self.ranks.iter_mut() {
            rank.calls.retain(|comm, _| *comm < last);
        }
    }

    fn count_from(&mut self, comm: usize, first: usize) {
        for rank in self.ranks.iter_mut() {
            if let Some(called) = rank.calls.get_mut(&comm) {
                *called -= first.min(*called);
            }
            for request in &mut rank.requests {
                match &mut request.operation {
                    Operation::Collective { comm: of, number, .. } if *of == comm => *number -= first,
                    _ => {}
                }
            }
        }
        let together = std::mem::take(&mut self.collectives);
        self.collectives = together
            .into_iter()
            .map(|((of, number), one)| match of == comm {
                true => ((of, number - first), one),
                false => ((of, number), one),
            })
            .collect();
    }

    /// The end of a rank's part in a collective call, if those that it waits for are there.
    pub(crate) fn finish(&mut self, index: usize, id: u64) -> Option<Value> {
        let at = self.ranks[index].requests.iter().position(|one| one.id == id)?;
        let Operation::Collective { comm, number, into } = self.ranks[index].requests[at].operation.clone()
        else {
            return None;
        };
        let members = self.comms[comm].members.clone();
        let me = self.number_in(index, comm);
        let together = self.collectives.get(&(comm, number))?;
        let part = Rc::clone(&together.parts.get(&me)?.0);
        let all = together.parts.len() == members.len();
        let there = match part.waits {
            None | Some(CollectiveOrder::All) => all,
            Some(CollectiveOrder::FromRoot) => part
                .root
                .is_some_and(|root| together.parts.contains_key(&(root as usize))),
            Some(CollectiveOrder::ToRoot) => all || part.root != Some(me as i128),
            Some(CollectiveOrder::Some) => true,
            Some(CollectiveOrder::Below) => (0..me).all(|below| together.parts.contains_key(&below)),
        };
        if !there {
            return None;
        }
        let value = match part.waits {
            None => self.communicator(comm, number, me),
            Some(_) => {
                let value = self.outcome(comm, number, &part);
                let is_broadcast = part.same && part.root.is_some();
                match into {
                    // Whatever was there: it is on all ranks what the root has.
                    Some(place) if is_broadcast => self.ranks[index].put(&place, value),
                    Some(place) => self.ranks[index].fill(&place, value),
                    None if part.same => return self.finished(index, at, value),
                    None => {}
                }
                Value::Unit
            }
        };
        self.finished(index, at, value)
    }

    fn finished(&mut self, index: usize, request: usize, value: Value) -> Option<Value> {
        self.ranks[index].requests.remove(request);
        Some(value)
    }

    /// What a collective call puts into the ranks' variables.
    fn outcome(&self, comm: usize, number: usize, part: &Contribution) -> Value {
        if !part.same {
            return Value::Data;
        }
        let of_root = part.root.and_then(|root| {
            let together = self.collectives.get(&(comm, number))?;
            together.parts.get(&(root as usize))?.0.data.clone()
        });
        let told = Value::uniform(&("together", comm, number));
        match of_root {
            Some(value) if value.is_uniform() && value.is_data() => value,
            Some(Value::List(parts)) => told.elements(parts.len()),
            _ => told,
        }
    }

    fn communicator(&mut self, comm: usize, number: usize, me: usize) -> Value {
        self.make_communicators(comm, number);
        let Some(together) = self.collectives.get(&(comm, number)) else {
            return Value::Unknown;
        };
        let Some((part, _)) = together.parts.get(&me) else {
            return Value::Unknown;
        };
        let color = match (&part.split, &part.grid) {
            (Some((color, _)), _) => *color,
            (None, Some((dims, _))) => ((me as i128) < dims.iter().product()).then_some(0),
            (None, None) => Some(0),
        };
        let made = color.and_then(|color| together.made.as_ref()?.get(&color).copied());
        match made {
            Some(comm) if part.optional => Value::some(Value::Comm(comm)),
            Some(comm) => Value::Comm(comm),
            None => Value::none(),
        }
    }

    fn make_communicators(&mut self, comm: usize, number: usize) {
        let Some(together) = self
            .collectives
            .get(&(comm, number))
            .filter(|one| one.made.is_none())
        else {
            return;
        };
        let mut groups: BTreeMap<i128, Vec<(i128, usize)>> = BTreeMap::new();
        let mut grid = None;
        for (me, (part, _)) in &together.parts {
            let wanted = match (&part.split, &part.grid) {
                (Some((color, key)), _) => color.map(|color| (color, *key)),
                (None, Some((dims, _))) => ((*me as i128) < dims.iter().product()).then_some((0, 0)),
                (None, None) => Some((0, 0)),
            };
            if let Some((color, key)) = wanted {
                groups.entry(color).or_default().push((key, *me));
            }
            grid = grid.or_else(|| part.grid.clone());
        }
        let mut made = BTreeMap::new();
        for (color, mut members) in groups {
            members.sort_unstable();
            let members = members
                .into_iter()
                .map(|(_, me)| self.comms[comm].members[me])
                .collect();
            self.comms.push(Communicator {
                members,
                grid: grid.clone(),
            });
            made.insert(color, self.comms.len() - 1);
        }
        if let Some(together) = self.collectives.get_mut(&(comm, number)) {
            together.made = Some(made);
        }
    }

    /// A collective call that some ranks have made and others have not.
    pub(crate) fn half_done(&self) -> Option<(ProgramPoint, usize)> {
        self.collectives.iter().find_map(|((comm, _), one)| {
            let members = &self.comms[*comm].members;
            let missing = (0..members.len()).find(|me| !one.parts.contains_key(me))?;
            let at = one.parts.values().next()?.1;
            Some((at, members[missing]))
        })
    }
}

/// In what two parts of one call do not agree.
pub(crate) fn differs(first: &Contribution, other: &Contribution) -> String {
    if first.collective != other.collective {
        format!(
            "`{}` where the other calls `{}`: another collective call",
            other.collective, first.collective
        )
    } else {
        format!("`{}` with another root", other.collective)
    }
}
