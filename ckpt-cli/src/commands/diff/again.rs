//! How two runs were started: in what that differs, and the commands that start both again with more checkpoints.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use ckpt::session::job::Job;
use ckpt::session::{PLACE_NOTE, Place};
use ckpt::store::Meta;
use similar::{Algorithm, ChangeTag, capture_diff_slices};

use crate::launch::Record;
use crate::render::command_line;
use crate::stores;
use crate::stores::continued::Continued;

/// How a run was started.
pub struct Start {
    /// The program and its arguments.
    command: Vec<String>,
    /// How many processes there were, where there were several.
    ranks: Option<u32>,
    /// What `cargo ckpt run` is told of the program, as it is typed.
    program: Vec<String>,
    /// The folder that it was started in, where that is another one.
    folder: Option<PathBuf>,
}

impl Start {
    /// That of the run which has written a checkpoint, as far as it is known.
    pub fn of(store: &Path, meta: &Meta) -> Option<Start> {
        let home = stores::home(store);
        let job = meta.run.and_then(|run| Job::read(&home, run).ok().flatten());
        let continued = Continued {
            run: meta.run,
            meta: Some(meta.clone()),
            job,
            instead_of_copies: None,
        };
        let command = continued.command().filter(|command| !command.is_empty())?;
        let record = meta.run.and_then(|run| Record::read(store, run));
        let by_hand = || vec![command_line(&["--exe".to_owned(), command[0].clone()])];
        let ranks = continued.ranks().filter(|ranks| *ranks > 1);
        let is_said = record.as_ref().is_some_and(|record| record.ranks.ranks.is_some());
        let mut program = record.map_or_else(by_hand, |record| record.words_of_the_program());
        program.extend(ranks.filter(|_| !is_said).map(|ranks| format!("-n {ranks}")));
        let place = meta.notes.iter().find(|(name, _)| name == PLACE_NOTE);
        let place = place.and_then(|(_, text)| serde_json::from_str::<Place>(text).ok());
        let elsewhere = |place: &Place| !place.is_now(Path::new("."), &home);
        Some(Start {
            ranks,
            command,
            program,
            folder: place.filter(elsewhere).map(|place| place.folder),
        })
    }

    /// For people: the name of the program, how many processes, its arguments.
    fn words(&self) -> Vec<String> {
        let name = Path::new(&self.command[0])
            .file_name()
            .map(OsStr::to_string_lossy);
        let mut words = vec![name.unwrap_or_default().into_owned()];
        words.extend(self.ranks.map(|ranks| format!("({ranks} processes)")));
        words.extend_from_slice(&self.command[1..]);
        words
    }

    /// The command that starts it again, into another store.
    fn again(&self, every: u64, finer: &Path) -> String {
        let mut words = self.program.clone();
        let there = match &self.folder {
            Some(_) => std::path::absolute(finer).unwrap_or_else(|_| finer.to_owned()),
            None => finer.to_owned(),
        };
        words.extend(into(every, &there));
        if let [_, arguments @ ..] = self.command.as_slice()
            && !arguments.is_empty()
        {
            words.push("--".into());
            words.extend(
                arguments
                    .iter()
                    .map(|word| command_line(std::slice::from_ref(word))),
            );
        }
        match &self.folder {
            Some(folder) => {
                let folder = command_line(&[folder.to_string_lossy().into_owned()]);
                typed(&format!("(cd {folder} && cargo ckpt run"), &words) + ")"
            }
            None => typed("cargo ckpt run", &words),
        }
    }
}

/// The options that have a run keep what is compared.
fn into(every: u64, store: &Path) -> [String; 3] {
    let store = store.to_string_lossy().into_owned();
    [
        format!("--every {every}"),
        "--keep all".into(),
        command_line(&["--dir".to_owned(), store]),
    ]
}

/// A command in lines that a terminal has place for, which a shell takes as one.
fn typed(first: &str, words: &[String]) -> String {
    const COLUMNS: usize = 76;
    let mut text = format!("  {first}");
    let mut used = text.len();
    for word in words {
        let width = word.chars().count();
        if used + 1 + width > COLUMNS {
            text += " \\\n     ";
            used = 5;
        }
        text.push(' ');
        text += word;
        used += 1 + width;
    }
    text
}

/// In what the commands of two runs differ; nothing where they do not, or that is not known.
pub fn difference(a: Option<&Start>, b: Option<&Start>) -> String {
    let (Some(a), Some(b)) = (a, b) else {
        return String::new();
    };
    let (a, b) = (a.words(), b.words());
    if a == b {
        return String::new();
    }
    let ops = capture_diff_slices(Algorithm::Myers, &a, &b);
    let changes: Vec<_> = ops.iter().flat_map(|op| op.iter_changes(&a, &b)).collect();
    let only = |tag: ChangeTag| {
        let words = changes.iter().filter(|change| change.tag() == tag);
        let words: Vec<String> = words.map(|change| change.value()).collect();
        match words.is_empty() {
            true => "nothing".to_owned(),
            false => command_line(&words),
        }
    };
    format!(
        "The runs were started in different ways:\n  a: {}\n  b: {}\n  only a has: {}\n  only b has: {}\n\n",
        command_line(&a),
        command_line(&b),
        only(ChangeTag::Delete),
        only(ChangeTag::Insert),
    )
}

