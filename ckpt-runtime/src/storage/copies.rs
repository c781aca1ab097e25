//! Files that somebody has copied within a store, under another number.

use std::collections::{BTreeMap, BTreeSet};

use crate::format::{CheckpointId, Meta};

/// The checkpoints whose files are copies of others under another number, and of which: no two of a run are of one moment. What a file
/// says has no number, so the one is the copy that is out of the order in which they were taken.
pub fn copies<'m>(
    metas: impl IntoIterator<Item = (CheckpointId, &'m Meta)>,
) -> BTreeMap<CheckpointId, CheckpointId> {
    let mut all: Vec<(CheckpointId, &Meta)> = metas
        .into_iter()
        .filter(|(_, meta)| meta.run.is_some() && meta.time != 0)
        .collect();
    let moment = |meta: &Meta| (meta.run, meta.visit, meta.time);
    let mut found = BTreeMap::new();
    let moments: BTreeSet<_> = all.iter().map(|(_, meta)| moment(meta)).collect();
    if moments.len() == all.len() {
        return found;
    }
    all.sort_unstable_by_key(|(id, _)| *id);
    for (at, (id, meta)) in all.iter().enumerate() {
        let is_same = |other: &&(CheckpointId, &Meta)| moment(other.1) == moment(meta);
        let Some(other) = all[at + 1..].iter().position(|other| is_same(&other)) else {
            continue;
        };
        let mut between = all[at + 1..at + 1 + other]
            .iter()
            .filter(|(_, one)| one.run == meta.run);
        let later = all[at + 1 + other].0;
        match other > 0 && between.all(|(_, one)| one.time < meta.time) {
            true => found.insert(*id, later),
            false => found.insert(later, *id),
        };
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::run_id::RunId;

    #[test]
    fn a_copy_is_out_of_the_order_in_which_checkpoints_were_taken() {
        let run: RunId = "0123456789abcdef0123456789abcdef".parse().unwrap();
        let of = |visits: &[u64]| -> Vec<(u64, u64)> {
            let meta = |visit: u64| Meta {
                run: Some(run),
                visit,
                time: visit as i64,
                ..Meta::default()
            };
            let metas: Vec<Meta> = visits.iter().map(|visit| meta(*visit)).collect();
            let named = metas
                .iter()
                .enumerate()
                .map(|(id, meta)| (CheckpointId(id as u64), meta));
            copies(named)
                .into_iter()
                .map(|(copy, of)| (copy.0, of.0))
                .collect()
        };
        assert_eq!(of(&[1, 2, 3]), []);
        assert_eq!(of(&[1, 2, 3, 1]), [(3, 0)]);
        assert_eq!(of(&[3, 1, 2, 3]), [(0, 3)]);
        assert_eq!(of(&[1, 2, 2]), [(2, 1)]);
        assert_eq!(of(&[1, 2, 1, 1]), [(2, 0), (3, 2)]);
    }
}
