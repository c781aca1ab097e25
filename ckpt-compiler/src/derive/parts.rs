//! The struct taken apart: every field borrowed for itself, so that a call can have one of them exclusively while the
//! others can still be saved.

use proc_macro2::TokenStream;
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{DeriveInput, Fields, Member};

use super::attributes::{Field, Item, Saved, Shape};
use super::expand::{names_constant, save_one, saved};

pub(super) fn expand(input: &DeriveInput, item: &Item, bounded: &syn::Generics) -> TokenStream {
    let (Shape::Struct(fields), syn::Data::Struct(data)) = (&item.shape, &input.data) else {
        return TokenStream::new();
    };
    let saved_fields: Vec<&Field> = saved(fields).collect();
    // What lives behind a reference of the struct is no part of it that could be lent by itself.
    if saved_fields.is_empty() || fields.iter().any(|field| field.saved == Saved::Through) {
        return TokenStream::new();
    }
    let ckpt = &item.ckpt;
    let (name, parts) = (&input.ident, format_ident!("{}Parts", input.ident));
    let (_, arguments, _) = input.generics.split_for_impl();
    let mut with_lifetime = bounded.clone();
    with_lifetime.params.insert(0, syn::parse_quote!('__ckpt));
    let (parts_parameters, parts_arguments, predicates) = with_lifetime.split_for_impl();
    let (parameters, _, own_predicates) = bounded.split_for_impl();
    let definition = definition(&parts, fields, &data.fields, &with_lifetime);
    let taken = fields.iter().map(|field| {
        let member = &field.member;
        quote!(#member: ::core::option::Option::Some(&mut self.#member))
    });
    let names = names_constant(&saved_fields);
    let save = saved_fields.iter().enumerate().map(|(index, field)| {
        let member = &field.member;
        let save = save_one(ckpt, field, &quote!(__value), &quote!(__to), index);
        quote!(if let ::core::option::Option::Some(__value) = &self.#member { let __value = &**__value; #save })
    });
    let objects = saved_fields
        .iter()
        .filter(|field| field.saved == Saved::Columns)
        .map(|field| {
            let (member, ty) = (member_name(field), field.saved_type());
            quote_spanned!(ty.span()=> #member => <#ty as #ckpt::Checkpoint>::OBJECTS)
        });
    let places = saved_fields.iter().enumerate().map(|(index, field)| {
        let member = member_name(field);
        quote!(#member => ::core::option::Option::Some(#index))
    });
    quote! {
        const _: () = {
            #definition
            #[automatically_derived]
            impl #parts_parameters #ckpt::__rt::SaveParts for #parts #parts_arguments #predicates {
                fn save_parts(&self, __to: &mut #ckpt::value::Encoder<'_>) {
                    #names
                    let _ = __to.field(__FIELDS, 0);
                    #(#save)*
                }
                fn index(__field: &str) -> ::core::option::Option<usize> {
                    match __field {
                        #(#places,)*
                        _ => ::core::option::Option::None,
                    }
                }
                fn objects(__field: &str) -> ::core::option::Option<&'static #ckpt::__rt::DynTable> {
                    match __field {
                        #(#objects,)*
                        _ => ::core::option::Option::None,
                    }
                }
            }
            #[automatically_derived]
            impl #parameters #ckpt::__rt::Split for #name #arguments #own_predicates {
                type Parts<'__ckpt> = #parts #parts_arguments where Self: '__ckpt;
                fn split(&mut self) -> Self::Parts<'_> {
                    #parts { #(#taken),* }
                }
            }
        };
    }
}

fn member_name(field: &Field) -> String {
    match &field.member {
        Member::Named(ident) => ident.to_string(),
        Member::Unnamed(number) => number.index.to_string(),
    }
}

/// The fields keep the visibility that they have in the user's struct.
fn definition(
    parts: &syn::Ident,
    fields: &[Field],
    written: &Fields,
    generics: &syn::Generics,
) -> TokenStream {
    let (parameters, _, predicates) = generics.split_for_impl();
    let declared = fields.iter().zip(written).map(|(field, written)| {
        let (visibility, ty) = (&written.vis, &field.ty);
        match &field.member {
            Member::Named(ident) => {
                quote!(#visibility #ident: ::core::option::Option<&'__ckpt mut #ty>)
            }
            Member::Unnamed(_) => quote!(#visibility ::core::option::Option<&'__ckpt mut #ty>),
        }
    });
    match written {
        Fields::Named(_) => quote! {
            #[allow(dead_code)]
            pub struct #parts #parameters #predicates { #(#declared),* }
        },
        _ => quote! {
            #[allow(dead_code)]
            pub struct #parts #parameters (#(#declared),*) #predicates;
        },
    }
}
