//! Values that stand in: a restart that calls a function again has to pass every argument, also those that the function
//! had used up before its site. Nobody looks at such a value; it only has to be of the type. It is what `load` makes of
//! a checkpoint of zeros without end.

use super::cursor::{Content, Context, Cursor};
use super::error::LoadError;
use super::objects::Tables;
use super::{Block, Checkpoint, Decoder, Source};

/// Types that contain themselves more deeply than this have no value that stands in.
const DEEPEST: u32 = 64;

/// The position in zeros without end.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Zeros {
    /// The lowest byte of every number: a second try has 1 for types that are never 0.
    lowest: u8,
    depth: u32,
    variants: usize,
}

impl Zeros {
    /// `length` bytes of one number.
    pub(super) fn number(self, length: usize) -> [u8; 16] {
        let mut bytes = [0; 16];
        bytes[0] = if length > 0 { self.lowest } else { 0 };
        bytes
    }

    /// What every number is.
    #[cfg(feature = "serde")]
    pub(super) fn lowest(self) -> u8 {
        self.lowest
    }

    /// Goes into a part of the value.
    pub(super) fn enter(self) -> Result<Zeros, LoadError> {
        if self.depth == DEEPEST {
            return Err(LoadError::invalid("it contains itself too deeply"));
        }
        Ok(Zeros {
            depth: self.depth + 1,
            ..self
        })
    }

    /// Another variant each time, so that an enum which contains itself comes to one that does not.
    pub(super) fn variant(&mut self, count: usize) -> usize {
        self.variants += 1;
        (self.variants - 1) % count.max(1)
    }
}

struct Nothing;

impl Source for Nothing {
    fn read(&self, _: &Block, _: &mut [u8]) -> Result<(), LoadError> {
        Err(LoadError::invalid("nothing is stored"))
    }
}

/// A value of the type, if it can be made of nothing.
pub(crate) fn stand_in<T: Checkpoint>() -> Option<T> {
    let tables = Tables::default();
    let context = Context {
        source: &Nothing,
        tables: &tables,
    };
    [0, 1].into_iter().find_map(|lowest| {
        let mut cursor = Cursor::Zeros(Zeros {
            lowest,
            depth: 0,
            variants: 0,
        });
        T::load(&mut Decoder::new(&mut cursor, false, &context)).ok()
    })
}

/// Whether the type has a value that stands in. One that was made is forgotten: its destructor may have effects.
pub(crate) fn can_stand_in<T: Checkpoint>() -> bool {
    stand_in::<T>().map(std::mem::forget).is_some()
}

impl Content {
    /// `count` elements of `size` bytes.
    pub(super) fn zeros(count: usize, size: usize) -> Option<Vec<u8>> {
        let length = count.checked_mul(size)?;
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(length).ok()?;
        bytes.resize(length, 0);
        Some(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::{BTreeMap, HashSet};
    use std::num::NonZeroU32;
    use std::rc::Rc;

    #[test]
    fn what_stands_in_is_empty() {
        assert_eq!(stand_in::<(u8, f64, bool, char)>(), Some((0, 0.0, false, '\0')));
        assert_eq!(stand_in::<Vec<Vec<f64>>>(), Some(Vec::new()));
        assert_eq!(stand_in::<(String, Option<u8>)>(), Some((String::new(), None)));
        assert_eq!(stand_in::<[[f32; 2]; 3]>(), Some([[0.0; 2]; 3]));
        assert_eq!(stand_in::<[(u8, bool); 2]>(), Some([(0, false); 2]));
        assert_eq!(stand_in::<[u8; 0]>(), Some([]));
        assert_eq!(
            stand_in::<(BTreeMap<u8, u8>, HashSet<String>)>(),
            Some(Default::default())
        );
        assert_eq!(
            stand_in::<Rc<(Box<u64>, Rc<str>)>>().as_deref(),
            Some(&(Box::new(0), "".into()))
        );
        assert_eq!(stand_in::<std::ops::Range<usize>>(), Some(0..0));
        assert_eq!(stand_in::<Result<u8, String>>(), Some(Ok(0)));
        assert_eq!(stand_in::<std::time::Duration>(), Some(std::time::Duration::ZERO));
    }

    #[test]
    fn what_is_never_zero_is_one() {
        assert_eq!(stand_in::<NonZeroU32>(), NonZeroU32::new(1));
    }
}
