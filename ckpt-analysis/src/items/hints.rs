//! Types as far as they tell which method a call means: references and smart pointers taken off.

use crate::items::amount::Amount;
use crate::items::resolve::{Namespace, Resolved, Resolver, segments};
use crate::items::{Def, Items, ScopeId, TraitId, TypeId, bound_path};
use ckpt_compiler::library::{Library, Types, last_name};
use std::collections::HashMap;

/// What a method can be looked up by.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TypeKey {
    /// A type of this program.
    Own(TypeId),
    /// Another one, by its last segment: `Vec`, `f64`, `[]`.
    Other(String),
}

/// A trait, of this program or another.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum TraitKey {
    /// Of this program.
    Own(TraitId),
    /// Another one, by its last segment.
    Other(String),
}

/// A type.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Ty {
    /// Not known.
    #[default]
    Unknown,
    /// A type with its arguments.
    Named(TypeKey, Vec<Ty>),
    /// An array and its length.
    Array(Box<Ty>, Amount),
    /// A tuple.
    Tuple(Vec<Ty>),
    /// A type parameter, `impl Trait` or `dyn Trait`.
    Bounded(Vec<TraitKey>),
    /// Something that can be called, with what it returns.
    Callable(Box<Ty>),
}

/// The name of what can be gone over.
const ITERATOR: &str = "Iterator";

impl Ty {
    /// A type of another crate.
    pub fn other(name: &str, arguments: Vec<Ty>) -> Ty {
        Ty::Named(TypeKey::Other(name.to_owned()), arguments)
    }

    /// Something to go over.
    pub fn iterator(element: Ty) -> Ty {
        Self::other(ITERATOR, vec![element])
    }

    /// Whether it is something to go over.
    pub fn is_iterator(&self) -> bool {
        self.outside_name() == Some(ITERATOR)
    }

    /// A list that may grow.
    pub fn list(element: Ty) -> Ty {
        Self::other("Vec", vec![element])
    }

    /// The name, for a type of another crate.
    pub fn outside_name(&self) -> Option<&str> {
        match self {
            Ty::Named(TypeKey::Other(name), _) => Some(name),
            Ty::Array(..) => Some("[]"),
            _ => None,
        }
    }

    /// What an iteration over it gives, or an index into it.
    pub fn element(&self, library: &Library) -> Ty {
        match self {
            Ty::Array(inner, _) => (**inner).clone(),
            Ty::Named(TypeKey::Other(_), arguments) => match &arguments[..] {
                [key, value] if self.is(library, Types::Maps) => Ty::Tuple(vec![key.clone(), value.clone()]),
                [only, ..] => only.clone(),
                [] => Ty::Unknown,
            },
            _ => Ty::Unknown,
        }
    }

    /// What it holds: the values of a map, the elements of another collection.
    pub fn held(&self, library: &Library) -> Ty {
        match self.is(library, Types::Maps) {
            true => self.argument(1),
            false => self.element(library),
        }
    }

    /// Its argument of this number.
    pub fn argument(&self, index: usize) -> Ty {
        match self {
            Ty::Named(_, arguments) => arguments.get(index).cloned().unwrap_or_default(),
            _ => Ty::Unknown,
        }
    }

    /// Whether it is a type of another crate that the tables say this of.
    pub fn is(&self, library: &Library, what: Types) -> bool {
        self.outside_name().is_some_and(|name| library.says(name, what))
    }
}

/// What a type's text means in its place.
pub struct TypeScope<'a> {
    /// Looks up the paths.
    pub resolver: &'a Resolver<'a>,
    /// Where it stands.
    pub scope: ScopeId,
    /// The type parameters in force.
    pub parameters: &'a HashMap<String, Ty>,
    /// What `Self` is.
    pub own: Option<&'a Ty>,
}

/// Types nested deeper than this are not looked at.
const DEEPEST: usize = 16;

