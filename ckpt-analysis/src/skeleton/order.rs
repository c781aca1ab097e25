//! Collections whose elements come in another order in every process: `HashMap` and `HashSet` hash with keys of their own.
//!
//! A value does not tell its type, so types are looked for where they are written: at variables, fields, parameters, results,
//! and in `::<..>`. Where a program has such collections and it is not written what something is collected into, it is
//! taken to be one.

use crate::items::{Def, Items};
use ckpt_compiler::library::{Iterators, Library, Methods, Types};
use ckpt_compiler::visit::Visit;
use ckpt_safepoints::skeleton::{Access, ElementOrder, MemoryOp, ValueOp, Var};
use quote::ToTokens;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use syn::{Expr, GenericArgument, Pat, PathArguments, Stmt, Type};

use super::Lowerer;

/// The types of a program that have such a collection in them.
#[derive(Debug, Default)]
pub(super) struct Orders {
    library: Library,
    /// Other names of hashed collections.
    hashed: HashSet<String>,
    /// Other types, or variants, with unnamed parts that are one, or have one in them.
    holding: HashSet<String>,
    /// What fields are of that have one in them.
    fields: HashMap<String, ElementOrder>,
    /// Whether such a collection, or one that sorts, is named anywhere.
    any_hashed: bool,
    any_sorted: bool,
}

impl Orders {
    /// Looked for in the whole program.
    pub(super) fn of(items: &Items, library: &Library) -> Rc<Self> {
        let mut orders = Self {
            library: library.clone(),
            ..Self::default()
        };
        while orders.spread(items) {}
        let mut names = HashedCollections {
            orders: &orders,
            hashed: false,
            sorted: false,
        };
        for function in &items.functions {
            names.visit_item_fn(&function.item);
        }
        for ty in items.types.iter().flat_map(|one| &one.fields) {
            names.visit_type(&ty.ty);
        }
        let used = items
            .scopes
            .iter()
            .flat_map(|scope| scope.uses.values())
            .flatten();
        used.flatten().for_each(|name| names.note(name));
        (orders.any_hashed, orders.any_sorted) = (names.hashed, names.sorted);
        Rc::new(orders)
    }

    /// Other names of them, and what has one in it; whether there are more than before.
    fn spread(&mut self, items: &Items) -> bool {
        let before = (self.hashed.len(), self.holding.len(), self.fields.len());
        for scope in &items.scopes {
            for (name, paths) in &scope.uses {
                let is_hashed = |path: &Vec<String>| path.last().is_some_and(|last| self.is_hashed(last));
                if paths.iter().any(is_hashed) {
                    self.hashed.insert(name.clone());
                }
            }
            for (name, defs) in &scope.names {
                for def in defs {
                    let Def::Alias(id) = def else { continue };
                    match self.shape(&items.aliases[id.0].ty) {
                        ElementOrder::Hashed => _ = self.hashed.insert(name.clone()),
                        ElementOrder::Lost | ElementOrder::Tuple(_) => _ = self.holding.insert(name.clone()),
                        ElementOrder::Kept | ElementOrder::Sorted => {}
                    }
                }
            }
        }
        for one in &items.types {
            for field in &one.fields {
                let shape = self.shape(&field.ty);
                if !shape.is_hashed() {
                    continue;
                }
                if field.name.starts_with(|first: char| first.is_ascii_digit()) {
                    self.holding.insert(one.name.clone());
                    self.holding.extend(field.variant.clone());
                } else if field.variant.is_some() {
                    self.holding.insert(one.name.clone());
                    self.fields.insert(field.name.clone(), ElementOrder::Lost);
                } else {
                    let known = self
                        .fields
                        .entry(field.name.clone())
                        .or_insert_with(|| shape.clone());
                    if *known != shape {
                        *known = ElementOrder::Lost;
                    }
                }
            }
        }
        before != (self.hashed.len(), self.holding.len(), self.fields.len())
    }

    fn is_hashed(&self, name: &str) -> bool {
        self.hashed.contains(name) || self.library.says(name, Types::Hashed)
    }

