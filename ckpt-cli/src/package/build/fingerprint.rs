//! Whether anything has changed since a package was last looked at: if not, what was decided of it still holds, and the copy
//! is built as it stands.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use serde::{Deserialize, Serialize};

/// What a decision was made from.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Fingerprint {
    /// As [`tool()`] says.
    tool: (u64, u128),
    /// The options that decide what is rewritten and how it is built.
    options: Vec<String>,
    /// Size and time of every file that was looked at.
    files: BTreeMap<PathBuf, (u64, u128)>,
    /// What is built.
    pub decided: Decided,
}

/// What is built of a package.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub enum Decided {
    /// The package as it is: its user has put the sites in.
    #[default]
    AsItIs,
    /// A copy with sites in it.
    Copy(RewrittenCopy),
}

/// A copy with sites in it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RewrittenCopy {
    /// The manifest to build.
    pub manifest: PathBuf,
    /// The folder to build it in.
    pub build_directory: PathBuf,
    /// What is reported about the sites each time.
    pub summary: String,
    /// Whether measured costs said where they are.
    pub measured: bool,
    /// The share of the run that they reach, from 0 to 1, if that leaves most of it outside.
    pub reaches_only: Option<f64>,
    /// Where it draws random numbers that no two runs have alike, if it is known to.
    pub unseeded: Option<String>,
    /// Where it adds floats up in parallel, block by block with sites between, if it does.
    pub adds_in_blocks: Option<String>,
    /// The flags for `#[cfg]` that build scripts had set when the copy was made: what they leave out is not in it.
    pub flags: BTreeMap<String, Vec<String>>,
}

impl Fingerprint {
    /// Of the files as they are now.
    pub fn of(files: impl IntoIterator<Item = PathBuf>, options: Vec<String>, decided: Decided) -> Self {
        Self {
            tool: tool(),
            options,
            files: files
                .into_iter()
                .map(|path| {
                    let found = look(&path);
                    (path, found)
                })
                .collect(),
            decided,
        }
    }

    /// The fingerprint in a file, if nothing has changed since: same tool, same options, same files.
    pub fn still_valid(path: &Path, options: &[String]) -> Option<Self> {
        let fingerprint: Self = serde_json::from_slice(&fs::read(path).ok()?).ok()?;
        let same = fingerprint.tool == tool()
            && fingerprint.options == options
            && match &fingerprint.decided {
                Decided::AsItIs => true,
                Decided::Copy(copy) => copy.manifest.is_file(),
            }
            && fingerprint.files.iter().all(|(path, was)| look(path) == *was);
        same.then_some(fingerprint)
    }

    /// Writes it; where that fails, the next run works everything out again.
    pub fn write(&self, path: &Path) {
        if let Ok(text) = serde_json::to_vec(self) {
            let _ = fs::write(path, text);
        }
    }
}

/// This version of ckpt: its own executable's size and time.
pub fn tool() -> (u64, u128) {
    std::env::current_exe().map_or((0, 0), |path| look(&path))
}

/// Size and time of a file; zeros where there is none. Of a folder, which sources and settings are in it: what a program
/// writes there changes nothing.
fn look(path: &Path) -> (u64, u128) {
    let Ok(metadata) = fs::metadata(path) else {
        return (0, 0);
    };
    if metadata.is_dir() {
        return sources_in(path);
    }
    let time = metadata
        .modified()
        .ok()
        .and_then(|time| time.duration_since(UNIX_EPOCH).ok())
        .map_or(0, |time| time.as_nanos());
    (metadata.len(), time)
}

/// How many files of Rust and of settings a folder has, and a hash of their names.
fn sources_in(folder: &Path) -> (u64, u128) {
    let found = sources_of(folder).into_iter();
    let mut names: Vec<OsString> = found
        .filter_map(|path| path.file_name().map(OsString::from))
        .collect();
    names.sort();
    let mut hasher = DefaultHasher::new();
    names.hash(&mut hasher);
    (names.len() as u64, hasher.finish().into())
}

/// Files of Rust and of settings in a folder.
pub fn sources_of(folder: &Path) -> Vec<PathBuf> {
    let found = fs::read_dir(folder).into_iter().flatten().flatten();
    found
        .map(|entry| entry.path())
        .filter(|path| match path.extension() {
            Some(extension) => extension == "rs" || extension == "toml",
            None => path.file_name().is_some_and(|name| name == "rust-toolchain"),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_file_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let [source, manifest, fingerprint] =
            ["main.rs", "Cargo.toml", "fingerprint"].map(|name| folder.path().join(name));
        fs::write(&source, "fn main() {}").unwrap();
        fs::write(&manifest, "").unwrap();
        let options = vec!["--release".to_owned()];
        let copy = RewrittenCopy {
            manifest,
            ..RewrittenCopy::default()
        };
        Fingerprint::of([source.clone()], options.clone(), Decided::Copy(copy)).write(&fingerprint);
        assert!(Fingerprint::still_valid(&fingerprint, &options).is_some());
        assert!(Fingerprint::still_valid(&fingerprint, &[]).is_none());
        fs::write(&source, "fn main() { }").unwrap();
        assert!(Fingerprint::still_valid(&fingerprint, &options).is_none());
    }

    #[test]
    fn results_in_a_folder_of_sources_do_not_count_and_new_sources_do() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("main.rs"), "").unwrap();
        let before = look(folder.path());
        fs::write(folder.path().join("result.csv"), "").unwrap();
        fs::create_dir(folder.path().join("store")).unwrap();
        assert_eq!(look(folder.path()), before);
        fs::write(folder.path().join("build.rs"), "").unwrap();
        assert_ne!(look(folder.path()), before);
    }
}
