//! `cargo ckpt init`: makes a package one that has heard of ckpt, and `--undo` makes it one that has not.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use similar::{DiffOp, TextDiff};

use super::rewrite::Rewrite;
use crate::cargo::CargoOptions;
use crate::failure::{AboutFile, Failure, Outcome, says};
use crate::output;
use crate::package::copy::features::{features_for, known_features};
use crate::package::copy::manifest::{has_dependency, say_the_same, with_dependency, without_dependency};
use crate::render;

/// Add the dependency and a commented ckpt.toml
///
/// Adds `ckpt` to the package's Cargo.toml, formatting kept, writes a `ckpt.toml` with every setting explained, unless there is
/// one, and has git pass over stores (`*.ckpt.d/` in .gitignore). Not needed for `cargo ckpt run`, which works on packages that
/// have never heard of ckpt: it is for those who want to write attributes by hand, or keep the result of
/// `cargo ckpt rewrite --in-place`, whose diff it offers to show.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLE)]
pub struct Init {
    /// Features of ckpt to activate, separated by commas [default: those that the package's dependencies call for]
    #[arg(long, value_name = "FEATURES", value_delimiter = ',')]
    ckpt_features: Vec<String>,
    /// Show what `cargo ckpt rewrite` would put into the source, without asking
    #[arg(long)]
    diff: bool,
    /// Take back what `init` has done: files that nobody has changed since are what they were before
    #[arg(long, conflicts_with_all = ["ckpt_features", "diff"])]
    undo: bool,
    #[command(flatten)]
    cargo: CargoOptions,
}

const EXAMPLE: &str = "\
Example:
  cargo ckpt init
  cargo ckpt init --ckpt-features serde,ndarray
  cargo ckpt init --undo

Exit codes: 0 done, or nothing was left to do; 2 no such feature; 78 a file cannot be written.";

/// What `ckpt.toml` says when nothing has been changed.
pub const TEMPLATE: &str = include_str!("ckpt.toml");

/// What git passes over.
const STORES: &str = "*.ckpt.d/";

impl Init {
    /// Edits the manifest, writes the settings; or takes that back.
    pub fn perform(&self) -> Outcome<u8> {
        let metadata = self.cargo.metadata()?;
        let packages = self.cargo.packages(&metadata)?;
        let [package] = packages.as_slice() else {
            return Err(Failure::usage(says!("E3004: which package is meant?")).help_list(
                "choose one with `-p`",
                packages.iter().map(|package| &package.name),
            ));
        };
        let manifest = package.manifest_path.as_std_path();
        let folder = manifest.parent().unwrap_or(Path::new("."));
        let target = self
            .cargo
            .target_dir
            .clone()
            .unwrap_or_else(|| metadata.target_directory.clone().into());
        let record = Record::of(&target, &package.name);
        if self.undo {
            return undo(record, manifest, folder);
        }
        let known = known_features();
        let unknown = { self.ckpt_features.iter() }.find(|name| !known.contains(&name.as_str()));
        if let Some(unknown) = unknown {
            return Err(
                Failure::usage(says!("E3122: ckpt has no feature `{unknown}`")).help_list("it has", known)
            );
        }
        let features = if self.ckpt_features.is_empty() {
            let direct: Vec<(String, String)> = package
                .dependencies
                .iter()
                .map(|dependency| (dependency.name.clone(), dependency.req.to_string()))
                .collect();
            features_for(&direct)
        } else {
            self.ckpt_features.clone()
        };
        let mut record = record;
        let lock = metadata.workspace_root.join("Cargo.lock").into_std_path_buf();
        let locked = fs::read_to_string(&lock).ok();
        add_dependency(&mut record, manifest, &features)?;
        write_settings(&mut record, &folder.join("ckpt.toml"))?;
        ignore_stores(&mut record, folder)?;
        record.write();
        let offered = self.offer_rewrite();
        // Where sources are looked at, cargo writes down what ckpt needs.
        if let Ok(now) = fs::read_to_string(&lock)
            && Some(&now) != locked.as_ref()
        {
            record.knows(&lock, locked, now);
            record.write();
        }
        offered
    }

    /// Attributes can be written by hand, or by `rewrite`.
    fn offer_rewrite(&self) -> Outcome<u8> {
        let may_ask = io::stdin().is_terminal() && io::stdout().is_terminal() && !output::is_quiet();
        let is_wanted = self.diff
            || may_ask && output::is_meant("Show what `cargo ckpt rewrite` would put into the source?");
        if is_wanted {
            return Rewrite::diff_of(&self.cargo).perform();
        }
        output::note(
            "next: `cargo ckpt rewrite` shows which attributes the source needs, `--in-place` writes them",
        );
        Ok(0)
    }
}

