//! What is said of types that no checkpoint holds.

use crate::decisions::devices::Devices;
use crate::diagnostics::TypeAdvice;
use crate::source::Program;
use ckpt_compiler::library::{Library, Prelude, Types};

/// Types of std have no serde where they have no `Checkpoint`.
pub(super) fn is_of_std(library: &Library, name: &str) -> bool {
    let plain = name.split('<').next().unwrap_or(name);
    let krate = name.split_once("::").map(|(first, _)| first);
    krate.is_some_and(|krate| library.says(krate, Prelude::Crates)) || library.says(plain, Types::Unsaved)
}

/// What helps with values of a type that ckpt cannot save.
pub(super) fn advice(library: &Library, program: &Program, ty: &str) -> TypeAdvice {
    let name = ty.split('<').next().unwrap_or(ty);
    let name = name.rsplit("::").next().unwrap_or(name).trim();
    let devices = Devices::of(library, program);
    if library.says(name, Types::TableWriters) && ty.contains('<') {
        TypeAdvice::TableWriter
    } else if library.says(name, Types::Iterators) {
        TypeAdvice::Iterator
    } else if devices.are_under_way(ty) {
        TypeAdvice::DeviceWork
    } else if devices.change_type(ty) {
        TypeAdvice::Device
    } else if ty.starts_with('&') {
        TypeAdvice::Reference
    } else if ty.contains("'_") || ty.contains('&') {
        TypeAdvice::Borrows
    } else {
        TypeAdvice::Other
    }
}
