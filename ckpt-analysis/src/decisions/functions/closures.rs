//! Closures that become pointers to functions, where the source says the type: in a `let`, a field, an argument, a result, a
//! constant. Nothing outside can name a closure, so it becomes a constant of its module, `const CKPT_FUNCTION_..: fn(f64) -> f64
//! = |x| -x;`, and stands at its place by that name. Its name tells its text: a checkpoint of another text finds none.

use super::{in_macro, last_of};
use crate::Analysis;
use crate::items::resolve::{Namespace, Resolved, Resolver, segments};
use crate::items::{Def, Function, ScopeId};
use crate::source::edits::Edit;
use crate::source::locate::bytes;
use crate::source::{FileId, Program};
use ckpt_compiler::library::{Library, Prelude};
use ckpt_compiler::syntax::language::is_primitive_type;
use ckpt_compiler::syntax::mentions::names_in;
use ckpt_compiler::visit::{self, Visit};
use quote::ToTokens;
use std::collections::{BTreeMap, BTreeSet};
use syn::spanned::Spanned;
use syn::{Expr, GenericArgument, PathArguments, Type};

/// A closure that gets a name.
pub(super) struct NamedClosure {
    /// Where it stands.
    pub scope: ScopeId,
    /// Its constant.
    pub name: String,
    /// The declaration of that.
    pub item: String,
    /// It, in the closure's place.
    pub edit: Edit,
}

/// All of them.
pub(super) fn of(program: &Program, analysis: &Analysis, resolver: &Resolver<'_>) -> Vec<NamedClosure> {
    let items = &analysis.items;
    let mut found = Vec::new();
    let mut taken = BTreeSet::new();
    for function in &items.functions {
        let mut finder = Finder::new(
            program,
            resolver,
            function.scope,
            function.place.file,
            Some(function),
        );
        finder.visit_block(&function.written.block);
        if let syn::ReturnType::Type(_, ty) = &function.written.sig.output {
            finder.tail(&function.written.block, &(*ty.clone(), function.scope));
        }
        found.extend(finder.named(&mut taken));
    }
    let globals = { items.globals.iter() }.map(|one| (one.scope, one.place.file, &one.ty, &one.value));
    let constants = { items.consts.iter() }.map(|one| (one.scope, one.file, &one.ty, &one.value));
    for (scope, file, ty, value) in globals.chain(constants) {
        let mut finder = Finder::new(program, resolver, scope, file, None);
        if let Some(value) = value {
            finder.visit_expr(value);
            finder.expected(value, &(ty.clone(), scope));
        }
        found.extend(finder.named(&mut taken));
    }
    found
}

/// A type, and the scope in which it is written.
type Expected = (Type, ScopeId);

struct Finder<'a> {
    program: &'a Program,
    resolver: &'a Resolver<'a>,
    library: &'a Library,
    scope: ScopeId,
    file: FileId,
    around: Option<&'a Function>,
    /// The types of variables, where they are written.
    variables: BTreeMap<String, Type>,
    /// What the body declares besides variables.
    inner: BTreeSet<String>,
    found: Vec<(syn::ExprClosure, syn::TypeBareFn, ScopeId)>,
}

impl<'a> Finder<'a> {
    fn new(
        program: &'a Program,
        resolver: &'a Resolver<'a>,
        scope: ScopeId,
        file: FileId,
        around: Option<&'a Function>,
    ) -> Self {
        let inputs = around
            .into_iter()
            .flat_map(|function| &function.written.sig.inputs);
        let variables = inputs.filter_map(|input| match input {
            syn::FnArg::Typed(typed) => Some((name_of(&typed.pat)?, (*typed.ty).clone())),
            syn::FnArg::Receiver(_) => None,
        });
        Self {
            program,
            resolver,
            library: resolver.library,
            scope,
            file,
            around,
            variables: variables.collect(),
            inner: BTreeSet::new(),
            found: Vec::new(),
        }
    }

    /// What they are called, and what stands in their place.
    fn named(self, taken: &mut BTreeSet<(ScopeId, String)>) -> Vec<NamedClosure> {
        let items = self.resolver.items;
        let module = items.module_of(self.scope);
        let mut named: Vec<NamedClosure> = Vec::new();
        for (closure, pointer, scope) in &self.found {
            let range = bytes(self.program, self.file, closure.span());
            let text = self.program.file(self.file).text.get(range.clone());
            let Some(text) = text.filter(|text| text.starts_with(['|', 'm'])) else {
                continue;
            };
            let is_known = named
                .iter()
                .any(|one| one.edit.start <= range.start && range.end <= one.edit.end);
            if is_known || self.leans_on_its_place(closure) || !self.means_the_same(pointer, *scope, module) {
                continue;
            }
            let stem = format!(
                "CKPT_FUNCTION_{:08X}",
                hash(&closure.to_token_stream().to_string())
            );
            let mut name = stem.clone();
            let mut number = 1;
            while !taken.insert((module, name.clone())) {
                number += 1;
                name = format!("{stem}_{number}");
            }
            named.push(NamedClosure {
                scope: self.scope,
                item: format!("const {name}: {} = {text};", pointer.to_token_stream()),
                edit: Edit {
                    file: self.file,
                    start: range.start,
                    end: range.end,
                    text: name.clone(),
                },
                name,
            });
        }
        named
    }

