//! `cargo ckpt verify`: checks every byte of one checkpoint or all.

use std::collections::BTreeSet;

use ckpt::store::{CheckpointId, Damage, Journals, Mode, NoWayBack};
use serde_json::json;

use crate::failure::{Outcome, code};
use crate::output::{self, Bar};
use crate::render;
use crate::stores::lines::{Lines, Part};
use crate::stores::{self, StoreArgs, WhichOnes, checkpoint};

/// Check every byte of a checkpoint, or of all, against its checksums
///
/// What the program's files were is in the journal of its run: a checkpoint that needs what is damaged there is not whole either.
///
/// Of incremental checkpoints, one that is kept for the blocks that newer ones need is shown as that.
///
/// Nothing is changed: a restart passes damaged checkpoints over by itself. Of a program of several processes the files
/// of all ranks are checked that are on this machine; a checkpoint that a rank has no file of is not whole.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLE)]
pub struct Verify {
    /// Number of the checkpoint, `latest` or `all`
    #[arg(value_name = "ID", default_value = "all")]
    which: WhichOnes,
    #[command(flatten)]
    store: StoreArgs,
}

const EXAMPLE: &str = "\
Example:
  cargo ckpt verify all
  cargo ckpt verify 12

Exit codes: 0 whole, 1 damaged, 76 no such checkpoint.";

/// A rank's file of a checkpoint and what is wrong with it.
struct Checked {
    id: CheckpointId,
    rank: u32,
    /// None where the rank has no file.
    bytes: Option<u64>,
    /// Where it is kept for its blocks alone: for which others.
    blocks_for: Vec<CheckpointId>,
    damage: Vec<Damage>,
    /// Why what the program's files were cannot be brought back.
    out_of_reach: Option<NoWayBack>,
}

impl Checked {
    /// Whether nothing is damaged: what is given up is not.
    fn is_whole(&self) -> bool {
        self.damage.is_empty() && self.out_of_reach.as_ref().is_none_or(NoWayBack::is_given_up)
    }
}

impl Verify {
    /// Checks.
    pub fn perform(&self) -> Outcome<u8> {
        let lines = self.store.lines()?;
        let ids = match self.which {
            WhichOnes::One(which) => vec![lines.resolve(which)?],
            WhichOnes::All => {
                lines.is_not_empty()?;
                lines.ids().into_iter().map(CheckpointId).collect()
            }
        };
        let mut list = Vec::new();
        let bar = output::bytes_bar("verifying", lines.bytes(&ids));
        for part in &lines.parts {
            let ids = ids.iter().copied().filter(|id| lines.is_of(part.rank, id.0));
            list.extend(check(part, &ids.collect::<Vec<_>>(), &bar)?);
        }
        drop(bar);
        let found = Found::of(lines, list, self.which == WhichOnes::All);
        if !found.is_all && found.list.is_empty() {
            let WhichOnes::One(which) = self.which else {
                return Ok(0);
            };
            let mut left = found.lines.ids();
            left.retain(|id| !found.gone.contains(&CheckpointId(*id)));
            return Err(checkpoint::none(&self.store.named()?, &left, which));
        }
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
    let entries = store.list().map_err(checkpoint::store_failure)?;
    let mut journals = Journals::default();
    let one = |&id: &CheckpointId| {
        let entry = entries.iter().find(|entry| entry.id == id);
        let blocks_for = entry.filter(|entry| entry.holds_blocks_only());
        let blocks_for = blocks_for.map_or_else(Vec::new, |entry| entry.needed_by.clone());
        let bytes = entry.map(|entry| entry.bytes);
        let damage = match bytes {
            Some(_) if !blocks_for.is_empty() => store.verify_file(id).err().unwrap_or_default(),
            Some(_) => store.verify(id).err().unwrap_or_default(),
            None => vec![Damage {
                place: "file".into(),
                what: format!("rank {} has none of this number", part.rank),
            }],
        };
        bar.advance(bytes.unwrap_or(0));
        let meta = entry.and_then(|entry| entry.meta.as_ref().ok());
        let out_of_reach = meta.and_then(|meta| journals.verify(&store, meta).err());
        Checked {
            id,
            rank: part.rank,
            bytes,
            blocks_for,
            damage,
            out_of_reach,
        }
    };
    Ok(ids.iter().map(one).collect())
}

fn numbers(ids: &[CheckpointId]) -> Vec<u64> {
    ids.iter().map(|id| id.0).collect()
}

/// All that was checked.
struct Found {
    lines: Lines,
    list: Vec<Checked>,
    /// Whether all checkpoints were, and not one.
    is_all: bool,
    /// Those that were removed meanwhile.
    gone: BTreeSet<CheckpointId>,
}

impl Found {
    /// Of what was removed while it was looked at nothing is damaged.
    fn of(lines: Lines, list: Vec<Checked>, is_all: bool) -> Self {
        let has_gone = |checked: &Checked| !checked.is_whole() && lines.has_gone(checked.rank, checked.id);
        let (gone, mut list): (Vec<_>, Vec<_>) = list.into_iter().partition(has_gone);
        list.sort_by_key(|checked| (checked.id, checked.rank));
        let gone = gone.into_iter().map(|checked| checked.id).collect();
        Found {
            lines,
            list,
            is_all,
            gone,
        }
    }

