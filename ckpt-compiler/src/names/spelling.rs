//! How a name is spelled: `r#gain` and `gain` are one name to Rust, and one here.

use proc_macro2::Ident;

/// A name in the one spelling by which names are compared: with `r#` only where it is a word of the language without.
pub fn spelling(name: &Ident) -> String {
    let text = name.to_string();
    match text.strip_prefix("r#") {
        Some(plain) if is_plain(plain) => plain.to_owned(),
        _ => text,
    }
}

/// The same of a name in a format string, where `{type}` is what `r#type` is elsewhere.
pub fn spelling_of_captured(name: &str) -> String {
    let is_path = matches!(name, "self" | "Self" | "super" | "crate");
    match is_path || is_plain(name) {
        true => name.to_owned(),
        false => format!("r#{name}"),
    }
}

/// A name in texts for people and in other names, without `r#`.
pub fn plain_text(name: &Ident) -> String {
    let text = name.to_string();
    text.strip_prefix("r#").map(str::to_owned).unwrap_or(text)
}

/// The same name with no `r#` that it could do without. That of `r#gen` stays: it is a word of the newest editions.
pub(crate) fn respelled(name: &Ident) -> Option<Ident> {
    let text = name.to_string();
    let plain = text.strip_prefix("r#")?;
    (plain != "gen" && is_plain(plain)).then(|| Ident::new(plain, name.span()))
}

/// Whether it is a name without `r#`.
fn is_plain(name: &str) -> bool {
    syn::parse_str::<Ident>(name).is_ok()
}
