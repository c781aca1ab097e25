//! `if`, `if let` and `match` with a site in a branch.
//!
//! What is decided is put into a variable, so that a restart can enter a branch without deciding again. Where a branch
//! binds references, the value cannot be put aside: the user's place is matched again, unchanged since.

use super::lower::{Lowering, plain};
use super::patterns::{changing_inside, look_only, never_compared, without_bindings};
use super::{Arm, Branch, Spine, Step, StepKind};
use crate::diagnostics::Refusal;
use crate::names::frame;
use crate::names::{Kind, Locals, Names};
use crate::syntax::mentions::locals_in;
use crate::syntax::origins::{Known, is_repeatable};
use crate::syntax::patterns::{bindings_where, pattern_bindings};
use crate::visit::{self, VisitMut};
use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote};
use syn::spanned::Spanned;
use syn::{BinOp, Expr, ExprIf, ExprMatch, Pat, PatIdent, Stmt, parse_quote};

impl Lowering<'_> {
    pub(super) fn branch_if(&mut self, branch: ExprIf, out: &mut Vec<Step>) -> Spine {
        if has_let(&branch.cond) {
            return self.branch_if_let(branch, out);
        }
        let condition = self.names.fresh(Kind::Condition);
        let at = out.len();
        if self.marks.in_expr(&branch.cond) {
            self.temporary(&condition, *branch.cond, out);
        } else {
            let test = branch.cond;
            out.push(plain(parse_quote!(let #condition = #test;)));
        }
        let then = self.branch(branch.then_branch);
        let otherwise = branch.else_branch.map(|(_, expr)| self.branch_of(*expr));
        let entered = entered(&then);
        set_restart(out, at, &condition, entered);
        Spine::If {
            condition,
            then,
            otherwise,
        }
    }

    fn branch_if_let(&mut self, branch: ExprIf, out: &mut Vec<Step>) -> Spine {
        let condition = *branch.cond;
        if self.marks.in_expr(&condition) {
            if let Expr::Let(one) = condition {
                let (pattern, scrutinee, then) = (one.pat, one.expr, branch.then_branch);
                let otherwise = branch
                    .else_branch
                    .map_or_else(|| parse_quote!({}), |(_, expr)| *expr);
                return self.branch_match(
                    parse_quote!(match #scrutinee { #pattern => #then, _ => #otherwise }),
                    out,
                );
            }
            self.refuse_let_with_site(&condition);
        }
        let bindings = condition_bindings(&condition, self.names);
        let borrows = condition_borrows(self.known, &condition) && !bindings.is_empty();
        if borrows && matches!(condition, Expr::Binary(_)) && branch.else_branch.is_some() {
            return self.chain_with_else(condition, branch.then_branch, branch.else_branch, out);
        }
        if borrows {
            return self.reexecuted_if_let(
                condition,
                branch.then_branch,
                branch.else_branch.map(|(_, e)| *e),
                out,
            );
        }
        let otherwise = branch.else_branch.map(|(_, expr)| *expr);
        self.decide_once(condition, &bindings, branch.then_branch, otherwise, out)
    }

    /// An `if let` chain of which some conditions bind references: whether it holds is decided once, and the references
    /// are then taken again.
    fn chain_with_else(
        &mut self,
        mut condition: Expr,
        mut then: syn::Block,
        otherwise: Option<(syn::Token![else], Box<Expr>)>,
        out: &mut Vec<Step>,
    ) -> Spine {
        self.put_keys_of_condition_aside(&mut condition, false, out);
        let (borrowing, others): (Vec<&syn::ExprLet>, Vec<&syn::ExprLet>) = lets_of(&condition)
            .into_iter()
            .partition(|one| binds_by_reference(&one.pat) || self.known.borrows(&one.expr));
        let values: Vec<PatIdent> = others
            .iter()
            .flat_map(|one| pattern_bindings(&self.names.read(), &one.pat))
            .collect();
        let bound = lets_of(&condition)
            .into_iter()
            .map(|one| pattern_bindings(&self.names.read(), &one.pat).len());
        let hides = bound.sum::<usize>() > condition_bindings(&condition, self.names).len();
        if hides
            || borrowing
                .iter()
                .any(|one| !is_repeatable(self.marks.library, &one.expr))
        {
            self.errors.refuse(condition.span(), Refusal::SiteUnderChain);
        }
        let references = borrowing.iter().map(|one| taken_from(&one.pat, &one.expr));
        then.stmts.splice(0..0, references.collect::<Vec<_>>());
        let otherwise = otherwise.map(|(_, expr)| *expr);
        self.decide_once(condition.clone(), &values, then, otherwise, out)
    }

    /// Whether the condition holds, and what it binds, go into a variable.
    fn decide_once(
        &mut self,
        mut condition: Expr,
        bindings: &[PatIdent],
        then: syn::Block,
        otherwise: Option<Expr>,
        out: &mut Vec<Step>,
    ) -> Spine {
        self.check_unnamed_of_lets(&mut condition);
        let (names, patterns) = binding_names(bindings);
        let choice = self.names.fresh(Kind::Choice);
        let held = self.names.fresh(Kind::Bindings);
        let at = out.len();
        let held_names = |one: &PatIdent| bindings.iter().any(|held| held.ident == one.ident);
        let unused = condition_bindings(&condition, self.names).into_iter();
        let unused: Vec<Ident> = unused
            .filter(|one| !held_names(one))
            .map(|one| one.ident)
            .collect();
        out.push(plain(without_mut(parse_quote! {
            let mut #choice = if #condition {
                #(let _ = &#unused;)*
                ::core::option::Option::Some(::core::option::Option::Some((#(#names,)*)))
            } else {
                ::core::option::Option::None
            };
        })));
        let then_block = with_bindings(then, &held, &patterns);
        let then = self.branch(then_block);
        let otherwise = otherwise.map(|expr| self.branch_of(expr));
        let entered = entered(&then);
        let restart = quote! {
            if #entered {
                ::core::option::Option::Some(::core::option::Option::None)
            } else {
                ::core::option::Option::None
            }
        };
        set_restart(out, at, &choice, restart);
        let otherwise = otherwise.unwrap_or_else(|| Branch {
            sites: None,
            block: super::Block::default(),
        });
        let held = held_pattern(&held, patterns.is_empty());
        Spine::Match {
            scrutinee: parse_quote!(#choice),
            reexecutes: false,
            arms: vec![
                Arm {
                    pattern: parse_quote!(::core::option::Option::Some(#held)),
                    guard: None,
                    body: then,
                },
                Arm {
                    pattern: parse_quote!(::core::option::Option::None),
                    guard: None,
                    body: otherwise,
                },
            ],
        }
    }

    /// An `if let` that binds references: `match` again over the same place.
    fn reexecuted_if_let(
        &mut self,
        condition: Expr,
        then: syn::Block,
        otherwise: Option<Expr>,
        out: &mut Vec<Step>,
    ) -> Spine {
        let Expr::Let(one) = condition else {
            let Expr::Binary(chain) = condition else {
                return Spine::Block {
                    label: None,
                    is_unsafe: false,
                    block: super::Block::default(),
                };
            };
            let (left, right) = (chain.left, chain.right);
            return self.spine(parse_quote!(if #left { if #right #then }), None, out);
        };
        let (pattern, scrutinee) = (one.pat, one.expr);
        let otherwise = otherwise.unwrap_or_else(|| parse_quote!({}));
        self.branch_match(
            parse_quote!(match #scrutinee { #pattern => #then, _ => #otherwise }),
            out,
        )
    }

    pub(super) fn branch_match(&mut self, branch: ExprMatch, out: &mut Vec<Step>) -> Spine {
        for arm in &branch.arms {
            if let Some((_, guard)) = &arm.guard
                && self.marks.in_expr(guard)
            {
                self.errors.refuse(guard.span(), Refusal::SiteInGuard);
            }
        }
        let mut scrutinee = if self.marks.in_expr(&branch.expr) {
            let value = self.names.fresh(Kind::Value);
            self.temporary(&value, *branch.expr, out);
            parse_quote!(#value)
        } else {
            *branch.expr
        };
        let binds = branch
            .arms
            .iter()
            .any(|arm| !pattern_bindings(&self.names.read(), &arm.pat).is_empty());
        let by_reference = branch.arms.iter().any(|arm| binds_by_reference(&arm.pat));
        let bindings = || {
            branch
                .arms
                .iter()
                .flat_map(|arm| pattern_bindings(&self.names.read(), &arm.pat))
        };
        let by_value = bindings().any(|one| one.by_ref.is_none());
        if binds {
            self.name_lent_value(&mut scrutinee, out);
        }
        let borrows = self.known.borrows(&scrutinee);
        if by_reference && !borrows && crate::syntax::places::place_root(&scrutinee).is_none() {
            let value = self.names.fresh(Kind::Value);
            self.temporary(&value, scrutinee, out);
            scrutinee = parse_quote!(#value);
        }
        let reexecutes = borrows || by_reference && !by_value;
        if binds && reexecutes && is_repeatable(self.marks.library, &scrutinee) {
            self.put_keys_aside(&mut scrutinee, false, out);
            return self.reexecuted_match(scrutinee, branch.arms);
        }
        let arms: Vec<Choice> = match by_reference {
            true => {
                self.put_keys_aside(&mut scrutinee, false, out);
                branch
                    .arms
                    .into_iter()
                    .map(|arm| in_place(&self.names.read(), arm, &scrutinee))
                    .collect()
            }
            false => branch
                .arms
                .into_iter()
                .map(|arm| with_values(&self.names.read(), arm))
                .collect(),
        };
        self.choose(scrutinee, arms, out)
    }

    fn reexecuted_match(&mut self, scrutinee: Expr, arms: Vec<syn::Arm>) -> Spine {
        let arms = arms
            .into_iter()
            .map(|mut arm| {
                let mut body = block_of(*arm.body);
                let copies = self.copied_out(&scrutinee, &mut arm.pat);
                changing_inside(&mut arm.pat, &mut body);
                body.stmts.splice(0..0, copies);
                Arm {
                    pattern: arm.pat,
                    guard: arm.guard.map(|(_, guard)| guard),
                    body: self.branch(body),
                }
            })
            .collect();
        Spine::Match {
            scrutinee: Box::new(scrutinee),
            arms,
            reexecutes: true,
        }
    }

    /// A `match` whose bindings are values: which arm, and what it binds, go into a variable.
    fn choose(&mut self, mut scrutinee: Expr, arms: Vec<Choice>, out: &mut Vec<Step>) -> Spine {
        match arms.iter().all(|arm| arm.held.is_empty()) {
            true => self.check_place(&mut scrutinee),
            false => self.check_unnamed(&mut scrutinee),
        }
        let choice = self.names.fresh(Kind::Choice);
        let held = self.names.fresh(Kind::Bindings);
        let count = arms.len();
        let mut deciding = Vec::new();
        let mut lowered = Vec::new();
        let at = out.len();
        out.push(plain(parse_quote!(let mut #choice = ();)));
        let mut restart = TokenStream::new();
        for (index, arm) in arms.into_iter().enumerate() {
            let (names, patterns) = binding_names(&arm.held);
            let chosen = nested(index, count, &quote!(::core::option::Option::Some((#(#names,)*))));
            let (pattern, guard) = (arm.pattern, arm.guard.map(|guard| quote!(if #guard)));
            deciding.push(quote!(#pattern #guard => #chosen,));
            let body = self.branch(with_bindings(arm.body, &held, &patterns));
            if body.sites.is_some() {
                let (entered, chosen) = (
                    entered(&body),
                    nested(index, count, &quote!(::core::option::Option::None)),
                );
                restart.extend(quote!(if #entered { #chosen } else));
            }
            let held = held_pattern(&held, patterns.is_empty());
            let pattern = nested(index, count, &held);
            lowered.push(Arm {
                pattern: parse_quote!(#pattern),
                guard: None,
                body,
            });
        }
        let rest = nested(count - 1, count, &quote!(::core::option::Option::None));
        restart.extend(quote!({ #rest }));
        let decide: Stmt = parse_quote!(let mut #choice = match #scrutinee { #(#deciding)* };);
        out[at] = plain(decide);
        set_restart(out, at, &choice, restart);
        Spine::Match {
            scrutinee: parse_quote!(#choice),
            arms: lowered,
            reexecutes: false,
        }
    }

    pub(super) fn refuse_let_with_site(&mut self, condition: &Expr) {
        self.errors.refuse(condition.span(), Refusal::SiteInCondition);
    }
}

/// An arm of a `match` that is decided once.
struct Choice {
    pattern: Pat,
    guard: Option<Box<Expr>>,
    /// What is bound when it is decided, and handed on to the body.
    held: Vec<PatIdent>,
    body: syn::Block,
}

fn with_values(locals: &Locals, arm: syn::Arm) -> Choice {
    let (held, mut pattern) = (pattern_bindings(locals, &arm.pat), arm.pat);
    WithoutMut.visit_pat_mut(&mut pattern);
    Choice {
        pattern,
        guard: arm.guard.map(|(_, guard)| guard),
        held,
        body: block_of(*arm.body),
    }
}

/// An arm over a place that it, or another arm, borrows: it is decided without moving anything, and its body then takes
/// what it binds.
fn in_place(locals: &Locals, arm: syn::Arm, scrutinee: &Expr) -> Choice {
    let mut guard = arm.guard.map(|(_, guard)| guard);
    let guarded = locals_in(locals, guard.to_token_stream());
    let is_looked_at = |one: &PatIdent| locals.id(&one.ident).is_some_and(|one| guarded.contains(one));
    let mut pattern = without_bindings(locals, &arm.pat, &|one| !is_looked_at(one));
    WithoutMut.visit_pat_mut(&mut pattern);
    if let Some(guard) = &mut guard {
        look_only(locals, &mut pattern, guard);
    }
    let mut body = block_of(*arm.body);
    let (by_reference, by_value): (Vec<PatIdent>, Vec<PatIdent>) = pattern_bindings(locals, &arm.pat)
        .into_iter()
        .partition(|one| one.by_ref.is_some());
    let references = (!by_reference.is_empty()).then(|| {
        let references = without_bindings(locals, &arm.pat, &|one| one.by_ref.is_none());
        taken_from(&references, scrutinee)
    });
    let values = (!by_value.is_empty()).then(|| {
        let values = without_bindings(locals, &arm.pat, &|one| one.by_ref.is_some());
        taken_from(&values, scrutinee)
    });
    // Nothing can be looked at next to an exclusive reference, and what has lost a part cannot be matched.
    let first = match by_reference.iter().any(|one| one.mutability.is_some()) {
        true => values.into_iter().chain(references),
        false => references.into_iter().chain(values),
    };
    body.stmts.splice(0..0, first);
    Choice {
        pattern,
        guard,
        held: Vec::new(),
        body,
    }
}

/// What an arm binds, taken from what it has matched.
fn taken_from(pattern: &Pat, scrutinee: &Expr) -> Stmt {
    let (pattern, frame) = (never_compared(pattern), frame());
    let lost = quote!(#frame.lost("a pattern does not match what it matched before"));
    parse_quote! {
        #[allow(irrefutable_let_patterns)]
        let #pattern = #scrutinee else { #lost };
    }
}

fn block_of(body: Expr) -> syn::Block {
    match body {
        Expr::Block(block) if block.label.is_none() => block.block,
        other => parse_quote!({ #other }),
    }
}

/// Whether the walk goes into the branch.
fn entered(branch: &Branch) -> TokenStream {
    let frame = frame();
    match branch.sites {
        Some(sites) => {
            let (first, last) = (sites.first, sites.last);
            quote!(#frame.enters(#first, #last))
        }
        None => quote!(false),
    }
}

/// Sets the value that the variable declared by the step at `at` (or a later one) has at a restart.
fn set_restart(out: &mut [Step], at: usize, name: &Ident, value: TokenStream) {
    for step in &mut out[at..] {
        match &mut step.kind {
            StepKind::Plain(plain) if declares(&plain.stmt, name) => plain.restart = Some(value.clone()),
            StepKind::Spine(spine) => {
                if let super::Target::Let { local, restart, .. } = &mut spine.target
                    && matches!(&local.pat, Pat::Ident(ident) if ident.ident == *name)
                {
                    *restart = Some(value.clone());
                }
            }
            _ => {}
        }
    }
}

fn declares(stmt: &Stmt, name: &Ident) -> bool {
    matches!(stmt, Stmt::Local(local) if matches!(&local.pat, Pat::Ident(ident) if ident.ident == *name))
}

/// `Err(Err(Ok(inner)))`: choice number `index` of `count`, without an enum of our own.
fn nested(index: usize, count: usize, inner: &TokenStream) -> TokenStream {
    let innermost = if index + 1 < count {
        quote!(::core::result::Result::Ok(#inner))
    } else {
        inner.clone()
    };
    (0..index).fold(
        innermost,
        |tokens, _| quote!(::core::result::Result::Err(#tokens)),
    )
}

fn held_pattern(held: &Ident, empty: bool) -> TokenStream {
    if empty { quote!(_) } else { quote!(#held) }
}

/// The body of a branch, which first takes the variables that its pattern bound.
fn with_bindings(mut block: syn::Block, held: &Ident, patterns: &[TokenStream]) -> syn::Block {
    if !patterns.is_empty() {
        let rt = crate::paths::rt();
        block
            .stmts
            .insert(0, parse_quote!(let (#(#patterns,)*) = #rt::bound(#held);));
    }
    block
}

/// The names bound, as expressions and as patterns (with `mut` where the user has it).
pub(super) fn binding_names(bindings: &[PatIdent]) -> (Vec<Ident>, Vec<TokenStream>) {
    bindings
        .iter()
        .map(|binding| {
            let (name, mutability) = (&binding.ident, &binding.mutability);
            (name.clone(), quote!(#mutability #name))
        })
        .unzip()
}

/// Drops `mut` from the patterns inside the initialiser of a statement; its own pattern keeps it.
pub(super) fn without_mut(mut stmt: Stmt) -> Stmt {
    if let Stmt::Local(local) = &mut stmt
        && let Some(init) = &mut local.init
        && let Expr::If(branch) = &mut *init.expr
    {
        WithoutMut.visit_expr_mut(&mut branch.cond);
    }
    stmt
}

struct WithoutMut;

impl VisitMut for WithoutMut {
    fn visit_pat_mut(&mut self, pat: &mut Pat) {
        visit::visit_pat_mut(self, pat);
        super::patterns::without_parentheses(pat);
    }

    fn visit_pat_ident_mut(&mut self, pat: &mut PatIdent) {
        if pat.by_ref.is_none() {
            pat.mutability = None;
        }
        visit::visit_pat_ident_mut(self, pat);
    }

    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        match expr {
            Expr::Let(one) => self.visit_pat_mut(&mut one.pat),
            Expr::Binary(chain) => visit::visit_expr_binary_mut(self, chain),
            Expr::Paren(inner) => visit::visit_expr_paren_mut(self, inner),
            _ => {}
        }
    }
}

/// Whether the condition has a `let` in it.
pub(super) fn has_let(condition: &Expr) -> bool {
    match condition {
        Expr::Let(_) => true,
        Expr::Binary(chain) if matches!(chain.op, BinOp::And(_)) => {
            has_let(&chain.left) || has_let(&chain.right)
        }
        Expr::Paren(inner) => has_let(&inner.expr),
        _ => false,
    }
}

/// The `let`s of a condition, in their order.
fn lets_of(condition: &Expr) -> Vec<&syn::ExprLet> {
    match condition {
        Expr::Let(one) => vec![one],
        Expr::Binary(chain) => {
            let mut all = lets_of(&chain.left);
            all.extend(lets_of(&chain.right));
            all
        }
        Expr::Paren(inner) => lets_of(&inner.expr),
        _ => Vec::new(),
    }
}

/// The variables that the `let`s of a condition bind, the last of each name.
pub(super) fn condition_bindings(condition: &Expr, names: &Names) -> Vec<PatIdent> {
    match condition {
        Expr::Let(one) => pattern_bindings(&names.read(), &one.pat),
        Expr::Binary(chain) => {
            let mut all = condition_bindings(&chain.left, names);
            let right = condition_bindings(&chain.right, names);
            all.retain(|old| !right.iter().any(|new| names.same_name(&new.ident, &old.ident)));
            all.extend(right);
            all
        }
        Expr::Paren(inner) => condition_bindings(&inner.expr, names),
        _ => Vec::new(),
    }
}

/// Whether a `let` of the condition looks into a borrowed place.
pub(super) fn condition_borrows(known: Known<'_>, condition: &Expr) -> bool {
    match condition {
        Expr::Let(one) => binds_by_reference(&one.pat) || known.borrows(&one.expr),
        Expr::Binary(chain) => {
            condition_borrows(known, &chain.left) || condition_borrows(known, &chain.right)
        }
        Expr::Paren(inner) => condition_borrows(known, &inner.expr),
        _ => false,
    }
}

fn binds_by_reference(pattern: &Pat) -> bool {
    !bindings_where(pattern, &|one| one.by_ref.is_some()).is_empty()
}
