//! Closures that are in use across a site.
//!
//! One that owns what it captures (`move`) keeps it from being saved: where nobody else uses it any more, the closure
//! borrows it instead. One that changes what it captures, or looks through an exclusive reference of the function's,
//! keeps that from ending at a site: it is written again wherever it is used, so that between its uses nothing is borrowed.

use crate::library::{Functions, Library};
use crate::names::{LocalId, LocalSet, Locals, Names};
use crate::syntax::macros::items_of_list;
use crate::syntax::marks::Marks;
use crate::syntax::mentions::{Declared, locals_in, locals_of};
use crate::syntax::origins::Known;
use crate::visit::{self, Visit, VisitMut};
use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::{Block, Expr, ExprClosure, FnArg, ItemFn, Local, Pat, PatIdent, Stmt, parse_quote};

/// Opens the closures of a function.
pub fn open(function: &mut ItemFn, marks: Marks<'_>, known: Known<'_>, names: &Names) {
    let locals = &names.locals();
    let mut exclusive = Exclusive {
        known,
        locals,
        found: LocalSet::default(),
    };
    exclusive.visit_block(&function.block);
    let mut own = LocalSet::default();
    for argument in &function.sig.inputs {
        if let FnArg::Typed(typed) = argument {
            own.extend(locals_of(locals, &typed.pat).iter());
        }
    }
    let mut opener = Opener {
        marks,
        known,
        names,
        locals,
        exclusive: exclusive.found,
        own,
        repeated: false,
        shadows: false,
    };
    opener.visit_block_mut(&mut function.block);
    if opener.repeated {
        function
            .attrs
            .push(parse_quote!(#[allow(clippy::redundant_closure_call)]));
    }
    if opener.shadows {
        function.attrs.push(parse_quote!(#[allow(unused_mut)]));
    }
}

/// The variables that are declared as exclusive borrows.
struct Exclusive<'a> {
    known: Known<'a>,
    locals: &'a Locals,
    found: LocalSet,
}

impl<'ast> Visit<'ast> for Exclusive<'_> {
    fn visit_local(&mut self, local: &'ast Local) {
        if let Some(init) = &local.init
            && self.known.borrows_exclusively(&init.expr)
        {
            self.found.extend(locals_of(self.locals, &local.pat).iter());
        }
        visit::visit_local(self, local);
    }
    fn visit_item(&mut self, _: &'ast syn::Item) {}
}

struct Opener<'a> {
    marks: Marks<'a>,
    known: Known<'a>,
    names: &'a Names,
    locals: &'a Locals,
    /// Those that are exclusive references.
    exclusive: LocalSet,
    /// Those that end with the block that is looked at.
    own: LocalSet,
    repeated: bool,
    shadows: bool,
}

impl VisitMut for Opener<'_> {
    fn visit_block_mut(&mut self, block: &mut Block) {
        let mut index = 0;
        while index < block.stmts.len() {
            self.in_statement(&mut block.stmts[index]);
            index = self.declaration(block, index);
            if let Some(Stmt::Local(local)) = index.checked_sub(1).and_then(|last| block.stmts.get(last)) {
                self.own.extend(locals_of(self.locals, &local.pat).iter());
            }
        }
        self.own = LocalSet::default();
        visit::visit_block_mut(self, block);
        self.own = LocalSet::default();
    }

    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}

impl Opener<'_> {
    /// A `let` of a closure; returns the index of the next statement to look at.
    fn declaration(&mut self, block: &mut Block, index: usize) -> usize {
        let (before, after) = block.stmts.split_at_mut(index + 1);
        let Some(first_site) = after.iter().position(|stmt| self.marks.in_stmt(stmt)) else {
            return index + 1;
        };
        let Stmt::Local(local) = &mut before[index] else {
            return index + 1;
        };
        let name = plain_name(local);
        let id = name.as_ref().and_then(|name| self.locals.id(&name.ident));
        let (Some(name), Some(id)) = (name, id) else {
            return index + 1;
        };
        let is_steered = local
            .attrs
            .iter()
            .any(|attribute| attribute.path().is_ident("ckpt"));
        let used_across = self.is_used_across(after, first_site, id);
        let Some(init) = &mut local.init else {
            return index + 1;
        };
        if is_steered || !used_across || init.diverge.is_some() {
            return index + 1;
        }
        let escapes = escapes(self.marks.library, after, &name.ident);
        if escapes && name.mutability.is_some() {
            return index + 1;
        }
        if let (Expr::Closure(closure), true) = (&mut *init.expr, name.mutability.is_some()) {
            let Some(owned) = self.owned(closure, after, id) else {
                return index + 1;
            };
            closure.capture = None;
            self.repeat(after, &name.ident, closure);
            block.stmts.splice(index..=index, owned);
            return index;
        }
        if let Expr::Closure(closure) = &mut *init.expr
            && closure.capture.is_none()
            && !escapes
            && !self.captures(closure).is_disjoint(&self.exclusive)
            && self.owned(closure, after, id).is_some()
        {
            self.repeat(after, &name.ident, closure);
            block.stmts.remove(index);
            return index;
        }
        let later = self.mentioned(after);
        let mut owned = Vec::new();
        let borrow = |closure: &mut ExprClosure| {
            let captures = self.captures(closure);
            let changes = |id| later.contains(id) && self.locals.is_mutable(id);
            if !escapes && !captures.iter().any(changes) {
                closure.capture = None;
            } else if closure.capture.is_some() {
                owned.extend(
                    used_whole(closure)
                        .into_iter()
                        .filter(|it| self.locals.id(it).is_some_and(|id| captures.contains(id))),
                );
            }
        };
        EachClosure(self.marks.library, borrow).visit_expr_mut(&mut init.expr);
        let rt = crate::paths::rt();
        let check = |name: &Ident| {
            let here = Span::mixed_site().located_at(name.span());
            let check = quote_spanned!(here => #rt::owned_by_a_closure(&#name););
            parse_quote!(#check)
        };
        let checks: Vec<Stmt> = owned.iter().map(check).collect();
        let count = checks.len();
        block.stmts.splice(index..index, checks);
        index + 1 + count
    }

    /// Closures passed to a call that leads to a site.
    fn in_statement(&self, stmt: &mut Stmt) {
        if self.marks.in_stmt(stmt) {
            Arguments(self.marks).visit_stmt_mut(stmt);
        }
    }

    /// The function's variables that the closure uses.
    fn captures(&self, closure: &ExprClosure) -> LocalSet {
        let mut own = Declared::new(self.locals);
        own.visit_expr_closure(closure);
        let mut used = locals_in(self.locals, closure.body.to_token_stream());
        used.remove_all(&own.found);
        self.locals
            .named("self")
            .into_iter()
            .for_each(|it| used.remove(it));
        used
    }

    /// What a closure that is written again owns: variables in front of it. Nothing where it cannot be written again
    /// because its names would mean something else there.
    fn owned(&mut self, closure: &ExprClosure, after: &[Stmt], name: LocalId) -> Option<Vec<Stmt>> {
        let captures = self.captures(closure);
        let mut declared = Declared::new(self.locals);
        after.iter().for_each(|stmt| declared.visit_stmt(stmt));
        let mut named = captures.clone();
        named.insert(name);
        if self.locals.hide(&declared.found, &named) {
            return None;
        }
        if closure.capture.is_none() {
            return Some(Vec::new());
        }
        let later = self.mentioned(after);
        let mut statements = Vec::new();
        for captured in self.locals.by_name(&captures) {
            let mut own = self.locals.name(captured).clone();
            if self.known.is_reference(&own) {
                continue;
            }
            if later.contains(captured) {
                return None;
            }
            if self.own.contains(captured) {
                continue;
            }
            self.shadows = true;
            self.names.set_mutable(captured);
            own.set_span(closure.or1_token.spans[0]);
            statements.push(parse_quote!(let mut #own = #own;));
        }
        Some(statements)
    }

    /// Whether the closure is used behind the first site, by itself or in another closure.
    fn is_used_across(&self, after: &[Stmt], first_site: usize, closure: LocalId) -> bool {
        let library = self.marks.library;
        let in_a_closure = |stmt: &&Stmt| match stmt {
            Stmt::Local(Local { init: Some(init), .. }) => has_closure(library, &init.expr),
            _ => false,
        };
        let uses = |stmt: &Stmt| locals_in(self.locals, stmt.to_token_stream()).contains(closure);
        let (before, behind) = after.split_at(first_site);
        behind.iter().any(uses) || before.iter().filter(in_a_closure).any(uses)
    }

    /// The variables in some statements.
    fn mentioned(&self, statements: &[Stmt]) -> LocalSet {
        locals_in(self.locals, quote!(#(#statements)*))
    }

    fn repeat(&mut self, after: &mut [Stmt], name: &Ident, closure: &ExprClosure) {
        let mut writer = Substitution { name, closure };
        after.iter_mut().for_each(|stmt| writer.visit_stmt_mut(stmt));
        self.repeated = true;
    }
}

fn plain_name(local: &Local) -> Option<PatIdent> {
    match &local.pat {
        Pat::Ident(ident) if ident.by_ref.is_none() && ident.subpat.is_none() => Some(ident.clone()),
        Pat::Type(typed) => match &*typed.pat {
            Pat::Ident(ident) => Some(ident.clone()),
            _ => None,
        },
        _ => None,
    }
}

fn has_closure(library: &Library, value: &Expr) -> bool {
    let mut found = false;
    EachClosure(library, |_: &mut ExprClosure| found = true).visit_expr_mut(&mut value.clone());
    found
}

/// Whether the closure may outlive its block: it is returned, or given away.
fn escapes(library: &Library, statements: &[Stmt], name: &Ident) -> bool {
    struct Escapes<'a> {
        library: &'a Library,
        name: &'a Ident,
        found: bool,
    }
    impl Escapes<'_> {
        fn is_it(&self, expr: &Expr) -> bool {
            matches!(expr, Expr::Path(path) if path.path.is_ident(self.name))
        }
    }
    impl<'ast> Visit<'ast> for Escapes<'_> {
        fn visit_expr(&mut self, expr: &'ast Expr) {
            self.found |= match expr {
                Expr::Return(one) => one.expr.as_ref().is_some_and(|value| self.is_it(value)),
                Expr::Break(one) => one.expr.as_ref().is_some_and(|value| self.is_it(value)),
                Expr::MethodCall(call) => call.args.iter().any(|argument| self.is_it(argument)),
                Expr::Call(call) => {
                    keeps_closures(self.library, &call.func)
                        && call.args.iter().any(|argument| self.is_it(argument))
                }
                Expr::Struct(one) => one.fields.iter().any(|field| self.is_it(&field.expr)),
                _ => false,
            };
            visit::visit_expr(self, expr);
        }
    }
    let mut escapes = Escapes {
        library,
        name,
        found: false,
    };
    statements.iter().for_each(|stmt| escapes.visit_stmt(stmt));
    let is_value = matches!(statements.last(), Some(Stmt::Expr(value, None)) if escapes.is_it(value));
    escapes.found || is_value
}

fn keeps_closures(library: &Library, func: &Expr) -> bool {
    matches!(func, Expr::Path(path) if library.says_of_path(&path.path, Functions::Keeps))
}

/// The variables that a closure uses as a whole; of others it owns parts only.
fn used_whole(closure: &ExprClosure) -> Vec<Ident> {
    struct Whole(Vec<Ident>);
    impl<'ast> Visit<'ast> for Whole {
        fn visit_expr(&mut self, expr: &'ast Expr) {
            match expr {
                Expr::Field(field) if matches!(*field.base, Expr::Path(_)) => {}
                Expr::Path(path) => self
                    .0
                    .extend(path.path.get_ident().cloned().filter(|it| !self.0.contains(it))),
                other => visit::visit_expr(self, other),
            }
        }
    }
    let mut whole = Whole(Vec::new());
    whole.visit_expr(&closure.body);
    whole.0
}

/// The closures that make up a value: itself, or in `Box::new(..)`, tuples, lists.
struct EachClosure<'l, F>(&'l Library, F);

impl<F: FnMut(&mut ExprClosure)> VisitMut for EachClosure<'_, F> {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        match expr {
            Expr::Closure(closure) => (self.1)(closure),
            Expr::Paren(_) | Expr::Tuple(_) | Expr::Array(_) | Expr::Reference(_) | Expr::Cast(_) => {
                visit::visit_expr_mut(self, expr)
            }
            Expr::Call(call) if crate::syntax::origins::is_box(self.0, &call.func) => {
                call.args
                    .iter_mut()
                    .for_each(|argument| self.visit_expr_mut(argument));
            }
            Expr::Macro(one) => {
                if let Some(mut items) = items_of_list(self.0, &one.mac) {
                    items.iter_mut().for_each(|item| self.visit_expr_mut(item));
                    one.mac.tokens = items.to_token_stream();
                }
            }
            _ => {}
        }
    }
}

