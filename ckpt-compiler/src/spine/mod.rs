//! The lowered form of a function: its *spine*, the chain of blocks, branches and loops around the sites.
//!
//! Only what holds a site is taken apart; every other statement stays as the user wrote it. Conditions, scrutinees and
//! iterators of spine statements have become statements of their own, so that a restart can pass over them.

mod declared;
mod declaring_macros;
mod held;
mod inner_attributes;
pub mod keys;
mod loops;
mod lower;
pub mod operands;
mod patterns;
mod refilled;
pub mod select;
mod show;
mod unnamed;

pub use lower::lower;

use crate::names;
use crate::parse::options::Treatment;
use crate::syntax::marks::SiteSort;
use proc_macro2::{Ident, Span, TokenStream};
use syn::{Expr, Label, Local, Pat, Stmt};

/// A site's number, counted from 1 in program order.
pub type SiteId = u32;

/// The sites inside a part of the function: consecutive numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sites {
    /// The first.
    pub first: SiteId,
    /// The last.
    pub last: SiteId,
}

impl Sites {
    /// Whether the site is one of these.
    pub fn contains(self, site: SiteId) -> bool {
        (self.first..=self.last).contains(&site)
    }
}

/// A place where a checkpoint may be taken: in this function, or below a call that it makes.
#[derive(Debug, Clone)]
pub struct Site {
    /// Where it stands.
    pub span: Span,
    /// The called function, for a call that leads to a site.
    pub callee: Option<String>,
    /// The region that begins here, if one does.
    pub region: Option<usize>,
    /// What it is to the ranks of a program.
    pub sort: SiteSort,
}

/// A block with a site in it, or the body of something that has one.
#[derive(Debug, Default)]
pub struct Block {
    /// Its statements, in order.
    pub steps: Vec<Step>,
}

/// A position in program order. A step covers the numbers from its own up to its end.
pub type StepId = usize;

/// One statement of a block on the spine.
#[derive(Debug)]
pub struct Step {
    /// Its number, and behind the colon of the half-open range the first number that is no longer inside it.
    pub range: std::ops::Range<StepId>,
    /// What it is.
    pub kind: StepKind,
}

impl Step {
    /// Whether it is an item that sees the variables in front of it.
    pub fn defines_a_macro(&self) -> bool {
        matches!(self.kind, StepKind::Item(Stmt::Item(syn::Item::Macro(_))))
    }
}

/// What a statement on the spine is.
#[derive(Debug)]
pub enum StepKind {
    /// An item: stays where it is.
    Item(Stmt),
    /// A statement without a site.
    Plain(Plain),
    /// A statement with a site.
    Spine(SpineStep),
}

/// A statement without a site.
#[derive(Debug)]
pub struct Plain {
    /// The statement.
    pub stmt: Stmt,
    /// What the user wants with the variables that it declares.
    pub treatment: Option<Treatment>,
    /// For a variable that ckpt added: the value it has when a restart passes over the statement.
    pub restart: Option<TokenStream>,
    /// Whether it must run at restart, whatever it looks like (a rebuilt iterator's steps).
    pub reexecutes: bool,
    /// What its variables are rebuilt from after a site that ended them, where that is not its initialiser.
    pub again: Option<Box<Expr>>,
}

impl Plain {
    /// Whether it is the condition of a `while let`, which need not run again where nobody uses what it binds.
    pub fn is_condition(&self) -> bool {
        let Stmt::Local(Local { init: Some(init), .. }) = &self.stmt else {
            return false;
        };
        self.reexecutes && matches!(*init.expr, Expr::If(_))
    }
}

/// A statement with a site.
#[derive(Debug)]
pub struct SpineStep {
    /// The sites inside.
    pub sites: Sites,
    /// What becomes of its value.
    pub target: Target,
    /// The expression.
    pub spine: Spine,
}

/// What becomes of the value of a spine statement.
#[derive(Debug)]
pub enum Target {
    /// `let pattern: type = ..;`
    Let {
        /// The statement without its initialiser.
        local: Box<Local>,
        /// What the user wants with the variables.
        treatment: Option<Treatment>,
        /// For a variable that ckpt added: the value it has when a restart passes over the statement.
        restart: Option<TokenStream>,
    },
    /// A statement; `true` where a semicolon follows.
    Statement(bool),
    /// The value of the block.
    Tail,
}

/// An expression with a site inside.
#[derive(Debug)]
pub enum Spine {
    /// `ckpt::checkpoint!()`.
    Site(SiteId),
    /// A call that leads to a site.
    Call {
        /// Its number.
        site: SiteId,
        /// The call, its arguments such that they can be evaluated again.
        call: Box<Expr>,
    },
    /// A block.
    Block {
        /// Its label.
        label: Option<Label>,
        /// Whether it is an `unsafe` block of the user's.
        is_unsafe: bool,
        /// Its statements.
        block: Block,
    },
    /// `if`.
    If {
        /// The variable that holds its condition.
        condition: Ident,
        /// The first branch.
        then: Branch,
        /// The `else` branch.
        otherwise: Option<Branch>,
    },
    /// `match`.
    Match {
        /// A variable added by ckpt, or the user's place.
        scrutinee: Box<Expr>,
        /// The arms.
        arms: Vec<Arm>,
        /// Whether the scrutinee is the user's, to be matched again at restart.
        reexecutes: bool,
    },
    /// `loop`; `while` and `for` have become one too.
    Loop {
        /// Its label.
        label: Option<Label>,
        /// Its body.
        body: Block,
    },
    /// An expression around a site-bearing one, which is evaluated first.
    Context {
        /// The site-bearing expression.
        inner: Box<Spine>,
        /// The expression around it, with [`hole`] in its place.
        around: Box<Expr>,
    },
    /// `return` or `break 'label` with a site-bearing value.
    Jump {
        /// The keyword and the label.
        prefix: TokenStream,
        /// The value.
        value: Box<Spine>,
    },
}

