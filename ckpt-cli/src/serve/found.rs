//! The stores below a folder. Symbolic links are not followed: what lies outside of the folder is not shown.

use std::fs;
use std::path::{Path, PathBuf};

use ckpt::store::{files_in, folder_of_rank, is_fallback, ranks_here};

use crate::failure::{AboutFile, Outcome};
use crate::stores;

/// A store, and how it is called here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Its path from the folder that is looked at.
    pub name: String,
    /// Where it is.
    pub store: PathBuf,
}

/// So deep is looked.
const DEEPEST: usize = 8;
/// So many folders are looked into,
const MOST_FOLDERS: usize = 20_000;
/// and so many stores shown.
const MOST_STORES: usize = 500;

/// All of them, by name; the folders of the ranks of one program are one.
///
/// # Errors
/// The folder cannot be looked into.
pub fn stores_below(root: &Path) -> Outcome<Vec<Found>> {
    let entries = fs::read_dir(root).about("cannot look into", root)?;
    drop(entries);
    let mut found = Vec::new();
    if is_store(root) {
        found.push(Found {
            name: ".".into(),
            store: root.to_owned(),
        });
    }
    let mut open = vec![(root.to_owned(), 0)];
    let mut looked = 0;
    while let Some((folder, depth)) = open.pop() {
        looked += 1;
        if looked > MOST_FOLDERS || found.len() >= MOST_STORES {
            break;
        }
        // What cannot be looked into is passed over, as it may be of others.
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                continue;
            }
            let path = entry.path();
            if entry.file_name().to_string_lossy().ends_with(".ckpt.d") && !is_fallback(&entry.path()) {
                let store = of_all_ranks(&path).unwrap_or(path);
                let name = store.strip_prefix(root).unwrap_or(&store);
                let name = name.to_string_lossy().into_owned();
                found.push(Found { name, store });
            } else if depth < DEEPEST && !is_left_out(&path) {
                open.push((path, depth + 1));
            }
        }
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    found.dedup();
    Ok(found)
}

/// A folder that is one itself, whatever its name is.
fn is_store(folder: &Path) -> bool {
    let has_checkpoints = files_in(folder).is_ok_and(|files| !files.is_empty());
    has_checkpoints || folder.to_string_lossy().ends_with(".ckpt.d")
}

/// Hidden folders, and those of which can be made again what they hold: `target`.
fn is_left_out(folder: &Path) -> bool {
    let is_hidden = folder
        .file_name()
        .is_some_and(|name| name.to_string_lossy().starts_with('.'));
    is_hidden || folder.join("CACHEDIR.TAG").exists()
}

/// The store of all ranks, where none of its folders is a link.
fn of_all_ranks(part: &Path) -> Option<PathBuf> {
    let store = stores::of_all_ranks(part)?;
    let is_folder = |rank: u32| {
        let found = fs::symlink_metadata(folder_of_rank(&store, rank));
        found.is_ok_and(|found| found.is_dir())
    };
    let ranks = ranks_here(&store).ok()?;
    ranks.into_iter().all(is_folder).then_some(store)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn stores_are_found_below_the_folder_and_not_behind_links() {
        let outside = tempfile::tempdir().unwrap();
        fs::create_dir(outside.path().join("secret.ckpt.d")).unwrap();
        let here = tempfile::tempdir().unwrap();
        let path = |name: &str| here.path().join(name);
        for folder in [
            "a.ckpt.d",
            "deep/er/b.ckpt.d",
            ".hidden/c.ckpt.d",
            "target/d.ckpt.d",
            "deep/plain",
        ] {
            fs::create_dir_all(path(folder)).unwrap();
        }
        fs::write(path("target/CACHEDIR.TAG"), "").unwrap();
        symlink(outside.path(), path("link")).unwrap();
        symlink(outside.path().join("secret.ckpt.d"), path("e.ckpt.d")).unwrap();
        for rank in [0, 1] {
            let part = path(&format!("run-{rank}.ckpt.d"));
            fs::create_dir(&part).unwrap();
            fs::write(part.join(format!("000001.r{rank}.h5")), "").unwrap();
        }
        let names = |root: &Path| -> Vec<String> {
            let found = stores_below(root).unwrap();
            found.into_iter().map(|one| one.name).collect()
        };
        assert_eq!(
            names(here.path()),
            ["a.ckpt.d", "deep/er/b.ckpt.d", "run-{rank}.ckpt.d"]
        );
        assert_eq!(names(&path("a.ckpt.d")), ["."]);
        fs::rename(path("run-1.ckpt.d"), outside.path().join("moved")).unwrap();
        symlink(outside.path().join("moved"), path("run-1.ckpt.d")).unwrap();
        assert_eq!(
            names(here.path()),
            ["a.ckpt.d", "deep/er/b.ckpt.d", "run-0.ckpt.d"]
        );
        assert!(stores_below(&path("nowhere")).is_err());
    }
}
