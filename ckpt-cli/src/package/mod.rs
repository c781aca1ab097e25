//! Reading an unmodified cargo package, and making a copy of it that can be rewritten.
//!
//! `settings` and `cfg` say which code is compiled, as cargo and rustc would; `workspace` which packages are the user's own;
//! `modules` finds and parses the files of a crate, with `strip` taking out what is not compiled; `read` puts the
//! compiler's [`ckpt_compiler::package::Program`] together.
//!
//! `copy` makes the copy: `home` is where, `gather` says what is in it, `manifest` edits its Cargo.toml files, and `tree`
//! writes no more than has changed.

pub mod cfg;
pub mod copy;
mod gather;
mod home;
pub mod manifest;
mod modules;
pub mod read;
mod settings;
mod strip;
#[cfg(test)]
mod testing;
mod tree;
pub mod workspace;

#[allow(unused_imports)] // as above
pub use read::{ReadPackage, read};
