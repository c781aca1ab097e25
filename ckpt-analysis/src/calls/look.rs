//! What a look at the syntax tells: what is left early, where a statement begins, which names are assigned to.

use ckpt_compiler::library::{Library, Macros, Numbers, last_name};
use ckpt_compiler::syntax::macros::{makes_a_list, name_of_macro};
use ckpt_compiler::syntax::mentions::names_in;
use ckpt_compiler::syntax::patterns::assigned_places;
use ckpt_compiler::syntax::places::place_root;
use ckpt_compiler::syntax::purity::is_assignment;
use ckpt_compiler::visit::{self, Visit};
use proc_macro2::Span;
use std::collections::HashSet;
use syn::spanned::Spanned;
use syn::{Block, Expr, Stmt};

/// How likely the first branch is taken.
pub(super) fn likelihood(library: &Library, condition: &Expr, then: &Block, otherwise: Option<&Expr>) -> f64 {
    let leaves = |block: &Block| block.stmts.last().is_some_and(|one| stmt_diverges(library, one));
    if leaves(then) {
        return 0.02;
    }
    if otherwise.is_some_and(|one| diverges(library, one)) {
        return 0.98;
    }
    struct Modulo<'a>(&'a Library, bool);
    impl<'ast> Visit<'ast> for Modulo<'_> {
        fn visit_expr_binary(&mut self, binary: &'ast syn::ExprBinary) {
            self.1 |= matches!(binary.op, syn::BinOp::Rem(_));
            visit::visit_expr_binary(self, binary);
        }
        fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
            self.1 |= self.0.says(&call.method.to_string(), Numbers::IsMultiple);
        }
        fn visit_expr_closure(&mut self, _: &'ast syn::ExprClosure) {}
    }
    let mut modulo = Modulo(library, false);
    modulo.visit_expr(condition);
    if modulo.1 && otherwise.is_none() { 0.1 } else { 0.5 }
}

/// Whether control does not come out behind it, as far as a look tells.
pub(super) fn diverges(library: &Library, expr: &Expr) -> bool {
    match expr {
        Expr::Return(_) | Expr::Break(_) | Expr::Continue(_) => true,
        Expr::Block(block) => block
            .block
            .stmts
            .last()
            .is_some_and(|one| stmt_diverges(library, one)),
        Expr::Macro(one) => is_panic(library, &one.mac),
        Expr::Call(call) => matches!(&*call.func, Expr::Path(path)
            if library.ends(&last_name(&path.path))),
        _ => false,
    }
}

fn stmt_diverges(library: &Library, stmt: &Stmt) -> bool {
    match stmt {
        Stmt::Expr(expr, _) => diverges(library, expr),
        Stmt::Macro(one) => is_panic(library, &one.mac),
        _ => false,
    }
}

fn is_panic(library: &Library, mac: &syn::Macro) -> bool {
    let name = last_name(&mac.path);
    library.ends(&name) || library.says(&name, Macros::Leaves)
}

/// The first token of a statement; nothing for an item.
pub fn statement_start(stmt: &Stmt) -> Option<Span> {
    Some(match stmt {
        Stmt::Local(local) => local
            .attrs
            .first()
            .map_or(local.let_token.span, |one| one.pound_token.span),
        Stmt::Item(_) => return None,
        Stmt::Expr(expr, _) => leftmost(expr),
        Stmt::Macro(one) => one.mac.path.span(),
    })
}

/// The first token of an expression.
fn leftmost(expr: &Expr) -> Span {
    let attributes = match expr {
        Expr::If(one) => &one.attrs[..],
        Expr::Match(one) => &one.attrs,
        Expr::ForLoop(one) => &one.attrs,
        Expr::While(one) => &one.attrs,
        Expr::Loop(one) => &one.attrs,
        Expr::Block(one) => &one.attrs,
        _ => &[],
    };
    // An inner one, `match x { #![allow(..)] .. }`, is not where the statement begins.
    let mut outer = attributes
        .iter()
        .filter(|one| matches!(one.style, syn::AttrStyle::Outer));
    if let Some(first) = outer.next() {
        return first.pound_token.span;
    }
    let label =
        |label: &Option<syn::Label>, token: Span| label.as_ref().map_or(token, |one| one.name.apostrophe);
    match expr {
        Expr::If(one) => one.if_token.span,
        Expr::Match(one) => one.match_token.span,
        Expr::ForLoop(one) => label(&one.label, one.for_token.span),
        Expr::While(one) => label(&one.label, one.while_token.span),
        Expr::Loop(one) => label(&one.label, one.loop_token.span),
        Expr::Block(one) => label(&one.label, one.block.brace_token.span.open()),
        Expr::Unsafe(one) => one.unsafe_token.span,
        Expr::Assign(one) => leftmost(&one.left),
        Expr::Binary(one) => leftmost(&one.left),
        Expr::MethodCall(one) => leftmost(&one.receiver),
        Expr::Call(one) => leftmost(&one.func),
        Expr::Field(one) => leftmost(&one.base),
        Expr::Index(one) => leftmost(&one.expr),
        Expr::Try(one) => leftmost(&one.expr),
        Expr::Cast(one) => leftmost(&one.expr),
        other => other.span(),
    }
}

