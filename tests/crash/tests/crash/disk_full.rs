//! A disk with no room left.

use crate::victim::{Job, expect_end_of};
use harness::{SmallDisk, skipped};
use std::path::Path;

/// So large that what a store reserves beyond the length of a file does not matter.
const CELLS: usize = 100_000;

/// A disk for the stores of a test; `None`, and it is said, where it cannot be had.
fn small_disk(folder: &Path, kilobytes: usize) -> Option<SmallDisk> {
    let disk = SmallDisk::mount(folder, kilobytes);
    if disk.is_none() {
        skipped("crash tests on a full disk", "this process may not mount a tmpfs");
    }
    disk
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
        let folder = harness::scratch_directory();
        let Some(_disk) = small_disk(folder.path(), kilobytes) else {
            return;
        };
        let run = on(folder.path(), &job).run();
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
    let folder = harness::scratch_directory();
    let Some(_disk) = small_disk(folder.path(), line * 3 / 2) else {
        return;
    };
    let killed = on(folder.path(), &job).with("CKPT_FAULT", "visit:55").run();
    assert_eq!(killed.ended, crate::victim::KILLED, "{}", killed.stderr);
    let restarted = on(folder.path(), &job).with("CKPT_RESTART", "latest").run();
    assert!(expect_end_of(&reference, &restarted) >= 9);
}
