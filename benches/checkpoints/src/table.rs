//! The table: a line for each program on the terminal, and markdown for the book.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use crate::programs::Home;
use crate::{Measured, RUNS_TO_FAILURE};

/// Between these lines of a page stands what was measured last.
const BEGIN: &str = "<!-- checkpoints: begin -->";
const END: &str = "<!-- checkpoints: end -->";

const HEAD: &str = "\
| program | plain, s | instrumented | one checkpoint | Young/Daly | memory, MB | registered, MB | written, MB | agree, copy, write, sync, ms | read, check, walk, ms | recovery, s |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
";

/// What was measured so far.
pub struct Table {
    is_optimised: bool,
    rows: Vec<Measured>,
}

fn megabytes(bytes: u64) -> String {
    format!("{:.2}", bytes as f64 / 1e6)
}

fn milliseconds(all: &[f64]) -> String {
    let words: Vec<String> = all
        .iter()
        .map(|seconds| format!("{:.1}", seconds * 1e3))
        .collect();
    words.join(", ")
}

fn ratio(number: f64) -> String {
    format!("{number:.3}")
}

/// For the terminal.
pub fn line(measured: &Measured) -> String {
    let cells = cells(measured, |own, _| own);
    let names = HEAD.lines().next().unwrap_or_default();
    let names = names.trim_matches('|').split('|').map(str::trim);
    let said: Vec<String> = names
        .zip(&cells)
        .skip(1)
        .map(|(name, cell)| format!("{name}: {cell}"))
        .collect();
    format!("{}: {}", cells[0], said.join("; "))
}

/// What stands in a row; `beside` puts what the thesis prints beside what is ours.
fn cells(measured: &Measured, beside: impl Fn(String, Option<String>) -> String) -> [String; 11] {
    let Measured {
        program,
        plain,
        ratios: [instrumented, one, daly],
        daly: (interval, count),
        memory,
        taken,
        recovered,
    } = measured;
    let thesis = &program.thesis;
    let at_most = |bound: Option<f64>| bound.map(|bound| format!("at most {bound}"));
    let share = 100.0 * taken.bytes as f64 / *memory as f64;
    let home = match program.home {
        Home::Mpi(1) => "1 rank".to_owned(),
        Home::Mpi(ranks) => format!("{ranks} ranks"),
        Home::Alone => "alone".to_owned(),
    };
    let run = match program.arguments {
        "" => home,
        arguments => format!("{home}: `{arguments}`"),
    };
    let (parts, resumed) = (&taken.parts, &recovered.resumed);
    [
        format!("{}, {run}", program.name),
        format!("{plain:.2}"),
        beside(ratio(*instrumented), at_most(thesis.instrumented)),
        beside(ratio(*one), at_most(thesis.one)),
        beside(
            format!("{} ({count}, {interval:.2} s apart)", ratio(*daly)),
            at_most(thesis.daly),
        ),
        megabytes(*memory),
        beside(
            format!("{} ({share:.1} %)", megabytes(taken.bytes)),
            match (thesis.megabytes, thesis.share) {
                (Some([registered, _]), Some(share)) => Some(format!("{registered}; {share} %")),
                (Some([registered, _]), None) => Some(registered.to_string()),
                (None, share) => share.map(|share| format!("{share} %")),
            },
        ),
        beside(
            megabytes(taken.file),
            thesis.megabytes.map(|[_, written]| written.to_string()),
        ),
        milliseconds(&[parts.agreed, parts.copied, parts.written, parts.synced]),
        milliseconds(&[resumed.read, resumed.checked, resumed.walked]),
        format!("{:.2}", recovered.after),
    ]
}

impl Table {
    /// Of programs that are built for release, or without optimisation.
    pub fn begin(is_optimised: bool) -> Self {
        Table {
            is_optimised,
            rows: Vec::new(),
        }
    }

    pub fn add(&mut self, measured: Measured) {
        self.rows.push(measured);
    }

    /// In the place of what the page had.
    ///
    /// # Errors
    /// The page cannot be read or written, or has no such place.
    pub fn put_into(&self, page: &Path) -> Result<()> {
        let shown = page.display();
        let text = fs::read_to_string(page).with_context(|| format!("cannot read {shown}"))?;
        let place = || format!("{shown} has no `{BEGIN}` and `{END}`");
        let (before, rest) = text.split_once(BEGIN).with_context(place)?;
        let (_, after) = rest.split_once(END).with_context(place)?;
        let text = format!("{before}{BEGIN}\n{}{END}{after}", self.markdown());
        fs::write(page, text).with_context(|| format!("cannot write {shown}"))
    }

    pub fn markdown(&self) -> String {
        let mut text = format!(
            "Measured on commit {}{}, with {} cores and a load of {}. The interval of Young/Daly is that of a program that fails once in {RUNS_TO_FAILURE} of its run times.\n\n{HEAD}",
            commit().unwrap_or_else(|| "unknown".to_owned()),
            if self.is_optimised {
                ""
            } else {
                ", without optimisation"
            },
            std::thread::available_parallelism().map_or(1, usize::from),
            load(),
        );
        let beside = |own: String, thesis: Option<String>| match thesis {
            Some(thesis) => format!("{own} *{thesis}*"),
            None => own,
        };
        for row in &self.rows {
            text += &format!("| {} |\n", cells(row, beside).join(" | "));
        }
        text
    }
}

/// The commit of the sources.
fn commit() -> Option<String> {
    let mut git = Command::new("git");
    let git = git
        .args(["rev-parse", "--short", "HEAD"])
        .current_dir(env!("CARGO_MANIFEST_DIR"));
    let output = git.output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8(output.stdout).ok()?.trim().to_owned())
}

/// Of the machine, over the last minute.
fn load() -> String {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').next().unwrap_or_default().to_owned()
}
