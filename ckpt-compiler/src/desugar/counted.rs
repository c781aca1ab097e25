//! Loops over so many items of an iterator of the program's own.
//!
//! `for (i, d) in Digits::new().enumerate().take(n) { .. }` becomes a loop over `Digits::new()` with the two counts beside it:
//! a checkpoint can hold the program's iterator and numbers, but not the adaptors of the standard library.

use crate::library::{Adaptor, Library};
use crate::names::{Kind, Names, plain};
use crate::syntax::marks::Marks;
use crate::syntax::origins::Known;
use crate::visit::{self, VisitMut};
use syn::{Block, Expr, ExprForLoop, ItemFn, Pat, Stmt, parse_quote};

/// Counts in the loops of a function that have a site.
pub fn count(function: &mut ItemFn, marks: Marks<'_>, known: Known<'_>, names: &Names) {
    let mut counter = Counter { marks, known, names };
    counter.visit_block_mut(&mut function.block);
}

struct Counter<'a> {
    marks: Marks<'a>,
    known: Known<'a>,
    names: &'a Names,
}

/// What is around the iterator, the outermost first.
enum Around {
    Take(Box<Expr>),
    Enumerate,
}

impl VisitMut for Counter<'_> {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        visit::visit_expr_mut(self, expr);
        if let Expr::ForLoop(one) = expr
            && self.marks.in_block(&one.body)
            && !self.marks.in_expr(&one.expr)
            && let Some(counted) = self.counted(one)
        {
            *expr = counted;
        }
    }

    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}

impl Counter<'_> {
    fn counted(&self, one: &ExprForLoop) -> Option<Expr> {
        let (around, own) = taken_apart(self.marks.library, &one.expr);
        let is_own = matches!(own, Expr::Call(_) | Expr::Path(_) | Expr::Struct(_)) && !self.is_known(own);
        if around.is_empty() || !is_own || !one.attrs.is_empty() {
            return None;
        }
        let (iterator, item) = (self.names.fresh(Kind::Source), self.names.fresh(Kind::Item));
        let (mut before, mut head, mut turn): (Vec<Stmt>, Vec<Stmt>, Vec<Stmt>) = Default::default();
        let mut pattern: Pat = (*one.pat).clone();
        let mut numbers = Vec::new();
        for part in around {
            match part {
                Around::Take(most) => {
                    let left = self.names.fresh(Kind::Left);
                    before.push(parse_quote!(let mut #left: usize = #most;));
                    head.push(parse_quote!(if #left == 0 { break; }));
                    head.push(parse_quote!(#left -= 1;));
                }
                Around::Enumerate => {
                    let Pat::Tuple(pair) = &pattern else { return None };
                    if pair.elems.len() != 2 {
                        return None;
                    }
                    let index = self.names.fresh(Kind::Index);
                    before.push(parse_quote!(let mut #index: usize = 0;));
                    numbers.push((pair.elems[0].clone(), index));
                    pattern = pair.elems[1].clone();
                }
            }
        }
        for (first, index) in numbers {
            turn.push(parse_quote!(let #first = #index;));
            turn.push(parse_quote!(#index += 1;));
        }
        turn.push(parse_quote!(let #pattern = #item;));
        let (label, statements) = (&one.label, &one.body.stmts);
        let given = plain(Kind::Item);
        let body: Block = parse_quote!({
            #(#head)*
            let #item = match ::core::iter::Iterator::next(&mut #iterator) {
                ::core::option::Option::Some(#given) => #given,
                ::core::option::Option::None => break,
            };
            #(#turn)*
            #(#statements)*
        });
        Some(parse_quote!({
            let mut #iterator = ::core::iter::IntoIterator::into_iter(#own);
            #(#before)*
            #label loop #body
        }))
    }

    /// Whether the tables know what it goes over.
    fn is_known(&self, own: &Expr) -> bool {
        self.known.is_iterator(own)
            || match own {
                Expr::Path(path) => path
                    .path
                    .get_ident()
                    .is_some_and(|name| self.known.is_reference(name)),
                Expr::Call(call) => match &*call.func {
                    Expr::Path(path) => {
                        self.marks.library.is_pure_function(&path.path)
                            || self.marks.library.is_device(&path.path)
                    }
                    _ => true,
                },
                _ => false,
            }
    }
}

/// The `take` and `enumerate` around an iterator, and the iterator.
fn taken_apart<'e>(library: &Library, expr: &'e Expr) -> (Vec<Around>, &'e Expr) {
    let mut around = Vec::new();
    let mut at = expr;
    loop {
        match at {
            Expr::Paren(inner) => at = &inner.expr,
            Expr::MethodCall(call) if library.is_call(call, Adaptor::Numbers) && call.args.is_empty() => {
                around.push(Around::Enumerate);
                at = &call.receiver;
            }
            Expr::MethodCall(call) if library.is_call(call, Adaptor::Takes) && call.args.len() == 1 => {
                around.push(Around::Take(Box::new(call.args[0].clone())));
                at = &call.receiver;
            }
            _ => return (around, at),
        }
    }
}
