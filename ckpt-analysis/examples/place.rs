//! Prints where the sites of a program would go: `cargo run -p ckpt-analysis --example place -- src/main.rs [LIB=src/lib.rs]`.

use ckpt_analysis::{
    Artefact, ChooseOptions, CrateKind, CrateSource, FileId, FnId, PackageAnalysis, PlacedSite, Program,
    SourceFile,
};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

fn main() {
    let mut program = Program::default();
    let mut externs = BTreeMap::new();
    let stages = std::env::var("STAGES").is_ok();
    for argument in std::env::args().skip(1) {
        let (name, path) = argument.split_once('=').unwrap_or(("main", &argument));
        read_crate(&mut program, name, Path::new(path));
        externs.insert(name.to_owned(), program.crates.len() - 1);
    }
    for one in &mut program.crates {
        one.externs = externs.clone();
    }
    let start = std::time::Instant::now();
    let analysis = PackageAnalysis::of(&program, &Default::default());
    let analysed = start.elapsed();
    let Some(main) = analysis.main() else {
        println!("no main");
        return;
    };
    let mut wishes = ChooseOptions::default();
    let mut placement = analysis.place(main, &wishes);
    // The lines of loops in the first file that must not be taken, for what rustc would say of them.
    for line in std::env::var("REFUSED").iter().flat_map(|list| list.split(',')) {
        let at = |one: &&PlacedSite| one.place.line.to_string() == line;
        for site in placement.sites.iter().filter(at) {
            wishes
                .refused
                .insert((site.place.file.0, site.site.at), refused());
        }
        placement = analysis.place(main, &wishes);
    }
    println!(
        "analysed in {analysed:?}, placed in {:?}",
        start.elapsed() - analysed
    );
    for (index, cost) in placement.costs.functions.iter().enumerate() {
        let one = analysis.function(FnId(index));
        println!(
            "{index:3} {} line {} share {:.3} per call {:.2e} entries {:.2e}{}",
            one.display,
            one.place.line,
            cost.share,
            cost.per_call,
            cost.entries,
            if cost.is_recursive() { " recursive" } else { "" }
        );
    }
    if stages {
        print!("{}", analysis.stages(Artefact::Calls, &placement));
        for one in analysis.loops() {
            let cost = placement.costs.loops[one.id.0];
            println!(
                "{} line {} `{}` trips {} known {} per iteration {:.2e} entries {:.2e} share {:.3}",
                one.function.0,
                one.place.line,
                one.header,
                cost.trips,
                cost.known,
                cost.per_iteration,
                cost.entries,
                cost.share
            );
        }
    }
    print!("{placement}");
}

fn read_crate(program: &mut Program, name: &str, root: &Path) {
    let mut modules = BTreeMap::new();
    let directory = root.parent().expect("a file in a folder").to_owned();
    let file = read(program, root, &directory, &mut modules);
    program.crates.push(CrateSource {
        name: name.to_owned(),
        package: name.to_owned(),
        kind: CrateKind::Bin,
        edition: 2021,
        root: file,
        modules,
        externs: BTreeMap::new(),
    });
}

fn read(
    program: &mut Program,
    path: &Path,
    directory: &Path,
    modules: &mut BTreeMap<(FileId, Vec<String>), FileId>,
) -> FileId {
    let text = std::fs::read_to_string(path).expect("the file can be read");
    let ast = syn::parse_file(&text).expect("the file is Rust");
    let id = FileId(program.files.len());
    let names: Vec<String> = ast
        .items
        .iter()
        .filter_map(|item| match item {
            syn::Item::Mod(one) if one.content.is_none() => Some(one.ident.to_string()),
            _ => None,
        })
        .collect();
    program.files.push(SourceFile {
        path: path.to_owned(),
        text,
        ast,
        base: 0,
    });
    let included = program.files[id.0]
        .ast
        .items
        .iter()
        .filter_map(|item| match item {
            syn::Item::Macro(one) if one.mac.path.is_ident("include") => {
                one.mac.parse_body::<syn::LitStr>().ok().map(|text| text.value())
            }
            _ => None,
        });
    for (k, name) in included.collect::<Vec<_>>().into_iter().enumerate() {
        let inner = read(program, &directory.join(name), directory, modules);
        modules.insert((id, vec![format!("include!{k}")]), inner);
    }
    for name in names {
        let flat: PathBuf = directory.join(format!("{name}.rs"));
        let deep = directory.join(&name).join("mod.rs");
        let path = if flat.exists() { flat } else { deep };
        if path.exists() {
            let inner = read(program, &path, &directory.join(&name), modules);
            modules.insert((id, vec![name]), inner);
        }
    }
    id
}

/// What rustc would have said.
fn refused() -> (ckpt_analysis::RustcObstacle, ckpt_analysis::Position) {
    let obstacle = ckpt_analysis::RustcObstacle::DoesNotCompile {
        holder: ckpt_analysis::HeldIn::Nothing,
        said: ckpt_analysis::Said::default(),
    };
    (obstacle, (ckpt_analysis::FileId(0), 0))
}
