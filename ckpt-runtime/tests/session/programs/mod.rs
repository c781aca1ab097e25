//! The programs under test, instrumented by hand as the macros do it.

mod clock;
mod closed;
mod ended_globals;
mod files;
mod forks;
mod functions;
mod globals;
mod handlers;
mod input;
mod late_globals;
mod nested;
mod outside;
mod own_file;
mod recursion;
mod refilled;
mod reopened;
mod reopened_team;
mod shared_globals;
mod slips;
mod small_stacks;
mod steps;
mod surroundings;
mod trees;

pub use files::STEPS;
pub use forks::{FORKS_AFTER, OWN_CODE};
pub use steps::{clear, jam, with_note as steps_with_note};
pub use trees::in_memory;

use ckpt::__rt::{FunctionPlan, Program, SiteKind, SitePlan, VariablePlan};

pub fn run(program: &str) -> Result<(), String> {
    match program {
        "own-file" => return own_file::main().map_err(|error| error.to_string()),
        "closed" => return closed::main().map_err(|error| error.to_string()),
        "undo-start" => return files::undo_start(),
        "files" => return files::main().map_err(|error| error.to_string()),
        held if held.starts_with("held-") => {
            return files::held(&held[5..]).map_err(|error| error.to_string());
        }
        forks if forks.starts_with("forks-") => forks::main(&forks[6..]),
        tree if tree.starts_with("tree-") => {
            return trees::main(&tree[5..]).map_err(|error| error.to_string());
        }
        "calls" => return trees::calls::main(),
        "histories" => return trees::histories::main(),
        "functions" => functions::main(),
        "globals" => globals::main(),
        "ended_globals" => ended_globals::main(),
        "late_globals" => late_globals::main(),
        "shared_globals" => shared_globals::main(),
        "handlers" => handlers::main(),
        "small-stacks" => small_stacks::main(),
        "input" => input::main(),
        "nested" => nested::main(),
        "reopened" => reopened::main(),
        "reopened-team" => reopened_team::main(),
        "outside" => return outside::main().map_err(|error| error.to_string()),
        "recursion" => recursion::main(),
        "refilled" => refilled::main(),
        "steps" => return steps::main(),
        "surroundings" => surroundings::main(),
        "manual" => steps::by_hand(),
        wrong if wrong.starts_with("manual-") => return steps::by_hand_wrong(wrong),
        slip => slips::main(slip),
    }
    Ok(())
}

pub const PROGRAM: Program = Program {
    name: "test",
    version: "0.1.0",
    sources: None,
};

/// A plan without variables' lines, for short.
pub const fn plan(
    function: &'static str,
    line: u32,
    attribute: &'static str,
    sites: &'static [SitePlan],
) -> FunctionPlan {
    FunctionPlan {
        function,
        module: "test",
        file: "src/main.rs",
        line,
        layout: 1,
        source: 1,
        attribute,
        sites,
    }
}

pub const fn checkpoint_at(line: u32, variables: &'static [VariablePlan]) -> SitePlan {
    SitePlan {
        line,
        column: 9,
        kind: SiteKind::Checkpoint,
        variables,
    }
}

pub const fn call_at(line: u32, callee: &'static str, variables: &'static [VariablePlan]) -> SitePlan {
    SitePlan {
        line,
        column: 9,
        kind: SiteKind::Call { callee },
        variables,
    }
}

pub const fn variable(key: &'static str, line: u32) -> VariablePlan {
    VariablePlan {
        key,
        line,
        on_demand: false,
    }
}

pub const fn parameter(key: &'static str, line: u32) -> VariablePlan {
    VariablePlan {
        key,
        line,
        on_demand: true,
    }
}

pub const MAIN: &str = "ckpt::main";
pub const INSTRUMENT: &str = "ckpt::instrument";
