//! The structs and enums of the program: which of them a type holds, and what stands in the way of saving one.

use crate::decisions::library_handles::Handles;
use crate::decisions::macro_types;
use crate::diagnostics::OpaqueField;
use crate::source::Position;
use crate::source::locate::bytes;
use crate::source::{FileId, Program};
use ckpt_compiler::library::{self, Library, last_name};
use ckpt_compiler::syntax::language::is_text_or_bytes_type;
use ckpt_compiler::visit::{self, Visit};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;
use syn::spanned::Spanned;

/// A struct or enum.
#[derive(Debug, Clone)]
pub struct TypeInfo {
    /// Its name.
    pub name: String,
    /// Whether it has `Checkpoint` already, derived or written by hand.
    pub is_checkpoint: bool,
    /// Names of types in its fields.
    pub mentions: BTreeSet<String>,
    /// A field that no checkpoint can hold: a reference, function, pointer or an object of a trait that is not the
    /// program's own.
    pub unsaveable: Option<OpaqueField>,
    /// The same, apart from fields of borrowed text, which a checkpoint can hold by value.
    pub unsaveable_but_text: Option<OpaqueField>,
}

/// All structs and enums of a program, by the first byte of each item.
#[derive(Debug, Default)]
pub struct Types {
    all: BTreeMap<Position, TypeInfo>,
    by_name: HashMap<String, Vec<Position>>,
    /// Of those that a macro declares, where they end.
    in_macros: BTreeMap<Position, Range<usize>>,
    /// Whether the program asks where in memory something is: a text that was saved is elsewhere after a restart.
    asks_where: bool,
}

impl Types {
    /// Collects them.
    pub fn of(library: &Library, program: &Program) -> Self {
        let mut types = Self::default();
        let mut by_hand = BTreeSet::new();
        let traits = own_traits(program);
        let handles = Handles::of(library, program);
        for (index, file) in program.files.iter().enumerate() {
            let mut collector = Collector {
                library,
                program,
                traits: &traits,
                handles: &handles,
                file: FileId(index),
                types: &mut types,
                by_hand: &mut by_hand,
            };
            collector.visit_file(&file.ast);
        }
        types.asks_where = program.asks_where();
        for (&place, info) in &mut types.all {
            info.is_checkpoint |= by_hand.contains(&info.name);
            types.by_name.entry(info.name.clone()).or_default().push(place);
        }
        types.add_those_of_macros(library, program, &by_hand);
        types
    }

    /// What their fields hold rustc says.
    fn add_those_of_macros(&mut self, library: &Library, program: &Program, by_hand: &BTreeSet<String>) {
        let of_items: BTreeSet<String> = self.by_name.keys().cloned().collect();
        for (place, one) in macro_types::declared(program) {
            let is_known = one
                .bits
                .as_ref()
                .is_none_or(|bits| library.says(&bits.by, library::Macros::Bits));
            let names: Vec<&String> = one
                .names
                .iter()
                .filter(|name| !of_items.contains(*name))
                .collect();
            let (Some(first), true) = (names.first(), is_known) else {
                continue;
            };
            let info = TypeInfo {
                name: (*first).clone(),
                is_checkpoint: names.iter().any(|name| by_hand.contains(*name)),
                mentions: BTreeSet::new(),
                unsaveable: None,
                unsaveable_but_text: None,
            };
            for name in names {
                self.by_name.entry(name.clone()).or_default().push(place);
            }
            self.all.insert(place, info);
            self.in_macros.insert(place, one.range);
        }
    }

    /// The type that a macro declares in whose tokens this place is.
    pub fn in_macro(&self, place: Position) -> Option<Position> {
        let mut around = self.in_macros.range(..=place).rev();
        let (&start, range) = around.next()?;
        (start.0 == place.0 && range.contains(&place.1)).then_some(start)
    }

    /// The type whose item begins there.
    pub fn get(&self, place: Position) -> Option<&TypeInfo> {
        self.all.get(&place)
    }

