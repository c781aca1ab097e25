//! When the members of a team stop for a checkpoint, as a state that a lock guards: no threads in here, so that every
//! order of events can be tried.
//!
//! Members count their visits from the count at which the region began, and all stop at the same: the count that a
//! checkpoint is planned for, which no member passes without looking, or, where something else wants attention, the first
//! that none has passed yet. As every member visits its sites in the same order, one that stops at a count has passed all
//! barriers that the others need to come to it, and no message of the program is under way between two of them: what
//! spatial coordination is for ranks.
//!
//! A member that runs is further than it has told. What is read of its count may be old by a moment; so the thread that
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
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Member {
    status: Status,
    /// Its count, as far as it is known.
    visits: u64,
}

impl Protocol {
    /// A member joins; gives its index.
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

    /// A member stands at a site where a checkpoint may be due. A team of which one has left takes none: where that one
    /// stood is not a site.
    ///
    /// `planned` is the next count that a checkpoint is planned for.
    pub(super) fn reaches(&mut self, member: usize, visits: u64, planned: u64) -> Step {
        self.members[member].visits = visits;
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
        self.members[member].status = Status::Stopped;
        Step::Stop { epoch: self.epoch }
    }

    /// Where a member has passed the count at which all were to stop, that is moved on.
    pub(super) fn look_again(&mut self, planned: u64) {
        let Some(target) = self.target else { return };
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

    /// A member has come to its end, or panicked.
    pub(super) fn leaves(&mut self, member: usize) {
        self.members[member].status = Status::Left;
        self.release();
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

    /// The largest count that any has told.
    pub(super) fn furthest(&self) -> u64 {
        self.members.iter().map(|one| one.visits).max().unwrap_or(0)
    }

    pub(super) fn count(&self) -> usize {
        self.members.len()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    /// One thing that a member's program does.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    enum Act {
        Site,
        Barrier,
        End,
    }

    /// A team as a whole: what every member has done, in which order whatever.
    #[derive(Debug, Clone, PartialEq, Eq, Hash)]
    struct World {
        protocol: Protocol,
        members: Vec<Actor>,
        /// What a site compares its count with.
        next: u64,
        planned: u64,
        /// Whether somebody may still ask for attention.
        may_ask: bool,
        checkpoints: u32,
    }

    #[derive(Debug, Clone, PartialEq, Eq, Hash)]
    struct Actor {
        at: usize,
        visits: u64,
        /// Stopped in this epoch.
        held: Option<u64>,
        barriers: u32,
        waits: bool,
    }

    impl World {
        fn new(members: usize, planned: u64) -> World {
            let mut protocol = Protocol::default();
            (0..members).for_each(|_| {
                protocol.join(0);
            });
            protocol.close();
            let actor = Actor {
                at: 0,
                visits: 0,
                held: None,
                barriers: 0,
                waits: false,
            };
            World {
                protocol,
                members: vec![actor; members],
                next: planned,
                planned,
                may_ask: true,
                checkpoints: 0,
            }
        }

        /// All that can happen next.
        fn successors(&self, programs: &[Vec<Act>]) -> Vec<World> {
            let mut all = Vec::new();
            for (member, program) in programs.iter().enumerate() {
                all.extend(self.step(member, program));
            }
            if self.may_ask {
                // A timer, or a signal.
                all.push(World {
                    may_ask: false,
                    next: 0,
                    ..self.clone()
                });
            }
            all.extend(self.spawner());
            all
        }

        fn read(&mut self) {
            for (index, actor) in self.members.iter().enumerate() {
                self.protocol.is_at(index, actor.visits);
            }
        }

        fn step(&self, member: usize, program: &[Act]) -> Option<World> {
            let mut world = self.clone();
            let actor = world.members[member].clone();
            if let Some(epoch) = actor.held {
                if world.protocol.is_held(member, epoch) {
                    return None;
                }
                world.members[member].held = None;
                return Some(world);
            }
            match program.get(actor.at)? {
                Act::Site => {
                    let visits = actor.visits + 1;
                    world.members[member].visits = visits;
                    world.members[member].at += 1;
                    if visits >= world.next {
                        world.read();
                        if let Step::Stop { epoch } = world.protocol.reaches(member, visits, world.planned) {
                            world.members[member].held = Some(epoch);
                        }
                    }
                }
                Act::Barrier if !actor.waits => {
                    world.members[member].waits = true;
                    world.members[member].barriers += 1;
                }
                Act::Barrier => {
                    let all = world.members.iter().all(|other| other.barriers >= actor.barriers);
                    if !all {
                        return None;
                    }
                    world.members[member].waits = false;
                    world.members[member].at += 1;
                }
                Act::End => {
                    world.members[member].at = usize::MAX;
                    world.protocol.leaves(member);
                }
            }
            Some(world)
        }

        fn spawner(&self) -> Option<World> {
            let mut world = self.clone();
            if let Some(visits) = world.protocol.all_stopped() {
                let counts: HashSet<u64> = world.members.iter().map(|one| one.visits).collect();
                assert_eq!(counts, HashSet::from([visits]), "all stand at the same count");
                world.checkpoints += 1;
                world.protocol.release();
                world.planned = (visits / 2 + 1) * 2;
                world.next = world.planned;
                return Some(world);
            }
            if world.protocol.is_waited_for() {
                world.read();
                world.protocol.look_again(world.planned);
            }
            (world != *self).then_some(world)
        }
    }

    /// Tries every order of events; gives how often checkpoints were taken at most.
    fn explore(programs: &[Vec<Act>]) -> u32 {
        let mut seen = HashSet::new();
        let mut open = vec![World::new(programs.len(), 2)];
        let mut most = 0;
        while let Some(world) = open.pop() {
            if !seen.insert(world.clone()) {
                continue;
            }
            most = most.max(world.checkpoints);
            let next = world.successors(programs);
            let ended = world.members.iter().all(|one| one.at == usize::MAX);
            assert!(ended || !next.is_empty(), "nobody can go on: {world:?}");
            open.extend(next);
        }
        most
    }

    fn program(turns: &[Act], times: usize) -> Vec<Act> {
        let mut all = turns.repeat(times);
        all.push(Act::End);
        all
    }

    #[test]
    fn members_with_barriers_never_wait_for_each_other_in_vain() {
        let turns: [&[Act]; 4] = [
            &[Act::Site],
            &[Act::Site, Act::Barrier],
            &[Act::Barrier, Act::Site],
            &[Act::Site, Act::Barrier, Act::Barrier],
        ];
        for turn in turns {
            for members in [2, 3] {
                let times = if members == 2 { 5 } else { 3 };
                let most = explore(&vec![program(turn, times); members]);
                assert!(most > 0, "{turn:?} {members}");
            }
        }
    }

    #[test]
    fn a_member_that_ends_early_holds_nobody() {
        explore(&[program(&[Act::Site], 1), program(&[Act::Site], 4)]);
        explore(&[
            program(&[Act::Site], 4),
            program(&[], 0),
            program(&[Act::Site], 2),
        ]);
    }

    #[test]
    fn members_that_are_late_are_named() {
        let mut protocol = Protocol::default();
        protocol.join(7);
        protocol.join(7);
        protocol.close();
        assert_eq!(protocol.reaches(0, 8, 100), Step::Stop { epoch: 0 });
        assert_eq!(protocol.late(), [(1, 7)]);
        protocol.release();
        assert!(!protocol.is_held(0, 0) && !protocol.is_waited_for());
    }
}
