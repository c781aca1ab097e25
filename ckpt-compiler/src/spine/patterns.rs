//! Patterns that bind values next to references, and values that change.
//!
//! A statement whose references are needed at a site runs again at restart, and with it whatever else its pattern binds. What
//! is bound by value there is bound once more, by a statement of its own, which a restart skips like any other.

use super::lower::{Lowering, plain};
use super::{Plain, Step, StepKind};
use crate::names::Locals;
use crate::syntax::mentions::{locals_in, locals_of, names_in};
use crate::syntax::origins::Origin;
use crate::syntax::patterns::{is_binding, pattern_bindings};
use crate::visit::{self, VisitMut};
use quote::ToTokens;
use syn::{Block, Expr, Local, Pat, PatIdent, Stmt, parse_quote};

impl Lowering<'_> {
    /// A `let` without a site; what its pattern binds by value next to a borrow gets statements of its own.
    pub(super) fn plain_local(&mut self, mut local: Local, statement: Plain, out: &mut Vec<Step>) {
        if statement.treatment.is_none()
            && let Some(parts) = self.one_by_one(&local)
        {
            for part in parts {
                self.stmt(Stmt::Local(part), false, out);
            }
            return;
        }
        let values = match statement.treatment {
            None => {
                self.put_keys_of_borrow_aside(&mut local, out);
                self.values_next_to_borrows(&mut local)
            }
            Some(_) => Vec::new(),
        };
        out.push(super::lower::step(StepKind::Plain(Plain {
            stmt: Stmt::Local(local),
            ..statement
        })));
        out.extend(values.into_iter().map(plain));
    }

    /// `let (row, text) = (&rows[0], text);` is one `let` for each, where the values do not use the names.
    fn one_by_one(&self, local: &Local) -> Option<Vec<Local>> {
        let init = local.init.as_ref().filter(|init| init.diverge.is_none())?;
        let (Pat::Tuple(names), Expr::Tuple(parts)) = (&local.pat, &*init.expr) else {
            return None;
        };
        let is_borrow = |part: &Expr| self.known.borrows(part);
        let mixed = parts.elems.iter().any(is_borrow) && !parts.elems.iter().all(is_borrow);
        let has_rest = names.elems.iter().any(|name| matches!(name, Pat::Rest(_)));
        let locals = self.names.read();
        let used = locals_in(&locals, parts.to_token_stream());
        let moves = |part: &Expr| matches!(part, Expr::Path(_));
        if !mixed
            || has_rest
            || names.elems.len() != parts.elems.len()
            || !parts.elems.iter().any(moves)
            || locals.hide(&locals_of(&locals, &local.pat), &used)
        {
            return None;
        }
        let alone = |(name, part): (&Pat, &Expr)| Local {
            pat: name.clone(),
            init: Some(syn::LocalInit {
                expr: Box::new(part.clone()),
                ..init.clone()
            }),
            ..local.clone()
        };
        Some(names.elems.iter().zip(&parts.elems).map(alone).collect())
    }

    fn put_keys_of_borrow_aside(&mut self, local: &mut Local, out: &mut Vec<Step>) {
        if let Some(init) = &mut local.init
            && self.known.borrows(&init.expr)
        {
            self.put_keys_aside(&mut init.expr, false, out);
        }
    }

    /// What the arms of a `match` over something that may change copy out of it.
    pub(super) fn copied_out(&self, scrutinee: &Expr, pattern: &mut Pat) -> Vec<Stmt> {
        match self.may_change(scrutinee) {
            true => behind_borrows(pattern, &|pattern| all_values(&self.names.read(), pattern)),
            false => Vec::new(),
        }
    }

    fn values_next_to_borrows(&mut self, local: &mut Local) -> Vec<Stmt> {
        let Some(init) = &local.init else {
            return Vec::new();
        };
        let pattern = match &mut local.pat {
            Pat::Type(typed) => &mut *typed.pat,
            other => other,
        };
        if matches!(pattern, Pat::Ident(ident) if ident.subpat.is_none()) {
            return Vec::new();
        }
        if pattern_bindings(&self.names.read(), pattern)
            .iter()
            .any(|one| one.by_ref.is_some())
        {
            return all_values(&self.names.read(), pattern);
        }
        match self.known.origin(&init.expr) {
            Origin::Borrow { .. } | Origin::Closure => self.values_in_borrows(pattern, &init.expr),
            _ => Vec::new(),
        }
    }

    /// `let (list, mut n) = (&items, 0);`, `let &(mut n, _) = &pair;`
    fn values_in_borrows(&self, pattern: &mut Pat, value: &Expr) -> Vec<Stmt> {
        let (Pat::Tuple(names), Expr::Tuple(parts)) = (&mut *pattern, value) else {
            return changing_behind_borrows(pattern);
        };
        let mut values = Vec::new();
        for (name, part) in names.elems.iter_mut().zip(&parts.elems) {
            match self.known.origin(part) {
                Origin::Borrow { .. } | Origin::Closure => values.extend(changing_behind_borrows(name)),
                _ => values.extend(all_values(&self.names.read(), name)),
            }
        }
        values
    }
}