    /// What becomes of the order of elements in a value of this type.
    pub(super) fn shape(&self, ty: &Type) -> ElementOrder {
        match ty {
            Type::Reference(one) => self.shape(&one.elem),
            Type::Paren(one) => self.shape(&one.elem),
            Type::Group(one) => self.shape(&one.elem),
            Type::Tuple(one) => {
                let parts: Vec<ElementOrder> = one.elems.iter().map(|part| self.shape(part)).collect();
                match parts.iter().any(ElementOrder::is_hashed) {
                    true => ElementOrder::Tuple(parts),
                    false => ElementOrder::Kept,
                }
            }
            Type::Path(path) => self.shape_of_path(&path.path),
            Type::Slice(one) => self.shape_of_parts([&*one.elem].into_iter()),
            Type::Array(one) => self.shape_of_parts([&*one.elem].into_iter()),
            _ => ElementOrder::Kept,
        }
    }

    fn shape_of_path(&self, path: &syn::Path) -> ElementOrder {
        let Some(last) = path.segments.last() else {
            return ElementOrder::Kept;
        };
        let name = last.ident.to_string();
        if self.is_hashed(&name) {
            return ElementOrder::Hashed;
        }
        if self.holding.contains(&name) {
            return ElementOrder::Lost;
        }
        let is = |what| self.library.says(&name, what);
        if is(Types::Sorted) || is(Types::Texts) {
            return match self.shape_of_parts(parts_of(last)) {
                ElementOrder::Lost => ElementOrder::Lost,
                _ => ElementOrder::Sorted,
            };
        }
        if is(Types::Owners) || is(Types::Guards) || is(Types::Fallible) {
            return parts_of(last)
                .next()
                .map_or(ElementOrder::Kept, |first| self.shape(first));
        }
        self.shape_of_parts(parts_of(last))
    }

    fn shape_of_parts<'a>(&self, mut parts: impl Iterator<Item = &'a Type>) -> ElementOrder {
        match parts.any(|part| self.shape(part).is_hashed()) {
            true => ElementOrder::Lost,
            false => ElementOrder::Kept,
        }
    }

    /// What is collected into something that is not written.
    fn not_written(&self) -> ElementOrder {
        match (self.any_hashed, self.any_sorted) {
            (true, _) => ElementOrder::Lost,
            (false, true) => ElementOrder::Sorted,
            (false, false) => ElementOrder::Kept,
        }
    }
}

fn parts_of(segment: &syn::PathSegment) -> impl Iterator<Item = &Type> {
    let arguments = match &segment.arguments {
        PathArguments::AngleBracketed(list) => Some(list.args.iter()),
        _ => None,
    };
    arguments.into_iter().flatten().filter_map(|one| match one {
        GenericArgument::Type(ty) => Some(ty),
        _ => None,
    })
}

/// Whether the names of such collections stand anywhere.
struct HashedCollections<'a> {
    orders: &'a Orders,
    hashed: bool,
    sorted: bool,
}

impl HashedCollections<'_> {
    fn note(&mut self, name: &String) {
        self.hashed |= self.orders.is_hashed(name) || self.orders.holding.contains(name);
        // Texts are everywhere, and hardly ever collected from what decides about messages.
        self.sorted |= self.orders.library.says(name, Types::Sorted);
    }
}

impl<'ast> Visit<'ast> for HashedCollections<'_> {
    fn visit_ident(&mut self, ident: &'ast proc_macro2::Ident) {
        self.note(&ident.to_string());
    }

    fn visit_macro(&mut self, mac: &'ast syn::Macro) {
        let text = mac.tokens.to_token_stream().to_string();
        text.split(|c: char| !c.is_alphanumeric())
            .for_each(|word| self.note(&word.to_owned()));
    }
}

/// What the ends of a function's expressions are of, by the bytes of the last method's name.
pub(super) type Expected = HashMap<usize, ElementOrder>;

/// The types that are written around what is collected.
pub(super) struct Ends<'a> {
    orders: &'a Orders,
    found: Expected,
    gives: Option<ElementOrder>,
}

