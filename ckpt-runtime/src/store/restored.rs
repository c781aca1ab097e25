//! A checkpoint that has been opened: its frames, its variables as values, and its tree as people see it.

use super::{CheckpointId, Meta};
use crate::value::{Checkpoint, DType, LoadError};
use std::path::Path;

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

/// Whether a variable has a value of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum VariableContent {
    /// It has.
    Value,
    /// It is lent to another frame, which has the value.
    Link {
        /// Index of the frame.
        frame: usize,
        /// Key of the variable there.
        key: String,
    },
}

/// A checkpoint that has been opened.
///
/// It keeps every shared object (`Rc`, `Arc`) that it has restored, so that all variables get the same one: drop it
/// when the program has resumed, or their counts stay one too high.
#[derive(Debug)]
pub struct Restored {}

impl Restored {
    /// Number of the checkpoint.
    pub fn id(&self) -> CheckpointId {
        todo!("id")
    }

    /// Its file.
    pub fn path(&self) -> &Path {
        todo!("path")
    }

    /// What is known about it.
    pub fn meta(&self) -> &Meta {
        todo!("meta")
    }

    /// Its frames, outermost first.
    pub fn frames(&self) -> &[FrameInfo] {
        todo!("frames")
    }

    /// Restores variable `key` of frame `frame`; a link is followed.
    ///
    /// # Errors
    /// When there is no such variable, or it does not hold a `T`.
    pub fn decode<T: Checkpoint>(&self, frame: usize, key: &str) -> Result<T, LoadError> {
        let _ = (frame, key);
        todo!("decode")
    }

    /// Restores parameter `index` of the function of frame `frame`.
    ///
    /// # Errors
    /// As [`Restored::decode`].
    pub fn parameter<T: Checkpoint>(&self, frame: usize, index: u32) -> Result<T, LoadError> {
        let _ = (frame, index);
        todo!("parameter")
    }

    /// The whole checkpoint as a tree of groups and datasets, as HDF5 tools show it.
    pub fn tree(&self) -> &Node {
        todo!("tree")
    }

    /// The numbers of a dataset from element `first` on, at most `count`, as `f64`.
    ///
    /// # Errors
    /// When the node has no numbers or its bytes cannot be read.
    pub fn numbers(&self, node: &Node, first: u64, count: u64) -> Result<Vec<f64>, LoadError> {
        let _ = (node, first, count);
        todo!("numbers")
    }

    /// The elements of a dataset from element `first` on, at most `count`, as a person would write them: exact
    /// integers, shortest exact floats, names of variants, text.
    ///
    /// # Errors
    /// When the node is a group or its bytes cannot be read.
    pub fn text(&self, node: &Node, first: u64, count: u64) -> Result<Vec<String>, LoadError> {
        let _ = (node, first, count);
        todo!("text")
    }

    /// The stored bytes of a dataset from byte `first` on, at most `count`.
    ///
    /// # Errors
    /// When the node is a group or its bytes cannot be read.
    pub fn bytes(&self, node: &Node, first: u64, count: u64) -> Result<Vec<u8>, LoadError> {
        let _ = (node, first, count);
        todo!("bytes")
    }
}

/// A group or dataset of a checkpoint.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// Last part of its path; `/` for the root.
    pub name: String,
    /// Its path.
    pub path: String,
    /// Its attributes.
    pub attributes: Vec<(String, Attribute)>,
    /// What it is.
    pub kind: NodeKind,
}

/// What a [`Node`] is.
#[derive(Debug, Clone, PartialEq)]
pub enum NodeKind {
    /// A group of nodes.
    Group(Vec<Node>),
    /// A dataset.
    Dataset {
        /// Type of an element.
        dtype: DType,
        /// Its shape; empty for a single value.
        shape: Vec<u64>,
        /// Number of elements.
        elements: u64,
        /// Bytes stored.
        bytes: u64,
    },
    /// A variable that is another one's value.
    Link(String),
}

/// The value of an attribute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Attribute {
    /// A text.
    Text(String),
    /// A number.
    Unsigned(u64),
}
