//! Folders on the disk: a name in one is safe from a power cut when the folder has been synced, and the folder itself when the
//! one above it has.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::SystemTime;

use crate::base::lock::locked;

/// The names in a folder are on the disk from here on.
///
/// # Errors
/// What the system says.
pub(crate) fn sync(folder: &Path) -> io::Result<()> {
    let folder = File::options()
        .read(true)
        .custom_flags(rustix::fs::OFlags::DIRECTORY.bits() as i32)
        .open(folder)?;
    folder.sync_all()
}

/// Makes a folder and those above it that are not there; all of them are on the disk from here on.
///
/// # Errors
/// What the system says.
pub(crate) fn make(folder: &Path) -> io::Result<()> {
    let folder = std::path::absolute(folder)?;
    fs::create_dir_all(&folder)?;
    once(&folder, || enter(&folder, None))
}

/// Has a folder's name brought to the disk, unless this process has done that before: a program that goes back to a checkpoint comes
/// to the same folders again.
///
/// # Errors
/// Those of `sync`, and what the system says of the folder.
pub(crate) fn once(folder: &Path, sync: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
    static ENTERED: Mutex<Vec<Entered>> = Mutex::new(Vec::new());
    let this = Entered::of(folder)?;
    if this.as_ref().is_some_and(|this| locked(&ENTERED).contains(this)) {
        return Ok(());
    }
    sync()?;
    locked(&ENTERED).extend(this);
    Ok(())
}

/// A folder by its name and itself: one that was made again has the number of the one before, but not its time.
#[derive(Debug, PartialEq, Eq)]
struct Entered {
    path: PathBuf,
    device: u64,
    inode: u64,
    made: SystemTime,
}

impl Entered {
    /// None where the file system does not tell when it was made.
    fn of(folder: &Path) -> io::Result<Option<Self>> {
        let found = fs::metadata(folder)?;
        let made = found.created().ok();
        Ok(made.map(|made| Entered {
            path: folder.to_owned(),
            device: found.dev(),
            inode: found.ino(),
            made,
        }))
    }
}

/// The names of a folder and of those above it, up to the one below `from`, are on the disk from here on: whoever made them may
/// have been stopped before they were.
///
/// # Errors
/// What the system says.
pub(crate) fn enter(folder: &Path, from: Option<&Path>) -> io::Result<()> {
    let mut above: Vec<PathBuf> = folder.ancestors().skip(1).map(Path::to_owned).collect();
    if let Some(from) = from.filter(|from| folder.starts_with(from)) {
        above.retain(|above| above.starts_with(from));
    }
    sync_all(&above)
}

/// The names in a folder, its own and those of the folders above it are on the disk from here on.
///
/// # Errors
/// What the system says.
pub fn settle(folder: &Path) -> io::Result<()> {
    let folder = std::path::absolute(folder)?;
    let all: Vec<PathBuf> = folder.ancestors().map(Path::to_owned).collect();
    sync_all(&all)
}

fn sync_all(folders: &[PathBuf]) -> io::Result<()> {
    for folder in folders {
        match sync(folder) {
            // Nobody who may not read a folder of the system has made what is in it.
            Err(error) if error.kind() == ErrorKind::PermissionDenied => {}
            Err(error) if is_not_for_syncing(&error) => {}
            done => done?,
        }
    }
    Ok(())
}

/// Some file systems have nothing to sync in a folder, and say so.
fn is_not_for_syncing(error: &io::Error) -> bool {
    let errno = rustix::io::Errno::from_io_error(error);
    matches!(
        errno,
        Some(rustix::io::Errno::INVAL | rustix::io::Errno::ROFS | rustix::io::Errno::OPNOTSUPP)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_folder_is_brought_to_the_disk_once() {
        let scratch = tempfile::tempdir().unwrap();
        let folder = scratch.path().join("runs");
        let mut synced = 0;
        for turn in 0..3 {
            if turn == 2 {
                fs::remove_dir(&folder).unwrap();
            }
            let _ = fs::create_dir(&folder);
            once(&folder, || {
                synced += 1;
                Ok(())
            })
            .unwrap();
        }
        // Unless it is another one, or nobody can tell.
        let tells = fs::metadata(&folder).unwrap().created().is_ok();
        assert_eq!(synced, if tells { 2 } else { 3 });
        assert!(once(&scratch.path().join("none"), || Ok(())).is_err());
    }

    #[test]
    fn folders_are_made_with_those_above_them() {
        let scratch = tempfile::tempdir().unwrap();
        let deep = scratch.path().join("a/b/c");
        make(&deep).unwrap();
        make(&deep).unwrap();
        assert!(deep.is_dir());
        fs::write(scratch.path().join("file"), "").unwrap();
        assert!(make(&scratch.path().join("file/below")).is_err());
        assert!(sync(&scratch.path().join("file")).is_err());
    }
}
