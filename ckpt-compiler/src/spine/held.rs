//! What stands left of a call that leads to a site is evaluated after it, when that call has become a statement of its
//! own: it has to read what it would have read before.
//!
//! | left of the call | stays where it is | otherwise |
//! |---|---|---|
//! | a literal, a function, a constant | always: nothing changes it | |
//! | a variable by value | the call does not mention it | is copied or moved before |
//! | a field, an element, a `*r` by value | the call mentions nothing in it; a borrow is rustc's to see | is copied before |
//! | `&place`, `&mut place` | always: the borrow holds what it is of, or rustc refuses the program | its indices are copied before; refused where a reference on its way is changed |
//! | a receiver, a side of a comparison, what is indexed | the call only looks at it: then it is the same by value and by reference; or is given a copy of the variable | its indices are copied before; what is changed must have been a copy; refused where that is unknown |
//! | a closure | it borrows, and the borrow holds what it is of | refused: with `move` it has copied what the call changes |
//! | the place of an assignment | always: the right side is evaluated first | the indices of `+=` by values of the program's own types are read before: refused where that makes a difference, but for lists of numbers |
//! | calls, macros, blocks | never | are evaluated before |

use super::Step;
use super::lower::Lowering;
use crate::diagnostics::Refusal;
use crate::library::Library;
use crate::names::{Kind, LocalSet};
use crate::syntax::macros::arguments_of_macro;
use crate::syntax::places::{Place, Projection, place_root, variable};
use crate::syntax::purity::{is_assignment, is_pure};
use crate::visit::{self, Visit};
use quote::ToTokens;
use syn::spanned::Spanned;
use syn::{Expr, UnOp};

/// How an operand is used by what it is an operand of.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Role {
    /// It is copied or moved.
    Value,
    /// It may be borrowed, and is not changed.
    Looked,
    /// It may be borrowed and changed.
    Changed,
}

/// What an expression may do to variables.
#[derive(Default)]
pub(super) struct Touched {
    /// All that it mentions.
    mentioned: LocalSet,
    /// Places that it certainly changes or borrows exclusively.
    exclusive: Vec<Expr>,
    /// Receivers of methods that may change them.
    receivers: Vec<Expr>,
    /// Arguments: what they point to may change.
    passed: Vec<Expr>,
    /// Variables in macros that nothing is known of.
    opaque: LocalSet,
}

impl Touched {
    fn changes_variable(&self, lowering: &Lowering<'_>, local: crate::names::LocalId) -> bool {
        let names = lowering.names.read();
        let is_root = |place: &Expr| place_root(place).and_then(|root| names.id(root)) == Some(local);
        self.opaque.contains(local) || self.exclusive.iter().chain(&self.receivers).any(is_root)
    }

    fn changes_certainly(&self, place: &Expr) -> bool {
        self.exclusive.iter().any(|other| overlap(place, other))
    }

    fn may_change(&self, lowering: &Lowering<'_>, place: &Expr) -> bool {
        self.may_change_as_receiver(lowering, place) || self.is_passed(place)
    }

    /// Whether the variable that the place begins with is an argument.
    fn is_passed(&self, place: &Expr) -> bool {
        self.passed.iter().any(|other| overlap(place, other))
    }

    fn may_change_as_receiver(&self, lowering: &Lowering<'_>, place: &Expr) -> bool {
        let root = place_root(place).and_then(|root| lowering.names.read().id(root));
        root.is_some_and(|root| self.opaque.contains(root))
            || self.receivers.iter().any(|other| overlap(place, other))
    }
}

/// Whether two places may have a part in common.
fn overlap(one: &Expr, other: &Expr) -> bool {
    let is_same = |steps: (&Projection, &Projection)| match steps {
        (Projection::Field(one), Projection::Field(other)) => one == other,
        _ => true,
    };
    match (Place::of(one), Place::of(other)) {
        (Some(one), Some(other)) => one.root == other.root && one.path.iter().zip(&other.path).all(is_same),
        _ => false,
    }
}

