//! The file in which the numbers of an instrumented run are kept, for all later plans of the same sources.

use std::collections::BTreeMap;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

use ckpt_analysis::calls::LoopId;
use ckpt_analysis::cost::profile::{Counter, Measured, Seen};
use ckpt_analysis::items::FnId;
use ckpt_analysis::{Analysis, FileId};
use serde::{Deserialize, Serialize};

use crate::failure::{AboutFile, Outcome};
use crate::package::read::{ReadPackage, Run};
use crate::package::wrappers;

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

/// The stages' findings, with measured costs where a run of the same sources is known; people are told if one of other
/// sources is.
pub fn analyse(package: &mut ReadPackage) -> Analysis {
    let mut analysis = wrappers::analyse(package);
    if package.options.no_profile {
        return analysis;
    }
    let Some(kept) = Kept::read(package) else {
        return analysis;
    };
    match kept.changed_file(package) {
        None => {
            analysis.measured_by(&kept.measured(package, &analysis));
            package.run = Some(kept.run);
        }
        Some(file) if !package.options.quiet => eprintln!(
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
        analysis: &Analysis,
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

    fn measured(&self, package: &ReadPackage, analysis: &Analysis) -> Measured {
        let counts: BTreeMap<_, _> = self
            .counts
            .iter()
            .map(|one| ((one.is_loop, one.file.as_path(), one.at), one))
            .collect();
        let seen = |counter: Counter| {
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
        let functions = 0..analysis.items.functions.len();
        let loops = 0..analysis.graph.loops.len();
        let functions: Vec<_> = functions
            .map(|index| seen(Counter::Function(FnId(index))))
            .collect();
        let main = analysis.items.main_of(0);
        let whole = main
            .and_then(|main| functions.get(main.0)?.as_ref())
            .map(|seen| seen.nanos);
        Measured {
            functions,
            loops: loops.map(|index| seen(Counter::Loop(LoopId(index)))).collect(),
            nanos: whole.filter(|nanos| *nanos > 0.0).unwrap_or(self.nanos),
        }
    }
}

/// Whether it is a loop, its file, and where it begins.
fn place(analysis: &Analysis, counter: Counter) -> (bool, FileId, usize) {
    match counter {
        Counter::Function(id) => {
            let function = analysis.items.function(id);
            (false, function.place.file, function.body_at)
        }
        Counter::Loop(id) => {
            let one = analysis.graph.one_loop(id);
            (true, one.place.file, one.place.bytes.start)
        }
    }
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
