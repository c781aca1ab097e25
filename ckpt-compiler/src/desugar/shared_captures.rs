//! What closures change that are passed to a call with sites behind it.
//!
//! Such a closure holds what it changes borrowed exclusively for the whole of the call, out of reach of the sites in
//! there. So the variable moves into a `RefCell` for that time: the closure borrows it while it runs, a site while it
//! saves, and never both at once.

use crate::library::{Library, Macros};
use crate::names::{Kind, LocalId, Locals, Names, plain};
use crate::syntax::macros::name_of_macro;
use crate::syntax::marks::Marks;
use crate::syntax::mentions;
use crate::syntax::patterns::is_binding;
use crate::syntax::purity::is_assignment;
use crate::visit::{self, Visit, VisitMut};
use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::{Block, Expr, ExprClosure, FieldValue, ItemFn, Macro, Pat, PatIdent, Stmt, parse_quote};

/// Shares what the closures of a function change.
pub fn share(function: &mut ItemFn, marks: Marks<'_>, names: &Names) {
    let mut sharer = Sharer {
        marks,
        names,
        locals: &names.locals(),
        shared: false,
    };
    sharer.visit_block_mut(&mut function.block);
    if sharer.shared {
        function
            .attrs
            .push(parse_quote!(#[allow(unused_mut, unused_assignments)]));
    }
}

struct Sharer<'a> {
    marks: Marks<'a>,
    names: &'a Names,
    locals: &'a Locals,
    shared: bool,
}

impl VisitMut for Sharer<'_> {
    fn visit_block_mut(&mut self, block: &mut Block) {
        let mut statements = Vec::with_capacity(block.stmts.len());
        for stmt in std::mem::take(&mut block.stmts) {
            self.statement(stmt, &mut statements);
        }
        block.stmts = statements;
        visit::visit_block_mut(self, block);
    }

    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}

