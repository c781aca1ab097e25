//! Writes the instrumented function. Every error has been found before: nothing here can fail.

mod block;
mod bounds;
pub mod edition;
mod fingerprint;
mod option_slots;
mod place_splitting;
mod reborrows;
mod recursion;
pub mod regions;
mod site;
pub mod spares;
mod strips;
pub mod twice;
mod variables;

use crate::cfg::{BindingId, Declaration, Flow, Passing};
use crate::desugar::regions::Regions;
use crate::library::Library;
use crate::liveness::Liveness;
use crate::liveness::clean::Clean;
use crate::liveness::unread::Unread;
use crate::names::frame;
use crate::names::made;
use crate::parse::options::{Options, Treatment};
use crate::paths::rt;
use crate::plan::{Entry, Mode, Plan};
use crate::sources::Sources;
use crate::spine::{Lowered, SiteId};
use crate::strategies::Strategy;
use crate::syntax::marks::SiteSort;
use crate::visit::VisitMut;
use fingerprint::Fingerprint;
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use recursion::Recursion;
use spares::Apart;
pub(crate) use spares::Spares;
use std::cell::Cell;
use std::collections::HashMap;
pub(crate) use strips::Strips;
use syn::{FnArg, ItemFn};

/// What emission reads.
pub struct Emitter<'a> {
    pub(crate) library: &'a Library,
    pub(crate) lowered: &'a Lowered,
    pub(crate) flow: &'a Flow,
    pub(crate) plan: &'a Plan,
    pub(crate) liveness: &'a Liveness,
    /// Whether the site is where the compiler has put it, and not the user.
    pub(crate) chosen: bool,
    pub(crate) regions: &'a Regions,
    /// What a checkpoint need not look at again.
    pub(crate) clean: Clean,
    /// What alone is put right where it is wrong.
    pub(crate) unread: Unread,
    /// Whether its body stands in another function, as that of a thread does.
    pub(crate) is_inner: bool,
    /// Whether the session ends with it.
    pub(crate) is_outermost: bool,
    /// Calls of functions that know the type of every parameter.
    pub(crate) typed: &'a [syn::Path],
    /// The copy that deep calls of the function in itself lead to, if it has one.
    pub(crate) recursion: Option<Recursion>,
    /// How sites of short loops are written just now.
    pub(crate) strips: Cell<Strips>,
    /// The functions with spares that it calls.
    pub(crate) spares: Spares,
}

/// What emission makes.
pub struct Emitted {
    /// The instrumented function.
    pub function: TokenStream,
    /// Operands of calls in whose place others stand in it, as the user wrote them.
    pub replaced: TokenStream,
    /// For every region, what waits for its members.
    pub waits: HashMap<usize, TokenStream>,
    /// The copy without sites that stands beside a function which calls itself; nothing for others.
    pub copy: TokenStream,
    /// The spare of one that has it, with what both have in common.
    pub beside: TokenStream,
}

