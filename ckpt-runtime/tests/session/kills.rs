//! Killed at a site visit and restarted, a program prints what it would have printed without that.

use crate::process::Job;

crate::tests! {
    without_a_session_nothing_is_written,
    nested_functions_continue_from_every_visit,
    recursion_continues_from_every_visit,
    a_program_by_hand_continues_from_every_visit,
    a_run_of_many_restarts_gives_the_same_output,
    recursion_may_be_thousands_of_calls_deep,
    what_is_killed_between_its_session_and_its_end_has_not_completed,
    events_tell_where_the_time_of_checkpoints_and_restarts_went,
}

fn without_a_session_nothing_is_written() {
    let job = Job::new("nested");
    let ended = job.run(&[]).expect_code(0);
    assert!(ended.stdout.ends_with("ends after 3\n"));
    assert_eq!(ended.stderr, "");
    assert_eq!(std::fs::read_dir(job.folder()).unwrap().count(), 0);
}

/// Kills the program at every visit; the output until then and that of the restart are those of a whole run.
fn continues_from_every_visit(program: &'static str, variables: &[(&str, &str)], visits: u64) {
    let with = |more: &[(&'static str, &str)]| -> Vec<(String, String)> {
        variables
            .iter()
            .chain(more)
            .map(|(name, value)| (name.to_string(), value.to_string()))
            .collect()
    };
    let run = |job: &Job, more: &[(&'static str, &str)]| {
        let variables = with(more);
        let variables: Vec<(&str, &str)> = variables.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
        job.run(&variables)
    };
    let whole = run(&Job::new(program), &[]).expect_code(0);
    let counted = Job::new(program);
    let same = run(&counted, &[("CKPT_EVERY", "1")]).expect_code(0);
    assert_eq!(same.stdout, whole.stdout);
    assert_eq!(counted.job_file()["visits"], visits, "{}", counted.job_file());
    for visit in 1..=visits {
        let job = Job::new(program);
        let fault = format!("visit:{visit}");
        let killed = run(&job, &[("CKPT_EVERY", "1"), ("CKPT_FAULT", &fault)]).expect_killed();
        let rest = run(&job, &[("CKPT_EVERY", "1"), ("CKPT_RESTART", "latest")]).expect_code(0);
        assert_eq!(
            killed.stdout + &rest.stdout,
            whole.stdout,
            "killed at visit {visit}"
        );
        let state = job.job_file();
        assert_eq!(
            (&state["state"], &state["visits"]),
            (&"completed".into(), &visits.into())
        );
    }
}

fn nested_functions_continue_from_every_visit() {
    continues_from_every_visit("nested", &[], 30);
}

fn recursion_continues_from_every_visit() {
    continues_from_every_visit("recursion", &[("TEST_DEPTH", "4")], 10);
}

fn a_program_by_hand_continues_from_every_visit() {
    continues_from_every_visit("manual", &[("TEST_STEPS", "8")], 8);
}

fn a_run_of_many_restarts_gives_the_same_output() {
    let whole = Job::new("nested").run(&[]).expect_code(0);
    let job = Job::new("nested").with("CKPT_EVERY", "3");
    let mut output = job.run(&[("CKPT_FAULT", "visit:3")]).expect_killed().stdout;
    for visit in [6, 9, 12, 21] {
        let fault = format!("visit:{visit}");
        output += &job
            .run(&[("CKPT_FAULT", &fault), ("CKPT_RESTART", "latest")])
            .expect_killed()
            .stdout;
    }
    output += &job.run(&[("CKPT_RESTART", "latest")]).expect_code(0).stdout;
    assert_eq!(output, whole.stdout);
    assert_eq!(job.checkpoints().len(), 2, "two checkpoints stay");
}

fn recursion_may_be_thousands_of_calls_deep() {
    let depth = 3000;
    let job = Job::new("recursion").with("TEST_DEPTH", depth);
    let whole = job.run(&[]).expect_code(0);
    let fault = format!("visit:{}", depth + 1);
    job.run(&[
        ("CKPT_EVERY", fault.trim_start_matches("visit:")),
        ("CKPT_FAULT", &fault),
    ])
    .expect_killed();
    let rest = job.run(&[("CKPT_RESTART", "latest")]).expect_code(0);
    assert_eq!(rest.stdout, whole.stdout);
}

/// With which exit code the process would have ended nobody knows.
fn what_is_killed_between_its_session_and_its_end_has_not_completed() {
    let job = Job::new("steps").with("TEST_STEPS", 5).with("CKPT_EVERY", 2);
    let killed = job
        .run(&[("TEST_LATE", "killed"), ("TEST_EXIT", "1")])
        .expect_killed();
    assert_eq!(job.job_file()["state"], "returned");
    assert_eq!(job.job_file()["visits"], 5);
    let again = job
        .run(&[("CKPT_RESTART", "latest"), ("TEST_EXIT", "1")])
        .expect_code(1);
    assert_eq!(again.stdout, killed.stdout);
    assert_eq!(job.job_file()["state"], "failed");
    let ends = job.run(&[("CKPT_RESTART", "latest")]).expect_code(0);
    assert_eq!(ends.stdout, killed.stdout);
    assert_eq!(job.job_file()["state"], "completed");
    job.run(&[("CKPT_RESTART", "latest")])
        .expect_code(76)
        .expect_message(&["completed at", "nothing to restart"]);
    // Whoever has started the process has seen its exit code.
    let job = Job::new("steps").with("TEST_STEPS", 5);
    job.run(&[("CKPT_EVERY", "2"), ("TEST_LATE", "leaves")])
        .expect_code(0);
    let record = job.job_file();
    assert_eq!(record["state"], "returned");
    let pid = record["pid"].as_u64().unwrap() as u32;
    let run = record["run"].as_str().unwrap().parse().unwrap();
    let noted = ckpt::session::job::Job::note_exit(&job.store(), run, pid, Some(0)).unwrap();
    assert_eq!(noted, Some(ckpt::session::job::State::Completed));
    assert_eq!(job.job_file()["reason"], serde_json::Value::Null);
    // Also where that was another end than the one that the run has told of.
    for (code, state) in [
        (None, ckpt::session::job::State::Returned),
        (Some(5), ckpt::session::job::State::Failed),
    ] {
        let job = Job::new("steps").with("TEST_STEPS", 5);
        let whole = job
            .run(&[("CKPT_EVERY", "2"), ("TEST_EXIT", "256")])
            .expect_code(0);
        let record = job.job_file();
        assert_eq!(record["state"], "completed");
        let pid = record["pid"].as_u64().unwrap() as u32;
        let run = record["run"].as_str().unwrap().parse().unwrap();
        let noted = ckpt::session::job::Job::note_exit(&job.store(), run, pid, code).unwrap();
        assert_eq!(noted, Some(state));
        let again = job.run(&[("CKPT_RESTART", "latest")]).expect_code(0);
        assert_eq!(again.stdout, whole.stdout);
    }
}

/// The parts are no longer than the whole, and what the file takes is said.
fn events_tell_where_the_time_of_checkpoints_and_restarts_went() {
    for background in ["1", "0"] {
        let job = Job::new("nested")
            .with("CKPT_EVERY", 3)
            .with("CKPT_BACKGROUND", background);
        job.run(&[("CKPT_FAULT", "visit:7")]).expect_killed();
        job.run(&[("CKPT_RESTART", "latest")]).expect_code(0);
        let log = std::fs::read_to_string(job.kept("events.log")).expect("the run has one");
        let events = log
            .lines()
            .map(|line| serde_json::from_str(line).expect("a line is an event"));
        let events: Vec<serde_json::Value> = events.collect();
        let of = |name: &str| -> Vec<_> { events.iter().filter(|event| event["event"] == name).collect() };
        let seconds = |value: &serde_json::Value| value.as_f64().expect("a number of seconds");
        for taken in of("checkpoint") {
            let parts = &taken["parts"];
            let (copied, written) = (seconds(&parts["copied"]), seconds(&parts["written"]));
            let synced = seconds(&parts["synced"]);
            assert!(copied > 0.0 && written > 0.0 && synced > 0.0, "{taken}");
            assert!(
                copied + written + synced <= seconds(&taken["took"]) + 1e-6,
                "{taken}"
            );
            assert_eq!(seconds(&parts["agreed"]), 0.0, "{taken}");
            assert!(
                taken["file"].as_u64() > taken["bytes"].as_u64(),
                "a small state: {taken}"
            );
        }
        let resumed = of("resume");
        let [resumed] = resumed[..] else {
            panic!("one restart: {resumed:?}")
        };
        let visits = resumed["id"].as_u64().map(|id| 3 * id);
        assert_eq!(resumed["visits"].as_u64(), visits, "{resumed}");
        let (read, checked) = (seconds(&resumed["read"]), seconds(&resumed["checked"]));
        assert!(read > 0.0 && checked > 0.0, "{resumed}");
        assert!(read + checked <= seconds(&resumed["opened"]), "{resumed}");
        assert!(seconds(&resumed["walked"]) > 0.0, "{resumed}");
    }
}