    /// The only type of this name; of a path or a type with arguments, the name of the type itself.
    pub fn named(&self, name: &str) -> Option<Position> {
        let bare = name.split('<').next().unwrap_or(name);
        let last = bare.rsplit("::").next().unwrap_or(bare).trim();
        match self.by_name.get(last).map(Vec::as_slice) {
            Some([one]) => Some(*one),
            _ => None,
        }
    }

    /// The type and all types of the program that its fields hold, as far as names tell: what has to be derived with
    /// it. An error names the first field that no checkpoint can hold.
    ///
    /// # Errors
    /// `Sim.rule: fn(f64) -> f64`
    pub fn held_by(
        &self,
        place: Position,
        opaque: &BTreeMap<Position, OpaqueField>,
    ) -> Result<BTreeSet<Position>, OpaqueField> {
        self.held(place, opaque, false)
    }

    /// The same, where borrowed text is saved by value: `name: &'a str`.
    ///
    /// # Errors
    /// As [`Types::held_by`].
    pub fn held_with_text_by(
        &self,
        place: Position,
        opaque: &BTreeMap<Position, OpaqueField>,
    ) -> Result<BTreeSet<Position>, OpaqueField> {
        self.held(place, opaque, !self.asks_where)
    }

    fn held(
        &self,
        place: Position,
        opaque: &BTreeMap<Position, OpaqueField>,
        with_text: bool,
    ) -> Result<BTreeSet<Position>, OpaqueField> {
        let mut found = BTreeSet::new();
        let mut pending = vec![place];
        while let Some(next) = pending.pop() {
            let Some(info) = self.all.get(&next).filter(|info| !info.is_checkpoint) else {
                continue;
            };
            if !found.insert(next) {
                continue;
            }
            let unsaveable = match with_text {
                true => &info.unsaveable_but_text,
                false => &info.unsaveable,
            };
            if let Some(field) = opaque.get(&next).or(unsaveable.as_ref()) {
                return Err(field.clone());
            }
            pending.extend(info.mentions.iter().filter_map(|name| self.named(name)));
        }
        Ok(found)
    }
}

/// The names of the traits of the program.
fn own_traits(program: &Program) -> BTreeSet<String> {
    struct Traits(BTreeSet<String>);
    impl<'ast> Visit<'ast> for Traits {
        fn visit_item_trait(&mut self, item: &'ast syn::ItemTrait) {
            self.0.insert(item.ident.to_string());
        }
    }
    let mut traits = Traits(BTreeSet::new());
    program.files.iter().for_each(|file| traits.visit_file(&file.ast));
    traits.0
}

struct Collector<'p> {
    library: &'p Library,
    program: &'p Program,
    traits: &'p BTreeSet<String>,
    handles: &'p Handles<'p>,
    file: FileId,
    types: &'p mut Types,
    by_hand: &'p mut BTreeSet<String>,
}

impl Collector<'_> {
    fn note<'a>(
        &mut self,
        item: &impl Spanned,
        (ident, generics): (&syn::Ident, &syn::Generics),
        attributes: &[syn::Attribute],
        fields: impl Iterator<Item = (String, &'a syn::Field)>,
    ) {
        let derives = derived(attributes);
        let mut parts = Parts {
            library: self.library,
            traits: self.traits,
            handles: self.handles,
            generics,
            field: String::new(),
            mentions: BTreeSet::new(),
            unsaveable: None,
            unsaveable_but_text: None,
        };
        for (name, field) in fields {
            if field.attrs.iter().any(|one| one.path().is_ident("ckpt")) {
                continue;
            }
            parts.field = name;
            parts.visit_type(&field.ty);
        }
        let info = TypeInfo {
            name: ident.to_string(),
            is_checkpoint: derives.contains("Checkpoint"),
            mentions: parts.mentions,
            unsaveable: parts.unsaveable,
            unsaveable_but_text: parts.unsaveable_but_text,
        };
        let start = bytes(self.program, self.file, item.span()).start;
        self.types.all.insert((self.file, start), info);
    }
}

