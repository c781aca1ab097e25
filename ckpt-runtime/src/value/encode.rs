//! Saving: values append themselves to a column tree that takes its shape from the first of them.

use std::any::{Any, TypeId};
use std::borrow::Cow;
use std::fmt::Display;
use std::mem::MaybeUninit;
use std::ops::Deref;
use std::ops::Range;

use super::body::{Owner, Region};
use super::bytes::{buffer_for, give_back};
use super::column::{Column, DType, Data, Group, Kind, Names};
use super::number::as_bytes;
use super::objects::Objects;
use super::owned::OwningType;
use super::ready::Wanted;
use super::{Bytes, Checkpoint, Number};
use crate::base::room::{self, NO_MEMORY};

/// Groups below groups that one variable may have: a bound for readers, and for the stack of recursive types.
pub(crate) const MAX_DEPTH: u32 = 256;

const MAP: &[Cow<'static, str>] = &[
    Cow::Borrowed("keys"),
    Cow::Borrowed("values"),
    Cow::Borrowed("lengths"),
];

/// Where a value saves itself: one place in the column tree of a variable.
///
/// An encoder is in one of two states. *Single*: it takes one value, and a list needs no lengths. *Batch*: it takes
/// any number of values of one type, one after the other. A variable starts single, the items of a list are a batch.
pub struct Encoder<'a> {
    column: &'a mut Column,
    batch: bool,
    depth: u32,
    objects: &'a mut Objects,
    /// Where the elements to come are those of one list, how many they are.
    list: Option<Elements>,
}

/// Elements of a list that is a variable, or a field of one.
#[derive(Clone, Copy)]
struct Elements {
    all: usize,
    /// Of one item.
    row: usize,
    /// Arrays in arrays.
    depth: u32,
}

impl<'a> Encoder<'a> {
    pub(crate) fn new(column: &'a mut Column, batch: bool, objects: &'a mut Objects) -> Self {
        Encoder {
            column,
            batch,
            depth: 0,
            objects,
            list: None,
        }
    }

    /// Reports that this value cannot be saved now. The commit is refused with the first such report, which names
    /// the variable; what is appended afterwards does not matter.
    pub fn fail(&mut self, why: impl Display) {
        self.objects.fail(why.to_string());
    }