impl Spine {
    /// The expression that is evaluated first, without what stands around it.
    pub fn innermost(&self) -> &Self {
        match self {
            Self::Context { inner, .. } | Self::Jump { value: inner, .. } => inner.innermost(),
            other => other,
        }
    }

    /// Whether there are no statements in it.
    pub fn is_leaf(&self) -> bool {
        let mut is_leaf = true;
        for_each_block(self, &mut |_| is_leaf = false);
        is_leaf
    }
}

/// A block of a branch, which may have no site.
#[derive(Debug)]
pub struct Branch {
    /// The sites inside, if any.
    pub sites: Option<Sites>,
    /// The statements.
    pub block: Block,
}

/// An arm of a `match`.
#[derive(Debug)]
pub struct Arm {
    /// Its pattern.
    pub pattern: Pat,
    /// Its guard; only in a `match` that is re-executed.
    pub guard: Option<Box<Expr>>,
    /// Its body.
    pub body: Branch,
}

/// A lowered function.
#[derive(Debug)]
pub struct Lowered {
    /// The body.
    pub body: Block,
    /// The sites, site `k` at index `k - 1`.
    pub sites: Vec<Site>,
    /// What values that are filled borrow exclusively.
    pub filled_loans: Vec<FilledLoan>,
    /// The value as it is made, and the variable whose content is copied there.
    pub copied_contents: Vec<(Ident, Ident)>,
}

/// A variable that a value which a restart fills borrows exclusively for as long as it lives: `#[ckpt(refill(&mut grid))]`.
#[derive(Debug)]
pub struct FilledLoan {
    /// The value as its initialiser makes it; the user's variable is what it moves into.
    pub value: Ident,
    /// The variable that is borrowed.
    pub base: Ident,
    /// What knows its type.
    pub kind: Ident,
}

/// The placeholder for the inner expression of a [`Spine::Context`].
pub fn hole() -> Ident {
    names::plain(names::Kind::Hole)
}

/// Visits the blocks directly inside a spine expression.
pub fn for_each_block<'a>(spine: &'a Spine, visit: &mut dyn FnMut(&'a Block)) {
    match spine {
        Spine::Site(_) | Spine::Call { .. } => {}
        Spine::Block { block, .. } | Spine::Loop { body: block, .. } => visit(block),
        Spine::If { then, otherwise, .. } => {
            visit(&then.block);
            otherwise.iter().for_each(|branch| visit(&branch.block));
        }
        Spine::Match { arms, .. } => arms.iter().for_each(|arm| visit(&arm.body.block)),
        Spine::Context { inner, .. } | Spine::Jump { value: inner, .. } => for_each_block(inner, visit),
    }
}

/// Visits the calls that lead to sites, in the order of the sites.
pub fn for_each_call<'a>(block: &'a Block, visit: &mut dyn FnMut(SiteId, &'a Expr)) {
    for step in &block.steps {
        let StepKind::Spine(step) = &step.kind else {
            continue;
        };
        if let Spine::Call { site, call } = step.spine.innermost() {
            visit(*site, call);
        }
        for_each_block(&step.spine, &mut |inner| for_each_call(inner, visit));
    }
}

/// For every step of a block and inside it, the first number behind it.
pub fn step_ends(block: &Block) -> std::collections::HashMap<StepId, StepId> {
    fn collect(block: &Block, ends: &mut std::collections::HashMap<StepId, StepId>) {
        for step in &block.steps {
            ends.insert(step.range.start, step.range.end);
            if let StepKind::Spine(spine) = &step.kind {
                for_each_block(&spine.spine, &mut |inner| collect(inner, ends));
            }
        }
    }
    let mut ends = std::collections::HashMap::new();
    collect(block, &mut ends);
    ends
}

/// Numbers the steps of a block in program order, starting at `next`; returns the first free number.
pub fn number(block: &mut Block, mut next: StepId) -> StepId {
    for step in &mut block.steps {
        let start = next;
        next += 1;
        if let StepKind::Spine(spine) = &mut step.kind {
            next = number_spine(&mut spine.spine, next);
        }
        step.range = start..next;
    }
    next
}

fn number_spine(spine: &mut Spine, next: StepId) -> StepId {
    match spine {
        Spine::Site(_) | Spine::Call { .. } => next,
        Spine::Block { block, .. } => number(block, next),
        Spine::If { then, otherwise, .. } => {
            let next = number(&mut then.block, next);
            otherwise
                .as_mut()
                .map_or(next, |branch| number(&mut branch.block, next))
        }
        Spine::Match { arms, .. } => arms
            .iter_mut()
            .fold(next, |next, arm| number(&mut arm.body.block, next)),
        Spine::Loop { body, .. } => number(body, next),
        Spine::Context { inner, .. } | Spine::Jump { value: inner, .. } => number_spine(inner, next),
    }
}
