//! Threads that a program starts: the body of each that may outlive the statement is watched at run time, so that no
//! checkpoint is taken while it runs. Those that a call starts of which the user has said that it is rebuilt at a restart
//! are started again with it, and hold no checkpoint back.

use crate::items::{Function, Items};
use crate::source::edits::Edit;
use crate::source::locate::bytes;
use crate::source::{FileId, Program};
use ckpt_compiler::desugar::regions::watchable;
use ckpt_compiler::library::{Library, Threads, segments};
use ckpt_compiler::parse::options::{Treatment, take_treatment};
use ckpt_compiler::visit::{self, Visit};
use syn::spanned::Spanned;
use syn::{Expr, ExprCall, ExprMethodCall, Local, UseTree};

/// The edits that have the program's threads watched. The library: with what the user says of calls.
pub fn thread_edits(program: &Program, items: &Items, library: &Library) -> Vec<Edit> {
    let mut threads = Vec::new();
    let mut reexecuted = Vec::new();
    for (index, file) in program.files.iter().enumerate() {
        let mut starts = Starts {
            program,
            library,
            file: FileId(index),
            is_bare_known: imports_start(library, &file.ast),
            edits: &mut threads,
            reexecuted: &mut reexecuted,
        };
        starts.visit_file(&file.ast);
    }
    if !threads.is_empty() {
        let promised = |function: &&Function| {
            let path = syn::parse_str(&function.display);
            path.is_ok_and(|path| library.added().is_device(&segments(&path)))
                || reexecuted.iter().any(|path| ends_in(&function.display, path))
        };
        threads.extend(items.functions.iter().filter(promised).map(|function| {
            let text = " let _ckpt_reexecuted = ckpt::thread::made_again();";
            Edit::insert(function.place.file, function.body_at, text)
        }));
    }
    threads
}

/// Whether the function of this name is the one that is called by a path: the shorter of the two ends the longer.
fn ends_in(display: &str, path: &[String]) -> bool {
    let mut names = display.rsplit("::").zip(path.iter().rev());
    names.all(|(name, segment)| name == segment)
}

/// `use std::thread::spawn;`, `use std::thread::{self, spawn};`.
fn imports_start(library: &Library, file: &syn::File) -> bool {
    let mut imports = Imports {
        library,
        found: false,
    };
    imports.visit_file(file);
    imports.found
}

struct Imports<'l> {
    library: &'l Library,
    found: bool,
}

impl Imports<'_> {
    fn is_start(&self, tree: &UseTree) -> bool {
        match tree {
            UseTree::Name(one) => self.library.says(&one.ident.to_string(), Threads::Starts),
            UseTree::Group(list) => list.items.iter().any(|one| self.is_start(one)),
            _ => false,
        }
    }
}

impl<'ast> Visit<'ast> for Imports<'_> {
    fn visit_use_path(&mut self, path: &'ast syn::UsePath) {
        let is_of_threads = self.library.says(&path.ident.to_string(), Threads::Modules);
        self.found |= is_of_threads && self.is_start(&path.tree);
        visit::visit_use_path(self, path);
    }
}

struct Starts<'p> {
    program: &'p Program,
    library: &'p Library,
    file: FileId,
    /// Whether the file imports std's `spawn` by name.
    is_bare_known: bool,
    edits: &'p mut Vec<Edit>,
    /// The functions that are called by a `let` with `#[ckpt(reexecute)]`.
    reexecuted: &'p mut Vec<Vec<String>>,
}

impl Starts<'_> {
    fn watch(&mut self, body: &Expr) {
        let range = bytes(self.program, self.file, body.span());
        self.edits
            .push(Edit::insert(self.file, range.start, "ckpt::thread::watched("));
        self.edits.push(Edit::insert(self.file, range.end, ")"));
    }
}

