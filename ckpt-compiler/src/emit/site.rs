//! Sites and the expressions around them.

use super::Emitter;
use crate::cfg::{BindingId, Declaration, Passing, Use};
use crate::desugar::regions::MovesTo;
use crate::liveness::lasting::lasts;
use crate::names;
use crate::names::{frame, registrar};
use crate::paths::{check_apart, rt};
use crate::plan::{Entry, Whereabouts};
use crate::spine::{Arm, Branch, SiteId, Spine, StepId, for_each_call, hole};
use crate::syntax::marks::{Marks, SiteSort};
use crate::syntax::places::{loan_root, place_root};
use crate::syntax::purity::computes;
use crate::visit::{self, VisitMut};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use std::collections::HashMap;
use syn::{Expr, parse_quote};

/// Variables of at most so many words are copied where a checkpoint is taken: an array of two dimensions has eight.
const WORDS_AT_A_CHECKPOINT: usize = 8;
/// And at every call that leads to one, where the copies take time and room on the stack: a vector has three.
const WORDS_AT_A_CALL: usize = 4;

impl Emitter<'_> {
    /// An expression with a site.
    pub(super) fn spine(&self, step: StepId, spine: &Spine) -> TokenStream {
        let frame = frame();
        match spine {
            Spine::Site(site) if self.lowered.sites[*site as usize - 1].region.is_some() => {
                self.region(*site)
            }
            Spine::Site(site) => {
                let span = self.lowered.sites[*site as usize - 1]
                    .span
                    .resolved_at(Span::mixed_site());
                let registrations = self.registrations(*site);
                let seen = self.seen(*site, WORDS_AT_A_CHECKPOINT);
                let reborrowed = self.reborrowed(*site);
                let (seated, reseated) = self.swap_groups(*site);
                let due = match self.lowered.sites[*site as usize - 1].sort {
                    SiteSort::Common | SiteSort::Short => quote!(due),
                    SiteSort::Phase => quote!(due_in_phase),
                    SiteSort::PhaseEnd => quote!(ends_phase),
                };
                let look = |strip: TokenStream| {
                    let look = self.begins_strip(quote_spanned! { span =>
                        #frame.looks_up(#site, #strip, &#registrations)
                    });
                    quote!(#seated #seen #look #reborrowed #reseated)
                };
                if let Some(in_strips) = self.in_strips(*site, look) {
                    return in_strips;
                }
                quote_spanned! { span =>
                    if #frame.#due(#site) {
                        #seated
                        #seen
                        #frame.checkpoint(#site, &#registrations);
                        #reborrowed
                        #reseated
                    }
                }
            }
            Spine::Call { site, call } => self.call(*site, call),
            Spine::Block {
                label,
                is_unsafe,
                block,
            } => {
                let statements = self.block(block);
                let keyword = is_unsafe.then(|| quote!(unsafe));
                quote!(#label #keyword { #statements })
            }
            Spine::If {
                condition,
                then,
                otherwise,
            } => {
                let then = self.block(&then.block);
                let otherwise = otherwise.as_ref().map(|branch| {
                    let statements = self.block(&branch.block);
                    quote!(else { #statements })
                });
                quote!(if #condition { #then } #otherwise)
            }
            Spine::Match {
                scrutinee,
                arms,
                reexecutes,
            } => {
                let arms = arms.iter().map(|arm| self.arm(arm, *reexecutes));
                quote!(match #scrutinee { #(#arms)* })
            }
            Spine::Loop { label, body } => {
                if let Some(strips) = self.strip_mined(label.as_ref(), body) {
                    return strips;
                }
                let statements = self.block(body);
                quote!(#label loop { #statements })
            }
            Spine::Context { inner, around } => {
                let tokens = self.spine(step, inner);
                // The user's parentheses are gone, and a block at the start of a statement would end it.
                let is_one_call = matches!(**inner, Spine::Call { .. }) && !starts_with_a_block(&tokens);
                let inner = if is_one_call { tokens } else { quote!((#tokens)) };
                self.around(step, around, inner, |whole, inner| {
                    FillHole(inner).visit_stmt_mut(whole);
                })
            }
            Spine::Jump { prefix, value } => self.jump_with(step, prefix, self.spine(step, value)),
        }
    }

    /// A site in front of a parallel region: a restart walks to it, and checkpoints are taken where the function waits
    /// for the region's threads.
    fn region(&self, site: SiteId) -> TokenStream {
        let frame = frame();
        let lent = self.plan.sites[site as usize - 1]
            .entries
            .iter()
            .filter(|entry| self.is_lent_to_region(site, entry));
        let entries: Vec<_> = lent
            .map(|entry| {
                let (key, value) = (self.key(entry.binding()), self.where_it_begins(site, entry));
                quote_spanned!(self.own_span(entry.binding()) => #frame.entry(#key, #value);)
            })
            .collect();
        let rt = rt();
        let types = self.moved_to_region(site).map(|(entry, to)| {
            let id = entry.binding();
            let (kept, value) = (self.kept_name(id), self.where_it_begins(site, entry));
            let capture = &self.regions.members[to.member].captures[to.capture];
            // The rest would stay with the function, and be dropped there.
            let whole = capture.in_parts.then(|| {
                let dead = self.dead(id);
                let check = check_apart(self.own_span(id), &dead, self.flow.counts_owners);
                quote_spanned!(self.own_span(id) => let #dead = #rt::Dead::of(#value); #check)
            });
            quote_spanned!(self.own_span(id) => #kept = #rt::nothing_like(#value); #whole)
        });
        quote!(#frame.region(#site); #(#entries)* #(#types)*)
    }

    /// The variable where a region begins.
    fn where_it_begins(&self, site: SiteId, entry: &Entry) -> TokenStream {
        match self.plan.option_slots.is_parked_before(site, entry.binding()) {
            true => self.parked(entry.binding()),
            false => self.reference(site, entry),
        }
    }

    /// What the wait of a region has of the types of what moves into its threads: the wait may stand in another block than the site.
    pub(super) fn types_of_moved_to_region(&self, spine: &Spine) -> TokenStream {
        let Spine::Site(site) = spine else {
            return TokenStream::new();
        };
        let moved = self.moved_to_region(*site).map(|(entry, _)| {
            let (id, kept) = (entry.binding(), self.kept_name(entry.binding()));
            quote_spanned! { self.own_span(id) =>
                #[allow(unused_assignments)]
                let mut #kept = ::core::option::Option::None;
            }
        });
        moved.collect()
    }

    /// The variables that have moved into threads of the region that begins at the site, and where to.
    fn moved_to_region(&self, site: SiteId) -> impl Iterator<Item = (&Entry, MovesTo)> {
        let entries = self.plan.sites[site as usize - 1].entries.iter();
        entries.filter_map(move |entry| Some((entry, self.moves_to(site, entry)?)))
    }

    fn moves_to(&self, site: SiteId, entry: &Entry) -> Option<MovesTo> {
        let region = self.lowered.sites[site as usize - 1].region;
        let local = self.flow.locals.id(&self.flow.bindings[entry.binding()].ident);
        self.regions.moves(region, local)
    }

    /// For every region, what waits for its members.
    pub(super) fn waits(&self) -> HashMap<usize, TokenStream> {
        let frame = frame();
        let sites = (1..).zip(&self.lowered.sites);
        let waits = sites.filter_map(|(site, one)| {
            let region = one.region?;
            let (seen, registrations) = (self.seen(site, WORDS_AT_A_CHECKPOINT), self.registrations(site));
            Some((
                region,
                quote!(#seen #frame.await_members(#site, &#registrations);),
            ))
        });
        waits.collect()
    }

    /// Whether the variable is borrowed exclusively, or changed, while the region runs that begins at the site.
    fn is_lent_to_region(&self, site: SiteId, entry: &Entry) -> bool {
        let region = self.lowered.sites[site as usize - 1].region;
        let local = self.flow.locals.id(&self.flow.bindings[entry.binding()].ident);
        self.regions.lends(region, local)
    }

    /// A call that leads to a site, with what has to be done before and after it.
    fn call(&self, site: SiteId, call: &Expr) -> TokenStream {
        let frame = frame();
        let registrations = self.registrations(site);
        let split = self.split_for(site, call);
        let kept = self.kept(site, call);
        let mut call = call.clone();
        for (index, operand) in split.operands {
            set_operand(&mut call, index, operand);
        }
        let first = self.evaluated_first(site, &mut call);
        let deep = self
            .recursion
            .as_ref()
            .and_then(|recursion| recursion.call(&call));
        let call = quote!(#frame.call(#site, &#registrations, || #call));
        let (before, seen) = (split.before, self.seen(site, WORDS_AT_A_CALL));
        let reborrowed = self.reborrowed(site);
        let (kept, split, call) = match deep {
            None => (kept, quote!(#first #before #seen), call),
            Some(deep) => {
                let measured = names::made("measured");
                let call = quote! {
                    if #frame.is_deep(&__CKPT_RECURSION) {
                        #frame.below(&__CKPT_RECURSION, || #deep)
                    } else {
                        let #measured = #frame.above(&__CKPT_RECURSION);
                        #kept #seen #call
                    }
                };
                (TokenStream::new(), quote!(#first #before), quote!({ #call }))
            }
        };
        if kept.is_empty() && split.is_empty() && reborrowed.is_empty() {
            return call;
        }
        if reborrowed.is_empty() {
            return quote!({ #kept #split #call });
        }
        let result = names::made("result");
        quote!({ #kept #split let #result = #call; #reborrowed #result })
    }

    /// The call at a site.
    fn call_at(&self, site: SiteId) -> Option<&Expr> {
        let mut found = None;
        for_each_call(&self.lowered.body, &mut |at, call| {
            found = found.or((at == site).then_some(call));
        });
        found
    }

    /// Operands of calls in whose place others stand, as the user wrote them.
    pub(super) fn replaced(&self) -> TokenStream {
        let calls = self.plan.loans.splittings.keys();
        let calls = calls.filter_map(|site| Some((*site, self.call_at(*site)?)));
        let replaced = calls.flat_map(|(site, call)| {
            let operands = self.split_for(site, call).operands;
            operands
                .into_iter()
                .map(|(index, _)| crate::plan::operands(call)[index].0.to_token_stream())
        });
        replaced.collect()
    }

    /// Operands that use references, where the call is lent a part of a variable: such references may have to end before it.
    fn evaluated_first(&self, site: SiteId, call: &mut Expr) -> TokenStream {
        let others = self.plan.loans.others.get(&site);
        let first = others.into_iter().flat_map(|others| &others.first);
        let values = first.map(|index| {
            let name = names::made(format_args!("operand_{}", index));
            let value = crate::plan::operands(call)[*index].0.clone();
            set_operand(call, *index, parse_quote!(#name));
            quote!(let #name = #value;)
        });
        values.collect()
    }

    fn arm(&self, arm: &Arm, reexecutes: bool) -> TokenStream {
        let frame = frame();
        let Arm {
            pattern,
            guard,
            body: Branch { sites, block },
        } = arm;
        let statements = self.block(block);
        if !reexecutes {
            return quote!(#pattern => { #statements });
        }
        let assignable = self.assignable_arm(pattern);
        let statements = quote!(#assignable #statements);
        let lost = quote!(#frame.lost("another arm of a `match` is taken than before"));
        match sites {
            Some(sites) => {
                let (first, last) = (sites.first, sites.last);
                let guard = guard
                    .as_ref()
                    .map(|guard| quote!(if #frame.enters(#first, #last) || #frame.runs() && (#guard)));
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
        let site_plan = &self.plan.sites[site as usize - 1];
        let entries = site_plan.entries.iter().map(|entry| {
            let key = self.key(entry.binding());
            let span = self.own_span(entry.binding());
            let seen = seen_name(entry.binding());
            let value = match self.is_seen(site, entry) {
                true => quote_spanned!(span => #seen.value()),
                false => self.reference(site, entry),
            };
            if self.is_lent_to_region(site, entry) {
                return match entry {
                    Entry::Parameter { index, required, .. } => {
                        let required = required.then(|| quote!(#registrar.required(#key);));
                        quote!(#required #registrar.entry_parameter(#index, #key);)
                    }
                    _ => quote!(#registrar.save_entry(#key);),
                };
            }
            if let Some(to) = self.moves_to(site, entry) {
                let member = self.regions.members[to.member].function.sig.ident.to_string();
                let (index, kept) = (to.capture as u32, self.kept_name(entry.binding()));
                let (own, required) = match entry {
                    Entry::Parameter { index, .. } => (
                        quote!(::core::option::Option::Some(#index)),
                        Some(quote!(#registrar.required(#key);)),
                    ),
                    _ => (quote!(::core::option::Option::None), None),
                };
                return quote_spanned! { span =>
                    #required #registrar.moved_to_member(#key, #own, (#member, #index), &#kept);
                };
            }
            let clean = self.plan.saves_as_clean(&self.clean, self.flow, site, entry);
            let stands_in = self.plan.filled.part(site, entry.binding()).is_some();
            let is_unread = self.is_unread(site, entry);
            let clean = match (clean, stands_in) {
                (_, true) => Some(quote!(#registrar.mark_stand_in();)),
                (true, false) if is_unread => Some(quote!(#registrar.mark_unread();)),
                (true, false) if self.lasts(site, entry) => Some(quote!(#registrar.mark_lasting();)),
                (true, false) => Some(quote!(#registrar.mark_clean();)),
                (false, false) => None,
            };
            let again = is_unread.then(|| self.made_again(site, entry)).flatten();
            match entry {
                Entry::Save(_) if self.is_seen(site, entry) => match again {
                    Some(again) => {
                        quote_spanned!(span => #clean #registrar.save_or_make(#key, #seen.value(), &|| #again);)
                    }
                    None => quote_spanned!(span => #clean #registrar.save_seen(#key, &#seen);),
                },
                Entry::Save(id) if self.has_parts(*id) => quote_spanned!(span => #registrar.save_parts(#key, #value);),
                Entry::Save(_) => quote_spanned!(span => #clean #registrar.save(#key, #value);),
                Entry::Split { binding, parameter, required } => {
                    let description = self.description(site, *binding);
                    let required = (*required && parameter.is_some()).then(|| quote!(#registrar.required(#key);));
                    match parameter {
                        None => quote!(#registrar.save_split(#key, #description);),
                        Some(index) => quote!(#required #registrar.save_split_parameter(#index, #key, #description);),
                    }
                }
                Entry::Link(id, callee) => {
                    let saver = self.saver(site, *id, *callee);
                    quote!(#registrar.lent(#key, #callee, #saver);)
                }
                Entry::Moved { binding, callee, parameter } => {
                    let (slot, kept) = (self.kept_name(*binding), names::made("copy"));
                    let copy = self.as_saved(*binding, quote!(#kept));
                    let (save, required) = match parameter {
                        // Of what is made again a call keeps no copy.
                        _ if self.has_parts(*binding) => (quote!(let _ = #kept), None),
                        None => (quote_spanned!(span => #registrar.save(#key, #copy)), None),
                        Some(index) => (
                            quote_spanned!(span => #registrar.parameter(#index, #key, #copy)),
                            Some(quote!(#registrar.required(#key);)),
                        ),
                    };
                    let index = parameter.map(|index| quote!(#index,));
                    let lend = self.moved_by(*binding, parameter.is_some(), span);
                    let lend = quote_spanned!(span => #registrar.#lend(#index #key, #callee, &#slot));
                    let (save, lend) = (quote!(#required #save), quote!(#required #lend));
                    quote_spanned!(span => match &#slot {
                        ::core::option::Option::Some(#kept) => { #save; }
                        ::core::option::Option::None => { #lend; }
                    })
                }
                Entry::Parameter {
                    index,
                    required: true,
                    ..
                } => {
                    let offer = match self.has_parts(entry.binding()) {
                        true => Ident::new("parameter_parts", span),
                        false => Ident::new("parameter", span),
                    };
                    quote!(#registrar.required(#key); #registrar.#offer(#index, #key, #value);)
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
                    let saver = self.saver(site, entry.binding(), *callee);
                    quote!(#required #registrar.lent_parameter(#index, #key, #callee, #saver);)
                }
                Entry::Again { index, whereabouts, .. } => match whereabouts {
                    Whereabouts::Here => quote_spanned!(span => #registrar.needs(#index, #key, #value);),
                    Whereabouts::Gone => quote!(#registrar.needs_as_passed(#index);),
                    Whereabouts::Callee(callee) => quote!(#registrar.hands_on(#index, #key, #callee);),
                },
            }
        });
        let entries: Vec<_> = entries.collect();
        let offers = self.plan.sites[site as usize - 1]
            .entries
            .iter()
            .any(|entry| matches!(entry, Entry::Parameter { required: false, .. }));
        let traits = offers.then(|| quote!(use #rt::{OfferSaved as _, OfferNothing as _};));
        let seats = self.plan.reborrows.at(site).swap_groups.iter().map(|group| {
            let (name, key) = (self.swap_group_name(group), swap_group_key(group));
            quote!(#registrar.save(#key, &#name);)
        });
        let seats: Vec<_> = seats.collect();
        let used_up = self
            .receiver_is_used_up(site)
            .then(|| quote!(#registrar.used_up(0u32);));
        if entries.is_empty() && used_up.is_none() {
            return quote!(|_: &mut #rt::Registrar| {});
        }
        quote!(|#registrar: &mut #rt::Registrar| { #traits #(#entries)* #(#seats)* #used_up })
    }

    /// The method that says that a value has moved into a callee, by what a restart needs of its type.
    fn moved_by(&self, id: BindingId, is_parameter: bool, span: Span) -> Ident {
        let of = if is_parameter { "moved_parameter" } else { "moved" };
        let how = match (self.is_through_serde(id), self.is_refilled(id)) {
            (true, _) => "_through_serde",
            (false, true) => "_and_made_again",
            (false, false) => "",
        };
        Ident::new(&format!("{of}{how}"), span)
    }

    /// Whether the method has taken `self` by value, and nothing of it is left for the caller at the site.
    fn receiver_is_used_up(&self, site: SiteId) -> bool {
        let is_receiver = |id: &BindingId| {
            let binding = &self.flow.bindings[*id];
            let by_value = matches!(
                binding.declaration,
                Declaration::Parameter {
                    passing: Passing::Value,
                    ..
                }
            );
            by_value && binding.ident == "self"
        };
        let offers = |entry: &Entry, id: BindingId| {
            let index = match entry {
                Entry::Parameter { index, .. } | Entry::ParameterLink { index, .. } => Some(*index),
                Entry::Moved { parameter, .. } | Entry::Split { parameter, .. } => *parameter,
                Entry::Save(_) | Entry::Link(..) | Entry::Again { .. } => None,
            };
            entry.binding() == id && index.is_some()
        };
        let mut bindings = 0..self.flow.bindings.len();
        let receiver = bindings.find(is_receiver);
        receiver.is_some_and(|id| {
            !self.plan.sites[site as usize - 1]
                .entries
                .iter()
                .any(|entry| offers(entry, id))
        })
    }

    /// The value of a variable, computed again from numbers that are looked at as well; nothing where it is not known that this has no
    /// other effect. Whether it comes out the same is for the runtime to see.
    fn made_again(&self, site: SiteId, entry: &Entry) -> Option<TokenStream> {
        let binding = &self.flow.bindings[entry.binding()];
        let init = binding.init.as_ref()?;
        // Only lists are put right alone.
        let may_be_list = matches!(
            init,
            Expr::MethodCall(_) | Expr::Macro(_) | Expr::Call(_) | Expr::Struct(_)
        );
        if binding.conditional || !may_be_list || !self.is_seen(site, entry) || !computes(self.library, init)
        {
            return None;
        }
        let entries = &self.plan.sites[site as usize - 1].entries;
        // What is declared in it is its own.
        let is_inner = |id: &BindingId| matches!(self.flow.bindings[*id].declaration, Declaration::Inner);
        let inputs = binding.inputs.iter().filter(|(input, _)| !is_inner(input));
        let inputs = inputs.map(|(input, how)| {
            let entry = entries.iter().find(|entry| entry.binding() == *input)?;
            let number = &self.flow.bindings[*input];
            // What would move it copies a number.
            let is_looked_at = matches!(how, Use::Read | Use::Move);
            let is_there = is_looked_at && number.is_plainly_copy() && self.is_seen(site, entry);
            let (name, seen) = (&number.ident, seen_name(*input));
            is_there.then(|| quote!(let #name = *#seen.value();))
        });
        let inputs: Vec<TokenStream> = inputs.collect::<Option<_>>()?;
        Some(quote!({ #(#inputs)* #init }))
    }

    /// Whether nothing writes to the variable, nor moves it, as long as the session lasts.
    fn lasts(&self, site: SiteId, entry: &Entry) -> bool {
        self.is_outermost && lasts(self.flow, &self.lowered.body, site, entry.binding())
    }

    /// Whether nothing writes to the variable between two visits of the site, nor reads it.
    fn is_unread(&self, site: SiteId, entry: &Entry) -> bool {
        self.plan.saves_as_clean(&self.clean, self.flow, site, entry)
            && self.plan.filled.part(site, entry.binding()).is_none()
            && !self.is_lent_to_region(site, entry)
            && self.moves_to(site, entry).is_none()
            && self.unread.contains(self.flow, site, entry.binding())
    }

    /// Whether a variable is handed to the registrar by a look at it. The others are told by references: what is behind
    /// another name or a borrow is bound to its place in memory anyway.
    fn is_seen(&self, site: SiteId, entry: &Entry) -> bool {
        let id = entry.binding();
        let binding = &self.flow.bindings[id];
        let is_own = match entry {
            Entry::Save(_) => true,
            // Of the type of a parameter it is not known otherwise that it can be saved.
            Entry::Parameter { .. } => {
                let by_value = Passing::Value;
                binding.is_plainly_copy()
                    && matches!(binding.declaration, Declaration::Parameter { passing, .. } if passing == by_value)
            }
            _ => false,
        };
        is_own
            && self.plan.filled.part(site, id).is_none()
            && !self.is_lent_to_region(site, entry)
            && self.moves_to(site, entry).is_none()
            && self.flow.nameable(site, id)
            && !self.plan.option_slots.is_parked(site, id)
            && !self.is_through_serde(id)
            && !self.has_parts(id)
    }

    /// Looks at the variables that are saved, small ones by a copy: a reference that goes where the optimiser cannot follow
    /// would keep them from being held in registers.
    fn seen(&self, site: SiteId, words: usize) -> TokenStream {
        let rt = rt();
        let entries = self.plan.sites[site as usize - 1].entries.iter();
        let looks = entries.filter(|entry| self.is_seen(site, entry)).map(|entry| {
            let id = entry.binding();
            let (seen, name, span) = (seen_name(id), &self.flow.bindings[id].ident, self.own_span(id));
            quote_spanned!(span => let #seen = #rt::peek::<_, #words>(&#name);)
        });
        looks.collect()
    }

    fn kept_name(&self, id: BindingId) -> Ident {
        names::made(format_args!("kept_{}", id))
    }

    /// Copies of the arguments that a call takes by value.
    fn kept(&self, site: SiteId, call: &Expr) -> TokenStream {
        let rt = rt();
        let mut tokens = self.types_of_moved(site, call);
        tokens.extend(self.savers(site));
        for entry in &self.plan.sites[site as usize - 1].entries {
            if let Entry::Moved { binding, .. } = entry {
                let (kept, name) = (self.kept_name(*binding), &self.flow.bindings[*binding].ident);
                tokens.extend(quote! {
                    let #kept = {
                        #[allow(unused_imports)]
                        use #rt::{KeepClone as _, KeepCopy as _, KeepNothing as _};
                        (&&#rt::Keep(&#name)).keep()
                    };
                });
            }
        }
        tokens
    }

    /// A call that is never made, by which the types of the arguments are known before copies of them are thought of. What
    /// else it takes by value is still there behind it, as nothing comes back from where it stands.
    fn types_of_moved(&self, site: SiteId, call: &Expr) -> TokenStream {
        let rt = rt();
        let mut call = call.clone();
        let mut found = false;
        for entry in &self.plan.sites[site as usize - 1].entries {
            if let Entry::Moved { binding, callee, .. } = entry {
                let name = &self.flow.bindings[*binding].ident;
                set_operand(&mut call, *callee as usize, parse_quote!(#rt::like(&#name)));
                found = true;
            }
        }
        if found {
            quote!(if false { let _ = || #call; ::core::unreachable!() })
        } else {
            TokenStream::new()
        }
    }

    /// How to save a variable that is lent, for a callee that cannot; none where it is lent through a reference to it.
    fn saver(&self, site: SiteId, id: BindingId, callee: u32) -> TokenStream {
        match self.is_lent_by_name(site, id, callee) {
            true => saver_name(id).to_token_stream(),
            false => quote!(::core::option::Option::None),
        }
    }

    fn savers(&self, site: SiteId) -> TokenStream {
        let rt = rt();
        let lent = self.plan.sites[site as usize - 1]
            .entries
            .iter()
            .filter_map(|entry| match entry {
                Entry::Link(id, callee) => Some((*id, *callee)),
                Entry::ParameterLink { binding, callee, .. } => Some((*binding, *callee)),
                _ => None,
            });
        let savers = lent
            .filter(|(id, callee)| self.is_lent_by_name(site, *id, *callee))
            .map(|(id, _)| {
                let (saver, lent) = (saver_name(id), self.borrowed(id, &self.flow.bindings[id].ident));
                quote! {
                    let #saver = {
                        #[allow(unused_imports)]
                        use #rt::{KnownToLender as _, UnknownToLender as _};
                        (&#rt::Lend(#lent)).saver()
                    };
                }
            });
        savers.collect()
    }

    /// Whether the call names the variable itself where it lends it.
    fn is_lent_by_name(&self, site: SiteId, id: BindingId, callee: u32) -> bool {
        let call = self.call_at(site);
        // Its address would be all that the optimiser cannot see through.
        if call.is_some_and(|call| self.is_typed(call)) {
            return false;
        }
        let operand = call.and_then(|call| Some(crate::plan::operands(call).get(callee as usize)?.0));
        let root = operand.and_then(|operand| loan_root(operand).or_else(|| place_root(operand)));
        root.and_then(|root| self.flow.locals.id(root)) == Some(self.flow.bindings[id].local)
    }

    /// Whether what is called knows the types of its parameters.
    fn is_typed(&self, call: &Expr) -> bool {
        let marks = Marks {
            calls: self.typed,
            library: self.library,
        };
        marks.callee(call).is_some()
    }

    fn swap_group_name(&self, group: &[BindingId]) -> Ident {
        names::made(format_args!("seats_{}", group[0]))
    }

    /// Which reference of a group stands for what: found out before the site, brought about again after it.
    fn swap_groups(&self, site: SiteId) -> (TokenStream, TokenStream) {
        let (rt, frame) = (rt(), frame());
        let (mut before, mut after) = (TokenStream::new(), TokenStream::new());
        for group in &self.plan.reborrows.at(site).swap_groups {
            let (seats, key) = (self.swap_group_name(group), swap_group_key(group));
            let names: Vec<_> = group.iter().map(|id| &self.flow.bindings[*id].ident).collect();
            let homes: Vec<_> = group.iter().map(|id| home_name(*id)).collect();
            let moved: Vec<_> = group
                .iter()
                .map(|id| names::made(format_args!("seat_{}", id)))
                .collect();
            before.extend(quote! {
                let #seats = if #frame.runs() {
                    #rt::seating([#(#rt::address(&*#names)),*], [#(#homes),*])
                } else {
                    #frame.restore(#key)
                };
            });
            after.extend(quote! {
                let [#(#moved),*] = #rt::reseat([#(#names),*], #seats);
                #(#names = #moved;)*
            });
        }
        (before, after)
    }

    /// Remembers what a reference that trades places was made for.
    pub(super) fn homes(&self, step: crate::spine::StepId) -> TokenStream {
        let rt = rt();
        let groups = self
            .plan
            .reborrows
            .sites()
            .iter()
            .flat_map(|site| &site.swap_groups);
        let members: std::collections::BTreeSet<_> = groups.flatten().copied().collect();
        let of_step = members
            .into_iter()
            .filter(|id| self.flow.bindings[*id].step == step);
        of_step
            .map(|id| {
                let (home, name) = (home_name(id), &self.flow.bindings[id].ident);
                quote!(let #home = #rt::address(&*#name);)
            })
            .collect()
    }
}

fn seen_name(id: BindingId) -> Ident {
    names::made(format_args!("seen_{}", id))
}

fn saver_name(id: BindingId) -> Ident {
    names::made(format_args!("saver_{}", id))
}

fn home_name(id: BindingId) -> Ident {
    names::made(format_args!("home_{}", id))
}

fn swap_group_key(group: &[BindingId]) -> String {
    format!("ckpt.seats{}", group[0])
}

fn starts_with_a_block(tokens: &TokenStream) -> bool {
    let first = tokens.clone().into_iter().next();
    matches!(first, Some(proc_macro2::TokenTree::Group(group)) if group.delimiter() == proc_macro2::Delimiter::Brace)
}

fn set_operand(call: &mut Expr, index: usize, operand: Expr) {
    match call {
        Expr::MethodCall(call) if index == 0 => *call.receiver = operand,
        Expr::MethodCall(call) => call.args[index - 1] = operand,
        Expr::Call(call) => call.args[index] = operand,
        _ => {}
    }
}

struct FillHole(TokenStream);

impl VisitMut for FillHole {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        if matches!(expr, Expr::Path(path) if path.path.is_ident(&hole())) {
            *expr = Expr::Verbatim(self.0.clone());
        } else {
            visit::visit_expr_mut(self, expr);
        }
    }
}
