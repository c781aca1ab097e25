//! What starts threads, and what waits for them.

use super::teams::body_of_team;
use crate::library::{Library, Macros, Threads};
use crate::syntax::macros::{arguments_of_macro, name_of_macro};
use crate::syntax::marks::Marks;
use crate::syntax::purity::{computes, is_assignment, is_pure};
use crate::syntax::region_marks::is_member;
use crate::visit::{self, Visit, VisitMut};
use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::{Block, Expr, ExprClosure, ExprForLoop, ExprIf, ExprMatch, Ident, Stmt};

/// The closure of a `scope(|s| ..)` in the statement that is in none of its blocks.
pub(super) fn scope_in<'a>(library: &Library, stmt: &'a mut Stmt) -> Option<&'a mut ExprClosure> {
    let is_scope = |expr: &Expr| {
        let is_name = |path: &syn::Path| {
            library.says_of_path(path, Threads::Scopes) && !library.says_of_path(path, Threads::Pooled)
        };
        matches!(expr, Expr::Call(call) if call.args.len() == 1
            && matches!(&*call.func, Expr::Path(path) if is_name(&path.path)))
    };
    match first_in(stmt, &is_scope)? {
        Expr::Call(call) => match call.args.first_mut()? {
            Expr::Closure(closure) => Some(closure),
            _ => None,
        },
        _ => None,
    }
}

/// The first expression of a kind in a statement that is in none of its blocks.
pub(super) fn first_in<'a>(stmt: &'a mut Stmt, is_it: &dyn Fn(&Expr) -> bool) -> Option<&'a mut Expr> {
    fn in_expr<'a>(expr: &'a mut Expr, is_it: &dyn Fn(&Expr) -> bool) -> Option<&'a mut Expr> {
        if is_it(expr) {
            return Some(expr);
        }
        match expr {
            Expr::Call(call) => call.args.iter_mut().find_map(|one| in_expr(one, is_it)),
            Expr::MethodCall(call) => in_expr(&mut call.receiver, is_it),
            Expr::Assign(assign) => in_expr(&mut assign.right, is_it),
            Expr::Paren(inner) => in_expr(&mut inner.expr, is_it),
            Expr::Try(inner) => in_expr(&mut inner.expr, is_it),
            Expr::Reference(inner) => in_expr(&mut inner.expr, is_it),
            _ => None,
        }
    }
    match stmt {
        Stmt::Local(local) => in_expr(&mut local.init.as_mut()?.expr, is_it),
        Stmt::Expr(expr, _) => in_expr(expr, is_it),
        _ => None,
    }
}

/// Whether a closure that is given to `spawn` has a site, and has not been taken out yet.
pub(super) fn has_site(marks: Marks<'_>, closure: &ExprClosure) -> bool {
    !is_member(closure) && marks.in_expr(&closure.body)
}

/// Whether a closure that is given to `spawn` takes no argument, or one that it does not look at: `|_|`.
pub fn is_given_nothing(closure: &ExprClosure) -> bool {
    closure.inputs.len() <= 1
        && closure
            .inputs
            .iter()
            .all(|input| matches!(input, syn::Pat::Wild(_)))
}

/// The bodies of threads that a block starts on this line.
pub fn started_on<'b>(library: &Library, block: &'b Block, line: usize) -> Vec<&'b Expr> {
    struct Bodies<'l, 'a> {
        library: &'l Library,
        line: usize,
        found: Vec<&'a Expr>,
    }
    impl<'ast> Visit<'ast> for Bodies<'_, 'ast> {
        fn visit_expr(&mut self, expr: &'ast Expr) {
            let (body, at) = match expr {
                Expr::MethodCall(call) => (call.args.first(), call.method.span()),
                Expr::Call(call) => (call.args.first(), call.func.span()),
                _ => return visit::visit_expr(self, expr),
            };
            if at.start().line == self.line && is_start(self.library, expr) {
                self.found.extend(body);
            }
            visit::visit_expr(self, expr);
        }
        fn visit_item(&mut self, _: &'ast syn::Item) {}
    }
    let mut bodies = Bodies {
        library,
        line,
        found: Vec::new(),
    };
    bodies.visit_block(block);
    bodies.found
}

