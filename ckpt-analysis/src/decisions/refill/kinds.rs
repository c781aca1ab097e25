//! What the fields of structs are to a checkpoint, told by their types.

use super::owners::Owners;
use super::replacing::Replacing;
use super::{changes, kept_of, named_fields, struct_at};
use crate::decisions::changed_places::Holds;
use crate::decisions::devices::Devices;
use crate::decisions::library_handles::{Handles, has_bound};
use crate::source::locate::bytes;
use crate::source::{FileId, Program};
use ckpt_compiler::library::{Library, Types, last_name};
use ckpt_compiler::syntax::language::is_text_or_bytes_type;
use ckpt_compiler::visit::{self, Visit};
use quote::ToTokens;
use std::collections::HashMap;
use syn::spanned::Spanned;

/// What a field is to a checkpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
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
    /// Content on a device, or a list of it: it is made again and filled.
    Filled,
    /// Something that cannot be rebuilt in its state.
    Exclusive,
}

/// Tells what a field is from its type.
pub(super) struct Kinds<'p> {
    pub(super) generics: &'p syn::Generics,
    pub(super) named: &'p Named<'p>,
    /// How many structs this one is in.
    pub(super) depth: usize,
}

/// Structs in structs that are looked into.
const DEEPEST: usize = 4;

impl Kinds<'_> {
    pub(super) fn of(&self, ty: &syn::Type) -> Kind {
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
        // Nothing but making another changes it.
        if self.named.handles.has(&path.path, self.generics) {
            return Kind::Plain;
        }
        let text = path.to_token_stream().to_string().replace(' ', "");
        if self.named.devices.are_saved(&text) {
            return Kind::Filled;
        }
        if !self.named.structs.contains_key(&last.ident.to_string()) && self.named.devices.are_handles(&text)
        {
            return Kind::Plain;
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
        let is_pointer = self.named.library.says(&last.ident.to_string(), Types::Owners);
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
    fn is_filled(&self, item: &syn::ItemStruct) -> bool {
        let program = self.named.program;
        let file = (0..program.files.len()).map(FileId).find(|file| {
            let start = bytes(program, *file, item.span()).start;
            struct_at(program, (*file, start)).is_some_and(|found| std::ptr::eq(found, item))
        });
        file.is_some_and(|file| kept_of(self.named, (file, item), self.depth + 1).is_some())
    }

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
        if kinds.contains(&Kind::Filled) {
            // It is filled with the struct that it is in.
            return match self.is_filled(item) {
                true => Kind::Filled,
                false => Kind::Exclusive,
            };
        }
        let is_object = |kind: &Kind| matches!(kind, Kind::Object | Kind::Objects);
        if kinds.iter().any(is_object) && has_shared_state(self.named.library, self.named.program) {
            return Kind::Exclusive;
        }
        let parts = kinds.iter().map(|kind| match kind {
            Kind::Plain | Kind::Object | Kind::Objects => Kind::Within,
            other => *other,
        });
        let whole = parts.fold(Kind::Saved, Kind::and);
        let stays = || {
            named_fields(item).zip(&kinds).all(|((name, _), kind)| {
                let is_within = *kind != Kind::Plain;
                changes(self.named, (item, &[]), name, is_within).is_none()
            })
        };
        match whole {
            Kind::Within if !stays() => Kind::Exclusive,
            other => other,
        }
    }
}

/// What the names of the program stand for.
pub(super) struct Named<'p> {
    pub(super) library: &'p Library,
    pub(super) program: &'p Program,
    handles: Handles<'p>,
    devices: Devices<'p>,
    /// Which struct a field belongs to, where that is known.
    pub(super) owners: Owners,
    pub(super) replacing: Replacing,
    /// Whether a text may be elsewhere after a restart.
    pub(super) moves_text: bool,
    /// What `type Rule = fn(f64) -> f64;` stands for. One that names itself is none.
    aliases: HashMap<String, &'p syn::Type>,
    /// Structs of which there is one of this name.
    structs: HashMap<String, &'p syn::ItemStruct>,
    /// Traits of which there is one of this name.
    traits: HashMap<String, &'p syn::ItemTrait>,
}

