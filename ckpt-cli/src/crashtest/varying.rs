//! In which of its words and numbers a line differs between uninterrupted runs: clocks, random numbers, sums whose order is
//! left to chance. Numbers are compared by their place in the line, so that what stands beside a time still is.

use std::collections::BTreeSet;

use serde::Serialize;

/// How an output agrees with those of uninterrupted runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Alike {
    /// It is that of the first of them.
    Same,
    /// It differs from it in the last digits of numbers with a fraction, which such sums may have.
    InLastDigits,
    /// It differs from it where these runs differ from one another.
    AsRunsDiffer,
}

/// Where a line differs between uninterrupted runs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Varies {
    /// Nowhere.
    #[default]
    Nowhere,
    /// In these of its words, or numbers in them.
    In(Known),
    /// It has not even the same number of words.
    Wholly,
}

/// What has been seen to vary in a line.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Known {
    places: BTreeSet<Place>,
    /// Those of them at which numbers differ by more than another order of their sums would make them differ.
    widely: BTreeSet<Place>,
    /// The words that have been seen at places of words, and the numbers at places of numbers.
    words: BTreeSet<Vec<u8>>,
    numbers: BTreeSet<Vec<u8>>,
    /// Whether its numbers with a fraction may have other last digits, be they seen to vary or not.
    in_last_digits: bool,
}

impl Known {
    fn learn(&mut self, differing: Vec<Differing<'_>>) {
        for Differing { place, one, other } in differing {
            let seen = match place.number {
                None => &mut self.words,
                Some(_) => &mut self.numbers,
            };
            seen.extend([one.to_vec(), other.to_vec()]);
            if place.number.is_some() && are_far_apart(one, other) {
                self.widely.insert(place);
            }
            self.places.insert(place);
        }
    }

    /// Whether a place varies, or what stands there is what stands at others that do: of a line of spins, or of letters drawn at
    /// random, some place is the same in ten runs by chance. Numbers have to be seen at the place itself, unless most of the
    /// line's vary.
    fn covers(&self, of: &Differing<'_>, most_numbers_vary: bool) -> bool {
        let whole = Place {
            number: None,
            ..of.place
        };
        if self.places.contains(&of.place) || self.places.contains(&whole) {
            return true;
        }
        if of.place.number.is_none() && self.covers_units(of) {
            return true;
        }
        let has = |seen: &BTreeSet<Vec<u8>>| seen.contains(of.one) && seen.contains(of.other);
        match of.place.number {
            None => has(&self.words),
            Some(_) => most_numbers_vary && has(&self.numbers),
        }
    }

    /// Whether all that differs in a word are times that vary: one that was `981ms` in ten runs is `1.02s` in the next.
    fn covers_units(&self, of: &Differing<'_>) -> bool {
        let varies = |number: usize| {
            let number = Some(number);
            self.places.contains(&Place { number, ..of.place })
        };
        differing_times(of.one, of.other).is_some_and(|numbers| numbers.into_iter().all(varies))
    }

    /// Whether more than half of the numbers of a line vary.
    fn most_numbers_vary(&self, line: &[u8]) -> bool {
        let all = words(line).flat_map(pieces).filter(|piece| is_number(piece));
        let varying = self.places.iter().filter(|place| place.number.is_some());
        varying.count() * 2 > all.count()
    }
}

/// A place at which two lines differ, and how.
struct Differing<'l> {
    place: Place,
    one: &'l [u8],
    other: &'l [u8],
}

/// A place in a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// Which of its words.
    word: usize,
    /// Which of the numbers in this word; `None` where the word is another one as a whole.
    number: Option<usize>,
}

impl Place {
    /// A whole word.
    pub fn of_word(word: usize) -> Place {
        Place { word, number: None }
    }
}

/// How many numbers a text has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Numbers {
    /// All of them.
    pub all: usize,
    /// Those that no two uninterrupted runs had differently.
    pub compared: usize,
}

impl std::iter::Sum for Numbers {
    fn sum<I: Iterator<Item = Numbers>>(each: I) -> Numbers {
        each.fold(Numbers::default(), |sum, one| Numbers {
            all: sum.all + one.all,
            compared: sum.compared + one.compared,
        })
    }
}

