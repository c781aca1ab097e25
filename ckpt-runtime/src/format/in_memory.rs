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
use crate::value::{Block, Bytes, Column, DType, LoadError, LoadProblem, Owner, Region, Room, Seen, Source};

/// What it is called in messages, in place of a file.
const NAME: &str = "in memory";

/// Where a large list of numbers is in the program's memory, of a variable that nothing writes to between two visits of its site.
#[derive(Debug)]
pub(crate) struct LivePlace {
    pub owner: Owner,
    pub place: Region,
    pub function: String,
    /// Among the columns.
    dataset: u32,
}

impl LivePlace {
    /// Those that are noted for a variable, next to the datasets of its large lists: only where each is of the same length as what
    /// it is saved as.
    fn all_of(seen: &Seen, function: &str, memory: &InMemory, column: &Stored, places: &mut Vec<LivePlace>) {
        let Some(owner) = seen.owner else { return };
        let mut datasets = Vec::new();
        memory.large_in(column, &mut datasets);
        let is_large = |place: &&Region| place.bytes() >= SMALLEST_PLACE;
        let large: Vec<Region> = seen.places.iter().filter(is_large).copied().collect();
        let lengths = datasets.iter().map(|(_, length)| *length);
        if !lengths.eq(large.iter().map(|place| place.bytes())) {
            return;
        }
        places.extend(
            large
                .into_iter()
                .zip(datasets)
                .map(|(place, (dataset, _))| LivePlace {
                    owner,
                    place,
                    function: function.to_owned(),
                    dataset,
                }),
        );
    }
}

/// A variable that nothing writes to between two visits of its site.
#[derive(Debug)]
pub(crate) struct Unchanged {
    pub owner: Owner,
    frame: usize,
    key: String,
    /// Where its numbers are in the program's memory, if nothing has looked at them since the last visit either.
    places: Option<Vec<Region>>,
}