impl Lowering<'_> {
    /// What some expressions may do to variables before an operand to their left is evaluated: those that cannot stay
    /// behind it.
    pub(super) fn touched_by<'e>(&self, exprs: impl IntoIterator<Item = &'e Expr>) -> Touched {
        let exprs = exprs.into_iter();
        self.touched(exprs.filter(|one| self.marks.in_expr(one) || !is_pure(self.marks.library, one)))
    }

    /// What a call that is given these arguments may do to variables while it lasts: a restart makes it anew.
    pub(super) fn touched_while_lent<'e>(&self, arguments: impl IntoIterator<Item = &'e Expr>) -> Touched {
        let (mut lent, mut passed) = (Vec::new(), Vec::new());
        for argument in arguments {
            match argument {
                Expr::Path(_) => passed.push(argument),
                Expr::Reference(one) if one.mutability.is_none() => {}
                Expr::Reference(_) => lent.push(argument),
                _ => {}
            }
        }
        let mut touched = self.touched(lent.into_iter().chain(passed.iter().copied()));
        touched.passed.extend(passed.into_iter().cloned());
        touched
    }

    fn touched<'e>(&self, exprs: impl IntoIterator<Item = &'e Expr>) -> Touched {
        let mut touches = Touches {
            lowering: self,
            touched: Touched::default(),
        };
        for expr in exprs {
            touches.touched.mentioned.extend(self.locals_in(expr).iter());
            touches.visit_expr(expr);
        }
        touches.touched
    }

    /// Brings an operand into a form that has the same value behind what comes later.
    pub(super) fn hold(&mut self, operand: &mut Expr, role: Role, later: &Touched, out: &mut Vec<Step>) {
        match operand {
            Expr::Paren(inner) => return self.hold(&mut inner.expr, role, later, out),
            Expr::Group(inner) => return self.hold(&mut inner.expr, role, later, out),
            Expr::Reference(one) if place_root(&one.expr).is_some() => {
                self.hold_place(&mut one.expr, later, out);
                if later.changes_certainly(&one.expr) {
                    self.refuse_order(operand);
                }
                return;
            }
            Expr::Closure(closure) => {
                let captured = self.locals_in(&Expr::Closure(closure.clone()));
                let copies = closure.capture.is_some();
                let changes = |local| match copies {
                    true => later.changes_variable(self, local),
                    false => self.changes_whole(later, local),
                };
                if captured.iter().any(changes) {
                    self.refuse_order(operand);
                }
                return;
            }
            _ => {}
        }
        if role != Role::Value && place_root(operand).is_some() {
            self.hold_place(operand, later, out);
            if later.changes_certainly(operand) {
                // What is changed while it is borrowed rustc would refuse: it is a copy that is used.
                self.put_aside(operand, Kind::Operand, out);
            } else if later.may_change(self, operand) {
                match role {
                    Role::Changed if later.may_change_as_receiver(self, operand) => {
                        self.refuse_order(operand)
                    }
                    Role::Changed => match self.passing_changes(operand) {
                        Some(true) => self.put_aside(operand, Kind::Operand, out),
                        Some(false) => {}
                        None => self.refuse_order(operand),
                    },
                    _ => self.put_aside(operand, Kind::Operand, out),
                }
            }
        } else if self.marks.in_expr(operand) || !self.is_stable(operand, &later.mentioned) {
            self.put_aside(operand, Kind::Operand, out);
        }
    }

    /// Whether a call may change the place by being given the variable that it begins with. It may where that is an
    /// exclusive reference; the place has been copied then, since it could not be borrowed beside it. Where a copy of
    /// the variable is given, the place stays the same, and a receiver that is changed has to be the variable's own.
    fn passing_changes(&self, place: &Expr) -> Option<bool> {
        let names = self.names.read();
        let root = place_root(place)?;
        let Some(local) = names.id(root) else {
            return Some(false);
        };
        if self.declared.is_value(local) {
            Some(false)
        } else {
            // Nothing is changed but through a reference where the variable is not declared `mut`.
            (self.known.is_reference(root) || !self.changing.contains(local)).then_some(true)
        }
    }

    /// Puts the indices of a place aside that are others behind what comes later.
    pub(super) fn hold_place(&mut self, place: &mut Expr, later: &Touched, out: &mut Vec<Step>) {
        match place {
            Expr::Paren(inner) => self.hold_place(&mut inner.expr, later, out),
            Expr::Group(inner) => self.hold_place(&mut inner.expr, later, out),
            Expr::Field(field) => self.hold_place(&mut field.base, later, out),
            Expr::Unary(one) if matches!(one.op, UnOp::Deref(_)) => {
                self.hold_place(&mut one.expr, later, out)
            }
            Expr::Index(one) => {
                self.hold_place(&mut one.expr, later, out);
                self.hold_index(&mut one.index, later, out);
            }
            Expr::Path(_) => {}
            other => self.put_aside(other, Kind::Operand, out),
        }
    }

    fn hold_index(&mut self, index: &mut Expr, later: &Touched, out: &mut Vec<Step>) {
        if let Expr::Range(range) = index {
            for bound in range.start.iter_mut().chain(&mut range.end) {
                self.hold_index(bound, later, out);
            }
        } else if self.index_changes(index, later) {
            self.put_aside(index, Kind::Operand, out);
        }
    }

    fn index_changes(&self, index: &Expr, later: &Touched) -> bool {
        match index {
            Expr::Range(range) => {
                let mut bounds = range.start.iter().chain(&range.end);
                bounds.any(|bound| self.index_changes(bound, later))
            }
            Expr::Paren(inner) => self.index_changes(&inner.expr, later),
            Expr::Cast(inner) => self.index_changes(&inner.expr, later),
            Expr::Binary(one) if !is_assignment(&one.op) => {
                self.index_changes(&one.left, later) || self.index_changes(&one.right, later)
            }
            // A number that is passed by value stays the same.
            Expr::Path(_) => {
                let local = variable(index).and_then(|name| self.names.read().id(name));
                local.is_some_and(|local| later.changes_variable(self, local))
            }
            _ => self.marks.in_expr(index) || !self.is_stable(index, &later.mentioned),
        }
    }

    /// Whether a place is found by an index that is another one behind what comes later.
    fn indices_change(&self, place: &Expr, later: &Touched) -> bool {
        match place {
            Expr::Paren(inner) => self.indices_change(&inner.expr, later),
            Expr::Group(inner) => self.indices_change(&inner.expr, later),
            Expr::Field(field) => self.indices_change(&field.base, later),
            Expr::Unary(one) => self.indices_change(&one.expr, later),
            Expr::Index(one) => {
                self.indices_change(&one.expr, later) || self.index_changes(&one.index, later)
            }
            Expr::Path(_) => false,
            other => self
                .locals_in(other)
                .iter()
                .any(|local| later.changes_variable(self, local)),
        }
    }

    /// `left = right`, `left += right` with a site in one of them. Whether it may be taken apart.
    pub(super) fn hold_assignment(&mut self, assignment: &mut Expr, out: &mut Vec<Step>) -> Option<bool> {
        let (left, right, compound) = match assignment {
            Expr::Assign(one) => (&mut *one.left, &mut *one.right, false),
            Expr::Binary(one) if is_assignment(&one.op) => (&mut *one.left, &mut *one.right, true),
            _ => return None,
        };
        let by_left = self.touched_by([&*left]);
        if self.marks.in_expr(left) {
            let is_place = matches!(
                left,
                Expr::Index(_) | Expr::Field(_) | Expr::Unary(_) | Expr::Paren(_) | Expr::Group(_)
            );
            let is_late = compound
                && (self.marks.in_expr(right)
                    || !is_pure(self.marks.library, right)
                    || !self.is_stable(right, &by_left.mentioned));
            if !is_place || is_late {
                self.refuse_order(left);
                return Some(true);
            }
            self.hold(right, Role::Value, &by_left, out);
            self.hold_place(left, &by_left, out);
            return Some(true);
        }
        let by_right = self.touched_by([&*right]);
        // Where the right side changes the left place itself, rustc takes no type but those that are read last.
        let is_primitive = self.declared.is_number_in_list(&self.names.read(), left)
            || by_right.changes_certainly(left)
            || by_right.may_change_as_receiver(self, left)
            || by_right.is_passed(left) && self.passing_changes(left) == Some(true);
        if compound && !is_primitive && self.indices_change(left, &by_right) {
            self.refuse_order(left);
            return Some(true);
        }
        None
    }

    /// The variable as a whole: were it borrowed, rustc would not allow that, so it is a reference that was looked behind.
    fn changes_whole(&self, later: &Touched, local: crate::names::LocalId) -> bool {
        let names = self.names.read();
        let is_it = |place: &Expr| variable(place).and_then(|name| names.id(name)) == Some(local);
        later.exclusive.iter().any(is_it)
    }

    pub(super) fn refuse_order(&mut self, operand: &Expr) {
        self.errors.refuse(operand.span(), Refusal::SiteInExpression);
    }
}

