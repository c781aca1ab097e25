//! Names resolved to bindings, and the order in which a run uses them.
//!
//! The result is a graph of basic blocks with the events of every binding; shadowing is gone: an event speaks of a
//! [`BindingId`], never of a name. Types are not known here: where a use might move or change a variable, it counts as
//! one that does.

mod control;
mod expr;
mod macros;
mod numbers;
mod of_std;
mod spine;

pub use spine::build;

use crate::names::{Kind, LocalId, LocalSet, Locals, Origin};
use crate::parse::options::Treatment;
use crate::spine::{SiteId, StepId};
use crate::syntax::mentions::each_name;
use proc_macro2::Ident;
use quote::ToTokens;
use std::collections::HashMap;
use syn::{Expr, Pat, Type};

/// A variable, whatever it is called.
pub type BindingId = usize;

/// A basic block's index.
pub type NodeId = usize;

/// How a parameter is passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Passing {
    /// By value.
    Value,
    /// A function, a closure, a reference in a pattern: the caller rebuilds it.
    Given,
    /// `&T`, `&self`: given, but offered to a caller that cannot see whether what it passes, a `&mut` of its own, is lent
    /// on exclusively.
    Shared,
    /// `&mut T`.
    Exclusive,
}

/// How a variable came to be.
#[derive(Debug, Clone)]
pub enum Declaration {
    /// A parameter of the function.
    Parameter {
        /// Its index; the receiver is 0.
        index: u32,
        /// How it is passed.
        passing: Passing,
        /// Whether it is a plain name, so that the parameter as a whole can be named.
        whole: bool,
    },
    /// A `let` on the spine.
    Let,
    /// A pattern of a `match` that is re-executed at restart.
    Arm,
    /// Declared inside a statement that holds no site, or by ckpt for the next statement only.
    Inner,
}

/// A variable.
#[derive(Debug, Clone)]
pub struct Binding {
    /// Its name.
    pub ident: Ident,
    /// Its number in the table; one that a pass declares at more than one place is a binding at each.
    pub local: LocalId,
    /// Whether it is the user's.
    pub origin: Origin,
    /// Whether it was declared `mut`.
    pub mutable: bool,
    /// How it came to be.
    pub declaration: Declaration,
    /// The step that declares it; 0 for a parameter.
    pub step: StepId,
    /// What the user wants with it.
    pub treatment: Option<Treatment>,
    /// Its type, where written.
    pub ty: Option<Type>,
    /// Its initialiser, for a `let` without a site.
    pub init: Option<Expr>,
    /// Whether the declaring statement has a site.
    pub from_spine: bool,
    /// Whether its statement must run at restart, or a restart value is given with the statement.
    pub reexecutes: bool,
    /// Whether ckpt gives the variable its value at restart.
    pub has_restart: bool,
    /// Whether its statement has a `#[cfg(..)]`.
    pub conditional: bool,
    /// Whether it is plainly a number, `bool` or `char`.
    pub is_number: bool,
    /// The variables that its initialiser uses, each with how.
    pub inputs: Vec<(BindingId, Use)>,
}

impl Binding {
    /// Whether ckpt has added it.
    pub fn is_synthetic(&self) -> bool {
        self.origin != Origin::User
    }

    /// Whether ckpt has added it for this.
    pub fn is_for(&self, kind: Kind) -> bool {
        self.origin == Origin::Synthetic(kind)
    }

    /// Whether it is declared without a value: `let x;`.
    pub fn is_late(&self) -> bool {
        self.init.is_none() && !self.from_spine && matches!(self.declaration, Declaration::Let)
    }

    /// Whether its type is a number, `bool` or `char`, as far as its declaration tells.
    pub fn is_plainly_copy(&self) -> bool {
        self.is_number
    }
}

/// What happens to a binding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Use {
    /// Its value is looked at.
    Read,
    /// A part of it is used in a way that moves the part unless it is `Copy`.
    MovePart,
    /// Its value is used in a way that moves it unless it is `Copy`.
    Move,
    /// A new value replaces the old one as a whole.
    Write,
    /// A part of it changes, or may change: a field is assigned, a part is borrowed exclusively, a method is called on it.
    Change,
    /// It is borrowed exclusively as a whole: a reference may come back pointing elsewhere.
    Lend,
}

