//! A program that goes back to a checkpoint in its process gives the answer of a run that never did, prints again what it has
//! printed since, and says by name what cannot be: E2380 to E2389, E2392, W2092 and W2093.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

const LEAVING: &str = "\u{1e}\u{1e} ckpt rolls back \u{1e}\u{1e}";
const MARK: &str = "\u{1e}\u{1e} ckpt has rolled back \u{1e}\u{1e}";

struct Ended {
    code: Option<i32>,
    stdout: String,
    stderr: String,
    /// What it has left in its folder, its store left out.
    files: Vec<(PathBuf, Vec<u8>)>,
    pids: Vec<u64>,
    /// Bits that were turned, and how many of those in variables that no statement writes to.
    flips: usize,
    unchanged: usize,
    /// How variables were put right, and how often the program went back.
    repairs: Vec<String>,
    rollbacks: usize,
}

fn run(program: &str, variables: &[(&str, &str)]) -> Ended {
    let folder = TempDir::new().unwrap();
    let mark = TempDir::new().unwrap();
    run_in(folder.path(), mark.path(), program, variables)
}

fn run_in(folder: &Path, mark: &Path, program: &str, variables: &[(&str, &str)]) -> Ended {
    let input = mark.join("input.txt");
    let lines: String = (0..100)
        .map(|number| format!("{}\n", number * number % 83))
        .collect();
    fs::write(&input, lines).unwrap();
    let executable = match program {
        "outermost" => env!("CARGO_BIN_EXE_outermost"),
        _ => env!("CARGO_BIN_EXE_rollback"),
    };
    let mut command = Command::new(executable);
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("CKPT_") {
            command.env_remove(name);
        }
    }
    let output = command
        .arg(program)
        .current_dir(folder)
        .env("TEST_MARK", mark.join("mark"))
        .envs(variables.iter().copied())
        .stdin(fs::File::open(input).unwrap())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .output()
        .unwrap();
    let mut files: Vec<(PathBuf, Vec<u8>)> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_file())
        .map(|path| (path.file_name().unwrap().into(), fs::read(&path).unwrap()))
        .collect();
    files.sort();
    let log = fs::read_dir(folder.join("rollback.ckpt.d/runs"))
        .into_iter()
        .flatten();
    let events: String = log
        .map(|run| fs::read_to_string(run.unwrap().path().join("events.log")).unwrap())
        .collect();
    let event = |line: &str, name: &str| line.contains(&format!("\"event\":\"{name}\""));
    let is_unchanged = |line: &str| event(line, "flip") && line.contains("\"is_unchanged\":true");
    let pid = |line: &str| {
        let (_, rest) = line.split_once("\"event\":\"start\",\"pid\":")?;
        rest.split(',').next()?.parse().ok()
    };
    let repair = |line: &str| {
        let (_, how) = line.split_once("\"how\":\"")?;
        event(line, "repair").then(|| how.split('"').next().unwrap_or_default().to_owned())
    };
    Ended {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
        files,
        flips: events.lines().filter(|line| event(line, "flip")).count(),
        unchanged: events.lines().filter(|line| is_unchanged(line)).count(),
        repairs: events.lines().filter_map(repair).collect(),
        rollbacks: events.lines().filter(|line| event(line, "rollback")).count(),
        pids: events.lines().filter_map(pid).collect(),
    }
}

/// What was printed until each rollback that a test wanted, without what destructors have printed on the way, and after the last.
fn parts(stdout: &str) -> Vec<&str> {
    let parts = stdout.split(MARK);
    parts
        .map(|part| part.split_once(LEAVING).map_or(part, |(before, _)| before))
        .collect()
}

/// What was printed in all, where each part begins again somewhere in what was printed before.
fn joined(parts: &[&str], whole: &str) {
    let mut covered = 0;
    for (index, part) in parts.iter().enumerate() {
        let is_last = index + 1 == parts.len();
        let found = (0..=covered).rev().find(|from| {
            whole.get(*from..).is_some_and(|rest| match is_last {
                true => rest == *part,
                false => rest.starts_with(part),
            })
        });
        let from =
            found.unwrap_or_else(|| panic!("part {index} is not of the whole:\n{part}\nwhole:\n{whole}"));
        covered = covered.max(from + part.len());
    }
    assert_eq!(covered, whole.len());
}

