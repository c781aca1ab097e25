//! What a call that leads to a site borrows, and so keeps this function from saving itself.

use super::place_splitting::{Leaf, Splitting, split};
use crate::cfg::{BindingId, Flow};
use crate::diagnostics::{Diagnostics, Refusal, Subject};
use crate::library::{Library, PlaceOf};
use crate::liveness::Liveness;
use crate::spine::{Lowered, SiteId, for_each_call};
use crate::strategies::{Strategy, is_taken_by_value};
use crate::syntax::mentions::locals_in;
use crate::syntax::origins::{Known, Origin, is_repeatable};
use crate::syntax::places::{Place, Projection, variable};
use quote::ToTokens;
use std::collections::{BTreeSet, HashMap};
use syn::Expr;

/// For every call site, the variables that live in a parameter of the callee during the call.
pub type CallLoans = HashMap<SiteId, Vec<Loan>>;

/// A variable that lives in a parameter of the callee during the call.
#[derive(Debug, Clone, Copy)]
pub struct Loan {
    /// The variable.
    pub binding: BindingId,
    /// The callee's parameter.
    pub parameter: u32,
    /// Whether it is passed by value.
    pub by_value: bool,
    /// Whether it is the receiver of a method that may take it by value.
    pub used_up: bool,
    /// Whether only a part of it is lent.
    pub split: bool,
}

/// For every call site, the variables of which it borrows only a part.
pub type Splittings = HashMap<SiteId, Vec<Splitting>>;

/// The other operands of such a call.
#[derive(Debug, Default)]
pub struct Others {
    /// Values that use references: they are evaluated before the variable is taken apart.
    pub first: Vec<usize>,
    /// The variables that the call itself uses.
    pub used: BTreeSet<BindingId>,
}

/// What an operand lends.
enum OperandLoan {
    Nothing,
    Whole(BindingId),
    /// The way to a part, and how many boxes are looked into at its end.
    Part(BindingId, Vec<Projection>, usize),
    /// A list, and the reference to one half of it.
    Half(BindingId, BindingId),
    Unclear(BindingId),
}

/// The operands of a call in the order of the callee's parameters, each with whether it is the receiver.
pub fn operands(call: &Expr) -> Vec<(&Expr, bool)> {
    match call {
        Expr::MethodCall(call) => {
            let arguments = call.args.iter().map(|argument| (argument, false));
            std::iter::once((&*call.receiver, true))
                .chain(arguments)
                .collect()
        }
        Expr::Call(call) => call.args.iter().map(|argument| (argument, false)).collect(),
        _ => Vec::new(),
    }
}

/// What the calls that lead to a site borrow.
#[derive(Debug, Default)]
pub struct Loans {
    /// The variables that live in a parameter of the callee during the call.
    pub calls: CallLoans,
    /// The variables of which a call borrows only a part.
    pub splittings: Splittings,
    /// The other operands of the calls that borrow parts.
    pub others: HashMap<SiteId, Others>,
}

/// Finds what the calls borrow.
pub fn loans(
    library: &Library,
    lowered: &Lowered,
    flow: &Flow,
    liveness: &Liveness,
    strategies: &[Strategy],
    errors: &mut Diagnostics,
) -> Loans {
    let mut finder = LoanFinder {
        library,
        flow,
        liveness,
        strategies,
        errors,
        found: Loans::default(),
    };
    for_each_call(&lowered.body, &mut |site, call| finder.call(site, call));
    finder.found
}

struct LoanFinder<'a> {
    library: &'a Library,
    flow: &'a Flow,
    liveness: &'a Liveness,
    strategies: &'a [Strategy],
    errors: &'a mut Diagnostics,
    found: Loans,
}

