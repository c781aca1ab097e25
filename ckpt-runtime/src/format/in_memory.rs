//! A snapshot that stays in memory, to be read as a checkpoint is. There is no file behind it.

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use super::columns::Stored;
use super::frames::frame_info;
use super::index::{Frame, Index, TableEntry};
use super::write::variable_info;
use super::{Meta, VariableInfo};
use crate::base::from_outside;
use crate::base::lock::locked;
use crate::state::snapshot::{Content, Snapshot, VariableRecord};
use crate::value::{Block, Bytes, Column, DType, LoadError, LoadProblem, Owner, Room, Source};

/// What it is called in messages, in place of a file.
const NAME: &str = "in memory";

/// The values of a snapshot, and where each is among them.
#[derive(Debug)]
pub(crate) struct InMemory {
    pub(super) index: Index,
    /// The bytes of each column, as blocks of datasets say it, and their checksums.
    columns: Vec<(Bytes, Vec<u128>)>,
    /// Large lists, and the type of their numbers.
    large: Vec<(u32, DType)>,
    /// Copies of these for the program, until it takes them.
    ready: Mutex<HashMap<u32, Room>>,
    pub(super) place: PathBuf,
    /// The variables that nothing writes to between two visits of their sites.
    unchanged: Vec<(Owner, usize, String)>,
    /// The lists of floats with a NaN or an infinity in them, by frame and variable; nothing where nobody has looked.
    not_finite: Option<Vec<(usize, String)>>,
    /// When it was taken.
    taken: Instant,
}

impl InMemory {
    /// Takes a snapshot over; `None` if a part of it is in files only, or was not copied.
    pub fn of(snapshot: Snapshot, meta: Meta, store: &Path) -> Option<InMemory> {
        snapshot.wait().ok()?;
        let mut memory = InMemory {
            index: Index {
                meta,
                ..Index::default()
            },
            columns: Vec::new(),
            large: Vec::new(),
            ready: Mutex::default(),
            place: store.join(NAME),
            unchanged: Vec::new(),
            not_finite: None,
            taken: Instant::now(),
        };
        let Snapshot {
            frames,
            tables,
            statics,
            seen,
            ..
        } = snapshot;
        for seen in seen {
            let owner = seen.owner.into_iter();
            let unchanged = owner.map(|owner| (owner, seen.frame, seen.key.clone().into_owned()));
            memory.unchanged.extend(unchanged);
        }
        for frame in frames {
            let mut info = frame_info(&frame);
            let stored = frame
                .variables
                .into_iter()
                .map(|variable| memory.variable(variable));
            let columns: Vec<Option<Stored>> = stored.collect::<Option<_>>()?;
            for (variable, column) in info.variables.iter_mut().zip(&columns) {
                variable.bytes = column.as_ref().map_or(0, Stored::bytes);
            }
            memory.index.frames.push(Frame { info, columns });
        }
        for table in tables {
            let ids: Vec<u8> = table.ids.iter().flat_map(|id| id.to_le_bytes()).collect();
            let ids = memory.block(Bytes::from(ids))?;
            let entry = TableEntry {
                type_name: table.type_name,
                ids,
                items: memory.column(table.items)?,
            };
            memory.index.tables.push(entry);
        }
        for variable in statics {
            let info: VariableInfo = variable_info(&variable);
            let column = memory.variable(variable)?;
            memory.index.statics.push((info, column));
        }
        Some(memory)
    }

    /// How long ago it was taken.
    pub fn age(&self) -> Duration {
        self.taken.elapsed()
    }

    /// Bytes that it takes.
    pub fn bytes(&self) -> u64 {
        self.columns.iter().map(|(column, _)| column.held() as u64).sum()
    }

    /// Copies the large lists, and looks at the checksums of all bytes; whether they are right. To be called when the program has
    /// just left its functions: what it had has been freed, and the same memory is used again for what it will have.
    pub fn make_ready(&self) -> bool {
        let mut ready = HashMap::new();
        for (dataset, dtype) in &self.large {
            let Some((bytes, sums)) = self.columns.get(*dataset as usize) else {
                continue;
            };
            // Where there is no memory the list is read when it is asked for.
            // SAFETY: `copy_checked` has filled all of what it was given where it returns true.
            let room = unsafe { Room::filled(dtype, bytes.len(), |into| bytes.copy_checked(sums, into)) };
            match room {
                Some(room) => drop(ready.insert(*dataset, room)),
                None if !bytes.are_as_at(sums) => return false,
                None => {}
            }
        }
        let mut small = self.columns.iter().zip(0..);
        let are_right =
            small.all(|((bytes, sums), dataset)| ready.contains_key(&dataset) || bytes.are_as_at(sums));
        if are_right {
            *locked(&self.ready) = ready;
        }
        are_right
    }

