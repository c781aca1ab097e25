//! Walks a function with what is in scope, and gives every variable its name.

use super::Hiding;
use super::body_items::{self, Item};
use crate::library::Library;
use crate::names::{LocalId, Locals, Origin, plain_text, spelling};
use crate::syntax::captured;
use crate::syntax::macros::{
    Arguments, arguments_before_text, arguments_of_macro, name_of_macro, repeated_in_list,
};
use crate::syntax::marks::Marks;
use crate::syntax::mentions::names_in;
use crate::syntax::origins::is_exclusive_type;
use crate::syntax::patterns::{bindings_where, binds_by_itself, is_likely_binding};
use crate::visit::{self, VisitMut};
use proc_macro2::{Group, Ident, Literal, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote};
use std::collections::{BTreeSet, HashMap, HashSet};
use syn::{Block, Expr, FnArg, ItemFn, Local, Member, Pat, PatIdent, Path};

/// The function with a name of its own for every variable. Nothing where variables that hide others are to keep these
/// names for good, and something that is not understood names one.
pub(super) fn resolve(
    library: &Library,
    calls: &[Path],
    function: &ItemFn,
    outer: &Locals,
    hiding: Hiding,
) -> Option<(ItemFn, Locals)> {
    let attempt = |reserved: BTreeSet<String>, for_good: BTreeSet<String>| {
        let mut taken: HashSet<String> = outer.names().map(plain_text).collect();
        words(function.to_token_stream(), &mut taken);
        let mut resolver = Resolver {
            library,
            hiding,
            called: calls.iter().filter_map(last_word).collect(),
            outer,
            taken,
            declared: HashSet::new(),
            free: HashSet::new(),
            constants: HashSet::new(),
            locals: with_items(outer, &reserved),
            reserved,
            for_good,
            hidden: BTreeSet::new(),
            scopes: vec![HashMap::new()],
            renamed: 0,
            fails: false,
        };
        let mut function = function.clone();
        resolver.function(&mut function);
        (function, resolver)
    };
    let (mut function, mut resolver) = attempt(BTreeSet::new(), BTreeSet::new());
    // What stands for something else at another place of the function: a constant, an item, an import.
    let mut reserved: BTreeSet<String> = resolver.free.intersection(&resolver.declared).cloned().collect();
    reserved.extend(resolver.hidden.iter().cloned());
    if !reserved.is_empty() {
        let hidden = resolver.hidden;
        (function, resolver) = attempt(reserved.clone(), hidden);
        if resolver.fails && hiding == Hiding::AsWritten {
            (function, resolver) = attempt(reserved, BTreeSet::new());
        }
    }
    let constants = resolver.constants.intersection(&resolver.free);
    for name in constants.collect::<BTreeSet<_>>() {
        let name = format_ident!("{name}");
        if resolver.locals.id(&name).is_none() {
            resolver.locals.add_item(&name);
        }
    }
    let found = (function, resolver.locals);
    (hiding == Hiding::AsWritten || !resolver.fails).then_some(found)
}

/// The table, in which what else has the name of a variable is another thing.
fn with_items(outer: &Locals, names: &BTreeSet<String>) -> Locals {
    let mut locals = outer.clone();
    for name in names {
        locals.add_item(&format_ident!("{name}"));
    }
    locals
}

