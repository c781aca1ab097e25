//! Half-way to a checkpoint: the program's lists are looked at, and memory for their copies is made ready in the background.

use super::Run;
use crate::base::report::Fatal;
use crate::context::Gather;
use crate::state::snapshot::SnapshotBuilder;

impl Run {
    /// Looks how large the state is, if it is time for that. At a visit at which it is taken all the same, it is known then:
    /// `is_taken`.
    ///
    /// # Errors
    /// `gather`'s.
    pub(super) fn looks_half_way(&mut self, is_taken: bool, gather: Gather<'_>) -> Result<(), Fatal> {
        // Where the last checkpoint is being written, the next may have its memory; the program hears of its end.
        if !self.looks_half_way || self.writer.is_busy() {
            return Ok(());
        }
        self.looks_half_way = false;
        if is_taken || self.lacks_memory() {
            return Ok(());
        }
        let lists = gather(SnapshotBuilder::of_sizes())?.sizes();
        self.ready.begin(lists, self.memory);
        Ok(())
    }
}
