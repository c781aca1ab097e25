//! Walks a function with what is in scope, and gives every variable its name.

use super::{Hiding, Shorthands};
use crate::library::Library;
use crate::names::{LocalId, Locals, Origin};
use crate::syntax::captured;
use crate::syntax::macros::{
    Arguments, arguments_before_text, arguments_of_macro, name_of_macro, repeated_in_list,
};
use crate::syntax::marks::Marks;
use crate::syntax::mentions::names_in;
use crate::syntax::origins::is_exclusive_type;
use crate::syntax::patterns::{is_binding, pattern_bindings};
use proc_macro2::{Group, Ident, Literal, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote};
use std::collections::{HashMap, HashSet};
use syn::visit_mut::{self, VisitMut};
use syn::{Block, Expr, FnArg, ItemFn, Local, Member, Pat, PatIdent, Path};

/// The function with a name of its own for every variable. Nothing where variables that hide others are to keep these
/// names for good, and something that is not understood names one.
pub(super) fn resolve(
    library: &Library,
    calls: &[Path],
    function: &ItemFn,
    outer: &Locals,
    (hiding, shorthands): (Hiding, Shorthands),
) -> Option<(ItemFn, Locals)> {
    let mut taken: HashSet<String> = outer.names().map(plain).collect();
    words(function.to_token_stream(), &mut taken);
    let mut resolver = Resolver {
        library,
        hiding,
        shorthands,
        called: calls.iter().filter_map(last_word).collect(),
        taken,
        declared: HashSet::new(),
        scopes: vec![HashMap::new()],
        locals: outer.clone(),
        renamed: 0,
        fails: false,
    };
    let mut function = function.clone();
    for argument in &mut function.sig.inputs {
        match argument {
            FnArg::Receiver(receiver) => {
                let name = Ident::new("self", receiver.self_token.span);
                let id = resolver.bind(&name);
                let local = resolver.locals.get_mut(id);
                local.mutable = receiver.reference.is_none() && receiver.mutability.is_some();
                local.exclusive = is_exclusive_type(&receiver.ty);
            }
            FnArg::Typed(typed) => {
                let exclusive = is_exclusive_type(&typed.ty);
                resolver.declare(&mut typed.pat);
                for one in pattern_bindings(&typed.pat) {
                    if let Some(id) = resolver.locals.id(&one.ident) {
                        resolver.locals.get_mut(id).exclusive = exclusive;
                    }
                }
            }
        }
    }
    resolver.visit_block_mut(&mut function.block);
    let found = (function, resolver.locals);
    (!resolver.fails).then_some(found)
}

/// All words in some tokens, also those in literals.
fn words(tokens: TokenStream, found: &mut HashSet<String>) {
    for token in tokens {
        match token {
            TokenTree::Group(group) => words(group.stream(), found),
            TokenTree::Ident(ident) => {
                found.insert(plain(&ident));
            }
            TokenTree::Literal(literal) => {
                let text = literal.to_string();
                let words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
                found.extend(words.map(str::to_owned));
            }
            TokenTree::Punct(_) => {}
        }
    }
}

fn last_word(path: &Path) -> Option<String> {
    path.segments.last().map(|last| last.ident.to_string())
}

/// A name without `r#`.
fn plain(name: &Ident) -> String {
    name.to_string().trim_start_matches("r#").to_owned()
}

struct Resolver<'l> {
    library: &'l Library,
    hiding: Hiding,
    shorthands: Shorthands,
    /// The names of the calls that lead to sites.
    called: HashSet<String>,
    /// All words of the function, and the names that were given.
    taken: HashSet<String>,
    /// The names of the source that a variable has had.
    declared: HashSet<String>,
    /// What the variables in scope are called now, by their names before.
    scopes: Vec<HashMap<String, Ident>>,
    locals: Locals,
    /// How many names have been replaced.
    renamed: usize,
    /// Whether something could not be renamed for good.
    fails: bool,
}

