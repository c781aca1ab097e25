//! What the derive accepts and what it says to the rest.

use proc_macro2::TokenStream;

use super::derive_checkpoint;

fn expand(source: &str) -> String {
    let tokens: TokenStream = source.parse().unwrap();
    let file: syn::File = syn::parse2(derive_checkpoint(tokens)).unwrap();
    prettyplease::unparse(&file)
}

/// The messages of the errors, each with the source text it points at.
fn errors(source: &str) -> Vec<(String, String)> {
    let input: syn::DeriveInput = syn::parse_str(source).unwrap();
    let Err(error) = super::attributes::read(&input) else {
        panic!("`{source}` is accepted")
    };
    error
        .into_iter()
        .map(|error| (error.to_string(), error.span().source_text().unwrap_or_default()))
        .collect()
}

fn one_error(source: &str) -> (String, String) {
    let mut all = errors(source);
    assert_eq!(all.len(), 1, "{all:?}");
    all.remove(0)
}

#[test]
fn bounds_are_on_what_is_saved() {
    let code = expand(
        "struct S<T, U, V, const N: usize> { a: Vec<T>, #[ckpt(skip)] b: Option<U>, c: PhantomData<V>, d: [u8; N] }",
    );
    assert!(
        code.contains("impl<T, U, V, const N: usize> ::ckpt::Checkpoint for S<T, U, V, N>"),
        "{code}"
    );
    assert!(code.contains("T: ::ckpt::Checkpoint,"), "{code}");
    assert!(code.contains("Option<U>: ::core::default::Default,"), "{code}");
    assert!(
        !code.contains("U: ::ckpt") && !code.contains("V: ::ckpt"),
        "{code}"
    );
    let code = expand("struct S<I: Iterator> { last: Option<I::Item>, #[ckpt(serde)] x: I }");
    assert!(code.contains("I::Item: ::ckpt::Checkpoint,"), "{code}");
    assert!(code.contains("I: ::ckpt::value::SavedBySerde,"), "{code}");
}

#[test]
fn a_field_that_is_filled_makes_the_struct_one_that_is() {
    let code = expand("struct S { #[ckpt(refill)] now: Buffer<f32>, n: usize }");
    assert!(
        code.contains("::ckpt::value::Refill for S") && !code.contains("::ckpt::Checkpoint for S"),
        "{code}"
    );
    assert!(code.contains("MadeAgain for S"), "{code}");
    let code = expand("struct S { #[ckpt(parts)] all: Vec<Field>, n: usize }");
    let parts = "<Vec<Field>as::ckpt::value::Parts<_>>::fill(&mutself.all";
    // The printer breaks long types into lines, with commas at their ends.
    let on_one_line: String = code.split_whitespace().collect();
    assert!(on_one_line.replace(",>", ">").contains(parts), "{code}");
    let places = "struct S { #[ckpt(refill)] now: Buffer<f32>, #[ckpt(refill)] next: Buffer<f32>, #[ckpt(places(next, now))] which: Places }";
    let on_one_line: String = expand(places).split_whitespace().collect();
    assert!(
        on_one_line.contains("::ckpt::device::put(&self.which,[&mutself.next,&mutself.now]);"),
        "{on_one_line}"
    );
    let (said, at) = one_error("struct S { #[ckpt(refill, parts)] a: u8 }");
    assert!(said.starts_with("E1103") && at == "refill", "{said}");
    let (said, at) = one_error("struct S { #[ckpt(refill, skip)] a: u8 }");
    assert!(said.starts_with("E1103") && at == "refill", "{said}");
}

#[test]
fn the_crate_can_be_elsewhere() {
    let code = expand("#[ckpt(crate = \"crate::restart\")] struct S(u8);");
    assert!(code.contains("impl crate::restart::Checkpoint for S"), "{code}");
    assert!(!code.contains("::ckpt::"), "{code}");
}

#[test]
fn a_detector_is_asked_of_each_value() {
    let code = expand("#[ckpt(detector = \"crate::laws::is_whole\")] struct S { cells: Vec<f64> }");
    let asked = "let __is_plausible: fn(&Self) -> bool = crate::laws::is_whole;";
    assert_eq!(code.matches(asked).count(), 2, "alone, and in a list: {code}");
    assert!(
        code.contains("__to.detects(\"crate::laws::is_whole\", || __is_plausible(self));"),
        "{code}"
    );
    let code = expand("#[ckpt(detector = \"is_known\")] enum E { A(u8), B }");
    assert_eq!(code.matches("__is_plausible(self)").count(), 1, "{code}");
    let twice = "#[ckpt(detector = \"a\", detector = \"b\")] struct S(u8);";
    assert!(one_error(twice).0.starts_with("E1"), "{twice}");
}

#[test]
fn an_enum_without_fields_has_no_payloads() {
    let code = expand("enum E { A, B }");
    assert!(
        code.contains("plain_variant") && !code.contains("__CHILDREN"),
        "{code}"
    );
    expand("enum Never {}");
}

#[test]
fn wrong_attributes_are_named_at_their_place() {
    let (message, place) = one_error("struct S { #[ckpt(skipped)] a: u8 }");
    assert_eq!(
        (message.as_str(), place.as_str()),
        (
            "E1114: a field takes `skip`, `keep`, `through`, `refill`, `parts`, `places`, `handle_places`, `serde`, `default`, `rename`, `alias`",
            "skipped"
        )
    );
    let (message, place) = one_error("#[ckpt(skip)] struct S;");
    assert_eq!(
        (message.as_str(), place.as_str()),
        ("E1114: an item takes `crate`, `detector`", "skip")
    );
    let (message, _) = one_error("enum E { #[ckpt(default)] A }");
    assert_eq!(message, "E1114: a variant takes `rename`, `alias`");
    let (message, place) = one_error("struct S { #[ckpt(skip, serde)] a: u8 }");
    assert_eq!(
        (message.as_str(), place.as_str()),
        (
            "E1104: `skip` and `serde` exclude each other: a skipped field is not saved at all",
            "serde"
        )
    );
    let (message, place) = one_error("struct S { #[ckpt(skip, rename = \"b\")] a: u8 }");
    assert_eq!(
        (message.as_str(), place.as_str()),
        (
            "E1105: a skipped field is not in the file and needs no name there",
            "\"b\""
        )
    );
    let (message, place) = one_error("struct S { a: u8, #[ckpt(rename = \"a\")] b: u8 }");
    assert_eq!(
        (message.as_str(), place.as_str()),
        (
            "E1106: two fields are called `a` in the file; `rename` or `alias` must differ",
            "b"
        )
    );
    assert!(
        one_error("enum E { A, #[ckpt(alias = \"A\")] B }")
            .0
            .starts_with("E1106: two variants are called `A`")
    );
    assert_eq!(
        one_error("struct S { #[ckpt(skip, skip)] a: u8 }").0,
        "E1107: `skip` is given twice"
    );
    assert!(
        one_error("struct S { #[ckpt(default = 3)] a: u8 }")
            .0
            .contains("expected string literal")
    );
    assert_eq!(errors("struct S { #[ckpt(a)] a: u8, #[ckpt(b)] b: u8 }").len(), 2);
}

#[test]
fn a_union_is_refused() {
    let (message, place) = one_error("union U { a: u8 }");
    assert!(message.starts_with(
        "E1101: a union cannot be saved in a checkpoint: nothing says which of its fields is valid"
    ));
    assert_eq!(place, "union");
}
