//! What may change behind a shared reference, and the `thread_local!`s that do.

use super::{GlobalItem, GlobalKind, Items};
use ckpt_compiler::library::Library;
use quote::ToTokens;
use syn::Type;

impl Items {
    /// The first `thread_local!` of the program that may change: what it holds on other threads than that of `main` is not in
    /// a checkpoint.
    pub fn changing_thread_local(&self, library: &Library) -> Option<&GlobalItem> {
        let mut locals = self
            .globals
            .iter()
            .filter(|one| one.kind == GlobalKind::ThreadLocal);
        locals.find(|one| may_change(library, &one.ty))
    }
}

/// Whether a value of the type may change behind a shared reference, as far as its text tells.
pub fn may_change(library: &Library, ty: &Type) -> bool {
    let text = ty.to_token_stream().to_string();
    let mut words = text.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
    words.any(|word| library.changes_behind_references(word, true))
}
