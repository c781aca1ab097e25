//! The rows of the table, and the file beside the page that keeps them.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

/// All rows, in the order of the page.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Table {
    /// One for each run of each package.
    pub rows: Vec<Row>,
}

/// What came of one run of one package.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The package's folder.
    pub package: String,
    /// Which of its runs, from 0 on.
    pub run: usize,
    /// The program with its arguments.
    pub program: String,
    /// Lines of Rust in the package, without blank ones and comments.
    pub lines: usize,
    /// What `cargo ckpt plan` counts.
    #[serde(default)]
    pub plan: Plan,
    /// Size of the largest checkpoint, in bytes.
    pub checkpoint_bytes: Option<u64>,
    /// The most memory that the program had resident, in bytes.
    pub peak_bytes: Option<u64>,
    /// Restarts from a checkpoint.
    pub restarts: usize,
    /// What came out.
    pub verdict: Verdict,
    /// What ckpt said or what differed, for a run that has not simply passed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub said: Vec<String>,
}

/// The numbers of a plan.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// Loops that `main` reaches.
    pub loops: usize,
    /// Those with a site.
    pub chosen: usize,
    /// Variables in scope at the sites and the calls that lead there.
    pub variables_in_scope: usize,
    /// Those that are saved.
    pub variables_saved: usize,
}

/// What came of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Every restart gave the answer of the uninterrupted run, with no edit.
    Passed,
    /// It was refused for the reason that holds, and the advice, followed to the letter, made it pass.
    Refused,
    /// Neither.
    #[default]
    Failed,
}

impl Verdict {
    /// As the page shows it.
    pub fn word(self) -> &'static str {
        match self {
            Verdict::Passed => "passed",
            Verdict::Refused => "refused; passed with the advice",
            Verdict::Failed => "**FAILED**",
        }
    }
}

impl Row {
    fn key(&self) -> (&str, usize) {
        (&self.package, self.run)
    }
}

impl Table {
    /// Reads the file; an empty table where there is none.
    ///
    /// # Errors
    /// The file cannot be read, or is no table.
    pub fn read(path: &Path) -> Result<Self> {
        if !path.exists() {
            return Ok(Self::default());
        }
        let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
        serde_json::from_str(&text).with_context(|| path.display().to_string())
    }

    /// Writes the file.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write(&self, path: &Path) -> Result<()> {
        let text = serde_json::to_string_pretty(self)? + "\n";
        fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
    }

    /// Puts new rows in the place of all old ones of the same packages.
    pub fn replace(&mut self, new: Vec<Row>) {
        self.rows
            .retain(|old| new.iter().all(|row| row.package != old.package));
        self.rows.extend(new);
        self.rows.sort_by(|a, b| a.key().cmp(&b.key()));
    }

    /// Drops the rows of packages that are not there any more.
    pub fn keep_only(&mut self, packages: &[&str]) {
        self.rows.retain(|row| packages.contains(&row.package.as_str()));
    }

    /// Where the verdicts of these rows are not those of the table, in words.
    pub fn differences(&self, rows: &[Row]) -> Vec<String> {
        rows.iter()
            .filter_map(|row| {
                let known = self.rows.iter().find(|known| known.key() == row.key());
                let before = known.map_or("not in the table", |known| known.verdict.word());
                (known.map(|known| known.verdict) != Some(row.verdict)).then(|| {
                    let what = format!(
                        "{} `{}`: {before}; now {}",
                        row.package,
                        row.program,
                        row.verdict.word()
                    );
                    row.said.iter().fold(what, |what, line| what + "\n  " + line)
                })
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(package: &str, run: usize, verdict: Verdict) -> Row {
        Row {
            package: package.into(),
            run,
            verdict,
            ..Row::default()
        }
    }

    #[test]
    fn rows_of_a_package_are_replaced_together() {
        let mut table = Table {
            rows: vec![row("a", 0, Verdict::Passed), row("a", 1, Verdict::Passed)],
        };
        table.replace(vec![row("b", 0, Verdict::Passed), row("a", 0, Verdict::Failed)]);
        let keys: Vec<_> = table.rows.iter().map(Row::key).collect();
        assert_eq!(keys, [("a", 0), ("b", 0)]);
        assert_eq!(table.rows[0].verdict, Verdict::Failed);
    }

    #[test]
    fn a_verdict_that_changed_or_is_new_is_a_difference() {
        let table = Table {
            rows: vec![row("a", 0, Verdict::Passed)],
        };
        assert!(table.differences(&[row("a", 0, Verdict::Passed)]).is_empty());
        assert_eq!(
            table
                .differences(&[row("a", 0, Verdict::Failed), row("b", 0, Verdict::Passed)])
                .len(),
            2
        );
    }

    #[test]
    fn the_file_gives_the_table_back() {
        let path = tempfile::tempdir().unwrap().path().join("none.json");
        assert_eq!(Table::read(&path).unwrap(), Table::default());
        let file = tempfile::NamedTempFile::new().unwrap();
        let table = Table {
            rows: vec![row("a", 0, Verdict::Refused)],
        };
        table.write(file.path()).unwrap();
        assert_eq!(Table::read(file.path()).unwrap(), table);
    }
}
