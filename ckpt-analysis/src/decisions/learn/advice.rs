//! What is said of types that no checkpoint holds.

use crate::diagnostics::TypeAdvice;
use ckpt_compiler::library::{Library, Prelude, Types};

/// Types of std have no serde where they have no `Checkpoint`.
pub(super) fn is_of_std(library: &Library, name: &str) -> bool {
    let plain = name.split('<').next().unwrap_or(name);
    let krate = name.split_once("::").map(|(first, _)| first);
    krate.is_some_and(|krate| library.says(krate, Prelude::Crates)) || library.says(plain, Types::Unsaved)
}

/// What helps with values of a type that ckpt cannot save.
pub(super) fn advice(library: &Library, ty: &str) -> TypeAdvice {
    let name = ty.split('<').next().unwrap_or(ty);
    let name = name.rsplit("::").next().unwrap_or(name).trim();
    if library.says(name, Types::TableWriters) && ty.contains('<') {
        TypeAdvice::TableWriter
    } else if library.says(name, Types::Iterators) {
        TypeAdvice::Iterator
    } else if is_on_device(library, ty, &[Types::DeviceWork]) {
        TypeAdvice::DeviceWork
    } else if is_on_device(library, ty, &[Types::DeviceMemory, Types::DeviceKernels]) {
        TypeAdvice::Device
    } else if ty.starts_with('&') {
        TypeAdvice::Reference
    } else if ty.contains("'_") || ty.contains('&') {
        TypeAdvice::Borrows
    } else {
        TypeAdvice::Other
    }
}

fn is_on_device(library: &Library, ty: &str, what: &[Types]) -> bool {
    let names = || ty.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
    let any = |kind| names().any(|name| library.says(name, kind));
    any(Types::DeviceCrates) && what.iter().any(|kind| any(*kind))
}
