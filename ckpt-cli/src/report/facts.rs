//! What is said of a job in words: a line for each fact.

use ckpt::session::job::{Job, Rule, State};

use super::{Checkpoint, Life, Process, cost, percent, time};
use crate::render;
use crate::stores::runs::not_seen;

/// The facts about a job: name and text; `elsewhere` is said of ranks that are not here.
pub fn facts(life: &Life, elsewhere: Option<&str>) -> Vec<(&'static str, String)> {
    let (job, last) = (&life.job, life.processes.last());
    let newest = last.and_then(|one| one.checkpoints.last());
    let running = last.filter(|one| one.running);
    let mut facts = vec![
        ("state", state(job, last)),
        ("site visits", visits(job, running.is_some(), newest)),
        ("ran", ran(life)),
        ("checkpoints", checkpoints(life)),
        ("newest", newest.map_or_else(|| none_yet(job, last), measured)),
    ];
    if let Some(last) = life.rollbacks().last() {
        let lost: f64 = life.rollbacks().map(|one| one.lost).sum();
        let (number, lost, last) = (life.totals.rollbacks, time(lost), last.words());
        facts.push(("rollbacks", format!("{number}, {lost} lost; the last {last}")));
    }
    if let Some(last) = life.repairs().last() {
        facts.push((
            "repairs",
            format!("{}; the last {}", life.totals.repairs, last.words()),
        ));
    }
    if let Some(due) = running.and_then(|one| next_due(job, one, one.ended)) {
        facts.push(("next due", due));
    }
    if life.totals.checkpoints > 0 || life.totals.lost > 0.0 {
        let totals = &life.totals;
        let (waste, waited, lost) = (percent(totals.waste), cost(totals.waited), cost(totals.lost));
        facts.push((
            "waste",
            format!("{waste}: waited {waited}, computed in vain {lost}"),
        ));
    }
    facts.extend(elsewhere.map(|text| ("elsewhere", text.to_owned())));
    facts
}

fn state(job: &Job, last: Option<&Process>) -> String {
    match (last, job.state) {
        (Some(one), _) if one.running => format!("running, pid {} on {}", job.pid, job.host),
        (Some(one), _) if one.may_run => not_seen(job),
        (_, State::Running | State::Returned) => "was killed; `cargo ckpt restart` continues it".to_owned(),
        (Some(one), _) => one.ending(),
        (None, State::Left) => "ended without closing its session".to_owned(),
        (None, state) => format!("{state:?}").to_lowercase(),
    }
}

/// The program reports how far it came with each checkpoint, and at its end.
fn visits(job: &Job, runs: bool, newest: Option<&Checkpoint>) -> String {
    let known = newest.map_or(job.visits, |one| one.visits.max(job.visits));
    match (runs, known) {
        (true, 0) => "the first checkpoint tells how many".to_owned(),
        (true, known) => format!("{known} at the newest checkpoint"),
        (false, known) => known.to_string(),
    }
}

fn ran(life: &Life) -> String {
    match life.process_count() {
        0 | 1 => time(life.totals.ran),
        number => format!("{}, {number} processes together", time(life.totals.ran)),
    }
}

fn checkpoints(life: &Life) -> String {
    let failed: usize = life.processes.iter().map(|one| one.not_taken.len()).sum();
    match failed {
        0 => life.totals.checkpoints.to_string(),
        _ => format!("{}; {failed} could not be taken", life.totals.checkpoints),
    }
}

fn none_yet(job: &Job, last: Option<&Process>) -> String {
    let here = match last {
        Some(one) if one.running => "none yet",
        _ => "none",
    };
    job.restarted_from.map_or_else(
        || here.to_owned(),
        |id| format!("{here} of this process; it goes on from {id:06}"),
    )
}

fn measured(one: &Checkpoint) -> String {
    let (ago, bytes) = (ago(one.at), render::bytes(one.bytes));
    let (waited, took) = (cost(one.waited), cost(one.took));
    format!(
        "{:06}, {ago}, state of {bytes}, waited {waited}, on the disk after {took}",
        one.id
    )
}

/// When a running process takes its next checkpoint, by its rule; `now` in seconds since 1970.
fn next_due(job: &Job, process: &Process, now: f64) -> Option<String> {
    let rule = job.rule?;
    let newest = process.checkpoints.last();
    let due = [
        rule.every
            .map(|every| by_visits(every, newest.map_or(job.visits, |one| one.visits))),
        by_clock(job, rule, process, now),
    ];
    let due: Vec<String> = due.into_iter().flatten().collect();
    (!due.is_empty()).then(|| due.join("; "))
}

fn by_visits(every: u64, visits: u64) -> String {
    let next = (visits / every).saturating_add(1).saturating_mul(every);
    format!("at site visit {next}, one every {every}")
}

