//! With neither a site nor a marked call, a function gets a site in its costliest loop.
//!
//! The cost of a loop is an estimate over its statements, calls and the trips of the loops inside it, in the manner of
//! Rodriguez, Martin, Gonzalez, Tourino, JUCS 15(14), 2009: what is not known counts as ten trips.

use super::regions::Regions;
use crate::diagnostics::{Diagnostics, Refusal};
use crate::parse::options::{Options, SiteChoice};
use crate::syntax::marks::Marks;
use crate::syntax::without_ckpt::without_sites;
use crate::visit::{self, Visit};
use quote::ToTokens;
use syn::{Block, Expr, ItemFn, Lit, Stmt, parse_quote, parse_quote_spanned};

/// Trips of a loop whose count cannot be read off its range.
const UNKNOWN_TRIPS: f64 = 10.0;

/// Sites are where the user put them, or, with nothing marked, in the costliest loop. Whether it is that.
pub fn choose_sites(
    function: &mut ItemFn,
    options: &Options,
    regions: &Regions,
    errors: &mut Diagnostics,
) -> bool {
    let marks = Marks {
        library: &options.library,
        calls: &options.calls,
    };
    if let Some(trapped) = marks.trapped(&function.block) {
        errors.refuse(
            trapped.span,
            Refusal::SiteInside {
                holder: trapped.holder,
                way_out: trapped.instead,
            },
        );
        return false;
    }
    let called = |path: &&syn::Path| {
        Marks {
            library: &options.library,
            calls: std::slice::from_ref(*path),
        }
        .in_block(&without_sites(&function.block))
            || regions.members.iter().any(|member| {
                let calls = std::slice::from_ref(*path);
                Marks {
                    library: &options.library,
                    calls,
                }
                .in_block(&member.function.block)
            })
    };
    let mut unmet = options
        .calls
        .iter()
        .filter(|path| !called(path))
        .collect::<Vec<_>>()
        .into_iter();
    if unmet.len() == 0 && marks.in_block(&function.block) {
        return false;
    }
    if let Some(call) = unmet.next() {
        let name = call.to_token_stream().to_string().replace(' ', "");
        errors.refuse(
            syn::spanned::Spanned::span(call),
            Refusal::NeverCalls {
                function: function.sig.ident.to_string(),
                name: name.to_string(),
            },
        );
        return false;
    }
    if options.sites == SiteChoice::Manual {
        errors.refuse(
            function.sig.ident.span(),
            Refusal::HasNoSite {
                function: function.sig.ident.to_string(),
            },
        );
        return false;
    }
    match place_in_costliest_loop(&mut function.block) {
        Some(line) => {
            let note = format!(" ckpt has placed a checkpoint site in the loop at line {line}.");
            function.attrs.push(parse_quote!(#[doc = ""]));
            function.attrs.push(parse_quote!(#[doc = #note]));
            return true;
        }
        None => errors.refuse(
            function.sig.ident.span(),
            Refusal::HasNoLoop {
                function: function.sig.ident.to_string(),
            },
        ),
    }
    false
}

/// Puts a site at the start of the costliest loop's body; returns the loop's line, or nothing where there is no loop.
fn place_in_costliest_loop(body: &mut Block) -> Option<usize> {
    let mut finder = CostliestLoop {
        depth: 0,
        best: None,
        next: 0,
    };
    finder.visit_block(body);
    let (wanted, _) = finder.best?;
    let mut inserter = Inserter {
        wanted,
        next: 0,
        line: None,
    };
    crate::visit::VisitMut::visit_block_mut(&mut inserter, body);
    inserter.line
}

/// Finds the outermost loop of the highest cost.
struct CostliestLoop {
    depth: usize,
    best: Option<(usize, f64)>,
    next: usize,
}

impl<'ast> Visit<'ast> for CostliestLoop {
    fn visit_expr(&mut self, expr: &'ast Expr) {
        if loop_body(expr).is_some() {
            let index = self.next;
            self.next += 1;
            let cost = cost_of_expr(expr);
            if self.depth == 0 && self.best.is_none_or(|(_, best)| cost > best) {
                self.best = Some((index, cost));
            }
            self.depth += 1;
            visit::visit_expr(self, expr);
            self.depth -= 1;
        } else {
            visit::visit_expr(self, expr);
        }
    }
    fn visit_expr_closure(&mut self, _: &'ast syn::ExprClosure) {}
    fn visit_expr_async(&mut self, _: &'ast syn::ExprAsync) {}
    fn visit_item(&mut self, _: &'ast syn::Item) {}
}

struct Inserter {
    wanted: usize,
    next: usize,
    line: Option<usize>,
}

impl crate::visit::VisitMut for Inserter {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        if loop_body(expr).is_some() {
            let index = self.next;
            self.next += 1;
            if index == self.wanted {
                let span = syn::spanned::Spanned::span(expr);
                self.line = Some(span.start().line);
                let body = match expr {
                    Expr::Loop(one) => &mut one.body,
                    Expr::While(one) => &mut one.body,
                    Expr::ForLoop(one) => &mut one.body,
                    _ => return,
                };
                let site = parse_quote_spanned!(span=> ckpt::checkpoint!(););
                body.stmts.insert(0, site);
                return;
            }
        }
        crate::visit::visit_expr_mut(self, expr);
    }
    fn visit_expr_closure_mut(&mut self, _: &mut syn::ExprClosure) {}
    fn visit_expr_async_mut(&mut self, _: &mut syn::ExprAsync) {}
    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}

fn loop_body(expr: &Expr) -> Option<&Block> {
    match expr {
        Expr::Loop(one) => Some(&one.body),
        Expr::While(one) => Some(&one.body),
        Expr::ForLoop(one) => Some(&one.body),
        _ => None,
    }
}

fn cost_of_block(block: &Block) -> f64 {
    block.stmts.iter().map(cost_of_stmt).sum()
}

fn cost_of_stmt(stmt: &Stmt) -> f64 {
    match stmt {
        Stmt::Local(local) => 1.0 + local.init.as_ref().map_or(0.0, |init| cost_of_expr(&init.expr)),
        Stmt::Expr(expr, _) => 1.0 + cost_of_expr(expr),
        Stmt::Macro(_) => 5.0,
        Stmt::Item(_) => 0.0,
    }
}

/// Operations of an expression; a call counts five, a loop its body times its trips.
fn cost_of_expr(expr: &Expr) -> f64 {
    struct Cost(f64);
    impl<'ast> Visit<'ast> for Cost {
        fn visit_expr(&mut self, expr: &'ast Expr) {
            if let Some(body) = loop_body(expr) {
                self.0 += trips(expr) * cost_of_block(body);
                return;
            }
            self.0 += match expr {
                Expr::Call(_) | Expr::MethodCall(_) | Expr::Macro(_) => 5.0,
                Expr::Binary(_) | Expr::Unary(_) | Expr::Index(_) | Expr::Assign(_) => 1.0,
                _ => 0.0,
            };
            visit::visit_expr(self, expr);
        }
        fn visit_item(&mut self, _: &'ast syn::Item) {}
    }
    let mut cost = Cost(0.0);
    cost.visit_expr(expr);
    cost.0
}

fn trips(expr: &Expr) -> f64 {
    let Expr::ForLoop(one) = expr else {
        return UNKNOWN_TRIPS;
    };
    let Expr::Range(range) = &*one.expr else {
        return UNKNOWN_TRIPS;
    };
    match (
        range.start.as_deref().and_then(literal),
        range.end.as_deref().and_then(literal),
    ) {
        (Some(start), Some(end)) => (end - start).max(0.0),
        _ => UNKNOWN_TRIPS,
    }
}

fn literal(expr: &Expr) -> Option<f64> {
    match expr {
        Expr::Lit(one) => match &one.lit {
            Lit::Int(value) => value.base10_parse().ok(),
            _ => None,
        },
        _ => None,
    }
}
