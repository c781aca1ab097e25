//! What the callers of a function do with a variable that they lend to it exclusively. Where the function lends it on to a
//! value that is filled, they have something in its place at a restart that holds nothing yet: statements of theirs that run
//! again must not look at it.

use crate::source::Position;
use crate::source::Program;
use crate::source::locate::bytes;
use ckpt_compiler::library::Library;
use ckpt_compiler::syntax::origins::{Known, Origin};
use ckpt_compiler::syntax::places::place_root;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Block, Expr, Signature};

/// Functions above each other that are followed.
const DEEPEST: usize = 8;

/// Whether a function that leads to the `let` at `place` may look at what it lends to it as `name`, a parameter there.
pub(super) fn look_at(library: &Library, program: &Program, place: Position, name: &str) -> bool {
    let mut all = Functions::default();
    program.files.iter().for_each(|file| all.visit_file(&file.ast));
    let contains = |block: &Block| {
        let mut finder = LetAt(program, place, false);
        finder.visit_block(block);
        finder.2
    };
    let mut here = Functions::default();
    here.visit_file(&program.file(place.0).ast);
    let around = here.0.iter().rfind(|(_, block)| contains(block));
    around.is_none_or(|(signature, _)| all.callers_look(library, signature, name, DEEPEST))
}

#[derive(Default)]
struct Functions<'p>(Vec<(&'p Signature, &'p Block)>);

impl Functions<'_> {
    fn callers_look(&self, library: &Library, signature: &Signature, name: &str, depth: usize) -> bool {
        let Some(index) = parameter(signature, name) else {
            return false;
        };
        self.0.iter().any(|(caller, block)| {
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
                        || self.callers_look(library, caller, root, depth - 1)
                }
            })
        })
    }
}

impl<'p> Visit<'p> for Functions<'p> {
    fn visit_item_fn(&mut self, item: &'p syn::ItemFn) {
        self.0.push((&item.sig, &item.block));
        visit::visit_item_fn(self, item);
    }
    fn visit_impl_item_fn(&mut self, item: &'p syn::ImplItemFn) {
        self.0.push((&item.sig, &item.block));
        visit::visit_impl_item_fn(self, item);
    }
    fn visit_trait_item_fn(&mut self, item: &'p syn::TraitItemFn) {
        if let Some(block) = &item.default {
            self.0.push((&item.sig, block));
        }
        visit::visit_trait_item_fn(self, item);
    }
}

fn parameter(signature: &Signature, name: &str) -> Option<usize> {
    signature.inputs.iter().position(|input| match input {
        syn::FnArg::Receiver(_) => name == "self",
        syn::FnArg::Typed(typed) => matches!(&*typed.pat, syn::Pat::Ident(one) if one.ident == name),
    })
}

/// Whether a `let` that may run again is made from the variable.
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

struct LetAt<'p>(&'p Program, Position, bool);

impl<'p> Visit<'p> for LetAt<'p> {
    fn visit_local(&mut self, local: &'p syn::Local) {
        let file = self.1.0;
        self.2 |= bytes(self.0, file, local.span()).start == self.1.1;
        visit::visit_local(self, local);
    }
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
            if path.path.segments.last().is_some_and(|last| last.ident == self.function));
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
