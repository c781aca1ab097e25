//! What the elements of an array are by the types that the program writes out: structs of its own are bytes to a checkpoint.

use super::{Frame, Walk, bytes};
use crate::decisions::devices::Devices;
use crate::source::Program;
use ckpt_compiler::visit::{self, Visit};
use quote::ToTokens;
use std::collections::HashMap;
use syn::{Expr, Type};

use super::values::Value;

/// What the elements of an array are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Elements {
    /// Its type says it; in all other cases the library knows bytes.
    OfType,
    /// No shader says it.
    NotKnown,
    /// Of shaders that have it bound.
    Of(String),
    /// One shader has it as something else than another, or as numbers of several kinds; they are a struct of the program's.
    Several,
}

impl Elements {
    pub(super) fn and(&self, other: Option<&String>) -> Self {
        match (self, other) {
            (Self::OfType, _) => Self::OfType,
            (Self::NotKnown, Some(one)) => Self::Of(one.clone()),
            (Self::Of(known), Some(one)) if known == one => self.clone(),
            _ => Self::Several,
        }
    }

    /// The one type of all of them, where there is one.
    pub fn word(&self) -> Option<&str> {
        match self {
            Self::Of(number) => Some(number),
            Self::OfType | Self::NotKnown | Self::Several => None,
        }
    }

    /// Whether a checkpoint has its bytes alone.
    pub fn are_bytes(&self) -> bool {
        matches!(self, Self::NotKnown | Self::Several)
    }
}

/// The structs, enums and unions of the program, with the types of the fields of structs, by their names.
pub(super) struct Own<'p>(HashMap<String, Option<&'p syn::ItemStruct>>);

impl<'p> Own<'p> {
    pub fn of(program: &'p Program) -> Own<'p> {
        let mut own = Own(HashMap::new());
        program.files.iter().for_each(|file| own.visit_file(&file.ast));
        own
    }

    /// The field of a struct of the program; nothing where several have the name.
    fn field(&self, path: &syn::Path, field: &str) -> Option<&'p Type> {
        let item = (*self.0.get(&path.segments.last()?.ident.to_string())?)?;
        let fields = item.fields.iter().zip(item.fields.members());
        let mut named = fields.filter(|(_, member)| member.to_token_stream().to_string() == field);
        named.next().map(|(field, _)| &field.ty)
    }

    /// Whether arrays stand in this type, and the elements of all of them are structs of the program.
    fn are_bytes(&self, devices: &Devices<'_>, ty: &Type) -> bool {
        let mut arrays = Arrays {
            devices,
            elements: Vec::new(),
        };
        arrays.visit_type(ty);
        let is_own = |element: &&Type| matches!(element, Type::Path(path) if path.path.get_ident().is_some_and(|name| self.0.contains_key(&name.to_string())));
        !arrays.elements.is_empty() && arrays.elements.iter().all(is_own)
    }
}

impl<'p> Visit<'p> for Own<'p> {
    fn visit_item_struct(&mut self, item: &'p syn::ItemStruct) {
        let known = self.0.entry(item.ident.to_string());
        known.and_modify(|one| *one = None).or_insert(Some(item));
    }

    fn visit_item_enum(&mut self, item: &'p syn::ItemEnum) {
        self.0.insert(item.ident.to_string(), None);
    }

    fn visit_item_union(&mut self, item: &'p syn::ItemUnion) {
        self.0.insert(item.ident.to_string(), None);
    }
}

/// The elements of the arrays in a type.
struct Arrays<'t, 'd> {
    devices: &'d Devices<'d>,
    elements: Vec<&'t Type>,
}

impl<'t> Visit<'t> for Arrays<'t, '_> {
    fn visit_path(&mut self, path: &'t syn::Path) {
        let text = path.to_token_stream().to_string().replace(' ', "");
        let text = text.replace("::<", "<");
        if let Some(last) = path.segments.last()
            && let syn::PathArguments::AngleBracketed(list) = &last.arguments
            && let Some(syn::GenericArgument::Type(element)) = list.args.first()
            && self.devices.are_arrays(&text)
        {
            self.elements.push(element);
        }
        visit::visit_path(self, path);
    }
}

impl<'a> Walk<'a> {
    /// A type is written out for a value: that of its arrays.
    pub(super) fn known_as(&mut self, value: &Value, ty: &Type) {
        match (value, ty) {
            (Value::Parts(parts), Type::Tuple(tuple)) => {
                for (index, ty) in tuple.elems.iter().enumerate() {
                    if let Some(part) = parts.get(&index.to_string()) {
                        self.known_as(part, ty);
                    }
                }
            }
            _ if self.own.are_bytes(&self.devices, ty) => self.are_bytes(value),
            _ => {}
        }
    }

    /// A struct is made of these fields.
    pub(super) fn known_as_fields(&mut self, path: &syn::Path, value: &Value) {
        let Value::Parts(parts) = value else { return };
        for (name, part) in parts {
            if let Some(ty) = self.own.field(path, name) {
                self.known_as(part, ty);
            }
        }
    }

    /// The same of what makes a value that a variable has now: a function of the program, or one of the library with its type.
    pub(super) fn known_as_made(&mut self, frame: &Frame<'a>, value: &Value, maker: &Expr) {
        match maker {
            Expr::Try(one) => self.known_as_made(frame, value, &one.expr),
            Expr::Paren(one) => self.known_as_made(frame, value, &one.expr),
            Expr::Unsafe(one) => {
                if let Some(syn::Stmt::Expr(last, None)) = one.block.stmts.last() {
                    self.known_as_made(frame, value, last);
                }
            }
            Expr::Call(call) => {
                self.known_as_returned(frame, value, syn::spanned::Spanned::span(&*call.func));
                if let Expr::Path(path) = &*call.func {
                    self.known_as_path(value, &path.path);
                }
            }
            Expr::MethodCall(call) => {
                self.known_as_returned(frame, value, call.method.span());
                let given = call.turbofish.iter().flat_map(|list| &list.args);
                let own = given.filter(|one| {
                    matches!(one, syn::GenericArgument::Type(Type::Path(path))
                        if path.path.get_ident().is_some_and(|name| self.own.0.contains_key(&name.to_string())))
                });
                if own.count() > 0 {
                    self.are_bytes(value);
                }
                self.known_as_made(frame, value, &call.receiver);
            }
            _ => {}
        }
    }

    fn known_as_returned(&mut self, frame: &Frame<'a>, value: &Value, span: proc_macro2::Span) {
        let file = frame.function.place.file;
        let at = bytes(self.program, file, span).start;
        let callees = self.callees.get(&(file, at)).cloned().unwrap_or_default();
        for callee in callees {
            if let syn::ReturnType::Type(_, ty) = &self.analysis.items.function(callee).item.sig.output {
                self.known_as(value, ty);
            }
        }
    }

    /// `Buffer::<Cell>::builder`.
    fn known_as_path(&mut self, value: &Value, path: &syn::Path) {
        let mut of = path.clone();
        of.segments.pop();
        let of: syn::punctuated::Punctuated<_, syn::Token![::]> = of.segments.into_iter().collect();
        if !of.is_empty() {
            let ty = Type::Path(syn::TypePath {
                qself: None,
                path: syn::Path {
                    leading_colon: None,
                    segments: of,
                },
            });
            self.known_as(value, &ty);
        }
    }

    fn are_bytes(&mut self, value: &Value) {
        for place in value.places() {
            if let Some(array) = self.arrays.get_mut(&place)
                && array.elements == Elements::OfType
            {
                array.elements = Elements::Several;
            }
        }
    }
}
