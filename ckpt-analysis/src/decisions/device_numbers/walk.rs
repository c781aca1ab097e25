//! Follows what hangs on the number of devices through the functions of a program: lists of devices, what is computed from
//! how long they are, and what is done as often as there are devices, or only where there are so many.

use super::{Variable, What};
use crate::decisions::devices::Devices;
use crate::items::{FnId, Function};
use crate::placement::analysis::Analysis;
use crate::source::locate::bytes;
use crate::source::{FileId, Position, Program};
use ckpt_compiler::library::{DeviceMethods, DeviceNumbers, Threads, Types};
use ckpt_compiler::syntax::language::is_prelude_variant;
use ckpt_compiler::syntax::mentions::names_in;
use ckpt_compiler::visit::{self, Visit};
use proc_macro2::{Span, TokenStream};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Expr, Pat};

/// How a value hangs on the number of devices.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Hangs {
    #[default]
    No,
    /// It is of one device, and of which may hang on their number.
    Element,
    /// It has something for each device; what that is does not hang on their number.
    List,
    /// Its value does.
    Number,
}

/// What was found.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// Of each variable the most that it has ever hung on it.
    pub variables: BTreeMap<Variable, Hangs>,
    /// What else does, by file and line.
    pub places: BTreeSet<(FileId, usize, What)>,
}

/// So many calls are followed.
const MOST_CALLS: usize = 20_000;
/// So often a loop is gone through, until nothing changes.
const MOST_ROUNDS: usize = 5;

/// All that hangs on the number of devices in a run that begins in `main`; nothing where it cannot be followed. `stops`: sites,
/// and calls that lead to one.
pub(super) fn walk(
    program: &Program,
    analysis: &Analysis,
    devices: &Devices<'_>,
    main: FnId,
    stops: &BTreeSet<Position>,
) -> Option<Found> {
    let mut callees: HashMap<Position, Vec<FnId>> = HashMap::new();
    for call in &analysis.graph.calls {
        let at = (call.place.file, call.place.bytes.start);
        callees.entry(at).or_default().extend(&call.callees);
    }
    let mut walk = Walk {
        program,
        analysis,
        devices,
        callees,
        stops,
        found: Found::default(),
        done: HashMap::new(),
        control: Hangs::No,
        calls: 0,
    };
    walk.function(main, Vec::new());
    (walk.calls < MOST_CALLS).then_some(walk.found)
}

/// A function with what it is given, and whether it is called as often as there are devices.
type Question = (FnId, Vec<Hangs>, Hangs);

/// What a function gives, and what becomes of what it is given.
#[derive(Debug, Clone)]
struct Outcome {
    given: Hangs,
    arguments: Vec<Hangs>,
}

struct Walk<'a> {
    program: &'a Program,
    analysis: &'a Analysis,
    devices: &'a Devices<'a>,
    /// By the file and the byte at which the path or the name of the method begins.
    callees: HashMap<Position, Vec<FnId>>,
    stops: &'a BTreeSet<Position>,
    found: Found,
    /// Nothing while a function is being followed.
    done: HashMap<Question, Option<Outcome>>,
    /// What is being followed is done as often as there are devices (`List`), or if there are so many (`Number`).
    control: Hangs,
    calls: usize,
}

/// A function that is being followed.
struct Frame<'a> {
    function: &'a Function,
    /// By name, with the line of the declaration.
    variables: BTreeMap<String, (Hangs, usize)>,
    returned: Hangs,
    /// What it is called under.
    entered: Hangs,
    /// What is left of it is done only if it was not left before, and that hangs on the number so.
    left: Hangs,
    /// The same of the loop that is being gone through.
    loop_left: Hangs,
}

