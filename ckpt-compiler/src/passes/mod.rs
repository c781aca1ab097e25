//! The stages of a function, in their order: [`PASSES`]. Each takes artefacts that are complete and returns one; in debug
//! builds the invariants of each are looked at before it is used. [`dump`] shows what any of them has made.

mod invariants;
mod show;

pub use show::dump;

use crate::cfg::{self, Flow};
use crate::desugar::form::Form;
use crate::desugar::iterator_replay;
use crate::desugar::regions::{self, Regions};
use crate::desugar::{self, Desugared};
use crate::diagnostics::{Diagnostics, Refusal};
use crate::emit::{self, Emitter, Spares, emit};
use crate::library::OwnNames;
use crate::liveness::Liveness;
use crate::liveness::clean::Clean;
use crate::liveness::unread::Unread;
use crate::names::Locals;
use crate::parse::function;
use crate::parse::options::{Options, SiteChoice, Treatment};
use crate::plan::{self, Plan};
use crate::resolve::{self, Hiding, Resolved};
use crate::sources::Sources;
use crate::spine::{self, Lowered};
use crate::strategies::{self, choose};
use crate::syntax::marks::Marks;
use crate::syntax::origins::Known;
use crate::syntax::own_macros::captures;
use crate::syntax::without_ckpt::without_ckpt;
use crate::validate;
use invariants::Artefact;
use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use std::cell::Cell;
use std::sync::Arc;
use syn::ItemFn;

/// A stage of the compiler: a value with a name.
#[derive(Debug)]
pub struct Pass {
    /// Its name in `cargo ckpt plan --stage NAME`.
    pub name: &'static str,
    /// What it makes, in one line.
    pub about: &'static str,
    /// Where it lives, below `src`.
    pub module: &'static str,
    /// What it has made, as text.
    text: fn(&show::Made<'_>) -> String,
}

/// All stages of a function, in their order.
pub static PASSES: [&Pass; 15] = [
    &ATTRIBUTES,
    &RESOLVE,
    &REGIONS,
    &DESUGAR,
    &SPINE,
    &BINDINGS,
    &LIVENESS,
    &CLEAN,
    &STRATEGIES,
    &LOANS,
    &SCHEDULE,
    &OPTION_SLOTS,
    &REBORROWS,
    &PLAN,
    &EMIT,
];

static ATTRIBUTES: Pass = Pass {
    name: "attributes",
    about: "What the attributes of the function and its parameters say",
    module: "parse",
    text: show::attributes,
};
static RESOLVE: Pass = Pass {
    name: "resolve",
    about: "The function with a name of its own for every variable",
    module: "resolve",
    text: show::resolved,
};
static REGIONS: Pass = Pass {
    name: "regions",
    about: "The threads with sites, their bodies as functions of their own",
    module: "desugar/regions",
    text: show::regions,
};
static DESUGAR: Pass = Pass {
    name: "desugar",
    about: "The function in the form that is taken apart, with its sites",
    module: "desugar",
    text: show::desugared,
};
static SPINE: Pass = Pass {
    name: "spine",
    about: "The statements with sites, taken apart",
    module: "spine",
    text: |made| made.stages.lowered.to_string(),
};
static BINDINGS: Pass = Pass {
    name: "bindings",
    about: "Variables, and the order in which they are used",
    module: "cfg",
    text: show::bindings,
};
static LIVENESS: Pass = Pass {
    name: "liveness",
    about: "What is needed at each site",
    module: "liveness",
    text: show::liveness,
};
static CLEAN: Pass = Pass {
    name: "clean",
    about: "What is not written to between two visits of a site",
    module: "liveness/clean",
    text: show::clean,
};
static STRATEGIES: Pass = Pass {
    name: "strategies",
    about: "How each variable comes back at a restart",
    module: "strategies",
    text: show::strategies,
};
static LOANS: Pass = Pass {
    name: "loans",
    about: "What the calls that lead to sites borrow",
    module: "plan/loans",
    text: show::loans,
};
static SCHEDULE: Pass = Pass {
    name: "schedule",
    about: "What a restart skips and what it runs again, and how variables get across",
    module: "plan/schedule",
    text: show::schedule,
};
static OPTION_SLOTS: Pass = Pass {
    name: "option-slots",
    about: "Where variables are taken out of their option slots, and put back",
    module: "plan/option_slots",
    text: show::option_slots,
};
static REBORROWS: Pass = Pass {
    name: "reborrows",
    about: "The references that end at sites and are made again",
    module: "plan/reborrows",
    text: show::reborrows,
};
static PLAN: Pass = Pass {
    name: "plan",
    about: "What each site registers",
    module: "plan",
    text: show::plan,
};
static EMIT: Pass = Pass {
    name: "emit",
    about: "The instrumented functions",
    module: "emit",
    text: show::emitted,
};

impl Pass {
    /// The stage of that name.
    pub fn named(name: &str) -> Option<&'static Pass> {
        PASSES.into_iter().find(|pass| pass.name == name)
    }

