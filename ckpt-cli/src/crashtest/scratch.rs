//! Fresh working folders: every run of a crash test starts in a copy of the current folder, so that nothing of the
//! user's is touched and no run sees what another left behind.
//!
//! The copy sits at the same depth as the original, with the neighbours of its ancestors linked beside them, so that
//! `../data/deck.toml` still leads to the file. Large files are linked instead of copied; version control,
//! build results, stores and `ckpt.toml` are left out.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::failure::{AboutFile, Failure, Outcome, says};
use crate::render;

/// Files larger than this are linked: they are taken for input.
const LINKED_FROM: u64 = 16 << 20;
/// More than this is not copied for every run.
const MOST_BYTES: u64 = 1 << 30;
const MOST_FILES: usize = 20_000;
/// How many levels above the working folder can be reached with `..`.
const LEVELS: usize = 4;

/// What a file looked like after the copy: whatever looks otherwise afterwards was written by the program.
type State = (u64, Option<SystemTime>);

/// The folder that working folders are made in; removed at the end unless it is kept.
#[derive(Debug)]
pub struct Scratch {
    root: tempfile::TempDir,
    original: PathBuf,
    working: PathBuf,
    stores: usize,
}

/// A fresh working folder, with what was in it at the beginning.
#[derive(Debug, Default)]
pub struct Initial {
    files: BTreeMap<PathBuf, State>,
    /// Files that were linked for their size, relative to the folder.
    pub linked: Vec<PathBuf>,
    bytes: u64,
}

impl Scratch {
    /// Makes the scratch folder, below `parent` or the system's folder for temporary files.
    pub fn new(original: &Path, parent: Option<&Path>) -> Outcome<Self> {
        let parent = parent.map_or_else(std::env::temp_dir, Path::to_path_buf);
        let parent = fs::canonicalize(&parent).about("cannot use the scratch folder", &parent)?;
        let original = fs::canonicalize(original).about("cannot read", original)?;
        let root = tempfile::Builder::new()
            .prefix("ckpt-crashtest-")
            .tempdir_in(&parent)
            .about("cannot make a folder in", &parent)?;
        let working = mirror_ancestors(&original, &root.path().join("tree"))?;
        Ok(Scratch {
            root,
            original,
            working,
            stores: 0,
        })
    }

    /// The working folder of all runs, one after the other.
    pub fn working(&self) -> &Path {
        &self.working
    }

    /// The scratch folder itself.
    pub fn root(&self) -> &Path {
        self.root.path()
    }

    /// Leaves the scratch folder on disk and says where.
    pub fn keep(&mut self) -> PathBuf {
        self.root.disable_cleanup(true);
        self.root.path().to_path_buf()
    }

    /// Makes the working folder anew and names a new, empty store.
    pub fn fresh(&mut self) -> Outcome<(Initial, PathBuf)> {
        if self.working.exists() {
            fs::remove_dir_all(&self.working).about("cannot empty", &self.working)?;
        }
        let mut initial = Initial::default();
        copy_folder(
            &self.original,
            &self.working,
            Path::new(""),
            self.root.path(),
            &mut initial,
        )?;
        let old = self.store();
        if old.exists() {
            fs::remove_dir_all(&old).about("cannot remove", &old)?;
        }
        self.stores += 1;
        Ok((initial, self.store()))
    }

    fn store(&self) -> PathBuf {
        self.root.path().join(format!("{}.ckpt.d", self.stores))
    }
}

impl Initial {
    /// The files of the folder, relative to it, that were not there or looked otherwise at the beginning.
    pub fn written_since(&self, folder: &Path) -> Outcome<Vec<PathBuf>> {
        let mut written = Vec::new();
        let mut pending = vec![PathBuf::new()];
        while let Some(below) = pending.pop() {
            let here = folder.join(&below);
            for entry in fs::read_dir(&here).about("cannot read", &here)? {
                let entry = entry.about("cannot read", &here)?;
                let path = below.join(entry.file_name());
                let metadata = fs::symlink_metadata(entry.path()).about("cannot read", &entry.path())?;
                if metadata.is_dir() {
                    if !is_left_out(&entry.path()) {
                        pending.push(path);
                    }
                } else if metadata.is_file() && self.files.get(&path) != Some(&state(&metadata)) {
                    written.push(path);
                }
            }
        }
        written.sort();
        Ok(written)
    }
}

fn state(metadata: &fs::Metadata) -> State {
    (metadata.len(), metadata.modified().ok())
}

/// Builds the upper levels of the copy and returns the path of the working folder in it, which is not made yet.
fn mirror_ancestors(original: &Path, tree: &Path) -> Outcome<PathBuf> {
    let mut levels: Vec<&Path> = original.ancestors().take(LEVELS + 1).collect();
    levels.reverse();
    fs::create_dir_all(tree).about("cannot make", tree)?;
    let mut copy = tree.to_path_buf();
    for pair in levels.windows(2) {
        let (parent, child) = (pair[0], pair[1]);
        // A parent that cannot be listed only means that its other children cannot be reached.
        for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
            if entry.path() != child && !tree.starts_with(entry.path()) {
                let _ = symlink(entry.path(), copy.join(entry.file_name()));
            }
        }
        copy.push(child.file_name().unwrap_or_default());
        if child != original {
            fs::create_dir_all(&copy).about("cannot make", &copy)?;
        }
    }
    Ok(if levels.len() < 2 { tree.join("root") } else { copy })
}

