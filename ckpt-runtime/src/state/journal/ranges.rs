//! Parts of a file.

use std::ops::Range;

/// Disjoint ranges of bytes, in order.
#[derive(Debug, Default, Clone)]
pub(super) struct Ranges(Vec<Range<u64>>);

impl Ranges {
    /// Whether all of a range is in them.
    pub fn cover(&self, range: &Range<u64>) -> bool {
        range.is_empty()
            || self
                .0
                .iter()
                .any(|known| known.start <= range.start && range.end <= known.end)
    }

    /// What of a range is not in them.
    pub fn missing(&self, range: Range<u64>) -> Vec<Range<u64>> {
        let mut missing = Vec::new();
        let mut from = range.start;
        for known in &self.0 {
            if known.end <= from {
                continue;
            }
            if known.start >= range.end {
                break;
            }
            if known.start > from {
                missing.push(from..known.start);
            }
            from = known.end;
        }
        if from < range.end {
            missing.push(from..range.end);
        }
        missing
    }

    /// Adds a range; those that touch become one.
    pub fn add(&mut self, range: Range<u64>) {
        if range.is_empty() {
            return;
        }
        let first = self.0.partition_point(|known| known.end < range.start);
        let last = self.0.partition_point(|known| known.start <= range.end);
        let mut all = range;
        for known in &self.0[first..last] {
            all = all.start.min(known.start)..all.end.max(known.end);
        }
        self.0.splice(first..last, [all]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_what_was_not_added() {
        let mut seed = 7_u64;
        let mut next = |below: u64| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (seed >> 33) % below
        };
        for _ in 0..300 {
            let (mut ranges, mut bytes) = (Ranges::default(), [false; 64]);
            for _ in 0..8 {
                let from = next(60);
                let range = from..from + next(64 - from + 1);
                ranges.add(range.clone());
                bytes[range.start as usize..range.end as usize].fill(true);
                let asked = next(30)..30 + next(34);
                let mut missing = [false; 64];
                for part in ranges.missing(asked.clone()) {
                    missing[part.start as usize..part.end as usize].fill(true);
                }
                let expected: Vec<bool> = (0..64)
                    .map(|byte| asked.contains(&byte) && !bytes[byte as usize])
                    .collect();
                assert_eq!(missing.as_slice(), expected);
                assert_eq!(ranges.cover(&asked), !expected.contains(&true));
            }
        }
    }
}
