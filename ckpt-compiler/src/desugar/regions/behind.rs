//! What a thread changes of a variable that it borrows: its body gets a `&mut` of that name, and looks behind it.

use crate::library::Library;
use crate::names::Names;
use crate::syntax::macros::arguments_of_macro;
use quote::ToTokens;
use std::collections::BTreeSet;
use syn::visit::Visit;
use syn::visit_mut::{self, VisitMut};
use syn::{Block, Expr, parse_quote};

/// Writes `*x` for `x` in a body, for each of the names. Gives those for which it cannot: another variable of the body
/// has that name.
pub(super) fn look_behind(
    library: &Library,
    locals: &Names,
    body: &mut Block,
    names: &BTreeSet<String>,
) -> BTreeSet<String> {
    let mut declared = Declared(BTreeSet::new());
    declared.visit_block(body);
    let is_declared = |name: &String| declared.0.iter().any(|one| locals.same_text(one, name));
    let (hidden, names): (BTreeSet<_>, _) = names.iter().cloned().partition(is_declared);
    Behind {
        library,
        names: &names,
    }
    .visit_block_mut(body);
    hidden
}

/// The names that a body declares.
struct Declared(BTreeSet<String>);

impl<'ast> Visit<'ast> for Declared {
    fn visit_pat_ident(&mut self, pattern: &'ast syn::PatIdent) {
        self.0.insert(pattern.ident.to_string());
    }
}

struct Behind<'a> {
    library: &'a Library,
    names: &'a BTreeSet<String>,
}

impl VisitMut for Behind<'_> {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        let is_one = |path: &syn::ExprPath| {
            let name = path.path.get_ident().map(ToString::to_string);
            name.is_some_and(|name| self.names.contains(&name))
        };
        match expr {
            Expr::Path(path) if is_one(path) => *expr = parse_quote!((*#path)),
            _ => visit_mut::visit_expr_mut(self, expr),
        }
    }

    fn visit_field_value_mut(&mut self, field: &mut syn::FieldValue) {
        field.colon_token.get_or_insert_default();
        visit_mut::visit_field_value_mut(self, field);
    }

    fn visit_macro_mut(&mut self, mac: &mut syn::Macro) {
        if let Some(mut arguments) = arguments_of_macro(self.library, mac) {
            arguments.iter_mut().for_each(|one| match one {
                Expr::Assign(named) => self.visit_expr_mut(&mut named.right),
                one => self.visit_expr_mut(one),
            });
            mac.tokens = arguments.to_token_stream();
        }
    }
    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}
