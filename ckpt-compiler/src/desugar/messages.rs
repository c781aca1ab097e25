//! Loops over the messages of a channel whose receiver stays: each message is taken away, so that an iterator that is made again would not
//! find it. `for message in receiver.iter()` is written as `while let Ok(message) = receiver.recv()`, which is the same.

use super::streams::plain_name;
use crate::library::{Library, Threads, last_name};
use crate::names::{LocalSet, Locals};
use crate::syntax::marks::Marks;
use crate::syntax::places::variable;
use crate::visit::{self, Visit, VisitMut};
use quote::quote_spanned;
use syn::spanned::Spanned;
use syn::{Expr, ExprForLoop, ItemFn, Local, Pat, Type, parse_quote};

/// Has such loops of a function with sites receive the messages one by one.
pub fn receive(function: &mut ItemFn, marks: Marks<'_>, locals: &Locals) {
    let mut receivers = Receivers {
        library: marks.library,
        locals,
        found: LocalSet::default(),
    };
    receivers.visit_item_fn(function);
    Receive {
        marks,
        locals,
        receivers: receivers.found,
    }
    .visit_block_mut(&mut function.block);
}

/// The variables that are certainly receivers.
struct Receivers<'l> {
    library: &'l Library,
    locals: &'l Locals,
    found: LocalSet,
}

impl Receivers<'_> {
    fn bound(&mut self, pattern: &Pat) {
        let name = plain_name(pattern);
        self.found.extend(name.and_then(|name| self.locals.id(name)));
    }

    /// Whether the path is what the table means, and nothing of the program's own that has its name.
    fn is_of_std(&self, path: &syn::Path, key: Threads) -> bool {
        self.library.says_of_path(path, key) && !self.library.own().has(&last_name(path))
    }

    fn is_receiver(&self, ty: &Type) -> bool {
        match ty {
            Type::Reference(one) => self.is_receiver(&one.elem),
            Type::Path(path) => self.is_of_std(&path.path, Threads::Receivers),
            _ => false,
        }
    }
}

impl<'ast> Visit<'ast> for Receivers<'_> {
    fn visit_local(&mut self, local: &'ast Local) {
        if let (Pat::Tuple(ends), Some(init)) = (&local.pat, &local.init)
            && let Expr::Call(call) = &*init.expr
            && let Expr::Path(path) = &*call.func
            && self.is_of_std(&path.path, Threads::Channels)
            && ends.elems.len() == 2
        {
            self.bound(&ends.elems[1]);
        }
        visit::visit_local(self, local);
    }

    fn visit_pat_type(&mut self, typed: &'ast syn::PatType) {
        if self.is_receiver(&typed.ty) {
            self.bound(&typed.pat);
        }
    }
}

struct Receive<'a> {
    marks: Marks<'a>,
    locals: &'a Locals,
    receivers: LocalSet,
}

impl Receive<'_> {
    fn is_receiver(&self, expr: &Expr) -> bool {
        let local = variable(expr).and_then(|name| self.locals.id(name));
        local.is_some_and(|local| self.receivers.contains(local))
    }

    /// What takes the next message of those that the loop goes over.
    fn next(&self, one: &ExprForLoop) -> Option<Expr> {
        let at = one.expr.span();
        match &*one.expr {
            Expr::Reference(lent) if lent.mutability.is_none() && self.is_receiver(&lent.expr) => {
                let receiver = &lent.expr;
                syn::parse2(quote_spanned!(at=> #receiver.recv())).ok()
            }
            Expr::MethodCall(call) if call.args.is_empty() && self.is_receiver(&call.receiver) => {
                let receiver = &call.receiver;
                match self.marks.library.key(&call.method.to_string())? {
                    Threads::Messages => syn::parse2(quote_spanned!(at=> #receiver.recv())).ok(),
                    Threads::MessagesThere => syn::parse2(quote_spanned!(at=> #receiver.try_recv())).ok(),
                    _ => None,
                }
            }
            _ => None,
        }
    }
}

impl VisitMut for Receive<'_> {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        if let Expr::ForLoop(one) = expr
            && self.marks.in_block(&one.body)
            && let Some(next) = self.next(one)
        {
            let (attributes, label, pattern, body) = (&one.attrs, &one.label, &one.pat, &one.body);
            *expr = parse_quote! {
                #(#attributes)*
                #label while let ::core::result::Result::Ok(#pattern) = #next #body
            };
        }
        visit::visit_expr_mut(self, expr);
    }

    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}

#[cfg(test)]
mod tests {
    use crate::library::OwnNames;
    use crate::passes::analyse_among;
    use quote::ToTokens;

    /// A function with this body, of a program that declares this.
    fn desugared_among(declared: &str, body: &str) -> String {
        let text = format!("fn f(given: &Receiver<u64>, list: Vec<u64>) {{ {body} }}");
        let mut own = OwnNames::default();
        own.read(declared);
        let (none, item) = ("".parse().expect("Rust"), text.parse().expect("Rust"));
        let stages = analyse_among(none, &item, &own.into(), false).expect(body);
        stages.function.to_token_stream().to_string().replace(' ', "")
    }

    fn desugared(body: &str) -> String {
        desugared_among("", body)
    }

    #[test]
    fn messages_are_received_one_by_one() {
        const BODY: &str = "{ ckpt::checkpoint!(); g(v); }";
        for (head, expected) in [
            ("for v in rx.iter()", "::core::result::Result::Ok(v)=rx.recv()"),
            ("for (v, w) in &rx", "::core::result::Result::Ok((v,w))=rx.recv()"),
            ("'l: for v in rx.try_iter()", "'l:while"),
            ("for v in given.iter()", "=given.recv()"),
        ] {
            let text = desugared(&format!("let (tx, rx) = mpsc::channel(); {head} {BODY}"));
            assert!(text.contains(expected) && !text.contains("iter()"), "{text}");
        }
        for head in ["for v in list.iter()", "for v in &tx"] {
            let text = desugared(&format!("let (tx, rx) = mpsc::channel(); {head} {BODY}"));
            assert!(!text.contains("recv"), "{text}");
        }
    }

    #[test]
    fn what_only_has_the_name_of_a_receiver_is_none() {
        const BODY: &str = "{ ckpt::checkpoint!(); g(v); }";
        for (declared, head) in [
            ("struct Receiver<T> { all: Vec<T> }", "for v in given.iter()"),
            ("fn channel() -> (u64, Vec<u64>) {}", "for v in rx.iter()"),
        ] {
            let text = desugared_among(declared, &format!("let (tx, rx) = channel(); {head} {BODY}"));
            assert!(!text.contains("recv"), "{text}");
        }
    }
}
