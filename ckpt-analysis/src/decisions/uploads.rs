//! What a function that makes arrays on devices gives them to begin with, by a command of its own: `queue.write_buffer(&now, 0, &start)`,
//! `now.write(&start).enq()`. Made again they begin so again, and are filled from the checkpoint after that.

use super::devices::Devices;
use super::lent_readers::mentions;
use crate::items::{Function, Items};
use ckpt_compiler::library::{DeviceMethods, Library, Types};
use ckpt_compiler::visit::{self, Visit};
use quote::ToTokens;
use std::collections::{BTreeMap, BTreeSet};
use syn::{Expr, ExprMethodCall};

/// The variables of a function that have arrays which it has made, itself or by a function of the program that does nothing else.
#[derive(Debug, Default)]
pub(super) struct OwnArrays(BTreeSet<String>);

impl OwnArrays {
    /// Those of a function that is lent some, in these parameters, by one that has made them.
    pub(super) fn of(
        library: &Library,
        devices: &Devices<'_>,
        items: &Items,
        function: &syn::ItemFn,
        lent: &BTreeSet<String>,
    ) -> Self {
        if !devices.are_used() {
            return Self::default();
        }
        let mut made = Made {
            library,
            devices,
            items,
            by_name: BTreeMap::new(),
        };
        made.visit_signature(&function.sig);
        made.by_name.extend(lent.iter().map(|name| (name.clone(), true)));
        made.visit_block(&function.block);
        let own = made.by_name.into_iter().filter(|(_, are_made)| *are_made);
        Self(own.map(|(name, _)| name).collect())
    }

    /// Their names.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    pub(super) fn are_none(&self) -> bool {
        self.0.is_empty()
    }

    /// The parameters of a function in which all of its calls in this one, as many as there are, lend it arrays of these. It may have
    /// another name there, or be called by a pointer.
    pub(super) fn lent_to(&self, caller: &syn::ItemFn, callee: &Function, count: usize) -> BTreeSet<String> {
        if self.are_none() || count == 0 {
            return BTreeSet::new();
        }
        let mut calls = CallsOf {
            name: &callee.name,
            arguments: Vec::new(),
        };
        calls.visit_block(&caller.block);
        // One may stand where it is not looked for, as in a macro.
        let mentioned = mentions(caller.block.to_token_stream(), &callee.name);
        if [mentioned, count] != [calls.arguments.len(); 2] {
            return BTreeSet::new();
        }
        let inputs = callee.item.sig.inputs.iter();
        let parameters = inputs.filter_map(|input| match input {
            syn::FnArg::Typed(typed) => Some(&*typed.pat),
            syn::FnArg::Receiver(_) => None,
        });
        let is_lent = |at: usize| {
            let mut all = { calls.arguments.iter() }.map(|arguments| {
                // Called by its path, a method has its receiver in front.
                let shift = arguments.len().checked_sub(callee.item.sig.inputs.len());
                let before = usize::from(callee.has_receiver() && shift == Some(0));
                arguments.get(at + before).and_then(|one| lent(one))
            });
            all.all(|name| name.is_some_and(|name| self.0.contains(&name)))
        };
        let of_arrays = parameters.enumerate().filter(|(at, _)| is_lent(*at));
        let names = of_arrays.filter_map(|(_, pattern)| match pattern {
            syn::Pat::Ident(one) => Some(one.ident.to_string()),
            _ => None,
        });
        names.collect()
    }

    /// Whether the call gives one of these content from the program's memory, and does nothing else.
    pub(super) fn are_begun_by(&self, library: &Library, call: &ExprMethodCall) -> bool {
        if self.0.is_empty() {
            return false;
        }
        let method = call.method.to_string();
        if library.says(&method, Types::DeviceUploads) {
            let mut lent = call.args.iter().filter_map(|argument| lent_by(library, argument));
            return lent.any(|name| self.0.contains(&name));
        }
        // The commands of one are methods of it, up to what gives them.
        let mut fills = library.says(&method, Types::DeviceFills);
        let mut receiver = &*call.receiver;
        while let Expr::MethodCall(inner) = receiver {
            fills |= library.says(&inner.method.to_string(), Types::DeviceFills);
            receiver = &inner.receiver;
        }
        fills && name(receiver).is_some_and(|name| self.0.contains(&name))
    }
}

/// The variable that an argument lends: `&now`, `now.as_image_copy()`, `TexelCopyTextureInfo { texture: &now, .. }`.
fn lent_by(library: &Library, argument: &Expr) -> Option<String> {
    match argument {
        Expr::Reference(_) | Expr::Path(_) => lent(argument),
        Expr::MethodCall(call) if library.says(&call.method.to_string(), DeviceMethods::Same) => {
            name(&call.receiver)
        }
        Expr::Struct(one) => one.fields.iter().find_map(|field| lent_by(library, &field.expr)),
        _ => None,
    }
}

/// The variable in `now`, which may be a reference, `&now` or `&mut now`.
fn lent(argument: &Expr) -> Option<String> {
    match argument {
        Expr::Reference(one) => name(&one.expr),
        other => name(other),
    }
}

/// Finds what calls of a name are given.
struct CallsOf<'n> {
    name: &'n str,
    arguments: Vec<Vec<&'n Expr>>,
}

