//! The names of files that have, or had, several: the system knows of an open file only the one by which it was opened, and says
//! that it is gone when another is left.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fs;
use std::os::unix::fs::{DirEntryExt, MetadataExt};
use std::path::{Path, PathBuf};

use super::paths;
use super::unseen::Id;
use crate::base::report::say;
use crate::base::sorted;
use crate::handles::moved;

/// So many files are known before it is asked which of them are still of use.
const MOST: usize = 256;

/// What the program has given names to.
#[derive(Debug, Default)]
pub(super) struct Names {
    files: HashMap<Id, BTreeSet<PathBuf>>,
    /// How many there were when that was asked last.
    kept: usize,
    /// Names that were those of one file each when the checkpoint was taken that a restart goes on from.
    before: Vec<Vec<PathBuf>>,
}

impl Names {
    /// A file is about to get another name, or its first one: it has these. It may fail.
    pub fn is_linked(&mut self, id: Id, names: impl IntoIterator<Item = PathBuf>) {
        if self.files.len() >= self.kept + MOST {
            let open = open();
            self.files.retain(|id, _| open.contains(id));
            self.kept = self.files.len();
        }
        self.files.entry(id).or_default().extend(names);
    }

    /// Those that a checkpoint has noted; the files are not what they were yet.
    pub fn noted(&mut self, text: &str) {
        self.before = serde_json::from_str(text).unwrap_or_default();
    }

    /// The note of a checkpoint: files of several names, and those that are open and may be known by another than their first; none
    /// where there are no such files.
    pub fn note(&self) -> Option<String> {
        if self.files.is_empty() {
            return None;
        }
        let open = open();
        let groups = self.files.iter().filter_map(|(id, names)| {
            let names = names.iter().filter(|path| id_of(path) == Some(*id));
            let names: Vec<&Path> = names
                .map(|path| paths::relative(path))
                .filter(|path| path.to_str().is_some())
                .collect();
            let is_of_use = names.len() > 1 || open.contains(id) && !names.is_empty();
            is_of_use.then_some(names)
        });
        let mut groups: Vec<_> = groups.collect();
        sorted::sort_by(&mut groups, Vec::cmp);
        let text = serde_json::to_string(&groups).ok()?;
        (!groups.is_empty()).then_some(text)
    }

    /// The restart has arrived: the files are what they were. Of paths that the program has changed since the checkpoint the journal
    /// knows more.
    pub fn arrive(&mut self, has_changed: &dyn Fn(&Path) -> bool) {
        for group in std::mem::take(&mut self.before) {
            let paths = group.into_iter().map(|path| moved::now(paths::absolute(&path)));
            let found: Vec<(Id, PathBuf)> = paths.filter_map(|path| Some((id_of(&path)?, path))).collect();
            let mut untouched = found.iter().filter(|(_, path)| !has_changed(path));
            if let Some(first) = untouched.next()
                && let Some(other) = untouched.find(|other| other.0 != first.0)
            {
                mention_apart(&first.1, &other.1);
            }
            for (id, path) in found {
                self.files.entry(id).or_default().insert(path);
            }
        }
    }

    /// What is at `old`, and below it, is about to be called `new`. It may fail: the names so far stay.
    pub fn is_renamed(&mut self, old: &Path, new: &Path) {
        for names in self.files.values_mut() {
            add_renamed(names, old, new);
        }
    }

    /// The names that the program has given a file, of which it may have lost some.
    pub fn of(&self, id: Id) -> impl Iterator<Item = &Path> {
        let known = self.files.get(&id).into_iter().flatten();
        known.map(PathBuf::as_path)
    }

    /// A name that a file has now, which had this one once.
    pub fn now(&self, id: Id, once: &Path) -> Option<PathBuf> {
        let known = self.files.get(&id).into_iter().flatten();
        let mut known = known.filter(|path| id_of(path) == Some(id)).cloned();
        known.next().or_else(|| beside(id, once))
    }
}

/// Two paths were names of one file, and are not now.
fn mention_apart(one: &Path, other: &Path) {
    let (one, other) = (paths::relative(one).display(), paths::relative(other).display());
    say(&format!(
        "warning[W2088]: `{one}` and `{other}` were names of one file (hard links) at the checkpoint, and are files of their own now\n  \
         why:   somebody has replaced one of them, or this folder is a copy that was made without its links: what the program writes by one name is not in the other any more\n  \
         help:  copy the folder of a run so that links stay (`cp -a`, `rsync -aH`), and restart there"
    ));
}

/// What paths are that are at `old` or below it, when that is called `new`.
pub(super) fn add_renamed(names: &mut BTreeSet<PathBuf>, old: &Path, new: &Path) {
    let moved = names.iter().filter_map(|path| {
        let below = path.strip_prefix(old).ok()?;
        Some(match below == Path::new("") {
            true => new.to_owned(),
            false => new.join(below),
        })
    });
    let moved: Vec<PathBuf> = moved.collect();
    names.extend(moved);
}

/// Which file is at a path now.
pub(super) fn id_of(path: &Path) -> Option<Id> {
    let found = fs::symlink_metadata(path).ok()?;
    Some((found.dev(), found.ino()))
}

/// Another name of a file in the same folder: somebody else may have given it, or the program before a restart.
fn beside(id: Id, once: &Path) -> Option<PathBuf> {
    let entries = fs::read_dir(once.parent()?).ok()?;
    let mut same = entries.filter_map(Result::ok).filter(|entry| entry.ino() == id.1);
    same.find_map(|entry| Some(entry.path()).filter(|path| id_of(path) == Some(id)))
}

/// The files that this process has open.
fn open() -> HashSet<Id> {
    let entries = fs::read_dir("/proc/self/fd").into_iter().flatten();
    let found = entries.filter_map(|entry| fs::metadata(entry.ok()?.path()).ok());
    found.map(|found| (found.dev(), found.ino())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_found_by_the_name_that_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("first"), "").unwrap();
        fs::create_dir(path("d")).unwrap();
        let id = id_of(&path("first")).unwrap();
        let mut names = Names::default();
        names.is_linked(id, [path("first"), path("d/second")]);
        fs::hard_link(path("first"), path("d/second")).unwrap();
        fs::remove_file(path("first")).unwrap();
        assert_eq!(names.now(id, &path("first")), Some(path("d/second")));
        names.is_renamed(&path("d"), &path("e"));
        fs::rename(path("d"), path("e")).unwrap();
        assert_eq!(names.now(id, &path("first")), Some(path("e/second")));
        // Nobody has told of this one.
        fs::rename(path("e/second"), path("e/third")).unwrap();
        assert_eq!(names.now(id, &path("first")), None);
        assert_eq!(names.now(id, &path("e/second (deleted)")), Some(path("e/third")));
    }

    #[test]
    fn what_is_of_no_more_use_is_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        let held = fs::File::create(folder.path().join("held")).unwrap();
        let mut names = Names::default();
        let id = id_of(&folder.path().join("held")).unwrap();
        names.is_linked(id, [folder.path().join("held")]);
        for other in 0..10_000 {
            names.is_linked((0, other), [PathBuf::from("gone")]);
        }
        assert!(names.files.len() <= 2 * MOST && names.files.contains_key(&id));
        drop(held);
    }
}
