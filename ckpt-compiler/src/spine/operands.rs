//! Site-bearing calls inside larger expressions: what is evaluated before them is put into variables.

use super::held::{Role, role_of_first};
use super::lower::{Lowering, plain};
use super::{Block, Spine, SpineStep, Step, StepKind, Target, for_each_block, hole};
use crate::diagnostics::{Refusal, Subject};
use crate::library::{Iterators, Library, Macros, Methods, PlaceOf};
use crate::names::{Kind, LocalSet};
use crate::syntax::macros::{arguments_of_macro, name_of_macro};
use crate::syntax::marks::Marks;
use crate::syntax::mentions::locals_in;
use crate::syntax::origins::{Known, is_repeatable};
use crate::syntax::places::{place_root, variable};
use crate::syntax::purity::{is_arithmetic, is_assignment, is_pure};
use quote::ToTokens;
use syn::spanned::Spanned;
use syn::{Expr, parse_quote};

impl Lowering<'_> {
    /// An expression of which an operand holds a site.
    pub(super) fn operands(&mut self, mut expr: Expr) -> Spine {
        let mut steps = Vec::new();
        let inner = self.extract(&mut expr, &mut steps);
        let whole = match inner {
            Some(inner) => Spine::Context {
                inner: Box::new(inner),
                around: Box::new(expr),
            },
            None => {
                steps.push(plain(syn::Stmt::Expr(expr, None)));
                return Spine::Block {
                    label: None,
                    is_unsafe: false,
                    block: Block { steps },
                };
            }
        };
        if steps.is_empty() {
            return whole;
        }
        if let Some(sites) = spine_sites(&whole) {
            steps.push(super::lower::step(StepKind::Spine(SpineStep {
                sites,
                target: Target::Tail,
                spine: whole,
            })));
        }
        Spine::Block {
            label: None,
            is_unsafe: false,
            block: Block { steps },
        }
    }

    /// Takes the site-bearing operand out of the expression: either it is evaluated first and is returned (a hole
    /// stands in its place), or it and all before it have become variables.
    fn extract(&mut self, expr: &mut Expr, steps: &mut Vec<Step>) -> Option<Spine> {
        if let Expr::Macro(mac) = expr {
            self.macro_operands(mac, steps);
            return None;
        }
        if matches!(
            expr,
            Expr::Async(_) | Expr::Const(_) | Expr::TryBlock(_) | Expr::Closure(_)
        ) {
            self.errors.refuse(expr.span(), Refusal::SiteInExpression);
            return None;
        }
        if self.hold_assignment(expr, steps).is_some() {
            return None;
        }
        if self.value_that_is_added(expr, steps) {
            return None;
        }
        let marks = self.marks;
        let first = role_of_first(marks.library, expr);
        let fields = fields_of(expr);
        let mut operands = operands_in_order(expr);
        let last = operands.iter().rposition(|operand| marks.in_expr(operand))?;
        for index in 0..last {
            let later = self.touched_by(operands[index + 1..=last].iter().map(|one| &**one));
            let role = if index == 0 { first } else { Role::Value };
            self.of_field = fields.get(index).cloned();
            self.hold(operands[index], role, &later, steps);
        }
        if last > 0 {
            self.of_field = fields.get(last).cloned();
            self.put_aside(operands[last], Kind::Operand, steps);
            return None;
        }
        let operand = &mut *operands[0];
        if marks.callee(operand).is_some() || !self.is_plain_context(operand) {
            let mut pre = Vec::new();
            let taken = std::mem::replace(operand, hole_expr());
            let spine = self.spine(taken, None, &mut pre);
            if pre.is_empty() {
                return Some(spine);
            }
            let sites = spine_sites(&spine);
            if let Some(sites) = sites {
                pre.push(super::lower::step(StepKind::Spine(SpineStep {
                    sites,
                    target: Target::Tail,
                    spine,
                })));
            }
            return Some(Spine::Block {
                label: None,
                is_unsafe: false,
                block: Block { steps: pre },
            });
        }
        self.extract(operand, steps)
    }

    /// `list[i] += f(x)` of types of the program's own borrows the element first, which cannot last over the site: the value is put aside.
    /// Numbers are read last, and a variable is borrowed last.
    fn value_that_is_added(&mut self, expr: &mut Expr, steps: &mut Vec<Step>) -> bool {
        let Expr::Binary(one) = expr else { return false };
        let is_late = is_assignment(&one.op)
            && self.marks.in_expr(&one.right)
            && !self.marks.in_expr(&one.left)
            && is_found_by_an_index(&one.left)
            && !self.declared.is_number_in_list(&self.names.read(), &one.left);
        if is_late {
            self.put_aside(&mut one.right, Kind::Operand, steps);
        }
        is_late
    }

    /// Whether the expression is one whose operands are looked at, and not one with a form of its own.
    fn is_plain_context(&self, expr: &Expr) -> bool {
        !matches!(
            expr,
            Expr::Paren(_)
                | Expr::Group(_)
                | Expr::Block(_)
                | Expr::Unsafe(_)
                | Expr::If(_)
                | Expr::Match(_)
                | Expr::Loop(_)
                | Expr::While(_)
                | Expr::ForLoop(_)
                | Expr::Return(_)
                | Expr::Break(_)
        ) && !matches!(expr, Expr::Macro(mac) if Marks::is_checkpoint(&mac.mac))
            && !matches!(expr, Expr::Binary(one) if matches!(one.op, syn::BinOp::And(_) | syn::BinOp::Or(_)))
    }

    pub(super) fn put_aside(&mut self, operand: &mut Expr, kind: Kind, steps: &mut Vec<Step>) {
        // Taken, as it is not for what lies in the operand.
        let mut name = match self.of_field.take() {
            Some(field) => self.names.fresh_of(&field),
            None => self.names.fresh(kind),
        };
        name.set_span(name.span().located_at(operand.span()));
        let taken = match std::mem::replace(operand, parse_quote!(#name)) {
            Expr::Paren(inner) => *inner.expr,
            taken => taken,
        };
        self.temporary(&name, taken, steps);
    }

    /// The arguments of `println!` and its like.
    fn macro_operands(&mut self, mac: &mut syn::ExprMacro, steps: &mut Vec<Step>) {
        let Some(mut arguments) = arguments_of_macro(self.marks.library, &mac.mac) else {
            return;
        };
        let mut operands: Vec<&mut Expr> = arguments
            .iter_mut()
            .map(|argument| match argument {
                Expr::Assign(named) => &mut *named.right,
                argument => argument,
            })
            .collect();
        let marks = self.marks;
        // Formatting borrows what it is given; `vec!` takes it.
        let role = match marks.library.key(&name_of_macro(&mac.mac)) {
            Some(Macros::Takes) => Role::Value,
            _ => Role::Looked,
        };
        let last = operands.iter().rposition(|operand| marks.in_expr(operand));
        for index in 0..last.map_or(0, |last| last + 1) {
            if marks.in_expr(operands[index]) {
                self.put_aside(operands[index], Kind::Operand, steps);
                continue;
            }
            let later = self.touched_by(operands[index + 1..].iter().map(|one| &**one));
            self.hold(operands[index], role, &later, steps);
        }
        mac.mac.tokens = arguments.to_token_stream();
    }

    /// A call that leads to a site. Arguments that cannot simply be evaluated again become variables.
    pub(super) fn call(&mut self, mut expr: Expr) -> Spine {
        let mut steps = Vec::new();
        let span = expr.span();
        let callee = self.marks.callee(&expr);
        let first = role_of_first(self.marks.library, &expr);
        let is_method = matches!(expr, Expr::MethodCall(_));
        let mut operands = operands_in_order(&mut expr);
        if !is_method && !operands.is_empty() {
            operands.remove(0);
        }
        for operand in &operands {
            if let Some((name, span)) = exclusive_part(self.marks.library, operand) {
                let name = Subject::Variable(name.clone());
                self.errors.refuse(span, Refusal::PartIsLent { name });
            }
        }
        for index in 0..operands.len() {
            let is_receiver = is_method && index == 0;
            let behind = self.touched_by(operands[index + 1..].iter().map(|one| &**one));
            let lent = self.touched_while_lent(operands[index + 1..].iter().map(|one| &**one));
            if is_receiver && place_root(operands[0]).is_some() && is_pure(self.marks.library, operands[0]) {
                self.hold(operands[0], first, &behind, &mut steps);
                if place_root(operands[0]).is_some() {
                    self.hold_place(operands[0], &lent, &mut steps);
                }
                continue;
            }
            if let Expr::Closure(_) = &*operands[index] {
                self.hold(operands[index], Role::Value, &behind, &mut steps);
            }
            let mut later = LocalSet::default();
            for operand in &operands[index + 1..] {
                if !is_pure(self.marks.library, operand) {
                    later.extend(self.locals_in(operand).iter());
                }
            }
            let by_value = !matches!(operands[index], Expr::Reference(_));
            let changed_later = by_value && !later.is_disjoint(&self.locals_in(operands[index]));
            if let Expr::Reference(reference) = &mut *operands[index] {
                let is_closure = crate::syntax::origins::closure_in(&reference.expr).is_some();
                let is_temporary =
                    reference.mutability.is_some() && place_root(&reference.expr).is_none() && !is_closure;
                let is_late = is_temporary
                    || self.may_be_used_up(&reference.expr)
                    || !is_pure(self.marks.library, &reference.expr);
                if is_late {
                    self.put_aside(&mut reference.expr, Kind::Argument, &mut steps);
                } else if place_root(&reference.expr).is_some() {
                    self.hold_place(&mut reference.expr, &lent, &mut steps);
                    self.hold(operands[index], Role::Value, &behind, &mut steps);
                }
            } else if !changed_later
                && let Some(condition) = condition_of_choice(self.marks.library, operands[index])
            {
                // One of two references is chosen again; what decides may have changed by then.
                self.put_aside(condition, Kind::Chosen, &mut steps);
            } else if !(is_pure(self.marks.library, operands[index])
                || is_iterator(self.marks.library, operands[index]))
                || changed_later
                || !is_receiver && self.may_be_used_up(operands[index])
                || !is_receiver
                    && matches!(&*operands[index], Expr::Unary(one) if matches!(one.op, syn::UnOp::Deref(_)))
            {
                // What is copied from behind a reference is copied before: the reference may have to end for the call.
                self.put_aside(operands[index], Kind::Argument, &mut steps);
            }
        }
        let site = self.add_site(span, callee);
        let call = Spine::Call {
            site,
            call: Box::new(expr),
        };
        if steps.is_empty() {
            return call;
        }
        let sites = super::Sites {
            first: site,
            last: site,
        };
        steps.push(super::lower::step(StepKind::Spine(SpineStep {
            sites,
            target: Target::Tail,
            spine: call,
        })));
        Spine::Block {
            label: None,
            is_unsafe: false,
            block: Block { steps },
        }
    }

    /// `-a`, `a + b` of what may be no numbers: the operator uses its operands up, and the call has to find them as they were.
    fn may_be_used_up(&self, operand: &Expr) -> bool {
        let is_number =
            |side: &Expr| matches!(side, Expr::Cast(_)) || self.declared.is_number(&self.names.read(), side);
        let is_taken = |side: &Expr| {
            variable(side)
                .is_some_and(|name| self.names.read().id(name).is_some() && !self.known.is_reference(name))
                && !is_number(side)
        };
        match operand {
            Expr::Paren(inner) => self.may_be_used_up(&inner.expr),
            Expr::Group(inner) => self.may_be_used_up(&inner.expr),
            Expr::Unary(one) if !matches!(one.op, syn::UnOp::Deref(_)) => {
                is_taken(&one.expr) || self.may_be_used_up(&one.expr)
            }
            Expr::Binary(one) if is_arithmetic(&one.op) => {
                let sides = [&one.left, &one.right];
                let is_of_numbers = sides.iter().any(|side| is_number(side));
                !is_of_numbers && sides.iter().any(|side| is_taken(side))
                    || sides.iter().any(|side| self.may_be_used_up(side))
            }
            _ => false,
        }
    }

    pub(super) fn locals_in(&self, operand: &Expr) -> LocalSet {
        locals_in(&self.names.read(), operand.to_token_stream())
    }

    /// Whether the operand, by value, is the same when it is evaluated after an expression that mentions `later`.
    pub(super) fn is_stable(&self, operand: &Expr, later: &LocalSet) -> bool {
        match operand {
            Expr::Lit(_) => true,
            Expr::Path(_) => {
                let local = variable(operand).and_then(|name| self.names.read().id(name));
                local.is_none_or(|local| !later.contains(local))
            }
            Expr::Reference(_) | Expr::Closure(_) | Expr::Field(_) | Expr::Index(_) => {
                is_pure(self.marks.library, operand) && self.locals_in(operand).is_disjoint(later)
            }
            Expr::Paren(inner) => self.is_stable(&inner.expr, later),
            Expr::Unary(inner) => self.is_stable(&inner.expr, later),
            Expr::Cast(inner) => self.is_stable(&inner.expr, later),
            Expr::Binary(one) => {
                !is_assignment(&one.op)
                    && self.is_stable(&one.left, later)
                    && self.is_stable(&one.right, later)
            }
            _ => false,
        }
    }
}

