//! From a Rust value to the data model.

use serde::ser::{self, Serialize, Serializer};

use super::json::{Error, Value};

pub(super) fn to_value<T: Serialize + ?Sized>(value: &T) -> Result<Value, Error> {
    value.serialize(ToValue)
}

struct ToValue;

/// A list, or the content of a tuple variant.
struct ToList {
    items: Vec<Value>,
    variant: Option<&'static str>,
}

/// A map, or the content of a struct variant.
struct ToMap {
    entries: Vec<(Value, Value)>,
    variant: Option<&'static str>,
}

fn in_variant(variant: Option<&'static str>, content: Value) -> Value {
    match variant {
        Some(name) => Value::Map(vec![(Value::Text(name.to_owned()), content)]),
        None => content,
    }
}

macro_rules! plain {
    ($($method:ident($type:ty) |$value:ident| $result:expr;)*) => {$(
        fn $method(self, $value: $type) -> Result<Value, Error> {
            Ok($result)
        }
    )*};
}

impl Serializer for ToValue {
    type Ok = Value;
    type Error = Error;
    type SerializeSeq = ToList;
    type SerializeTuple = ToList;
    type SerializeTupleStruct = ToList;
    type SerializeTupleVariant = ToList;
    type SerializeMap = ToMap;
    type SerializeStruct = ToMap;
    type SerializeStructVariant = ToMap;

    plain! {
        serialize_bool(bool) |value| Value::Bool(value);
        serialize_u8(u8) |value| Value::Unsigned(value.into());
        serialize_u16(u16) |value| Value::Unsigned(value.into());
        serialize_u32(u32) |value| Value::Unsigned(value.into());
        serialize_u64(u64) |value| Value::Unsigned(value);
        serialize_u128(u128) |value| Value::WideUnsigned(value);
        serialize_i8(i8) |value| Value::Signed(value.into());
        serialize_i16(i16) |value| Value::Signed(value.into());
        serialize_i32(i32) |value| Value::Signed(value.into());
        serialize_i64(i64) |value| Value::Signed(value);
        serialize_i128(i128) |value| Value::WideSigned(value);
        serialize_f32(f32) |value| Value::F32(value);
        serialize_f64(f64) |value| Value::F64(value);
        serialize_char(char) |value| Value::Text(value.to_string());
        serialize_str(&str) |value| Value::Text(value.to_owned());
        serialize_bytes(&[u8]) |value| Value::Bytes(value.to_owned());
        serialize_unit_struct(&'static str) |_name| Value::Null;
    }

    fn serialize_unit(self) -> Result<Value, Error> {
        Ok(Value::Null)
    }

    fn serialize_none(self) -> Result<Value, Error> {
        Ok(Value::Null)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<Value, Error> {
        Ok(match to_value(value)? {
            inner @ (Value::Null | Value::Some(_)) => Value::Some(Box::new(inner)),
            inner => inner,
        })
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Result<Value, Error> {
        Ok(Value::Text(variant.to_owned()))
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<Value, Error> {
        to_value(value)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<Value, Error> {
        Ok(in_variant(Some(variant), to_value(value)?))
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<ToList, Error> {
        Ok(ToList {
            items: Vec::new(),
            variant: None,
        })
    }

    fn serialize_tuple(self, length: usize) -> Result<ToList, Error> {
        self.serialize_seq(Some(length))
    }

    fn serialize_tuple_struct(self, _: &'static str, length: usize) -> Result<ToList, Error> {
        self.serialize_seq(Some(length))
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<ToList, Error> {
        Ok(ToList {
            items: Vec::new(),
            variant: Some(variant),
        })
    }

    fn serialize_map(self, _: Option<usize>) -> Result<ToMap, Error> {
        Ok(ToMap {
            entries: Vec::new(),
            variant: None,
        })
    }

    fn serialize_struct(self, _: &'static str, length: usize) -> Result<ToMap, Error> {
        self.serialize_map(Some(length))
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<ToMap, Error> {
        Ok(ToMap {
            entries: Vec::new(),
            variant: Some(variant),
        })
    }
}

macro_rules! lists {
    ($($trait:ident, $method:ident;)*) => {$(
        impl ser::$trait for ToList {
            type Ok = Value;
            type Error = Error;
            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
                self.items.push(to_value(value)?);
                Ok(())
            }
            fn end(self) -> Result<Value, Error> {
                Ok(in_variant(self.variant, Value::List(self.items)))
            }
        }
    )*};
}

lists! {
    SerializeSeq, serialize_element;
    SerializeTuple, serialize_element;
    SerializeTupleStruct, serialize_field;
    SerializeTupleVariant, serialize_field;
}

macro_rules! structs {
    ($($trait:ident;)*) => {$(
        impl ser::$trait for ToMap {
            type Ok = Value;
            type Error = Error;
            fn serialize_field<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Result<(), Error> {
                self.entries.push((Value::Text(key.to_owned()), to_value(value)?));
                Ok(())
            }
            fn end(self) -> Result<Value, Error> {
                Ok(in_variant(self.variant, Value::Map(self.entries)))
            }
        }
    )*};
}

structs! { SerializeStruct; SerializeStructVariant; }

impl ser::SerializeMap for ToMap {
    type Ok = Value;
    type Error = Error;
    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Error> {
        self.entries.push((to_value(key)?, Value::Null));
        Ok(())
    }
    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        if let Some(entry) = self.entries.last_mut() {
            entry.1 = to_value(value)?;
        }
        Ok(())
    }
    fn end(self) -> Result<Value, Error> {
        Ok(Value::Map(self.entries))
    }
}
