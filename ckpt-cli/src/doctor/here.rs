//! The folder that the command is called in: the package in it, what processes that were killed have left in its store, and what
//! its runs keep there.

use std::fs;
use std::path::{Path, PathBuf};

use ckpt_analysis::names_ckpt;

use super::Check;
use super::fix::Fix;
use crate::failure::{AboutFile, Outcome};
use crate::stores;
use crate::stores::lines::Lines;

const DEPENDENCY: &str = "dependency on ckpt";
const LEFTOVERS: &str = "leftovers";
const RUNS: &str = "runs of the store";

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
    // What cannot be looked at is told of by the check of the runs.
    if stores::is_locked(store).ok()? {
        return Some(Check::good(
            LEFTOVERS,
            "a job is at work: nothing of its store is looked at",
        ));
    }
    let mut folders: Vec<PathBuf> = Lines::of(store)
        .ok()?
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

/// What the runs of the store keep: records that cannot be read, journals of files that are damaged. Nothing where no store is.
pub fn runs(store: &Path) -> Option<Check> {
    let is_there = stores::home(store).try_exists();
    if matches!(is_there, Ok(false)) {
        return None;
    }
    let problems = match problems(store) {
        Ok(problems) => problems,
        Err(failure) => vec![failure.to_string()],
    };
    Some(match problems.is_empty() {
        true => Check::good(
            RUNS,
            format!("what they keep in {} can be read", store.display()),
        ),
        false => Check::missing(
            RUNS,
            problems.join("\n"),
            "cargo ckpt list; it says which checkpoints can be restored. `cargo ckpt prune --run RUN` removes a run of which none can",
        )
        .optional(),
    })
}

fn problems(store: &Path) -> Outcome<Vec<String>> {
    let mut found = Vec::new();
    for record in stores::runs::records(store)? {
        if let Err(error) = &record.job {
            found.push(format!(
                "the record of run {} cannot be read: {error}",
                record.run.short()
            ));
        }
    }
    let lines = Lines::of(store)?;
    for (id, ranks) in lines.out_of_reach(&lines.list()?)? {
        let mut lost = ranks.iter().filter(|(_, why)| !why.is_given_up());
        found.extend(
            lost.next()
                .map(|(_, why)| format!("checkpoint {id} cannot be restored: {why}")),
        );
    }
    let mut folders: Vec<PathBuf> = lines.parts.into_iter().map(|part| part.folder).collect();
    folders.dedup();
    let is_at_work = stores::is_locked(store)?;
    for folder in folders.iter().filter(|_| !is_at_work) {
        let begun = ckpt::store::begun_in(folder).about("cannot look into", folder)?;
        found.extend(begun.iter().map(|name| {
            format!(
                "`{}` was left by a rank that ended before it knew its run; the first checkpoint of a run removes it, once no other run waits to be continued",
                folder.join(name).display()
            )
        }));
    }
    Ok(found)
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