impl TypeScope<'_> {
    /// The type that is written.
    pub fn ty(&self, ty: &syn::Type) -> Ty {
        self.deep(ty, 0)
    }

    fn deep(&self, ty: &syn::Type, depth: usize) -> Ty {
        if depth > DEEPEST {
            return Ty::Unknown;
        }
        match ty {
            syn::Type::Reference(one) => self.deep(&one.elem, depth + 1),
            syn::Type::Ptr(one) => self.deep(&one.elem, depth + 1),
            syn::Type::Paren(one) => self.deep(&one.elem, depth + 1),
            syn::Type::Group(one) => self.deep(&one.elem, depth + 1),
            syn::Type::Slice(one) => Ty::other("[]", vec![self.deep(&one.elem, depth + 1)]),
            syn::Type::Array(one) => {
                let length = crate::items::fold::constant(self.resolver, self.scope, None, &one.len);
                Ty::Array(Box::new(self.deep(&one.elem, depth + 1)), length)
            }
            syn::Type::Tuple(one) => {
                Ty::Tuple(one.elems.iter().map(|part| self.deep(part, depth + 1)).collect())
            }
            syn::Type::TraitObject(one) => self.bounds(&one.bounds, depth),
            syn::Type::ImplTrait(one) => self.bounds(&one.bounds, depth),
            syn::Type::BareFn(one) => Ty::Callable(Box::new(self.output(&one.output, depth))),
            syn::Type::Path(path) if path.qself.is_none() => self.path(&path.path, depth),
            _ => Ty::Unknown,
        }
    }

    fn output(&self, output: &syn::ReturnType, depth: usize) -> Ty {
        match output {
            syn::ReturnType::Type(_, ty) => self.deep(ty, depth + 1),
            syn::ReturnType::Default => Ty::Tuple(Vec::new()),
        }
    }

    /// `dyn A + B`, `impl A`.
    fn bounds<'b>(&self, bounds: impl IntoIterator<Item = &'b syn::TypeParamBound>, depth: usize) -> Ty {
        let mut keys = Vec::new();
        for path in bounds.into_iter().filter_map(bound_path) {
            let Some(last) = path.segments.last() else {
                continue;
            };
            if let syn::PathArguments::Parenthesized(call) = &last.arguments {
                return Ty::Callable(Box::new(self.output(&call.output, depth)));
            }
            if last.ident == ITERATOR || last.ident == "IntoIterator" {
                return Ty::iterator(self.item_of(&last.arguments, depth));
            }
            keys.push(self.trait_key(&path));
        }
        if keys.is_empty() {
            Ty::Unknown
        } else {
            Ty::Bounded(keys)
        }
    }

    /// `Item = T` among the arguments.
    fn item_of(&self, arguments: &syn::PathArguments, depth: usize) -> Ty {
        let syn::PathArguments::AngleBracketed(list) = arguments else {
            return Ty::Unknown;
        };
        list.args
            .iter()
            .find_map(|argument| match argument {
                syn::GenericArgument::AssocType(one) if one.ident == "Item" => {
                    Some(self.deep(&one.ty, depth + 1))
                }
                _ => None,
            })
            .unwrap_or_default()
    }

    /// The trait that a path stands for.
    pub fn trait_key(&self, path: &syn::Path) -> TraitKey {
        match self.resolver.path(self.scope, &segments(path), Namespace::Types) {
            Resolved::Item(Def::Trait(id)) => TraitKey::Own(id),
            _ => TraitKey::Other(last_name(path)),
        }
    }

    fn path(&self, path: &syn::Path, depth: usize) -> Ty {
        let Some(last) = path.segments.last() else {
            return Ty::Unknown;
        };
        let name = last.ident.to_string();
        if path.segments.len() == 1 {
            if name == "Self" {
                return self.own.cloned().unwrap_or_default();
            }
            if let Some(bound) = self.parameters.get(&name) {
                return bound.clone();
            }
        } else if path.segments.len() == 2
            && (path.segments[0].ident == "Self"
                || self.parameters.contains_key(&path.segments[0].ident.to_string()))
        {
            return Ty::Unknown;
        }
        let arguments = self.arguments(&last.arguments, depth);
        match self.resolver.path(self.scope, &segments(path), Namespace::Types) {
            Resolved::Item(Def::Type(id)) => Ty::Named(TypeKey::Own(id), arguments),
            Resolved::Item(Def::Alias(id)) => self.alias(id, arguments, depth),
            Resolved::Item(Def::Trait(id)) => Ty::Bounded(vec![TraitKey::Own(id)]),
            _ if self.stands_for_another(&name) => arguments.into_iter().next_back().unwrap_or_default(),
            _ => Ty::Named(TypeKey::Other(name), arguments),
        }
    }

    /// A pointer or a guard.
    fn stands_for_another(&self, name: &str) -> bool {
        let library = self.resolver.library;
        library.says(name, Types::Owners) || library.says(name, Types::Guards)
    }

    fn arguments(&self, arguments: &syn::PathArguments, depth: usize) -> Vec<Ty> {
        match arguments {
            syn::PathArguments::AngleBracketed(list) => list
                .args
                .iter()
                .filter_map(|argument| match argument {
                    syn::GenericArgument::Type(ty) => Some(self.deep(ty, depth + 1)),
                    _ => None,
                })
                .collect(),
            _ => Vec::new(),
        }
    }

    fn alias(&self, id: crate::items::AliasId, arguments: Vec<Ty>, depth: usize) -> Ty {
        let alias = &self.resolver.items.aliases[id.0];
        let names = alias
            .generics
            .type_params()
            .map(|parameter| parameter.ident.to_string());
        let parameters = names.zip(arguments).collect();
        let inner = TypeScope {
            resolver: self.resolver,
            scope: alias.scope,
            parameters: &parameters,
            own: None,
        };
        inner.deep(&alias.ty, depth + 1)
    }

    /// What the type parameters are bound to.
    pub fn generics(&self, generics: &syn::Generics, into: &mut HashMap<String, Ty>) {
        for parameter in generics.type_params() {
            let bound = self.bounds(&parameter.bounds, 0);
            into.insert(parameter.ident.to_string(), bound);
        }
        for predicate in generics.where_clause.iter().flat_map(|list| &list.predicates) {
            let syn::WherePredicate::Type(one) = predicate else {
                continue;
            };
            let syn::Type::Path(path) = &one.bounded_ty else {
                continue;
            };
            if let Some(name) = path.path.get_ident() {
                let name = name.to_string();
                let more = self.bounds(&one.bounds, 0);
                match (into.get_mut(&name), more) {
                    (Some(Ty::Bounded(keys)), Ty::Bounded(more)) => keys.extend(more),
                    (Some(slot), more) if *slot == Ty::Unknown || matches!(slot, Ty::Bounded(_)) => {
                        *slot = more
                    }
                    _ => {}
                }
            }
        }
    }
}

