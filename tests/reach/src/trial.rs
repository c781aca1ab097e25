//! One run of one package: copied, planned, crash-tested, and tried once more with ckpt's advice if it was refused.

use std::ffi::OsString;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use crate::lines;
use crate::programs::{Expected, Package, Run};
use crate::table::{Plan, Row, Verdict};
use crate::tool::{Answer, Tool, root};

/// How hard a crash test tries.
#[derive(Debug, Clone, Copy)]
pub struct Effort {
    /// Kills at this many site visits.
    pub sites: u64,
    /// Rollbacks in the process, in place of kills.
    pub in_process: bool,
    /// Programs are built as for a release.
    pub release: bool,
}

/// What `cargo ckpt plan` prints, as far as the table needs it.
#[derive(Debug, Deserialize)]
struct PlanAnswer {
    totals: Plan,
}

/// What `cargo ckpt crashtest` prints, as far as the table needs it.
#[derive(Debug, Deserialize)]
struct TestAnswer {
    passed: bool,
    checkpoint_bytes: Option<u64>,
    reference: Reference,
    restarts: Restarts,
    trials: Vec<Trial>,
}

#[derive(Debug, Deserialize)]
struct Reference {
    peak_bytes: Option<u64>,
    files: Vec<Written>,
}

#[derive(Debug, Deserialize)]
struct Written {
    path: PathBuf,
    compared: bool,
}

#[derive(Debug, Deserialize)]
struct Restarts {
    from_checkpoint: usize,
}

#[derive(Debug, Deserialize)]
struct Trial {
    verdict: String,
    place: Option<String>,
    line: Option<usize>,
    what: Option<String>,
    expected: Option<String>,
    found: Option<String>,
    stderr: Option<String>,
}

/// The random kills are the same every time: a table that changes by itself says nothing.
const SEED: &str = "1";
/// Lines of a message that are kept.
const MOST_LINES: usize = 24;

/// Tries all runs of a package.
///
/// # Errors
/// The test itself cannot be carried out; whatever becomes of the package is a row.
pub fn package(package: &Package, tool: &Tool, effort: Effort) -> Result<Vec<Row>> {
    let test = Test {
        package,
        tool,
        effort,
    };
    let copy = package.copy_to(&scratch("plain"))?;
    let lines = lines::of_package(&copy)?;
    let mut rows = Vec::new();
    for (index, run) in package.runs.iter().enumerate() {
        let mut row = Row {
            package: package.name.clone(),
            run: index,
            program: run.words(),
            lines,
            plan: plan(tool, &copy, run)?,
            ..Row::default()
        };
        test.crashtest(&copy, run, &mut row)?;
        if row.verdict == Verdict::Failed
            && let Expected::Refused(reason) = &package.expected
        {
            test.with_advice(run, reason, &mut row)?;
        }
        rows.push(row);
    }
    Ok(rows)
}

/// Where copies are made: always the same place, so that what cargo has built for one is found again, and outside of this
/// workspace, which they are no members of.
fn scratch(kind: &str) -> PathBuf {
    let mut hasher = DefaultHasher::new();
    root().hash(&mut hasher);
    let tree = format!("ckpt-reach-{:016x}", hasher.finish());
    std::env::temp_dir().join(tree).join(kind)
}

fn plan(tool: &Tool, copy: &Path, run: &Run) -> Result<Plan> {
    let answer = tool.call(copy, "plan", &bin(run))?;
    Ok(serde_json::from_str::<PlanAnswer>(&answer.output)
        .map_or_else(|_| Plan::default(), |plan| plan.totals))
}

struct Test<'t> {
    package: &'t Package,
    tool: &'t Tool,
    effort: Effort,
}

