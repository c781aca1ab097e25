//! Walks the statements and expressions that hold no site.

use super::of_std::is_of_std;
use super::{Binding, BindingId, Declaration, Event, Flow, Node, NodeId, Use};
use crate::desugar::regions::{body_of_start, named_whole};
use crate::library::{Functions, Library, Methods};
use crate::names::{LocalId, Locals, Origin};
use crate::spine::StepId;
use crate::syntax::own_macros::each_name_used;
use crate::syntax::patterns::pattern_bindings;
use crate::syntax::places::{loan_root, place_root, variable};
use crate::syntax::purity::is_arithmetic;
use proc_macro2::Ident;
use quote::ToTokens;
use std::collections::HashSet;
use syn::{BinOp, Expr, Local, Pat, Stmt, UnOp};

/// Where `break` and `continue` go.
pub(super) struct Jumps {
    pub(super) label: Option<String>,
    pub(super) to_break: NodeId,
    /// Nothing for a labelled block.
    pub(super) to_continue: Option<NodeId>,
}

/// Walks a function in the order in which it runs.
pub(super) struct Walker<'l> {
    pub(super) library: &'l Library,
    pub(super) flow: Flow,
    pub(super) here: NodeId,
    pub(super) step: StepId,
    pub(super) loops: Vec<Jumps>,
    /// All events so far, in the order of the walk.
    pub(super) log: Vec<(BindingId, Use)>,
    scopes: Vec<Vec<BindingId>>,
    /// The macros that are defined in the scopes, each with how many scopes there are and the variables that it uses.
    macros: Vec<(String, usize, Vec<BindingId>)>,
    closures: u32,
    /// How many of the closures and `async` blocks around take what they use: `move || ..`.
    pub(super) taking: u32,
    /// Where what is left by `return` goes on, of the closures around.
    closure_ends: Vec<NodeId>,
    /// What the arguments before the one that is walked borrow.
    lent: Vec<BindingId>,
    /// The field of the variable that is walked next.
    field: Option<usize>,
}

impl<'l> Walker<'l> {
    pub(super) fn new(library: &'l Library) -> Self {
        let flow = Flow {
            nodes: vec![Node::default()],
            ..Flow::default()
        };
        Self {
            library,
            flow,
            here: 0,
            step: 0,
            loops: Vec::new(),
            log: Vec::new(),
            scopes: Vec::new(),
            macros: Vec::new(),
            closures: 0,
            taking: 0,
            closure_ends: Vec::new(),
            lent: Vec::new(),
            field: None,
        }
    }

    pub(super) fn node(&mut self) -> NodeId {
        self.flow.nodes.push(Node::default());
        self.flow.nodes.len() - 1
    }

    pub(super) fn edge(&mut self, from: NodeId, to: NodeId) {
        self.flow.nodes[from].next.push(to);
    }

    pub(super) fn enter(&mut self) {
        self.scopes.push(Vec::new());
    }

    pub(super) fn leave(&mut self) {
        self.scopes.pop();
        let left = self.scopes.len();
        self.macros.retain(|(_, scopes, _)| *scopes <= left);
    }

    pub(super) fn in_scope(&self) -> Vec<BindingId> {
        self.scopes.iter().flatten().copied().collect()
    }

    pub(super) fn declare(&mut self, binding: Binding) {
        self.declare_let(binding, true);
    }

    /// Declares a variable; `written` unless it has no value yet.
    pub(super) fn declare_let(&mut self, binding: Binding, written: bool) {
        let id = self.flow.bindings.len();
        self.flow.bindings.push(binding);
        if let Some(scope) = self.scopes.last_mut() {
            scope.push(id);
        }
        if written {
            let event = Event {
                binding: id,
                kind: Use::Write,
                step: self.step,
                in_closure: self.closures > 0,
                may_consume: false,
                by_name: false,
                by_own: false,
                by_operator: false,
                may_take: false,
                field: None,
            };
            self.flow.nodes[self.here].events.push(event);
        } else {
            let (before, node) = (self.here, self.node());
            self.edge(before, node);
            self.flow.nodes[node].fresh.push(id);
            self.here = node;
        }
    }

