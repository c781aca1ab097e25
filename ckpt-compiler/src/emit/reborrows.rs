//! Exclusive references that end at a site, so that what they borrow can be saved, and are reborrowed after it.

use super::Emitter;
use crate::cfg::BindingId;
use crate::names::Kind;
use crate::names::frame;
use crate::names::{self, Locals};
use crate::spine::{Block, Plain, SiteId, Step, StepId, StepKind};
use crate::syntax::patterns::is_binding;
use crate::visit::{self, VisitMut};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote};
use std::collections::BTreeSet;
use syn::{Expr, Pat, PatIdent, Stmt};

impl Emitter<'_> {
    /// All variables that some site ends.
    fn ended(&self) -> BTreeSet<BindingId> {
        let sites = self.plan.reborrows.sites().iter();
        sites.flat_map(|site| site.references.iter().copied()).collect()
    }

    /// Required-execution code. Exclusive references that end at a site are assigned again, so they must be mutable.
    pub(super) fn reexecution(&self, step: &Step) -> TokenStream {
        let StepKind::Plain(plain) = &step.kind else {
            return TokenStream::new();
        };
        let ended: Vec<BindingId> = self
            .ended()
            .into_iter()
            .filter(|id| self.flow.bindings[*id].step == step.range.start)
            .filter(|id| !self.flow.arms.contains_key(id))
            .collect();
        let mut stmt = plain.stmt.clone();
        if ended.is_empty() {
            return stmt.to_token_stream();
        }
        let homes = self.homes(step.range.start);
        let Stmt::Local(local) = &mut stmt else {
            return stmt.to_token_stream();
        };
        if name_alone(&local.pat).is_some() {
            MakeMutable(&self.flow.locals).visit_pat_mut(&mut local.pat);
            return quote!(#[allow(unused_mut, unused_assignments)] #stmt #homes);
        }
        Plainly.visit_pat_mut(&mut local.pat);
        let names = self.names(&ended);
        quote! {
            #stmt
            #[allow(unused_mut, unused_assignments)]
            let (#(mut #names,)*) = (#(#names,)*);
            #homes
        }
    }

    /// The same for the variables of a pattern that is matched again at restart.
    pub(super) fn assignable_arm(&self, pattern: &Pat) -> TokenStream {
        let of_arm = |id: &BindingId| {
            self.flow
                .arms
                .get(id)
                .is_some_and(|(_, other)| same(other, pattern))
        };
        let ended: Vec<BindingId> = self.ended().into_iter().filter(of_arm).collect();
        if ended.is_empty() {
            return TokenStream::new();
        }
        let names = self.names(&ended);
        quote! {
            #[allow(unused_mut, unused_assignments)]
            let (#(mut #names,)*) = (#(#names,)*);
        }
    }

    fn names(&self, ids: &[BindingId]) -> Vec<&Ident> {
        ids.iter().map(|id| &self.flow.bindings[*id].ident).collect()
    }

    /// Makes the references again that ended at the site, in the order of their declaration.
    pub(super) fn reborrowed(&self, site: SiteId) -> TokenStream {
        let reborrowed = &self.plan.reborrows.at(site).references;
        let mut steps: Vec<StepId> = Vec::new();
        let mut arms: Vec<&Pat> = Vec::new();
        let mut tokens = TokenStream::new();
        for id in reborrowed {
            if let Some((scrutinee, pattern)) = self.flow.arms.get(id) {
                if !arms.iter().any(|other| same(other, pattern)) {
                    arms.push(pattern);
                    tokens.extend(self.reborrow_match(scrutinee, pattern, reborrowed));
                }
                continue;
            }
            let step = self.flow.bindings[*id].step;
            if steps.contains(&step) {
                continue;
            }
            steps.push(step);
            tokens.extend(self.reborrow_step(step, reborrowed));
            let name = &self.flow.bindings[*id].ident;
            if let Some(fetch) = self.fetch_from(name).filter(|fetch| !steps.contains(fetch)) {
                steps.push(fetch);
                tokens.extend(self.reborrow_step(fetch, reborrowed));
            }
        }
        tokens
    }

    /// Runs a `let` again for the variables that it declared before.
    fn reborrow_step(&self, step: StepId, reborrowed: &[BindingId]) -> TokenStream {
        let Some((_, plain)) = find_plain(&self.lowered.body, &|at, _| at == step) else {
            return TokenStream::new();
        };
        let Stmt::Local(local) = &plain.stmt else {
            return TokenStream::new();
        };
        let init = local.init.as_ref().map(|init| &init.expr);
        let Some(value) = plain.again.as_ref().or(init) else {
            return TokenStream::new();
        };
        let of_step =
            |id: &BindingId| self.flow.bindings[*id].step == step && !self.flow.arms.contains_key(id);
        let ids: Vec<BindingId> = reborrowed.iter().copied().filter(of_step).collect();
        if ids.is_empty() {
            return quote!(let _ = #value;);
        }
        let names = self.names(&ids);
        if let Some(name) = name_alone(&local.pat) {
            return quote!(#name = #value;);
        }
        let mut pattern = match &local.pat {
            Pat::Type(typed) => (*typed.pat).clone(),
            other => other.clone(),
        };
        if local.init.as_ref().is_some_and(|init| init.diverge.is_some()) {
            return self.reborrow_value(value, pattern, &names);
        }
        Plainly.visit_pat_mut(&mut pattern);
        quote! {
            #[allow(unused_variables)]
            { (#(#names,)*) = match #value { #pattern => (#(#names,)*) }; }
        }
    }

    /// Matches a place again for the variables of an arm.
    fn reborrow_match(&self, scrutinee: &Expr, pattern: &Pat, reborrowed: &[BindingId]) -> TokenStream {
        let of_arm = |id: &BindingId| {
            self.flow
                .arms
                .get(id)
                .is_some_and(|(_, other)| same(other, pattern))
        };
        let ids: Vec<BindingId> = reborrowed.iter().copied().filter(of_arm).collect();
        self.reborrow_value(scrutinee, pattern.clone(), &self.names(&ids))
    }

    /// Takes the variables out of a value by a pattern that has matched it before.
    fn reborrow_value(&self, scrutinee: &Expr, mut shape: Pat, names: &[&Ident]) -> TokenStream {
        let frame = frame();
        ReborrowPattern(&self.flow.locals, names).visit_pat_mut(&mut shape);
        let reborrowed: Vec<Ident> = names
            .iter()
            .map(|name| reborrowed_name(&self.flow.locals, name))
            .collect();
        quote! {
            match #scrutinee {
                #shape => { #(#names = #reborrowed;)* }
                #[allow(unreachable_patterns)]
                _ => #frame.lost("a pattern does not match what it matched before"),
            }
        }
    }

    /// The statement that takes the items out of the iterator of a `for`.
    fn fetch_from(&self, iterator: &Ident) -> Option<StepId> {
        if !self.flow.locals.is(iterator, Kind::Iterator) {
            return None;
        }
        let name = iterator.to_string();
        let fetches = |_: StepId, plain: &Plain| {
            let declares = matches!(&plain.stmt, Stmt::Local(local) if matches!(&local.pat, Pat::Ident(ident) if ident.ident == *iterator));
            let value = plain.again.as_ref().map(|value| value.to_token_stream());
            !declares && value.is_some_and(|value| crate::syntax::mentions::names_in(&value).contains(&name))
        };
        find_plain(&self.lowered.body, &fetches).map(|(step, _)| step)
    }
}

fn find_plain<'a>(block: &'a Block, wanted: &dyn Fn(StepId, &Plain) -> bool) -> Option<(StepId, &'a Plain)> {
    for step in &block.steps {
        match &step.kind {
            StepKind::Plain(plain) if wanted(step.range.start, plain) => {
                return Some((step.range.start, plain));
            }
            StepKind::Spine(spine) => {
                let mut found = None;
                crate::spine::for_each_block(&spine.spine, &mut |inner| {
                    found = found.or_else(|| find_plain(inner, wanted));
                });
                if found.is_some() {
                    return found;
                }
            }
            _ => {}
        }
    }
    None
}

/// Whether it is the same pattern at the same place of the source.
fn same(one: &Pat, other: &Pat) -> bool {
    use syn::spanned::Spanned;
    one == other && one.span().start() == other.span().start()
}

/// The name, where a pattern is no more than that: it can be declared `mut`, and assigned as it is.
fn name_alone(pattern: &Pat) -> Option<&Ident> {
    match pattern {
        Pat::Ident(ident) if ident.by_ref.is_none() && ident.subpat.is_none() => Some(&ident.ident),
        Pat::Type(typed) => name_alone(&typed.pat),
        _ => None,
    }
}

fn reborrowed_name(locals: &Locals, name: &Ident) -> Ident {
    names::made(format_args!(
        "reborrowed_{}",
        names::plain_text(&locals.written(name))
    ))
}

struct MakeMutable<'l>(&'l Locals);

impl VisitMut for MakeMutable<'_> {
    fn visit_pat_ident_mut(&mut self, pat: &mut PatIdent) {
        if pat.by_ref.is_none() && is_binding(self.0, pat) {
            pat.mutability.get_or_insert(syn::Token![mut](Span::mixed_site()));
        }
        visit::visit_pat_ident_mut(self, pat);
    }
}

/// Drops the `mut` of variables that are only handed on.
struct Plainly;

impl VisitMut for Plainly {
    fn visit_pat_ident_mut(&mut self, pat: &mut PatIdent) {
        if pat.by_ref.is_none() {
            pat.mutability = None;
        }
        visit::visit_pat_ident_mut(self, pat);
    }
}

/// A pattern that matches again what it matched before, whatever has become of the values in it: the variables wanted
/// get other names, all else that binds or compares is left out.
struct ReborrowPattern<'a>(&'a Locals, &'a [&'a Ident]);

impl VisitMut for ReborrowPattern<'_> {
    fn visit_pat_mut(&mut self, pat: &mut Pat) {
        match pat {
            Pat::Lit(_) | Pat::Range(_) | Pat::Const(_) => *pat = syn::parse_quote!(_),
            Pat::Ident(ident) if is_binding(self.0, ident) && !self.1.contains(&&ident.ident) => {
                *pat = match ident.subpat.take() {
                    Some((_, inner)) => *inner,
                    None => syn::parse_quote!(_),
                };
                self.visit_pat_mut(pat);
            }
            other => visit::visit_pat_mut(self, other),
        }
    }

    fn visit_pat_ident_mut(&mut self, pat: &mut PatIdent) {
        if self.1.contains(&&pat.ident) {
            pat.ident = reborrowed_name(self.0, &pat.ident);
        }
        visit::visit_pat_ident_mut(self, pat);
    }

    fn visit_field_pat_mut(&mut self, field: &mut syn::FieldPat) {
        if field.colon_token.is_none() {
            field.colon_token = Some(syn::Token![:](Span::mixed_site()));
        }
        visit::visit_field_pat_mut(self, field);
    }
}