/// Whether there is an index on the way to a place.
fn is_found_by_an_index(place: &Expr) -> bool {
    match place {
        Expr::Index(_) => true,
        Expr::Field(field) => is_found_by_an_index(&field.base),
        Expr::Paren(inner) => is_found_by_an_index(&inner.expr),
        Expr::Group(inner) => is_found_by_an_index(&inner.expr),
        Expr::Unary(inner) => is_found_by_an_index(&inner.expr),
        _ => false,
    }
}

/// The names of the fields of a struct that is made, in the order of its operands.
fn fields_of(expr: &Expr) -> Vec<syn::Ident> {
    let Expr::Struct(one) = expr else {
        return Vec::new();
    };
    let name = |field: &syn::FieldValue| match &field.member {
        syn::Member::Named(name) => name.clone(),
        syn::Member::Unnamed(index) => quote::format_ident!("_{}", index.index),
    };
    one.fields.iter().map(name).collect()
}

/// The condition of `if c { a } else { b }` where both may be evaluated again.
fn condition_of_choice<'e>(library: &Library, operand: &'e mut Expr) -> Option<&'e mut Expr> {
    let Expr::If(one) = operand else {
        return None;
    };
    let is_choice = |block: &syn::Block| matches!(&block.stmts[..], [syn::Stmt::Expr(expr, None)] if is_pure(library, expr));
    let otherwise = one.else_branch.as_ref().map(|(_, expr)| &**expr);
    let is_plain = is_choice(&one.then_branch)
        && matches!(otherwise, Some(Expr::Block(block)) if block.label.is_none() && is_choice(&block.block))
        && !super::select::has_let(&one.cond);
    is_plain.then_some(&mut *one.cond)
}

