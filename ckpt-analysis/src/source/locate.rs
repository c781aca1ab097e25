//! From a place in a file to what stands there: the variable, parameter, field or type that a message of rustc is about.

use crate::source::{FileId, Program};
use ckpt_compiler::visit::{self, Visit};
use proc_macro2::Span;
use std::ops::Range;
use syn::spanned::Spanned;

/// What was found, the innermost that holds the place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// A `let`.
    Let {
        /// First byte of the statement.
        start: usize,
        /// The names that it declares.
        names: Vec<String>,
        /// Whether one of them may change: `mut`.
        mutable: bool,
        /// The attribute of ckpt that stands on it, if any does.
        treated: bool,
    },
    /// The head of a `for`.
    For {
        /// First byte of the loop.
        start: usize,
        /// Whether an attribute of ckpt stands on it.
        treated: bool,
    },
    /// A parameter of a function.
    Parameter {
        /// First byte.
        start: usize,
        /// Its name.
        name: String,
        /// Whether it has one name, and is no reference.
        by_value: bool,
    },
    /// A field of a struct or of a variant.
    Field {
        /// First byte, in front of its attributes.
        start: usize,
        /// `Sim.grid`, `Shape::Circle.0`
        name: String,
        /// First byte of its type, and the byte behind.
        ty: Range<usize>,
        /// First byte of the type's item.
        item: usize,
    },
    /// The head of a struct, enum or union.
    Type {
        /// First byte of the item.
        item: usize,
        /// Its name.
        name: String,
    },
}

/// Bytes of the span in the text of its file.
pub fn bytes(program: &Program, file: FileId, span: Span) -> Range<usize> {
    let base = program.file(file).base;
    let range = span.byte_range();
    range.start + base..range.end + base
}

/// What stands at the byte.
pub fn locate(program: &Program, file: FileId, offset: usize) -> Option<Found> {
    let mut finder = Locator {
        program,
        file,
        offset,
        found: None,
    };
    finder.visit_file(&program.file(file).ast);
    finder.found
}

/// The innermost statement around the byte.
pub fn statement_at(program: &Program, file: FileId, offset: usize) -> Option<Range<usize>> {
    struct Statements<'p>(&'p Program, FileId, usize, Option<Range<usize>>);
    impl<'ast> Visit<'ast> for Statements<'_> {
        fn visit_stmt(&mut self, stmt: &'ast syn::Stmt) {
            let range = bytes(self.0, self.1, stmt.span());
            if range.contains(&self.2) && !matches!(stmt, syn::Stmt::Item(_)) {
                self.3 = Some(range);
            }
            visit::visit_stmt(self, stmt);
        }
    }
    let mut statements = Statements(program, file, offset, None);
    statements.visit_file(&program.file(file).ast);
    statements.3
}

/// Where the variable is in scope whose declaration holds the byte in its pattern: from the end of its `let` to the end
/// of the block around it.
pub fn scope_of(program: &Program, file: FileId, offset: usize) -> Option<Range<usize>> {
    struct Scopes<'p>(&'p Program, FileId, usize, Option<Range<usize>>);
    impl<'ast> Visit<'ast> for Scopes<'_> {
        fn visit_block(&mut self, block: &'ast syn::Block) {
            let range = |span: Span| bytes(self.0, self.1, span);
            for stmt in &block.stmts {
                if let syn::Stmt::Local(local) = stmt
                    && range(local.pat.span()).contains(&self.2)
                {
                    self.3 = Some(range(local.span()).end..range(block.span()).end);
                }
            }
            visit::visit_block(self, block);
        }
    }
    let mut scopes = Scopes(program, file, offset, None);
    scopes.visit_file(&program.file(file).ast);
    scopes.3
}

struct Locator<'p> {
    program: &'p Program,
    file: FileId,
    offset: usize,
    found: Option<Found>,
}

impl Locator<'_> {
    fn range(&self, node: &impl Spanned) -> Range<usize> {
        bytes(self.program, self.file, node.span())
    }

    fn holds(&self, node: &impl Spanned) -> bool {
        self.range(node).contains(&self.offset)
    }

    fn note_type(&mut self, item: &impl Spanned, ident: &syn::Ident) {
        if self.holds(item) {
            self.found = Some(Found::Type {
                item: self.range(item).start,
                name: ident.to_string(),
            });
        }
    }

    fn note_fields(&mut self, owner: &str, item: usize, fields: &syn::Fields) {
        for (index, field) in fields.iter().enumerate() {
            if self.holds(field) {
                let name = match &field.ident {
                    Some(ident) => ident.to_string(),
                    None => index.to_string(),
                };
                self.found = Some(Found::Field {
                    start: self.range(field).start,
                    name: format!("{owner}.{name}"),
                    ty: self.range(&field.ty),
                    item,
                });
            }
        }
    }
}

