//! The files that a run leaves behind, compared with those of an uninterrupted run: text line by line, with the lines
//! that vary by themselves masked; everything else byte by byte.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Component, Path, PathBuf};

use regex::Regex;
use serde::Serialize;

use super::cover::{self, Chance};
use super::text::{Difference, Reference};
use super::varying::{Alike, Numbers};
use crate::failure::{AboutFile, Failure, Outcome, says};

/// The output files of an uninterrupted run.
#[derive(Debug, Default)]
pub struct Files {
    expected: BTreeMap<PathBuf, Expected>,
}

#[derive(Debug)]
enum Expected {
    Text(Reference),
    Bytes(Vec<u8>),
    /// Not the same in all uninterrupted runs, in a way that lines cannot express.
    Varying,
}

/// An output file, as the report lists it.
#[derive(Debug, Clone, Serialize)]
pub struct Listed {
    /// Relative to the working folder.
    pub path: PathBuf,
    /// Size in the uninterrupted run.
    pub bytes: u64,
    /// Lines that uninterrupted runs do not have in common, with a star wherever they differ.
    pub varying: Vec<String>,
    /// False if the file differs between uninterrupted runs as a whole.
    pub compared: bool,
}

/// The output files of one run, by their path relative to the working folder.
pub type Contents = BTreeMap<PathBuf, Vec<u8>>;

/// Reads the given files of a working folder.
pub fn read(folder: &Path, paths: &[PathBuf]) -> Outcome<Contents> {
    let mut contents = Contents::new();
    for path in paths {
        let bytes = fs::read(folder.join(path)).about("cannot read the output file", path)?;
        contents.insert(path.clone(), bytes);
    }
    Ok(contents)
}

/// The files to compare: those that the program wrote, or among them those that the user named.
pub fn chosen(written: Vec<PathBuf>, named: &[PathBuf]) -> Outcome<Vec<PathBuf>> {
    if named.is_empty() {
        return Ok(written);
    }
    for name in named {
        if name.is_absolute() || name.components().any(|part| part == Component::ParentDir) {
            return Err(Failure::usage(says!(
                "E3017: `{}` is outside of the working folder",
                name.display()
            ))
            .help(
                "a crash test can compare only what the program writes below the folder it is started in",
            ));
        }
        if !written.iter().any(|path| path.starts_with(normal(name))) {
            let wrote: Vec<_> = written.iter().map(|path| path.display().to_string()).collect();
            let wrote = if wrote.is_empty() {
                "it wrote no file".into()
            } else {
                format!("it wrote {}", wrote.join(", "))
            };
            return Err(
                Failure::usage(says!("E3018: the program did not write `{}`", name.display())).because(wrote),
            );
        }
    }
    Ok(among(written, named))
}

/// The files that are named, or in a named folder; all if none is named.
pub fn among(written: Vec<PathBuf>, named: &[PathBuf]) -> Vec<PathBuf> {
    let named: Vec<_> = named.iter().map(|name| normal(name)).collect();
    written
        .into_iter()
        .filter(|path| named.is_empty() || named.iter().any(|name| path.starts_with(name)))
        .collect()
}

fn normal(name: &Path) -> PathBuf {
    name.components()
        .filter(|part| *part != Component::CurDir)
        .collect()
}

impl Files {
    /// What one uninterrupted run wrote.
    pub fn of_run(contents: &Contents, ignore: &[Regex]) -> Self {
        let expected = contents.iter();
        let expected = expected.map(|(path, bytes)| match is_text(bytes) {
            true => (path.clone(), Expected::Text(Reference::of_run(bytes, ignore))),
            false => (path.clone(), Expected::Bytes(bytes.clone())),
        });
        Files {
            expected: expected.collect(),
        }
    }

    /// The program adds floats up in an order which is left to chance. Said before anything is learnt.
    pub fn in_last_digits(&mut self) {
        for expected in self.expected.values_mut() {
            if let Expected::Text(reference) = expected {
                reference.in_last_digits();
            }
        }
    }

    /// Learns from another uninterrupted run what varies.
    pub fn learn(&mut self, other: &Contents, ignore: &[Regex]) {
        for (path, expected) in &mut self.expected {
            let is_alike = match (&mut *expected, other.get(path)) {
                (Expected::Text(reference), Some(bytes)) => {
                    let place = path.display().to_string();
                    is_text(bytes) && reference.learn(&place, bytes, ignore).is_ok()
                }
                (Expected::Bytes(expected), Some(bytes)) => expected == bytes,
                (Expected::Varying, _) | (_, None) => false,
            };
            if !is_alike {
                *expected = Expected::Varying;
            }
        }
        for path in other.keys() {
            self.expected.entry(path.clone()).or_insert(Expected::Varying);
        }
    }

    /// How many numbers they have, and how many of them are compared; a file that is no text counts as one.
    pub fn numbers(&self) -> Numbers {
        let all = self.expected.values();
        all.map(|expected| match expected {
            Expected::Text(reference) => reference.numbers(),
            Expected::Bytes(_) => Numbers { all: 1, compared: 1 },
            Expected::Varying => Numbers { all: 1, compared: 0 },
        })
        .sum()
    }

    /// The files, for the report.
    pub fn listed(&self) -> Vec<Listed> {
        let listed = |(path, expected): (&PathBuf, &Expected)| {
            let (bytes, varying, compared) = match expected {
                Expected::Text(reference) => (
                    reference.lines.iter().map(|line| line.bytes.len()).sum(),
                    reference.varying().map(|(_, text)| text).collect(),
                    true,
                ),
                Expected::Bytes(bytes) => (bytes.len(), Vec::new(), true),
                Expected::Varying => (0, Vec::new(), false),
            };
            Listed {
                path: path.clone(),
                bytes: bytes as u64,
                varying,
                compared,
            }
        };
        self.expected.iter().map(listed).collect()
    }

