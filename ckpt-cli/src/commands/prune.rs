//! `cargo ckpt prune`: removes old checkpoints.

use ckpt::store::{CheckpointId, Entry, Mode, Store};
use serde_json::json;

use crate::failure::{Failure, Outcome, says};
use crate::render;
use crate::stores::checkpoint;
use crate::stores::lines::{Lines, rank_list};
use crate::stores::{self, StoreArgs, Which};

/// Remove all but the newest checkpoints
///
/// The newest K that are whole stay, and so does everything newer than the oldest of them: a damaged file is never
/// counted in place of a good one. Refused while a job runs on the store. Of a program of several processes a checkpoint
/// is whole if it is on all ranks: their files must all be on this machine.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLE)]
pub struct Prune {
    /// How many whole checkpoints stay
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u64).range(1..))]
    keep: u64,
    /// Only say what would be removed
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    store: StoreArgs,
}

const EXAMPLE: &str = "\
Example:
  cargo ckpt prune --keep 1

Exit codes: 0 done, 76 there is no checkpoint, 78 the store is in use or cannot be written.";

impl Prune {
    /// Chooses and removes.
    pub fn perform(&self) -> Outcome<u8> {
        let lines = self.store.lines()?;
        lines.resolve(Which::Latest)?;
        all_are_here(&lines)?;
        let mode = if self.dry_run {
            Mode::ReadOnly
        } else {
            Mode::ReadWrite
        };
        let stores: Outcome<Vec<Store>> = lines.parts.iter().map(|part| part.open(mode)).collect();
        let mut stores = stores?;
        let ids: Vec<_> = lines.ids().into_iter().map(CheckpointId).collect();
        let mut removed = removable(&ids, self.keep, &|id| {
            stores.iter().all(|store| store.verify(id).is_ok())
        });
        for store in &stores {
            spare_needed(&mut removed, &store.list().map_err(checkpoint::store_failure)?);
        }
        let mut bytes = 0;
        for store in &mut stores {
            bytes += self.prune(store, &removed)?;
        }
        self.report(&removed, ids.len(), bytes);
        Ok(0)
    }

    /// Removes the files of one rank; returns the bytes that they took.
    fn prune(&self, store: &mut Store, removed: &[CheckpointId]) -> Outcome<u64> {
        let entries = store.list().map_err(checkpoint::store_failure)?;
        let mut bytes = 0;
        // The newest first: none may be removed that another builds on.
        for entry in entries.iter().rev().filter(|entry| removed.contains(&entry.id)) {
            bytes += entry.bytes;
            if !self.dry_run {
                store.remove(entry.id).map_err(checkpoint::store_failure)?;
            }
        }
        Ok(bytes)
    }

    fn report(&self, removed: &[CheckpointId], all: usize, bytes: u64) {
        let numbers: Vec<u64> = removed.iter().map(|id| id.0).collect();
        if self.store.json() {
            render::print_json(&json!({ "removed": numbers, "bytes": bytes, "dry_run": self.dry_run }));
            return;
        }
        let verb = if self.dry_run { "would remove" } else { "removed" };
        let what = match removed.len() {
            0 => "nothing to remove".to_owned(),
            number => {
                let list = stores::id_list(&numbers);
                format!(
                    "{verb} {} ({list}), {}",
                    render::count(number, "checkpoint"),
                    render::bytes(bytes)
                )
            }
        };
        render::print(&format!("{what}; {} left\n", all - removed.len()));
    }
}

/// What is whole on the ranks here may be damaged on the others, and removed here it would be lost for all.
fn all_are_here(lines: &Lines) -> Outcome<()> {
    let Some(ranks) = rank_list(&lines.elsewhere) else {
        return Ok(());
    };
    Err(
        Failure::store(says!("E3012: the checkpoints of {ranks} are not on this machine"))
            .because("which ones are whole on all ranks cannot be told")
            .help("`--keep` of `cargo ckpt run` removes old ones while the program runs, on every node"),
    )
}

/// Everything older than the `keep`-th newest that is whole; nothing if there are not so many.
fn removable(ids: &[CheckpointId], keep: u64, is_whole: &dyn Fn(CheckpointId) -> bool) -> Vec<CheckpointId> {
    let mut whole = 0;
    for (index, id) in ids.iter().enumerate().rev() {
        whole += u64::from(is_whole(*id));
        if whole == keep {
            return ids[..index].to_vec();
        }
    }
    Vec::new()
}

/// What those that stay build on stays as well.
fn spare_needed(removed: &mut Vec<CheckpointId>, entries: &[Entry]) {
    let stay: Vec<&Entry> = entries
        .iter()
        .filter(|entry| !removed.contains(&entry.id))
        .collect();
    removed.retain(|id| !stay.iter().any(|entry| entry.needs.contains(id)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_build_on_stays() {
        let entry = |id, needs: &[u64]| Entry {
            id: CheckpointId(id),
            path: "x".into(),
            bytes: 1,
            needs: needs.iter().copied().map(CheckpointId).collect(),
            meta: Ok(Default::default()),
        };
        let entries = [entry(1, &[]), entry(2, &[1]), entry(3, &[1, 2]), entry(4, &[2])];
        let mut removed = vec![CheckpointId(1), CheckpointId(2), CheckpointId(3)];
        spare_needed(&mut removed, &entries);
        assert_eq!(removed, [CheckpointId(1), CheckpointId(3)]);
    }

    #[test]
    fn damaged_checkpoints_are_not_counted_as_kept() {
        let ids: Vec<_> = (1..=5).map(CheckpointId).collect();
        let numbers = |keep, damaged: &[u64]| -> Vec<u64> {
            let is_whole = |id: CheckpointId| !damaged.contains(&id.0);
            removable(&ids, keep, &is_whole)
                .into_iter()
                .map(|id| id.0)
                .collect()
        };
        assert_eq!(numbers(2, &[]), [1, 2, 3]);
        assert_eq!(numbers(2, &[5, 3]), [1]);
        assert_eq!(numbers(1, &[1, 2, 3, 4, 5]), Vec::<u64>::new());
        assert_eq!(numbers(9, &[]), Vec::<u64>::new());
    }
}