fn is_left_out(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    matches!(&*name, ".git" | ".hg" | ".jj" | "ckpt.toml")
        || name.ends_with(".ckpt.d")
        || path.join("CACHEDIR.TAG").exists()
}

/// Copies what is in a folder, but for `scratch`, which may be in it.
fn copy_folder(from: &Path, to: &Path, below: &Path, scratch: &Path, initial: &mut Initial) -> Outcome<()> {
    fs::create_dir_all(to).about("cannot make", to)?;
    for entry in fs::read_dir(from).about("cannot read", from)? {
        let entry = entry.about("cannot read", from)?;
        let (source, name) = (entry.path(), entry.file_name());
        if is_left_out(&source) || source == scratch {
            continue;
        }
        let (target, path) = (to.join(&name), below.join(&name));
        let metadata = fs::symlink_metadata(&source).about("cannot read", &source)?;
        if metadata.is_dir() {
            copy_folder(&source, &target, &path, scratch, initial)?;
        } else if metadata.is_file() && metadata.len() <= LINKED_FROM {
            copy_file(&source, &target, path, initial)?;
        } else if metadata.is_file() || metadata.is_symlink() {
            // Links lead to where they lead in the original.
            if let Ok(real) = fs::canonicalize(&source) {
                symlink(&real, &target).about("cannot make", &target)?;
                initial.linked.push(path);
            }
        }
    }
    Ok(())
}

fn copy_file(source: &Path, target: &Path, path: PathBuf, initial: &mut Initial) -> Outcome<()> {
    initial.bytes += fs::copy(source, target).about("cannot copy", source)?;
    let metadata = fs::metadata(target).about("cannot read", target)?;
    initial.files.insert(path, state(&metadata));
    if initial.bytes > MOST_BYTES || initial.files.len() > MOST_FILES {
        return Err(Failure::usage(says!(
            "E3023: the working folder holds too much to copy it for every run"
        ))
        .because(format!(
            "more than {MOST_FILES} files or {}",
            render::bytes(MOST_BYTES)
        ))
        .help("start the crash test in a folder with only the files that the program reads"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let work = folder.path().join("work");
        fs::create_dir_all(work.join("sub")).unwrap();
        fs::create_dir_all(work.join("x.ckpt.d")).unwrap();
        fs::create_dir_all(folder.path().join("data")).unwrap();
        fs::write(folder.path().join("data/deck"), "deck").unwrap();
        fs::write(work.join("input"), "1").unwrap();
        fs::write(work.join("sub/old"), "2").unwrap();
        fs::write(work.join("ckpt.toml"), "").unwrap();
        folder
    }

    #[test]
    fn the_original_stays_as_it_was_and_neighbours_are_reachable() {
        let folder = package();
        let mut scratch = Scratch::new(&folder.path().join("work"), None).unwrap();
        let (initial, _) = scratch.fresh().unwrap();
        let working = scratch.working();
        assert_eq!(fs::read_to_string(working.join("../data/deck")).unwrap(), "deck");
        assert!(!working.join("ckpt.toml").exists() && !working.join("x.ckpt.d").exists());
        fs::write(working.join("input"), "changed").unwrap();
        fs::write(working.join("sub/new"), "new").unwrap();
        let written = initial.written_since(working).unwrap();
        assert_eq!(written, [PathBuf::from("input"), PathBuf::from("sub/new")]);
        assert_eq!(fs::read_to_string(folder.path().join("work/input")).unwrap(), "1");
    }

    #[test]
    fn the_scratch_folder_may_be_in_the_working_folder() {
        let folder = package();
        let work = folder.path().join("work");
        let mut scratch = Scratch::new(&work, Some(&work.join("sub"))).unwrap();
        let (_, _) = scratch.fresh().unwrap();
        let copied = fs::read_dir(scratch.working().join("sub")).unwrap();
        let names: Vec<_> = copied.map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, ["old"]);
    }

    #[test]
    fn every_run_starts_afresh() {
        let folder = package();
        let mut scratch = Scratch::new(&folder.path().join("work"), None).unwrap();
        let (_, first) = scratch.fresh().unwrap();
        fs::write(scratch.working().join("left"), "").unwrap();
        fs::create_dir(&first).unwrap();
        let (initial, second) = scratch.fresh().unwrap();
        assert!(initial.written_since(scratch.working()).unwrap().is_empty());
        assert!(first != second && !first.exists() && !second.exists());
    }

    #[test]
    fn the_scratch_folder_goes_away_unless_it_is_kept() {
        let folder = package();
        let scratch = Scratch::new(&folder.path().join("work"), None).unwrap();
        let root = scratch.root().to_path_buf();
        drop(scratch);
        assert!(!root.exists());
        let mut scratch = Scratch::new(&folder.path().join("work"), None).unwrap();
        let kept = scratch.keep();
        drop(scratch);
        assert!(kept.exists());
        fs::remove_dir_all(kept).unwrap();
    }
}