/// One event of a binding.
#[derive(Debug, Clone, Copy)]
pub struct Event {
    /// The variable.
    pub binding: BindingId,
    /// What happens.
    pub kind: Use,
    /// The step in which it happens.
    pub step: StepId,
    /// Whether it happens in the body of a closure, which may run later, more than once, or never.
    pub in_closure: bool,
    /// Whether it is a method's receiver that the method may take by value.
    pub may_consume: bool,
    /// Whether it is a method's receiver, and nothing but the method's name says that it is left as it is.
    pub by_name: bool,
    /// Whether a method of the program has that name, and may change it.
    pub by_own: bool,
    /// Whether an operator takes it by value, so that it is gone afterwards if it is not used again: what is used again has been copied.
    pub by_operator: bool,
    /// Whether memory that it owns may belong to something else afterwards. A place that is borrowed, compared or indexed stays with
    /// its owner; everywhere else it may be taken away, whatever its `kind`.
    pub may_take: bool,
    /// The field of the variable in which it happens, by its number in the flow; nothing where that may be anywhere.
    pub field: Option<usize>,
}

impl Event {
    /// Whether the variable, or what it leads to, may be another value afterwards.
    pub fn may_change(&self) -> bool {
        matches!(self.kind, Use::Write | Use::Change | Use::Lend) || self.by_own
    }

    /// Whether the value may be gone afterwards.
    pub fn may_move(&self) -> bool {
        self.kind == Use::Move || self.may_consume
    }
}

/// A basic block.
#[derive(Debug, Default)]
pub struct Node {
    /// Variables that are declared without a value where the block begins.
    pub fresh: Vec<BindingId>,
    /// What happens, in order. The declaration of a variable with a value is a `Write`.
    pub events: Vec<Event>,
    /// Where it goes on.
    pub next: Vec<NodeId>,
}

/// What is in scope at a site.
#[derive(Debug)]
pub struct SiteFlow {
    /// The block that ends at the site.
    pub node: NodeId,
    /// The step that holds the site.
    pub step: StepId,
    /// The variables in scope, the outermost first. Of equal names only the last can be named.
    pub scope: Vec<BindingId>,
}

/// A point between two events.
#[derive(Debug, Clone, Copy)]
pub struct Point {
    /// The block.
    pub node: NodeId,
    /// How many of its events come before.
    pub event: usize,
}

/// The graph of a function.
#[derive(Debug, Default)]
pub struct Flow {
    /// All variables.
    pub bindings: Vec<Binding>,
    /// The names of the fields in which something happens.
    pub fields: Vec<String>,
    /// The variables, by their names.
    pub locals: Locals,
    /// All basic blocks; 0 is where the function starts.
    pub nodes: Vec<Node>,
    /// The sites, site `k` at index `k - 1`.
    pub sites: Vec<SiteFlow>,
    /// Where every step begins and ends: a block, and how many of its events came before.
    pub points: HashMap<StepId, (Point, Point)>,
    /// For every step that is a loop or a labelled block on the spine: where `continue` and `break` go on.
    pub targets: HashMap<StepId, (NodeId, NodeId)>,
    /// For every step with an expression around the one that has the site: where that expression begins.
    pub contexts: HashMap<StepId, Point>,
    /// Pairs of variables that trade places: `mem::swap(&mut a, &mut b)`, `(a, b) = (b, a)`.
    pub swaps: Vec<(BindingId, BindingId)>,
    /// For every `match` that is re-executed: the step, and what its scrutinee uses.
    pub reexecuted: Vec<(StepId, Vec<BindingId>)>,
    /// Variables whose names stand for something else in the step: a function, a constant.
    pub outer_names: HashMap<StepId, LocalSet>,
    /// For every variable of a `match` that is re-executed: what is matched, and with which pattern.
    pub arms: HashMap<BindingId, (Expr, Pat)>,
    /// What values that are filled borrow exclusively: the value as it is made, and the variable.
    pub filled_loans: Vec<(LocalId, LocalId)>,
    /// The value as it is made, and the variable whose content is copied there.
    pub copied_contents: Vec<(LocalId, LocalId)>,
    /// For every call that leads to a site: what its arguments use.
    pub arguments: Vec<(SiteId, Vec<(BindingId, Use)>)>,
    /// Whether somebody may ask how many pointers to one value there are: an owner counts until its scope ends.
    pub counts_owners: bool,
}

