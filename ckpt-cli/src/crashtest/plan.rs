//! Which kills a crash test tries: at chosen site visits, at every step of writing a checkpoint, at random instants,
//! and several in a row.

use std::time::Duration;

use serde::Serialize;

/// One kill of one process.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kill {
    /// SIGKILL at this site visit, counted from the beginning of the run, after the checkpoint taken there.
    Visit(u64),
    /// SIGKILL at this step of the next commit of a checkpoint.
    Commit(u64),
    /// SIGKILL at this fraction of the time of an uninterrupted run.
    Instant(f64),
    /// No kill: the program goes back to its newest checkpoint at this site visit, in its process.
    Rollback(u64),
    /// No kill: a bit of a variable is turned behind this site visit, chosen by the number.
    Flip(u64, u64),
    /// No kill: the same in the newest snapshot in memory.
    FlipSnapshot(u64, u64),
}

/// Which process a kill strikes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Victim {
    /// The only one.
    #[default]
    Process,
    /// One rank of an MPI program.
    Rank(u32),
    /// All its ranks.
    All,
    /// What started them.
    Launcher,
}

impl Victim {
    /// Who it is, in front of what happens to it.
    pub fn words(self) -> String {
        match self {
            Victim::Process => String::new(),
            Victim::Rank(rank) => format!("rank {rank} "),
            Victim::All => "all ranks ".into(),
            Victim::Launcher => "the launcher ".into(),
        }
    }

    /// The rank, as it follows a fault.
    fn suffix(self) -> String {
        match self {
            Victim::Rank(rank) => format!("@{rank}"),
            Victim::Process | Victim::All | Victim::Launcher => String::new(),
        }
    }

    /// Whether it is the only process there is.
    fn is_the_process(&self) -> bool {
        *self == Victim::Process
    }
}

/// What a trial is there to show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// No kill: taking checkpoints changes nothing.
    Uninterrupted,
    /// A kill at a site visit.
    Visit,
    /// A kill while a checkpoint is written, after others have been.
    Commit,
    /// A kill at a random instant.
    Instant,
    /// Several kills, each of the process that the last restart began.
    Row,
    /// A rollback at a site visit.
    Rollback,
    /// Several rollbacks, one after the other.
    Rollbacks,
    /// A rollback that one rank of several asks for: it goes back without the others where it can.
    RollbackOfOne,
    /// A bit is turned in a variable.
    Flip,
    /// Bits are turned one after the other, in variables and snapshots.
    Flips,
}

/// One trial: kills in order, then a process that runs to the end.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Trial {
    /// What it is there to show.
    pub kind: Kind,
    /// The kills, in order.
    pub kills: Vec<Kill>,
    /// Whom they strike.
    #[serde(skip_serializing_if = "Victim::is_the_process")]
    pub victim: Victim,
    /// The first process takes a checkpoint at every so many visits.
    pub every: u64,
    /// The restarted ones at every so many.
    pub then_every: u64,
    /// One that goes back keeps its state in memory at every so many.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snapshot_every: Option<u64>,
}

/// How many trials of each kind.
#[derive(Debug, Clone, Copy)]
pub struct Amount {
    /// Kills at site visits; all visits when there are fewer.
    pub sites: u64,
    /// Kills at steps of a commit, from the first step on.
    pub commits: u64,
    /// Kills at random instants.
    pub random: u64,
    /// Trials with several kills in a row.
    pub rows: u64,
    /// Checkpoint interval in visits, when the user chose one.
    pub every: Option<u64>,
    /// Seed of the random choices.
    pub seed: u64,
    /// How many processes the program has, if it is one of MPI.
    pub ranks: Option<u32>,
}

/// Checkpoints that a store keeps by default.
const KEPT: u64 = 2;
const KILLS_IN_A_ROW: usize = 3;
/// Most checkpoints of a process that goes back.
const MOST_CHECKPOINTS: u64 = 200;
/// Snapshots in memory for each checkpoint, where a process goes back to them.
const SNAPSHOTS: u64 = 3;
/// Checkpoints over a whole run when the user chose no interval.
const CHECKPOINTS: u64 = 20;

