//! What the body of a thread captures, and how a restart brings it back: the region rebuilds it, or the thread has
//! changed it and its checkpoint has it.

use super::find::body_of;
use crate::diagnostics::{Diagnostics, Refusal};
use crate::library::{Adaptor, Iterators, Library, Methods, Threads};
use crate::names::{LocalId, LocalSet, Locals};
use crate::syntax::captured::captured_in_text;
use crate::syntax::mentions::locals_of;
use crate::syntax::origins::is_exclusive_type;
use crate::visit::{self, Visit};
use proc_macro2::{Delimiter, Ident, TokenStream, TokenTree};
use quote::ToTokens;
use std::collections::HashMap;
use syn::spanned::Spanned;
use syn::{Expr, ExprClosure, FnArg, ItemFn, Pat, parse_quote};

/// How a captured variable comes back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    /// The region rebuilds it; rustc is asked whether it can have changed.
    Reexecuted,
    /// What it points to is put back in its place.
    InPlace,
    /// It is restored as a variable of the thread's own.
    Restored,
}

/// A variable that the body of a thread uses and does not declare.
#[derive(Debug, Clone)]
pub struct Capture {
    /// Its name.
    pub ident: Ident,
    /// How it comes back.
    pub how: How,
    /// Whether it is the region's variable itself that the body changes: it gets a reference to it.
    pub borrowed: bool,
    /// Whether the body gives it another value as a whole: it looks behind the reference.
    pub behind: bool,
    /// How often the body mentions it, if nothing behind it does.
    pub alone: Option<usize>,
    /// Whether it moves into the thread for good.
    pub moved: bool,
    /// Whether the body names only parts of it: the closure may capture these alone.
    pub in_parts: bool,
}

