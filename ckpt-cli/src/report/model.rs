//! What checkpoints were to cost, and how often they pay: J. T. Daly, *A higher order estimate of the optimum checkpoint interval for
//! restart dumps*, FGCS 22(3), 2006, equation 37; the waste is that of its first order.

use serde::Serialize;

use super::{Process, Totals, percent, time};
use crate::render;

/// Time between failures where none has been seen: as the library takes it.
const ASSUMED: f64 = 24.0 * 3600.0;
/// Failures of less running than this tell nothing of how often they come.
const SHORT: f64 = 60.0;

/// What the model says.
#[derive(Debug, Serialize)]
pub struct Advice {
    /// Seconds that the program stands still for a checkpoint.
    pub cost: f64,
    /// Seconds between failures.
    pub between_failures: f64,
    /// Whether failures were seen, or one a day is assumed.
    pub assumed: bool,
    /// Seconds that it ran, where that is too short to tell how often it fails.
    pub too_short: Option<f64>,
    /// Seconds from checkpoint to checkpoint, as it was.
    pub interval: Option<f64>,
    /// The share of the time that this interval costs, by the model.
    pub predicted: Option<f64>,
    /// Seconds from checkpoint to checkpoint, as it pays.
    pub best: f64,
    /// The share of the time that this costs.
    pub at_best: f64,
}

/// What the model makes of a job; nothing before its first checkpoint.
pub fn advice(processes: &[Process], totals: &Totals) -> Option<Advice> {
    let number = totals.checkpoints as f64;
    if totals.checkpoints == 0 {
        return None;
    }
    let cost = totals.waited / number;
    // What goes back loses what it has computed as well.
    let failures = totals.failures + totals.rollbacks;
    let too_short = (failures > 0 && totals.ran < SHORT).then_some(totals.ran);
    let assumed = failures == 0 || too_short.is_some();
    let between_failures = match assumed {
        true => ASSUMED,
        false => totals.ran / failures as f64,
    };
    let interval = interval(processes);
    let best = daly(cost, between_failures);
    Some(Advice {
        cost,
        between_failures,
        assumed,
        too_short,
        interval,
        predicted: interval
            .filter(|_| too_short.is_none())
            .map(|period| of_period(period, cost, between_failures)),
        best,
        at_best: waste(best, cost, between_failures),
    })
}

/// The mean time from one checkpoint to the next of the same process.
pub(super) fn interval(processes: &[Process]) -> Option<f64> {
    let mut gaps = Vec::new();
    for one in processes {
        let times: Vec<f64> = std::iter::once(one.began)
            .chain(one.checkpoints.iter().map(|one| one.at))
            .collect();
        gaps.extend(times.windows(2).map(|pair| pair[1] - pair[0]));
    }
    (!gaps.is_empty()).then(|| gaps.iter().sum::<f64>() / gaps.len() as f64)
}

fn daly(cost: f64, between_failures: f64) -> f64 {
    if cost >= 2.0 * between_failures {
        return between_failures;
    }
    let part = cost / (2.0 * between_failures);
    (2.0 * cost * between_failures).sqrt() * (1.0 + part.sqrt() / 3.0 + part / 9.0) - cost
}

fn waste(interval: f64, cost: f64, between_failures: f64) -> f64 {
    (cost / (interval + cost) + (interval / 2.0 + cost) / between_failures).min(1.0)
}

/// The waste where so much time was measured from one checkpoint to the next, with the wait in it.
fn of_period(period: f64, cost: f64, between_failures: f64) -> f64 {
    waste((period - cost).max(0.0), cost, between_failures)
}

impl Advice {
    /// In a sentence or two.
    pub fn words(&self) -> String {
        let failures = match (self.assumed, self.too_short) {
            (_, Some(ran)) => format!(
                "The program ran for {} only: how often failures come cannot be told from that, and one a day is assumed",
                time(ran)
            ),
            (true, None) => "No failure was seen, so one a day is assumed".to_owned(),
            (false, None) => format!("There was a failure every {}", time(self.between_failures)),
        };
        let was = match (self.interval, self.predicted) {
            (Some(interval), Some(predicted)) => format!(
                "One every {}, as in this run, costs {} of the time",
                time(interval),
                percent(predicted)
            ),
            (Some(interval), None) => format!("This run took one every {}", time(interval)),
            _ => "This run took one".to_owned(),
        };
        format!(
            "A checkpoint costs {}. {failures}. {was}.\nIt pays to take one every {}, which costs {}: `--interval {}`, or `--interval auto`.",
            render::short_time(self.cost * 1e9),
            time(self.best),
            percent(self.at_best),
            // Without spaces, so that it is one word of the command line.
            render::setting(self.best).replace(' ', "")
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_of_a_run_that_was_tried_out_are_not_taken_for_how_often_they_come() {
        let totals = |ran| Totals {
            ran,
            checkpoints: 2,
            failures: 2,
            waited: 0.002,
            ..Totals::default()
        };
        let tried = advice(&[], &totals(0.3)).unwrap();
        assert!(tried.predicted.is_none() && tried.at_best < 0.01 && tried.best > 1.0);
        assert!(
            tried.words().contains("one a day is assumed"),
            "{}",
            tried.words()
        );
        let real = advice(&[], &totals(36_000.0)).unwrap();
        assert!(real.words().contains("a failure every 5 h"), "{}", real.words());
        let cheap = advice(
            &[],
            &Totals {
                waited: 2e-4,
                ..totals(100.0)
            },
        )
        .unwrap();
        assert!(cheap.words().contains("ms`"), "{}", cheap.words());
        let words = cheap.words();
        let typed = words
            .split('`')
            .find(|code| code.starts_with("--interval"))
            .unwrap();
        assert_eq!(typed.split(' ').count(), 2, "one option and one word: {typed}");
    }

    #[test]
    fn the_time_from_one_to_the_next_has_the_wait_in_it() {
        let predicted = of_period(1.0, 0.9, ASSUMED);
        assert!((predicted - 0.9).abs() < 0.001, "{predicted}");
    }

    #[test]
    fn the_best_interval_wastes_least() {
        for (cost, between) in [(1.0, 86400.0), (60.0, 7200.0)] {
            let best = daly(cost, between);
            for factor in [0.3, 3.0] {
                assert!(waste(best * factor, cost, between) > waste(best, cost, between));
            }
        }
    }
}
