//! Arrays of wgpu, on Vulkan: killed and restarted; what no checkpoint can hold.

use devices_tests::Job;

const LIFE: &str = "examples/life-gpu";
const NBODY: &str = "examples/nbody-gpu";
const MISUSE: &str = "programs/misuse-gpu";
const TEXTURES: &str = "programs/textures-gpu";
const SEVERAL: &str = "programs/several-gpu";

#[test]
fn shaders_under_way_are_waited_for_and_arrays_come_back() {
    for (package, arguments) in [(LIFE, "64 40"), (NBODY, "96 60")] {
        let trials = format!("--sites 4 --commits 2 --random 1 --rows 1 -- {arguments}");
        let ended = Job::new(package).ckpt("none", "crashtest", &trials).well();
        assert!(ended.stdout.contains("PASSED"), "{}", ended.stdout);
    }
}

#[test]
fn arrays_are_in_the_plan_with_their_content() {
    let plan = Job::new(LIFE).ckpt("none", "plan", "--check").well();
    let (_, table) = plan
        .stdout
        .split_once("arrays on devices at the site")
        .expect("a table");
    for (array, does) in [
        ("size", " - generation content (u32) "),
        ("even", " generation - content (u32) "),
        ("odd", " generation - content (u32) "),
    ] {
        let mut rows = table
            .lines()
            .filter(|line| line.split_whitespace().next() == Some(array));
        let row = |row: &str| row.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(rows.any(|one| row(one).contains(does)), "{}", plan.stdout);
    }
}

#[test]
fn arrays_that_no_shader_writes_to_are_left_out_and_no_others() {
    let table = || Job::new("programs/table-gpu").full_every(6);
    let uninterrupted = table().ckpt("none", "run", "--every 1000").well();
    for (visit, last) in [(9, 4), (13, 6)] {
        let job = table().dies_at(visit);
        let killed = job.ckpt("none", "run", "--every 2");
        assert!(killed.code != Some(0) && killed.stdout.is_empty(), "{killed:?}");
        let bytes = job.bytes_of(last);
        assert!(bytes < 400_000, "{bytes}");
        let restarted = job.ckpt("none", "restart", "").well();
        assert_eq!(restarted.stdout, uninterrupted.stdout, "killed at {visit}");
    }
}

#[test]
fn arrays_that_change_places_come_back_where_they_were() {
    let job = || Job::new("programs/turned-gpu");
    let usual = job().ckpt("none", "run", "--every 1000").well();
    for visit in [3, 4, 5, 6, 7, 17] {
        let job = job().dies_at(visit);
        let killed = job.ckpt("none", "run", "--every 1");
        assert!(killed.code != Some(0) && killed.stdout.is_empty(), "{killed:?}");
        let restarted = job.ckpt("none", "restart", "").well();
        assert_eq!(restarted.stdout, usual.stdout, "killed at {visit}");
    }
}

#[test]
#[ignore = "with SWEEPS=all"]
fn arrays_hold_no_checkpoint_back_however_large_wherever_they_are_and_however_described() {
    for program in ["large", "devices", "instances", "described", "uploaded", "fields"] {
        // Where lists are compared with those of the checkpoint before, others are read meanwhile.
        let job = || Job::of(SEVERAL, program).full_every(6);
        let usual = job().ckpt("none", "run", "--every 1").well();
        assert!(!usual.stderr.contains("W2005"), "{program}: {}", usual.stderr);
        for visit in [4, 9] {
            let job = job().dies_at(visit);
            let killed = job.ckpt("none", "run", "--every 1");
            assert!(
                killed.code != Some(0) && killed.stdout.is_empty(),
                "{program}: {killed:?}"
            );
            let restarted = job.ckpt("none", "restart", "").well();
            assert_eq!(restarted.stdout, usual.stdout, "{program} killed at {visit}");
        }
    }
}

#[test]
#[ignore = "with SWEEPS=all"]
fn textures_come_back_with_all_their_texels() {
    for (program, sites) in [("life", 6), ("turned-textures", 8), ("kinds", 6)] {
        let trials = format!("--sites {sites} --commits 1 --random 1 --rows 1");
        let ended = Job::of(TEXTURES, program)
            .ckpt("none", "crashtest", &trials)
            .well();
        assert!(ended.stdout.contains("PASSED"), "{program}: {}", ended.stdout);
    }
}

#[test]
fn textures_are_in_the_plan_with_what_shaders_do_with_them() {
    let plan = |program| Job::of(TEXTURES, program).ckpt("none", "plan", "--check").well();
    let row = |row: &str| row.split_whitespace().collect::<Vec<_>>().join(" ");
    let plan = plan("life");
    let rows: Vec<String> = plan.stdout.lines().map(row).collect();
    for array in ["even", "odd"] {
        let is = |one: &String| one.starts_with(array) && one.contains(" generation - content ");
        assert!(rows.iter().any(is), "{array}: {}", plan.stdout);
    }
}

#[test]
fn a_checkpoint_has_the_numbers_of_a_textures_format() {
    let job = Job::of(TEXTURES, "kinds").dies_at(9);
    let killed = job.ckpt("none", "run", "--every 2");
    assert!(killed.code != Some(0) && killed.stdout.is_empty(), "{killed:?}");
    let found = job.ckpt("none", "inspect", "").well();
    // Three layers of two levels are 900 bytes, two volumes 2310 texels.
    for (variable, numbers) in [("line", "f32 [33]"), ("all", "u8 [900]"), ("items", "i32 [2310]")] {
        let mut rows = found.stdout.lines();
        assert!(
            rows.any(|row| row.contains(variable) && row.contains(numbers)),
            "{variable}: {}",
            found.stdout
        );
    }
}

