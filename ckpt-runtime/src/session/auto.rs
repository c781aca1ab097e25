//! How often a checkpoint pays: often enough to lose little in a failure, seldom enough to cost little.
//!
//! J. W. Young, *A first order approximation to the optimum checkpoint interval*, CACM 17(9), 1974: √(2 C M) for a
//! checkpoint that costs C where a failure comes every M. J. T. Daly, *A higher order estimate of the optimum checkpoint
//! interval for restart dumps*, FGCS 22(3), 2006, equation 37, holds for costly checkpoints too.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Time between failures of a machine that nothing is known of: nodes that fail once in some years, and batch systems and
/// people that end jobs more often than that.
const ASSUMED: Duration = Duration::from_secs(24 * 3600);
/// Until the first checkpoint has shown what one costs.
pub(crate) const FIRST: Duration = Duration::from_secs(60);
/// Checkpoints do not come faster than that, however cheap they are.
const SHORTEST: Duration = Duration::from_secs(1);

/// What is known of the processes that ran on a store before.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct History {
    /// How many they were.
    pub runs: u64,
    /// How many of them were killed, or failed.
    pub failures: u64,
    /// How long they ran, all together, in seconds.
    pub seconds: f64,
}

/// An interval that follows from what checkpoints cost.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// Seconds from one checkpoint to the next.
    pub interval: f64,
    /// Seconds that the program waits for one.
    pub cost: f64,
    /// Seconds between failures.
    pub between_failures: f64,
    /// The share of the time that is lost: in waiting for checkpoints, and in doing again what failures undo.
    pub waste: f64,
}

/// Finds the interval while the program runs.
#[derive(Debug)]
pub(crate) struct Auto {
    between_failures: Duration,
    /// What a checkpoint costs, once one has been taken.
    cost: Option<Duration>,
}

impl Auto {
    /// `given` overrules what earlier processes have seen.
    pub fn new(given: Option<Duration>, history: &History) -> Auto {
        // Until failures were seen, one in the assumed time counts.
        let seen = (history.seconds + ASSUMED.as_secs_f64()) / (history.failures as f64 + 1.0);
        Auto {
            between_failures: given.unwrap_or(Duration::from_secs_f64(seen)),
            cost: None,
        }
    }

    /// The interval until a checkpoint has been taken.
    pub fn first(&self) -> Duration {
        FIRST
    }

    /// A checkpoint made the program wait for so long.
    pub fn taken(&mut self, waited: Duration) -> Estimate {
        // The first one finds memory that was never touched; later ones count more.
        let cost = self.cost.map_or(waited, |cost| (cost + waited) / 2);
        self.cost = Some(cost);
        estimate(cost, self.between_failures)
    }
}

fn estimate(cost: Duration, between_failures: Duration) -> Estimate {
    let interval = daly(cost.as_secs_f64(), between_failures.as_secs_f64()).max(SHORTEST.as_secs_f64());
    let (cost, between_failures) = (cost.as_secs_f64(), between_failures.as_secs_f64());
    Estimate {
        interval,
        cost,
        between_failures,
        waste: cost / (interval + cost) + (interval / 2.0 + cost) / between_failures,
    }
}

/// The best time between checkpoints that cost `cost`, with a failure every `between_failures`; all in seconds.
fn daly(cost: f64, between_failures: f64) -> f64 {
    if cost >= 2.0 * between_failures {
        return between_failures;
    }
    let part = cost / (2.0 * between_failures);
    (2.0 * cost * between_failures).sqrt() * (1.0 + part.sqrt() / 3.0 + part / 9.0) - cost
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: f64 = 3600.0;

    /// Daly's model of the run time (equation 20) for one unit of work.
    fn run_time(interval: f64, cost: f64, between_failures: f64) -> f64 {
        between_failures * (((interval + cost) / between_failures).exp() - 1.0) / interval
    }

    #[test]
    fn no_other_interval_is_better_by_the_model() {
        for (cost, between_failures) in [
            (1.0, 24.0 * HOUR),
            (60.0, 24.0 * HOUR),
            (300.0, 2.0 * HOUR),
            (0.01, HOUR),
        ] {
            let best = daly(cost, between_failures);
            let at_best = run_time(best, cost, between_failures);
            for factor in [0.25, 0.5, 0.8, 1.25, 2.0, 4.0] {
                assert!(run_time(best * factor, cost, between_failures) > at_best);
            }
        }
    }

    #[test]
    fn cheap_checkpoints_follow_young() {
        let (cost, between_failures) = (0.5_f64, 24.0 * HOUR);
        let young = (2.0 * cost * between_failures).sqrt();
        assert!((daly(cost, between_failures) / young - 1.0).abs() < 0.01);
    }

    #[test]
    fn failures_that_were_seen_shorten_the_interval() {
        let calm = History {
            runs: 1,
            failures: 0,
            seconds: 100.0 * HOUR,
        };
        let rough = History {
            runs: 50,
            failures: 50,
            seconds: 100.0 * HOUR,
        };
        let interval = |history| Auto::new(None, &history).taken(Duration::from_secs(2)).interval;
        assert!(interval(rough) < interval(History::default()));
        assert!(interval(History::default()) < interval(calm));
        let told = Auto::new(Some(Duration::from_secs(3600)), &calm).taken(Duration::from_secs(2));
        assert_eq!(told.between_failures, HOUR);
    }

    #[test]
    fn what_costs_nothing_is_not_done_all_the_time() {
        let estimate = Auto::new(None, &History::default()).taken(Duration::ZERO);
        assert_eq!(estimate.interval, 1.0);
    }
}
