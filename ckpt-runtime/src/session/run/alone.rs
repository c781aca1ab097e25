//! How a rank goes back to its newest snapshot without the others.
//!
//! They know nothing of it: what it does again from there is what they have seen of it, or will. That is so where no message of the
//! program was sent, received or looked for since the snapshot, none is under way, no line of checkpoints was passed, no file is open and
//! none was changed. What ckpt itself has told the others meanwhile, at visits that all of them know, is not told again there, and what it has
//! heard is heard again. Nothing on the way needs the others: [`crate::comm`] has what the program calls of their library. Else all go back
//! together. So they do where that has not helped: once from each place.

use super::super::again;
use super::super::events::{self, What};
use super::super::job::Rollbacks;
use super::Run;
use super::back::Point;
use crate::base::current;
use crate::comm::{self, Exchanged, Member, NewSites};
use crate::context::rollback::{Alone, Asked};
use crate::state::process::{self, Process};
use crate::team::{self};

/// What was at the visit of the newest snapshot, when that visit was over.
#[derive(Debug, Clone)]
struct Mark {
    visits: u64,
    exchanged: Exchanged,
    told_and_kept: (u64, u64),
    new_sites: NewSites,
    /// The next line.
    next: Option<u64>,
    /// That of the journal of files.
    epoch: u64,
}

/// Whether this rank can go back without the others.
#[derive(Debug)]
pub(super) struct GoesAlone {
    mark: Option<Mark>,
    /// The furthest site visit from which it has.
    from: u64,
    /// What it goes on with, while it does.
    way: Option<Alone>,
    /// The newest snapshot has files that are open, to which others may write as well: they would become as long as they were.
    has_files: bool,
    /// Nothing is said of it.
    quiet: bool,
}

impl GoesAlone {
    /// A session begins, which may be that of a rank that comes back so.
    pub fn begins(way: Option<Box<Alone>>, quiet: bool) -> GoesAlone {
        GoesAlone {
            mark: None,
            from: 0,
            way: way.map(|way| *way),
            has_files: false,
            quiet,
        }
    }

    /// A snapshot has been kept.
    pub fn has_kept(&mut self, has_files: bool) {
        self.has_files = has_files;
    }

    /// Whether the rank is on its way back.
    pub fn comes(&self) -> bool {
        self.way.is_some()
    }

    /// What it goes on with.
    pub fn goes_on_with(&self) -> Option<Alone> {
        self.way.clone()
    }
}

impl Run {
    /// The visit is over. Where the state was kept at it, this rank may come back to here.
    pub(super) fn may_come_back_alone(&mut self, visits: u64) {
        if self.snapshots.newest() == visits && self.has_others() {
            let is_of_team = team::is_member() || team::is_open();
            self.alone.mark = self.mark(visits).filter(|_| !is_of_team);
            self.policy.mark();
        }
    }

    /// The rank does not come back without the others from here on, until its state is kept the next time.
    pub(super) fn comes_back_with_others(&mut self) {
        self.alone.mark = None;
    }

    fn has_others(&self) -> bool {
        self.world.member().is_some_and(|member| member.size > 1)
    }

    fn mark(&self, visits: u64) -> Option<Mark> {
        if self.alone.has_files {
            return None;
        }
        Some(Mark {
            visits,
            exchanged: self.world.exchanged()?,
            told_and_kept: self.policy.told_and_kept(),
            new_sites: comm::new_sites(),
            next: self.store.next_line(),
            epoch: self.journal.unchanged_epoch()?,
        })
    }

    /// From now on this rank leaves its functions for its newest snapshot, if it can go back there without the others.
    pub(super) fn goes_back_alone(&mut self, asked: Asked<'_>, member: Member) -> bool {
        let Some((point, way)) = self.way_alone(asked) else {
            return false;
        };
        let back = What::Rollback {
            to: Some(point.id.0),
            snapshot: Some(point.visits),
            visits: asked.visits,
            reason: asked.reason.to_owned(),
            lost: point.snapshot().map(|snapshot| snapshot.age().as_secs_f64()),
            alone: true,
            rank: Some(member.rank),
        };
        let before = self.ending.record.rollbacks();
        let noted = Rollbacks {
            count: before.count + 1,
            ..before
        };
        self.ending
            .record
            .rolls_back(noted, back.clone(), self.alone.quiet);
        if member.rank > 0 {
            // The first rank keeps the record, and knows nothing of it.
            events::add_of_rank(&*self.documents, self.id, back);
        }
        self.goes_back_to = Some(point);
        self.takes_newest = true;
        self.is_shown = asked.is_shown;
        again::leaves(self.is_shown);
        self.alone.way = Some(way);
        current::roll_back();
        self.world.leaves_alone();
        if let Some(how) = self.how_to_go_on() {
            self.ending.leaves(how);
        }
        true
    }

    /// Where it goes back to without the others, and what it goes on with there; nothing where they have to go back as well.
    fn way_alone(&mut self, asked: Asked<'_>) -> Option<(Point, Alone)> {
        let is_at_same_place = asked.visits <= self.alone.from;
        if !asked.may_be_alone
            || asked.to.is_some()
            || is_at_same_place
            || !self.has_others()
            || !self.world.is_up()
            || self.world.has_a_wish()
            || self.decided.is_some()
            || self.leaves_with_its_process().is_some()
            || self.process.as_ref().and_then(Process::obstacle).is_some()
        {
            return None;
        }
        self.wait_for_writer();
        if process::has_files_open() {
            return None;
        }
        let mark = self.alone.mark.as_ref()?;
        let is_as_then = self.world.exchanged() == Some(mark.exchanged)
            && self.store.next_line() == mark.next
            && self.journal.unchanged_epoch() == Some(mark.epoch);
        let snapshot = self.snapshots.all().back()?;
        if !is_as_then || snapshot.meta().visit != mark.visits || !snapshot.is_whole() {
            return None;
        }
        let way = Alone {
            agreement: self.policy.at_mark()?,
            told_and_kept: mark.told_and_kept,
            exchanged: mark.exchanged,
            new_sites: mark.new_sites,
            line: self.line,
            lines: self.store.known_lines(),
            of_all: self.snapshots.of_all(),
            from: asked.visits,
        };
        let visits = mark.visits;
        let is_it = |point: &Point| point.snapshot().is_some() && point.visits == visits;
        let point = self.points().into_iter().rfind(is_it)?;
        Some((point, way))
    }

    /// The walk is over: whether it was one without the others, who have gone on meanwhile. What was known of them is known again.
    pub(super) fn has_come_alone(&mut self, visits: u64) -> bool {
        let Some(way) = self.alone.way.take() else {
            return false;
        };
        comm::set_new_sites(way.new_sites);
        self.has_lines = true;
        self.line = way.line;
        self.store.knows_lines(way.lines);
        self.snapshots.all_have_only(way.of_all);
        self.policy.goes_on_with(way.agreement, way.told_and_kept);
        self.alone.from = way.from;
        self.alone.mark = self.mark(visits).filter(|mark| mark.exchanged == way.exchanged);
        true
    }
}