/// Statements of their own for all that a pattern binds by value.
pub(super) fn all_values(locals: &Locals, pattern: &mut Pat) -> Vec<Stmt> {
    let rt = crate::paths::rt();
    let mut values = changing(pattern);
    let bound = pattern_bindings(locals, pattern).into_iter();
    let others =
        bound.filter(|one| one.by_ref.is_none() && !values.iter().any(|stmt| declares(stmt, &one.ident)));
    let others: Vec<Stmt> = others
        .map(|one| {
            let name = one.ident;
            parse_quote!(let #name = #rt::value(#name);)
        })
        .collect();
    values.extend(others);
    values
}

/// What a pattern copies out of a borrowed value, and may change.
fn changing_behind_borrows(pattern: &mut Pat) -> Vec<Stmt> {
    behind_borrows(pattern, &changing)
}

/// Statements for what stands behind a `&` in a pattern.
fn behind_borrows(pattern: &mut Pat, values: &dyn Fn(&mut Pat) -> Vec<Stmt>) -> Vec<Stmt> {
    struct Behind<'a>(&'a dyn Fn(&mut Pat) -> Vec<Stmt>, Vec<Stmt>);
    impl VisitMut for Behind<'_> {
        fn visit_pat_reference_mut(&mut self, one: &mut syn::PatReference) {
            self.1.extend((self.0)(&mut one.pat));
        }
    }
    let mut behind = Behind(values, Vec::new());
    behind.visit_pat_mut(pattern);
    behind.1
}

/// The variables of a pattern that are bound by value and may change: `let mut x = x;` for each, which the pattern then
/// binds as it is.
pub(super) fn changing(pattern: &mut Pat) -> Vec<Stmt> {
    let mut taken = Changing(Vec::new());
    taken.visit_pat_mut(pattern);
    taken.0
}

/// The same at the beginning of a block.
pub(super) fn changing_inside(pattern: &mut Pat, block: &mut Block) {
    let values = changing(pattern);
    block.stmts.splice(0..0, values);
}

struct Changing(Vec<Stmt>);

impl VisitMut for Changing {
    fn visit_pat_mut(&mut self, pat: &mut Pat) {
        visit::visit_pat_mut(self, pat);
        without_parentheses(pat);
    }

