//! Which types keep arrays on devices: what a function makes or is given by value, and its result cannot keep, only a group of
//! arrays or a view has when it ends.

use super::devices::Devices;
use crate::items::Function;
use ckpt_compiler::visit::{self, Visit};
use std::collections::{BTreeSet, HashSet};
use syn::punctuated::Punctuated;
use syn::{Generics, Ident, Pat, PathArguments, ReturnType, Token, Type, TypeParamBound, WherePredicate};

/// Types that may have an array in them.
pub(super) struct Keepers<'a> {
    devices: &'a Devices<'a>,
    /// Types of the program that have.
    with_arrays: &'a HashSet<String>,
}

impl<'a> Keepers<'a> {
    pub(super) fn of(devices: &'a Devices<'a>, with_arrays: &'a HashSet<String>) -> Self {
        Self { devices, with_arrays }
    }

    /// Whether a function gives an array, or what has one. Of a type that only the caller knows it may.
    pub(super) fn may_be_given_by(&self, function: &Function) -> bool {
        let given = given_by(function).map(|given| self.is_in(function, given));
        given.is_some_and(|found| found.is_certain || found.is_unknown)
    }

    /// Whether it gives one for certain.
    pub(super) fn gives(&self, function: &Function) -> bool {
        given_by(function).is_some_and(|given| self.is_in(function, given).is_certain)
    }

    /// The names of the arrays, and of what has some, that a function is given by value.
    pub(super) fn given_to(&self, function: &Function) -> BTreeSet<String> {
        let named = |input: &syn::FnArg| match input {
            syn::FnArg::Receiver(one) => {
                let is_kept = { function.self_type.as_ref() }.is_some_and(|name| self.is_certain(name));
                (one.reference.is_none() && is_kept).then(|| "self".to_owned())
            }
            syn::FnArg::Typed(typed) => match &*typed.pat {
                Pat::Ident(one) if self.is_in(function, &typed.ty).is_certain => Some(one.ident.to_string()),
                _ => None,
            },
        };
        function.item.sig.inputs.iter().filter_map(named).collect()
    }

    /// The names that a pattern gives to arrays, and to what has some, of what the function gives.
    pub(super) fn bound(&self, pattern: &Pat, function: &Function) -> BTreeSet<String> {
        let Some(given) = given_by(function) else {
            return BTreeSet::new();
        };
        let is_certain = |given: &Type| self.is_in(function, given).is_certain;
        let mut names = BTreeSet::new();
        match pattern {
            Pat::Type(typed) => names.extend(self.bound(&typed.pat, function)),
            Pat::Ident(one) if is_certain(given) => names.extend([one.ident.to_string()]),
            Pat::Tuple(patterns) => {
                let types = tuple_in(given).map_or_else(Vec::new, |tuple| tuple.elems.iter().collect());
                for (pattern, given) in patterns.elems.iter().zip(types) {
                    if let (Pat::Ident(one), true) = (pattern, is_certain(given)) {
                        names.insert(one.ident.to_string());
                    }
                }
            }
            _ => {}
        }
        names
    }

    fn is_certain(&self, name: &str) -> bool {
        self.devices.are_arrays(name) || self.with_arrays.contains(name)
    }

    fn is_in<'k>(&'k self, function: &'k Function, given: &Type) -> Within<'k, 'a> {
        let mut within = Within {
            keepers: self,
            self_type: function.self_type.clone(),
            generics: &function.item.sig.generics,
            parameters: BTreeSet::new(),
            is_certain: false,
            is_unknown: false,
        };
        within.visit_type(given);
        within
    }
}

fn given_by(function: &Function) -> Option<&Type> {
    match &function.item.sig.output {
        ReturnType::Default => None,
        ReturnType::Type(_, given) => Some(given),
    }
}

/// The first tuple in a type: of `Result<(A, B), E>`, the one that is given.
fn tuple_in(given: &Type) -> Option<&syn::TypeTuple> {
    struct First<'t>(Option<&'t syn::TypeTuple>);
    impl<'t> Visit<'t> for First<'t> {
        fn visit_type(&mut self, one: &'t Type) {
            match one {
                Type::Tuple(tuple) => _ = self.0.get_or_insert(tuple),
                other => visit::visit_type(self, other),
            }
        }
    }
    let mut first = First(None);
    first.visit_type(given);
    first.0
}

/// What is in a type, but for what it lends.
struct Within<'k, 'a> {
    keepers: &'k Keepers<'a>,
    self_type: Option<String>,
    generics: &'k Generics,
    /// Those that were looked at.
    parameters: BTreeSet<String>,
    is_certain: bool,
    is_unknown: bool,
}

impl Within<'_, '_> {
    /// What is borrowed or made as such an array has one: `impl Borrow<Buffer>`. What a closure is called with it has not.
    fn bounds(&mut self, bounds: &Punctuated<TypeParamBound, Token![+]>) {
        self.is_unknown = true;
        let traits = bounds.iter().filter_map(|bound| match bound {
            TypeParamBound::Trait(one) => one.path.segments.last(),
            _ => None,
        });
        for arguments in traits.map(|segment| &segment.arguments) {
            if let PathArguments::AngleBracketed(arguments) = arguments {
                arguments
                    .args
                    .iter()
                    .for_each(|one| self.visit_generic_argument(one));
            }
        }
    }

    fn parameter(&mut self, parameter: &Ident) {
        let generics = self.generics;
        let Some(one) = generics.type_params().find(|one| one.ident == *parameter) else {
            return;
        };
        // Bounds may name what they are of.
        if !self.parameters.insert(parameter.to_string()) {
            return;
        }
        self.bounds(&one.bounds);
        let clauses = generics.where_clause.iter().flat_map(|clause| &clause.predicates);
        for one in clauses {
            if let WherePredicate::Type(one) = one
                && matches!(&one.bounded_ty, Type::Path(path) if path.path.is_ident(parameter))
            {
                self.bounds(&one.bounds);
            }
        }
    }
}

impl<'ast> Visit<'ast> for Within<'_, '_> {
    fn visit_type(&mut self, given: &'ast Type) {
        match given {
            Type::Reference(_) => {}
            Type::ImplTrait(one) => self.bounds(&one.bounds),
            Type::TraitObject(one) => self.bounds(&one.bounds),
            other => visit::visit_type(self, other),
        }
    }

    fn visit_path_segment(&mut self, segment: &'ast syn::PathSegment) {
        let name = segment.ident.to_string();
        self.parameter(&segment.ident);
        match segment.ident == "Self" {
            true => match &self.self_type {
                Some(own) => self.is_certain |= self.keepers.is_certain(own),
                None => self.is_unknown = true,
            },
            false => self.is_certain |= self.keepers.is_certain(&name),
        }
        visit::visit_path_segment(self, segment);
    }
}
