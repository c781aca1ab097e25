//! Keeping a tree of files as it should be: what is right already is not touched, so that cargo builds only what changed;
//! what was put there earlier and is no longer wanted goes; what others put there stays.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::failure::{AboutFile, Outcome};

/// What a path of the tree should be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entry {
    /// A file with this text.
    Text(Vec<u8>),
    /// A file with the contents of another.
    CopyOf(PathBuf),
    /// A symbolic link; where the system has none, a copy of what it leads to.
    Link(PathBuf),
}

/// The wanted entries, by their paths from the root of the tree.
pub type Entries = BTreeMap<PathBuf, Entry>;

/// Makes the tree under `root` so, and lists what had to be changed. `record` is a file where the entries are remembered
/// from one call to the next.
pub fn bring_up_to_date(root: &Path, entries: &Entries, record: &Path) -> Outcome<Vec<PathBuf>> {
    if !record.exists() {
        remove(root).about("cannot remove", root)?;
    }
    let recorded = recorded(record);
    let wanted: BTreeSet<PathBuf> = entries.keys().cloned().collect();
    // Should this end halfway, the next call still knows all that may be there.
    if !wanted.is_subset(&recorded) {
        remember(record, &recorded.union(&wanted).cloned().collect())?;
    }
    let mut changed = Vec::new();
    for gone in recorded.difference(&wanted) {
        if remove_below(root, gone).about("cannot remove", &root.join(gone))? {
            changed.push(gone.clone());
        }
    }
    let mut folders = BTreeSet::new();
    for (path, entry) in entries {
        if let Some(parent) = path.parent() {
            real_folder(root, parent, &mut folders).about("cannot make", &root.join(parent))?;
        }
        let target = root.join(path);
        if put(&target, entry).about("cannot write", &target)? {
            changed.push(path.clone());
        }
    }
    if recorded != wanted {
        remember(record, &wanted)?;
    }
    Ok(changed)
}

fn recorded(record: &Path) -> BTreeSet<PathBuf> {
    let text = fs::read_to_string(record).unwrap_or_default();
    text.lines().map(PathBuf::from).collect()
}

fn remember(record: &Path, paths: &BTreeSet<PathBuf>) -> Outcome<()> {
    let lines: Vec<_> = paths.iter().map(|path| path.to_string_lossy()).collect();
    let written = record.with_extension("new");
    fs::write(&written, lines.join("\n"))
        .and_then(|()| fs::rename(&written, record))
        .about("cannot write", record)
}

/// Makes a folder and those above it, replacing links and files that stand in the way: nothing is ever written through a
/// link into the tree that was copied.
fn real_folder(root: &Path, folder: &Path, known: &mut BTreeSet<PathBuf>) -> io::Result<()> {
    if known.contains(folder) {
        return Ok(());
    }
    if let Some(parent) = folder.parent() {
        real_folder(root, parent, known)?;
    }
    let path = root.join(folder);
    match fs::symlink_metadata(&path) {
        Ok(found) if found.is_dir() => {}
        Ok(_) => {
            fs::remove_file(&path)?;
            fs::create_dir(&path)?;
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => fs::create_dir_all(&path)?,
        Err(error) => return Err(error),
    }
    known.insert(folder.to_path_buf());
    Ok(())
}

/// Removes an entry and the folders that it leaves empty, unless a folder above it has become a link.
fn remove_below(root: &Path, path: &Path) -> io::Result<bool> {
    let behind_link = path
        .ancestors()
        .skip(1)
        .any(|above| fs::symlink_metadata(root.join(above)).is_ok_and(|found| found.is_symlink()));
    if behind_link || !remove(&root.join(path))? {
        return Ok(false);
    }
    for above in path.ancestors().skip(1) {
        if above.as_os_str().is_empty() || fs::remove_dir(root.join(above)).is_err() {
            break;
        }
    }
    Ok(true)
}

/// Removes a file, a link or a folder.
fn remove(path: &Path) -> io::Result<bool> {
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_dir() => fs::remove_dir_all(path).map(|()| true),
        Ok(_) => fs::remove_file(path).map(|()| true),
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
            ) =>
        {
            Ok(false)
        }
        Err(error) => Err(error),
    }
}

