//! Small packages in temporary folders, for the tests of this folder.

use std::fs;
use std::path::{Path, PathBuf};

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
