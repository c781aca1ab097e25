//! The life of a job, from what its processes have noted: `Life` adds it up, `facts` says how it stands now, `model` what was to be expected and what
//! would be better, `page` draws.

mod facts;
mod model;
mod page;

use std::collections::BTreeMap;
use std::path::Path;

use ckpt::session::events::{Event, Repair, What};
use ckpt::session::job::{Job, State};
use ckpt::store::CheckpointId;
use serde::Serialize;

pub use facts::facts;
pub use page::{body, page, style};

use crate::failure::Outcome;
use crate::render;
use crate::stores::{self, lines::Lines};

/// A job.
#[derive(Debug, Serialize)]
pub struct Life {
    /// What its last process says.
    pub job: Job,
    /// Its processes, the oldest first.
    pub processes: Vec<Process>,
    /// Sums over all of them.
    pub totals: Totals,
    /// What the model says.
    pub advice: Option<model::Advice>,
    /// Checkpoints that are there and cannot be restored, as the program's files cannot be brought back; why.
    pub out_of_reach: BTreeMap<u64, String>,
    /// Lines of its log that say nothing that could be read: what stood there is missing here.
    pub unreadable_lines: usize,
}

/// One process of the job.
#[derive(Debug, Clone, Serialize)]
pub struct Process {
    /// Seconds since 1970.
    pub began: f64,
    /// Its last sign of life, in the same.
    pub ended: f64,
    /// Its number.
    pub pid: u32,
    /// Where it ran.
    pub host: String,
    /// The checkpoint that it continued from.
    pub restarted_from: Option<u64>,
    /// How it ended; none for one that was killed, or runs.
    pub state: Option<State>,
    /// Why, where it said so.
    pub reason: Option<String>,
    /// Whether it runs.
    pub running: bool,
    /// Whether it may run, on another host or in another container.
    pub may_run: bool,
    /// Its checkpoints.
    pub checkpoints: Vec<Checkpoint>,
    /// When a checkpoint could not be taken.
    pub not_taken: Vec<f64>,
    /// How it went back to a state that it had taken, where it ended so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rolled_back: Option<Rollback>,
    /// How other ranks than the first went back without the others, while these went on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub alone: Vec<Rollback>,
    /// Variables that were wrong and were put right, while all else went on.
    pub repairs: Vec<Repaired>,
}

/// A variable that was wrong, and was put right alone.
#[derive(Debug, Clone, Serialize)]
pub struct Repaired {
    /// When it was told, in seconds since 1970.
    pub at: f64,
    /// The site visit.
    pub visits: u64,
    /// The function.
    pub function: String,
    /// The variable.
    pub variable: String,
    /// How.
    pub how: Repair,
    /// Bytes of the blocks that were put right.
    pub bytes: usize,
    /// Seconds that it took.
    pub took: f64,
}

impl Repaired {
    /// It, in words.
    pub fn words(&self) -> String {
        let Repaired {
            visits,
            function,
            variable,
            how,
            ..
        } = self;
        format!(
            "`{variable}` of `{function}` {} at site visit {visits}",
            how.words()
        )
    }
}

/// A rollback, with which what its process was to do begins anew from an older state.
#[derive(Debug, Clone, Serialize)]
pub struct Rollback {
    /// The site visit that it was at.
    pub visits: u64,
    /// The checkpoint that it went back to, or the one before the snapshot.
    pub to: Option<u64>,
    /// The site visit of the snapshot that it went back to, if it is that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<u64>,
    /// Why, with the variable if one is known.
    pub reason: String,
    /// Seconds of computation that it took back.
    pub lost: f64,
    /// The rank that went back, if it did so without the others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rank: Option<u32>,
}

impl Rollback {
    /// Where it went back to, in words.
    pub fn target(&self) -> String {
        match (self.snapshot, self.to) {
            (Some(visits), _) => format!("the snapshot of site visit {visits}"),
            (None, Some(id)) => format!("checkpoint {}", CheckpointId(id)),
            (None, None) => "the newest checkpoint".to_owned(),
        }
    }

    /// It, in words.
    pub fn words(&self) -> String {
        let Rollback {
            visits,
            reason,
            lost,
            rank,
            ..
        } = self;
        let (target, lost) = (self.target(), time(*lost));
        let alone = rank.map_or_else(String::new, |rank| format!("rank {rank} alone, "));
        format!("{alone}from site visit {visits} to {target}, {lost} lost: {reason}")
    }
}

