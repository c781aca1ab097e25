//! Loops without messages, which ranks go round unequally often: each takes its checkpoints in them at its own pace.

use mpi_tests::{Job, TERM, finished, send, sorted, wait_until, wait_until_heard};

const CHECKED: (&str, &str) = ("CKPT_CHECK_SAFE_POINTS", "1");

fn job() -> Job {
    Job::new("programs/phases")
}

fn uninterrupted(ranks: u32, arguments: &str) -> String {
    let ended = job().ckpt("run", &format!("-n {ranks} --every 100000 --- {arguments}"));
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    ended.stdout
}

/// What was printed before a kill may be printed again; nothing else is.
fn is_the_same(expected: &str, both: &str, context: &str) {
    let (mut wanted, mut found) = (sorted(expected), sorted(both));
    wanted.dedup();
    found.dedup();
    assert_eq!(found, wanted, "{context}");
}

#[test]
fn a_site_is_put_into_each_loop_and_one_behind_it() {
    let mut job = job();
    job.set(CHECKED.0, CHECKED.1);
    let ended = job.ckpt("run", "-n 3 --every 2 --keep all --- 2 4 5");
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    for told in [
        "checkpoints in `for item in chunk..2 * chunk`",
        "checkpoints in `for item in (rank..items).step_by(size)`",
        "checkpoints in `while left > 0.25`",
    ] {
        assert!(ended.stderr.contains(told), "{told}: {}", ended.stderr);
    }
    is_the_same(&uninterrupted(3, "2 4"), &ended.stdout, &ended.stderr);
}

/// On the first rank the first loop has no turn at all.
fn killed_at_every_site(ranks: u32, visits: u32) {
    let expected = uninterrupted(ranks, "2 4");
    for visit in 1..=visits {
        let victim = visit % ranks;
        let mut job = job();
        job.set("CKPT_FAULT", &format!("visit:{visit}@{victim}"));
        let killed = job.ckpt("run", &format!("-n {ranks} --every 1 --keep 3 --- 2 4 10"));
        let context = format!("{ranks} ranks, visit {visit} of rank {victim}: {}", killed.stderr);
        let mut both = killed.stdout;
        if killed.code != Some(0) {
            job.set("CKPT_FAULT", "");
            job.set(CHECKED.0, CHECKED.1);
            // Before the first line there is none to restart from.
            let restarted = job.ckpt("restart", "");
            let none = restarted.code == Some(76) && visit < 3;
            assert!(none || restarted.code == Some(0), "{context}{}", restarted.stderr);
            if none {
                continue;
            }
            both += &restarted.stdout;
        }
        is_the_same(&expected, &both, &context);
    }
}

#[test]
fn killed_at_every_site_the_program_gives_the_same_answer() {
    killed_at_every_site(3, 14);
}

#[test]
#[ignore = "with SWEEPS=all"]
fn killed_at_every_site_two_ranks_give_the_same_answer() {
    killed_at_every_site(2, 20);
}

/// A rank that has come to the end of the loop waits there for the one that has the most to do, and takes its part of the
/// line there: what that one has done is not lost.
#[test]
fn the_newest_of_each_rank_in_the_loop_make_a_line() {
    let expected = uninterrupted(2, "1 12");
    let mut job = job();
    job.set("CKPT_FAULT", "visit:10@1");
    let killed = job.ckpt("run", "-n 2 --every 1 --- 1 12 30");
    assert_ne!(killed.code, Some(0), "{}", killed.stderr);
    assert_eq!(job.lines(&job.store()), ["000001.r0.h5", "000001.r1.h5"]);
    job.set("CKPT_FAULT", "");
    let shown = job.ckpt("verify", "");
    assert_eq!(shown.code, Some(0), "{}", shown.stderr);
    let since = std::time::Instant::now();
    let restarted = job.ckpt("restart", "");
    assert_eq!(restarted.code, Some(0), "{}", restarted.stderr);
    assert!(since.elapsed() < std::time::Duration::from_secs(60));
    // The first rank has waited behind the loop, at its first visit.
    let told = "restarts from checkpoint 000001 (site visit 1)";
    assert!(restarted.stderr.contains(told), "{}", restarted.stderr);
    is_the_same(&expected, &(killed.stdout + &restarted.stdout), &restarted.stderr);
}

#[test]
fn a_signal_in_the_loop_stops_all_ranks() {
    let expected = uninterrupted(3, "1 30");
    let job = job();
    let running = job.start("run", "-n 3 --every 100000 --- 1 30 30");
    let ranks = job.wait_for_ranks(3);
    wait_until(|| job.kept("job.json"));
    wait_until_heard(&ranks, TERM);
    for rank in &ranks {
        send(*rank, "TERM");
    }
    let stopped = finished(running);
    assert_eq!(stopped.code, Some(75), "{}", stopped.stderr);
    assert_eq!(
        job.lines(&job.store()),
        ["000001.r0.h5", "000001.r1.h5", "000001.r2.h5"]
    );
    let restarted = job.ckpt("restart", "");
    assert_eq!(restarted.code, Some(0), "{}", restarted.stderr);
    is_the_same(
        &expected,
        &(stopped.stdout + &restarted.stdout),
        &restarted.stderr,
    );
    assert!(job.ranks().is_empty(), "nothing is left behind");
}
