//! No function brings the compiler down: it gives tokens that are a function again, or diagnostics.
//!
//! Fed with the Rust files of this repository and of the packages that cargo has unpacked: a seeded choice of 100 of
//! them at most. `ROBUSTNESS_FILES=n` takes more, `ROBUSTNESS_SEED=n` others; `ROBUSTNESS_REPORT=folder` writes each
//! function that failed, made as small as removing statements makes it.

use super::sources::chosen_files;
use ckpt_compiler::diagnostics::{Diagnostic, Refusal};
use ckpt_compiler::try_expand;
use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use syn::visit::{self, Visit};
use syn::visit_mut::{self, VisitMut};
use syn::{Block, Expr, ItemFn, Stmt, parse_quote};

/// Nested expressions are walked recursively, by `syn` too.
const STACK: usize = 256 << 20;

#[test]
fn no_function_brings_the_compiler_down() {
    let worker = std::thread::Builder::new().stack_size(STACK).spawn(feed_all);
    let fed = worker
        .expect("a thread starts")
        .join()
        .expect("the feeding does not panic");
    println!(
        "{} files, {} functions, {} variants: {} instrumented, {} refused",
        fed.files,
        fed.functions,
        fed.expanded + fed.refused,
        fed.expanded,
        fed.refused
    );
    assert!(
        fed.expanded > 100,
        "hardly anything was instrumented: {}",
        fed.expanded
    );
    assert!(fed.failures.is_empty(), "{}", fed.failures.join("\n"));
}

#[derive(Default)]
struct Fed {
    files: usize,
    functions: usize,
    expanded: usize,
    refused: usize,
    failures: Vec<String>,
}

fn feed_all() -> Fed {
    let mut fed = Fed::default();
    for path in chosen_files() {
        let Ok(source) = std::fs::read_to_string(&path) else {
            continue;
        };
        let Ok(file) = syn::parse_file(&source) else {
            continue;
        };
        fed.files += 1;
        let mut functions = Functions::default();
        functions.visit_file(&file);
        for function in functions.0 {
            fed.feed(&path, &function);
        }
    }
    fed
}

impl Fed {
    fn feed(&mut self, path: &Path, function: &ItemFn) {
        self.functions += 1;
        for (arguments, function) in variants(function) {
            match outcome(&arguments, &function) {
                Outcome::Expanded => self.expanded += 1,
                Outcome::Refused => self.refused += 1,
                Outcome::Failed(why) => {
                    let name = &function.sig.ident;
                    self.failures
                        .push(format!("{}: `{name}` ({arguments}): {why}", path.display()));
                    if let Some(folder) = std::env::var_os("ROBUSTNESS_REPORT") {
                        let file = Path::new(&folder).join(format!("{name}.rs"));
                        std::fs::write(file, report(path, &arguments, function, &why))
                            .expect("a report can be written");
                    }
                }
            }
        }
    }
}

enum Outcome {
    Expanded,
    Refused,
    Failed(String),
}

/// The mistake of ckpt that no source may bring about.
fn is_lost(one: &Diagnostic) -> bool {
    matches!(one.refusal, Refusal::WouldBeLost { .. })
}

fn outcome(arguments: &TokenStream, function: &ItemFn) -> Outcome {
    let expand = || try_expand(arguments.clone(), &function.to_token_stream(), false);
    match catch_unwind(AssertUnwindSafe(expand)) {
        Ok(Ok(tokens)) => match syn::parse2::<ItemFn>(tokens) {
            Ok(_) => Outcome::Expanded,
            Err(error) => Outcome::Failed(format!("not a function any more: {error}")),
        },
        Ok(Err(errors)) if errors.is_empty() => Outcome::Failed("refused without a diagnostic".into()),
        Ok(Err(errors)) if errors.iter().any(is_lost) => {
            let lost = errors.iter().map(|one| one.words().what.to_string());
            Outcome::Failed(lost.collect::<Vec<_>>().join("; "))
        }
        Ok(Err(_)) => Outcome::Refused,
        Err(panic) => {
            let text = panic.downcast_ref::<String>().cloned();
            let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
            Outcome::Failed(format!("panic: {}", text.unwrap_or_default()))
        }
    }
}

