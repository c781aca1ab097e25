//! Where threads wait for each other.

use std::fmt;
use std::ops::Deref;
use std::sync::BarrierWaitResult;

use crate::value::{Checkpoint, Decoder, Encoder, LoadError, Reach};

/// A [`std::sync::Barrier`] that knows for how many threads it is, so that a checkpoint can hold it: a field of a
/// struct of the program, for one. `cargo ckpt` puts it in the place of the standard library's.
///
/// At a site nobody waits at a barrier, so a restart makes a new one for as many threads.
///
/// ```
/// use ckpt::sync::Barrier;
/// use std::sync::Mutex;
///
/// #[derive(ckpt::Checkpoint)]
/// struct Shared {
///     sums: Mutex<Vec<f64>>,
///     barrier: Barrier,
/// }
///
/// let shared = Shared { sums: Mutex::default(), barrier: Barrier::new(2) };
/// std::thread::scope(|s| {
///     for k in 0..2 {
///         let shared = &shared;
///         s.spawn(move || {
///             shared.sums.lock().unwrap().push(f64::from(k));
///             shared.barrier.wait();
///             assert_eq!(shared.sums.lock().unwrap().len(), 2);
///         });
///     }
/// });
/// ```
pub struct Barrier {
    inner: std::sync::Barrier,
    threads: usize,
}

impl Barrier {
    /// A barrier at which so many threads wait for each other.
    pub const fn new(n: usize) -> Self {
        Self {
            inner: std::sync::Barrier::new(n),
            threads: n,
        }
    }

    /// Waits until all have arrived; returns true for one of them, the leader.
    pub fn wait(&self) -> BarrierWaitResult {
        self.inner.wait()
    }
}

impl Deref for Barrier {
    type Target = std::sync::Barrier;

    fn deref(&self) -> &Self::Target {
        &self.inner
    }
}

impl fmt::Debug for Barrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

impl Checkpoint for Barrier {
    fn save(&self, to: &mut Encoder<'_>) {
        self.threads.save(to);
    }
    fn load(from: &mut Decoder<'_>) -> Result<Self, LoadError> {
        usize::load(from).map(Self::new)
    }
    fn reach(to: &mut Reach) {
        to.into_part::<usize>();
    }
}
