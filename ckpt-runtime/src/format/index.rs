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

impl Index {
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut to = Writer(Vec::new());
        to.meta(&self.meta);
        to.list(&self.files, |to, file| {
            to.u64(file.id.0);
            to.0.extend_from_slice(&file.seal.to_le_bytes());
        });
        to.list(&self.datasets, Writer::dataset);
        to.list(&self.frames, Writer::frame);
        to.list(&self.tables, |to, table| {
            to.text(&table.type_name);
            to.block(&table.ids);
            to.column(&table.items);
        });
        to.list(&self.statics, |to, (variable, column)| {
            to.variable(variable, column.as_ref())
        });
        to.0
    }

    /// `limit`: the datasets lie before this offset in the file.
    pub fn from_bytes(bytes: &[u8], limit: u64) -> Result<Index, Malformed> {
        let mut from = Reader {
            bytes,
            sizes: Vec::new(),
        };
        let meta = from.meta()?;
        let files = from.list(Reader::other)?;
        let datasets = from.list(|from| from.dataset(limit, files.len()))?;
        from.sizes = datasets.iter().map(|dataset| dataset.bytes).collect();
        let frames = from.list(Reader::frame)?;
        let tables = from.list(|from| {
            Ok(TableEntry {
                type_name: from.text()?,
                ids: from.block(8)?,
                items: from.column(MAX_DEPTH + 8)?,
            })
        })?;
        let statics = from.list(Reader::variable)?;
        let all_values = statics.iter().all(|(_, column)| column.is_some());
        let links_hold =
            frames
                .iter()
                .flat_map(|frame| &frame.info.variables)
                .all(|variable| match &variable.content {
                    VariableContent::Link { frame, key } => frames
                        .get(*frame)
                        .and_then(|frame| frame.info.variables.iter().find(|target| target.key == *key))
                        .is_some_and(|target| target.content == VariableContent::Value),
                    VariableContent::Value => true,
                });
        if !from.bytes.is_empty() || !links_hold || !all_values {
            return Err(Malformed);
        }
        Ok(Index {
            meta,
            files,
            datasets,
            frames,
            tables,
            statics,
        })
    }

    /// Only what stands first in the index: what is known about the checkpoint, and the others that it needs.
    pub fn head_from_bytes(bytes: &[u8]) -> Result<(Meta, Vec<Other>), Malformed> {
        let mut from = Reader {
            bytes,
            sizes: Vec::new(),
        };
        Ok((from.meta()?, from.list(Reader::other)?))
    }
}

/// The bytes are no index. Its checksum having been right, they were written by something else.
#[derive(Debug, PartialEq)]
pub(super) struct Malformed;

struct Writer(Vec<u8>);

impl Writer {
    fn u8(&mut self, value: u8) {
        self.0.push(value);
    }

