//! `Box<dyn Write>`: what is behind it is known by name where the trait is `ckpt::output::Write`.

use crate::source::edits::Edit;
use crate::source::locate::bytes;
use crate::source::{FileId, Program};
use ckpt_compiler::library::{Library, Types, segments};
use ckpt_compiler::visit::{self, Visit};
use syn::spanned::Spanned;

/// Whether a type is `dyn Write` of the standard library, as rustc writes it.
pub fn is_output(type_name: &str) -> bool {
    matches!(
        type_name,
        "dyn Write" | "dyn std::io::Write" | "(dyn std::io::Write + 'static)"
    )
}

/// Whether a field or variable holds `dyn Write` in a box.
pub fn is_boxed(library: &Library, path: &syn::Path) -> bool {
    written(library, path).is_some()
}

/// The edits that put the other trait in the place of std's wherever it is in a box; nothing where the program has
/// writers of its own, which could be behind it.
pub fn output_edits(library: &Library, program: &Program) -> Vec<Edit> {
    let has_own = |text: &str| text.contains("Write for ");
    if program.files.iter().any(|file| has_own(&file.text)) {
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
    match object.bounds.first() {
        Some(syn::TypeParamBound::Trait(bound)) if object.bounds.len() == 1 => {
            let is_it = library.says(&segments(&bound.path).join("::"), Types::Writers);
            (is_it && bound.path.leading_colon.is_none()).then_some(&bound.path)
        }
        _ => None,
    }
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
        let own = format!("{text}impl Write for Log {{}}\n");
        assert!(output_edits(Library::builtin(), &Program::of_text(&own)).is_empty());
    }
}
