//! Lints of a copy: what ckpt puts into the sources is not the user's, and no build is to stop for what a lint finds there.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::PathBuf;

use ckpt_analysis::Program;

/// The texts of a copy, by their files: what is said at the root of a crate is said of all of it, so that roots are among them
/// that have something to say.
pub fn warn_only(texts: &mut BTreeMap<PathBuf, String>, program: &Program) {
    for text in texts.values_mut() {
        if let Cow::Owned(changed) = only_warned(text) {
            *text = changed;
        }
    }
    for root in program.crates.iter().map(|one| program.file(one.root)) {
        if !texts.contains_key(&root.path)
            && let Cow::Owned(changed) = only_warned(&root.text)
        {
            texts.insert(root.path.clone(), changed);
        }
    }
}

/// The text of a file that says of no lint that rustc is to stop for it, as `#![deny(warnings)]` does: it warns. Nothing moves.
fn only_warned(text: &str) -> Cow<'_, str> {
    let is_moved = text.starts_with('\u{feff}') || text.starts_with("#!") && !text.starts_with("#![");
    let may_have_some = !is_moved && (text.contains("deny") || text.contains("forbid"));
    let Some(file) = may_have_some.then(|| syn::parse_file(text).ok()).flatten() else {
        return Cow::Borrowed(text);
    };
    let mut changed = text.to_owned();
    for attribute in file.attrs.iter().rev() {
        let Some(word) = attribute.path().get_ident() else {
            continue;
        };
        let instead = match word.to_string().as_str() {
            "deny" => "warn",
            // As long: what stands behind it keeps its column.
            "forbid" => "warn  ",
            _ => continue,
        };
        changed.replace_range(word.span().byte_range(), instead);
    }
    match changed == text {
        true => Cow::Borrowed(text),
        false => Cow::Owned(changed),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lints_that_stop_a_build_warn() {
        let text = "//! é\n#![deny(warnings)]\n#![forbid(unused)] #![allow(dead_code)]\n#[deny(unused)]\nfn main() {}\n";
        let changed = only_warned(text);
        assert_eq!(
            changed,
            "//! é\n#![warn(warnings)]\n#![warn  (unused)] #![allow(dead_code)]\n#[deny(unused)]\nfn main() {}\n"
        );
        assert_eq!(changed.len(), text.len());
        assert!(
            matches!(only_warned("fn main() { deny(); }"), Cow::Borrowed(same) if same == "fn main() { deny(); }")
        );
        assert!(matches!(only_warned("fn deny("), Cow::Borrowed("fn deny(")));
    }
}
