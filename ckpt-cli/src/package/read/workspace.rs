//! What cargo knows about the packages: which of them are the user's own, what they depend on, and with which features
//! they are built for the chosen program.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use cargo_metadata::semver::Version;
use cargo_metadata::{DependencyKind, Metadata, Node, NodeDep, Package, PackageId, Target, TargetKind};

use ckpt_analysis::{
    is_for_devices, is_of_comm_library, is_uncounted_on_devices, is_watched_for_devices, links_comm_library,
};

use crate::cargo::CargoOptions;
use crate::cargo::choice::{Choice, choose};
use crate::failure::{Failure, Outcome, says};

/// The package of the library that a rewritten program links.
pub const RUNTIME: &str = "ckpt-runtime";

/// The workspace, with the dependencies that cargo resolved.
#[derive(Debug)]
pub struct Workspace {
    /// All that `cargo metadata` says.
    pub metadata: Metadata,
    /// The program that is meant.
    pub choice: Choice,
    /// The user's own packages that the program is made of, the program's first.
    pub packages: Vec<LocalPackage>,
}

/// A package of the user's own: one whose code is analysed and may be rewritten.
#[derive(Debug, Clone)]
pub struct LocalPackage {
    /// What cargo calls it, precisely.
    pub id: PackageId,
    /// Its name: `my-lib`.
    pub name: String,
    /// Its Cargo.toml.
    pub manifest: PathBuf,
    /// Its features that are on.
    pub features: Vec<String>,
    /// What it depends on directly, other than for build scripts.
    pub dependencies: Vec<Dependency>,
}

/// A direct dependency.
#[derive(Debug, Clone)]
pub struct Dependency {
    /// The name of the package: `num-complex`.
    pub name: String,
    /// The name in paths: `num_complex`, or what it was renamed to.
    pub extern_name: String,
    /// The version that cargo chose.
    pub version: Version,
    /// The package.
    pub id: PackageId,
}

impl LocalPackage {
    /// The folder of its Cargo.toml.
    pub fn folder(&self) -> &Path {
        self.manifest.parent().unwrap_or(Path::new(""))
    }
}

impl Workspace {
    /// Asks cargo, for a target such as `x86_64-unknown-linux-gnu`.
    pub fn ask(options: &CargoOptions, target: &str) -> Outcome<Self> {
        let metadata = options.resolved_metadata(target)?;
        let choice = choose(&metadata, options)?;
        let chosen = metadata
            .packages
            .iter()
            .find(|package| package.manifest_path.as_std_path() == choice.manifest)
            .ok_or_else(|| unresolved(&choice.package))?;
        let dev = choice.kind == TargetKind::Example;
        let features = built_features(options, chosen, target, dev);
        let mut workspace = Workspace {
            packages: Vec::new(),
            choice,
            metadata,
        };
        let ids = workspace.reached(&chosen_id(&workspace.metadata, &workspace.choice), dev);
        for (place, id) in ids.iter().enumerate() {
            let package = workspace.package(id, place == 0 && dev, &features)?;
            workspace.packages.push(package);
        }
        Ok(workspace)
    }

    /// The root folder.
    pub fn root(&self) -> &Path {
        self.metadata.workspace_root.as_std_path()
    }

    /// Whether a package is the user's own: a member, or a package in the folder of the workspace.
    pub fn is_local(&self, package: &Package) -> bool {
        package.source.is_none()
            && (self.metadata.workspace_members.contains(&package.id)
                || package.manifest_path.starts_with(&self.metadata.workspace_root))
    }

