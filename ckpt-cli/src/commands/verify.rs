//! `cargo ckpt verify`: checks every byte of one checkpoint or all.

use std::collections::BTreeSet;

use ckpt::store::{CheckpointId, Damage, Mode};
use serde_json::json;

use crate::failure::{Outcome, code};
use crate::output::{self, Bar};
use crate::render;
use crate::stores::lines::{Lines, Part};
use crate::stores::{StoreArgs, Which};

/// Check every byte of a checkpoint, or of all, against its checksums
///
/// Nothing is changed: a restart passes damaged checkpoints over by itself. Of a program of several processes the files
/// of all ranks are checked that are on this machine; a checkpoint that a rank has no file of is not whole.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLE)]
pub struct Verify {
    /// Number of the checkpoint, or `latest` [default: all]
    #[arg(value_name = "ID")]
    which: Option<Which>,
    #[command(flatten)]
    store: StoreArgs,
}

const EXAMPLE: &str = "\
Example:
  cargo ckpt verify
  cargo ckpt verify 12

Exit codes: 0 whole, 1 damaged, 76 no such checkpoint.";

/// A rank's file of a checkpoint and what is wrong with it.
struct Checked {
    id: CheckpointId,
    rank: u32,
    /// None where the rank has no file.
    bytes: Option<u64>,
    damage: Vec<Damage>,
}

impl Verify {
    /// Checks.
    pub fn perform(&self) -> Outcome<u8> {
        let lines = self.store.lines()?;
        let newest = lines.resolve(self.which.unwrap_or(Which::Latest))?;
        let ids = match self.which {
            Some(_) => vec![newest],
            None => lines.ids().into_iter().map(CheckpointId).collect(),
        };
        let mut list = Vec::new();
        let bar = output::bytes_bar("verifying", lines.bytes(&ids));
        for part in &lines.parts {
            list.extend(check(part, &ids, &bar)?);
        }
        drop(bar);
        list.sort_by_key(|checked| (checked.id, checked.rank));
        let found = Found { lines, list };
        if self.store.json() {
            let checkpoints: Vec<_> = found.list.iter().map(|checked| found.as_json(checked)).collect();
            let mut value = json!({ "whole": found.damaged().is_empty(), "checkpoints": checkpoints });
            if found.lines.several {
                value["elsewhere"] = json!(found.lines.elsewhere);
            }
            render::print_json(&value);
        } else {
            found.print();
        }
        Ok(if found.damaged().is_empty() { 0 } else { code::NO })
    }
}

/// Checks the files of one rank.
fn check(part: &Part, ids: &[CheckpointId], bar: &Bar) -> Outcome<Vec<Checked>> {
    let store = part.open(Mode::ReadOnly)?;
    let one = |&id: &CheckpointId| {
        let bytes = std::fs::metadata(store.path(id)).ok().map(|file| file.len());
        let damage = match bytes {
            Some(_) => store.verify(id).err().unwrap_or_default(),
            None => vec![Damage {
                place: "file".into(),
                what: format!("rank {} has none of this number", part.rank),
            }],
        };
        bar.advance(bytes.unwrap_or(0));
        Checked {
            id,
            rank: part.rank,
            bytes,
            damage,
        }
    };
    Ok(ids.iter().map(one).collect())
}

/// All that was checked.
struct Found {
    lines: Lines,
    list: Vec<Checked>,
}

impl Found {
    /// The checkpoints that are not whole on all ranks here.
    fn damaged(&self) -> BTreeSet<CheckpointId> {
        let damaged = self.list.iter().filter(|checked| !checked.damage.is_empty());
        damaged.map(|checked| checked.id).collect()
    }

    fn print(&self) {
        let several = self.lines.several;
        let mut table = match several {
            true => render::table(&["ID", "RANK", "SIZE", "VERDICT"]),
            false => render::table(&["ID", "SIZE", "VERDICT"]),
        };
        render::right(&mut table, if several { &[1, 2] } else { &[1] });
        for checked in &self.list {
            let verdict = match (checked.bytes, checked.damage.is_empty()) {
                (None, _) => "MISSING",
                (_, true) => "whole",
                (_, false) => "DAMAGED",
            };
            let size = checked.bytes.map_or_else(|| "-".into(), render::bytes);
            let mut row = vec![checked.id.to_string().into()];
            row.extend(several.then(|| checked.rank.into()));
            row.extend([size.into(), render::verdict(checked.damage.is_empty(), verdict)]);
            table.add_row(row);
        }
        render::print_table(&table);
        for checked in self.list.iter().filter(|checked| !checked.damage.is_empty()) {
            let whose = if several {
                format!(", rank {}", checked.rank)
            } else {
                String::new()
            };
            render::print(&format!("\n{}{whose}:\n", checked.id));
            for damage in &checked.damage {
                render::print(&format!("  {}: {}\n", damage.place, damage.what));
            }
        }
        self.print_end();
    }

    fn print_end(&self) {
        let damaged = self.damaged().len();
        let all: BTreeSet<CheckpointId> = self.list.iter().map(|checked| checked.id).collect();
        if damaged > 0 {
            let left = match all.len() - damaged {
                0 => "none is whole".to_owned(),
                number => format!("{number} whole"),
            };
            let on_all = if self.lines.several { " on all ranks" } else { "" };
            render::print(&format!(
                "\n{damaged} damaged, {left}; a restart takes the newest that is whole{on_all}.\n"
            ));
        }
        if let Some(not_here) = self.lines.not_here() {
            render::print(&format!("\n{not_here}\n"));
        }
    }

    fn as_json(&self, checked: &Checked) -> serde_json::Value {
        let damage: Vec<_> = checked
            .damage
            .iter()
            .map(|damage| json!({ "place": damage.place, "what": damage.what }))
            .collect();
        let mut value = json!({
            "id": checked.id.0, "bytes": checked.bytes, "whole": damage.is_empty(), "damage": damage
        });
        if self.lines.several {
            value["rank"] = json!(checked.rank);
        }
        value
    }
}
