//! `team.run(|member| ..)`, `team.run_on(&mut data, |member, part| ..)` of `ckpt::team`: one closure is the body of all
//! threads.

use super::captures::{Capture, How};
use crate::diagnostics::{Diagnostics, Refusal};
use crate::library::{Library, Teams, last_name};
use syn::spanned::Spanned;
use syn::{Expr, ExprClosure, ExprMethodCall, Pat};

/// The closure that a team runs.
pub(super) fn body_of_team<'e>(library: &Library, expr: &'e Expr) -> Option<&'e ExprClosure> {
    let Expr::MethodCall(call) = expr else {
        return None;
    };
    let inputs = match library.key(&call.method.to_string())? {
        Teams::Runs => 1,
        Teams::RunsOn => 2,
        _ => return None,
    };
    match call.args.last() {
        Some(Expr::Closure(closure)) if call.args.len() == inputs && closure.inputs.len() == inputs => {
            is_team(library, &call.receiver).then_some(closure)
        }
        _ => None,
    }
}

/// `ckpt::team(n)`, `team`, `self.team`.
fn is_team(library: &Library, expr: &Expr) -> bool {
    match expr {
        Expr::Call(call) => is_team(library, &call.func),
        Expr::Path(path) => library.says(&last_name(&path.path), Teams::Named),
        Expr::Field(field) => {
            matches!(&field.member, syn::Member::Named(name) if library.says(&name.to_string(), Teams::Fields))
        }
        _ => false,
    }
}

/// The arguments in front of the closure.
pub(super) fn data(call: &ExprMethodCall) -> impl Iterator<Item = &Expr> {
    call.args.iter().take(call.args.len().saturating_sub(1))
}

/// What every thread is given by the team, behind what the closure captures: the member, and its part of the data.
pub(super) fn given(closure: &ExprClosure, errors: &mut Diagnostics) -> Vec<Capture> {
    let mut given = Vec::new();
    for (input, how) in closure.inputs.iter().zip([How::Reexecuted, How::InPlace]) {
        let pattern = match input {
            Pat::Type(typed) => &*typed.pat,
            other => other,
        };
        match pattern {
            Pat::Ident(name) if name.subpat.is_none() => given.push(Capture {
                ident: name.ident.clone(),
                how,
                borrowed: false,
                behind: false,
                alone: None,
                moved: false,
                in_parts: false,
            }),
            Pat::Wild(_) if how == How::Reexecuted => {}
            other => errors.refuse(other.span(), Refusal::TeamTakesApart),
        }
    }
    given
}