/// A checkpoint that is, or was, on the disk.
#[derive(Debug, Clone, Serialize)]
pub struct Checkpoint {
    /// When, in seconds since 1970.
    pub at: f64,
    /// Its number.
    pub id: u64,
    /// The site visit.
    pub visits: u64,
    /// Seconds that the program stood still.
    pub waited: f64,
    /// Seconds until it was on the disk.
    pub took: f64,
    /// Size of its state.
    pub bytes: u64,
}

/// Sums.
#[derive(Debug, Default, Serialize)]
pub struct Totals {
    /// Seconds that the processes ran.
    pub ran: f64,
    /// Checkpoints.
    pub checkpoints: usize,
    /// Processes that were killed or failed.
    pub failures: usize,
    /// How often a process went back to an older state.
    pub rollbacks: usize,
    /// How often a variable alone was put right.
    pub repairs: usize,
    /// Seconds that the program stood still for checkpoints.
    pub waited: f64,
    /// Seconds of computation that no checkpoint had kept when its process was killed, or failed, and that rollbacks took back.
    pub lost: f64,
    /// The two together, as a share of the time that the processes ran.
    pub waste: f64,
}

impl Process {
    /// Whether it died without having been asked to end.
    pub fn failed(&self) -> bool {
        self.is_over() && self.rolled_back.is_none() && matches!(self.state, None | Some(State::Failed))
    }

    /// Whether it is known to run no more.
    fn is_over(&self) -> bool {
        !self.running && !self.may_run
    }

    /// What it computed after its last checkpoint, if that is lost.
    fn lost(&self) -> f64 {
        let alone: f64 = self.alone.iter().map(|back| back.lost).sum();
        if let Some(back) = &self.rolled_back {
            return alone + back.lost;
        }
        let kept = self.checkpoints.last().map_or(self.began, |last| last.at);
        if self.failed() {
            (self.ended - kept).max(0.0)
        } else {
            alone
        }
    }

    /// The rollbacks while it ran, the oldest first.
    fn rollbacks(&self) -> impl Iterator<Item = &Rollback> {
        self.alone.iter().chain(&self.rolled_back)
    }

    /// How it ended, in words.
    pub fn ending(&self) -> String {
        match self.state {
            _ if self.running => "runs".into(),
            None if self.may_run => "runs, or was killed".into(),
            _ if self.rolled_back.is_some() => "rolled back".into(),
            None => "was killed".into(),
            Some(State::Completed) => "completed".into(),
            Some(State::Left) => "ended without closing its session".into(),
            Some(State::Stopped) => "checkpointed and stopped".into(),
            Some(State::Failed) => "failed".into(),
            Some(State::Refused) => "refused".into(),
            Some(State::Running | State::Returned) => "ended".into(),
        }
    }
}

impl Life {
    /// Adds up what has happened.
    pub fn of(job: Job, events: &[Event]) -> Life {
        let mut processes = processes(events);
        let runs = crate::stores::is_running(&job);
        if let Some(last) = processes.last_mut() {
            let updated = seconds(&job.updated);
            last.ended = last.ended.max(updated.unwrap_or(0.0));
            last.running = runs && last.state.is_none();
            last.may_run = crate::stores::may_run(&job) && last.state.is_none();
            if last.running {
                last.ended = last.ended.max(now());
            }
        }
        guess_deaths(&mut processes);
        let sum = |of: &dyn Fn(&Process) -> f64| processes.iter().map(of).sum::<f64>();
        let ran = sum(&|one| one.ended - one.began);
        let waited = sum(&|one| one.checkpoints.iter().map(|one| one.waited).sum());
        let lost = sum(&Process::lost);
        let totals = Totals {
            ran,
            checkpoints: processes.iter().map(|one| one.checkpoints.len()).sum(),
            failures: processes.iter().filter(|one| one.failed()).count(),
            rollbacks: processes.iter().map(|one| one.rollbacks().count()).sum(),
            repairs: processes.iter().map(|one| one.repairs.len()).sum(),
            waited,
            lost,
            waste: if ran > 0.0 { (waited + lost) / ran } else { 0.0 },
        };
        let advice = model::advice(&processes, &totals);
        Life {
            job,
            processes,
            totals,
            advice,
            out_of_reach: BTreeMap::new(),
            unreadable_lines: 0,
        }
    }

