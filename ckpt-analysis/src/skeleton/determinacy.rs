//! Whether what comes of a call of another crate is told by what it is given: not so are addresses, clocks, and what files
//! hold at a moment.

use ckpt_compiler::library::{Determined, Iterators, Library, Types};
use ckpt_safepoints::skeleton::Determinacy;

/// How far what comes of a method hangs on more than its receiver and arguments.
pub(super) fn of_method(library: &Library, method: &str) -> Determinacy {
    // Threads go through the elements in an order of their own: sums differ in their last digits.
    if library.says(method, Determined::Never) || library.says(method, Iterators::Parallel) {
        Determinacy::Never
    } else if library.says(method, Determined::Files) {
        Determinacy::BeforeMessages
    } else {
        Determinacy::Always
    }
}

/// Whether what a function gives depends on nothing but what it is given, or is the same on all ranks: the command line
/// and the files under the same name are taken to be.
pub(super) fn of_function(library: &Library, path: &[String]) -> Determinacy {
    let (owner, last) = match path {
        [.., owner, last] => (owner.as_str(), last.as_str()),
        [last] => ("", last.as_str()),
        [] => return Determinacy::Never,
    };
    let whole = format!("{owner}::{last}");
    // A function of a type, in whatever module that is declared.
    let is_of_type = path.len() == 2 || owner.starts_with(char::is_uppercase);
    // What may change behind a shared reference is another one.
    let is_determined = library.says(&whole, Determined::Always)
        || library.says(last, Determined::Always) && !library.says(owner, Types::Cells)
        || library.says(owner, Determined::Types) && library.says(last, Determined::Constructors)
        || library.says(last, Determined::OfTypes) && is_of_type;
    if library.says(&whole, Determined::Files) {
        Determinacy::BeforeMessages
    } else if is_determined {
        Determinacy::Always
    } else {
        Determinacy::Never
    }
}
