//! Wrong state that nobody has written: found where the state is taken, between this one and the one before. And the faults that
//! bring it about for tests.

use std::time::Instant;

use super::super::events::{Repair, What};
use super::super::{machine_check, rollback};
use super::Run;
use crate::base::fault::{Flip, Struck};
use crate::base::from_outside;
use crate::base::report::{Fatal, exit_code, headline, say};
use crate::base::rollback::NotRolledBack;
use crate::context::Gather;
use crate::context::frames::Frames;
use crate::context::rollback::{Asked, Leaves};
use crate::format::InMemory;
use crate::state::snapshot::{Implausible, SnapshotBuilder};
use crate::state::source::StateSource;
use crate::team::{self};
use crate::value::Capture;

/// What a user has turned on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Detectors {
    /// Lists of floats in which there is a NaN or an infinity, and was none.
    pub not_finite: bool,
    /// Variables that no statement writes to between two visits of a site, and that have changed.
    pub unchanged: bool,
    /// Memory that the machine has lost, of what nothing can have written to: it is put back.
    pub machine_check: bool,
}

impl Detectors {
    /// Whether there is one that looks at states.
    pub fn are_any(self) -> bool {
        self.not_finite || self.unchanged
    }
}

/// What comes of a look at a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Look {
    IsPlausible,
    /// It is not, and the program goes back.
    GoesBack,
    /// It is not, and comes again each time.
    IsTheProgramsOwn,
    /// It was not, and what was wrong has been put right: it is to be taken again.
    IsRepaired,
}

/// So often something is put right at one visit; what is wrong all the same is not what it seems.
const MOST_REPAIRS: usize = 3;

/// A variable that is not what it can be.
struct Wrong {
    what: String,
    /// The function and name of the variable, where the program may have made it so.
    may_be_its_own: Option<(String, String)>,
}

impl Run {
    /// Whether this state can be right, next to the one before it. Where it is not, what is wrong is put right, if nobody can have
    /// used it; else the program goes back. So many `repairs` there have been at this visit.
    ///
    /// # Errors
    /// `gather`'s.
    pub(super) fn look_at(
        &mut self,
        now: &InMemory,
        visits: u64,
        repairs: usize,
        gather: Gather<'_>,
    ) -> Result<Look, Fatal> {
        let Some(wrong) = self.wrong_in(now) else {
            return Ok(Look::IsPlausible);
        };
        if wrong.may_be_its_own.is_none() && repairs < MOST_REPAIRS && self.repairs(now, visits, gather)? {
            return Ok(Look::IsRepaired);
        }
        Ok(self.is_left_for(&wrong, visits))
    }

    /// Puts right all that has changed of itself; whether it was possible.
    ///
    /// # Errors
    /// `gather`'s.
    fn repairs(&mut self, now: &InMemory, visits: u64, gather: Gather<'_>) -> Result<bool, Fatal> {
        let Some(before) = self.snapshots.looked_at_again() else {
            return Ok(false);
        };
        for one in now.changed_since(&before) {
            let began = Instant::now();
            let mut builder = SnapshotBuilder::of_one_made_again(one.owner);
            Frames::AtSite(&mut *gather).save(&mut builder)?;
            let made = builder.made();
            let made = made.and_then(|made| now.put_back(one, &before, Some(&made)));
            let (how, bytes) = match made {
                Some(bytes) => (Repair::MadeAgain, Some(bytes)),
                None => (Repair::PutBack, now.put_back(one, &before, None)),
            };
            let Some(bytes) = bytes else { return Ok(false) };
            let took = began.elapsed().as_secs_f64();
            if let Some(flip) = self.policy.flips_repaired_at(visits) {
                now.damage_place(one, scattered(flip));
            }
            let (function, variable) = now.name_of(one);
            say(&format!(
                "warning[W2413]: `{variable}` of `{function}` has changed, and no statement has written to it; it {}\n  \
                 the program goes on: nothing has read it since site visit {}",
                how.words(),
                before.meta().visit
            ));
            self.ending.record.happened(What::Repair {
                visits,
                function: function.to_owned(),
                variable: variable.to_owned(),
                how,
                bytes,
                took,
            });
        }
        Ok(true)
    }

