//! Generated programs that have never heard of ckpt: without attributes and sites, rewritten by `cargo ckpt rewrite`, which
//! places the sites itself. What they are compared with is the package as it was written.

use crate::check::{Effort, Outcome, deep_calls, stand};
use crate::package::{Complaint, PackageError, Processes, compile, workspace, write_if_changed};
use crate::tree::Program;
use harness::in_parallel;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What takes so long, as far as the analysis can tell, that a loop around it is worth a checkpoint. No site fits into it.
const CHURN: &str = "
pub fn churn() -> u64 {
    let mut list: Vec<u64> = vec![3; 20_000];
    list.sort_by_key(|x| mix(*x, 3));
    list[0]
}
";

/// The text of a module without anything of ckpt's: where a site was is work.
fn without_ckpt(text: &str) -> String {
    without_attributes(text).replace("ckpt::checkpoint!();", "churn();")
}

fn without_attributes(text: &str) -> String {
    let lines = text
        .lines()
        .filter(|line| !line.starts_with("#[ckpt::instrument"));
    let text: String = lines.map(|line| format!("{line}\n")).collect();
    text.replace("#[ckpt(reexecute)] ", "")
        .replace(", ckpt::Checkpoint)", ")")
}

/// Builds and runs `programs`, each killed and restarted as often as `effort` says. `folder` is for their sources, `target` for
/// what cargo makes, which outlives it, `tool` the built `cargo-ckpt`.
///
/// # Errors
/// When cargo or the command fails for another reason than one of the programs.
pub fn check_unmodified(
    folder: &Path,
    target: &Path,
    tool: &Path,
    programs: &[Program],
    effort: Effort,
) -> Result<Outcome, PackageError> {
    let (good, mut outcome) = Rewriting::new(folder, target, tool).build(programs)?;
    let results = in_parallel(&good, |program| {
        stand(&subject(target, program), effort.of(program))
    });
    outcome.run = good.into_iter().zip(results).collect();
    Ok(outcome)
}

/// The two variants of a program, built in `target`.
pub(crate) fn subject(target: &Path, program: &Program) -> harness::Program {
    let executable = |variant: &str| target.join(variant).join("debug/generated");
    harness::Program {
        name: program.name.clone(),
        plain: executable("plain"),
        instrumented: executable("rewritten"),
        arguments: vec![program.name.clone()],
        settings: deep_calls(&program.name),
        most: usize::MAX,
    }
}

/// How programs are written, rewritten and built.
pub(crate) struct Rewriting<'a> {
    pub folder: &'a Path,
    pub target: &'a Path,
    pub tool: &'a Path,
    pub processes: Processes,
    /// For how many ranks the sites have to be safe points; for all numbers that are tried if none is said.
    pub ranks: Option<usize>,
}

impl<'a> Rewriting<'a> {
    fn new(folder: &'a Path, target: &'a Path, tool: &'a Path) -> Self {
        Rewriting {
            folder,
            target,
            tool,
            processes: Processes::One,
            ranks: None,
        }
    }

    /// Those that can be run, and what became of the others.
    pub(crate) fn build(&self, programs: &[Program]) -> Result<(Vec<Program>, Outcome), PackageError> {
        let Rewriting { folder, target, .. } = self;
        let plain = folder.join("plain");
        let (valid, invalid) = sorted(programs, |programs| {
            self.write(&plain, programs, |_| false)?;
            compile(&plain, &target.join("plain"), "generated")
        })?;
        let (source, rewritten) = (folder.join("source"), folder.join("rewritten"));
        let (valid, refused) = sorted(&valid, |programs| {
            self.write(&source, programs, |program| self.keeps_sites(program))?;
            self.rewrite(&source, &rewritten)
        })?;
        let complaints = compile(&rewritten, &target.join("rewritten"), "generated")?;
        let outcome = Outcome {
            invalid,
            refused,
            ..Outcome::default()
        };
        if complaints.is_empty() {
            return Ok((valid, outcome));
        }
        let broken = valid.into_iter().filter_map(|program| {
            let complaint = complaints.get(&program.name)?.clone();
            Some((program, complaint))
        });
        let broken = broken.collect();
        Ok((Vec::new(), Outcome { broken, ..outcome }))
    }
}

/// The programs that compile, and the others with the reason.
fn sorted(
    programs: &[Program],
    mut compile: impl FnMut(&[Program]) -> Result<BTreeMap<String, Complaint>, PackageError>,
) -> Result<crate::package::Sorted, PackageError> {
    let (mut good, mut bad) = (programs.to_vec(), Vec::new());
    loop {
        let complaints = compile(&good)?;
        if complaints.is_empty() {
            return Ok((good, bad));
        }
        let (left, out): (Vec<_>, Vec<_>) = good
            .into_iter()
            .partition(|one| !complaints.contains_key(&one.name));
        good = left;
        bad.extend(out.into_iter().map(|program| {
            let complaint = complaints[&program.name].clone();
            (program, complaint)
        }));
    }
}

