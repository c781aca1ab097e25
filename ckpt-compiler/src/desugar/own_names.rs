//! A name of its own for every variable that hides another: what is hidden cannot be named, and a borrow that ended at a
//! site is made again by name.

use crate::library::Library;
use crate::syntax::macros::{Arguments, arguments_before_text, arguments_of_macro, repeated_in_list};
use crate::syntax::marks::Marks;
use crate::syntax::mentions::names_in;
use crate::syntax::patterns::is_binding;
use crate::syntax::patterns::pattern_bindings;
use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote};
use std::collections::{BTreeSet, HashMap, HashSet};
use syn::visit_mut::{self, VisitMut};
use syn::{Block, Expr, FnArg, ItemFn, Local, Pat, PatIdent};

/// Gives the names; where it cannot be done everywhere, nothing is changed.
pub fn give(library: &Library, function: &mut ItemFn) {
    let mut renamed = function.clone();
    let mut namer = Namer {
        library,
        taken: names_in(&function.to_token_stream()),
        scopes: vec![HashMap::new()],
        fails: false,
    };
    for argument in &mut renamed.sig.inputs {
        if let FnArg::Typed(typed) = argument {
            namer.declare(&mut typed.pat);
        }
    }
    namer.visit_block_mut(&mut renamed.block);
    if !namer.fails {
        *function = renamed;
    }
}

struct Namer<'l> {
    library: &'l Library,
    /// All names of the function.
    taken: HashSet<String>,
    /// What the variables in scope are called now.
    scopes: Vec<HashMap<String, Ident>>,
    /// Whether something could not be renamed.
    fails: bool,
}

