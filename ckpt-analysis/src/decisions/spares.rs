//! Which functions have spares: the same function by another name, for calls in what may go on from a checkpoint. The
//! optimiser then learns from the other calls what it learns in the program as it was, see `ckpt_compiler::emit::spares`.

use crate::Analysis;
use crate::calls::{Call, CallForm};
use crate::items::{Def, FnId, FnKind, Function, ScopeId};
use crate::placement::Placement;
use crate::source::Program;
use crate::source::edits::Edit;
use ckpt_compiler::syntax::mentions::names_in;
use ckpt_compiler::visit::{self, Visit};
use quote::ToTokens;
use std::collections::{BTreeMap, BTreeSet};
use syn::{FnArg, Pat, ReturnType};

/// Functions with spares that a function calls, by how it writes them: a path, or a method's name behind a dot.
type Called = BTreeMap<Written, FnId>;

/// How a call says what it calls.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Written {
    /// `grid::sweep(..)`
    Path(String),
    /// `grid.sweep(..)`
    Method(String),
}

/// What a function has to do in one call, in operations, for it to matter how it is built.
const SOME: f64 = 30.0;

/// The functions that have spares, and the calls that need no help with what they are lent.
#[derive(Debug)]
pub struct Spares {
    /// Those without sites, each with those that it calls by their spares.
    kernels: BTreeMap<FnId, Called>,
    /// Those with sites.
    with_sites: BTreeSet<FnId>,
    /// For each function with sites: those with spares that it calls.
    called: BTreeMap<FnId, Called>,
}

impl Spares {
    /// Those of a placement.
    pub fn of(analysis: &Analysis, placement: &Placement) -> Self {
        let placed = placement.functions.iter().filter(|one| !one.by_user);
        let placed: BTreeSet<FnId> = placed.map(|one| one.function).collect();
        let by_user = placement.functions.iter().filter(|one| one.by_user);
        let by_user: BTreeSet<FnId> = by_user.map(|one| one.function).collect();
        let spares = |caller: FnId| -> Called {
            let mut called = called_alone(analysis, caller);
            called.retain(|_, id| {
                let function = analysis.items.function(*id);
                let matters = placed.contains(id) || placement.costs.functions[id.0].per_call >= SOME;
                matters
                    && !by_user.contains(id)
                    && is_reached(analysis, caller, *id)
                    && is_open(function)
                    && (!placed.contains(id) || function.kind == FnKind::Free && hands_on(function))
                    && !calls_itself(analysis, *id)
            });
            called
        };
        let called: BTreeMap<FnId, Called> = placed.iter().map(|id| (*id, spares(*id))).collect();
        let mut kernels = BTreeMap::new();
        let mut left: Vec<FnId> = called.values().flat_map(BTreeMap::values).copied().collect();
        while let Some(id) = left.pop() {
            if placed.contains(&id) || kernels.contains_key(&id) {
                continue;
            }
            let mut below = spares(id);
            below.retain(|_, id| !placed.contains(id));
            left.extend(below.values());
            kernels.insert(id, below);
        }
        let with_sites = called.values().flat_map(BTreeMap::values).copied();
        Self {
            kernels,
            with_sites: with_sites.filter(|id| placed.contains(id)).collect(),
            called,
        }
    }

    /// The functions with spares that a function with sites calls.
    pub fn called_by(&self, function: FnId) -> impl Iterator<Item = FnId> {
        let called = self.called.get(&function);
        called.into_iter().flat_map(BTreeMap::values).copied()
    }

    /// What the attribute of a function with sites says of them.
    pub fn arguments(&self, analysis: &Analysis, function: FnId, calls: &[String]) -> Vec<String> {
        let mut parts = Vec::new();
        let typed = calls.iter().filter(|name| is_typed(analysis, function, name));
        let typed: Vec<&str> = typed.map(String::as_str).collect();
        if !typed.is_empty() {
            parts.push(format!("typed({})", typed.join(", ")));
        }
        if self.with_sites.contains(&function) {
            parts.push("spare".to_owned());
        }
        let called = self
            .called
            .get(&function)
            .map(|called| names(analysis, function, called));
        let called = called.unwrap_or_default();
        if !called.is_empty() {
            parts.push(format!("spares({called})"));
        }
        parts
    }

    /// The attributes of those without sites.
    pub fn edits(&self, program: &Program, analysis: &Analysis) -> Vec<Edit> {
        let attribute = |(id, called): (&FnId, &Called)| {
            let function = analysis.items.function(*id);
            let text = &program.file(function.place.file).text;
            let names = names(analysis, *id, called);
            let said = match (function.kind == FnKind::Inherent, names.is_empty()) {
                (false, _) => names,
                (true, true) => "impl".to_owned(),
                (true, false) => format!("impl, {names}"),
            };
            let attribute = format!("#[ckpt::__rt::spare({said})]");
            Edit::line_before(function.place.file, text, function.insert_at, &attribute)
        };
        self.kernels.iter().map(attribute).collect()
    }
}

fn own_calls(analysis: &Analysis, caller: FnId) -> impl Iterator<Item = &Call> {
    let calls = analysis.graph.calls.iter();
    calls.filter(move |call| call.caller == caller)
}

