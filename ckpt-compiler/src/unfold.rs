//! Chains of adaptors with a site in one of their closures become loops.
//!
//! `let sums: Vec<_> = list.iter().map(|x| { checkpoint!(); f(x) }).collect();` becomes a `for` over `list.iter()` that
//! gathers what it computes: a walk can enter a loop, but no closure. The order of everything that runs is the same. Only
//! what is certain to be an iterator that runs where it stands is unfolded: it begins at a range or with a method that
//! makes an iterator, nothing in it is parallel, and it ends in one of `for_each`, `collect`, `sum`, `product`, `fold`,
//! `count`, `unzip`, or in a `for`.

use crate::borrow::closure_in;
use crate::flow::arguments_of_macro;
use crate::marks::Marks;
use crate::names::Names;
use crate::paths::rt;
use crate::spine::peeled::{Peeler, closure_of};
use quote::{ToTokens, quote};
use syn::visit::{self, Visit};
use syn::visit_mut::{self, VisitMut};
use syn::{Block, Expr, ExprClosure, ExprForLoop, ExprMethodCall, Pat, parse_quote};

/// Unfolds the chains of a function's body that have a site in a closure.
pub fn unfold(body: &mut Block, marks: Marks<'_>, names: &Names) {
    let mut unfolder = Unfolder {
        peeler: Peeler { names, marks },
    };
    unfolder.visit_block_mut(body);
}

/// The closures that unfolding the chain would open, if it can be unfolded.
pub fn closures_of_call(call: &ExprMethodCall) -> Vec<&ExprClosure> {
    let own = closure_in_end(call);
    if !ends_a_chain(call) || own.is_none() && !call.args.is_empty() {
        return Vec::new();
    }
    closures_around(&call.receiver, own)
}

/// The same for the iterator of a `for`.
pub fn closures_of_for(one: &ExprForLoop) -> Vec<&ExprClosure> {
    closures_around(&one.expr, None)
}

fn closures_around<'e>(over: &'e Expr, own: Option<&'e ExprClosure>) -> Vec<&'e ExprClosure> {
    if !is_sequential(over) {
        return Vec::new();
    }
    let mut found: Vec<&ExprClosure> = own.into_iter().collect();
    let mut at = over;
    loop {
        match at {
            Expr::Paren(inner) => at = &inner.expr,
            Expr::MethodCall(call) => match closure_of(call) {
                Some(closure) => {
                    found.push(closure);
                    at = &call.receiver;
                }
                None if call.method == "enumerate" => at = &call.receiver,
                None => break,
            },
            _ => break,
        }
    }
    if found.iter().all(|closure| can_be_written_out(closure)) {
        found
    } else {
        Vec::new()
    }
}

struct Unfolder<'a> {
    peeler: Peeler<'a>,
}

impl VisitMut for Unfolder<'_> {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        // What stands inside comes first: a chain in a closure of another makes a site of that closure.
        visit_mut::visit_expr_mut(self, expr);
        let closures = match &*expr {
            Expr::ForLoop(one) => closures_of_for(one),
            Expr::MethodCall(call) => closures_of_call(call),
            _ => return,
        };
        let has_site = |closure: &&ExprClosure| self.peeler.marks.in_expr(&closure.body);
        if !closures.iter().any(has_site) {
            return;
        }
        match expr {
            Expr::ForLoop(one) => self.peel(one),
            Expr::MethodCall(call) => {
                if let Some(unfolded) = self.unfolded(call) {
                    *expr = unfolded;
                }
            }
            _ => {}
        }
    }

    fn visit_macro_mut(&mut self, mac: &mut syn::Macro) {
        if !self.peeler.marks.in_tokens(&mac.tokens) {
            return;
        }
        if let Some(mut arguments) = arguments_of_macro(mac) {
            arguments.iter_mut().for_each(|one| self.visit_expr_mut(one));
            mac.tokens = arguments.to_token_stream();
        }
    }

    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}

