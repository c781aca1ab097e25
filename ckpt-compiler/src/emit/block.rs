//! Blocks: runs that a restart skips, statements that it repeats, statements that it enters.

use super::Emitter;
use crate::classes::Class;
use crate::flow::{BindingId, SiteFlow, Use};
use crate::names::frame;
use crate::paths::rt;
use crate::plan::{Mode, Segment, SitePlan, segments};
use crate::spine::{Block, Plain, SiteId, Sites, SpineStep, Step, StepId, StepKind, Target};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use std::ops::Range;
use syn::visit_mut::{self, VisitMut};
use syn::{Local, Pat, PatIdent, Stmt};

impl Emitter<'_> {
    /// The statements of a block. `carried` are the variables of enclosing blocks that travel as options here.
    pub(super) fn block(&self, block: &Block, carried: &[BindingId]) -> TokenStream {
        let groups = segments(block, &self.plan.replays, &|step| self.plan.begins_a_run(step));
        let outer = carried.to_vec();
        let last_spine = groups
            .iter()
            .rposition(|group| matches!(group, Segment::Spine(_)));
        let mut carried = carried.to_vec();
        let mut tokens = TokenStream::new();
        for (index, group) in groups.iter().enumerate() {
            let guarded = last_spine.is_some_and(|last| index < last);
            tokens.extend(self.aliases_before(group));
            let later = later_sites(&groups[index + 1..]);
            tokens.extend(match group {
                Segment::Item(step) => verbatim(step),
                Segment::Replay(step) => self.replay(step),
                Segment::Run(steps) => match later.filter(|_| guarded) {
                    Some(later) => self.guarded_run(steps, later, &mut carried),
                    None => self.last_run(steps, &carried, &outer),
                },
                Segment::Spine(step) => {
                    let StepKind::Spine(spine) = &step.kind else {
                        continue;
                    };
                    match later.filter(|_| guarded) {
                        Some(later) => self.guarded_spine(step, spine, later, &mut carried),
                        None => self.final_spine(step, spine, &carried, &outer),
                    }
                }
            });
        }
        tokens
    }

    fn aliases_before(&self, group: &Segment<'_>) -> TokenStream {
        let step = match group {
            Segment::Item(step) | Segment::Replay(step) | Segment::Spine(step) => step,
            Segment::Run(steps) => steps[0],
        };
        let found = self.plan.aliases.get(&step.range.start).into_iter().flatten();
        found
            .map(|alias| {
                let (name, ident) = (&alias.ident, &self.flow.bindings[alias.binding].ident);
                let value = self.borrowed(alias.binding, ident);
                quote!(let #name = #value;)
            })
            .collect()
    }

    /// Required-execution code. Exclusive references that end at a site are assigned again, so they must be mutable.
    fn replay(&self, step: &Step) -> TokenStream {
        let StepKind::Plain(plain) = &step.kind else {
            return TokenStream::new();
        };
        let remade = self.plan.sites.iter().flat_map(|site| &site.remade);
        let remade = remade
            .into_iter()
            .any(|id| self.flow.bindings[*id].step == step.range.start);
        let mut stmt = plain.stmt.clone();
        if !remade {
            return stmt.to_token_stream();
        }
        if let Stmt::Local(local) = &mut stmt {
            MakeMutable.visit_pat_mut(&mut local.pat);
        }
        let homes = self.homes(step.range.start);
        quote!(#[allow(unused_mut, unused_assignments)] #stmt #homes)
    }

    /// Statements that no restart skips. What travels through an enclosing block is put back for it.
    fn last_run(&self, steps: &[&Step], carried: &[BindingId], outer: &[BindingId]) -> TokenStream {
        let range = span_of(steps);
        let taken = self.take_all(carried, &range);
        let put = self.put_all(outer, &range);
        let Some((last, before)) = steps.split_last() else { return taken };
        let before = before.iter().map(|step| verbatim(step));
        let end = self.then_put(verbatim(last), is_tail(last), put);
        quote!(#taken #(#before)* #end)
    }

    /// A statement, and after it what puts variables back; a value of the block is kept meanwhile.
    fn then_put(&self, statement: TokenStream, is_value: bool, put: TokenStream) -> TokenStream {
        if put.is_empty() || !is_value {
            return quote!(#statement #put);
        }
        let value = Ident::new("__ckpt_value", Span::mixed_site());
        quote!(let #value = #statement; #put #value)
    }

    fn guarded_run(&self, steps: &[&Step], later: Sites, carried: &mut Vec<BindingId>) -> TokenStream {
        let frame = frame();
        let range = span_of(steps);
        let declared = self.declared_by(steps);
        let declarations = self.declarations(&declared);
        let taken = self.take_all(carried, &range);
        let statements: Vec<_> = steps
            .iter()
            .map(|step| {
                let statement = self.run_statement(step);
                let types = self.types_of_dead(&self.declared_by(&[step]), later);
                quote!(#statement #types)
            })
            .collect();
        let put = self.put_all(carried, &range);
        let checks = self.destructor_checks(&declared, later);
        let out = self.move_out(&declared);
        let restores = self.restores(&declared, &range, later, steps);
        let otherwise = (!restores.is_empty()).then(|| quote!(else { #restores }));
        let bind = self.bind_moved(&declared);
        carried.extend(
            declared
                .iter()
                .copied()
                .filter(|id| self.mode(*id) == Mode::Carried),
        );
        quote! {
            #declarations
            if #frame.runs() { #taken #(#statements)* #put #checks #out } #otherwise
            #bind
        }
    }

    fn guarded_spine(
        &self,
        step: &Step,
        spine: &SpineStep,
        later: Sites,
        carried: &mut Vec<BindingId>,
    ) -> TokenStream {
        let frame = frame();
        let Sites { first, last } = spine.sites;
        let declared = self.declared_by(&[step]);
        let declarations = self.declarations(&declared);
        let (taken, inner, put) = self.carry_into(step, spine, carried);
        let value = self.spine(&spine.spine, &inner);
        let statement = match &spine.target {
            Target::Let { local, .. } => self.assign(local, &value, step.range.start),
            Target::Statement(semicolon) => with_semicolon(value, *semicolon),
            Target::Tail => value,
        };
        let types = self.types_of_dead(&declared, later);
        let checks = self.destructor_checks(&declared, later);
        let out = self.move_out(&declared);
        let restores = self.restores(&declared, &step.range, later, &[step]);
        let otherwise = (!restores.is_empty()).then(|| quote!(else { #restores }));
        let bind = self.bind_moved(&declared);
        carried.extend(
            declared
                .iter()
                .copied()
                .filter(|id| self.mode(*id) == Mode::Carried),
        );
        quote! {
            #declarations
            if #frame.runs() || #frame.enters(#first, #last) { #taken #statement #put #types #checks #out } #otherwise
            #bind
        }
    }

    fn final_spine(
        &self,
        step: &Step,
        spine: &SpineStep,
        carried: &[BindingId],
        outer: &[BindingId],
    ) -> TokenStream {
        let (taken, inner, _) = self.carry_into(step, spine, carried);
        let whole: Vec<BindingId> = outer.iter().copied().filter(|id| !inner.contains(id)).collect();
        let put = self.put_all(&whole, &step.range);
        let value = self.spine(&spine.spine, &inner);
        let statement = match &spine.target {
            Target::Let { local, .. } => {
                let Local { attrs, pat, .. } = &**local;
                let lint = added_by_ckpt(pat).then(|| quote!(#[allow(unused_mut)]));
                quote!(#lint #(#attrs)* let #pat = #value;)
            }
            Target::Statement(semicolon) => with_semicolon(value, *semicolon),
            Target::Tail => value,
        };
        let statement = self.then_put(statement, matches!(spine.target, Target::Tail), put);
        quote!(#taken #statement)
    }

    /// The variables declared by the steps that this block goes on with.
    fn declared_by(&self, steps: &[&Step]) -> Vec<BindingId> {
        let starts: Vec<StepId> = steps.iter().map(|step| step.range.start).collect();
        let of_steps = |id: &BindingId| starts.contains(&self.flow.bindings[*id].step);
        (0..self.flow.bindings.len())
            .filter(of_steps)
            .filter(|id| self.plan.modes.contains_key(id))
            .collect()
    }

    fn mode(&self, id: BindingId) -> Mode {
        self.plan.modes.get(&id).copied().unwrap_or(Mode::Trapped)
    }

    fn declarations(&self, declared: &[BindingId]) -> TokenStream {
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
                    tokens.extend(quote!(#lint let #mutability #name #ty;));
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

    /// The written type, where the pattern is the variable alone.
    fn whole_type(&self, id: BindingId) -> Option<syn::Type> {
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

    fn run_statement(&self, step: &Step) -> TokenStream {
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
    fn assign(&self, local: &Local, value: &TokenStream, step: StepId) -> TokenStream {
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

    fn declared_in(&self, step: StepId) -> impl Iterator<Item = BindingId> {
        (0..self.flow.bindings.len())
            .filter(move |id| self.flow.bindings[*id].step == step && self.plan.modes.contains_key(id))
    }

    /// The pattern with other names for the variables declared outside, and the assignments from those names.
    fn renamed(&self, local: &Local, step: StepId) -> (Pat, TokenStream) {
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

    fn out(&self, id: BindingId) -> Ident {
        format_ident!(
            "__ckpt_out_{}_{}",
            plain_text(&self.flow.bindings[id].ident),
            id,
            span = Span::mixed_site()
        )
    }

    fn dead(&self, id: BindingId) -> Ident {
        format_ident!(
            "__ckpt_dead_{}_{}",
            plain_text(&self.flow.bindings[id].ident),
            id,
            span = Span::mixed_site()
        )
    }

    fn slot(&self, id: BindingId) -> Ident {
        format_ident!(
            "__ckpt_slot_{}_{}",
            plain_text(&self.flow.bindings[id].ident),
            id,
            span = Span::mixed_site()
        )
    }

    fn move_out(&self, declared: &[BindingId]) -> TokenStream {
        let mut tokens = TokenStream::new();
        for &id in declared {
            let name = &self.flow.bindings[id].ident;
            match self.mode(id) {
                Mode::MovedOut => {
                    let out = self.out(id);
                    tokens.extend(quote!(#out = #name;));
                }
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
    fn types_of_dead(&self, declared: &[BindingId], later: Sites) -> TokenStream {
        let rt = rt();
        let dead = declared.iter().filter(|id| self.is_left_out(**id, later));
        dead.map(|id| {
            let (name, kept) = (&self.flow.bindings[*id].ident, self.dead(*id));
            quote_spanned!(self.own_span(*id) => let #kept = #rt::Dead::of(&#name);)
        })
        .collect()
    }

    /// Checks that the variables which a restart leaves out have no destructor to be missed.
    fn destructor_checks(&self, declared: &[BindingId], later: Sites) -> TokenStream {
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
    fn is_left_out(&self, id: BindingId, later: Sites) -> bool {
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
                let moved = self.liveness.may_be_moved(self.flow, site, id);
                !plan.restores(id) && !moved && self.flow.sites[site as usize - 1].scope.contains(&id)
            })
    }

    fn bind_moved(&self, declared: &[BindingId]) -> TokenStream {
        let moved = declared.iter().filter(|id| self.mode(**id) == Mode::MovedOut);
        moved
            .map(|id| {
                let binding = &self.flow.bindings[*id];
                let (name, out) = (&binding.ident, self.out(*id));
                let mutability = binding.mutable.then(|| quote!(mut));
                quote!(let #mutability #name = #out;)
            })
            .collect()
    }

    /// What a restart does instead of a run.
    fn restores(
        &self,
        declared: &[BindingId],
        range: &Range<StepId>,
        later: Sites,
        steps: &[&Step],
    ) -> TokenStream {
        let frame = frame();
        let mut tokens = TokenStream::new();
        let written = self.late_initialised(range);
        for &id in declared
            .iter()
            .chain(written.iter().filter(|id| !declared.contains(id)))
        {
            let binding = &self.flow.bindings[id];
            let (name, key, mode) = (&binding.ident, self.key(id), self.mode(id));
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
                    let restored = quote_spanned!(self.own_span(id) => #frame.restore(#key));
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

    /// Variables declared without a value that get one here.
    fn late_initialised(&self, range: &Range<StepId>) -> Vec<BindingId> {
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

    /// Takes the carried variables that a stretch of the function uses.
    fn take_all(&self, carried: &[BindingId], range: &Range<StepId>) -> TokenStream {
        let rt = rt();
        let used = carried.iter().filter(|id| self.is_used(**id, range));
        used.map(|id| {
            let (name, slot) = (&self.flow.bindings[*id].ident, self.slot(*id));
            quote!(#[allow(unused_mut)] let mut #name = #rt::take(&mut #slot);)
        })
        .collect()
    }

    /// Puts the carried variables back that are used again, or have a scope to live to the end of.
    fn put_all(&self, carried: &[BindingId], range: &Range<StepId>) -> TokenStream {
        let used = carried.iter().filter(|id| self.is_used(**id, range));
        used.filter(|id| {
            let moved = self
                .flow
                .events()
                .any(|event| event.binding == **id && event.kind == Use::Move && range.contains(&event.step));
            let again = self
                .flow
                .events()
                .any(|event| event.binding == **id && event.step >= range.end);
            !moved || again
        })
        .map(|id| {
            let (name, slot) = (&self.flow.bindings[*id].ident, self.slot(*id));
            quote!(#slot = ::core::option::Option::Some(#name);)
        })
        .collect()
    }

    fn is_used(&self, id: BindingId, range: &Range<StepId>) -> bool {
        let mut sites = self.flow.sites.iter().zip(&self.plan.sites);
        let saved = |(flow, plan): (&SiteFlow, &SitePlan)| range.contains(&flow.step) && plan.restores(id);
        sites.any(saved)
            || self
                .flow
                .events()
                .any(|event| event.binding == id && range.contains(&event.step))
    }

    /// Carried variables that every site of a statement has are taken for all of it; the others inside, where needed.
    fn carry_into(
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

fn span_of(steps: &[&Step]) -> Range<StepId> {
    steps[0].range.start..steps[steps.len() - 1].range.end
}

fn later_sites(groups: &[Segment<'_>]) -> Option<Sites> {
    let mut sites = groups.iter().filter_map(|group| match group {
        Segment::Spine(Step {
            kind: StepKind::Spine(spine),
            ..
        }) => Some(spine.sites),
        _ => None,
    });
    let first: SiteId = sites.next().map(|sites| sites.first)?;
    let last = groups.iter().rev().find_map(|group| match group {
        Segment::Spine(Step {
            kind: StepKind::Spine(spine),
            ..
        }) => Some(spine.sites.last),
        _ => None,
    })?;
    Some(Sites { first, last })
}

fn verbatim(step: &Step) -> TokenStream {
    match &step.kind {
        StepKind::Item(stmt) => stmt.to_token_stream(),
        StepKind::Plain(Plain {
            stmt: stmt @ Stmt::Local(local),
            ..
        }) if added_by_ckpt(&local.pat) => {
            quote!(#[allow(unused_mut)] #stmt)
        }
        StepKind::Plain(plain) => plain.stmt.to_token_stream(),
        StepKind::Spine(_) => TokenStream::new(),
    }
}

/// Whether the statement is the value of its block.
fn is_tail(step: &Step) -> bool {
    matches!(&step.kind, StepKind::Plain(Plain { stmt: Stmt::Expr(_, None), .. }))
        || matches!(&step.kind, StepKind::Plain(Plain { stmt: Stmt::Macro(one), .. }) if one.semi_token.is_none())
}

fn added_by_ckpt(pattern: &Pat) -> bool {
    matches!(pattern, Pat::Ident(ident) if ident.ident.to_string().starts_with("__ckpt"))
}

fn with_semicolon(value: TokenStream, semicolon: bool) -> TokenStream {
    if semicolon { quote!(#value;) } else { value }
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
        if field.colon_token.is_none() {
            field.colon_token = Some(syn::Token![:](Span::mixed_site()));
        }
        visit_mut::visit_field_pat_mut(self, field);
    }
}

struct MakeMutable;

impl VisitMut for MakeMutable {
    fn visit_pat_ident_mut(&mut self, pat: &mut PatIdent) {
        if pat.by_ref.is_none() && crate::spine::select::is_binding(pat) {
            pat.mutability.get_or_insert(syn::Token![mut](Span::mixed_site()));
        }
        visit_mut::visit_pat_ident_mut(self, pat);
    }
}