fn add_dependency(record: &mut Record, manifest: &Path, features: &[String]) -> Outcome<()> {
    let text = fs::read_to_string(manifest).about("cannot read", manifest)?;
    let new = with_dependency(manifest, &text, features)?;
    if new == text {
        println!("{} has ckpt already", manifest.display());
        return Ok(());
    }
    record.replace(manifest, Some(text), new)?;
    let with = match features.is_empty() {
        true => String::new(),
        false => format!(" with {}", features.join(", ")),
    };
    println!("{}: added ckpt{with}", manifest.display());
    Ok(())
}

fn write_settings(record: &mut Record, path: &Path) -> Outcome<()> {
    if path.exists() {
        println!("{} is there already", path.display());
        return Ok(());
    }
    record.replace(path, None, TEMPLATE.to_owned())?;
    println!("{}: written, all settings at their defaults", path.display());
    Ok(())
}

/// In a repository of git: the nearest .gitignore, or a new one in the package.
fn ignore_stores(record: &mut Record, folder: &Path) -> Outcome<()> {
    let mut above = folder.ancestors();
    let Some(root) = above.find(|folder| folder.join(".git").exists()) else {
        return Ok(());
    };
    let inside = folder.ancestors().take_while(|above| above.starts_with(root));
    let present: Vec<PathBuf> = inside
        .map(|above| above.join(".gitignore"))
        .filter(|path| path.is_file())
        .collect();
    for path in &present {
        let text = fs::read_to_string(path).about("cannot read", path)?;
        if text.lines().any(is_of_stores) {
            return Ok(());
        }
    }
    let own = folder.join(".gitignore");
    let path = present.first().unwrap_or(&own);
    let text = match path.is_file() {
        true => Some(fs::read_to_string(path).about("cannot read", path)?),
        false => None,
    };
    let mut new = text.clone().unwrap_or_default();
    if !new.is_empty() && !new.ends_with('\n') {
        new.push('\n');
    }
    record.replace(path, text, new + STORES + "\n")?;
    println!("{}: added {STORES}", path.display());
    Ok(())
}

fn is_of_stores(line: &str) -> bool {
    line.trim().trim_start_matches('/').trim_end_matches('/') == STORES.trim_end_matches('/')
}

/// The files that `init` has written: what they were, and what it made of them.
#[derive(Debug, Serialize, Deserialize)]
struct Record {
    #[serde(skip)]
    path: PathBuf,
    files: BTreeMap<PathBuf, Written>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Written {
    /// Nothing where there was no such file.
    before: Option<String>,
    after: String,
}

impl Record {
    /// That of a package, which may be empty: it is beside what is built.
    fn of(target: &Path, package: &str) -> Self {
        let path = target.join("ckpt").join(format!("{package}.init"));
        let text = fs::read_to_string(&path).unwrap_or_default();
        let files = serde_json::from_str(&text).map_or_else(|_| BTreeMap::new(), |read: Record| read.files);
        Record { path, files }
    }

    /// Writes a file.
    fn replace(&mut self, path: &Path, before: Option<String>, after: String) -> Outcome<()> {
        fs::write(path, &after).about("cannot write", path)?;
        self.knows(path, before, after);
        Ok(())
    }

    /// Notes what was written.
    fn knows(&mut self, path: &Path, before: Option<String>, after: String) {
        // What another init has written is not what the file was before.
        let first = self.files.remove(path);
        let before = match first {
            Some(first) if before.as_ref() == Some(&first.after) => first.before,
            Some(first) => before.map(|now| first.taken_out_of(&now).unwrap_or(now)),
            None => before,
        };
        self.files.insert(path.to_owned(), Written { before, after });
    }

    /// Where that fails, what is undone is looked for in the files.
    fn write(&self) {
        let folder = self.path.parent().unwrap_or(Path::new("."));
        if let (Ok(text), Ok(())) = (serde_json::to_vec(self), fs::create_dir_all(folder)) {
            let _ = fs::write(&self.path, text);
        }
    }