/// The functions that a function calls by a path that stands for nothing else in it.
fn called_alone(analysis: &Analysis, caller: FnId) -> Called {
    let mut by_name: BTreeMap<&str, Option<FnId>> = BTreeMap::new();
    let mut written = Called::new();
    for call in own_calls(analysis, caller) {
        let Some(name) = call.form.last() else { continue };
        let one = match (&call.form, &call.callees[..]) {
            (CallForm::Path(path), [one]) if call.certain => {
                written.insert(Written::Path(path.join("::")), *one);
                Some(*one)
            }
            (CallForm::Method(name), [one]) if call.certain => {
                written.insert(Written::Method(name.clone()), *one);
                Some(*one)
            }
            _ => None,
        };
        let known = by_name.entry(name).or_insert(one);
        if *known != one {
            *known = None;
        }
    }
    let mut methods = Methods::default();
    methods.visit_block(&analysis.items.function(caller).item.block);
    // What leads to no function of the program is no call here, as `next` of an iterator.
    let all_are_known = |name: &str| {
        let known = own_calls(analysis, caller).filter(|call| call.form.last() == Some(name));
        let known = known
            .filter(|call| matches!(call.form, CallForm::Method(_)))
            .count();
        methods.calls.get(name).copied().unwrap_or(0) == known
    };
    written.retain(|written, id| {
        let function = analysis.items.function(*id);
        let is_known = by_name.get(function.name.as_str()) == Some(&Some(*id));
        let is_named = match written {
            Written::Path(path) => last(path) == function.name && syn::parse_str::<syn::Path>(path).is_ok(),
            Written::Method(name) => *name == function.name && all_are_known(name),
        };
        is_known && is_named
    });
    written
}

/// How often methods are called, by their names.
#[derive(Debug, Default)]
struct Methods {
    calls: BTreeMap<String, usize>,
}

impl<'ast> Visit<'ast> for Methods {
    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        *self.calls.entry(call.method.to_string()).or_default() += 1;
        visit::visit_expr_method_call(self, call);
    }
}

fn last(path: &str) -> &str {
    path.rsplit("::").next().unwrap_or(path)
}

fn calls_itself(analysis: &Analysis, id: FnId) -> bool {
    own_calls(analysis, id).any(|call| call.callees.contains(&id))
}

/// Whether the caller can name what stands beside the function: in a module around it, or just below one of these. What
/// stands beside a method is called as the method is.
fn is_reached(analysis: &Analysis, caller: FnId, called: FnId) -> bool {
    let items = &analysis.items;
    let (caller, called) = (items.function(caller), items.function(called));
    if called.kind == FnKind::Inherent {
        return caller.krate == called.krate;
    }
    let module = called.scope;
    let scope = items.scope(module);
    let around = |from: ScopeId| {
        let mut at = Some(from);
        std::iter::from_fn(move || {
            let now = at?;
            at = items.scope(now).parent;
            Some(now)
        })
    };
    let holds_caller = |wanted: ScopeId| around(caller.scope).any(|one| one == wanted);
    caller.krate == called.krate
        && !around(module).any(|one| items.scope(one).is_block)
        && (holds_caller(module) || scope.parent.is_some_and(holds_caller))
}

/// The list of an attribute: what is written, and where it has to be another path with a spare in the end, that.
fn names(analysis: &Analysis, caller: FnId, called: &Called) -> String {
    let name = |(written, id): (&Written, &FnId)| match written {
        Written::Method(name) => format!(".{name}"),
        Written::Path(written) if analysis.items.function(*id).kind == FnKind::Inherent => written.clone(),
        Written::Path(written) => {
            let path = path(analysis, caller, *id);
            match path == *written {
                true => path,
                false => format!("{written} = {path}"),
            }
        }
    };
    called.iter().map(name).collect::<Vec<_>>().join(", ")
}

/// The path of a function that leads to it in every module that can name it.
fn path(analysis: &Analysis, caller: FnId, called: FnId) -> String {
    let items = &analysis.items;
    let (caller, called) = (items.function(caller), items.function(called));
    if caller.scope == called.scope {
        return called.name.clone();
    }
    let mut path = vec!["crate"];
    path.extend(items.scope(called.scope).path.iter().map(String::as_str));
    path.push(&called.name);
    path.join("::")
}

/// Attributes that mean the same on a copy, or nothing.
const HARMLESS: [&str; 9] = [
    "allow",
    "warn",
    "expect",
    "doc",
    "inline",
    "cold",
    "must_use",
    "cfg",
    "target_feature",
];

/// Whether the function can stand there twice, and its user has not said how it is to be built.
fn is_open(function: &Function) -> bool {
    let signature = &function.item.sig;
    let is_known = |attribute: &syn::Attribute| HARMLESS.iter().any(|one| attribute.path().is_ident(one));
    let returned = match &signature.output {
        ReturnType::Default => false,
        ReturnType::Type(_, ty) => names_in(&ty.to_token_stream()).contains("impl"),
    };
    matches!(function.kind, FnKind::Free | FnKind::Inherent)
        && signature.asyncness.is_none()
        && signature.constness.is_none()
        && signature.unsafety.is_none()
        && signature.abi.is_none()
        && !returned
        && function.item.attrs.iter().all(is_known)
}

