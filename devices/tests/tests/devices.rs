//! Arrays on devices: killed and restarted, also on other devices; what no checkpoint can hold.

use devices_tests::{Job, THREE};

const FLOYD: &str = "examples/floyd";
const SPMV: &str = "examples/spmv";
const FT: &str = "examples/ft";
const SHWA: &str = "examples/shwa";
const MISUSE: &str = "programs/misuse";
const MISUSE3: &str = "programs/misuse3";
const ANSWER: &str = "checksum ";

#[test]
fn a_program_with_kernels_under_way_is_killed_anywhere_and_gives_the_same_answer() {
    let trials = "--sites 5 --commits 3 --random 2 --rows 1 -- 40";
    let ended = Job::new(FLOYD).ckpt(THREE, "crashtest", trials).well();
    assert!(ended.stdout.contains("PASSED"), "{}", ended.stdout);
}

#[test]
fn a_restart_takes_the_devices_that_are_there() {
    let uninterrupted = Job::new(FLOYD).ckpt("basic", "run", "--every 1000 -- 40").well();
    assert!(
        uninterrupted.stdout.starts_with(ANSWER),
        "{}",
        uninterrupted.stdout
    );
    for (first, second) in [(THREE, "basic"), ("basic", THREE), ("pthread", "basic basic")] {
        let job = Job::new(FLOYD).dies_at(23);
        let killed = job.ckpt(first, "run", "--every 5 -- 40");
        assert!(killed.code != Some(0) && killed.stdout.is_empty(), "{killed:?}");
        let restarted = job.ckpt(second, "restart", "").well();
        assert_eq!(restarted.stdout, uninterrupted.stdout);
        assert!(
            restarted.stderr.contains("restarts from checkpoint 000004"),
            "{}",
            restarted.stderr
        );
    }
}

#[test]
fn kernels_that_functions_make_from_lent_arrays_are_made_again() {
    let trials = "--sites 4 --commits 1 --random 1 --rows 1 -- 500 20";
    let ended = Job::new(SPMV).ckpt(THREE, "crashtest", trials).well();
    assert!(ended.stdout.contains("PASSED"), "{}", ended.stdout);
    let uninterrupted = Job::new(SPMV)
        .ckpt("basic", "run", "--every 1000 -- 500 20")
        .well();
    for (first, second) in [
        ("basic basic", "basic"),
        ("basic", "pthread basic"),
        ("basic", THREE),
    ] {
        let job = Job::new(SPMV).dies_at(13);
        let killed = job.ckpt(first, "run", "--every 5 -- 500 20");
        assert!(killed.code != Some(0) && killed.stdout.is_empty(), "{killed:?}");
        let restarted = job.ckpt(second, "restart", "").well();
        assert_eq!(restarted.stdout, uninterrupted.stdout);
    }
}

#[test]
fn with_opencl3_which_loads_the_library_itself_it_is_the_same() {
    let trials = "--sites 3 --commits 1 --random 1 --rows 1 -- 8 12";
    let ended = Job::new(FT).ckpt(THREE, "crashtest", trials).well();
    assert!(ended.stdout.contains("PASSED"), "{}", ended.stdout);
    let usual = Job::of(MISUSE3, "held3")
        .ckpt("basic", "run", "--every 3 -- usual")
        .well();
    assert!(!usual.stderr.contains("W20"), "{}", usual.stderr);
    for (what, why) in [
        (
            "hidden",
            "an array of 40 bytes on a device belongs to no variable",
        ),
        ("part", "an array on a device is a part of another one"),
        ("shared", "the program shares memory with a device"),
        ("mapped", "an array on a device is mapped"),
        ("event", "an event that the program completes"),
    ] {
        let ended = Job::of(MISUSE3, "held3").ckpt("basic", "run", &format!("--every 3 -- {what}"));
        let ended = ended.well();
        assert_eq!(ended.stdout, usual.stdout);
        assert!(
            ended.stderr.contains(why)
                && ended
                    .stderr
                    .contains("6 checkpoints of this run could not be taken"),
            "{what}: {}",
            ended.stderr
        );
    }
}

