//! Lines in the order of a number that varies: a program that ranks its methods by the time that they took prints the same lines in
//! another order where two of them took nearly as long. In ten runs that may never have been seen.

use std::collections::BTreeSet;
use std::ops::Range;

use super::text::{Line, Reference};
use super::varying::{Place, form_of_word, measure, words};

/// More lines than that are no ranking.
const LONGEST: usize = 100;

/// Words of neighboring lines whose order is another one in some uninterrupted run: the line, and which word.
#[derive(Debug, Clone, Default)]
pub struct Unordered(BTreeSet<(usize, usize)>);

impl Unordered {
    /// Learns from another run of as many lines.
    pub fn learn(&mut self, lines: &[Line], others: &[&[u8]]) {
        for (at, pair) in lines.windows(2).enumerate() {
            if pair
                .iter()
                .zip(&others[at..])
                .all(|(line, other)| line.bytes == **other)
            {
                continue;
            }
            let [one, other] = [&pair[0].bytes, &pair[1].bytes].map(|line| words(line));
            let found = [others[at], others[at + 1]].map(words);
            let [one_now, other_now] = found;
            let now = one_now.zip(other_now).map(|(one, other)| order(one, other));
            let before = one.zip(other).map(|(one, other)| order(one, other));
            for (word, (before, now)) in before.zip(now).enumerate() {
                if before != now {
                    self.0.insert((at, word));
                }
            }
        }
    }
}

/// How two words follow each other, if both begin with a number: whether it grows.
fn order(one: &[u8], other: &[u8]) -> Option<bool> {
    Some(measure(one)? <= measure(other)?)
}

/// Lines that stand in the order of a word of theirs in all runs.
struct Ranking {
    lines: Range<usize>,
    word: usize,
    grows: bool,
}

/// Takes these lines for ones that another uninterrupted run could have had, where they are those of the reference in another
/// order: that of a number that varies. They end with the reference's last line.
pub fn may_be_in_order(reference: &mut Reference, found: &[&[u8]]) -> bool {
    let Some(start) = reference.lines.len().checked_sub(found.len()) else {
        return false;
    };
    let differs = |at: usize| reference.lines[at].alike(found[at - start]).is_none();
    let mut at = start;
    let mut all: Vec<(usize, Place)> = Vec::new();
    while at < reference.lines.len() {
        if !differs(at) {
            at += 1;
            continue;
        }
        let Some((end, places)) = ranking_around(reference, at, found, start) else {
            return false;
        };
        all.extend(places);
        at = end;
    }
    for (line, place) in &all {
        reference.lines[*line].varies.add(*place);
    }
    !all.is_empty()
}

/// Where the ranking ends that a line stands in, and what varies in its lines; none if they are in no order, or other lines.
fn ranking_around(
    reference: &Reference,
    at: usize,
    found: &[&[u8]],
    start: usize,
) -> Option<(usize, Vec<(usize, Place)>)> {
    let number = words(&reference.lines[at].bytes).count();
    (0..number).find_map(|word| {
        let ranking = Ranking::around(reference, at, word)?;
        let found = found.get(ranking.lines.start.checked_sub(start)?..)?;
        let places = ranking.places(reference, found)?;
        Some((ranking.lines.end, places))
    })
}

impl Ranking {
    /// The longest one around a line by a word of it, one that is a number and varies.
    fn around(reference: &Reference, at: usize, word: usize) -> Option<Ranking> {
        let lines = &reference.lines;
        let is_pair = |first: usize| -> Option<bool> {
            let (one, other) = (&lines.get(first)?.bytes, &lines.get(first + 1)?.bytes);
            let is_ordered = !reference.unordered.0.contains(&(first, word));
            let is_alike = words(one).count() == words(other).count();
            let [one, other] = [words(one).nth(word)?, words(other).nth(word)?];
            order(one, other).filter(|_| is_ordered && is_alike)
        };
        [true, false].into_iter().find_map(|grows| {
            let holds = |first: usize| is_pair(first) == Some(grows);
            let first = (0..at)
                .rev()
                .take(LONGEST)
                .take_while(|first| holds(*first))
                .last();
            let last = (at..).take(LONGEST).take_while(|first| holds(*first)).last();
            let range = first.unwrap_or(at)..last.map_or(at, |last| last + 1) + 1;
            let varies = |line: &Line| !line.varies.in_word(word).is_empty();
            let is_one = range.len() > 1 && lines[range.clone()].iter().any(varies);
            is_one.then_some(Ranking {
                lines: range,
                word,
                grows,
            })
        })
    }

