//! Arrays of CUDA, with a driver of the tests whose devices are memory of the process: killed and restarted; what is refused.
//! There is no device of CUDA where these run.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use devices_tests::{Job, skipped};

const RING: &str = "programs/ring-cuda";

/// The folder of the driver, which is built here.
fn driver() -> PathBuf {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let built = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "-p", "libcuda"])
        .current_dir(&workspace)
        .status();
    assert!(built.expect("cargo").success());
    skipped(
        "programs with CUDA on a device",
        "they ran on a driver that the tests bring",
    );
    let target = env::var_os("CARGO_TARGET_DIR").map_or_else(|| workspace.join("target"), PathBuf::from);
    target.join("debug").canonicalize().expect("what was built")
}

fn ring() -> Job {
    Job::new(RING).finds_libraries_in(driver())
}

#[test]
fn a_program_with_kernels_under_way_is_killed_anywhere_and_gives_the_same_answer() {
    let trials = "--sites 5 --commits 2 --random 1 --rows 1 -- 24";
    let ended = ring().ckpt("none", "crashtest", trials).well();
    assert!(ended.stdout.contains("PASSED"), "{}", ended.stdout);
    let plan = ring().ckpt("none", "plan", "--check").well();
    let (_, table) = plan
        .stdout
        .split_once("arrays on devices at the site")
        .expect("a table");
    for array in ["even", "odd", "kept"] {
        let row = table
            .lines()
            .find(|line| line.split_whitespace().next() == Some(array));
        assert!(row.is_some_and(|row| row.contains(" content ")), "{table}");
    }
}

#[test]
fn what_is_under_way_across_a_site_is_refused() {
    for program in ["event", "view", "pinned", "hidden", "unseen"] {
        let ended = Job::of("programs/misuse-cuda", program)
            .finds_libraries_in(driver())
            .ckpt("none", "plan", "--check")
            .noted();
        assert!(
            ended.stderr.contains("E1310"),
            "{program}: {}{}",
            ended.stdout,
            ended.stderr
        );
    }
}

#[test]
fn without_a_driver_a_restart_ends_as_the_program_does_and_can_be_tried_again() {
    let uninterrupted = ring().ckpt("none", "run", "--every 1000").well();
    let job = ring().dies_at(13);
    let killed = job.ckpt("none", "run", "--every 5");
    assert!(killed.code != Some(0) && killed.stdout.is_empty(), "{killed:?}");
    let job = job.finds_libraries_in(PathBuf::from("/nowhere"));
    let ended = job.ckpt("none", "restart", "");
    assert!(ended.code == Some(101) && ended.stdout.is_empty(), "{ended:?}");
    let restarted = job
        .finds_libraries_in(driver())
        .ckpt("none", "restart", "")
        .well();
    assert_eq!(restarted.stdout, uninterrupted.stdout);
}

#[test]
fn without_memory_on_the_device_a_restart_ends_as_the_program_does_and_can_be_tried_again() {
    let uninterrupted = ring().ckpt("none", "run", "--every 1000").well();
    let job = ring().dies_at(13);
    let killed = job.ckpt("none", "run", "--every 5");
    assert!(killed.code != Some(0) && killed.stdout.is_empty(), "{killed:?}");
    let ended = job.ckpt_with("none", "restart", "", &[("CUDA_OF_TESTS_MEMORY", "30000")]);
    assert!(
        ended.code == Some(77)
            && ended.stdout.is_empty()
            && ended.stderr.contains("CUDA_ERROR_OUT_OF_MEMORY"),
        "{ended:?}"
    );
    assert!(ended.stderr.contains("E2012"), "{}", ended.stderr);
    let restarted = job.ckpt("none", "restart", "").well();
    assert_eq!(restarted.stdout, uninterrupted.stdout);
}

#[test]
fn arrays_of_arrays_and_of_structs_come_back() {
    let kinds = || Job::new("programs/kinds-cuda").finds_libraries_in(driver());
    let trials = "--sites 4 --commits 1 --random 1 --rows 1";
    let ended = kinds().ckpt("none", "crashtest", trials).well();
    assert!(ended.stdout.contains("PASSED"), "{}", ended.stdout);
    let plan = kinds().ckpt("none", "plan", "--check").well();
    let (_, table) = plan
        .stdout
        .split_once("arrays on devices at the site")
        .expect("a table");
    for (array, content) in [("vectors", " content "), ("cells", "content (bytes)")] {
        let row = table
            .lines()
            .find(|line| line.split_whitespace().next() == Some(array));
        assert!(row.is_some_and(|row| row.contains(content)), "{table}");
    }
}
