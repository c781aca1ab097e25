//! What patterns bind.

use syn::{Expr, Pat, PatIdent};

/// The variables that a pattern binds, in order, each once.
pub fn pattern_bindings(pattern: &Pat) -> Vec<PatIdent> {
    struct Bindings(Vec<PatIdent>);
    impl<'ast> syn::visit::Visit<'ast> for Bindings {
        fn visit_pat_ident(&mut self, pat: &'ast PatIdent) {
            if is_binding(pat) && self.0.iter().all(|old| old.ident != pat.ident) {
                self.0.push(pat.clone());
            }
            syn::visit::visit_pat_ident(self, pat);
        }
        fn visit_expr(&mut self, _: &'ast Expr) {}
    }
    let mut bindings = Bindings(Vec::new());
    syn::visit::Visit::visit_pat(&mut bindings, pattern);
    bindings.0
}

/// Whether an identifier in a pattern is a variable, and not a constant or a unit variant such as `None`.
pub fn is_binding(pat: &PatIdent) -> bool {
    let text = pat.ident.to_string();
    pat.by_ref.is_some()
        || pat.mutability.is_some()
        || pat.subpat.is_some()
        || !text.starts_with(|first: char| first.is_uppercase())
}
