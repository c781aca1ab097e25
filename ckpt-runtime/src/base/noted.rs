//! What this machine remembers of a store outside of it: how its runs were started here, and which files they wrote beyond
//! their own folder.
//!
//! A store is data that may come from anywhere, and says of itself what it likes. What the user has said on this machine stands in
//! `$XDG_STATE_HOME/ckpt/stores` (`~/.local/state/ckpt/stores`), a folder for each store by its path. No store can write
//! there, so what stands there was said here. Where that folder cannot be used nothing is known, and the user is asked.

use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rustix::io::Errno;

use super::checksum::xxh3;
use super::files;
use super::host::user_folder;
use super::own::unobserved;

/// The name under which stands the path of the executable that was last started with the store.
pub const EXECUTABLE_NOTE: &str = "executable";
/// How the names begin under which stands how far a run has gone on this machine.
pub(crate) const EPOCH_NOTES: &str = "epoch.";
/// The name under which the path of the store stands in its folder.
const STORE: &str = "store";
/// A note is not longer.
const LONGEST: u64 = 16 << 20;
/// What nobody has asked for in so long is forgotten if the store is not there any more.
const FORGOTTEN_AFTER: Duration = Duration::from_secs(180 * 24 * 3600);

/// How often it is looked for what can be forgotten: it takes as long as there are stores.
const LOOKED_EVERY: Duration = Duration::from_secs(24 * 3600);
/// The name beside the folders of all stores of what says when that was done.
const LOOKED: &str = "looked";

/// What is noted here of one store.
#[derive(Debug, Clone)]
pub struct Noted {
    /// Where the store really is.
    store: PathBuf,
    /// The folder with its notes; none where this machine has no place for them.
    folder: Option<PathBuf>,
}

impl Noted {
    /// Of the store in this folder, which need not be there yet.
    pub fn of(store: &Path) -> Noted {
        Noted::in_state(store, state_folder().as_deref())
    }

    fn in_state(store: &Path, state: Option<&Path>) -> Noted {
        let store = real_path(store);
        let number = xxh3(store.as_os_str().as_bytes());
        Noted {
            folder: state.map(|state| state.join(format!("{number:032x}"))),
            store,
        }
    }

    /// Where the notes of all stores are.
    pub(crate) fn folder(&self) -> Option<&Path> {
        self.folder.as_deref()?.parent()
    }

    /// What stands under this name.
    pub fn read(&self, name: &str) -> Option<Vec<u8>> {
        let folder = self.folder.as_deref().filter(|folder| is_private(folder))?;
        // Another store of the same number is another store.
        let known = files::read(&folder.join(STORE), LONGEST).ok().flatten()?;
        (known == self.store.as_os_str().as_bytes())
            .then(|| files::read(&folder.join(name), LONGEST).ok().flatten())
            .flatten()
    }

    /// What stands under all names that begin so.
    pub(crate) fn read_all(&self, beginning: &str) -> Vec<Vec<u8>> {
        let Some(folder) = &self.folder else {
            return Vec::new();
        };
        names_in(folder)
            .filter(|name| name.starts_with(beginning))
            .filter_map(|name| self.read(&name))
            .collect()
    }

    /// Notes it, in place of what stood there.
    ///
    /// # Errors
    /// There is no place for notes, or it cannot be written to.
    pub fn write(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        unobserved(|| self.replace(name, bytes))
    }

    fn replace(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let Some(folder) = &self.folder else {
            return Err(io::Error::new(
                io::ErrorKind::NotFound,
                "neither XDG_STATE_HOME nor HOME names a folder",
            ));
        };
        let store = self.store.as_os_str().as_bytes();
        let is_known =
            || files::read(&folder.join(STORE), LONGEST).is_ok_and(|known| known.as_deref() == Some(store));
        if !is_known() {
            remove(folder);
            if let Some(all) = folder.parent() {
                forget_old(all);
            }
            make(folder)?;
            files::replace(&folder.join(STORE), store, false)?;
        }
        if !is_private(folder) {
            return Err(io::Error::new(
                io::ErrorKind::PermissionDenied,
                format!("others than you can write in `{}`", folder.display()),
            ));
        }
        files::replace(&folder.join(name), bytes, false)
    }

    /// Notes which executable was started with the store: this one.
    pub(crate) fn write_executable(&self) {
        // Where it cannot be noted, a restart asks for it.
        let Ok(executable) = std::env::current_exe().and_then(fs::canonicalize) else {
            return;
        };
        let _ = self.write(EXECUTABLE_NOTE, executable.as_os_str().as_bytes());
    }

    /// Forgets what was said of it: another store takes the place. How far its runs have gone on this machine stays known: that
    /// store may be an older copy of this one.
    pub fn forget(&self) {
        let Some(folder) = &self.folder else { return };
        for name in names_in(folder) {
            let stays = name == STORE || name.starts_with(EPOCH_NOTES);
            if !stays {
                let _ = rustix::fs::unlink(folder.join(name));
            }
        }
        if names_in(folder).all(|name| name == STORE) {
            remove(folder);
        }
    }
}

/// Makes a folder, and those around it, for this user alone.
fn make(folder: &Path) -> io::Result<()> {
    match rustix::fs::mkdir(folder, 0o700.into()) {
        Ok(()) => Ok(()),
        Err(Errno::EXIST) => Ok(()),
        Err(Errno::NOENT) => {
            make(folder.parent().ok_or(io::ErrorKind::NotFound)?)?;
            Ok(
                rustix::fs::mkdir(folder, 0o700.into()).or_else(|error| match error {
                    Errno::EXIST => Ok(()),
                    other => Err(other),
                })?,
            )
        }
        Err(error) => Err(error.into()),
    }
}

