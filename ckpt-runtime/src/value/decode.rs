//! Restoring: values take themselves out of a column tree, which is read from the file as they come to it.

mod fields;
mod variants;

use std::any::Any;
use std::ops::Deref;

pub use fields::next_of;
pub use variants::payload_of;

use super::column::{DType, Kind};
use super::cursor::{Content, Context, Cursor, Put, mismatch, no_memory, to_usize};
use super::error::{LoadError, LoadProblem};
use super::impls::shared::Shared;
use super::number::as_bytes;
use super::owned::OwningType;
use super::room::Room;
use super::{Checkpoint, Number};
use crate::handles::ReopenedFiles;

/// No more than a megabyte at first, whatever count the file claims: a vector grows as values really come.
pub(crate) fn first_capacity<T>(count: usize) -> usize {
    count.min((1 << 20) / size_of::<T>().max(1))
}

/// Where a value restores itself from: one place in the column tree of a variable. The mirror of [`super::Encoder`].
pub struct Decoder<'a> {
    cursor: &'a mut Cursor,
    batch: bool,
    context: &'a Context<'a>,
}

impl<'a> Decoder<'a> {
    pub(crate) fn new(cursor: &'a mut Cursor, batch: bool, context: &'a Context<'a>) -> Self {
        Decoder {
            cursor,
            batch,
            context,
        }
    }

    /// Takes the next number.
    ///
    /// # Errors
    /// When the column holds another type, or no more elements. So for all methods below.
    #[inline]
    pub fn number<N: Number>(&mut self) -> Result<N, LoadError> {
        let size = size_of::<N>();
        let context = self.context;
        if let Cursor::Zeros(zeros) = self.cursor {
            return Ok(N::from_bytes(&zeros.number(size)[..size]));
        }
        let data = self.data(&N::DTYPE)?;
        Ok(N::from_bytes(data.take(size, context)?))
    }

    /// Takes the next `count` numbers: one read.
    ///
    /// # Errors
    /// When the column holds another type or fewer elements, its block is damaged, or there is no memory for so many.
    pub fn numbers<N: Number>(&mut self, count: usize) -> Result<Vec<N>, LoadError> {
        if self.has_none(count) {
            return Ok(Vec::new());
        }
        if let Cursor::Zeros(_) = self.cursor {
            return N::read(count, |into| {
                into.fill(0);
                Ok::<(), LoadError>(())
            })?
            .ok_or_else(|| no_memory(count));
        }
        let context = self.context;
        let data = self.data(&N::DTYPE)?;
        let length = data.check(count, size_of::<N>())?;
        let read = match &data.content {
            Content::Stored(block) if data.at == 0 && length as u64 == block.length => {
                match context.source.take(block).map(Room::into_numbers) {
                    Some(Ok(numbers)) => Some(numbers),
                    Some(Err(room)) => N::read(count, |into| {
                        into.copy_from_slice(room.bytes());
                        Ok::<(), LoadError>(())
                    })?,
                    None => N::read(count, |into| context.source.read(block, into))?,
                }
            }
            _ => {
                let bytes = data.take(length, context)?;
                return N::read(count, |into| {
                    into.copy_from_slice(bytes);
                    Ok::<(), LoadError>(())
                })?
                .ok_or_else(|| no_memory(count));
            }
        };
        data.at = length;
        read.ok_or_else(|| no_memory(count))
    }

