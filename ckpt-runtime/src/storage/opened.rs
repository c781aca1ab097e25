//! A level that a store has opened, and what is known about the checkpoints on it.

use std::collections::HashMap;
use std::sync::Mutex;

use super::level::{Lock, StorageLevel};
use crate::base::events;
use crate::base::lock::locked;
use crate::format::{self, CheckpointId, StoreError};

/// Shared by a store and the commits that it has begun: the lock is held as long as one of them is there.
#[derive(Debug)]
pub(super) struct Opened {
    pub level: Box<dyn StorageLevel>,
    /// Held by whoever writes.
    lock: Option<Lock>,
    /// The checkpoints that others need, as far as somebody has asked.
    needs: Mutex<HashMap<CheckpointId, Vec<CheckpointId>>>,
}

impl Opened {
    pub fn new(level: Box<dyn StorageLevel>, lock: Option<Lock>) -> Opened {
        Opened {
            level,
            lock,
            needs: Mutex::default(),
        }
    }

    /// # Errors
    /// [`StoreError::ReadOnly`]: it was opened to look only.
    pub fn writable(&self) -> Result<(), StoreError> {
        match self.lock {
            Some(_) => Ok(()),
            None => Err(StoreError::ReadOnly(self.level.folder().to_owned())),
        }
    }

    /// The other checkpoints without which this one cannot be restored; none of one that cannot be read.
    pub fn needs(&self, id: CheckpointId) -> Vec<CheckpointId> {
        let mut known = locked(&self.needs);
        let read = || match format::read_head(id, &*self.level) {
            Ok((_, needs)) => needs,
            Err(_) => Vec::new(),
        };
        known.entry(id).or_insert_with(read).clone()
    }

    /// The first of the newer checkpoints that cannot be restored without this one.
    pub fn needed_by(&self, id: CheckpointId) -> Result<Option<CheckpointId>, StoreError> {
        let mut newer = self.level.list()?.into_iter().filter(|other| *other > id);
        Ok(newer.find(|other| self.needs(*other).contains(&id)))
    }

    /// Removes a checkpoint.
    pub fn remove(&self, id: CheckpointId) -> Result<(), StoreError> {
        self.writable()?;
        locked(&self.needs).remove(&id);
        self.level.remove(id)?;
        events::removed(self.level.folder(), id.0);
        Ok(())
    }
}