impl<'ast> Visit<'ast> for Locator<'_> {
    fn visit_local(&mut self, local: &'ast syn::Local) {
        if self.holds(local) {
            let mut names = PatternNames::default();
            names.visit_pat(&local.pat);
            // What stands inside the initialiser is looked at below and wins.
            self.found = Some(Found::Let {
                start: self.range(local).start,
                names: names.list,
                mutable: names.mutable,
                treated: local.attrs.iter().any(|one| one.path().is_ident("ckpt")),
            });
        }
        visit::visit_local(self, local);
    }

    fn visit_expr_for_loop(&mut self, one: &'ast syn::ExprForLoop) {
        if self.holds(&one.pat) || self.holds(&one.expr) {
            self.found = Some(Found::For {
                start: self.range(one).start,
                treated: one.attrs.iter().any(|one| one.path().is_ident("ckpt")),
            });
        }
        visit::visit_expr_for_loop(self, one);
    }

    fn visit_signature(&mut self, signature: &'ast syn::Signature) {
        for argument in &signature.inputs {
            if self.holds(argument) {
                let (name, by_value) = match argument {
                    syn::FnArg::Receiver(receiver) => {
                        let by_value = receiver.reference.is_none() && receiver.colon_token.is_none();
                        ("self".into(), by_value)
                    }
                    syn::FnArg::Typed(typed) => {
                        let mut names = PatternNames::default();
                        names.visit_pat(&typed.pat);
                        let is_one = matches!(&*typed.pat, syn::Pat::Ident(name) if name.by_ref.is_none());
                        let is_path = matches!(&*typed.ty, syn::Type::Path(_));
                        (names.list.join(", "), is_one && is_path)
                    }
                };
                self.found = Some(Found::Parameter {
                    start: self.range(argument).start,
                    name,
                    by_value,
                });
            }
        }
        visit::visit_signature(self, signature);
    }

    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        self.note_type(item, &item.ident);
        let start = self.range(item).start;
        self.note_fields(&item.ident.to_string(), start, &item.fields);
    }

    fn visit_item_enum(&mut self, item: &'ast syn::ItemEnum) {
        self.note_type(item, &item.ident);
        let start = self.range(item).start;
        for variant in &item.variants {
            self.note_fields(
                &format!("{}::{}", item.ident, variant.ident),
                start,
                &variant.fields,
            );
        }
    }

    fn visit_item_union(&mut self, item: &'ast syn::ItemUnion) {
        self.note_type(item, &item.ident);
    }
}

/// The names that a pattern binds.
#[derive(Default)]
struct PatternNames {
    list: Vec<String>,
    mutable: bool,
}

impl<'ast> Visit<'ast> for PatternNames {
    fn visit_pat_ident(&mut self, pattern: &'ast syn::PatIdent) {
        self.list.push(pattern.ident.to_string());
        self.mutable |= pattern.mutability.is_some();
        visit::visit_pat_ident(self, pattern);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str, wanted: &str) -> Option<Found> {
        let program = Program::of_text(text);
        locate(&program, FileId(0), text.find(wanted).unwrap())
    }

    #[test]
    fn variables_parameters_fields_and_types_are_told_apart() {
        let text =
            "struct Sim { grid: Vec<f64>, gen: Rng }\nfn f(deck: &Deck) { let mut state = make(deck); }\n";
        assert!(matches!(at(text, "struct"), Some(Found::Type { name, item: 0 }) if name == "Sim"));
        assert!(matches!(at(text, "Rng"), Some(Found::Field { name, .. }) if name == "Sim.gen"));
        assert!(matches!(at(text, "&Deck"), Some(Found::Parameter { name, .. }) if name == "deck"));
        assert!(
            matches!(at(text, "state"), Some(Found::Let { names, mutable: true, .. }) if names == ["state"])
        );
        assert_eq!(at(text, "fn f"), None);
    }

    #[test]
    fn a_variable_is_in_scope_to_the_end_of_its_block() {
        let text = "fn f() { for t in 0..9 { before(); let sim = new(t); during(sim); } after(); }\n";
        let program = Program::of_text(text);
        let scope = |wanted: &str| scope_of(&program, FileId(0), text.find(wanted).unwrap());
        let of_sim = scope("sim").unwrap();
        let within = |wanted: &str| of_sim.contains(&text.find(wanted).unwrap());
        assert!(within("during") && !within("before") && !within("after") && !within("new"));
        assert_eq!(scope("new"), None);
    }
}
