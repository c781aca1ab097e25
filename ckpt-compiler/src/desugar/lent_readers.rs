//! Loops over what is read through a reference to a reader: `for line in input.lines()`, where `input` is a `&mut R`.
//!
//! The iterator holds the reference, so that nobody else can look at the reader, and it holds nothing else: a loop may as well
//! make it for each item. Between two items the reader is free, and its owner saves it. What skips, counts or maps the items
//! becomes statements of the loop.

use crate::library::{Adaptor, Iterators, Library, Streams, Types, last_name, segments};
use crate::names::{Kind, LocalId, Names, plain};
use crate::paths::rt;
use crate::syntax::marks::Marks;
use crate::syntax::places::variable;
use crate::visit::{self, VisitMut};
use std::collections::HashMap;
use syn::{
    Block, Expr, ExprForLoop, FnArg, GenericParam, Ident, ItemFn, Pat, Signature, Stmt, Type, TypeParamBound,
    WherePredicate, parse_quote,
};

/// Writes such loops of a function, where they have a site.
pub fn take_turns(function: &mut ItemFn, marks: Marks<'_>, names: &Names) {
    let lent = parameters(marks.library, &function.sig, names);
    let mut turner = Turner { marks, names, lent };
    turner.visit_block_mut(&mut function.block);
}

/// The parameters that are references to readers; whether it is known of each by its type.
fn parameters(library: &Library, signature: &Signature, names: &Names) -> HashMap<LocalId, bool> {
    let mut found = HashMap::new();
    for argument in &signature.inputs {
        if let FnArg::Typed(typed) = argument
            && let (Pat::Ident(name), Type::Reference(reference)) = (&*typed.pat, &*typed.ty)
            && reference.mutability.is_some()
            && let Some(id) = names.read().id(&name.ident)
        {
            found.insert(id, is_reader(library, signature, &reference.elem));
        }
    }
    found
}

fn is_reader(library: &Library, signature: &Signature, ty: &Type) -> bool {
    let reads = |bound: &TypeParamBound| matches!(bound, TypeParamBound::Trait(one) if library.says_of_path(&one.path, Types::Readers));
    match ty {
        Type::Paren(inner) => is_reader(library, signature, &inner.elem),
        Type::TraitObject(object) => object.bounds.iter().any(reads),
        Type::ImplTrait(one) => one.bounds.iter().any(reads),
        Type::Path(path) => {
            let is_parameter = |name: &Ident| path.path.is_ident(name);
            let by_parameter = signature.generics.params.iter().any(|one| {
                matches!(one, GenericParam::Type(one) if is_parameter(&one.ident) && one.bounds.iter().any(reads))
            });
            let clauses = signature.generics.where_clause.iter();
            let by_clause = clauses.flat_map(|clause| &clause.predicates).any(|one| {
                matches!(one, WherePredicate::Type(one) if one.bounded_ty == *ty && one.bounds.iter().any(reads))
            });
            by_parameter || by_clause || library.says(&last_name(&path.path), Types::Buffered)
        }
        _ => false,
    }
}

struct Turner<'a> {
    marks: Marks<'a>,
    names: &'a Names,
    lent: HashMap<LocalId, bool>,
}

/// What gives the items.
enum Source {
    /// It is made for each item.
    Lent(Expr),
    /// It owns the reader.
    Own(Expr),
}

impl Source {
    fn iterator(&self) -> &Expr {
        let (Self::Lent(iterator) | Self::Own(iterator)) = self;
        iterator
    }
}

/// Whether these are the lines of a reader, and nothing around them.
fn calls_of_lines(library: &Library, iterator: &Expr) -> bool {
    let Expr::Call(call) = iterator else { return false };
    let Expr::Path(path) = &*call.func else {
        return false;
    };
    let rt = rt();
    match path.path == parse_quote!(#rt::value) {
        true => call
            .args
            .first()
            .is_some_and(|inner| calls_of_lines(library, inner)),
        false => library.key(&last_name(&path.path)) == Some(Streams::Lines),
    }
}

