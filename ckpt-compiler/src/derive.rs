//! `#[derive(Checkpoint)]`: the implementation of `ckpt::Checkpoint` for a struct or enum.
//!
//! Two steps: `attributes` reads the item into what is saved under which name, and reports every wrong attribute at
//! its place; `expand` writes the implementation and cannot fail.
//!
//! | on | attribute | meaning |
//! | --- | --- | --- |
//! | field | `#[ckpt(skip)]`, `#[ckpt(skip, default = "path")]` | not saved; `Default::default()` or `path()` after a restart |
//! | field | `#[ckpt(keep)]` | not saved; what the initialiser makes of it, which a restart executes again (`#[ckpt(refill)]`) |
//! | field | `#[ckpt(default)]`, `#[ckpt(default = "path")]` | the same when a checkpoint does not have the field yet |
//! | field | `#[ckpt(serde)]` | saved through serde, as text |
//! | field, variant | `#[ckpt(rename = "name")]` | its name in the file |
//! | field, variant | `#[ckpt(alias = "old")]` | another name under which it is found |
//! | item | `#[ckpt(crate = "path")]` | where the `ckpt` crate is |
//! | item | `#[ckpt(detector = "path")]` | a function that says of a `&Self` whether it is plausible; it is asked whenever one is saved |

mod attributes;
mod bounds;
mod expand;
mod fixed;
mod holds;
mod parts;
mod refill;

use proc_macro2::TokenStream;
use syn::DeriveInput;

/// Expands the derive for one item; errors become `compile_error!` at their place.
pub fn derive_checkpoint(input: TokenStream) -> TokenStream {
    let result = syn::parse2::<DeriveInput>(crate::parse::dialect::modern(input)).and_then(|input| {
        let item = attributes::read(&input)?;
        Ok(expand::expand(&input, &item))
    });
    result.unwrap_or_else(|error| error.to_compile_error())
}

/// What a type holds that may have a destructor, for one that no checkpoint holds.
pub fn derive_holds(input: TokenStream) -> TokenStream {
    let result = syn::parse2::<DeriveInput>(crate::parse::dialect::modern(input));
    result.map_or_else(
        |error| error.to_compile_error(),
        |input| holds::expand(&input, &syn::parse_quote!(::ckpt)),
    )
}

#[cfg(test)]
mod tests;
