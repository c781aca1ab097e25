//! Variables of which a call borrows only a part exclusively. The caller still sees the rest, the callee sees the part:
//! at a checkpoint each saves what it sees, and the columns are put together into the whole value.

use super::Registrar;
use super::saver::{Saver, ValueSaver};
use crate::state::snapshot::SnapshotBuilder;
use crate::value::{Checkpoint, Column, DType, Data, DynTable, Encoder, Group, Kind};

/// A value with holes that parameters of the callee fill.
#[derive(Debug)]
pub enum SplitValue {
    /// A parameter of the callee.
    Hole(u32),
    /// Columns of the caller.
    Columns(Column),
    /// A struct some of whose fields are elsewhere.
    Fields {
        /// The fields that the caller has.
        column: Column,
        /// The others, by their place among the saved fields.
        holes: Vec<(usize, SplitValue)>,
    },
    /// Rows one after the other.
    Sequence(Vec<SplitValue>),
    /// A list that is itself one of many rows.
    List {
        /// How many items it has.
        length: u64,
        /// Whether every value of the type has as many.
        fixed: bool,
        /// Its items.
        items: Box<SplitValue>,
    },
}

/// A parameter that a caller needs, and whether as one of many rows rather than as a single value.
#[derive(Debug, Clone, Copy)]
pub(super) struct Demand {
    pub(super) parameter: u32,
    pub(super) as_row: bool,
    /// Whether another value of the type will do, for a callee that has used the argument up.
    pub(super) stands_in: fn() -> bool,
    /// Whether what the caller makes again is what it had passed.
    pub(super) made_again: bool,
    /// How to save it where the callee does not know its type.
    pub(super) saver: Option<Saver>,
    /// The same of what was passed by value.
    pub(super) by_value: Option<ValueSaver>,
    /// Where the caller has a box around a trait object: the types that may be in it. The callee has what is in the box, and
    /// says which of them it is.
    pub(super) objects: Option<&'static DynTable>,
}

impl Demand {
    /// A demand that only the value itself meets, saved by the callee.
    pub(super) fn of(parameter: u32) -> Self {
        Self {
            parameter,
            as_row: false,
            stands_in: || false,
            made_again: false,
            saver: None,
            by_value: None,
            objects: None,
        }
    }
}

/// Describes a value with holes. Without a builder it only finds out which parameters are needed.
pub struct Splitter<'a> {
    pub(super) builder: Option<&'a mut SnapshotBuilder>,
    pub(super) demands: &'a mut Vec<Demand>,
    pub(super) as_row: bool,
    /// What may be in the box that is described, if it is one.
    pub(super) objects: Option<&'static DynTable>,
}

