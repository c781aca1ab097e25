//! What a call that leads to a site borrows, and so keeps this function from saving itself.

use crate::borrow::place_root;
use crate::classes::Class;
use crate::errors::Diagnostics;
use crate::flow::{BindingId, Flow};
use crate::liveness::Liveness;
use crate::spine::{Block, Lowered, SiteId, Spine, StepKind};
use std::collections::HashMap;
use syn::{Expr, UnOp};

/// For every call site, the variables that live in a parameter of the callee during the call.
pub type Lends = HashMap<SiteId, Vec<Lend>>;

/// A variable that lives in a parameter of the callee during the call.
#[derive(Debug, Clone, Copy)]
pub struct Lend {
    /// The variable.
    pub binding: BindingId,
    /// The callee's parameter.
    pub parameter: u32,
    /// Whether it is passed by value.
    pub by_value: bool,
}

/// Finds what the calls lend.
pub fn lends(
    lowered: &Lowered,
    flow: &Flow,
    liveness: &Liveness,
    classes: &[Class],
    errors: &mut Diagnostics,
) -> Lends {
    let mut finder = Finder {
        flow,
        liveness,
        classes,
        errors,
        lends: HashMap::new(),
    };
    finder.block(&lowered.body);
    finder.lends
}

struct Finder<'a> {
    flow: &'a Flow,
    liveness: &'a Liveness,
    classes: &'a [Class],
    errors: &'a mut Diagnostics,
    lends: Lends,
}

impl Finder<'_> {
    fn block(&mut self, block: &Block) {
        for step in &block.steps {
            if let StepKind::Spine(spine) = &step.kind {
                self.spine(&spine.spine);
            }
        }
    }

    fn spine(&mut self, spine: &Spine) {
        match spine {
            Spine::Site(_) => {}
            Spine::Call { site, call } => self.call(*site, call),
            Spine::Block { block, .. } | Spine::Loop { body: block, .. } => self.block(block),
            Spine::If { then, otherwise, .. } => {
                self.block(&then.block);
                otherwise.iter().for_each(|branch| self.block(&branch.block));
            }
            Spine::Match { arms, .. } => arms.iter().for_each(|arm| self.block(&arm.body.block)),
            Spine::Context { inner, .. } | Spine::Jump { value: inner, .. } => self.spine(inner),
        }
    }

    fn call(&mut self, site: SiteId, call: &Expr) {
        let mut operands: Vec<(&Expr, bool)> = Vec::new();
        match call {
            Expr::MethodCall(call) => {
                operands.push((&call.receiver, true));
                operands.extend(call.args.iter().map(|argument| (argument, false)));
            }
            Expr::Call(call) => operands.extend(call.args.iter().map(|argument| (argument, false))),
            _ => {}
        }
        let mut found = Vec::new();
        for (index, (operand, is_receiver)) in operands.into_iter().enumerate() {
            if let Some(binding) = self.operand(site, operand, is_receiver) {
                let mutable = self.flow.bindings[binding].mutable;
                let by_value = matches!(operand, Expr::Path(_)) && !(is_receiver && mutable);
                found.push(Lend {
                    binding,
                    parameter: index as u32,
                    by_value,
                });
            }
        }
        self.lends.insert(site, found);
    }

    /// The variable that an operand lends as a whole.
    fn operand(&mut self, site: SiteId, operand: &Expr, is_receiver: bool) -> Option<BindingId> {
        let (place, exclusive) = match operand {
            Expr::Reference(one) => (&*one.expr, one.mutability.is_some()),
            Expr::Paren(inner) => return self.operand(site, &inner.expr, is_receiver),
            other => (other, false),
        };
        if matches!(operand, Expr::Reference(_)) && !exclusive {
            return None;
        }
        let binding = self.resolve(site, place)?;
        let whole = is_whole(place);
        let live = self.liveness.is_live(self.flow, site, binding);
        match self.classes[binding] {
            Class::Saved | Class::Skipped => {
                let mutable = self.flow.bindings[binding].mutable;
                let lent = match (exclusive, is_receiver, whole) {
                    (true, ..) => true,
                    (false, true, true) => mutable || !live,
                    (false, true, false) => mutable,
                    (false, false, true) => !live,
                    (false, false, false) => false,
                };
                self.lent(lent, whole, binding, operand)
            }
            Class::Exclusive => self.lent(exclusive || is_receiver || whole, whole, binding, operand),
            Class::Reexecuted { exclusive: true } => self.through_reference(binding, whole, operand),
            _ => None,
        }
    }

    fn lent(&mut self, lent: bool, whole: bool, binding: BindingId, operand: &Expr) -> Option<BindingId> {
        if lent && !whole {
            self.refuse_part(binding, operand);
        }
        (lent && whole).then_some(binding)
    }

    /// `let r = &mut x; step(r)`: what is lent is `x`.
    fn through_reference(&mut self, binding: BindingId, whole: bool, operand: &Expr) -> Option<BindingId> {
        let reference = &self.flow.bindings[binding];
        let base = match &reference.init {
            Some(Expr::Reference(one)) if is_whole(&one.expr) => place_root(&one.expr),
            _ => None,
        };
        let base = base.and_then(|base| {
            reference
                .inputs
                .iter()
                .map(|(input, _)| *input)
                .find(|input| self.flow.bindings[*input].ident == *base)
        });
        if base.is_none() || !whole {
            self.refuse_part(binding, operand);
        }
        base
    }

    fn refuse_part(&mut self, binding: BindingId, operand: &Expr) {
        let name = &self.flow.bindings[binding].ident;
        self.errors.refuse(
            syn::spanned::Spanned::span(operand),
            format!("a part of `{name}` is borrowed exclusively by a call that leads to a site"),
            "during the call nobody may look at the rest of it, so the rest could not be saved",
            format!("pass `{name}` as a whole, or keep the part in a variable of its own"),
        );
    }

    fn resolve(&self, site: SiteId, place: &Expr) -> Option<BindingId> {
        let root = place_root(place)?;
        let scope = &self.flow.sites[site as usize - 1].scope;
        scope
            .iter()
            .rev()
            .copied()
            .find(|id| self.flow.bindings[*id].ident == *root)
    }
}

/// Whether a place is a whole variable, or all that a reference points to.
fn is_whole(place: &Expr) -> bool {
    match place {
        Expr::Path(_) => true,
        Expr::Paren(inner) => is_whole(&inner.expr),
        Expr::Unary(unary) => matches!(unary.op, UnOp::Deref(_)) && is_whole(&unary.expr),
        _ => false,
    }
}
