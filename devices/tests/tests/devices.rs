//! Arrays on devices: killed and restarted, also on other devices; what no checkpoint can hold.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use devices_tests::{Ended, Job, THREE};

const FLOYD: &str = "examples/floyd";
const SPMV: &str = "examples/spmv";
const FT: &str = "examples/ft";
const SHWA: &str = "examples/shwa";
const MISUSE: &str = "programs/misuse";
const MISUSE3: &str = "programs/misuse3";
const SUMMA: &str = "examples/summa";
const NUMBERS: &str = "programs/numbers";
const IMAGES: &str = "programs/images";
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
    for what in [
        "hidden", "part", "memory", "mapped", "image", "texels", "event", "rebound",
    ] {
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
fn an_event_that_is_waited_for_in_a_later_step_is_refused() {
    let ended = Job::of(MISUSE, "waited").ckpt("basic", "plan", "--check").noted();
    assert_eq!(ended.code, Some(1), "{}{}", ended.stdout, ended.stderr);
    assert!(ended.stderr.contains("wait for the event"), "{}", ended.stderr);
}

#[test]
fn what_making_a_struct_again_would_do_to_an_array_of_before_is_named() {
    let ended = Job::of(MISUSE, "lent").ckpt("basic", "plan", "--check").noted();
    let said = ended.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        said.contains("E1310")
            && said.contains("run `now.write(&vec![7; COUNT]).enq()`, line 15 of `lent.rs`"),
        "{}{}",
        ended.stdout,
        ended.stderr
    );
}

#[test]
fn what_is_made_from_settings_that_change_later_is_not_made_again() {
    let ended = Job::of(MISUSE, "changed")
        .ckpt("basic", "plan", "--check")
        .noted();
    assert!(
        ended.code == Some(1)
            && ended
                .stderr
                .contains("E1005: `settings` changes, and `device`, which is made from it"),
        "{}{}",
        ended.stdout,
        ended.stderr
    );
}

#[test]
fn what_a_kernel_was_made_from_through_a_program_or_beside_another_is_not_made_again_from_another_value() {
    let ended = Job::of(MISUSE, "cooled").ckpt("basic", "plan", "--check").noted();
    let changes = [
        "`weight` changes, and `program`, which is made from it",
        "`more` changes, and `kernel`, which is made from it",
    ];
    assert!(
        ended.code == Some(1) && changes.iter().all(|one| ended.stderr.contains(one)),
        "{}{}",
        ended.stdout,
        ended.stderr
    );
}

#[test]
fn what_changes_before_it_is_moved_is_not_made_again() {
    let ended = Job::of(MISUSE, "moved").ckpt("basic", "plan", "--check").noted();
    assert!(
        ended.code == Some(1) && ended.stderr.contains("E1030: `settings` is borrowed"),
        "{}{}",
        ended.stdout,
        ended.stderr
    );
}

#[test]
fn arrays_of_another_length_or_of_other_elements_are_not_filled() {
    let job = Job::of(MISUSE, "restarted").dies_at(11);
    let killed = job.ckpt("basic", "run", "--every 3");
    assert!(killed.code != Some(0) && killed.stdout.is_empty(), "{killed:?}");
    let refused = |ended: Ended, why: &str| {
        assert!(
            ended.code == Some(77) && ended.stdout.is_empty() && ended.stderr.contains(why),
            "{ended:?}"
        );
        assert!(
            ended.stderr.contains("E2013") && ended.stderr.contains("help:"),
            "{}",
            ended.stderr
        );
    };
    let longer = job.ckpt_with("basic", "restart", "", &[("LENGTH", "2000")]);
    refused(
        longer,
        "an array on a device has 2000 numbers, the checkpoint holds 1000",
    );
    for (feature, elements) in [("floats", "f32"), ("wide", "u64")] {
        let ended = job.ckpt("basic", "restart", &format!("--features {feature}"));
        refused(
            ended,
            &format!("the program expects elements of {elements}, the checkpoint holds 1000 u32 elements"),
        );
    }
}

