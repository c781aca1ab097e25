//! Two whole stores: the first checkpoint at which the runs part, and what to do about it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use ckpt::store::{CheckpointId, Meta, RunId};
use serde_json::{Value, json};

use super::again::{self, Start};
use super::{Compared, Diff, print_differences};
use crate::failure::{Failure, Outcome, code, says};
use crate::output::{self, Bar};
use crate::render;
use crate::stores::StoreArgs;
use crate::stores::lines::{Lines, rank_list};
use crate::stores::runs::{self, RunOption};
use crate::values::runs::{Meeting, by_visit, meetings};

/// A run that is compared.
struct Run {
    name: String,
    store: PathBuf,
    lines: Lines,
    checkpoints: BTreeMap<u64, CheckpointId>,
    newest: Option<Meta>,
}

/// A store, and which run in it.
pub struct Named {
    store: PathBuf,
    run: Option<RunId>,
}

/// The run that an argument of `diff` names, if it names one.
pub fn named(text: &str, store: &StoreArgs) -> Outcome<Option<Named>> {
    if let Some(run) = text.strip_prefix("run:") {
        let store = store.named()?;
        let run = run
            .parse()
            .map_err(|error| Failure::usage(says!("E3158: `{text}` names no run")).because(error))?;
        let run = RunOption { run: Some(run) }.of(&store)?;
        return Ok(Some(Named { store, run }));
    }
    let folder = Path::new(text);
    if !folder.is_dir() {
        return Ok(None);
    }
    // The newest that has something to compare.
    let lines = Lines::of(folder)?;
    let has_any = |run: &RunId| lines.ids().iter().any(|id| lines.run_of(*id) == Some(*run));
    let mut runs = runs::records(folder)?.into_iter().rev().map(|record| record.run);
    let run = runs.find(has_any).filter(|_| lines.has_several_runs());
    Ok(Some(Named {
        store: folder.to_owned(),
        run,
    }))
}

impl Run {
    fn of(named: &Named) -> Outcome<Run> {
        let Named { store, run } = named;
        let lines = Lines::of_run(store, *run)?;
        let (checkpoints, newest) = by_visit(&lines)?;
        let run = run.map_or_else(String::new, |run| format!(", run {}", run.short()));
        Ok(Run {
            name: format!("{}{run}", store.display()),
            store: store.clone(),
            lines,
            checkpoints,
            newest,
        })
    }

    fn start(&self) -> Option<Start> {
        Start::of(&self.store, self.newest.as_ref()?)
    }

    fn words(&self, letter: char) -> String {
        let number = render::count(self.checkpoints.len(), "checkpoint");
        let program = self.newest.as_ref();
        let program = program.map_or_else(String::new, |meta| {
            format!(" of {} {}", meta.program, meta.version)
        });
        format!(
            "{letter}: {}, {number}{program}, at visits {}\n",
            self.name,
            visits(self.checkpoints.keys())
        )
    }
}

/// `10, 20, 30`, or the first few and the last.
fn visits<'v>(all: impl Iterator<Item = &'v u64>) -> String {
    let all: Vec<String> = all.map(u64::to_string).collect();
    match all.as_slice() {
        [] => "none".into(),
        [first, second, .., last] if all.len() > 6 => format!("{first}, {second}, .., {last}"),
        _ => all.join(", "),
    }
}

/// Where two runs part.
struct Parting {
    meeting: Meeting,
    /// The last visit at which they were the same.
    before: Option<Meeting>,
    compared: Vec<Compared>,
}

/// Compares two runs.
pub fn compare(diff: &Diff, a: Named, b: Named) -> Outcome<u8> {
    let (a, b) = (Run::of(&a)?, Run::of(&b)?);
    let common = meetings(&a.checkpoints, &b.checkpoints);
    if common.is_empty() {
        return Err(Failure::no_checkpoint(says!(
            "E3102: the two runs have no checkpoint at the same visit"
        ))
        .because(format!("{}{}", a.words('a'), b.words('b')))
        .help("take them at the same visits: `--every N`, and `--keep K` for enough of them"));
    }
    let parting = first_parting(diff, &a, &b, &common)?;
    if diff.store.json() {
        print_json(&common, parting.as_ref());
    } else {
        let starts = [a.start(), b.start()];
        let [start_a, start_b] = &starts;
        let differ = again::difference(start_a.as_ref(), start_b.as_ref());
        render::print(&format!("{}{}\n{differ}", a.words('a'), b.words('b')));
        match &parting {
            None => print_same(&a, &b, &common),
            Some(parting) => {
                print_parting(&common, parting);
                let runs = [
                    (a.store.as_path(), start_a.as_ref()),
                    (b.store.as_path(), start_b.as_ref()),
                ];
                render::print(&next_step(diff, parting, runs));
            }
        }
    }
    match &parting {
        Some(parting) => {
            diff.plot(&parting.compared)?;
            Ok(code::NO)
        }
        None => Ok(0),
    }
}

