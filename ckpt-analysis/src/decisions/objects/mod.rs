//! What it takes to save the objects of a trait, `Box<dyn Solver>`: an attribute on the trait that lists its types, and
//! `#[derive(ckpt::Checkpoint)]` on those. Types of the program's own crate that implement a trait of its library are listed where
//! `main` begins, as the library cannot name them. Nothing is guessed: what cannot be listed is a reason to refuse.

use crate::Analysis;
use crate::decisions::globals::{Lines, naming_edits};
use crate::decisions::saved_types::Types;
use crate::items::resolve::{Namespace, Resolved, Resolver, segments};
use crate::items::{Def, FnId, ImplItem, Items, ScopeId, TraitId, TraitItem, TypeId};
use crate::source::Position;
use crate::source::edits::Edit;
use crate::source::locate::{self, Found};
use crate::source::{FileId, Program};
use ckpt_compiler::library::Library;
use quote::ToTokens;
use std::collections::{BTreeMap, BTreeSet};
use syn::spanned::Spanned;

/// More sets of arguments than this are not listed for one generic `impl`.
const MOST_INSTANCES: usize = 16;

/// What the objects of a trait need.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct ObjectEdits {
    /// The attribute on the trait, and what makes the types in it known there.
    pub edits: Vec<Edit>,
    /// The types that get `#[derive(ckpt::Checkpoint)]`: the first byte of each item. Those that their fields hold too.
    pub derives: BTreeSet<Position>,
    /// What the program says when it begins of types that the crate of the trait cannot name, by the module around them.
    late: Vec<(ScopeId, String)>,
}

/// The function that lists the types of a module with the objects of other crates' traits.
const LISTING: &str = "ckpt_objects";

/// The edits by which a program that begins in `main` lists the types which the crates of these traits cannot name.
pub fn late_edits<'n>(
    program: &Program,
    analysis: &Analysis,
    main: FnId,
    names: impl Iterator<Item = &'n String>,
) -> Vec<Edit> {
    let (items, library) = (&analysis.items, &analysis.library);
    let types = Types::of(library, program);
    let mut of_modules: BTreeMap<(usize, Vec<String>), Vec<String>> = BTreeMap::new();
    for name in names {
        let found = object_edits(library, program, items, &types, name);
        for (scope, statement) in found.map(|found| found.late).unwrap_or_default() {
            let module = items.scope(items.module_of(scope));
            let of_module = of_modules.entry((module.krate, module.path.clone())).or_default();
            if !of_module.contains(&statement) {
                of_module.push(statement);
            }
        }
    }
    if of_modules.is_empty() {
        return Vec::new();
    }
    naming_edits(program, items, main, LISTING, &|krate, path, _| Lines {
        items: Vec::new(),
        statements: of_modules
            .get(&(krate, path.to_vec()))
            .cloned()
            .unwrap_or_default(),
    })
}

/// What makes the objects of the trait `name` something that can be saved. `name` is as rustc writes it: `Solver`,
/// `dyn solvers::Solver`, `(dyn Solver + Send + 'static)`.
///
/// # Errors
/// Why it cannot be done, for people.
pub fn object_edits(
    library: &Library,
    program: &Program,
    items: &Items,
    types: &Types,
    name: &str,
) -> Result<ObjectEdits, String> {
    let resolver = Resolver::new(items, library);
    let found = trait_named(items, name)?;
    let mut lister = Lister {
        program,
        items,
        resolver: &resolver,
        types,
        of: found,
        listed: Vec::new(),
        open: false,
        visible: BTreeMap::new(),
        bounds: BTreeMap::new(),
        derives: BTreeSet::new(),
        late: Vec::new(),
    };
    lister.refuse_trait()?;
    let mut seen = 0;
    for one in &items.impls {
        if lister.implements(one, found.id) {
            lister.implementor(one)?;
            seen += 1;
        }
    }
    lister.open |= lister.written() > seen;
    lister.finish()
}

/// Why the objects of a trait of the program cannot be listed; nothing where they can, or it is no such trait.
pub fn why_unlisted(
    library: &Library,
    program: &Program,
    items: &Items,
    types: &Types,
    name: &str,
) -> Option<String> {
    let of = trait_named(items, name).ok()?;
    if has_a_list(&of.declaration) {
        return None;
    }
    object_edits(library, program, items, types, name).err()
}