impl Varies {
    /// Of a line of a program that adds floats up in an order which is left to chance, before any other run is known.
    pub fn in_last_digits(line: &[u8]) -> Self {
        let mut numbers = words(line).flat_map(pieces).filter(|piece| is_number(piece));
        match numbers.any(has_fraction) {
            true => Varies::In(Known {
                in_last_digits: true,
                ..Known::default()
            }),
            false => Varies::Nowhere,
        }
    }

    /// Whether uninterrupted runs have been seen to differ in the line.
    pub fn is_seen(&self) -> bool {
        match self {
            Varies::Nowhere => false,
            Varies::In(known) => !known.places.is_empty(),
            Varies::Wholly => true,
        }
    }

    /// Learns from another run's line where this one varies.
    pub fn learn(&mut self, line: &[u8], other: &[u8]) {
        if line == other || *self == Varies::Wholly {
            return;
        }
        match (differing(line, other), &mut *self) {
            (None, _) => *self = Varies::Wholly,
            (Some(places), Varies::In(known)) => known.learn(places),
            (Some(places), _) => {
                let mut known = Known::default();
                known.learn(places);
                *self = Varies::In(known);
            }
        }
    }

    /// Whether a number has been seen to vary.
    pub fn has(&self, place: &Place) -> bool {
        match self {
            Varies::Nowhere => false,
            Varies::In(known) => known.places.contains(place),
            Varies::Wholly => true,
        }
    }

    /// Whether a number has been seen to vary, and not only in its last digits.
    pub fn has_widely(&self, place: &Place) -> bool {
        matches!(self, Varies::In(known) if known.widely.contains(place))
    }

    /// Where a word has been seen to vary.
    pub fn in_word(&self, word: usize) -> Vec<Place> {
        match self {
            Varies::In(known) => known
                .places
                .iter()
                .filter(|place| place.word == word)
                .copied()
                .collect(),
            Varies::Nowhere | Varies::Wholly => Vec::new(),
        }
    }

    /// Whether any number has been seen to vary.
    pub fn has_number(&self) -> bool {
        match self {
            Varies::Nowhere => false,
            Varies::In(known) => known.places.iter().any(|place| place.number.is_some()),
            Varies::Wholly => true,
        }
    }

    /// A number varies although it has not been seen to.
    pub fn add(&mut self, place: Place) {
        match self {
            Varies::Wholly => {}
            Varies::In(known) => {
                known.places.insert(place);
            }
            Varies::Nowhere => {
                let mut known = Known::default();
                known.places.insert(place);
                *self = Varies::In(known);
            }
        }
    }

    /// Whether another line could be this one.
    pub fn alike(&self, line: &[u8], other: &[u8]) -> Option<Alike> {
        if line == other {
            return Some(Alike::Same);
        }
        let is_known = |known: &Known| {
            let found = differing(line, other)?;
            let most = known.most_numbers_vary(line);
            let mut alike = Alike::Same;
            for place in &found {
                alike = alike.max(match place {
                    place if known.covers(place, most) => Alike::AsRunsDiffer,
                    place if known.in_last_digits && place.is_in_last_digits() => Alike::InLastDigits,
                    _ => return None,
                });
            }
            Some(alike)
        };
        match self {
            Varies::Nowhere => None,
            Varies::In(known) => is_known(known),
            Varies::Wholly => Some(Alike::AsRunsDiffer),
        }
    }

    /// The line with a star wherever it varies.
    pub fn starred(&self, line: &[u8]) -> Vec<u8> {
        let known = match self {
            Varies::Nowhere => return line.to_vec(),
            Varies::Wholly => return b"*".to_vec(),
            Varies::In(known) => known,
        };
        let mut starred = Vec::new();
        let mut word = 0;
        for part in by_words(line) {
            if is_space(part) {
                starred.extend(part);
                continue;
            }
            let mut numbers = 0..;
            let is_star = |number| known.places.contains(&Place { word, number });
            if is_star(None) {
                starred.push(b'*');
            } else {
                for piece in pieces(part) {
                    match is_number(piece) && is_star(numbers.next()) {
                        true => starred.push(b'*'),
                        false => starred.extend(piece),
                    }
                }
            }
            word += 1;
        }
        starred
    }

