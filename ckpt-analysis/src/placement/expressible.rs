//! Whether a function can be instrumented as proposed: asks the stages of one function.

use crate::Analysis;
use crate::calls::{Call, CallForm, statement_start};
use crate::items::{FnId, Function};
use crate::placement::{Candidate, Holder};
use crate::source::Position;
use ckpt_compiler::diagnostics::{Diagnostic, Diagnostics, Refusal};
use ckpt_compiler::library::Library;
use ckpt_compiler::names::made;
use ckpt_compiler::passes::Stages;
use ckpt_compiler::syntax::macros::arguments_of_macro;
use ckpt_compiler::syntax::marks::SiteSort;
use ckpt_compiler::visit::{self, VisitMut};
use proc_macro2::{Span, TokenStream};
use quote::ToTokens;
use std::collections::BTreeMap;
use std::collections::BTreeSet;
use syn::spanned::Spanned;
use syn::{Attribute, Block, Expr, ExprForLoop, FnArg, Local, Stmt, parse_quote};

/// Words of `#[ckpt(..)]`, by the bytes of a file at which the `let`s, `for` loops and parameters begin that they stand on.
pub type Words = BTreeMap<usize, String>;

/// Such words, by the files too.
pub type Marks = BTreeMap<Position, String>;

/// The words in the file of a `let`, but for its own.
pub fn words_beside(marks: &Marks, place: Position) -> Words {
    let of_file = marks.iter().filter(|(at, _)| at.0 == place.0 && **at != place);
    of_file.map(|(at, word)| (at.1, word.clone())).collect()
}

/// Expands the function with the proposed sites and calls.
///
/// # Errors
/// What the stages find, or that the place of a site is not there.
pub fn can_hold(analysis: &Analysis, candidate: &Candidate) -> Result<(), Vec<Diagnostic>> {
    analysis
        .asked
        .answer(analysis, candidate, Words::new())?
        .is_expressible(analysis)
}

/// Refuses sites in the threads of a region where the program keeps something in variables of a thread, or a crate keeps a generator of
/// random numbers there that the program seeds.
pub(super) fn no_thread_locals(analysis: &Analysis, stages: &Stages) -> Result<(), Diagnostics> {
    let mut errors = Diagnostics::default();
    let local = analysis.items.changing_thread_local(&analysis.library);
    let generator = || {
        Some(format!(
            "the generator of {}",
            analysis.generators.seeded.first()?.krate
        ))
    };
    if let Some(name) = local.map(|local| local.name.clone()).or_else(generator)
        && !stages.regions.is_empty()
    {
        errors.refuse(stages.function.sig.ident.span(), Refusal::KeptPerThread { name });
    }
    errors.propagate()
}

/// The function with the proposed sites in it, and the arguments of its attribute.
///
/// # Errors
/// Where a name is no path, or the place of a site is not there.
pub fn with_sites(
    analysis: &Analysis,
    candidate: &Candidate,
) -> Result<(TokenStream, syn::ItemFn), Vec<Diagnostic>> {
    let mut errors = Diagnostics::default();
    let Some(function) = analysis.items.functions.get(candidate.function.0) else {
        return Err(Vec::new());
    };
    let base = analysis.bases.get(function.place.file.0).copied().unwrap_or(0);
    let mut item = function.written.clone();
    for site in candidate.sites.iter().filter(|site| site.holder != Holder::User) {
        let mut inserter = Inserter {
            library: &analysis.library,
            at: site.at.saturating_sub(base),
            before: site.holder.before_statement(),
            sort: site.holder.sort(),
            given: site.wraps.map_or(0, |wrapped| wrapped.given),
            done: false,
        };
        inserter.visit_block_mut(&mut item.block);
        if !inserter.done {
            errors.refuse(
                item.sig.ident.span(),
                Refusal::NoStatement {
                    function: function.display.clone(),
                    at: site.at,
                },
            );
        }
    }
    match arguments(analysis, candidate.function, &candidate.calls).parse::<TokenStream>() {
        Ok(arguments) if errors.is_empty() => Ok((arguments, item)),
        _ => Err(errors.iter().cloned().collect()),
    }
}

