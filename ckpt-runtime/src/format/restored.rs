//! A checkpoint that has been opened: its frames and its variables as values.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Instant;

use super::ahead::Ahead;
use super::columns::Stored;
use super::container::{Container, Spent};
use super::in_memory::InMemory;
use super::index::{Dataset, Index};
use super::ordered::ElementOrder;
use super::tree::Node;
use super::{CheckpointId, Damage, Files, Meta, StoreError, VariableContent};
use crate::base::bound::ThreadBound;
use crate::base::lock::locked;
use crate::handles::ReopenedFiles;
use crate::state::source::Recorded;
use crate::state::statics::{Place, SHARED_STATICS_NOTE};
use crate::value::{
    Block, Checkpoint, Context, Decoder, LoadError, LoadProblem, Put, Room, SharedStatic, Source, Tables,
    read_and_put,
};

/// One frame of a checkpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FrameInfo {
    /// The function.
    pub function: String,
    /// Its module path.
    pub module: String,
    /// Its source file.
    pub file: String,
    /// Its line.
    pub line: u32,
    /// The thread it runs on: 0 is that of the session, then the members of the team.
    pub thread: u32,
    /// The site it stands at.
    pub site: u32,
    /// The site's line.
    pub site_line: u32,
    /// The site's column.
    pub site_column: u32,
    /// The callee if the site is a call.
    pub callee: Option<String>,
    /// Hash of the sites and their variables.
    pub layout: u64,
    /// Hash of the function's tokens.
    pub source: u64,
    /// Its variables.
    pub variables: Vec<VariableInfo>,
}

/// One variable of a frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VariableInfo {
    /// Its name, unique within the frame.
    pub key: String,
    /// Line of its declaration.
    pub line: u32,
    /// The Rust type it was saved as; empty for a link.
    pub rust_type: String,
    /// Which parameter of the function it is, if it is one.
    pub parameter: Option<u32>,
    /// A value of its own or a link.
    pub content: VariableContent,
    /// Bytes of its value.
    pub bytes: u64,
}

