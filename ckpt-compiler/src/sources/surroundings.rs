//! What a program asks its build for, beside its files and features: environment variables, by `env!` and `option_env!`, and what
//! flags of the compiler or a build script set, by `cfg`. The answers are known to the compiler of the program alone.

use std::collections::BTreeSet;

use proc_macro2::{TokenStream, TokenTree};

use super::modules::string;

/// What is asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AskedOfBuild {
    /// The names of environment variables; without those that cargo sets itself.
    pub variables: BTreeSet<String>,
    /// Conditions as `cfg` has them, `fast` and `solver = "cg"`; without those that say for which machine and how it is built.
    pub conditions: BTreeSet<String>,
}

/// What gives the value of a variable when the program is compiled.
const READS: &[&str] = &["env", "option_env"];

/// Attributes that have a condition as their first argument.
const CONDITIONAL: &[&str] = &["cfg", "cfg_attr"];

/// What combines conditions.
const COMBINES: &[&str] = &["all", "any", "not"];

/// Conditions that rustc sets by itself, another machine or profile may have others: a restart may go on there. Those of `feature`
/// are known by their package.
const OF_RUSTC: &[&str] = &[
    "clippy",
    "debug_assertions",
    "doc",
    "doctest",
    "false",
    "feature",
    "miri",
    "overflow_checks",
    "panic",
    "proc_macro",
    "relocation_model",
    "rustfmt",
    "sanitize",
    "test",
    "true",
    "ub_checks",
    "unix",
    "windows",
];

impl AskedOfBuild {
    /// Adds what is asked for where these tokens begin.
    pub(super) fn read_at(&mut self, tokens: &[TokenTree]) {
        match tokens {
            [
                TokenTree::Ident(word),
                TokenTree::Punct(bang),
                TokenTree::Group(given),
                ..,
            ] if bang.as_char() == '!' && READS.iter().any(|read| word == read) => {
                self.variables.extend(variable(given.stream()));
            }
            [
                TokenTree::Ident(word),
                TokenTree::Punct(bang),
                TokenTree::Group(given),
                ..,
            ] if bang.as_char() == '!' && word == "cfg" => self.condition(given.stream()),
            [TokenTree::Ident(word), TokenTree::Group(given), ..]
                if CONDITIONAL.iter().any(|conditional| word == conditional) =>
            {
                self.condition(first_of(given.stream()));
            }
            _ => {}
        }
    }

    fn condition(&mut self, condition: TokenStream) {
        let tokens: Vec<TokenTree> = condition.into_iter().collect();
        for one in tokens.split(is_comma) {
            match one {
                [TokenTree::Ident(word), TokenTree::Group(given)]
                    if COMBINES.iter().any(|combines| word == combines) =>
                {
                    self.condition(given.stream());
                }
                [TokenTree::Ident(name)] if !is_of_rustc(&name.to_string()) => {
                    self.conditions.insert(name.to_string());
                }
                [
                    TokenTree::Ident(name),
                    TokenTree::Punct(equals),
                    TokenTree::Literal(value),
                ] if equals.as_char() == '=' && !is_of_rustc(&name.to_string()) => {
                    self.conditions.insert(format!("{name} = {value}"));
                }
                _ => {}
            }
        }
    }
}

fn is_of_rustc(name: &str) -> bool {
    name.starts_with("target_") || OF_RUSTC.contains(&name)
}

fn is_comma(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Punct(comma) if comma.as_char() == ',')
}

fn first_of(tokens: TokenStream) -> TokenStream {
    tokens.into_iter().take_while(|token| !is_comma(token)).collect()
}

/// The variable that these arguments of a macro name.
fn variable(given: TokenStream) -> Option<String> {
    let first: Vec<TokenTree> = first_of(given).into_iter().collect();
    let [TokenTree::Literal(text)] = first.as_slice() else {
        return None;
    };
    string(text).filter(|name| !name.starts_with("CARGO") && name != "OUT_DIR")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sources::everywhere;

    #[test]
    fn what_the_build_is_asked_for_is_known() {
        let tokens: TokenStream = r#"
            #[cfg(all(quick, not(target_os = "linux"), feature = "fast"))] mod quick;
            #[cfg_attr(any(solver = "cg", test), inline(never))] fn f() {}
            fn main() {
                let steps = match option_env!("STEPS") { Some(text) => text, None => env!("LEAST", "no least") };
                if cfg!(debug_assertions) || cfg! { paranoid } { println!(concat!(env!("CARGO_PKG_VERSION"), env!("SEED"))); }
                include!(concat!(env!("OUT_DIR"), "/made.rs"));
                std::env::var("NOT");
            }
        "#
        .parse()
        .unwrap();
        let mut asked = AskedOfBuild::default();
        everywhere(&tokens, &mut |here| asked.read_at(here));
        let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<BTreeSet<_>>();
        assert_eq!(asked.variables, names(&["LEAST", "SEED", "STEPS"]));
        assert_eq!(asked.conditions, names(&["paranoid", "quick", "solver = \"cg\""]));
    }
}
