//! Handles to something on a device, settings for it, and what makes them, that several statements make:
//! `let mut program = Program::create_from_source(..)?;` and `program.build(..)?;` behind it.
//!
//! A restart executes a `let` again as a whole. So all are one in ckpt's copy of the program:
//! `let mut program = { let mut program = ..; program.build(..)?; program };`.

use crate::decisions::devices::{self, Devices};
use crate::decisions::effects::{is_constant_pattern, names_of};
use crate::decisions::statements::{Without, maker};
use crate::items::{Function, Items};
use crate::source::edits::Edit;
use crate::source::locate::bytes;
use crate::source::{Position, Program};
use ckpt_compiler::library::{DeviceMethods, Library, Methods, Types};
use ckpt_compiler::syntax::mentions::names_in;
use ckpt_compiler::syntax::purity::is_assignment;
use ckpt_compiler::visit::{self, Visit, VisitMut};
use proc_macro2::Span;
use quote::ToTokens;
use syn::spanned::Spanned;
use syn::{Expr, Ident, Stmt};

/// What such statements make.
#[derive(Debug, Clone)]
pub(crate) struct Completed<'p> {
    /// The variables that the `let` declares.
    pub(crate) names: Vec<&'p Ident>,
    /// The `let`, with its initialiser.
    local: &'p syn::Local,
    init: &'p Expr,
    /// What stands behind it.
    statements: Vec<&'p Stmt>,
}

impl<'p> Completed<'p> {
    /// What is done with the value of the initialiser.
    pub(crate) fn completions(&self) -> impl Iterator<Item = &'p Expr> {
        self.statements.iter().filter_map(|stmt| match stmt {
            Stmt::Expr(expr, _) => Some(expr),
            _ => None,
        })
    }

    /// The statements behind the `let`.
    pub(crate) fn statements(&self) -> &[&'p Stmt] {
        &self.statements
    }

    /// Where something but these statements may first change it.
    fn changed_elsewhere(&self, made: Made, library: &Library, function: &syn::ItemFn) -> Option<Span> {
        let mut without = function.clone();
        Without(&self.statements).visit_block_mut(&mut without.block);
        let mut names = self.names.iter();
        names.find_map(|name| made.first_change(library, &without, name))
    }
}

/// What a `let` makes, to which statements behind it may belong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Made {
    /// A handle.
    Handle,
    /// What nothing changes but methods of handles.
    Shared,
    /// What makes a handle from what it has been told: `Kernel::builder()`.
    Builder,
    /// What may have its fields set.
    Settings,
}

impl Made {
    /// By the initialiser, and by whether the `let` has a `mut`.
    fn by(library: &Library, local: &syn::Local, init: &Expr) -> Self {
        let makes_builder = |name: &str| library.says(name, DeviceMethods::Builders);
        let mut path = maker(init)
            .into_iter()
            .flat_map(|path| path.segments.iter().rev())
            .map(|one| one.ident.to_string());
        let (function, of) = (path.next().unwrap_or_default(), path.next().unwrap_or_default());
        let is_handle = library.says(&of, Types::DeviceHandles);
        let is_kernel = library.says(&of, Types::DeviceKernels);
        let is_builder = match init {
            Expr::MethodCall(call) if makes_builder(&call.method.to_string()) => true,
            _ => (is_handle || is_kernel) && makes_builder(&function) && !is_built(library, init),
        };
        match (is_builder, is_handle || makes_kernel(library, init)) {
            (true, _) => Self::Builder,
            (false, true) => Self::Handle,
            _ if is_constant_pattern(&local.pat) => Self::Shared,
            _ => Self::Settings,
        }
    }

    /// Where something in the function may first change the variable.
    fn first_change(self, library: &Library, function: &syn::ItemFn, name: &Ident) -> Option<Span> {
        match self {
            Self::Handle | Self::Shared => devices::first_change(library, function, name, &[]),
            Self::Builder => first_write(function, name, &|method| {
                library.says(method, Methods::Clones) || library.says(method, DeviceMethods::Completes)
            }),
            Self::Settings => first_write(function, name, &|method| library.says(method, Methods::Clones)),
        }
    }
}

/// Whether a chain of calls ends with what a builder makes: `Kernel::builder().name("step").build()?`.
fn is_built(library: &Library, expr: &Expr) -> bool {
    match expr {
        Expr::Try(one) => is_built(library, &one.expr),
        Expr::Paren(one) => is_built(library, &one.expr),
        Expr::MethodCall(call) => {
            library.says(&call.method.to_string(), DeviceMethods::Completes)
                || is_built(library, &call.receiver)
        }
        _ => false,
    }
}

