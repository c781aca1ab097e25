//! `launch.json` among what the store has of a run: how `cargo ckpt run` built the program and when it took checkpoints, so that
//! `cargo ckpt restart` does the same without the options being repeated. It informs only; without it the options of the command line hold.
//!
//! A store says of itself what it likes. What a restart may start is therefore what this machine itself has noted, outside of
//! the store: [`Record::was_said_here`], [`was_started_here`].

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use ckpt::session::job::LAUNCH_FILE;
use ckpt::store::{EXECUTABLE_NOTE, Noted, RunId, folder_of_run, write_document_of_run};
use serde::{Deserialize, Serialize};

use super::{RankOptions, SessionOptions};
use crate::cargo::{CargoOptions, typed};
use crate::stores;

/// Name of the record in the folder of the run.
pub const FILE: &str = LAUNCH_FILE;

/// How many of what was said about one run are remembered.
const SAID: usize = 16;

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
        // Where that cannot be told it may be.
        if matches!(stores::is_locked(store), Ok(false)) {
            self.write(store);
        }
    }

    /// Writes the record, whole or not at all, and notes on this machine that it was said here. A store that cannot be
    /// written is the program's to report; what cannot be noted is asked for at the next restart.
    fn write(&self, store: &Path) {
        let Ok(text) = serde_json::to_string_pretty(self) else {
            return;
        };
        let text = text + "\n";
        let home = stores::home(store);
        // Noted first: what stands in the store has been said. What was said before was said as well: a store may be put
        // back from a copy.
        let mut said = said_here(store, self.run);
        said.retain(|record| record != self);
        let old = said.len().saturating_sub(SAID - 1);
        said.drain(..old);
        said.push(self.clone());
        if let Ok(said) = serde_json::to_vec(&said) {
            let _ = Noted::of(&home).write(&noted_as(self.run), &said);
        }
        let _ = write_document_of_run(&home, self.run, FILE, text.as_bytes());
    }

    /// The program has not gone on with the run: what was said before of it stands in the store again.
    pub fn put_back(&self, store: &Path) {
        if let (Ok(false), Ok(text)) = (stores::is_locked(store), serde_json::to_string_pretty(self)) {
            let text = text + "\n";
            let _ = write_document_of_run(&stores::home(store), self.run, FILE, text.as_bytes());
        }
    }

    /// The program could not be started: what was written of a run that has nothing else goes away, with what it was put in.
    pub fn take_back(store: &Path, run: RunId) {
        let folder = folder_of(store, run);
        let is_alone = fs::read_dir(&folder).is_ok_and(|entries| {
            let mut entries = entries.flatten();
            entries.all(|entry| entry.file_name() == FILE)
        });
        if !is_alone || !matches!(stores::is_locked(store), Ok(false)) {
            return;
        }
        let _ = fs::remove_file(folder.join(FILE));
        // A folder that is not empty stays.
        let home = stores::home(store);
        let above = folder.ancestors().take_while(|above| above.starts_with(&home));
        for above in above {
            if fs::remove_dir(above).is_err() {
                break;
            }
        }
    }

    /// Reads the record of a run, if there is one that can be read.
    pub fn read(store: &Path, run: RunId) -> Option<Record> {
        let text = ckpt::store::read_document(&folder_of(store, run), FILE).ok()??;
        let record: Record = serde_json::from_slice(&text).ok()?;
        (record.run == run).then_some(record)
    }

    /// All that it says about what is to be built and started, as it is typed.
    pub fn said_of_the_program(&self) -> Vec<String> {
        let cargo = &self.cargo;
        let package = cargo.package.iter().map(|name| format!("-p {}", typed(name)));
        let paths = [
            ("--manifest-path", &cargo.manifest_path),
            ("--target-dir", &cargo.target_dir),
        ];
        let paths = paths.into_iter().filter_map(|(name, path)| {
            let path = path.as_ref()?.to_string_lossy();
            Some(format!("{name} {}", typed(&path)))
        });
        package
            .chain(cargo.words())
            .chain(paths)
            .chain(self.ranks.words())
            .collect()
    }

    /// What starts the same program with the same sites from the current folder, as it is typed.
    pub fn words_of_the_program(&self) -> Vec<String> {
        let mut record = self.clone();
        let cargo = &mut record.cargo;
        let package = cargo.manifest_path.as_deref().and_then(Path::parent);
        if let (Some(package), Ok(here)) = (package, std::env::current_dir())
            && here.starts_with(package)
        {
            cargo.manifest_path = None;
        }
        let mut words = record.said_of_the_program();
        let cargo = &record.cargo;
        for (name, on) in [("--offline", cargo.offline), ("--no-profile", cargo.no_profile)] {
            words.extend((on && cargo.exe.is_none()).then(|| name.to_owned()));
        }
        words
    }

    /// Whether it was said on this machine about this run of the store, and not only by the store.
    pub fn was_said_here(&self, store: &Path) -> bool {
        said_here(store, self.run).contains(self)
    }
}

/// Whether it is known on this machine which program the run is of, whose executable the store says was `last`: a restart needs
/// no option then.
pub fn is_known_here(store: &Path, run: RunId, last: Option<&Path>) -> bool {
    Record::read(store, run).is_some_and(|record| record.was_said_here(store))
        || last.is_some_and(|last| was_started_here(store, last))
}

/// What was last said on this machine about a run, oldest first.
fn said_here(store: &Path, run: RunId) -> Vec<Record> {
    let noted = Noted::of(&stores::home(store)).read(&noted_as(run));
    noted
        .and_then(|text| serde_json::from_slice(&text).ok())
        .unwrap_or_default()
}

/// Whether this is the executable that was last started on this machine with this store.
pub fn was_started_here(store: &Path, executable: &Path) -> bool {
    let noted = Noted::of(&stores::home(store)).read(EXECUTABLE_NOTE);
    let found = fs::canonicalize(executable).ok();
    noted.is_some_and(|noted| found.is_some_and(|found| found.as_os_str().as_bytes() == noted))
}

/// The name under which this machine notes the record of a run.
fn noted_as(run: RunId) -> String {
    format!("{run}.{FILE}")
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
