//! `cargo ckpt list`: the checkpoints of a store and how its run stands.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::Path;

use ckpt::session::auto::Estimate;
use ckpt::session::job::COMMAND_NOTE;
use ckpt::session::runs::{RunRecord, has_record};
use ckpt::store::{Meta, RunId, printable};
use serde_json::json;

use crate::failure::{Failure, Outcome, says};
use crate::launch::is_known_here;
use crate::render;
use crate::stores::continued::unfinished;
use crate::stores::lines::{Line, Lines, OutOfReach, rank_list};
use crate::stores::runs;
use crate::stores::{self, StoreArgs};

/// List the checkpoints of a store, oldest first
///
/// Reads headers only; `verify` checks every byte. Of a program of several processes each line is what all its ranks
/// have with one number, as far as their files are on this machine.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLE)]
pub struct List {
    #[command(flatten)]
    store: StoreArgs,
}

const EXAMPLE: &str = "\
Example:
  cargo ckpt list
  cargo ckpt list --dir heat.ckpt.d --format json

Exit codes: 0 done (also when there is no checkpoint yet), 76 there is no store.";

impl List {
    /// Lists.
    pub fn perform(&self) -> Outcome<u8> {
        let store = self.store.named()?;
        let named = self.store.run(&store)?;
        let lines = Lines::of_run(&store, named)?;
        let list = lines.list()?;
        let out_of_reach = lines.out_of_reach(&list)?;
        let mut records = runs::records_told(&store)?;
        // Where it is not known which is the newest, none is continued without its name.
        let continued = unfinished(&records, &store)
            .ok()
            .flatten()
            .map(|record| record.run);
        records.retain(|record| named.is_none_or(|run| record.run == run));
        let job = records.last().and_then(|record| record.job.clone().ok());
        let folder = if lines.several {
            store
        } else {
            stores::home(&store)
        };
        if self.store.json() {
            let of_line = |line: &Line| line.as_json(lines.several, &out_of_reach);
            let checkpoints: Vec<_> = list.iter().map(of_line).collect();
            let runs: Vec<_> = records.iter().map(runs::as_json).collect();
            let mut value = json!({ "store": folder, "job": job, "runs": runs, "checkpoints": checkpoints });
            if lines.several {
                value["elsewhere"] = json!(lines.elsewhere);
            }
            render::print_json(&value);
            return Ok(0);
        }
        let restorable = list.iter().filter(|line| line.is_restorable(&out_of_reach));
        let restorable: BTreeSet<RunId> = restorable.filter_map(|line| meta(line)?.run).collect();
        print_standing(&folder, &records, continued, &restorable);
        if let Some(job) = &job {
            let often = job.interval.as_ref().map(how_often).unwrap_or_default();
            render::print(&format!("{often}\n"));
        }
        match list.is_empty() {
            true if job.is_none() && !looks_like_a_store(&folder) => {
                let what = "is none: there is nothing of ckpt in the folder";
                return Err(
                    Failure::no_checkpoint(says!("E3085: the store `{}` {what}", folder.display()))
                        .help("name the folder that the program writes its checkpoints to, for example `--dir heat.ckpt.d`"),
                );
            }
            true => render::print(&format!("{} holds no checkpoint yet.\n", shown(&folder))),
            false => print_lines(&folder, &list, &lines, &out_of_reach, &records),
        }
        for (folder, ids) in lines.in_fallbacks(&list) {
            render::print(&format!(
                "\nIn the fallback `{}`: {}\n",
                shown(&folder),
                stores::id_list(&ids)
            ));
        }
        if let Some(not_here) = lines.not_here() {
            render::print(&format!("\n{not_here}\n"));
        }
        for (folder, why) in lines.unseen_fallbacks() {
            render::print(&format!(
                "\nnot looked at: the fallback `{}`: {why}\n",
                shown(&folder)
            ));
        }
        Ok(0)
    }
}

/// Whether a folder without checkpoints may become a store: it is empty, or has what a store has.
fn looks_like_a_store(folder: &Path) -> bool {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return true;
    };
    let names: Vec<_> = entries.flatten().map(|entry| entry.file_name()).collect();
    let is_of_ckpt = |name: &OsString| {
        let name = name.to_string_lossy();
        name == "runs" || name.starts_with("lock") || name.starts_with("fallback") || name.ends_with(".txt")
    };
    names.is_empty() || names.iter().any(is_of_ckpt)
}

/// What a restart has to be told where a store came from elsewhere.
const WITH_THE_PROGRAM: &str = ", with how the program is built (`--bin NAME --release`, in the folder of its source; this machine has not started it),";

/// A folder in one line, whatever its name is.
fn shown(folder: &Path) -> String {
    printable(&folder.to_string_lossy()).into_owned()
}

/// How the run stands, or each of several, the newest last.
fn print_standing(
    folder: &Path,
    records: &[RunRecord],
    continued: Option<RunId>,
    restorable: &BTreeSet<RunId>,
) {
    let standing = |record: &RunRecord| {
        let run = record.run;
        let next = if restorable.contains(&run) {
            let named = match continued == Some(run) {
                true => vec![],
                false => vec!["--run".to_owned(), run.short()],
            };
            let executable = record.job.as_ref().ok().and_then(|job| job.command.first());
            let is_known = is_known_here(folder, run, executable.map(Path::new));
            let what = if is_known { "" } else { WITH_THE_PROGRAM };
            format!("{}{what} continues it", stores::restart_command(folder, &named))
        } else {
            "it has no checkpoint that can be restored".to_owned()
        };
        runs::standing(record, &next)
    };
    if let [one] = records {
        render::print(&format!("{}: {}\n", shown(folder), standing(one)));
        return;
    }
    if !records.is_empty() {
        render::print(&format!(
            "{}: {}\n",
            shown(folder),
            render::count(records.len(), "run")
        ));
    }
    for record in records {
        render::print(&format!("  {}: {}\n", record.run.short(), standing(record)));
    }
}

