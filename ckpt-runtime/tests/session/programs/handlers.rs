//! A program whose signal handler writes to a file, and that is interrupted again and again while it changes files itself.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use ckpt::__rt::{Frame, FunctionPlan, open};

use super::{MAIN, PROGRAM, STEPS, checkpoint_at, plan, variable};

const SITES: &[ckpt::__rt::SitePlan] = &[checkpoint_at(10, &[variable("step", 5), variable("length", 6)])];
static PLAN: FunctionPlan = plan("main", 1, MAIN, SITES);

/// How a process that hangs ends.
const HANGS: i32 = 9;
const PATIENCE: Duration = Duration::from_secs(60);

extern "C" fn handler(_: libc::c_int) {
    // SAFETY: plain calls of the C library, which a handler may make; the texts end with a zero.
    unsafe {
        let errno = *libc::__errno_location();
        let how = libc::O_WRONLY | libc::O_CREAT | libc::O_APPEND;
        let file = libc::open(c"handled.txt".as_ptr(), how, 0o644);
        libc::write(file, c"x".as_ptr().cast(), 1);
        libc::close(file);
        *libc::__errno_location() = errno;
    }
}

/// Changes files, without any memory of its own: a handler that interrupts that may not ask for memory.
fn work() {
    let how = libc::O_WRONLY | libc::O_CREAT | libc::O_TRUNC;
    for _ in 0..100 {
        // SAFETY: plain calls of the C library; the texts end with a zero.
        unsafe {
            let file = libc::open(c"new.txt".as_ptr(), how, 0o644);
            libc::write(file, c"new".as_ptr().cast(), 3);
            libc::close(file);
            libc::rename(c"new.txt".as_ptr(), c"old.txt".as_ptr());
            libc::unlink(c"old.txt".as_ptr());
        }
    }
}

/// Does it while another thread interrupts this one.
fn interrupted(work: impl FnOnce()) {
    let (begins, is_over, has_ended) = (
        AtomicBool::new(false),
        AtomicBool::new(false),
        AtomicBool::new(false),
    );
    // SAFETY: it only tells which thread this is.
    let this = unsafe { libc::pthread_self() };
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !begins.load(Ordering::SeqCst) {
                std::hint::spin_loop();
            }
            let begun = Instant::now();
            while !is_over.load(Ordering::SeqCst) {
                if begun.elapsed() > PATIENCE {
                    // SAFETY: ends the process.
                    unsafe { libc::_exit(HANGS) }
                }
                // SAFETY: that thread waits for this one.
                unsafe { libc::pthread_kill(this, libc::SIGUSR2) };
                std::thread::sleep(Duration::from_micros(20));
            }
            has_ended.store(true, Ordering::SeqCst);
        });
        begins.store(true, Ordering::SeqCst);
        work();
        is_over.store(true, Ordering::SeqCst);
        while !has_ended.load(Ordering::SeqCst) {
            std::hint::spin_loop();
        }
        // The last signal may be on its way.
        // SAFETY: it only waits.
        unsafe { libc::usleep(10_000) };
    });
}

/// How often the handler has written.
fn length() -> u64 {
    std::fs::metadata("handled.txt").map_or(0, |found| found.len())
}

pub fn main() {
    let __session = open(PROGRAM);
    let address: extern "C" fn(libc::c_int) = handler;
    // SAFETY: the handler is a function of this program.
    unsafe { libc::signal(libc::SIGUSR2, address as libc::sighandler_t) };
    let mut __ckpt = Frame::enter(&PLAN);
    let mut step: u64 = if __ckpt.runs() { 0 } else { __ckpt.restore("step") };
    let mut known: u64 = if __ckpt.runs() {
        0
    } else {
        __ckpt.restore("length")
    };
    while __ckpt.enters(1, 1) || step < STEPS {
        if __ckpt.runs() {
            step += 1;
            interrupted(work);
            assert!(length() > known, "the handler has written");
            known = length();
        }
        if __ckpt.due(1) {
            __ckpt.checkpoint(1, &|r| {
                r.save("step", &step);
                r.save("length", &known);
            });
        }
        assert_eq!(length(), known, "what the handler has written since is undone");
    }
    println!("ended");
}
