//! A level that a store has opened, and what is known about the checkpoints on it.

use std::collections::HashMap;
use std::io::ErrorKind;
use std::sync::Mutex;

use super::level::{Lock, StorageLevel};
use crate::base::events;
use crate::base::lock::locked;
use crate::base::run_id::RunId;
use crate::format::{self, CheckpointId, StoreError};

/// Shared by a store and the commits that it has begun: the lock is held as long as one of them is there.
#[derive(Debug)]
pub(super) struct Opened {
    pub level: Box<dyn StorageLevel>,
    /// Held by whoever writes.
    lock: Option<Lock>,
    /// What the heads of checkpoints say, as far as somebody has asked.
    heads: Mutex<HashMap<CheckpointId, Option<Head>>>,
}

/// What the head of a checkpoint says of others.
#[derive(Debug, Clone)]
struct Head {
    run: Option<RunId>,
    needs: Vec<CheckpointId>,
}

impl Opened {
    pub fn new(level: Box<dyn StorageLevel>, lock: Option<Lock>) -> Opened {
        Opened {
            level,
            lock,
            heads: Mutex::default(),
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

    /// What the head says; none of a checkpoint that is damaged, or is not there.
    ///
    /// # Errors
    /// It is there and cannot be read now: what it says is not known.
    fn head(&self, id: CheckpointId) -> Result<Option<Head>, StoreError> {
        let mut known = locked(&self.heads);
        if let Some(head) = known.get(&id) {
            return Ok(head.clone());
        }
        let head = match format::read_head(id, &*self.level) {
            Ok((meta, needs)) => Some(Head { run: meta.run, needs }),
            Err(StoreError::Io {
                kind: ErrorKind::NotFound,
                ..
            }) => return Ok(None),
            Err(error @ StoreError::Io { .. }) => return Err(error),
            Err(_) => None,
        };
        known.insert(id, head.clone());
        Ok(head)
    }

    /// The other checkpoints without which this one cannot be restored; none of one that is damaged.
    ///
    /// # Errors
    /// It is there and cannot be read now: what it needs is not known.
    pub fn needs(&self, id: CheckpointId) -> Result<Vec<CheckpointId>, StoreError> {
        Ok(self.head(id)?.map(|head| head.needs).unwrap_or_default())
    }

    /// Whether it is a checkpoint of this run: one that is damaged is of none.
    ///
    /// # Errors
    /// It is there and cannot be read now.
    pub fn is_of(&self, id: CheckpointId, run: Option<RunId>) -> Result<bool, StoreError> {
        Ok(self.head(id)?.is_some_and(|head| head.run == run))
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
        locked(&self.heads).remove(&id);
        self.level.remove(id)?;
        events::removed(self.level.folder(), id.0);
        Ok(())
    }
}
