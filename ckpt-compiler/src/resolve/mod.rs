//! Names resolved once: which variable every name of a function stands for.
//!
//! The result is the function with a name of its own for every variable, and the table of them, [`Locals`]: from here on two
//! variables never share a name, so that a pass may move, copy and rewrite code and a name in it still stands for the same
//! [`LocalId`](crate::names::LocalId). Emission gives the source's names back ([`Locals::restore`]), and `validate` looks at
//! whether each of them stands for the same variable there.

mod body_items;
pub mod references;
mod scopes;

use crate::library::Library;
use crate::names::{Locals, Names};
use crate::parse::function::Parsed;
use crate::parse::options::{Options, Treatment};
use quote::ToTokens;
use syn::{ItemFn, Path};

/// A function in which every name stands for one variable.
#[derive(Debug, Clone)]
pub struct Resolved {
    /// What its attribute says.
    pub options: Options,
    /// What the user wants with each parameter.
    pub treatments: Vec<Option<Treatment>>,
    /// The function.
    pub function: ItemFn,
    /// Its variables.
    pub names: Names,
}

/// Whose name a variable has in what is emitted that hides another.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Hiding {
    /// The one that the source gives it.
    #[default]
    AsWritten,
    /// One of its own, so that what it hides can be named; as written in a function where a macro of unknown meaning names
    /// it.
    Renamed,
}

/// Resolves the names of a function; `outer` are the variables of the function that it has been taken out of.
pub fn resolve(parsed: &Parsed, outer: &Locals, hiding: Hiding) -> Resolved {
    let mut outer = outer.clone();
    outer.add_synthetic(parsed.function.to_token_stream());
    let Options { library, calls, .. } = &parsed.options;
    let (function, locals) = resolved(library, calls, &parsed.function, &outer, hiding);
    let names = Names::of(locals);
    Resolved {
        options: parsed.options.clone(),
        treatments: parsed.treatments.clone(),
        function,
        names,
    }
}

/// The same of a function without attributes. What `calls` name keeps its name, so that it is still found by it.
pub fn resolved(
    library: &Library,
    calls: &[Path],
    function: &ItemFn,
    outer: &Locals,
    hiding: Hiding,
) -> (ItemFn, Locals) {
    let found = |hiding| scopes::resolve(library, calls, function, outer, hiding);
    if hiding == Hiding::Renamed
        && let Some(found) = found(hiding)
    {
        return found;
    }
    let as_written = found(Hiding::AsWritten);
    as_written.unwrap_or_else(|| (function.clone(), outer.clone()))
}

/// A function to be looked at, of which nothing is emitted: with the names that the stages give its variables, while its
/// fields keep theirs.
pub fn told_apart(library: &Library, calls: &[Path], function: &ItemFn) -> (ItemFn, Locals) {
    let mut outer = Locals::default();
    outer.add_synthetic(function.to_token_stream());
    let told_apart = scopes::resolve(library, calls, function, &outer, Hiding::AsWritten);
    told_apart.unwrap_or_else(|| (function.clone(), outer))
}

#[cfg(test)]
mod tests {
    use super::*;
    use quote::quote;
    use syn::parse_quote;

    fn resolved_as(hiding: Hiding, function: &ItemFn) -> (String, Locals) {
        let library = Library::builtin();
        let (function, locals) = resolved(library, &[], function, &Locals::default(), hiding);
        (function.block.to_token_stream().to_string(), locals)
    }

    #[test]
    fn every_variable_has_a_name_of_its_own() {
        let function: ItemFn = parse_quote! {
            fn f(a: u64) {
                let b = a;
                let a = a + 1;
                for b in 0..a {
                    let S { a, c: b } = S { a, c: b };
                    println!("{a} {b:>a$} {:e} {{a}} {a2} {b}", x.a, a2 = a, b = 3);
                }
                { let c = a; }
                { let c = a; unknown!(x.a, c, "{c}"); }
                match b { b if b > a => f(|a| a + b), _ => drop(vec![a; b]) }
            }
        };
        let (text, locals) = resolved_as(Hiding::AsWritten, &function);
        let expected = quote! {{
            let b = a;
            let a_2 = a + 1;
            for b_2 in 0..a_2 {
                let S { a: a_3, c: b_3 } = S { a: a_2, c: b_2 };
                println!("{a_3} {b:>a_3$} {:e} {{a}} {a2} {b}", x.a, a2 = a_3, b = 3);
            }
            { let c = a_2; }
            { let c__2 = a_2; unknown!(x.a, c__2, "{c__2}"); }
            match b { b_4 if b_4 > a_2 => f(|a_4| a_4 + b_4), _ => drop(vec![a_2; b]) }
        }};
        assert_eq!(text, expected.to_string());
        let restored = locals.restore(expected).to_string();
        assert_eq!(restored, function.block.to_token_stream().to_string());
    }

