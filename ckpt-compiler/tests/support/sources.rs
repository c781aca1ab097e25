//! Rust files of strangers: those of this repository and of the packages that cargo has unpacked, a seeded choice.

use std::path::{Path, PathBuf};

/// Larger files are mostly generated tables.
const LARGEST: u64 = 60_000;

/// 150 files at most; `ROBUSTNESS_FILES=n` takes more, `ROBUSTNESS_SEED=n` others.
pub fn chosen_files() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut files = Vec::new();
    collect(&root, &mut files);
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(Path::new(&std::env::var_os("HOME")?).join(".cargo")));
    if let Some(home) = home {
        collect(&home.join("registry/src"), &mut files);
    }
    files.sort();
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    shuffle(&mut files, number("ROBUSTNESS_SEED").unwrap_or(1));
    files.truncate(number("ROBUSTNESS_FILES").unwrap_or(150) as usize);
    files
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
