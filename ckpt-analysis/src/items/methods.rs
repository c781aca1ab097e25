//! Which functions a method call may mean, and what the signatures say.

use crate::items::hints::{TraitKey, Ty, TypeKey, TypeScope};
use crate::items::resolve::{Namespace, Resolved, Resolver, segments};
use crate::items::{Def, FnId, Items, ScopeId, TraitId, TypeId};
use ckpt_compiler::library::last_name;
use std::collections::{HashMap, HashSet};

/// Dereferences that are followed.
const DEEPEST: usize = 8;

/// What a function's signature says.
#[derive(Debug, Clone, Default)]
pub struct Signature {
    /// What `Self` is.
    pub own: Option<Ty>,
    /// The type parameters.
    pub generics: HashMap<String, Ty>,
    /// The parameters' types, `self` among them.
    pub inputs: Vec<Ty>,
    /// What it returns.
    pub output: Ty,
}

/// The functions by what they can be called through.
#[derive(Debug, Default)]
pub struct Methods {
    /// One for each function.
    pub signatures: Vec<Signature>,
    of_type: HashMap<TypeKey, HashMap<String, Vec<FnId>>>,
    of_trait: HashMap<TraitKey, HashMap<String, Vec<FnId>>>,
    traits_of: HashMap<TypeKey, Vec<TraitKey>>,
    blanket: HashMap<String, Vec<FnId>>,
    by_name: HashMap<String, Vec<FnId>>,
    targets: HashMap<TypeId, Ty>,
    associated: HashMap<(TypeKey, String), Ty>,
}

/// What a method call may mean.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Meaning {
    /// The functions.
    pub functions: Vec<FnId>,
    /// Whether the receiver's type was known.
    pub certain: bool,
}

impl Methods {
    /// Builds the tables.
    pub fn new(items: &Items, resolver: &Resolver<'_>) -> Self {
        let mut methods = Self::default();
        let owners = methods.impls(items, resolver);
        methods.defaults(items);
        for function in &items.functions {
            let (own, generics) = match (function.of_impl, function.of_trait) {
                (Some(index), _) => owners.get(index).cloned().unwrap_or_default(),
                (None, Some(of)) => (Some(Ty::Bounded(vec![TraitKey::Own(of)])), HashMap::new()),
                _ => (None, HashMap::new()),
            };
            let signature = signature(&function.item.sig, function.body_scope, resolver, own, generics);
            if function.has_receiver() {
                let list = methods.by_name.entry(function.name.clone()).or_default();
                list.push(function.id);
            }
            methods.signatures.push(signature);
        }
        methods
    }

    /// Enters the `impl`s; returns what `Self` and the type parameters are in each.
    fn impls(&mut self, items: &Items, resolver: &Resolver<'_>) -> Vec<(Option<Ty>, HashMap<String, Ty>)> {
        let mut owners = Vec::new();
        for one in &items.impls {
            let mut generics = HashMap::new();
            let none = HashMap::new();
            let bare = TypeScope {
                resolver,
                scope: one.scope,
                parameters: &none,
                own: None,
            };
            bare.generics(&one.generics, &mut generics);
            let names = TypeScope {
                parameters: &generics,
                ..bare
            };
            let own = names.ty(&one.self_type);
            let of_trait = one.of_trait.as_ref().map(|path| names.trait_key(path));
            self.enter(items, one, &own, of_trait);
            if let (Ty::Named(TypeKey::Own(id), _), Some(target)) = (&own, one.types.get("Target")) {
                self.targets.insert(*id, names.ty(target));
            }
            if let Ty::Named(key, _) = &own {
                for (name, ty) in &one.types {
                    self.associated.insert((key.clone(), name.clone()), names.ty(ty));
                }
            }
            owners.push((Some(own), generics));
        }
        owners
    }

    fn enter(&mut self, items: &Items, one: &crate::items::ImplItem, own: &Ty, of_trait: Option<TraitKey>) {
        let key = match own {
            Ty::Named(key, _) => Some(key.clone()),
            Ty::Array(..) => Some(TypeKey::Other("[]".into())),
            Ty::Tuple(_) => Some(TypeKey::Other("()".into())),
            _ => None,
        };
        if let (Some(key), Some(of_trait)) = (&key, &of_trait) {
            self.traits_of
                .entry(key.clone())
                .or_default()
                .push(of_trait.clone());
        }
        for id in &one.functions {
            let name = &items.function(*id).name;
            let table = match &key {
                Some(key) => self.of_type.entry(key.clone()).or_default(),
                None => &mut self.blanket,
            };
            table.entry(name.clone()).or_default().push(*id);
            if let Some(of_trait) = &of_trait {
                let table = self.of_trait.entry(of_trait.clone()).or_default();
                table.entry(name.clone()).or_default().push(*id);
            }
        }
    }

