//! What threads wait at and send messages through, where a checkpoint may hold it.

mod barrier;
pub mod mpsc;

pub use barrier::Barrier;
