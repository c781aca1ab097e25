//! From a package to a rewritten copy that compiles.
//!
//! `driver` runs the rounds with rustc; `oracle` reads its answers, `refused` has what stands in the way as data, `report` puts it to the user. `fingerprint` makes a second build as quick as `cargo build`, `decision_cache` a build after
//! a change.

mod decision_cache;
pub mod driver;
pub mod fingerprint;
pub mod oracle;
pub mod refused;
pub mod report;
