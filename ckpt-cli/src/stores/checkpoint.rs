//! Opening stores and checkpoints to look into them: read only, without the lock.

use std::io::ErrorKind;
use std::path::Path;

use ckpt::store::{Mode, Node, Restored, Store, StoreError, file_of};

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
        StoreError::Damaged { path, .. } => Failure::store(&error).help(format!(
            "{} checks all of them; a restart passes damaged ones over",
            stores::command_about(store_of(path), "verify", &[])
        )),
        StoreError::Io {
            kind: ErrorKind::ReadOnlyFilesystem,
            ..
        } => Failure::store(&error)
            .help("copy the store to a disk that can be written to, and name it with `--dir`"),
        StoreError::Locked { .. } => Failure::store(&error).help("wait until that job has ended"),
        _ => Failure::store(&error),
    }
}

/// The folder of the store that a file is in.
fn store_of(file: &Path) -> &Path {
    file.parent().unwrap_or(file)
}

/// The command that shows something of the checkpoint that is looked at, or of all of its store, as one types it here.
pub fn inspect_command(checkpoint: &Restored, is_of_all: bool, variable: &str) -> String {
    let path = checkpoint.path();
    let id = match is_of_all {
        true => "all".to_owned(),
        false => checkpoint.id().0.to_string(),
    };
    let name = path.file_name().and_then(|name| name.to_str());
    let rank = name.and_then(file_of).map_or(0, |(_, rank)| rank).to_string();
    let words = [id.as_str(), variable, "--rank", rank.as_str()];
    let words = if rank == "0" { &words[..2] } else { &words };
    stores::command_about(store_of(path), "inspect", words)
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

/// What is said of a dataset that cannot be read: the checkpoint was whole when it was opened.
pub fn unreadable(node: &Node) -> impl Fn(ckpt::LoadError) -> Failure {
    let what = says!("E3091: cannot read {}", node.path);
    move |error| {
        Failure::store(what.clone())
            .because(error)
            .help("it was whole a moment ago: see whether something writes to it, and to the disk")
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::fs::OpenOptions;

    use ckpt::plan::{FunctionPlan, SiteKind, SitePlan};
    use ckpt::snapshot::SnapshotBuilder;
    use ckpt::store::Meta;

    use super::*;
    use crate::values::find::find;
    use crate::values::summary::summary;

    /// A function with one site and no variables.
    pub(crate) static MAIN: FunctionPlan = FunctionPlan {
        function: "main",
        module: "heat",
        file: "src/main.rs",
        line: 1,
        layout: 1,
        source: 1,
        attribute: "ckpt::main",
        sites: &[SitePlan {
            line: 3,
            column: 9,
            kind: SiteKind::Checkpoint,
            variables: &[],
        }],
    };

    /// What is noted of a checkpoint of that visit.
    pub(crate) fn meta(visit: u64) -> Meta {
        Meta {
            program: "heat".into(),
            version: "0.1.0".into(),
            visit,
            time: 0,
            reason: "every 1".into(),
            host: "here".into(),
            run: None,
            notes: Vec::new(),
        }
    }

    /// A checkpoint of a list, opened; larger ones are kept in memory.
    fn opened(folder: &Path) -> Restored {
        let mut builder = SnapshotBuilder::new();
        let frame = builder.frame(&MAIN, 1);
        let grid: Vec<f64> = (0..100).map(f64::from).collect();
        builder.value(frame, "grid", 2, None, &grid);
        let mut store = Store::open(folder, Mode::ReadWrite).unwrap();
        let id = store.commit(&builder.finish().unwrap(), &meta(1)).unwrap();
        store.load(id).unwrap()
    }

    #[test]
    fn a_disk_that_is_read_only_has_a_next_step() {
        let error = StoreError::Io {
            action: "lock",
            path: "a.ckpt.d/lock".into(),
            why: "Read-only file system".into(),
            kind: ErrorKind::ReadOnlyFilesystem,
        };
        let told = store_failure(error).as_data();
        assert!(told["help"].as_str().unwrap().contains("--dir"), "{told}");
    }

    #[test]
    fn what_is_damaged_after_it_was_opened_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let checkpoint = opened(folder.path());
        let node = find(&checkpoint, "grid").unwrap().node;
        assert!(summary(&checkpoint, node).is_ok());
        let file = OpenOptions::new().write(true).open(checkpoint.path()).unwrap();
        file.set_len(0).unwrap();
        let refused = summary(&checkpoint, node).unwrap_err();
        let told = serde_json::json!({
            "code": "E3091", "error": "cannot read /frames/0/grid",
            "help": "it was whole a moment ago: see whether something writes to it, and to the disk",
        });
        assert_eq!(refused.as_data(), told);
    }
}