/// The variable of which the operand is an exclusive borrow of a part that cannot be seen: `sim.grid_mut()`.
fn exclusive_part<'e>(
    library: &Library,
    operand: &'e Expr,
) -> Option<(&'e proc_macro2::Ident, proc_macro2::Span)> {
    let call = match operand {
        Expr::Paren(inner) => return exclusive_part(library, &inner.expr),
        Expr::Reference(one) if one.mutability.is_some() => return exclusive_part(library, &one.expr),
        Expr::Unary(one) if matches!(one.op, syn::UnOp::Deref(_)) => {
            return exclusive_part(library, &one.expr);
        }
        Expr::MethodCall(call) => call,
        _ => return None,
    };
    let method = call.method.to_string();
    if library.says(&method, Methods::Unwraps) && matches!(*call.receiver, Expr::MethodCall(_)) {
        return exclusive_part(library, &call.receiver);
    }
    let is_iterator = library.goes_over_exclusively(&method) || library.says(&method, Iterators::Itself);
    let is_hidden = library.lends_exclusively(&method) && !library.says(&method, PlaceOf::Boxed);
    let root = place_root(&call.receiver)?;
    (is_hidden && !is_iterator).then(|| (root, call.method.span()))
}

/// The sites inside an expression.
pub(super) fn spine_sites(spine: &Spine) -> Option<super::Sites> {
    let spine = spine.innermost();
    if let Spine::Site(site) | Spine::Call { site, .. } = spine {
        return Some(super::Sites {
            first: *site,
            last: *site,
        });
    }
    let mut inside: Option<super::Sites> = None;
    for_each_block(spine, &mut |block| {
        for step in &block.steps {
            if let StepKind::Spine(step) = &step.kind {
                inside = Some(super::Sites {
                    first: inside.map_or(step.sites.first, |before| before.first),
                    last: step.sites.last,
                });
            }
        }
    });
    inside
}

