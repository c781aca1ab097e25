//! Every example is killed at a site, in a commit and at a random instant: one rank, all ranks or the launcher, as the seed
//! has it. `CRASH_MPI=all`: more often, and in all these ways.

use mpi_tests::Job;

/// Whether a variable asks for all of a sweep.
fn all(variable: &str) -> bool {
    std::env::var_os(variable).is_some_and(|value| value == "all")
}

fn crashtest(package: &str, ranks: u32, arguments: &str) {
    let job = Job::new(package);
    let often = all("CRASH_MPI");
    let kills = if often {
        "--sites 3 --commits 2 --random 2"
    } else {
        "--sites 1 --commits 1 --random 1"
    };
    let words = format!("-n {ranks} {kills} --rows 1 --seed {ranks} --verbose --- {arguments}");
    let ended = job.ckpt("crashtest", &words);
    assert_eq!(ended.code, Some(0), "{}{}", ended.stdout, ended.stderr);
    let wanted: &[&str] = if often {
        &["PASSED", "rank 0 ", "all ranks ", "the launcher "]
    } else {
        &["PASSED"]
    };
    for told in wanted {
        assert!(ended.stdout.contains(told), "{told}: {}", ended.stdout);
    }
    assert!(job.ranks().is_empty(), "nothing is left behind");
}

#[test]
#[ignore = "with SWEEPS=all"]
fn ring_of_one() {
    crashtest("programs/ring", 1, "40");
}

#[test]
#[ignore = "with SWEEPS=all"]
fn ring_of_three() {
    crashtest("programs/ring", 3, "40");
}

/// Communicators, a datatype and a request are made again.
#[test]
fn groups_of_five() {
    crashtest("programs/groups", 5, "40");
}

#[test]
fn heat() {
    crashtest("examples/heat-mpi", 3, "60 40 100");
}

#[test]
#[ignore = "with SWEEPS=all"]
fn himeno() {
    crashtest("examples/himeno", 4, "18,18,34 60 2 2 1");
}

#[test]
#[ignore = "with SWEEPS=all"]
fn tealeaf() {
    crashtest("examples/tealeaf-like", 2, "16 16 4");
}

#[test]
#[ignore = "with SWEEPS=all"]
fn comd() {
    crashtest("examples/comd-like", 2, "8 4 4 30");
}

#[test]
#[ignore = "with SWEEPS=all"]
fn montecarlo() {
    crashtest("examples/montecarlo-mpi", 3, "30 10 100");
}

#[test]
#[ignore = "with SWEEPS=all"]
fn sort() {
    crashtest("examples/sort-mpi", 2, "2000 30");
}

#[test]
#[ignore = "with SWEEPS=all"]
fn sweep() {
    crashtest("examples/sweep", 4, "30 60 40");
}

#[test]
#[ignore = "with SWEEPS=all"]
fn snap() {
    crashtest("examples/snap-like", 2, "2 20 16 12 2");
}

/// Sites in the threads of the ranks.
#[test]
fn sphot() {
    crashtest("examples/sphot-mpi", 2, "3 12 100");
}

/// `CRASH_TEAMS=all`: teams of every size on one rank and on two.
#[test]
fn teams_of_every_size() {
    if !all("CRASH_TEAMS") {
        return;
    }
    for ranks in [1, 2] {
        for threads in 1..=4 {
            crashtest("examples/sphot-mpi", ranks, &format!("{threads} 12 100"));
            crashtest("examples/snap-like", ranks, &format!("{threads} 20 16 12 2"));
        }
    }
}

#[test]
#[ignore = "with SWEEPS=all"]
fn cg() {
    let matrix = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/cg-mpi/matrix.mtx");
    crashtest("examples/cg-mpi", 2, &format!("{matrix} 40"));
}
