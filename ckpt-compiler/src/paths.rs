//! The paths of the runtime that generated code mentions. Nothing else in the compiler knows them.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;

/// `::ckpt::__rt`, below which everything lives that generated code may use.
pub fn rt() -> TokenStream {
    quote!(::ckpt::__rt)
}

/// `::ckpt::Checkpoint`, as a bound.
pub fn checkpoint() -> syn::TypeParamBound {
    syn::parse_quote!(::ckpt::Checkpoint)
}

/// The check of a type for destructors, as a statement at a place of the source.
pub fn check_dead(span: Span, kept: &proc_macro2::Ident) -> TokenStream {
    quote_spanned!(span => ::ckpt::__rt::check_dead!(#kept);)
}

/// The same where pointers that count as owners must not be missed either.
pub fn check_owners(span: Span, kept: &proc_macro2::Ident) -> TokenStream {
    quote_spanned!(span => ::ckpt::__rt::check_owners!(#kept);)
}

/// The check that nobody sees who drops a part of a value of which another part is taken.
pub fn check_apart(span: Span, kept: &proc_macro2::Ident, counts_owners: bool) -> TokenStream {
    match counts_owners {
        true => quote_spanned!(span => ::ckpt::__rt::check_apart!(owners #kept);),
        false => quote_spanned!(span => ::ckpt::__rt::check_apart!(#kept);),
    }
}

/// The check that nobody sees when a value without a name is dropped.
pub fn check_early(span: Span, value: &proc_macro2::Ident) -> TokenStream {
    quote_spanned!(span => ::ckpt::__rt::check_early!(#value);)
}

/// The place of something in the source, for generated code: errors stand there, while paths are read as ckpt's own
/// edition of Rust has them. (In the edition 2015 there is no `::core`.)
pub fn at(source: &impl Spanned) -> Span {
    source.span().resolved_at(Span::call_site())
}
