//! Blocks: runs that a restart skips, statements that it repeats, statements that it enters.

use super::Emitter;
use crate::names::Locals;
use crate::names::{frame, lasting};
use crate::paths::rt;
use crate::plan::option_slots::Stop;
use crate::plan::{Segment, behind_the_sites};
use crate::spine::{Block, Plain, SiteId, Sites, SpineStep, Step, StepId, StepKind, Target};
use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use std::ops::Range;
use syn::{Local, Pat, Stmt};

impl Emitter<'_> {
    /// The statements of a block.
    pub(super) fn block(&self, block: &Block) -> TokenStream {
        let groups = self.plan.schedule.runs.segments(block);
        let is_spine = |group: &Segment<'_>| matches!(group, Segment::Spine(_));
        let last_spine = groups.iter().rposition(is_spine);
        let mut tokens = TokenStream::new();
        let guarded = last_spine.map_or(0, |last| last + 1);
        let is_of_session = self.is_outermost && std::ptr::eq(block, &self.lowered.body);
        let first_spine = groups.iter().position(is_spine).filter(|_| is_of_session);
        for (index, group) in groups[..guarded].iter().enumerate() {
            let later = later_sites(&groups[index + 1..]);
            if first_spine == Some(index) {
                let (lasting, rt) = (lasting(), rt());
                tokens.extend(quote!(let #lasting = #rt::lasting();));
            }
            tokens.extend(match (group, later) {
                (Segment::Item(step), _) => self.verbatim(step),
                (Segment::Reexecuted(step), _) => {
                    let stop = self.plan.option_slots.stop(step.range.start);
                    let (aliases, reexecuted) =
                        (self.aliases(step.range.start, &stop), self.reexecution(step));
                    quote!(#aliases #reexecuted)
                }
                (Segment::Run(steps), Some(later)) => self.guarded_run(steps, later),
                (Segment::Spine(step), later) => match (&step.kind, later) {
                    (StepKind::Spine(spine), Some(later)) => self.guarded_spine(step, spine, later),
                    (StepKind::Spine(spine), None) => self.final_spine(step, spine),
                    _ => TokenStream::new(),
                },
                (Segment::Run(_), None) => TokenStream::new(),
            });
        }
        let rest: Vec<&Step> = behind_the_sites(block).iter().collect();
        tokens.extend(self.last_run(&rest));
        tokens
    }

    /// Borrows of the variables that the step hides from sites which save them.
    fn aliases(&self, step: StepId, stop: &Stop) -> TokenStream {
        let found = self.plan.schedule.aliases.get(&step).into_iter().flatten();
        let found = found.filter(|alias| !stop.parked.contains(&alias.binding));
        found
            .map(|alias| {
                let (name, ident) = (&alias.ident, &self.flow.bindings[alias.binding].ident);
                let value = self.borrowed(alias.binding, ident);
                quote!(let #name = #value;)
            })
            .collect()
    }

    /// Statements that no restart skips.
    fn last_run(&self, steps: &[&Step]) -> TokenStream {
        let Some((last, before)) = steps.split_last() else {
            return TokenStream::new();
        };
        let stop = self.plan.option_slots.stop(steps[0].range.start);
        let (take, put) = (self.take(&stop), self.put(&stop.put));
        let before = before.iter().map(|step| self.verbatim(step));
        let (last, is_value) = (self.verbatim(last), is_tail(last));
        let late = self.late_checks(&span_of(steps));
        let put = quote!(#late #put);
        if is_value && !put.is_empty() && !self.hides(steps, &stop) {
            let end = self.then_put(last, is_value, put);
            return quote!(#take #(#before)* #end);
        }
        let whole = self.unhidden(steps, &stop, quote!(#(#before)* #last));
        let end = self.then_put(whole, is_value, put);
        quote!(#take #end)
    }

    fn guarded_run(&self, steps: &[&Step], later: Sites) -> TokenStream {
        let frame = frame();
        let range = span_of(steps);
        let stop = self.plan.option_slots.stop(range.start);
        let declared = self.declared_by(steps);
        let declarations = self.declarations(&declared);
        let (take, put) = (self.take(&stop), self.put(&stop.put));
        let statements: Vec<_> = steps
            .iter()
            .map(|step| {
                let statement = self.run_statement(step);
                let own = self.declared_by(&[step]);
                let (types, slots) = (self.types_of_dead(&own, later), self.types_of_slots(&own));
                quote!(#statement #types #slots)
            })
            .collect();
        let checks = self.destructor_checks(&declared, later);
        let (late, out) = (self.late_checks(&range), self.move_out(&declared));
        let inside = self.unhidden(steps, &stop, quote!(#(#statements)* #checks #late #out));
        let restores = self.restores(&declared, &range, later, steps);
        let otherwise = (!restores.is_empty()).then(|| quote!(else { #restores }));
        let aliases: Vec<_> = steps
            .iter()
            .map(|step| self.aliases(step.range.start, &stop))
            .collect();
        let bind = self.bind(&declared);
        quote! {
            #declarations
            if #frame.runs() { #take #inside #put } #otherwise
            #(#aliases)*
            #bind
        }
    }

    fn guarded_spine(&self, step: &Step, spine: &SpineStep, later: Sites) -> TokenStream {
        let frame = frame();
        let Sites { first, last } = spine.sites;
        let stop = self.plan.option_slots.stop(step.range.start);
        let declared = self.declared_by(&[step]);
        let declarations = self.declarations(&declared);
        let (take, put) = (self.take(&stop), self.put(&stop.put));
        let value = self.spine(step.range.start, &spine.spine);
        let statement = match &spine.target {
            Target::Let { local, .. } => self.assign(local, &value, step.range.start),
            Target::Statement(semicolon) => with_semicolon(value, *semicolon),
            Target::Tail => value,
        };
        let (types, slots) = (
            self.types_of_dead(&declared, later),
            self.types_of_slots(&declared),
        );
        let checks = self.destructor_checks(&declared, later);
        let (late, out) = (self.leaf_checks(step, spine), self.move_out(&declared));
        let inside = self.unhidden(
            &[step],
            &stop,
            quote!(#statement #types #slots #checks #late #out),
        );
        let restores = self.restores(&declared, &step.range, later, &[step]);
        let otherwise = (!restores.is_empty()).then(|| quote!(else { #restores }));
        let (before, behind) = match &spine.target {
            Target::Let { .. } => (TokenStream::new(), self.aliases(step.range.start, &stop)),
            _ => (self.aliases(step.range.start, &stop), TokenStream::new()),
        };
        let bind = self.bind(&declared);
        let moved = self.types_of_moved_to_region(&spine.spine);
        quote! {
            #before
            #declarations
            #moved
            if #frame.runs() || #frame.enters(#first, #last) { #take #inside #put } #otherwise
            #behind
            #bind
        }
    }

    fn final_spine(&self, step: &Step, spine: &SpineStep) -> TokenStream {
        let stop = self.plan.option_slots.stop(step.range.start);
        let (take, put) = (self.take(&stop), self.put(&stop.put));
        let (aliases, late) = (
            self.aliases(step.range.start, &stop),
            self.leaf_checks(step, spine),
        );
        let put = quote!(#late #put);
        let value = self.spine(step.range.start, &spine.spine);
        let statement = match &spine.target {
            Target::Let { local, .. } => {
                let Local { attrs, pat, .. } = &**local;
                let lint = added_by_ckpt(&self.flow.locals, pat).then(|| quote!(#[allow(unused_mut)]));
                let value = match put.is_empty() {
                    true => value,
                    false => {
                        let kept = self.then_put(value, true, put);
                        quote!({ #kept })
                    }
                };
                quote!(#lint #(#attrs)* let #pat = #value;)
            }
            Target::Statement(semicolon) => self.then_put(with_semicolon(value, *semicolon), false, put),
            Target::Tail => self.then_put(value, true, put),
        };
        let moved = self.types_of_moved_to_region(&spine.spine);
        quote!(#aliases #moved #take #statement)
    }

    /// The statement as the user wrote it, but for what travels.
    pub(super) fn verbatim(&self, step: &Step) -> TokenStream {
        match (&step.kind, self.with_jumps(step)) {
            (StepKind::Item(stmt), _) => stmt.to_token_stream(),
            (_, Some(stmt)) => match &stmt {
                Stmt::Local(local) if added_by_ckpt(&self.flow.locals, &local.pat) => {
                    quote!(#[allow(unused_mut)] #stmt)
                }
                _ => stmt.to_token_stream(),
            },
            _ => TokenStream::new(),
        }
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

fn added_by_ckpt(made: &Locals, pattern: &Pat) -> bool {
    matches!(pattern, Pat::Ident(one) if made.is_synthetic(&one.ident))
}

fn with_semicolon(value: TokenStream, semicolon: bool) -> TokenStream {
    if semicolon { quote!(#value;) } else { value }
}
