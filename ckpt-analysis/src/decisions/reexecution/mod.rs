//! Statements that a restart executes again instead of reading what they declare from the checkpoint, because the value
//! there would not be looked at, or, if the user wants that, because it is cheap to make.
//!
//! - **Rewritten**: scratch space. What the variable holds at a site is given a new value as a whole before anything looks
//!   at it (`contents`, through calls: `callees`), so that all that matters is its shape; and that is what its `let`
//!   makes, from inputs that do not change.
//! - **Recomputed** (`--recompute`): the variable never changes, and what makes it leaves no trace. A number that constants
//!   make and that a kernel is given is recomputed anyway: what is read from a file is nothing that the optimiser knows.
//!
//! The stages of one function see the result as `#[ckpt(reexecute)]` on the `let`.

mod callees;
mod contents;
mod fill;
mod installs;
mod names;
mod pure;

use crate::Analysis;
use crate::cost::Costs;
use crate::decisions::effects::Effects;
use crate::decisions::spares::Spares;
use crate::items::Items;
use crate::placement::asked::Answer;
use crate::placement::expressible::Words;
use crate::placement::{Candidate, Holder, Placement};
use crate::source::Position;
use callees::Callees;
use ckpt_compiler::explain::{VariableReport, of_stages};
use ckpt_compiler::library::last_name;
use ckpt_compiler::resolve;
use ckpt_compiler::syntax::language::is_number_type;
use ckpt_compiler::syntax::marks::Marks;
use ckpt_compiler::syntax::mentions::names_in;
use ckpt_compiler::visit::{self, Visit};
use contents::{Contents, Watched, Whole};
use names::{Uses, Variables, lengths};
use pure::Purity;
use quote::ToTokens;
use std::collections::{BTreeMap, BTreeSet};
use syn::spanned::Spanned;
use syn::{Expr, ItemFn, Local, Pat};

/// Why a statement is re-executed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// What it declares is rewritten before it is read.
    Rewritten,
    /// What it declares never changes, and is cheap to make.
    Recomputed,
    /// It installs something in the process, or makes a handle for that.
    Installs,
}

/// The statements that are re-executed: the `let`s by their first byte.
pub type Reexecuted = BTreeMap<Position, Why>;

/// Finds them in all functions of a placement. `recompute` are the effects of the program's functions, where the user
/// wants what is cheap to be rebuilt.
pub fn reexecuted(analysis: &Analysis, placement: &Placement, recompute: Option<&Effects<'_>>) -> Reexecuted {
    let callees = Callees::of(analysis);
    let spares = Spares::of(analysis, placement);
    let functions = placement.functions.iter().zip(placement.candidates());
    let ours = functions.filter(|(function, _)| !function.by_user);
    ours.flat_map(|(_, candidate)| {
        of_function(
            analysis,
            &callees,
            &candidate,
            (recompute, &placement.costs),
            &spares,
        )
    })
    .collect()
}