impl Sharer<'_> {
    fn statement(&mut self, mut stmt: Stmt, statements: &mut Vec<Stmt>) {
        let changed = self.changed_in(&stmt);
        if changed.is_empty() {
            statements.push(stmt);
            return;
        }
        self.shared = true;
        let hidden = mentions::declares(
            self.locals,
            std::slice::from_ref(&stmt),
            &changed.iter().copied().collect(),
        );
        let mut put_back: Vec<Stmt> = Vec::new();
        for local in changed {
            // The user's own place, but a name that the user cannot have meant.
            let mut own = self.locals.name(local).clone();
            own.set_span(Span::call_site());
            let cell = Ident::new(
                &format!("{}_shared", crate::names::plain_text(&self.locals.written(&own))),
                Span::mixed_site(),
            );
            statements.push(parse_quote!(let #cell = ::core::cell::RefCell::new(#own);));
            put_back.push(parse_quote!(#own = #cell.into_inner();));
            let mut rewriter = Rewriter {
                marks: self.marks,
                name: own,
                cell,
            };
            rewriter.visit_stmt_mut(&mut stmt);
        }
        match stmt {
            Stmt::Expr(value, None) => {
                let result = plain(Kind::Result);
                statements.push(parse_quote!(let #result = #value;));
                statements.extend(put_back);
                statements.push(Stmt::Expr(parse_quote!(#result), None));
            }
            // What the statement declares hides what is put back.
            Stmt::Local(mut local) if hidden => {
                let result = self.names.fresh(Kind::Result);
                let mut bound: Pat = parse_quote!(#result);
                let pattern = match &mut local.pat {
                    Pat::Type(typed) => &mut *typed.pat,
                    untyped => untyped,
                };
                std::mem::swap(pattern, &mut bound);
                statements.push(Stmt::Local(local));
                statements.extend(put_back);
                statements.push(parse_quote!(let #bound = #result;));
            }
            other => {
                statements.push(other);
                statements.extend(put_back);
            }
        }
    }

    /// The variables that closures in the arguments of this statement's marked calls change, in order, where the
    /// statement uses them nowhere else.
    fn changed_in(&self, stmt: &Stmt) -> Vec<LocalId> {
        let is_plain = match stmt {
            Stmt::Local(local) => local.init.as_ref().is_some_and(|init| init.diverge.is_none()),
            Stmt::Expr(value, _) => !matches!(
                value,
                Expr::While(_)
                    | Expr::ForLoop(_)
                    | Expr::Loop(_)
                    | Expr::If(_)
                    | Expr::Match(_)
                    | Expr::Block(_)
                    | Expr::Unsafe(_)
            ),
            _ => false,
        };
        if !is_plain || !self.marks.in_stmt(stmt) {
            return Vec::new();
        }
        let mut closures = InArguments {
            marks: self.marks,
            closures: Vec::new(),
        };
        closures.visit_stmt(stmt);
        let closures = closures.closures;
        let mentions = |tokens: &dyn ToTokens| {
            let mentions = mentions_in(tokens.to_token_stream()).into_iter();
            mentions.filter_map(|name| self.locals.named(&name)).collect()
        };
        let inside: Vec<LocalId> = closures.iter().flat_map(|one| mentions(one)).collect();
        let all: Vec<LocalId> = mentions(stmt);
        let count = |all: &[LocalId], local| all.iter().filter(|one| **one == local).count();
        let may_be_shared = |local: &LocalId| {
            let name = self.locals.name(*local);
            name != "self"
                && self.locals.is_mutable(*local)
                && count(&inside, *local) == count(&all, *local)
                && closures.iter().any(|one| changes(self.marks.library, one, name))
                && !closures.iter().any(|one| keeps_to_itself(self.locals, one, name))
        };
        let mentioned = inside.iter().copied().collect();
        let mentioned = self.locals.by_name(&mentioned).into_iter();
        mentioned.filter(may_be_shared).collect()
    }
}

/// The closures among the arguments of marked calls, not those inside of others.
struct InArguments<'a, 'ast> {
    marks: Marks<'a>,
    closures: Vec<&'ast ExprClosure>,
}

impl<'ast> Visit<'ast> for InArguments<'_, 'ast> {
    fn visit_expr(&mut self, expr: &'ast Expr) {
        if self.marks.callee(expr).is_some() {
            let arguments = match expr {
                Expr::Call(call) => &call.args,
                Expr::MethodCall(call) => &call.args,
                _ => return,
            };
            self.closures.extend(arguments.iter().filter_map(closure_in));
        }
        visit::visit_expr(self, expr);
    }
    fn visit_expr_closure(&mut self, _: &'ast ExprClosure) {}
    fn visit_item(&mut self, _: &'ast syn::Item) {}
}

/// The closure of `|..| ..`, `&|..| ..`, `&mut |..| ..`.
fn closure_in(argument: &Expr) -> Option<&ExprClosure> {
    match argument {
        Expr::Closure(closure) => Some(closure),
        Expr::Reference(reference) => closure_in(&reference.expr),
        Expr::Paren(paren) => closure_in(&paren.expr),
        _ => None,
    }
}

fn closure_in_mut(argument: &mut Expr) -> Option<&mut ExprClosure> {
    match argument {
        Expr::Closure(closure) => Some(closure),
        Expr::Reference(reference) => closure_in_mut(&mut reference.expr),
        Expr::Paren(paren) => closure_in_mut(&mut paren.expr),
        _ => None,
    }
}

/// All names that stand for themselves: not fields, methods or segments of paths.
fn mentions_in(tokens: TokenStream) -> Vec<String> {
    let mut found = Vec::new();
    let mut behind_a_dot = false;
    for token in tokens {
        let dot = is_dot(&token) && !behind_a_dot;
        match token {
            TokenTree::Ident(ident) if !behind_a_dot => found.push(crate::names::spelling(&ident)),
            TokenTree::Group(group) => found.extend(mentions_in(group.stream())),
            TokenTree::Literal(literal) => {
                found.extend(crate::syntax::captured::captured_in_text(&literal.to_string()));
            }
            _ => {}
        }
        behind_a_dot = dot;
    }
    found
}

/// Whether this is the dot of a field or method; two of them make a range.
fn is_dot(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Punct(one) if one.as_char() == '.')
}

/// Whether the closure assigns to the variable, borrows it exclusively, or calls a method of it that may.
fn changes(library: &Library, closure: &ExprClosure, name: &Ident) -> bool {
    let mut changes = Changes {
        library,
        name,
        found: false,
    };
    changes.visit_expr(&closure.body);
    changes.found
}

struct Changes<'a> {
    library: &'a Library,
    name: &'a Ident,
    found: bool,
}

impl Changes<'_> {
    fn is_place_of_it(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Path(path) => path.path.is_ident(self.name),
            Expr::Field(field) => self.is_place_of_it(&field.base),
            Expr::Index(index) => self.is_place_of_it(&index.expr),
            Expr::Paren(paren) => self.is_place_of_it(&paren.expr),
            _ => false,
        }
    }
}

impl<'ast> Visit<'ast> for Changes<'_> {
    fn visit_expr(&mut self, expr: &'ast Expr) {
        self.found |= match expr {
            Expr::Assign(assign) => self.is_place_of_it(&assign.left),
            Expr::Binary(binary) => is_assignment(&binary.op) && self.is_place_of_it(&binary.left),
            Expr::Reference(one) => one.mutability.is_some() && self.is_place_of_it(&one.expr),
            Expr::MethodCall(call) => {
                self.is_place_of_it(&call.receiver) && !self.library.only_looks(&call.method.to_string())
            }
            _ => false,
        };
        visit::visit_expr(self, expr);
    }
    fn visit_macro(&mut self, mac: &'ast Macro) {
        let writes = self.library.says(&name_of_macro(mac), Macros::Writes);
        let first = mac.tokens.clone().into_iter().find_map(|token| match token {
            TokenTree::Ident(ident) if ident != "mut" => Some(ident),
            _ => None,
        });
        self.found |= writes && first.is_some_and(|first| first == *self.name);
    }
}

/// Whether what the closure changes may be another thing: it has one of this name, or owns a copy.
fn keeps_to_itself(locals: &Locals, closure: &ExprClosure, name: &Ident) -> bool {
    declares(locals, closure, name) || closure.capture.is_some() && mentions(closure, name)
}

fn mentions(tokens: &impl ToTokens, name: &Ident) -> bool {
    mentions_in(tokens.to_token_stream())
        .iter()
        .any(|one| name == one)
}

fn declares(locals: &Locals, closure: &ExprClosure, name: &Ident) -> bool {
    struct Declares<'a> {
        locals: &'a Locals,
        name: &'a Ident,
        found: bool,
    }
    impl<'ast> Visit<'ast> for Declares<'_> {
        fn visit_pat_ident(&mut self, pat: &'ast PatIdent) {
            self.found |= is_binding(self.locals, pat) && self.locals.same_name(&pat.ident, self.name);
            visit::visit_pat_ident(self, pat);
        }
        fn visit_item(&mut self, item: &'ast syn::Item) {
            self.found |= mentions(item, self.name);
        }
    }
    let mut declares = Declares {
        locals,
        name,
        found: false,
    };
    declares.visit_expr_closure(closure);
    declares.found
}

/// Lets the closures in the arguments of marked calls borrow the variable from its cell whenever they run.
struct Rewriter<'a> {
    marks: Marks<'a>,
    name: Ident,
    cell: Ident,
}

impl VisitMut for Rewriter<'_> {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        if self.marks.callee(expr).is_some() {
            let arguments = match expr {
                Expr::Call(call) => &mut call.args,
                Expr::MethodCall(call) => &mut call.args,
                _ => return,
            };
            for closure in arguments.iter_mut().filter_map(closure_in_mut) {
                self.closure(closure);
            }
        }
        visit::visit_expr_mut(self, expr);
    }
    fn visit_expr_closure_mut(&mut self, _: &mut ExprClosure) {}
    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}

impl Rewriter<'_> {
    fn closure(&self, closure: &mut ExprClosure) {
        if !mentions(&closure.body, &self.name) {
            return;
        }
        Through(&self.name).visit_expr_mut(&mut closure.body);
        let (own, cell) = (&self.name, &self.cell);
        let body = &closure.body;
        *closure.body = parse_quote!({
            #[allow(unused_variables)]
            let #own = &mut *#cell.borrow_mut();
            #body
        });
    }
}

/// Uses a variable through a reference of its name: `count += 1` is `(*count) += 1`.
struct Through<'a>(&'a Ident);

