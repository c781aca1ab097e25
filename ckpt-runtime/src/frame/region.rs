//! A frame that opens a parallel region, and one that is a member's first.

use std::any::type_name;
use std::sync::atomic::Ordering;

use super::thread::{FunctionSite, THREAD, Thread, site_bit};
use super::visit::{gather, position};
use super::walk::{lost, restore_parameter};
use super::{Frame, Registrar, begin_thread, end_thread};
use crate::Checkpoint;
use crate::base::current::{self, LAST};
use crate::base::forks::goes_on_alone;
use crate::base::report::{Fatal, headline};
use crate::context;
use crate::team::{self, Counting, RestoreInPlace};

impl Frame {
    /// A region begins here: threads that are started from now on are members of its team. The walk of a restart ends
    /// here for this frame; what it starts walks on.
    pub fn region(&mut self, site: u32) {
        if current::is_forked() {
            return self.is_alone();
        }
        if self.after.is_none() || self.target != 0 && site < self.target {
            return;
        }
        if self.target != 0 && site > self.target {
            lost(self, "it came to a later region first").exit();
        }
        if team::is_member() {
            nested((self.plan, site)).exit();
        }
        let walks = self.target != 0;
        self.target = 0;
        let visits = THREAD.with(Thread::visits);
        if visits < LAST {
            team::forget_entries();
            team::begin(walks, visits);
        }
    }

    /// Keeps what a variable holds, which the region that begins lends to its members.
    pub fn entry<T: Checkpoint + ?Sized>(&mut self, key: &'static str, value: &T) {
        if self.after.is_some() && self.target == 0 && !goes_on_alone() {
            team::keep_entry(key, value);
        }
    }

    /// Waits for the members of the team, and takes the checkpoints of all that are due meanwhile.
    pub fn await_members(&mut self, site: u32, registrar: &dyn Fn(&mut Registrar)) {
        if self.after.is_none() || goes_on_alone() {
            return;
        }
        let place: FunctionSite = (self.plan, site);
        let waited = THREAD.with(|thread| {
            if self.fresh & site_bit(site) != 0 {
                gather(thread, place, &self.activation, registrar, None)?;
                self.fresh &= !site_bit(site);
            }
            let visits = team::wait(&|| position(place), &|builder| {
                gather(thread, place, &self.activation, registrar, Some(builder))
            })?;
            if current::rolls_back() {
                super::leave();
            }
            thread.visits.store(visits, Ordering::Relaxed);
            context::with_driver(|driver| driver.go_on(visits));
            Ok(())
        });
        waited.unwrap_or_else(|fatal: Fatal| fatal.exit())
    }

    /// The closure of a member changes what it has captured under these numbers.
    pub fn captures(&mut self, captures: &'static [u32]) {
        team::set_captures(captures);
    }

    /// Variables of its region have moved into what the closure of a member has captured under these numbers, which a checkpoint has of
    /// the member: a restart passes them again.
    pub fn moved_in(&mut self, captures: &'static [(u32, &'static str)]) {
        team::set_moved_in(captures);
    }

    /// Puts what a member had changed of it into what its closure has captured.
    pub fn restore_capture<T: RestoreInPlace + ?Sized>(&mut self, index: u32, key: &str, capture: &mut T) {
        let read = restore_parameter::<T::Read>(self, index, key);
        if let Err(saved) = capture.put(read) {
            Fatal::refused(headline!(
                "E2001: `{key}` of `{}` has another length than in the checkpoint, where it had {saved}",
                self.plan.function
            ))
            .at(format!("{}:{}", self.plan.file, self.plan.line))
            .why(format!("a thread of a team gets its part of `{}` from the region that starts it", type_name::<T>()))
            .help("give the program the arguments, input files and environment of the run that was checkpointed")
            .exit();
        }
    }
}

/// Makes the body of a thread one of a member of the team that this thread is starting. Outside a region it is the body.
pub fn member<R, F: FnOnce() -> R>(body: F) -> impl FnOnce() -> R {
    let counting = Counting {
        begin: begin_thread,
        end: end_thread,
    };
    team::member(body, counting)
}

fn nested(place: FunctionSite) -> Fatal {
    Fatal::site(headline!(
        "E2002: a thread of a team opens a region of its own that has sites"
    ))
    .at(position(place))
    .why("a checkpoint holds one team: that of the thread of `main`")
    .help("take the site out of the inner region, or put one between the inner regions")
}
