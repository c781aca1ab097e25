//! Structs of which a checkpoint holds a part: a restart makes the value again, by the initialiser of its variable, and
//! fills that part in. What it keeps from the initialiser are functions and shared references.

mod parts;

pub use parts::moved_parts;

use super::items::Items;
use super::locate::bytes;
use super::rewrite::Place;
use super::source::Program;
use super::types::asks_where;
use crate::tables::Tables;
use std::collections::{BTreeSet, HashMap};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Expr, Member};

/// The fields of the struct that begins there which a restart can keep as the initialiser has made them; nothing where
/// there is no such field, or one of them may change, or another stands in the way.
pub fn kept_fields(program: &Program, place: Place) -> Option<BTreeSet<Place>> {
    let item = struct_at(program, place)?;
    let names = Named::of(program);
    let kinds = Kinds {
        generics: &item.generics,
        named: &names,
        depth: 0,
    };
    let mut kept = BTreeSet::new();
    for (name, field) in named_fields(item) {
        let kind = kinds.of(&field.ty);
        match kind {
            Kind::Saved => continue,
            Kind::Plain
                if names.moves_text
                    && is_text_field(field)
                    && changes(program, item, name.clone(), false) =>
            {
                continue;
            }
            Kind::Exclusive => return None,
            Kind::Object | Kind::Objects if has_shared_state(program) => return None,
            Kind::Plain | Kind::Object | Kind::Objects | Kind::Within => {}
        }
        if field.attrs.iter().any(|one| one.path().is_ident("ckpt")) {
            return None;
        }
        if changes(program, item, name, matches!(kind, Kind::Within | Kind::Objects)) {
            return None;
        }
        kept.insert((place.0, bytes(program, place.0, field.span()).start));
    }
    (!kept.is_empty()).then_some(kept)
}

fn named_fields(item: &syn::ItemStruct) -> impl Iterator<Item = (String, &syn::Field)> {
    item.fields.iter().enumerate().map(|(index, field)| {
        let name = field.ident.as_ref();
        (name.map_or_else(|| index.to_string(), ToString::to_string), field)
    })
}

/// Whether anything in the program gives the field another value; with `within` also what is in it.
fn changes(program: &Program, item: &syn::ItemStruct, field: String, within: bool) -> bool {
    let mut changes = Changes {
        owner: item.ident.to_string(),
        field,
        within,
        inside: false,
        building: false,
        found: false,
    };
    program
        .files
        .iter()
        .for_each(|file| changes.visit_file(&file.ast));
    changes.found
}

/// Whether the value of a variable is replaced as a whole by `mem::swap`, `replace` or `take` in the function around it.
pub fn is_exchanged(items: &Items, place: Place, name: &str) -> bool {
    struct Exchanges<'n>(&'n str, bool);
    impl<'ast> Visit<'ast> for Exchanges<'_> {
        fn visit_expr_call(&mut self, call: &'ast syn::ExprCall) {
            self.1 |= exchanges(call)
                && call.args.iter().any(|argument| {
                    matches!(argument, Expr::Reference(one)
                        if one.mutability.is_some() && matches!(&*one.expr, Expr::Path(path) if path.path.is_ident(self.0)))
                });
            visit::visit_expr_call(self, call);
        }
    }
    let mut around = items
        .functions
        .iter()
        .filter(|one| one.place.file == place.0 && one.place.bytes.contains(&place.1));
    around.any(|function| {
        let mut exchanges = Exchanges(name, false);
        exchanges.visit_block(&function.item.block);
        exchanges.1
    })
}

fn exchanges(call: &syn::ExprCall) -> bool {
    let Expr::Path(path) = &*call.func else {
        return false;
    };
    let last = path.path.segments.last();
    last.is_some_and(|last| ["swap", "replace", "take"].iter().any(|name| last.ident == name))
}

/// The struct that begins there.
pub(super) fn struct_at(program: &Program, place: Place) -> Option<&syn::ItemStruct> {
    struct Finder<'p>(&'p Program, Place, Option<&'p syn::ItemStruct>);
    impl<'p> Visit<'p> for Finder<'p> {
        fn visit_item_struct(&mut self, item: &'p syn::ItemStruct) {
            if bytes(self.0, self.1.0, item.span()).start == self.1.1 {
                self.2 = Some(item);
            }
        }
    }
    let mut finder = Finder(program, place, None);
    finder.visit_file(&program.file(place.0).ast);
    finder.2
}