impl Capture {
    /// The parameter of the body's function that stands for it; its type is never read but for its kind.
    pub fn parameter(&self) -> FnArg {
        let name = &self.ident;
        match self.how {
            How::Reexecuted if self.moved => parse_quote!(#name: ()),
            How::Reexecuted => parse_quote!(#[ckpt(reexecute)] #name: ()),
            How::InPlace => parse_quote!(#name: &mut ()),
            How::Restored => parse_quote!(mut #name: ()),
        }
    }
}

/// What a function's text says of its variables.
#[derive(Debug)]
pub struct VariablesInScope<'l> {
    library: &'l Library,
    locals: &'l Locals,
    /// Those that are exclusive references.
    exclusive: LocalSet,
    /// Those that are ends of channels.
    channel_ends: LocalSet,
    /// What is in scope where a closure or statement begins, by its place.
    scopes: HashMap<(usize, usize), LocalSet>,
    /// Where each is mentioned last.
    last: HashMap<LocalId, (usize, usize)>,
}

impl<'l> VariablesInScope<'l> {
    pub(super) fn of(library: &'l Library, locals: &'l Locals, function: &ItemFn) -> Self {
        let mut variables = Self {
            library,
            locals,
            exclusive: LocalSet::default(),
            channel_ends: LocalSet::default(),
            scopes: scopes(locals, function),
            last: HashMap::new(),
        };
        identifiers(&function.block.to_token_stream(), &mut |ident| {
            let local = locals.id(ident);
            variables
                .last
                .extend(local.map(|local| (local, start(ident.span()))));
        });
        variables.visit_block(&function.block);
        variables
    }

    /// Those that can be changed but through what they share: others are not the threads' but everybody's.
    pub(super) fn changeable(&self, mut some: LocalSet) -> LocalSet {
        some.retain(|one| self.locals.is_mutable(one) || self.is_exclusive(one));
        some
    }

    /// Whether it is an end of a channel that was made in the function.
    pub(super) fn is_channel_end(&self, local: LocalId) -> bool {
        self.channel_ends.contains(local)
    }

    fn is_exclusive(&self, local: LocalId) -> bool {
        self.locals.get(local).exclusive || self.exclusive.contains(local)
    }

    fn exclusively(&mut self, pattern: &Pat) {
        self.exclusive.extend(locals_of(self.locals, pattern).iter());
    }

    /// Takes note of what a pattern binds that goes over, or is, a value.
    fn over(&mut self, pattern: &Pat, value: &Expr) {
        match value {
            Expr::Reference(one) if one.mutability.is_some() => self.exclusively(pattern),
            Expr::Paren(inner) => self.over(pattern, &inner.expr),
            Expr::Tuple(values) => {
                if let Pat::Tuple(parts) = pattern {
                    let pairs = parts.elems.iter().zip(&values.elems);
                    pairs.for_each(|(part, value)| self.over(part, value));
                }
            }
            Expr::MethodCall(call) => {
                let (library, name) = (self.library, call.method.to_string());
                let is_same = library.passes_on_items(&name)
                    || library.says(&name, Iterators::Converts)
                    || library.says(&name, Methods::Unwraps);
                match (library.key(&name), pattern) {
                    (Some(Adaptor::Numbers), Pat::Tuple(pair)) if pair.elems.len() == 2 => {
                        self.over(&pair.elems[1], &call.receiver);
                    }
                    (Some(Adaptor::Pairs), Pat::Tuple(pair))
                        if pair.elems.len() == 2 && call.args.len() == 1 =>
                    {
                        self.over(&pair.elems[0], &call.receiver);
                        self.over(&pair.elems[1], &call.args[0]);
                    }
                    _ if is_same => self.over(pattern, &call.receiver),
                    _ if library.says(&name, Methods::Lends) => self.exclusively(pattern),
                    _ => {}
                }
            }
            _ => {}
        }
    }
}

impl<'ast> Visit<'ast> for VariablesInScope<'_> {
    fn visit_local(&mut self, local: &'ast syn::Local) {
        let pattern = match &local.pat {
            Pat::Type(typed) => {
                if is_exclusive_type(&typed.ty) {
                    self.exclusively(&typed.pat);
                }
                &*typed.pat
            }
            other => other,
        };
        if let Some(init) = &local.init {
            self.over(pattern, &init.expr);
            if let Expr::Call(call) = &*init.expr
                && let Expr::Path(path) = &*call.func
                && self.library.says_of_path(&path.path, Threads::Channels)
            {
                self.channel_ends.extend(locals_of(self.locals, pattern).iter());
            }
        }
        visit::visit_local(self, local);
    }

    fn visit_expr_for_loop(&mut self, one: &'ast syn::ExprForLoop) {
        self.over(&one.pat, &one.expr);
        visit::visit_expr_for_loop(self, one);
    }

    fn visit_expr_let(&mut self, one: &'ast syn::ExprLet) {
        self.over(&one.pat, &one.expr);
        visit::visit_expr_let(self, one);
    }

    /// `grid.chunks_mut(n).map(|part| s.spawn(..))`.
    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        for argument in &call.args {
            if let Expr::Closure(closure) = argument
                && let Some(pattern) = closure.inputs.first()
            {
                self.over(pattern, &call.receiver);
            }
        }
        visit::visit_expr_method_call(self, call);
    }

    fn visit_expr_closure(&mut self, closure: &'ast ExprClosure) {
        // What a thread declares itself is no capture.
        if closure.inputs.is_empty() {
            return;
        }
        visit::visit_expr_closure(self, closure);
    }
}

/// What is in scope at every closure, and at every statement, which may become the body of a thread.
fn scopes(locals: &Locals, function: &ItemFn) -> HashMap<(usize, usize), LocalSet> {
    struct Scopes<'l> {
        locals: &'l Locals,
        here: LocalSet,
        found: HashMap<(usize, usize), LocalSet>,
    }
    impl Scopes<'_> {
        fn add(&mut self, pattern: &Pat) {
            self.here.extend(locals_of(self.locals, pattern).iter());
        }
        fn within(&mut self, patterns: &[&Pat], inside: impl FnOnce(&mut Self)) {
            let before = self.here.clone();
            for pattern in patterns {
                self.add(pattern);
            }
            inside(self);
            self.here = before;
        }
    }
    impl<'ast> Visit<'ast> for Scopes<'_> {
        fn visit_block(&mut self, block: &'ast syn::Block) {
            self.within(&[], |scopes| visit::visit_block(scopes, block));
        }
        fn visit_local(&mut self, local: &'ast syn::Local) {
            visit::visit_local(self, local);
            self.add(&local.pat);
        }
        fn visit_expr_for_loop(&mut self, one: &'ast syn::ExprForLoop) {
            self.visit_expr(&one.expr);
            self.within(&[&one.pat], |scopes| scopes.visit_block(&one.body));
        }
        fn visit_arm(&mut self, arm: &'ast syn::Arm) {
            self.within(&[&arm.pat], |scopes| visit::visit_arm(scopes, arm));
        }
        fn visit_expr_if(&mut self, one: &'ast syn::ExprIf) {
            self.within(&[], |scopes| {
                scopes.visit_expr(&one.cond);
                scopes.visit_block(&one.then_branch);
            });
            if let Some((_, otherwise)) = &one.else_branch {
                self.visit_expr(otherwise);
            }
        }
        fn visit_expr_while(&mut self, one: &'ast syn::ExprWhile) {
            self.within(&[], |scopes| visit::visit_expr_while(scopes, one));
        }
        fn visit_expr_let(&mut self, one: &'ast syn::ExprLet) {
            visit::visit_expr_let(self, one);
            self.add(&one.pat);
        }
        fn visit_stmt(&mut self, stmt: &'ast syn::Stmt) {
            self.found.insert(start(stmt.span()), self.here.clone());
            visit::visit_stmt(self, stmt);
        }
        fn visit_expr_closure(&mut self, closure: &'ast ExprClosure) {
            self.found.insert(place(closure), self.here.clone());
            let inputs: Vec<&Pat> = closure.inputs.iter().collect();
            self.within(&inputs, |scopes| visit::visit_expr_closure(scopes, closure));
        }
        fn visit_item(&mut self, _: &'ast syn::Item) {}
    }
    let mut scopes = Scopes {
        locals,
        here: LocalSet::default(),
        found: HashMap::new(),
    };
    for argument in &function.sig.inputs {
        match argument {
            FnArg::Receiver(_) => scopes.here.extend(locals.named("self")),
            FnArg::Typed(typed) => scopes.add(&typed.pat),
        }
    }
    scopes.visit_block(&function.block);
    scopes.found
}