impl<'a> Walk<'a> {
    fn function(&mut self, id: FnId, arguments: Vec<Hangs>) -> Outcome {
        self.calls += 1;
        let most = arguments
            .iter()
            .copied()
            .max()
            .unwrap_or_default()
            .max(self.control);
        // Of a function that calls itself the most is taken.
        let of_itself = Outcome {
            given: most,
            arguments: vec![most; arguments.len()],
        };
        let key = (id, arguments, self.control);
        match self.done.get(&key) {
            Some(known) => return known.clone().unwrap_or(of_itself),
            None if self.calls >= MOST_CALLS => return of_itself,
            None => self.done.insert(key.clone(), None),
        };
        let function = self.analysis.items.function(id);
        let mut frame = Frame {
            function,
            variables: BTreeMap::new(),
            returned: Hangs::No,
            entered: self.control,
            left: Hangs::No,
            loop_left: Hangs::No,
        };
        let mut names = Vec::new();
        for (index, parameter) in function.item.sig.inputs.iter().enumerate() {
            let hangs = key.1.get(index).copied().unwrap_or_default();
            match parameter {
                syn::FnArg::Receiver(one) => {
                    self.declare(&mut frame, "self", one.self_token.span, hangs);
                    names.push(vec!["self".to_owned()]);
                }
                syn::FnArg::Typed(typed) => names.push(self.bind(&mut frame, &typed.pat, hangs)),
            }
        }
        let value = self.block(&mut frame, &function.item.block);
        let most_of = |names: &Vec<String>| {
            let known = names.iter().filter_map(|name| frame.variables.get(name));
            known.map(|(hangs, _)| *hangs).max().unwrap_or_default()
        };
        let outcome = Outcome {
            given: value.max(frame.returned),
            arguments: names.iter().map(most_of).collect(),
        };
        self.done.insert(key, Some(outcome.clone()));
        outcome
    }

    fn declare(&mut self, frame: &mut Frame<'a>, name: &str, span: Span, hangs: Hangs) {
        frame
            .variables
            .insert(name.to_owned(), (hangs, span.start().line));
        self.note(frame, name, hangs);
    }

    /// A variable hangs on it so from here on, if it did not more.
    fn note(&mut self, frame: &mut Frame<'a>, name: &str, hangs: Hangs) {
        let Some((known, line)) = frame.variables.get_mut(name) else {
            return;
        };
        *known = hangs.max(*known);
        let variable = (frame.function.id, frame.function.name_in_source(name), *line);
        let noted = self.found.variables.entry(variable).or_default();
        *noted = hangs.max(*noted);
    }

    /// Gives the variables of a pattern what they stand for, and says which these are.
    fn bind(&mut self, frame: &mut Frame<'a>, pattern: &Pat, hangs: Hangs) -> Vec<String> {
        struct Names(Vec<(String, Span)>);
        impl<'ast> Visit<'ast> for Names {
            fn visit_pat_ident(&mut self, one: &'ast syn::PatIdent) {
                self.0.push((one.ident.to_string(), one.ident.span()));
                visit::visit_pat_ident(self, one);
            }
        }
        let mut names = Names(Vec::new());
        names.visit_pat(pattern);
        for (name, span) in &names.0 {
            // In a further round of a loop it is what it became in the one before.
            let known = frame.variables.get(name).map_or(Hangs::No, |(hangs, _)| *hangs);
            self.declare(frame, name, *span, hangs.max(known));
        }
        names.0.into_iter().map(|(name, _)| name).collect()
    }

    fn place(&mut self, frame: &Frame<'_>, span: Span, what: What) {
        let line = span.start().line;
        self.found.places.insert((frame.function.place.file, line, what));
    }

    /// Follows what is done as often as there are devices, or if there are so many.
    fn under<T>(
        &mut self,
        frame: &mut Frame<'a>,
        hangs: Hangs,
        all: Span,
        inner: impl FnOnce(&mut Self, &mut Frame<'a>) -> T,
    ) -> T {
        if hangs != Hangs::No {
            let file = frame.function.place.file;
            let range = bytes(self.program, file, all);
            if self
                .stops
                .range((file, range.start)..(file, range.end))
                .next()
                .is_some()
            {
                self.place(frame, all, What::Around);
            }
        }
        let before = self.control;
        self.control = before.max(hangs);
        let value = inner(self, frame);
        self.control = before;
        value
    }

    /// Goes through a loop until nothing changes.
    fn rounds(&mut self, frame: &mut Frame<'a>, mut round: impl FnMut(&mut Self, &mut Frame<'a>)) {
        let around = std::mem::take(&mut frame.loop_left);
        for _ in 0..MOST_ROUNDS {
            let before = (frame.variables.clone(), frame.left, frame.loop_left);
            round(self, frame);
            if (&frame.variables, frame.left, frame.loop_left) == (&before.0, before.1, before.2) {
                break;
            }
        }
        frame.loop_left = around;
    }

