//! Binds the names of a pattern to what is known of the parts of a value.

use super::std_calls;
use super::walk::{Value, Walker, array_length};
use crate::items::amount::{Hop, Root, Shape};
use crate::items::hints::{Ty, TypeKey, field_type};
use ckpt_compiler::library::Library;
use syn::Pat;

impl Walker<'_> {
    pub(super) fn local_mut(&mut self, name: &str) -> Option<&mut Value> {
        self.locals_mut()
            .iter_mut()
            .rev()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value)
    }

    /// Declares the names of a pattern.
    pub(super) fn bind(&mut self, pattern: &Pat, value: &Value) {
        match pattern {
            Pat::Ident(ident) => {
                self.declare(&ident.ident.to_string(), value.clone());
                if let Some((_, inner)) = &ident.subpat {
                    self.bind(inner, value);
                }
            }
            Pat::Type(typed) => {
                let written = self.names().ty(&typed.ty);
                let mut value = value.clone();
                merge(self.library, &mut value, written);
                self.bind(&typed.pat, &value);
            }
            Pat::Reference(one) => self.bind(&one.pat, value),
            Pat::Paren(one) => self.bind(&one.pat, value),
            Pat::Tuple(tuple) => {
                let parts = match &value.ty {
                    Ty::Tuple(parts) => parts.clone(),
                    _ => Vec::new(),
                };
                let rest = tuple.elems.iter().position(|one| matches!(one, Pat::Rest(_)));
                for (index, inner) in tuple.elems.iter().enumerate() {
                    let known = match rest {
                        Some(rest) if index >= rest => None,
                        _ => parts.get(index),
                    };
                    let shape = match rest {
                        Some(rest) if index >= rest => Shape::default(),
                        _ => value.shape().step(Hop::Part(index)),
                    };
                    self.bind(inner, &Value::shaped(known.cloned().unwrap_or_default(), shape));
                }
            }
            Pat::TupleStruct(one) => {
                let name = one.path.segments.last().map(|last| last.ident.to_string());
                let inner = match name.as_deref() {
                    Some("Some" | "Ok" | "Break" | "Continue") => Some(std_calls::unwrapped(value.clone())),
                    _ => None,
                };
                for (index, part) in one.elems.iter().enumerate() {
                    let known = match (&inner, index) {
                        (Some(inner), 0) => inner.clone(),
                        _ => self.numbered_field(value, name.as_deref(), index),
                    };
                    self.bind(part, &known);
                }
            }
            Pat::Struct(one) => {
                for field in &one.fields {
                    let known = match (&value.ty, &field.member) {
                        (Ty::Named(TypeKey::Own(id), arguments), syn::Member::Named(name)) => {
                            let name = name.to_string();
                            let ty = field_type(self.resolver, self.resolver.items, *id, &name, arguments);
                            Value::shaped(ty, Shape::at(Root::Field(*id, name), Vec::new()))
                        }
                        _ => Value::default(),
                    };
                    self.bind(&field.pat, &known);
                }
            }
            Pat::Slice(one) => {
                let element = Value::shaped(value.ty.element(self.library), value.shape().element());
                for part in &one.elems {
                    self.bind(part, &element);
                }
            }
            Pat::Or(one) => {
                for case in &one.cases {
                    self.bind(case, value);
                }
            }
            _ => {}
        }
    }

    /// The field of a tuple struct, or of an enum's variant.
    fn numbered_field(&self, value: &Value, variant: Option<&str>, index: usize) -> Value {
        let Ty::Named(TypeKey::Own(id), _) = &value.ty else {
            return Value::default();
        };
        let item = &self.resolver.items.types[id.0];
        let number = index.to_string();
        let field = item.fields.iter().find(|field| {
            field.name == number && (field.variant.is_none() || field.variant.as_deref() == variant)
        });
        let names = crate::items::hints::TypeScope {
            scope: item.scope,
            ..self.names()
        };
        field.map_or_else(Value::default, |field| Value::of(names.ty(&field.ty)))
    }
}

/// A written type says more than what was worked out, except where it leaves out.
fn merge(library: &Library, value: &mut Value, written: Ty) {
    let elided = |ty: &Ty| match ty {
        Ty::Named(_, arguments) => arguments.contains(&Ty::Unknown),
        _ => false,
    };
    match (&written, &value.ty) {
        (Ty::Unknown, _) => {}
        (Ty::Named(key, arguments), known) if elided(&written) && arguments.len() == 1 => {
            value.ty = Ty::Named(key.clone(), vec![known.element(library)]);
        }
        _ => {
            if let Some(length) = array_length(&written) {
                value.length = length;
            }
            value.ty = written;
        }
    }
}
