//! Where the value of an expression comes from, as far as syntax and tables can tell.

use crate::library::{Adaptor, Functions, Library, Macros, Methods, Surroundings, segments};
use crate::names::{LocalSet, Locals};
use crate::syntax::language::{bound_trait, is_function_trait, is_iterator_trait};
use crate::syntax::macros::{items_of_list, name_of_macro};
use crate::syntax::places::place_root;
use crate::syntax::purity::is_assignment;
use crate::visit::{self, Visit};
use std::collections::HashSet;
use syn::{Expr, Path, Type};

/// Where a value comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// Computed: it can only be saved.
    Value,
    /// A literal text or the like: cheap to make again, and without an owner.
    Constant,
    /// Borrowed from a place: rebuilt at restart.
    Borrow {
        /// Whether the borrow is exclusive (`&mut`).
        exclusive: bool,
    },
    /// A closure: rebuilt at restart.
    Closure,
    /// From the process or a device: arguments, clocks, files. Made again at restart.
    Device,
}

/// What is known where expressions are looked at.
#[derive(Debug, Clone, Copy)]
pub struct Known<'a> {
    /// What calls mean.
    pub library: &'a Library,
    /// The variables, and which of them stand for references.
    references: Option<(&'a Locals, &'a LocalSet)>,
}

impl<'a> Known<'a> {
    /// What calls mean, and nothing of variables.
    pub fn of(library: &'a Library) -> Self {
        Self {
            library,
            references: None,
        }
    }

    /// What calls mean, and which variables stand for references.
    pub fn with(library: &'a Library, locals: &'a Locals, references: &'a LocalSet) -> Self {
        Self {
            library,
            references: Some((locals, references)),
        }
    }

    /// Whether the name is that of a variable that stands for a reference.
    pub fn is_reference(self, name: &syn::Ident) -> bool {
        let holds = |(locals, references): (&Locals, &LocalSet)| {
            locals.id(name).is_some_and(|local| references.contains(local))
        };
        self.references.is_some_and(holds)
    }

    /// Classifies an initialiser.
    pub fn origin(self, expr: &Expr) -> Origin {
        let found = self.shape(expr);
        if found == Origin::Value && mentions_device(self.library, expr) {
            Origin::Device
        } else {
            found
        }
    }

    /// Whether the value is borrowed from a place.
    pub fn borrows(self, expr: &Expr) -> bool {
        matches!(self.origin(expr), Origin::Borrow { .. })
    }

    /// Whether the value is borrowed from a place exclusively.
    pub fn borrows_exclusively(self, expr: &Expr) -> bool {
        self.origin(expr) == Origin::Borrow { exclusive: true }
    }