    fn visit_pat_ident_mut(&mut self, pat: &mut PatIdent) {
        if pat.by_ref.is_none() && pat.mutability.take().is_some() {
            let name = &pat.ident;
            let again: Stmt = parse_quote!(let mut #name = #name;);
            if !self.0.iter().any(|stmt| declares(stmt, name)) {
                self.0.push(again);
            }
        }
        visit::visit_pat_ident_mut(self, pat);
    }

    fn visit_expr_mut(&mut self, _: &mut Expr) {}
}

/// `&(mut x)` has become `&(x)`, which rustc warns of.
pub(super) fn without_parentheses(pat: &mut Pat) {
    if let Pat::Paren(inner) = pat
        && matches!(*inner.pat, Pat::Ident(_))
    {
        *pat = (*inner.pat).clone();
    }
}

pub(super) fn declares(stmt: &Stmt, name: &proc_macro2::Ident) -> bool {
    matches!(stmt, Stmt::Local(local) if matches!(&local.pat, Pat::Ident(ident) if ident.ident == *name))
}

/// The pattern without the variables that `left_out` holds for.
pub(super) fn without_bindings(locals: &Locals, pattern: &Pat, left_out: &dyn Fn(&PatIdent) -> bool) -> Pat {
    let mut without = pattern.clone();
    Without(locals, left_out).visit_pat_mut(&mut without);
    without
}

struct Without<'a>(&'a Locals, &'a dyn Fn(&PatIdent) -> bool);

impl VisitMut for Without<'_> {
    fn visit_pat_mut(&mut self, pat: &mut Pat) {
        match pat {
            Pat::Ident(ident) if is_binding(self.0, ident) && (self.1)(ident) => {
                *pat = match ident.subpat.take() {
                    Some((_, inner)) => *inner,
                    None => parse_quote!(_),
                };
                self.visit_pat_mut(pat);
            }
            other => visit::visit_pat_mut(self, other),
        }
    }

    fn visit_field_pat_mut(&mut self, field: &mut syn::FieldPat) {
        let was_short = field.colon_token.is_none();
        visit::visit_field_pat_mut(self, field);
        if was_short && !matches!(*field.pat, Pat::Ident(_)) {
            field.colon_token = Some(syn::Token![:](proc_macro2::Span::mixed_site()));
        }
    }
}

/// The pattern for a value that it has matched already: nothing is compared, unless to tell alternatives apart.
pub(super) fn never_compared(pattern: &Pat) -> Pat {
    let mut compared = NeverCompared {
        has_alternatives: false,
    };
    let mut without = pattern.clone();
    compared.visit_pat_mut(&mut without);
    match (compared.has_alternatives, pattern) {
        (false, _) => without,
        (true, Pat::Or(_)) => parse_quote!((#pattern)),
        (true, _) => pattern.clone(),
    }
}

struct NeverCompared {
    has_alternatives: bool,
}

impl VisitMut for NeverCompared {
    fn visit_pat_mut(&mut self, pat: &mut Pat) {
        match pat {
            Pat::Lit(_) | Pat::Range(_) | Pat::Const(_) => *pat = parse_quote!(_),
            Pat::Or(_) => self.has_alternatives = true,
            other => visit::visit_pat_mut(self, other),
        }
    }
}

/// Binds by reference what a guard looks at by value, so that deciding moves nothing.
pub(super) fn look_only(locals: &Locals, pattern: &mut Pat, guard: &mut Expr) {
    let by_value = pattern_bindings(locals, pattern)
        .into_iter()
        .filter(|one| one.by_ref.is_none());
    for one in by_value {
        let mut behind = Deref {
            name: &one.ident,
            in_macro: false,
        };
        let mut changed = guard.clone();
        behind.visit_expr_mut(&mut changed);
        if !behind.in_macro {
            *guard = changed;
            ByReference(&one.ident).visit_pat_mut(pattern);
        }
    }
}

/// `name` becomes `(*name)`.
struct Deref<'a> {
    name: &'a proc_macro2::Ident,
    in_macro: bool,
}

impl VisitMut for Deref<'_> {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        match expr {
            Expr::Path(name) if name.path.is_ident(self.name) => *expr = parse_quote!((*#name)),
            other => visit::visit_expr_mut(self, other),
        }
    }

    fn visit_macro_mut(&mut self, mac: &mut syn::Macro) {
        self.in_macro |= names_in(&mac.tokens).contains(&crate::names::spelling(self.name));
    }
}

struct ByReference<'a>(&'a proc_macro2::Ident);

impl VisitMut for ByReference<'_> {
    fn visit_pat_ident_mut(&mut self, pat: &mut PatIdent) {
        if pat.ident == *self.0 {
            pat.by_ref = Some(syn::Token![ref](proc_macro2::Span::mixed_site()));
        }
        visit::visit_pat_ident_mut(self, pat);
    }
}