    /// What is done now is done only if there are so many devices, of which the function that does it knows.
    fn decided(&self, frame: &Frame<'_>) -> Hangs {
        match self.control > frame.entered {
            true => as_number(self.control),
            false => Hangs::No,
        }
    }

    /// A loop is left here, or its next round begins: the same one, or one around it.
    fn leaves_loop(&self, frame: &mut Frame<'_>, has_label: bool) {
        let decided = self.decided(frame);
        let left = if has_label {
            &mut frame.left
        } else {
            &mut frame.loop_left
        };
        *left = decided.max(*left);
    }

    fn block(&mut self, frame: &mut Frame<'a>, block: &syn::Block) -> Hangs {
        let mut last = Hangs::No;
        let before = self.control;
        for statement in &block.stmts {
            self.control = before.max(frame.left).max(frame.loop_left);
            last = match statement {
                syn::Stmt::Local(local) => {
                    self.local(frame, local);
                    Hangs::No
                }
                syn::Stmt::Expr(expr, end) => {
                    let value = self.eval(frame, expr);
                    if end.is_none() { value } else { Hangs::No }
                }
                syn::Stmt::Macro(one) => {
                    let value = self.mac(frame, &one.mac);
                    if one.semi_token.is_none() {
                        value
                    } else {
                        Hangs::No
                    }
                }
                syn::Stmt::Item(_) => Hangs::No,
            };
        }
        self.control = before;
        last
    }

    fn local(&mut self, frame: &mut Frame<'a>, local: &syn::Local) {
        let Some(init) = &local.init else {
            self.bind(frame, &local.pat, Hangs::No);
            return;
        };
        let pattern = match &local.pat {
            Pat::Type(typed) => &*typed.pat,
            pattern => pattern,
        };
        if let (Pat::Tuple(patterns), Expr::Tuple(values)) = (pattern, &*init.expr)
            && patterns.elems.len() == values.elems.len()
        {
            for (pattern, value) in patterns.elems.iter().zip(&values.elems) {
                let hangs = self.eval(frame, value);
                self.bind(frame, pattern, hangs);
            }
            return;
        }
        let hangs = self.eval(frame, &init.expr);
        let Some((_, diverge)) = &init.diverge else {
            self.bind(frame, pattern, hangs);
            return;
        };
        let (decides, inner) = match first_of_all(&init.expr) {
            true => (Hangs::No, hangs),
            false => chosen(hangs, unpacks(pattern)),
        };
        self.under(frame, decides, diverge.span(), |walk, frame| {
            walk.eval(frame, diverge)
        });
        self.bind(frame, pattern, inner);
    }

