//! Values without a name: `lock.lock().unwrap()` in `lock.lock().unwrap().len() + work()` lives to the end of the statement. When
//! the call that leads to a site becomes a statement of its own, what stands before it becomes one as well, and such a value
//! ends with that. It is left to the type checker whether anybody sees it: a type with a destructor of its own is refused.

use super::lower::Lowering;
use crate::library::{Adaptor, Ending, Library};
use crate::names::Kind;
use crate::paths;
use crate::syntax::patterns::pattern_bindings;
use syn::{BinOp, Expr, UnOp, parse_quote};

impl Lowering<'_> {
    /// Checks the types of all values without a name that live longer than the expression, when its own value is moved away.
    pub(super) fn check_unnamed(&self, expr: &mut Expr) {
        match expr {
            Expr::MethodCall(call) => {
                match moves_receiver(self.marks.library, &call.method.to_string()) {
                    true => self.check_unnamed(&mut call.receiver),
                    false => self.check_place(&mut call.receiver),
                }
                call.args.iter_mut().for_each(|one| self.check_unnamed(one));
            }
            Expr::Call(call) => call.args.iter_mut().for_each(|one| self.check_unnamed(one)),
            Expr::Binary(one) => {
                let looks = matches!(
                    one.op,
                    BinOp::Eq(_) | BinOp::Ne(_) | BinOp::Lt(_) | BinOp::Le(_) | BinOp::Gt(_) | BinOp::Ge(_)
                );
                // What a lazy operator has on its right ends there.
                let is_lazy = matches!(one.op, BinOp::And(_) | BinOp::Or(_));
                for side in [&mut one.left, &mut one.right]
                    .into_iter()
                    .take(if is_lazy { 1 } else { 2 })
                {
                    match looks {
                        true => self.check_place(side),
                        false => self.check_unnamed(side),
                    }
                }
            }
            Expr::Field(one) => self.check_place(&mut one.base),
            Expr::Index(one) => {
                self.check_place(&mut one.expr);
                self.check_unnamed(&mut one.index);
            }
            Expr::Reference(one) => self.check_place(&mut one.expr),
            Expr::Unary(one) => match one.op {
                UnOp::Deref(_) => self.check_place(&mut one.expr),
                _ => self.check_unnamed(&mut one.expr),
            },
            Expr::Match(one) => self.check_unnamed(&mut one.expr),
            Expr::Let(one) => self.check_unnamed(&mut one.expr),
            Expr::Paren(one) => self.check_unnamed(&mut one.expr),
            Expr::Group(one) => self.check_unnamed(&mut one.expr),
            Expr::Cast(one) => self.check_unnamed(&mut one.expr),
            Expr::Try(one) => self.check_unnamed(&mut one.expr),
            Expr::Tuple(one) => one.elems.iter_mut().for_each(|one| self.check_unnamed(one)),
            Expr::Array(one) => one.elems.iter_mut().for_each(|one| self.check_unnamed(one)),
            Expr::Struct(one) => {
                let values = one.fields.iter_mut().map(|field| &mut field.expr);
                values.for_each(|one| self.check_unnamed(one));
            }
            // The values of these end with them.
            _ => {}
        }
    }

    /// The same of what the `let`s of a condition look at: it lives as long as the branch that is taken. Other parts of a
    /// condition end with it.
    pub(super) fn check_unnamed_of_lets(&self, condition: &mut Expr) {
        match condition {
            Expr::Binary(one) if matches!(one.op, BinOp::And(_)) => {
                self.check_unnamed_of_lets(&mut one.left);
                self.check_unnamed_of_lets(&mut one.right);
            }
            Expr::Paren(one) => self.check_unnamed_of_lets(&mut one.expr),
            Expr::Let(one) => {
                let binds_nothing = pattern_bindings(&self.names.read(), &one.pat).is_empty();
                match binds_nothing {
                    true => self.check_place(&mut one.expr),
                    false => self.check_unnamed(&mut one.expr),
                }
            }
            _ => {}
        }
    }

    /// The same of an expression that is looked at, called on or borrowed from, where it is: its own value has no name either.
    pub(super) fn check_place(&self, expr: &mut Expr) {
        match expr {
            Expr::Paren(one) => return self.check_place(&mut one.expr),
            Expr::Group(one) => return self.check_place(&mut one.expr),
            _ => self.check_unnamed(expr),
        }
        if let Expr::Call(_) | Expr::MethodCall(_) = expr {
            let value = self.names.fresh(Kind::Value);
            let check = paths::check_early(paths::at(&*expr), &value);
            *expr = parse_quote!(match #expr { #value => { #check #value } });
        }
    }
}

/// Whether a method certainly takes what it is called on, and does not only look at it or change it.
fn moves_receiver(library: &Library, method: &str) -> bool {
    let ends = library.key(method).is_some_and(|ending: Ending| {
        !matches!(
            ending,
            Ending::Last
                | Ending::Any
                | Ending::All
                | Ending::Finds
                | Ending::FindsSome
                | Ending::Position
                | Ending::EachEarly
                | Ending::FoldsEarly
        )
    });
    let adapts = library.key::<Adaptor>(method).is_some() && !library.changes(method);
    ends || adapts || library.consumes(method) && !library.collects(method)
}