fn hole_expr() -> Expr {
    let hole = hole();
    parse_quote!(#hole)
}

/// The operands of an expression in the order in which they are evaluated.
fn operands_in_order(expr: &mut Expr) -> Vec<&mut Expr> {
    match expr {
        Expr::MethodCall(call) => std::iter::once(&mut *call.receiver)
            .chain(call.args.iter_mut())
            .collect(),
        Expr::Call(call) => std::iter::once(&mut *call.func)
            .chain(call.args.iter_mut())
            .collect(),
        Expr::Binary(one) => {
            let right_first = is_assignment(&one.op);
            let (left, right) = (&mut *one.left, &mut *one.right);
            if right_first {
                vec![right, left]
            } else {
                vec![left, right]
            }
        }
        Expr::Assign(one) => vec![&mut one.right, &mut one.left],
        Expr::Field(one) => vec![&mut one.base],
        Expr::Unary(one) => vec![&mut one.expr],
        Expr::Reference(one) => vec![&mut one.expr],
        Expr::Paren(one) => vec![&mut one.expr],
        Expr::Group(one) => vec![&mut one.expr],
        Expr::Cast(one) => vec![&mut one.expr],
        Expr::Try(one) => vec![&mut one.expr],
        Expr::Await(one) => vec![&mut one.base],
        Expr::Let(one) => vec![&mut one.expr],
        // What these look at first: sites are nowhere else in them when they come here.
        Expr::If(one) => vec![&mut one.cond],
        Expr::Match(one) => vec![&mut one.expr],
        Expr::ForLoop(one) => vec![&mut one.expr],
        Expr::Index(one) => vec![&mut one.expr, &mut one.index],
        Expr::Tuple(one) => one.elems.iter_mut().collect(),
        Expr::Array(one) => one.elems.iter_mut().collect(),
        Expr::Repeat(one) => vec![&mut one.expr],
        Expr::Struct(one) => one
            .fields
            .iter_mut()
            .map(|field| &mut field.expr)
            .chain(one.rest.iter_mut().map(|rest| &mut **rest))
            .collect(),
        Expr::Range(one) => one
            .start
            .iter_mut()
            .map(|one| &mut **one)
            .chain(one.end.iter_mut().map(|one| &mut **one))
            .collect(),
        _ => Vec::new(),
    }
}

/// Whether the expression makes an iterator that can be rebuilt.
fn is_iterator(library: &Library, expr: &Expr) -> bool {
    Known::of(library).is_iterator(expr) && is_repeatable(library, expr)
}