    /// Whether the closure mentions what only its function, or the `impl` around that, can name.
    fn leans_on_its_place(&self, closure: &syn::ExprClosure) -> bool {
        let mentioned = names_in(&closure.to_token_stream());
        let generics = self.around.into_iter().flat_map(|function| {
            let of_impl = function
                .of_impl
                .map(|index| &self.resolver.items.impls[index].generics);
            [Some(&function.written.sig.generics), of_impl]
                .into_iter()
                .flatten()
        });
        let mut parameters = generics
            .flat_map(|generics| &generics.params)
            .map(|one| match one {
                syn::GenericParam::Type(one) => one.ident.to_string(),
                syn::GenericParam::Const(one) => one.ident.to_string(),
                syn::GenericParam::Lifetime(one) => one.lifetime.ident.to_string(),
            });
        mentioned.contains("Self")
            || self.inner.iter().any(|name| mentioned.contains(name))
            || parameters.any(|name| mentioned.contains(&name))
    }

    /// Whether the type reads the same in the module of the closure.
    fn means_the_same(&self, pointer: &syn::TypeBareFn, scope: ScopeId, module: ScopeId) -> bool {
        struct Paths(Vec<Vec<String>>);
        impl<'ast> Visit<'ast> for Paths {
            fn visit_path(&mut self, path: &'ast syn::Path) {
                self.0.push(segments(path));
                visit::visit_path(self, path);
            }
        }
        let mut paths = Paths(Vec::new());
        paths.visit_type_bare_fn(pointer);
        let items = self.resolver.items;
        let is_same_place = items.module_of(scope) == module && !items.scope(scope).is_block;
        paths.0.iter().all(|path| {
            let here = self.resolver.path(module, path, Namespace::Types);
            let is_parameter = path.len() == 1 && path[0].len() == 1;
            match here {
                _ if path[0] == "Self" || is_parameter => false,
                Resolved::Outside => is_same_place || path.len() == 1 && self.is_known_everywhere(&path[0]),
                here => here == self.resolver.path(scope, path, Namespace::Types),
            }
        })
    }

    fn is_known_everywhere(&self, name: &str) -> bool {
        is_primitive_type(name) || self.library.says(name, Prelude::Names)
    }

    /// An expression whose type is said.
    fn expected(&mut self, expr: &Expr, ty: &Expected) {
        let ty = self.without_alias(ty.clone());
        match (expr, &ty.0) {
            (Expr::Closure(closure), Type::BareFn(pointer))
                if closure.inputs.len() == pointer.inputs.len() && closure.asyncness.is_none() =>
            {
                self.found.push((closure.clone(), pointer.clone(), ty.1));
            }
            (Expr::Paren(one), _) => self.expected(&one.expr, &ty),
            (Expr::Group(one), _) => self.expected(&one.expr, &ty),
            (Expr::Block(one), _) => self.tail(&one.block, &ty),
            (Expr::If(one), _) => {
                self.tail(&one.then_branch, &ty);
                if let Some((_, other)) = &one.else_branch {
                    self.expected(other, &ty);
                }
            }
            (Expr::Match(one), _) => one.arms.iter().for_each(|arm| self.expected(&arm.body, &ty)),
            (Expr::Reference(one), Type::Reference(of)) => {
                self.expected(&one.expr, &(*of.elem.clone(), ty.1));
            }
            (Expr::Tuple(one), Type::Tuple(of)) => {
                for (part, of) in one.elems.iter().zip(&of.elems) {
                    self.expected(part, &(of.clone(), ty.1));
                }
            }
            (Expr::Array(one), of) => {
                if let Some(element) = element_of(of) {
                    one.elems
                        .iter()
                        .for_each(|part| self.expected(part, &(element.clone(), ty.1)));
                }
            }
            (Expr::Macro(one), of) => {
                if let Some(element) = element_of(of) {
                    let parts = in_macro(self.library, &one.mac);
                    parts
                        .iter()
                        .for_each(|part| self.expected(part, &(element.clone(), ty.1)));
                }
            }
            (Expr::Call(call), of) => {
                // `Some(..)`, `Box::new(..)`, `HashMap::from([..])`: what is in it is what its type has in it.
                let arguments = arguments_of(of);
                for part in &call.args {
                    match (part, &arguments[..]) {
                        (Expr::Array(list), [_, _, ..]) => {
                            for entry in &list.elems {
                                self.tuple(entry, &arguments, ty.1);
                            }
                        }
                        (part, [first, ..]) => {
                            self.expected(part, &(first.clone(), ty.1));
                            if let Expr::Array(list) = part {
                                list.elems
                                    .iter()
                                    .for_each(|one| self.expected(one, &(first.clone(), ty.1)));
                            }
                        }
                        _ => {}
                    }
                }
            }
            // `[..].into_iter().collect()`
            (Expr::MethodCall(call), of) => {
                let arguments = arguments_of(of);
                let mut from = &*call.receiver;
                while let Expr::MethodCall(before) = from {
                    from = &before.receiver;
                }
                let parts: Vec<Expr> = match from {
                    Expr::Array(list) => list.elems.iter().cloned().collect(),
                    Expr::Macro(one) => in_macro(self.library, &one.mac),
                    _ => Vec::new(),
                };
                for part in &parts {
                    match &arguments[..] {
                        [_, _, ..] => self.tuple(part, &arguments, ty.1),
                        [one] => self.expected(part, &(one.clone(), ty.1)),
                        [] => {}
                    }
                }
            }
            _ => {}
        }
    }

