//! What may change behind a shared reference, and the `thread_local!`s that do.

use super::{GlobalItem, GlobalKind, Items};
use quote::ToTokens;
use syn::Type;

/// Types whose values change behind a shared reference.
const CHANGING: &[&str] = &[
    "AtomicBool",
    "AtomicU8",
    "AtomicU16",
    "AtomicU32",
    "AtomicU64",
    "AtomicUsize",
    "AtomicI8",
    "AtomicI16",
    "AtomicI32",
    "AtomicI64",
    "AtomicIsize",
    "Mutex",
    "RwLock",
    "OnceLock",
    "Cell",
    "RefCell",
    "OnceCell",
];

impl Items {
    /// The first `thread_local!` of the program that may change: what it holds on other threads than that of `main` is not in
    /// a checkpoint.
    pub fn changing_thread_local(&self) -> Option<&GlobalItem> {
        let mut locals = self
            .globals
            .iter()
            .filter(|one| one.kind == GlobalKind::ThreadLocal);
        locals.find(|one| may_change(&one.ty))
    }
}

/// Whether a value of the type may change behind a shared reference, as far as its text tells.
pub fn may_change(ty: &Type) -> bool {
    let text = ty.to_token_stream().to_string();
    let mut words = text.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
    words.any(|word| CHANGING.contains(&word))
}