/// What a field is to a checkpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Its parts are saved.
    Saved,
    /// A function or a shared reference: nothing but an assignment changes it.
    Plain,
    /// A closure behind a pointer, which may have captured what changes.
    Object,
    /// A container of these.
    Within,
    /// A container of closures: `Option<Box<dyn Fn(f64)>>`.
    Objects,
    /// Something that cannot be made again in its state.
    Exclusive,
}

/// Tells what a field is from its type.
struct Kinds<'p> {
    generics: &'p syn::Generics,
    named: &'p Named<'p>,
    /// How many structs this one is in.
    depth: usize,
}

/// Structs in structs that are looked into.
const DEEPEST: usize = 4;

impl Kinds<'_> {
    fn of(&self, ty: &syn::Type) -> Kind {
        match ty {
            syn::Type::BareFn(_) => Kind::Plain,
            syn::Type::Reference(one) if one.mutability.is_some() => Kind::Exclusive,
            syn::Type::Reference(one) if is_text(one, self.depth > 0 && self.named.moves_text) => Kind::Saved,
            syn::Type::Reference(_) => Kind::Plain,
            syn::Type::Ptr(_) | syn::Type::TraitObject(_) | syn::Type::ImplTrait(_) => Kind::Exclusive,
            syn::Type::Paren(inner) => self.of(&inner.elem),
            syn::Type::Group(inner) => self.of(&inner.elem),
            syn::Type::Array(array) => self.of(&array.elem).within(),
            syn::Type::Tuple(tuple) => tuple
                .elems
                .iter()
                .map(|part| self.of(part).within())
                .fold(Kind::Saved, Kind::and),
            syn::Type::Path(path) => self.of_path(path),
            _ => Kind::Saved,
        }
    }

    fn of_path(&self, path: &syn::TypePath) -> Kind {
        let Some(last) = path.path.segments.last() else {
            return Kind::Saved;
        };
        if path.path.segments.len() == 1 && is_function_parameter(&last.ident, self.generics) {
            return Kind::Object;
        }
        if let Some(behind) = self.named.aliases.get(&last.ident.to_string()) {
            return self.of(behind);
        }
        let own = match self.named.structs.get(&last.ident.to_string()) {
            Some(item) => self.of_struct(item),
            None => Kind::Saved,
        };
        own.and(self.of_arguments(last))
    }

    fn of_arguments(&self, last: &syn::PathSegment) -> Kind {
        let syn::PathArguments::AngleBracketed(arguments) = &last.arguments else {
            return Kind::Saved;
        };
        let types = arguments.args.iter().filter_map(|argument| match argument {
            syn::GenericArgument::Type(ty) => Some(ty),
            _ => None,
        });
        let is_pointer = ["Box", "Rc", "Arc"].iter().any(|name| last.ident == name);
        types
            .map(|ty| match ty {
                syn::Type::TraitObject(object) if is_pointer && is_function(&object.bounds) => Kind::Object,
                syn::Type::TraitObject(object) if is_pointer && self.named.only_looks(object) => Kind::Object,
                syn::Type::TraitObject(_) => Kind::Saved,
                syn::Type::Reference(one) if is_text(one, self.named.moves_text) => Kind::Saved,
                other => self.of(other).within(),
            })
            .fold(Kind::Saved, Kind::and)
    }
}

