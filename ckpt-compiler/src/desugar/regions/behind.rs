//! What a thread changes of a variable that it borrows: its body gets a `&mut` of that name, and looks behind it.

use crate::library::Library;
use crate::names::{LocalId, LocalSet, Locals};
use crate::syntax::macros::arguments_of_macro;
use crate::syntax::mentions::Declared;
use crate::visit::Visit;
use crate::visit::{self, VisitMut};
use quote::ToTokens;
use syn::{Block, Expr, parse_quote};

/// Writes `*x` for `x` in a body, for each of some variables. Returns those for which it cannot: another variable of the
/// body has that name.
pub(super) fn look_behind(library: &Library, locals: &Locals, body: &mut Block, some: &LocalSet) -> LocalSet {
    let mut declared = Declared::new(locals);
    declared.visit_block(body);
    let is_hidden = |one: &LocalId| locals.hide(&declared.found, &[*one].into_iter().collect());
    let (hidden, some) = some.iter().partition(is_hidden);
    Behind {
        library,
        locals,
        some,
    }
    .visit_block_mut(body);
    hidden
}

struct Behind<'a> {
    library: &'a Library,
    locals: &'a Locals,
    some: LocalSet,
}

impl VisitMut for Behind<'_> {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        let is_one = |path: &syn::ExprPath| {
            let local = path.path.get_ident().and_then(|name| self.locals.id(name));
            local.is_some_and(|local| self.some.contains(local))
        };
        match expr {
            Expr::Path(path) if is_one(path) => *expr = parse_quote!((*#path)),
            _ => visit::visit_expr_mut(self, expr),
        }
    }

    fn visit_field_value_mut(&mut self, field: &mut syn::FieldValue) {
        field.colon_token.get_or_insert_default();
        visit::visit_field_value_mut(self, field);
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
