//! Every shape of the corpus: plain against instrumented, killed and restarted at every visit of every site, and gone back in its
//! process from some of them. Of four shapes one is killed and one goes back; with `SWEEPS=all`, each is both.
//!
//! `cargo test -p corpus --test every_site -- TEXT` runs the shapes whose names contain TEXT; `-- --in-process [TEXT]` lets them go
//! back from every visit, and kills none.

use harness::{
    Disagreement, Marks, Program, Report, Rollbacks, Runner, Tally, every_rollback, every_visit, in_parallel,
    is_all_swept, scratch_directory,
};
use std::path::Path;
use std::process::ExitCode;

const PLAIN: &str = env!("CARGO_BIN_EXE_corpus-plain");
const INSTRUMENTED: &str = env!("CARGO_BIN_EXE_corpus");
/// The option that lets programs go back only, from every visit.
const IN_PROCESS: &str = "--in-process";
/// From so many visits each goes back otherwise.
const GOES_BACK_FROM: usize = 2;
const MARKS: Marks = Marks {
    leaving: ckpt::session::LEAVING_MARK,
    left: ckpt::session::ROLLBACK_MARK,
};
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
    let has_both = is_all_swept() || !filters.is_empty();
    let share = |first: usize| match has_both {
        true => programs.clone(),
        false => programs.iter().skip(first).step_by(4).cloned().collect(),
    };
    let mut report = Report::default();
    let only_rollbacks = std::env::args().any(|argument| argument == IN_PROCESS);
    if !only_rollbacks {
        in_parallel(&share(0), visited)
            .into_iter()
            .for_each(|result| report.add(result));
    }
    let most = if only_rollbacks {
        usize::MAX
    } else {
        GOES_BACK_FROM
    };
    let go_back = if only_rollbacks {
        programs.clone()
    } else {
        share(2)
    };
    let back = in_parallel(&go_back, |program| {
        let program = Program {
            most,
            ..program.clone()
        };
        gone_back(&program)
    });
    back.into_iter().for_each(|result| report.add_rollbacks(result));
    // Shapes with a pool of threads begin anew; where they alone are asked for, none stays.
    let is_right = report.print("shapes") && (report.most_stayed() || !filters.is_empty());
    if is_right {
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

fn gone_back(program: &Program) -> Result<Rollbacks, Disagreement> {
    let rollbacks = every_rollback(program, MARKS)?;
    if rollbacks.all == 0 && program.settings.is_empty() {
        Err(Disagreement::no_visit(program))
    } else {
        Ok(rollbacks)
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
