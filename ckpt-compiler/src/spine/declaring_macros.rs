//! Macros that declare variables among the statements around a site: what is declared is not in the table of the
//! variables, and the blocks that are emitted around the statements would end its scope.

use super::lower::Lowering;
use crate::diagnostics::Refusal;
use crate::syntax::macros::name_of_macro;
use crate::syntax::mentions::names_in;
use crate::syntax::own_macros::declarations::declared_in_arguments;
use quote::ToTokens;
use std::collections::HashSet;
use syn::spanned::Spanned;
use syn::{Block, Expr, Macro, Stmt};

impl Lowering<'_> {
    /// Refuses those that may declare a variable that the statements behind mention.
    pub(super) fn refuse_declaring_macros(&mut self, block: &Block) {
        for (index, stmt) in block.stmts.iter().enumerate() {
            let Some((mac, declared)) = macro_of(stmt).map(|mac| (mac, self.declared_by(mac))) else {
                continue;
            };
            if declared.is_empty() || !self.marks.in_block(block) {
                continue;
            }
            let behind = block.stmts[index + 1..].iter().map(ToTokens::to_token_stream);
            if !declared.is_disjoint(&names_in(&behind.collect())) {
                let called = name_of_macro(mac);
                self.errors
                    .refuse(mac.path.span(), Refusal::MacroDeclares { called });
            }
        }
    }

    /// The names among which those are that a macro may declare.
    fn declared_by(&self, mac: &Macro) -> HashSet<String> {
        let library = self.marks.library;
        match &*name_of_macro(mac) {
            name if library.declares(name) => names_in(&mac.tokens),
            name if library.formats(name) => HashSet::new(),
            _ => declared_in_arguments(mac),
        }
    }
}

fn macro_of(stmt: &Stmt) -> Option<&Macro> {
    match stmt {
        Stmt::Macro(one) => Some(&one.mac),
        Stmt::Expr(Expr::Macro(one), _) => Some(&one.mac),
        _ => None,
    }
}