    /// The packages that a copy must hold: the user's own, and those outside the folder of the workspace that depend on
    /// them, which would otherwise be built with the originals.
    pub fn copied_packages(&self) -> Vec<&Package> {
        let by_path = self
            .metadata
            .packages
            .iter()
            .filter(|package| package.source.is_none());
        let (mut copied, mut others): (Vec<_>, Vec<_>) = by_path.partition(|package| self.is_local(package));
        loop {
            let depends = |package: &&Package| {
                let on = |dependency: &NodeDep| copied.iter().any(|one: &&Package| one.id == dependency.pkg);
                self.node(&package.id)
                    .is_some_and(|node| node.deps.iter().any(on))
            };
            let (mut more, rest): (Vec<_>, Vec<_>) = others.into_iter().partition(depends);
            if more.is_empty() {
                return copied;
            }
            copied.append(&mut more);
            others = rest;
        }
    }

    /// The packages that the build of the program may need: all that its own depends on, be it for a build script.
    pub fn built_with_program(&self) -> BTreeSet<&PackageId> {
        let mut found: BTreeSet<&PackageId> = self.packages.iter().map(|own| &own.id).collect();
        let mut pending: Vec<&PackageId> = found.iter().copied().collect();
        while let Some(id) = pending.pop() {
            let dependencies = self.node(id).into_iter().flat_map(|node| &node.deps);
            for dependency in dependencies {
                if found.insert(&dependency.pkg) {
                    pending.push(&dependency.pkg);
                }
            }
        }
        found
    }

    /// The crates outside of the workspace that the program's packages can name.
    pub fn crates_of_others(&self) -> Vec<&str> {
        let all = self.packages.iter().flat_map(|package| &package.dependencies);
        let is_own = |id: &PackageId| self.packages.iter().any(|own| own.id == *id);
        all.filter(|dependency| !is_own(&dependency.id))
            .map(|dependency| dependency.extern_name.as_str())
            .collect()
    }

    /// The crates outside of the workspace that the program's packages can name and that depend on a library of messages,
    /// each with that library's package.
    pub fn communicating(&self) -> Vec<(String, &Package)> {
        let all = self.packages.iter().flat_map(|package| &package.dependencies);
        let mut found: Vec<(String, &Package)> = all
            .filter_map(|dependency| {
                let package = &self.metadata[&dependency.id];
                let is_seen = self.packages.iter().any(|own| own.id == package.id);
                // Under another name its calls are not known for what they are.
                let is_followed = is_of_comm_library(&package.name)
                    && dependency.extern_name == package.name.replace('-', "_");
                let is_other = !is_seen && package.name != RUNTIME && !is_followed;
                let library = is_other.then(|| self.comm_library_of(&dependency.id))??;
                Some((dependency.extern_name.clone(), library))
            })
            .collect();
        found.sort_by(|one, other| one.0.cmp(&other.0));
        found.dedup_by(|one, other| one.0 == other.0);
        found
    }

    /// Whether packages outside of the workspace compute on devices, with a library that is watched in the program's own.
    pub fn others_compute(&self) -> bool {
        self.other_with(is_watched_for_devices).is_some()
    }

    /// # Errors
    /// A package outside of the workspace may have arrays on devices of which nobody knows.
    pub fn all_arrays_are_seen(&self) -> Outcome<()> {
        let Some((other, library)) = self.other_with(is_uncounted_on_devices) else {
            return Ok(());
        };
        Err(Failure::usage(says!(
            "E1330: `{other}` computes with `{library}`, and nobody can see what it has on devices"
        ))
        .help(format!(
            "call `{library}` in packages of the program's own workspace, or leave `{other}` out: a feature of it may bring `{library}` in"
        )))
    }

    /// A package outside of the workspace, of those that the program is made of, that depends on one of these, and that one.
    fn other_with(&self, is: fn(&str) -> bool) -> Option<(&str, &str)> {
        let own: BTreeSet<&PackageId> = self.packages.iter().map(|own| &own.id).collect();
        let mut open: Vec<&PackageId> = own.iter().copied().collect();
        let mut seen = own.clone();
        while let Some(id) = open.pop() {
            let name = self.metadata[id].name.as_str();
            if name == RUNTIME || is(name) {
                continue;
            }
            for dependency in self.dependencies_of(id, false) {
                let library = self.metadata[&dependency.pkg].name.as_str();
                if is(library) && !own.contains(id) {
                    return Some((name, library));
                }
                if seen.insert(&dependency.pkg) {
                    open.push(&dependency.pkg);
                }
            }
        }
        None
    }