    /// Changes one bit of it: for tests.
    pub fn damage(&self, at: u64) {
        let held = self.columns.iter().filter_map(|(bytes, _)| bytes.held_part());
        if let Some(held) = held.max_by_key(|held| held.len()) {
            let place = (at / 8) as usize % held.len();
            from_outside::flip(held.as_ptr().addr() + place, held[place], at as u32);
        }
    }

    /// Looks for what is no finite number in lists of floats.
    pub fn look_for_not_finite(&mut self) {
        let mut found = Vec::new();
        for (number, frame) in self.index.frames.iter().enumerate() {
            for (variable, column) in frame.info.variables.iter().zip(&frame.columns) {
                if column.as_ref().is_some_and(|column| self.has_not_finite(column)) {
                    found.push((number, variable.key.clone()));
                }
            }
        }
        self.not_finite = Some(found);
    }

    fn has_not_finite(&self, column: &Stored) -> bool {
        match column {
            Stored::Data {
                dtype,
                single: false,
                block,
            } => {
                let held = self.columns.get(block.dataset as usize);
                held.is_some_and(|(bytes, _)| bytes.have_not_finite(dtype))
            }
            Stored::Group { children, .. } => children.iter().any(|(_, child)| self.has_not_finite(child)),
            Stored::Array { items, .. } => self.has_not_finite(items),
            Stored::Data { .. } | Stored::Empty => false,
        }
    }

    /// A list of floats that has a NaN or an infinity in it, and had none in the snapshot before: its function and name.
    pub fn not_finite_since(&self, before: &InMemory) -> Option<(&str, &str)> {
        let known = before.not_finite.as_ref()?;
        let found = self.not_finite.as_ref()?.iter().find(|found| {
            let (frame, key) = found;
            let is_there = |memory: &InMemory| {
                let frame = memory.index.frames.get(*frame)?;
                let has = frame.info.variables.iter().any(|variable| variable.key == *key);
                has.then(|| frame.info.function.clone())
            };
            !known.contains(found) && is_there(before).is_some() && is_there(before) == is_there(self)
        });
        found.and_then(|(frame, key)| Some((self.function(*frame)?, key.as_str())))
    }

    /// A variable that no statement has written to since the snapshot before, and that is not what it was: its function and
    /// name.
    pub fn changed_since(&self, before: &InMemory) -> Option<(&str, &str)> {
        let (_, frame, key) = self.unchanged.iter().find(|(owner, frame, key)| {
            let known = before.unchanged.iter().find(|(known, ..)| known == owner);
            known.is_some_and(|(_, then, _)| {
                let (now, then) = (self.sums_of(*frame, key), before.sums_of(*then, key));
                now.is_some() && then.is_some() && now != then
            })
        })?;
        Some((self.function(*frame)?, key))
    }

    fn function(&self, frame: usize) -> Option<&str> {
        self.index
            .frames
            .get(frame)
            .map(|frame| frame.info.function.as_str())
    }

    /// The checksums of all that a variable is made of, and how many bytes they are of.
    fn sums_of(&self, frame: usize, key: &str) -> Option<Vec<(usize, &[u128])>> {
        let frame = self.index.frames.get(frame)?;
        let at = frame
            .info
            .variables
            .iter()
            .position(|variable| variable.key == key)?;
        let mut sums = Vec::new();
        self.add_sums(frame.columns.get(at)?.as_ref()?, &mut sums);
        Some(sums)
    }

    fn add_sums<'m>(&'m self, column: &Stored, sums: &mut Vec<(usize, &'m [u128])>) {
        match column {
            Stored::Empty => {}
            Stored::Data { block, .. } => {
                if let Some((bytes, own)) = self.columns.get(block.dataset as usize) {
                    sums.push((bytes.len(), own));
                }
            }
            Stored::Group { children, .. } => {
                children.iter().for_each(|(_, child)| self.add_sums(child, sums));
            }
            Stored::Array { items, .. } => self.add_sums(items, sums),
        }
    }