    fn u32(&mut self, value: u32) {
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    fn u64(&mut self, value: u64) {
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    fn text(&mut self, text: &str) {
        self.u32(text.len() as u32);
        self.0.extend_from_slice(text.as_bytes());
    }

    fn option<T>(&mut self, value: Option<T>, some: impl FnOnce(&mut Self, T)) {
        self.u8(value.is_some().into());
        if let Some(value) = value {
            some(self, value);
        }
    }

    fn list<T>(&mut self, items: &[T], each: impl Fn(&mut Self, &T)) {
        self.u32(items.len() as u32);
        items.iter().for_each(|item| each(self, item));
    }

    fn meta(&mut self, meta: &Meta) {
        self.text(&meta.program);
        self.text(&meta.version);
        self.u64(meta.visit);
        self.u64(meta.time as u64);
        self.text(&meta.reason);
        self.text(&meta.host);
        self.list(&meta.notes, |to, (name, text)| {
            to.text(name);
            to.text(text);
        });
    }

    fn dtype(&mut self, dtype: &DType) {
        match dtype {
            DType::Variant(names) => {
                self.u8(VARIANT);
                self.list(names, |to, name| to.text(name));
            }
            DType::Object(table) => {
                self.u8(OBJECT);
                self.u32(*table);
            }
            DType::Record(size) => {
                self.u8(RECORD);
                self.u32(*size);
            }
            plain => self.u8(DTYPES
                .iter()
                .position(|known| known == plain)
                .unwrap_or(usize::from(u8::MAX)) as u8),
        }
    }

    fn dataset(&mut self, dataset: &Dataset) {
        self.text(&dataset.path);
        self.dtype(&dataset.dtype);
        self.list(&dataset.shape, |to, &size| to.u64(size));
        self.u64(dataset.bytes);
        self.0.extend_from_slice(&dataset.checksum.to_le_bytes());
        match &dataset.body {
            Body::Whole { offset } => {
                self.u8(0);
                self.u64(*offset);
            }
            Body::Blocks { size, extents } => {
                self.u8(1);
                self.u64(*size);
                self.list(extents, Writer::extent);
            }
        }
    }

    fn extent(&mut self, extent: &Extent) {
        let Extent::At {
            file,
            offset,
            length,
            coding,
            checksum,
        } = extent
        else {
            return self.u8(0);
        };
        self.u8(1 + coding.code());
        self.u32(*file);
        self.u64(*offset);
        self.u64(*length);
        self.0.extend_from_slice(&checksum.to_le_bytes());
    }

    fn frame(&mut self, frame: &Frame) {
        let info = &frame.info;
        self.text(&info.function);
        self.text(&info.module);
        self.text(&info.file);
        for number in [
            info.line,
            info.thread,
            info.site,
            info.site_line,
            info.site_column,
        ] {
            self.u32(number);
        }
        self.option(info.callee.as_deref(), Writer::text);
        self.u64(info.layout);
        self.u64(info.source);
        self.u32(info.variables.len() as u32);
        for (variable, column) in info.variables.iter().zip(&frame.columns) {
            self.variable(variable, column.as_ref());
        }
    }

    fn variable(&mut self, variable: &VariableInfo, column: Option<&Stored>) {
        self.text(&variable.key);
        self.u32(variable.line);
        self.text(&variable.rust_type);
        self.option(variable.parameter, Writer::u32);
        match (&variable.content, column) {
            (VariableContent::Link { frame, key }, _) => {
                self.u8(1);
                self.u32(*frame as u32);
                self.text(key);
            }
            (VariableContent::Value, column) => {
                self.u8(0);
                self.column(column.unwrap_or(&Stored::Empty));
            }
        }
    }

    fn block(&mut self, block: &Block) {
        self.u32(block.dataset);
        self.u64(block.offset);
        self.u64(block.length);
    }

    fn column(&mut self, column: &Stored) {
        match column {
            Stored::Empty => self.u8(0),
            Stored::Data { dtype, single, block } => {
                self.u8(1);
                self.dtype(dtype);
                self.u8((*single).into());
                self.block(block);
            }
            Stored::Group { kind, children } => {
                self.u8(2);
                self.u8(KINDS
                    .iter()
                    .position(|known| known == kind)
                    .unwrap_or(usize::from(u8::MAX)) as u8);
                self.list(children, |to, (name, child)| {
                    to.text(name);
                    to.column(child);
                });
            }
            Stored::Array { length, items } => {
                self.u8(3);
                self.u64(*length);
                self.column(items);
            }
        }
    }
}

struct Reader<'a> {
    bytes: &'a [u8],
    /// Sizes of the datasets, once they are known.
    sizes: Vec<u64>,
}

impl Reader<'_> {
    fn take(&mut self, length: usize) -> Result<&[u8], Malformed> {
        let (taken, rest) = self.bytes.split_at_checked(length).ok_or(Malformed)?;
        self.bytes = rest;
        Ok(taken)
    }

