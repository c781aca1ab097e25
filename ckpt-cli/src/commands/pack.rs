//! `cargo ckpt pack`: a store as one file to carry.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use ckpt::store::{CheckpointId, Mode};
use serde_json::json;

use crate::failure::{Failure, Outcome, says};
use crate::pack;
use crate::render;
use crate::stores::checkpoint;
use crate::stores::lines::{Line, Lines, rank_list};
use crate::stores::{StoreArgs, Which};

/// Put checkpoints into one file, to carry or mail to another machine
///
/// An ordinary tar file: a manifest with the checksum of every file, the checkpoints, and what the store knows about
/// the run. `cargo ckpt unpack` checks it and makes the store again, whatever the machine. Each checkpoint is checked
/// before it is packed.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLE)]
pub struct Pack {
    /// Number of the checkpoint, `latest`: the newest that is whole, or `all`
    #[arg(value_name = "ID", default_value = "latest")]
    which: Chosen,
    /// The file to write [default: PROGRAM.ckpt.tar]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// A file of the program that goes along: input, or output that a restart adds to; a path below this folder
    #[arg(long, value_name = "FILE")]
    with: Vec<PathBuf>,
    #[command(flatten)]
    store: StoreArgs,
}

const EXAMPLE: &str = "\
Example:
  cargo ckpt pack                                     heat.ckpt.tar with the newest checkpoint
  cargo ckpt pack 12 -o /media/stick/heat.tar --with deck.toml --with energy.csv

Exit codes: 0 done, 76 no such checkpoint, 78 it is damaged, or the file is there already.";

/// What is packed.
#[derive(Debug, Clone, Copy)]
enum Chosen {
    One(Which),
    All,
}

impl std::str::FromStr for Chosen {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "all" => Ok(Chosen::All),
            _ => text
                .parse()
                .map(Chosen::One)
                .map_err(|_: String| "a checkpoint's number, `latest` or `all`".into()),
        }
    }
}

impl Pack {
    /// Chooses and packs.
    pub fn perform(&self) -> Outcome<u8> {
        let store = self.store.named()?;
        let lines = Lines::of(&store);
        let chosen = self.chosen(&lines)?;
        let to = self.output.clone().unwrap_or_else(|| default_name(&store));
        if to.exists() {
            return Err(
                Failure::store(says!("E3009: `{}` is there already", to.display()))
                    .help("write another one with `--output FILE`, or remove it"),
            );
        }
        let packed = pack::pack(&lines, &store, &chosen, &self.with, &to)?;
        let ids: BTreeSet<u64> = chosen.iter().map(|(_, id)| id.0).collect();
        if self.store.json() {
            render::print_json(&json!({
                "file": packed.file, "bytes": packed.bytes, "checkpoints": ids,
                "manifest": packed.manifest,
            }));
        } else {
            let ids: Vec<u64> = ids.into_iter().collect();
            let what = if ids.len() == 1 {
                "checkpoint"
            } else {
                "checkpoints"
            };
            render::print(&format!(
                "packed {what} {} into {} ({})\n",
                crate::stores::id_list(&ids),
                packed.file.display(),
                render::bytes(packed.bytes)
            ));
        }
        Ok(0)
    }

    /// The files to pack, by rank and number.
    fn chosen(&self, lines: &Lines) -> Outcome<Vec<(u32, CheckpointId)>> {
        match self.which {
            Chosen::One(Which::Latest) => {
                let newest = lines.resolve(Which::Latest)?;
                let mut ids = lines.ids().into_iter().rev().map(CheckpointId);
                // What is damaged is passed over, as by a restart.
                with_what_it_needs(lines, ids.find(|&id| is_whole(lines, id)).unwrap_or(newest))
            }
            Chosen::One(which) => with_what_it_needs(lines, lines.resolve(which)?),
            Chosen::All => {
                lines.resolve(Which::Latest)?;
                let of_line = |line: Line| {
                    line.entries
                        .into_iter()
                        .map(move |(rank, entry)| (rank, entry.id))
                };
                Ok(lines.list()?.into_iter().flat_map(of_line).collect())
            }
        }
    }
}

/// The files of all ranks with this number, and those before that each builds on: another rank may have made a full one
/// meanwhile, and have removed what it no longer needs.
fn with_what_it_needs(lines: &Lines, id: CheckpointId) -> Outcome<Vec<(u32, CheckpointId)>> {
    if let Some(ranks) = rank_list(&lines.lacking(id.0)) {
        return Err(
            Failure::no_checkpoint(says!("E3010: there is no checkpoint {id} of {ranks}"))
                .help("`cargo ckpt list` shows which all ranks have"),
        );
    }
    let mut chosen = Vec::new();
    for part in &lines.parts {
        let entries = part.open(Mode::ReadOnly)?.list();
        let entries = entries.map_err(checkpoint::store_failure)?;
        let mut needed = BTreeSet::from([id]);
        // Whatever is needed is older.
        for entry in entries.iter().rev().filter(|entry| entry.id <= id) {
            if needed.contains(&entry.id) {
                needed.extend(&entry.needs);
            }
        }
        chosen.extend(needed.into_iter().map(|id| (part.rank, id)));
    }
    Ok(chosen)
}

fn is_whole(lines: &Lines, id: CheckpointId) -> bool {
    let is_whole = |part: &crate::stores::lines::Part| {
        part.open(Mode::ReadOnly)
            .is_ok_and(|store| store.verify(id).is_ok())
    };
    lines.parts.iter().all(is_whole)
}

/// `heat.ckpt.tar` here, for `some/where/heat.ckpt.d`.
fn default_name(store: &Path) -> PathBuf {
    let home = crate::stores::home(store);
    let absolute = std::fs::canonicalize(&home).unwrap_or(home);
    let name = absolute.file_name().unwrap_or_default().to_string_lossy();
    format!("{}.ckpt.tar", name.strip_suffix(".ckpt.d").unwrap_or(&name)).into()
}
