//! Every shape of the corpus: plain against instrumented, killed and restarted at every visit of every site.
//!
//! `cargo test -p corpus --test every_site -- TEXT` runs the shapes whose names contain TEXT.

use harness::{Disagreement, Program, Report, Runner, Tally, every_visit, in_parallel, scratch_directory};
use std::path::Path;
use std::process::ExitCode;

const PLAIN: &str = env!("CARGO_BIN_EXE_corpus-plain");
const INSTRUMENTED: &str = env!("CARGO_BIN_EXE_corpus");
/// How the names of shapes begin that call themselves.
const RECURSION: &str = "recursion";

fn main() -> ExitCode {
    let filters: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    let chosen =
        |name: &String| filters.is_empty() || filters.iter().any(|filter| name.contains(filter.as_str()));
    let shapes: Vec<String> = shapes().into_iter().filter(chosen).collect();
    // Those that call themselves once more with deep calls that have no sites.
    let deep = shapes
        .iter()
        .filter(|name| name.starts_with(RECURSION))
        .map(|name| Program {
            name: format!("{name}, deep calls without sites"),
            settings: vec![("CKPT_SKIP_DEEP_SITES".into(), "from:2".into())],
            ..program(name.clone())
        });
    let deep: Vec<Program> = deep.collect();
    let programs: Vec<Program> = shapes.into_iter().map(program).chain(deep).collect();
    let mut report = Report::default();
    in_parallel(&programs, visited)
        .into_iter()
        .for_each(|result| report.add(result));
    if report.print("shapes") {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

fn visited(program: &Program) -> Result<Tally, Disagreement> {
    let tally = every_visit(program)?;
    // All sites of one may be further down than calls have any.
    if tally.visits == 0 && program.settings.is_empty() {
        Err(Disagreement::no_visit(program))
    } else {
        Ok(tally)
    }
}

fn shapes() -> Vec<String> {
    let folder = scratch_directory();
    let list = Runner::new(Path::new(PLAIN), &["--list".to_string()], folder.path()).run();
    String::from_utf8_lossy(&list.stdout)
        .lines()
        .map(str::to_string)
        .collect()
}

fn program(name: String) -> Program {
    Program {
        plain: PLAIN.into(),
        instrumented: INSTRUMENTED.into(),
        arguments: vec![name.clone()],
        name,
        settings: Vec::new(),
        most: usize::MAX,
    }
}