    fn number<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        let mut bytes = [0; N];
        bytes.copy_from_slice(self.take(N)?);
        Ok(bytes)
    }

    fn u8(&mut self) -> Result<u8, Malformed> {
        self.number().map(u8::from_le_bytes)
    }

    fn u32(&mut self) -> Result<u32, Malformed> {
        self.number().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Result<u64, Malformed> {
        self.number().map(u64::from_le_bytes)
    }

    fn text(&mut self) -> Result<String, Malformed> {
        let length = self.u32()? as usize;
        String::from_utf8(self.take(length)?.to_vec()).map_err(|_| Malformed)
    }

    fn flag(&mut self) -> Result<bool, Malformed> {
        match self.u8()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(Malformed),
        }
    }

    fn option<T>(
        &mut self,
        some: impl FnOnce(&mut Self) -> Result<T, Malformed>,
    ) -> Result<Option<T>, Malformed> {
        if self.flag()? {
            some(self).map(Some)
        } else {
            Ok(None)
        }
    }

    /// Every item takes at least a byte, so the vector cannot outgrow the index by more than a constant.
    fn list<T>(
        &mut self,
        mut each: impl FnMut(&mut Self) -> Result<T, Malformed>,
    ) -> Result<Vec<T>, Malformed> {
        let count = self.u32()?;
        let mut items = Vec::new();
        for _ in 0..count {
            items.push(each(self)?);
        }
        Ok(items)
    }

    fn meta(&mut self) -> Result<Meta, Malformed> {
        Ok(Meta {
            program: self.text()?,
            version: self.text()?,
            visit: self.u64()?,
            time: self.u64()? as i64,
            reason: self.text()?,
            host: self.text()?,
            notes: self.list(|from| Ok((from.text()?, from.text()?)))?,
        })
    }

    fn dtype(&mut self) -> Result<DType, Malformed> {
        match self.u8()? {
            VARIANT => Ok(DType::Variant(Cow::Owned(
                self.list(|from| from.text().map(Cow::Owned))?,
            ))),
            OBJECT => self.u32().map(DType::Object),
            RECORD => self.u32().map(DType::Record),
            plain => DTYPES.get(usize::from(plain)).cloned().ok_or(Malformed),
        }
    }

    fn other(&mut self) -> Result<Other, Malformed> {
        Ok(Other {
            id: CheckpointId(self.u64()?),
            seal: u128::from_le_bytes(self.number()?),
        })
    }

    fn dataset(&mut self, limit: u64, files: usize) -> Result<Dataset, Malformed> {
        let dataset = Dataset {
            path: self.text()?,
            dtype: self.dtype()?,
            shape: self.list(Reader::u64)?,
            bytes: self.u64()?,
            checksum: u128::from_le_bytes(self.number()?),
            body: match self.u8()? {
                0 => Body::Whole { offset: self.u64()? },
                1 => Body::Blocks {
                    size: self.u64()?,
                    extents: self.list(Reader::extent)?,
                },
                _ => return Err(Malformed),
            },
        };
        if dataset
            .body
            .holds(dataset.bytes, dataset.dtype.size() as u64, limit, files)
        {
            Ok(dataset)
        } else {
            Err(Malformed)
        }
    }

    fn extent(&mut self) -> Result<Extent, Malformed> {
        let Some(code) = self.u8()?.checked_sub(1) else {
            return Ok(Extent::Hole);
        };
        Ok(Extent::At {
            coding: Coding::from_code(code).ok_or(Malformed)?,
            file: self.u32()?,
            offset: self.u64()?,
            length: self.u64()?,
            checksum: u128::from_le_bytes(self.number()?),
        })
    }

    fn frame(&mut self) -> Result<Frame, Malformed> {
        let mut columns = Vec::new();
        let info = FrameInfo {
            function: self.text()?,
            module: self.text()?,
            file: self.text()?,
            line: self.u32()?,
            thread: self.u32()?,
            site: self.u32()?,
            site_line: self.u32()?,
            site_column: self.u32()?,
            callee: self.option(Reader::text)?,
            layout: self.u64()?,
            source: self.u64()?,
            variables: self.list(|from| {
                let (variable, column) = from.variable()?;
                columns.push(column);
                Ok(variable)
            })?,
        };
        Ok(Frame { info, columns })
    }

    fn variable(&mut self) -> Result<(VariableInfo, Option<Stored>), Malformed> {
        let mut variable = VariableInfo {
            key: self.text()?,
            line: self.u32()?,
            rust_type: self.text()?,
            parameter: self.option(Reader::u32)?,
            content: VariableContent::Value,
            bytes: 0,
        };
        if self.flag()? {
            variable.content = VariableContent::Link {
                frame: self.u32()? as usize,
                key: self.text()?,
            };
            return Ok((variable, None));
        }
        let column = self.column(MAX_DEPTH + 8)?;
        variable.bytes = column.bytes();
        Ok((variable, Some(column)))
    }

    /// A place in a dataset that holds whole elements of `size` bytes.
    fn block(&mut self, size: usize) -> Result<Block, Malformed> {
        let block = Block {
            dataset: self.u32()?,
            offset: self.u64()?,
            length: self.u64()?,
        };
        let all = *self.sizes.get(block.dataset as usize).ok_or(Malformed)?;
        let inside = block
            .offset
            .checked_add(block.length)
            .is_some_and(|end| end <= all);
        if inside && block.length.is_multiple_of(size as u64) {
            Ok(block)
        } else {
            Err(Malformed)
        }
    }

    fn column(&mut self, depth: u32) -> Result<Stored, Malformed> {
        let depth = depth.checked_sub(1).ok_or(Malformed)?;
        match self.u8()? {
            0 => Ok(Stored::Empty),
            1 => {
                let dtype = self.dtype()?;
                let single = self.flag()?;
                // Only whole tables have records; a size of zero would make any count possible.
                if matches!(dtype, DType::Record(_)) {
                    return Err(Malformed);
                }
                let block = self.block(dtype.size())?;
                let fits = !single || dtype == DType::Text || block.length == dtype.size() as u64;
                if fits {
                    Ok(Stored::Data { dtype, single, block })
                } else {
                    Err(Malformed)
                }
            }
            2 => {
                let kind = *KINDS.get(usize::from(self.u8()?)).ok_or(Malformed)?;
                Ok(Stored::Group {
                    kind,
                    children: self.list(|from| Ok((from.text()?, from.column(depth)?)))?,
                })
            }
            3 => Ok(Stored::Array {
                length: self.u64()?,
                items: Box::new(self.column(depth)?),
            }),
            _ => Err(Malformed),
        }
    }
}