    /// The program goes back for what is wrong, if it can.
    fn is_left_for(&mut self, wrong: &Wrong, visits: u64) -> Look {
        match self.goes_back_for(&wrong.what, visits) {
            // The ranks go back at a later site.
            Ok(()) | Err(NotRolledBack::Later) => Look::GoesBack,
            Err(why) if wrong.may_be_its_own.is_none() => {
                rollback::ends_job(format_args!("{}", wrong.what), &why);
                Fatal::new(
                    exit_code::REFUSED,
                    headline!("E2391: {}, and the program cannot go back: {why}", wrong.what),
                )
                .at(format!("found at site visit {visits}"))
                .why("memory of the program has changed that none of its statements writes to: what it computes from there is wrong")
                .help("restart it from its newest checkpoint, or start it anew; where it comes each time, the program may be right: `unsafe` code writes to that variable, or a statement that ckpt does not take for a write (report that, please). Then take \"unchanged\" out of `detect`")
                .exit()
            }
            Err(why) => {
                say(&format!(
                    "warning[W2096]: {}, and the program did not go back: {why}\n  \
                     the program goes on; it is not told of this variable again",
                    wrong.what
                ));
                self.own_infinities.extend(wrong.may_be_its_own.clone());
                Look::IsTheProgramsOwn
            }
        }
    }

    /// Has the detectors of the program's look at a state that no checkpoint is to have.
    ///
    /// # Errors
    /// `gather`'s.
    pub(super) fn has_detectors_look(&mut self, visits: u64, gather: Gather<'_>) -> Result<(), Fatal> {
        if self.has_detectors == Some(false) {
            return Ok(());
        }
        let mut builder = SnapshotBuilder::in_blocks(Capture::default());
        self.save(gather, &mut builder)?;
        self.is_left_as_implausible(&builder, visits);
        Ok(())
    }

    /// Whether a detector of the program's has said no of this state: then it goes back, or ends where it cannot.
    pub(super) fn is_left_as_implausible(&mut self, state: &SnapshotBuilder, visits: u64) -> bool {
        self.has_detectors = Some(state.has_detectors());
        let Some(Implausible { key, at, detector }) = state.implausible() else {
            return false;
        };
        let place = match at {
            Some((plan, site)) => {
                let site = plan.sites.get(*site as usize - 1);
                let line = site.map_or(plan.line, |site| site.line);
                format!("`{key}` of `{}` ({}:{line})", plan.function, plan.file)
            }
            None => format!("the static `{key}`"),
        };
        let what = format!("{place} is not plausible, says `{detector}`");
        match self.goes_back_for(&what, visits) {
            // The ranks go back at a later site.
            Ok(()) | Err(NotRolledBack::Later) => true,
            Err(why) => {
                rollback::ends_job(format_args!("{what}"), &why);
                Fatal::new(
                    exit_code::REFUSED,
                    headline!("E2397: {what}, and the program cannot go back: {why}"),
                )
                .at(format!("found at site visit {visits}"))
                .why("what the program has computed is wrong, or the detector is: it may say no to right states as well")
                .help("try the detector on right states; restart the program from its newest checkpoint, or start it anew")
                .exit()
            }
        }
    }

    fn wrong_in(&self, now: &InMemory) -> Option<Wrong> {
        let before = self.snapshots.looked_at()?;
        let changed = now.changed_since(before).next();
        if let Some(changed) = changed.filter(|_| self.detectors.unchanged) {
            let (function, key) = now.name_of(changed);
            return Some(Wrong {
                what: format!("`{key}` of `{function}` has changed, and no statement has written to it"),
                may_be_its_own: None,
            });
        }
        let mut found = now.not_finite_since(before).filter(|_| self.detectors.not_finite);
        let (function, key) = found.find(|(function, key)| {
            let is_this = |own: &(String, String)| own.0 == *function && own.1 == *key;
            !self.own_infinities.iter().any(is_this)
        })?;
        Some(Wrong {
            what: format!("there is a NaN or an infinity in `{key}` of `{function}`, and was none"),
            may_be_its_own: Some((function.to_owned(), key.to_owned())),
        })
    }

