//! What is due at a visit, where other ranks have a part in it or members of a team come to it one after the other.

use super::{Run, apart};
use crate::base::current;
use crate::comm;
use crate::format::CheckpointId;
use crate::session::policy::{Own, Reason};

impl Run {
    /// Why a checkpoint is due at this visit, if one is; what all ranks know together is taken note of.
    pub(super) fn due(&mut self, visits: u64) -> Option<Reason> {
        if let Some((_, reason)) = self.decided.take_if(|(at, _)| *at == visits) {
            return reason;
        }
        let own = Own {
            line: self.line,
            back: self.world.has_a_wish(),
            kept: self.snapshots.newest(),
        };
        let due = self.policy.due(visits, own);
        if due.apart {
            self.world.say_where_ranks_part();
            apart(visits).exit();
        }
        self.all_go_back |= due.back;
        self.keeps_state |= due.snapshot;
        self.looks_half_way |= due.half_way;
        if let Some(kept) = due.kept {
            self.snapshots.all_have(kept);
        }
        if let Some(line) = due.line {
            self.store.line_is_complete(CheckpointId(line));
        }
        due.reason
    }

    /// A team begins at this count: whether its visits are planned together with other ranks.
    pub(super) fn begins_to_agree(&mut self, visits: u64) -> bool {
        comm::know_all_sites();
        let is_up = self.resume.is_none() && self.join_others(visits);
        if is_up && self.policy.agrees() {
            self.policy.arm(visits);
            return true;
        }
        false
    }

    /// Whether something is to be done at this planned visit, which the first member of a team has come to.
    pub(super) fn decides(&mut self, visits: u64) -> bool {
        if self.decided.is_some_and(|(at, _)| at == visits) {
            return true;
        }
        current::take(current::WRITTEN);
        if let Some(written) = self.writer.result() {
            self.settle(written);
        }
        let reason = self.due(visits);
        comm::know_all_sites();
        let goes_back = self.all_go_back || self.policy.is_to_roll_back_at(visits);
        let is_nothing = reason.is_none() && !goes_back && !self.keeps_state;
        if is_nothing && !self.policy.faults_at(visits) && !comm::checks() {
            return false;
        }
        self.decided = Some((visits, reason));
        true
    }

    /// This rank takes no part in a line of checkpoints; the others count it, and wait to hear whether all have written
    /// theirs if that is to be the last.
    pub(super) fn others_take_theirs(&mut self, reason: Reason) {
        let line = self.store.next_line();
        self.store.has_passed(line);
        if reason.stops() {
            self.world.all_succeeded(false);
        }
    }

    /// What is due at this visit is not done.
    pub(super) fn leave_out(&mut self, visits: u64) {
        if let Some(reason) = self.due(visits) {
            self.others_take_theirs(reason);
            self.policy.failed(reason);
        }
        self.keeps_state = false;
        self.others_go_back(visits);
        self.policy.arm(visits);
    }
}
