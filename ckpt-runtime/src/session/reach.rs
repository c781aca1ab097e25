//! How much of a run's time lies within reach of a site, measured for `cargo ckpt crashtest` (`CKPT_MEASURE=1`): a thread asks
//! for a look again and again, and the next visit of a site answers. What a run does between two answers that are far apart is
//! lost when it dies there, however often a checkpoint is due.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::base::current;
use crate::base::own_threads;

/// A run that is shorter does not last for enough questions.
const SHORT: Duration = Duration::from_millis(500);
/// From one question to the next.
const PAUSE: Duration = Duration::from_millis(2);
/// A stretch without a visit counts as out of reach from this part of the whole run on.
const LONG: u32 = 10;

/// The stretches of a run without a visit.
#[derive(Debug)]
pub(super) struct Reach {
    begun: Instant,
    last: Instant,
    /// Those that were long when they ended. As the run goes on fewer of them are.
    long: Vec<Duration>,
    asks: Option<Asker>,
}

impl Reach {
    /// Begins with the run, if that is to be measured. Where every visit looks up anyway nobody has to ask.
    ///
    /// # Errors
    /// The thread that asks cannot be started.
    pub fn measured(all_look: bool) -> std::io::Result<Option<Reach>> {
        if std::env::var_os("CKPT_MEASURE").is_none_or(|value| value != "1") {
            return Ok(None);
        }
        let mut reach = Reach::from(Instant::now());
        if !all_look {
            reach.asks = Some(Asker::start()?);
        }
        Ok(Some(reach))
    }

    fn from(begun: Instant) -> Reach {
        Reach {
            begun,
            last: begun,
            long: Vec::new(),
            asks: None,
        }
    }

    /// The session is open, and the program begins to run.
    pub fn begins(&mut self, now: Instant) {
        (self.begun, self.last) = (now, now);
        self.long.clear();
    }

    /// A site is visited.
    pub fn visited(&mut self, now: Instant) {
        let stretch = now - self.last;
        if is_long(stretch, now - self.begun) {
            self.long.push(stretch);
        }
        self.last = now;
    }

    /// The share of the time until now that lies within reach of a site; `None` where that is too short to be measured.
    pub fn share(&self, now: Instant) -> Option<f64> {
        let whole = now - self.begun;
        if whole < SHORT {
            return None;
        }
        let all = self.long.iter().copied().chain([now - self.last]);
        let out: Duration = all.filter(|stretch| is_long(*stretch, whole)).sum();
        Some(1.0 - out.as_secs_f64() / whole.as_secs_f64())
    }
}

fn is_long(stretch: Duration, whole: Duration) -> bool {
    stretch * LONG > whole
}

/// The thread that asks.
#[derive(Debug)]
struct Asker {
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Asker {
    fn start() -> std::io::Result<Asker> {
        let is_over = Arc::new(AtomicBool::new(false));
        let theirs = Arc::clone(&is_over);
        let thread = std::thread::Builder::new()
            .name("ckpt-reach".into())
            .spawn(move || {
                let _ours = own_threads::is_ours();
                while !theirs.load(Ordering::Relaxed) {
                    std::thread::sleep(PAUSE);
                    current::look_now();
                }
            })?;
        Ok(Asker {
            is_over,
            thread: Some(thread),
        })
    }
}

impl Drop for Asker {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The share of a run that visits sites at these times, and ends at the last, in milliseconds.
    fn share(visits: impl IntoIterator<Item = u64>, end: u64) -> f64 {
        let begun = Instant::now();
        let mut reach = Reach::from(begun);
        for visit in visits {
            reach.visited(begun + Duration::from_millis(visit));
        }
        let share = reach.share(begun + Duration::from_millis(end)).unwrap();
        (share * 1000.0).round() / 1000.0
    }

    #[test]
    fn what_lies_between_visits_that_are_far_apart_is_out_of_reach() {
        assert_eq!(share(0..1000, 1000), 1.0);
        assert_eq!(share([], 1000), 0.0);
        assert_eq!(share(200..1000, 1000), 0.8, "set-up");
        assert_eq!(share(0..=600, 1000), 0.6, "the end");
        assert_eq!(share((0..=100).chain(900..1000), 1000), 0.2, "between");
        assert_eq!(share((0..=1000).step_by(50), 1000), 1.0, "long iterations");
        assert_eq!(share((0..=1000).step_by(250), 1000), 0.0, "four of them");
        assert_eq!(
            share((5..8).chain(20..1000), 1000),
            1.0,
            "long for a short run only"
        );
    }
}
