//! Whether a value fits a pattern, and its parts.

use super::Rank;
use crate::skeleton::Pattern;
use crate::values::{Binary, MemoryPlace, Projection, Provenance, Value};
use std::rc::Rc;

/// What a part of a value is reached by.
enum Way {
    Field(Rc<str>),
    Part(usize),
    Index(usize),
}

impl Rank {
    /// Whether it fits, as a truth value that may not be known.
    pub(crate) fn fits(&self, value: &Value, pattern: &Pattern) -> Value {
        let value = &self.value(value);
        match pattern {
            Pattern::Any | Pattern::Name(_, _, None) => Value::Bool(true),
            Pattern::Name(_, _, Some(inner)) => self.fits(value, inner),
            Pattern::Value(wanted) => Binary::Eq.apply(value, wanted, &self.provenance),
            Pattern::Range(from, to, inclusive) => {
                let above = from
                    .as_ref()
                    .map(|from| Binary::Ge.apply(value, from, &self.provenance));
                let last = if *inclusive { Binary::Le } else { Binary::Lt };
                let below = to.as_ref().map(|to| last.apply(value, to, &self.provenance));
                all([above, below].into_iter().flatten(), &self.provenance)
            }
            Pattern::Tuple(front, back) => {
                self.parts_fit(value, front, back, |at| Way::Field(at.to_string().into()))
            }
            Pattern::List(front, back) => {
                let Value::List(parts) = value else {
                    return self.long_list_fits(value, front, back, pattern);
                };
                let behind = back.as_ref().map_or(0, Vec::len);
                let fits = if back.is_some() {
                    parts.len() >= front.len() + behind
                } else {
                    parts.len() == front.len()
                };
                if !fits {
                    return Value::Bool(false);
                }
                self.parts_fit(value, front, back, Way::Index)
            }
            Pattern::Variant(name, front, back) => match value {
                Value::Variant(is, _) if is == name => self.parts_fit(value, front, back, Way::Part),
                Value::Struct(is, _) if is == name => Value::Bool(true),
                Value::Variant(..) | Value::Struct(..) => Value::Bool(false),
                other => unsure(other, pattern),
            },
            Pattern::Struct(name, fields) => match value {
                Value::Struct(is, _) if is == name || &**name == "Self" => all(
                    fields
                        .iter()
                        .map(|(key, one)| self.fits(&self.get_field(value, key), one)),
                    &self.provenance,
                ),
                Value::Struct(is, _) | Value::Variant(is, _) if is != name => {
                    // Another variant, or the same type under another name.
                    if starts_as_variant(is, name) {
                        Value::Bool(false)
                    } else {
                        Value::Data
                    }
                }
                other => unsure(other, pattern),
            },
            Pattern::Either(cases) => {
                let mut known = Value::Bool(false);
                for case in cases {
                    known = Binary::Or.apply(&known, &self.fits(value, case), &self.provenance);
                }
                known
            }
            Pattern::Other(_) => unsure(value, pattern),
        }
    }

    /// A list whose elements are not distinguished: its length must fit, and they.
    fn long_list_fits(
        &self,
        value: &Value,
        front: &[Pattern],
        back: &Option<Vec<Pattern>>,
        pattern: &Pattern,
    ) -> Value {
        let Some(count) = value.length(&self.provenance) else {
            return unsure(value, pattern);
        };
        let wanted = Value::Int((front.len() + back.as_ref().map_or(0, Vec::len)) as i128);
        let length = match back {
            Some(_) => Binary::Le.apply(&wanted, &count, &self.provenance),
            None => Binary::Eq.apply(&count, &wanted, &self.provenance),
        };
        let parts = match back {
            // Which elements those behind `..` are is not known.
            Some(back) if !back.is_empty() => unsure(value, pattern),
            _ => self.parts_fit(value, front, &None, Way::Index),
        };
        Binary::And.apply(&length, &parts, &self.provenance)
    }

    fn parts_fit(
        &self,
        value: &Value,
        front: &[Pattern],
        back: &Option<Vec<Pattern>>,
        way: impl Fn(usize) -> Way,
    ) -> Value {
        let mut found = Vec::new();
        self.each_part(value, front, back, &way, &mut |part, pattern| {
            found.push(self.fits(&self.value(&part), pattern));
        });
        all(found.into_iter(), &self.provenance)
    }

