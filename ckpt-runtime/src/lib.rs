//! The library that a restartable program links.
//!
//! Functions with an attribute are rewritten at compile time, so that the program can be killed and continued from a file:
//!
//! ```
//! #[derive(ckpt::Checkpoint)]
//! struct Oscillator {
//!     position: f64,
//!     velocity: f64,
//! }
//!
//! #[ckpt::instrument]
//! fn swing(oscillator: &mut Oscillator, steps: u32, dt: f64) {
//!     for _ in 0..steps {
//!         ckpt::checkpoint!(); // a checkpoint may be taken here
//!         oscillator.velocity -= dt * oscillator.position;
//!         oscillator.position += dt * oscillator.velocity;
//!     }
//! }
//!
//! #[ckpt::main(calls(swing))]
//! fn main() {
//!     let mut oscillator = Oscillator { position: 1.0, velocity: 0.0 };
//!     swing(&mut oscillator, 10_000, 1e-3);
//!     println!("{:.6}", oscillator.position);
//! }
//! ```
//!
//! Without a session (`ckpt.toml`, a `CKPT_*` variable or `cargo ckpt run`) such a program behaves as if the attributes were
//! not there. `cargo ckpt run` also takes programs without attributes, and writes them into a copy.
//!
//! | for | see |
//! | --- | --- |
//! | the attributes | [`macro@main`], [`macro@instrument`], [`checkpoint!`], [`macro@object`] |
//! | what can be saved, and how | [`Checkpoint`] and its derive, [`value`] |
//! | threads that share work | [`team()`], [`sync`], [`thread`] |
//! | statics, functions behind pointers, what a restart makes again, input and output | [`global()`], [`function()`], [`replayed()`], [`input`], [`output`] |
//! | going back to a checkpoint when a state is wrong | [`check!`], [`rollback()`] |
//! | checkpoints by hand, without attributes | [`Session`] |
//! | reading and writing files of checkpoints | [`store`], [`snapshot`] |
//!
//! Methods: what is saved and how a restart walks back to the site, Rodríguez, Martín, González, Touriño, Doallo, *CPPC: a
//! compiler-assisted tool for portable checkpointing of message-passing applications*, Concurrency and Computation 22(6),
//! 2010; here without jumps. How often: Daly, FGCS 22(3), 2006, see [`session::auto`].

extern crate self as ckpt;

#[doc(hidden)]
#[path = "rt/mod.rs"]
pub mod __rt;
mod base;
mod comm;
mod context;
mod devices;
mod format;
mod frame;
#[cfg(fuzzing)]
#[doc(hidden)]
pub mod fuzzing;
mod handles;
pub mod input;
mod iterators;
pub mod output;
pub mod plan;
pub mod session;
mod state;
mod storage;
pub mod sync;
mod team;
pub mod thread;
pub mod value;
mod work;

/// What `cargo ckpt` writes into programs that compute on devices.
pub mod device {
    pub use crate::devices::watched::*;
    pub use crate::value::places::{OnDevice, Places, put, put_handles};
}

/// Reading and writing files of checkpoints: opening and locking a folder of them, committing a checkpoint as a whole or not at
/// all, listing, verifying, restoring and removing them. `docs/src/format.md` specifies the files.
pub mod store {
    pub use crate::base::columns::{columns_of, wrapped};
    pub use crate::base::fault::COMMIT_STEPS;
    pub use crate::base::host::host_name;
    pub use crate::base::noted::{EXECUTABLE_NOTE, Noted};
    pub use crate::base::printable::{printable, printable_lines};
    pub use crate::base::run_id::{NoRunId, RunId, RunPrefix};
    pub use crate::base::trust::trust;
    pub use crate::format::{
        Attribute, Change, CheckpointId, Compression, Damage, EMPTY, Edit, ElementOrder, FORMAT_VERSION,
        FrameInfo, Integer, Meta, Node, NodeKind, Restored, StoreError, Storing, VariableContent,
        VariableInfo,
    };
    pub use crate::handles::lies_within;
    pub use crate::state::descriptors::DESCRIPTORS_NOTE;
    pub use crate::state::journal::{EPOCH_NOTE, LINKS_NOTE, NAMES_NOTE};
    pub use crate::storage::{
        Entry, Fallback, Journals, Keep, Mode, NoWayBack, Store, begun_in, copies, file_name, file_of,
        files_in, folder_of_rank, folder_of_run, has_been_here, has_place_for_rank, is_fallback, open_plain,
        path_of, ranks_here, read_document, settle, unseen_fallback, write_document_of_run,
    };
}

