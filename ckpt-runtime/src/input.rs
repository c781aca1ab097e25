//! What a program reads from, whatever it is: `Box<dyn Read>` and `Box<dyn BufRead>` in checkpoints.
//!
//! `Box<dyn std::io::BufRead>` hides what is behind it. `Box<dyn ckpt::input::BufRead>` can be saved: what implements this
//! trait is known by name, and a restart opens it again and goes on where it was read. It is used as the other one is,
//! also in its place:
//!
//! ```
//! use std::io::BufRead;
//!
//! fn count(from: &mut dyn BufRead) -> usize {
//!     from.lines().count()
//! }
//!
//! let mut from: Box<dyn ckpt::input::BufRead> = match std::env::args().nth(1) {
//!     Some(path) => Box::new(std::io::BufReader::new(std::fs::File::open(path).unwrap())),
//!     None => Box::new(std::io::Cursor::new(b"one\ntwo\n".to_vec())),
//! };
//! assert_eq!(count(&mut *from), 2);
//! ```

use ::std::fs::File;
use ::std::io::{BufReader, Cursor, Empty, Stdin, StdinLock};

use crate::value::Unread;

/// What can be read from and saved in a checkpoint.
#[crate::object(
    File,
    BufReader<File>,
    Stdin,
    StdinLock<'static>,
    BufReader<Stdin>,
    BufReader<StdinLock<'static>>,
    Cursor<Vec<u8>>,
    Cursor<String>,
    BufReader<Cursor<Vec<u8>>>,
    Empty
)]
pub trait Read: ::std::io::Read + Unread {}

impl Read for File {}
impl Read for BufReader<File> {}
impl Read for Stdin {}
impl Read for StdinLock<'static> {}
impl Read for BufReader<Stdin> {}
impl Read for BufReader<StdinLock<'static>> {}
impl Read for Cursor<Vec<u8>> {}
impl Read for Cursor<String> {}
impl Read for BufReader<Cursor<Vec<u8>>> {}
impl Read for Empty {}

/// What can be read from line by line and saved in a checkpoint.
#[crate::object(
    BufReader<File>,
    StdinLock<'static>,
    BufReader<Stdin>,
    BufReader<StdinLock<'static>>,
    BufReader<Box<dyn Read>>,
    Cursor<Vec<u8>>,
    Cursor<String>,
    BufReader<Cursor<Vec<u8>>>,
    Empty
)]
pub trait BufRead: ::std::io::BufRead {}

impl BufRead for BufReader<File> {}
impl BufRead for StdinLock<'static> {}
impl BufRead for BufReader<Stdin> {}
impl BufRead for BufReader<StdinLock<'static>> {}
impl BufRead for BufReader<Box<dyn Read>> {}
impl BufRead for Cursor<Vec<u8>> {}
impl BufRead for Cursor<String> {}
impl BufRead for BufReader<Cursor<Vec<u8>>> {}
impl BufRead for Empty {}

/// So that `dyn io::Read` can become `dyn ckpt::input::io::Read`.
pub mod io {
    pub use super::{BufRead, Read};
}

/// So that `dyn std::io::Read` can become `dyn ckpt::input::std::io::Read`.
pub mod std {
    pub use super::io;
}
