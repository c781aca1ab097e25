//! Whether what a variable holds may still be looked at: liveness of its *contents*, for one variable at a time, by a walk
//! backward over the syntax. `before = reads ∪ (after − overwrites)`; where ways meet, either counts; a loop is walked
//! until nothing changes. Whatever mentions the variable in a way that is not known counts as a look at it.
//!
//! The operands of one expression are another matter: what stands beside a site may be evaluated before it or, where its
//! value cannot change until then, behind it, and a restart evaluates it behind it in any case. So what is mentioned beside
//! a site is looked at after it.
//!
//! Two questions are asked. Of [`Whole::Elements`]: the variable keeps its length, and every element is given a new value;
//! then its length is no part of what it holds. Of [`Whole::Value`]: the variable as such is given a new value.

use super::fill::Filled;
use ckpt_compiler::library::{Library, Methods, PlaceOf};
use ckpt_compiler::syntax::captured::captured_in_text;
use ckpt_compiler::syntax::macros::Exits;
use ckpt_compiler::syntax::marks::Marks;
use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::punctuated::Punctuated;
use syn::{Block, Expr, Pat, Stmt};

/// What counts as the whole of a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Whole {
    /// All its elements, however many they are.
    Elements,
    /// Its value.
    Value,
}

/// What is watched: a variable, or the element of one in a loop over its index.
#[derive(Debug, Clone)]
pub(super) struct Watched {
    /// The variable.
    pub name: String,
    /// The indices behind it, as text: `x[i]` has `i`.
    pub indices: Vec<String>,
    /// Whether the variable is a reference: `*x = ..` gives it a new value.
    pub is_reference: bool,
    /// The lengths from here inwards, as text, as far as they are known.
    pub lengths: Vec<String>,
    /// For rows that are kept in one piece.
    pub flat: Option<Flat>,
    /// What counts as the whole.
    pub whole: Whole,
}

/// An element by one index for two: `x[i * n + j]`.
#[derive(Debug, Clone)]
pub(super) struct Flat {
    /// The index, as it is written.
    pub index: String,
    /// The part of it that counts the columns.
    pub column: String,
}

/// Says whether the callee of a call gives its argument of this number a new value as a whole, before it looks at it.
pub(super) type Rewrites<'a> = dyn Fn(&Expr, usize, &Watched) -> bool + 'a;

/// Where a jump leads: what is live there.
pub(super) struct Around {
    label: Option<String>,
    is_loop: bool,
    to_break: bool,
    to_continue: bool,
}

pub(super) struct Contents<'a> {
    pub watched: &'a Watched,
    pub rewrites: &'a Rewrites<'a>,
    pub library: &'a Library,
    /// The marks of sites, where they matter.
    pub marks: Option<Marks<'a>>,
    /// Whether the contents matter where the function returns.
    pub at_return: bool,
    /// Whether they matter where a jump leads that leaves the walked part.
    pub outside: bool,
    pub around: Vec<Around>,
    /// Whether the contents are live at any site.
    pub live_at_a_site: bool,
}

impl<'a> Contents<'a> {
    /// The walk over a part of a function out of which every jump counts as a look.
    pub fn inside(library: &'a Library, watched: &'a Watched, rewrites: &'a Rewrites<'a>) -> Self {
        Self {
            library,
            watched,
            rewrites,
            marks: None,
            at_return: true,
            outside: true,
            around: Vec::new(),
            live_at_a_site: false,
        }
    }

    /// Whether the part gives the watched a new value on every way through it, and looks at none before.
    pub fn overwrites(mut self, part: &Block) -> bool {
        !self.block(part, true)
    }

    pub fn block(&mut self, block: &Block, after: bool) -> bool {
        block
            .stmts
            .iter()
            .rev()
            .fold(after, |live, stmt| self.stmt(stmt, live))
    }

    fn stmt(&mut self, stmt: &Stmt, after: bool) -> bool {
        match stmt {
            Stmt::Local(local) => {
                let declares = self.watched.indices.is_empty() && binds(&local.pat, &self.watched.name);
                let Some(init) = &local.init else {
                    return after && !declares;
                };
                let mut live = after && !declares;
                if let Some((_, diverge)) = &init.diverge {
                    live |= self.expr(diverge, true);
                }
                self.expr(&init.expr, live)
            }
            Stmt::Item(_) => after,
            Stmt::Expr(expr, _) => self.expr(expr, after),
            Stmt::Macro(one) => self.macro_call(&one.mac, after),
        }
    }

