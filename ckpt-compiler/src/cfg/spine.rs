//! Walks the lowered tree; the statements between are left to [`super::expr`].

use super::expr::{Walker, moves_nothing};
use super::numbers::is_number_type;
use super::{Binding, BindingId, Declaration, Flow, NodeId, Passing, Point, SiteFlow, Use};
use crate::library::Library;
use crate::names::Locals;
use crate::parse::options::Treatment;
use crate::spine::{
    Arm, Block, Branch, Lowered, Plain, SiteId, Spine, SpineStep, Step, StepId, StepKind, Target,
};
use crate::syntax::language::{bound_trait, is_function_trait};
use crate::syntax::origins::{is_exclusive_type, is_reference_type};
use crate::syntax::patterns::pattern_bindings;
use crate::syntax::places::variable;
use crate::visit::Visit;
use proc_macro2::Ident;
use syn::{
    Expr, FnArg, Generics, Lifetime, Pat, Signature, Stmt, Type, TypeReference, TypeTraitObject, parse_quote,
};

/// Builds the graph of a lowered function.
pub fn build(
    library: &Library,
    signature: &Signature,
    lowered: &Lowered,
    treatments: &[Option<Treatment>],
    locals: Locals,
    counts_owners: bool,
) -> Flow {
    let mut walker = Walker::new(library);
    walker.flow.locals = locals;
    walker.flow.counts_owners = counts_owners;
    walker.flow.sites = lowered
        .sites
        .iter()
        .map(|_| SiteFlow {
            node: 0,
            step: 0,
            scope: Vec::new(),
        })
        .collect();
    let lent = lowered.filled_loans.iter();
    let locals = &walker.flow.locals;
    let lent = lent.filter_map(|part| Some((locals.id(&part.value)?, locals.id(&part.base)?)));
    walker.flow.filled_loans = lent.collect();
    let locals = &walker.flow.locals;
    let copied = lowered.copied_contents.iter();
    let copied = copied.filter_map(|(value, of)| Some((locals.id(value)?, locals.id(of)?)));
    walker.flow.copied_contents = copied.collect();
    walker.enter();
    parameters(&mut walker, signature, treatments);
    walker.block(&lowered.body);
    walker.flow
}

fn parameters(walker: &mut Walker<'_>, signature: &Signature, treatments: &[Option<Treatment>]) {
    for (index, argument) in signature.inputs.iter().enumerate() {
        let treatment = treatments.get(index).copied().flatten();
        let (bindings, passing, whole, ty) = match argument {
            FnArg::Receiver(receiver) => {
                let passing = match (&receiver.reference, receiver.mutability) {
                    (Some(_), Some(_)) => Passing::Exclusive,
                    (Some(_), None) => Passing::Shared,
                    (None, _) => Passing::Value,
                };
                let ident = Ident::new("self", receiver.self_token.span);
                (
                    vec![(
                        ident,
                        receiver.reference.is_none() && receiver.mutability.is_some(),
                    )],
                    passing,
                    true,
                    None,
                )
            }
            FnArg::Typed(typed) => {
                let bindings = pattern_bindings(&walker.flow.locals, &typed.pat);
                let whole = matches!(&*typed.pat, Pat::Ident(ident) if ident.by_ref.is_none());
                let bindings = bindings
                    .into_iter()
                    .map(|one| (one.ident, one.mutability.is_some()))
                    .collect();
                (
                    bindings,
                    passing(&typed.ty, whole, &signature.generics),
                    whole,
                    Some((*typed.ty).clone()),
                )
            }
        };
        for (ident, mutable) in bindings {
            let declaration = Declaration::Parameter {
                index: index as u32,
                passing,
                whole,
            };
            let passed = match treatment {
                Some(Treatment::Save) => Declaration::Parameter {
                    index: index as u32,
                    passing: Passing::Value,
                    whole,
                },
                Some(Treatment::Serde | Treatment::Refill | Treatment::Parts) | None => declaration,
                Some(_) => Declaration::Parameter {
                    index: index as u32,
                    passing: Passing::Given,
                    whole,
                },
            };
            let binding = Binding {
                treatment,
                is_number: ty.as_ref().is_some_and(is_number_type),
                ty: ty.clone(),
                ..walker.named(&ident, mutable, passed)
            };
            walker.declare(binding);
        }
    }
}

