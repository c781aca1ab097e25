//! Variables across what a restart skips: declared before it, restored instead of it, or carried through it.

use super::Emitter;
use crate::cfg::{Binding, BindingId, Declaration, Passing, Point, Use};
use crate::names::frame;
use crate::names::{self, Locals, plain_text};
use crate::parse::options::Treatment;
use crate::paths::{check_dead, check_owners, rt};
use crate::plan::Mode;
use crate::spine::{Block, Plain, SiteId, Sites, SpineStep, Step, StepId, StepKind, Target};
use crate::strategies::{Strategy, closures_that_take, owns_a_device};
use crate::visit::{self, VisitMut};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use std::ops::Range;
use syn::{Local, Pat, PatIdent, Stmt};

impl Emitter<'_> {
    /// The variables declared by the steps that this block goes on with.
    pub(super) fn declared_by(&self, steps: &[&Step]) -> Vec<BindingId> {
        let starts: Vec<StepId> = steps.iter().map(|step| step.range.start).collect();
        let of_steps = |id: &BindingId| starts.contains(&self.flow.bindings[*id].step);
        (0..self.flow.bindings.len())
            .filter(of_steps)
            .filter(|id| matches!(self.flow.bindings[*id].declaration, Declaration::Let))
            .filter(|id| self.plan.schedule.crossings.modes.contains_key(id))
            .collect()
    }

    pub(super) fn mode(&self, id: BindingId) -> Mode {
        self.plan
            .schedule
            .crossings
            .modes
            .get(&id)
            .copied()
            .unwrap_or(Mode::Trapped)
    }

    pub(super) fn declarations(&self, declared: &[BindingId]) -> TokenStream {
        let mut tokens = TokenStream::new();
        for &id in declared {
            match self.mode(id) {
                Mode::Deferred => {
                    tokens.extend(self.declaration(id));
                }
                Mode::MovedOut => {
                    let out = self.out(id);
                    tokens.extend(quote!(let #out;));
                }
                Mode::InSlot => {
                    let out = self.out(id);
                    let ty = self
                        .whole_type(id)
                        .map(|ty| quote!(: ::core::option::Option<#ty>));
                    tokens.extend(quote! {
                        #[allow(unused_mut, unused_assignments)]
                        let mut #out #ty = ::core::option::Option::None;
                    });
                }
                Mode::Late | Mode::Trapped => {}
            }
        }
        tokens
    }

    /// `let x;`
    fn declaration(&self, id: BindingId) -> TokenStream {
        let binding = &self.flow.bindings[id];
        let (name, late) = (&binding.ident, binding.is_late());
        let added = binding.is_synthetic();
        let lint = (late || added).then(|| quote!(#[allow(unused_mut, unused_assignments)]));
        let mutability = (binding.mutable || late).then(|| quote!(mut));
        let ty = self.whole_type(id).map(|ty| quote!(: #ty));
        let attributes = self.lint_attributes(binding.step);
        quote!(#attributes #lint let #mutability #name #ty;)
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

    /// The written type, where the pattern is the variable alone or a tuple of variables.
    pub(super) fn whole_type(&self, id: BindingId) -> Option<syn::Type> {
        let binding = &self.flow.bindings[id];
        match self.pattern_of(binding.step)? {
            Pat::Type(typed) => type_in(&typed.pat, &typed.ty, &binding.ident),
            _ => None,
        }
    }

    /// The pattern of the `let` that is the step.
    pub(super) fn pattern_of(&self, step: StepId) -> Option<Pat> {
        find_local(&self.lowered.body, step).map(|local| local.pat.clone())
    }

    pub(super) fn run_statement(&self, step: &Step) -> TokenStream {
        match self.with_jumps(step) {
            Some(Stmt::Local(local)) => {
                let local = &local;
                if self
                    .declared_by(&[step])
                    .iter()
                    .all(|id| self.mode(*id) == Mode::Trapped)
                {
                    return self.verbatim(step);
                }
                let Some(init) = &local.init else {
                    let all = self.declared_in(step.range.start);
                    return all.map(|id| self.late_inside(id)).collect();
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
            _ => self.verbatim(step),
        }
    }

    /// A variable that is declared without a value, and travels with the one that its own run gives it.
    fn late_inside(&self, id: BindingId) -> TokenStream {
        if self.mode(id) != Mode::InSlot {
            return TokenStream::new();
        }
        let rt = rt();
        let (name, out) = (&self.flow.bindings[id].ident, self.out(id));
        let ty = self.whole_type(id).map(|ty| quote!(: #ty));
        quote! {
            #[allow(unused_mut, unused_variables, unused_assignments)]
            let mut #name #ty;
            #[allow(unused_assignments)]
            if false { #name = #rt::take(&mut #out); }
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
        (0..self.flow.bindings.len()).filter(move |id| {
            let binding = &self.flow.bindings[*id];
            binding.step == step
                && matches!(binding.declaration, Declaration::Let)
                && self.plan.schedule.crossings.modes.contains_key(id)
        })
    }

    /// The pattern with other names for the variables declared outside, and the assignments from those names.
    pub(super) fn renamed(&self, local: &Local, step: StepId) -> (Pat, TokenStream) {
        let deferred: Vec<Ident> = self
            .declared_in(step)
            .filter(|id| self.mode(*id) == Mode::Deferred)
            .map(|id| self.flow.bindings[id].ident.clone())
            .collect();
        let mut pattern = local.pat.clone();
        Rename(&self.flow.locals, &deferred).visit_pat_mut(&mut pattern);
        let assignments = deferred.iter().map(|name| {
            let inner = inner_name(&self.flow.locals, name);
            quote!(#name = #inner;)
        });
        (pattern, assignments.collect())
    }

    pub(super) fn out(&self, id: BindingId) -> Ident {
        names::made(format_args!("out_{}_{id}", plain_text(&self.flow.written(id))))
    }

    pub(super) fn dead(&self, id: BindingId) -> Ident {
        names::made(format_args!("dead_{}_{id}", plain_text(&self.flow.written(id))))
    }

    pub(super) fn move_out(&self, declared: &[BindingId]) -> TokenStream {
        let mut tokens = TokenStream::new();
        for &id in declared {
            let name = &self.flow.bindings[id].ident;
            match self.mode(id) {
                Mode::MovedOut => {
                    let out = self.out(id);
                    tokens.extend(quote!(#out = #name;));
                }
                Mode::InSlot if !self.plan.option_slots.leaves(id) => {}
                Mode::InSlot => {
                    let out = self.out(id);
                    tokens.extend(quote!(#out = ::core::option::Option::Some(#name);));
                }
                Mode::Deferred | Mode::Late | Mode::Trapped => {}
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
        let dead = declared.iter().filter(|id| self.is_left_out(**id, later));
        let checks: Vec<_> = dead
            .map(|id| {
                let kept = self.dead(*id);
                self.check_dead(*id, &kept)
            })
            .collect();
        quote!(#(#checks)*)
    }

    fn check_dead(&self, id: BindingId, kept: &Ident) -> TokenStream {
        match self.flow.counts_owners {
            true => check_owners(self.own_span(id), kept),
            false => check_dead(self.own_span(id), kept),
        }
    }

    /// Whether the variable is alive at a later site at which it is not saved.
    pub(super) fn is_left_out(&self, id: BindingId, later: Sites) -> bool {
        let binding = &self.flow.bindings[id];
        let moved = |(input, kind): &(BindingId, Use)| {
            *kind == Use::Move && !self.flow.bindings[*input].is_plainly_copy()
        };
        let is_plain = binding
            .init
            .as_ref()
            .is_some_and(|one| crate::syntax::purity::is_pure(self.library, one))
            && !binding.inputs.iter().any(moved);
        let is_reexecuted = |one: &Binding| self.plan.schedule.runs.reexecuted.contains(&one.step);
        let is_of_interest = match self.plan.strategies[id] {
            Strategy::Saved => self.mode(id) != Mode::Trapped,
            Strategy::Reexecuted { .. } if self.flow.counts_owners || makes_a_struct(binding) => {
                !is_reexecuted(binding)
            }
            _ => owns_a_device(self.library, binding) && self.mode(id) != Mode::Trapped,
        };
        is_of_interest
            && must_have_its_destructor(binding)
            && (!is_plain || self.flow.counts_owners)
            && !closures_that_take(self.flow, id).any(is_reexecuted)
            && !binding.is_late()
            && !binding.is_synthetic()
            && (later.first..=later.last).any(|site| {
                let plan = &self.plan.sites[site as usize - 1];
                let moved = self.liveness.is_moved(self.flow, site, id);
                !plan.restores(id) && !moved && self.flow.sites[site as usize - 1].scope.contains(&id)
            })
    }

    /// The same for parameters passed by value which a site leaves out, as they may have been moved away or not, or are hidden: what is
    /// passed at a restart only stands in for them.
    pub(super) fn parameter_checks(&self) -> TokenStream {
        let rt = rt();
        let left_out = (0..self.flow.bindings.len()).filter(|id| self.is_parameter_left_out(*id));
        let checks = left_out.map(|id| {
            let (name, kept) = (&self.flow.bindings[id].ident, self.dead(id));
            let check = self.check_dead(id, &kept);
            quote_spanned!(self.own_span(id) => let #kept = #rt::Dead::of(&#name); #check)
        });
        checks.collect()
    }

    fn is_parameter_left_out(&self, id: BindingId) -> bool {
        let binding = &self.flow.bindings[id];
        let by_value = matches!(
            binding.declaration,
            Declaration::Parameter {
                passing: Passing::Value,
                ..
            }
        );
        by_value
            && must_have_its_destructor(binding)
            && (1..=self.plan.sites.len() as SiteId).any(|site| {
                !self.plan.sites[site as usize - 1].names(id) && !self.liveness.is_moved(self.flow, site, id)
            })
    }

    /// The same for variables declared without a value that get their first one in a run: the check looks at the type.
    pub(super) fn late_checks(&self, run: &Range<StepId>) -> TokenStream {
        let rt = rt();
        let late = (0..self.flow.bindings.len()).filter(|id| self.is_late_left_out(*id, run));
        let checks: Vec<_> = late
            .map(|id| {
                let (name, kept) = (&self.flow.bindings[id].ident, self.dead(id));
                let check = self.check_dead(id, &kept);
                quote_spanned! { self.own_span(id) =>
                    let #kept = #rt::Dead::unknown();
                    #[allow(unused_assignments)]
                    if false { #name = #kept.never(); }
                    #check
                }
            })
            .collect();
        quote!(#(#checks)*)
    }

    /// [`late_checks`](Self::late_checks) of a statement with a site that holds no other statements.
    pub(super) fn leaf_checks(&self, step: &Step, spine: &SpineStep) -> TokenStream {
        match spine.spine.is_leaf() {
            true => self.late_checks(&step.range),
            false => TokenStream::new(),
        }
    }

    fn is_late_left_out(&self, id: BindingId, run: &Range<StepId>) -> bool {
        let binding = &self.flow.bindings[id];
        let writes = self
            .flow
            .events()
            .filter(|event| event.binding == id && event.kind == Use::Write);
        let first = writes.map(|event| event.step).min();
        let left_out = |(index, at): (usize, &crate::cfg::SiteFlow)| {
            let site = index as SiteId + 1;
            at.scope.contains(&id)
                && !self.plan.sites[index].restores(id)
                && !self.liveness.is_moved(self.flow, site, id)
                && self.liveness.may_have_value(self.flow, site, id)
        };
        binding.is_late()
            && self.plan.strategies[id] == Strategy::Saved
            && must_have_its_destructor(binding)
            && self.mode(id) != Mode::Trapped
            && first.is_some_and(|first| run.contains(&first))
            && self.flow.sites.iter().enumerate().any(left_out)
    }

    /// For slots that stay empty because their variable is moved away at once: its type.
    pub(super) fn types_of_slots(&self, declared: &[BindingId]) -> TokenStream {
        let rt = rt();
        let empty = declared.iter().filter(|id| {
            self.mode(**id) == Mode::InSlot
                && !self.plan.option_slots.leaves(**id)
                && !self.flow.bindings[**id].is_late()
        });
        empty
            .map(|id| {
                let (name, out) = (&self.flow.bindings[*id].ident, self.out(*id));
                quote!(#rt::same_type(&#out, &#name);)
            })
            .collect()
    }

    /// The variables that are bound behind their run.
    pub(super) fn bind(&self, declared: &[BindingId]) -> TokenStream {
        let bound = declared.iter().map(|id| match self.mode(*id) {
            Mode::MovedOut => {
                let binding = &self.flow.bindings[*id];
                let (name, out) = (&binding.ident, self.out(*id));
                let mutability = binding.mutable.then(|| quote!(mut));
                quote!(let #mutability #name = #out;)
            }
            Mode::InSlot => self.bind_slot(*id),
            Mode::Late => self.declaration(*id),
            Mode::Deferred | Mode::Trapped => TokenStream::new(),
        });
        bound.collect()
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
            let waits = binding.is_late() && mode != Mode::InSlot;
            if mode == Mode::Trapped || waits && !written.contains(&id) {
                continue;
            }
            let target = match mode {
                Mode::MovedOut | Mode::InSlot => self.out(id),
                _ => name.clone(),
            };
            let given = |value: TokenStream| match mode {
                Mode::InSlot => quote!(#target = ::core::option::Option::Some(#value);),
                _ => quote!(#target = #value;),
            };
            match self.plan.strategies[id] {
                Strategy::Synthetic => tokens.extend(given(restart_value(steps, binding.step))),
                Strategy::Skipped => tokens.extend(given(quote!(::core::default::Default::default()))),
                Strategy::Saved => {
                    let condition = self.where_restored(id, later.first, later.last);
                    let restored = self.restoring(id, later.first, later.last, self.own_span(id));
                    let assignment = given(restored);
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
        let used_up = (0..self.flow.bindings.len()).filter(|id| self.is_used_up(*id, range));
        used_up.map(|id| self.put_away(id)).collect()
    }

    fn put_away(&self, id: BindingId) -> TokenStream {
        let (rt, name) = (rt(), &self.flow.bindings[id].ident);
        if self.is_refilled(id) {
            // It was made as in any run, and ends as it would there.
            return quote!(::core::mem::drop(#name););
        }
        quote! {{
            #[allow(unused_imports)]
            use #rt::{PutAwayAny as _, PutAwayInert as _};
            (&#rt::UsedUp::new(#name)).put_away();
        }}
    }

    /// A parameter that travels, from where the function begins. What only stands in at a restart is put away.
    pub(super) fn parameter_in_slot(&self, id: BindingId, value: &TokenStream) -> TokenStream {
        let (frame, out, bind) = (frame(), self.out(id), self.bind_slot(id));
        let used_up: Vec<_> = (1..=self.plan.sites.len() as SiteId)
            .filter(|site| !self.plan.sites[*site as usize - 1].names(id))
            .filter(|site| self.liveness.is_moved(self.flow, *site, id))
            .map(|site| quote!(#frame.enters(#site, #site)))
            .collect();
        let whole = quote!(::core::option::Option::Some(#value));
        if used_up.is_empty() {
            return quote!(let #out = #whole; #bind);
        }
        let put_away = self.put_away(id);
        quote! {
            let #out = if !#frame.runs() && (#(#used_up)||*) {
                #put_away
                ::core::option::Option::None
            } else {
                #whole
            };
            #bind
        }
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
        let is_moved = |point: Point| self.liveness.is_moved_at(self.flow, point, id);
        let begin = self.flow.points.get(&range.start).map(|(begin, _)| *begin);
        let end = self.plan.schedule.runs.end_of(self.flow, range);
        by_value
            && self.mode(id) != Mode::InSlot
            && !self.flow.bindings[id].is_plainly_copy()
            && !end.is_some_and(|end| self.liveness.is_live_at(self.flow, end, id))
            && !begin.is_some_and(is_moved)
            && end.is_some_and(is_moved)
    }

    /// Variables declared without a value that get one here.
    pub(super) fn late_initialised(&self, range: &Range<StepId>) -> Vec<BindingId> {
        (0..self.flow.bindings.len())
            .filter(|id| {
                let binding = &self.flow.bindings[*id];
                binding.is_late()
                    && matches!(
                        self.plan.schedule.crossings.modes.get(id),
                        Some(Mode::Deferred | Mode::Late)
                    )
                    && self.flow.events().any(|event| {
                        event.binding == *id && event.kind == Use::Write && range.contains(&event.step)
                    })
            })
            .collect()
    }
}

/// Whether the variable is a struct that borrows, which may have a destructor: `Guard(&name)`, `Timer { name, start }`.
fn makes_a_struct(binding: &Binding) -> bool {
    matches!(binding.init, Some(syn::Expr::Call(_) | syn::Expr::Struct(_)))
}

/// Whether nobody has said that the variable's destructor does not matter. One that is said to be saved, or to be used in
/// other branches only, is checked like others where a restart leaves it out.
fn must_have_its_destructor(binding: &Binding) -> bool {
    matches!(
        binding.treatment,
        None | Some(Treatment::Save | Treatment::Elsewhere)
    )
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
            crate::spine::for_each_block(&spine.spine, &mut |inner| {
                found = found.or_else(|| find_local(inner, wanted));
            });
            return found;
        }
    }
    None
}

/// The type of a variable in a pattern of a known type.
fn type_in(pattern: &Pat, ty: &syn::Type, name: &Ident) -> Option<syn::Type> {
    match (pattern, ty) {
        (Pat::Ident(one), ty) if one.ident == *name && one.by_ref.is_none() => Some(ty.clone()),
        (Pat::Paren(inner), ty) => type_in(&inner.pat, ty, name),
        (pattern, syn::Type::Paren(inner)) => type_in(pattern, &inner.elem, name),
        (Pat::Tuple(parts), syn::Type::Tuple(types)) if parts.elems.len() == types.elems.len() => {
            let has_rest = parts.elems.iter().any(|part| matches!(part, Pat::Rest(_)));
            let mut both = parts.elems.iter().zip(&types.elems);
            match has_rest {
                true => None,
                false => both.find_map(|(part, ty)| type_in(part, ty, name)),
            }
        }
        _ => None,
    }
}

fn inner_name(locals: &Locals, name: &Ident) -> Ident {
    names::made(format_args!("inner_{}", plain_text(&locals.written(name))))
}

struct Rename<'a>(&'a Locals, &'a [Ident]);

impl VisitMut for Rename<'_> {
    fn visit_pat_ident_mut(&mut self, pat: &mut PatIdent) {
        if self.1.contains(&pat.ident) {
            pat.ident = inner_name(self.0, &pat.ident);
            if pat.by_ref.is_none() {
                pat.mutability = None;
            }
        }
        visit::visit_pat_ident_mut(self, pat);
    }

    fn visit_field_pat_mut(&mut self, field: &mut syn::FieldPat) {
        visit::visit_field_pat_mut(self, field);
        let renamed = matches!((&*field.pat, &field.member), (Pat::Ident(ident), syn::Member::Named(name)) if ident.ident != *name);
        if renamed && field.colon_token.is_none() {
            field.colon_token = Some(syn::Token![:](Span::mixed_site()));
        }
    }
}