fn names_in(folder: &Path) -> impl Iterator<Item = String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().into_string().ok())
}

/// Removes the notes of a store; what cannot be removed is still of the store that is named there.
fn remove(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let _ = rustix::fs::unlink(entry.path());
    }
    let _ = rustix::fs::rmdir(folder);
}

/// Where notes are, if this machine has a place for them.
fn state_folder() -> Option<PathBuf> {
    Some(user_folder("XDG_STATE_HOME", ".local/state")?.join("ckpt/stores"))
}

/// Whether nobody else can have written there: it is the user's own, and so is the one with all notes.
fn is_private(folder: &Path) -> bool {
    is_own(folder) && folder.parent().is_some_and(is_own)
}

fn is_own(folder: &Path) -> bool {
    const OTHERS_WRITE: u32 = 0o022;
    let user = rustix::process::geteuid().as_raw();
    fs::symlink_metadata(folder)
        .is_ok_and(|found| found.is_dir() && found.uid() == user && found.mode() & OTHERS_WRITE == 0)
}

/// The path without links, as far as it is there.
fn real_path(path: &Path) -> PathBuf {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    if let Ok(real) = fs::canonicalize(&path) {
        return real;
    }
    match (path.parent(), path.file_name()) {
        (Some(parent), Some(name)) => real_path(parent).join(name),
        _ => path,
    }
}

/// How long nothing has been changed there, by the clock; nothing where that cannot be told.
fn age_of(metadata: io::Result<fs::Metadata>) -> Option<Duration> {
    let changed = metadata.and_then(|found| found.modified()).ok()?;
    Some(SystemTime::now().duration_since(changed).unwrap_or_default())
}

/// Removes the notes of stores that have long been gone, now and then.
fn forget_old(all: &Path) {
    let looked = all.join(LOOKED);
    if age_of(fs::symlink_metadata(&looked)).is_some_and(|age| age < LOOKED_EVERY) {
        return;
    }
    if is_own(all) {
        let _ = files::replace(&looked, b"", false);
    }
    for entry in fs::read_dir(all).into_iter().flatten().flatten() {
        if age_of(entry.metadata()).is_none_or(|age| age <= FORGOTTEN_AFTER) {
            continue;
        }
        let path = entry.path();
        let Ok(Some(store)) = files::read(&path.join(STORE), LONGEST) else {
            continue;
        };
        if !PathBuf::from(std::ffi::OsStr::from_bytes(&store)).exists() {
            remove(&path);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn what_was_noted_is_known_of_that_store_alone() {
        let here = tempfile::tempdir().unwrap();
        let state = here.path().join("state/ckpt/stores");
        let store = here.path().join("x.ckpt.d");
        let noted = |store: &Path| Noted::in_state(store, Some(&state));
        assert_eq!(noted(&store).read("how"), None);
        noted(&store).write("how", b"here").unwrap();
        assert_eq!(noted(&store).read("how").unwrap(), b"here");
        assert_eq!(noted(&here.path().join("y.ckpt.d")).read("how"), None);
        // By whatever name one comes there.
        fs::create_dir(&store).unwrap();
        std::os::unix::fs::symlink(&store, here.path().join("link")).unwrap();
        assert_eq!(noted(&here.path().join("link")).read("how").unwrap(), b"here");
        noted(&store).forget();
        assert_eq!(noted(&store).read("how"), None);
        assert!(!noted(&store).folder.unwrap().exists());
    }

    #[test]
    fn how_far_a_run_has_gone_stays_known() {
        let here = tempfile::tempdir().unwrap();
        let state = here.path().join("stores");
        let noted = Noted::in_state(&here.path().join("x.ckpt.d"), Some(&state));
        noted.write("how", b"here").unwrap();
        noted.write("epoch.1a2b.files.r0", b"7").unwrap();
        noted.forget();
        assert_eq!(noted.read("how"), None);
        assert_eq!(noted.read("epoch.1a2b.files.r0").unwrap(), b"7");
    }

    #[test]
    fn what_is_old_is_forgotten_with_its_store_and_looked_for_now_and_then() {
        let here = tempfile::tempdir().unwrap();
        let state = here.path().join("stores");
        let gone = Noted::in_state(&here.path().join("gone.ckpt.d"), Some(&state));
        let begin = |name: &str| {
            let noted = Noted::in_state(&here.path().join(name), Some(&state));
            noted.write("how", b"here").unwrap();
        };
        gone.write("how", b"here").unwrap();
        let set_age = |path: &Path, age: Duration| {
            let time = SystemTime::now() - age;
            fs::File::open(path).unwrap().set_modified(time).unwrap();
        };
        // The first that finds others looks through them.
        begin("a.ckpt.d");
        set_age(gone.folder.as_deref().unwrap(), 2 * FORGOTTEN_AFTER);
        begin("b.ckpt.d");
        assert_eq!(gone.read("how").unwrap(), b"here");
        set_age(&state.join(LOOKED), 2 * LOOKED_EVERY);
        begin("c.ckpt.d");
        assert_eq!(gone.read("how"), None);
    }

    #[test]
    fn where_others_can_write_nothing_is_known() {
        let here = tempfile::tempdir().unwrap();
        let state = here.path().join("stores");
        let noted = Noted::in_state(&here.path().join("x.ckpt.d"), Some(&state));
        noted.write("how", b"here").unwrap();
        fs::set_permissions(&state, fs::Permissions::from_mode(0o777)).unwrap();
        assert_eq!(noted.read("how"), None);
        assert!(noted.write("how", b"there").is_err());
        assert!(Noted::in_state(here.path(), None).write("how", b"").is_err());
    }
}