/// A closure that describes a value or a part of one.
pub type HowToSplit<'a> = &'a dyn Fn(&mut Splitter<'_>) -> SplitValue;

impl Splitter<'_> {
    /// What stands in the callee's parameter.
    pub fn hole(&mut self, parameter: u32) -> SplitValue {
        self.demands.push(Demand {
            as_row: self.as_row,
            objects: self.objects,
            ..Demand::of(parameter)
        });
        SplitValue::Hole(parameter)
    }

    /// A struct, `holes` naming the fields that are elsewhere.
    pub fn fields<P: SaveParts>(&mut self, parts: &P, holes: &[(&str, HowToSplit<'_>)]) -> SplitValue {
        let column = self.columns(self.as_row, &|to| parts.save_parts(to));
        let around = self.objects;
        let filled = holes.iter().filter_map(|(name, how)| {
            self.objects = P::objects(name);
            Some((P::index(name)?, how(self)))
        });
        let holes = filled.collect();
        self.objects = around;
        SplitValue::Fields { column, holes }
    }

    /// The rows before a part of a list, the part, and the rows after it.
    pub fn cut<T: Checkpoint>(&mut self, cut: &Cut<'_, T>, part: HowToSplit<'_>) -> SplitValue {
        let one_of_many = self.as_row;
        if let Some(builder) = &mut self.builder {
            builder.in_rows = true;
        }
        let before = self.rows(cut.before);
        let around = self.objects;
        self.as_row = cut.one_row;
        self.objects = T::OBJECTS.filter(|_| cut.one_row);
        let part = part(self);
        self.as_row = one_of_many;
        self.objects = around;
        let items = Box::new(SplitValue::Sequence(vec![before, part, self.rows(cut.after)]));
        match one_of_many {
            false => *items,
            true => SplitValue::List {
                length: cut.length as u64,
                fixed: cut.fixed,
                items,
            },
        }
    }

    /// Rows that the caller has.
    pub fn rows<T: Checkpoint>(&mut self, rows: &[T]) -> SplitValue {
        SplitValue::Columns(self.columns(true, &|to| T::save_slice(rows, to)))
    }

    /// Pieces of a list one after the other.
    pub fn sequence(&mut self, pieces: &[HowToSplit<'_>]) -> SplitValue {
        SplitValue::Sequence(pieces.iter().map(|piece| piece(self)).collect())
    }

    fn columns(&mut self, batch: bool, save: &dyn Fn(&mut Encoder<'_>)) -> Column {
        match &mut self.builder {
            Some(builder) => builder.columns(batch, save),
            None => Column::Empty,
        }
    }
}

impl std::fmt::Debug for Splitter<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Splitter")
            .field("as_row", &self.as_row)
            .finish_non_exhaustive()
    }
}

impl SplitValue {
    /// Fills the holes; `take` returns a parameter's columns.
    pub(super) fn fill(self, take: &mut dyn FnMut(u32) -> Column) -> Column {
        match self {
            SplitValue::Hole(parameter) => take(parameter),
            SplitValue::Columns(column) => column,
            SplitValue::Fields { mut column, holes } => {
                for (index, hole) in holes {
                    let filled = hole.fill(take);
                    if let Column::Group(group) = &mut column
                        && let Some((_, child)) = group.children.get_mut(index)
                    {
                        *child = filled;
                    }
                }
                column
            }
            SplitValue::List {
                length,
                fixed: true,
                items,
            } => Column::Array {
                length,
                items: Box::new(items.fill(take)),
            },
            SplitValue::List {
                length,
                fixed: false,
                items,
            } => {
                let bytes = length.to_le_bytes().to_vec().into();
                let lengths = Column::Data(Data {
                    dtype: DType::U64,
                    single: false,
                    bytes,
                });
                let children = vec![("lengths".into(), lengths), ("items".into(), items.fill(take))];
                Column::Group(Group {
                    kind: Kind::List,
                    children,
                })
            }
            SplitValue::Sequence(pieces) => {
                let mut whole = Column::Empty;
                for piece in pieces {
                    append(&mut whole, piece.fill(take));
                }
                whole
            }
        }
    }
}

/// Appends the rows of one column tree to another of the same type.
fn append(whole: &mut Column, mut more: Column) {
    // A row that was lent as `&mut dyn Trait` stands under the name of its type; where the others do not, it must not.
    match (is_dynamic(whole), is_dynamic(&more)) {
        (true, false) if !matches!(more, Column::Empty) => without_name(whole),
        (false, true) if !matches!(whole, Column::Empty) => without_name(&mut more),
        _ => {}
    }
    match (whole, more) {
        (_, Column::Empty) => {}
        (whole @ Column::Empty, more) => *whole = more,
        (Column::Data(whole), Column::Data(more)) => {
            // Where there is no memory the column is marked as incomplete.
            let _ = whole.bytes.append(&more.bytes);
        }
        (Column::Array { items: whole, .. }, Column::Array { items: more, .. }) => append(whole, *more),
        (Column::Group(whole), Column::Group(more)) => {
            for ((_, whole), (_, more)) in whole.children.iter_mut().zip(more.children) {
                append(whole, more);
            }
        }
        // Both were saved as the same type, and a type always writes the same columns.
        _ => {}
    }
}

fn is_dynamic(column: &Column) -> bool {
    matches!(column, Column::Group(group) if group.kind == Kind::Dyn)
}

/// The values below the only type name that has any.
fn without_name(column: &mut Column) {
    let Column::Group(group) = column else { return };
    let mut values = group.children.drain(..).skip(1).map(|(_, child)| child);
    let found = values.rfind(|child| !matches!(child, Column::Empty));
    drop(values);
    *column = found.unwrap_or(Column::Empty);
}

/// The fields of a struct, each borrowed for itself. Derived together with [`Checkpoint`].
pub trait SaveParts {
    /// Saves the fields that are still there.
    fn save_parts(&self, to: &mut Encoder<'_>);
    /// The place of a field among the saved ones.
    fn index(field: &str) -> Option<usize>;
    /// What may be in a field that is a box around a trait object.
    fn objects(field: &str) -> Option<&'static DynTable>;
}

/// A struct that can be taken apart into its fields.
#[diagnostic::on_unimplemented(
    message = "E1201: a field of `{Self}` is lent to a call that leads to a site, and `{Self}` cannot be taken apart",
    note = "derive it: `#[derive(ckpt::Checkpoint)]`"
)]
pub trait Split {
    /// The fields, each in an `Option`.
    type Parts<'a>: SaveParts
    where
        Self: 'a;
    /// Takes it apart.
    fn split(&mut self) -> Self::Parts<'_>;
}

impl<T: Split + ?Sized> Split for Box<T> {
    type Parts<'a>
        = T::Parts<'a>
    where
        Self: 'a;
    fn split(&mut self) -> T::Parts<'_> {
        (**self).split()
    }
}

/// What is left of a list of which a part is elsewhere.
#[derive(Debug)]
pub struct Cut<'a, T> {
    before: &'a [T],
    after: &'a [T],
    one_row: bool,
    length: usize,
    fixed: bool,
}