    /// The rollbacks, the oldest first.
    pub fn rollbacks(&self) -> impl Iterator<Item = &Rollback> {
        self.processes.iter().flat_map(Process::rollbacks)
    }

    /// What was put right, the oldest first.
    pub fn repairs(&self) -> impl Iterator<Item = &Repaired> {
        self.processes.iter().flat_map(|one| &one.repairs)
    }

    /// How many processes there were: one that rolled back goes on.
    pub fn process_count(&self) -> usize {
        let ended = self.processes.iter().filter(|one| one.rolled_back.is_none());
        let goes_on = self.processes.last().is_some_and(|one| one.rolled_back.is_some());
        ended.count() + usize::from(goes_on)
    }
}

/// The life of a job of a store, and which of its checkpoints cannot be restored.
///
/// # Errors
/// The store cannot be looked at.
pub fn life(store: &Path, job: Job) -> Outcome<Life> {
    let home = stores::home(store);
    let (events, unreadable) = ckpt::session::events::read_with_losses(&home, job.run);
    let mut life = Life {
        unreadable_lines: unreadable,
        ..Life::of(job, &events)
    };
    let lines = Lines::of_run(store, Some(life.job.run))?;
    for (id, ranks) in lines.out_of_reach(&lines.list()?)? {
        let why = ranks.first().map_or_else(String::new, |(_, why)| why.to_string());
        life.out_of_reach.insert(id.0, why);
    }
    Ok(life)
}

/// Nobody notes when a process is killed: half way to its next checkpoint, on average, and before the next process began.
fn guess_deaths(processes: &mut [Process]) {
    let Some(gap) = model::interval(processes) else {
        return;
    };
    for index in 0..processes.len() {
        let next = processes.get(index + 1).map_or(f64::INFINITY, |next| next.began);
        let one = &mut processes[index];
        if one.state.is_none() && one.is_over() {
            let kept = one.checkpoints.last().map_or(one.began, |last| last.at);
            one.ended = one.ended.max(next.min(kept + gap / 2.0));
        }
    }
}

fn now() -> f64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0.0, |since| since.as_secs_f64())
}

fn seconds(text: &str) -> Option<f64> {
    let time = humantime::parse_rfc3339(text).ok()?;
    Some(time.duration_since(std::time::UNIX_EPOCH).ok()?.as_secs_f64())
}

fn processes(events: &[Event]) -> Vec<Process> {
    let mut list: Vec<Process> = Vec::new();
    for event in events {
        if let What::Start {
            pid,
            host,
            restarted_from,
            ..
        } = &event.what
        {
            list.push(Process {
                began: event.at,
                ended: event.at,
                pid: *pid,
                host: host.clone(),
                restarted_from: *restarted_from,
                state: None,
                reason: None,
                running: false,
                may_run: false,
                checkpoints: Vec::new(),
                not_taken: Vec::new(),
                rolled_back: None,
                alone: Vec::new(),
                repairs: Vec::new(),
            });
        }
        // When the states were taken that are on the disk, of whichever process.
        let taken = |list: &[Process], wanted: u64| {
            let all = list.iter().flat_map(|one| &one.checkpoints).rev();
            let found = { all }.find(|one| one.id == wanted);
            found.map(|one| one.at - one.took + one.waited)
        };
        let went_back_to = match &event.what {
            What::Rollback { to: Some(id), .. } => taken(&list, *id),
            _ => None,
        };
        let Some(last) = list.last_mut() else { continue };
        last.ended = event.at;
        match &event.what {
            What::Checkpoint {
                id,
                visits,
                waited,
                took,
                bytes,
                ..
            } => last.checkpoints.push(Checkpoint {
                at: event.at,
                id: *id,
                visits: *visits,
                waited: *waited,
                took: *took,
                bytes: *bytes,
            }),
            What::Failed { .. } => last.not_taken.push(event.at),
            What::End { state, reason, .. } => (last.state, last.reason) = (Some(*state), reason.clone()),
            What::Rollback {
                to,
                snapshot,
                visits,
                reason,
                lost,
                alone,
                rank,
            } => {
                let began = last.began;
                let back = Rollback {
                    visits: *visits,
                    to: *to,
                    snapshot: *snapshot,
                    reason: reason.clone(),
                    lost: lost.unwrap_or_else(|| (event.at - went_back_to.unwrap_or(began)).max(0.0)),
                    rank: rank.filter(|_| *alone),
                };
                // The first rank keeps the record, and goes on.
                if back.rank.is_some_and(|rank| rank > 0) {
                    last.alone.push(back);
                    continue;
                }
                last.state = Some(State::Failed);
                last.reason = Some(back.words());
                last.rolled_back = Some(back);
            }
            What::Repair {
                visits,
                function,
                variable,
                how,
                bytes,
                took,
            } => last.repairs.push(Repaired {
                at: event.at,
                visits: *visits,
                function: function.clone(),
                variable: variable.clone(),
                how: *how,
                bytes: *bytes,
                took: *took,
            }),
            What::Start { .. } | What::Resume { .. } | What::Flip { .. } => {}
        }
    }
    list
}

