//! `cargo ckpt unpack`: makes a store again from the file that `cargo ckpt pack` made.

use std::path::PathBuf;

use serde_json::json;

use crate::failure::{Failure, Outcome, says};
use crate::pack;
use crate::render::{self, FormatOption};
use crate::stores;

/// Make a store again from the one file that `cargo ckpt pack` has made
///
/// Every file is compared with the checksum in the manifest before anything gets its name; what is here already is
/// not overwritten. Of the program's files those are taken out that hold data, by their names, and those that you name.
/// Then `cargo ckpt restart` goes on, in the folder of the program's source on this machine; there you say once how the
/// program is built.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLE)]
pub struct Unpack {
    /// The file
    #[arg(value_name = "FILE")]
    pack: PathBuf,
    /// The store to make [default: under the name that it had, in this folder]
    #[arg(long, value_name = "FOLDER")]
    dir: Option<PathBuf>,
    /// Also take out this file of the program, although its name is that of a program or its settings, as `deck.toml` may be
    #[arg(long, value_name = "FILE")]
    with: Vec<PathBuf>,
    #[command(flatten)]
    format: FormatOption,
}

const EXAMPLE: &str = "\
Example:
  cargo ckpt unpack heat.ckpt.tar --with deck.toml
  cargo ckpt restart --release

Exit codes: 0 done, 78 it is damaged or no pack, or something is in the way.";

impl Unpack {
    /// Checks and unpacks.
    pub fn perform(&self) -> Outcome<u8> {
        if self.dir.as_deref().is_some_and(ckpt::store::has_place_for_rank) {
            return Err(Failure::usage(says!("E3016: `--dir` has `{{rank}}` in it"))
                .help("a pack becomes one folder with the files of all ranks"));
        }
        let unpacked = pack::unpack(&self.pack, self.dir.as_deref(), &self.with)?;
        let ids = stores::ids(&unpacked.store)?;
        if self.format.json() {
            render::print_json(&json!({
                "store": unpacked.store, "files": unpacked.files, "checkpoints": ids, "manifest": unpacked.manifest,
            }));
            return Ok(0);
        }
        let what = if ids.len() == 1 {
            "checkpoint"
        } else {
            "checkpoints"
        };
        let store = unpacked.store.display();
        render::print(&format!(
            "unpacked {what} {} into {store}\n",
            stores::id_list(&ids)
        ));
        for file in &unpacked.files {
            render::print(&format!("unpacked {}\n", file.display()));
        }
        Ok(0)
    }
}
