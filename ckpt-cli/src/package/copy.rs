//! A copy of the workspace that can be rewritten, in the target folder: the user's sources stay as they are.
//!
//! The copy is always in the same place, and a file whose contents are right is not touched, so that cargo builds only what
//! changed. Cargo is to be started in the user's working folder with the manifest of the copy: configuration, toolchain
//! file and relative options then apply as they do to the user's own build.

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use ckpt_compiler::package::profile::COUNTS;

use super::gather::{Gathered, gather};
use super::home::Home;
use super::manifest::{Manifest, RUNTIME, Runtime};
use super::read::ReadPackage;
use super::tree::{Entry, bring_up_to_date};
use crate::failure::{AboutFile, Failure, Outcome, code};

/// A copy that is ready to be built.
#[derive(Debug, Clone)]
pub struct PackageCopy {
    /// The manifest of the chosen package in the copy, for `--manifest-path`.
    pub manifest: PathBuf,
    /// The root of the workspace in the copy: rustc names files from here.
    pub workspace_root: PathBuf,
    /// Where to build it, for `--target-dir`: a folder beside the copy.
    pub build_directory: PathBuf,
    /// What had to be written or removed, in the copy.
    pub changed: Vec<PathBuf>,
    /// The folder of the user's that stands at `folder` in the copy.
    base: PathBuf,
    folder: PathBuf,
}

impl PackageCopy {
    /// Where a file of the user's is in the copy.
    #[cfg(test)]
    pub fn to_copy(&self, original: &Path) -> Option<PathBuf> {
        Some(self.folder.join(original.strip_prefix(&self.base).ok()?))
    }

    /// Which file of the user's a file of the copy stands for.
    pub fn to_original(&self, copy: &Path) -> Option<PathBuf> {
        Some(self.base.join(copy.strip_prefix(&self.folder).ok()?))
    }
}

/// Makes the copy, or brings it up to date. `edited` has the new texts of files, by their absolute paths in the user's
/// tree; `features` the packages that need ckpt although none of their files is edited, and which of its features each
/// needs.
pub fn make_copy(
    package: &ReadPackage,
    edited: &BTreeMap<PathBuf, String>,
    features: &BTreeMap<String, Vec<String>>,
) -> Outcome<PackageCopy> {
    let home = Home::open(package)?;
    make_copy_in(&home, package, edited, &Adds::Library(features))
}

/// What the packages with edited files depend on besides.
#[derive(Debug, Clone, Copy)]
pub enum Adds<'a> {
    /// The library of ckpt; for each package, the features that it needs.
    Library(&'a BTreeMap<String, Vec<String>>),
    /// The crate in this folder, which counts.
    Counts(&'a Path),
}

/// The same in a given home.
pub fn make_copy_in(
    home: &Home,
    package: &ReadPackage,
    edited: &BTreeMap<PathBuf, String>,
    adds: &Adds<'_>,
) -> Outcome<PackageCopy> {
    let _busy = home.lock()?;
    let folder = home.folder.join("src");
    let mut gathered = gather(package, edited, &[package.target_directory(), &home.folder])?;
    let placed = Placed {
        package,
        folder: &folder,
        runtime: &home.runtime,
    };
    let lock = placed.lock_file(&mut gathered, home);
    placed.manifests(&mut gathered, edited, adds)?;
    let changed = bring_up_to_date(&folder, &gathered.entries, &home.folder.join("entries"))?;
    let copy = PackageCopy {
        manifest: placed.place(&gathered, &package.workspace.choice.manifest),
        workspace_root: placed.place(&gathered, package.workspace_root()),
        build_directory: home.build_directory.clone(),
        changed: changed.into_iter().map(|path| folder.join(path)).collect(),
        base: gathered.base,
        folder,
    };
    let is_manifest = |path: &PathBuf| path.file_name().is_some_and(|name| name == "Cargo.toml");
    let settled = home.folder.join("settled");
    if lock.is_new || copy.changed.iter().any(is_manifest) || !settled.exists() {
        let _ = fs::remove_file(&settled);
        lock.restore(&copy.workspace_root)?;
        settle(package, &copy)?;
        lock.remember(home)?;
        fs::write(&settled, "").about("cannot write", &settled)?;
    }
    Ok(copy)
}

/// A package, and where its copy goes.
struct Placed<'p> {
    package: &'p ReadPackage,
    folder: &'p Path,
    runtime: &'p Runtime,
}

