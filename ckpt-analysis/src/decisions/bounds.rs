//! Where a bound goes: type parameters and associated types, by the names that rustc calls them.

use crate::items::Items;
use crate::source::locate::bytes;
use crate::source::{FileId, Position, Program};
use ckpt_compiler::visit::{self, Visit};
use quote::ToTokens;
use syn::spanned::Spanned;

/// The place of an associated type of a trait of the program, by its name in a message of rustc: `<M as Model>::State`.
pub fn associated_type(program: &Program, items: &Items, name: &str) -> Option<Position> {
    let (of_trait, name) = name.strip_prefix('<')?.split_once(" as ")?.1.split_once(">::")?;
    let of_trait = of_trait.rsplit("::").next()?;
    let of_trait = of_trait.split('<').next()?;
    let mut named = items.traits.iter().filter(|one| one.name == of_trait);
    let (Some(only), None) = (named.next(), named.next()) else {
        return None;
    };
    only.declaration.items.iter().find_map(|item| match item {
        syn::TraitItem::Type(ty) if ty.ident == name => {
            let file = only.place.file;
            Some((file, bytes(program, file, ty.ident.span()).start))
        }
        _ => None,
    })
}

/// The places of the parameters `impl Trait` of functions around the byte, by what rustc calls their types, which is what
/// is written.
pub fn anonymous_parameters(program: &Program, file: FileId, offset: usize, name: &str) -> Vec<Position> {
    struct Written<'p> {
        program: &'p Program,
        file: FileId,
        offset: usize,
        wanted: String,
        found: Vec<Position>,
    }
    impl Written<'_> {
        fn look(&mut self, item: &impl Spanned, signature: &syn::Signature) {
            if bytes(self.program, self.file, item.span()).contains(&self.offset) {
                for input in &signature.inputs {
                    visit::visit_fn_arg(self, input);
                }
            }
        }
    }
    impl<'ast> Visit<'ast> for Written<'_> {
        fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
            self.look(item, &item.sig);
            visit::visit_block(self, &item.block);
        }
        fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
            self.look(item, &item.sig);
            visit::visit_block(self, &item.block);
        }
        fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
            self.look(item, &item.sig);
            visit::visit_trait_item_fn(self, item);
        }
        fn visit_type(&mut self, ty: &'ast syn::Type) {
            if matches!(ty, syn::Type::ImplTrait(_)) && ty.to_token_stream().to_string() == self.wanted {
                let start = bytes(self.program, self.file, ty.span()).start;
                self.found.push((self.file, start));
            }
            visit::visit_type(self, ty);
        }
    }
    let Ok(wanted) = syn::parse_str::<syn::TypeImplTrait>(name) else {
        return Vec::new();
    };
    let mut finder = Written {
        program,
        file,
        offset,
        wanted: wanted.to_token_stream().to_string(),
        found: Vec::new(),
    };
    finder.visit_file(&program.file(file).ast);
    finder.found
}

/// The place of the type parameter of this name that is in force at the byte: of the innermost function, `impl` or
/// trait around it that has one.
pub fn type_parameter(program: &Program, file: FileId, offset: usize, name: &str) -> Option<Position> {
    struct Parameters<'p> {
        program: &'p Program,
        file: FileId,
        offset: usize,
        name: &'p str,
        found: Option<Position>,
    }
    impl Parameters<'_> {
        fn look(&mut self, item: &impl Spanned, generics: &syn::Generics) {
            if !bytes(self.program, self.file, item.span()).contains(&self.offset) {
                return;
            }
            for parameter in generics.type_params() {
                if parameter.ident == self.name {
                    let start = bytes(self.program, self.file, parameter.span()).start;
                    self.found = Some((self.file, start));
                }
            }
        }
    }
    impl<'ast> Visit<'ast> for Parameters<'_> {
        fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
            self.look(item, &item.sig.generics);
            visit::visit_item_fn(self, item);
        }
        fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
            self.look(item, &item.generics);
            visit::visit_item_impl(self, item);
        }
        fn visit_item_trait(&mut self, item: &'ast syn::ItemTrait) {
            self.look(item, &item.generics);
            visit::visit_item_trait(self, item);
        }
        fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
            self.look(item, &item.sig.generics);
            visit::visit_impl_item_fn(self, item);
        }
        fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
            self.look(item, &item.sig.generics);
            visit::visit_trait_item_fn(self, item);
        }
    }
    let mut finder = Parameters {
        program,
        file,
        offset,
        name,
        found: None,
    };
    finder.visit_file(&program.file(file).ast);
    finder.found
}