/// Whether the trait has a list of its types in the program's own source.
fn has_a_list(declaration: &syn::ItemTrait) -> bool {
    let is_list = |one: &syn::Attribute| {
        let path = one.path();
        path.segments.len() == 2 && path.segments[0].ident == "ckpt" && path.segments[1].ident == "object"
    };
    declaration.attrs.iter().any(is_list)
}

/// The name of the trait in the text of a trait object: `solvers::Solver` of `(dyn solvers::Solver + Send)`.
fn bare(name: &str) -> &str {
    let name = name.trim().trim_start_matches('(').trim_end_matches(')');
    let name = name.strip_prefix("dyn ").unwrap_or(name);
    name.split(" + ").next().unwrap_or(name).trim()
}

fn trait_named<'i>(items: &'i Items, name: &str) -> Result<&'i TraitItem, String> {
    let name = bare(name);
    if name.contains('<') {
        return Err(format!(
            "`dyn {name}` is an object of a trait with arguments, of which every set has its own types"
        ));
    }
    let wanted: Vec<&str> = name.split("::").collect();
    let full = |one: &&TraitItem| {
        let scope = items.scope(one.scope);
        let mut path: Vec<&str> = scope.path.iter().map(String::as_str).collect();
        path.push(&one.name);
        // rustc may put the name of the crate in front.
        path.ends_with(&wanted) || path.ends_with(wanted.get(1..).unwrap_or_default()) && wanted.len() > 1
    };
    let mut found = items.traits.iter().filter(full);
    match (found.next(), found.next()) {
        (Some(one), None) => Ok(one),
        (Some(_), Some(_)) => Err(format!("there are several traits `{name}`")),
        _ => Err(format!("`{name}` is not a trait of this package")),
    }
}

struct Lister<'p> {
    program: &'p Program,
    items: &'p Items,
    resolver: &'p Resolver<'p>,
    types: &'p Types,
    of: &'p TraitItem,
    /// The types, as they are named where the trait is.
    listed: Vec<String>,
    /// Whether there are implementors that cannot be listed, and need not be.
    open: bool,
    /// What has to be made visible to the crate.
    visible: BTreeMap<Position, &'static str>,
    /// Type parameters that get the bound `'static`, by the place of the insertion.
    bounds: BTreeMap<Position, &'static str>,
    derives: BTreeSet<Position>,
    late: Vec<(ScopeId, String)>,
}

