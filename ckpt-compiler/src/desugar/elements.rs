//! Calls with sites behind them that are made on an element: `for body in bodies.iter_mut() { body.advance(dt) }`.
//!
//! While such a call lasts, a site must see the other elements, so the call is made on the place, `bodies[index]`, of which
//! the plan knows how to look at the rest; the reference ends for the call and is taken again after it. The same goes for
//! `let body = &mut bodies[index];`.

use super::changes::change;
use crate::library::{Adaptor, Library, Methods, PlaceOf};
use crate::names::{Kind, Names, spelling};
use crate::syntax::marks::Marks;
use crate::syntax::mentions::{Declared, locals_in, names_in};
use crate::syntax::purity::is_pure;
use crate::visit::{self, Visit, VisitMut};
use proc_macro2::Ident;
use quote::ToTokens;
use syn::{Block, Expr, ExprForLoop, ItemFn, Local, Pat, Stmt, UnOp, parse_quote};

/// Rewrites such loops and calls of a function.
pub fn name(function: &mut ItemFn, marks: Marks<'_>, names: &Names) {
    let mut rewriter = Rewriter { marks, names };
    rewriter.visit_block_mut(&mut function.block);
    AsPlaces(marks).visit_block_mut(&mut function.block);
}

struct Rewriter<'a> {
    marks: Marks<'a>,
    names: &'a Names,
}

impl VisitMut for Rewriter<'_> {
    fn visit_block_mut(&mut self, block: &mut Block) {
        for at in 0..block.stmts.len() {
            let (before, after) = block.stmts.split_at_mut(at + 1);
            if let Stmt::Local(local) = &before[at]
                && let Some((name, place)) = borrowed_part(self.marks.library, local)
                && !self.index_changes(place, self.up_to_last_call(name, after))
            {
                self.call_on_the_place(name, place, after);
            }
        }
        visit::visit_block_mut(self, block);
    }

    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        if let Expr::ForLoop(one) = expr
            && self.marks.in_block(&one.body)
            && let Some(counted) = self.by_index(one)
        {
            *expr = counted;
        }
        visit::visit_expr_mut(self, expr);
    }

    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}

impl Rewriter<'_> {
    /// Goes over the indices, where an element is an operand of a marked call.
    fn by_index(&self, one: &ExprForLoop) -> Option<Expr> {
        let mut iterable = (*one.expr).clone();
        let mut pattern = (*one.pat).clone();
        let (list, name) = root_of(self.marks.library, &mut iterable, &mut pattern, self.names)?;
        let index = self.names.beside(Kind::Index, &name);
        let place: Expr = parse_quote!(#list[#index]);
        let mut body = one.body.clone();
        if !self.call_on_the_place(&name, &place, &mut body.stmts) {
            return None;
        }
        let element: Stmt = parse_quote! {
            #[allow(unused_variables)]
            let #name = &mut #place;
        };
        body.stmts.insert(0, element);
        let counted = ExprForLoop {
            expr: Box::new(iterable),
            pat: Box::new(pattern),
            body,
            ..one.clone()
        };
        let count = self.names.beside(Kind::Count, &name);
        Some(parse_quote!({ let #count = #list.len(); #counted }))
    }

    /// Writes the place for the reference in the marked calls of some statements; whether there was any to write.
    fn call_on_the_place(&self, name: &Ident, place: &Expr, stmts: &mut [Stmt]) -> bool {
        let locals = &self.names.read();
        let mut declared = Declared::new(locals);
        stmts.iter().for_each(|stmt| declared.visit_stmt(stmt));
        let mut used = locals_in(locals, place.to_token_stream());
        used.extend(locals.id(name));
        if locals.hide(&declared.found, &used) {
            return false;
        }
        let mut calls = Calls {
            marks: self.marks,
            place: PlaceForName {
                name,
                place,
                found: false,
            },
        };
        stmts.iter_mut().for_each(|stmt| calls.visit_stmt_mut(stmt));
        calls.place.found
    }

    /// The statements up to the last one with a marked call and the name.
    fn up_to_last_call<'s>(&self, name: &Ident, stmts: &'s [Stmt]) -> &'s [Stmt] {
        let names = |stmt: &Stmt| names_in(&stmt.to_token_stream()).contains(&spelling(name));
        let last = stmts
            .iter()
            .rposition(|stmt| self.marks.in_stmt(stmt) && names(stmt));
        &stmts[..last.map_or(0, |last| last + 1)]
    }

    fn index_changes(&self, place: &Expr, after: &[Stmt]) -> bool {
        struct Indices<'ast>(Vec<&'ast Expr>);
        impl<'ast> Visit<'ast> for Indices<'ast> {
            fn visit_expr_index(&mut self, one: &'ast syn::ExprIndex) {
                self.0.push(&one.index);
                visit::visit_expr_index(self, one);
            }
        }
        let mut indices = Indices(Vec::new());
        indices.visit_expr(place);
        let locals = &self.names.read();
        let is_mutable = |index: &Expr| {
            let used = locals_in(locals, index.to_token_stream());
            used.iter().any(|local| locals.is_mutable(local))
        };
        let mut indices = indices.0.into_iter();
        indices.any(|index| is_mutable(index) || change(self.marks.library, after, index))
    }
}

