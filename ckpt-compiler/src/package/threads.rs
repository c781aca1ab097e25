//! Threads that a program starts: the body of each that may outlive the statement is watched at run time, so that no
//! checkpoint is taken while it runs.

use super::barriers::barrier_edits;
use super::edits::Edit;
use super::locate::bytes;
use super::source::{FileId, Program};
use crate::regions::watchable;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Expr, ExprCall, ExprMethodCall};

/// The edits that have the program's threads watched, and its barriers saved.
pub fn thread_edits(program: &Program) -> Vec<Edit> {
    let mut edits = barrier_edits(program);
    for (index, file) in program.files.iter().enumerate() {
        let mut starts = Starts {
            program,
            file: FileId(index),
            is_bare_known: imports_spawn(&file.text),
            edits: &mut edits,
        };
        starts.visit_file(&file.ast);
    }
    edits
}

/// `use std::thread::spawn;`, `use std::thread::{self, spawn};`.
fn imports_spawn(text: &str) -> bool {
    text.split("thread::")
        .skip(1)
        .any(|rest| match rest.strip_prefix('{') {
            Some(list) => list
                .split('}')
                .next()
                .is_some_and(|list| list.split(',').any(|name| name.trim() == "spawn")),
            None => rest.starts_with("spawn;"),
        })
}

struct Starts<'p> {
    program: &'p Program,
    file: FileId,
    /// Whether the file imports std's `spawn` by name.
    is_bare_known: bool,
    edits: &'p mut Vec<Edit>,
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
    fn visit_expr_call(&mut self, call: &'ast ExprCall) {
        if let Some(body) = watchable::in_call(call, self.is_bare_known) {
            self.watch(body);
        }
        visit::visit_expr_call(self, call);
    }

    fn visit_expr_method_call(&mut self, call: &'ast ExprMethodCall) {
        if let Some(body) = watchable::in_method_call(call) {
            self.watch(body);
        }
        visit::visit_expr_method_call(self, call);
    }
}

#[cfg(test)]
mod tests {
    use super::super::edits::Edited;
    use super::*;

    #[test]
    fn threads_that_may_outlive_their_statement_are_watched() {
        let text = "fn f() { let h = thread::spawn(move || g(1)); std::thread::spawn(run); rayon::spawn(|| ()); \
                    thread::Builder::new().name(n).spawn(|| 3); thread::scope(|s| { s.spawn(|| ()); }); tokio::spawn(async {}); spawn(1, 2); \
                    world.spawn(Ball); spawn(|| ()); }";
        let edits = thread_edits(&Program::of_text(text));
        let expected = "fn f() { let h = thread::spawn(ckpt::thread::watched(move || g(1))); std::thread::spawn(ckpt::thread::watched(run)); \
                        rayon::spawn(ckpt::thread::watched(|| ())); thread::Builder::new().name(n).spawn(ckpt::thread::watched(|| 3)); \
                        thread::scope(|s| { s.spawn(|| ()); }); tokio::spawn(async {}); spawn(1, 2); world.spawn(Ball); spawn(|| ()); }";
        assert_eq!(Edited::new(text, &edits).text, expected);
        let text = "use std::thread::{self, spawn}; fn f() { spawn(|| ()); }";
        let edits = thread_edits(&Program::of_text(text));
        let expected = "use std::thread::{self, spawn}; fn f() { spawn(ckpt::thread::watched(|| ())); }";
        assert_eq!(Edited::new(text, &edits).text, expected);
    }
}
