//! A run that died and cannot be continued is about to be started again, from its beginning: what it has changed of the
//! program's files is undone before that.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use super::folders::Folders;
use super::log::History;
use super::undo::{Plan, Records};
use super::{Later, OtherRun, OtherRuns, log, paths, read};
use crate::base::documents::Documents;
use crate::base::own::unobserved;
use crate::base::run_id::RunId;
use crate::handles::{Allowed, moved, start_folder};

/// By how much the clock of a file system may be ahead.
const CLOCKS: Duration = Duration::from_millis(5);

/// Undoes what all ranks of a run have changed since it began. `own` is what the run keeps, once for each folder that ranks
/// have for themselves, and `others` are the other runs there: `keeps` says that what those have changed is to stay that have not
/// completed. Where it is known when the run was `killed`, what somebody has changed after that stays as well. Gives whether there was
/// anything.
///
/// # Errors
/// Why it cannot be undone.
pub(crate) fn undo_start(
    run: RunId,
    own: Vec<Arc<dyn Documents>>,
    others: Vec<OtherRun>,
    (keeps, killed): (bool, Option<SystemTime>),
    store: &Path,
) -> Result<bool, String> {
    unobserved(|| {
        let all = others.iter().map(|other| &other.documents).chain(&own);
        let newest = all.map(|all| log::newest_time(&**all)).max();
        let mut changed = Vec::new();
        for documents in own {
            let ranks = log::ranks_in(&*documents);
            if ranks.is_empty() {
                return Err("its journal of files is not there".into());
            }
            for rank in ranks {
                let mut history = read(Arc::clone(&documents), run, rank)?;
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
                        documents: Arc::clone(&documents),
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
        let records: Vec<Records<'_>> = changed
            .iter()
            .map(|one| Records {
                rank: 0,
                history: &one.history,
                to: one.from,
            })
            .collect();
        let plan = Plan::new(&records, 0, &moved::moves())?;
        if !plan.changes {
            return Ok(false);
        }
        spares_others(&changed, &records, others, newest.unwrap_or(0), keeps)?;
        let store = fs::canonicalize(store).unwrap_or_else(|_| store.to_owned());
        let here = fs::canonicalize(start_folder()).unwrap_or_else(|_| start_folder().to_owned());
        plan.spares(&store, &here, None)?;
        plan.is_allowed(&Allowed::of(&store))
            .map_err(|error| error.to_string())?;
        plan.check()?;
        if let Some(killed) = killed {
            nobody_came_after(killed, &records)?;
        }
        let told =
            |error: io::Error| format!("the journal of run {} cannot be written: {error}", run.short());
        changed.iter_mut().try_for_each(Later::begins).map_err(told)?;
        plan.apply()?;
        changed.iter_mut().try_for_each(Later::ends).map_err(told)?;
        Ok(true)
    })
}

/// What has been written when the run was dead is somebody else's, but for what was undone of it already: that was broken off.
fn nobody_came_after(killed: SystemTime, records: &[Records<'_>]) -> Result<(), String> {
    let mut undone = None;
    for part in records {
        let began = part.began_to_undo()?;
        undone = [undone, began].into_iter().flatten().min();
    }
    let undone = undone.map(|time| SystemTime::UNIX_EPOCH + Duration::from_nanos(time));
    let is_anothers = |written: &SystemTime| {
        *written > killed + CLOCKS && undone.is_none_or(|undone| *written + CLOCKS < undone)
    };
    for part in records {
        for path in part.paths()? {
            let found = fs::symlink_metadata(&path).ok().filter(|found| !found.is_dir());
            let written = found.and_then(|found| found.modified().ok());
            if let Some(written) = written.filter(is_anothers) {
                return Err(format!(
                    "`{}` was written at {}, after the run had died: what stands there now is somebody else's, and would be cut off or replaced",
                    paths::relative(&path).display(),
                    humantime::format_rfc3339_seconds(written)
                ));
            }
        }
    }
    Ok(())
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
/// It was started in a folder below: its files are here, and its paths are those of that folder.
fn was_started_elsewhere(history: &History) -> Result<bool, String> {
    let here = fs::canonicalize(start_folder()).unwrap_or_else(|_| start_folder().to_owned());
    let others = history
        .folders()
        .filter_map(|folder| fs::canonicalize(folder).ok());
    let mut others = others.filter(|folder| *folder != here);
    match others.next() {
        Some(folder) if folder.starts_with(&here) => Err(format!(
            "a rank of it was started in `{}`, and what it had changed is not undone from here",
            folder.display()
        )),
        other => Ok(other.is_some()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::in_folder::Folder;
    use super::super::log::Log;
    use super::super::record::{Held, Record, Was};
    use super::*;

    const RUN: RunId = RunId::numbered(7);

    #[test]
    fn what_was_undone_in_part_is_nobody_elses() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, "now").unwrap();
        let journal = Folder::new();
        let read = || History::read(journal.clone(), RUN, 0).unwrap();
        let mut log = Log::begin(journal.clone(), RUN, 0, &read(), 0).unwrap();
        let was = Was::File {
            mode: 0o644,
            length: 3,
            held: Held::There,
        };
        let path_of = path.clone();
        log.add(&[Record::Was { path: path_of, was }]).unwrap();
        let killed = SystemTime::now() - Duration::from_secs(60);
        let has_come = || {
            let history = read();
            let records = [Records {
                rank: 0,
                history: &history,
                to: 1,
            }];
            nobody_came_after(killed, &records).is_err()
        };
        assert!(has_come());
        log.add(&[Record::Returning { to: 1 }]).unwrap();
        fs::write(&path, "was").unwrap();
        assert!(!has_come());
        // Between the two it was somebody else.
        let file = fs::File::options().write(true).open(&path).unwrap();
        file.set_modified(killed + Duration::from_secs(30)).unwrap();
        assert!(has_come());
        file.set_modified(killed - Duration::from_secs(30)).unwrap();
        assert!(!has_come());
    }
}