/// Takes a value out of a decoder, to where it is wanted.
pub(crate) type Load<'l> = &'l mut dyn FnMut(&mut Decoder<'_>) -> Result<(), LoadError>;

fn nothing_loaded() -> LoadError {
    LoadError::invalid("nothing has taken the value; this is a bug in ckpt")
}

/// A checkpoint that has been opened.
///
/// It keeps every shared object (`Rc`, `Arc`) that it has restored, so that all variables get the same one: drop it
/// when the program has resumed, or their counts stay one too high.
#[derive(Debug)]
pub struct Restored {
    id: CheckpointId,
    holder: Holder,
    frames: Vec<FrameInfo>,
    statics: Vec<VariableInfo>,
    tables: ThreadBound<OnceCell<Tables>>,
    tree: std::sync::OnceLock<Node>,
    /// The last array that was looked at whose elements lie in another order than that of their indices, in that of these.
    ordered: Mutex<Option<(Block, Arc<Vec<u8>>)>>,
    spent: Spent,
}

/// Where its values are.
#[derive(Debug)]
enum Holder {
    File(Box<Blocks>),
    Memory(Arc<InMemory>),
}

impl Holder {
    fn index(&self) -> &Index {
        match self {
            Holder::File(blocks) => &blocks.container.index,
            Holder::Memory(memory) => &memory.index,
        }
    }

    fn source(&self) -> &dyn Source {
        match self {
            Holder::File(blocks) => &**blocks,
            Holder::Memory(memory) => &**memory,
        }
    }
}

/// The datasets of a file, each checked when it is read.
#[derive(Debug)]
pub(super) struct Blocks {
    pub container: Arc<Container>,
    /// Large datasets that have been read and found right, until somebody takes them.
    pub kept: Mutex<HashMap<u32, Room>>,
    /// What is read while the one before is put where it belongs.
    pub ahead: Ahead,
}

impl Restored {
    /// Opens the file of a checkpoint. Header, index and structure are checked; values are when they are read.
    ///
    /// # Errors
    /// When there is no such file, or it is damaged or of another format version.
    pub(crate) fn open(id: CheckpointId, files: &dyn Files) -> Result<Restored, StoreError> {
        let container = Container::open(id, files)?;
        container
            .verify_structure()
            .map_err(|damage| StoreError::damaged(&container.path, damage))?;
        let blocks = Blocks {
            container: Arc::new(container),
            kept: Mutex::default(),
            ahead: Ahead::default(),
        };
        Ok(Restored::of(id, Holder::File(Box::new(blocks))))
    }

    /// A snapshot that is in memory; `id` is that of the checkpoint before it.
    pub(crate) fn in_memory(id: CheckpointId, memory: Arc<InMemory>) -> Restored {
        Restored::of(id, Holder::Memory(memory))
    }

    /// Whether it is one.
    pub(crate) fn is_in_memory(&self) -> bool {
        matches!(self.holder, Holder::Memory(_))
    }

    fn of(id: CheckpointId, holder: Holder) -> Restored {
        let index = holder.index();
        let frames = index.frames.iter().map(|frame| frame.info.clone()).collect();
        let statics = index
            .statics
            .iter()
            .map(|(variable, _)| variable.clone())
            .collect();
        Restored {
            id,
            holder,
            frames,
            statics,
            tables: ThreadBound::new(OnceCell::new()),
            tree: std::sync::OnceLock::new(),
            ordered: Mutex::default(),
            spent: Spent::default(),
        }
    }

    /// Checks every byte.
    ///
    /// # Errors
    /// All damage found, by dataset.
    pub(crate) fn verify(&self) -> Result<(), Vec<Damage>> {
        match &self.holder {
            Holder::File(blocks) => blocks.container.verify(),
            Holder::Memory(_) => Ok(()),
        }
    }

    /// Checks every byte, and keeps the large datasets that it has read until somebody takes them.
    ///
    /// # Errors
    /// [`StoreError::Damaged`].
    pub(crate) fn read_all(mut self) -> Result<Restored, StoreError> {
        if let Holder::File(blocks) = &self.holder {
            let began = Instant::now();
            match blocks.container.read_all() {
                Ok(kept) => *blocks.kept() = kept,
                Err(damage) => {
                    return Err(StoreError::Damaged {
                        path: self.path().to_owned(),
                        damage,
                    });
                }
            }
            let spent = *locked(&blocks.container.spent);
            self.spent = spent.of(began.elapsed());
        }
        Ok(self)
    }

    /// How long it took to read and check all of it, if that was done.
    pub(crate) fn spent(&self) -> Spent {
        self.spent
    }

    /// Number of the checkpoint.
    pub fn id(&self) -> CheckpointId {
        self.id
    }

    /// Its file.
    pub fn path(&self) -> &Path {
        match &self.holder {
            Holder::File(blocks) => &blocks.container.path,
            Holder::Memory(memory) => &memory.place,
        }
    }

    /// Size of its file.
    pub fn file_bytes(&self) -> u64 {
        match &self.holder {
            Holder::File(blocks) => blocks.container.length,
            Holder::Memory(_) => 0,
        }
    }

    /// Other checkpoints that it needs: blocks of it are only there.
    pub fn needs(&self) -> Vec<CheckpointId> {
        let files = &self.holder.index().files;
        files.iter().map(|file| file.id).collect()
    }

    /// What is known about it.
    pub fn meta(&self) -> &Meta {
        &self.holder.index().meta
    }

    /// Its frames, thread after thread, the outermost first.
    pub fn frames(&self) -> &[FrameInfo] {
        &self.frames
    }

    /// The program's global state.
    pub fn statics(&self) -> &[VariableInfo] {
        &self.statics
    }

    /// Restores variable `key` of frame `frame`; a link is followed.
    ///
    /// # Errors
    /// When there is no such variable, or it does not hold a `T`.
    pub fn decode<T: Checkpoint>(&self, frame: usize, key: &str) -> Result<T, LoadError> {
        let mut value = None;
        self.load(frame, key, &mut |from| {
            value = Some(T::load(from)?);
            Ok(())
        })?;
        value.ok_or_else(nothing_loaded)
    }

    /// Has variable `key` of frame `frame` loaded; a link is followed.
    ///
    /// # Errors
    /// As [`Restored::decode`].
    pub(crate) fn load(&self, frame: usize, key: &str, load: Load<'_>) -> Result<(), LoadError> {
        self.load_where(frame, key, &|variable| variable.key == key, load)
    }

    /// Restores parameter `index` of the function of frame `frame`.
    ///
    /// # Errors
    /// As [`Restored::decode`].
    pub fn parameter<T: Checkpoint>(&self, frame: usize, index: u32) -> Result<T, LoadError> {
        let mut value = None;
        self.load_parameter(frame, index, &mut |from| {
            value = Some(T::load(from)?);
            Ok(())
        })?;
        value.ok_or_else(nothing_loaded)
    }

    /// Has parameter `index` of the function of frame `frame` loaded.
    ///
    /// # Errors
    /// As [`Restored::decode`].
    pub(crate) fn load_parameter(&self, frame: usize, index: u32, load: Load<'_>) -> Result<(), LoadError> {
        let name = format!("parameter {index}");
        self.load_where(frame, &name, &|variable| variable.parameter == Some(index), load)
    }

    /// The whole checkpoint as a tree of groups and datasets. An array of `ndarray` or `nalgebra` that is stored as a struct is a
    /// dataset of its own shape here.
    pub fn tree(&self) -> &Node {
        self.tree.get_or_init(|| {
            let mut tree = super::tree::build(self.holder.index());
            super::ordered::show_arrays(self, &mut tree);
            tree
        })
    }

    /// The elements of an array in the order of their indices: it is read slice by slice, and all of it is wanted for each.
    pub(super) fn in_order(
        &self,
        block: &Block,
        order: &ElementOrder,
        size: usize,
    ) -> Result<Arc<Vec<u8>>, LoadError> {
        let mut known = locked(&self.ordered);
        match &*known {
            Some((of, bytes)) if of == block => Ok(Arc::clone(bytes)),
            _ => {
                let bytes = Arc::new(order.by_index(&self.bytes_of(block)?, size));
                *known = Some((*block, Arc::clone(&bytes)));
                Ok(bytes)
            }
        }
    }

    /// The bytes of a block.
    pub(super) fn bytes_of(&self, block: &Block) -> Result<Vec<u8>, LoadError> {
        bytes(self.holder.source(), block)
    }

    /// None of this is generic: it would be compiled again for every type of every program.
    fn load_where(
        &self,
        frame: usize,
        name: &str,
        wanted: &dyn Fn(&VariableInfo) -> bool,
        load: Load<'_>,
    ) -> Result<(), LoadError> {
        let missing = || LoadError::from(LoadProblem::NoVariable(name.to_owned()));
        let frames = &self.holder.index().frames;
        let mut holder = frames.get(frame).ok_or_else(missing)?;
        let mut position = holder
            .info
            .variables
            .iter()
            .position(wanted)
            .ok_or_else(missing)?;
        // The index has no link to a link.
        if let VariableContent::Link { frame, key } = &holder.info.variables[position].content {
            holder = frames.get(*frame).ok_or_else(missing)?;
            position = holder
                .info
                .variables
                .iter()
                .position(|variable| variable.key == *key)
                .ok_or_else(missing)?;
        }
        let stored = holder
            .columns
            .get(position)
            .and_then(Option::as_ref)
            .ok_or_else(missing)?;
        self.read(stored, load)
    }

    fn read(&self, stored: &Stored, load: Load<'_>) -> Result<(), LoadError> {
        let tables = self.tables()?;
        let context = Context {
            source: self.holder.source(),
            tables,
        };
        let mut cursor = stored.cursor();
        let mut decoder = Decoder::new(&mut cursor, false, &context);
        load(&mut decoder)?;
        decoder.finish()
    }

    fn tables(&self) -> Result<&Tables, LoadError> {
        let cell = self.tables.get().ok_or_else(|| {
            LoadError::invalid(
                "a checkpoint is restored by two threads; shared objects can be restored by one only",
            )
        })?;
        if let Some(tables) = cell.get() {
            return Ok(tables);
        }
        let mut all = Vec::new();
        for table in &self.holder.index().tables {
            let ids = self.bytes_of(&table.ids)?;
            let ids = ids
                .chunks_exact(8)
                .map(|id| u64::from_le_bytes(std::array::from_fn(|k| id[k])))
                .collect();
            all.push((ids, table.items.cursor()));
        }
        let store = self.path().parent().unwrap_or(Path::new("."));
        Ok(cell.get_or_init(|| Tables::new(all.into_iter(), ReopenedFiles::of(store))))
    }
}

impl Recorded for Restored {
    fn place(&self) -> String {
        format!("checkpoint {} in {}", self.id(), self.path().display())
    }

    fn names(&self) -> Vec<&str> {
        self.statics.iter().map(|saved| saved.key.as_str()).collect()
    }

    fn put_back(&self, name: &str, global: &dyn Place) -> Result<(), LoadError> {
        let statics = &self.holder.index().statics;
        let found = statics.iter().find(|(variable, _)| variable.key == name);
        let stored = found.and_then(|(_, column)| column.as_ref());
        let stored = stored.ok_or_else(|| LoadError::from(LoadProblem::NoVariable(name.to_owned())))?;
        let mut shared: Vec<SharedStatic> = match self.note(SHARED_STATICS_NOTE) {
            Some(note) => serde_json::from_str(note).map_err(LoadError::invalid)?,
            None => Vec::new(),
        };
        shared.retain(|one| one.name == name);
        self.tables()?.begin_static(shared);
        self.read(stored, &mut |decoder| global.restore(decoder))
    }

    fn settle_files(&self) -> Result<(), LoadError> {
        match self.tables.get().and_then(OnceCell::get) {
            Some(tables) => tables.files.settle().map_err(LoadError::invalid),
            None => Ok(()),
        }
    }

    fn note(&self, name: &str) -> Option<&str> {
        let note = self.meta().notes.iter().find(|(known, _)| known == name)?;
        Some(&note.1)
    }
}

/// The bytes of a block; the dataset around it is right.
fn bytes(source: &dyn Source, block: &Block) -> Result<Vec<u8>, LoadError> {
    let length =
        usize::try_from(block.length).map_err(|_| LoadError::invalid("too large for this machine"))?;
    let mut bytes = Vec::new();
    bytes
        .try_reserve_exact(length)
        .map_err(|_| LoadError::invalid(format_args!("no memory for {length} bytes")))?;
    bytes.resize(length, 0);
    source.read(block, &mut bytes)?;
    Ok(bytes)
}

impl Blocks {
    fn kept(&self) -> MutexGuard<'_, HashMap<u32, Room>> {
        locked(&self.kept)
    }
}

