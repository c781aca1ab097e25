//! The store of a session, and the checkpoint that a restart begins from: alone, or together with the other ranks.

use super::SessionError;
use super::config::{Config, Restart};
use super::job::{Job, RANKS_NOTE, State};
use crate::base::report::say;
use crate::comm::{self, Found, Verdict, World};
use crate::format::{CheckpointId, Meta, Restored, StoreError};
use crate::storage::{Mode, Store, folder_of_rank};

/// Opens the store, or this rank's part of it.
pub(super) fn open_store(config: &Config, rank: u32) -> Result<Store, SessionError> {
    let mut store = Store::open_as(folder_of_rank(&config.dir, rank), Mode::ReadWrite, rank)?;
    store.set_keep(config.keep);
    Ok(store)
}

/// The checkpoint that a restart begins from.
pub(super) fn find(store: &Store, which: Restart, program: &str) -> Result<Restored, SessionError> {
    let mut passed_over = 0;
    let newest = newest(store, which, u64::MAX, &mut passed_over)?;
    let restored = newest.ok_or_else(|| SessionError::NoCheckpoint {
        folder: store.folder().to_owned(),
        passed_over,
    })?;
    is_of(&restored, program)?;
    Ok(restored)
}

/// The newest checkpoint up to this number that is whole, or the one that is asked for.
fn newest(
    store: &Store,
    which: Restart,
    bound: u64,
    passed_over: &mut u64,
) -> Result<Option<Restored>, SessionError> {
    if let Restart::Id(id) = which {
        let loaded = store.load(id);
        return loaded
            .map(Some)
            .map_err(|error| SessionError::NotRestorable { id, error });
    }
    if let Ok(Some(Job {
        state: State::Completed,
        updated,
        ..
    })) = Job::read_in(&*store.documents())
    {
        return Err(SessionError::Completed {
            folder: store.folder().to_owned(),
            when: updated,
        });
    }
    let report = &mut |id, error: &StoreError| {
        *passed_over += 1;
        say(&format!(
            "warning[W2008]: checkpoint {id} cannot be used and is passed over: {error}"
        ));
    };
    Ok(store.newest_whole_up_to(CheckpointId(bound), report)?)
}

fn is_of(restored: &Restored, program: &str) -> Result<(), SessionError> {
    let meta = restored.meta();
    if meta.program == program {
        return Ok(());
    }
    Err(SessionError::OtherProgram {
        id: restored.id(),
        theirs: meta.program.clone(),
        ours: program.into(),
    })
}

pub(super) fn note<T: std::str::FromStr>(meta: &Meta, name: &str) -> Option<T> {
    let note = meta.notes.iter().find(|(known, _)| known == name)?;
    note.1.parse().ok()
}

/// The same for all ranks of a program: they bring MPI up and agree on the newest line that every one has. Does not come
/// back if there is none: then all end, and one of them has said why.
pub(super) fn find_together(
    world: &World,
    opened: Result<Store, SessionError>,
    which: Restart,
    program: &str,
) -> Result<(Store, Restored), SessionError> {
    world.bring_up(opened.as_ref().ok().and_then(threads));
    let (mut opened, mut failure) = match opened {
        Ok(store) => (Some(store), None),
        Err(error) => (None, Some(error)),
    };
    let look = |bound: u64| match (&opened, failure.take()) {
        (Some(store), _) => look(world, store, which, bound, program),
        (None, Some(error)) => Found::Failed(error),
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
    let verdict = comm::negotiate(world, look, passed);
    match (verdict, opened.take()) {
        (Verdict::Line(restored), Some(store)) => Ok((store, restored)),
        (verdict, store) => refuse(world, verdict, store.as_ref()),
    }
}

/// The level of threading that the run had, from the newest checkpoint that can be read.
fn threads(store: &Store) -> Option<i32> {
    let entries = store.list().ok()?;
    let metas = entries.iter().rev().filter_map(|entry| entry.meta.as_ref().ok());
    metas.filter_map(|meta| note(meta, comm::THREADS_NOTE)).next()
}

/// What this rank has up to a line.
fn look(
    world: &World,
    store: &Store,
    which: Restart,
    bound: u64,
    program: &str,
) -> Found<Restored, SessionError> {
    let is_too_late = matches!(which, Restart::Id(_)) && bound < u64::MAX;
    let found = match is_too_late {
        true => Ok(None),
        false => newest(store, which, bound, &mut 0),
    };
    match found {
        Ok(None) => Found::Nothing,
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
            match is_of(&restored, program) {
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