impl Resolver<'_> {
    fn known(&self, name: &str) -> Option<&Ident> {
        self.scopes.iter().rev().find_map(|scope| scope.get(name))
    }

    /// What the variable of that name is called now, unless it has kept its name.
    fn other(&self, name: &str) -> Option<&Ident> {
        self.known(name).filter(|known| *known != name)
    }

    fn rename(&mut self, ident: &Ident) -> Option<Ident> {
        let mut other = self.other(&ident.to_string())?.clone();
        other.set_span(ident.span());
        self.renamed += 1;
        Some(other)
    }

    fn within(&mut self, walk: impl FnOnce(&mut Self)) {
        self.scopes.push(HashMap::new());
        walk(self);
        self.scopes.pop();
    }

    /// Brings the variables of a pattern into scope.
    fn declare(&mut self, pattern: &mut Pat) {
        for one in pattern_bindings(pattern) {
            let id = self.bind(&one.ident);
            self.locals.get_mut(id).mutable |= one.mutability.is_some();
        }
        self.visit_pat_mut(pattern);
    }

    fn bind(&mut self, ident: &Ident) -> LocalId {
        let name = ident.to_string();
        let hides = self.known(&name).is_some();
        let is_new = self.declared.insert(name.clone());
        let keeps = self.locals.is_synthetic(ident) || self.called.contains(&name);
        let own = match (hides, is_new) {
            _ if keeps => ident.clone(),
            (true, _) => self.fresh(ident, "_"),
            (false, true) => ident.clone(),
            (false, false) => self.fresh(ident, "__"),
        };
        let written = match self.hiding {
            Hiding::Renamed if hides => own.clone(),
            _ => self.locals.written(ident),
        };
        let id = self.locals.add(&own, &written, Origin::User);
        if is_new || !keeps {
            // It may have been another function's, whose parameter it is here.
            let local = self.locals.get_mut(id);
            (local.mutable, local.exclusive) = (false, false);
        }
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name, own);
        }
        id
    }

    fn fresh(&mut self, ident: &Ident, between: &str) -> Ident {
        let plain = plain(ident);
        let mut number = 2u32;
        while self.taken.contains(&format!("{plain}{between}{number}")) {
            number += 1;
        }
        self.taken.insert(format!("{plain}{between}{number}"));
        format_ident!("{}{}{}", plain, between, number, span = ident.span())
    }

    /// The arguments of a macro that formats or takes expressions.
    fn arguments(&mut self, name: &str, arguments: &mut Arguments) {
        let mut given = HashSet::new();
        for argument in arguments.iter() {
            if let Expr::Assign(named) = argument {
                given.extend(names_in(&named.left.to_token_stream()));
            }
        }
        let mut format_string = true;
        for (index, argument) in arguments.iter_mut().enumerate() {
            match argument {
                Expr::Assign(named) => self.visit_expr_mut(&mut named.right),
                Expr::Lit(literal) if format_string && index >= arguments_before_text(self.library, name) => {
                    if let syn::Lit::Str(text) = &mut literal.lit {
                        format_string = false;
                        let renamed = self.captured(&text.token(), &given);
                        renamed.into_iter().for_each(|one| *text = one);
                    }
                }
                other => self.visit_expr_mut(other),
            }
        }
    }

    /// A format string with what its captures are called now, but for those that it is given by name.
    fn captured(&mut self, literal: &Literal, given: &HashSet<String>) -> Option<syn::LitStr> {
        let other = |name: &str| {
            let other = self.other(name).filter(|_| !given.contains(name))?;
            Some(other.to_string())
        };
        let renamed = captured::renamed(literal, &other)?;
        self.renamed += 1;
        syn::parse2(TokenTree::Literal(renamed).into()).ok()
    }

    /// Tokens of unknown meaning with what the variables that they may name are called now.
    fn unknown(&mut self, tokens: TokenStream) -> TokenStream {
        let mut before = ' ';
        let mut out = TokenStream::new();
        for token in tokens {
            let next = match &token {
                TokenTree::Punct(one) => match (before, one.as_char()) {
                    // `..x` is a range, and no field; `::x` is no variable.
                    ('.' | 'r', '.') => 'r',
                    (':', ':') => 'p',
                    (_, other) => other,
                },
                _ => ' ',
            };
            out.extend([match token {
                TokenTree::Group(group) => {
                    let mut inner = Group::new(group.delimiter(), self.unknown(group.stream()));
                    inner.set_span(group.span());
                    TokenTree::Group(inner)
                }
                TokenTree::Ident(ident) if !matches!(before, '.' | '$' | '\'' | 'p') => {
                    let other = self.rename(&ident);
                    self.fails |= other.is_some() && self.keeps(&ident);
                    TokenTree::Ident(other.unwrap_or(ident))
                }
                TokenTree::Literal(literal) => {
                    let other = |name: &str| self.other(name).map(ToString::to_string);
                    let renamed = captured::renamed(&literal, &other);
                    self.renamed += usize::from(renamed.is_some());
                    self.fails |= renamed.is_some() && self.hiding == Hiding::Renamed;
                    TokenTree::Literal(renamed.unwrap_or(literal))
                }
                other => other,
            }]);
            before = next;
        }
        out
    }

    /// Whether what the variable of that name is called now is its name for good.
    fn keeps(&self, name: &Ident) -> bool {
        let other = self.other(&name.to_string());
        other.is_some_and(|other| self.locals.written(other) == *other)
    }
}

