//! The store of a session, and the checkpoint that a restart begins from: alone, or together with the other ranks.

use std::collections::BTreeMap;
use std::convert::Infallible;

use super::config::{Config, Restart};
use super::job::RANKS_NOTE;
use super::runs::{self, RunRecord};
use super::sources::{self, Changed, Sources};
use super::{SessionError, arguments, place, variables};
use crate::base::documents::Documents;
use crate::base::report::say;
use crate::base::run_id::RunId;
use crate::comm::{self, Found, Verdict, World};
use crate::context::rollback::GoesOn;
use crate::format::{CheckpointId, Meta, Restored, StoreError};
use crate::handles::run_folder_within;
use crate::state::journal;
use crate::storage::{Fallback, Mode, Store, copies, folder_of_rank, unseen_fallback};

/// Opens the store, or this rank's part of it.
pub(super) fn open_store(config: &Config, rank: u32, is_alone: bool) -> Result<Store, SessionError> {
    let folder = folder_of_rank(&config.dir, rank);
    // Before anything is written there.
    if let Some(within) = run_folder_within(&folder) {
        return Err(SessionError::AroundFiles {
            store: folder,
            folder: within,
        });
    }
    // A restart that finds none leaves none that would be found from then on.
    if is_alone && config.restart.is_some() && !folder.exists() {
        return Err(SessionError::NoCheckpoint {
            folder,
            run: None,
            others: Box::default(),
            passed_over: 0,
        });
    }
    let fallback = match &config.fallback {
        Fallback::At(folder) => Fallback::At(folder_of_rank(folder, rank)),
        other => other.clone(),
    };
    let unseen = unseen_fallback(&folder, rank);
    let mut store = Store::open_with(folder, Mode::ReadWrite, rank, &fallback)?;
    if let Some((folder, why)) = unseen {
        say(&format!(
            "warning[W2098]: the fallback of the store, `{}`, is not looked at: {why}\n  \
             why:   checkpoints that lie there are not found\n  \
             help:  put the folder back, or mount its disk; where the store was moved, move the files of the checkpoints into it; nothing where there were none",
            folder.display()
        ));
    }
    store.set_keep(config.keep);
    Ok(store)
}

/// What a restart has to be sure of beside that its checkpoint is whole: that what the run keeps beside it is there.
pub(super) type Check<'a> = &'a dyn Fn(&Store, &Restored) -> Result<(), String>;

/// What is asked of a restart.
#[derive(Clone, Copy)]
pub(super) struct Wanted<'a> {
    pub which: Restart,
    pub program: &'a str,
    pub config: &'a Config,
    /// Where ranks look for the newest line: none that is newer is meant.
    pub up_to: u64,
    /// What this program is made of.
    pub sources: Option<&'a Sources>,
    pub check: Check<'a>,
    /// The process goes back to it, and has said at its start what is to be said of another environment.
    pub is_rollback: bool,
}

/// The run that a restart continues, as the process knows that finds it: none of a checkpoint that has none.
type OfRun = Option<RunId>;

/// The checkpoint that a restart begins from.
pub(super) fn find(store: &Store, wanted: Wanted<'_>) -> Result<Restored, SessionError> {
    let records = runs::records_in(store)?;
    let run = chosen_run(store, &records, wanted)?;
    let mut passed_over = 0;
    let newest = newest(store, run, wanted, u64::MAX, &mut passed_over)?;
    let restored = newest.ok_or_else(|| none_of(store, &records, run, passed_over))?;
    fits(&restored, store, wanted, &records)?;
    if let Some(changed) = sources::changed(&restored, wanted.sources) {
        sources::mention(&changed, &restored, wanted.sources, &records);
    }
    if !wanted.is_rollback {
        variables::mention_changed(&restored, wanted.sources);
    }
    mention_skipped(&records, run, store, wanted);
    Ok(restored)
}

/// Whoever names a run, or a checkpoint, knows that there are others.
fn mention_skipped(records: &[RunRecord], run: OfRun, store: &Store, wanted: Wanted<'_>) {
    if let (Restart::Latest, Some(run), None, false) =
        (wanted.which, run, &wanted.config.run, wanted.config.quiet)
    {
        runs::mention_skipped(records, run, store);
    }
}

