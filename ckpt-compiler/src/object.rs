//! `#[ckpt::object(TypeA, TypeB)]` on a trait: `ckpt::Checkpoint` for its trait objects.
//!
//! The attribute lists the types that implement the trait. A value behind `dyn Trait` is saved under the name of its
//! type, and at a restart a value of the type of that name is made. The trait gets one supertrait, through which the
//! type of a value can be asked for; nothing else of it changes.
//!
//! An implementor that the list lacks is an error of rustc at its `impl`. A list that ends in `..` lets others be: crates that
//! the trait's cannot name list theirs with `ckpt::object!`, and a checkpoint that meets one which nobody has listed is refused.

use crate::diagnostics::{Diagnostics, Refusal};
use crate::paths::at;
use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use std::collections::HashMap;
use syn::parse::{Parse, ParseStream};
use syn::spanned::Spanned;
use syn::{Ident, ItemTrait, Token, TraitItem, Type, parse_quote};

/// Expands the attribute. Errors come out as `compile_error!`, next to the trait as it would be without ckpt.
pub fn object(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let item = crate::parse::dialect::modern(item);
    match read(arguments, item.clone()) {
        Ok((list, mut item)) => expand(&list, &mut item),
        Err(errors) => {
            let messages = errors.to_tokens();
            quote!(#messages #item)
        }
    }
}

fn read(arguments: TokenStream, item: TokenStream) -> Result<(List, ItemTrait), Diagnostics> {
    let mut errors = Diagnostics::default();
    let list = syn::parse2::<List>(arguments).map_err(|error| errors.syntax(&error));
    let Ok(item) = syn::parse2::<ItemTrait>(item.clone()) else {
        errors.refuse(item.span(), Refusal::ObjectOfNoTrait);
        return Err(errors);
    };
    let Ok(list) = list else { return Err(errors) };
    refuse(&list, &item, &mut errors);
    errors.propagate()?;
    Ok((list, item))
}

/// What the attribute says.
struct List {
    types: Vec<Type>,
    /// Whether there may be other implementors.
    open: bool,
    /// Where something else than a list of types goes on.
    unread: Option<Span>,
}

impl Parse for List {
    fn parse(input: ParseStream) -> syn::Result<Self> {
        let mut list = List {
            types: Vec::new(),
            open: false,
            unread: None,
        };
        while !input.is_empty() {
            if input.parse::<Option<Token![..]>>()?.is_some() {
                list.open = true;
                break;
            }
            list.types.push(input.parse()?);
            if input.parse::<Option<Token![,]>>()?.is_none() {
                break;
            }
        }
        if !input.is_empty() {
            list.unread = Some(input.span());
            input.parse::<TokenStream>()?;
        }
        Ok(list)
    }
}

fn refuse(list: &List, item: &ItemTrait, errors: &mut Diagnostics) {
    let name = &item.ident;
    if let Some(place) = list.unread {
        errors.refuse(place, Refusal::TypesExpected);
        return;
    }
    if list.types.is_empty() && !list.open {
        errors.refuse(
            name.span(),
            Refusal::ObjectWithoutTypes {
                name: name.to_string(),
            },
        );
    }
    if !item.generics.params.is_empty() {
        errors.refuse(item.generics.span(), Refusal::ObjectOfGenericTrait);
    }
    for part in &item.items {
        if let TraitItem::Type(associated) = part
            && !needs_size(&associated.generics)
        {
            errors.refuse(associated.ident.span(), Refusal::ObjectWithAssociatedType);
        }
    }
}

/// `where Self: Sized`
fn needs_size(generics: &syn::Generics) -> bool {
    let predicates = generics.where_clause.iter().flat_map(|clause| &clause.predicates);
    predicates.into_iter().any(|predicate| {
        predicate
            .to_token_stream()
            .to_string()
            .starts_with("Self : Sized")
    })
}

fn expand(list: &List, item: &mut ItemTrait) -> TokenStream {
    let rt = crate::paths::rt();
    let marker = format_ident!("{}ListedForCkpt", item.ident);
    item.supertraits.push(if list.open {
        parse_quote!(#rt::Object)
    } else {
        parse_quote!(#marker)
    });
    item.colon_token.get_or_insert_default();
    let listed = (!list.open).then(|| listed(list, item, &marker));
    let implementation = implementation(list, item);
    quote! {
        #item
        #listed
        #[automatically_derived]
        const _: () = { #implementation };
    }
}

/// What only the types of the list implement: any other implementor of the trait is an error.
fn listed(list: &List, item: &ItemTrait, marker: &Ident) -> TokenStream {
    let rt = crate::paths::rt();
    let (visibility, types) = (&item.vis, &list.types);
    let names = names(types).join(", ");
    let message = format!(
        "`{{Self}}` implements `{}` and is not in the list of its `#[ckpt::object(..)]`",
        item.ident
    );
    let label = "not in the list";
    let note = format!(
        "add it: `#[ckpt::object({names}, {{Self}})]`; with `..` instead, others may implement the trait, and are refused when a checkpoint meets them"
    );
    quote! {
        #[doc(hidden)]
        #[diagnostic::on_unimplemented(message = #message, label = #label, note = #note)]
        #visibility trait #marker: #rt::Object {}
        #(impl #marker for #types {})*
    }
}

fn implementation(list: &List, item: &ItemTrait) -> TokenStream {
    let rt = crate::paths::rt();
    let (name, types) = (&item.ident, &list.types);
    let text = name.to_string();
    let names = names(types);
    // The type's span: where it is not `Checkpoint`, the error stands under it.
    let entries = types
        .iter()
        .map(|ty| quote_spanned!(ty.span()=> #rt::DynType::of::<#ty>()));
    let markers = [
        quote!(),
        quote!(+ ::core::marker::Send),
        quote!(+ ::core::marker::Sync),
        quote!(+ ::core::marker::Send + ::core::marker::Sync),
    ];
    let bounds: [&[&str]; 4] = [&[], &["SendIn"], &["SyncIn"], &["SendIn", "SyncIn"]];
    let forms = markers.iter().zip(bounds).map(|(markers, bounds)| {
        let object = quote!(dyn #name #markers);
        form(types, &object, bounds)
    });
    // Other crates may implement it, and list their types themselves.
    let of = match list.open {
        true => quote!(::core::option::Option::Some(::core::any::TypeId::of::<dyn #name>)),
        false => quote!(::core::option::Option::None),
    };
    quote! {
        const __TYPES: &#rt::DynTable = &#rt::DynTable {
            name: #text,
            names: &[#(::std::borrow::Cow::Borrowed(#names)),*],
            children: &[::std::borrow::Cow::Borrowed("variant"), #(::std::borrow::Cow::Borrowed(#names)),*],
            types: &[#(#entries),*],
            late: &[],
            of: #of,
        };
        #(#forms)*
    }
}

/// The implementations for `dyn Trait` with one set of auto traits. `bounds`: the auto traits as bounds that need not
/// hold; a type of the list that is not `Send` only takes `Box<dyn Trait + Send>` away.
fn form(types: &[Type], object: &TokenStream, bounds: &[&str]) -> TokenStream {
    let rt = crate::paths::rt();
    let span = Span::mixed_site();
    let bounds: Vec<TokenStream> = bounds
        .iter()
        .flat_map(|bound| {
            let bound = Ident::new(bound, span);
            let rt = &rt;
            types
                .iter()
                .map(move |ty| quote!(for<'__any> #ty: #rt::#bound<'__any>))
        })
        .collect();
    // Any of them does: there is no value.
    let (dead, dead_sync) = match types.first() {
        Some(first) => (
            quote!(::core::option::Option::Some(::std::rc::Weak::<#first>::new())),
            quote!(::core::option::Option::Some(::std::sync::Weak::<#first>::new())),
        ),
        None => (quote!(#rt::dead_object()), quote!(#rt::dead_object_sync())),
    };
    let makes = types.iter().map(|ty| {
        quote_spanned! {at(ty)=> |__from| {
            let __value = <#ty as ::ckpt::Checkpoint>::load(__from)?;
            ::core::result::Result::Ok(::std::boxed::Box::new(__value))
        }}
    });
    quote! {
        impl ::ckpt::Checkpoint for #object {
            fn save(&self, __to: &mut ::ckpt::value::Encoder<'_>) {
                #rt::save_object(self, self, __TYPES, __to);
            }
        }
        impl ::ckpt::Checkpoint for ::std::boxed::Box<#object> where #(#bounds),* {
            const OBJECTS: ::core::option::Option<&'static #rt::DynTable> = ::core::option::Option::Some(__TYPES);
            fn save(&self, __to: &mut ::ckpt::value::Encoder<'_>) {
                #rt::save_boxed(self, __to, |__value, __to| ::ckpt::Checkpoint::save(&**__value, __to));
            }
            fn load(
                __from: &mut ::ckpt::value::Decoder<'_>,
            ) -> ::core::result::Result<Self, ::ckpt::value::LoadError> {
                #rt::load_boxed(__from, |__from| {
                    let __make: &[#rt::MakeObject<Self>] = &[#(#makes),*];
                    #rt::load_object(__TYPES, __make, __from)
                })
            }
            fn reach(__to: &mut ::ckpt::value::Reach) {
                #rt::reach_objects(__TYPES, __to);
            }
        }
        impl #rt::Pointee for #object where #(#bounds),* {
            fn save_pointee(&self, __to: &mut ::ckpt::value::Encoder<'_>) {
                ::ckpt::Checkpoint::save(self, __to);
            }
            fn load_pointee(
                __from: &mut ::ckpt::value::Decoder<'_>,
            ) -> ::core::result::Result<::std::boxed::Box<Self>, ::ckpt::value::LoadError> {
                <::std::boxed::Box<#object> as ::ckpt::Checkpoint>::load(__from)
            }
            fn dead() -> ::core::option::Option<::std::rc::Weak<Self>> {
                #dead
            }
            fn dead_sync() -> ::core::option::Option<::std::sync::Weak<Self>> {
                #dead_sync
            }
        }
    }
}

/// The types' names in the file: without the path where that is enough to tell them apart.
fn names(types: &[Type]) -> Vec<String> {
    let mut short: HashMap<String, usize> = HashMap::new();
    for ty in types {
        *short.entry(short_name(ty)).or_default() += 1;
    }
    let name = |ty: &Type| {
        let name = short_name(ty);
        if short[&name] > 1 { full_name(ty) } else { name }
    };
    types.iter().map(name).collect()
}

fn short_name(ty: &Type) -> String {
    match ty {
        Type::Path(path) if path.qself.is_none() => match path.path.segments.last() {
            Some(last) => full_name(last),
            None => full_name(ty),
        },
        _ => full_name(ty),
    }
}

/// As one writes it: a name in files, so spaced by rules of its own, not by those of the compiler's printer, which are
/// others in each of its versions.
pub fn full_name(ty: &impl ToTokens) -> String {
    let mut text = String::new();
    spell(ty.to_token_stream(), &mut text);
    text
}

fn spell(tokens: TokenStream, text: &mut String) {
    for token in tokens {
        match token {
            TokenTree::Group(group) => {
                let (open, close) = match group.delimiter() {
                    Delimiter::Parenthesis => ("(", ")"),
                    Delimiter::Bracket => ("[", "]"),
                    Delimiter::Brace => ("{", "}"),
                    Delimiter::None => ("", ""),
                };
                text.push_str(open);
                spell(group.stream(), text);
                text.push_str(close);
            }
            TokenTree::Punct(punct) => match punct.as_char() {
                sign @ (',' | ';') => text.extend([sign, ' ']),
                sign @ ('+' | '=') => text.extend([' ', sign, ' ']),
                '-' => text.push_str(" -"),
                '>' if text.ends_with(" -") => text.push_str("> "),
                sign => text.push(sign),
            },
            word => {
                let word = word.to_string();
                let follows = |last: char| last.is_alphanumeric() || matches!(last, '_' | ']' | ')' | '>');
                if text.chars().next_back().is_some_and(follows) {
                    text.push(' ');
                }
                text.push_str(&word);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expanded(arguments: &str, item: &str) -> String {
        let tokens = object(arguments.parse().unwrap(), item.parse().unwrap());
        prettyplease::unparse(&syn::parse2(tokens).unwrap())
    }

    #[test]
    fn the_trait_gets_one_supertrait() {
        let code = expanded("A, b::C", "pub trait Solver: Clone { fn step(&self); }");
        assert!(
            code.starts_with("pub trait Solver: Clone + SolverListedForCkpt {"),
            "{code}"
        );
        assert!(code.contains("impl SolverListedForCkpt for b::C {}"), "{code}");
        let code = expanded("A, ..", "trait Solver {}");
        assert!(
            code.starts_with("trait Solver: ::ckpt::__rt::Object {}"),
            "{code}"
        );
        assert!(!code.contains("ListedForCkpt"), "{code}");
    }

    #[test]
    fn names_are_short_where_they_differ() {
        let list: List = syn::parse_str("crate::a::One, b::Two<f64, u8>, c::Three, d::Three").unwrap();
        assert_eq!(
            names(&list.types),
            ["One", "Two<f64, u8>", "c::Three", "d::Three"]
        );
    }

    /// The printers of rustc's versions set spaces differently; a file that one has named is read by all.
    #[test]
    fn names_do_not_depend_on_the_compiler_that_prints_them() {
        for (spaced, expected) in [
            ("Two < f64 , [u8 ; 3] >", "Two<f64, [u8; 3]>"),
            ("Two<f64,[u8;3]>", "Two<f64, [u8; 3]>"),
            ("Call<fn ( f64 )->&'static str>", "Call<fn(f64) -> &'static str>"),
            ("Kept< Box <dyn Step+Send> >", "Kept<Box<dyn Step + Send>>"),
            ("(A ,*const B)", "(A, *const B)"),
            ("Level< -1 >", "Level< -1>"),
        ] {
            let ty: Type = syn::parse_str(spaced).unwrap();
            assert_eq!(full_name(&ty), expected, "{spaced}");
        }
    }

    #[test]
    fn refusals_say_what_to_write() {
        let said = |arguments: &str, item: &str| expanded(arguments, item);
        assert!(said("A", "trait S<T> {}").contains("the objects of a generic trait cannot be saved"));
        assert!(said("A", "trait S { type T; }").contains("with an associated type"));
        assert!(
            !said("A", "trait S { type T where Self: Sized; }").contains("compile_error"),
            "a type that objects do not have is no matter"
        );
        assert!(said("", "trait S {}").contains("list the types that implement `S`"));
        assert!(said("A", "struct S;").contains("goes on a trait"));
        assert!(said("A B", "trait S {}").contains("a list of types is expected"));
    }
}