/// An iterator over a reader, as `streams` writes it: it can be saved.
fn is_of_runtime(call: &syn::ExprCall) -> bool {
    let rt = rt();
    let functions: [syn::Path; 4] = [
        parse_quote!(#rt::value),
        parse_quote!(#rt::enumerate),
        parse_quote!(#rt::skip),
        parse_quote!(#rt::take_first),
    ];
    matches!(&*call.func, Expr::Path(path) if functions.contains(&path.path))
}

/// What is around the iterator, the innermost first.
enum Around<'e> {
    Enumerate,
    Take(&'e Expr),
    Skip(&'e Expr),
    /// The items of each line: the line, if it could be read.
    Flatten,
    /// A closure, or the name of a function.
    By(Adaptor, &'e Expr),
}

impl VisitMut for Turner<'_> {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        visit::visit_expr_mut(self, expr);
        if let Expr::ForLoop(one) = expr
            && self.marks.in_block(&one.body)
            && !self.marks.in_expr(&one.expr)
            && let Some(turns) = self.turns(one)
        {
            *expr = turns;
        }
    }

    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}

impl Turner<'_> {
    fn turns(&self, one: &ExprForLoop) -> Option<Expr> {
        if !one.attrs.is_empty() {
            return None;
        }
        let (around, source) = self.taken_apart(&one.expr)?;
        let (mut before, mut head, mut turn): (Vec<Stmt>, Vec<Stmt>, Vec<Stmt>) = Default::default();
        let mut item = self.names.fresh(Kind::Item);
        let (first, rt, given) = (item.clone(), rt(), plain(Kind::Item));
        let next = match source {
            Source::Lent(next) => next,
            Source::Own(iterator) => {
                let name = self.names.fresh(Kind::Source);
                before.push(parse_quote!(let mut #name = #iterator;));
                parse_quote!(#name)
            }
        };
        for part in around {
            let last = item.clone();
            match part {
                Around::Enumerate => {
                    let index = self.names.fresh(Kind::Index);
                    before.push(parse_quote!(let mut #index: usize = 0;));
                    item = self.names.fresh(Kind::Item);
                    turn.push(parse_quote!(let #item = (#index, #last);));
                    turn.push(parse_quote!(#index += 1;));
                }
                Around::Take(most) => {
                    let left = self.names.fresh(Kind::Left);
                    before.push(parse_quote!(let mut #left: usize = #most;));
                    head.push(parse_quote!(if #left == 0 { break; }));
                    turn.push(parse_quote!(#left -= 1;));
                }
                Around::Skip(most) => {
                    let left = self.names.fresh(Kind::Left);
                    before.push(parse_quote!(let mut #left: usize = #most;));
                    turn.push(parse_quote!(if #left > 0 { #left -= 1; continue; }));
                }
                Around::Flatten => {
                    item = self.names.fresh(Kind::Item);
                    turn.push(parse_quote!(
                        let #item = match #last {
                            ::core::result::Result::Ok(#given) => #given,
                            ::core::result::Result::Err(_) => continue,
                        };
                    ));
                }
                Around::By(Adaptor::Maps, by) => {
                    item = self.names.fresh(Kind::Item);
                    turn.push(parse_quote!(let #item = #rt::mapped(#last, #by);));
                }
                Around::By(Adaptor::Inspects, by) => turn.push(parse_quote!(#rt::looked_at(&#last, #by);)),
                Around::By(Adaptor::Keeps, by) => {
                    turn.push(parse_quote!(if !#rt::looked_at(&#last, #by) { continue; }));
                }
                Around::By(Adaptor::KeepsWhile, by) => {
                    turn.push(parse_quote!(if !#rt::looked_at(&#last, #by) { break; }));
                }
                Around::By(adaptor, by) => {
                    item = self.names.fresh(Kind::Item);
                    let otherwise: Expr = match adaptor {
                        Adaptor::MapsSome => parse_quote!(continue),
                        _ => parse_quote!(break),
                    };
                    turn.push(parse_quote!(
                        let #item = match #rt::mapped(#last, #by) {
                            ::core::option::Option::Some(#given) => #given,
                            ::core::option::Option::None => #otherwise,
                        };
                    ));
                }
            }
        }
        let (label, pattern, statements) = (&one.label, &one.pat, &one.body.stmts);
        let body: Block = parse_quote!({
            #(#head)*
            let #first = match ::core::iter::Iterator::next(&mut #next) {
                ::core::option::Option::Some(#given) => #given,
                ::core::option::Option::None => break,
            };
            #(#turn)*
            let #pattern = #item;
            #(#statements)*
        });
        Some(match before.is_empty() {
            true => parse_quote!(#label loop #body),
            false => parse_quote!({
                #(#before)*
                #label loop #body
            }),
        })
    }

    /// What is around an iterator over a reader that is lent, and that iterator as it is made for one item.
    fn taken_apart<'e>(&self, expr: &'e Expr) -> Option<(Vec<Around<'e>>, Source)> {
        let library = self.marks.library;
        let mut around = Vec::new();
        let mut at = expr;
        let source = loop {
            match at {
                Expr::Paren(inner) => at = &inner.expr,
                Expr::MethodCall(call) => {
                    if let Some(next) = self.method_of_reader(call) {
                        break Source::Lent(next);
                    }
                    around.push(self.adaptor(call)?);
                    at = &call.receiver;
                }
                Expr::Call(call) => match self.function_of_reader(call) {
                    Some(next) => break Source::Lent(next),
                    // What has no closures is saved as it is.
                    None if is_of_runtime(call)
                        && around
                            .iter()
                            .any(|one| matches!(one, Around::By(..) | Around::Flatten)) =>
                    {
                        break Source::Own(at.clone());
                    }
                    None => return None,
                },
                _ => return None,
            }
        };
        around.reverse();
        // Behind others, what is flattened may be anything.
        let flattens = |one: &Around<'_>| matches!(one, Around::Flatten);
        let goes_over_lines = calls_of_lines(library, source.iterator());
        let is_first = around.iter().skip(1).all(|one| !flattens(one));
        let is_known = is_first && (goes_over_lines || !around.first().is_some_and(flattens));
        is_known.then_some((around, source))
    }

    fn adaptor<'e>(&self, call: &'e syn::ExprMethodCall) -> Option<Around<'e>> {
        let mut arguments = call.args.iter();
        let (first, more) = (arguments.next(), arguments.next());
        if more.is_some() || call.turbofish.is_some() {
            return None;
        }
        match (self.marks.library.key(&call.method.to_string())?, first) {
            (Adaptor::Numbers, None) => Some(Around::Enumerate),
            (Adaptor::Takes, Some(most)) => Some(Around::Take(most)),
            (Adaptor::Skips, Some(most)) => Some(Around::Skip(most)),
            (Adaptor::Nests, None) => Some(Around::Flatten),
            (
                by @ (Adaptor::Maps
                | Adaptor::Inspects
                | Adaptor::Keeps
                | Adaptor::KeepsWhile
                | Adaptor::MapsSome
                | Adaptor::MapsWhile),
                Some(closure),
            ) if self.is_same_each_time(closure) => Some(Around::By(by, closure)),
            _ => None,
        }
    }

    /// Whether it is the same closure when it is made for each item.
    fn is_same_each_time(&self, closure: &Expr) -> bool {
        match closure {
            Expr::Closure(closure) => closure.capture.is_none(),
            Expr::Path(path) => path
                .path
                .get_ident()
                .is_none_or(|name| !self.names.read().is_variable(name)),
            _ => false,
        }
    }

    /// `input.lines()`.
    fn method_of_reader(&self, call: &syn::ExprMethodCall) -> Option<Expr> {
        let function: syn::Path = match self.marks.library.key(&call.method.to_string())? {
            Streams::Lines => parse_quote!(::std::io::BufRead::lines),
            Streams::Bytes => parse_quote!(::std::io::Read::bytes),
            _ => return None,
        };
        let lent = self.lent(&call.receiver, true).filter(|_| call.args.is_empty())?;
        Some(parse_quote!(#function(#lent)))
    }

    /// `BufRead::lines(input)`.
    fn function_of_reader(&self, call: &syn::ExprCall) -> Option<Expr> {
        let Expr::Path(function) = &*call.func else {
            return None;
        };
        let names = segments(&function.path);
        let [.., of, method] = &names[..] else { return None };
        let library = self.marks.library;
        let reads = matches!(library.key(method)?, Streams::Lines | Streams::Bytes);
        let is_of_reader = reads && library.says(of, Types::Readers);
        let (Some(reader), true) = (call.args.first(), is_of_reader && call.args.len() == 1) else {
            return None;
        };
        let lent = self.lent(reader, false)?;
        Some(parse_quote!(#function(#lent)))
    }

    /// A reference to the reader that lasts for one item.
    fn lent(&self, reader: &Expr, must_be_known: bool) -> Option<Expr> {
        match reader {
            Expr::Paren(inner) => self.lent(&inner.expr, must_be_known),
            Expr::Path(_) => {
                let name = variable(reader)?;
                let is_known = *self.lent.get(&self.names.read().id(name)?)?;
                (is_known || !must_be_known).then(|| parse_quote!(&mut *#name))
            }
            Expr::Reference(one) if one.mutability.is_some() && is_place(&one.expr) => Some(reader.clone()),
            // Texts have no such method.
            Expr::MethodCall(call)
                if self.marks.library.is_call(call, Iterators::Itself)
                    && call.args.is_empty()
                    && is_place(&call.receiver) =>
            {
                Some(reader.clone())
            }
            _ => None,
        }
    }
}

/// `self.input`: the same place each time, and nothing else happens where it is named.
fn is_place(expr: &Expr) -> bool {
    match expr {
        Expr::Path(path) => path.path.get_ident().is_some(),
        Expr::Field(field) => is_place(&field.base),
        Expr::Paren(inner) => is_place(&inner.expr),
        Expr::Unary(one) => matches!(one.op, syn::UnOp::Deref(_)) && is_place(&one.expr),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use crate::passes::try_expand;
    use quote::quote;

    #[test]
    fn a_reader_that_is_lent_is_free_between_two_lines() {
        for (signature, over) in [
            (quote!(f<R: BufRead>(input: &mut R)), quote!(input.lines())),
            (
                quote!(f<R>(input: &mut R) where R: io::BufRead),
                quote!(input.lines()),
            ),
            (
                quote!(f(input: &mut dyn BufRead)),
                quote!(input.lines().enumerate().skip(1)),
            ),
            (
                quote!(f(input: &mut (dyn BufRead + Send))),
                quote!(input.lines().map(|line| line.unwrap())),
            ),
            (quote!(f(input: &mut impl std::io::Read)), quote!(input.bytes())),
            (
                quote!(f(input: &mut io::BufReader<File>)),
                quote!(input.lines().flatten()),
            ),
            (
                quote!(f(&mut self)),
                quote!(self.input.by_ref().lines().map_while(Result::ok)),
            ),
            (quote!(f(mut input: R)), quote!((&mut input).lines())),
            (
                quote!(f(input: &mut Unknown)),
                quote!(std::io::BufRead::lines(input)),
            ),
        ] {
            let function = quote!(fn #signature { for line in #over { ckpt::checkpoint!(); } });
            let text = try_expand(quote!(), &function, false).unwrap().to_string();
            assert!(
                text.contains("Iterator :: next (& mut :: std :: io ::")
                    || text.contains("Iterator :: next (& mut std"),
                "{text}"
            );
        }
    }

    #[test]
    fn what_may_be_a_text_stays() {
        for (signature, over) in [
            (quote!(f(input: &mut String)), quote!(input.lines())),
            (quote!(f(input: &mut Unknown)), quote!(input.lines())),
        ] {
            let function = quote!(fn #signature { for line in #over { ckpt::checkpoint!(); } });
            let text = try_expand(quote!(), &function, false).unwrap_or_else(|errors| errors.to_tokens());
            assert!(!text.to_string().contains("BufRead"), "{text}");
        }
    }
}
