//! `cargo ckpt plan --stage NAME`: what a stage of the compiler has made, as text.

use std::fmt::Write;
use std::sync::LazyLock;

use ckpt_analysis::{Answer, Artefact, Candidate, FileId, PackageAnalysis, Placement};
use ckpt_compiler::{PASSES, Pass, dump};
use quote::ToTokens;

use crate::package::read::ReadPackage;
use crate::package::show::full::formatted;

/// A stage: of the whole package, or of one instrumented function at a time.
#[derive(Debug, Clone, Copy)]
pub enum Stage {
    /// Of the package.
    Package(PackageStage),
    /// Of each function.
    Function(&'static Pass),
}

/// The stages that see the whole package, in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum PackageStage {
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
}

impl clap::ValueEnum for Stage {
    fn value_variants<'a>() -> &'a [Self] {
        static ALL: LazyLock<Vec<Stage>> = LazyLock::new(|| {
            let package = <PackageStage as clap::ValueEnum>::value_variants()
                .iter()
                .copied();
            let function = PASSES.into_iter().map(Stage::Function);
            package.map(Stage::Package).chain(function).collect()
        });
        &ALL
    }

    fn to_possible_value(&self) -> Option<clap::builder::PossibleValue> {
        match self {
            Self::Package(stage) => clap::ValueEnum::to_possible_value(stage),
            Self::Function(pass) => Some(clap::builder::PossibleValue::new(pass.name).help(pass.about)),
        }
    }
}

/// The artefact of a stage.
pub fn artefact(
    stage: Stage,
    package: &ReadPackage,
    analysis: &PackageAnalysis,
    placement: &Placement,
) -> String {
    match stage {
        Stage::Package(PackageStage::Parse) => files(package),
        Stage::Package(PackageStage::Items) => analysis.stages(Artefact::Items, placement),
        Stage::Package(PackageStage::Calls) => analysis.stages(Artefact::Calls, placement),
        Stage::Package(PackageStage::Cost) => analysis.stages(Artefact::Cost, placement),
        Stage::Package(PackageStage::Communications) => analysis.stages(Artefact::Communications, placement),
        Stage::Package(PackageStage::SafePoints) => analysis.stages(Artefact::Placement, placement),
        Stage::Function(pass) => functions(pass, package, analysis, placement),
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

fn functions(
    pass: &Pass,
    package: &ReadPackage,
    analysis: &PackageAnalysis,
    placement: &Placement,
) -> String {
    let reexecuted = analysis.reexecuted(&package.program, placement, package.options.recompute);
    let words = reexecuted
        .keys()
        .map(|place| (*place, "reexecute".to_owned()))
        .collect();
    let mut text = String::new();
    for candidate in placement.candidates() {
        let function = analysis.function(candidate.function);
        let _ = writeln!(text, "--- {}", function.display);
        text += &match analysis.instrumented(&candidate, &words) {
            Ok(answer) => one(pass, &answer, &candidate),
            Err(_) => "the sites cannot be put in\n".to_owned(),
        };
    }
    text
}

fn one(pass: &Pass, answer: &Answer, candidate: &Candidate) -> String {
    let item = answer.item.to_token_stream();
    let is_method = item.to_string().contains("self");
    let format = |tokens| formatted(tokens, is_method).unwrap_or_else(|why| why) + "\n";
    dump(
        pass,
        answer.arguments.clone(),
        &item,
        candidate.opens_session,
        &format,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::package::build::driver::main_of;
    use crate::package::read::read;
    use crate::package::testing::{Tree, manifest, options};
    use ckpt_analysis::ChooseOptions;
    use clap::ValueEnum;

    #[test]
    fn every_stage_shows_what_it_has_made() {
        let main = "fn main() { let mut sum = 0.0; for k in 0..10000 { for i in 0..1000 { sum += (k * i) as f64; } } println!(\"{sum}\"); }";
        let tree = Tree::new(&[("Cargo.toml", &manifest("app", "")), ("src/main.rs", main)]);
        let package = read(&options(&tree, "Cargo.toml")).expect("read");
        let analysis = package.analyse();
        let main = main_of(&package, &analysis).expect("a main");
        let placement = analysis.place(main, &ChooseOptions::default());
        for (name, part) in [
            ("parse", "Bin app src/main.rs"),
            ("items", "main"),
            ("calls", "for trips 10000"),
            ("cost", "main:1 `for k in 0..10000` trips 10000"),
            ("safe-points", "for k in 0..10000"),
            ("spine", "site 1: line 1"),
            ("bindings", "Write sum"),
            ("liveness", "site 1: live sum"),
            ("plan", "sum: saved"),
            ("emit", "::ckpt::__rt::Frame::enter"),
        ] {
            let stage = Stage::from_str(name, false).expect("a stage of that name");
            let text = artefact(stage, &package, &analysis, &placement);
            assert!(text.contains(part), "{name}: {part}\n{text}");
        }
    }
}
