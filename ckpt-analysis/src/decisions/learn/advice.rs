//! What is said of types that no checkpoint holds.

use crate::diagnostics::TypeAdvice;
use ckpt_compiler::library::{Library, Prelude, Types};

/// Types of std have no serde where they have no `Checkpoint`.
pub(super) fn is_of_std(library: &Library, name: &str) -> bool {
    let plain = name.split('<').next().unwrap_or(name);
    let krate = name.split_once("::").map(|(first, _)| first);
    krate.is_some_and(|krate| library.says(krate, Prelude::Crates)) || library.says(plain, Types::Unsaved)
}

/// The names in a type that have arguments.
fn with_arguments(ty: &str) -> impl Iterator<Item = &str> {
    let is_of_name = |one: char| one.is_alphanumeric() || one == '_';
    let before = ty.split('<').rev().skip(1);
    before.filter_map(move |text| text.rsplit(|one| !is_of_name(one)).next())
}

/// What helps with values of a type that ckpt cannot save.
pub(super) fn advice(library: &Library, ty: &str) -> TypeAdvice {
    let name = ty.split('<').next().unwrap_or(ty);
    let name = name.rsplit("::").next().unwrap_or(name).trim();
    if library.says(name, Types::TableWriters) && ty.contains('<') {
        TypeAdvice::TableWriter
    } else if with_arguments(ty).any(|name| library.says(name, Types::Weak)) {
        TypeAdvice::Weak
    } else if library.says(name, Types::Iterators) {
        TypeAdvice::Iterator
    } else if ty.starts_with('&') {
        TypeAdvice::Reference
    } else if ty.contains("'_") || ty.contains('&') {
        TypeAdvice::Borrows
    } else {
        TypeAdvice::Other
    }
}
