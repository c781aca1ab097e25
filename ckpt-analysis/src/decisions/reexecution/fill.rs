//! Loops that give every element of a variable a new value: over the elements, or over all indices.

use super::contents::{Contents, Flat, Watched, Whole, bindings_of, text};
use ckpt_compiler::library::{Adaptor, Library, Numbers, PlaceOf, Section};
use syn::{Expr, ExprForLoop, Pat, Stmt};

pub(super) struct Filled<'c, 'a> {
    pub contents: &'c Contents<'a>,
}

impl Filled<'_, '_> {
    /// Whether the loop does, whatever it finds. What it goes over is not looked at before.
    pub fn by(&self, library: &Library, one: &ExprForLoop) -> bool {
        let watched = self.contents.watched;
        if watched.whole != Whole::Elements || one.label.is_some() {
            return false;
        }
        let part = match self.element(&one.expr, &one.pat) {
            Some(part) => Some(part),
            None => self.index(&one.expr, &one.pat, &one.body),
        };
        let keeps_its_name = |part: &Watched, names: &[&String]| {
            names
                .iter()
                .copied()
                .chain([&part.name])
                .all(|name| bindings_of(&one.body, name) == 0)
        };
        let part = part.filter(|part| keeps_its_name(part, &part.indices.iter().collect::<Vec<_>>()));
        part.is_some_and(|part| {
            Contents::inside(library, &part, self.contents.rewrites).overwrites(&one.body)
        })
    }

    fn says<S: Section>(&self, call: &syn::ExprMethodCall, key: S) -> bool {
        self.contents.library.says(&call.method.to_string(), key)
    }

    /// `for e in &mut x`, `for e in x.iter_mut()`, `for (i, e) in x.iter_mut().enumerate()`.
    fn element(&self, over: &Expr, pattern: &Pat) -> Option<Watched> {
        let (over, pattern) = match (over, pattern) {
            (Expr::MethodCall(call), Pat::Tuple(pair))
                if self.says(call, Adaptor::Numbers) && pair.elems.len() == 2 =>
            {
                (&*call.receiver, &pair.elems[1])
            }
            other => other,
        };
        let all = match over {
            Expr::Reference(one) if one.mutability.is_some() => self.contents.is_watched(&one.expr),
            Expr::MethodCall(call) => {
                self.says(call, PlaceOf::Each) && self.contents.is_watched(&call.receiver)
            }
            Expr::Path(_) => self.contents.watched.is_reference && self.contents.is_watched(over),
            _ => false,
        };
        match pattern {
            Pat::Ident(element) if all && element.subpat.is_none() && element.by_ref.is_none() => {
                let lengths = self.contents.watched.lengths.get(1..).unwrap_or_default();
                Some(Watched {
                    name: element.ident.to_string(),
                    indices: Vec::new(),
                    is_reference: true,
                    lengths: lengths.to_vec(),
                    flat: None,
                    whole: Whole::Elements,
                })
            }
            _ => None,
        }
    }

    /// `for i in 0..x.len()`, `for i in 0..n` where `n` is known to be the length.
    fn index(&self, over: &Expr, pattern: &Pat, body: &syn::Block) -> Option<Watched> {
        let watched = self.contents.watched;
        let (Expr::Range(range), Pat::Ident(index)) = (unparenthesised(over), pattern) else {
            return None;
        };
        let (start, end) = (range.start.as_deref()?, range.end.as_deref()?);
        let is_half_open = matches!(range.limits, syn::RangeLimits::HalfOpen(_));
        if !is_half_open
            || text(start) != "0"
            || index.mutability.is_some()
            || watched
                .flat
                .as_ref()
                .is_some_and(|flat| index.ident != flat.column)
        {
            return None;
        }
        let index = index.ident.to_string();
        let is_length = matches!(end, Expr::MethodCall(call)
            if self.says(call, Numbers::Length) && self.contents.is_watched(&call.receiver));
        let (end, length) = (text(end), watched.lengths.first());
        if is_length || length == Some(&end) {
            let mut part = watched.clone();
            if part.flat.is_none() {
                part.indices.push(index);
            }
            part.lengths = watched.lengths.get(1..).unwrap_or_default().to_vec();
            return Some(part);
        }
        // All rows of what is kept in one piece: `x[i * n + j]`.
        let (column, width, inside) = innermost_range(body)?;
        let is_product = length.is_some_and(|length| {
            *length == format!("{end} * {width}") || *length == format!("{width} * {end}")
        });
        let is_whole = watched.indices.is_empty() && watched.flat.is_none();
        (is_product && is_whole && bindings_of(body, &index) == 0).then(|| Watched {
            indices: Vec::new(),
            lengths: vec![width.clone()],
            flat: Some(Flat {
                index: flat_index(inside, &index, &width, &column),
                column,
            }),
            ..watched.clone()
        })
    }
}

/// The index of an element, as it is written: `i * n + j`, or the name that a `let` gives it.
fn flat_index(body: &syn::Block, row: &str, width: &str, column: &str) -> String {
    let written = format!("{row} * {width} + {column}");
    struct Named<'w>(&'w str, Option<String>);
    impl<'ast> ckpt_compiler::visit::Visit<'ast> for Named<'_> {
        fn visit_local(&mut self, local: &'ast syn::Local) {
            if let (Pat::Ident(name), Some(init)) = (&local.pat, &local.init)
                && name.mutability.is_none()
                && text(&*init.expr) == self.0
            {
                self.1 = Some(name.ident.to_string());
            }
        }
    }
    let mut named = Named(&written, None);
    ckpt_compiler::visit::Visit::visit_block(&mut named, body);
    match named.1 {
        Some(name) if bindings_of(body, &name) == 1 => name,
        _ => written,
    }
}

/// The only loop of a body, if it goes over `0..n`: its index, `n`, and what it repeats.
fn innermost_range(body: &syn::Block) -> Option<(String, String, &syn::Block)> {
    let mut loops = body.stmts.iter().filter_map(|stmt| match stmt {
        Stmt::Expr(Expr::ForLoop(one), _) => Some(one),
        _ => None,
    });
    let one = loops.next()?;
    let (Expr::Range(range), Pat::Ident(index)) = (unparenthesised(&one.expr), &*one.pat) else {
        return None;
    };
    let is_first = loops.next().is_none() && range.start.as_deref().is_some_and(|start| text(start) == "0");
    is_first.then(|| Some((index.ident.to_string(), text(range.end.as_deref()?), &one.body)))?
}

fn unparenthesised(expr: &Expr) -> &Expr {
    match expr {
        Expr::Paren(inner) => unparenthesised(&inner.expr),
        other => other,
    }
}
