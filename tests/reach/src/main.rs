//! `cargo run -p reach [-- NAME ..]`: every package of `testdata/` through `cargo ckpt`, and the page of the book about it.

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use clap::Parser;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use reach::page;
use reach::programs::Package;
use reach::table::Table;
use reach::tool::{Tool, root};
use reach::trial::{self, Effort};

const EXAMPLE: &str = "\
Example:
  cargo run -p reach -- lbm nas-cg
  cargo run -p reach -- --check --jobs 2";

/// Crash-test programs that have never heard of ckpt, and write the page of the book about it
///
/// Takes the packages of `testdata/` as they are, and writes docs/src/reach.md and docs/src/reach.json. Packages that are
/// not named keep their rows.
#[derive(Debug, Parser)]
#[command(after_help = EXAMPLE)]
struct Options {
    /// Packages; all of them if none is named
    names: Vec<String>,
    /// Kill each program at this many site visits
    #[arg(long, value_name = "N", default_value_t = 5)]
    sites: u64,
    /// Write nothing: compare the verdicts with the page, and fail if one differs
    #[arg(long)]
    check: bool,
    /// Roll the programs back in their process instead of killing them; the page is not written
    #[arg(long, requires = "check")]
    in_process: bool,
    /// Build the programs as for a release, where functions with sites and kernels stand twice; the page is not written
    #[arg(long, requires = "check")]
    release: bool,
    /// Try nothing: write the page from the rows in docs/src/reach.json
    #[arg(long, conflicts_with_all = ["names", "check"])]
    page: bool,
    /// Packages at a time
    #[arg(long, value_name = "N", default_value_t = 1)]
    jobs: usize,
    /// End a call of `cargo ckpt` after this many seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 1200)]
    limit: u64,
    /// Never use the network
    #[arg(long)]
    offline: bool,
}

fn main() -> Result<ExitCode> {
    let options = Options::parse();
    if options.page {
        Book::open()?.write()?;
        return Ok(ExitCode::SUCCESS);
    }
    let all = Package::all(&root().join("testdata"))?;
    for name in &options.names {
        ensure!(
            all.iter().any(|package| package.name == *name),
            "there is no testdata/{name}"
        );
    }
    let is_wanted = |package: &&Package| options.names.is_empty() || options.names.contains(&package.name);
    let wanted: Vec<&Package> = all.iter().filter(is_wanted).collect();
    let tool = Tool::build(
        &target_folder()?,
        Duration::from_secs(options.limit),
        options.offline,
    )?;
    let mut book = Book::open()?;
    book.table.keep_only(
        &all.iter()
            .map(|package| package.name.as_str())
            .collect::<Vec<_>>(),
    );
    let book = Mutex::new(book);
    let differences = try_all(&wanted, &tool, &options, &book)?;
    for difference in &differences {
        println!("{difference}");
    }
    if options.check && !differences.is_empty() {
        return Ok(ExitCode::FAILURE);
    }
    Ok(ExitCode::SUCCESS)
}

/// The page and the file beside it.
struct Book {
    page: PathBuf,
    table: Table,
}

impl Book {
    fn open() -> Result<Self> {
        let page = root().join("docs/src/reach.md");
        let table = Table::read(&page.with_extension("json"))?;
        Ok(Self { page, table })
    }

    fn write(&self) -> Result<()> {
        self.table.write(&self.page.with_extension("json"))?;
        fs::write(&self.page, page::page(&self.table))
            .with_context(|| format!("cannot write {}", self.page.display()))
    }
}

/// Tries the packages, several at a time. The page is written after each, so that an interrupted run was not for nothing.
/// Gives what is not as the page said.
fn try_all(packages: &[&Package], tool: &Tool, options: &Options, book: &Mutex<Book>) -> Result<Vec<String>> {
    let bar = progress_bar(packages.len());
    let next = AtomicUsize::new(0);
    let differences = Mutex::new(Vec::new());
    let effort = Effort {
        sites: options.sites,
        in_process: options.in_process,
        release: options.release,
    };
    let work = || -> Result<()> {
        while let Some(package) = packages.get(next.fetch_add(1, Ordering::Relaxed)) {
            bar.set_message(package.name.clone());
            let rows = trial::package(package, tool, effort).with_context(|| package.name.clone())?;
            for row in &rows {
                bar.suspend(|| println!("{} {}: {}", row.package, row.program, row.verdict.word()));
            }
            bar.inc(1);
            let mut book = book.lock().unwrap_or_else(PoisonError::into_inner);
            let new = book.table.differences(&rows);
            differences
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .extend(new);
            if !options.check {
                book.table.replace(rows);
                book.write()?;
            }
        }
        Ok(())
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..options.jobs.max(1)).map(|_| scope.spawn(work)).collect();
        workers.into_iter().try_for_each(|worker| {
            worker
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    })?;
    bar.finish_and_clear();
    Ok(differences.into_inner().unwrap_or_else(PoisonError::into_inner))
}

/// On standard error, and only on a terminal.
fn progress_bar(packages: usize) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(packages as u64), ProgressDrawTarget::stderr());
    let style = ProgressStyle::with_template("{spinner} {wide_bar} {pos}/{len} {elapsed} {msg}");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

/// Cargo's target folder: this program is in `debug` or `release` below it.
fn target_folder() -> Result<PathBuf> {
    let own = std::env::current_exe()?;
    let folder = own
        .ancestors()
        .nth(2)
        .context("this program is run from cargo's target folder")?;
    Ok(folder.to_path_buf())
}