/// What a list can be cut by: the index of an element, or a range.
pub trait CutIndex<T> {
    /// The element, or the slice.
    type Part: ?Sized;
    /// Cuts.
    fn cut(self, all: &mut [T]) -> (Cut<'_, T>, &mut Self::Part);
}

impl<T> CutIndex<T> for usize {
    type Part = T;
    fn cut(self, all: &mut [T]) -> (Cut<'_, T>, &mut T) {
        let (cut, part) = cut_range(all, self..self + 1, true);
        (cut, &mut part[0])
    }
}

macro_rules! cut_by_range {
    ($($range:ty: $range_of:expr,)*) => {
        $(impl<T> CutIndex<T> for $range {
            type Part = [T];
            fn cut(self, all: &mut [T]) -> (Cut<'_, T>, &mut [T]) {
                let range_of: fn($range, usize) -> std::ops::Range<usize> = $range_of;
                let range = range_of(self, all.len());
                cut_range(all, range, false)
            }
        })*
    };
}

cut_by_range! {
    std::ops::Range<usize>: |range, _| range,
    std::ops::RangeFrom<usize>: |range, length| range.start..length,
    std::ops::RangeTo<usize>: |range, _| 0..range.end,
    std::ops::RangeFull: |_, length| 0..length,
    std::ops::RangeInclusive<usize>: |range, _| *range.start()..*range.end() + 1,
    std::ops::RangeToInclusive<usize>: |range, _| 0..range.end + 1,
}

fn cut_range<T>(all: &mut [T], range: std::ops::Range<usize>, one_row: bool) -> (Cut<'_, T>, &mut [T]) {
    // The message of an index out of bounds is the one the program would give itself.
    let _ = &all[range.clone()];
    let length = all.len();
    let (before, rest) = all.split_at_mut(range.start);
    let (part, after) = rest.split_at_mut(range.end - range.start);
    (
        Cut {
            before,
            after,
            one_row,
            length,
            fixed: false,
        },
        part,
    )
}

/// Takes a struct apart.
pub fn split<T: Split + ?Sized>(whole: &mut T) -> T::Parts<'_> {
    whole.split()
}

/// Takes one of the fields.
pub fn part<'a, T: ?Sized>(field: &mut Option<&'a mut T>) -> &'a mut T {
    match field.take() {
        Some(field) => field,
        None => unreachable!("this is a bug in ckpt: a field is lent twice"),
    }
}

/// Looks at one of the fields that stay.
pub fn shared<'a, T: ?Sized>(field: &'a Option<&mut T>) -> &'a T {
    match field {
        Some(field) => field,
        None => unreachable!("this is a bug in ckpt: a lent field is looked at"),
    }
}

/// A pointer that is stored as what is behind it.
#[diagnostic::on_unimplemented(
    message = "E1202: what is behind `{Self}` is lent to a call that leads to a site, and `{Self}` is not stored as that alone",
    note = "a `Box` or a `Vec` is; of others lend the whole, or take the part out, lend it, and put it back"
)]
pub trait Owner: std::ops::DerefMut {}

impl<T: ?Sized> Owner for Box<T> {}
impl<T> Owner for Vec<T> {}
impl<T: ?Sized> Owner for &mut T {}

/// Looks behind a pointer.
pub fn behind<P: Owner + ?Sized>(pointer: &mut P) -> &mut P::Target {
    pointer
}

/// A list that can be cut.
#[diagnostic::on_unimplemented(
    message = "E1203: an element of `{Self}` is lent to a call that leads to a site, and ckpt cannot tell it from the others",
    note = "it can for `Vec`, slices, arrays and boxed slices; of others take the element out, lend it, and put it back"
)]
pub trait List {
    /// An element.
    type Item;
    /// Whether all values of the type have as many elements.
    const FIXED: bool;
    /// All elements.
    fn items(&mut self) -> &mut [Self::Item];
}

impl<T> List for Vec<T> {
    type Item = T;
    const FIXED: bool = false;
    fn items(&mut self) -> &mut [T] {
        self
    }
}

impl<T> List for [T] {
    type Item = T;
    const FIXED: bool = false;
    fn items(&mut self) -> &mut [T] {
        self
    }
}

impl<T, const N: usize> List for [T; N] {
    type Item = T;
    const FIXED: bool = true;
    fn items(&mut self) -> &mut [T] {
        self
    }
}

impl<L: List + ?Sized> List for Box<L> {
    type Item = L::Item;
    const FIXED: bool = L::FIXED;
    fn items(&mut self) -> &mut [L::Item] {
        (**self).items()
    }
}

/// Cuts a part out of a list.
pub fn cut<L: List + ?Sized, I: CutIndex<L::Item>>(
    all: &mut L,
    index: I,
) -> (Cut<'_, L::Item>, &mut I::Part) {
    let (cut, part) = index.cut(all.items());
    (
        Cut {
            fixed: L::FIXED,
            ..cut
        },
        part,
    )
}

impl Registrar {
    /// Saves a variable of which a part lives in a parameter of the callee.
    pub fn save_split(&mut self, key: &'static str, how: HowToSplit<'_>) {
        self.record_split(key, None, false, how);
    }

    /// Offers parameter `index`, of which a part lives in a parameter of the callee.
    pub fn save_split_parameter(&mut self, index: u32, key: &'static str, how: HowToSplit<'_>) {
        if self.offer(index, key) {
            let as_row = self.demanded_as_row(index);
            self.record_split(key, Some(index), as_row, how);
        }
    }
}