impl<'n> Visit<'n> for CallsOf<'n> {
    fn visit_expr_call(&mut self, call: &'n syn::ExprCall) {
        let is = matches!(&*call.func, Expr::Path(path) if path.path.segments.last().is_some_and(|last| last.ident == self.name));
        if is {
            self.arguments.push(call.args.iter().collect());
        }
        visit::visit_expr_call(self, call);
    }

    fn visit_expr_method_call(&mut self, call: &'n ExprMethodCall) {
        if call.method == self.name {
            self.arguments.push(call.args.iter().collect());
        }
        visit::visit_expr_method_call(self, call);
    }
}

fn name(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Path(path) => path.path.get_ident().map(ToString::to_string),
        Expr::Paren(inner) => name(&inner.expr),
        _ => None,
    }
}

/// Whether all variables of a name are made as arrays.
struct Made<'n> {
    library: &'n Library,
    devices: &'n Devices<'n>,
    items: &'n Items,
    by_name: BTreeMap<String, bool>,
}

impl Made<'_> {
    /// Whether the functions of the program that a call may mean by this name give what they make, whatever they are lent.
    fn is_maker(&self, name: &syn::Ident) -> bool {
        let functions = self.items.functions.iter().filter(|one| *name == one.name);
        let mut functions = functions.map(|one| one.item.block.stmts.as_slice()).peekable();
        functions.peek().is_some()
            && functions
                .all(|stmts| matches!(stmts, [syn::Stmt::Expr(only, None)] if self.makes_itself(only)))
    }

    /// The same of a method: of the program, as libraries have none of this name with as many arguments that gives an array.
    fn is_making_method(&self, call: &ExprMethodCall) -> bool {
        let functions = self.items.functions.iter().filter(|one| call.method == one.name);
        !call.args.is_empty()
            && functions
                .map(|one| &one.item.sig.inputs)
                .all(|inputs| inputs.len() == call.args.len() + 1)
            && self.is_maker(&call.method)
    }

    /// What a pattern declares is made so.
    fn declared(&mut self, pattern: &syn::Pat, value: Option<&Expr>) {
        match (pattern, value) {
            (syn::Pat::Type(typed), value) => self.declared(&typed.pat, value),
            (syn::Pat::Ident(one), value) if one.by_ref.is_none() && one.subpat.is_none() => {
                let is_made = value.is_some_and(|value| self.makes(value));
                let all = self.by_name.entry(one.ident.to_string()).or_insert(true);
                *all &= is_made;
            }
            (syn::Pat::Tuple(names), Some(Expr::Tuple(values)))
                if names.elems.len() == values.elems.len() =>
            {
                let both = names.elems.iter().zip(&values.elems);
                both.for_each(|(name, value)| self.declared(name, Some(value)));
            }
            (other, _) => self.visit_pat(other),
        }
    }

    fn makes(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Try(inner) => self.makes(&inner.expr),
            Expr::Call(call) => match &*call.func {
                Expr::Path(path)
                    if path
                        .path
                        .segments
                        .last()
                        .is_some_and(|last| self.is_maker(&last.ident)) =>
                {
                    true
                }
                _ => self.makes_itself(expr),
            },
            Expr::MethodCall(call) if self.is_making_method(call) => true,
            expr => self.makes_itself(expr),
        }
    }

    fn makes_itself(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Paren(inner) => self.makes_itself(&inner.expr),
            Expr::Try(inner) => self.makes_itself(&inner.expr),
            Expr::Unsafe(block) => match block.block.stmts.as_slice() {
                [syn::Stmt::Expr(only, None)] => self.makes_itself(only),
                _ => false,
            },
            Expr::MethodCall(call) => {
                let method = call.method.to_string();
                let makes = [DeviceMethods::Makes, DeviceMethods::MakesTexels];
                makes.iter().any(|one| self.library.says(&method, *one))
                    || !self.library.says(&method, DeviceMethods::Replaces)
                        && self.makes_itself(&call.receiver)
            }
            Expr::Call(call) => match &*call.func {
                Expr::Path(path) => {
                    let of = path.path.segments.iter().rev().nth(1);
                    let is_of_memory =
                        of.is_some_and(|of| self.library.says(&of.ident.to_string(), Types::DeviceMemory));
                    self.devices.make(&path.path) || is_of_memory && call.args.is_empty()
                }
                _ => false,
            },
            _ => false,
        }
    }
}

impl<'ast> Visit<'ast> for Made<'_> {
    fn visit_local(&mut self, local: &'ast syn::Local) {
        self.declared(&local.pat, local.init.as_ref().map(|init| &*init.expr));
        if let Some(init) = &local.init {
            self.visit_expr(&init.expr);
        }
    }

    fn visit_pat_ident(&mut self, one: &'ast syn::PatIdent) {
        self.by_name.insert(one.ident.to_string(), false);
    }

    fn visit_expr_assign(&mut self, one: &'ast syn::ExprAssign) {
        if let Some(name) = name(&one.left) {
            self.by_name.insert(name, false);
        }
        visit::visit_expr_assign(self, one);
    }

    fn visit_item(&mut self, _: &'ast syn::Item) {}
}