/// Names that are assigned to, borrowed exclusively, or handed to a macro that may do either: `scan!("{}", n)`.
pub(super) fn assigned_names(library: &Library, block: &Block) -> HashSet<String> {
    struct AssignedNames<'l> {
        library: &'l Library,
        found: HashSet<String>,
        mutable: HashSet<String>,
        in_macros: HashSet<String>,
    }
    impl AssignedNames<'_> {
        /// A part of a variable leaves its length as it is.
        fn whole(&mut self, expr: &Expr) {
            for place in assigned_places(expr) {
                match place {
                    Expr::Field(_) | Expr::Index(_) => {}
                    Expr::Unary(inner) => self.whole(&inner.expr),
                    place => self.found.extend(place_root(place).map(ToString::to_string)),
                }
            }
        }
    }
    impl<'ast> Visit<'ast> for AssignedNames<'_> {
        fn visit_expr_assign(&mut self, assign: &'ast syn::ExprAssign) {
            self.whole(&assign.left);
            visit::visit_expr_assign(self, assign);
        }
        fn visit_expr_binary(&mut self, binary: &'ast syn::ExprBinary) {
            if is_assignment(&binary.op) {
                self.whole(&binary.left);
            }
            visit::visit_expr_binary(self, binary);
        }
        fn visit_expr_reference(&mut self, one: &'ast syn::ExprReference) {
            if one.mutability.is_some() {
                self.whole(&one.expr);
            }
            visit::visit_expr_reference(self, one);
        }
        fn visit_pat_ident(&mut self, one: &'ast syn::PatIdent) {
            if one.mutability.is_some() {
                self.mutable.insert(one.ident.to_string());
            }
            visit::visit_pat_ident(self, one);
        }
        fn visit_macro(&mut self, mac: &'ast syn::Macro) {
            let name = name_of_macro(mac);
            let only_looks = self.library.formats(&name)
                || self.library.only_computes(&name)
                || makes_a_list(self.library, mac);
            if !only_looks {
                self.in_macros.extend(names_in(&mac.tokens));
            }
        }
        fn visit_item(&mut self, _: &'ast syn::Item) {}
    }
    let mut finder = AssignedNames {
        library,
        found: HashSet::new(),
        mutable: HashSet::new(),
        in_macros: HashSet::new(),
    };
    finder.visit_block(block);
    let in_macros = finder.in_macros.intersection(&finder.mutable).cloned();
    finder.found.extend(in_macros);
    finder.found
}

/// Names of lists that grow or shrink: their first length says nothing.
pub(super) fn grown_names(library: &Library, block: &Block) -> HashSet<String> {
    struct GrownNames<'l> {
        library: &'l Library,
        names: HashSet<String>,
    }
    impl<'ast> Visit<'ast> for GrownNames<'_> {
        fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
            if let Expr::Path(path) = &*call.receiver
                && let Some(name) = path.path.get_ident()
                && self.library.grows(&call.method.to_string())
            {
                self.names.insert(name.to_string());
            }
            visit::visit_expr_method_call(self, call);
        }
        fn visit_item(&mut self, _: &'ast syn::Item) {}
    }
    let mut finder = GrownNames {
        library,
        names: HashSet::new(),
    };
    finder.visit_block(block);
    finder.names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_begins_in_front_of_its_outer_attributes() {
        let text = "{ match x { #![allow(unused)] _ => 1 }; #[rustfmt::skip] match y { _ => 2 } }";
        let block: syn::Block = syn::parse_str(text).unwrap();
        let starts = block.stmts.iter().filter_map(statement_start);
        let starts: Vec<usize> = starts.map(|span| span.byte_range().start).collect();
        let wanted = ["match x", "#[rustfmt"].map(|part| text.find(part).unwrap());
        assert_eq!(starts.len(), 2);
        assert_eq!(starts[1] - starts[0], wanted[1] - wanted[0]);
    }
}
