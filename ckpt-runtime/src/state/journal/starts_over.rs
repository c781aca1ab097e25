//! A run that died and cannot be continued is about to be started again, from its beginning: what it has changed of the
//! program's files is undone before that.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::folders::{self, Folders};
use super::left::Left;
use super::log::History;
use super::undo::{Plan, Records};
use super::{Later, OtherRun, OtherRuns, log, paths, read};
use crate::base::documents::Documents;
use crate::base::own::unobserved;
use crate::base::run_id::RunId;
use crate::handles::{Allowed, start_folder, without_links};

/// Undoes what all ranks of a run have changed since it began. `own` is what the run keeps, once for each folder that ranks
/// have for themselves, and `others` are the other runs there: `keeps` says that what those have changed is to stay that have not
/// completed, and `moves` what is elsewhere now. Where it is known what the run had left, what somebody has changed after that stays as well. Gives whether there was
/// anything. Nothing is changed before it is known that all can be; killed at any instant, it can be done again.
///
/// # Errors
/// Why it cannot be undone.
pub(crate) fn undo_start(
    run: RunId,
    own: Vec<Arc<dyn Documents>>,
    others: Vec<OtherRun>,
    (keeps, moves): (bool, &[(PathBuf, PathBuf)]),
    store: &Path,
) -> Result<bool, String> {
    unobserved(|| {
        let all = others.iter().map(|other| &other.documents).chain(&own);
        let newest = all.map(|all| log::newest_time(&**all)).max();
        let mut changed = Vec::new();
        for documents in &own {
            let ranks = log::ranks_in(&**documents);
            if ranks.is_empty() {
                return Err("its journal of files is not there".into());
            }
            for rank in ranks {
                let mut history = read(Arc::clone(documents), run, rank)?;
                history.comes_after(newest.unwrap_or(0));
                // A session begins a part before the program goes on.
                let from = history.first_since(0)?;
                let from = from.ok_or("its journal of files says nothing, not even that it began")?;
                if was_started_elsewhere(&history)? {
                    continue;
                }
                changed.push(Later {
                    of: OtherRun {
                        run,
                        documents: Arc::clone(documents),
                        has_completed: false,
                        has_record: true,
                        is_given_up: false,
                        is_of_this_command: true,
                    },
                    rank,
                    history,
                    from,
                    log: None,
                    concerns: None,
                });
            }
        }
        let told =
            |error: io::Error| format!("the journal of run {} cannot be written: {error}", run.short());
        let is_back = |one: &Later| one.history.is_back_at(one.from);
        let is_all_but_said = |one: &Later| is_back(one) || one.history.returns_to(one.from);
        if changed.iter().any(is_back) && changed.iter().all(is_all_but_said) {
            // It was killed when not yet all ranks had it in their journals that all is done.
            let mut unsaid: Vec<&mut Later> = changed.iter_mut().filter(|one| !is_back(one)).collect();
            for one in &mut unsaid {
                one.begins().and_then(|()| one.ends()).map_err(told)?;
            }
            return Ok(!unsaid.is_empty());
        }
        let records: Vec<Records<'_>> = changed
            .iter()
            .map(|one| Records {
                rank: 0,
                history: &one.history,
                to: one.from,
            })
            .collect();
        let plan = Plan::new(&records, 0, moves)?.at_the_start();
        if !plan.changes {
            return Ok(false);
        }
        spares_others(&changed, &records, others, newest.unwrap_or(0), keeps)?;
        let store = without_links(store);
        let here = without_links(start_folder());
        plan.spares(&store, &here, None)?;
        plan.is_allowed(&Allowed::with(&store, moves))
            .map_err(|forbidden| forbidden.at_the_start())?;
        plan.check()?;
        let ranks: Vec<_> = changed
            .iter()
            .map(|one| (one.rank, &one.history, one.from))
            .collect();
        // Where each rank has a folder of its own, nobody has noted it.
        let left = match &own[..] {
            [documents] => Left::read(documents, &ranks, moves),
            _ => Ok(None),
        };
        let left = left.map_err(|error| format!("what the run had left cannot be read: {error}"))?;
        if let Some(left) = &left {
            let mut changes = plan.paths().filter(|path| !plan.has_its_link(path));
            changes.try_for_each(|path| left.is_there(path))?;
        }
        let progress = left.as_ref().map(Left::progress).transpose();
        let mut progress = progress.map_err(told)?;
        changed.iter_mut().try_for_each(Later::begins).map_err(told)?;
        plan.apply(progress.as_mut())?;
        changed.iter_mut().try_for_each(Later::ends).map_err(told)?;
        Ok(true)
    })
}

