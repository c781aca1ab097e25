//! The variants of enums, and what stands behind trait objects.

use super::Decoder;
use crate::value::column::{DType, Kind};
use crate::value::cursor::{Cursor, mismatch};
use crate::value::error::{LoadError, LoadProblem};

impl Decoder<'_> {
    /// Takes the next variant of an enum: its place in `known`, which has all names of each variant of the program, and
    /// the decoder for its payload if the file has one.
    ///
    /// # Errors
    /// When there is no enum here, no more values of it, or one with a variant that is in none of `known`.
    pub fn variant(&mut self, known: &[&[&str]]) -> Result<(usize, Option<Decoder<'_>>), LoadError> {
        self.cursor.see_through();
        if let Cursor::Data(_) = &*self.cursor {
            return Ok((self.variant_number(known)?.0, None));
        }
        self.variant_of(Kind::Enum, known)
    }

    /// Takes the next value behind a trait object, as [`Decoder::variant`] takes a variant.
    pub(crate) fn dynamic(&mut self, known: &[&[&str]]) -> Result<(usize, Option<Decoder<'_>>), LoadError> {
        self.variant_of(Kind::Dyn, known)
    }

    fn variant_of(
        &mut self,
        kind: Kind,
        known: &[&[&str]],
    ) -> Result<(usize, Option<Decoder<'_>>), LoadError> {
        let batch = self.batch;
        if let Cursor::Zeros(zeros) = self.cursor {
            let place = zeros.variant(known.len());
            *zeros = zeros.enter()?;
            let (cursor, context) = (&mut *self.cursor, self.context);
            return Ok((
                place,
                Some(Decoder {
                    cursor,
                    batch,
                    context,
                }),
            ));
        }
        let (place, number) = self.child(kind, "variant", batch)?.variant_number(known)?;
        let context = self.context;
        let payload = match self.cursor {
            // The first child has the numbers, the others are the payloads in the order of the numbers.
            Cursor::Group { children, .. } => children.get_mut(number + 1),
            _ => None,
        };
        Ok((
            place,
            payload.map(|(_, cursor)| Decoder {
                cursor,
                batch,
                context,
            }),
        ))
    }

    /// The place of the next variant in `known`, and its number in the file.
    fn variant_number(&mut self, known: &[&[&str]]) -> Result<(usize, usize), LoadError> {
        let context = self.context;
        let Cursor::Data(data) = &mut *self.cursor else {
            return Err(mismatch("an enum", self.cursor));
        };
        if !matches!(data.dtype, DType::Variant(_)) || data.single == self.batch {
            return Err(mismatch("an enum", self.cursor));
        }
        let mut number = [0; 4];
        number.copy_from_slice(data.take(4, context)?);
        let number = u32::from_le_bytes(number) as usize;
        let DType::Variant(names) = &data.dtype else {
            return Err(mismatch("an enum", self.cursor));
        };
        let Some(name) = names.get(number) else {
            return Err(LoadError::invalid(format_args!("there is no variant {number}")));
        };
        match known.iter().position(|names| names.contains(&name.as_ref())) {
            Some(place) => Ok((place, number)),
            None => {
                let known: Vec<&str> = known.iter().filter_map(|names| names.first().copied()).collect();
                Err(LoadProblem::UnknownVariant {
                    variant: name.to_string(),
                    known: known.join(", "),
                }
                .into())
            }
        }
    }
}

/// The payload that a variant of the program has; for the code that the derive writes.
#[doc(hidden)]
pub fn payload_of<'a, 'd>(payload: &'a mut Option<Decoder<'d>>) -> Result<&'a mut Decoder<'d>, LoadError> {
    payload
        .as_mut()
        .ok_or_else(|| LoadError::invalid("the variant has fields in the program and none in the checkpoint"))
}
