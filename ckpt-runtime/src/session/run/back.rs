//! Going back to a checkpoint without being started again.
//!
//! Which one: the newest of the run. Where the program comes to ask again without having come past the place where it asked, that
//! one may hold what is wrong, and it is the one before; after some times the program is told that going back does not help.

use std::sync::Arc;

use super::super::again::{self, not_begun};
use super::super::events::What;
use super::super::job::{Record, Rollbacks};
use super::super::machine_check;
use super::{Kind, Run};
use crate::base::current;
use crate::base::own_threads;
use crate::base::report::say;
use crate::base::rollback::NotRolledBack;
use crate::base::run_id::{RunId, RunPrefix};
use crate::base::sorted;
use crate::context::rollback::{Asked, GoesOn, Leaves};
use crate::format::{CheckpointId, InMemory};
use crate::session::policy::GoesBack;
use crate::state::process::Process;
use crate::storage::{Journals, Store};
use crate::team::{self};
use crate::thread;
use crate::value::release_unused;

/// Why a program goes back in a test.
pub(super) const TEST: &str = "a test wants it";

/// What a program can go back to.
#[derive(Debug, Clone)]
pub(in super::super) struct Point {
    /// The checkpoint, or that before the snapshot.
    pub id: CheckpointId,
    pub visits: u64,
    snapshot: Option<Arc<InMemory>>,
}

impl Point {
    /// What is in memory of it, if it is no checkpoint.
    pub fn snapshot(&self) -> Option<&InMemory> {
        self.snapshot.as_deref()
    }
}

/// The checkpoints of a run, the oldest first.
pub(in super::super) fn points_of(store: &Store, run: RunId) -> Vec<Point> {
    let ids = store.ids().unwrap_or_default().into_iter();
    let mut journals = Journals::default();
    let point = |id: CheckpointId| {
        let meta = store.meta(id).ok()?;
        let can_return = meta.run == Some(run) && journals.can_return(store, &meta).is_ok();
        can_return.then_some(Point {
            id,
            visits: meta.visit,
            snapshot: None,
        })
    };
    ids.filter_map(point).collect()
}

/// Which of these it is: the newest, or the one that is asked for. Where the program has not come further than it was, that is the
/// newest up to what it went back to the last time: what is newer may hold what was wrong then.
pub(super) fn choose(mut points: Vec<Point>, asked: Option<u64>, rollbacks: Rollbacks) -> Option<Point> {
    sorted::sort_by(&mut points, |one, other| other.visits.cmp(&one.visits));
    let oldest = points.len().checked_sub(1)?;
    let at = match asked {
        Some(id) => points
            .iter()
            .position(|point| point.snapshot.is_none() && point.id.0 == id)?,
        // What it has gone back to may hold what is wrong: the one before that, if there is one.
        None if rollbacks.in_a_row > 1 => {
            let is_before = |point: &Point| point.visits < rollbacks.to;
            points.iter().position(is_before).unwrap_or(oldest)
        }
        None if rollbacks.in_all > 1 => {
            let is_of_last = |point: &Point| point.visits <= rollbacks.to;
            points.iter().position(is_of_last).unwrap_or(oldest)
        }
        None => 0,
    };
    points.into_iter().nth(at)
}

/// Decides to which of these points the program goes back, and notes that. Gives whether that is the newest as well.
///
/// # Errors
/// Going back does not help any more, or there is no such point.
pub(in super::super) fn decide(
    record: &Record,
    points: impl FnOnce() -> Vec<Point>,
    asked: Asked<'_>,
    quiet: bool,
) -> Result<(Point, bool), NotRolledBack> {
    let before = record.rollbacks();
    let rollbacks = match asked.is_a_test {
        false => before.another(asked.visits)?,
        true => before.in_another_process().another(asked.visits)?,
    };
    let id = asked.to.map(|id| id.0);
    let point = choose(points(), id, rollbacks).ok_or(NotRolledBack::NoCheckpoint { id })?;
    let back = What::Rollback {
        to: Some(point.id.0),
        snapshot: point.snapshot.as_ref().map(|_| point.visits),
        visits: asked.visits,
        reason: asked.reason.to_owned(),
        lost: { point.snapshot.as_ref() }.map(|snapshot| snapshot.age().as_secs_f64()),
        alone: false,
        rank: None,
    };
    let noted = Rollbacks {
        to: point.visits,
        ..rollbacks
    };
    record.rolls_back(noted, back, quiet);
    Ok((point, id.is_none() && rollbacks.in_all == 1))
}

impl Run {
    /// From now on the program leaves its functions for a checkpoint.
    pub(super) fn goes_back(&mut self, asked: Asked<'_>) -> Result<Leaves, NotRolledBack> {
        if self.resume.is_some() {
            return Err(NotRolledBack::Restarting);
        }
        if let Some(member) = self.world.goes_back_with() {
            return match self.goes_back_alone(asked, member) {
                true => Ok(Leaves::Unwinding),
                false => Err(self.asks_ranks(asked, member.size)),
            };
        }
        if let Some(obstacle) = self.process.as_ref().and_then(Process::obstacle) {
            return Err(NotRolledBack::Obstacle {
                what: obstacle.what(),
            });
        }
        self.wait_for_writer();
        let with_its_process = self.leaves_with_its_process().is_some();
        let points = || match with_its_process {
            // Snapshots in memory end with it.
            true => points_of(&self.store, self.id),
            false => self.points(),
        };
        let (to, is_newest) = decide(&self.ending.record, points, asked, self.quiet)?;
        self.goes_back_to = Some(to);
        self.is_shown = asked.is_shown;
        again::leaves(self.is_shown);
        self.takes_newest = is_newest;
        current::roll_back();
        if with_its_process {
            return Ok(Leaves::WithItsProcess);
        }
        if let Some(how) = self.how_to_go_on() {
            self.ending.leaves(how);
        }
        Ok(Leaves::Unwinding)
    }

