//! The lines of an output: which are compared, which vary because uninterrupted runs differ in them, which are ignored
//! because the user said so; and where two outputs differ first.

use std::collections::{BTreeMap, BTreeSet};

use regex::Regex;
use serde::Serialize;

use super::ranking::Unordered;
use super::shuffled::Shuffled;
use super::varying::{Alike, Numbers, Place, Varies, form, number_at};

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

/// So many lines of one form are a column.
const COLUMN: usize = 8;

/// One line of the reference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// With its line feed, if it has one.
    pub bytes: Vec<u8>,
    /// Where uninterrupted runs differ.
    pub varies: Varies,
    /// Line number in the output as the program wrote it, from 1.
    pub number: usize,
}

/// What uninterrupted runs gave, as far as it is compared.
#[derive(Debug, Clone, Default)]
pub struct Reference {
    /// Those of the first run, without the ignored ones.
    pub lines: Vec<Line>,
    /// Uninterrupted runs have other numbers of lines: nothing is compared.
    pub unsteady: Option<Box<Unsteady>>,
    /// Which of its lines are in another order in some of these runs.
    pub unordered: Unordered,
    /// Which of its lines are the same in any order.
    pub shuffled: Shuffled,
}

/// Uninterrupted runs that cannot be compared line by line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Unsteady {
    /// Lines of the first and of the other run.
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
    /// What one uninterrupted run gave.
    pub fn of_run(output: &[u8], ignore: &[Regex]) -> Self {
        let lines = kept_lines(output, ignore).into_iter();
        let line = |(at, bytes): (usize, &[u8])| Line {
            bytes: bytes.to_vec(),
            varies: Varies::Nowhere,
            number: at + 1,
        };
        Reference {
            lines: lines.map(line).collect(),
            unsteady: None,
            unordered: Unordered::default(),
            shuffled: Shuffled::default(),
        }
    }

    /// The program adds floats up in an order which is left to chance. Said before anything is learnt.
    pub fn in_last_digits(&mut self) {
        for line in &mut self.lines {
            line.varies = Varies::in_last_digits(&line.bytes);
        }
    }

    /// Learns from another uninterrupted run what varies.
    ///
    /// # Errors
    /// It has another number of lines; nothing has been learnt.
    pub fn learn(&mut self, place: &str, other: &[u8], ignore: &[Regex]) -> Result<(), Box<Unsteady>> {
        let other = kept_lines(other, ignore);
        if self.unsteady.is_some() {
            return Ok(());
        }
        if self.lines.len() != other.len() {
            let mut pairs = self.lines.iter().zip(&other);
            let at = pairs
                .position(|(line, other)| line.alike(other.1).is_none())
                .unwrap_or(self.lines.len().min(other.len()));
            let first = Difference {
                place: place.to_owned(),
                line: self
                    .lines
                    .get(at)
                    .map_or(self.lines.len() + 1, |line| line.number),
                expected: self.lines.get(at).map(|line| shown(&line.bytes)),
                found: other.get(at).map(|line| shown(line.1)),
                what: "two uninterrupted runs differ".into(),
            };
            return Err(Box::new(Unsteady {
                counts: (self.lines.len(), other.len()),
                first,
            }));
        }
        let others: Vec<&[u8]> = other.iter().map(|(_, line)| *line).collect();
        self.unordered.learn(&self.lines, &others);
        self.shuffled.learn(&self.lines, &others);
        for (line, (_, other)) in self.lines.iter_mut().zip(other) {
            line.varies.learn(&line.bytes, other);
        }
        self.spread();
        Ok(())
    }

    /// A number that varies in most lines of one form varies in all of them: among a hundred energy differences drawn at random one
    /// is the same in ten runs by chance. One that varies widely in some varies in all of which other numbers do: a network that has
    /// learnt all of its examples in ten runs has learnt three of four in the next.
    fn spread(&mut self) {
        for (lines, places) in self.columns() {
            for place in places {
                let varies = |at: &&usize| self.lines[**at].varies.has(&place);
                let all = lines.iter().filter(varies).count() * 4 > lines.len() * 3;
                let widely = { lines.iter() }.any(|at| self.lines[*at].varies.has_widely(&place));
                for at in &lines {
                    let line = &mut self.lines[*at];
                    if all || widely && line.varies.has_number() {
                        line.varies.add(place);
                    }
                }
            }
        }
    }

    /// The lines of each form that enough have, and where numbers stand in them.
    fn columns(&self) -> impl Iterator<Item = (Vec<usize>, Vec<Place>)> + use<> {
        let mut columns: BTreeMap<Vec<u8>, (Vec<usize>, Vec<Place>)> = BTreeMap::new();
        for (at, line) in self.lines.iter().enumerate() {
            let (form, places) = form(&line.bytes);
            columns.entry(form).or_insert((Vec::new(), places)).0.push(at);
        }
        let columns = columns.into_values();
        columns.filter(|(lines, _)| lines.len() >= COLUMN)
    }

    /// Takes these lines, by their index, for ones that another uninterrupted run could have had: it draws random numbers that no
    /// two runs have alike. False where they are wrong whatever it draws: a number that counts the lines is another one.
    pub fn may_have_drawn(&mut self, found: &[(usize, &[u8])]) -> bool {
        let differs: Vec<_> = found
            .iter()
            .filter(|(at, found)| {
                self.lines
                    .get(*at)
                    .is_some_and(|line| line.alike(found).is_none())
            })
            .collect();
        let counts: Vec<(Vec<usize>, Vec<Place>)> = self
            .columns()
            .map(|(lines, places)| {
                let counting = places.into_iter().filter(|place| self.counts(&lines, place));
                (counting.collect(), lines)
            })
            .map(|(places, lines): (Vec<Place>, _)| (lines, places))
            .collect();
        for (at, found) in differs {
            let bytes = &self.lines[*at].bytes;
            let counting = counts.iter().filter(|(lines, _)| lines.contains(at));
            let mut counting = counting.flat_map(|(_, places)| places);
            if counting.any(|place| number_at(bytes, place) != number_at(found, place)) {
                return false;
            }
            let line = &mut self.lines[*at];
            line.varies.learn(&line.bytes, found);
        }
        true
    }

    /// Whether the numbers at a place of these lines count them: hardly two are alike, and no run has had another one.
    fn counts(&self, lines: &[usize], place: &Place) -> bool {
        let numbers: BTreeSet<_> = { lines.iter() }
            .map(|at| number_at(&self.lines[*at].bytes, place))
            .collect();
        numbers.len() * 4 > lines.len() * 3 && !lines.iter().any(|at| self.lines[*at].varies.has(place))
    }

    /// Nothing of it is compared from now on.
    pub fn gives_up(&mut self, why: Box<Unsteady>) {
        for line in &mut self.lines {
            line.varies = Varies::Wholly;
        }
        self.unsteady = Some(why);
    }

    /// The lines that vary: number, and text with a star wherever they do.
    pub fn varying(&self) -> impl Iterator<Item = (usize, String)> + '_ {
        let varying = self.lines.iter().filter(|line| line.varies.is_seen());
        varying.map(|line| (line.number, shown(&line.varies.starred(&line.bytes))))
    }

    /// How many numbers there are in it, and how many of them are compared.
    pub fn numbers(&self) -> Numbers {
        self.lines
            .iter()
            .map(|line| line.varies.numbers(&line.bytes))
            .sum()
    }

    /// Compares a whole output with the reference.
    pub fn compare(&self, place: &str, output: &[u8], ignore: &[Regex]) -> Result<Alike, Box<Difference>> {
        let lines = kept_lines(output, ignore);
        let mut alike = Alike::Same;
        for (at, (_, line)) in lines.iter().enumerate() {
            match self.lines.get(at).and_then(|expected| expected.alike(line)) {
                Some(found) => alike = alike.max(found),
                None => return Err(self.difference(place, at, Some(line))),
            }
        }
        match self.lines.len() > lines.len() {
            true => Err(self.difference(place, lines.len(), None)),
            false => Ok(alike),
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

impl Line {
    /// Whether a line could be this one of another uninterrupted run.
    pub fn alike(&self, found: &[u8]) -> Option<Alike> {
        self.varies.alike(&self.bytes, found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn patterns(list: &[&str]) -> Vec<Regex> {
        list.iter().map(|pattern| Regex::new(pattern).unwrap()).collect()
    }

    fn of_two_runs(one: &[u8], other: &[u8], ignore: &[Regex]) -> Result<Reference, Box<Unsteady>> {
        let mut reference = Reference::of_run(one, ignore);
        reference.learn("stdout", other, ignore).map(|()| reference)
    }

    #[test]
    fn numbers_that_differ_between_uninterrupted_runs_vary() {
        let reference = of_two_runs(b"a\ntook 3 s\nb\n", b"a\ntook 4 s\nb\n", &[]).unwrap();
        assert_eq!(
            reference.varying().collect::<Vec<_>>(),
            [(2, "took * s".to_owned())]
        );
        assert_eq!(
            reference.compare("stdout", b"a\ntook 9 s\nb\n", &[]),
            Ok(Alike::AsRunsDiffer)
        );
        assert_eq!(
            reference.compare("stdout", b"a\ntook 3 s\nb\n", &[]),
            Ok(Alike::Same)
        );
        let wrong = reference.compare("stdout", b"a\ntook 9 s\nB\n", &[]).unwrap_err();
        assert_eq!(
            (wrong.line, wrong.expected.as_deref(), wrong.found.as_deref()),
            (3, Some("b"), Some("B"))
        );
        let elsewhere = reference.compare("stdout", b"a\ntook 9 m\nb\n", &[]).unwrap_err();
        assert_eq!(elsewhere.line, 2);
    }

    #[test]
    fn a_run_that_agreed_by_chance_is_mended_by_a_later_one() {
        let mut reference = of_two_runs(b"x 1\nt 0.5\n", b"x 1\nt 0.5\n", &[]).unwrap();
        assert!(reference.compare("stdout", b"x 1\nt 0.6\n", &[]).is_err());
        reference.learn("stdout", b"x 1\nt 0.4\n", &[]).unwrap();
        assert_eq!(
            reference.compare("stdout", b"x 1\nt 0.6\n", &[]),
            Ok(Alike::AsRunsDiffer)
        );
        assert!(reference.compare("stdout", b"x 2\nt 0.6\n", &[]).is_err());
        let numbers = reference.numbers();
        assert_eq!((numbers.all, numbers.compared), (2, 1));
    }

    #[test]
    fn ignored_lines_may_come_and_go() {
        let ignore = patterns(&["^warn"]);
        let reference = of_two_runs(b"a\nwarn 1\nb\n", b"a\nb\n", &ignore).unwrap();
        assert_eq!(
            reference.compare("stdout", b"warn\na\nb\nwarn\n", &ignore),
            Ok(Alike::Same)
        );
        assert_eq!(
            reference.compare("stdout", b"a\nc\n", &ignore).unwrap_err().line,
            3
        );
    }

    #[test]
    fn another_number_of_lines_cannot_be_compared() {
        let unsteady = of_two_runs(b"a\nb\n", b"a\nx\nb\n", &[]).unwrap_err();
        assert_eq!(unsteady.counts, (2, 3));
        assert_eq!(unsteady.first.line, 2);
    }

    #[test]
    fn too_few_and_too_many_lines_are_differences() {
        let reference = of_two_runs(b"a\nb\n", b"a\nb\n", &[]).unwrap();
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

    #[test]
    fn a_number_that_varies_in_most_lines_of_a_form_varies_in_all() {
        let run = |seed: u64, of: &dyn Fn(u64) -> u64| -> Vec<u8> {
            let line = |at: u64| format!("step {at}: dE = {}, sum {}\n", (at * seed) % 5, of(at));
            (0..20).map(line).collect::<String>().into_bytes()
        };
        let sums = |at: u64| at * at;
        let mut reference = Reference::of_run(&run(3, &sums), &[]);
        reference.learn("stdout", &run(4, &sums), &[]).unwrap();
        // Steps 0, 5, 10 and 15 have agreed.
        let mut other = run(3, &sums);
        other = String::from_utf8(other)
            .unwrap()
            .replace("step 5: dE = 0", "step 5: dE = 4")
            .into();
        assert_eq!(reference.compare("stdout", &other, &[]), Ok(Alike::AsRunsDiffer));
        let wrong = run(3, &|at| at * at + u64::from(at == 5));
        assert_eq!(reference.compare("stdout", &wrong, &[]).unwrap_err().line, 6);
        // Of few lines nothing is concluded.
        let few = |run: Vec<u8>| -> Vec<u8> {
            run.split_inclusive(|byte| *byte == b'\n')
                .take(6)
                .flatten()
                .copied()
                .collect()
        };
        let mut reference = Reference::of_run(&few(run(3, &sums)), &[]);
        reference.learn("stdout", &few(run(4, &sums)), &[]).unwrap();
        assert_eq!(reference.compare("stdout", &few(other), &[]).unwrap_err().line, 6);
    }

    #[test]
    fn what_chance_may_have_brought_about_is_told_from_what_it_cannot() {
        let run = |losses: u64, last: &str| -> Vec<u8> {
            let line = |at: u64| format!("epoch {at}: loss 0.{:03}\n", at * losses % 997);
            let lines: String = (0..20).map(line).chain([last.to_owned()]).collect();
            lines.into_bytes()
        };
        let reference = of_two_runs(&run(3, "4 of 4\n"), &run(5, "4 of 4\n"), &[]).unwrap();
        let check = |found: &[u8]| {
            let mut reference = reference.clone();
            let lines = kept_lines(found, &[]);
            let lines: Vec<_> = { lines.iter() }.map(|(at, line)| (*at, *line)).collect();
            reference.may_have_drawn(&lines) && reference.compare("stdout", found, &[]).is_ok()
        };
        assert!(check(&run(7, "3 of 4\n")));
        assert!(check(&run(7, "not learnt\n")));
        assert!(!check(&run(7, "")), "a line is missing");
        let other = String::from_utf8(run(7, "3 of 4\n")).unwrap();
        let skipped = other.replace("epoch 7:", "epoch 8:");
        assert!(!check(skipped.as_bytes()), "epochs are counted");
    }

    #[test]
    fn a_number_that_varies_widely_in_some_lines_varies_where_others_do() {
        let run = |losses: u64, learnt: &dyn Fn(u64) -> String| -> Vec<u8> {
            let line = |at: u64| format!("{at}: loss 0.{:03} right {}\n", at * losses % 997, learnt(at));
            (0..20).map(line).collect::<String>().into_bytes()
        };
        let soon = |at: u64| if at < 2 { "50" } else { "100" }.to_owned();
        let at_once = |_: u64| "100".to_owned();
        let mut reference = Reference::of_run(&run(3, &soon), &[]);
        reference.learn("stdout", &run(5, &at_once), &[]).unwrap();
        let late = |at: u64| if at < 9 { "75" } else { "100" }.to_owned();
        let other = run(7, &late);
        assert_eq!(reference.compare("stdout", &other, &[]), Ok(Alike::AsRunsDiffer));
        // In its last digits alone: sums in another order, of which a wrong one can be told apart.
        let sum = |at: u64| format!("{}.00000{}", at, at % 3 / 2);
        let sums = |at: u64| format!("{at}.000000");
        let mut reference = Reference::of_run(&run(3, &sums), &[]);
        reference.learn("stdout", &run(5, &sum), &[]).unwrap();
        let wrong = |at: u64| format!("{}.000000", at + u64::from(at == 6));
        assert_eq!(
            reference
                .compare("stdout", &run(7, &wrong), &[])
                .unwrap_err()
                .line,
            7
        );
    }
}
