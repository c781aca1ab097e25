//! The paths of the runtime that generated code mentions. Nothing else in the compiler knows them.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};

/// `::ckpt::__rt`, below which everything lives that generated code may use.
pub fn rt() -> TokenStream {
    quote!(::ckpt::__rt)
}

/// `::ckpt::Checkpoint`, as a bound.
pub fn checkpoint() -> syn::TypeParamBound {
    syn::parse_quote!(::ckpt::Checkpoint)
}

/// The check of a type for destructors, as a statement at a place of the source.
pub fn check_dead(span: proc_macro2::Span, kept: &proc_macro2::Ident) -> TokenStream {
    quote_spanned!(span => ::ckpt::__rt::check_dead!(#kept);)
}