/// The place of the body in `s.spawn(body)`, `thread::spawn(body)`.
fn started_by<'e>(library: &Library, expr: &'e mut Expr) -> Option<&'e mut ExprClosure> {
    is_start(library, expr).then_some(())?;
    let arguments = match expr {
        Expr::MethodCall(call) => &mut call.args,
        Expr::Call(call) => &mut call.args,
        _ => return None,
    };
    made_by_mut(arguments.first_mut()?)
}

/// The closure that an expression is: itself, or what stands at the end of a block, `{ let list = list.clone(); move || .. }`.
pub fn made_by(expr: &Expr) -> Option<&ExprClosure> {
    match expr {
        Expr::Closure(closure) => Some(closure),
        Expr::Block(block) if block.label.is_none() => match block.block.stmts.last()? {
            Stmt::Expr(last, None) => made_by(last),
            _ => None,
        },
        _ => None,
    }
}

/// [`made_by`], to change it.
fn made_by_mut(expr: &mut Expr) -> Option<&mut ExprClosure> {
    match expr {
        Expr::Closure(closure) => Some(closure),
        Expr::Block(block) if block.label.is_none() => match block.block.stmts.last_mut()? {
            Stmt::Expr(last, None) => made_by_mut(last),
            _ => None,
        },
        _ => None,
    }
}

/// The body in `s.spawn(body)`, `thread::spawn(body)`, if it is a closure.
pub fn body_of_start<'e>(library: &Library, expr: &'e Expr) -> Option<&'e ExprClosure> {
    let body = match expr {
        Expr::MethodCall(call) => call.args.first(),
        Expr::Call(call) => call.args.first(),
        _ => None,
    };
    body.and_then(made_by).filter(|_| is_start(library, expr))
}

fn is_start(library: &Library, expr: &Expr) -> bool {
    match expr {
        Expr::MethodCall(call) => library.is_call(call, Threads::Starts) && call.args.len() == 1,
        Expr::Call(call) => {
            call.args.len() == 1
                && matches!(&*call.func, Expr::Path(path)
                    if library.says_of_path(&path.path, Threads::Starts)
                        || library.says_of_path(&path.path, Threads::Bodies))
        }
        _ => false,
    }
}

/// Visits the closures that are given to `spawn`.
pub(super) struct Spawns<'l, F: FnMut(&mut ExprClosure)>(pub &'l Library, pub F);

impl<F: FnMut(&mut ExprClosure)> VisitMut for Spawns<'_, F> {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        match started_by(self.0, expr) {
            Some(closure) => (self.1)(closure),
            None => visit::visit_expr_mut(self, expr),
        }
    }
    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}

/// Of each thread with a site that a statement starts, in their order: whether it does so once, whatever happens.
pub(super) fn started_once(marks: Marks<'_>, stmt: &Stmt) -> Vec<bool> {
    struct Once<'a> {
        marks: Marks<'a>,
        is_nested: bool,
        found: Vec<bool>,
    }
    impl<'ast> Visit<'ast> for Once<'_> {
        fn visit_expr(&mut self, expr: &'ast Expr) {
            if let Some(closure) = body_of_start(self.marks.library, expr) {
                if has_site(self.marks, closure) {
                    self.found.push(!self.is_nested);
                }
                return;
            }
            let is_plain = match expr {
                Expr::ForLoop(_) | Expr::While(_) | Expr::Loop(_) | Expr::If(_) | Expr::Match(_) => false,
                Expr::Closure(_) | Expr::Async(_) => false,
                Expr::Binary(one) => !matches!(one.op, syn::BinOp::And(_) | syn::BinOp::Or(_)),
                _ => true,
            };
            let before = self.is_nested;
            self.is_nested |= !is_plain;
            visit::visit_expr(self, expr);
            self.is_nested = before;
        }
        fn visit_item(&mut self, _: &'ast syn::Item) {}
    }
    let mut once = Once {
        marks,
        is_nested: false,
        found: Vec::new(),
    };
    once.visit_stmt(stmt);
    once.found
}

