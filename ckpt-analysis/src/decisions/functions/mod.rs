//! Pointers to functions are saved by name, so the program's functions get names at the start of `main`: those that the
//! source uses as values, and closures that become pointers where the source says so. As for [`super::globals`], each module
//! names its own, because it hides them from the others.
//!
//! What is named beyond what a variable ever holds does no harm. What is not named and yet held is refused when it is saved.

mod closures;
mod pointers;

pub use pointers::is_saved;

use crate::Analysis;
use crate::decisions::globals::{Lines, naming_edits};
use crate::items::resolve::Namespace;
use crate::items::resolve::{Resolved, Resolver, segments};
use crate::items::{Def, FnId, FnKind, Function, Items, ScopeId};
use crate::source::edits::Edit;
use crate::source::{Position, Program};
use ckpt_compiler::library::{Library, Numbers};
use ckpt_compiler::syntax::language::is_number_type;
use ckpt_compiler::syntax::macros::{arguments_of_macro, items_of_list, repeated_in_list};
use ckpt_compiler::syntax::mentions::names_in;
use ckpt_compiler::visit::{self, Visit};
use quote::ToTokens;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use syn::Expr;

/// The function that names those of a module.
pub(super) const NAMING: &str = "ckpt_functions";

/// The edits that name the functions of a program that begins in `main`. Modules for whose functions rustc has said no, by the
/// place where they would be named, are left out.
pub fn function_edits(
    program: &Program,
    analysis: &Analysis,
    main: FnId,
    left_out: &BTreeSet<Position>,
) -> Vec<Edit> {
    let pointers = pointers::Written::in_program(program, &analysis.graph);
    if pointers.is_empty() {
        return Vec::new();
    }
    let named = named(program, analysis, &pointers);
    let said = RefCell::new(Vec::new());
    let edits = naming_edits(program, &analysis.items, main, NAMING, &|krate, path, place| {
        let one = named.get(&(krate, path.to_vec()));
        let Some(one) = one.filter(|_| !left_out.contains(&place)) else {
            return Lines::default();
        };
        said.borrow_mut().extend(one.closures.iter().cloned());
        one.lines.clone()
    });
    match edits
        .iter()
        .any(|edit| left_out.contains(&(edit.file, edit.start)))
    {
        true => Vec::new(),
        false => said.into_inner().into_iter().chain(edits).collect(),
    }
}

/// Whether rustc's answer is about what names functions: the places where it stands in the program.
pub fn naming_places(program: &Program, analysis: &Analysis, main: FnId) -> BTreeSet<Position> {
    let edits = function_edits(program, analysis, main, &BTreeSet::new());
    edits.into_iter().map(|edit| (edit.file, edit.start)).collect()
}

/// What there is to name in a module.
#[derive(Default)]
struct Named {
    lines: Lines,
    /// Closures get a name of their own: these put it in their place.
    closures: Vec<Edit>,
}

/// By the crate, and the path of the module in it.
type ByModule = BTreeMap<(usize, Vec<String>), Named>;

fn named(program: &Program, analysis: &Analysis, pointers: &pointers::Written) -> ByModule {
    let (items, library) = (&analysis.items, &analysis.library);
    let resolver = Resolver::new(items, library);
    let mut named = ByModule::new();
    let visit = |scope: ScopeId, around: Option<&Function>, walk: &dyn Fn(&mut Values<'_>)| {
        let mut values = Values {
            resolver: &resolver,
            library,
            pointers,
            scope,
            around,
            found: Vec::new(),
        };
        walk(&mut values);
        values.found
    };
    for function in &items.functions {
        let found = visit(function.scope, Some(function), &|values| {
            values.visit_block(&function.written.block);
        });
        found.into_iter().for_each(|(path, pointer)| {
            add(
                items,
                &mut named,
                function.scope,
                line(&path, &format!("{path} as {pointer}")),
            );
        });
    }
    let constants = items.consts.iter().map(|one| (one.scope, &one.value));
    let globals = items.globals.iter().map(|one| (one.scope, &one.value));
    for (scope, value) in constants.chain(globals) {
        let found = value
            .iter()
            .flat_map(|value| visit(scope, None, &|values| values.visit_expr(value)));
        found.for_each(|(path, pointer)| {
            add(
                items,
                &mut named,
                scope,
                line(&path, &format!("{path} as {pointer}")),
            );
        });
    }
    for closure in closures::of(program, analysis, &resolver) {
        let of_module = add(
            items,
            &mut named,
            closure.scope,
            line(&closure.name, &closure.name),
        );
        of_module.lines.items.push(closure.item);
        of_module.closures.push(closure.edit);
    }
    named
}

/// A statement for the module around a scope.
fn add<'n>(items: &Items, named: &'n mut ByModule, scope: ScopeId, line: String) -> &'n mut Named {
    let module = items.scope(items.module_of(scope));
    let of_module = named.entry((module.krate, module.path.clone())).or_default();
    if !of_module.lines.statements.contains(&line) {
        of_module.lines.statements.push(line);
    }
    of_module
}

fn line(name: &str, value: &str) -> String {
    let name = name.replace(['"', '\\'], "");
    format!("ckpt::function(concat!(module_path!(), \"::{name}\"), {value});")
}

/// Functions that are values.
struct Values<'a> {
    resolver: &'a Resolver<'a>,
    library: &'a Library,
    pointers: &'a pointers::Written,
    scope: ScopeId,
    around: Option<&'a Function>,
    /// The path as it is to be written in the module, and the type of the pointer.
    found: Vec<(String, String)>,
}

