//! Calls that start a thread which may outlive them.

use crate::library::segments;
use crate::parse::options::{Treatment, take_treatment};
use crate::paths::rt;
use quote::ToTokens;
use syn::visit_mut::{self, VisitMut};
use syn::{Expr, ExprCall, ExprMethodCall, Local, parse_quote};

/// The body in `thread::spawn(body)`, `rayon::spawn(body)`, or, where `spawn` is known to be std's, `spawn(body)` with a
/// closure.
pub fn in_call(call: &ExprCall, is_bare_known: bool) -> Option<&Expr> {
    let Expr::Path(path) = &*call.func else {
        return None;
    };
    let names = segments(&path.path);
    let [body] = call.args.iter().collect::<Vec<_>>()[..] else {
        return None;
    };
    let is_body = match names.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [.., "thread" | "rayon", "spawn" | "spawn_fifo"] => matches!(body, Expr::Closure(_) | Expr::Path(_)),
        ["spawn"] => is_bare_known && is_closure(body),
        _ => false,
    };
    is_body.then_some(body)
}

/// The body in `thread::Builder::new().spawn(body)`, `pool.execute(body)`, `pool.spawn(body)`; the threads of a scope end
/// with it.
pub fn in_method_call(call: &ExprMethodCall) -> Option<&Expr> {
    let [body] = call.args.iter().collect::<Vec<_>>()[..] else {
        return None;
    };
    let of_builder = || call.receiver.to_token_stream().to_string().contains("Builder");
    let of_pool = || {
        call.receiver
            .to_token_stream()
            .to_string()
            .to_lowercase()
            .contains("pool")
    };
    let is_body = match call.method.to_string().as_str() {
        "spawn" => of_builder() || of_pool(),
        "execute" => of_pool(),
        _ => false,
    };
    (is_body && is_closure(body)).then_some(body)
}

fn is_closure(body: &Expr) -> bool {
    matches!(body, Expr::Closure(closure) if closure.inputs.is_empty() && closure.asyncness.is_none())
}

/// Has the threads watched that a function starts.
pub(crate) fn watch(function: &mut syn::ItemFn) {
    Watch.visit_item_fn_mut(function);
}

struct Watch;

impl Watch {
    fn body(body: &mut Expr) {
        let rt = rt();
        let inner = &*body;
        *body = parse_quote!(#rt::watched(#inner));
    }
}

impl VisitMut for Watch {
    fn visit_local_mut(&mut self, local: &mut Local) {
        // A thread that a restart starts again holds no checkpoint back.
        let treatment = take_treatment(&mut local.attrs.clone());
        if !matches!(treatment, Ok(Some(Treatment::Reexecute))) {
            visit_mut::visit_local_mut(self, local);
        }
    }

    fn visit_expr_call_mut(&mut self, call: &mut ExprCall) {
        visit_mut::visit_expr_call_mut(self, call);
        if in_call(call, false).is_some() {
            Self::body(&mut call.args[0]);
        }
    }

    fn visit_expr_method_call_mut(&mut self, call: &mut ExprMethodCall) {
        visit_mut::visit_expr_method_call_mut(self, call);
        if in_method_call(call).is_some() {
            Self::body(&mut call.args[0]);
        }
    }
}
