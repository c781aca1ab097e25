//! The fields of structs, by their names.

use super::Decoder;
use crate::value::Checkpoint;
use crate::value::column::Kind;
use crate::value::cursor::{Cursor, mismatch};
use crate::value::error::{LoadError, LoadProblem};

impl Decoder<'_> {
    /// The column of the first of `names` (a field and its aliases) that the struct has in the file; `None` if it has none.
    fn field_if_present(&mut self, names: &[&str]) -> Result<Option<Decoder<'_>>, LoadError> {
        self.cursor.see_through();
        let found = match &*self.cursor {
            Cursor::Group {
                kind: Kind::Struct,
                children,
            } => names
                .iter()
                .find_map(|name| children.iter().position(|(child, _)| child == name)),
            // Every value of an empty batch is missing, not mismatched.
            other => return Err(mismatch("a struct", other)),
        };
        match (found, &mut *self.cursor) {
            (Some(index), Cursor::Group { children, .. }) => Ok(Some(Decoder {
                cursor: &mut children[index].1,
                batch: self.batch,
                context: self.context,
            })),
            _ => Ok(None),
        }
    }

    /// The next value of the field that has one of `names`.
    ///
    /// # Errors
    /// When the group in the file has none of the fields, or `T` cannot be made of what is there: the error names the field.
    pub fn field<T: Checkpoint>(&mut self, names: &[&str]) -> Result<T, LoadError> {
        self.field_with(names, T::load, None)
    }

    /// The next value of the field that has one of `names`, or the default if the struct in the file has no such field.
    ///
    /// # Errors
    /// Those of `load`; without a default, also a field that is missing.
    pub fn field_with<T>(
        &mut self,
        names: &[&str],
        mut load: impl FnMut(&mut Decoder<'_>) -> Result<T, LoadError>,
        default: Option<&dyn Fn() -> T>,
    ) -> Result<T, LoadError> {
        let mut value = None;
        self.field_by(names, default.is_some(), &mut |from| {
            value = Some(load(from)?);
            Ok(())
        })?;
        match (value, default) {
            (Some(value), _) => Ok(value),
            (None, Some(default)) => Ok(default()),
            (None, None) => Err(self.missing_field(names[0])),
        }
    }

    /// Has the next value of a field loaded, if it is there or must be. It is not generic: it would be compiled again for
    /// every type of every program.
    fn field_by(
        &mut self,
        names: &[&str],
        is_optional: bool,
        load: &mut dyn FnMut(&mut Decoder<'_>) -> Result<(), LoadError>,
    ) -> Result<(), LoadError> {
        if let Cursor::Zeros(zeros) = *self.cursor {
            return load(&mut self.zeros(&mut Cursor::Zeros(zeros.enter()?)));
        }
        match self.field_if_present(names)? {
            Some(mut column) => load(&mut column).map_err(|error| error.below(names[0])),
            None if is_optional => Ok(()),
            None => Err(self.missing_field(names[0])),
        }
    }

    /// The next `count` values of the field that has one of `names`; exactly as many, or an error.
    ///
    /// # Errors
    /// When the field is missing and there is no default, or holds fewer values or ones that are no `T`.
    pub fn fields<T: Checkpoint>(
        &mut self,
        names: &[&str],
        count: usize,
        default: Option<&dyn Fn() -> T>,
    ) -> Result<Vec<T>, LoadError> {
        self.fields_with(names, count, default, T::load_vec)
    }

    pub(crate) fn fields_with<T>(
        &mut self,
        names: &[&str],
        count: usize,
        default: Option<&dyn Fn() -> T>,
        load: impl FnOnce(&mut Decoder<'_>, usize) -> Result<Vec<T>, LoadError>,
    ) -> Result<Vec<T>, LoadError> {
        let mut values = Vec::new();
        let mut load = Some(load);
        let is_there = self.fields_by(names, count, default.is_some(), &mut |from| {
            if let Some(load) = load.take() {
                values = load(from, count)?;
            }
            Ok(())
        })?;
        if let (false, Some(default)) = (is_there, default) {
            for _ in 0..count {
                values.push(default());
            }
        }
        Ok(values)
    }

    /// Has the next values of a field loaded, and says whether that was done, or whether there are none and defaults are wanted. It is
    /// not generic, as above.
    fn fields_by(
        &mut self,
        names: &[&str],
        count: usize,
        is_optional: bool,
        load: &mut dyn FnMut(&mut Decoder<'_>) -> Result<(), LoadError>,
    ) -> Result<bool, LoadError> {
        if self.has_none(count) {
            return Ok(true);
        }
        if let Cursor::Zeros(zeros) = *self.cursor {
            load(&mut self.zeros(&mut Cursor::Zeros(zeros.enter()?)))?;
            return Ok(true);
        }
        if let Some(mut column) = self.field_if_present(names)? {
            load(&mut column).map_err(|error| error.below(names[0]))?;
            return Ok(true);
        }
        if !is_optional {
            return Err(self.missing_field(names[0]));
        }
        // The count is the file's word: it must not decide what is allocated unless a column bears it out.
        let rows = self.cursor.rows()?;
        if count as u64 > rows {
            return Err(LoadProblem::TooShort {
                wanted: count as u64,
                left: rows,
            }
            .into());
        }
        Ok(false)
    }

    fn missing_field(&self, name: &str) -> LoadError {
        let present = match &*self.cursor {
            Cursor::Group { children, .. } => children
                .iter()
                .map(|(name, _)| name.as_ref())
                .collect::<Vec<_>>()
                .join(", "),
            _ => String::new(),
        };
        LoadProblem::MissingField {
            field: name.to_owned(),
            present,
        }
        .into()
    }
}

/// The next value of a column that was read with [`Decoder::fields`]; for the code that the derive writes.
#[doc(hidden)]
pub fn next_of<T>(column: &mut std::vec::IntoIter<T>) -> Result<T, LoadError> {
    match column.next() {
        Some(value) => Ok(value),
        None => Err(none_left()),
    }
}

fn none_left() -> LoadError {
    LoadProblem::TooShort { wanted: 1, left: 0 }.into()
}
