//! Small packages in temporary folders, for the tests of this folder.

use std::fs;
use std::path::{Path, PathBuf};

use crate::cargo::CargoOptions;
use crate::package::read::{ReadPackage, read};

/// A tree of files that vanishes at the end of the test.
pub struct Tree {
    folder: tempfile::TempDir,
}

impl Tree {
    /// Writes files, by their paths below the root.
    pub fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let tree = Tree { folder };
        for (path, text) in files {
            tree.write(path, text);
        }
        tree
    }

    /// Writes one file.
    pub fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
        fs::write(path, text).expect("a file");
    }

    /// The absolute path of a file.
    pub fn path(&self, path: &str) -> PathBuf {
        self.root().join(path)
    }

    /// The root folder, without symbolic links.
    pub fn root(&self) -> PathBuf {
        fs::canonicalize(self.folder.path()).expect("a folder")
    }

    /// A path from the root.
    pub fn below(&self, path: &Path) -> String {
        path.strip_prefix(self.root())
            .unwrap_or(path)
            .display()
            .to_string()
    }
}

/// A manifest with a name and whatever else.
pub fn manifest(name: &str, rest: &str) -> String {
    format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2021\"\n{rest}")
}

/// Options that mean the package of a manifest.
pub fn options(tree: &Tree, path: &str) -> CargoOptions {
    CargoOptions {
        manifest_path: Some(tree.path(path)),
        ..CargoOptions::default()
    }
}

/// Each module of a crate as `file -> modules: file`, and what it can name.
pub fn shape(tree: &Tree, package: &ReadPackage, krate: usize) -> Vec<String> {
    let program = &package.program;
    let file = |id| tree.below(&program.file(id).path);
    let krate = &program.crates[krate];
    let mut lines = vec![format!("{} {:?} {}", krate.name, krate.kind, file(krate.root))];
    for ((from, modules), to) in &krate.modules {
        lines.push(format!("{} {}: {}", file(*from), modules.join("::"), file(*to)));
    }
    for (name, other) in &krate.externs {
        lines.push(format!("extern {name} = {}", program.crates[*other].package));
    }
    lines[1..].sort();
    lines
}

/// Why the package at the root cannot be read.
pub fn failure(tree: &Tree) -> String {
    let failure = read(&options(tree, "Cargo.toml")).expect_err("a refusal");
    failure.to_string()
}
