//! Wall clock timers, C style: a table of them, known by number.

use std::cell::RefCell;
use std::time::Instant;

#[derive(Clone, Copy)]
struct Timer {
    start: Option<Instant>,
    elapsed: f64,
}

const NEW: Timer = Timer { start: None, elapsed: 0.0 };

thread_local! {
    static TIMERS: RefCell<[Timer; 64]> = const { RefCell::new([NEW; 64]) };
}

pub fn timer_clear(n: usize) {
    TIMERS.with(|t| t.borrow_mut()[n] = NEW);
}

pub fn timer_start(n: usize) {
    TIMERS.with(|t| t.borrow_mut()[n].start = Some(Instant::now()));
}

pub fn timer_stop(n: usize) {
    TIMERS.with(|t| {
        let timer = &mut t.borrow_mut()[n];
        if let Some(start) = timer.start.take() {
            timer.elapsed += start.elapsed().as_secs_f64();
        }
    });
}

pub fn timer_read(n: usize) -> f64 {
    TIMERS.with(|t| t.borrow()[n].elapsed)
}
