//! `cargo ckpt clean`: removes what builds of packages without attributes share.

use serde_json::json;

use crate::failure::Outcome;
use crate::package::copy::shared::SharedBuilds;
use crate::render::{self, FormatOption};

/// Remove what cargo has built of ckpt's library for all packages
///
/// Packages without attributes share it, in the user's cache folder: it is built the first time only. Nothing is lost but the
/// time to build it again; checkpoints and programs stay. `cargo clean` removes what belongs to one package.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLE)]
pub struct Clean {
    /// Only say where it is, and how large
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    format: FormatOption,
}

const EXAMPLE: &str = "\
Example:
  cargo ckpt clean --dry-run
  cargo ckpt clean

Exit codes: 0 done, 78 it is in use or cannot be removed.";

impl Clean {
    /// Looks, and removes.
    pub fn perform(&self) -> Outcome<u8> {
        let shared = SharedBuilds::of_user();
        let bytes = shared.bytes()?;
        if !self.dry_run {
            shared.remove()?;
        }
        let folder = shared.folder.display();
        if self.format.json() {
            render::print_json(&json!({
                "folder": folder.to_string(),
                "bytes": bytes,
                "removed": !self.dry_run,
            }));
            return Ok(0);
        }
        let size = render::bytes(bytes);
        match self.dry_run {
            true => println!("{size} in {folder}"),
            false => println!("removed {size} in {folder}"),
        }
        Ok(0)
    }
}