impl<'a> Ends<'a> {
    /// In a function.
    pub(super) fn of(orders: &'a Orders, item: &'a syn::ItemFn) -> Expected {
        let gives = match &item.sig.output {
            syn::ReturnType::Type(_, ty) => Some(orders.shape(ty)),
            syn::ReturnType::Default => None,
        };
        let mut ends = Self {
            orders,
            found: Expected::new(),
            gives,
        };
        if let Some(gives) = ends.gives.clone() {
            ends.block(&item.block, &gives);
        }
        ends.visit_block(&item.block);
        ends.found
    }

    fn block(&mut self, block: &syn::Block, shape: &ElementOrder) {
        if let Some(Stmt::Expr(expr, None)) = block.stmts.last() {
            self.end(expr, shape);
        }
    }

    /// An expression whose type is written.
    fn end(&mut self, expr: &Expr, shape: &ElementOrder) {
        match expr {
            Expr::MethodCall(call) => {
                let name = call.method.to_string();
                let at = call.method.span().byte_range().start;
                self.found.entry(at).or_insert_with(|| shape.clone());
                if self.orders.library.says(&name, Methods::Unpacks) {
                    self.end(&call.receiver, shape);
                }
            }
            Expr::Try(one) => self.end(&one.expr, shape),
            Expr::Paren(one) => self.end(&one.expr, shape),
            Expr::Group(one) => self.end(&one.expr, shape),
            Expr::Reference(one) => self.end(&one.expr, shape),
            Expr::Block(one) => self.block(&one.block, shape),
            Expr::Unsafe(one) => self.block(&one.block, shape),
            Expr::If(one) => {
                self.block(&one.then_branch, shape);
                if let Some((_, otherwise)) = &one.else_branch {
                    self.end(otherwise, shape);
                }
            }
            Expr::Match(one) => one.arms.iter().for_each(|arm| self.end(&arm.body, shape)),
            Expr::Tuple(one) => match shape {
                ElementOrder::Tuple(parts) if parts.len() == one.elems.len() => {
                    let pairs = one.elems.iter().zip(parts);
                    pairs.for_each(|(part, shape)| self.end(part, shape));
                }
                _ => one.elems.iter().for_each(|part| self.end(part, shape)),
            },
            // `Ok(..)`, `Some(..)`, `Box::new(..)`
            Expr::Call(call) if call.args.len() == 1 => self.end(&call.args[0], shape),
            _ => {}
        }
    }
}

impl<'ast> Visit<'ast> for Ends<'_> {
    fn visit_local(&mut self, local: &'ast syn::Local) {
        if let (Pat::Type(typed), Some(init)) = (&local.pat, &local.init) {
            let shape = self.orders.shape(&typed.ty);
            self.end(&init.expr, &shape);
        }
        ckpt_compiler::visit::visit_local(self, local);
    }

    fn visit_expr_return(&mut self, one: &'ast syn::ExprReturn) {
        if let (Some(expr), Some(gives)) = (&one.expr, self.gives.clone()) {
            self.end(expr, &gives);
        }
        ckpt_compiler::visit::visit_expr_return(self, one);
    }

    fn visit_expr_struct(&mut self, one: &'ast syn::ExprStruct) {
        for field in &one.fields {
            if let syn::Member::Named(name) = &field.member {
                let shape = self.orders.fields.get(&name.to_string());
                self.end(&field.expr, &shape.cloned().unwrap_or_default());
            }
        }
        ckpt_compiler::visit::visit_expr_struct(self, one);
    }

    fn visit_expr_assign(&mut self, one: &'ast syn::ExprAssign) {
        if let Expr::Field(field) = &*one.left
            && let syn::Member::Named(name) = &field.member
        {
            let shape = self.orders.fields.get(&name.to_string());
            self.end(&one.right, &shape.cloned().unwrap_or_default());
        }
        ckpt_compiler::visit::visit_expr_assign(self, one);
    }

    fn visit_expr_closure(&mut self, one: &'ast syn::ExprClosure) {
        // What a closure returns is not what the function around it does.
        let gives = match &one.output {
            syn::ReturnType::Type(_, ty) => Some(self.orders.shape(ty)),
            syn::ReturnType::Default => None,
        };
        let before = std::mem::replace(&mut self.gives, gives.clone());
        if let Some(gives) = gives {
            self.end(&one.body, &gives);
        }
        ckpt_compiler::visit::visit_expr_closure(self, one);
        self.gives = before;
    }

    fn visit_item(&mut self, _: &'ast syn::Item) {}
}

