//! The index of a checkpoint file: what is stored where. `docs/src/format.md`, section Index, is its specification.
//!
//! Reading treats every number as hostile: lengths are compared with the bytes that are there before anything is
//! allocated, places with the size of what they point into, depth with a bound.

use std::borrow::Cow;

use super::coding::Coding;
use super::columns::Stored;
use super::extents::{Body, Extent, Other};
use super::{CheckpointId, FrameInfo, Meta, VariableContent, VariableInfo};
use crate::value::{Block, DType, Kind, MAX_DEPTH};

/// What is stored where in one checkpoint file.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Index {
    pub meta: Meta,
    /// Other checkpoints of this rank with blocks that are not stored here again.
    pub files: Vec<Other>,
    pub datasets: Vec<Dataset>,
    pub frames: Vec<Frame>,
    pub tables: Vec<TableEntry>,
    /// The program's global state, and the columns of each.
    pub statics: Vec<(VariableInfo, Option<Stored>)>,
}

/// One dataset of the HDF5 tree.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Dataset {
    pub path: String,
    pub dtype: DType,
    pub shape: Vec<u64>,
    pub bytes: u64,
    pub checksum: u128,
    pub body: Body,
}

#[derive(Debug, PartialEq)]
pub(super) struct Frame {
    pub info: FrameInfo,
    /// The columns of `info.variables`; `None` for a link.
    pub columns: Vec<Option<Stored>>,
}

impl Frame {
    /// What the variable of this name is stored as, unless it is another one's.
    pub fn column(&self, key: &str) -> Option<&Stored> {
        let mut variables = self.info.variables.iter();
        let at = variables.position(|variable| variable.key == key)?;
        self.columns.get(at)?.as_ref()
    }
}

#[derive(Debug, PartialEq)]
pub(super) struct TableEntry {
    pub type_name: String,
    pub ids: Block,
    pub items: Stored,
}

const DTYPES: [DType; 18] = [
    DType::U8,
    DType::U16,
    DType::U32,
    DType::U64,
    DType::I8,
    DType::I16,
    DType::I32,
    DType::I64,
    DType::F32,
    DType::F64,
    DType::U128,
    DType::I128,
    DType::Complex32,
    DType::Complex64,
    DType::Bool,
    DType::Char,
    DType::Unit,
    DType::Text,
];
const VARIANT: u8 = 18;
const OBJECT: u8 = 19;
const RECORD: u8 = 20;
const KINDS: [Kind; 7] = [
    Kind::Struct,
    Kind::List,
    Kind::Map,
    Kind::Option,
    Kind::Enum,
    Kind::Strings,
    Kind::Dyn,
];

/// The columns of variables are in the index as deep as values may be, and as what is around them.
const DEEPEST: u32 = MAX_DEPTH + 8;

impl Index {
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut to = Vec::new();
        self.meta.write(&mut to);
        self.files.write(&mut to);
        self.datasets.write(&mut to);
        self.frames.write(&mut to);
        self.tables.write(&mut to);
        write_list(&self.statics, &mut to, |(variable, column), to| {
            write_variable(variable, column.as_ref(), to)
        });
        to
    }

    /// `limit`: the datasets lie before this offset in the file.
    pub fn from_bytes(bytes: &[u8], limit: u64) -> Result<Index, Malformed> {
        let mut from = Reader::of(bytes);
        let meta = Item::read(&mut from)?;
        let files = Vec::<Other>::read(&mut from)?;
        let datasets = Vec::<Dataset>::read(&mut from)?;
        from.sizes = datasets.iter().map(|dataset| dataset.bytes).collect();
        let index = Index {
            meta,
            files,
            datasets,
            frames: Item::read(&mut from)?,
            tables: Item::read(&mut from)?,
            statics: read_list(&mut from, read_variable)?,
        };
        match from.bytes.is_empty() && index.makes_sense(limit) {
            true => Ok(index),
            false => Err(Malformed),
        }
    }

    fn makes_sense(&self, limit: u64) -> bool {
        let is_there = |dataset: &Dataset| {
            let element = dataset.dtype.size() as u64;
            let others = self.files.len();
            dataset.body.holds(dataset.bytes, element, limit, others)
        };
        let target = |frame: usize, key: &str| {
            let variables = &self.frames.get(frame)?.info.variables;
            variables.iter().find(|target| target.key == key)
        };
        let leads_to_value = |variable: &VariableInfo| match &variable.content {
            VariableContent::Link { frame, key } => {
                target(*frame, key).is_some_and(|target| target.content == VariableContent::Value)
            }
            VariableContent::Value => true,
        };
        let mut variables = self.frames.iter().flat_map(|frame| &frame.info.variables);
        self.datasets.iter().all(is_there)
            && variables.all(leads_to_value)
            && self.tables.iter().all(|table| table.ids.length.is_multiple_of(8))
            && self.statics.iter().all(|(_, column)| column.is_some())
    }

    /// Only what stands first in the index: what is known about the checkpoint, and the others that it needs.
    pub fn head_from_bytes(bytes: &[u8]) -> Result<(Meta, Vec<Other>), Malformed> {
        Item::read(&mut Reader::of(bytes))
    }
}

