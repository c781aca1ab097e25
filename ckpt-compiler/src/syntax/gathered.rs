//! Lists that are empty at first, and get their elements one by one from the statements behind.

use crate::library::{Functions, Library, Macros, Methods, Types};
use crate::visit::{self, Visit};
use proc_macro2::Ident;
use quote::ToTokens;
use syn::{Expr, Local, Pat, Stmt};

/// The variable of a `let` that makes an empty list.
pub fn empty_list<'l>(library: &Library, local: &'l Local) -> Option<&'l Ident> {
    let pattern = match &local.pat {
        Pat::Type(typed) => &*typed.pat,
        pattern => pattern,
    };
    let Pat::Ident(name) = pattern else {
        return None;
    };
    let init = local.init.as_ref().filter(|init| init.diverge.is_none())?;
    let is_empty = match &*init.expr {
        // `Vec::new()`, `Vec::with_capacity(count)`
        Expr::Call(call) => match &*call.func {
            Expr::Path(path) => {
                let of = path.path.segments.iter().rev().nth(1);
                library.says_of_path(&path.path, Functions::Fresh)
                    && of.is_some_and(|of| library.says(&of.ident.to_string(), Types::Lists))
            }
            _ => false,
        },
        Expr::Macro(one) => {
            library.says_of_path(&one.mac.path, Macros::Computes) && one.mac.tokens.is_empty()
        }
        _ => false,
    };
    (is_empty && name.by_ref.is_none() && name.mutability.is_some()).then_some(&name.ident)
}

/// How many of the statements behind the `let` of an empty list there are up to the last that gives it an element; nothing where one of
/// them does something else with it, or none does so.
pub fn gathering(library: &Library, behind: &[Stmt], list: &Ident) -> Option<usize> {
    let mut found = None;
    for (index, stmt) in behind.iter().enumerate() {
        match gathers(library, stmt, list) {
            Gathers::Not => {}
            Gathers::Elements => found = Some(index + 1),
            Gathers::Otherwise => break,
        }
    }
    found
}

/// What a statement does with a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gathers {
    /// It does not name it.
    Not,
    /// It puts elements behind those that are there, and does no more with it.
    Elements,
    /// Something else, or what is not seen.
    Otherwise,
}

/// What a statement does with a list.
pub fn gathers(library: &Library, stmt: &Stmt, list: &Ident) -> Gathers {
    let mut pushes = Pushes {
        library,
        list,
        pushed: 0,
        other: 0,
    };
    pushes.visit_stmt(stmt);
    let may_run_again = matches!(stmt, Stmt::Expr(Expr::ForLoop(_) | Expr::MethodCall(_), _));
    match pushes {
        Pushes {
            pushed: 0, other: 0, ..
        } => Gathers::Not,
        Pushes { other: 0, .. } if may_run_again => Gathers::Elements,
        _ => Gathers::Otherwise,
    }
}

struct Pushes<'n> {
    library: &'n Library,
    list: &'n Ident,
    pushed: usize,
    other: usize,
}

impl<'ast> Visit<'ast> for Pushes<'_> {
    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        let is_list = matches!(&*call.receiver, Expr::Path(path) if path.path.is_ident(self.list));
        match is_list && self.library.is_call(call, Methods::Adds) {
            true => self.pushed += 1,
            false => self.visit_expr(&call.receiver),
        }
        call.args.iter().for_each(|one| self.visit_expr(one));
    }

    fn visit_expr_path(&mut self, path: &'ast syn::ExprPath) {
        self.other += usize::from(path.path.is_ident(self.list));
    }

    fn visit_pat_ident(&mut self, pattern: &'ast syn::PatIdent) {
        self.other += usize::from(pattern.ident == *self.list);
        visit::visit_pat_ident(self, pattern);
    }

    fn visit_macro(&mut self, mac: &'ast syn::Macro) {
        let names = super::mentions::names_in(&mac.tokens.to_token_stream());
        self.other += usize::from(names.contains(&self.list.to_string()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use quote::format_ident;

    /// How many statements of a block gather what its first declares.
    fn count(text: &str) -> Option<usize> {
        let block: syn::Block = syn::parse_str(&format!("{{ {text} }}")).expect("statements");
        let [Stmt::Local(local), behind @ ..] = &block.stmts[..] else {
            panic!("no `let` in {text}");
        };
        let list = empty_list(Library::builtin(), local)?;
        assert_eq!(*list, format_ident!("parts"));
        gathering(Library::builtin(), behind, list)
    }

    #[test]
    fn elements_come_from_the_statements_behind() {
        for (text, expected) in [
            (
                "let mut parts = Vec::new(); for part in 0..4 { parts.push(array(part)?); } use_of(&parts);",
                Some(1),
            ),
            (
                "let mut parts: Vec<Buffer<f32>> = Vec::with_capacity(4); let n = 4; parts.push(a); parts.push(b); go();",
                Some(3),
            ),
            (
                "let mut parts = vec![]; for part in 0..4 { parts.push(part); } parts.clear();",
                Some(1),
            ),
            (
                "let mut parts = Vec::new(); for part in 0..4 { parts.push(parts.len()); }",
                None,
            ),
            (
                "let mut parts = Vec::new(); while more() { parts.push(1); }",
                None,
            ),
            (
                "let mut parts = Vec::new(); fill(&mut parts); parts.push(1);",
                None,
            ),
            ("let mut parts = vec![1]; parts.push(1);", None),
            ("let mut parts = Arc::clone(&all); parts.push(1);", None),
            (
                "let mut parts = Vec::new(); let parts = 3; for part in 0..4 { other.push(part); }",
                None,
            ),
            (
                "let mut parts = Vec::new(); for part in 0..4 { parts.push(part); show!(parts); }",
                None,
            ),
        ] {
            assert_eq!(count(text), expected, "{text}");
        }
    }
}