    /// A variable of a pattern, of which no more is known than how it came to be.
    pub(super) fn binding(&mut self, one: &syn::PatIdent, declaration: Declaration) -> Binding {
        self.named(&one.ident, one.mutability.is_some(), declaration)
    }

    pub(super) fn named(&mut self, ident: &Ident, mutable: bool, declaration: Declaration) -> Binding {
        let local = self.flow.locals.add(ident, ident, Origin::User);
        Binding {
            ident: ident.clone(),
            local,
            origin: self.flow.locals.get(local).origin,
            mutable,
            declaration,
            step: self.step,
            treatment: None,
            ty: None,
            init: None,
            from_spine: false,
            reexecutes: false,
            has_restart: false,
            conditional: false,
            is_number: false,
            inputs: Vec::new(),
        }
    }

    pub(super) fn declare_inner(&mut self, pattern: &Pat) {
        for one in pattern_bindings(&self.flow.locals, pattern) {
            let binding = self.binding(&one, Declaration::Inner);
            self.declare(binding);
        }
    }

    /// The uses since a point in the log, each binding once, the strongest use kept.
    pub(super) fn logged(&self, from: usize) -> Vec<(BindingId, Use)> {
        let mut found: Vec<(BindingId, Use)> = Vec::new();
        for &(binding, kind) in &self.log[from..] {
            match found.iter_mut().find(|(old, _)| *old == binding) {
                Some((_, old)) if *old == Use::Read => *old = kind,
                Some(_) => {}
                None => found.push((binding, kind)),
            }
        }
        found
    }

    pub(super) fn name(&mut self, ident: &Ident, kind: Use) {
        self.used(self.flow.locals.id(ident), kind);
    }

    pub(super) fn text(&mut self, name: &str, kind: Use) {
        self.used(self.flow.locals.named(name), kind);
    }

    pub(super) fn resolve(&self, name: &Ident) -> Option<BindingId> {
        self.binding_of(self.flow.locals.id(name)?)
    }

    /// A macro that is defined here sees the variables that are in scope here, also where others of their names hide them.
    pub(super) fn item(&mut self, item: &syn::Item) {
        let syn::Item::Macro(one) = item else { return };
        let Some(name) = &one.ident else { return };
        let mut used = Vec::new();
        each_name_used(&one.mac.tokens, &mut |word| {
            let local = self.flow.locals.named(word);
            used.extend(local.and_then(|local| self.binding_of(local)));
        });
        self.macros.push((name.to_string(), self.scopes.len(), used));
    }

    /// What a macro that is defined in the function uses without being given it.
    pub(super) fn captured_by(&mut self, name: &str) {
        let last = self.macros.iter().rev().find(|(defined, ..)| defined == name);
        for binding in last.map(|(_, _, used)| used.clone()).unwrap_or_default() {
            self.event(binding, Use::Change);
        }
    }

    /// Two variables that trade places; whether the expression is no more than that.
    fn swap(&mut self, pair: Option<(&Ident, &Ident)>) -> bool {
        let Some((one, other)) = pair else { return false };
        let (Some(first), Some(second)) = (self.resolve(one), self.resolve(other)) else {
            return false;
        };
        self.flow.swaps.push((first, second));
        self.name(one, Use::Lend);
        self.name(other, Use::Lend);
        true
    }

    fn used(&mut self, local: Option<LocalId>, kind: Use) {
        let Some(local) = local else { return };
        if let Some(binding) = self.binding_of(local) {
            self.event(binding, kind);
        } else {
            let names = self.flow.outer_names.entry(self.step).or_default();
            names.insert(local);
        }
    }

    fn binding_of(&self, local: LocalId) -> Option<BindingId> {
        let mut found = self
            .scopes
            .iter()
            .rev()
            .flat_map(|scope| scope.iter().rev())
            .copied();
        found.find(|id| self.flow.bindings[*id].local == local)
    }

