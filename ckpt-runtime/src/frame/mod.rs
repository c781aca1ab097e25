//! The frames of instrumented functions: how they know where they are, and how a restart walks back into them.
//!
//! Every instrumented function holds a [`Frame`]. While the program runs, a frame only counts site visits. At a restart
//! the frames of the checkpoint are taken up in order, outermost first: each walks to the site that its record names,
//! restores its variables on the way, and calls the next; the innermost arrives at the checkpoint's site, and from there
//! on the program runs as if it had never stopped.
//!
//! [`thread`] has what a thread knows of its calls, [`registrar`] what a frame lends or saves at a site, [`visit`] what
//! happens at a site that has to look up, [`walk`] how a restart takes up its frames.

mod begun;
mod clean;
pub mod lasting;
mod recursion;
mod region;
mod registrar;
mod saver;
mod splitting;
mod strips;
mod thread;
mod visit;
mod walk;

use std::cell::Cell;
use std::marker::PhantomData;
use std::panic::resume_unwind;
use std::ptr;
use std::sync::atomic::Ordering;

pub use begun::{Begun, Walk};
pub(crate) use recursion::DeepCalls;
pub use recursion::{Measured, Recursion};
pub use region::member;
pub use registrar::Registrar;
pub use saver::{KnownToLender, Lend, UnknownToLender, address};
pub use splitting::{
    Cut, CutIndex, SaveParts, Split, SplitValue, Splitter, behind, cut, part, shared, split,
};
pub use strips::{Pace, Strip};

use crate::Checkpoint;
use crate::base::current::{self, LAST};
use crate::base::forks::goes_on_alone;
use crate::base::visit_number::VisitNumber;
use crate::comm;
use crate::plan::{FunctionPlan, SiteKind};
use crate::team::{self};
use crate::value::{Parts, Refill};
use thread::{ALL_FRESH, Lent, Pending, THREAD, Thread, UnmarkedFrame, Way, site_bit, site_plan};

/// Why a restart does not arrive in a process that it has forked.
const FORKED: &str = "the program goes on in a process that it has forked on its way there, and only the one that was started can restart";

/// A session begins: the frames of this thread are its own, and have made so many visits. When deep calls of a function in
/// itself may go without sites.
pub(crate) fn attach(visits: u64, deep_calls: DeepCalls) {
    team::forget();
    begin_thread(visits);
    recursion::set(deep_calls);
    THREAD.with(|thread| thread.is_main.set(true));
    comm::set_site_history(0);
    current::activate(true);
}

/// When deep calls may go without sites, from now on.
pub(crate) fn set_deep_calls(deep_calls: DeepCalls) {
    recursion::set(deep_calls);
}

/// The session ended. Gives the number of site visits.
pub(crate) fn detach() -> u64 {
    current::activate(false);
    THREAD.with(|thread| {
        thread.is_main.set(false);
        thread.forget_visits()
    })
}

/// A thread begins as a member of a team, with this count of visits.
///
/// Gives where its count is, for as long as the thread lives.
pub(crate) fn begin_thread(visits: u64) -> *const VisitNumber {
    clean::forget();
    THREAD.with(|thread| {
        thread.forget();
        thread.visits.store(visits, Ordering::Relaxed);
        &raw const thread.visits
    })
}

/// Whether the caller of this number is in a call at this site, on this thread, which has the session. It is for handlers of signals.
pub(crate) fn is_in_call(activation: u64, site: u32) -> bool {
    THREAD
        .try_with(|thread| thread.is_main.get() && thread.is_in_call(activation, site))
        .unwrap_or(false)
}

/// Whether this is the thread that has the session. It is for handlers of signals.
pub(crate) fn has_session() -> bool {
    THREAD.try_with(|thread| thread.is_main.get()).unwrap_or(false)
}

/// Ends it; returns the visits.
pub(crate) fn end_thread() -> u64 {
    THREAD.try_with(Thread::forget_visits).unwrap_or(0)
}

/// The number of site visits so far, on the thread that makes them, as long as the session lasts.
pub(crate) fn visits() -> Option<u64> {
    let visits = THREAD.try_with(Thread::visits).ok()?;
    (visits < LAST).then_some(visits)
}

/// What unwinds the functions of a program that goes back to a checkpoint.
#[derive(Debug)]
struct GoesBack;

/// Leaves the functions of the program, for the checkpoint that it goes back to.
#[cold]
#[inline(never)]
pub(crate) fn leave() -> ! {
    resume_unwind(Box::new(GoesBack))
}