    #[test]
    fn what_hides_another_variable_may_keep_its_new_name() {
        let function: ItemFn = parse_quote! {
            fn f(a: u64) {
                let a = S { a };
                { let b = 1; }
                { let b = 2; println!("{a} {}", "{a}"); }
            }
        };
        let (text, locals) = resolved_as(Hiding::Renamed, &function);
        let expected = quote! {{
            let a_2 = S { a };
            { let b = 1; }
            { let b__2 = 2; println!("{a_2} {}", "{a}"); }
        }};
        assert_eq!(text, expected.to_string());
        let emitted = quote! {{
            let a_2 = S { a };
            { let b = 1; }
            { let b = 2; println!("{a_2} {}", "{a}"); }
        }};
        assert_eq!(locals.restore(expected).to_string(), emitted.to_string());
    }

    #[test]
    fn fields_keep_their_names_where_nothing_is_emitted() {
        let function: ItemFn = parse_quote! {
            fn f(a: u64) { let a = 1; let b = S { a, c: a }; let S { a, .. } = b; }
        };
        let (function, locals) = told_apart(Library::builtin(), &[], &function);
        let expected = quote! {{ let a_2 = 1; let b = S { a: a_2, c: a_2 }; let S { a: a_3, .. } = b; }};
        assert_eq!(function.block.to_token_stream().to_string(), expected.to_string());
        assert_eq!(locals.written(&quote::format_ident!("a_3")), "a");
    }

    #[test]
    fn what_an_unknown_macro_names_is_called_as_written() {
        let function: ItemFn = parse_quote! { fn f() { let a = 1; let a = 2; unknown!(a); } };
        let (text, locals) = resolved_as(Hiding::Renamed, &function);
        let restored = locals.restore(text.parse().unwrap()).to_string();
        assert_eq!(restored, function.block.to_token_stream().to_string());
    }

    #[test]
    fn raw_names_are_those_without() {
        let function: ItemFn = parse_quote! {
            fn f(r#gain: u64, r#type: u64) {
                let S { r#type } = show!(gain, r#gain, "{type} {gain}");
                { let gain = r#gain + r#type; println!("{type:?} {gain}"); }
            }
        };
        let (text, locals) = resolved_as(Hiding::AsWritten, &function);
        let expected = quote! {{
            let S { r#type: type_2 } = show!(gain, r#gain, "{type} {gain}");
            { let gain_2 = r#gain + type_2; println!("{type_2:?} {gain_2}"); }
        }};
        assert_eq!(text, expected.to_string());
        let restored = quote! {{
            let S { r#type } = show!(gain, r#gain, "{type} {gain}");
            { let gain = r#gain + r#type; println!("{type:?} {gain}"); }
        }};
        assert_eq!(locals.restore(expected).to_string(), restored.to_string());
    }

    #[test]
    fn a_name_with_a_capital_is_a_variable_unless_it_is_known_otherwise() {
        let function: ItemFn = parse_quote! {
            fn f(N: usize) {
                let (M, None) = (N, x) else { return };
                let T1 = 2;
                let Unit = Unit;
                for K in 0..T1 { g(|A, B| A + B + K); }
                match T1 { N => h(N), L => k(L) }
                { const N: u8 = 1; match T1 { N => h(N), _ => {} } }
                { const limit: u8 = 1; match T1 { limit => h(limit), _ => {} } }
            }
        };
        let (text, locals) = resolved_as(Hiding::AsWritten, &function);
        let name = |name: &str| locals.is_variable(&quote::format_ident!("{name}"));
        assert!(name("N_2") && name("T1") && name("K") && name("A") && name("B"));
        assert!(!name("Unit") && !name("None") && !name("M") && !name("L") && !name("limit"));
        let expected = quote! { match T1 { N_3 => h(N_3), L => k(L) } };
        assert!(text.contains(&expected.to_string()), "{text}");
        let expected = quote! { match T1 { N => h(N), _ => {} } };
        assert!(text.contains(&expected.to_string()), "{text}");
    }

    #[test]
    fn no_variable_has_the_name_of_an_item_that_is_used() {
        let function: ItemFn = parse_quote! {
            fn f() {
                { let g = g(); g + 1; }
                let h = 1;
                { fn h() {} h(); }
                h;
            }
        };
        let (text, locals) = resolved_as(Hiding::AsWritten, &function);
        assert_eq!(locals.written(&quote::format_ident!("g__2")), "g");
        // What is saved in the block of the function `h` cannot be called so there.
        assert_eq!(locals.written(&quote::format_ident!("h_2")), "h_2");
        let expected = quote! {{
            { let g__2 = g(); g__2 + 1; }
            let h_2 = 1;
            { fn h() {} h(); }
            h_2;
        }};
        assert_eq!(text, expected.to_string());
    }

    #[test]
    fn a_name_is_a_local_where_it_is_declared() {
        let function: ItemFn = parse_quote! { fn f(r#type: u64) { let a = r#type; let a = |a| a; } };
        let (_, locals) = resolved_as(Hiding::AsWritten, &function);
        let id = |name: &str| locals.named(name);
        assert!(id("r#type").is_some() && id("a_3").is_some() && id("a") != id("a_2"));
        assert_eq!(id("f"), None);
        assert_eq!(locals.written(&quote::format_ident!("a_3")), "a");
    }
}