impl VisitMut for Through<'_> {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        if let Expr::Path(path) = expr
            && path.qself.is_none()
            && path.path.is_ident(self.0)
        {
            *expr = parse_quote!((*#path));
            return;
        }
        visit::visit_expr_mut(self, expr);
    }

    fn visit_field_value_mut(&mut self, field: &mut FieldValue) {
        if field.colon_token.is_none()
            && matches!(&field.expr, Expr::Path(path) if path.path.is_ident(self.0))
        {
            field.colon_token = Some(Default::default());
        }
        visit::visit_field_value_mut(self, field);
    }

    fn visit_macro_mut(&mut self, mac: &mut Macro) {
        mac.tokens = through(std::mem::take(&mut mac.tokens), self.0);
    }

    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}

fn through(tokens: TokenStream, name: &Ident) -> TokenStream {
    let mut out = TokenStream::new();
    let mut behind_a_dot = false;
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        let dot = is_dot(&token) && !behind_a_dot;
        let names_an_argument = matches!(tokens.peek(), Some(TokenTree::Punct(one)) if one.as_char() == '=');
        match token {
            TokenTree::Ident(ident) if ident == *name && !behind_a_dot && !names_an_argument => {
                let inner = Group::new(Delimiter::Parenthesis, quote!(*#ident));
                out.extend([TokenTree::Group(inner)]);
            }
            TokenTree::Group(group) => {
                let mut inner = Group::new(group.delimiter(), through(group.stream(), name));
                inner.set_span(group.span());
                out.extend([TokenTree::Group(inner)]);
            }
            other => out.extend([other]),
        }
        behind_a_dot = dot;
    }
    out
}
