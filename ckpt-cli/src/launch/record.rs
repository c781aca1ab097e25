//! `launch.json` in the store: how `cargo ckpt run` built the program and when it took checkpoints, so that
//! `cargo ckpt restart` does the same without the options being repeated. It informs only; without it the options of the command line hold.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{RankOptions, SessionOptions};
use crate::cargo::CargoOptions;
use crate::stores;

/// Name of the record in the store folder.
pub const FILE: &str = "launch.json";

/// How a program was built and started.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
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
            self.write(&stores::home(store));
        }
    }

    /// Writes the record, whole or not at all. A store that cannot be written is the program's to report.
    fn write(&self, store: &Path) {
        let temporary = store.join(format!(".{FILE}.{}", std::process::id()));
        let Ok(text) = serde_json::to_string_pretty(self) else {
            return;
        };
        let written = fs::create_dir_all(store)
            .and_then(|()| fs::write(&temporary, text + "\n"))
            .and_then(|()| fs::rename(&temporary, store.join(FILE)));
        if written.is_err() {
            let _ = fs::remove_file(temporary);
        }
    }

    /// Reads the record, if there is one that can be read.
    pub fn read(store: &Path) -> Option<Record> {
        serde_json::from_slice(&fs::read(stores::home(store).join(FILE)).ok()?).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_comes_back_as_it_was_written() {
        let folder = tempfile::tempdir().unwrap();
        let store = folder.path().join("x.ckpt.d");
        assert_eq!(Record::read(&store), None);
        let record = Record {
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
        assert_eq!(Record::read(&store), Some(record));
        fs::write(store.join(FILE), "{").unwrap();
        assert_eq!(Record::read(&store), None);
    }
}
