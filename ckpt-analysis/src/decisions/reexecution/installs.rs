//! Statements that install something in the process which no checkpoint holds: a handler of signals, a logger, a hook, a pool of
//! threads. A restart executes them again, with the handles that they take with them.

use super::names::Variables;
use crate::calls::CallGraph;
use crate::items::{FnId, Items};
use crate::source::FileId;
use ckpt_compiler::library::{Functions, Library, Methods};
use ckpt_compiler::syntax::marks::Marks;
use ckpt_compiler::syntax::mentions::names_in;
use ckpt_compiler::visit::{self, Visit};
use quote::ToTokens;
use std::collections::BTreeSet;
use syn::spanned::Spanned;
use syn::{Block, Expr, ItemFn, Local, Pat, Stmt};

/// So deep in functions of the program's own an installation is looked for.
const DEEPEST: usize = 3;

/// A statement that installs something.
#[derive(Debug)]
pub(super) struct Installation {
    /// The first byte of the statement in the text that was parsed.
    pub at: usize,
    /// Those of the `let`s that have to be executed again with it, because it takes what they declare.
    pub taken: BTreeSet<usize>,
}

/// What is known of the program around a function.
#[derive(Clone, Copy)]
pub(super) struct Around<'a> {
    pub library: &'a Library,
    /// Where the sites of the function are, and the calls that lead to one.
    pub marks: Marks<'a>,
    pub items: &'a Items,
    pub graph: &'a CallGraph,
    pub file: FileId,
    /// Where the file begins among the bytes of all.
    pub base: usize,
}

/// Those of a function, in their order.
pub(super) fn of_function(around: Around<'_>, item: &ItemFn, names: &Variables) -> Vec<Installation> {
    let mut handles = Handles {
        library: around.library,
        names,
        shared: BTreeSet::new(),
        lets: Vec::new(),
    };
    handles.visit_block(&item.block);
    let mut statements = Statements {
        around,
        names,
        handles: &handles,
        body: &item.block,
        found: Vec::new(),
    };
    statements.visit_block(&item.block);
    statements.found
}

struct Statements<'a, 'b> {
    around: Around<'a>,
    names: &'b Variables,
    handles: &'b Handles<'b>,
    body: &'b Block,
    found: Vec<Installation>,
}

impl<'ast> Visit<'ast> for Statements<'_, '_> {
    fn visit_stmt(&mut self, stmt: &'ast Stmt) {
        let expr = match stmt {
            Stmt::Expr(expr, _) if !is_loop(expr) => expr,
            Stmt::Local(Local {
                pat: Pat::Wild(_),
                init: Some(init),
                ..
            }) if init.diverge.is_none() => &init.expr,
            _ => return self.inside(stmt),
        };
        if !only_installs(self.around, expr, Known::Of(self.names), DEEPEST) {
            return self.inside(stmt);
        }
        let mentioned = names_in(&expr.to_token_stream());
        let own = stmt.span().byte_range();
        // What is used elsewhere as well is no handle of its own, but one that is alive at a site.
        let is_taken = |one: &&Handle| {
            let mut taken = one
                .names
                .iter()
                .filter(|name| mentioned.contains(*name))
                .peekable();
            taken.peek().is_some() && taken.all(|name| self.is_only_there(name, &own, &one.own))
        };
        let taken = self.handles.lets.iter().filter(is_taken).map(|one| one.own.start);
        self.found.push(Installation {
            at: own.start,
            taken: taken.collect(),
        });
    }