/// There is no checkpoint of this run; others may have some.
fn none_of(store: &Store, records: &[RunRecord], run: OfRun, passed_over: u64) -> SessionError {
    let others = runs::others_to_continue(records, run, store);
    let described = others
        .iter()
        .map(|(record, newest)| runs::described(record, *newest));
    SessionError::NoCheckpoint {
        folder: store.folder().to_owned(),
        run,
        passed_over,
        others: described.collect(),
    }
}

/// The run that a restart continues. By the number of a checkpoint it is the one that this is of.
fn chosen_run(store: &Store, records: &[RunRecord], wanted: Wanted<'_>) -> Result<OfRun, SessionError> {
    let named = wanted.config.run.as_ref();
    let Restart::Id(id) = wanted.which else {
        return runs::to_continue(records, named, store).map(Some);
    };
    let opened = store.open_checkpoint(id);
    let run = opened
        .map_err(|error| SessionError::NotRestorable { id, error })?
        .meta()
        .run;
    match named {
        Some(prefix) if !run.is_some_and(|run| prefix.is_of(run)) => Err(SessionError::OfOtherRun {
            id,
            theirs: run,
            wanted: prefix.to_string(),
        }),
        _ => Ok(run),
    }
}

/// The newest checkpoint of the run up to this number that is whole, or the one that is asked for.
fn newest(
    store: &Store,
    run: OfRun,
    wanted: Wanted<'_>,
    bound: u64,
    passed_over: &mut u64,
) -> Result<Option<Restored>, SessionError> {
    let check = |restored: &Restored| (wanted.check)(store, restored);
    match (wanted.which, run) {
        (Restart::Id(id), _) => {
            let not_restorable = |error| SessionError::NotRestorable { id, error };
            let restored = store.open_checkpoint(id).map_err(not_restorable)?;
            if restored.meta().run != run {
                return Err(SessionError::OfOtherRun {
                    id,
                    theirs: restored.meta().run,
                    wanted: run.map(|run| run.to_string()).unwrap_or_default(),
                });
            }
            let restored = restored.read_all().map_err(not_restorable)?;
            check(&restored).map_err(|why| SessionError::Lacks { id, why })?;
            Ok(Some(restored))
        }
        (Restart::Latest, Some(run)) => {
            let copies = copies_in(store)?;
            let check = |restored: &Restored| match copies.get(&restored.id()) {
                Some(of) => Err(format!(
                    "it is a copy of checkpoint {of} under another number: remove the file"
                )),
                None => check(restored),
            };
            let report = &mut |id, why: &dyn std::fmt::Display| {
                *passed_over += 1;
                say(&format!(
                    "warning[W2008]: checkpoint {id} cannot be used and is passed over: {why}"
                ));
            };
            Ok(store.newest_of(run, CheckpointId(bound), &check, report)?)
        }
        (Restart::Latest, None) => Ok(None),
    }
}

/// The files of a store that are copies of others under another number.
fn copies_in(store: &Store) -> Result<BTreeMap<CheckpointId, CheckpointId>, StoreError> {
    let entries = store.list()?;
    let metas = entries
        .iter()
        .filter_map(|entry| Some((entry.id, entry.meta.as_ref().ok()?)));
    Ok(copies(metas))
}

/// Other ranks whose journals of files are in the same folder as this one's, with the epochs that their parts of a
/// checkpoint began.
pub(super) fn journals_of_others(
    config: &Config,
    world: &World,
    store: &Store,
    documents: &dyn Documents,
    restored: &Restored,
) -> Vec<(u32, u64)> {
    let ranks: u32 = note(restored.meta(), RANKS_NOTE).unwrap_or(1);
    let writers = journal::ranks_with_changes(documents);
    let others = writers
        .into_iter()
        .filter(|rank| *rank != store.rank() && *rank < ranks);
    // What is in memory the ranks tell each other; no number stands for no epoch.
    let told = restored.is_in_memory().then(|| {
        let own = journal::epoch_in(&restored.meta().notes);
        world.numbers_of_all(own.map_or(0, |epoch| epoch + 1))
    });
    let epoch = |rank: u32| {
        if let Some(told) = &told {
            return told.get(rank as usize)?.checked_sub(1);
        }
        let folder = folder_of_rank(&config.dir, rank);
        let theirs = Store::open_as(folder, Mode::ReadOnly, rank).ok()?;
        journal::epoch_in(&theirs.meta(restored.id()).ok()?.notes)
    };
    others.filter_map(|rank| Some((rank, epoch(rank)?))).collect()
}