/// How each operand is used, in the order in which they are evaluated.
pub(super) fn role_of_first(library: &Library, whole: &Expr) -> Role {
    use syn::BinOp;
    match whole {
        Expr::MethodCall(call) if library.only_looks(&call.method.to_string()) => Role::Looked,
        Expr::MethodCall(_) | Expr::Index(_) => Role::Changed,
        Expr::Binary(one) => match one.op {
            BinOp::Eq(_) | BinOp::Ne(_) | BinOp::Lt(_) | BinOp::Le(_) | BinOp::Gt(_) | BinOp::Ge(_) => {
                Role::Looked
            }
            _ => Role::Value,
        },
        _ => Role::Value,
    }
}

struct Touches<'a> {
    lowering: &'a Lowering<'a>,
    touched: Touched,
}

impl Touches<'_> {
    fn passes<'e>(&mut self, arguments: impl IntoIterator<Item = &'e Expr>) {
        let variables = arguments.into_iter().filter(|one| matches!(one, Expr::Path(_)));
        self.touched.passed.extend(variables.cloned());
    }

    /// The left side of an assignment, which may be a pattern.
    fn assigns(&mut self, left: &Expr) {
        match left {
            Expr::Tuple(tuple) => tuple.elems.iter().for_each(|one| self.assigns(one)),
            Expr::Array(array) => array.elems.iter().for_each(|one| self.assigns(one)),
            Expr::Call(call) => call.args.iter().for_each(|one| self.assigns(one)),
            Expr::Struct(one) => one.fields.iter().for_each(|field| self.assigns(&field.expr)),
            place => self.touched.exclusive.push(place.clone()),
        }
    }
}

