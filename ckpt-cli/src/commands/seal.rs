//! `cargo ckpt seal`: new checksums for a checkpoint that was changed by hand.

use ckpt::store::{Damage, Mode, StoreError};
use serde_json::json;

use crate::failure::{Failure, Outcome};
use crate::render;
use crate::stores::checkpoint::store_failure;
use crate::stores::lines::Ranks;
use crate::stores::{StoreArgs, Which};

/// Renew the checksums of a checkpoint that was edited by hand
///
/// A file whose values were changed, with h5py for example, is damaged for ckpt until its checksums are those of the new
/// values. Values may be changed, types and shapes may not. The file is replaced as a whole, or not at all.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLE)]
pub struct Seal {
    /// Number of the checkpoint, or `latest`
    #[arg(value_name = "ID")]
    which: Which,
    /// Only the file of this rank
    #[arg(long, value_name = "R|all", default_value = "all")]
    rank: Ranks,
    #[command(flatten)]
    store: StoreArgs,
}

const EXAMPLE: &str = "\
Example:
  cargo ckpt seal 12
  cargo ckpt restart 12

Exit codes: 0 done, 76 no such checkpoint, 78 more than values has changed, or a job uses the store.";

impl Seal {
    /// Renews.
    pub fn perform(&self) -> Outcome<u8> {
        let lines = self.store.lines()?;
        let id = lines.resolve(self.which)?;
        let mut sealed = Vec::new();
        for part in lines.chosen(self.rank)? {
            let renewed = part.open(Mode::ReadWrite)?.renew(id);
            let renewed = renewed.map_err(|error| {
                // The copy that is sealed is a plain file, so what is wrong with it as a whole is its length.
                let is_of_file = |damage: &[Damage]| damage.iter().any(|one| one.place == Damage::FILE);
                match &error {
                    StoreError::Damaged { damage, .. } if is_of_file(damage) => Failure::store(&error).help(
                        "the program that changed it has cut it off, as HDF5 does with files of an older ckpt: \
                         change a copy, or a checkpoint of this version",
                    ),
                    _ => store_failure(error),
                }
            })?;
            sealed.push((part.rank, renewed));
        }
        if self.store.json() {
            let parts = sealed
                .iter()
                .map(|(rank, changed)| json!({ "rank": rank, "changed": changed }));
            render::print_json(&json!({ "id": id.0, "parts": parts.collect::<Vec<_>>() }));
            return Ok(0);
        }
        for (rank, changed) in &sealed {
            let whose = if lines.several {
                format!(", rank {rank}")
            } else {
                String::new()
            };
            let what = match changed.as_slice() {
                [] => "nothing has changed".to_owned(),
                some => format!("changed: {}", some.join(", ")),
            };
            render::print(&format!("{id}{whose}: {what}\n"));
        }
        if sealed.iter().any(|(_, changed)| !changed.is_empty()) {
            render::print(&format!(
                "\nIt is whole again. `cargo ckpt restart {}` continues from it.\n",
                id.0
            ));
        }
        Ok(0)
    }
}
