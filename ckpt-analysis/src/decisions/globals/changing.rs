//! Which types change behind a shared reference: those of the standard library by the tables, and those of the program that have
//! such a field or are another name of one. A struct of the program is saved and put back field by field.

use crate::items::{Field, Items, TypeId, TypeItem, TypeKind, may_change};
use crate::source::Program;
use crate::source::edits::Edit;
use ckpt_compiler::library::Library;
use ckpt_compiler::syntax::mentions::names_in;
use proc_macro2::TokenStream;
use quote::ToTokens;
use std::collections::{BTreeSet, HashSet};
use syn::visit::Visit;
use syn::{ItemType, Type, UseRename};

/// The types of a program that change behind a shared reference.
#[derive(Debug)]
pub struct Changing<'p> {
    library: &'p Library,
    items: &'p Items,
    /// Names of the program for such types. Two of one name count as one.
    names: HashSet<String>,
}

/// What stands for another type: `type Counter = AtomicU64;`, `use std::sync::Mutex as Lock;`.
#[derive(Default)]
struct OtherNames(Vec<(String, HashSet<String>)>);

impl<'ast> Visit<'ast> for OtherNames {
    fn visit_item_type(&mut self, item: &'ast ItemType) {
        let names = names_in(&item.ty.to_token_stream());
        self.0.push((item.ident.to_string(), names));
    }

    fn visit_use_rename(&mut self, one: &'ast UseRename) {
        let names = [one.ident.to_string()].into();
        self.0.push((one.rename.to_string(), names));
    }
}

impl<'p> Changing<'p> {
    pub fn of(library: &'p Library, program: &Program, items: &'p Items) -> Changing<'p> {
        let mut other = OtherNames::default();
        program.files.iter().for_each(|file| other.visit_file(&file.ast));
        let mut made_of = other.0;
        made_of.extend(items.types.iter().map(|item| {
            let fields = item.fields.iter();
            let names = fields.flat_map(|field| names_in(&field.ty.to_token_stream()));
            (item.name.clone(), names.collect())
        }));
        let mut changing = Changing {
            library,
            items,
            names: HashSet::new(),
        };
        loop {
            let more: Vec<String> = made_of
                .iter()
                .filter(|(name, _)| !changing.names.contains(name))
                .filter(|(_, of)| of.iter().any(|one| changing.is_name_of_one(one)))
                .map(|(name, _)| name.clone())
                .collect();
            if more.is_empty() {
                return changing;
            }
            changing.names.extend(more);
        }
    }

    fn is_name_of_one(&self, name: &str) -> bool {
        self.library.changes_behind_references(name, true) || self.names.contains(name)
    }

    /// Whether a value of the type may change behind a shared reference.
    pub fn says(&self, ty: &Type) -> bool {
        may_change(self.library, ty)
            || names_in(&ty.to_token_stream())
                .iter()
                .any(|name| self.names.contains(name))
    }

    /// Whether such a type is named among these.
    pub fn names_one(&self, tokens: &TokenStream) -> bool {
        names_in(tokens).iter().any(|name| self.is_name_of_one(name))
    }

    /// The structs of the program in a type, and those in their fields, as far as they change.
    pub fn structs_in(&self, ty: &Type, found: &mut BTreeSet<TypeId>) {
        let names = names_in(&ty.to_token_stream());
        let named = self.items.types.iter().filter(|item| {
            item.kind == TypeKind::Struct && self.names.contains(&item.name) && names.contains(&item.name)
        });
        for item in named {
            if found.insert(item.id) {
                item.fields
                    .iter()
                    .for_each(|field| self.structs_in(&field.ty, found));
            }
        }
    }

    /// What lets a struct be saved and put back in place, behind the struct.
    pub fn impl_of(&self, id: TypeId) -> Option<Edit> {
        let item = self.items.types.iter().find(|item| item.id == id)?;
        let changing = |field: &&Field| self.says(&field.ty);
        let names: Vec<String> = item
            .fields
            .iter()
            .filter(changing)
            .map(|field| field.name.clone())
            .collect();
        let (file, end) = (item.place.file, item.place.bytes.end);
        Some(Edit::insert(file, end, text_of_impl(item, &names)))
    }
}

/// Each field that changes, under its name.
fn text_of_impl(item: &TypeItem, names: &[String]) -> String {
    let mut generics = item.generics.clone();
    let bound: syn::TypeParamBound = syn::parse_quote!(ckpt::Global);
    generics.type_params_mut().for_each(|one| {
        one.bounds.push(bound.clone());
        one.default = None;
    });
    let (parameters, arguments, conditions) = generics.split_for_impl();
    let head = format!(
        "impl {} ckpt::Global for {} {} {}",
        parameters.to_token_stream(),
        item.name,
        arguments.to_token_stream(),
        conditions.to_token_stream()
    );
    let list: String = names
        .iter()
        .map(|name| format!("::std::borrow::Cow::Borrowed(\"{name}\"), "))
        .collect();
    let saves: String = names
        .iter()
        .enumerate()
        .map(|(number, name)| {
            format!("        ckpt::Global::save(&self.{name}, &mut to.field(NAMES, {number}));\n")
        })
        .collect();
    let restores: String = names
        .iter()
        .map(|name| {
            format!(
                "        from.field_with(&[\"{name}\"], |from| ckpt::Global::restore(&self.{name}, from), ::std::option::Option::None)?;\n"
            )
        })
        .collect();
    format!(
        "\n\n{head} {{\n    fn save(&self, to: &mut ckpt::value::Encoder<'_>) {{\n        const NAMES: &[::std::borrow::Cow<'static, str>] = &[{list}];\n{saves}    }}\n    \
         fn restore(&self, from: &mut ckpt::value::Decoder<'_>) -> ::std::result::Result<(), ckpt::LoadError> {{\n{restores}        ::std::result::Result::Ok(())\n    }}\n}}"
    )
}
