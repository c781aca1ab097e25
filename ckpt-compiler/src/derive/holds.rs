//! Which types the fields of an item have: a value that no one uses any more may have a destructor in one of them.

use crate::visit::{self, Visit};
use proc_macro2::TokenStream;
use quote::quote;
use std::collections::HashSet;
use syn::{Data, DeriveInput, Type, parse_quote};

use crate::library::{Library, Types};
use crate::syntax::language::is_primitive_type;

/// How many types are distinguished at one level.
const WIDTH: usize = 4;

pub(super) fn expand(input: &DeriveInput, ckpt: &syn::Path) -> TokenStream {
    let mut types: Vec<Type> = Vec::new();
    for ty in field_types(&input.data) {
        if may_have_a_destructor(ty) && !types.contains(ty) {
            types.push(ty.clone());
        }
    }
    if types.is_empty() {
        return TokenStream::new();
    }
    while types.len() > WIDTH {
        let groups = types.chunks(WIDTH);
        types = groups.map(|group| parse_quote!((#(#group,)*))).collect();
    }
    types.resize(WIDTH, parse_quote!(()));
    let (parameters, arguments, predicates) = input.generics.split_for_impl();
    let name = &input.ident;
    quote! {
        #[automatically_derived]
        impl #parameters #ckpt::__rt::Holds<#(#types),*> for #name #arguments #predicates {}
    }
}

pub(super) fn field_types(data: &Data) -> Vec<&Type> {
    match data {
        Data::Struct(one) => one.fields.iter().map(|field| &field.ty).collect(),
        Data::Enum(one) => {
            let fields = one.variants.iter().flat_map(|variant| &variant.fields);
            fields.map(|field| &field.ty).collect()
        }
        Data::Union(_) => Vec::new(),
    }
}

/// Whether the type is not made of numbers, texts and the standard library's collections alone. What counts as an owner
/// matters to those who ask for that.
pub(super) fn may_have_a_destructor(ty: &Type) -> bool {
    /// Names, each with whether it has arguments: `Cell` without any is none of the standard library's.
    struct Names(HashSet<(String, bool)>);
    impl<'ast> Visit<'ast> for Names {
        fn visit_path_segment(&mut self, segment: &'ast syn::PathSegment) {
            let name = segment.ident.to_string();
            self.0.insert((name, !segment.arguments.is_none()));
            visit::visit_path_segment(self, segment);
        }
    }
    let mut names = Names(HashSet::new());
    names.visit_type(ty);
    let has_parts = !matches!(
        ty,
        Type::Reference(_) | Type::Ptr(_) | Type::BareFn(_) | Type::Never(_)
    );
    let library = Library::builtin();
    let is_inert = |(name, has_arguments): &(String, bool)| {
        let is_around = library.says(name, Types::InertAround) && !library.says(name, Types::Counted);
        let is_module = library.says(name, Types::Modules);
        is_primitive_type(name)
            || library.says(name, Types::Inert)
            || is_module
            || *has_arguments && is_around
    };
    has_parts && !names.0.iter().all(is_inert)
}