/// The user's Cargo.lock, and whether the copy has seen it.
struct LockFile {
    text: Option<Vec<u8>>,
    is_new: bool,
}

impl Placed<'_> {
    fn place(&self, gathered: &Gathered, path: &Path) -> PathBuf {
        let below = path.strip_prefix(&gathered.base).unwrap_or(path);
        self.folder.join(below)
    }

    /// Leaves Cargo.lock of the copy to cargo, which adds what ckpt depends on; it starts from the user's.
    fn lock_file(&self, gathered: &mut Gathered, home: &Home) -> LockFile {
        let path = self.package.workspace_root().join("Cargo.lock");
        if let Ok(below) = path.strip_prefix(&gathered.base) {
            gathered.entries.remove(below);
        }
        let text = fs::read(&path).ok();
        let is_known = fs::read(home.folder.join("Cargo.lock.original")).ok() == text;
        let is_there = self.place(gathered, &path).is_file();
        LockFile {
            is_new: !is_known || !is_there,
            text,
        }
    }

    /// Puts the manifests of the copy among its entries.
    fn manifests(
        &self,
        gathered: &mut Gathered,
        edited: &BTreeMap<PathBuf, String>,
        adds: &Adds<'_>,
    ) -> Outcome<()> {
        let none = BTreeMap::new();
        let (features, counts) = match adds {
            Adds::Library(features) => (*features, None),
            Adds::Counts(folder) => (&none, Some(folder)),
        };
        let rewritten = self.rewritten_packages(edited, features);
        let root_path = self.package.workspace_root().join("Cargo.toml");
        let mut paths = BTreeSet::from([root_path.clone()]);
        let copied = self.package.workspace.copied_packages();
        paths.extend(copied.iter().map(|package| package.manifest_path.clone().into()));
        let root = self.manifest(&root_path)?;
        let runtime = self.runtime(gathered);
        for path in paths {
            let mut manifest = self.manifest(&path)?;
            manifest.mend_paths(&|path, is_absolute| self.mended(gathered, path, is_absolute));
            if path == root_path {
                if !manifest.is_workspace() {
                    manifest.own_workspace(&self.path_packages_below());
                }
                // Checksums of all that is saved and restored; unoptimised they take most of a short run.
                if !rewritten.is_empty() && counts.is_none() {
                    manifest.optimise("xxhash-rust");
                }
            }
            let named = copied
                .iter()
                .find(|package| package.manifest_path.as_std_path() == path);
            if let Some(features) = named.and_then(|package| rewritten.get(package.name.as_str())) {
                match counts {
                    Some(folder) => manifest.add_crate(COUNTS, "ckpt-counts", folder)?,
                    None => manifest.add_runtime(&runtime, features, Some(&root))?,
                }
            }
            let below = path.strip_prefix(&gathered.base).unwrap_or(&path).to_path_buf();
            gathered
                .entries
                .insert(below, Entry::Text(manifest.text().into_bytes()));
        }
        Ok(())
    }

    fn manifest(&self, path: &Path) -> Outcome<Manifest> {
        let text = fs::read_to_string(path).about("cannot read", path)?;
        Manifest::parse(path, &text)
    }

    /// The packages that need ckpt, with its features.
    fn rewritten_packages(
        &self,
        edited: &BTreeMap<PathBuf, String>,
        features: &BTreeMap<String, Vec<String>>,
    ) -> BTreeMap<String, Vec<String>> {
        let mut packages = features.clone();
        let program = &self.package.program;
        for krate in &program.crates {
            let files = krate.modules.values().chain([&krate.root]);
            if files
                .into_iter()
                .any(|id| edited.contains_key(&program.file(*id).path))
            {
                packages.entry(krate.package.clone()).or_default();
            }
        }
        packages
    }

    /// Where the library comes from: a workspace that has it as a member has no second one.
    fn runtime(&self, gathered: &Gathered) -> Runtime {
        let own = self.package.workspace.metadata.packages.iter();
        let own = own
            .filter(|package| package.source.is_none())
            .find(|package| package.name == RUNTIME);
        match own.and_then(|package| package.manifest_path.as_std_path().parent()) {
            Some(folder) if gathered.holds(folder) => Runtime::Path(self.place(gathered, folder)),
            Some(folder) => Runtime::Path(folder.to_path_buf()),
            None => self.runtime.clone(),
        }
    }

    /// The path by which a copied manifest names another package, where it must be another than before.
    fn mended(&self, gathered: &Gathered, path: &Path, is_absolute: bool) -> Option<PathBuf> {
        match (gathered.holds(path), is_absolute) {
            (true, true) => Some(self.place(gathered, path)),
            (false, false) => Some(path.to_path_buf()),
            _ => None,
        }
    }

    /// Packages below a root that has no workspace: they must not become members.
    fn path_packages_below(&self) -> Vec<String> {
        let root = self.package.workspace_root();
        let packages = self.package.workspace.copied_packages().into_iter();
        let folders = packages.filter_map(|package| package.manifest_path.as_std_path().parent());
        folders
            .filter(|folder| *folder != root)
            .filter_map(|folder| Some(folder.strip_prefix(root).ok()?.to_string_lossy().into_owned()))
            .collect()
    }
}

