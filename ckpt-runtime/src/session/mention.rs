//! What is said when a session opens, because it may not be what was meant.

use super::config;
use super::exit::say;
use super::job::{Job, State};
use crate::store::Store;

/// A misspelt variable would be a setting that silently does nothing.
pub(super) fn mention_unknown_variables() {
    for name in config::unknown_variables() {
        say(&format!(
            "warning: {name} is set, but ckpt knows no variable of that name"
        ));
    }
}

/// A fresh start over an earlier run's checkpoints is often a forgotten restart.
pub(super) fn mention_earlier_run(store: &Store) {
    let Ok(entries) = store.list() else { return };
    let completed = matches!(
        Job::read(store.folder()),
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