/// The blocks that the ways from these lead to, themselves included; `next[node]` is where a block goes on.
pub(crate) fn reached<'n>(
    nodes: usize,
    from: &[NodeId],
    next: impl Fn(NodeId) -> &'n [NodeId],
) -> fixedbitset::FixedBitSet {
    let mut found = fixedbitset::FixedBitSet::with_capacity(nodes);
    let mut open = from.to_vec();
    while let Some(node) = open.pop() {
        if !found.put(node) {
            open.extend(next(node));
        }
    }
    found
}

impl Flow {
    /// The number of a field.
    fn field(&mut self, name: String) -> usize {
        let known = self.fields.iter().position(|one| *one == name);
        known.unwrap_or_else(|| {
            self.fields.push(name);
            self.fields.len() - 1
        })
    }

    /// Whether an event is in another field of its variable than those that an initialiser names.
    pub fn is_in_another_field(&self, event: &Event, init: &Expr) -> bool {
        let field = event.field.map(|field| self.fields[field].as_str());
        field.is_some_and(|field| names_other_fields(init, &self.bindings[event.binding].ident, field))
    }

    /// All events, in no particular order.
    pub fn events(&self) -> impl Iterator<Item = &Event> {
        self.nodes.iter().flat_map(|node| &node.events)
    }

    /// What can be named at a site.
    pub fn nameable(&self, site: SiteId, binding: BindingId) -> bool {
        let scope = &self.sites[site as usize - 1].scope;
        scope.iter().rev().find(|other| self.same_name(**other, binding)) == Some(&binding)
    }

    /// The variable that a name stands for at a site.
    pub fn named_at(&self, site: SiteId, name: &Ident) -> Option<BindingId> {
        let scope = &self.sites[site as usize - 1].scope;
        self.last_named(scope, name)
    }

    /// The variable that a name stands for in the initialiser of another.
    pub fn input_named(&self, of: BindingId, name: &Ident) -> Option<BindingId> {
        let inputs = self.bindings[of].inputs.iter().map(|(input, _)| *input);
        self.last_named(&inputs.collect::<Vec<_>>(), name)
    }

    fn last_named(&self, of: &[BindingId], name: &Ident) -> Option<BindingId> {
        let local = self.locals.id(name)?;
        of.iter()
            .rev()
            .copied()
            .find(|id| self.bindings[*id].local == local)
    }

    /// Whether a parameter is given another value than the caller has passed. The first statement has the number of the step that
    /// declares parameters, so the number does not tell the two apart.
    pub fn is_given_again(&self, parameter: BindingId) -> bool {
        let writes = { self.events() }.filter(|event| event.binding == parameter && event.kind == Use::Write);
        writes.count() > 1
    }

    /// Whether the name that a variable has in what is emitted stands for something else in the step.
    pub fn is_outer_name(&self, step: StepId, id: BindingId) -> bool {
        let written = self.written(id);
        let is_it = |outer: LocalId| self.locals.get(outer).written == written;
        self.outer_names
            .get(&step)
            .is_some_and(|names| names.iter().any(is_it))
    }

    /// Whether two variables are called the same in what is emitted.
    pub fn same_name(&self, one: BindingId, other: BindingId) -> bool {
        self.locals
            .same_name(&self.bindings[one].ident, &self.bindings[other].ident)
    }

    /// What the variable is called in the source, and in what is emitted.
    pub fn written(&self, id: BindingId) -> Ident {
        self.locals.written(&self.bindings[id].ident)
    }
}

/// Whether an expression names a variable only for other fields of it than this one.
fn names_other_fields(expr: &Expr, of: &Ident, field: &str) -> bool {
    struct Fields<'a> {
        of: &'a Ident,
        field: &'a str,
        found: bool,
    }
    impl<'ast> crate::visit::Visit<'ast> for Fields<'_> {
        fn visit_expr(&mut self, expr: &'ast Expr) {
            match expr {
                Expr::Field(one) if matches!(&*one.base, Expr::Path(path) if path.path.is_ident(self.of)) => {
                    self.found |= one.member.to_token_stream().to_string() == self.field;
                }
                other => crate::visit::visit_expr(self, other),
            }
        }

        fn visit_expr_path(&mut self, path: &'ast syn::ExprPath) {
            self.found |= path.path.is_ident(self.of);
        }

        fn visit_macro(&mut self, mac: &'ast syn::Macro) {
            let of = self.of.to_string();
            each_name(mac.tokens.clone(), &mut |name| self.found |= name == of);
        }
    }
    let mut fields = Fields {
        of,
        field,
        found: false,
    };
    crate::visit::Visit::visit_expr(&mut fields, expr);
    !fields.found
}