/// Writes the function. `source` are the tokens as the user wrote them.
pub fn emit(item: &ItemFn, source: &TokenStream, options: &Options, emitter: &mut Emitter<'_>) -> Emitted {
    let stands_twice =
        !emitter.is_inner && emitter.regions.is_empty() && twice::may_stand_twice(emitter.library, item);
    if stands_twice {
        emitter.recursion = Recursion::of(item, source, options);
        emitter.spares = Spares::of(item, options, emitter.flow);
    }
    let emitter = &*emitter;
    let rt = rt();
    let frame = frame();
    let program = options.opens_session.then(|| {
        let sources = options.sources.as_ref().map(Sources::expression);
        let sources = sources.unwrap_or_else(|| quote!(::core::option::Option::None));
        quote! {
            #rt::Program {
                name: ::core::env!("CARGO_PKG_NAME"),
                version: ::core::env!("CARGO_PKG_VERSION"),
                sources: #sources,
            }
        }
    });
    let plan = emitter.function_plan(item, source, options);
    let parameters = emitter.parameters();
    let body = emitter.block(&emitter.lowered.body);
    let mut signature = item.sig.clone();
    emitter.plain_parameters(&mut signature);
    emitter.bound_parameters(&mut signature);
    // Clippy takes for the user's what has his edition (module `edition`): these lints are about ckpt's jumps.
    let lints = quote! {
        #[allow(
            clippy::collection_is_never_read,
            clippy::if_same_then_else,
            clippy::option_if_let_else,
            clippy::useless_let_if_seq,
            clippy::while_let_loop,
        )]
    };
    let begun = match stands_twice && emitter.has_short_loops() {
        true => emitter.with_strips(Strips::Outside, &emitter.lowered.body),
        false => body.clone(),
    };
    let (begun, continued) = (
        emitter.spares.in_begun(&begun),
        emitter.spares.in_continued(&body),
    );
    let apart = stands_twice.then(|| Apart::of(item, options)).flatten();
    // Where nothing is optimised it would only be built for nothing.
    let from_the_beginning = stands_twice.then(|| {
        quote! {
            #[cfg(not(debug_assertions))]
            #[allow(unreachable_code)]
            if #frame.begins() {
                let mut #frame = #frame.begun();
                return { #parameters #begun };
            }
        }
    });
    let (attrs, vis) = (item.attrs.iter().map(outer), &item.vis);
    let recursion = emitter.recursion.as_ref();
    let depth = recursion.map(|_| quote!(static __CKPT_RECURSION: #rt::Recursion = #rt::Recursion::new();));
    let continued = quote!(#parameters #continued);
    let (body, beside) = match &apart {
        None => {
            let body = quote! {
                static __CKPT_PLAN: #rt::FunctionPlan = #plan;
                #depth
                let mut #frame = #rt::Frame::enter(&__CKPT_PLAN);
                #from_the_beginning
                #continued
            };
            (body, spares::other_name(item, options))
        }
        Some(apart) => {
            let (name, call) = (&apart.plan, apart.call(&frame));
            let body = quote! {
                let mut #frame = #rt::Frame::enter(&#name);
                #from_the_beginning
                #[cfg(not(debug_assertions))]
                { #call }
                #[cfg(debug_assertions)]
                { #continued }
            };
            let beside = apart.beside(&signature, &lints, &continued);
            (
                body,
                quote!(#[allow(non_upper_case_globals)] static #name: #rt::FunctionPlan = #plan; #beside),
            )
        }
    };
    let on_any_devices = options.any_devices.then(|| quote!(#rt::any_number_of_devices();));
    let body = match program {
        // It runs again whenever the program goes back to a checkpoint.
        Some(program) if signature.inputs.is_empty() => {
            let main = made("main");
            let output = &signature.output;
            quote! {
                fn #main() #output { #body }
                #on_any_devices
                #rt::run_main(#program, #main)
            }
        }
        Some(program) => {
            let session = made("session");
            quote! {
                #on_any_devices
                let #session = #rt::open(#program);
                #body
            }
        }
        None => body,
    };
    let function = quote! {
        #lints #(#attrs)* #vis #signature { #body }
    };
    Emitted {
        function,
        replaced: emitter.replaced(),
        waits: emitter.waits(),
        copy: recursion
            .map(|recursion| recursion.copy(source))
            .unwrap_or_default(),
        beside,
    }
}

/// An attribute in front of the function, also one that stands at the top of its body.
fn outer(attribute: &syn::Attribute) -> syn::Attribute {
    syn::Attribute {
        style: syn::AttrStyle::Outer,
        ..attribute.clone()
    }
}

impl Emitter<'_> {
    /// The static description of the function for the runtime.
    fn function_plan(&self, item: &ItemFn, source: &TokenStream, options: &Options) -> TokenStream {
        let rt = rt();
        let name = item.sig.ident.to_string();
        let attribute = options.attribute();
        let line = item.sig.ident.span().start().line as u32;
        let mut layout = Fingerprint::default();
        let sites: Vec<_> = self
            .lowered
            .sites
            .iter()
            .zip(&self.plan.sites)
            .map(|(site, plan)| {
                let start = site.span.start();
                let (line, column) = (start.line as u32, start.column as u32 + 1);
                let kind = match &site.callee {
                    Some(callee) => {
                        let functions = options.functions_called(callee);
                        match &functions[..] {
                            [] => {
                                layout.write(callee);
                                quote!(#rt::SiteKind::Call { callee: #callee })
                            }
                            [function] => {
                                layout.write(function);
                                quote!(#rt::SiteKind::Call { callee: #function })
                            }
                            _ => {
                                layout.write(callee);
                                quote!(#rt::SiteKind::CallOfHeld { callee: #callee, functions: &[#(#functions),*] })
                            }
                        }
                    }
                    None if site.sort == SiteSort::Phase => quote!(#rt::SiteKind::Phase),
                    None if site.sort == SiteSort::PhaseEnd => quote!(#rt::SiteKind::PhaseEnd),
                    None if self.chosen => quote!(#rt::SiteKind::Chosen),
                    None => quote!(#rt::SiteKind::Checkpoint),
                };
                layout.write(";");
                let variables = plan.entries.iter().map(|entry| {
                    let key = self.key(entry.binding());
                    layout.write(&key);
                    let line = self.flow.bindings[entry.binding()].ident.span().start().line as u32;
                    let on_demand = !plan.always_saves(entry);
                    quote!(#rt::VariablePlan { key: #key, line: #line, on_demand: #on_demand })
                });
                let variables: Vec<_> = variables.collect();
                quote!(#rt::SitePlan { line: #line, column: #column, kind: #kind, variables: &[#(#variables),*] })
            })
            .collect();
        let mut text = Fingerprint::default();
        text.write_tokens(source);
        let (layout, source) = (layout.value(), text.value());
        quote! {
            #rt::FunctionPlan {
                function: #name,
                module: ::core::module_path!(),
                file: ::core::file!(),
                line: #line,
                layout: #layout,
                source: #source,
                attribute: #attribute,
                sites: &[#(#sites),*],
            }
        }
    }

    /// By-value parameters take their value from the record.
    fn parameters(&self) -> TokenStream {
        let frame = frame();
        let mut tokens = self.parameter_checks();
        for (id, binding) in self.flow.bindings.iter().enumerate() {
            let is_restored = self.is_taken_over(id) || self.is_restored_receiver(id);
            if !matches!(binding.declaration, Declaration::Parameter { .. }) || !is_restored {
                continue;
            }
            let (name, key) = (&binding.ident, self.key(id));
            if self.is_restored_receiver(id) {
                tokens.extend(self.receiver(id));
                continue;
            }
            let mutability = binding.mutable.then(|| quote!(mut));
            let restored = self.where_restored(id, 1, self.plan.sites.len() as SiteId);
            let restore = self.restoring(id, 1, self.plan.sites.len() as SiteId, self.own_span(id));
            // What was passed only stands in: it must not count as an owner beside the one that is restored.
            let put_away = self.flow.counts_owners.then(|| quote!(::core::mem::drop(#name);));
            let value = match self.is_restored_parameter(id) {
                true => quote_spanned! { Span::mixed_site() =>
                    if !#frame.runs() && (#restored) && !#frame.passed(#key) { #put_away #restore } else { #name }
                },
                false => name.to_token_stream(),
            };
            tokens.extend(match self.mode(id) {
                Mode::InSlot => self.parameter_in_slot(id, &value),
                _ => quote_spanned!(Span::mixed_site() => let #mutability #name = #value;),
            });
        }
        tokens
    }

    /// `self` takes its value from the record where it is: no other variable can have its name. What the caller has passed only
    /// stands in for it where nothing of it was left for the caller.
    fn receiver(&self, id: BindingId) -> TokenStream {
        let (frame, last) = (frame(), self.plan.sites.len() as SiteId);
        let (name, key) = (&self.flow.bindings[id].ident, self.key(id));
        let restored = self.where_restored(id, 1, last);
        let restore = self.restoring(id, 1, last, self.own_span(id));
        quote_spanned! { Span::mixed_site() =>
            if !#frame.runs() && (#restored) && !#frame.passed(#key) { #name = #restore; }
        }
    }

    /// Whether it is a `self` that the method owns and lends on, and that the walk has to fill.
    fn is_restored_receiver(&self, id: BindingId) -> bool {
        let binding = &self.flow.bindings[id];
        let is_owned = matches!(
            binding.declaration,
            Declaration::Parameter {
                passing: Passing::Value,
                ..
            }
        );
        is_owned
            && binding.ident == "self"
            && self.plan.strategies[id] == Strategy::Saved
            && self.mode(id) != Mode::InSlot
            && self.plan.sites.iter().any(|site| site.restores(id))
    }

    /// Whether the parameter becomes a variable of the function's own.
    fn is_taken_over(&self, id: BindingId) -> bool {
        self.is_restored_parameter(id) || self.mode(id) == Mode::InSlot
    }

    fn is_restored_parameter(&self, id: BindingId) -> bool {
        self.plan.strategies[id] == Strategy::Saved
            && self.flow.bindings[id].ident != "self"
            && self.plan.sites.iter().any(|site| site.restores(id))
    }

    /// Parameters that are taken over into a variable need no `mut` of their own.
    fn plain_parameters(&self, signature: &mut syn::Signature) {
        for (index, argument) in signature.inputs.iter_mut().enumerate() {
            let typed = match argument {
                FnArg::Typed(typed) => typed,
                FnArg::Receiver(receiver) => {
                    let mut bindings = 0..self.flow.bindings.len();
                    if bindings.any(|id| self.is_restored_receiver(id)) && receiver.mutability.is_none() {
                        receiver.mutability = Some(syn::Token![mut](receiver.self_token.span));
                    }
                    continue;
                }
            };
            typed.attrs.retain(|attribute| !attribute.path().is_ident("ckpt"));
            let taken_over = |ident: &Ident| {
                self.flow.bindings.iter().enumerate().any(|(id, binding)| {
                    matches!(binding.declaration, Declaration::Parameter { index: of, .. } if of as usize == index)
                        && binding.ident == *ident
                        && self.is_taken_over(id)
                })
            };
            TakenOver(&taken_over).visit_pat_mut(&mut typed.pat);
        }
    }

    /// A condition that holds where the walk's target is one of the sites `first..=last` that restore the variable.
    pub(crate) fn where_restored(&self, id: BindingId, first: SiteId, last: SiteId) -> TokenStream {
        let frame = frame();
        let all = (first..=last).all(|site| self.plan.sites[site as usize - 1].restores(id));
        if all {
            return quote!(true);
        }
        let ranges = (first..=last).filter(|site| self.plan.sites[*site as usize - 1].restores(id));
        let tests: Vec<_> = ranges.map(|site| quote!(#frame.enters(#site, #site))).collect();
        if tests.is_empty() {
            quote!(false)
        } else {
            quote!(#(#tests)||*)
        }
    }

    /// The variable's value from the record, where the walk's target is one of the sites `first..=last`.
    pub(crate) fn restoring(&self, id: BindingId, first: SiteId, last: SiteId, span: Span) -> TokenStream {
        let (rt, frame, key) = (rt(), frame(), self.key(id));
        if self.is_through_serde(id) {
            let moved = (first..=last).any(|site| self.plan.sites[site as usize - 1].moves(id));
            let method = Ident::new(if moved { "restore_moved" } else { "restore" }, span);
            quote_spanned!(span => #rt::from_serde(#frame.#method(#key)))
        } else if let Some(made) = self.made(id) {
            let moved = (first..=last).any(|site| self.plan.sites[site as usize - 1].moves(id));
            let method = match (self.has_parts(id), moved) {
                (false, false) => "refill",
                (false, true) => "refill_moved",
                (true, false) => "fill_parts",
                (true, true) => "fill_moved_parts",
            };
            let method = Ident::new(method, span);
            quote_spanned!(span => #frame.#method(#key, #made))
        } else if (first..=last).any(|site| self.plan.sites[site as usize - 1].moves(id)) {
            quote_spanned!(span => #frame.restore_moved(#key))
        } else {
            quote_spanned!(span => #frame.restore(#key))
        }
    }

    /// What a restart fills to get the variable's value: what its `let` has made again, or what the caller has passed.
    fn made(&self, id: BindingId) -> Option<TokenStream> {
        let binding = &self.flow.bindings[id];
        match &binding.declaration {
            _ if !self.is_refilled(id) => None,
            Declaration::Parameter { .. } => Some(binding.ident.to_token_stream()),
            _ => binding.init.as_ref().map(ToTokens::to_token_stream),
        }
    }

    /// Whether it is made again and filled.
    pub(crate) fn is_refilled(&self, id: BindingId) -> bool {
        self.flow.bindings[id].treatment.is_some_and(Treatment::fills)
    }

    /// The same, part by part.
    pub(crate) fn has_parts(&self, id: BindingId) -> bool {
        self.flow.bindings[id].treatment == Some(Treatment::Parts)
    }

    /// The variable's place in the source with ckpt's hygiene: rustc shows there what it has against saving it.
    pub(crate) fn own_span(&self, id: BindingId) -> Span {
        Span::mixed_site().located_at(self.flow.bindings[id].ident.span())
    }

    pub(crate) fn key(&self, id: BindingId) -> String {
        self.plan
            .keys
            .get(&id)
            .cloned()
            .unwrap_or_else(|| crate::names::plain_text(&self.flow.written(id)))
    }

    /// How a registrar's closure names the variable at a site: by name, or through the borrow taken before it was
    /// shadowed.
    pub(crate) fn reference(&self, site: SiteId, entry: &Entry) -> TokenStream {
        let plain = self.plain_reference(site, entry);
        self.as_saved(entry.binding(), plain)
    }

    /// A borrowed value as it is handed to the registrar.
    pub(crate) fn as_saved(&self, id: BindingId, borrowed: TokenStream) -> TokenStream {
        let rt = rt();
        if self.is_through_serde(id) {
            quote_spanned!(self.own_span(id) => &#rt::BySerde(#borrowed))
        } else {
            borrowed
        }
    }

    pub(crate) fn is_through_serde(&self, id: BindingId) -> bool {
        self.flow.bindings[id].treatment == Some(Treatment::Serde)
    }

    fn plain_reference(&self, site: SiteId, entry: &Entry) -> TokenStream {
        let id = entry.binding();
        if let Some(kind) = self.plan.filled.part(site, id) {
            return quote_spanned!(self.own_span(id) => &#kind.stand_in());
        }
        let binding = &self.flow.bindings[id];
        let name = &binding.ident;
        if self.plan.option_slots.is_parked(site, id) {
            return self.parked(id);
        }
        if !self.flow.nameable(site, id) {
            let alias = self
                .plan
                .schedule
                .aliases
                .values()
                .flatten()
                .find(|alias| alias.binding == id);
            if let Some(alias) = alias {
                let alias = &alias.ident;
                return quote!(#alias);
            }
        }
        self.borrowed(id, name)
    }

    /// A shared borrow of what the variable holds: for a `&mut` parameter, of what it points to.
    pub(crate) fn borrowed(&self, id: BindingId, name: &Ident) -> TokenStream {
        let points = match self.flow.bindings[id].declaration {
            Declaration::Parameter { passing, .. } => {
                matches!(
                    passing,
                    crate::cfg::Passing::Exclusive | crate::cfg::Passing::Shared
                )
            }
            _ => false,
        };
        let span = self.own_span(id);
        if points {
            quote_spanned!(span => &*#name)
        } else {
            quote_spanned!(span => &#name)
        }
    }
}

struct TakenOver<'a>(&'a dyn Fn(&Ident) -> bool);

impl VisitMut for TakenOver<'_> {
    fn visit_pat_ident_mut(&mut self, pat: &mut syn::PatIdent) {
        if pat.by_ref.is_none() && (self.0)(&pat.ident) {
            pat.mutability = None;
        }
        crate::visit::visit_pat_ident_mut(self, pat);
    }
}