/// The function with a site in every loop, in every loop that is not in a closure, and in every block that is not in a
/// closure; and with its calls marked: all, and one.
fn variants(function: &ItemFn) -> Vec<(TokenStream, ItemFn)> {
    let mut variants = Vec::new();
    for (in_closures, in_all_blocks) in [(true, false), (false, false), (false, true)] {
        let mut with_sites = function.clone();
        PutSites {
            in_closures,
            in_all_blocks,
        }
        .visit_item_fn_mut(&mut with_sites);
        if variants.iter().all(|(_, other)| *other != with_sites) {
            variants.push((quote!(), with_sites));
        }
    }
    let mut calls = Calls::default();
    calls.visit_block(&function.block);
    let names: Vec<TokenStream> = calls.0.iter().filter_map(|name| name.parse().ok()).collect();
    if !names.is_empty() {
        variants.push((quote!(calls(#(#names),*)), function.clone()));
        let last = names.last();
        variants.push((quote!(calls(#last)), function.clone()));
    }
    variants
}

struct PutSites {
    in_closures: bool,
    in_all_blocks: bool,
}

impl PutSites {
    fn put(&self, block: &mut Block) {
        if !self.in_all_blocks {
            block.stmts.insert(0, parse_quote!(ckpt::checkpoint!();));
        }
    }
}

impl VisitMut for PutSites {
    fn visit_expr_for_loop_mut(&mut self, one: &mut syn::ExprForLoop) {
        visit_mut::visit_expr_for_loop_mut(self, one);
        self.put(&mut one.body);
    }
    fn visit_expr_while_mut(&mut self, one: &mut syn::ExprWhile) {
        visit_mut::visit_expr_while_mut(self, one);
        self.put(&mut one.body);
    }
    fn visit_expr_loop_mut(&mut self, one: &mut syn::ExprLoop) {
        visit_mut::visit_expr_loop_mut(self, one);
        self.put(&mut one.body);
    }
    fn visit_block_mut(&mut self, block: &mut Block) {
        visit_mut::visit_block_mut(self, block);
        if self.in_all_blocks {
            block.stmts.insert(0, parse_quote!(ckpt::checkpoint!();));
        }
    }
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        if self.in_closures || !matches!(expr, Expr::Closure(_) | Expr::Async(_)) {
            visit_mut::visit_expr_mut(self, expr);
        }
    }
    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}

/// All functions of a file with a body, methods as free functions.
#[derive(Default)]
struct Functions(Vec<ItemFn>);

impl<'ast> Visit<'ast> for Functions {
    fn visit_item_fn(&mut self, function: &'ast ItemFn) {
        self.0.push(function.clone());
        visit::visit_item_fn(self, function);
    }
    fn visit_impl_item_fn(&mut self, method: &'ast syn::ImplItemFn) {
        self.0.extend(syn::parse2(method.to_token_stream()));
        visit::visit_impl_item_fn(self, method);
    }
    fn visit_trait_item_fn(&mut self, method: &'ast syn::TraitItemFn) {
        if method.default.is_some() {
            self.0.extend(syn::parse2(method.to_token_stream()));
        }
        visit::visit_trait_item_fn(self, method);
    }
}

/// The names of all functions and methods called.
#[derive(Default)]
struct Calls(BTreeSet<String>);

impl<'ast> Visit<'ast> for Calls {
    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        self.0.insert(call.method.to_string());
        visit::visit_expr_method_call(self, call);
    }
    fn visit_expr_call(&mut self, call: &'ast syn::ExprCall) {
        if let Expr::Path(path) = &*call.func {
            self.0
                .extend(path.path.segments.last().map(|last| last.ident.to_string()));
        }
        visit::visit_expr_call(self, call);
    }
    fn visit_expr_closure(&mut self, _: &'ast syn::ExprClosure) {}
    fn visit_expr_async(&mut self, _: &'ast syn::ExprAsync) {}
    fn visit_item(&mut self, _: &'ast syn::Item) {}
}

/// The function without every statement that the failure does not need.
fn report(path: &Path, arguments: &TokenStream, mut function: ItemFn, why: &str) -> String {
    let fails = |function: &ItemFn| matches!(outcome(arguments, function), Outcome::Failed(_));
    let mut at = 0;
    loop {
        let mut smaller = function.clone();
        let mut remove = Remove {
            at,
            seen: 0,
            removed: false,
        };
        remove.visit_block_mut(&mut smaller.block);
        if !remove.removed {
            break;
        }
        if fails(&smaller) {
            function = smaller;
        } else {
            at += 1;
        }
    }
    let file = syn::File {
        shebang: None,
        attrs: Vec::new(),
        items: vec![syn::Item::Fn(function)],
    };
    let text = prettyplease::unparse(&file);
    format!(
        "// From {}.\n// {}\n// #[ckpt::instrument({arguments})]\n{text}",
        path.display(),
        why.replace('\n', " ")
    )
}

/// Removes one statement, or puts the statements of a block in the place of one.
struct Remove {
    at: usize,
    seen: usize,
    removed: bool,
}

impl VisitMut for Remove {
    fn visit_block_mut(&mut self, block: &mut Block) {
        let count = block.stmts.len();
        if !self.removed && self.at < self.seen + count {
            block.stmts.remove(self.at - self.seen);
            self.removed = true;
            return;
        }
        self.seen += count;
        for stmt in &mut block.stmts {
            if !self.removed && !matches!(stmt, Stmt::Item(_)) {
                self.visit_stmt_mut(stmt);
            }
        }
    }
}
