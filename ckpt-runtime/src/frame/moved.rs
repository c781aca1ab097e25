//! Variables that move into a thread of a region for good: what the region keeps of them, as long as its threads run. A restart
//! starts these again, with what is kept.

use std::sync::Arc;

use super::Frame;
use crate::sync::mpsc::{self, copied_for_restart};
use crate::team;
use crate::value::{Checkpoint, Refill};

/// A variable that moves into a thread: `(&&&MovesToThread(&x)).keep(&mut frame, "x")` where the region begins.
#[derive(Debug)]
pub struct MovesToThread<'a, T>(pub &'a T);

/// What is kept.
pub trait Kept {
    /// The type of a copy.
    type Value: Refill;
    /// The copy; otherwise it is what the variable held when the region began.
    fn copy(&self) -> Option<&Self::Value>;
}

impl<T: Refill> Kept for Option<T> {
    type Value = T;
    fn copy(&self) -> Option<&T> {
        self.as_ref()
    }
}

/// Nothing but what the variable held when the region began.
#[derive(Debug)]
pub struct AsItWas;

impl Kept for AsItWas {
    type Value = ();
    fn copy(&self) -> Option<&()> {
        None
    }
}

/// One more handle to what threads share: a checkpoint has what is in it when it is taken.
pub trait Shares: Clone {}
impl<T: ?Sized> Shares for Arc<T> {}
impl<T> Shares for mpsc::Sender<T> {}
impl<T> Shares for mpsc::SyncSender<T> {}

/// See [`MovesToThread`].
pub trait KeepsShared {
    /// The variable's type.
    type Value;
    /// The handle, if checkpoints are taken.
    fn keep(&self, frame: &mut Frame, key: &'static str) -> Option<Self::Value>;
}

impl<T: Shares> KeepsShared for &&MovesToThread<'_, T> {
    type Value = T;
    fn keep(&self, frame: &mut Frame, _: &'static str) -> Option<T> {
        frame
            .opens_region()
            .then(|| copied_for_restart(|| self.0.clone()))
    }
}

/// See [`MovesToThread`].
pub trait KeepsEither {
    /// The variable's type.
    type Value;
    /// A copy, where what the variable holds is shared with others, as they go on to be.
    fn keep(&self, frame: &mut Frame, key: &'static str) -> Option<Self::Value>;
}

impl<T: Checkpoint + Clone> KeepsEither for &MovesToThread<'_, T> {
    type Value = T;
    fn keep(&self, frame: &mut Frame, key: &'static str) -> Option<T> {
        let lacks_entry = frame.opens_region() && !team::keep_entry(key, self.0);
        lacks_entry.then(|| copied_for_restart(|| self.0.clone()))
    }
}

/// See [`MovesToThread`].
pub trait KeepsEntry {
    /// Keeps what the variable holds.
    fn keep(&self, frame: &mut Frame, key: &'static str) -> AsItWas;
}

impl<T: Checkpoint> KeepsEntry for MovesToThread<'_, T> {
    fn keep(&self, frame: &mut Frame, key: &'static str) -> AsItWas {
        frame.entry(key, self.0);
        AsItWas
    }
}
