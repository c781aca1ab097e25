//! `ckpt::team`: threads that share loops, for programs that start anew. What makes them stop together is `crate::team`.

use std::any::Any;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{self, ScopedJoinHandle};

mod gate;
use gate::Gate;

/// So many threads, for [`Team::run`].
///
/// ```
/// use ckpt::Schedule;
///
/// let squares = std::sync::Mutex::new(vec![0; 10]);
/// let sums = ckpt::team(3).run(|member| {
///     let mut own = 0;
///     member.for_each(0..10, Schedule::Static, |i| {
///         squares.lock().unwrap()[i] = i * i;
///         own += i * i;
///     });
///     member.reduce(own, |a, b| a + b)
/// });
/// assert_eq!(sums, [285, 285, 285]);
/// ```
///
/// # Panics
/// With no threads.
pub fn team(threads: usize) -> Team {
    assert!(threads > 0, "a team has at least one thread");
    Team { threads }
}

/// A number of threads that work together; see [`team`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Team {
    threads: usize,
}

impl Team {
    /// Runs `body` on every thread of the team, and returns the results in the order of the members. The caller waits.
    ///
    /// In an instrumented function `body` may have sites: all members stop at the same one, and a checkpoint has the
    /// variables of each, and those of the function once.
    ///
    /// # Panics
    /// If a member does, with the same.
    pub fn run<R: Send>(self, body: impl Fn(&Member<'_>) -> R + Sync) -> Vec<R> {
        self.run_and(body, || ())
    }

    /// [`Team::run`], with every member having a part of `data` to itself: blocks of nearly the same length, in order.
    ///
    /// ```
    /// let mut grid = vec![1.0; 100];
    /// ckpt::team(4).run_on(&mut grid, |member, part| {
    ///     part.iter_mut().for_each(|x| *x += member.number() as f64);
    /// });
    /// assert_eq!((grid[0], grid[99]), (1.0, 4.0));
    /// ```
    ///
    /// # Panics
    /// If a member does, with the same.
    pub fn run_on<T: Send, R: Send>(
        self,
        data: &mut [T],
        body: impl Fn(&Member<'_>, &mut [T]) -> R + Sync,
    ) -> Vec<R> {
        self.run_on_and(data, body, || ())
    }

    /// What `run` becomes where `body` has sites.
    #[doc(hidden)]
    pub fn run_and<R: Send>(self, body: impl Fn(&Member<'_>) -> R + Sync, wait: impl FnOnce()) -> Vec<R> {
        let nothing: &mut [()] = &mut [];
        self.run_on_and(nothing, |member, _| body(member), wait)
    }

    /// The same where what each member has to itself is alike, so that there may be more or fewer of them at a restart.
    #[doc(hidden)]
    pub fn run_spread_and<R: Send>(
        self,
        body: impl Fn(&Member<'_>) -> R + Sync,
        wait: impl FnOnce(),
    ) -> Vec<R> {
        let threads = crate::team::spread().unwrap_or(self.threads);
        Team { threads }.run_and(body, wait)
    }

    /// What `run_on` becomes where `body` has sites.
    #[doc(hidden)]
    pub fn run_on_and<T: Send, R: Send>(
        self,
        mut data: &mut [T],
        body: impl Fn(&Member<'_>, &mut [T]) -> R + Sync,
        wait: impl FnOnce(),
    ) -> Vec<R> {
        let shared = Shared::new(self.threads);
        let length = data.len();
        let (shared, body) = (&shared, &body);
        thread::scope(|s| {
            let mut members: Vec<ScopedJoinHandle<'_, R>> = Vec::with_capacity(self.threads);
            for number in 0..self.threads {
                let block = block(0..length, number, self.threads).len();
                let (part, rest) = std::mem::take(&mut data).split_at_mut(block);
                data = rest;
                let member = Member { number, shared };
                let work = move || shared.gate.during(|| body(&member, part));
                members.push(s.spawn(crate::frame::member(work)));
            }
            wait();
            Gate::results(members.into_iter().map(ScopedJoinHandle::join))
        })
    }
}

/// How the iterations of a loop are dealt out to the members.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Schedule {
    /// To each a block of nearly the same length, in order.
    Static,
    /// Pieces of this length, to one member after the other.
    Chunked(usize),
    /// Pieces of this length, each to the member that is free first.
    Dynamic(usize),
    /// The same with pieces that become shorter, down to this length: each is a share of what is left.
    Guided(usize),
}

/// A thread of a team.
#[derive(Debug)]
pub struct Member<'t> {
    number: usize,
    shared: &'t Shared,
}

#[derive(Debug)]
struct Shared {
    threads: usize,
    gate: Gate,
    /// How far the loop has been dealt out that the members are in.
    dealt: AtomicUsize,
    critical: Mutex<()>,
    /// What the members bring to a reduction.
    brought: Mutex<Vec<Option<Box<dyn Any + Send>>>>,
}

impl Shared {
    fn new(threads: usize) -> Self {
        Self {
            threads,
            gate: Gate::new(threads),
            dealt: AtomicUsize::new(0),
            critical: Mutex::new(()),
            brought: Mutex::new((0..threads).map(|_| None).collect()),
        }
    }

    fn brought(&self) -> MutexGuard<'_, Vec<Option<Box<dyn Any + Send>>>> {
        self.brought.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Member<'_> {
    /// Its number, from 0.
    pub fn number(&self) -> usize {
        self.number
    }

    /// How many members the team has.
    pub fn count(&self) -> usize {
        self.shared.threads
    }

    /// Waits until all members are here.
    pub fn barrier(&self) {
        self.shared.gate.wait();
    }

    /// Member 0 does it; nobody waits.
    pub fn master(&self, work: impl FnOnce()) {
        if self.number == 0 {
            work();
        }
    }

    /// One member does it, and all wait for it. It is always member 0, so that a restart does the same.
    pub fn single(&self, work: impl FnOnce()) {
        self.master(work);
        self.barrier();
    }

    /// One member at a time does it.
    pub fn critical<R>(&self, work: impl FnOnce() -> R) -> R {
        let _alone = self
            .shared
            .critical
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        work()
    }

    /// Goes over the range together with the other members, each of which has to call it with the same range and
    /// schedule; then all wait for each other.
    ///
    /// Which member has which iterations is the same every time with [`Schedule::Static`] and [`Schedule::Chunked`].
    ///
    /// # Panics
    /// With pieces of length 0.
    pub fn for_each(&self, range: Range<usize>, schedule: Schedule, mut work: impl FnMut(usize)) {
        let members = self.count();
        match schedule {
            Schedule::Static => block(range, self.number, members).for_each(work),
            Schedule::Chunked(length) => {
                let starts = range.clone().step_by(length).skip(self.number).step_by(members);
                starts.for_each(|start| (start..range.end.min(start + length)).for_each(&mut work));
            }
            Schedule::Dynamic(length) => self.deal(range, |_| length, work),
            Schedule::Guided(least) => self.deal(range, |left| least.max(left / (2 * members)), work),
        }
        self.barrier();
    }

    /// Deals pieces out, the next to whoever asks.
    fn deal(&self, range: Range<usize>, length: impl Fn(usize) -> usize, mut work: impl FnMut(usize)) {
        let dealt = &self.shared.dealt;
        let next = |at: usize| {
            let left = range.len().checked_sub(at).filter(|left| *left > 0)?;
            let piece = length(left);
            assert!(piece > 0, "a piece of a loop has at least one iteration");
            Some(at + piece.min(left))
        };
        while let Ok(start) = dealt.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next) {
            let end = next(start).unwrap_or(start);
            (range.start + start..range.start + end).for_each(&mut work);
        }
        // The next loop begins anew when no one is in this one any more.
        if self.shared.gate.wait() {
            dealt.store(0, Ordering::Relaxed);
        }
    }

    /// Gives to all members what comes of their values, taken in the order of the members: sums of floats are the same
    /// every time. All wait for each other.
    pub fn reduce<T: Send + Clone + 'static>(&self, own: T, combine: impl Fn(T, T) -> T) -> T {
        self.shared.brought()[self.number] = Some(Box::new(own.clone()));
        self.barrier();
        let all: Vec<T> = self
            .shared
            .brought()
            .iter()
            .filter_map(|one| one.as_ref()?.downcast_ref::<T>().cloned())
            .collect();
        self.barrier();
        self.shared.brought()[self.number] = None;
        all.into_iter().reduce(combine).unwrap_or(own)
    }
}

/// The block of a member when a range is cut into as many of nearly the same length.
fn block(range: Range<usize>, number: usize, members: usize) -> Range<usize> {
    let (each, more) = (range.len() / members, range.len() % members);
    let start = range.start + number * each + number.min(more);
    start..start + each + usize::from(number < more)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_schedule_gives_every_iteration_to_one_member() {
        for schedule in [
            Schedule::Static,
            Schedule::Chunked(3),
            Schedule::Dynamic(2),
            Schedule::Guided(1),
        ] {
            for threads in [1, 2, 3] {
                let times: Vec<AtomicUsize> = (0..50).map(|_| AtomicUsize::new(0)).collect();
                team(threads).run(|member| {
                    for _ in 0..4 {
                        member.for_each(5..50, schedule, |i| {
                            times[i].fetch_add(1, Ordering::Relaxed);
                        });
                    }
                });
                let times: Vec<usize> = times.into_iter().map(AtomicUsize::into_inner).collect();
                let expected: Vec<usize> = (0..50).map(|i| if i < 5 { 0 } else { 4 }).collect();
                assert_eq!(times, expected, "{schedule:?} {threads}");
            }
        }
    }

    #[test]
    fn a_reduction_takes_the_members_in_their_order() {
        let words = team(3).run(|member| member.reduce(member.number().to_string(), |a, b| a + &b));
        assert_eq!(words, ["012"; 3]);
    }

    #[test]
    fn single_is_done_before_anybody_goes_on_and_critical_alone() {
        let count = Mutex::new(0);
        let seen = team(3).run(|member| {
            member.single(|| *count.lock().unwrap() = 10);
            let seen = *count.lock().unwrap() >= 10;
            member.critical(|| *count.lock().unwrap() += 1);
            seen
        });
        assert_eq!((seen, *count.lock().unwrap()), (vec![true; 3], 13));
    }

    #[test]
    fn a_panic_of_a_member_is_the_callers() {
        for panics in [0, 2] {
            let result = std::panic::catch_unwind(|| {
                team(3).run(|member| {
                    if member.number() == panics {
                        std::panic::panic_any("on purpose");
                    }
                    // Nobody waits for ever for one that does not come any more.
                    member.barrier();
                });
            });
            assert_eq!(result.unwrap_err().downcast_ref(), Some(&"on purpose"));
        }
    }
}