    /// Whether the program has gone back, and has not come further than to where it did.
    pub(super) fn comes_back_to(&self, visits: u64) -> bool {
        let before = match self.world.goes_back_with() {
            Some(_) => self.tries,
            None => self.ending.record.rollbacks().tries(),
        };
        before.in_a_row > 0 && visits <= before.from && self.policy.rollbacks_to_come().is_empty()
    }

    /// Whether the functions of the program cannot be left in its process: threads that are no members of a team are not left from
    /// outside, and may wait for what would come; without unwinding nothing is left; a library that stays up has what it would be given again. Gives why.
    pub(super) fn leaves_with_its_process(&self) -> Option<&'static str> {
        if cfg!(panic = "abort") {
            return Some("a panic aborts it");
        }
        if !self.in_process {
            return Some("`rollback-in-process` is false");
        }
        if self.kind != Kind::RunsAgain {
            return Some("its `main` cannot be called again");
        }
        let has_others = !thread::others().is_empty() || own_threads::are_others();
        let in_no_team = has_others.then_some("threads run that are in no team");
        in_no_team.or_else(|| self.world.stands_in_the_way())
    }

    /// What the program can go back to.
    pub(super) fn points(&self) -> Vec<Point> {
        let mut points = points_of(&self.store, self.id);
        let before = |visit: u64| points.iter().rev().find(|point| point.visits <= visit);
        // Where a snapshot cannot be gone back to, the checkpoint before it is.
        let snapshots = self.snapshots.all().iter().filter_map(|snapshot| {
            let visits = snapshot.meta().visit;
            Some(Point {
                id: before(visits)?.id,
                visits,
                snapshot: Some(Arc::clone(snapshot)),
            })
        });
        let snapshots: Vec<Point> = snapshots.collect();
        points.extend(snapshots);
        points
    }

    /// How the program goes on from what it goes back to.
    pub(super) fn how_to_go_on(&self) -> Option<GoesOn> {
        let to = self.goes_back_to.as_ref()?;
        Some(GoesOn {
            id: to.id,
            is_newest: self.takes_newest,
            visits: self.store.meta(to.id).map_or(to.visits, |meta| meta.visit),
            run: RunPrefix::from(self.id),
            is_shown: self.is_shown,
            rollbacks: self.policy.rollbacks_behind(to.visits),
            flips: self.policy.flips_to_come().to_vec(),
            input: self.input,
            snapshot: to.snapshot.clone(),
            is_in_memory: to.snapshot.is_some(),
            kept: self.snapshots.up_to(to.visits),
            ends: self.ends,
            tries: self.tries,
            own_infinities: self.own_infinities.clone(),
            alone: self.alone.goes_on_with().map(Box::new),
        })
    }

    /// This is the session of a program that goes back in its process.
    pub(in super::super) fn goes_back_in_process(&self, how: GoesOn) {
        self.ending.goes_back(how);
    }

    /// The functions of the program have been left: the session is about to close.
    pub(super) fn leaves_session(&mut self) -> Option<GoesOn> {
        machine_check::forget();
        self.wait_for_writer();
        self.ready.end();
        release_unused();
        current::observe_with(None);
        current::listen(false);
        let how = self.how_to_go_on();
        match how.as_ref().is_some_and(|how| how.alone.is_some()) {
            true => self.world.walks_alone(),
            false => self.world.goes_back(),
        }
        how
    }

    /// The process begins anew for what the program goes back to.
    pub(super) fn begins_anew(&self) {
        if let Some(how) = self.how_to_go_on() {
            not_begun(&again::as_a_new_process(&how)).exit();
        }
    }

    /// Goes back at the visit at which a test wants that.
    pub(super) fn rolls_back_if_asked(&mut self, visits: u64) {
        let who = self.policy.rolls_back_at(visits);
        if who == GoesBack::Nobody || current::rolls_back() {
            return;
        }
        if who == GoesBack::All && self.world.goes_back_with().is_some() {
            return self.goes_back_together(visits, true, None);
        }
        let asked = Asked {
            reason: TEST,
            is_a_test: true,
            is_shown: true,
            to: None,
            visits,
            may_be_alone: who == GoesBack::ThisRank && !team::is_member() && !team::is_open(),
        };
        match self.goes_back(asked) {
            // Or the ranks do at a later site.
            Ok(Leaves::Unwinding) | Err(NotRolledBack::Later) => {}
            Ok(Leaves::WithItsProcess) => self.begins_anew(),
            Err(why) => say(&format!("warning[W2093]: {why}\n  the program goes on")),
        }
    }
}
