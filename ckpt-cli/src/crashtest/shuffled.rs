//! Lines whose order is chance: a program that prints a hash table prints the same lines in another order each time. What one run has at a
//! place, no other may have had there.

use std::ops::Range;

use super::text::{Line, Reference};

/// The lines of an output that were the same in another order in all uninterrupted runs that differed in them.
#[derive(Debug, Clone, Default)]
pub enum Shuffled {
    /// No run has differed.
    #[default]
    Unseen,
    /// These, of the first run.
    Lines(Range<usize>),
    /// Some run has had other lines.
    Never,
}

impl Shuffled {
    /// Learns from another run of as many lines.
    pub fn learn(&mut self, lines: &[Line], others: &[&[u8]]) {
        let first: Vec<&[u8]> = lines.iter().map(|line| line.bytes.as_slice()).collect();
        let differs = |at: &usize| first[*at] != others[*at];
        let (Some(from), Some(last)) = (
            (0..first.len()).find(differs),
            (0..first.len()).rev().find(differs),
        ) else {
            return;
        };
        let range = match self {
            Shuffled::Unseen => from..last + 1,
            Shuffled::Lines(before) => from.min(before.start)..(last + 1).max(before.end),
            Shuffled::Never => return,
        };
        *self = match is_same_in_another_order(&first[range.clone()], &others[range.clone()]) {
            true => Shuffled::Lines(range),
            false => Shuffled::Never,
        };
    }
}

fn is_same_in_another_order(some: &[&[u8]], others: &[&[u8]]) -> bool {
    let [mut some, mut others] = [some.to_vec(), others.to_vec()];
    some.sort_unstable();
    others.sort_unstable();
    some == others
}

/// Takes these lines for ones that another uninterrupted run could have had, where they are those of the reference in another order, and
/// other runs have had others. They end with the reference's last line.
pub fn may_be_shuffled(reference: &mut Reference, found: &[&[u8]]) -> bool {
    let Shuffled::Lines(range) = reference.shuffled.clone() else {
        return false;
    };
    let start = reference.lines.len().checked_sub(found.len());
    let Some(from) = start.and_then(|start| range.start.checked_sub(start)) else {
        return false;
    };
    let now = &found[from..from + range.len()];
    let before: Vec<&[u8]> = reference.lines[range.clone()]
        .iter()
        .map(|line| line.bytes.as_slice())
        .collect();
    if !is_same_in_another_order(&before, now) {
        return false;
    }
    for (line, now) in reference.lines[range].iter_mut().zip(now) {
        line.bytes = now.to_vec();
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUNS: [&str; 3] = [
        "counts\nred 3\nlight blue 7\ngreen 5\nend\n",
        "counts\ngreen 5\nred 3\nlight blue 7\nend\n",
        "counts\nlight blue 7\nred 3\ngreen 5\nend\n",
    ];

    /// Whether a restart that ends so is taken for right, where runs have printed these.
    fn allows(runs: &[&str], found: &str) -> bool {
        let mut reference = Reference::of_run(runs[0].as_bytes(), &[]);
        for run in &runs[1..] {
            reference.learn("stdout", run.as_bytes(), &[]).unwrap();
        }
        let lines: Vec<&[u8]> = found.as_bytes().split_inclusive(|byte| *byte == b'\n').collect();
        may_be_shuffled(&mut reference, &lines)
    }

    #[test]
    fn lines_that_come_in_any_order_may_come_in_one_that_was_never_seen() {
        assert!(allows(&RUNS, "counts\nred 3\ngreen 5\nlight blue 7\nend\n"));
        assert!(allows(&RUNS, "green 5\nlight blue 7\nred 3\nend\n"));
    }

    #[test]
    fn they_have_to_be_the_same_lines() {
        assert!(!allows(&RUNS, "counts\nred 3\ngreen 6\nlight blue 7\nend\n"));
        assert!(!allows(&RUNS, "counts\nred 3\nred 3\nlight blue 7\nend\n"));
        // No run has had another order.
        assert!(!allows(&RUNS[..1], RUNS[1]));
        // Another run has had other lines.
        let other = RUNS[1].replace('5', "6");
        assert!(!allows(&[RUNS[0], &other, RUNS[2]], RUNS[1]));
        // A part of them may be missing.
        assert!(!allows(&RUNS, "light blue 7\nred 3\nend\n"));
    }
}