impl Kinds<'_> {
    /// A struct of functions and references is kept as a whole, if nothing in it ever changes.
    fn of_struct(&self, item: &syn::ItemStruct) -> Kind {
        if self.depth == DEEPEST {
            return Kind::Saved;
        }
        let inner = Kinds {
            generics: &item.generics,
            named: self.named,
            depth: self.depth + 1,
        };
        let kinds: Vec<Kind> = item.fields.iter().map(|field| inner.of(&field.ty)).collect();
        let is_object = |kind: &Kind| matches!(kind, Kind::Object | Kind::Objects);
        if kinds.iter().any(is_object) && has_shared_state(self.named.program) {
            return Kind::Exclusive;
        }
        let parts = kinds.iter().map(|kind| match kind {
            Kind::Plain | Kind::Object | Kind::Objects => Kind::Within,
            other => *other,
        });
        let whole = parts.fold(Kind::Saved, Kind::and);
        let stays = || {
            named_fields(item)
                .zip(&kinds)
                .all(|((name, _), kind)| !changes(self.named.program, item, name, *kind != Kind::Plain))
        };
        match whole {
            Kind::Within if !stays() => Kind::Exclusive,
            other => other,
        }
    }
}

/// What the names of the program stand for.
struct Named<'p> {
    program: &'p Program,
    /// Whether a text may be elsewhere after a restart.
    moves_text: bool,
    /// What `type Rule = fn(f64) -> f64;` stands for. One that names itself is none.
    aliases: HashMap<String, &'p syn::Type>,
    /// Structs of which there is one of this name.
    structs: HashMap<String, &'p syn::ItemStruct>,
    /// Traits of which there is one of this name.
    traits: HashMap<String, &'p syn::ItemTrait>,
}

impl<'p> Named<'p> {
    fn of(program: &'p Program) -> Self {
        let mut found = NamedItems::default();
        program.files.iter().for_each(|file| found.visit_file(&file.ast));
        found.aliases.remove("Box");
        Self {
            program,
            moves_text: !asks_where(program),
            aliases: found.aliases,
            structs: alone(found.structs),
            traits: alone(found.traits),
        }
    }

    /// Whether it is an object with a lifetime, `dyn Preconditioner + 'a`, of a trait of the program whose methods all
    /// take `&self`: no list can name what is behind it, and nothing changes that.
    fn only_looks(&self, object: &syn::TypeTraitObject) -> bool {
        let borrows = object
            .bounds
            .iter()
            .any(|bound| matches!(bound, syn::TypeParamBound::Lifetime(one) if one.ident != "static"));
        let looks = |item: &syn::TraitItem| match item {
            syn::TraitItem::Fn(method) => method.sig.receiver().is_none_or(|one| {
                one.reference.is_some() && one.mutability.is_none() && one.colon_token.is_none()
            }),
            _ => true,
        };
        let mut traits = object.bounds.iter().filter_map(|bound| match bound {
            syn::TypeParamBound::Trait(one) => one.path.get_ident(),
            _ => None,
        });
        let item = traits.next().and_then(|name| self.traits.get(&name.to_string()));
        borrows && item.is_some_and(|item| item.supertraits.is_empty() && item.items.iter().all(looks))
    }
}

#[derive(Default)]
struct NamedItems<'p> {
    aliases: HashMap<String, &'p syn::Type>,
    structs: HashMap<String, Vec<&'p syn::ItemStruct>>,
    traits: HashMap<String, Vec<&'p syn::ItemTrait>>,
}

/// The items whose name no other has.
fn alone<T: Copy>(items: HashMap<String, Vec<T>>) -> HashMap<String, T> {
    let one = |(name, items): (String, Vec<T>)| match items[..] {
        [one] => Some((name, one)),
        _ => None,
    };
    items.into_iter().filter_map(one).collect()
}

impl<'p> Visit<'p> for NamedItems<'p> {
    fn visit_item_type(&mut self, item: &'p syn::ItemType) {
        let is_function = matches!(&*item.ty, syn::Type::BareFn(_) | syn::Type::Reference(_));
        if is_function
            || matches!(&*item.ty, syn::Type::Path(path) if path.path.segments.last().is_some_and(|last| last.ident == "Box"))
        {
            self.aliases.insert(item.ident.to_string(), &item.ty);
        }
    }

    fn visit_item_trait(&mut self, item: &'p syn::ItemTrait) {
        self.traits.entry(item.ident.to_string()).or_default().push(item);
    }

    fn visit_item_struct(&mut self, item: &'p syn::ItemStruct) {
        self.structs.entry(item.ident.to_string()).or_default().push(item);
    }
}

impl Kind {
    /// What a container of it is.
    fn within(self) -> Self {
        match self {
            Self::Plain => Self::Within,
            Self::Object => Self::Objects,
            other => other,
        }
    }

    fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Exclusive, _) | (_, Self::Exclusive) => Self::Exclusive,
            (Self::Saved, one) | (one, Self::Saved) => one,
            (Self::Object, Self::Object) => Self::Object,
            (Self::Plain, Self::Plain) => Self::Plain,
            (Self::Object | Self::Objects, _) | (_, Self::Object | Self::Objects) => Self::Objects,
            _ => Self::Within,
        }
    }
}

fn is_text_field(field: &syn::Field) -> bool {
    matches!(&field.ty, syn::Type::Reference(one) if is_text(one, true))
}

/// Text that is saved by value: that of the program, and, inside of other values, any.
fn is_text(reference: &syn::TypeReference, of_any_life: bool) -> bool {
    let is_static = reference
        .lifetime
        .as_ref()
        .is_some_and(|lifetime| lifetime.ident == "static");
    reference.mutability.is_none()
        && (is_static || of_any_life)
        && matches!(&*reference.elem, syn::Type::Path(path) if path.path.is_ident("str"))
}

/// `Fn(..)`, which may be called through a shared reference.
fn is_function(
    bounds: &syn::punctuated::Punctuated<syn::TypeParamBound, impl quote::ToTokens + Default>,
) -> bool {
    bounds.iter().any(|bound| {
        matches!(bound, syn::TypeParamBound::Trait(one)
            if one.path.segments.last().is_some_and(|last| last.ident == "Fn"))
    })
}

fn is_function_parameter(name: &syn::Ident, generics: &syn::Generics) -> bool {
    let in_list = generics
        .type_params()
        .any(|parameter| parameter.ident == *name && is_function(&parameter.bounds));
    let in_clause = generics.where_clause.iter().flat_map(|clause| &clause.predicates);
    in_list
        || in_clause.into_iter().any(|predicate| {
            matches!(predicate, syn::WherePredicate::Type(one)
                if is_function(&one.bounds) && matches!(&one.bounded_ty, syn::Type::Path(path) if path.path.is_ident(name)))
        })
}

/// Whether a closure could have captured something that changes behind a shared reference.
fn has_shared_state(program: &Program) -> bool {
    const CHANGING: &[&str] = &["Cell", "RefCell", "OnceCell", "Mutex", "RwLock"];
    struct Shared(bool);
    impl<'ast> Visit<'ast> for Shared {
        fn visit_path_segment(&mut self, segment: &'ast syn::PathSegment) {
            let name = segment.ident.to_string();
            self.0 |= CHANGING.contains(&name.as_str()) || name.starts_with("Atomic");
            visit::visit_path_segment(self, segment);
        }
    }
    let mut shared = Shared(false);
    program.files.iter().for_each(|file| shared.visit_file(&file.ast));
    shared.0
}

/// Whether anything in the program gives a field another value.
struct Changes {
    owner: String,
    field: String,
    /// Whether methods may change what is in it.
    within: bool,
    /// Inside an `impl` of the owner.
    inside: bool,
    /// Inside a method that takes a value and gives it back, `fn with(mut self, ..) -> Self`: what it sets belongs to the
    /// initialiser that calls it.
    building: bool,
    found: bool,
}

impl Changes {
    /// Whether the place is the field, or a part of it.
    fn is_in_field(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Field(one) => self.is_field(&one.member) || self.is_in_field(&one.base),
            Expr::Index(one) => self.is_in_field(&one.expr),
            Expr::Paren(one) => self.is_in_field(&one.expr),
            Expr::MethodCall(one) => self.within && self.is_in_field(&one.receiver),
            _ => false,
        }
    }

    fn is_field(&self, member: &Member) -> bool {
        match member {
            Member::Named(name) => *name == self.field,
            Member::Unnamed(index) => index.index.to_string() == self.field,
        }
    }

    /// Whether an assignment there changes a value that is in use.
    fn changes_place(&self, place: &Expr) -> bool {
        self.is_in_field(place) && !(self.building && is_of_self(place)) || self.is_self(place)
    }

    fn is_builder(&self, method: &syn::ImplItemFn) -> bool {
        let takes_value = method
            .sig
            .receiver()
            .is_some_and(|receiver| receiver.reference.is_none() && receiver.colon_token.is_none());
        let gives_own = matches!(&method.sig.output, syn::ReturnType::Type(_, ty)
            if matches!(&**ty, syn::Type::Path(path) if path.path.segments.last()
                .is_some_and(|last| last.ident == "Self" || last.ident == self.owner)));
        let ends_with_self = matches!(method.block.stmts.last(), Some(syn::Stmt::Expr(Expr::Path(path), None))
            if path.path.is_ident("self"));
        self.inside && takes_value && gives_own && ends_with_self
    }

    fn is_self(&self, expr: &Expr) -> bool {
        let Expr::Unary(syn::ExprUnary {
            op: syn::UnOp::Deref(_),
            expr,
            ..
        }) = expr
        else {
            return false;
        };
        self.inside && matches!(&**expr, Expr::Path(path) if path.path.is_ident("self"))
    }
}