    fn visit_expr_closure(&mut self, _: &'ast syn::ExprClosure) {}
    fn visit_item(&mut self, _: &'ast syn::Item) {}
}

impl Statements<'_, '_> {
    /// A restart comes by what is around a site alone.
    fn inside(&mut self, stmt: &Stmt) {
        if self.around.marks.in_stmt(stmt) {
            visit::visit_stmt(self, stmt);
        }
    }

    /// Whether the name stands in these two statements alone.
    fn is_only_there(
        &self,
        name: &str,
        one: &std::ops::Range<usize>,
        other: &std::ops::Range<usize>,
    ) -> bool {
        let mut elsewhere = false;
        let mut visit = |token: proc_macro2::Ident| {
            let at = token.span().byte_range().start;
            elsewhere |= token == name && !one.contains(&at) && !other.contains(&at);
        };
        each_name(self.body.to_token_stream(), &mut visit);
        !elsewhere
    }
}

fn each_name(tokens: proc_macro2::TokenStream, act: &mut dyn FnMut(proc_macro2::Ident)) {
    for token in tokens {
        match token {
            proc_macro2::TokenTree::Ident(name) => act(name),
            proc_macro2::TokenTree::Group(group) => each_name(group.stream(), act),
            _ => {}
        }
    }
}

fn is_loop(expr: &Expr) -> bool {
    matches!(expr, Expr::ForLoop(_) | Expr::While(_) | Expr::Loop(_))
}

/// What is the same when a statement is executed again.
#[derive(Clone, Copy)]
enum Known<'a> {
    /// Variables of the function with the site.
    Of(&'a Variables),
    /// Parameters of a function that it calls, by what they are given.
    Given(&'a BTreeSet<String>),
}

impl Known<'_> {
    fn is_condition(self, library: &Library, expr: &Expr) -> bool {
        match self {
            Self::Of(names) => names.is_constant(library, expr),
            Self::Given(names) => is_made_of(names, expr),
        }
    }

    /// Whether what a parameter is given, and what is in its fields, is the same.
    fn is_argument(self, library: &Library, expr: &Expr) -> bool {
        match (self, expr) {
            (_, Expr::Reference(one)) => one.mutability.is_none() && self.is_argument(library, &one.expr),
            (Self::Of(names), _) => names.is_constant(library, expr) || names.is_field(expr),
            (Self::Given(names), _) => is_made_of(names, expr),
        }
    }
}

/// Whether these names and constants are all that an expression is made of. Nothing is called: what is behind a shared reference
/// stays the same then.
fn is_made_of(names: &BTreeSet<String>, expr: &Expr) -> bool {
    let part = |one: &Expr| is_made_of(names, one);
    match expr {
        Expr::Lit(_) => true,
        Expr::Paren(one) => part(&one.expr),
        Expr::Unary(one) => part(&one.expr),
        Expr::Cast(one) => part(&one.expr),
        Expr::Field(one) => part(&one.base),
        Expr::Reference(one) => one.mutability.is_none() && part(&one.expr),
        Expr::Binary(one) => {
            !ckpt_compiler::syntax::purity::is_assignment(&one.op) && part(&one.left) && part(&one.right)
        }
        Expr::Path(path) => path
            .path
            .get_ident()
            .is_some_and(|name| names.contains(&name.to_string())),
        _ => false,
    }
}

/// A condition that is the same again, with the names that it binds: `if let Some(level) = options.level`.
fn bound_by_condition(library: &Library, known: Known<'_>, condition: &Expr) -> Option<BTreeSet<String>> {
    match condition {
        Expr::Let(one) => known
            .is_argument(library, &one.expr)
            .then(|| names_in(&one.pat.to_token_stream()).into_iter().collect()),
        other => known.is_condition(library, other).then(BTreeSet::new),
    }
}

/// Whether an expression installs something, and does nothing else.
fn only_installs(around: Around<'_>, expr: &Expr, names: Known<'_>, deep: usize) -> bool {
    let again = |expr: &Expr| only_installs(around, expr, names, deep);
    match expr {
        Expr::Try(one) => again(&one.expr),
        Expr::Paren(one) => again(&one.expr),
        Expr::Unsafe(one) => block_only_installs(around, &one.block, names, deep),
        Expr::Block(one) => one.label.is_none() && block_only_installs(around, &one.block, names, deep),
        Expr::If(one) => {
            let Some(bound) = bound_by_condition(around.library, names, &one.cond) else {
                return false;
            };
            let mut inner = bound;
            let within = match names {
                Known::Given(outer) => {
                    inner.extend(outer.iter().cloned());
                    Known::Given(&inner)
                }
                // What is bound there is looked at no further.
                Known::Of(_) => names,
            };
            let otherwise = one.else_branch.as_ref();
            block_only_installs(around, &one.then_branch, within, deep)
                && otherwise.is_none_or(|(_, other)| again(other))
        }
        // `builder.level(3).init().unwrap()`: what begins the chain says what it is about.
        Expr::MethodCall(call) => {
            call.args.iter().all(|one| is_harmless(around.library, one)) && again(&call.receiver)
        }
        Expr::Call(call) => {
            let Expr::Path(path) = &*call.func else {
                return false;
            };
            let harmless = call.args.iter().all(|one| is_harmless(around.library, one));
            harmless
                && (around.library.says_of_path(&path.path, Functions::Installs)
                    || deep > 0 && is_of_such_a_function(around, call, names, deep))
        }
        _ => false,
    }
}

fn block_only_installs(around: Around<'_>, block: &Block, names: Known<'_>, deep: usize) -> bool {
    let mut installs = false;
    let all = block.stmts.iter().all(|stmt| match stmt {
        Stmt::Expr(expr, _) if only_installs(around, expr, names, deep) => {
            installs = true;
            true
        }
        Stmt::Expr(expr, None) => is_harmless(around.library, expr),
        Stmt::Local(local) => local
            .init
            .as_ref()
            .is_some_and(|init| init.diverge.is_none() && is_harmless(around.library, &init.expr)),
        _ => false,
    });
    all && installs
}

/// Whether the call is one of a function of the program that does nothing else.
fn is_of_such_a_function(around: Around<'_>, call: &syn::ExprCall, names: Known<'_>, deep: usize) -> bool {
    let at = call.span().byte_range().start + around.base;
    let mut calls = around.graph.calls.iter();
    let found = calls.find(|one| one.place.file == around.file && one.place.bytes.start == at && one.certain);
    let [FnId(callee)] = found.map(|one| &one.callees[..]).unwrap_or_default() else {
        return false;
    };
    let Some(function) = around.items.functions.get(*callee) else {
        return false;
    };
    let inside = Around {
        file: function.place.file,
        ..around
    };
    // Where calls of another file stand is not known here.
    let deep = if inside.file == around.file { deep - 1 } else { 0 };
    let mut given = BTreeSet::new();
    for (parameter, argument) in function.item.sig.inputs.iter().zip(&call.args) {
        if let syn::FnArg::Typed(typed) = parameter
            && let Pat::Ident(name) = &*typed.pat
            && name.mutability.is_none()
            && names.is_argument(around.library, argument)
        {
            given.insert(name.ident.to_string());
        }
    }
    block_only_installs(inside, &function.item.block, Known::Given(&given), deep)
}

/// Whether an argument may be evaluated again: a closure, a value, a handle.
fn is_harmless(library: &Library, expr: &Expr) -> bool {
    let all = |list: &syn::punctuated::Punctuated<Expr, syn::Token![,]>| {
        list.iter().all(|one| is_harmless(library, one))
    };
    match expr {
        Expr::Closure(_) | Expr::Lit(_) | Expr::Path(_) => true,
        Expr::Reference(one) => one.mutability.is_none() && is_harmless(library, &one.expr),
        Expr::Paren(one) => is_harmless(library, &one.expr),
        Expr::Unary(one) => is_harmless(library, &one.expr),
        Expr::Cast(one) => is_harmless(library, &one.expr),
        Expr::Field(one) => is_harmless(library, &one.base),
        Expr::Try(one) => is_harmless(library, &one.expr),
        Expr::Tuple(one) => all(&one.elems),
        Expr::Array(one) => all(&one.elems),
        Expr::MethodCall(call) => {
            let name = call.method.to_string();
            (library.is_pure(&name) || library.borrows(&name))
                && is_harmless(library, &call.receiver)
                && all(&call.args)
        }
        Expr::Call(call) => {
            let Expr::Path(path) = &*call.func else {
                return false;
            };
            let is_known = library.is_pure_function(&path.path)
                || library.says_of_path(&path.path, Functions::Boxes)
                || library.says_of_path(&path.path, Functions::Fresh)
                || library.says_of_path(&path.path, Functions::Connects)
                || is_constructor(&path.path);
            is_known && all(&call.args)
        }
        _ => false,
    }
}

/// `Ok`, `Some`, `Level::Info`: no function has a name with a capital letter.
fn is_constructor(path: &syn::Path) -> bool {
    let last = path.segments.last().map(|last| last.ident.to_string());
    last.is_some_and(|name| name.starts_with(char::is_uppercase))
}

/// A `let` whose value is a handle to something that others share.
struct Handle {
    names: Vec<String>,
    /// The bytes of the statement.
    own: std::ops::Range<usize>,
}

/// Those of a function: `let r = running.clone()` of an `Arc`, `let (tx, rx) = channel()`.
struct Handles<'a> {
    library: &'a Library,
    names: &'a Variables,
    /// Variables that hold a shared pointer.
    shared: BTreeSet<String>,
    lets: Vec<Handle>,
}

impl<'ast> Visit<'ast> for Handles<'_> {
    fn visit_local(&mut self, local: &'ast Local) {
        let names = bound(&local.pat);
        let is_single = names.iter().all(|name| self.names.is_single(name));
        if let (Some(init), true) = (&local.init, is_single && local.attrs.is_empty()) {
            if makes_a_pointer(self.library, &init.expr) {
                self.shared.extend(names.clone());
            }
            if self.is_handle(&init.expr) {
                self.shared.extend(names.clone());
                let own = local.span().byte_range();
                self.lets.push(Handle { names, own });
            }
        }
        visit::visit_local(self, local);
    }

