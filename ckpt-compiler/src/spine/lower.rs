//! Takes apart the statements that hold a site, and only those.

use super::declared::DeclaredTypes;
use super::inner_attributes::take_inner_attributes;
use super::keys::changing;
use super::refilled::filled_parts_of;
use super::{
    Block, Branch, FilledLoan, Lowered, Plain, Site, SiteId, Sites, Spine, SpineStep, Step, StepKind, Target,
};
use crate::desugar::form::Form;
use crate::diagnostics::{Diagnostics, Refusal};
use crate::names::{Kind, LocalSet, Names};
use crate::parse::options::{Treatment, take_treatment};
use crate::syntax::marks::{Marks, SiteSort};
use crate::syntax::origins::{Known, is_made_again, is_repeatable};
use crate::syntax::region_marks::region_of_site;
use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::spanned::Spanned;
use syn::{Expr, ItemFn, Local, Pat, Stmt, parse_quote};

/// Lowers the body of a function.
pub fn lower(
    function: &ItemFn,
    form: Form,
    marks: Marks<'_>,
    known: Known<'_>,
    names: &Names,
    errors: &mut Diagnostics,
) -> Lowered {
    let mut lowering = Lowering {
        form,
        marks,
        known,
        changing: changing(&names.read(), function),
        of_field: None,
        declared: DeclaredTypes::of(marks.library, &names.read(), function),
        names,
        errors,
        sites: Vec::new(),
        filled_loans: Vec::new(),
        copied_contents: Vec::new(),
    };
    let mut body = lowering.block((*function.block).clone());
    super::number(&mut body, 0);
    Lowered {
        body,
        sites: lowering.sites,
        filled_loans: lowering.filled_loans,
        copied_contents: lowering.copied_contents,
    }
}

pub(super) struct Lowering<'a> {
    pub(super) form: Form,
    pub(super) marks: Marks<'a>,
    pub(super) known: Known<'a>,
    pub(super) changing: LocalSet,
    pub(super) declared: DeclaredTypes,
    pub(super) names: &'a Names,
    pub(super) errors: &'a mut Diagnostics,
    /// The field that the operand in hand is for, of a struct that is being made.
    pub(super) of_field: Option<syn::Ident>,
    sites: Vec<Site>,
    pub(super) filled_loans: Vec<FilledLoan>,
    pub(super) copied_contents: Vec<(proc_macro2::Ident, proc_macro2::Ident)>,
}