/// Whether the checkpoint is one of this program, in this folder, with these arguments; where it is asked for, of these sources.
fn fits(
    restored: &Restored,
    store: &Store,
    wanted: Wanted<'_>,
    records: &[RunRecord],
) -> Result<(), SessionError> {
    let meta = restored.meta();
    if meta.program != wanted.program {
        return Err(SessionError::OtherProgram {
            id: restored.id(),
            theirs: meta.program.clone(),
            ours: wanted.program.into(),
        });
    }
    place::is_the_same(restored, store.folder())?;
    arguments::are_the_same(restored, wanted.config)?;
    match sources::changed(restored, wanted.sources) {
        Some(changed) if wanted.config.strict => {
            Err(sources::refused(&changed, restored, wanted.sources, records))
        }
        _ => Ok(()),
    }
}

/// What all ranks would say alike of a change of the sources is said by the first.
fn mention_changed_together(world: &World, restored: &Restored, store: &Store, wanted: Wanted<'_>) {
    let changed = sources::changed(restored, wanted.sources);
    let own = Changed::number(changed.as_ref());
    let of_first = world.number_of_first(own);
    if let Some(changed) = changed
        && (is_first(world) || own != of_first)
    {
        let records = runs::records_in(store).unwrap_or_default();
        sources::mention(&changed, restored, wanted.sources, &records);
    }
    if is_first(world) && !wanted.is_rollback {
        variables::mention_changed(restored, wanted.sources);
    }
}

pub(super) fn note<T: std::str::FromStr>(meta: &Meta, name: &str) -> Option<T> {
    let note = meta.notes.iter().find(|(known, _)| known == name)?;
    note.1.parse().ok()
}

/// The same for all ranks of a program: they bring MPI up and agree on the newest line that every one has of the run that the
/// first of them chooses. Does not come back if there is none: then all end, and one of them has said why.
pub(super) fn find_together(
    world: &World,
    opened: Result<Store, SessionError>,
    wanted: Wanted<'_>,
    how: Option<&GoesOn>,
) -> (Store, Restored) {
    world.bring_up(opened.as_ref().ok().and_then(|store| threads(store, wanted)));
    let (mut opened, mut failure) = match opened {
        Ok(store) => (Some(store), None),
        Err(error) => (None, Some(error)),
    };
    let mut own = None;
    if let (Some(store), true) = (&opened, is_first(world)) {
        match runs::records_in(store).and_then(|records| Ok((chosen_run(store, &records, wanted)?, records)))
        {
            Ok((run, records)) => {
                mention_skipped(&records, run, store, wanted);
                own = run;
            }
            // The others may have it, and what they say is more.
            Err(SessionError::NotRestorable { .. }) => {}
            Err(error) => failure = Some(error),
        }
    }
    let run = world.run_of_first(own);
    // All of them have gone back to what was in memory, or none.
    if let Some(how) = how.filter(|how| how.is_in_memory)
        && let Some(restored) = find_in_memory(world, opened.as_ref(), how, wanted)
        && let Some(store) = opened.take()
    {
        return (store, restored);
    }
    let look = |bound: u64| match (failure.take(), &opened) {
        (Some(error), _) => Found::Failed(error),
        (None, Some(store)) => look(world, store, run, bound, wanted),
        (None, None) => Found::Nothing,
    };
    let passed = |line: u64, lacking: u32| {
        if is_first(world) {
            let id = CheckpointId(line);
            say(&format!(
                "warning[W2009]: checkpoint {id} is passed over: rank {lacking} does not have it whole"
            ));
        }
    };
    let verdict = comm::negotiate(world, wanted.up_to, look, passed);
    match (verdict, opened.take()) {
        (Verdict::Line(restored), Some(store)) => {
            mention_changed_together(world, &restored, &store, wanted);
            (store, restored)
        }
        (verdict, store) => refuse(world, verdict, store.as_ref()),
    }
}

/// The newest snapshot that is whole on all ranks, of those that they may go back to.
fn find_in_memory(
    world: &World,
    store: Option<&Store>,
    how: &GoesOn,
    wanted: Wanted<'_>,
) -> Option<Restored> {
    let look = |bound: u64| {
        let found = store.zip(how.newest_up_to(bound)).and_then(|(store, snapshot)| {
            let (visit, id) = (snapshot.meta().visit, how.id);
            let history = note(snapshot.meta(), comm::HISTORY_NOTE).unwrap_or(0);
            let restored = Restored::in_memory(id, snapshot);
            // What the checkpoint needs beside it.
            (wanted.check)(store, &restored).ok()?;
            Some(Found::Whole(visit, history, restored))
        });
        found.unwrap_or(Found::Nothing)
    };
    let passed = |visits: u64, lacking: u32| {
        if is_first(world) {
            say(&format!(
                "warning[W2411]: the snapshots in memory of site visit {visits} are passed over: that of rank {lacking} is not whole"
            ));
        }
    };
    match comm::negotiate::<_, Infallible>(world, u64::MAX, look, passed) {
        Verdict::Line(restored) => Some(restored),
        _ => None,
    }
}

