//! A level that a store has opened, and what is known about the checkpoints on it.

use std::collections::HashMap;
use std::io::ErrorKind;
use std::sync::Mutex;

use super::level::{Lock, StorageLevel};
use crate::base::events;
use crate::base::lock::locked;
use crate::base::run_id::RunId;
use crate::base::sorted::SortedSet;
use crate::format::{self, CheckpointId, StoreError};
use crate::state::journal;

/// Shared by a store and the commits that it has begun: the lock is held as long as one of them is there.
#[derive(Debug)]
pub(super) struct Opened {
    pub level: Box<dyn StorageLevel>,
    /// Held by whoever writes.
    lock: Option<Lock>,
    /// What the heads of checkpoints say, as far as somebody has asked.
    heads: Mutex<HashMap<CheckpointId, Found>>,
    /// Those of which somebody has found out that their values are damaged.
    damaged: Mutex<SortedSet<CheckpointId>>,
}

/// What there is of a checkpoint, by its head.
#[derive(Debug, Clone)]
pub(super) enum Found {
    Nothing,
    /// Its head is damaged.
    Damaged,
    /// It is of a kind that this ckpt does not know.
    Strange,
    Head(Head),
}

/// What the head of a checkpoint says of others.
#[derive(Debug, Clone)]
pub(super) struct Head {
    pub run: Option<RunId>,
    pub needs: Vec<CheckpointId>,
    /// The epoch of the journal of files that it began.
    pub epoch: Option<u64>,
}

impl Opened {
    pub fn new(level: Box<dyn StorageLevel>, lock: Option<Lock>) -> Opened {
        Opened {
            level,
            lock,
            heads: Mutex::default(),
            damaged: Mutex::default(),
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

    /// What there is of a checkpoint.
    ///
    /// # Errors
    /// It is there and cannot be read now: what it says is not known.
    pub fn found(&self, id: CheckpointId) -> Result<Found, StoreError> {
        let mut known = locked(&self.heads);
        if let Some(found) = known.get(&id) {
            return Ok(found.clone());
        }
        let found = match format::read_head(id, &*self.level) {
            Ok((meta, needs)) => Found::Head(Head {
                run: meta.run,
                needs,
                epoch: journal::epoch_in(&meta.notes),
            }),
            Err(StoreError::Io {
                kind: ErrorKind::NotFound,
                ..
            }) => return Ok(Found::Nothing),
            Err(error @ StoreError::Io { .. }) => return Err(error),
            Err(StoreError::Damaged { .. }) => Found::Damaged,
            Err(_) => Found::Strange,
        };
        known.insert(id, found.clone());
        Ok(found)
    }

    /// What the head says; none of a checkpoint that is damaged, or is not there.
    fn head(&self, id: CheckpointId) -> Result<Option<Head>, StoreError> {
        Ok(match self.found(id)? {
            Found::Head(head) => Some(head),
            _ => None,
        })
    }

    /// It is there, perhaps in the place of an older one of its number.
    pub fn is_written_anew(&self, id: CheckpointId) {
        locked(&self.heads).remove(&id);
        locked(&self.damaged).remove(&id);
    }

    /// Somebody has found out that values of it are damaged.
    pub fn is_damaged_now(&self, id: CheckpointId) {
        locked(&self.damaged).insert(id);
    }

    /// Whether somebody has.
    pub fn is_known_damaged(&self, id: CheckpointId) -> bool {
        locked(&self.damaged).contains(&id)
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
        locked(&self.damaged).remove(&id);
        self.level.remove(id)?;
        events::removed(self.level.folder(), id.0);
        Ok(())
    }
}