    /// Whether packages outside of the workspace ask for devices, with a library by which the program's own do: what they find out
    /// nobody sees.
    pub fn others_ask_for_devices(&self) -> bool {
        let is_for_devices = |id: &PackageId| is_for_devices(&self.metadata[id].name);
        let is_own = |id: &PackageId| self.packages.iter().any(|own| own.id == *id);
        let mut seen: BTreeSet<&PackageId> = self.packages.iter().map(|own| &own.id).collect();
        let mut pending: VecDeque<&PackageId> = seen.iter().copied().collect();
        let mut used = BTreeSet::new();
        let mut of_others = BTreeSet::new();
        while let Some(id) = pending.pop_front() {
            for dependency in self.dependencies_of(id, false) {
                let on = &dependency.pkg;
                match is_for_devices(on) {
                    true if is_own(id) => _ = used.insert(on),
                    // What is beneath a library for devices is a part of it.
                    true => _ = of_others.insert(on),
                    false if self.metadata[on].name != RUNTIME && seen.insert(on) => pending.push_back(on),
                    false => {}
                }
            }
        }
        !used.is_disjoint(&of_others)
    }

    /// The nearest library of messages that a package is or depends on.
    fn comm_library_of(&self, id: &PackageId) -> Option<&Package> {
        let is_library = |package: &Package| {
            is_of_comm_library(&package.name) || package.links.as_deref().is_some_and(links_comm_library)
        };
        if is_library(&self.metadata[id]) {
            return Some(&self.metadata[id]);
        }
        let mut seen = BTreeSet::from([id.clone()]);
        let mut pending = VecDeque::from([id.clone()]);
        while let Some(id) = pending.pop_front() {
            for dependency in self.dependencies_of(&id, false) {
                let package = &self.metadata[&dependency.pkg];
                if is_library(package) {
                    return Some(package);
                }
                // What a macro does is done when the program is built.
                if library(package).is_some() && seen.insert(package.id.clone()) {
                    pending.push_back(package.id.clone());
                }
            }
        }
        None
    }

    fn node(&self, id: &PackageId) -> Option<&Node> {
        let resolve = self.metadata.resolve.as_ref()?;
        resolve.nodes.iter().find(|node| node.id == *id)
    }

    fn dependencies_of(&self, id: &PackageId, dev: bool) -> Vec<&NodeDep> {
        let wanted = move |kind| kind == DependencyKind::Normal || dev && kind == DependencyKind::Development;
        let linked = |dependency: &&NodeDep| dependency.dep_kinds.iter().any(|kind| wanted(kind.kind));
        self.node(id)
            .map_or(vec![], |node| node.deps.iter().filter(linked).collect())
    }

    /// The program's package and the local ones whose libraries it reaches.
    fn reached(&self, chosen: &PackageId, dev: bool) -> Vec<PackageId> {
        let mut found = vec![chosen.clone()];
        let mut seen = BTreeSet::from([chosen.clone()]);
        let mut pending = VecDeque::from([chosen.clone()]);
        while let Some(id) = pending.pop_front() {
            for dependency in self.dependencies_of(&id, dev && id == *chosen) {
                let package = &self.metadata[&dependency.pkg];
                // In ckpt's own workspace, the library that programs link is no part of them.
                let is_own = self.is_local(package) && package.name != RUNTIME;
                if is_own && library(package).is_some() && seen.insert(package.id.clone()) {
                    found.push(package.id.clone());
                    pending.push_back(package.id.clone());
                }
            }
        }
        found
    }

