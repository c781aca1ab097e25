//! Going back to a checkpoint without being started again.
//!
//! Which one: the newest of the run. Where the program comes to ask again without having come further, that one may hold what
//! is wrong, and it is the one before; after some times the program is told that going back does not help.

use super::super::ROLLBACK_MARK;
use super::super::again::{self, not_begun};
use super::{Kind, Run};
use crate::base::current;
use crate::base::report::say;
use crate::base::rollback::NotRolledBack;
use crate::base::run_id::RunPrefix;
use crate::context::rollback::{Asked, GoesOn, Leaves};
use crate::format::CheckpointId;
use crate::state::standard_streams;
use crate::team::{self};
use crate::thread;
use crate::value::release_unused;

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
        let newest_first = self.own_checkpoints();
        let to = match asked.to {
            Some(id) => newest_first.into_iter().find(|own| *own == id),
            None => {
                let further_back = rollbacks.in_a_row as usize - 1;
                let last = newest_first.len().saturating_sub(1);
                newest_first.get(further_back.min(last)).copied()
            }
        };
        let Some(to) = to else {
            let id = asked.to.map(|id| id.0);
            return Err(NotRolledBack::NoCheckpoint { id });
        };
        let (visits, reason) = (asked.visits, asked.reason);
        self.ending
            .record
            .rolls_back(rollbacks, Some(to.0), visits, reason, self.quiet);
        self.goes_back_to = Some(to);
        current::roll_back();
        // Threads are not left from outside, and without unwinding nothing is.
        let unwinds = !cfg!(panic = "abort") && !team::is_open() && thread::others().is_empty();
        match unwinds && self.kind == Kind::RunsAgain {
            true => Ok(Leaves::Unwinding),
            false => Ok(Leaves::WithItsProcess),
        }
    }

    /// The checkpoints of this run, the newest first.
    fn own_checkpoints(&self) -> Vec<CheckpointId> {
        let ids = self.store.ids().unwrap_or_default().into_iter().rev();
        let is_own = |id: &CheckpointId| self.store.meta(*id).is_ok_and(|meta| meta.run == Some(self.id));
        ids.filter(is_own).collect()
    }

    /// How the program goes on from the checkpoint that it goes back to.
    pub(super) fn how_to_go_on(&self) -> Option<GoesOn> {
        Some(GoesOn {
            id: Some(self.goes_back_to?),
            run: RunPrefix::from(self.id),
            rollbacks: self.policy.rollbacks_to_come().to_vec(),
            input: self.input,
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
        let leaves = self.goes_back(asked);
        if leaves.is_ok() {
            standard_streams::print(ROLLBACK_MARK);
        }
        match leaves {
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
