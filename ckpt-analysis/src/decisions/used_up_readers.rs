//! `for line in open(path)?.lines()`: where rustc says that `lines` takes its receiver, that is a reader of which nobody
//! has seen the type, and not a text. Written as `BufRead::lines(open(path)?)`, the call shows what becomes of it.

use crate::source::edits::Edit;
use crate::source::locate::bytes;
use crate::source::{Position, Program};
use ckpt_compiler::library::{Library, Streams};
use ckpt_compiler::visit::{self, Visit};
use syn::spanned::Spanned;
use syn::{Expr, ExprMethodCall};

/// The function whose method is called at this place, if that uses up a reader.
pub(super) fn function_at(library: &Library, program: &Program, place: Position) -> Option<&'static str> {
    function_of(library, call_at(program, place)?)
}

/// The edits that write the call at this place as one of that function.
pub(crate) fn as_function(program: &Program, place: Position, function: &str) -> Vec<Edit> {
    let Some(call) = call_at(program, place) else {
        return Vec::new();
    };
    let receiver = bytes(program, place.0, call.receiver.span());
    let whole = bytes(program, place.0, call.span());
    // No line moves.
    let between = &program.file(place.0).text[receiver.end..whole.end];
    let lines: String = between.chars().filter(|one| *one == '\n').collect();
    vec![
        Edit::insert(place.0, receiver.start, format!("{function}(")),
        Edit {
            end: whole.end,
            ..Edit::insert(place.0, receiver.end, format!("{lines})"))
        },
    ]
}

fn function_of(library: &Library, call: &ExprMethodCall) -> Option<&'static str> {
    if !call.args.is_empty() {
        return None;
    }
    match library.key(&call.method.to_string())? {
        Streams::Lines => Some("::std::io::BufRead::lines"),
        Streams::Bytes => Some("::std::io::Read::bytes"),
        _ => None,
    }
}

/// The call whose method is named at this place.
fn call_at(program: &Program, place: Position) -> Option<&ExprMethodCall> {
    struct CallAt<'p>(&'p Program, Position, Option<&'p ExprMethodCall>);
    impl<'p> Visit<'p> for CallAt<'p> {
        fn visit_expr(&mut self, expr: &'p Expr) {
            if let Expr::MethodCall(call) = expr
                && bytes(self.0, self.1.0, call.method.span()).start == self.1.1
            {
                self.2 = Some(call);
            }
            visit::visit_expr(self, expr);
        }
    }
    let mut finder = CallAt(program, place, None);
    finder.visit_file(&program.file(place.0).ast);
    finder.2
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Edited, FileId};

    #[test]
    fn the_call_is_written_as_one_of_a_function() {
        let text = "fn f(path: &str) -> Result<()> {\n    for line in open(path)?\n        .lines() { g(line?); }\n    for byte in r.bytes().take(3) { h(byte); }\n    k.words();\n    Ok(())\n}\n";
        let program = Program::of_text(text);
        let library = Library::builtin();
        let at = |name: &str| (FileId(0), text.find(name).unwrap());
        let function = |name: &str| function_at(library, &program, at(name));
        let edit = |name: &str| as_function(&program, at(name), function(name).unwrap());
        let edits = [edit("lines"), edit("bytes")].concat();
        assert_eq!(
            Edited::new(text, &edits).text,
            "fn f(path: &str) -> Result<()> {\n    for line in ::std::io::BufRead::lines(open(path)?\n) { g(line?); }\n    for byte in ::std::io::Read::bytes(r).take(3) { h(byte); }\n    k.words();\n    Ok(())\n}\n"
        );
        assert_eq!((function("words"), function("open")), (None, None));
    }
}
