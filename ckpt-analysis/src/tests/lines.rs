//! In the copy that is compiled every line of a program keeps its number, whatever is put in.

use super::program;

use crate::{ChooseOptions, Knowledge, PackageAnalysis, Program, line_and_column};
use ckpt_compiler::library::CallTable;
use std::path::{Path, PathBuf};
use syn::spanned::Spanned;
use syn::visit::Visit;

/// The Rust files of a folder and those below it.
fn rust_files(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().unwrap_or_default();
        if path.is_dir() && name != "target" {
            rust_files(&path, into);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            into.push(path);
        }
    }
}

/// Where the types of a program begin: each may get a derive.
struct Types(Vec<usize>);

impl<'ast> Visit<'ast> for Types {
    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        self.0.push(item.span().byte_range().start);
    }
    fn visit_item_enum(&mut self, item: &'ast syn::ItemEnum) {
        self.0.push(item.span().byte_range().start);
    }
}

/// What stands on another line than before, with all that a placement asks for and a derive for every type.
fn moved(program: &Program) -> Vec<String> {
    let analysis = PackageAnalysis::of(program, &CallTable::default());
    let Some(main) = analysis.main() else {
        return Vec::new();
    };
    let mut known = Knowledge::default();
    for (index, file) in program.files.iter().enumerate() {
        let mut types = Types(Vec::new());
        types.visit_file(&file.ast);
        let places = types
            .0
            .into_iter()
            .map(|at| (crate::FileId(index), at - file.base));
        known.decisions.derives.extend(places);
    }
    let placement = analysis.place(main, &ChooseOptions::default());
    let attempt = analysis.edits(program, known, placement, true, true);
    let mut moved = Vec::new();
    for (file, edited) in &attempt.edited {
        let original = &program.file(*file).text;
        let compiled = edited.text_on_lines_without(&[]);
        assert!(ckpt_compiler::parse_file(&compiled).is_ok(), "{compiled}");
        for (at, _) in original.char_indices().filter(|(_, one)| !one.is_whitespace()) {
            let Some(new) = edited.new_offset(at) else {
                continue;
            };
            let (was, is) = (line_and_column(original, at).0, line_and_column(&compiled, new).0);
            if was != is {
                moved.push(format!("line {was} is line {is}"));
                break;
            }
        }
    }
    moved
}

#[test]
fn no_line_of_a_package_moves() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata");
    let mut files = Vec::new();
    rust_files(&folder, &mut files);
    assert!(files.len() > 100, "{}", files.len());
    let mut wrong = Vec::new();
    let mut edited = 0;
    for path in files {
        let text = std::fs::read_to_string(&path).expect("its text");
        let has_main = text.contains("fn main(");
        let text = if has_main { text } else { text + "\nfn main() {}\n" };
        let found = moved(&program(&[("main.rs", &text)]));
        edited += usize::from(has_main);
        wrong.extend(found.into_iter().map(|one| format!("{}: {one}", path.display())));
    }
    assert!(edited > 40 && wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn a_derive_moves_nothing() {
    for end in ["\n", "\r\n"] {
        let text = "// first\nuse std::rc::Rc;\nstatic mut N: u64 = 0; // how many\n#[derive(Clone)]\nstruct A {\n    b: u64,\n}\n\nfn step(a: &mut A) { a.b += 1; }\n\nfn main() {\n    let mut a = A { b: 0 };\n    for _ in 0..100000 {\n        // here\n\n        for _ in 0..100 { step(&mut a); }\n    }\n    panic!(\"{}\", a.b);\n}\n".replace('\n', end);
        assert_eq!(moved(&program(&[("main.rs", &text)])), [""; 0], "{end:?}");
    }
}
