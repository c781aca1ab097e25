//! Folders and files that the program has closed to itself, as one does with results that are complete: open to a restart for
//! as long as it needs them.

use std::fs::{self, File, Metadata, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use crate::base::sorted::SortedSet;
use rustix::fs::Access;

/// What the owner of a folder may do in it.
pub(crate) const ALL_OF_OWNER: u32 = 0o700;

/// Folders that nobody may change, or go through, and that are open for as long as this lives.
#[derive(Debug)]
pub(crate) struct Opened(Vec<(PathBuf, Metadata)>);

impl Opened {
    /// Those in which these paths are, which are to be changed. What cannot be opened is for whoever needs it to say.
    pub fn for_changes<'p>(paths: impl IntoIterator<Item = &'p PathBuf>) -> Opened {
        let all = paths.into_iter().map(PathBuf::as_path);
        Opened::above(all, Access::WRITE_OK | Access::EXEC_OK)
    }

    /// Those that lead to a path.
    pub fn on_the_way_to(path: &Path) -> Opened {
        Opened::above([path].into_iter(), Access::EXEC_OK)
    }

    fn above<'p>(paths: impl Iterator<Item = &'p Path>, last: Access) -> Opened {
        let (mut opened, mut known) = (Vec::new(), SortedSet::new());
        for path in paths {
            let above: Vec<&Path> = path.ancestors().skip(1).collect();
            for (height, folder) in above.into_iter().enumerate().rev() {
                let how = match height {
                    0 => last,
                    _ => Access::EXEC_OK,
                };
                if !known.insert((folder, how.bits())) || rustix::fs::access(folder, how).is_ok() {
                    continue;
                }
                let found = fs::symlink_metadata(folder).ok().filter(Metadata::is_dir);
                if let Some(found) = found {
                    let mode = found.permissions().mode() & 0o7777 | ALL_OF_OWNER;
                    if fs::set_permissions(folder, Permissions::from_mode(mode)).is_ok() {
                        opened.push((folder.to_owned(), found));
                    }
                }
            }
        }
        Opened(opened)
    }

    /// Its permissions are seen to.
    pub fn is_settled(&mut self, path: &Path) {
        self.0.retain(|(folder, _)| folder != path);
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        for (folder, before) in self.0.iter().rev() {
            let now = fs::symlink_metadata(folder);
            if now.is_ok_and(|now| now.is_dir() && (now.dev(), now.ino()) == (before.dev(), before.ino())) {
                // It is open, which does no harm.
                let _ = fs::set_permissions(folder, before.permissions());
            }
        }
    }
}

/// Opens a file that its permissions close to its owner; they are what they were when it is open.
///
/// # Errors
/// It is not the user's, or no file.
pub(crate) fn open_closed(path: &Path, options: &OpenOptions) -> io::Result<File> {
    let before = fs::metadata(path)?;
    if !before.is_file() {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    let mode = before.permissions().mode() & 0o7777;
    fs::set_permissions(path, Permissions::from_mode(mode | 0o600))?;
    let file = options.open(path);
    let closed = match &file {
        Ok(file) => file.set_permissions(before.permissions()),
        Err(_) => fs::set_permissions(path, before.permissions()),
    };
    closed.and(file)
}
