//! What is done to files and folders, as functions of the C library are asked to do it, and who hears of it first.

use std::collections::BTreeMap;
use std::ffi::{CStr, c_int};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A path as a function of the C library is given it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct At<'a> {
    /// The folder that it is relative to: a descriptor, or `AT_FDCWD`.
    pub folder: c_int,
    pub path: &'a CStr,
    /// Whether a link at its end is followed.
    pub follows: bool,
}

/// Where bytes are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Where {
    /// Where the handle stands, or at the end if it appends.
    Here,
    /// From there on, or at the end if the handle appends.
    From(u64),
    /// From there on, also if the handle appends.
    Exactly(u64),
}

/// A change that is about to be made.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Change<'a> {
    /// A file is opened so that it is made where there is none (`creates`, with these permissions), or emptied (`truncates`).
    Open {
        at: At<'a>,
        creates: bool,
        truncates: bool,
        mode: u32,
    },
    /// Something is made, where there is nothing.
    Make { at: At<'a> },
    /// What is there goes.
    Remove { at: At<'a> },
    /// It takes another name; `exchanges` if what has that name takes the first one.
    Rename {
        old: At<'a>,
        new: At<'a>,
        exchanges: bool,
    },
    /// A file gets a second name.
    Link { old: At<'a>, new: At<'a> },
    /// Its permissions change.
    Permissions { at: At<'a>, mode: u32 },
    /// Those of an open file.
    PermissionsOf(c_int, u32),
    /// It is cut off or extended to that length.
    Resize(At<'a>, u64),
    /// The same of an open file.
    ResizeOf(c_int, u64),
    /// Bytes of an open file are written.
    Write { file: c_int, at: Where, count: u64 },
    /// An open file is mapped into memory, or becomes a stream of the C library: through that it can be changed without a
    /// call.
    Unseen(c_int),
    /// A stream of the C library is opened, which writes without calling anybody.
    Stream {
        at: At<'a>,
        creates: bool,
        truncates: bool,
    },
}

/// What a file will be when the restart has arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Coming {
    /// What it is.
    AsItIs,
    /// A file of this length.
    Length(u64),
}

/// Why a file does not become what it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NotComing {
    /// There is something about it.
    File(String),
    /// No file of the run does: there is something about the others, or about other runs.
    All(String),
}

impl From<String> for NotComing {
    fn from(why: String) -> Self {
        NotComing::File(why)
    }
}

/// Hears of what is done to files, before it is done.
pub(crate) trait FileObserver: Send + Sync {
    /// The change is made when this returns.
    fn before(&self, change: Change<'_>);

    /// A name that a file (its device and number) has now, of which the system says that it was opened by one that is gone.
    fn name_of(&self, id: (u64, u64), once: &Path) -> Option<PathBuf>;

    /// The links that there will be when the restart has arrived, by their real places, and places where there will be none.
    fn links_to_come(&self) -> Arc<BTreeMap<PathBuf, Option<PathBuf>>>;

    /// A file is about to be opened as a checkpoint says, before the restart has arrived: what is not there and comes
    /// back then comes back now.
    ///
    /// # Errors
    /// Why it cannot.
    fn before_reopening(&self, path: &Path) -> Result<Coming, NotComing>;
}
