//! Opening stores and checkpoints to look into them: read only, without the lock.

use std::path::Path;

use ckpt::store::{Mode, Node, Store, StoreError};

use crate::failure::{Failure, Outcome, says};
use crate::stores::{self, Which};

/// Opens a store to look only.
pub fn open(folder: &Path) -> Outcome<Store> {
    Store::open(stores::home(folder), Mode::ReadOnly).map_err(store_failure)
}

/// A failure of the library's store, with the exit code that fits.
pub fn store_failure(error: StoreError) -> Failure {
    match &error {
        StoreError::NotFound { folder, .. } => Failure::no_checkpoint(&error).help(format!(
            "there are: {}",
            stores::id_list(&stores::ids(folder).unwrap_or_default())
        )),
        StoreError::Damaged { .. } => Failure::store(&error)
            .help("`cargo ckpt verify` checks all of them; a restart passes damaged ones over"),
        _ => Failure::store(&error),
    }
}

/// There is no such checkpoint among those of the store.
pub fn none(store: &Path, ids: &[u64], which: Which) -> Failure {
    let store = store.display();
    if ids.is_empty() {
        return Failure::no_checkpoint(says!("E3089: there is no checkpoint in `{store}`")).help(
            "a run writes the first one when it is due: see `--every` and `--interval` of `cargo ckpt run`",
        );
    }
    Failure::no_checkpoint(says!("E3090: there is no {} in `{store}`", which.words()))
        .help(format!("there are: {}", stores::id_list(ids)))
}

/// What is said of a dataset that cannot be read.
pub fn unreadable(node: &Node) -> impl Fn(ckpt::LoadError) -> Failure {
    let what = says!("E3091: cannot read {}", node.path);
    move |error| Failure::store(what.clone()).because(error)
}
