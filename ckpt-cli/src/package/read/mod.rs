//! From cargo's options to the sources of the program that they mean.
//!
//! `settings` and `cfg` say which code is compiled; `workspace` which packages are the user's own; `modules` finds and parses
//! the files of a crate, with `strip` taking out what is not compiled; `others` is what crates outside of the workspace bring along; `run` is the run
//! that costs come from; `runner` is what cargo would start the program by.

pub mod cfg;
pub mod modules;
mod others;
mod run;
pub mod runner;
pub mod settings;
mod strip;
pub mod workspace;

pub use modules::shown;
pub use run::Run;

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use cargo_metadata::{Dependency as CargoDependency, DependencyKind, PackageId, Target, TargetKind};
use ckpt_analysis::{
    CommunicatingCrate, CrateKind, CrateSource, Edited, FileId, PackageAnalysis, Program, Sources,
    files_of_kernels,
};
use ckpt_compiler::{CallTable, OwnNames, ProgramRoot, Sources as SourceHashes};

use crate::cargo::{Built, CargoOptions, Diagnostics};
use crate::failure::{AboutFile, Failure, OrFail, Outcome, says};
use crate::package::read::cfg::{Compiler, Configuration};
use crate::package::read::modules::{CrateFiles, Files, parsed};
use crate::package::read::settings::{Settings, read_table};
use crate::package::read::workspace::{LocalPackage, Workspace, library};

/// A program with its sources, and what cargo knows about them.
#[derive(Debug)]
pub struct ReadPackage {
    /// The sources. The first crate is the one whose `main` is meant.
    pub program: Program,
    /// The packages, and which target is meant: [`Workspace::choice`].
    pub workspace: Workspace,
    /// How it is to be built.
    pub options: CargoOptions,
    /// For each file, the bytes that rustc passes over because of a `#[cfg]`, in functions and lists.
    pub passed_over: Vec<Vec<Range<usize>>>,
    /// For each file, what its `#[cfg]`s mean.
    configurations: Vec<Configuration>,
    /// The texts of those files that have been changed before they are analysed.
    on_disk: BTreeMap<FileId, String>,
    /// What the user says that calls mean: `[calls]` in `ckpt.toml`.
    pub tables: CallTable,
    /// The instrumented run that the costs come from.
    pub run: Option<Run>,
    /// Whether the packages' build scripts were run to know which flags for `#[cfg]` they set; else they set none, by their texts.
    pub has_asked_scripts: bool,
}

impl ReadPackage {
    /// The package of this name: its manifest, features and direct dependencies.
    #[cfg(test)]
    pub fn package(&self, name: &str) -> Option<&LocalPackage> {
        self.workspace
            .packages
            .iter()
            .find(|package| package.name == name)
    }

    /// The text of an edited file as it is to be built: what rustc would pass over is blank, because the macros see a function
    /// before rustc does, and cannot know.
    pub fn compiled_text(&self, file: FileId, edited: &Edited) -> String {
        let parts = self.passed_over.get(file.0);
        edited.text_on_lines_without(parts.map_or(&[], Vec::as_slice))
    }

    /// What the stages find in the sources as they are, with what the user says in `ckpt.toml`.
    pub fn analyse(&self) -> PackageAnalysis {
        PackageAnalysis::of(&self.program, &self.tables)
    }

    /// The same, with calls written out in the sources where that is worth it.
    pub fn analyse_inlining(&mut self) -> PackageAnalysis {
        let tables = self.tables.clone();
        PackageAnalysis::inlining(self, &tables)
    }

    /// Whether its sources are on the disk what they were when they were read.
    pub fn is_unchanged(&self) -> bool {
        let files = self.program.files.iter().enumerate();
        files.into_iter().all(|(number, file)| {
            let read = self.on_disk.get(&FileId(number)).unwrap_or(&file.text);
            std::fs::read(&file.path).is_ok_and(|now| now == read.as_bytes())
        })
    }