/// What the first rank whose file can be read says.
fn meta(line: &Line) -> Option<&Meta> {
    line.entries
        .iter()
        .find_map(|(_, entry)| entry.meta.as_ref().ok())
}

/// The command line of the process that wrote it, as far as it says.
fn command(meta: &Meta) -> Vec<String> {
    let note = meta.notes.iter().find(|(name, _)| name == COMMAND_NOTE);
    note.and_then(|(_, text)| serde_json::from_str(text).ok())
        .unwrap_or_default()
}

/// The lines that this one cannot be restored without.
fn needs(line: &Line) -> Vec<u64> {
    let needs = line.entries.iter().flat_map(|(_, entry)| &entry.needs);
    let needs: BTreeSet<u64> = needs.map(|id| id.0).collect();
    needs.into_iter().collect()
}

/// The lines that need what this one holds, where it is kept for that alone.
fn blocks_for(line: &Line) -> Vec<u64> {
    let kept = line.entries.iter().filter(|(_, entry)| entry.holds_blocks_only());
    let by: BTreeSet<u64> = kept
        .flat_map(|(_, entry)| &entry.needed_by)
        .map(|id| id.0)
        .collect();
    by.into_iter().collect()
}

/// Which ranks have their part.
fn ranks(line: &Line) -> String {
    match rank_list(&line.lacking) {
        None => format!("all {}", line.entries.len()),
        Some(lacking) => format!("{}, not {lacking}", line.entries.len()),
    }
}

fn print_lines(
    folder: &Path,
    list: &[Line],
    lines: &Lines,
    out_of_reach: &OutOfReach,
    records: &[RunRecord],
) {
    let mut header = vec!["ID", "TAKEN (UTC)", "VISIT", "REASON", "ON DISK"];
    let whose = |line: &Line| meta(line).map(|meta| meta.run);
    // With records of runs: what was written before runs had an identity is of none.
    let has_others =
        !records.is_empty() && list.iter().filter_map(whose).any(|run| !has_record(records, run));
    let several_runs = lines.has_several_runs() || records.len() > 1 || has_others;
    header.extend(several_runs.then_some("RUN"));
    header.extend(lines.several.then_some("RANKS"));
    let some_need = list.iter().any(|line| !needs(line).is_empty());
    header.extend(some_need.then_some("BUILDS ON"));
    header.extend((!out_of_reach.is_empty()).then_some("RESTORABLE"));
    header.push("PROGRAM");
    let mut table = render::table(&header);
    render::right(&mut table, &[2, 4]);
    for line in list {
        let size = render::bytes(line.bytes());
        let (mut row, program) = match meta(line) {
            Some(meta) => (
                vec![
                    line.id.to_string(),
                    meta.time_text().replace('T', " ").replace('Z', ""),
                    meta.visit.to_string(),
                    meta.reason.clone(),
                    size,
                ],
                runs::called(&meta.program, &meta.version, &command(meta)),
            ),
            None => (
                vec![
                    line.id.to_string(),
                    "damaged".into(),
                    "-".into(),
                    "-".into(),
                    size,
                ],
                "-".into(),
            ),
        };
        let run = || meta(line).and_then(|meta| meta.run);
        row.extend(several_runs.then(|| run().map_or_else(|| "-".to_owned(), RunId::short)));
        row.extend(lines.several.then(|| ranks(line)));
        row.extend(some_need.then(|| match (needs(line), blocks_for(line)) {
            (none, _) if none.is_empty() => "-".to_owned(),
            (needs, none) if none.is_empty() => stores::id_list(&needs),
            (_, by) => format!("blocks for {}", stores::id_list(&by)),
        }));
        row.extend(
            (!out_of_reach.is_empty()).then(|| match line.is_restorable(out_of_reach) {
                true => "yes".to_owned(),
                false => "no".to_owned(),
            }),
        );
        row.push(program);
        table.add_row(row);
    }
    render::print_table(&table);
    for (copy, of) in &lines.copies {
        render::print(&format!(
            "\n{copy} is a copy of {of} under another number, and none of the run: remove the file.\n"
        ));
    }
    if list.iter().any(|line| !blocks_for(line).is_empty()) {
        render::print(
            "\nWhat is kept for its blocks cannot be restored by itself: what it builds on is not kept any more.\n",
        );
    }
    if has_others {
        render::print(&format!(
            "\nOf a run that has no record here a checkpoint is continued only if it is named: {}.\n",
            stores::command_about(folder, "restart", &["ID"])
        ));
    }
    for (id, ranks) in out_of_reach {
        for (rank, why) in ranks {
            let whose = match lines.several {
                true => format!(", rank {rank},"),
                false => String::new(),
            };
            render::print(&format!("\n{id}{whose} cannot be restored: {why}\n"));
        }
    }
    for line in list {
        for (rank, entry) in &line.entries {
            if let Err(error) = &entry.meta {
                let whose = if lines.several {
                    format!(", rank {rank}")
                } else {
                    String::new()
                };
                render::print(&format!("\n{}{whose}: {error}\n", entry.id));
            }
        }
    }
}

/// Why checkpoints come as often as they do, where ckpt has found that out.
fn how_often(estimate: &Estimate) -> String {
    let time = render::setting;
    format!(
        "interval auto: a checkpoint every {}, as one makes the program wait for {} and a failure is expected every {};\n\
         together they will cost {:.1} % of the time\n",
        time(estimate.interval),
        time(estimate.cost),
        time(estimate.between_failures),
        100.0 * estimate.waste
    )
}
