//! Variables that a restart makes again, and that were made from something which is no variable and may be another by then.

use crate::Analysis;
use crate::facts::state::State;
use crate::items::FnId;
use ckpt_compiler::diagnostics::{Diagnostics, Refusal, Subject};
use ckpt_compiler::library::{Iterators, Library, last_name};
use ckpt_compiler::passes::Stages;
use ckpt_compiler::strategies::Strategy;
use ckpt_compiler::syntax::origins::{Known, Origin};
use ckpt_compiler::syntax::places::is_place;
use quote::ToTokens;
use syn::Expr;

/// Refuses sites at which a restart would make a variable again from state that may have changed: in the function, and in the threads that
/// it starts.
///
/// # Errors
/// There is such a variable.
pub(super) fn no_state_in_use(
    analysis: &Analysis,
    stages: &Stages,
    function: FnId,
) -> Result<(), Diagnostics> {
    let mut errors = Diagnostics::default();
    refuse(analysis, stages, function, &mut errors);
    errors.propagate()
}

fn refuse(analysis: &Analysis, stages: &Stages, id: FnId, errors: &mut Diagnostics) {
    let function = analysis.items.function(id);
    let base = analysis.bases.get(function.place.file.0).copied().unwrap_or(0);
    let library = &analysis.library;
    for (binding, strategy) in stages.flow.bindings.iter().zip(&stages.plan.strategies) {
        let is_again = matches!(strategy, Strategy::Reexecuted { .. })
            && stages.plan.schedule.runs.reexecuted.contains(&binding.step);
        // What is marked has been looked at where it was decided, or is the user's word.
        let Some(init) = binding
            .init
            .as_ref()
            .filter(|_| is_again && binding.treatment.is_none())
        else {
            continue;
        };
        if Known::of(library).origin(init) == Origin::Device {
            continue;
        }
        if goes_over_a_variable(library, &|method| is_own(analysis, method), init) {
            continue;
        }
        let declares = binding.ty.to_token_stream();
        let found =
            analysis
                .outer_state
                .is_looked_at(library, &analysis.items, (base, function), init, &declares);
        let Some(state) = found else { continue };
        let state = match state {
            State::Static => "a static that changes",
            State::Drawn => "random numbers",
            State::File => "a file, and the program writes files",
            State::Order => "the order of a hash table, which is another one in every process",
            State::Inside => "what changes behind a shared reference",
        };
        let shown = match binding.is_synthetic() {
            true => Subject::LoopIterator,
            false => Subject::Variable(binding.ident.clone()),
        };
        errors.refuse(
            binding.ident.span(),
            Refusal::StateInUse {
                state: state.to_owned(),
                shown,
            },
        );
    }
    for member in &stages.members {
        refuse(analysis, member, id, errors);
    }
}

/// Whether it only begins to go over a variable or a part of one, which is checked for itself: `&list`, `list.iter()`. What it was made from
/// does not matter then.
fn goes_over_a_variable(library: &Library, is_own: &dyn Fn(&str) -> bool, iterator: &Expr) -> bool {
    match iterator {
        Expr::Call(call) => match (&*call.func, call.args.first()) {
            (Expr::Path(path), Some(from)) if call.args.len() == 1 => {
                let begins = last_name(&path.path);
                library.says(&begins, Iterators::Converts)
                    && !is_own(&begins)
                    && match from {
                        Expr::Reference(lent) => is_place(&lent.expr),
                        from => goes_over_a_variable(library, is_own, from),
                    }
            }
            _ => false,
        },
        Expr::MethodCall(call) => {
            let method = call.method.to_string();
            call.args.is_empty()
                && library.goes_over_references(&method)
                && !is_own(&method)
                && is_place(&call.receiver)
        }
        _ => false,
    }
}

/// Whether a function of the program has this name.
fn is_own(analysis: &Analysis, name: &str) -> bool {
    let mut all = analysis.items.functions.iter();
    all.any(|one| one.item.sig.ident == name)
}