    fn visit_expr_closure(&mut self, _: &'ast syn::ExprClosure) {}
    fn visit_item(&mut self, _: &'ast syn::Item) {}
}

impl Handles<'_> {
    fn is_handle(&self, init: &Expr) -> bool {
        let is_shared = |expr: &Expr| {
            let mut expr = expr;
            while let Expr::Reference(one) = expr {
                expr = &one.expr;
            }
            matches!(expr, Expr::Path(path) if path.path.get_ident().is_some_and(|name| self.shared.contains(&name.to_string())))
        };
        match init {
            Expr::MethodCall(call) => {
                let is_copy = self.library.says(&call.method.to_string(), Methods::Clones);
                is_copy && call.args.is_empty() && is_shared(&call.receiver)
            }
            Expr::Call(call) => {
                let Expr::Path(path) = &*call.func else {
                    return false;
                };
                let is_copy = self.library.says_of_path(&path.path, Functions::Fresh);
                is_copy && !call.args.is_empty() && call.args.iter().all(is_shared)
                    || self.library.says_of_path(&path.path, Functions::Connects)
            }
            _ => false,
        }
    }
}

/// `Arc::new(..)`
fn makes_a_pointer(library: &Library, init: &Expr) -> bool {
    matches!(init, Expr::Call(call) if matches!(&*call.func, Expr::Path(path)
        if library.says_of_path(&path.path, Functions::Owns)))
}

fn bound(pat: &Pat) -> Vec<String> {
    match pat {
        Pat::Ident(one) if one.subpat.is_none() => vec![one.ident.to_string()],
        Pat::Type(typed) => bound(&typed.pat),
        Pat::Tuple(all) => all.elems.iter().flat_map(bound).collect(),
        _ => Vec::new(),
    }
}