/// # Examples
///
/// ```
/// use ckpt::Checkpoint;
///
/// #[derive(Checkpoint)]
/// struct Model {
///     cells: Vec<f64>,
///     #[ckpt(default)]
///     damping: f64, // older checkpoints do not have it
///     #[ckpt(skip)]
///     drawn: Option<std::time::Instant>,
/// }
///
/// #[derive(Checkpoint)]
/// enum Phase {
///     Heating { until: f64 },
///     #[ckpt(alias = "Cooling")]
///     Resting,
/// }
/// # let _ = (Model { cells: vec![], damping: 0.0, drawn: None }.drawn, Phase::Heating { until: 1.0 }, Phase::Resting);
/// ```
pub use ckpt_macros::Checkpoint;
/// # Examples
///
/// ```
/// #[ckpt::instrument]
/// fn root_of(number: f64, steps: u32) -> f64 {
///     let mut root = number;
///     for _ in 0..steps {
///         ckpt::checkpoint!();
///         root = 0.5 * (root + number / root);
///     }
///     root
/// }
///
/// assert!((root_of(2.0, 30) - 2_f64.sqrt()).abs() < 1e-15);
/// ```
pub use ckpt_macros::instrument;
/// # Examples
///
/// ```
/// #[ckpt::instrument]
/// fn count(to: u64) -> u64 {
///     let mut sum = 0;
///     for number in 0..to {
///         ckpt::checkpoint!();
///         sum += number;
///     }
///     sum
/// }
///
/// #[ckpt::main(calls(count))]
/// fn main() {
///     let sum = count(100);
///     println!("{sum}");
/// }
/// ```
pub use ckpt_macros::main;
/// # Examples
///
/// ```
/// use ckpt::Checkpoint;
///
/// #[ckpt::object(Euler, Midpoint)]
/// trait Solver {
///     fn step(&mut self, dt: f64);
///     fn value(&self) -> f64;
/// }
///
/// #[derive(Checkpoint)]
/// struct Euler(f64);
///
/// #[derive(Checkpoint)]
/// struct Midpoint(f64);
///
/// impl Solver for Euler {
///     fn step(&mut self, dt: f64) {
///         self.0 -= dt * self.0;
///     }
///     fn value(&self) -> f64 {
///         self.0
///     }
/// }
///
/// impl Solver for Midpoint {
///     fn step(&mut self, dt: f64) {
///         self.0 -= dt * (self.0 - 0.5 * dt * self.0);
///     }
///     fn value(&self) -> f64 {
///         self.0
///     }
/// }
///
/// #[ckpt::instrument]
/// fn decay(mut solver: Box<dyn Solver>, steps: u32) -> f64 {
///     for _ in 0..steps {
///         ckpt::checkpoint!(); // saves which solver it is, and its state
///         solver.step(1e-3);
///     }
///     solver.value()
/// }
///
/// assert!((decay(Box::new(Midpoint(1.0)), 1000) - (-1_f64).exp()).abs() < 1e-6);
/// ```
pub use ckpt_macros::object;
pub use iterators::replay::{Replayed, replayed};
pub use session::functions::function;
pub use session::globals::global;
pub use session::rollback::{NotRolledBack, rollback, rollback_to};
pub use session::{Session, SessionError};
pub use state::snapshot;
#[doc(hidden)]
pub use state::statics::Place;
pub use state::statics::{Accessors, Global};
pub use value::{Checkpoint, LoadError, SaveError};
pub use work::{Member, Schedule, Team, team};

