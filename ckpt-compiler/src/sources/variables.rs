//! The environment variables that a program reads by name: `env::var("X")`, `env::var_os("X")` and what is written so, and the `env =
//! "X"` that parsers of arguments have. Names that stand in constants are not seen.

use proc_macro2::{Delimiter, TokenTree};

use super::modules::string;

/// What gives the value of the variable that its argument names.
const READS: &[&str] = &["var", "var_os"];

/// The name of the variable that is read where these tokens begin.
pub(super) fn named(tokens: &[TokenTree]) -> Option<String> {
    let name = match tokens {
        [TokenTree::Ident(word), TokenTree::Group(given), ..]
            if READS.iter().any(|read| word == read) && given.delimiter() == Delimiter::Parenthesis =>
        {
            let given: Vec<TokenTree> = given.stream().into_iter().collect();
            match given.as_slice() {
                [TokenTree::Literal(text)] => string(text)?,
                _ => return None,
            }
        }
        [
            TokenTree::Ident(word),
            TokenTree::Punct(equals),
            TokenTree::Literal(text),
            ..,
        ] if word == "env" && equals.as_char() == '=' => string(text)?,
        _ => return None,
    };
    let is_name = !name.is_empty() && !name.contains(['=', '\0']);
    is_name.then_some(name)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proc_macro2::TokenStream;

    use super::*;
    use crate::sources::everywhere;

    #[test]
    fn variables_that_are_read_by_name_are_known() {
        let tokens: TokenStream = r#"
            #[derive(Parser)] struct Options { #[arg(long, env = "STEPS")] steps: u64 }
            fn main() {
                let factor = std::env::var("FACTOR").unwrap_or_default();
                if let Some(out) = env::var_os("OUT") { println!("{:?}", (out, var(NAME), var("not" + "one"), var("a=b"))); }
            }
        "#
        .parse()
        .unwrap();
        let mut names = BTreeSet::new();
        everywhere(&tokens, &mut |here| names.extend(named(here)));
        assert_eq!(names, ["FACTOR", "OUT", "STEPS"].map(str::to_owned).into());
    }
}
