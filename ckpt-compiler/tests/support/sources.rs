//! Rust files of strangers: those of this repository and of the packages that cargo has unpacked, a seeded choice.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// Larger files are mostly generated tables.
const LARGEST: u64 = 60_000;

/// 100 files of this repository and of the packages in its lock file: the same ones on every machine.
/// `ROBUSTNESS_FILES=n` takes more, and from all packages; `ROBUSTNESS_SEED=n` takes others.
pub fn chosen_files() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let wanted = number("ROBUSTNESS_FILES");
    let locked = std::fs::read_to_string(root.join("Cargo.lock")).expect("the workspace has a lock file");
    let locked = locked_packages(&locked);
    let mut files = files_under(&root);
    for package in unpacked_packages() {
        let name = package.file_name().unwrap_or_default().to_string_lossy();
        if wanted.is_some() || locked.contains(&*name) {
            files.extend(files_under(&package));
        }
    }
    files.sort();
    let mut files: Vec<PathBuf> = files.into_iter().map(|(_, path)| path).collect();
    shuffle(&mut files, number("ROBUSTNESS_SEED").unwrap_or(1));
    files.truncate(wanted.unwrap_or(100) as usize);
    files
}

/// `name-version` of every package in the lock file.
fn locked_packages(lock: &str) -> HashSet<String> {
    let lock: toml::Table = lock.parse().expect("the lock file is TOML");
    let packages = lock["package"].as_array().expect("a list of packages");
    let text = |package: &toml::Value, key: &str| package[key].as_str().unwrap_or_default().to_owned();
    packages
        .iter()
        .map(|package| format!("{}-{}", text(package, "name"), text(package, "version")))
        .collect()
}

/// The folders of the packages that cargo has unpacked.
fn unpacked_packages() -> Vec<PathBuf> {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(Path::new(&std::env::var_os("HOME")?).join(".cargo")));
    let registries = home.map(|home| folders(&home.join("registry/src")));
    registries
        .unwrap_or_default()
        .iter()
        .flat_map(|registry| folders(registry))
        .collect()
}

fn folders(parent: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(parent).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).collect()
}

/// The Rust files below a folder, each behind its path from the folder's parent, which is the same on every machine.
fn files_under(folder: &Path) -> Vec<(PathBuf, PathBuf)> {
    let mut files = Vec::new();
    collect(folder, &mut files);
    let name = folder.file_name().unwrap_or_default();
    let named = |path: PathBuf| {
        let inside = path.strip_prefix(folder).unwrap_or(&path);
        (Path::new(name).join(inside), path)
    };
    files.into_iter().map(named).collect()
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let (path, name) = (entry.path(), entry.file_name());
        let Ok(about) = entry.metadata() else { continue };
        if about.is_dir() && name != "target" && name != ".git" {
            collect(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") && about.len() < LARGEST {
            files.push(path);
        }
    }
}

/// Fisher and Yates, with the generator of Knuth's MMIX.
fn shuffle(files: &mut [PathBuf], seed: u64) {
    let mut state = seed;
    for end in (1..files.len()).rev() {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        files.swap(end, ((state >> 33) % (end as u64 + 1)) as usize);
    }
}
