//! What a copy of a package has to hold: the tree of the workspace, members outside of it, and files outside that the
//! sources reach by relative paths.
//!
//! Rust sources and manifests become files of the copy. All else is linked, so that programs and build scripts that go by
//! the folder of their package read and write the user's own files. Left out are build results, version control and stores.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use regex::Regex;

use crate::failure::{AboutFile, Outcome};
use crate::package::copy::tree::{Entries, Entry};
use crate::package::read::ReadPackage;
use crate::package::read::modules::cleaned;

/// Everything that the copy holds.
#[derive(Debug)]
pub struct Gathered {
    /// The folder whose place the root of the copy takes: that of the workspace, or one above it.
    pub base: PathBuf,
    /// The folders that are copied as a whole.
    pub trees: Vec<PathBuf>,
    /// Paths below `base`.
    pub entries: Entries,
}

impl Gathered {
    /// Whether something is in the copy because the folder around it is.
    pub fn holds(&self, path: &Path) -> bool {
        let below = path.strip_prefix(&self.base);
        let is_entry = |path: &Path| {
            let mut later = self.entries.range(path.to_path_buf()..);
            later.next().is_some_and(|(first, _)| first.starts_with(path))
                || path.ancestors().any(|above| self.entries.contains_key(above))
        };
        self.trees.iter().any(|tree| path.starts_with(tree)) && below.is_ok_and(is_entry)
    }
}

fn is_version_control(path: &Path) -> bool {
    let names = [".git", ".hg", ".svn", ".jj"];
    names
        .iter()
        .any(|name| path.file_name() == Some(OsStr::new(name)))
}

/// Gathers what the copy of a package holds, the rewritten files under their paths in the user's tree.
pub fn gather(package: &ReadPackage, edited: &BTreeMap<PathBuf, String>, not: &[&Path]) -> Outcome<Gathered> {
    let trees = trees(package);
    let walk = Walk {
        trees: &trees,
        sources: sources(package, edited),
        not,
    };
    let mut found = Entries::new();
    for tree in &trees {
        found.append(&mut walk.contents(tree)?.0);
    }
    found.append(&mut walk.outside(package, &found));
    for (path, text) in edited {
        let text = Entry::Text(text.clone().into_bytes());
        let physical = fs::canonicalize(path)
            .ok()
            .filter(|path| found.contains_key(path));
        found.insert(physical.unwrap_or_else(|| path.clone()), text);
    }
    let base = common_folder(&trees, found.keys());
    let below = |path: PathBuf| path.strip_prefix(&base).map(Path::to_path_buf).unwrap_or(path);
    let entries = found
        .into_iter()
        .map(|(path, entry)| (below(path), entry))
        .collect();
    Ok(Gathered { base, trees, entries })
}

/// The folder of the workspace, and those of local packages outside of it.
fn trees(package: &ReadPackage) -> Vec<PathBuf> {
    let mut trees = vec![package.workspace_root().to_path_buf()];
    for one in package.workspace.copied_packages() {
        let folder = one.manifest_path.as_std_path().parent().unwrap_or(Path::new(""));
        if !trees.iter().any(|tree| folder.starts_with(tree)) {
            trees.retain(|tree| !tree.starts_with(folder));
            trees.push(folder.to_path_buf());
        }
    }
    trees
}

/// The files that are compiled, whatever their names.
fn sources(package: &ReadPackage, edited: &BTreeMap<PathBuf, String>) -> BTreeSet<PathBuf> {
    let files = package.program.files.iter().map(|file| file.path.clone());
    files.chain(edited.keys().cloned()).collect()
}

/// The deepest folder that holds all of these.
fn common_folder<'p>(trees: &[PathBuf], files: impl Iterator<Item = &'p PathBuf>) -> PathBuf {
    let mut common = trees.first().cloned().unwrap_or_default();
    for path in trees
        .iter()
        .map(PathBuf::as_path)
        .chain(files.filter_map(|file| file.parent()))
    {
        while !path.starts_with(&common) && common.pop() {}
    }
    common
}

struct Walk<'w> {
    trees: &'w [PathBuf],
    sources: BTreeSet<PathBuf>,
    /// Folders that are left out.
    not: &'w [&'w Path],
}

/// Entries, and whether sources are among them, so that the folder around them cannot be one link.
type Part = (Entries, bool);

