//! A store as one file to carry: an ordinary tar file whose first entry is a manifest with the length and the checksum
//! of every other. What is unpacked is checked before it gets its name.

mod names;
mod read;
mod write;

use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use ckpt::store::RunId;
use serde::{Deserialize, Serialize};
use twox_hash::xxhash3_128::Hasher;

use crate::output::Bar;

pub use read::unpack;
pub use write::{all_runs, pack, run_of};

/// The first entry.
const MANIFEST: &str = "manifest.json";
/// The folder with the files of the store.
const STORE: &str = "store";
/// The folder in it with what runs keep, a folder each.
const RUNS: &str = "runs";
/// The folder with files of the program.
const FILES: &str = "files";
/// What `format` says.
const FORMAT: &str = "ckpt-pack";
/// Raised by a change that an older reader would misread: 2 has what a run keeps in a folder of the run.
const VERSION: u32 = 2;

/// What is in a pack.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    format: String,
    version: u32,
    /// Name of the store's folder.
    pub store: String,
    /// The run that is packed, of several the one that a restart continues; none of checkpoints that are of none.
    pub run: Option<RunId>,
    /// Name of the program.
    pub program: String,
    /// The host that it was packed on.
    pub host: String,
    /// Every other entry, in the order of the file.
    pub files: Vec<Entry>,
}

/// A file in a pack.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// `store/NAME`, `store/runs/RUN/NAME`, or `files/PATH` with the path from the folder that the program was started in.
    pub path: String,
    /// Its length.
    pub bytes: u64,
    /// 32 hexadecimal digits.
    pub xxh3_128: String,
}

impl Entry {
    /// Where it belongs, if its path is one that may be written to: below its folder, whatever the pack says.
    fn place(&self) -> Option<Destination> {
        let path = Path::new(&self.path);
        if !names::is_plain_path(path) {
            return None;
        }
        if let Ok(name) = path.strip_prefix(STORE) {
            let belongs = name.to_str().is_some_and(belongs_to_a_store);
            return belongs.then_some(Destination::Store);
        }
        let path = path.strip_prefix(FILES).ok()?;
        (path != Path::new("")).then(|| Destination::File(path.to_owned()))
    }
}

/// Where an entry goes.
enum Destination {
    Store,
    File(PathBuf),
}

/// Whether a file of this name is part of a store, and may go with it: a checkpoint, or what a run keeps; not the lock, nor
/// what has not been finished.
fn belongs_to_a_store(name: &str) -> bool {
    match name.split('/').collect::<Vec<_>>()[..] {
        [name] => !name.starts_with('.') && ckpt::store::file_of(name).is_some(),
        [RUNS, run, name] => run.parse::<RunId>().is_ok() && belongs_to_a_run(name),
        _ => false,
    }
}

/// Whether a file of this name is one that a run keeps.
fn belongs_to_a_run(name: &str) -> bool {
    // The parts of the journal of files, and the bytes of files that are kept beside them.
    let is_of_the_journal =
        name.starts_with("files.") && [".log", ".was"].iter().any(|end| name.ends_with(end));
    is_of_the_journal
        || name == ckpt::session::events::EVENTS_FILE
        || name == crate::launch::RECORD_FILE
        || name == ckpt::session::job::JOB_FILE
}

/// Copies all of it; its length and its checksum.
fn copy(from: &mut impl Read, to: &mut impl Write, bar: &Bar) -> io::Result<(u64, String)> {
    let (mut sum, mut length) = (Hasher::new(), 0);
    let mut piece = vec![0; 1 << 20];
    loop {
        let count = from.read(&mut piece)?;
        if count == 0 {
            return Ok((length, format!("{:032x}", sum.finish_128())));
        }
        sum.write(&piece[..count]);
        to.write_all(&piece[..count])?;
        length += count as u64;
        bar.advance(count as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_stay_below_their_folders() {
        let is_placed = |path: &str| {
            let entry = Entry {
                path: path.into(),
                bytes: 0,
                xxh3_128: String::new(),
            };
            entry.place().is_some()
        };
        for good in [
            "store/000004.r0.h5",
            "store/runs/0123456789abcdef0123456789abcdef/job.json",
            "store/runs/0123456789abcdef0123456789abcdef/files.000002.log",
            "store/runs/0123456789abcdef0123456789abcdef/files.000002.0001.was",
            "store/runs/0123456789abcdef0123456789abcdef/files.r3.000002.log",
            "store/runs/0123456789abcdef0123456789abcdef/files.r3.000002.0001.was",
            "files/a/b.txt",
            "files/settings.toml",
        ] {
            assert!(is_placed(good), "{good}");
        }
        let bad = [
            "store/../x",
            "/etc/passwd",
            "store/lock",
            "store/.000004.r0.h5.tmp",
            "store/a/000004.r0.h5",
            "store",
            "files/../../x",
            "files",
            "files/",
            "other/x",
            "",
            "store/job.json",
            "store/runs/job.json",
            "store/runs/0123/job.json",
            "store/runs/../runs/0123456789abcdef0123456789abcdef/job.json",
            "store/runs/0123456789abcdef0123456789abcdef/x/job.json",
            "store/runs/0123456789abcdef0123456789abcdef/job.json.exe",
            "store/runs/0123456789abcdef0123456789abcdef/files.000002.0001.exe",
            "store/files.000002.0001.was",
            "store/runs/0123456789abcdef0123456789abcdef/000004.r0.h5",
            "./store/000004.r0.h5",
            "files/.cargo/config.toml",
            "files/-x.csv",
        ];
        for bad in bad {
            assert!(!is_placed(bad), "{bad}");
        }
    }
}
