//! Methods that look at what changes behind a shared reference, or change it.

use ckpt_compiler::library::{Library, Methods};
use syn::ExprMethodCall;

/// Whether the call is one of such a method. `all`: also of those whose names other types have as well.
pub(super) fn is_access(library: &Library, call: &ExprMethodCall, all: bool) -> bool {
    let method = call.method.to_string();
    let is_alone = call.args.is_empty() && library.says(&method, Methods::LooksInsideAlone);
    is_alone
        || library.says(&method, Methods::LooksInside)
        || all && library.says(&method, Methods::ChangesInside)
}
