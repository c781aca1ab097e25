//! `cargo ckpt rewrite`: the package with attributes and sites in its own source.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use similar::TextDiff;

use crate::cargo::CargoOptions;
use crate::failure::{AboutFile, Failure, Outcome, says};
use crate::package::build::driver::{Rewritten, Wanted, rewrite};
use crate::package::build::report;
use crate::package::copy::features;
use crate::package::copy::home::Busy;
use crate::package::copy::manifest::{Manifest, Runtime};
use crate::package::show::full;
use crate::package::{profile, read};
use crate::{output, render};

/// Put the attributes and sites into the source
///
/// What `cargo ckpt run` does in a copy, shown as a diff, or done to the source itself: everything else, comments and
/// formatting included, stays as it is. The result builds without `cargo ckpt`; rewriting it again changes nothing.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLE)]
pub struct Rewrite {
    /// Print what would change; nothing is written (the default)
    #[arg(long)]
    diff: bool,
    /// Write the rewritten package into this folder
    #[arg(long, value_name = "FOLDER", conflicts_with = "diff")]
    to: Option<PathBuf>,
    /// Change the source itself
    #[arg(long, conflicts_with_all = ["diff", "to"])]
    in_place: bool,
    /// `attributes`: what a person would write; `full`: the instrumented functions themselves, without macros
    #[arg(long, value_enum, default_value = "attributes")]
    level: Level,
    /// Number of ranks that the program is run with; otherwise 1, 2, 3, 4, 5 and 8 are tried
    #[arg(short = 'n', long, value_name = "N")]
    ranks: Option<usize>,
    #[command(flatten)]
    cargo: CargoOptions,
}

/// How much is written out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Level {
    /// Attributes and sites.
    Attributes,
    /// The instrumented functions.
    Full,
}

const EXAMPLE: &str = "\
Example:
  cargo ckpt rewrite                      show the diff
  cargo ckpt rewrite --in-place           make it
  cargo ckpt rewrite --level full --to ../instrumented

Exit codes: 0 done, or nothing was left to do; 79 there is no place for a checkpoint; 101 the package, or what it would become, does not build.";

impl Rewrite {
    /// What would change in the source of a package.
    pub fn diff_of(cargo: &CargoOptions) -> Self {
        Rewrite {
            diff: true,
            to: None,
            in_place: false,
            level: Level::Attributes,
            ranks: None,
            cargo: cargo.clone(),
        }
    }

    /// Rewrites a copy until it compiles, then shows it or puts it where it was asked for.
    pub fn perform(&self) -> Outcome<u8> {
        let mut package = read::read(&self.cargo)?;
        let analysis = profile::analyse(&mut package);
        if analysis.is_written_for_ckpt(&package.program) {
            output::note("`main` has its attribute already: nothing to do");
            return Ok(0);
        }
        let _busy = Busy::with(package.target_directory());
        let Some(rewritten) = rewrite(
            &self.cargo,
            Wanted::Sources,
            (package, analysis),
            profile::analyse,
            self.ranks,
        )?
        else {
            output::note("no loop is worth a checkpoint: nothing to do");
            return Ok(0);
        };
        if let Some(warning) = report::outside(&rewritten.package, &rewritten.attempt.placement) {
            output::tell(&warning);
        }
        let mut texts = self.texts(&rewritten)?;
        self.manifests(&rewritten, &mut texts)?;
        if let Some(folder) = &self.to {
            write_copy(&rewritten, &texts, folder)?;
        } else if self.in_place {
            for (path, text) in &texts {
                fs::write(path, text).about("cannot write", path)?;
                println!("{}", path.display());
            }
        } else {
            print_diff(&rewritten, &texts)?;
        }
        Ok(0)
    }

    /// The new texts of the source files, by their paths.
    fn texts(&self, rewritten: &Rewritten) -> Outcome<BTreeMap<PathBuf, String>> {
        let program = &rewritten.package.program;
        let mut texts = BTreeMap::new();
        for (file, edited) in &rewritten.attempt.edited {
            let text = match self.level {
                Level::Attributes => edited.text.clone(),
                Level::Full => full::expanded(&edited.text)?,
            };
            texts.insert(program.file(*file).path.clone(), text);
        }
        Ok(texts)
    }

    /// Adds the dependency to the manifest of every package with a changed file.
    fn manifests(&self, rewritten: &Rewritten, texts: &mut BTreeMap<PathBuf, String>) -> Outcome<()> {
        let changed: Vec<PathBuf> = texts.keys().cloned().collect();
        let needs = features::needs_of(&rewritten.package, rewritten.attempt.known.decisions.serde);
        for package in &rewritten.package.workspace.packages {
            if !changed.iter().any(|path| path.starts_with(package.folder())) {
                continue;
            }
            let path = &package.manifest;
            let text = fs::read_to_string(path).about("cannot read", path)?;
            let mut manifest = Manifest::parse(path, &text)?;
            let features = needs.of_ckpt.get(&package.name).cloned().unwrap_or_default();
            manifest.add_runtime(&Runtime::for_source(), &features, None)?;
            for with in needs.serde.get(&package.name).into_iter().flatten() {
                manifest.enable(with)?;
            }
            texts.insert(path.clone(), manifest.text());
        }
        Ok(())
    }
}

fn print_diff(rewritten: &Rewritten, texts: &BTreeMap<PathBuf, String>) -> Outcome<()> {
    let folder = rewritten.package.workspace_root();
    let mut out = String::new();
    for (path, new) in texts {
        let old = fs::read_to_string(path).about("cannot read", path)?;
        let name = path.strip_prefix(folder).unwrap_or(path).display();
        let diff = TextDiff::from_lines(&old, new);
        out += &diff
            .unified_diff()
            .context_radius(2)
            .header(&format!("a/{name}"), &format!("b/{name}"))
            .to_string();
    }
    render::print_as_it_is(&out);
    Ok(())
}

/// The whole workspace with the new texts, links of the copy resolved.
fn write_copy(rewritten: &Rewritten, texts: &BTreeMap<PathBuf, String>, folder: &Path) -> Outcome<()> {
    if fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some()) {
        return Err(
            Failure::store(says!("E3015: `{}` is not empty", folder.display()))
                .help("name a folder that is new or empty"),
        );
    }
    copy_tree(&rewritten.copy.workspace_root, folder)?;
    rewritten.copy.leave_out_others(folder)?;
    for (path, text) in texts {
        let below = path
            .strip_prefix(rewritten.package.workspace_root())
            .unwrap_or(path);
        let target = folder.join(below);
        fs::write(&target, text).about("cannot write", &target)?;
    }
    println!("{}", folder.display());
    Ok(())
}

fn copy_tree(from: &Path, to: &Path) -> Outcome<()> {
    fs::create_dir_all(to).about("cannot make", to)?;
    for entry in fs::read_dir(from).about("cannot read", from)?.flatten() {
        let (path, target) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            copy_tree(&path, &target)?;
        } else {
            fs::copy(&path, &target).about("cannot copy", &path)?;
        }
    }
    Ok(())
}