    fn shape(self, expr: &Expr) -> Origin {
        let library = self.library;
        match expr {
            Expr::Paren(inner) => self.shape(&inner.expr),
            Expr::Group(inner) => self.shape(&inner.expr),
            Expr::Try(inner) => match self.shape(&inner.expr) {
                Origin::Borrow { exclusive } => Origin::Borrow { exclusive },
                _ => Origin::Value,
            },
            Expr::Reference(one) => Origin::Borrow {
                exclusive: one.mutability.is_some(),
            },
            Expr::Closure(_) => Origin::Closure,
            Expr::Lit(lit) => match lit.lit {
                syn::Lit::Str(_) | syn::Lit::ByteStr(_) | syn::Lit::CStr(_) => Origin::Constant,
                _ => Origin::Value,
            },
            Expr::Path(path) => match path.path.get_ident() {
                Some(name) if self.is_reference(name) => Origin::Borrow { exclusive: false },
                _ => Origin::Value,
            },
            Expr::MethodCall(call) => {
                let method = call.method.to_string();
                let receiver = self.shape(&call.receiver);
                let inherited = matches!(receiver, Origin::Borrow { exclusive: true });
                if library.says(&method, Adaptor::Copies) && is_one_item(library, &call.receiver) {
                    return Origin::Value;
                }
                if library.borrows_by_call(call) {
                    Origin::Borrow {
                        exclusive: inherited || library.borrows_mutably(&method),
                    }
                } else if (library.adapts(&method) || has_borrowed_default(library, call))
                    && matches!(receiver, Origin::Borrow { .. })
                {
                    Origin::Borrow { exclusive: inherited }
                } else {
                    Origin::Value
                }
            }
            Expr::Call(call) if is_constructor(&call.func) => borrows(self.any(call.args.iter())),
            Expr::Call(call) if is_box(library, &call.func) && call.args.len() == 1 => match &call.args[0] {
                Expr::Closure(_) => Origin::Closure,
                inner => match self.shape(inner) {
                    Origin::Closure => Origin::Closure,
                    _ => Origin::Value,
                },
            },
            Expr::Cast(cast) if self.shape(&cast.expr) == Origin::Closure => Origin::Closure,
            Expr::Macro(one) => match self.any(items_of_list(library, &one.mac).iter().flatten()) {
                Origin::Closure => Origin::Closure,
                _ => Origin::Value,
            },
            Expr::Tuple(tuple) => self.any(tuple.elems.iter()),
            Expr::Array(array) => self.any(array.elems.iter()),
            Expr::Struct(one) => borrows(self.any(one.fields.iter().map(|field| &field.expr))),
            Expr::If(branch) => {
                let then = branch.then_branch.stmts.last();
                let otherwise = branch.else_branch.as_ref().map(|(_, expr)| &**expr);
                self.any(then.into_iter().filter_map(tail).chain(otherwise))
            }
            Expr::Match(branch) => self.any(branch.arms.iter().map(|arm| &*arm.body)),
            Expr::Block(block) => self.any(block.block.stmts.last().into_iter().filter_map(tail)),
            _ => Origin::Value,
        }
    }

    fn any<'e>(self, parts: impl Iterator<Item = &'e Expr>) -> Origin {
        let mut found = Origin::Value;
        for part in parts {
            match self.shape(part) {
                Origin::Borrow { exclusive } => {
                    let before = matches!(found, Origin::Borrow { exclusive: true });
                    found = Origin::Borrow {
                        exclusive: exclusive || before,
                    };
                }
                Origin::Closure if found == Origin::Value => found = Origin::Closure,
                _ => {}
            }
        }
        found
    }

    /// Whether the iterable of a `for` is a chain of adaptors, which can be rebuilt but not saved.
    pub fn is_iterator(self, expr: &Expr) -> bool {
        match expr {
            Expr::Paren(inner) => self.is_iterator(&inner.expr),
            Expr::MethodCall(call) if self.library.adapts(&call.method.to_string()) => {
                let root_is_range = matches!(unparenthesised(&call.receiver), Expr::Range(_));
                root_is_range || self.is_iterator(&call.receiver) || self.borrows(&call.receiver)
            }
            _ => false,
        }
    }
}

/// `name.as_deref().unwrap_or("none")`: what stands in is a reference, so the whole is one.
fn has_borrowed_default(library: &Library, call: &syn::ExprMethodCall) -> bool {
    let default = call
        .args
        .first()
        .filter(|_| library.is_call(call, Methods::Defaults));
    default.is_some_and(|default| {
        matches!(
            Known::of(library).shape(default),
            Origin::Constant | Origin::Borrow { .. }
        )
    })
}

/// Whether the expression gives at most one reference, and not an iterator over many.
fn is_one_item(library: &Library, expr: &Expr) -> bool {
    matches!(expr, Expr::MethodCall(call) if library.is_call(call, Methods::GivesOne))
}

/// The first closure in a chain of adaptors that does more than compute: going over the chain again would do it again.
pub fn effect_in_chain(library: &Library, expr: &Expr) -> Option<proc_macro2::Span> {
    let Expr::MethodCall(call) = expr else { return None };
    let in_arguments = call
        .args
        .iter()
        .find_map(|argument| effect_of_closure(library, closure_in(argument)?));
    in_arguments.or_else(|| effect_in_chain(library, &call.receiver))
}

