//! `Box<dyn Write>`: what is behind it is known by name where the trait is `ckpt::output::Write`.

use crate::source::edits::Edit;
use crate::source::locate::bytes;
use crate::source::{FileId, Program};
use ckpt_compiler::library::{Library, Types, segments};
use ckpt_compiler::visit::{self, Visit};
use proc_macro2::{TokenStream, TokenTree};
use syn::spanned::Spanned;

/// Whether a type is `dyn Write` of the standard library, as rustc writes it: `(dyn std::io::Write + 'static)`.
pub fn is_output(library: &Library, type_name: &str) -> bool {
    let ty = match syn::parse_str(type_name) {
        Ok(syn::Type::Paren(inside)) => *inside.elem,
        Ok(ty) => ty,
        Err(_) => return false,
    };
    let syn::Type::TraitObject(mut object) = ty else {
        return false;
    };
    let is_lifetime = |bound: &syn::TypeParamBound| matches!(bound, syn::TypeParamBound::Lifetime(_));
    object.bounds = object
        .bounds
        .into_iter()
        .filter(|bound| !is_lifetime(bound))
        .collect();
    writer(library, &object).is_some()
}

/// Whether a field or variable holds `dyn Write` in a box.
pub fn is_boxed(library: &Library, path: &syn::Path) -> bool {
    written(library, path).is_some()
}

/// The edits that put the other trait in the place of std's wherever it is in a box; nothing where the program has
/// writers of its own, which could be behind it.
pub fn output_edits(library: &Library, program: &Program) -> Vec<Edit> {
    let mut own = OwnWriters {
        library,
        found: false,
    };
    program.files.iter().for_each(|file| own.visit_file(&file.ast));
    if own.found {
        return Vec::new();
    }
    let mut edits = Vec::new();
    for (index, file) in program.files.iter().enumerate() {
        let mut boxes = Boxes {
            library,
            program,
            file: FileId(index),
            edits: &mut edits,
        };
        boxes.visit_file(&file.ast);
    }
    edits
}

/// Implementations of such a trait, in macros as well.
struct OwnWriters<'l> {
    library: &'l Library,
    found: bool,
}

impl OwnWriters<'_> {
    fn tokens(&mut self, tokens: TokenStream) {
        let mut before = None;
        for token in tokens {
            match &token {
                TokenTree::Group(group) => self.tokens(group.stream()),
                TokenTree::Ident(word) if word == "for" => {
                    let last = before.take();
                    self.found |= last.is_some_and(|name: String| self.library.says(&name, Types::Writers));
                }
                _ => {}
            }
            before = Some(token.to_string());
        }
    }
}

impl<'ast> Visit<'ast> for OwnWriters<'_> {
    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        let of_trait = item.trait_.as_ref();
        self.found |= of_trait.is_some_and(|(_, path, _)| is_writer(self.library, path));
        visit::visit_item_impl(self, item);
    }

    fn visit_macro(&mut self, mac: &'ast syn::Macro) {
        self.tokens(mac.tokens.clone());
    }
}

struct Boxes<'p> {
    library: &'p Library,
    program: &'p Program,
    file: FileId,
    edits: &'p mut Vec<Edit>,
}

impl<'ast> Visit<'ast> for Boxes<'_> {
    fn visit_path(&mut self, path: &'ast syn::Path) {
        if let Some(bound) = written(self.library, path) {
            let at = bytes(self.program, self.file, bound.span()).start;
            self.edits.push(Edit::insert(self.file, at, "ckpt::output::"));
        }
        visit::visit_path(self, path);
    }
}

/// The `Write` of `Box<dyn Write>`.
fn written<'a>(library: &Library, path: &'a syn::Path) -> Option<&'a syn::Path> {
    let last = path
        .segments
        .last()
        .filter(|last| library.says(&last.ident.to_string(), Types::Boxes))?;
    let syn::PathArguments::AngleBracketed(arguments) = &last.arguments else {
        return None;
    };
    let Some(syn::GenericArgument::Type(syn::Type::TraitObject(object))) = arguments.args.first() else {
        return None;
    };
    writer(library, object)
}

/// The trait of an object that has no other.
fn writer<'a>(library: &Library, object: &'a syn::TypeTraitObject) -> Option<&'a syn::Path> {
    match object.bounds.first() {
        Some(syn::TypeParamBound::Trait(bound)) if object.bounds.len() == 1 => {
            let is_plain = bound.path.leading_colon.is_none();
            (is_plain && is_writer(library, &bound.path)).then_some(&bound.path)
        }
        _ => None,
    }
}

fn is_writer(library: &Library, path: &syn::Path) -> bool {
    library.says(&segments(path).join("::"), Types::Writers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Edited;

    #[test]
    fn every_box_gets_the_other_trait_unless_the_program_has_writers_of_its_own() {
        let text = "struct Log { out: Box<dyn io::Write> }\nfn f(a: &mut dyn Write, b: Box<dyn std::io::Write>, c: Box<dyn Write + Send>) {}\n";
        let edits = output_edits(Library::builtin(), &Program::of_text(text));
        assert_eq!(
            Edited::new(text, &edits).text,
            "struct Log { out: Box<dyn ckpt::output::io::Write> }\nfn f(a: &mut dyn Write, b: Box<dyn ckpt::output::std::io::Write>, c: Box<dyn Write + Send>) {}\n"
        );
        let edits = |more: &str| {
            let text = format!("{text}{more}\n");
            output_edits(Library::builtin(), &Program::of_text(&text)).len()
        };
        for own in [
            "impl Write for Log {}",
            "impl<T> io::Write for Tee<T> {}",
            "macro_rules! own { ($ty:ty) => { impl std::io::Write for $ty {} } }",
            "mod inside { fn f() { impl Write\nfor Log {} } }",
        ] {
            assert_eq!(edits(own), 0, "{own}");
        }
        for other in [
            "/// Write for all.\nfn g() {}",
            "fn g() -> &'static str { \"Write for \" }",
        ] {
            assert_eq!(edits(other), 2, "{other}");
        }
    }

    #[test]
    fn rustc_names_the_object_in_several_ways() {
        let is_one = |name| is_output(Library::builtin(), name);
        for name in [
            "dyn Write",
            "dyn std::io::Write",
            "(dyn std::io::Write + 'static)",
        ] {
            assert!(is_one(name), "{name}");
        }
        for name in [
            "dyn Read",
            "(dyn std::io::Write + Send)",
            "Write",
            "{closure@src/main.rs:1:2}",
        ] {
            assert!(!is_one(name), "{name}");
        }
    }
}