/// Goes back to the newest checkpoint if a condition does not hold: for what is always true of a right state, such as a quantity
/// that is conserved.
///
/// The condition is looked at whether there is a session or not. Where it does not hold and the program cannot go back
/// ([`NotRolledBack`]), it panics as `assert!` does: what it has computed is wrong.
///
/// ```
/// #[ckpt::main]
/// fn main() {
///     let mut parts = vec![0.5, 0.25, 0.25];
///     for _ in 0..100 {
///         ckpt::checkpoint!();
///         parts.rotate_left(1);
///         let whole: f64 = parts.iter().sum();
///         ckpt::check!((whole - 1.0).abs() < 1e-12, "the parts make {whole}");
///     }
/// }
/// ```
#[macro_export]
macro_rules! check {
    ($condition:expr $(,)?) => {
        $crate::check!($condition, "`{}` does not hold", ::core::stringify!($condition))
    };
    ($condition:expr, $($what:tt)+) => {
        if $condition {
        } else {
            $crate::__rt::check_failed(::core::format_args!($($what)+))
        }
    };
}

/// Lists types with the objects of a trait that is in another crate, which cannot name them.
///
/// The list on the trait ends in `..` (`#[ckpt::object(Circle, ..)]`, `#[ckpt::object(..)]`), and this comes first in `main`: a restart
/// makes objects of the types that are listed by then.
///
/// ```
/// # mod shapes {
/// #     #[ckpt::object(..)]
/// #     pub trait Shape {
/// #         fn area(&self) -> f64;
/// #     }
/// # }
/// #[derive(ckpt::Checkpoint)]
/// struct Square(f64);
///
/// impl shapes::Shape for Square {
///     fn area(&self) -> f64 {
///         self.0 * self.0
///     }
/// }
///
/// #[ckpt::main]
/// fn main() {
///     ckpt::objects!(dyn shapes::Shape: Square);
///     let shapes: Vec<Box<dyn shapes::Shape>> = vec![Box::new(Square(2.0)), Box::new(Square(3.0))];
///     let mut sum = 0.0;
///     for _ in 0..100 {
///         ckpt::checkpoint!();
///         sum += shapes.iter().map(|shape| shape.area()).sum::<f64>();
///     }
///     assert_eq!(sum, 1300.0);
/// }
/// ```
#[macro_export]
macro_rules! objects {
    (dyn $of:path: $($ty:ty),+ $(,)?) => {
        $($crate::objects!(@ $ty, $of, ::core::stringify!($ty));)+
    };
    (@ $ty:ty, $of:path, $name:expr) => {{
        $crate::__rt::list_object::<dyn $of, $ty>(
            $name,
            ::core::module_path!(),
            $crate::__rt::DynType::of::<$ty>(),
        );
        struct __CkptOf<T>(::core::marker::PhantomData<T>);
        // For a type that is not `Send`, there are no objects that are.
        trait __CkptOtherwise {
            fn send(&self) {}
            fn sync(&self) {}
            fn send_and_sync(&self) {}
        }
        impl<T> __CkptOtherwise for __CkptOf<T> {}
        $crate::objects!(@maker plain, $of,);
        $crate::objects!(@maker send, $of, + ::core::marker::Send);
        $crate::objects!(@maker sync, $of, + ::core::marker::Sync);
        $crate::objects!(@maker send_and_sync, $of, + ::core::marker::Send + ::core::marker::Sync);
        let of = __CkptOf::<$ty>(::core::marker::PhantomData);
        of.plain();
        of.send();
        of.sync();
        of.send_and_sync();
    }};
    (@maker $method:ident, $of:path, $($auto:tt)*) => {
        impl<T: $of + $crate::Checkpoint + 'static $($auto)*> __CkptOf<T> {
            fn $method(&self) {
                $crate::__rt::list_maker::<dyn $of $($auto)*, T>($crate::__rt::ObjectMaker {
                    make: |from| {
                        let value = <T as $crate::Checkpoint>::load(from)?;
                        ::core::result::Result::Ok(::std::boxed::Box::new(value))
                    },
                    dead: || ::std::rc::Weak::<T>::new(),
                    dead_sync: || ::std::sync::Weak::<T>::new(),
                });
            }
        }
    };
}

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
            "E1116: `checkpoint!()` outside an instrumented function: put #[ckpt::instrument] (or #[ckpt::main] on main) on the function that holds it, and name it in `calls(..)` where it is called; under `cargo ckpt`, call it from `main` by its name, not only in a closure, or take the site out"
        )
    };
}
