//! The columns of a variable as the index has them: which part of which dataset each is.

use std::borrow::Cow;

use crate::value::{Block, Content, Cursor, DType, DataCursor, Kind};

/// A column tree whose elements are in the file.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Stored {
    Empty,
    Data {
        dtype: DType,
        single: bool,
        block: Block,
    },
    Group {
        kind: Kind,
        children: Vec<(String, Stored)>,
    },
    Array {
        length: u64,
        items: Box<Stored>,
    },
}

impl Stored {
    pub fn cursor(&self) -> Cursor {
        match self {
            Stored::Empty => Cursor::Empty,
            Stored::Data { dtype, single, block } => {
                let content = Content::Stored(*block);
                Cursor::Data(DataCursor {
                    dtype: dtype.clone(),
                    single: *single,
                    at: 0,
                    content,
                })
            }
            Stored::Group { kind, children } => Cursor::Group {
                kind: *kind,
                children: children
                    .iter()
                    .map(|(name, child)| (Cow::Owned(name.clone()), child.cursor()))
                    .collect(),
            },
            Stored::Array { length, items } => Cursor::Array {
                length: *length,
                items: Box::new(items.cursor()),
            },
        }
    }

    pub fn bytes(&self) -> u64 {
        match self {
            Stored::Empty => 0,
            Stored::Data { block, .. } => block.length,
            Stored::Group { children, .. } => children
                .iter()
                .fold(0, |sum, (_, child)| sum.saturating_add(child.bytes())),
            Stored::Array { items, .. } => items.bytes(),
        }
    }
}