impl Unfolder<'_> {
    /// Takes closures off until none with a site is left in the iterator.
    fn peel(&self, one: &mut ExprForLoop) {
        let with_site = |over: &Expr| {
            let mut sites = ClosuresWithSites {
                marks: self.peeler.marks,
                found: false,
            };
            sites.visit_expr(over);
            sites.found
        };
        while with_site(&one.expr) {
            if let Expr::Paren(inner) = &*one.expr {
                one.expr = inner.expr.clone();
            } else if !self.peeler.peel_one(&mut one.expr, &mut one.pat, &mut one.body) {
                return;
            }
        }
    }

    fn unfolded(&self, call: &ExprMethodCall) -> Option<Expr> {
        let (rt, over, names) = (rt(), &call.receiver, self.peeler.names);
        let (item, out) = (names.fresh("item"), names.fresh("gathered"));
        let turbofish = &call.turbofish;
        let argument = call.args.first();
        let (start, turn, end): (Expr, Block, Expr) = match call.method.to_string().as_str() {
            "for_each" => {
                let closure = closure_in(argument?)?;
                let (input, body) = (closure.inputs.first()?, &closure.body);
                return Some(self.looped(
                    parse_quote!(for #item in #over { let #input = #item; #body; }),
                    None,
                ));
            }
            "collect" | "unzip" => (
                parse_quote!(#rt::gathered #turbofish()),
                parse_quote!({ #rt::gather(&mut #out, #item); }),
                parse_quote!(#out),
            ),
            "sum" => (
                parse_quote!(#rt::none #turbofish()),
                parse_quote!({ #out = #rt::add(#out, #item); }),
                parse_quote!(#rt::sum_of(#out)),
            ),
            "product" => (
                parse_quote!(#rt::none #turbofish()),
                parse_quote!({ #out = #rt::multiply(#out, #item); }),
                parse_quote!(#rt::product_of(#out)),
            ),
            "count" => (
                parse_quote!(0usize),
                parse_quote!({ let _ = #item; #out += 1; }),
                parse_quote!(#out),
            ),
            "fold" => {
                let closure = closure_in(call.args.iter().nth(1)?)?;
                let (first, second) = (closure.inputs.first()?, closure.inputs.iter().nth(1)?);
                let (body, start) = (&closure.body, argument?);
                (
                    start.clone(),
                    parse_quote!({ #out = { let #first = #out; let #second = #item; #body }; }),
                    parse_quote!(#out),
                )
            }
            _ => return None,
        };
        let one = parse_quote!(for #item in #over #turn);
        Some(self.looped(one, Some((parse_quote!(let mut #out = #start;), end))))
    }

    fn looped(&self, mut one: ExprForLoop, result: Option<(syn::Stmt, Expr)>) -> Expr {
        self.peel(&mut one);
        match result {
            Some((start, end)) => parse_quote!({ #start #one #end }),
            None => parse_quote!({ #one }),
        }
    }
}

/// Whether a closure in an expression has a site.
struct ClosuresWithSites<'a> {
    marks: Marks<'a>,
    found: bool,
}

impl<'ast> Visit<'ast> for ClosuresWithSites<'_> {
    fn visit_expr_closure(&mut self, closure: &'ast ExprClosure) {
        self.found |= self.marks.in_expr(&closure.body);
        visit::visit_expr_closure(self, closure);
    }
}

fn ends_a_chain(call: &ExprMethodCall) -> bool {
    let arguments = match call.method.to_string().as_str() {
        "collect" | "sum" | "product" | "count" => 0,
        "unzip" if call.turbofish.is_none() => 0,
        "for_each" => 1,
        "fold" => 2,
        _ => return false,
    };
    call.args.len() == arguments
}

/// The closure of `for_each` or `fold`.
fn closure_in_end(call: &ExprMethodCall) -> Option<&ExprClosure> {
    closure_in(call.args.last()?)
}

/// Whether a chain is certain to be an iterator, and one that runs on this thread.
fn is_sequential(over: &Expr) -> bool {
    match over {
        Expr::Paren(inner) => is_sequential(&inner.expr),
        Expr::Range(_) => true,
        Expr::MethodCall(call) => {
            let method = call.method.to_string();
            let makes_an_iterator = [
                "iter",
                "iter_mut",
                "into_iter",
                "chunks",
                "chunks_exact",
                "chunks_mut",
                "windows",
                "lines",
                "bytes",
                "chars",
                "char_indices",
                "split_whitespace",
                "keys",
                "values",
                "values_mut",
                "into_keys",
                "into_values",
                "drain",
            ];
            makes_an_iterator.contains(&method.as_str()) && !is_parallel(over)
                || goes_on(&method) && is_sequential(&call.receiver)
        }
        _ => false,
    }
}

fn goes_on(method: &str) -> bool {
    [
        "map",
        "inspect",
        "filter",
        "take_while",
        "filter_map",
        "map_while",
        "enumerate",
        "rev",
        "zip",
        "skip",
        "take",
        "step_by",
        "copied",
        "cloned",
        "chain",
        "skip_while",
        "peekable",
        "fuse",
    ]
    .contains(&method)
}

fn is_parallel(expr: &Expr) -> bool {
    match expr {
        Expr::MethodCall(call) => {
            let method = call.method.to_string();
            method.starts_with("par_") || method.contains("_par_") || is_parallel(&call.receiver)
        }
        Expr::Paren(inner) => is_parallel(&inner.expr),
        _ => false,
    }
}

/// Whether the body of a closure means the same where the closure is called: nothing in it returns from it, and it has no
/// state of its own.
fn can_be_written_out(closure: &ExprClosure) -> bool {
    struct Leaves(bool);
    impl<'ast> Visit<'ast> for Leaves {
        fn visit_expr(&mut self, expr: &'ast Expr) {
            self.0 |= matches!(
                expr,
                Expr::Return(_) | Expr::Try(_) | Expr::Await(_) | Expr::Yield(_)
            );
            visit::visit_expr(self, expr);
        }
        fn visit_expr_closure(&mut self, _: &'ast ExprClosure) {}
        fn visit_item(&mut self, _: &'ast syn::Item) {}
        fn visit_macro(&mut self, mac: &'ast syn::Macro) {
            let tokens = quote!(#mac).to_string();
            self.0 |= tokens
                .split(|c: char| !c.is_alphanumeric() && c != '_')
                .any(|word| word == "return")
                || tokens.contains('?') && arguments_of_macro(mac).is_none();
        }
    }
    let mut leaves = Leaves(false);
    leaves.visit_expr(&closure.body);
    let typed_output = matches!(closure.output, syn::ReturnType::Type(..));
    !leaves.0
        && !typed_output
        && closure.asyncness.is_none()
        && !closure
            .inputs
            .iter()
            .any(|input| matches!(input, Pat::Verbatim(_)))
}
