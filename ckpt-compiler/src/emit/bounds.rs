//! Bounds of generic parameters: what a function borrows exclusively it saves for its caller, so its type must be one
//! that can be saved. The body of a generic function knows only what the bounds say.

use super::Emitter;
use crate::cfg::{Declaration, Passing};
use crate::paths::checkpoint;
use crate::syntax::language::{bound_trait, is_function_trait};
use crate::visit::{self, Visit, VisitMut};
use proc_macro2::Ident;
use syn::{FnArg, Generics, Signature, Type, TypeParamBound, parse_quote};

impl Emitter<'_> {
    /// Adds `ckpt::Checkpoint` to the bounds of the type parameters, named or `impl Trait`, behind `&mut` parameters.
    pub(super) fn bound_parameters(&self, signature: &mut Signature) {
        let lent = |index: usize| {
            self.flow.bindings.iter().any(|binding| {
                matches!(
                    binding.declaration,
                    Declaration::Parameter { index: of, passing: Passing::Exclusive, .. } if of as usize == index
                )
            })
        };
        let mut used = Used {
            generics: &signature.generics,
            found: Vec::new(),
        };
        for (index, argument) in signature.inputs.iter_mut().enumerate() {
            let FnArg::Typed(typed) = argument else { continue };
            if lent(index) {
                used.visit_type(&typed.ty);
                Anonymous.visit_type_mut(&mut typed.ty);
            }
        }
        let found = used.found;
        for name in found {
            add_bound(&mut signature.generics, &name);
        }
    }
}

/// Adds the bound where the parameter has its others.
fn add_bound(generics: &mut Generics, name: &Ident) {
    let of_name = |ty: &Type| matches!(ty, Type::Path(path) if path.path.is_ident(name));
    let predicates = generics
        .where_clause
        .iter_mut()
        .flat_map(|clause| &mut clause.predicates);
    let clause = predicates.into_iter().find_map(|predicate| match predicate {
        syn::WherePredicate::Type(one) if of_name(&one.bounded_ty) => Some(&mut one.bounds),
        _ => None,
    });
    if let Some(bounds) = clause {
        bounds.push(checkpoint());
    } else if let Some(parameter) = generics.type_params_mut().find(|one| one.ident == *name) {
        parameter.bounds.push(checkpoint());
    }
}

/// The type parameters of a function that a type mentions and of which nothing says that they can be saved.
struct Used<'a> {
    generics: &'a Generics,
    found: Vec<Ident>,
}

impl<'ast> Visit<'ast> for Used<'_> {
    fn visit_type_path(&mut self, path: &'ast syn::TypePath) {
        if let Some(name) = path.path.get_ident()
            && self.generics.type_params().any(|one| one.ident == *name)
            && !self.found.contains(name)
            && !bounds_of(self.generics, name).iter().any(|bound| decides(bound))
        {
            self.found.push(name.clone());
        }
        visit::visit_type_path(self, path);
    }
}

fn bounds_of<'a>(generics: &'a Generics, name: &Ident) -> Vec<&'a TypeParamBound> {
    let of_name = |ty: &Type| matches!(ty, Type::Path(path) if path.path.is_ident(name));
    let inline = generics.type_params().filter(|one| one.ident == *name);
    let predicates = generics.where_clause.iter().flat_map(|clause| &clause.predicates);
    let clauses = predicates.filter_map(|predicate| match predicate {
        syn::WherePredicate::Type(one) if of_name(&one.bounded_ty) => Some(&one.bounds),
        _ => None,
    });
    let clauses = clauses.flatten();
    inline.flat_map(|one| &one.bounds).chain(clauses).collect()
}

/// Whether a bound says that the type can be saved, or that it never can: closures are rebuilt by the caller.
fn decides(bound: &TypeParamBound) -> bool {
    bound_trait(bound).is_some_and(|name| name == "Checkpoint" || name == "Refill" || is_function_trait(name))
}

/// `&mut impl Trait` becomes `&mut (impl Trait + ckpt::Checkpoint)`.
struct Anonymous;

impl VisitMut for Anonymous {
    fn visit_type_mut(&mut self, ty: &mut Type) {
        if let Type::ImplTrait(one) = ty
            && !one.bounds.iter().any(decides)
        {
            one.bounds.push(checkpoint());
            *ty = parse_quote!((#ty));
            return;
        }
        visit::visit_type_mut(self, ty);
    }
}
