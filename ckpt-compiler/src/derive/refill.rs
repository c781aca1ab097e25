//! A struct with fields that are kept: it is rebuilt at a restart, and what was saved of it is filled in.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::Path;
use syn::spanned::Spanned;

use super::attributes::{Field, Item, Saved};
use super::expand::{default_value, detects, names_constant, save_one, saved};

pub(super) fn expand(item: &Item, fields: &[Field]) -> TokenStream {
    let ckpt = &item.ckpt;
    let detects = detects(item, &quote!(self));
    let saved: Vec<&Field> = saved(fields).collect();
    let (save, check) = if saved.is_empty() {
        (quote!(__to.unit();), quote!(__from.unit()?;))
    } else {
        let names = names_constant(&saved);
        let each = saved.iter().enumerate().map(|(index, field)| {
            let member = &field.member;
            save_one(ckpt, field, &quote!(&self.#member), &quote!(__to), index)
        });
        (quote!(#names #(#each)*), quote!())
    };
    // Content of one option may be in another one now.
    let may_move = fields.iter().filter(|field| field.saved == Saved::Parts).count() > 1;
    let each = fields.iter().map(|field| fill(ckpt, field, may_move));
    let moved = fields
        .iter()
        .filter(|_| may_move)
        .map(|field| fill_moved(ckpt, field));
    let put = fields.iter().filter_map(|field| put(ckpt, field));
    let homes = may_move.then(|| quote!(let mut __homes = #ckpt::value::Homes::new();));
    quote! {
        fn save_part(&self, __to: &mut #ckpt::value::Encoder<'_>) {
            #detects
            #save
        }
        fn refill(
            &mut self,
            __from: &mut #ckpt::value::Decoder<'_>,
        ) -> ::core::result::Result<(), #ckpt::value::LoadError> {
            #check
            #homes
            #(#each)*
            #(#moved)*
            #(#put)*
            ::core::result::Result::Ok(())
        }
    }
}

fn fill(ckpt: &Path, field: &Field, may_move: bool) -> TokenStream {
    let (member, names, ty) = (&field.member, &field.names, field.saved_type());
    let load = match field.saved {
        Saved::Kept => return TokenStream::new(),
        Saved::Skipped => {
            let value = default_value(field);
            return quote!(self.#member = #value;);
        }
        Saved::Serde => {
            quote_spanned!(ty.span()=> self.#member = #ckpt::value::load_serde::<#ty>(__from)?;)
        }
        Saved::Through => {
            quote_spanned!(ty.span()=> <#ty as #ckpt::value::Refill>::refill(&mut *self.#member, __from)?;)
        }
        Saved::Parts => {
            quote_spanned!(ty.span()=> <#ty as #ckpt::value::Parts<_>>::fill(&mut self.#member, __from)?;)
        }
        Saved::Refilled | Saved::Columns => {
            quote_spanned!(ty.span()=> <#ty as #ckpt::value::Refill>::refill(&mut self.#member, __from)?;)
        }
    };
    // A field that the file does not have holds what the initialiser made of it.
    let default = match &field.default {
        Some(_) => quote!(::core::option::Option::Some(&|| ())),
        None => quote!(::core::option::Option::None),
    };
    let filled = quote! {
        __from.field_with(
            &[#(#names),*],
            |__from| { #load ::core::result::Result::Ok(()) },
            #default,
        )
    };
    let name = &names[0];
    match (may_move, field.saved) {
        (true, Saved::Parts) => quote!(__homes.filled(#name, #filled)?;),
        _ => quote!(#filled?;),
    }
}

/// Fills an option with what was in another one.
fn fill_moved(ckpt: &Path, field: &Field) -> TokenStream {
    if field.saved != Saved::Parts {
        return TokenStream::new();
    }
    let (member, name, ty) = (&field.member, &field.names[0], &field.ty);
    quote_spanned! {ty.span()=>
        if let ::core::option::Option::Some(__other) = __homes.content_of(#name)? {
            __from.field_with(
                &[__other],
                |__from| <#ty as #ckpt::value::Parts<_>>::fill_from_other(&mut self.#member, __from),
                ::core::option::Option::None,
            )?;
        }
    }
}

/// Has fields change places until each has what it had, once all are filled.
fn put(ckpt: &Path, field: &Field) -> Option<TokenStream> {
    let (places, member) = (field.places.as_ref()?, &field.member);
    let put = match places.are_handles {
        true => quote!(put_handles),
        false => quote!(put),
    };
    let fields = &places.fields;
    Some(quote!(#ckpt::device::#put(&self.#member, [#(&mut self.#fields),*]);))
}
