//! Statics that no checkpoint can hold, and that the program changes: `static mut`, which only `unsafe` code can look at,
//! and statics that nothing outside their function can name.

use super::Changing;
use crate::Analysis;
use crate::calls::CallId;
use crate::diagnostics::LostStatic;
use crate::items::FnId;
use crate::source::locate::bytes;
use crate::source::{FileId, Program};
use ckpt_compiler::library::{Library, Macros, last_name};
use ckpt_compiler::syntax::origins::place_path;
use ckpt_compiler::syntax::patterns::assigned_places;
use ckpt_compiler::visit::{self, Visit};
use proc_macro2::{TokenStream, TokenTree};
use std::collections::{BTreeMap, BTreeSet};
use syn::spanned::Spanned;
use syn::{Expr, ItemMacro, ItemStatic, StaticMutability};

/// A static whose value a restart would lose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusedStatic {
    /// The file of its declaration.
    pub file: FileId,
    /// The byte at which the declaration begins.
    pub at: usize,
    /// Which it is.
    pub lost: LostStatic,
}

/// All that code which `main` reaches changes, in the order of the files. A `static mut` that is only ever read is a
/// constant by another name.
pub fn refused_statics(program: &Program, analysis: &Analysis, main: FnId) -> Vec<RefusedStatic> {
    let mut declared: BTreeMap<(FileId, usize), String> = BTreeMap::new();
    for (index, source) in program.files.iter().enumerate() {
        let mut finder = Declarations {
            program,
            file: FileId(index),
            found: &mut declared,
        };
        finder.visit_file(&source.ast);
    }
    let changed = if declared.is_empty() {
        BTreeMap::new()
    } else {
        changed_names(analysis, main)
    };
    let mutable = declared.into_iter().filter_map(|((file, at), name)| {
        let by = analysis.items.function(*changed.get(&name)?).display.clone();
        let lost = LostStatic::Mutable { name, by };
        Some(RefusedStatic { file, at, lost })
    });
    let stuck = super::global_edits(program, analysis, main).stuck;
    let stuck = stuck.into_iter().map(|(name, file, at)| RefusedStatic {
        file,
        at,
        lost: LostStatic::Hidden { name },
    });
    let of_macros = of_macros(program, analysis);
    let generators = analysis.generators.kept.iter().map(|one| RefusedStatic {
        file: one.place.0,
        at: one.place.1,
        lost: LostStatic::Generator {
            krate: one.krate.clone(),
        },
    });
    let mut all: Vec<RefusedStatic> = mutable.chain(stuck).chain(of_macros).chain(generators).collect();
    all.sort_by_key(|one| (one.file, one.at));
    all
}

/// Macros of the program that are called somewhere and make statics that change.
fn of_macros(program: &Program, analysis: &Analysis) -> Vec<RefusedStatic> {
    let changing = Changing::of(&analysis.library, program, &analysis.items);
    let mut found = Vec::new();
    for (index, source) in program.files.iter().enumerate() {
        let mut macros = Definitions::default();
        macros.visit_file(&source.ast);
        for item in macros.0 {
            let Some(name) = &item.ident else { continue };
            let makes = declares_static(item.mac.tokens.clone()) && changing.names_one(&item.mac.tokens);
            let call = format!("{name}!");
            if makes && program.files.iter().any(|file| file.text.contains(&call)) {
                found.push(RefusedStatic {
                    file: FileId(index),
                    at: bytes(program, FileId(index), name.span()).start,
                    lost: LostStatic::OfMacro {
                        name: name.to_string(),
                    },
                });
            }
        }
    }
    found
}

/// The definitions of macros.
#[derive(Default)]
struct Definitions<'ast>(Vec<&'ast ItemMacro>);

impl<'ast> Visit<'ast> for Definitions<'ast> {
    fn visit_item_macro(&mut self, item: &'ast ItemMacro) {
        self.0.push(item);
    }
}

