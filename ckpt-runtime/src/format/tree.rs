//! A checkpoint as people look at it: groups, datasets and links with their attributes, and slices of values.

use super::columns::Stored;
use super::index::Index;
use super::ordered::ElementOrder;
use super::restored::Restored;
use super::{FORMAT_VERSION, FrameInfo, Meta, VariableContent, VariableInfo};
use crate::base::sorted::SortedMap;
use crate::value::{Block, DType, Kind, LoadError};

pub(super) type Attributes = Vec<(String, Attribute)>;

/// The `kind` of what has no values, as an empty list, of which the file does not say more.
pub const EMPTY: &str = "empty";

/// A group or dataset of a checkpoint.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// Last part of its path; empty for the root.
    pub name: String,
    /// Its path: `/frames/0/sim/time`. Names are as the program has them.
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
        /// Its shape; empty for a single value. A text is a single value whatever its length.
        shape: Vec<u64>,
        /// Number of elements: bytes for a text.
        elements: u64,
        /// Bytes stored.
        bytes: u64,
        /// Where they are.
        block: Block,
        /// How they lie there, where that is not in the order of their indices.
        order: Option<ElementOrder>,
    },
    /// A variable that is another one's value, at the path given.
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

impl std::fmt::Display for Attribute {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Attribute::Text(text) => f.write_str(text),
            Attribute::Unsigned(number) => write!(f, "{number}"),
        }
    }
}

impl Node {
    /// Its children; none for a dataset or link.
    pub fn children(&self) -> &[Node] {
        match &self.kind {
            NodeKind::Group(children) => children,
            _ => &[],
        }
    }

    fn elements(&self) -> Option<(&DType, u64, Block)> {
        match &self.kind {
            NodeKind::Dataset {
                dtype,
                elements,
                block,
                ..
            } => Some((dtype, *elements, *block)),
            _ => None,
        }
    }

    /// Finds a node below this one by the path from here: `sim/time`.
    pub fn find(&self, path: &str) -> Option<&Node> {
        path.split('/')
            .filter(|part| !part.is_empty())
            .try_fold(self, |node, name| {
                node.children().iter().find(|child| child.name == name)
            })
    }

    /// The attribute `name`.
    pub fn attribute(&self, name: &str) -> Option<&Attribute> {
        self.attributes
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value)
    }

    /// Bytes of all values at and below this node.
    pub fn bytes(&self) -> u64 {
        match &self.kind {
            NodeKind::Group(children) => children
                .iter()
                .fold(0, |sum, child| sum.saturating_add(child.bytes())),
            NodeKind::Dataset { bytes, .. } => *bytes,
            NodeKind::Link(_) => 0,
        }
    }
}

impl Restored {
    /// The stored bytes of the elements from `first` on, at most `count` elements.
    ///
    /// # Errors
    /// When the node is no dataset or its bytes cannot be read. Beyond the end there is nothing, which is no error.
    pub fn bytes(&self, node: &Node, first: u64, count: u64) -> Result<Vec<u8>, LoadError> {
        let Some((dtype, elements, block)) = node.elements() else {
            return Err(LoadError::invalid(format_args!(
                "`{}` is not a dataset",
                node.path
            )));
        };
        let size = dtype.size() as u64;
        let first = first.min(elements);
        let count = count.min(elements - first);
        if let NodeKind::Dataset {
            order: Some(order), ..
        } = &node.kind
        {
            let all = self.in_order(&block, order, dtype.size())?;
            let from = (first * size) as usize;
            return Ok(all[from..from + (count * size) as usize].to_vec());
        }
        let block = Block {
            offset: block.offset + first * size,
            length: count * size,
            ..block
        };
        self.bytes_of(&block)
    }

    /// The numbers from element `first` on, at most `count`, as `f64`: rounded where an `f64` cannot hold them. A
    /// complex number is its absolute value, a variant and a shared object its number.
    ///
    /// # Errors
    /// As [`Restored::bytes`], and when the elements are text.
    pub fn numbers(&self, node: &Node, first: u64, count: u64) -> Result<Vec<f64>, LoadError> {
        let bytes = self.bytes(node, first, count)?;
        match node.elements() {
            Some((dtype, ..)) if *dtype != DType::Text => Ok(bytes
                .chunks_exact(dtype.size())
                .map(|element| as_f64(dtype, element))
                .collect()),
            _ => Err(LoadError::invalid(format_args!("`{}` has no numbers", node.path))),
        }
    }

