//! The stages in their order: parse, sites, spine, flow, liveness, classes, plan, emit.

use crate::cfg;
use crate::desugar;
use crate::desugar::chosen_site::place_in_costliest_loop;
use crate::desugar::form::Form;
use crate::desugar::inlined_closures;
use crate::desugar::iterator_replay;
use crate::desugar::regions::{self, Regions};
use crate::desugar::streams;
use crate::diagnostics::{Diagnostics, Refusal};
use crate::emit::{self, Emitter, emit};
use crate::liveness::Liveness;
use crate::liveness::clean::Unwritten;
use crate::names::Names;
use crate::parse::options::{Options, SiteChoice, Treatment, take_treatment};
use crate::plan;
use crate::spine;
use crate::strategies::classify;
use crate::syntax::marks::Marks;
use crate::syntax::origins::{Origin, is_reference_type, origin};
use crate::syntax::own_macros::{Definitions, captures};
use crate::syntax::patterns::is_binding;
use crate::syntax::without_ckpt::{without_ckpt, without_sites};
use crate::validate;
use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use std::collections::HashSet;
use syn::visit::{self, Visit};
use syn::{FnArg, ItemFn, Local, Pat, parse_quote};

/// Expands `#[ckpt::instrument(arguments)]` on a function. Errors come out as `compile_error!`, next to the function as it
/// would be without ckpt, so that editors keep working.
pub fn instrument(arguments: TokenStream, item: TokenStream) -> TokenStream {
    expand(arguments, item, false)
}

/// Expands `#[ckpt::main(arguments)]`.
pub fn instrument_main(arguments: TokenStream, item: TokenStream) -> TokenStream {
    expand(arguments, item, true)
}