/// The function as it is instrumented with `#[ckpt(..)]` on the `let`s, `for` loops and parameters that begin there.
///
/// # Errors
/// Those of [`with_sites`].
pub(super) fn with_marks(
    analysis: &Analysis,
    candidate: &Candidate,
    marks: &Words,
) -> Result<(TokenStream, syn::ItemFn), Vec<Diagnostic>> {
    let (arguments, mut item) = with_sites(analysis, candidate)?;
    let file = analysis.items.function(candidate.function).place.file;
    let mut marker = Marker {
        base: analysis.bases.get(file.0).copied().unwrap_or(0),
        words: marks,
    };
    marker.visit_item_fn_mut(&mut item);
    Ok((arguments, item))
}

/// The arguments of a function's attribute: the calls that lead to a site, and what the user's tables say of the names
/// that the function mentions.
pub fn arguments(analysis: &Analysis, function: FnId, calls: &[String]) -> String {
    let mut parts = Vec::new();
    if !calls.is_empty() {
        parts.push(format!("calls({})", calls.join(", ")));
    }
    let named: Vec<String> = { calls.iter() }
        .flat_map(|call| {
            let name = call.rsplit("::").next().unwrap_or(call);
            let behind = behind_name(analysis, function, name);
            let functions = behind.map_or_else(|| held(analysis, function, name), |one| vec![one]);
            functions.into_iter().map(move |one| format!("{name} = {one}"))
        })
        .collect();
    if !named.is_empty() {
        parts.push(format!("named({})", named.join(", ")));
    }
    if analysis.counts_owners {
        parts.push("owners".to_owned());
    }
    if analysis.asks_where {
        parts.push("addresses".to_owned());
    }
    if calls_itself_alone(analysis.items.function(function), calls) {
        parts.push("recursive".to_owned());
    }
    if !analysis.library.added().is_empty() {
        let names = ckpt_compiler::syntax::mentions::names_in(
            &analysis.items.function(function).written.to_token_stream(),
        );
        parts.extend(analysis.library.added().as_argument(|name| names.contains(name)));
    }
    parts.join(", ")
}

/// The name of the function that calls of this name certainly lead to, if it has another one: `use solver::advance as run;`.
pub(super) fn behind_name(analysis: &Analysis, caller: FnId, name: &str) -> Option<String> {
    let calls = analysis.graph.calls.iter();
    let mut calls = calls
        .filter(|call| call.caller == caller && call.form.last() == Some(name) && !call.callees.is_empty());
    let name_of = |callee: &FnId| analysis.items.function(*callee).item.sig.ident.to_string();
    let first = calls.clone().next()?.callees.first().map(name_of)?;
    let leads_there = |call: &Call| {
        call.certain
            && matches!(call.form, CallForm::Path(_))
            && call.callees.iter().all(|callee| name_of(callee) == first)
    };
    (first != name && calls.all(leads_there)).then_some(first)
}

/// The names of the functions that a variable may hold, where it is called.
fn held(analysis: &Analysis, caller: FnId, name: &str) -> Vec<String> {
    let calls = { analysis.graph.calls.iter() }.filter(|call| {
        let is_variable = matches!(&call.form, CallForm::Variable(variable, _) if variable == name);
        call.caller == caller && is_variable
    });
    let callees = calls.flat_map(|call| &call.callees);
    let names: BTreeSet<String> = callees
        .map(|callee| analysis.items.function(*callee).item.sig.ident.to_string())
        .collect();
    names.into_iter().collect()
}

/// Whether the function calls itself by a name that can be nothing else, and nothing else that leads to a site.
fn calls_itself_alone(function: &Function, calls: &[String]) -> bool {
    let is_of_a_trait = function.trait_name.is_some() || function.of_trait.is_some();
    let has_receiver = function.written.sig.receiver().is_some();
    let is_itself = |call: &String| call.rsplit("::").next() == Some(&function.name);
    !is_of_a_trait
        && has_receiver == function.of_impl.is_some()
        && !calls.is_empty()
        && calls.iter().all(is_itself)
}

/// Puts a site where the text will have it.
struct Inserter<'a> {
    library: &'a Library,
    at: usize,
    before: bool,
    sort: SiteSort,
    /// For a function that is named in the place of a closure, how many arguments it is given.
    given: usize,
    done: bool,
}

