//! Loops that exchange no messages, which ranks go round unequally often.
//!
//! Whatever each has done of such a loop, the same messages are behind it on all ranks. So they need not have come equally
//! far to make a line: the newest checkpoint that each has taken in the loop, or while it waited behind it, will do. All of them
//! have the number of one line, and a newer one takes the place of the one before.
//!
//! Behind the loop the ranks wait for each other: one that went on could take none any more that is of use with those of
//! the others. They tell each other then how many visits to go on with.

use std::time::{Duration, Instant};

use super::{Run, apart};
use crate::base::current;
use crate::base::report::Fatal;
use crate::comm::{Meeting, Met};
use crate::context::Gather;
use crate::format::CheckpointId;
use crate::session::policy::{Reason, reason_of};

/// How long a rank looks for the others without a pause.
const PROMPT: Duration = Duration::from_millis(1);
/// The pause between two looks after that.
const PAUSE: Duration = Duration::from_micros(200);
/// A rank that is to stop, and waits so long for the others, takes a checkpoint meanwhile.
const HASTE: Duration = Duration::from_millis(200);

/// What a rank knows of the loop that it is in.
#[derive(Debug, Default)]
pub(super) struct InPhase {
    /// What this rank has told the others and has no answer to yet.
    meeting: Option<Meeting>,
    /// When it has told them that it is to stop.
    stops_since: Option<Instant>,
}

impl Run {
    /// A visit in the loop: each rank takes what is due for itself.
    pub(super) fn take_due_in_phase(&mut self, visits: u64, mut gather: Gather<'_>) -> Result<(), Fatal> {
        if !self.join_others(visits.saturating_sub(1)) || !self.policy.agrees() {
            return self.take_due(visits, gather).map(drop);
        }
        self.store.stay_in_line();
        self.comes_back_with_others();
        self.looks_at_writer();
        if self.phase.meeting.is_none() {
            let stop = self.policy.take_stop();
            if stop != 0 {
                self.tells(stop, visits);
                self.phase.stops_since = Some(Instant::now());
            }
        }
        let waits_long = |since: &mut Instant| since.elapsed() > HASTE;
        if let Some(reason) = self.met().and_then(|met| reason_of(met.stop)) {
            self.takes(visits, reason, &mut gather)?;
        } else if let Some(reason) = self.policy.due_in_phase(visits) {
            self.takes(visits, reason, &mut gather)?;
        } else if self.phase.stops_since.take_if(waits_long).is_some() {
            self.takes(visits, Reason::Interval, &mut gather)?;
        }
        self.dies_if_asked(visits);
        self.policy.arm_alone(visits, self.phase.meeting.is_some());
        self.fill_reserve();
        Ok(())
    }

    /// Behind the loop: waits until all ranks have come there. Gives the count of visits to go on with.
    pub(super) fn waits_behind_phase(&mut self, visits: u64, mut gather: Gather<'_>) -> Result<u64, Fatal> {
        if !self.join_others(visits.saturating_sub(1)) || !self.policy.agrees() {
            return self.take_due(visits, gather).map(|_| visits);
        }
        self.store.stay_in_line();
        self.comes_back_with_others();
        let since = Instant::now();
        let mut has_taken = false;
        self.dies_if_asked(visits);
        loop {
            self.looks_at_writer();
            if self.phase.meeting.is_none() {
                let stop = self.policy.take_stop();
                self.tells(stop, visits);
            }
            if let Some(met) = self.met() {
                match reason_of(met.stop) {
                    Some(reason) => self.takes(visits, reason, &mut gather)?,
                    None => return self.goes_on(met, visits, gather),
                }
                continue;
            }
            if !has_taken && let Some(reason) = self.policy.due_while_waiting(since.elapsed()) {
                has_taken = true;
                self.takes(visits, reason, &mut gather)?;
            }
            match since.elapsed() < PROMPT {
                true => std::thread::yield_now(),
                false => std::thread::sleep(PAUSE),
            }
        }
    }

    /// All have come to the end of the loop.
    fn goes_on(&mut self, met: Met, own: u64, mut gather: Gather<'_>) -> Result<u64, Fatal> {
        let visits = met.visits;
        let earlier = self
            .policy
            .agreement()
            .and_then(|agreement| agreement.begin_anew(visits));
        if let Some(earlier) = earlier {
            if earlier.apart {
                self.world.say_where_ranks_part();
                apart(own).exit();
            }
            self.store.line_is_complete(CheckpointId(earlier.line));
            if let Some(reason) = reason_of(earlier.stop) {
                self.takes(own, reason, &mut gather)?;
            } else if earlier.interval {
                self.policy.interval_is_over();
            }
        }
        self.store.leave_line();
        self.phase = InPhase::default();
        self.policy.arm(visits);
        self.fill_reserve();
        Ok(visits)
    }

    fn looks_at_writer(&mut self) {
        // What is small has this memory from here on.
        self.reserve.release();
        current::take(current::WRITTEN);
        if let Some(written) = self.writer.result() {
            self.settle(written);
        }
    }

    fn tells(&mut self, stop: i64, visits: u64) {
        let line = self.line;
        let agreement = self.policy.agreement();
        self.phase.meeting = agreement.and_then(|agreement| agreement.meet(stop, visits, line));
    }

    /// What all have told, once they have.
    fn met(&mut self) -> Option<Met> {
        let met = self.phase.meeting.as_mut()?.met()?;
        self.phase = InPhase::default();
        if met.apart {
            self.world.say_where_ranks_part();
            apart(met.visits).exit();
        }
        self.store.line_is_complete(CheckpointId(met.line));
        Some(met)
    }

    /// Takes this rank's checkpoint; a stop ends the run here if all have written theirs.
    fn takes(&mut self, visits: u64, reason: Reason, gather: &mut Gather<'_>) -> Result<(), Fatal> {
        if self.world.has_a_wish() {
            // What is wrong comes into no line.
            if reason.stops() {
                self.world.all_succeeded(false);
            }
            self.policy.failed(reason);
            return Ok(());
        }
        let line = self.store.next_line();
        if !self.waits_for_memory(visits, reason, line)
            && !self.waits_for_threads(visits, reason)
            && !self.waits_for_process(visits, reason)
        {
            self.checkpoint(visits, reason, &mut **gather)?;
        }
        Ok(())
    }
}
