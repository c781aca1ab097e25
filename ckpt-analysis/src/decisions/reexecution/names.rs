//! What the names of a function stand for: which stay what they are, which expressions give the same at any time, and
//! where a variable is used in ways that no later look could come from.

use super::contents::{Whole, mentions, text};
use ckpt_compiler::library::{Ending, Functions, Library, Methods, Numbers};
use ckpt_compiler::syntax::macros::{arguments_of_macro, makes_a_list, repeated_in_list};
use ckpt_compiler::syntax::marks::Marks;
use ckpt_compiler::syntax::mentions::names_in;
use ckpt_compiler::visit::{self, Visit};
use proc_macro2::TokenStream;
use quote::ToTokens;
use std::collections::{HashMap, HashSet};
use syn::{Expr, FnArg, ItemFn, Pat, Type};

/// The variables of a function.
#[derive(Debug, Default)]
pub(super) struct Variables {
    /// How often each is bound (in the cases of a pattern), and whether ever `mut`.
    bound: HashMap<String, (usize, bool)>,
    /// Those whose fields may change behind them.
    exclusive: HashSet<String>,
    /// Those that hold a value of their own, made by a `Type::function(..)` or passed in.
    owned: HashSet<String>,
    /// The constants of the body, and whether a block in it has one of that name, which means something else elsewhere.
    constants: HashMap<String, bool>,
    /// How many blocks are around.
    depth: usize,
}

impl Variables {
    pub fn of(function: &ItemFn) -> Self {
        let mut names = Self::default();
        names.visit_signature(&function.sig);
        names.visit_block(&function.block);
        for input in &function.sig.inputs {
            if let FnArg::Typed(typed) = input
                && let Pat::Ident(one) = &*typed.pat
            {
                let name = one.ident.to_string();
                match &*typed.ty {
                    Type::Reference(reference) if reference.mutability.is_some() => {
                        names.exclusive.insert(name)
                    }
                    _ => names.owned.insert(name),
                };
            }
        }
        names
    }

    /// Whether the name is bound once.
    pub fn is_single(&self, name: &str) -> bool {
        self.bound.get(name).is_some_and(|(times, _)| *times == 1)
    }

    /// Whether the function binds the name at all.
    pub fn is_bound(&self, name: &str) -> bool {
        self.bound.contains_key(name)
    }

    /// Whether the name stands for one value as long as the function runs.
    pub fn is_stable(&self, name: &str) -> bool {
        match self.bound.get(name) {
            Some((times, mutable)) => *times == 1 && !mutable && !self.exclusive.contains(name),
            None => {
                let has_other = self.constants.get(name) == Some(&true);
                !has_other && name.chars().all(|letter| !letter.is_lowercase())
            }
        }
    }

    /// Whether one of the names in the signature means something else in the body.
    pub fn hides(&self, names: &TokenStream) -> bool {
        names_in(names)
            .iter()
            .any(|name| self.constants.contains_key(name))
    }

    /// Whether the expression is cheap, changes nothing, and returns the same whenever it is evaluated.
    pub fn is_constant(&self, library: &Library, expr: &Expr) -> bool {
        match expr {
            Expr::Lit(_) => true,
            Expr::Paren(one) => self.is_constant(library, &one.expr),
            Expr::Path(path) => match path.path.get_ident() {
                Some(name) => self.is_stable(&name.to_string()),
                None => path.path.segments.last().is_some_and(|last| {
                    last.ident
                        .to_string()
                        .chars()
                        .all(|letter| !letter.is_lowercase())
                }),
            },
            Expr::Unary(one) => {
                !matches!(one.op, syn::UnOp::Deref(_)) && self.is_constant(library, &one.expr)
            }
            Expr::Cast(one) => self.is_constant(library, &one.expr),
            Expr::Binary(one) => {
                !ckpt_compiler::syntax::purity::is_assignment(&one.op)
                    && self.is_constant(library, &one.left)
                    && self.is_constant(library, &one.right)
            }
            Expr::Field(one) => self.is_field(&one.base),
            Expr::Tuple(one) => one.elems.iter().all(|part| self.is_constant(library, part)),
            Expr::Array(one) => one.elems.iter().all(|part| self.is_constant(library, part)),
            Expr::Repeat(one) => self.is_constant(library, &one.expr) && self.is_constant(library, &one.len),
            Expr::Macro(one) if makes_a_list(library, &one.mac) => {
                let parts = vec_parts(library, &one.mac);
                !parts.is_empty() && parts.iter().all(|part| self.is_constant(library, part))
                    || one.mac.tokens.is_empty()
            }
            // A list that cannot change cannot change its length.
            Expr::MethodCall(call)
                if call.args.is_empty() && library.says(&call.method.to_string(), Numbers::Length) =>
            {
                matches!(&*call.receiver, Expr::Path(_)) && self.is_constant(library, &call.receiver)
            }
            Expr::Call(call) => {
                matches!(&*call.func, Expr::Path(path) if library.is_pure_function(&path.path))
                    && call.args.iter().all(|part| self.is_constant(library, part))
            }
            _ => false,
        }
    }

