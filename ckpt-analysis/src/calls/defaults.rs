//! Fields that the command line sets: `#[arg(default_value_t = 1000)]`.

use super::{CallGraph, Change, Occasion, WhatChanges};
use crate::items::amount::{Amount, Root, Shape};
use crate::items::{FnId, Items};
use proc_macro2::{TokenStream, TokenTree};

/// Enters the defaults of fields, as numbers that hold unless the user says otherwise.
pub(super) fn fields(graph: &mut CallGraph, items: &Items) {
    for one in &items.types {
        for field in &one.fields {
            let found = field
                .attributes
                .iter()
                .find_map(|attribute| match &attribute.meta {
                    syn::Meta::List(list) => default_in(&list.tokens),
                    _ => None,
                });
            if let Some(number) = found {
                let number = Shape {
                    number: Amount::Default(number),
                    ..Shape::default()
                };
                graph.changes.push(Change {
                    root: Root::Field(one.id, field.name.clone()),
                    way: Vec::new(),
                    at: Occasion {
                        function: FnId(0),
                        within: None,
                        weight: 1.0,
                    },
                    what: WhatChanges::Set(number),
                });
            }
        }
    }
}

/// The number behind `default_value =` or `default_value_t =`.
fn default_in(tokens: &TokenStream) -> Option<f64> {
    let mut tokens = tokens.clone().into_iter();
    while let Some(token) = tokens.next() {
        let is_default = matches!(&token, TokenTree::Ident(name)
            if name == "default_value_t" || name == "default_value");
        if !is_default {
            continue;
        }
        tokens.next();
        let Some(TokenTree::Literal(literal)) = tokens.next() else {
            return None;
        };
        let text = literal.to_string();
        let digits: String = text
            .trim_matches('"')
            .chars()
            .filter(|c| *c != '_')
            .take_while(|c| c.is_ascii_digit() || *c == '.' || *c == 'e')
            .collect();
        return digits.parse().ok();
    }
    None
}