#[test]
fn two_queues_in_any_order_with_kernels_under_way_are_waited_for() {
    let unordered = || Job::of(MISUSE, "unordered");
    is_restarted(
        &unordered,
        "-- 200000",
        &[5, 9],
        &[(THREE, "pthread"), ("pthread", "basic")],
    );
}

#[test]
fn a_checkpoint_says_which_devices_it_was_taken_on() {
    let job = Job::of(MISUSE, "restarted");
    job.ckpt(THREE, "run", "--every 3").well();
    let shown = job.ckpt("none", "inspect", "latest --dir misuse.ckpt.d").well();
    let line = |title: &str| {
        let mut lines = shown.stdout.lines();
        lines.find_map(|line| line.strip_prefix(title)).map(str::to_owned)
    };
    let on = line("computed on: ").unwrap_or_default();
    assert!(
        on.starts_with("`basic-") && on.contains("CPU of "),
        "{}",
        shown.stdout
    );
    let all = line("shown: ").unwrap_or_default();
    assert!(
        all.contains("2 times `basic-") && all.contains("`pthread-"),
        "{all}"
    );
    let json = job
        .ckpt("none", "inspect", "latest --dir misuse.ckpt.d --format json")
        .well();
    assert!(
        json.stdout.contains("\"computed_on\"") && json.stdout.contains("\"shown_devices\""),
        "{}",
        json.stdout
    );
}

#[test]
#[ignore = "with SWEEPS=all"]
fn a_program_that_can_do_both_goes_on_with_the_other_library() {
    let ring = || Job::new("programs/either");
    let by = |library| [("RING_BY", library)];
    let usual = ring()
        .ckpt_with("basic", "run", "--every 1000", &by("opencl"))
        .well();
    for (first, second) in [("opencl", "vulkan"), ("vulkan", "opencl"), ("opencl", "opencl")] {
        let job = ring().dies_at(17);
        let killed = job.ckpt_with("basic", "run", "--every 3", &by(first));
        assert!(killed.code != Some(0) && killed.stdout.is_empty(), "{killed:?}");
        let restarted = job.ckpt_with("basic", "restart", "", &by(second)).well();
        assert_eq!(restarted.stdout, usual.stdout, "from {first} to {second}");
        assert_eq!(
            restarted.stderr.contains("W2421") && restarted.stderr.contains("last digits"),
            first != second,
            "{}",
            restarted.stderr
        );
    }
}

#[test]
fn arrays_that_change_places_where_nobody_follows_are_refused() {
    let ended = Job::of(MISUSE, "exchanged")
        .ckpt("basic", "plan", "--check")
        .noted();
    assert_eq!(ended.code, Some(1), "{}{}", ended.stdout, ended.stderr);
}

#[test]
fn a_program_that_is_built_again_with_other_options_is_refused() {
    let ended = Job::of(MISUSE3, "rebuilt3")
        .ckpt("basic", "plan", "--check")
        .noted();
    assert_eq!(ended.code, Some(1), "{}{}", ended.stdout, ended.stderr);
    let said = ended.stdout + &ended.stderr;
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    let why = "`program.build(context.devices(), \"-D MORE=2\")`, line 26 of `rebuilt3.rs` may change it";
    assert!(said.contains(why), "{said}");
}