/// The level of threading that the run had, from the newest checkpoint that can be read of those that may be meant.
fn threads(store: &Store, wanted: Wanted<'_>) -> Option<i32> {
    let entries = store.list().ok()?;
    let may_be_meant = |meta: &&Meta| match (&wanted.config.run, meta.run) {
        (Some(prefix), Some(run)) => prefix.is_of(run),
        (named, _) => named.is_none(),
    };
    let entries = entries.iter().rev().filter(|entry| match wanted.which {
        Restart::Id(id) => entry.id == id,
        Restart::Latest => true,
    });
    let metas = entries
        .filter_map(|entry| entry.meta.as_ref().ok())
        .filter(may_be_meant);
    metas.filter_map(|meta| note(meta, comm::THREADS_NOTE)).next()
}

/// What this rank has up to a line.
fn look(
    world: &World,
    store: &Store,
    run: OfRun,
    bound: u64,
    wanted: Wanted<'_>,
) -> Found<Restored, SessionError> {
    let is_too_late = matches!(wanted.which, Restart::Id(_)) && bound < u64::MAX;
    let found = match is_too_late {
        true => Ok(None),
        false => newest(store, run, wanted, bound, &mut 0),
    };
    match found {
        Ok(None) => Found::Nothing,
        // The first rank has no such checkpoint, so that nobody knows of which run it should be.
        Err(SessionError::OfOtherRun { .. }) if run.is_none() => Found::Nothing,
        Err(SessionError::NotRestorable { id, error }) => {
            say(&format!(
                "warning[W2010]: checkpoint {id} cannot be used: {error}"
            ));
            Found::Nothing
        }
        Err(error) => Found::Failed(error),
        Ok(Some(restored)) => {
            let size = world.member().map_or(1, |member| member.size);
            let saved = note(restored.meta(), RANKS_NOTE).unwrap_or(1);
            // What is in the way says which files differ if that is known.
            let records = runs::records_in(store).unwrap_or_default();
            match fits(&restored, store, wanted, &records) {
                Err(error) => Found::Failed(error),
                Ok(()) if saved != size => Found::OfOthers(saved),
                Ok(()) => {
                    let history = note(restored.meta(), comm::HISTORY_NOTE).unwrap_or(0);
                    Found::Whole(restored.id().0, history, restored)
                }
            }
        }
    }
}

fn is_first(world: &World) -> bool {
    world.member().is_none_or(|member| member.rank == 0)
}

/// No line: one rank says why, and all end with the same code.
fn refuse(world: &World, verdict: Verdict<Restored, SessionError>, store: Option<&Store>) -> ! {
    let folder = || store.map(|store| store.folder().to_owned()).unwrap_or_default();
    let ranks = world.member().map_or(1, |member| member.size);
    let (error, speaks) = match verdict {
        Verdict::OfOthers(saved) => (SessionError::OtherRanks { saved, ranks }, is_first(world)),
        Verdict::Apart(line) => {
            let id = CheckpointId(line);
            (SessionError::Apart { id }, is_first(world))
        }
        Verdict::Failed(error) => match error {
            Some(error) => (error, true),
            None => (SessionError::Elsewhere, false),
        },
        Verdict::None { lacking } => {
            let folder = folder();
            if !is_first(world) && world.member().is_some_and(|member| member.rank == lacking) {
                say(&format!("there is none that is whole in {}", folder.display()));
            }
            let error = SessionError::NoLine {
                folder,
                ranks,
                lacking,
            };
            (error, is_first(world))
        }
        Verdict::Line(_) => (SessionError::Elsewhere, false),
    };
    let fatal = error.fatal();
    let code = world.largest_code(if matches!(error, SessionError::Elsewhere) {
        0
    } else {
        fatal.code
    });
    if speaks {
        say(&fatal.to_string());
    }
    world.leave_together(code)
}