    /// A field of a value that does not change.
    pub fn is_field(&self, base: &Expr) -> bool {
        match base {
            Expr::Path(path) => path.path.get_ident().is_some_and(|name| {
                let name = name.to_string();
                self.is_stable(&name) && self.owned.contains(&name)
            }),
            Expr::Field(one) => self.is_field(&one.base),
            _ => false,
        }
    }
}

impl<'ast> Visit<'ast> for Variables {
    fn visit_block(&mut self, block: &'ast syn::Block) {
        self.depth += 1;
        visit::visit_block(self, block);
        self.depth -= 1;
    }

    fn visit_item(&mut self, item: &'ast syn::Item) {
        let name = match item {
            syn::Item::Const(one) => &one.ident,
            syn::Item::Static(one) => &one.ident,
            _ => return,
        };
        *self.constants.entry(name.to_string()).or_default() |= self.depth > 1;
    }

    fn visit_pat_ident(&mut self, one: &'ast syn::PatIdent) {
        let entry = self.bound.entry(one.ident.to_string()).or_default();
        entry.0 += 1;
        entry.1 |= one.mutability.is_some();
        visit::visit_pat_ident(self, one);
    }

    fn visit_local(&mut self, local: &'ast syn::Local) {
        if let (Pat::Ident(one), Some(init)) = (&local.pat, &local.init) {
            let is_made = match &*init.expr {
                Expr::Struct(_) => true,
                Expr::Call(call) => matches!(&*call.func, Expr::Path(path) if path.path.segments.len() > 1),
                _ => false,
            };
            if is_made {
                self.owned.insert(one.ident.to_string());
            }
        }
        visit::visit_local(self, local);
    }
}

/// `vec![a; n]` as `[a, n]`, `vec![a, b]` as `[a, b]`; nothing where it cannot be read.
fn vec_parts(library: &Library, mac: &syn::Macro) -> Vec<Expr> {
    let repeated: syn::Result<syn::ExprRepeat> = syn::parse_str(&format!("[{}]", mac.tokens));
    if let Ok(one) = repeated {
        return vec![*one.expr, *one.len];
    }
    arguments_of_macro(library, mac).map_or_else(Vec::new, |parts| parts.into_iter().collect())
}

/// The lengths of what an initialiser makes, from outside inwards: `vec![vec![0.0; m]; n]` has `n`, `m`.
pub(super) fn lengths(library: &Library, init: &Expr) -> Vec<String> {
    let repeated = |value: &Expr, count: &Expr| {
        let mut all = vec![text(count)];
        all.extend(lengths(library, value));
        all
    };
    match init {
        Expr::Paren(one) => lengths(library, &one.expr),
        Expr::Macro(one) => repeated_in_list(library, &one.mac)
            .map_or_else(Vec::new, |(value, count)| repeated(&value, &count)),
        Expr::Repeat(one) => repeated(&one.expr, &one.len),
        _ => Vec::new(),
    }
}

/// Says whether the callee of a call keeps nothing of its argument of this number, nor changes its length.
pub(super) type LetsGo<'a> = dyn Fn(&Expr, usize) -> bool + 'a;

/// Looks for uses of a variable out of which a look at it could come later, without its name: a reference that is kept.
/// Of a variable that is to keep its length, for what might change that too.
pub(super) struct Uses<'a> {
    pub name: &'a str,
    pub whole: Whole,
    pub depth: usize,
    /// Whether it is a number: its name alone copies it.
    pub is_number: bool,
    pub lets_go: &'a LetsGo<'a>,
    /// Whether a variable is known to be as long as this one: the two may trade places.
    pub is_as_long: &'a dyn Fn(&str) -> bool,
    pub marks: Option<Marks<'a>>,
    pub library: &'a Library,
    pub kept: bool,
}

