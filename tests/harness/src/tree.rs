//! What a program leaves in the folder that it works in: names, kinds, contents, rights, where links point, which names are of
//! one file.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// All that is below a folder, by its path from there.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tree(BTreeMap<PathBuf, Entry>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Entry {
    kind: Kind,
    rights: u32,
    /// The first of the names of its file, where it has several.
    same_as: Option<PathBuf>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Kind {
    Folder,
    File(Vec<u8>),
    Link(PathBuf),
    Other,
}

const RIGHTS: u32 = 0o7777;

impl Tree {
    /// What is below `folder`. Links are not followed.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn of(folder: &Path) -> io::Result<Tree> {
        let mut all = BTreeMap::new();
        add(folder, Path::new(""), &mut all)?;
        let mut names: BTreeMap<(u64, u64), PathBuf> = BTreeMap::new();
        for (path, (entry, inode)) in &mut all {
            let first = names.entry(*inode).or_insert_with(|| path.clone());
            entry.same_as = (first != path).then(|| first.clone());
        }
        Ok(Tree(
            all.into_iter().map(|(path, (entry, _))| (path, entry)).collect(),
        ))
    }

    /// The first path at which `other` is not the same, with what is there in both.
    pub fn difference(&self, other: &Tree) -> Option<String> {
        let paths = self.0.keys().chain(other.0.keys());
        let different = paths
            .filter(|path| self.0.get(*path) != other.0.get(*path))
            .min()?;
        let shown = |tree: &Tree| match tree.0.get(different) {
            None => "nothing".to_string(),
            Some(entry) => entry.to_string(),
        };
        Some(format!(
            "{}: {} instead of {}",
            different.display(),
            shown(other),
            shown(self)
        ))
    }
}

type Found = BTreeMap<PathBuf, (Entry, (u64, u64))>;

fn add(folder: &Path, below: &Path, all: &mut Found) -> io::Result<()> {
    for entry in fs::read_dir(folder.join(below))? {
        let entry = entry?;
        let path = below.join(entry.file_name());
        let metadata = entry.metadata()?;
        let kind = match metadata.file_type() {
            kind if kind.is_dir() => Kind::Folder,
            kind if kind.is_file() => Kind::File(fs::read(entry.path())?),
            kind if kind.is_symlink() => Kind::Link(fs::read_link(entry.path())?),
            _ => Kind::Other,
        };
        let is_folder = kind == Kind::Folder;
        let entry = Entry {
            kind,
            rights: metadata.mode() & RIGHTS,
            same_as: None,
        };
        all.insert(path.clone(), (entry, (metadata.dev(), metadata.ino())));
        if is_folder {
            add(folder, &path, all)?;
        }
    }
    Ok(())
}

impl std::fmt::Display for Entry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.kind {
            Kind::Folder => write!(f, "a folder")?,
            Kind::File(bytes) => write!(f, "a file with {:?}", String::from_utf8_lossy(bytes))?,
            Kind::Link(target) => write!(f, "a link to {}", target.display())?,
            Kind::Other => write!(f, "something else")?,
        }
        write!(f, ", {:o}", self.rights)?;
        match &self.same_as {
            Some(path) => write!(f, ", the same as {}", path.display()),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn everything_that_a_user_could_tell_apart_is_told_apart() {
        let changes: [fn(&Path) -> io::Result<()>; 6] = [
            |at| fs::write(at.join("d/a"), "other"),
            |at| fs::remove_dir(at.join("e")),
            |at| fs::set_permissions(at.join("d/a"), fs::Permissions::from_mode(0o600)),
            |at| fs::remove_file(at.join("l")).and_then(|()| std::os::unix::fs::symlink("b", at.join("l"))),
            |at| fs::remove_file(at.join("h")).and_then(|()| fs::write(at.join("h"), "text")),
            |at| fs::rename(at.join("e"), at.join("f")),
        ];
        let planted = || {
            let folder = tempfile::tempdir().unwrap();
            let at = folder.path();
            fs::create_dir(at.join("d")).unwrap();
            fs::create_dir(at.join("e")).unwrap();
            fs::write(at.join("d/a"), "text").unwrap();
            fs::set_permissions(at.join("d/a"), fs::Permissions::from_mode(0o644)).unwrap();
            fs::hard_link(at.join("d/a"), at.join("h")).unwrap();
            std::os::unix::fs::symlink("d/a", at.join("l")).unwrap();
            folder
        };
        let first = planted();
        let tree = Tree::of(first.path()).unwrap();
        assert_eq!(tree.difference(&Tree::of(planted().path()).unwrap()), None);
        for change in changes {
            let folder = planted();
            change(folder.path()).unwrap();
            assert!(tree.difference(&Tree::of(folder.path()).unwrap()).is_some());
        }
    }
}
