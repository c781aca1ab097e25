//! Whether a method is certainly one of the standard library: by what is written of the variable that it is called on. The name of
//! a method alone says nothing, as types of the program's own may have one like it that changes them.

use super::Binding;
use crate::library::{Library, Types};
use crate::syntax::language::is_primitive_type;
use crate::syntax::macros::{makes_a_list, repeated_in_list};
use crate::syntax::places::variable;
use syn::{Expr, GenericArgument, PathArguments, Type};

/// Whether a method that is called on this place does no more than the one of the standard library that has its name: nothing that is not
/// `mut` can be changed by a method, and the others are collections of that library, or numbers in one.
pub(super) fn is_of_std(library: &Library, of: &Binding, receiver: &Expr) -> bool {
    if !of.mutable {
        return true;
    }
    let is_whole = variable(receiver).is_some();
    let by_type = of.ty.as_ref().map(|ty| match is_whole {
        true => is_collection(library, ty),
        false => is_of_numbers(library, ty),
    });
    by_type.unwrap_or_else(|| {
        of.is_number
            || of
                .init
                .as_ref()
                .is_some_and(|init| is_made_as_one(library, init, is_whole))
    })
}

/// `Vec<..>`, `[..; n]`, `HashMap<..>` and the like.
fn is_collection(library: &Library, ty: &Type) -> bool {
    match ty {
        Type::Array(_) | Type::Slice(_) => true,
        Type::Paren(inner) => is_collection(library, &inner.elem),
        Type::Group(inner) => is_collection(library, &inner.elem),
        Type::Path(path) => path.path.segments.last().is_some_and(|last| {
            let name = last.ident.to_string();
            is_primitive_type(&name) || is_name_of_collection(library, &name)
        }),
        _ => false,
    }
}

/// The same with numbers alone in it, at any depth.
fn is_of_numbers(library: &Library, ty: &Type) -> bool {
    match ty {
        Type::Array(one) => is_of_numbers(library, &one.elem),
        Type::Slice(one) => is_of_numbers(library, &one.elem),
        Type::Paren(inner) => is_of_numbers(library, &inner.elem),
        Type::Group(inner) => is_of_numbers(library, &inner.elem),
        Type::Path(path) => path.path.segments.last().is_some_and(|last| {
            let name = last.ident.to_string();
            let PathArguments::AngleBracketed(inside) = &last.arguments else {
                return is_primitive_type(&name) || library.says(&name, Types::Texts);
            };
            let are_numbers = |argument: &GenericArgument| match argument {
                GenericArgument::Type(ty) => is_of_numbers(library, ty),
                _ => true,
            };
            is_name_of_collection(library, &name) && inside.args.iter().all(are_numbers)
        }),
        _ => false,
    }
}

/// The expression makes such a collection; where more than the collection itself is asked for, of numbers that are written out.
fn is_made_as_one(library: &Library, init: &Expr, is_whole: bool) -> bool {
    match init {
        Expr::Lit(_) => true,
        Expr::Unary(one) => is_made_as_one(library, &one.expr, is_whole),
        Expr::Cast(one) => is_of_numbers(library, &one.ty),
        Expr::Array(one) => is_whole || one.elems.iter().all(|item| is_made_as_one(library, item, false)),
        Expr::Repeat(one) => is_whole || is_made_as_one(library, &one.expr, false),
        Expr::Macro(one) if makes_a_list(library, &one.mac) => {
            let repeated = repeated_in_list(library, &one.mac);
            is_whole || repeated.is_some_and(|(item, _)| is_made_as_one(library, &item, false))
        }
        // `Vec::new()`, `String::with_capacity(n)`.
        Expr::Call(call) => match &*call.func {
            Expr::Path(path) if is_whole => {
                let mut segments = path.path.segments.iter().rev().skip(1);
                segments
                    .next()
                    .is_some_and(|of| is_name_of_collection(library, &of.ident.to_string()))
            }
            _ => false,
        },
        _ => false,
    }
}

fn is_name_of_collection(library: &Library, name: &str) -> bool {
    let kinds = [
        Types::Lists,
        Types::Texts,
        Types::Maps,
        Types::Hashed,
        Types::Sorted,
    ];
    !library.own().has(name) && kinds.iter().any(|kind| library.says(name, *kind))
}