/// Looks for threads with sites.
pub(super) struct Starts<'a> {
    marks: Marks<'a>,
    found: bool,
}

impl<'a> Starts<'a> {
    pub(super) fn with_sites(marks: Marks<'a>, look: impl FnOnce(&mut Self)) -> bool {
        let mut starts = Starts { marks, found: false };
        look(&mut starts);
        starts.found
    }
}

impl<'ast> Visit<'ast> for Starts<'_> {
    fn visit_expr(&mut self, expr: &'ast Expr) {
        if let Some(body) = body_of_team(self.marks.library, expr) {
            self.found |= has_site(self.marks, body);
            return;
        }
        match body_of_start(self.marks.library, expr) {
            Some(closure) => self.found |= has_site(self.marks, closure),
            None => visit::visit_expr(self, expr),
        }
    }
    fn visit_item(&mut self, _: &'ast syn::Item) {}
}

/// Whether a statement waits for threads.
pub(super) fn joins(library: &Library, stmt: &Stmt) -> bool {
    struct Joins<'l> {
        library: &'l Library,
        found: bool,
    }
    impl<'ast> Visit<'ast> for Joins<'_> {
        fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
            self.found |= self.library.is_call(call, Threads::Joins) && call.args.is_empty();
            visit::visit_expr_method_call(self, call);
        }
        fn visit_macro(&mut self, mac: &'ast syn::Macro) {
            let arguments = arguments_of_macro(self.library, mac).unwrap_or_default();
            self.found |= arguments.iter().any(|one| {
                let mut inside = Joins {
                    found: false,
                    ..*self
                };
                inside.visit_expr(one);
                inside.found
            });
        }
    }
    let mut joins = Joins {
        library,
        found: false,
    };
    joins.visit_stmt(stmt);
    joins.found
}

/// Whether a statement begins with waiting for threads, but for dropping values and for what no thread can see.
pub(super) fn joins_first(library: &Library, stmt: &Stmt) -> bool {
    let plain = |expr: &Expr| {
        !matches!(
            expr,
            Expr::Block(_) | Expr::If(_) | Expr::While(_) | Expr::Loop(_) | Expr::Match(_)
        )
    };
    joins(library, stmt)
        && match stmt {
            // What a statement goes over or decides by comes first.
            Stmt::Expr(Expr::ForLoop(ExprForLoop { expr: head, .. }), _)
            | Stmt::Expr(Expr::Match(ExprMatch { expr: head, .. }), _)
            | Stmt::Expr(Expr::If(ExprIf { cond: head, .. }), _)
                if joins(library, &Stmt::Expr((**head).clone(), None)) =>
            {
                plain(head)
            }
            Stmt::Expr(Expr::ForLoop(one), _) => one
                .body
                .stmts
                .iter()
                .find(|one| !is_unseen(library, one))
                .is_some_and(|one| joins_first(library, one)),
            Stmt::Expr(expr, _) => plain(expr),
            Stmt::Local(local) => local.init.as_ref().is_some_and(|init| plain(&init.expr)),
            Stmt::Macro(_) => true,
            Stmt::Item(_) => false,
        }
}

/// A value at the end of a block that takes no work: `()`, `x`, `(a, b)`.
pub(super) fn is_value(stmt: &Stmt) -> bool {
    fn plain(expr: &Expr) -> bool {
        match expr {
            Expr::Path(_) | Expr::Lit(_) => true,
            Expr::Tuple(parts) => parts.elems.iter().all(plain),
            _ => false,
        }
    }
    matches!(stmt, Stmt::Expr(expr, None) if plain(expr))
}

/// `drop(sender)`: threads may wait for it, so that it comes before the wait for them, where it stands.
pub(super) fn drops(library: &Library, stmt: &Stmt) -> bool {
    match stmt {
        Stmt::Expr(Expr::Call(call), _) => {
            matches!(&*call.func, Expr::Path(path) if library.says_of_path(&path.path, Threads::Drops))
                && call.args.iter().all(|one| matches!(one, Expr::Path(_)))
        }
        _ => false,
    }
}