/// The bytes are no index. Its checksum having been right, they were written by something else.
#[derive(Debug, PartialEq)]
pub(super) struct Malformed;

struct Reader<'a> {
    bytes: &'a [u8],
    /// Sizes of the datasets, once they are known.
    sizes: Vec<u64>,
    /// How many levels of columns there may be below.
    depth: u32,
}

impl Reader<'_> {
    fn of(bytes: &[u8]) -> Reader<'_> {
        Reader {
            bytes,
            sizes: Vec::new(),
            depth: DEEPEST,
        }
    }

    fn take(&mut self, length: usize) -> Result<&[u8], Malformed> {
        let (taken, rest) = self.bytes.split_at_checked(length).ok_or(Malformed)?;
        self.bytes = rest;
        Ok(taken)
    }
}

/// A part of the index, both ways.
trait Item: Sized {
    fn write(&self, to: &mut Vec<u8>);
    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed>;
}

macro_rules! numbers {
    ($($number:ty)*) => {$(
        impl Item for $number {
            fn write(&self, to: &mut Vec<u8>) {
                to.extend_from_slice(&self.to_le_bytes());
            }
            fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
                let mut bytes = [0; size_of::<Self>()];
                bytes.copy_from_slice(from.take(size_of::<Self>())?);
                Ok(Self::from_le_bytes(bytes))
            }
        }
    )*};
}

numbers! { u8 u32 u64 i64 u128 }

/// What is a list of its fields, in the order in which they are written.
macro_rules! records {
    ($($record:ident { $($field:ident),* })*) => {$(
        impl Item for $record {
            fn write(&self, to: &mut Vec<u8>) {
                $(self.$field.write(to);)*
            }
            fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
                Ok($record { $($field: Item::read(from)?),* })
            }
        }
    )*};
}

records! {
    Other { id, seal }
    Dataset { path, dtype, shape, bytes, checksum, body }
    TableEntry { type_name, ids, items }
}

/// The name of the note in which the run stands: the first of them. Readers that know nothing of runs see one note more.
const RUN_NOTE: &str = "run";

impl Item for Meta {
    fn write(&self, to: &mut Vec<u8>) {
        self.program.write(to);
        self.version.write(to);
        self.visit.write(to);
        self.time.write(to);
        self.reason.write(to);
        self.host.write(to);
        let run = self.run.map(|run| (RUN_NOTE.to_owned(), run.to_string()));
        let notes: Vec<(String, String)> = run.into_iter().chain(self.notes.iter().cloned()).collect();
        notes.write(to);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        let mut meta = Meta {
            program: Item::read(from)?,
            version: Item::read(from)?,
            visit: Item::read(from)?,
            time: Item::read(from)?,
            reason: Item::read(from)?,
            host: Item::read(from)?,
            notes: Item::read(from)?,
            run: None,
        };
        if let Some((name, text)) = meta.notes.first()
            && name == RUN_NOTE
            && let Ok(run) = text.parse()
        {
            meta.run = Some(run);
            meta.notes.remove(0);
        }
        Ok(meta)
    }
}

impl Item for CheckpointId {
    fn write(&self, to: &mut Vec<u8>) {
        self.0.write(to);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        u64::read(from).map(CheckpointId)
    }
}

impl Item for bool {
    fn write(&self, to: &mut Vec<u8>) {
        u8::from(*self).write(to);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        match u8::read(from)? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(Malformed),
        }
    }
}