fn place(closure: &ExprClosure) -> (usize, usize) {
    start(closure.or1_token.span)
}

fn start(span: proc_macro2::Span) -> (usize, usize) {
    let start = span.start();
    (start.line, start.column)
}

/// What the closure of a thread captures.
pub(super) fn captures(
    closure: &ExprClosure,
    variables: &VariablesInScope<'_>,
    errors: &mut Diagnostics,
) -> Vec<Capture> {
    let locals = variables.locals;
    let body = body_of(closure);
    let changed = super::reexecution::changed(variables.library, locals, &body);
    let assigned = super::reexecution::assigned(locals, &body);
    let Some(scope) = variables.scopes.get(&place(closure)) else {
        errors.refuse(closure.or1_token.span, Refusal::CapturesUnknown);
        return Vec::new();
    };
    let mut found: HashMap<LocalId, Ident> = HashMap::new();
    let mut last = LocalSet::default();
    let mentions = mentions(locals, &body.to_token_stream());
    identifiers(&body.to_token_stream(), &mut |ident| {
        if let Some(local) = locals.id(ident).filter(|local| scope.contains(*local)) {
            found.entry(local).or_insert_with(|| ident.clone());
            if variables.last.get(&local) == Some(&start(ident.span())) {
                last.insert(local);
            }
        }
    });
    let used = found.keys().copied().collect();
    let mut whole = LocalSet::default();
    note_whole(locals, body.to_token_stream(), &mut whole);
    let mut captures = Vec::new();
    for local in locals.by_name(&used) {
        let ident = found[&local].clone();
        if ident == "self" {
            errors.refuse(ident.span(), Refusal::ThreadCapturesSelf);
            continue;
        }
        let how = if variables.is_exclusive(local) {
            How::InPlace
        } else if locals.is_mutable(local) && changed.contains(local) {
            How::Restored
        } else {
            How::Reexecuted
        };
        let borrowed = how == How::Restored && closure.capture.is_none();
        let how = if borrowed { How::InPlace } else { how };
        let behind = borrowed && assigned.contains(local);
        captures.push(Capture {
            ident,
            how,
            borrowed,
            behind,
            alone: last.contains(local).then(|| mentions[&local]),
            moved: false,
            in_parts: !whole.contains(local),
        });
    }
    captures
}

