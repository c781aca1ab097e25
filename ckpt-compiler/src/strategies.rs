//! Decides for every variable how it comes back at a restart.

use crate::cfg::{Binding, BindingId, Declaration, Event, Flow, Passing, Use};
use crate::diagnostics::{Diagnostics, Refusal, Subject};
use crate::library::{Functions, Iterators, Library, Methods, Types};
use crate::liveness::{Liveness, is_done_with};
use crate::names::Kind;
use crate::parse::options::Treatment;
use crate::spine::{SiteId, StepId};
use crate::syntax::language::{
    bound_trait, is_bytes_type, is_function_trait, is_stream_trait, is_text_or_bytes_type,
};
use crate::syntax::macros::{items_of_list, repeated_in_list};
use crate::syntax::origins::{
    Known, Origin, asks_around, is_exclusive_type, is_function_or_borrows, is_reference_type, is_repeatable,
    operands_of_constructor,
};
use crate::syntax::places::{loan_root, variable};
use proc_macro2::{Delimiter, TokenStream, TokenTree};
use quote::ToTokens;
use std::collections::HashSet;

/// How a variable comes back at a restart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strategy {
    /// From the checkpoint.
    Saved,
    /// Its statement is re-executed (required-execution code).
    Reexecuted {
        /// Whether it borrows exclusively: what it borrows cannot be lent while it lives.
        exclusive: bool,
    },
    /// It gets its type's default.
    Skipped,
    /// The caller passes it again.
    Given,
    /// `&mut` parameter: the caller rebuilds it from this function's record.
    Exclusive,
    /// Ckpt gives it its value.
    Synthetic,
    /// Never in scope at a site, or never needed there.
    Transient,
}

/// The strategies of all bindings. Where the program `asks_where` in memory something is, no part of a text or list is saved
/// as one of its own.
pub fn choose(
    known: Known<'_>,
    flow: &Flow,
    liveness: &Liveness,
    asks_where: bool,
    errors: &mut Diagnostics,
) -> Vec<Strategy> {
    let mut strategies: Vec<Strategy> = flow
        .bindings
        .iter()
        .map(|binding| first_guess(known, binding))
        .collect();
    spread_items(flow, &mut strategies);
    spread_closures(flow, &mut strategies);
    spread_exclusiveness(flow, &mut strategies);
    keep_literals_that_change(flow, &mut strategies);
    if !asks_where {
        keep_parts_that_move(flow, &mut strategies);
    }
    demote_values(known.library, flow, liveness, &mut strategies, errors);
    refuse_advancing(known.library, flow, liveness, &strategies, errors);
    refuse_advancing_parameters(flow, liveness, errors);
    refuse_other_values(flow, &strategies, errors);
    refuse_used_here(flow, errors);
    strategies
}

/// Whether the variable owns something of the process or a device, which it gives back when its scope ends and no sooner,
/// whether it is used until then or not: `let universe = mpi::initialize();`.
pub fn owns_a_device(library: &Library, binding: &Binding) -> bool {
    matches!(binding.declaration, Declaration::Let)
        && binding.treatment.is_none()
        && !binding.is_synthetic()
        && origin_of(library, binding) == Origin::Device
}

/// Whether the variable is seen to be a writer with a buffer: `BufWriter::new(file)`.
pub fn flushes(library: &Library, binding: &Binding) -> bool {
    let Some(syn::Expr::Call(call)) = &binding.init else {
        return false;
    };
    let syn::Expr::Path(function) = &*call.func else {
        return false;
    };
    let mut segments = function.path.segments.iter().rev().skip(1);
    segments
        .next()
        .is_some_and(|ty| library.says(&ty.ident.to_string(), Types::Flushes))
}

/// Whether the variable is seen to hold a pointer that counts as an owner, a closure that may own one, an item of what
/// a `for` uses up, or what a `match` has bound of such a pointer.
pub fn owns(library: &Library, flow: &Flow, id: BindingId) -> bool {
    let binding = &flow.bindings[id];
    let by_type = matches!(&binding.ty, Some(syn::Type::Path(ty)) if ty.path.segments.last()
        .is_some_and(|last| library.says(&last.ident.to_string(), Types::Counted)));
    let is_of = |kind: Kind| {
        let mut inputs = binding.inputs.iter();
        inputs.any(|(input, _)| flow.bindings[*input].is_for(kind))
    };
    // Which of the choices before it the variable is bound by does not show.
    let is_chosen = || {
        let mut before = flow.bindings[..id].iter().enumerate();
        before.any(|(choice, one)| one.is_for(Kind::Choice) && owns(library, flow, choice))
    };
    let makes = |init: &syn::Expr| makes_an_owner(library, flow, id, init);
    let by_itself = by_type || is_of(Kind::Iterator) || binding.init.as_ref().is_some_and(makes);
    by_itself || is_of(Kind::Bindings) && is_chosen()
}

