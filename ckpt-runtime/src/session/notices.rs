//! What is said when a session opens, because it may not be what was meant.

use super::config;
use super::job::{Job, State};
use crate::base::report::say;
use crate::storage::Store;

/// A misspelt variable would be a setting that silently does nothing.
pub(super) fn mention_unknown_variables() {
    for name in config::unknown_variables() {
        say(&format!(
            "warning[W2001]: {name} is set, but ckpt knows no variable of that name"
        ));
    }
}

/// A fresh start over an earlier run's checkpoints is often a forgotten restart.
pub(super) fn mention_earlier_run(store: &Store) {
    let Ok(entries) = store.list() else { return };
    let completed = matches!(
        Job::read_in(&*store.documents()),
        Ok(Some(Job {
            state: State::Completed,
            ..
        }))
    );
    if let (Some(newest), false) = (entries.last(), completed) {
        say(&format!(
            "starts from the beginning; {} holds {} checkpoint(s) of an earlier run, the newest is {} \
             (CKPT_RESTART=latest would continue that one; retention will remove them)",
            store.folder().display(),
            entries.len(),
            newest.id
        ));
    }
}

/// The program does not depend on it: where it cannot be had, blocks are compared by their hashes.
pub(super) fn watch_pages(store: &mut Store, has_ranks: bool) {
    let why = match has_ranks {
        true => "network cards write to memory without the kernel's knowledge, so it is not done with several ranks".into(),
        false => match store.watch_pages() {
            Ok(()) => return,
            Err(error) => format!("this machine cannot do it (Linux 6.7 or newer, userfaultfd): {error}"),
        },
    };
    say(&format!(
        "warning[W2002]: memory is not watched for what is written to it: {why}\n  blocks are compared by their hashes instead"
    ));
}

/// The program does not depend on it: where it cannot be had, large arrays are copied while it waits.
pub(super) fn copy_on_write(store: &mut Store, has_ranks: bool, watches_pages: bool) {
    let why = match (has_ranks, watches_pages) {
        (true, _) => {
            "the memory that network cards write to cannot be shared with another process, so it is not done with several ranks"
        }
        (_, true) => "`watch-pages` is on, which finds out what has not changed and copies the rest",
        _ if cfg!(not(target_os = "linux")) => "it is done on Linux only",
        _ => return store.copy_on_write(),
    };
    say(&format!(
        "warning[W2003]: arrays are not copied by another process (`copy-on-write`): {why}\n  the program waits for the copy instead"
    ));
}