    /// Each part with its pattern.
    fn each_part(
        &self,
        value: &Value,
        front: &[Pattern],
        back: &Option<Vec<Pattern>>,
        way: &impl Fn(usize) -> Way,
        then: &mut dyn FnMut(Value, &Pattern),
    ) {
        for (at, pattern) in front.iter().enumerate() {
            then(self.reach(value, way(at)), pattern);
        }
        let behind = back.as_ref().map_or(0, Vec::len);
        let count = match self.value(value) {
            Value::Tuple(parts) | Value::List(parts) | Value::Variant(_, parts) => parts.len(),
            _ => front.len() + behind,
        };
        for (at, pattern) in back.iter().flatten().enumerate() {
            then(
                self.reach(value, way((count + at).saturating_sub(behind))),
                pattern,
            );
        }
    }

    /// A part: by reference where the whole is one.
    fn reach(&self, value: &Value, way: Way) -> Value {
        if let Value::Ref(place) = self.followed(value.clone()) {
            let step = match way {
                Way::Field(name) => Projection::Field(name),
                Way::Part(at) => Projection::Part(at),
                Way::Index(at) => Projection::Index(at),
            };
            let mut path = place.path;
            path.push(step);
            return Value::Ref(MemoryPlace { path, ..place });
        }
        match (way, value) {
            (Way::Field(name), _) => self.get_field(value, &name),
            (Way::Part(at) | Way::Index(at), Value::Variant(_, parts) | Value::List(parts)) => {
                parts.get(at).cloned().unwrap_or_default()
            }
            (Way::Index(at), other) => self.get_element(other, &Value::Int(at as i128)),
            (Way::Part(at), other) if other.is_uniform() => Value::uniform(&(at, other)),
            (_, other) => other.blurred(),
        }
    }

    /// Gives the names of a pattern their values.
    pub(crate) fn bind(&mut self, value: Value, pattern: &Pattern) {
        match pattern {
            Pattern::Name(slot, by_reference, inner) => {
                // A name by reference of something by value is a copy: what is written to it is lost with it.
                let _ = by_reference;
                if let Some(at) = self.frame().slots.get_mut(*slot) {
                    *at = value.clone();
                }
                if let Some(inner) = inner {
                    self.bind(value, inner);
                }
            }
            Pattern::Tuple(front, back) => {
                self.bind_parts(&value, front, back, |at| Way::Field(at.to_string().into()));
            }
            Pattern::List(front, back) => self.bind_parts(&value, front, back, Way::Index),
            Pattern::Variant(_, front, back) => self.bind_parts(&value, front, back, Way::Part),
            Pattern::Struct(_, fields) => {
                for (key, one) in fields {
                    let part = self.reach(&value, Way::Field(key.clone()));
                    self.bind(part, one);
                }
            }
            Pattern::Either(_) | Pattern::Any | Pattern::Value(_) | Pattern::Range(..) => {}
            Pattern::Other(slots) => {
                let blurred = self.value(&value).blurred();
                for slot in slots {
                    if let Some(at) = self.frame().slots.get_mut(*slot) {
                        *at = blurred.clone();
                    }
                }
            }
        }
    }

    fn bind_parts(
        &mut self,
        value: &Value,
        front: &[Pattern],
        back: &Option<Vec<Pattern>>,
        way: impl Fn(usize) -> Way,
    ) {
        let mut parts = Vec::new();
        self.each_part(value, front, back, &way, &mut |part, pattern| {
            parts.push((part, pattern.clone()))
        });
        for (part, pattern) in parts {
            self.bind(part, &pattern);
        }
    }
}

/// Both are variants of one enum, most likely.
fn starts_as_variant(is: &str, name: &str) -> bool {
    is.starts_with(char::is_uppercase) && name.starts_with(char::is_uppercase) && name != "Self" && is != name
}

fn unsure(value: &Value, pattern: &Pattern) -> Value {
    if value.is_uniform() {
        Value::uniform(&("fits", value, format!("{pattern:?}")))
    } else {
        Value::Data
    }
}

fn all(list: impl Iterator<Item = Value>, provenance: &Provenance) -> Value {
    list.fold(Value::Bool(true), |known, one| {
        Binary::And.apply(&known, &one, provenance)
    })
}