/// `let part = &mut whole.part[index];`
fn borrowed_part<'e>(library: &Library, local: &'e Local) -> Option<(&'e Ident, &'e Expr)> {
    let steered = local
        .attrs
        .iter()
        .any(|attribute| attribute.path().is_ident("ckpt"));
    let (Pat::Ident(name), Some(init)) = (&local.pat, &local.init) else {
        return None;
    };
    let Expr::Reference(one) = &*init.expr else {
        return None;
    };
    let is_part = matches!(*one.expr, Expr::Field(_) | Expr::Index(_)) && is_pure(library, &one.expr);
    let is_plain = name.mutability.is_none() && name.by_ref.is_none() && !steered;
    (is_part && is_plain && one.mutability.is_some()).then_some((&name.ident, &*one.expr))
}

/// The list at the bottom of a chain of adaptors that keep its items apart, in the place of which its indices are put, and
/// the name of its items, in the place of which the index is put.
fn root_of(
    library: &Library,
    iterable: &mut Expr,
    pattern: &mut Pat,
    names: &Names,
) -> Option<(Expr, Ident)> {
    let list = match &*iterable {
        Expr::Paren(inner) => {
            *iterable = (*inner.expr).clone();
            return root_of(library, iterable, pattern, names);
        }
        Expr::Reference(one) if one.mutability.is_some() => (*one.expr).clone(),
        Expr::MethodCall(call) if library.is_call(call, PlaceOf::Each) && call.args.is_empty() => {
            (*call.receiver).clone()
        }
        Expr::MethodCall(_) => {
            let Expr::MethodCall(call) = iterable else {
                return None;
            };
            let method = call.method.to_string();
            let inner = match (library.key(&method), &mut *pattern) {
                (_, pattern) if library.keeps_by_position(&method) => pattern,
                (Some(Adaptor::Numbers), Pat::Tuple(pair)) if pair.elems.len() == 2 => &mut pair.elems[1],
                (Some(Adaptor::Pairs), Pat::Tuple(pair)) if pair.elems.len() == 2 => &mut pair.elems[0],
                _ => return None,
            };
            return root_of(library, &mut call.receiver, inner, names);
        }
        _ => return None,
    };
    let Pat::Ident(item) = &*pattern else { return None };
    let is_place = crate::syntax::places::place_root(&list).is_some() && is_pure(library, &list);
    if !is_place || item.by_ref.is_some() || item.mutability.is_some() || item.subpat.is_some() {
        return None;
    }
    let name = item.ident.clone();
    let list = unparenthesised(list);
    let index = names.beside(Kind::Index, &name);
    let counted = match &list {
        Expr::Unary(_) => parse_quote!((#list)),
        other => other.clone(),
    };
    let count = names.beside(Kind::Count, &name);
    *iterable = parse_quote!((0..#count));
    *pattern = parse_quote!(#index);
    Some((counted, name))
}

fn unparenthesised(expr: Expr) -> Expr {
    match expr {
        Expr::Paren(inner) => unparenthesised(*inner.expr),
        other => other,
    }
}

/// `x.as_mut_slice()` is `&mut x`, `x.get_mut(i).unwrap()` is `&mut x[i]`: what is lent of `x` can then be seen.
fn as_place(library: &Library, operand: &mut Expr) {
    let Expr::MethodCall(call) = &*operand else { return };
    let unwraps = library.is_call(call, Methods::Unwraps);
    let inner = match &*call.receiver {
        Expr::MethodCall(inner) if unwraps => inner,
        _ => call,
    };
    let list = &inner.receiver;
    if crate::syntax::places::place_root(list).is_none() || !is_pure(library, list) {
        return;
    }
    let arguments: Vec<&Expr> = inner.args.iter().collect();
    let place_of = library.key::<PlaceOf>(&inner.method.to_string());
    let place: Expr = match (place_of, &arguments[..], unwraps) {
        (Some(PlaceOf::Whole), [], false) => parse_quote!(&mut #list),
        (Some(PlaceOf::Element), [index], true) if !matches!(index, Expr::Reference(_)) => {
            parse_quote!(&mut #list[#index])
        }
        (Some(PlaceOf::First), [], true) => parse_quote!(&mut #list[0]),
        (Some(PlaceOf::Last), [], true) => parse_quote!(&mut #list[#list.len() - 1]),
        _ => return,
    };
    *operand = place;
}

/// Writes the operands of marked calls as places where that is what they are.
struct AsPlaces<'a>(Marks<'a>);

impl VisitMut for AsPlaces<'_> {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        visit::visit_expr_mut(self, expr);
        if self.0.callee(expr).is_none() {
            return;
        }
        match expr {
            Expr::MethodCall(call) => call.args.iter_mut().for_each(|one| as_place(self.0.library, one)),
            Expr::Call(call) => call.args.iter_mut().for_each(|one| as_place(self.0.library, one)),
            _ => {}
        }
    }
    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}

struct Calls<'a> {
    marks: Marks<'a>,
    place: PlaceForName<'a>,
}

impl VisitMut for Calls<'_> {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        visit::visit_expr_mut(self, expr);
        if self.marks.callee(expr).is_none() {
            return;
        }
        match expr {
            Expr::MethodCall(call) => {
                self.place.projected(&mut call.receiver);
                call.args
                    .iter_mut()
                    .for_each(|one| self.place.visit_expr_mut(one));
            }
            Expr::Call(call) => call
                .args
                .iter_mut()
                .for_each(|one| self.place.visit_expr_mut(one)),
            _ => {}
        }
    }
    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}

/// Writes a place for the name of a reference to it.
struct PlaceForName<'a> {
    name: &'a Ident,
    place: &'a Expr,
    found: bool,
}

impl PlaceForName<'_> {
    fn is_name(&self, expr: &Expr) -> bool {
        matches!(expr, Expr::Path(path) if path.path.is_ident(self.name))
    }

    /// What something is taken of: the place itself.
    fn projected(&mut self, base: &mut Expr) {
        if self.is_name(base) {
            *base = self.place.clone();
            self.found = true;
        } else {
            self.visit_expr_mut(base);
        }
    }
}

impl VisitMut for PlaceForName<'_> {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        match expr {
            Expr::Field(field) => return self.projected(&mut field.base),
            Expr::Index(index) => {
                self.projected(&mut index.expr);
                return self.visit_expr_mut(&mut index.index);
            }
            Expr::MethodCall(call) => {
                self.projected(&mut call.receiver);
                return call.args.iter_mut().for_each(|one| self.visit_expr_mut(one));
            }
            Expr::Unary(one) if matches!(one.op, UnOp::Deref(_)) && self.is_name(&one.expr) => {
                *expr = self.place.clone();
                self.found = true;
                return;
            }
            Expr::Closure(_) => return,
            _ => {}
        }
        if self.is_name(expr) {
            let place = self.place;
            *expr = parse_quote!(&mut #place);
            self.found = true;
        } else {
            visit::visit_expr_mut(self, expr);
        }
    }

    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}

