//! The other implementations of MPI: a program is run, killed, restarted and stopped with each, and prints what it should.
//! Everything else is tested with the one that `mpicc` belongs to.
//!
//! `install_other_mpis` in `.ci/install.sh` installs them. Each has a target folder of its own, because `mpi-sys` is not built
//! anew when `MPICC` changes.

use std::path::{Path, PathBuf};

use mpi_tests::{Job, finished, send, sorted, target, wait_until};

struct Mpi {
    /// Its target folder.
    name: &'static str,
    compiler: PathBuf,
    launcher: PathBuf,
    /// Where its libraries are, if nobody else looks there.
    libraries: Option<PathBuf>,
}

/// What heat-mpi prints, with two ranks and the arguments `60 40 100`.
const STEPS: &str = "step    20: heat 3631.4559125432\nstep    40: heat 3617.4735760134\n\
                     step    60: heat 3604.3144712912\nstep    80: heat 3591.8387709994\n\
                     step   100: heat 3579.9618875059\n";

impl Mpi {
    fn mpich() -> Mpi {
        Mpi {
            name: "mpich",
            compiler: "mpicc.mpich".into(),
            launcher: "mpirun.mpich".into(),
            libraries: None,
        }
    }

    fn job(&self) -> Job {
        let mut job = Job::new("examples/heat-mpi");
        self.takes_over(&mut job);
        job
    }

    /// From now on the job is built and started with this one.
    fn takes_over(&self, job: &mut Job) {
        job.set("MPICC", &self.compiler.to_string_lossy());
        let folder = target().join("other-mpis").join(self.name);
        job.set("CARGO_TARGET_DIR", &folder.to_string_lossy());
        job.set("CARGO_PROFILE_DEV_DEBUG", "0");
        job.set("CARGO_PROFILE_DEV_OPT_LEVEL", "0");
        job.set("CKPT_CHECK_SAFE_POINTS", "1");
        if let Some(libraries) = &self.libraries {
            job.set("LD_LIBRARY_PATH", &libraries.to_string_lossy());
        }
    }

    fn is_run_killed_stopped_and_restarted(&self) {
        let expected = STEPS;
        let options = format!("-n 2 --launcher {} --every 20", self.launcher.display());
        let small = "--- 60 40 100";

        let mut job = self.job();
        let whole = job.ckpt("run", &format!("{options} {small}"));
        assert_eq!(whole.code, Some(0), "{}", whole.stderr);
        assert_eq!(whole.stdout, expected);

        job.set("CKPT_FAULT", "visit:55@1");
        let killed = job.ckpt("run", &format!("{options} {small}"));
        assert!(!matches!(killed.code, Some(0 | 75..=79)), "{killed:?}");
        job.set("CKPT_FAULT", "");
        let refused = job.ckpt("restart", "-n 3");
        assert_eq!(refused.code, Some(77), "{}", refused.stderr);
        let restarted = job.ckpt("restart", "");
        assert_eq!(restarted.code, Some(0), "{}", restarted.stderr);
        // The step before the kill may have been printed, and be printed again.
        assert!(expected.ends_with(&restarted.stdout), "{}", restarted.stdout);
        let before = steps(&killed.stdout);
        assert!(expected.starts_with(&before), "{before}");
        assert!(before.len() + restarted.stdout.len() >= expected.len());

        let long = "--- 200 200 4000";
        let uninterrupted = job.ckpt("run", &format!("{options} {long}"));
        let running = job.start("run", &format!("{options}000000 {long}"));
        let ranks = job.wait_for_ranks(2);
        wait_until(|| job.store().join("job.json").exists().then_some(()));
        std::thread::sleep(std::time::Duration::from_millis(1500));
        send(ranks[1], "TERM");
        let stopped = finished(running);
        assert_eq!(stopped.code, Some(75), "{}", stopped.stderr);
        let restarted = job.ckpt("restart", "");
        assert_eq!(restarted.code, Some(0), "{}", restarted.stderr);
        let both = steps(&stopped.stdout) + &restarted.stdout;
        assert_eq!(sorted(&both), sorted(&uninterrupted.stdout));
        assert!(job.ranks().is_empty(), "nothing is left behind");
    }
}

/// What the program prints: MPICH's launcher says on standard output that a process has died.
fn steps(text: &str) -> String {
    let lines = text.lines().filter(|line| line.starts_with("step"));
    lines.map(|line| format!("{line}\n")).collect()
}

#[test]
fn mpich() {
    Mpi::mpich().is_run_killed_stopped_and_restarted();
}

#[test]
fn a_line_of_one_library_is_continued_with_another() {
    let mut job = Job::new("examples/heat-mpi");
    job.set("CKPT_FAULT", "visit:55@1");
    let killed = job.ckpt("run", "-n 2 --every 20 --- 60 40 100");
    assert!(!matches!(killed.code, Some(0 | 75..=79)), "{killed:?}");
    job.set("CKPT_FAULT", "");
    let mpich = Mpi::mpich();
    mpich.takes_over(&mut job);
    let restarted = job.ckpt("restart", &format!("--launcher {}", mpich.launcher.display()));
    assert_eq!(restarted.code, Some(0), "{}", restarted.stderr);
    assert!(
        STEPS.ends_with(&restarted.stdout) && restarted.stdout.contains("step    60"),
        "{}",
        restarted.stdout
    );
}

#[test]
fn open_mpi_5() {
    let folder =
        std::env::var_os("OPENMPI_5").map_or_else(|| target().join("tools/openmpi-5"), PathBuf::from);
    let folder: &Path = &folder;
    assert!(
        folder.join("bin/mpicc").exists(),
        "OPENMPI_5 names the folder of an Open MPI 5; {} is none",
        folder.display()
    );
    let mpi = Mpi {
        name: "openmpi-5",
        compiler: folder.join("bin/mpicc"),
        launcher: folder.join("bin/mpirun"),
        libraries: Some(folder.join("lib")),
    };
    mpi.is_run_killed_stopped_and_restarted();
}
