//! Readers, and the handles of the standard streams: what their methods give is a value of its own.
//!
//! `lock`, `lines` and `bytes` are methods of other types too, whose results borrow. Where the receiver is known to be a
//! stream, the call is written so that the stages after this one see a value, and the move of the reader into it. What
//! enumerates, skips or takes of such an iterator becomes an adaptor of the runtime, which can be saved half-way.

use crate::library::{Adaptor, Library, Methods, Streams};
use crate::names::{LocalId, Locals};
use crate::paths::rt;
use crate::visit::{self, VisitMut};
use proc_macro2::Ident;
use std::collections::HashMap;
use syn::{Block, Expr, ExprMethodCall, Local, Pat, parse_quote};

/// What an expression is known to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stream {
    /// `stdin()`.
    Input,
    /// `stdout()`, `stderr()`.
    Output,
    /// A `BufReader`, or the lock of `stdin()`.
    Reader,
    /// The lines or bytes of a reader.
    Iterator,
}

/// Writes the calls of streams so that what they give is seen to be a value.
pub fn show_values(library: &Library, locals: &Locals, block: &mut Block) {
    let mut rewrite = Rewrite {
        library,
        locals,
        streams: HashMap::new(),
    };
    rewrite.visit_block_mut(block);
}

/// The one name that a pattern binds, and nothing else.
pub(super) fn plain_name(pattern: &Pat) -> Option<&Ident> {
    match pattern {
        Pat::Type(typed) => plain_name(&typed.pat),
        Pat::Ident(ident) => Some(&ident.ident),
        _ => None,
    }
}

fn made_by(library: &Library, call: &syn::ExprCall) -> Option<Stream> {
    let Expr::Path(path) = &*call.func else {
        return None;
    };
    let borrows = || call.args.iter().any(|arg| matches!(arg, Expr::Reference(_)));
    match library.key_of_path(&path.path)? {
        Streams::Input => Some(Stream::Input),
        Streams::Output => Some(Stream::Output),
        // What borrows the file from elsewhere is rebuilt.
        Streams::Reader if !borrows() => Some(Stream::Reader),
        _ => None,
    }
}

struct Rewrite<'l> {
    library: &'l Library,
    locals: &'l Locals,
    /// What variables are known to be.
    streams: HashMap<LocalId, Stream>,
}

impl VisitMut for Rewrite<'_> {
    fn visit_local_mut(&mut self, local: &mut Local) {
        let known = local.init.as_ref().and_then(|init| self.stream(&init.expr));
        visit::visit_local_mut(self, local);
        let name = plain_name(&local.pat).and_then(|name| self.locals.id(name));
        self.streams.extend(name.zip(known));
    }

    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        let written = match &*expr {
            Expr::MethodCall(call) => self.written(call),
            _ => None,
        };
        visit::visit_expr_mut(self, expr);
        if let (Some(write), Expr::MethodCall(call)) = (written, &*expr) {
            *expr = write(call);
        }
    }

    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}

type Write = fn(&ExprMethodCall) -> Expr;

impl Rewrite<'_> {
    fn stream(&self, expr: &Expr) -> Option<Stream> {
        match expr {
            Expr::Paren(inner) => self.stream(&inner.expr),
            Expr::Try(inner) => self.stream(&inner.expr),
            Expr::Path(path) => self
                .streams
                .get(&self.locals.id(path.path.get_ident()?)?)
                .copied(),
            Expr::MethodCall(call) => {
                let receiver = self.stream(&call.receiver)?;
                let method = call.method.to_string();
                let (of_stream, adaptor) = (self.library.key(&method), self.library.key(&method));
                match (of_stream, adaptor, receiver) {
                    _ if self.library.says(&method, Methods::Unwraps) => Some(receiver),
                    (Some(Streams::Locks), _, Stream::Input) => Some(Stream::Reader),
                    (Some(Streams::Lines | Streams::Bytes), _, Stream::Reader)
                    | (Some(Streams::Lines), _, Stream::Input)
                    | (_, Some(Adaptor::Numbers | Adaptor::Skips | Adaptor::Takes), Stream::Iterator) => {
                        Some(Stream::Iterator)
                    }
                    _ => None,
                }
            }
            Expr::Call(call) => made_by(self.library, call),
            _ => None,
        }
    }

    /// How a call is written, if it is one of a stream.
    fn written(&self, call: &ExprMethodCall) -> Option<Write> {
        let receiver = self.stream(&call.receiver)?;
        let method = call.method.to_string();
        let (of_stream, adaptor) = (self.library.key(&method), self.library.key(&method));
        let write: Write = match (of_stream, adaptor, receiver, call.args.len()) {
            (Some(Streams::Locks), _, Stream::Input | Stream::Output, 0) => |call| {
                let rt = rt();
                parse_quote!(#rt::value(#call))
            },
            (Some(Streams::Lines), _, Stream::Input, 0) => |call| {
                let (rt, receiver) = (rt(), &call.receiver);
                parse_quote!(#rt::value(::std::io::Stdin::lines(#receiver)))
            },
            (Some(Streams::Lines), _, Stream::Reader, 0) => |call| {
                let (rt, receiver) = (rt(), &call.receiver);
                parse_quote!(#rt::value(::std::io::BufRead::lines(#receiver)))
            },
            (Some(Streams::Bytes), _, Stream::Reader, 0) => |call| {
                let (rt, receiver) = (rt(), &call.receiver);
                parse_quote!(#rt::value(::std::io::Read::bytes(#receiver)))
            },
            (_, Some(Adaptor::Numbers), Stream::Iterator, 0) => |call| {
                let (rt, receiver) = (rt(), &call.receiver);
                parse_quote!(#rt::enumerate(#receiver))
            },
            (_, Some(Adaptor::Skips), Stream::Iterator, 1) => |call| {
                let (rt, receiver, count) = (rt(), &call.receiver, &call.args[0]);
                parse_quote!(#rt::skip(#receiver, #count))
            },
            (_, Some(Adaptor::Takes), Stream::Iterator, 1) => |call| {
                let (rt, receiver, count) = (rt(), &call.receiver, &call.args[0]);
                parse_quote!(#rt::take_first(#receiver, #count))
            },
            _ => return None,
        };
        Some(write)
    }
}