/// Whether the expression has such a pointer in what it gives, as far as the calls in it tell.
fn makes_an_owner(library: &Library, flow: &Flow, id: BindingId, expr: &syn::Expr) -> bool {
    let part = |one: &syn::Expr| makes_an_owner(library, flow, id, one);
    match expr {
        syn::Expr::Paren(one) => part(&one.expr),
        syn::Expr::Block(_) => Known::of(library).origin(expr) == Origin::Closure,
        syn::Expr::Tuple(one) => one.elems.iter().any(part),
        syn::Expr::Array(one) => one.elems.iter().any(part),
        syn::Expr::Repeat(one) => part(&one.expr),
        syn::Expr::Match(one) => part(&one.expr),
        syn::Expr::Macro(one) => {
            let repeated = repeated_in_list(library, &one.mac).is_some_and(|(value, _)| part(&value));
            repeated || items_of_list(library, &one.mac).iter().flatten().any(part)
        }
        syn::Expr::MethodCall(call) if library.is_call(call, Methods::Clones) => {
            let of = variable(&call.receiver).and_then(|name| flow.input_named(id, name));
            of.is_some_and(|of| of < id && owns(library, flow, of))
        }
        syn::Expr::Call(call) if is_call_that_owns(library, call) => true,
        other => operands_of_constructor(other).is_some_and(|operands| operands.into_iter().any(part)),
    }
}

fn is_call_that_owns(library: &Library, call: &syn::ExprCall) -> bool {
    matches!(&*call.func, syn::Expr::Path(path) if library.says_of_path(&path.path, Functions::Owns))
}

/// Whether a `move` closure that has a name takes the variable, if it cannot be copied.
pub fn moves_into_a_closure(flow: &Flow, id: BindingId) -> bool {
    closures_that_take(flow, id).next().is_some()
}

/// The `move` closures that have a name and take the variable, if it cannot be copied. One that speaks of its fields may
/// take a part of it.
pub fn closures_that_take(flow: &Flow, id: BindingId) -> impl Iterator<Item = &Binding> {
    let name = &flow.bindings[id].ident;
    flow.bindings.iter().filter(move |other| {
        matches!(&other.init, Some(syn::Expr::Closure(closure)) if closure.capture.is_some()
            && !speaks_of_a_field(closure.body.to_token_stream(), name))
            && other.inputs.iter().any(|(input, _)| *input == id)
    })
}

/// `name.field`, also in what a macro is given.
fn speaks_of_a_field(tokens: TokenStream, name: &proc_macro2::Ident) -> bool {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    tokens.iter().enumerate().any(|(at, token)| match token {
        TokenTree::Group(group) => speaks_of_a_field(group.stream(), name),
        TokenTree::Ident(one) if one == name => {
            let dot = matches!(tokens.get(at + 1), Some(TokenTree::Punct(dot)) if dot.as_char() == '.');
            let called = matches!(tokens.get(at + 3), Some(TokenTree::Group(arguments))
                if arguments.delimiter() == Delimiter::Parenthesis);
            dot && !called
        }
        _ => false,
    })
}

