//! A copy of the workspace that can be rewritten, in the target folder: the user's sources stay as they are.
//!
//! The copy is always in the same place, and a file whose contents are right is not touched, so that cargo builds only what
//! changed. Cargo is to be started in the user's working folder with the manifest of the copy: configuration, toolchain
//! file and relative options then apply as they do to the user's own build.
//!
//! `home` is where it is, `shared` where all copies have what cargo builds of them, `gather` says what is in it, `manifest` edits its Cargo.toml files, `features` says what of ckpt
//! its dependencies need, `lints` has no build stop for a lint, `others` leaves alone what other programs have there, and `tree` writes no more than has changed.

pub mod features;
mod gather;
pub mod home;
pub mod lints;
pub mod manifest;
pub mod others;
pub mod shared;
mod tree;

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use ckpt_analysis::COUNTS;
use ckpt_compiler::SOURCES_RECORD;

use crate::cargo::error_of;
use crate::failure::{AboutFile, Failure, OrFail, Outcome, says};
use crate::package::copy::features::Needs;
use crate::package::copy::gather::{Gathered, gather};
use crate::package::copy::home::Home;
use crate::package::copy::manifest::{Manifest, Runtime};
use crate::package::copy::others::Rewritten;
use crate::package::copy::tree::{Entry, bring_up_to_date, put};
use crate::package::read::ReadPackage;
use crate::package::read::workspace::RUNTIME;

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
    /// By paths below `folder`, what would stand there if no other program had been rewritten.
    plain: BTreeMap<PathBuf, Option<Entry>>,
}

impl PackageCopy {
    /// Where a file of the user's is in the copy.
    #[cfg(test)]
    pub fn to_copy(&self, original: &Path) -> Option<PathBuf> {
        Some(self.folder.join(original.strip_prefix(&self.base).ok()?))
    }

    /// Makes another folder, to which the workspace of the copy was copied, what it would be if no other program had been rewritten.
    pub fn leave_out_others(&self, other: &Path) -> Outcome<()> {
        let root = self
            .workspace_root
            .strip_prefix(&self.folder)
            .unwrap_or(Path::new(""));
        for (path, entry) in &self.plain {
            let Ok(below) = path.strip_prefix(root) else {
                continue;
            };
            let target = other.join(below);
            match entry {
                Some(entry) => _ = put(&target, entry).about("cannot write", &target)?,
                None => fs::remove_file(&target).about("cannot remove", &target)?,
            }
        }
        Ok(())
    }

    /// Which file of the user's a file of the copy stands for.
    pub fn to_original(&self, copy: &Path) -> Option<PathBuf> {
        Some(self.base.join(copy.strip_prefix(&self.folder).ok()?))
    }
}

/// Makes the copy, or brings it up to date. `edited` has the new texts of files, by their absolute paths in the user's
/// tree; `needs` the packages that need ckpt although none of their files is edited, and which features each needs.
pub fn make_copy(
    package: &ReadPackage,
    edited: &BTreeMap<PathBuf, String>,
    needs: &Needs,
) -> Outcome<PackageCopy> {
    let home = Home::open(package)?;
    make_copy_in(&home, package, edited, &Adds::Library(needs))
}

/// What the packages with edited files depend on besides.
#[derive(Debug, Clone, Copy)]
pub enum Adds<'a> {
    /// The library of ckpt; for each package, the features that it needs.
    Library(&'a Needs),
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
    if let Adds::Library(_) = adds {
        placed.sources(&mut gathered);
    }
    let mut rewritten = Rewritten::known(home);
    let plain = rewritten.leave_to_others(package, (home, &folder), edited, &mut gathered);
    let changed = bring_up_to_date(&folder, &gathered.entries, &home.folder.join("entries"))?;
    let copy = PackageCopy {
        manifest: placed.place(&gathered, &package.workspace.choice.manifest),
        workspace_root: placed.place(&gathered, package.workspace_root()),
        build_directory: home.build_directory.clone(),
        changed: changed.into_iter().map(|path| folder.join(path)).collect(),
        base: gathered.base,
        folder,
        plain,
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
    rewritten.remember()?;
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

    /// Puts a record of the user's sources beside the manifest of the program: those of the copy are others.
    fn sources(&self, gathered: &mut Gathered) {
        let manifest = &self.package.workspace.choice.manifest;
        let path = manifest.with_file_name(SOURCES_RECORD);
        let below = path.strip_prefix(&gathered.base).unwrap_or(&path).to_path_buf();
        let record = self.package.sources().record();
        gathered.entries.insert(below, Entry::Text(record.into_bytes()));
    }

    /// Puts the manifests of the copy among its entries.
    fn manifests(
        &self,
        gathered: &mut Gathered,
        edited: &BTreeMap<PathBuf, String>,
        adds: &Adds<'_>,
    ) -> Outcome<()> {
        let none = Needs::default();
        let (needs, counts) = match adds {
            Adds::Library(needs) => (*needs, None),
            Adds::Counts(folder) => (&none, Some(folder)),
        };
        let rewritten = self.rewritten_packages(edited, &needs.of_ckpt);
        let root_path = self.package.workspace_root().join("Cargo.toml");
        let mut paths = BTreeSet::from([root_path.clone()]);
        let copied = self.package.workspace.copied_packages();
        paths.extend(copied.iter().map(|package| package.manifest_path.clone().into()));
        let root = self.manifest(&root_path)?;
        let runtime = self.runtime(gathered);
        for path in paths {
            let mut manifest = self.manifest(&path)?;
            manifest.only_warn();
            manifest.link_library();
            manifest.rewrite_paths(&|path, is_absolute| self.path_in_copy(gathered, path, is_absolute));
            if path == root_path {
                if !manifest.is_workspace() {
                    manifest.own_workspace(&self.path_packages_below());
                }
                // Checksums of all that is saved and restored; unoptimised they take most of a short run.
                if !rewritten.is_empty() && counts.is_none() {
                    manifest.optimise("twox-hash");
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
            let with_serde = named.and_then(|package| needs.serde.get(package.name.as_str()));
            for with in with_serde.into_iter().flatten() {
                manifest.enable(with)?;
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
    fn path_in_copy(&self, gathered: &Gathered, path: &Path, is_absolute: bool) -> Option<PathBuf> {
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
        command.args(package.options.passed_on.everywhere());
        command
            .stdin(Stdio::null())
            .output()
            .or_fail(|| Failure::start(says!("E3038: cannot start `cargo`")))
    };
    let mut output = update(true)?;
    if !output.status.success() && !package.options.is_offline() {
        output = update(false)?;
    }
    if output.status.success() {
        return Ok(());
    }
    let text = String::from_utf8_lossy(&output.stderr);
    Err(
        Failure::build(says!("E3061: the program cannot be built together with the library of ckpt"))
            .because(error_of(&text))
            .help("the crates that ckpt needs must be in cargo's cache or within reach of the network; `CKPT_RUNTIME_PATH` names the library's folder"),
    )
}

#[cfg(test)]
mod tests;
