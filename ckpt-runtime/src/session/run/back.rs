//! Going back to a checkpoint without being started again.
//!
//! Which one: the newest of the run. Where the program comes to ask again without having come further, that one may hold what
//! is wrong, and it is the one before; after some times the program is told that going back does not help.

use std::sync::Arc;

use super::super::again::{self, not_begun};
use super::super::events::What;
use super::super::job::Rollbacks;
use super::{Kind, Run};
use crate::base::current;
use crate::base::report::say;
use crate::base::rollback::NotRolledBack;
use crate::base::run_id::RunPrefix;
use crate::context::rollback::{Asked, GoesOn, Leaves};
use crate::format::{CheckpointId, InMemory};
use crate::team::{self};
use crate::thread;
use crate::value::release_unused;

/// What a program can go back to.
#[derive(Debug)]
pub(super) struct Point {
    /// The checkpoint, or that before the snapshot.
    id: CheckpointId,
    visits: u64,
    snapshot: Option<Arc<InMemory>>,
}

impl Run {
    /// From now on the program leaves its functions for a checkpoint.
    pub(super) fn goes_back(&mut self, asked: Asked<'_>) -> Result<Leaves, NotRolledBack> {
        if self.resume.is_some() {
            return Err(NotRolledBack::Restarting);
        }
        if let Some(member) = self.world.member() {
            return Err(NotRolledBack::Ranks { ranks: member.size });
        }
        self.wait_for_writer();
        let before = self.ending.record.rollbacks();
        let rollbacks = match asked.is_a_test {
            false => before.another(asked.visits)?,
            true => before.in_another_process().another(asked.visits)?,
        };
        let points = self.points_newest_first();
        let to = match asked.to {
            Some(id) => points
                .into_iter()
                .find(|point| point.snapshot.is_none() && point.id == id),
            // What it has gone back to may hold what is wrong: the one before that, if there is one.
            None if rollbacks.in_a_row > 1 => {
                let is_before = |point: &Point| point.visits < rollbacks.to;
                let oldest = points.len().saturating_sub(1);
                let at = points.iter().position(is_before).unwrap_or(oldest);
                points.into_iter().nth(at)
            }
            None => points.into_iter().next(),
        };
        let Some(to) = to else {
            let id = asked.to.map(|id| id.0);
            return Err(NotRolledBack::NoCheckpoint { id });
        };
        let back = What::Rollback {
            to: Some(to.id.0),
            snapshot: to.snapshot.as_ref().map(|_| to.visits),
            visits: asked.visits,
            reason: asked.reason.to_owned(),
        };
        let rollbacks = Rollbacks {
            to: to.visits,
            ..rollbacks
        };
        self.ending.record.rolls_back(rollbacks, back, self.quiet);
        self.goes_back_to = Some(to);
        self.is_a_test = asked.is_a_test;
        current::roll_back();
        // Threads are not left from outside, and without unwinding nothing is.
        let unwinds = !cfg!(panic = "abort") && !team::is_open() && thread::others().is_empty();
        match unwinds && self.kind == Kind::RunsAgain {
            true => Ok(Leaves::Unwinding),
            false => Ok(Leaves::WithItsProcess),
        }
    }

    /// What the program can go back to, the newest first.
    fn points_newest_first(&self) -> Vec<Point> {
        let ids = self.store.ids().unwrap_or_default().into_iter();
        let own = |id: CheckpointId| {
            let meta = self.store.meta(id).ok()?;
            (meta.run == Some(self.id)).then_some((id, meta.visit))
        };
        let checkpoints: Vec<(CheckpointId, u64)> = ids.filter_map(own).collect();
        let before = |visit: u64| checkpoints.iter().rev().find(|(_, other)| *other <= visit);
        let mut points: Vec<Point> = checkpoints
            .iter()
            .map(|(id, visits)| Point {
                id: *id,
                visits: *visits,
                snapshot: None,
            })
            .collect();
        // Where a snapshot cannot be gone back to, the checkpoint before it is.
        points.extend(self.snapshots.all().iter().filter_map(|snapshot| {
            let visits = snapshot.meta().visit;
            Some(Point {
                id: before(visits)?.0,
                visits,
                snapshot: Some(Arc::clone(snapshot)),
            })
        }));
        points.sort_by_key(|point| std::cmp::Reverse(point.visits));
        points
    }

    /// How the program goes on from what it goes back to.
    pub(super) fn how_to_go_on(&self) -> Option<GoesOn> {
        let to = self.goes_back_to.as_ref()?;
        Some(GoesOn {
            id: Some(to.id),
            run: RunPrefix::from(self.id),
            is_a_test: self.is_a_test,
            rollbacks: self.policy.rollbacks_to_come().to_vec(),
            input: self.input,
            snapshot: to.snapshot.clone(),
            kept: self.snapshots.up_to(to.visits),
            ends: self.ends,
        })
    }

    /// This is the session of a program that goes back in its process.
    pub(in super::super) fn goes_back_in_process(&self, how: GoesOn) {
        self.ending.goes_back(how);
    }

    /// The functions of the program have been left: the session is about to close.
    pub(super) fn leaves_session(&mut self) -> Option<GoesOn> {
        self.wait_for_writer();
        release_unused();
        current::observe_with(None);
        current::listen(false);
        self.how_to_go_on()
    }

    /// Goes back at the visit at which a test wants that.
    pub(super) fn rolls_back_if_asked(&mut self, visits: u64) {
        if !self.policy.rolls_back_at(visits) {
            return;
        }
        let asked = Asked {
            reason: "a test wants it",
            is_a_test: true,
            to: None,
            visits,
        };
        match self.goes_back(asked) {
            Ok(Leaves::Unwinding) => {}
            Ok(Leaves::WithItsProcess) => {
                if let Some(how) = self.how_to_go_on() {
                    let error = again::as_a_new_process(&how);
                    not_begun(&error).exit();
                }
            }
            Err(why) => say(&format!("warning[W2093]: {why}\n  the program goes on")),
        }
    }
}
