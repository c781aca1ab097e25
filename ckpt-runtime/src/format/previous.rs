//! What the last checkpoint has, so that the next one need not store it again.

use std::collections::HashMap;
use std::sync::Arc;

use super::CheckpointId;
use super::coding::Coding;
pub use super::coding::Compression;
use super::extents::Other;
use crate::base::sorted::{SortedMap, SortedSet};
use crate::value::{Capture, DType, Reference};

/// How values are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Storing {
    /// How they are compressed, where that pays.
    pub compression: Option<Compression>,
    /// One checkpoint of so many holds everything; the others hold the blocks that have changed since. 1: all are full.
    pub full_every: u32,
}

impl Default for Storing {
    fn default() -> Self {
        Storing {
            compression: None,
            full_every: 1,
        }
    }
}

/// The last checkpoint of this process.
#[derive(Debug, Default)]
pub(crate) struct Base {
    /// It is the so manieth since the last full one, which is the first.
    pub(super) nth: u32,
    pub(super) files: Vec<Other>,
    /// By the paths of the datasets.
    pub(super) datasets: HashMap<String, Arc<Known>>,
    /// By the number of the list in the snapshot.
    pub(super) lists: Vec<Option<Arc<Known>>>,
}

impl Base {
    /// Whether the next one may build on it, if one of `full_every` is to hold everything.
    pub fn has_successor(&self, full_every: u32) -> bool {
        self.nth < full_every
    }

    /// The checkpoints that the next one cannot be restored without, if it builds on this.
    pub fn ids(&self) -> impl Iterator<Item = CheckpointId> + '_ {
        self.files.iter().map(|file| file.id)
    }

    /// What a snapshot compares its lists with.
    pub fn capture(&self) -> Capture {
        let reference = |known: &Option<Arc<Known>>| known.as_ref().and_then(|known| known.reference.clone());
        Capture::new(self.lists.iter().map(reference).collect())
    }
}

/// A dataset of the last checkpoint.
#[derive(Debug)]
pub(super) struct Known {
    pub dtype: DType,
    pub shape: Vec<u64>,
    pub bytes: u64,
    pub size: u64,
    pub blocks: Vec<Held>,
    /// In which file it is under which path.
    pub paths: SortedMap<CheckpointId, String>,
    pub reference: Option<Arc<Reference>>,
}

/// A block of the last checkpoint, wherever it is stored.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Held {
    Hole,
    At {
        id: CheckpointId,
        offset: u64,
        length: u64,
        coding: Coding,
        checksum: u128,
    },
}

impl Held {
    /// That of its bytes; zeros have none.
    pub fn checksum(&self) -> u128 {
        match self {
            Held::Hole => 0,
            Held::At { checksum, .. } => *checksum,
        }
    }
}

impl Known {
    /// The checkpoints that its blocks are in.
    pub fn holders(&self) -> SortedSet<CheckpointId> {
        let ids = self.blocks.iter().filter_map(|block| match block {
            Held::Hole => None,
            Held::At { id, .. } => Some(*id),
        });
        ids.collect()
    }
}
