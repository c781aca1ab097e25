//! `cargo ckpt pack`: a store as one file to carry.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use ckpt::session::runs::RunRecord;
use ckpt::store::{CheckpointId, Journals, Mode, RunId, StoreError, printable_lines};
use serde_json::json;

use crate::failure::{Failure, Outcome, says};
use crate::output::told;
use crate::pack;
use crate::render;
use crate::stores::checkpoint;
use crate::stores::lines::{Line, Lines, OutOfReach, rank_list};
use crate::stores::runs;
use crate::stores::{StoreArgs, Which, WhichOnes};

/// Put checkpoints into one file, to carry or mail to another machine
///
/// An ordinary tar file: a manifest with the checksum of every file, checkpoints of one run, and what the store knows about
/// the run: the newest that has not completed, else the newest, unless a checkpoint or a run is named. With `all` it is the whole
/// store, with all its runs. `cargo ckpt unpack` checks it and makes the store again, whatever the machine. Each checkpoint is checked
/// before it is packed.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLE)]
pub struct Pack {
    /// Number of the checkpoint, `latest`: the newest that is whole, or `all`: those of all runs, or of the one that `--run` names
    #[arg(value_name = "ID", default_value = "latest")]
    which: WhichOnes,
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
  cargo ckpt pack                                     the newest checkpoint
  cargo ckpt pack all                                 the whole store
  cargo ckpt pack 12 -o /media/stick/heat.tar --with deck.toml --with energy.csv

Exit codes: 0 done, 76 no such checkpoint, 78 it is damaged, or the file is there already.";

impl Pack {
    /// Chooses and packs.
    pub fn perform(&self) -> Outcome<u8> {
        let store = self.store.named()?;
        let run = self.run(&store)?;
        let is_whole = matches!(self.which, WhichOnes::All) && self.store.run(&store)?.is_none();
        let lines = Lines::of_run(&store, run.filter(|_| !is_whole))?;
        let chosen = self.chosen(&lines)?;
        let to = self.output.clone().unwrap_or_else(|| default_name(&store));
        if to.exists() {
            return Err(
                Failure::store(says!("E3009: `{}` is there already", to.display()))
                    .help("write another one with `--output FILE`, or remove it"),
            );
        }
        let run = match run {
            None => pack::run_of(&lines, &chosen)?,
            known => known,
        };
        let others = match is_whole {
            true => pack::all_runs(&lines)?,
            false => Vec::new(),
        };
        let packed = pack::pack(&lines, &store, (run, &others), &chosen, &self.with, &to)?;
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

    /// The run that is packed: the one that is named, or that the checkpoint is of; else the newest that has any, as a restart
    /// takes it: one that has not completed comes before one that has.
    fn run(&self, store: &Path) -> Outcome<Option<RunId>> {
        if let Some(run) = self.store.run(store)? {
            return Ok(Some(run));
        }
        let lines = Lines::of(store)?;
        if let WhichOnes::One(Which::Id(id)) = self.which {
            return Ok(lines.run_of(id));
        }
        let ids = lines.ids();
        let has_any = |run: &RunId| ids.iter().any(|id| lines.run_of(*id) == Some(*run));
        let records = runs::records(store)?.into_iter().rev();
        let (unfinished, completed): (Vec<_>, Vec<_>) = records.partition(RunRecord::is_unfinished);
        let mut runs = unfinished.into_iter().chain(completed).map(|record| record.run);
        // A run may have lost its record, and has its journal of files.
        let newest = || ids.iter().rev().find_map(|id| lines.run_of(*id));
        Ok(runs.find(has_any).or_else(newest))
    }

    /// The files to pack, by rank and number.
    fn chosen(&self, lines: &Lines) -> Outcome<Vec<(u32, CheckpointId)>> {
        match self.which {
            WhichOnes::One(Which::Latest) => {
                let newest = lines.resolve(Which::Latest)?;
                let out_of_reach = lines.out_of_reach(&lines.list()?)?;
                let mut found = None;
                let mut damaged = Vec::new();
                for id in lines.ids().into_iter().rev().map(CheckpointId) {
                    let Some(why) = problem(lines, &out_of_reach, id)? else {
                        found = Some(id);
                        break;
                    };
                    damaged.push((id, why));
                }
                // What is damaged is passed over, as by a restart, and not in silence: what is carried away is not the newest.
                // Where nothing is whole it is the newest all the same: its values can be looked at.
                for (id, why) in damaged {
                    let why = printable_lines(&why);
                    match found {
                        Some(older) => is_passed_over(
                            id,
                            &why,
                            &format!("what is packed is checkpoint {older}, which is older"),
                        ),
                        None if id == newest => cannot_be_restored(id, &why),
                        None => {}
                    }
                }
                with_what_it_needs(lines, found.unwrap_or(newest))
            }
            WhichOnes::One(which) => {
                let id = lines.resolve(which)?;
                for (_, why) in lines
                    .out_of_reach(&lines.list()?)?
                    .remove(&id)
                    .unwrap_or_default()
                {
                    cannot_be_restored(id, &printable_lines(&why.to_string()));
                }
                with_what_it_needs(lines, id)
            }
            WhichOnes::All => {
                lines.is_not_empty()?;
                // Of which run they are is not known, and no restart takes them.
                let of_nobody = lines.of_unknown_run();
                let of_line = |line: Line| {
                    line.entries
                        .into_iter()
                        .map(move |(rank, entry)| (rank, entry.id))
                };
                let (lost, list): (Vec<Line>, Vec<Line>) = lines
                    .list()?
                    .into_iter()
                    .partition(|line| of_nobody.contains(&line.id));
                for line in lost {
                    let why = line
                        .entries
                        .iter()
                        .find_map(|(_, entry)| entry.meta.as_ref().err());
                    let why = why.map(ToString::to_string).unwrap_or_default();
                    is_passed_over(line.id, &printable_lines(&why), "the others are packed");
                }
                Ok(list.into_iter().flat_map(of_line).collect())
            }
        }
    }
}

fn cannot_be_restored(id: CheckpointId, why: &str) {
    told!("ckpt: warning[W3051]: checkpoint {id} is packed, and cannot be restored: {why}");
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
    for part in lines.parts_of(id) {
        let entries = part.open(Mode::ReadOnly)?.list();
        let entries = entries.map_err(checkpoint::store_failure)?;
        let mut needed = BTreeSet::from([id]);
        // Whatever is needed is older.
        for entry in entries.into_iter().rev().filter(|entry| entry.id <= id) {
            if needed.contains(&entry.id) {
                needed.extend(&entry.needs);
                if let Err(error @ StoreError::Io { .. }) = entry.meta {
                    return Err(checkpoint::store_failure(error)
                        .because(format!("what checkpoint {} builds on is not known", entry.id))
                        .help("see to the disk, and pack again"));
                }
            }
        }
        chosen.extend(needed.into_iter().map(|id| (part.rank, id)));
    }
    Ok(chosen)
}

/// Says of a checkpoint that it does not go along, and what does.
fn is_passed_over(id: CheckpointId, why: &str, instead: &str) {
    told!("ckpt: warning[W2008]: checkpoint {id} cannot be used and is passed over: {why}\n  {instead}");
}

/// Why a checkpoint is not whole, or cannot be restored.
///
/// # Errors
/// It cannot be looked at, so that nobody knows whether it is.
fn problem(lines: &Lines, out_of_reach: &OutOfReach, id: CheckpointId) -> Outcome<Option<String>> {
    for part in lines.parts_of(id) {
        let store = part.open(Mode::ReadOnly)?;
        match store.open_checkpoint(id) {
            Ok(_) => {}
            Err(error @ StoreError::Io { .. }) => {
                return Err(checkpoint::store_failure(error)
                    .because(format!(
                        "whether checkpoint {id} is whole is not known, and it is the latest"
                    ))
                    .help("see to the disk; or name the checkpoint that is to be packed by its number"));
            }
            Err(error) => return Ok(Some(error.to_string())),
        }
        if let Err(damage) = store.verify(id) {
            let places: Vec<String> = damage.iter().map(ToString::to_string).collect();
            return Ok(Some(places.join("; ")));
        }
        let entries = store.list().map_err(checkpoint::store_failure)?;
        let meta = entries.into_iter().find(|entry| entry.id == id);
        if let Some(meta) = meta.and_then(|entry| entry.meta.ok())
            && let Err(why) = Journals::default().verify(&store, &meta)
        {
            return Ok(Some(why.to_string()));
        }
    }
    let why = out_of_reach.get(&id).and_then(|ranks| ranks.first());
    Ok(why.map(|(_, why)| why.to_string()))
}

/// `heat.ckpt.tar` here, for `some/where/heat.ckpt.d`.
fn default_name(store: &Path) -> PathBuf {
    let home = crate::stores::home(store);
    let absolute = std::fs::canonicalize(&home).unwrap_or(home);
    let name = absolute.file_name().unwrap_or_default().to_string_lossy();
    format!("{}.ckpt.tar", name.strip_suffix(".ckpt.d").unwrap_or(&name)).into()
}