fn expand(arguments: TokenStream, item: TokenStream, opens_session: bool) -> TokenStream {
    let item = captures::named(crate::parse::dialect::modern(item));
    match try_expand(arguments, &item, opens_session) {
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

/// Writes a function and the bodies of its threads.
fn emitted(stages: &Stages, item: &TokenStream) -> Result<TokenStream, Diagnostics> {
    let emitter = Emitter {
        lowered: &stages.lowered,
        flow: &stages.flow,
        plan: &stages.plan,
        liveness: &stages.liveness,
        chosen: stages.chosen,
        regions: &stages.regions,
        unwritten: Unwritten::of(&stages.flow, item),
    };
    let means = &stages.options.means;
    let emitted = means.in_force_during(|| emit(&stages.function, item, &stages.options, &emitter));
    let mut errors = Diagnostics::default();
    validate::check(
        &stages.function.block.to_token_stream(),
        &[&emitted.function, &emitted.replaced],
        &mut errors,
    );
    errors.propagate()?;
    if stages.regions.is_empty() {
        return Ok(emitted.function);
    }
    let members = stages.regions.members.iter().zip(&stages.members);
    let bodies = members.map(|(member, stages)| self::emitted(stages, &member.function.to_token_stream()));
    let bodies = bodies.collect::<Result<Vec<_>, _>>()?;
    Ok(emit::regions::put(
        emitted.function,
        &stages.regions.members,
        &bodies,
        &emitted.waits,
    ))
}

/// What the stages before the emission have made of a function.
#[derive(Debug)]
pub struct Stages {
    /// What the attribute says.
    pub options: Options,
    /// The function, with its sites.
    pub function: ItemFn,
    /// Whether its site stands in a loop that the compiler has chosen, with none marked.
    pub chosen: bool,
    /// Its spine.
    pub lowered: spine::Lowered,
    /// Its bindings and their events.
    pub flow: cfg::Flow,
    /// Which values are needed where.
    pub liveness: Liveness,
    /// What each site registers.
    pub plan: plan::Plan,
    /// The parallel regions that have sites in their threads.
    pub regions: Regions,
    /// The same of the bodies of these threads, in their order.
    pub members: Vec<Stages>,
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
    let mut errors = Diagnostics::default();
    let options = Options::parse(arguments, opens_session);
    let function = syn::parse2::<ItemFn>(item.clone());
    match (options, function) {
        (Ok(options), Ok(_)) => analyse_function(&options, item),
        (options, function) => {
            options.err().iter().for_each(|error| errors.syntax(error));
            if let Err(error) = function {
                refuse_item(item, &error, opens_session, &mut errors);
            }
            Err(errors)
        }
    }
}

fn analyse_function(options: &Options, item: &TokenStream) -> Result<Stages, Diagnostics> {
    let mut form = Form::default();
    let errors = match analyse_as(form, options, item) {
        Ok(stages) => return Ok(stages),
        Err(errors) => errors,
    };
    // Whether there is any need of other forms is known only at the end.
    if let Some(again) = iterator_replay::with_iterators(item, &errors) {
        return analyse_as(form, options, &again).map_err(|_| errors);
    }
    let mut left = errors.clone();
    while let Some(next) = form.that_takes(&left) {
        form = next;
        match analyse_as(form, options, item) {
            Ok(stages) => return Ok(stages),
            Err(errors) => left = errors,
        }
    }
    Err(errors)
}

fn analyse_as(form: Form, options: &Options, item: &TokenStream) -> Result<Stages, Diagnostics> {
    let mut errors = Diagnostics::default();
    let function = syn::parse2::<ItemFn>(item.clone()).map_err(|error| {
        errors.syntax(&error);
        errors.clone()
    })?;
    let mut options = options.clone();
    let own = Definitions::of_block(&function.block).tables(&options.means);
    options.means.add(&own);
    let means = options.means.clone();
    means.in_force_during(|| stages(form, options, function, errors))
}

/// Analyses the bodies of threads.
fn analyse_members(regions: &Regions, options: &Options) -> Result<Vec<Stages>, Diagnostics> {
    let of_member = |member: &regions::Member| {
        let body = &member.function.block;
        let is_called = |path: &&syn::Path| {
            let calls = std::slice::from_ref(*path);
            Marks { calls }.in_block(body)
        };
        let options = Options {
            calls: options.calls.iter().filter(is_called).cloned().collect(),
            sites: SiteChoice::Manual,
            opens_session: false,
            means: options.means.clone(),
        };
        let stages = analyse_function(&options, &member.function.to_token_stream())?;
        let mut errors = Diagnostics::default();
        if !stages.regions.is_empty() {
            errors.refuse(member.function.sig.ident.span(), Refusal::ThreadsInThread);
        }
        errors.propagate().map(|()| stages)
    };
    regions.members.iter().map(of_member).collect()
}

fn stages(
    form: Form,
    options: Options,
    mut function: ItemFn,
    mut errors: Diagnostics,
) -> Result<Stages, Diagnostics> {
    refuse_signature(&function, &mut errors);
    let treatments = parameter_treatments(&mut function, &mut errors);
    errors.propagate()?;
    let marks = Marks {
        calls: &options.calls,
    };
    let names = Names::default();
    regions::watchable::watch(&mut function);
    let regions = regions::lift(&mut function, marks, &mut errors);
    errors.propagate()?;
    let members = analyse_members(&regions, &options)?;
    inlined_closures::unfold(&mut function, marks, &names);
    let chosen = choose_sites(&mut function, &options, &regions, &mut errors);
    errors.propagate()?;
    streams::show_values(&mut function.block);

    let references = reference_names(&function);
    desugar::prepare(&mut function, form, marks, &references, &names, &mut errors);
    errors.propagate()?;
    let references = reference_names(&function);
    let changing = spine::keys::changing_names(&function);
    let body = (*function.block).clone();
    let lowered = spine::lower(body, form, marks, &references, &changing, &names, &mut errors);
    errors.propagate()?;
    let flow = cfg::build(&function.sig, &lowered, &treatments);
    let liveness = Liveness::of(&flow);
    let classes = classify(&flow, &liveness, &references, &mut errors);
    errors.propagate()?;
    let plan = plan::plan(&lowered, &flow, &liveness, classes, &mut errors);
    errors.propagate()?;
    Ok(Stages {
        options,
        function,
        chosen,
        lowered,
        flow,
        liveness,
        plan,
        regions,
        members,
    })
}

/// What is no function.
fn refuse_item(item: &TokenStream, error: &syn::Error, opens_session: bool, errors: &mut Diagnostics) {
    let attribute = if opens_session {
        "#[ckpt::main]"
    } else {
        "#[ckpt::instrument]"
    };
    if let Ok(method) = syn::parse2::<syn::TraitItemFn>(item.clone()) {
        errors.refuse(method.sig.ident.span(), Refusal::WithoutBody { attribute });
    } else if let Ok(other) = syn::parse2::<syn::Item>(item.clone()) {
        errors.refuse(
            syn::spanned::Spanned::span(&other),
            Refusal::NoFunction { attribute },
        );
    } else {
        errors.syntax(error);
    }
}

fn refuse_signature(function: &ItemFn, errors: &mut Diagnostics) {
    if let Some(token) = &function.sig.constness {
        errors.refuse(token.span, Refusal::ConstFunction);
    }
    if let Some(token) = &function.sig.asyncness {
        errors.refuse(token.span, Refusal::AsyncFunction);
    }
}

/// Sites are where the user put them, or, with nothing marked, in the costliest loop. Whether it is that.
fn choose_sites(
    function: &mut ItemFn,
    options: &Options,
    regions: &Regions,
    errors: &mut Diagnostics,
) -> bool {
    let marks = Marks {
        calls: &options.calls,
    };
    if let Some(trapped) = marks.trapped(&function.block) {
        errors.refuse(
            trapped.span,
            Refusal::SiteInside {
                holder: trapped.holder,
                way_out: trapped.instead,
            },
        );
        return false;
    }
    let called = |path: &&syn::Path| {
        Marks {
            calls: std::slice::from_ref(*path),
        }
        .in_block(&without_sites(&function.block))
            || regions.members.iter().any(|member| {
                let calls = std::slice::from_ref(*path);
                Marks { calls }.in_block(&member.function.block)
            })
    };
    let mut unmet = options
        .calls
        .iter()
        .filter(|path| !called(path))
        .collect::<Vec<_>>()
        .into_iter();
    if unmet.len() == 0 && marks.in_block(&function.block) {
        return false;
    }
    if let Some(call) = unmet.next() {
        let name = call.to_token_stream().to_string().replace(' ', "");
        errors.refuse(
            syn::spanned::Spanned::span(call),
            Refusal::NeverCalls {
                function: function.sig.ident.to_string(),
                name: name.to_string(),
            },
        );
        return false;
    }
    if options.sites == SiteChoice::Manual {
        errors.refuse(
            function.sig.ident.span(),
            Refusal::HasNoSite {
                function: function.sig.ident.to_string(),
            },
        );
        return false;
    }
    match place_in_costliest_loop(&mut function.block) {
        Some(line) => {
            let note = format!(" ckpt has placed a checkpoint site in the loop at line {line}.");
            function.attrs.push(parse_quote!(#[doc = ""]));
            function.attrs.push(parse_quote!(#[doc = #note]));
            return true;
        }
        None => errors.refuse(
            function.sig.ident.span(),
            Refusal::HasNoLoop {
                function: function.sig.ident.to_string(),
            },
        ),
    }
    false
}

/// Whether going over the expression gives references; `known` are the names of some.
fn gives_references(iterable: &syn::Expr, known: &HashSet<String>) -> bool {
    match iterable {
        syn::Expr::Reference(_) => true,
        syn::Expr::Path(path) => path
            .path
            .get_ident()
            .is_some_and(|name| known.contains(&name.to_string())),
        syn::Expr::Paren(inner) => gives_references(&inner.expr, known),
        syn::Expr::MethodCall(call) => match call.method.to_string().as_str() {
            "iter" | "windows" | "chunks" | "chunks_exact" | "keys" | "values" => true,
            "iter_mut" | "chunks_mut" | "chunks_exact_mut" | "values_mut" => true,
            "rev" | "skip" | "take" | "step_by" | "filter" | "skip_while" | "take_while" | "chain" => {
                gives_references(&call.receiver, known)
            }
            _ => false,
        },
        _ => false,
    }
}

fn parameter_treatments(function: &mut ItemFn, errors: &mut Diagnostics) -> Vec<Option<Treatment>> {
    let mut treatments = Vec::new();
    for argument in &mut function.sig.inputs {
        let attributes = match argument {
            FnArg::Receiver(receiver) => &mut receiver.attrs,
            FnArg::Typed(typed) => &mut typed.attrs,
        };
        let treatment = take_treatment(attributes).unwrap_or_else(|error| {
            errors.syntax(&error);
            None
        });
        if treatment == Some(Treatment::Refill) {
            errors.syntax(&syn::Error::new_spanned(&argument, Refusal::RefillOfParameter));
        }
        treatments.push(treatment);
    }
    treatments
}

/// The names that stand for references wherever the function declares them.
fn reference_names(function: &ItemFn) -> HashSet<String> {
    struct Names {
        references: HashSet<String>,
        others: HashSet<String>,
    }
    impl Names {
        fn add(&mut self, name: String, is_reference: bool) {
            if is_reference {
                self.references.insert(name)
            } else {
                self.others.insert(name)
            };
        }
    }
    impl Names {
        fn is_borrow(&self, value: &syn::Expr) -> bool {
            matches!(origin(value, &self.references), Origin::Borrow { .. })
        }

        fn matched(&mut self, pattern: &Pat, value: &syn::Expr) {
            match (pattern, value) {
                (Pat::Tuple(names), syn::Expr::Tuple(parts)) if names.elems.len() == parts.elems.len() => {
                    let pairs = names.elems.iter().zip(&parts.elems);
                    pairs.for_each(|(name, part)| self.matched(name, part));
                }
                _ => {
                    let is_borrow = self.is_borrow(value);
                    self.bound(pattern, is_borrow);
                }
            }
        }

        /// What a pattern binds in a borrowed value: references, but for what stands behind a `&`.
        fn bound(&mut self, pattern: &Pat, is_borrow: bool) {
            match pattern {
                Pat::Reference(inner) => self.bound(&inner.pat, false),
                Pat::Ident(ident) if is_binding(ident) => {
                    self.add(ident.ident.to_string(), is_borrow || ident.by_ref.is_some());
                    let inner = ident.subpat.iter();
                    inner.for_each(|(_, inner)| self.bound(inner, is_borrow));
                }
                Pat::Tuple(one) => one.elems.iter().for_each(|part| self.bound(part, is_borrow)),
                Pat::TupleStruct(one) => one.elems.iter().for_each(|part| self.bound(part, is_borrow)),
                Pat::Slice(one) => one.elems.iter().for_each(|part| self.bound(part, is_borrow)),
                Pat::Or(one) => one.cases.iter().for_each(|part| self.bound(part, is_borrow)),
                Pat::Struct(one) => one
                    .fields
                    .iter()
                    .for_each(|field| self.bound(&field.pat, is_borrow)),
                Pat::Paren(inner) => self.bound(&inner.pat, is_borrow),
                _ => {}
            }
        }
    }

    impl<'ast> Visit<'ast> for Names {
        fn visit_local(&mut self, local: &'ast Local) {
            let (pattern, written) = match &local.pat {
                Pat::Type(typed) => (&*typed.pat, Some(is_reference_type(&typed.ty))),
                other => (other, None),
            };
            if let Pat::Ident(ident) = pattern {
                let made = local.init.as_ref().is_some_and(|init| self.is_borrow(&init.expr));
                self.add(ident.ident.to_string(), written.unwrap_or(made));
            } else if let Some(init) = &local.init {
                self.matched(pattern, &init.expr);
            }
            visit::visit_local(self, local);
        }

        fn visit_expr_let(&mut self, one: &'ast syn::ExprLet) {
            self.matched(&one.pat, &one.expr);
            visit::visit_expr_let(self, one);
        }

        fn visit_expr_match(&mut self, one: &'ast syn::ExprMatch) {
            one.arms.iter().for_each(|arm| self.matched(&arm.pat, &one.expr));
            visit::visit_expr_match(self, one);
        }

        fn visit_expr_for_loop(&mut self, one: &'ast syn::ExprForLoop) {
            let (iterable, pattern) = match (&*one.expr, &*one.pat) {
                (syn::Expr::MethodCall(call), Pat::Tuple(pair))
                    if call.method == "enumerate" && pair.elems.len() == 2 =>
                {
                    (&*call.receiver, &pair.elems[1])
                }
                (iterable, pattern) => (iterable, pattern),
            };
            if let Pat::Ident(ident) = pattern {
                let is_reference = gives_references(iterable, &self.references);
                self.add(ident.ident.to_string(), is_reference);
            }
            visit::visit_expr_for_loop(self, one);
        }
    }
    let mut names = Names {
        references: HashSet::new(),
        others: HashSet::new(),
    };
    for argument in &function.sig.inputs {
        match argument {
            FnArg::Receiver(receiver) => names.add("self".into(), receiver.reference.is_some()),
            FnArg::Typed(typed) => {
                if let Pat::Ident(ident) = &*typed.pat {
                    names.add(ident.ident.to_string(), is_reference_type(&typed.ty));
                }
            }
        }
    }
    names.visit_block(&function.block);
    names.references.difference(&names.others).cloned().collect()
}
