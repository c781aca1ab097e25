//! Standard output over a kill: what was printed cannot be taken back, so a restarted program prints again what came
//! after its checkpoint. The outputs are right if together they are the uninterrupted output with repetitions:
//! the first (killed) is a prefix of it, the last a suffix, each one between begins somewhere in what is covered
//! already, and nothing is left out.

use regex::Regex;

use super::text::{Difference, Reference, kept_lines};

/// A place in the reference: line (an index) and byte in that line.
type Position = (usize, usize);

/// How far an output agrees with the reference from a given start.
enum Agreement {
    /// All of it; it ends here.
    Until(Position),
    /// Not at this line of the reference, which is this line of the output.
    Not(usize, usize),
}

/// Checks the outputs of the runs of one trial, oldest first; all but the last were killed.
pub fn check(reference: &Reference, outputs: &[&[u8]], ignore: &[Regex]) -> Result<(), Box<Difference>> {
    let Some((last, killed)) = outputs.split_last() else {
        return Ok(());
    };
    let mut covered = (0, 0);
    for (run, output) in killed.iter().enumerate() {
        let lines = Lines::of_killed(output, ignore);
        // Only the first process is bound to begin at the beginning.
        let latest_start = if run == 0 { (0, 0) } else { covered };
        covered = covered.max(furthest(reference, &lines, latest_start)?);
    }
    let lines = Lines::of_whole(last, ignore);
    let latest_start = if killed.is_empty() { (0, 0) } else { covered };
    ends_the_reference(reference, &lines, latest_start)
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

/// Where the first line of an output fits into the line `at` of the reference: at which byte it begins.
fn first_fits(reference: &Reference, at: usize, lines: &Lines) -> Option<usize> {
    let (line, first) = (reference.lines.get(at)?, lines.lines.first()?);
    let only_and_cut = lines.cut && lines.lines.len() == 1;
    match &line.bytes {
        _ if line.masked => Some(0),
        bytes if bytes == first => Some(0),
        bytes if only_and_cut => bytes.windows(first.len()).position(|window| window == *first),
        bytes => bytes.ends_with(first).then(|| bytes.len() - first.len()),
    }
}

/// Compares an output with the reference from the line `start` on, whose first byte to compare is `column`.
fn agree(reference: &Reference, lines: &Lines, start: usize, column: usize) -> Agreement {
    for (index, line) in lines.lines.iter().enumerate() {
        let at = start + index;
        let Some(expected) = reference.lines.get(at) else {
            return Agreement::Not(at, index);
        };
        let from = if index == 0 { column } else { 0 };
        let rest = expected.bytes.get(from..).unwrap_or_default();
        let is_cut = lines.cut && index + 1 == lines.lines.len();
        if is_cut && (expected.masked || rest.starts_with(line)) {
            return Agreement::Until((at, from + line.len()));
        }
        if is_cut && lines.cut_may_be_ignored {
            return Agreement::Until((at, from));
        }
        if !expected.masked && rest != *line {
            return Agreement::Not(at, index);
        }
    }
    Agreement::Until((start + lines.lines.len(), 0))
}

/// The end of a killed run's output when it begins not after `latest_start`, at the best such place.
fn furthest(
    reference: &Reference,
    lines: &Lines,
    latest_start: Position,
) -> Result<Position, Box<Difference>> {
    if lines.lines.is_empty() {
        return Ok((0, 0));
    }
    let mut best: Option<Position> = None;
    let mut nearest = (0, 0);
    for start in 0..=latest_start.0 {
        let Some(column) = first_fits(reference, start, lines) else {
            continue;
        };
        if (start, column) > latest_start {
            continue;
        }
        match agree(reference, lines, start, column) {
            Agreement::Until(end) => best = best.max(Some(end)),
            Agreement::Not(at, index) if index >= nearest.1 => nearest = (at, index),
            Agreement::Not(..) => {}
        }
    }
    best.ok_or_else(|| reference.difference("stdout", nearest.0, lines.lines.get(nearest.1).copied()))
}

/// Checks that the last run's output runs to the end of the reference and begins in what is covered.
fn ends_the_reference(
    reference: &Reference,
    lines: &Lines,
    covered: Position,
) -> Result<(), Box<Difference>> {
    let total = reference.lines.len();
    if let Some(start) = total.checked_sub(lines.lines.len()) {
        let column = if lines.lines.is_empty() {
            Some(0)
        } else {
            first_fits(reference, start, lines)
        };
        if let Some(column) = column
            && matches!(agree(reference, lines, start, column), Agreement::Until(_))
        {
            return if (start, column) <= covered {
                Ok(())
            } else {
                Err(gap(reference, covered, start))
            };
        }
    }
    Err(nearest_difference(reference, lines, covered))
}

fn gap(reference: &Reference, covered: Position, start: usize) -> Box<Difference> {
    let mut difference = reference.difference("stdout", covered.0, None);
    let missing = (start - covered.0).max(1);
    difference.what = format!(
        "{missing} line(s) were printed by neither process: written before the checkpoint, but still in a buffer of \
         the program when it was killed (flush it before the site)"
    );
    difference
}

/// No placement is right: show the one that goes well for longest.
fn nearest_difference(reference: &Reference, lines: &Lines, covered: Position) -> Box<Difference> {
    let suffix = reference.lines.len().saturating_sub(lines.lines.len());
    let mut nearest = (suffix, 0);
    for start in (0..=covered.0.min(reference.lines.len())).chain([suffix]) {
        let column = first_fits(reference, start, lines).unwrap_or(0);
        let reached = match agree(reference, lines, start, column) {
            Agreement::Not(at, index) => (at, index),
            Agreement::Until(end) => (end.0, lines.lines.len()),
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
        Reference::of_two_runs("stdout", text.as_bytes(), text.as_bytes(), &[]).unwrap()
    }

    fn right(reference: &Reference, outputs: &[&str]) -> Result<(), Box<Difference>> {
        let outputs: Vec<_> = outputs.iter().map(|text| text.as_bytes()).collect();
        check(reference, &outputs, &[])
    }

    const STEPS: &str = "start\n1\n2\n3\n4\nend\n";

    #[test]
    fn a_prefix_and_a_suffix_that_overlap_are_right() {
        let reference = reference(STEPS);
        assert_eq!(right(&reference, &["start\n1\n2\n3\n", "3\n4\nend\n"]), Ok(()));
        assert_eq!(
            right(&reference, &["start\n1\n2\n", "3\n4\nend\n"]),
            Ok(()),
            "adjacent"
        );
        assert_eq!(
            right(&reference, &["", STEPS]),
            Ok(()),
            "killed before it printed, started over"
        );
        assert_eq!(
            right(&reference, &["start\n1\n2\n3\n4\n", "1\n2\n3\n4\nend\n"]),
            Ok(())
        );
        assert_eq!(right(&reference, &[STEPS]), Ok(()), "not killed at all");
    }

    #[test]
    fn several_kills_in_a_row_may_each_repeat() {
        let reference = reference(STEPS);
        assert_eq!(
            right(&reference, &["start\n1\n", "1\n2\n", "", "2\n3\n4\nend\n"]),
            Ok(())
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
        assert_eq!(right(&reference, &["step 1: done\nstep 2", ": done\n"]), Ok(()));
        assert_eq!(right(&reference, &["step 1: done\nst", "step 2: done\n"]), Ok(()));
        assert_eq!(
            right(&reference, &["st", "ep 1: ", "done\nstep 2: done\n"]),
            Ok(())
        );
        let lost = right(&reference, &["step 1: done\n", ": done\n"]).unwrap_err();
        assert!(lost.what.contains("flush"), "{}", lost.what);
        assert!(right(&reference, &["step 1: done\nsto", "step 2: done\n"]).is_err());
    }

    #[test]
    fn masked_lines_fit_everything_at_their_place_only() {
        let reference = Reference::of_two_runs("stdout", b"a\nt=1\nb\n", b"a\nt=2\nb\n", &[]).unwrap();
        assert_eq!(right(&reference, &["a\nt=5\n", "t=77\nb\n"]), Ok(()));
        assert!(right(&reference, &["a\nt=5\n", "t=77\nc\n"]).is_err());
    }

    #[test]
    fn repeated_lines_are_placed_where_they_cover_most() {
        let reference = reference(".\n.\n.\n.\nend\n");
        assert_eq!(right(&reference, &[".\n.\n", ".\n.\n", "end\n"]), Ok(()));
        assert!(right(&reference, &[".\n", ".\n", "end\n"]).is_err());
    }

    #[test]
    fn ignored_lines_may_be_cut_too() {
        let ignore = [Regex::new("^time: .*s$").unwrap()];
        let reference = Reference::of_two_runs("stdout", b"a\nb\n", b"a\nb\n", &ignore).unwrap();
        let outputs: [&[u8]; 2] = [b"a\ntime: 3", b"time: 4 s\nb\n"];
        assert_eq!(check(&reference, &outputs, &ignore), Ok(()));
    }
}