/// One activation of an instrumented function.
#[derive(Debug)]
pub struct Frame {
    plan: &'static FunctionPlan,
    /// 0 while running, else the own site that a restart walks to.
    target: u32,
    /// The record that a restart restores this frame from.
    record: u32,
    /// The sites at which a visit has to be verified: one bit each.
    fresh: u64,
    /// The instrumented function that was innermost before this one.
    outer: Option<&'static FunctionPlan>,
    /// What is pending when this function is left; `None` where there was no session.
    after: Option<Pending>,
    /// Whether this frame is the outermost one of its thread that no marked call leads to.
    is_unmarked: bool,
    /// How many activations of its function there are in each other with it, where calls may go without sites; else 0.
    depth: u32,
    /// The same of the one before it on its thread, wherever calls may do so.
    outer_depth: u32,
    /// Whether it has made a call of its function.
    has_called: Cell<bool>,
    /// Its number among the activations that checkpoints have seen; 0 before.
    activation: Cell<u64>,
    /// A frame belongs to the thread that entered it.
    thread: PhantomData<*const ()>,
}

impl Frame {
    /// The first thing that an instrumented function does.
    #[inline]
    pub fn enter(plan: &'static FunctionPlan) -> Frame {
        let mut frame = Frame {
            plan,
            target: 0,
            record: 0,
            fresh: 0,
            outer: None,
            after: None,
            is_unmarked: false,
            depth: 0,
            outer_depth: 0,
            has_called: Cell::new(false),
            activation: Cell::new(0),
            thread: PhantomData,
        };
        if current::is_active() {
            frame.link();
        }
        frame
    }

    /// Whether this frame runs; else a restart walks through it.
    #[inline(always)]
    pub fn runs(&self) -> bool {
        self.target == 0
    }

    /// Whether a restart walks to one of the sites `first` to `last`.
    #[inline(always)]
    pub fn enters(&self, first: u32, last: u32) -> bool {
        self.target.wrapping_sub(first) <= last - first
    }

    /// Counts a visit of a site; whether [`checkpoint`](Frame::checkpoint) has to look at it.
    #[inline]
    pub fn due(&mut self, site: u32) -> bool {
        let is_new = comm::passes_site(self.plan.layout, site);
        let visits = THREAD.with(|thread| thread.count(1));
        (visits >= current::next()) | (self.fresh & site_bit(site) != 0) | is_new
    }

    /// The same in a loop without messages, which ranks go round unequally often: it is no visit that all ranks make.
    #[inline]
    pub fn due_in_phase(&mut self, site: u32) -> bool {
        let visits = THREAD.with(|thread| thread.count(1));
        (visits >= current::next()) | (self.fresh & site_bit(site) != 0)
    }

    /// Behind such a loop: whether [`checkpoint`](Frame::checkpoint) has to be called, which waits for the other ranks.
    pub fn ends_phase(&mut self, _site: u32) -> bool {
        THREAD.with(|thread| thread.count(1));
        self.after.is_some()
    }

    /// Looks at a site: the walk of a restart arrives here, or a checkpoint is taken if one is due.
    #[cold]
    #[inline(never)]
    pub fn checkpoint(&mut self, site: u32, registrar: &dyn Fn(&mut Registrar)) {
        if current::is_forked() {
            return self.is_alone();
        }
        if self.after.is_none() {
            return;
        }
        if self.target == 0 {
            return self.visit(site, registrar);
        }
        self.arrive(site);
        // It was left waiting for the others, who wait for it as well.
        if self.target == 0 && site_plan((self.plan, site)).kind == SiteKind::PhaseEnd {
            self.visit(site, registrar)
        }
    }

    /// Calls a function that leads to a site, lending it what `registrar` names for that time.
    #[inline(always)]
    pub fn call<R>(&mut self, site: u32, registrar: &dyn Fn(&mut Registrar), body: impl FnOnce() -> R) -> R {
        let is_linked = self.after.is_some();
        let walks = is_linked && self.target != 0;
        let pending = if !is_linked {
            None
        } else if !walks {
            Some(Pending::Running)
        } else {
            Some(self.hand_over(site))
        };
        let fresh = is_linked && self.fresh & site_bit(site) != 0 && self.still_fresh(site);
        let (result, pending, fresh) = Lent::during(
            (self.plan, site),
            &self.activation,
            fresh,
            pending,
            registrar,
            body,
        );
        if is_linked && !fresh {
            self.fresh &= !site_bit(site);
        }
        if walks {
            self.walked::<R>(site, pending);
        }
        result
    }

    /// The value of a variable, from this frame's record.
    #[cold]
    pub fn restore<T: Checkpoint>(&mut self, key: &str) -> T {
        walk::restore(self, key)
    }

    /// The value of a variable that was passed on by value: where the callee had used it up, something else of its type,
    /// to make the call with.
    #[cold]
    pub fn restore_moved<T: Checkpoint>(&mut self, key: &str) -> T {
        walk::restore_moved(self, key)
    }

    /// A value that was rebuilt, with what this frame's record has of it.
    #[cold]
    pub fn refill<T: Refill>(&mut self, key: &str, value: T) -> T {
        walk::refill(self, key, value)
    }