/// The variables that a closure is certain to capture as a whole.
pub fn named_whole(locals: &Locals, closure: &ExprClosure) -> LocalSet {
    let mut whole = LocalSet::default();
    note_whole(locals, closure.body.to_token_stream(), &mut whole);
    whole
}

/// The variables that are certain to be captured as a whole: those that do not only stand in front of a field (`pair.left`), and are not only
/// taken apart (`let Pair { left, .. } = pair;`, `match pair { .. }`).
fn note_whole(locals: &Locals, tokens: TokenStream, whole: &mut LocalSet) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let is = |at: usize, what: &str| tokens.get(at).is_some_and(|one| one.to_string() == what);
    for (at, token) in tokens.iter().enumerate() {
        match token {
            TokenTree::Group(group) => note_whole(locals, group.stream(), whole),
            TokenTree::Ident(ident) => {
                let is_call = is(at + 3, ":")
                    || matches!(tokens.get(at + 3), Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Parenthesis);
                let is_field = match tokens.get(at + 2) {
                    Some(TokenTree::Ident(_)) => !is_call,
                    Some(TokenTree::Literal(_)) => true,
                    _ => false,
                };
                let is_part = is(at + 1, ".") && !is(at + 2, ".") && is_field;
                let is_named_anew = at >= 3
                    && matches!(tokens[at - 2], TokenTree::Ident(_))
                    && (is(at - 3, "let") || is(at - 3, "mut"));
                let is_taken_apart = at > 0 && (is(at - 1, "=") && !is_named_anew || is(at - 1, "match"));
                if !is_part && !is_taken_apart {
                    whole.extend(locals.id(ident));
                }
            }
            TokenTree::Literal(literal) => {
                let names = captured_in_text(&literal.to_string());
                let names = names.iter().filter_map(|name| syn::parse_str::<Ident>(name).ok());
                whole.extend(names.filter_map(|mut name| {
                    name.set_span(literal.span());
                    locals.id(&name)
                }));
            }
            TokenTree::Punct(_) => {}
        }
    }
}

/// How often tokens mention each variable.
pub(super) fn mentions(locals: &Locals, tokens: &TokenStream) -> HashMap<LocalId, usize> {
    let mut found = HashMap::new();
    identifiers(tokens, &mut |ident| {
        if let Some(local) = locals.id(ident) {
            *found.entry(local).or_insert(0) += 1;
        }
    });
    found
}

/// The names in tokens that may be variables: not behind a dot or in front of a `!` or `::`.
fn identifiers(tokens: &TokenStream, visit: &mut dyn FnMut(&Ident)) {
    let mut previous = ' ';
    let mut tokens = tokens.clone().into_iter().peekable();
    while let Some(token) = tokens.next() {
        match &token {
            TokenTree::Group(group) => {
                identifiers(&group.stream(), visit);
                previous = ' ';
            }
            TokenTree::Ident(ident) => {
                let next = match tokens.peek() {
                    Some(TokenTree::Punct(punct)) => punct.as_char(),
                    _ => ' ',
                };
                if previous != '.' && next != '!' {
                    visit(ident);
                }
                previous = ' ';
            }
            TokenTree::Punct(punct) => {
                // `..n` is a range, not a field.
                previous = match (previous, punct.as_char()) {
                    ('.' | 'r', '.') => 'r',
                    (_, other) => other,
                };
            }
            TokenTree::Literal(literal) => {
                for name in captured_in_text(&literal.to_string()) {
                    if let Ok(mut ident) = syn::parse_str::<Ident>(&name) {
                        ident.set_span(literal.span());
                        visit(&ident);
                    }
                }
                previous = ' ';
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_closure_that_is_not_found_again_is_refused() {
        let function: ItemFn = syn::parse_str("fn f() { let steps = 3; }").unwrap();
        let (library, locals) = (Library::default(), Locals::default());
        let variables = VariablesInScope::of(&library, &locals, &function);
        let closure: ExprClosure = syn::parse_str("|| go()").unwrap();
        let mut errors = Diagnostics::default();
        assert!(captures(&closure, &variables, &mut errors).is_empty());
        let said: Vec<String> = errors.iter().map(|one| one.message()).collect();
        assert!(
            said.len() == 1 && said[0].starts_with("ckpt: E1049: "),
            "{said:?}"
        );
    }
}
