//! Two runs side by side: the checkpoints that both have taken at the same visit.

use std::collections::BTreeMap;

use ckpt::store::{CheckpointId, Meta};

use crate::failure::Outcome;
use crate::stores::lines::Lines;

/// A visit at which both runs have a checkpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Meeting {
    /// The number of the visit.
    pub visit: u64,
    /// The checkpoint of the first run.
    pub a: CheckpointId,
    /// That of the second.
    pub b: CheckpointId,
}

/// All of them, the earliest first.
pub fn meetings(a: &BTreeMap<u64, CheckpointId>, b: &BTreeMap<u64, CheckpointId>) -> Vec<Meeting> {
    let meeting = |(&visit, &a): (&u64, &CheckpointId)| {
        let b = *b.get(&visit)?;
        Some(Meeting { visit, a, b })
    };
    a.iter().filter_map(meeting).collect()
}

/// The checkpoints of a run by their visits, and what its newest says of the program. Of several at one visit, as there
/// are after a restart, the newest counts.
pub fn by_visit(lines: &Lines) -> Outcome<(BTreeMap<u64, CheckpointId>, Option<Meta>)> {
    let mut found = BTreeMap::new();
    let mut newest = None;
    for line in lines.list()? {
        let metas = line.entries.into_iter().filter_map(|(_, entry)| entry.meta.ok());
        if let Some(meta) = metas.into_iter().next() {
            found.insert(meta.visit, line.id);
            newest = Some(meta);
        }
    }
    Ok((found, newest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_meet_where_both_have_a_checkpoint() {
        let run = |list: &[(u64, u64)]| {
            list.iter()
                .map(|&(visit, id)| (visit, CheckpointId(id)))
                .collect()
        };
        let found = meetings(
            &run(&[(10, 1), (20, 2), (30, 3)]),
            &run(&[(5, 1), (20, 4), (30, 6)]),
        );
        let visits: Vec<_> = found.iter().map(|one| (one.visit, one.a.0, one.b.0)).collect();
        assert_eq!(visits, [(20, 2, 4), (30, 3, 6)]);
    }
}
