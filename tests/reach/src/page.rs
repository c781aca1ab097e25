//! The table as a page of the book.

use std::collections::BTreeSet;
use std::fmt::Write;

use crate::table::{Row, Table, Verdict};

const HEAD: &str = "\
# Reach

This page shows which [unmodified programs](unmodified.md) ckpt takes. The packages of `testdata/` were written for this table, in the styles of scientists: translated Fortran, iterators, structs and traits, several modules and crates, rayon, clap and serde,
CSV output during the run, pointer kernels, simulations behind `Box<dyn Solver>`. None of them knows of ckpt, and none was edited to fit. This command writes the page:

<!-- console: not run: it builds and kills forty packages -->
```console
cargo run -p reach
```

It gives every program to `cargo ckpt crashtest` as it stands. `cargo run -p reach -- NAME ..` tests a few packages again and keeps the other rows, `--sites N` tries more kills, `--check` only compares the verdicts with this page. The default
tests do a small share of it. The numbers are in `reach.json`, beside this page.
";

const LEGEND: &str = "
- **Lines** of Rust in the package, without blank ones and comments.
- **Loops** that `main` reaches, and how many of them have a site. `cargo ckpt plan` says so from the source, before rustc is asked about types.
- **Variables** that are saved, against those in scope at the sites and at the calls that lead there.
- **Checkpoint**: the largest file. **Memory**: the most that the program had resident without ckpt. A small program is mostly its own code and the C library, a checkpoint mostly its own bookkeeping: compare large ones.
- **Restarts** from a checkpoint that were tried. Each must print and write what the uninterrupted run does.
- **Verdict**: *passed*: with no edit. *refused; passed with the advice*: ckpt said why not and what to write instead. With that change, the `advice.patch` of the package, the crash test passes. *FAILED*: neither.
";

/// Writes the page.
pub fn page(table: &Table) -> String {
    let mut text = format!("{HEAD}\n{}\n\n", summary(table));
    text += "| package | program | lines | loops, with a site | variables saved, in scope | checkpoint | memory | restarts | verdict |\n";
    text += "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | --- |\n";
    for row in &table.rows {
        line(&mut text, row);
    }
    text += LEGEND;
    let not_passed: Vec<&Row> = table
        .rows
        .iter()
        .filter(|row| row.verdict != Verdict::Passed)
        .collect();
    if !not_passed.is_empty() {
        text += "\n## What did not simply pass\n";
    }
    for row in not_passed {
        let _ = writeln!(text, "\n{}: {}\n\n```text", title(row), row.verdict.word());
        for said in &row.said {
            // A fence in a message would end the block.
            let _ = writeln!(text, "{}", said.replace("```", "'''"));
        }
        text += "```\n";
    }
    text
}

fn title(row: &Row) -> String {
    if row.program.is_empty() {
        format!("`{}`", row.package)
    } else {
        format!("`{}`, run as `{}`", row.package, row.program)
    }
}

fn summary(table: &Table) -> String {
    let packages: BTreeSet<&str> = table.rows.iter().map(|row| row.package.as_str()).collect();
    let number = |verdict| table.rows.iter().filter(|row| row.verdict == verdict).count();
    format!(
        "{} packages, {} runs: {} passed with no edit, {} refused with advice that makes them pass, {} failed.",
        packages.len(),
        table.rows.len(),
        number(Verdict::Passed),
        number(Verdict::Refused),
        number(Verdict::Failed)
    )
}

fn line(text: &mut String, row: &Row) {
    let program = if row.program.is_empty() {
        String::new()
    } else {
        format!("`{}`", row.program)
    };
    let plan = row.plan;
    let _ = writeln!(
        text,
        "| {} | {program} | {} | {}, {} | {} of {} | {} | {} | {} | {} |",
        row.package,
        row.lines,
        plan.loops,
        plan.chosen,
        plan.variables_saved,
        plan.variables_in_scope,
        bytes(row.checkpoint_bytes),
        bytes(row.peak_bytes),
        row.restarts,
        row.verdict.word()
    );
}

/// `3.2 MiB`; a dash where nothing is known.
fn bytes(count: Option<u64>) -> String {
    let Some(count) = count else {
        return "-".into();
    };
    let kib = count as f64 / 1024.0;
    if kib < 1000.0 {
        format!("{kib:.0} KiB")
    } else {
        format!("{:.1} MiB", kib / 1024.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_is_shown_as_one_with_what_was_said() {
        let failed = Row {
            package: "ode".into(),
            said: vec!["error: no place".into()],
            ..Row::default()
        };
        let passed = Row {
            package: "lbm".into(),
            verdict: Verdict::Passed,
            peak_bytes: Some(3 << 20),
            ..Row::default()
        };
        let page = page(&Table {
            rows: vec![passed, failed],
        });
        assert!(page.contains("2 packages, 2 runs: 1 passed with no edit, 0 refused with advice that makes them pass, 1 failed."), "{page}");
        assert!(
            page.contains("| ode |") && page.contains("**FAILED**") && page.contains("error: no place"),
            "{page}"
        );
        assert!(page.contains("3.0 MiB"), "{page}");
    }
}
