//! Standard output over a kill: what was printed cannot be taken back, so a restarted program prints again what came
//! after its checkpoint. The outputs are right if together they are the uninterrupted output with repetitions:
//! the first (killed) is a prefix of it, the last a suffix, each one between begins somewhere in what is covered
//! already, and nothing is left out.

use regex::Regex;

use super::text::{Difference, Reference, kept_lines};
use super::varying::{Alike, Varies};
use super::{ranking, shuffled};

/// A place in the reference: line (an index) and byte in that line.
type Position = (usize, usize);

/// How far an output agrees with the reference from a given start.
enum Agreement {
    /// All of it; it ends here.
    Until(Position, Alike),
    /// Not at this line of the reference, which is this line of the output.
    Not(usize, usize),
}

/// Checks the outputs of the runs of one trial, oldest first; all but the last were killed.
pub fn check(reference: &Reference, outputs: &[&[u8]], ignore: &[Regex]) -> Result<Alike, Box<Difference>> {
    let Some((last, killed)) = outputs.split_last() else {
        return Ok(Alike::Same);
    };
    if reference.unsteady.is_some() {
        return Ok(Alike::AsRunsDiffer);
    }
    let mut covered = (0, 0);
    let mut alike = Alike::Same;
    for (run, output) in killed.iter().enumerate() {
        let lines = Lines::of_killed(output, ignore);
        // Only the first process is bound to begin at the beginning.
        let latest_start = if run == 0 { (0, 0) } else { covered };
        let (end, found) = furthest(reference, &lines, latest_start)?;
        covered = covered.max(end);
        alike = alike.max(found);
    }
    let lines = Lines::of_whole(last, ignore);
    let latest_start = if killed.is_empty() { (0, 0) } else { covered };
    ends_the_reference(reference, &lines, latest_start).map(|found| alike.max(found))
}

/// Why another uninterrupted run may have another answer than all that were seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Chance {
    /// Lines stand in the order of a number that varies.
    Order,
    /// The program draws random numbers that no two runs have alike.
    Draws,
}

/// Whether the outputs of a trial are those that another uninterrupted run could have had.
pub fn could_be(reference: &Reference, outputs: &[&[u8]], ignore: &[Regex], chance: Chance) -> bool {
    match chance {
        Chance::Order => could_be_in_order(reference, outputs, ignore),
        Chance::Draws => could_have_drawn(reference, outputs, ignore),
    }
}

/// Lines may be other ones, but not more of them or fewer, nor such that number them.
fn could_have_drawn(reference: &Reference, outputs: &[&[u8]], ignore: &[Regex]) -> bool {
    let mut reference = reference.clone();
    let Some((last, killed)) = outputs.split_last() else {
        return true;
    };
    let lines = Lines::of_whole(last, ignore).lines;
    let Some(start) = reference.lines.len().checked_sub(lines.len()) else {
        return false;
    };
    let mut found: Vec<(usize, &[u8])> = Vec::new();
    if let Some(first) = killed.first() {
        let lines = Lines::of_killed(first, ignore);
        let whole = lines.lines.len() - usize::from(lines.cut);
        found.extend(lines.lines.into_iter().take(whole).enumerate());
    }
    // The first line may be the rest of one.
    let rest = |index: usize, line: &[u8]| {
        let expected = reference.lines.get(start + index);
        index == 0 && !killed.is_empty() && expected.is_some_and(|expected| expected.bytes.ends_with(line))
    };
    let lines = lines.into_iter().enumerate();
    let others: Vec<_> = lines.filter(|(index, line)| !rest(*index, line)).collect();
    found.extend(others.into_iter().map(|(index, line)| (start + index, line)));
    reference.may_have_drawn(&found) && check(&reference, outputs, ignore).is_ok()
}

/// Nothing may be other than the order of lines: of those that stand in that of a number which varies, and of those whose order is chance.
fn could_be_in_order(reference: &Reference, outputs: &[&[u8]], ignore: &[Regex]) -> bool {
    let Some((last, _)) = outputs.split_last() else {
        return true;
    };
    if check(reference, outputs, ignore).is_ok() {
        return true;
    }
    let mut reference = reference.clone();
    let lines = Lines::of_whole(last, ignore).lines;
    let is_chance =
        shuffled::may_be_shuffled(&mut reference, &lines) || ranking::may_be_in_order(&mut reference, &lines);
    is_chance && check(&reference, outputs, ignore).is_ok()
}