    #[allow(clippy::too_many_lines, reason = "one arm for each form")]
    fn eval(&mut self, frame: &mut Frame<'a>, expr: &Expr) -> Hangs {
        match expr {
            Expr::Path(path) => match path.path.get_ident() {
                Some(name) if frame.variables.contains_key(&name.to_string()) => {
                    frame.variables[&name.to_string()].0
                }
                _ => self.of_path(&path.path),
            },
            Expr::Lit(_) => Hangs::No,
            Expr::Continue(one) => {
                self.leaves_loop(frame, one.label.is_some());
                Hangs::No
            }
            Expr::Reference(one) => self.eval(frame, &one.expr),
            Expr::Paren(one) => self.eval(frame, &one.expr),
            Expr::Group(one) => self.eval(frame, &one.expr),
            Expr::Try(one) => self.eval(frame, &one.expr),
            Expr::Await(one) => self.eval(frame, &one.base),
            Expr::Field(one) => self.eval(frame, &one.base),
            Expr::Index(one) => {
                let (list, index) = (self.eval(frame, &one.expr), self.eval(frame, &one.index));
                let is_range = matches!(&*one.index, Expr::Range(_));
                match (list, index) {
                    (Hangs::List, _) if is_range => Hangs::List,
                    (Hangs::List | Hangs::Element, Hangs::No) => Hangs::No,
                    (Hangs::List | Hangs::Element, _) => Hangs::Element,
                    (list, index) => list.max(index),
                }
            }
            Expr::Tuple(list) => self.most(frame, list.elems.iter()),
            Expr::Array(list) => self.most(frame, list.elems.iter()),
            Expr::Struct(one) => {
                let fields = self.most(frame, one.fields.iter().map(|field| &field.expr));
                fields.max(one.rest.as_ref().map_or(Hangs::No, |rest| self.eval(frame, rest)))
            }
            Expr::Block(one) => self.block(frame, &one.block),
            Expr::Unsafe(one) => self.block(frame, &one.block),
            Expr::If(one) => {
                let hangs = self.condition(frame, &one.cond);
                let value = self.under(frame, hangs, one.span(), |walk, frame| {
                    let then = walk.block(frame, &one.then_branch);
                    let other = { one.else_branch.as_ref() }.map(|(_, other)| walk.eval(frame, other));
                    then.max(other.unwrap_or_default())
                });
                value.max(hangs)
            }
            Expr::Let(_) => self.condition(frame, expr),
            Expr::Match(one) => {
                let value = self.eval(frame, &one.expr);
                let are_fallible = one.arms.iter().all(|arm| unpacks(&arm.pat));
                let (hangs, inner) = chosen(value, are_fallible);
                let given = self.under(frame, hangs, one.span(), |walk, frame| {
                    let mut most = Hangs::No;
                    for arm in &one.arms {
                        walk.bind(frame, &arm.pat, inner);
                        let guard = { arm.guard.as_ref() }.map(|(_, guard)| walk.condition(frame, guard));
                        let guard = guard.unwrap_or_default();
                        let value = walk.under(frame, guard, arm.span(), |walk, frame| {
                            walk.eval(frame, &arm.body)
                        });
                        most = most.max(value).max(guard);
                    }
                    most
                });
                given.max(hangs)
            }
            Expr::ForLoop(one) => {
                let over = self.eval(frame, &one.expr);
                let element = match over {
                    Hangs::List | Hangs::Element => Hangs::No,
                    // What comes before the last is what it would be with more.
                    Hangs::Number if matches!(&*one.expr, Expr::Range(_)) => Hangs::No,
                    other => other,
                };
                self.under(frame, over, one.span(), |walk, frame| {
                    walk.rounds(frame, |walk, frame| {
                        walk.bind(frame, &one.pat, element);
                        walk.block(frame, &one.body);
                    });
                });
                Hangs::No
            }
            Expr::While(one) => {
                let mut hangs = self.condition(frame, &one.cond);
                self.rounds(frame, |walk, frame| {
                    hangs = hangs.max(walk.condition(frame, &one.cond));
                    walk.under(frame, hangs, one.span(), |walk, frame| {
                        walk.block(frame, &one.body)
                    });
                });
                Hangs::No
            }
            Expr::Loop(one) => {
                let mut left = Hangs::No;
                self.rounds(frame, |walk, frame| {
                    walk.block(frame, &one.body);
                    left = frame.loop_left;
                });
                self.control.max(left)
            }
            Expr::Assign(one) => {
                let value = self.eval(frame, &one.right).max(self.control);
                self.eval(frame, &one.left);
                self.changed(frame, &one.left, value);
                Hangs::No
            }
            Expr::Binary(one) => {
                let (left, right) = (self.eval(frame, &one.left), self.eval(frame, &one.right));
                let value = match left.max(right) {
                    Hangs::No => Hangs::No,
                    _ => Hangs::Number,
                };
                if changes(one.op) {
                    self.changed(frame, &one.left, value.max(as_number(self.control)));
                    return Hangs::No;
                }
                value
            }
            Expr::Cast(one) => as_number(self.eval(frame, &one.expr)),
            Expr::Unary(one) => self.eval(frame, &one.expr),
            Expr::Range(one) => {
                let ends = [&one.start, &one.end].into_iter().flatten();
                as_number(self.most(frame, ends.map(|end| &**end)))
            }
            Expr::Repeat(one) => {
                let (value, len) = (self.eval(frame, &one.expr), self.eval(frame, &one.len));
                value.max(as_number(len))
            }
            Expr::Return(one) => {
                let value = one
                    .expr
                    .as_ref()
                    .map_or(Hangs::No, |value| self.eval(frame, value));
                let decided = self.decided(frame);
                frame.returned = frame.returned.max(value).max(decided);
                frame.left = frame.left.max(decided);
                Hangs::No
            }
            Expr::Break(one) => {
                let value = one
                    .expr
                    .as_ref()
                    .map_or(Hangs::No, |value| self.eval(frame, value));
                frame.returned = frame.returned.max(value);
                self.leaves_loop(frame, one.label.is_some());
                value
            }
            Expr::Closure(one) => self.closure(frame, one, Hangs::No).0,
            Expr::Call(call) => self.call(frame, call),
            Expr::MethodCall(call) => self.method(frame, call),
            Expr::Macro(one) => self.mac(frame, &one.mac),
            _ => {
                let mut below = Below(self, frame, Hangs::No);
                visit::visit_expr(&mut below, expr);
                as_number(below.2)
            }
        }
    }