/// Killed at a visit on some devices, restarted on others: the answer is that of a run without an interruption.
#[track_caller]
fn is_restarted(job: &dyn Fn() -> Job, words: &str, visits: &[u32], devices: &[(&str, &str)]) {
    let usual = job()
        .ckpt(devices[0].0, "run", &format!("--every 1000 {words}"))
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
fn what_programs_often_do_around_their_loops_comes_back() {
    let devices = [(THREE, "basic"), ("basic", "pthread basic")];
    is_restarted(&|| Job::new("programs/usual"), "-- ocl", &[4, 11, 17], &devices);
    is_restarted(&|| Job::new("programs/usual"), "-- begun", &[6, 15], &devices);
    is_restarted(&|| Job::new("programs/usual"), "-- opencl3", &[8, 19], &devices);
}

#[test]
fn kernels_that_get_other_arguments_have_them_again_after_a_restart() {
    let devices = [(THREE, "basic"), ("basic", "pthread basic")];
    for (package, visits) in [
        ("programs/rebound", &[5, 12, 23][..]),
        ("programs/rebound3", &[9, 24]),
    ] {
        is_restarted(&|| Job::new(package), "", visits, &devices);
    }
}

#[test]
#[ignore = "with SWEEPS=all"]
fn arrays_that_change_places_come_back_where_they_were() {
    for program in ["turned", "turned-then", "turned3", "turned-fields"] {
        is_restarted(
            &|| Job::of("programs/turned", program),
            "",
            &[3, 4, 5, 6, 7, 17],
            &[("basic", "basic"), (THREE, "basic"), ("basic", "pthread")],
        );
    }
}

#[test]
fn arrays_that_change_places_go_back_in_the_process() {
    let trials = "--sites 4 --commits 2 --random 2 --rows 1 --in-process";
    let ended = Job::of("programs/turned", "turned")
        .ckpt("basic", "crashtest", trials)
        .well();
    assert!(ended.stdout.contains("PASSED"), "{}", ended.stdout);
}

/// PoCL's `basic` deadlocks where two threads begin kernels at once, with and without ckpt.
#[test]
fn arrays_in_lists_and_structs_come_back() {
    is_restarted(
        &|| Job::new("programs/parts"),
        "",
        &[5, 23],
        &[
            ("pthread pthread", "pthread"),
            ("pthread", "pthread pthread pthread"),
        ],
    );
}

#[test]
fn arrays_in_tuples_options_and_lists_of_structs_that_are_passed_by_value_come_back() {
    is_restarted(
        &|| Job::new("programs/carried"),
        "",
        &[5, 13],
        &[(THREE, "basic"), ("basic", "pthread")],
    );
}

#[test]
fn a_program_on_several_devices_goes_on_with_another_number_of_them() {
    let devices = [
        (THREE, "basic"),
        ("basic", "pthread basic"),
        ("basic basic", THREE),
    ];
    is_restarted(&|| Job::new(SHWA), "-- 8 20", &[4, 11, 18], &devices);
    let more = [(THREE, "basic basic"), (THREE, THREE), ("basic", THREE)];
    is_restarted(&|| Job::new(SHWA), "-- 8 20", &[7, 11, 15], &more);
}

#[test]
#[ignore = "with SWEEPS=all"]
fn ranks_with_a_device_each_go_on_on_others() {
    is_restarted(
        &|| Job::new(SUMMA).of_ranks(),
        "-n 4 -- 24 2",
        &[4],
        &[(THREE, "basic")],
    );
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
#[ignore = "with SWEEPS=all"]
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

/// Killed on some devices and restarted on others: the answer is that of a run on the first, and it sees as many as there.
#[track_caller]
fn sees_what_it_had(program: &'static str, visit: u32, pairs: &[(&str, &str, usize)]) {
    for (first, second, seen) in pairs {
        let usual = Job::of(NUMBERS, program)
            .ckpt(first, "run", "--every 1000")
            .well();
        let parts = format!(" of {seen} parts\n");
        assert!(usual.stdout.ends_with(&parts), "{}", usual.stdout);
        let job = Job::of(NUMBERS, program).dies_at(visit);
        let killed = job.ckpt(first, "run", "--every 3");
        assert!(killed.code != Some(0) && killed.stdout.is_empty(), "{killed:?}");
        let restarted = job.ckpt(second, "restart", "").well();
        assert_eq!(restarted.stdout, usual.stdout, "from {first} to {second}");
        let is_told = restarted.stderr.contains("is shown the ");
        let has_changed = first.split(' ').count() != second.split(' ').count();
        assert!(
            is_told == has_changed && !restarted.stderr.contains("W2421"),
            "{}",
            restarted.stderr
        );
        let is_renamed =
            first.split(' ').next_back() != second.split(' ').next_back() || *first == THREE && has_changed;
        assert_eq!(
            restarted.stderr.matches("W2420").count(),
            usize::from(is_renamed),
            "{}",
            restarted.stderr
        );
    }
}

#[test]
fn a_program_that_holds_the_number_of_devices_sees_that_number_again() {
    let pairs = [
        (THREE, "basic", 3),
        (THREE, "basic basic", 3),
        (THREE, THREE, 3),
        ("basic", "basic basic basic", 1),
        ("basic basic", "basic", 2),
    ];
    sees_what_it_had("counted", 11, &pairs);
}

#[test]
#[ignore = "with SWEEPS=all"]
fn a_program_on_as_many_parts_as_devices_is_killed_anywhere_and_gives_the_same_answer() {
    let ended =
        Job::of(NUMBERS, "counted").ckpt(THREE, "crashtest", "--sites 4 --commits 1 --random 1 --rows 1");
    let ended = ended.well();
    assert!(ended.stdout.contains("PASSED"), "{}", ended.stdout);
}

#[test]
fn with_opencl3_contexts_of_a_kind_and_binaries_are_as_many_as_before() {
    sees_what_it_had(
        "counted3",
        11,
        &[("basic basic basic", "basic", 3), ("basic", "basic basic", 1)],
    );
}

#[test]
fn what_a_program_was_shown_is_noted_again_by_the_process_that_goes_on() {
    let usual = Job::of(NUMBERS, "counted")
        .ckpt(THREE, "run", "--every 1000")
        .well();
    let job = Job::of(NUMBERS, "counted").dies_at(5);
    job.ckpt(THREE, "run", "--every 3");
    for (devices, visit) in [("basic", "9"), ("basic basic", "15")] {
        let killed = job.ckpt_with(
            devices,
            "restart",
            "",
            &[("CKPT_FAULT", &format!("visit:{visit}"))],
        );
        assert!(killed.code != Some(0) && killed.stdout.is_empty(), "{killed:?}");
    }
    let restarted = job.ckpt("basic", "restart", "").well();
    assert_eq!(restarted.stdout, usual.stdout);
    assert!(
        restarted.stderr.contains("is shown the 3 devices"),
        "{}",
        restarted.stderr
    );
}

#[test]
fn a_program_of_which_nothing_hangs_on_the_number_sees_the_devices_that_are_there() {
    let usual = Job::of(NUMBERS, "uncounted")
        .ckpt("basic", "run", "--every 1000")
        .well();
    for (first, second, seen) in [
        (THREE, "basic", 1),
        ("basic", "basic basic basic", 3),
        ("basic basic", THREE, 3),
    ] {
        let job = Job::of(NUMBERS, "uncounted").dies_at(11);
        job.ckpt(first, "run", "--every 3");
        let restarted = job.ckpt(second, "restart", "").well();
        assert_eq!(restarted.stdout, usual.stdout);
        assert!(
            restarted.stderr.contains(&format!("{seen} devices")),
            "{}",
            restarted.stderr
        );
        assert!(!restarted.stderr.contains("is shown"), "{}", restarted.stderr);
    }
}

#[test]
fn another_name_of_a_device_is_told_once_and_the_same_name_is_not() {
    for (second, told) in [("pthread", 1), ("basic", 0)] {
        let job = Job::new(FLOYD).dies_at(23);
        job.ckpt("basic", "run", "--every 5 -- 40");
        let restarted = job.ckpt(second, "restart", "").well();
        let count = restarted.stderr.matches("warning[W2420]").count();
        assert!(
            count == told && !restarted.stderr.contains("W2421"),
            "{}",
            restarted.stderr
        );
    }
}

#[test]
#[ignore = "with SWEEPS=all"]
fn a_plan_says_whether_something_hangs_on_the_number_of_devices() {
    let says = |job: Job| {
        let plan = job.ckpt("basic", "plan", "--check").well();
        let (_, number) = plan.stdout.split_once("number of devices: ").expect("a number");
        number.lines().next().unwrap_or_default().to_owned()
    };
    let counted = says(Job::of(NUMBERS, "counted"));
    assert!(
        counted.starts_with("pseudo-malleable: ")
            && counted.contains("src/bin/counted.rs:")
            && counted.contains("does more than choose a device"),
        "{counted}"
    );
    assert!(says(Job::of(NUMBERS, "counted3")).starts_with("pseudo-malleable: "));
    for job in [
        Job::of(NUMBERS, "uncounted"),
        Job::new(SHWA),
        Job::new(FLOYD),
        Job::new(SPMV),
        Job::new(FT),
    ] {
        let malleable = says(job);
        assert!(malleable.starts_with("malleable: "), "{malleable}");
    }
}

/// The row of an array in the first table of a plan.
fn row_of(job: &Job, array: &str) -> String {
    let plan = job.ckpt("basic", "plan", "--check").well();
    let rows = plan.stdout.lines();
    let mut rows = rows.skip_while(|line| !line.starts_with("arrays on devices"));
    let row = rows.find(|line| line.split_whitespace().next() == Some(array));
    row.unwrap_or_else(|| panic!("no `{array}`: {}", plan.stdout))
        .to_owned()
}

#[test]
#[ignore = "with SWEEPS=all"]
fn arrays_of_vectors_and_of_structs_come_back() {
    for (program, bytes, numbers) in [("kinds", "cells.array", "points"), ("kinds3", "cells", "points")] {
        let job = || Job::of("programs/kinds", program);
        let trials = "--sites 4 --commits 1 --random 1 --rows 1";
        let ended = job().ckpt(THREE, "crashtest", trials).well();
        assert!(ended.stdout.contains("PASSED"), "{}", ended.stdout);
        let row = row_of(&job(), bytes);
        assert!(row.contains("content (bytes)"), "{row}");
        let row = row_of(&job(), numbers);
        assert!(row.contains(" content "), "{row}");
    }
    let job = Job::of("programs/kinds", "kinds");
    job.ckpt("basic", "run", "--every 3").well();
    let shown = job.ckpt("none", "inspect", "latest --dir kinds.ckpt.d").well();
    let has = |name: &str, elements: &str| {
        let mut lines = shown.stdout.lines();
        lines.any(|line| line.contains(name) && line.contains(elements))
    };
    for (name, elements) in [
        ("points", "f32"),
        ("colours", "f32"),
        ("items", "i32"),
        ("array", "u8"),
    ] {
        assert!(has(name, elements), "{name}: {}", shown.stdout);
    }
}

#[test]
#[ignore = "with SWEEPS=all"]
fn handles_without_a_type_are_arrays_of_bytes() {
    let job = || Job::of("programs/kinds", "handles3");
    for array in ["now", "idle", "field.heat"] {
        let row = row_of(&job(), array);
        assert!(row.contains("content (bytes)"), "{row}");
    }
    is_restarted(
        &job,
        "",
        &[4, 5, 8, 17],
        &[("basic", "basic"), (THREE, "basic"), ("basic", "pthread")],
    );
    let trials = "--sites 4 --commits 1 --random 1 --rows 1";
    let ended = job().ckpt("basic", "crashtest", trials).well();
    assert!(ended.stdout.contains("PASSED"), "{}", ended.stdout);
    let early = job().ckpt("basic", "run", "--every 3 -- early").well().noted();
    assert!(
        early.stderr.contains("W2005") && early.stderr.contains("variable `spare` cannot be saved"),
        "{}",
        early.stderr
    );
}

#[test]
fn images_come_back_with_all_their_texels() {
    let devices = [("basic", "basic"), (THREE, "basic"), ("basic", "pthread")];
    for program in ["images", "images3"] {
        let trials = "--sites 6 --commits 1 --random 1 --rows 1";
        let ended = Job::of(IMAGES, program).ckpt(THREE, "crashtest", trials).well();
        assert!(ended.stdout.contains("PASSED"), "{program}: {}", ended.stdout);
        is_restarted(&|| Job::of(IMAGES, program), "", &[5, 8, 17], &devices);
    }
}

#[test]
fn images_that_nothing_has_written_to_are_left_out_and_no_others() {
    let seldom = || Job::of(IMAGES, "seldom-images").full_every(6);
    let uninterrupted = seldom().ckpt("basic", "run", "--every 1000").well();
    for (visit, last) in [(9, 4), (13, 6), (23, 11)] {
        let job = seldom().dies_at(visit);
        let killed = job.ckpt("basic", "run", "--every 2");
        assert!(killed.code != Some(0) && killed.stdout.is_empty(), "{killed:?}");
        // The first has 8.6 million bytes.
        let bytes = job.bytes_of(last);
        assert!(bytes < 6_000_000, "checkpoint {last} has {bytes}");
        let restarted = job.ckpt("basic", "restart", "").well();
        assert_eq!(restarted.stdout, uninterrupted.stdout, "killed at {visit}");
    }
}

#[test]
fn images_go_back_in_the_process() {
    let trials = "--sites 4 --commits 1 --random 1 --rows 1 --in-process";
    let ended = Job::of(IMAGES, "images")
        .ckpt("basic", "crashtest", trials)
        .well();
    assert!(ended.stdout.contains("PASSED"), "{}", ended.stdout);
}

#[test]
fn a_checkpoint_has_the_numbers_of_an_images_format() {
    // Planes of 33 to 20 texels, a volume of 5 to 4 to 3, two lists of three pictures of 10 to 6 with four channels.
    for (program, variables) in [
        (
            "images",
            &[
                ("now", "f32 [660]"),
                ("next", "f32 [660]"),
                ("sources", "i32 [60]"),
                ("items", "u8 [1440]"),
            ][..],
        ),
        (
            "images3",
            &[
                ("items", "f32 [2184]"),
                ("line", "u16 [19]"),
                ("lines", "u16 [76]"),
            ],
        ),
    ] {
        let job = Job::of(IMAGES, program).dies_at(9);
        let killed = job.ckpt("basic", "run", "--every 2");
        assert!(killed.code != Some(0) && killed.stdout.is_empty(), "{killed:?}");
        let found = job.ckpt("none", "inspect", "").well();
        for (variable, numbers) in variables {
            let mut rows = found.stdout.lines();
            assert!(
                rows.any(|row| row.contains(variable) && row.contains(numbers)),
                "{variable}: {}",
                found.stdout
            );
        }
    }
}

#[test]
fn images_are_in_the_plan_with_what_kernels_and_commands_do_with_them() {
    for (program, image, does) in [
        ("images", "sources", "write() spread content"),
        ("images", "next", "spread, others? - content"),
        ("images3", "line", "enqueue_write_image() - content"),
        ("images3", "lines", "enqueue_fill_image() - content"),
    ] {
        let row = row_of(&Job::of(IMAGES, program), image);
        let row = row.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(row.contains(does), "{row}");
    }
}

#[test]
fn a_device_without_memory_for_an_array_ends_a_restart_and_the_checkpoint_stays() {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let built = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "-p", "small-device"])
        .current_dir(&workspace)
        .status();
    assert!(built.expect("cargo").success());
    let target = env::var_os("CARGO_TARGET_DIR").map_or_else(|| workspace.join("target"), PathBuf::from);
    let library = target.join("debug/libsmall_device.so");
    let library = library.to_str().expect("a path that is text");
    let usual = Job::of(MISUSE, "restarted")
        .ckpt("basic", "run", "--every 1000")
        .well();
    let job = Job::of(MISUSE, "restarted").dies_at(11);
    let killed = job.ckpt("basic", "run", "--every 3");
    assert!(killed.code != Some(0) && killed.stdout.is_empty(), "{killed:?}");
    for (what, code) in [("SMALL_DEVICE_MAKES", "E2449"), ("SMALL_DEVICE_HOLDS", "E2450")] {
        let variables = [("LD_PRELOAD", library), (what, "3000")];
        let ended = job.ckpt_with("basic", "restart", "", &variables);
        assert!(ended.code == Some(77) && ended.stdout.is_empty(), "{ended:?}");
        // The device has the name of the processor.
        let (before, rest) = ended.stderr.split_once("device `basic").expect("a device");
        let (_, behind) = rest.split_once('`').expect("the end of its name");
        let stderr = format!("{before}device `basic`{behind}");
        let ended = Ended { stderr, ..ended }.noted();
        for told in [
            code,
            "`array`",
            "4000 bytes",
            "device `basic",
            "the checkpoint stays",
        ] {
            assert!(ended.stderr.contains(told), "{told}: {}", ended.stderr);
        }
    }
    let restarted = job.ckpt("basic", "restart", "").well();
    assert_eq!(restarted.stdout, usual.stdout);
}