    fn defaults(&mut self, items: &Items) {
        for one in &items.traits {
            for id in &one.defaults {
                let table = self.of_trait.entry(TraitKey::Own(one.id)).or_default();
                let name = items.function(*id).name.clone();
                table.entry(name).or_default().push(*id);
            }
        }
    }

    /// What `Type::name` is, whether it takes `self` or not.
    pub fn of_type(&self, items: &Items, key: &TypeKey, name: &str) -> Vec<FnId> {
        let own = self.of_type.get(key).and_then(|table| table.get(name));
        if let Some(own) = own {
            return own.clone();
        }
        for of_trait in self.traits_of.get(key).into_iter().flatten() {
            let TraitKey::Own(id) = of_trait else { continue };
            let found = default_of(items, *id, name);
            if !found.is_empty() {
                return found;
            }
        }
        self.blanket.get(name).cloned().unwrap_or_default()
    }

    /// All that implements a trait's function, and its default.
    pub fn of_trait(&self, items: &Items, key: &TraitKey, name: &str) -> Vec<FnId> {
        self.of_trait_deep(items, key, name, 0)
    }

    fn of_trait_deep(&self, items: &Items, key: &TraitKey, name: &str, depth: usize) -> Vec<FnId> {
        let own = self.of_trait.get(key).and_then(|table| table.get(name));
        if let Some(own) = own {
            return own.clone();
        }
        let TraitKey::Own(id) = key else {
            return Vec::new();
        };
        let Some(one) = items.traits.get(id.0) else {
            return Vec::new();
        };
        if depth > 8 {
            return Vec::new();
        }
        for path in &one.supertraits {
            let last = last_name(path);
            let above = items
                .traits
                .iter()
                .find(|other| other.name == last && other.id != one.id);
            if let Some(above) = above {
                let found = self.of_trait_deep(items, &TraitKey::Own(above.id), name, depth + 1);
                if !found.is_empty() {
                    return found;
                }
            }
        }
        Vec::new()
    }

    /// What the type dereferences to, where the program says so.
    pub fn target(&self, of: TypeId) -> Option<&Ty> {
        self.targets.get(&of)
    }

    /// An associated type: `Item` of an iterator.
    pub fn associated(&self, of: &TypeKey, name: &str) -> Option<&Ty> {
        self.associated.get(&(of.clone(), name.to_owned()))
    }

    /// All methods of a name that take `self`.
    pub fn named(&self, name: &str) -> Vec<FnId> {
        self.by_name.get(name).cloned().unwrap_or_default()
    }

    /// What a method call may mean.
    pub fn method(&self, resolver: &Resolver<'_>, receiver: &Ty, name: &str, arguments: usize) -> Meaning {
        self.method_below(resolver, receiver, name, arguments, 0)
    }

    fn method_below(
        &self,
        resolver: &Resolver<'_>,
        receiver: &Ty,
        name: &str,
        arguments: usize,
        depth: usize,
    ) -> Meaning {
        let items = resolver.items;
        let fits = |id: &FnId| {
            let sig = &items.function(*id).item.sig;
            sig.receiver().is_some() && sig.inputs.len() == arguments + 1
        };
        let certain = |list: Vec<FnId>| Meaning {
            functions: list.into_iter().filter(fits).collect(),
            certain: true,
        };
        match receiver {
            Ty::Named(key, _) => {
                let found = certain(self.of_type(items, key, name));
                match key {
                    TypeKey::Own(id) if found.functions.is_empty() => match self.targets.get(id) {
                        Some(target) if depth < DEEPEST => {
                            self.method_below(resolver, target, name, arguments, depth + 1)
                        }
                        _ => found,
                    },
                    _ => found,
                }
            }
            Ty::Array(..) => certain(self.of_type(items, &TypeKey::Other("[]".into()), name)),
            Ty::Tuple(_) => certain(self.of_type(items, &TypeKey::Other("()".into()), name)),
            Ty::Bounded(keys) => {
                let mut seen = HashSet::new();
                let found = keys.iter().flat_map(|key| self.of_trait(items, key, name));
                certain(found.filter(|id| seen.insert(*id)).collect())
            }
            Ty::Callable(_) => Meaning {
                functions: Vec::new(),
                certain: true,
            },
            Ty::Unknown => self.by_name(resolver, name, arguments),
        }
    }