    /// Whether build scripts of the user's packages have set flags when a copy of them was built, and it was not known here.
    pub fn has_missed_flags(&self, built: &Built) -> bool {
        let is_local = |id: &PackageId| id.repr.starts_with("path+");
        let mut set = built.flags.iter().filter(|(_, flags)| !flags.is_empty());
        !self.has_asked_scripts && set.any(|(id, _)| is_local(id))
    }

    /// The files that the program is made of as they are on the disk, with their hashes.
    pub fn sources(&self) -> SourceHashes {
        let choice = &self.workspace.choice;
        let main = self.program.crates.first();
        let main = main.map_or(Path::new(""), |krate| &self.program.file(krate.root).path);
        let root = ProgramRoot {
            main,
            package: choice.manifest.parent().unwrap_or(Path::new("")),
            target: Some(&choice.target),
        };
        SourceHashes::of(&root, &|path| std::fs::read(path).ok())
    }

    /// The root folder of the workspace.
    pub fn workspace_root(&self) -> &Path {
        self.workspace.root()
    }

    /// Cargo's folder for build results.
    pub fn target_directory(&self) -> &Path {
        let said = self.options.target_dir.as_deref();
        said.unwrap_or_else(|| self.workspace.metadata.target_directory.as_std_path())
    }
}

impl Sources for ReadPackage {
    fn program(&self) -> &Program {
        &self.program
    }

    fn set_text(&mut self, file: FileId, text: String) -> bool {
        let old = &self.program.files[file.0];
        let Ok((new, passed_over)) = parsed(&old.path, text, &self.configurations[file.0]) else {
            return false;
        };
        let old = std::mem::replace(&mut self.program.files[file.0], new).text;
        self.passed_over[file.0] = passed_over;
        self.program.settle_waits_in(file);
        let first = self.on_disk.entry(file).or_insert(old);
        if *first == self.program.files[file.0].text {
            self.on_disk.remove(&file);
        }
        true
    }

    fn read_as_it_is(&mut self) -> bool {
        let texts = std::mem::take(&mut self.on_disk);
        let any = !texts.is_empty();
        for (file, text) in texts {
            self.set_text(file, text);
        }
        self.on_disk.clear();
        any
    }
}

/// Reads the program that the options and the working folder mean, with the libraries of the workspace that it reaches.
pub fn read(options: &CargoOptions) -> Outcome<ReadPackage> {
    read_with(options, false)
}

/// The same, with the flags that its build scripts set, whatever their texts say.
pub fn read_asking_scripts(options: &CargoOptions) -> Outcome<ReadPackage> {
    read_with(options, true)
}

