//! What the callers of a function do with a variable that they lend to it exclusively. Where the function lends it on to a
//! value that is filled, they have something in its place at a restart that holds nothing yet: statements of theirs that run
//! again must not look at it.

use super::parts::let_at;
use crate::items::{Function, Items};
use crate::source::Position;
use crate::source::Program;
use ckpt_compiler::library::{Library, last_name};
use ckpt_compiler::syntax::origins::{Known, Origin};
use ckpt_compiler::syntax::places::{loan_root, place_root, variable};
use ckpt_compiler::visit::{self, Visit};
use proc_macro2::Ident;
use syn::{Block, Expr, ItemFn, Pat, Signature};

/// Functions above each other that are followed, and variables that are passed on to each other.
const DEEPEST: usize = 8;

/// Whether a function that leads to the `let` at `place` may look at what it lends to it as `name`, a parameter there.
pub(super) fn look_at(
    library: &Library,
    program: &Program,
    items: &Items,
    place: Position,
    name: &str,
) -> bool {
    let all = Functions(items.once_each().collect());
    let around = let_at(program, items, place);
    around.is_none_or(|(function, _)| all.callers_look(library, &function.item, name, DEEPEST))
}

struct Functions<'p>(Vec<&'p Function>);

impl Functions<'_> {
    fn callers_look(&self, library: &Library, function: &ItemFn, name: &str, depth: usize) -> bool {
        let signature = &function.sig;
        let Some(index) = lent_parameter(function, name) else {
            return false;
        };
        self.0.iter().any(|caller| {
            let block = &caller.item.block;
            let mut calls = Calls {
                function: signature.ident.to_string(),
                index,
                is_method: signature.receiver().is_some(),
                lent: Vec::new(),
            };
            calls.visit_block(block);
            calls.lent.iter().any(|root| match root {
                None => true,
                Some(root) => {
                    looks_in(library, block, root, &calls.function)
                        || depth == 0
                        || self.callers_look(library, &caller.item, root, depth - 1)
                }
            })
        })
    }
}

/// The parameter that a variable is, or that is passed on to it as it is: `let mesh = mesh;`, `let m = &mut *mesh;`.
fn lent_parameter(function: &ItemFn, name: &str) -> Option<usize> {
    let mut name = name.to_owned();
    for _ in 0..DEEPEST {
        if let Some(found) = parameter(&function.sig, &name) {
            return Some(found);
        }
        let mut passed = PassedOn(&name, None);
        passed.visit_block(&function.block);
        name = passed.1?.to_string();
    }
    None
}

/// The variable that is passed on to another as it is.
struct PassedOn<'n, 'p>(&'n str, Option<&'p Ident>);

impl<'p> Visit<'p> for PassedOn<'_, 'p> {
    fn visit_local(&mut self, local: &'p syn::Local) {
        let pattern = match &local.pat {
            Pat::Type(typed) => &*typed.pat,
            other => other,
        };
        if let (Pat::Ident(one), Some(init)) = (pattern, &local.init)
            && one.ident == self.0
        {
            self.1 = loan_root(&init.expr).or_else(|| variable(&init.expr));
        }
        visit::visit_local(self, local);
    }

    fn visit_item(&mut self, _: &'p syn::Item) {}
}

fn parameter(signature: &Signature, name: &str) -> Option<usize> {
    signature.inputs.iter().position(|input| match input {
        syn::FnArg::Receiver(_) => name == "self",
        syn::FnArg::Typed(typed) => matches!(&*typed.pat, syn::Pat::Ident(one) if one.ident == name),
    })
}

/// Whether a `let` that may be re-executed is made from the variable.
fn looks_in(library: &Library, block: &Block, root: &str, function: &str) -> bool {
    struct Lets<'n> {
        library: &'n Library,
        root: &'n str,
        function: &'n str,
        found: bool,
    }
    impl<'ast> Visit<'ast> for Lets<'_> {
        fn visit_local(&mut self, local: &'ast syn::Local) {
            if let Some(init) = &local.init {
                let names =
                    ckpt_compiler::syntax::mentions::names_in(&quote::ToTokens::to_token_stream(&init.expr));
                let is_value = Known::of(self.library).origin(&init.expr) == Origin::Value;
                self.found |= names.contains(self.root) && !names.contains(self.function) && !is_value;
            }
            visit::visit_local(self, local);
        }
    }
    let mut lets = Lets {
        library,
        root,
        function,
        found: false,
    };
    lets.visit_block(block);
    lets.found
}

/// What is lent to a function, by the variable that it is a part of; nothing for what is none.
struct Calls {
    function: String,
    index: usize,
    is_method: bool,
    lent: Vec<Option<String>>,
}

impl<'ast> Visit<'ast> for Calls {
    fn visit_expr_call(&mut self, call: &'ast syn::ExprCall) {
        let is_called = matches!(&*call.func, Expr::Path(path)
            if last_name(&path.path) == self.function);
        if is_called {
            self.lent.push(call.args.get(self.index).and_then(root));
        }
        visit::visit_expr_call(self, call);
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        if self.is_method && call.method == self.function {
            let operand = match self.index {
                0 => Some(&*call.receiver),
                index => call.args.get(index - 1),
            };
            self.lent.push(operand.and_then(root));
        }
        visit::visit_expr_method_call(self, call);
    }

    fn visit_macro(&mut self, mac: &'ast syn::Macro) {
        if ckpt_compiler::syntax::mentions::names_in(&mac.tokens).contains(&self.function) {
            self.lent.push(None);
        }
    }
}

/// The variable that is lent.
fn root(operand: &Expr) -> Option<String> {
    let place = match operand {
        Expr::Reference(one) => &one.expr,
        other => other,
    };
    place_root(place).map(ToString::to_string)
}