impl<'ast> Visit<'ast> for Collector<'_> {
    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        let named = named(&item.ident, &item.fields);
        self.note(item, (&item.ident, &item.generics), &item.attrs, named);
    }

    fn visit_item_enum(&mut self, item: &'ast syn::ItemEnum) {
        let fields = item
            .variants
            .iter()
            .flat_map(|variant| named(&variant.ident, &variant.fields));
        self.note(item, (&item.ident, &item.generics), &item.attrs, fields);
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        let is_checkpoint = item
            .trait_
            .as_ref()
            .is_some_and(|(_, path, _)| last_name(path) == "Checkpoint");
        if let (true, syn::Type::Path(path)) = (is_checkpoint, &*item.self_ty) {
            self.by_hand
                .extend(path.path.segments.last().map(|last| last.ident.to_string()));
        }
        visit::visit_item_impl(self, item);
    }
}

fn named<'a>(
    owner: &'a syn::Ident,
    fields: &'a syn::Fields,
) -> impl Iterator<Item = (String, &'a syn::Field)> {
    fields.iter().enumerate().map(move |(index, field)| {
        let name = match &field.ident {
            Some(ident) => format!("{owner}.{ident}"),
            None => format!("{owner}.{index}"),
        };
        (name, field)
    })
}

/// The names in `#[derive(..)]`, without their paths.
pub(super) fn derived(attributes: &[syn::Attribute]) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for attribute in attributes.iter().filter(|one| one.path().is_ident("derive")) {
        // A derive that cannot be read is rustc's to report.
        let _ = attribute.parse_nested_meta(|meta| {
            names.extend(meta.path.segments.last().map(|last| last.ident.to_string()));
            Ok(())
        });
    }
    names
}

/// What the type of a field is made of.
struct Parts<'t> {
    library: &'t Library,
    traits: &'t BTreeSet<String>,
    handles: &'t Handles<'t>,
    generics: &'t syn::Generics,
    field: String,
    mentions: BTreeSet<String>,
    unsaveable: Option<OpaqueField>,
    unsaveable_but_text: Option<OpaqueField>,
}

impl Parts<'_> {
    /// An object of a trait of the program can be saved, if the types behind it can.
    fn is_own_object(&self, object: &syn::TypeTraitObject) -> bool {
        let first = object.bounds.iter().find_map(|bound| match bound {
            syn::TypeParamBound::Trait(one) => one.path.segments.last(),
            _ => None,
        });
        let borrows = object.bounds.iter().any(
            |bound| matches!(bound, syn::TypeParamBound::Lifetime(lifetime) if lifetime.ident != "static"),
        );
        !borrows && first.is_some_and(|first| self.traits.contains(&first.ident.to_string()))
    }

    /// No checkpoint can hold it.
    fn is_in_the_way(&mut self, ty: &syn::Type) {
        let text = quote::quote!(#ty).to_string();
        let text = text
            .replace(" (", "(")
            .replace("& ", "&")
            .replace(" >", ">")
            .replace(" <", "<")
            .replace("< ", "<");
        let field = OpaqueField {
            name: self.field.clone(),
            type_name: Some(text),
        };
        let is_text = match ty {
            syn::Type::Reference(reference) => is_text(reference),
            syn::Type::Path(path) => goes_over_text(self.library, &path.path),
            _ => false,
        };
        if !is_text {
            self.unsaveable_but_text.get_or_insert_with(|| field.clone());
        }
        self.unsaveable.get_or_insert(field);
    }
}

impl<'ast> Visit<'ast> for Parts<'_> {
    fn visit_type(&mut self, ty: &'ast syn::Type) {
        match ty {
            syn::Type::TraitObject(object) if self.is_own_object(object) => {}
            // Text that lives as long as the program is saved by value.
            syn::Type::Reference(reference) if is_static_text(reference) => {}
            // So is a function, by its name.
            syn::Type::BareFn(pointer) if crate::decisions::functions::is_saved(pointer) => {}
            syn::Type::Reference(_)
            | syn::Type::BareFn(_)
            | syn::Type::Ptr(_)
            | syn::Type::TraitObject(_)
            | syn::Type::ImplTrait(_) => self.is_in_the_way(ty),
            syn::Type::Path(path) if self.handles.has(&path.path, self.generics) => self.is_in_the_way(ty),
            syn::Type::Path(path) if goes_over_text(self.library, &path.path) => self.is_in_the_way(ty),
            // What is behind it is known by name where the trait is another one.
            syn::Type::Path(path) if crate::decisions::writers::is_boxed(self.library, &path.path) => {}
            syn::Type::Path(path) => {
                // What PhantomData names is not there.
                let last = path.path.segments.last();
                if last.is_some_and(|last| {
                    self.library
                        .says(&last.ident.to_string(), library::Types::Markers)
                }) {
                    return;
                }
                self.mentions.extend(last.map(|last| last.ident.to_string()));
                visit::visit_type(self, ty);
            }
            _ => visit::visit_type(self, ty),
        }
    }
}

