//! How all ranks of a program go back to a checkpoint.
//!
//! A rank that asks for it stands between two sites, where others wait for its messages: it goes on to a site, and tells them as it
//! tells that it is to stop. At the visit at which all know of it, the same on all ranks, no message is under way. There they make
//! sure that each can go back, agree on the line, and leave their functions, with MPI up; the walk to the line begins as that of a
//! restart. What any of them has done since it asked is taken back like all else, and comes into no line, as that rank takes no part
//! in one until then. Where one cannot go back all end, and whatever has started the job starts it again.

use super::super::again;
use super::super::events::What;
use super::super::job::Rollbacks;
use super::super::policy::{GoesBack, Reason};
use super::Run;
use super::back::{Point, TEST, choose};
use crate::base::current;
use crate::base::report::say;
use crate::base::rollback::NotRolledBack;
use crate::comm::{self, Wish};
use crate::context::rollback::{Asked, Tries};
use crate::state::process::Process;

/// A number that a point has on all ranks, and no other one.
fn number_of(point: &Point) -> u128 {
    match point.snapshot() {
        Some(_) => u128::from(point.visits) << 1 | 1,
        None => u128::from(point.id.0) << 1,
    }
}

impl Run {
    /// This rank asks to go back. Gives what it is told: that it is to go on until all do, or why that cannot be.
    pub(super) fn asks_ranks(&mut self, asked: Asked<'_>, ranks: u32) -> NotRolledBack {
        if !self.world.is_up() {
            let why = "MPI is not up".to_owned();
            return NotRolledBack::Ranks { ranks, why };
        }
        if let Some(why) = self.leaves_with_its_process() {
            let why = why.to_owned();
            return NotRolledBack::Ranks { ranks, why };
        }
        self.wait_for_writer();
        let to = asked.to.map(|to| to.0);
        let points = self.points();
        if points.is_empty() || to.is_some_and(|to| points.iter().all(|point| point.id.0 != to)) {
            return NotRolledBack::NoCheckpoint { id: to };
        }
        if !asked.is_a_test
            && let Err(why) = Rollbacks::of_tries(self.tries).another(asked.visits)
        {
            return why;
        }
        self.world.wants_back(Wish {
            reason: asked.reason.to_owned(),
            to,
            visits: asked.visits,
            is_a_test: asked.is_a_test,
        });
        if !self.policy.agrees() {
            current::look_now();
        }
        NotRolledBack::Later
    }

    /// What this rank knows to be wrong comes into no line: it takes no part in one that is due, and what is due is tried again.
    pub(super) fn unless_it_wants_back(&mut self, due: Option<Reason>) -> Option<Reason> {
        if let Some(reason) = due.filter(|_| self.world.has_a_wish()) {
            self.others_take_theirs(reason);
            self.policy.failed(reason);
            return None;
        }
        due
    }

    /// All ranks are at this visit, and go back from it. A stop that is due as well is for the session that goes on.
    pub(super) fn goes_back_together(&mut self, visits: u64, is_a_test: bool, due: Option<Reason>) {
        let is_a_test = is_a_test || self.tests_one_rank;
        let own = self.stands_in_the_way();
        if !self.world.all_succeeded(own.is_none()) {
            return self.stays(own, is_a_test);
        }
        let wish = self.world.wish_of_all();
        let (reason, asked, from) = match wish {
            Some((rank, wish)) => (format!("rank {rank}: {}", wish.reason), wish.to, wish.visits),
            None => (TEST.to_owned(), None, visits),
        };
        let tries = match is_a_test {
            true => Tries::default(),
            false => self.tries,
        };
        let point = Rollbacks::of_tries(tries).another(from).and_then(|rollbacks| {
            let point = self.point_of_all(asked, rollbacks);
            let point = point.ok_or(NotRolledBack::NoCheckpoint { id: asked })?;
            Ok((point, rollbacks))
        });
        // All have come to the same.
        let (point, rollbacks) = match point {
            Ok(found) => found,
            Err(why) => return self.stays(Some(why), is_a_test),
        };
        // If that line is damaged, an older one will do.
        self.takes_newest = asked.is_none();
        self.tries = Tries {
            to: point.visits,
            ..rollbacks.tries()
        };
        let noted = Rollbacks {
            count: self.ending.record.rollbacks().count + 1,
            to: point.visits,
            ..rollbacks
        };
        let back = What::Rollback {
            to: Some(point.id.0),
            snapshot: point.snapshot().map(|_| point.visits),
            visits,
            reason,
            lost: { point.snapshot() }.map(|snapshot| snapshot.age().as_secs_f64()),
            alone: false,
            rank: None,
        };
        self.ending.record.rolls_back(noted, back, self.quiet);
        self.goes_back_to = Some(point);
        self.is_shown = is_a_test || self.tests_flips;
        again::leaves(self.is_shown);
        self.world.is_about_to_go_back();
        if let Some(Reason::Signal(signal)) = due {
            current::ask_for_stop(Some(signal));
        }
        current::roll_back();
        if let Some(how) = self.how_to_go_on() {
            self.ending.leaves(how);
        }
    }

    /// Other ranks go back at this visit, to which not all threads of this one have come.
    pub(super) fn others_go_back(&mut self, visits: u64) {
        let is_of_all = self.policy.rolls_back_at(visits) == GoesBack::All;
        if std::mem::take(&mut self.all_go_back) || is_of_all {
            let is_a_test = is_of_all || self.tests_one_rank;
            self.world.all_succeeded(false);
            let why = "not all threads of a team have come to the site".to_owned();
            let ranks = self.world.member().map_or(1, |member| member.size);
            self.stays(Some(NotRolledBack::Ranks { ranks, why }), is_a_test);
        }
    }

    /// Why this rank cannot go back here.
    fn stands_in_the_way(&mut self) -> Option<NotRolledBack> {
        self.wait_for_writer();
        if let Some(obstacle) = self.process.as_ref().and_then(Process::obstacle) {
            return Some(NotRolledBack::Obstacle {
                what: obstacle.what(),
            });
        }
        let why = self.leaves_with_its_process()?.to_owned();
        let ranks = self.world.member().map_or(1, |member| member.size);
        Some(NotRolledBack::Ranks { ranks, why })
    }

    /// What they go back to, which the first rank chooses among what all have: snapshots of the same visit, or a line. Whether a
    /// snapshot is whole is found out once the functions have been left.
    fn point_of_all(&self, asked: Option<u64>, rollbacks: Rollbacks) -> Option<Point> {
        let mut points = self.points();
        loop {
            let own = choose(points.clone(), asked, rollbacks).map_or(0, |point| number_of(&point));
            let number = self.world.number_of_first(own);
            if number == 0 {
                return None;
            }
            let at = points.iter().position(|point| number_of(point) == number);
            if self.world.all_succeeded(at.is_some()) {
                return at.map(|at| points.swap_remove(at));
            }
            points.retain(|point| number_of(point) != number);
        }
    }

    /// It cannot be: a test goes on. Otherwise what the ranks have computed is wrong, and all end.
    fn stays(&self, why: Option<NotRolledBack>, is_a_test: bool) {
        if is_a_test {
            if let Some(why) = why {
                say(&format!("warning[W2093]: {why}\n  the program goes on"));
            }
            return;
        }
        self.world
            .cannot_go_back(why.map(|why| comm::cannot_go_back(&why)))
    }
}
