//! The sources of a package and of the workspace members that it uses, parsed; what the analysis starts from.

mod awaited;
pub mod edits;
pub mod included;
pub mod locate;
pub mod mentions;
pub mod words;

pub use awaited::Waits;
use ckpt_compiler::library::OwnNames;
use edits::Edit;
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Index of a file in [`Program::files`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId(pub usize);

/// A position in a file: bytes from its start.
pub type Position = (FileId, usize);

/// Bytes of a file.
pub type Extent = (FileId, Range<usize>);

/// Everything that may be rewritten: never the dependencies.
#[derive(Debug, Clone, Default)]
pub struct Program {
    /// All files, each once, even if several crates include it.
    pub files: Vec<SourceFile>,
    /// The crates: first the one whose `main` is meant, then the libraries of the workspace that it reaches.
    pub crates: Vec<CrateSource>,
    /// Crates that are none of these and may exchange messages of their own.
    pub communicating: Vec<CommunicatingCrate>,
    /// The texts of files that are included, as kernels for devices are.
    pub texts: Vec<String>,
    /// Whether crates outside of the workspace compute on devices as well: what these do there is not seen.
    pub others_compute: bool,
    /// Whether packages outside of the workspace ask for devices, with a library by which the program itself does.
    pub others_ask_for_devices: bool,
    /// The methods that traits of crates outside of the workspace bring along.
    pub others: OwnNames,
    /// How it waits for its `async fn`s, which are plain functions here then.
    pub waits: Option<Waits>,
    /// What that changes in the text of each file.
    pub waited: BTreeMap<FileId, Vec<Edit>>,
}

/// A crate outside of the workspace that depends on a library of messages: what its calls exchange is not seen.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct CommunicatingCrate {
    /// Its name in paths: `my_solver`.
    pub name: String,
    /// The package of the library of messages: `mpi`.
    pub library: String,
}

/// One file.
#[derive(Debug, Clone)]
pub struct SourceFile {
    /// Where it is, absolute.
    pub path: PathBuf,
    /// Its text, unchanged.
    pub text: String,
    /// The text parsed, with everything taken out whose `#[cfg]` does not hold. Spans are those of `text`: in
    /// `Span::byte_range()` bytes from `base`.
    pub ast: syn::File,
    /// Bytes at the start of `text` that the parser does not count (a byte order mark).
    pub base: usize,
}

/// What cargo builds of a crate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CrateKind {
    /// A program.
    Bin,
    /// A library.
    Lib,
    /// An example, which is a program.
    Example,
}

/// One crate.
#[derive(Debug, Clone)]
pub struct CrateSource {
    /// Its name in paths: `my_lib`.
    pub name: String,
    /// The package that it belongs to, as `Cargo.toml` has it: `my-lib`.
    pub package: String,
    /// What it is.
    pub kind: CrateKind,
    /// `2015`, `2018`, `2021`, `2024`.
    pub edition: u16,
    /// The file of its root module.
    pub root: FileId,
    /// The files of the other modules: where `mod b;` stands inside the inline modules `a` of file `f`, the key is
    /// `(f, ["a", "b"])`; for the `k`th `include!` in item position of that place, counted from 0, it is `(f, ["a", "include!k"])`.
    pub modules: BTreeMap<(FileId, Vec<String>), FileId>,
    /// The other crates of [`Program::crates`] that it can name, by the name under which it does.
    pub externs: BTreeMap<String, usize>,
}

impl Program {
    /// One file, in no crate.
    #[cfg(test)]
    pub(crate) fn of_text(text: &str) -> Self {
        Self {
            files: vec![SourceFile {
                path: "a.rs".into(),
                text: text.into(),
                ast: syn::parse_file(text).unwrap(),
                base: 0,
            }],
            crates: Vec::new(),
            communicating: Vec::new(),
            texts: Vec::new(),
            others_compute: false,
            others_ask_for_devices: false,
            others: OwnNames::default(),
            waits: None,
            waited: BTreeMap::new(),
        }
    }

    /// A program of one file.
    #[cfg(test)]
    pub(crate) fn of_main(text: &str) -> Self {
        Self {
            crates: vec![CrateSource {
                name: "app".into(),
                package: "app".into(),
                kind: CrateKind::Bin,
                edition: 2021,
                root: FileId(0),
                modules: BTreeMap::new(),
                externs: BTreeMap::new(),
            }],
            ..Self::of_text(text)
        }
    }

    /// The file with this path.
    pub fn file_at(&self, path: &Path) -> Option<FileId> {
        self.files.iter().position(|file| file.path == path).map(FileId)
    }

    /// The file.
    ///
    /// # Panics
    /// Where the number is not one of this program's.
    pub fn file(&self, id: FileId) -> &SourceFile {
        &self.files[id.0]
    }
}