struct Lines<'o> {
    lines: Vec<&'o [u8]>,
    /// The last one is cut off: the process was killed while it wrote.
    cut: bool,
    /// A cut line may be one that the user ignores: then it need not fit.
    cut_may_be_ignored: bool,
}

impl<'o> Lines<'o> {
    fn of_whole(output: &'o [u8], ignore: &[Regex]) -> Self {
        let lines = kept_lines(output, ignore)
            .into_iter()
            .map(|(_, line)| line)
            .collect();
        Lines {
            lines,
            cut: false,
            cut_may_be_ignored: false,
        }
    }

    fn of_killed(output: &'o [u8], ignore: &[Regex]) -> Self {
        let mut lines = Self::of_whole(output, ignore);
        lines.cut = lines.lines.last().is_some_and(|line| !line.ends_with(b"\n"));
        lines.cut_may_be_ignored = !ignore.is_empty();
        lines
    }
}

/// Where the first line of an output may begin in the line `at` of the reference, which has been printed as far as `covered`.
fn first_fits(reference: &Reference, at: usize, lines: &Lines, covered: Position) -> Vec<usize> {
    let (Some(line), Some(first)) = (reference.lines.get(at), lines.lines.first()) else {
        return Vec::new();
    };
    if line.varies != Varies::Nowhere {
        // Of the rest of a line that varies nobody knows which part it is.
        let rest = (at == covered.0 && covered.1 > 0).then_some(covered.1);
        return std::iter::once(0).chain(rest).collect();
    }
    let bytes = &line.bytes;
    if lines.cut && lines.lines.len() == 1 {
        let starts = 0..(bytes.len() + 1).saturating_sub(first.len());
        return starts
            .filter(|&start| bytes[start..].starts_with(first))
            .collect();
    }
    let is_end = bytes.ends_with(first);
    is_end.then(|| bytes.len() - first.len()).into_iter().collect()
}

/// Compares an output with the reference from the line `start` on, whose first byte to compare is `column`.
fn agree(reference: &Reference, lines: &Lines, start: usize, column: usize) -> Agreement {
    let mut alike = Alike::Same;
    for (index, line) in lines.lines.iter().enumerate() {
        let at = start + index;
        let Some(expected) = reference.lines.get(at) else {
            return Agreement::Not(at, index);
        };
        let from = if index == 0 { column } else { 0 };
        let varies = expected.varies != Varies::Nowhere;
        let rest = expected.bytes.get(from..).unwrap_or_default();
        let is_cut = lines.cut && index + 1 == lines.lines.len();
        if is_cut && (varies || rest.starts_with(line)) {
            return Agreement::Until((at, from + line.len()), alike);
        }
        if is_cut && lines.cut_may_be_ignored {
            return Agreement::Until((at, from), alike);
        }
        let found = match varies && from > 0 {
            true => Some(Alike::AsRunsDiffer),
            false if from > 0 => (rest == *line).then_some(Alike::Same),
            false => expected.alike(line),
        };
        match found {
            Some(found) => alike = alike.max(found),
            None => return Agreement::Not(at, index),
        }
    }
    Agreement::Until((start + lines.lines.len(), 0), alike)
}

/// The end of a killed run's output when it begins not after `latest_start`, at the best such place.
fn furthest(
    reference: &Reference,
    lines: &Lines,
    latest_start: Position,
) -> Result<(Position, Alike), Box<Difference>> {
    if lines.lines.is_empty() {
        return Ok(((0, 0), Alike::Same));
    }
    let mut best: Option<(Position, Alike)> = None;
    let mut nearest: Option<(usize, usize)> = None;
    // What begins at an earlier line ends at an earlier one: the first that fits is the best.
    for start in (0..=latest_start.0).rev() {
        for column in first_fits(reference, start, lines, latest_start)
            .into_iter()
            .rev()
        {
            if (start, column) > latest_start {
                continue;
            }
            match agree(reference, lines, start, column) {
                Agreement::Until(end, alike) if best.is_none_or(|(best, _)| best < end) => {
                    best = Some((end, alike));
                }
                Agreement::Not(at, index) if nearest.is_none_or(|(_, most)| index > most) => {
                    nearest = Some((at, index));
                }
                Agreement::Until(..) | Agreement::Not(..) => {}
            }
        }
        if best.is_some() {
            break;
        }
    }
    let (at, index) = nearest.unwrap_or_default();
    best.ok_or_else(|| reference.difference("stdout", at, lines.lines.get(index).copied()))
}

