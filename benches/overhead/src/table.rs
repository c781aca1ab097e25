//! The table of unmodified packages: on the terminal while it is measured, and in the book.

use anyhow::{Context, Error, Result};
use std::path::Path;
use std::process::Command;

/// Between these lines of a page stands what was measured last.
const BEGIN: &str = "<!-- overhead: begin -->";
const END: &str = "<!-- overhead: end -->";

/// A program: instructions of the plain one, and those without and with a session as shares of them.
pub struct Row {
    pub name: String,
    pub plain: f64,
    pub ratios: [f64; 2],
    pub bar: f64,
}

/// What was measured so far.
pub struct Table {
    is_of_all: bool,
    start: String,
    rows: Vec<Row>,
    left_out: Vec<String>,
}

impl Table {
    /// Of all packages, or of some.
    pub fn begin(is_of_all: bool) -> Self {
        Self {
            is_of_all,
            start: String::new(),
            rows: Vec::new(),
            left_out: Vec::new(),
        }
    }

    /// What a program takes that does nothing.
    pub fn start(&mut self, [plain, idle, session]: &[f64; 3]) {
        let million = |count: f64| count / 1e6;
        self.start = format!(
            "A program that does nothing takes {:.2} million instructions, {:.2} million more with ckpt in it, {:.2} million more with a session.",
            million(*plain),
            million(idle - plain),
            million(session - plain)
        );
        println!("{}", self.start);
        println!("instructions of unmodified packages, to those of the plain one");
        println!(
            "{:<22} {:>10} {:>10} {:>12} {:>8}",
            "", "plain", "no session", "nothing due", "bar"
        );
    }

    pub fn add(&mut self, row: Row) {
        let [idle, session] = row.ratios;
        println!(
            "{:<22} {:>8.1} M {idle:>10.4} {session:>12.4} {:>8.3}",
            row.name,
            row.plain / 1e6,
            row.bar
        );
        self.rows.push(row);
    }

    pub fn cannot(&mut self, name: &str, why: &Error) {
        let why = why.to_string();
        println!(
            "{name:<22} not measured: {}",
            why.lines().next().unwrap_or_default()
        );
        self.left_out.push(name.to_owned());
    }

    /// Whether all could be measured.
    pub fn is_whole(&self) -> bool {
        self.left_out.is_empty()
    }

    /// In the place of what the page had.
    ///
    /// # Errors
    /// The page cannot be read or written, or has no such place.
    pub fn put_into(&self, page: &Path) -> Result<()> {
        let shown = page.display();
        let text = std::fs::read_to_string(page).with_context(|| format!("cannot read {shown}"))?;
        let place = || format!("{shown} has no `{BEGIN}` and `{END}`");
        let (before, rest) = text.split_once(BEGIN).with_context(place)?;
        let (_, after) = rest.split_once(END).with_context(place)?;
        let text = format!("{before}{BEGIN}\n{}{END}{after}", self.markdown());
        std::fs::write(page, text).with_context(|| format!("cannot write {shown}"))
    }

    fn markdown(&self) -> String {
        let mut rows: Vec<&Row> = self.rows.iter().collect();
        rows.sort_by(|one, other| other.ratios[1].total_cmp(&one.ratios[1]));
        let which = if self.is_of_all {
            ""
        } else {
            " These are some of the packages, in one run."
        };
        let mut text = format!(
            "Measured on commit {}.{which} {}\n\n| package | million instructions, plain | no session | nothing due |\n| --- | --- | --- | --- |\n",
            commit().unwrap_or_else(|| "unknown".to_owned()),
            self.start
        );
        for Row {
            name,
            plain,
            ratios: [idle, session],
            ..
        } in rows
        {
            text += &format!("| {name} | {:.1} | {idle:.4} | {session:.4} |\n", plain / 1e6);
        }
        if !self.left_out.is_empty() {
            text += &format!("\nNot measured: {}.\n", self.left_out.join(", "));
        }
        text
    }
}

/// The commit of the sources.
fn commit() -> Option<String> {
    let mut git = Command::new("git");
    let output = git
        .args(["rev-parse", "--short", "HEAD"])
        .current_dir(env!("CARGO_MANIFEST_DIR"));
    let output = output.output().ok()?;
    Some(String::from_utf8(output.stdout).ok()?.trim().to_owned())
}