fn passing(ty: &Type, whole: bool, generics: &Generics) -> Passing {
    if is_exclusive_type(ty) {
        return if matches!(ty, Type::Reference(_)) {
            Passing::Exclusive
        } else {
            Passing::Given
        };
    }
    if whole && is_offered(ty) {
        Passing::Shared
    } else if is_reference_type(ty, false) || is_closure_parameter(ty, generics) {
        Passing::Given
    } else {
        Passing::Value
    }
}

/// Whether a `&T` may be offered: not where there are lifetimes in `T`, for `&'static str` can be saved, and rustc would
/// take a shorter one for it.
fn is_offered(ty: &Type) -> bool {
    struct Lifetimes(bool);
    impl<'ast> Visit<'ast> for Lifetimes {
        fn visit_type_reference(&mut self, _: &'ast TypeReference) {
            self.0 = true;
        }
        fn visit_type_trait_object(&mut self, _: &'ast TypeTraitObject) {
            self.0 = true;
        }
        fn visit_lifetime(&mut self, _: &'ast Lifetime) {
            self.0 = true;
        }
    }
    let Type::Reference(reference) = ty else {
        return false;
    };
    let mut found = Lifetimes(false);
    found.visit_type(&reference.elem);
    !found.0
}

/// Whether the type is a generic parameter bounded by `Fn`, `FnMut` or `FnOnce`.
fn is_closure_parameter(ty: &Type, generics: &Generics) -> bool {
    let Type::Path(path) = ty else { return false };
    let Some(name) = path.path.get_ident() else {
        return false;
    };
    let is_fn = |bound: &syn::TypeParamBound| bound_trait(bound).is_some_and(is_function_trait);
    let inline = generics
        .type_params()
        .any(|one| one.ident == *name && one.bounds.iter().any(is_fn));
    let in_where = generics
        .where_clause
        .iter()
        .flat_map(|clause| &clause.predicates)
        .any(|predicate| {
            matches!(predicate, syn::WherePredicate::Type(one)
            if matches!(&one.bounded_ty, Type::Path(path) if path.path.is_ident(name))
            && one.bounds.iter().any(is_fn))
        });
    inline || in_where
}

