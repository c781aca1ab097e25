//! The parts that a process is made of, and what each of them is asked for.

use super::snapshot::SnapshotBuilder;
use super::statics::Place;
use crate::base::report::Fatal;
use crate::value::LoadError;

/// A part of what a process is made of: it knows how it is saved, and how a restart brings it back.
///
/// A session goes through its sources in order, the frames first. What the files of checkpoints look like is no source's
/// business.
pub(crate) trait StateSource {
    /// Says what it is at the site where the program stands.
    ///
    /// # Errors
    /// The program cannot be brought back to this site.
    fn save(&mut self, to: &mut SnapshotBuilder) -> Result<(), Fatal>;

    /// What it keeps beside values, once those of all sources have been taken: the names of notes, and what they say.
    fn notes(&mut self) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    /// The walk of the restart has arrived: it becomes what it was.
    ///
    /// # Errors
    /// It cannot.
    fn restore(&mut self, from: &dyn Recorded) -> Result<(), Fatal>;
}

/// A checkpoint, as a restart reads it.
pub(crate) trait Recorded {
    /// Which one, and where it is.
    fn place(&self) -> String;

    /// The names under which it holds global state.
    fn names(&self) -> Vec<&str>;

    /// Puts back what it holds under a name.
    ///
    /// # Errors
    /// It holds nothing of that name, or something else.
    fn put_back(&self, name: &str, place: &dyn Place) -> Result<(), LoadError>;

    /// Files that are open in its values become what they were.
    ///
    /// # Errors
    /// Which file cannot be brought back, and why.
    fn settle_files(&self) -> Result<(), LoadError>;

    /// What a note says.
    fn note(&self, name: &str) -> Option<&str>;
}
