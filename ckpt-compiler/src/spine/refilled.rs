//! Values that a restart makes again and fills: `#[ckpt(refill)]`.

use super::lower::{Lowering, is_one_name, step};
use super::operands::names_in;
use super::{Plain, Step, StepKind};
use crate::options::{Treatment, filled_parts};
use proc_macro2::Ident;
use quote::ToTokens;
use syn::spanned::Spanned;
use syn::{Expr, Local, Pat, Stmt, parse_quote};

/// The variables that are moved into what is filled, by the attribute of the statement.
pub(super) fn filled_parts_of(stmt: &Stmt) -> Vec<Ident> {
    match stmt {
        Stmt::Local(local) => filled_parts(&local.attrs),
        _ => Vec::new(),
    }
}

impl Lowering<'_> {
    /// `#[ckpt(refill)] let x = f();` becomes two statements: one that makes the value and runs again at restart, and one
    /// that gives it to `x`, which a restart fills in between. Whether it could be done.
    pub(super) fn make_first(&mut self, stmt: &mut Stmt, parts: &[Ident], out: &mut Vec<Step>) -> bool {
        let has_site = self.marks.in_stmt(stmt);
        let refused = match stmt {
            Stmt::Local(Local {
                pat,
                init: Some(init),
                ..
            }) if init.diverge.is_none() && is_one_name(pat) && !has_site => {
                let name = self.names.fresh("made");
                let mut made = std::mem::replace(&mut *init.expr, parse_quote!(#name));
                if !self.put_parts_aside(&mut made, parts, out) {
                    return false;
                }
                let made: Stmt = match pat {
                    Pat::Type(typed) => {
                        let ty = &typed.ty;
                        parse_quote!(let #name: #ty = #made;)
                    }
                    _ => parse_quote!(let #name = #made;),
                };
                out.push(step(StepKind::Plain(Plain {
                    stmt: made,
                    treatment: Some(Treatment::Reexecute),
                    restart: None,
                    replays: false,
                    again: None,
                })));
                return true;
            }
            other => other.span(),
        };
        self.errors.refuse(
            refused,
            "E1041: `#[ckpt(refill)]` on a statement that does not make one value",
            "a restart makes the value again, and then fills it from the checkpoint",
            "put it on `let x = ..;` with one name and without a call that leads to a site",
        );
        false
    }

    /// What the initialiser moves into a part that is filled has no value at a later site, and needs none: at a restart
    /// something of its type stands in for it until the value is filled. Whether all of them were found.
    fn put_parts_aside(&mut self, made: &mut Expr, parts: &[Ident], out: &mut Vec<Step>) -> bool {
        let rt = crate::paths::rt();
        let mentions =
            |expr: &Expr, part: &Ident| names_in(&expr.to_token_stream()).contains(&part.to_string());
        let mut missing: Vec<&Ident> = parts.iter().collect();
        for operand in operands_of(made) {
            if !parts.iter().any(|part| mentions(operand, part)) {
                continue;
            }
            missing.retain(|part| !mentions(operand, part));
            let mut name = self.names.fresh("part");
            name.set_span(name.span().located_at(operand.span()));
            let taken = std::mem::replace(operand, parse_quote!(#name));
            out.push(step(StepKind::Plain(Plain {
                stmt: parse_quote!(let #name = #rt::with_stand_in(#taken);),
                treatment: None,
                restart: Some(quote::quote!(#rt::stand_in())),
                replays: false,
                again: None,
            })));
        }
        for part in &missing {
            self.errors.refuse(
                part.span(),
                format!("E1051: `{part}` is said to move into a value that is filled, and its initialiser does not move it"),
                "a restart passes something of its type in its place, as an argument or as a field",
                "name variables that are arguments of the initialiser or values of its fields",
            );
        }
        missing.is_empty()
    }
}

/// The values that an initialiser is made of: those of the fields of a literal, or the arguments of a call.
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