    /// The operands of one expression, in the order in which they are written.
    fn all(&mut self, parts: &[&Expr], after: bool) -> bool {
        let mut live = after;
        for (index, part) in parts.iter().enumerate().rev() {
            let beside =
                self.sites().in_expr(part) && parts[..index].iter().any(|other| self.is_mentioned_in(*other));
            live = self.expr(part, live || beside);
        }
        live
    }

    fn is_mentioned_in(&self, part: &impl ToTokens) -> bool {
        mentions(part.to_token_stream(), &self.watched.name)
    }

    /// What no more is known of than its tokens: any site in it may come before everything else.
    fn unknown(&mut self, part: &impl ToTokens, after: bool) -> bool {
        let looks = self.is_mentioned_in(part);
        if self.sites().in_tokens(&part.to_token_stream()) {
            self.live_at_a_site |= after || looks;
        }
        after || looks
    }

    pub fn expr(&mut self, expr: &Expr, after: bool) -> bool {
        match expr {
            Expr::Lit(_) => after,
            Expr::Paren(one) => self.expr(&one.expr, after),
            Expr::Group(one) => self.expr(&one.expr, after),
            Expr::Path(path) => after || path.path.is_ident(&self.watched.name),
            Expr::Unary(one) => self.expr(&one.expr, after),
            Expr::Cast(one) => self.expr(&one.expr, after),
            Expr::Field(one) => self.expr(&one.base, after),
            Expr::Reference(one) => self.expr(&one.expr, after),
            Expr::Index(one) => self.all(&[&one.expr, &one.index], after),
            Expr::Tuple(one) => self.all(&Vec::from_iter(&one.elems), after),
            Expr::Array(one) => self.all(&Vec::from_iter(&one.elems), after),
            Expr::Range(one) => {
                let bounds: Vec<&Expr> = one.start.iter().chain(&one.end).map(|bound| &**bound).collect();
                self.all(&bounds, after)
            }
            Expr::Struct(one) => {
                let fields = one.fields.iter().map(|field| &field.expr);
                let parts: Vec<&Expr> = fields.chain(one.rest.as_deref()).collect();
                self.all(&parts, after)
            }
            Expr::Let(one) => self.expr(&one.expr, after),
            Expr::Assign(one) => self.assign(&one.left, &one.right, after),
            Expr::Binary(one) => self.binary(one, after),
            Expr::Call(_) | Expr::MethodCall(_) => self.call(expr, after),
            Expr::Macro(one) => self.macro_call(&one.mac, after),
            Expr::If(_)
            | Expr::Match(_)
            | Expr::Block(_)
            | Expr::Unsafe(_)
            | Expr::Loop(_)
            | Expr::While(_)
            | Expr::ForLoop(_)
            | Expr::Return(_)
            | Expr::Break(_)
            | Expr::Continue(_)
            | Expr::Try(_) => self.control(expr, after),
            Expr::Closure(one) => {
                // It may become the body of a loop, half-way through which a checkpoint is taken.
                self.live_at_a_site |= self.sites().in_expr(&one.body);
                after || self.is_mentioned_in(one)
            }
            other => self.unknown(other, after),
        }
    }

    fn control(&mut self, expr: &Expr, after: bool) -> bool {
        match expr {
            Expr::If(one) => {
                let then = self.block(&one.then_branch, after);
                let otherwise = match &one.else_branch {
                    Some((_, branch)) => self.expr(branch, after),
                    None => after,
                };
                self.expr(&one.cond, then || otherwise)
            }
            Expr::Match(one) => {
                let mut live = one.arms.is_empty() && after;
                for arm in &one.arms {
                    let body = self.expr(&arm.body, after);
                    live |= match &arm.guard {
                        Some((_, guard)) => self.expr(guard, body),
                        None => body,
                    };
                    // A guard that fails leads to the arms behind it.
                    live |= arm.guard.is_some() && after;
                }
                self.expr(&one.expr, live)
            }
            Expr::Block(one) => {
                self.around(one.label.as_ref(), false, after, after);
                let live = self.block(&one.block, after);
                self.around.pop();
                live
            }
            Expr::Unsafe(one) => self.block(&one.block, after),
            Expr::Loop(one) => self.repeat(one.label.as_ref(), after, |walk, head| {
                walk.block(&one.body, head)
            }),
            Expr::While(one) => self.repeat(one.label.as_ref(), after, |walk, head| {
                let body = walk.block(&one.body, head);
                walk.expr(&one.cond, body || after)
            }),
            Expr::ForLoop(one) => {
                // A site in it would be half-way through.
                if !self.sites().in_block(&one.body) && (Filled { contents: self }).by(self.library, one) {
                    return false;
                }
                let live = self.repeat(one.label.as_ref(), after, |walk, head| {
                    walk.block(&one.body, head) || after
                });
                self.expr(&one.expr, live)
            }
            Expr::Return(one) => {
                let live = self.at_return;
                one.expr.iter().fold(live, |live, value| self.expr(value, live))
            }
            Expr::Break(one) => {
                let live = self.target(one.label.as_ref(), true);
                one.expr.iter().fold(live, |live, value| self.expr(value, live))
            }
            Expr::Continue(one) => self.target(one.label.as_ref(), false),
            Expr::Try(one) => {
                let live = after || self.at_return;
                self.expr(&one.expr, live)
            }
            other => self.unknown(other, after),
        }
    }