/// Whether a chain of calls builds a kernel: `queue.kernel_builder("step").arg(&now).build()?`, `Kernel::builder().name("step").build()?`.
pub(crate) fn makes_kernel(library: &Library, init: &Expr) -> bool {
    fn begins(library: &Library, expr: &Expr) -> bool {
        let is_one = |name: &Ident| library.says(&name.to_string(), Types::DeviceKernels);
        match expr {
            Expr::Try(one) => begins(library, &one.expr),
            Expr::Paren(one) => begins(library, &one.expr),
            Expr::MethodCall(call) => is_one(&call.method) || begins(library, &call.receiver),
            Expr::Call(_) => {
                maker(expr).is_some_and(|path| path.segments.iter().any(|one| is_one(&one.ident)))
            }
            _ => false,
        }
    }
    is_built(library, init) && begins(library, init)
}

/// What the `let`s of a function declare to which statements behind them may belong.
fn candidates<'p>(library: &Library, function: &'p syn::ItemFn) -> Vec<(Made, Completed<'p>)> {
    let mut found = Found {
        library,
        all: Vec::new(),
    };
    found.visit_block(&function.block);
    found.all
}

/// Those of a function that nothing else changes.
pub(crate) fn completed<'p>(library: &Library, function: &'p syn::ItemFn) -> Vec<Completed<'p>> {
    let all = candidates(library, function).into_iter();
    all.filter(|(made, one)| {
        !one.statements.is_empty() && one.changed_elsewhere(*made, library, function).is_none()
    })
    .map(|(_, one)| one)
    .collect()
}

/// Whether a variable has what makes handles, and stays as it is then: `Kernel::builder()`.
pub(crate) fn makes_handles(library: &Library, function: &syn::ItemFn, variable: &str) -> bool {
    let is = |one: &Completed<'_>| one.names.iter().any(|name| *name == variable);
    candidates(library, function)
        .iter()
        .any(|(made, one)| *made == Made::Builder && is(one))
}

/// What the `let` declares that begins there, if statements behind it may belong to it, and where something else changes that.
pub(crate) fn told_at<'p>(
    (library, program): (&Library, &Program),
    function: &'p syn::ItemFn,
    place: Position,
) -> Option<(Completed<'p>, Option<Span>)> {
    let begins = |one: &Completed<'_>| bytes(program, place.0, one.local.span()).start;
    let (made, one) = candidates(library, function)
        .into_iter()
        .find(|(_, one)| begins(one) == place.1)?;
    let changed = one.changed_elsewhere(made, library, function);
    Some((one, changed))
}

/// That whose `let` begins there.
pub(crate) fn completed_at<'p>(
    (library, program): (&Library, &Program),
    function: &'p syn::ItemFn,
    place: Position,
) -> Option<Completed<'p>> {
    let (one, changed) = told_at((library, program), function, place)?;
    (!one.statements.is_empty() && changed.is_none()).then_some(one)
}

struct Found<'n, 'p> {
    library: &'n Library,
    all: Vec<(Made, Completed<'p>)>,
}

impl<'p> Visit<'p> for Found<'_, 'p> {
    fn visit_block(&mut self, block: &'p syn::Block) {
        for (at, stmt) in block.stmts.iter().enumerate() {
            self.all
                .extend(of_let(self.library, stmt, &block.stmts[at + 1..]));
        }
        visit::visit_block(self, block);
    }