/// An iterator over a text, `Chars<'a>`: saved by value as the text is.
fn goes_over_text(library: &Library, path: &syn::Path) -> bool {
    path.segments.last().is_some_and(|last| {
        let only_lives = match &last.arguments {
            syn::PathArguments::AngleBracketed(arguments) => {
                let mut arguments = arguments.args.iter();
                arguments.all(|one| matches!(one, syn::GenericArgument::Lifetime(_)))
            }
            _ => false,
        };
        only_lives && library.says(&last.ident.to_string(), library::Types::TextIterators)
    })
}

fn is_static_text(reference: &syn::TypeReference) -> bool {
    let is_static = reference
        .lifetime
        .as_ref()
        .is_some_and(|lifetime| lifetime.ident == "static");
    is_static && is_text(reference)
}

fn is_text(reference: &syn::TypeReference) -> bool {
    reference.mutability.is_none() && is_text_or_bytes_type(&reference.elem)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn held_types_are_found_through_containers() {
        let text = "struct A { b: Vec<Option<B>>, name: &'static str } struct B(C); #[derive(Clone)] enum C { X { d: u32 } }\n\
                    struct D { c: C, rule: fn(Vec<&f64>) -> f64 } struct E { d: D }\n\
                    struct F { own: G } impl ckpt::Checkpoint for G {} struct G { x: *mut f64 }\n\
                    trait Law {} struct H { law: Box<dyn Law + Send> } struct I { rule: Box<dyn Fn(f64) -> f64> }\n\
                    struct J<'a> { name: &'a str, rest: Peekable<Chars<'a>> } struct K<'a> { all: Vec<J<'a>> } struct L { rule: Vec<fn(&f64, usize) -> f64> } struct M<'a> { rest: &'a [u8] } struct N<'a> { rest: &'a [f64] }\n";
        let program = Program::of_text(text);
        let types = Types::of(Library::builtin(), &program);
        let held = |name: &str| {
            types
                .held_by(types.named(name).unwrap(), &BTreeMap::new())
                .map(|places| {
                    places
                        .into_iter()
                        .map(|place| types.get(place).unwrap().name.clone())
                        .collect::<Vec<_>>()
                })
        };
        assert_eq!(held("A").unwrap(), ["A", "B", "C"]);
        assert_eq!(held("E").unwrap_err().to_string(), "D.rule: fn(Vec<&f64>) -> f64");
        assert_eq!(held("L").unwrap(), ["L"]);
        assert_eq!(held("a::F<u8>").unwrap(), ["F"]);
        assert_eq!(held("H").unwrap(), ["H"]);
        assert_eq!(held("I").unwrap_err().to_string(), "I.rule: dyn Fn(f64) -> f64");
        assert_eq!(held("K").unwrap_err().to_string(), "J.name: &'a str");
        let with_text = |types: &Types| types.held_with_text_by(types.named("K").unwrap(), &BTreeMap::new());
        assert_eq!(with_text(&types).unwrap().len(), 2);
        let alone = |name: &str| types.held_with_text_by(types.named(name).unwrap(), &BTreeMap::new());
        assert!(alone("M").is_ok());
        assert_eq!(alone("N").unwrap_err().to_string(), "N.rest: &'a [f64]");
        let asking = format!("{text} fn at(name: &str) -> usize {{ name.as_ptr() as usize }}");
        assert!(with_text(&Types::of(Library::builtin(), &Program::of_text(&asking))).is_err());
    }
}
