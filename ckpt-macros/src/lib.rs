//! The attribute and derive macros of ckpt.

use proc_macro::TokenStream;

/// Implements `ckpt::Checkpoint` for a struct or enum.
#[proc_macro_derive(Checkpoint, attributes(ckpt))]
pub fn derive_checkpoint(input: TokenStream) -> TokenStream {
    ckpt_compiler::derive::derive_checkpoint(input.into()).into()
}
