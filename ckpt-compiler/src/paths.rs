//! The paths of the runtime that generated code mentions. Nothing else in the compiler knows them.

use proc_macro2::TokenStream;
use quote::quote;

/// `::ckpt::__rt`, below which everything lives that generated code may use.
pub fn rt() -> TokenStream {
    quote!(::ckpt::__rt)
}
