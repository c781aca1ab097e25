//! The folder that the command is called in: the package in it, and what processes that were killed have left in its store.

use std::fs;
use std::path::{Path, PathBuf};

use ckpt_analysis::names_ckpt;

use super::Check;
use super::fix::Fix;
use crate::stores;
use crate::stores::lines::Lines;

const DEPENDENCY: &str = "dependency on ckpt";
const LEFTOVERS: &str = "leftovers";

/// A package whose source names ckpt, and whose manifest does not; nothing where there is no package.
pub fn dependency(folder: &Path) -> Option<Check> {
    let manifest = folder.join("Cargo.toml");
    let table: toml::Table = fs::read_to_string(&manifest).ok()?.parse().ok()?;
    table.get("package")?;
    if !has_file_with_ckpt(&folder.join("src")) {
        return None;
    }
    let lists = ["dependencies", "dev-dependencies"];
    let has = lists
        .iter()
        .any(|list| table.get(*list).is_some_and(|list| list.get("ckpt").is_some()));
    Some(match has {
        true => Check::good(DEPENDENCY, manifest.display().to_string()),
        false => Check::missing(
            DEPENDENCY,
            "the source names `ckpt::`, and Cargo.toml has no dependency of that name",
            "cargo ckpt init",
        )
        .fixed_by(Fix::Depend(manifest)),
    })
}

fn has_file_with_ckpt(folder: &Path) -> bool {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).any(|path| match path.is_dir() {
        true => has_file_with_ckpt(&path),
        false => {
            path.extension().is_some_and(|extension| extension == "rs")
                && fs::read_to_string(&path)
                    .is_ok_and(|text| ckpt_compiler::parse_file(&text).is_ok_and(|file| names_ckpt(&file)))
        }
    })
}

/// Files of commits that did not finish, and of processes that are no more. Nothing where no store is.
pub fn leftovers(store: &Path) -> Option<Check> {
    if stores::is_locked(store) {
        return Some(Check::good(
            LEFTOVERS,
            "a job is at work: nothing of its store is looked at",
        ));
    }
    let mut folders: Vec<PathBuf> = Lines::of(store)
        .parts
        .into_iter()
        .map(|part| part.folder)
        .collect();
    folders.dedup();
    folders.retain(|folder| folder.is_dir());
    folders.first()?;
    let files: Vec<PathBuf> = folders.iter().flat_map(|folder| left_in(folder)).collect();
    Some(match files.is_empty() {
        true => Check::good(LEFTOVERS, format!("none in {}", store.display())),
        false => Check::missing(
            LEFTOVERS,
            format!(
                "{} of processes that were killed, in {}",
                crate::render::count(files.len(), "unfinished file"),
                store.display()
            ),
            "cargo ckpt doctor --fix; the next run on the store removes those of its checkpoints as well",
        )
        .optional()
        .fixed_by(Fix::Remove(files)),
    })
}

/// `.000004.r0.h5.tmp`, `.metrics.prom.4711`, `.ckpt-doctor-..`: what is being written, or never was.
fn left_in(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let is_left = |name: &str| {
        let hidden = name.starts_with('.');
        let metrics = name
            .strip_prefix(".metrics.prom.")
            .is_some_and(|pid| pid.bytes().all(|byte| byte.is_ascii_digit()));
        hidden && (name.ends_with(".tmp") || metrics || name.starts_with(".ckpt-doctor-"))
    };
    let mut left: Vec<PathBuf> = entries
        .filter(|entry| entry.file_name().to_str().is_some_and(is_left))
        .map(|entry| entry.path())
        .collect();
    left.sort();
    left
}