impl<'ast> Visit<'ast> for Touches<'_> {
    fn visit_expr(&mut self, expr: &'ast Expr) {
        let library = self.lowering.marks.library;
        match expr {
            Expr::Assign(one) => self.assigns(&one.left),
            Expr::Binary(one) if is_assignment(&one.op) => self.assigns(&one.left),
            Expr::Reference(one) if one.mutability.is_some() => {
                self.touched.exclusive.push((*one.expr).clone());
            }
            Expr::MethodCall(call) => {
                if !library.only_looks(&call.method.to_string()) {
                    self.touched.receivers.push((*call.receiver).clone());
                }
                self.passes(&call.args);
            }
            Expr::Call(call) => self.passes(&call.args),
            _ => {}
        }
        visit::visit_expr(self, expr);
    }

    fn visit_macro(&mut self, mac: &'ast syn::Macro) {
        match arguments_of_macro(self.lowering.marks.library, mac) {
            Some(arguments) => arguments.iter().for_each(|one| {
                let mut inner = Touches {
                    lowering: self.lowering,
                    touched: std::mem::take(&mut self.touched),
                };
                inner.visit_expr(one);
                self.touched = inner.touched;
            }),
            None => {
                let locals = &self.lowering.names.read();
                let mentioned = crate::syntax::mentions::locals_in(locals, mac.to_token_stream());
                self.touched.opaque.extend(mentioned.iter());
            }
        }
    }

    fn visit_item(&mut self, _: &'ast syn::Item) {}
}
