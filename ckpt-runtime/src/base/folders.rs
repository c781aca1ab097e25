//! Folders on the disk: a name in one is safe from a power cut when the folder has been synced, and the folder itself when the
//! one above it has.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

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
    enter(&folder, None)
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