impl Kind {
    /// The kind in words, for tables.
    pub fn words(self) -> &'static str {
        match self {
            Kind::Uninterrupted => "checkpoints, no kill",
            Kind::Visit => "killed at a site",
            Kind::Commit => "killed in a commit",
            Kind::Instant => "killed at any instant",
            Kind::Row => "killed several times",
            Kind::Rollback => "rolled back at a site",
            Kind::Rollbacks => "rolled back several times",
            Kind::RollbackOfOne => "one rank rolled back",
            Kind::Flip => "a bit turned",
            Kind::Flips => "several bits turned",
        }
    }
}

/// Plans the trials for a program that makes `visits` site visits.
pub fn plan(visits: u64, amount: Amount) -> Vec<Trial> {
    let mut random = fastrand::Rng::with_seed(amount.seed);
    let every = amount.every.unwrap_or((visits / CHECKPOINTS).max(1));
    let trial = |kind, kills, first: u64| Trial {
        kind,
        kills,
        victim: Victim::Process,
        every: first,
        then_every: first.max(every),
        snapshot_every: None,
    };
    let mut trials = vec![trial(Kind::Uninterrupted, Vec::new(), every)];
    for visit in spread(visits, amount.sites, &mut random) {
        // Unless the user wants otherwise, take the checkpoint at the very visit of the kill: the restart resumes right there,
        // and then takes them no more often than an uninterrupted run.
        let every = amount.every.unwrap_or(visit);
        trials.push(trial(Kind::Visit, vec![Kill::Visit(visit)], every));
    }
    trials.extend(in_commits(visits, amount));
    for _ in 0..amount.random {
        trials.push(trial(Kind::Instant, vec![Kill::Instant(random.f64())], every));
    }
    for _ in 0..amount.rows {
        let mut at: Vec<u64> = (0..KILLS_IN_A_ROW).map(|_| random.u64(1..=visits)).collect();
        at.sort_unstable();
        at.dedup();
        trials.push(trial(Kind::Row, at.into_iter().map(Kill::Visit).collect(), every));
    }
    if let Some(ranks) = amount.ranks {
        for (number, trial) in (0..).zip(&mut trials) {
            trial.victim = victim(trial.kind, number, ranks);
        }
    }
    trials
}

/// One rank after the other, and between them all at once or, where they do not have to strike themselves, the launcher.
fn victim(kind: Kind, number: u32, ranks: u32) -> Victim {
    match (kind, number % 3) {
        (Kind::Instant, 0) => Victim::Launcher,
        (Kind::Instant | Kind::Visit | Kind::Row, 1) => Victim::All,
        _ => Victim::Rank(number % ranks),
    }
}

/// Plans trials in which the program goes back in its process, where it is not killed.
pub fn plan_in_process(visits: u64, amount: Amount) -> Vec<Trial> {
    let mut random = fastrand::Rng::with_seed(amount.seed);
    let every = amount.every.unwrap_or((visits / CHECKPOINTS).max(1));
    let trial = |kind, kills, every| Trial {
        kind,
        kills,
        victim: Victim::Process,
        every,
        then_every: every,
        snapshot_every: None,
    };
    let mut trials = vec![trial(Kind::Uninterrupted, Vec::new(), every)];
    for (number, visit) in (0..).zip(spread(visits, amount.sites, &mut random)) {
        // The process goes on with as many checkpoints as there are before the visit in each stretch of this length.
        let visit = visit.max(visits / MOST_CHECKPOINTS).max(1);
        // At the very visit of a checkpoint, and some way behind one.
        let every = amount.every.unwrap_or(match number % 2 {
            0 => visit,
            _ => random.u64(visit.div_ceil(2)..=visit),
        });
        trials.push(trial(Kind::Rollback, vec![Kill::Rollback(visit)], every));
    }
    let snapshots = |number: u64| {
        let keeps = number % 2 == 1;
        keeps.then_some((every / SNAPSHOTS).max(1))
    };
    for number in 0..amount.random {
        let visit = random.u64(every.min(visits)..=visits);
        trials.push(Trial {
            snapshot_every: snapshots(number),
            ..trial(Kind::Rollback, vec![Kill::Rollback(visit)], every)
        });
    }
    for number in 0..amount.rows {
        let mut at: Vec<u64> = (0..KILLS_IN_A_ROW)
            .map(|_| random.u64(every.min(visits)..=visits))
            .collect();
        at.sort_unstable();
        // The second time from the same visit as well.
        at.insert(0, at[0]);
        let rollbacks = at.into_iter().map(Kill::Rollback).collect();
        trials.push(Trial {
            snapshot_every: snapshots(number + 1),
            ..trial(Kind::Rollbacks, rollbacks, every)
        });
    }
    let Some(ranks) = amount.ranks.filter(|ranks| *ranks > 1) else {
        return trials;
    };
    for number in 0..amount.random as u32 {
        let visit = random.u64(every.min(visits)..=visits);
        trials.push(Trial {
            victim: Victim::Rank(number % ranks),
            // As often as there is something to go back to alone.
            snapshot_every: Some(snapshots_every(visits)),
            ..trial(Kind::RollbackOfOne, vec![Kill::Rollback(visit)], every)
        });
    }
    trials
}