fn first_guess(known: Known<'_>, binding: &Binding) -> Strategy {
    match binding.declaration {
        Declaration::Inner => return Strategy::Transient,
        Declaration::Arm => {
            let exclusive = binding
                .init
                .as_ref()
                .is_some_and(|scrutinee| known.borrows_exclusively(scrutinee));
            return Strategy::Reexecuted { exclusive };
        }
        Declaration::Parameter { passing, .. } => {
            return match passing {
                Passing::Value if binding.treatment.is_none() => Strategy::Saved,
                Passing::Value => Strategy::Saved,
                Passing::Exclusive => Strategy::Exclusive,
                Passing::Given | Passing::Shared => Strategy::Given,
            };
        }
        Declaration::Let => {}
    }
    match binding.treatment {
        Some(
            Treatment::Save | Treatment::Serde | Treatment::Refill | Treatment::Parts | Treatment::Elsewhere,
        ) => {
            return Strategy::Saved;
        }
        Some(Treatment::Skip) => return Strategy::Skipped,
        Some(Treatment::Reexecute) => {
            let exclusive = binding
                .init
                .as_ref()
                .is_some_and(|init| known.borrows_exclusively(init));
            return Strategy::Reexecuted { exclusive };
        }
        None => {}
    }
    if binding.has_restart {
        return Strategy::Synthetic;
    }
    if binding.from_spine {
        return Strategy::Saved;
    }
    let Some(init) = &binding.init else {
        return match &binding.ty {
            Some(ty) if is_reference_type(ty, binding.mutable) => Strategy::Reexecuted {
                exclusive: is_exclusive_type(ty),
            },
            _ => Strategy::Saved,
        };
    };
    let own_value = binding.is_synthetic()
        && !binding.is_for(Kind::Handle)
        && !binding.reexecutes
        && !matches!(init, syn::Expr::Reference(_) | syn::Expr::Closure(_));
    let origin = match init {
        // The iterable inside `IntoIterator::into_iter(..)`.
        syn::Expr::Call(call) if binding.reexecutes && call.args.len() == 1 => known.origin(&call.args[0]),
        _ if own_value => match known.origin(init) {
            Origin::Borrow { exclusive } if matches!(init, syn::Expr::Call(_)) => {
                Origin::Borrow { exclusive }
            }
            _ => Origin::Value,
        },
        _ => known.origin(init),
    };
    if let Some(ty) = &binding.ty
        && is_reference_type(ty, binding.mutable)
        && (is_repeatable(known.library, init) || origin != Origin::Value)
        && !(origin == Origin::Closure && asks_around(known.library, init))
    {
        return Strategy::Reexecuted {
            exclusive: is_exclusive_type(ty),
        };
    }
    // Closures that are functions by the type of the variable.
    let holds_functions = |ty: &syn::Type| is_reference_type(ty, false) && !is_reference_type(ty, true);
    if origin == Origin::Closure && binding.mutable && binding.ty.as_ref().is_some_and(holds_functions) {
        return Strategy::Saved;
    }
    match origin {
        Origin::Borrow { .. } if !binding.reexecutes && !is_repeatable(known.library, init) => {
            Strategy::Saved
        }
        Origin::Constant if binding.mutable => Strategy::Saved,
        Origin::Borrow { exclusive } => Strategy::Reexecuted { exclusive },
        Origin::Closure if matches!(init, syn::Expr::Closure(_)) => Strategy::Reexecuted {
            exclusive: binding.mutable,
        },
        Origin::Closure if is_repeatable(known.library, init) => Strategy::Reexecuted { exclusive: false },
        Origin::Closure => Strategy::Saved,
        Origin::Constant => Strategy::Reexecuted { exclusive: false },
        Origin::Device if binding.mutable => Strategy::Saved,
        Origin::Device => Strategy::Reexecuted { exclusive: false },
        Origin::Value if binding.reexecutes => Strategy::Reexecuted { exclusive: false },
        Origin::Value => Strategy::Saved,
    }
}

/// The user's pattern over the item of a `for` whose closures have been taken off: what the item is.
fn spread_items(flow: &Flow, strategies: &mut [Strategy]) {
    for id in 0..strategies.len() {
        let binding = &flow.bindings[id];
        let is_item = |name: &proc_macro2::Ident| flow.locals.is(name, Kind::Item);
        let of_item = matches!(&binding.init, Some(syn::Expr::Path(path)) if path.path.get_ident().is_some_and(is_item));
        if let (true, Strategy::Saved, Some((item, _))) = (of_item, strategies[id], binding.inputs.first())
            && matches!(strategies[*item], Strategy::Reexecuted { .. })
        {
            strategies[id] = strategies[*item];
        }
    }
}

/// A value made of closures and shared references alone is rebuilt as they are: no checkpoint holds it.
fn spread_closures(flow: &Flow, strategies: &mut [Strategy]) {
    for (id, (binding, class)) in flow.bindings.iter().zip(strategies).enumerate() {
        let changes = binding.mutable && !binding.is_synthetic();
        let operands = binding.init.as_ref().and_then(operands_of_constructor);
        let Some(operands) =
            operands.filter(|_| *class == Strategy::Saved && binding.treatment.is_none() && !changes)
        else {
            continue;
        };
        let is_name_of_closure = |name: &proc_macro2::Ident| {
            let input = flow.input_named(id, name).map(|input| &flow.bindings[input]);
            input.is_some_and(|input| !input.mutable && is_closure(input))
        };
        let is_closure = |operand: &&syn::Expr| match operand {
            syn::Expr::Closure(_) => true,
            other => variable(other).is_some_and(is_name_of_closure),
        };
        let is_shared =
            |operand: &syn::Expr| matches!(operand, syn::Expr::Reference(one) if one.mutability.is_none());
        if operands.iter().any(is_closure) && operands.iter().all(|one| is_closure(one) || is_shared(one)) {
            *class = Strategy::Reexecuted { exclusive: false };
        }
    }
}

/// What is made from an exclusive borrow borrows exclusively itself.
fn spread_exclusiveness(flow: &Flow, strategies: &mut [Strategy]) {
    for id in 0..strategies.len() {
        let binding = &flow.bindings[id];
        if let Strategy::Reexecuted { exclusive: false } = strategies[id] {
            let from_exclusive = |(input, _): &(BindingId, Use)| {
                matches!(strategies[*input], Strategy::Reexecuted { exclusive: true })
            };
            if binding.inputs.iter().any(from_exclusive) {
                strategies[id] = Strategy::Reexecuted { exclusive: true };
            }
        }
    }
}

