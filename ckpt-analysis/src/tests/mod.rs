//! Tests of the whole-package analysis: what each stage makes of small programs of several modules.

mod again;
mod calls;
mod chance;
mod choice;
mod cost;
mod device_arrays;
mod device_numbers;
mod effects;
mod examples;
mod inputs;
mod items;
mod lengths;
mod lent;
mod lines;
mod names;
mod patterns;
mod reexecution;
mod robustness;
mod safe_asking;
mod safe_calls;
mod safe_choice;
mod safe_order;
mod safe_points;
mod safe_threads;
mod safe_told;
mod safe_turns;
mod safe_values;
mod simulator;
mod skeletons;
mod state;
mod statics;
mod strangers;
mod team_size;
mod wrappers;

#[path = "../../../ckpt-compiler/tests/support/sources.rs"]
mod sources;

use crate::items::FnId;
use crate::{
    Analysis, ChooseOptions, CrateKind, CrateSource, FileId, Placement, Program, SourceFile, analyse, place,
};
use std::collections::BTreeMap;

/// A file's name and its text. `main.rs` and `lib.rs` are roots, `a.rs` is the module `a` of the root before it.
type Files<'a> = &'a [(&'a str, &'a str)];

pub(crate) fn program(files: Files<'_>) -> Program {
    let mut program = Program::default();
    for (name, text) in files {
        let id = FileId(program.files.len());
        program.files.push(SourceFile {
            path: (*name).into(),
            text: (*text).to_owned(),
            ast: ckpt_compiler::parse::dialect::parse_file(text)
                .unwrap_or_else(|error| panic!("{name}: {error}")),
            base: 0,
        });
        let stem = name.trim_end_matches(".rs");
        match stem {
            "main" | "lib" => program.crates.push(CrateSource {
                name: stem.to_owned(),
                package: "test".into(),
                kind: if stem == "main" {
                    CrateKind::Bin
                } else {
                    CrateKind::Lib
                },
                edition: 2021,
                root: id,
                modules: BTreeMap::new(),
                externs: BTreeMap::new(),
            }),
            module => {
                let of = program.crates.last_mut().expect("a root first");
                of.modules.insert((of.root, vec![module.to_owned()]), id);
            }
        }
    }
    let lib = program.crates.iter().position(|one| one.name == "lib");
    for one in &mut program.crates {
        if let Some(index) = lib {
            one.externs.insert("my_lib".into(), index);
        }
    }
    program
}

pub(crate) fn analysed(files: Files<'_>) -> Analysis {
    analyse(&program(files))
}

fn placed(files: Files<'_>) -> (Analysis, Placement) {
    let analysis = analysed(files);
    let main = analysis.items.main_of(0).expect("a main");
    let placement = place(&analysis, main, &ChooseOptions::default());
    (analysis, placement)
}

fn function(analysis: &Analysis, display: &str) -> FnId {
    let found = analysis.items.functions.iter().find(|one| one.display == display);
    found
        .unwrap_or_else(|| panic!("no `{display}` in\n{}", analysis.items))
        .id
}

/// The names of the functions that the calls of a function lead to, in order.
fn callees(analysis: &Analysis, caller: &str) -> Vec<String> {
    let id = function(analysis, caller);
    let calls = analysis.graph.calls.iter().filter(|call| call.caller == id);
    calls
        .flat_map(|call| &call.callees)
        .map(|callee| analysis.items.function(*callee).display.clone())
        .collect()
}

/// The first lines of the loops with a site.
fn sites(placement: &Placement) -> Vec<&str> {
    placement.sites.iter().map(|site| site.header.as_str()).collect()
}

/// Function names with their marked calls.
fn instrumented(analysis: &Analysis, placement: &Placement) -> Vec<(String, Vec<String>)> {
    let one = |one: &crate::placement::PlacedFunction| {
        let calls = one.calls.iter().map(|name| name.name.clone()).collect();
        (analysis.items.function(one.function).display.clone(), calls)
    };
    placement.functions.iter().map(one).collect()
}
