//! Damaged checkpoint files: flipped bits, truncation, replaced contents.

use crate::victim::{Job, KILLED, MODES, NOTHING_TO_RESTART, SMALL, expect_end_of, small_reference};
use harness::in_parallel;
use std::path::{Path, PathBuf};

/// Bits flipped in each run of the test: spread over the file, the beginning more densely.
const FLIPS: usize = 240;
const LENGTHS: usize = 40;

/// A store with the lines of visits 10 and 20, to copy from.
struct Lines {
    older: Vec<u8>,
    newest: Vec<u8>,
    names: [PathBuf; 2],
    job: Job,
}

impl Lines {
    fn new() -> Self {
        Lines::of(Job::new(SMALL))
    }

    fn of(job: Job) -> Self {
        let run = job.every(10).with("CKPT_FAULT", "visit:21").run();
        assert_eq!(run.ended, KILLED, "{}", run.stderr);
        let names: [PathBuf; 2] = job.checkpoints().try_into().expect("two lines are kept");
        let [older, newest] = names
            .each_ref()
            .map(|path| std::fs::read(path).expect("a checkpoint can be read"));
        Lines {
            older,
            newest,
            names,
            job,
        }
    }

    /// A job whose store is a copy of this one with other contents in the two files.
    fn copy_with(&self, older: &[u8], newest: &[u8]) -> Job {
        let job = self.job.again();
        copy_folder(&self.job.store(), &job.store());
        for (path, bytes) in self.names.iter().zip([older, newest]) {
            let name = path.file_name().expect("a file has a name");
            std::fs::write(job.store().join(name), bytes).expect("a copy can be written");
        }
        job
    }
}

fn copy_folder(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("a folder can be made");
    for entry in std::fs::read_dir(from)
        .expect("the store can be listed")
        .flatten()
    {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy_folder(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).expect("a file can be copied");
        }
    }
}

/// Positions of the bits to flip: every byte of the beginning in turn, then even distances.
fn positions(length: usize) -> Vec<usize> {
    let dense = FLIPS / 2;
    let start = (0..dense).map(|nth| nth * 1024.min(length) / dense);
    start.chain((0..dense).map(|nth| nth * length / dense)).collect()
}

#[test]
fn a_flipped_bit_in_the_newest_file() {
    let lines = Lines::new();
    let positions = positions(lines.newest.len());
    let left_out = in_parallel(&positions, |position| {
        let mut damaged = lines.newest.clone();
        damaged[*position] ^= 1 << (position % 8);
        let run = lines.copy_with(&lines.older, &damaged).restart(1000).run();
        expect_end_of(small_reference(), &run)
    });
    // One line is printed between two visits: the restart is from visit 10 or 20.
    assert!(
        left_out.iter().all(|lines| *lines == 9 || *lines == 19),
        "{left_out:?}"
    );
    assert!(left_out.contains(&9), "no flip was found out");
}

/// The newer of the two may build on the older.
#[test]
fn a_flipped_bit_in_every_mode() {
    for mode in MODES {
        let lines = Lines::of(Job::in_mode(SMALL, mode));
        let reference = lines.job.reference();
        let flip = |bytes: &[u8], at: usize| {
            let mut damaged = bytes.to_vec();
            damaged[at] ^= 1 << (at % 8);
            damaged
        };
        let eighths: Vec<usize> = (0..8).collect();
        in_parallel(&eighths, |nth| {
            let in_newest = flip(&lines.newest, nth * lines.newest.len() / 8 + 13);
            let run = lines.copy_with(&lines.older, &in_newest).restart(1000).run();
            assert_eq!(expect_end_of(&reference, &run), 9, "{}", run.stderr);
            let in_older = flip(&lines.older, nth * lines.older.len() / 8 + 13);
            let run = lines.copy_with(&in_older, &lines.newest).restart(1000).run();
            // Nothing is left where the newer one needs just that block.
            if run.ended != NOTHING_TO_RESTART {
                expect_end_of(&reference, &run);
            }
        });
    }
}

#[test]
fn a_flipped_bit_in_both_files() {
    let lines = Lines::new();
    let positions = positions(lines.newest.len().min(lines.older.len()));
    in_parallel(&positions, |position| {
        let flip = |bytes: &[u8]| {
            let mut damaged = bytes.to_vec();
            damaged[*position] ^= 1 << (position % 8);
            damaged
        };
        let run = lines
            .copy_with(&flip(&lines.older), &flip(&lines.newest))
            .restart(1000)
            .run();
        if run.ended == NOTHING_TO_RESTART {
            assert!(
                run.stderr.contains("ckpt: "),
                "nothing is said of byte {position}"
            );
        } else {
            expect_end_of(small_reference(), &run);
        }
    });
}

#[test]
fn a_truncated_newest_file() {
    let lines = Lines::new();
    let lengths: Vec<usize> = (0..LENGTHS)
        .map(|nth| nth * lines.newest.len() / LENGTHS)
        .collect();
    in_parallel(&lengths, |length| {
        let run = lines
            .copy_with(&lines.older, &lines.newest[..*length])
            .restart(1000)
            .run();
        assert_eq!(
            expect_end_of(small_reference(), &run),
            9,
            "cut at {length}: {}",
            run.stderr
        );
    });
}

#[test]
fn a_file_that_is_no_checkpoint() {
    let lines = Lines::new();
    for contents in [&b""[..], b"not a checkpoint", &[0; 5000]] {
        let run = lines.copy_with(&lines.older, contents).restart(1000).run();
        assert_eq!(expect_end_of(small_reference(), &run), 9);
    }
}

#[test]
fn two_useless_files_are_left_where_they_are() {
    let lines = Lines::new();
    let job = lines.copy_with(b"", b"");
    let run = job.restart(1000).run();
    assert_eq!(run.ended, NOTHING_TO_RESTART, "{}", run.stderr);
    assert_eq!(job.checkpoints().len(), 2, "nothing may be deleted");
}
