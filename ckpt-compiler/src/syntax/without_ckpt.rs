//! Takes ckpt out of a function: attributes and sites.

use super::marks::Marks;
use crate::visit::{self, VisitMut};
use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::{ItemFn, parse_quote};

/// The function as it would be without ckpt: attributes and sites taken out.
pub fn without_ckpt(item: TokenStream) -> TokenStream {
    match syn::parse2::<ItemFn>(item.clone()) {
        Ok(mut function) => {
            Strip.visit_item_fn_mut(&mut function);
            function.to_token_stream()
        }
        Err(_) => item,
    }
}

/// A block without its sites.
pub fn without_sites(block: &syn::Block) -> syn::Block {
    let mut block = block.clone();
    Strip.visit_block_mut(&mut block);
    block
}

/// Takes ckpt out of a function.
pub struct Strip;
impl VisitMut for Strip {
    fn visit_attributes_mut(&mut self, attributes: &mut Vec<syn::Attribute>) {
        attributes.retain(|attribute| !attribute.path().is_ident("ckpt"));
    }
    fn visit_macro_mut(&mut self, mac: &mut syn::Macro) {
        if Marks::is_checkpoint(mac) {
            *mac = parse_quote!(::core::concat!());
        }
        visit::visit_macro_mut(self, mac);
    }
}