impl Source for Blocks {
    fn take(&self, block: &Block) -> Option<Room> {
        let mut kept = self.kept();
        let room = kept.remove(&block.dataset)?;
        if block.offset == 0 && room.bytes().len() as u64 == block.length {
            return Some(room);
        }
        kept.insert(block.dataset, room);
        None
    }

    fn whole(&self, block: &Block, put: Put<'_>) -> Result<(), LoadError> {
        let dataset = self.container.index.datasets.get(block.dataset as usize);
        let is_all = |dataset: &Dataset| block.offset == 0 && block.length == dataset.bytes;
        if !dataset.is_some_and(is_all) {
            return read_and_put(self, block, put);
        }
        let read = self.ahead.whole(&self.container, block.dataset);
        let read =
            read.ok_or_else(|| LoadError::invalid(format_args!("no memory for {} bytes", block.length)))?;
        let bytes = read.map_err(|damage| LoadError::from(LoadProblem::Damaged(damage.to_string())))?;
        self.ahead.begin(&self.container, block.dataset);
        let done = put(&bytes).map_err(LoadError::invalid);
        self.ahead.give_back(bytes);
        done
    }

    // Who asks for bytes has made zeros for them.
    fn read(&self, block: &Block, into: &mut [u8]) -> Result<(), LoadError> {
        self.fill(block, into, true)
    }

    fn read_over(&self, block: &Block, into: &mut [u8]) -> Result<(), LoadError> {
        self.fill(block, into, false)
    }
}

impl Blocks {
    /// `is_zeroed`: there are zeros in `into`.
    fn fill(&self, block: &Block, into: &mut [u8], is_zeroed: bool) -> Result<(), LoadError> {
        if into.is_empty() {
            return Ok(());
        }
        let damaged = |what: String| LoadError::from(LoadProblem::Damaged(what));
        let dataset = self
            .container
            .index
            .datasets
            .get(block.dataset as usize)
            .ok_or_else(|| damaged(format!("there is no dataset {}", block.dataset)))?;
        if let Some(room) = self.kept().get(&block.dataset) {
            let first = usize::try_from(block.offset).ok();
            let range = first.and_then(|first| Some(first..first.checked_add(into.len())?));
            let part = range.and_then(|range| room.bytes().get(range));
            into.copy_from_slice(part.ok_or_else(|| damaged("a block beyond its dataset".into()))?);
            return Ok(());
        }
        self.container
            .read(dataset, block.offset, into, is_zeroed)
            .map_err(|damage| damaged(damage.to_string()))?;
        Ok(())
    }
}
