//! Iterators in variables, which a loop uses up bit by bit: one that is half used up at a site is rebuilt at a restart
//! and asked for as many items as before. For that it goes into `ckpt::replayed(..)`, with `#[ckpt(refill)]` on its `let`.

mod rest;

use crate::diagnostics::{Diagnostic, Diagnostics, Recovery};
use crate::library::{Adaptor, Iterators, Library};
use crate::names::{LocalSet, Locals};
use crate::paths::rt;
use crate::syntax::origins::effect_of_closure;
use crate::syntax::patterns::is_binding;
use crate::syntax::places::chain_root;
use crate::visit::{self, Visit, VisitMut};
use rest::loops_over_rests;
use syn::{Expr, ItemFn, Local, Pat, parse_quote};

/// The function with the iterators that the diagnostics are about made so; nothing where they are about anything else.
pub fn with_iterators(
    library: &Library,
    function: &ItemFn,
    errors: &Diagnostics,
    locals: &Locals,
) -> Option<ItemFn> {
    let is_one = |one: &Diagnostic| one.recovery() == Some(Recovery::ReplayIterator);
    let iterators: Option<LocalSet> = errors
        .iter()
        .map(|one| locals.id(one.binding().filter(|_| is_one(one))?))
        .collect();
    let mut function = function.clone();
    let mut wrapper = Wrapper {
        library,
        locals,
        iterators: iterators?,
        wrapped: LocalSet::default(),
        borrowed: LocalSet::default(),
    };
    wrapper.visit_block_mut(&mut function.block);
    loops_over_rests(library, &mut function, &wrapper.wrapped, locals);
    let mut items = Items {
        locals,
        borrowed: &wrapper.borrowed,
        wrapped: &wrapper.wrapped,
        found: false,
    };
    items.visit_block(&function.block);
    if items.found {
        return None;
    }
    (wrapper.wrapped == wrapper.iterators).then_some(function)
}

/// Whether the expression makes an iterator that may be replayed: its closures do nothing but compute.
pub fn may_be_replayed(library: &Library, expr: &Expr) -> bool {
    struct Closures<'l> {
        library: &'l Library,
        do_more: bool,
    }
    impl<'ast> Visit<'ast> for Closures<'_> {
        fn visit_expr_closure(&mut self, closure: &'ast syn::ExprClosure) {
            self.do_more |= effect_of_closure(self.library, closure).is_some();
            visit::visit_expr_closure(self, closure);
        }
    }
    let mut closures = Closures {
        library,
        do_more: false,
    };
    closures.visit_expr(expr);
    makes_an_iterator(library, expr) && !closures.do_more
}

/// As far as its last call tells.
fn makes_an_iterator(library: &Library, expr: &Expr) -> bool {
    let is_one = |name: &syn::Ident| {
        let name = name.to_string();
        library.begins_an_iterator(&name) && !library.goes_over_exclusively(&name)
            || [Iterators::Splits, Iterators::Computed, Iterators::Repeated]
                .iter()
                .any(|key| library.says(&name, *key))
            || library.is_adaptor(&name)
    };
    match expr {
        Expr::Paren(inner) => makes_an_iterator(library, &inner.expr),
        Expr::MethodCall(call) => is_one(&call.method),
        // `iter::repeat(0)`, and not `BitVec::repeat(false, n)`
        Expr::Call(call) => matches!(&*call.func, Expr::Path(path)
            if path.path.segments.last().is_some_and(|last| is_one(&last.ident)) && !is_of_type(&path.path)),
        _ => false,
    }
}

/// Whether the function is one of a type, by the custom of its name.
fn is_of_type(path: &syn::Path) -> bool {
    let of = path.segments.iter().rev().nth(1);
    of.is_some_and(|of| of.ident.to_string().starts_with(char::is_uppercase))
}

struct Wrapper<'l> {
    library: &'l Library,
    locals: &'l Locals,
    iterators: LocalSet,
    wrapped: LocalSet,
    /// Those whose items are borrowed, as far as the text tells.
    borrowed: LocalSet,
}