impl LockFile {
    /// Gives the copy the user's Cargo.lock.
    fn restore(&self, root: &Path) -> Outcome<()> {
        let path = root.join("Cargo.lock");
        match &self.text {
            Some(text) if self.is_new => fs::write(&path, text).about("cannot write", &path),
            _ => Ok(()),
        }
    }

    fn remember(&self, home: &Home) -> Outcome<()> {
        let path = home.folder.join("Cargo.lock.original");
        match &self.text {
            Some(text) => fs::write(&path, text).about("cannot write", &path),
            None => Ok(()),
        }
    }
}

/// Has cargo add to Cargo.lock what ckpt depends on, without the network where its cache has all of it.
fn settle(package: &ReadPackage, copy: &PackageCopy) -> Outcome<()> {
    let update = |offline: bool| {
        let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        command.args(["update", "--workspace", "--quiet", "--manifest-path"]);
        command.arg(&copy.manifest).args(offline.then_some("--offline"));
        command
            .stdin(Stdio::null())
            .output()
            .map_err(|error| Failure::new(code::START, "cannot start `cargo`").because(error))
    };
    let mut output = update(true)?;
    if !output.status.success() && !package.options.offline {
        output = update(false)?;
    }
    if output.status.success() {
        return Ok(());
    }
    let text = String::from_utf8_lossy(&output.stderr);
    Err(
        Failure::new(code::BUILD, "the program cannot be built together with the library of ckpt")
            .because(text.trim_start_matches("error: ").trim_end())
            .help("the crates that ckpt needs must be in cargo's cache or within reach of the network; `CKPT_RUNTIME_PATH` names the library's folder"),
    )
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;
    use crate::launch::CargoOptions;
    use crate::package::read::read;
    use crate::package::testing::{Tree, manifest};

    /// A tree with these files, and a library that stands for the one of ckpt.
    fn tree(files: &[(&str, &str)]) -> Tree {
        let tree = Tree::new(files);
        let features = "[lib]\nname = \"ckpt\"\n[features]\nrand = []\n";
        tree.write("runtime/Cargo.toml", &manifest(RUNTIME, features));
        tree.write(
            "runtime/src/lib.rs",
            "pub fn word() -> &'static str { \"saved\" }",
        );
        tree
    }

    struct Case {
        tree: Tree,
        package: ReadPackage,
    }

    impl Case {
        fn new(tree: Tree, manifest_path: &str) -> Self {
            let options = CargoOptions {
                manifest_path: Some(tree.path(manifest_path)),
                target_dir: Some(tree.path(manifest_path).with_file_name("target")),
                offline: true,
                ..CargoOptions::default()
            };
            let package = read(&options).expect("read");
            Case { tree, package }
        }

        fn copy(&self, edited: &[(&str, &str)]) -> PackageCopy {
            self.try_copy(edited).expect("a copy")
        }

        fn try_copy(&self, edited: &[(&str, &str)]) -> Outcome<PackageCopy> {
            let target = self.package.target_directory();
            let runtime = Runtime::Path(self.tree.path("runtime"));
            let home = Home::first_usable(target.join("ckpt"), target, vec![], runtime)?;
            let text = |(path, text): &(&str, &str)| (self.tree.path(path), (*text).to_owned());
            let edited = edited.iter().map(text).collect();
            make_copy_in(&home, &self.package, &edited, &Adds::Library(&BTreeMap::new()))
        }

        /// Changed paths from the root of the copy.
        fn changed(&self, copy: &PackageCopy) -> Vec<String> {
            let below = |path: &PathBuf| {
                path.strip_prefix(&copy.folder)
                    .unwrap_or(path)
                    .display()
                    .to_string()
            };
            copy.changed.iter().map(below).collect()
        }

        /// Builds and runs the copy: what it prints.
        fn run(&self, copy: &PackageCopy) -> String {
            let output = Command::new("cargo")
                .args(["run", "--quiet", "--locked", "--offline", "--manifest-path"])
                .arg(&copy.manifest)
                .arg("--target-dir")
                .arg(&copy.build_directory)
                .current_dir(self.tree.root())
                .output()
                .expect("cargo");
            assert!(
                output.status.success(),
                "{}",
                String::from_utf8_lossy(&output.stderr)
            );
            String::from_utf8_lossy(&output.stdout).trim().to_owned()
        }
    }

    const SAVED: &str = "fn main() { println!(\"{}\", ckpt::word()) }";

    #[test]
    fn a_copy_is_built_with_the_library_and_the_original_stays() {
        let main = "fn main() { println!(\"plain\") }";
        let case = Case::new(
            tree(&[
                ("app/Cargo.toml", &manifest("app", "")),
                ("app/src/main.rs", main),
                ("app/data/x.txt", "x"),
                ("app/src/notes.md", ""),
            ]),
            "app/Cargo.toml",
        );
        let copy = case.copy(&[]);
        assert_eq!(case.run(&copy), "plain");
        let copy = case.copy(&[("app/src/main.rs", SAVED)]);
        assert_eq!(case.changed(&copy), ["Cargo.toml", "src/main.rs"]);
        assert_eq!(case.run(&copy), "saved");
        assert_eq!(case.changed(&case.copy(&[("app/src/main.rs", SAVED)])), [""; 0]);
        assert_eq!(
            fs::read_to_string(case.tree.path("app/src/main.rs")).expect("there"),
            main
        );
        let file = case.tree.path("app/src/main.rs");
        let copied = copy.to_copy(&file).expect("in the copy");
        assert_eq!(fs::read_to_string(&copied).expect("there"), SAVED);
        assert_eq!(copy.to_original(&copied), Some(file));
        assert!(case.tree.path("app/target/CACHEDIR.TAG").exists());
        // Back to the plain text: cargo must see that the file changed, although the original is older.
        assert_eq!(case.run(&case.copy(&[])), "plain");
    }

    #[test]
    fn what_is_right_keeps_its_time() {
        let case = Case::new(
            tree(&[
                ("app/Cargo.toml", &manifest("app", "")),
                ("app/src/main.rs", "fn main() {}"),
            ]),
            "app/Cargo.toml",
        );
        let times = |copy: &PackageCopy| -> Vec<SystemTime> {
            let paths = [
                copy.manifest.clone(),
                copy.folder.join("src/main.rs"),
                copy.folder.join("Cargo.lock"),
            ];
            let time = |path| fs::metadata(path).and_then(|found| found.modified());
            paths
                .into_iter()
                .map(|path| time(path).expect("a time"))
                .collect()
        };
        let first = times(&case.copy(&[]));
        assert_eq!(times(&case.copy(&[])), first);
    }

    #[test]
    fn a_workspace_with_parts_outside_is_built() {
        let case = Case::new(
            tree(&[
                (
                    "w/Cargo.toml",
                    "[workspace]\nresolver = \"2\"\nmembers = [\"app\", \"../beside\"]\n\
                     [workspace.dependencies]\nfar = { path = \"../far\" }\n",
                ),
                (
                    "w/app/Cargo.toml",
                    &manifest(
                        "app",
                        "[dependencies]\nfar.workspace = true\nbeside = { path = \"../../beside\" }\n\
                         around = { path = \"../../around\" }\n",
                    ),
                ),
                (
                    "w/app/src/main.rs",
                    "#[path = \"../../../loose/part.rs\"] mod part;\n\
                     fn main() { println!(\"{}{}{}{}\", far::F, beside::B, around::A, part::p()) }",
                ),
                (
                    "loose/part.rs",
                    "mod deeper; pub fn p() -> &'static str { deeper::TEXT }",
                ),
                (
                    "loose/deeper.rs",
                    "pub const TEXT: &str = include_str!(\"../words/text.txt\");",
                ),
                ("words/text.txt", "t"),
                ("far/Cargo.toml", &manifest("far", "")),
                ("far/src/lib.rs", "pub const F: char = 'f';"),
                ("beside/Cargo.toml", &manifest("beside", "workspace = \"../w\"\n")),
                ("beside/src/lib.rs", "pub const B: char = 'b';"),
                (
                    "around/Cargo.toml",
                    &manifest("around", "[dependencies]\nbeside = { path = \"../beside\" }\n"),
                ),
                ("around/src/lib.rs", "pub const A: char = beside::B;"),
            ]),
            "w/app/Cargo.toml",
        );
        let copy = case.copy(&[("beside/src/lib.rs", "pub const B: char = 'c';")]);
        assert_eq!(case.run(&copy), "fcct");
        assert!(
            copy.folder.join("w/Cargo.toml").exists(),
            "one level deeper: {:?}",
            copy.folder
        );
    }

    #[test]
    fn a_package_in_the_folder_of_a_workspace_that_is_not_its_own() {
        let case = Case::new(
            tree(&[
                ("w/Cargo.toml", "[workspace]\nexclude = [\"app\"]\n"),
                (
                    "w/app/Cargo.toml",
                    &manifest("app", "[dependencies]\npart = { path = \"part\" }\n"),
                ),
                ("w/app/src/main.rs", "fn main() { println!(\"{}\", part::P) }"),
                ("w/app/part/Cargo.toml", &manifest("part", "[workspace]\n")),
                ("w/app/part/src/lib.rs", "pub const P: u8 = 1;"),
            ]),
            "w/app/Cargo.toml",
        );
        let copy = case.copy(&[("w/app/part/src/lib.rs", "pub const P: u8 = 2;")]);
        assert_eq!(case.run(&copy), "2");
    }

    #[test]
    fn the_build_script_and_the_program_find_their_data() {
        let case = Case::new(
            tree(&[
                ("app/Cargo.toml", &manifest("app", "build = \"build.rs\"\n")),
                (
                    "app/build.rs",
                    "fn main() { let n = std::fs::read_to_string(\"data/n.txt\").unwrap(); println!(\"cargo:rustc-env=N={n}\"); }",
                ),
                (
                    "app/src/main.rs",
                    "fn main() { print!(env!(\"N\")); let path = concat!(env!(\"CARGO_MANIFEST_DIR\"), \"/data/n.txt\");\n\
                     std::fs::write(path, std::fs::read_to_string(path).unwrap() + \"!\").unwrap(); }",
                ),
                ("app/data/n.txt", "7"),
            ]),
            "app/Cargo.toml",
        );
        assert_eq!(case.run(&case.copy(&[])), "7");
        let data = fs::read_to_string(case.tree.path("app/data/n.txt"));
        assert_eq!(data.expect("there"), "7!", "the program writes where it would");
    }

    #[test]
    fn a_library_of_the_name_is_refused() {
        let case = Case::new(
            tree(&[
                (
                    "app/Cargo.toml",
                    &manifest("app", "[dependencies]\nckpt = { path = \"ckpt\" }\n"),
                ),
                ("app/src/main.rs", "fn main() {}"),
                ("app/ckpt/Cargo.toml", &manifest("ckpt", "")),
                ("app/ckpt/src/lib.rs", ""),
            ]),
            "app/Cargo.toml",
        );
        let failure = case
            .try_copy(&[("app/src/main.rs", SAVED)])
            .expect_err("refused")
            .to_string();
        assert!(failure.contains("another dependency named `ckpt`"), "{failure}");
    }

    #[test]
    #[cfg(unix)]
    fn links_lead_to_the_same_places() {
        let tree = tree(&[
            ("app/Cargo.toml", &manifest("app", "")),
            (
                "app/src/main.rs",
                "mod inner; mod outer; fn main() { println!(\"{}{}\", inner::part::P, outer::P) }",
            ),
            ("app/shared/mod.rs", "pub mod part;"),
            ("app/shared/part.rs", "pub const P: u8 = 1;"),
            ("elsewhere/mod.rs", "pub const P: u8 = 1;"),
        ]);
        let link =
            |target: &str, path: &str| std::os::unix::fs::symlink(target, tree.path(path)).expect("a link");
        link("../shared", "app/src/inner");
        link(&tree.path("elsewhere").display().to_string(), "app/src/outer");
        let case = Case::new(tree, "app/Cargo.toml");
        assert_eq!(case.run(&case.copy(&[])), "11");
        let edited = "pub const P: u8 = 2;";
        let copy = case.copy(&[
            ("app/src/inner/part.rs", edited),
            ("app/src/outer/mod.rs", edited),
        ]);
        assert_eq!(case.run(&copy), "22");
        for path in ["app/shared/part.rs", "elsewhere/mod.rs"] {
            let text = fs::read_to_string(case.tree.path(path)).expect("there");
            assert!(text.contains("= 1"), "{path} is the user's");
        }
    }

    #[test]
    fn what_is_no_source_is_left_out() {
        let case = Case::new(
            tree(&[
                ("app/Cargo.toml", &manifest("app", "")),
                ("app/src/main.rs", "fn main() {}"),
                ("app/.git/config", ""),
                ("app/app.ckpt.d/1/rank.h5", ""),
                ("app/build/CACHEDIR.TAG", ""),
                ("app/build/made.rs", ""),
            ]),
            "app/Cargo.toml",
        );
        let copy = case.copy(&[]);
        let mut names: Vec<_> = fs::read_dir(&copy.workspace_root)
            .expect("a folder")
            .map(|entry| {
                entry
                    .expect("an entry")
                    .file_name()
                    .into_string()
                    .expect("a name")
            })
            .collect();
        names.sort();
        assert_eq!(names, ["Cargo.lock", "Cargo.toml", "src"]);
    }
}
