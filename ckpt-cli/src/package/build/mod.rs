//! From a package to a rewritten copy that compiles.
//!
//! `driver` goes round with rustc; `oracle` reads its answers, `report` puts to people what no rule of `ckpt-analysis` mends. `fingerprint` makes a second build as quick as `cargo build`, `decision_cache` a build after
//! a change.

mod decision_cache;
pub mod driver;
pub mod fingerprint;
mod oracle;
pub mod report;
