//! What an initialiser moves into the part of its value that a restart fills.

use super::struct_at;
use crate::items::{Function, Items};
use crate::source::Position;
use crate::source::Program;
use crate::source::locate::bytes;
use ckpt_compiler::library::{Library, Numbers, last_name};
use ckpt_compiler::visit::{self, Visit};
use quote::ToTokens;
use std::collections::BTreeSet;
use syn::spanned::Spanned;
use syn::{Expr, Stmt};

/// The variables that the `let` at `variable` moves into fields that are filled, as values of a literal of the struct at
/// `ty`, or as arguments of a function of it that is one literal. At a restart anything of their type will do.
pub(super) fn moved_parts(
    library: &Library,
    program: &Program,
    items: &Items,
    variable: Position,
    ty: Position,
    kept: &BTreeSet<Position>,
) -> Vec<String> {
    let Some(item) = struct_at(program, ty) else {
        return Vec::new();
    };
    let fields = Fields {
        library,
        name: item.ident.to_string(),
        filled: item
            .fields
            .iter()
            .filter(|field| !kept.contains(&(ty.0, bytes(program, ty.0, field.span()).start)))
            // An object cannot be made of nothing.
            .filter(|field| !field.ty.to_token_stream().to_string().contains("dyn "))
            .filter_map(|field| field.ident.as_ref().map(ToString::to_string))
            .collect(),
    };
    let local = let_at(program, items, variable).and_then(|(_, local)| local.init.as_ref());
    let names = match local.map(|init| &*init.expr) {
        Some(Expr::Struct(literal)) => fields.filled_by(literal),
        Some(Expr::Call(call)) => fields.filled_through(items, call),
        _ => Vec::new(),
    };
    let mut seen = BTreeSet::new();
    let once: Vec<String> = names
        .into_iter()
        .filter(|name| seen.insert(name.clone()))
        .collect();
    once
}

/// The struct's fields that are filled.
struct Fields<'l> {
    library: &'l Library,
    name: String,
    filled: BTreeSet<String>,
}

impl Fields<'_> {
    /// The variables whose values become filled fields as they are, and are not used for others.
    fn filled_by(&self, literal: &syn::ExprStruct) -> Vec<String> {
        let name = last_name(&literal.path);
        let is_own = name == self.name || name == "Self";
        if !is_own || literal.rest.is_some() {
            return Vec::new();
        }
        let name_of = |field: &syn::FieldValue| match &field.member {
            syn::Member::Named(name) => name.to_string(),
            syn::Member::Unnamed(index) => index.index.to_string(),
        };
        let values = || literal.fields.iter().map(|field| (name_of(field), &field.expr));
        let moved = values().filter(|(field, _)| self.filled.contains(field));
        let moved: Vec<String> = moved.filter_map(|(_, value)| variable(value)).collect();
        let is_used_elsewhere = |name: &String| {
            values().any(|(field, value)| {
                uses(value, name) > 0 && !(self.filled.contains(&field) && is_simple(self.library, value))
            })
        };
        moved
            .into_iter()
            .filter(|name| !is_used_elsewhere(name))
            .collect()
    }

    /// The same for the arguments of `Self::new(..)`, where that does nothing but put them into a literal.
    fn filled_through(&self, items: &Items, call: &syn::ExprCall) -> Vec<String> {
        let Expr::Path(callee) = &*call.func else {
            return Vec::new();
        };
        let mut segments = callee.path.segments.iter().rev().map(|one| one.ident.to_string());
        let (Some(function), Some(owner)) = (segments.next(), segments.next()) else {
            return Vec::new();
        };
        if owner != self.name {
            return Vec::new();
        }
        let makers = makers(items, &self.name, &function);
        let [maker] = makers[..] else {
            return Vec::new();
        };
        let Some(Stmt::Expr(Expr::Struct(literal), None)) = maker.block.stmts.last() else {
            return Vec::new();
        };
        let filled = self.filled_by(literal);
        let parameters = maker.sig.inputs.iter().map(|input| match input {
            syn::FnArg::Typed(typed) => match &*typed.pat {
                syn::Pat::Ident(name) if name.subpat.is_none() => Some(name.ident.to_string()),
                _ => None,
            },
            syn::FnArg::Receiver(_) => None,
        });
        let goes_there = |name: &String| filled.contains(name) && count(&maker.block, name) == 1;
        let pairs: Vec<(&Expr, bool)> = call
            .args
            .iter()
            .zip(parameters.map(|name| name.is_some_and(|name| goes_there(&name))))
            .collect();
        let moved = pairs.iter().filter(|(_, goes)| *goes);
        let moved: Vec<String> = moved.filter_map(|(argument, _)| variable(argument)).collect();
        let is_used_elsewhere = |name: &String| {
            pairs
                .iter()
                .any(|(argument, goes)| !goes && uses(argument, name) > 0)
        };
        moved
            .into_iter()
            .filter(|name| !is_used_elsewhere(name))
            .collect()
    }
}

