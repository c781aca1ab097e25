//! From cargo's options to the sources of the program that they mean.

use std::collections::BTreeMap;
use std::path::Path;

use cargo_metadata::{Target, TargetKind};
use ckpt_compiler::package::{CrateKind, CrateSource, Program};

use super::cfg::{Compiler, Configuration};
use super::modules::{CrateFiles, Files};
use super::settings::{Settings, read_table};
use super::workspace::{LocalPackage, Workspace, library};
use crate::failure::{Failure, Outcome, code};
use crate::launch::CargoOptions;

/// A program with its sources, and what cargo knows about them.
#[derive(Debug)]
pub struct ReadPackage {
    /// The sources. The first crate is the one whose `main` is meant.
    pub program: Program,
    /// The packages, and which target is meant: [`Workspace::choice`].
    pub workspace: Workspace,
    /// What it is built for, such as `x86_64-unknown-linux-gnu`.
    pub target: String,
}

impl ReadPackage {
    /// The package of this name: its manifest, features and direct dependencies.
    pub fn package(&self, name: &str) -> Option<&LocalPackage> {
        self.workspace
            .packages
            .iter()
            .find(|package| package.name == name)
    }

    /// The root folder of the workspace.
    pub fn workspace_root(&self) -> &Path {
        self.workspace.root()
    }

    /// Cargo's folder for build results.
    pub fn target_directory(&self) -> &Path {
        self.workspace.metadata.target_directory.as_std_path()
    }
}

/// Reads the program that the options and the working folder mean, with the libraries of the workspace that it reaches.
pub fn read(options: &CargoOptions) -> Outcome<ReadPackage> {
    let folder = std::env::current_dir()
        .map_err(|error| Failure::new(code::START, "there is no working folder").because(error))?;
    let settings = Settings::read(&folder)?;
    let compiler = Compiler::ask(&settings)?;
    let workspace = Workspace::ask(options, &compiler.target)?;
    let root = read_table(&workspace.root().join("Cargo.toml"))?;
    let profile = options.profile_name();
    let flags = compiler.configuration(&settings, &settings.profile(profile, &root))?;
    let mut reader = Reader {
        workspace: &workspace,
        files: Files::default(),
        crates: Vec::new(),
    };
    let mut libraries = BTreeMap::new();
    for (place, package) in workspace.packages.iter().enumerate() {
        let mut configuration = flags.with_features(package.features.iter().map(String::as_str));
        if let Some(on) = settings.package_debug_assertions(profile, &package.name, &root) {
            configuration.set_debug_assertions(on);
        }
        if place == 0 {
            let target = reader.chosen(package)?;
            reader.read_crate(package, target, &configuration)?;
        }
        if let Some(target) = library(&workspace.metadata[&package.id]) {
            libraries.insert(package.id.clone(), reader.crates.len());
            reader.read_crate(package, target, &configuration)?;
        }
    }
    let (files, mut crates) = (reader.files, reader.crates);
    name_externs(&mut crates, &workspace, &libraries);
    Ok(ReadPackage {
        program: Program {
            files: files.files,
            crates,
        },
        workspace,
        target: compiler.target,
    })
}

struct Reader<'w> {
    workspace: &'w Workspace,
    files: Files,
    crates: Vec<CrateSource>,
}

impl<'w> Reader<'w> {
    /// The target that is meant, in its package.
    fn chosen(&self, package: &LocalPackage) -> Outcome<&'w Target> {
        let choice = &self.workspace.choice;
        let targets = &self.workspace.metadata[&package.id].targets;
        let found = targets
            .iter()
            .find(|target| target.name == choice.target && target.kind.contains(&choice.kind));
        found.ok_or_else(|| {
            Failure::new(
                code::BUILD,
                format!("`{}` has no target `{}`", package.name, choice.target),
            )
        })
    }

    fn read_crate(&mut self, package: &LocalPackage, target: &Target, flags: &Configuration) -> Outcome<()> {
        let path = target.src_path.as_std_path();
        if !path.is_file() {
            return Err(Failure::new(
                code::BUILD,
                format!("there is no file `{}`", super::modules::shown(path)),
            )
            .because(format!(
                "`{}` in `{}` starts there",
                target.name,
                package.manifest.display()
            ))
            .help("write the file, or correct `path` in Cargo.toml"));
        }
        let shared = CrateFiles {
            package_folder: package.folder(),
            configuration: flags,
        };
        let (root, modules) = self.files.read_crate(path, &shared)?;
        self.crates.push(CrateSource {
            name: target.name.replace('-', "_"),
            package: package.name.clone(),
            kind: kind_of(target),
            edition: target.edition.as_str().parse().unwrap_or(2015),
            root,
            modules,
            externs: BTreeMap::new(),
        });
        Ok(())
    }
}

