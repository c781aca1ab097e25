//! How a run stops: signals, time limits, panics; and what the store says about it afterwards.

use std::io::{BufRead, BufReader, Write};
use std::process::Child;

use rustix::process::{Pid, Signal, kill_process};

use crate::process::Job;

crate::tests! {
    sigterm_takes_a_checkpoint_and_stops_with_75,
    sigusr1_does_the_same,
    ctrl_c_takes_a_checkpoint_and_stops_with_130,
    a_second_ctrl_c_ends_at_once,
    one_press_may_come_as_two_signals,
    without_a_session_ctrl_c_kills,
    who_is_deaf_to_ctrl_c_stays_so,
    a_request_to_stop_is_confirmed_in_the_store,
    a_misspelt_variable_is_told_of_with_and_without_a_session,
    without_a_session_sigterm_kills,
    a_time_limit_stops_with_75,
    an_interval_takes_checkpoints,
    a_panic_is_a_failed_job_that_can_be_restarted,
    a_panic_in_a_checkpoint_leaves_the_last_one,
    a_completed_run_is_not_restarted_by_latest,
    a_run_that_ends_with_an_error_can_be_restarted,
    what_was_printed_before_a_checkpoint_is_not_lost,
    a_checkpoint_that_fails_does_not_stop_the_program,
    the_interval_follows_from_costs_and_failures,
    a_failure_in_the_background_is_told_at_the_end,
    the_end_of_the_process_waits_for_the_disk,
    a_stop_that_could_not_be_carried_out_is_tried_again,
    retention_keeps_as_many_as_asked,
    a_fresh_start_mentions_the_earlier_run,
    a_caught_panic_leaves_the_frames_consistent,
}

/// More steps than a test waits for.
const ENDLESS: u64 = u64::MAX;

fn send(child: &Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).unwrap();
}

/// Waits until the program says that it waits, does something, and lets it go on.
pub fn at_the_wait(child: &mut Child, then: impl FnOnce(&Child)) {
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().unwrap())
        .read_line(&mut line)
        .unwrap();
    assert_eq!(line, "waiting\n");
    then(child);
    // A signal may have ended it already.
    let _ = child.stdin.take().unwrap().write_all(b"\n");
}

fn stops_on(signal: Signal, name: &str, code: i32) {
    let job = Job::new("steps").with("TEST_STEPS", ENDLESS).with("TEST_WAIT", 5);
    let stopped = job.run_while(&[("CKPT_INTERVAL", "1h")], |child| {
        at_the_wait(child, |child| send(child, signal))
    });
    stopped.expect_code(code).expect_message(&[
        "ckpt: ",
        name,
        "checkpoint 000001 is written",
        "CKPT_RESTART=latest",
    ]);
    let state = job.job_file();
    assert_eq!(
        (&state["state"], &state["reason"]),
        (&"stopped".into(), &name.into())
    );
    let visits = state["visits"].as_u64().unwrap();
    assert!(visits >= 5);
    let steps = (visits + 10).to_string();
    let rest = job
        .run(&[("CKPT_RESTART", "latest"), ("TEST_STEPS", &steps)])
        .expect_code(0);
    let whole = Job::new("steps").run(&[("TEST_STEPS", &steps)]).expect_code(0);
    assert_eq!(rest.stdout, whole.stdout);
}

fn sigterm_takes_a_checkpoint_and_stops_with_75() {
    stops_on(Signal::TERM, "SIGTERM", 75);
}

fn sigusr1_does_the_same() {
    stops_on(Signal::USR1, "SIGUSR1", 75);
}

fn ctrl_c_takes_a_checkpoint_and_stops_with_130() {
    stops_on(Signal::INT, "SIGINT", 130);
}

const AGAIN: &str = "press Ctrl-C again to end at once\n";

/// A job that waits in its fifth step, and never ends.
fn waiting() -> Job {
    Job::new("steps").with("TEST_STEPS", ENDLESS).with("TEST_WAIT", 5)
}

/// Presses Ctrl-C, and waits until the program has said what that does.
fn press(child: &mut Child) {
    send(child, Signal::INT);
    let mut line = String::new();
    let mut said = BufReader::new(child.stderr.as_mut().unwrap());
    said.read_line(&mut line).unwrap();
    assert!(
        line.starts_with("ckpt: interrupted: ") && line.ends_with(AGAIN),
        "{line}"
    );
}

