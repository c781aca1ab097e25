//! The crash test must be believed: it passes a program that restarts rightly and catches every way of being wrong.
//!
//! The program here is a shell script that speaks the library's protocol (`CKPT_*`, `runs/RUN/job.json`, `000001.h5`), so that it
//! can be made wrong at will.

mod noted;
mod schema;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use assert_cmd::Command;
use noted::noted;
use predicates::prelude::*;
use predicates::str::contains;

/// Sums the numbers 1 to 12, one site visit each. `$1` says what goes wrong after a restart.
const PROGRAM: &str = r#"#!/bin/sh
wrong=$1
[ "$wrong" = varies ] && echo "process $$" && exec >/dev/null
i=0; sum=0; id=0; restarted=no
if [ -n "$CKPT_DIR" ]; then
    mkdir -p "$CKPT_DIR"
    if [ "$CKPT_RESTART" = latest ]; then
        file=$(ls "$CKPT_DIR"/*.h5 | tail -1)
        read -r i sum < "$file"; restarted=yes
        id=$(basename "$file" .h5 | sed 's/^0*//')
    fi
fi
case $restarted/$wrong in
    yes/value) sum=$((sum + 1)) ;;
    yes/refuse) echo "ckpt: error: the checkpoint does not fit" >&2; exit 77 ;;
    yes/loud) echo "restarted" ;;
    yes/over) [ "$i" -gt 3 ] && i=$((i + 1)) ;;
    no/more) cat "$0.ran" 2>/dev/null; echo one more >>"$0.ran" ;;
esac
[ $restarted = no ] && echo "start" && : > log
echo "process $$"
while [ $i -lt 12 ]; do
    i=$((i + 1)); sum=$((sum + i))
    echo "step $i: $sum"
    if [ "$wrong" != file ] || [ $restarted = no ]; then
        echo "$i $sum" > last
    fi
    if [ -n "$CKPT_DIR" ]; then
        if [ $((i % CKPT_EVERY)) -eq 0 ]; then
            id=$((id + 1))
            echo "$i $sum" > "$CKPT_DIR/tmp"
            mv "$CKPT_DIR/tmp" "$CKPT_DIR/$(printf %06d $id).h5"
        fi
        [ "$CKPT_FAULT" = "visit:$i" ] && kill -9 $$
    fi
done
case $CKPT_FAULT/$wrong in flip:*/silent) sum=$((sum + 1)) ;; esac
echo "sum $sum"
if [ "$wrong" = short ]; then
    before=$(date +%s%N); j=0
    while [ $j -lt 3000 ]; do j=$((j + 1)); done
    took=$((($(date +%s%N) - before) / 20000000))
    [ $restarted = yes ] && took=$((took + 1))
    echo "took $took"