#[test]
fn textures_that_are_not_copied_hold_checkpoints_back() {
    let held = |what: &str| {
        Job::of(MISUSE, "held-texture")
            .ckpt("none", "run", &format!("--every 3 -- {what}"))
            .well()
    };
    let usual = held("usual");
    assert!(!usual.stderr.contains("W20"), "{}", usual.stderr);
    for what in ["samples", "depth"] {
        let ended = held(what).noted();
        assert!(
            ended.stderr.contains("W2005")
                && ended
                    .stderr
                    .contains("6 checkpoints of this run could not be taken"),
            "{what}: {}",
            ended.stderr
        );
        assert_eq!(ended.stdout, usual.stdout, "{what}");
    }
}

#[test]
fn arrays_that_are_mapped_hidden_or_textures_hold_checkpoints_back() {
    let held = |what: &str| {
        Job::of(MISUSE, "held-gpu")
            .ckpt("none", "run", &format!("--every 3 -- {what}"))
            .well()
    };
    let usual = held("usual");
    for fine in ["usual", "called"] {
        let ended = held(fine);
        assert!(
            !ended.stderr.contains("W20") && ended.stdout == usual.stdout,
            "{}",
            ended.stderr
        );
    }
    for what in ["hidden", "mapped", "commands", "noted", "texture"] {
        let ended = held(what).noted();
        let told = ["W2050", "W2005"].iter().any(|code| ended.stderr.contains(code));
        assert!(
            told && ended
                .stderr
                .contains("6 checkpoints of this run could not be taken"),
            "{what}: {}",
            ended.stderr
        );
        assert!(
            what == "mapped" || ended.stdout == usual.stdout,
            "{}",
            ended.stdout
        );
    }
}

#[test]
fn what_only_a_bind_group_has_holds_checkpoints_back_where_shaders_write_to_it() {
    let run = |what: &str| {
        Job::of(MISUSE, "kept-alone")
            .ckpt("none", "run", &format!("--every 3 -- {what}"))
            .well()
    };
    let usual = run("parameters");
    assert!(!usual.stderr.contains("W20"), "{}", usual.stderr);
    for what in ["random", "texture"] {
        let ended = run(what).noted();
        let (said, kind) = (
            &ended.stderr,
            if what == "random" {
                "an array of 1024 bytes"
            } else {
                "a texture"
            },
        );
        assert!(
            said.contains("W2005")
                && said.contains(&format!(
                    "{kind} on a device, to which shaders may write, is held by a bind group alone"
                ))
                && said.contains("6 checkpoints of this run could not be taken"),
            "{what}: {said}"
        );
    }
    let job = Job::of(MISUSE, "kept-alone").dies_at(14);
    let killed = job.ckpt("none", "run", "--every 3 -- given-back");
    assert!(
        killed.code != Some(0) && !killed.stderr.contains("W20"),
        "{killed:?}"
    );
    let restarted = job.ckpt("none", "restart", "").well();
    assert_eq!(restarted.stdout.lines().last(), usual.stdout.lines().last());
}

#[test]
fn what_only_a_bind_group_has_holds_checkpoints_back_where_commands_have_filled_it() {
    let ended = Job::of(MISUSE, "filled-alone")
        .ckpt("none", "run", "--every 3")
        .well()
        .noted();
    let said =
        "an array of 1024 bytes on a device, which commands may have filled, is held by a bind group alone";
    assert!(
        ended.stderr.contains("W2005") && ended.stderr.contains(said),
        "{}",
        ended.stderr
    );
}

#[test]
fn arrays_that_a_restart_could_not_write_hold_checkpoints_back() {
    let ended = Job::of(MISUSE, "unwritable")
        .ckpt("none", "run", "--every 3")
        .well()
        .noted();
    assert!(
        ended.stderr.contains("W2005") && ended.stderr.contains("COPY_DST"),
        "{}",
        ended.stderr
    );
    assert_eq!(ended.stdout, "60000\n");
}

#[test]
fn memory_that_is_mapped_to_be_read_and_written_comes_back() {
    let job = || Job::of(MISUSE, "held-gpu");
    let usual = job().ckpt("none", "run", "--every 1000 -- usual").well();
    let job = job().dies_at(14);
    let killed = job.ckpt("none", "run", "--every 3 -- usual");
    assert!(killed.code != Some(0) && killed.stdout.is_empty(), "{killed:?}");
    let restarted = job.ckpt("none", "restart", "").well();
    assert_eq!(restarted.stdout, usual.stdout);
}

#[test]
fn commands_that_are_submitted_in_a_later_step_are_refused() {
    let ended = Job::of(MISUSE, "unfinished")
        .ckpt("none", "plan", "--check")
        .noted();
    assert_eq!(ended.code, Some(1), "{}{}", ended.stdout, ended.stderr);
}

#[test]
fn the_field_that_gets_another_array_is_named() {
    let ended = Job::of(MISUSE, "exchanged")
        .ckpt("none", "plan", "--check")
        .noted();
    let said = ended.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        said.contains("E1310: `simulation` is of a type that no checkpoint holds: `Simulation`; why: its field `Simulation.now` is of the type `Buffer`"),
        "{}",
        ended.stdout
    );
}