impl Walk<'_> {
    /// All that is in a folder.
    fn contents(&self, folder: &Path) -> Outcome<Part> {
        let mut found = Entries::new();
        let mut has_sources = false;
        for child in fs::read_dir(folder).about("cannot read", folder)? {
            let child = child.about("cannot read", folder)?;
            let path = child.path();
            // A worktree has a file of this name.
            if is_version_control(&path) {
                has_sources = true;
                continue;
            }
            let kind = child.file_type().about("cannot read", &path)?;
            let (mut entries, is_real) = if kind.is_symlink() {
                self.link(&path)?
            } else if kind.is_dir() {
                self.folder(&path)?
            } else if kind.is_file() {
                self.file(&path)
            } else {
                continue;
            };
            found.append(&mut entries);
            has_sources |= is_real;
        }
        Ok((found, has_sources))
    }

    /// A folder, entry by entry where it holds sources, and as one link elsewhere.
    fn folder(&self, folder: &Path) -> Outcome<Part> {
        if self.is_left_out(folder) {
            return Ok((Entries::new(), true));
        }
        // Data that this process may not read is linked like any other.
        let readable = fs::read_dir(folder).is_ok();
        match readable.then(|| self.contents(folder)).transpose()? {
            Some((found, true)) => Ok((found, true)),
            _ => Ok((link(folder, folder), false)),
        }
    }

    fn file(&self, path: &Path) -> Part {
        if is_source(path) || self.sources.contains(path) {
            let copy = Entry::CopyOf(path.to_path_buf());
            return (Entries::from([(path.to_path_buf(), copy)]), true);
        }
        (link(path, path), false)
    }

    /// A link within the tree leads to the same place of the copy; one that leads out is kept, unless sources are behind it.
    fn link(&self, path: &Path) -> Outcome<Part> {
        let Ok(target) = fs::canonicalize(path) else {
            return Ok((Entries::new(), false));
        };
        let written = fs::read_link(path).unwrap_or_default();
        if written.is_relative() && self.is_copied(&target) {
            return Ok((link(path, &written), true));
        }
        if self.sources.iter().any(|source| source.starts_with(path)) {
            return if target.is_dir() {
                self.contents(path)
            } else {
                Ok(self.file(path))
            };
        }
        Ok((link(path, &target), false))
    }

    /// Whether a path without links is in a tree, and not in what is left out of it.
    fn is_copied(&self, path: &Path) -> bool {
        self.trees.iter().any(|tree| {
            let tree = fs::canonicalize(tree).unwrap_or_else(|_| tree.clone());
            let mut between = path.ancestors().take_while(|above| *above != tree);
            path.starts_with(&tree) && !between.any(|folder| self.is_left_out(folder))
        })
    }

    fn is_left_out(&self, folder: &Path) -> bool {
        let is_store = |name: &OsStr| name.as_encoded_bytes().ends_with(b".ckpt.d");
        folder.file_name().is_some_and(is_store)
            || self.not.contains(&folder)
            || [CACHE_TAG, ".rustc_info.json"]
                .iter()
                .any(|mark| folder.join(mark).exists())
    }

    /// What is outside of all trees and is named by the sources.
    fn outside(&self, package: &ReadPackage, copied: &Entries) -> Entries {
        let is_outside = |path: &Path| !self.trees.iter().any(|tree| path.starts_with(tree));
        let mut named: BTreeMap<PathBuf, bool> = BTreeMap::new();
        for source in self.sources.iter().filter(|path| is_outside(path)) {
            named.insert(source.clone(), true);
        }
        let targets = package.workspace.copied_packages();
        for target in targets.iter().flat_map(|package| &package.targets) {
            let path = cleaned(target.src_path.as_std_path());
            if is_outside(&path) && path.is_file() {
                named.insert(path, true);
            }
        }
        for path in copied.keys().chain(&self.sources) {
            let above = |text: &str| text.contains("\"../") || text.contains("\"/..");
            let text = fs::read_to_string(path).unwrap_or_default();
            if path.extension().is_some_and(|end| end == "rs") && above(&text) {
                for named_path in relative_paths(path, &text) {
                    // A folder that holds a tree cannot be one link.
                    let is_around = self.trees.iter().any(|tree| tree.starts_with(&named_path));
                    if is_outside(&named_path) && !is_around {
                        named.entry(named_path).or_insert(false);
                    }
                }
            }
        }
        let entry = |(path, is_compiled): (PathBuf, bool)| {
            let entry = if is_compiled {
                Entry::CopyOf(path.clone())
            } else {
                Entry::Link(path.clone())
            };
            (path, entry)
        };
        named.into_iter().map(entry).collect()
    }
}

fn link(path: &Path, target: &Path) -> Entries {
    Entries::from([(path.to_path_buf(), Entry::Link(target.to_path_buf()))])
}

/// The file that marks folders which can be recreated, by the convention that cargo follows.
pub const CACHE_TAG: &str = "CACHEDIR.TAG";

fn is_source(path: &Path) -> bool {
    path.extension().is_some_and(|end| end == "rs")
        || ["Cargo.toml", "Cargo.lock"]
            .iter()
            .any(|name| path.file_name() == Some(OsStr::new(name)))
}

/// What is there of the paths that a source names, from its own folder or from that of its package.
fn relative_paths(source: &Path, text: &str) -> BTreeSet<PathBuf> {
    static FROM_FILE: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r#"(?:\binclude(?:_str|_bytes)?!\s*[(\[{]|\bpath\s*=)\s*"(\.\./[^"]+)""#).ok()
    });
    static FROM_PACKAGE: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r#"env!\(\s*"CARGO_MANIFEST_DIR"\s*\)\s*,\s*"(/\.\./[^"]+)""#).ok());
    let folder = source.parent().unwrap_or(Path::new(""));
    let package = folder
        .ancestors()
        .find(|above| above.join("Cargo.toml").is_file());
    let mut found = BTreeSet::new();
    for (pattern, from) in [(&FROM_FILE, Some(folder)), (&FROM_PACKAGE, package)] {
        let (Some(pattern), Some(from)) = (pattern.as_ref(), from) else {
            continue;
        };
        for capture in pattern.captures_iter(text) {
            let path = from.join(capture[1].trim_start_matches('/'));
            found.extend(path.exists().then(|| cleaned(&path)));
        }
    }
    found
}