    fn event(&mut self, binding: BindingId, kind: Use) {
        let event = Event {
            binding,
            kind,
            step: self.step,
            in_closure: self.closures > 0,
            may_consume: false,
            by_name: false,
            by_own: false,
            by_operator: false,
            may_take: true,
            field: self.field.take(),
        };
        self.flow.nodes[self.here].events.push(event);
        self.log.push((binding, kind));
    }

    pub(super) fn stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Local(local) => {
                self.local_init(local);
                if local.init.is_some() {
                    self.declare_inner(&local.pat);
                } else {
                    let before = self.flow.bindings.len();
                    self.declare_inner(&local.pat);
                    let here = self.here;
                    self.flow.nodes[here]
                        .events
                        .retain(|event| event.binding < before);
                }
            }
            Stmt::Item(item) => self.item(item),
            Stmt::Expr(expr, _) => self.expr(expr),
            Stmt::Macro(stmt) => self.macro_tokens(&stmt.mac),
        }
    }

    pub(super) fn local_init(&mut self, local: &Local) {
        let Some(init) = &local.init else { return };
        if moves_nothing(&self.flow.locals, &local.pat) {
            self.stays(&init.expr, Use::Read);
            self.lends_to(&init.expr, [&local.pat]);
        } else {
            self.expr(&init.expr);
            self.lends_to(&init.expr, [&local.pat]);
            // Taken apart by value: `let Some(text) = job.title else { .. };`
            let is_field = matches!(*init.expr, Expr::Field(_));
            if is_field
                && !lends_exclusively(&self.flow.locals, &local.pat)
                && !matches!(local.pat, Pat::Ident(_) | Pat::Type(_))
                && let Some(event) = self.flow.nodes[self.here].events.last_mut()
            {
                event.may_consume |= event.kind == Use::MovePart;
            }
        }
        if let Some((_, diverge)) = &init.diverge {
            self.optionally(|walker| walker.expr(diverge));
        }
    }

    /// What may or may not run.
    pub(super) fn optionally(&mut self, walk: impl FnOnce(&mut Self)) {
        let (start, inside, after) = (self.here, self.node(), self.node());
        self.edge(start, inside);
        self.edge(start, after);
        self.here = inside;
        walk(self);
        let here = self.here;
        self.edge(here, after);
        self.here = after;
    }

    pub(super) fn stmts(&mut self, block: &syn::Block) {
        self.enter();
        for stmt in &block.stmts {
            self.stmt(stmt);
        }
        self.leave();
    }

    /// A place or value of which only `kind` happens to its root.
    pub(super) fn operand(&mut self, expr: &Expr, kind: Use) {
        match expr {
            Expr::Path(path) => {
                if let Some(ident) = path.path.get_ident() {
                    self.name(ident, kind);
                }
            }
            Expr::Paren(inner) => self.operand(&inner.expr, kind),
            Expr::Group(inner) => self.operand(&inner.expr, kind),
            Expr::Field(field) => {
                if matches!(*field.base, Expr::Path(_)) {
                    self.field = Some(self.flow.field(field.member.to_token_stream().to_string()));
                }
                let kind = match kind {
                    Use::Move | Use::MovePart => Use::MovePart,
                    kind => part(kind),
                };
                self.operand(&field.base, kind);
                self.field = None;
            }
            Expr::Unary(unary) if matches!(unary.op, UnOp::Deref(_)) => self.operand(&unary.expr, part(kind)),
            Expr::Index(index) => {
                self.expr(&index.index);
                // Rust moves nothing out of an element.
                self.stays(&index.expr, part(kind));
            }
            other => self.expr(other),
        }
    }

    pub(super) fn scrutinee(&mut self, expr: &Expr, by_value: bool) {
        self.operand(expr, if by_value { Use::Move } else { Use::Read });
    }

    /// What a `match` or `let` with these patterns looks at.
    pub(super) fn matched_with<'p>(&mut self, expr: &Expr, patterns: impl IntoIterator<Item = &'p Pat>) {
        let mut patterns = patterns.into_iter();
        let takes_nothing = patterns.all(|pattern| moves_nothing(&self.flow.locals, pattern));
        self.scrutinee(expr, !takes_nothing);
        if takes_nothing {
            self.has_stayed(expr);
        }
    }

    /// Walks a place that is borrowed, compared or indexed, so that it stays with its owner.
    pub(super) fn stays(&mut self, place: &Expr, kind: Use) {
        self.operand(place, kind);
        self.has_stayed(place);
    }

    /// Notes of the place just walked that it stays with its owner, unless that is a closure which takes all that it uses.
    pub(super) fn has_stayed(&mut self, place: &Expr) {
        let root = place_root(place).and_then(|name| self.resolve(name));
        if self.taking == 0
            && let Some(event) = self.flow.nodes[self.here].events.last_mut()
            && root == Some(event.binding)
        {
            event.may_take = false;
        }
    }

    /// What is walked here belongs to a closure or block from then on if that says `move`.
    pub(super) fn capturing(&mut self, takes: bool, walk: impl FnOnce(&mut Self)) {
        self.taking += u32::from(takes);
        walk(self);
        self.taking -= u32::from(takes);
    }

    /// What a pattern with `ref mut` is matched with may be changed through it.
    pub(super) fn lends_to<'p>(&mut self, expr: &Expr, patterns: impl IntoIterator<Item = &'p Pat>) {
        let lends = |pattern| lends_exclusively(&self.flow.locals, pattern);
        if patterns.into_iter().any(lends) {
            self.operand(expr, Use::Change);
        }
    }

    /// An expression evaluated for its value.
    pub(super) fn expr(&mut self, expr: &Expr) {
        match expr {
            Expr::Path(_) | Expr::Field(_) | Expr::Index(_) => self.operand(expr, Use::Move),
            Expr::Unary(unary) if matches!(unary.op, UnOp::Deref(_)) => self.operand(expr, Use::Move),
            Expr::Unary(unary) => self.expr(&unary.expr),
            Expr::Paren(inner) => self.expr(&inner.expr),
            Expr::Group(inner) => self.expr(&inner.expr),
            Expr::Reference(one) => {
                let kind = if one.mutability.is_some() {
                    Use::Lend
                } else {
                    Use::Read
                };
                self.stays(&one.expr, kind);
            }
            Expr::RawAddr(one) => self.operand(&one.expr, Use::Change),
            Expr::MethodCall(call) => {
                let method = call.method.to_string();
                let kind = if self.library.consumes(&method) {
                    Use::Move
                } else if self.library.borrows_mutably(&method) {
                    Use::Change
                } else if self.library.is_pure(&method) || self.library.borrows(&method) {
                    Use::Read
                } else {
                    Use::Change
                };
                self.operand(&call.receiver, kind);
                if kind == Use::Read && !self.library.may_take(&method) {
                    self.has_stayed(&call.receiver);
                }
                if matches!(kind, Use::Read | Use::Move) {
                    self.is_left_by_name(call);
                }
                let is_lent = self.library.is_call(call, Methods::ByReference) && !self.shares_its_name(call);
                if kind == Use::Change && !self.library.changes(&method) && !is_lent {
                    self.may_consume(&call.receiver);
                }
                self.arguments_in_order(call.args.iter());
                self.taken_by_thread(expr);
            }
            Expr::Call(call) if self.swap(swapped(self.library, call)) => {}
            Expr::Call(call) => {
                self.operand(&call.func, Use::Change);
                self.arguments_in_order(call.args.iter());
                self.taken_by_thread(expr);
                if ends_the_process(self.library, &call.func) {
                    self.leave_all();
                }
            }
            Expr::Assign(one) if self.swap(traded(&one.left, &one.right)) => {}
            Expr::Assign(one) => {
                self.expr(&one.right);
                self.assigned(&one.left);
            }
            Expr::Binary(one) => self.binary(one),
            Expr::Cast(one) => self.expr(&one.expr),
            Expr::Await(one) => self.expr(&one.base),
            Expr::Try(one) => self.expr(&one.expr),
            Expr::Tuple(one) => one.elems.iter().for_each(|operand| self.expr(operand)),
            Expr::Array(one) => one.elems.iter().for_each(|operand| self.expr(operand)),
            Expr::Repeat(one) => {
                self.expr(&one.expr);
                self.expr(&one.len);
            }
            Expr::Range(one) => one
                .start
                .iter()
                .chain(&one.end)
                .for_each(|bound| self.expr(bound)),
            Expr::Struct(one) => {
                self.arguments_in_order(one.fields.iter().map(|field| &field.expr));
                one.rest.iter().for_each(|rest| self.expr(rest));
            }
            Expr::Macro(one) => self.macro_tokens(&one.mac),
            Expr::Closure(closure) => self.closure(closure),
            _ => self.control(expr),
        }
    }

    /// What is borrowed by an argument stays so while the ones after it are evaluated.
    fn arguments_in_order<'e>(&mut self, arguments: impl Iterator<Item = &'e Expr>) {
        let before = self.lent.len();
        for argument in arguments {
            self.expr(argument);
            let borrowed = loan_root(argument).and_then(|name| self.resolve(name));
            self.lent.extend(borrowed);
        }
        self.lent.truncate(before);
    }

    /// Whether a value that is borrowed just now is that of the variable, or holds a reference to it.
    fn is_lent(&self, binding: BindingId) -> bool {
        let mut open = self.lent.clone();
        let mut seen = HashSet::new();
        while let Some(next) = open.pop() {
            if next == binding {
                return true;
            }
            if seen.insert(next) {
                let one = &self.flow.bindings[next];
                let held = one.init.as_ref().map(held_names).unwrap_or_default();
                open.extend(held.iter().filter_map(|name| self.flow.input_named(next, name)));
            }
        }
        false
    }

    /// Notes that the event just made may have been the last one of its variable. A variable that is `mut` is taken to be
    /// changed by its methods, not used up.
    fn may_consume(&mut self, receiver: &Expr) {
        let Some(binding) = variable(receiver).and_then(|name| self.resolve(name)) else {
            return;
        };
        let is_lent = self.is_lent(binding);
        let Binding {
            mutable, declaration, ..
        } = &self.flow.bindings[binding];
        let is_parameter = matches!(declaration, Declaration::Parameter { .. });
        if let Some(event) = self.flow.nodes[self.here].events.last_mut()
            && event.binding == binding
            && (is_parameter || !mutable)
            && !is_lent
        {
            event.may_consume = true;
        }
    }

    /// Notes of the event just made that only the name of a method says that its receiver is left as it is: it may be a method of the
    /// program's own, or one that shares its name with it (`Write::write` of a list, `RwLock::write`).
    fn is_left_by_name(&mut self, call: &syn::ExprMethodCall) {
        let Some(binding) = place_root(&call.receiver).and_then(|name| self.resolve(name)) else {
            return;
        };
        let of_std = !self.shares_its_name(call)
            && is_of_std(self.library, &self.flow.bindings[binding], &call.receiver);
        if let Some(event) = self.flow.nodes[self.here].events.last_mut()
            && event.binding == binding
        {
            event.by_name = !of_std;
            event.by_own = !of_std && self.library.own().may_change(&call.method.to_string());
        }
    }

    /// Whether there may be others with the name of this method of the standard library: the program's own, or with other arguments.
    fn shares_its_name(&self, call: &syn::ExprMethodCall) -> bool {
        let method = call.method.to_string();
        self.library.own().may_change(&method)
            || self.library.says(&method, Methods::Guards) && !call.args.is_empty()
    }

    fn binary(&mut self, one: &syn::ExprBinary) {
        match one.op {
            BinOp::And(_) | BinOp::Or(_) => {
                self.expr(&one.left);
                if matches!(*one.left, Expr::Let(_)) || matches!(*one.right, Expr::Let(_)) {
                    self.expr(&one.right);
                } else {
                    self.optionally(|walker| walker.expr(&one.right));
                }
            }
            BinOp::Eq(_) | BinOp::Ne(_) | BinOp::Lt(_) | BinOp::Le(_) | BinOp::Gt(_) | BinOp::Ge(_) => {
                self.stays(&one.left, Use::Read);
                self.stays(&one.right, Use::Read);
            }
            op if is_arithmetic(&op) => {
                // Numbers are copied. What owns memory is added to by reference: `text + &more`.
                let takes = matches!(one.op, BinOp::Add(_)) && is_borrowed_text(self.library, &one.right);
                self.operand(&one.left, if takes { Use::Move } else { Use::Read });
                self.by_operator(&one.left);
                self.operand(&one.right, Use::Read);
                self.by_operator(&one.right);
            }
            _ => {
                self.expr(&one.right);
                self.operand(&one.left, Use::Change);
            }
        }
    }

    /// What a thread that is started here has certainly captured as a whole by `move`: it is gone afterwards if it is not used again, as by an operator.
    fn taken_by_thread(&mut self, start: &Expr) {
        let Some(closure) = body_of_start(self.library, start).filter(|one| one.capture.is_some()) else {
            return;
        };
        if self.closures > 0 {
            return;
        }
        for local in named_whole(&self.flow.locals, closure).iter() {
            let Some(binding) = self.binding_of(local) else {
                continue;
            };
            if self.is_copied(&self.flow.bindings[binding]) {
                continue;
            }
            self.event(binding, Use::Read);
            if let Some(event) = self.flow.nodes[self.here].events.last_mut() {
                event.by_operator = true;
            }
        }
    }

    /// Notes of the operand just walked that an operator takes it by value: `a + b` of types of the program's own uses both up. A
    /// closure may only look at what it has captured: what it does with numbers it does with references to them.
    fn by_operator(&mut self, operand: &Expr) {
        match operand {
            Expr::Paren(inner) => return self.by_operator(&inner.expr),
            Expr::Group(inner) => return self.by_operator(&inner.expr),
            _ => {}
        }
        let Some(binding) = variable(operand).and_then(|name| self.resolve(name)) else {
            return;
        };
        let is_free = self.closures == 0 && !self.is_copied(&self.flow.bindings[binding]);
        if let Some(event) = self.flow.nodes[self.here].events.last_mut()
            && event.binding == binding
            && event.kind == Use::Read
        {
            event.by_operator = is_free;
        }
    }

    pub(super) fn assigned(&mut self, left: &Expr) {
        match left {
            Expr::Path(_) => self.operand(left, Use::Write),
            Expr::Tuple(tuple) => tuple.elems.iter().for_each(|one| self.assigned(one)),
            Expr::Array(array) => array.elems.iter().for_each(|one| self.assigned(one)),
            Expr::Struct(one) => one.fields.iter().for_each(|field| self.assigned(&field.expr)),
            Expr::Call(call) => call.args.iter().for_each(|one| self.assigned(one)),
            Expr::Paren(inner) => self.assigned(&inner.expr),
            Expr::Infer(_) => {}
            place => self.operand(place, Use::Change),
        }
    }

    fn closure(&mut self, closure: &syn::ExprClosure) {
        self.closures += 1;
        self.capturing(closure.capture.is_some(), |walker| {
            walker.apart(|walker| {
                walker.enter();
                closure
                    .inputs
                    .iter()
                    .for_each(|input| walker.declare_inner(input));
                walker.expr(&closure.body);
                walker.leave();
            });
        });
        self.closures -= 1;
    }

    /// What may or may not run, and goes on behind itself however it is left: by `return`, or, where somebody catches it, by a
    /// panic.
    pub(super) fn apart(&mut self, walk: impl FnOnce(&mut Self)) {
        let loops = std::mem::take(&mut self.loops);
        let end = self.node();
        self.closure_ends.push(end);
        self.optionally(|walker| {
            walk(walker);
            let here = walker.here;
            walker.edge(here, end);
            walker.here = end;
        });
        self.closure_ends.pop();
        self.loops = loops;
    }

    /// Nothing goes on here but what is behind a closure that this is in.
    pub(super) fn leave_all(&mut self) {
        if let Some(end) = self.closure_ends.last().copied() {
            let here = self.here;
            self.edge(here, end);
        }
        self.here = self.node();
    }
}

