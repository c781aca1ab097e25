//! The attribute and derive macros of ckpt: a thin shim over [`ckpt_compiler`].

mod sources;

use proc_macro::TokenStream;

/// Instruments a function that holds a checkpoint site or leads to one.
///
/// `calls(a, Type::b)` names the calls that lead to a site. With neither a `checkpoint!()` nor a marked call in the
/// function, ckpt places a site in its costliest loop; `sites = "manual"` forbids that. `means(reexecute(read_mesh), ..)`
/// says what calls mean that are not in ckpt's tables.
#[proc_macro_attribute]
pub fn instrument(arguments: TokenStream, item: TokenStream) -> TokenStream {
    ckpt_compiler::instrument(arguments.into(), item.into(), sources::own_names()).into()
}

/// Instruments `main` and opens the session there. Takes the arguments of [`macro@instrument`].
#[proc_macro_attribute]
pub fn main(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let (own, sources) = (sources::own_names(), sources::of_this_program());
    ckpt_compiler::instrument_main(arguments.into(), item.into(), own, sources).into()
}

/// On a trait: its objects, `dyn Trait` and `Box<dyn Trait>`, can be saved in a checkpoint. `#[ckpt::object(TypeA, TypeB)]`
/// lists the types that implement the trait, which have to be `Checkpoint`.
///
/// An implementor that is not in the list does not compile. With `..` at the end of the list it does, and a checkpoint
/// that meets it is refused.
#[proc_macro_attribute]
pub fn object(arguments: TokenStream, item: TokenStream) -> TokenStream {
    ckpt_compiler::object(arguments.into(), item.into()).into()
}

/// Implements `ckpt::Checkpoint` for a struct or enum: its fields and variants are saved and found again by name, so
/// that their order may change.
///
/// | on | attribute | meaning |
/// | --- | --- | --- |
/// | field | `#[ckpt(skip)]`, `#[ckpt(skip, default = "path")]` | not saved; `Default::default()` or `path()` after a restart |
/// | field | `#[ckpt(keep)]` | not saved; what the initialiser makes of it, which a restart executes again: `#[ckpt(refill)]` on the `let` |
/// | field | `#[ckpt(default)]`, `#[ckpt(default = "path")]` | the same where a checkpoint does not have the field yet |
/// | field | `#[ckpt(serde)]` | saved through serde, as readable text (feature `serde`) |
/// | field, variant | `#[ckpt(rename = "name")]` | its name in the file |
/// | field, variant | `#[ckpt(alias = "old")]` | another name under which it is found |
/// | item | `#[ckpt(crate = "path")]` | where the `ckpt` crate is |
#[proc_macro_derive(Checkpoint, attributes(ckpt))]
pub fn derive_checkpoint(input: TokenStream) -> TokenStream {
    ckpt_compiler::derive_checkpoint(input.into()).into()
}

/// Says what a type holds that may have a destructor. What `cargo ckpt` puts in front of types; not a public interface.
#[doc(hidden)]
#[proc_macro_derive(Holds)]
pub fn derive_holds(input: TokenStream) -> TokenStream {
    ckpt_compiler::derive_holds(input.into()).into()
}

/// Puts the spare of a function beside it, with spares in the place of the functions that are named. What `cargo ckpt` puts
/// in front of functions; not a public interface.
#[doc(hidden)]
#[proc_macro_attribute]
pub fn spare(arguments: TokenStream, item: TokenStream) -> TokenStream {
    ckpt_compiler::spare(arguments.into(), item.into()).into()
}