    /// The same for a value that is passed on: where the callee has it, what was made stands in.
    #[cold]
    pub fn refill_moved<T: Refill>(&mut self, key: &str, value: T) -> T {
        walk::refill_moved(self, key, value)
    }

    /// As [`Frame::refill`], for a value that was rebuilt with all of its parts.
    #[cold]
    pub fn fill_parts<T: Parts<How>, How>(&mut self, key: &str, value: T) -> T {
        walk::fill(self, key, value)
    }

    /// As [`Frame::refill_moved`], for such a value.
    #[cold]
    pub fn fill_moved_parts<T: Parts<How>, How>(&mut self, key: &str, value: T) -> T {
        walk::fill_moved(self, key, value)
    }

    /// Whether the caller has restored this function's by-value parameter `key` and passed it: it must not be restored a
    /// second time, its destructor could have effects.
    pub fn passed(&self, key: &str) -> bool {
        walk::passed(self, key)
    }

    /// The value of the callee's parameter `index`, from the callee's record.
    #[cold]
    pub fn argument<T: Checkpoint>(&mut self, site: u32, index: u32) -> T {
        walk::argument(self, site, index)
    }

    /// Ends the run: the walk of a restart cannot go on, because of `what`.
    #[cold]
    pub fn lost(&self, what: &str) -> ! {
        walk::lost(self, what).exit()
    }

    #[inline(never)]
    fn link(&mut self) {
        THREAD.with(|thread| {
            let reached = thread.pending.replace(Pending::None);
            self.after = Some(if reached == Pending::None {
                Pending::None
            } else {
                Pending::Left
            });
            self.outer = thread.innermost.replace(Some(self.plan));
            let calls_itself = self.outer.is_some_and(|outer| ptr::eq(outer, self.plan));
            (self.outer_depth, self.depth) = Self::depth_of(thread, calls_itself);
            self.fresh = thread.fresh(self.plan);
            // A call that a visit has verified was marked: its names need no second look.
            let known = self.fresh != ALL_FRESH && matches!(reached, Pending::Running | Pending::Walking);
            if !known
                && thread.unmarked.get().is_none()
                && let Some(found) = self
                    .outer
                    .and_then(|parent| thread.unmarked(parent, self.plan, reached))
            {
                self.become_unmarked(thread, found, reached);
            }
            if !self.is_unmarked && (reached == Pending::Walking || self.outer.is_none()) {
                self.take_up();
            }
        });
    }

    fn become_unmarked(&mut self, thread: &Thread, found: UnmarkedFrame, reached: Pending) {
        self.is_unmarked = true;
        self.fresh = ALL_FRESH;
        thread.unmarked.set(Some(found));
        if let Way::Between(_) = found.how {
            // Perhaps it only computes an argument of the call: the callee is still to come.
            self.after = Some(reached);
        }
    }

    /// This process was forked from the one that has the session: where that is a restart on its way, what is here is half
    /// restored.
    #[cold]
    fn is_alone(&self) {
        if self.target != 0 {
            walk::lost(self, FORKED).exit();
        }
        goes_on_alone();
    }

    /// Looks again whether a site has to be verified: another visit may have done so since this frame was entered.
    #[cold]
    fn still_fresh(&mut self, site: u32) -> bool {
        self.fresh &= THREAD.with(|thread| thread.fresh(self.plan));
        self.fresh & site_bit(site) != 0
    }
}

impl Thread {
    /// What is wrong about the way in which `plan` was reached from `parent`, if something is.
    fn unmarked(
        &self,
        parent: &'static FunctionPlan,
        plan: &'static FunctionPlan,
        reached: Pending,
    ) -> Option<UnmarkedFrame> {
        let call = self.top(|call| call.map(Lent::site_plan));
        let how = match (reached, call) {
            (Pending::Running | Pending::Walking, Some(call)) if visit::calls(call, plan) => return None,
            (Pending::Running | Pending::Walking, Some(call)) => Way::Between(call),
            (Pending::Left, Some(call)) => Way::Second(call),
            _ => Way::NotMarked,
        };
        Some(UnmarkedFrame { plan, parent, how })
    }
}

impl Drop for Frame {
    #[inline]
    fn drop(&mut self) {
        if let Some(after) = self.after {
            self.unlink(after);
        }
    }
}

impl Frame {
    #[inline(never)]
    fn unlink(&mut self, after: Pending) {
        THREAD.with(|thread| {
            thread.innermost.set(self.outer);
            thread.depth.set(self.outer_depth);
            thread.pending.set(after);
            if self.is_unmarked {
                thread.unmarked.set(None);
            }
        });
        if self.target != 0 && !std::thread::panicking() && !current::is_forked() {
            self.left_before_arrival();
        }
    }
}
