//! Readers, and the handles of the standard streams: what their methods give is a value of its own.
//!
//! `lock`, `lines` and `bytes` are methods of other types too, whose results borrow. Where the receiver is known to be a
//! stream, the call is written so that the stages after this one see a value, and the move of the reader into it. What
//! enumerates, skips or takes of such an iterator becomes an adaptor of the runtime, which can be saved half-way.

use crate::library::{Adaptor, Library, Methods, Streams};
use crate::paths::rt;
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

type StreamsByName = HashMap<String, Stream>;

/// Writes the calls of streams so that what they give is seen to be a value.
pub fn show_values(library: &Library, block: &mut Block) {
    let mut others = BoundElsewhere::default();
    others.visit_block(block);
    let mut rewrite = Rewrite {
        library,
        names: StreamsByName::new(),
        others: others.0,
    };
    rewrite.visit_block_mut(block);
}

/// The names that patterns other than that of a `let` bind: what they stand for is not looked at.
#[derive(Default)]
struct BoundElsewhere(HashSet<String>);

impl<'ast> Visit<'ast> for BoundElsewhere {
    fn visit_local(&mut self, local: &'ast Local) {
        if plain_name(&local.pat).is_none() {
            self.visit_pat(&local.pat);
        }
        if let Some(init) = &local.init {
            visit::visit_local_init(self, init);
        }
    }

    fn visit_pat_ident(&mut self, ident: &'ast syn::PatIdent) {
        self.0.insert(ident.ident.to_string());
        visit::visit_pat_ident(self, ident);
    }
}

/// The one name that a pattern binds, and nothing else.
fn plain_name(pattern: &Pat) -> Option<String> {
    match pattern {
        Pat::Type(typed) => plain_name(&typed.pat),
        Pat::Ident(ident) => Some(ident.ident.to_string()),
        _ => None,
    }
}

fn stream(library: &Library, expr: &Expr, names: &StreamsByName) -> Option<Stream> {
    match expr {
        Expr::Paren(inner) => stream(library, &inner.expr, names),
        Expr::Try(inner) => stream(library, &inner.expr, names),
        Expr::Path(path) => names.get(&path.path.get_ident()?.to_string()).copied(),
        Expr::MethodCall(call) => {
            let receiver = stream(library, &call.receiver, names)?;
            let method = call.method.to_string();
            match (library.key(&method), library.key(&method), receiver) {
                _ if library.says(&method, Methods::Unwraps) => Some(receiver),
                (Some(Streams::Locks), _, Stream::Input) => Some(Stream::Reader),
                (Some(Streams::Lines | Streams::Bytes), _, Stream::Reader)
                | (Some(Streams::Lines), _, Stream::Input)
                | (_, Some(Adaptor::Numbers | Adaptor::Skips | Adaptor::Takes), Stream::Iterator) => {
                    Some(Stream::Iterator)
                }
                _ => None,
            }
        }
        Expr::Call(call) => made_by(library, call),
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
        // What borrows the file from elsewhere is made again.
        Streams::Reader if !borrows() => Some(Stream::Reader),
        _ => None,
    }
}

struct Rewrite<'l> {
    library: &'l Library,
    /// What the names stand for here: `let stdout = stdout.lock();` gives one another meaning.
    names: StreamsByName,
    others: HashSet<String>,
}

impl VisitMut for Rewrite<'_> {
    fn visit_block_mut(&mut self, block: &mut Block) {
        let before = self.names.clone();
        visit_mut::visit_block_mut(self, block);
        self.names = before;
    }

    fn visit_local_mut(&mut self, local: &mut Local) {
        let known = local
            .init
            .as_ref()
            .and_then(|init| stream(self.library, &init.expr, &self.names));
        visit_mut::visit_local_mut(self, local);
        let Some(name) = plain_name(&local.pat) else {
            return;
        };
        self.names.remove(&name);
        let known = known.filter(|_| !self.others.contains(&name));
        self.names.extend(known.map(|stream| (name, stream)));
    }

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

impl Rewrite<'_> {
    /// How a call is written, if it is one of a stream.
    fn written(&self, call: &ExprMethodCall) -> Option<Write> {
        let receiver = stream(self.library, &call.receiver, &self.names)?;
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
