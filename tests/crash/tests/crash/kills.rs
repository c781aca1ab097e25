//! SIGKILL at random instants.

use crate::victim::{FINISHED, Job, MODES, NOTHING_TO_RESTART, expect_end_of};
use std::time::{Duration, Instant};

const KILLS: u32 = 100;
/// The same in each of the other modes, unless `CKPT_CRASH_KILLS` says how many.
const KILLS_IN_MODES: u32 = 3;

#[test]
fn a_hundred_kills_at_random_instants() {
    kill(&Job::new(20_000), KILLS);
}

#[test]
fn kills_at_random_instants_in_every_mode() {
    let wish = std::env::var("CKPT_CRASH_KILLS").ok();
    let kills = wish.and_then(|wish| wish.parse().ok()).unwrap_or(KILLS_IN_MODES);
    for mode in MODES {
        println!("{}:", mode.name);
        kill(&Job::in_mode(2_000, mode), kills);
    }
}

fn kill(job: &Job, wanted: u32) {
    let reference = job.reference();
    let begun = Instant::now();
    let whole = job.every(3).run();
    assert_eq!(whole.stdout, reference, "{}", whole.stderr);
    // Shortened whenever a run is over before its kill: how fast a run is changes with what else the machine does.
    let mut longest = begun.elapsed();
    let mut job = job.again();
    let (mut kills, mut runs, mut finished, mut seed) = (0, 0, 0, 7u64);
    let mut began = false;
    while kills < wanted {
        runs += 1;
        // Runs that were over before their kill came do not count; there must not be too many.
        assert!(
            runs < 4 * wanted + 20,
            "only {kills} of {runs} runs could be killed"
        );
        seed = seed
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        let delay = longest
            .mul_f64((seed >> 40) as f64 / (1u64 << 24) as f64 / 2.0)
            .max(Duration::from_millis(1));
        let runner = if began { job.restart(3) } else { job.every(3) };
        began = true;
        match runner.run_for(delay) {
            Err(_killed) => {
                kills += 1;
                longest = longest.mul_f64(1.01);
            }
            Ok(run) if run.ended == FINISHED => {
                expect_end_of(&reference, &run);
                finished += 1;
                longest = longest.mul_f64(0.9);
                (job, began) = (job.again(), false);
            }
            Ok(run) => {
                assert_eq!(run.ended, NOTHING_TO_RESTART, "{}", run.stderr);
                // The kill before came too early for a checkpoint, or between the end of the run and its exit.
                let completed = run.stderr.contains("completed at");
                assert!(completed || job.checkpoints().is_empty(), "{}", run.stderr);
                (job, began) = (job.again(), false);
            }
        }
    }
    let last = job.restart(3).run();
    if last.ended == FINISHED {
        expect_end_of(&reference, &last);
        finished += 1;
    }
    assert!(finished > 0, "{}", last.stderr);
    println!("{kills} kills, {finished} runs finished in between");
}