/// Rolled back at these visits the program gives the answer of the plain one.
#[track_caller]
fn same_when_rolled_back(program: &str, every: u64, visits: &str, plain: &Ended) -> Ended {
    let fault = format!("rollback:{visits}");
    let ended = run(
        program,
        &[("CKPT_EVERY", &every.to_string()), ("CKPT_FAULT", &fault)],
    );
    assert_eq!(ended.code, Some(0), "{visits}: {}", ended.stderr);
    let parts: Vec<&str> = parts(&ended.stdout);
    assert_eq!(parts.len(), visits.split(',').count() + 1, "{}", ended.stderr);
    joined(&parts, &plain.stdout);
    assert!(ended.files == plain.files, "{visits}: other files");
    ended
}

/// A step goes wrong once, and the program goes back by itself. Gives what it was.
#[track_caller]
fn same_when_struck(program: &str, step: u64, plain: &Ended) -> Ended {
    let ended = run(
        program,
        &[("CKPT_EVERY", "5"), ("TEST_STRIKES", &step.to_string())],
    );
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(ended.stderr.contains("goes back to"), "{}", ended.stderr);
    let (first, last) = (plain.stdout.lines().next(), plain.stdout.lines().last());
    assert_eq!(
        (ended.stdout.lines().next(), ended.stdout.lines().last()),
        (first, last)
    );
    assert!(ended.files == plain.files);
    ended
}

fn is_one_process(ended: &Ended) -> bool {
    !ended.stderr.contains("restarts from")
}

#[test]
fn all_that_a_process_is_made_of_comes_back() {
    let plain = run("surroundings", &[]);
    assert_eq!(plain.code, Some(0), "{}", plain.stderr);
    for visit in 1..=24 {
        let ended = same_when_rolled_back("surroundings", visit, &visit.to_string(), &plain);
        assert!(is_one_process(&ended), "{}", ended.stderr);
    }
    for visits in ["7", "14,14,14,14,14,23", "23,23", "5,6,7,8,9,10"] {
        same_when_rolled_back("surroundings", 3, visits, &plain);
    }
    let ended = same_when_struck("surroundings", 13, &plain);
    assert!(is_one_process(&ended), "{}", ended.stderr);
    assert_eq!(ended.pids.len(), 2, "a rollback is in the record of the run");
    assert_eq!(ended.pids[0], ended.pids[1]);
}

/// The handlers that ckpt installs are there at both ends, and are not the program's.
#[test]
fn a_restarted_process_goes_back_to_what_it_was_restarted_from() {
    let plain = run("surroundings", &[]);
    let folder = TempDir::new().unwrap();
    let mark = TempDir::new().unwrap();
    let in_folder =
        |variables: &[(&str, &str)]| run_in(folder.path(), mark.path(), "surroundings", variables);
    let killed = in_folder(&[("CKPT_EVERY", "5"), ("CKPT_FAULT", "visit:13")]);
    assert_eq!(killed.code, None, "{}", killed.stderr);
    let restarted = in_folder(&[
        ("CKPT_RESTART", "latest"),
        ("CKPT_EVERY", "1000"),
        ("CKPT_FAULT", "rollback:16"),
    ]);
    assert_eq!(restarted.code, Some(0), "{}", restarted.stderr);
    assert_eq!(restarted.rollbacks, 1, "{}", restarted.stderr);
    assert!(!restarted.stderr.contains("W2092"), "{}", restarted.stderr);
    assert_eq!(restarted.stdout.lines().last(), plain.stdout.lines().last());
    assert!(restarted.files == plain.files);
}

#[test]
fn standard_input_is_read_again() {
    let plain = run("reads", &[]);
    for visit in [1, 4, 5, 9, 23] {
        same_when_rolled_back("reads", 1, &visit.to_string(), &plain);
        same_when_rolled_back(
            "reads",
            1.max(visit - 1),
            &format!("{visit},{}", visit + 1),
            &plain,
        );
    }
}

#[test]
fn a_program_that_catches_what_unwinds_goes_back_all_the_same() {
    let plain = run("caught", &[]);
    for visits in ["1", "5,9", "24"] {
        same_when_rolled_back("caught", 1, visits, &plain);
    }
    for step in [4, 8] {
        same_when_struck("caught", step, &plain);
    }
}

