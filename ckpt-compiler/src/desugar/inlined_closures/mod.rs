//! Chains of adaptors with a site in one of their closures become loops.
//!
//! `let sums: Vec<_> = list.iter().map(|x| { checkpoint!(); f(x) }).collect();` becomes a `for` over `list.iter()` that
//! gathers what it computes: a walk can enter a loop, but no closure. The order of everything that runs is the same. Only
//! what is certain to be an iterator that runs where it stands is unfolded: it begins at a range or with a method that
//! makes an iterator, nothing in it is parallel, and it ends in one of the calls of `ends`, or in a `for`. A function
//! that is given by its name, `map(f)`, is a closure that calls it.
//!
//! A closure that is called where it stands, `(|| { checkpoint!(); f(x) })()`, becomes a block.

pub mod adaptors;
mod ends;
mod exits;
mod in_place;

use crate::desugar::inlined_closures::adaptors::{Peeler, closure_of, peeled};
use crate::library::{Adaptor, Ending, Iterators, Library, Types, last_name};
use crate::names::{Kind, LocalSet, Names};
use crate::resolve::references::references;
use crate::syntax::macros::arguments_of_macro;
use crate::syntax::marks::Marks;
use crate::syntax::origins::closure_in;
use crate::visit::{self, Visit, VisitMut};
pub use ends::parameters_of_end;
use ends::{Unfolded, arguments_of_end};
use exits::can_be_written_out;
pub use exits::written_out;
pub use in_place::called_in_place;
use quote::{ToTokens, quote};
use syn::{
    Expr, ExprClosure, ExprForLoop, ExprMethodCall, ExprPath, ItemFn, Local, ReturnType, Stmt, Type,
    parse_quote,
};

/// Unfolds the chains of a function's body that have a site in a closure.
pub fn inline(function: &mut ItemFn, marks: Marks<'_>, names: &Names) {
    let references = match in_place::is_any_owning(marks.library, &function.block) {
        true => references(marks.library, &names.locals(), function),
        false => LocalSet::default(),
    };
    let mut unfolder = Unfolder {
        library: marks.library,
        references,
        peeler: Peeler { names, marks },
        may_fail: matches!(&function.sig.output, ReturnType::Type(_, ty) if is_result(marks.library, ty)),
    };
    match function.block.stmts.last_mut() {
        Some(Stmt::Expr(value, None)) if unfolder.may_fail && is_collected(marks.library, value) => {
            unfolder.collect_early(value)
        }
        _ => {}
    }
    unfolder.visit_block_mut(&mut function.block);
}

/// A closure of a chain, or a function in its place.
#[derive(Clone, Copy)]
enum Link<'e> {
    Closure(&'e ExprClosure),
    Function(&'e ExprPath),
}

/// The closures that unfolding the chain would open, if it can be unfolded.
pub fn closures_of_call<'e>(library: &Library, call: &'e ExprMethodCall) -> Vec<&'e ExprClosure> {
    closures(links_of_call(library, call))
}

/// The same for the iterator of a `for`.
pub fn closures_of_for<'e>(library: &Library, one: &'e ExprForLoop) -> Vec<&'e ExprClosure> {
    closures(links_around(library, &one.expr, None))
}

/// What is given by its name where a function may be, and would be called in the loop.
pub fn functions_of_call<'e>(library: &Library, call: &'e ExprMethodCall) -> Vec<&'e ExprPath> {
    functions(links_of_call(library, call))
}

/// The same for the iterator of a `for`.
pub fn functions_of_for<'e>(library: &Library, one: &'e ExprForLoop) -> Vec<&'e ExprPath> {
    functions(links_around(library, &one.expr, None))
}

fn closures(links: Vec<Link<'_>>) -> Vec<&ExprClosure> {
    let closure = |link| match link {
        Link::Closure(closure) => Some(closure),
        Link::Function(_) => None,
    };
    links.into_iter().filter_map(closure).collect()
}

fn functions(links: Vec<Link<'_>>) -> Vec<&ExprPath> {
    let function = |link| match link {
        Link::Function(path) => Some(path),
        Link::Closure(_) => None,
    };
    links.into_iter().filter_map(function).collect()
}

fn links_of_call<'e>(library: &Library, call: &'e ExprMethodCall) -> Vec<Link<'e>> {
    let own = call.args.last().and_then(link_in);
    if !ends_a_chain(library, call) || own.is_none() && !call.args.is_empty() {
        return Vec::new();
    }
    links_around(library, &call.receiver, own)
}

fn link_in(argument: &Expr) -> Option<Link<'_>> {
    match argument {
        Expr::Path(path) => Some(Link::Function(path)),
        other => closure_in(other).map(Link::Closure),
    }
}

