//! What an implementation for a generic type asks of its parameters: only of those that are really saved.

use crate::library::{Library, Types};
use std::collections::HashSet;

use crate::visit::{self, Visit};
use quote::ToTokens;
use syn::{Generics, Ident, Path, Type, TypePath, WherePredicate, parse_quote};

use super::attributes::{DefaultValue, Field, Item, Saved, Shape};

/// The item's generics with the predicates of the implementation added to the `where` clause.
pub(super) fn with_bounds(generics: &Generics, item: &Item) -> Generics {
    let ckpt = &item.ckpt;
    let mut bounded = generics.clone();
    let mut predicates: Vec<WherePredicate> = Vec::new();
    for field in item.fields() {
        let bound = match (field.saved, &field.default) {
            (Saved::Columns | Saved::Refilled | Saved::Parts | Saved::Through, _) => {
                Some(quote::quote!(#ckpt::Checkpoint))
            }
            (Saved::Serde, _) => Some(quote::quote!(#ckpt::value::SavedBySerde)),
            (Saved::Skipped | Saved::Kept, _) => None,
        };
        let parameters = parameters_in(&field.ty, generics);
        predicates.extend(
            bound
                .iter()
                .flat_map(|bound| parameters.iter().map(move |ty| parse_quote!(#ty: #bound))),
        );
        if matches!(field.default, Some(DefaultValue::Trait)) && !parameters.is_empty() {
            // The type as a whole: `Vec<T>` has a default whatever `T` has.
            let ty = &field.ty;
            predicates.push(parse_quote!(#ty: ::core::default::Default));
        }
    }
    if predicates.is_empty() {
        return bounded;
    }
    let mut seen = HashSet::new();
    predicates.retain(|predicate| seen.insert(predicate.to_token_stream().to_string()));
    bounded.make_where_clause().predicates.extend(predicates);
    bounded
}

impl Item {
    pub(super) fn fields(&self) -> impl Iterator<Item = &Field> {
        let (own, variants): (&[Field], &[_]) = match &self.shape {
            Shape::Struct(fields) => (fields, &[]),
            Shape::Enum(variants) => (&[], variants),
        };
        own.iter()
            .chain(variants.iter().flat_map(|variant| &variant.fields))
    }
}

/// The type parameters in `ty`, `T`, and the types that hang on them, `T::Item`.
fn parameters_in(ty: &Type, generics: &Generics) -> Vec<Type> {
    let mut search = Search {
        parameters: generics.type_params().map(|parameter| &parameter.ident).collect(),
        found: Vec::new(),
    };
    search.visit_type(ty);
    search.found
}

struct Search<'a> {
    parameters: HashSet<&'a Ident>,
    found: Vec<Type>,
}

impl<'ast> Visit<'ast> for Search<'_> {
    fn visit_type_path(&mut self, path: &'ast TypePath) {
        let first = path.path.segments.first();
        if path.qself.is_none() && first.is_some_and(|first| self.parameters.contains(&first.ident)) {
            self.found.push(Type::Path(path.clone()));
            return;
        }
        visit::visit_type_path(self, path);
    }

    fn visit_path(&mut self, path: &'ast Path) {
        // `PhantomData<T>` is saved whatever `T` is.
        if path
            .segments
            .last()
            .is_none_or(|last| !Library::builtin().says(&last.ident.to_string(), Types::Markers))
        {
            visit::visit_path(self, path);
        }
    }
}
