//! The items among the statements of a block: known in all of it, in front of the variables around it.

use crate::names::spelling;
use proc_macro2::Ident;
use std::collections::HashMap;
use syn::{Fields, Stmt, UseTree};

/// What an item's name stands for in an expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Item {
    /// A constant, a static or a unit struct: a pattern of the name is no variable.
    Constant,
    /// A function or the constructor of a struct.
    Callable,
}

/// The items of a block that an expression may name.
pub(super) fn of(stmts: &[Stmt]) -> HashMap<String, Item> {
    let mut found = HashMap::new();
    for stmt in stmts {
        if let Stmt::Item(item) = stmt {
            let mut note = |name: &Ident, item| found.insert(spelling(name), item);
            match item {
                syn::Item::Const(one) => {
                    note(&one.ident, Item::Constant);
                }
                syn::Item::Static(one) => {
                    note(&one.ident, Item::Constant);
                }
                syn::Item::Fn(one) => {
                    note(&one.sig.ident, Item::Callable);
                }
                syn::Item::Struct(one) => {
                    match one.fields {
                        Fields::Unit => note(&one.ident, Item::Constant),
                        Fields::Unnamed(_) => note(&one.ident, Item::Callable),
                        Fields::Named(_) => None,
                    };
                }
                syn::Item::Use(one) => imported(&one.tree, &mut |name| {
                    note(name, Item::Constant);
                }),
                _ => {}
            }
        }
    }
    found
}

/// The names with capitals that a `use` brings in. One without may be that of a module, which hides no variable.
fn imported(tree: &UseTree, note: &mut dyn FnMut(&Ident)) {
    let name = match tree {
        UseTree::Path(path) => return imported(&path.tree, note),
        UseTree::Group(group) => return group.items.iter().for_each(|one| imported(one, note)),
        UseTree::Name(one) => &one.ident,
        UseTree::Rename(one) => &one.rename,
        UseTree::Glob(_) => return,
    };
    if name.to_string().starts_with(char::is_uppercase) {
        note(name);
    }
}