impl LoanFinder<'_> {
    fn call(&mut self, site: SiteId, call: &Expr) {
        let mut found: Vec<Loan> = Vec::new();
        let mut parts: Vec<(BindingId, Vec<Leaf>)> = Vec::new();
        let mut halves: Vec<Splitting> = Vec::new();
        for (index, (operand, is_receiver)) in operands(call).into_iter().enumerate() {
            let parameter = index as u32;
            match self.operand(site, operand, is_receiver) {
                OperandLoan::Nothing => {}
                OperandLoan::Whole(binding) => {
                    let mutable = self.flow.bindings[binding].mutable;
                    let named = variable(operand).and_then(|name| self.flow.named_at(site, name));
                    let is_own = named == Some(binding)
                        && matches!(self.strategies[binding], Strategy::Saved | Strategy::Skipped);
                    let by_value = is_own && !(is_receiver && mutable);
                    let is_last = !self.liveness.is_live(self.flow, site, binding);
                    found.push(Loan {
                        binding,
                        parameter,
                        by_value,
                        used_up: is_own && is_receiver && mutable && is_last,
                        split: false,
                    });
                }
                OperandLoan::Part(binding, path, derefs) => {
                    let leaf = Leaf {
                        operand: index,
                        path,
                        derefs,
                        shared: false,
                        is_receiver,
                    };
                    match parts.iter_mut().find(|(other, _)| *other == binding) {
                        Some((_, leaves)) => leaves.push(leaf),
                        None => parts.push((binding, vec![leaf])),
                    }
                }
                OperandLoan::Half(list, half) => self.half(&mut halves, list, half, parameter),
                OperandLoan::Unclear(binding) => self.refuse_part(binding, operand),
            }
        }
        if !parts.is_empty() {
            let lent = parts.iter().flat_map(|(_, leaves)| leaves);
            let others = self.others(site, call, &lent.map(|leaf| leaf.operand).collect());
            self.found.others.insert(site, others);
        }
        let mut splittings = halves;
        for (binding, leaves) in parts {
            let first = leaves[0].operand;
            match split(self.library, self.flow, call, binding, leaves) {
                Some(splitting) => splittings.push(splitting),
                None => self.refuse_part(binding, operands(call)[first].0),
            }
        }
        let split = splittings.iter().map(Splitting::binding);
        found.extend(split.map(|binding| Loan {
            binding,
            parameter: 0,
            by_value: false,
            used_up: false,
            split: true,
        }));
        self.found.calls.insert(site, found);
        if !splittings.is_empty() {
            self.found.splittings.insert(site, splittings);
        }
    }

    /// The operands of a call that are not parts of variables.
    fn others(&self, site: SiteId, call: &Expr, lent: &BTreeSet<usize>) -> Others {
        let scope = &self.flow.sites[site as usize - 1].scope;
        let mut others = Others::default();
        for (index, (operand, _)) in operands(call).into_iter().enumerate() {
            let names = locals_in(&self.flow.locals, operand.to_token_stream());
            let of_operand = |id: &BindingId| names.contains(self.flow.bindings[*id].local);
            let used: Vec<BindingId> = scope.iter().copied().filter(of_operand).collect();
            let through_references = used
                .iter()
                .any(|id| matches!(self.strategies[*id], Strategy::Reexecuted { .. }));
            let is_value = matches!(operand, Expr::Binary(_) | Expr::Unary(_) | Expr::Cast(_))
                || matches!(operand, Expr::MethodCall(_))
                    && Known::of(self.library).origin(operand) == Origin::Value;
            if lent.contains(&index) {
                continue;
            }
            match is_value && through_references && is_repeatable(self.library, operand) {
                true => others.first.push(index),
                false => others.used.extend(used),
            }
        }
        others
    }

    fn half(&self, halves: &mut Vec<Splitting>, list: BindingId, half: BindingId, parameter: u32) {
        if !halves.iter().any(|splitting| splitting.binding() == list) {
            let step = self.flow.bindings[half].step;
            let all = (0..self.flow.bindings.len()).filter(|id| self.flow.bindings[*id].step == step);
            halves.push(Splitting::Halves {
                binding: list,
                halves: all.map(|id| (id, None)).collect(),
            });
        }
        for splitting in halves {
            if let Splitting::Halves { binding, halves } = splitting
                && *binding == list
            {
                halves
                    .iter_mut()
                    .filter(|(id, _)| *id == half)
                    .for_each(|(_, of)| *of = Some(parameter));
            }
        }
    }

    /// What an operand lends.
    fn operand(&mut self, site: SiteId, operand: &Expr, is_receiver: bool) -> OperandLoan {
        let mut behind = 0;
        let (place, exclusive) = match operand {
            Expr::Reference(one) => (&*one.expr, one.mutability.is_some()),
            Expr::Paren(inner) => return self.operand(site, &inner.expr, is_receiver),
            Expr::MethodCall(call) if looks_into_a_box(self.library, call) => {
                behind = 1;
                (&*call.receiver, true)
            }
            other => (other, false),
        };
        if matches!(operand, Expr::Reference(_)) && !exclusive {
            return OperandLoan::Nothing;
        }
        let Some(lent) = Place::of(place) else {
            return OperandLoan::Nothing;
        };
        let Some(binding) = self.flow.named_at(site, lent.root) else {
            return OperandLoan::Nothing;
        };
        // `f(*x)`: what is behind a reference can only be copied.
        let is_reference = matches!(
            self.strategies[binding],
            Strategy::Exclusive | Strategy::Reexecuted { exclusive: true }
        );
        if is_reference && !exclusive && !is_receiver && matches!(place, Expr::Unary(_)) {
            return OperandLoan::Nothing;
        }
        let whole = lent.is_whole() && behind == 0;
        let live = self.liveness.is_live(self.flow, site, binding);
        let is_lent = match self.strategies[binding] {
            Strategy::Saved | Strategy::Skipped => {
                let mutable = self.flow.bindings[binding].mutable;
                match (exclusive, is_receiver, whole) {
                    (true, ..) => true,
                    (false, true, true) => mutable || !live,
                    (false, true, false) => mutable,
                    (false, false, true) => !live,
                    (false, false, false) => false,
                }
            }
            Strategy::Exclusive => exclusive || is_receiver || whole,
            Strategy::Given => whole && !live && is_taken_by_value(&self.flow.bindings[binding]),
            Strategy::Reexecuted { exclusive: true } if whole => return self.through_reference(binding),
            Strategy::Reexecuted { exclusive: true } if exclusive || is_receiver => {
                return OperandLoan::Unclear(binding);
            }
            _ => false,
        };
        let derefs = if lent.is_whole() { 0 } else { lent.derefs };
        match (is_lent, whole, lent.is_pure(self.library)) {
            (false, ..) => OperandLoan::Nothing,
            (true, true, _) => OperandLoan::Whole(binding),
            (true, false, true) => OperandLoan::Part(binding, lent.path, derefs + behind),
            (true, false, false) => OperandLoan::Unclear(binding),
        }
    }

    /// `let r = &mut x; step(r)`: what is lent is `x`. `let (a, b) = x.split_at_mut(k); step(a)`: one half of `x`.
    fn through_reference(&self, binding: BindingId) -> OperandLoan {
        let reference = &self.flow.bindings[binding];
        let whole_input = |place: &Expr| {
            let place = Place::of(place).filter(Place::is_whole)?;
            self.flow.input_named(binding, place.root)
        };
        let traded = self
            .flow
            .swaps
            .iter()
            .any(|(one, other)| *one == binding || *other == binding);
        let found = match &reference.init {
            _ if traded => None,
            Some(Expr::Reference(one)) => whole_input(&one.expr).map(OperandLoan::Whole),
            Some(Expr::MethodCall(call)) if self.library.is_call(call, PlaceOf::Halves) => {
                whole_input(&call.receiver).map(|list| OperandLoan::Half(list, binding))
            }
            _ => None,
        };
        found.unwrap_or(OperandLoan::Unclear(binding))
    }

    fn refuse_part(&mut self, binding: BindingId, operand: &Expr) {
        let binding = &self.flow.bindings[binding];
        let name = match binding.is_synthetic() {
            true => Subject::Argument,
            false => Subject::Variable(binding.ident.clone()),
        };
        let at = syn::spanned::Spanned::span(operand);
        self.errors.refuse(at, Refusal::PartIsLent { name });
    }
}

/// `solver.as_mut()`: the same as `&mut *solver`.
fn looks_into_a_box(library: &Library, call: &syn::ExprMethodCall) -> bool {
    call.args.is_empty() && library.is_call(call, PlaceOf::Boxed)
}