impl Values<'_> {
    /// A path that is not called.
    fn value(&mut self, path: &syn::ExprPath) {
        let items = self.resolver.items;
        let module = items.module_of(self.scope);
        let written = names_in(&path.to_token_stream());
        let generics = self.around.into_iter().flat_map(|function| {
            let of_impl = function.of_impl.map(|index| &items.impls[index].generics);
            [Some(&function.written.sig.generics), of_impl]
                .into_iter()
                .flatten()
        });
        if { generics }.any(|generics| {
            generics
                .type_params()
                .any(|one| written.contains(&one.ident.to_string()))
        }) {
            return;
        }
        let list = segments(&path.path);
        let mut text = path.to_token_stream().to_string();
        for (spaced, close) in [
            (" :: ", "::"),
            (":: ", "::"),
            (" ::", "::"),
            ("< ", "<"),
            (" <", "<"),
            (" >", ">"),
        ] {
            text = text.replace(spaced, close);
        }
        let (owner, name) = match (&path.qself, &list[..]) {
            (Some(of), [.., name]) => (last_of(&of.ty), name.clone()),
            (None, [owner, name]) if owner == "Self" => {
                let own = self.around.and_then(|function| function.of_impl);
                let Some(of_impl) = own.map(|index| &items.impls[index]) else {
                    return;
                };
                if of_impl.generics.type_params().next().is_some() {
                    return;
                }
                let own = of_impl.self_type.to_token_stream();
                text = match &of_impl.self_type {
                    syn::Type::Path(_) if of_impl.generics.params.is_empty() => format!("{own}::{name}"),
                    _ => format!("<{own}>::{name}"),
                };
                (last_of(&of_impl.self_type), name.clone())
            }
            (None, _) => match self.resolver.path(module, &list, Namespace::Values) {
                Resolved::Item(Def::Function(id)) => {
                    let function = items.function(id);
                    if function.kind == FnKind::Free {
                        self.add(text, function, has_arguments(&path.path));
                    }
                    return;
                }
                Resolved::Member(Def::Type(id), name) => {
                    let of = &items.types[id.0];
                    if of.generics.type_params().next().is_some() && !has_arguments(&path.path) {
                        return;
                    }
                    (Some(of.name.clone()), name)
                }
                Resolved::Outside => return self.of_number(text, &list),
                _ => return,
            },
            _ => return,
        };
        let is_that = |one: &&Function| {
            owner.is_some() && one.self_type == owner && one.name == name && one.of_impl.is_some()
        };
        let mut functions = items.functions.iter().filter(is_that);
        if let (Some(one), None) = (functions.next(), functions.next()) {
            self.add(text, one, has_arguments(&path.path));
        }
    }

    fn add(&mut self, text: String, function: &Function, has_arguments: bool) {
        let signature = &function.written.sig;
        let is_plain = signature.generics.type_params().next().is_none()
            && signature.generics.const_params().next().is_none()
            && function.of_trait.is_none();
        if (is_plain || has_arguments)
            && self.pointers.has(signature.inputs.len())
            && let Some(pointer) = pointers::of_signature(self.resolver, function)
        {
            self.found.push((text, pointer));
        }
    }

    /// `f64::sin`.
    fn of_number(&mut self, text: String, path: &[String]) {
        let Some((last, before)) = path.split_last() else {
            return;
        };
        let takes = [(Numbers::OfOne, 1), (Numbers::OfTwo, 2), (Numbers::OfThree, 3)];
        let Some((_, parameters)) = { takes.into_iter() }.find(|(key, _)| self.library.says(last, *key))
        else {
            return;
        };
        let is_number = before.last().is_some_and(|of| is_number_type(of));
        if is_number && self.pointers.has(parameters) {
            let parameters = vec!["_"; parameters].join(", ");
            self.found.push((text, format!("fn({parameters}) -> _")));
        }
    }
}

fn has_arguments(path: &syn::Path) -> bool {
    path.segments.iter().any(|one| !one.arguments.is_none())
}

fn last_of(ty: &syn::Type) -> Option<String> {
    match ty {
        syn::Type::Path(path) => path.path.segments.last().map(|last| last.ident.to_string()),
        _ => None,
    }
}

impl<'ast> Visit<'ast> for Values<'_> {
    // A nested function is visited as one of the program's.
    fn visit_item(&mut self, _: &'ast syn::Item) {}

    fn visit_expr_call(&mut self, call: &'ast syn::ExprCall) {
        if !matches!(&*call.func, Expr::Path(_)) {
            self.visit_expr(&call.func);
        }
        call.args.iter().for_each(|argument| self.visit_expr(argument));
    }

    fn visit_expr(&mut self, expr: &'ast Expr) {
        match expr {
            Expr::Path(path) => self.value(path),
            _ => visit::visit_expr(self, expr),
        }
    }

    fn visit_macro(&mut self, mac: &'ast syn::Macro) {
        for part in in_macro(self.library, mac) {
            self.visit_expr(&part);
        }
    }
}

/// The expressions that a macro is given.
fn in_macro(library: &Library, mac: &syn::Macro) -> Vec<Expr> {
    let parts = items_of_list(library, mac).or_else(|| arguments_of_macro(library, mac));
    match (parts, repeated_in_list(library, mac)) {
        (_, Some((value, count))) => vec![value, count],
        (Some(parts), None) => parts.into_iter().collect(),
        (None, None) => Vec::new(),
    }
}

#[cfg(test)]
mod tests;
