//! Methods that may put another value in the place of the one that they are called on, whatever its type: `clone_from`, and those that a
//! trait of the program has for all types or for those of libraries. What a method does to a struct of the program is seen where that
//! is declared.

use crate::source::Program;
use ckpt_compiler::library::{Library, Methods, last_name};
use ckpt_compiler::visit::{self, Visit};
use std::collections::BTreeSet;
use syn::Expr;

#[derive(Debug, Default)]
pub(crate) struct Replacing {
    names: BTreeSet<String>,
}

impl Replacing {
    pub(crate) fn of(library: &Library, program: &Program) -> Self {
        let mut found = Declared {
            structs: BTreeSet::new(),
            methods: Vec::new(),
        };
        program.files.iter().for_each(|file| found.visit_file(&file.ast));
        let Declared { structs, mut methods } = found;
        methods.retain(|one| !one.of.as_ref().is_some_and(|of| structs.contains(of)));
        let mut all = Self::default();
        // One may call another.
        loop {
            let before = all.names.len();
            let more = methods.iter().filter(|one| all.gives_away(library, one.block));
            let more: Vec<String> = more.map(|one| one.name.clone()).collect();
            all.names.extend(more);
            if all.names.len() == before {
                return all;
            }
        }
    }

    pub(crate) fn has(&self, library: &Library, method: &str) -> bool {
        library.says(method, Methods::Assigns) || self.names.contains(method)
    }

    /// Whether the body of a method has `self` as a whole changed, or passes it to something that may.
    fn gives_away(&self, library: &Library, block: &syn::Block) -> bool {
        struct Looks<'n>(&'n Replacing, &'n Library, bool);
        impl<'ast> Visit<'ast> for Looks<'_> {
            fn visit_expr(&mut self, expr: &'ast Expr) {
                match expr {
                    Expr::Field(one) if is_self(&one.base) => {}
                    Expr::MethodCall(call) => {
                        match is_self(&call.receiver) {
                            true => self.2 |= self.0.has(self.1, &call.method.to_string()),
                            false => self.visit_expr(&call.receiver),
                        }
                        call.args.iter().for_each(|one| self.visit_expr(one));
                    }
                    other => visit::visit_expr(self, other),
                }
            }
            fn visit_expr_path(&mut self, path: &'ast syn::ExprPath) {
                self.2 |= path.path.is_ident("self");
            }
        }
        let mut looks = Looks(self, library, false);
        looks.visit_block(block);
        looks.2
    }
}

fn is_self(expr: &Expr) -> bool {
    matches!(expr, Expr::Path(path) if path.path.is_ident("self"))
}

/// A method that takes `&mut self`, and the name of the type that it is for, where it is for one.
struct Method<'p> {
    name: String,
    of: Option<String>,
    block: &'p syn::Block,
}

struct Declared<'p> {
    structs: BTreeSet<String>,
    methods: Vec<Method<'p>>,
}

impl<'p> Declared<'p> {
    fn add(&mut self, signature: &syn::Signature, of: Option<String>, block: &'p syn::Block) {
        let is_exclusive = |one: &syn::Receiver| match &*one.ty {
            syn::Type::Reference(reference) => reference.mutability.is_some(),
            _ => false,
        };
        if signature.receiver().is_some_and(is_exclusive) {
            let name = signature.ident.to_string();
            self.methods.push(Method { name, of, block });
        }
    }
}

impl<'p> Visit<'p> for Declared<'p> {
    fn visit_item_struct(&mut self, item: &'p syn::ItemStruct) {
        self.structs.insert(item.ident.to_string());
        visit::visit_item_struct(self, item);
    }

    fn visit_item_impl(&mut self, item: &'p syn::ItemImpl) {
        let of = match &*item.self_ty {
            syn::Type::Path(path) => Some(last_name(&path.path)),
            _ => None,
        };
        for one in &item.items {
            if let syn::ImplItem::Fn(function) = one {
                self.add(&function.sig, of.clone(), &function.block);
            }
        }
        visit::visit_item_impl(self, item);
    }

    fn visit_trait_item_fn(&mut self, function: &'p syn::TraitItemFn) {
        if let Some(block) = &function.default {
            self.add(&function.sig, None, block);
        }
        visit::visit_trait_item_fn(self, function);
    }
}
