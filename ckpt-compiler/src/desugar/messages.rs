//! Loops over the messages of a channel whose receiver stays: each message is taken away, so that an iterator that is made again would not
//! find it. `for message in receiver.iter()` is written as `while let Ok(message) = receiver.recv()`, which is the same.

use crate::library::{Library, Threads};
use crate::names::{LocalSet, Locals};
use crate::syntax::marks::Marks;
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
        match pattern {
            Pat::Ident(name) => self.found.extend(self.locals.id(&name.ident)),
            Pat::Type(typed) => self.bound(&typed.pat),
            _ => {}
        }
    }

    fn is_receiver(&self, ty: &Type) -> bool {
        match ty {
            Type::Reference(one) => self.is_receiver(&one.elem),
            Type::Path(path) => self.library.says_of_path(&path.path, Threads::Receivers),
            _ => false,
        }
    }
}

impl<'ast> Visit<'ast> for Receivers<'_> {
    fn visit_local(&mut self, local: &'ast Local) {
        if let (Pat::Tuple(ends), Some(init)) = (&local.pat, &local.init)
            && let Expr::Call(call) = &*init.expr
            && let Expr::Path(path) = &*call.func
            && self.library.says_of_path(&path.path, Threads::Channels)
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
        let name = match expr {
            Expr::Path(path) => path.path.get_ident(),
            _ => None,
        };
        name.and_then(|name| self.locals.id(name))
            .is_some_and(|local| self.receivers.contains(local))
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
    use crate::passes::analyse;
    use quote::ToTokens;

    /// A function whose body is this.
    fn desugared(body: &str) -> String {
        let text = format!("fn f(given: &Receiver<u64>, list: Vec<u64>) {{ {body} }}");
        let stages = analyse("".parse().expect("Rust"), &text.parse().expect("Rust"), false).expect(body);
        stages.function.to_token_stream().to_string().replace(' ', "")
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
}
