//! Which program is meant: the one binary or example that the options and the working folder lead to, by the rules of
//! `cargo run`; where they lead to none or several, a message that lists the choices.

use std::path::{Path, PathBuf};

use cargo_metadata::{Metadata, Package, Target, TargetKind};

use super::CargoOptions;
use crate::failure::{Failure, Outcome, says};

/// The target that the options choose, before it is built.
#[derive(Debug, Clone)]
pub struct Choice {
    /// The package.
    pub package: String,
    /// Its Cargo.toml.
    pub manifest: PathBuf,
    /// The target's name.
    pub target: String,
    /// A binary or an example.
    pub kind: TargetKind,
    /// What cargo says of it.
    pub described: Target,
}

/// The one target that the options and the working folder mean, or a failure that lists the choices.
pub fn choose(metadata: &Metadata, options: &CargoOptions) -> Outcome<Choice> {
    let packages = candidate_packages(metadata, options)?;
    let (kind, wanted) = match &options.example {
        Some(example) => (TargetKind::Example, Some(example)),
        None => (TargetKind::Bin, options.bin.as_ref()),
    };
    let targets = |kind: &TargetKind| -> Vec<(&Package, &Target)> {
        packages
            .iter()
            .flat_map(|package| package.targets.iter().map(move |target| (*package, target)))
            .filter(|(_, target)| target.kind.contains(kind))
            .collect()
    };
    let all = targets(&kind);
    let found: Vec<_> = match wanted {
        Some(name) => all
            .iter()
            .copied()
            .filter(|(_, target)| target.name == *name)
            .collect(),
        None if all.len() > 1 => {
            let default =
                |(package, target): &(&Package, &Target)| package.default_run.as_ref() == Some(&target.name);
            let defaults: Vec<_> = all.iter().copied().filter(default).collect();
            if defaults.len() == 1 {
                defaults
            } else {
                all.clone()
            }
        }
        None => all.clone(),
    };
    match found.as_slice() {
        [(package, target)] => Ok(Choice {
            package: package.name.to_string(),
            manifest: package.manifest_path.clone().into(),
            target: target.name.clone(),
            kind,
            described: (*target).clone(),
        }),
        [] => Err(no_target(wanted, &kind, &all, &targets(&TargetKind::Example))),
        several => Err(several_targets(several, &kind)),
    }
}

fn no_target(
    wanted: Option<&String>,
    kind: &TargetKind,
    all: &[(&Package, &Target)],
    examples: &[(&Package, &Target)],
) -> Failure {
    let word = if *kind == TargetKind::Example {
        "example"
    } else {
        "binary"
    };
    let flag = if *kind == TargetKind::Example {
        "--example"
    } else {
        "--bin"
    };
    let failure = match wanted {
        Some(name) => Failure::build(says!("E3044: there is no {word} `{name}` here")),
        None => Failure::build(says!("E3045: there is no binary to run here")),
    };
    if !all.is_empty() {
        failure.help(format!("choose one of: {}", choices(all, flag)))
    } else if !examples.is_empty() {
        failure.help(format!("there are examples: {}", choices(examples, "--example")))
    } else {
        failure.help("a program needs `src/main.rs`, `src/bin/NAME.rs` or a `[[bin]]` in Cargo.toml")
    }
}

fn several_targets(several: &[(&Package, &Target)], kind: &TargetKind) -> Failure {
    let same_name = several.windows(2).all(|pair| pair[0].1.name == pair[1].1.name);
    let (flag, word) = if *kind == TargetKind::Example {
        ("--example", "examples")
    } else {
        ("--bin", "binaries")
    };
    if same_name {
        let names: Vec<_> = several
            .iter()
            .map(|(package, _)| format!("-p {}", package.name))
            .collect();
        return Failure::usage(says!("E3046: several packages have `{}`", several[0].1.name))
            .help(format!("choose one: {}", names.join(" | ")));
    }
    Failure::usage(says!("E3047: there are several {word}, and none is the default"))
        .help(format!("choose one: {}", choices(several, flag)))
}

fn choices(targets: &[(&Package, &Target)], flag: &str) -> String {
    let mut names: Vec<_> = targets
        .iter()
        .map(|(_, target)| format!("{flag} {}", target.name))
        .collect();
    names.sort();
    names.dedup();
    names.join(" | ")
}

/// The packages that cargo would look for the program in: the named one, the one of the folder, or the default
/// members of the workspace.
pub fn candidate_packages<'m>(metadata: &'m Metadata, options: &CargoOptions) -> Outcome<Vec<&'m Package>> {
    let members = metadata.workspace_packages();
    if let Some(name) = &options.package {
        let found: Vec<_> = members
            .iter()
            .copied()
            .filter(|package| package.name == name.as_str())
            .collect();
        if found.is_empty() {
            return Err(
                Failure::usage(says!("E3048: there is no package `{name}` in this workspace"))
                    .help_list("its packages", members.iter().map(|package| &package.name)),
            );
        }
        return Ok(found);
    }
    let manifest = match &options.manifest_path {
        Some(path) => path.clone(),
        None => nearest_manifest().unwrap_or_default(),
    };
    let manifest = std::fs::canonicalize(&manifest).unwrap_or(manifest);
    let own: Vec<_> = members
        .iter()
        .copied()
        .filter(|package| std::fs::canonicalize(&package.manifest_path).is_ok_and(|path| path == manifest))
        .collect();
    // In the root of a workspace, `--bin` and `--example` reach every member.
    let everywhere = (options.bin.is_some() || options.example.is_some()) && is_root(metadata, &manifest);
    Ok(match (everywhere, own.is_empty()) {
        (true, _) => members,
        (false, false) => own,
        (false, true) => metadata.workspace_default_packages(),
    })
}

fn is_root(metadata: &Metadata, manifest: &Path) -> bool {
    let root = metadata.workspace_root.as_std_path();
    manifest
        .parent()
        .is_some_and(|folder| std::fs::canonicalize(root).is_ok_and(|root| root == folder))
}

fn nearest_manifest() -> Option<PathBuf> {
    let folder = std::env::current_dir().ok()?;
    folder
        .ancestors()
        .map(|folder| folder.join("Cargo.toml"))
        .find(|path| path.is_file())
}
