//! Which variables are plainly numbers, `bool` or `char`, so that a use copies them. Types are not known: what cannot be
//! told from the text counts as something that may be moved.

use super::expr::Walker;
use super::{Binding, Declaration, Passing};
use crate::library::{Library, Numbers, segments};
use crate::names::Kind;
use crate::syntax::language::is_number_type as is_number;
use crate::syntax::places::place_root;
use syn::{BinOp, Expr, Lit, Pat, Path, Type};

impl Walker<'_> {
    /// Whether a variable of a pattern is a number, by the type written for the pattern or by what it is made from.
    pub(super) fn binds_number(
        &self,
        name: &proc_macro2::Ident,
        pattern: &Pat,
        ty: Option<&Type>,
        value: Option<&Expr>,
    ) -> bool {
        // What `spine::keys` has put aside.
        if self.flow.locals.is(name, Kind::Key) {
            return true;
        }
        match (pattern, ty, value) {
            (Pat::Ident(one), ..) if one.ident == *name && one.by_ref.is_none() && is_compared(one) => true,
            (Pat::Ident(one), Some(ty), _) if one.ident == *name && one.subpat.is_none() => {
                is_number_type(ty)
            }
            (Pat::Ident(one), None, Some(value)) if one.ident == *name && one.subpat.is_none() => {
                one.by_ref.is_none() && self.is_number(value)
            }
            (Pat::Paren(inner), ..) => self.binds_number(name, &inner.pat, ty, value),
            (Pat::Tuple(parts), ..) => {
                let count = parts.elems.len();
                let types = match ty {
                    Some(Type::Tuple(types)) if types.elems.len() == count => Some(&types.elems),
                    Some(_) => return false,
                    None => None,
                };
                let values = match value {
                    Some(Expr::Tuple(values)) if values.elems.len() == count => Some(&values.elems),
                    _ => None,
                };
                !parts.elems.iter().any(|part| matches!(part, Pat::Rest(_)))
                    && (0..count).any(|index| {
                        let (ty, value) = (
                            types.map(|types| &types[index]),
                            values.map(|values| &values[index]),
                        );
                        self.binds_number(name, &parts.elems[index], ty, value)
                    })
            }
            _ => false,
        }
    }

    /// Whether a use by value certainly leaves the variable as it is. Nothing is moved out of a list, nor out of what is borrowed.
    pub(super) fn is_copied(&self, binding: &Binding) -> bool {
        binding.is_number
            || is_borrowed(binding)
            || binding
                .init
                .as_ref()
                .is_some_and(|init| self.is_copied_from(init))
    }

    fn is_copied_from(&self, value: &Expr) -> bool {
        match value {
            Expr::Paren(inner) => self.is_copied_from(&inner.expr),
            Expr::Group(inner) => self.is_copied_from(&inner.expr),
            Expr::Reference(_) | Expr::Index(_) => true,
            Expr::Field(field) => {
                let root = place_root(&field.base).and_then(|name| self.resolve(name));
                root.is_some_and(|root| is_borrowed(&self.flow.bindings[root]))
            }
            _ => false,
        }
    }

    fn is_number(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Lit(lit) => !matches!(lit.lit, Lit::Str(_) | Lit::ByteStr(_) | Lit::CStr(_)),
            Expr::Cast(cast) => is_number_type(&cast.ty),
            Expr::Paren(inner) => self.is_number(&inner.expr),
            Expr::Group(inner) => self.is_number(&inner.expr),
            Expr::Unary(unary) => !matches!(unary.op, syn::UnOp::Deref(_)) && self.is_number(&unary.expr),
            Expr::Binary(one) => self.is_number_of_two(one),
            Expr::MethodCall(call) if self.library.is_call(call, Numbers::Length) => call.args.is_empty(),
            Expr::MethodCall(call) => {
                self.library.is_call(call, Numbers::Gives) && self.is_number(&call.receiver)
            }
            Expr::Call(call) => match &*call.func {
                Expr::Path(path) if path.qself.is_none() => is_of_number(self.library, &path.path, true),
                _ => false,
            },
            Expr::Path(path) if path.qself.is_none() => match path.path.get_ident() {
                Some(name) => self
                    .resolve(name)
                    .is_some_and(|id| self.flow.bindings[id].is_number),
                None => is_of_number(self.library, &path.path, false),
            },
            Expr::If(branch) => {
                let last = branch.then_branch.stmts.last();
                matches!(last, Some(syn::Stmt::Expr(value, None)) if self.is_number(value))
            }
            _ => false,
        }
    }

    fn is_number_of_two(&self, one: &syn::ExprBinary) -> bool {
        let compares = matches!(
            one.op,
            BinOp::Eq(_)
                | BinOp::Ne(_)
                | BinOp::Lt(_)
                | BinOp::Le(_)
                | BinOp::Gt(_)
                | BinOp::Ge(_)
                | BinOp::And(_)
                | BinOp::Or(_)
        );
        let by_whole = matches!(one.op, BinOp::Div(_) | BinOp::Rem(_) | BinOp::Shr(_))
            && matches!(&*one.right, Expr::Lit(lit) if matches!(lit.lit, Lit::Int(_)));
        let sides = [&one.left, &one.right];
        let numbers = sides.iter().filter(|side| self.is_number(side)).count();
        let constants = sides.iter().filter(|side| self.is_constant(side)).count();
        compares || by_whole || numbers == 2 || numbers == 1 && constants == 1
    }

    /// A constant by the look of its name: in arithmetic with a number it is one.
    fn is_constant(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Path(path) => path.path.segments.last().is_some_and(|last| {
                let name = last.ident.to_string();
                self.resolve(&last.ident).is_none()
                    && name.chars().any(char::is_uppercase)
                    && !name.chars().any(char::is_lowercase)
            }),
            _ => false,
        }
    }
}