/// `std::process::exit` and `abort`.
fn ends_the_process(library: &Library, func: &Expr) -> bool {
    let is_own = |path: &syn::Path| {
        let last = path.segments.last();
        last.is_some_and(|last| library.own().has(&last.ident.to_string()))
    };
    matches!(func, Expr::Path(path) if library.says_of_path(&path.path, Functions::Exits) && !is_own(&path.path))
}

/// The variables that a value certainly holds references to: `&x`, `Shifted { inner: &x, .. }`.
fn held_names(init: &Expr) -> Vec<&Ident> {
    let parts: Vec<&Expr> = match init {
        Expr::Struct(one) => one.fields.iter().map(|field| &field.expr).collect(),
        Expr::Tuple(one) => one.elems.iter().collect(),
        other => vec![other],
    };
    parts.into_iter().filter_map(loan_root).collect()
}

/// The names in `mem::swap(&mut a, &mut b)`.
fn swapped<'a>(library: &Library, call: &'a syn::ExprCall) -> Option<(&'a Ident, &'a Ident)> {
    let Expr::Path(path) = &*call.func else {
        return None;
    };
    if !library.says_of_path(&path.path, Functions::Swaps) || call.args.len() != 2 {
        return None;
    }
    let lent = |expr: &'a Expr| match expr {
        Expr::Reference(one) if one.mutability.is_some() => variable(&one.expr),
        _ => None,
    };
    Some((lent(&call.args[0])?, lent(&call.args[1])?))
}

