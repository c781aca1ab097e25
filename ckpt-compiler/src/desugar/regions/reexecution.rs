//! What the statements of a region do beside starting threads: a restart re-executes them.

use crate::diagnostics::{Diagnostics, Effect, Refusal};
use crate::library::{Adaptor, Functions, Iterators, Library, Macros, Methods, Threads, last_name, segments};
use crate::names::{LocalSet, Locals};
use crate::syntax::macros::{items_of_list, name_of_macro};
use crate::syntax::marks::Marks;
use crate::syntax::mentions::{locals_in, locals_of};
use crate::syntax::places::place_root;
use crate::syntax::purity::is_assignment;
use crate::syntax::region_marks::is_member;
use crate::visit::{self, Visit};
use quote::quote;
use syn::spanned::Spanned;
use syn::{Block, Expr, ExprClosure, Stmt};

/// The variables that are certain to be changed or borrowed exclusively in a block, bodies of threads aside.
pub(super) fn changed(library: &Library, locals: &Locals, block: &Block) -> LocalSet {
    changed_by(library, locals, |found| found.visit_block(block))
}

/// The same of a statement.
pub(super) fn changed_in(library: &Library, locals: &Locals, stmt: &Stmt) -> LocalSet {
    changed_by(library, locals, |found| found.visit_stmt(stmt))
}

fn changed_by(library: &Library, locals: &Locals, visit: impl FnOnce(&mut Changed<'_>)) -> LocalSet {
    let mut found = Changed {
        library,
        locals,
        found: LocalSet::default(),
    };
    visit(&mut found);
    found.found
}

/// The variables that get another value as a whole.
pub(super) fn assigned(locals: &Locals, block: &Block) -> LocalSet {
    struct Assigned<'l>(&'l Locals, LocalSet);
    impl Assigned<'_> {
        fn whole(&mut self, place: &Expr) {
            if let Expr::Path(path) = place {
                let local = path.path.get_ident().and_then(|name| self.0.id(name));
                self.1.extend(local);
            }
        }
    }
    impl<'ast> Visit<'ast> for Assigned<'_> {
        fn visit_expr(&mut self, expr: &'ast Expr) {
            match expr {
                Expr::Assign(one) => self.whole(&one.left),
                Expr::Binary(one) if is_assignment(&one.op) => self.whole(&one.left),
                _ => {}
            }
            visit::visit_expr(self, expr);
        }
    }
    let mut found = Assigned(locals, LocalSet::default());
    found.visit_block(block);
    found.1
}

/// Where the statements begin that have to run again with `first..=last`, which start threads: what they use up and is
/// made anew for them (`let mut handles = Vec::new();`, `let mine = Arc::clone(&all);`) is rebuilt as well.
pub(super) fn start(
    library: &Library,
    locals: &Locals,
    statements: &[Stmt],
    first: usize,
    last: usize,
) -> usize {
    let starts = &statements[first..=last];
    let used = locals_in(locals, quote!(#(#starts)*));
    let is_made_for_them = |stmt: &Stmt| match stmt {
        Stmt::Local(local) => {
            let made = local
                .init
                .as_ref()
                .is_some_and(|init| is_made_anew(library, &init.expr));
            made && !used.is_disjoint(&locals_of(locals, &local.pat))
        }
        _ => false,
    };
    let mut start = first;
    for (index, stmt) in statements[..first].iter().enumerate().rev() {
        let mut errors = Diagnostics::default();
        check(library, locals, std::slice::from_ref(stmt), &mut errors);
        if !errors.is_empty() {
            break;
        }
        if is_made_for_them(stmt) {
            start = index;
        }
    }
    start
}

/// `Vec::new()`, `vec![]`, `Arc::clone(&x)`, `x.clone()`: without anything of the program's state in it but shared.
fn is_made_anew(library: &Library, init: &Expr) -> bool {
    match init {
        Expr::Call(call) => matches!(&*call.func, Expr::Path(path)
            if library.says_of_path(&path.path, Functions::Fresh)),
        Expr::MethodCall(call) => library.is_call(call, Methods::Clones) && call.args.is_empty(),
        Expr::Macro(one) => items_of_list(library, &one.mac).is_some_and(|items| items.is_empty()),
        _ => false,
    }
}

struct Changed<'l> {
    library: &'l Library,
    locals: &'l Locals,
    found: LocalSet,
}

impl Changed<'_> {
    fn root(&mut self, place: &Expr) {
        let local = place_root(place).and_then(|root| self.locals.id(root));
        self.found.extend(local);
    }
}

