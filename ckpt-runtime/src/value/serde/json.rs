//! A value of serde's data model, and JSON text for it.

use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, Serializer};

/// A value of serde's data model, as far as it can be distinguished when it is read.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    Null,
    Bool(bool),
    Unsigned(u64),
    Signed(i64),
    WideUnsigned(u128),
    WideSigned(i128),
    F32(f32),
    F64(f64),
    Text(String),
    Bytes(Vec<u8>),
    List(Vec<Value>),
    Map(Vec<(Value, Value)>),
    /// `Some` of something that would otherwise be taken for `None`.
    Some(Box<Value>),
}

pub(super) type Error = de::value::Error;

pub(super) fn error(message: impl std::fmt::Display) -> Error {
    de::Error::custom(message)
}

pub(super) fn to_text(value: &Value) -> Result<String, Error> {
    serde_json::to_string(value).map_err(error)
}

pub(super) fn from_text(text: &str) -> Result<Value, Error> {
    serde_json::from_str(text).map_err(error)
}

fn escaped<S: Serializer>(to: S, name: &str, content: &impl Serialize) -> Result<S::Ok, S::Error> {
    let mut map = to.serialize_map(Some(1))?;
    map.serialize_entry(name, content)?;
    map.end()
}

/// How a float that JSON has no number for is written: a NaN with its bits, which are part of it.
fn special(value: f64, bits: String) -> String {
    if value.is_nan() {
        format!("NaN {bits}")
    } else {
        value.to_string()
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Value::Null => to.serialize_unit(),
            Value::Bool(value) => to.serialize_bool(*value),
            Value::Unsigned(value) => to.serialize_u64(*value),
            Value::Signed(value) => to.serialize_i64(*value),
            Value::WideUnsigned(value) => escaped(to, "$unsigned", &value.to_string()),
            Value::WideSigned(value) => escaped(to, "$signed", &value.to_string()),
            // Every f32 is an f64.
            Value::F32(value) if value.is_finite() => to.serialize_f64(f64::from(*value)),
            Value::F64(value) if value.is_finite() => to.serialize_f64(*value),
            Value::F32(value) => escaped(
                to,
                "$f32",
                &special(f64::from(*value), format!("{:08x}", value.to_bits())),
            ),
            Value::F64(value) => escaped(to, "$f64", &special(*value, format!("{:016x}", value.to_bits()))),
            Value::Text(text) => to.serialize_str(text),
            Value::Bytes(bytes) => {
                let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
                escaped(to, "$bytes", &hex)
            }
            Value::List(items) => to.collect_seq(items),
            Value::Map(entries) if is_plain(entries) => {
                let mut map = to.serialize_map(Some(entries.len()))?;
                for (key, value) in entries {
                    if let Value::Text(key) = key {
                        map.serialize_entry(key, value)?;
                    }
                }
                map.end()
            }
            Value::Map(entries) => escaped(to, "$map", entries),
            Value::Some(inner) => escaped(to, "$some", inner),
        }
    }
}

/// Whether a map can be a JSON object that is not taken for one of ours.
fn is_plain(entries: &[(Value, Value)]) -> bool {
    let texts = entries.iter().all(|(key, _)| matches!(key, Value::Text(_)));
    let escape = matches!(entries, [(Value::Text(key), _)] if key.starts_with('$'));
    texts && !escape
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Value, D::Error> {
        from.deserialize_any(ValueVisitor)
    }
}

struct ValueVisitor;

impl<'de> Visitor<'de> for ValueVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Unsigned(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Signed(value))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Value::F64(value))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::Text(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = from.next_element()? {
            items.push(item);
        }
        Ok(Value::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut from: A) -> Result<Value, A::Error> {
        let mut entries: Vec<(Value, Value)> = Vec::new();
        while let Some((key, value)) = from.next_entry::<String, Value>()? {
            entries.push((Value::Text(key), value));
        }
        match entries.as_mut_slice() {
            [(Value::Text(key), content)] if key.starts_with('$') => {
                let content = std::mem::replace(content, Value::Null);
                unescaped(key, content)
                    .ok_or_else(|| de::Error::custom(format_args!("`{key}` does not have what it should")))
            }
            _ => Ok(Value::Map(entries)),
        }
    }
}

fn unescaped(name: &str, content: Value) -> Option<Value> {
    match (name, content) {
        ("$some", inner) => Some(Value::Some(Box::new(inner))),
        ("$unsigned", Value::Text(text)) => text.parse().ok().map(Value::WideUnsigned),
        ("$signed", Value::Text(text)) => text.parse().ok().map(Value::WideSigned),
        ("$f32", Value::Text(text)) => match text.strip_prefix("NaN ") {
            Some(bits) => u32::from_str_radix(bits, 16)
                .ok()
                .map(|bits| Value::F32(f32::from_bits(bits))),
            None => text.parse().ok().map(Value::F32),
        },
        ("$f64", Value::Text(text)) => match text.strip_prefix("NaN ") {
            Some(bits) => u64::from_str_radix(bits, 16)
                .ok()
                .map(|bits| Value::F64(f64::from_bits(bits))),
            None => text.parse().ok().map(Value::F64),
        },
        ("$bytes", Value::Text(hex)) => {
            let digits = hex.as_bytes().chunks(2).map(|pair| {
                std::str::from_utf8(pair)
                    .ok()
                    .and_then(|pair| u8::from_str_radix(pair, 16).ok())
            });
            digits.collect::<Option<Vec<u8>>>().map(Value::Bytes)
        }
        ("$map", Value::List(entries)) => {
            let pairs = entries.into_iter().map(|entry| match entry {
                Value::List(pair) => <[Value; 2]>::try_from(pair).ok().map(|[key, value]| (key, value)),
                _ => None,
            });
            pairs.collect::<Option<Vec<_>>>().map(Value::Map)
        }
        _ => None,
    }
}
