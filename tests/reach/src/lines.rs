//! Lines of Rust: those on which there is something of the program, not blank ones and not comments.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, anyhow};
use proc_macro2::{Span, TokenStream, TokenTree};

/// Counts the lines of all Rust files of a package.
///
/// # Errors
/// A file cannot be read, or is not Rust.
pub fn of_package(folder: &Path) -> Result<usize> {
    let mut count = 0;
    for entry in fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))? {
        let path = entry?.path();
        if path.is_dir() && !path.ends_with("target") {
            count += of_package(&path)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text =
                fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
            count += of_text(&text).with_context(|| path.display().to_string())?;
        }
    }
    Ok(count)
}

/// Counts the lines of a text.
///
/// # Errors
/// The text is not made of Rust's tokens.
pub fn of_text(text: &str) -> Result<usize> {
    let tokens: TokenStream = text.parse().map_err(|error| anyhow!("not Rust: {error}"))?;
    let mut lines = BTreeSet::new();
    gather(tokens, &mut lines);
    Ok(lines.len())
}

fn gather(tokens: TokenStream, lines: &mut BTreeSet<usize>) {
    // The tokens that a documentation comment turns into all have the place of the comment.
    let of_program = tokens.into_iter().filter(|token| !is_comment(token.span()));
    for token in of_program {
        match token {
            TokenTree::Group(group) => {
                for end in [group.span_open(), group.span_close()] {
                    lines.insert(end.start().line);
                }
                gather(group.stream(), lines);
            }
            other => lines.extend(other.span().start().line..=other.span().end().line),
        }
    }
}

fn is_comment(span: Span) -> bool {
    span.source_text()
        .is_some_and(|text| text.starts_with("//") || text.starts_with("/*"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blank_lines_and_comments_do_not_count() {
        let text = "//! About.\n\n/* more\n*/\n/// A function.\nfn main() { // here\n\n    f(\"// no comment\n\");\n}\n/** last */ const A: u8 = 1;\n";
        assert_eq!(of_text(text).unwrap(), 5);
    }

    #[test]
    fn what_is_no_rust_is_an_error() {
        assert!(of_text("fn main() {").is_err());
    }
}
