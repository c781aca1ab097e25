//! What calls do to what they are lent: summaries of the functions of the program.

use super::contents::{Contents, Watched, Whole, text};
use super::names::{Uses, Variables};
use crate::Analysis;
use crate::items::FnId;
use crate::source::FileId;
use ckpt_compiler::library::{Library, Types};
use ckpt_compiler::syntax::language::is_number_type;
use quote::ToTokens;
use std::cell::RefCell;
use std::collections::HashMap;
use syn::spanned::Spanned;
use syn::{Expr, FnArg, GenericParam, Pat, ReturnType, Type};

/// A function gives a parameter a new value as a whole before it looks at it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Rewritten {
    /// The parameter that says how many elements that are, where the length of the parameter itself does not.
    length: Option<usize>,
}

type Asked = (FnId, usize, bool);

/// The functions of a program, and what is known of them.
pub(super) struct Callees<'a> {
    analysis: &'a Analysis,
    calls: HashMap<(FileId, usize), (&'a [FnId], bool)>,
    /// `None` also while the answer is being worked out: a recursion gets no benefit of the doubt.
    known: RefCell<HashMap<Asked, Option<Rewritten>>>,
}

impl<'a> Callees<'a> {
    pub fn of(analysis: &'a Analysis) -> Self {
        let calls = analysis.graph.calls.iter().map(|call| {
            let key = (call.place.file, call.place.bytes.start);
            (key, (call.callees.as_slice(), call.certain))
        });
        Self {
            analysis,
            calls: calls.collect(),
            known: RefCell::default(),
        }
    }

    /// What a call may run, if that is certain.
    fn callees(&self, file: FileId, call: &Expr) -> Option<&'a [FnId]> {
        let span = match call {
            Expr::Call(call) => match &*call.func {
                Expr::Path(path) => path.span(),
                _ => return None,
            },
            Expr::MethodCall(call) => call.method.span(),
            _ => return None,
        };
        let base = self.analysis.bases.get(file.0).copied().unwrap_or(0);
        let (callees, certain) = self.calls.get(&(file, span.byte_range().start + base))?;
        (*certain && !callees.is_empty()).then_some(*callees)
    }

    /// Whether a call in a file gives the argument of this number, which is lent, a new value as a whole.
    pub fn rewrites(&self, file: FileId, call: &Expr, index: usize, watched: &Watched) -> bool {
        let Some(callees) = self.callees(file, call) else {
            return false;
        };
        callees.iter().all(|callee| {
            self.summary(*callee, index, watched.whole)
                .is_some_and(|summary| match summary.length {
                    None => true,
                    Some(of) => argument(call, of)
                        .is_some_and(|length| watched.lengths.first() == Some(&text(length))),
                })
        })
    }

    fn summary(&self, callee: FnId, index: usize, whole: Whole) -> Option<Rewritten> {
        let key = (callee, index, whole == Whole::Elements);
        if let Some(known) = self.known.borrow().get(&key) {
            return *known;
        }
        self.known.borrow_mut().insert(key, None);
        let found = self.look(callee, index, whole);
        self.known.borrow_mut().insert(key, found);
        found
    }

    fn look(&self, callee: FnId, index: usize, whole: Whole) -> Option<Rewritten> {
        let function = self.analysis.items.function(callee);
        let (name, ty) = parameter(&function.item.sig, index)?;
        let Type::Reference(reference) = ty else {
            return None;
        };
        reference.mutability?;
        let names = Variables::of(&function.item);
        if !names.is_single(&name) || names.hides(&ty.to_token_stream()) {
            return None;
        }
        let lengths = match (&*reference.elem, whole) {
            (Type::Slice(_), Whole::Elements) => Vec::new(),
            (Type::Array(array), Whole::Elements) => vec![text(&array.len)],
            (Type::Path(_), Whole::Elements) if is_list(&self.analysis.library, &reference.elem) => {
                if self.keeps(function.place.file, &function.item, &name, whole, 1) {
                    return None;
                }
                Vec::new()
            }
            (Type::Path(_), Whole::Value) => Vec::new(),
            _ => return None,
        };
        let is_given = !lengths.is_empty();
        let watched = |lengths: Vec<String>| Watched {
            name: name.clone(),
            indices: Vec::new(),
            is_reference: true,
            lengths,
            flat: None,
            whole,
        };
        let rewrites =
            |call: &Expr, at: usize, one: &Watched| self.rewrites(function.place.file, call, at, one);
        let holds = |watched: Watched| {
            Contents::inside(&self.analysis.library, &watched, &rewrites).overwrites(&function.item.block)
        };
        if holds(watched(lengths)) {
            return Some(Rewritten { length: None });
        }
        if is_given || whole == Whole::Value {
            return None;
        }
        let counts = (0..function.item.sig.inputs.len()).find(|&at| {
            parameter(&function.item.sig, at).is_some_and(|(length, ty)| {
                matches!(ty, Type::Path(path) if path.path.is_ident("usize"))
                    && names.is_stable(&length)
                    && holds(watched(vec![length]))
            })
        });
        counts.map(|at| Rewritten { length: Some(at) })
    }

    /// Whether something of the variable may be kept in a function, or its length changed.
    pub fn keeps(
        &self,
        file: FileId,
        function: &syn::ItemFn,
        name: &str,
        whole: Whole,
        depth: usize,
    ) -> bool {
        let lets_go = |call: &Expr, index: usize| self.lets_go(file, call, index, whole);
        let mut uses = Uses {
            library: &self.analysis.library,
            name,
            whole,
            depth,
            is_number: false,
            lets_go: &lets_go,
            is_as_long: &|_| false,
            marks: None,
            kept: false,
        };
        ckpt_compiler::visit::Visit::visit_block(&mut uses, &function.block);
        uses.kept
    }

    /// Whether no callee of a call can keep a reference to its argument of this number, nor change how long it is.
    pub fn lets_go(&self, file: FileId, call: &Expr, index: usize, whole: Whole) -> bool {
        let Some(callees) = self.callees(file, call) else {
            return false;
        };
        callees.iter().all(|callee| {
            let signature = &self.analysis.items.function(*callee).item.sig;
            let names_lifetimes = signature
                .generics
                .params
                .iter()
                .any(|one| matches!(one, GenericParam::Lifetime(_)));
            let Some((_, Type::Reference(reference))) = parameter(signature, index) else {
                return false;
            };
            let keeps_length = whole == Whole::Value
                || reference.mutability.is_none()
                || matches!(&*reference.elem, Type::Slice(_) | Type::Array(_));
            !names_lifetimes && keeps_length && gives_values(&self.analysis.library, &signature.output)
        })
    }
}