impl Walker<'_> {
    pub(super) fn block(&mut self, block: &Block) {
        self.enter();
        for step in &block.steps {
            self.spine_stmt(step);
        }
        self.leave();
    }

    fn point(&self) -> Point {
        Point {
            node: self.here,
            event: self.flow.nodes[self.here].events.len(),
        }
    }

    fn spine_stmt(&mut self, step: &Step) {
        let begin = self.point();
        self.in_step(step);
        let end = self.point();
        self.flow.points.insert(step.range.start, (begin, end));
    }

    fn in_step(&mut self, step: &Step) {
        self.step = step.range.start;
        match &step.kind {
            StepKind::Item(Stmt::Item(item)) => self.item(item),
            StepKind::Item(_) => {}
            StepKind::Plain(plain) => self.plain(plain),
            StepKind::Spine(spine) => {
                let start = step.range.start;
                self.spine(&spine.spine, start);
                self.step = start;
                self.target(spine);
            }
        }
    }

    fn plain(&mut self, plain: &Plain) {
        let Stmt::Local(local) = &plain.stmt else {
            self.stmt(&plain.stmt);
            return;
        };
        let from = self.log.len();
        self.local_init(local);
        let inputs = self.logged(from);
        let (pattern, ty) = typed_pattern(&local.pat);
        let init = local.init.as_ref().map(|init| (*init.expr).clone());
        let written = init.is_some();
        for one in pattern_bindings(&self.flow.locals, pattern) {
            let is_number = self.binds_number(&one.ident, pattern, ty, init.as_ref());
            let init = init.as_ref().map(|init| self.made_from(&one, pattern, init));
            let binding = Binding {
                treatment: plain.treatment,
                ty: ty.cloned(),
                init,
                reexecutes: plain.reexecutes,
                has_restart: plain.restart.is_some(),
                conditional: local
                    .attrs
                    .iter()
                    .any(|attribute| attribute.path().is_ident("cfg")),
                is_number,
                inputs: inputs.clone(),
                ..self.binding(&one, Declaration::Let)
            };
            self.declare_let(binding, written);
        }
    }

    fn made_from(&self, one: &syn::PatIdent, pattern: &Pat, init: &Expr) -> Expr {
        match init {
            // A `while let` as the compiler has taken it apart.
            Expr::If(branch) if branch.else_branch.is_some() => match &*branch.cond {
                Expr::Let(condition) => {
                    let bound = pattern_bindings(&self.flow.locals, &condition.pat);
                    let bound = bound.iter().find(|other| other.ident == one.ident);
                    self.borrowed_by(bound.unwrap_or(one), &condition.pat, &condition.expr)
                }
                _ => init.clone(),
            },
            _ => self.borrowed_by(one, pattern, init),
        }
    }

    /// What a variable of a pattern is made from: a borrow where it is bound by `ref`, or by a pattern that looks through
    /// a `&mut` parameter.
    fn borrowed_by(&self, one: &syn::PatIdent, pattern: &Pat, value: &Expr) -> Expr {
        let through = |expr| variable(expr).and_then(|name| self.resolve(name));
        let is_exclusive = |id: usize| {
            matches!(
                self.flow.bindings[id].declaration,
                Declaration::Parameter {
                    passing: Passing::Exclusive,
                    ..
                }
            )
        };
        match (one.by_ref.is_some(), one.mutability.is_some()) {
            (true, true) => parse_quote!(&mut #value),
            (true, false) => parse_quote!(&#value),
            _ if !matches!(pattern, Pat::Ident(_)) && through(value).is_some_and(is_exclusive) => {
                parse_quote!(&mut *#value)
            }
            _ => value.clone(),
        }
    }

    fn target(&mut self, spine: &SpineStep) {
        let Target::Let {
            local,
            treatment,
            restart,
        } = &spine.target
        else {
            return;
        };
        let (pattern, ty) = typed_pattern(&local.pat);
        for one in pattern_bindings(&self.flow.locals, pattern) {
            let binding = Binding {
                is_number: self.binds_number(&one.ident, pattern, ty, None),
                treatment: *treatment,
                ty: ty.cloned(),
                from_spine: true,
                has_restart: restart.is_some(),
                ..self.binding(&one, Declaration::Let)
            };
            self.declare_let(binding, true);
        }
    }

    fn site(&mut self, site: SiteId, step: usize) {
        let node = self.here;
        let scope = self.in_scope();
        self.flow.sites[site as usize - 1] = SiteFlow { node, step, scope };
        let after = self.node();
        self.edge(node, after);
        self.here = after;
    }

    fn spine(&mut self, spine: &Spine, step: usize) {
        match spine {
            Spine::Site(site) => self.site(*site, step),
            Spine::Call { site, call } => {
                let from = self.log.len();
                self.expr(call);
                let used = self.logged(from);
                self.flow.arguments.push((*site, used));
                self.site(*site, step);
            }
            Spine::Block { label, block, .. } => {
                let after = self.node();
                self.flow.targets.insert(step, (after, after));
                self.jumped_to(label.as_ref(), None, after, block);
                let here = self.here;
                self.edge(here, after);
                self.here = after;
            }
            Spine::If {
                condition,
                then,
                otherwise,
            } => {
                self.name(condition, Use::Read);
                let start = self.here;
                let end = self.node();
                self.branch_from(start, end, then);
                match otherwise {
                    Some(branch) => self.branch_from(start, end, branch),
                    None => self.edge(start, end),
                }
                self.here = end;
            }
            Spine::Match {
                scrutinee,
                arms,
                reexecutes,
            } => self.choice(step, scrutinee, arms, *reexecutes),
            Spine::Loop { label, body } => {
                let (head, after) = (self.node(), self.node());
                self.flow.targets.insert(step, (head, after));
                let here = self.here;
                self.edge(here, head);
                self.here = head;
                self.jumped_to(label.as_ref(), Some(head), after, body);
                let here = self.here;
                self.edge(here, head);
                self.here = after;
            }
            Spine::Context { inner, around } => {
                self.spine(inner, step);
                self.step = step;
                let before = self.point();
                self.flow.contexts.insert(step, before);
                self.expr(around);
            }
            Spine::Jump { prefix, value } => {
                self.spine(value, step);
                self.jump_tokens(prefix);
            }
        }
    }

    /// A block that `break` and, where it is a loop, `continue` lead out of.
    fn jumped_to(
        &mut self,
        label: Option<&syn::Label>,
        to_continue: Option<NodeId>,
        to_break: NodeId,
        block: &Block,
    ) {
        self.loops.push(super::expr::Jumps {
            label: label.map(|label| label.name.ident.to_string()),
            to_break,
            to_continue,
        });
        self.block(block);
        self.loops.pop();
    }

    /// A `match`; one that is re-executed is matched again at restart, so its scrutinee is looked at and not taken.
    fn choice(&mut self, step: StepId, scrutinee: &Expr, arms: &[Arm], reexecutes: bool) {
        let from = self.log.len();
        match reexecutes {
            true if arms
                .iter()
                .any(|arm| !moves_nothing(&self.flow.locals, &arm.pattern)) =>
            {
                self.scrutinee(scrutinee, false);
            }
            true => self.stays(scrutinee, Use::Read),
            false => self.scrutinee(scrutinee, true),
        }
        let inputs = self.logged(from);
        self.lends_to(scrutinee, arms.iter().map(|arm| &arm.pattern));
        if reexecutes {
            let used = inputs.iter().map(|(binding, _)| *binding).collect();
            self.flow.reexecuted.push((step, used));
        }
        let start = self.here;
        let end = self.node();
        for arm in arms {
            self.here = self.node();
            let here = self.here;
            self.edge(start, here);
            self.enter();
            self.step = step;
            self.bind_arm(arm, scrutinee, reexecutes, &inputs);
            if let Some(guard) = &arm.guard {
                self.expr(guard);
            }
            self.block(&arm.body.block);
            self.leave();
            let here = self.here;
            self.edge(here, end);
        }
        self.here = end;
    }

    fn bind_arm(&mut self, arm: &Arm, scrutinee: &Expr, reexecutes: bool, inputs: &[(BindingId, Use)]) {
        for one in pattern_bindings(&self.flow.locals, &arm.pattern) {
            let init = self.borrowed_by(&one, &arm.pattern, scrutinee);
            if reexecutes {
                let looked_at = (scrutinee.clone(), arm.pattern.clone());
                self.flow.arms.insert(self.flow.bindings.len(), looked_at);
            }
            let declaration = match reexecutes {
                true => Declaration::Arm,
                false => Declaration::Inner,
            };
            let binding = Binding {
                is_number: self.binds_number(&one.ident, &arm.pattern, None, Some(&init)),
                init: Some(init),
                reexecutes,
                inputs: inputs.to_vec(),
                ..self.binding(&one, declaration)
            };
            self.declare_let(binding, true);
        }
    }

    fn branch_from(&mut self, start: usize, end: usize, branch: &Branch) {
        self.here = self.node();
        let here = self.here;
        self.edge(start, here);
        self.block(&branch.block);
        let here = self.here;
        self.edge(here, end);
    }
}

fn typed_pattern(pattern: &Pat) -> (&Pat, Option<&Type>) {
    match pattern {
        Pat::Type(typed) => (&typed.pat, Some(&typed.ty)),
        other => (other, None),
    }
}
