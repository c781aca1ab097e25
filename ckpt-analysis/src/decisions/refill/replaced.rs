//! Whether anything in a program puts another value in the place of one that a restart makes again and fills, or exchanges what is in
//! a list, tuple or option of such values. What is changed inside of one of them its own type tells.

use super::owners::Owners;
use super::replacing::Replacing;
use super::{exchanges, looked_at, takes_field};
use crate::decisions::changed_fields::{Group, changes_places, exchange};
use ckpt_compiler::library::{DeviceMethods, Library, Macros, Methods, PlaceOf, Types, last_name};
use ckpt_compiler::syntax::macros::{arguments_of_macro, name_of_macro};
use ckpt_compiler::syntax::mentions::names_in;
use ckpt_compiler::syntax::patterns::assigned_places;
use ckpt_compiler::visit::{self, Visit};
use proc_macro2::{Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::spanned::Spanned;
use syn::{Expr, UnOp};

/// What is looked at: a field, or a variable.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Watched<'n> {
    Field(&'n WatchedField<'n>),
    Variable(&'n str, &'n Replacing),
}

/// A field of the struct of this name, which may change places with others.
#[derive(Debug)]
pub(crate) struct WatchedField<'n> {
    pub(super) name: &'n str,
    pub(super) groups: &'n [Group],
    pub(super) owner: &'n str,
    pub(super) owners: &'n Owners,
    pub(super) replacing: &'n Replacing,
}

impl WatchedField<'_> {
    fn is(&self, field: &syn::ExprField) -> bool {
        field.member.to_token_stream().to_string() == self.name
            && !self.owners.is_of_another(field, self.owner)
    }

    /// Whether an argument is a field that is lent, and not this one.
    fn is_other(&self, argument: &Expr) -> bool {
        matches!(argument, Expr::Reference(one) if matches!(&*one.expr, Expr::Field(field) if !self.is(field)))
    }
}

impl Watched<'_> {
    pub(super) fn name(&self) -> &str {
        match self {
            Watched::Field(field) => field.name,
            Watched::Variable(name, _) => name,
        }
    }

    fn replacing(&self) -> &Replacing {
        match self {
            Watched::Field(field) => field.replacing,
            Watched::Variable(_, replacing) => replacing,
        }
    }

    /// Whether two fields change places there, and it is none of them, or one that may.
    fn may_change_places(&self, library: &Library, call: &syn::ExprCall) -> bool {
        match self {
            Watched::Field(field) => {
                changes_places(library, call, field.groups)
                    || exchange(library, call).is_some() && call.args.iter().all(|one| field.is_other(one))
            }
            Watched::Variable(..) => false,
        }
    }

    fn is(&self, expr: &Expr) -> bool {
        match (self, expr) {
            (_, Expr::Paren(one)) => self.is(&one.expr),
            (Watched::Field(field), Expr::Field(one)) => field.is(one),
            (Watched::Variable(name, _), Expr::Path(path)) => path.path.is_ident(name),
            _ => false,
        }
    }

    /// The value itself, or an element of it.
    fn is_or_has(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Index(one) => self.is_or_has(&one.expr),
            // A part of a tuple.
            Expr::Field(one) if matches!(one.member, syn::Member::Unnamed(_)) => {
                self.is(expr) || self.is_or_has(&one.base)
            }
            expr => self.is(expr),
        }
    }
}

/// Whether a function may do so. What goes over elements may change each; it must not give one another value as a whole.
pub(crate) fn replaces(library: &Library, block: &syn::Block, watched: Watched<'_>) -> bool {
    replaced(library, block, watched).is_some()
}

/// Where it does so first.
pub(super) fn replaced(library: &Library, block: &syn::Block, watched: Watched<'_>) -> Option<Span> {
    let is_numbered = watched.name().parse::<usize>().is_ok();
    if !is_numbered && !names_in(&block.to_token_stream()).contains(watched.name()) {
        return None;
    }
    let mut replaced = Replaced {
        library,
        watched,
        is_in_macro: false,
        found: None,
    };
    replaced.visit_block(block);
    replaced.found
}

/// Whether a macro may change what has this name: one of the program's own may do anything with it, and one that nobody knows, or what
/// declares one, with a field.
pub(super) fn may_change_in(library: &Library, mac: &syn::Macro, name: &str) -> bool {
    if !is_named_in(mac.tokens.clone(), name) {
        return false;
    }
    let names = names_in(&mac.tokens);
    let called = name_of_macro(mac);
    let is_known = arguments_of_macro(library, mac).is_some()
        || [Macros::Takes, Macros::Lists]
            .iter()
            .any(|one| library.says(&called, *one));
    names.contains("mut") || library.own().has(&called) || !is_known && has_field(mac.tokens.clone(), name)
}

/// Whether a name, or the number of a field, stands in code.
fn is_named_in(tokens: TokenStream, name: &str) -> bool {
    names_in(&tokens).contains(name) || has_field(tokens, name)
}

