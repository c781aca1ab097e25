//! Attributes inside the body. A statement with a site becomes several, so what it says about lints goes to the function.

use crate::diagnostics::{Diagnostics, Refusal};
use crate::syntax::marks::Marks;
use crate::visit::{self, Visit};
use quote::ToTokens;
use syn::spanned::Spanned;
use syn::{AttrStyle, Attribute, Block, Expr, ItemFn, Stmt};

/// Gathers the lint levels of all that holds a site, and turns the function's inner attributes into outer ones.
pub fn gather(function: &mut ItemFn, marks: Marks<'_>, errors: &mut Diagnostics) {
    let mut gatherer = Gatherer {
        marks,
        errors,
        lints: Vec::new(),
    };
    gatherer.visit_block(&function.block);
    let lints = gatherer.lints;
    for attribute in lints {
        let text = attribute.meta.to_token_stream().to_string();
        let same = |old: &Attribute| old.meta.to_token_stream().to_string() == text;
        if !function.attrs.iter().any(same) {
            function.attrs.push(attribute);
        }
    }
    for attribute in &mut function.attrs {
        attribute.style = AttrStyle::Outer;
    }
}

struct Gatherer<'a> {
    marks: Marks<'a>,
    errors: &'a mut Diagnostics,
    lints: Vec<Attribute>,
}

impl Gatherer<'_> {
    fn holder(&mut self, attributes: &[Attribute]) {
        for attribute in attributes {
            if attribute.path().is_ident("cfg") {
                self.errors.refuse(attribute.span(), Refusal::SiteUnderCfg);
            }
            let is_lint = ["allow", "expect", "warn"]
                .iter()
                .any(|level| attribute.path().is_ident(level));
            if is_lint {
                self.lints.push(attribute.clone());
            }
        }
    }
}

impl<'ast> Visit<'ast> for Gatherer<'_> {
    fn visit_block(&mut self, block: &'ast Block) {
        for stmt in &block.stmts {
            if !self.marks.in_stmt(stmt) {
                continue;
            }
            match stmt {
                Stmt::Local(local) => {
                    let is_cfg = |attribute: &&Attribute| attribute.path().is_ident("cfg");
                    let cfg: Vec<Attribute> = local.attrs.iter().filter(is_cfg).cloned().collect();
                    self.holder(&cfg);
                }
                Stmt::Macro(stmt) => self.holder(&stmt.attrs),
                Stmt::Item(_) | Stmt::Expr(..) => {}
            }
            visit::visit_stmt(self, stmt);
        }
    }

    fn visit_expr(&mut self, expr: &'ast Expr) {
        if !self.marks.in_expr(expr) {
            return;
        }
        self.holder(match expr {
            Expr::ForLoop(one) => &one.attrs,
            Expr::While(one) => &one.attrs,
            Expr::Loop(one) => &one.attrs,
            Expr::If(one) => &one.attrs,
            Expr::Match(one) => &one.attrs,
            Expr::Block(one) => &one.attrs,
            Expr::Unsafe(one) => &one.attrs,
            Expr::Call(one) => &one.attrs,
            Expr::MethodCall(one) => &one.attrs,
            Expr::Macro(one) => &one.attrs,
            _ => &[],
        });
        visit::visit_expr(self, expr);
    }

    fn visit_arm(&mut self, arm: &'ast syn::Arm) {
        if self.marks.in_expr(&arm.body) {
            self.holder(&arm.attrs);
        }
        visit::visit_arm(self, arm);
    }

    fn visit_item(&mut self, _: &'ast syn::Item) {}
}
