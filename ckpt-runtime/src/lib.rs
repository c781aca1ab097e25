//! The library that a restartable program links.

extern crate self as ckpt;

#[doc(hidden)]
#[path = "rt.rs"]
pub mod __rt;
mod adaptors;
mod checksum;
mod copying;
mod files;
mod forked;
mod frame;
mod gate;
mod globals;
pub mod output;
mod pages;
mod parallel;
pub mod plan;
mod ranks;
mod replayed;
pub mod session;
pub mod snapshot;
pub mod store;
pub mod sync;
mod team;
pub mod thread;
mod told;
pub mod value;
mod work;

pub use ckpt_macros::{Checkpoint, instrument, main, object};
#[doc(hidden)]
pub use globals::Place;
pub use globals::{Global, global};
pub use replayed::{Replayed, replayed};
pub use session::{Session, SessionError};
pub use value::{Checkpoint, LoadError, SaveError};
pub use work::{Member, Schedule, Team, team};

/// A place where a checkpoint may be taken.
///
/// It only means something in a function under `#[ckpt::instrument]` or `#[ckpt::main]`, which replace it.
///
/// ```compile_fail
/// fn not_instrumented() {
///     ckpt::checkpoint!();
/// }
/// ```
#[macro_export]
macro_rules! checkpoint {
    ($($anything:tt)*) => {
        ::core::compile_error!(
            "E1116: `checkpoint!()` outside an instrumented function: put #[ckpt::instrument] (or #[ckpt::main] on main) on the function that holds it"
        )
    };
}
