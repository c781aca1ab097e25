//! Arrays on devices that the code which makes them only lends, and drops: a group of arrays or a view that was made from one has
//! it from then on, and no variable. Made again it has its first content. With libraries that have nothing beneath them nobody
//! counts such arrays.

use ckpt_compiler::library::{DeviceMethods, Library, Threads};
use ckpt_compiler::syntax::macros::arguments_of_macro;
use ckpt_compiler::syntax::mentions::names_in;
use ckpt_compiler::syntax::places::place_root;
use ckpt_compiler::visit::{self, Visit};
use syn::{Expr, Local, Pat};

/// The `let` of the variable of this name, if its value is lent and never moved: only what it was lent to has it when the function
/// ends.
pub(super) fn dropped<'f>(library: &Library, function: &'f syn::ItemFn, name: &str) -> Option<&'f Local> {
    uses_that_drop(library, function, name)?.declared
}

/// Whether a variable that is declared in whatever way is only lent.
pub(super) fn is_dropped(library: &Library, function: &syn::ItemFn, name: &str) -> bool {
    uses_that_drop(library, function, name).is_some()
}

fn uses_that_drop<'f, 'n>(
    library: &'n Library,
    function: &'f syn::ItemFn,
    name: &'n str,
) -> Option<Uses<'f, 'n>> {
    let mut uses = Uses::of(library, name);
    uses.visit_block(&function.block);
    (uses.is_lent && !uses.is_moved).then_some(uses)
}

struct Uses<'f, 'n> {
    library: &'n Library,
    name: &'n str,
    declared: Option<&'f Local>,
    is_lent: bool,
    is_moved: bool,
}

impl<'n> Uses<'_, 'n> {
    fn of(library: &'n Library, name: &'n str) -> Self {
        Self {
            library,
            name,
            declared: None,
            is_lent: false,
            is_moved: false,
        }
    }

    /// Whether it is dropped there: what it was lent to has it still.
    fn ends_it(&self, call: &syn::ExprCall) -> bool {
        let is_drop =
            matches!(&*call.func, Expr::Path(path) if self.library.says_of_path(&path.path, Threads::Drops));
        is_drop && call.args.first().is_some_and(|one| self.is_it(one))
    }

    fn is_part_of_it(&self, expr: &Expr) -> bool {
        place_root(expr).is_some_and(|one| one == self.name)
    }

    fn is_it(&self, expr: &Expr) -> bool {
        matches!(expr, Expr::Path(path) if path.path.get_ident().is_some_and(|one| one == self.name))
    }
}

impl<'f> Visit<'f> for Uses<'f, '_> {
    fn visit_local(&mut self, local: &'f Local) {
        let mut pattern = &local.pat;
        while let Pat::Type(typed) = pattern {
            pattern = &typed.pat;
        }
        if matches!(pattern, Pat::Ident(one) if one.ident == self.name) {
            self.declared = Some(local);
        }
        visit::visit_local(self, local);
    }

    fn visit_expr(&mut self, expr: &'f Expr) {
        let place = match expr {
            Expr::Reference(one) => {
                self.is_lent |= self.is_part_of_it(&one.expr);
                &one.expr
            }
            Expr::Call(call) if self.ends_it(call) => return,
            Expr::MethodCall(call) => {
                call.args.iter().for_each(|one| self.visit_expr(one));
                if self.is_part_of_it(&call.receiver) {
                    let method = call.method.to_string();
                    self.is_lent |= self.library.says(&method, DeviceMethods::Same);
                    return;
                }
                &call.receiver
            }
            Expr::Field(one) => &one.base,
            Expr::Index(one) => &one.expr,
            Expr::Path(_) => {
                self.is_moved |= self.is_it(expr);
                return;
            }
            other => return visit::visit_expr(self, other),
        };
        if !self.is_it(place) {
            self.visit_expr(place);
        }
        if let Expr::Index(one) = expr {
            self.visit_expr(&one.index);
        }
    }

    fn visit_macro(&mut self, mac: &'f syn::Macro) {
        // What it means is not known otherwise: it may move it.
        let mentions = names_in(&mac.tokens).contains(self.name);
        match arguments_of_macro(self.library, mac) {
            Some(arguments) if mentions => {
                let mut inside = Uses::of(self.library, self.name);
                arguments.iter().for_each(|one| inside.visit_expr(one));
                self.is_moved |= inside.is_moved;
                self.is_lent |= inside.is_lent;
            }
            _ => self.is_moved |= mentions,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_only_lent_is_dropped() {
        let is_dropped = |text: &str| {
            let function =
                syn::parse_str(&format!("fn f() -> Group {{ let seeds = made(); {text} }}")).unwrap();
            dropped(Library::builtin(), &function, "seeds").is_some()
        };
        for only_lent in [
            "group(&[&seeds, walk])",
            "let all = [Entry { binding: 0, resource: seeds.as_entire_binding() }]; group(&all)",
            "queue.write_buffer(&seeds, 0, &start); group(vec![entry(&seeds)])",
            "let group = group(&seeds); drop(seeds); group",
            "group(&seeds.of_all, seeds.second.as_entire_binding())",
        ] {
            assert!(is_dropped(only_lent), "{only_lent}");
        }
        for kept in [
            "Kept { group: group(&seeds), seeds }",
            "Kept { group: group(&seeds), array: seeds }",
            "(group(&seeds), seeds)",
            "let group = group(&seeds); keep(seeds); group",
            "let all = vec![seeds]; group(&all[0])",
            "Ok(Some(seeds))",
            "seeds",
            "group(seeds.size())",
        ] {
            assert!(!is_dropped(kept), "{kept}");
        }
    }
}
