//! What a thread knows about its instrumented functions: the calls in progress, and which of them were marked.
//!
//! A call that leads to a site is a node on the caller's stack ([`Lent`]), linked to the one below it; the thread holds
//! the top. Nothing is allocated, so recursion may be as deep as the stack itself, and leaving a call by return or by
//! unwinding takes its node off again.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::ptr;
use std::sync::atomic::{Ordering, compiler_fence};

use super::Registrar;
use crate::base::current::LAST;
use crate::base::visit_number::VisitNumber;
use crate::plan::{FunctionPlan, SiteKind, SitePlan};

/// How a function may be reached just now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pending {
    /// No marked call waits for its callee.
    None,
    /// A marked call waits for its callee.
    Running,
    /// As `Running`, and the callee is the next frame of the walk to the site.
    Walking,
    /// The callee of the marked call has been entered and left.
    Left,
}

/// The thread's side of the frames; of its verified calls and visits nothing stays from one session to the next. Constant initialisation and no destructor: an access costs one load.
pub(super) struct Thread {
    /// Site visits. A thread that is not the session's counts from [`LAST`] on, so that its first visit is looked at.
    /// The thread alone sets it; that of its team reads it.
    pub(super) visits: VisitNumber,
    pub(super) pending: Cell<Pending>,
    /// The innermost marked call in progress.
    top: Cell<*const Lent>,
    /// The innermost instrumented function that is active.
    pub(super) innermost: Cell<Option<&'static FunctionPlan>>,
    /// How many activations of the innermost function there are in each other.
    pub(super) depth: Cell<u32>,
    /// Whether a session has been opened on it.
    pub(super) is_main: Cell<bool>,
    /// The outermost active function that was not reached through a marked call.
    pub(super) unmarked: Cell<Option<UnmarkedFrame>>,
    /// The pairs looked up last, by their slot; [`PAIRS`] has all of them.
    verified: [Cell<(Pair, u64)>; CACHE],
}

thread_local! {
    pub(super) static THREAD: Thread = const {
        Thread {
            visits: VisitNumber::new(LAST),
            pending: Cell::new(Pending::None),
            top: Cell::new(ptr::null()),
            innermost: Cell::new(None),
            depth: Cell::new(0),
            is_main: Cell::new(false),
            unmarked: Cell::new(None),
            verified: [const { Cell::new((Pair::NOTHING, ALL_FRESH)) }; CACHE],
        }
    };
}

thread_local! {
    /// For every pair that was visited, the sites of the callee that have not been verified yet.
    static PAIRS: RefCell<HashMap<Pair, u64>> = RefCell::new(HashMap::new());
}

/// An instrumented function that was reached through a call that its caller does not mark: a site under it could not be
/// walked back to.
#[derive(Debug, Clone, Copy)]
pub(super) struct UnmarkedFrame {
    pub(super) plan: &'static FunctionPlan,
    /// The innermost instrumented function that was active when it was entered.
    pub(super) parent: &'static FunctionPlan,
    pub(super) how: Way,
}

