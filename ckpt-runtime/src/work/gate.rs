//! Where the members of a `ckpt::team` wait for each other. When one of them panics the others, which it will not come to
//! any more, are released: they unwind without a message of their own.

use std::any::Any;
use std::panic::resume_unwind;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// A barrier that breaks.
#[derive(Debug)]
pub(crate) struct Gate {
    threads: usize,
    state: Mutex<State>,
    turned: Condvar,
}

#[derive(Debug, Default)]
struct State {
    waiting: usize,
    /// How often all have been here.
    turns: u64,
    broken: bool,
}

/// What a member unwinds with that has waited for one that panicked.
struct Released;

impl Gate {
    pub fn new(threads: usize) -> Gate {
        Gate {
            threads,
            state: Mutex::default(),
            turned: Condvar::new(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until all have arrived; returns true for one of them, the leader.
    pub fn wait(&self) -> bool {
        let mut state = self.state();
        let turn = state.turns;
        state.waiting += 1;
        if state.waiting == self.threads && !state.broken {
            state.waiting = 0;
            state.turns += 1;
            self.turned.notify_all();
            return true;
        }
        let is_here = |state: &mut State| state.turns == turn && !state.broken;
        let state = self.turned.wait_while(state, is_here);
        let has_turned = state.unwrap_or_else(PoisonError::into_inner).turns != turn;
        if !has_turned {
            resume_unwind(Box::new(Released));
        }
        false
    }

    /// Runs a member, which others wait for here.
    pub fn during<R>(&self, member: impl FnOnce() -> R) -> R {
        struct Breaks<'g>(&'g Gate);
        impl Drop for Breaks<'_> {
            fn drop(&mut self) {
                if std::thread::panicking() {
                    self.0.state().broken = true;
                    self.0.turned.notify_all();
                }
            }
        }
        let _breaks = Breaks(self);
        member()
    }

    /// What the members return.
    ///
    /// # Panics
    /// If one of them does, with the same.
    pub fn results<R>(all: impl Iterator<Item = std::thread::Result<R>>) -> Vec<R> {
        let (mut results, mut panics): (Vec<R>, Vec<Box<dyn Any + Send>>) = (Vec::new(), Vec::new());
        for one in all {
            match one {
                Ok(result) => results.push(result),
                Err(panic) => panics.push(panic),
            }
        }
        let own = panics.iter().position(|panic| !panic.is::<Released>());
        match own.or((!panics.is_empty()).then_some(0)) {
            Some(first) => resume_unwind(panics.swap_remove(first)),
            None => results,
        }
    }
}
