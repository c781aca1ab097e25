//! Macros: of those that are known, their arguments; of others, what they may touch.

use super::Lowerer;
use crate::items::Def;
use crate::items::resolve::{Namespace, Resolved};
use ckpt_compiler::library::Macros;
use ckpt_compiler::syntax::captured::captured_in_text;
use ckpt_safepoints::skeleton::{CallOp, ControlOp, MemoryOp, Op, ValueOp, Var};
use ckpt_safepoints::values::{Binary, Value};
use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use std::collections::BTreeSet;
use std::rc::Rc;
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::{Expr, Token};

impl Lowerer<'_> {
    pub(super) fn macro_call(&mut self, mac: &syn::Macro) {
        let name = super::patterns::last(&mac.path);
        self.at = self.note(syn::spanned::Spanned::span(&mac.path));
        let says = |name: &str, key| self.facts.library.says(name, key);
        match &*name {
            name if says(name, Macros::Lists) => self.vec_macro(mac),
            name if says(name, Macros::Matches) => self.matches_macro(mac),
            name if says(name, Macros::Condition) => self.assertion(mac, None),
            name if says(name, Macros::Comparison) => self.assertion(
                mac,
                Some(if says(name, Macros::Differing) {
                    Binary::Ne
                } else {
                    Binary::Eq
                }),
            ),
            name if self.library().ends(name) => {
                self.op(ControlOp::End);
                self.push(Value::Unit);
            }
            name if self.library().formats(name) => self.arguments_only(mac, name),
            _ => self.unknown_macro(mac),
        }
    }

    fn arguments_only(&mut self, mac: &syn::Macro, name: &str) {
        let Ok(arguments) = Punctuated::<Expr, Token![,]>::parse_terminated.parse2(mac.tokens.clone()) else {
            self.unknown_macro(mac);
            return;
        };
        let says = |key| self.facts.library.says(name, key);
        if says(Macros::Computes) && says(Macros::GivesText) && self.text(&arguments) {
            return;
        }
        for argument in &arguments {
            match argument {
                Expr::Lit(_) => continue,
                Expr::Assign(named) => self.expr(&named.right),
                // A macro borrows what it prints, and writes to what it prints to.
                other => self.expr(other),
            }
            self.op(ValueOp::Pop);
        }
        self.push(match self.library().says(name, Macros::GivesText) {
            true => Value::Data,
            false => Value::Unit,
        });
    }

    /// `format!(..)` of what is known to be looked at; an address is no such thing, nor a name that is no variable.
    fn text(&mut self, arguments: &Punctuated<Expr, Token![,]>) -> bool {
        let Some(Expr::Lit(pattern)) = arguments.first() else {
            return false;
        };
        let pattern = pattern.lit.to_token_stream().to_string();
        let named = |name: &String| {
            arguments.iter().any(
                |one| matches!(one, Expr::Assign(one) if one.left.to_token_stream().to_string() == *name),
            )
        };
        let captured = captured_in_text(&pattern).into_iter().filter(|name| !named(name));
        let captured: Option<Vec<Var>> = captured.map(|name| Some(self.variable(&name)?.0)).collect();
        let Some(captured) = captured.filter(|_| !pattern.contains(":p")) else {
            return false;
        };
        for argument in arguments.iter().skip(1) {
            match argument {
                Expr::Assign(named) => self.expr(&named.right),
                other => self.expr(other),
            }
        }
        let count = arguments.len() - 1 + captured.len();
        for variable in captured {
            self.op(MemoryOp::Load(variable));
        }
        let functions = self.facts.items.functions.iter();
        let writers = functions.filter(|one| one.name == "fmt").map(|one| one.id.0);
        let op = Op::Call(CallOp::Text(pattern.into(), count, writers.collect()));
        self.op(op);
        true
    }

    /// The process ends unless it holds.
    fn assertion(&mut self, mac: &syn::Macro, operator: Option<Binary>) {
        let Ok(arguments) = Punctuated::<Expr, Token![,]>::parse_terminated.parse2(mac.tokens.clone()) else {
            self.unknown_macro(mac);
            return;
        };
        let mut arguments = arguments.iter();
        let Some(first) = arguments.next() else {
            self.unknown_macro(mac);
            return;
        };
        self.expr(first);
        if let Some(operator) = operator {
            match arguments.next() {
                Some(second) => self.expr(second),
                None => self.push(Value::Unknown),
            }
            self.op(ValueOp::Binary(operator));
        }
        let branch = self.op(ControlOp::Branch(0, 0));
        self.push(Value::Unit);
        let jump = self.op(ControlOp::Jump(0));
        let other = self.op(ControlOp::End);
        self.push(Value::Unit);
        let join = self.here();
        self.context().code.ops[branch] = Op::Control(ControlOp::Branch(other, join));
        self.context().code.ops[jump] = Op::Control(ControlOp::Jump(join));
    }

    fn vec_macro(&mut self, mac: &syn::Macro) {
        if let Ok(array) = syn::parse2::<Expr>(bracketed(&mac.tokens)) {
            self.expr(&array);
        } else {
            self.unknown_macro(mac);
        }
    }

    fn matches_macro(&mut self, mac: &syn::Macro) {
        let parse = |input: syn::parse::ParseStream<'_>| {
            let expr: Expr = input.parse()?;
            input.parse::<Token![,]>()?;
            let pat = syn::Pat::parse_multi_with_leading_vert(input)?;
            let guard = match input.parse::<Option<Token![if]>>()? {
                Some(_) => Some(input.parse::<Expr>()?),
                None => None,
            };
            input.parse::<Option<Token![,]>>()?;
            Ok((expr, pat, guard))
        };
        match parse.parse2(mac.tokens.clone()) {
            Ok((expr, pat, None)) => {
                self.expr(&expr);
                let slot = self.slot();
                self.op(MemoryOp::Declare(slot));
                let pattern = self.scoped(|lowerer| lowerer.pattern(&pat));
                self.op(MemoryOp::Test(slot, Rc::new(pattern)));
                self.op(MemoryOp::Clear(slot..slot + 1));
            }
            _ => self.unknown_macro(mac),
        }
    }

    /// A macro of unknown meaning: it may write to every variable that it mentions and call every function.
    fn unknown_macro(&mut self, mac: &syn::Macro) {
        let mut names = BTreeSet::new();
        let mut entered = BTreeSet::new();
        let own = super::patterns::last(&mac.path).to_string();
        if let Some(tokens) = self.facts.items.macros.get(&own) {
            entered.insert(own);
            self.names_in(tokens, &mut names, &mut entered);
        }
        self.names_in(&mac.tokens, &mut names, &mut entered);
        if let Some(call) = names.iter().find(|name| self.model.method(name).is_some()) {
            let why = format!("`{call}` is in a macro whose meaning is not known");
            self.op(ControlOp::Opaque(why.into()));
        }
        self.told_in_macro(&names);
        let variables: Vec<_> = names
            .iter()
            .filter_map(|name| self.variable(name))
            .map(|(variable, _)| variable)
            .collect();
        let mut functions = Vec::new();
        for name in &names {
            let scope = self.function.body_scope;
            if let Resolved::Item(Def::Function(id)) =
                self.resolver
                    .path(scope, std::slice::from_ref(name), Namespace::Values)
            {
                functions.push(id.0);
            }
            let methods = self.facts.items.functions.iter();
            functions.extend(
                methods
                    .filter(|one| one.has_receiver() && one.name == *name)
                    .map(|one| one.id.0),
            );
        }
        if !functions.is_empty() {
            self.op(CallOp::Any(functions));
        }
        self.op(MemoryOp::Havoc(variables));
        self.push(Value::Unknown);
    }

    pub(super) fn names_in(
        &self,
        tokens: &TokenStream,
        names: &mut BTreeSet<String>,
        entered: &mut BTreeSet<String>,
    ) {
        for token in tokens.clone() {
            match token {
                TokenTree::Group(group) => self.names_in(&group.stream(), names, entered),
                TokenTree::Ident(ident) => {
                    let name = ident.to_string();
                    if let Some(own) = self.facts.items.macros.get(&name)
                        && entered.insert(name.clone())
                    {
                        self.names_in(own, names, entered);
                    }
                    names.insert(name);
                }
                _ => {}
            }
        }
    }
}

fn bracketed(tokens: &TokenStream) -> TokenStream {
    let group = proc_macro2::Group::new(proc_macro2::Delimiter::Bracket, tokens.clone());
    TokenTree::Group(group).into()
}