/// The type of a field, with the type's parameters replaced by the arguments of the value.
pub fn field_type(resolver: &Resolver<'_>, items: &Items, of: TypeId, name: &str, arguments: &[Ty]) -> Ty {
    let Some(item) = items.types.get(of.0) else {
        return Ty::Unknown;
    };
    let Some(field) = item
        .fields
        .iter()
        .find(|field| field.variant.is_none() && field.name == name)
    else {
        return Ty::Unknown;
    };
    let parameters = type_parameters(resolver, items, of, arguments);
    let names = TypeScope {
        resolver,
        scope: item.scope,
        parameters: &parameters,
        own: None,
    };
    names.ty(&field.ty)
}

/// What the parameters of a type are in a value of it.
pub fn type_parameters(
    resolver: &Resolver<'_>,
    items: &Items,
    of: TypeId,
    arguments: &[Ty],
) -> HashMap<String, Ty> {
    let item = &items.types[of.0];
    let none = HashMap::new();
    let names = TypeScope {
        resolver,
        scope: item.scope,
        parameters: &none,
        own: None,
    };
    let mut parameters = HashMap::new();
    names.generics(&item.generics, &mut parameters);
    for (parameter, argument) in item.generics.type_params().zip(arguments) {
        if *argument != Ty::Unknown {
            parameters.insert(parameter.ident.to_string(), argument.clone());
        }
    }
    parameters
}
