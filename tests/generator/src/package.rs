//! Generated programs as a package: written, compiled in both variants, and what rustc says of them.

use crate::tree::Program;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The workspace that ckpt itself is in.
pub(crate) fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Which of the two programs of a package.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Variant {
    /// As if ckpt were not there.
    Plain,
    /// Under ckpt.
    Instrumented,
}

impl Variant {
    fn binary(self) -> &'static str {
        match self {
            Variant::Plain => "generated-plain",
            Variant::Instrumented => "generated",
        }
    }
}

/// How many processes the programs of a package are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Processes {
    One,
    /// Those of MPI.
    Ranks,
}

impl Processes {
    /// What all programs use.
    pub(crate) fn support(self) -> String {
        let support = include_str!("../template/support.rs");
        match self {
            Processes::One => support.to_string(),
            Processes::Ranks => support.to_string() + include_str!("../template/ranks.rs"),
        }
    }

    /// What all programs depend on, and how they are compiled.
    pub(crate) fn dependencies(self) -> &'static str {
        match self {
            Processes::One => "[profile.dev]\ndebug = 1\n\n[dependencies]\n",
            // As in `mpi`, whose tests have built the same with it.
            Processes::Ranks => {
                "[profile.dev]\nopt-level = 1\ndebug = \"line-tables-only\"\n\n\
                 [profile.dev.package.\"*\"]\nopt-level = 0\ndebug = false\n\n\
                 [profile.dev.package.generated]\nopt-level = 0\n\n[dependencies]\nmpi = \"0.8\"\n"
            }
        }
    }

    /// The features of the runtime.
    fn features(self) -> &'static str {
        match self {
            Processes::One => "",
            Processes::Ranks => ", features = [\"mpi\"]",
        }
    }

    /// The versions that all use.
    pub(crate) fn lock(self) -> PathBuf {
        workspace().join(match self {
            Processes::One => "Cargo.lock",
            Processes::Ranks => "mpi/Cargo.lock",
        })
    }
}

/// What the compiler said of one program.
#[derive(Debug, Clone)]
pub struct Complaint {
    /// Its first message.
    pub message: String,
    /// The whole of it, with the source.
    pub rendered: String,
    /// Whether ckpt itself refuses the program, and rustc does not merely reject what ckpt made of it.
    pub refusal: bool,
}

/// The programs that compile, and the others with what is said of them.
pub type Sorted = (Vec<Program>, Vec<(Program, Complaint)>);

/// What stops a package from being built at all.
#[derive(Debug, thiserror::Error)]
pub enum PackageError {
    /// A file could not be written.
    #[error("cannot write the generated package: {0}")]
    Write(#[from] std::io::Error),
    /// Cargo failed without naming one of the programs.
    #[error("cargo fails on the generated package:\n{0}")]
    Build(String),
}

/// A folder with a package in it; the compiled dependencies outlive it.
#[derive(Debug)]
pub struct Package {
    folder: PathBuf,
    target: PathBuf,
    processes: Processes,
}

impl Package {
    /// A package in `folder`, built in `target`.
    pub fn new(folder: &Path, target: &Path) -> Self {
        Package {
            folder: folder.to_path_buf(),
            target: target.to_path_buf(),
            processes: Processes::One,
        }
    }

    /// The same for programs of several processes.
    pub fn of_ranks(folder: &Path, target: &Path) -> Self {
        Package {
            processes: Processes::Ranks,
            ..Package::new(folder, target)
        }
    }

    /// Where a variant's executable is after a build.
    pub fn executable(&self, variant: Variant) -> PathBuf {
        self.target.join("debug").join(variant.binary())
    }

    /// Writes and builds `programs` in one variant; gives those that the compiler takes, and the others with the reason.
    ///
    /// # Errors
    /// When cargo fails for another reason than one of the programs.
    pub fn build(&self, programs: &[Program], variant: Variant) -> Result<Sorted, PackageError> {
        let mut good = programs.to_vec();
        let mut bad = Vec::new();
        loop {
            self.write(&good)?;
            let complaints = compile(&self.folder, &self.target, variant.binary())?;
            if complaints.is_empty() {
                return Ok((good, bad));
            }
            let (left, out): (Vec<_>, Vec<_>) =
                good.into_iter().partition(|p| !complaints.contains_key(&p.name));
            good = left;
            bad.extend(out.into_iter().map(|program| {
                let complaint = complaints[&program.name].clone();
                (program, complaint)
            }));
        }
    }

