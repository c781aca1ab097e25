//! `cargo ckpt prune`: removes old checkpoints.

use ckpt::session::runs::{RunRecord, has_record};
use ckpt::store::{CheckpointId, Entry, Mode, RunId, Store};
use serde_json::json;

use crate::failure::{Failure, Outcome, says};
use crate::render;
use crate::stores::checkpoint;
use crate::stores::lines::{Lines, rank_list};
use crate::stores::runs;
use crate::stores::{self, StoreArgs};

/// Remove all but the newest checkpoints, or whole runs
///
/// Of each run the newest K that can be restored stay, and so does everything newer than the oldest of them: a damaged file, or one
/// whose files cannot be brought back, is never counted in place of a good one, and goes with those that are as old. A run that is removed leaves nothing but what other unfinished runs may need to undo what it has changed; of one that has completed the record stays as long as others wait. Refused while a job runs on the store. Of a program of
/// several processes a checkpoint is whole if it is on all ranks: their files must all be on this machine.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLE)]
#[command(group = clap::ArgGroup::new("what").args(["keep", "completed", "run"]).required(true).multiple(true))]
pub struct Prune {
    /// How many whole checkpoints of each run stay
    #[arg(long, value_name = "K", value_parser = crate::launch::session::one_or_more)]
    keep: Option<u64>,
    /// Remove the runs that have completed, with all that the store has of them
    #[arg(long, conflicts_with_all = ["run", "keep"])]
    completed: bool,
    /// Only say what would be removed
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    store: StoreArgs,
}

const EXAMPLE: &str = "\
Example:
  cargo ckpt prune --keep 1
  cargo ckpt prune --run 1a2b3c4d     that run, with all that there is of it
  cargo ckpt prune --completed

Exit codes: 0 done, 76 there is no checkpoint, 78 the store is in use or cannot be written.";

impl Prune {
    /// Chooses and removes.
    pub fn perform(&self) -> Outcome<u8> {
        let store = self.store.named()?;
        let named = self.store.run(&store)?;
        match (self.keep, named) {
            (Some(keep), _) => self.keep(keep, &Lines::of_run(&store, named)?),
            (None, named) => {
                let completed = || {
                    let completed = runs::records(&store)?.into_iter().filter(runs::is_completed);
                    Ok(completed.map(|record| record.run).collect())
                };
                let whole = named.map_or_else(completed, |run| Ok(vec![run]))?;
                self.forget(&whole, &runs::records(&store)?, &Lines::of(&store)?)
            }
        }
    }

    fn mode(&self) -> Mode {
        match self.dry_run {
            true => Mode::ReadOnly,
            false => Mode::ReadWrite,
        }
    }

    /// Removes all but the newest of each run.
    fn keep(&self, keep: u64, lines: &Lines) -> Outcome<u8> {
        lines.is_not_empty()?;
        all_are_here(lines)?;
        let stores: Outcome<Vec<Store>> = lines.parts.iter().map(|part| part.open(self.mode())).collect();
        let mut stores = stores?;
        let ids: Vec<_> = lines.ids().into_iter().map(CheckpointId).collect();
        let owner = |id: &CheckpointId| lines.run_of(id.0);
        let mut owners: Vec<Option<RunId>> = ids.iter().map(owner).collect();
        owners.sort_unstable();
        owners.dedup();
        let out_of_reach = lines.out_of_reach(&lines.list()?)?;
        let is_restorable = |id: CheckpointId| {
            let parts = lines.parts.iter().zip(&stores);
            let mut own = parts.filter(|(part, _)| lines.is_of(part.rank, id.0));
            !out_of_reach.contains_key(&id) && own.all(|(_, store)| store.verify(id).is_ok())
        };
        let mut removed = Vec::new();
        // Whose the damaged ones were is not known: they go where every run has enough that are newer.
        let unknown = lines.of_unknown_run();
        let mut damaged = unknown.clone();
        let mut has_runs = false;
        for run in owners {
            let of_run = |id: &CheckpointId| owner(id) == run && !unknown.contains(id);
            let own: Vec<_> = ids.iter().copied().filter(of_run).collect();
            if own.is_empty() {
                continue;
            }
            has_runs = true;
            let enough = enough_from(&own, keep, &is_restorable);
            damaged.retain(|id| enough.is_some_and(|enough| *id < enough));
            removed.extend(
                own.into_iter()
                    .filter(|id| enough.is_some_and(|enough| *id < enough)),
            );
        }
        damaged.retain(|id| has_runs && ids.contains(id));
        removed.extend(&damaged);
        removed.sort_unstable();
        for store in &stores {
            spare_needed(&mut removed, &store.list().map_err(checkpoint::store_failure)?);
        }
        let mut bytes = 0;
        for store in &mut stores {
            bytes += self.prune(store, &removed)?;
        }
        damaged.retain(|id| removed.contains(id));
        self.report(&removed, &damaged, &[], ids.len(), bytes);
        Ok(0)
    }