    /// How many numbers there are in the line, and how many of them do not vary.
    pub fn numbers(&self, line: &[u8]) -> Numbers {
        let mut sum = Numbers::default();
        for (word, text) in words(line).enumerate() {
            let numbers = pieces(text).into_iter().filter(|piece| is_number(piece));
            for (number, _) in numbers.enumerate() {
                let varies = match self {
                    Varies::Nowhere => false,
                    Varies::Wholly => true,
                    Varies::In(known) => [None, Some(number)]
                        .into_iter()
                        .any(|number| known.places.contains(&Place { word, number })),
                };
                sum.all += 1;
                sum.compared += usize::from(!varies);
            }
        }
        sum
    }
}

impl Differing<'_> {
    /// Whether it is a number with a fraction, and differs as sums of the same floats in another order do.
    fn is_in_last_digits(&self) -> bool {
        self.place.number.is_some()
            && has_fraction(self.one)
            && has_fraction(self.other)
            && !are_apart(self.one, self.other, OF_LAST_DIGITS)
    }
}

/// Of a number: what sums of the same floats in another order differ by at most.
const OF_LAST_DIGITS: f64 = 1e-9;

fn has_fraction(number: &[u8]) -> bool {
    number.iter().any(|byte| matches!(byte, b'.' | b'e' | b'E'))
}

/// Whether two numbers differ by more than a thousandth of the larger one.
fn are_far_apart(one: &[u8], other: &[u8]) -> bool {
    are_apart(one, other, 1e-3)
}

/// Whether two numbers differ by more than this part of the larger one.
fn are_apart(one: &[u8], other: &[u8], part: f64) -> bool {
    let number = |text: &[u8]| std::str::from_utf8(text).ok()?.parse::<f64>().ok();
    match (number(one), number(other)) {
        (Some(one), Some(other)) => (one - other).abs() > part * one.abs().max(other.abs()),
        _ => true,
    }
}

/// A line without its numbers, which lines of one column have in common, and where its numbers stand.
pub fn form(line: &[u8]) -> (Vec<u8>, Vec<Place>) {
    let (mut form, mut places) = (Vec::new(), Vec::new());
    for (word, text) in words(line).enumerate() {
        let mut numbers = 0..;
        for piece in pieces(text) {
            match is_number(piece) {
                true => {
                    form.push(b'#');
                    let number = numbers.next();
                    places.push(Place { word, number });
                }
                false => form.extend(piece),
            }
        }
        form.push(b' ');
    }
    (form, places)
}

/// A word without its numbers.
pub fn form_of_word(word: &[u8]) -> Vec<u8> {
    let piece = |piece: &[u8]| match is_number(piece) {
        true => b"#".to_vec(),
        false => piece.to_vec(),
    };
    pieces(word).into_iter().flat_map(piece).collect()
}

/// How much the first number of a word is, a time in seconds.
pub fn measure(word: &[u8]) -> Option<f64> {
    let pieces = pieces(word);
    let at = pieces.iter().position(|piece| is_number(piece))?;
    let number: f64 = std::str::from_utf8(pieces[at]).ok()?.parse().ok()?;
    let of_seconds = pieces.get(at + 1).and_then(|rest| {
        let units = [("ns", 1e-9), ("µs", 1e-6), ("ms", 1e-3)].into_iter();
        let mut units = units.filter(|(unit, _)| behind(rest, unit).is_some());
        units.next()
    });
    Some(number * of_seconds.map_or(1.0, |(_, of_seconds)| of_seconds))
}

/// The number at a place of a line.
pub fn number_at<'l>(line: &'l [u8], place: &Place) -> Option<&'l [u8]> {
    let numbers = pieces(words(line).nth(place.word)?);
    numbers
        .into_iter()
        .filter(|piece| is_number(piece))
        .nth(place.number?)
}

