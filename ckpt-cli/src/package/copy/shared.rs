//! Where cargo keeps what it builds of copies, for all packages of a user: the library of ckpt, and whatever else packages
//! have in common, is built once for each toolchain, profile and set of features, and for each implementation of MPI: cargo
//! does not build `mpi-sys` again when the compiler that `MPICC` names is another.
//!
//! What may be shared is cargo's to decide: it names all that it builds by these, and by the package and its place. The
//! programs themselves are where they were, in the target folder of the copy.

use std::collections::HashSet;
use std::env;
use std::fs::{self, File, TryLockError};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::cargo::{BUILD_DIRECTORY, CargoOptions};
use crate::failure::{AboutFile, Failure, Outcome, says};
use crate::output;
use crate::package::copy::home::{cache_folder, temporary_folder};

/// The first cargo that can keep what it builds apart from the programs.
const OLDEST_CARGO: (u32, u32) = (1, 91);

/// The folder.
#[derive(Debug)]
pub struct SharedBuilds {
    /// The folder, which may not be there.
    pub folder: PathBuf,
}

/// Where those of one implementation of MPI are.
#[derive(Debug)]
pub struct SharedBuild {
    /// The folder.
    pub folder: PathBuf,
    /// Whether nothing was built there with this profile.
    pub is_new: bool,
    _in_use: InUse,
}

/// Keeps the folder from being removed while cargo works in it.
#[derive(Debug)]
struct InUse(#[expect(dead_code, reason = "it is held")] File);

impl SharedBuilds {
    /// In the user's cache, or a temporary folder where there is none.
    pub fn of_user() -> Self {
        let folder = cache_folder().map_or_else(temporary_folder, |cache| cache.join("ckpt"));
        SharedBuilds {
            folder: folder.join("build"),
        }
    }

    /// For a build that is about to begin. None where the folder cannot be written, cargo is too old to use it, or the user has
    /// named another: then each package has what is built of its copy in its own target folder.
    pub fn for_build(options: &CargoOptions) -> Option<SharedBuild> {
        let is_named = env::var_os(BUILD_DIRECTORY).is_some_and(|folder| !folder.is_empty());
        if is_named {
            return None;
        }
        let shared = Self::of_user();
        if fs::create_dir_all(&shared.folder).is_err() || !cargo_can() {
            return None;
        }
        let lock = shared.lock_file().ok()?;
        // A file system without locks is no reason to stop.
        let _ = lock.lock_shared();
        let folder = shared.folder.join(name_of(mpi_compiler().as_deref()));
        fs::create_dir_all(&folder).ok()?;
        let target = options.passed_on.target.as_deref().map(plain);
        let target = target.map_or_else(String::new, |target| format!("{target}-"));
        let known = folder.join(format!("built-{target}{}", options.profile_name()));
        let is_new = File::create_new(known).is_ok();
        if is_new && !options.quiet {
            output::note(
                "building ckpt's library and what it depends on; that takes minutes, more of them where the machine is busy; the first time only",
            );
        }
        Some(SharedBuild {
            folder,
            is_new,
            _in_use: InUse(lock),
        })
    }

    /// The bytes in the folder, a file of several names counted once.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn bytes(&self) -> Outcome<u64> {
        let mut seen = HashSet::new();
        bytes_below(&self.folder, &mut seen).about("cannot read", &self.folder)
    }

    /// Removes the folder.
    ///
    /// # Errors
    /// It is in use, or cannot be removed.
    pub fn remove(&self) -> Outcome<()> {
        if !self.folder.exists() {
            return Ok(());
        }
        let lock = self.lock_file().about("cannot write", &self.folder)?;
        if matches!(lock.try_lock(), Err(TryLockError::WouldBlock)) {
            return Err(Failure::store(says!(
                "E3210: `{}` is in use: a program is being built",
                self.folder.display()
            ))
            .help("wait until that has ended"));
        }
        fs::remove_dir_all(&self.folder).about("cannot remove", &self.folder)
    }

    /// Beside the folder, so that it stays when that goes.
    fn lock_file(&self) -> io::Result<File> {
        File::create(self.folder.with_file_name("build.lock"))
    }
}

/// The compiler of MPI that `mpi-sys` asks, by its own path, if there is one.
fn mpi_compiler() -> Option<PathBuf> {
    let name = env::var_os("MPICC").filter(|name| !name.is_empty());
    let name = name.unwrap_or_else(|| "mpicc".into());
    let folders = env::var_os("PATH")?;
    let mut found = env::split_paths(&folders).map(|folder| folder.join(&name));
    fs::canonicalize(found.find(|path| path.is_file())?).ok()
}

/// What the folder of the builds with a compiler of MPI is called: after it.
fn name_of(compiler: Option<&Path>) -> String {
    let Some(compiler) = compiler else {
        return "without-mpi".into();
    };
    format!("mpi{}", plain(&compiler.to_string_lossy()))
}

/// As a part of a file's name.
fn plain(text: &str) -> String {
    let plain = |one: char| {
        if one.is_alphanumeric() || "._".contains(one) {
            one
        } else {
            '-'
        }
    };
    text.chars().map(plain).collect()
}

fn cargo_can() -> bool {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let said = Command::new(cargo).arg("--version").output();
    let text = said.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    text.is_ok_and(|text| version(&text).is_some_and(|version| version >= OLDEST_CARGO))
}

/// The first two numbers of `cargo 1.95.0 (f2d3ce0bd 2026-03-21)`.
fn version(text: &str) -> Option<(u32, u32)> {
    let mut numbers = text.split_whitespace().nth(1)?.split('.');
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

fn bytes_below(folder: &Path, seen: &mut HashSet<(u64, u64)>) -> io::Result<u64> {
    let mut bytes = 0;
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
        entries => entries?,
    };
    for entry in entries {
        let entry = entry?;
        let Ok(found) = entry.metadata() else { continue };
        if found.is_dir() {
            bytes += bytes_below(&entry.path(), seen)?;
        } else if seen.insert((found.dev(), found.ino())) {
            bytes += found.len();
        }
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::package::testing::Tree;

    #[test]
    fn versions_of_cargo_are_told_apart() {
        assert_eq!(version("cargo 1.95.0 (f2d3ce0bd 2026-03-21)"), Some((1, 95)));
        assert!(version("cargo 1.90.0-nightly (x)").is_some_and(|version| version < OLDEST_CARGO));
        assert_eq!(version("cargo"), None);
    }

    #[test]
    fn each_mpi_has_a_folder_of_its_own() {
        assert_eq!(name_of(None), "without-mpi");
        assert_eq!(
            name_of(Some(Path::new("/usr/bin/mpicc.mpich"))),
            "mpi-usr-bin-mpicc.mpich"
        );
        assert_eq!(name_of(Some(Path::new("/opt/my mpi/x"))), "mpi-opt-my-mpi-x");
    }

    #[test]
    fn a_folder_in_use_stays() {
        let tree = Tree::new(&[("build/debug/a", "four"), ("build/debug/deps/b", "seven77")]);
        std::fs::hard_link(tree.path("build/debug/a"), tree.path("build/debug/again")).expect("linked");
        let shared = SharedBuilds {
            folder: tree.path("build"),
        };
        assert_eq!(shared.bytes().expect("readable"), 11);
        let lock = shared.lock_file().expect("a lock");
        lock.lock_shared().expect("locked");
        let failure = shared.remove().expect_err("in use").to_string();
        assert!(failure.contains("in use"), "{failure}");
        drop(lock);
        shared.remove().expect("removed");
        assert!(!shared.folder.exists());
        assert_eq!(shared.bytes().expect("nothing"), 0);
    }
}