    fn most<'e>(&mut self, frame: &mut Frame<'a>, all: impl Iterator<Item = &'e Expr>) -> Hangs {
        all.map(|one| self.eval(frame, one)).max().unwrap_or_default()
    }

    /// How what is done under a condition hangs on the number.
    fn condition(&mut self, frame: &mut Frame<'a>, condition: &Expr) -> Hangs {
        match condition {
            Expr::Let(one) => {
                let value = self.eval(frame, &one.expr);
                let (hangs, inner) = chosen(value, unpacks(&one.pat));
                self.bind(frame, &one.pat, inner);
                hangs
            }
            Expr::Binary(one) if !changes(one.op) => {
                let (left, right) = (
                    self.condition(frame, &one.left),
                    self.condition(frame, &one.right),
                );
                as_number(left.max(right))
            }
            other => as_number(self.eval(frame, other)),
        }
    }

    /// What a closure gives that gets this, and what becomes of its parameters.
    fn closure(&mut self, frame: &mut Frame<'a>, closure: &syn::ExprClosure, given: Hangs) -> (Hangs, Hangs) {
        let mut names = Vec::new();
        for parameter in &closure.inputs {
            names.extend(self.bind(frame, parameter, given));
        }
        let around = (frame.left, frame.loop_left);
        (frame.left, frame.loop_left) = (Hangs::No, Hangs::No);
        let value = self.eval(frame, &closure.body).max(frame.left);
        (frame.left, frame.loop_left) = around;
        let known = names.iter().filter_map(|name| frame.variables.get(name));
        let after = known.map(|(hangs, _)| *hangs).max().unwrap_or_default();
        (value, if after > given { after } else { Hangs::No })
    }

    /// A path that is no variable: it may be of a function that lists devices.
    fn of_path(&self, path: &syn::Path) -> Hangs {
        match self.lists(path) {
            true => Hangs::List,
            false if self.counts(path) => Hangs::Number,
            false => Hangs::No,
        }
    }

    fn lists(&self, path: &syn::Path) -> bool {
        self.analysis.library.says_of_path(path, DeviceNumbers::Lists)
    }

    fn counts(&self, path: &syn::Path) -> bool {
        self.analysis.library.says_of_path(path, DeviceNumbers::Counts)
    }

    /// What a place is a part of has changed.
    fn changed(&mut self, frame: &mut Frame<'a>, place: &Expr, hangs: Hangs) {
        if hangs == Hangs::No {
            return;
        }
        match root(place) {
            Some(name) if frame.variables.contains_key(&name) => self.note(frame, &name, hangs),
            Some(_) => self.place(frame, place.span(), What::Static),
            None => {}
        }
    }

    /// The functions of the program that may be called there.
    fn callees(&self, frame: &Frame<'_>, span: Span) -> Vec<FnId> {
        let file = frame.function.place.file;
        let at = bytes(self.program, file, span).start;
        self.callees.get(&(file, at)).cloned().unwrap_or_default()
    }

    fn own_call(&mut self, frame: &mut Frame<'a>, callees: &[FnId], arguments: &[(&Expr, Hangs)]) -> Hangs {
        let mut given = Hangs::No;
        for callee in callees {
            let outcome = self.function(*callee, arguments.iter().map(|(_, hangs)| *hangs).collect());
            given = given.max(outcome.given);
            for ((expr, before), after) in arguments.iter().zip(outcome.arguments) {
                if after > *before && is_place(expr) {
                    self.changed(frame, expr, after);
                }
            }
        }
        given
    }

    fn call(&mut self, frame: &mut Frame<'a>, call: &syn::ExprCall) -> Hangs {
        let of_function = self.eval(frame, &call.func);
        let all: Vec<(&Expr, Hangs)> = call.args.iter().map(|one| (one, self.eval(frame, one))).collect();
        let callees = self.callees(frame, call.func.span());
        if !callees.is_empty() {
            return self.own_call(frame, &callees, &all);
        }
        let most = all.iter().map(|(_, hangs)| *hangs).max().unwrap_or_default();
        let Expr::Path(path) = &*call.func else {
            return as_number(most.max(of_function));
        };
        let name = path
            .path
            .segments
            .last()
            .map(|one| one.ident.to_string())
            .unwrap_or_default();
        if of_function != Hangs::No {
            // What it writes to says how many there are.
            all.iter()
                .filter(|(expr, _)| lends(expr))
                .for_each(|(expr, _)| self.changed(frame, expr, Hangs::Number));
            return of_function;
        }
        if self.makes_handles(&path.path) {
            return self.given_to_device(frame, call.span(), most);
        }
        if is_prelude_variant(&name) {
            return most;
        }
        if self.analysis.library.says(&name, Threads::Drops) {
            return Hangs::No;
        }
        self.all_changed(frame, &all, most);
        as_number(most)
    }

    /// What others than functions of the program may do with what they are given.
    fn all_changed(&mut self, frame: &mut Frame<'a>, all: &[(&Expr, Hangs)], most: Hangs) {
        let hangs = as_number(most).max(self.control);
        for (expr, _) in all {
            let may_change = lends(expr) || self.control != Hangs::No && matches!(expr, Expr::Reference(_));
            if may_change {
                self.changed(frame, expr, hangs);
            }
        }
    }

    /// Whether a path is of a function that makes what stands for a device, or for something on one.
    fn makes_handles(&self, path: &syn::Path) -> bool {
        let library = &self.analysis.library;
        path.segments.iter().rev().skip(1).any(|one| {
            let of = one.ident.to_string();
            let is_kind = library.says(&of, Types::DeviceHandles)
                || library.says(&of, Types::DeviceKernels)
                || library.says(&of, Types::DeviceMemory);
            is_kind || self.devices.are_arrays(&of)
        })
    }

    /// A part of a device is made of this, or is given it.
    fn given_to_device(&mut self, frame: &Frame<'_>, span: Span, what: Hangs) -> Hangs {
        if what == Hangs::Number {
            self.place(frame, span, What::Given);
        }
        match what {
            Hangs::Number => Hangs::Number,
            _ => Hangs::No,
        }
    }

    fn method(&mut self, frame: &mut Frame<'a>, call: &syn::ExprMethodCall) -> Hangs {
        let library = &self.analysis.library;
        let receiver = self.eval(frame, &call.receiver);
        let callees = self.callees(frame, call.method.span());
        // Closures are called for each element.
        let is_over = matches!(receiver, Hangs::List | Hangs::Number);
        let (mut all, mut inner) = (Vec::new(), Hangs::No);
        for argument in &call.args {
            let hangs = match argument {
                Expr::Closure(closure) => {
                    let control = if is_over { receiver } else { Hangs::No };
                    let given = if receiver == Hangs::Number {
                        Hangs::Number
                    } else {
                        Hangs::No
                    };
                    let (value, changed) = self.under(frame, control, closure.span(), |walk, frame| {
                        let (first, _) = walk.closure(frame, closure, given);
                        let (value, changed) = walk.closure(frame, closure, given);
                        (first.max(value), changed)
                    });
                    inner = inner.max(value);
                    if changed != Hangs::No {
                        self.changed(frame, &call.receiver, changed);
                    }
                    Hangs::No
                }
                argument => self.eval(frame, argument),
            };
            all.push((argument, hangs));
        }
        if !callees.is_empty() {
            let of_receiver = std::iter::once((&*call.receiver, receiver));
            let all: Vec<(&Expr, Hangs)> = of_receiver.chain(all).collect();
            return self.own_call(frame, &callees, &all);
        }
        let is = |key: DeviceNumbers| library.is_call(call, key);
        let most = all.iter().map(|(_, hangs)| *hangs).max().unwrap_or_default();
        // `context.devices()` lists them; with an argument it is given a list.
        let is_setter =
            call.args.len() == 1 && is_of_device(&call.receiver, &|path| self.makes_handles(path));
        if is(DeviceNumbers::Lists) && !is_setter {
            return Hangs::List;
        }
        if is(DeviceNumbers::Counts) {
            return Hangs::Number;
        }
        match receiver {
            Hangs::List if is(DeviceNumbers::AsksIfAny) => return Hangs::No,
            Hangs::List if is(DeviceNumbers::Cycles) => return Hangs::Element,
            Hangs::List if is(DeviceNumbers::Picks) => return Hangs::Element,
            Hangs::List if is(DeviceNumbers::Keeps) => {
                return Hangs::List.max(as_number(inner)).max(as_number(most));
            }
            Hangs::Element if is(DeviceNumbers::Unpacks) || is(DeviceNumbers::Keeps) => {
                return Hangs::Element.max(most).max(inner);
            }
            Hangs::List | Hangs::Element => {
                self.all_changed(frame, &all, receiver);
                return Hangs::Number;
            }
            Hangs::Number | Hangs::No => {}
        }
        let gives_device = library.is_call(call, Types::DeviceRebinds)
            || library.is_call(call, Types::DeviceCommands)
            || library.is_call(call, Types::DeviceTraces)
            || library.is_call(call, DeviceMethods::Arguments)
            || library.is_call(call, DeviceMethods::Makes)
            || library.leaves_a_trace(&call.method.to_string());
        if gives_device || is_of_device(&call.receiver, &|path| self.makes_handles(path)) {
            let given = self.given_to_device(frame, call.method.span(), most.max(receiver));
            // Commands change what they are called on or given.
            self.changed(frame, &call.receiver, self.control);
            self.all_changed(frame, &all, Hangs::No);
            return given;
        }
        let most = most.max(inner);
        if most != Hangs::No || self.control != Hangs::No {
            self.changed(frame, &call.receiver, most.max(self.control));
        }
        self.all_changed(frame, &all, most.max(receiver));
        as_number(receiver).max(as_number_unless_element(most))
    }

    fn mac(&mut self, frame: &mut Frame<'a>, mac: &syn::Macro) -> Hangs {
        let list = Punctuated::<Expr, syn::Token![,]>::parse_terminated;
        let hangs = match mac.parse_body_with(list) {
            Ok(arguments) => {
                let all: Vec<(&Expr, Hangs)> = arguments
                    .iter()
                    .map(|argument| match argument {
                        // A name within the text.
                        Expr::Assign(one) => (argument, self.eval(frame, &one.right)),
                        argument => (argument, self.eval(frame, argument)),
                    })
                    .collect();
                let most = all.iter().map(|(_, hangs)| *hangs).max().unwrap_or_default();
                // `write!(text, ..)` changes what it is given first.
                if let Some((first, _)) = all
                    .first()
                    .filter(|_| most != Hangs::No || self.control != Hangs::No)
                {
                    match root(first) {
                        Some(name) if frame.variables.contains_key(&name) && !is_plain(first) => {
                            self.note(frame, &name, as_number(most).max(self.control));
                        }
                        _ => {}
                    }
                }
                most.max(self.mentioned(frame, &mac.tokens))
            }
            Err(_) => self.mentioned(frame, &mac.tokens),
        };
        as_number(hangs)
    }

    /// The most of what these tokens name, which nobody has parsed.
    fn mentioned(&mut self, frame: &Frame<'_>, tokens: &TokenStream) -> Hangs {
        let library = &self.analysis.library;
        let of_name = |name: &String| {
            let of_variable = frame.variables.get(name).map_or(Hangs::No, |(hangs, _)| *hangs);
            let lists = library.says(name, DeviceNumbers::Lists) || library.says(name, DeviceNumbers::Counts);
            of_variable.max(if lists { Hangs::Number } else { Hangs::No })
        };
        names_in(tokens).iter().map(of_name).max().unwrap_or_default()
    }
}