impl<'p> Named<'p> {
    pub(super) fn of(library: &'p Library, program: &'p Program) -> Self {
        let mut found = NamedItems {
            library,
            aliases: HashMap::new(),
            structs: HashMap::new(),
            traits: HashMap::new(),
        };
        program.files.iter().for_each(|file| found.visit_file(&file.ast));
        found.aliases.retain(|name, _| !library.says(name, Types::Boxes));
        Self {
            library,
            program,
            handles: Handles::of(library, program),
            devices: Devices::of(library, program),
            owners: Owners::of(library, program),
            replacing: Replacing::of(library, program),
            moves_text: !program.asks_where(),
            aliases: found.aliases,
            structs: alone(found.structs),
            traits: alone(found.traits),
        }
    }

    /// Whether the type is that of one array on a device.
    pub(super) fn is_array(&self, ty: &syn::Type) -> bool {
        let text = ty.to_token_stream().to_string().replace(' ', "");
        self.devices.are_arrays(&text)
    }

    /// What a field of this type has on a device, of what fields may exchange.
    pub(super) fn holds_on_device(&self, ty: &syn::Type) -> Option<Holds> {
        let text = ty.to_token_stream().to_string().replace(' ', "");
        let one = self.devices.one_of(&text);
        if self.devices.are_arrays(one) {
            return Some(Holds::Arrays);
        }
        let is_handle = !self.structs.contains_key(&text) && self.devices.are_handles(one);
        is_handle.then_some(Holds::Handles)
    }

    /// Whether it is that of an array on a device, of a list of them, or of a struct of the program alone.
    pub(super) fn is_filled_alone(&self, ty: &syn::Type) -> bool {
        let text = ty.to_token_stream().to_string().replace(' ', "");
        let is_struct = matches!(ty, syn::Type::Path(path) if path.path.segments.last()
            .is_some_and(|last| self.structs.contains_key(&last.ident.to_string())));
        is_struct || self.devices.are_saved(&text)
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

struct NamedItems<'p> {
    library: &'p Library,
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
            || matches!(&*item.ty, syn::Type::Path(path) if self.library.says(&last_name(&path.path), Types::Boxes))
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
            (Self::Filled, Self::Filled) => Self::Filled,
            (Self::Filled, _) | (_, Self::Filled) => Self::Exclusive,
            (Self::Object, Self::Object) => Self::Object,
            (Self::Plain, Self::Plain) => Self::Plain,
            (Self::Object | Self::Objects, _) | (_, Self::Object | Self::Objects) => Self::Objects,
            _ => Self::Within,
        }
    }
}

pub(super) fn is_text_field(field: &syn::Field) -> bool {
    matches!(&field.ty, syn::Type::Reference(one) if is_text(one, true))
}

/// Text that is saved by value: that of the program, and, inside of other values, any.
fn is_text(reference: &syn::TypeReference, of_any_life: bool) -> bool {
    let is_static = reference
        .lifetime
        .as_ref()
        .is_some_and(|lifetime| lifetime.ident == "static");
    reference.mutability.is_none() && (is_static || of_any_life) && is_text_or_bytes_type(&reference.elem)
}

/// `Fn(..)`, which may be called through a shared reference.
fn is_function(
    bounds: &syn::punctuated::Punctuated<syn::TypeParamBound, impl quote::ToTokens + Default>,
) -> bool {
    bounds.iter().any(|bound| {
        matches!(bound, syn::TypeParamBound::Trait(one)
            if last_name(&one.path) == "Fn")
    })
}

fn is_function_parameter(name: &syn::Ident, generics: &syn::Generics) -> bool {
    has_bound(name, generics, &|bound| bound == "Fn")
}

/// Whether a closure could have captured something that changes behind a shared reference.
pub(super) fn has_shared_state(library: &Library, program: &Program) -> bool {
    struct Shared<'l>(&'l Library, bool);
    impl<'ast> Visit<'ast> for Shared<'_> {
        fn visit_path_segment(&mut self, segment: &'ast syn::PathSegment) {
            self.1 |= self
                .0
                .changes_behind_references(&segment.ident.to_string(), false);
            visit::visit_path_segment(self, segment);
        }
    }
    let mut shared = Shared(library, false);
    program.files.iter().for_each(|file| shared.visit_file(&file.ast));
    shared.1
}
