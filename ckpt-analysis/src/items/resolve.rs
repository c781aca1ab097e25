//! What a path stands for: modules, imports, re-exports, the other crates of the program.

use crate::items::{ConstId, Def, Items, ScopeId, TypeId};
use ckpt_compiler::library::Library;
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

/// Names of types and modules, and names of values, are apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Namespace {
    /// Modules, types, traits.
    Types,
    /// Functions, constants, variants.
    Values,
}

/// What a path of several segments stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Resolved {
    /// An item.
    Item(Def),
    /// `Type::name` or `Trait::name`, an associated item.
    Member(Def, String),
    /// Nothing in this program.
    Outside,
}

type Key = (ScopeId, String, Namespace);

/// Looks names up; remembers what it has found.
#[derive(Debug)]
pub struct Resolver<'a> {
    /// What there is.
    pub items: &'a Items,
    /// What the types of other crates are.
    pub library: &'a Library,
    associated: HashMap<(&'a str, &'a str), ConstId>,
    known: RefCell<HashMap<Key, Option<Def>>>,
    under_way: RefCell<HashSet<Key>>,
    /// What has not been found on behalf of what is under way, and how many names were known then.
    tried: RefCell<HashMap<Key, usize>>,
}

impl<'a> Resolver<'a> {
    /// A resolver that knows nothing yet.
    pub fn new(items: &'a Items, library: &'a Library) -> Self {
        let associated = |one: &'a crate::items::ConstItem| {
            let owner = one.owner.as_deref()?;
            Some(((owner, one.name.as_str()), one.id))
        };
        Self {
            items,
            library,
            associated: items.consts.iter().filter_map(associated).collect(),
            known: RefCell::default(),
            under_way: RefCell::default(),
            tried: RefCell::default(),
        }
    }

    /// What a path stands for in a scope. `Self` is for the caller to replace.
    pub fn path(&self, scope: ScopeId, path: &[String], wanted: Namespace) -> Resolved {
        let Some((first, rest)) = path.split_first() else {
            return Resolved::Outside;
        };
        if let (true, Some((name, rest))) = (first == "::", rest.split_first()) {
            let root = self.krate(self.items.scope(scope).krate, name);
            return root.map_or(Resolved::Outside, |root| self.below(root, rest, wanted));
        }
        let namespace = if rest.is_empty() { wanted } else { Namespace::Types };
        match self.first(scope, first, namespace) {
            Some(at) => self.below(at, rest, wanted),
            None => Resolved::Outside,
        }
    }

    fn below(&self, mut at: Def, rest: &[String], wanted: Namespace) -> Resolved {
        for (index, name) in rest.iter().enumerate() {
            let last = index + 1 == rest.len();
            let namespace = if last { wanted } else { Namespace::Types };
            let next = match at {
                Def::Module(module) => self.in_module(module, name, namespace),
                Def::Type(of) if last && self.is_variant(of, name) => Some(Def::Variant(of)),
                Def::Type(_) | Def::Trait(_) | Def::Alias(_) if last => {
                    return Resolved::Member(at, name.clone());
                }
                _ => None,
            };
            match next {
                Some(found) => at = found,
                None => return Resolved::Outside,
            }
        }
        Resolved::Item(at)
    }

    /// The constant `owner::name` of a type or trait.
    pub fn associated(&self, owner: &str, name: &str) -> Option<ConstId> {
        self.associated.get(&(owner, name)).copied()
    }

    fn is_variant(&self, of: TypeId, name: &str) -> bool {
        self.items.types[of.0].variants.iter().any(|one| one == name)
    }

    fn first(&self, scope: ScopeId, name: &str, namespace: Namespace) -> Option<Def> {
        let items = self.items;
        let module = items.module_of(scope);
        match name {
            "crate" | "$crate" => {
                return items
                    .roots
                    .get(items.scope(scope).krate)
                    .copied()
                    .map(Def::Module);
            }
            "self" => return Some(Def::Module(module)),
            "super" => {
                return items
                    .scope(module)
                    .parent
                    .map(|up| Def::Module(items.module_of(up)));
            }
            "::" => return None,
            _ => {}
        }
        let mut at = scope;
        loop {
            if let Some(found) = self.in_module(at, name, namespace) {
                return Some(found);
            }
            match items.scope(at).parent {
                Some(parent) if items.scope(at).is_block => at = parent,
                _ => break,
            }
        }
        if namespace == Namespace::Values {
            return None;
        }
        self.krate(items.scope(scope).krate, name)
            .or_else(|| match items.scope(module).parent {
                // Paths of the edition 2015 begin at the root.
                Some(_) => {
                    let root = *items.roots.get(items.scope(scope).krate)?;
                    self.in_module(root, name, namespace)
                }
                None => None,
            })
    }

    fn krate(&self, from: usize, name: &str) -> Option<Def> {
        let index = *self.items.externs.get(from)?.get(name)?;
        self.items.roots.get(index).copied().map(Def::Module)
    }

    /// What a module declares or imports under a name.
    pub fn in_module(&self, module: ScopeId, name: &str, namespace: Namespace) -> Option<Def> {
        let key = (module, name.to_owned(), namespace);
        if let Some(known) = self.known.borrow().get(&key) {
            return *known;
        }
        // Modules that import all of one another: each is looked through once, until more is known.
        let nothing_new = self.tried.borrow().get(&key) == Some(&self.known.borrow().len());
        if nothing_new || !self.under_way.borrow_mut().insert(key.clone()) {
            return None;
        }
        let found = self.search(module, name, namespace);
        self.under_way.borrow_mut().remove(&key);
        // A name that was asked for while an import that leads to it was being followed may not have been found.
        if self.under_way.borrow().is_empty() {
            self.tried.borrow_mut().clear();
            self.known.borrow_mut().insert(key, found);
        } else if found.is_some() {
            self.known.borrow_mut().insert(key, found);
        } else {
            let known = self.known.borrow().len();
            self.tried.borrow_mut().insert(key, known);
        }
        found
    }

    fn search(&self, module: ScopeId, name: &str, namespace: Namespace) -> Option<Def> {
        let scope = self.items.scope(module);
        let declared = scope
            .names
            .get(name)
            .and_then(|defs| defs.iter().find(|def| is_in(**def, namespace)));
        if let Some(found) = declared {
            return Some(*found);
        }
        for path in scope.uses.get(name).into_iter().flatten() {
            if let Some(found) = self.import(module, path, namespace) {
                return Some(found);
            }
        }
        for path in &scope.globs {
            let found = match self.import(module, path, Namespace::Types) {
                Some(Def::Module(from)) if from != module => self.in_module(from, name, namespace),
                Some(Def::Type(of)) if self.is_variant(of, name) => Some(Def::Variant(of)),
                _ => None,
            };
            if found.is_some() {
                return found;
            }
        }
        None
    }

    fn import(&self, module: ScopeId, path: &[String], namespace: Namespace) -> Option<Def> {
        match self.path(module, path, namespace) {
            Resolved::Item(found) => Some(found),
            _ => None,
        }
    }

    /// Whether what is declared so in a module can be named in a scope.
    pub fn can_be_named_in(&self, module: ScopeId, vis: &syn::Visibility, scope: ScopeId) -> bool {
        let visible_in = match vis {
            syn::Visibility::Public(_) => return true,
            syn::Visibility::Inherited => module,
            syn::Visibility::Restricted(one) => {
                match self.path(module, &segments(&one.path), Namespace::Types) {
                    Resolved::Item(Def::Module(found)) => found,
                    _ => return false,
                }
            }
        };
        let mut around = std::iter::successors(Some(scope), |at| self.items.scope(*at).parent);
        around.any(|at| at == visible_in)
    }
}

fn is_in(def: Def, namespace: Namespace) -> bool {
    let is_type = matches!(def, Def::Module(_) | Def::Type(_) | Def::Alias(_) | Def::Trait(_));
    is_type == (namespace == Namespace::Types)
}

/// The names of a path's segments.
pub fn segments(path: &syn::Path) -> Vec<String> {
    let mut names = Vec::with_capacity(path.segments.len());
    if path.leading_colon.is_some() {
        names.push("::".to_owned());
    }
    names.extend(ckpt_compiler::library::segments(path));
    names
}
