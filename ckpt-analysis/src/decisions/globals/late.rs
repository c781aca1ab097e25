//! Statics and thread-locals that are computed when they are first used. To ask one whether it has been is to compute it: so its
//! initialiser runs through a note beside it, which knows. What computes numbers and does nothing else may be computed at any time,
//! and needs none.

use super::{Declared, is_late};
use ckpt_compiler::library::{Library, Types, last_name};
use ckpt_compiler::syntax::purity::computes;
use quote::ToTokens;
use syn::{Expr, ItemStatic, Type};

/// A static that is computed late, and may have effects then.
#[derive(Debug)]
pub(super) struct Late {
    pub name: syn::Ident,
    conditions: Vec<syn::Attribute>,
    /// What computes it: a function, the body of a closure, or the value itself.
    pub computed: Expr,
    sort: Sort,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sort {
    /// `LazyLock::new(function)`.
    Function,
    /// `LazyLock::new(|| ..)`.
    Closure,
    /// A value in `lazy_static!`.
    Value,
    /// One in `thread_local!`, of which every thread has its own.
    OfThread,
}

/// Of `static A: LazyLock<..> = LazyLock::new(..);`, or the same of another library.
pub(super) fn of_static(library: &Library, item: &ItemStatic) -> Option<Late> {
    let computes_late = is_late(library, &item.ty)
        || matches!(&*item.ty, Type::Path(path) if library.says(&last_name(&path.path), Types::ComputedLate));
    let Expr::Call(call) = &*item.expr else {
        return None;
    };
    let function = call
        .args
        .first()
        .filter(|_| computes_late && call.args.len() == 1)?;
    let (computed, sort) = match function {
        Expr::Closure(closure) if makes_the_same(library, &closure.body) => return None,
        Expr::Closure(closure) => (&*closure.body, Sort::Closure),
        function => (function, Sort::Function),
    };
    let declared = Declared::of(item);
    Some(Late {
        name: declared.name,
        conditions: declared.conditions,
        computed: computed.clone(),
        sort,
    })
}

/// Of a static in `thread_local!`, or in `lazy_static!`.
pub(super) fn of_macro(library: &Library, one: &Declared, is_lazy: bool) -> Option<Late> {
    let value = one
        .value
        .as_ref()
        .filter(|value| !makes_the_same(library, value))?;
    Some(Late {
        name: one.name.clone(),
        conditions: one.conditions.clone(),
        computed: value.clone(),
        sort: match is_lazy {
            true => Sort::Value,
            false => Sort::OfThread,
        },
    })
}

/// Whether the expression gives the same whenever it is evaluated, and does nothing else: a cell or pointer around what computes.
fn makes_the_same(library: &Library, expr: &Expr) -> bool {
    let is_around = |name: &str| {
        [Types::Cells, Types::Owners, Types::Atomics, Types::Once]
            .iter()
            .any(|of| library.says(name, *of))
    };
    match expr {
        Expr::Call(call) => {
            let of_type = match &*call.func {
                Expr::Path(path) => path.path.segments.iter().rev().nth(1),
                _ => None,
            };
            let is_around = of_type.is_some_and(|of| is_around(&of.ident.to_string()));
            is_around && call.args.iter().all(|one| makes_the_same(library, one)) || computes(library, expr)
        }
        _ => computes(library, expr),
    }
}

impl Late {
    /// What stands around what computes the static of this name. Types are expected of it in there as they were.
    pub fn around(&self, name: &str) -> (String, String) {
        let note = note_of(name);
        let coming = match self.sort {
            Sort::OfThread => format!("{note}.with(ckpt::__rt::Late::coming)"),
            _ => format!("{note}.coming()"),
        };
        let before = format!(
            "{{ if let ::std::option::Option::Some(ckpt_coming) = {coming} {{ ckpt_coming }} else {{ "
        );
        match self.sort {
            Sort::Function => (format!("|| {before}("), ")() } }".to_owned()),
            _ => (before, " } }".to_owned()),
        }
    }

    /// The note beside the static of this name.
    pub fn note(&self, name: &str) -> String {
        let conditions: String = self
            .conditions
            .iter()
            .map(|one| format!("{} ", one.to_token_stream()))
            .collect();
        let allowed = "#[doc(hidden)] #[allow(non_upper_case_globals)]";
        let new = "ckpt::__rt::Late::new()";
        let note = note_of(name);
        match self.sort {
            Sort::OfThread => format!(
                "{conditions}::std::thread_local! {{ {allowed} static {note}: ckpt::__rt::Late = const {{ {new} }}; }}"
            ),
            _ => format!("{conditions}{allowed} static {note}: ckpt::__rt::Late = {new};"),
        }
    }

    /// A function that passes that note on.
    pub fn asks(&self, name: &str) -> String {
        let note = note_of(name);
        match self.sort {
            Sort::OfThread => format!("|ckpt_ask| {note}.with(|ckpt_late| ckpt_ask(ckpt_late))"),
            _ => format!("|ckpt_ask| ckpt_ask(&{note})"),
        }
    }
}

fn note_of(name: &str) -> String {
    format!("CKPT_LATE_{name}")
}
