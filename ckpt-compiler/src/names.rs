//! Names of the variables that ckpt adds: hygienic, and readable in `cargo ckpt expand`.

use proc_macro2::{Ident, Span};
use std::cell::Cell;

/// Hands out names that no user variable can have.
#[derive(Debug, Default)]
pub struct Names(Cell<u32>);

impl Names {
    /// A new name, unique in the function.
    pub fn fresh(&self, stem: &str) -> Ident {
        self.0.set(self.0.get() + 1);
        Ident::new(&format!("__ckpt_{stem}{}", self.0.get()), Span::mixed_site())
    }
}

/// The name at the place of what it stands for, so that rustc's words about it point there.
pub fn located(name: &Ident, at: Span) -> Ident {
    Ident::new(&name.to_string(), name.span().located_at(at))
}

/// The frame, the one variable of which each instrumented function has exactly one.
pub fn frame() -> Ident {
    Ident::new("__ckpt", Span::mixed_site())
}

/// The registrar, the parameter of the closures that lend variables.
pub fn registrar() -> Ident {
    Ident::new("__ckpt_registrar", Span::mixed_site())
}
