//! Opening stores and checkpoints to look into them: read only, without the lock.

use std::path::Path;

use ckpt::store::{CheckpointId, Mode, Restored, Store, StoreError};

use crate::failure::{Failure, Outcome, code};
use crate::stores::{self, Which};

/// Opens a store to look only.
pub fn open(folder: &Path) -> Outcome<Store> {
    Store::open(stores::home(folder), Mode::ReadOnly).map_err(store_failure)
}

/// A failure of the library's store, with the exit code that fits.
pub fn store_failure(error: StoreError) -> Failure {
    match &error {
        StoreError::NotFound { folder, .. } => Failure::new(code::NO_CHECKPOINT, error.to_string())
            .help(format!("there are: {}", stores::id_list(&stores::ids(folder)))),
        StoreError::Damaged { .. } => Failure::store(error.to_string())
            .help("`cargo ckpt verify` checks all of them; a restart passes damaged ones over"),
        _ => Failure::store(error.to_string()),
    }
}

/// The number that is meant; `latest` is the newest file, whole or not.
pub fn resolve(folder: &Path, which: Which) -> Outcome<CheckpointId> {
    let ids = stores::ids(folder);
    let id = match which {
        Which::Latest => ids.last().copied(),
        Which::Id(id) => ids.contains(&id).then_some(id),
    };
    match (id, ids.is_empty()) {
        (Some(id), _) => Ok(CheckpointId(id)),
        (None, true) => Err(Failure::new(
            code::NO_CHECKPOINT,
            format!("there is no checkpoint in `{}`", folder.display()),
        )
        .help(
            "a run writes the first one when it is due: see `--every` and `--interval` of `cargo ckpt run`",
        )),
        (None, false) => Err(Failure::new(
            code::NO_CHECKPOINT,
            format!("there is no {} in `{}`", which.words(), folder.display()),
        )
        .help(format!("there are: {}", stores::id_list(&ids)))),
    }
}

/// Opens a checkpoint of the store; all of it is checked first.
pub fn load(folder: &Path, which: Which) -> Outcome<Restored> {
    let id = resolve(folder, which)?;
    open(folder)?.load(id).map_err(store_failure)
}
