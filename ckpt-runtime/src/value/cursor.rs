//! A column tree on its way back into values: what has been read of it and where the rest is.

use std::borrow::Cow;

use super::bytes::{buffer_for, give_back};
#[cfg(test)]
use super::column::Column;
use super::column::{DType, Kind};
use super::error::{LoadError, LoadProblem};
use super::objects::Tables;
use super::room::Room;
use super::stand_in::Zeros;

/// Where the bytes of stored columns come from.
pub trait Source {
    /// Fills `into` with the bytes from `offset` of the block `block`.
    ///
    /// # Errors
    /// When they cannot be read or their checksum is wrong.
    fn read(&self, block: &Block, into: &mut [u8]) -> Result<(), LoadError>;

    /// The same where there may be something else than zeros in `into`.
    ///
    /// # Errors
    /// As [`Source::read`].
    fn read_over(&self, block: &Block, into: &mut [u8]) -> Result<(), LoadError> {
        into.fill(0);
        self.read(block, into)
    }

    /// Gives `put` all bytes of the block, in memory that is used again afterwards.
    ///
    /// # Errors
    /// As [`Source::read`], and those of `put`; where there is no memory.
    #[doc(hidden)]
    fn whole(&self, block: &Block, put: Put<'_>) -> Result<(), LoadError> {
        read_and_put(self, block, put)
    }

    /// The bytes of the block, if they have been read already and the block is all of its dataset. Returns them once.
    #[doc(hidden)]
    fn take(&self, block: &Block) -> Option<Room> {
        let _ = block;
        None
    }
}

/// Takes all bytes of a block.
pub(crate) type Put<'p> = &'p mut dyn FnMut(&[u8]) -> Result<(), String>;

/// The same for any source.
pub(crate) fn read_and_put(
    source: &(impl Source + ?Sized),
    block: &Block,
    put: Put<'_>,
) -> Result<(), LoadError> {
    let length = to_usize(block.length)?;
    let mut bytes = buffer_for(length).ok_or_else(|| no_memory(length))?;
    // What it had before is gone.
    bytes.resize(length, 0);
    let read = source.read_over(block, &mut bytes);
    let done = read.and_then(|()| put(&bytes).map_err(LoadError::invalid));
    give_back(bytes);
    done
}

/// A place in a checkpoint file that holds one column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Block {
    /// Number of the dataset.
    pub dataset: u32,
    /// First byte in the dataset.
    pub offset: u64,
    /// Length in bytes.
    pub length: u64,
}

pub(crate) struct Context<'a> {
    pub source: &'a dyn Source,
    pub tables: &'a Tables,
}

/// A column tree with the position up to which it has been read.
pub(crate) enum Cursor {
    Empty,
    Data(DataCursor),
    Group {
        kind: Kind,
        children: Vec<(Cow<'static, str>, Cursor)>,
    },
    Array {
        length: u64,
        items: Box<Cursor>,
    },
    /// No column at all: for a value that stands in.
    Zeros(Zeros),
}

pub(crate) struct DataCursor {
    pub dtype: DType,
    pub single: bool,
    /// Bytes taken so far.
    pub at: usize,
    pub content: Content,
}

pub(crate) enum Content {
    Stored(Block),
    Here(Vec<u8>),
}

impl DataCursor {
    pub fn total(&self) -> usize {
        match &self.content {
            Content::Stored(block) => usize::try_from(block.length).unwrap_or(usize::MAX),
            Content::Here(bytes) => bytes.len(),
        }
    }

    pub fn left(&self) -> usize {
        self.total().saturating_sub(self.at)
    }

    /// The length in bytes of the next `count` elements, if the column has as many.
    pub fn check(&self, count: usize, size: usize) -> Result<usize, LoadError> {
        match count.checked_mul(size) {
            Some(length) if length <= self.left() => Ok(length),
            _ => Err(LoadProblem::TooShort {
                wanted: count as u64,
                left: (self.left() / size.max(1)) as u64,
            }
            .into()),
        }
    }