    /// The checkpoints that are not whole on all ranks here.
    fn damaged(&self) -> BTreeSet<CheckpointId> {
        let damaged = self.list.iter().filter(|checked| !checked.is_whole());
        damaged.map(|checked| checked.id).collect()
    }

    fn print(&self) {
        let several = self.lines.several;
        let mut table = match several {
            true => render::table(&["ID", "RANK", "ON DISK", "VERDICT"]),
            false => render::table(&["ID", "ON DISK", "VERDICT"]),
        };
        render::right(&mut table, if several { &[1, 2] } else { &[1] });
        for checked in &self.list {
            let verdict = match (checked.bytes, checked.damage.is_empty()) {
                (None, _) => "MISSING".to_owned(),
                (_, true) if checked.blocks_for.is_empty() => match &checked.out_of_reach {
                    _ if self.lines.copies.contains_key(&checked.id) => {
                        format!("a copy of {}", self.lines.copies[&checked.id])
                    }
                    None => "whole".to_owned(),
                    Some(why) if why.is_given_up() => "given up".to_owned(),
                    Some(_) => "NOT RESTORABLE".to_owned(),
                },
                (_, true) => format!("blocks for {}", stores::id_list(&numbers(&checked.blocks_for))),
                (_, false) => "DAMAGED".to_owned(),
            };
            let size = checked.bytes.map_or_else(|| "-".into(), render::bytes);
            let mut row = vec![checked.id.to_string().into()];
            row.extend(several.then(|| checked.rank.into()));
            row.extend([size.into(), render::verdict(checked.is_whole(), verdict)]);
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
        for checked in &self.list {
            if let Some(why) = &checked.out_of_reach {
                let whose = match several {
                    true => format!(", rank {},", checked.rank),
                    false => String::new(),
                };
                render::print(&format!("\n{}{whose} cannot be restored: {why}\n", checked.id));
            }
        }
        if self.list.iter().any(|checked| !checked.blocks_for.is_empty()) {
            render::print(
                "\nWhat is kept for its blocks cannot be restored by itself: what it builds on is not kept any more, and \
                 newer checkpoints need what it holds.\n",
            );
        }
        self.print_end();
    }

    fn print_end(&self) {
        if !self.gone.is_empty() {
            let gone: Vec<u64> = self.gone.iter().map(|id| id.0).collect();
            render::print(&format!(
                "\nRemoved while this looked at the store, as a job does with old checkpoints: {}.\n",
                stores::id_list(&gone)
            ));
        }
        let damaged = self.damaged().len();
        let all: BTreeSet<CheckpointId> = self.list.iter().map(|checked| checked.id).collect();
        if damaged > 0 {
            let on_all = if self.lines.several { " on all ranks" } else { "" };
            let left = match all.len() - damaged {
                _ if !self.is_all => String::new(),
                0 => ", none is whole".to_owned(),
                number => {
                    format!(", {number} whole; a restart takes the newest of its run that is whole{on_all}")
                }
            };
            render::print(&format!("\n{damaged} damaged{left}.\n"));
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
            "id": checked.id.0, "bytes": checked.bytes, "whole": damage.is_empty(), "damage": damage,
            "restorable": damage.is_empty() && checked.blocks_for.is_empty() && checked.out_of_reach.is_none(),
            "out_of_reach": checked.out_of_reach.as_ref().map(ToString::to_string),
            "blocks_for": numbers(&checked.blocks_for),
        });
        if self.lines.several {
            value["rank"] = json!(checked.rank);
        }
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stores::checkpoint::tests::{MAIN, meta};
    use ckpt::snapshot::SnapshotBuilder;
    use ckpt::store::{Keep, Store};

    /// A job removes its old checkpoints whenever it writes one.
    #[test]
    fn what_a_job_has_removed_meanwhile_is_not_damaged() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::open(folder.path(), Mode::ReadWrite).unwrap();
        store.set_keep(Keep::All);
        for visit in 1..=3 {
            let mut builder = SnapshotBuilder::new();
            let frame = builder.frame(&MAIN, 1);
            builder.value(frame, "step", 2, None, &visit);
            store.commit(&builder.finish().unwrap(), &meta(visit)).unwrap();
        }
        let lines = Lines::of(folder.path()).unwrap();
        std::fs::remove_file(store.path(CheckpointId(1))).unwrap();
        std::fs::write(store.path(CheckpointId(2)), "no checkpoint").unwrap();
        let ids: Vec<CheckpointId> = lines.ids().into_iter().map(CheckpointId).collect();
        let bar = output::bytes_bar("verifying", lines.bytes(&ids));
        let list = check(&lines.parts[0], &ids, &bar).unwrap();
        let found = Found::of(lines, list, true);
        assert_eq!(found.damaged(), BTreeSet::from([CheckpointId(2)]));
        assert_eq!(found.gone, BTreeSet::from([CheckpointId(1)]));
        assert_eq!(found.list.len(), 2);
    }
}
