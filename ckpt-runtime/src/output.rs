//! What a program writes to, whatever it is: `Box<dyn Write>` in checkpoints.
//!
//! `Box<dyn std::io::Write>` hides what is behind it. `Box<dyn ckpt::output::Write>` can be saved: what implements this
//! trait is known by name, and a restart opens it again. It is used as the other one is, also in its place:
//!
//! ```
//! use std::io::Write;
//!
//! fn report(out: &mut dyn Write) -> std::io::Result<()> {
//!     writeln!(out, "done")
//! }
//!
//! # fn main() -> std::io::Result<()> {
//! let quiet = true;
//! let mut out: Box<dyn ckpt::output::Write> = match quiet {
//!     true => Box::new(Vec::new()),
//!     false => Box::new(std::io::stdout()),
//! };
//! report(&mut *out)
//! # }
//! ```

use ::std::fs::File;
use ::std::io::{BufWriter, Cursor, LineWriter, Stderr, Stdout, StdoutLock};

/// What can be written to and saved in a checkpoint.
#[crate::object(
    File,
    BufWriter<File>,
    LineWriter<File>,
    Stdout,
    StdoutLock<'static>,
    BufWriter<Stdout>,
    LineWriter<Stdout>,
    BufWriter<StdoutLock<'static>>,
    Stderr,
    Vec<u8>,
    Cursor<Vec<u8>>
)]
pub trait Write: ::std::io::Write {}

impl Write for File {}
impl Write for BufWriter<File> {}
impl Write for LineWriter<File> {}
impl Write for Stdout {}
impl Write for StdoutLock<'static> {}
impl Write for BufWriter<Stdout> {}
impl Write for LineWriter<Stdout> {}
impl Write for BufWriter<StdoutLock<'static>> {}
impl Write for Stderr {}
impl Write for Vec<u8> {}
impl Write for Cursor<Vec<u8>> {}

/// So that `dyn io::Write` can become `dyn ckpt::output::io::Write`.
pub mod io {
    pub use super::Write;
}

/// So that `dyn std::io::Write` can become `dyn ckpt::output::std::io::Write`.
pub mod std {
    pub use super::io;
}
