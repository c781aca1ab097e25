//! Types of a library that stand for something in it, as in MPI, or do not tell what they were made of, as patterns do: a restart
//! rebuilds them.

use crate::source::Program;
use ckpt_compiler::library::{Library, Types};
use ckpt_compiler::visit::{self, Visit};
use std::collections::BTreeSet;

/// Those that a program can mean.
#[derive(Debug)]
pub(crate) struct Handles<'l> {
    library: &'l Library,
    found: Found,
    /// Whether the program names something of a crate that has such types.
    are_used: bool,
}

impl<'l> Handles<'l> {
    /// None where the program imports nothing of its crate, or names it; a type of the program's own of that name is another.
    pub(crate) fn of(library: &'l Library, program: &Program) -> Self {
        let mut found = Found::default();
        program.files.iter().for_each(|file| found.visit_file(&file.ast));
        let are_used = { found.named.iter() }.any(|name| library.says(name, Types::HandleCrates));
        Self {
            library,
            found,
            are_used,
        }
    }

    /// Whether the type with this path is one, or a parameter that is a communicator.
    pub(crate) fn has(&self, path: &syn::Path, generics: &syn::Generics) -> bool {
        let Some(last) = path.segments.last() else {
            return false;
        };
        let name = last.ident.to_string();
        let is_handle = |name: &str| self.library.says(name, Types::HandleTraits);
        self.are_used && self.library.says(&name, Types::Handles) && !self.found.own.contains(&name)
            || path.segments.len() == 1 && has_bound(&last.ident, generics, &is_handle)
    }
}

#[derive(Debug, Default)]
struct Found {
    own: BTreeSet<String>,
    /// The names in the paths of what it imports, but for the last ones, and those that paths of types begin with.
    named: BTreeSet<String>,
}

impl<'ast> Visit<'ast> for Found {
    fn visit_use_path(&mut self, path: &'ast syn::UsePath) {
        self.named.insert(path.ident.to_string());
        visit::visit_use_path(self, path);
    }

    fn visit_type(&mut self, ty: &'ast syn::Type) {
        if let syn::Type::Path(path) = ty
            && let Some(first) = path.path.segments.first()
        {
            self.named.insert(first.ident.to_string());
        }
        visit::visit_type(self, ty);
    }

    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        self.own.insert(item.ident.to_string());
        visit::visit_item_struct(self, item);
    }

    fn visit_item_enum(&mut self, item: &'ast syn::ItemEnum) {
        self.own.insert(item.ident.to_string());
        visit::visit_item_enum(self, item);
    }
}

/// Whether a type parameter has a bound that ends with such a name.
pub(crate) fn has_bound(
    name: &syn::Ident,
    generics: &syn::Generics,
    is_meant: &dyn Fn(&str) -> bool,
) -> bool {
    let is_one = |bound: &syn::TypeParamBound| {
        matches!(bound, syn::TypeParamBound::Trait(one)
            if one.path.segments.last().is_some_and(|last| is_meant(&last.ident.to_string())))
    };
    let in_list = generics
        .type_params()
        .any(|parameter| parameter.ident == *name && parameter.bounds.iter().any(is_one));
    let in_clause = generics.where_clause.iter().flat_map(|clause| &clause.predicates);
    in_list
        || in_clause.into_iter().any(|predicate| {
            matches!(predicate, syn::WherePredicate::Type(one)
                if one.bounds.iter().any(is_one)
                    && matches!(&one.bounded_ty, syn::Type::Path(path) if path.path.is_ident(name)))
        })
}