/// The names in `(a, b) = (b, a)`.
fn traded<'a>(left: &'a Expr, right: &Expr) -> Option<(&'a Ident, &'a Ident)> {
    let (Expr::Tuple(left), Expr::Tuple(right)) = (left, right) else {
        return None;
    };
    if left.elems.len() != 2 || right.elems.len() != 2 {
        return None;
    }
    let (a, b) = (variable(&left.elems[0])?, variable(&left.elems[1])?);
    (variable(&right.elems[0])? == b && variable(&right.elems[1])? == a).then_some((a, b))
}

/// A part of a place: moving or writing a part changes the whole, and needs its other parts.
fn part(kind: Use) -> Use {
    match kind {
        Use::Write | Use::Lend => Use::Change,
        Use::Move | Use::MovePart => Use::Read,
        other => other,
    }
}

/// What one adds to a `String`.
fn is_borrowed_text(library: &Library, expr: &Expr) -> bool {
    match expr {
        Expr::Reference(_) => true,
        Expr::Lit(lit) => matches!(lit.lit, syn::Lit::Str(_)),
        Expr::MethodCall(call) => library.is_call(call, Methods::AsText),
        _ => false,
    }
}

/// Whether a pattern has a `ref mut`.
fn lends_exclusively(locals: &Locals, pattern: &Pat) -> bool {
    let bound = pattern_bindings(locals, pattern);
    bound
        .iter()
        .any(|binding| binding.by_ref.is_some() && binding.mutability.is_some())
}

/// Whether a pattern takes nothing out of what it is matched with.
pub(super) fn moves_nothing(locals: &Locals, pattern: &Pat) -> bool {
    pattern_bindings(locals, pattern)
        .iter()
        .all(|binding| binding.by_ref.is_some())
}
