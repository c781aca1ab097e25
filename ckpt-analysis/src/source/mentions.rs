//! What the code of a file names: comments and texts do not count, what macros are given does.

use super::SourceFile;
use proc_macro2::{Span, TokenStream, TokenTree};
use quote::ToTokens;

impl SourceFile {
    /// Whether a path, or an import, begins with these names; `*` is that of an import.
    pub(crate) fn names(&self, path: &[&str]) -> bool {
        is_in(self.ast.to_token_stream(), path)
    }

    /// Where the code names a crate first: a path or an import that begins with it.
    pub(crate) fn names_crate(&self, name: &str) -> Option<Span> {
        crate_in(self.ast.to_token_stream(), name)
    }
}

fn crate_in(tokens: TokenStream, name: &str) -> Option<Span> {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let is_punct = |at: usize, mark: char| matches!(tokens.get(at), Some(TokenTree::Punct(one)) if one.as_char() == mark);
    let is_word =
        |at: usize, word: &str| matches!(tokens.get(at), Some(TokenTree::Ident(one)) if one == word);
    let is_here = |at: usize| {
        // `my::solver::f` is another one, `::solver::f` is not.
        let is_inside = at > 2
            && is_punct(at - 1, ':')
            && is_punct(at - 2, ':')
            && matches!(&tokens[at - 3], TokenTree::Ident(_));
        let is_path = is_punct(at + 1, ':') && is_punct(at + 2, ':');
        let is_import = at > 0 && (is_word(at - 1, "use") || is_word(at - 1, "crate"));
        is_word(at, name) && !is_inside && (is_path || is_import)
    };
    (0..tokens.len()).find_map(|at| match &tokens[at] {
        TokenTree::Group(group) => crate_in(group.stream(), name),
        token => is_here(at).then(|| token.span()),
    })
}

/// Whether the code names the crate `ckpt`, and has no module of that name.
pub fn names_ckpt(file: &syn::File) -> bool {
    let code = || file.to_token_stream();
    is_in(code(), &["ckpt", ""]) && !declares_module(code(), "ckpt")
}

fn is_in(tokens: TokenStream, path: &[&str]) -> bool {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    (0..tokens.len()).any(|at| {
        let is_inside = matches!(&tokens[at], TokenTree::Group(group) if is_in(group.stream(), path));
        is_inside || begins(&tokens[at..], path)
    })
}

/// Whether the tokens begin with this path; an empty name is any.
fn begins(tokens: &[TokenTree], path: &[&str]) -> bool {
    let (Some(token), [first, rest @ ..]) = (tokens.first(), path) else {
        return path.is_empty() || *path == [""];
    };
    match token {
        TokenTree::Group(group) => {
            let list: Vec<TokenTree> = group.stream().into_iter().collect();
            let is_comma = |one: &TokenTree| matches!(one, TokenTree::Punct(one) if one.as_char() == ',');
            first.is_empty() || list.split(is_comma).any(|one| begins(one, path))
        }
        one => {
            let colons = tokens.iter().skip(1).take(2);
            let goes_on = colons.filter(|one| one.to_string() == ":").count() == 2;
            let is_it = first.is_empty() || one.to_string() == *first;
            is_it && (rest.is_empty() || goes_on && begins(&tokens[3..], rest))
        }
    }
}

fn declares_module(tokens: TokenStream, name: &str) -> bool {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let is_ident = |token: &TokenTree, name: &str| matches!(token, TokenTree::Ident(one) if one == name);
    let declared = tokens
        .windows(2)
        .any(|two| is_ident(&two[0], "mod") && is_ident(&two[1], name));
    declared
        || tokens
            .into_iter()
            .any(|token| matches!(token, TokenTree::Group(group) if declares_module(group.stream(), name)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Program;

    #[test]
    fn the_first_mention_of_a_crate_is_found() {
        for (text, line) in [
            ("fn f() {}\nfn g() { solver::h(); }", Some(2)),
            ("use solver as s;", Some(1)),
            ("use {std::fs, solver::Halo};", Some(1)),
            ("extern crate solver;", Some(1)),
            ("fn f() { println!(\"{}\",\n ::solver::norm(1)); }", Some(2)),
            (
                "mod my { pub mod solver { pub fn f() {} } } fn g() { my::solver::f(); let solver = 1; }",
                None,
            ),
        ] {
            let program = Program::of_text(text);
            let found = program.files[0].names_crate("solver");
            assert_eq!(found.map(|span| span.start().line), line, "{text}");
        }
    }

    #[test]
    fn code_names_a_crate_and_comments_and_texts_do_not() {
        for (text, is_one) in [
            ("fn f() { ckpt::checkpoint!(); }", true),
            ("#[ckpt::main] fn main() {}", true),
            ("use ckpt::{Session, team};", true),
            ("fn f() { g!(a, { ckpt::checkpoint!(safe) }); }", true),
            (
                "/// `ckpt::main` is not used.\nfn f() { g(\"ckpt::main\") } // ckpt::x",
                false,
            ),
            ("mod ckpt { pub fn f() {} } fn g() { ckpt::f() }", false),
            ("fn f() { let ckpt = 1; g(ckpt) }", false),
        ] {
            assert_eq!(names_ckpt(&syn::parse_file(text).unwrap()), is_one, "{text}");
        }
    }

    #[test]
    fn a_path_is_found_however_it_is_imported() {
        let is_in = |text: &str| Program::of_text(text).files[0].names(&["ckpt", "team"]);
        assert!(
            is_in("use ckpt::team;")
                && is_in("use ckpt::{Session, team};")
                && is_in("fn f() { ckpt::team(2) }")
        );
        assert!(!is_in("use ckpt::Session; fn team() {}") && !is_in("use ckpt::*;"));
        assert!(Program::of_text("use ckpt::*;").files[0].names(&["ckpt", "*"]));
    }
}
