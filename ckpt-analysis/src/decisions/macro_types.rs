//! Structs and enums that a macro declares: `arg_enum! { #[derive(Clone)] enum Kind { Hot, Cold } }`, or a `macro_rules!` of
//! the program that writes `struct $name { .. }`.
//!
//! They are seen in tokens only. A derive goes in front of the item in the tokens: in what a macro of the program expands to, or in
//! what another macro is given, where that takes attributes already. rustc says whether it can be derived.

use crate::source::edits::Edit;
use crate::source::locate::bytes;
use crate::source::{FileId, Position, Program};
use ckpt_compiler::library::last_name;
use ckpt_compiler::visit::{self, Visit};
use proc_macro2::{Delimiter, TokenStream, TokenTree};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use syn::spanned::Spanned;

/// A struct or enum in a macro's tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MacroType {
    /// What it may be called: by what a macro of the program is given it shows only that the name is among these.
    pub names: BTreeSet<String>,
    /// Its bytes.
    pub range: Range<usize>,
    /// The bits of a number, of the type that this macro makes.
    pub bits: Option<Bits>,
}

/// `bitflags! { struct Flags: u32 { .. } }`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Bits {
    /// The macro.
    pub by: String,
    /// Behind it.
    behind: usize,
}

/// All of a program, by the byte where an attribute would stand.
pub(crate) fn declared(program: &Program) -> BTreeMap<Position, MacroType> {
    let mut own = OwnMacros::default();
    for file in &program.files {
        own.visit_file(&file.ast);
    }
    let mut all = BTreeMap::new();
    for (index, file) in program.files.iter().enumerate() {
        let mut finder = Finder {
            program,
            file: FileId(index),
            own: &own,
            all: &mut all,
        };
        finder.visit_file(&file.ast);
    }
    all
}

/// The edits that make such a type one that can be saved.
pub(crate) fn edits(program: &Program, place: Position, one: &MacroType) -> Vec<Edit> {
    let text = &program.file(place.0).text;
    match (&one.bits, one.names.first()) {
        (Some(bits), Some(name)) => vec![Edit::insert(
            place.0,
            bits.behind,
            format!(
                " impl ckpt::Checkpoint for {name} {{ \
                 fn save(&self, to: &mut ckpt::value::Encoder<'_>) {{ \
                 if Self::from_bits(self.bits()).is_none() {{ to.fail(\"it has bits that have no name\"); }} \
                 ckpt::Checkpoint::save(&self.bits(), to); }} \
                 fn load(from: &mut ckpt::value::Decoder<'_>) -> ::core::result::Result<Self, ckpt::value::LoadError> {{ \
                 Self::from_bits(ckpt::Checkpoint::load(from)?).ok_or_else(|| ckpt::value::LoadError::invalid(\"it has bits that have no name\")) }} }}"
            ),
        )],
        _ => vec![Edit::line_before(
            place.0,
            text,
            place.1,
            "#[derive(ckpt::Checkpoint)]",
        )],
    }
}

/// The macros of the program, and the names of types that each may be given.
#[derive(Default)]
struct OwnMacros {
    defined: BTreeSet<String>,
    given: BTreeMap<String, BTreeSet<String>>,
}

impl<'ast> Visit<'ast> for OwnMacros {
    fn visit_item_macro(&mut self, item: &'ast syn::ItemMacro) {
        match &item.ident {
            Some(name) => {
                self.defined.insert(name.to_string());
            }
            None => visit::visit_item_macro(self, item),
        }
    }
    fn visit_macro(&mut self, mac: &'ast syn::Macro) {
        let names = self.given.entry(last_name(&mac.path)).or_default();
        type_names(mac.tokens.clone(), names);
    }
}

fn type_names(tokens: TokenStream, found: &mut BTreeSet<String>) {
    for token in tokens {
        match token {
            TokenTree::Group(group) => type_names(group.stream(), found),
            TokenTree::Ident(name) => {
                let name = name.to_string();
                if name.starts_with(char::is_uppercase) {
                    found.insert(name);
                }
            }
            _ => {}
        }
    }
}

struct Finder<'p> {
    program: &'p Program,
    file: FileId,
    own: &'p OwnMacros,
    all: &'p mut BTreeMap<Position, MacroType>,
}

impl<'ast> Visit<'ast> for Finder<'_> {
    fn visit_item_macro(&mut self, item: &'ast syn::ItemMacro) {
        let behind = bytes(self.program, self.file, item.span()).end;
        match &item.ident {
            Some(name) => self.transcribers(item.mac.tokens.clone(), &name.to_string()),
            None => self.given(&item.mac, Some(behind)),
        }
    }
    fn visit_macro(&mut self, mac: &'ast syn::Macro) {
        self.given(mac, None);
    }
}