    /// The integers from element `first` on, at most `count`, whatever their type holds; nothing where the elements are no
    /// integers.
    ///
    /// # Errors
    /// As [`Restored::bytes`].
    pub fn integers(&self, node: &Node, first: u64, count: u64) -> Result<Option<Vec<Integer>>, LoadError> {
        use DType::*;
        let Some((dtype @ (U8 | U16 | U32 | U64 | U128 | I8 | I16 | I32 | I64 | I128), ..)) = node.elements()
        else {
            return Ok(None);
        };
        let bytes = self.bytes(node, first, count)?;
        let elements = bytes.chunks_exact(dtype.size());
        let integers = elements.map(|element| Integer::of(dtype, integer(dtype, element)));
        Ok(Some(integers.collect()))
    }

    /// The elements from `first` on, at most `count`, as a person would write them: exact integers, floats with as
    /// many digits as tell them from all others, names of variants. A text is one element here.
    ///
    /// # Errors
    /// As [`Restored::bytes`].
    pub fn text(&self, node: &Node, first: u64, count: u64) -> Result<Vec<String>, LoadError> {
        match node.elements() {
            Some((DType::Text, elements, _)) => {
                let bytes = self.bytes(node, 0, elements)?;
                let text = String::from_utf8_lossy(&bytes).into_owned();
                Ok(if first == 0 && count > 0 {
                    vec![text]
                } else {
                    Vec::new()
                })
            }
            Some((dtype, ..)) => {
                let bytes = self.bytes(node, first, count)?;
                Ok(bytes
                    .chunks_exact(dtype.size())
                    .map(|element| as_text(dtype, element))
                    .collect())
            }
            None => self.bytes(node, first, count).map(|_| Vec::new()),
        }
    }
}

/// An integer of any type of Rust's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Integer {
    is_negative: bool,
    size: u128,
}

impl Integer {
    fn of(dtype: &DType, value: i128) -> Self {
        match dtype {
            DType::U128 => Integer {
                is_negative: false,
                size: value as u128,
            },
            _ => Integer {
                is_negative: value < 0,
                size: value.unsigned_abs(),
            },
        }
    }

    /// It, where 64 bits hold it.
    pub(super) fn small(self) -> Option<i64> {
        let size = i64::try_from(self.size).ok()?;
        Some(if self.is_negative { -size } else { size })
    }

    /// How far two of one type are apart.
    ///
    /// ```
    /// use ckpt::store::Integer;
    ///
    /// let (least, most) = (Integer::from(i128::MIN), Integer::from(i128::MAX));
    /// assert_eq!(least.distance(most), u128::MAX);
    /// assert_eq!(Integer::from(3).distance(Integer::from(-4)), 7);
    /// ```
    pub fn distance(self, other: Integer) -> u128 {
        match self.is_negative == other.is_negative {
            true => self.size.abs_diff(other.size),
            // Of no type is it larger than this.
            false => self.size.saturating_add(other.size),
        }
    }

    /// As near as an `f64` comes to it.
    pub fn rounded(self) -> f64 {
        match self.is_negative {
            false => self.size as f64,
            true => -(self.size as f64),
        }
    }

    /// The upper and the lower 64 bits: the number is the first times 2^64 and the second.
    pub fn halves(self) -> (i128, u64) {
        match self.is_negative {
            false => ((self.size >> 64) as i128, self.size as u64),
            true => {
                let value = (self.size as i128).wrapping_neg();
                (value >> 64, value as u64)
            }
        }
    }
}

impl From<i128> for Integer {
    fn from(value: i128) -> Self {
        Integer::of(&DType::I128, value)
    }
}

impl Ord for Integer {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        match (self.is_negative, other.is_negative) {
            (false, false) => self.size.cmp(&other.size),
            (true, true) => other.size.cmp(&self.size),
            (one, _) => one.cmp(&false).reverse(),
        }
    }
}

impl PartialOrd for Integer {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl std::fmt::Display for Integer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad_integral(!self.is_negative, "", &self.size.to_string())
    }
}

fn integer(dtype: &DType, element: &[u8]) -> i128 {
    let mut wide = [0; 16];
    wide[..element.len()].copy_from_slice(element);
    let unsigned = u128::from_le_bytes(wide);
    match dtype {
        DType::I8 | DType::I16 | DType::I32 | DType::I64 => {
            let shift = 128 - 8 * element.len();
            ((unsigned << shift) as i128) >> shift
        }
        _ => unsigned as i128,
    }
}

fn floats(element: &[u8], size: usize) -> [f64; 2] {
    let part = |bytes: &[u8]| match size {
        4 => f64::from(f32::from_le_bytes(std::array::from_fn(|k| bytes[k]))),
        _ => f64::from_le_bytes(std::array::from_fn(|k| bytes[k])),
    };
    [part(element), element.get(size..2 * size).map_or(0.0, part)]
}

