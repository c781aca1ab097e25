//! The library that a restartable program links.

extern crate self as ckpt;

pub mod plan;
pub mod snapshot;
pub mod store;
pub mod value;

pub use ckpt_macros::Checkpoint;
pub use value::{Checkpoint, LoadError, SaveError};