#[test]
fn what_cannot_be_put_back_has_the_process_begin_anew() {
    for program in ["once", "library"] {
        let plain = run(program, &[]);
        let ended = same_when_struck(program, 12, &plain);
        assert!(ended.stderr.contains("warning[W2092]"), "{}", ended.stderr);
        assert!(!is_one_process(&ended), "{}", ended.stderr);
        assert!(!ended.stderr.contains("thread 'main'"), "{}", ended.stderr);
        assert_eq!(
            ended.pids[0], ended.pids[1],
            "it is the same process for whoever has started it"
        );
    }
    // Behind the statement that sets it there is nothing to put back.
    let plain = run("once", &[]);
    let ended = same_when_rolled_back("once", 20, "22", &plain);
    assert!(is_one_process(&ended), "{}", ended.stderr);
}

#[test]
fn a_team_goes_back_in_its_process() {
    for program in ["threads", "barriers", "detached", "loops"] {
        let plain = run(program, &[]);
        assert_eq!(plain.code, Some(0), "{program}: {}", plain.stderr);
        for (every, visits) in [(1, "1"), (1, "5"), (3, "10,11,24"), (4, "5,5,5,20"), (1, "24")] {
            let ended = same_when_rolled_back(program, every, visits, &plain);
            assert!(is_one_process(&ended), "{program}: {}", ended.stderr);
        }
        // Barriers of the program's own do not let anybody out.
        for step in [7, 13, 24] {
            let ended = same_when_struck(program, step, &plain);
            let stays = program != "barriers" || !ended.stderr.contains("E2392");
            assert_eq!(is_one_process(&ended), stays, "{program}: {}", ended.stderr);
        }
    }
}

#[test]
fn a_team_goes_back_to_states_in_memory() {
    for program in ["threads", "detached", "loops"] {
        let plain = run(program, &[]);
        for (visits, then) in [("14", 12), ("23", 21), ("9,14,14,20", 18)] {
            let fault = format!("rollback:{visits}");
            let ended = run(
                program,
                &[
                    ("CKPT_EVERY", "8"),
                    ("CKPT_SNAPSHOT_EVERY", "3"),
                    ("CKPT_FAULT", &fault),
                ],
            );
            assert_eq!(ended.code, Some(0), "{program} {visits}: {}", ended.stderr);
            let parts: Vec<&str> = parts(&ended.stdout);
            joined(&parts, &plain.stdout);
            let told = format!("goes back to its state in memory of site visit {then}");
            assert!(ended.stderr.contains(&told), "{program}: {}", ended.stderr);
            assert!(is_one_process(&ended), "{program}: {}", ended.stderr);
        }
    }
}