/// Of so many bytes a list is worth being put back.
const SMALLEST_PLACE: usize = 1 << 13;

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
    unchanged: Vec<Unchanged>,
    /// Where large lists of these are in the program's memory.
    places: Vec<LivePlace>,
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
            places: Vec::new(),
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
        for seen in &seen {
            let owner = seen.owner.into_iter();
            let unchanged = owner.map(|owner| Unchanged {
                owner,
                frame: seen.frame,
                key: seen.key.clone().into_owned(),
                places: (seen.is_unread && seen.is_behind_it()).then(|| seen.places.clone()),
            });
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
        let mut places = Vec::new();
        for seen in &seen {
            let frame = memory.index.frames.get(seen.frame);
            let column = frame.and_then(|frame| Some((frame, frame.column(&seen.key)?)));
            if let Some((frame, column)) = column {
                LivePlace::all_of(seen, &frame.info.function, &memory, column, &mut places);
            }
        }
        memory.places = places;
        Some(memory)
    }

    /// Where large lists of what nothing writes to are in the program's memory.
    pub fn places(&self) -> &[LivePlace] {
        &self.places
    }

    /// Fills `into` with the bytes of a place from this address on, if their checksums are right. It is for handlers of signals.
    pub fn part_of_place(&self, place: &LivePlace, at: usize, into: &mut [u8]) -> bool {
        let column = self.columns.get(place.dataset as usize);
        let offset = at.checked_sub(place.place.first());
        column
            .zip(offset)
            .is_some_and(|((bytes, sums), offset)| bytes.part_checked(sums, offset, into))
    }

    /// The datasets of the large lists of a column, and their lengths.
    fn large_in(&self, column: &Stored, datasets: &mut Vec<(u32, usize)>) {
        match column {
            Stored::Empty => {}
            Stored::Data { block, .. } => {
                let length = self
                    .columns
                    .get(block.dataset as usize)
                    .map_or(0, |(bytes, _)| bytes.len());
                if length >= SMALLEST_PLACE {
                    datasets.push((block.dataset, length));
                }
            }
            Stored::Group { children, .. } => {
                children
                    .iter()
                    .for_each(|(_, child)| self.large_in(child, datasets));
            }
            Stored::Array { items, .. } => self.large_in(items, datasets),
        }
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

    /// Whether the checksums of all bytes are right.
    pub fn is_whole(&self) -> bool {
        self.columns.iter().all(|(bytes, sums)| bytes.are_as_at(sums))
    }

    /// Changes one bit of it: for tests.
    pub fn damage(&self, at: u64) {
        let held = self.columns.iter().filter_map(|(bytes, _)| bytes.held_part());
        if let Some(held) = held.max_by_key(|held| held.len()) {
            let place = (at / 8) as usize % held.len();
            from_outside::flip(held.as_ptr().addr() + place, held[place], at as u32);
        }
    }

    /// Changes one bit of such a variable where it is in the program's memory: for tests.
    pub fn damage_place(&self, one: &Unchanged, at: u64) {
        let places = one.places.iter().flatten();
        if let Some(place) = places.max_by_key(|place| place.bytes()) {
            let at_byte = place.first() + (at / 8) as usize % place.bytes().max(1);
            // SAFETY: it lies in a list of numbers of the program's, which stands still at its site.
            let byte = unsafe { std::ptr::with_exposed_provenance::<u8>(at_byte).read_volatile() };
            from_outside::flip(at_byte, byte, at as u32);
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

    /// The lists of floats that have a NaN or an infinity in them, and had none in the snapshot before: their functions and names.
    pub fn not_finite_since(&self, before: &InMemory) -> impl Iterator<Item = (&str, &str)> {
        let known = before.not_finite.as_deref();
        let all = self.not_finite.as_deref().filter(|_| known.is_some());
        let found = all.unwrap_or_default().iter().filter(move |found| {
            let (frame, key) = found;
            let is_there = |memory: &InMemory| {
                let frame = memory.index.frames.get(*frame)?;
                let has = frame.info.variables.iter().any(|variable| variable.key == *key);
                has.then(|| frame.info.function.clone())
            };
            !known.is_some_and(|known| known.contains(found))
                && is_there(before).is_some()
                && is_there(before) == is_there(self)
        });
        found.filter_map(|(frame, key)| Some((self.function(*frame)?, key.as_str())))
    }

    /// The variables that no statement has written to since the snapshot before, and that are not what they were.
    pub fn changed_since<'m>(&'m self, before: &'m InMemory) -> impl Iterator<Item = &'m Unchanged> {
        self.unchanged.iter().filter(|one| {
            let (now, then) = (self.parts_of(one), before.parts_of(one));
            let sums = |parts: Vec<(&'m Bytes, &'m [u128])>| {
                let sums = parts.into_iter().map(|(bytes, sums)| (bytes.len(), sums));
                sums.collect::<Vec<_>>()
            };
            now.is_some() && then.is_some() && now.map(sums) != then.map(sums)
        })
    }

    /// The function of such a variable, and its name.
    pub fn name_of<'m>(&'m self, one: &'m Unchanged) -> (&'m str, &'m str) {
        (self.function(one.frame).unwrap_or_default(), &one.key)
    }

    /// Puts such a variable back to what it was at the snapshot before, from there or as it has been `made` again, where nothing has looked
    /// at it since. Gives how many bytes were not as they should be; nothing where it cannot be done.
    pub fn put_back(&self, one: &Unchanged, before: &InMemory, made: Option<&Column>) -> Option<usize> {
        let places = one.places.as_ref()?;
        let known = before.unchanged.iter().find(|known| known.owner == one.owner)?;
        let (now, then) = (self.parts_of(one)?, before.parts_of(one)?);
        let mut source = Vec::new();
        match made {
            Some(column) => parts_in(column, &mut source)?,
            None => source.extend(then.iter().map(|(bytes, _)| *bytes)),
        }
        let lengths =
            |parts: &[(&Bytes, &[u128])]| parts.iter().map(|(bytes, _)| bytes.len()).collect::<Vec<_>>();
        let all_are = |lengths: &[usize]| {
            places
                .iter()
                .map(|place| place.bytes())
                .eq(lengths.iter().copied())
                && source.iter().map(|bytes| bytes.len()).eq(lengths.iter().copied())
        };
        if known.places.as_ref() != Some(places)
            || lengths(&now) != lengths(&then)
            || !all_are(&lengths(&then))
        {
            return None;
        }
        let mut bytes = 0;
        for (((place, (_, now)), (_, then)), from) in places.iter().zip(now).zip(then).zip(source) {
            bytes += from.write_where_not(*place, now, then)?;
        }
        Some(bytes)
    }

    fn function(&self, frame: usize) -> Option<&str> {
        self.index
            .frames
            .get(frame)
            .map(|frame| frame.info.function.as_str())
    }

    /// The bytes of all that a variable is made of, and their checksums.
    fn parts_of(&self, one: &Unchanged) -> Option<Vec<(&Bytes, &[u128])>> {
        let own = self.unchanged.iter().find(|own| own.owner == one.owner)?;
        let mut parts = Vec::new();
        self.add_parts(self.index.frames.get(own.frame)?.column(&own.key)?, &mut parts);
        Some(parts)
    }

    fn add_parts<'m>(&'m self, column: &Stored, parts: &mut Vec<(&'m Bytes, &'m [u128])>) {
        match column {
            Stored::Empty => {}
            Stored::Data { block, .. } => {
                if let Some((bytes, sums)) = self.columns.get(block.dataset as usize) {
                    parts.push((bytes, sums));
                }
            }
            Stored::Group { children, .. } => {
                children
                    .iter()
                    .for_each(|(_, child)| self.add_parts(child, parts));
            }
            Stored::Array { items, .. } => self.add_parts(items, parts),
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

/// The bytes of all that a column is made of; nothing where some are not here.
fn parts_in<'c>(column: &'c Column, parts: &mut Vec<&'c Bytes>) -> Option<()> {
    match column {
        Column::Empty => Some(()),
        Column::Data(data) => data.bytes.is_all_here().then(|| parts.push(&data.bytes)),
        Column::Group(group) => group
            .children
            .iter()
            .try_for_each(|(_, child)| parts_in(child, parts)),
        Column::Array { items, .. } => parts_in(items, parts),
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
