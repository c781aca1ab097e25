//! The folder of the store: space on its disk, and whether a file can be made durable there.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use super::Check;
use crate::render;

const SPACE: &str = "disk space";
const DURABLE: &str = "store folder";
/// Less than this is reported as missing: two checkpoints of a small program fit.
const LEAST: u64 = 100 << 20;

/// The nearest folder that exists: the store itself may not have been made yet.
fn existing(store: &Path) -> PathBuf {
    let absolute = std::path::absolute(store).unwrap_or_else(|_| store.to_path_buf());
    absolute
        .ancestors()
        .find(|folder| folder.is_dir())
        .unwrap_or(Path::new("/"))
        .to_path_buf()
}

/// Free space where the store is or would be.
pub fn space(store: &Path) -> Check {
    let folder = existing(store);
    match nix::sys::statvfs::statvfs(&folder) {
        Ok(stat) => {
            // Wide enough whatever the system's types are.
            let free = u128::from(stat.blocks_available()) * u128::from(stat.fragment_size());
            let free = u64::try_from(free).unwrap_or(u64::MAX);
            let found = format!("{} free for {}", render::bytes(free), folder.display());
            match free < LEAST {
                true => Check::missing(
                    SPACE,
                    found,
                    "free some space, or put the store elsewhere with --dir FOLDER",
                ),
                false => Check::good(SPACE, found),
            }
        }
        Err(error) => Check::missing(
            SPACE,
            format!("{}: {error}", folder.display()),
            "choose another folder with --dir",
        ),
    }
}

/// Writes, syncs, renames and removes a small file, as a commit does.
pub fn durable(store: &Path) -> Check {
    let folder = existing(store);
    match try_commit(&folder) {
        Ok(()) => Check::good(DURABLE, format!("{} can be written and synced", folder.display())),
        Err(error) => Check::missing(
            DURABLE,
            format!("{} cannot hold checkpoints: {error}", folder.display()),
            "choose a folder on a local or parallel file system with --dir FOLDER or CKPT_DIR",
        ),
    }
}

fn try_commit(folder: &Path) -> std::io::Result<()> {
    let mut probe = tempfile::Builder::new()
        .prefix(".ckpt-doctor-")
        .tempfile_in(folder)?;
    probe.write_all(b"ckpt")?;
    probe.as_file().sync_all()?;
    let renamed = probe.path().with_extension("renamed");
    fs::rename(probe.path(), &renamed)?;
    let synced = File::open(folder).and_then(|folder| folder.sync_all());
    fs::remove_file(&renamed)?;
    synced
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::State;

    #[test]
    fn a_writable_folder_is_good_and_left_empty() {
        let folder = tempfile::tempdir().unwrap();
        let store = folder.path().join("not/yet/made.ckpt.d");
        assert_eq!(durable(&store).state, State::Good);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        assert_eq!(existing(&store), folder.path());
    }

    #[test]
    fn a_folder_that_cannot_be_written_is_named() {
        let check = durable(Path::new("/proc/x.ckpt.d"));
        assert_eq!(check.state, State::Missing);
        assert!(check.found.contains("/proc"));
    }
}