/// How what is done with a value of which one of several patterns fits hangs on the number, and what they bind: whether something
/// was listed at all does not.
fn chosen(value: Hangs, are_fallible: bool) -> (Hangs, Hangs) {
    match value {
        Hangs::No => (Hangs::No, Hangs::No),
        Hangs::List if are_fallible => (Hangs::No, Hangs::List),
        Hangs::Number => (Hangs::Number, Hangs::Number),
        value => (Hangs::Number, value),
    }
}

/// Whether it asks for one that is there if there are any: `devices.first()`.
fn first_of_all(expr: &Expr) -> bool {
    match expr {
        Expr::MethodCall(call) => call.args.is_empty(),
        Expr::Try(one) => first_of_all(&one.expr),
        _ => false,
    }
}

fn as_number(hangs: Hangs) -> Hangs {
    match hangs {
        Hangs::No => Hangs::No,
        _ => Hangs::Number,
    }
}

fn as_number_unless_element(hangs: Hangs) -> Hangs {
    match hangs {
        Hangs::Element => Hangs::Element,
        other => as_number(other),
    }
}

fn changes(op: syn::BinOp) -> bool {
    use syn::BinOp as Op;
    matches!(
        op,
        Op::AddAssign(_)
            | Op::SubAssign(_)
            | Op::MulAssign(_)
            | Op::DivAssign(_)
            | Op::RemAssign(_)
            | Op::BitXorAssign(_)
            | Op::BitAndAssign(_)
            | Op::BitOrAssign(_)
            | Op::ShlAssign(_)
            | Op::ShrAssign(_)
    )
}

