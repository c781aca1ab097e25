//! Values that a restart makes again and fills: `#[ckpt(refill)]`.

use super::lower::{Lowering, is_one_name, step};
use super::{FilledLoan, Plain, Step, StepKind};
use crate::diagnostics::Refusal;
use crate::names::Kind;
use crate::parse::options::{FilledPart, Given, Treatment, filled_parts};
use proc_macro2::Ident;
use syn::spanned::Spanned;
use syn::{Expr, Local, Pat, Stmt, parse_quote};

/// The variables that are moved into what is filled, by the attribute of the statement.
pub(super) fn filled_parts_of(stmt: &Stmt) -> Vec<FilledPart> {
    match stmt {
        Stmt::Local(local) => filled_parts(&local.attrs),
        _ => Vec::new(),
    }
}

impl Lowering<'_> {
    /// `#[ckpt(refill)] let x = f();` becomes two statements: one that makes the value and runs again at restart, and one
    /// that gives it to `x`, which a restart fills in between. Whether it could be done.
    pub(super) fn make_first(&mut self, stmt: &mut Stmt, parts: &[FilledPart], out: &mut Vec<Step>) -> bool {
        let has_site = self.marks.in_stmt(stmt);
        let refused = match stmt {
            Stmt::Local(Local {
                pat,
                init: Some(init),
                ..
            }) if init.diverge.is_none() && (is_one_name(pat) || tuple_of(pat).is_some()) && !has_site => {
                let name = self.names.fresh(Kind::Made);
                let mut made = std::mem::replace(&mut *init.expr, parse_quote!(#name));
                let given = |given: Given| parts.iter().filter(move |part| part.given == given);
                let moved: Vec<Ident> = given(Given::Moved).map(|part| part.name.clone()).collect();
                if !moved.is_empty() && !self.put_parts_aside(&mut made, &moved, out) {
                    return false;
                }
                for part in given(Given::Lent) {
                    if !self.know_type_of_lent(&made, &name, &part.name, out) {
                        return false;
                    }
                }
                for part in given(Given::Copied) {
                    self.copied_contents.push((name.clone(), part.name.clone()));
                }
                let made: Stmt = match pat {
                    Pat::Type(typed) => {
                        let ty = &typed.ty;
                        parse_quote!(let #name: #ty = #made;)
                    }
                    _ => parse_quote!(let #name = #made;),
                };
                out.push(plainly(made, Treatment::Reexecute));
                return true;
            }
            other => other.span(),
        };
        self.errors.refuse(refused, Refusal::FillsNoValue);
        false
    }

    /// The variables of a tuple that is made first are filled each.
    pub(super) fn fill_each(&self, local: &Local, treatment: Treatment, out: &mut Vec<Step>) -> bool {
        let (Some(tuple), Some(init)) = (tuple_of(&local.pat), &local.init) else {
            return false;
        };
        let made = &init.expr;
        out.extend(tuple.elems.iter().enumerate().map(|(index, name)| {
            let index = syn::Index::from(index);
            plainly(parse_quote!(let #name = #made.#index;), treatment)
        }));
        true
    }

    /// What the initialiser lends exclusively for good cannot be looked at while the value lives that is filled: that one
    /// saves it. In its own place something of its type is saved, which the filling replaces. Whether it is lent.
    fn know_type_of_lent(&mut self, made: &Expr, value: &Ident, base: &Ident, out: &mut Vec<Step>) -> bool {
        let rt = crate::paths::rt();
        let found = values_in(made).into_iter().find_map(|operand| match operand {
            Expr::Reference(one) if one.mutability.is_some() && is_name(&one.expr, base) => {
                Some(quote::quote!(&#base))
            }
            operand if is_name(operand, base) => Some(quote::quote!(&*#base)),
            _ => None,
        });
        let Some(borrowed) = found else {
            self.refuse_missing_part(base);
            return false;
        };
        let kind = self.names.fresh(Kind::TypeOfLent);
        out.push(step(StepKind::Plain(Plain {
            stmt: parse_quote!(let #kind = #rt::Kind::of(#borrowed);),
            treatment: Some(Treatment::Reexecute),
            restart: None,
            reexecutes: false,
            again: None,
        })));
        self.filled_loans.push(FilledLoan {
            value: value.clone(),
            base: base.clone(),
            kind,
        });
        true
    }

    /// What the initialiser moves into a part that is filled has no value at a later site, and needs none: at a restart
    /// something of its type stands in for it until the value is filled. Whether all of them were found.
    fn put_parts_aside(&mut self, made: &mut Expr, parts: &[Ident], out: &mut Vec<Step>) -> bool {
        let rt = crate::paths::rt();
        let mut missing: Vec<&Ident> = parts.iter().collect();
        for operand in operands_of(made) {
            let mentioned = self.locals_in(operand);
            let is_mentioned = |part: &Ident| {
                let part = self.names.read().id(part);
                part.is_some_and(|part| mentioned.contains(part))
            };
            if !parts.iter().any(is_mentioned) {
                continue;
            }
            missing.retain(|part| !is_mentioned(part));
            let mut name = self.names.fresh(Kind::Part);
            name.set_span(name.span().located_at(operand.span()));
            let taken = std::mem::replace(operand, parse_quote!(#name));
            out.push(step(StepKind::Plain(Plain {
                stmt: parse_quote!(let #name = #rt::with_stand_in(#taken);),
                treatment: None,
                restart: Some(quote::quote!(#rt::stand_in())),
                reexecutes: false,
                again: None,
            })));
        }
        for part in &missing {
            self.refuse_missing_part(part);
        }
        missing.is_empty()
    }

    fn refuse_missing_part(&mut self, part: &Ident) {
        self.errors
            .refuse(part.span(), Refusal::PartDoesNotMove { part: part.clone() });
    }
}

fn is_name(expr: &Expr, name: &Ident) -> bool {
    matches!(expr, Expr::Path(path) if path.path.is_ident(name))
}

/// Names for all parts of a tuple: each is a variable that is filled.
fn tuple_of(pat: &Pat) -> Option<&syn::PatTuple> {
    match pat {
        Pat::Tuple(tuple) if tuple.elems.iter().all(is_one_name) => Some(tuple),
        Pat::Type(typed) => tuple_of(&typed.pat),
        _ => None,
    }
}

fn plainly(stmt: Stmt, treatment: Treatment) -> Step {
    step(StepKind::Plain(Plain {
        stmt,
        treatment: Some(treatment),
        restart: None,
        reexecutes: false,
        again: None,
    }))
}

/// The values that an initialiser is made of.
fn values_in(made: &Expr) -> Vec<&Expr> {
    match made {
        Expr::Struct(literal) => literal.fields.iter().map(|field| &field.expr).collect(),
        Expr::Call(call) => call.args.iter().collect(),
        Expr::MethodCall(call) => call.args.iter().collect(),
        _ => Vec::new(),
    }
}

/// The same, to be replaced: those of the fields of a literal, or the arguments of a call.
fn operands_of(made: &mut Expr) -> Vec<&mut Expr> {
    match made {
        Expr::Struct(literal) => {
            let fields = literal.fields.iter_mut().map(|field| {
                // `cells` is `cells: cells`.
                field.colon_token.get_or_insert_default();
                &mut field.expr
            });
            fields.collect()
        }
        Expr::Call(call) => call.args.iter_mut().collect(),
        Expr::MethodCall(call) => call.args.iter_mut().collect(),
        _ => Vec::new(),
    }
}