    /// The marks of sites; where calls do not matter, of `checkpoint!` alone.
    fn sites(&self) -> Marks<'a> {
        self.marks.unwrap_or(Marks {
            calls: &[],
            library: self.library,
        })
    }

    fn around(&mut self, label: Option<&syn::Label>, is_loop: bool, to_break: bool, to_continue: bool) {
        self.around.push(Around {
            label: label.map(|label| label.name.ident.to_string()),
            is_loop,
            to_break,
            to_continue,
        });
    }

    /// Walks a loop, `after` being what holds where it is left, until what holds at its head stays the same.
    fn repeat(
        &mut self,
        label: Option<&syn::Label>,
        after: bool,
        walk: impl Fn(&mut Self, bool) -> bool,
    ) -> bool {
        let mut head = false;
        loop {
            self.around(label, true, after, head || after);
            let next = walk(self, head);
            self.around.pop();
            if next == head {
                return head;
            }
            head = next;
        }
    }

    fn target(&self, label: Option<&syn::Lifetime>, breaks: bool) -> bool {
        let found = self.around.iter().rev().find(|one| match label {
            Some(label) => one.label.as_deref() == Some(&label.ident.to_string()),
            None => one.is_loop,
        });
        found.map_or(
            self.outside,
            |one| if breaks { one.to_break } else { one.to_continue },
        )
    }

    fn assign(&mut self, left: &Expr, right: &Expr, after: bool) -> bool {
        let live = if self.is_watched(left) {
            false
        } else {
            self.place(left, after)
        };
        let beside = self.sites().in_expr(left) && self.is_mentioned_in(right);
        if beside {
            self.live_at_a_site = true;
        }
        self.expr(right, live)
    }

    /// A place that is assigned to: a part of the watched stays as it was, and is not looked at.
    fn place(&mut self, left: &Expr, after: bool) -> bool {
        match left {
            Expr::Paren(one) => self.place(&one.expr, after),
            Expr::Path(_) => after,
            Expr::Index(one) => {
                let live = self.place(&one.expr, after);
                self.expr(&one.index, live)
            }
            Expr::Field(one) => self.place(&one.base, after),
            Expr::Unary(one) => self.place(&one.expr, after),
            Expr::Tuple(one) => one
                .elems
                .iter()
                .rev()
                .fold(after, |live, part| self.place(part, live)),
            Expr::Infer(_) => after,
            other => self.expr(other, after),
        }
    }

    fn binary(&mut self, one: &syn::ExprBinary, after: bool) -> bool {
        if matches!(one.op, syn::BinOp::And(_) | syn::BinOp::Or(_)) {
            let right = self.expr(&one.right, after);
            return self.expr(&one.left, after || right);
        }
        self.all(&[&one.left, &one.right], after)
    }

    fn macro_call(&mut self, mac: &syn::Macro, after: bool) -> bool {
        if Marks::is_checkpoint(mac) {
            self.live_at_a_site |= after;
            return after;
        }
        let exits = Exits::of(self.library, mac);
        let leaves = (exits.innermost || !exits.labels.is_empty())
            && (self.at_return
                || self.outside
                || self.around.iter().any(|one| one.to_break || one.to_continue));
        self.unknown(&mac.tokens, after || leaves)
    }

    fn call(&mut self, expr: &Expr, after: bool) -> bool {
        let is_site = self.marks.is_some_and(|marks| marks.callee(expr).is_some());
        if is_site {
            self.live_at_a_site |= after || self.is_mentioned_in(expr);
        }
        match expr {
            Expr::MethodCall(call) => {
                let method = call.method.to_string();
                let by_elements = self.watched.whole == Whole::Elements;
                if self.is_watched(&call.receiver) {
                    if by_elements && self.library.fills(&method)
                        || !by_elements && self.library.resets(&method)
                    {
                        return self.all(&Vec::from_iter(&call.args), false);
                    }
                    if by_elements && self.library.says(&method, Methods::Measures) {
                        return self.all(&Vec::from_iter(&call.args), after);
                    }
                }
                self.operands(expr, &call.receiver, (&call.args, 1), after)
            }
            Expr::Call(call) => self.operands(expr, &call.func, (&call.args, 0), after),
            other => self.unknown(other, after),
        }
    }

    /// What a call is given, the first of `arguments` being the parameter of that number; one that the callee rewrites as
    /// a whole is not looked at.
    fn operands(
        &mut self,
        call: &Expr,
        called: &Expr,
        (arguments, first): (&Punctuated<Expr, syn::Token![,]>, usize),
        after: bool,
    ) -> bool {
        let lent = arguments.iter().position(|argument| self.is_lent(argument));
        let rewritten = lent.filter(|index| (self.rewrites)(call, index + first, self.watched));
        let others = arguments
            .iter()
            .enumerate()
            .filter(|(index, _)| Some(*index) != rewritten);
        let others = others.map(|(_, argument)| argument);
        let operands: Vec<&Expr> = std::iter::once(called).chain(others).collect();
        self.all(&operands, after && rewritten.is_none())
    }

    /// `x`, `x[i]` as it is watched, or `*x` where it is a reference.
    pub fn is_watched(&self, expr: &Expr) -> bool {
        is_place(expr, self.watched)
    }

    /// `&mut x`, `&mut x[..]`; of a reference `x`, `&mut *x` and `x` itself.
    fn is_lent(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Reference(one) if one.mutability.is_some() => match &*one.expr {
                Expr::Index(index) if matches!(&*index.index, Expr::Range(range) if range.start.is_none() && range.end.is_none()) => {
                    self.is_watched(&index.expr)
                }
                inner => self.is_watched(inner),
            },
            Expr::Path(_) => {
                self.watched.is_reference && self.watched.indices.is_empty() && self.is_watched(expr)
            }
            Expr::MethodCall(call) => {
                self.library.says(&call.method.to_string(), PlaceOf::Whole) && self.is_watched(&call.receiver)
            }
            _ => false,
        }
    }
}

