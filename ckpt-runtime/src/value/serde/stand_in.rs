//! A value that stands in (see [`crate::value::stand_in`]) of a type that only serde knows: made by a deserializer that
//! has nothing. Numbers are 0 or 1, lists are empty, every enum is the first of its variants that leads to an end.

use serde::de::value::Error;
use serde::de::{DeserializeOwned, DeserializeSeed, Deserializer, EnumAccess, IntoDeserializer};
use serde::de::{SeqAccess, VariantAccess, Visitor};
use serde::forward_to_deserialize_any;

const DEEPEST: u32 = 64;

/// A value of the type, if it can be made of nothing. `lowest` is what every number is.
pub(super) fn stand_in<T: DeserializeOwned>(lowest: u8) -> Option<T> {
    let nothing = Nothing {
        lowest,
        depth: 0,
        enums: 0,
    };
    T::deserialize(nothing).ok()
}

#[derive(Clone, Copy)]
struct Nothing {
    lowest: u8,
    depth: u32,
    /// How many enums there are around: each takes another variant, so that one which contains itself comes to an end.
    enums: usize,
}

impl Nothing {
    fn inside(self) -> Result<Self, Error> {
        if self.depth == DEEPEST {
            return Err(serde::de::Error::custom("it contains itself too deeply"));
        }
        Ok(Self {
            depth: self.depth + 1,
            ..self
        })
    }
}

/// The parts of a tuple or struct.
struct Parts {
    whole: Nothing,
    left: usize,
}

impl<'de> SeqAccess<'de> for Parts {
    type Error = Error;
    fn next_element_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, Error> {
        if self.left == 0 {
            return Ok(None);
        }
        self.left -= 1;
        seed.deserialize(self.whole.inside()?).map(Some)
    }
}

macro_rules! plain {
    ($($method:ident |$from:pat_param| $visit:ident($($value:expr)?);)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
            let $from = self;
            visitor.$visit($($value)?)
        }
    )*};
}

impl<'de> Deserializer<'de> for Nothing {
    type Error = Error;

    plain! {
        deserialize_any |_| visit_unit();
        deserialize_bool |_| visit_bool(false);
        deserialize_u8 |nothing| visit_u64(nothing.lowest.into());
        deserialize_u16 |nothing| visit_u64(nothing.lowest.into());
        deserialize_u32 |nothing| visit_u64(nothing.lowest.into());
        deserialize_u64 |nothing| visit_u64(nothing.lowest.into());
        deserialize_u128 |nothing| visit_u128(nothing.lowest.into());
        deserialize_i8 |nothing| visit_u64(nothing.lowest.into());
        deserialize_i16 |nothing| visit_u64(nothing.lowest.into());
        deserialize_i32 |nothing| visit_u64(nothing.lowest.into());
        deserialize_i64 |nothing| visit_u64(nothing.lowest.into());
        deserialize_i128 |nothing| visit_i128(nothing.lowest.into());
        deserialize_f32 |nothing| visit_f64(nothing.lowest.into());
        deserialize_f64 |nothing| visit_f64(nothing.lowest.into());
        deserialize_char |_| visit_char('\0');
        deserialize_str |_| visit_string(String::new());
        deserialize_string |_| visit_string(String::new());
        deserialize_bytes |_| visit_byte_buf(Vec::new());
        deserialize_byte_buf |_| visit_byte_buf(Vec::new());
        deserialize_option |_| visit_none();
        deserialize_seq |whole| visit_seq(Parts { whole, left: 0 });
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self.inside()?)
    }
    fn deserialize_tuple<V: Visitor<'de>>(self, left: usize, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_seq(Parts { whole: self, left })
    }
    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        left: usize,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_seq(Parts { whole: self, left })
    }
    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_map(serde::de::value::MapDeserializer::new(
            std::iter::empty::<((), ())>(),
        ))
    }
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        let left = fields.len();
        visitor.visit_seq(Parts { whole: self, left })
    }
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        let name = variants.get(self.enums % variants.len().max(1)).copied();
        let of = Self {
            enums: self.enums + 1,
            ..self
        };
        match name {
            Some(name) => visitor.visit_enum(Variant { name, of }),
            None => Err(serde::de::Error::custom("it has no variants")),
        }
    }

    forward_to_deserialize_any! { unit unit_struct identifier ignored_any }
}

struct Variant {
    name: &'static str,
    of: Nothing,
}

impl<'de> EnumAccess<'de> for Variant {
    type Error = Error;
    type Variant = Nothing;
    fn variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<(S::Value, Nothing), Error> {
        let name = IntoDeserializer::<Error>::into_deserializer(self.name);
        Ok((seed.deserialize(name)?, self.of))
    }
}

impl<'de> VariantAccess<'de> for Nothing {
    type Error = Error;
    fn unit_variant(self) -> Result<(), Error> {
        Ok(())
    }
    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, Error> {
        seed.deserialize(self.inside()?)
    }
    fn tuple_variant<V: Visitor<'de>>(self, left: usize, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_seq(Parts { whole: self, left })
    }
    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        let left = fields.len();
        visitor.visit_seq(Parts { whole: self, left })
    }
}

#[cfg(test)]
mod tests {
    use super::stand_in;
    use serde::Deserialize;
    use std::collections::BTreeMap;
    use std::num::NonZeroU8;

    #[derive(Debug, PartialEq, Deserialize)]
    struct Deck {
        name: String,
        sizes: (u8, f64, [i32; 2]),
        more: Option<Box<Deck>>,
        table: BTreeMap<String, u64>,
        tree: Tree,
    }

    #[derive(Debug, PartialEq, Deserialize)]
    enum Tree {
        Fork(Box<Tree>, Box<Tree>),
        Named { leaf: char },
    }

    #[test]
    fn what_stands_in_has_nothing_in_it() {
        let leaf = || Box::new(Tree::Named { leaf: '\0' });
        let deck = Deck {
            name: String::new(),
            sizes: (0, 0.0, [0, 0]),
            more: None,
            table: BTreeMap::new(),
            tree: Tree::Fork(leaf(), leaf()),
        };
        assert_eq!(stand_in::<Deck>(0), Some(deck));
        assert_eq!(stand_in::<NonZeroU8>(0), None);
        assert_eq!(stand_in::<NonZeroU8>(1), NonZeroU8::new(1));
        assert!(stand_in::<std::time::Duration>(0).is_some());
    }
}
