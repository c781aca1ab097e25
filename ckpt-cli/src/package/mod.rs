//! Unmodified packages: read, analysed, rewritten in a copy, built.
//!
//! `settings` and `cfg` say which code is compiled, as cargo and rustc would; `workspace` which packages are the user's own;
//! `modules` finds and parses the files of a crate, with `strip` taking out what is not compiled; `read` puts the
//! compiler's [`ckpt_analysis::Program`] together, and `wrappers` writes calls out in it that sites are behind.
//!
//! `copy` makes the copy: `home` is where, `gather` says what is in it, `manifest` edits its Cargo.toml files, `features`
//! says what of ckpt its dependencies need, and `tree` writes no more than has changed.
//!
//! `oracle` reads rustc's answers, `decide` draws conclusions, `driver` goes round until the copy compiles, `marks` and
//! `report` translate between places and people, `plan`, `team_size`, `checked` and `page` show the plan, `launch` and
//! `stamp` make a second run as quick as `cargo run`, and `memory` a run after a change.

pub mod cfg;
pub mod checked;
pub mod copy;
pub mod decide;
pub mod driver;
pub mod features;
pub mod full;
mod gather;
pub mod home;
pub mod launch;
pub mod manifest;
mod marks;
mod memory;
mod modules;
mod oracle;
pub mod page;
pub mod plan;
pub mod profile;
pub mod read;
pub mod report;
mod settings;
pub mod sizes;
pub mod stage;
mod stamp;
mod strip;
mod team_size;
#[cfg(test)]
mod testing;
mod tree;
pub mod workspace;
mod wrappers;

pub use modules::shown;