/// All words in some tokens, also those in literals.
fn words(tokens: TokenStream, found: &mut HashSet<String>) {
    for token in tokens {
        match token {
            TokenTree::Group(group) => words(group.stream(), found),
            TokenTree::Ident(ident) => {
                found.insert(plain_text(&ident));
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
    path.segments.last().map(|last| spelling(&last.ident))
}

/// What a name stands for.
#[derive(Debug, Clone)]
enum Meaning {
    /// A variable, with what it is called now.
    Variable(Ident),
    /// What the body itself defines.
    Item(Item),
}

/// Whether a pattern may not match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Matching {
    Always,
    Perhaps,
}

struct Resolver<'l> {
    library: &'l Library,
    hiding: Hiding,
    /// The names of the calls that lead to sites.
    called: HashSet<String>,
    /// The variables of the function that this one has been taken out of.
    outer: &'l Locals,
    /// All words of the function, and the names that were given.
    taken: HashSet<String>,
    /// The names of the source that a variable has had.
    declared: HashSet<String>,
    /// The names that stand for no variable where they are.
    free: HashSet<String>,
    /// The constants that the body defines.
    constants: HashSet<String>,
    /// The names that no variable may keep.
    reserved: BTreeSet<String>,
    /// The names of variables that an item hides in a block.
    hidden: BTreeSet<String>,
    /// Those whose variables have another name for good, by which they can be saved at a site in such a block.
    for_good: BTreeSet<String>,
    /// What is in scope, by the names before.
    scopes: Vec<HashMap<String, Meaning>>,
    locals: Locals,
    /// How many names have been replaced.
    renamed: usize,
    /// Whether something could not be renamed for good.
    fails: bool,
}

impl Resolver<'_> {
    fn function(&mut self, function: &mut ItemFn) {
        for argument in &mut function.sig.inputs {
            match argument {
                FnArg::Receiver(receiver) => {
                    let name = Ident::new("self", receiver.self_token.span);
                    let id = self.bind(&name);
                    let local = self.locals.get_mut(id);
                    local.mutable = receiver.reference.is_none() && receiver.mutability.is_some();
                    local.exclusive = is_exclusive_type(&receiver.ty);
                }
                FnArg::Typed(typed) => {
                    let exclusive = is_exclusive_type(&typed.ty);
                    for id in self.declare(&mut typed.pat, Matching::Always) {
                        self.locals.get_mut(id).exclusive = exclusive;
                    }
                }
            }
        }
        self.visit_block_mut(&mut function.block);
    }

    fn meaning(&self, name: &str) -> Option<&Meaning> {
        self.scopes.iter().rev().find_map(|scope| scope.get(name))
    }

    fn known(&self, name: &str) -> Option<&Ident> {
        match self.meaning(name)? {
            Meaning::Variable(now) => Some(now),
            Meaning::Item(_) => None,
        }
    }

    /// What the variable of that name is called now, unless it has kept its name.
    fn other(&self, name: &str) -> Option<&Ident> {
        self.known(name).filter(|known| spelling(known) != name)
    }

    fn rename(&mut self, ident: &Ident) -> Option<Ident> {
        let mut other = self.other(&spelling(ident))?.clone();
        other.set_span(ident.span());
        self.renamed += 1;
        Some(other)
    }

    /// Brings the items of a block into scope.
    fn items(&mut self, stmts: &[syn::Stmt]) {
        for (name, item) in body_items::of(stmts) {
            if self.known(&name).is_some() {
                self.hidden.insert(name.clone());
            }
            if item == Item::Constant {
                self.constants.insert(name.clone());
            }
            if let Some(scope) = self.scopes.last_mut() {
                scope.insert(name, Meaning::Item(item));
            }
        }
    }

    /// Whether a name in a pattern is a variable. Where a pattern always matches, it can be nothing else but a constant that
    /// is known by that name; where it may not match, a capital speaks for one that is known elsewhere. A variable of the
    /// name would not be in scope there.
    fn is_variable(&self, one: &PatIdent, matching: Matching) -> bool {
        let constant = |item: &Item| *item == Item::Constant;
        binds_by_itself(one)
            || match (self.meaning(&spelling(&one.ident)), matching) {
                (Some(Meaning::Item(item)), _) if constant(item) => false,
                (Some(Meaning::Variable(_)), _) | (_, Matching::Always) => true,
                _ => is_likely_binding(one) || self.outer.is_variable(&one.ident),
            }
    }

    fn within(&mut self, walk: impl FnOnce(&mut Self)) {
        self.scopes.push(HashMap::new());
        walk(self);
        self.scopes.pop();
    }

    /// Whether the pattern of a `let` always matches. In `let Unit = Unit;` it is what it is given, where that is no variable.
    fn matching(&self, local: &Local) -> Matching {
        let is_item = |value: &Expr, name: &PatIdent| {
            matches!(value, Expr::Path(path) if path.path.is_ident(&name.ident))
                && self.known(&spelling(&name.ident)).is_none()
        };
        match (&local.init, &local.pat) {
            (Some(init), _) if init.diverge.is_some() => Matching::Perhaps,
            (Some(init), Pat::Ident(name)) if is_item(&init.expr, name) => Matching::Perhaps,
            _ => Matching::Always,
        }
    }

    /// Brings the variables of a pattern into scope.
    fn declare(&mut self, pattern: &mut Pat, matching: Matching) -> Vec<LocalId> {
        let bound = bindings_where(pattern, &|one| self.is_variable(one, matching));
        let mut own = HashMap::new();
        let mut ids = Vec::new();
        for one in bound {
            let id = self.bind(&one.ident);
            self.locals.get_mut(id).mutable |= one.mutability.is_some();
            own.insert(spelling(&one.ident), self.locals.name(id).clone());
            ids.push(id);
        }
        Bound { resolver: self, own }.visit_pat_mut(pattern);
        ids
    }

    fn bind(&mut self, ident: &Ident) -> LocalId {
        let name = spelling(ident);
        let hides = self.known(&name).is_some();
        let is_new = self.declared.insert(name.clone()) && !self.reserved.contains(&name);
        let keeps = self.locals.is_synthetic(ident) || self.called.contains(&name);
        let own = match (hides, is_new) {
            _ if keeps => ident.clone(),
            (true, _) => self.fresh(ident, "_"),
            (false, true) => ident.clone(),
            // A name for good is read by rustc, which takes one underscore between words.
            (false, false) if self.for_good.contains(&name) => self.fresh(ident, "_"),
            (false, false) => self.fresh(ident, "__"),
        };
        let written = match self.hiding {
            Hiding::Renamed if hides => own.clone(),
            _ if self.for_good.contains(&name) => own.clone(),
            _ => self.locals.written(ident),
        };
        let id = self.locals.add(&own, &written, Origin::User);
        self.locals.get_mut(id).is_item = false;
        if is_new || !keeps {
            // It may have been another function's, whose parameter it is here.
            let local = self.locals.get_mut(id);
            (local.mutable, local.exclusive) = (false, false);
        }
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name, Meaning::Variable(own));
        }
        id
    }

    fn fresh(&mut self, ident: &Ident, between: &str) -> Ident {
        let plain = plain_text(ident);
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
            Some(plain_text(other))
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
                    let other = |name: &str| self.other(name).map(plain_text);
                    let renamed = captured::renamed(&literal, &other);
                    self.renamed += usize::from(renamed.is_some());
                    self.fails |= renamed.is_some() && self.renames_for_good();
                    TokenTree::Literal(renamed.unwrap_or(literal))
                }
                other => other,
            }]);
            before = next;
        }
        out
    }

    /// Whether some names do not come back.
    fn renames_for_good(&self) -> bool {
        self.hiding == Hiding::Renamed || !self.for_good.is_empty()
    }

    /// Whether what the variable of that name is called now is its name for good.
    fn keeps(&self, name: &Ident) -> bool {
        let other = self.other(&spelling(name));
        other.is_some_and(|other| self.locals.written(other) == *other)
    }
}