/// A result that looked like a borrow, but whose source changes while it lives, is a value after all.
fn demote_values(
    library: &Library,
    flow: &Flow,
    liveness: &Liveness,
    strategies: &mut [Strategy],
    errors: &mut Diagnostics,
) {
    let mut contradicted = HashSet::new();
    // What a call that leads to a site is given is in use until it returns, also where it is named before what the call changes.
    let given = |step: StepId| {
        let calls = flow.arguments.iter();
        let calls = calls.filter(move |(site, _)| flow.sites[*site as usize - 1].step == step);
        calls.flat_map(|(_, uses)| uses.iter().map(|(id, _)| *id))
    };
    liveness.for_each_event(flow, |event, live| {
        let changed = &flow.bindings[event.binding];
        let own = changed.mutable || event.kind == Use::Write;
        let behind = leads_exclusively(changed, strategies[event.binding]);
        // Where it is passed on it is lent: the variable stays, and what it leads to may change.
        let changes = event.may_change() || behind && event.kind == Use::Move;
        if !changes || !own && !behind || changed.step == event.step && event.kind == Use::Write {
            return;
        }
        // Beside it in a call, rustc lets nothing be used that borrows from it.
        let lends_all = event.kind == Use::Lend && event.field.is_none();
        let live = live.ones().map(|id| (id, false));
        for (id, is_given) in live.chain(given(event.step).map(|id| (id, true))) {
            let binding = &flow.bindings[id];
            let is_input = binding.inputs.iter().any(|(input, _)| *input == event.binding);
            // Another field of what a `&mut` parameter points to may change, and so may the value of a key: nothing borrows it.
            let is_key = binding
                .init
                .as_ref()
                .is_some_and(|init| is_found_by(init, &changed.ident));
            let is_arm = matches!(binding.declaration, Declaration::Arm);
            let may_own = is_given && lends_all && !matches!(binding.init, Some(syn::Expr::Reference(_)));
            // What is borrowed with `&` cannot change: rustc sees to that.
            let is_borrowed = !may_own
                && binding
                    .init
                    .as_ref()
                    .is_some_and(|init| only_borrows(library, init, &changed.ident));
            let is_elsewhere =
                { binding.init.as_ref() }.is_some_and(|init| flow.is_in_another_field(event, init));
            let uses = is_input && !is_elsewhere && (is_key || !is_arm && !is_borrowed);
            if uses
                && strategies[id] == (Strategy::Reexecuted { exclusive: false })
                && binding.step != event.step
            {
                contradicted.insert((id, event.binding));
            }
        }
    });
    for (id, changed) in contradicted {
        let binding = &flow.bindings[id];
        let by_syntax = matches!(
            binding.init,
            Some(syn::Expr::Reference(_) | syn::Expr::Closure(_))
        );
        let is_given = { flow.arguments.iter() }.any(|(_, uses)| uses.iter().any(|(given, _)| *given == id));
        let live_at_site =
            is_given || (1..=flow.sites.len() as SiteId).any(|site| liveness.is_live(flow, site, id));
        if binding.treatment.is_some() || !live_at_site {
            continue;
        }
        if binding.reexecutes || by_syntax {
            let (name, changed) = (&binding.ident, &flow.bindings[changed].ident);
            let shown = match binding.is_synthetic() {
                true => Subject::LoopIterator,
                false => Subject::Variable(name.clone()),
            };
            let at = changed.span();
            let by_key = binding
                .init
                .as_ref()
                .is_some_and(|init| is_found_by(init, changed));
            let changed = changed.clone();
            errors.refuse(
                at,
                match by_key {
                    true => Refusal::KeyChangesInUse { changed, shown },
                    false => Refusal::ChangesInUse { changed, shown },
                },
            );
        } else if !matches!(origin_of(library, binding), Origin::Device) {
            strategies[id] = Strategy::Saved;
        }
    }
}

/// Whether the variable is an exclusive reference to what others have.
fn leads_exclusively(binding: &Binding, strategy: Strategy) -> bool {
    let is_parameter = matches!(
        binding.declaration,
        Declaration::Parameter {
            passing: Passing::Exclusive,
            ..
        }
    );
    is_parameter
        || matches!(
            strategy,
            Strategy::Exclusive | Strategy::Reexecuted { exclusive: true }
        )
}

