//! Handles on devices that are set up after they were made: `device.on_uncaptured_error(..)`. One that is made again has not what it
//! was given since.

use crate::decisions::completed::completed;
use crate::decisions::effects::names_of;
use crate::decisions::statements::Without;
use crate::items::{FnId, Items};
use ckpt_compiler::library::{DeviceMethods, Library};
use ckpt_compiler::syntax::mentions::names_in;
use ckpt_compiler::visit::{self, Visit, VisitMut};
use quote::ToTokens;
use std::collections::{BTreeSet, HashSet};
use syn::{Expr, Local};

/// The functions that set up what they are given, or what is in it, or call one that does; `calls`: what each function calls.
pub(crate) fn setters(library: &Library, items: &Items, calls: &[Vec<FnId>]) -> HashSet<FnId> {
    let sets = |id: &FnId| {
        let function = &items.function(*id).item;
        let mut own = Declared::default();
        own.visit_block(&function.block);
        let mut found = SetUp::of(library, function);
        found.retain(|of| !own.0.contains(of));
        !found.is_empty()
    };
    let mut all: HashSet<FnId> = (0..calls.len()).map(FnId).filter(sets).collect();
    loop {
        let more = |id: &FnId| !all.contains(id) && calls[id.0].iter().any(|callee| all.contains(callee));
        let more: Vec<FnId> = (0..calls.len()).map(FnId).filter(more).collect();
        if more.is_empty() {
            return all;
        }
        all.extend(more);
    }
}

/// Whether a function sets up what a `let` of it declares, or what is made from that, but for what belongs to a `let` itself;
/// `is_setter`: whether the call calls a function that does.
pub(crate) fn is_set_later(
    library: &Library,
    function: &syn::ItemFn,
    local: &Local,
    is_setter: &dyn Fn(&Expr) -> bool,
) -> bool {
    let all = completed(library, function);
    let statements: Vec<&syn::Stmt> = all.iter().flat_map(|one| one.statements()).copied().collect();
    let mut without = function.clone();
    Without(&statements).visit_block_mut(&mut without.block);
    let mut names: BTreeSet<String> = { names_of(&local.pat).unwrap_or_default().into_iter() }
        .map(ToString::to_string)
        .collect();
    loop {
        let before = names.len();
        MadeFrom(&mut names).visit_block(&without.block);
        if names.len() == before {
            break;
        }
    }
    let mut lent = Lent {
        names: &names,
        is_setter,
        found: false,
    };
    lent.visit_block(&without.block);
    lent.found || SetUp::of(library, &without).iter().any(|of| names.contains(of))
}

/// The variables that are set up.
struct SetUp<'n> {
    library: &'n Library,
    found: Vec<String>,
}

impl<'n> SetUp<'n> {
    fn of(library: &'n Library, function: &syn::ItemFn) -> Vec<String> {
        let mut found = Self {
            library,
            found: Vec::new(),
        };
        found.visit_block(&function.block);
        found.found
    }
}

impl<'ast> Visit<'ast> for SetUp<'_> {
    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        if self.library.says(&call.method.to_string(), DeviceMethods::Sets) {
            self.found.extend(names_in(&call.receiver.to_token_stream()));
        }
        visit::visit_expr_method_call(self, call);
    }

    fn visit_item(&mut self, _: &'ast syn::Item) {}
}

/// What a function declares by `let`s.
#[derive(Default)]
struct Declared(HashSet<String>);

impl<'ast> Visit<'ast> for Declared {
    fn visit_local(&mut self, local: &'ast Local) {
        let names = names_of(&local.pat).unwrap_or_default().into_iter();
        self.0.extend(names.map(ToString::to_string));
        visit::visit_local(self, local);
    }

    fn visit_item(&mut self, _: &'ast syn::Item) {}
}

/// Adds what is made from these variables.
struct MadeFrom<'n>(&'n mut BTreeSet<String>);

impl<'ast> Visit<'ast> for MadeFrom<'_> {
    fn visit_local(&mut self, local: &'ast Local) {
        let from = { local.init.iter() }.map(|init| names_in(&init.expr.to_token_stream()));
        if from.flatten().any(|name| self.0.contains(&name)) {
            let names = names_of(&local.pat).unwrap_or_default().into_iter();
            self.0.extend(names.map(ToString::to_string));
        }
        visit::visit_local(self, local);
    }

    fn visit_item(&mut self, _: &'ast syn::Item) {}
}

/// Whether one of these variables is lent to a function that sets it up.
struct Lent<'n> {
    names: &'n BTreeSet<String>,
    is_setter: &'n dyn Fn(&Expr) -> bool,
    found: bool,
}

impl<'ast> Visit<'ast> for Lent<'_> {
    fn visit_expr(&mut self, expr: &'ast Expr) {
        let given: Vec<&Expr> = match expr {
            Expr::Call(call) => call.args.iter().collect(),
            Expr::MethodCall(call) => call.args.iter().chain([&*call.receiver]).collect(),
            _ => Vec::new(),
        };
        let mut given = given.into_iter().flat_map(|one| names_in(&one.to_token_stream()));
        self.found |= given.any(|name| self.names.contains(&name)) && (self.is_setter)(expr);
        visit::visit_expr(self, expr);
    }

    fn visit_item(&mut self, _: &'ast syn::Item) {}
}

#[cfg(test)]
mod tests {
    use crate::decisions::effects::Effects;
    use crate::source::FileId;
    use crate::tests::{analysed, program};

    /// Whether `device` may be made again, of a program with these functions beside `main`.
    fn may_be_rebuilt(code: &str, beside: &str) -> bool {
        let text = format!(
            "use wgpu::Device; struct Gpu {{ device: Device }} {beside} fn open() -> (Device, u8) {{ todo!() }} fn main() {{ \
             let (device, queue) = open(); {code} }}"
        );
        let files = [("main.rs", text.as_str())];
        let (program, analysis) = (program(&files), analysed(&files));
        let place = (FileId(0), text.find("let (device").expect("the variable"));
        Effects::of(&program, &analysis).may_be_rebuilt(place)
    }

    #[test]
    fn what_is_set_up_behind_its_let_is_made_again_and_nothing_else() {
        let sets = "device.on_uncaptured_error(handler());";
        let watch = "fn watch(device: &Device) { device.on_uncaptured_error(handler()); }";
        let deep = format!("{watch} fn prepare(device: &Device) {{ watch(device); }}");
        let method = "impl Gpu { fn watch(&self) { self.device.on_uncaptured_error(handler()); } }";
        let own =
            "fn second() -> Device { let device = make(); device.on_uncaptured_error(handler()); device }";
        for (code, beside, may) in [
            ("f(&device);", "", true),
            (&format!("{sets} f(&device);"), "", true),
            (&format!("f(&device); {sets}"), "", false),
            (&format!("{sets} loop {{ {sets} }}"), "", false),
            (
                "let one = &device; one.on_uncaptured_error(handler());",
                "",
                false,
            ),
            ("watch(&device);", watch, false),
            ("prepare(&device);", &deep, false),
            ("let gpu = Gpu { device }; gpu.watch();", method, false),
            ("f(&device); let other = second();", own, true),
        ] {
            assert_eq!(may_be_rebuilt(code, beside), may, "{code}");
        }
    }
}