/// Whether the variable is a reference, as far as its type is written.
fn is_borrowed(binding: &Binding) -> bool {
    let is_passed = matches!(
        binding.declaration,
        Declaration::Parameter {
            passing: Passing::Shared | Passing::Exclusive,
            ..
        }
    );
    is_passed || matches!(binding.ty, Some(Type::Reference(_)))
}

pub(super) fn is_number_type(ty: &Type) -> bool {
    match ty {
        Type::Path(path) if path.qself.is_none() => path
            .path
            .get_ident()
            .is_some_and(|name| is_number(&name.to_string())),
        Type::Paren(inner) => is_number_type(&inner.elem),
        _ => false,
    }
}

/// `f64::MAX`, `std::f64::consts::PI`; with a call, `f64::from`.
fn is_of_number(library: &Library, path: &Path, called: bool) -> bool {
    let names = segments(path);
    let Some((last, before)) = names.split_last() else {
        return false;
    };
    let is_type = |name: &String| is_number(name);
    let gives = match called {
        true => matches!(library.key(last), Some(Numbers::From | Numbers::Gives)),
        false => last.chars().all(|letter| !letter.is_lowercase()),
    };
    let in_type = before.last().is_some_and(is_type);
    let in_constants = before
        .last()
        .is_some_and(|name| library.says(name, Numbers::Constants))
        && before.len() > 1
        && is_type(&before[before.len() - 2]);
    gives && (in_type || in_constants && !called)
}

/// `n @ 1..=9`: only numbers and `char` are compared with ranges.
fn is_compared(one: &syn::PatIdent) -> bool {
    fn of_numbers(pattern: &Pat) -> bool {
        match pattern {
            Pat::Range(_) => true,
            Pat::Lit(literal) => !matches!(literal.lit, Lit::Str(_) | Lit::ByteStr(_) | Lit::CStr(_)),
            Pat::Paren(inner) => of_numbers(&inner.pat),
            Pat::Or(either) => either.cases.iter().all(of_numbers),
            _ => false,
        }
    }
    one.subpat.as_ref().is_some_and(|(_, inner)| of_numbers(inner))
}