impl VisitMut for Resolver<'_> {
    fn visit_block_mut(&mut self, block: &mut Block) {
        self.within(|resolver| visit_mut::visit_block_mut(resolver, block));
    }

    fn visit_item_mut(&mut self, item: &mut syn::Item) {
        // Of the items in a body only a macro sees its variables: those in scope where it is defined.
        if let syn::Item::Macro(one) = item {
            self.fails |= self.hiding == Hiding::Renamed;
            one.mac.tokens = self.unknown(std::mem::take(&mut one.mac.tokens));
        }
    }

    fn visit_local_mut(&mut self, local: &mut Local) {
        local
            .attrs
            .iter_mut()
            .for_each(|one| self.visit_attribute_mut(one));
        if let Some(init) = &mut local.init {
            self.visit_expr_mut(&mut init.expr);
            if let Some((_, diverge)) = &mut init.diverge {
                self.visit_expr_mut(diverge);
            }
        }
        self.declare(&mut local.pat);
    }

    fn visit_expr_let_mut(&mut self, one: &mut syn::ExprLet) {
        self.visit_expr_mut(&mut one.expr);
        self.declare(&mut one.pat);
    }

    fn visit_expr_if_mut(&mut self, branch: &mut syn::ExprIf) {
        self.within(|resolver| {
            resolver.visit_expr_mut(&mut branch.cond);
            resolver.visit_block_mut(&mut branch.then_branch);
        });
        if let Some((_, otherwise)) = &mut branch.else_branch {
            self.visit_expr_mut(otherwise);
        }
    }

    fn visit_expr_while_mut(&mut self, one: &mut syn::ExprWhile) {
        self.within(|resolver| {
            resolver.visit_expr_mut(&mut one.cond);
            resolver.visit_block_mut(&mut one.body);
        });
    }

    fn visit_expr_for_loop_mut(&mut self, one: &mut syn::ExprForLoop) {
        self.visit_expr_mut(&mut one.expr);
        self.within(|resolver| {
            resolver.declare(&mut one.pat);
            resolver.visit_block_mut(&mut one.body);
        });
    }

    fn visit_arm_mut(&mut self, arm: &mut syn::Arm) {
        self.within(|resolver| {
            resolver.declare(&mut arm.pat);
            if let Some((_, guard)) = &mut arm.guard {
                resolver.visit_expr_mut(guard);
            }
            resolver.visit_expr_mut(&mut arm.body);
        });
    }

    fn visit_expr_closure_mut(&mut self, closure: &mut syn::ExprClosure) {
        self.within(|resolver| {
            closure
                .inputs
                .iter_mut()
                .for_each(|input| resolver.declare(input));
            resolver.visit_expr_mut(&mut closure.body);
        });
    }

    fn visit_pat_ident_mut(&mut self, one: &mut PatIdent) {
        if is_binding(one)
            && let Some(other) = self.rename(&one.ident)
        {
            one.ident = other;
        }
        visit_mut::visit_pat_ident_mut(self, one);
    }

    fn visit_field_pat_mut(&mut self, field: &mut syn::FieldPat) {
        let was_short = field.colon_token.is_none();
        visit_mut::visit_field_pat_mut(self, field);
        if was_short && let Pat::Ident(one) = &*field.pat {
            self.shorthand(&one.ident, &mut field.member, &mut field.colon_token);
        }
    }

    fn visit_field_value_mut(&mut self, field: &mut syn::FieldValue) {
        let was_short = field.colon_token.is_none();
        visit_mut::visit_field_value_mut(self, field);
        if was_short
            && let Expr::Path(one) = &field.expr
            && let Some(name) = one.path.get_ident()
        {
            self.shorthand(name, &mut field.member, &mut field.colon_token);
        }
    }

    fn visit_expr_path_mut(&mut self, one: &mut syn::ExprPath) {
        if let Some(ident) = one.path.get_ident()
            && let Some(other) = self.rename(ident)
        {
            one.path = other.into();
        }
    }

    /// `#[ckpt(refill(&mut grid))]`
    fn visit_attribute_mut(&mut self, attribute: &mut syn::Attribute) {
        if let syn::Meta::List(list) = &mut attribute.meta
            && list.path.is_ident("ckpt")
        {
            let arguments = std::mem::take(&mut list.tokens).into_iter();
            let renamed = arguments.map(|token| match token {
                TokenTree::Group(_) => self.unknown(token.into()),
                word => word.into(),
            });
            list.tokens = renamed.collect();
        }
    }

    fn visit_macro_mut(&mut self, mac: &mut syn::Macro) {
        if Marks::is_checkpoint(mac) {
            return;
        }
        let name = name_of_macro(mac);
        let before = self.renamed;
        let tokens = if let Some(mut arguments) = arguments_of_macro(self.library, mac) {
            self.arguments(&name, &mut arguments);
            arguments.into_token_stream()
        } else if let Some((mut item, mut count)) = repeated_in_list(self.library, mac) {
            self.visit_expr_mut(&mut item);
            self.visit_expr_mut(&mut count);
            quote!(#item; #count)
        } else {
            self.unknown(mac.tokens.clone())
        };
        // What is as it was keeps its spaces.
        if self.renamed > before {
            mac.tokens = tokens;
        }
    }
}

impl Resolver<'_> {
    /// `S { x }`, where `x` is called otherwise now: the name is written out if that is for good, or nothing is emitted.
    /// Else the field is called so as well until the source's names come back.
    fn shorthand(&self, name: &Ident, field: &mut Member, colon: &mut Option<syn::Token![:]>) {
        if matches!(field, Member::Named(field) if field == name) {
            return;
        }
        match self.shorthands == Shorthands::WrittenOut || self.locals.written(name) == *name {
            true => *colon = Some(syn::Token![:](proc_macro2::Span::mixed_site())),
            false => *field = Member::Named(name.clone()),
        }
    }
}