impl<'ast> Visit<'ast> for Changed<'_> {
    fn visit_expr(&mut self, expr: &'ast Expr) {
        match expr {
            Expr::Reference(one) if one.mutability.is_some() => self.root(&one.expr),
            Expr::Assign(one) => self.root(&one.left),
            Expr::Binary(one) if is_assignment(&one.op) => self.root(&one.left),
            Expr::MethodCall(one) => {
                let name = one.method.to_string();
                if self.library.says(&name, Methods::Lends) || changes_a_number(self.library, &name) {
                    self.root(&one.receiver);
                }
            }
            _ => {}
        }
        visit::visit_expr(self, expr);
    }

    fn visit_expr_closure(&mut self, closure: &'ast ExprClosure) {
        // The body of a thread has its own captures.
        if !closure.inputs.is_empty() {
            visit::visit_expr_closure(self, closure);
        }
    }
    fn visit_item(&mut self, _: &'ast syn::Item) {}
}

/// Methods of generators and the like: a variable declared `mut` on which any other method is called may have changed.
fn changes_a_number(library: &Library, name: &str) -> bool {
    let only_looks = library.is_pure(name) && !library.borrows_mutably(name);
    !only_looks && !may_be_reexecuted(library, name) && !library.says(name, Threads::Shares)
}

/// Whether the method only looks, or makes something new.
fn may_be_reexecuted(library: &Library, name: &str) -> bool {
    [Methods::Looks, Methods::Unwraps, Methods::Defaults]
        .iter()
        .any(|key| library.says(name, *key))
        || library.is_adaptor(name)
        || library.says(name, Iterators::Converts)
        || library.says(name, Threads::Reexecuted)
}

/// Refuses what may not run a second time.
pub(super) fn check(library: &Library, locals: &Locals, statements: &[Stmt], errors: &mut Diagnostics) {
    let mut check = Check {
        library,
        locals,
        errors,
        own: LocalSet::default(),
    };
    statements.iter().for_each(|stmt| check.visit_stmt(stmt));
}

struct Check<'a> {
    library: &'a Library,
    locals: &'a Locals,
    errors: &'a mut Diagnostics,
    /// Variables that the region declares, and that are no references.
    own: LocalSet,
}

impl Check<'_> {
    fn refuse(&mut self, at: proc_macro2::Span, what: Effect) {
        self.errors.refuse(at, Refusal::NotTwice { what });
    }
}

impl<'ast> Visit<'ast> for Check<'_> {
    fn visit_local(&mut self, local: &'ast syn::Local) {
        let is_borrow = local.init.as_ref().is_some_and(|init| {
            matches!(&*init.expr, Expr::Reference(_))
                || matches!(&*init.expr, Expr::MethodCall(call) if self.library.is_call(call, Methods::Lends))
        });
        if !is_borrow {
            self.own.extend(locals_of(self.locals, &local.pat).iter());
        }
        visit::visit_local(self, local);
    }

    fn visit_expr(&mut self, expr: &'ast Expr) {
        match expr {
            Expr::Closure(closure) if is_member(closure) => return,
            Expr::MethodCall(call) => {
                let name = call.method.to_string();
                let root = place_root(&call.receiver).and_then(|root| self.locals.id(root));
                let is_own = root.is_some_and(|root| self.own.contains(root));
                let takes_away = self.library.says(&name, Adaptor::Takes) && call.args.is_empty();
                let fine = (may_be_reexecuted(self.library, &name) || self.library.is_pure(&name))
                    && !takes_away
                    || self.library.says(&name, Methods::Lends)
                    || is_own && self.library.says(&name, Threads::ReexecutedOnOwn);
                if !fine {
                    self.refuse(call.method.span(), Effect::Method(name));
                }
            }
            Expr::Call(call) => {
                if let Expr::Path(path) = &*call.func
                    && !makes_something(self.library, &path.path)
                {
                    let name = last_name(&path.path);
                    self.refuse(call.func.span(), Effect::Function(name));
                }
            }
            _ => {}
        }
        visit::visit_expr(self, expr);
    }

    fn visit_macro(&mut self, mac: &'ast syn::Macro) {
        if Marks::is_checkpoint(mac) {
            self.refuse(mac.path.span(), Effect::Checkpoint);
            return;
        }
        let name = name_of_macro(mac);
        if !self.library.only_computes(&name) && !self.library.says(&name, Macros::Prints) {
            self.refuse(mac.path.span(), Effect::Macro(name));
        }
    }

    fn visit_item(&mut self, _: &'ast syn::Item) {}
}

/// `Vec::new`, `Some`, `Arc::clone`.
fn makes_something(library: &Library, path: &syn::Path) -> bool {
    if library.may_run_again(path) {
        return true;
    }
    let names = segments(path);
    let is_type = |name: &str| name.starts_with(char::is_uppercase);
    match names.as_slice() {
        [.., of, name] if is_type(of) => library.says(name, Functions::Makes) || is_type(name),
        [.., name] => is_type(name) || library.says_of_path(path, Threads::ReexecutedFunctions),
        [] => false,
    }
}