impl VisitMut for Wrapper<'_> {
    fn visit_local_mut(&mut self, local: &mut Local) {
        visit::visit_local_mut(self, local);
        let (Pat::Ident(name), Some(init)) = (&local.pat, &mut local.init) else {
            return;
        };
        let iterator = self.locals.id(&name.ident);
        let Some(iterator) = iterator.filter(|one| self.iterators.contains(*one)) else {
            return;
        };
        let is_treated = local.attrs.iter().any(|one| one.path().is_ident("ckpt"));
        if is_treated || !may_be_replayed(self.library, &init.expr) {
            return;
        }
        if !gives_values(self.library, &init.expr) {
            self.borrowed.insert(iterator);
        }
        let (rt, made) = (rt(), &init.expr);
        init.expr = parse_quote!(#rt::replayed(#made));
        local.attrs.push(parse_quote!(#[ckpt(refill)]));
        self.wrapped.insert(iterator);
    }

    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
    fn visit_expr_closure_mut(&mut self, _: &mut syn::ExprClosure) {}
}

/// Whether the items of an iterator are values of their own, which a checkpoint can hold: `xs.iter().copied()`.
fn gives_values(library: &Library, expr: &Expr) -> bool {
    use Adaptor::*;
    match expr {
        Expr::Paren(inner) => gives_values(library, &inner.expr),
        Expr::Range(_) => true,
        Expr::Call(call) => matches!(&*call.func, Expr::Path(path)
            if library.says_of_path(&path.path, Iterators::Computed)),
        Expr::MethodCall(call) => {
            let method = call.method.to_string();
            match library.key(&method) {
                Some(Copies | Maps | MapsSome | MapsWhile | Scans) => true,
                Some(Numbers) => gives_values(library, &call.receiver),
                _ if library.passes_on_items(&method) => gives_values(library, &call.receiver),
                _ => library.says(&method, Iterators::Values),
            }
        }
        _ => false,
    }
}

/// Looks for borrowed items of iterators that a loop holds in a variable: they would have to be taken again.
struct Items<'n> {
    locals: &'n Locals,
    borrowed: &'n LocalSet,
    wrapped: &'n LocalSet,
    found: bool,
}

impl Items<'_> {
    fn go_over(&self, expr: &Expr, some: &LocalSet) -> bool {
        let root = chain_root(expr).and_then(|root| self.locals.id(root));
        root.is_some_and(|root| some.contains(root))
    }
}

impl<'ast> Visit<'ast> for Items<'_> {
    fn visit_expr_while(&mut self, one: &'ast syn::ExprWhile) {
        struct Conditions<'a, 'n>(&'a mut Items<'n>);
        impl<'ast> Visit<'ast> for Conditions<'_, '_> {
            fn visit_expr_let(&mut self, one: &'ast syn::ExprLet) {
                let borrows = self.0.go_over(&one.expr, self.0.borrowed);
                self.0.found |= borrows && binds_as_it_is(self.0.locals, &one.pat);
            }
        }
        Conditions(self).visit_expr(&one.cond);
        visit::visit_expr_while(self, one);
    }

    fn visit_expr_for_loop(&mut self, one: &'ast syn::ExprForLoop) {
        // A `for` takes the iterator as it is, and no checkpoint holds that.
        self.found |= self.go_over(&one.expr, self.wrapped);
        visit::visit_expr_for_loop(self, one);
    }

    fn visit_item(&mut self, _: &'ast syn::Item) {}
}

/// Whether the pattern binds something that is not behind a `&` in it.
fn binds_as_it_is(locals: &Locals, pattern: &Pat) -> bool {
    struct Binds<'l>(bool, &'l Locals);
    impl<'ast> Visit<'ast> for Binds<'_> {
        fn visit_pat_ident(&mut self, name: &'ast syn::PatIdent) {
            self.0 |= is_binding(self.1, name);
        }
        fn visit_pat_reference(&mut self, _: &'ast syn::PatReference) {}
    }
    let mut binds = Binds(false, locals);
    binds.visit_pat(pattern);
    binds.0
}

#[cfg(test)]
mod tests {
    use crate::passes::try_expand;
    use quote::quote;

    fn expanded(init: proc_macro2::TokenStream, pattern: proc_macro2::TokenStream) -> Result<String, String> {
        let function = quote! {
            fn main() {
                let values = vec![1, 2, 3];
                let mut seen = 0;
                let mut rest = #init;
                while let #pattern = rest.next() {
                    ckpt::checkpoint!();
                    seen += value;
                }
            }
        };
        match try_expand(quote!(), &function, true) {
            Ok(tokens) => Ok(tokens.to_string()),
            Err(errors) => Err(errors.iter().map(|one| one.words().what.to_string()).collect()),
        }
    }

    #[test]
    fn an_iterator_whose_items_are_values_is_gone_over_again() {
        for (init, pattern) in [
            (quote!(values.iter().copied()), quote!(Some(value))),
            (quote!(values.iter()), quote!(Some(&value))),
            (quote!(values.iter().map(|value| value + 1)), quote!(Some(value))),
        ] {
            let text = expanded(init.clone(), pattern).unwrap();
            assert!(
                text.contains("replayed") && text.contains("refill"),
                "{init}: {text}"
            );
        }
    }

    #[test]
    fn a_function_of_a_type_makes_no_iterator() {
        use super::may_be_replayed;
        use crate::library::Library;
        let may_be = |text| may_be_replayed(Library::builtin(), &syn::parse_str(text).unwrap());
        assert!(may_be("std::iter::repeat(0)") && may_be("repeat(0).take(3)"));
        assert!(!may_be("BitVec::repeat(false, n)") && !may_be("bitvec::vec::BitVec::repeat(false, n)"));
    }

    #[test]
    fn what_is_left_is_gone_over_by_a_loop() {
        let text = expanded(quote!(values.iter()), quote!(Some(value))).unwrap();
        assert!(text.contains("asked") && text.contains("skip"), "{text}");
    }

    #[test]
    fn closures_that_do_more_than_compute_are_refused_in_words() {
        let init = quote!(values.iter().map(|value| {
            println!("{value}");
            *value
        }));
        let refused = expanded(init, quote!(Some(value)));
        assert!(refused.is_err_and(|what| what.contains("borrows, changes on its way")));
    }
}