    fn package(&self, id: &PackageId, dev: bool, built: &BuiltFeatures) -> Outcome<LocalPackage> {
        let package = &self.metadata[id];
        let features =
            |package: &Package| match built.get(&(package.name.to_string(), package.version.clone())) {
                Some(found) => found.clone(),
                None => self.node(&package.id).map_or(vec![], |node| {
                    node.features.iter().map(ToString::to_string).collect()
                }),
            };
        let dependency = |dependency: &NodeDep| {
            let package = &self.metadata[&dependency.pkg];
            Dependency {
                name: package.name.to_string(),
                extern_name: dependency.name.clone(),
                version: package.version.clone(),
                id: package.id.clone(),
            }
        };
        if self.node(id).is_none() {
            return Err(unresolved(&package.name));
        }
        Ok(LocalPackage {
            id: id.clone(),
            name: package.name.to_string(),
            manifest: package.manifest_path.clone().into(),
            features: features(package),
            dependencies: self
                .dependencies_of(id, dev)
                .into_iter()
                .map(dependency)
                .collect(),
        })
    }
}

fn unresolved(package: &str) -> Failure {
    Failure::build(says!("E3084: cargo does not say what `{package}` depends on"))
        .help("`cargo metadata` must list it under `resolve`")
}

fn chosen_id(metadata: &Metadata, choice: &Choice) -> PackageId {
    let is_chosen = |package: &&Package| package.manifest_path.as_std_path() == choice.manifest;
    let found = metadata.packages.iter().find(is_chosen);
    found.map_or_else(
        || PackageId {
            repr: choice.package.clone(),
        },
        |package| package.id.clone(),
    )
}

/// The library that other crates can link, not a macro.
pub fn library(package: &Package) -> Option<&Target> {
    let linked = [TargetKind::Lib, TargetKind::RLib, TargetKind::DyLib];
    let is_library = |target: &&Target| target.kind.iter().any(|kind| linked.contains(kind));
    package.targets.iter().find(is_library)
}

/// Features by the package's name and version.
type BuiltFeatures = BTreeMap<(String, Version), Vec<String>>;

/// The features with which packages are built for one program. `cargo metadata` joins those of all members; what is built
/// only `cargo tree` says. Empty where it does not.
fn built_features(options: &CargoOptions, package: &Package, target: &str, dev: bool) -> BuiltFeatures {
    let edges = if dev {
        "normal,dev,no-proc-macro"
    } else {
        "normal,no-proc-macro"
    };
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command
        .args(["tree", "--offline", "--prefix", "none", "--format", "{p}|{f}|"])
        .args([
            "--edges",
            edges,
            "--target",
            target,
            "--package",
            &package.id.repr,
        ])
        .args(options.feature_arguments())
        .args(options.passed_on.everywhere())
        .arg("--manifest-path")
        .arg(&package.manifest_path)
        .stdin(Stdio::null());
    let output = command.output().ok().filter(|output| output.status.success());
    output.map_or_else(BuiltFeatures::new, |output| {
        String::from_utf8_lossy(&output.stdout)
            .lines()
            .filter_map(built_package)
            .collect()
    })
}

/// A line such as `core v0.1.0 (/work/core)|fast,std|`.
fn built_package(line: &str) -> Option<((String, Version), Vec<String>)> {
    let mut parts = line.split('|');
    let mut package = parts.next()?.split_whitespace();
    let name = package.next()?.to_owned();
    let version = package.next()?.strip_prefix('v')?.parse().ok()?;
    let features = parts.next()?.split(',').filter(|feature| !feature.is_empty());
    Some(((name, version), features.map(str::to_owned).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_cargo_tree() {
        let (key, features) =
            built_package("my-core v0.1.0-rc.1 (/a b/core)|fast,std| (*)").expect("a package");
        assert_eq!(key.0, "my-core");
        assert_eq!(key.1, Version::parse("0.1.0-rc.1").expect("a version"));
        assert_eq!(features, ["fast", "std"]);
        assert_eq!(
            built_package("libm v0.2.1||").expect("a package").1,
            Vec::<String>::new()
        );
        assert!(built_package("[dev-dependencies]").is_none());
    }
}