/// Whether an initialiser does nothing with the variable but borrow places in it: `&ledger.rows`,
/// `(0..).zip(ledger.rows.iter())`. The variable as a whole counts only behind a `&`: what its methods give may be a copy.
pub fn only_borrows(library: &Library, init: &syn::Expr, of: &proc_macro2::Ident) -> bool {
    struct Borrows<'a> {
        library: &'a Library,
        of: &'a proc_macro2::Ident,
        otherwise: bool,
    }
    impl Borrows<'_> {
        fn is_place(&self, place: &syn::Expr) -> bool {
            match place {
                syn::Expr::Field(field) => self.is_place(&field.base),
                syn::Expr::Path(path) => path.path.is_ident(self.of),
                _ => false,
            }
        }
    }
    impl<'ast> crate::visit::Visit<'ast> for Borrows<'_> {
        fn visit_expr_reference(&mut self, one: &'ast syn::ExprReference) {
            if one.mutability.is_some() || !self.is_place(&one.expr) {
                crate::visit::visit_expr_reference(self, one);
            }
        }
        fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
            let borrows = self.library.borrows(&call.method.to_string());
            let of_field = matches!(&*call.receiver, syn::Expr::Field(_)) && self.is_place(&call.receiver);
            if !(borrows && of_field) {
                self.visit_expr(&call.receiver);
            }
            call.args.iter().for_each(|argument| self.visit_expr(argument));
        }
        fn visit_expr_path(&mut self, path: &'ast syn::ExprPath) {
            self.otherwise |= path.path.is_ident(self.of);
        }
        fn visit_macro(&mut self, _: &'ast syn::Macro) {
            self.otherwise = true;
        }
    }
    let mut borrows = Borrows {
        library,
        of,
        otherwise: false,
    };
    crate::visit::Visit::visit_expr(&mut borrows, init);
    !borrows.otherwise
}

/// Whether something is found in a collection by what the variable holds: `map.get(&key)`.
fn is_found_by(init: &syn::Expr, key: &proc_macro2::Ident) -> bool {
    struct Keys<'a>(&'a proc_macro2::Ident, bool);
    impl<'ast> crate::visit::Visit<'ast> for Keys<'_> {
        fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
            self.1 |= call.args.iter().any(|argument| self.is_key(argument));
            crate::visit::visit_expr_method_call(self, call);
        }
        fn visit_expr_index(&mut self, one: &'ast syn::ExprIndex) {
            self.1 |= self.is_key(&one.index);
            crate::visit::visit_expr_index(self, one);
        }
        fn visit_expr_closure(&mut self, _: &'ast syn::ExprClosure) {}
    }
    impl Keys<'_> {
        fn is_key(&self, argument: &syn::Expr) -> bool {
            let is_shared = matches!(argument, syn::Expr::Reference(one) if one.mutability.is_none());
            is_shared && loan_root(argument) == Some(self.0)
        }
    }
    let mut keys = Keys(key, false);
    crate::visit::Visit::visit_expr(&mut keys, init);
    keys.1
}

fn origin_of(library: &Library, binding: &Binding) -> Origin {
    binding
        .init
        .as_ref()
        .map_or(Origin::Value, |init| Known::of(library).origin(init))
}

/// What is rebuilt for a site: what is in use there, and what that is made from.
fn reexecuted_for_others(flow: &Flow, liveness: &Liveness, strategies: &[Strategy]) -> HashSet<BindingId> {
    let is_reexecuted = |id: &BindingId| matches!(strategies[*id], Strategy::Reexecuted { .. });
    let is_live = |id: &BindingId| {
        let mut sites = 1..=flow.sites.len() as SiteId;
        sites.any(|site| liveness.is_live(flow, site, *id))
    };
    let mut found: HashSet<BindingId> = HashSet::new();
    let mut open: Vec<BindingId> = (0..strategies.len())
        .filter(is_reexecuted)
        .filter(is_live)
        .collect();
    while let Some(id) = open.pop() {
        if found.insert(id) {
            let inputs = flow.bindings[id].inputs.iter().map(|(input, _)| *input);
            open.extend(inputs.filter(is_reexecuted));
        }
    }
    found
}

/// `let mut sim = Simulation { mesh: &mesh, cells };` is a value that borrows: if it changes, rustc has the word on whether
/// it can be saved.
fn keep_literals_that_change(flow: &Flow, strategies: &mut [Strategy]) {
    for (id, binding) in flow.bindings.iter().enumerate() {
        let is_literal = binding.mutable && matches!(binding.init, Some(syn::Expr::Struct(_)));
        let may_be = match strategies[id] {
            Strategy::Reexecuted { exclusive: false } => true,
            // What is made of references alone is made of the same ones again.
            Strategy::Reexecuted { exclusive: true } => {
                binding.init.as_ref().is_some_and(has_values_of_its_own)
            }
            _ => false,
        };
        if is_literal && may_be && binding.treatment.is_none() && advances(flow, id, true) {
            strategies[id] = Strategy::Saved;
        }
    }
}

