//! What the crates outside of the workspace are called, and their texts.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use ckpt_compiler::{Crates, OwnNames};

use super::workspace::{RUNTIME, Workspace, library};

/// The methods that traits of other crates bring along, where these texts of the program name the crates.
pub(super) fn names_of_others<'t>(workspace: &Workspace, texts: impl Iterator<Item = &'t str>) -> OwnNames {
    let mut names = OwnNames::default();
    names.read_crates(texts, &crates(workspace), |folder: &PathBuf| {
        let mut texts = Vec::new();
        read_below(folder, &mut texts)?;
        Some(texts)
    });
    names
}

/// The folders of the crates.
fn crates(workspace: &Workspace) -> Crates<PathBuf> {
    let mut found: Crates<PathBuf> = Crates::default();
    let others = workspace.metadata.packages.iter();
    for package in others.filter(|package| !workspace.is_local(package) && package.name != RUNTIME) {
        let folder = package.manifest_path.as_std_path().parent();
        let (Some(library), Some(folder)) = (library(package), folder) else {
            continue;
        };
        add(&mut found.behind, &library.name, folder);
        let all = workspace.packages.iter().flat_map(|own| &own.dependencies);
        for dependency in all.filter(|dependency| dependency.id == package.id) {
            add(&mut found.named, &dependency.extern_name, folder);
        }
    }
    found
}

fn add(crates: &mut BTreeMap<String, Vec<PathBuf>>, name: &str, folder: &Path) {
    let folders = crates.entry(name.replace('-', "_")).or_default();
    if folders.iter().all(|one| one != folder) {
        folders.push(folder.to_path_buf());
    }
}

/// The files of Rust in a folder and those in it.
fn read_below(folder: &Path, texts: &mut Vec<String>) -> Option<()> {
    for entry in fs::read_dir(folder).ok()? {
        let path = entry.ok()?.path();
        if path.is_dir() {
            read_below(&path, texts)?;
        } else if path.extension().is_some_and(|kind| kind == "rs") {
            // What is no text is no file of Rust.
            texts.extend(fs::read_to_string(&path));
        }
    }
    Some(())
}
