//! `cargo ckpt plan --stage NAME`: what a stage of the compiler has made, as text.

use std::fmt::{Debug, Write};

use ckpt_analysis::decisions::reexecution::with_again;
use ckpt_analysis::placement::{Candidate, Placement};
use ckpt_analysis::{Analysis, FileId};
use ckpt_compiler::passes::{Stages, analyse};
use proc_macro2::TokenStream;
use quote::ToTokens;

use crate::package::build::driver::made_again;
use crate::package::read::ReadPackage;
use crate::package::show::full::write_out;

/// The stages, in their order: the first six see the whole package, the others one instrumented function at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Stage {
    /// Files and modules
    Parse,
    /// Functions, types, constants and global state
    Items,
    /// Calls and loops
    Calls,
    /// Trips, operations and shares of the loops
    Cost,
    /// The calls that exchange messages, and those that lead to them
    Communications,
    /// The chosen sites, and what was refused
    SafePoints,
    /// The statements with sites, taken apart
    Spine,
    /// Variables, and the order in which they are used
    Bindings,
    /// What is needed at each site
    Liveness,
    /// What each site registers
    Plan,
    /// The instrumented functions
    Emit,
}

/// The artefact of a stage.
pub fn artefact(stage: Stage, package: &ReadPackage, analysis: &Analysis, placement: &Placement) -> String {
    match stage {
        Stage::Parse => files(package),
        Stage::Items => analysis.items.to_string(),
        Stage::Calls => analysis.graph.to_string(),
        Stage::Cost => cost(analysis, placement),
        Stage::Communications => communications(analysis),
        Stage::SafePoints => placement.to_string(),
        _ => functions(stage, package, analysis, placement),
    }
}

fn files(package: &ReadPackage) -> String {
    let mut text = String::new();
    let path = |FileId(index): FileId| {
        let path = &package.program.files[index].path;
        let shown = path.strip_prefix(package.workspace_root()).unwrap_or(path);
        shown.display().to_string()
    };
    for krate in &package.program.crates {
        let _ = writeln!(text, "{:?} {} {}", krate.kind, krate.name, path(krate.root));
        for ((_, names), file) in &krate.modules {
            let items = package.program.file(*file).ast.items.len();
            let _ = writeln!(text, "  mod {} {}: {items} items", names.join("::"), path(*file));
        }
    }
    text
}

fn communications(analysis: &Analysis) -> String {
    let points = analysis
        .items
        .main_of(0)
        .and_then(|main| analysis.safe_points(main, None));
    points.map_or_else(
        || "the program does not use MPI\n".to_owned(),
        |points| points.skeleton(),
    )
}

fn cost(analysis: &Analysis, placement: &Placement) -> String {
    let mut text = String::new();
    for one in &analysis.graph.loops {
        let Some(cost) = placement.costs.loops.get(one.id.0) else {
            continue;
        };
        let _ = writeln!(
            text,
            "{:5.1} % {}:{} `{}` trips {}{} operations {:.2e}{} entries {:.2e}",
            cost.share * 100.0,
            analysis.items.function(one.function).display,
            one.place.line,
            one.header,
            cost.trips,
            if cost.known { "" } else { " (guessed)" },
            cost.per_iteration,
            if cost.guessed { " (guessed)" } else { "" },
            cost.entries,
        );
    }
    text
}

fn functions(stage: Stage, package: &ReadPackage, analysis: &Analysis, placement: &Placement) -> String {
    let again = made_again(package, analysis, placement);
    let mut text = String::new();
    for candidate in placement.candidates() {
        let function = analysis.items.function(candidate.function);
        let _ = writeln!(text, "--- {}", function.display);
        let shown = match with_again(analysis, &candidate, &again) {
            Ok((arguments, item)) => one(stage, arguments, item.to_token_stream(), &candidate),
            Err(_) => "the sites cannot be put in\n".to_owned(),
        };
        text += &shown;
    }
    text
}

fn one(stage: Stage, arguments: TokenStream, item: TokenStream, candidate: &Candidate) -> String {
    if stage == Stage::Emit {
        let is_method = item.to_string().contains("self");
        let text = write_out(arguments, item, candidate.opens_session, is_method);
        return text.unwrap_or_else(|why| why) + "\n";
    }
    let stages = match analyse(arguments, &item, candidate.opens_session) {
        Ok(stages) => stages,
        Err(errors) => {
            let list: Vec<_> = errors.iter().map(|one| one.message()).collect();
            return list.join("\n") + "\n";
        }
    };
    match stage {
        Stage::Spine => debug(&stages.lowered),
        Stage::Bindings => bindings(&stages),
        Stage::Liveness => liveness(&stages),
        _ => debug(&stages.plan),
    }
}

fn debug(artefact: &impl Debug) -> String {
    format!("{artefact:#?}\n")
}

fn bindings(stages: &Stages) -> String {
    let mut text = String::new();
    for (id, one) in stages.flow.bindings.iter().enumerate() {
        let _ = writeln!(
            text,
            "{id} {} line {} {:?} {:?}",
            one.ident,
            one.ident.span().start().line,
            one.declaration,
            stages.plan.classes.get(id)
        );
    }
    for (index, node) in stages.flow.nodes.iter().enumerate() {
        let _ = write!(text, "block {index} -> {:?}:", node.next);
        for event in &node.events {
            let name = &stages.flow.bindings[event.binding].ident;
            let _ = write!(text, " {:?} {name}", event.kind);
        }
        text.push('\n');
    }
    text
}

fn liveness(stages: &Stages) -> String {
    let mut text = String::new();
    for (index, site) in stages.flow.sites.iter().enumerate() {
        let number = index as u32 + 1;
        let live = site.scope.iter().filter(|id| {
            stages
                .liveness
                .is_live(&stages.flow, number as ckpt_compiler::spine::SiteId, **id)
        });
        let names: Vec<String> = live
            .map(|id| stages.flow.bindings[*id].ident.to_string())
            .collect();
        let _ = writeln!(text, "site {number}: live {}", names.join(", "));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::package::build::driver::main_of;
    use crate::package::read::read;
    use crate::package::testing::{Tree, manifest, options};
    use ckpt_analysis::{ChooseOptions, place};

    #[test]
    fn every_stage_shows_what_it_has_made() {
        let main = "fn main() { let mut sum = 0.0; for k in 0..10000 { for i in 0..1000 { sum += (k * i) as f64; } } println!(\"{sum}\"); }";
        let tree = Tree::new(&[("Cargo.toml", &manifest("app", "")), ("src/main.rs", main)]);
        let package = read(&options(&tree, "Cargo.toml")).expect("read");
        let analysis = package.analyse();
        let main = main_of(&package, &analysis).expect("a main");
        let placement = place(&analysis, main, &ChooseOptions::default());
        for (stage, part) in [
            (Stage::Parse, "Bin app src/main.rs"),
            (Stage::Items, "main"),
            (Stage::Calls, "for trips 10000"),
            (Stage::Cost, "main:1 `for k in 0..10000` trips 10000"),
            (Stage::SafePoints, "for k in 0..10000"),
            (Stage::Spine, "Lowered"),
            (Stage::Bindings, "Write sum"),
            (Stage::Liveness, "site 1: live sum"),
            (Stage::Plan, "SitePlan"),
            (Stage::Emit, "::ckpt::__rt::Frame::enter"),
        ] {
            let text = artefact(stage, &package, &analysis, &placement);
            assert!(text.contains(part), "{stage:?}: {part}\n{text}");
        }
    }
}
