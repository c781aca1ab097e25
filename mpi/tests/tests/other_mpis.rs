//! The other implementations of MPI: a program is run, killed, restarted and stopped with each, and prints what it should.
//! Everything else is tested with the one that `mpicc` belongs to.
//!
//! `install_other_mpis` in `.ci/install.sh` installs them. Each has a target folder of its own, because `mpi-sys` is not built
//! anew when `MPICC` changes.

use std::fs;
use std::path::{Path, PathBuf};

use mpi_tests::{
    Job, TERM, build, finished, make_package, send, sorted, target, two_ranks, wait_until, wait_until_heard,
};

/// A program that calls what MPI 4 has brought, and functions of files. `LEFT` says what is under way at its site.
const OF_MPI_4: &str = r#"
use std::ffi::c_void;

use mpi::ffi::*;
use mpi::traits::*;

fn done(mut request: MPI_Request, is_prepared: bool) {
    // SAFETY: the request is one that has been made.
    unsafe {
        if is_prepared {
            MPI_Start(&mut request);
        }
        MPI_Wait(&mut request, RSMPI_STATUS_IGNORE);
        if is_prepared {
            MPI_Request_free(&mut request);
        }
    }
}

/// Everything is over when it returns, but for what is left.
fn step(rank: i32, own: &mut u64, left: &str) -> u64 {
    let other = 1 - rank;
    let (mut sum, mut got, mut parts) = (0_u64, 0_u64, [0_u64; 4]);
    let at = |value: &mut u64| (&raw mut *value).cast::<c_void>();
    // SAFETY: what is given outlives every operation, or is never freed.
    unsafe {
        let (world, number) = (RSMPI_COMM_WORLD, RSMPI_UINT64_T);
        let mut request = RSMPI_REQUEST_NULL;
        MPI_Allreduce_init(at(own), at(&mut sum), 1, number, RSMPI_SUM, world, RSMPI_INFO_NULL, &mut request);
        done(request, true);

        MPI_Isendrecv(at(own), 1, number, other, 1, at(&mut got), 1, number, other, 1, world, &mut request);
        done(request, false);
        sum += got;

        MPI_Bcast_c(at(&mut got), 1, number, 0, world);
        match rank {
            0 => MPI_Send_c(at(own), 1, number, other, 2, world),
            _ => MPI_Recv_c(at(&mut got), 1, number, other, 2, world, RSMPI_STATUS_IGNORE),
        };
        MPI_Ibcast_c(at(&mut got), 1, number, 1, world, &mut request);
        done(request, false);
        sum += got;

        let first = parts.as_mut_ptr().cast::<c_void>();
        match rank {
            0 => {
                MPI_Psend_init(first, 2, 2, number, other, 3, world, RSMPI_INFO_NULL, &mut request);
                MPI_Start(&mut request);
                MPI_Pready(0, request);
                MPI_Pready(1, request);
            }
            _ => {
                MPI_Precv_init(first, 2, 2, number, other, 3, world, RSMPI_INFO_NULL, &mut request);
                MPI_Start(&mut request);
            }
        }
        MPI_Wait(&mut request, RSMPI_STATUS_IGNORE);
        MPI_Request_free(&mut request);

        let mut file = std::mem::zeroed();
        let mode = (MPI_MODE_CREATE | MPI_MODE_RDWR) as i32;
        MPI_File_open(world, c"shared".as_ptr(), mode, RSMPI_INFO_NULL, &mut file);
        let place = i64::from(rank) * 8;
        MPI_File_write_at_all(file, place, at(own), 1, number, RSMPI_STATUS_IGNORE);
        let kept = Box::leak(Box::new(*own));
        MPI_File_iwrite_at(file, place, at(kept), 1, number, &mut request);
        if left != "file" {
            done(request, false);
        }
        MPI_File_read_at_all_begin(file, place, at(kept), 1, number);
        if left != "split" {
            MPI_File_read_at_all_end(file, at(kept), RSMPI_STATUS_IGNORE);
        }
        if left.is_empty() {
            MPI_File_close(&mut file);
        }
        match left {
            "collective" => {
                MPI_Barrier_init(world, RSMPI_INFO_NULL, &mut request);
                MPI_Start(&mut request);
            }
            "message" if rank == 0 => drop(MPI_Send_c(at(kept), 1, number, other, 9, world)),
            _ => {}
        }
    }
    sum
}

#[ckpt::main]
fn main() {
    let universe = mpi::initialize().expect("MPI comes up");
    #[ckpt(reexecute)]
    let world = universe.world();
    let rank = world.rank();
    let left = std::env::var("LEFT").unwrap_or_default();
    let mut own = rank as u64 + 1;
    for _ in 0..6 {
        own = step(rank, &mut own, &left) + 1;
        ckpt::checkpoint!();
    }
    println!("{rank}: {own}");
}
"#;

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
        wait_until(|| job.kept("job.json"));
        wait_until_heard(&ranks, TERM);
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
#[ignore = "with SWEEPS=all"]
fn what_mpi_4_has_brought_is_counted() {
    let mpi = Mpi::mpich();
    let package = tempfile::tempdir().expect("a folder");
    fs::create_dir(package.path().join("src")).expect("a folder for the program");
    fs::write(package.path().join("src/main.rs"), OF_MPI_4).expect("it is written");
    make_package(package.path(), "of-mpi-4");
    let target = target().join("other-mpis").join(mpi.name);
    let compiler = mpi.compiler.to_string_lossy();
    let program = build(package.path(), "of-mpi-4", &target, &[("MPICC", &*compiler)]);
    let run = |left| {
        let job = tempfile::tempdir().expect("a folder for the job");
        let variables = [
            ("CKPT_CHECK_SAFE_POINTS", "1"),
            ("CKPT_EVERY", "2"),
            ("LEFT", left),
        ];
        two_ranks(&mpi.launcher.to_string_lossy(), &program, job.path(), &variables)
    };
    let whole = run("");
    assert_eq!(whole.code, Some(0), "{}", whole.stderr);
    assert_eq!(sorted(&whole.stdout).len(), 2, "{}", whole.stdout);
    for (left, told) in [
        ("file", "`MPI_File_iwrite_at` under way"),
        ("split", "`MPI_File_read_at_all_begin` under way"),
        ("collective", "`MPI_Barrier_init` under way"),
        ("message", "rank 0 has sent 1 message with tag 9 to rank 1"),
    ] {
        let ended = run(left);
        assert_ne!(ended.code, Some(0), "{left}");
        for told in ["E2018", told] {
            assert!(ended.stderr.contains(told), "{left}: {told}: {}", ended.stderr);
        }
    }
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

/// Everything is built once more for it.
#[test]
#[ignore = "with SWEEPS=all"]
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