    fn tuple(&mut self, entry: &Expr, parts: &[Type], scope: ScopeId) {
        if let Expr::Tuple(entry) = entry {
            for (part, of) in entry.elems.iter().zip(parts) {
                self.expected(part, &(of.clone(), scope));
            }
        }
    }

    fn tail(&mut self, block: &syn::Block, ty: &Expected) {
        if let Some(syn::Stmt::Expr(expr, None)) = block.stmts.last() {
            self.expected(expr, ty);
        }
    }

    fn without_alias(&self, (ty, scope): Expected) -> Expected {
        if let Type::Path(path) = &ty
            && let Resolved::Item(Def::Alias(id)) =
                self.resolver.path(scope, &segments(&path.path), Namespace::Types)
        {
            let alias = &self.resolver.items.aliases[id.0];
            if alias.generics.params.is_empty() {
                return self.without_alias((alias.ty.clone(), alias.scope));
            }
        }
        (ty, scope)
    }

    /// What a method is given: its parameters are those of the only function of the program that is called so, and what
    /// a list or table is given is what its type has in it.
    fn arguments_of_method(&mut self, call: &syn::ExprMethodCall) {
        let receiver = match &*call.receiver {
            Expr::Path(path) => path
                .path
                .get_ident()
                .and_then(|name| self.variables.get(&name.to_string())),
            _ => None,
        };
        if let Some(ty) = receiver.cloned() {
            let (ty, scope) = self.without_alias((behind(&ty).clone(), self.scope));
            let held = arguments_of(&ty);
            let given = call.args.len().min(held.len());
            for (part, of) in call.args.iter().rev().zip(held[..given].iter().rev()) {
                self.expected(part, &(of.clone(), scope));
            }
        }
        let items = self.resolver.items;
        let is_that = |one: &&Function| one.has_receiver() && call.method == one.name.as_str();
        let mut functions = items.functions.iter().filter(is_that);
        if let (Some(one), None) = (functions.next(), functions.next()) {
            self.arguments(one, call.args.iter(), 1);
        }
    }

    fn arguments<'e>(
        &mut self,
        function: &Function,
        arguments: impl Iterator<Item = &'e Expr>,
        first: usize,
    ) {
        let inputs = function.written.sig.inputs.iter().skip(first);
        for (part, input) in arguments.zip(inputs) {
            if let syn::FnArg::Typed(typed) = input {
                self.expected(part, &((*typed.ty).clone(), function.scope));
            }
        }
    }

    /// The type that a path names, `Self` too.
    fn type_named(&self, path: &syn::Path) -> Option<crate::items::TypeId> {
        let list = segments(path);
        let items = self.resolver.items;
        if list == ["Self"] {
            let of_impl = self.around?.of_impl?;
            let name = last_of(&items.impls[of_impl].self_type)?;
            return match self
                .resolver
                .path(items.impls[of_impl].scope, &[name], Namespace::Types)
            {
                Resolved::Item(Def::Type(id)) => Some(id),
                _ => None,
            };
        }
        match self.resolver.path(self.scope, &list, Namespace::Types) {
            Resolved::Item(Def::Type(id)) => Some(id),
            _ => None,
        }
    }
}