impl VisitMut for Inserter<'_> {
    fn visit_block_mut(&mut self, block: &mut Block) {
        if self.done {
            return;
        }
        if self.sort == SiteSort::PhaseEnd {
            let here = |stmt: &Stmt| stmt.span().byte_range().end == self.at;
            if let Some(index) = block.stmts.iter().position(here) {
                block.stmts.insert(index + 1, site(self.sort));
                self.done = true;
                return;
            }
            return visit::visit_block_mut(self, block);
        }
        let open: Span = block.brace_token.span.open();
        if !self.before && open.byte_range().end == self.at {
            block.stmts.insert(0, site(self.sort));
            self.done = true;
            return;
        }
        if self.before {
            let here =
                |stmt: &Stmt| statement_start(stmt).is_some_and(|span| span.byte_range().start == self.at);
            if let Some(index) = block.stmts.iter().position(here) {
                block.stmts.insert(index, site(self.sort));
                self.done = true;
                return;
            }
        }
        visit::visit_block_mut(self, block);
    }
    fn visit_expr_closure_mut(&mut self, closure: &mut syn::ExprClosure) {
        let start = closure.body.span().byte_range().start;
        let has_braces = matches!(&*closure.body, Expr::Block(_));
        if !self.done && !self.before && !has_braces && start == self.at {
            let (site, body) = (site(self.sort), &closure.body);
            closure.body = parse_quote!({ #site #body });
            self.done = true;
            return;
        }
        visit::visit_expr_closure_mut(self, closure);
    }
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        let is_named = self.given > 0 && !self.done && matches!(expr, Expr::Path(_));
        if is_named && expr.span().byte_range().start == self.at {
            let names = (1..=self.given).map(|index| made(format_args!("given{index}")));
            let (site, names) = (site(self.sort), names.collect::<Vec<_>>());
            *expr = parse_quote!(|#(#names),*| { #site #expr(#(#names),*) });
            self.done = true;
            return;
        }
        visit::visit_expr_mut(self, expr);
    }
    fn visit_macro_mut(&mut self, mac: &mut syn::Macro) {
        if let (false, Some(mut arguments)) = (self.done, arguments_of_macro(self.library, mac)) {
            arguments.iter_mut().for_each(|one| self.visit_expr_mut(one));
            if self.done {
                mac.tokens = arguments.to_token_stream();
            }
        }
    }
    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}

/// Puts `#[ckpt(..)]` where the text will have it.
struct Marker<'a> {
    base: usize,
    words: &'a Words,
}

impl Marker<'_> {
    fn mark(&self, span: Span, attributes: &mut Vec<Attribute>) {
        if let Some(word) = self.words.get(&(span.byte_range().start + self.base))
            && let Ok(word) = word.parse::<TokenStream>()
        {
            attributes.push(parse_quote!(#[ckpt(#word)]));
        }
    }
}

impl VisitMut for Marker<'_> {
    fn visit_local_mut(&mut self, local: &mut Local) {
        self.mark(local.span(), &mut local.attrs);
        visit::visit_local_mut(self, local);
    }
    /// A `for` has attributes of its own.
    fn visit_stmt_mut(&mut self, stmt: &mut Stmt) {
        let mut attributes = Vec::new();
        match stmt {
            Stmt::Expr(Expr::ForLoop(_), _) => {}
            Stmt::Expr(expr, _) => self.mark(expr.span(), &mut attributes),
            _ => {}
        }
        if let [attribute] = &attributes[..] {
            let marked: Stmt = parse_quote!(#attribute #stmt);
            *stmt = marked;
        }
        visit::visit_stmt_mut(self, stmt);
    }
    fn visit_expr_for_loop_mut(&mut self, one: &mut ExprForLoop) {
        self.mark(one.span(), &mut one.attrs);
        visit::visit_expr_for_loop_mut(self, one);
    }
    fn visit_fn_arg_mut(&mut self, argument: &mut FnArg) {
        let span = argument.span();
        if let FnArg::Typed(typed) = argument {
            self.mark(span, &mut typed.attrs);
        }
    }
    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}

fn site(sort: SiteSort) -> Stmt {
    match sort {
        SiteSort::Common => parse_quote!(ckpt::checkpoint!();),
        SiteSort::Short => parse_quote!(ckpt::checkpoint!(short);),
        SiteSort::Phase => parse_quote!(ckpt::checkpoint!(phase);),
        SiteSort::PhaseEnd => parse_quote!(ckpt::checkpoint!(phase_end);),
    }
}
