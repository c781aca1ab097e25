//! A disk that is soon full.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A file system in memory of a given size, in a folder; unmounted with its value.
pub struct SmallDisk {
    folder: PathBuf,
    mounted_as_another: bool,
}

impl SmallDisk {
    /// `None` where neither this user may mount anything nor `sudo` lets it without asking.
    pub fn mount(folder: &Path, kilobytes: usize) -> Option<Self> {
        let size = format!("size={kilobytes}k");
        let folder_text = folder.to_str().expect("the folder has a plain name");
        let arguments = ["-t", "tmpfs", "-o", &size, "tmpfs", folder_text];
        let ways = [false, true].into_iter();
        let mut done = ways.filter(|&as_another| run(as_another, "mount", &arguments));
        Some(SmallDisk {
            mounted_as_another: done.next()?,
            folder: folder.to_owned(),
        })
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let folder = self.folder.to_str().expect("it was mounted by this name");
        run(self.mounted_as_another, "umount", &[folder]);
    }
}

/// Whether a command succeeds, as this user or by way of `sudo`.
fn run(as_another: bool, command: &str, arguments: &[&str]) -> bool {
    let mut process = match as_another {
        true => Command::new("sudo"),
        false => Command::new(command),
    };
    if as_another {
        process.args(["-n", command]);
    }
    let status = process
        .args(arguments)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    status.is_ok_and(|status| status.success())
}