/// So many seconds, for people.
pub fn time(seconds: f64) -> String {
    render::duration(std::time::Duration::from_secs_f64(seconds.max(0.0)))
}

/// What has been lost, for people.
pub fn cost(seconds: f64) -> String {
    match seconds {
        ..=0.0 => "nothing".to_owned(),
        short if short < 1e-3 => render::short_time(short * 1e9),
        _ => time(seconds),
    }
}

/// A share, for people.
pub fn percent(share: f64) -> String {
    match share {
        share if share < 0.001 => format!("{:.3} %", share * 100.0),
        share => format!("{:.1} %", share * 100.0),
    }
}

/// How many checkpoints could not be taken, behind how many were.
fn not_taken(number: usize) -> String {
    match number {
        0 => String::new(),
        number => format!(" ({number} more could not be taken)"),
    }
}

/// The report for a terminal.
pub fn words(life: &Life) -> String {
    let Life { job, totals, .. } = life;
    let mut text = format!(
        "{} {}: {}, {}{}, {}{}{}; ran {}\ncommand: {}\n\n",
        job.program,
        job.version,
        match life.process_count() {
            1 => "1 process".to_owned(),
            number => format!("{number} processes"),
        },
        render::count(totals.checkpoints, "checkpoint"),
        not_taken(life.processes.iter().map(|one| one.not_taken.len()).sum()),
        render::count(totals.failures, "failure"),
        match totals.rollbacks {
            0 => String::new(),
            number => format!(", {}", render::count(number, "rollback")),
        },
        match totals.repairs {
            0 => String::new(),
            number => format!(", {}", render::count(number, "repair")),
        },
        time(totals.ran),
        render::command_line(&job.command)
    );
    for one in &life.processes {
        let from = one
            .restarted_from
            .map_or_else(String::new, |id| format!(" from checkpoint {id}"));
        let reason = one
            .reason
            .as_ref()
            .map_or_else(String::new, |reason| format!(" ({reason})"));
        text += &format!(
            "  {} on {}{from}: {}{} in {}, {}{reason}\n",
            one.pid,
            one.host,
            render::count(one.checkpoints.len(), "checkpoint"),
            not_taken(one.not_taken.len()),
            time(one.ended - one.began),
            one.ending()
        );
    }
    text += &format!(
        "\nwaited for checkpoints  {}\ncomputed in vain        {}\nwaste                   {}\n",
        cost(totals.waited),
        cost(totals.lost),
        percent(totals.waste)
    );
    if totals.repairs > 0 {
        text.push('\n');
    }
    for one in life.repairs() {
        text += &format!("put right: {}\n", one.words());
    }
    if let Some(advice) = &life.advice {
        text += &format!("\n{}\n", advice.words());
    }
    for (id, why) in &life.out_of_reach {
        text += &format!("\ncheckpoint {} cannot be restored: {why}\n", CheckpointId(*id));
    }
    text
}

#[cfg(test)]
mod tests {
    use ckpt::session::events::Parts;

    use super::*;