fn of_function(
    analysis: &Analysis,
    callees: &Callees<'_>,
    candidate: &Candidate,
    (recompute, costs): (Option<&Effects<'_>>, &Costs),
    spares: &Spares,
) -> Reexecuted {
    let Ok(answer) = analysis.asked.answer(analysis, candidate, Words::new()) else {
        return Reexecuted::new();
    };
    let (Some(saved), Ok(stages)) = (saved(&answer), &answer.stages) else {
        return Reexecuted::new();
    };
    let options = &stages.options;
    let (item, _) = &resolve::told_apart(&options.library, &options.calls, &answer.item);
    let file = analysis.items.function(candidate.function).place.file;
    let base = analysis.bases.get(file.0).copied().unwrap_or(0);
    let marks = Marks {
        library: &analysis.library,
        calls: &options.calls,
    };
    let names = Variables::of(item);
    let mut lets = Lets(Vec::new());
    lets.visit_block(&item.block);
    let purity = Purity::of(analysis, costs);
    let kernels = spares.called_by(candidate.function);
    let mut given = GivenToKernels {
        kernels: kernels
            .map(|id| analysis.items.function(id).name.as_str())
            .collect(),
        names: BTreeSet::new(),
    };
    given.visit_block(&item.block);
    let is_loop = |one: &crate::placement::SitePlace| matches!(one.holder, Holder::Loop(_));
    let mut found = Vec::new();
    let shapes: BTreeMap<String, Vec<String>> = lets
        .0
        .iter()
        .filter(|(name, _)| names.is_single(name))
        .filter_map(|(name, local)| {
            Some((
                name.clone(),
                lengths(&analysis.library, &local.init.as_ref()?.expr),
            ))
        })
        .collect();
    for (name, local) in lets.0 {
        let place = (file, local.span().byte_range().start + base);
        let Some(init) = &local.init else { continue };
        let is_ours = saved.contains(&name) && names.is_single(&name) && local.attrs.is_empty();
        if !is_ours || init.diverge.is_some() {
            continue;
        }
        let is_constant = names.is_constant(&analysis.library, &init.expr);
        let scratch = is_constant
            && candidate.sites.iter().all(is_loop)
            && [Whole::Elements, Whole::Value]
                .into_iter()
                .any(|whole| is_rewritten(callees, file, item, (&name, &init.expr), &shapes, whole, marks));
        if scratch {
            found.push((place, Why::Rewritten, name));
            continue;
        }
        let is_given = given.names.contains(&name)
            && names.is_stable(&name)
            && is_fixed_number(&analysis.items, &names, &init.expr);
        let is_cheap = || {
            recompute.is_some_and(|effects| effects.may_be_reexecuted(place))
                && purity.of_initialiser(file, item, &names, &init.expr)
                && !gives_inputs_away(item, &init.expr, marks)
        };
        if is_given || is_cheap() {
            found.push((place, Why::Recomputed, name));
        }
    }
    let asked = |more: &Reexecuted| {
        let words = more
            .keys()
            .map(|place| (place.1, "reexecute".to_owned()))
            .collect();
        let now = analysis.asked.answer(analysis, candidate, words);
        now.ok().and_then(|answer| self::saved(&answer))
    };
    // Each must be accepted by the stages.
    let mut kept = (Reexecuted::new(), saved);
    let around = installs::Around {
        library: &analysis.library,
        marks,
        items: &analysis.items,
        graph: &analysis.graph,
        file,
        base,
    };
    for one in installs::of_function(around, item, &names) {
        let mut more = kept.0.clone();
        let lets = one.taken.into_iter().chain([one.at]);
        more.extend(lets.map(|at| ((file, at + base), Why::Installs)));
        if let Some(now) = asked(&more) {
            kept = (more, now);
        }
    }
    // And something must be gained.
    for (place, why, name) in found {
        let mut more = kept.0.clone();
        more.insert(place, why);
        let now = asked(&more);
        // A list is worth the numbers that it is made from.
        let is_list = shapes.get(&name).is_some_and(|lengths| !lengths.is_empty());
        let gains = |now: &BTreeSet<String>| !now.contains(&name) && (is_list || now.len() < kept.1.len());
        if let Some(now) = now.filter(gains) {
            kept = (more, now);
        }
    }
    kept.0
}

/// The variables that are saved at any site, by the names that the stages give them; nothing where a stage refuses.
fn saved(answer: &Answer) -> Option<BTreeSet<String>> {
    let stages = answer.stages.as_ref().ok()?;
    let variables = of_stages(stages).into_iter().flat_map(|site| site.variables);
    let saved = variables.filter(|one| one.fate.is_saved());
    let name = |one: VariableReport| stages.flow.bindings[one.binding].ident.to_string();
    Some(saved.map(name).collect())
}

fn is_rewritten(
    callees: &Callees<'_>,
    file: crate::source::FileId,
    item: &ItemFn,
    (name, init): (&str, &Expr),
    shapes: &BTreeMap<String, Vec<String>>,
    whole: Whole,
    marks: Marks<'_>,
) -> bool {
    let lengths = lengths(marks.library, init);
    if whole == Whole::Elements && lengths.is_empty() {
        return false;
    }
    let lets_go =
        |call: &Expr, index: usize| marks.callee(call).is_none() && callees.lets_go(file, call, index, whole);
    let mut uses = Uses {
        library: marks.library,
        name,
        whole,
        depth: lengths.len(),
        is_number: is_number(init),
        lets_go: &lets_go,
        is_as_long: &|other| whole == Whole::Elements && shapes.get(other) == Some(&lengths),
        marks: Some(marks),
        kept: false,
    };
    uses.visit_block(&item.block);
    if uses.kept {
        return false;
    }
    let watched = Watched {
        name: name.to_owned(),
        indices: Vec::new(),
        is_reference: false,
        lengths,
        flat: None,
        whole,
    };
    let rewrites = |call: &Expr, index: usize, one: &Watched| callees.rewrites(file, call, index, one);
    let mut contents = Contents {
        library: marks.library,
        watched: &watched,
        rewrites: &rewrites,
        marks: Some(marks),
        at_return: false,
        outside: false,
        around: Vec::new(),
        live_at_a_site: false,
    };
    contents.block(&item.block, false);
    !contents.live_at_a_site
}

/// Whether a call that leads to a site takes something by value that the initialiser is made from: during the call it
/// is the callee's.
fn gives_inputs_away(item: &ItemFn, init: &Expr, marks: Marks<'_>) -> bool {
    struct Given<'a>(Marks<'a>, BTreeSet<String>);
    impl Given<'_> {
        fn name(&mut self, expr: &Expr) {
            if let Expr::Path(path) = expr
                && let Some(name) = path.path.get_ident()
            {
                self.1.insert(name.to_string());
            }
        }
    }
    impl<'ast> Visit<'ast> for Given<'_> {
        fn visit_expr(&mut self, expr: &'ast Expr) {
            if self.0.callee(expr).is_some() {
                match expr {
                    Expr::Call(call) => call.args.iter().for_each(|one| self.name(one)),
                    Expr::MethodCall(call) => {
                        self.name(&call.receiver);
                        call.args.iter().for_each(|one| self.name(one));
                    }
                    _ => {}
                }
            }
            visit::visit_expr(self, expr);
        }
    }
    let mut given = Given(marks, BTreeSet::new());
    given.visit_block(&item.block);
    given
        .1
        .iter()
        .any(|name| contents::mentions(init.to_token_stream(), name))
}