/// A parameter that is a part of a text or list, and moves along it, is saved as what it is, as if it had been passed by value; so is
/// one of `impl Trait` that changes, of which rustc has the word.
pub fn keep_parameters_that_move(flow: &mut Flow, liveness: &Liveness) {
    let moving: Vec<BindingId> = advancing_parameters(flow, liveness, true).collect();
    for id in moving {
        let binding = &mut flow.bindings[id];
        let is_one = binding.ty.as_ref().is_some_and(has_a_place_of_its_own);
        if let Declaration::Parameter {
            passing, whole: true, ..
        } = &mut binding.declaration
            && is_one
        {
            *passing = Passing::Value;
        }
    }
}

/// The parameters that the caller passes again at a restart, though they are given another value here, or advance, and are in use
/// at a site then. Of a shared reference, `all` asks for those of which a method may do that. Through an exclusive reference the
/// caller gets back what is behind it, so that it must stay, whether it is in use or not.
fn advancing_parameters<'f>(
    flow: &'f Flow,
    liveness: &'f Liveness,
    all: bool,
) -> impl Iterator<Item = BindingId> + 'f {
    let advances = move |id: BindingId, passing: Passing| {
        let binding = &flow.bindings[id];
        let is_used_up = |event: &Event| event.binding == id && event.may_move();
        let gives_stream = all && passing == Passing::Given && binding.ty.as_ref().is_some_and(is_stream);
        if gives_stream && flow.events().any(is_used_up) {
            return true;
        }
        let by_method = match passing {
            Passing::Given => !binding.ty.as_ref().is_some_and(is_closure_type),
            Passing::Shared => all,
            Passing::Exclusive => binding.ty.as_ref().is_some_and(is_room_for_bytes),
            Passing::Value => false,
        };
        let may_move = by_method && binding.mutable;
        let moves = |event: &Event| event.binding == id && matches!(event.kind, Use::Change | Use::Lend);
        flow.is_given_again(id) || may_move && flow.events().any(moves)
    };
    let is_live = |id: BindingId| {
        let mut sites = 1..=flow.sites.len() as SiteId;
        sites.any(|site| liveness.is_live(flow, site, id))
    };
    (0..flow.bindings.len()).filter(move |&id| match flow.bindings[id].declaration {
        Declaration::Parameter {
            passing: passing @ (Passing::Given | Passing::Shared | Passing::Exclusive),
            ..
        } => {
            let counts = passing == Passing::Exclusive && !flow.sites.is_empty();
            flow.bindings[id].treatment.is_none() && advances(id, passing) && (counts || is_live(id))
        }
        _ => false,
    })
}

/// `impl Read`: what comes of it by value, `input.lines()`, has its place from then on.
fn is_stream(ty: &syn::Type) -> bool {
    let syn::Type::ImplTrait(one) = ty else {
        return false;
    };
    one.bounds.iter().filter_map(bound_trait).any(is_stream_trait)
}

/// `&mut [u8]`, which what is written to it shortens.
fn is_room_for_bytes(ty: &syn::Type) -> bool {
    matches!(ty, syn::Type::Reference(reference) if is_bytes_type(&reference.elem))
}

/// Whether a parameter that the caller passes again is a value of its own, which the caller may have given away: neither a reference,
/// nor a pointer, nor a function's name.
pub fn is_taken_by_value(binding: &Binding) -> bool {
    let is_one = |ty: &syn::Type| {
        !matches!(
            ty,
            syn::Type::Reference(_) | syn::Type::Ptr(_) | syn::Type::BareFn(_)
        )
    };
    binding.treatment.is_none() && binding.ty.as_ref().is_some_and(is_one)
}

/// Whether a parameter may be a closure, by its type.
pub fn may_be_called(binding: &Binding) -> bool {
    binding.ty.as_ref().is_some_and(is_closure_type)
}

/// Whether a parameter of this type, which the caller passes again, is a closure: what it captures is the caller's.
fn is_closure_type(ty: &syn::Type) -> bool {
    let bounds = match ty {
        syn::Type::ImplTrait(one) => &one.bounds,
        syn::Type::Reference(one) => return is_closure_type(&one.elem),
        syn::Type::TraitObject(one) => &one.bounds,
        // A parameter of the function's own.
        syn::Type::Path(_) => return true,
        _ => return false,
    };
    bounds.iter().filter_map(bound_trait).any(is_function_trait)
}

fn refuse_advancing_parameters(flow: &Flow, liveness: &Liveness, errors: &mut Diagnostics) {
    for id in advancing_parameters(flow, liveness, false) {
        let name = flow.bindings[id].ident.clone();
        errors.refuse(name.span(), Refusal::Advances { name });
    }
}

