//! Methods of traits whose parameters are types alone, as the edition of 2015 permits: `fn step(&mut self, f64);` is
//! `fn step(&mut self, _: f64);`.

use proc_macro2::{Delimiter, Group, Ident, Punct, Spacing, TokenStream, TokenTree};

/// The same tokens, with a `_` for each such parameter. What is given to macros stays as it is.
pub(super) fn with_names(tokens: TokenStream) -> TokenStream {
    let mut out = Vec::new();
    let mut in_trait = false;
    for token in tokens {
        match &token {
            TokenTree::Ident(word) if word == "trait" => in_trait = true,
            TokenTree::Punct(punct) if punct.as_char() == ';' => in_trait = false,
            _ => {}
        }
        out.push(match token {
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace && !is_of_macro(&out) => {
                let is_body = std::mem::take(&mut in_trait);
                let inner = with_names(group.stream());
                regrouped(&group, if is_body { methods(inner) } else { inner })
            }
            other => other,
        });
    }
    out.into_iter().collect()
}

/// Whether a group behind these tokens is given to a macro: `m!`, `macro_rules! m`.
fn is_of_macro(before: &[TokenTree]) -> bool {
    match before {
        [.., TokenTree::Ident(_), last] if is_punct(last, '!') => true,
        [.., mark, TokenTree::Ident(_)] => is_punct(mark, '!'),
        _ => false,
    }
}

/// The body of a trait.
fn methods(body: TokenStream) -> TokenStream {
    let mut out: Vec<TokenTree> = Vec::new();
    // How many `<` are open in the head of a method; none where no head is.
    let mut head: Option<usize> = None;
    for token in body {
        let arrow = out.last().is_some_and(|last| is_punct(last, '-'));
        match &token {
            TokenTree::Ident(word) if word == "fn" && head.is_none() => head = Some(0),
            TokenTree::Punct(punct) => match (punct.as_char(), &mut head) {
                ('<', Some(open)) => *open += 1,
                ('>', Some(open)) if !arrow => *open = open.saturating_sub(1),
                (';', _) => head = None,
                _ => {}
            },
            _ => {}
        }
        out.push(match token {
            TokenTree::Group(group) if head == Some(0) && group.delimiter() == Delimiter::Parenthesis => {
                head = None;
                regrouped(&group, parameters(group.stream()))
            }
            other => other,
        });
    }
    out.into_iter().collect()
}

fn parameters(list: TokenStream) -> TokenStream {
    let mut out = TokenStream::new();
    let mut one: Vec<TokenTree> = Vec::new();
    let mut open = 0_usize;
    for token in list {
        match &token {
            TokenTree::Punct(punct) if punct.as_char() == '<' => open += 1,
            TokenTree::Punct(punct)
                if punct.as_char() == '>' && !one.last().is_some_and(|last| is_punct(last, '-')) =>
            {
                open = open.saturating_sub(1);
            }
            TokenTree::Punct(punct) if punct.as_char() == ',' && open == 0 => {
                out.extend(named(std::mem::take(&mut one)));
                out.extend([token]);
                continue;
            }
            _ => {}
        }
        one.push(token);
    }
    out.extend(named(one));
    out
}

fn named(parameter: Vec<TokenTree>) -> Vec<TokenTree> {
    let Some(first) = parameter.first().filter(|_| !has_name(&parameter)) else {
        return parameter;
    };
    let span = first.span();
    let mut colon = Punct::new(':', Spacing::Alone);
    colon.set_span(span);
    let mut all = vec![TokenTree::Ident(Ident::new("_", span)), TokenTree::Punct(colon)];
    all.extend(parameter);
    all
}

/// Whether there is a pattern before the type, or this is a receiver.
fn has_name(parameter: &[TokenTree]) -> bool {
    let is_self = matches!(parameter.last(), Some(TokenTree::Ident(word)) if word == "self");
    // `::` is two signs, of which the first is joined to the second.
    let mut joined = false;
    let mut open = 0_usize;
    let has_colon = parameter.iter().any(|token| {
        let TokenTree::Punct(punct) = token else {
            joined = false;
            return false;
        };
        match punct.as_char() {
            '<' => open += 1,
            '>' => open = open.saturating_sub(1),
            _ => {}
        }
        let before = joined;
        joined = punct.as_char() == ':' && punct.spacing() == Spacing::Joint && !before;
        punct.as_char() == ':' && !before && !joined && open == 0
    });
    is_self || has_colon || parameter.is_empty()
}

fn is_punct(token: &TokenTree, one: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == one)
}

fn regrouped(group: &Group, inner: TokenStream) -> TokenTree {
    let mut new = Group::new(group.delimiter(), inner);
    new.set_span(group.span());
    TokenTree::Group(new)
}
