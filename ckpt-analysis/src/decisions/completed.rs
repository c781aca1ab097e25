//! Handles to something on a device that two statements make: `let mut program = Program::create_from_source(..)?;` and
//! `program.build(..)?;` behind it.
//!
//! A restart executes a `let` again as a whole. So both are one in ckpt's copy of the program:
//! `let mut program = { let mut program = ..; program.build(..)?; program };`.

use crate::decisions::devices::{Devices, stays_the_same};
use crate::decisions::statements::{Without, maker};
use crate::items::{Function, Items};
use crate::source::edits::Edit;
use crate::source::locate::bytes;
use crate::source::{Position, Program};
use ckpt_compiler::library::{DeviceMethods, Library, Types};
use ckpt_compiler::visit::{self, Visit, VisitMut};
use syn::spanned::Spanned;
use syn::{Expr, Ident, Stmt};

/// Such a handle.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Completed<'p> {
    pub(crate) name: &'p Ident,
    /// The `let`, with its initialiser.
    local: &'p syn::Local,
    init: &'p Expr,
    /// What stands behind it.
    statement: &'p Stmt,
    pub(crate) completion: &'p Expr,
}

/// Those of a function that nothing else changes.
pub(crate) fn completed<'p>(library: &Library, function: &'p syn::ItemFn) -> Vec<Completed<'p>> {
    let mut found = Found {
        library,
        all: Vec::new(),
    };
    found.visit_block(&function.block);
    let stays = |one: &Completed<'_>| {
        let mut without = function.clone();
        Without(&[one.statement]).visit_block_mut(&mut without.block);
        stays_the_same(library, &without, one.name, &[])
    };
    found.all.retain(stays);
    found.all
}

/// That whose `let` begins there.
pub(crate) fn completed_at<'p>(
    (library, program): (&Library, &Program),
    function: &'p syn::ItemFn,
    place: Position,
) -> Option<Completed<'p>> {
    let mut all = completed(library, function).into_iter();
    all.find(|one| bytes(program, place.0, one.local.span()).start == place.1)
}

struct Found<'n, 'p> {
    library: &'n Library,
    all: Vec<Completed<'p>>,
}

impl<'p> Visit<'p> for Found<'_, 'p> {
    fn visit_block(&mut self, block: &'p syn::Block) {
        let pairs = block.stmts.iter().zip(block.stmts.iter().skip(1));
        self.all
            .extend(pairs.filter_map(|(one, next)| of_pair(self.library, one, next)));
        visit::visit_block(self, block);
    }

    fn visit_item(&mut self, _: &'p syn::Item) {}
}

fn of_pair<'p>(library: &Library, one: &'p Stmt, next: &'p Stmt) -> Option<Completed<'p>> {
    let (Stmt::Local(local), Stmt::Expr(completion, _)) = (one, next) else {
        return None;
    };
    let mut pattern = &local.pat;
    if let syn::Pat::Type(typed) = pattern {
        pattern = &typed.pat;
    }
    let (syn::Pat::Ident(variable), Some(init)) = (pattern, &local.init) else {
        return None;
    };
    let is_alone = variable.by_ref.is_none() && variable.subpat.is_none() && init.diverge.is_none();
    let of = maker(&init.expr)?.segments.iter().rev().nth(1)?;
    let is_handle = library.says(&of.ident.to_string(), Types::DeviceHandles);
    (is_alone && is_handle && completes(library, completion, &variable.ident)).then_some(Completed {
        name: &variable.ident,
        local,
        init: &init.expr,
        statement: next,
        completion,
    })
}

/// Whether an expression begins with a call of the variable that completes it, and does what it does with what that gives.
fn completes(library: &Library, expr: &Expr, variable: &Ident) -> bool {
    match expr {
        Expr::Paren(one) => completes(library, &one.expr, variable),
        Expr::Try(one) => completes(library, &one.expr, variable),
        Expr::If(one) => completes(library, &one.cond, variable),
        Expr::Let(one) => completes(library, &one.expr, variable),
        Expr::Match(one) => completes(library, &one.expr, variable),
        Expr::MethodCall(call) => match &*call.receiver {
            Expr::Path(path) => {
                path.path.is_ident(variable)
                    && library.says(&call.method.to_string(), DeviceMethods::Completes)
            }
            receiver => completes(library, receiver, variable),
        },
        _ => false,
    }
}

/// The edits that make one statement of the two.
pub(crate) fn completed_edits(library: &Library, program: &Program, items: &Items) -> Vec<Edit> {
    if !Devices::of(library, program).are_used() {
        return Vec::new();
    }
    let edits_of = |function: &Function| {
        let file = function.place.file;
        let range = |span| bytes(program, file, span);
        let of_one = |one: Completed<'_>| {
            let name = function.name_in_source(&one.name.to_string());
            let begins = range(one.init.span()).start;
            let ends = range(one.statement.span()).end;
            [
                Edit::insert(file, begins, format!("{{ let mut {name} = ")),
                Edit::insert(file, ends, format!(" {name} }};")),
            ]
        };
        let all = completed(library, &function.item).into_iter();
        all.flat_map(of_one).collect::<Vec<_>>()
    };
    items.once_each().flat_map(edits_of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::edits::Edited;
    use crate::tests::{analysed, program};

    /// What becomes of a function that makes a program for a device.
    fn edited(code: &str) -> Option<String> {
        let text = format!("use opencl3::program::Program; fn main() {{ {code} }}");
        let files = [("main.rs", text.as_str())];
        let (program, analysis) = (program(&files), analysed(&files));
        let edits = completed_edits(&analysis.library, &program, &analysis.items);
        let changed = Edited::new(&text, &edits).text;
        let at = changed.find("main() { ")? + "main() { ".len();
        (!edits.is_empty()).then(|| changed[at..changed.len() - 2].to_owned())
    }

    #[test]
    fn two_statements_are_one() {
        let made = "let mut program = Program::create_from_source(&context, SOURCE)?;";
        assert_eq!(
            edited(&format!("{made} program.build(&devices, \"\")?; f(&program);")).as_deref(),
            Some(
                "let mut program = { let mut program = Program::create_from_source(&context, SOURCE)?; \
                 program.build(&devices, \"\")?; program }; f(&program);"
            )
        );
        for behind in [
            "program.build(&devices, \"\").expect(\"it builds\");",
            "if let Err(why) = program.build(&devices, \"\") { panic!(\"{}\", program.get_build_log(one)) }",
            "match program.build(&devices, \"\") { Ok(_) => {} Err(why) => exit(1) }",
        ] {
            assert!(
                edited(&format!("{made} {behind} f(&program);")).is_some(),
                "{behind}"
            );
        }
    }

    #[test]
    fn what_is_changed_otherwise_is_left_alone() {
        let made = "let mut program = Program::create_from_source(&context, SOURCE)?;";
        for code in [
            &format!("{made} f(); program.build(&devices, \"\")?;") as &str,
            &format!("{made} f(program.build(&devices, \"\")?);"),
            &format!("{made} program.build(&devices, \"\")?; loop {{ f(&mut program); }}"),
            &format!("{made} program.build(&devices, \"\")?; loop {{ program = g(); }}"),
            &format!("{made} program.build(&devices, \"-DA=3\")?; program.build(&devices, \"-DA=4\")?;"),
            &format!(
                "{made} program.build(&devices, \"\")?; program.set_specialization_constant(1, 4, &one)?;"
            ),
            "let mut other = Thing::new(); other.build(&devices);",
        ] {
            assert_eq!(edited(code), None, "{code}");
        }
    }
}