impl<'ast> Visit<'ast> for Changes {
    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        let before = self.inside;
        self.inside = matches!(&*item.self_ty, syn::Type::Path(path)
            if path.path.segments.last().is_some_and(|last| last.ident == self.owner));
        visit::visit_item_impl(self, item);
        self.inside = before;
    }

    fn visit_impl_item_fn(&mut self, method: &'ast syn::ImplItemFn) {
        let builds = self.is_builder(method);
        let before = std::mem::replace(&mut self.building, builds);
        visit::visit_impl_item_fn(self, method);
        self.building = before;
    }

    fn visit_expr_assign(&mut self, one: &'ast syn::ExprAssign) {
        self.found |= self.changes_place(&one.left);
        visit::visit_expr_assign(self, one);
    }

    fn visit_expr_binary(&mut self, one: &'ast syn::ExprBinary) {
        // `a += b` and its kind are told by their last sign.
        let assigns = quote::ToTokens::to_token_stream(&one.op)
            .to_string()
            .ends_with('=')
            && !matches!(
                one.op,
                syn::BinOp::Eq(_) | syn::BinOp::Ne(_) | syn::BinOp::Le(_) | syn::BinOp::Ge(_)
            );
        self.found |= assigns && self.is_in_field(&one.left);
        visit::visit_expr_binary(self, one);
    }

    fn visit_expr_reference(&mut self, one: &'ast syn::ExprReference) {
        self.found |= one.mutability.is_some() && self.is_in_field(&one.expr);
        visit::visit_expr_reference(self, one);
    }

    fn visit_expr_call(&mut self, call: &'ast syn::ExprCall) {
        let takes_self = |argument: &Expr| matches!(argument, Expr::Path(path) if path.path.is_ident("self"));
        self.found |= self.inside && exchanges(call) && call.args.iter().any(takes_self);
        visit::visit_expr_call(self, call);
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        let method = call.method.to_string();
        let tables = Tables::current();
        let looks = (tables.is_pure(&method) || tables.borrows(&method) || tables.adapts(&method))
            && !tables.borrows_mutably(&method)
            // `Option::take`; that of an iterator says how many.
            && !(method == "take" && call.args.is_empty());
        self.found |= self.within && !looks && self.is_in_field(&call.receiver);
        visit::visit_expr_method_call(self, call);
    }

    /// A field that a pattern takes by name could be changed under that name.
    fn visit_pat_struct(&mut self, pattern: &'ast syn::PatStruct) {
        let is_owner = pattern
            .path
            .segments
            .last()
            .is_some_and(|last| last.ident == self.owner || last.ident == "Self" && self.inside);
        self.found |= is_owner && pattern.fields.iter().any(|field| self.is_field(&field.member));
        visit::visit_pat_struct(self, pattern);
    }
}

/// `self.field`, or a part of it.
fn is_of_self(place: &Expr) -> bool {
    match place {
        Expr::Field(one) => {
            matches!(&*one.base, Expr::Path(path) if path.path.is_ident("self")) || is_of_self(&one.base)
        }
        Expr::Index(one) => is_of_self(&one.expr),
        Expr::Paren(one) => is_of_self(&one.expr),
        _ => false,
    }
}

#[cfg(test)]
mod tests;
