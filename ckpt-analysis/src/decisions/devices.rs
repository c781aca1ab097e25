//! What a program does with memory and commands on devices.

use crate::source::Program;
use ckpt_compiler::library::{Library, Types};
use ckpt_compiler::syntax::mentions::names_in;
use ckpt_compiler::visit::{self, Visit};
use quote::ToTokens;

/// What is found in all files of a program.
#[derive(Debug)]
pub(crate) struct Devices<'l> {
    library: &'l Library,
    /// Whether it uses a crate for devices.
    are_used: bool,
    /// Whether kernels get other arguments once they are made.
    rebinds: bool,
    escapes: bool,
    /// Where it makes queues, and whether in a loop or closure.
    queues: usize,
    in_loop: bool,
    depth: usize,
}

impl<'l> Devices<'l> {
    pub(crate) fn of(library: &'l Library, program: &Program) -> Self {
        let mut found = Self {
            library,
            are_used: false,
            rebinds: false,
            escapes: false,
            queues: 0,
            in_loop: false,
            depth: 0,
        };
        for file in &program.files {
            for name in names_in(&file.ast.to_token_stream()) {
                found.are_used |= library.says(&name, Types::DeviceCrates);
                found.rebinds |= library.says(&name, Types::DeviceRebinds);
                found.escapes |= library.says(&name, Types::DeviceEscapes);
            }
            found.visit_file(&file.ast);
        }
        found
    }

    /// Whether something of this name, made again, would be another thing than it was.
    pub(crate) fn change(&self, name: &str) -> bool {
        self.are_used
            && (self.library.says(name, Types::DeviceMemory)
                || self.rebinds && self.library.says(name, Types::DeviceKernels))
    }

    /// Whether devices are used in a way that leaves the content of arrays unknown at a site.
    pub(crate) fn hide(&self) -> bool {
        self.are_used && !self.can_be_read()
    }

    /// Whether the content of arrays can be read at any site: all commands go through one queue, and nothing is mapped.
    pub(crate) fn can_be_read(&self) -> bool {
        self.are_used && !self.escapes && !self.in_loop && self.queues <= 1
    }

    fn inside(&mut self, walk: impl FnOnce(&mut Self)) {
        self.depth += 1;
        walk(self);
        self.depth -= 1;
    }
}

impl<'ast> Visit<'ast> for Devices<'_> {
    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        // `buffer.map()`: an iterator's takes a closure.
        self.escapes |= call.method == "map" && call.args.is_empty();
        visit::visit_expr_method_call(self, call);
    }

    fn visit_expr_call(&mut self, call: &'ast syn::ExprCall) {
        if let syn::Expr::Path(path) = &*call.func
            && let Some(ty) = path.path.segments.iter().rev().nth(1)
            && self.library.says(&ty.ident.to_string(), Types::DeviceQueues)
        {
            self.queues += 1;
            self.in_loop |= self.depth > 0;
        }
        visit::visit_expr_call(self, call);
    }

    fn visit_expr_for_loop(&mut self, one: &'ast syn::ExprForLoop) {
        self.inside(|this| visit::visit_expr_for_loop(this, one));
    }

    fn visit_expr_while(&mut self, one: &'ast syn::ExprWhile) {
        self.inside(|this| visit::visit_expr_while(this, one));
    }

    fn visit_expr(&mut self, expr: &'ast syn::Expr) {
        match expr {
            syn::Expr::Loop(_) => self.inside(|this| visit::visit_expr(this, expr)),
            _ => visit::visit_expr(self, expr),
        }
    }

    fn visit_expr_closure(&mut self, one: &'ast syn::ExprClosure) {
        self.inside(|this| visit::visit_expr_closure(this, one));
    }

    fn visit_macro(&mut self, mac: &'ast syn::Macro) {
        // What a macro makes is not looked at: `vec![Queue::new(..); n]`.
        let names = names_in(&mac.tokens);
        self.escapes |= names
            .iter()
            .any(|name| self.library.says(name, Types::DeviceQueues));
    }
}