/// Drops the `move` of closures passed to calls that lead to a site.
struct Arguments<'a>(Marks<'a>);

impl VisitMut for Arguments<'_> {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        if self.0.callee(expr).is_some() {
            let arguments = match expr {
                Expr::Call(call) => call.args.iter_mut(),
                Expr::MethodCall(call) => call.args.iter_mut(),
                _ => return,
            };
            for argument in arguments {
                EachClosure(self.0.library, |closure: &mut ExprClosure| closure.capture = None)
                    .visit_expr_mut(argument);
            }
        }
        visit::visit_expr_mut(self, expr);
    }

    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}

/// Writes a closure wherever its name stands.
struct Substitution<'a> {
    name: &'a Ident,
    closure: &'a ExprClosure,
}

impl Substitution<'_> {
    fn tokens(&self, tokens: TokenStream) -> TokenStream {
        let mut out = TokenStream::new();
        let mut after_a_dot = false;
        for token in tokens {
            let dot = matches!(&token, TokenTree::Punct(one) if matches!(one.as_char(), '.' | ':'));
            match token {
                TokenTree::Ident(ident) if ident == *self.name && !after_a_dot => {
                    let closure = self.closure;
                    out.extend(quote!((#closure)));
                }
                TokenTree::Group(group) => {
                    let mut inner = Group::new(group.delimiter(), self.tokens(group.stream()));
                    inner.set_span(group.span());
                    out.extend([TokenTree::Group(inner)]);
                }
                other => out.extend([other]),
            }
            after_a_dot = dot;
        }
        out
    }
}

impl VisitMut for Substitution<'_> {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        if matches!(expr, Expr::Path(path) if path.qself.is_none() && path.path.is_ident(self.name)) {
            let closure = self.closure;
            *expr = parse_quote!((#closure));
            return;
        }
        visit::visit_expr_mut(self, expr);
    }

    fn visit_macro_mut(&mut self, mac: &mut syn::Macro) {
        mac.tokens = self.tokens(std::mem::take(&mut mac.tokens));
    }

    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}

#[cfg(test)]
mod tests {
    use crate::passes::try_expand;
    use quote::quote;

    #[test]
    fn a_closure_that_is_written_again_owns_no_variable_of_its_own_body() {
        let function = quote! {
            fn f(n: u64) -> u64 {
                let base = n * 2;
                let mut total = 0;
                let mut add = move |x: u64| {
                    let t = x + base;
                    total += t;
                    total
                };
                let mut sum = 0;
                for i in 0..n {
                    ckpt::checkpoint!();
                    sum += add(i);
                }
                sum
            }
        };
        let text = try_expand(quote!(), &function, false).unwrap().to_string();
        assert!(!text.contains("let mut t = t"), "{text}");
    }
}
