//! A macro that is defined in a function's body may use the variables of that function without being given them. Here
//! they are put among what it is given, `next!()` becomes `next!({seed cells},)`, and each of its rules takes and
//! forgets them, so that whoever looks at a call sees what it touches. What the macro expands to stays as it is: its
//! names mean what they mean where it is defined.

use super::{Definitions, each_name_used, is_call, is_punct};
use crate::names::spelling;
use crate::visit::{self, Visit, VisitMut};
use proc_macro2::{Delimiter, Group, Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use syn::{Block, ItemFn, Signature};

/// The names that each macro of a body uses of its function's variables.
type Captured = BTreeMap<String, BTreeSet<String>>;

/// The function, with its variables among what its own macros are given; unchanged where it has no such macros.
pub fn named(item: TokenStream) -> TokenStream {
    let Ok(mut function) = syn::parse2::<ItemFn>(item.clone()) else {
        return item;
    };
    match in_body(&function.sig, &function.block) {
        Some(block) => {
            *function.block = block;
            function.to_token_stream()
        }
        None => item,
    }
}

/// The same for all functions of a file.
pub fn named_in_file(file: &mut syn::File) {
    struct Functions;
    impl VisitMut for Functions {
        fn visit_item_fn_mut(&mut self, one: &mut ItemFn) {
            match in_body(&one.sig, &one.block) {
                Some(block) => *one.block = block,
                None => visit::visit_item_fn_mut(self, one),
            }
        }
        fn visit_impl_item_fn_mut(&mut self, one: &mut syn::ImplItemFn) {
            match in_body(&one.sig, &one.block) {
                Some(block) => one.block = block,
                None => visit::visit_impl_item_fn_mut(self, one),
            }
        }
        fn visit_trait_item_fn_mut(&mut self, one: &mut syn::TraitItemFn) {
            let body = one.default.as_ref();
            match body.and_then(|block| in_body(&one.sig, block)) {
                Some(block) => one.default = Some(block),
                None => visit::visit_trait_item_fn_mut(self, one),
            }
        }
    }
    Functions.visit_file_mut(file);
}

fn in_body(sig: &Signature, block: &Block) -> Option<Block> {
    let definitions = Definitions::of_block(block);
    if definitions.0.is_empty() {
        return None;
    }
    let captured = captured(&definitions, &variables(sig, block));
    if captured.values().all(BTreeSet::is_empty) {
        return None;
    }
    syn::parse2(rewritten(block.to_token_stream(), &captured)).ok()
}

/// The names of all variables of a function.
fn variables(sig: &Signature, block: &Block) -> HashSet<String> {
    struct VariableNames(HashSet<String>);
    impl<'ast> Visit<'ast> for VariableNames {
        fn visit_pat_ident(&mut self, one: &'ast syn::PatIdent) {
            self.0.insert(spelling(&one.ident));
            visit::visit_pat_ident(self, one);
        }
        fn visit_receiver(&mut self, _: &'ast syn::Receiver) {
            self.0.insert("self".to_owned());
        }
    }
    let mut names = VariableNames(HashSet::new());
    names.visit_signature(sig);
    names.visit_block(block);
    names.0
}

fn captured(definitions: &Definitions, variables: &HashSet<String>) -> Captured {
    let mut captured = Captured::new();
    let mut uses: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for (name, definition) in &definitions.0 {
        let (mut own, mut others) = (BTreeSet::new(), BTreeSet::new());
        each_name_used(definition, &mut |word| {
            if variables.contains(word) {
                own.insert(word.to_owned());
            }
            if definitions.0.contains_key(word) {
                others.insert(word.to_owned());
            }
        });
        captured.insert(name.clone(), own);
        uses.insert(name, others);
    }
    // What a macro uses, those use as well that use it.
    loop {
        let mut grown = false;
        for (name, others) in &uses {
            let more: BTreeSet<String> = others.iter().flat_map(|other| captured[other].clone()).collect();
            let own = captured.entry((*name).to_owned()).or_default();
            let before = own.len();
            own.extend(more);
            grown |= own.len() > before;
        }
        if !grown {
            return captured;
        }
    }
}

fn rewritten(tokens: TokenStream, captured: &Captured) -> TokenStream {
    let list: Vec<TokenTree> = tokens.into_iter().collect();
    let names_of = |word: &TokenTree| {
        let names = captured.get(&word.to_string());
        names.filter(|names| matches!(word, TokenTree::Ident(_)) && !names.is_empty())
    };
    let mut out = TokenStream::new();
    for (index, token) in list.iter().enumerate() {
        let TokenTree::Group(group) = token else {
            out.extend([token.clone()]);
            continue;
        };
        let called = index.checked_sub(2).filter(|word| is_call(&list, *word));
        let defined = index.checked_sub(3).filter(|word| {
            is_punct(list.get(word + 1), '!')
                && matches!(&list[*word], TokenTree::Ident(one) if one == "macro_rules")
        });
        let inner = rewritten(group.stream(), captured);
        let stream = match (called, defined) {
            (Some(word), _) if names_of(&list[word]).is_some() => {
                let names = names_of(&list[word]).into_iter().flatten();
                given(names, list[word].span(), inner)
            }
            (_, Some(word)) if names_of(&list[word + 2]).is_some() => with_taken(inner),
            _ => inner,
        };
        out.extend([TokenTree::Group(grouped(group, stream))]);
    }
    out
}

fn grouped(group: &Group, stream: TokenStream) -> Group {
    let mut new = Group::new(group.delimiter(), stream);
    new.set_span(group.span());
    new
}

fn given<'n>(names: impl Iterator<Item = &'n String>, span: Span, rest: TokenStream) -> TokenStream {
    let names = names.map(|name| format_ident!("{name}", span = span));
    quote!({ #(#names)* }, #rest)
}

/// The rules of a definition, each of which takes the names first and forgets them.
fn with_taken(rules: TokenStream) -> TokenStream {
    let list: Vec<TokenTree> = rules.into_iter().collect();
    let is_pattern = |index: usize| is_punct(list.get(index + 1), '=') && is_punct(list.get(index + 2), '>');
    let rules = list.iter().enumerate().map(|(index, token)| match token {
        TokenTree::Group(group) if is_pattern(index) && group.delimiter() != Delimiter::None => {
            let pattern = group.stream();
            TokenTree::Group(grouped(group, quote!({ $($__ckpt_used:tt)* }, #pattern)))
        }
        other => other.clone(),
    });
    rules.collect()
}
