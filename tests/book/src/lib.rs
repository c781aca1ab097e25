//! Every page with Rust code in it, as the documentation of an empty module: `cargo test --doc` compiles the code.
//!
//! `tests/pages.rs` checks that no page with Rust code is missing here.

macro_rules! pages {
    ($($name:ident = $path:literal;)*) => {
        $(
            #[doc = include_str!(concat!("../../../", $path))]
            pub mod $name {}
        )*
    };
}

pages! {
    readme = "README.md";
    attributes = "docs/src/attributes.md";
    batch = "docs/src/batch.md";
    by_hand = "docs/src/by-hand.md";
    files = "docs/src/files.md";
    libraries = "docs/src/libraries.md";
    limits = "docs/src/limits.md";
    rollback = "docs/src/rollback.md";
    soft_errors = "docs/src/soft-errors.md";
    threads = "docs/src/threads.md";
    tutorial = "docs/src/tutorial.md";
    unmodified = "docs/src/unmodified.md";
    values = "docs/src/values.md";
}
