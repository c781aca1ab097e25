//! Lines of checkpoints: taken without a message, found again by all ranks, stopped at by all ranks.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use mpi_tests::{Job, TERM, finished, kept_in, send, sorted, wait_until, wait_until_heard};

/// What the ranks print if nothing happens.
fn uninterrupted(ranks: u32, arguments: &str) -> String {
    let ended = Job::new("programs/ring").ckpt("run", &format!("-n {ranks} --- {arguments}"));
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    ended.stdout
}

#[test]
fn ckpt_calls_mpi_for_everything_but_checkpoints() {
    let mut job = Job::new("programs/ring");
    job.set("CKPT_COUNT_MPI_CALLS", "1");
    job.set("CKPT_CHECK_SAFE_POINTS", "1");
    let ended = job.ckpt("run", "-n 3 --every 1 --keep all --- 30");
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let told: Vec<&str> = ended
        .stderr
        .lines()
        .filter(|line| line.contains("calls of MPI"))
        .collect();
    assert_eq!(told.len(), 3, "{}", ended.stderr);
    assert!(
        told.iter().all(|line| line.contains(" 0 at checkpoints")),
        "{told:?}"
    );
    assert_eq!(job.lines(&job.store()).len(), 3 * 30);
}

/// The library that counts calls from outside, built.
fn counter(folder: &Path) -> PathBuf {
    let library = folder.join("calls.so");
    let built = Command::new("cc")
        .args(["-shared", "-fPIC", "-O1", "-o"])
        .arg(&library)
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/src/calls.c"))
        .arg("-ldl")
        .status();
    assert!(
        built.is_ok_and(|status| status.success()),
        "there is a C compiler"
    );
    library
}

#[test]
fn a_run_with_checkpoints_calls_mpi_as_often_as_one_without() {
    let folder = tempfile::tempdir().expect("a folder");
    let library = counter(folder.path());
    let counted = |options: &str, checkpoints: usize| -> Vec<String> {
        let job = Job::new("programs/ring");
        let launcher = format!("'mpirun -n {{n}} env LD_PRELOAD={} {{cmd}}'", library.display());
        let ended = job.ckpt("run", &format!("-n 3 --launcher {launcher} {options} --- 30"));
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        assert_eq!(job.lines(&job.store()).len(), checkpoints);
        let told = ended.stderr.lines().filter_map(|line| {
            let at = line.find("calls seen from outside: ")?;
            Some(line[at..].to_owned())
        });
        let mut told: Vec<String> = told.collect();
        told.sort();
        told
    };
    let without = counted("--every 100000", 0);
    let with = counted("--every 1 --keep all", 3 * 30);
    assert_eq!(without.len(), 3, "{without:?}");
    assert_eq!(with, without);
}

#[test]
fn a_signal_on_one_rank_stops_all_at_the_same_count() {
    let job = Job::new("programs/ring");
    let expected = uninterrupted(3, "100 20");
    let running = job.start("run", "-n 3 --every 1000 --- 100 20");
    let ranks = job.wait_for_ranks(3);
    wait_until(|| job.kept("job.json"));
    wait_until_heard(&ranks, TERM);
    send(ranks[2], "TERM");
    let stopped = finished(running);
    assert_eq!(stopped.code, Some(75), "{}", stopped.stderr);
    let lines = job.lines(&job.store());
    assert_eq!(lines, ["000001.r0.h5", "000001.r1.h5", "000001.r2.h5"]);
    let restarted = job.ckpt("restart", "");
    assert_eq!(restarted.code, Some(0), "{}", restarted.stderr);
    let both = stopped.stdout + &restarted.stdout;
    assert_eq!(sorted(&both), sorted(&expected));
    assert!(job.ranks().is_empty(), "nothing is left behind");
}

/// The number behind these words in what a rank has said.
fn number(said: &str, before: &str) -> u64 {
    let (_, after) = said.split_once(before).expect("it is told");
    let digits = after.split(|c: char| !c.is_ascii_digit()).next();
    digits.and_then(|digits| digits.parse().ok()).expect("a number")
}

#[test]
fn a_signal_is_obeyed_within_half_of_the_time_that_a_run_has_taken() {
    let mut job = Job::new("programs/ring");
    job.set("CKPT_COUNT_MPI_CALLS", "1");
    let stopped = job.ckpt("run", "-n 3 --every 100000 --- 100 20 50");
    assert_eq!(stopped.code, Some(75), "{}", stopped.stderr);
    let visit = number(&stopped.stderr, "(site visit ");
    // A machine that is too busy for three ranks has them wait for each other, and then they look further ahead.
    let behind = number(&stopped.stderr, "to agree, at most ");
    // Step 50 begins with visit 51; visits may become quicker than they were.
    assert!(51 < visit && visit <= 51 + 40 + 2 * behind, "{}", stopped.stderr);
    let restarted = job.ckpt("restart", "");
    assert_eq!(restarted.code, Some(0), "{}", restarted.stderr);
}

