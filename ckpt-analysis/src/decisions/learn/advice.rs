//! What is said of types that no checkpoint holds.

use super::Decider;
use crate::decisions::objects::why_unlisted;
use crate::diagnostics::TypeAdvice;
use ckpt_compiler::library::{Library, Prelude, Types};

/// Types of std have no serde where they have no `Checkpoint`.
pub(super) fn is_of_std(library: &Library, name: &str) -> bool {
    let plain = name.split('<').next().unwrap_or(name);
    let krate = name.split_once("::").map(|(first, _)| first);
    krate.is_some_and(|krate| library.says(krate, Prelude::Crates)) || library.says(plain, Types::Unsaved)
}

/// What helps with values of a type that ckpt cannot save.
pub(super) fn advice(decider: &Decider<'_>, ty: &str) -> TypeAdvice {
    let library = decider.library;
    let path = ty.split('<').next().unwrap_or(ty).trim();
    let name = path.rsplit("::").next().unwrap_or(path);
    if library.says(path, Types::TableWriters) {
        TypeAdvice::TableWriter
    } else if library.says(name, Types::Iterators) {
        TypeAdvice::Iterator
    } else if let Some(content) = (decider.hidden_on_device)(ty) {
        TypeAdvice::DeviceHidden { content }
    } else if (decider.under_way_on_device)(ty) {
        TypeAdvice::DeviceWork {
            crates: (decider.device_crates)(ty),
        }
    } else if (decider.on_device)(ty) {
        TypeAdvice::Device {
            crates: (decider.device_crates)(ty),
            change: None,
        }
    } else if (decider.untyped_on_device)(ty) {
        TypeAdvice::Untyped
    } else if (decider.handles_on_device)(ty) {
        TypeAdvice::DeviceHandle {
            crates: (decider.device_crates)(ty),
            change: None,
        }
    } else if ty.starts_with('&') {
        TypeAdvice::Reference
    } else if ty.contains("'_") || ty.contains('&') {
        TypeAdvice::Borrows
    } else {
        let unlisted = why_unlisted(decider.library, decider.program, decider.items, decider.types, ty);
        unlisted.map_or(TypeAdvice::Other, |unlisted| TypeAdvice::Objects { unlisted })
    }
}
