//! Files that a program writes outside of its folder: a restart brings them back where this machine knows that a run wrote
//! there, and not because a store says so.

use std::fs;
use std::path::{Path, PathBuf};

use crate::process::Job;
use crate::programs::STEPS;

crate::tests! {
    what_was_written_outside_is_brought_back_on_this_machine,
    a_store_from_elsewhere_does_not_name_files_outside,
    what_the_user_names_is_brought_back,
    a_link_does_not_lead_outside,
    a_link_that_the_user_has_turned_is_told_of,
    settings_are_not_brought_back_from_elsewhere,
    what_cannot_be_noted_is_said_once,
    files_that_may_not_grow_cost_the_checkpoint_and_not_the_program,
    files_that_the_program_makes_executable_are_its_own,
}

const KINDS: [(&[(&str, &str)], &str); 2] = [(&[("TEST_HOLDS", "1")], "held.txt"), (&[], "closed.txt")];

/// A job that writes in `outside` and what this machine notes, in a folder of their own.
struct Outside {
    job: Job,
    around: tempfile::TempDir,
    file: PathBuf,
}

impl Outside {
    /// Killed between two checkpoints.
    fn killed(of: usize, outside: impl FnOnce(&Job, &Path) -> PathBuf) -> Outside {
        let around = tempfile::tempdir().unwrap();
        let job = Job::new("outside").with("XDG_STATE_HOME", around.path().join("state").display());
        let outside = outside(&job, around.path());
        fs::create_dir_all(&outside).unwrap();
        let (variables, name) = KINDS[of];
        let mut job = job.with("TEST_OUTSIDE", outside.display()).with("CKPT_EVERY", 3);
        for (name, value) in variables {
            job = job.with(name, value);
        }
        job.run(&[("CKPT_FAULT", "visit:5")]).expect_killed();
        Outside {
            file: outside.join(name),
            job,
            around,
        }
    }

    /// The store comes to another machine.
    fn forget(&self) {
        fs::remove_dir_all(self.around.path().join("state")).unwrap();
    }

    fn is_as_it_should_be(&self) {
        let expected: String = (1..=STEPS).map(|step| format!("step {step}\n")).collect();
        assert_eq!(fs::read_to_string(&self.file).unwrap(), expected);
    }
}

const RESTART: &[(&str, &str)] = &[("CKPT_RESTART", "latest")];

fn what_was_written_outside_is_brought_back_on_this_machine() {
    for of in [0, 1] {
        let here = Outside::killed(of, |_, around| around.join("scratch"));
        here.job.run(RESTART).expect_code(0);
        here.is_as_it_should_be();
    }
}

fn a_store_from_elsewhere_does_not_name_files_outside() {
    for of in [0, 1] {
        let here = Outside::killed(of, |_, around| around.join("scratch"));
        here.forget();
        fs::write(&here.file, "a file of somebody, and longer than the other").unwrap();
        here.job.run(RESTART).expect_code(77).expect_message(&[
            "E2350",
            &format!("`{}`", here.file.display()),
            "this machine has not noted that a run with this store wrote there",
        ]);
        let now = fs::read_to_string(&here.file).unwrap();
        assert_eq!(now, "a file of somebody, and longer than the other");
    }
}

fn what_the_user_names_is_brought_back() {
    for of in [0, 1] {
        let here = Outside::killed(of, |_, around| around.join("scratch"));
        here.forget();
        let folder = here.file.parent().unwrap().display().to_string();
        let map = format!("{folder}={folder}");
        let variables = [("CKPT_RESTART", "latest"), ("CKPT_MAP", &map)];
        here.job.run(&variables).expect_code(0);
        here.is_as_it_should_be();
    }
}

/// The path stands below the folder of the run, and leads out of it.
fn a_link_does_not_lead_outside() {
    for of in [0, 1] {
        let here = Outside::killed(of, |job, around| {
            let target = around.join("scratch");
            fs::create_dir(&target).unwrap();
            std::os::unix::fs::symlink(&target, job.folder().join("out")).unwrap();
            job.folder().join("out")
        });
        here.job
            .run(&[("CKPT_RESTART", "latest"), ("CKPT_FAULT", "visit:7")])
            .expect_killed();
        here.forget();
        let before = fs::read(&here.file).unwrap();
        here.job.run(RESTART).expect_code(77).expect_message(&["E2350"]);
        assert_eq!(fs::read(&here.file).unwrap(), before);
    }
}

