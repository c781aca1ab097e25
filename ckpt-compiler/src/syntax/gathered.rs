//! Lists that are empty at first, and get their elements one by one from the statements behind.

use crate::library::{Functions, Library, Macros, Methods, Types};
use crate::visit::{self, Visit};
use proc_macro2::Ident;
use quote::ToTokens;
use std::collections::{BTreeMap, BTreeSet};
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
    (is_empty(library, &init.expr) && name.by_ref.is_none() && name.mutability.is_some())
        .then_some(&name.ident)
}

/// Whether an expression makes a list without elements.
pub fn is_empty(library: &Library, init: &Expr) -> bool {
    match init {
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
    }
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

/// Lists that get their elements from the same statements.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Together {
    /// The `let` of each list, and the last statement that gives it an element, by their numbers in the block.
    pub lists: BTreeMap<usize, usize>,
    /// The statements that give elements to any of them.
    pub statements: BTreeSet<usize>,
}

/// The lists that get their elements together with the one that is declared by the statement of this number: a statement that runs again
/// gives all of them their elements again. Nothing where it declares no such list, or something else is done with one of them before.
pub fn gathered_together(library: &Library, block: &[Stmt], at: usize) -> Option<Together> {
    let list_at = |at: usize| match &block[at] {
        Stmt::Local(local) => empty_list(library, local),
        _ => None,
    };
    let given = |at: usize, list: &Ident| {
        let count = gathering(library, &block[at + 1..], list)?;
        let gives = |of: &usize| gathers(library, &block[*of], list) == Gathers::Elements;
        Some((at + 1..=at + count).filter(gives).collect::<BTreeSet<usize>>())
    };
    let first = given(at, list_at(at)?)?;
    let mut found = Together {
        lists: BTreeMap::from([(at, *first.last()?)]),
        statements: first,
    };
    loop {
        let before = found.lists.len();
        for other in (0..block.len())
            .filter(|other| !found.lists.contains_key(other))
            .collect::<Vec<_>>()
        {
            let Some(list) = list_at(other) else { continue };
            let shared = { found.statements.range(other + 1..) }
                .filter(|of| gathers(library, &block[**of], list) != Gathers::Not);
            let shared: BTreeSet<usize> = shared.copied().collect();
            if shared.is_empty() {
                continue;
            }
            let all = given(other, list).filter(|all| shared.is_subset(all))?;
            found.lists.insert(other, *all.last()?);
            found.statements.extend(all);
        }
        if found.lists.len() == before {
            return Some(found);
        }
    }
}

/// What a statement does with a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gathers {
    /// It does not name it.
    Not,
    /// It puts elements behind those that are there, and asks at most how many there are.
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
        measured: 0,
        other: 0,
    };
    pushes.visit_stmt(stmt);
    let may_run_again = matches!(stmt, Stmt::Expr(Expr::ForLoop(_) | Expr::MethodCall(_), _));
    match pushes {
        Pushes {
            pushed: 0,
            measured: 0,
            other: 0,
            ..
        } => Gathers::Not,
        Pushes { other: 0, pushed, .. } if may_run_again && pushed > 0 => Gathers::Elements,
        _ => Gathers::Otherwise,
    }
}

struct Pushes<'n> {
    library: &'n Library,
    list: &'n Ident,
    pushed: usize,
    measured: usize,
    other: usize,
}

impl<'ast> Visit<'ast> for Pushes<'_> {
    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        let is_list = matches!(&*call.receiver, Expr::Path(path) if path.path.is_ident(self.list));
        match is_list && self.library.is_call(call, Methods::Adds) {
            true => self.pushed += 1,
            false if is_list && self.library.is_call(call, Methods::Measures) => self.measured += 1,
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
                "let mut parts = Vec::new(); for part in 0..4 { let id = parts.len(); parts.push(id); }",
                Some(1),
            ),
            (
                "let mut parts = Vec::new(); let id = parts.len(); parts.push(id);",
                None,
            ),
            (
                "let mut parts = Vec::new(); for part in 0..4 { parts.push(parts[0]); }",
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

    /// What the first statement of a block declares, and what else gets its elements with it.
    fn together(text: &str) -> Option<Together> {
        let block: syn::Block = syn::parse_str(&format!("{{ {text} }}")).expect("statements");
        gathered_together(Library::builtin(), &block.stmts, 0)
    }

    fn of<const L: usize, const S: usize>(
        lists: [(usize, usize); L],
        statements: [usize; S],
    ) -> Option<Together> {
        let (lists, statements) = (lists.into(), statements.into());
        Some(Together { lists, statements })
    }

    #[test]
    fn one_loop_gives_several_lists_their_elements() {
        let lists = "let mut a = Vec::new(); let mut b = Vec::new();";
        for (behind, expected) in [
            (
                "for i in 0..3 { a.push(i); b.push(i); } go(&a);",
                of([(0, 2), (1, 2)], [2]),
            ),
            (
                "for i in 0..3 { a.push(i); b.push(a.len()); } b.push(1); go(&a);",
                of([(0, 2), (1, 3)], [2, 3]),
            ),
            (
                "for i in 0..3 { a.push(i); } for i in 0..3 { b.push(i); }",
                of([(0, 2)], [2]),
            ),
            ("for i in 0..3 { b.push(i); a.push(b[i]); }", None),
            ("go(&mut b); for i in 0..3 { a.push(i); b.push(i); }", None),
        ] {
            assert_eq!(together(&format!("{lists} {behind}")), expected, "{behind}");
        }
    }
}
