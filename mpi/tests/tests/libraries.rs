//! A crate outside of the workspace that exchanges messages: refused as long as nothing is told of it, followed by what
//! `[calls.messages.CRATE]` says, and caught at run time where that is not true.

use std::fs;
use std::path::{Path, PathBuf};

use mpi_tests::{Ended, Job, sorted};

const LIBRARY: &str = "
use mpi::topology::SimpleCommunicator;
use mpi::traits::*;

pub fn post(comm: &SimpleCommunicator, to: i32, value: f64) {
    comm.process_at_rank(to).send_with_tag(&value, 77);
}

pub fn fetch(comm: &SimpleCommunicator, from: i32) -> f64 {
    comm.process_at_rank(from).receive_with_tag::<f64>(77).0
}

/// Sums, on a communicator of its own.
pub struct Summer {
    comm: SimpleCommunicator,
}

impl Summer {
    pub fn new(comm: &SimpleCommunicator) -> Self {
        Summer { comm: comm.duplicate() }
    }

    pub fn sum(&self, value: f64) -> f64 {
        let mut sum = 0.0;
        self.comm.all_reduce_into(&value, &mut sum, mpi::collective::SystemOperation::sum());
        sum
    }
}
";

const PROGRAM: &str = r#"
use mpi::traits::*;

fn relax(mut x: f64) -> f64 {
    for i in 0..20_000 {
        x = (x + f64::from(i % 7)).sqrt();
    }
    x
}

fn main() {
    let universe = mpi::initialize().expect("MPI comes up");
    let world = universe.world();
    let (rank, size) = (world.rank(), world.size());
    let (left, right) = ((rank + size - 1) % size, (rank + 1) % size);
    let summer = field::Summer::new(&world);
    let mut x = f64::from(rank);
    let mut turn = 0;
    while summer.sum(x) > 0.0 && turn < 40 {
        // BEFORE
        field::post(&world, right, x);
        // BETWEEN
        x = relax(x) + 0.5 * field::fetch(&world, left);
        turn += 1;
        println!("{rank} {turn} {x:.12e}");
    }
}
"#;

const TABLE: &str = "
[calls.messages.field]
post = { send = 1, comm = 0, tag = \"77\" }
fetch = { receive = 1, comm = 0, tag = \"77\" }
\"Summer::new\" = { duplicate = 0 }
sum = { collective = \"all\", comm = 0, same = true }
";

struct Package {
    folder: tempfile::TempDir,
}

impl Package {
    fn with(program: &str, table: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let package = Package { folder };
        package.write("field/src/lib.rs", LIBRARY);
        package.write(
            "field/Cargo.toml",
            "[package]\nname = \"field\"\nversion = \"1.0.0\"\nedition = \"2021\"\n\n[dependencies]\nmpi = \"0.8\"\n",
        );
        package.write("app/src/main.rs", program);
        package.write(
            "app/Cargo.toml",
            "[package]\nname = \"summed\"\nversion = \"1.0.0\"\nedition = \"2021\"\n\n[dependencies]\nmpi = \"0.8\"\n\
             field = { path = \"../field\" }\n\n[profile.dev]\nopt-level = 1\n[profile.dev.package.\"*\"]\nopt-level = 0\n\n[workspace]\n",
        );
        package.write("app/ckpt.toml", table);
        let lock = here().join("../Cargo.lock");
        fs::copy(lock, package.path("app/Cargo.lock")).expect("the versions that all use");
        package
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("it is made");
        fs::write(path, text).expect("it is written");
    }

    fn job(&self) -> Job {
        let mut job = Job::of(&self.path("app"));
        job.set("CKPT_CHECK_SAFE_POINTS", "1");
        job
    }

    fn run(&self, job: &Job, options: &str) -> Ended {
        let target =
            std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| here().join("../target"), PathBuf::from);
        job.ckpt("run", &format!("--target-dir {} {options}", target.display()))
    }
}

fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn what_nothing_is_told_of_is_refused_with_the_way_out() {
    let package = Package::with(&PROGRAM.replace("// BEFORE", "ckpt::checkpoint!();"), "");
    let ended = package.run(&package.job(), "-n 3 --every 5");
    assert_eq!(ended.code, Some(79), "{}", ended.stderr);
    for told in [
        "E1303",
        "`field`: the crate depends on `mpi`",
        "[calls.messages.field]",
    ] {
        assert!(ended.stderr.contains(told), "{told}: {}", ended.stderr);
    }
}

#[test]
fn with_the_table_the_program_is_killed_and_gives_the_same_answer() {
    let package = Package::with(PROGRAM, TABLE);
    let plain = package.run(&package.job(), "-n 3 --every 100000");
    assert_eq!(plain.code, Some(0), "{}", plain.stderr);
    for (visit, rank) in [(7, 0), (22, 2)] {
        let mut job = package.job();
        job.set("CKPT_FAULT", &format!("visit:{visit}@{rank}"));
        let killed = package.run(&job, "-n 3 --every 3");
        assert_ne!(killed.code, Some(0), "{}", killed.stderr);
        job.set("CKPT_FAULT", "");
        let restarted = job.ckpt("restart", "");
        assert_eq!(restarted.code, Some(0), "{}", restarted.stderr);
        let both = killed.stdout + &restarted.stdout;
        let (mut wanted, mut found) = (sorted(&plain.stdout), sorted(&both));
        wanted.dedup();
        found.dedup();
        assert_eq!(found, wanted, "{}", restarted.stderr);
    }
}

#[test]
fn a_site_that_a_message_crosses_is_refused_and_a_wrong_table_is_caught_at_run_time() {
    let program = PROGRAM.replace("// BETWEEN", "ckpt::checkpoint!();");
    let package = Package::with(&program, TABLE);
    let ended = package.run(&package.job(), "-n 3 --every 5");
    assert_eq!(ended.code, Some(79), "{}", ended.stderr);
    let told = "`post`: the message that rank 0 sends here to rank 1 is still on its way at the site";
    assert!(ended.stderr.contains(told), "{}", ended.stderr);
    let wrong = TABLE
        .replace("post = {", "# post = {")
        .replace("fetch = {", "# fetch = {");
    package.write("app/ckpt.toml", &wrong);
    let ended = package.run(&package.job(), "-n 3 --every 5");
    assert_eq!(ended.code, Some(79), "{}", ended.stderr);
    for told in ["E2018", "with tag 77"] {
        assert!(ended.stderr.contains(told), "{told}: {}", ended.stderr);
    }
}