impl Lowerer<'_> {
    /// The value on top, or what is at the place on top, is of this shape.
    pub(super) fn reorder(&mut self, shape: ElementOrder) {
        if shape != ElementOrder::Kept {
            self.op(ValueOp::Reorder(Rc::new(shape)));
        }
    }

    /// The value on top is of a type that is written.
    pub(super) fn reorder_type(&mut self, ty: &Type) {
        let shape = self.orders.shape(ty);
        if shape.is_hashed() {
            self.reorder(shape);
        }
    }

    /// The value on top is that of a field.
    pub(super) fn reorder_field(&mut self, name: &str) {
        if let Some(shape) = self.orders.fields.get(name).cloned() {
            self.reorder(shape);
        }
    }

    /// Whether a type, or a variant, has a part without a name that is such a collection.
    pub(super) fn holds_hashed(&self, name: &str) -> bool {
        self.orders.holding.contains(name)
    }

    /// Whether a field is such a collection, or has one in it.
    pub(super) fn is_hashed_field(&self, name: &str) -> bool {
        self.orders.fields.contains_key(name)
    }

    /// What a method makes of its receiver: into what is told by its type.
    pub(super) fn reorder_collected(&mut self, call: &syn::ExprMethodCall) {
        if let Some(turbofish) = &call.turbofish {
            let types = turbofish.args.iter().filter_map(|one| match one {
                GenericArgument::Type(ty) => Some(self.orders.shape(ty)),
                _ => None,
            });
            let shapes: Vec<ElementOrder> = types.collect();
            let shape = match &shapes[..] {
                [only] => only.clone(),
                several if several.iter().any(ElementOrder::is_hashed) => ElementOrder::Lost,
                _ => ElementOrder::Kept,
            };
            return self.reorder(shape);
        }
        let name = call.method.to_string();
        if self.library().says(&name, Iterators::Gathers) {
            let at = call.method.span().byte_range().start;
            let shape = match self.expected.get(&at) {
                Some(shape) => shape.clone(),
                // Numbers and texts, most likely.
                None if self.library().says(&name, Iterators::OfAnything) => ElementOrder::Kept,
                None => self.orders.not_written(),
            };
            self.reorder(shape);
        }
    }

    /// What a function of another crate gives: one of a hashed collection's own, or with its type in `::<..>`.
    pub(super) fn reorder_given(&mut self, path: &syn::Path) {
        let mut shape = ElementOrder::Kept;
        for segment in &path.segments {
            let name = segment.ident.to_string();
            if self.orders.is_hashed(&name) {
                shape = ElementOrder::Hashed;
            } else if self.orders.holding.contains(&name) {
                shape = ElementOrder::Lost;
            }
            for part in parts_of(segment) {
                let of_part = self.orders.shape(part);
                if of_part.is_hashed() && shape == ElementOrder::Kept {
                    shape = of_part;
                }
            }
        }
        self.reorder(shape);
    }

    /// Parameters that are such collections.
    pub(super) fn reorder_parameters(&mut self) {
        for (index, input) in self.function.item.sig.inputs.iter().enumerate() {
            let syn::FnArg::Typed(typed) = input else { continue };
            if !self.orders.shape(&typed.ty).is_hashed() {
                continue;
            }
            let mut slots = Vec::new();
            self.context().code.parameters[index].slots(&mut slots);
            let shape = match slots.len() {
                1 => self.orders.shape(&typed.ty),
                _ => ElementOrder::Lost,
            };
            for slot in slots {
                self.op(MemoryOp::Address(
                    Var { up: 0, slot },
                    Vec::new(),
                    Access::Written,
                ));
                self.reorder(shape.clone());
                self.op(ValueOp::Pop);
            }
        }
    }
}
