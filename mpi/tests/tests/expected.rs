//! Every example prints what its `expected.txt` says, run as its README says.

use std::fs;
use std::path::Path;

use mpi_tests::Job;

fn prints_what_is_expected(name: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../examples")
        .join(name);
    let read = |file: &str| fs::read_to_string(folder.join(file)).expect("it is there");
    let (readme, expected) = (read("README.md"), read("expected.txt"));
    let command = readme
        .lines()
        .find_map(|line| line.strip_prefix("cargo ckpt run "));
    let command = command.expect("the README says how it is run");
    // The tests' other builds are not of this profile, and the answer does not depend on it.
    let command = command.replace("--release ", "").replace(" -- ", " --- ");
    let here = format!(" {}/", folder.display());
    let command = command.replace(" matrix.mtx", &format!("{here}matrix.mtx"));
    let mut job = Job::new(&format!("examples/{name}"));
    job.set("CKPT_CHECK_SAFE_POINTS", "1");
    let ended = job.ckpt("run", &command);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert_eq!(ended.stdout, expected, "{command}");
    assert!(!job.lines(&job.store()).is_empty(), "checkpoints were taken");
}

#[test]
fn cg() {
    prints_what_is_expected("cg-mpi");
}

#[test]
fn comd() {
    prints_what_is_expected("comd-like");
}

#[test]
fn heat() {
    prints_what_is_expected("heat-mpi");
}

#[test]
fn himeno() {
    prints_what_is_expected("himeno");
}

#[test]
fn montecarlo() {
    prints_what_is_expected("montecarlo-mpi");
}

#[test]
fn snap() {
    prints_what_is_expected("snap-like");
}

#[test]
fn sphot() {
    prints_what_is_expected("sphot-mpi");
}

#[test]
fn sort() {
    prints_what_is_expected("sort-mpi");
}

#[test]
fn sweep() {
    prints_what_is_expected("sweep");
}

#[test]
fn tealeaf() {
    prints_what_is_expected("tealeaf-like");
}