/// What is wrong about the way in which a function was reached.
#[derive(Debug, Clone, Copy)]
pub(super) enum Way {
    /// Through a call that the parent does not mark.
    NotMarked,
    /// It is the second one under this marked call; the walk could only enter the first.
    Second(&'static SitePlan),
    /// The parent marks the call of something else, which is not instrumented and called this one.
    Between(&'static SitePlan),
}

/// A marked call in progress: what its caller lends for that time.
pub(super) struct Lent {
    pub(super) plan: &'static FunctionPlan,
    pub(super) site: u32,
    /// Whether this call has not been seen by a verified visit yet.
    pub(super) fresh: Cell<bool>,
    /// The number of the caller's activation.
    activation: *const Cell<u64>,
    registrar: *const dyn Fn(&mut Registrar),
    below: Cell<*const Lent>,
}

impl Lent {
    /// Runs `body` with the caller's registrar on the thread's stack; returns whether the call has been verified since.
    /// Without a session nothing is `pending`, and only `body` runs.
    ///
    /// It is called at one place, and by no closure that could stay a function of its own: what it captures, the variables
    /// of the caller, would have to be in memory, and none of them would be known to be as it was.
    #[inline(always)]
    pub(super) fn during<R>(
        (plan, site): FunctionSite,
        activation: &Cell<u64>,
        fresh: bool,
        pending: Option<Pending>,
        registrar: &dyn Fn(&mut Registrar),
        body: impl FnOnce() -> R,
    ) -> (R, Pending, bool) {
        // SAFETY: only the lifetime changes. The pointer is read by `registrar()` alone, through the thread's
        // stack, on which this node is only while `body` runs, that is while `registrar` is borrowed.
        let registrar = unsafe {
            std::mem::transmute::<
                *const (dyn Fn(&mut Registrar) + '_),
                *const (dyn Fn(&mut Registrar) + 'static),
            >(registrar)
        };
        let node = Lent {
            plan,
            site,
            fresh: Cell::new(fresh),
            activation,
            registrar,
            below: Cell::new(ptr::null()),
        };
        if let Some(pending) = pending {
            THREAD.with(|thread| {
                node.below.set(thread.top.replace(&node));
                thread.pending.set(pending);
            });
        }
        let pop = Pop {
            node: &node,
            is_linked: pending.is_some(),
        };
        let result = body();
        let pending = match pending {
            Some(_) => THREAD.with(|thread| thread.pending.get()),
            None => Pending::None,
        };
        drop(pop);
        (result, pending, node.fresh.get())
    }

    /// What the caller lends.
    ///
    /// The reference must not be kept beyond the visit of the site that asks.
    pub(super) fn registrar(&self) -> &dyn Fn(&mut Registrar) {
        // SAFETY: `self` is on the thread's stack of calls, so `during` is running below and borrows the closure. The
        // reference lives as long as the borrow of `self`, which `top` and `chain` hand out for the time of a visit.
        unsafe { &*self.registrar }
    }

    /// The number of the caller's activation.
    pub(super) fn activation(&self) -> &Cell<u64> {
        // SAFETY: as in `registrar`: `during` is running below, and borrows the cell as it borrows the closure.
        unsafe { &*self.activation }
    }

    pub(super) fn place(&self) -> FunctionSite {
        (self.plan, self.site)
    }
}

/// Takes a node off the thread's stack, by return or by unwinding.
struct Pop<'a> {
    node: &'a Lent,
    is_linked: bool,
}

impl Drop for Pop<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        if self.is_linked {
            THREAD.with(|thread| {
                thread.top.set(self.node.below.get());
                thread.pending.set(Pending::None);
                // A handler of a signal on this thread sees that before anything of what follows.
                compiler_fence(Ordering::SeqCst);
            });
        }
    }
}

impl Thread {
    /// The number of site visits so far.
    #[inline(always)]
    pub(super) fn visits(&self) -> u64 {
        self.visits.load(Ordering::Relaxed)
    }

    /// Counts so many visits more; gives their number.
    #[inline(always)]
    pub(super) fn count(&self, more: u64) -> u64 {
        let visits = self.visits() + more;
        self.visits.store(visits, Ordering::Relaxed);
        visits
    }

    /// Gives the number of site visits, and counts no more.
    pub(super) fn forget_visits(&self) -> u64 {
        let visits = self.visits();
        self.visits.store(LAST, Ordering::Relaxed);
        visits
    }

    /// The innermost marked call in progress, for the time of `look`.
    pub(super) fn top<R>(&self, look: impl FnOnce(Option<&Lent>) -> R) -> R {
        // SAFETY: a node is on the stack only while its `Lent::during` runs, and it lives in that function's frame.
        // `look` runs above it on this very thread and cannot keep the reference.
        look(unsafe { self.top.get().as_ref() })
    }

    /// Whether the caller of this number is in a call at this site. It is for handlers of signals on this thread: nothing is
    /// allocated.
    pub(super) fn is_in_call(&self, activation: u64, site: u32) -> bool {
        let mut next = self.top.get();
        // SAFETY: as in `chain`. A handler may interrupt `during` and `Pop` anywhere: before a node is on the stack and after it has left
        // it, nothing leads to it.
        while let Some(node) = unsafe { next.as_ref() } {
            if node.site == site && node.activation().get() == activation {
                return true;
            }
            next = node.below.get();
        }
        false
    }

    /// All marked calls in progress, for the time of `look`.
    pub(super) fn chain<R>(&self, look: impl FnOnce(&[&Lent]) -> R) -> R {
        let mut calls = Vec::new();
        let mut next = self.top.get();
        // SAFETY: as in `top`; `below` was the top of the stack when the node was pushed, and is left after it.
        while let Some(node) = unsafe { next.as_ref() } {
            calls.push(node);
            next = node.below.get();
        }
        calls.reverse();
        look(&calls)
    }

    /// The sites of `plan`, reached through the innermost call in progress (or as the first function of the thread),
    /// at which a visit has to be verified: one bit each.
    pub(super) fn fresh(&self, plan: &'static FunctionPlan) -> u64 {
        if self.unmarked.get().is_some() {
            return ALL_FRESH;
        }
        let (caller, above) =
            self.top(|call| call.map_or((None, false), |call| (Some(call.place()), call.fresh.get())));
        if above {
            ALL_FRESH
        } else {
            self.unverified(Pair::new(caller, plan))
        }
    }

    fn unverified(&self, pair: Pair) -> u64 {
        let (known, fresh) = self.verified[pair.slot()].get();
        if known == pair {
            return fresh;
        }
        let fresh = PAIRS.with_borrow(|pairs| pairs.get(&pair).copied().unwrap_or(ALL_FRESH));
        self.verified[pair.slot()].set((pair, fresh));
        fresh
    }

