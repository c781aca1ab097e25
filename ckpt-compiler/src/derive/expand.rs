//! The implementation as tokens. Nothing can go wrong here any more.

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{DeriveInput, Ident, Path};

use super::attributes::{DefaultValue, EnumVariant, Field, Item, Saved, Shape};
use super::bounds;
use super::holds::may_have_a_destructor;
use crate::paths::at;

pub(super) fn expand(input: &DeriveInput, item: &Item) -> TokenStream {
    let generics = bounds::with_bounds(&input.generics, item);
    let (parameters, _, predicates) = generics.split_for_impl();
    let (_, arguments, _) = input.generics.split_for_impl();
    let (name, ckpt) = (&input.ident, &item.ckpt);
    let is_refilled = matches!(&item.shape, Shape::Struct(fields) if fields.iter().any(Field::is_rebuilt));
    let methods = match &item.shape {
        Shape::Struct(fields) if is_refilled => super::refill::expand(item, fields),
        Shape::Struct(fields) => of_struct(item, fields),
        Shape::Enum(variants) if variants.is_empty() => of_never(ckpt),
        Shape::Enum(variants) => of_enum(item, variants),
    };
    let parts = super::parts::expand(input, item, &generics);
    let holds = super::holds::expand(input, ckpt);
    let fixed = super::fixed::expand(input, ckpt);
    let reach = (!is_refilled).then(|| reach(ckpt, item));
    let bits = (!is_refilled).then(|| bits(ckpt, item));
    let is_fixed = (!is_refilled).then(|| is_fixed(name, ckpt, item));
    let of_trait = if is_refilled {
        quote!(#ckpt::value::Refill)
    } else {
        quote!(#ckpt::Checkpoint)
    };
    let made_again = is_refilled.then(|| {
        quote! {
            #[automatically_derived]
            impl #parameters #ckpt::value::MadeAgain for #name #arguments #predicates {}
        }
    });
    quote! {
        #[automatically_derived]
        impl #parameters #of_trait for #name #arguments #predicates {
            #bits
            #is_fixed
            #methods
            #reach
        }
        #made_again
        #parts
        #holds
        #fixed
    }
}

/// Has the item's detector say whether a value is plausible, if it has one.
pub(super) fn detects(item: &Item, value: &TokenStream) -> TokenStream {
    let Some(path) = &item.detector else {
        return TokenStream::new();
    };
    let name = path.to_token_stream().to_string().replace(' ', "");
    // Where it is no such function, the error stands under its name.
    quote_spanned! { path.span()=>
        let __is_plausible: fn(&Self) -> bool = #path;
        __to.detects(#name, || __is_plausible(#value));
    }
}

fn of_struct(item: &Item, fields: &[Field]) -> TokenStream {
    let ckpt = &item.ckpt;
    let detects_one = detects(item, &quote!(self));
    let detects_each = match detects(item, &quote!(__item)) {
        none if none.is_empty() => none,
        detects => quote! {
            for __item in ::core::clone::Clone::clone(&__items) {
                #detects
            }
        },
    };
    let saved: Vec<&Field> = saved(fields).collect();
    if saved.is_empty() {
        let defaults = fields.iter().map(|field| initialise(field, default_value(field)));
        return quote! {
            fn save(&self, __to: &mut #ckpt::value::Encoder<'_>) {
                #detects_one
                __to.unit();
            }
            fn load(__from: &mut #ckpt::value::Decoder<'_>) -> ::core::result::Result<Self, #ckpt::value::LoadError> {
                __from.unit()?;
                ::core::result::Result::Ok(Self { #(#defaults),* })
            }
        };
    }
    let names = names_constant(&saved);
    let save = saved.iter().enumerate().map(|(index, field)| {
        let member = &field.member;
        save_one(ckpt, field, &quote!(&self.#member), &quote!(__to), index)
    });
    let save_each = saved
        .iter()
        .enumerate()
        .map(|(index, field)| save_each(ckpt, field, index));
    let load = fields
        .iter()
        .map(|field| initialise(field, load_one(ckpt, field, &quote!(__from))));
    let load_vec = load_vec(ckpt, fields);
    quote! {
        fn save(&self, __to: &mut #ckpt::value::Encoder<'_>) {
            #detects_one
            #names
            #(#save)*
        }
        fn load(__from: &mut #ckpt::value::Decoder<'_>) -> ::core::result::Result<Self, #ckpt::value::LoadError> {
            ::core::result::Result::Ok(Self { #(#load),* })
        }
        fn save_each<'__item, __I>(__items: __I, __to: &mut #ckpt::value::Encoder<'_>)
        where
            Self: '__item,
            __I: ::core::iter::Iterator<Item = &'__item Self> + ::core::clone::Clone,
        {
            #detects_each
            #names
            #(#save_each)*
        }
        #load_vec
    }
}

/// Whether a copy of a value's bits can stand for it while it is looked at: so it is with all of its fields. Of types that
/// say nothing, those of fields that are skipped or texts of serde, nothing is known.
fn bits(ckpt: &Path, item: &Item) -> TokenStream {
    if item.fields().any(|field| field.saved != Saved::Columns) {
        return TokenStream::new();
    }
    let parts = types_of(item.fields())
        .into_iter()
        .map(|ty| quote_spanned!(ty.span()=> && <#ty as #ckpt::Checkpoint>::BITS));
    quote!(const BITS: bool = true #(#parts)*;)
}

/// Whether nothing in a value changes through a shared reference: so it is with what all of its fields are made of. It is asked only
/// of types that have none of the program's in them, which may lead back to this one.
fn is_fixed(name: &Ident, ckpt: &Path, item: &Item) -> TokenStream {
    let types = types_of(item.fields());
    let is_known = |ty: &&syn::Type| !mentions(ty.to_token_stream(), name) && !may_have_a_destructor(ty);
    if !types.iter().all(is_known) || item.fields().any(|field| field.saved != Saved::Columns) {
        return TokenStream::new();
    }
    let parts = types
        .into_iter()
        .map(|ty| quote_spanned!(ty.span()=> && <#ty as #ckpt::Checkpoint>::FIXED));
    quote!(const FIXED: bool = true #(#parts)*;)
}

fn mentions(tokens: TokenStream, name: &Ident) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Group(group) => mentions(group.stream(), name),
        TokenTree::Ident(ident) => ident == *name,
        _ => false,
    })
}

/// The types of fields, each once.
fn types_of<'item>(fields: impl Iterator<Item = &'item Field>) -> Vec<&'item syn::Type> {
    let mut types: Vec<&syn::Type> = Vec::new();
    for field in fields {
        if !types.contains(&&field.ty) {
            types.push(&field.ty);
        }
    }
    types
}

/// The types that values of this one have in them, and whether they have a destructor of their own. Fields that are texts of serde
/// have no columns, whatever is in them.
fn reach(ckpt: &Path, item: &Item) -> TokenStream {
    let parts = types_of(item.fields().filter(|field| field.saved == Saved::Columns))
        .into_iter()
        .map(|ty| quote_spanned!(ty.span()=> <#ty as #ckpt::Checkpoint>::reach_part(__to);));
    let others = types_of(item.fields().filter(|field| field.saved != Saved::Columns))
        .into_iter()
        .map(|ty| quote_spanned!(ty.span()=> __to.beside::<#ty>();));
    quote! {
        fn reach(__to: &mut #ckpt::value::Reach) {
            use #ckpt::value::NoDestructor as _;
            __to.has_destructor(<#ckpt::value::Destructor<Self>>::IS_THERE);
            #(#parts)*
            #(#others)*
        }
    }
}

/// Many structs: every field in one go, then put together.
fn load_vec(ckpt: &Path, fields: &[Field]) -> TokenStream {
    let columns: Vec<(Ident, &Field)> = saved(fields)
        .enumerate()
        .map(|(index, field)| (format_ident!("__column{index}"), field))
        .collect();
    let read = columns.iter().map(|(column, field)| {
        let (names, ty) = (&field.names, &field.ty);
        let method = if field.saved == Saved::Serde {
            quote!(serde_fields)
        } else {
            quote!(fields)
        };
        let default = match &field.default {
            Some(_) => {
                let value = default_value(field);
                quote!(::core::option::Option::Some(&|| -> #ty { #value }))
            }
            None => quote!(::core::option::Option::None),
        };
        let read =
            quote_spanned!(field.ty.span()=> __from.#method::<#ty>(&[#(#names),*], __count, #default)?);
        quote!(let mut #column = ::core::iter::IntoIterator::into_iter(#read);)
    });
    let values = fields.iter().map(|field| {
        let value = match columns.iter().find(|(_, saved)| std::ptr::eq(*saved, field)) {
            Some((column, _)) => quote!(#ckpt::value::next_of(&mut #column)?),
            None => default_value(field),
        };
        initialise(field, value)
    });
    quote! {
        fn load_vec(
            __from: &mut #ckpt::value::Decoder<'_>,
            __count: usize,
        ) -> ::core::result::Result<::std::vec::Vec<Self>, #ckpt::value::LoadError> {
            #(#read)*
            // The columns have as many values as this.
            let mut __all = ::std::vec::Vec::with_capacity(__count);
            for _ in 0..__count {
                __all.push(Self { #(#values),* });
            }
            ::core::result::Result::Ok(__all)
        }
    }
}

fn of_enum(item: &Item, variants: &[EnumVariant]) -> TokenStream {
    let ckpt = &item.ckpt;
    let detects = detects(item, &quote!(self));
    let plain = variants.iter().all(|variant| variant.fields.is_empty());
    let names = variants.iter().map(|variant| &variant.names[0]);
    let children = variants.iter().map(|variant| &variant.names[0]);
    let children = (!plain).then(|| {
        quote! {
            const __CHILDREN: &[::std::borrow::Cow<'static, str>] =
                &[::std::borrow::Cow::Borrowed("variant"), #(::std::borrow::Cow::Borrowed(#children)),*];
        }
    });
    let constants = quote! {
        const __NAMES: &[::std::borrow::Cow<'static, str>] = &[#(::std::borrow::Cow::Borrowed(#names)),*];
        #children
    };
    let save = variants
        .iter()
        .enumerate()
        .map(|(number, variant)| save_variant(ckpt, variant, number, plain));
    let known = variants.iter().map(|variant| {
        let names = &variant.names;
        quote!(&[#(#names),*])
    });
    let load = variants
        .iter()
        .enumerate()
        .map(|(number, variant)| load_variant(ckpt, variant, number));
    quote! {
        fn save(&self, __to: &mut #ckpt::value::Encoder<'_>) {
            #detects
            #constants
            match self {
                #(#save)*
            }
        }
        fn load(__from: &mut #ckpt::value::Decoder<'_>) -> ::core::result::Result<Self, #ckpt::value::LoadError> {
            #[allow(unused_mut, unused_variables)]
            let (__number, mut __payload) = __from.variant(&[#(#known),*])?;
            match __number {
                #(#load)*
                _ => ::core::result::Result::Err(#ckpt::value::LoadError::invalid("there is no such variant")),
            }
        }
    }
}

fn save_variant(ckpt: &Path, variant: &EnumVariant, number: usize, plain: bool) -> TokenStream {
    let ident = &variant.ident;
    if plain {
        return quote!(Self::#ident { .. } => __to.plain_variant(__NAMES, #number),);
    }
    let saved: Vec<&Field> = saved(&variant.fields).collect();
    if saved.is_empty() {
        return quote!(Self::#ident { .. } => { __to.variant(__NAMES, __CHILDREN, #number); });
    }
    let bindings: Vec<Ident> = (0..saved.len())
        .map(|index| format_ident!("__field{index}"))
        .collect();
    let members = saved.iter().map(|field| &field.member);
    let names = names_constant(&saved);
    let save = saved
        .iter()
        .zip(&bindings)
        .enumerate()
        .map(|(index, (field, binding))| save_one(ckpt, field, &quote!(#binding), &quote!(__payload), index));
    quote! {
        Self::#ident { #(#members: #bindings,)* .. } => {
            let mut __payload = __to.variant(__NAMES, __CHILDREN, #number);
            #names
            #(#save)*
        }
    }
}

fn load_variant(ckpt: &Path, variant: &EnumVariant, number: usize) -> TokenStream {
    let ident = &variant.ident;
    let payload = saved(&variant.fields)
        .next()
        .map(|_| quote!(let __payload = #ckpt::value::payload_of(&mut __payload)?;));
    let load = variant
        .fields
        .iter()
        .map(|field| initialise(field, load_one(ckpt, field, &quote!(__payload))));
    quote! {
        #number => {
            #payload
            ::core::result::Result::Ok(Self::#ident { #(#load),* })
        }
    }
}

/// An enum without variants has no values.
fn of_never(ckpt: &Path) -> TokenStream {
    quote! {
        fn save(&self, _: &mut #ckpt::value::Encoder<'_>) {
            match *self {}
        }
        fn load(_: &mut #ckpt::value::Decoder<'_>) -> ::core::result::Result<Self, #ckpt::value::LoadError> {
            ::core::result::Result::Err(#ckpt::value::LoadError::invalid("the type has no values"))
        }
    }
}

pub(super) fn saved(fields: &[Field]) -> impl Iterator<Item = &Field> {
    fields.iter().filter(|field| field.is_saved())
}

pub(super) fn names_constant(saved: &[&Field]) -> TokenStream {
    let names = saved.iter().map(|field| &field.names[0]);
    quote!(const __FIELDS: &[::std::borrow::Cow<'static, str>] = &[#(::std::borrow::Cow::Borrowed(#names)),*];)
}

/// `value` is a reference to the field, `to` the encoder of the struct.
pub(super) fn save_one(
    ckpt: &Path,
    field: &Field,
    value: &TokenStream,
    to: &TokenStream,
    index: usize,
) -> TokenStream {
    let ty = field.saved_type();
    // The type's span: where it is not `Checkpoint`, the error stands under it.
    let to = quote!(&mut #to.field(__FIELDS, #index));
    match field.saved {
        Saved::Serde => quote_spanned!(ty.span()=> #ckpt::value::save_serde::<#ty>(#value, #to);),
        Saved::Through => {
            quote_spanned!(ty.span()=> <#ty as #ckpt::value::Refill>::save_part(&**#value, #to);)
        }
        Saved::Refilled => {
            quote_spanned!(ty.span()=> <#ty as #ckpt::value::Refill>::save_part(#value, #to);)
        }
        Saved::Parts => {
            quote_spanned!(ty.span()=> <#ty as #ckpt::value::Parts<_>>::save_parts(#value, #to);)
        }
        _ => quote_spanned!(ty.span()=> <#ty as #ckpt::Checkpoint>::save(#value, #to);),
    }
}

fn save_each(ckpt: &Path, field: &Field, index: usize) -> TokenStream {
    let (ty, member) = (&field.ty, &field.member);
    let items =
        quote!(::core::iter::Iterator::map(::core::clone::Clone::clone(&__items), |__item| &__item.#member));
    if field.saved == Saved::Serde {
        quote_spanned!(ty.span()=> #ckpt::value::save_serde_each::<#ty>(#items, &mut __to.field(__FIELDS, #index));)
    } else {
        quote_spanned!(ty.span()=> <#ty as #ckpt::Checkpoint>::save_each(#items, &mut __to.field(__FIELDS, #index));)
    }
}

fn load_one(ckpt: &Path, field: &Field, from: &TokenStream) -> TokenStream {
    if field.saved == Saved::Skipped {
        return default_value(field);
    }
    let (names, ty) = (&field.names, &field.ty);
    let load = match field.saved {
        Saved::Serde => quote_spanned!(ty.span()=> #ckpt::value::load_serde::<#ty>),
        _ => quote_spanned!(ty.span()=> <#ty as #ckpt::Checkpoint>::load),
    };
    let default = match &field.default {
        Some(_) => {
            let value = default_value(field);
            quote!(::core::option::Option::Some(&|| -> #ty { #value }))
        }
        None => quote!(::core::option::Option::None),
    };
    quote!(#from.field_with(&[#(#names),*], #load, #default)?)
}

pub(super) fn default_value(field: &Field) -> TokenStream {
    let ty = &field.ty;
    match &field.default {
        Some(DefaultValue::Call(path)) => quote!(#path()),
        _ => quote_spanned!(at(ty)=> <#ty as ::core::default::Default>::default()),
    }
}

fn initialise(field: &Field, value: TokenStream) -> TokenStream {
    let member = &field.member;
    let member = match member {
        syn::Member::Named(ident) => syn::Member::Named(ident.clone()),
        syn::Member::Unnamed(index) => syn::Member::Unnamed(syn::Index {
            index: index.index,
            span: Span::call_site(),
        }),
    };
    quote!(#member: #value)
}