/// The files behind it were copied to another disk.
fn a_link_that_the_user_has_turned_is_told_of() {
    for of in [0, 1] {
        for goes_back in [false, true] {
            let here = Outside::killed(of, |job, around| {
                let target = around.join("disk1");
                fs::create_dir(&target).unwrap();
                std::os::unix::fs::symlink(&target, job.folder().join("out")).unwrap();
                job.folder().join("out")
            });
            let disks =
                ["disk1", "disk2"].map(|name| fs::canonicalize(here.around.path()).unwrap().join(name));
            let name = here.file.file_name().unwrap();
            fs::create_dir(&disks[1]).unwrap();
            fs::copy(disks[0].join(name), disks[1].join(name)).unwrap();
            let link = here.job.folder().join("out");
            let turn = |to: &Path| {
                fs::remove_file(&link).unwrap();
                std::os::unix::fs::symlink(to, &link).unwrap();
            };
            turn(&disks[1]);
            let files = || disks.each_ref().map(|disk| fs::read(disk.join(name)).unwrap());
            let before = files();
            let map = format!("{}={}", disks[0].display(), disks[1].display());
            here.job.run(RESTART).expect_code(77).expect_message(&[
                "`out` led to ",
                "/disk1` at the checkpoint, and leads to ",
                &format!("`--map {map}` (CKPT_MAP)"),
            ]);
            assert_eq!(files(), before);
            let other = match goes_back {
                true => {
                    turn(&disks[0]);
                    here.job.run(RESTART).expect_code(0);
                    1
                }
                false => {
                    let variables = [("CKPT_RESTART", "latest"), ("CKPT_MAP", &map)];
                    here.job.run(&variables).expect_code(0);
                    0
                }
            };
            here.is_as_it_should_be();
            assert_eq!(files()[other], before[other]);
        }
    }
}

fn what_cannot_be_noted_is_said_once() {
    let around = tempfile::tempdir().unwrap();
    fs::write(around.path().join("file"), "").unwrap();
    let ended = Job::new("outside")
        .with("XDG_STATE_HOME", around.path().join("file").display())
        .with("TEST_OUTSIDE", around.path().display())
        .with("TEST_HOLDS", 1)
        .run(&[("CKPT_EVERY", "3")])
        .expect_code(0);
    assert_eq!(ended.stderr.matches("W2060").count(), 1, "{}", ended.stderr);
}

/// `ulimit -f`: the system sends a signal, which ends the program that does the same with a file of its own.
fn files_that_may_not_grow_cost_the_checkpoint_and_not_the_program() {
    let job = Job::new("outside").with("CKPT_EVERY", 3);
    let outside = job.folder().display().to_string();
    let job = job.with("TEST_OUTSIDE", outside);
    let ended = job.run(&[("TEST_FILE_LIMIT", "4096")]).expect_code(0);
    ended.expect_message(&["warning[W2005]: no checkpoint was taken", "File too large"]);
    let ended = job.run(&[("TEST_FILE_LIMIT", "4096"), ("TEST_LARGE", "1")]);
    assert_eq!(ended.code, None, "{ended:?}");
}

fn files_that_the_program_makes_executable_are_its_own() {
    for fault in ["visit:4", "visit:5", "visit:8"] {
        let around = tempfile::tempdir().unwrap();
        let job = Job::new("outside")
            .with("XDG_STATE_HOME", around.path().join("state").display())
            .with("TEST_PROGRAMS", 1)
            .with("CKPT_EVERY", 3);
        let outside = job.folder().display().to_string();
        let job = job.with("TEST_OUTSIDE", outside);
        job.run(&[("CKPT_FAULT", fault)]).expect_killed();
        job.run(RESTART).expect_code(0);
        for name in ["changed", "opened", "copied", "linked", "there/inside"] {
            let now = fs::read_to_string(job.folder().join(format!("step{STEPS}")).join(name)).unwrap();
            assert_eq!(now, STEPS.to_string(), "{name} {fault}");
        }
    }
}

fn settings_are_not_brought_back_from_elsewhere() {
    for of in [0, 1] {
        let here = Outside::killed(of, |job, _| job.folder().join(".cargo"));
        here.job
            .run(&[("CKPT_RESTART", "latest"), ("CKPT_FAULT", "visit:7")])
            .expect_killed();
        here.forget();
        here.job
            .run(RESTART)
            .expect_code(77)
            .expect_message(&["E2350", "it may be a program or its settings"]);
        let map = format!("{0}={0}", here.file.display());
        here.job
            .run(&[("CKPT_RESTART", "latest"), ("CKPT_MAP", &map)])
            .expect_code(0);
        here.is_as_it_should_be();
    }
}
