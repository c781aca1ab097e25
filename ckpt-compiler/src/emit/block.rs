//! Blocks: runs that a restart skips, statements that it repeats, statements that it enters.

use super::Emitter;
use crate::flow::BindingId;
use crate::names::frame;
use crate::plan::{Mode, Segment, segments};
use crate::spine::{Block, Plain, SiteId, Sites, SpineStep, Step, StepId, StepKind, Target};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote};
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
            if !guarded {
                // Taken for the rest of the block, unless an enclosing one has been given it back.
                let range = span_of(&steps_of(group));
                carried.retain(|id| outer.contains(id) || !self.is_used(*id, &range));
            }
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
        let Some((last, before)) = steps.split_last() else {
            return taken;
        };
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
                let own = self.declared_by(&[step]);
                let (types, slots) = (self.types_of_dead(&own, later), self.types_of_slots(&own, &range));
                quote!(#statement #types #slots)
            })
            .collect();
        let put = self.put_all(carried, &range);
        let checks = self.destructor_checks(&declared, later);
        let out = self.move_out(&declared, &range);
        let restores = self.restores(&declared, &range, later, steps);
        let otherwise = (!restores.is_empty()).then(|| quote!(else { #restores }));
        let bind = self.bind_moved(&declared, later);
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
        let out = self.move_out(&declared, &step.range);
        let restores = self.restores(&declared, &step.range, later, &[step]);
        let otherwise = (!restores.is_empty()).then(|| quote!(else { #restores }));
        let bind = self.bind_moved(&declared, later);
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
}

fn steps_of<'a>(group: &Segment<'a>) -> Vec<&'a Step> {
    match group {
        Segment::Item(step) | Segment::Replay(step) | Segment::Spine(step) => vec![*step],
        Segment::Run(steps) => steps.clone(),
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

pub(super) fn verbatim(step: &Step) -> TokenStream {
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
    matches!(
        &step.kind,
        StepKind::Plain(Plain {
            stmt: Stmt::Expr(_, None),
            ..
        })
    ) || matches!(&step.kind, StepKind::Plain(Plain { stmt: Stmt::Macro(one), .. }) if one.semi_token.is_none())
}

fn added_by_ckpt(pattern: &Pat) -> bool {
    matches!(pattern, Pat::Ident(ident) if ident.ident.to_string().starts_with("__ckpt"))
}

fn with_semicolon(value: TokenStream, semicolon: bool) -> TokenStream {
    if semicolon { quote!(#value;) } else { value }
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
