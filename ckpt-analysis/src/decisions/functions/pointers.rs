//! Types of pointers to functions: which of them the runtime saves, which the program writes, and the one that a function's
//! signature comes to.

use crate::calls::{Call, CallForm, CallGraph};
use crate::items::resolve::{Namespace, Resolved, Resolver, segments};
use crate::items::{Def, Function};
use crate::source::Program;
use ckpt_compiler::visit::{self, Visit};
use quote::ToTokens;
use std::collections::BTreeSet;
use syn::{FnArg, ReturnType, Type};

/// As many parameters, each by value or by reference, may a function have whose pointers are saved.
const ALL_REFERENCES: usize = 4;
/// As many, if none of them but the first is a reference.
const FIRST_REFERENCE: usize = 6;
/// As many, if it is no plain safe function of Rust.
const NOT_PLAIN: usize = 2;

/// The types that a program writes, and those of variables that it calls and that may hold one of several functions, by
/// the number of their parameters.
#[derive(Debug, Default)]
pub(super) struct Written(BTreeSet<usize>);

impl Written {
    pub fn in_program(program: &Program, graph: &CallGraph) -> Self {
        let chooses = |call: &&Call| matches!(call.form, CallForm::Variable(..)) && call.callees.len() > 1;
        let called = graph.calls.iter().filter(chooses);
        let mut written = Self(called.map(|call| call.arguments.len()).collect());
        program
            .files
            .iter()
            .for_each(|file| written.visit_file(&file.ast));
        written
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether one has so many.
    pub fn has(&self, parameters: usize) -> bool {
        self.0.contains(&parameters)
    }
}

impl<'ast> Visit<'ast> for Written {
    fn visit_type(&mut self, ty: &'ast Type) {
        if let Type::BareFn(pointer) = ty {
            self.0.insert(pointer.inputs.len());
        }
        visit::visit_type(self, ty);
    }
}

/// Whether pointers of this type are saved, by name.
pub fn is_saved(pointer: &syn::TypeBareFn) -> bool {
    let inputs: Vec<&Type> = pointer.inputs.iter().map(|input| &input.ty).collect();
    let is_plain = pointer.unsafety.is_none() && pointer.abi.is_none();
    let output = match &pointer.output {
        ReturnType::Default => None,
        ReturnType::Type(_, ty) => Some(&**ty),
    };
    pointer.variadic.is_none() && is_shape_saved(&inputs, output, is_plain)
}

fn is_shape_saved(inputs: &[&Type], output: Option<&Type>, is_plain: bool) -> bool {
    let is_reference = |ty: &Type| matches!(ty, Type::Reference(_));
    let behind = |ty: &Type| match ty {
        Type::Reference(one) => borrows(&one.elem),
        other => borrows(other),
    };
    let others = inputs.iter().skip(1).filter(|ty| is_reference(ty)).count();
    let most = match (is_plain, others) {
        (false, _) => NOT_PLAIN,
        (true, 0) => FIRST_REFERENCE,
        (true, _) => ALL_REFERENCES,
    };
    let gives_borrowed = output.is_some_and(|ty| is_reference(ty) && !is_static(ty));
    let output_fits = match output {
        Some(_) if gives_borrowed => {
            is_plain && inputs.len() <= 2 && inputs.first().is_some_and(|ty| is_reference(ty))
        }
        Some(ty) => is_static(ty) || !borrows(ty),
        None => true,
    };
    inputs.len() <= most && output_fits && !inputs.iter().any(|ty| behind(ty))
}

fn is_static(ty: &Type) -> bool {
    match ty {
        Type::Reference(one) => {
            { one.lifetime.as_ref() }.is_some_and(|lifetime| lifetime.ident == "static")
                && !borrows(&one.elem)
        }
        _ => false,
    }
}

/// Whether a type says that it borrows for less than as long as the program runs.
fn borrows(ty: &Type) -> bool {
    struct Borrows(bool);
    impl<'ast> Visit<'ast> for Borrows {
        fn visit_type_reference(&mut self, reference: &'ast syn::TypeReference) {
            self.0 |= reference.lifetime.is_none();
            visit::visit_type_reference(self, reference);
        }
        fn visit_lifetime(&mut self, lifetime: &'ast syn::Lifetime) {
            self.0 |= lifetime.ident != "static";
        }
        // The references of a function's own parameters are no one's.
        fn visit_type_bare_fn(&mut self, _: &'ast syn::TypeBareFn) {}
        fn visit_type(&mut self, ty: &'ast Type) {
            self.0 |= matches!(ty, Type::ImplTrait(_));
            visit::visit_type(self, ty);
        }
    }
    let mut found = Borrows(false);
    found.visit_type(ty);
    found.0
}

/// The type of a pointer to the function, with nothing but its references written out: rustc knows the rest. `None` where it
/// would be none of those that are saved.
pub(super) fn of_signature(resolver: &Resolver<'_>, function: &Function) -> Option<String> {
    let signature = &function.written.sig;
    let inputs: Vec<Input> = signature
        .inputs
        .iter()
        .map(|input| match input {
            FnArg::Receiver(one) => match &one.reference {
                Some((_, lifetime)) => Input::Reference {
                    lifetime: lifetime.as_ref().map(ToString::to_string),
                    is_exclusive: one.mutability.is_some(),
                    is_receiver: true,
                },
                None => Input::Value,
            },
            FnArg::Typed(typed) => match &*typed.ty {
                Type::Reference(one) if !is_static(&typed.ty) => Input::Reference {
                    lifetime: one.lifetime.as_ref().map(ToString::to_string),
                    is_exclusive: one.mutability.is_some(),
                    is_receiver: false,
                },
                _ => Input::Value,
            },
        })
        .collect();
    let is_plain = signature.unsafety.is_none() && signature.abi.is_none();
    let is_out = signature.asyncness.is_some() || signature.variadic.is_some();
    let types: Vec<&Type> = { signature.inputs.iter() }
        .filter_map(|input| match input {
            FnArg::Typed(typed) => Some(&*typed.ty),
            FnArg::Receiver(_) => None,
        })
        .collect();
    let hides = |ty: &Type| hides_lifetime(resolver, function, ty);
    if is_out
        || types
            .iter()
            .any(|ty| matches!(ty, Type::ImplTrait(_)) || hides(ty))
    {
        return None;
    }
    let output = match &signature.output {
        ReturnType::Default => None,
        ReturnType::Type(_, ty) => Some(&**ty),
    };
    if output.is_some_and(hides) {
        return None;
    }
    let written: Vec<Type> = inputs.iter().map(|input| input.shape(&None)).collect();
    if !is_shape_saved(&written.iter().collect::<Vec<_>>(), output, is_plain) {
        return None;
    }
    let (source, result) = match output {
        Some(Type::Reference(one)) if !is_static(&Type::Reference(one.clone())) => {
            let from = source_of(&inputs, one.lifetime.as_ref().map(ToString::to_string))?;
            let exclusive = if one.mutability.is_some() { "mut " } else { "" };
            (Some(from), Some(format!("&'r {exclusive}_")))
        }
        Some(_) => (None, Some("_".to_owned())),
        None => (None, None),
    };
    // Parameters that have to live equally long make another type.
    let shared = inputs.iter().enumerate().any(|(index, input)| {
        let lifetime = input.lifetime();
        lifetime.is_some() && inputs[..index].iter().any(|before| before.lifetime() == lifetime)
    });
    if shared || source.is_some_and(|index| index > 0) {
        return None;
    }
    let parameters: Vec<String> = { inputs.iter().enumerate() }
        .map(|(index, input)| {
            let lifetime = (source == Some(index)).then(|| "'r ".to_owned());
            let shape = input.shape(&lifetime);
            shape.to_token_stream().to_string()
        })
        .collect();
    let before = if source.is_some() { "for<'r> " } else { "" };
    let unsafety = if signature.unsafety.is_some() {
        "unsafe "
    } else {
        ""
    };
    let abi =
        { signature.abi.as_ref() }.map_or_else(String::new, |abi| format!("{} ", abi.to_token_stream()));
    let result = result.map_or_else(String::new, |result| format!(" -> {result}"));
    Some(format!(
        "{before}{unsafety}{abi}fn({}){result}",
        parameters.join(", ")
    ))
}

enum Input {
    Value,
    Reference {
        lifetime: Option<String>,
        is_exclusive: bool,
        is_receiver: bool,
    },
}

impl Input {
    fn lifetime(&self) -> Option<&String> {
        match self {
            Input::Reference { lifetime, .. } => lifetime.as_ref(),
            Input::Value => None,
        }
    }

    fn shape(&self, lifetime: &Option<String>) -> Type {
        let lifetime = lifetime
            .as_ref()
            .map(|_| syn::Lifetime::new("'r", proc_macro2::Span::call_site()));
        match self {
            Input::Value => syn::parse_quote!(_),
            Input::Reference {
                is_exclusive: true, ..
            } => syn::parse_quote!(& #lifetime mut _),
            Input::Reference { .. } => syn::parse_quote!(& #lifetime _),
        }
    }
}

/// The parameter that the result borrows from.
fn source_of(inputs: &[Input], lifetime: Option<String>) -> Option<usize> {
    let of_name = |name: &String| inputs.iter().position(|input| input.lifetime() == Some(name));
    let is_receiver = |input: &Input| {
        matches!(
            input,
            Input::Reference {
                is_receiver: true,
                ..
            }
        )
    };
    match lifetime {
        Some(name) => of_name(&name),
        None => inputs.iter().position(is_receiver).or_else(|| {
            let mut references =
                { inputs.iter().enumerate() }.filter(|(_, input)| matches!(input, Input::Reference { .. }));
            match (references.next(), references.next()) {
                (Some((index, _)), None) => Some(index),
                _ => None,
            }
        }),
    }
}

/// Whether a type of the program has parameters for lifetimes, written or not.
fn hides_lifetime(resolver: &Resolver<'_>, function: &Function, ty: &Type) -> bool {
    struct Hides<'a> {
        resolver: &'a Resolver<'a>,
        function: &'a Function,
        found: bool,
    }
    impl<'ast> Visit<'ast> for Hides<'_> {
        fn visit_type_path(&mut self, path: &'ast syn::TypePath) {
            let scope = self.function.scope;
            let def = self.resolver.path(scope, &segments(&path.path), Namespace::Types);
            let generics = match def {
                Resolved::Item(Def::Type(id)) => Some(&self.resolver.items.types[id.0].generics),
                Resolved::Item(Def::Alias(id)) => Some(&self.resolver.items.aliases[id.0].generics),
                _ => None,
            };
            self.found |= generics.is_some_and(|generics| generics.lifetimes().next().is_some());
            visit::visit_type_path(self, path);
        }
    }
    let mut hides = Hides {
        resolver,
        function,
        found: false,
    };
    hides.visit_type(ty);
    hides.found
}
