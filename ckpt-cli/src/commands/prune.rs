//! `cargo ckpt prune`: removes old checkpoints.

use ckpt::store::{CheckpointId, Mode, Store};
use serde_json::json;

use crate::failure::Outcome;
use crate::render::{self, FormatOption};
use crate::stores::{self, StoreOption, Which};
use crate::values::checkpoint;

/// Remove all but the newest checkpoints
///
/// The newest K that are whole stay, and so does everything newer than the oldest of them: a damaged file is never
/// counted in place of a good one. Refused while a job runs on the store.
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
    store: StoreOption,
    #[command(flatten)]
    format: FormatOption,
}

const EXAMPLE: &str = "\
Example:
  cargo ckpt prune --keep 1

Exit codes: 0 done, 76 there is no checkpoint, 78 the store is in use or cannot be written.";

impl Prune {
    /// Chooses and removes.
    pub fn perform(&self) -> Outcome<u8> {
        let folder = self.store.existing()?;
        checkpoint::resolve(&folder, Which::Latest)?;
        let mode = if self.dry_run {
            Mode::ReadOnly
        } else {
            Mode::ReadWrite
        };
        let mut store = Store::open(&folder, mode).map_err(checkpoint::store_failure)?;
        let ids: Vec<_> = stores::ids(&folder).into_iter().map(CheckpointId).collect();
        let removed = removable(&ids, self.keep, &|id| store.verify(id).is_ok());
        let bytes: u64 = store
            .list()
            .map_err(checkpoint::store_failure)?
            .iter()
            .filter(|entry| removed.contains(&entry.id))
            .map(|entry| entry.bytes)
            .sum();
        if !self.dry_run {
            for id in &removed {
                store.remove(*id).map_err(checkpoint::store_failure)?;
            }
        }
        self.report(&removed, ids.len(), bytes);
        Ok(0)
    }

    fn report(&self, removed: &[CheckpointId], all: usize, bytes: u64) {
        let numbers: Vec<u64> = removed.iter().map(|id| id.0).collect();
        if self.format.json() {
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

#[cfg(test)]
mod tests {
    use super::*;

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
