//! Whether a function may have its body twice: once for restarts, and once for activations that run from their beginning,
//! of which the optimiser knows all that it knows of the program without ckpt.

use crate::library::Library;
use crate::syntax::macros::{makes_a_list, name_of_macro};
use crate::syntax::mentions::names_in;
use crate::visit::{self, Visit};
use quote::ToTokens;
use syn::{Item, ItemFn, Macro};

/// Whether it may. What a body declares that there is once in the program, a static above all, there would be twice; what
/// a macro of unknown meaning declares is not known; and a hidden type that is returned would be two.
pub fn may_stand_twice(library: &Library, item: &ItemFn) -> bool {
    let mut body = Body {
        library,
        holds_one: names_in(&item.sig.output.to_token_stream()).contains("impl"),
    };
    body.visit_block(&item.block);
    !body.holds_one
}

struct Body<'l> {
    library: &'l Library,
    /// Whether it has something that must not be there twice.
    holds_one: bool,
}

impl<'ast> Visit<'ast> for Body<'_> {
    fn visit_item(&mut self, item: &'ast Item) {
        match item {
            Item::Use(_) | Item::Type(_) | Item::Struct(_) | Item::Enum(_) => {}
            Item::Macro(item) if item.ident.is_some() => {}
            Item::Const(_) | Item::Fn(_) => visit::visit_item(self, item),
            _ => self.holds_one = true,
        }
    }

    fn visit_macro(&mut self, mac: &'ast Macro) {
        let is_known = self.library.stays(&name_of_macro(mac)) || makes_a_list(self.library, mac);
        if !is_known || names_in(&mac.tokens).contains("static") {
            self.holds_one = true;
        }
    }
}
