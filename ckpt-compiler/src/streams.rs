//! Readers, and the handles of the standard streams: what their methods give is a value of its own.
//!
//! `lock`, `lines` and `bytes` are methods of other types too, whose results borrow. Where the receiver is known to be a
//! stream, the call is written so that the stages after this one see a value, and the move of the reader into it. What
//! enumerates, skips or takes of such an iterator becomes an adaptor of the runtime, which can be saved half-way.

use crate::paths::rt;
use crate::tables::segments;
use std::collections::{HashMap, HashSet};
use syn::visit::{self, Visit};
use syn::visit_mut::{self, VisitMut};
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

type Names = HashMap<String, Stream>;

/// Writes the calls of streams so that what they give is seen to be a value.
pub fn show_values(block: &mut Block) {
    let mut found = Found::default();
    found.visit_block(block);
    let Found { mut names, others } = found;
    names.retain(|name, _| !others.contains(name));
    Rewrite(names).visit_block_mut(block);
}

/// The names that stand for streams wherever they are declared.
#[derive(Default)]
struct Found {
    names: Names,
    others: HashSet<String>,
}

impl<'ast> Visit<'ast> for Found {
    fn visit_local(&mut self, local: &'ast Local) {
        let pattern = match &local.pat {
            Pat::Type(typed) => &*typed.pat,
            other => other,
        };
        let stream = local
            .init
            .as_ref()
            .and_then(|init| stream(&init.expr, &self.names));
        if let Pat::Ident(ident) = pattern {
            let name = ident.ident.to_string();
            match stream {
                Some(stream) if self.names.get(&name).is_none_or(|known| *known == stream) => {
                    self.names.insert(name, stream);
                }
                _ => {
                    self.others.insert(name);
                }
            }
        }
        visit::visit_local(self, local);
    }
}

fn stream(expr: &Expr, names: &Names) -> Option<Stream> {
    match expr {
        Expr::Paren(inner) => stream(&inner.expr, names),
        Expr::Try(inner) => stream(&inner.expr, names),
        Expr::Path(path) => names.get(&path.path.get_ident()?.to_string()).copied(),
        Expr::MethodCall(call) => {
            let receiver = stream(&call.receiver, names)?;
            match (call.method.to_string().as_str(), receiver) {
                ("unwrap" | "expect", same) => Some(same),
                ("lock", Stream::Input) => Some(Stream::Reader),
                ("lines" | "bytes", Stream::Reader) | ("lines", Stream::Input) => Some(Stream::Iterator),
                ("enumerate" | "skip" | "take", Stream::Iterator) => Some(Stream::Iterator),
                _ => None,
            }
        }
        Expr::Call(call) => made_by(call),
        _ => None,
    }
}

fn made_by(call: &syn::ExprCall) -> Option<Stream> {
    let Expr::Path(path) = &*call.func else {
        return None;
    };
    let segments = segments(&path.path);
    let names: Vec<&str> = segments.iter().map(String::as_str).collect();
    match *names {
        [.., "stdin"] => Some(Stream::Input),
        [.., "stdout" | "stderr"] => Some(Stream::Output),
        // What borrows the file from elsewhere is made again.
        [.., "BufReader", "new" | "with_capacity"]
            if !call.args.iter().any(|arg| matches!(arg, Expr::Reference(_))) =>
        {
            Some(Stream::Reader)
        }
        _ => None,
    }
}

struct Rewrite(Names);

impl VisitMut for Rewrite {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        let written = match &*expr {
            Expr::MethodCall(call) => self.written(call),
            _ => None,
        };
        visit_mut::visit_expr_mut(self, expr);
        if let (Some(write), Expr::MethodCall(call)) = (written, &*expr) {
            *expr = write(call);
        }
    }

    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}

type Write = fn(&ExprMethodCall) -> Expr;

impl Rewrite {
    /// How a call is written, if it is one of a stream.
    fn written(&self, call: &ExprMethodCall) -> Option<Write> {
        let receiver = stream(&call.receiver, &self.0)?;
        let method = call.method.to_string();
        let write: Write = match (method.as_str(), receiver, call.args.len()) {
            ("lock", Stream::Input | Stream::Output, 0) => |call| {
                let rt = rt();
                parse_quote!(#rt::value(#call))
            },
            ("lines", Stream::Input, 0) => |call| {
                let (rt, receiver) = (rt(), &call.receiver);
                parse_quote!(#rt::value(::std::io::Stdin::lines(#receiver)))
            },
            ("lines", Stream::Reader, 0) => |call| {
                let (rt, receiver) = (rt(), &call.receiver);
                parse_quote!(#rt::value(::std::io::BufRead::lines(#receiver)))
            },
            ("bytes", Stream::Reader, 0) => |call| {
                let (rt, receiver) = (rt(), &call.receiver);
                parse_quote!(#rt::value(::std::io::Read::bytes(#receiver)))
            },
            ("enumerate", Stream::Iterator, 0) => |call| {
                let (rt, receiver) = (rt(), &call.receiver);
                parse_quote!(#rt::enumerate(#receiver))
            },
            ("skip", Stream::Iterator, 1) => |call| {
                let (rt, receiver, count) = (rt(), &call.receiver, &call.args[0]);
                parse_quote!(#rt::skip(#receiver, #count))
            },
            ("take", Stream::Iterator, 1) => |call| {
                let (rt, receiver, count) = (rt(), &call.receiver, &call.args[0]);
                parse_quote!(#rt::take_first(#receiver, #count))
            },
            _ => return None,
        };
        Some(write)
    }
}
