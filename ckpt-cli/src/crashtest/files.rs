//! The files that a run leaves behind, compared with those of an uninterrupted run: text line by line, with the lines
//! that vary by themselves masked; everything else byte by byte.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Component, Path, PathBuf};

use regex::Regex;
use serde::Serialize;

use super::text::{Difference, Reference};
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
    /// Not the same in two uninterrupted runs, in a way that lines cannot express.
    Varying,
}

/// An output file, as the report lists it.
#[derive(Debug, Clone, Serialize)]
pub struct Listed {
    /// Relative to the working folder.
    pub path: PathBuf,
    /// Size in the uninterrupted run.
    pub bytes: u64,
    /// Lines that two uninterrupted runs do not have in common.
    pub masked: Vec<String>,
    /// False if the file differs between two uninterrupted runs as a whole.
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
    /// Makes the reference of two uninterrupted runs.
    pub fn of_two_runs(one: &Contents, other: &Contents, ignore: &[Regex]) -> Self {
        let paths = one.keys().chain(other.keys());
        let expected = paths.map(|path| {
            (
                path.clone(),
                expected(path, one.get(path), other.get(path), ignore),
            )
        });
        Files {
            expected: expected.collect(),
        }
    }

    /// The files, for the report.
    pub fn listed(&self) -> Vec<Listed> {
        let listed = |(path, expected): (&PathBuf, &Expected)| {
            let (bytes, masked, compared) = match expected {
                Expected::Text(reference) => (
                    reference.lines.iter().map(|line| line.bytes.len()).sum(),
                    reference.masked().map(|(_, text)| text).collect(),
                    true,
                ),
                Expected::Bytes(bytes) => (bytes.len(), Vec::new(), true),
                Expected::Varying => (0, Vec::new(), false),
            };
            Listed {
                path: path.clone(),
                bytes: bytes as u64,
                masked,
                compared,
            }
        };
        self.expected.iter().map(listed).collect()
    }

    /// Compares the files of a run; finds the first difference.
    pub fn compare(&self, found: &Contents, ignore: &[Regex]) -> Result<(), Box<Difference>> {
        for (path, expected) in &self.expected {
            let place = path.display().to_string();
            match (expected, found.get(path)) {
                (Expected::Varying, _) => {}
                (_, None) => return Err(whole_file(place, "the file is missing")),
                (Expected::Text(reference), Some(bytes)) => reference.compare(&place, bytes, ignore)?,
                (Expected::Bytes(expected), Some(bytes)) => same_bytes(place, expected, bytes)?,
            }
        }
        match found.keys().find(|path| !self.expected.contains_key(*path)) {
            Some(path) => Err(whole_file(
                path.display().to_string(),
                "the uninterrupted run makes no such file",
            )),
            None => Ok(()),
        }
    }
}

fn expected(path: &Path, one: Option<&Vec<u8>>, other: Option<&Vec<u8>>, ignore: &[Regex]) -> Expected {
    let (Some(one), Some(other)) = (one, other) else {
        return Expected::Varying;
    };
    let is_text = |bytes: &[u8]| !bytes.contains(&0) && std::str::from_utf8(bytes).is_ok();
    if is_text(one) && is_text(other) {
        let reference = Reference::of_two_runs(&path.display().to_string(), one, other, ignore);
        return reference.map_or(Expected::Varying, Expected::Text);
    }
    if one == other {
        Expected::Bytes(one.clone())
    } else {
        Expected::Varying
    }
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

    #[test]
    fn text_is_compared_by_line_and_bytes_by_byte() {
        let one = contents(&[("log", b"a\nat 10:00\n"), ("picture", b"\0\x01\x02")]);
        let other = contents(&[("log", b"a\nat 10:01\n"), ("picture", b"\0\x01\x02")]);
        let files = Files::of_two_runs(&one, &other, &[]);
        let again = contents(&[("log", b"a\nat 12:00\n"), ("picture", b"\0\x01\x02")]);
        assert_eq!(files.compare(&again, &[]), Ok(()));
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
        let files = Files::of_two_runs(&one, &other, &[]);
        let varying: Vec<_> = files.listed().into_iter().filter(|file| !file.compared).collect();
        assert_eq!(varying.len(), 1);
        assert_eq!(varying[0].path, Path::new("stamp"));
        assert_eq!(
            files.compare(&contents(&[("stamp", b"\0c"), ("f", b"x")]), &[]),
            Ok(())
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
