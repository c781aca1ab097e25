//! Which builds are the same.

use anyhow::Context;
use std::collections::BTreeSet;
use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use twox_hash::XxHash3_128;

/// Stands for the folder of the profile in the target folder.
const FOLDER: &str = "{built-once}";
/// How what was built is kept: what was kept in another way is another build.
const FORMAT: &[u8] = b"zstd";

/// A call of rustc that makes a library.
#[derive(Debug)]
pub struct Build {
    arguments: Vec<String>,
    /// Where the files of the profile are: `target/debug`.
    profile: String,
    /// What the files that rustc makes are called, but for their ends: `ckpt-0123456789abcdef`.
    pub stem: String,
    /// The folder of the package.
    package: PathBuf,
}

impl Build {
    /// Nothing where it is no library of a package whose sources stay as they are.
    pub fn of(arguments: &[OsString]) -> Option<Self> {
        let arguments: Option<Vec<String>> = arguments
            .iter()
            .map(|one| one.to_str().map(ToOwned::to_owned))
            .collect();
        let arguments = arguments?;
        let behind = |option: &str| {
            let at = arguments.iter().position(|one| one == option)?;
            arguments.get(at + 1).cloned()
        };
        let is_library =
            behind("--crate-type").is_some_and(|kind| kind.contains("lib") || kind == "proc-macro");
        let is_for_one =
            |one: &String| one == "--test" || one.starts_with("incremental=") || one.starts_with('@');
        if !is_library || arguments.iter().any(is_for_one) {
            return None;
        }
        let profile = behind("--out-dir")?.strip_suffix("/deps")?.to_owned();
        let end = arguments
            .iter()
            .find_map(|one| one.strip_prefix("extra-filename="))?;
        let stem = behind("--crate-name")? + end;
        let package = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR")?);
        let own = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2);
        let is_own = |name: &str| own.is_some_and(|own| package == own.join(name));
        let stays = is_from_registry(&package)
            || ["ckpt-compiler", "ckpt-macros", "ckpt-runtime"]
                .into_iter()
                .any(is_own);
        stays.then_some(Self {
            arguments,
            profile,
            stem,
            package,
        })
    }

    /// A text with no word of where the target folder is.
    pub fn anywhere(&self, text: &str) -> String {
        text.replace(&self.profile, FOLDER)
    }

    /// The same text in this target folder.
    pub fn here(&self, text: &str) -> String {
        text.replace(FOLDER, &self.profile)
    }

    /// Where rustc puts what it makes.
    pub fn made_in(&self) -> PathBuf {
        Path::new(&self.profile).join("deps")
    }

    /// Where it stands which build has made a library of this stem.
    pub fn note(&self, stem: &str) -> PathBuf {
        self.made_in().join(format!("{stem}.built-once"))
    }

    /// The same for two builds that make the same.
    pub fn key(&self) -> anyhow::Result<String> {
        let mut hasher = XxHash3_128::new();
        let mut note = |text: &[u8]| {
            hasher.write(&text.len().to_le_bytes());
            hasher.write(text);
        };
        note(FORMAT);
        for (at, argument) in self.arguments.iter().enumerate() {
            note(self.anywhere(argument).as_bytes());
            let before = at.checked_sub(1).map(|before| self.arguments[before].as_str());
            match before {
                Some("--extern") => {
                    if let Some((_, path)) = argument.split_once('=') {
                        note(self.library(Path::new(path))?.as_bytes());
                    }
                }
                Some("-L") => {
                    let path = argument
                        .split_once('=')
                        .map_or(argument.as_str(), |(_, path)| path);
                    if path.starts_with(&self.profile) && Path::new(path) != self.made_in() {
                        each_file(Path::new(path), &mut note)?;
                    }
                }
                _ => {}
            }
        }
        if let Some(out) = env::var_os("OUT_DIR") {
            each_file(Path::new(&out), &mut note)?;
        }
        if !is_from_registry(&self.package) {
            for part in ["Cargo.toml", "build.rs", "src", "tables"] {
                each_file(&self.package.join(part), &mut note)?;
            }
        }
        Ok(format!("{}-{:032x}", self.stem, hasher.finish_128()))
    }

    /// Which build has made a library; its content, where another has.
    fn library(&self, path: &Path) -> anyhow::Result<String> {
        let stem = path
            .file_stem()
            .and_then(|stem| stem.to_str())
            .unwrap_or_default();
        let noted = fs::read_to_string(self.note(stem.trim_start_matches("lib")));
        noted.or_else(|_| {
            let content = fs::read(path).with_context(|| format!("{} cannot be read", path.display()))?;
            Ok(format!("{:032x}", XxHash3_128::oneshot(&content)))
        })
    }

    /// Whether the variables of the environment that the sources have asked for, as rustc notes them beside what it makes, are the same.
    pub fn has_same_environment(noted: &str) -> bool {
        let mut variables = noted.lines().filter_map(|line| line.strip_prefix("# env-dep:"));
        variables.all(|one| {
            let (name, value) = match one.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (one, None),
            };
            let is = env::var(name).ok();
            is.map(|is| escaped(&is)).as_deref() == value
        })
    }
}

/// Whether it is a package as cargo has unpacked it: its sources are those of its version.
fn is_from_registry(package: &Path) -> bool {
    package.components().any(|part| part.as_os_str() == "registry")
}

/// As rustc writes it: a line for each variable.
fn escaped(value: &str) -> String {
    value
        .replace('\\', "\\\\")
        .replace('\n', "\\n")
        .replace('\r', "\\r")
}

/// Notes the names and contents of all files there, in order; nothing where there is none.
fn each_file(path: &Path, note: &mut dyn FnMut(&[u8])) -> anyhow::Result<()> {
    if path.is_dir() {
        let entries = fs::read_dir(path)?.collect::<Result<Vec<_>, _>>()?;
        let paths: BTreeSet<PathBuf> = entries.iter().map(fs::DirEntry::path).collect();
        for path in paths {
            note(path.file_name().unwrap_or_default().as_encoded_bytes());
            each_file(&path, note)?;
        }
    } else if path.is_file() {
        note(&fs::read(path).with_context(|| format!("{} cannot be read", path.display()))?);
    }
    Ok(())
}
