//! What a value is tested against and taken apart by.

use crate::values::Value;
use std::rc::Rc;

/// What a value is tested against and taken apart by.
#[derive(Debug, Clone)]
pub enum Pattern {
    /// Anything.
    Any,
    /// Anything, and it gets a name; with what it must be besides. By reference where it says so.
    Name(usize, bool, Option<Box<Pattern>>),
    /// This value.
    Value(Value),
    /// From, to, and whether that belongs to it.
    Range(Option<Value>, Option<Value>, bool),
    /// The parts in front of `..` and those behind it.
    Tuple(Vec<Pattern>, Option<Vec<Pattern>>),
    /// An array.
    List(Vec<Pattern>, Option<Vec<Pattern>>),
    /// A variant with parts.
    Variant(Rc<str>, Vec<Pattern>, Option<Vec<Pattern>>),
    /// A struct or variant with named fields.
    Struct(Rc<str>, Vec<(Rc<str>, Pattern)>),
    /// A struct or variant of which it is not known whether it is this one.
    Either(Vec<Pattern>),
    /// Not understood: the slots of its names.
    Other(Vec<usize>),
}

impl Pattern {
    /// The slots that it assigns.
    pub fn slots(&self, into: &mut Vec<usize>) {
        match self {
            Self::Any | Self::Value(_) | Self::Range(..) => {}
            Self::Name(slot, _, inner) => {
                into.push(*slot);
                if let Some(inner) = inner {
                    inner.slots(into);
                }
            }
            Self::Tuple(front, back) | Self::List(front, back) | Self::Variant(_, front, back) => {
                front
                    .iter()
                    .chain(back.iter().flatten())
                    .for_each(|one| one.slots(into));
            }
            Self::Struct(_, fields) => fields.iter().for_each(|(_, one)| one.slots(into)),
            Self::Either(cases) => cases.iter().for_each(|one| one.slots(into)),
            Self::Other(slots) => into.extend(slots),
        }
    }
}