/// Whether a loop or an iterator goes over something in a statement.
pub(super) fn goes_over(library: &Library, stmt: &Stmt) -> bool {
    struct Goes<'l> {
        library: &'l Library,
        found: bool,
    }
    impl<'ast> Visit<'ast> for Goes<'_> {
        fn visit_expr(&mut self, expr: &'ast Expr) {
            self.found |= match expr {
                Expr::ForLoop(_) | Expr::While(_) | Expr::Loop(_) => true,
                Expr::MethodCall(call) => self.library.begins_an_iterator(&call.method.to_string()),
                _ => false,
            };
            visit::visit_expr(self, expr);
        }
    }
    let mut goes = Goes {
        library,
        found: false,
    };
    goes.visit_stmt(stmt);
    goes.found
}

/// The variable that such a statement drops, where it is one alone.
pub(super) fn dropped(library: &Library, stmt: &Stmt) -> Option<Ident> {
    match stmt {
        Stmt::Expr(Expr::Call(call), _) if drops(library, stmt) && call.args.len() == 1 => {
            match &call.args[0] {
                Expr::Path(path) => path.path.get_ident().cloned(),
                _ => None,
            }
        }
        _ => None,
    }
}

/// A `let` of a value that is computed from others, a number that is added to one, a line that is printed: no thread can see when that
/// is done. What gets another value may be waited for, as a sender is that ends then.
pub(super) fn is_unseen(library: &Library, stmt: &Stmt) -> bool {
    let computed = |expr: &Expr| is_pure(library, expr) || computes(library, expr);
    match stmt {
        _ if joins(library, stmt) => false,
        Stmt::Local(local) => local
            .init
            .as_ref()
            .is_none_or(|init| init.diverge.is_none() && computed(&init.expr)),
        Stmt::Item(_) => true,
        Stmt::Macro(one) => prints(library, &one.mac, &computed),
        Stmt::Expr(Expr::Macro(one), _) => prints(library, &one.mac, &computed),
        Stmt::Expr(Expr::Binary(one), _) => {
            is_assignment(&one.op) && is_own_place(&one.left, &computed) && computed(&one.right)
        }
        Stmt::Expr(..) => false,
    }
}

/// `println!("{}", list.len())`
fn prints(library: &Library, mac: &syn::Macro, computed: &dyn Fn(&Expr) -> bool) -> bool {
    let is_computed = |one: &Expr| match one {
        Expr::Assign(named) => computed(&named.right),
        one => computed(one),
    };
    library.says(&name_of_macro(mac), Macros::Prints)
        && arguments_of_macro(library, mac).is_some_and(|arguments| arguments.iter().all(is_computed))
}

/// A variable, or a part of one that is not behind a reference as far as that is written.
fn is_own_place(place: &Expr, computed: &dyn Fn(&Expr) -> bool) -> bool {
    match place {
        Expr::Path(path) => path.path.get_ident().is_some(),
        Expr::Field(field) => is_own_place(&field.base, computed),
        Expr::Index(index) => is_own_place(&index.expr, computed) && computed(&index.index),
        _ => false,
    }
}

/// The starts of threads that are not members of the team.
pub(super) struct Others<'l>(pub &'l Library, pub Vec<Span>);

impl<'ast> Visit<'ast> for Others<'_> {
    fn visit_expr(&mut self, expr: &'ast Expr) {
        let started = match expr {
            Expr::MethodCall(call) => call.args.first().map(|body| (body, call.method.span())),
            Expr::Call(call) => call.args.first().map(|body| (body, call.func.span())),
            _ => None,
        };
        if let Some((body, at)) = started.filter(|_| is_start(self.0, expr)) {
            match made_by(body) {
                Some(closure) if is_member(closure) => return,
                // `watched(..)`, which is looked at for itself.
                None if matches!(body, Expr::Call(_)) && is_start(self.0, body) => {}
                _ => return self.1.push(at),
            }
        }
        visit::visit_expr(self, expr);
    }

    fn visit_expr_closure(&mut self, closure: &'ast ExprClosure) {
        if !is_member(closure) {
            visit::visit_expr_closure(self, closure);
        }
    }
}
