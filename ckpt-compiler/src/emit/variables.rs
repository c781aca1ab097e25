//! Variables across what a restart skips: declared before it, restored instead of it, or carried through it.

use super::Emitter;
use super::block::verbatim;
use crate::classes::Class;
use crate::flow::{BindingId, Declaration, Event, Passing, Point, SiteFlow, Use};
use crate::paths::rt;
use crate::plan::{Mode, SitePlan};
use crate::spine::{Block, Plain, Sites, SpineStep, Step, StepId, StepKind, Target};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use std::ops::Range;
use syn::visit_mut::{self, VisitMut};
use syn::{Local, Pat, PatIdent, Stmt};

impl Emitter<'_> {
    /// The variables declared by the steps that this block goes on with.
    pub(super) fn declared_by(&self, steps: &[&Step]) -> Vec<BindingId> {
        let starts: Vec<StepId> = steps.iter().map(|step| step.range.start).collect();
        let of_steps = |id: &BindingId| starts.contains(&self.flow.bindings[*id].step);
        (0..self.flow.bindings.len())
            .filter(of_steps)
            .filter(|id| self.plan.modes.contains_key(id))
            .collect()
    }

    pub(super) fn mode(&self, id: BindingId) -> Mode {
        self.plan.modes.get(&id).copied().unwrap_or(Mode::Trapped)
    }

    pub(super) fn declarations(&self, declared: &[BindingId]) -> TokenStream {
        let mut tokens = TokenStream::new();
        for &id in declared {
            let binding = &self.flow.bindings[id];
            let name = &binding.ident;
            match self.mode(id) {
                Mode::Deferred => {
                    let late = binding.init.is_none() && !binding.from_spine;
                    let added = name.to_string().starts_with("__ckpt");
                    let lint = (late || added).then(|| quote!(#[allow(unused_mut, unused_assignments)]));
                    let mutability = (binding.mutable || late).then(|| quote!(mut));
                    let ty = self.whole_type(id).map(|ty| quote!(: #ty));
                    let attributes = self.lint_attributes(binding.step);
                    tokens.extend(quote!(#attributes #lint let #mutability #name #ty;));
                }
                Mode::MovedOut => {
                    let out = self.out(id);
                    tokens.extend(quote!(let #out;));
                }
                Mode::Carried => {
                    let slot = self.slot(id);
                    tokens.extend(
                        quote!(#[allow(unused_assignments)] let mut #slot = ::core::option::Option::None;),
                    );
                }
                Mode::Trapped => {}
            }
        }
        tokens
    }

    /// The lint levels that the user has set on a `let`.
    fn lint_attributes(&self, step: StepId) -> TokenStream {
        let local = find_local(&self.lowered.body, step);
        let attributes = local.into_iter().flat_map(|local| &local.attrs);
        let lints = ["allow", "warn", "deny", "expect", "forbid"];
        let of_lints =
            attributes.filter(|attribute| lints.iter().any(|lint| attribute.path().is_ident(lint)));
        of_lints.map(ToTokens::to_token_stream).collect()
    }

    /// The written type, where the pattern is the variable alone.
    pub(super) fn whole_type(&self, id: BindingId) -> Option<syn::Type> {
        let pattern = self.pattern_of(self.flow.bindings[id].step)?;
        match pattern {
            Pat::Type(typed) if matches!(*typed.pat, Pat::Ident(_)) => Some((*typed.ty).clone()),
            _ => None,
        }
    }

    /// The pattern of the `let` that is the step.
    pub(super) fn pattern_of(&self, step: StepId) -> Option<Pat> {
        find_local(&self.lowered.body, step).map(|local| local.pat.clone())
    }

    pub(super) fn run_statement(&self, step: &Step) -> TokenStream {
        match &step.kind {
            StepKind::Plain(Plain {
                stmt: Stmt::Local(local),
                ..
            }) => {
                if self
                    .declared_by(&[step])
                    .iter()
                    .all(|id| self.mode(*id) == Mode::Trapped)
                {
                    return verbatim(step);
                }
                let Some(init) = &local.init else {
                    return TokenStream::new();
                };
                match &init.diverge {
                    None => self.assign(local, &init.expr.to_token_stream(), step.range.start),
                    Some((_, diverge)) => {
                        let (pattern, assignments) = self.renamed(local, step.range.start);
                        let (attrs, value) = (&local.attrs, &init.expr);
                        quote!(#(#attrs)* let #pattern = #value else #diverge; #assignments)
                    }
                }
            }
            _ => verbatim(step),
        }
    }

    /// `let p = value;` for variables declared outside.
    pub(super) fn assign(&self, local: &Local, value: &TokenStream, step: StepId) -> TokenStream {
        let alone = match &local.pat {
            Pat::Ident(ident) => Some(ident),
            Pat::Type(typed) => match &*typed.pat {
                Pat::Ident(ident) => Some(ident),
                _ => None,
            },
            _ => None,
        };
        let attrs = &local.attrs;
        if let Some(ident) = alone.filter(|ident| ident.by_ref.is_none() && ident.subpat.is_none()) {
            let name = &ident.ident;
            let deferred = self.declared_in(step).any(|id| self.mode(id) == Mode::Deferred);
            if deferred {
                return quote!(#name = #value;);
            }
        }
        let (pattern, assignments) = self.renamed(local, step);
        quote!(#[allow(unused_mut)] #(#attrs)* let #pattern = #value; #assignments)
    }

    pub(super) fn declared_in(&self, step: StepId) -> impl Iterator<Item = BindingId> {
        (0..self.flow.bindings.len())
            .filter(move |id| self.flow.bindings[*id].step == step && self.plan.modes.contains_key(id))
    }

    /// The pattern with other names for the variables declared outside, and the assignments from those names.
    pub(super) fn renamed(&self, local: &Local, step: StepId) -> (Pat, TokenStream) {
        let deferred: Vec<Ident> = self
            .declared_in(step)
            .filter(|id| self.mode(*id) == Mode::Deferred)
            .map(|id| self.flow.bindings[id].ident.clone())
            .collect();
        let mut pattern = local.pat.clone();
        Rename(&deferred).visit_pat_mut(&mut pattern);
        let assignments = deferred.iter().map(|name| {
            let inner = inner_name(name);
            quote!(#name = #inner;)
        });
        (pattern, assignments.collect())
    }

    pub(super) fn out(&self, id: BindingId) -> Ident {
        format_ident!(
            "__ckpt_out_{}_{}",
            plain_text(&self.flow.bindings[id].ident),
            id,
            span = Span::mixed_site()
        )
    }

    pub(super) fn dead(&self, id: BindingId) -> Ident {
        format_ident!(
            "__ckpt_dead_{}_{}",
            plain_text(&self.flow.bindings[id].ident),
            id,
            span = Span::mixed_site()
        )
    }

    pub(super) fn slot(&self, id: BindingId) -> Ident {
        format_ident!(
            "__ckpt_slot_{}_{}",
            plain_text(&self.flow.bindings[id].ident),
            id,
            span = Span::mixed_site()
        )
    }

    pub(super) fn move_out(&self, declared: &[BindingId], range: &Range<StepId>) -> TokenStream {
        let mut tokens = TokenStream::new();
        for &id in declared {
            let name = &self.flow.bindings[id].ident;
            match self.mode(id) {
                Mode::MovedOut => {
                    let out = self.out(id);
                    tokens.extend(quote!(#out = #name;));
                }
                Mode::Carried if self.is_moved_at_once(id, range) => {}
                Mode::Carried => {
                    let slot = self.slot(id);
                    tokens.extend(quote!(#slot = ::core::option::Option::Some(#name);));
                }
                Mode::Deferred | Mode::Trapped => {}
            }
        }
        tokens
    }

    /// Keeps the types of the variables that a restart leaves out, right after their declaration: parts of the values
    /// may be moved away before the types are known well enough for [`destructor_checks`](Self::destructor_checks).
    pub(super) fn types_of_dead(&self, declared: &[BindingId], later: Sites) -> TokenStream {
        let rt = rt();
        let dead = declared.iter().filter(|id| self.is_left_out(**id, later));
        dead.map(|id| {
            let (name, kept) = (&self.flow.bindings[*id].ident, self.dead(*id));
            quote_spanned!(self.own_span(*id) => let #kept = #rt::Dead::of(&#name);)
        })
        .collect()
    }

    /// Checks that the variables which a restart leaves out have no destructor to be missed.
    pub(super) fn destructor_checks(&self, declared: &[BindingId], later: Sites) -> TokenStream {
        let rt = rt();
        let dead = declared.iter().filter(|id| self.is_left_out(**id, later));
        let checks: Vec<_> = dead
            .map(|id| {
                let kept = self.dead(*id);
                quote_spanned!(self.own_span(*id) => (&&#kept).check();)
            })
            .collect();
        if checks.is_empty() {
            return TokenStream::new();
        }
        quote! {{
            #[allow(unused_imports)]
            use #rt::{DeadDrop as _, DeadInert as _, DeadPlain as _};
            #(#checks)*
        }}
    }

    /// Whether the variable is alive at a later site at which it is not saved.
    pub(super) fn is_left_out(&self, id: BindingId, later: Sites) -> bool {
        let binding = &self.flow.bindings[id];
        let is_plain = binding.init.as_ref().is_some_and(crate::spine::operands::is_pure);
        let is_late = binding.init.is_none() && !binding.from_spine;
        self.plan.classes[id] == Class::Saved
            && binding.treatment.is_none()
            && !is_plain
            && !is_late
            && !binding.ident.to_string().starts_with("__ckpt")
            && self.mode(id) != Mode::Trapped
            && (later.first..=later.last).any(|site| {
                let plan = &self.plan.sites[site as usize - 1];
                let moved = self.liveness.is_moved(self.flow, site, id);
                !plan.restores(id) && !moved && self.flow.sites[site as usize - 1].scope.contains(&id)
            })
    }

    /// For slots that stay empty because their variable is moved away at once: its type.
    pub(super) fn types_of_slots(&self, declared: &[BindingId], range: &Range<StepId>) -> TokenStream {
        let rt = rt();
        let empty = declared
            .iter()
            .filter(|id| self.mode(**id) == Mode::Carried && self.is_moved_at_once(**id, range));
        empty
            .map(|id| {
                let (name, slot) = (&self.flow.bindings[*id].ident, self.slot(*id));
                quote!(#rt::same_type(&#slot, &#name);)
            })
            .collect()
    }

    /// Whether the steps that declare the variable move it away again.
    fn is_moved_at_once(&self, id: BindingId, range: &Range<StepId>) -> bool {
        let moves = |event: &Event| event.binding == id && may_move(event) && range.contains(&event.step);
        self.flow.events().any(moves) && !self.is_live_out_of(id, range)
    }

    /// Gives variables that were moved out their name back. One that a restart leaves out has no value then, and no use:
    /// it lives on under the other name to the end of its scope.
    pub(super) fn bind_moved(&self, declared: &[BindingId], later: Sites) -> TokenStream {
        let moved = declared.iter().filter(|id| self.mode(**id) == Mode::MovedOut);
        let has_value = |id: &&BindingId| {
            self.plan.classes[**id] != Class::Saved
                || (later.first..=later.last).all(|site| self.plan.sites[site as usize - 1].restores(**id))
        };
        moved
            .filter(has_value)
            .map(|id| {
                let binding = &self.flow.bindings[*id];
                let (name, out) = (&binding.ident, self.out(*id));
                let mutability = binding.mutable.then(|| quote!(mut));
                quote!(let #mutability #name = #out;)
            })
            .collect()
    }

    /// What a restart does instead of a run.
    pub(super) fn restores(
        &self,
        declared: &[BindingId],
        range: &Range<StepId>,
        later: Sites,
        steps: &[&Step],
    ) -> TokenStream {
        let mut tokens = self.used_up(range);
        let written = self.late_initialised(range);
        for &id in declared
            .iter()
            .chain(written.iter().filter(|id| !declared.contains(id)))
        {
            let binding = &self.flow.bindings[id];
            let (name, mode) = (&binding.ident, self.mode(id));
            let is_late = binding.init.is_none() && !binding.from_spine;
            if mode == Mode::Trapped || is_late && !written.contains(&id) {
                continue;
            }
            let target = match mode {
                Mode::MovedOut => self.out(id),
                _ => name.clone(),
            };
            match self.plan.classes[id] {
                Class::Synthetic => {
                    let value = restart_value(steps, binding.step);
                    tokens.extend(quote!(#target = #value;));
                }
                Class::Skipped => tokens.extend(quote!(#target = ::core::default::Default::default();)),
                Class::Saved => {
                    let condition = self.where_restored(id, later.first, later.last);
                    let restored = self.restoring(id, later.first, later.last, self.own_span(id));
                    let assignment = if mode == Mode::Carried {
                        let slot = self.slot(id);
                        quote!(#slot = ::core::option::Option::Some(#restored);)
                    } else {
                        quote!(#target = #restored;)
                    };
                    match condition.to_string().as_str() {
                        "true" => tokens.extend(assignment),
                        "false" => {}
                        _ => tokens.extend(quote!(if #condition { #assignment })),
                    }
                }
                _ => {}
            }
        }
        tokens
    }

    /// Puts away the arguments that the skipped steps have used up: what a caller passes at restart only stands in.
    fn used_up(&self, range: &Range<StepId>) -> TokenStream {
        let rt = rt();
        let used_up = (0..self.flow.bindings.len()).filter(|id| self.is_used_up(*id, range));
        used_up
            .map(|id| {
                let name = &self.flow.bindings[id].ident;
                quote! {{
                    #[allow(unused_imports)]
                    use #rt::{PutAwayAny as _, PutAwayInert as _};
                    (&#rt::UsedUp::new(#name)).put_away();
                }}
            })
            .collect()
    }

    /// Whether the steps move the parameter away on every way through them, for good.
    fn is_used_up(&self, id: BindingId, range: &Range<StepId>) -> bool {
        let by_value = matches!(
            self.flow.bindings[id].declaration,
            Declaration::Parameter {
                passing: Passing::Value,
                ..
            }
        );
        by_value
            && !self.flow.bindings[id].is_plainly_copy()
            && !self.is_live_out_of(id, range)
            && !self.was_moved_before(id, range)
            && self
                .end_of(range)
                .is_some_and(|end| self.liveness.is_moved_at(self.flow, end, id))
    }

    fn was_moved_before(&self, id: BindingId, range: &Range<StepId>) -> bool {
        let begin = self.flow.points.get(&range.start).map(|(begin, _)| *begin);
        begin.is_some_and(|point| self.liveness.is_moved_at(self.flow, point, id))
    }

    /// Variables declared without a value that get one here.
    pub(super) fn late_initialised(&self, range: &Range<StepId>) -> Vec<BindingId> {
        (0..self.flow.bindings.len())
            .filter(|id| {
                let binding = &self.flow.bindings[*id];
                binding.init.is_none()
                    && !binding.from_spine
                    && self.plan.modes.get(id) == Some(&Mode::Deferred)
                    && self.flow.events().any(|event| {
                        event.binding == *id && event.kind == Use::Write && range.contains(&event.step)
                    })
            })
            .collect()
    }

    /// Takes the carried variables that a stretch of the function uses; one that it only gives a new value is declared
    /// anew.
    pub(super) fn take_all(&self, carried: &[BindingId], range: &Range<StepId>) -> TokenStream {
        let rt = rt();
        let used = carried.iter().filter(|id| self.is_used(**id, range));
        used.map(|id| {
            let (name, slot) = (&self.flow.bindings[*id].ident, self.slot(*id));
            if self.is_live_into(*id, range) {
                quote!(#[allow(unused_mut)] let mut #name = #rt::take(&mut #slot);)
            } else {
                quote!(#[allow(unused_mut, unused_assignments)] let mut #name;)
            }
        })
        .collect()
    }

    /// Puts the carried variables back that are used again, or have a scope to live to the end of.
    pub(super) fn put_all(&self, carried: &[BindingId], range: &Range<StepId>) -> TokenStream {
        let used = carried.iter().filter(|id| self.is_used(**id, range));
        used.filter(|id| {
            let moves =
                |event: &Event| event.binding == **id && may_move(event) && range.contains(&event.step);
            let untouched = self.is_live_into(**id, range) && !self.flow.events().any(moves);
            untouched || self.is_live_out_of(**id, range)
        })
        .map(|id| {
            let (name, slot) = (&self.flow.bindings[*id].ident, self.slot(*id));
            quote!(#slot = ::core::option::Option::Some(#name);)
        })
        .collect()
    }

    /// Whether the steps need the value that the variable has before them, or pass it on. A site in them does, too.
    fn is_live_into(&self, id: BindingId, range: &Range<StepId>) -> bool {
        let mut sites = self.flow.sites.iter().zip(&self.plan.sites);
        if sites.any(|(flow, plan)| range.contains(&flow.step) && plan.restores(id)) {
            return true;
        }
        let begin = self.flow.points.get(&range.start).map(|(begin, _)| *begin);
        begin.is_some_and(|point| self.liveness.is_live_at(self.flow, point, id))
    }

    fn is_live_out_of(&self, id: BindingId, range: &Range<StepId>) -> bool {
        self.end_of(range)
            .is_some_and(|end| self.liveness.is_live_at(self.flow, end, id))
    }

    /// Where the last of the steps ends.
    fn end_of(&self, range: &Range<StepId>) -> Option<Point> {
        let last = self.flow.points.iter().filter(|(step, _)| range.contains(step));
        let last = last
            .filter(|(step, _)| self.ends_with(**step, range.end))
            .min_by_key(|(step, _)| **step);
        last.map(|(_, (_, end))| *end)
    }

    fn ends_with(&self, step: StepId, end: StepId) -> bool {
        self.step_ends.get(&step) == Some(&end)
    }

    pub(super) fn is_used(&self, id: BindingId, range: &Range<StepId>) -> bool {
        let mut sites = self.flow.sites.iter().zip(&self.plan.sites);
        let saved = |(flow, plan): (&SiteFlow, &SitePlan)| range.contains(&flow.step) && plan.restores(id);
        sites.any(saved)
            || self
                .flow
                .events()
                .any(|event| event.binding == id && range.contains(&event.step))
    }

    /// Carried variables that every site of a statement has are taken for all of it; the others inside, where needed.
    pub(super) fn carry_into(
        &self,
        step: &Step,
        spine: &SpineStep,
        carried: &[BindingId],
    ) -> (TokenStream, Vec<BindingId>, TokenStream) {
        let everywhere = |id: &BindingId| {
            (spine.sites.first..=spine.sites.last)
                .all(|site| self.plan.sites[site as usize - 1].restores(*id))
        };
        let (whole, inner): (Vec<BindingId>, Vec<BindingId>) = carried.iter().partition(|id| everywhere(id));
        (
            self.take_all(&whole, &step.range),
            inner,
            self.put_all(&whole, &step.range),
        )
    }
}

fn may_move(event: &Event) -> bool {
    event.kind == Use::Move || event.may_consume
}

fn restart_value(steps: &[&Step], step: StepId) -> TokenStream {
    let found = steps.iter().find(|one| one.range.start == step);
    let value = found.and_then(|step| match &step.kind {
        StepKind::Plain(plain) => plain.restart.clone(),
        StepKind::Spine(SpineStep {
            target: Target::Let { restart, .. },
            ..
        }) => restart.clone(),
        _ => None,
    });
    value.unwrap_or_default()
}

fn find_local(block: &Block, wanted: StepId) -> Option<&Local> {
    for step in &block.steps {
        if step.range.start == wanted {
            return match &step.kind {
                StepKind::Plain(Plain {
                    stmt: Stmt::Local(local),
                    ..
                }) => Some(local),
                StepKind::Spine(SpineStep {
                    target: Target::Let { local, .. },
                    ..
                }) => Some(local),
                _ => None,
            };
        }
        if let (true, StepKind::Spine(spine)) = (step.range.contains(&wanted), &step.kind) {
            let mut found = None;
            crate::plan::for_each_block(&spine.spine, &mut |inner| {
                found = found.or_else(|| find_local(inner, wanted));
            });
            return found;
        }
    }
    None
}

fn plain_text(ident: &Ident) -> String {
    ident.to_string().trim_start_matches("r#").to_owned()
}

fn inner_name(name: &Ident) -> Ident {
    format_ident!("__ckpt_inner_{}", plain_text(name), span = Span::mixed_site())
}

struct Rename<'a>(&'a [Ident]);

impl VisitMut for Rename<'_> {
    fn visit_pat_ident_mut(&mut self, pat: &mut PatIdent) {
        if self.0.contains(&pat.ident) {
            pat.ident = inner_name(&pat.ident);
            if pat.by_ref.is_none() {
                pat.mutability = None;
            }
        }
        visit_mut::visit_pat_ident_mut(self, pat);
    }

    fn visit_field_pat_mut(&mut self, field: &mut syn::FieldPat) {
        visit_mut::visit_field_pat_mut(self, field);
        let renamed = matches!((&*field.pat, &field.member), (Pat::Ident(ident), syn::Member::Named(name)) if ident.ident != *name);
        if renamed && field.colon_token.is_none() {
            field.colon_token = Some(syn::Token![:](Span::mixed_site()));
        }
    }
}
