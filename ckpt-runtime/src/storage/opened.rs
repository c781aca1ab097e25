//! A level that a store has opened, and what is known about the checkpoints on it.

use std::collections::HashMap;
use std::io::ErrorKind;
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

    /// The other checkpoints without which this one cannot be restored; none of one that is damaged.
    ///
    /// # Errors
    /// It is there and cannot be read now: what it needs is not known.
    pub fn needs(&self, id: CheckpointId) -> Result<Vec<CheckpointId>, StoreError> {
        let mut known = locked(&self.needs);
        if let Some(needs) = known.get(&id) {
            return Ok(needs.clone());
        }
        let needs = match format::read_head(id, &*self.level) {
            Ok((_, needs)) => needs,
            Err(StoreError::Io {
                kind: ErrorKind::NotFound,
                ..
            }) => return Ok(Vec::new()),
            Err(error @ StoreError::Io { .. }) => return Err(error),
            Err(_) => Vec::new(),
        };
        known.insert(id, needs.clone());
        Ok(needs)
    }

    /// The first of the newer checkpoints that cannot be restored without this one.
    pub fn needed_by(&self, id: CheckpointId) -> Result<Option<CheckpointId>, StoreError> {
        for other in self.level.list()?.into_iter().filter(|other| *other > id) {
            if self.needs(other)?.contains(&id) {
                return Ok(Some(other));
            }
        }
        Ok(None)
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