/// Whether a pattern is of what may have failed, as a whole: `Ok(devices)`, `None`, `_`.
fn unpacks(pattern: &Pat) -> bool {
    match pattern {
        Pat::TupleStruct(one) => {
            let name = one.path.segments.last().map(|one| one.ident.to_string());
            let is_plain = |inner: &Pat| matches!(inner, Pat::Ident(one) if one.subpat.is_none());
            let inner = one.elems.first();
            name.is_some_and(|name| is_prelude_variant(&name))
                && inner.is_some_and(|inner| is_plain(inner) || matches!(inner, Pat::Wild(_)))
        }
        Pat::Ident(one) => one.subpat.is_none(),
        Pat::Wild(_) => true,
        Pat::Path(one) => one
            .path
            .get_ident()
            .is_some_and(|name| is_prelude_variant(&name.to_string())),
        _ => false,
    }
}

/// Whether an expression is a place, or lends one.
fn is_place(expr: &Expr) -> bool {
    root(expr).is_some()
}

/// Whether it is a name alone.
fn is_plain(expr: &Expr) -> bool {
    matches!(expr, Expr::Lit(_))
}

fn lends(expr: &Expr) -> bool {
    match expr {
        Expr::Reference(one) => one.mutability.is_some(),
        Expr::RawAddr(_) => true,
        Expr::Cast(one) => lends(&one.expr),
        Expr::MethodCall(one) => one.method.to_string().contains("mut"),
        _ => false,
    }
}