/// Whether a dot stands in front of a name, or of the number of a field: in `pair.0.1` these are one number.
fn has_field(tokens: TokenStream, name: &str) -> bool {
    let mut is_behind_dot = false;
    tokens.into_iter().any(|token| {
        let was = is_behind_dot;
        is_behind_dot = matches!(&token, TokenTree::Punct(one) if one.as_char() == '.');
        match token {
            TokenTree::Group(group) => has_field(group.stream(), name),
            TokenTree::Ident(one) => was && one == name,
            TokenTree::Literal(one) => was && one.to_string().split('.').any(|number| number == name),
            TokenTree::Punct(_) => false,
        }
    })
}

struct Replaced<'a> {
    library: &'a Library,
    watched: Watched<'a>,
    is_in_macro: bool,
    found: Option<Span>,
}

impl Replaced<'_> {
    fn note(&mut self, replaces: bool, at: &impl Spanned) {
        if replaces && self.found.is_none() {
            self.found = Some(at.span());
        }
    }
}

impl<'ast> Visit<'ast> for Replaced<'_> {
    fn visit_expr_assign(&mut self, one: &'ast syn::ExprAssign) {
        let replaces = assigned_places(&one.left).into_iter().any(|place| {
            // Through a reference it may be any of them.
            let is_behind = matches!(place, Expr::Unary(one) if matches!(one.op, UnOp::Deref(_)));
            is_behind || self.watched.is_or_has(place)
        });
        self.note(replaces, one);
        visit::visit_expr_assign(self, one);
    }

    fn visit_expr_call(&mut self, call: &'ast syn::ExprCall) {
        if self.is_in_macro || !self.watched.may_change_places(self.library, call) {
            self.note(exchanges(self.library, call), call);
            visit::visit_expr_call(self, call);
        }
    }

    fn visit_expr_reference(&mut self, one: &'ast syn::ExprReference) {
        self.note(one.mutability.is_some() && self.watched.is_or_has(&one.expr), one);
        visit::visit_expr_reference(self, one);
    }

    fn visit_expr_raw_addr(&mut self, one: &'ast syn::ExprRawAddr) {
        let is_mutable = matches!(one.mutability, syn::PointerMutability::Mut(_));
        self.note(is_mutable && self.watched.is_or_has(&one.expr), one);
        visit::visit_expr_raw_addr(self, one);
    }

    fn visit_expr_for_loop(&mut self, one: &'ast syn::ExprForLoop) {
        match &*one.expr {
            Expr::Reference(over) if self.watched.is(&over.expr) => {}
            over => self.visit_expr(over),
        }
        self.visit_pat(&one.pat);
        self.visit_block(&one.body);
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        let method = call.method.to_string();
        let exchanges = self.library.says(&method, DeviceMethods::Exchanges)
            || self.library.says(&method, Methods::TakesOut);
        let goes_over = self.library.says(&method, PlaceOf::Each);
        let replaces = self.watched.replacing().has(self.library, &method);
        self.note(
            (exchanges && !goes_over || replaces) && self.watched.is_or_has(&call.receiver),
            call,
        );
        let changes_content = self.library.says(&method, Types::DeviceCommands)
            || self.library.says(&method, DeviceMethods::Arguments);
        self.visit_expr(&call.receiver);
        for argument in &call.args {
            match argument {
                Expr::Reference(one) if changes_content && self.watched.is_or_has(&one.expr) => {}
                argument => self.visit_expr(argument),
            }
        }
    }

    fn visit_local(&mut self, local: &'ast syn::Local) {
        looked_at::local(self, local);
    }

    fn visit_expr_let(&mut self, one: &'ast syn::ExprLet) {
        looked_at::condition(self, one);
    }

    fn visit_expr_match(&mut self, one: &'ast syn::ExprMatch) {
        looked_at::branches(self, one);
    }

    fn visit_pat_struct(&mut self, pattern: &'ast syn::PatStruct) {
        let is_field = |field: &syn::FieldPat| matches!(self.watched, Watched::Field(watched) if field.member.to_token_stream().to_string() == watched.name);
        self.note(pattern.fields.iter().any(is_field), pattern);
        visit::visit_pat_struct(self, pattern);
    }

    fn visit_pat_tuple_struct(&mut self, pattern: &'ast syn::PatTupleStruct) {
        let last = last_name(&pattern.path);
        let takes = matches!(self.watched, Watched::Field(watched)
            if (last == watched.owner || last == "Self") && takes_field(pattern, watched.name));
        self.note(takes, pattern);
        visit::visit_pat_tuple_struct(self, pattern);
    }

    fn visit_pat_ident(&mut self, pattern: &'ast syn::PatIdent) {
        self.note(pattern.by_ref.is_some() && pattern.mutability.is_some(), pattern);
        visit::visit_pat_ident(self, pattern);
    }

    fn visit_macro(&mut self, mac: &'ast syn::Macro) {
        self.note(may_change_in(self.library, mac, self.watched.name()), mac);
        // What changes places there is followed by nobody.
        let before = std::mem::replace(&mut self.is_in_macro, true);
        for one in arguments_of_macro(self.library, mac).iter().flatten() {
            Visit::visit_expr(self, one);
        }
        self.is_in_macro = before;
    }
}