impl Finder<'_> {
    /// What the rules of a macro expand to: each is behind a `=>`.
    fn transcribers(&mut self, rules: TokenStream, name: &str) {
        let given = self.own.given.get(name).cloned().unwrap_or_default();
        let mut found = Vec::new();
        let mut before = ' ';
        for token in rules {
            match token {
                TokenTree::Group(group) if before == '>' => items(group.stream(), &mut found),
                TokenTree::Punct(punct) => before = punct.as_char(),
                _ => {}
            }
        }
        // Which of several types has which name does not show.
        let has_parameter = |one: &&Found| one.name.is_none();
        let several = found.iter().filter(has_parameter).count() > 1;
        for one in found {
            match &one.name {
                Some(_) => self.note(&one, BTreeSet::new(), None),
                None if !several => self.note(&one, given.clone(), None),
                None => {}
            }
        }
    }

    fn given(&mut self, mac: &syn::Macro, behind: Option<usize>) {
        let by = last_name(&mac.path);
        let mut found = Vec::new();
        items(mac.tokens.clone(), &mut found);
        for one in found.iter().filter(|one| one.name.is_some()) {
            let bits = match behind {
                Some(behind) if one.has_number => Some(Bits {
                    by: by.clone(),
                    behind,
                }),
                _ => None,
            };
            if bits.is_some() || one.has_attribute && !one.has_number && !self.own.is_told_by(&by, one) {
                self.note(one, BTreeSet::new(), bits);
            }
        }
    }

    fn note(&mut self, one: &Found, mut names: BTreeSet<String>, bits: Option<Bits>) {
        names.extend(one.name.clone());
        let start = bytes(self.program, self.file, one.head).start;
        let end = bytes(self.program, self.file, one.last).end;
        let found = MacroType {
            names,
            range: start..end,
            bits,
        };
        self.all.insert((self.file, start), found);
    }
}

impl OwnMacros {
    /// Whether a macro of the program writes the item anew: it shows in what that expands to.
    fn is_told_by(&self, name: &str, one: &Found) -> bool {
        let is_given = |names: &BTreeSet<String>| one.name.as_ref().is_some_and(|name| names.contains(name));
        self.defined.contains(name) && self.given.get(name).is_some_and(is_given)
    }
}

/// An item in tokens.
struct Found {
    /// Nothing where it is a parameter of a macro.
    name: Option<String>,
    /// Where attributes end.
    head: proc_macro2::Span,
    last: proc_macro2::Span,
    has_attribute: bool,
    /// `struct Flags: u32`.
    has_number: bool,
}

fn items(tokens: TokenStream, found: &mut Vec<Found>) {
    let list: Vec<TokenTree> = tokens.into_iter().collect();
    for (at, token) in list.iter().enumerate() {
        match token {
            TokenTree::Group(group) => items(group.stream(), found),
            TokenTree::Ident(word) if word == "struct" || word == "enum" => found.extend(item(&list, at)),
            _ => {}
        }
    }
}

/// The item whose keyword stands there.
fn item(list: &[TokenTree], at: usize) -> Option<Found> {
    let name = match list.get(at + 1..)? {
        [TokenTree::Ident(name), ..] => Some(name.to_string()),
        [TokenTree::Punct(dollar), TokenTree::Ident(_), ..] if dollar.as_char() == '$' => None,
        _ => return None,
    };
    let behind = at + 2 + usize::from(name.is_none());
    let (has_number, last) = match list.get(behind..)? {
        [
            TokenTree::Punct(colon),
            TokenTree::Ident(_),
            TokenTree::Group(body),
            ..,
        ] if colon.as_char() == ':' => (true, body.span()),
        [TokenTree::Group(body), ..] if body.delimiter() != Delimiter::Bracket => (false, body.span()),
        _ => return None,
    };
    let head = match list.get(..at)? {
        [.., public @ TokenTree::Ident(word), TokenTree::Group(of)]
            if word == "pub" && of.delimiter() == Delimiter::Parenthesis =>
        {
            (at - 2, public.span())
        }
        [.., public @ TokenTree::Ident(word)] if word == "pub" => (at - 1, public.span()),
        // `$vis enum`: what it stands for is not known, and attributes go in front of it.
        [.., dollar @ TokenTree::Punct(sign), TokenTree::Ident(_)] if sign.as_char() == '$' => {
            (at - 2, dollar.span())
        }
        _ => (at, list[at].span()),
    };
    let has_attribute = matches!(list.get(..head.0)?, [.., TokenTree::Punct(sign), TokenTree::Group(of)]
        if sign.as_char() == '#' && of.delimiter() == Delimiter::Bracket);
    Some(Found {
        name,
        head: head.1,
        last,
        has_attribute,
        has_number,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::edits::Edited;

    fn derived(text: &str) -> (String, Vec<String>) {
        let program = Program::of_text(text);
        let all = declared(&program);
        let list: Vec<Edit> = all
            .iter()
            .flat_map(|(place, one)| edits(&program, *place, one))
            .collect();
        let names = all.into_values().flat_map(|one| one.names).collect();
        (Edited::new(text, &list).text, names)
    }

    #[test]
    fn types_are_seen_in_what_macros_are_given_and_expand_to() {
        let (text, names) = derived(
            "arg_enum! { #[derive(Clone)] pub enum Kind { Hot } } plain! { enum Not { A } }\n\
             macro_rules! point { (struct $n:ident $f:ident) => { #[derive(Debug)] pub(crate) struct $n { $f: f64 } } }\n\
             point! { struct Point x }",
        );
        assert!(
            text.contains("#[derive(Clone)] #[derive(ckpt::Checkpoint)] pub enum Kind"),
            "{text}"
        );
        assert!(
            text.contains("#[derive(Debug)] #[derive(ckpt::Checkpoint)] pub(crate) struct $n {"),
            "{text}"
        );
        assert!(
            text.contains("(struct $n:ident $f:ident)") && text.contains("plain! { enum Not"),
            "{text}"
        );
        assert_eq!(names, ["Kind", "Point"]);
    }

    #[test]
    fn bits_are_saved_as_their_number() {
        let (text, _) =
            derived("bitflags! { #[derive(Clone)] pub struct Flags: u32 { const A = 1; } }\nfn main() {}");
        assert!(
            text.contains("} } impl ckpt::Checkpoint for Flags { fn save("),
            "{text}"
        );
        assert!(syn::parse_file(&text).is_ok(), "{text}");
    }
}
