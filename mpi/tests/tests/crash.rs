//! Every example is killed at sites, in commits and at random instants: one rank, all ranks, the launcher.

use mpi_tests::Job;

fn crashtest(package: &str, ranks: u32, arguments: &str) {
    let job = Job::new(package);
    let words = format!(
        "-n {ranks} --sites 3 --commits 2 --random 2 --rows 1 --seed {ranks} --verbose --- {arguments}"
    );
    let ended = job.ckpt("crashtest", &words);
    assert_eq!(ended.code, Some(0), "{}{}", ended.stdout, ended.stderr);
    assert!(ended.stdout.contains("PASSED"), "{}", ended.stdout);
    assert!(job.ranks().is_empty(), "nothing is left behind");
}

#[test]
fn ring_of_one() {
    crashtest("programs/ring", 1, "40");
}

#[test]
fn ring_of_three() {
    crashtest("programs/ring", 3, "40");
}
