//! How many numbers lie where.

use ckpt::store::{Node, NodeKind, Restored};

use super::summary::summary;
use crate::failure::Outcome;
use crate::stores::checkpoint::unreadable;

/// Read at once, so that a dataset of any size fits.
const CHUNK: u64 = 1 << 20;
/// Parts of equal width.
const PARTS: usize = 60;

/// The finite numbers of a dataset, counted.
#[derive(Debug, Clone, PartialEq)]
pub struct Histogram {
    /// The smallest.
    pub from: f64,
    /// The largest.
    pub to: f64,
    /// How many lie in each part, the last with its upper end.
    pub counts: Vec<u64>,
    /// How many are NaN or infinite, and in no part.
    pub not_finite: u64,
}

impl Histogram {
    /// Counts; nothing where there are no finite numbers.
    pub fn of(checkpoint: &Restored, node: &Node) -> Outcome<Option<Histogram>> {
        let NodeKind::Dataset { elements, .. } = &node.kind else {
            return Ok(None);
        };
        let Some(summary) = summary(checkpoint, node)?.filter(|summary| summary.min <= summary.max) else {
            return Ok(None);
        };
        let mut histogram = Histogram::between(summary.min, summary.max);
        for first in (0..*elements).step_by(CHUNK as usize) {
            let numbers = checkpoint.numbers(node, first, CHUNK).map_err(unreadable(node))?;
            numbers.into_iter().for_each(|number| histogram.add(number));
        }
        Ok(Some(histogram))
    }

    fn between(from: f64, to: f64) -> Histogram {
        Histogram {
            from,
            to,
            counts: vec![0; PARTS],
            not_finite: 0,
        }
    }

    fn add(&mut self, number: f64) {
        if !number.is_finite() {
            self.not_finite += 1;
            return;
        }
        // Halves: the difference of two finite numbers may be none.
        let width = self.to / 2.0 - self.from / 2.0;
        let share = match width > 0.0 {
            true => (number / 2.0 - self.from / 2.0) / width,
            false => 0.5,
        };
        let part = (share * PARTS as f64) as usize;
        self.counts[part.min(PARTS - 1)] += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_finite_number_is_in_one_part() {
        let mut histogram = Histogram::between(-1.0, 2.0);
        for number in [-1.0, 2.0, 0.5, 1.999, f64::NAN, f64::INFINITY] {
            histogram.add(number);
        }
        assert_eq!((histogram.counts[0], histogram.counts[30]), (1, 1));
        assert_eq!((histogram.counts[PARTS - 1], histogram.not_finite), (2, 2));
        let mut widest = Histogram::between(f64::MIN, f64::MAX);
        [f64::MIN, 0.0, f64::MAX]
            .into_iter()
            .for_each(|number| widest.add(number));
        assert_eq!(
            (widest.counts[0], widest.counts[30], widest.counts[PARTS - 1]),
            (1, 1, 1)
        );
        let mut one = Histogram::between(3.0, 3.0);
        one.add(3.0);
        assert_eq!(one.counts.iter().sum::<u64>(), 1);
    }
}