impl Lowering<'_> {
    pub(super) fn block(&mut self, block: syn::Block) -> Block {
        self.refuse_declaring_macros(&block);
        let mut steps = Vec::new();
        let count = block.stmts.len();
        for (index, stmt) in block.stmts.into_iter().enumerate() {
            self.stmt(stmt, index + 1 == count, &mut steps);
        }
        Block { steps }
    }

    /// A block together with the sites that it turns out to hold.
    pub(super) fn branch(&mut self, block: syn::Block) -> Branch {
        let before = self.next_site();
        let block = match self.form.branches_in_blocks && self.marks.in_block(&block) {
            true => self.block(parse_quote!({ #block })),
            false => self.block(block),
        };
        Branch {
            sites: self.sites_since(before),
            block,
        }
    }

    /// The body of an arm or an `else`: a block of its own, or one made around the expression.
    pub(super) fn branch_of(&mut self, expr: Expr) -> Branch {
        match expr {
            Expr::Block(block) if block.label.is_none() => self.branch(block.block),
            other => self.branch(parse_quote!({ #other })),
        }
    }

    pub(super) fn stmt(&mut self, mut stmt: Stmt, last: bool, out: &mut Vec<Step>) {
        if let Stmt::Item(_) = stmt {
            out.push(step(StepKind::Item(stmt)));
            return;
        }
        let parts = filled_parts_of(&stmt);
        let treatment = self.treatment(&mut stmt);
        if let Some(fills) = treatment.filter(|one| one.fills()) {
            if !self.make_first(&mut stmt, &parts, out) {
                return;
            }
            if let Stmt::Local(local) = &stmt
                && self.fill_each(local, fills, out)
            {
                return;
            }
        }
        if !self.marks.in_stmt(&stmt) {
            take_inner_attributes(&mut stmt, self.errors);
            self.name_borrowed_value(&mut stmt, treatment, out);
            let statement = Plain {
                stmt: parse_quote!({}),
                treatment,
                restart: None,
                reexecutes: false,
                again: None,
            };
            match stmt {
                Stmt::Local(local) => self.plain_local(local, statement, out),
                stmt => out.push(step(StepKind::Plain(Plain { stmt, ..statement }))),
            }
            return;
        }
        match stmt {
            Stmt::Local(local) => self.local(local, treatment, out),
            Stmt::Expr(expr, semicolon) => {
                let target = match (semicolon, last) {
                    (None, true) => Target::Tail,
                    (semicolon, _) => Target::Statement(semicolon.is_some()),
                };
                self.spine_step(target, expr, treatment, out);
            }
            Stmt::Macro(stmt) => {
                let target = match (stmt.semi_token, last) {
                    (None, true) => Target::Tail,
                    _ => Target::Statement(true),
                };
                let expr = Expr::Macro(syn::ExprMacro {
                    attrs: stmt.attrs,
                    mac: stmt.mac,
                });
                self.spine_step(target, expr, treatment, out);
            }
            Stmt::Item(_) => {}
        }
    }

    /// `let r = &f();` borrows a value without a name, which a restart could not restore: it gets one.
    fn name_borrowed_value(&mut self, stmt: &mut Stmt, treatment: Option<Treatment>, out: &mut Vec<Step>) {
        let Stmt::Local(Local { init: Some(init), .. }) = stmt else {
            return;
        };
        let Expr::Reference(reference) = &mut *init.expr else {
            return;
        };
        let value = &mut *reference.expr;
        let is_constant = matches!(value, Expr::Lit(_) | Expr::Array(_) | Expr::Path(_));
        if treatment.is_some()
            || is_constant
            || crate::syntax::places::place_root(value).is_some()
            || is_repeatable(self.marks.library, value)
        {
            return;
        }
        let name = self.names.fresh(Kind::Value);
        let taken = std::mem::replace(value, parse_quote!(#name));
        self.temporary(&name, taken, out);
    }

    /// Gives a name to a value that an expression borrows from, so that it lives on.
    pub(super) fn name_lent_value(&mut self, expr: &mut Expr, out: &mut Vec<Step>) {
        if let Some(owner) = crate::syntax::origins::lent_temporary_mut(self.marks.library, expr) {
            let name = self.names.fresh(Kind::Value);
            let taken = std::mem::replace(owner, parse_quote!(#name));
            self.temporary(&name, taken, out);
        }
    }

    fn treatment(&mut self, stmt: &mut Stmt) -> Option<Treatment> {
        let attributes = match stmt {
            Stmt::Local(local) => &mut local.attrs,
            Stmt::Macro(mac) => &mut mac.attrs,
            Stmt::Expr(expr, _) => attributes_of(expr)?,
            Stmt::Item(_) => return None,
        };
        let treatment = take_treatment(attributes).unwrap_or_else(|unread| {
            self.errors.unread(unread);
            None
        });
        let runs_again = || names_a_global(stmt) || self.declares_what_is_made_again(stmt);
        treatment.or_else(|| runs_again().then_some(Treatment::Reexecute))
    }

    /// `let mut rng = rand::thread_rng();`: what changes in it is not brought back. Without `mut` it is a device like others.
    fn declares_what_is_made_again(&self, stmt: &Stmt) -> bool {
        let Stmt::Local(local) = stmt else { return false };
        let is_mutable = matches!(&local.pat, Pat::Ident(name) if name.mutability.is_some());
        let init = local
            .init
            .as_ref()
            .filter(|init| is_mutable && init.diverge.is_none());
        init.is_some_and(|init| is_made_again(self.marks.library, &init.expr))
    }

    fn local(&mut self, mut local: Local, treatment: Option<Treatment>, out: &mut Vec<Step>) {
        let Some(init) = local.init.take() else { return };
        if let Some((_, diverge)) = &init.diverge {
            if self.marks.in_expr(diverge) {
                self.errors.refuse(diverge.span(), Refusal::SiteInLetElse);
                return;
            }
            let value = self.names.fresh(Kind::Value);
            self.temporary(&value, *init.expr, out);
            local.init = Some(syn::LocalInit {
                expr: Box::new(parse_quote!(#value)),
                ..init
            });
            let kind = StepKind::Plain(Plain {
                stmt: Stmt::Local(local),
                treatment,
                restart: None,
                reexecutes: false,
                again: None,
            });
            out.push(step(kind));
            return;
        }
        let target = Target::Let {
            local: Box::new(local),
            treatment,
            restart: None,
        };
        self.spine_step(target, *init.expr, None, out);
    }

    /// Pushes a statement with a site.
    pub(super) fn spine_step(
        &mut self,
        target: Target,
        expr: Expr,
        treatment: Option<Treatment>,
        out: &mut Vec<Step>,
    ) {
        let spine = self.spine(expr, treatment, out);
        if let Some(sites) = super::operands::spine_sites(&spine) {
            out.push(step(StepKind::Spine(SpineStep { sites, target, spine })));
        }
    }

    /// A variable added by ckpt that holds the value of an expression, which may have a site.
    pub(super) fn temporary(&mut self, name: &proc_macro2::Ident, mut expr: Expr, out: &mut Vec<Step>) {
        if self.marks.in_expr(&expr) {
            let local = bare_local(parse_quote!(mut #name));
            let target = Target::Let {
                local: Box::new(local),
                treatment: None,
                restart: None,
            };
            self.spine_step(target, expr, None, out);
        } else {
            self.check_unnamed(&mut expr);
            out.push(plain(parse_quote!(let mut #name = #expr;)));
        }
    }

    /// Lowers an expression that has a site. What must run before it is pushed to `out`.
    pub(super) fn spine(&mut self, expr: Expr, treatment: Option<Treatment>, out: &mut Vec<Step>) -> Spine {
        if self.marks.callee(&expr).is_some() {
            return self.call(expr);
        }
        match expr {
            Expr::Paren(inner) => self.spine(*inner.expr, treatment, out),
            Expr::Group(inner) => self.spine(*inner.expr, treatment, out),
            branch if self.decides_only(&branch) => self.operands(branch),
            Expr::Macro(mac) if Marks::is_checkpoint(&mac.mac) => {
                let region = region_of_site(&mac.mac);
                let sort = Marks::sort(&mac.mac);
                if sort.is_none() && region.is_none() {
                    self.errors.refuse(mac.mac.tokens.span(), Refusal::CheckpointOf);
                }
                let span = mac
                    .mac
                    .path
                    .segments
                    .last()
                    .map_or_else(Span::call_site, |last| last.ident.span());
                let site = self.add_site(span, None);
                if let Some(last) = self.sites.last_mut() {
                    last.region = region;
                    last.sort = sort.unwrap_or_default();
                }
                Spine::Site(site)
            }
            Expr::Block(block) => Spine::Block {
                label: block.label,
                is_unsafe: false,
                block: self.block(block.block),
            },
            Expr::Unsafe(block) => Spine::Block {
                label: None,
                is_unsafe: true,
                block: self.block(block.block),
            },
            Expr::If(branch) => self.branch_if(branch, out),
            Expr::Match(branch) => self.branch_match(branch, out),
            Expr::Loop(one) => Spine::Loop {
                label: one.label,
                body: self.block(one.body),
            },
            Expr::While(one) => self.while_loop(one),
            Expr::ForLoop(one) => self.for_loop(one, treatment),
            Expr::Return(jump) if jump.expr.is_some() => self.jump(quote!(return), jump.expr, out),
            Expr::Break(jump) if jump.expr.is_some() => {
                let label = &jump.label;
                self.jump(quote!(break #label), jump.expr, out)
            }
            Expr::Binary(binary) if is_lazy(&binary.op) && self.marks.in_expr(&binary.right) => {
                self.lazy(binary, out)
            }
            other => self.operands(other),
        }
    }

    /// A branch or `for` whose sites are all in what it looks at first: entering it again is evaluating that, and what
    /// comes after is the user's own.
    fn decides_only(&self, expr: &Expr) -> bool {
        let marks = self.marks;
        match expr {
            Expr::If(branch) => {
                let is_chain = !matches!(*branch.cond, Expr::Let(_)) && super::select::has_let(&branch.cond);
                let otherwise = branch.else_branch.as_ref().map(|(_, expr)| &**expr);
                !is_chain
                    && !marks.in_block(&branch.then_branch)
                    && !otherwise.is_some_and(|otherwise| marks.in_expr(otherwise))
            }
            Expr::Match(branch) => branch.arms.iter().all(|arm| {
                let guard = arm.guard.as_ref().map(|(_, guard)| &**guard);
                !marks.in_expr(&arm.body) && !guard.is_some_and(|guard| marks.in_expr(guard))
            }),
            Expr::ForLoop(one) => !marks.in_block(&one.body),
            _ => false,
        }
    }

    fn jump(&mut self, prefix: TokenStream, value: Option<Box<Expr>>, out: &mut Vec<Step>) -> Spine {
        let value = value.map_or_else(|| parse_quote!(()), |value| *value);
        Spine::Jump {
            prefix,
            value: Box::new(self.spine(value, None, out)),
        }
    }

    /// `a && b` with a site in `b` is `if a { b } else { false }`.
    fn lazy(&mut self, binary: syn::ExprBinary, out: &mut Vec<Step>) -> Spine {
        let (left, right) = (binary.left, binary.right);
        let constant = |value: bool| -> Expr { parse_quote!(#value) };
        let (then, otherwise) = match binary.op {
            syn::BinOp::And(_) => (*right, constant(false)),
            _ => (constant(true), *right),
        };
        // Made by hand: `if #left { .. }` would not parse where the left side holds a struct or begins with a block.
        let block = |expr| syn::Block {
            brace_token: Default::default(),
            stmts: vec![Stmt::Expr(expr, None)],
        };
        let otherwise = Expr::Block(syn::ExprBlock {
            attrs: Vec::new(),
            label: None,
            block: block(otherwise),
        });
        let as_if = Expr::If(syn::ExprIf {
            attrs: Vec::new(),
            if_token: Default::default(),
            cond: left,
            then_branch: block(then),
            else_branch: Some((Default::default(), Box::new(otherwise))),
        });
        self.spine(as_if, None, out)
    }

    pub(super) fn add_site(&mut self, span: Span, callee: Option<String>) -> SiteId {
        self.sites.push(Site {
            span,
            callee,
            region: None,
            sort: SiteSort::Common,
        });
        self.sites.len() as SiteId
    }

    pub(super) fn next_site(&self) -> SiteId {
        self.sites.len() as SiteId + 1
    }

    pub(super) fn sites_since(&self, first: SiteId) -> Option<Sites> {
        let last = self.sites.len() as SiteId;
        (first <= last).then_some(Sites { first, last })
    }
}

fn is_lazy(op: &syn::BinOp) -> bool {
    matches!(op, syn::BinOp::And(_) | syn::BinOp::Or(_))
}

pub(super) fn step(kind: StepKind) -> Step {
    Step { range: 0..0, kind }
}

/// A statement added by ckpt, treated like one of the user's.
pub(super) fn plain(stmt: Stmt) -> Step {
    step(StepKind::Plain(Plain {
        stmt,
        treatment: None,
        restart: None,
        reexecutes: false,
        again: None,
    }))
}

/// `x`, `mut x`, `x: T`
pub(super) fn is_one_name(pat: &Pat) -> bool {
    match pat {
        Pat::Ident(ident) => ident.by_ref.is_none() && ident.subpat.is_none(),
        Pat::Type(typed) => is_one_name(&typed.pat),
        _ => false,
    }
}

/// A `let` without an initialiser.
pub(super) fn bare_local(pat: Pat) -> Local {
    Local {
        attrs: Vec::new(),
        let_token: syn::Token![let](Span::mixed_site()),
        pat,
        init: None,
        semi_token: syn::Token![;](Span::mixed_site()),
    }
}

/// The attributes of an expression that can be a statement with a site.
fn attributes_of(expr: &mut Expr) -> Option<&mut Vec<syn::Attribute>> {
    Some(match expr {
        Expr::ForLoop(one) => &mut one.attrs,
        Expr::While(one) => &mut one.attrs,
        Expr::Loop(one) => &mut one.attrs,
        Expr::If(one) => &mut one.attrs,
        Expr::Match(one) => &mut one.attrs,
        Expr::Block(one) => &mut one.attrs,
        Expr::Call(one) => &mut one.attrs,
        Expr::MethodCall(one) => &mut one.attrs,
        Expr::Macro(one) => &mut one.attrs,
        Expr::Try(one) => &mut one.attrs,
        Expr::Unsafe(one) => &mut one.attrs,
        _ => return None,
    })
}

/// `ckpt::global(..);`: every process has to name its globals, one that restarts too.
fn names_a_global(stmt: &Stmt) -> bool {
    let Stmt::Expr(Expr::Call(call), _) = stmt else {
        return false;
    };
    let Expr::Path(path) = &*call.func else {
        return false;
    };
    let mut segments = path.path.segments.iter().rev().map(|segment| &segment.ident);
    segments.next().is_some_and(|last| last == "global") && segments.next().is_some_and(|of| of == "ckpt")
}