#[test]
fn what_is_on_a_device_and_cannot_be_saved_holds_checkpoints_back() {
    let usual = Job::of(MISUSE, "held")
        .ckpt("basic", "run", "--every 3 -- usual")
        .well();
    assert!(!usual.stderr.contains("W20"), "{}", usual.stderr);
    for what in ["hidden", "part", "memory", "mapped", "image", "event", "rebound"] {
        let ended = Job::of(MISUSE, "held").ckpt("basic", "run", &format!("--every 3 -- {what}"));
        let ended = ended.well().noted();
        let told = ["W2050", "W2005"].iter().any(|code| ended.stderr.contains(code));
        assert!(
            told && ended
                .stderr
                .contains("6 checkpoints of this run could not be taken"),
            "{what}: {}",
            ended.stderr
        );
        assert!(
            what == "event" || ended.stdout == usual.stdout,
            "{}",
            ended.stdout
        );
    }
}

#[test]
fn arrays_that_change_places_are_refused() {
    let ended = Job::of(MISUSE, "exchanged")
        .ckpt("basic", "plan", "--check")
        .noted();
    assert_eq!(ended.code, Some(1), "{}{}", ended.stdout, ended.stderr);
}

/// Killed at a visit on some devices, restarted on others: the answer is that of a run without an interruption.
#[track_caller]
fn is_restarted(job: &dyn Fn() -> Job, words: &str, visits: &[u32], devices: &[(&str, &str)]) {
    let usual = job()
        .ckpt("basic", "run", &format!("--every 1000 {words}"))
        .well();
    assert!(!usual.stderr.contains("W20"), "{}", usual.stderr);
    for (visit, (first, second)) in visits.iter().zip(devices.iter().cycle()) {
        let job = job().dies_at(*visit);
        let killed = job.ckpt(first, "run", &format!("--every 3 {words}"));
        assert!(killed.code != Some(0) && killed.stdout.is_empty(), "{killed:?}");
        let restarted = job.ckpt(second, "restart", "").well();
        assert_eq!(restarted.stdout, usual.stdout, "killed at {visit}");
        assert!(
            restarted.stderr.contains("restarts from checkpoint"),
            "{}",
            restarted.stderr
        );
    }
}

#[test]
fn kernels_that_get_other_arguments_have_them_again_after_a_restart() {
    let devices = [(THREE, "basic"), ("basic", "pthread basic")];
    is_restarted(&|| Job::new("programs/rebound"), "", &[5, 12, 23], &devices);
}

#[test]
fn a_program_on_several_devices_goes_on_with_another_number_of_them() {
    let devices = [
        (THREE, "basic"),
        ("basic", "pthread basic"),
        ("basic basic", THREE),
    ];
    is_restarted(&|| Job::new(SHWA), "-- 8 20", &[4, 11, 18], &devices);
}

#[test]
fn a_plan_shows_what_writes_to_each_array() {
    let plan = Job::new(FT).ckpt("basic", "plan", "--check").well();
    let line = |name: &str| {
        let (_, table) = plan
            .stdout
            .split_once("arrays on devices at the site")
            .expect("a table");
        let line = table.lines().find(|line| line.trim_start().starts_with(name));
        line.expect("a row")
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
    };
    assert!(line("roots").contains(" - pairs content "), "{}", plan.stdout);
    assert!(
        line("state").contains(" evolve, pairs, turn - content "),
        "{}",
        plan.stdout
    );
}

#[test]
fn without_a_device_a_restart_ends_with_the_programs_own_error() {
    let job = Job::new(FLOYD).dies_at(23);
    job.ckpt("basic", "run", "--every 5 -- 40");
    let ended = job.ckpt("none", "restart", "");
    assert!(
        ended.code == Some(77) && ended.stdout.is_empty() && ended.stderr.contains("E2012"),
        "{ended:?}"
    );
    job.ckpt("basic", "restart", "").well();
}

#[test]
fn kernels_that_stay_queues_that_go_and_arrays_that_the_program_never_sees_come_back() {
    let trials = "--sites 5 --commits 2 --random 1 --rows 1";
    let ended = Job::new("programs/shapes")
        .ckpt(THREE, "crashtest", trials)
        .well();
    assert!(ended.stdout.contains("PASSED"), "{}", ended.stdout);
}

#[test]
fn arrays_that_nothing_has_written_to_are_left_out_and_no_others() {
    let seldom = || Job::new("programs/seldom").full_every(6);
    let uninterrupted = seldom().ckpt("basic", "run", "--every 1000").well();
    for visit in [9, 16, 23] {
        let job = seldom().dies_at(visit);
        let killed = job.ckpt(THREE, "run", "--every 2");
        assert!(killed.code != Some(0) && killed.stdout.is_empty(), "{killed:?}");
        let restarted = job.ckpt("basic", "restart", "").well();
        assert_eq!(restarted.stdout, uninterrupted.stdout, "killed at {visit}");
    }
}