fn a_second_ctrl_c_ends_at_once() {
    let job = waiting();
    let ended = job.run_while(&[("CKPT_INTERVAL", "1h")], |child| {
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap())
            .read_line(&mut line)
            .unwrap();
        assert_eq!(line, "waiting\n");
        press(child);
        // It reaches no site before it has been told to go on, which it is not. What comes at once is the same press.
        while child.try_wait().unwrap().is_none() {
            send(child, Signal::INT);
            std::thread::sleep(std::time::Duration::from_millis(150));
        }
        assert!(!child.wait().unwrap().success());
    });
    ended.expect_killed();
    assert!(job.checkpoints().is_empty());
}

/// `timeout -s INT` sends two, to the process and to its group; which of them a loaded machine lets come in time is not known.
fn one_press_may_come_as_two_signals() {
    let ended = waiting().run_while(&[("CKPT_INTERVAL", "1h")], |child| {
        at_the_wait(child, |child| {
            send(child, Signal::INT);
            send(child, Signal::INT);
        })
    });
    ended.expect_code(130).expect_message(&["SIGINT: checkpoint"]);
}

fn without_a_session_ctrl_c_kills() {
    waiting()
        .run_while(&[], |child| at_the_wait(child, |child| send(child, Signal::INT)))
        .expect_killed();
}

/// Shells have jobs in the background ignore interrupts.
fn who_is_deaf_to_ctrl_c_stays_so() {
    let job = waiting();
    let ended = job.run_deaf(&[("CKPT_INTERVAL", "1h")], |child| {
        at_the_wait(child, |child| {
            send(child, Signal::INT);
            send(child, Signal::TERM);
        })
    });
    ended.expect_code(75).expect_message(&["SIGTERM: checkpoint"]);
}

fn a_request_to_stop_is_confirmed_in_the_store() {
    use ckpt::session::stop::listeners;
    let job = waiting();
    let ended = job.run_while(&[("CKPT_INTERVAL", "1h")], |child| {
        at_the_wait(child, |child| {
            let listening = listeners(&job.store(), 1);
            assert!(
                matches!(&*listening, [one] if one.pid == child.id() && !one.has_heard),
                "{listening:?}"
            );
            send(child, Signal::USR1);
            while !listeners(&job.store(), 1)[0].has_heard {
                std::thread::yield_now();
            }
        })
    });
    ended.expect_code(75);
    assert!(listeners(&job.store(), 1).is_empty());
}

fn a_misspelt_variable_is_told_of_with_and_without_a_session() {
    const WRONG: (&str, &str) = ("CKPT_EVRY", "3");
    let says = |others: &[(&str, &str)]| {
        let ended = Job::new("steps")
            .with("TEST_STEPS", 3)
            .run(&[&[WRONG], others].concat());
        ended
            .expect_code(0)
            .stderr
            .matches("warning[W2001]: CKPT_EVRY is set")
            .count()
    };
    assert_eq!(says(&[]), 1);
    assert_eq!(says(&[("CKPT_EVERY", "2")]), 1);
    // It is no note.
    assert_eq!(says(&[("CKPT_QUIET", "1")]), 1);
    assert_eq!(says(&[("CKPT_QUIET", "1"), ("CKPT_EVERY", "2")]), 1);
    let of_rank = |rank| [("OMPI_COMM_WORLD_RANK", rank), ("OMPI_COMM_WORLD_SIZE", "2")];
    assert_eq!((says(&of_rank("0")), says(&of_rank("1"))), (1, 0));
    let ended = Job::new("steps").with("TEST_STEPS", 3).run(&[WRONG]);
    ended.expect_message(&["the program runs without them"]);
}

fn without_a_session_sigterm_kills() {
    let job = Job::new("steps").with("TEST_STEPS", ENDLESS).with("TEST_WAIT", 5);
    job.run_while(&[], |child| at_the_wait(child, |child| send(child, Signal::TERM)))
        .expect_killed();
}