impl Rewriting<'_> {
    /// Of programs of several processes every other one has its sites, which have to be shown to be safe points.
    fn keeps_sites(&self, program: &Program) -> bool {
        self.processes == Processes::Ranks && program.name.ends_with(['1', '3', '5', '7', '9'])
    }

    fn write(
        &self,
        folder: &Path,
        programs: &[Program],
        keeps_sites: impl Fn(&Program) -> bool,
    ) -> Result<(), PackageError> {
        let source = folder.join("src");
        std::fs::create_dir_all(source.join("programs"))?;
        let manifest = format!(
            "[package]\nname = \"generated\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n\
             [[bin]]\nname = \"generated\"\npath = \"src/main.rs\"\n\n{}\n[workspace]\n",
            self.processes.dependencies()
        );
        std::fs::write(folder.join("Cargo.toml"), manifest)?;
        if self.processes == Processes::Ranks {
            std::fs::copy(self.processes.lock(), folder.join("Cargo.lock"))?;
        }
        let support = without_ckpt(&self.processes.support()) + CHURN;
        write_if_changed(&source.join("support.rs"), &support)?;
        let (mut list, mut arms) = (String::new(), String::new());
        for program in programs {
            let name = &program.name;
            list += &format!("pub mod {name};\n");
            arms += &format!("        \"{name}\" => programs::{name}::run(),\n");
            let text = match keeps_sites(program) {
                true => without_attributes(&program.print()),
                false => without_ckpt(&program.print()),
            };
            std::fs::write(source.join("programs").join(format!("{name}.rs")), text)?;
        }
        std::fs::write(source.join("programs/mod.rs"), list)?;
        let main = format!(
            "#![allow(warnings)]\n\nmod programs;\nmod support;\n\nfn main() {{\n    \
             let name = std::env::args().nth(1).unwrap_or_default();\n    match name.as_str() {{\n{arms}        \
             _ => panic!(\"no such program\"),\n    }}\n}}\n"
        );
        std::fs::write(source.join("main.rs"), main)?;
        Ok(())
    }

    /// Gives the programs that the command refuses.
    fn rewrite(&self, from: &Path, to: &Path) -> Result<BTreeMap<String, Complaint>, PackageError> {
        if to.exists() {
            std::fs::remove_dir_all(to)?;
        }
        let mut command = Command::new(self.tool);
        command.args(["ckpt", "rewrite", "--offline", "--to"]).arg(to);
        if let Some(ranks) = self.ranks {
            command.args(["-n", &ranks.to_string()]);
        }
        let output = command
            .current_dir(from)
            .env("CKPT_RUNTIME_PATH", workspace().join("ckpt-runtime"))
            .env("CARGO_TARGET_DIR", self.target.join("rewriting"))
            .output()?;
        if output.status.success() {
            return Ok(BTreeMap::new());
        }
        let said = [output.stderr, output.stdout].concat();
        let said = String::from_utf8_lossy(&said).into_owned();
        let refused = refused_in(&said);
        match refused.is_empty() {
            true => Err(PackageError::Build(said)),
            false => Ok(refused),
        }
    }
}

/// The programs that a refusal of the command names by their files.
fn refused_in(said: &str) -> BTreeMap<String, Complaint> {
    let message = said.lines().find(|line| line.contains("error")).unwrap_or(said);
    let complaint = Complaint {
        message: message.to_string(),
        rendered: said.to_string(),
        refusal: true,
    };
    let files = said.split("programs/").skip(1);
    let names = files
        .filter_map(|file| file.split_once(".rs"))
        .map(|(name, _)| name);
    let is_name = |name: &&str| name.chars().all(|letter| letter.is_ascii_alphanumeric());
    names
        .filter(is_name)
        .map(|name| (name.to_string(), complaint.clone()))
        .collect()
}

/// The built `cargo-ckpt`: what `CARGO_CKPT` names, or the one that is beside the tests.
pub fn tool() -> PathBuf {
    let beside = || {
        let own = std::env::current_exe().ok()?;
        let mut folders = own.ancestors().skip(1).map(|folder| folder.join("cargo-ckpt"));
        folders.find(|path| path.is_file())
    };
    std::env::var_os("CARGO_CKPT")
        .map(PathBuf::from)
        .or_else(beside)
        .unwrap_or_else(|| "cargo-ckpt".into())
}