impl Lister<'_> {
    fn refuse_trait(&self) -> Result<(), String> {
        let (name, declaration) = (&self.of.name, &self.of.declaration);
        if has_a_list(declaration) {
            return Err(format!("`{name}` has its `#[ckpt::object(..)]` already"));
        }
        if !declaration.generics.params.is_empty() {
            return Err(format!(
                "`{name}` is a generic trait, and every set of arguments makes another one"
            ));
        }
        let associated = declaration
            .items
            .iter()
            .any(|item| matches!(item, syn::TraitItem::Type(_)));
        if associated {
            return Err(format!("`{name}` has an associated type"));
        }
        Ok(())
    }

    fn implements(&self, one: &ImplItem, wanted: TraitId) -> bool {
        one.of_trait.as_ref().is_some_and(|path| {
            let found = self.resolver.path(one.scope, &segments(path), Namespace::Types);
            found == Resolved::Item(Def::Trait(wanted))
        })
    }

    /// How often `impl Trait for` may be in the text. There can be more than was seen: in tests, in macros.
    fn written(&self) -> usize {
        let wanted = format!("{} for ", self.of.name);
        let count = |file: &crate::source::SourceFile| file.text.matches(&wanted).count();
        self.program.files.iter().map(count).sum()
    }

    fn implementor(&mut self, one: &ImplItem) -> Result<(), String> {
        let text = text_of(&one.self_type);
        let (from, to) = (self.items.scope(one.scope), self.items.scope(self.of.scope));
        if from.krate != to.krate {
            return self.late_implementor(one, &text);
        }
        if one.generics.lifetimes().next().is_some() {
            return Err(format!(
                "`{text}` borrows, and implements `{}`: a value behind `dyn {}` might borrow",
                self.of.name, self.of.name
            ));
        }
        if forwards(self.resolver.library, &one.self_type) {
            // `impl Solver for Box<dyn Solver>`, `impl<T: Solver + ?Sized> Solver for Box<T>`: an object in an object.
            self.open = true;
            return Ok(());
        }
        for arguments in self.instances(one)? {
            let listed = self.type_text(&one.self_type, one.scope, &arguments)?;
            if !self.listed.contains(&listed) {
                self.listed.push(listed);
            }
        }
        Ok(())
    }

    /// A type of another crate than the trait's: if that is the program's, it says so itself.
    fn late_implementor(&mut self, one: &ImplItem, text: &str) -> Result<(), String> {
        let refused = |why: &str| {
            Err(format!(
                "`{text}` implements `{}` in another crate, which the crate of the trait cannot name{why}",
                self.of.name
            ))
        };
        let scope = self.items.scope(one.scope);
        if self
            .items
            .main_of(0)
            .is_none_or(|main| self.items.function(main).krate != scope.krate)
        {
            return refused("");
        }
        if scope.is_block {
            return refused(", and inside a function");
        }
        let (syn::Type::Path(path), Some(of_trait), true) =
            (&one.self_type, &one.of_trait, one.generics.params.is_empty())
        else {
            return refused(", and is generic");
        };
        let found = self
            .resolver
            .path(one.scope, &segments(&path.path), Namespace::Types);
        let (Resolved::Item(Def::Type(id)), None) = (found, &path.qself) else {
            return refused(", and is no type of this program");
        };
        self.derive(id)?;
        let statement = format!("ckpt::objects!(dyn {}: {text});", text_of(of_trait));
        self.late.push((one.scope, statement));
        self.open = true;
        Ok(())
    }

    /// The sets of arguments that a generic `impl` may have: what its parameters' own traits are implemented by.
    fn instances(&mut self, one: &ImplItem) -> Result<Vec<BTreeMap<String, String>>, String> {
        let mut sets = vec![BTreeMap::new()];
        let text = text_of(&one.self_type);
        if let Some(constant) = one.generics.const_params().next() {
            let name = &constant.ident;
            return Err(format!("`{text}` is generic over the constant `{name}`"));
        }
        for parameter in one.generics.type_params() {
            let name = parameter.ident.to_string();
            let candidates = self.arguments(one, parameter).ok_or_else(|| {
                format!("`{text}` is generic over `{name}`, and what that stands for cannot be listed")
            })?;
            sets = sets
                .into_iter()
                .flat_map(|set: BTreeMap<String, String>| {
                    let name = name.clone();
                    candidates.iter().map(move |candidate| {
                        let mut set = set.clone();
                        set.insert(name.clone(), candidate.clone());
                        set
                    })
                })
                .collect();
            if sets.len() > MOST_INSTANCES {
                return Err(format!("`{text}` is generic, and stands for too many types"));
            }
            self.open = true;
            self.bound(parameter, one.file);
        }
        Ok(sets)
    }

    /// What may stand for a type parameter: the types that implement the trait of this program that bounds it.
    fn arguments(&mut self, one: &ImplItem, parameter: &syn::TypeParam) -> Option<Vec<String>> {
        let in_where = one.generics.where_clause.iter().flat_map(|clause| {
            clause.predicates.iter().filter_map(|predicate| match predicate {
                syn::WherePredicate::Type(ty) if parameter.ident == text_of(&ty.bounded_ty) => {
                    Some(&ty.bounds)
                }
                _ => None,
            })
        });
        let bounds: Vec<&syn::TypeParamBound> = parameter.bounds.iter().chain(in_where.flatten()).collect();
        let mut traits = bounds.iter().filter_map(|bound| match bound {
            syn::TypeParamBound::Trait(bound) => Some(&bound.path),
            _ => None,
        });
        let found = traits.find_map(|path| {
            match self.resolver.path(one.scope, &segments(path), Namespace::Types) {
                Resolved::Item(Def::Trait(id)) => Some(id),
                _ => None,
            }
        })?;
        let mut candidates = Vec::new();
        for other in &self.items.impls {
            if self.implements(other, found)
                && other.generics.params.is_empty()
                && !forwards(self.resolver.library, &other.self_type)
            {
                candidates.push(
                    self.type_text(&other.self_type, other.scope, &BTreeMap::new())
                        .ok()?,
                );
            }
        }
        (!candidates.is_empty()).then_some(candidates)
    }

    /// An object lives as long as the program, and so does what it is made of.
    fn bound(&mut self, parameter: &syn::TypeParam, file: FileId) {
        let is_static = |bound: &syn::TypeParamBound| matches!(bound, syn::TypeParamBound::Lifetime(one) if one.ident == "static");
        if parameter.bounds.iter().any(is_static) {
            return;
        }
        let (end, text) = match parameter.bounds.last() {
            Some(last) => (last.span(), " + 'static"),
            None => (parameter.ident.span(), ": 'static"),
        };
        let at = locate::bytes(self.program, file, end).end;
        self.bounds.insert((file, at), text);
    }

    /// The type as it is written where the trait is, its parameters replaced.
    fn type_text(
        &mut self,
        ty: &syn::Type,
        scope: ScopeId,
        arguments: &BTreeMap<String, String>,
    ) -> Result<String, String> {
        let unlisted = |reason: &str| Err(format!("`{}` implements the trait, and {reason}", text_of(ty)));
        match ty {
            syn::Type::Paren(inner) => return self.type_text(&inner.elem, scope, arguments),
            syn::Type::Group(inner) => return self.type_text(&inner.elem, scope, arguments),
            syn::Type::Tuple(tuple) => {
                let parts: Result<Vec<_>, _> = tuple
                    .elems
                    .iter()
                    .map(|part| self.type_text(part, scope, arguments))
                    .collect();
                return Ok(format!("({},)", parts?.join(", ")));
            }
            syn::Type::Array(array) => {
                let item = self.type_text(&array.elem, scope, arguments)?;
                return match &array.len {
                    syn::Expr::Lit(length) => Ok(format!("[{item}; {}]", text_of(length))),
                    _ => unlisted("its length has a name"),
                };
            }
            // `impl Shape for Vec<Box<dyn Shape>>`: what is listed stands where the trait is, under its own name.
            syn::Type::TraitObject(object) if self.is_own_object(object, scope) => {
                return Ok(format!("dyn {}", self.of.name));
            }
            _ => {}
        }
        let syn::Type::Path(path) = ty else {
            return unlisted("it is not a type that a checkpoint can hold");
        };
        let Some(last) = path.path.segments.last().filter(|_| path.qself.is_none()) else {
            return unlisted("its path is too long");
        };
        if let Some(argument) = path
            .path
            .get_ident()
            .and_then(|name| arguments.get(&name.to_string()))
        {
            return Ok(argument.clone());
        }
        let name = match self.resolver.path(scope, &segments(&path.path), Namespace::Types) {
            Resolved::Item(Def::Type(id)) => {
                self.derive(id)?;
                self.path_to(id)?
            }
            Resolved::Outside => self.outside(&path.path, scope),
            _ => return unlisted("what its name stands for is not clear"),
        };
        let written = match &last.arguments {
            syn::PathArguments::None => return Ok(name),
            syn::PathArguments::AngleBracketed(written) => written,
            syn::PathArguments::Parenthesized(_) => return unlisted("it is a function"),
        };
        let mut texts = Vec::new();
        for argument in &written.args {
            match argument {
                syn::GenericArgument::Type(ty) => texts.push(self.type_text(ty, scope, arguments)?),
                syn::GenericArgument::Const(syn::Expr::Lit(number)) => texts.push(text_of(number)),
                _ => return unlisted("one of its arguments is not a type"),
            }
        }
        Ok(format!("{name}<{}>", texts.join(", ")))
    }

    /// Whether it is `dyn` of the trait itself, and of nothing else.
    fn is_own_object(&self, object: &syn::TypeTraitObject, scope: ScopeId) -> bool {
        let bounds: Vec<_> = object.bounds.iter().collect();
        let [syn::TypeParamBound::Trait(bound)] = bounds[..] else {
            return false;
        };
        let found = self
            .resolver
            .path(scope, &segments(&bound.path), Namespace::Types);
        found == Resolved::Item(Def::Trait(self.of.id))
    }

    /// A type of another crate, with the path under which the module of the `impl` has it.
    fn outside(&self, path: &syn::Path, scope: ScopeId) -> String {
        let name = path.get_ident().map(ToString::to_string);
        let name = name.or_else(|| {
            Some(
                path.segments
                    .first()
                    .filter(|_| path.segments.len() == 1)?
                    .ident
                    .to_string(),
            )
        });
        let module = self.items.scope(self.items.module_of(scope));
        let import = name.and_then(|name| module.uses.get(&name)?.first().cloned());
        match import {
            Some(import) => import.join("::").replace("::::", "::"),
            None => text_of(&with_no_arguments(path)),
        }
    }

    fn derive(&mut self, id: TypeId) -> Result<(), String> {
        let item = &self.items.types[id.0];
        let (file, at) = (item.place.file, item.place.bytes.start);
        let Some(Found::Type { item: start, .. }) = locate::locate(self.program, file, at) else {
            return Ok(());
        };
        let held = self.types.held_by((file, start), &BTreeMap::new());
        let held = held.map_err(|field| format!("`{}` cannot be saved: {field}", item.name))?;
        self.derives.extend(held);
        Ok(())
    }

    /// The path of a type of this program from where the trait is. Private modules and types on the way that the trait
    /// cannot see become `pub(crate)`.
    fn path_to(&mut self, id: TypeId) -> Result<String, String> {
        let item = &self.items.types[id.0];
        let module = self.items.module_of(self.of.scope);
        let here = self.resolver.in_module(module, &item.name, Namespace::Types);
        if here == Some(Def::Type(id)) {
            return Ok(item.name.clone());
        }
        let mut steps = Vec::new();
        let mut at = item.scope;
        loop {
            let scope = self.items.scope(at);
            if scope.is_block {
                return Err(format!(
                    "`{}` is declared inside a function, where the trait cannot name it",
                    item.name
                ));
            }
            let Some(parent) = scope.parent else { break };
            if let Some((vis, place)) = &scope.declared {
                steps.push((parent, vis, place));
            }
            at = parent;
        }
        steps.insert(0, (item.scope, &item.vis, &item.place));
        for (module, vis, place) in steps {
            // Whether it can be named where the trait is.
            if !self.resolver.can_be_named_in(module, vis, self.of.scope) {
                let (at, text) = ((place.file, place.bytes.start), "pub(crate) ");
                if !matches!(vis, syn::Visibility::Inherited) {
                    return Err(format!("`{}` is visible in a part of the crate only", item.name));
                }
                self.visible.insert(at, text);
            }
        }
        let path = &self.items.scope(item.scope).path;
        let modules: String = path.iter().map(|name| format!("{name}::")).collect();
        Ok(format!("crate::{modules}{}", item.name))
    }

    fn finish(self) -> Result<ObjectEdits, String> {
        if self.listed.is_empty() && self.late.is_empty() {
            return Err(format!("no type of this package implements `{}`", self.of.name));
        }
        let mut list = self.listed;
        if self.open {
            list.push("..".into());
        }
        let attribute = format!("#[ckpt::object({})]", list.join(", "));
        let (file, at) = (self.of.place.file, self.of.place.bytes.start);
        let text = &self.program.file(file).text;
        let mut edits = vec![Edit::line_before(file, text, at, &attribute)];
        let inserted = self.visible.into_iter().chain(self.bounds);
        edits.extend(inserted.map(|((file, at), text)| Edit::insert(file, at, text)));
        Ok(ObjectEdits {
            edits,
            derives: self.derives,
            late: self.late,
        })
    }
}

/// Whether the type is an object itself, or a pointer to whatever implements the trait.
fn forwards(library: &Library, ty: &syn::Type) -> bool {
    match ty {
        syn::Type::TraitObject(_) | syn::Type::Reference(_) => true,
        syn::Type::Path(path) => path.path.segments.last().is_some_and(|last| {
            let is_pointer = library.says(&last.ident.to_string(), ckpt_compiler::library::Types::Owners);
            is_pointer && !matches!(last.arguments, syn::PathArguments::None)
        }),
        _ => false,
    }
}

fn with_no_arguments(path: &syn::Path) -> syn::Path {
    let mut path = path.clone();
    if let Some(last) = path.segments.last_mut() {
        last.arguments = syn::PathArguments::None;
    }
    path
}

fn text_of(tokens: &impl ToTokens) -> String {
    ckpt_compiler::object::full_name(tokens)
}

#[cfg(test)]
mod tests;