    #[inline]
    pub fn take(&mut self, length: usize, context: &Context<'_>) -> Result<&[u8], LoadError> {
        if let Content::Stored(block) = self.content {
            let mut bytes = Vec::new();
            let length = to_usize(block.length)?;
            bytes.try_reserve_exact(length).map_err(|_| no_memory(length))?;
            bytes.resize(length, 0);
            context.source.read(&block, &mut bytes)?;
            self.content = Content::Here(bytes);
        }
        let size = self.dtype.size();
        let left = self.left();
        let Content::Here(bytes) = &self.content else {
            return Err(no_memory(length));
        };
        match bytes.get(self.at..).and_then(|rest| rest.get(..length)) {
            Some(taken) => {
                self.at += length;
                Ok(taken)
            }
            None => Err(LoadProblem::TooShort {
                wanted: (length / size) as u64,
                left: (left / size) as u64,
            }
            .into()),
        }
    }
}

impl Cursor {
    /// Values in this batch, from the column that every value has an element in.
    pub fn rows(&self) -> Result<u64, LoadError> {
        match self {
            Cursor::Empty | Cursor::Zeros(_) => Ok(0),
            Cursor::Data(data) if data.single => Err(mismatch("a list", self)),
            Cursor::Data(data) => Ok((data.total() / data.dtype.size()) as u64),
            Cursor::Array { length, items } => Ok(items.rows()? / (*length).max(1)),
            Cursor::Group { kind, children } => {
                let counted = match kind {
                    Kind::Map | Kind::List | Kind::Strings => {
                        children.iter().find(|(name, _)| name == "lengths")
                    }
                    Kind::Option | Kind::Enum | Kind::Dyn => children.first(),
                    // A field may be an enum's skipped payload, never the whole struct.
                    Kind::Struct => children
                        .iter()
                        .find(|(_, child)| !matches!(child, Cursor::Empty))
                        .or(children.first()),
                };
                counted.map_or(Ok(0), |(_, child)| child.rows())
            }
        }
    }

    /// Elements that should have been taken and were not: how many, and the path of the column. Fields of which nothing was
    /// taken, beside others, are those that the program's struct does not have any more.
    pub fn left(&self) -> Option<(u64, String)> {
        match self {
            Cursor::Empty | Cursor::Zeros(_) => None,
            Cursor::Data(data) => match data.left() / data.dtype.size() {
                0 => None,
                left => Some((left as u64, String::new())),
            },
            Cursor::Array { items, .. } => items.left(),
            Cursor::Group { kind, children } => {
                let may_be_gone = *kind == Kind::Struct && self.is_begun();
                let wanted = children
                    .iter()
                    .filter(|(_, child)| !may_be_gone || child.is_begun());
                wanted
                    .filter_map(|(name, child)| Some((name, child.left()?)))
                    .map(|(name, (left, below))| match below.is_empty() {
                        true => (left, name.to_string()),
                        false => (left, format!("{name}/{below}")),
                    })
                    .next()
            }
        }
    }

    /// Whether anything has been taken.
    fn is_begun(&self) -> bool {
        match self {
            Cursor::Empty | Cursor::Zeros(_) => false,
            Cursor::Data(data) => data.at > 0,
            Cursor::Array { items, .. } => items.is_begun(),
            Cursor::Group { children, .. } => children.iter().any(|(_, child)| child.is_begun()),
        }
    }

    /// The columns of a snapshot, to be read back without a file.
    #[cfg(test)]
    pub fn of(column: &Column) -> Cursor {
        match column {
            Column::Empty => Cursor::Empty,
            Column::Data(data) => Cursor::Data(DataCursor {
                dtype: data.dtype.clone(),
                single: data.single,
                at: 0,
                content: Content::Here(data.bytes.to_vec()),
            }),
            Column::Group(group) => Cursor::Group {
                kind: group.kind,
                children: group
                    .children
                    .iter()
                    .map(|(name, child)| (name.clone(), Cursor::of(child)))
                    .collect(),
            },
            Column::Array { length, items } => Cursor::Array {
                length: *length,
                items: Box::new(Cursor::of(items)),
            },
        }
    }
}

fn describe(cursor: &Cursor) -> String {
    match cursor {
        Cursor::Empty | Cursor::Zeros(_) => "nothing".to_owned(),
        Cursor::Data(data) if data.single => format!("one {}", data.dtype.name()),
        Cursor::Data(data) => format!(
            "{} {} elements",
            data.total() / data.dtype.size(),
            data.dtype.name()
        ),
        Cursor::Array { length, items } => format!("arrays of {length} with {}", describe(items)),
        Cursor::Group { kind, children } => {
            let names: Vec<&str> = children.iter().map(|(name, _)| name.as_ref()).collect();
            format!("a {} of {}", kind.name(), names.join(", "))
        }
    }
}

pub(super) fn mismatch(expected: impl Into<String>, found: &Cursor) -> LoadError {
    LoadProblem::Mismatch {
        expected: expected.into(),
        found: describe(found),
    }
    .into()
}

pub(super) fn no_memory(count: usize) -> LoadError {
    LoadError::invalid(format_args!("there is no memory for {count} elements"))
}

pub(super) fn to_usize(count: u64) -> Result<usize, LoadError> {
    usize::try_from(count).map_err(|_| {
        LoadError::invalid(format_args!(
            "{count} does not fit into this machine's {} bit words",
            usize::BITS
        ))
    })
}