/// Whether what it is given can be handed on: its parameters are plain names.
fn hands_on(function: &Function) -> bool {
    function.item.sig.inputs.iter().all(|input| match input {
        FnArg::Typed(typed) => {
            matches!(&*typed.pat, Pat::Ident(one) if one.by_ref.is_none() && one.subpat.is_none())
        }
        FnArg::Receiver(_) => false,
    })
}

/// Whether all that a call may lead to know the types of their parameters.
fn is_typed(analysis: &Analysis, caller: FnId, name: &str) -> bool {
    let last = last(name);
    let mut calls = own_calls(analysis, caller).filter(|call| call.form.last() == Some(last));
    let mut any = false;
    let all = calls.all(|call| {
        any = true;
        call.certain
            && !call.callees.is_empty()
            && call
                .callees
                .iter()
                .all(|id| knows_types(analysis, analysis.items.function(*id)))
    });
    any && all
}

fn knows_types(analysis: &Analysis, function: &Function) -> bool {
    let items = &analysis.items;
    let is_alias = |def: &Def| matches!(def, Def::Alias(_));
    let stands_for_another = |name: &String| {
        let mut meanings = items.scopes.iter().filter_map(|scope| scope.names.get(name));
        meanings.any(|meanings| meanings.iter().any(is_alias))
    };
    let is_hidden = |name: &String| name == "dyn" || name == "impl" || stands_for_another(name);
    let mut names = function
        .item
        .sig
        .inputs
        .iter()
        .map(|input| names_in(&input.to_token_stream()));
    function.kind == FnKind::Free
        && function.item.sig.generics.type_params().next().is_none()
        && names.all(|names| !names.iter().any(is_hidden))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edits::marks::function_marks;
    use crate::placement::ChooseOptions;
    use crate::source::edits::Edited;
    use crate::{analyse, place};

    /// The text with what is said of spares, and what the attribute of the first function says of them.
    fn with_spares(text: &str) -> (String, String) {
        let program = Program::of_main(text);
        let analysis = analyse(&program);
        let main = analysis.items.main_of(0).unwrap();
        let placement = place(&analysis, main, &ChooseOptions::default());
        let spares = Spares::of(&analysis, &placement);
        let edited = Edited::new(text, &spares.edits(&program, &analysis)).text;
        let mut marks = function_marks(&analysis, &placement, Some(&spares));
        (edited, marks.remove(0).arguments)
    }

    #[test]
    fn kernels_have_spares_and_what_they_call_and_small_helpers_have_none() {
        let text = "\
fn main() {
    let mut cells = vec![0.0; 100_000];
    for step in 0..1000 {
        sweep(&mut cells, step);
        let first = corner(&cells);
        println!(\"{first}\");
    }
}

/// A kernel.
fn sweep(cells: &mut [f64], step: usize) {
    for cell in cells.iter_mut() {
        *cell += step as f64;
    }
    inner::smooth(cells);
}

fn corner(cells: &[f64]) -> f64 {
    cells[0] + cells[1]
}

mod inner {
    pub fn smooth(cells: &mut [f64]) {
        for at in 1..99_999 {
            cells[at] = cells[at - 1] + cells[at + 1];
        }
    }
}
";
        let (edited, arguments) = with_spares(text);
        let expected = text
            .replace(
                "/// A kernel.\nfn sweep",
                "/// A kernel.\n#[ckpt::__rt::spare(inner::smooth = crate::inner::smooth)]\nfn sweep",
            )
            .replace(
                "    pub fn smooth",
                "    #[ckpt::__rt::spare()]\n    pub fn smooth",
            );
        assert_eq!(edited, expected);
        assert_eq!(arguments, "spares(sweep)");
    }

    #[test]
    fn methods_have_spares_where_all_calls_of_that_name_are_theirs() {
        let text = "\
struct Grid {
    cells: Vec<f64>,
}

impl Grid {
    fn sized(count: usize) -> Self {
        Self { cells: (0..count).map(|at| (at as f64).sin()).collect() }
    }

    fn sweep(&mut self, step: usize) {
        for cell in self.cells.iter_mut() {
            *cell += step as f64;
        }
    }

    fn last(&self) -> f64 {
        self.cells.iter().fold(0.0, |sum, cell| sum + cell.sqrt())
    }
}

fn main() {
    let mut grid = Grid::sized(100_000);
    for step in 0..1000 {
        grid.sweep(step);
        println!(\"{}\", grid.cells.last().unwrap() + grid.last());
    }
}
";
        let (edited, arguments) = with_spares(text);
        let expected = text
            .replace("    fn sized", "    #[ckpt::__rt::spare(impl)]\n    fn sized")
            .replace("    fn sweep", "    #[ckpt::__rt::spare(impl)]\n    fn sweep");
        assert_eq!(edited, expected);
        assert_eq!(arguments, "spares(Grid::sized, .sweep)");
    }
}
