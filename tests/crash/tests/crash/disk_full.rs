//! A disk with no room left.

use crate::victim::{Job, expect_end_of};
use std::path::{Path, PathBuf};
use std::process::Command;

/// So large that what a store reserves beyond the length of a file does not matter.
const CELLS: usize = 100_000;

/// A file system in memory of a given size, unmounted with its value.
struct SmallDisk {
    at: PathBuf,
    _folder: tempfile::TempDir,
}

impl SmallDisk {
    /// `None` where this process may not mount anything.
    fn mount(kilobytes: usize) -> Option<Self> {
        let folder = harness::scratch_directory();
        let at = folder.path().join("disk");
        std::fs::create_dir(&at).ok()?;
        let size = format!("size={kilobytes}k");
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &size, "tmpfs"])
            .arg(&at)
            .output()
            .ok()?;
        mounted
            .status
            .success()
            .then_some(SmallDisk { at, _folder: folder })
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.at).output();
    }
}

/// Runs `job` with its store on `disk`.
fn on(disk: &Path, job: &Job) -> harness::Runner {
    job.every(10).with("CKPT_DIR", disk.join("store").display())
}

/// Kilobytes of one checkpoint of `job`.
fn size_of_a_line(job: &Job) -> usize {
    let killed = job.every(10).with("CKPT_FAULT", "visit:11").run();
    assert_eq!(killed.ended, crate::victim::KILLED, "{}", killed.stderr);
    let sizes = job
        .checkpoints()
        .into_iter()
        .filter_map(|path| Some(path.metadata().ok()?.len()));
    sizes.max().expect("there is a checkpoint") as usize / 1024
}

#[test]
fn a_full_disk_costs_checkpoints_and_nothing_else() {
    let job = Job::new(CELLS);
    let (reference, line) = (job.reference(), size_of_a_line(&job));
    // No line fits; one fits and the next does not; two fit and the third does not.
    for kilobytes in [line / 2, line * 3 / 2, line * 5 / 2] {
        let Some(disk) = SmallDisk::mount(kilobytes) else {
            eprintln!("skipped: this process may not mount a tmpfs");
            return;
        };
        let run = on(&disk.at, &job).run();
        assert!(run.stdout == reference, "{}", run.stderr);
        assert!(
            run.stderr.contains("no space left"),
            "with {kilobytes} kB: {}",
            run.stderr
        );
    }
}

#[test]
fn the_line_before_the_disk_was_full_is_whole() {
    let job = Job::new(CELLS);
    let (reference, line) = (job.reference(), size_of_a_line(&job));
    let Some(disk) = SmallDisk::mount(line * 3 / 2) else {
        eprintln!("skipped: this process may not mount a tmpfs");
        return;
    };
    let killed = on(&disk.at, &job).with("CKPT_FAULT", "visit:55").run();
    assert_eq!(killed.ended, crate::victim::KILLED, "{}", killed.stderr);
    let restarted = on(&disk.at, &job).with("CKPT_RESTART", "latest").run();
    assert!(expect_end_of(&reference, &restarted) >= 9);
}