impl Namer<'_> {
    fn known(&self, name: &str) -> Option<&Ident> {
        self.scopes.iter().rev().find_map(|scope| scope.get(name))
    }

    /// The other name of a variable.
    fn other(&self, ident: &Ident) -> Option<Ident> {
        let known = self.known(&ident.to_string()).filter(|known| *known != ident)?;
        let mut known = known.clone();
        known.set_span(ident.span());
        Some(known)
    }

    fn within(&mut self, walk: impl FnOnce(&mut Self)) {
        self.scopes.push(HashMap::new());
        walk(self);
        self.scopes.pop();
    }

    /// Brings the variables of a pattern into scope.
    fn declare(&mut self, pattern: &mut Pat) {
        for one in pattern_bindings(pattern) {
            let name = one.ident.to_string();
            let own = match self.known(&name) {
                Some(_) => self.fresh(&one.ident),
                None => one.ident,
            };
            if let Some(scope) = self.scopes.last_mut() {
                scope.insert(name, own);
            }
        }
        self.visit_pat_mut(pattern);
    }

    fn fresh(&mut self, ident: &Ident) -> Ident {
        let plain = ident.to_string().trim_start_matches("r#").to_owned();
        let mut number = 2u32;
        let is_taken = |taken: &HashSet<String>, number: u32| taken.contains(&format!("{plain}_{number}"));
        while is_taken(&self.taken, number) {
            number += 1;
        }
        self.taken.insert(format!("{plain}_{number}"));
        format_ident!("{}_{}", plain, number, span = ident.span())
    }

    /// The captures of a format string that have another name are given as arguments: `a = a_2`.
    fn captures(&self, text: &str) -> Vec<Expr> {
        let others = captures(text).into_iter().filter_map(|name| {
            let ident = syn::parse_str::<Ident>(&name).ok()?;
            let other = self.known(&name).filter(|known| **known != ident)?;
            Some(syn::parse_quote!(#ident = #other))
        });
        others.collect()
    }

    /// The arguments of a macro that formats or takes expressions.
    fn arguments(&mut self, name: &str, arguments: &mut Arguments) {
        let mut given = HashSet::new();
        let mut format = None;
        for (index, argument) in arguments.iter_mut().enumerate() {
            match argument {
                Expr::Assign(named) => {
                    given.extend(names_in(&named.left.to_token_stream()));
                    self.visit_expr_mut(&mut named.right);
                }
                Expr::Lit(literal)
                    if format.is_none() && index >= arguments_before_text(self.library, name) =>
                {
                    if let syn::Lit::Str(text) = &literal.lit {
                        format = Some(text.value());
                    }
                }
                other => self.visit_expr_mut(other),
            }
        }
        let is_given = |one: &Expr| matches!(one, Expr::Assign(named) if !given.is_disjoint(&names_in(&named.left.to_token_stream())));
        let added = self.captures(&format.unwrap_or_default());
        arguments.extend(added.into_iter().filter(|one| !is_given(one)));
    }
}

/// The variables that a format string captures.
fn captures(text: &str) -> BTreeSet<String> {
    let is_name = |part: &str| part.starts_with(|c: char| c.is_alphabetic() || c == '_');
    let text = text.replace("{{", "");
    let mut found = BTreeSet::new();
    for piece in text.split('{').skip(1) {
        let inside = piece.split('}').next().unwrap_or_default();
        let (argument, how) = inside.split_once(':').unwrap_or((inside, ""));
        let mut sizes: Vec<&str> = how.split('$').collect();
        sizes.pop();
        let sizes = sizes.iter().map(|size| {
            let start = size.rfind(|c: char| !c.is_alphanumeric() && c != '_');
            &size[start.map_or(0, |at| at + 1)..]
        });
        found.extend(
            sizes
                .chain([argument.trim()])
                .filter(|name| is_name(name))
                .map(str::to_owned),
        );
    }
    found
}

impl VisitMut for Namer<'_> {
    fn visit_block_mut(&mut self, block: &mut Block) {
        self.within(|namer| visit_mut::visit_block_mut(namer, block));
    }

    fn visit_item_mut(&mut self, item: &mut syn::Item) {
        // What a macro of the body names is resolved where it is defined.
        self.fails |= matches!(item, syn::Item::Macro(_));
    }

    fn visit_local_mut(&mut self, local: &mut Local) {
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
        self.within(|namer| {
            namer.visit_expr_mut(&mut branch.cond);
            namer.visit_block_mut(&mut branch.then_branch);
        });
        if let Some((_, otherwise)) = &mut branch.else_branch {
            self.visit_expr_mut(otherwise);
        }
    }

    fn visit_expr_while_mut(&mut self, one: &mut syn::ExprWhile) {
        self.within(|namer| {
            namer.visit_expr_mut(&mut one.cond);
            namer.visit_block_mut(&mut one.body);
        });
    }

    fn visit_expr_for_loop_mut(&mut self, one: &mut syn::ExprForLoop) {
        self.visit_expr_mut(&mut one.expr);
        self.within(|namer| {
            namer.declare(&mut one.pat);
            namer.visit_block_mut(&mut one.body);
        });
    }

    fn visit_arm_mut(&mut self, arm: &mut syn::Arm) {
        self.within(|namer| {
            namer.declare(&mut arm.pat);
            if let Some((_, guard)) = &mut arm.guard {
                namer.visit_expr_mut(guard);
            }
            namer.visit_expr_mut(&mut arm.body);
        });
    }

    fn visit_expr_closure_mut(&mut self, closure: &mut syn::ExprClosure) {
        self.within(|namer| {
            closure.inputs.iter_mut().for_each(|input| namer.declare(input));
            namer.visit_expr_mut(&mut closure.body);
        });
    }

    fn visit_pat_ident_mut(&mut self, one: &mut PatIdent) {
        if is_binding(one)
            && let Some(other) = self.other(&one.ident)
        {
            one.ident = other;
        }
        visit_mut::visit_pat_ident_mut(self, one);
    }

    fn visit_field_pat_mut(&mut self, field: &mut syn::FieldPat) {
        let was_short = field.colon_token.is_none();
        visit_mut::visit_field_pat_mut(self, field);
        let is_name = matches!((&*field.pat, &field.member), (Pat::Ident(one), syn::Member::Named(name)) if one.ident == *name);
        if was_short && !is_name {
            field.colon_token = Some(syn::Token![:](proc_macro2::Span::mixed_site()));
        }
    }

    fn visit_field_value_mut(&mut self, field: &mut syn::FieldValue) {
        let was_short = field.colon_token.is_none();
        visit_mut::visit_field_value_mut(self, field);
        let is_name = matches!((&field.expr, &field.member), (Expr::Path(one), syn::Member::Named(name)) if one.path.is_ident(name));
        if was_short && !is_name {
            field.colon_token = Some(syn::Token![:](proc_macro2::Span::mixed_site()));
        }
    }

    fn visit_expr_path_mut(&mut self, one: &mut syn::ExprPath) {
        if let Some(ident) = one.path.get_ident()
            && let Some(other) = self.other(ident)
        {
            one.path = other.into();
        }
    }

    fn visit_macro_mut(&mut self, mac: &mut syn::Macro) {
        if Marks::is_checkpoint(mac) {
            return;
        }
        let name = mac.path.segments.last().map(|last| last.ident.to_string());
        let name = name.unwrap_or_default();
        if let Some(mut arguments) = arguments_of_macro(self.library, mac) {
            self.arguments(&name, &mut arguments);
            mac.tokens = arguments.into_token_stream();
        } else if let Some((mut item, mut count)) = repeated_in_list(self.library, mac) {
            self.visit_expr_mut(&mut item);
            self.visit_expr_mut(&mut count);
            mac.tokens = quote!(#item; #count);
        } else {
            let is_renamed = |name: &String| self.known(name).is_some_and(|known| known != name);
            self.fails |= names_in(&mac.tokens).iter().any(is_renamed)
                || literals(&mac.tokens)
                    .iter()
                    .any(|text| !self.captures(text).is_empty());
        }
    }
}

/// The texts among some tokens.
fn literals(tokens: &TokenStream) -> Vec<String> {
    let of_token = |token: TokenTree| match token {
        TokenTree::Group(group) => literals(&group.stream()),
        TokenTree::Literal(literal) => vec![literal.to_string()],
        _ => Vec::new(),
    };
    tokens.clone().into_iter().flat_map(of_token).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use syn::parse_quote;

    fn named(mut function: ItemFn) -> String {
        give(Library::builtin(), &mut function);
        function.block.to_token_stream().to_string()
    }

    #[test]
    fn what_hides_another_variable_has_a_name_of_its_own() {
        let text = named(parse_quote! {
            fn f(a: u64) {
                let b = a;
                let a = a + 1;
                for b in 0..a {
                    let S { a, c: b } = S { a, c: b };
                    println!("{a} {b:>a$} {:e} {{a}} {a2}", x.a, a2 = a);
                }
                match b { b if b > a => f(|a| a + b), _ => drop(vec![a; b]) }
            }
        });
        let expected = quote! {{
            let b = a;
            let a_2 = a + 1;
            for b_2 in 0..a_2 {
                let S { a: a_3, c: b_3 } = S { a: a_2, c: b_2 };
                println!("{a} {b:>a$} {:e} {{a}} {a2}", x.a, a2 = a_3, a = a_3, b = b_3);
            }
            match b { b_4 if b_4 > a_2 => f(|a_4| a_4 + b_4), _ => drop(vec![a_2; b]) }
        }};
        assert_eq!(text, expected.to_string());
    }

    #[test]
    fn what_an_unknown_macro_names_cannot_be_renamed() {
        let function: ItemFn = parse_quote! { fn f() { let a = 1; let a = 2; unknown!(a); } };
        assert_eq!(
            named(function.clone()),
            function.block.to_token_stream().to_string()
        );
    }
}
