//! The session that is open in this process, for those that nobody hands it to: sites in generated code, handlers of
//! signals, functions of the C library that ckpt stands in for, threads that end the process, and the process's end.
//!
//! This registration is the only thing of a session that is global. [`register`] sets it, and it is cleared when what that
//! gives is dropped; all else is a field of the session. Sites read two words of it, which are therefore here and not
//! behind a pointer.

use std::ffi::c_int;
use std::mem::ManuallyDrop;
use std::os::fd::{FromRawFd, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU8, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use super::changes::FileObserver;
use super::interrupts::{Interrupts, Sender};
use super::lock::locked;
use super::rollback::NotRolledBack;
use super::visit_number::VisitNumber;

/// The last visit number that a session counts to; threads that are not the session's count from there on.
pub(crate) const LAST: u64 = 1 << 62;

/// What wants attention at the next site: flags of [`attention`].
pub(crate) const INTERVAL: u8 = 1;
/// A signal asks for a stop.
pub(crate) const STOP_SIGNAL: u8 = 2;
/// The time limit is near.
pub(crate) const TIME_LIMIT: u8 = 4;
/// A checkpoint has been written, or could not be: somebody is to look at what came of it.
pub(crate) const WRITTEN: u8 = 8;
/// The state is to be kept in memory.
pub(crate) const SNAPSHOT: u8 = 16;

/// The next checkpoint is half-way: somebody is to look how large the state is.
pub(crate) const HALF_WAY: u8 = 32;

/// What the end of a process asks of its session, from whatever thread.
pub(crate) trait Owner: Send + Sync {
    /// The number of this process among those of the program, if there are several.
    fn rank(&self) -> Option<u32>;

    /// ckpt is about to end the run with an error.
    fn refused(&self, headline: &str);

    /// Before that: where it is a rollback in the process that cannot be carried out, the process begins anew instead, and this
    /// does not return.
    fn begins_anew_instead(&self, headline: &str);

    /// The program goes back to a checkpoint, this one or the newest, from so many site visits: asked for on a thread that is not
    /// the session's, so that the process begins anew. Does not return unless that cannot be.
    fn goes_back_with_its_process(&self, reason: &str, to: Option<u64>, visits: u64) -> NotRolledBack;

    /// This process ends with an error: so must all others.
    fn abort(&self, code: i32);

    /// The process exits, with this status if that is known.
    fn exits(&self, status: Option<c_int>);
}

/// The registration.
struct Current {
    /// Whether there is one: at most one at a time.
    open: AtomicBool,
    /// Whether instrumented functions have a session to report to. Changes only while no instrumented function is active.
    active: AtomicBool,
    /// The visit at which a site has to look up; beyond every count while there is no session.
    next: VisitNumber,
    /// The next visit at which it is certain that something is due: no site passes it without looking up.
    planned: VisitNumber,
    attention: AtomicU8,
    /// The signal that asked for a stop.
    signal: AtomicI32,
    /// Those of the session that is open, from the first on.
    interrupts: Interrupts,
    /// Whether signals are the session's. Otherwise they do what they always did.
    listens: AtomicBool,
    /// The descriptor of the file in which the arrival of a signal is noted; none below 0. Whoever sets it keeps it open.
    noted_in: AtomicI32,
    /// Whether the user is told what an interrupt does.
    speaks: AtomicBool,
    /// The descriptor of the file that locks the store; none below 0. Whoever sets it keeps it open.
    lock: AtomicI32,
    /// Whether this process was forked from the one that the session is of.
    forked: AtomicBool,
    /// Whether the walk of a restart ended somewhere on its way.
    stranded: AtomicBool,
    /// Whether the functions of the program are being left for a checkpoint that it goes back to.
    rolls_back: AtomicBool,
    /// Whether the program goes back in its process and has not arrived: what was set up in it is there already.
    comes_back: AtomicBool,
    /// A leaf lock. It stays when the session has closed, until the next one opens: with which status the process exits
    /// is known only at its end.
    owner: Mutex<Option<Arc<dyn Owner>>>,
    /// Whether the observer wants to hear of files now.
    observes: AtomicBool,
    /// A leaf lock.
    observer: Mutex<Option<Arc<dyn FileObserver>>>,
    /// How many calls of libraries are under way that open files of their own; theirs to count, whatever session is open.
    aside: AtomicUsize,
}

static CURRENT: Current = Current {
    open: AtomicBool::new(false),
    active: AtomicBool::new(false),
    next: VisitNumber::new(u64::MAX),
    planned: VisitNumber::new(u64::MAX),
    attention: AtomicU8::new(0),
    signal: AtomicI32::new(0),
    interrupts: Interrupts::new(),
    listens: AtomicBool::new(false),
    noted_in: AtomicI32::new(-1),
    speaks: AtomicBool::new(false),
    lock: AtomicI32::new(-1),
    forked: AtomicBool::new(false),
    stranded: AtomicBool::new(false),
    rolls_back: AtomicBool::new(false),
    comes_back: AtomicBool::new(false),
    owner: Mutex::new(None),
    observes: AtomicBool::new(false),
    observer: Mutex::new(None),
    aside: AtomicUsize::new(0),
};

/// The session is registered until this is dropped.
#[derive(Debug)]
#[must_use = "the registration ends when this is dropped"]
pub(crate) struct Registration(());

/// Registers the session that opens; none where this process has one already.
pub(crate) fn register(owner: Arc<dyn Owner>) -> Option<Registration> {
    if CURRENT.open.swap(true, Ordering::SeqCst) {
        return None;
    }
    clear();
    CURRENT.stranded.store(false, Ordering::SeqCst);
    set(&CURRENT.owner, Some(owner));
    Some(Registration(()))
}

impl Drop for Registration {
    fn drop(&mut self) {
        clear();
        CURRENT.open.store(false, Ordering::SeqCst);
    }
}

fn clear() {
    CURRENT.active.store(false, Ordering::SeqCst);
    CURRENT.listens.store(false, Ordering::SeqCst);
    note_signals_in(None);
    observe_with(None);
    CURRENT.next.store(u64::MAX, Ordering::SeqCst);
    CURRENT.planned.store(u64::MAX, Ordering::SeqCst);
    CURRENT.attention.store(0, Ordering::SeqCst);
    CURRENT.signal.store(0, Ordering::SeqCst);
    CURRENT.rolls_back.store(false, Ordering::SeqCst);
    CURRENT.comes_back.store(false, Ordering::SeqCst);
}

fn set<T: ?Sized>(place: &Mutex<Option<Arc<T>>>, to: Option<Arc<T>>) {
    let before = std::mem::replace(&mut *locked(place), to);
    drop(before);
}

fn get<T: ?Sized>(place: &Mutex<Option<Arc<T>>>) -> Option<Arc<T>> {
    locked(place).clone()
}

/// The session that is open, or was the last; none of another process.
pub(crate) fn owner() -> Option<Arc<dyn Owner>> {
    match is_forked() {
        true => None,
        false => get(&CURRENT.owner),
    }
}

/// This process has just been forked. If that it was forked from has a session, it is not this one's: sites look up once, to
/// say so, signals do what they always did, and nobody hears of files. Called where only what a signal handler does is allowed.
pub(crate) fn forked() {
    if !CURRENT.open.load(Ordering::SeqCst) {
        return;
    }
    CURRENT.active.store(false, Ordering::SeqCst);
    CURRENT.listens.store(false, Ordering::SeqCst);
    note_signals_in(None);
    observe(false);
    if !CURRENT.forked.swap(true, Ordering::SeqCst) {
        look_now();
        let_go(CURRENT.lock.swap(-1, Ordering::SeqCst));
    }
}

/// The file is closed in this process, and its number stays taken. A lock is that of all processes that have the file open:
/// a fork would keep the store from a restart.
fn let_go(file: c_int) {
    if file < 0 {
        return;
    }
    // SAFETY: whoever has noted the number keeps it open, and closes it; here it is not closed.
    let mut file = ManuallyDrop::new(unsafe { OwnedFd::from_raw_fd(file) });
    let how = rustix::fs::OFlags::RDWR | rustix::fs::OFlags::CLOEXEC;
    // Where there is no such file, the lock stays until the process ends.
    if let Ok(nothing) = rustix::fs::open(c"/dev/null", how, rustix::fs::Mode::empty()) {
        let _ = rustix::io::dup3(&nothing, &mut file, rustix::io::DupFlags::CLOEXEC);
    }
}

/// Whether this process was forked from the one that the session is of.
#[inline]
pub(crate) fn is_forked() -> bool {
    CURRENT.forked.load(Ordering::Relaxed)
}

/// The store is locked by this open file from now on, if it is not locked by another one.
pub(crate) fn locks_with(file: c_int) {
    let _ = CURRENT
        .lock
        .compare_exchange(-1, file, Ordering::SeqCst, Ordering::SeqCst);
}

/// The store is not locked by this file any more.
pub(crate) fn locks_no_more(file: c_int) {
    let _ = CURRENT
        .lock
        .compare_exchange(file, -1, Ordering::SeqCst, Ordering::SeqCst);
}

/// Whether instrumented functions have a session to report to.
#[inline(always)]
pub(crate) fn is_active() -> bool {
    CURRENT.active.load(Ordering::Relaxed)
}

/// Instrumented functions have a session to report to from now on, or none.
pub(crate) fn activate(active: bool) {
    CURRENT.active.store(active, Ordering::SeqCst);
}

/// The visit at which a site has to look up.
#[inline(always)]
pub(crate) fn next() -> u64 {
    CURRENT.next.load(Ordering::Relaxed)
}

/// The next visit at which something is due for certain.
pub(crate) fn planned() -> u64 {
    CURRENT.planned.load(Ordering::SeqCst)
}

/// Sites look up at this visit next, where something is due for certain.
pub(crate) fn plan(visits: u64) {
    CURRENT.planned.store(visits, Ordering::SeqCst);
    CURRENT.next.store(visits, Ordering::SeqCst);
}

/// Asks every site to look up from now on.
pub(crate) fn look_now() {
    CURRENT.next.store(0, Ordering::SeqCst);
}

/// No site looks up until the next time that one is asked to: what wants attention stays noted.
pub(crate) fn look_no_more() {
    CURRENT.next.store(LAST, Ordering::SeqCst);
}

/// No site looks up any more. Gives whether one would have.
pub(crate) fn look_never() -> bool {
    CURRENT.next.swap(u64::MAX, Ordering::SeqCst) != u64::MAX
}

/// Sites look up at the next planned visit: what wants attention stays noted until then.
pub(crate) fn look_as_planned() {
    CURRENT.next.store(planned(), Ordering::SeqCst);
}

/// What wants attention.
pub(crate) fn attention() -> u8 {
    CURRENT.attention.load(Ordering::SeqCst)
}

/// Notes what wants attention, without asking sites to look up.
pub(crate) fn note(flag: u8) {
    CURRENT.attention.fetch_or(flag, Ordering::SeqCst);
}

/// From now on these are watched; returns which of them had been noted.
pub(crate) fn take(flags: u8) -> u8 {
    CURRENT.attention.fetch_and(!flags, Ordering::SeqCst) & flags
}

/// Notes it and asks every site to look up. Called by any thread.
pub(crate) fn call_attention(flag: u8) {
    note(flag);
    look_now();
}

/// What is said where somebody presses Ctrl-C.
const INTERRUPTED: &[u8] =
    b"ckpt: interrupted: the run stops at its next site, with a checkpoint; press Ctrl-C again to end at once\n";
/// What stands behind what is in the file when a signal has arrived.
const NOTED: &[u8] = b"heard\n";

/// Called in a signal handler: only touches atomics and writes to open files. Gives whether the signal is the session's. A
/// second interrupt is not: who presses Ctrl-C twice does not want to wait. The time is that of a clock in milliseconds.
pub(crate) fn signal_arrived(signal: i32, sender: Sender, now: u32) -> bool {
    if !CURRENT.listens.load(Ordering::SeqCst) {
        return false;
    }
    let before = CURRENT.signal.swap(signal, Ordering::SeqCst);
    if signal == libc::SIGINT {
        if before == libc::SIGINT {
            return !CURRENT.interrupts.is_again(sender, now);
        }
        CURRENT.interrupts.first(sender, now);
        if CURRENT.speaks.load(Ordering::SeqCst) {
            write(libc::STDERR_FILENO, INTERRUPTED);
        }
    }
    let file = CURRENT.noted_in.load(Ordering::SeqCst);
    if before == 0 && file >= 0 {
        write(file, NOTED);
    }
    call_attention(STOP_SIGNAL);
    true
}

/// As a signal handler may: nothing is allocated or locked, and nobody learns of an error.
fn write(file: i32, bytes: &[u8]) {
    // SAFETY: the number is that of standard error, or of a file that is kept open as long as it is registered; if it is not
    // open, nothing is written.
    let file = unsafe { rustix::fd::BorrowedFd::borrow_raw(file) };
    let _ = rustix::io::write(file, bytes);
}

/// The arrival of the first signal is noted in this open file from now on, or nowhere.
pub(crate) fn note_signals_in(file: Option<i32>) {
    CURRENT.noted_in.store(file.unwrap_or(-1), Ordering::SeqCst);
}

/// The user is told from now on what an interrupt does, or not.
pub(crate) fn speak_of_interrupts(speaks: bool) {
    CURRENT.speaks.store(speaks, Ordering::SeqCst);
}

/// The signal that has asked for a stop, if one has and the stop is not carried out.
pub(crate) fn stop_asked_for() -> Option<i32> {
    (attention() & STOP_SIGNAL != 0).then(signal)
}

/// A signal that the session before this one was sent asks for a stop.
pub(crate) fn ask_for_stop(signal: Option<i32>) {
    if let Some(signal) = signal {
        CURRENT.signal.store(signal, Ordering::SeqCst);
        call_attention(STOP_SIGNAL);
    }
}

/// The signal that asked for a stop.
pub(crate) fn signal() -> i32 {
    CURRENT.signal.load(Ordering::SeqCst)
}

/// Signals are the session's from now on, or do what they always did.
pub(crate) fn listen(listens: bool) {
    CURRENT.listens.store(listens, Ordering::SeqCst);
}

/// The walk of the restart ended on its way: the process is to end with an error, whatever `main` returns.
pub(crate) fn strand() {
    CURRENT.stranded.store(true, Ordering::SeqCst);
}

/// Whether the walk of the restart ended on its way.
pub(crate) fn is_stranded() -> bool {
    CURRENT.stranded.load(Ordering::SeqCst)
}

/// The program goes back to a checkpoint: its functions are left from now on until the session has closed, and every site looks
/// up.
pub(crate) fn roll_back() {
    CURRENT.rolls_back.store(true, Ordering::SeqCst);
    look_now();
}

/// Whether the functions of the program are being left for a checkpoint that it goes back to.
#[inline(always)]
pub(crate) fn rolls_back() -> bool {
    CURRENT.rolls_back.load(Ordering::Relaxed)
}

/// The program walks to a checkpoint in the process in which it has gone back, or has arrived.
pub(crate) fn comes_back_now(comes_back: bool) {
    CURRENT.comes_back.store(comes_back, Ordering::SeqCst);
}

/// Whether the program walks to a checkpoint in the process in which it has gone back.
pub(crate) fn comes_back() -> bool {
    CURRENT.comes_back.load(Ordering::SeqCst)
}

/// Who hears of files. It hears nothing until [`observe`] says so.
pub(crate) fn observe_with(observer: Option<Arc<dyn FileObserver>>) {
    observe(false);
    set(&CURRENT.observer, observer);
}

/// The observer hears of files from now on, or no more.
pub(crate) fn observe(observes: bool) {
    CURRENT.observes.store(observes, Ordering::SeqCst);
}

/// Whether somebody wants to hear of files now.
#[inline]
pub(crate) fn observes() -> bool {
    CURRENT.observes.load(Ordering::Relaxed)
}

/// Who hears of files now. What a library is about is its own business.
pub(crate) fn observer() -> Option<Arc<dyn FileObserver>> {
    if observes() && !is_aside() {
        get(&CURRENT.observer)
    } else {
        None
    }
}

/// Whether a library is about its own business.
pub(crate) fn is_aside() -> bool {
    CURRENT.aside.load(Ordering::Relaxed) > 0
}

/// What is opened during this call, on whatever thread, is a library's own business: it opens its files again in a new
/// process, under other names.
pub(crate) fn not_the_programs<R>(call: impl FnOnce() -> R) -> R {
    CURRENT.aside.fetch_add(1, Ordering::Relaxed);
    let result = call();
    CURRENT.aside.fetch_sub(1, Ordering::Relaxed);
    result
}