impl Item for String {
    fn write(&self, to: &mut Vec<u8>) {
        write_text(self, to);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        let length = u32::read(from)? as usize;
        String::from_utf8(from.take(length)?.to_vec()).map_err(|_| Malformed)
    }
}

impl Item for Cow<'static, str> {
    fn write(&self, to: &mut Vec<u8>) {
        write_text(self, to);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        String::read(from).map(Cow::Owned)
    }
}

fn write_text(text: &str, to: &mut Vec<u8>) {
    (text.len() as u32).write(to);
    to.extend_from_slice(text.as_bytes());
}

impl<T: Item> Item for Option<T> {
    fn write(&self, to: &mut Vec<u8>) {
        self.is_some().write(to);
        if let Some(item) = self {
            item.write(to);
        }
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        let is_some = bool::read(from)?;
        is_some.then(|| T::read(from)).transpose()
    }
}

impl<A: Item, B: Item> Item for (A, B) {
    fn write(&self, to: &mut Vec<u8>) {
        self.0.write(to);
        self.1.write(to);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        Ok((A::read(from)?, B::read(from)?))
    }
}

impl<T: Item> Item for Vec<T> {
    fn write(&self, to: &mut Vec<u8>) {
        write_list(self, to, Item::write);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        read_list(from, T::read)
    }
}

fn write_list<T>(items: &[T], to: &mut Vec<u8>, each: impl Fn(&T, &mut Vec<u8>)) {
    (items.len() as u32).write(to);
    items.iter().for_each(|item| each(item, to));
}

