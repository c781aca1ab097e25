//! Exclusive references to what a signature does not name: `out: &mut dyn Write`, `out: &mut impl Write`, `out: &mut W`.
//! While such a function runs, only it can save what its caller has lent to it, so its signature has to say that this is
//! possible. A trait object becomes a type of its own for each caller; a type parameter gets the bound.

use super::generic_loans;
use crate::Analysis;
use crate::decisions::Decisions;
use crate::decisions::objects::object_edits;
use crate::decisions::refill::struct_at;
use crate::decisions::saved_types::Types;
use crate::items::{FnId, Function};
use crate::placement::Placement;
use crate::source::Position;
use crate::source::edits::Edit;
use crate::source::locate::bytes;
use crate::source::{FileId, Program};
use ckpt_compiler::syntax::language::{is_function_trait, is_iterator_trait};
use std::collections::BTreeSet;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{FnArg, Token, Type, TypeParamBound, TypePath, TypeTraitObject};

/// The edits of the functions that are instrumented, but for those that the user has annotated.
/// Methods of types that a restart fills are saved by their callers: such a type has no `Checkpoint` to ask for.
pub fn lent_edits(
    program: &Program,
    analysis: &Analysis,
    placement: &Placement,
    filled: &BTreeSet<Position>,
) -> Vec<Edit> {
    let filled: BTreeSet<String> = filled
        .iter()
        .filter_map(|place| Some(struct_at(program, *place)?.ident.to_string()))
        .collect();
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
                analysis,
                file,
                function,
                // A value that is filled is saved where it is lent, and by nothing else.
                bound: match filled.is_empty() {
                    true => "ckpt::Checkpoint",
                    false => "ckpt::value::Refill",
                },
                list: &mut list,
            };
            function
                .item
                .sig
                .inputs
                .iter()
                .for_each(|input| signature.input(input));
            if !function
                .self_type
                .as_ref()
                .is_some_and(|own| filled.contains(own))
            {
                list.extend(generic_loans::where_edit(program, &analysis.items, function));
            }
        } else if function.trait_name.is_some() {
            for edit in generic_loans::impl_edits(program, &analysis.items, function) {
                if !list.contains(&edit) {
                    list.push(edit);
                }
            }
        }
    }
    list
}

/// The program's own traits of which instrumented functions are lent objects, as rustc writes their types: `dyn Solver`.
pub fn lent_objects(analysis: &Analysis, placement: &Placement) -> BTreeSet<String> {
    let own = placement.functions.iter().filter(|one| !one.by_user);
    let inputs = own.flat_map(|one| &analysis.items.function(one.function).item.sig.inputs);
    let mut names = BTreeSet::new();
    for input in inputs {
        if let Some((Type::TraitObject(object), _)) = lent_type(input) {
            names.extend(object.bounds.iter().filter_map(|bound| {
                let name = last_name(bound)?;
                let is_own = analysis.items.traits.iter().any(|own| name == own.name.as_str());
                is_own.then(|| format!("dyn {name}"))
            }));
        }
    }
    names
}

/// Objects that are lent have to be saved by the function that has them: rustc cannot tell that this is wanted, so the
/// types behind them are listed before it is asked.
pub fn list_lent_objects(
    program: &Program,
    analysis: &Analysis,
    placement: &Placement,
    decisions: &mut Decisions,
) {
    let mut names = lent_objects(analysis, placement);
    names.retain(|name| !decisions.objects.contains_key(name));
    if names.is_empty() {
        return;
    }
    let types = Types::of(&analysis.library, program);
    for name in names {
        // Where they cannot be listed, the site says so when it is visited.
        if let Ok(needed) = object_edits(&analysis.library, program, &analysis.items, &types, &name) {
            decisions.objects.insert(name, needed.edits);
            decisions.derives.extend(needed.derives);
        }
    }
}

/// What an exclusive reference among the parameters refers to, and whether it stands in parentheses.
fn lent_type(input: &FnArg) -> Option<(&Type, bool)> {
    let FnArg::Typed(typed) = input else { return None };
    let Type::Reference(reference) = &*typed.ty else {
        return None;
    };
    reference.mutability?;
    Some(match &*reference.elem {
        Type::Paren(inner) => (&inner.elem, true),
        plain => (plain, false),
    })
}

/// The trait of a bound, without its path.
fn last_name(bound: &TypeParamBound) -> Option<&syn::Ident> {
    let TypeParamBound::Trait(one) = bound else {
        return None;
    };
    Some(&one.path.segments.last()?.ident)
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
    analysis: &'p Analysis,
    file: FileId,
    function: &'p Function,
    /// What a value that is lent has to be.
    bound: &'static str,
    list: &'p mut Vec<Edit>,
}

impl Signature<'_> {
    fn input(&mut self, input: &FnArg) {
        if let Some((ty, in_parentheses)) = lent_type(input) {
            self.lent(ty, in_parentheses);
        }
    }

    fn lent(&mut self, ty: &Type, in_parentheses: bool) {
        match ty {
            Type::TraitObject(object) if !self.is_left_alone(&object.bounds) && !self.is_own(object) => {
                if let Some(keyword) = object.dyn_token {
                    self.bounded(ty, in_parentheses);
                    self.replace(keyword.span, "impl");
                }
            }
            Type::ImplTrait(one) if !self.is_left_alone(&one.bounds) => self.bounded(ty, in_parentheses),
            Type::Path(path) => self.parameter(path),
            _ => {}
        }
    }

    /// Closures are rebuilt, and what is said twice needs no more.
    fn is_left_alone(&self, bounds: &Punctuated<TypeParamBound, Token![+]>) -> bool {
        let mut names = bounds.iter().filter_map(last_name);
        names.any(|name| {
            is_function_trait(name) || is_iterator_trait(name) || name == "Any" || name == "Checkpoint"
        })
    }

    /// Objects of the program's own traits have a list of their types instead.
    fn is_own(&self, object: &TypeTraitObject) -> bool {
        let mut names = object.bounds.iter().filter_map(last_name);
        names.any(|name| {
            self.analysis
                .items
                .traits
                .iter()
                .any(|own| name == own.name.as_str())
        })
    }

    fn bounded(&mut self, ty: &Type, in_parentheses: bool) {
        let range = bytes(self.program, self.file, ty.span());
        let (before, behind) = if in_parentheses { ("", "") } else { ("(", ")") };
        self.list.push(Edit::insert(self.file, range.start, before));
        self.list.push(Edit::insert(
            self.file,
            range.end,
            format!(" + {}{behind}", self.bound),
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
                && self.is_left_alone(&one.bounds))
        });
        if is_said || self.is_left_alone(&parameter.bounds) {
            return;
        }
        let (end, text) = match parameter.bounds.last() {
            Some(last) => (last.span(), format!(" + {}", self.bound)),
            None => (parameter.ident.span(), format!(": {}", self.bound)),
        };
        let edit = Edit::insert(self.file, bytes(self.program, self.file, end).end, text);
        // Two parameters may have the same type.
        if !self.list.contains(&edit) {
            self.list.push(edit);
        }
    }
}