/// The commands that bring the reader closer to the visit at which two runs part: both again, with a checkpoint at every so many visits,
/// and the comparison with these options.
pub fn commands(every: u64, runs: [(&Path, Option<&Start>); 2], options: &[String]) -> String {
    let mut finer: Vec<PathBuf> = Vec::new();
    let mut lines = Vec::new();
    for (store, start) in runs {
        let next = finer_than(store, &finer);
        lines.push(match start {
            Some(start) => start.again(every, &next),
            None => {
                let mut words = vec!["PROGRAM".to_owned()];
                words.extend(into(every, &next));
                words.push("-- ARGUMENTS".into());
                typed("cargo ckpt run", &words)
            }
        });
        finer.push(next);
    }
    let stores = finer.iter().map(|store| store.to_string_lossy().into_owned());
    let words: Vec<String> = stores.chain(options.iter().cloned()).collect();
    let words: Vec<String> = words
        .iter()
        .map(|word| command_line(std::slice::from_ref(word)))
        .collect();
    lines.push(typed("cargo ckpt diff", &words));
    lines.join("\n") + "\n"
}

/// A store that is not there yet, beside this one: `a-fine.ckpt.d`.
fn finer_than(store: &Path, taken: &[PathBuf]) -> PathBuf {
    let name = store.file_name().unwrap_or_default().to_string_lossy();
    let name = name.strip_suffix(".ckpt.d").unwrap_or(&name);
    let mut number = 1;
    loop {
        let more = match number {
            1 => String::new(),
            _ => format!("-{number}"),
        };
        let finer = store.with_file_name(format!("{name}-fine{more}.ckpt.d"));
        if !finer.exists() && !taken.contains(&finer) {
            return finer;
        }
        number += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn start(arguments: &[&str]) -> Start {
        let command = ["/x/heat"].iter().chain(arguments).map(|&word| word.to_owned());
        Start {
            command: command.collect(),
            ranks: None,
            program: vec!["--exe /x/heat".into()],
            folder: None,
        }
    }

    #[test]
    fn what_only_one_command_has_is_named() {
        let (a, b) = (
            start(&["--steps", "9", "--out", "a b"]),
            start(&["--steps", "9", "--seed", "2"]),
        );
        let told = difference(Some(&a), Some(&b));
        assert!(told.contains("  a: heat --steps 9 --out 'a b'\n"), "{told}");
        assert!(told.contains("only a has: --out 'a b'\n"), "{told}");
        assert!(told.contains("only b has: --seed 2\n"), "{told}");
        assert_eq!(difference(Some(&a), Some(&a)), "");
        assert_eq!(difference(Some(&a), None), "");
    }

    #[test]
    fn both_runs_go_into_stores_of_their_own() {
        let (a, b) = (start(&["--out", "a b"]), start(&[]));
        let (one, other) = (Path::new("x/a.ckpt.d"), Path::new("x/a.ckpt.d"));
        let told = commands(
            5,
            [(one, Some(&a)), (other, Some(&b))],
            &["--ulp".into(), "3".into()],
        );
        let typed: Vec<Vec<String>> = told
            .replace("\\\n", "")
            .lines()
            .filter_map(shlex::split)
            .collect();
        let line = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let mut first =
            line("cargo ckpt run --exe /x/heat --every 5 --keep all --dir x/a-fine.ckpt.d -- --out");
        first.push("a b".into());
        let second = line("cargo ckpt run --exe /x/heat --every 5 --keep all --dir x/a-fine-2.ckpt.d");
        let third = line("cargo ckpt diff x/a-fine.ckpt.d x/a-fine-2.ckpt.d --ulp 3");
        assert_eq!(typed, [first, second, third]);
        assert!(told.lines().all(|line| line.len() <= 80), "{told}");
    }

    #[test]
    fn several_processes_are_started_and_in_their_folder() {
        let mut a = start(&[]);
        a.ranks = Some(4);
        a.program.push("-n 4".into());
        a.folder = Some("/jobs/one".into());
        let typed = a.again(1, Path::new("/s/a.ckpt.d"));
        assert!(
            typed.starts_with("  (cd /jobs/one && cargo ckpt run --exe /x/heat -n 4 --every 1"),
            "{typed}"
        );
        assert!(typed.ends_with("/s/a.ckpt.d)"), "{typed}");
    }
}