    /// What is known about it.
    pub fn meta(&self) -> &Meta {
        &self.index.meta
    }

    /// `Some(None)` for what is another variable's.
    fn variable(&mut self, variable: VariableRecord) -> Option<Option<Stored>> {
        match variable.content {
            Content::Value(column) => self.column(column).map(Some),
            Content::Link { .. } => Some(None),
        }
    }

    fn column(&mut self, column: Column) -> Option<Stored> {
        Some(match column {
            Column::Empty => Stored::Empty,
            Column::Data(data) => {
                if data.bytes.body().is_some() {
                    self.large.push((self.columns.len() as u32, data.dtype.clone()));
                }
                Stored::Data {
                    dtype: data.dtype,
                    single: data.single,
                    block: self.block(data.bytes)?,
                }
            }
            Column::Group(group) => {
                let mut children = Vec::new();
                for (name, child) in group.children {
                    children.push((Cow::into_owned(name), self.column(child)?));
                }
                Stored::Group {
                    kind: group.kind,
                    children,
                }
            }
            Column::Array { length, items } => Stored::Array {
                length,
                items: Box::new(self.column(*items)?),
            },
        })
    }

    fn block(&mut self, bytes: Bytes) -> Option<Block> {
        if !bytes.is_all_here() {
            return None;
        }
        let block = Block {
            dataset: self.columns.len() as u32,
            offset: 0,
            length: bytes.len() as u64,
        };
        let sums = bytes.checksums();
        self.columns.push((bytes, sums));
        Some(block)
    }
}

impl Source for InMemory {
    fn take(&self, block: &Block) -> Option<Room> {
        locked(&self.ready).remove(&block.dataset)
    }

    fn read(&self, block: &Block, into: &mut [u8]) -> Result<(), LoadError> {
        let column = self.columns.get(block.dataset as usize);
        let offset = usize::try_from(block.offset).ok();
        let damaged = |what: &str| LoadError::from(LoadProblem::Damaged(what.into()));
        let Some(((bytes, sums), offset)) = column.zip(offset) else {
            return Err(damaged("a block beyond its column"));
        };
        if !bytes.are_as_at(sums) {
            return Err(damaged("its bytes in memory have changed"));
        }
        match bytes.copy_to(offset, into) {
            true => Ok(()),
            false => Err(damaged("a block beyond its column")),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::format::{CheckpointId, Restored};
    use crate::plan::FunctionPlan;
    use crate::state::snapshot::SnapshotBuilder;
    use crate::value::Capture;

    static PLAN: FunctionPlan = FunctionPlan::SAMPLE;

    #[test]
    fn values_come_back_from_memory() {
        let mut large: Vec<f64> = (0..400_000).map(f64::from).collect();
        large[100_000..300_000].fill(0.0);
        let (small, words) = (7_u64, vec!["one".to_owned(), String::new()]);
        let shared = std::rc::Rc::new(vec![1_u32, 2]);
        let pair = (shared.clone(), shared);
        let mut builder = SnapshotBuilder::in_blocks(Capture::default());
        builder.frame(&PLAN, 1);
        builder.value(0, "large", 1, None, &large);
        builder.value(0, "small", 2, None, &small);
        builder.value(0, "words", 3, None, &words);
        builder.value(0, "pair", 4, None, &pair);
        let snapshot = builder.finish().unwrap();
        let memory = InMemory::of(snapshot, Meta::default(), Path::new("store")).unwrap();
        assert!(memory.bytes() < 2_000_000, "zeros are not kept");
        let memory = Arc::new(memory);
        // More than once.
        for _ in 0..2 {
            let restored = Restored::in_memory(CheckpointId(3), Arc::clone(&memory));
            assert_eq!(restored.decode::<Vec<f64>>(0, "large").unwrap(), large);
            assert_eq!(restored.decode::<u64>(0, "small").unwrap(), small);
            assert_eq!(restored.decode::<Vec<String>>(0, "words").unwrap(), words);
            type Shared = std::rc::Rc<Vec<u32>>;
            let (one, other) = restored.decode::<(Shared, Shared)>(0, "pair").unwrap();
            assert!(std::rc::Rc::ptr_eq(&one, &other) && *one == [1, 2]);
        }
    }
}