fi
if [ "$wrong" = order ]; then
    # The first of two methods to be done, by a clock that goes on at checkpoints and where it is asked to wait.
    case $id/$CKPT_FAULT in 0/pause:*:2500) echo "fastest: b" ;; 0/*) echo "fastest: a" ;; *) echo "fastest: b" ;; esac
fi
[ "$wrong" = chance ] && echo >>"$0.runs" && echo "took $(($(wc -l <"$0.runs") / 4)) s"
if [ -n "$CKPT_DIR" ]; then
    run=0123456789abcdef0123456789abcdef
    mkdir -p "$CKPT_DIR/runs/$run"
    cat > "$CKPT_DIR/tmp" <<JSON
{"run":"$run","program":"sum","version":"1.0.0","pid":$$,"host":"h","started":"","updated":"","state":"completed","visits":$i,
 "restarted_from":null,"last_checkpoint":null,"failed_checkpoints":0,"command":["sum"],"reason":null}
JSON
    mv "$CKPT_DIR/tmp" "$CKPT_DIR/runs/$run/job.json"
    case $CKPT_FAULT in flip:*)
        at=${CKPT_FAULT#flip:}
        echo "{\"at\":1,\"run\":\"$run\",\"event\":\"flip\",\"visits\":${at%%:*},\"function\":\"f\",\"variable\":\"v\",\"bit\":3,\"is_unchanged\":false}" \
            > "$CKPT_DIR/runs/$run/events.log"
    esac
    if [ $id -gt 0 ] && [ "$wrong" = order ]; then
        echo "{\"at\":1,\"run\":\"$run\",\"event\":\"checkpoint\",\"id\":1,\"visits\":1,\"waited\":0.0025,\"took\":0.01,\"bytes\":8,\"reason\":\"\"}" \
            > "$CKPT_DIR/runs/$run/events.log"
    fi
fi
exit 0
"#;

fn crashtest(folder: &Path, options: &[&str], wrong: &str) -> assert_cmd::assert::Assert {
    let program = folder.join("sum.sh");
    fs::write(&program, PROGRAM).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-ckpt"));
    command
        .current_dir(folder)
        .args(["crashtest", "--exe", "./sum.sh", "--seed", "1"]);
    noted(command.args(options).args(["--", wrong]).assert())
}

const IGNORE: [&str; 8] = [
    "--ignore",
    "^process",
    "--random",
    "2",
    "--rows",
    "2",
    "--commits",
    "1",
];

#[test]
fn a_program_that_restarts_rightly_passes() {
    let here = tempfile::tempdir().unwrap();
    crashtest(here.path(), &IGNORE, "nothing").success().stdout(
        contains("PASSED")
            .and(contains("compared: last"))
            .and(contains("12 site visits")),
    );
    let left: Vec<_> = fs::read_dir(here.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(left, ["sum.sh"], "the user's folder is as it was");
}

#[test]
fn the_report_is_there_for_scripts_too() {
    let here = tempfile::tempdir().unwrap();
    let options = [&IGNORE[..], &["--format", "json", "--every", "5"]].concat();
    let output = crashtest(here.path(), &options, "nothing")
        .success()
        .get_output()
        .stdout
        .clone();
    let json: serde_json::Value = serde_json::from_slice(&output).unwrap();
    schema::check("crashtest", &json);
    assert_eq!((&json["passed"], &json["seed"]), (&true.into(), &1.into()));
    let trials = json["trials"].as_array().unwrap();
    let visit_7 = trials
        .iter()
        .find(|trial| trial["kills"] == serde_json::json!([{ "visit": 7 }]))
        .unwrap();
    assert_eq!(
        visit_7["resumed"],
        serde_json::json!([1]),
        "killed at visit 7, resumed from the checkpoint at 5"
    );
    assert_eq!(visit_7["verdict"], "same");
    assert_eq!(
        json["checkpoint_bytes"],
        "10 55\n".len(),
        "the largest checkpoint of the script"
    );
    let restarts = trials
        .iter()
        .flat_map(|trial| trial["resumed"].as_array().unwrap());
    let (from_checkpoint, from_start): (Vec<_>, Vec<_>) = restarts.partition(|from| from.is_u64());
    assert_eq!(json["restarts"]["from_checkpoint"], from_checkpoint.len());
    assert_eq!(json["restarts"]["from_start"], from_start.len());
    if cfg!(target_os = "linux") {
        let peak = json["reference"]["peak_bytes"].as_u64().unwrap();
        assert!((100_000..100_000_000).contains(&peak), "of a shell: {peak}");
    }
}

#[test]
fn what_becomes_of_bits_that_are_turned_is_told() {
    for (wrong, fate) in [("nothing", "masked"), ("silent", "silent")] {
        let here = tempfile::tempdir().unwrap();
        let options = [&IGNORE[..], &["--bit-flips", "8"]].concat();
        let as_json = [&options[..], &["--format", "json"]].concat();
        let output = crashtest(here.path(), &as_json, wrong)
            .success()
            .get_output()
            .stdout
            .clone();
        let json: serde_json::Value = serde_json::from_slice(&output).unwrap();
        schema::check("crashtest", &json);
        let trials = json["trials"].as_array().unwrap();
        assert_eq!(trials.len(), 9);
        assert!(
            trials[1..].iter().all(|trial| trial["bits"]["fate"] == fate),
            "{json}"
        );
        let text = crashtest(here.path(), &options, wrong).success();
        match wrong {
            "silent" => text
                .stdout(contains("silent: bit 3 of `v` of `f`, behind visit "))
                .stdout(contains("PASSED: of 8 trials, 8 silent, wrong answer")),
            _ => text.stdout(contains("PASSED: of 8 trials, 8 masked by the program")),
        };
    }
}

#[test]
fn lines_that_vary_by_themselves_are_reported() {
    let here = tempfile::tempdir().unwrap();
    // The line with the process id differs between the uninterrupted runs; after a restart it comes once more.
    crashtest(
        here.path(),
        &["--sites", "1", "--random", "0", "--rows", "0", "--commits", "0"],
        "nothing",
    )
    .code(1)
    .stdout(
        contains("varies: 1 line of stdout")
            .and(contains("process *"))
            .and(contains("FAILED")),
    );
}

/// Few trials with a kill each, of a program that varies.
const FEW: [&str; 10] = [
    "--ignore",
    "^process",
    "--sites",
    "3",
    "--random",
    "0",
    "--rows",
    "0",
    "--commits",
    "0",
];

#[test]
fn what_agreed_by_chance_in_two_uninterrupted_runs_is_no_failure() {
    let here = tempfile::tempdir().unwrap();
    // The first runs, which are compared with one another, all took no time.
    crashtest(here.path(), &FEW, "chance").success().stdout(
        contains("PASSED: 3 restarts")
            .and(contains("    took * s\n"))
            .and(contains(" trials differ from the first uninterrupted run as ")),
    );
    let here = tempfile::tempdir().unwrap();
    let options = [&FEW[..], &["--format", "json"]].concat();
    let assert = crashtest(here.path(), &options, "chance").success();
    let json: serde_json::Value = serde_json::from_slice(&assert.get_output().stdout).unwrap();
    schema::check("crashtest", &json);
    assert_eq!(json["reference"]["runs"], 3);
    assert_eq!(json["trials"][1]["verdict"], "as-runs-differ");
    assert_eq!(json["reference"]["varying"], serde_json::json!(["took * s"]));
    let numbers = &json["reference"]["numbers"];
    assert_eq!(
        numbers["all"].as_u64(),
        numbers["compared"].as_u64().map(|all| all + 1)
    );
}

/// What takes a few milliseconds, in units of twenty.
#[test]
fn a_short_time_is_no_failure_where_it_is_the_same_in_most_runs() {
    let here = tempfile::tempdir().unwrap();
    crashtest(here.path(), &FEW, "short").success().stdout(
        contains("PASSED: 3 restarts").and(contains(" trials differ from the first uninterrupted run as ")),
    );
}

/// Which of several methods is the fastest hangs on which of them has checkpoints.
#[test]
fn an_order_by_time_is_no_failure_where_checkpoints_take_time() {
    let here = tempfile::tempdir().unwrap();
    crashtest(here.path(), &FEW, "order").success().stdout(
        contains("PASSED: 3 restarts")
            .and(contains("    fastest: *\n"))
            .and(contains(" trials differ from the first uninterrupted run as ")),
    );
}

#[test]
fn what_no_uninterrupted_run_has_is_wrong() {
    let here = tempfile::tempdir().unwrap();
    let options = [&FEW[..], &["--format", "json"]].concat();
    let assert = crashtest(here.path(), &options, "value").code(1);
    let json: serde_json::Value = serde_json::from_slice(&assert.get_output().stdout).unwrap();
    schema::check("crashtest", &json);
    assert_eq!(json["reference"]["runs"], 10);
    assert_eq!(json["trials"][1]["verdict"], "different");
}

#[test]
fn an_output_that_varies_in_every_line_is_said_to_tell_nothing() {
    let here = tempfile::tempdir().unwrap();
    let assert = crashtest(
        here.path(),
        &[
            "--stdout-only",
            "--sites",
            "1",
            "--random",
            "0",
            "--rows",
            "0",
            "--commits",
            "0",
        ],
        "varies",
    );
    let said = &assert
        .success()
        .stdout(contains("warning[W3002]").and(contains("PASSED, BUT: ")))
        .get_output()
        .stdout
        .clone();
    let said = String::from_utf8_lossy(said);
    let warning: Vec<&str> = said.lines().filter(|line| line.contains("W3002")).collect();
    noted::compare(warning.join("\n").trim().as_bytes());
}

#[test]
fn a_wrong_value_is_found_and_shown() {
    let here = tempfile::tempdir().unwrap();
    crashtest(here.path(), &IGNORE, "value").code(1).stdout(
        contains("FAILED")
            .and(contains("the line differs"))
            .and(contains("- step 2: 3\n"))
            .and(contains("+ step 2: 4\n"))
            .and(contains(
                "CKPT_FAULT=visit:1 cargo ckpt run --dir again.ckpt.d --every 1 --exe ./sum.sh -- value\n",
            )),
    );
}

#[test]
fn a_left_out_step_is_found() {
    let here = tempfile::tempdir().unwrap();
    crashtest(here.path(), &IGNORE, "over")
        .code(1)
        .stdout(contains("FAILED"));
}

#[test]
fn an_additional_line_after_a_restart_is_found() {
    let here = tempfile::tempdir().unwrap();
    crashtest(here.path(), &IGNORE, "loud")
        .code(1)
        .stdout(contains("+ restarted"));
}

#[test]
fn a_stale_output_file_is_found() {
    let here = tempfile::tempdir().unwrap();
    crashtest(here.path(), &IGNORE, "file")
        .code(1)
        .stdout(contains("last, line 1").and(contains("- 12 78")));
    let only_stdout = [&IGNORE[..], &["--stdout-only"]].concat();
    crashtest(here.path(), &only_stdout, "file").success();
    let other = [&IGNORE[..], &["--compare", "log"]].concat();
    crashtest(here.path(), &other, "file").success();
    let unknown = [&IGNORE[..], &["--compare", "missing.csv"]].concat();
    crashtest(here.path(), &unknown, "file")
        .code(2)
        .stderr(contains("did not write `missing.csv`"));
}

#[test]
fn a_refused_restart_is_a_failure_with_its_message() {
    let here = tempfile::tempdir().unwrap();
    crashtest(here.path(), &IGNORE, "refuse")
        .code(1)
        .stdout(contains("restart 1 ended with exit code 77").and(contains("the checkpoint does not fit")));
}

#[test]
fn without_a_site_nothing_is_tested() {
    let here = tempfile::tempdir().unwrap();
    let script = here.path().join("plain.sh");
    fs::write(&script, "#!/bin/sh\necho hello\n").unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-ckpt"));
    command
        .current_dir(here.path())
        .args(["crashtest", "--exe", "plain.sh"]);
    noted(command.assert())
        .code(1)
        .stderr(contains("visited no site").and(contains("ckpt::checkpoint!()")));
}

#[test]
fn of_a_program_that_prints_more_the_second_time_only_the_end_is_compared() {
    let here = tempfile::tempdir().unwrap();
    let ended = crashtest(here.path(), &IGNORE, "more").success().stdout(
        contains("+ one more")
            .and(contains("--ignore REGEX"))
            .and(contains("PASSED, BUT: ")),
    );
    let said = String::from_utf8_lossy(&ended.get_output().stdout).into_owned();
    let warning: Vec<&str> = said.lines().filter(|line| line.contains("W3008")).collect();
    noted::compare(warning.join("\n").trim().as_bytes());
}

#[test]
fn a_program_that_never_ends_is_told_of_and_given_up() {
    let here = tempfile::tempdir().unwrap();
    let script = here.path().join("stays.sh");
    fs::write(&script, "#!/bin/sh\nexec sleep 1000\n").unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-ckpt"));
    command
        .current_dir(here.path())
        .args(["crashtest", "--run-limit", "2s", "--exe", "stays.sh"]);
    noted(command.assert()).code(1).stderr(
        contains("W2425")
            .and(contains("E3220"))
            .and(contains("did not end within 2")),
    );
}

#[test]
fn a_program_that_fails_by_itself_is_not_tested() {
    let here = tempfile::tempdir().unwrap();
    let script = here.path().join("fails.sh");
    fs::write(&script, "#!/bin/sh\necho no deck >&2; exit 3\n").unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-ckpt"));
    command
        .current_dir(here.path())
        .args(["crashtest", "--exe", "fails.sh"]);
    noted(command.assert())
        .code(1)
        .stderr(contains("exit code 3 when it ran uninterrupted").and(contains("no deck")));
}
