//! Sites and the expressions around them.

use super::Emitter;
use crate::flow::BindingId;
use crate::names::{frame, registrar};
use crate::paths::rt;
use crate::plan::Entry;
use crate::spine::{Arm, Branch, SiteId, Spine, hole};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::visit_mut::{self, VisitMut};
use syn::{Expr, Pat};

impl Emitter<'_> {
    /// An expression with a site.
    pub(super) fn spine(&self, spine: &Spine, carried: &[BindingId]) -> TokenStream {
        let frame = frame();
        match spine {
            Spine::Site(site) => {
                let span = self.lowered.sites[*site as usize - 1]
                    .span
                    .resolved_at(Span::mixed_site());
                let registrations = self.registrations(*site);
                let remade = self.remade(*site);
                quote_spanned! { span =>
                    if #frame.due(#site) {
                        #frame.checkpoint(#site, &#registrations);
                        #remade
                    }
                }
            }
            Spine::Call { site, call } => {
                let registrations = self.registrations(*site);
                let call = quote!(#frame.call(#site, &#registrations, || #call));
                let remade = self.remade(*site);
                if remade.is_empty() {
                    return call;
                }
                let result = Ident::new("__ckpt_result", Span::mixed_site());
                quote!({ let #result = #call; #remade #result })
            }
            Spine::Block {
                label,
                is_unsafe,
                block,
            } => {
                let statements = self.block(block, carried);
                let keyword = is_unsafe.then(|| quote!(unsafe));
                quote!(#label #keyword { #statements })
            }
            Spine::If {
                condition,
                then,
                otherwise,
            } => {
                let then = self.block(&then.block, carried);
                let otherwise = otherwise.as_ref().map(|branch| {
                    let statements = self.block(&branch.block, carried);
                    quote!(else { #statements })
                });
                quote!(if #condition { #then } #otherwise)
            }
            Spine::Match {
                scrutinee,
                arms,
                replays,
            } => {
                let arms = arms.iter().map(|arm| self.arm(arm, *replays, carried));
                quote!(match #scrutinee { #(#arms)* })
            }
            Spine::Loop { label, body } => {
                let statements = self.block(body, carried);
                quote!(#label loop { #statements })
            }
            Spine::Context { inner, around } => {
                let inner = self.spine(inner, carried);
                let mut around = (**around).clone();
                FillHole(inner).visit_expr_mut(&mut around);
                around.to_token_stream()
            }
            Spine::Jump { prefix, value } => {
                let value = self.spine(value, carried);
                quote!(#prefix #value)
            }
        }
    }

    fn arm(&self, arm: &Arm, replays: bool, carried: &[BindingId]) -> TokenStream {
        let frame = frame();
        let Arm {
            pattern,
            guard,
            body: Branch { sites, block },
        } = arm;
        let statements = self.block(block, carried);
        if !replays {
            return quote!(#pattern => { #statements });
        }
        let lost = quote!(#frame.lost("another arm of a `match` is taken than before"));
        match sites {
            Some(sites) => {
                let (first, last) = (sites.first, sites.last);
                let guard = guard
                    .as_ref()
                    .map(|guard| quote!(if #frame.enters(#first, #last) || (#guard)));
                quote!(#pattern #guard => {
                    if !(#frame.runs() || #frame.enters(#first, #last)) { #lost }
                    #statements
                })
            }
            None => {
                let guard = guard.as_ref().map(|guard| quote!(if #frame.runs() && (#guard)));
                quote!(#pattern #guard => {
                    if !#frame.runs() { #lost }
                    #statements
                })
            }
        }
    }

    /// The closure that tells the runtime what this function has at a site.
    fn registrations(&self, site: SiteId) -> TokenStream {
        let rt = rt();
        let registrar = registrar();
        let entries = self.plan.sites[site as usize - 1].entries.iter().map(|entry| {
            let key = self.key(entry.binding());
            let value = self.reference(site, entry);
            match entry {
                Entry::Save(_) => quote!(#registrar.save(#key, #value);),
                Entry::Link(_, callee) => quote!(#registrar.lent(#key, #callee);),
                Entry::Parameter {
                    index,
                    required: true,
                    ..
                } => {
                    quote!(#registrar.required(#key); #registrar.parameter(#index, #key, #value);)
                }
                Entry::Parameter {
                    index,
                    required: false,
                    ..
                } => {
                    quote!((&#rt::Probe(#value)).offer(#registrar, #index, #key);)
                }
                Entry::ParameterLink {
                    index,
                    callee,
                    required,
                    ..
                } => {
                    let required = required.then(|| quote!(#registrar.required(#key);));
                    quote!(#required #registrar.lent_parameter(#index, #key, #callee);)
                }
            }
        });
        let entries: Vec<_> = entries.collect();
        let offers = self.plan.sites[site as usize - 1]
            .entries
            .iter()
            .any(|entry| matches!(entry, Entry::Parameter { required: false, .. }));
        let traits = offers.then(|| quote!(use #rt::{OfferSaved as _, OfferNothing as _};));
        if entries.is_empty() {
            return quote!(|_: &mut #rt::Registrar| {});
        }
        quote!(|#registrar: &mut #rt::Registrar| { #traits #(#entries)* })
    }

    /// Makes the exclusive references again that ended at the site.
    fn remade(&self, site: SiteId) -> TokenStream {
        let mut steps = Vec::new();
        let mut tokens = TokenStream::new();
        for id in &self.plan.sites[site as usize - 1].remade {
            let binding = &self.flow.bindings[*id];
            if steps.contains(&binding.step) {
                continue;
            }
            steps.push(binding.step);
            if let (Some(init), Some(pattern)) = (&binding.init, self.pattern_of(binding.step)) {
                let place = assignable(&pattern);
                tokens.extend(quote!(#place = #init;));
            }
        }
        tokens
    }
}

/// A pattern as the left side of an assignment.
fn assignable(pattern: &Pat) -> TokenStream {
    match pattern {
        Pat::Ident(ident) => ident.ident.to_token_stream(),
        Pat::Type(typed) => assignable(&typed.pat),
        Pat::Tuple(tuple) => {
            let parts = tuple.elems.iter().map(assignable);
            quote!((#(#parts,)*))
        }
        Pat::Wild(_) => quote!(_),
        other => other.to_token_stream(),
    }
}

struct FillHole(TokenStream);

impl VisitMut for FillHole {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        if matches!(expr, Expr::Path(path) if path.path.is_ident(&hole())) {
            *expr = Expr::Verbatim(self.0.clone());
        } else {
            visit_mut::visit_expr_mut(self, expr);
        }
    }
}
