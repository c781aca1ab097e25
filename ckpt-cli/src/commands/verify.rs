//! `cargo ckpt verify`: checks every byte of one checkpoint or all.

use ckpt::store::{CheckpointId, Damage};
use serde_json::json;

use crate::failure::{Outcome, code};
use crate::render::{self, FormatOption};
use crate::stores::{self, StoreOption, Which};
use crate::values::checkpoint;

/// Check every byte of a checkpoint, or of all, against its checksums
///
/// Nothing is changed: a restart passes damaged checkpoints over by itself.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLE)]
pub struct Verify {
    /// Number of the checkpoint, or `latest` [default: all]
    #[arg(value_name = "ID")]
    which: Option<Which>,
    #[command(flatten)]
    store: StoreOption,
    #[command(flatten)]
    format: FormatOption,
}

const EXAMPLE: &str = "\
Example:
  cargo ckpt verify
  cargo ckpt verify 12

Exit codes: 0 whole, 1 damaged, 76 no such checkpoint.";

/// A checkpoint and what is wrong with it.
struct Checked {
    id: CheckpointId,
    bytes: u64,
    damage: Vec<Damage>,
}

impl Verify {
    /// Checks.
    pub fn perform(&self) -> Outcome<u8> {
        let folder = self.store.existing()?;
        let newest = checkpoint::resolve(&folder, self.which.unwrap_or(Which::Latest))?;
        let ids = match self.which {
            Some(_) => vec![newest],
            None => stores::ids(&folder).into_iter().map(CheckpointId).collect(),
        };
        let store = checkpoint::open(&folder)?;
        let entries = store.list().map_err(checkpoint::store_failure)?;
        let check = |id: CheckpointId| Checked {
            id,
            bytes: entries
                .iter()
                .find(|entry| entry.id == id)
                .map_or(0, |entry| entry.bytes),
            damage: store.verify(id).err().unwrap_or_default(),
        };
        let list: Vec<_> = ids.into_iter().map(check).collect();
        let damaged = list.iter().filter(|checked| !checked.damage.is_empty()).count();
        if self.format.json() {
            render::print_json(
                &json!({ "whole": damaged == 0, "checkpoints": list.iter().map(as_json).collect::<Vec<_>>() }),
            );
        } else {
            print(&list, damaged);
        }
        Ok(if damaged == 0 { 0 } else { code::NO })
    }
}

fn print(list: &[Checked], damaged: usize) {
    let mut table = render::table(&["ID", "SIZE", "VERDICT"]);
    render::right(&mut table, &[1]);
    for checked in list {
        let whole = checked.damage.is_empty();
        table.add_row([
            checked.id.to_string().into(),
            render::bytes(checked.bytes).into(),
            render::verdict(whole, if whole { "whole" } else { "DAMAGED" }),
        ]);
    }
    render::print_table(&table);
    for checked in list.iter().filter(|checked| !checked.damage.is_empty()) {
        render::print(&format!("\n{}:\n", checked.id));
        for damage in &checked.damage {
            render::print(&format!("  {}: {}\n", damage.place, damage.what));
        }
    }
    if damaged > 0 {
        let left = match list.len() - damaged {
            0 => "none is whole".to_owned(),
            number => format!("{number} whole"),
        };
        render::print(&format!(
            "\n{damaged} damaged, {left}; a restart takes the newest that is whole.\n"
        ));
    }
}

fn as_json(checked: &Checked) -> serde_json::Value {
    let damage: Vec<_> = checked
        .damage
        .iter()
        .map(|damage| json!({ "place": damage.place, "what": damage.what }))
        .collect();
    json!({ "id": checked.id.0, "bytes": checked.bytes, "whole": damage.is_empty(), "damage": damage })
}
