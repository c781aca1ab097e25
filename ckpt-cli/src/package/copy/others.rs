//! What other programs of the workspace have in the copy, which all of them share. What was rewritten for one stays while another
//! is built that is not made of it: each build would undo what the one before has done otherwise, and cargo build it again.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

use cargo_metadata::{Target, TargetKind};
use ckpt_compiler::SOURCES_RECORD;

use crate::failure::{AboutFile, Outcome};
use crate::package::copy::gather::Gathered;
use crate::package::copy::home::Home;
use crate::package::copy::tree::Entry;
use crate::package::read::ReadPackage;

/// What ckpt has written into the copy that is no copy of a file of the user's.
#[derive(Debug)]
pub struct Rewritten {
    record: PathBuf,
    /// By the path below the root of the copy, what it was made from.
    files: BTreeMap<PathBuf, u64>,
}

impl Rewritten {
    /// What the last call has noted.
    pub fn known(home: &Home) -> Self {
        let record = home.folder.join("rewritten");
        let text = fs::read_to_string(&record).unwrap_or_default();
        let line = |line: &str| {
            let (made_from, path) = line.split_once(' ')?;
            Some((PathBuf::from(path), u64::from_str_radix(made_from, 16).ok()?))
        };
        Rewritten {
            record,
            files: text.lines().filter_map(line).collect(),
        }
    }

    /// Leaves what belongs to other programs as it is in the copy in `folder`, where what it was made from is as it was. Notes what
    /// is rewritten now. Gives what would stand there without the others, if anything.
    pub fn leave_to_others(
        &mut self,
        package: &ReadPackage,
        (home, folder): (&Home, &Path),
        edited: &BTreeMap<PathBuf, String>,
        gathered: &mut Gathered,
    ) -> BTreeMap<PathBuf, Option<Entry>> {
        let others = Others::of(package, edited);
        let original = |below: &Path| gathered.base.join(below);
        let root = fs::read(package.workspace_root().join("Cargo.toml")).ok();
        let made_from = |below: &Path| {
            let mut hasher = DefaultHasher::new();
            fs::read(original(below)).ok().hash(&mut hasher);
            (&root, format!("{:?}", home.runtime)).hash(&mut hasher);
            hasher.finish()
        };
        let is_rewritten = |(path, entry): (&PathBuf, &Entry)| {
            matches!(entry, Entry::Text(_)).then(|| (path.clone(), made_from(path)))
        };
        let now: BTreeMap<PathBuf, u64> = gathered.entries.iter().filter_map(is_rewritten).collect();
        let mut left = BTreeMap::new();
        for (path, from) in &self.files {
            // The user has no such file.
            let is_record = path.file_name() == Some(OsStr::new(SOURCES_RECORD));
            let is_wanted = is_record || gathered.entries.contains_key(path);
            let is_there = || fs::symlink_metadata(folder.join(path)).is_ok_and(|found| found.is_file());
            if is_wanted && others.have(&original(path)) && *from == made_from(path) && is_there() {
                left.insert(path.clone(), *from);
            }
        }
        let mut plain = BTreeMap::new();
        for path in left.keys() {
            let as_it_is = Entry::CopyOf(folder.join(path));
            plain.insert(path.clone(), gathered.entries.insert(path.clone(), as_it_is));
        }
        self.files = now;
        self.files.extend(left);
        plain
    }

    /// Notes it for the next call.
    pub fn remember(&self) -> Outcome<()> {
        let line = |(path, from): (&PathBuf, &u64)| format!("{from:016x} {}", path.display());
        let lines: Vec<String> = self.files.iter().map(line).collect();
        fs::write(&self.record, lines.join("\n")).about("cannot write", &self.record)
    }
}

/// Knows the files that are none of the program's.
#[derive(Debug)]
pub struct Others<'p> {
    package: &'p ReadPackage,
    /// The files that it is made of.
    own: BTreeSet<&'p Path>,
    /// The folder of each package that is in the copy, and whether the program is built with it.
    folders: Vec<(&'p Path, bool)>,
    /// Where other programs of its packages begin.
    roots: BTreeSet<&'p Path>,
}

impl<'p> Others<'p> {
    /// Of what is read of a program, and what is to be rewritten of it.
    pub fn of(package: &'p ReadPackage, edited: &'p BTreeMap<PathBuf, String>) -> Self {
        let workspace = &package.workspace;
        let built = workspace.built_with_program();
        let copied = workspace.copied_packages();
        let is_program = |target: &&Target| {
            let is = |kind| {
                [
                    TargetKind::Bin,
                    TargetKind::Example,
                    TargetKind::Test,
                    TargetKind::Bench,
                ]
                .contains(kind)
            };
            target.kind.iter().any(is) && target.src_path != workspace.choice.described.src_path
        };
        let programs = copied
            .iter()
            .flat_map(|one| one.targets.iter().filter(is_program));
        let files = package.program.files.iter().map(|file| file.path.as_path());
        Others {
            package,
            own: files.chain(edited.keys().map(PathBuf::as_path)).collect(),
            folders: { copied.iter() }
                .filter_map(|one| Some((one.manifest_path.as_std_path().parent()?, built.contains(&one.id))))
                .collect(),
            roots: programs.map(|target| target.src_path.as_std_path()).collect(),
        }
    }

    /// Whether the build of the program needs nothing of the file.
    pub fn have(&self, file: &Path) -> bool {
        let around = self.folders.iter().filter(|(folder, _)| file.starts_with(folder));
        let of_package = around.max_by_key(|(folder, _)| folder.components().count());
        let of_other = of_package.is_some_and(|(folder, is_built)| {
            !is_built && *folder != self.package.workspace_root() || self.roots.contains(file)
        });
        of_other && !self.own.contains(file) && !self.may_be_included(file)
    }

    /// Whether a source of the program names a file of Rust, which it may include as a text.
    fn may_be_included(&self, file: &Path) -> bool {
        let name = file.file_name().and_then(OsStr::to_str).unwrap_or_default();
        let named = format!("{name}\"");
        name.ends_with(".rs") && { self.package.program.files.iter() }.any(|file| file.text.contains(&named))
    }
}
