//! The packages of `testdata/` and the runs that their `ckpt-test.toml` asks for.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

/// A package.
#[derive(Debug, Clone)]
pub struct Package {
    /// Name of its folder.
    pub name: String,
    /// The folder.
    pub folder: PathBuf,
    /// What to run, at least one.
    pub runs: Vec<Run>,
    /// Patterns of the lines that are not compared: times, and what is worked out from them.
    pub ignore: Vec<String>,
    /// What should come of it.
    pub expected: Expected,
}

/// One program of a package with its arguments.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Run {
    /// The binary, where the package has several.
    #[serde(default)]
    pub bin: Option<String>,
    /// Arguments of the program.
    #[serde(default)]
    pub args: Vec<String>,
    /// Files that it writes; all that it writes is compared, and these must be among them.
    #[serde(default)]
    pub files: Vec<PathBuf>,
}

/// What should come of a package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expected {
    /// The crash test passes with no edit.
    Pass,
    /// It is refused with a message that has these words, and passes with `advice.patch`.
    Refused(String),
}

/// `ckpt-test.toml` as it is written: one run, or a list of them.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Manifest {
    expect: String,
    reason: Option<String>,
    /// What the program reads; the whole package is copied, so nothing is done with it.
    #[serde(default)]
    #[allow(dead_code)]
    inputs: Vec<PathBuf>,
    #[serde(default)]
    ignore: Vec<String>,
    #[serde(default)]
    run: Vec<Run>,
    bin: Option<String>,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    files: Vec<PathBuf>,
}

impl Package {
    /// Reads a package's `ckpt-test.toml`.
    ///
    /// # Errors
    /// The file is not there, or is not what this type describes.
    pub fn read(folder: &Path) -> Result<Self> {
        let path = folder.join("ckpt-test.toml");
        let shown = path.display();
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {shown}"))?;
        let manifest: Manifest = toml::from_str(&text).with_context(|| shown.to_string())?;
        let name = folder
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let expected = match (manifest.expect.as_str(), manifest.reason) {
            ("pass", None) => Expected::Pass,
            ("refused", Some(reason)) => Expected::Refused(reason),
            _ => anyhow::bail!(
                "{shown}: `expect` is \"pass\", or \"refused\" with the `reason` that must be given"
            ),
        };
        let one = Run {
            bin: manifest.bin,
            args: manifest.args,
            files: manifest.files,
        };
        ensure!(
            manifest.run.is_empty() || one == Run::default(),
            "{shown}: either `[[run]]` tables or one run, not both"
        );
        let runs = if manifest.run.is_empty() {
            vec![one]
        } else {
            manifest.run
        };
        Ok(Self {
            name,
            folder: folder.to_path_buf(),
            runs,
            ignore: manifest.ignore,
            expected,
        })
    }

    /// All packages in a folder, by name.
    ///
    /// # Errors
    /// One of them cannot be read.
    pub fn all(testdata: &Path) -> Result<Vec<Self>> {
        let entries =
            fs::read_dir(testdata).with_context(|| format!("cannot read {}", testdata.display()))?;
        let mut folders: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        folders.retain(|folder| folder.join("Cargo.toml").is_file());
        folders.sort();
        folders.iter().map(|folder| Self::read(folder)).collect()
    }

    /// The change that ckpt's advice comes to, for a package that it refuses.
    pub fn advice(&self) -> PathBuf {
        self.folder.join("advice.patch")
    }

    /// Copies the package, without build results and what belongs to the test, and says where the copy is. An earlier copy
    /// is replaced.
    ///
    /// # Errors
    /// A file cannot be read or written.
    pub fn copy_to(&self, parent: &Path) -> Result<PathBuf> {
        let copy = parent.join(&self.name);
        if copy.exists() {
            fs::remove_dir_all(&copy).with_context(|| format!("cannot empty {}", copy.display()))?;
        }
        copy_folder(&self.folder, &copy)?;
        Ok(copy)
    }
}

impl Run {
    /// The program with its arguments, as the table shows it.
    pub fn words(&self) -> String {
        let words: Vec<&str> = self.bin.iter().chain(&self.args).map(String::as_str).collect();
        words.join(" ")
    }
}

fn copy_folder(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to).with_context(|| format!("cannot make {}", to.display()))?;
    for entry in fs::read_dir(from).with_context(|| format!("cannot read {}", from.display()))? {
        let entry = entry?;
        let (path, name) = (entry.path(), entry.file_name());
        if matches!(
            &*name.to_string_lossy(),
            "target" | "ckpt-test.toml" | "advice.patch"
        ) {
            continue;
        }
        if entry.file_type()?.is_dir() {
            copy_folder(&path, &to.join(name))?;
        } else {
            fs::copy(&path, to.join(name)).with_context(|| format!("cannot copy {}", path.display()))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Package> {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("ckpt-test.toml"), text).unwrap();
        Package::read(folder.path())
    }

    #[test]
    fn one_run_and_several_are_read() {
        let one = read("expect = \"pass\"\nargs = [\"5\"]\nfiles = [\"out.txt\"]").unwrap();
        assert_eq!(one.runs.len(), 1);
        assert_eq!(one.runs[0].words(), "5");
        let several =
            read("expect = \"pass\"\n[[run]]\nbin = \"a\"\n[[run]]\nargs = [\"x\", \"y\"]").unwrap();
        let words: Vec<String> = several.runs.iter().map(Run::words).collect();
        assert_eq!(words, ["a", "x y"]);
    }

    #[test]
    fn a_package_that_should_be_refused_says_with_which_words() {
        assert!(read("expect = \"refused\"").is_err());
        assert!(read("expect = \"maybe\"").is_err());
        let refused = read("expect = \"refused\"\nreason = \"csv::Writer\"").unwrap();
        assert_eq!(refused.expected, Expected::Refused("csv::Writer".into()));
    }

    #[test]
    fn misspelt_keys_are_an_error() {
        assert!(read("expect = \"pass\"\narguments = []").is_err());
    }
}
