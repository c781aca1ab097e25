//! Exclusive references to types that hang on type parameters: `&mut self` in `impl<T> Grid<T>`, `grid: &mut Grid<T>`.
//! What only the function can save while it runs has to be `Checkpoint` for whatever the parameters stand for.

use crate::items::{Function, ImplItem, Items};
use crate::source::Program;
use crate::source::edits::Edit;
use crate::source::locate::bytes;
use ckpt_compiler::syntax::language::{is_function_trait, is_iterator_trait};
use ckpt_compiler::visit::{self, Visit};
use proc_macro2::Ident;
use std::collections::BTreeSet;
use syn::spanned::Spanned;
use syn::{FnArg, Generics, Type, TypeParam, TypeParamBound};

/// The `where` clause of a function whose signature nothing else prescribes.
pub(crate) fn where_edit(program: &Program, items: &Items, function: &Function) -> Option<Edit> {
    let of_impl = function.of_impl.map(|index| &items.impls[index]);
    let wanted = wanted(function, of_impl);
    if wanted.is_empty() {
        return None;
    }
    let file = function.place.file;
    let wanted = wanted.join(", ");
    let clause = function.item.sig.generics.where_clause.as_ref();
    let (at, text) = match clause.and_then(|clause| Some((clause, clause.predicates.last()?))) {
        Some((clause, last)) => {
            let comma = clause.predicates.trailing_punct();
            let end = bytes(program, file, last.span()).end;
            match comma {
                true => {
                    let text = &program.file(file).text[end..];
                    (end + text.find(',')? + 1, format!(" {wanted},"))
                }
                false => (end, format!(", {wanted}")),
            }
        }
        None => (function.body_at - 1, format!("where {wanted} ")),
    };
    Some(Edit::insert(file, at, text))
}

/// The bounds of an `impl` of a trait, which prescribes the signatures: its parameters are bounded.
pub(crate) fn impl_edits(program: &Program, items: &Items, function: &Function) -> Vec<Edit> {
    let lends_itself = matches!(function.item.sig.receiver(), Some(one) if one.reference.is_some() && one.mutability.is_some());
    let Some(of_impl) = function.of_impl.map(|index| &items.impls[index]) else {
        return Vec::new();
    };
    let saved = of_impl.generics.type_params().filter(|one| !is_closure(one));
    let edit = |one: &TypeParam| {
        let (end, text) = match one.bounds.last() {
            Some(last) => (last.span(), " + ckpt::Checkpoint"),
            None => (one.ident.span(), ": ckpt::Checkpoint"),
        };
        Edit::insert(of_impl.file, bytes(program, of_impl.file, end).end, text)
    };
    match lends_itself {
        true => saved.map(edit).collect(),
        false => Vec::new(),
    }
}

fn wanted(function: &Function, of_impl: Option<&ImplItem>) -> Vec<String> {
    let none = Generics::default();
    let outer = of_impl.map_or(&none, |one| &one.generics);
    let parameters: Vec<&TypeParam> = outer
        .type_params()
        .chain(function.item.sig.generics.type_params())
        .collect();
    let mut list = BTreeSet::new();
    for input in &function.item.sig.inputs {
        match input {
            FnArg::Receiver(one) if one.reference.is_some() && one.mutability.is_some() => {
                if outer.type_params().next().is_some() {
                    list.insert("Self: ckpt::Checkpoint".to_owned());
                }
            }
            FnArg::Typed(typed) => {
                let Type::Reference(reference) = &*typed.ty else {
                    continue;
                };
                // The parameter itself gets its bound where it is declared.
                let is_alone = |one: &TypeParam| matches!(&*reference.elem, Type::Path(path) if path.path.is_ident(&one.ident));
                if reference.mutability.is_none() || parameters.iter().any(|one| is_alone(one)) {
                    continue;
                }
                let named = Named::of(&reference.elem);
                let saved = parameters
                    .iter()
                    .filter(|one| named.contains(&one.ident) && !is_closure(one));
                list.extend(saved.map(|one| format!("{}: ckpt::Checkpoint", one.ident)));
            }
            FnArg::Receiver(_) => {}
        }
    }
    list.into_iter().collect()
}

/// What is called or gone over is rebuilt; it is never saved.
fn is_closure(parameter: &TypeParam) -> bool {
    parameter.bounds.iter().any(|bound| {
        matches!(bound, TypeParamBound::Trait(one) if one.path.segments.last().is_some_and(|last| {
            is_function_trait(&last.ident) || is_iterator_trait(&last.ident)
        }))
    })
}

/// The names in a type, but for what is behind a reference or a pointer, in a trait object or a function's type.
#[derive(Default)]
struct Named(Vec<Ident>);

impl Named {
    fn of(ty: &Type) -> Vec<Ident> {
        let mut named = Self::default();
        named.visit_type(ty);
        named.0
    }
}

impl<'ast> Visit<'ast> for Named {
    fn visit_type(&mut self, ty: &'ast Type) {
        match ty {
            Type::Path(path) => {
                self.0.extend(path.path.get_ident().cloned());
                visit::visit_type_path(self, path);
            }
            Type::Slice(_) | Type::Array(_) | Type::Tuple(_) | Type::Paren(_) => visit::visit_type(self, ty),
            _ => {}
        }
    }
}
