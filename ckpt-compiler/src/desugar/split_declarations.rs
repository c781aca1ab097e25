//! Several variables declared by one `let` without a value, `let (mut a, b): (f64, f64);`, are declared one by one.

use crate::visit::{self, VisitMut};
use syn::{Block, ItemFn, Local, Pat, PatType, Stmt, Type};

/// Takes every such `let` of a function apart.
pub fn split(function: &mut ItemFn) {
    Apart.visit_block_mut(&mut function.block);
}

struct Apart;

impl VisitMut for Apart {
    fn visit_block_mut(&mut self, block: &mut Block) {
        let mut stmts = Vec::new();
        for stmt in std::mem::take(&mut block.stmts) {
            match stmt {
                Stmt::Local(local) if local.init.is_none() => one_by_one(local, &mut stmts),
                other => stmts.push(other),
            }
        }
        block.stmts = stmts;
        visit::visit_block_mut(self, block);
    }

    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}

fn one_by_one(local: Local, out: &mut Vec<Stmt>) {
    let (pattern, ty) = match local.pat.clone() {
        Pat::Type(typed) => (*typed.pat, Some(*typed.ty)),
        other => (other, None),
    };
    match (pattern, ty) {
        (Pat::Paren(inner), ty) => one_by_one(with(&local, *inner.pat, ty), out),
        (pattern, Some(Type::Paren(inner))) => one_by_one(with(&local, pattern, Some(*inner.elem)), out),
        (Pat::Tuple(parts), None) => {
            for part in parts.elems {
                one_by_one(with(&local, part, None), out);
            }
        }
        (Pat::Tuple(parts), Some(Type::Tuple(types))) if parts.elems.len() == types.elems.len() => {
            for (part, ty) in parts.elems.into_iter().zip(types.elems) {
                one_by_one(with(&local, part, Some(ty)), out);
            }
        }
        _ => out.push(Stmt::Local(local)),
    }
}

/// The same `let` for a part of its pattern.
fn with(local: &Local, pattern: Pat, ty: Option<Type>) -> Local {
    let pat = match ty {
        Some(ty) => Pat::Type(PatType {
            attrs: Vec::new(),
            pat: Box::new(pattern),
            colon_token: syn::token::Colon::default(),
            ty: Box::new(ty),
        }),
        None => pattern,
    };
    Local { pat, ..local.clone() }
}
