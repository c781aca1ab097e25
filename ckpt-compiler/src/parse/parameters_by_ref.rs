//! Parameters that are looked at by reference: `fn f(ref list: Vec<u64>)` is `fn f(list: Vec<u64>)` with
//! `let list = &list;` at its beginning. Then the parameter is the value, as with any other, and what borrows from it is
//! made again.

use syn::{FnArg, ItemFn, Pat, Stmt, parse_quote_spanned};

/// Makes a variable of each parameter that is bound by `ref`, and of the reference to it a `let`.
pub(super) fn with_variables(function: &mut ItemFn) {
    let mut references = Vec::new();
    for argument in &mut function.sig.inputs {
        if let FnArg::Typed(typed) = argument {
            references.extend(reference(&mut typed.pat));
        }
    }
    function.block.stmts.splice(0..0, references);
}

/// The `let` that stands for the `ref` of a parameter's pattern, which loses it.
fn reference(pattern: &mut Pat) -> Option<Stmt> {
    let Pat::Ident(one) = pattern else { return None };
    if one.subpat.is_some() {
        return None;
    }
    one.by_ref.take()?;
    let (name, mutability) = (&one.ident, &one.mutability);
    Some(parse_quote_spanned!(name.span() => let #name = & #mutability #name;))
}

#[cfg(test)]
mod tests {
    use super::*;
    use quote::ToTokens;
    use syn::parse_quote;

    #[test]
    fn the_parameter_is_a_variable() {
        let mut function: ItemFn = parse_quote! {
            fn f(&self, ref list: Vec<u64>, ref mut sum: u64, n: usize, (ref a, b): (u8, u8)) -> u64 {
                *sum
            }
        };
        with_variables(&mut function);
        let expected: ItemFn = parse_quote! {
            fn f(&self, list: Vec<u64>, mut sum: u64, n: usize, (ref a, b): (u8, u8)) -> u64 {
                let list = &list;
                let sum = &mut sum;
                *sum
            }
        };
        assert_eq!(
            function.to_token_stream().to_string(),
            expected.to_token_stream().to_string()
        );
    }
}