impl Test<'_> {
    fn crashtest(&self, copy: &Path, run: &Run, row: &mut Row) -> Result<()> {
        let answer = self.tool.call(copy, "crashtest", &self.options(run))?;
        let Ok(test) = serde_json::from_str::<TestAnswer>(&answer.output) else {
            row.said = message(&answer, self.tool);
            return Ok(());
        };
        row.checkpoint_bytes = test.checkpoint_bytes;
        row.peak_bytes = test.reference.peak_bytes;
        row.restarts = test.restarts.from_checkpoint;
        let is_not_compared = |file: &&PathBuf| {
            let mut written = test.reference.files.iter();
            !written.any(|written| written.compared && written.path == **file)
        };
        if !test.passed {
            row.said = difference(&test);
        } else if let Some(file) = run.files.iter().find(is_not_compared) {
            row.said = vec![format!("`{}` was not compared", file.display())];
        } else {
            row.verdict = Verdict::Passed;
        }
        Ok(())
    }

    fn options(&self, run: &Run) -> Vec<OsString> {
        let mut options = bin(run);
        let sites = self.effort.sites.to_string();
        options.extend(["--seed", SEED, "--sites", &sites].map(OsString::from));
        if self.effort.in_process {
            options.push("--in-process".into());
        }
        if self.effort.release {
            options.push("--release".into());
        }
        options.extend(["--commits", "2", "--random", "2", "--rows", "1"].map(OsString::from));
        for pattern in &self.package.ignore {
            options.extend(["--ignore", pattern].map(OsString::from));
        }
        options.push("--".into());
        options.extend(run.args.iter().map(OsString::from));
        options
    }

    /// A refusal is right if it names the reason, and if what it advises makes the program pass.
    fn with_advice(&self, run: &Run, reason: &str, row: &mut Row) -> Result<()> {
        if !row.said.iter().any(|line| line.contains(reason)) {
            row.said
                .push(format!("(expected was a refusal that says `{reason}`)"));
            return Ok(());
        }
        let copy = self.package.copy_to(&scratch("advised"))?;
        apply(&self.package.advice(), &copy)?;
        let mut advised = Row::default();
        self.crashtest(&copy, run, &mut advised)?;
        if advised.verdict == Verdict::Passed {
            row.verdict = Verdict::Refused;
            row.checkpoint_bytes = advised.checkpoint_bytes;
            row.peak_bytes = advised.peak_bytes;
            row.restarts = advised.restarts;
        } else {
            row.said.push("(with the advice followed:)".into());
            row.said.extend(advised.said);
        }
        Ok(())
    }
}

fn bin(run: &Run) -> Vec<OsString> {
    run.bin
        .iter()
        .flat_map(|bin| ["--bin".into(), bin.into()])
        .collect()
}

/// What ckpt, or rustc for it, said in the end; the last lines.
fn message(answer: &Answer, tool: &Tool) -> Vec<String> {
    let is_progress = |line: &&str| {
        let word = line.trim_start().split(' ').next().unwrap_or_default();
        matches!(
            word,
            "Compiling" | "Checking" | "Finished" | "Blocking" | "Updating" | "Locking" | "Adding"
        ) || line.is_empty()
    };
    let mut lines: Vec<String> = answer
        .said
        .lines()
        .filter(|line| !is_progress(line))
        .map(|line| line.trim_end().to_owned())
        .collect();
    lines.drain(..lines.len().saturating_sub(MOST_LINES));
    if answer.status.is_none() {
        lines.push(format!(
            "it took longer than {} s and was ended",
            tool.limit.as_secs()
        ));
    }
    lines
}

/// The first trial that went wrong.
fn difference(test: &TestAnswer) -> Vec<String> {
    let wrong = test.trials.iter().filter(|trial| trial.verdict != "same");
    let mut lines = vec![format!(
        "{} of {} trials went wrong; the first:",
        wrong.clone().count(),
        test.trials.len()
    )];
    let Some(first) = wrong.clone().next() else {
        return vec!["no restart found a checkpoint to resume from".into()];
    };
    let place = match (&first.place, first.line) {
        (Some(place), Some(line)) => format!("{place}, line {line}: "),
        _ => String::new(),
    };
    lines.push(place + first.what.as_deref().unwrap_or_default());
    lines.extend(first.expected.iter().map(|line| format!("- {line}")));
    lines.extend(first.found.iter().map(|line| format!("+ {line}")));
    lines.extend(
        first
            .stderr
            .iter()
            .flat_map(|text| text.lines())
            .map(str::to_owned),
    );
    lines
}

fn apply(patch: &Path, folder: &Path) -> Result<()> {
    let status = Command::new("git")
        .args(["apply", "-p1"])
        .arg(patch)
        .current_dir(folder)
        .status()
        .context("cannot start git")?;
    ensure!(status.success(), "{} does not apply", patch.display());
    Ok(())
}
