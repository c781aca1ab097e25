//! Who listens to requests to stop, and who has heard one: a small file of each rank in its store. The one who asks for a
//! stop by way of a launcher looks there whether the launcher has passed it on.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use crate::base::current;
use crate::base::documents::Documents;
use crate::base::files;
use crate::base::host::host_name;
use crate::base::kept_open::KeptOpen;
use crate::base::own::unobserved;
use crate::storage::{documents_of, folder_of_rank};

/// A longer file is none of ours.
const LONGEST: u64 = 1000;

fn name(rank: u32) -> String {
    format!("stop.r{rank}")
}

/// A rank that listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listener {
    /// The number of its process.
    pub pid: u32,
    /// The machine that it runs on.
    pub host: String,
    /// Whether a request to stop has arrived.
    pub has_heard: bool,
}

impl Listener {
    fn parse(text: &str) -> Option<Listener> {
        let mut lines = text.lines();
        let (pid, host) = lines.next()?.split_once(' ')?;
        Some(Listener {
            pid: pid.parse().ok()?,
            host: host.to_owned(),
            has_heard: lines.next().is_some(),
        })
    }
}

/// The ranks of a program that listen now, by the store as it was named.
pub fn listeners(store: &Path, ranks: u32) -> Vec<Listener> {
    (0..ranks)
        .filter_map(|rank| listener(&folder_of_rank(store, rank), rank))
        .collect()
}

fn listener(folder: &Path, rank: u32) -> Option<Listener> {
    let path = documents_of(folder).path_of(&name(rank));
    // What is no file is not waited for.
    let mut options = File::options();
    options
        .read(true)
        .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
    let mut text = String::new();
    options
        .open(path)
        .ok()?
        .take(LONGEST)
        .read_to_string(&mut text)
        .ok()?;
    Listener::parse(&text)
}

/// The file of this process, from the beginning of its session to the end.
#[derive(Debug)]
pub(super) struct Stops {
    path: PathBuf,
    /// What the signal handler writes to; without it nobody knows whether a signal has arrived, and nothing else is lost.
    file: Option<KeptOpen>,
}

impl Stops {
    /// The session listens from now on.
    pub fn begin(documents: &dyn Documents, rank: u32) -> Stops {
        let path = documents.path_of(&name(rank));
        let file = Stops::open(&path).ok().map(KeptOpen::new);
        current::note_signals_in(file.as_ref().map(|file| file.as_raw_fd()));
        Stops { path, file }
    }

    fn open(path: &Path) -> io::Result<File> {
        // That of a process that was killed.
        match unobserved(|| std::fs::remove_file(path)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let mut file = File::create_new(path)?;
        files::is_for_its_owner(&file)?;
        file.write_all(format!("{} {}\n", std::process::id(), host_name()).as_bytes())?;
        Ok(file)
    }

    /// Nobody listens any more.
    pub fn forget(&self) {
        current::note_signals_in(None);
        if self.file.is_some() {
            let _ = unobserved(|| std::fs::remove_file(&self.path));
        }
    }
}

impl Drop for Stops {
    fn drop(&mut self) {
        self.forget();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_listens_and_who_has_heard() {
        let store = tempfile::tempdir().unwrap();
        assert!(listeners(store.path(), 2).is_empty());
        let stops = Stops::begin(&documents_of(store.path()), 1);
        let own = Listener {
            pid: std::process::id(),
            host: host_name(),
            has_heard: false,
        };
        assert_eq!(listeners(store.path(), 2), std::slice::from_ref(&own));
        (&**stops.file.as_ref().unwrap()).write_all(b"heard\n").unwrap();
        let heard = Listener {
            has_heard: true,
            ..own.clone()
        };
        assert_eq!(listeners(store.path(), 2), [heard]);
        drop(Stops::begin(&documents_of(store.path()), 1));
        assert!(listeners(store.path(), 2).is_empty());
        for nonsense in ["", "7", "x h\n", "heard\n"] {
            assert_eq!(Listener::parse(nonsense), None);
        }
    }
}