fn by_clock(job: &Job, rule: Rule, process: &Process, now: f64) -> Option<String> {
    let newest = process.checkpoints.last();
    let estimate = job.interval.filter(|_| newest.is_some());
    let interval = estimate.map(|estimate| estimate.interval).or(rule.seconds)?;
    // The interval begins anew where the program goes on, before the checkpoint is on the disk.
    let began = newest.map_or(process.began, |one| one.at - one.took + one.waited);
    let left = began + interval - now;
    let when = match left > 0.0 {
        true => format!("in {}", time(left)),
        false => format!(
            "now, for {}: it waits for a site, or is being written",
            time(-left)
        ),
    };
    Some(match (rule.auto, estimate) {
        (true, None) => format!("{when}; then as often as pays"),
        (true, Some(_)) => format!("{when}; one every {}, which pays best", time(interval)),
        (false, _) => format!("{when}; one every {}", time(interval)),
    })
}

/// Seconds since then, in words.
fn ago(at: f64) -> String {
    format!(
        "{} ago",
        render::duration(std::time::Duration::from_secs_f64((super::now() - at).max(0.0)))
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(rest: &str) -> Job {
        let text = format!(
            r#"{{"run": "0123456789abcdef0123456789abcdef", "program": "heat", "version": "1", "pid": 7, "host": "h", "started": "", "updated": "", "state": "running",
            "visits": 0, "restarted_from": null, "last_checkpoint": null, "failed_checkpoints": 0, "command": [], "reason": null, {rest}}}"#
        );
        serde_json::from_str(&text).unwrap()
    }

    fn process(checkpoints: Vec<Checkpoint>) -> Process {
        Process {
            began: 1000.0,
            ended: 1020.0,
            pid: 7,
            host: "h".into(),
            restarted_from: None,
            state: None,
            reason: None,
            running: true,
            may_run: false,
            checkpoints,
            not_taken: Vec::new(),
            rolled_back: None,
            alone: Vec::new(),
            repairs: Vec::new(),
        }
    }

    fn life(job: Job, process: Process) -> Life {
        Life {
            out_of_reach: Default::default(),
            unreadable_lines: 0,
            job,
            processes: vec![process],
            totals: Default::default(),
            advice: None,
        }
    }

    fn fact(life: &Life, name: &str) -> Option<String> {
        let found = facts(life, None).into_iter().find(|(fact, _)| *fact == name);
        found.map(|(_, text)| text)
    }

    const FIRST: Checkpoint = Checkpoint {
        at: 1010.0,
        id: 3,
        visits: 25,
        waited: 1.0,
        took: 4.0,
        bytes: 9,
    };

    #[test]
    fn before_the_first_checkpoint_it_is_said_when_it_is_due() {
        for (rule, due) in [
            (r#""every": 10"#, "at site visit 10, one every 10"),
            (r#""seconds": 60.0"#, "in 40.0 s; one every 1 min 0 s"),
            (
                r#""seconds": 60.0, "auto": true"#,
                "in 40.0 s; then as often as pays",
            ),
            (
                r#""seconds": 5.0"#,
                "now, for 15.0 s: it waits for a site, or is being written; one every 5.0 s",
            ),
            (
                r#""seconds": 60.0, "every": 10"#,
                "at site visit 10, one every 10; in 40.0 s; one every 1 min 0 s",
            ),
        ] {
            let life = life(job(&format!(r#""rule": {{{rule}}}"#)), process(Vec::new()));
            assert_eq!(fact(&life, "next due").as_deref(), Some(due));
            assert_eq!(fact(&life, "newest").as_deref(), Some("none yet"));
            assert_eq!(
                fact(&life, "site visits").as_deref(),
                Some("the first checkpoint tells how many")
            );
            assert_eq!(fact(&life, "waste"), None);
        }
    }

    #[test]
    fn a_restart_says_from_which_checkpoint_it_goes_on() {
        let restarted = Job {
            visits: 25,
            restarted_from: Some(3),
            ..job(r#""rule": {"every": 10}"#)
        };
        let life = life(restarted, process(Vec::new()));
        assert_eq!(
            fact(&life, "newest").as_deref(),
            Some("none yet of this process; it goes on from 000003")
        );
        assert_eq!(
            fact(&life, "next due").as_deref(),
            Some("at site visit 30, one every 10")
        );
    }

    #[test]
    fn after_a_checkpoint_the_interval_begins_anew_where_the_program_goes_on() {
        let estimate =
            r#""interval": {"interval": 50.0, "cost": 1.0, "between_failures": 1.0, "waste": 0.1}"#;
        for (rest, due) in [
            (
                r#""rule": {"seconds": 20.0}"#.to_owned(),
                "in 7.0 s; one every 20.0 s",
            ),
            (
                format!(r#""rule": {{"seconds": 60.0, "auto": true}}, {estimate}"#),
                "in 37.0 s; one every 50.0 s, which pays best",
            ),
            (
                r#""rule": {"every": 10}"#.to_owned(),
                "at site visit 30, one every 10",
            ),
        ] {
            let life = life(job(&rest), process(vec![FIRST]));
            assert_eq!(fact(&life, "next due").as_deref(), Some(due));
        }
    }

    #[test]
    fn what_has_ended_has_no_next_checkpoint() {
        let ended = Process {
            running: false,
            may_run: false,
            ..process(vec![FIRST])
        };
        let life = life(job(r#""rule": {"every": 10}"#), ended);
        assert_eq!(fact(&life, "next due"), None);
        assert_eq!(fact(&life, "site visits").as_deref(), Some("25"));
    }
}
