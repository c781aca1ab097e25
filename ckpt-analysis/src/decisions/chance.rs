//! Random numbers that no two runs have alike: where a program draws some, another answer than that of an uninterrupted run is
//! no proof that a restart was wrong.

use crate::Analysis;
use crate::decisions::globals::reached;
use crate::items::FnId;
use crate::source::locate::bytes;
use crate::source::{Position, Program};
use ckpt_compiler::library::Library;
use ckpt_compiler::syntax::mentions::names_in;
use proc_macro2::{Delimiter, Ident, TokenStream, TokenTree};
use quote::ToTokens;
use std::collections::HashSet;

/// Where a program draws such numbers, or makes a seed for them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Drawn {
    /// Where.
    pub place: Position,
    /// By which path: `rand::thread_rng`.
    pub what: String,
}

/// The first such place in what a run that begins in `main` may enter.
pub fn unseeded(analysis: &Analysis, program: &Program, main: FnId) -> Option<Drawn> {
    let functions = &analysis.items.functions;
    let own: HashSet<&str> = functions.iter().map(|one| one.name.as_str()).collect();
    let reached = reached(analysis, main);
    let library = &analysis.library;
    let mut seeded = HashSet::new();
    for id in &reached {
        let body = analysis.items.function(*id).written.block.to_token_stream();
        first_path(body, &mut |path, is_called| {
            let names: Vec<String> = path.iter().map(ToString::to_string).collect();
            if is_called && library.seeds(&names) {
                seeded.extend(names.first().cloned());
            }
            None::<()>
        });
    }
    reached.into_iter().find_map(|id| {
        let function = analysis.items.function(id);
        let body = function.written.block.to_token_stream();
        let mentioned = names_in(&body);
        let finder = Finder {
            library: &analysis.library,
            own: &own,
            seeded: &seeded,
            declared: declared(body.clone()),
            is_fine: FINE.iter().any(|part| mentioned.contains(*part)),
        };
        let (what, first) = finder.find(body)?;
        let file = function.place.file;
        let place = (file, bytes(program, file, first.span()).start);
        Some(Drawn { place, what })
    })
}

/// The beginning of the system's time, from which a seed is counted.
const EPOCH: &str = "UNIX_EPOCH";
/// In such parts of a second: a time for people has coarser ones.
const FINE: [&str; 4] = ["as_nanos", "subsec_nanos", "as_micros", "subsec_micros"];

struct Finder<'p> {
    library: &'p Library,
    /// Functions of the program.
    own: &'p HashSet<&'p str>,
    /// Crates whose generators the program seeds.
    seeded: &'p HashSet<String>,
    /// Names that the function itself declares.
    declared: HashSet<String>,
    /// Whether it looks at small parts of a second.
    is_fine: bool,
}

impl Finder<'_> {
    fn find(&self, tokens: TokenStream) -> Option<(String, Ident)> {
        first_path(tokens, &mut |path, is_called| {
            let names: Vec<String> = path.iter().map(ToString::to_string).collect();
            self.draws(&names, is_called)
                .then(|| (names.join("::"), path[0].clone()))
        })
    }

    fn draws(&self, names: &[String], is_called: bool) -> bool {
        let Some((last, before)) = names.split_last() else {
            return false;
        };
        if last == EPOCH {
            return self.is_fine;
        }
        let is_own = self.own.contains(last.as_str()) || before.is_empty() && self.declared.contains(last);
        let has_a_seed = before.first().is_some_and(|first| self.seeded.contains(first));
        is_called && !has_a_seed && self.library.draws(names, is_own)
    }
}

/// What is found of the first path of which something is, each with whether it is called. Methods and the names of functions that are
/// declared are none.
fn first_path<T>(tokens: TokenStream, look: &mut dyn FnMut(&[Ident], bool) -> Option<T>) -> Option<T> {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut at = 0;
    while at < tokens.len() {
        if let TokenTree::Group(group) = &tokens[at] {
            if let Some(found) = first_path(group.stream(), look) {
                return Some(found);
            }
            at += 1;
            continue;
        }
        let is_free = !at.checked_sub(1).is_some_and(|before| {
            is_punct(&tokens[before], '.') || matches!(&tokens[before], TokenTree::Ident(one) if one == "fn")
        });
        let (path, next) = path_at(&tokens, at);
        if !path.is_empty()
            && is_free
            && let Some(found) = look(&path, is_called(&tokens[next..]))
        {
            return Some(found);
        }
        at = next.max(at + 1);
    }
    None
}

/// The path that begins at a token, and where what follows it begins.
fn path_at(tokens: &[TokenTree], at: usize) -> (Vec<Ident>, usize) {
    let mut path = Vec::new();
    let mut next = at;
    while let Some(TokenTree::Ident(one)) = tokens.get(next) {
        path.push(one.clone());
        next += 1;
        let goes_on =
            are_colons(&tokens[next..]) && matches!(tokens.get(next + 2), Some(TokenTree::Ident(_)));
        if !goes_on {
            break;
        }
        next += 2;
    }
    (path, next)
}

/// Whether a path is called that these tokens follow: `(..)`, `::<f64>(..)`.
fn is_called(tokens: &[TokenTree]) -> bool {
    let is_list = |one: Option<&TokenTree>| matches!(one, Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Parenthesis);
    if is_list(tokens.first()) {
        return true;
    }
    if !are_colons(tokens) || !tokens.get(2).is_some_and(|one| is_punct(one, '<')) {
        return false;
    }
    let mut depth = 0;
    for (index, one) in tokens.iter().enumerate().skip(2) {
        if is_punct(one, '<') {
            depth += 1;
        } else if is_punct(one, '>') {
            depth -= 1;
            if depth == 0 {
                return is_list(tokens.get(index + 1));
            }
        }
    }
    false
}

fn are_colons(tokens: &[TokenTree]) -> bool {
    matches!(tokens, [one, other, ..] if is_punct(one, ':') && is_punct(other, ':'))
}

fn is_punct(token: &TokenTree, sign: char) -> bool {
    matches!(token, TokenTree::Punct(one) if one.as_char() == sign)
}

/// The names behind `let` and `let mut`.
fn declared(tokens: TokenStream) -> HashSet<String> {
    let mut names = HashSet::new();
    let mut is_behind = false;
    for token in tokens {
        match token {
            TokenTree::Ident(one) if one == "let" => is_behind = true,
            TokenTree::Ident(one) if one == "mut" => {}
            TokenTree::Ident(one) if is_behind => {
                names.insert(one.to_string());
                is_behind = false;
            }
            TokenTree::Group(group) => names.extend(declared(group.stream())),
            _ => is_behind = false,
        }
    }
    names
}
