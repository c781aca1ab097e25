//! Functions of the program that do nothing with a closure but call it: `timed(|| ..)`, `timers.measure("rhs", || ..)`.
//!
//! No walk of a restart can enter a closure that another function calls. Where such a function calls it at one place, its
//! body can stand at the call instead, with the closure's body in it:
//!
//! ```text
//! let (sum, seconds) = timed(|| {              let (sum, seconds) = { let start = Instant::now(); let result = {
//!     for step in 0..steps { .. }                  for step in 0..steps { .. }
//! });                                          }; (result, start.elapsed()) };
//! ```
//!
//! The closure's body stays where it is, line by line. What that would change is left alone: closures that own what they
//! capture, that return early or pass errors on; functions whose names mean something else at the call. What
//! the signature says of types is written down, as a number without a type would become another.

mod shape;
mod text;
mod types;
mod worthwhile;

pub use worthwhile::{InlinedCall, Sources, analyse};

use crate::Analysis;
use crate::items::{FnId, Function};
use crate::source::edits::Edit;
use crate::source::locate::bytes;
use crate::source::{FileId, Program};
use ckpt_compiler::visit::{self, Visit};
use quote::ToTokens;
use shape::Wrapper;
use std::collections::HashMap;
use std::ops::Range;
use syn::spanned::Spanned;
use syn::{Expr, ExprClosure};

/// A call that can be written out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenOut {
    /// The file.
    pub file: FileId,
    /// The call's line.
    pub line: usize,
    /// The line at which the closure ends.
    pub last_line: usize,
    /// The name of the function that is called.
    pub name: String,
    /// What goes in the place of what stands before the closure's body and behind it; no line moves.
    pub edits: [Edit; 2],
}

/// The calls that can be written out, none of them inside of another.
pub fn calls_to_write_out(program: &Program, analysis: &Analysis) -> Vec<WrittenOut> {
    let functions = &analysis.items.functions;
    let wrappers: HashMap<FnId, Wrapper<'_>> = functions
        .iter()
        .filter_map(|function| Some((function.id, Wrapper::of(function)?)))
        .collect();
    let called: HashMap<(FnId, usize), FnId> = analysis
        .graph
        .calls
        .iter()
        .filter(|call| call.certain && call.callees.len() == 1 && wrappers.contains_key(&call.callees[0]))
        .map(|call| ((call.caller, call.place.bytes.start), call.callees[0]))
        .collect();
    let mut found = Vec::new();
    for caller in functions.iter().filter(|_| !called.is_empty()) {
        let mut calls = Calls {
            program,
            analysis,
            wrappers: &wrappers,
            called: &called,
            caller,
            found: Vec::new(),
        };
        calls.visit_block(&caller.written.block);
        found.append(&mut calls.found);
    }
    found
}

/// A call with its arguments, `self` first.
struct Call<'a> {
    /// All of it.
    expr: &'a Expr,
    arguments: Vec<&'a Expr>,
    closure: &'a ExprClosure,
}

struct Calls<'a> {
    program: &'a Program,
    analysis: &'a Analysis,
    wrappers: &'a HashMap<FnId, Wrapper<'a>>,
    called: &'a HashMap<(FnId, usize), FnId>,
    caller: &'a Function,
    found: Vec<WrittenOut>,
}

impl<'ast> Visit<'ast> for Calls<'_> {
    fn visit_expr(&mut self, expr: &'ast Expr) {
        match self.written_out(expr) {
            Some(call) => self.found.push(call),
            None => visit::visit_expr(self, expr),
        }
    }

    fn visit_item(&mut self, _: &'ast syn::Item) {}
}

impl Calls<'_> {
    fn written_out(&self, expr: &Expr) -> Option<WrittenOut> {
        let file = self.caller.place.file;
        let (name, arguments, attributes) = match expr {
            Expr::Call(call) => (call.func.span(), call.args.iter().collect(), &call.attrs),
            Expr::MethodCall(call) => {
                let all = std::iter::once(&*call.receiver).chain(&call.args);
                (call.method.span(), all.collect::<Vec<_>>(), &call.attrs)
            }
            _ => return None,
        };
        let at = bytes(self.program, file, name).start;
        let wrapper = self.wrappers.get(self.called.get(&(self.caller.id, at))?)?;
        let is_method = matches!(expr, Expr::MethodCall(_));
        if !attributes.is_empty() || wrapper.has_receiver() != is_method {
            return None;
        }
        let closure = shape::closure_of(arguments.get(wrapper.parameter)?)?;
        let call = Call {
            expr,
            arguments,
            closure,
        };
        let mut words = text::words(&closure.to_token_stream());
        for argument in &call.arguments {
            words.extend(text::words(&argument.to_token_stream()));
        }
        let renamed = wrapper.renamed(&words);
        let paths = wrapper.paths_in(self.analysis, self.caller)?;
        let locals = shape::locals(&self.caller.written);
        let free = wrapper.free_names(&self.analysis.library);
        if !free.is_disjoint(&locals) {
            return None;
        }
        let [before, after] = wrapper.around(self.program, &call, &text::Changes { renamed, paths })?;
        let source = &self.program.file(file).text;
        let (call, body) = (
            bytes(self.program, file, call.expr.span()),
            bytes(self.program, file, closure.body.span()),
        );
        let edit = |range: Range<usize>, text: [&str; 2]| {
            let lines = lines_of(&source[range.clone()]);
            Edit {
                file,
                start: range.start,
                end: range.end,
                text: text.join(&lines),
            }
        };
        Some(WrittenOut {
            file,
            line: expr.span().start().line,
            last_line: closure.body.span().end().line,
            name: wrapper.function.name.clone(),
            edits: [
                edit(call.start..body.start, [&before, ""]),
                edit(body.end..call.end, ["", &after]),
            ],
        })
    }
}

/// The line ends of a text, with the indentation of its last line.
fn lines_of(text: &str) -> String {
    let Some(last) = text.lines().last().filter(|_| text.contains('\n')) else {
        return String::new();
    };
    let indent = &last[..last.len() - last.trim_start().len()];
    "\n".repeat(text.matches('\n').count()) + indent
}