impl VisitMut for Resolver<'_> {
    fn visit_block_mut(&mut self, block: &mut Block) {
        self.within(|resolver| {
            resolver.items(&block.stmts);
            visit::visit_block_mut(resolver, block);
        });
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
        let matching = self.matching(local);
        self.declare(&mut local.pat, matching);
    }

    fn visit_expr_let_mut(&mut self, one: &mut syn::ExprLet) {
        self.visit_expr_mut(&mut one.expr);
        self.declare(&mut one.pat, Matching::Perhaps);
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
            resolver.declare(&mut one.pat, Matching::Always);
            resolver.visit_block_mut(&mut one.body);
        });
    }

    fn visit_arm_mut(&mut self, arm: &mut syn::Arm) {
        self.within(|resolver| {
            resolver.declare(&mut arm.pat, Matching::Perhaps);
            if let Some((_, guard)) = &mut arm.guard {
                resolver.visit_expr_mut(guard);
            }
            resolver.visit_expr_mut(&mut arm.body);
        });
    }

    fn visit_expr_closure_mut(&mut self, closure: &mut syn::ExprClosure) {
        self.within(|resolver| {
            for input in &mut closure.inputs {
                resolver.declare(input, Matching::Always);
            }
            resolver.visit_expr_mut(&mut closure.body);
        });
    }

    fn visit_field_value_mut(&mut self, field: &mut syn::FieldValue) {
        let was_short = field.colon_token.is_none();
        visit::visit_field_value_mut(self, field);
        if was_short
            && let Expr::Path(one) = &field.expr
            && let Some(name) = one.path.get_ident()
        {
            Self::shorthand(name, &field.member, &mut field.colon_token);
        }
    }

    fn visit_expr_path_mut(&mut self, one: &mut syn::ExprPath) {
        if one.qself.is_none()
            && let Some(ident) = one.path.get_ident()
        {
            if self.known(&spelling(ident)).is_none() {
                self.free.insert(spelling(ident));
            }
            if let Some(other) = self.rename(ident) {
                one.path = other.into();
            }
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
    /// `S { x }`, where `x` is called otherwise now: the name is written out. When the source's names come back, it is as
    /// it was.
    fn shorthand(name: &Ident, field: &Member, colon: &mut Option<syn::Token![:]>) {
        if !matches!(field, Member::Named(field) if field == name) {
            *colon = Some(syn::Token![:](proc_macro2::Span::mixed_site()));
        }
    }
}

/// Gives the variables of a pattern their names.
struct Bound<'r, 'l> {
    resolver: &'r mut Resolver<'l>,
    own: HashMap<String, Ident>,
}

impl VisitMut for Bound<'_, '_> {
    fn visit_pat_ident_mut(&mut self, one: &mut PatIdent) {
        let name = spelling(&one.ident);
        match self.own.get(&name) {
            Some(own) if spelling(own) != name => {
                let span = one.ident.span();
                one.ident = own.clone();
                one.ident.set_span(span);
                self.resolver.renamed += 1;
            }
            Some(_) => {}
            None => {
                self.resolver.free.insert(name);
            }
        }
        visit::visit_pat_ident_mut(self, one);
    }

    fn visit_field_pat_mut(&mut self, field: &mut syn::FieldPat) {
        let was_short = field.colon_token.is_none();
        visit::visit_field_pat_mut(self, field);
        if was_short && let Pat::Ident(one) = &*field.pat {
            Resolver::shorthand(&one.ident, &field.member, &mut field.colon_token);
        }
    }

    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        self.resolver.visit_expr_mut(expr);
    }

    fn visit_macro_mut(&mut self, mac: &mut syn::Macro) {
        self.resolver.visit_macro_mut(mac);
    }
}
