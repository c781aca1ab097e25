//! Functions of the program that say whether a state is plausible: `detects` in `[calls]` names them, and the type that each is
//! given by reference gets it as its detector.

use crate::facts::Facts;
use crate::items::resolve::{Namespace, Resolved, Resolver, segments};
use crate::items::{Def, FnKind, Function, Items, ScopeId, TypeId};
use crate::source::locate::{self, Found};
use crate::source::{Position, Program};
use ckpt_compiler::library::Meaning;
use std::collections::BTreeMap;
use syn::{FnArg, ReturnType, Type};

/// A detector and the type that it looks at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Detector {
    /// The function, as the user has named it.
    pub name: String,
    /// The type, for people.
    pub of: String,
    /// The first byte of the type's item.
    pub place: Position,
    /// Whether the user has derived `Checkpoint` for the type.
    pub is_saved: bool,
    /// The path of the function from where the type is.
    path: String,
}

/// What is wrong with a name in `detects`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoDetector {
    /// No function of the program has that name.
    Unknown {
        /// The name.
        name: String,
    },
    /// Several have.
    Ambiguous {
        /// The name.
        name: String,
        /// Two of them.
        functions: [String; 2],
    },
    /// It is none that says of a value of a type of the program's whether it is plausible.
    Signature {
        /// The function.
        function: String,
        /// Where it stands.
        place: Position,
        /// What is in the way.
        why: InTheWay,
    },
    /// Two are named for one type.
    Second {
        /// The type.
        of: String,
        /// The functions.
        functions: [String; 2],
    },
}

/// What is in the way of a function that is to be a detector.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InTheWay {
    /// It is not `fn(&T) -> bool`.
    Form,
    /// `T` is no struct or enum of the program, or one with type parameters.
    Type,
    /// It cannot be named where `T` is declared.
    Private,
}

/// The detectors that the user's tables name.
///
/// # Errors
/// The first name that stands for none.
pub fn detectors(facts: &Facts, program: &Program) -> Result<Vec<Detector>, NoDetector> {
    let said = facts.library.added().said().iter();
    let names = said.filter(|(meaning, _)| *meaning == Meaning::Detects);
    let mut all: Vec<Detector> = Vec::new();
    for (_, name) in names {
        let one = detector(facts, program, name)?;
        if let Some(other) = all.iter().find(|other| other.place == one.place) {
            return Err(NoDetector::Second {
                of: one.of,
                functions: [other.name.clone(), one.name],
            });
        }
        all.push(one);
    }
    Ok(all)
}

/// The attributes of their types: by the first byte of each item.
pub fn attributes(detectors: &[Detector]) -> BTreeMap<Position, String> {
    let attributes = detectors.iter().map(|one| {
        let attribute = format!("#[ckpt(detector = \"{}\")]", one.path);
        (one.place, attribute)
    });
    attributes.collect()
}

fn detector(facts: &Facts, program: &Program, name: &str) -> Result<Detector, NoDetector> {
    let items = &facts.items;
    let is_it = |one: &&Function| one.display == name || one.display.ends_with(&format!("::{name}"));
    let mut found = items.functions.iter().filter(is_it);
    let Some(function) = found.next() else {
        return Err(NoDetector::Unknown {
            name: name.to_owned(),
        });
    };
    if let Some(other) = found.next() {
        return Err(NoDetector::Ambiguous {
            name: name.to_owned(),
            functions: [function.display.clone(), other.display.clone()],
        });
    }
    let no = |why| NoDetector::Signature {
        function: function.display.clone(),
        place: (function.place.file, function.place.bytes.start),
        why,
    };
    if !has_form(function) {
        return Err(no(InTheWay::Form));
    }
    let resolver = Resolver::new(items, &facts.library);
    let id = looked_at(items, &resolver, function).ok_or_else(|| no(InTheWay::Type))?;
    let of = &items.types[id.0];
    if of.generics.type_params().next().is_some() || of.generics.lifetimes().next().is_some() {
        return Err(no(InTheWay::Type));
    }
    let path = path(items, &resolver, function, id).ok_or_else(|| no(InTheWay::Private))?;
    let (file, at) = (of.place.file, of.place.bytes.start);
    let Some(Found::Type { item, .. }) = locate::locate(program, file, at) else {
        return Err(no(InTheWay::Type));
    };
    Ok(Detector {
        name: name.to_owned(),
        of: of.display.clone(),
        place: (file, item),
        is_saved: of.derives.iter().any(|one| one.ends_with("Checkpoint")),
        path,
    })
}