#[test]
fn a_team_is_asked_more_than_once_at_a_visit() {
    // For a checkpoint that cannot be taken, and for a state in memory.
    let plain = run("deleted", &[]);
    assert_eq!(plain.code, Some(0), "{}", plain.stderr);
    let ended = run("deleted", &[("CKPT_EVERY", "1"), ("CKPT_SNAPSHOT_EVERY", "1")]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert_eq!(ended.stdout, plain.stdout, "{}", ended.stderr);
    // For a look at it, and for the checkpoint that is due.
    let plain = run("threads", &[]);
    let ended = run("threads", &[&DETECTS[..], &[("CKPT_EVERY", "5")]].concat());
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert_eq!(ended.stdout, plain.stdout, "{}", ended.stderr);
    // For a checkpoint, and for the bit of a variable that a test turns.
    let ended = run("threads", &[("CKPT_EVERY", "1"), ("CKPT_FAULT", "flip:10:3")]);
    assert_eq!((ended.code, ended.flips), (Some(0), 1), "{}", ended.stderr);
}

#[test]
fn a_member_that_stays_is_named() {
    let plain = run("stays", &[]);
    let ended = same_when_struck("stays", 13, &plain);
    assert!(!is_one_process(&ended), "{}", ended.stderr);
    let told = "E2392: thread 2 (last seen at visit 13) of the team did not leave within";
    assert!(ended.stderr.contains(told), "{}", ended.stderr);
}

#[test]
fn a_check_that_fails_each_time_ends_the_program() {
    let ended = run("always", &[("CKPT_EVERY", "5")]);
    assert_eq!(ended.code, Some(101));
    assert_eq!(
        ended.stderr.matches("goes back to").count(),
        3,
        "{}",
        ended.stderr
    );
    // From the one before, where the newest does not help.
    assert!(ended.stderr.contains("checkpoint 000003") && ended.stderr.contains("checkpoint 000002"));
    let said =
        "`step < 17` does not hold, and the program cannot go back: E2388: the program has gone back 3 times";
    assert!(ended.stderr.contains(said), "{}", ended.stderr);
    let last: Vec<&str> = ended.stdout.lines().rev().take(1).collect();
    assert_eq!(last, ["17"]);
    // Without a session it is an assertion.
    let ended = run("always", &[]);
    assert_eq!(ended.code, Some(101));
    assert!(
        ended.stderr.contains("E2380: there is no session"),
        "{}",
        ended.stderr
    );
}

#[test]
fn what_cannot_be_is_said_and_the_program_goes_on() {
    let ended = run("misuses", &[("CKPT_EVERY", "4")]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    for code in [
        "E2387: the run has no checkpoint yet to go back to",
        "E2387: the run has no checkpoint 77 to go back to",
        "E2390",
        "E2384",
        "E2382",
        "E2381",
    ] {
        assert!(ended.stdout.contains(code), "{code}: {}", ended.stdout);
    }
    assert_eq!(ended.stdout.lines().last(), Some("24"));
    let ended = run("misuses", &[("CKPT_EVERY", "4"), ("CKPT_FAULT", "rollback:2")]);
    assert!(ended.stderr.contains("warning[W2093]: E2387"), "{}", ended.stderr);
}

#[test]
fn what_is_on_its_way_to_a_site_or_takes_a_checkpoint_cannot_go_back() {
    let ended = run(
        "on-the-way",
        &[("CKPT_EVERY", "10"), ("CKPT_FAULT", "rollback:12")],
    );
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    for code in ["E2387", "E2385", "E2383"] {
        assert!(ended.stdout.contains(code), "{code}: {}", ended.stdout);
    }
    assert_eq!(ended.stdout.lines().last(), Some("24 7"));
}

#[test]
fn states_in_memory_are_gone_back_to_first() {
    let plain = run("surroundings", &[]);
    for (visits, then) in [("12", 12), ("14", 12), ("23", 21), ("9,14,14,20", 18)] {
        let fault = format!("rollback:{visits}");
        let ended = run(
            "surroundings",
            &[
                ("CKPT_EVERY", "8"),
                ("CKPT_SNAPSHOT_EVERY", "3"),
                ("CKPT_FAULT", &fault),
            ],
        );
        assert_eq!(ended.code, Some(0), "{visits}: {}", ended.stderr);
        let parts: Vec<&str> = parts(&ended.stdout);
        joined(&parts, &plain.stdout);
        assert!(ended.files == plain.files, "{visits}: other files");
        let told = format!("goes back to its state in memory of site visit {then}");
        assert!(ended.stderr.contains(&told), "{}", ended.stderr);
        assert!(is_one_process(&ended), "{}", ended.stderr);
    }
    // One in a row further back each time: two in memory, then the checkpoint.
    let ended = run(
        "always",
        &[
            ("CKPT_EVERY", "8"),
            ("CKPT_SNAPSHOT_EVERY", "3"),
            ("CKPT_SNAPSHOTS", "1"),
            ("CKPT_KEEP", "all"),
        ],
    );
    for told in [
        "checkpoint 000002 from",
        "site visit 15 from",
        "checkpoint 000001 from",
    ] {
        assert!(ended.stderr.contains(told), "{told}: {}", ended.stderr);
    }
    // The walk does not arrive: the process begins anew from the checkpoint behind which the state was kept.
    let plain = run("once", &[]);
    let variables = [
        ("CKPT_EVERY", "5"),
        ("CKPT_SNAPSHOT_EVERY", "3"),
        ("TEST_STRIKES", "11"),
    ];
    let ended = run("once", &variables);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert_eq!(ended.stdout.lines().last(), plain.stdout.lines().last());
}

#[test]
fn states_in_memory_have_their_bounds() {
    let settings = [
        ("CKPT_EVERY", "8"),
        ("CKPT_SNAPSHOT_EVERY", "3"),
        ("CKPT_MEMORY", "1KiB"),
    ];
    let ended = run("large", &settings);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert_eq!(
        ended.stderr.matches("warning[W2094]").count(),
        1,
        "{}",
        ended.stderr
    );
}

const DETECTS: [(&str, &str); 3] = [
    ("CKPT_EVERY", "4"),
    ("CKPT_SNAPSHOT_EVERY", "1"),
    ("CKPT_DETECT", "nan,unchanged"),
];

#[test]
fn a_bit_that_is_turned_in_what_nobody_writes_to_is_found() {
    let plain = run("weighted", &[]);
    assert_eq!(plain.code, Some(0), "{}", plain.stderr);
    let whole = run("weighted", &DETECTS);
    assert_eq!(whole.stdout, plain.stdout, "{}", whole.stderr);
    let (mut found, mut others) = (0, 0);
    for seed in 0..16 {
        let fault = format!("flip:{}:{seed}", 5 + seed);
        let ended = run("weighted", &[&DETECTS[..], &[("CKPT_FAULT", &fault)]].concat());
        assert_eq!((ended.code, ended.flips), (Some(0), 1), "{}", ended.stderr);
        if ended.unchanged == 0 {
            others += 1;
            continue;
        }
        found += 1;
        let told = "`weights` of `weighted` has changed, and no statement has written to it";
        assert!(ended.stderr.contains(told), "{seed}: {}", ended.stderr);
        let parts: Vec<&str> = parts(&ended.stdout);
        assert_eq!(parts.len(), 2, "{}", ended.stderr);
        // What was printed in between is wrong, and is printed again.
        let (last, whole) = (parts[1].lines().last(), plain.stdout.lines().last());
        assert_eq!(last, whole, "{seed}: {}", ended.stderr);
        let first = parts[1].lines().next().unwrap();
        assert!(plain.stdout.contains(first), "{seed}: {}", ended.stdout);
    }
    assert!(found > 2 && others > 2, "{found} {others}");
}

#[test]
fn what_nobody_has_read_is_put_right_alone() {
    let plain = run("kept", &[]);
    assert_eq!(plain.code, Some(0), "{}", plain.stderr);
    let (mut again, mut back) = (0, 0);
    for seed in 0..16 {
        let fault = format!("flip:{}:{seed}", 5 + seed);
        let ended = run("kept", &[&DETECTS[..], &[("CKPT_FAULT", &fault)]].concat());
        assert_eq!((ended.code, ended.flips), (Some(0), 1), "{}", ended.stderr);
        if ended.unchanged == 0 {
            continue;
        }
        // Nothing is printed again.
        assert_eq!(ended.stdout, plain.stdout, "{seed}: {}", ended.stderr);
        assert_eq!(
            (ended.rollbacks, ended.repairs.len()),
            (0, 1),
            "{seed}: {}",
            ended.stderr
        );
        let (variable, how) = match &*ended.repairs[0] {
            "made-again" => ("coefficients", "was made again"),
            _ => ("start", "was put back from memory"),
        };
        let told = format!(
            "warning[W2413]: `{variable}` of `kept` has changed, and no statement has written to it; it {how}"
        );
        assert!(ended.stderr.contains(&told), "{seed}: {}", ended.stderr);
        *if variable == "start" {
            &mut back
        } else {
            &mut again
        } += 1;
    }
    assert!(again > 2 && back > 2, "{again} {back}");
}

#[test]
fn an_error_in_what_is_put_right_is_put_right() {
    let plain = run("kept", &[]);
    let last = |ended: &Ended| ended.stdout.lines().last().map(str::to_owned);
    // Once more, and so often that it is not what it seems: then the program goes back.
    for (more, repairs, rollbacks) in [(1, 2, 0), (3, 3, 1)] {
        let second: String = (0..more).map(|seed| format!(",10:{seed}:repair")).collect();
        let strikes = |seed| {
            let fault = format!("flip:9:{seed}{second}");
            run("kept", &[&DETECTS[..], &[("CKPT_FAULT", &fault)]].concat())
        };
        let ended = (0..8).map(strikes).find(|ended| ended.unchanged == 1).unwrap();
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        let found = (ended.repairs.len(), ended.rollbacks);
        assert_eq!(found, (repairs, rollbacks), "{}", ended.stderr);
        assert_eq!(last(&ended), last(&plain), "{}", ended.stderr);
    }
}

#[test]
fn an_error_in_the_snapshot_is_not_put_back() {
    // The largest list, in the snapshot first: it can be computed again, or not.
    let cases = [("computed", &["made-again"][..], 0), ("started", &[], 1)];
    for (program, repairs, rollbacks) in cases {
        let plain = run(program, &[]);
        let fault = [("CKPT_FAULT", "flip:9:5:snapshot,9:3"), ("CKPT_SNAPSHOTS", "2")];
        let ended = run(program, &[&DETECTS[..], &fault].concat());
        assert_eq!(
            (ended.code, ended.flips, ended.unchanged),
            (Some(0), 2, 1),
            "{}",
            ended.stderr
        );
        assert_eq!(ended.repairs, repairs, "{}", ended.stderr);
        assert_eq!(ended.rollbacks, rollbacks, "{}", ended.stderr);
        let last = |ended: &Ended| ended.stdout.lines().last().map(str::to_owned);
        assert_eq!(last(&ended), last(&plain), "{}", ended.stderr);
    }
}

#[test]
fn what_the_machine_loses_of_a_callers_list_is_put_back() {
    let plain = run("loses", &[]);
    assert_eq!(plain.code, Some(0), "{}", plain.stderr);
    let lost = |list| {
        let variables = [
            ("CKPT_EVERY", "4"),
            ("CKPT_SNAPSHOT_EVERY", "3"),
            ("CKPT_DETECT", "machine-check"),
            ("TEST_STRIKES", "14"),
            ("TEST_LOST", list),
        ];
        run("loses", &variables)
    };
    let ended = lost("matrix");
    assert_eq!(
        (ended.code, &ended.stdout),
        (Some(0), &plain.stdout),
        "{}",
        ended.stderr
    );
    let told = "warning[W2412]: the machine has lost 4096 bytes of `matrix` of `loses`; they were put back from the snapshot of site visit ";
    assert_eq!(ended.stderr.matches(told).count(), 1, "{}", ended.stderr);
    // The same as a fault of the runtime's, for programs that lose nothing themselves.
    let variables = [
        ("CKPT_EVERY", "4"),
        ("CKPT_SNAPSHOT_EVERY", "3"),
        ("CKPT_DETECT", "machine-check"),
        ("CKPT_FAULT", "flip:7:3:page,11:9:page"),
    ];
    let ended = run("loses", &variables);
    assert_eq!(
        (ended.code, &ended.stdout),
        (Some(0), &plain.stdout),
        "{}",
        ended.stderr
    );
    assert_eq!(ended.stderr.matches(told).count(), 2, "{}", ended.stderr);
    // Of its own the function may have written to it since.
    let ended = lost("own");
    assert_ne!(ended.stdout, plain.stdout, "{}", ended.stderr);
    assert!(!ended.stderr.contains("W2412"), "{}", ended.stderr);
}

/// Of the function that the session ends with.
#[test]
fn what_the_machine_loses_of_the_outermost_functions_list_is_put_back() {
    let plain = run("outermost", &[]);
    assert_eq!(plain.code, Some(0), "{}", plain.stderr);
    let variables = [
        ("CKPT_EVERY", "4"),
        ("CKPT_SNAPSHOT_EVERY", "3"),
        ("CKPT_DETECT", "machine-check"),
        ("CKPT_FAULT", "flip:7:3:page,11:9:page"),
    ];
    let ended = run("outermost", &variables);
    assert_eq!(
        (ended.code, &ended.stdout),
        (Some(0), &plain.stdout),
        "{}",
        ended.stderr
    );
    let told = "warning[W2412]: the machine has lost 4096 bytes of `";
    assert_eq!(ended.stderr.matches(told).count(), 2, "{}", ended.stderr);
    // While the variables are dropped, what they have changes: nothing is put back. (The machine would say it again and end the process.)
    let ended = run("outermost", &[&variables[..3], &[("TEST_LOST", "1")]].concat());
    assert_eq!(ended.stdout, plain.stdout, "{}", ended.stderr);
    assert!(!ended.stderr.contains("W2412"), "{}", ended.stderr);
}

#[test]
fn a_detector_of_the_programs_sends_it_back() {
    let plain = run("tanks", &[]);
    assert_eq!(plain.code, Some(0), "{}", plain.stderr);
    for snapshots in [&[("CKPT_SNAPSHOT_EVERY", "1")][..], &[]] {
        let every = [&[("CKPT_EVERY", "4")][..], snapshots].concat();
        let whole = run("tanks", &every);
        assert_eq!(whole.stdout, plain.stdout, "{}", whole.stderr);
        for step in ["5", "10", "18"] {
            let ended = run("tanks", &[&every[..], &[("TEST_STRIKES", step)]].concat());
            assert_eq!(ended.code, Some(0), "{}", ended.stderr);
            let told = "`tanks` of `tanks` (tests/rollback/src/main.rs:";
            assert!(ended.stderr.contains(told), "{}", ended.stderr);
            let told = ") is not plausible, says `Tank::holds_all`";
            assert_eq!(ended.stderr.matches(told).count(), 1, "{}", ended.stderr);
            let (last, whole) = (ended.stdout.lines().last(), plain.stdout.lines().last());
            assert_eq!(last, whole, "{step}: {}", ended.stderr);
            assert!(is_one_process(&ended), "{}", ended.stderr);
        }
    }
}

/// They lie before the place that it came to once, each behind the one before.
#[test]
fn errors_that_have_nothing_to_do_with_each_other_are_not_counted_together() {
    let settings = [("CKPT_EVERY", "2"), ("CKPT_KEEP", "all")];
    let ended = run("unlucky", &settings);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert_eq!(ended.rollbacks, 6, "{}", ended.stderr);
    let sum = (1..=24_u64).fold(0_u64, |sum, step| sum.wrapping_mul(31).wrapping_add(step));
    assert_eq!(ended.stdout, format!("{sum}\n"));
    assert!(is_one_process(&ended), "{}", ended.stderr);
    // What was wrong may have come into the newer ones.
    assert!(
        !ended.stderr.contains("goes back to checkpoint 000002"),
        "{}",
        ended.stderr
    );
    // By turns they come for ever.
    let ended = run("doomed", &settings);
    assert_eq!(ended.code, Some(101), "{}", ended.stderr);
    let told = "E2388: the program has gone back 12 times and came no further than to site visit 20";
    assert!(ended.stderr.contains(told), "{}", ended.stderr);
    assert_eq!(ended.rollbacks, 12, "{}", ended.stderr);
}

#[test]
fn a_detector_that_says_no_each_time_ends_the_run() {
    let ended = run("leaking", &[("CKPT_EVERY", "4")]);
    assert_eq!(ended.code, Some(77), "{}", ended.stderr);
    let told = "is not plausible, says `Tank::holds_all`, and the program cannot go back: E2388: the program has gone back 3 times";
    assert!(
        ended.stderr.contains("error[E2397]: `tanks` of `tanks` "),
        "{}",
        ended.stderr
    );
    assert!(ended.stderr.contains(told), "{}", ended.stderr);
    // Also where a test would turn bits later.
    let ended = run("leaking", &[("CKPT_EVERY", "4"), ("CKPT_FAULT", "flip:900:3")]);
    assert_eq!(ended.code, Some(77), "{}", ended.stderr);
    assert!(ended.stderr.contains(told), "{}", ended.stderr);
    let settings = [("CKPT_EVERY", "11"), ("CKPT_SNAPSHOT_EVERY", "1")];
    let ended = run("leaking", &settings);
    assert_eq!(ended.code, Some(77), "{}", ended.stderr);
    assert!(
        ended.stderr.contains("cannot go back: E2387: "),
        "{}",
        ended.stderr
    );
}

#[test]
fn what_becomes_no_number_each_time_is_the_programs_own() {
    let plain = run("nan", &[]);
    let ended = run("nan", &DETECTS);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let told = "there is a NaN or an infinity in `cells` of `gets_a_nan`, and was none";
    assert!(ended.stderr.contains(told), "{}", ended.stderr);
    assert_eq!(
        ended.stderr.matches("warning[W2096]").count(),
        1,
        "{}",
        ended.stderr
    );
    assert_eq!(
        ended.stdout.lines().last(),
        plain.stdout.lines().last(),
        "{}",
        ended.stderr
    );
}

#[test]
fn what_is_no_number_at_times_is_told_of_once() {
    let plain = run("nan-at-times", &[]);
    for settings in [&DETECTS[..], &[("CKPT_DETECT", "nan"), ("CKPT_EVERY", "1")]] {
        let ended = run("nan-at-times", settings);
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        let told = ended.stderr.matches("warning[W2096]").count();
        assert_eq!(told, 1, "{}", ended.stderr);
        assert_eq!(ended.stdout.lines().last(), plain.stdout.lines().last());
    }
}

#[test]
fn a_snapshot_that_is_damaged_is_passed_over() {
    let plain = run("weighted", &[]);
    for (kept, goes_back) in [
        ("2", "that of site visit 11 is taken"),
        ("1", "checkpoint 000002 is taken"),
    ] {
        let fault = "flip:12:5:snapshot";
        let settings = [
            ("CKPT_SNAPSHOTS", kept),
            ("CKPT_FAULT", fault),
            ("TEST_STRIKES", "12"),
        ];
        let every = [("CKPT_EVERY", "5"), ("CKPT_SNAPSHOT_EVERY", "1")];
        let ended = run("weighted", &[&every[..], &settings].concat());
        assert_eq!((ended.code, ended.flips), (Some(0), 1), "{}", ended.stderr);
        assert!(ended.stderr.contains("warning[W2095]"), "{}", ended.stderr);
        assert!(ended.stderr.contains(goes_back), "{}", ended.stderr);
        assert_eq!(
            ended.stdout.lines().last(),
            plain.stdout.lines().last(),
            "{}",
            ended.stderr
        );
        assert!(is_one_process(&ended), "{}", ended.stderr);
    }
}

#[test]
fn what_is_wrong_without_a_way_back_ends_the_run() {
    let settings = [
        ("CKPT_EVERY", "20"),
        ("CKPT_SNAPSHOT_EVERY", "1"),
        ("CKPT_DETECT", "unchanged"),
    ];
    let ended = (0..50).map(|seed| {
        let fault = format!("flip:8:{seed}");
        run("weighted", &[&settings[..], &[("CKPT_FAULT", &fault)]].concat())
    });
    let ended = { ended }.find(|ended| ended.unchanged == 1).unwrap();
    assert_eq!(ended.code, Some(77), "{}", ended.stderr);
    let told = "error[E2391]: `weights` of `weighted` has changed, and no statement has written to it, and the program \
                cannot go back: E2387: the run has no checkpoint yet to go back to";
    assert!(ended.stderr.contains(told), "{}", ended.stderr);
}

#[test]
fn what_is_in_no_variable_is_no_surprise() {
    for (program, stays) in [
        ("set-once", false),
        ("hook", true),
        ("signals", true),
        ("exits", false),
        ("scopes", false),
        ("destructors", false),
        ("exits-on-the-way", false),
        ("handler", false),
    ] {
        let plain = run(program, &[]);
        assert_eq!(plain.code, Some(0), "{program}: {}", plain.stderr);
        let variables = [("CKPT_EVERY", "5"), ("TEST_STRIKES", "12")];
        let ended = run(program, &variables);
        assert_eq!(ended.code, Some(0), "{program}: {}", ended.stderr);
        assert!(
            ended.stderr.contains("goes back to"),
            "{program}: {}",
            ended.stderr
        );
        assert_eq!(ended.stdout, plain.stdout, "{program}: {}", ended.stderr);
        assert_eq!(is_one_process(&ended), stays, "{program}: {}", ended.stderr);
        assert!(
            program != "handler" || ended.stderr.contains("E2336"),
            "{}",
            ended.stderr
        );
        // Where the user wants a new process each time it is one.
        let ended = run(
            program,
            &[&variables[..], &[("CKPT_ROLLBACK_IN_PROCESS", "0")]].concat(),
        );
        assert_eq!(
            (ended.code, &ended.stdout),
            (Some(0), &plain.stdout),
            "{program}: {}",
            ended.stderr
        );
        assert!(!is_one_process(&ended), "{program}: {}", ended.stderr);
    }
}