/// Checks that the last run's output runs to the end of the reference and begins in what is covered.
fn ends_the_reference(
    reference: &Reference,
    lines: &Lines,
    covered: Position,
) -> Result<Alike, Box<Difference>> {
    let total = reference.lines.len();
    let Some(start) = total.checked_sub(lines.lines.len()) else {
        return Err(nearest_difference(reference, lines, covered));
    };
    let columns = match lines.lines.is_empty() {
        true => vec![0],
        false => first_fits(reference, start, lines, covered),
    };
    let mut is_behind = false;
    for column in columns {
        if let Agreement::Until(_, alike) = agree(reference, lines, start, column) {
            if (start, column) <= covered {
                return Ok(alike);
            }
            is_behind = true;
        }
    }
    Err(match is_behind {
        true => gap(reference, covered, start),
        false => nearest_difference(reference, lines, covered),
    })
}

fn gap(reference: &Reference, covered: Position, start: usize) -> Box<Difference> {
    let mut difference = reference.difference("stdout", covered.0, None);
    let missing = (start - covered.0).max(1);
    difference.what = format!(
        "{} printed by neither process: written before the checkpoint, but still in a buffer of \
         the program when it was killed (flush it before the site)",
        match missing {
            1 => "1 line was".to_owned(),
            more => format!("{more} lines were"),
        }
    );
    difference
}