    /// With nothing known about the receiver: every method of that name that takes as many arguments.
    fn by_name(&self, resolver: &Resolver<'_>, name: &str, arguments: usize) -> Meaning {
        let fits = |id: &&FnId| {
            resolver.items.function(**id).item.sig.inputs.len() == arguments + 1
                && !resolver.library.is_common(name, arguments)
        };
        let list = self.by_name.get(name).into_iter().flatten();
        Meaning {
            functions: list.filter(fits).copied().collect(),
            certain: false,
        }
    }
}

fn default_of(items: &Items, id: TraitId, name: &str) -> Vec<FnId> {
    let Some(one) = items.traits.get(id.0) else {
        return Vec::new();
    };
    one.defaults
        .iter()
        .filter(|id| items.function(**id).name == name)
        .copied()
        .collect()
}

fn signature(
    sig: &syn::Signature,
    scope: ScopeId,
    resolver: &Resolver<'_>,
    own: Option<Ty>,
    mut generics: HashMap<String, Ty>,
) -> Signature {
    let none = HashMap::new();
    let bare = TypeScope {
        resolver,
        scope,
        parameters: &none,
        own: own.as_ref(),
    };
    bare.generics(&sig.generics, &mut generics);
    let names = TypeScope {
        parameters: &generics,
        ..bare
    };
    let inputs = sig
        .inputs
        .iter()
        .map(|input| match input {
            syn::FnArg::Receiver(_) => own.clone().unwrap_or_default(),
            syn::FnArg::Typed(typed) => names.ty(&typed.ty),
        })
        .collect();
    let output = match &sig.output {
        syn::ReturnType::Default => Ty::Tuple(Vec::new()),
        syn::ReturnType::Type(_, ty) => names.ty(ty),
    };
    Signature {
        inputs,
        output,
        own,
        generics,
    }
}

/// The functions that a path stands for, and the type that it is a function of.
pub fn functions_of_path(
    resolver: &Resolver<'_>,
    methods: &Methods,
    scope: ScopeId,
    signature: &Signature,
    path: &syn::ExprPath,
) -> Option<Vec<FnId>> {
    let items = resolver.items;
    let names = TypeScope {
        resolver,
        scope,
        parameters: &signature.generics,
        own: signature.own.as_ref(),
    };
    let list = segments(&path.path);
    let last = list.last()?;
    if let Some(of) = &path.qself {
        let found = of_type_or_traits(items, methods, &names.ty(&of.ty), last);
        if found.is_empty() && of.position > 0 {
            let mut of_trait = path.path.clone();
            of_trait.segments = of_trait.segments.into_iter().take(of.position).collect();
            of_trait.segments.pop_punct();
            return Some(methods.of_trait(items, &names.trait_key(&of_trait), last));
        }
        return Some(found);
    }
    if let [owner, name] = &list[..]
        && (owner == "Self" || signature.generics.contains_key(owner))
    {
        let ty = match owner.as_str() {
            "Self" => signature.own.clone().unwrap_or_default(),
            other => signature.generics[other].clone(),
        };
        return Some(of_type_or_traits(items, methods, &ty, name));
    }
    match resolver.path(scope, &list, Namespace::Values) {
        Resolved::Item(Def::Function(id)) => Some(vec![id]),
        Resolved::Item(_) => None,
        Resolved::Member(of, name) => Some(match of {
            Def::Type(id) => methods.of_type(items, &TypeKey::Own(id), &name),
            Def::Trait(id) => methods.of_trait(items, &TraitKey::Own(id), &name),
            Def::Alias(_) => {
                let mut ty = path.path.clone();
                ty.segments.pop();
                ty.segments.pop_punct();
                let ty = syn::Type::Path(syn::TypePath {
                    qself: None,
                    path: ty,
                });
                of_type_or_traits(items, methods, &names.ty(&ty), &name)
            }
            _ => Vec::new(),
        }),
        Resolved::Outside if list.len() >= 2 => {
            let key = TypeKey::Other(list[list.len() - 2].clone());
            let found = methods
                .of_type
                .get(&key)
                .and_then(|table| table.get(last))
                .cloned();
            Some(found.unwrap_or_default())
        }
        Resolved::Outside => Some(Vec::new()),
    }
}

fn of_type_or_traits(items: &Items, methods: &Methods, ty: &Ty, name: &str) -> Vec<FnId> {
    match ty {
        Ty::Named(key, _) => methods.of_type(items, key, name),
        Ty::Bounded(keys) => keys
            .iter()
            .flat_map(|key| methods.of_trait(items, key, name))
            .collect(),
        _ => Vec::new(),
    }
}