fn links_around<'e>(library: &Library, over: &'e Expr, own: Option<Link<'e>>) -> Vec<Link<'e>> {
    if !is_sequential(library, over) {
        return Vec::new();
    }
    let mut found: Vec<Link<'e>> = own.into_iter().collect();
    let mut at = over;
    loop {
        match at {
            Expr::Paren(inner) => at = &inner.expr,
            Expr::MethodCall(call) => {
                match (closure_of(library, call), function_of(library, call)) {
                    (Some(closure), _) => found.push(Link::Closure(closure)),
                    (None, Some(path)) => found.push(Link::Function(path)),
                    _ if numbers_items(library, call) => {}
                    _ => break,
                }
                at = &call.receiver;
            }
            _ => break,
        }
    }
    let opens = |link: &Link<'_>| match link {
        Link::Closure(closure) => can_be_written_out(library, closure),
        Link::Function(_) => true,
    };
    if found.iter().all(opens) {
        found
    } else {
        Vec::new()
    }
}

/// The name that an adaptor is given in the place of a closure.
fn function_of<'e>(library: &Library, call: &'e ExprMethodCall) -> Option<&'e ExprPath> {
    match call.args.first() {
        Some(Expr::Path(path)) if call.args.len() == 1 && peeled(library, &call.method).is_some() => {
            Some(path)
        }
        _ => None,
    }
}

fn numbers_items(library: &Library, call: &ExprMethodCall) -> bool {
    library.is_call(call, Adaptor::Numbers)
}

fn is_collected(library: &Library, expr: &Expr) -> bool {
    matches!(expr, Expr::MethodCall(call) if library.is_call(call, Ending::Collects))
}

/// `Result<..>`, `io::Result<..>`, `Option<..>`.
fn is_result(library: &Library, ty: &Type) -> bool {
    matches!(ty, Type::Path(path)
        if library.says(&last_name(&path.path), Types::Fallible))
}

struct Unfolder<'a> {
    library: &'a Library,
    peeler: Peeler<'a>,
    /// The variables that stand for references, where it matters.
    references: LocalSet,
    /// Whether the function returns a `Result` or an `Option`.
    may_fail: bool,
}

impl VisitMut for Unfolder<'_> {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        match expr {
            Expr::Try(one) if is_collected(self.library, &one.expr) => {
                return self.collect_early(&mut one.expr);
            }
            Expr::Return(one) if self.may_fail => {
                let is_it = |value: &&mut Expr| is_collected(self.library, value);
                if let Some(value) = one.expr.as_deref_mut().filter(is_it) {
                    return self.collect_early(value);
                }
            }
            _ => {}
        }
        // What stands inside comes first: a chain in a closure of another makes a site of that closure.
        visit::visit_expr_mut(self, expr);
        self.replace(expr, false);
    }

    fn visit_local_mut(&mut self, local: &mut Local) {
        let annotated = matches!(&local.pat, syn::Pat::Type(typed) if is_result(self.library, &typed.ty));
        match &mut local.init {
            Some(init) if annotated && is_collected(self.library, &init.expr) => {
                self.collect_early(&mut init.expr)
            }
            _ => visit::visit_local_mut(self, local),
        }
    }

    fn visit_macro_mut(&mut self, mac: &mut syn::Macro) {
        if !self.peeler.marks.in_tokens(&mac.tokens) && !self.names_a_callee(&mac.tokens) {
            return;
        }
        if let Some(mut arguments) = arguments_of_macro(self.library, mac) {
            arguments.iter_mut().for_each(|one| self.visit_expr_mut(one));
            mac.tokens = arguments.to_token_stream();
        }
    }

    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}