/// No placement is right: show the one that goes well for longest.
fn nearest_difference(reference: &Reference, lines: &Lines, covered: Position) -> Box<Difference> {
    let suffix = reference.lines.len().saturating_sub(lines.lines.len());
    let mut nearest = (suffix, 0);
    for start in (0..=covered.0.min(reference.lines.len())).chain([suffix]) {
        let columns = first_fits(reference, start, lines, covered);
        let column = columns.first().copied().unwrap_or(0);
        let reached = match agree(reference, lines, start, column) {
            Agreement::Not(at, index) => (at, index),
            Agreement::Until(end, _) => (end.0, lines.lines.len()),
        };
        if reached.1 > nearest.1 {
            nearest = reached;
        }
    }
    reference.difference("stdout", nearest.0, lines.lines.get(nearest.1).copied())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reference(text: &str) -> Reference {
        Reference::of_run(text.as_bytes(), &[])
    }

    fn of_two_runs(one: &str, other: &str) -> Reference {
        let mut reference = reference(one);
        reference.learn("stdout", other.as_bytes(), &[]).unwrap();
        reference
    }

    fn right(reference: &Reference, outputs: &[&str]) -> Result<Alike, Box<Difference>> {
        let outputs: Vec<_> = outputs.iter().map(|text| text.as_bytes()).collect();
        check(reference, &outputs, &[])
    }

    const STEPS: &str = "start\n1\n2\n3\n4\nend\n";

    #[test]
    fn a_prefix_and_a_suffix_that_overlap_are_right() {
        let reference = reference(STEPS);
        assert_eq!(
            right(&reference, &["start\n1\n2\n3\n", "3\n4\nend\n"]),
            Ok(Alike::Same)
        );
        assert_eq!(
            right(&reference, &["start\n1\n2\n", "3\n4\nend\n"]),
            Ok(Alike::Same),
            "adjacent"
        );
        assert_eq!(
            right(&reference, &["", STEPS]),
            Ok(Alike::Same),
            "killed before it printed, started over"
        );
        assert_eq!(
            right(&reference, &["start\n1\n2\n3\n4\n", "1\n2\n3\n4\nend\n"]),
            Ok(Alike::Same)
        );
        assert_eq!(right(&reference, &[STEPS]), Ok(Alike::Same), "not killed at all");
    }

    #[test]
    fn several_kills_in_a_row_may_each_repeat() {
        let reference = reference(STEPS);
        assert_eq!(
            right(&reference, &["start\n1\n", "1\n2\n", "", "2\n3\n4\nend\n"]),
            Ok(Alike::Same)
        );
        let missing = right(&reference, &["start\n", "2\n3\n", "4\nend\n"]).unwrap_err();
        assert_eq!(
            missing.found.as_deref(),
            Some("2"),
            "the second process began after a hole"
        );
    }

    #[test]
    fn a_hole_is_a_difference_that_names_the_missing_line() {
        let difference = right(&reference(STEPS), &["start\n1\n", "4\nend\n"]).unwrap_err();
        assert_eq!((difference.line, difference.expected.as_deref()), (3, Some("2")));
        assert!(difference.what.contains("neither"), "{}", difference.what);
    }

    #[test]
    fn a_wrong_line_in_either_part_is_a_difference() {
        let reference = reference(STEPS);
        let difference = right(&reference, &["start\n1\n2\n", "3\n5\nend\n"]).unwrap_err();
        assert_eq!((difference.line, difference.found.as_deref()), (5, Some("5")));
        let difference = right(&reference, &["start\n7\n", "1\n2\n3\n4\nend\n"]).unwrap_err();
        assert_eq!((difference.line, difference.expected.as_deref()), (2, Some("1")));
    }

    #[test]
    fn a_restart_that_prints_too_little_or_too_much_is_a_difference() {
        let reference = reference(STEPS);
        assert!(right(&reference, &["start\n1\n", "2\n3\n4\n"]).is_err());
        assert!(right(&reference, &["start\n1\n", "2\n3\n4\nend\nend\n"]).is_err());
        assert!(right(&reference, &["start\n1\n", ""]).is_err());
    }

    #[test]
    fn a_line_cut_by_the_kill_is_completed_by_the_next_process() {
        let reference = reference("step 1: done\nstep 2: done\n");
        assert_eq!(
            right(&reference, &["step 1: done\nstep 2", ": done\n"]),
            Ok(Alike::Same)
        );
        assert_eq!(
            right(&reference, &["step 1: done\nst", "step 2: done\n"]),
            Ok(Alike::Same)
        );
        assert_eq!(
            right(&reference, &["st", "ep 1: ", "done\nstep 2: done\n"]),
            Ok(Alike::Same)
        );
        let lost = right(&reference, &["step 1: done\n", ": done\n"]).unwrap_err();
        assert!(lost.what.contains("flush"), "{}", lost.what);
        assert!(right(&reference, &["step 1: done\nsto", "step 2: done\n"]).is_err());
    }

    #[test]
    fn lines_that_vary_fit_what_varies_at_their_place_only() {
        let reference = of_two_runs("a\nt=1\nb\n", "a\nt=2\nb\n");
        let right = |outputs| right(&reference, outputs);
        assert_eq!(right(&["a\nt=5\n", "t=77\nb\n"]), Ok(Alike::AsRunsDiffer));
        assert_eq!(right(&["a\n", "t=1\nb\n"]), Ok(Alike::Same));
        assert!(right(&["a\nt=5\n", "t=77\nc\n"]).is_err());
        assert!(right(&["a\nt=5\n", "u=77\nb\n"]).is_err());
        assert_eq!(right(&["a\nt=", "5\nb\n"]), Ok(Alike::AsRunsDiffer), "a rest");
        assert!(right(&["a\n", "5\nb\n"]).is_err(), "a rest of nothing");
    }

    #[test]
    fn parts_of_one_line_are_placed_where_they_cover_most() {
        let reference = reference("Computing .......... done\nend");
        for parts in [
            &["Computing ......", "...", ".", " done\nend"][..],
            &["Computing ......", "..", "..", ". done\nend"],
            &["", "Computing .", "..........", " done\ne", "nd"],
        ] {
            assert_eq!(right(&reference, parts), Ok(Alike::Same), "{parts:?}");
        }
        assert!(right(&reference, &["Computing ......", "...", " done\nend"]).is_err());
        assert!(right(&reference, &["Computing ......", "....", "end"]).is_err());
    }

    #[test]
    fn repeated_lines_are_placed_where_they_cover_most() {
        let reference = reference(".\n.\n.\n.\nend\n");
        assert_eq!(right(&reference, &[".\n.\n", ".\n.\n", "end\n"]), Ok(Alike::Same));
        assert!(right(&reference, &[".\n", ".\n", "end\n"]).is_err());
    }

    #[test]
    fn ignored_lines_may_be_cut_too() {
        let ignore = [Regex::new("^time: .*s$").unwrap()];
        let reference = Reference::of_run(b"a\nb\n", &ignore);
        let outputs: [&[u8]; 2] = [b"a\ntime: 3", b"time: 4 s\nb\n"];
        assert_eq!(check(&reference, &outputs, &ignore), Ok(Alike::Same));
    }
}