/// Whether there is a `static`, and not only a lifetime of that name.
fn declares_static(tokens: TokenStream) -> bool {
    let mut is_lifetime = false;
    for token in tokens {
        let was_lifetime = is_lifetime;
        is_lifetime = matches!(&token, TokenTree::Punct(punct) if punct.as_char() == '\'');
        match token {
            TokenTree::Ident(word) if word == "static" && !was_lifetime => return true,
            TokenTree::Group(group) if declares_static(group.stream()) => return true,
            _ => {}
        }
    }
    false
}

/// The last names of the paths that reachable functions change, each with one of them.
fn changed_names(analysis: &Analysis, main: FnId) -> BTreeMap<String, FnId> {
    let mut changed = BTreeMap::new();
    for function in reached(analysis, main) {
        let mut changes = Changes {
            library: &analysis.library,
            names: BTreeSet::new(),
        };
        changes.visit_block(&analysis.items.function(function).item.block);
        for name in changes.names {
            changed.entry(name).or_insert(function);
        }
    }
    changed
}

/// Which functions a run that begins in `main` may enter, those that are passed on as values among them.
pub(in crate::decisions) fn reached(analysis: &Analysis, main: FnId) -> BTreeSet<FnId> {
    let calls: Vec<Vec<CallId>> = analysis.graph.calls_by_function();
    let mut seen = BTreeSet::new();
    let mut pending = vec![main];
    pending.extend(analysis.graph.taken.iter().copied());
    while let Some(next) = pending.pop() {
        if seen.insert(next) {
            for call in calls.get(next.0).into_iter().flatten() {
                pending.extend(&analysis.graph.call(*call).callees);
            }
        }
    }
    seen
}

struct Declarations<'p> {
    program: &'p Program,
    file: FileId,
    found: &'p mut BTreeMap<(FileId, usize), String>,
}

impl<'ast> Visit<'ast> for Declarations<'_> {
    fn visit_item_static(&mut self, item: &'ast ItemStatic) {
        if matches!(item.mutability, StaticMutability::Mut(_)) {
            let at = bytes(self.program, self.file, item.static_token.span()).start;
            self.found.insert((self.file, at), item.ident.to_string());
        }
        visit::visit_item_static(self, item);
    }
}

/// Last segments of the paths that code assigns to, borrows exclusively, or calls a method on.
struct Changes<'l> {
    library: &'l Library,
    names: BTreeSet<String>,
}

impl Changes<'_> {
    fn root(&mut self, expr: &Expr) {
        let places = assigned_places(expr).into_iter();
        self.names.extend(places.filter_map(place_path).map(last_name));
    }
}

impl<'ast> Visit<'ast> for Changes<'_> {
    fn visit_expr_assign(&mut self, one: &'ast syn::ExprAssign) {
        self.root(&one.left);
        visit::visit_expr_assign(self, one);
    }

    fn visit_expr_binary(&mut self, one: &'ast syn::ExprBinary) {
        if ckpt_compiler::syntax::purity::is_assignment(&one.op) {
            self.root(&one.left);
        }
        visit::visit_expr_binary(self, one);
    }

    fn visit_expr_reference(&mut self, one: &'ast syn::ExprReference) {
        if one.mutability.is_some() {
            self.root(&one.expr);
        }
        visit::visit_expr_reference(self, one);
    }

    fn visit_expr_raw_addr(&mut self, one: &'ast syn::ExprRawAddr) {
        if matches!(one.mutability, syn::PointerMutability::Mut(_)) {
            self.root(&one.expr);
        }
        visit::visit_expr_raw_addr(self, one);
    }

    fn visit_expr_method_call(&mut self, one: &'ast syn::ExprMethodCall) {
        let method = one.method.to_string();
        let looks = (self.library.is_pure(&method) || self.library.borrows(&method))
            && !self.library.borrows_mutably(&method);
        if !looks {
            self.root(&one.receiver);
        }
        visit::visit_expr_method_call(self, one);
    }

    /// `addr_of_mut!(COUNT)`; what a macro does with the names in it is not known, but for those that print.
    fn visit_macro(&mut self, mac: &'ast syn::Macro) {
        let name = last_name(&mac.path);
        if !self.library.formats(&name) && !self.library.says(&name, Macros::Looks) {
            self.names
                .extend(ckpt_compiler::syntax::mentions::names_in(&mac.tokens));
        }
    }
}
