//! Rust as the older editions have it, where it differs from what syn reads: `Box<Fn(f64) -> f64>` for
//! `Box<dyn Fn(f64) -> f64>`, and methods of traits whose parameters have no names, `fn step(&mut self, f64);`. What is missing
//! is put in between tokens; all others keep their places in the source. A name that can be spelled in two ways has one
//! spelling from here on.

use super::spelling::{may_be_raw, spelled};
use super::unnamed_parameters::with_names;
use crate::syntax::language::is_function_trait;
use proc_macro2::{Delimiter, Group, Ident, TokenStream, TokenTree};

/// A file, parsed as every edition may write it.
///
/// # Errors
/// It is not Rust.
///
/// ```
/// let file = ckpt_compiler::parse::dialect::parse_file("fn f(g: &Fn(u8) -> u8) {}").unwrap();
/// assert_eq!(file.items.len(), 1);
/// ```
pub fn parse_file(text: &str) -> syn::Result<syn::File> {
    let mut file = syn::parse_file(text).or_else(|error| {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let tokens: TokenStream = text.parse().map_err(|_| error.clone())?;
        syn::parse2(modern(tokens)).map_err(|_| error)
    })?;
    if may_be_raw(text) {
        file.items = syn::parse2::<syn::File>(spelled(quote::quote!(#file), true))?.items;
    }
    if text.contains("macro_rules") {
        crate::syntax::own_macros::captures::named_in_file(&mut file);
    }
    Ok(file)
}

/// The same tokens, with a `dyn` before every trait of functions that stands where only a type can be, with a `_` for each
/// parameter of a trait's method that has no name, and with one spelling for each name outside of macros.
pub fn modern(tokens: TokenStream) -> TokenStream {
    with_names(with_dyn(spelled(tokens, false)))
}

fn with_dyn(tokens: TokenStream) -> TokenStream {
    let list: Vec<TokenTree> = tokens.into_iter().collect();
    let mut out = TokenStream::new();
    for (index, token) in list.iter().enumerate() {
        if let TokenTree::Ident(name) = token
            && is_function_trait(name)
            && has_arguments(list.get(index + 1))
            && wants_a_type(&list[..index])
        {
            out.extend([TokenTree::Ident(Ident::new("dyn", name.span()))]);
        }
        out.extend([match token {
            TokenTree::Group(group) => TokenTree::Group(in_group(group)),
            other => other.clone(),
        }]);
    }
    out
}

fn in_group(group: &Group) -> Group {
    let mut inner = Group::new(group.delimiter(), with_dyn(group.stream()));
    inner.set_span(group.span());
    inner
}

fn has_arguments(next: Option<&TokenTree>) -> bool {
    matches!(next, Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Parenthesis)
}

/// Whether a type must follow these tokens: `&`, `&mut`, `&'a`, `*const`, `Box<`, `type F =`.
fn wants_a_type(before: &[TokenTree]) -> bool {
    let is_punct =
        |token: &TokenTree, one: char| matches!(token, TokenTree::Punct(punct) if punct.as_char() == one);
    match before {
        [.., name, last] if is_punct(last, '<') => is_name(name),
        [.., last] if is_punct(last, '&') => true,
        [.., reference, TokenTree::Ident(word)] if word == "mut" => {
            is_punct(reference, '&') || is_punct(reference, '*') || is_name(reference)
        }
        [.., reference, TokenTree::Ident(word)] if word == "const" => is_punct(reference, '*'),
        [.., reference, quote, TokenTree::Ident(_)] if is_punct(quote, '\'') => is_punct(reference, '&'),
        [.., TokenTree::Ident(word), TokenTree::Ident(_), last] if is_punct(last, '=') => word == "type",
        _ => false,
    }
}

/// A name other than a keyword that begins generic parameters, where `<Fn(..)>` cannot be.
fn is_name(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Ident(name) if name != "impl" && name != "for" && name != "fn")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(old: &str, new: &str) {
        let old: TokenStream = old.parse().unwrap();
        let new: TokenStream = new.parse().unwrap();
        assert_eq!(modern(old).to_string(), new.to_string());
    }

    #[test]
    fn traits_of_functions_without_dyn_get_one() {
        check("fn f(g: &Fn(f64) -> f64) {}", "fn f(g: &dyn Fn(f64) -> f64) {}");
        check(
            "fn f<'a>(g: &'a mut FnMut(f64)) -> Box<Fn(u8) + 'a> { g }",
            "fn f<'a>(g: &'a mut dyn FnMut(f64)) -> Box<dyn Fn(u8) + 'a> { g }",
        );
        check("type Rhs = Fn(f64) -> f64;", "type Rhs = dyn Fn(f64) -> f64;");
        check(
            "struct S { f: Vec<Box<FnOnce()>>, p: *const Fn() }",
            "struct S { f: Vec<Box<dyn FnOnce()>>, p: *const dyn Fn() }",
        );
    }

    #[test]
    fn bounds_and_what_has_a_dyn_stay() {
        for text in [
            "fn f<F: Fn(f64) -> f64 + Send>(f: F) where F: FnMut() {}",
            "fn f(f: &dyn Fn(f64), g: impl Fn(u8), h: &(dyn Fn() + Send)) {}",
            "impl<F> Step for F where for<'a> F: Fn(&'a u8) {}",
        ] {
            check(text, text);
        }
    }

    #[test]
    fn parameters_of_a_traits_methods_without_names_get_one() {
        check(
            "trait Law { fn step(&mut self, f64, &'a mut [f64]) -> f64; fn of(u8) -> Self where Self: Sized { new() } }",
            "trait Law { fn step(&mut self, _: f64, _: &'a mut [f64]) -> f64; fn of(_: u8) -> Self where Self: Sized { new() } }",
        );
        check(
            "mod m { pub trait T<X>: Sized { fn a<F: Fn(u8) -> u8, Y>(self, F, HashMap<X, Y>, n: u8, fn(u8, m: u8), ::std::io::Error,); } }",
            "mod m { pub trait T<X>: Sized { fn a<F: Fn(u8) -> u8, Y>(self, _: F, _: HashMap<X, Y>, n: u8, _: fn(u8, m: u8), _: ::std::io::Error,); } }",
        );
        for text in [
            "trait T { fn a(self: Box<Self>, mut self, &'a self, &'a mut self, _: u8, &(a, b): &(u8, u8), #[x] c: ::u8); }",
            "impl T for S { fn a(&self, u8) {} } quote! { trait T { fn a(u8); } } fn b() { trait }",
        ] {
            check(text, text);
        }
        let file = parse_file("trait T {\n    fn a(&self, u8);\n}\nfn last() {}").unwrap();
        assert_eq!(file.items.len(), 2);
    }

    #[test]
    fn places_are_those_of_the_source() {
        let text = "fn f(g: &mut FnMut(u8)) {\n    g(1)\n}\nfn last() {}";
        let file = parse_file(text).unwrap();
        let syn::Item::Fn(last) = &file.items[1] else {
            panic!("a function")
        };
        assert_eq!(last.sig.ident.span().start().line, 4);
    }

    #[test]
    fn what_is_no_rust_is_told_as_syn_tells_it() {
        assert!(parse_file("fn f(").is_err());
    }
}
