//! What is read of one function: what its attribute says, and what the attributes of its parameters say.

use super::options::{Options, Treatment, take_treatment};
use crate::diagnostics::{Diagnostics, Refusal};
use crate::library::Functions;
use crate::syntax::mentions::names_in;
use crate::syntax::own_macros::Definitions;
use crate::syntax::owners::Owners;
use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::spanned::Spanned;
use syn::{FnArg, ItemFn, Pat, Type};

/// A function as it is read.
#[derive(Debug)]
pub struct Parsed {
    /// What the attribute says, with what the function's own macros mean.
    pub options: Options,
    /// The function, without the attributes of its parameters.
    pub function: ItemFn,
    /// What the user wants with each parameter.
    pub treatments: Vec<Option<Treatment>>,
}

/// Reads the attribute and the item under it.
///
/// # Errors
/// Where the attribute does not say what it can, or the item is no function.
pub fn read(
    arguments: TokenStream,
    item: &TokenStream,
    opens_session: bool,
) -> Result<(Options, ItemFn), Diagnostics> {
    let mut errors = Diagnostics::default();
    let options = Options::parse(arguments, opens_session);
    let function = syn::parse2::<ItemFn>(item.clone());
    match (options, function) {
        (Ok(options), Ok(function)) => Ok((options, function)),
        (options, function) => {
            options.err().into_iter().for_each(|unread| errors.unread(unread));
            if let Err(error) = function {
                refuse_item(item, &error, opens_session, &mut errors);
            }
            Err(errors)
        }
    }
}

/// Takes in what stands at the function and at its parameters.
pub fn parse(options: &Options, mut function: ItemFn, errors: &mut Diagnostics) -> Parsed {
    let mut options = options.clone();
    let own = Definitions::of_block(&function.block).table(options.library.added());
    options.library.add(&own);
    options.counts_owners |= Owners::of(&options.library, &function.to_token_stream()).may_be_counted();
    let asks_where = |name: &str| options.library.says(name, Functions::AsksWhere);
    options.asks_where |= names_in(&function.to_token_stream())
        .iter()
        .any(|name| asks_where(name));
    refuse_signature(&function, errors);
    let treatments = parameter_treatments(&mut function, errors);
    super::parameters_by_ref::with_variables(&mut function);
    Parsed {
        options,
        function,
        treatments,
    }
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
        errors.refuse(other.span(), Refusal::NoFunction { attribute });
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

fn parameter_treatments(function: &mut ItemFn, errors: &mut Diagnostics) -> Vec<Option<Treatment>> {
    let mut treatments = Vec::new();
    for argument in &mut function.sig.inputs {
        let (attributes, is_whole) = match argument {
            FnArg::Receiver(receiver) => (&mut receiver.attrs, receiver.reference.is_none()),
            FnArg::Typed(typed) => {
                let is_whole = matches!(&*typed.pat, Pat::Ident(name) if name.by_ref.is_none())
                    && !matches!(&*typed.ty, Type::Reference(_) | Type::ImplTrait(_));
                (&mut typed.attrs, is_whole)
            }
        };
        let treatment = take_treatment(attributes).unwrap_or_else(|unread| {
            errors.unread(unread);
            None
        });
        if treatment.is_some_and(Treatment::fills) && !is_whole {
            errors.refuse(argument.span(), Refusal::RefillOfParameter);
        }
        treatments.push(treatment);
    }
    treatments
}
