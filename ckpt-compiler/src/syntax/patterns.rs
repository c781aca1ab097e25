//! What patterns bind.

use crate::names::Locals;
use syn::{Expr, Pat, PatIdent};

/// The variables that a pattern binds in a function whose names are resolved, in order, each once.
pub fn pattern_bindings(locals: &Locals, pattern: &Pat) -> Vec<PatIdent> {
    bindings_where(pattern, &|one| is_binding(locals, one))
}

/// Whether an identifier in a pattern is a variable, and not a constant or a unit variant such as `None`. No variable of a
/// function has the name of a constant that it mentions. A name that is in no table is a pass's own, or that of a constant
/// from elsewhere.
pub fn is_binding(locals: &Locals, pat: &PatIdent) -> bool {
    match locals.id(&pat.ident) {
        Some(id) => binds_by_itself(pat) || !locals.get(id).is_item,
        None => is_likely_binding(pat),
    }
}

/// The names in a pattern that always matches, as that of a parameter: all of them are variables.
pub fn irrefutable_bindings(pattern: &Pat) -> Vec<PatIdent> {
    bindings_where(pattern, &|_| true)
}

/// The names in a pattern that are variables by the look of them.
pub fn likely_bindings(pattern: &Pat) -> Vec<PatIdent> {
    bindings_where(pattern, &is_likely_binding)
}

/// Whether an identifier in a pattern of unknown meaning is a variable by the look of it: constants and variants have a
/// capital.
pub fn is_likely_binding(pat: &PatIdent) -> bool {
    let text = pat.ident.to_string();
    binds_by_itself(pat) || !text.starts_with(|first: char| first.is_uppercase())
}

/// Whether it binds whatever is known by that name: `ref x`, `mut x`, `x @ ..`.
pub fn binds_by_itself(pat: &PatIdent) -> bool {
    pat.by_ref.is_some() || pat.mutability.is_some() || pat.subpat.is_some()
}

/// The names in a pattern that are variables, in order, each once.
pub fn bindings_where(pattern: &Pat, is_variable: &dyn Fn(&PatIdent) -> bool) -> Vec<PatIdent> {
    struct Bindings<'a>(Vec<PatIdent>, &'a dyn Fn(&PatIdent) -> bool);
    impl<'ast> crate::visit::Visit<'ast> for Bindings<'_> {
        fn visit_pat_ident(&mut self, pat: &'ast PatIdent) {
            if (self.1)(pat) && self.0.iter().all(|old| old.ident != pat.ident) {
                self.0.push(pat.clone());
            }
            crate::visit::visit_pat_ident(self, pat);
        }
        fn visit_expr(&mut self, _: &'ast Expr) {}
    }
    let mut bindings = Bindings(Vec::new(), is_variable);
    crate::visit::Visit::visit_pat(&mut bindings, pattern);
    bindings.0
}

/// Whether a pattern has `ref mut`, and so borrows exclusively from what it takes apart.
///
/// ```
/// use ckpt_compiler::syntax::patterns::lends_exclusively;
/// assert!(lends_exclusively(&syn::parse_quote!((ref mut a, b))));
/// assert!(!lends_exclusively(&syn::parse_quote!((ref a, mut b))));
/// ```
pub fn lends_exclusively(pattern: &Pat) -> bool {
    let bound = irrefutable_bindings(pattern);
    bound
        .iter()
        .any(|one| one.by_ref.is_some() && one.mutability.is_some())
}

/// The places that an assignment gives values: `[now, _] = ..` has more than one.
///
/// ```
/// use ckpt_compiler::syntax::patterns::assigned_places;
/// assert_eq!(assigned_places(&syn::parse_quote!((a, [b.x, Pair { one: c[1], .. }]))).len(), 3);
/// ```
pub fn assigned_places(place: &Expr) -> Vec<&Expr> {
    let all: Vec<&Expr> = match place {
        Expr::Paren(one) => vec![&one.expr],
        Expr::Tuple(one) => one.elems.iter().collect(),
        Expr::Array(one) => one.elems.iter().collect(),
        Expr::Call(one) => one.args.iter().collect(),
        Expr::Struct(one) => one.fields.iter().map(|field| &field.expr).collect(),
        _ => return vec![place],
    };
    all.into_iter().flat_map(assigned_places).collect()
}