impl<'ast> Visit<'ast> for Finder<'_> {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        let name = match item {
            syn::Item::Fn(one) => &one.sig.ident,
            syn::Item::Const(one) => &one.ident,
            syn::Item::Static(one) => &one.ident,
            syn::Item::Struct(one) => &one.ident,
            syn::Item::Enum(one) => &one.ident,
            syn::Item::Use(one) => {
                self.inner.extend(names_in(&one.tree.to_token_stream()));
                return;
            }
            _ => return,
        };
        self.inner.insert(name.to_string());
    }

    fn visit_local(&mut self, local: &'ast syn::Local) {
        if let syn::Pat::Type(typed) = &local.pat {
            if let Some(name) = name_of(&typed.pat) {
                self.variables.insert(name, (*typed.ty).clone());
            }
            if let Some(init) = &local.init {
                self.expected(&init.expr, &((*typed.ty).clone(), self.scope));
            }
        }
        visit::visit_local(self, local);
    }

    fn visit_expr(&mut self, expr: &'ast Expr) {
        if let Expr::Cast(cast) = expr {
            self.expected(&cast.expr, &((*cast.ty).clone(), self.scope));
        }
        visit::visit_expr(self, expr);
    }

    fn visit_expr_struct(&mut self, one: &'ast syn::ExprStruct) {
        if let Some(id) = self.type_named(&one.path) {
            let item = &self.resolver.items.types[id.0];
            for field in &one.fields {
                let name = field.member.to_token_stream().to_string();
                if let Some(of) = item
                    .fields
                    .iter()
                    .find(|of| of.name == name && of.variant.is_none())
                {
                    self.expected(&field.expr, &(of.ty.clone(), item.scope));
                }
            }
        }
        visit::visit_expr_struct(self, one);
    }

    fn visit_expr_call(&mut self, call: &'ast syn::ExprCall) {
        if let Expr::Path(path) = &*call.func {
            let list = segments(&path.path);
            let items = self.resolver.items;
            match self.resolver.path(self.scope, &list, Namespace::Values) {
                Resolved::Item(Def::Function(id)) => self.arguments(items.function(id), call.args.iter(), 0),
                Resolved::Member(Def::Type(id), name) => {
                    let of = Some(items.types[id.0].name.clone());
                    let mut functions =
                        { items.functions.iter() }.filter(|one| one.self_type == of && one.name == name);
                    if let (Some(one), None) = (functions.next(), functions.next()) {
                        self.arguments(one, call.args.iter(), 0);
                    }
                }
                _ => {
                    if let Some(id) = self.type_named(&path.path) {
                        let item = &items.types[id.0];
                        for (part, of) in call.args.iter().zip(&item.fields) {
                            self.expected(part, &(of.ty.clone(), item.scope));
                        }
                    }
                }
            }
        }
        visit::visit_expr_call(self, call);
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        self.arguments_of_method(call);
        visit::visit_expr_method_call(self, call);
    }

    fn visit_expr_assign(&mut self, assign: &'ast syn::ExprAssign) {
        let place = match &*assign.left {
            Expr::Path(path) => path
                .path
                .get_ident()
                .and_then(|name| self.variables.get(&name.to_string())),
            _ => None,
        };
        if let Some(ty) = place.cloned() {
            self.expected(&assign.right, &(ty, self.scope));
        }
        visit::visit_expr_assign(self, assign);
    }

    fn visit_macro(&mut self, mac: &'ast syn::Macro) {
        for part in in_macro(self.library, mac) {
            // What is parsed anew lives no longer than this: a walk of its own.
            let mut inner = Finder {
                variables: self.variables.clone(),
                inner: self.inner.clone(),
                found: Vec::new(),
                ..*self
            };
            inner.visit_expr(&part);
            self.found.extend(inner.found);
        }
    }
}

fn name_of(pattern: &syn::Pat) -> Option<String> {
    match pattern {
        syn::Pat::Ident(one) => Some(one.ident.to_string()),
        _ => None,
    }
}

fn behind(ty: &Type) -> &Type {
    match ty {
        Type::Reference(one) => behind(&one.elem),
        other => other,
    }
}

/// The types in the angle brackets of a type.
fn arguments_of(ty: &Type) -> Vec<Type> {
    let Type::Path(path) = ty else {
        return Vec::new();
    };
    match path.path.segments.last().map(|last| &last.arguments) {
        Some(PathArguments::AngleBracketed(list)) => list
            .args
            .iter()
            .filter_map(|one| match one {
                GenericArgument::Type(ty) => Some(ty.clone()),
                _ => None,
            })
            .collect(),
        _ => Vec::new(),
    }
}

fn element_of(ty: &Type) -> Option<Type> {
    match ty {
        Type::Array(of) => Some((*of.elem).clone()),
        Type::Slice(of) => Some((*of.elem).clone()),
        Type::Path(_) => arguments_of(ty).into_iter().next(),
        _ => None,
    }
}

/// FNV-1a: the same in every build of ckpt.
fn hash(text: &str) -> u32 {
    text.bytes().fold(0x811c_9dc5, |hash, byte| {
        (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    })
}