/// What other runs have made since is somebody's result, or what they go on from.
fn spares_others(
    changed: &[Later],
    records: &[Records<'_>],
    others: Vec<OtherRun>,
    newest: u64,
    keeps: bool,
) -> Result<(), String> {
    let began = changed
        .iter()
        .filter_map(|one| one.history.time_of(one.from))
        .min();
    let Some(first) = changed.first() else {
        return Ok(());
    };
    let folders = Folders::of(&first.history);
    let mut ours = BTreeSet::new();
    for part in records {
        ours.extend(part.paths()?);
    }
    let for_all_ranks = (0, 1);
    let what_of_others = keeps.then_some(OtherRuns::Keep);
    for one in Later::since(began.unwrap_or(0), others, for_all_ranks, newest, what_of_others)? {
        let other = one.of.run.short();
        let stands = match one.of.has_completed {
            true => "has completed",
            false => "has not completed",
        };
        let theirs: BTreeSet<PathBuf> = one.paths(&folders)?.collect();
        if let Some(path) = theirs.intersection(&ours).next() {
            return Err(format!(
                "run {other}, which {stands}, has changed `{}` since as well",
                paths::relative(path).display()
            ));
        }
        if let (Some(path), false) = (theirs.first(), one.of.has_completed || keeps) {
            return Err(format!(
                "run {other}, which {stands}, has changed `{}` since, and finds what this run had made when it goes on: finish it first (`cargo ckpt restart --run {other}`), or, where the two do not use each other's files, leave its files as they are (`--other-runs keep`)",
                paths::relative(path).display()
            ));
        }
    }
    Ok(())
}

/// Whether a rank was started in another folder, which is still there: nothing here is what it had changed.
///
/// # Errors
/// It was started in a folder below: its files are here, and its paths are those of that folder. Or nobody knows where that folder is
/// now: the files of the same names here may be somebody else's.
pub(super) fn was_started_elsewhere(history: &History) -> Result<bool, String> {
    let here = without_links(start_folder());
    let store = history.store();
    let now = history
        .places()
        .map(|(folder, then)| folders::now_of(folder, then, &store));
    let mut others = now.filter(|folder| *folder != here);
    match others.next() {
        Some(folder) if folder.starts_with(&here) => Err(format!(
            "a rank of it was started in `{}`, and what it had changed is not undone from here",
            folder.display()
        )),
        Some(folder) if !folder.is_dir() => Err(format!(
            "it was started in `{}`, which is not there any more; where that folder has become this one, say so: CKPT_MAP='{}={}'",
            folder.display(),
            folder.display(),
            here.display()
        )),
        other => Ok(other.is_some()),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::super::in_folder::Folder;
    use super::super::left::note_left;
    use super::super::log::Log;
    use super::super::record::{Held, Record, Was};
    use super::*;

    const RUN: RunId = RunId::numbered(7);

    /// Two ranks that have written to one file, which was not there before.
    struct Two {
        scratch: tempfile::TempDir,
        journal: Arc<Folder>,
    }

    impl Two {
        fn new() -> Two {
            let two = Two {
                scratch: tempfile::tempdir().unwrap(),
                journal: Folder::new(),
            };
            let begin = |rank| {
                let history = two.history(rank);
                Log::begin(two.journal.clone(), RUN, rank, &history, 0).unwrap()
            };
            let add = |log: &mut Log, was: Was| {
                let path = two.file();
                log.add(&[Record::Was { path, was }]).unwrap();
            };
            add(&mut begin(0), Was::Absent);
            fs::write(two.file(), "0123456789").unwrap();
            fs::set_permissions(two.file(), fs::Permissions::from_mode(0o640)).unwrap();
            let was = Was::File {
                mode: 0o640,
                length: 10,
                held: Held::There,
            };
            add(&mut begin(1), was);
            fs::write(two.file(), "0123456789 and more").unwrap();
            two
        }

        fn file(&self) -> PathBuf {
            fs::canonicalize(self.scratch.path()).unwrap().join("both.txt")
        }

        fn history(&self, rank: u32) -> History {
            History::read(self.journal.clone(), RUN, rank).unwrap()
        }

        /// It begins to be undone, in the journal of a rank.
        fn begins(&self, rank: u32) -> Log {
            let history = self.history(rank);
            let mut log = Log::begin(self.journal.clone(), RUN, rank, &history, 0).unwrap();
            log.add(&[Record::Returning { to: 1 }]).unwrap();
            log
        }

        fn undo(&self) -> Result<bool, String> {
            let documents: Arc<dyn Documents> = self.journal.clone();
            // Tests are not started there.
            let here = fs::canonicalize(self.scratch.path()).unwrap();
            let moves = [(here.clone(), here)];
            let store = self.scratch.path().join("store");
            undo_start(RUN, vec![documents], Vec::new(), (false, &moves), &store)
        }
    }

    #[test]
    fn an_undo_of_several_ranks_can_be_killed_between_any_two_steps() {
        for steps in 0..=4 {
            let two = Two::new();
            let mut logs = Vec::new();
            for step in 0..steps {
                match step {
                    0 | 1 => logs.push(two.begins(step)),
                    2 => fs::remove_file(two.file()).unwrap(),
                    _ => {
                        let log = &mut logs[0];
                        log.next(log.epoch() + 1, 1).unwrap();
                    }
                }
            }
            drop(logs);
            assert_eq!(two.undo(), Ok(true), "after {steps} steps");
            assert!(!two.file().exists());
            assert_eq!(two.undo(), Ok(false), "after {steps} steps");
        }
    }

    #[test]
    fn what_is_written_when_all_ranks_are_dead_is_somebody_elses() {
        let two = Two::new();
        let documents: Arc<dyn Documents> = two.journal.clone();
        note_left(&documents, RUN).unwrap();
        fs::write(two.file(), "somebody's own").unwrap();
        let why = two.undo().unwrap_err();
        assert!(why.contains("both.txt` "), "{why}");
        assert_eq!(fs::read_to_string(two.file()).unwrap(), "somebody's own");
        // It was the run that has gone on.
        two.begins(1).add(&[Record::Returning { to: 2 }]).unwrap();
        assert_eq!(two.undo(), Ok(true));
    }
}
