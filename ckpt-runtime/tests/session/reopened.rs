//! A session can be closed and another one opened in the same process, and finds nothing of the one before it.

use ckpt::store::{Mode, Store};

use crate::process::Job;

crate::tests! {
    sessions_follow_each_other_in_one_process,
    sessions_of_teams_follow_each_other_in_one_process,
    signals_are_the_programs_again_after_the_last_session,
}

fn sessions_follow_each_other_in_one_process() {
    let job = Job::new("reopened");
    let ended = job.run(&[]).expect_code(0);
    assert_eq!(ended.stdout.lines().count(), 3);
    for (round, visits) in [(1, vec![2, 4, 6, 8]), (2, vec![3, 6, 9]), (3, vec![4, 8])] {
        let folder = job.folder().join(format!("store{round}"));
        let store = Store::open(&folder, Mode::ReadOnly).unwrap();
        let entries = store.list().unwrap();
        let first: Vec<u64> = entries
            .iter()
            .map(|entry| entry.meta.as_ref().unwrap().visit)
            .collect();
        // Those of the first session, then of its two restarts.
        assert_eq!(first[..visits.len()], visits);
        let newest = store.newest_whole(&mut |_, _| ()).unwrap().unwrap();
        let statics: Vec<&str> = newest.statics().iter().map(|one| one.key.as_str()).collect();
        assert_eq!(statics.contains(&"OTHER"), round == 1, "{statics:?}");
        // The two restarts have continued the run that the first session began.
        let [said] = &crate::process::jobs_in(&folder)[..] else {
            panic!("there are other runs than that of the first session");
        };
        assert_eq!(
            (&said["state"], &said["restarted_from"]),
            (&"completed".into(), &2.into())
        );
    }
}

fn sessions_of_teams_follow_each_other_in_one_process() {
    let job = Job::new("reopened-team");
    let ended = job.run(&[]).expect_code(0);
    assert_eq!(ended.stdout.lines().count(), 3);
    for round in 1..=3 {
        let store = Store::open(job.folder().join(format!("store{round}")), Mode::ReadOnly).unwrap();
        let newest = store.newest_whole(&mut |_, _| ()).unwrap().unwrap();
        let threads = newest.frames().iter().map(|frame| frame.thread).max();
        assert_eq!(threads, Some(3));
    }
}

fn signals_are_the_programs_again_after_the_last_session() {
    Job::new("reopened")
        .run(&[("TEST_END", "signal")])
        .expect_killed();
}
