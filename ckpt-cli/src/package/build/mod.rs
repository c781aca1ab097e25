//! From a package to a rewritten copy that compiles.
//!
//! `driver` runs the rounds with rustc; `oracle` reads its answers, `report` shows what no rule of `ckpt-analysis` resolves. `fingerprint` makes a second build as quick as `cargo build`, `decision_cache` a build after
//! a change.

mod decision_cache;
pub mod driver;
pub mod fingerprint;
mod oracle;
pub mod report;