/// Plans trials in which bits are turned, behind the first checkpoint. Every fourth has a second one: in a variable at the visit
/// after, or in the snapshot that the program would go back to.
pub fn plan_bit_flips(visits: u64, number: u64, amount: Amount) -> Vec<Trial> {
    let mut random = fastrand::Rng::with_seed(amount.seed);
    let every = amount.every.unwrap_or((visits / CHECKPOINTS).max(1));
    let trial = |kind, kills| Trial {
        kind,
        kills,
        victim: Victim::Process,
        every,
        then_every: every,
        snapshot_every: None,
    };
    let mut trials = vec![trial(Kind::Uninterrupted, Vec::new())];
    for number in 0..number {
        let visit = random.u64(every.min(visits)..=visits);
        let mut seed = || random.u64(..1 << 32);
        let first = Kill::Flip(visit, seed());
        trials.push(match number % 8 {
            3 => trial(Kind::Flips, vec![first, Kill::Flip(visit + 1, seed())]),
            7 => trial(Kind::Flips, vec![first, Kill::FlipSnapshot(visit, seed())]),
            _ => trial(Kind::Flip, vec![first]),
        });
    }
    trials
}

/// A look at the state at every so many visits, so that there are not too many of them.
pub fn snapshots_every(visits: u64) -> u64 {
    (visits / MOST_CHECKPOINTS).max(1)
}

/// The first process leaves as many checkpoints as are kept and is killed; the second dies in a step of its first
/// commit, the one that also removes the oldest; the third goes on.
fn in_commits(visits: u64, amount: Amount) -> Vec<Trial> {
    let every = amount.every.unwrap_or((visits / 4).max(1));
    let kills = |step| vec![Kill::Visit(every * KEPT), Kill::Commit(step)];
    let trial = |step| Trial {
        kind: Kind::Commit,
        kills: kills(step),
        victim: Victim::Process,
        every,
        then_every: every,
        snapshot_every: None,
    };
    match every.checked_mul(KEPT + 1) {
        Some(needed) if needed <= visits => (1..=amount.commits).map(trial).collect(),
        _ => Vec::new(),
    }
}

/// Chooses `wanted` of the visits 1 to `visits`: the first, the last, and one at random from each of equal stretches
/// between them, so that no period in the program's loops hides a site.
fn spread(visits: u64, wanted: u64, random: &mut fastrand::Rng) -> Vec<u64> {
    if wanted >= visits {
        return (1..=visits).collect();
    }
    let inner = wanted.saturating_sub(2);
    let bound =
        |index: u64| 2 + ((u128::from(visits - 2) * u128::from(index)) / u128::from(inner.max(1))) as u64;
    let middle = (0..inner).map(|index| random.u64(bound(index)..bound(index + 1)));
    let mut list: Vec<u64> = std::iter::once(1).chain(middle).chain([visits]).collect();
    list.truncate(wanted as usize);
    list
}

impl Kill {
    /// The fault that the library injects, if it is to kill itself.
    pub fn fault(self, victim: Victim) -> Option<String> {
        let on = victim.suffix();
        match self {
            Kill::Visit(visit) => Some(format!("visit:{visit}{on}")),
            Kill::Commit(step) => Some(format!("commit-step:{step}{on}")),
            Kill::Instant(_) | Kill::Rollback(_) | Kill::Flip(..) | Kill::FlipSnapshot(..) => None,
        }
    }

