//! The file of one checkpoint: a snapshot becomes an HDF5 file in a container of our own, and the other way. Everything that knows HDF5, the
//! container around it, its index and its checksums lives here. `docs/src/format.md` specifies the files.
//!
//! Not here: where files are, what they are called and when they count ([`crate::storage`]), and what a value looks like as
//! columns ([`crate::value`]).

mod ahead;
mod bodies;
mod chunks;
mod coding;
mod columns;
mod container;
mod direct;
mod error;
mod extents;
mod frames;
#[cfg(fuzzing)]
pub mod fuzzing;
mod hdf5;
mod in_memory;
mod index;
mod large;
mod library;
mod ordered;
mod packed;
mod previous;
mod read;
mod renew;
mod restored;
mod stream;
mod superblock;
mod survey;
mod tree;
mod write;

use std::fs::File;
use std::io;
use std::path::PathBuf;

use crate::base::run_id::RunId;
use crate::base::time;

pub(crate) use container::{read_head, verify_file};
pub(crate) use direct::{Direct, Ways};
pub use error::{Damage, StoreError};
pub(crate) use in_memory::{InMemory, LivePlace};
pub(crate) use library::is_at_hand;
pub use ordered::ElementOrder;
pub(crate) use previous::Base;
pub use previous::{Compression, Storing};
pub(crate) use renew::renew;
pub use renew::{Change, Edit};
pub(crate) use restored::Load;
pub use restored::{FrameInfo, Restored, VariableInfo};
pub(crate) use stream::Stream;
pub use tree::{Attribute, EMPTY, Integer, Node, NodeKind};
pub(crate) use write::{Order, memory_for, write};

/// What the file of a checkpoint asks of the place where it lies: the files beside it, which it may build on.
pub(crate) trait Files {
    /// Where the file of a checkpoint is, or would be: for messages, and others name it by the last part of this.
    fn path(&self, id: CheckpointId) -> PathBuf;

    /// Opens it to be read.
    ///
    /// # Errors
    /// [`io::ErrorKind::NotFound`] where there is none; otherwise what the system says.
    fn open(&self, id: CheckpointId) -> io::Result<File>;
}

/// Version of the file format that this library writes; it reads this one only.
pub const FORMAT_VERSION: u32 = 5;

/// Number of a checkpoint; they grow with time. Shown with six digits, as in the file's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CheckpointId(pub u64);

impl std::fmt::Display for CheckpointId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:06}", self.0)
    }
}

impl std::str::FromStr for CheckpointId {
    type Err = std::num::ParseIntError;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse().map(CheckpointId)
    }
}

/// What is known about a checkpoint besides its state.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Meta {
    /// Name of the program.
    pub program: String,
    /// Version of the program.
    pub version: String,
    /// How many sites the run had visited.
    pub visit: u64,
    /// When it was taken: nanoseconds since the Unix epoch, UTC.
    pub time: i64,
    /// Why it was taken: `every`, `interval`, `signal`, ...
    pub reason: String,
    /// Host that took it.
    pub host: String,
    /// The run that it is of; none of a file from before runs had an identity.
    pub run: Option<RunId>,
    /// Anything else, by name.
    pub notes: Vec<(String, String)>,
}

/// Name of the note in every checkpoint with lists that the program does not have in its memory. It says where they are.
pub(crate) const ELSEWHERE_NOTE: &str = "elsewhere";

/// Whether a variable has a value of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum VariableContent {
    /// It has.
    Value,
    /// It is lent to another frame, which has the value.
    Link {
        /// Index of the frame.
        frame: usize,
        /// Key of the variable there.
        key: String,
    },
}

impl Meta {
    /// [`Meta::time`] as text: `2026-01-31T12:00:00Z`.
    pub fn time_text(&self) -> String {
        time::iso8601(self.time)
    }
}
