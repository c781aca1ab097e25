//! One checkpoint on its way to the disk: written under another name, published, and what retention lets go removed.

use std::fs;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use super::base::{Base, Storing};
use super::fault::Step;
use super::place::Place;
use super::write::Order;
use super::{CheckpointId, Keep, Meta, StoreError, write};
use crate::snapshot::Snapshot;

/// A checkpoint that has its number and is not written yet. Any thread may write it; the store keeps its lock until then.
#[derive(Debug)]
pub(crate) struct Commit {
    pub(super) place: Arc<Place>,
    pub(super) id: CheckpointId,
    pub(super) keep: Keep,
    /// The newest that is known to be whole on all ranks.
    pub(super) complete: CheckpointId,
    /// Numbers of lines that some rank never wrote.
    pub(super) abandoned: Range<u64>,
    pub(super) storing: Storing,
    /// What it need not store again.
    pub(super) base: Option<Arc<Base>>,
    /// What the next one need not.
    pub(super) next: Arc<Mutex<Option<Arc<Base>>>>,
}

impl Commit {
    /// Writes it. When this returns it is on disk as a whole; if it fails, or the machine does, the older ones are as
    /// they were.
    ///
    /// # Errors
    /// As [`Store::commit`](super::Store::commit).
    pub(crate) fn write(self, snapshot: &Snapshot, meta: &Meta) -> Result<CheckpointId, StoreError> {
        let (place, id) = (&self.place, self.id);
        let unfinished = place.unfinished(id);
        // A commit that panicked has left its file, and the number was given again.
        let _ = fs::remove_file(&unfinished);
        let order = Order {
            id,
            suffix: &place.suffix(),
            storing: self.storing,
            base: self.base.as_deref(),
        };
        // If it fails, nothing is known of what the next one could build on.
        let next = || self.next.lock().unwrap_or_else(PoisonError::into_inner);
        *next() = None;
        let base = match write::write(&unfinished, snapshot, meta, order) {
            Ok(base) => base,
            Err(error) => {
                // The error that matters is the first one; what cannot be removed now is at the next opening.
                let _ = fs::remove_file(&unfinished);
                return Err(error);
            }
        };
        place.publish(&unfinished, &place.path(id))?;
        *next() = (self.storing.full_every > 1).then(|| Arc::new(base));
        Step::Committed.reached();
        self.retain().map_err(|error| StoreError::NotRemoved {
            id,
            why: error.to_string(),
        })?;
        Ok(id)
    }

    /// Removes what retention lets go.
    fn retain(&self) -> Result<(), StoreError> {
        let Keep::Last(keep) = self.keep else {
            return Ok(());
        };
        let ids = self.place.ids()?.into_iter().filter(|id| *id <= self.complete);
        // What is no line for others goes as soon as there is a newer one that is.
        let (abandoned, ids): (Vec<_>, Vec<_>) = ids.partition(|id| self.abandoned.contains(&id.0));
        let surplus = ids.len().saturating_sub(keep.max(1) as usize);
        let mut surplus: Vec<CheckpointId> = ids[..surplus].iter().chain(&abandoned).copied().collect();
        if surplus.is_empty() {
            return Ok(());
        }
        // What those that stay build on stays as well.
        for id in self.place.ids()? {
            if !surplus.contains(&id) {
                let needs = self.place.needs(id);
                surplus.retain(|surplus| !needs.contains(surplus));
            }
        }
        // The newest first: whatever is left at any moment has all that it needs.
        surplus.sort_unstable();
        for id in surplus.iter().rev() {
            self.place.remove(*id)?;
            Step::Removed.reached();
        }
        Ok(())
    }
}
