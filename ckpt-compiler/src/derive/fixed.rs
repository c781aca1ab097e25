//! Whether nothing in a value of the type changes but by assignment to it: so it is where that holds of all of its fields, which
//! rustc is asked for only where somebody relies on it.

use std::collections::HashSet;

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{DeriveInput, parse_quote};

use super::holds::field_types;

pub(super) fn expand(input: &DeriveInput, ckpt: &syn::Path) -> TokenStream {
    let mut generics = input.generics.clone();
    let (_, arguments, _) = input.generics.split_for_impl();
    generics.params.insert(0, parse_quote!('__field));
    let predicates = &mut generics.make_where_clause().predicates;
    let mut seen = HashSet::new();
    // Each type once: of `fn(&f64) -> f64`, which is one for all lifetimes, rustc cannot choose between two such bounds.
    let types = field_types(&input.data);
    for ty in types
        .into_iter()
        .filter(|ty| seen.insert(ty.to_token_stream().to_string()))
    {
        // With a lifetime of the implementation, so that a field that is not is no mistake here.
        predicates.push(parse_quote!(#ckpt::__rt::Held<'__field, #ty>: #ckpt::__rt::Fixed));
    }
    let (parameters, _, predicates) = generics.split_for_impl();
    let name = &input.ident;
    quote! {
        #[automatically_derived]
        impl #parameters #ckpt::__rt::Fixed for #name #arguments #predicates {}
    }
}