/// Whether a closure in a chain of adaptors does work that is too much to do again: calls of functions that the tables do
/// not know, loops, whole iterations.
pub fn works_in_chain(library: &Library, expr: &Expr) -> bool {
    struct Work<'l> {
        library: &'l Library,
        found: bool,
    }
    impl<'ast> Visit<'ast> for Work<'_> {
        fn visit_expr(&mut self, expr: &'ast Expr) {
            self.found |= match expr {
                Expr::ForLoop(_) | Expr::While(_) | Expr::Loop(_) => true,
                Expr::Call(call) => {
                    let is_known =
                        matches!(&*call.func, Expr::Path(path) if self.library.is_pure_function(&path.path));
                    !is_known && !is_constructor(&call.func) && !is_box(self.library, &call.func)
                }
                Expr::MethodCall(call) => {
                    let method = call.method.to_string();
                    self.library.collects(&method) || !self.library.knows(&method)
                }
                _ => false,
            };
            visit::visit_expr(self, expr);
        }
    }
    let Expr::MethodCall(call) = expr else {
        return false;
    };
    let in_arguments = call.args.iter().filter_map(closure_in).any(|closure| {
        let mut work = Work {
            library,
            found: false,
        };
        work.visit_expr(&closure.body);
        work.found
    });
    in_arguments || works_in_chain(library, &call.receiver)
}

/// Where a closure does more than compute.
pub fn effect_of_closure(library: &Library, closure: &syn::ExprClosure) -> Option<proc_macro2::Span> {
    let mut effects = Effects {
        library,
        own: HashSet::new(),
        found: None,
    };
    closure.inputs.iter().for_each(|input| effects.visit_pat(input));
    effects.visit_expr(&closure.body);
    effects.found
}

/// A closure, or `&mut` one: it may have been written in the place of its name.
pub fn closure_in(argument: &Expr) -> Option<&syn::ExprClosure> {
    match argument {
        Expr::Closure(closure) => Some(closure),
        Expr::Paren(inner) => closure_in(&inner.expr),
        Expr::Reference(one) if one.mutability.is_some() => closure_in(&one.expr),
        _ => None,
    }
}

/// Looks for what a closure does to the world outside it. `own` are the variables that it declares itself.
struct Effects<'a> {
    library: &'a Library,
    own: HashSet<&'a syn::Ident>,
    found: Option<proc_macro2::Span>,
}

impl Effects<'_> {
    fn captures(&self, place: &Expr) -> bool {
        place_root(place).is_some_and(|root| !self.own.contains(root))
    }
}

impl<'ast> Visit<'ast> for Effects<'ast> {
    fn visit_macro(&mut self, mac: &'ast syn::Macro) {
        let name = name_of_macro(mac);
        if !self.library.only_computes(&name) && !self.library.says(&name, Macros::Matches) {
            self.found.get_or_insert(syn::spanned::Spanned::span(&mac.path));
        }
    }

    fn visit_expr_assign(&mut self, one: &'ast syn::ExprAssign) {
        if self.captures(&one.left) {
            self.found.get_or_insert(one.eq_token.span);
        }
        visit::visit_expr_assign(self, one);
    }

    fn visit_expr_binary(&mut self, one: &'ast syn::ExprBinary) {
        if crate::syntax::purity::is_assignment(&one.op) && self.captures(&one.left) {
            self.found.get_or_insert(syn::spanned::Spanned::span(&one.op));
        }
        visit::visit_expr_binary(self, one);
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        let method = call.method.to_string();
        let looks = (self.library.is_pure(&method) || self.library.borrows(&method))
            && !self.library.borrows_mutably(&method);
        let looks = looks || self.library.says(&method, Methods::Looks) || self.library.adapts(&method);
        if self.captures(&call.receiver) && !looks {
            self.found.get_or_insert(call.method.span());
        }
        visit::visit_expr_method_call(self, call);
    }

    fn visit_expr_reference(&mut self, one: &'ast syn::ExprReference) {
        if one.mutability.is_some() && self.captures(&one.expr) {
            self.found.get_or_insert(one.and_token.span);
        }
        visit::visit_expr_reference(self, one);
    }

    fn visit_pat_ident(&mut self, pat: &'ast syn::PatIdent) {
        self.own.insert(&pat.ident);
    }
}

fn tail(stmt: &syn::Stmt) -> Option<&Expr> {
    match stmt {
        syn::Stmt::Expr(expr, None) => Some(expr),
        _ => None,
    }
}

