//! From a package to a rewritten copy that compiles.
//!
//! `driver` goes round with rustc; `oracle` reads its answers, `decide` draws conclusions, `marks` and `report` translate
//! between places and people. `fingerprint` makes a second build as quick as `cargo build`, `decision_cache` a build after
//! a change.

pub mod decide;
mod decision_cache;
pub mod driver;
pub mod fingerprint;
mod marks;
mod oracle;
pub mod report;
