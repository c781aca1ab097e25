//! Exclusive references to what a signature does not name: `out: &mut dyn Write`, `out: &mut impl Write`, `out: &mut W`.
//! While such a function runs, only it can save what its caller has lent to it, so its signature has to say that this is
//! possible. A trait object becomes a type of its own for each caller; a type parameter gets the bound.

use super::choose::Placement;
use super::edits::Edit;
use super::items::{FnId, Function, Items};
use super::locate::bytes;
use super::source::{FileId, Program};
use super::{Analysis, lent_whole};
use std::collections::BTreeSet;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{FnArg, Token, Type, TypeParamBound, TypePath};

/// The edits of the functions that are instrumented, but for those that the user has annotated.
pub fn lent_edits(program: &Program, analysis: &Analysis, placement: &Placement) -> Vec<Edit> {
    let instrumented: BTreeSet<FnId> = placement.functions.iter().map(|one| one.function).collect();
    let mut list = Vec::new();
    for one in placement.functions.iter().filter(|one| !one.by_user) {
        let function = analysis.items.function(one.function);
        if has_a_signature_of_its_own(function, analysis)
            && is_called_from(one.function, analysis, &instrumented)
        {
            let file = function.place.file;
            let mut signature = Signature {
                program,
                items: &analysis.items,
                file,
                function,
                list: &mut list,
            };
            function
                .item
                .sig
                .inputs
                .iter()
                .for_each(|input| signature.input(input));
            list.extend(lent_whole::where_edit(program, &analysis.items, function));
        } else if function.trait_name.is_some() {
            for edit in lent_whole::impl_edits(program, &analysis.items, function) {
                if !list.contains(&edit) {
                    list.push(edit);
                }
            }
        }
    }
    list
}

/// Not one that a trait or a function pointer prescribes.
fn has_a_signature_of_its_own(function: &Function, analysis: &Analysis) -> bool {
    let free = function.trait_name.is_none() && function.of_trait.is_none();
    free && !analysis.graph.taken.contains(&function.id)
}

/// Whether all callers are instrumented: others may lend what cannot be saved.
fn is_called_from(id: FnId, analysis: &Analysis, instrumented: &BTreeSet<FnId>) -> bool {
    let mut calls = analysis
        .graph
        .calls
        .iter()
        .filter(|call| call.callees.contains(&id));
    calls.all(|call| instrumented.contains(&call.caller))
}

struct Signature<'p> {
    program: &'p Program,
    items: &'p Items,
    file: FileId,
    function: &'p Function,
    list: &'p mut Vec<Edit>,
}

impl Signature<'_> {
    fn input(&mut self, input: &FnArg) {
        let FnArg::Typed(typed) = input else { return };
        let Type::Reference(reference) = &*typed.ty else {
            return;
        };
        if reference.mutability.is_none() {
            return;
        }
        match &*reference.elem {
            Type::Paren(inner) => self.lent(&inner.elem, true),
            plain => self.lent(plain, false),
        }
    }

    fn lent(&mut self, ty: &Type, in_parentheses: bool) {
        match ty {
            Type::TraitObject(object) if !self.is_left_alone(&object.bounds) => {
                if let Some(keyword) = object.dyn_token {
                    self.bounded(ty, in_parentheses);
                    self.replace(keyword.span, "impl");
                }
            }
            Type::ImplTrait(one) if !is_made_again(&one.bounds) => self.bounded(ty, in_parentheses),
            Type::Path(path) => self.parameter(path),
            _ => {}
        }
    }

    /// Closures are made again. Objects of the program's own traits have a list of their types.
    fn is_left_alone(&self, bounds: &Punctuated<TypeParamBound, Token![+]>) -> bool {
        is_made_again(bounds)
            || named(bounds).any(|name| self.items.traits.iter().any(|own| *name == own.name))
    }

    fn bounded(&mut self, ty: &Type, in_parentheses: bool) {
        let range = bytes(self.program, self.file, ty.span());
        let (before, behind) = if in_parentheses { ("", "") } else { ("(", ")") };
        self.list.push(Edit::insert(self.file, range.start, before));
        self.list.push(Edit::insert(
            self.file,
            range.end,
            format!(" + ckpt::Checkpoint{behind}"),
        ));
    }

    fn replace(&mut self, span: proc_macro2::Span, text: &str) {
        let range = bytes(self.program, self.file, span);
        self.list.push(Edit {
            file: self.file,
            start: range.start,
            end: range.end,
            text: text.into(),
        });
    }

    fn parameter(&mut self, path: &TypePath) {
        let parameters = self.function.item.sig.generics.type_params();
        let mut named = parameters.filter(|one| path.path.is_ident(&one.ident));
        let Some(parameter) = named.next() else { return };
        let of_where = self.function.item.sig.generics.where_clause.iter();
        let is_said = of_where.flat_map(|clause| &clause.predicates).any(|predicate| {
            matches!(predicate, syn::WherePredicate::Type(one)
                if matches!(&one.bounded_ty, Type::Path(path) if path.path.is_ident(&parameter.ident))
                && is_made_again(&one.bounds))
        });
        if is_said || is_made_again(&parameter.bounds) {
            return;
        }
        let (end, text) = match parameter.bounds.last() {
            Some(last) => (last.span(), " + ckpt::Checkpoint"),
            None => (parameter.ident.span(), ": ckpt::Checkpoint"),
        };
        let edit = Edit::insert(self.file, bytes(self.program, self.file, end).end, text);
        // Two parameters may have the same type.
        if !self.list.contains(&edit) {
            self.list.push(edit);
        }
    }
}

/// Closures are made again; what is said twice needs no more.
fn is_made_again(bounds: &Punctuated<TypeParamBound, Token![+]>) -> bool {
    const NAMES: [&str; 6] = ["Fn", "FnMut", "FnOnce", "Any", "Checkpoint", "Iterator"];
    named(bounds).any(|name| NAMES.iter().any(|one| name == one))
}

/// The last names of the traits.
fn named(bounds: &Punctuated<TypeParamBound, Token![+]>) -> impl Iterator<Item = &syn::Ident> {
    let traits = bounds.iter().filter_map(|bound| match bound {
        TypeParamBound::Trait(one) => Some(one),
        _ => None,
    });
    traits.filter_map(|one| Some(&one.path.segments.last()?.ident))
}
