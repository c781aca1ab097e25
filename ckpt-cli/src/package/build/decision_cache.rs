//! The file with what was decided about a package the last time, for the first question to rustc after a change of its
//! sources.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::PathBuf;

use ckpt_analysis::{FnId, Knowledge, PackageAnalysis, Record};
use serde::{Deserialize, Serialize};

use crate::package::build::driver::Wanted;
use crate::package::build::fingerprint::tool;
use crate::package::copy::home::Home;
use crate::package::read::{ReadPackage, settings_files};

/// The file that remembers.
#[derive(Debug)]
pub struct DecisionCache {
    path: PathBuf,
    /// Of what else than the sources the decisions depend on.
    about: u64,
    ranks: Option<usize>,
}

/// What the file holds.
#[derive(Debug, Serialize, Deserialize)]
struct Contents {
    about: u64,
    #[serde(flatten)]
    record: Record,
}

impl DecisionCache {
    /// Of a program that is built so; nothing where nothing can be kept.
    pub fn of(package: &ReadPackage, wanted: Wanted, ranks: Option<usize>) -> Option<Self> {
        let home = Home::open(package).ok()?;
        let mut hasher = DefaultHasher::new();
        (tool(), package.options.words(), ranks).hash(&mut hasher);
        package.options.no_default_features.hash(&mut hasher);
        let manifests = package.workspace.packages.iter();
        let mut files: Vec<PathBuf> = manifests.map(|one| one.folder().join("Cargo.toml")).collect();
        let root = package.workspace_root();
        files.extend(["Cargo.toml", "Cargo.lock"].map(|name| root.join(name)));
        files.extend(settings_files(&package.workspace));
        for file in files {
            fs::read(file).ok().hash(&mut hasher);
        }
        let target = &package.workspace.choice.target;
        Some(Self {
            path: home
                .folder
                .join(format!("{target}.{wanted:?}.decided").to_lowercase()),
            about: hasher.finish(),
            ranks,
        })
    }

    /// Keeps what has led to a package that compiles. Where that fails, the next time starts from nothing.
    pub fn keep(&self, package: &ReadPackage, known: &Knowledge) {
        let contents = Contents {
            about: self.about,
            record: Record::of(&package.program, known),
        };
        if let Ok(text) = serde_json::to_vec(&contents) {
            let _ = fs::write(&self.path, text);
        }
    }

    /// What still holds of what was kept.
    pub fn recall(&self, package: &ReadPackage, analysis: &PackageAnalysis, main: FnId) -> Option<Knowledge> {
        let contents: Contents = serde_json::from_slice(&fs::read(&self.path).ok()?).ok()?;
        if contents.about != self.about {
            return None;
        }
        analysis.recall(&package.program, &contents.record, main, self.ranks)
    }
}
