//! `cargo ckpt init`: makes a package one that has heard of ckpt.

use std::fs;
use std::path::Path;

use crate::cargo::CargoOptions;
use crate::failure::{AboutFile, Failure, Outcome, says};
use crate::package::copy::features::features_for;
use crate::package::copy::manifest::add_dependency;

/// Add the dependency and a commented ckpt.toml
///
/// Adds `ckpt` to the package's Cargo.toml, formatting kept, and writes a `ckpt.toml` with every setting explained,
/// unless there is one. Not needed for `cargo ckpt run`, which works on packages that have never heard of ckpt: it is for
/// those who want to write attributes by hand, or keep the result of `cargo ckpt rewrite --in-place`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLE)]
pub struct Init {
    /// Features of ckpt to activate, separated by commas [default: those that the package's dependencies call for]
    #[arg(long, value_name = "FEATURES", value_delimiter = ',')]
    ckpt_features: Vec<String>,
    #[command(flatten)]
    cargo: CargoOptions,
}

const EXAMPLE: &str = "\
Example:
  cargo ckpt init
  cargo ckpt init --ckpt-features serde,ndarray

Exit codes: 0 done, or nothing was left to do; 78 a file cannot be written.";

/// What `ckpt.toml` says when nothing has been changed.
pub const TEMPLATE: &str = include_str!("ckpt.toml");

impl Init {
    /// Edits the manifest, writes the settings.
    pub fn perform(&self) -> Outcome<u8> {
        let metadata = self.cargo.metadata()?;
        let packages = self.cargo.packages(&metadata)?;
        let [package] = packages.as_slice() else {
            return Err(Failure::usage(says!("E3004: which package is meant?")).help_list(
                "choose one with `-p`",
                packages.iter().map(|package| &package.name),
            ));
        };
        let manifest = package.manifest_path.as_std_path();
        let features = if self.ckpt_features.is_empty() {
            let direct: Vec<(String, String)> = package
                .dependencies
                .iter()
                .map(|dependency| (dependency.name.clone(), dependency.req.to_string()))
                .collect();
            features_for(&direct)
        } else {
            self.ckpt_features.clone()
        };
        add_dependency(manifest, &features)?;
        let folder = manifest.parent().unwrap_or(Path::new("."));
        write_settings(&folder.join("ckpt.toml"))?;
        Ok(0)
    }
}

fn write_settings(path: &Path) -> Outcome<()> {
    if path.exists() {
        println!("{} is there already", path.display());
        return Ok(());
    }
    fs::write(path, TEMPLATE).about("cannot write", path)?;
    println!("{}: written, all settings at their defaults", path.display());
    Ok(())
}