/// A value with a closure in it is a value: what else is in it may not be rebuilt.
fn borrows(found: Origin) -> Origin {
    match found {
        Origin::Closure => Origin::Value,
        other => other,
    }
}

/// `Box::new`, `Rc::new`, `Arc::new`.
pub fn is_box(library: &Library, func: &Expr) -> bool {
    matches!(func, Expr::Path(path) if library.says_of_path(&path.path, Functions::Boxes))
}

/// `Some(..)`, `Point(..)`: a name with a capital.
fn is_constructor(func: &Expr) -> bool {
    matches!(func, Expr::Path(path) if path
        .path
        .segments
        .last()
        .is_some_and(|last| last.ident.to_string().starts_with(|first: char| first.is_uppercase())))
}

/// What a value is put together from: `Wrapper(a, b)`, `Pair { left, right }`.
pub fn operands_of_constructor(expr: &Expr) -> Option<Vec<&Expr>> {
    match expr {
        Expr::Paren(inner) => operands_of_constructor(&inner.expr),
        Expr::Call(call) if is_constructor(&call.func) => Some(call.args.iter().collect()),
        Expr::Struct(one) if one.rest.is_none() => Some(one.fields.iter().map(|field| &field.expr).collect()),
        _ => None,
    }
}

fn unparenthesised(expr: &Expr) -> &Expr {
    match expr {
        Expr::Paren(inner) => unparenthesised(&inner.expr),
        other => other,
    }
}

/// Whether the value is all that a function gives which is made again at a restart, whatever has become of it since:
/// `Pool::new(4)?` where the user says so, `rand::thread_rng()`.
pub fn is_made_again(library: &Library, expr: &Expr) -> bool {
    made_by(library, expr).is_some_and(|function| library.is_made_again(function))
}

/// Whether the program asks for its environment or for files, which it may have changed since, to make the value.
pub fn asks_around(library: &Library, expr: &Expr) -> bool {
    struct Asks<'l> {
        library: &'l Library,
        found: bool,
    }
    impl<'ast> Visit<'ast> for Asks<'_> {
        fn visit_expr_call(&mut self, call: &'ast syn::ExprCall) {
            if let Expr::Path(path) = &*call.func {
                let names = segments(&path.path);
                self.found |= self.library.reads_environment(&names) || self.library.asks_for_file(&names);
            }
            visit::visit_expr_call(self, call);
        }
        fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
            let method = call.method.to_string();
            self.found |= call.args.is_empty() && self.library.says(&method, Surroundings::AsksFiles);
            visit::visit_expr_method_call(self, call);
        }
        // Asked for when it is called.
        fn visit_expr_closure(&mut self, _: &'ast syn::ExprClosure) {}
    }
    let mut asks = Asks {
        library,
        found: false,
    };
    asks.visit_expr(expr);
    asks.found
}

/// Whether the value is a generator of random numbers that the system seeds.
pub fn is_unseeded(library: &Library, expr: &Expr) -> bool {
    made_by(library, expr).is_some_and(|function| library.is_unseeded(function))
}

/// The function that gives the value.
fn made_by<'e>(library: &Library, expr: &'e Expr) -> Option<&'e Path> {
    match expr {
        Expr::Paren(inner) => made_by(library, &inner.expr),
        Expr::Group(inner) => made_by(library, &inner.expr),
        Expr::Try(inner) => made_by(library, &inner.expr),
        Expr::Unsafe(inner) => match inner.block.stmts.as_slice() {
            [syn::Stmt::Expr(last, None)] => made_by(library, last),
            _ => None,
        },
        Expr::MethodCall(call) if library.says(&call.method.to_string(), Methods::Unwraps) => {
            made_by(library, &call.receiver)
        }
        Expr::Call(call) => match &*call.func {
            Expr::Path(function) => Some(&function.path),
            _ => None,
        },
        _ => None,
    }
}

