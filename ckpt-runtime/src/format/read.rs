//! Reading bodies: every block is checked as it is read, by all cores, and goes straight to where it is wanted.

use std::cell::RefCell;
use std::collections::HashMap;
use std::os::unix::fs::FileExt;
use std::sync::Mutex;
use std::time::Instant;

use super::coding::Coding;
use super::container::{Container, LARGE, check};
use super::extents::{Body, Extent, block_length};
use super::index::Dataset;
use super::{Damage, ELSEWHERE_NOTE};
use crate::base::checksum::xxh3;
use crate::base::lock::locked;
use crate::base::parallel::{self, PIECE};
use crate::base::sorted::SortedMap;
use crate::value::Room;

thread_local! {
    /// Where blocks go that are only looked at, or of which a part is wanted.
    static SCRATCH: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

fn is_packed(body: &Body) -> bool {
    let is = |extent: &Extent| matches!(extent, Extent::At { coding, .. } if *coding != Coding::Raw);
    matches!(body, Body::Blocks { extents, .. } if extents.iter().any(is))
}

impl Container {
    /// Fills `into` with the bytes of a dataset from `first` on. `is_zeroed`: there are zeros in it now.
    pub fn read(
        &self,
        dataset: &Dataset,
        first: u64,
        into: &mut [u8],
        is_zeroed: bool,
    ) -> Result<(), Damage> {
        let damage = |what: String| Damage::at(&dataset.path, what);
        match &dataset.body {
            Body::Whole { offset } => {
                let is_all = into.len() as u64 == dataset.bytes;
                if !is_all {
                    self.verify_whole(dataset, *offset)?;
                }
                let began = Instant::now();
                self.file
                    .read_exact_at(into, offset.saturating_add(first))
                    .map_err(|error| damage(error.to_string()))?;
                let read = Instant::now();
                let found = if is_all { xxh3(into) } else { dataset.checksum };
                self.spends(began, read);
                check(dataset.checksum, found).map_err(damage)
            }
            Body::Blocks { size, .. } => self.read_blocks(dataset, *size, first, into, is_zeroed),
        }
    }

    fn read_blocks(
        &self,
        dataset: &Dataset,
        size: u64,
        first: u64,
        into: &mut [u8],
        is_zeroed: bool,
    ) -> Result<(), Damage> {
        let length = into.len();
        let Ok(step) = usize::try_from(size) else {
            return Err(Damage::at(
                &dataset.path,
                "its blocks are too large for this machine",
            ));
        };
        // The first part ends where a block does.
        let head = length.min(step - (first % size) as usize);
        let (head, rest) = into.split_at_mut(head);
        let many = (PIECE / 4 / step).max(1);
        let rest = rest.chunks_mut(many * step).enumerate();
        let from = first / size + 1;
        let rest = rest.map(|(piece, into)| ((from + (piece * many) as u64) * size, into));
        let pieces = std::iter::once((first, head)).chain(rest);
        let outcome = Mutex::new(Ok(()));
        parallel::each(pieces, length, |(mut at, into)| {
            let mut into = into;
            while !into.is_empty() {
                let here = into.len().min(step - (at % size) as usize);
                let (part, more) = into.split_at_mut(here);
                if let Err(damage) = self.read_part(dataset, size, at, part, is_zeroed) {
                    let mut outcome = locked(&outcome);
                    *outcome = Err(damage);
                    return;
                }
                at += here as u64;
                into = more;
            }
        });
        outcome
            .into_inner()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Reads a part of a block.
    fn read_part(
        &self,
        dataset: &Dataset,
        size: u64,
        at: u64,
        into: &mut [u8],
        is_zeroed: bool,
    ) -> Result<(), Damage> {
        let (number, skip) = (at / size, (at % size) as usize);
        let length = block_length(dataset.bytes, size, number) as usize;
        if into.len() == length {
            return self.block(dataset, number, into, is_zeroed);
        }
        SCRATCH.with_borrow_mut(|scratch| {
            scratch.clear();
            scratch.resize(length, 0);
            self.block(dataset, number, scratch, true)?;
            into.copy_from_slice(&scratch[skip..skip + into.len()]);
            Ok(())
        })
    }

    /// Reads a block and checks it; `into` is as long as the block.
    fn block(&self, dataset: &Dataset, number: u64, into: &mut [u8], is_zeroed: bool) -> Result<(), Damage> {
        let Body::Blocks { size, extents } = &dataset.body else {
            return Ok(());
        };
        let extent = usize::try_from(number)
            .ok()
            .and_then(|number| extents.get(number));
        let damage = |what: String| {
            let from = match extent {
                Some(Extent::At { file, .. }) if *file > 0 => self.other_name(*file),
                _ => String::new(),
            };
            Damage::at(&dataset.path, format!("block {number}{from}: {what}"))
        };
        let Some(Extent::At {
            file,
            offset,
            length,
            coding,
            checksum,
        }) = extent
        else {
            if !is_zeroed {
                into.fill(0);
            }
            return Ok(());
        };
        let file = match file.checked_sub(1) {
            None => Some(&self.file),
            Some(other) => self.others.get(other as usize),
        };
        let file = file.ok_or_else(|| damage("there is no such file".into()))?;
        let began = Instant::now();
        if *coding == Coding::Raw {
            file.read_exact_at(into, *offset)
                .map_err(|error| damage(error.to_string()))?;
        } else {
            let mut stored = vec![0; *length as usize];
            file.read_exact_at(&mut stored, *offset)
                .map_err(|error| damage(error.to_string()))?;
            // The only block of a dataset is not filled up.
            let whole = (*size).min(dataset.bytes) as usize;
            let block = coding.unpack(&stored, dataset.dtype.size(), whole);
            let block = block.ok_or_else(|| damage("what is stored cannot be unpacked".into()))?;
            into.copy_from_slice(&block[..into.len()]);
        }
        let read = Instant::now();
        let found = xxh3(into);
        self.spends(began, read);
        check(*checksum, found).map_err(damage)
    }

    /// Whether a block is where the index says, as it was written.
    pub fn block_is_whole(&self, dataset: &Dataset, number: u64) -> bool {
        let Body::Blocks { size, .. } = &dataset.body else {
            return false;
        };
        let mut into = vec![0; block_length(dataset.bytes, *size, number) as usize];
        self.block(dataset, number, &mut into, true).is_ok()
    }

    /// The bytes that a block had when it was written, if they are still there.
    pub fn block_before(&self, dataset: &Dataset, number: u64) -> Option<Vec<u8>> {
        let Body::Blocks { size, extents } = &dataset.body else {
            return None;
        };
        let mut into = vec![0; block_length(dataset.bytes, *size, number) as usize];
        match extents.get(number as usize)? {
            Extent::Hole => Some(into),
            Extent::At { .. } => self
                .block(dataset, number, &mut into, true)
                .is_ok()
                .then_some(into),
        }
    }

    /// Checks all datasets, and keeps the large datasets that it has read for that: a restart reads every byte once, into
    /// the memory where the program has it. Where lists are among them that the program does not have in its memory, none is kept:
    /// memory that is touched for the first time costs more than to read what the system has read just now again. What is packed
    /// is kept all the same, as it would be unpacked twice.
    ///
    /// # Errors
    /// All damage found.
    pub fn read_all(&self) -> Result<HashMap<u32, Room>, Vec<Damage>> {
        let has_elsewhere = { self.index.meta.notes.iter() }.any(|(name, _)| name == ELSEWHERE_NOTE);
        let mut kept = HashMap::new();
        let mut damage: Vec<Damage> = Vec::new();
        let mut checked = Vec::new();
        for (dataset, number) in self.index.datasets.iter().zip(0..) {
            let room = usize::try_from(dataset.bytes)
                .ok()
                .filter(|_| dataset.bytes >= LARGE && (!has_elsewhere || is_packed(&dataset.body)));
            let room = room.and_then(|bytes| Room::zeroed(&dataset.dtype, bytes));
            match room {
                Some(mut room) => match self.read(dataset, 0, room.bytes_mut(), true) {
                    Ok(()) => drop(kept.insert(number, room)),
                    Err(found) => damage.push(found),
                },
                None => checked.push(dataset),
            }
        }
        damage.extend(self.verify_datasets(&checked));
        if damage.is_empty() { Ok(kept) } else { Err(damage) }
    }

    /// Checks the bodies of several datasets, several threads at once.
    pub fn verify_datasets(&self, datasets: &[&Dataset]) -> Vec<Damage> {
        // One for each dataset is enough.
        let mut damage = SortedMap::new();
        let (mut blocks, mut bytes) = (Vec::new(), 0_usize);
        for (at, dataset) in datasets.iter().enumerate() {
            match &dataset.body {
                Body::Whole { offset } => {
                    damage.extend(self.verify_whole(dataset, *offset).err().map(|found| (at, found)));
                }
                Body::Blocks { size, extents } => {
                    bytes = bytes.saturating_add(usize::try_from(dataset.bytes).unwrap_or(usize::MAX));
                    let stored = (0_u64..).zip(extents);
                    let stored = stored.filter(|(_, extent)| **extent != Extent::Hole);
                    blocks.extend(stored.map(|(number, _)| (at, *size, number)));
                }
            }
        }
        let outcome = Mutex::new(damage);
        parallel::each(blocks.into_iter(), bytes, |(at, size, number)| {
            let dataset = datasets[at];
            let length = block_length(dataset.bytes, size, number) as usize;
            let checked = SCRATCH.with_borrow_mut(|scratch| {
                scratch.resize(length, 0);
                self.block(dataset, number, scratch, true)
            });
            if let Err(found) = checked {
                locked(&outcome).insert(at, found);
            }
        });
        let found = outcome.into_inner();
        found
            .unwrap_or_else(|poisoned| poisoned.into_inner())
            .into_values()
            .collect()
    }
}
