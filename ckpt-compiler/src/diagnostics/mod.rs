//! Diagnostics: what the compiler tells the user, gathered and shown together.
//!
//! Every refusal has the same three parts: what cannot be done, why, and what to write instead.

use proc_macro2::{Span, TokenStream};
use quote::quote_spanned;

/// One refusal or mistake, at the place in the user's source where it shows.
#[derive(Debug, Clone)]
pub struct Diagnostic {
    /// Where the error is shown.
    pub span: Span,
    /// The code of the message, and what cannot be done.
    pub what: String,
    /// Why not.
    pub why: String,
    /// What to write instead.
    pub instead: String,
}

impl Diagnostic {
    /// The text that rustc prints.
    pub fn message(&self) -> String {
        let mut text = format!("ckpt: {}", self.what);
        if !self.why.is_empty() {
            text += &format!("\n  why: {}", self.why);
        }
        if !self.instead.is_empty() {
            text += &format!("\n  instead: {}", self.instead);
        }
        if let Some(code) = code_of(&self.what) {
            text += &format!("\n  more: cargo ckpt explain {code}");
        }
        text
    }
}

/// The code with which a message begins: `E1012: a site inside a closure`. Each has an entry in the book.
pub fn code_of(message: &str) -> Option<&str> {
    let (code, _) = message.split_once(": ")?;
    let digits = code.strip_prefix('E')?;
    (digits.len() == 4 && digits.bytes().all(|byte| byte.is_ascii_digit())).then_some(code)
}

/// The diagnostics of one function, in the order found.
#[derive(Debug, Default, Clone)]
pub struct Diagnostics(Vec<Diagnostic>);

impl Diagnostics {
    /// Adds a refusal; a second one of the same text at the same place is dropped.
    pub fn refuse(&mut self, span: Span, what: impl Into<String>, why: &str, instead: impl Into<String>) {
        let new = Diagnostic {
            span,
            what: what.into(),
            why: why.into(),
            instead: instead.into(),
        };
        let same = |old: &Diagnostic| {
            old.what == new.what && old.span.start() == span.start() && old.span.end() == span.end()
        };
        if !self.0.iter().any(same) {
            self.0.push(new);
        }
    }

    /// Adds a parse error of `syn`.
    pub fn syntax(&mut self, error: &syn::Error) {
        for one in error.clone() {
            let said = one.to_string();
            let said = match code_of(&said) {
                Some(_) => said,
                None => format!("E1117: {said}"),
            };
            self.refuse(one.span(), said, "", "");
        }
    }

    /// Whether nothing has been found so far.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The diagnostics found, in order.
    pub fn iter(&self) -> impl Iterator<Item = &Diagnostic> {
        self.0.iter()
    }

    /// Ends a stage: the next one runs only on what this one found sound.
    ///
    /// # Errors
    /// All that has been gathered, when there is anything.
    pub fn propagate(&mut self) -> Result<(), Diagnostics> {
        if self.0.is_empty() {
            Ok(())
        } else {
            Err(std::mem::take(self))
        }
    }

    /// One `compile_error!` per diagnostic.
    pub fn to_tokens(&self) -> TokenStream {
        self.0
            .iter()
            .map(|one| {
                let text = one.message();
                let here = one.span.resolved_at(Span::call_site());
                quote_spanned! { here => ::core::compile_error! { #text } }
            })
            .collect()
    }
}
