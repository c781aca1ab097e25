//! Many numbers in a few: smallest, largest, mean, and how many are not finite.

use ckpt::store::{Integer, Node, NodeKind, Restored};
use serde::Serialize;

use super::is_number;
use crate::failure::Outcome;
use crate::stores::checkpoint::unreadable;

/// Read at once, so that a dataset of any size fits.
const CHUNK: u64 = 1 << 20;

/// A dataset of numbers in short.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Summary {
    /// The smallest finite number.
    pub min: f64,
    /// The largest finite number.
    pub max: f64,
    /// Mean of the finite numbers.
    pub mean: f64,
    /// How many are NaN or infinite.
    pub not_finite: u64,
    /// Smallest and largest integer, as they are.
    #[serde(skip)]
    exact: Option<(Integer, Integer)>,
}

/// Adds numbers up.
#[derive(Debug)]
struct Running {
    min: f64,
    max: f64,
    /// Kahan's sum: the mean of a billion numbers is still right.
    sum: f64,
    lost: f64,
    finite: u64,
    not_finite: u64,
}

impl Running {
    fn new() -> Self {
        Running {
            min: f64::INFINITY,
            max: f64::NEG_INFINITY,
            sum: 0.0,
            lost: 0.0,
            finite: 0,
            not_finite: 0,
        }
    }

    fn add(&mut self, value: f64) {
        if !value.is_finite() {
            self.not_finite += 1;
            return;
        }
        self.finite += 1;
        self.min = self.min.min(value);
        self.max = self.max.max(value);
        let corrected = value - self.lost;
        let sum = self.sum + corrected;
        self.lost = (sum - self.sum) - corrected;
        self.sum = sum;
    }

    fn finish(self) -> Summary {
        let none = self.finite == 0;
        let or_nan = |value: f64| if none { f64::NAN } else { value };
        Summary {
            min: or_nan(self.min),
            max: or_nan(self.max),
            mean: or_nan(self.sum / self.finite as f64),
            not_finite: self.not_finite,
            exact: None,
        }
    }
}

/// Adds integers up: in halves, so that none is lost.
#[derive(Debug, Default)]
struct RunningIntegers {
    ends: Option<(Integer, Integer)>,
    upper: i128,
    lower: u128,
    number: u64,
}

impl RunningIntegers {
    fn add(&mut self, value: Integer) {
        let (least, most) = self.ends.unwrap_or((value, value));
        self.ends = Some((least.min(value), most.max(value)));
        let (upper, lower) = value.halves();
        self.upper += upper;
        self.lower += u128::from(lower);
        self.number += 1;
    }

    fn mean(&self) -> f64 {
        let upper = self.upper + (self.lower >> 64) as i128;
        let lower = self.lower & u128::from(u64::MAX);
        let sum = match i64::try_from(upper) {
            Ok(upper) => ((i128::from(upper) << 64) | lower as i128) as f64,
            Err(_) => upper as f64 * 2_f64.powi(64) + lower as f64,
        };
        sum / self.number as f64
    }
}

/// Describes a dataset of numbers; nothing if it holds something else or nothing.
pub fn summary(checkpoint: &Restored, node: &Node) -> Outcome<Option<Summary>> {
    let NodeKind::Dataset { dtype, elements, .. } = &node.kind else {
        return Ok(None);
    };
    if !is_number(dtype) || *elements == 0 {
        return Ok(None);
    }
    let mut running = Running::new();
    let mut integers = RunningIntegers::default();
    for first in (0..*elements).step_by(CHUNK as usize) {
        let exact = checkpoint
            .integers(node, first, CHUNK)
            .map_err(unreadable(node))?;
        let Some(exact) = exact else {
            let numbers = checkpoint.numbers(node, first, CHUNK).map_err(unreadable(node))?;
            numbers.into_iter().for_each(|number| running.add(number));
            continue;
        };
        for integer in exact {
            running.add(integer.rounded());
            integers.add(integer);
        }
    }
    let mut summary = running.finish();
    if integers.ends.is_some() {
        (summary.exact, summary.mean) = (integers.ends, integers.mean());
    }
    Ok(Some(summary))
}

impl Summary {
    /// `min .. max, mean`.
    pub fn words(&self) -> String {
        let (min, max) = match self.exact {
            Some((min, max)) => (min.to_string(), max.to_string()),
            None => (short(self.min), short(self.max)),
        };
        let finite = format!("{min} .. {max}, mean {}", short(self.mean));
        match self.not_finite {
            0 => finite,
            number if self.min.is_nan() => format!("none of {number} is finite"),
            number => format!("{number} not finite, else {finite}"),
        }
    }
}

/// A number in a table: six digits are enough.
pub fn short(value: f64) -> String {
    let size = value.abs();
    if value == 0.0 || value.fract() == 0.0 && size < 1e9 {
        format!("{value}")
    } else if (1e-3..1e6).contains(&size) {
        let digits = (5 - size.log10().floor() as i32).clamp(0, 9) as usize;
        format!("{value:.digits$}")
    } else {
        format!("{value:.5e}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(list: &[f64]) -> Summary {
        let mut running = Running::new();
        list.iter().for_each(|&value| running.add(value));
        running.finish()
    }

    #[test]
    fn what_is_not_finite_is_counted_apart() {
        let summary = of(&[1.0, 3.0, f64::NAN, f64::INFINITY]);
        assert_eq!(
            (summary.min, summary.max, summary.mean, summary.not_finite),
            (1.0, 3.0, 2.0, 2)
        );
        assert_eq!(of(&[f64::NAN]).words(), "none of 1 is finite");
    }

    #[test]
    fn the_mean_of_many_small_numbers_is_exact_enough() {
        let summary = of(&vec![0.1; 1_000_000]);
        assert!((summary.mean - 0.1).abs() < 1e-16, "{}", summary.mean);
    }

    #[test]
    fn integers_are_exact() {
        let of = |list: &[i128]| {
            let mut running = RunningIntegers::default();
            list.iter().for_each(|&value| running.add(Integer::from(value)));
            (running.ends.unwrap(), running.mean())
        };
        let ends = |least: i128, most: i128| (Integer::from(least), Integer::from(most));
        let far = (1_i128 << 53) + 1;
        assert_eq!(of(&[far, far - 2]), (ends(far - 2, far), (far - 1) as f64));
        assert_eq!(
            of(&[i128::MAX, i128::MIN, -1]),
            (ends(i128::MIN, i128::MAX), -2.0 / 3.0)
        );
        assert_eq!(of(&[i128::MIN; 4]).1, i128::MIN as f64);
        assert_eq!(of(&[-3, -4]).1, -3.5);
    }

    #[test]
    fn numbers_are_short() {
        let list = [0.0, 3.0, 0.123456789, 123456.789, 1.5e-9, 3e20, -0.5];
        let words: Vec<_> = list.iter().map(|&value| short(value)).collect();
        assert_eq!(
            words,
            [
                "0",
                "3",
                "0.123457",
                "123457",
                "1.50000e-9",
                "3.00000e20",
                "-0.500000"
            ]
        );
    }
}
