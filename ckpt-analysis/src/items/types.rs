//! Types, traits and `impl` blocks: what has members.

use super::collect::{Collector, Owner};
use super::syntax::{as_function, bound_path, derives, first_of_trait, type_name};
use super::{Def, Field, FnKind, ImplItem, ScopeId, TraitId, TraitItem, TypeId, TypeItem, TypeKind};
use ckpt_compiler::library::last_name;
use proc_macro2::Span;
use std::collections::HashMap;
use syn::spanned::Spanned;
use syn::{Attribute, Visibility};

/// The common parts of a type's declaration.
struct Declared<'a> {
    kind: TypeKind,
    attributes: &'a [Attribute],
    vis: &'a Visibility,
    keyword: Span,
    ident: &'a syn::Ident,
    generics: &'a syn::Generics,
    whole: Span,
}

impl Collector<'_> {
    pub(super) fn structure(&mut self, scope: ScopeId, one: &syn::ItemStruct) {
        let fields = self.fields(None, &one.fields);
        let declared = Declared {
            kind: TypeKind::Struct,
            attributes: &one.attrs,
            vis: &one.vis,
            keyword: one.struct_token.span,
            ident: &one.ident,
            generics: &one.generics,
            whole: one.span(),
        };
        self.type_item(scope, declared, fields, Vec::new());
    }

    pub(super) fn enumeration(&mut self, scope: ScopeId, one: &syn::ItemEnum) {
        let fields = one
            .variants
            .iter()
            .flat_map(|variant| self.fields(Some(variant.ident.to_string()), &variant.fields))
            .collect();
        let variants = one.variants.iter().map(|one| one.ident.to_string()).collect();
        let declared = Declared {
            kind: TypeKind::Enum,
            attributes: &one.attrs,
            vis: &one.vis,
            keyword: one.enum_token.span,
            ident: &one.ident,
            generics: &one.generics,
            whole: one.span(),
        };
        self.type_item(scope, declared, fields, variants);
    }

    pub(super) fn union(&mut self, scope: ScopeId, one: &syn::ItemUnion) {
        let fields = self.fields(None, &syn::Fields::Named(one.fields.clone()));
        let declared = Declared {
            kind: TypeKind::Union,
            attributes: &one.attrs,
            vis: &one.vis,
            keyword: one.union_token.span,
            ident: &one.ident,
            generics: &one.generics,
            whole: one.span(),
        };
        self.type_item(scope, declared, fields, Vec::new());
    }

    fn fields(&self, variant: Option<String>, fields: &syn::Fields) -> Vec<Field> {
        let place = |(index, field): (usize, &syn::Field)| {
            let start = match &field.vis {
                Visibility::Inherited => field
                    .ident
                    .as_ref()
                    .map_or_else(|| field.ty.span(), |ident| ident.span()),
                vis => vis.span(),
            };
            Field {
                variant: variant.clone(),
                name: field
                    .ident
                    .as_ref()
                    .map_or_else(|| index.to_string(), ToString::to_string),
                ty: field.ty.clone(),
                attributes: field.attrs.clone(),
                insert_at: self.range(start).start,
            }
        };
        fields.iter().enumerate().map(place).collect()
    }

    fn type_item(
        &mut self,
        scope: ScopeId,
        declared: Declared<'_>,
        fields: Vec<Field>,
        variants: Vec<String>,
    ) {
        let Declared {
            attributes, ident, ..
        } = declared;
        let start = match declared.vis {
            Visibility::Inherited => declared.keyword,
            vis => vis.span(),
        };
        let place = self.place(start, declared.whole);
        let id = TypeId(self.items.types.len());
        let name = ident.to_string();
        self.items.types.push(TypeItem {
            id,
            display: self.items.display(scope, &name),
            name: name.clone(),
            kind: declared.kind,
            scope,
            generics: declared.generics.clone(),
            derives: derives(attributes),
            fields,
            variants,
            insert_at: place.bytes.start,
            place,
            vis: declared.vis.clone(),
        });
        self.items.declare(scope, &name, Def::Type(id));
    }

    pub(super) fn trait_item(&mut self, scope: ScopeId, one: &syn::ItemTrait) {
        let id = TraitId(self.items.traits.len());
        let name = one.ident.to_string();
        let supertraits = one.supertraits.iter().filter_map(bound_path).collect();
        let place = self.place(first_of_trait(one), one.brace_token.span.close());
        let mut declaration = one.clone();
        for item in &mut declaration.items {
            if let syn::TraitItem::Fn(method) = item {
                method.default = None;
            }
        }
        self.items.traits.push(TraitItem {
            id,
            name: name.clone(),
            scope,
            supertraits,
            methods: HashMap::new(),
            defaults: Vec::new(),
            declaration,
            place,
        });
        self.items.declare(scope, &name, Def::Trait(id));
        let owner = Owner {
            of_trait: Some(id),
            trait_name: Some(name.clone()),
            ..Owner::default()
        };
        for item in &one.items {
            match item {
                syn::TraitItem::Fn(method) => {
                    let key = method.sig.ident.to_string();
                    self.items.traits[id.0].methods.insert(key, method.sig.clone());
                    if let Some(body) = &method.default {
                        let item = as_function(&method.attrs, &Visibility::Inherited, &method.sig, body);
                        let function = self.function(scope, FnKind::TraitDefault, item, &owner);
                        self.items.traits[id.0].defaults.push(function);
                    }
                }
                syn::TraitItem::Const(one) => {
                    let value = one.default.as_ref().map(|(_, value)| value);
                    self.constant(scope, Some(&name), &one.ident.to_string(), &one.ty, value);
                }
                _ => {}
            }
        }
    }

    pub(super) fn impl_item(&mut self, scope: ScopeId, one: &syn::ItemImpl) {
        let index = self.items.impls.len();
        let of_trait = one.trait_.as_ref().map(|(_, path, _)| path.clone());
        let owner = Owner {
            of_impl: Some(index),
            of_trait: None,
            self_type: Some(type_name(&one.self_ty)),
            trait_name: of_trait.as_ref().map(last_name),
        };
        let kind = if of_trait.is_some() {
            FnKind::TraitImpl
        } else {
            FnKind::Inherent
        };
        self.items.impls.push(ImplItem {
            scope,
            file: self.file,
            of_trait,
            self_type: (*one.self_ty).clone(),
            generics: one.generics.clone(),
            functions: Vec::new(),
            types: HashMap::new(),
        });
        for item in &one.items {
            match item {
                syn::ImplItem::Fn(method) => {
                    let item = as_function(&method.attrs, &method.vis, &method.sig, &method.block);
                    let id = self.function(scope, kind, item, &owner);
                    self.items.impls[index].functions.push(id);
                }
                syn::ImplItem::Const(one) => {
                    let of = owner.self_type.clone();
                    let name = one.ident.to_string();
                    self.constant(scope, of.as_deref(), &name, &one.ty, Some(&one.expr));
                }
                syn::ImplItem::Type(one) => {
                    let name = one.ident.to_string();
                    self.items.impls[index].types.insert(name, one.ty.clone());
                }
                _ => {}
            }
        }
    }
}