    /// Puts a file back, if it is as it was written; whether it was.
    fn put_back(&self, path: &Path) -> Outcome<bool> {
        let Some(written) = self.files.get(path) else {
            return Ok(false);
        };
        if fs::read_to_string(path).ok().as_ref() != Some(&written.after) {
            return Ok(false);
        }
        let how = match &written.before {
            Some(text) => {
                fs::write(path, text).about("cannot write", path)?;
                "as it was before"
            }
            None => {
                fs::remove_file(path).about("cannot remove", path)?;
                "removed"
            }
        };
        println!("{}: {how}", path.display());
        Ok(true)
    }
}

impl Written {
    /// A text that was edited since, without what was written; nothing where that was edited itself.
    fn taken_out_of(&self, now: &str) -> Option<String> {
        let before = self.before.as_deref().unwrap_or_default();
        let written = TextDiff::from_lines(before, &self.after);
        let since = TextDiff::from_lines(self.after.as_str(), now);
        let mut kept: Vec<String> = now.split_inclusive('\n').map(str::to_owned).collect();
        let is_now = |line: usize| {
            since.ops().iter().find_map(|op| match *op {
                DiffOp::Equal {
                    old_index,
                    new_index,
                    len,
                } => (old_index..old_index + len)
                    .contains(&line)
                    .then(|| line - old_index + new_index),
                _ => None,
            })
        };
        for op in written
            .ops()
            .iter()
            .filter(|op| !matches!(op, DiffOp::Equal { .. }))
        {
            let places: Option<Vec<usize>> = op.new_range().map(is_now).collect();
            let places = places?;
            places.iter().for_each(|&place| kept[place].clear());
            let old = written.old_slices()[op.old_range()].concat();
            match places.first() {
                Some(&first) => kept[first] = old,
                None if old.is_empty() => {}
                None => return None,
            }
        }
        Some(kept.concat())
    }
}

/// A manifest that was edited since, without what `init` has added to it.
fn without_ckpt(written: Option<&Written>, manifest: &Path, now: &str) -> Outcome<String> {
    let before = written.and_then(|written| written.before.as_deref());
    if let (Some(taken), Some(before)) = (written.and_then(|written| written.taken_out_of(now)), before) {
        // A heading that was added may have got other lines since.
        let meant = match has_dependency(before) {
            true => taken.clone(),
            false => without_dependency(manifest, now)?,
        };
        if say_the_same(&taken, &meant) {
            return Ok(taken);
        }
    }
    match before.is_some_and(has_dependency) {
        true => Ok(now.to_owned()),
        false => without_dependency(manifest, now),
    }
}

/// Takes back what was done; what was edited since stays, but for what `init` had added.
fn undo(record: Record, manifest: &Path, folder: &Path) -> Outcome<u8> {
    let settings = folder.join("ckpt.toml");
    let mut undone = 0;
    // A dependency that `init` has found is not its own. Without a record nobody knows.
    let may_be_added = record.files.is_empty() || record.files.contains_key(manifest);
    if record.put_back(manifest)? {
        undone += 1;
    } else if may_be_added {
        let text = fs::read_to_string(manifest).about("cannot read", manifest)?;
        let new = without_ckpt(record.files.get(manifest), manifest, &text)?;
        if new != text {
            fs::write(manifest, new).about("cannot write", manifest)?;
            println!("{}: removed ckpt", manifest.display());
            undone += 1;
        } else if has_dependency(&text) {
            println!("{} stays: what it says of ckpt was changed", manifest.display());
        }
    }
    if record.put_back(&settings)? {
        undone += 1;
    } else if let Ok(text) = fs::read_to_string(&settings) {
        if text == TEMPLATE {
            fs::remove_file(&settings).about("cannot remove", &settings)?;
            println!("{}: removed", settings.display());
            undone += 1;
        } else {
            println!("{} stays: it was changed", settings.display());
        }
    }
    for path in folder.ancestors().map(|above| above.join(".gitignore")) {
        if !record.files.contains_key(&path) {
            continue;
        }
        if !record.put_back(&path)? {
            let Ok(text) = fs::read_to_string(&path) else {
                continue;
            };
            let kept = text.split_inclusive('\n').filter(|line| !is_of_stores(line));
            let new: String = kept.collect();
            if new == text {
                continue;
            }
            fs::write(&path, new).about("cannot write", &path)?;
            println!("{}: removed {STORES}", path.display());
        }
        undone += 1;
    }
    for lock in record.files.keys().filter(|path| path.ends_with("Cargo.lock")) {
        match record.put_back(lock)? {
            true => undone += 1,
            false => println!(
                "{} stays: it was changed; cargo drops what nothing needs when it builds next",
                lock.display()
            ),
        }
    }
    let _ = fs::remove_file(&record.path); // there may be none
    if undone == 0 {
        render::print("nothing to undo\n");
    }
    Ok(0)
}
