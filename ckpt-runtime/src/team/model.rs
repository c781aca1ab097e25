//! The protocol, tried in every order of events: members that visit sites, wait for each other at barriers, end early, panic
//! or never come, the thread that waits for them, a signal, counts that are read too early.

use std::collections::{BTreeSet, HashSet};

use super::protocol::{Protocol, Step};

/// One thing that a member's program does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Act {
    Site,
    Barrier,
    /// The others are released where they wait for it, as those of a `ckpt::team`.
    Panic,
    /// It does something for ever.
    Never,
    End,
}
use Act::{Barrier, Never, Panic, Site};

/// What the team is part of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Setting {
    /// There are other ranks.
    postponed: bool,
    /// Members that wait give up at some time.
    impatient: bool,
    /// The thread that waits sees counts that are old.
    stale: bool,
}

/// A team as a whole: what every member has done, in whatever order.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct World {
    protocol: Protocol,
    members: Vec<Actor>,
    setting: Setting,
    /// What a site compares its count with.
    next: u64,
    planned: u64,
    /// Whether somebody may still ask for attention.
    may_ask: bool,
    /// The count for which something was found to be due.
    decided: Option<u64>,
    /// The counts that were decided on, and whether a checkpoint was taken there.
    handled: Vec<(u64, bool)>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Actor {
    at: usize,
    visits: u64,
    /// It has seen that it has to look, and not looked yet.
    looks: bool,
    /// Stopped in this epoch.
    held: Option<u64>,
    barriers: u32,
    waits: bool,
    left: bool,
}

/// Every second visit is planned.
fn planned_after(visits: u64) -> u64 {
    (visits / 2 + 1) * 2
}

/// With other ranks: a checkpoint is due at every fourth.
fn is_due(visits: u64) -> bool {
    visits.is_multiple_of(4)
}