/// Where two lines differ; `None` if they have different numbers of words, or only one has a line feed.
fn differing<'l>(one: &'l [u8], other: &'l [u8]) -> Option<Vec<Differing<'l>>> {
    let (one_words, other_words): (Vec<_>, Vec<_>) = (words(one).collect(), words(other).collect());
    if one_words.len() != other_words.len() || one.ends_with(b"\n") != other.ends_with(b"\n") {
        return None;
    }
    let mut places = Vec::new();
    for (word, (one, other)) in one_words.into_iter().zip(other_words).enumerate() {
        if one == other {
            continue;
        }
        let (ones, others) = (pieces(one), pieces(other));
        let is_same_form = ones.len() == others.len()
            && ones
                .iter()
                .zip(&others)
                .all(|(one, other)| one == other || is_number(one) && is_number(other));
        if !is_same_form {
            let place = Place { word, number: None };
            places.push(Differing { place, one, other });
            continue;
        }
        let numbers = ones.into_iter().zip(others).filter(|(one, _)| is_number(one));
        for (number, (one, other)) in numbers.enumerate() {
            if one != other {
                let number = Some(number);
                let place = Place { word, number };
                places.push(Differing { place, one, other });
            }
        }
    }
    Some(places)
}

/// Which numbers of two words are others, where the words differ in numbers and the units of times behind them.
fn differing_times(one: &[u8], other: &[u8]) -> Option<Vec<usize>> {
    let (ones, others) = (pieces(one), pieces(other));
    if ones.len() != others.len() {
        return None;
    }
    let mut differing = BTreeSet::new();
    let mut numbers = 0;
    let mut after_number = false;
    for (one, other) in ones.into_iter().zip(others) {
        let are_numbers = is_number(one) && is_number(other);
        if one != other {
            let number = match are_numbers {
                true => numbers,
                false if after_number && behind_unit(one)? == behind_unit(other)? => numbers - 1,
                false => return None,
            };
            differing.insert(number);
        }
        numbers += usize::from(are_numbers);
        after_number = are_numbers;
    }
    Some(differing.into_iter().collect())
}

/// What stands behind the unit that a text begins with, one of those that a `Duration` is shown in.
fn behind_unit(text: &[u8]) -> Option<&[u8]> {
    ["ns", "µs", "ms", "s"]
        .into_iter()
        .find_map(|unit| behind(text, unit))
}

/// What stands behind this unit, if the text begins with it.
fn behind<'l>(text: &'l [u8], unit: &str) -> Option<&'l [u8]> {
    let rest = text.strip_prefix(unit.as_bytes())?;
    (!rest.first().is_some_and(u8::is_ascii_alphanumeric)).then_some(rest)
}

fn is_space(part: &[u8]) -> bool {
    part.first().is_some_and(u8::is_ascii_whitespace)
}

/// The words, and the space between them: a number that is wider leaves less of it.
fn by_words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.chunk_by(|one, next| one.is_ascii_whitespace() == next.is_ascii_whitespace())
}

/// The words of a line.
pub fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    by_words(line).filter(|part| !is_space(part))
}

/// The numbers of a word, and what stands between them: `t=-1.5e-3s` is `t=`, `-1.5e-3`, `s`.
fn pieces(word: &[u8]) -> Vec<&[u8]> {
    let mut pieces = Vec::new();
    let (mut begin, mut at) = (0, 0);
    while at < word.len() {
        match ends_at(word, at) {
            Some(end) => {
                if begin < at {
                    pieces.push(&word[begin..at]);
                }
                pieces.push(&word[at..end]);
                (begin, at) = (end, end);
            }
            None => at += 1,
        }
    }
    if begin < at {
        pieces.push(&word[begin..]);
    }
    pieces
}

fn is_number(piece: &[u8]) -> bool {
    ends_at(piece, 0) == Some(piece.len())
}