    fn job() -> Job {
        serde_json::from_str(
            r#"{"run": "0123456789abcdef0123456789abcdef", "program": "heat", "version": "1.0", "pid": 2, "host": "elsewhere", "started": "1970-01-01T00:02:00Z", "updated": "1970-01-01T00:03:20Z",
            "state": "completed", "visits": 40, "restarted_from": 2, "last_checkpoint": 3, "failed_checkpoints": 0, "command": ["heat"], "reason": null}"#,
        )
        .unwrap()
    }

    /// On another host, and in another container of this one, nobody sees from here whether a process runs.
    #[test]
    fn a_job_that_cannot_be_seen_from_here_is_not_said_to_have_been_killed() {
        let text = |host: &str, namespace: u64| {
            format!(
                r#"{{"run": "0123456789abcdef0123456789abcdef", "program": "heat", "version": "1.0", "pid": 4294967295, "host": "{host}", "started": "", "updated": "",
                "namespace": {namespace}, "state": "running", "visits": 40, "restarted_from": null, "last_checkpoint": 3, "failed_checkpoints": 0, "command": [], "reason": null}}"#
            )
        };
        let name = nix::sys::utsname::uname().unwrap();
        let here = name.nodename().to_string_lossy();
        let own = std::fs::metadata("/proc/self/ns/pid").unwrap();
        let own = std::os::unix::fs::MetadataExt::ino(&own);
        for (host, namespace, may_run) in [
            ("elsewhere", own, true),
            (&*here, own + 1, true),
            (&here, own, false),
        ] {
            let job: Job = serde_json::from_str(&text(host, namespace)).unwrap();
            let start = What::Start {
                pid: 4294967295,
                host: host.into(),
                visits: 0,
                restarted_from: None,
            };
            let run = job.run;
            let life = Life::of(
                job,
                &[Event {
                    at: 1.0,
                    run,
                    what: start,
                }],
            );
            assert_eq!(life.totals.failures, usize::from(!may_run), "{host} {namespace}");
            let said = facts(&life, None)[0].1.clone();
            assert_eq!(said.starts_with("runs, or was killed"), may_run, "{said}");
        }
    }

    fn events() -> Vec<Event> {
        let checkpoint = |id: u64| What::Checkpoint {
            id,
            visits: 10 * id,
            waited: 0.5,
            took: 1.0,
            bytes: 1000,
            file: 900,
            reason: "every 10".into(),
            parts: Parts::default(),
        };
        let start = |pid, restarted_from| What::Start {
            pid,
            host: "node<1>".into(),
            visits: 0,
            restarted_from,
        };
        let end = What::End {
            state: State::Completed,
            visits: 40,
            reason: None,
        };
        let all = [
            (10.0, start(1, None)),
            (30.0, checkpoint(1)),
            (50.0, checkpoint(2)),
            (
                65.0,
                What::Failed {
                    visits: 21,
                    why: "disk".into(),
                },
            ),
            (120.0, start(2, Some(2))),
            (140.0, checkpoint(3)),
            (200.0, end),
        ];
        let run = job().run;
        all.into_iter()
            .map(|(at, what)| Event { at, run, what })
            .collect()
    }

    #[test]
    fn waste_is_what_was_waited_for_and_what_was_computed_in_vain() {
        let life = Life::of(job(), &events());
        assert_eq!(life.processes.len(), 2);
        assert_eq!((life.totals.failures, life.totals.checkpoints), (1, 3));
        assert_eq!(
            (life.totals.ran, life.totals.waited, life.totals.lost),
            (55.0 + 80.0, 1.5, 15.0),
            "the last word counts, later than half an interval"
        );
        assert!((life.totals.waste - 16.5 / 135.0).abs() < 1e-12);
        let words = words(&life);
        assert!(
            words.starts_with(
                "heat 1.0: 2 processes, 3 checkpoints (1 more could not be taken), 1 failure; ran 2 min 15 s"
            ),
            "{words}"
        );
        assert!(
            words.contains("was killed") && words.contains("completed"),
            "{words}"
        );
    }

    #[test]
    fn rollbacks_are_told_with_their_cause_and_what_they_cost() {
        let mut events = events();
        let back = |snapshot: Option<u64>, lost| What::Rollback {
            to: Some(3),
            snapshot,
            visits: 33,
            reason: "`heat` of `advance` is not plausible".into(),
            lost,
            alone: false,
            rank: None,
        };
        let start = What::Start {
            pid: 2,
            host: "node<1>".into(),
            visits: 30,
            restarted_from: Some(3),
        };
        let run = job().run;
        let all = [
            (150.0, back(None, None)),
            (151.0, start.clone()),
            (160.0, back(Some(32), Some(0.25))),
            (161.0, start),
        ];
        let at = events.len() - 1;
        events.splice(at..at, all.into_iter().map(|(at, what)| Event { at, run, what }));
        let life = Life::of(job(), &events);
        assert_eq!(
            (life.process_count(), life.totals.failures, life.totals.rollbacks),
            (2, 1, 2)
        );
        let lost: Vec<f64> = life.rollbacks().map(|one| one.lost).collect();
        assert_eq!(
            lost,
            [10.5, 0.25],
            "since the checkpoint was taken, not since it was written"
        );
        assert_eq!(life.totals.lost, 15.0 + 10.75);
        let words = words(&life);
        assert!(
            words.starts_with("heat 1.0: 2 processes, 3 checkpoints (1 more could not be taken), 1 failure, 2 rollbacks; ran "),
            "{words}"
        );
        for told in [
            "rolled back (from site visit 33 to checkpoint 000003, 10.5 s lost: `heat` of `advance` is not plausible)",
            "rolled back (from site visit 33 to the snapshot of site visit 32, 250 ms lost: `heat`",
        ] {
            assert!(words.contains(told), "{words}");
        }
        let facts = facts(&life, None);
        let fact = facts.iter().find(|(name, _)| *name == "rollbacks").unwrap();
        assert!(
            fact.1
                .starts_with("2, 10.8 s lost; the last from site visit 33 to the snapshot of "),
            "{fact:?}"
        );
        let page = page(&life);
        assert!(
            page.contains("<h2>Rollbacks</h2>") && page.matches("class=rollback").count() == 2,
            "{page}"
        );
    }

    #[test]
    fn a_rank_that_went_back_alone_is_told_of_while_the_others_go_on() {
        let mut events = events();
        let run = job().run;
        let back = |rank| What::Rollback {
            to: Some(3),
            snapshot: Some(32),
            visits: 33,
            reason: "`heat` is wrong".into(),
            lost: Some(0.5),
            alone: true,
            rank: Some(rank),
        };
        let at = events.len() - 1;
        let what = back(2);
        events.insert(at, Event { at: 150.0, run, what });
        let life = Life::of(job(), &events);
        assert_eq!((life.process_count(), life.totals.rollbacks), (2, 1));
        assert_eq!(life.totals.lost, 15.0 + 0.5);
        let told = life.rollbacks().map(Rollback::words).collect::<Vec<_>>();
        assert_eq!(
            told,
            [
                "rank 2 alone, from site visit 33 to the snapshot of site visit 32, 500 ms lost: `heat` is wrong"
            ]
        );
        assert!(page(&life).contains("rank 2 alone"), "{}", page(&life));
        // The first rank keeps the record, which says how it went on.
        events[at].what = back(0);
        let life = Life::of(job(), &events);
        assert!(life.processes[1].rolled_back.is_some(), "{:?}", life.processes);
    }

    #[test]
    fn repairs_are_told_with_their_variable() {
        let mut events = events();
        let repair = |variable: &str, how, took| What::Repair {
            visits: 21,
            function: "solve".into(),
            variable: variable.into(),
            how,
            bytes: 4096,
            took,
        };
        let run = job().run;
        let all = [
            (124.0, repair("mesh", Repair::MadeAgain, 0.001)),
            (125.0, repair("matrix", Repair::MachineCheck, 0.0)),
        ];
        let at = events.len() - 1;
        events.splice(at..at, all.into_iter().map(|(at, what)| Event { at, run, what }));
        let life = Life::of(job(), &events);
        assert_eq!((life.totals.repairs, life.totals.rollbacks), (2, 0));
        let words = words(&life);
        for told in [
            ", 2 repairs; ran ",
            "put right: `mesh` of `solve` was made again at site visit 21\n",
            "put right: `matrix` of `solve` was put back where the machine had lost it at site visit 21\n",
        ] {
            assert!(words.contains(told), "{words}");
        }
        let facts = facts(&life, None);
        let fact = facts.iter().find(|(name, _)| *name == "repairs").unwrap();
        assert!(
            fact.1.starts_with("2; the last `matrix` of `solve` was put back"),
            "{fact:?}"
        );
        let page = page(&life);
        assert_eq!(page.matches("class=repair>").count(), 2, "{page}");
    }

    #[test]
    fn the_page_has_every_checkpoint_and_failure_and_nothing_from_outside() {
        let page = page(&Life::of(job(), &events()));
        assert_eq!(page.matches("class=checkpoint").count(), 3);
        assert_eq!(page.matches("class=failure").count(), 1);
        assert_eq!(page.matches("class=nottaken").count(), 1);
        assert!(
            page.contains("node&lt;1&gt;") && !page.contains("node<1>"),
            "{page}"
        );
        assert!(!page.contains("http") && !page.contains("src="), "{page}");
    }
}