fn is_place(expr: &Expr, watched: &Watched) -> bool {
    fn matches(expr: &Expr, watched: &Watched, depth: usize) -> bool {
        match expr {
            Expr::Paren(one) => matches(&one.expr, watched, depth),
            Expr::Path(path) => depth == 0 && path.path.is_ident(&watched.name),
            Expr::Unary(one) if matches!(one.op, syn::UnOp::Deref(_)) => {
                watched.is_reference && depth == 0 && matches(&one.expr, watched, 0)
            }
            Expr::Index(one) => {
                depth > 0
                    && watched.indices.get(depth - 1) == Some(&text(&*one.index))
                    && matches(&one.expr, watched, depth - 1)
            }
            _ => false,
        }
    }
    if let Some(flat) = &watched.flat {
        return matches!(expr, Expr::Index(one)
            if watched.lengths.is_empty() && text(&*one.index) == flat.index && matches(&one.expr, watched, 0));
    }
    matches(expr, watched, watched.indices.len())
}

/// An expression as text, the same for the same tokens.
pub(super) fn text(expr: &impl ToTokens) -> String {
    expr.to_token_stream().to_string()
}

pub(super) fn binds(pattern: &Pat, name: &str) -> bool {
    ckpt_compiler::syntax::patterns::likely_bindings(pattern)
        .iter()
        .any(|one| one.ident == name)
}

/// Whether tokens have the name, also captured in a text.
pub(super) fn mentions(tokens: TokenStream, name: &str) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(ident) => ident == name,
        TokenTree::Group(group) => mentions(group.stream(), name),
        TokenTree::Literal(literal) => captured_in_text(&literal.to_string())
            .iter()
            .any(|one| one == name),
        TokenTree::Punct(_) => false,
    })
}

/// How many patterns in a block bind the name.
pub(super) fn bindings_of(block: &Block, name: &str) -> usize {
    struct Bindings<'n>(&'n str, usize);
    impl<'ast> ckpt_compiler::visit::Visit<'ast> for Bindings<'_> {
        fn visit_pat_ident(&mut self, one: &'ast syn::PatIdent) {
            self.1 += usize::from(one.ident == self.0);
            ckpt_compiler::visit::visit_pat_ident(self, one);
        }
    }
    let mut found = Bindings(name, 0);
    ckpt_compiler::visit::Visit::visit_block(&mut found, block);
    found.1
}