/// About thirty in the first seconds, one in five seconds then: the run would have to take minutes for more.
#[test]
fn an_idle_session_has_few_reductions_however_many_visits_there_are() {
    let mut job = Job::new("programs/ring");
    job.set("CKPT_COUNT_MPI_CALLS", "1");
    let ended = job.ckpt("run", "-n 2 --interval 1h --- 4000");
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let told = ended.stderr.lines().filter(|line| line.contains("calls of MPI"));
    let reductions: Vec<u64> = told.map(|line| number(line, "to end; ")).collect();
    assert!(
        reductions.len() == 2 && reductions.iter().all(|own| (2..=60).contains(own)),
        "{}",
        ended.stderr
    );
}

/// Those who have written theirs are told, and all try again.
#[test]
#[ignore = "with SWEEPS=all"]
fn a_rank_that_cannot_stop_yet_holds_nobody() {
    let job = Job::new("programs/ring");
    let expected = uninterrupted(2, "400 20");
    let stopped = job.ckpt("run", "-n 2 --every 100000 --- 400 20 10 1000");
    assert_eq!(stopped.code, Some(75), "{}", stopped.stderr);
    for told in [
        "a thread of the program is running beside it",
        "another rank could not write its part",
    ] {
        assert!(stopped.stderr.contains(told), "{told}: {}", stopped.stderr);
    }
    let restarted = job.ckpt("restart", "");
    assert_eq!(restarted.code, Some(0), "{}", restarted.stderr);
    let both = stopped.stdout + &restarted.stdout;
    assert_eq!(sorted(&both), sorted(&expected));
}

/// The clocks of the ranks differ, and the members of a team come to a site one after the other.
#[test]
fn teams_agree_on_an_interval_and_on_a_signal() {
    let mut job = Job::new("examples/sphot-mpi");
    job.set("CKPT_COUNT_MPI_CALLS", "1");
    let arguments = "2 4000 300";
    let whole = job.ckpt("run", &format!("-n 2 --dir whole --- {arguments}"));
    let running = job.start("run", &format!("-n 2 --interval 100ms --- {arguments}"));
    let ranks = job.wait_for_ranks(2);
    wait_until(|| (!job.lines(&job.store()).is_empty()).then_some(()));
    send(ranks[1], "TERM");
    let stopped = finished(running);
    assert_eq!(stopped.code, Some(75), "{}", stopped.stderr);
    let told = stopped
        .stderr
        .lines()
        .filter(|line| line.contains("calls of MPI"));
    let told: Vec<&str> = told.collect();
    assert!(
        told.iter().all(|line| line.contains(" 0 at checkpoints")),
        "{told:?}"
    );
    let restarted = job.ckpt("restart", "");
    assert_eq!(restarted.code, Some(0), "{}", restarted.stderr);
    assert_eq!(stopped.stdout + &restarted.stdout, whole.stdout);
}

#[test]
fn an_interval_is_agreed_on() {
    let mut job = Job::new("programs/ring");
    job.set("CKPT_CHECK_SAFE_POINTS", "1");
    let ended = job.ckpt("run", "-n 2 --interval 100ms --keep all --- 60 20");
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let lines = job.lines(&job.store());
    assert!(lines.len() >= 4 && lines.len().is_multiple_of(2), "{lines:?}");
    for pair in lines.chunks(2) {
        assert_eq!(pair[0].replace("r0", "r1"), pair[1]);
    }
}