/// A value with something in it that changes behind a shared reference is none, whatever else it holds: rebuilt it
/// would have lost that.
fn mentions_device(library: &Library, expr: &Expr) -> bool {
    struct Devices<'l> {
        library: &'l Library,
        found: bool,
        changes: bool,
    }
    impl<'ast> Visit<'ast> for Devices<'_> {
        fn visit_path(&mut self, path: &'ast Path) {
            self.found |= self.library.is_device(path);
            self.changes |= path
                .segments
                .iter()
                .any(|one| self.library.changes_inside(&one.ident.to_string()));
            visit::visit_path(self, path);
        }
        fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
            self.found |= self.library.is_device_method(&call.method.to_string());
            visit::visit_expr_method_call(self, call);
        }
    }
    let mut devices = Devices {
        library,
        found: false,
        changes: false,
    };
    devices.visit_expr(expr);
    devices.found && !devices.changes
}

/// Whether an initialiser may be evaluated again and returns the same, its inputs unchanged: no call in it of which the
/// tables do not say so. The bodies of closures do not count, they are not run.
pub fn is_repeatable(library: &Library, expr: &Expr) -> bool {
    struct Calls<'l> {
        library: &'l Library,
        unknown: bool,
    }
    impl<'ast> Visit<'ast> for Calls<'_> {
        fn visit_expr_call(&mut self, call: &'ast syn::ExprCall) {
            let is_known =
                matches!(&*call.func, Expr::Path(path) if self.library.is_pure_function(&path.path));
            self.unknown |= !is_known && !is_constructor(&call.func) && !is_box(self.library, &call.func);
            visit::visit_expr_call(self, call);
        }
        fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
            let method = call.method.to_string();
            let runs_closures = self.library.collects(&method);
            self.unknown |= !(self.library.is_pure(&method)
                || has_borrowed_default(self.library, call)
                || self.library.borrows(&method)
                || self.library.adapts(&method)
                || runs_closures && closures_are_repeatable(self.library, &call.receiver));
            visit::visit_expr_method_call(self, call);
        }
        fn visit_macro(&mut self, mac: &'ast syn::Macro) {
            match items_of_list(self.library, mac) {
                Some(items) => self.unknown |= !items.iter().all(|one| is_repeatable(self.library, one)),
                None => self.unknown = true,
            }
        }
        fn visit_expr_assign(&mut self, _: &'ast syn::ExprAssign) {
            self.unknown = true;
        }
        fn visit_expr_binary(&mut self, one: &'ast syn::ExprBinary) {
            self.unknown |= is_assignment(&one.op);
            visit::visit_expr_binary(self, one);
        }
        fn visit_expr_closure(&mut self, _: &'ast syn::ExprClosure) {}
    }
    let mut calls = Calls {
        library,
        unknown: false,
    };
    calls.visit_expr(expr);
    !calls.unknown
}

/// Whether the closures in a chain of adaptors may be re-executed.
fn closures_are_repeatable(library: &Library, expr: &Expr) -> bool {
    match expr {
        Expr::MethodCall(call) => {
            closures_are_repeatable(library, &call.receiver)
                && call.args.iter().all(|argument| match argument {
                    Expr::Closure(closure) => is_repeatable(library, &closure.body),
                    _ => true,
                })
        }
        _ => true,
    }
}

/// The value without a name that the expression borrows from: `args().nth(1)` in `args().nth(1).as_deref()`. It lives
/// as long as the statement or branch around it, so it needs a name where that is taken apart.
pub fn lent_temporary_mut<'e>(library: &Library, expr: &'e mut Expr) -> Option<&'e mut Expr> {
    let owner = match expr {
        Expr::Paren(inner) => return lent_temporary_mut(library, &mut inner.expr),
        Expr::Group(inner) => return lent_temporary_mut(library, &mut inner.expr),
        Expr::Try(inner) => return lent_temporary_mut(library, &mut inner.expr),
        Expr::Reference(one) => &mut *one.expr,
        Expr::Index(one) => &mut *one.expr,
        Expr::MethodCall(call) => {
            if library.borrows_by_call(call) {
                &mut *call.receiver
            } else {
                return lent_temporary_mut(library, &mut call.receiver);
            }
        }
        _ => return None,
    };
    if place_root(owner).is_some() || is_constant(owner) || matches!(owner, Expr::Path(_)) {
        None
    } else if lent_temporary_mut(library, owner).is_some() || borrows_from_a_place(library, owner) {
        lent_temporary_mut(library, owner)
    } else {
        Some(owner)
    }
}

