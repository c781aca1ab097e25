//! Functions that call themselves: the copy without sites beside them, and where there is none.

use ckpt_compiler::try_expand;
use proc_macro2::TokenStream;
use quote::quote;
use syn::{File, Item};

/// What stands beside the function.
fn copy_of(arguments: TokenStream, function: TokenStream) -> Option<String> {
    let expanded = try_expand(arguments, &function, false).expect("the function can be instrumented");
    let file: File = syn::parse2(expanded).expect("what comes out is Rust");
    assert!(matches!(file.items[0], Item::Fn(_)));
    let copy = file.items.get(1)?;
    Some(prettyplease::unparse(&syn::parse_quote!(#copy)))
}

fn search() -> TokenStream {
    quote! {
        pub fn search(board: &mut Board, count: &mut u64) {
            ckpt::checkpoint!();
            for column in 0..8 {
                if board.put(column) {
                    search(board, count);
                }
            }
        }
    }
}

#[test]
fn the_copy_is_the_function_as_it_was_written() {
    let copy = copy_of(quote!(calls(search), recursive), search()).expect("a copy");
    let expected = "\
#[allow(dead_code, clippy::all)]
fn __ckpt_plain_search(board: &mut Board, count: &mut u64) {
    ::core::concat!();
    for column in 0..8 {
        if board.put(column) {
            __ckpt_plain_search(board, count);
        }
    }
}
";
    assert_eq!(copy, expected);
}

#[test]
fn there_is_none_unless_somebody_says_that_the_name_is_the_functions() {
    assert_eq!(copy_of(quote!(calls(search)), search()), None);
}

#[test]
fn there_is_none_where_something_else_leads_to_a_site() {
    let function = quote! {
        fn search(depth: u32) {
            other();
            search(depth - 1);
        }
    };
    assert_eq!(copy_of(quote!(calls(search, other), recursive), function), None);
}

#[test]
fn there_is_none_where_the_name_may_stand_for_something_else() {
    for function in [
        quote!(
            fn search(depth: u32) {
                search(depth - 1);
                other::search(depth);
            }
        ),
        quote!(
            fn search(depth: u32) {
                search(depth - 1);
                let all = list.iter().map(search);
            }
        ),
        quote!(
            fn search(search: fn(u32)) {
                search(1);
                ckpt::checkpoint!();
            }
        ),
        quote!(
            fn search(depth: u32) {
                search(depth - 1);
                use other::*;
            }
        ),
    ] {
        assert_eq!(copy_of(quote!(calls(search), recursive), function), None);
    }
}

#[test]
fn there_is_none_where_something_may_not_be_there_twice() {
    let function = quote! {
        fn search(depth: u32) {
            static CALLS: AtomicU32 = AtomicU32::new(0);
            search(depth - 1);
        }
    };
    assert_eq!(copy_of(quote!(calls(search), recursive), function), None);
}

#[test]
fn a_method_calls_itself_by_self() {
    let method = quote! {
        fn solve(&mut self, depth: u32) -> bool {
            ckpt::checkpoint!();
            self.solve(depth - 1) || Self::solve(self, depth - 2)
        }
    };
    let copy = copy_of(quote!(calls(solve), recursive), method).expect("a copy");
    assert!(
        copy.contains("self.__ckpt_plain_solve(depth - 1) || Self::__ckpt_plain_solve(self, depth - 2)"),
        "{copy}"
    );
    let of_another = quote! {
        fn solve(&mut self, depth: u32) -> bool {
            ckpt::checkpoint!();
            self.next.solve(depth - 1)
        }
    };
    assert_eq!(copy_of(quote!(calls(solve), recursive), of_another), None);
}