/// The name of a variable that stands alone.
pub(super) fn variable(value: &Expr) -> Option<String> {
    let Expr::Path(path) = value else { return None };
    let name = path.path.get_ident()?.to_string();
    name.starts_with(|first: char| first.is_lowercase() || first == '_')
        .then_some(name)
}

/// A variable, or what only looks at one: `cells.len()`.
fn is_simple(library: &Library, value: &Expr) -> bool {
    match value {
        Expr::MethodCall(call) => {
            library.is_call(call, Numbers::Length)
                && call.args.is_empty()
                && variable(&call.receiver).is_some()
        }
        value => variable(value).is_some(),
    }
}

pub(super) fn uses(value: &Expr, name: &str) -> usize {
    let mut mentions = Mentions(name, 0);
    mentions.visit_expr(value);
    mentions.1
}

pub(super) fn count(block: &syn::Block, name: &str) -> usize {
    let mut mentions = Mentions(name, 0);
    mentions.visit_block(block);
    mentions.1
}

struct Mentions<'n>(&'n str, usize);

impl<'ast> Visit<'ast> for Mentions<'_> {
    fn visit_expr_path(&mut self, path: &'ast syn::ExprPath) {
        self.1 += usize::from(path.path.is_ident(self.0));
        visit::visit_expr_path(self, path);
    }

    fn visit_macro(&mut self, mac: &'ast syn::Macro) {
        let names = ckpt_compiler::syntax::mentions::names_in(&mac.tokens);
        self.1 += 2 * usize::from(names.contains(self.0));
    }
}

/// Functions of a type by their name.
pub(super) fn makers<'p>(items: &'p Items, owner: &str, function: &str) -> Vec<&'p syn::ItemFn> {
    let is_own = |one: &Function| one.name == function && one.self_type.as_deref() == Some(owner);
    items
        .once_each()
        .filter(|one| is_own(one))
        .map(|one| &one.item)
        .collect()
}

/// The `let` that begins there, and the function that it is in.
pub(super) fn let_at<'p>(
    program: &Program,
    items: &'p Items,
    place: Position,
) -> Option<(&'p Function, &'p syn::Local)> {
    let function = items.function_around(place)?;
    let mut finder = LetAt(program, place, None);
    finder.visit_block(&function.item.block);
    Some((function, finder.2?))
}

/// The initialiser of the `let` that begins there.
pub fn initialiser(program: &Program, place: Position) -> Option<&Expr> {
    let mut finder = LetAt(program, place, None);
    finder.visit_file(&program.file(place.0).ast);
    finder.2?.init.as_ref().map(|init| &*init.expr)
}

struct LetAt<'a, 'p>(&'a Program, Position, Option<&'p syn::Local>);

impl<'p> Visit<'p> for LetAt<'_, 'p> {
    fn visit_local(&mut self, local: &'p syn::Local) {
        if bytes(self.0, self.1.0, local.span()).start == self.1.1 {
            self.2 = Some(local);
        }
        visit::visit_local(self, local);
    }
}
