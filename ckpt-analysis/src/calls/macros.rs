//! Macros: the arguments of those that are known, and what the others mention.

use super::walk::{Value, Walker};
use super::{CallForm, Trap};
use crate::items::Def;
use crate::items::amount::{Amount, Shape};
use crate::items::hints::Ty;
use crate::items::resolve::{Namespace, Resolved};
use ckpt_compiler::library::Macros;
use ckpt_compiler::syntax::macros::{makes_a_list, may_hold_a_site, name_of_macro};
use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};
use std::collections::HashSet;
use syn::Expr;

impl Walker<'_> {
    pub(super) fn macro_call(&mut self, mac: &syn::Macro) -> Value {
        let name = name_of_macro(mac);
        if name == "checkpoint" {
            return Value::default();
        }
        self.spend(self.library.cost_of_call(&name));
        let parts = split(&mac.tokens);
        if makes_a_list(self.library, mac) {
            return self.vec_macro(&parts);
        }
        if self.library.formats(&name) {
            let rarely = if self.library.says(&name, Macros::Rare) {
                0.01
            } else {
                1.0
            };
            return self.with_weight(rarely, |walker| walker.formatted_parts(&name, &parts));
        }
        let own = self.resolver.items.macros.get(&name);
        let mut entered = HashSet::from([name.clone()]);
        self.trapped(Trap::Macro(name), |walker| {
            let parsed = walker.macro_parts(&parts);
            let at = syn::spanned::Spanned::span(&mac.path);
            walker.mentioned(&mac.tokens, at, &mut entered);
            if let Some(expands_to) = own {
                walker.mentioned(expands_to, at, &mut entered);
            }
            parsed
        })
    }

    fn vec_macro(&mut self, (parts, separator): &(Vec<TokenStream>, char)) -> Value {
        let values: Vec<Value> = parts
            .iter()
            .filter_map(parse)
            .map(|expr| self.stored(&expr))
            .collect();
        let repeats = *separator == ';' && values.len() == 2;
        let length = if repeats {
            values[1].number.clone()
        } else if values.is_empty() {
            Amount::Default(0.0)
        } else {
            Amount::Known(values.len() as f64)
        };
        self.spend_each(0.3, &length);
        let first = values.into_iter().next().unwrap_or_default();
        let shape = Shape::of(length, first.shape().copied());
        Value::shaped(Ty::list(first.ty), shape)
    }

    /// What the macro evaluates only if it needs it can hold a site only where a decision can be put in front.
    fn formatted_parts(&mut self, name: &str, (parts, _): &(Vec<TokenStream>, char)) -> Value {
        let mut last = Value::default();
        for (index, part) in parts.iter().enumerate() {
            let Some(expr) = parse(part) else { continue };
            last = match may_hold_a_site(self.library, name, index) {
                true => self.eval(&expr),
                false => self.trapped(Trap::Macro(name.to_owned()), |walker| walker.eval(&expr)),
            };
        }
        last
    }

    fn macro_parts(&mut self, (parts, _): &(Vec<TokenStream>, char)) -> Value {
        let mut last = Value::default();
        for part in parts {
            if let Some(expr) = parse(part) {
                last = self.eval(&expr);
            }
        }
        last
    }

    /// Functions that the tokens of a macro name, also those of macros of the program that it uses; all of them count as
    /// called where the macro stands. Each macro in `entered` has been looked through: macros may use themselves.
    fn mentioned(&mut self, tokens: &TokenStream, at: Span, entered: &mut HashSet<String>) {
        let mut previous: Option<(proc_macro2::Ident, char)> = None;
        let mut before = ' ';
        for token in tokens.clone() {
            match token {
                TokenTree::Group(group) => {
                    match previous.take() {
                        Some((name, '!')) => {
                            let own = self.resolver.items.macros.get(&name.to_string());
                            if let Some(tokens) = own
                                && entered.insert(name.to_string())
                            {
                                self.mentioned(tokens, at, entered);
                            }
                        }
                        Some((name, mark)) if group.delimiter() == Delimiter::Parenthesis => {
                            self.mention(&name, mark == '.', at);
                        }
                        _ => {}
                    }
                    self.mentioned(&group.stream(), at, entered);
                    before = ' ';
                }
                TokenTree::Ident(ident) => previous = Some((ident, before)),
                TokenTree::Punct(one) if one.as_char() == '!' => {
                    previous = previous.map(|(name, _)| (name, '!'));
                }
                TokenTree::Punct(one) => {
                    previous = None;
                    before = one.as_char();
                }
                TokenTree::Literal(_) => previous = None,
            }
        }
    }

    /// A function, or a method of a receiver of which nothing is known, that a macro calls.
    fn mention(&mut self, name: &proc_macro2::Ident, is_method: bool, at: Span) {
        if is_method {
            let text = name.to_string();
            let found = self.methods.named(&text);
            if !found.is_empty() && !self.library.is_common(&text, 0) && !self.library.is_common(&text, 1) {
                self.call(found, false, CallForm::Unnamed, at, &[]);
            }
            return;
        }
        let path = [name.to_string()];
        let found = self
            .resolver
            .path(self.function.body_scope, &path, Namespace::Values);
        if let Resolved::Item(Def::Function(id)) = found {
            self.call(vec![id], true, CallForm::Unnamed, at, &[]);
        }
    }
}

/// The parts between the commas or semicolons.
fn split(tokens: &TokenStream) -> (Vec<TokenStream>, char) {
    let mut parts = vec![Vec::new()];
    let mut separator = ',';
    for token in tokens.clone() {
        match token {
            TokenTree::Punct(one) if one.as_char() == ',' || one.as_char() == ';' => {
                separator = one.as_char();
                parts.push(Vec::new());
            }
            other => {
                if let Some(last) = parts.last_mut() {
                    last.push(other);
                }
            }
        }
    }
    let parts = parts
        .into_iter()
        .filter(|part| !part.is_empty())
        .map(|part| part.into_iter().collect())
        .collect();
    (parts, separator)
}

/// An argument, with or without `name =` before it.
fn parse(tokens: &TokenStream) -> Option<Expr> {
    match syn::parse2::<Expr>(tokens.clone()) {
        Ok(Expr::Assign(assign)) => Some(*assign.right),
        Ok(Expr::Closure(_)) | Err(_) => None,
        Ok(expr) => Some(expr),
    }
}
