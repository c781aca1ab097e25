//! The file in which the numbers of an instrumented run are kept, for all later plans of the same sources.

use std::collections::BTreeMap;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

use ckpt_analysis::{Counter, FileId, PackageAnalysis, Seen};
use serde::{Deserialize, Serialize};

use crate::failure::{AboutFile, Outcome};
use crate::output::told;
use crate::package::read::{ReadPackage, Run};

/// What the file holds.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Kept {
    /// The run.
    pub run: Run,
    nanos: f64,
    /// A hash of the text of every file, by its path below the workspace.
    files: BTreeMap<PathBuf, u64>,
    counts: Vec<Count>,
}

/// What one counter has seen.
#[derive(Debug, Serialize, Deserialize)]
struct Count {
    is_loop: bool,
    file: PathBuf,
    /// The byte where the loop or the function's body begins.
    at: usize,
    entries: f64,
    outer: f64,
    turns: f64,
    nanos: f64,
    own: f64,
    open: bool,
}

/// The stages' findings, with measured costs where a run of the same sources is known; people are warned if one of other
/// sources is.
pub fn analyse(package: &mut ReadPackage) -> PackageAnalysis {
    let mut analysis = package.analyse_inlining();
    if package.options.no_profile {
        return analysis;
    }
    let Some(kept) = Kept::read(package) else {
        return analysis;
    };
    match kept.changed_file(package) {
        None => {
            kept.put_into(&mut analysis, package);
            package.run = Some(kept.run);
        }
        Some(file) if !package.options.quiet => told!(
            "ckpt: `{}` has changed since the program was measured: costs are estimates; measure again with `cargo ckpt plan --profile`",
            file.display()
        ),
        Some(_) => {}
    }
    analysis
}

impl Kept {
    /// Where it is.
    pub fn path(package: &ReadPackage) -> PathBuf {
        let mut hasher = DefaultHasher::new();
        package.workspace_root().hash(&mut hasher);
        let workspace = hasher.finish() as u32;
        let target = &package.workspace.choice.target;
        let folder = package.target_directory().join("ckpt");
        folder.join(format!("{target}-{workspace:08x}.profile.json"))
    }

    /// Whether there is one of a program of this name, in any workspace that is built in the folder.
    pub fn any(target_directory: &Path, program: &str) -> bool {
        let folder = fs::read_dir(target_directory.join("ckpt"));
        folder.into_iter().flatten().flatten().any(|entry| {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            name.starts_with(&format!("{program}-")) && name.ends_with(".profile.json")
        })
    }

    /// What the counters have seen.
    pub fn of(
        package: &ReadPackage,
        analysis: &PackageAnalysis,
        (list, seen): (&[Counter], &[Seen]),
        nanos: f64,
        run: Run,
    ) -> Self {
        let counts: Vec<Count> = list
            .iter()
            .zip(seen)
            .map(|(counter, seen)| {
                let (is_loop, file, at) = place(analysis, *counter);
                Count {
                    is_loop,
                    file: below(package, file),
                    at,
                    entries: seen.entries,
                    outer: seen.outer,
                    turns: seen.turns,
                    nanos: seen.nanos,
                    own: seen.own,
                    open: seen.open,
                }
            })
            .collect();
        let loops = || counts.iter().filter(|one| one.is_loop);
        Self {
            run: Run {
                loops_counted: loops().count(),
                loops_reached: loops().filter(|one| one.entries > 0.0).count(),
                ..run
            },
            nanos,
            files: files(package),
            counts,
        }
    }

    fn read(package: &ReadPackage) -> Option<Self> {
        serde_json::from_slice(&fs::read(Self::path(package)).ok()?).ok()
    }

    /// Writes it.
    pub fn write(&self, package: &ReadPackage) -> Outcome<()> {
        let path = Self::path(package);
        let text = serde_json::to_vec(self).unwrap_or_default();
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).about("cannot make", folder)?;
        }
        fs::write(&path, text).about("cannot write", &path)
    }

    /// A file of the program that is not as it was. A file that was not there then does not count: some other must have
    /// changed to name it.
    fn changed_file(&self, package: &ReadPackage) -> Option<PathBuf> {
        files(package)
            .into_iter()
            .find(|(path, hash)| self.files.get(path).is_some_and(|was| was != hash))
            .map(|(path, _)| path)
    }

    fn put_into(&self, analysis: &mut PackageAnalysis, package: &ReadPackage) {
        let counts: BTreeMap<_, _> = self
            .counts
            .iter()
            .map(|one| ((one.is_loop, one.file.as_path(), one.at), one))
            .collect();
        let seen = |analysis: &PackageAnalysis, counter: Counter| {
            let (is_loop, file, at) = place(analysis, counter);
            let path = below(package, file);
            counts.get(&(is_loop, path.as_path(), at)).map(|one| Seen {
                entries: one.entries,
                outer: one.outer,
                turns: one.turns,
                nanos: one.nanos,
                own: one.own,
                open: one.open,
            })
        };
        analysis.measured_by(&seen, self.nanos);
    }
}

/// Whether it is a loop, its file, and where it begins.
fn place(analysis: &PackageAnalysis, counter: Counter) -> (bool, FileId, usize) {
    let (is_loop, function, at) = analysis.counted(counter);
    (is_loop, function.place.file, at)
}

fn below(package: &ReadPackage, file: FileId) -> PathBuf {
    let path = &package.program.file(file).path;
    path.strip_prefix(package.workspace_root())
        .unwrap_or(path)
        .to_path_buf()
}

fn files(package: &ReadPackage) -> BTreeMap<PathBuf, u64> {
    let all = package.program.files.iter().enumerate();
    all.map(|(index, file)| {
        let mut hasher = DefaultHasher::new();
        file.text.hash(&mut hasher);
        (below(package, FileId(index)), hasher.finish())
    })
    .collect()
}