    /// Takes all numbers of a list, of which there are `count`, into memory that was used before, and gives their bytes to `put`:
    /// they are not to stay there.
    ///
    /// # Errors
    /// As [`Decoder::numbers`], and those of `put`.
    #[cfg_attr(
        not(any(test, feature = "opencl", feature = "wgpu", feature = "cudarc")),
        expect(dead_code, reason = "all lists are in memory")
    )]
    pub(crate) fn numbers_put<N: Number>(&mut self, count: usize, put: Put<'_>) -> Result<(), LoadError> {
        let length = count * size_of::<N>();
        let context = self.context;
        let stored = match &*self.cursor {
            Cursor::Data(data) if self.batch && !data.single && data.dtype == N::DTYPE && data.at == 0 => {
                match &data.content {
                    Content::Stored(block) if length as u64 == block.length => Some(*block),
                    _ => None,
                }
            }
            _ => None,
        };
        let Some(block) = stored.filter(|_| cfg!(target_endian = "little")) else {
            let numbers = self.numbers::<N>(count)?;
            return put(as_bytes(&numbers)).map_err(LoadError::invalid);
        };
        if let Cursor::Data(data) = self.cursor {
            data.at = length;
        }
        if let Some(room) = context.source.take(&block) {
            return put(room.bytes()).map_err(LoadError::invalid);
        }
        context.source.whole(&block, put)
    }

    /// Takes the next element of an element type of at most 32 bits.
    pub(crate) fn raw(&mut self, dtype: &DType) -> Result<u32, LoadError> {
        let size = dtype.size();
        let context = self.context;
        if let Cursor::Zeros(_) = self.cursor {
            return Ok(0);
        }
        let bytes = self.data(dtype)?.take(size, context)?;
        let mut element = [0; 4];
        element[..size].copy_from_slice(bytes);
        Ok(u32::from_le_bytes(element))
    }

    /// Takes a value without content.
    ///
    /// # Errors
    /// When the column holds something else, or no more elements.
    pub fn unit(&mut self) -> Result<(), LoadError> {
        self.raw(&DType::Unit).map(drop)
    }

    /// Takes the next string.
    ///
    /// # Errors
    /// When the column holds no strings, or no more of them, or what it holds is not UTF-8.
    pub fn text(&mut self) -> Result<String, LoadError> {
        String::from_utf8(self.text_bytes()?)
            .map_err(|error| LoadError::invalid(format_args!("not UTF-8: {error}")))
    }

    /// Takes the next `count` elements of an element type in their stored form.
    pub(crate) fn bytes(&mut self, dtype: &DType, count: usize) -> Result<Vec<u8>, LoadError> {
        if self.has_none(count) {
            return Ok(Vec::new());
        }
        if let Cursor::Zeros(_) = self.cursor {
            return Content::zeros(count, dtype.size()).ok_or_else(|| no_memory(count));
        }
        let context = self.context;
        let data = self.data(dtype)?;
        let length = data.check(count, dtype.size())?;
        data.take(length, context).map(<[u8]>::to_vec)
    }

    pub(crate) fn text_bytes(&mut self) -> Result<Vec<u8>, LoadError> {
        if let Cursor::Zeros(_) = self.cursor {
            return Ok(Vec::new());
        }
        let context = self.context;
        let mut column;
        let data = if self.batch {
            let length = self.child(Kind::Strings, "lengths", true)?.number::<u64>()?;
            column = self.child(Kind::Strings, "text", true)?;
            (column.data(&DType::Text)?, to_usize(length)?)
        } else {
            let data = self.data(&DType::Text)?;
            let length = data.left();
            (data, length)
        };
        let (data, length) = data;
        let length = data.check(length, 1)?;
        let bytes = data.take(length, context)?;
        Ok(bytes.to_vec())
    }

    /// Takes the length of the next list and returns the decoder for its items.
    ///
    /// # Errors
    /// When there is no list here, or no more of them, or its length is more than the file has room for.
    pub fn list(&mut self) -> Result<(usize, Decoder<'_>), LoadError> {
        if self.batch && !matches!(self.cursor, Cursor::Zeros(_)) {
            let count = self.child(Kind::List, "lengths", true)?.number::<u64>()?;
            Ok((to_usize(count)?, self.child(Kind::List, "items", true)?))
        } else {
            self.cursor.see_through();
            let count = self.cursor.rows()?;
            Ok((
                to_usize(count)?,
                Decoder {
                    cursor: self.cursor,
                    batch: true,
                    context: self.context,
                },
            ))
        }
    }

    /// Begins an array of the fixed length `count` and returns the decoder for its items.
    ///
    /// # Errors
    /// When there is no array here, or one of another length.
    pub fn array(&mut self, count: usize) -> Result<Decoder<'_>, LoadError> {
        let stands_in = matches!(self.cursor, Cursor::Zeros(_));
        if !self.batch || stands_in {
            let (found, items) = self.list()?;
            return if found == count || stands_in {
                Ok(items)
            } else {
                Err(wrong_length(count, found as u64))
            };
        }
        self.cursor.see_through();
        match self.cursor {
            Cursor::Array { length, .. } if *length != count as u64 => Err(wrong_length(count, *length)),
            Cursor::Array { items, .. } => Ok(Decoder {
                cursor: items,
                batch: true,
                context: self.context,
            }),
            ref other => Err(mismatch("an array", other)),
        }
    }

    /// What the items of the next list are, where they are numbers.
    #[cfg_attr(not(feature = "wgpu"), expect(dead_code, reason = "types say it"))]
    pub(crate) fn numbers_are(&self) -> Option<DType> {
        fn of(cursor: &Cursor) -> Option<DType> {
            match cursor {
                Cursor::Data(data) => Some(data.dtype.clone()),
                Cursor::Group { children, .. } => of(&children.iter().find(|(name, _)| name == "items")?.1),
                Cursor::Array { items, .. } => of(items),
                Cursor::Empty | Cursor::Zeros(_) => None,
            }
        }
        of(self.cursor)
    }

    /// Whether no values are wanted from a column to which none was saved; it does not even have a type.
    pub(crate) fn has_none(&self, count: usize) -> bool {
        count == 0 && matches!(self.cursor, Cursor::Empty)
    }

    /// Whether many values are here rather than a single one.
    pub(crate) fn is_batch(&self) -> bool {
        self.batch
    }

    /// Takes the keys and values of the next map.
    ///
    /// # Errors
    /// When there is no map here, or its keys or values cannot be restored: the error says which.
    pub fn map<K: Checkpoint, V: Checkpoint>(&mut self) -> Result<(Vec<K>, Vec<V>), LoadError> {
        if let Cursor::Zeros(_) = self.cursor {
            return Ok((Vec::new(), Vec::new()));
        }
        let count = if self.batch {
            self.child(Kind::Map, "lengths", true)?.number::<u64>()?
        } else {
            self.child(Kind::Map, "keys", true)?.cursor.rows()?
        };
        let count = to_usize(count)?;
        let keys = K::load_vec(&mut self.child(Kind::Map, "keys", true)?, count)
            .map_err(|error| error.below("keys"))?;
        let values = V::load_vec(&mut self.child(Kind::Map, "values", true)?, count)
            .map_err(|error| error.below("values"))?;
        Ok((keys, values))
    }

    /// Takes whether the next optional value is there, and returns the decoder for it if it is.
    ///
    /// # Errors
    /// When there are no optional values here, or no more of them.
    pub fn option(&mut self) -> Result<Option<Decoder<'_>>, LoadError> {
        let batch = self.batch;
        match self.child(Kind::Option, "present", batch)?.raw(&DType::Bool)? {
            0 => Ok(None),
            1 => Ok(Some(self.child(Kind::Option, "value", batch)?)),
            other => Err(LoadError::invalid(format_args!(
                "{other} is neither true nor false"
            ))),
        }
    }

    /// The decoder for the next optional value, of which is known that it is there.
    pub(crate) fn present(&mut self) -> Result<Decoder<'_>, LoadError> {
        let batch = self.batch;
        self.child(Kind::Option, "value", batch)
    }

    /// Takes whether each of the next `count` optional values is there, and returns the decoder for those that are.
    pub(crate) fn options(&mut self, count: usize) -> Result<(Vec<bool>, Decoder<'_>), LoadError> {
        let batch = self.batch;
        let present = bool::load_vec(&mut self.child(Kind::Option, "present", batch)?, count)?;
        Ok((present, self.child(Kind::Option, "value", batch)?))
    }

    /// Takes the table and number of what the next value owns, if it is in a table.
    pub(crate) fn owned_object(&mut self, of: &OwningType) -> Result<Option<(u32, u64)>, LoadError> {
        let context = self.context;
        let Cursor::Data(data) = &mut *self.cursor else {
            return Ok(None);
        };
        let DType::Object(table) = data.dtype else {
            return Ok(None);
        };
        // A list that is a variable is stored as its items: those may be objects.
        if data.single == self.batch || !context.tables.is_table_of(table, of) {
            return Ok(None);
        }
        let mut id = [0; 8];
        id.copy_from_slice(data.take(8, context)?);
        Ok(Some((table, u64::from_le_bytes(id))))
    }

    pub(crate) fn context(&self) -> &'a Context<'a> {
        self.context
    }

    /// Takes the next shared object.
    pub(crate) fn object<P: Shared>(&mut self) -> Result<P, LoadError> {
        if let Cursor::Zeros(zeros) = *self.cursor {
            return P::load_value(&mut self.zeros(&mut Cursor::Zeros(zeros.enter()?))).map(P::of);
        }
        let (table, id) = self.object_number()?;
        self.context.tables.get(table, id, self.context)
    }

    /// Takes the shared object that the next `Weak` leads to. It may not be there before this variable is restored.
    pub(crate) fn object_of_weak<P: Shared>(&mut self) -> Result<P, LoadError> {
        let (table, id) = self.object_number()?;
        self.context.tables.get_early(table, id, self.context)
    }

    fn object_number(&mut self) -> Result<(u32, u64), LoadError> {
        self.cursor.see_through();
        let Cursor::Data(data) = &mut *self.cursor else {
            return Err(mismatch("a shared object", self.cursor));
        };
        let DType::Object(table) = data.dtype else {
            return Err(mismatch("a shared object", self.cursor));
        };
        let mut id = [0; 8];
        id.copy_from_slice(data.take(8, self.context)?);
        Ok((table, u64::from_le_bytes(id)))
    }

    /// The number of the next shared pointer in the static that is being put back.
    pub(crate) fn next_of_static(&self) -> usize {
        self.context.tables.next_of_static()
    }

    /// The static has this pointer under that number, and keeps it: what else leads to its value leads where it does.
    pub(crate) fn lasts<P: Any + Clone + Deref>(&self, number: usize, pointer: &P) -> Result<(), LoadError> {
        self.context.tables.lasts(number, pointer)
    }

    /// Whether a value is made of nothing, only to stand in for one: it must have no effect beyond itself.
    pub(crate) fn is_stand_in(&self) -> bool {
        matches!(self.cursor, Cursor::Zeros(_))
    }

    /// What every number of a value is that only stands in; nothing for other values.
    #[cfg(feature = "serde")]
    pub(crate) fn lowest_of_stand_in(&self) -> Option<u8> {
        match *self.cursor {
            Cursor::Zeros(zeros) => Some(zeros.lowest()),
            _ => None,
        }
    }

    /// The files that have been opened again.
    pub(crate) fn files(&self) -> &'a ReopenedFiles {
        &self.context.tables.files
    }

    /// The moment of the restart.
    pub(crate) fn now(&self) -> std::time::Instant {
        self.context.tables.now()
    }

    /// Makes what is still missing of a variable that has been restored, and reports what is left of its columns.
    pub(crate) fn finish(&self) -> Result<(), LoadError> {
        self.context.tables.settle(self.context)?;
        match self.cursor.left() {
            None => Ok(()),
            Some((left, path)) => Err(LoadError {
                path,
                problem: LoadProblem::TooLong { left },
            }),
        }
    }

    fn data(&mut self, dtype: &DType) -> Result<&mut super::cursor::DataCursor, LoadError> {
        if !matches!(self.cursor, Cursor::Data(_)) {
            self.cursor.see_through();
        }
        let fits =
            matches!(&*self.cursor, Cursor::Data(data) if data.dtype == *dtype && data.single != self.batch);
        if !fits {
            let number = if self.batch { "elements of" } else { "one" };
            return Err(mismatch(format!("{number} {}", dtype.name()), self.cursor));
        }
        match self.cursor {
            Cursor::Data(data) => Ok(data),
            _ => unreachable!("just matched"),
        }
    }

    /// The decoder for a part of a value that stands in.
    fn zeros<'c>(&self, cursor: &'c mut Cursor) -> Decoder<'c>
    where
        'a: 'c,
    {
        Decoder {
            cursor,
            batch: self.batch,
            context: self.context,
        }
    }

    fn child(&mut self, kind: Kind, name: &str, batch: bool) -> Result<Decoder<'_>, LoadError> {
        if let Cursor::Zeros(_) = self.cursor {
            return Ok(Decoder {
                cursor: self.cursor,
                batch,
                context: self.context,
            });
        }
        if kind != Kind::Dyn {
            self.cursor.see_through();
        }
        let found = match &*self.cursor {
            Cursor::Group {
                kind: found,
                children,
            } if *found == kind => children.iter().position(|(child, _)| child == name),
            _ => None,
        };
        match (found, &mut *self.cursor) {
            (Some(index), Cursor::Group { children, .. }) => Ok(Decoder {
                cursor: &mut children[index].1,
                batch,
                context: self.context,
            }),
            (_, other) => Err(mismatch(format!("a {} with `{name}`", kind.name()), other)),
        }
    }
}

fn wrong_length(expected: usize, found: u64) -> LoadError {
    LoadProblem::Mismatch {
        expected: format!("an array of {expected}"),
        found: format!("one of {found}"),
    }
    .into()
}