#[cfg(test)]
mod tests {
    use crate::passes::try_expand;
    use proc_macro2::TokenStream;
    use quote::quote;

    fn expanded(body: TokenStream) -> String {
        let function = quote!(fn f(&mut self, grid: &mut Vec<Vec<u64>>) { #body });
        match try_expand(quote!(calls(work)), &function, false) {
            Ok(text) => text.to_string(),
            Err(errors) => errors.iter().map(|one| one.words().what.to_string()).collect(),
        }
    }

    #[test]
    fn a_call_stays_as_it_is_behind_a_variable_that_hides_the_index() {
        let text = expanded(quote! {
            for k in 0..9 {
                let row = &mut grid[k];
                let k = 3;
                work(row);
                println!("{k}");
            }
        });
        assert!(!text.contains("would be lost"), "{text}");
    }

    #[test]
    fn a_call_stays_as_it_is_behind_a_change_of_the_index() {
        let change = quote!(self.i += 1;);
        let other = quote!(self.n += 1;);
        let body = |between: &TokenStream, behind: &TokenStream| {
            let row = quote!(let row = &mut self.rows[self.i];);
            expanded(quote!(for k in 0..9 { #row #between work(row); #behind }))
        };
        assert!(body(&other, &change).contains("cut"));
        assert!(!body(&change, &other).contains("cut"));
    }
}
