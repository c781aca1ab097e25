//! The column tree: what a batch of values looks like in memory before it is written.

use std::borrow::Cow;

use super::Bytes;
use super::Encoder;
use super::objects::Objects;

/// Names of an enum's variants, in the order of their numbers.
pub type Names = Cow<'static, [Cow<'static, str>]>;

/// The type of one element of a dataset. All are stored little-endian.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum DType {
    /// Unsigned integer of 8 bits.
    U8,
    /// Unsigned integer of 16 bits.
    U16,
    /// Unsigned integer of 32 bits.
    U32,
    /// Unsigned integer of 64 bits; `usize` too.
    U64,
    /// Unsigned integer of 128 bits: in HDF5 a compound of two 64-bit halves.
    U128,
    /// Signed integer of 8 bits.
    I8,
    /// Signed integer of 16 bits.
    I16,
    /// Signed integer of 32 bits.
    I32,
    /// Signed integer of 64 bits; `isize` too.
    I64,
    /// Signed integer of 128 bits: in HDF5 a compound of two 64-bit halves.
    I128,
    /// IEEE 754 single precision.
    F32,
    /// IEEE 754 double precision.
    F64,
    /// Complex number of two `f32`: a compound `{r, i}`, as h5py reads and writes it.
    Complex32,
    /// Complex number of two `f64`.
    Complex64,
    /// One byte, 0 or 1: an HDF5 enumeration `{FALSE, TRUE}`, as h5py reads and writes it.
    Bool,
    /// A Unicode scalar value in 32 bits.
    Char,
    /// A value without content, such as `()`: one zero byte.
    Unit,
    /// A piece of UTF-8 text; one element is one byte.
    Text,
    /// The number of an enum's variant in 32 bits: an HDF5 enumeration of the names.
    Variant(Names),
    /// The number of an object of the shared table that is named, in 64 bits (`Rc`, `Arc`).
    Object(u32),
    /// A row of this many bytes in a table of single values; never the type of a column.
    Record(u32),
}

impl DType {
    /// Whether every bit pattern is one of its elements.
    pub(crate) fn is_number(&self) -> bool {
        !matches!(
            self,
            DType::Bool
                | DType::Char
                | DType::Unit
                | DType::Text
                | DType::Variant(_)
                | DType::Object(_)
                | DType::Record(_)
        )
    }

    /// Size of one element in bytes.
    pub fn size(&self) -> usize {
        match self {
            DType::U8 | DType::I8 | DType::Bool | DType::Unit | DType::Text => 1,
            DType::U16 | DType::I16 => 2,
            DType::U32 | DType::I32 | DType::F32 | DType::Char | DType::Variant(_) => 4,
            DType::U64 | DType::I64 | DType::F64 | DType::Complex32 | DType::Object(_) => 8,
            DType::U128 | DType::I128 | DType::Complex64 => 16,
            DType::Record(size) => *size as usize,
        }
    }

    /// The name that the format and messages use.
    pub fn name(&self) -> &'static str {
        match self {
            DType::U8 => "u8",
            DType::U16 => "u16",
            DType::U32 => "u32",
            DType::U64 => "u64",
            DType::U128 => "u128",
            DType::I8 => "i8",
            DType::I16 => "i16",
            DType::I32 => "i32",
            DType::I64 => "i64",
            DType::I128 => "i128",
            DType::F32 => "f32",
            DType::F64 => "f64",
            DType::Complex32 => "complex32",
            DType::Complex64 => "complex64",
            DType::Bool => "bool",
            DType::Char => "char",
            DType::Unit => "unit",
            DType::Text => "text",
            DType::Variant(_) => "variant",
            DType::Object(_) => "object",
            DType::Record(_) => "record",
        }
    }
}

/// What the children of a group mean together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// Named fields: a struct, a tuple, one variant's payload.
    Struct,
    /// `lengths` and `items`: many lists one after the other.
    List,
    /// `keys` and `values`, and `lengths` if there are many maps.
    Map,
    /// `present`, and `value` for those that are.
    Option,
    /// `variant`, and one child for each variant with a payload.
    Enum,
    /// `lengths` and `text`: many strings one after the other.
    Strings,
    /// `variant`, and one child for each type that may stand behind a trait object.
    Dyn,
}

impl Kind {
    /// The name that the format and messages use.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Struct => "struct",
            Kind::List => "list",
            Kind::Map => "map",
            Kind::Option => "option",
            Kind::Enum => "enum",
            Kind::Strings => "strings",
            Kind::Dyn => "dyn",
        }
    }
}

/// A column of elements of one type.
#[derive(Debug, Clone, PartialEq)]
pub struct Data {
    /// Type of one element.
    pub dtype: DType,
    /// Whether this is one single value rather than a batch of them: a scalar dataset.
    pub single: bool,
    /// The elements as they are stored.
    pub bytes: Bytes,
}

/// Columns that belong together.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// What the children mean.
    pub kind: Kind,
    /// The children in their order.
    pub children: Vec<(Cow<'static, str>, Column)>,
}

/// A batch of values of one type as columns.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Column {
    /// Nothing has been saved here yet: the batch is empty. Not written to the file.
    #[default]
    Empty,
    /// Elements side by side.
    Data(Data),
    /// Several columns.
    Group(Group),
    /// Every row is an array of `length` items; over plain data this is one more dimension of the dataset.
    Array {
        /// Items per row.
        length: u64,
        /// The items of all rows.
        items: Box<Column>,
    },
}

impl Column {
    /// What a value is that shares nothing with others, copied as a whole.
    pub(crate) fn of(save: &dyn Fn(&mut Encoder<'_>)) -> Column {
        let (mut column, mut objects) = (Column::Empty, Objects::default());
        save(&mut Encoder::new(&mut column, false, &mut objects));
        column
    }

    /// Bytes of all data below this column.
    pub fn bytes(&self) -> u64 {
        match self {
            Column::Empty => 0,
            Column::Data(data) => data.bytes.len() as u64,
            Column::Group(group) => group.children.iter().map(|(_, child)| child.bytes()).sum(),
            Column::Array { items, .. } => items.bytes(),
        }
    }

    /// Whether bytes are missing below this column, for which there was no memory.
    pub(crate) fn is_incomplete(&self) -> bool {
        match self {
            Column::Empty => false,
            Column::Data(data) => data.bytes.is_incomplete(),
            Column::Group(group) => group.children.iter().any(|(_, child)| child.is_incomplete()),
            Column::Array { items, .. } => items.is_incomplete(),
        }
    }

    /// Bytes of all data below this column that are in memory.
    pub(crate) fn held(&self) -> u64 {
        match self {
            Column::Empty => 0,
            Column::Data(data) => data.bytes.held() as u64,
            Column::Group(group) => group.children.iter().map(|(_, child)| child.held()).sum(),
            Column::Array { items, .. } => items.held(),
        }
    }
}