    /// What varies in its lines, if those that were found are the same in another order, and in order.
    fn places(&self, reference: &Reference, found: &[&[u8]]) -> Option<Vec<(usize, Place)>> {
        let lines = &reference.lines[self.lines.clone()];
        let expected: Vec<Vec<&[u8]>> = lines.iter().map(|line| words(&line.bytes).collect()).collect();
        let found: Vec<Vec<&[u8]>> = found
            .get(..lines.len())?
            .iter()
            .map(|line| words(line).collect())
            .collect();
        let is_in_order = found.windows(2).all(|pair| {
            let [one, other] = [pair[0].get(self.word), pair[1].get(self.word)];
            one.zip(other).and_then(|(one, other)| order(one, other)) == Some(self.grows)
        });
        let are_alike =
            { found.iter().zip(&expected) }.all(|(found, expected)| found.len() == expected.len());
        if !is_in_order || !are_alike {
            return None;
        }
        let (mut named, mut places) = (Vec::new(), Vec::new());
        for word in 0..expected[0].len() {
            let varying: Vec<Place> = { lines.iter() }
                .flat_map(|line| line.varies.in_word(word))
                .collect();
            if word == self.word {
                places.push(Place::of_word(word));
            } else if !varying.is_empty() {
                // Numbers are other ones, and what stands beside them in a word is not.
                let forms = expected.iter().zip(&found);
                let mut forms =
                    forms.map(|(one, other)| (form_of_word(one[word]), form_of_word(other[word])));
                if forms.any(|(one, other)| one != other) {
                    return None;
                }
                places.extend(varying);
            } else if (0..lines.len()).any(|line| expected[line][word] != found[line][word]) {
                named.push(word);
            }
        }
        let names = |lines: &[Vec<&[u8]>]| {
            let name = |line: &Vec<&[u8]>| named.iter().map(|word| line[*word].to_vec()).collect::<Vec<_>>();
            let mut names: Vec<_> = lines.iter().map(name).collect();
            names.sort();
            names
        };
        (names(&expected) == names(&found)).then(|| {
            let of_line = |line: usize| {
                let named = named.iter().map(|word| Place::of_word(*word));
                let all = named.chain(places.iter().copied());
                all.map(|place| (line, place)).collect::<Vec<_>>()
            };
            self.lines.clone().flat_map(of_line).collect()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranked(first: &str, second: &str, times: [&str; 2], of_third: &str) -> String {
        format!(
            "By time:\n  1. {first}: {} (sum 42, basex slower)\n  2. {second}: {} (sum 42, 1.5x slower)\n  3. slow: {of_third} (sum 42, 2.9x slower)\nend\n",
            times[0], times[1]
        )
    }

    /// Whether two runs that agree in the order allow this one.
    fn allows(found: &str) -> bool {
        let mut reference =
            Reference::of_run(ranked("one", "two", ["800.5ms", "900ms"], "1.9s").as_bytes(), &[]);
        let other = ranked("one", "two", ["790ms", "1.1s"], "2.8s")
            .replace("1.5x", "1.6x")
            .replace("2.9x", "3x");
        reference.learn("stdout", other.as_bytes(), &[]).unwrap();
        assert!(reference.compare("stdout", found.as_bytes(), &[]).is_err());
        let lines: Vec<&[u8]> = found.as_bytes().split_inclusive(|byte| *byte == b'\n').collect();
        may_be_in_order(&mut reference, &lines) && reference.compare("stdout", found.as_bytes(), &[]).is_ok()
    }

    #[test]
    fn lines_in_the_order_of_a_time_may_stand_in_another_one() {
        assert!(allows(&ranked("two", "one", ["910ms", "1.2s"], "1.9s")));
        assert!(allows(
            "By time:\n  1. slow: 2ms (sum 42, basex slower)\n  2. one: 3ms (sum 42, 1.5x slower)\n  3. two: 5ms (sum 42, 2.9x slower)\nend\n"
        ));
    }

    #[test]
    fn what_is_wrong_about_them_is_still_seen() {
        let right = ranked("two", "one", ["910ms", "1.2s"], "1.9s");
        assert!(
            !allows(&ranked("two", "two", ["910ms", "1.2s"], "1.9s")),
            "one is missing"
        );
        assert!(
            !allows(&ranked("two", "one", ["1.3s", "1.2s"], "1.9s")),
            "not in order"
        );
        assert!(
            !allows(&right.replacen("sum 42", "sum 41", 1)),
            "a number that is the same in all runs"
        );
        assert!(
            !allows(&right.replace("1.  two", "2.  two").replace("end", "END")),
            "another line"
        );
        assert!(
            !allows(&right.replace("3. slow", "4. slow")),
            "places are counted"
        );
    }

    #[test]
    fn lines_that_were_in_no_order_before_may_not() {
        let run = |times: [&str; 2]| format!("one: {}\ntwo: {}\n", times[0], times[1]);
        let mut reference = Reference::of_run(run(["2s", "3s"]).as_bytes(), &[]);
        reference
            .learn("stdout", run(["4s", "3s"]).as_bytes(), &[])
            .unwrap();
        assert!(!may_be_in_order(&mut reference, &[b"two: 2s\n", b"one: 3s\n"]));
    }
}