fn first_parting(diff: &Diff, a: &Run, b: &Run, common: &[Meeting]) -> Outcome<Option<Parting>> {
    let of_a: Vec<CheckpointId> = common.iter().map(|one| one.a).collect();
    let bar = output::bytes_bar("comparing", a.lines.bytes(&of_a));
    let mut before = None;
    for &meeting in common {
        let compared = at(diff, a, b, meeting, &bar)?;
        if compared.iter().any(|one| !one.list.is_empty()) {
            return Ok(Some(Parting {
                meeting,
                before,
                compared,
            }));
        }
        before = Some(meeting);
    }
    Ok(None)
}

fn at(diff: &Diff, a: &Run, b: &Run, meeting: Meeting, bar: &Bar) -> Outcome<Vec<Compared>> {
    let mut compared = Vec::new();
    for part in a.lines.chosen(diff.rank, meeting.a)? {
        let rank = a.lines.several.then_some(part.rank);
        let other = b.lines.part(part.rank)?;
        let (one, other) = (a.lines.load(part, meeting.a)?, b.lines.load(other, meeting.b)?);
        bar.advance(one.file_bytes());
        compared.push(diff.compared(rank, one, other)?);
    }
    Ok(compared)
}

fn print_same(a: &Run, b: &Run, common: &[Meeting]) {
    let number = common.len();
    let only = a.checkpoints.len() + b.checkpoints.len() - 2 * number;
    render::print(&format!("The same at {}.\n", render::count(number, "visit")));
    if only > 0 {
        render::print(&format!(
            "{} of one run only could not be compared.\n",
            render::count(only, "checkpoint")
        ));
    }
}

fn print_parting(common: &[Meeting], parting: &Parting) {
    let Meeting {
        visit,
        a: id,
        b: other,
    } = parting.meeting;
    let same: Vec<u64> = common
        .iter()
        .map(|one| one.visit)
        .filter(|earlier| *earlier < visit)
        .collect();
    let mut text = match same.is_empty() {
        true => String::new(),
        false => format!("The same at visits {}.\n", visits(same.iter())),
    };
    let ranks: Vec<u32> = parting
        .compared
        .iter()
        .filter(|one| !one.list.is_empty())
        .filter_map(|one| one.rank)
        .collect();
    let on = rank_list(&ranks).map_or_else(String::new, |ranks| format!(", on {ranks}"));
    text += &format!("The runs part at visit {visit}: checkpoint {id} of a, {other} of b{on}.\n\n");
    render::print(&text);
    for one in parting.compared.iter().filter(|one| !one.list.is_empty()) {
        if let Some(rank) = one.rank {
            render::print(&format!("rank {rank}\n"));
        }
        print_differences(&one.list);
    }
}

/// Into how many parts the next comparison divides the interval in which the runs part.
const PARTS: u64 = 10;

/// What brings the reader closer to the cause.
fn next_step(diff: &Diff, parting: &Parting, runs: [(&Path, Option<&Start>); 2]) -> String {
    let visit = parting.meeting.visit;
    let (before, between) = match parting.before {
        Some(before) => (before.visit, format!("visits {} and {visit}", before.visit)),
        None => (0, format!("start and visit {visit}")),
    };
    let happens = format!("What makes them part happens between the {between}.\n");
    let interval = visit.saturating_sub(before);
    if interval <= 1 {
        return happens;
    }
    let every = interval.div_ceil(PARTS);
    let number = render::count(usize::try_from(visit / every).unwrap_or(usize::MAX), "checkpoint");
    format!(
        "{happens}To come closer, repeat both with more checkpoints, into stores of their own, and compare again.\n\
         Each keeps {number} until there; behind visit {visit} it may be stopped (Ctrl-C).\n\
         They write their results again: where the old ones are to stay, start them in a copy of the folder.\n{}{}",
        match runs.iter().all(|(_, start)| start.is_some()) {
            true => "",
            false => "Which program it was, and its arguments, a store does not say: write them.\n",
        },
        again::commands(every, runs, &diff.repeated())
    )
}

fn print_json(common: &[Meeting], parting: Option<&Parting>) {
    let meeting = |one: &Meeting| json!({ "visit": one.visit, "a": one.a.0, "b": one.b.0 });
    let differences =
        |parting: &Parting| -> Vec<Value> { parting.compared.iter().flat_map(Compared::as_json).collect() };
    render::print_json(&json!({
        "same": parting.is_none(),
        "compared": common.iter().map(meeting).collect::<Vec<_>>(),
        "last_same": match parting {
            Some(parting) => parting.before.as_ref().map(meeting),
            None => common.last().map(meeting),
        },
        "parted": parting.map(|parting| meeting(&parting.meeting)),
        "differences": parting.map(differences).unwrap_or_default(),
    }));
}
