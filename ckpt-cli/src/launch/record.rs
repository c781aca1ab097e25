//! `launch.json` among what the store has of a run: how `cargo ckpt run` built the program and when it took checkpoints, so that
//! `cargo ckpt restart` does the same without the options being repeated. It informs only; without it the options of the command line hold.

use std::fs;
use std::path::{Path, PathBuf};

use ckpt::session::job::LAUNCH_FILE;
use ckpt::store::{RunId, folder_of_run};
use serde::{Deserialize, Serialize};

use super::{RankOptions, SessionOptions};
use crate::cargo::CargoOptions;
use crate::stores;

/// Name of the record in the folder of the run.
pub const FILE: &str = LAUNCH_FILE;

/// How a program was built and started.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The run that was started so.
    pub run: RunId,
    /// Cargo's options, with absolute paths.
    pub cargo: CargoOptions,
    /// When checkpoints were to be taken.
    pub session: SessionOptions,
    /// How many processes it has, and who started them.
    #[serde(default)]
    pub ranks: RankOptions,
    /// The executable that came out.
    pub executable: PathBuf,
}

impl Record {
    /// Writes the record, unless another job is at work on the store: then it is that job's record.
    pub fn write_unless_locked(&self, store: &Path) {
        if !stores::is_locked(store) {
            self.write(store);
        }
    }

    /// Writes the record, whole or not at all. A store that cannot be written is the program's to report.
    fn write(&self, store: &Path) {
        let folder = folder_of(store, self.run);
        let temporary = folder.join(format!(".{FILE}.{}", std::process::id()));
        let Ok(text) = serde_json::to_string_pretty(self) else {
            return;
        };
        let written = fs::create_dir_all(&folder)
            .and_then(|()| fs::write(&temporary, text + "\n"))
            .and_then(|()| fs::rename(&temporary, folder.join(FILE)));
        if written.is_err() {
            let _ = fs::remove_file(temporary);
        }
    }

    /// Reads the record of a run, if there is one that can be read.
    pub fn read(store: &Path, run: RunId) -> Option<Record> {
        let text = fs::read(folder_of(store, run).join(FILE)).ok()?;
        let record: Record = serde_json::from_slice(&text).ok()?;
        (record.run == run).then_some(record)
    }
}

/// The folder of a run in a store.
fn folder_of(store: &Path, run: RunId) -> PathBuf {
    folder_of_run(&stores::home(store), run)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_comes_back_as_it_was_written() {
        let folder = tempfile::tempdir().unwrap();
        let store = folder.path().join("x.ckpt.d");
        let run = RunId::new().unwrap();
        assert_eq!(Record::read(&store, run), None);
        let record = Record {
            run,
            cargo: CargoOptions {
                release: true,
                example: Some("heat".into()),
                ..Default::default()
            },
            session: SessionOptions {
                every: Some(5),
                ..Default::default()
            },
            ranks: RankOptions {
                ranks: Some(2),
                ..Default::default()
            },
            executable: "/somewhere/target/release/examples/heat".into(),
        };
        record.write(&store);
        assert_eq!(Record::read(&store, run), Some(record));
        assert_eq!(Record::read(&store, RunId::new().unwrap()), None);
        fs::write(folder_of(&store, run).join(FILE), "{").unwrap();
        assert_eq!(Record::read(&store, run), None);
    }
}
