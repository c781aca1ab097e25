//! When the members of a team stop for a checkpoint, as a state that a lock guards: no threads in here, so that every
//! order of events can be tried.
//!
//! Members count their visits from the count at which the region began, and all stop at the same: the count that a
//! checkpoint is planned for, which no member passes without looking, or, where something else wants attention, the first
//! that none has passed yet. As every member visits its sites in the same order, one that stops at a count has passed all
//! barriers that the others need to come to it, and no message of the program is under way between two of them: what
//! spatial coordination is for ranks.
//!
//! With other ranks (the postponed protocol of Losada 2018) all have to stop at the same count, which nobody sends them.
//! Then only planned counts are looked at, which all ranks know; what else wants attention waits for the next of them.
//! The first member that comes to one has it decided whether a checkpoint is due there. If none is, nobody else stops;
//! if one is, those who come first wait for the others. So each planned count that any member comes to is decided on
//! once, in the order of counts, however the members' steps are interleaved.
//!
//! A member that runs is further than it has published. What is read of its count may be old by a moment; so the thread that
//! waits for all looks again from time to time, and moves the count on where one has passed it.

/// What a member is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Status {
    /// It runs the program.
    Runs,
    /// It stands at a site.
    Stopped,
    /// It has come to its end.
    Left,
}

/// What a member does at a site that looks up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// The program goes on.
    GoOn,
    /// It waits here until `epoch` is over, or until all are to stop at a later count.
    Stop {
        /// The number of the agreement.
        epoch: u64,
    },
}

/// The members of a region and what they have agreed on.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(super) struct Protocol {
    members: Vec<Member>,
    /// Nobody joins any more: the thread of the session waits for them.
    closed: bool,
    /// The count of visits at which all stop.
    target: Option<u64>,
    /// How many agreements have been carried out or given up.
    epoch: u64,
    /// There are other ranks: all stop at planned counts only.
    postponed: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Member {
    status: Status,
    /// Its count, as far as it is known.
    visits: u64,
}

impl Protocol {
    /// A member joins; returns its index.
    pub(super) fn join(&mut self, visits: u64) -> usize {
        self.members.push(Member {
            status: Status::Runs,
            visits,
        });
        self.members.len() - 1
    }

    /// All that there will be have joined.
    pub(super) fn close(&mut self) {
        self.closed = true;
    }

    /// There are other ranks, which decide the same at the same counts.
    pub(super) fn postpone(&mut self) {
        self.postponed = true;
    }

    /// Whether all stop at planned counts only.
    pub(super) fn is_postponed(&self) -> bool {
        self.postponed
    }

    /// A member stands at a site where a checkpoint may be due. A team of which one has left takes none: where that one
    /// stood is not a site.
    ///
    /// `planned` is the next count that a checkpoint is planned for.
    pub(super) fn reaches(&mut self, member: usize, visits: u64, planned: u64) -> Step {
        self.members[member].visits = visits;
        if self.postponed {
            return match visits == planned {
                true => self.stops(member, visits),
                false => Step::GoOn,
            };
        }
        if self.has_lost_one() {
            return Step::GoOn;
        }
        let others = self.members.iter().enumerate();
        let passed = others
            .filter(|(index, other)| *index != member && other.status == Status::Runs)
            .map(|(_, other)| other.visits + 1);
        let free = passed
            .max()
            .unwrap_or(visits)
            .max(visits)
            .min(planned.max(visits));
        self.stop_at(self.target.map_or(free, |target| target.max(visits)));
        if self.target != Some(visits) {
            return Step::GoOn;
        }
        self.stops(member, visits)
    }

    fn stops(&mut self, member: usize, visits: u64) -> Step {
        self.target = Some(visits);
        self.members[member].status = Status::Stopped;
        Step::Stop { epoch: self.epoch }
    }

    /// The count at which members stand and wait.
    pub(super) fn waits_at(&self) -> Option<u64> {
        self.target.filter(|_| self.is_waited_for())
    }

    /// Where a member has passed the count at which all were to stop, that is moved on.
    pub(super) fn move_target_on(&mut self, planned: u64) {
        let Some(target) = self.target.filter(|_| !self.postponed) else {
            return;
        };
        let running = self.members.iter().filter(|one| one.status == Status::Runs);
        let passed = running
            .map(|one| one.visits)
            .filter(|visits| *visits >= target)
            .max();
        if let Some(visits) = passed {
            self.stop_at((visits + 1).min(planned.max(visits)));
        }
    }

    /// All are to stop at this count; those that stand at an earlier one come on.
    fn stop_at(&mut self, target: u64) {
        if self.target.is_some_and(|earlier| earlier < target) {
            self.members
                .iter_mut()
                .filter(|one| one.status == Status::Stopped)
                .for_each(|one| one.status = Status::Runs);
        }
        self.target = Some(target);
    }

    /// Whether a member that stopped has to stay.
    pub(super) fn is_held(&self, member: usize, epoch: u64) -> bool {
        self.epoch == epoch && self.members[member].status == Status::Stopped
    }

    /// A member has come to its end, or panicked. Those who wait for it go on; with other ranks, once it has been said what
    /// becomes of the count at which they stand.
    pub(super) fn leaves(&mut self, member: usize) {
        self.members[member].status = Status::Left;
        if !self.postponed {
            self.release();
        }
    }

    /// The count at which all members stand, if they do.
    pub(super) fn all_stopped(&self) -> Option<u64> {
        let all = self.closed && !self.members.is_empty();
        let stopped = self.members.iter().all(|one| one.status == Status::Stopped);
        self.target.filter(|_| all && stopped)
    }

    /// Whether every member has left.
    pub(super) fn all_left(&self) -> bool {
        self.members.iter().all(|one| one.status == Status::Left)
    }

    /// Whether a member has left.
    pub(super) fn has_lost_one(&self) -> bool {
        self.members.iter().any(|one| one.status == Status::Left)
    }

    /// Whether somebody waits for others.
    pub(super) fn is_waited_for(&self) -> bool {
        self.members.iter().any(|one| one.status == Status::Stopped)
    }

    /// Those that the others wait for, with the visits that they were last seen at.
    pub(super) fn late(&self) -> Vec<(usize, u64)> {
        let members = self.members.iter().enumerate();
        let late = members.filter(|(_, one)| one.status == Status::Runs);
        late.map(|(index, one)| (index, one.visits)).collect()
    }

    /// All go on.
    pub(super) fn release(&mut self) {
        self.epoch += 1;
        self.target = None;
        for member in &mut self.members {
            if member.status == Status::Stopped {
                member.status = Status::Runs;
            }
        }
    }

    /// A member is at this count now.
    pub(super) fn is_at(&mut self, member: usize, visits: u64) {
        self.members[member].visits = visits;
    }

    /// The largest count that any has published.
    pub(super) fn furthest(&self) -> u64 {
        self.members.iter().map(|one| one.visits).max().unwrap_or(0)
    }

    pub(super) fn count(&self) -> usize {
        self.members.len()
    }
}