fn read_with(options: &CargoOptions, asks_scripts: bool) -> Outcome<ReadPackage> {
    let folder =
        std::env::current_dir().or_fail(|| Failure::start(says!("E3074: there is no working folder")))?;
    let settings = Settings::read(&folder, &options.passed_on)?;
    let compiler = Compiler::ask(&settings)?;
    let workspace = Workspace::ask(options, &compiler.target)?;
    workspace.all_arrays_are_seen()?;
    let root = read_table(&workspace.root().join("Cargo.toml"))?;
    let profile = options.profile_name();
    if !settings.has_profile(profile, &root) {
        return Err(
            Failure::usage(says!("E3193: there is no profile `{profile}`")).help(format!(
                "`--release` builds with optimisation; a profile of your own is a table `[profile.{profile}]` with\n\
                 `inherits = \"release\"` in {}",
                workspace.root().join("Cargo.toml").display()
            )),
        );
    }
    let has_asked_scripts = asks_scripts || may_set_flags(&workspace);
    let scripts = match has_asked_scripts {
        true => build_script_flags(options, &workspace)?,
        false => BTreeMap::new(),
    };
    let flags = compiler.configuration(&settings, &settings.profile(profile, &root))?;
    let mut reader = Reader {
        files: Files::default(),
        crates: Vec::new(),
    };
    let mut libraries = BTreeMap::new();
    for (place, package) in workspace.packages.iter().enumerate() {
        let mut configuration = flags.with_features(package.features.iter().map(String::as_str));
        let set = scripts.get(&package.id).map_or(&[][..], Vec::as_slice);
        configuration = configuration.with_flags(set.iter().map(String::as_str));
        if let Some(on) = settings.package_debug_assertions(profile, &package.name, &root) {
            configuration.set_debug_assertions(on);
        }
        if place == 0 {
            reader.read_crate(package, &workspace.choice.described, &configuration)?;
        }
        if let Some(target) = library(&workspace.metadata[&package.id]) {
            libraries.insert(package.id.clone(), reader.crates.len());
            reader.read_crate(package, target, &configuration)?;
        }
    }
    let (files, mut crates) = (reader.files, reader.crates);
    name_externs(&mut crates, &workspace, &libraries);
    let mut program = Program {
        files: files.files,
        crates,
        communicating: communicating(&workspace),
        texts: Vec::new(),
        others_compute: workspace.others_compute(),
        others_ask_for_devices: workspace.others_ask_for_devices(),
        others: OwnNames::default(),
        waits: None,
        waited: BTreeMap::new(),
    };
    program.settle_waits();
    let own = program.files.iter().map(|file| file.text.as_str());
    program.others = others::names_of_others(&workspace, own);
    let texts = files_of_kernels(&program).into_iter();
    program.texts = texts
        .filter_map(|path| std::fs::read_to_string(path).ok())
        .collect();
    Ok(ReadPackage {
        program,
        options: CargoOptions {
            target_dir: options.target_dir.as_ref().map(|path| folder.join(path)),
            ..options.clone()
        },
        passed_over: files.passed_over,
        configurations: files.configurations,
        on_disk: BTreeMap::new(),
        tables: user_tables(&workspace)?,
        workspace,
        run: None,
        has_asked_scripts,
    })
}

fn communicating(workspace: &Workspace) -> Vec<CommunicatingCrate> {
    let all = workspace.communicating().into_iter();
    all.map(|(name, library)| CommunicatingCrate {
        name,
        library: library.name.to_string(),
    })
    .collect()
}

/// Whether a build script of the program's packages may set flags for `#[cfg]`, as far as its text says: one that is a single
/// file which does not speak of them sets none.
fn may_set_flags(workspace: &Workspace) -> bool {
    let is_script = |target: &&Target| target.kind.contains(&TargetKind::CustomBuild);
    let may_set = |target: &Target| {
        let text = std::fs::read_to_string(&target.src_path);
        let tells = |text: String| ["cfg", "mod ", "include"].iter().any(|word| text.contains(word));
        text.map_or(true, tells)
    };
    workspace.packages.iter().any(|package| {
        let described = &workspace.metadata[&package.id];
        let is_for_build = |dependency: &CargoDependency| dependency.kind == DependencyKind::Build;
        let has_help = described.dependencies.iter().any(is_for_build);
        let mut scripts = described.targets.iter().filter(is_script);
        scripts.any(|script| has_help || may_set(script))
    })
}

/// The flags that the build scripts of the program's packages set. Only running them shows, and only `cargo check` runs
/// them.
fn build_script_flags(
    options: &CargoOptions,
    workspace: &Workspace,
) -> Outcome<BTreeMap<PackageId, Vec<String>>> {
    let built = options.run_cargo("check", &workspace.choice, Diagnostics::Shown)?;
    if built.success {
        return Ok(built.flags);
    }
    let what = says!("E3039: `{}` does not build", workspace.choice.target);
    Err(Failure::build(what).help("cargo says why, above; nothing was read"))
}

/// Where `ckpt.toml` is looked for: in the package's folder, then in that of the workspace.
pub fn settings_files(workspace: &Workspace) -> Vec<PathBuf> {
    let own = workspace
        .packages
        .first()
        .map(|package| package.folder().to_path_buf());
    let folders = own.into_iter().chain([workspace.root().to_path_buf()]);
    folders.map(|folder| folder.join("ckpt.toml")).collect()
}

