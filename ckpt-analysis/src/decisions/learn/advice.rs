//! What is said of types that no checkpoint holds.

use ckpt_compiler::library::{Library, Prelude, Types};

/// Types of std have no serde where they have no `Checkpoint`.
pub(super) fn is_of_std(library: &Library, name: &str) -> bool {
    let plain = name.split('<').next().unwrap_or(name);
    let krate = name.split_once("::").map(|(first, _)| first);
    krate.is_some_and(|krate| library.says(krate, Prelude::Crates)) || library.says(plain, Types::Unsaved)
}

/// What helps with values of a type that ckpt cannot save.
pub(super) fn advice(library: &Library, ty: &str) -> &'static str {
    let plain = ty.split_once(": ").map_or(ty, |(_, ty)| ty);
    let name = plain.split('<').next().unwrap_or(plain);
    let name = name.rsplit("::").next().unwrap_or(name).trim();
    if name == "Writer" && ty.contains("<") {
        "keep the `File` in the variable, and make the writer where rows are written: \
         `csv::WriterBuilder::new().has_headers(false).from_writer(&file)`; it writes them out when it goes"
    } else if ty.contains("Weak<") {
        "keep the values in a `Vec`, and in place of the `Weak` the index of the other value there"
    } else if library.says(name, Types::Iterators) {
        "collect what it goes over into a `Vec` before the loop, and keep an index into that"
    } else if plain.starts_with('&') {
        "borrow inside the loop, where the value is used; or hold what it borrows by value"
    } else if ty.contains("'_") || ty.contains('&') {
        "make the value inside the loop, where it is used, or behind it from what the loop has gathered in a `Vec`; \
         a type of your own can hold by value what it borrows"
    } else {
        "make the value inside the loop; or, if making it again gives the same value, `#[ckpt(reexecute)]` on its `let`, or \
         without a change to the program `reexecute = [\"Type::new\"]`, the function that makes it, under `[calls]` in `ckpt.toml`. \
         A type of another crate can be saved if it has serde, often a feature of that crate"
    }
}
