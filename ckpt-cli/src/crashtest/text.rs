//! The lines of an output: which are compared, which are masked because two uninterrupted runs differ in them, which
//! are ignored because the user said so; and where two outputs differ first.

use regex::Regex;
use serde::Serialize;

/// The first place where an output is not what the uninterrupted run gave.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// `stdout`, or the path of an output file.
    pub place: String,
    /// Line of the uninterrupted run's output, from 1; 0 where lines mean nothing.
    pub line: usize,
    /// What the uninterrupted run has there.
    pub expected: Option<String>,
    /// What the restarted run has there.
    pub found: Option<String>,
    /// What kind of difference it is, in words.
    pub what: String,
}

/// One line of the reference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// With its line feed, if it has one.
    pub bytes: Vec<u8>,
    /// Two uninterrupted runs differ here: every text is right.
    pub masked: bool,
    /// Line number in the output as the program wrote it, from 1.
    pub number: usize,
}

/// What an uninterrupted run gave, as far as it is compared.
#[derive(Debug, Clone, Default)]
pub struct Reference {
    /// Without the ignored lines.
    pub lines: Vec<Line>,
}

/// Two uninterrupted runs that cannot be compared line by line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unsteady {
    /// Lines of the first and of the second run.
    pub counts: (usize, usize),
    /// The first line in which they differ.
    pub first: Difference,
}

/// Splits an output into lines, line feeds included, and leaves the ignored ones out.
pub fn kept_lines<'o>(output: &'o [u8], ignore: &[Regex]) -> Vec<(usize, &'o [u8])> {
    let ignored = |line: &[u8]| {
        let text = String::from_utf8_lossy(line);
        ignore
            .iter()
            .any(|pattern| pattern.is_match(text.trim_end_matches(['\n', '\r'])))
    };
    output
        .split_inclusive(|&byte| byte == b'\n')
        .enumerate()
        .filter(|(_, line)| !ignored(line))
        .collect()
}

/// A line as it is shown in a report.
pub fn shown(line: &[u8]) -> String {
    const LONGEST: usize = 200;
    let text = String::from_utf8_lossy(line);
    let text = text.trim_end_matches('\n');
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{} ... ({} bytes)", &text[..end], line.len()),
        None => text.to_owned(),
    }
}

impl Reference {
    /// Makes a reference of two uninterrupted runs; the lines in which they differ are masked.
    pub fn of_two_runs(
        place: &str,
        one: &[u8],
        other: &[u8],
        ignore: &[Regex],
    ) -> Result<Self, Box<Unsteady>> {
        let one = kept_lines(one, ignore);
        let other = kept_lines(other, ignore);
        if one.len() != other.len() {
            let at = one.iter().zip(&other).take_while(|(a, b)| a.1 == b.1).count();
            let first = Difference {
                place: place.to_owned(),
                line: one.get(at).map_or(one.len() + 1, |line| line.0 + 1),
                expected: one.get(at).map(|line| shown(line.1)),
                found: other.get(at).map(|line| shown(line.1)),
                what: "two uninterrupted runs differ".into(),
            };
            return Err(Box::new(Unsteady {
                counts: (one.len(), other.len()),
                first,
            }));
        }
        let lines = one
            .iter()
            .zip(&other)
            .map(|(a, b)| Line {
                bytes: a.1.to_vec(),
                masked: a.1 != b.1,
                number: a.0 + 1,
            })
            .collect();
        Ok(Reference { lines })
    }

    /// The masked lines: number and text.
    pub fn masked(&self) -> impl Iterator<Item = (usize, String)> + '_ {
        self.lines
            .iter()
            .filter(|line| line.masked)
            .map(|line| (line.number, shown(&line.bytes)))
    }

    /// Compares a whole output with the reference.
    pub fn compare(&self, place: &str, output: &[u8], ignore: &[Regex]) -> Result<(), Box<Difference>> {
        let lines = kept_lines(output, ignore);
        for (at, (_, line)) in lines.iter().enumerate() {
            if !self
                .lines
                .get(at)
                .is_some_and(|expected| expected.masked || expected.bytes == *line)
            {
                return Err(self.difference(place, at, Some(line)));
            }
        }
        match self.lines.len() > lines.len() {
            true => Err(self.difference(place, lines.len(), None)),
            false => Ok(()),
        }
    }

    /// Describes what is wrong at line `at` (an index) of the reference.
    pub fn difference(&self, place: &str, at: usize, found: Option<&[u8]>) -> Box<Difference> {
        let expected = self.lines.get(at);
        let what = match (expected, found) {
            (None, _) => "more lines than in the uninterrupted run",
            (_, None) => "the output ends too early",
            _ => "the line differs",
        };
        Box::new(Difference {
            place: place.to_owned(),
            line: expected
                .or(self.lines.last())
                .map_or(1, |line| line.number + usize::from(expected.is_none())),
            expected: expected.map(|line| shown(&line.bytes)),
            found: found.map(shown),
            what: what.into(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn patterns(list: &[&str]) -> Vec<Regex> {
        list.iter().map(|pattern| Regex::new(pattern).unwrap()).collect()
    }

    #[test]
    fn lines_that_differ_between_uninterrupted_runs_are_masked() {
        let reference =
            Reference::of_two_runs("stdout", b"a\ntook 3 s\nb\n", b"a\ntook 4 s\nb\n", &[]).unwrap();
        assert_eq!(
            reference.masked().collect::<Vec<_>>(),
            [(2, "took 3 s".to_owned())]
        );
        assert_eq!(reference.compare("stdout", b"a\ntook 9 s\nb\n", &[]), Ok(()));
        let wrong = reference.compare("stdout", b"a\ntook 9 s\nB\n", &[]).unwrap_err();
        assert_eq!(
            (wrong.line, wrong.expected.as_deref(), wrong.found.as_deref()),
            (3, Some("b"), Some("B"))
        );
    }

    #[test]
    fn ignored_lines_may_come_and_go() {
        let ignore = patterns(&["^warn"]);
        let reference = Reference::of_two_runs("stdout", b"a\nwarn 1\nb\n", b"a\nb\n", &ignore).unwrap();
        assert_eq!(
            reference.compare("stdout", b"warn\na\nb\nwarn\n", &ignore),
            Ok(())
        );
        assert_eq!(
            reference.compare("stdout", b"a\nc\n", &ignore).unwrap_err().line,
            3
        );
    }

    #[test]
    fn another_number_of_lines_cannot_be_masked() {
        let unsteady = Reference::of_two_runs("stdout", b"a\nb\n", b"a\nx\nb\n", &[]).unwrap_err();
        assert_eq!(unsteady.counts, (2, 3));
        assert_eq!(unsteady.first.line, 2);
    }

    #[test]
    fn too_few_and_too_many_lines_are_differences() {
        let reference = Reference::of_two_runs("f", b"a\nb\n", b"a\nb\n", &[]).unwrap();
        assert_eq!(
            reference.compare("f", b"a\n", &[]).unwrap_err().what,
            "the output ends too early"
        );
        let more = reference.compare("f", b"a\nb\nc\n", &[]).unwrap_err();
        assert_eq!((more.line, more.expected.clone()), (3, None));
        assert!(
            reference.compare("f", b"a\nb", &[]).is_err(),
            "a missing last line feed counts"
        );
    }

    #[test]
    fn long_lines_are_shortened_at_a_character() {
        let long = "ü".repeat(300);
        assert!(shown(long.as_bytes()).ends_with("... (600 bytes)"));
    }
}