/// Where the number ends that begins here, if one does. A sign belongs to it where it stands between no two words. A time
/// of day and a date are one number: their parts change together.
fn ends_at(word: &[u8], at: usize) -> Option<usize> {
    let digits = |mut at: usize| {
        while word.get(at).is_some_and(u8::is_ascii_digit) {
            at += 1;
        }
        at
    };
    let is_sign = |at: usize| word.get(at).is_some_and(|byte| matches!(byte, b'+' | b'-'));
    let before = at.checked_sub(1).map(|before| word[before]);
    if is_sign(at) && before.is_some_and(|before| before.is_ascii_alphanumeric()) {
        return None;
    }
    let whole = at + usize::from(is_sign(at));
    let mut end = digits(whole);
    if end == whole {
        return None;
    }
    let part = |at: usize, sign: u8| match word.get(at) == Some(&sign) {
        true => Some(digits(at + 1)).filter(|end| *end > at + 1),
        false => None,
    };
    if let Some(date) = part(end, b'-').and_then(|month| part(month, b'-'))
        && date == whole + "2026-11-25".len()
    {
        return Some(date);
    }
    while let Some(next) = part(end, b':') {
        end = next;
    }
    if word.get(end) == Some(&b'.') {
        end = digits(end + 1);
    }
    if word.get(end).is_some_and(|byte| matches!(byte, b'e' | b'E')) {
        let exponent = end + 1 + usize::from(is_sign(end + 1));
        let after = digits(exponent);
        if after > exponent {
            end = after;
        }
    }
    Some(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(word: &str) -> Vec<String> {
        let pieces = pieces(word.as_bytes());
        let text = |piece: &&[u8]| String::from_utf8_lossy(piece).into_owned();
        pieces.iter().map(text).collect()
    }

    #[test]
    fn numbers_are_found_in_words() {
        for (word, expected) in [
            ("t=-1.5e-3s", &["t=", "-1.5e-3", "s"][..]),
            ("10:00:01.5", &["10:00:01.5"]),
            ("2026-11-25T10:00Z", &["2026-11-25", "T", "10:00", "Z"]),
            ("3-4-5", &["3", "-", "4", "-", "5"]),
            ("a:1:", &["a:", "1", ":"]),
            ("0.1,-2,3e5", &["0.1", ",", "-2", ",", "3e5"]),
            ("3.", &["3."]),
            ("1e", &["1", "e"]),
            ("x-1", &["x-", "1"]),
            ("abc", &["abc"]),
            ("--", &["--"]),
        ] {
            assert_eq!(texts(word), expected, "{word}");
        }
    }

    fn learnt(line: &str, others: &[&str]) -> Varies {
        let mut varies = Varies::default();
        for other in others {
            varies.learn(line.as_bytes(), other.as_bytes());
        }
        varies
    }

    #[test]
    fn what_stands_beside_a_time_is_compared() {
        let line = "energy -1.25 after  9.5 s\n";
        let varies = learnt(line, &["energy -1.25 after 10.5 s\n"]);
        let alike = |other: &str| varies.alike(line.as_bytes(), other.as_bytes());
        assert_eq!(alike(line), Some(Alike::Same));
        assert_eq!(alike("energy -1.25 after 99.5 s\n"), Some(Alike::AsRunsDiffer));
        for wrong in [
            "energy -1.26 after  9.5 s\n",
            "energy -1.25 after  9.5 ms\n",
            "energy -1.25 after  9.5 s",
            "energy -1.25 after  9.5 s more\n",
            "energy -1.25 after never s\n",
        ] {
            assert_eq!(alike(wrong), None, "{wrong}");
        }
        assert_eq!(
            varies.starred(line.as_bytes()),
            b"energy -1.25 after  * s\n".as_slice()
        );
        let numbers = varies.numbers(line.as_bytes());
        assert_eq!((numbers.all, numbers.compared), (2, 1));
    }

    #[test]
    fn units_and_names_vary_as_words() {
        let line = "sum 3 in 980us by ann\n";
        let varies = learnt(line, &["sum 3 in 1.1ms by bob\n"]);
        let alike = |other: &str| varies.alike(line.as_bytes(), other.as_bytes());
        assert_eq!(alike("sum 3 in 7s by cy\n"), Some(Alike::AsRunsDiffer));
        assert_eq!(alike("sum 4 in 7s by cy\n"), None);
        assert_eq!(varies.starred(line.as_bytes()), b"sum 3 in * by *\n".as_slice());
    }

    #[test]
    fn a_time_that_varies_may_have_another_unit() {
        let line = "sum 3 in (981.5ms, 7)\n";
        let varies = learnt(line, &["sum 3 in (990.25ms, 7)\n"]);
        let alike = |other: &str| varies.alike(line.as_bytes(), other.as_bytes());
        assert_eq!(alike("sum 3 in (1.02s, 7)\n"), Some(Alike::AsRunsDiffer));
        assert_eq!(alike("sum 3 in (870µs, 7)\n"), Some(Alike::AsRunsDiffer));
        for wrong in [
            "sum 3 in (1.02s, 8)\n",
            "sum 3 in (1.02m, 7)\n",
            "sum 3 in (1.02sec, 7)\n",
            "sum 3 in (1.02s; 7)\n",
            "sum 3 in (s, 7)\n",
        ] {
            assert_eq!(alike(wrong), None, "{wrong}");
        }
        let varies = learnt("took 3ms of 4ms\n", &["took 3ms of 5ms\n"]);
        assert_eq!(varies.alike(b"took 3ms of 4ms\n", b"took 3s of 4ms\n"), None);
    }

    #[test]
    fn what_is_drawn_at_random_is_the_same_somewhere_by_chance() {
        let line = "spins up up down up: energy 5\n";
        let varies = learnt(line, &["spins up down down down: energy 5\n"]);
        let alike = |other: &str| varies.alike(line.as_bytes(), other.as_bytes());
        assert_eq!(
            alike("spins up up up down: energy 5\n"),
            Some(Alike::AsRunsDiffer),
            "`down` and `up` have been seen to vary"
        );
        assert_eq!(alike("spins up up left up: energy 5\n"), None);
        assert_eq!(alike("spins up up down up: energy 6\n"), None);
        let line = "0 1 1 0 1 1\n";
        let varies = learnt(line, &["1 1 0 1 0 1\n"]);
        let alike = |other: &str| varies.alike(line.as_bytes(), other.as_bytes());
        assert_eq!(alike("0 0 1 0 1 0\n"), Some(Alike::AsRunsDiffer));
        assert_eq!(alike("0 2 1 0 1 1\n"), None);
        // Numbers of which few vary are each compared.
        let line = "step 3 of 5 took 3 ms and 7\n";
        let varies = learnt(line, &["step 3 of 5 took 5 ms and 7\n"]);
        assert_eq!(
            varies.alike(line.as_bytes(), b"step 5 of 5 took 3 ms and 7\n"),
            None
        );
    }

    #[test]
    fn sums_of_floats_may_have_other_last_digits_and_nothing_else() {
        let line = "pi 0.49936417186079 of 100 in 3 parts\n";
        let varies = Varies::in_last_digits(line.as_bytes());
        let alike = |other: &str| varies.alike(line.as_bytes(), other.as_bytes());
        assert_eq!(alike(line), Some(Alike::Same));
        assert_eq!(
            alike("pi 0.4993641718607904 of 100 in 3 parts\n"),
            Some(Alike::InLastDigits)
        );
        for wrong in [
            "pi 0.49936418 of 100 in 3 parts\n",
            "pi 0.49936417186079 of 101 in 3 parts\n",
            "pi 0.49936417186079 of 100 in 4 parts\n",
            "pi 0.49936417186079 of 100.0 in 3 parts\n",
            "pj 0.49936417186079 of 100 in 3 parts\n",
        ] {
            assert_eq!(alike(wrong), None, "{wrong}");
        }
        let numbers = varies.numbers(line.as_bytes());
        assert_eq!((numbers.all, numbers.compared), (3, 3));
        assert_eq!(Varies::in_last_digits(b"100 in 3 parts\n"), Varies::Nowhere);
    }

    #[test]
    fn a_line_of_other_words_varies_wholly() {
        let line = "three of them\n";
        let varies = learnt(line, &["none\n"]);
        assert_eq!(varies, Varies::Wholly);
        assert_eq!(
            varies.alike(line.as_bytes(), b"anything at all\n"),
            Some(Alike::AsRunsDiffer)
        );
        assert_eq!(Varies::Nowhere.alike(b"a", b"b"), None);
    }
}