impl Uses<'_> {
    fn is_name(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Paren(one) => self.is_name(&one.expr),
            Expr::Path(path) => path.path.is_ident(self.name),
            _ => false,
        }
    }

    /// `x`, `x[i]`, `x[i][j]`: visits the indices; returns how many there are.
    fn place(&mut self, expr: &Expr) -> Option<usize> {
        match expr {
            Expr::Index(one) => {
                let depth = self.place(&one.expr)?;
                self.visit_expr(&one.index);
                Some(depth + 1)
            }
            _ => self.is_name(expr).then_some(0),
        }
    }

    fn root_is_name(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Index(one) => self.root_is_name(&one.expr),
            Expr::Paren(one) => self.root_is_name(&one.expr),
            _ => self.is_name(expr),
        }
    }

    /// `mem::swap(&mut x, &mut y)` of two that are as long as each other.
    fn trades(&self, call: &syn::ExprCall) -> bool {
        let names: Vec<String> = call
            .args
            .iter()
            .filter_map(|argument| match argument {
                Expr::Reference(one) if one.mutability.is_some() => match &*one.expr {
                    Expr::Path(path) => path.path.get_ident().map(ToString::to_string),
                    _ => None,
                },
                _ => None,
            })
            .collect();
        let is_swap = matches!(&*call.func, Expr::Path(path)
            if path.path.segments.last().is_some_and(|last| self.library.says(&last.ident.to_string(), Functions::Swaps)));
        let others = || names.iter().filter(|name| *name != self.name);
        is_swap
            && call.args.len() == 2
            && names.len() == 2
            && others().count() == 1
            && others().all(|name| (self.is_as_long)(name))
    }

    /// `&x`, `&mut x[..]` given to a call.
    fn argument(&mut self, call: &Expr, index: usize, argument: &Expr) {
        if let Expr::Reference(one) = argument
            && self.root_is_name(&one.expr)
        {
            self.place(&one.expr);
            self.kept |= !(self.lets_go)(call, index);
        } else {
            self.visit_expr(argument);
        }
    }

    /// What a `for` without a site goes over: `&x`, `x.iter().enumerate()`, ..
    fn gone_over(&mut self, expr: &Expr) {
        match expr {
            Expr::Reference(one) if self.root_is_name(&one.expr) => drop(self.place(&one.expr)),
            Expr::MethodCall(call) if self.root_is_name(&call.receiver) => {
                self.kept |= !self.library.goes_over_references(&call.method.to_string());
                self.place(&call.receiver);
                call.args.iter().for_each(|argument| self.visit_expr(argument));
            }
            Expr::MethodCall(call) if self.library.adapts(&call.method.to_string()) => {
                self.gone_over(&call.receiver);
                call.args.iter().for_each(|argument| self.gone_over(argument));
            }
            other => self.visit_expr(other),
        }
    }

    fn method(&mut self, expr: &Expr, call: &syn::ExprMethodCall) {
        let method = call.method.to_string();
        if self.root_is_name(&call.receiver) {
            let depth = self.place(&call.receiver).unwrap_or_default();
            let says = |what| self.library.says(&method, what);
            let looks = says(Methods::InPlace)
                || self.library.fills(&method)
                || says(Methods::OfNumbers) && depth > 0;
            let grows =
                (self.library.grows(&method) || self.library.resets(&method)) && !says(Methods::Opens);
            self.kept |= !(looks || grows && self.whole == Whole::Value && depth == 0);
        } else if keeps_no_item(self.library, &method) && self.begins_with_name(&call.receiver) {
            self.gone_over(&call.receiver);
        } else {
            self.visit_expr(&call.receiver);
        }
        for (index, argument) in call.args.iter().enumerate() {
            self.argument(expr, index + 1, argument);
        }
    }

    /// Whether a chain of adaptors begins with the variable.
    fn begins_with_name(&self, expr: &Expr) -> bool {
        match expr {
            Expr::MethodCall(call) => {
                self.root_is_name(&call.receiver) || self.begins_with_name(&call.receiver)
            }
            _ => false,
        }
    }
}

/// Whether what a chain of adaptors comes to at this call holds none of its items.
fn keeps_no_item(library: &Library, method: &str) -> bool {
    use Ending::{All, Any, Counts, Each, Multiplies, Sums};
    matches!(
        library.key(method),
        Some(Sums | Multiplies | Counts | Each | Any | All)
    )
}

impl<'ast> Visit<'ast> for Uses<'_> {
    fn visit_expr(&mut self, expr: &'ast Expr) {
        match expr {
            Expr::Path(_) => self.kept |= self.is_name(expr) && !self.is_number,
            Expr::Index(one) if self.root_is_name(expr) => {
                let is_slice = matches!(&*one.index, Expr::Range(_));
                self.kept |= is_slice;
                self.place(expr);
            }
            Expr::Reference(one) if self.root_is_name(&one.expr) => self.kept = true,
            Expr::Assign(one) if self.root_is_name(&one.left) => {
                let depth = self.place(&one.left).unwrap_or_default();
                self.kept |= self.whole == Whole::Elements && depth < self.depth;
                self.visit_expr(&one.right);
            }
            Expr::Call(call) if self.trades(call) => {}
            Expr::Call(call) => {
                self.visit_expr(&call.func);
                for (index, argument) in call.args.iter().enumerate() {
                    self.argument(expr, index, argument);
                }
            }
            Expr::MethodCall(call) => self.method(expr, call),
            Expr::ForLoop(one) => {
                let has_site = self.marks.is_some_and(|marks| marks.in_block(&one.body));
                if has_site {
                    self.visit_expr(&one.expr);
                } else {
                    self.gone_over(&one.expr);
                }
                self.visit_block(&one.body);
            }
            Expr::Closure(one) => self.kept |= mentions(one.to_token_stream(), self.name),
            _ => visit::visit_expr(self, expr),
        }
    }

    fn visit_macro(&mut self, mac: &'ast syn::Macro) {
        match arguments_of_macro(self.library, mac) {
            Some(arguments) => {
                for argument in &arguments {
                    // A macro that prints looks at a value by its name.
                    if !self.is_name(argument) {
                        self.visit_expr(argument);
                    }
                }
            }
            None => self.kept |= mentions(mac.tokens.clone(), self.name),
        }
    }

    fn visit_item(&mut self, _: &'ast syn::Item) {}
}