impl World {
    fn new(members: usize, setting: Setting) -> World {
        let mut protocol = Protocol::default();
        (0..members).for_each(|_| {
            protocol.join(0);
        });
        protocol.close();
        if setting.postponed {
            protocol.postpone();
        }
        let actor = Actor {
            at: 0,
            visits: 0,
            looks: false,
            held: None,
            barriers: 0,
            waits: false,
            left: false,
        };
        World {
            protocol,
            members: vec![actor; members],
            setting,
            next: planned_after(0),
            planned: planned_after(0),
            may_ask: true,
            decided: None,
            handled: Vec::new(),
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

    /// The counts are read: all of them as they are, or some as they were.
    fn read(&self, by: Option<usize>) -> Vec<World> {
        let mut all = vec![self.clone()];
        for (index, actor) in self.members.iter().enumerate().filter(|(_, one)| !one.left) {
            let stale = self.setting.stale && by != Some(index);
            let fresh = all.iter().map(|world| {
                let mut world = world.clone();
                world.protocol.is_at(index, actor.visits);
                world
            });
            let fresh: Vec<World> = fresh.collect();
            all.retain(|_| stale);
            all.extend(fresh);
        }
        all
    }

    fn step(&self, member: usize, program: &[Act]) -> Vec<World> {
        let mut world = self.clone();
        let actor = &mut world.members[member];
        if actor.left {
            return Vec::new();
        }
        if let Some(epoch) = actor.held {
            if world.protocol.is_held(member, epoch) {
                return Vec::new();
            }
            actor.held = None;
            return vec![world];
        }
        if actor.looks {
            return self
                .read(Some(member))
                .into_iter()
                .map(|one| one.look(member))
                .collect();
        }
        match program.get(actor.at).copied().unwrap_or(Act::End) {
            Act::Site => {
                actor.visits += 1;
                actor.at += 1;
                actor.looks = actor.visits >= world.next;
            }
            Act::Barrier if !actor.waits => {
                actor.waits = true;
                actor.barriers += 1;
            }
            Act::Barrier => {
                let here = actor.barriers;
                let all = self.members.iter().all(|other| other.barriers >= here);
                let broken = programs_panicked(&self.members);
                if !all && !broken {
                    return Vec::new();
                }
                let actor = &mut world.members[member];
                actor.waits = false;
                actor.at += 1;
                if !all {
                    world.leaves(member);
                }
            }
            Act::Panic => {
                world.members[member].barriers = PANICKED;
                world.leaves(member);
            }
            Act::Never => return Vec::new(),
            Act::End => world.leaves(member),
        }
        vec![world]
    }

    fn leaves(&mut self, member: usize) {
        self.members[member].left = true;
        let visits = self.members[member].visits;
        self.protocol.is_at(member, visits);
        self.protocol.leaves(member);
    }

    /// A member looks up, under the lock.
    fn look(mut self, member: usize) -> World {
        let visits = self.members[member].visits;
        self.members[member].looks = false;
        match self.protocol.reaches(member, visits, self.planned) {
            Step::Stop { epoch } => self.members[member].held = Some(epoch),
            Step::GoOn if self.setting.postponed => self.next = self.planned,
            Step::GoOn if self.protocol.has_lost_one() => self.next = u64::MAX,
            Step::GoOn => {}
        }
        self
    }

    /// What the waiting thread may do, under the lock.
    fn spawner(&self) -> Vec<World> {
        if self.protocol.all_left() {
            return Vec::new();
        }
        let mut world = self.clone();
        if let Some(visits) = self.protocol.waits_at().filter(|_| self.setting.postponed) {
            if world.decided != Some(visits) && !is_due(visits) {
                world.handled.push((visits, false));
                world.go_on(visits);
                return vec![world];
            }
            world.decided = Some(visits);
            if world.protocol.has_lost_one() {
                world.give_up(visits);
                return vec![world];
            }
        }
        if let Some(visits) = world.protocol.all_stopped() {
            let counts: HashSet<u64> = world.members.iter().map(|one| one.visits).collect();
            assert_eq!(counts, HashSet::from([visits]), "all stand at the same count");
            world.handled.push((visits, true));
            world.go_on(visits);
            return vec![world];
        }
        let mut all = Vec::new();
        if world.protocol.is_waited_for() {
            all.extend(world.read(None).into_iter().map(|mut one| {
                one.protocol.move_target_on(one.planned);
                one
            }));
            if self.setting.impatient {
                let visits = world.protocol.waits_at().unwrap_or(world.protocol.furthest());
                world.give_up(visits);
                all.push(world);
            }
        }
        all.retain(|world| world != self);
        all
    }

    fn give_up(&mut self, visits: u64) {
        self.handled.push((visits, false));
        self.go_on(visits);
    }

    fn go_on(&mut self, visits: u64) {
        self.decided = None;
        self.planned = planned_after(visits);
        self.next = self.planned;
        self.protocol.release();
    }

    /// Whether nobody who could go on is kept by anything but the program itself.
    fn has_ended(&self, programs: &[Vec<Act>]) -> bool {
        let hangs = |(one, program): (&Actor, &Vec<Act>)| {
            one.held.is_none() && (one.waits || program.get(one.at) == Some(&Never))
        };
        let mut all = self.members.iter().zip(programs);
        let never = programs.iter().flatten().any(|act| *act == Never);
        all.all(|(one, program)| one.left || never && hangs((one, program)))
    }
}

/// The number of barriers of a member that has panicked.
const PANICKED: u32 = u32::MAX / 2;

fn programs_panicked(members: &[Actor]) -> bool {
    members.iter().any(|one| one.barriers == PANICKED)
}

/// Tries every order of events; returns what was decided in each.
fn explore(programs: &[Vec<Act>], setting: Setting) -> BTreeSet<Vec<(u64, bool)>> {
    let mut seen = HashSet::new();
    let mut open = vec![World::new(programs.len(), setting)];
    let mut outcomes = BTreeSet::new();
    while let Some(world) = open.pop() {
        if !seen.insert(world.clone()) {
            continue;
        }
        let next = world.successors(programs);
        if next.is_empty() || world.protocol.all_left() {
            assert!(world.has_ended(programs), "nobody can go on: {world:?}");
            outcomes.insert(world.handled.clone());
        }
        open.extend(next);
    }
    outcomes
}

/// With counts that are old and without, alone and with other ranks.
fn everywhere(programs: &[Vec<Act>], impatient: bool) {
    for (postponed, stale) in [(false, false), (false, true), (true, false)] {
        let outcomes = explore(
            programs,
            Setting {
                postponed,
                impatient,
                stale,
            },
        );
        assert!(!outcomes.is_empty(), "{programs:?}");
        if postponed && !impatient {
            assert_eq!(outcomes.len(), 1, "ranks would not decide alike: {outcomes:?}");
        }
    }
}

fn turns(acts: &[Act], times: usize) -> Vec<Act> {
    acts.repeat(times)
}

#[test]
fn members_with_barriers_never_wait_for_each_other_in_vain() {
    let bodies: [&[Act]; 4] = [
        &[Site],
        &[Site, Barrier],
        &[Barrier, Site],
        &[Site, Barrier, Barrier],
    ];
    for body in bodies {
        everywhere(&vec![turns(body, 5); 2], false);
        everywhere(&vec![turns(body, 4); 3], false);
    }
}

#[test]
fn a_member_that_ends_early_holds_nobody() {
    everywhere(&[turns(&[Site], 1), turns(&[Site], 5)], false);
    everywhere(&[turns(&[Site], 4), Vec::new(), turns(&[Site], 2)], false);
    everywhere(&[turns(&[Site], 3), turns(&[Site], 4), turns(&[Site], 5)], false);
}

#[test]
fn a_panic_holds_nobody() {
    for at in 0..5 {
        let mut panics = turns(&[Site], at);
        panics.push(Panic);
        everywhere(&[panics.clone(), turns(&[Site], 5)], false);
        let mut panics = turns(&[Site, Barrier], at);
        panics.push(Panic);
        // How far the others come is a matter of time, and the run is over.
        for postponed in [false, true] {
            let setting = Setting {
                postponed,
                impatient: false,
                stale: false,
            };
            explore(
                &[
                    panics.clone(),
                    turns(&[Site, Barrier], 4),
                    turns(&[Site, Barrier], 4),
                ],
                setting,
            );
        }
    }
}

#[test]
fn members_that_never_come_are_given_up() {
    for at in 0..4 {
        let mut stays = turns(&[Site], at);
        stays.push(Never);
        everywhere(&[stays.clone(), turns(&[Site], 5)], true);
        everywhere(&[stays, turns(&[Site], 3), turns(&[Site], 3)], true);
    }
}

#[test]
fn all_ranks_take_the_same_checkpoints() {
    let setting = Setting {
        postponed: true,
        impatient: false,
        stale: false,
    };
    let outcomes = explore(&vec![turns(&[Site, Barrier], 5); 2], setting);
    assert_eq!(outcomes, BTreeSet::from([vec![(2, false), (4, true)]]));
    let alone = explore(&vec![turns(&[Site], 5); 3], setting);
    assert_eq!(alone, BTreeSet::from([vec![(2, false), (4, true)]]));
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
