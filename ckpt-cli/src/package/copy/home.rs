//! Where the copy of a workspace is kept, with what ckpt remembers about it.

use std::env;
use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};

use crate::failure::{AboutFile, Failure, Outcome, says};
use crate::output;
use crate::package::copy::gather::CACHE_TAG;
use crate::package::copy::manifest::Runtime;
use crate::package::read::ReadPackage;

/// The folder with everything that ckpt keeps about one workspace.
#[derive(Debug)]
pub struct Home {
    /// The folder, which is there and can be written.
    pub folder: PathBuf,
    /// Where the copy is built: a target folder that workspaces share is shared for this as well.
    pub build_directory: PathBuf,
    /// Where the library comes from.
    pub runtime: Runtime,
}

impl Home {
    /// `target/ckpt`; where that cannot be written, a folder in the user's cache, or a temporary one.
    pub fn open(package: &ReadPackage) -> Outcome<Self> {
        let root = package.workspace_root();
        let target = package.target_directory();
        let own = format!("{}-{:016x}", name_of(root), hash(root));
        let within = target.join("ckpt");
        // A target folder that several workspaces share holds a copy of each.
        let build_directory = within.join("build");
        let first = if target.starts_with(root) {
            within
        } else {
            within.join(&own)
        };
        let cache = cache_folder().map(|cache| cache.join("ckpt").join(&own));
        let last = temporary_folder().join(&own);
        let others = cache.into_iter().chain([last]).collect();
        let mut home = Self::first_usable(first, target, others, Runtime::find())?;
        if home.folder.starts_with(target) {
            home.build_directory = build_directory;
        }
        Ok(home)
    }

    /// A folder in it for another copy of the same workspace, which is built beside the first.
    pub fn part(&self, name: &str) -> Outcome<Self> {
        let folder = self.folder.join(name);
        fs::create_dir_all(&folder).about("cannot make", &folder)?;
        Ok(Home {
            folder,
            build_directory: self.build_directory.clone(),
            runtime: self.runtime.clone(),
        })
    }

    /// The first of these that can be written.
    pub fn first_usable(
        first: PathBuf,
        target: &Path,
        others: Vec<PathBuf>,
        runtime: Runtime,
    ) -> Outcome<Self> {
        let refused = match usable(&first, Some(target)) {
            Ok(()) => {
                return Ok(Home {
                    build_directory: first.join("build"),
                    folder: first,
                    runtime,
                });
            }
            Err(error) => error,
        };
        if let Some(folder) = others.into_iter().find(|folder| usable(folder, None).is_ok()) {
            return Ok(Home {
                build_directory: folder.join("build"),
                folder,
                runtime,
            });
        }
        Err(
            Failure::build(says!("E3066: cannot write to `{}`", first.display()))
                .because(refused)
                .help("name a folder for build results with `--target-dir FOLDER`"),
        )
    }

    /// One process at a time brings a copy up to date.
    pub fn lock(&self) -> Outcome<File> {
        let path = self.folder.join("lock");
        let file = File::create(&path).about("cannot write", &path)?;
        // A file system without locks is no reason to stop.
        let _ = file.lock();
        Ok(file)
    }
}

/// Keeps others from rewriting the copies of a target folder, from before one is rewritten until it is built: programs of
/// one workspace share a copy, and what another has put there in between would be built without sites.
#[must_use]
#[derive(Debug)]
pub struct Busy(#[expect(dead_code, reason = "it is held")] Option<File>);

impl Busy {
    /// Waits until nobody else is at work on these copies.
    pub fn with(target: &Path) -> Self {
        let path = target.join("ckpt").join("busy");
        let elsewhere = env::temp_dir().join(format!(
            "ckpt-{}-{:016x}.busy",
            nix::unistd::getuid(),
            hash(target)
        ));
        let made = path.parent().map_or(Ok(()), fs::create_dir_all);
        let file = made
            .and_then(|()| File::create(&path))
            .or_else(|_| File::create(elsewhere))
            .ok();
        if let Some(file) = &file
            && matches!(file.try_lock(), Err(fs::TryLockError::WouldBlock))
        {
            output::note(&format!(
                "waiting for another build in `{}` to end; with another `--target-dir` none waits for it",
                target.display()
            ));
            // A file system without locks is no reason to stop.
            let _ = file.lock();
        }
        Busy(file)
    }
}

/// Makes a folder, and the mark that cargo puts into a target folder that is new, and tries to write there.
fn usable(folder: &Path, target: Option<&Path>) -> io::Result<()> {
    let is_new = target.is_some_and(|target| !target.exists());
    fs::create_dir_all(folder)?;
    if let Some(target) = target.filter(|_| is_new) {
        let text =
            "Signature: 8a477f597d28d172789f06886806bc55\n# This file marks a folder of build results.\n";
        fs::write(target.join(CACHE_TAG), text)?;
    }
    let probe = folder.join("probe");
    fs::write(&probe, "").and_then(|()| fs::remove_file(&probe))
}

pub(super) fn cache_folder() -> Option<PathBuf> {
    let said = env::var_os("XDG_CACHE_HOME").filter(|path| !path.is_empty());
    said.map(PathBuf::from)
        .or_else(|| Some(env::home_dir()?.join(".cache")))
}

/// Where what has no other place is kept for this user.
pub(super) fn temporary_folder() -> PathBuf {
    env::temp_dir().join(format!("ckpt-{}", nix::unistd::getuid()))
}

fn name_of(folder: &Path) -> String {
    folder
        .file_name()
        .map_or_else(|| "root".into(), |name| name.to_string_lossy().into_owned())
}

fn hash(path: &Path) -> u64 {
    let mut hasher = DefaultHasher::new();
    path.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

    use super::*;
    use crate::package::testing::Tree;

    #[test]
    fn one_is_at_work_at_a_time() {
        let tree = Tree::new(&[("target/x", "")]);
        let target = tree.path("target");
        let is_done = AtomicBool::new(false);
        let first = Busy::with(&target);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let second = Busy::with(&target);
                assert!(is_done.load(SeqCst), "it has waited");
                drop(second);
            });
            let other = File::open(target.join("ckpt/busy")).expect("the first has made it");
            assert!(matches!(other.try_lock(), Err(fs::TryLockError::WouldBlock)));
            is_done.store(true, SeqCst);
            drop(first);
        });
    }

    #[test]
    fn without_a_target_folder_the_next_one_is_taken() {
        let tree = Tree::new(&[("target", "a file"), ("taken", "a file")]);
        let target = tree.path("target");
        let home = |others: &[&str]| {
            let others = others.iter().map(|path| tree.path(path)).collect();
            Home::first_usable(target.join("ckpt"), &target, others, Runtime::Version("0".into()))
        };
        let taken = home(&["taken/x", "cache/ckpt"]).expect("the second");
        assert_eq!(taken.folder, tree.path("cache/ckpt"));
        let failure = home(&["taken/x"]).expect_err("refused").to_string();
        assert!(failure.contains("target/ckpt"), "{failure}");
    }
}