    fn visit_item(&mut self, _: &'p syn::Item) {}
}

fn of_let<'p>(library: &Library, one: &'p Stmt, behind: &'p [Stmt]) -> Option<(Made, Completed<'p>)> {
    let Stmt::Local(local) = one else { return None };
    let init = local.init.as_ref().filter(|init| init.diverge.is_none())?;
    let names = names_of(&local.pat)?;
    let made = Made::by(library, local, &init.expr);
    if made == Made::Shared && names_another(library, &init.expr) {
        return None;
    }
    let is_value = |stmt: &Stmt| behind.last().is_some_and(|last| std::ptr::eq(stmt, last));
    let belongs = |stmt: &&Stmt| match stmt {
        Stmt::Expr(_, None) if is_value(stmt) => false,
        Stmt::Expr(expr, _) => completes((library, made), expr, &names),
        _ => false,
    };
    let statements: Vec<&Stmt> = behind.iter().take_while(belongs).collect();
    let completed = Completed {
        names,
        local,
        init: &init.expr,
        statements,
    };
    (made == Made::Builder || !completed.statements.is_empty()).then_some((made, completed))
}

/// Whether the value is another name of what a variable has: that would be set up, although nothing of it is made there.
fn names_another(library: &Library, init: &Expr) -> bool {
    let clones = |name: &Ident| library.says(&name.to_string(), Methods::Clones);
    match init {
        Expr::Reference(_) | Expr::Path(_) | Expr::Field(_) => true,
        Expr::MethodCall(call) => clones(&call.method),
        Expr::Call(_) => {
            maker(init).is_some_and(|path| path.segments.last().is_some_and(|last| clones(&last.ident)))
        }
        _ => false,
    }
}

/// Whether an expression begins with a call of a variable that completes it, and does what it does with what that gives; or sets
/// a field of it.
fn completes(how: (&Library, Made), expr: &Expr, names: &[&Ident]) -> bool {
    let is_one = |expr: &Expr| {
        names
            .iter()
            .any(|name| matches!(expr, Expr::Path(path) if path.path.is_ident(*name)))
    };
    match expr {
        Expr::Paren(one) => completes(how, &one.expr, names),
        Expr::Try(one) => completes(how, &one.expr, names),
        Expr::If(one) => completes(how, &one.cond, names),
        Expr::Let(one) => completes(how, &one.expr, names),
        Expr::Match(one) => completes(how, &one.expr, names),
        Expr::Assign(one) => {
            matches!(&*one.left, Expr::Field(field) if how.1 == Made::Settings && is_one(&field.base))
        }
        Expr::MethodCall(call) if is_one(&call.receiver) => {
            let is = |key| how.0.says(&call.method.to_string(), key);
            match how.1 {
                Made::Handle => is(DeviceMethods::Completes) || is(DeviceMethods::Sets),
                Made::Builder => !is(DeviceMethods::Completes),
                Made::Shared => is(DeviceMethods::Sets),
                Made::Settings => false,
            }
        }
        Expr::MethodCall(call) => completes(how, &call.receiver, names),
        _ => false,
    }
}

/// The first use of a variable that may change it: all methods but these may.
fn first_write(function: &syn::ItemFn, name: &Ident, looks: &dyn Fn(&str) -> bool) -> Option<Span> {
    struct Uses<'u> {
        name: &'u Ident,
        looks: &'u dyn Fn(&str) -> bool,
        change: Option<Span>,
    }
    impl Uses<'_> {
        fn note(&mut self, changes: bool, at: &impl Spanned) {
            if changes && self.change.is_none() {
                self.change = Some(at.span());
            }
        }
        fn is_in(&self, tokens: &impl ToTokens) -> bool {
            names_in(&tokens.to_token_stream()).contains(&self.name.to_string())
        }
        fn is_of(&self, expr: &Expr) -> bool {
            match expr {
                Expr::Path(path) => path.path.is_ident(self.name),
                Expr::Field(one) => self.is_of(&one.base),
                Expr::Index(one) => self.is_of(&one.expr),
                Expr::Paren(one) => self.is_of(&one.expr),
                Expr::Unary(one) => self.is_of(&one.expr),
                _ => false,
            }
        }
    }
    impl<'ast> Visit<'ast> for Uses<'_> {
        fn visit_expr_assign(&mut self, one: &'ast syn::ExprAssign) {
            self.note(self.is_in(&one.left), one);
            visit::visit_expr_assign(self, one);
        }
        fn visit_expr_binary(&mut self, one: &'ast syn::ExprBinary) {
            self.note(is_assignment(&one.op) && self.is_in(&one.left), one);
            visit::visit_expr_binary(self, one);
        }
        fn visit_expr_reference(&mut self, one: &'ast syn::ExprReference) {
            self.note(one.mutability.is_some() && self.is_in(&one.expr), one);
            visit::visit_expr_reference(self, one);
        }
        fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
            let may = self.is_of(&call.receiver) && !(self.looks)(&call.method.to_string());
            self.note(may, call);
            visit::visit_expr_method_call(self, call);
        }
        fn visit_pat_ident(&mut self, pattern: &'ast syn::PatIdent) {
            // Another variable of this name, or a part of this one that is lent.
            self.note(pattern.by_ref.is_some() && pattern.mutability.is_some(), pattern);
            visit::visit_pat_ident(self, pattern);
        }
        fn visit_macro(&mut self, mac: &'ast syn::Macro) {
            self.note(self.is_in(&mac.tokens), mac);
        }
    }
    let mut uses = Uses {
        name,
        looks,
        change: None,
    };
    uses.visit_block(&function.block);
    uses.change
}