    fn write(&self, programs: &[Program]) -> Result<(), PackageError> {
        let source = self.folder.join("src");
        std::fs::create_dir_all(source.join("programs"))?;
        std::fs::write(self.folder.join("Cargo.toml"), self.manifest())?;
        std::fs::copy(self.processes.lock(), self.folder.join("Cargo.lock"))?;
        write_if_changed(&source.join("support.rs"), &self.processes.support())?;
        write_if_changed(&source.join("plain.rs"), include_str!("../template/plain.rs"))?;
        write_if_changed(
            &source.join("instrumented.rs"),
            include_str!("../template/instrumented.rs"),
        )?;
        let mut list = String::new();
        let mut arms = String::new();
        for program in programs {
            let name = &program.name;
            list += &format!("mod {name};\n");
            arms += &format!("        \"{name}\" => Some({name}::run),\n");
            std::fs::write(
                source.join("programs").join(format!("{name}.rs")),
                program.print(),
            )?;
        }
        let find = format!(
            "pub fn find(name: &str) -> Option<fn()> {{\n    match name {{\n{arms}        _ => None,\n    }}\n}}\n"
        );
        std::fs::write(source.join("programs/mod.rs"), format!("{list}\n{find}"))?;
        Ok(())
    }

    fn manifest(&self) -> String {
        let workspace = workspace();
        let root = workspace.display();
        format!(
            "[package]\nname = \"generated\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n\
             [[bin]]\nname = \"generated\"\npath = \"src/instrumented.rs\"\n\n\
             [[bin]]\nname = \"generated-plain\"\npath = \"src/plain.rs\"\n\n\
             {}ckpt = {{ path = \"{root}/ckpt-runtime\", package = \"ckpt-runtime\"{} }}\n\
             ckpt-plain = {{ path = \"{root}/tests/plain\" }}\n\n[workspace]\n",
            self.processes.dependencies(),
            self.processes.features()
        )
    }
}

/// Builds a program of the package in a folder; gives what is said of the generated modules.
pub(crate) fn compile(
    folder: &Path,
    target: &Path,
    program: &str,
) -> Result<BTreeMap<String, Complaint>, PackageError> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["build", "--offline", "--message-format=json", "--bin", program])
        .current_dir(folder)
        .env("CARGO_TARGET_DIR", target)
        .output()?;
    let mut complaints = BTreeMap::new();
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        if let Some((program, complaint)) = complaint(line) {
            let known: &mut Complaint = complaints.entry(program).or_insert_with(|| complaint.clone());
            known.refusal &= complaint.refusal;
        }
    }
    if complaints.is_empty() && !output.status.success() {
        let said = [output.stderr, output.stdout].concat();
        return Err(PackageError::Build(String::from_utf8_lossy(&said).into_owned()));
    }
    Ok(complaints)
}

/// Keeps the time stamp of a file that is as it should be.
pub(crate) fn write_if_changed(path: &Path, text: &str) -> std::io::Result<()> {
    if std::fs::read_to_string(path).is_ok_and(|old| old == text) {
        Ok(())
    } else {
        std::fs::write(path, text)
    }
}

/// The program that an error message of cargo's stream is about.
fn complaint(line: &str) -> Option<(String, Complaint)> {
    let entry: serde_json::Value = serde_json::from_str(line).ok()?;
    let message = entry.get("message")?;
    if message.get("level")?.as_str()? != "error" {
        return None;
    }
    let file = message
        .get("spans")?
        .as_array()?
        .iter()
        .find_map(program_around)?;
    let text = message.get("message")?.as_str()?.to_string();
    let rendered = message.get("rendered")?.as_str()?.to_string();
    // ckpt's own refusals have no error code; what depends on a type is rustc's to say, about one of ckpt's traits.
    let own = message.get("code").is_none_or(serde_json::Value::is_null);
    let refusal = own || (rendered.starts_with("error[E0277]") && rendered.contains("the trait `ckpt::"));
    Some((
        file,
        Complaint {
            message: text,
            rendered,
            refusal,
        },
    ))
}

/// The program that a span lies in, or the macro call that it comes from.
fn program_around(span: &serde_json::Value) -> Option<String> {
    let calls = std::iter::successors(Some(span), |span| span.get("expansion")?.get("span"));
    calls
        .filter_map(|span| span.get("file_name")?.as_str())
        .find_map(program_of)
}

fn program_of(file: &str) -> Option<String> {
    Path::new(file)
        .parent()
        .filter(|folder| folder.ends_with("programs"))?;
    Some(Path::new(file).file_stem()?.to_str()?.to_string())
}
