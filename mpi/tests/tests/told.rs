//! What a program of several processes is told when its ranks are not where they should be, or its files: with all words, and by
//! plain `mpirun`.

use std::path::PathBuf;
use std::sync::OnceLock;

use mpi_tests::{Ended, built_of, two_ranks};

/// Its sites are no line of sites where `HOW` says so.
const PROGRAM: &str = r#"
use std::fs;

use mpi::traits::*;

/// A file is written, so that there is something to keep; and then nothing can be kept in the store any more.
fn spoil() {
    fs::write("early", "").unwrap();
    let store = std::path::Path::new("node-1");
    if store.is_dir() && std::env::var("OMPI_COMM_WORLD_RANK").as_deref() == Ok("1") {
        fs::rename(store.join("runs"), "away").unwrap();
        fs::write(store.join("runs"), "in the way").unwrap();
    }
}

#[ckpt::main]
fn main() {
    let how = std::env::var("HOW").unwrap_or_default();
    if how == "store" {
        spoil();
    }
    let universe = mpi::initialize().expect("MPI comes up");
    #[ckpt(reexecute)]
    let world = universe.world();
    let rank = world.rank();
    let turns = if how == "ends" && rank == 1 { 5 } else { 6 };
    for turn in 0..turns {
        if how == "sites" && rank == 0 {
            ckpt::checkpoint!(safe);
        }
        ckpt::checkpoint!(safe);
        println!("{rank}: {turn}");
    }
}
"#;

/// The program, built once for all tests.
fn program() -> &'static PathBuf {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| built_of(PROGRAM, "told"))
}

/// Two ranks of it that go wrong so.
fn told(launcher: &str, how: &str, variables: &[(&str, &str)]) -> Ended {
    let job = tempfile::tempdir().expect("a folder for the job");
    let settings = [("CKPT_DIR", "node-{rank}"), ("CKPT_EVERY", "1000"), ("HOW", how)];
    let ended = two_ranks(
        launcher,
        program(),
        job.path(),
        &[&settings[..], variables].concat(),
    );
    assert_ne!(ended.code, Some(0), "{how}: {}", ended.stderr);
    ended.noted()
}

const CHECKED: &[(&str, &str)] = &[("CKPT_CHECK_SAFE_POINTS", "1")];

#[test]
fn ranks_at_different_sites_are_found_where_sites_are_checked() {
    let ended = told("mpirun", "sites", CHECKED);
    for told in [
        "E2017",
        "rank 1 is at another site",
        "the ranks are at different sites (site visit 1)",
    ] {
        assert!(ended.stderr.contains(told), "{told}: {}", ended.stderr);
    }
}

#[test]
fn ranks_at_different_sites_are_found_when_they_agree() {
    let ended = told("mpirun", "sites", &[]);
    assert!(ended.stderr.contains("E2026"), "{}", ended.stderr);
}

#[test]
fn a_rank_that_ends_before_the_others_is_named() {
    let ended = told("mpirun", "ends", CHECKED);
    for told in ["E2019", "rank 1 ended before that visit", "(site visit 6)"] {
        assert!(ended.stderr.contains(told), "{told}: {}", ended.stderr);
    }
}

/// To the processes of the launcher of another MPI each is the first one, and alone.
#[test]
fn a_launcher_of_another_mpi_is_told() {
    let ended = told("mpirun.mpich", "", &[]);
    assert!(
        ended
            .stderr
            .contains("E2020]: the launcher calls this process rank 1, MPI calls it rank 0"),
        "{}",
        ended.stderr
    );
}

#[test]
fn ranks_that_cannot_go_back_in_the_job_say_so_and_go_on() {
    let job = tempfile::tempdir().expect("a folder for the job");
    let settings = [
        ("CKPT_DIR", "node-{rank}"),
        ("CKPT_EVERY", "1"),
        ("CKPT_FAULT", "rollback:3"),
        ("CKPT_ROLLBACK_IN_PROCESS", "0"),
    ];
    let ended = two_ranks("mpirun", program(), job.path(), &settings).noted();
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(
        ended.stderr.contains("W2093") && ended.stderr.contains("E2386"),
        "{}",
        ended.stderr
    );
}

#[test]
fn a_store_in_which_a_rank_can_keep_nothing_is_named() {
    let ended = told("mpirun", "store", &[]);
    for told in ["E2186", "node-1/runs/", "nothing was deleted"] {
        assert!(ended.stderr.contains(told), "{told}: {}", ended.stderr);
    }
}
