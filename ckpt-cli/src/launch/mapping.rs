//! `--map OLD=NEW`: where files of the program are on this machine.

use std::ffi::OsString;
use std::fmt;
use std::path::{Component, Path, PathBuf};

use ckpt::session::arguments::moved_argument;

use crate::failure::{Failure, Outcome, says};

/// The variable that carries all of them into the program, one a line.
const VARIABLE: &str = "CKPT_MAP";

/// What is below one path is below another now. A command takes one of each path that was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mapping {
    old: PathBuf,
    new: PathBuf,
}

impl fmt::Display for Mapping {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "{}={}", self.old.display(), self.new.display())
    }
}

impl Mapping {
    /// As it is written on a command line.
    pub fn parse(text: &str) -> Result<Mapping, String> {
        let (old, new) = text
            .split_once('=')
            .ok_or("write OLD=NEW: where it was, and where it is")?;
        if !Path::new(old).is_absolute() {
            return Err(format!(
                "`{old}` is not an absolute path; relative ones go by the folder that the program is started in"
            ));
        }
        if new.is_empty() || text.contains('\n') {
            return Err("write OLD=NEW: where it was, and where it is".into());
        }
        let is_up = |path: &Path| path.components().any(|part| part == Component::ParentDir);
        if is_up(Path::new(old)) {
            return Err(format!(
                "`{old}` has `..` in it; write the path as the program was told it, without"
            ));
        }
        let new = match is_up(Path::new(new)) {
            true => std::fs::canonicalize(new).map_err(|error| format!("`{new}`: {error}"))?,
            false => std::path::absolute(new).map_err(|error| error.to_string())?,
        };
        Ok(Mapping { old: old.into(), new })
    }

    /// Where the files are.
    pub fn is_now_in(&self) -> &Path {
        &self.new
    }

    /// The first two that say of one path that it is elsewhere, if there are any.
    fn contradiction(all: &[Mapping]) -> Option<(&Mapping, &Mapping)> {
        all.iter().enumerate().find_map(|(at, one)| {
            let mut later = all[at + 1..].iter();
            later
                .find(|other| other.old == one.old && other.new != one.new)
                .map(|other| (one, other))
        })
    }

    /// None of these contradicts another.
    ///
    /// # Errors
    /// Two do.
    pub fn are_clear(all: &[Mapping]) -> Outcome<()> {
        match Mapping::contradiction(all) {
            Some((one, other)) => Err(Failure::usage(says!(
                "E3159: two `--map` say of one path where it is now"
            ))
            .because(format!("--map {one}"))
            .because(format!("--map {other}"))
            .help("leave one of them out; of paths that lie in one another the longest counts")),
            None => Ok(()),
        }
    }

    /// What the program is told.
    pub fn variable(all: &[Mapping]) -> Option<(&'static str, OsString)> {
        let line = |mapping: &Mapping| {
            let mut line = mapping.old.clone().into_os_string();
            line.push("=");
            line.push(&mapping.new);
            line
        };
        let lines: Vec<OsString> = all.iter().map(line).collect();
        (!lines.is_empty()).then(|| (VARIABLE, lines.join("\n".as_ref())))
    }

    /// An argument of the last run, if it is a path that has moved where it is now: as the program will look at it.
    pub fn of_argument(all: &[Mapping], argument: &str) -> OsString {
        match Mapping::variable(all) {
            Some((_, map)) => moved_argument(argument, &map),
            None => argument.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_that_have_moved_are_arguments_elsewhere() {
        let all = ["/home/a=/work", "/home/a/data=/data"].map(|text| Mapping::parse(text).unwrap());
        for (old, new) in [
            ("/home/a/deck.toml", "/work/deck.toml"),
            ("/home/a/data/x", "/data/x"),
            ("/home/a", "/work"),
            ("/home/ab/deck.toml", "/home/ab/deck.toml"),
            ("deck.toml", "deck.toml"),
            ("--out=/home/a", "--out=/home/a"),
        ] {
            assert_eq!(Mapping::of_argument(&all, old), new);
        }
        let (name, lines) = Mapping::variable(&all).unwrap();
        assert_eq!(
            (name, lines.to_str().unwrap()),
            ("CKPT_MAP", "/home/a=/work\n/home/a/data=/data")
        );
        assert_eq!(Mapping::variable(&[]), None);
        let up = Mapping::parse("/a=src/..").unwrap();
        assert_eq!(up.new, std::fs::canonicalize(".").unwrap());
        assert!(
            Mapping::parse("a=/b").is_err()
                && Mapping::parse("/a").is_err()
                && Mapping::parse("/a=").is_err()
                && Mapping::parse("/a/../b=/c").is_err()
                && Mapping::parse("/a=/none/of/these/../c").is_err()
        );
    }
}