#[test]
fn the_newest_line_that_every_rank_has_whole_is_chosen() {
    let job = Job::new("programs/ring");
    let words = "-n 2 --every 10 --keep all --dir node-{rank}.ckpt.d";
    let whole = job.ckpt("run", &format!("{words} --- 60"));
    assert_eq!(whole.code, Some(0), "{}", whole.stderr);
    let store = |rank: u32| job.folder().join(format!("node-{rank}.ckpt.d"));
    let unfinish = || {
        let path = kept_in(&store(0), "job.json").expect("a record");
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, text.replace("\"completed\"", "\"running\"")).unwrap();
    };
    let damage = |rank: u32, line: &str| {
        let path = store(rank).join(format!("{line}.r{rank}.h5"));
        let mut bytes = fs::read(&path).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 0x40;
        fs::write(path, bytes).unwrap();
    };
    let restart = |ranks: u32| {
        unfinish();
        job.ckpt(
            "restart",
            &format!("-n {ranks} --every 1000 --dir node-{{rank}}.ckpt.d"),
        )
    };
    let expect = |line: &str| {
        let ended = restart(2);
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        assert!(
            ended.stderr.contains(&format!("restarts from checkpoint {line}")),
            "{}",
            ended.stderr
        );
        for printed in ended.stdout.lines() {
            assert!(whole.stdout.contains(printed), "{printed}");
        }
        ended.noted().stderr
    };
    expect("000006");
    fs::remove_file(store(1).join("000006.r1.h5")).unwrap();
    let told = expect("000005");
    assert!(
        told.contains("checkpoint 000006 is passed over: rank 1 does not have it whole"),
        "{told}"
    );
    damage(0, "000005");
    let told = expect("000004");
    assert!(
        told.contains("checkpoint 000005 is passed over: rank 0 does not have it whole"),
        "{told}"
    );
    unfinish();
    let damaged = job
        .ckpt("restart", "5 -n 2 --every 1000 --dir node-{rank}.ckpt.d")
        .noted();
    assert_eq!(damaged.code, Some(76), "{}", damaged.stderr);
    assert!(
        damaged.stderr.contains("checkpoint 000005 cannot be used"),
        "{}",
        damaged.stderr
    );
    let other = restart(3);
    assert_eq!(other.code, Some(77), "{}", other.stderr);
    assert!(
        other.stderr.contains("written by 2 ranks, and this run has 3"),
        "{}",
        other.stderr
    );
    for line in job.lines(&store(1)) {
        fs::remove_file(store(1).join(line)).unwrap();
    }
    let none = restart(2);
    assert_eq!(none.code, Some(76), "{}", none.stderr);
    let told = none
        .stderr
        .matches("there is no checkpoint that all 2 ranks have whole")
        .count();
    assert_eq!(told, 1, "{}", none.stderr);
    let told = "rank 1: there is none that is whole in node-1.ckpt.d";
    assert!(none.stderr.contains(told), "{}", none.stderr);
}

#[test]
fn a_rank_that_dies_is_followed_by_a_restart_of_all() {
    let mut job = Job::new("programs/ring");
    job.set("CKPT_FAULT", "visit:25@1");
    let expected = uninterrupted(2, "50");
    let ended = job.ckpt("run", "-n 2 --every 10 --restarts 5 --backoff 10ms --- 50");
    // The fault is there after the restart as well: no progress between two deaths.
    assert_ne!(ended.code, Some(0), "{}", ended.stderr);
    assert!(
        ended.stderr.contains("restart 1 of 5 from checkpoint 000002"),
        "{}",
        ended.stderr
    );
    assert!(
        ended.stderr.contains("died twice after checkpoint 000002"),
        "{}",
        ended.stderr
    );
    job.set("CKPT_FAULT", "");
    let restarted = job.ckpt("restart", "");
    assert_eq!(restarted.code, Some(0), "{}", restarted.stderr);
    let both = ended.stdout + &restarted.stdout;
    assert!(expected.lines().all(|line| both.contains(line)), "{both}");
    assert!(job.ranks().is_empty(), "nothing is left behind");
}

/// Killed here, packed from the folders of all ranks, and continued elsewhere from one.
#[test]
fn a_store_of_several_ranks_is_packed_and_goes_on_elsewhere() {
    let expected = uninterrupted(2, "50");
    let mut job = Job::new("programs/ring");
    job.set("CKPT_FAULT", "visit:35@1");
    let killed = job.ckpt("run", "-n 2 --every 10 --dir node-{rank}.ckpt.d --- 50");
    assert_ne!(killed.code, Some(0), "{}", killed.stderr);
    let packed = job.ckpt("pack", "--dir node-{rank}.ckpt.d -o ring.tar");
    assert_eq!(packed.code, Some(0), "{}", packed.stderr);

    let there = Job::new("programs/ring");
    fs::copy(job.folder().join("ring.tar"), there.folder().join("ring.tar")).unwrap();
    let unpacked = there.ckpt("unpack", "ring.tar --dir ring.ckpt.d");
    assert_eq!(unpacked.code, Some(0), "{}", unpacked.stderr);
    let verified = there.ckpt("verify", "");
    assert_eq!(verified.code, Some(0), "{}", verified.stderr);
    // A store from elsewhere does not say what is started here.
    let refused = there.ckpt("restart", "");
    assert_eq!(refused.code, Some(78), "{}", refused.stderr);
    let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/../programs/ring/Cargo.toml");
    let restarted = there.ckpt("restart", &format!("--manifest-path {manifest} --bin ring"));
    assert_eq!(restarted.code, Some(0), "{}", restarted.stderr);
    let both = killed.stdout + &restarted.stdout;
    assert!(expected.lines().all(|line| both.contains(line)), "{both}");
}
