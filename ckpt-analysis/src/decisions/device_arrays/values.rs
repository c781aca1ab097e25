//! What stands for arrays and kernels while a program is followed.

use crate::source::Position;
use ckpt_compiler::visit::{self, Visit};
use quote::ToTokens;
use std::collections::{BTreeMap, BTreeSet};
use syn::Pat;

/// Where an array is declared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Place {
    /// Where its variable is.
    pub at: Position,
    /// Which part of that it is, by a number for each path.
    pub part: usize,
}

/// A kernel, or what makes one.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(super) struct Kernel {
    pub name: Option<String>,
    /// The number of the argument that it is given next.
    pub next: usize,
}

/// Who knows what the elements of an array are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum KnownBy {
    Library,
    Shaders,
}

/// What an expression gives, as far as it matters.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(super) enum Value {
    #[default]
    Other,
    /// One of these arrays.
    Arrays(BTreeSet<Place>),
    /// An array that has no variable yet, or what makes one.
    Made(KnownBy),
    Kernel(Kernel),
    Text(String),
    /// A number that is written out.
    Number(usize),
    /// A tuple, a list or a struct, by the names of its parts.
    Parts(BTreeMap<String, Value>),
}

impl Value {
    /// One of the two.
    pub fn or(self, other: Value) -> Value {
        match (self, other) {
            (Value::Arrays(mut some), Value::Arrays(more)) => {
                some.extend(more);
                Value::Arrays(some)
            }
            (Value::Other, value) | (value, Value::Other) => value,
            (Value::Parts(mut parts), Value::Parts(others)) => {
                for (name, other) in others {
                    let one = parts.remove(&name).unwrap_or_default();
                    parts.insert(name, one.or(other));
                }
                Value::Parts(parts)
            }
            (one, other) if one == other => one,
            (one, other) => {
                let arrays: BTreeSet<Place> = one.places().into_iter().chain(other.places()).collect();
                match arrays.is_empty() {
                    true => Value::Other,
                    false => Value::Arrays(arrays),
                }
            }
        }
    }

    /// The field of this name, or the element of this number.
    pub fn part(self, name: &str) -> Value {
        match self {
            Value::Parts(mut parts) => parts.remove(name).unwrap_or_default(),
            _ => Value::Other,
        }
    }

    /// The number that it is, if that is known.
    pub fn number(&self) -> Option<usize> {
        match self {
            Value::Number(number) => Some(*number),
            _ => None,
        }
    }

    /// Any of the elements.
    pub fn any_part(self) -> Value {
        match self {
            Value::Parts(parts) => parts.into_values().reduce(Value::or).unwrap_or_default(),
            value => value,
        }
    }

    /// All arrays in it.
    pub fn places(&self) -> Vec<Place> {
        match self {
            Value::Arrays(places) => places.iter().copied().collect(),
            Value::Parts(parts) => parts.values().flat_map(Value::places).collect(),
            _ => Vec::new(),
        }
    }

    /// Whether this array is in it.
    pub fn has(&self, place: Place) -> bool {
        self.places().contains(&place)
    }
}

/// What of a list is its items with the numbers of their places; without where these are not known.
pub(super) fn numbered(items: BTreeMap<String, Value>, are_in_order: bool) -> Value {
    let pair = |(place, item): (String, Value)| {
        let number = place.parse().ok().filter(|_| are_in_order);
        let parts = [
            ("0".to_owned(), number.map_or(Value::Other, Value::Number)),
            ("1".to_owned(), item),
        ];
        (place, Value::Parts(parts.into()))
    };
    Value::Parts(items.into_iter().map(pair).collect())
}

/// Gives the variables of a pattern what they stand for.
pub(super) fn bind(variables: &mut BTreeMap<String, Value>, pattern: &Pat, value: &Value) {
    match pattern {
        Pat::Ident(one) => {
            variables.insert(one.ident.to_string(), value.clone());
            if let Some((_, below)) = &one.subpat {
                bind(variables, below, value);
            }
        }
        Pat::Type(one) => bind(variables, &one.pat, value),
        Pat::Reference(one) => bind(variables, &one.pat, value),
        Pat::Paren(one) => bind(variables, &one.pat, value),
        // Of pairs that are not taken apart any of the names may be one of the arrays.
        Pat::Tuple(list) if !matches!(value, Value::Arrays(_)) => {
            for (index, one) in list.elems.iter().enumerate() {
                bind(variables, one, &value.clone().part(&index.to_string()));
            }
        }
        // `Ok(array)`: what may fail stands for what it gives.
        Pat::TupleStruct(one) if one.elems.len() == 1 => bind(variables, &one.elems[0], value),
        Pat::Struct(one) => {
            for field in &one.fields {
                let name = field.member.to_token_stream().to_string();
                bind(variables, &field.pat, &value.clone().part(&name));
            }
        }
        _ => Names(variables, value.clone().any_part()).visit_pat(pattern),
    }
}

/// All variables of a pattern are any part of the value.
struct Names<'v>(&'v mut BTreeMap<String, Value>, Value);

impl<'ast> Visit<'ast> for Names<'_> {
    fn visit_pat_ident(&mut self, one: &'ast syn::PatIdent) {
        self.0.insert(one.ident.to_string(), self.1.clone());
        visit::visit_pat_ident(self, one);
    }
}