/// Whether it takes one shared reference and says yes or no.
fn has_form(function: &Function) -> bool {
    let signature = &function.item.sig;
    let is_plain = signature.generics.type_params().next().is_none()
        && signature.asyncness.is_none()
        && signature.unsafety.is_none()
        && signature.inputs.len() == 1;
    let says = matches!(&signature.output, ReturnType::Type(_, ty)
        if matches!(&**ty, Type::Path(path) if path.path.is_ident("bool")));
    let is_given = match signature.inputs.first() {
        Some(FnArg::Receiver(one)) => one.reference.is_some() && one.mutability.is_none(),
        Some(FnArg::Typed(one)) => matches!(&*one.ty, Type::Reference(one) if one.mutability.is_none()),
        None => false,
    };
    let is_named = matches!(function.kind, FnKind::Free | FnKind::Inherent);
    is_plain && says && is_given && is_named
}

/// The type of the program that it is given a reference to.
fn looked_at(items: &Items, resolver: &Resolver<'_>, function: &Function) -> Option<TypeId> {
    let own = || {
        let of = function.of_impl.and_then(|index| items.impls.get(index))?;
        match &of.self_type {
            Type::Path(path) => resolve(resolver, of.scope, &path.path),
            _ => None,
        }
    };
    match function.item.sig.inputs.first()? {
        FnArg::Receiver(_) => own(),
        FnArg::Typed(one) => match &*one.ty {
            Type::Reference(one) => match &*one.elem {
                Type::Path(path) if path.path.is_ident("Self") => own(),
                Type::Path(path) => resolve(resolver, function.scope, &path.path),
                _ => None,
            },
            _ => None,
        },
    }
}

fn resolve(resolver: &Resolver<'_>, scope: ScopeId, path: &syn::Path) -> Option<TypeId> {
    match resolver.path(scope, &segments(path), Namespace::Types) {
        Resolved::Item(Def::Type(id)) => Some(id),
        _ => None,
    }
}

/// The path of the function from where the type is declared; none where it cannot be named there.
fn path(items: &Items, resolver: &Resolver<'_>, function: &Function, of: TypeId) -> Option<String> {
    let there = items.types[of.0].scope;
    let name = &function.written.sig.ident;
    if items.scope(there).krate != function.krate {
        return None;
    }
    if function.kind == FnKind::Inherent {
        let of_impl = function.of_impl.and_then(|index| items.impls.get(index))?;
        let is_own = matches!(&of_impl.self_type, Type::Path(path)
            if resolve(resolver, of_impl.scope, &path.path) == Some(of));
        // A private method is its module's.
        let is_seen = resolver.can_be_named_in(function.scope, &function.written.vis, there);
        return (is_own && is_seen).then(|| format!("Self::{name}"));
    }
    let mut at = function.scope;
    let mut vis = Some(&function.written.vis);
    loop {
        let scope = items.scope(at);
        if scope.is_block {
            return None;
        }
        if !vis.is_none_or(|vis| resolver.can_be_named_in(at, vis, there)) {
            return None;
        }
        let Some(parent) = scope.parent else { break };
        vis = scope.declared.as_ref().map(|(vis, _)| vis);
        at = parent;
    }
    let modules = &items.scope(function.scope).path;
    let modules: String = modules.iter().map(|name| format!("{name}::")).collect();
    Some(format!("crate::{modules}{name}"))
}
