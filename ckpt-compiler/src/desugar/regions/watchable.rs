//! Calls that start a thread which may outlive them.

use super::starts::made_by;
use crate::library::{Library, Threads};
use crate::parse::options::{Treatment, take_treatment};
use crate::paths::rt;
use crate::syntax::mentions::names_in;
use crate::visit::{self, VisitMut};
use quote::ToTokens;
use syn::{Expr, ExprCall, ExprMethodCall, Local, parse_quote};

/// The body in `thread::spawn(body)`, `rayon::spawn(body)`, or, where `spawn` is known to be std's, `spawn(body)` with a
/// closure.
pub fn in_call<'e>(library: &Library, call: &'e ExprCall, is_bare_known: bool) -> Option<&'e Expr> {
    let (Expr::Path(path), Some(body)) = (&*call.func, call.args.first()) else {
        return None;
    };
    let is_body = match path.path.get_ident() {
        Some(name) => is_bare_known && library.says(&name.to_string(), Threads::Starts) && is_closure(body),
        None => {
            library.says_of_path(&path.path, Threads::StartsAside)
                && (made_by(body).is_some() || matches!(body, Expr::Path(_)))
        }
    };
    (is_body && call.args.len() == 1).then_some(body)
}

/// The body in `thread::Builder::new().spawn(body)`, `pool.execute(body)`, `pool.spawn(body)`; the threads of a scope end
/// with it.
pub fn in_method_call<'e>(library: &Library, call: &'e ExprMethodCall) -> Option<&'e Expr> {
    let body = call.args.first().filter(|_| call.args.len() == 1)?;
    let receiver = names_in(&call.receiver.to_token_stream());
    let is_of = |key| receiver.iter().any(|name| library.says(name, key));
    let is_body = match library.key(&call.method.to_string())? {
        Threads::Starts => is_of(Threads::Builders) || is_of(Threads::Pools),
        Threads::Executes => is_of(Threads::Pools),
        _ => false,
    };
    (is_body && is_closure(body)).then_some(body)
}

fn is_closure(body: &Expr) -> bool {
    made_by(body).is_some_and(|closure| closure.inputs.is_empty() && closure.asyncness.is_none())
}

/// Has the threads watched that a function starts.
pub(crate) fn watch(library: &Library, function: &mut syn::ItemFn) {
    Watch(library).visit_item_fn_mut(function);
}

struct Watch<'l>(&'l Library);

impl Watch<'_> {
    fn body(body: &mut Expr) {
        let rt = rt();
        let inner = &*body;
        *body = parse_quote!(#rt::watched(#inner));
    }
}

impl VisitMut for Watch<'_> {
    fn visit_local_mut(&mut self, local: &mut Local) {
        // A thread that a restart starts again holds no checkpoint back.
        let treatment = take_treatment(&mut local.attrs.clone());
        if !matches!(treatment, Ok(Some(Treatment::Reexecute))) {
            visit::visit_local_mut(self, local);
        }
    }

    fn visit_expr_call_mut(&mut self, call: &mut ExprCall) {
        visit::visit_expr_call_mut(self, call);
        if in_call(self.0, call, false).is_some() {
            Self::body(&mut call.args[0]);
        }
    }

    fn visit_expr_method_call_mut(&mut self, call: &mut ExprMethodCall) {
        visit::visit_expr_method_call_mut(self, call);
        if in_method_call(self.0, call).is_some() {
            Self::body(&mut call.args[0]);
        }
    }
}
