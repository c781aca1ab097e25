//! Programs that go on in a process that they have forked: it has no session, and that is said.

use crate::process::Job;
use crate::programs::{FORKS_AFTER, OWN_CODE};

crate::tests! {
    a_forked_daemon_goes_on_without_a_session,
    a_fork_goes_on_and_ends_with_its_own_code,
    a_fork_of_a_restart_on_its_way_is_refused,
    a_fork_of_a_restart_by_hand_restores_nothing,
}

/// All threads that a session may have are there.
const VARIABLES: [(&str, &str); 5] = [
    ("CKPT_EVERY", "1"),
    ("CKPT_KEEP", "all"),
    ("CKPT_INTERVAL", "1h"),
    ("CKPT_MEASURE", "1"),
    ("CKPT_BACKGROUND", "0"),
];

/// Checks that the checkpoints end where the program went on elsewhere, and that a restart goes on from there.
fn ends_there(job: &Job, stderr: &str) {
    assert_eq!(stderr.matches("warning[").count(), 1, "{stderr}");
    assert!(
        stderr.contains("warning[W2084]: no checkpoint is taken any more"),
        "{stderr}"
    );
    assert_eq!(job.checkpoints().len() as u64, FORKS_AFTER);
    assert_eq!(job.job_file()["state"], "running", "not completed");
}

fn a_forked_daemon_goes_on_without_a_session() {
    let job = Job::new("forks-daemon");
    let ended = job.run(&VARIABLES).expect_code(0);
    assert_eq!(ended.stdout, "ended elsewhere\n", "{}", ended.stderr);
    ends_there(&job, &ended.stderr);
    let restart = job.run(&[("CKPT_EVERY", "1"), ("CKPT_RESTART", "latest")]);
    assert_eq!(restart.expect_code(0).stdout, "ended\n");
}

fn a_fork_goes_on_and_ends_with_its_own_code() {
    for kind in ["forks-returns", "forks-exits", "forks-by-hand"] {
        let job = Job::new(kind);
        let ended = job.run(&VARIABLES).expect_code(OWN_CODE);
        assert_eq!(ended.stdout, "ended elsewhere\n", "{kind}");
        ends_there(&job, &ended.stderr);
    }
}

fn a_fork_of_a_restart_on_its_way_is_refused() {
    let job = Job::new("forks-walking");
    let first = [VARIABLES[0], VARIABLES[1], ("CKPT_FAULT", "visit:3")];
    job.run(&first).expect_killed();
    let before = job.job_file();
    let again = [VARIABLES[0], VARIABLES[1], ("CKPT_RESTART", "latest")];
    let refused = job.run(&again).expect_code(77);
    refused.expect_message(&["error[E2012]: the restart did not reach the site", "forked"]);
    let after = job.job_file();
    assert_eq!(
        (&before["state"], &after["state"]),
        (&"running".into(), &"running".into())
    );
}

fn a_fork_of_a_restart_by_hand_restores_nothing() {
    let job = Job::new("forks-by-hand");
    job.run(&VARIABLES).expect_code(OWN_CODE);
    std::fs::write(job.folder().join("out.txt"), "changed since").unwrap();
    let restart = [("TEST_PROGRAM", "forks-restores"), ("CKPT_RESTART", "latest")];
    let ended = job.run(&restart).expect_code(OWN_CODE);
    let said = "E2117: this process was forked from the one that opened the session, and has none (78)\nended elsewhere\n";
    assert_eq!(ended.stdout, said);
    let text = std::fs::read_to_string(job.folder().join("out.txt")).unwrap();
    assert_eq!(text, "changed since", "nothing was brought back");
}
