//! `cargo ckpt seal`: new checksums for a checkpoint that was changed by hand.

use std::io::IsTerminal;

use ckpt::store::{Change, CheckpointId, Damage, Mode, StoreError, printable};
use serde_json::{Value, json};

use crate::failure::{Failure, Outcome, says};
use crate::stores::checkpoint::store_failure;
use crate::stores::lines::{Lines, Ranks};
use crate::stores::{self, StoreArgs, Which};
use crate::{output, render};

/// Renew the checksums of a checkpoint that was edited by hand
///
/// A file whose values were changed, with h5py for example, is damaged for ckpt until its checksums are those of the new
/// values. Values may be changed; types, shapes and all else in the file may not. What has changed is shown, and asked about:
/// damage looks like an edit, and with new checksums it is not found any more. The file is replaced as a whole, or not at all.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLE)]
pub struct Seal {
    /// Number of the checkpoint, or `latest`
    #[arg(value_name = "ID")]
    which: Which,
    /// Only the file of this rank
    #[arg(long, value_name = "R|all", default_value = "all")]
    rank: Ranks,
    /// The changes are meant: do not ask
    #[arg(short, long)]
    yes: bool,
    #[command(flatten)]
    store: StoreArgs,
}

const EXAMPLE: &str = "\
Example:
  cargo ckpt seal 12
  cargo ckpt seal 12 --yes    in a script
  cargo ckpt restart 12

Exit codes: 0 done, 1 the changes are not meant, 2 nobody can be asked, 76 no such checkpoint, 78 more than \
values has changed, or a job uses the store.";

/// What was found in the file of a rank, and whether it was renewed.
struct Sealed {
    rank: u32,
    changes: Vec<Change>,
    accepted: bool,
}

impl Seal {
    /// Renews.
    pub fn perform(&self) -> Outcome<u8> {
        let lines = self.store.lines()?;
        let store = self.store.named()?;
        let id = lines.resolve(self.which)?;
        let mut all = Vec::new();
        for part in lines.chosen(self.rank, id)? {
            let mut accepted = false;
            let renewed = part.open(Mode::ReadWrite)?.renew(id, &mut |changes| {
                if !self.store.json() {
                    show(id, whose(&lines, part.rank), changes);
                }
                accepted = self.yes || (!self.store.json() && is_meant());
                accepted
            });
            let changes = renewed.map_err(|error| failure(&error))?;
            if changes.is_empty() && !self.store.json() {
                render::print(&format!(
                    "{id}{}: nothing has changed\n",
                    whose(&lines, part.rank)
                ));
            }
            all.push(Sealed {
                rank: part.rank,
                changes,
                accepted,
            });
        }
        if self.store.json() {
            let parts: Vec<Value> = all.iter().map(as_json).collect();
            render::print_json(&json!({ "id": id.0, "parts": parts }));
        }
        if all
            .iter()
            .any(|sealed| !sealed.changes.is_empty() && !sealed.accepted)
        {
            return Err(match self.store.json() || !std::io::stdin().is_terminal() {
                true => Failure::usage(says!(
                    "E3186: nobody can be asked whether these changes are meant"
                ))
                .help("look at them, and say `--yes` if they are"),
                false => Failure::no(says!("E3187: checkpoint {id} was left as it is")).help(format!(
                    "it is damaged for ckpt, and a restart passes it over; {} says where",
                    stores::command_about(&store, "verify", &[&id.0.to_string()])
                )),
            });
        }
        if all.iter().any(|sealed| sealed.accepted) && !self.store.json() {
            render::print(&format!(
                "\nIts checksums are those of what it holds. {} continues from it.\n",
                stores::restart_command(&store, &[id.0.to_string()])
            ));
        }
        Ok(0)
    }
}

fn whose(lines: &Lines, rank: u32) -> String {
    match lines.several {
        true => format!(", rank {rank}"),
        false => String::new(),
    }
}

/// Every dataset that has changed, with some of its elements before and after.
fn show(id: CheckpointId, whose: String, changes: &[Change]) {
    render::print(&format!("{id}{whose}:\n"));
    for change in changes {
        let number = match change.changed {
            Some(changed) => format!("{changed} of {} elements changed", change.elements),
            None => format!(
                "its {} elements do not fit their checksum, {}; what they were is not known",
                change.elements, change.checksum
            ),
        };
        render::print(&format!("  {}: {number}\n", printable(&change.path)));
        for edit in &change.edits {
            let (at, after) = (edit.at, printable(&edit.after));
            render::print(&match &edit.before {
                Some(before) => format!("    [{at}]  {} -> {after}\n", printable(before)),
                None => format!("    [{at}]  {after}\n"),
            });
        }
        if change
            .changed
            .is_none_or(|changed| changed > change.edits.len() as u64)
            && change.elements > change.edits.len() as u64
        {
            render::print("    ...\n");
        }
    }
    if changes.iter().any(|change| change.changed.is_none()) {
        render::print(
            "ckpt cannot tell an edit from damage here. New checksums accept what the file holds, whether right or wrong: \
             `verify` finds no fault with it any more, and a restart computes with it.\n",
        );
    }
}

/// Asks at the terminal.
fn is_meant() -> bool {
    output::is_meant("Are these changes meant? Then the checkpoint gets new checksums.")
}

fn failure(error: &StoreError) -> Failure {
    // The copy that is sealed is a plain file, so what is wrong with it as a whole is its length.
    let is_of_file = |damage: &[Damage]| damage.iter().any(|one| one.place == Damage::FILE);
    match error {
        StoreError::Damaged { damage, .. } if is_of_file(damage) => Failure::store(error).help(
            "the program that changed it has cut it off, as HDF5 does with files of an older ckpt, or has added to it: \
             change a copy, or a checkpoint of this version, and values only",
        ),
        StoreError::Damaged { .. } => Failure::store(error).help(
            "more than values has changed: it is damaged, and stays so; a restart takes the one before it",
        ),
        _ => store_failure(error.clone()),
    }
}

fn as_json(sealed: &Sealed) -> Value {
    let changes = sealed.changes.iter().map(|change| {
        let edits = change
            .edits
            .iter()
            .map(|edit| json!({ "at": edit.at, "before": edit.before, "after": edit.after }));
        json!({
            "path": change.path, "elements": change.elements, "changed": change.changed,
            "checksum_before": change.checksum, "edits": edits.collect::<Vec<_>>(),
        })
    });
    json!({
        "rank": sealed.rank,
        "renewed": sealed.accepted,
        "changed": sealed.changes.iter().map(|change| &change.path).collect::<Vec<_>>(),
        "changes": changes.collect::<Vec<_>>(),
    })
}