impl Unfolder<'_> {
    /// Whether tokens have the name of a function that leads to a site.
    fn names_a_callee(&self, tokens: &proc_macro2::TokenStream) -> bool {
        let names = crate::syntax::mentions::names_in(tokens);
        self.peeler
            .marks
            .calls
            .iter()
            .map(last_name)
            .any(|name| names.contains(&name))
    }

    /// Unfolds a `collect` into a `Result` or `Option`.
    fn collect_early(&mut self, expr: &mut Expr) {
        visit::visit_expr_mut(self, expr);
        self.replace(expr, true);
    }

    /// Puts a loop in the place of a chain with a site.
    fn replace(&self, expr: &mut Expr, early: bool) {
        let has_site = |closure: &&ExprClosure| self.peeler.marks.in_expr(&closure.body);
        match expr {
            Expr::ForLoop(one) => {
                let in_body = self.peeler.marks.in_block(&one.body) && is_sequential(self.library, &one.expr);
                let over = self.with_closures(&one.expr);
                let written = ExprForLoop {
                    expr: Box::new(over),
                    body: parse_quote!({}),
                    ..one.clone()
                };
                let in_closures = closures_of_for(self.library, &written).iter().any(has_site);
                if in_body || in_closures {
                    one.expr = written.expr;
                }
                if in_closures {
                    self.peel(one);
                }
            }
            Expr::MethodCall(call) if ends_a_chain(self.library, call) => {
                let mut written = call.clone();
                *written.receiver = self.with_closures(&call.receiver);
                if let Some(last) = written.args.last_mut() {
                    self.close(last, parameters_of_end(self.library, &call.method.to_string()));
                }
                if closures_of_call(self.library, &written).iter().any(has_site)
                    && let Some(unfolded) =
                        self.unfolded(&written, early || collects_early(self.library, call))
                {
                    *expr = unfolded;
                }
            }
            Expr::Call(call) => {
                if let Some(closure) = called_in_place(self.library, call).filter(has_site)
                    && let Some(written) = in_place::written_out(
                        self.library,
                        closure,
                        call,
                        (self.peeler.names, &self.references),
                    )
                {
                    *expr = written;
                }
            }
            _ => {}
        }
    }

    /// The chain with closures in the place of functions, as far as closures are taken off.
    fn with_closures(&self, over: &Expr) -> Expr {
        let mut copy = over.clone();
        let mut at = &mut copy;
        loop {
            at = match at {
                Expr::Paren(inner) => &mut inner.expr,
                Expr::MethodCall(call) => {
                    if function_of(self.library, call).is_some() {
                        self.close(&mut call.args[0], 1);
                    }
                    if closure_of(self.library, call).is_none() && !numbers_items(self.library, call) {
                        return copy;
                    }
                    &mut call.receiver
                }
                _ => return copy,
            };
        }
    }

    /// `f` becomes `|item| f(item)`.
    fn close(&self, argument: &mut Expr, parameters: usize) {
        let Expr::Path(path) = &*argument else { return };
        let local = |name: &proc_macro2::Ident| self.peeler.names.read().id(name);
        if path.path.get_ident().and_then(local).is_none() {
            let names: Vec<_> = (0..parameters)
                .map(|_| self.peeler.names.fresh(Kind::Given))
                .collect();
            *argument = parse_quote!(|#(#names),*| #path(#(#names),*));
        }
    }

    /// Takes closures off until none with a site is left in the iterator.
    fn peel(&self, one: &mut ExprForLoop) {
        let with_site = |over: &Expr| {
            let mut sites = ClosuresWithSites {
                marks: self.peeler.marks,
                found: false,
            };
            sites.visit_expr(over);
            sites.found
        };
        while with_site(&one.expr) {
            if let Expr::Paren(inner) = &*one.expr {
                one.expr = inner.expr.clone();
            } else if !self.peeler.peel_one(&mut one.expr, &mut one.pat, &mut one.body) {
                return;
            }
        }
    }

    fn unfolded(&self, call: &ExprMethodCall, early: bool) -> Option<Expr> {
        let Unfolded {
            before,
            mut one,
            end,
            label,
        } = ends::unfolded(self.library, call, self.peeler.names, early)?;
        self.peel(&mut one);
        let colon = label.as_ref().map(|_| quote!(:));
        Some(parse_quote!(#label #colon { #(#before)* #one #end }))
    }
}

/// Whether a closure in an expression has a site.
struct ClosuresWithSites<'a> {
    marks: Marks<'a>,
    found: bool,
}

impl<'ast> Visit<'ast> for ClosuresWithSites<'_> {
    fn visit_expr_closure(&mut self, closure: &'ast ExprClosure) {
        self.found |= self.marks.in_expr(&closure.body);
        visit::visit_expr_closure(self, closure);
    }
}

/// `.collect::<Result<..>>()`
fn collects_early(library: &Library, call: &ExprMethodCall) -> bool {
    let first = call.turbofish.as_ref().and_then(|list| list.args.first());
    matches!(first, Some(syn::GenericArgument::Type(ty)) if is_result(library, ty))
}

fn ends_a_chain(library: &Library, call: &ExprMethodCall) -> bool {
    arguments_of_end(library, call) == Some(call.args.len())
}

/// Whether a chain is certain to be an iterator, and one that runs on this thread.
fn is_sequential(library: &Library, over: &Expr) -> bool {
    match over {
        Expr::Paren(inner) => is_sequential(library, &inner.expr),
        Expr::Range(_) => true,
        Expr::MethodCall(call) => {
            let method = call.method.to_string();
            let begins = library.begins_an_iterator(&method) || library.says(&method, Iterators::UsesUp);
            begins && !is_parallel(library, over)
                || goes_on(library, &call.method) && is_sequential(library, &call.receiver)
        }
        _ => false,
    }
}

/// Whether an adaptor stays in the chain: its closure can be taken off, or it has none that may have a site.
fn goes_on(library: &Library, method: &syn::Ident) -> bool {
    let adaptor = library.key(&method.to_string());
    peeled(library, method).is_some()
        || matches!(adaptor, Some(Adaptor::Numbers | Adaptor::Pairs | Adaptor::Copies))
        || library.passes_on_items(&method.to_string())
}

fn is_parallel(library: &Library, expr: &Expr) -> bool {
    match expr {
        Expr::MethodCall(call) => {
            library.is_call(call, Iterators::Parallel) || is_parallel(library, &call.receiver)
        }
        Expr::Paren(inner) => is_parallel(library, &inner.expr),
        _ => false,
    }
}