    /// Runs the stage: what it has made, or what it has found wrong.
    fn run<T: Artefact>(&self, make: impl FnOnce(&mut Diagnostics) -> T) -> Result<T, Diagnostics> {
        let mut errors = Diagnostics::default();
        let made = make(&mut errors);
        errors.propagate()?;
        if cfg!(debug_assertions)
            && let Err(broken) = made.check()
        {
            panic!(
                "the stage `{}` has broken an invariant, this is a bug: {broken}",
                self.name
            );
        }
        Ok(made)
    }
}

/// Expands `#[ckpt::instrument(arguments)]` on a function of a program that declares these names. Errors come out as `compile_error!`, next to the function as it
/// would be without ckpt, so that editors keep working.
pub fn instrument(arguments: TokenStream, item: TokenStream, own: &Arc<OwnNames>) -> TokenStream {
    expand(arguments, item, own, false, None)
}

/// Expands `#[ckpt::main(arguments)]` of the program that is made of these files, where they are known.
pub fn instrument_main(
    arguments: TokenStream,
    item: TokenStream,
    own: &Arc<OwnNames>,
    sources: Option<Sources>,
) -> TokenStream {
    expand(arguments, item, own, true, sources)
}

fn expand(
    arguments: TokenStream,
    item: TokenStream,
    own: &Arc<OwnNames>,
    opens_session: bool,
    sources: Option<Sources>,
) -> TokenStream {
    let item = captures::named(crate::parse::dialect::modern(item));
    let expanded = analyse_among(arguments, &item, own, opens_session).and_then(|mut stages| {
        stages.options.sources = sources;
        emitted(&stages, &item)
    });
    match expanded {
        Ok(tokens) => tokens,
        Err(errors) => {
            let messages = errors.to_tokens();
            let untouched = without_ckpt(item);
            quote!(#messages #untouched)
        }
    }
}

/// Expands, or returns everything that is wrong.
///
/// # Errors
/// All diagnostics of the first stage that found any.
pub fn try_expand(
    arguments: TokenStream,
    item: &TokenStream,
    opens_session: bool,
) -> Result<TokenStream, Diagnostics> {
    let stages = analyse(arguments, item, opens_session)?;
    emitted(&stages, item)
}

/// What the stages before the emission have made of a function.
#[derive(Debug)]
pub struct Stages {
    /// What the attribute says.
    pub options: Options,
    /// What the user wants with each parameter.
    pub treatments: Vec<Option<Treatment>>,
    /// The function with a name of its own for every variable, before it was rewritten.
    pub resolved: ItemFn,
    /// The parallel regions that have sites in their threads.
    pub regions: Regions,
    /// The stages of the bodies of these threads, in their order.
    pub members: Vec<Stages>,
    /// The function, with its sites.
    pub function: ItemFn,
    /// Whether its site stands in a loop that the compiler has chosen, with none marked.
    pub chosen: bool,
    /// Its spine.
    pub lowered: Lowered,
    /// Its bindings and their events.
    pub flow: Flow,
    /// Which values are needed where.
    pub liveness: Liveness,
    /// What each site registers.
    pub plan: Plan,
}

/// Runs the stages up to the plan.
///
/// # Errors
/// All diagnostics of the first stage that found any.
pub fn analyse(
    arguments: TokenStream,
    item: &TokenStream,
    opens_session: bool,
) -> Result<Stages, Diagnostics> {
    analyse_among(arguments, item, &Arc::default(), opens_session)
}

/// The same of a function of a program with these names.
///
/// # Errors
/// All diagnostics of the first stage that found any.
pub fn analyse_among(
    arguments: TokenStream,
    item: &TokenStream,
    own: &Arc<OwnNames>,
    opens_session: bool,
) -> Result<Stages, Diagnostics> {
    let (mut options, function) = function::read(arguments, item, opens_session)?;
    options.library.set_own(own);
    analyse_function(&options, function, &Locals::default())
}

/// Runs the stages on a function; `outer` are the variables of the one that it has been taken out of.
fn analyse_function(options: &Options, function: ItemFn, outer: &Locals) -> Result<Stages, Diagnostics> {
    let parsed = ATTRIBUTES.run(|errors| function::parse(options, function, errors))?;
    let resolved = |hiding| RESOLVE.run(|_| resolve::resolve(&parsed, outer, hiding));
    let plain = resolved(Hiding::AsWritten)?;
    let mut form = Form::default();
    let errors = match stages(form, plain.clone()) {
        Ok(stages) => return Ok(stages),
        Err(errors) => errors,
    };
    let restored = |errors: &Diagnostics| errors.restored(&plain.names.locals());
    // Whether there is any need of other forms is known only at the end.
    if let Some(function) = iterator_replay::with_iterators(
        &parsed.options.library,
        &plain.function,
        &errors,
        &plain.names.locals(),
    ) {
        plain.names.note_input(&function);
        let again = Resolved {
            function,
            ..plain.clone()
        };
        return stages(form, again).map_err(|_| restored(&errors));
    }
    let mut left = errors.clone();
    while let Some(next) = form.that_takes(&left) {
        form = next;
        let function = match form.hiding {
            Hiding::AsWritten => plain.clone(),
            Hiding::Renamed => resolved(Hiding::Renamed)?,
        };
        match stages(form, function) {
            Ok(stages) => return Ok(stages),
            Err(errors) => left = errors,
        }
    }
    Err(restored(&errors))
}

/// The stages behind the resolution of names, one after the other.
fn stages(form: Form, resolved: Resolved) -> Result<Stages, Diagnostics> {
    let Resolved {
        options,
        mut function,
        treatments,
        names,
    } = resolved;
    let resolved = function.clone();
    let library = &options.library;
    let marks = Marks {
        calls: &options.calls,
        library,
    };
    regions::receiver::name(&mut function, marks, &names);
    let (function, mut regions) =
        REGIONS.run(|errors| regions::lifted(function, marks, &names.locals(), errors))?;
    let mut members = analyse_members(&regions, &options, &names.locals())?;
    let Desugared {
        function,
        chosen,
        references,
    } = DESUGAR.run(|errors| desugar::desugar(function, &options, &regions, &names, errors))?;
    let locals = names.locals();
    let known = Known::with(library, &locals, &references);
    let lowered = SPINE.run(|errors| spine::lower(&function, form, marks, known, &names, errors))?;
    let mut flow = BINDINGS.run(|_| {
        let (signature, owners) = (&function.sig, options.counts_owners);
        cfg::build(library, signature, &lowered, &treatments, names.locals(), owners)
    })?;
    let liveness = LIVENESS.run(|_| Liveness::of(&flow))?;
    if !options.asks_where {
        strategies::keep_parameters_that_move(&mut flow, &liveness);
    }
    let strategies = STRATEGIES.run(|errors| choose(known, &flow, &liveness, options.asks_where, errors))?;
    let mut plan = PLAN.run(|errors| plan::plan(library, &lowered, &flow, &liveness, strategies, errors))?;
    let moved = plan.move_to_members(&regions, &lowered, &flow);
    if regions.keep_moves(|region, local| moved.contains(&(region, local))) {
        members = analyse_members(&regions, &options, &names.locals())?;
    }
    Ok(Stages {
        options,
        treatments,
        resolved,
        regions,
        members,
        function,
        chosen,
        lowered,
        flow,
        liveness,
        plan,
    })
}

/// Analyses the bodies of threads.
fn analyse_members(regions: &Regions, options: &Options, outer: &Locals) -> Result<Vec<Stages>, Diagnostics> {
    let of_member = |member: &regions::Member| {
        let body = &member.function.block;
        let is_called = |path: &&syn::Path| {
            let calls = std::slice::from_ref(*path);
            Marks {
                calls,
                library: &options.library,
            }
            .in_block(body)
        };
        let options = Options {
            named: options.named.clone(),
            calls: options.calls.iter().filter(is_called).cloned().collect(),
            sites: SiteChoice::Manual,
            opens_session: false,
            counts_owners: options.counts_owners,
            asks_where: options.asks_where,
            any_devices: false,
            is_recursive: false,
            typed: options.typed.clone(),
            spares: Vec::new(),
            has_spare: false,
            library: options.library.clone(),
            sources: None,
        };
        let stages = analyse_function(&options, member.function.clone(), outer)?;
        let mut errors = Diagnostics::default();
        if !stages.regions.is_empty() {
            errors.refuse(member.function.sig.ident.span(), Refusal::ThreadsInThread);
        }
        errors.propagate().map(|()| stages)
    };
    regions.members.iter().map(of_member).collect()
}

/// Writes a function and the bodies of its threads.
///
/// # Errors
/// What names of ckpt the function uses itself.
pub fn emitted(stages: &Stages, item: &TokenStream) -> Result<TokenStream, Diagnostics> {
    let user = stages.function.sig.fn_token.span;
    emitted_in(stages, item, false).map(|tokens| emit::edition::in_edition_of(user, tokens))
}

/// Writes it. `is_inner` says that the body stands in another function.
fn emitted_in(stages: &Stages, item: &TokenStream, is_inner: bool) -> Result<TokenStream, Diagnostics> {
    let mut emitter = Emitter {
        library: &stages.options.library,
        lowered: &stages.lowered,
        flow: &stages.flow,
        plan: &stages.plan,
        liveness: &stages.liveness,
        chosen: stages.chosen,
        regions: &stages.regions,
        clean: Clean::of(&stages.options.library, &stages.flow, item),
        unread: Unread::of(&stages.flow),
        is_inner,
        is_outermost: stages.options.opens_session && !is_inner,
        typed: &stages.options.typed,
        recursion: None,
        strips: Cell::default(),
        spares: Spares::default(),
    };
    let locals = &stages.flow.locals;
    let written = EMIT.run(|errors| {
        let written = emit(&stages.function, item, &stages.options, &mut emitter);
        let body = stages.function.block.to_token_stream();
        validate::check(&body, &[&written.function, &written.replaced], errors);
        validate::check_names(&stages.options.library, &written.function, locals, errors);
        written
    });
    let written = written.map_err(|errors| errors.restored(locals))?;
    let beside = locals.restore(written.beside);
    if stages.regions.is_empty() {
        let (function, copy) = (locals.restore(written.function), written.copy);
        return Ok(quote!(#function #copy #beside));
    }
    let members = stages.regions.members.iter().zip(&stages.members);
    let source = |member: &regions::Member| locals.restore(member.function.to_token_stream());
    let bodies = members.map(|(member, stages)| emitted_in(stages, &source(member), true));
    let bodies = bodies.collect::<Result<Vec<_>, _>>()?;
    let whole = emit::regions::put(written.function, &stages.regions.members, &bodies, &written.waits);
    let whole = locals.restore(whole);
    Ok(quote!(#whole #beside))
}
