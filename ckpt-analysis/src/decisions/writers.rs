//! `Box<dyn Write>`, `Box<dyn Read>`: what is behind it is known by name where the trait is `ckpt::output::Write` or
//! `ckpt::input::Read`.

use crate::source::edits::Edit;
use crate::source::locate::bytes;
use crate::source::{FileId, Program};
use ckpt_compiler::library::{Library, Types, segments};
use ckpt_compiler::visit::{self, Visit};
use proc_macro2::{TokenStream, TokenTree};
use syn::spanned::Spanned;

/// Which way bytes go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stream {
    /// Out of the program.
    Output,
    /// Into it.
    Input,
}

impl Stream {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Output, Self::Input];

    /// The name under which the edits are with those of the program's own objects.
    pub fn key(self) -> &'static str {
        match self {
            Self::Output => "dyn ckpt::output::Write",
            Self::Input => "dyn ckpt::input::Read",
        }
    }

    /// The one of that name.
    pub fn of_key(key: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|stream| stream.key() == key)
    }

    /// Where ckpt's traits are.
    fn module(self) -> &'static str {
        match self {
            Self::Output => "ckpt::output::",
            Self::Input => "ckpt::input::",
        }
    }

    fn traits(self) -> Types {
        match self {
            Self::Output => Types::Writers,
            Self::Input => Types::Readers,
        }
    }

    fn says(self, library: &Library, path: &syn::Path) -> bool {
        library.says(&segments(path).join("::"), self.traits())
    }
}

/// Which of std's traits a type is an object of, as rustc writes it: `(dyn std::io::Write + 'static)`.
pub fn stream_of(library: &Library, type_name: &str) -> Option<Stream> {
    let ty = match syn::parse_str(type_name) {
        Ok(syn::Type::Paren(inside)) => *inside.elem,
        Ok(ty) => ty,
        Err(_) => return None,
    };
    let syn::Type::TraitObject(mut object) = ty else {
        return None;
    };
    let is_lifetime = |bound: &syn::TypeParamBound| matches!(bound, syn::TypeParamBound::Lifetime(_));
    object.bounds = object
        .bounds
        .into_iter()
        .filter(|bound| !is_lifetime(bound))
        .collect();
    let is_one = |stream: &Stream| plain_trait(*stream, library, &object).is_some();
    Stream::ALL.into_iter().find(is_one)
}

/// Whether a field or variable holds such an object in a box.
pub fn is_boxed(library: &Library, path: &syn::Path) -> bool {
    let mut all = Stream::ALL.into_iter();
    all.any(|stream| boxed_trait(stream, library, path).is_some())
}

/// The edits that put the other trait in the place of std's wherever it is in a box; nothing where the program has
/// types of its own that implement it, which could be behind it.
pub fn stream_edits(stream: Stream, library: &Library, program: &Program) -> Vec<Edit> {
    let mut own = OwnStreams {
        stream,
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
            stream,
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
struct OwnStreams<'l> {
    stream: Stream,
    library: &'l Library,
    found: bool,
}

impl OwnStreams<'_> {
    fn tokens(&mut self, tokens: TokenStream) {
        let mut before = None;
        for token in tokens {
            match &token {
                TokenTree::Group(group) => self.tokens(group.stream()),
                TokenTree::Ident(word) if word == "for" => {
                    let last = before.take();
                    self.found |=
                        last.is_some_and(|name: String| self.library.says(&name, self.stream.traits()));
                }
                _ => {}
            }
            before = Some(token.to_string());
        }
    }
}

impl<'ast> Visit<'ast> for OwnStreams<'_> {
    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        let of_trait = item.trait_.as_ref();
        self.found |= of_trait.is_some_and(|(_, path, _)| self.stream.says(self.library, path));
        visit::visit_item_impl(self, item);
    }

    fn visit_macro(&mut self, mac: &'ast syn::Macro) {
        self.tokens(mac.tokens.clone());
    }
}

struct Boxes<'p> {
    stream: Stream,
    library: &'p Library,
    program: &'p Program,
    file: FileId,
    edits: &'p mut Vec<Edit>,
}

impl<'ast> Visit<'ast> for Boxes<'_> {
    fn visit_path(&mut self, path: &'ast syn::Path) {
        if let Some(bound) = boxed_trait(self.stream, self.library, path) {
            let at = bytes(self.program, self.file, bound.span()).start;
            self.edits.push(Edit::insert(self.file, at, self.stream.module()));
        }
        visit::visit_path(self, path);
    }
}

/// The `Write` of `Box<dyn Write>`.
fn boxed_trait<'a>(stream: Stream, library: &Library, path: &'a syn::Path) -> Option<&'a syn::Path> {
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
    plain_trait(stream, library, object)
}

/// The trait of an object that has no other.
fn plain_trait<'a>(
    stream: Stream,
    library: &Library,
    object: &'a syn::TypeTraitObject,
) -> Option<&'a syn::Path> {
    match object.bounds.first() {
        Some(syn::TypeParamBound::Trait(bound)) if object.bounds.len() == 1 => {
            let is_plain = bound.path.leading_colon.is_none();
            (is_plain && stream.says(library, &bound.path)).then_some(&bound.path)
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
        let edits = stream_edits(Stream::Output, Library::builtin(), &Program::of_text(text));
        assert_eq!(
            Edited::new(text, &edits).text,
            "struct Log { out: Box<dyn ckpt::output::io::Write> }\nfn f(a: &mut dyn Write, b: Box<dyn ckpt::output::std::io::Write>, c: Box<dyn Write + Send>) {}\n"
        );
        let edits = |more: &str| {
            let text = format!("{text}{more}\n");
            stream_edits(Stream::Output, Library::builtin(), &Program::of_text(&text)).len()
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
    fn readers_have_a_trait_of_their_own() {
        let text = "struct Deck { from: Box<dyn BufRead>, bytes: Option<Box<dyn std::io::Read>>, log: Box<dyn Write> }\n";
        let edits = stream_edits(Stream::Input, Library::builtin(), &Program::of_text(text));
        assert_eq!(
            Edited::new(text, &edits).text,
            "struct Deck { from: Box<dyn ckpt::input::BufRead>, bytes: Option<Box<dyn ckpt::input::std::io::Read>>, log: Box<dyn Write> }\n"
        );
        let own = format!("{text}impl Read for Deck {{}}\n");
        let of_own = |stream| stream_edits(stream, Library::builtin(), &Program::of_text(&own)).len();
        assert_eq!((of_own(Stream::Input), of_own(Stream::Output)), (0, 1));
        let is_input = |name| stream_of(Library::builtin(), name) == Some(Stream::Input);
        assert!(is_input("(dyn std::io::BufRead + 'static)") && is_input("dyn Read"));
    }

    #[test]
    fn rustc_names_the_object_in_several_ways() {
        let is_one = |name| stream_of(Library::builtin(), name) == Some(Stream::Output);
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