    /// The faults of a process that goes back instead of being killed, as `CKPT_FAULT` has them.
    pub fn rollbacks(kills: &[Kill], victim: Victim) -> Option<String> {
        let on = victim.suffix();
        let visits: Option<Vec<String>> = kills
            .iter()
            .map(|kill| Some(format!("{}{on}", kill.rollback()?)))
            .collect();
        let visits = visits.filter(|visits| !visits.is_empty())?;
        Some(format!("rollback:{}", visits.join(",")))
    }

    /// The visit at which the program goes back instead.
    pub fn rollback(self) -> Option<u64> {
        match self {
            Kill::Rollback(visit) => Some(visit),
            _ => None,
        }
    }

    /// The bit that is turned instead, as `CKPT_FAULT` has it.
    pub fn flip(self) -> Option<String> {
        match self {
            Kill::Flip(visit, seed) => Some(format!("{visit}:{seed}")),
            Kill::FlipSnapshot(visit, seed) => Some(format!("{visit}:{seed}:snapshot")),
            _ => None,
        }
    }

    /// The time of the kill for a run of this length.
    pub fn instant(self, whole: Duration) -> Option<Duration> {
        match self {
            Kill::Instant(fraction) => Some(whole.mul_f64(fraction)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn amount(sites: u64) -> Amount {
        Amount {
            sites,
            commits: 3,
            random: 2,
            rows: 2,
            every: None,
            seed: 7,
            ranks: None,
        }
    }

    #[test]
    fn all_visits_are_tried_when_there_are_few() {
        let trials = plan(5, amount(20));
        let visits: Vec<_> = trials
            .iter()
            .filter(|trial| trial.kind == Kind::Visit)
            .map(|trial| trial.every)
            .collect();
        assert_eq!(visits, [1, 2, 3, 4, 5]);
        assert_eq!(trials.len(), 1 + 5 + 3 + 2 + 2);
    }

    #[test]
    fn visits_are_spread_from_the_first_to_the_last() {
        for wanted in [1, 2, 3, 10, 999] {
            let list = spread(1000, wanted, &mut fastrand::Rng::with_seed(1));
            assert_eq!(list.len() as u64, wanted);
            assert!(list.windows(2).all(|pair| pair[0] < pair[1]), "{list:?}");
            assert_eq!(list[0], 1);
            assert!(wanted < 2 || list.last() == Some(&1000));
        }
        assert_eq!(spread(u64::MAX, 3, &mut fastrand::Rng::with_seed(1)).len(), 3);
        assert!(spread(10, 0, &mut fastrand::Rng::with_seed(1)).is_empty());
    }

    #[test]
    fn commits_are_interrupted_only_where_there_are_enough_of_them() {
        let commits = |visits, every| in_commits(visits, Amount { every, ..amount(1) });
        assert_eq!(commits(8, None)[2].kills, [Kill::Visit(4), Kill::Commit(3)]);
        assert_eq!(commits(3, None).len(), 3);
        assert!(commits(2, None).is_empty() && commits(8, Some(3)).is_empty());
        assert!(commits(8, Some(u64::MAX)).is_empty());
    }

    #[test]
    fn the_same_seed_plans_the_same_trials() {
        assert_eq!(plan(1000, amount(10)), plan(1000, amount(10)));
        assert_ne!(
            plan(1000, amount(10)),
            plan(
                1000,
                Amount {
                    seed: 8,
                    ..amount(10)
                }
            )
        );
    }

    #[test]
    fn rollbacks_are_behind_a_checkpoint_that_there_is() {
        for visits in [1, 2, 5, 100, 1_000_000] {
            let trials = plan_in_process(visits, amount(20));
            assert!(trials.len() > 4, "{visits}");
            for trial in &trials {
                assert!(visits / trial.every <= 2 * MOST_CHECKPOINTS, "{trial:?}");
                let first = trial.kills.first().and_then(|kill| kill.rollback());
                assert!(
                    first.is_none_or(|visit| (trial.every..=visits).contains(&visit)),
                    "{trial:?}"
                );
            }
        }
    }

    #[test]
    fn some_rollbacks_lead_to_snapshots() {
        let trials = plan_in_process(100, amount(5));
        assert!(trials.iter().any(|trial| trial.snapshot_every.is_some()));
    }

    #[test]
    fn a_chosen_interval_holds_for_every_trial() {
        let trials = plan(
            100,
            Amount {
                every: Some(4),
                ..amount(5)
            },
        );
        assert!(trials.iter().all(|trial| trial.every == 4));
    }
}
