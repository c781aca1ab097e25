//! `while` and `for` with a site in them become `loop`: what they test or fetch is then a statement like any other.

use super::lower::{Lowering, plain, step};
use super::patterns::{all_values, changing, changing_inside, declares};
use super::select::binding_names;
use super::{Block, Plain, Spine, StepKind};
use crate::desugar::inlined_closures::adaptors::Peeler;
use crate::diagnostics::Refusal;
use crate::library::{Adaptor, Iterators, Library};
use crate::names::frame;
use crate::names::{Kind, plain as plain_name};
use crate::parse::options::Treatment;
use crate::paths::rt;
use crate::syntax::origins::{Known, effect_in_chain, is_repeatable, works_in_chain};
use proc_macro2::{Ident, Span};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Expr, ExprForLoop, ExprWhile, Pat, parse_quote};

impl Lowering<'_> {
    /// `while c { .. }` is `loop { if !c { break } .. }`.
    pub(super) fn while_loop(&mut self, one: ExprWhile) -> Spine {
        let mut steps = Vec::new();
        let ExprWhile {
            label, cond, body, ..
        } = one;
        let condition = *cond;
        if self.marks.in_expr(&condition) {
            if let Expr::Let(one) = condition {
                let (pattern, scrutinee, body) = (one.pat, one.expr, body);
                let arms = parse_quote!(match #scrutinee { #pattern => #body, _ => break });
                let spine = self.spine(arms, None, &mut steps);
                if let Some(sites) = super::operands::spine_sites(&spine) {
                    let target = super::Target::Statement(true);
                    steps.push(step(StepKind::Spine(super::SpineStep { sites, target, spine })));
                }
                return Spine::Loop {
                    label,
                    body: Block { steps },
                };
            }
            if super::select::has_let(&condition) {
                self.refuse_let_with_site(&condition);
            } else {
                let holds = self.names.fresh(Kind::Condition);
                self.temporary(&holds, condition, &mut steps);
                steps.push(plain(parse_quote!(if !#holds { break; })));
            }
        } else if super::select::has_let(&condition) {
            let mut condition = condition;
            self.put_keys_of_condition_aside(&mut condition, true, &mut steps);
            self.fetch(&condition, &mut steps);
        } else {
            steps.push(plain(parse_quote!(if !(#condition) { break; })));
        }
        steps.extend(self.block(body).steps);
        Spine::Loop {
            label,
            body: Block { steps },
        }
    }

    pub(super) fn put_keys_of_condition_aside(
        &mut self,
        condition: &mut Expr,
        alone: bool,
        steps: &mut Vec<super::Step>,
    ) {
        match condition {
            Expr::Let(one) if self.known.borrows(&one.expr) => {
                self.put_keys_aside(&mut one.expr, !alone, steps);
            }
            Expr::Binary(chain) => {
                self.put_keys_of_condition_aside(&mut chain.left, false, steps);
                self.put_keys_of_condition_aside(&mut chain.right, false, steps);
            }
            _ => {}
        }
    }

    /// The condition of a `while let`: binds its variables or leaves the loop.
    fn fetch(&mut self, condition: &Expr, steps: &mut Vec<super::Step>) {
        let bindings = super::select::condition_bindings(condition, self.names);
        let reexecutes = super::select::condition_borrows(self.known, condition) && !bindings.is_empty();
        let (names, mut patterns) = binding_names(&bindings);
        let mut values = Vec::new();
        if reexecutes && let Expr::Let(one) = condition {
            let copied = self.copied_out(&one.expr, &mut one.pat.as_ref().clone());
            values.extend(copied);
        }
        if reexecutes {
            patterns = names.iter().map(|name| quote!(#name)).collect();
            let by_reference = bindings.iter().any(|one| one.by_ref.is_some());
            let is_copied = |one: &&syn::PatIdent| !values.iter().any(|stmt| declares(stmt, &one.ident));
            let others: Vec<&syn::PatIdent> = bindings.iter().filter(is_copied).collect();
            for one in others {
                let pattern = &mut syn::Pat::Ident(one.clone());
                values.extend(if by_reference {
                    all_values(&self.names.read(), pattern)
                } else {
                    changing(pattern)
                });
            }
        }
        let stmt = if names.is_empty() {
            parse_quote!(if #condition {} else { break; })
        } else {
            parse_quote!(let (#(#patterns,)*) = if #condition { (#(#names,)*) } else { break };)
        };
        let condition_alone = match condition {
            Expr::Let(one) if reexecutes => Some(one),
            _ => None,
        };
        let again = condition_alone.map(|one| {
            let (mut pattern, scrutinee, frame) = (one.pat.clone(), &one.expr, frame());
            changing(&mut pattern);
            let lost = quote!(#frame.lost("a `while let` does not match what it matched before"));
            Box::new(parse_quote! {
                match #scrutinee { #pattern => (#(#names,)*), #[allow(unreachable_patterns)] _ => #lost }
            })
        });
        let condition = super::select::without_mut(stmt);
        steps.push(step(StepKind::Plain(Plain {
            stmt: condition,
            treatment: None,
            restart: None,
            reexecutes,
            again,
        })));
        steps.extend(values.into_iter().map(plain));
    }

    /// `for p in e { .. }`: the iterator is a variable. One that is a value (a range, the rest of an owned vector) is
    /// saved like any other; one that borrows is rebuilt at restart and advanced to where it was.
    pub(super) fn for_loop(&mut self, mut one: ExprForLoop, treatment: Option<Treatment>) -> Spine {
        let mut outer = Vec::new();
        let mut iterable = self.iterable(&mut one, treatment, &mut outer);
        let mut iterator = self.names.fresh(Kind::Iterator);
        // What rustc says of its type is then about this loop, and not about each of the function's.
        iterator.set_span(iterator.span().located_at(iterable.span()));
        if treatment == Some(Treatment::Serde) {
            self.errors.refuse(iterable.span(), Refusal::SerdeOfFor);
        }
        let rebuilds = match treatment {
            Some(Treatment::Reexecute) => true,
            Some(_) => false,
            None => rebuilds(self.known, &iterable),
        };
        if let Some(span) = effect_in_chain(self.marks.library, &iterable).filter(|_| rebuilds) {
            self.errors.refuse(span, Refusal::IteratorHasEffects);
        }
        let fetch = if rebuilds {
            // The first time it is made of the keys as they stand there.
            let make = made_plainly(&iterator, &iterable);
            self.put_keys_aside(&mut iterable, false, &mut outer);
            changing_inside(&mut one.pat, &mut one.body);
            self.rebuilt_iterator(make, &iterator, &iterable, &one.pat, &mut outer)
        } else {
            outer.push(plain(match is_range(self.marks.library, &iterable) {
                true => made_plainly(&iterator, &iterable),
                false => started(&iterator, &iterable),
            }));
            fetched(&iterator, &one.pat)
        };
        let before = self.next_site();
        let mut steps = vec![fetch];
        steps.extend(self.block(one.body).steps);
        if let Some(sites) = self.sites_since(before) {
            let spine = Spine::Loop {
                label: one.label,
                body: Block { steps },
            };
            outer.push(step(StepKind::Spine(super::SpineStep {
                sites,
                target: super::Target::Tail,
                spine,
            })));
        }
        Spine::Block {
            label: None,
            is_unsafe: false,
            block: Block { steps: outer },
        }
    }

    /// What a `for` goes over, with nothing in it that has to run elsewhere: sites in it and values that it borrows have
    /// become statements in front of the loop, closures that cannot run again are run in its body.
    fn iterable(
        &mut self,
        one: &mut ExprForLoop,
        treatment: Option<Treatment>,
        outer: &mut Vec<super::Step>,
    ) -> Expr {
        let expr = (*one.expr).clone();
        let iterable = if self.marks.in_expr(&expr) {
            let value = self.names.fresh(Kind::Iterable);
            self.temporary(&value, expr, outer);
            parse_quote!(#value)
        } else {
            expr
        };
        let mut iterable: Expr = unparenthesised(iterable);
        let may_be_reexecuted = rebuilds(self.known, &iterable)
            && effect_in_chain(self.marks.library, &iterable).is_none()
            && !works_in_chain(self.marks.library, &iterable);
        if treatment.is_none() && (!may_be_reexecuted || self.form.closures_in_bodies) {
            let peeler = Peeler {
                names: self.names,
                marks: self.marks,
            };
            peeler.peel(&mut iterable, &mut one.pat, &mut one.body);
        }
        if treatment.is_none() && rebuilds(self.known, &iterable) {
            self.go_over_lists_apart(&mut iterable, one, outer);
        }
        if self.known.borrows(&iterable) {
            self.name_lent_value(&mut iterable, outer);
        }
        iterable
    }

    /// A list that moves into an iterator which is rebuilt at a restart would be gone by then: it is gone over by an iterator of its own,
    /// which is saved. `for (x, y) in xs.iter().zip(ys) { .. }` becomes
    /// `let mut rest = ys.into_iter(); for x in xs.iter() { let Some(y) = rest.next() else { break }; .. }`.
    fn go_over_lists_apart(
        &mut self,
        iterable: &mut Expr,
        one: &mut ExprForLoop,
        outer: &mut Vec<super::Step>,
    ) {
        let library = self.marks.library;
        // `(i, (x, y))` in `xs.iter().zip(ys).enumerate()`
        let numbered = match &*iterable {
            Expr::MethodCall(call) if library.is_call(call, Adaptor::Numbers) && call.args.is_empty() => {
                let under = (*call.receiver).clone();
                pair_of(&one.pat).map(|pair| (call.clone(), under, pair))
            }
            _ => None,
        };
        let zipped = numbered.as_ref().map_or(&*iterable, |(_, under, _)| under);
        let Expr::MethodCall(call) = zipped else { return };
        if !self.moves_a_list(call) {
            return;
        }
        let (rest, given) = (self.names.fresh(Kind::Iterator), plain_name(Kind::Item));
        outer.push(plain(started(&rest, &call.args[0])));
        let apart = (*call.receiver).clone();
        // What rustc says of it is about the adaptor.
        let next = quote_spanned!(call.method.span()=> ::core::iter::Iterator::next);
        let of_list: Expr = parse_quote! {
            match #next(&mut #rest) {
                ::core::option::Option::Some(#given) => #given,
                ::core::option::Option::None => break,
            }
        };
        let (pattern, numbered) = match numbered {
            Some((mut numbers, _, [index, pair])) => {
                numbers.receiver = Box::new(apart);
                *iterable = Expr::MethodCall(numbers);
                (pair, Some(index))
            }
            None => {
                *iterable = apart;
                ((*one.pat).clone(), None)
            }
        };
        // What borrows and what is saved come back in different ways: in variables of their own.
        let (item, with_list): (Pat, syn::Stmt) = match pair_of(&pattern) {
            Some([item, element]) => (item, parse_quote!(let #element = #of_list;)),
            None => {
                let item = self.names.fresh(Kind::Item);
                (
                    parse_quote!(#item),
                    parse_quote!(let #pattern = (#item, #of_list);),
                )
            }
        };
        *one.pat = match numbered {
            Some(index) => parse_quote!((#index, #item)),
            None => item,
        };
        one.body.stmts.insert(0, with_list);
    }

    /// Whether the adaptor pairs the items with those of a list that it takes.
    fn moves_a_list(&self, call: &syn::ExprMethodCall) -> bool {
        let library = self.marks.library;
        let is_list = |name: &Ident| {
            let local = self.names.read().id(name);
            local.is_some_and(|local| self.declared.is_list(local))
        };
        let mut list = call.args.first();
        if let Some(Expr::MethodCall(inner)) = list
            && library.is_call(inner, Iterators::Converts)
            && inner.args.is_empty()
        {
            list = Some(&inner.receiver);
        }
        library.is_call(call, Adaptor::Pairs)
            && call.args.len() == 1
            && matches!(list, Some(Expr::Path(path)) if path.path.get_ident().is_some_and(is_list))
    }

    /// An iterator that is rebuilt at restart and advanced by a count; returns the statement that fetches an item.
    fn rebuilt_iterator(
        &mut self,
        make: syn::Stmt,
        iterator: &Ident,
        iterable: &Expr,
        pat: &Pat,
        outer: &mut Vec<super::Step>,
    ) -> super::Step {
        let (rt, frame, count) = (rt(), frame(), self.names.fresh(Kind::Count));
        let given = plain_name(Kind::Item);
        let again = parse_quote! {
            #rt::up_to(::core::iter::IntoIterator::into_iter(#iterable), #count)
        };
        outer.push(reexecuted(make, Some(again)));
        let here = Span::mixed_site().located_at(iterable.span());
        let check = quote_spanned!(here => (&#rt::Order(&#iterator)).check(););
        outer.push(reexecuted(
            parse_quote! {
                {
                    #[allow(unused_imports)]
                    use #rt::{InOrder as _, OutOfOrder as _};
                    #check
                }
            },
            None,
        ));
        outer.push(plain(parse_quote!(let mut #count: u64 = 0;)));
        let fetch = parse_quote! {
            let #pat = match #rt::fetch(&#frame, &mut #iterator, &mut #count) {
                ::core::option::Option::Some(#given) => #given,
                ::core::option::Option::None => break,
            };
        };
        reexecuted(
            fetch,
            Some(parse_quote!(#rt::item_at_restart(&#frame, &mut #iterator))),
        )
    }
}

/// The two patterns in `(x, y)`.
fn pair_of(pattern: &Pat) -> Option<[Pat; 2]> {
    match pattern {
        Pat::Paren(inner) => pair_of(&inner.pat),
        Pat::Tuple(pair) if !pair.elems.iter().any(|one| matches!(one, Pat::Rest(_))) => {
            Vec::from_iter(pair.elems.iter().cloned()).try_into().ok()
        }
        _ => None,
    }
}

/// An iterator that is saved as any variable.
fn started(iterator: &Ident, iterable: &Expr) -> syn::Stmt {
    let rt = rt();
    parse_quote! {
        let mut #iterator = {
            #[allow(unused_imports)]
            use #rt::{StartAny as _, StartOwned as _};
            (&mut #rt::Source::new(#iterable)).start()
        };
    }
}

/// The next item of an iterator that is saved.
fn fetched(iterator: &Ident, pat: &Pat) -> super::Step {
    let given = plain_name(Kind::Item);
    plain(parse_quote! {
        let #pat = match ::core::iter::Iterator::next(&mut #iterator) {
            ::core::option::Option::Some(#given) => #given,
            ::core::option::Option::None => break,
        };
    })
}

fn made_plainly(iterator: &Ident, iterable: &Expr) -> syn::Stmt {
    parse_quote!(let mut #iterator = ::core::iter::IntoIterator::into_iter(#iterable);)
}

fn reexecuted(stmt: syn::Stmt, again: Option<Expr>) -> super::Step {
    step(StepKind::Plain(Plain {
        stmt,
        treatment: None,
        restart: None,
        reexecutes: true,
        again: again.map(Box::new),
    }))
}

fn unparenthesised(expr: Expr) -> Expr {
    match expr {
        Expr::Paren(inner) => unparenthesised(*inner.expr),
        other => other,
    }
}

fn is_range(library: &Library, iterable: &Expr) -> bool {
    match iterable {
        Expr::Paren(inner) => is_range(library, &inner.expr),
        Expr::MethodCall(call) if library.is_call(call, Adaptor::Reverses) => {
            is_range(library, &call.receiver)
        }
        other => matches!(other, Expr::Range(_)),
    }
}

/// Whether the iterator of a `for` must be rebuilt at restart, rather than saved.
fn rebuilds(known: Known<'_>, iterable: &Expr) -> bool {
    match iterable {
        Expr::Paren(inner) => rebuilds(known, &inner.expr),
        Expr::Range(_) => false,
        Expr::Array(_) => is_repeatable(known.library, iterable),
        Expr::MethodCall(call) if known.library.is_call(call, Adaptor::Reverses) && call.args.is_empty() => {
            rebuilds(known, &call.receiver)
        }
        other => known.borrows(other) || known.is_iterator(other),
    }
}
