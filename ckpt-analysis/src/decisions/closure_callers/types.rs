//! The types that a function's signature gives: what is written out at a call has to have the same, or a number without a
//! type would become another.

use super::shape::name_of_generic;
use ckpt_compiler::syntax::language::is_function_trait;
use ckpt_compiler::syntax::mentions::names_in;
use ckpt_compiler::visit::{self, VisitMut};
use quote::ToTokens;
use std::collections::HashSet;
use syn::spanned::Spanned;
use syn::{
    FnArg, GenericArgument, Generics, Lifetime, ParenthesizedGenericArguments, PathArguments, ReturnType,
    Signature, Type, TypeParamBound, parse_quote_spanned,
};

/// What a bound such as `FnMut(usize) -> f64` says, where a type is one that can be called.
pub fn called_with<'t>(ty: &'t Type, generics: &'t Generics) -> Option<&'t ParenthesizedGenericArguments> {
    match ty {
        Type::ImplTrait(one) => one.bounds.iter().find_map(of_calls),
        Type::TraitObject(one) => one.bounds.iter().find_map(of_calls),
        Type::Reference(one) => called_with(&one.elem, generics),
        Type::Paren(one) => called_with(&one.elem, generics),
        Type::Path(path) => {
            let name = path.path.get_ident()?;
            let declared = generics.type_params().filter(|one| one.ident == *name);
            let clauses = generics.where_clause.iter().flat_map(|clause| &clause.predicates);
            let said = clauses.filter_map(|one| match one {
                syn::WherePredicate::Type(one) => {
                    let is_of_it = matches!(&one.bounded_ty, Type::Path(path) if path.path.is_ident(name));
                    is_of_it.then_some(&one.bounds)
                }
                _ => None,
            });
            declared
                .map(|one| &one.bounds)
                .chain(said)
                .flatten()
                .find_map(of_calls)
        }
        _ => None,
    }
}

fn of_calls(bound: &TypeParamBound) -> Option<&ParenthesizedGenericArguments> {
    let TypeParamBound::Trait(bound) = bound else {
        return None;
    };
    let last = bound.path.segments.last()?;
    let PathArguments::Parenthesized(arguments) = &last.arguments else {
        return None;
    };
    is_function_trait(&last.ident).then_some(arguments)
}

/// The type of what a bound or a function gives, if that is something.
pub fn output(output: &ReturnType) -> Option<&Type> {
    match output {
        ReturnType::Type(_, ty) => Some(ty).map(|ty| &**ty),
        ReturnType::Default => None,
    }
}

/// A type as it can be written at a call: `_` for what the call decides. Nothing where it is no more than that.
pub fn at_call(ty: &Type, generics: &Generics) -> Option<Type> {
    struct AtCall(HashSet<String>);
    impl VisitMut for AtCall {
        fn visit_type_mut(&mut self, ty: &mut Type) {
            let is_open = match ty {
                Type::ImplTrait(_) => true,
                Type::Path(path) => path
                    .path
                    .get_ident()
                    .is_some_and(|name| self.0.contains(&name.to_string())),
                _ => false,
            };
            if is_open {
                *ty = parse_quote_spanned!(ty.span()=> _);
            }
            if let Type::Reference(one) = ty {
                one.lifetime = None;
            }
            visit::visit_type_mut(self, ty);
        }

        fn visit_generic_argument_mut(&mut self, one: &mut GenericArgument) {
            if let GenericArgument::Lifetime(lifetime) = one {
                *lifetime = Lifetime::new("'_", lifetime.span());
            }
            visit::visit_generic_argument_mut(self, one);
        }
    }
    let mut ty = ty.clone();
    AtCall(generics.params.iter().filter_map(name_of_generic).collect()).visit_type_mut(&mut ty);
    (!matches!(ty, Type::Infer(_))).then_some(ty)
}

/// Whether what the types leave open is open at the call as well: no parameter of the function's ties what it is given to
/// what the closure takes or gives; of what the closure gives, the function may give something back.
pub fn are_free(signature: &Signature, closure: usize, called: &ParenthesizedGenericArguments) -> bool {
    let given = signature
        .inputs
        .iter()
        .enumerate()
        .filter_map(|(index, input)| match input {
            FnArg::Typed(typed) if index != closure => Some(typed.ty.to_token_stream()),
            _ => None,
        });
    let taken = called.inputs.iter().map(ToTokens::to_token_stream);
    let mut made = called.output.to_token_stream();
    made.extend(signature.output.to_token_stream());
    let groups: Vec<HashSet<String>> = given
        .chain(taken)
        .chain([made])
        .map(|tokens| names_in(&tokens))
        .collect();
    let is_said_once = |name: &String| groups.iter().filter(|group| group.contains(name)).count() <= 1;
    let no_self = groups.iter().all(|group| !group.contains("Self"));
    let mut names = signature.generics.params.iter().filter_map(name_of_generic);
    no_self && signature.generics.const_params().next().is_none() && names.all(|name| is_said_once(&name))
}