    /// Saves what `owner` owns somewhere else: `owned`.
    pub(crate) fn owned<O: ?Sized, T: ?Sized>(
        &mut self,
        owner: &O,
        owned: &T,
        save: impl FnOnce(&mut Encoder<'_>),
    ) {
        let Some(capture) = &mut self.objects.capture else {
            return save(self);
        };
        let region = capture.owned_by(Region::of(owner), Region::of(owned));
        let before = capture.enter(region);
        save(self);
        if let Some(capture) = &mut self.objects.capture {
            capture.enter(before);
        }
    }

    /// Whether it is only found out how large the program's lists are: nothing is saved, and what lists are made of that are no
    /// numbers need not be looked at.
    pub(crate) fn measures(&self) -> bool {
        self.objects.sizes.is_some()
    }

    /// Whether something of this checkpoint could not be saved. Containers stop early then.
    pub fn failed(&self) -> bool {
        self.objects.failed()
    }

    /// Appends one number.
    #[inline]
    pub fn number<N: Number>(&mut self, number: N) {
        if let Some(data) = self.data(&N::DTYPE, size_of::<N>()) {
            number.push(&mut data.bytes);
        }
    }

    /// Appends numbers that lie side by side: one copy.
    pub fn numbers<N: Number>(&mut self, numbers: &[N]) {
        if let Some(sizes) = &mut self.objects.sizes {
            let is_all = self.list.is_some_and(|list| list.all == numbers.len());
            let list = stored_form(numbers).filter(|_| is_all);
            sizes.extend(list.and_then(Wanted::of));
            return;
        }
        if let (Some(bytes), Some(capture)) = (stored_form(numbers), &mut self.objects.capture) {
            capture.note(bytes);
        }
        if let Some(bytes) = stored_form(numbers)
            && self.in_blocks(&N::DTYPE, numbers.len(), bytes)
        {
            return;
        }
        if let Some(data) = self.data(&N::DTYPE, size_of_val(numbers)) {
            let has_room = N::append(numbers, &mut data.bytes);
            debug_assert!(has_room);
        }
    }

    /// Takes all numbers of a list that is not in memory, if the checkpoint before has them as they are; `read` gives any part of
    /// their bytes. Returns whether it has.
    #[cfg_attr(
        not(any(feature = "opencl", feature = "wgpu", feature = "cudarc")),
        expect(dead_code, reason = "all lists are in memory")
    )]
    pub(crate) fn unread<N: Number>(
        &mut self,
        count: usize,
        owner: Owner,
        read: &mut dyn FnMut(Range<usize>) -> Option<Vec<u8>>,
    ) -> bool {
        if self.measures() {
            return true;
        }
        if !self.is_all(count) {
            return false;
        }
        let capture = self.objects.capture.as_mut();
        let body =
            capture.and_then(|capture| capture.take_unread(&N::DTYPE, count * size_of::<N>(), owner, read));
        let is_taken = body.is_some();
        self.objects.has_elsewhere |= is_taken;
        if let Some(body) = body {
            data_of(self.column, &N::DTYPE, true).bytes = Bytes::in_blocks(body);
        }
        is_taken
    }

    /// All numbers of a list that is elsewhere, in memory of the checkpoint's, which `read` fills; it is `owner`'s.
    ///
    /// # Safety
    /// Where `read` succeeds, it has written every byte.
    pub(crate) unsafe fn numbers_read<N: Number>(
        &mut self,
        count: usize,
        owner: Option<Owner>,
        read: impl FnOnce(&mut [MaybeUninit<u8>]) -> Result<(), String>,
    ) {
        if self.measures() {
            return;
        }
        let length = count * size_of::<N>();
        let Some(mut bytes) = buffer_for(length) else {
            return self.fail(NO_MEMORY);
        };
        if let Err(why) = read(&mut bytes.spare_capacity_mut()[..length]) {
            give_back(bytes);
            return self.fail(why);
        }
        // SAFETY: the caller's promise; there is room for them.
        unsafe { bytes.set_len(length) };
        self.numbers_in::<N>(count, owner, bytes);
    }

    /// The same, by a thread of its own beside what is saved after it, where that can be.
    ///
    /// # Safety
    /// Where `read` succeeds, it has written every byte.
    #[cfg_attr(
        not(any(feature = "wgpu", feature = "cudarc")),
        expect(dead_code, reason = "all lists are in memory, or are asked for before")
    )]
    pub(crate) unsafe fn numbers_read_beside<N: Number>(
        &mut self,
        count: usize,
        owner: Option<Owner>,
        read: super::body::Read,
    ) {
        if self.measures() {
            return;
        }
        let is_all = self.is_all(count);
        let taken = match self.objects.capture.as_mut().filter(|_| is_all) {
            Some(capture) => {
                capture.mark_clean(owner);
                // SAFETY: the caller's promise.
                let taken = unsafe { capture.take_beside(&N::DTYPE, count * size_of::<N>(), read) };
                capture.mark_clean(None);
                taken
            }
            None => Err(read),
        };
        match taken {
            Ok(body) => {
                self.objects.has_elsewhere = true;
                self.objects.is_read_beside();
                data_of(self.column, &N::DTYPE, true).bytes = Bytes::in_blocks(body);
            }
            // SAFETY: the caller's promise.
            Err(read) => unsafe { self.numbers_read::<N>(count, owner, read) },
        }
    }

    /// Whether a list of so many numbers is all that comes here.
    fn is_all(&self, count: usize) -> bool {
        matches!(self.column, Column::Empty) && { self.list }
            .is_some_and(|list| list.all == count && list.row == 1 && list.depth == 0)
    }

    /// The same, of numbers that were read already, in memory of [`buffer_for`]: it is the checkpoint's then.
    pub(crate) fn numbers_in<N: Number>(&mut self, count: usize, owner: Option<Owner>, bytes: Vec<u8>) {
        self.objects.has_elsewhere = true;
        if let Some(capture) = &mut self.objects.capture {
            capture.mark_clean(owner);
        }
        self.take_read::<N>(count, bytes);
        if let Some(capture) = &mut self.objects.capture {
            capture.mark_clean(None);
        }
    }

    fn take_read<N: Number>(&mut self, count: usize, bytes: Vec<u8>) {
        let is_all = self.is_all(count);
        let capture = self.objects.capture.as_mut();
        let taken = match capture.filter(|_| is_all) {
            Some(capture) => capture.take_read(&N::DTYPE, bytes),
            None => Err(bytes),
        };
        match taken {
            Ok(body) => data_of(self.column, &N::DTYPE, true).bytes = Bytes::in_blocks(body),
            Err(bytes) => {
                let is_taken = self.in_blocks(&N::DTYPE, count, &bytes);
                if !is_taken && let Some(data) = self.data(&N::DTYPE, bytes.len()) {
                    let has_room = data.bytes.append(&bytes);
                    debug_assert!(has_room);
                }
                give_back(bytes);
            }
        }
    }

    /// Appends numbers one by one.
    pub fn numbers_from<N: Number>(&mut self, numbers: impl Iterator<Item = N>) {
        let announced = numbers.size_hint().0.saturating_mul(size_of::<N>());
        let Some(data) = self.data(&N::DTYPE, announced) else {
            return;
        };
        let bytes = &mut data.bytes;
        let mut numbers = numbers;
        let has_room = numbers.all(|n| {
            let has_room = bytes.make_room(size_of::<N>());
            if has_room {
                n.push(bytes);
            }
            has_room
        });
        if !has_room {
            self.fail(NO_MEMORY);
        }
    }

    /// Whether this place takes many values rather than a single one.
    pub(crate) fn is_batch(&self) -> bool {
        self.batch
    }

    /// Appends elements of one byte each.
    pub(crate) fn bytes(&mut self, dtype: &DType, bytes: &[u8]) {
        if let Some(sizes) = &mut self.objects.sizes {
            sizes.extend(Wanted::of(bytes).filter(|_| self.list.is_some()));
            return;
        }
        if self.in_blocks(dtype, bytes.len(), bytes) {
            return;
        }
        if let Some(data) = self.data(dtype, bytes.len()) {
            let has_room = data.bytes.append(bytes);
            debug_assert!(has_room);
        }
    }

    /// Takes all elements of a large list at once; whether it has.
    fn in_blocks(&mut self, dtype: &DType, count: usize, bytes: &[u8]) -> bool {
        let Some(list) = self.list.filter(|list| list.all == count || count == 0) else {
            return false;
        };
        match &*self.column {
            Column::Empty => {}
            // The rest of a ring buffer that is not bent.
            Column::Data(data) => return count == 0 && data.bytes.body().is_some(),
            _ => return false,
        }
        let body = self.objects.capture.as_mut();
        let body = body.and_then(|capture| capture.take(dtype, list.row, list.depth < 2, bytes));
        if let Some(body) = body {
            data_of(self.column, dtype, true).bytes = Bytes::in_blocks(body);
            return true;
        }
        false
    }

    /// Appends elements of `dtype`, at most 32 bits each.
    pub(crate) fn raw(&mut self, dtype: &DType, elements: impl Iterator<Item = u32>) {
        let size = dtype.size();
        let Some(data) = self.data(dtype, elements.size_hint().0.saturating_mul(size)) else {
            return;
        };
        let bytes = &mut data.bytes;
        let mut elements = elements;
        let has_room = elements.all(|element| {
            let has_room = bytes.make_room(size);
            if has_room {
                bytes.extend_from_slice(&element.to_le_bytes()[..size]);
            }
            has_room
        });
        if !has_room {
            self.fail(NO_MEMORY);
        }
    }

    /// A detector of this name looks at the value that is about to be saved. One that is not plausible comes into no
    /// checkpoint: the program goes back to one before it. `#[ckpt(detector = "path")]` on a type says this by itself.
    /// Where nothing is saved, the detector is not asked.
    pub fn detects(&mut self, detector: &'static str, is_plausible: impl FnOnce() -> bool) {
        if self.measures() {
            return;
        }
        self.objects.has_detectors = true;
        if !is_plausible() && !self.objects.stands_in {
            self.objects.implausible.get_or_insert(detector);
        }
    }

    /// Appends a value without content.
    pub fn unit(&mut self) {
        self.raw(&DType::Unit, std::iter::once(0));
    }

    /// Appends a string.
    pub fn text(&mut self, text: &str) {
        self.text_bytes(text.as_bytes());
    }

    pub(crate) fn text_bytes(&mut self, text: &[u8]) {
        if self.measures() {
            return;
        }
        if self.batch {
            let Some(children) =
                self.children(Kind::Strings, &[Cow::Borrowed("lengths"), Cow::Borrowed("text")])
            else {
                return;
            };
            let [lengths, bytes] = children else { return };
            let length = (text.len() as u64).to_le_bytes();
            let has_room = add(&mut data_of(&mut lengths.1, &DType::U64, true).bytes, &length)
                && add(&mut data_of(&mut bytes.1, &DType::Text, true).bytes, text);
            if !has_room {
                self.fail(NO_MEMORY);
            }
        } else if let Some(data) = self.data(&DType::Text, text.len()) {
            data.bytes.extend_from_slice(text);
        }
    }

    /// The column of field `index` of a struct whose fields are `names`.
    pub fn field(&mut self, names: &'static [Cow<'static, str>], index: usize) -> Encoder<'_> {
        self.child(Kind::Struct, names, index, self.batch)
    }

    /// Begins a list of `count` items and returns the encoder for them.
    pub fn list(&mut self, count: usize) -> Encoder<'_> {
        if !self.batch {
            return Encoder {
                column: self.column,
                batch: true,
                depth: self.depth,
                objects: self.objects,
                list: Some(Elements {
                    all: count,
                    row: 1,
                    depth: 0,
                }),
            };
        }
        const NAMES: &[Cow<'static, str>] = &[Cow::Borrowed("lengths"), Cow::Borrowed("items")];
        self.child(Kind::List, NAMES, 0, true).number(count as u64);
        self.child(Kind::List, NAMES, 1, true)
    }

    /// Begins an array of the fixed length `count` and returns the encoder for its items.
    pub fn array(&mut self, count: usize) -> Encoder<'_> {
        if !self.batch {
            return self.list(count);
        }
        if matches!(self.column, Column::Empty) {
            *self.column = Column::Array {
                length: count as u64,
                items: Box::default(),
            };
        }
        if !matches!(self.column, Column::Array { .. }) {
            self.mixed("an array");
        }
        let list = self.list.map(|list| Elements {
            all: list.all.saturating_mul(count),
            row: list.row.saturating_mul(count),
            depth: list.depth + 1,
        });
        let column = match &mut *self.column {
            Column::Array { items, .. } => items,
            column => column,
        };
        Encoder {
            column,
            batch: true,
            depth: self.depth,
            objects: self.objects,
            list,
        }
    }

    /// Appends a map's entries from its keys and values in the same order.
    pub fn map<'k, 'v, K, V>(
        &mut self,
        count: usize,
        keys: impl Iterator<Item = &'k K> + Clone,
        values: impl Iterator<Item = &'v V> + Clone,
    ) where
        K: Checkpoint + 'k,
        V: Checkpoint + 'v,
    {
        if self.measures() {
            return;
        }
        if self.batch {
            self.map_length(count);
        }
        K::save_each(keys, &mut self.child(Kind::Map, MAP, 0, true));
        V::save_each(values, &mut self.child(Kind::Map, MAP, 1, true));
    }

    /// Appends the number of a map's entries, in a batch of maps.
    pub(crate) fn map_length(&mut self, count: usize) {
        self.child(Kind::Map, MAP, 2, true).number(count as u64);
    }

    /// Appends whether an optional value is there, and returns the encoder for it.
    pub fn option(&mut self, present: bool) -> Encoder<'_> {
        self.options(std::iter::once(present))
    }

    /// Appends whether each of many optional values is there, and returns the encoder for those that are.
    pub(crate) fn options(&mut self, present: impl Iterator<Item = bool>) -> Encoder<'_> {
        const NAMES: &[Cow<'static, str>] = &[Cow::Borrowed("present"), Cow::Borrowed("value")];
        self.child(Kind::Option, NAMES, 0, self.batch)
            .raw(&DType::Bool, present.map(u32::from));
        self.child(Kind::Option, NAMES, 1, self.batch)
    }

    /// Appends the variant `number` of an enum and returns the encoder for its payload.
    ///
    /// `names` are the variants, `children` is `"variant"` followed by the same names.
    pub fn variant(
        &mut self,
        names: &'static [Cow<'static, str>],
        children: &'static [Cow<'static, str>],
        number: usize,
    ) -> Encoder<'_> {
        self.one_of(Kind::Enum, names, children, number)
    }

    /// Appends type `number` of those that may stand behind a trait object, and returns the encoder for the value.
    pub(crate) fn dynamic(
        &mut self,
        names: &'static [Cow<'static, str>],
        children: &'static [Cow<'static, str>],
        number: usize,
    ) -> Encoder<'_> {
        self.one_of(Kind::Dyn, names, children, number)
    }

    fn one_of(
        &mut self,
        kind: Kind,
        names: &'static [Cow<'static, str>],
        children: &'static [Cow<'static, str>],
        number: usize,
    ) -> Encoder<'_> {
        let mut variant = self.child(kind, children, 0, self.batch);
        variant.plain_variant(names, number);
        self.child(kind, children, number + 1, self.batch)
    }

    /// Appends the variant `number` of an enum none of whose variants has a payload.
    pub fn plain_variant(&mut self, names: &'static [Cow<'static, str>], number: usize) {
        self.raw(
            &DType::Variant(Names::Borrowed(names)),
            std::iter::once(number as u32),
        );
    }

    /// The static that is saved is, or has in it, this shared pointer, of which nothing but what it leads to is saved.
    pub(crate) fn lasts<P: Any + Deref>(&mut self, pointer: &P) {
        let address = std::ptr::from_ref(&**pointer).cast::<()>() as usize;
        self.objects.is_lasting(TypeId::of::<P>(), address);
    }

    pub(crate) fn objects(&mut self) -> &mut Objects {
        self.objects
    }

    /// The table for what a value of this type owns, if it is saved there rather than here: its type contains itself. A variable
    /// is always saved at its own place, whatever pointer leads to it.
    pub(crate) fn table_of_owned(&mut self, of: &OwningType) -> Option<u32> {
        match &*self.column {
            Column::Data(Data {
                dtype: DType::Object(table),
                ..
            }) => self.objects.is_table_of(*table, of.key).then_some(*table),
            Column::Empty if self.batch || self.depth > 0 => self.objects.table_of_owned(of),
            _ => None,
        }
    }

    pub(crate) fn object(&mut self, table: u32, id: u64) {
        if let Some(data) = self.data(&DType::Object(table), size_of::<u64>()) {
            data.bytes.extend_from_slice(&id.to_le_bytes());
        }
    }

    /// Saves `keys` apart from the variable, to find the order in which a map's entries are stored.
    pub(crate) fn aside<'k, K: Checkpoint + 'k>(
        &mut self,
        keys: impl Iterator<Item = &'k K> + Clone,
    ) -> Column {
        let mut column = Column::Empty;
        let was_in_place = std::mem::replace(&mut self.objects.in_place, true);
        K::save_each(
            keys,
            &mut Encoder {
                column: &mut column,
                batch: true,
                depth: self.depth,
                objects: self.objects,
                list: None,
            },
        );
        self.objects.in_place = was_in_place;
        column
    }

    /// The column for elements of `dtype`, with room for so many bytes of them.
    fn data(&mut self, dtype: &DType, bytes: usize) -> Option<&mut Data> {
        if self.measures() {
            return None;
        }
        if matches!(self.column, Column::Empty) {
            data_of(self.column, dtype, self.batch);
        }
        let fits = matches!(&*self.column, Column::Data(data) if same_column(&data.dtype, dtype));
        if !fits {
            self.mixed(dtype.name());
            return None;
        }
        let is_complete = matches!(&*self.column, Column::Data(data) if data.bytes.body().is_some());
        if is_complete {
            self.mixed("more elements than it had announced");
            return None;
        }
        let Column::Data(data) = &mut *self.column else {
            return None;
        };
        if !data.bytes.make_room(bytes) {
            self.objects.fail(NO_MEMORY.to_owned());
            return None;
        }
        Some(data)
    }

    /// Whether there is memory for so many bytes more that saving takes beside the columns; where there is not, that is reported.
    pub(crate) fn has_room(&mut self, bytes: usize) -> bool {
        /// The allocator has as much at any time.
        const ALWAYS: usize = 4 << 10;
        let has_room = bytes <= ALWAYS || room::is_there(bytes);
        if !has_room {
            self.objects.fail(NO_MEMORY.to_owned());
        }
        has_room
    }

    fn children(
        &mut self,
        kind: Kind,
        names: &'static [Cow<'static, str>],
    ) -> Option<&mut [(Cow<'static, str>, Column)]> {
        if matches!(self.column, Column::Empty) {
            let children = names.iter().map(|name| (name.clone(), Column::Empty)).collect();
            *self.column = Column::Group(Group { kind, children });
        }
        let fits = matches!(&*self.column, Column::Group(group) if group.kind == kind && group.children.len() == names.len());
        if !fits {
            self.mixed(kind.name());
            return None;
        }
        match &mut *self.column {
            Column::Group(group) => Some(&mut group.children),
            _ => None,
        }
    }

    fn child(
        &mut self,
        kind: Kind,
        names: &'static [Cow<'static, str>],
        index: usize,
        batch: bool,
    ) -> Encoder<'_> {
        if self.depth >= MAX_DEPTH {
            self.fail(format_args!(
                "its values are nested deeper than {MAX_DEPTH} levels; keep long chains in a `Vec` and link by index"
            ));
        }
        let depth = self.depth + 1;
        if self.children(kind, names).is_none() {
            return Encoder {
                column: self.column,
                batch,
                depth,
                objects: self.objects,
                list: None,
            };
        }
        let column = match &mut *self.column {
            Column::Group(group) => &mut group.children[index].1,
            column => column,
        };
        Encoder {
            column,
            batch,
            depth,
            objects: self.objects,
            list: None,
        }
    }

    /// Values of one batch chose different columns: an implementation of `Checkpoint` by hand is wrong.
    fn mixed(&mut self, wanted: &str) {
        self.fail(format_args!(
            "a `Checkpoint` implementation saved {wanted} where it had saved something else before; it must write the same columns for every value"
        ));
    }
}

/// The bytes of numbers that lie in memory as they are stored.
fn stored_form<N: Number>(numbers: &[N]) -> Option<&[u8]> {
    (cfg!(target_endian = "little") || size_of::<N>() == 1).then(|| as_bytes(numbers))
}

fn same_column(a: &DType, b: &DType) -> bool {
    match (a, b) {
        // The names come from one static per type: comparing them for each value would cost more than the value.
        (DType::Variant(_), DType::Variant(_)) => true,
        (a, b) => a == b,
    }
}

/// Appends a few bytes; whether there is memory for them.
fn add(bytes: &mut Bytes, more: &[u8]) -> bool {
    let has_room = bytes.make_room(more.len());
    if has_room {
        bytes.extend_from_slice(more);
    }
    has_room
}

fn data_of<'c>(column: &'c mut Column, dtype: &DType, batch: bool) -> &'c mut Data {
    if !matches!(column, Column::Data(_)) {
        *column = Column::Data(Data {
            dtype: dtype.clone(),
            single: !batch,
            bytes: Bytes::default(),
        });
    }
    match column {
        Column::Data(data) => data,
        _ => unreachable!("the column was just made"),
    }
}