fn a_time_limit_stops_with_75() {
    let job = Job::new("steps")
        .with("TEST_STEPS", ENDLESS)
        .with("CKPT_TIME_LIMIT", "100ms");
    job.run(&[])
        .expect_code(75)
        .expect_message(&["time limit: checkpoint 000001 is written"]);
    assert_eq!(job.job_file()["state"], "stopped");
    let visits = job.job_file()["visits"].as_u64().unwrap();
    job.run(&[("CKPT_RESTART", "latest")]).expect_code(75);
    assert!(
        job.job_file()["visits"].as_u64().unwrap() > visits,
        "the second leg goes on"
    );
}

fn an_interval_takes_checkpoints() {
    let job = Job::new("steps")
        .with("TEST_STEPS", ENDLESS)
        .with("CKPT_INTERVAL", "10ms");
    let ended = job.run_while(&[], |child| {
        while job.checkpoints().len() < 2 {
            std::thread::yield_now();
        }
        child.kill().unwrap();
    });
    ended.expect_killed();
    assert_eq!(job.job_file()["state"], "running");
}

fn a_panic_is_a_failed_job_that_can_be_restarted() {
    let job = Job::new("steps").with("TEST_STEPS", 20).with("CKPT_EVERY", 4);
    job.run(&[("TEST_PANIC", "10")])
        .expect_code(101)
        .expect_message(&["step 10 panics"]);
    let state = job.job_file();
    assert_eq!((&state["state"], &state["visits"]), (&"failed".into(), &9.into()));
    let rest = job.run(&[("CKPT_RESTART", "latest")]).expect_code(0);
    assert_eq!(rest.stdout, Job::new("steps").run(&[("TEST_STEPS", "20")]).stdout);
}

fn a_panic_in_a_checkpoint_leaves_the_last_one() {
    let job = Job::new("steps").with("TEST_STEPS", 20).with("CKPT_EVERY", 4);
    job.run(&[("TEST_BAD_SAVE", "8")]).expect_code(101);
    assert_eq!(job.job_file()["state"], "failed");
    let rest = job.run(&[("CKPT_RESTART", "latest")]).expect_code(0);
    assert_eq!(rest.stdout, Job::new("steps").run(&[("TEST_STEPS", "20")]).stdout);
}

fn a_completed_run_is_not_restarted_by_latest() {
    let job = Job::new("steps").with("TEST_STEPS", 10).with("CKPT_EVERY", 4);
    let whole = job.run(&[]).expect_code(0);
    job.run(&[("CKPT_RESTART", "latest")])
        .expect_code(76)
        .expect_message(&["completed at", "help:", "CKPT_RESTART"]);
    assert_eq!(
        job.run(&[("CKPT_RESTART", "1")]).expect_code(0).stdout,
        whole.stdout
    );
}

fn a_run_that_ends_with_an_error_can_be_restarted() {
    for code in [1, 3] {
        let job = Job::new("steps").with("TEST_STEPS", 10).with("CKPT_EVERY", 4);
        job.run(&[("TEST_EXIT", &code.to_string())]).expect_code(code);
        let state = job.job_file();
        assert_eq!(
            (&state["state"], &state["reason"]),
            (&"failed".into(), &format!("exit code {code}").into())
        );
        // `main` may have called `exit`, and not returned.
        assert_eq!(state["visits"], 10);
        job.run(&[("CKPT_RESTART", "latest")]).expect_code(0);
        assert_eq!(job.job_file()["state"], "completed");
    }
}

fn what_was_printed_before_a_checkpoint_is_not_lost() {
    let job = Job::new("steps").with("TEST_STEPS", 10).with("TEST_PRINT", 3);
    let killed = job
        .run(&[("CKPT_EVERY", "3"), ("CKPT_FAULT", "visit:3")])
        .expect_killed();
    assert_eq!(killed.stdout, "no newline at 3 ");
}

fn a_checkpoint_that_fails_does_not_stop_the_program() {
    let job = Job::new("steps")
        .with("TEST_STEPS", 10)
        .with("TEST_BLOCK", 5)
        .with("CKPT_BACKGROUND", 0)
        .with("CKPT_EVERY", 4);
    let whole = Job::new("steps").run(&[("TEST_STEPS", "10")]);
    let ended = job.run(&[]).expect_code(0);
    assert_eq!(ended.stdout, whole.stdout);
    ended.expect_message(&[
        "warning[W2005]: no checkpoint was taken at site visit 8",
        "warning[W2006]: 1 checkpoint of this run could not be taken",
    ]);
}