impl<'ast> Visit<'ast> for Starts<'_> {
    fn visit_local(&mut self, local: &'ast Local) {
        let mut attributes = local.attrs.clone();
        match (take_treatment(&mut attributes), &local.init) {
            (Ok(Some(Treatment::Reexecute)), Some(init)) => Called(self.reexecuted).visit_expr(&init.expr),
            _ => visit::visit_local(self, local),
        }
    }

    fn visit_expr_call(&mut self, call: &'ast ExprCall) {
        if let Some(body) = watchable::in_call(self.library, call, self.is_bare_known) {
            self.watch(body);
        }
        visit::visit_expr_call(self, call);
    }

    fn visit_expr_method_call(&mut self, call: &'ast ExprMethodCall) {
        if let Some(body) = watchable::in_method_call(self.library, call) {
            self.watch(body);
        }
        visit::visit_expr_method_call(self, call);
    }
}

/// The functions that are called by a path.
struct Called<'p>(&'p mut Vec<Vec<String>>);

impl<'ast> Visit<'ast> for Called<'_> {
    fn visit_expr_call(&mut self, call: &'ast ExprCall) {
        if let Expr::Path(callee) = &*call.func {
            let names = callee.path.segments.iter();
            self.0
                .push(names.map(|segment| segment.ident.to_string()).collect());
        }
        visit::visit_expr_call(self, call);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::items::collect;
    use crate::source::edits::Edited;

    fn edits_of(text: &str) -> Vec<Edit> {
        let program = Program::of_main(text);
        let said =
            ckpt_compiler::library::CallTable::of_user("[calls]\nreexecute = [\"Pool::new\"]").unwrap();
        let mut library = Library::default();
        library.add(&said);
        thread_edits(&program, &collect(&library, &program), &library)
    }

    #[test]
    fn threads_that_may_outlive_their_statement_are_watched() {
        let text = "fn f() { let h = thread::spawn(move || g(1)); std::thread::spawn(run); rayon::spawn(|| ()); \
                    thread::Builder::new().name(n).spawn(|| 3); thread::scope(|s| { s.spawn(|| ()); }); tokio::spawn(async {}); spawn(1, 2); \
                    world.spawn(Ball); spawn(|| ()); }";
        let edits = edits_of(text);
        let expected = "fn f() { let h = thread::spawn(ckpt::thread::watched(move || g(1))); std::thread::spawn(ckpt::thread::watched(run)); \
                        rayon::spawn(ckpt::thread::watched(|| ())); thread::Builder::new().name(n).spawn(ckpt::thread::watched(|| 3)); \
                        thread::scope(|s| { s.spawn(|| ()); }); tokio::spawn(async {}); spawn(1, 2); world.spawn(Ball); spawn(|| ()); }";
        assert_eq!(Edited::new(text, &edits).text, expected);
        let text = "use std::thread::{self, spawn}; fn f() { spawn(|| ()); }";
        let edits = edits_of(text);
        let expected = "use std::thread::{self, spawn}; fn f() { spawn(ckpt::thread::watched(|| ())); }";
        assert_eq!(Edited::new(text, &edits).text, expected);
    }

    #[test]
    fn threads_of_calls_that_are_reexecuted_hold_nothing_back() {
        let mark = " let _ckpt_reexecuted = ckpt::thread::made_again();";
        let text = "struct Pool; impl Pool { fn new() -> Pool {AGAIN helper(); Pool } } fn helper() { thread::spawn(run); } \
                    fn new() {} mod log { pub fn start() {AGAIN thread::spawn(run); } } \
                    fn main() { let pool = Pool::new(); #[ckpt(reexecute)] let log = log::start(); \
                    #[ckpt(reexecute)] let other = thread::spawn(run); }";
        let text = &text.replace("AGAIN", "");
        let expected = text.replace("Pool { helper", &format!("Pool {{{mark} helper"));
        let expected = expected.replace("start() {", &format!("start() {{{mark}"));
        let expected = expected.replace(
            " thread::spawn(run); }",
            " thread::spawn(ckpt::thread::watched(run)); }",
        );
        let expected = expected.replace(
            "other = thread::spawn(ckpt::thread::watched(run))",
            "other = thread::spawn(run)",
        );
        assert_eq!(Edited::new(text, &edits_of(text)).text, expected);
        let text = "fn new() -> Pool { Pool }";
        assert!(edits_of(text).is_empty(), "no threads, nothing to say");
    }
}
