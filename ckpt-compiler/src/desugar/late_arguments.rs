//! Arguments that a macro evaluates only if it needs them: the text of a check that fails, all that a check in a build for
//! debugging is given, a message that somebody wants to read.
//!
//! What holds a site is put into variables in front of the macro, so it must not be evaluated where the macro would not do
//! so: the decision becomes an `if` around the macro.

use crate::diagnostics::{Diagnostics, Refusal};
use crate::library::Macros;
use crate::names::{Kind, Names};
use crate::syntax::macros::{
    Arguments, arguments_before_text, arguments_evaluated_always, arguments_of_macro, may_hold_a_site,
    name_of_macro,
};
use crate::syntax::marks::Marks;
use crate::visit::{self, VisitMut};
use quote::ToTokens;
use syn::spanned::Spanned;
use syn::{Attribute, Expr, ItemFn, Macro, Stmt, StmtMacro, parse_quote};

/// Puts an `if` around the macros of a function that may leave an argument with a site unevaluated.
pub fn decide_first(function: &mut ItemFn, marks: Marks<'_>, names: &Names, errors: &mut Diagnostics) {
    let mut rewriter = Rewriter { marks, names, errors };
    rewriter.visit_block_mut(&mut function.block);
}

struct Rewriter<'a> {
    marks: Marks<'a>,
    names: &'a Names,
    errors: &'a mut Diagnostics,
}

impl VisitMut for Rewriter<'_> {
    fn visit_stmt_mut(&mut self, stmt: &mut Stmt) {
        if let Stmt::Macro(one) = stmt
            && let Some(decided) = self.decided(&one.attrs, &mut one.mac)
        {
            *stmt = Stmt::Expr(decided, one.semi_token);
            return;
        }
        visit::visit_stmt_mut(self, stmt);
    }

    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        if let Expr::Macro(one) = expr
            && let Some(decided) = self.decided(&one.attrs, &mut one.mac)
        {
            *expr = decided;
            return;
        }
        visit::visit_expr_mut(self, expr);
    }

    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}

impl Rewriter<'_> {
    /// What stands for the macro where it may leave an argument with a site unevaluated. What its arguments hold has been
    /// looked through in any case.
    fn decided(&mut self, attributes: &[Attribute], mac: &mut Macro) -> Option<Expr> {
        if Marks::is_checkpoint(mac) || !self.marks.in_tokens(&mac.tokens) {
            return None;
        }
        let library = self.marks.library;
        let mut arguments = arguments_of_macro(library, mac)?;
        for argument in &mut arguments {
            self.visit_expr_mut(argument);
        }
        mac.tokens = arguments.to_token_stream();
        let last = arguments
            .iter()
            .rposition(|argument| self.marks.in_expr(argument))?;
        let name = name_of_macro(mac);
        if last < arguments_evaluated_always(library, &name) {
            return None;
        }
        if !may_hold_a_site(library, &name, last) {
            self.errors
                .refuse(arguments[last].span(), Refusal::SiteInExpression);
            return None;
        }
        let attributes = attributes.to_vec();
        let check = match last < arguments_before_text(library, &name) {
            true => statement(attributes, mac.clone()),
            false => self.failing(attributes, mac, arguments),
        };
        Some(match library.says(&name, Macros::Debugs) {
            true => parse_quote!(if ::core::cfg!(debug_assertions) { #check }),
            false => parse_quote!({ #check }),
        })
    }

    /// A check that is made once more where its condition does not hold, for its text alone.
    fn failing(&self, attributes: Vec<Attribute>, mac: &Macro, mut arguments: Arguments) -> Stmt {
        let holds = self.names.fresh(Kind::Condition);
        let condition = std::mem::replace(&mut arguments[0], parse_quote!(#holds));
        let check = Macro {
            tokens: arguments.to_token_stream(),
            ..mac.clone()
        };
        let check = statement(attributes, check);
        parse_quote!({
            let #holds = #condition;
            if !#holds { #check }
        })
    }
}

fn statement(attributes: Vec<Attribute>, mac: Macro) -> Stmt {
    Stmt::Macro(StmtMacro {
        attrs: attributes,
        mac,
        semi_token: Some(Default::default()),
    })
}

#[cfg(test)]
mod tests {
    use super::{Marks, Names, decide_first};
    use crate::diagnostics::Diagnostics;
    use crate::library::Library;
    use crate::names::Locals;
    use proc_macro2::TokenStream;
    use quote::{ToTokens, quote};
    use syn::{ItemFn, parse_quote};

    #[track_caller]
    fn assert_decided(body: TokenStream, expected: TokenStream) {
        let mut function: ItemFn = parse_quote!(fn f() { #body });
        let calls = [parse_quote!(step)];
        let marks = Marks {
            calls: &calls,
            library: Library::builtin(),
        };
        let mut errors = Diagnostics::default();
        decide_first(&mut function, marks, &Names::of(Locals::default()), &mut errors);
        assert!(errors.is_empty());
        let expected: ItemFn = parse_quote!(fn f() { #expected });
        let [made, expected] = [function, expected].map(|one| one.to_token_stream().to_string());
        assert_eq!(made, expected);
    }

    #[test]
    fn the_text_of_a_check_is_made_where_the_check_fails() {
        assert_decided(
            quote!(assert!(step(0) > 0, "{} {x}", step(1), x = g()); h();),
            quote! {
                {{
                    let __ckpt_condition1 = step(0) > 0;
                    if !__ckpt_condition1 {
                        assert!(__ckpt_condition1, "{} {x}", step(1), x = g());
                    }
                }};
                h();
            },
        );
    }

    #[test]
    fn a_check_for_debugging_is_made_in_builds_for_debugging() {
        assert_decided(
            quote!(debug_assert_eq!(step(0), 1, "{}", g());),
            quote!(if ::core::cfg!(debug_assertions) { debug_assert_eq!(step(0), 1, "{}", g()); };),
        );
        assert_decided(
            quote!(println!("{}", { debug_assert!(g(), "{}", step(1)); 3 });),
            quote! {
                println!("{}", {
                    if ::core::cfg!(debug_assertions) {
                        {
                            let __ckpt_condition1 = g();
                            if !__ckpt_condition1 {
                                debug_assert!(__ckpt_condition1, "{}", step(1));
                            }
                        }
                    };
                    3
                });
            },
        );
    }

    #[test]
    fn what_is_evaluated_always_stays() {
        for body in [
            quote!(assert!(step(0) > 0, "{}", g());),
            quote!(assert_eq!(g(), step(0), "{}", g());),
            quote!(panic!("{} {}", g(), step(0));),
            quote!(debug_assert!(g(), "{}", h());),
        ] {
            assert_decided(body.clone(), body);
        }
    }
}