fn the_interval_follows_from_costs_and_failures() {
    let job = Job::new("steps")
        .with("TEST_STEPS", 10)
        .with("CKPT_INTERVAL", "auto")
        .with("CKPT_EVERY", 2);
    let interval = |name: &str| job.job_file()["interval"][name].as_f64().unwrap();
    job.run(&[("TEST_EXIT", "3")]).expect_code(3);
    assert!(interval("interval") >= 1.0 && interval("cost") > 0.0 && interval("waste") > 0.0);
    assert_eq!(interval("between_failures"), 86400.0);
    job.run(&[("CKPT_RESTART", "latest"), ("TEST_STEPS", "14")])
        .expect_code(0);
    let history = &job.job_file()["history"];
    assert_eq!((&history["runs"], &history["failures"]), (&1.into(), &1.into()));
    assert!(interval("between_failures") < 50_000.0);
    job.run(&[("CKPT_MTBF", "2h")]).expect_code(0);
    assert_eq!(interval("between_failures"), 7200.0);
}

fn a_failure_in_the_background_is_told_at_the_end() {
    let job = Job::new("steps")
        .with("TEST_STEPS", 10)
        .with("TEST_BLOCK", 10)
        .with("CKPT_EVERY", 10);
    job.run(&[]).expect_code(0).expect_message(&[
        "warning[W2005]: no checkpoint was taken at site visit 10",
        "warning[W2006]: 1 checkpoint of this run could not be taken",
    ]);
}

fn the_end_of_the_process_waits_for_the_disk() {
    for exit in ["0", "1", "3"] {
        let job = Job::new("steps").with("TEST_STEPS", 10).with("CKPT_EVERY", 10);
        job.run(&[("TEST_EXIT", exit)]);
        assert_eq!(job.job_file()["last_checkpoint"], 1);
        job.run(&[("CKPT_RESTART", "1"), ("TEST_STEPS", "12")])
            .expect_code(0);
    }
}

fn a_stop_that_could_not_be_carried_out_is_tried_again() {
    let job = Job::new("steps")
        .with("TEST_STEPS", ENDLESS)
        .with("TEST_BLOCK", 4)
        .with("TEST_WAIT", 5);
    let stopped = job.run_while(&[("CKPT_EVERY", "1000000000000")], |child| {
        at_the_wait(child, |child| send(child, Signal::TERM));
        let mut lines = BufReader::new(child.stderr.as_mut().unwrap()).lines();
        let mut next = || lines.next().unwrap().unwrap();
        let (line, then, what_to_do) = (next(), next(), next());
        assert!(
            line.starts_with("ckpt: warning[W2005]: no checkpoint was taken"),
            "{line}"
        );
        assert!(
            then.contains("the stop waits for its checkpoint") && what_to_do.contains("`--fallback FOLDER`"),
            "{then}\n{what_to_do}"
        );
        std::fs::remove_file(job.store()).unwrap();
        std::fs::create_dir(job.store()).unwrap();
    });
    stopped
        .expect_code(75)
        .expect_message(&["is written", "could not be taken"]);
    assert_eq!(job.checkpoints().len(), 1);
}

fn retention_keeps_as_many_as_asked() {
    for (keep, kept) in [("1", 1), ("3", 3), ("all", 10)] {
        let job = Job::new("steps").with("TEST_STEPS", 10).with("CKPT_EVERY", 1);
        job.run(&[("CKPT_KEEP", keep)]).expect_code(0);
        assert_eq!(job.checkpoints().len(), kept);
    }
}

fn a_fresh_start_mentions_the_earlier_run() {
    let job = Job::new("steps").with("TEST_STEPS", 10).with("CKPT_EVERY", 4);
    job.run(&[("CKPT_FAULT", "visit:4")]).expect_killed();
    job.run(&[("CKPT_FAULT", "visit:4")])
        .expect_message(&["starts from the beginning", "CKPT_RESTART=latest"]);
    assert_eq!(job.run(&[("CKPT_QUIET", "1")]).stderr, "");
}

fn a_caught_panic_leaves_the_frames_consistent() {
    Job::new("shadowing-panic")
        .run(&[("CKPT_EVERY", "1")])
        .expect_code(0);
}