    fn goes_back_for(&mut self, reason: &str, visits: u64) -> Result<(), NotRolledBack> {
        let asked = Asked {
            reason,
            is_a_test: false,
            is_shown: self.tests_flips,
            to: None,
            visits,
            may_be_alone: !team::is_member() && !team::is_open(),
        };
        if self.goes_back(asked)? == Leaves::WithItsProcess {
            self.begins_anew();
        }
        Ok(())
    }

    /// Turns bits at the visit at which a test wants that: in variables, or in the newest snapshot. Or has a page lost.
    ///
    /// # Errors
    /// `gather`'s.
    pub(super) fn flips_if_asked(&mut self, visits: u64, gather: Gather<'_>) -> Result<(), Fatal> {
        while let Some(flip) = self.policy.flips_at(visits) {
            match flip.of {
                Struck::Snapshot => {
                    if let Some(newest) = self.snapshots.all().back() {
                        newest.damage(scattered(flip));
                        self.note_flip(visits, "", "", scattered(flip), false);
                    }
                }
                Struck::Variable => self.flip_a_variable(flip, visits, &mut *gather)?,
                Struck::Page => {
                    if let Some((function, variable, bit)) = machine_check::lose_a_page(scattered(flip)) {
                        self.note_flip(visits, &function, &variable, bit, true);
                    }
                }
                Struck::Repaired => {}
            }
        }
        Ok(())
    }

    fn flip_a_variable(&mut self, flip: Flip, visits: u64, gather: Gather<'_>) -> Result<(), Fatal> {
        let mut builder = SnapshotBuilder::in_blocks(Capture::noting());
        Frames::AtSite(gather).save(&mut builder)?;
        let Ok(snapshot) = builder.finish() else {
            return Ok(());
        };
        let places = snapshot.seen.iter().flat_map(|seen| {
            let places = seen.places.iter();
            places.map(move |place| (seen, place))
        });
        let all: usize = places.clone().map(|(_, place)| place.bytes()).sum();
        if all == 0 {
            return Ok(());
        }
        let chosen = scattered(flip);
        let mut left = (chosen / 8) as usize % all;
        for (seen, place) in places {
            if left >= place.bytes() {
                left -= place.bytes();
                continue;
            }
            let at = place.first() + left;
            // SAFETY: it lies in a number of a variable of the program, which stands still at its site.
            let byte = unsafe { std::ptr::with_exposed_provenance::<u8>(at).read_volatile() };
            if from_outside::flip(at, byte, (chosen % 8) as u32) {
                let frame = snapshot.frames.get(seen.frame);
                let function = frame.map_or("", |frame| frame.plan.function);
                let bit = left as u64 * 8 + chosen % 8;
                self.note_flip(visits, function, &seen.key, bit, seen.owner.is_some());
            }
            return Ok(());
        }
        Ok(())
    }

    fn note_flip(&self, visits: u64, function: &str, variable: &str, bit: u64, is_unchanged: bool) {
        self.ending.record.happened(What::Flip {
            visits,
            function: function.to_owned(),
            variable: variable.to_owned(),
            bit,
            is_unchanged,
        });
    }
}

/// A number for a seed: any bit is as likely as any other (splitmix64).
fn scattered(flip: Flip) -> u64 {
    let mut n = flip
        .seed
        .wrapping_mul(0x9e37_79b9_7f4a_7c15)
        .wrapping_add(flip.visit);
    n = (n ^ n >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    n = (n ^ n >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    n ^ n >> 31
}