    /// Removes runs, with all that there is of them, but for what they have changed in the program's files where other runs wait: these
    /// have to know it.
    fn forget(&self, runs: &[RunId], records: &[RunRecord], lines: &Lines) -> Outcome<u8> {
        let waits = |record: &&RunRecord| record.is_unfinished() && !runs.contains(&record.run);
        let waiting: Vec<RunId> = records.iter().filter(waits).map(|record| record.run).collect();
        let others_wait = !waiting.is_empty();
        // What one that has completed has made is somebody's result, and not undone by those that wait: they have to know that.
        let results = records
            .iter()
            .filter(|record| others_wait && runs::is_completed(record));
        let results: Vec<RunId> = results.map(|record| record.run).collect();
        let ids = lines.ids();
        let of_them = |id: &u64| lines.run_of(*id).is_some_and(|run| runs.contains(&run));
        let removed: Vec<_> = ids.iter().copied().filter(of_them).map(CheckpointId).collect();
        let mut bytes = 0;
        for part in &lines.parts {
            let mut store = part.open(self.mode())?;
            bytes += self.prune(&mut store, &removed)?;
            let kept = store.runs().map_err(checkpoint::store_failure)?;
            for run in kept.into_iter().filter(|_| !self.dry_run) {
                let is_meant = runs.contains(&run);
                let forgotten = match others_wait {
                    true if results.contains(&run) => Ok(()),
                    true if is_meant => store.give_up_run(run),
                    // With those whose records have been removed before.
                    false if is_meant || !has_record(records, Some(run)) => store.forget_run(run),
                    _ => Ok(()),
                };
                forgotten.map_err(checkpoint::store_failure)?;
            }
        }
        let (stay, gone): (Vec<RunId>, Vec<RunId>) = runs.iter().partition(|run| results.contains(run));
        self.report(&removed, &[], &gone, ids.len(), bytes);
        if !stay.is_empty() && !self.store.json() {
            render::print(&records_that_stay(&stay, &waiting));
        }
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

    /// Says what was removed; those that are damaged so that nobody knows which run they were of are named.
    fn report(
        &self,
        removed: &[CheckpointId],
        damaged: &[CheckpointId],
        runs: &[RunId],
        all: usize,
        bytes: u64,
    ) {
        let numbers = |ids: &[CheckpointId]| ids.iter().map(|id| id.0).collect::<Vec<u64>>();
        let (numbers, damaged) = (numbers(removed), numbers(damaged));
        if self.store.json() {
            render::print_json(
                &json!({ "removed": numbers, "damaged": damaged, "runs": runs, "bytes": bytes, "dry_run": self.dry_run }),
            );
            return;
        }
        let verb = if self.dry_run { "would remove" } else { "removed" };
        let mut parts = Vec::new();
        if !runs.is_empty() {
            let names: Vec<String> = runs.iter().map(|run| run.short()).collect();
            parts.push(format!(
                "{} ({})",
                render::count(runs.len(), "run"),
                names.join(", ")
            ));
        }
        if !removed.is_empty() {
            parts.push(format!(
                "{} ({}), {}",
                render::count(removed.len(), "checkpoint"),
                stores::id_list(&numbers),
                render::bytes(bytes)
            ));
        }
        let what = match parts.is_empty() {
            true => "nothing to remove".to_owned(),
            false => format!("{verb} {}", parts.join(" with ")),
        };
        let damaged = match damaged.is_empty() {
            true => String::new(),
            false => format!(", of which damaged: {}", stores::id_list(&damaged)),
        };
        render::print(&format!("{what}{damaged}; {} left\n", all - removed.len()));
    }
}

/// Why the records of runs that have completed are not removed.
fn records_that_stay(runs: &[RunId], waiting: &[RunId]) -> String {
    let names = |runs: &[RunId]| runs.iter().map(|run| run.short()).collect::<Vec<_>>().join(", ");
    let (stay, waiting) = (names(runs), names(waiting));
    match runs.len() {
        1 => format!(
            "the record of {stay} stays: it has completed, and {waiting} must not undo what it has made\n"
        ),
        _ => format!(
            "the records of {stay} stay: they have completed, and {waiting} must not undo what they have made\n"
        ),
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

/// The `keep`-th newest that can be restored: what is older goes; `None` if there are not so many.
fn enough_from(
    ids: &[CheckpointId],
    keep: u64,
    is_restorable: &dyn Fn(CheckpointId) -> bool,
) -> Option<CheckpointId> {
    let mut restorable = ids.iter().rev().copied().filter(|id| is_restorable(*id));
    restorable.nth(usize::try_from(keep - 1).ok()?)
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
            lacks: Vec::new(),
            needed_by: Vec::new(),
            meta: Ok(Default::default()),
        };
        let entries = [entry(1, &[]), entry(2, &[1]), entry(3, &[1, 2]), entry(4, &[2])];
        let mut removed = vec![CheckpointId(1), CheckpointId(2), CheckpointId(3)];
        spare_needed(&mut removed, &entries);
        assert_eq!(removed, [CheckpointId(1), CheckpointId(3)]);
    }

    #[test]
    fn records_that_stay_are_one_or_several() {
        let run = |digit: &str| digit.repeat(32).parse::<RunId>().unwrap();
        let one = records_that_stay(&[run("a")], &[run("b")]);
        assert!(one.starts_with("the record of aaaaaaaa stays: it has"), "{one}");
        let two = records_that_stay(&[run("a"), run("c")], &[run("b")]);
        assert!(
            two.starts_with("the records of aaaaaaaa, cccccccc stay: they have"),
            "{two}"
        );
    }

    #[test]
    fn damaged_checkpoints_are_not_counted_as_kept() {
        let ids: Vec<_> = (1..=5).map(CheckpointId).collect();
        let numbers = |keep, damaged: &[u64]| -> Vec<u64> {
            let is_whole = |id: CheckpointId| !damaged.contains(&id.0);
            let enough = enough_from(&ids, keep, &is_whole).map_or(0, |id| id.0);
            ids.iter().map(|id| id.0).filter(|id| *id < enough).collect()
        };
        assert_eq!(numbers(2, &[]), [1, 2, 3]);
        assert_eq!(numbers(2, &[5, 3]), [1]);
        assert_eq!(numbers(1, &[1, 2, 3, 4, 5]), Vec::<u64>::new());
        assert_eq!(numbers(9, &[]), Vec::<u64>::new());
    }
}
