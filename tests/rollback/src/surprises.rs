//! What is not in a variable of the program: state of the process and of libraries, and ways out of a function.

use std::cell::{OnceCell, RefCell};
use std::panic::{self, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::{process, ptr, thread};

use crate::{STEPS, strikes};

pub static LIST: OnceLock<Mutex<Vec<u64>>> = OnceLock::new();
static SET_UP: AtomicBool = AtomicBool::new(false);

thread_local! {
    pub static CELLS: OnceCell<RefCell<Vec<u64>>> = const { OnceCell::new() };
}

fn look(step: u64) {
    ckpt::check!(!strikes(step), "step {step} has gone wrong");
}

/// Set once, and changed in place.
#[ckpt::instrument]
pub fn set_once() {
    LIST.get_or_init(Mutex::default);
    CELLS.with(|cells| drop(cells.get_or_init(RefCell::default).borrow()));
    for step in 1..=STEPS {
        ckpt::checkpoint!();
        let list = LIST.get().expect("it is set");
        list.lock().expect("nobody has panicked").push(step);
        CELLS.with(|cells| cells.get().expect("it is set").borrow_mut().push(step));
        look(step);
    }
    println!("{:?}", LIST.get());
    CELLS.with(|cells| println!("{cells:?}"));
}

fn panics_in_silence() {
    let _ = catch_unwind(|| panic!("for the hook"));
}

/// A hook that is installed again on the way.
#[ckpt::instrument]
pub fn hook() {
    let seen = Arc::new(AtomicU64::new(0));
    #[ckpt(reexecute)]
    panic::set_hook(Box::new({
        let seen = Arc::clone(&seen);
        move |_| {
            seen.fetch_add(1, Ordering::Relaxed);
        }
    }));
    for step in 1..=STEPS {
        ckpt::checkpoint!();
        look(step);
        panics_in_silence();
    }
    println!("seen {}", seen.load(Ordering::Relaxed));
}

fn is_blocked() -> bool {
    // SAFETY: only looks; a set is plain memory.
    unsafe {
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::pthread_sigmask(libc::SIG_BLOCK, ptr::null(), &mut set);
        libc::sigismember(&set, libc::SIGUSR2) == 1
    }
}

/// A step without the signal.
fn undisturbed(step: u64) {
    // SAFETY: plain calls on sets of their own, and of a signal that nobody handles.
    unsafe {
        let (mut set, mut before): (libc::sigset_t, libc::sigset_t) =
            (std::mem::zeroed(), std::mem::zeroed());
        libc::sigemptyset(&mut set);
        libc::sigaddset(&mut set, libc::SIGUSR2);
        libc::pthread_sigmask(libc::SIG_BLOCK, &set, &mut before);
        let ignored = libc::signal(libc::SIGHUP, libc::SIG_IGN);
        look(step);
        libc::signal(libc::SIGHUP, ignored);
        libc::pthread_sigmask(libc::SIG_SETMASK, &before, ptr::null_mut());
    }
}

#[ckpt::instrument]
pub fn signals() {
    let mut found = Vec::new();
    for step in 1..=STEPS {
        ckpt::checkpoint!();
        // SAFETY: what it was is put back at once.
        let was = unsafe { libc::signal(libc::SIGHUP, libc::SIG_DFL) };
        found.push(is_blocked() || was == libc::SIG_IGN);
        undisturbed(step);
    }
    println!("{found:?}");
}

fn ends_where_it_is_caught(step: u64) {
    if catch_unwind(|| look(step)).is_err() {
        process::exit(3);
    }
}

#[ckpt::instrument]
pub fn exits() {
    let mut sum = 0;
    for step in 1..=STEPS {
        ckpt::checkpoint!();
        ends_where_it_is_caught(step);
        sum += step;
    }
    println!("{sum}");
}

/// A thread waits for what comes behind the check.
fn scoped(step: u64) -> u64 {
    let (is_over, found) = (AtomicBool::new(false), AtomicU64::new(0));
    thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                thread::yield_now();
            }
            found.store(step, Ordering::Relaxed);
        });
        look(step);
        is_over.store(true, Ordering::Relaxed);
    });
    found.into_inner()
}

#[ckpt::instrument]
pub fn scopes() {
    let mut sum = 0;
    for step in 1..=STEPS {
        ckpt::checkpoint!();
        sum += scoped(step);
    }
    println!("{sum}");
}

struct Adds<'a>(&'a Mutex<u64>);

impl Drop for Adds<'_> {
    fn drop(&mut self) {
        *self.0.lock().expect("nobody has panicked") += 1;
    }
}

fn added(step: u64, sum: &Mutex<u64>) {
    let _adds = Adds(sum);
    let mut locked = sum.lock().expect("nobody has panicked");
    *locked += step;
    look(step);
}

/// A destructor that panics because its lock was held.
#[ckpt::instrument]
pub fn destructors() {
    let sum = Mutex::new(0);
    for step in 1..=STEPS {
        ckpt::checkpoint!();
        added(step, &sum);
    }
    println!("{:?}", sum.lock());
}

fn set_up_once() {
    if SET_UP.swap(true, Ordering::Relaxed) {
        process::exit(0);
    }
}

#[ckpt::instrument]
pub fn exits_on_the_way() {
    #[ckpt(reexecute)]
    set_up_once();
    for step in 1..=STEPS {
        ckpt::checkpoint!();
        look(step);
    }
    println!("end");
}

extern "C" fn hears(_: libc::c_int) {}

/// A handler that is installed behind the checkpoint.
#[ckpt::instrument]
pub fn handler() {
    for step in 1..=STEPS {
        ckpt::checkpoint!();
        if step == 11 {
            // SAFETY: the handler does nothing.
            unsafe {
                libc::signal(
                    libc::SIGURG,
                    hears as extern "C" fn(libc::c_int) as libc::sighandler_t,
                )
            };
        }
        if step < 20 {
            look(step);
        }
    }
    println!("end");
}