fn as_f64(dtype: &DType, element: &[u8]) -> f64 {
    match dtype {
        DType::F32 => floats(element, 4)[0],
        DType::F64 => floats(element, 8)[0],
        DType::Complex32 => f64::hypot(floats(element, 4)[0], floats(element, 4)[1]),
        DType::Complex64 => f64::hypot(floats(element, 8)[0], floats(element, 8)[1]),
        DType::U128 => integer(dtype, element) as u128 as f64,
        other => integer(other, element) as f64,
    }
}

pub(super) fn as_text(dtype: &DType, element: &[u8]) -> String {
    match dtype {
        DType::F32 => format!("{:?}", f32::from_le_bytes(std::array::from_fn(|k| element[k]))),
        DType::F64 => format!("{:?}", floats(element, 8)[0]),
        DType::Complex32 | DType::Complex64 => {
            let [re, im] = floats(element, element.len() / 2);
            format!("{re:?}{im:+?}i")
        }
        DType::Bool => (element != [0]).to_string(),
        DType::Char => match char::from_u32(integer(dtype, element) as u32) {
            Some(c) => format!("{c:?}"),
            None => format!("{:#x}", integer(dtype, element)),
        },
        DType::Unit => "()".to_owned(),
        DType::Variant(names) => match names.get(integer(dtype, element) as usize) {
            Some(name) => name.to_string(),
            None => format!("variant {}", integer(dtype, element)),
        },
        DType::Object(table) => format!("/shared/{table}[{}]", integer(dtype, element) as u64),
        DType::U128 => (integer(dtype, element) as u128).to_string(),
        other => integer(other, element).to_string(),
    }
}

/// Where every frame is: those of the session's thread below `/frames`, those of the members of a team below
/// `/threads/K`. `threads` has the thread of each frame.
pub(super) fn frame_paths(threads: impl Iterator<Item = u32>) -> Vec<String> {
    let mut count: SortedMap<u32, u32> = SortedMap::new();
    let path = |thread| {
        let number = count.entry(thread).or_default();
        *number += 1;
        match thread {
            0 => format!("/frames/{}", *number - 1),
            member => format!("/threads/{member}/{}", *number - 1),
        }
    };
    threads.map(path).collect()
}

/// The tree of a file, from its index: every variable under its own name, also where the file packs them into tables.
pub(super) fn build(index: &Index) -> Node {
    let paths = frame_paths(index.frames.iter().map(|frame| frame.info.thread));
    let mut frames: SortedMap<u32, Vec<Node>> = SortedMap::from([(0, Vec::new())]);
    for (frame, path) in index.frames.iter().zip(&paths) {
        let info = &frame.info;
        let variables = info.variables.iter().zip(&frame.columns);
        let children = variables
            .map(|(variable, column)| of_variable(index, &paths, path, variable, column.as_ref()))
            .collect();
        frames.entry(frame.info.thread).or_default().push(Node {
            name: path.rsplit('/').next().unwrap_or_default().to_owned(),
            path: path.clone(),
            attributes: of_frame(info),
            kind: NodeKind::Group(children),
        });
    }
    let own = frames.remove(&0).unwrap_or_default();
    let mut children = vec![group("frames", "/frames", own)];
    if !frames.is_empty() {
        let members = frames
            .into_iter()
            .map(|(thread, frames)| group(&thread.to_string(), &format!("/threads/{thread}"), frames));
        children.push(group("threads", "/threads", members.collect()));
    }
    if !index.statics.is_empty() {
        let statics = index.statics.iter();
        let statics = statics
            .map(|(variable, column)| of_variable(index, &paths, "/statics", variable, column.as_ref()));
        children.push(group("statics", "/statics", statics.collect()));
    }
    let shared: Vec<Node> = index
        .tables
        .iter()
        .enumerate()
        .map(|(number, table)| shared(index, number, table))
        .collect();
    if !shared.is_empty() {
        children.push(group("shared", "/shared", shared));
    }
    Node {
        name: String::new(),
        path: "/".to_owned(),
        attributes: of_checkpoint(&index.meta),
        kind: NodeKind::Group(children),
    }
}

fn shared(index: &Index, number: usize, table: &super::index::TableEntry) -> Node {
    let path = format!("/shared/{number}");
    let ids = Stored::Data {
        dtype: DType::U64,
        single: false,
        block: table.ids,
    };
    let children = vec![
        of_column(index, &path, "ids", &ids),
        of_column(index, &path, "items", &table.items),
    ];
    let attributes = vec![text("rust_type", &table.type_name)];
    Node {
        name: number.to_string(),
        path,
        attributes,
        kind: NodeKind::Group(children),
    }
}