/// The variable or static that a place is a part of.
fn root(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Path(path) => path.path.segments.last().map(|one| one.ident.to_string()),
        Expr::MethodCall(call) => root(&call.receiver),
        Expr::Reference(one) => root(&one.expr),
        Expr::RawAddr(one) => root(&one.expr),
        Expr::Cast(one) => root(&one.expr),
        Expr::Paren(one) => root(&one.expr),
        Expr::Group(one) => root(&one.expr),
        Expr::Field(one) => root(&one.base),
        Expr::Index(one) => root(&one.expr),
        Expr::Unary(one) => root(&one.expr),
        Expr::Try(one) => root(&one.expr),
        Expr::Await(one) => root(&one.base),
        _ => None,
    }
}

/// Whether a chain of methods begins with a function of these.
fn is_of_device(expr: &Expr, makes: &dyn Fn(&syn::Path) -> bool) -> bool {
    match expr {
        Expr::MethodCall(call) => is_of_device(&call.receiver, makes),
        Expr::Try(one) => is_of_device(&one.expr, makes),
        Expr::Await(one) => is_of_device(&one.base, makes),
        Expr::Paren(one) => is_of_device(&one.expr, makes),
        Expr::Reference(one) => is_of_device(&one.expr, makes),
        Expr::Call(call) => matches!(&*call.func, Expr::Path(path) if makes(&path.path)),
        _ => false,
    }
}

/// Follows what stands below an expression that is not looked at, with the most of it.
struct Below<'w, 'f, 'a>(&'w mut Walk<'a>, &'f mut Frame<'a>, Hangs);

impl<'ast> Visit<'ast> for Below<'_, '_, '_> {
    fn visit_expr(&mut self, expr: &'ast Expr) {
        let hangs = self.0.eval(self.1, expr);
        self.2 = self.2.max(hangs);
    }

    fn visit_block(&mut self, block: &'ast syn::Block) {
        self.0.block(self.1, block);
    }
}