/// Every item takes at least a byte, so the vector cannot outgrow the index by more than a constant.
fn read_list<T>(
    from: &mut Reader<'_>,
    each: impl Fn(&mut Reader<'_>) -> Result<T, Malformed>,
) -> Result<Vec<T>, Malformed> {
    let count = u32::read(from)?;
    let mut items = Vec::new();
    for _ in 0..count {
        items.push(each(from)?);
    }
    Ok(items)
}

/// The place of one among all that there are.
fn code_of<T: PartialEq>(one: &T, all: &[T]) -> u8 {
    let place = all.iter().position(|known| known == one);
    place.unwrap_or(usize::from(u8::MAX)) as u8
}

impl Item for DType {
    fn write(&self, to: &mut Vec<u8>) {
        match self {
            DType::Variant(names) => {
                VARIANT.write(to);
                write_list(names, to, Item::write);
            }
            DType::Object(table) => (OBJECT, *table).write(to),
            DType::Record(size) => (RECORD, *size).write(to),
            plain => code_of(plain, &DTYPES).write(to),
        }
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        match u8::read(from)? {
            VARIANT => Vec::read(from).map(|names| DType::Variant(Cow::Owned(names))),
            OBJECT => u32::read(from).map(DType::Object),
            RECORD => u32::read(from).map(DType::Record),
            plain => DTYPES.get(usize::from(plain)).cloned().ok_or(Malformed),
        }
    }
}

impl Item for Body {
    fn write(&self, to: &mut Vec<u8>) {
        match self {
            Body::Whole { offset } => (0_u8, *offset).write(to),
            Body::Blocks { size, extents } => {
                (1_u8, *size).write(to);
                extents.write(to);
            }
        }
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        Ok(match bool::read(from)? {
            false => Body::Whole {
                offset: Item::read(from)?,
            },
            true => Body::Blocks {
                size: Item::read(from)?,
                extents: Item::read(from)?,
            },
        })
    }
}

impl Item for Extent {
    fn write(&self, to: &mut Vec<u8>) {
        let Extent::At {
            file,
            offset,
            length,
            coding,
            checksum,
        } = self
        else {
            return 0_u8.write(to);
        };
        (1 + coding.code(), *file).write(to);
        (*offset, *length).write(to);
        checksum.write(to);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        let Some(code) = u8::read(from)?.checked_sub(1) else {
            return Ok(Extent::Hole);
        };
        Ok(Extent::At {
            coding: Coding::from_code(code).ok_or(Malformed)?,
            file: Item::read(from)?,
            offset: Item::read(from)?,
            length: Item::read(from)?,
            checksum: Item::read(from)?,
        })
    }
}

impl Item for Frame {
    fn write(&self, to: &mut Vec<u8>) {
        let info = &self.info;
        for text in [&info.function, &info.module, &info.file] {
            text.write(to);
        }
        let places = [
            info.line,
            info.thread,
            info.site,
            info.site_line,
            info.site_column,
        ];
        places.iter().for_each(|number| number.write(to));
        info.callee.write(to);
        (info.layout, info.source).write(to);
        let variables: Vec<_> = info.variables.iter().zip(&self.columns).collect();
        write_list(&variables, to, |(variable, column), to| {
            write_variable(variable, column.as_ref(), to)
        });
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        let mut info = FrameInfo {
            function: Item::read(from)?,
            module: Item::read(from)?,
            file: Item::read(from)?,
            line: Item::read(from)?,
            thread: Item::read(from)?,
            site: Item::read(from)?,
            site_line: Item::read(from)?,
            site_column: Item::read(from)?,
            callee: Item::read(from)?,
            layout: Item::read(from)?,
            source: Item::read(from)?,
            variables: Vec::new(),
        };
        let variables = read_list(from, read_variable)?.into_iter();
        let columns;
        (info.variables, columns) = variables.unzip();
        Ok(Frame { info, columns })
    }
}

fn write_variable(variable: &VariableInfo, column: Option<&Stored>, to: &mut Vec<u8>) {
    variable.key.write(to);
    variable.line.write(to);
    variable.rust_type.write(to);
    variable.parameter.write(to);
    match &variable.content {
        VariableContent::Link { frame, key } => {
            (true, *frame as u32).write(to);
            key.write(to);
        }
        VariableContent::Value => {
            false.write(to);
            column.unwrap_or(&Stored::Empty).write(to);
        }
    }
}

fn read_variable(from: &mut Reader<'_>) -> Result<(VariableInfo, Option<Stored>), Malformed> {
    let mut variable = VariableInfo {
        key: Item::read(from)?,
        line: Item::read(from)?,
        rust_type: Item::read(from)?,
        parameter: Item::read(from)?,
        content: VariableContent::Value,
        bytes: 0,
    };
    if bool::read(from)? {
        let (frame, key) = <(u32, String)>::read(from)?;
        let frame = frame as usize;
        variable.content = VariableContent::Link { frame, key };
        return Ok((variable, None));
    }
    let column = Stored::read(from)?;
    variable.bytes = column.bytes();
    Ok((variable, Some(column)))
}

impl Item for Block {
    fn write(&self, to: &mut Vec<u8>) {
        self.dataset.write(to);
        (self.offset, self.length).write(to);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        let block = Block {
            dataset: Item::read(from)?,
            offset: Item::read(from)?,
            length: Item::read(from)?,
        };
        let all = *from.sizes.get(block.dataset as usize).ok_or(Malformed)?;
        match block.offset.checked_add(block.length) {
            Some(end) if end <= all => Ok(block),
            _ => Err(Malformed),
        }
    }
}

impl Item for Stored {
    fn write(&self, to: &mut Vec<u8>) {
        match self {
            Stored::Empty => 0_u8.write(to),
            Stored::Data { dtype, single, block } => {
                1_u8.write(to);
                dtype.write(to);
                single.write(to);
                block.write(to);
            }
            Stored::Group { kind, children } => {
                (2_u8, code_of(kind, &KINDS)).write(to);
                children.write(to);
            }
            Stored::Array { length, items } => {
                (3_u8, *length).write(to);
                items.write(to);
            }
        }
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        from.depth = from.depth.checked_sub(1).ok_or(Malformed)?;
        let column = match u8::read(from)? {
            0 => Stored::Empty,
            1 => {
                let (dtype, single) = <(DType, bool)>::read(from)?;
                // Only whole tables have records; a size of zero would make any count possible.
                if matches!(dtype, DType::Record(_)) {
                    return Err(Malformed);
                }
                let block = Block::read(from)?;
                let size = dtype.size() as u64;
                let is_one = !single || dtype == DType::Text || block.length == size;
                if !is_one || !block.length.is_multiple_of(size) {
                    return Err(Malformed);
                }
                Stored::Data { dtype, single, block }
            }
            2 => Stored::Group {
                kind: *KINDS.get(usize::from(u8::read(from)?)).ok_or(Malformed)?,
                children: Item::read(from)?,
            },
            3 => Stored::Array {
                length: Item::read(from)?,
                items: Stored::read(from).map(Box::new)?,
            },
            _ => return Err(Malformed),
        };
        from.depth += 1;
        Ok(column)
    }
}