/// A part of a text or list that the variable moves along, `rest = &rest[4..]`, is saved as what it is.
fn keep_parts_that_move(flow: &Flow, strategies: &mut [Strategy]) {
    let shared = Strategy::Reexecuted { exclusive: false };
    for (id, binding) in flow.bindings.iter().enumerate() {
        let may_be = strategies[id] == shared && binding.mutable && binding.treatment.is_none();
        if may_be && is_part(flow, binding) && advances(flow, id, true) {
            strategies[id] = Strategy::Saved;
        }
    }
}

/// Whether a variable has a place of its own in what it was made of: it says so, is made of a range, or of such a variable as a whole.
fn is_part(flow: &Flow, binding: &Binding) -> bool {
    match (&binding.ty, &binding.init) {
        (Some(ty), _) => has_a_place_of_its_own(ty),
        (None, Some(syn::Expr::Path(_))) => match binding.inputs.as_slice() {
            [(other, _)] => is_part(flow, &flow.bindings[*other]),
            _ => false,
        },
        (None, Some(init)) => is_part_by_range(init),
        (None, None) => false,
    }
}

/// A part of a text or list, or what a caller chooses that has some trait, and is neither a function nor an iterator.
fn has_a_place_of_its_own(ty: &syn::Type) -> bool {
    match ty {
        syn::Type::Reference(ty) => is_part_by_type(ty),
        syn::Type::ImplTrait(one) => !one.bounds.iter().any(is_function_or_borrows),
        _ => false,
    }
}

/// `&str`, `&[T]`.
fn is_part_by_type(ty: &syn::TypeReference) -> bool {
    ty.mutability.is_none() && (matches!(&*ty.elem, syn::Type::Slice(_)) || is_text_or_bytes_type(&ty.elem))
}

/// `&text[1..]`.
fn is_part_by_range(init: &syn::Expr) -> bool {
    let syn::Expr::Reference(reference) = init else {
        return false;
    };
    reference.mutability.is_none()
        && matches!(&*reference.expr, syn::Expr::Index(index) if matches!(&*index.index, syn::Expr::Range(_)))
}

/// Whether a literal has fields that are no borrows.
fn has_values_of_its_own(init: &syn::Expr) -> bool {
    matches!(init, syn::Expr::Struct(literal) if literal.rest.is_some()
        || literal.fields.iter().any(|field| !matches!(field.expr, syn::Expr::Reference(_))))
}

/// Whether the variable gets another value, or changes, after the statement that makes it. `has_place`: what changes is its own, and
/// not only what is behind it.
fn advances(flow: &Flow, id: BindingId, has_place: bool) -> bool {
    let binding = &flow.bindings[id];
    flow.events().any(|event| {
        event.binding == id
            && event.step != binding.step
            && (event.kind == Use::Write
                || matches!(event.kind, Use::Change | Use::Lend) && binding.mutable && has_place)
    })
}

/// Whether an expression makes an iterator, which has a place of its own in what it goes over, and no reference to that; or several
/// values of which one is such.
fn makes_an_iterator(library: &Library, expr: &syn::Expr) -> bool {
    let makes = |one: &syn::Expr| makes_an_iterator(library, one);
    match expr {
        syn::Expr::Paren(inner) => makes(&inner.expr),
        syn::Expr::Tuple(tuple) => tuple.elems.iter().any(makes),
        syn::Expr::Array(array) => array.elems.iter().any(makes),
        syn::Expr::Struct(literal) => literal.fields.iter().any(|field| makes(&field.expr)),
        syn::Expr::Call(call) => call.args.iter().any(makes),
        syn::Expr::MethodCall(call) => {
            let method = call.method.to_string();
            library.begins_an_iterator(&method)
                || library.is_adaptor(&method)
                || library.says(&method, Iterators::UsesUp)
                || library.says(&method, Iterators::OverParts)
        }
        _ => false,
    }
}

/// An iterator or a reference that moves on can be rebuilt, but not to where it was.
fn refuse_advancing(
    library: &Library,
    flow: &Flow,
    liveness: &Liveness,
    strategies: &[Strategy],
    errors: &mut Diagnostics,
) {
    let needed = reexecuted_for_others(flow, liveness, strategies);
    for (id, binding) in flow.bindings.iter().enumerate() {
        let Strategy::Reexecuted { exclusive } = strategies[id] else {
            continue;
        };
        let is_iterator = || { binding.init.as_ref() }.is_some_and(|init| makes_an_iterator(library, init));
        if binding.reexecutes
            || binding.treatment.is_some()
            || !matches!(binding.declaration, Declaration::Let)
        {
            continue;
        }
        let may_advance = needed.contains(&id) && binding.mutable && !is_closure(binding);
        if may_advance && advances(flow, id, !exclusive || is_iterator()) {
            errors.refuse(
                binding.ident.span(),
                Refusal::Advances {
                    name: binding.ident.clone(),
                },
            );
        }
    }
}