/// Whether a chain of borrows and adaptors begins at a variable.
fn borrows_from_a_place(library: &Library, expr: &Expr) -> bool {
    match expr {
        Expr::Paren(inner) => borrows_from_a_place(library, &inner.expr),
        Expr::Group(inner) => borrows_from_a_place(library, &inner.expr),
        Expr::Try(inner) => borrows_from_a_place(library, &inner.expr),
        Expr::Reference(one) => borrows_from_a_place(library, &one.expr),
        Expr::Index(one) => borrows_from_a_place(library, &one.expr),
        Expr::MethodCall(call) => {
            let method = call.method.to_string();
            (library.borrows(&method) || library.adapts(&method))
                && borrows_from_a_place(library, &call.receiver)
        }
        other => place_root(other).is_some() || is_constant(other) || matches!(other, Expr::Path(_)),
    }
}

/// Whether a temporary of this value lives as long as the program, or needs no owner.
pub fn is_constant(expr: &Expr) -> bool {
    match expr {
        Expr::Range(_) | Expr::Lit(_) => true,
        Expr::Array(array) => array.elems.iter().all(is_constant),
        Expr::Paren(inner) => is_constant(&inner.expr),
        _ => false,
    }
}

/// Whether a written type is one that no checkpoint holds: references, functions, pointers, closures behind `dyn Fn`.
/// Objects of other traits may have been made `Checkpoint`; where they have not, rustc says so. A function is made again like a
/// reference, unless the variable may get another one: then it is saved, by its name.
pub fn is_reference_type(ty: &Type, changes: bool) -> bool {
    struct References {
        changes: bool,
        found: bool,
    }
    impl<'ast> Visit<'ast> for References {
        fn visit_type(&mut self, ty: &'ast Type) {
            self.found |= match ty {
                Type::BareFn(_) => !self.changes,
                Type::Ptr(_) | Type::ImplTrait(_) => true,
                Type::TraitObject(object) => object.bounds.iter().any(is_function_or_borrows),
                _ => false,
            };
            visit::visit_type(self, ty);
        }
        // The references of a function's parameters are no one's.
        fn visit_type_bare_fn(&mut self, _: &'ast syn::TypeBareFn) {}
        fn visit_type_reference(&mut self, one: &'ast syn::TypeReference) {
            let is_static = one
                .lifetime
                .as_ref()
                .is_some_and(|lifetime| lifetime.ident == "static");
            self.found |= !is_static;
            visit::visit_type_reference(self, one);
        }
    }
    let mut references = References {
        changes,
        found: false,
    };
    references.visit_type(ty);
    references.found
}

/// Whether a bound is that of functions or iterators, or a lifetime shorter than the program's.
pub fn is_function_or_borrows(bound: &syn::TypeParamBound) -> bool {
    match bound {
        syn::TypeParamBound::Lifetime(lifetime) => lifetime.ident != "static",
        _ => bound_trait(bound).is_some_and(|name| is_function_trait(name) || is_iterator_trait(name)),
    }
}

/// Whether a written type borrows exclusively.
pub fn is_exclusive_type(ty: &Type) -> bool {
    match ty {
        Type::Reference(one) => one.mutability.is_some(),
        Type::Paren(inner) => is_exclusive_type(&inner.elem),
        Type::Tuple(tuple) => tuple.elems.iter().any(is_exclusive_type),
        _ => false,
    }
}

/// What a place begins with: a local or a static, `m::A` for `m::A[c].d`.
pub fn place_path(expr: &Expr) -> Option<&Path> {
    match expr {
        Expr::Path(path) => Some(&path.path),
        Expr::Field(field) => place_path(&field.base),
        Expr::Index(index) => place_path(&index.expr),
        Expr::Paren(inner) => place_path(&inner.expr),
        Expr::Group(inner) => place_path(&inner.expr),
        Expr::Unary(unary) if matches!(unary.op, syn::UnOp::Deref(_)) => place_path(&unary.expr),
        _ => None,
    }
}