fn of_variable(
    index: &Index,
    paths: &[String],
    path: &str,
    variable: &VariableInfo,
    column: Option<&Stored>,
) -> Node {
    let mut node = match (&variable.content, column) {
        (VariableContent::Link { frame, key }, _) => Node {
            name: variable.key.clone(),
            path: format!("{path}/{}", variable.key),
            attributes: Vec::new(),
            kind: NodeKind::Link(format!("{}/{key}", paths[*frame])),
        },
        (VariableContent::Value, column) => {
            of_column(index, path, &variable.key, column.unwrap_or(&Stored::Empty))
        }
    };
    let mut attributes = of_declaration(&variable.rust_type, variable.line, variable.parameter);
    attributes.append(&mut node.attributes);
    node.attributes = attributes;
    node
}

fn of_column(index: &Index, parent: &str, name: &str, column: &Stored) -> Node {
    let path = format!("{parent}/{name}");
    let mut lengths = Vec::new();
    let mut inner = column;
    while let Stored::Array { length, items } = inner {
        lengths.extend((*length > 0).then_some(*length));
        inner = items;
    }
    if let Stored::Data { dtype, single, block } = inner {
        let elements = block.length / dtype.size() as u64;
        let rows = lengths
            .iter()
            .try_fold(elements, |rows, &length| rows.checked_div(length))
            .unwrap_or(0);
        let single = *single || *dtype == DType::Text;
        let shape = if single {
            Vec::new()
        } else {
            std::iter::once(rows).chain(lengths).collect()
        };
        let kind = NodeKind::Dataset {
            dtype: dtype.clone(),
            shape,
            elements,
            bytes: block.length,
            block: *block,
            order: None,
        };
        let attributes = match index.datasets.get(block.dataset as usize) {
            Some(dataset) => vec![text(
                "checksum",
                &super::bodies::checksum_text(&dataset.body, dataset.checksum),
            )],
            None => Vec::new(),
        };
        return Node {
            name: name.to_owned(),
            path,
            attributes,
            kind,
        };
    }
    match column {
        Stored::Group { kind, children } => {
            // What is in no value of an enum or an option is no part of them; an empty list of a struct is.
            let is_struct = *kind == Kind::Struct;
            let nodes = children
                .iter()
                .filter(|(_, child)| is_struct || *child != Stored::Empty)
                .map(|(name, child)| of_column(index, &path, name, child))
                .collect();
            Node {
                attributes: vec![text("kind", kind.name())],
                ..group(name, &path, nodes)
            }
        }
        Stored::Array { length, items } => {
            let nodes = vec![of_column(index, &path, "items", items)];
            let attributes = vec![text("kind", "array"), number_of("length", *length)];
            Node {
                attributes,
                ..group(name, &path, nodes)
            }
        }
        Stored::Empty | Stored::Data { .. } => Node {
            attributes: vec![text("kind", EMPTY)],
            ..group(name, &path, Vec::new())
        },
    }
}

/// What is said of a checkpoint, at the root of its file.
pub(super) fn of_checkpoint(meta: &Meta) -> Attributes {
    let mut attributes = vec![
        text("format", "ckpt"),
        number_of("format_version", FORMAT_VERSION.into()),
        text("program", &meta.program),
        text("version", &meta.version),
        number_of("visit", meta.visit),
        text("time", &meta.time_text()),
        text("reason", &meta.reason),
        text("host", &meta.host),
    ];
    attributes.extend(meta.run.map(|run| text("run", &run.to_string())));
    attributes.extend(meta.notes.iter().map(|(name, note)| text(name, note)));
    attributes
}

/// What is said of a frame.
pub(super) fn of_frame(info: &FrameInfo) -> Attributes {
    let mut attributes = vec![
        text("function", &info.function),
        text("module", &info.module),
        text("file", &info.file),
        number_of("line", info.line.into()),
        number_of("site", info.site.into()),
        number_of("site_line", info.site_line.into()),
        number_of("site_column", info.site_column.into()),
    ];
    attributes.extend(info.callee.as_deref().map(|callee| text("callee", callee)));
    attributes.push(text("layout", &format!("{:016x}", info.layout)));
    attributes.push(text("source", &format!("{:016x}", info.source)));
    attributes
}

/// What is said of a variable.
pub(super) fn of_declaration(rust_type: &str, line: u32, parameter: Option<u32>) -> Attributes {
    let parameter = parameter.map(|parameter| number_of("parameter", parameter.into()));
    let declared = [text("rust_type", rust_type), number_of("line", line.into())];
    declared.into_iter().chain(parameter).collect()
}

fn group(name: &str, path: &str, children: Vec<Node>) -> Node {
    Node {
        name: name.to_owned(),
        path: path.to_owned(),
        attributes: Vec::new(),
        kind: NodeKind::Group(children),
    }
}

fn text(name: &str, value: &str) -> (String, Attribute) {
    (name.to_owned(), Attribute::Text(value.to_owned()))
}

fn number_of(name: &str, value: u64) -> (String, Attribute) {
    (name.to_owned(), Attribute::Unsigned(value))
}
