//! `--level full`: the instrumented functions in place of the user's, formatted; all else stays.

use ckpt_analysis::{Edit, Edited, FileId, own_attribute};
use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::Attribute;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};

use crate::failure::{Failure, OrFail, Outcome, says};

/// The text of a file in which every function with an attribute of ckpt is written out.
///
/// # Errors
/// Where a function cannot be instrumented, or the text is not Rust.
pub fn expanded(text: &str) -> Outcome<String> {
    let file = ckpt_compiler::parse_file(text)
        .or_fail(|| Failure::build(says!("E3064: a rewritten file is not Rust")))?;
    let mut writer = Writer {
        text,
        in_impl: false,
        edits: Vec::new(),
        failed: None,
    };
    writer.visit_file(&file);
    match writer.failed {
        Some(failure) => Err(failure),
        None => Ok(Edited::new(text, &writer.edits).text),
    }
}

struct Writer<'t> {
    text: &'t str,
    in_impl: bool,
    edits: Vec<Edit>,
    failed: Option<Failure>,
}

impl Writer<'_> {
    /// Replaces the function from its attribute of ckpt to its end.
    fn function<F: ToTokens + Clone>(&mut self, item: &F, attributes: fn(&mut F) -> &mut Vec<Attribute>) {
        let mut bare = item.clone();
        let mut behind = std::mem::take(attributes(&mut bare));
        let own = behind
            .iter()
            .enumerate()
            .find_map(|(at, one)| Some((at, own_attribute(one)?)));
        let Some((at, own)) = own else { return };
        let attribute = behind.remove(at);
        // Those before it stay in the text.
        behind.drain(..at);
        behind.retain(|one| own_attribute(one).is_none());
        *attributes(&mut bare) = behind;
        match write_out(
            own.arguments,
            bare.into_token_stream(),
            own.opens_session,
            self.in_impl,
        ) {
            Ok(written) => {
                let start = attribute.span().byte_range().start;
                let end = item.to_token_stream().span().byte_range().end;
                self.edits.push(Edit {
                    file: FileId(0),
                    start,
                    end,
                    text: indented(&written, indent_at(self.text, start)),
                });
            }
            Err(why) => {
                self.failed.get_or_insert_with(|| {
                    Failure::no(says!("E3065: a function cannot be written out")).because(why)
                });
            }
        }
    }
}

impl<'ast> Visit<'ast> for Writer<'_> {
    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.function(item, |item| &mut item.attrs);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.function(item, |item| &mut item.attrs);
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        let outer = std::mem::replace(&mut self.in_impl, true);
        visit::visit_item_impl(self, item);
        self.in_impl = outer;
    }

    fn visit_item_trait(&mut self, item: &'ast syn::ItemTrait) {
        let outer = std::mem::replace(&mut self.in_impl, true);
        visit::visit_item_trait(self, item);
        self.in_impl = outer;
    }
}

/// A function as it is instrumented, formatted.
///
/// # Errors
/// Why it cannot be.
pub fn write_out(
    arguments: TokenStream,
    item: TokenStream,
    opens_session: bool,
    in_impl: bool,
) -> Result<String, String> {
    let tokens = ckpt_compiler::try_expand(arguments, &item, opens_session).map_err(|errors| {
        errors
            .iter()
            .map(|one| one.message())
            .collect::<Vec<_>>()
            .join("\n")
    })?;
    formatted(tokens, in_impl)
}

/// A function, formatted.
///
/// # Errors
/// Where it is no Rust.
pub fn formatted(tokens: TokenStream, in_impl: bool) -> Result<String, String> {
    let whole = if in_impl {
        quote!(impl Holder { #tokens })
    } else {
        tokens
    };
    let file: syn::File = syn::parse2(whole).map_err(|error| error.to_string())?;
    let text = prettyplease::unparse(&file);
    Ok(if in_impl {
        between_the_braces(&text)
    } else {
        text.trim_end().to_owned()
    })
}

/// The lines between the braces of an `impl`, one level out.
fn between_the_braces(text: &str) -> String {
    let lines: Vec<&str> = text.trim_end().lines().collect();
    let body = lines.get(1..lines.len().saturating_sub(1)).unwrap_or_default();
    let out: Vec<&str> = body
        .iter()
        .map(|line| line.strip_prefix("    ").unwrap_or(line))
        .collect();
    out.join("\n")
}

fn indent_at(text: &str, at: usize) -> &str {
    let line = text[..at].rfind('\n').map_or(0, |end| end + 1);
    let before = &text[line..at];
    &before[..before.len() - before.trim_start().len()]
}

fn indented(text: &str, indent: &str) -> String {
    let mut lines = text.lines();
    let mut out = lines.next().unwrap_or_default().to_owned();
    for line in lines {
        out.push('\n');
        if !line.is_empty() {
            out.push_str(indent);
        }
        out.push_str(line);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_annotated_functions_are_written_out() {
        let text = "// kept\nfn a( ) { }\n\nimpl S {\n    /// Runs.\n    #[ckpt::instrument]\n    fn run(&mut self) {\n        for i in 0..3 {\n            ckpt::checkpoint!();\n            self.n += i;\n        }\n    }\n}\n";
        let written = expanded(text).unwrap();
        assert!(
            written.starts_with("// kept\nfn a( ) { }\n\nimpl S {\n    /// Runs.\n    "),
            "{written}"
        );
        assert!(
            !written.contains("#[ckpt::instrument]") && !written.contains("impl Holder"),
            "{written}"
        );
        assert!(syn::parse_file(&written).is_ok(), "{written}");
    }

    #[test]
    fn what_cannot_be_written_out_is_refused() {
        let refused = |text: &str| expanded(text).unwrap_err().as_data()["code"].clone();
        assert_eq!(refused("fn half( {"), "E3064");
        let in_a_closure = "#[ckpt::instrument]\nfn f() { let g = || { ckpt::checkpoint!(); }; g() }";
        assert_eq!(refused(in_a_closure), "E3065");
    }
}