    /// Notes that `site` of `plan` is sound when called from there.
    pub(super) fn verify(&self, caller: Option<FunctionSite>, (plan, site): FunctionSite) {
        let pair = Pair::new(caller, plan);
        let fresh = self.unverified(pair) & !site_bit(site);
        self.verified[pair.slot()].set((pair, fresh));
        PAIRS.with_borrow_mut(|pairs| pairs.insert(pair, fresh));
    }

    /// Forgets everything: for a session that begins.
    pub(super) fn forget(&self) {
        self.verified
            .iter()
            .for_each(|slot| slot.set((Pair::NOTHING, ALL_FRESH)));
        PAIRS.with_borrow_mut(HashMap::clear);
    }
}

/// Pairs of call site and callee that a thread finds without a search.
const CACHE: usize = 32;

pub(super) const ALL_FRESH: u64 = u64::MAX;

/// The bit of a site; from the 63rd on they share one.
#[inline(always)]
pub(super) const fn site_bit(site: u32) -> u64 {
    1 << (if site < 63 { site } else { 63 })
}

/// A site of a function.
pub(super) type FunctionSite = (&'static FunctionPlan, u32);

/// A call site and the function that it calls. What one offers the other depends on nothing else, so a visit verifies
/// every pair on its way, once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Pair {
    caller: *const FunctionPlan,
    site: u32,
    plan: *const FunctionPlan,
}

impl Pair {
    const NOTHING: Pair = Pair {
        caller: ptr::null(),
        site: 0,
        plan: ptr::null(),
    };

    fn new(caller: Option<FunctionSite>, plan: &'static FunctionPlan) -> Pair {
        let (caller, site) = caller.map_or((ptr::null(), 0), |(caller, site)| (ptr::from_ref(caller), site));
        Pair { caller, site, plan }
    }

    fn slot(&self) -> usize {
        let mixed = (self.caller.addr() / 8) ^ (self.plan.addr() / 8).rotate_left(7) ^ self.site as usize;
        (mixed.wrapping_mul(0x9E37_79B9) >> 8) % CACHE
    }
}

/// The plan of site `site`; a plan without sites cannot have called anything.
pub(super) fn site_plan((plan, site): FunctionSite) -> &'static SitePlan {
    static NOWHERE: SitePlan = SitePlan {
        line: 0,
        column: 0,
        kind: SiteKind::Checkpoint,
        variables: &[],
    };
    plan.sites
        .get((site as usize).wrapping_sub(1))
        .unwrap_or(&NOWHERE)
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;

    static PLAN: FunctionPlan = FunctionPlan::SAMPLE;

    /// Calls from this site, whose registrar says nothing.
    fn from_site(site: u32, body: impl FnOnce()) {
        let (number, silent) = (Cell::new(0), |_: &mut Registrar| {});
        Lent::during(
            (&PLAN, site),
            &number,
            false,
            Some(Pending::Running),
            &silent,
            body,
        );
    }

    fn depth() -> usize {
        THREAD.with(|thread| thread.chain(|calls| calls.len()))
    }

    /// Lets every caller on the stack speak, as a visit does.
    fn speak() {
        THREAD.with(|thread| {
            thread.chain(|calls| {
                let mut registrar = Registrar::new(None);
                calls.iter().for_each(|call| call.registrar()(&mut registrar));
            });
        });
    }

    #[test]
    fn callers_speak_from_the_outermost_while_their_calls_are_in_progress() {
        let said = RefCell::new(Vec::new());
        let call = |site: u32, body: &dyn Fn()| {
            let local = site * 10;
            let registrar = |_: &mut Registrar| said.borrow_mut().push(local);
            Lent::during(
                (&PLAN, site),
                &Cell::new(0),
                true,
                Some(Pending::Running),
                &registrar,
                body,
            );
        };
        call(1, &|| {
            call(2, &speak);
            assert_eq!(depth(), 1);
            call(3, &|| call(4, &speak));
        });
        assert_eq!(depth(), 0);
        assert_eq!(said.into_inner(), [10, 20, 10, 30, 40]);
    }

    #[test]
    fn unwinding_takes_the_calls_off() {
        from_site(1, || {
            let unwound = catch_unwind(AssertUnwindSafe(|| {
                from_site(2, || {
                    assert_eq!(depth(), 2);
                    std::panic::resume_unwind(Box::new("in a call"));
                });
            }));
            assert!(unwound.is_err());
            assert_eq!(depth(), 1);
            speak();
        });
        assert_eq!(depth(), 0);
    }

    #[test]
    fn a_verified_pair_is_remembered_by_site() {
        THREAD.with(|thread| {
            thread.forget();
            assert_eq!(thread.fresh(&PLAN), ALL_FRESH);
            thread.verify(None, (&PLAN, 3));
            assert_eq!(thread.fresh(&PLAN), ALL_FRESH & !site_bit(3));
            from_site(1, || {
                assert_eq!(
                    thread.fresh(&PLAN),
                    ALL_FRESH,
                    "called from elsewhere it is another pair"
                );
            });
            thread.forget();
        });
    }
}