/// What is said to be used in other branches only must not be used where a site leads.
fn refuse_used_here(flow: &Flow, errors: &mut Diagnostics) {
    for (id, binding) in flow.bindings.iter().enumerate() {
        let name = &binding.ident;
        if binding.treatment == Some(Treatment::Elsewhere) && !is_done_with(flow, id) {
            errors.refuse(name.span(), Refusal::UsedHere { name: name.clone() });
        }
    }
}

/// What is rebuilt and filled must be made of the same inputs, and must not have been exchanged for another value.
/// Whether a parameter that changes is passed by value, and moved away by the step: no checkpoint behind it has the parameter, and
/// what a caller passes again has not changed yet.
pub fn is_moved_parameter(flow: &Flow, id: BindingId, step: StepId) -> bool {
    let is_by_value = matches!(
        flow.bindings[id].declaration,
        Declaration::Parameter {
            passing: Passing::Value,
            ..
        }
    );
    let changes = is_by_value && flow.bindings[id].mutable;
    changes && { flow.events() }.any(|event| event.binding == id && event.step == step && event.may_move())
}

fn refuse_other_values(flow: &Flow, strategies: &[Strategy], errors: &mut Diagnostics) {
    for (id, binding) in flow.bindings.iter().enumerate() {
        if !binding.treatment.is_some_and(Treatment::fills) {
            continue;
        }
        let name = &binding.ident;
        let later = |event: &&crate::cfg::Event| event.step > binding.step;
        if flow
            .events()
            .filter(later)
            .any(|event| event.binding == id && event.kind == Use::Write)
        {
            errors.refuse(name.span(), Refusal::FilledIsReplaced { name: name.clone() });
        }
        let Some((made, _)) = binding.inputs.first() else {
            continue;
        };
        let made = *made;
        let begins = flow.bindings[made].step;
        for (of, input) in inputs_of(flow, strategies, made) {
            let (from, changed) = (&flow.bindings[of], &flow.bindings[input]);
            // It is saved as a part of the value.
            let pair = (from.local, changed.local);
            // What is copied is written over when the value is filled.
            let is_told = flow.filled_loans.contains(&pair) || flow.copied_contents.contains(&pair);
            let parameter = match changed.declaration {
                Declaration::Parameter { passing, .. } => Some(passing),
                _ => None,
            };
            // A parameter of a closure in it.
            if changed.step >= begins && parameter.is_none() || is_told {
                continue;
            }
            let is_behind = leads_exclusively(changed, strategies[input]);
            let may_change = changed.mutable || is_behind;
            let changes = |event: &crate::cfg::Event| {
                event.binding == input
                    && !{ from.init.as_ref() }.is_some_and(|init| flow.is_in_another_field(event, init))
                    && match event.kind {
                        // Parameters are declared in the step in which the first statement is.
                        Use::Write => parameter.is_none() || event.step > changed.step,
                        Use::Change | Use::Lend => may_change,
                        // Whether what makes the value changes it as well is known where that was decided.
                        Use::Move => is_behind && event.step > begins,
                        _ => may_change && event.by_own,
                    }
            };
            let later = |event: &&crate::cfg::Event| event.step >= begins;
            if is_moved_parameter(flow, input, begins) || flow.events().filter(later).any(changes) {
                let changed = &changed.ident;
                errors.refuse(
                    changed.span(),
                    Refusal::FilledFromChanged {
                        changed: changed.clone(),
                        name: name.clone(),
                    },
                );
            }
        }
    }
}

/// What a value is made from, each with what that is made from which has it: itself, or a reference, a closure or the like that a restart
/// makes from what the others are by then.
fn inputs_of(flow: &Flow, strategies: &[Strategy], made: BindingId) -> Vec<(BindingId, BindingId)> {
    let (mut open, mut found) = (vec![made], Vec::new());
    while let Some(of) = open.pop() {
        for (input, _) in &flow.bindings[of].inputs {
            if !found.contains(&(of, *input)) {
                found.push((of, *input));
                let again = matches!(strategies[*input], Strategy::Reexecuted { .. });
                if *input < of && (again || leads_to_others(&flow.bindings[*input])) {
                    open.push(*input);
                }
            }
        }
    }
    found
}

/// Whether a variable is plainly a reference or a closure.
pub fn leads_to_others(binding: &Binding) -> bool {
    matches!(
        binding.init,
        Some(syn::Expr::Reference(_) | syn::Expr::Closure(_))
    )
}

fn is_closure(binding: &Binding) -> bool {
    matches!(binding.init, Some(syn::Expr::Closure(_)))
}