/// `[calls]` of the first of these files that is there.
fn user_tables(workspace: &Workspace) -> Outcome<CallTable> {
    let files = settings_files(workspace);
    let Some(path) = files.iter().find(|path| path.is_file()) else {
        return Ok(CallTable::default());
    };
    let text = std::fs::read_to_string(path).about("cannot read", path)?;
    let wrong = |line: usize, wrong: String| {
        let place = format!("{}:{line}", crate::package::read::modules::shown(path));
        Failure::store(says!("E3075: {place}: {wrong}"))
            .help("`cargo ckpt help configuration` shows what ckpt.toml may say")
    };
    let table = CallTable::of_user(&text).map_err(|error| wrong(error.line, error.wrong.to_string()))?;
    let others = workspace.crates_of_others();
    match table
        .messages()
        .iter()
        .find(|one| !others.contains(&one.name.as_str()))
    {
        Some(one) => {
            let said =
                "in `[calls.messages]` is no crate outside of the workspace that the program depends on";
            Err(wrong(one.line, format!("`{}` {said}", one.name)))
        }
        None => Ok(table),
    }
}

struct Reader {
    files: Files,
    crates: Vec<CrateSource>,
}

impl Reader {
    fn read_crate(&mut self, package: &LocalPackage, target: &Target, flags: &Configuration) -> Outcome<()> {
        let path = target.src_path.as_std_path();
        if !path.is_file() {
            return Err(Failure::build(says!(
                "E3077: there is no file `{}`",
                crate::package::read::modules::shown(path)
            ))
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
fn name_externs(crates: &mut [CrateSource], workspace: &Workspace, libraries: &BTreeMap<PackageId, usize>) {
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
    use crate::package::testing::{Tree, failure, manifest, options, shape};

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
                "extern my_sim = my-sim",
                "src/grid.rs cell: src/grid/cell.rs",
                "src/main.rs grid: src/grid.rs",
            ]
        );
        assert_eq!(
            shape(&tree, &package, 1),
            [
                "my_sim Lib src/lib.rs",
                "src/fast/mod.rs inner: src/fast/inner.rs",
                "src/grid.rs cell: src/grid/cell.rs",
                "src/lib.rs fast: src/fast/mod.rs",
                "src/lib.rs grid: src/grid.rs",
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

    fn workspace() -> Tree {
        Tree::new(&[
            (
                "w/Cargo.toml",
                "[workspace]\nresolver = \"2\"\nmembers = [\"app\", \"core\", \"unused\", \"derive\", \"bench\"]\n",
            ),
            (
                "w/app/Cargo.toml",
                &manifest(
                    "app",
                    "[dependencies]\nkernel = { package = \"my-core\", path = \"../core\" }\n\
                     derive = { path = \"../derive\" }\nfar = { path = \"../../far\" }\n\
                     [dev-dependencies]\nbench-tools = { path = \"../bench\" }\n\
                     [target.'cfg(windows)'.dependencies]\nunused = { path = \"../unused\" }\n",
                ),
            ),
            ("w/app/src/main.rs", "fn main() {}"),
            ("w/app/examples/show.rs", "fn main() {}"),
            (
                "w/core/Cargo.toml",
                &manifest(
                    "my-core",
                    "[features]\nextra = []\n[lib]\nname = \"the_core\"\npath = \"core.rs\"\n",
                ),
            ),
            ("w/core/core.rs", "#[cfg(feature = \"extra\")] mod absent;"),
            (
                "w/unused/Cargo.toml",
                &manifest(
                    "unused",
                    "[dependencies]\nmy-core = { path = \"../core\", features = [\"extra\"] }\n",
                ),
            ),
            ("w/unused/src/lib.rs", ""),
            ("w/bench/Cargo.toml", &manifest("bench-tools", "")),
            ("w/bench/src/lib.rs", ""),
            (
                "w/derive/Cargo.toml",
                &manifest("derive", "[lib]\nproc-macro = true\n"),
            ),
            ("w/derive/src/lib.rs", ""),
            ("far/Cargo.toml", &manifest("far", "")),
            ("far/src/lib.rs", "this is not Rust, and it is left alone"),
        ])
    }

    #[test]
    fn libraries_of_the_workspace_are_read_and_other_dependencies_are_not() {
        let tree = workspace();
        let package = read(&options(&tree, "w/app/Cargo.toml")).expect("read");
        let lines = ["app Bin w/app/src/main.rs", "extern kernel = my-core"];
        assert_eq!(shape(&tree, &package, 0), lines);
        assert_eq!(shape(&tree, &package, 1), ["the_core Lib w/core/core.rs"]);
        assert_eq!(package.program.crates.len(), 2);
        assert_eq!(package.workspace_root(), tree.path("w"));
        let dependencies = &package.package("app").expect("known").dependencies;
        let names: Vec<_> = dependencies
            .iter()
            .map(|one| format!("{} {} {}", one.extern_name, one.name, one.version))
            .collect();
        assert_eq!(
            names,
            ["derive derive 0.1.0", "far far 0.1.0", "kernel my-core 0.1.0"]
        );
    }

    #[test]
    fn an_example_reaches_what_it_is_tested_with() {
        let tree = workspace();
        let mut options = options(&tree, "w/app/Cargo.toml");
        options.example = Some("show".into());
        let package = read(&options).expect("read");
        let lines = [
            "show Example w/app/examples/show.rs",
            "extern bench_tools = bench-tools",
            "extern kernel = my-core",
        ];
        assert_eq!(shape(&tree, &package, 0), lines);
    }

    #[test]
    fn path_packages_below_a_package_without_workspace_count() {
        let tree = Tree::new(&[
            (
                "Cargo.toml",
                &manifest("app", "[dependencies]\nparts = { path = \"parts\" }\n"),
            ),
            ("src/main.rs", "fn main() {}"),
            ("parts/Cargo.toml", &manifest("parts", "")),
            ("parts/src/lib.rs", ""),
        ]);
        let package = read(&options(&tree, "Cargo.toml")).expect("read");
        let lines = ["app Bin src/main.rs", "extern parts = parts"];
        assert_eq!(shape(&tree, &package, 0), lines);
    }

    #[test]
    fn features_are_those_of_the_command_line() {
        let tree = Tree::new(&[
            (
                "Cargo.toml",
                &manifest("app", "[features]\ndefault = [\"a\"]\na = []\nb = []\n"),
            ),
            (
                "src/main.rs",
                "#[cfg(feature = \"a\")] mod absent; #[cfg(feature = \"b\")] mod b; fn main() {}",
            ),
            ("src/b.rs", ""),
        ]);
        let mut options = options(&tree, "Cargo.toml");
        options.features = vec!["b".into()];
        options.no_default_features = true;
        let package = read(&options).expect("read");
        assert_eq!(
            shape(&tree, &package, 0),
            ["app Bin src/main.rs", "src/main.rs b: src/b.rs"]
        );
    }

    #[test]
    fn the_profile_decides_debug_assertions() {
        let tree = Tree::new(&[
            ("Cargo.toml", &manifest("app", "")),
            (
                "src/main.rs",
                "#[cfg(not(debug_assertions))] mod absent; fn main() {}",
            ),
        ]);
        let mut options = options(&tree, "Cargo.toml");
        read(&options).expect("a debug build");
        options.release = true;
        read(&options).expect_err("a release build wants the file");
    }

    #[test]
    fn build_scripts_set_flags() {
        let tree = Tree::new(&[
            ("Cargo.toml", &manifest("app", "")),
            (
                "build.rs",
                "fn main() { println!(\"cargo::rustc-check-cfg=cfg(quick)\\ncargo::rustc-cfg=quick\"); }",
            ),
            (
                "src/main.rs",
                "#[cfg(not(quick))] mod absent; #[cfg(quick)] mod there; fn main() {}",
            ),
            ("src/there.rs", ""),
        ]);
        let mut options = options(&tree, "Cargo.toml");
        options.quiet = true;
        options.target_dir = Some(tree.path("target"));
        let package = read(&options).expect("read");
        assert_eq!(
            shape(&tree, &package, 0),
            ["app Bin src/main.rs", "src/main.rs there: src/there.rs"]
        );
    }

    #[test]
    fn what_calls_mean_is_read_from_the_package_or_the_workspace() {
        let files = [
            ("Cargo.toml", "[workspace]\nmembers = [\"app\"]\n"),
            ("app/Cargo.toml", &manifest("app", "")),
            ("app/src/main.rs", "fn main() {}"),
            (
                "ckpt.toml",
                "[session]\nevery = 3\n[calls]\npure = [\"energy\"]\n",
            ),
        ];
        let tree = Tree::new(&files);
        let package = read(&options(&tree, "app/Cargo.toml")).expect("read");
        assert!(
            package
                .tables
                .means("energy", ckpt_compiler::library::Meaning::Pure)
        );
        tree.write("app/ckpt.toml", "[calls]\n\npurre = [\"energy\"]\n");
        let failure = read(&options(&tree, "app/Cargo.toml"))
            .expect_err("a wrong key")
            .to_string();
        assert!(
            failure.contains("app/ckpt.toml:3: `purre` is no key of `[calls]`"),
            "{failure}"
        );
    }

    #[test]
    fn crates_of_others_that_depend_on_a_library_of_messages_are_known_by_name() {
        let tree = Tree::new(&[
            ("w/Cargo.toml", "[workspace]\nmembers = [\"app\", \"own\"]\n"),
            (
                "w/app/Cargo.toml",
                &manifest(
                    "app",
                    "[dependencies]\nown = { path = \"../own\" }\n\
                     far-solver = { path = \"../../solver\" }\nquiet = { path = \"../../quiet\" }\n\
                     message = { package = \"mpi\", path = \"../../mpi\" }\n",
                ),
            ),
            ("w/app/src/main.rs", "fn main() {}"),
            (
                "w/own/Cargo.toml",
                &manifest("own", "[dependencies]\nmpi = { path = \"../../mpi\" }\n"),
            ),
            ("w/own/src/lib.rs", ""),
            (
                "solver/Cargo.toml",
                &manifest(
                    "far-solver",
                    "[dependencies]\nmiddle = { path = \"../middle\" }\n",
                ),
            ),
            ("solver/src/lib.rs", ""),
            (
                "middle/Cargo.toml",
                &manifest("middle", "[dependencies]\nmpi = { path = \"../mpi\" }\n"),
            ),
            ("middle/src/lib.rs", ""),
            ("quiet/Cargo.toml", &manifest("quiet", "")),
            ("quiet/src/lib.rs", ""),
            ("mpi/Cargo.toml", &manifest("mpi", "")),
            ("mpi/src/lib.rs", ""),
        ]);
        let package = read(&options(&tree, "w/app/Cargo.toml")).expect("read");
        let found = package.program.communicating.iter();
        let found: Vec<_> = found
            .map(|one| (one.name.as_str(), one.library.as_str()))
            .collect();
        assert_eq!(found, [("far_solver", "mpi"), ("message", "mpi")]);
        for (name, is_read) in [
            ("far-solver", true),
            ("quiet", true),
            ("own", false),
            ("fra_solver", false),
        ] {
            tree.write(
                "w/ckpt.toml",
                &format!("[calls.messages.{name}]\nnorm = {{ send = 0 }}\n"),
            );
            let read = read(&options(&tree, "w/app/Cargo.toml"));
            match read {
                Ok(package) => assert!(is_read && package.tables.messages().len() == 1, "{name}"),
                Err(failure) => {
                    let said = failure.to_string();
                    let told = format!(
                        "ckpt.toml:1: `{name}` in `[calls.messages]` is no crate outside of the workspace"
                    );
                    assert!(!is_read && said.contains(&told), "{name}: {said}");
                }
            }
        }
    }

    #[test]
    fn a_package_without_a_program_is_refused() {
        let tree = Tree::new(&[("Cargo.toml", &manifest("app", "")), ("src/lib.rs", "")]);
        assert!(failure(&tree).contains("no binary"), "{}", failure(&tree));
    }
}