/// Where a variable is that such statements make.
#[derive(Debug)]
pub(crate) struct CompletedAt {
    /// Where its name stands where it is declared.
    at: Position,
    /// Where the last of the statements ends.
    end: usize,
}

impl CompletedAt {
    /// Whether it is the variable at this place, and complete where the other is.
    pub(crate) fn is_as_declared(&self, at: Position, place: Position) -> bool {
        self.at == at && place.0 == at.0 && self.end <= place.1
    }
}

/// All variables of a program that are made so.
pub(crate) fn all_completed(library: &Library, program: &Program, items: &Items) -> Vec<CompletedAt> {
    let of_function = |function: &Function| {
        let file = function.place.file;
        let of_one = |one: Completed<'_>| {
            let end = one
                .statements
                .last()
                .map_or(0, |last| bytes(program, file, last.span()).end);
            let at = |name: &&Ident| CompletedAt {
                at: (file, bytes(program, file, name.span()).start),
                end,
            };
            one.names.iter().map(at).collect::<Vec<_>>()
        };
        let all = completed(library, &function.item).into_iter();
        all.flat_map(of_one).collect::<Vec<_>>()
    };
    items.once_each().flat_map(of_function).collect()
}

/// The edits that make one statement of these.
pub(crate) fn completed_edits(library: &Library, program: &Program, items: &Items) -> Vec<Edit> {
    if !Devices::of(library, program).are_used() {
        return Vec::new();
    }
    let edits_of = |function: &Function| {
        let file = function.place.file;
        let range = |span| bytes(program, file, span);
        let of_one = |one: Completed<'_>| {
            let names: Vec<String> = { one.names.iter() }
                .map(|name| function.name_in_source(&name.to_string()))
                .collect();
            let value = match &names[..] {
                [name] => name.clone(),
                names => format!("({})", names.join(", ")),
            };
            let pattern = &program.files[file.0].text[range(one.local.pat.span())];
            let begins = range(one.init.span()).start;
            let ends = range(one.statements.last()?.span()).end;
            Some([
                Edit::insert(file, begins, format!("{{ let {pattern} = ")),
                Edit::insert(file, ends, format!(" {value} }};")),
            ])
        };
        let all = completed(library, &function.item).into_iter();
        all.filter_map(of_one).flatten().collect::<Vec<_>>()
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
            &format!("{made} program.build(&devices, \"-DA=3\")?; f(); program.build(&devices, \"-DA=4\")?;"),
            &format!(
                "{made} program.build(&devices, \"\")?; f(); program.set_specialization_constant(1, 4, &one)?;"
            ),
            "let mut other = Thing::new(); other.build(&devices);",
            "let mut program = Program::create_from_source(&context, SOURCE)?; program.build(&devices, \"\")?; loop { program.build(&devices, \"\")?; }",
            "let mut limits = Limits::default(); limits.max = 16; loop { limits.max += 1; }",
            "let mut limits = Limits::default(); limits.max = 16; limits.raise();",
            "let mut builder = Kernel::builder(); builder.arg(&b); f(&mut builder);",
            "let step = Kernel::builder().arg(&b).build()?; step.enq()?;",
            "let (device, queue) = open(); f(); device.on_uncaptured_error(handler);",
        ] {
            assert_eq!(edited(code), None, "{code}");
        }
    }

    #[test]
    fn so_are_settings_and_what_is_told_step_by_step() {
        for (code, made) in [
            (
                "let mut limits = Limits::default(); limits.max = 16; limits.min = 2; open(limits);",
                "let mut limits = { let mut limits = Limits::default(); limits.max = 16; limits.min = 2; limits }; open(limits);",
            ),
            (
                "let mut builder = Kernel::builder(); builder.name(\"step\").arg(&b); builder.arg(3); let step = builder.build()?;",
                "let mut builder = { let mut builder = Kernel::builder(); builder.name(\"step\").arg(&b); builder.arg(3); builder }; \
                 let step = builder.build()?;",
            ),
            (
                "let (device, queue) = open(); device.on_uncaptured_error(Arc::new(|e| eprintln!(\"{e}\"))); f(&device);",
                "let (device, queue) = { let (device, queue) = open(); device.on_uncaptured_error(Arc::new(|e| eprintln!(\"{e}\"))); \
                 (device, queue) }; f(&device);",
            ),
            (
                "let f = module.load_function(\"f\")?; f.set_attribute(SHARED, 90000)?; loop { f(&f); }",
                "let f = { let f = module.load_function(\"f\")?; f.set_attribute(SHARED, 90000)?; f }; loop { f(&f); }",
            ),
        ] {
            assert_eq!(edited(code).as_deref(), Some(made));
        }
    }
}