    /// Compares the files of a run; finds the first difference.
    pub fn compare(&self, found: &Contents, ignore: &[Regex]) -> Result<Alike, Box<Difference>> {
        let mut alike = Alike::Same;
        for (path, expected) in &self.expected {
            let place = path.display().to_string();
            match (expected, found.get(path)) {
                (Expected::Varying, _) => {}
                (_, None) => return Err(whole_file(place, "the file is missing")),
                (Expected::Text(reference), Some(bytes)) => {
                    alike = alike.max(reference.compare(&place, bytes, ignore)?);
                }
                (Expected::Bytes(expected), Some(bytes)) => same_bytes(place, expected, bytes)?,
            }
        }
        match found.keys().find(|path| !self.expected.contains_key(*path)) {
            Some(path) => Err(whole_file(
                path.display().to_string(),
                "the uninterrupted run makes no such file",
            )),
            None => Ok(alike),
        }
    }
}

impl Files {
    /// Whether another run could have written this by chance.
    pub fn could_be(&self, found: &Contents, ignore: &[Regex], chance: Chance) -> bool {
        if chance == Chance::Order && self.compare(found, ignore).is_ok() {
            return true;
        }
        let each = |(path, expected): (&PathBuf, &Expected)| match (expected, found.get(path)) {
            (Expected::Varying, _) => true,
            (_, None) => false,
            (Expected::Text(reference), Some(bytes)) => {
                cover::could_be(reference, &[bytes.as_slice()], ignore, chance)
            }
            (Expected::Bytes(expected), Some(bytes)) => chance == Chance::Draws || expected == bytes,
        };
        self.expected.iter().all(each) && found.keys().all(|path| self.expected.contains_key(path))
    }
}

fn is_text(bytes: &[u8]) -> bool {
    !bytes.contains(&0) && std::str::from_utf8(bytes).is_ok()
}

fn whole_file(place: String, what: &str) -> Box<Difference> {
    Box::new(Difference {
        place,
        line: 0,
        expected: None,
        found: None,
        what: what.into(),
    })
}

fn same_bytes(place: String, expected: &[u8], found: &[u8]) -> Result<(), Box<Difference>> {
    if expected == found {
        return Ok(());
    }
    let at = expected.iter().zip(found).take_while(|(a, b)| a == b).count();
    let byte = |bytes: &[u8]| bytes.get(at).map(|byte| format!("0x{byte:02x}"));
    let what = format!(
        "differs from byte {at} on ({} bytes expected, {} found)",
        expected.len(),
        found.len()
    );
    Err(Box::new(Difference {
        place,
        line: 0,
        expected: byte(expected),
        found: byte(found),
        what,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contents(list: &[(&str, &[u8])]) -> Contents {
        list.iter()
            .map(|(path, bytes)| (PathBuf::from(path), bytes.to_vec()))
            .collect()
    }

    fn of_two_runs(one: &Contents, other: &Contents) -> Files {
        let mut files = Files::of_run(one, &[]);
        files.learn(other, &[]);
        files
    }

    #[test]
    fn text_is_compared_by_line_and_bytes_by_byte() {
        let one = contents(&[("log", b"a\nat 10:00\n"), ("picture", b"\0\x01\x02")]);
        let other = contents(&[("log", b"a\nat 10:01\n"), ("picture", b"\0\x01\x02")]);
        let files = of_two_runs(&one, &other);
        let again = contents(&[("log", b"a\nat 12:00\n"), ("picture", b"\0\x01\x02")]);
        assert_eq!(files.compare(&again, &[]), Ok(Alike::AsRunsDiffer));
        let wrong = contents(&[("log", b"a\nat 12:00\n"), ("picture", b"\0\x01\x03")]);
        let difference = files.compare(&wrong, &[]).unwrap_err();
        assert_eq!(
            (difference.place.as_str(), difference.found.as_deref()),
            ("picture", Some("0x03"))
        );
        assert!(
            files
                .compare(&contents(&[("log", b"a\nat 1\n")]), &[])
                .unwrap_err()
                .what
                .contains("missing")
        );
    }

    #[test]
    fn files_that_vary_by_themselves_are_listed_as_not_compared() {
        let one = contents(&[("stamp", b"\0a"), ("f", b"x")]);
        let other = contents(&[("stamp", b"\0b"), ("f", b"x")]);
        let files = of_two_runs(&one, &other);
        let varying: Vec<_> = files.listed().into_iter().filter(|file| !file.compared).collect();
        assert_eq!(varying.len(), 1);
        assert_eq!(varying[0].path, Path::new("stamp"));
        assert_eq!(
            files.compare(&contents(&[("stamp", b"\0c"), ("f", b"x")]), &[]),
            Ok(Alike::Same)
        );
    }

    #[test]
    fn named_files_must_be_written_and_inside() {
        let written = vec![PathBuf::from("a.csv"), PathBuf::from("out/b.png")];
        assert_eq!(chosen(written.clone(), &[]).unwrap().len(), 2);
        assert_eq!(
            chosen(written.clone(), &["./out".into()]).unwrap(),
            [PathBuf::from("out/b.png")]
        );
        assert!(
            chosen(written.clone(), &["c".into()])
                .unwrap_err()
                .to_string()
                .contains("a.csv")
        );
        assert!(chosen(written, &["../x".into()]).is_err());
    }
}