/// Makes one entry, and says whether anything had to be done.
pub fn put(target: &Path, entry: &Entry) -> io::Result<bool> {
    match entry {
        Entry::Text(text) => put_text(target, text),
        Entry::CopyOf(source) => put_text(target, &fs::read(source)?),
        Entry::Link(source) => put_link(target, source),
    }
}

/// The time of a file that is written is always now: cargo compares it with that of the last build.
fn put_text(target: &Path, text: &[u8]) -> io::Result<bool> {
    let is_file = fs::symlink_metadata(target).is_ok_and(|found| found.is_file());
    if is_file && fs::read(target).is_ok_and(|present| present == text) {
        return Ok(false);
    }
    if !is_file {
        remove(target)?;
    }
    fs::write(target, text)?;
    Ok(true)
}

#[cfg(unix)]
fn put_link(target: &Path, source: &Path) -> io::Result<bool> {
    if fs::read_link(target).is_ok_and(|present| present == source) {
        return Ok(false);
    }
    remove(target)?;
    std::os::unix::fs::symlink(source, target)?;
    Ok(true)
}

#[cfg(not(unix))]
fn put_link(target: &Path, source: &Path) -> io::Result<bool> {
    let source = target.parent().unwrap_or(Path::new("")).join(source);
    if source.is_file() {
        return put_text(target, &fs::read(source)?);
    }
    let mut changed = false;
    fs::create_dir_all(target)?;
    for entry in fs::read_dir(&source)? {
        let entry = entry?;
        changed |= put_link(&target.join(entry.file_name()), &entry.path())?;
    }
    Ok(changed)
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use super::*;
    use crate::package::testing::Tree;

    fn text(text: &str) -> Entry {
        Entry::Text(text.as_bytes().to_vec())
    }

    fn entries(list: &[(&str, Entry)]) -> Entries {
        list.iter()
            .map(|(path, entry)| (PathBuf::from(path), entry.clone()))
            .collect()
    }

    fn bring(tree: &Tree, list: &[(&str, Entry)]) -> Vec<String> {
        let changed = bring_up_to_date(&tree.path("copy"), &entries(list), &tree.path("record"));
        let changed = changed.expect("written");
        changed.iter().map(|path| path.display().to_string()).collect()
    }

    #[test]
    fn only_what_changed_is_written() {
        let tree = Tree::new(&[]);
        let both = [("a/b.rs", text("b")), ("c.rs", text("c"))];
        assert_eq!(bring(&tree, &both), ["a/b.rs", "c.rs"]);
        let past = SystemTime::now() - Duration::from_secs(1000);
        let file = fs::File::options().write(true).open(tree.path("copy/a/b.rs"));
        file.expect("a file").set_modified(past).expect("a time");
        assert_eq!(
            bring(&tree, &[("a/b.rs", text("b")), ("c.rs", text("new"))]),
            ["c.rs"]
        );
        let time = |path| fs::metadata(tree.path(path)).and_then(|found| found.modified());
        assert_eq!(time("copy/a/b.rs").expect("a time"), past);
        assert!(time("copy/c.rs").expect("a time") > past + Duration::from_secs(900));
    }

    #[test]
    fn what_vanished_goes_and_what_others_put_there_stays() {
        let tree = Tree::new(&[]);
        bring(&tree, &[("a/b/c.rs", text("")), ("d.rs", text(""))]);
        tree.write("copy/result.csv", "1");
        assert_eq!(bring(&tree, &[("d.rs", text(""))]), ["a/b/c.rs"]);
        assert!(!tree.path("copy/a").exists());
        assert!(tree.path("copy/result.csv").exists());
    }

    #[test]
    #[cfg(unix)]
    fn nothing_is_written_through_a_link() {
        let tree = Tree::new(&[("original/data/x", "x")]);
        let linked = [("data", Entry::Link(tree.path("original/data")))];
        assert_eq!(bring(&tree, &linked), ["data"]);
        assert_eq!(bring(&tree, &linked), [""; 0]);
        assert_eq!(fs::read(tree.path("copy/data/x")).expect("there"), b"x");
        assert_eq!(bring(&tree, &[("data/y.rs", text("y"))]), ["data", "data/y.rs"]);
        assert!(!tree.path("original/data/y.rs").exists());
        assert_eq!(bring(&tree, &linked), ["data/y.rs", "data"]);
        assert!(tree.path("original/data/x").exists());
    }
}