/// Whether the value is copied where it is named.
fn is_number(init: &Expr) -> bool {
    match init {
        Expr::Lit(lit) => matches!(
            lit.lit,
            syn::Lit::Int(_) | syn::Lit::Float(_) | syn::Lit::Bool(_) | syn::Lit::Char(_)
        ),
        Expr::Unary(one) => is_number(&one.expr),
        Expr::Paren(one) => is_number(&one.expr),
        _ => false,
    }
}

/// Whether the value is a number that constants of the program make.
fn is_fixed_number(items: &Items, names: &Variables, init: &Expr) -> bool {
    let part = |one: &Expr| is_fixed_number(items, names, one);
    match init {
        Expr::Path(path) => path.path.get_ident().is_some_and(|name| {
            let name = name.to_string();
            let is_number = |ty: &syn::Type| is_number_type(&ty.to_token_stream().to_string());
            let mut consts = items.consts.iter().filter(|one| one.name == name).peekable();
            !names.is_bound(&name)
                && names.is_stable(&name)
                && consts.peek().is_some()
                && consts.all(|one| is_number(&one.ty))
                && items.globals.iter().all(|one| one.name != name)
        }),
        Expr::Paren(one) => part(&one.expr),
        Expr::Binary(one) => {
            !ckpt_compiler::syntax::purity::is_assignment(&one.op) && part(&one.left) && part(&one.right)
        }
        other => is_number(other),
    }
}

/// The variables that calls of kernels name.
struct GivenToKernels<'a> {
    kernels: BTreeSet<&'a str>,
    names: BTreeSet<String>,
}

impl<'ast> Visit<'ast> for GivenToKernels<'_> {
    fn visit_expr_call(&mut self, call: &'ast syn::ExprCall) {
        if let Expr::Path(called) = &*call.func
            && self.kernels.contains(last_name(&called.path).as_str())
        {
            for argument in &call.args {
                self.names.extend(names_in(&argument.to_token_stream()));
            }
        }
        visit::visit_expr_call(self, call);
    }
}

/// The `let`s of a function that declare one name each.
struct Lets(Vec<(String, Local)>);

impl<'ast> Visit<'ast> for Lets {
    fn visit_local(&mut self, local: &'ast Local) {
        let pattern = match &local.pat {
            Pat::Type(typed) => &*typed.pat,
            other => other,
        };
        if let Pat::Ident(one) = pattern
            && one.by_ref.is_none()
            && one.subpat.is_none()
        {
            self.0.push((one.ident.to_string(), local.clone()));
        }
        visit::visit_local(self, local);
    }

    fn visit_expr_closure(&mut self, _: &'ast syn::ExprClosure) {}
    fn visit_item(&mut self, _: &'ast syn::Item) {}
}