/// The name and type of a parameter.
fn parameter(signature: &syn::Signature, index: usize) -> Option<(String, &Type)> {
    match signature.inputs.get(index)? {
        FnArg::Typed(typed) => match &*typed.pat {
            Pat::Ident(one) => Some((one.ident.to_string(), &*typed.ty)),
            _ => None,
        },
        FnArg::Receiver(_) => None,
    }
}

/// The argument for a parameter.
fn argument(call: &Expr, parameter: usize) -> Option<&Expr> {
    match call {
        Expr::Call(call) => call.args.iter().nth(parameter),
        Expr::MethodCall(call) => call.args.iter().nth(parameter.checked_sub(1)?),
        _ => None,
    }
}

fn is_list(library: &Library, ty: &Type) -> bool {
    matches!(ty, Type::Path(path)
        if path.path.segments.last().is_some_and(|last| library.says(&last.ident.to_string(), Types::Lists)))
}

/// Whether the result can hold no reference.
fn gives_values(library: &Library, output: &ReturnType) -> bool {
    fn is_value(library: &Library, ty: &Type) -> bool {
        match ty {
            Type::Tuple(tuple) => tuple.elems.iter().all(|part| is_value(library, part)),
            Type::Array(array) => is_value(library, &array.elem),
            Type::Paren(one) => is_value(library, &one.elem),
            Type::Path(path) => path.path.segments.last().is_some_and(|last| {
                let parts = match &last.arguments {
                    syn::PathArguments::AngleBracketed(list) => list.args.iter().all(
                        |one| matches!(one, syn::GenericArgument::Type(inner) if is_value(library, inner)),
                    ),
                    syn::PathArguments::None => true,
                    syn::PathArguments::Parenthesized(_) => false,
                };
                let name = last.ident.to_string();
                parts && (is_number_type(&name) || library.says(&name, Types::OfValues))
            }),
            _ => false,
        }
    }
    match output {
        ReturnType::Default => true,
        ReturnType::Type(_, ty) => is_value(library, ty),
    }
}