fn kind_of(target: &Target) -> CrateKind {
    if target.kind.contains(&TargetKind::Bin) {
        CrateKind::Bin
    } else if target.kind.contains(&TargetKind::Example) {
        CrateKind::Example
    } else {
        CrateKind::Lib
    }
}

/// Which of the crates each of them can name.
fn name_externs(
    crates: &mut [CrateSource],
    workspace: &Workspace,
    libraries: &BTreeMap<cargo_metadata::PackageId, usize>,
) {
    let names: Vec<_> = crates.iter().map(|one| one.name.clone()).collect();
    let owners = crates.iter().map(|one| &one.package);
    let owners: Vec<_> = owners
        .map(|owner| workspace.packages.iter().find(|package| package.name == *owner))
        .collect();
    for (krate, package) in crates.iter_mut().zip(owners) {
        let Some(package) = package else { continue };
        for dependency in &package.dependencies {
            if let Some(&library) = libraries.get(&dependency.id) {
                krate.externs.insert(dependency.extern_name.clone(), library);
            }
        }
        if krate.kind != CrateKind::Lib
            && let Some(&own) = libraries.get(&package.id)
        {
            krate.externs.insert(names[own].clone(), own);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::package::testing::{Tree, manifest};

    fn options(tree: &Tree, path: &str) -> CargoOptions {
        CargoOptions {
            manifest_path: Some(tree.path(path)),
            ..CargoOptions::default()
        }
    }

    /// Each module of a crate as `file -> modules: file`, and what it can name.
    fn shape(tree: &Tree, package: &ReadPackage, krate: usize) -> Vec<String> {
        let program = &package.program;
        let file = |id| tree.below(&program.file(id).path);
        let krate = &program.crates[krate];
        let mut lines = vec![format!("{} {:?} {}", krate.name, krate.kind, file(krate.root))];
        for ((from, modules), to) in &krate.modules {
            lines.push(format!("{} {}: {}", file(*from), modules.join("::"), file(*to)));
        }
        for (name, other) in &krate.externs {
            lines.push(format!("extern {name} = {}", program.crates[*other].package));
        }
        lines
    }

    fn failure(tree: &Tree) -> String {
        let failure = read(&options(tree, "Cargo.toml")).expect_err("a refusal");
        failure.to_string()
    }

    #[test]
    fn a_package_with_library_and_binary() {
        let tree = Tree::new(&[
            (
                "Cargo.toml",
                &manifest("my-sim", "[features]\ndefault = [\"fast\"]\nfast = []\n"),
            ),
            ("src/main.rs", "mod grid; fn main() { my_sim::run() }"),
            (
                "src/lib.rs",
                "mod grid; #[cfg(feature = \"fast\")] mod fast; #[cfg(test)] mod absent; pub fn run() {}",
            ),
            ("src/grid.rs", "mod cell;"),
            ("src/grid/cell.rs", ""),
            ("src/fast/mod.rs", "mod inner;"),
            ("src/fast/inner.rs", ""),
        ]);
        let package = read(&options(&tree, "Cargo.toml")).expect("read");
        assert_eq!(
            shape(&tree, &package, 0),
            [
                "my_sim Bin src/main.rs",
                "src/main.rs grid: src/grid.rs",
                "src/grid.rs cell: src/grid/cell.rs",
                "extern my_sim = my-sim"
            ]
        );
        assert_eq!(
            shape(&tree, &package, 1),
            [
                "my_sim Lib src/lib.rs",
                "src/grid.rs cell: src/grid/cell.rs",
                "src/lib.rs fast: src/fast/mod.rs",
                "src/lib.rs grid: src/grid.rs",
                "src/fast/mod.rs inner: src/fast/inner.rs",
            ]
        );
        assert_eq!(
            package.program.files.len(),
            6,
            "a file of two crates is read once"
        );
        assert_eq!(
            package.package("my-sim").expect("known").features,
            ["default", "fast"]
        );
    }
}
