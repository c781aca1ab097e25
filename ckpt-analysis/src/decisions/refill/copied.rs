//! Lists and values from which an array on a device has its first content. A restart makes the array again and writes over all that is
//! in it, so it does not matter what they are by then, as long as they are as long. So it is with numbers that a kernel gets as its first
//! arguments, where a checkpoint has those that it had then.

use super::parts::let_at;
use crate::decisions::completed::makes_kernel;
use crate::decisions::devices::Devices;
use crate::items::Items;
use crate::source::{Position, Program};
use ckpt_compiler::library::{DeviceMethods, Library, Methods, PlaceOf, Types, last_name};
use ckpt_compiler::syntax::mentions::names_in;
use ckpt_compiler::syntax::patterns::irrefutable_bindings;
use ckpt_compiler::visit::{self, Visit};
use quote::ToTokens;
use std::collections::BTreeMap;
use syn::{Expr, Member, Pat};

/// The variables of the function that the initialiser of the `let` at `place` uses for nothing but the first content of the arrays
/// that it makes, and that are of one length in all of the function; and those that are nothing but arguments of a kernel.
pub(crate) fn copied_contents(
    library: &Library,
    program: &Program,
    items: &Items,
    place: Position,
) -> Vec<String> {
    let Some((function, local)) = let_at(program, items, place) else {
        return Vec::new();
    };
    let Some(init) = &local.init else {
        return Vec::new();
    };
    let is_kernel = makes_kernel(library, &init.expr) && Devices::of(library, program).saves_arguments();
    let mut mentions = Mentions {
        library,
        is_kernel,
        within: Use::Other,
        found: BTreeMap::new(),
    };
    mentions.visit_expr(&init.expr);
    let may_change = |(name, of): &(String, Use)| match of {
        Use::Other => false,
        Use::List => Lengths::of(library, &function.item, name).are_kept(),
        Use::Value => Lengths::of(library, &function.item, name).declared == 1,
    };
    let contents = mentions.found.into_iter().filter(may_change);
    contents.map(|(name, _)| function.name_in_source(&name)).collect()
}

/// What a name is in an initialiser for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Use {
    Other,
    /// An array has the content of this list, or its length.
    List,
    /// An array has the bytes of this value, which are as many whatever it is; or a kernel has it as an argument.
    Value,
}

/// The names in an initialiser, each with what it is there for wherever it stands.
struct Mentions<'l> {
    library: &'l Library,
    /// Whether the value is a kernel that gets the arguments back that it had at the checkpoint.
    is_kernel: bool,
    within: Use,
    found: BTreeMap<String, Use>,
}

impl Mentions<'_> {
    fn note(&mut self, path: &syn::ExprPath, within: Use) {
        if let Some(name) = path.path.get_ident() {
            let found = self.found.entry(name.to_string()).or_insert(within);
            *found = within.min(*found);
        }
    }

    /// What an array is given its content by.
    fn content(&mut self, expr: &Expr) {
        let before = self.within;
        self.within = before.max(Use::List);
        match expr {
            Expr::Reference(one) => self.content(&one.expr),
            Expr::Paren(one) => self.content(&one.expr),
            Expr::Cast(one) => self.content(&one.expr),
            Expr::MethodCall(call) if self.stands_for_its_receiver(call) => self.content(&call.receiver),
            // `bytemuck::cast_slice(&list)`
            Expr::Call(call) if is_one_of(self.library, call, Types::DeviceViews) => {
                if is_one_of(self.library, call, Types::DeviceValues) {
                    self.within = Use::Value;
                }
                call.args.iter().for_each(|one| self.content(one));
            }
            // `&[parameters]`
            Expr::Array(list) => {
                self.within = Use::Value;
                list.elems.iter().for_each(|one| self.content(one));
            }
            Expr::Index(one) => {
                self.within = Use::List;
                self.content(&one.expr);
                self.within = Use::Other;
                self.visit_expr(&one.index);
            }
            Expr::Path(_) => self.visit_expr(expr),
            other => {
                self.within = Use::Other;
                self.visit_expr(other);
            }
        }
        self.within = before;
    }

    /// `as_ptr`, `as_slice`, `cast` and the like.
    fn stands_for_its_receiver(&self, call: &syn::ExprMethodCall) -> bool {
        call.args.is_empty()
            && (self.library.is_call(call, Types::Pointers)
                || self.library.is_call(call, PlaceOf::Whole)
                || self.library.is_call(call, Types::DeviceViews))
    }
}

fn is_one_of(library: &Library, call: &syn::ExprCall, functions: Types) -> bool {
    matches!(&*call.func, Expr::Path(path) if library.says(&last_name(&path.path), functions))
}

impl<'ast> Visit<'ast> for Mentions<'_> {
    fn visit_expr_path(&mut self, path: &'ast syn::ExprPath) {
        self.note(path, self.within);
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        if self.library.is_call(call, Methods::Measures) && matches!(&*call.receiver, Expr::Path(_)) {
            return;
        }
        self.visit_expr(&call.receiver);
        let takes = self.library.is_call(call, Types::DeviceContents);
        let is_told = self.is_kernel && self.library.is_call(call, DeviceMethods::Arguments);
        for argument in &call.args {
            match argument {
                Expr::Path(path) if is_told => self.note(path, Use::Value),
                argument if takes => self.content(argument),
                argument => self.visit_expr(argument),
            }
        }
    }

    fn visit_expr_call(&mut self, call: &'ast syn::ExprCall) {
        let makes = matches!(&*call.func, Expr::Path(path) if self.library.says_of_path(&path.path, Types::DeviceMakers));
        for argument in &call.args {
            match argument {
                // Where the content is, and not how long it is.
                Expr::Cast(_) | Expr::MethodCall(_) if makes => self.content(argument),
                argument => self.visit_expr(argument),
            }
        }
    }

    fn visit_expr_struct(&mut self, literal: &'ast syn::ExprStruct) {
        for field in &literal.fields {
            let is_content = matches!(&field.member, Member::Named(name) if self.library.says(&name.to_string(), Types::DeviceContents));
            match is_content {
                true => self.content(&field.expr),
                false => self.visit_expr(&field.expr),
            }
        }
        if let Some(rest) = &literal.rest {
            self.visit_expr(rest);
        }
    }

    fn visit_macro(&mut self, mac: &'ast syn::Macro) {
        for name in names_in(&mac.tokens) {
            self.found.insert(name, Use::Other);
        }
    }
}

/// Whether a list is as long in all of a function: where there is one variable of this name.
struct Lengths<'a> {
    library: &'a Library,
    name: &'a str,
    declared: usize,
    is_kept: bool,
}

impl<'a> Lengths<'a> {
    fn of(library: &'a Library, function: &syn::ItemFn, name: &'a str) -> Self {
        let mut all = Self {
            library,
            name,
            declared: 0,
            is_kept: true,
        };
        all.visit_item_fn(function);
        all
    }

    fn are_kept(&self) -> bool {
        self.declared == 1 && self.is_kept
    }

    fn is(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Paren(one) => self.is(&one.expr),
            Expr::Path(path) => path.path.is_ident(self.name),
            _ => false,
        }
    }
}

impl<'ast> Visit<'ast> for Lengths<'_> {
    fn visit_pat(&mut self, pattern: &'ast Pat) {
        let here = irrefutable_bindings(pattern);
        self.declared += here.iter().filter(|one| one.ident == self.name).count();
        // What is within it was counted.
    }

    /// As a whole it may be given to somebody, or get another value.
    fn visit_expr_path(&mut self, path: &'ast syn::ExprPath) {
        self.is_kept &= !path.path.is_ident(self.name);
    }

    fn visit_expr_reference(&mut self, one: &'ast syn::ExprReference) {
        match self.is(&one.expr) {
            true => self.is_kept &= one.mutability.is_none(),
            false => visit::visit_expr_reference(self, one),
        }
    }

    fn visit_expr_index(&mut self, one: &'ast syn::ExprIndex) {
        if !self.is(&one.expr) {
            self.visit_expr(&one.expr);
        }
        self.visit_expr(&one.index);
    }

    fn visit_expr_for_loop(&mut self, one: &'ast syn::ExprForLoop) {
        match &*one.expr {
            Expr::Reference(over) if self.is(&over.expr) => {}
            over => self.visit_expr(over),
        }
        self.visit_pat(&one.pat);
        self.visit_block(&one.body);
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        let method = call.method.to_string();
        let library = self.library;
        let leaves = (library.is_pure(&method) || library.borrows(&method))
            && !library.borrows_mutably(&method)
            || library.says(&method, Methods::KeepsLength)
            || library.says(&method, Types::Pointers);
        if !(self.is(&call.receiver) && leaves) {
            self.visit_expr(&call.receiver);
        }
        let reads = library.says(&method, DeviceMethods::Reads);
        for argument in &call.args {
            match argument {
                // `&mut list` is a slice to these.
                Expr::Reference(one) if reads && self.is(&one.expr) => {}
                argument => self.visit_expr(argument),
            }
        }
    }

    fn visit_macro(&mut self, mac: &'ast syn::Macro) {
        let name = mac.path.segments.last().map(|one| one.ident.to_string());
        let is_text = name.is_some_and(|name| self.library.formats(&name));
        self.is_kept &= is_text && !names_in(&mac.tokens).contains("mut")
            || !names_in(&mac.to_token_stream()).contains(self.name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::FileId;

    /// What an array has its first content from, of a function with these statements behind its `let`.
    fn copied(init: &str, behind: &str) -> Vec<String> {
        let text = format!(
            "use ocl::Buffer; fn main() {{ let mut list = vec![1_u32; 10]; let mut count = 10; let array = {init}; {behind} }}"
        );
        let program = Program::of_main(&text);
        let place = text.find("let array").expect("it is there");
        let items = crate::items::collect(Library::builtin(), &program);
        copied_contents(Library::builtin(), &program, &items, (FileId(0), place))
    }

    #[test]
    fn what_an_array_begins_with_may_change_where_it_stays_as_long() {
        let all = [
            "Buffer::builder().len(list.len()).copy_host_slice(&list).build()?",
            "unsafe { Buffer::<u32>::create(&context, 1, list.len(), list.as_ptr() as *mut c_void)? }",
            "unsafe { Buffer::<u32>::create(&context, 1, 10, list.as_mut_ptr().cast())? }",
            "device.create_buffer_init(&BufferInitDescriptor { label: None, contents: bytemuck::cast_slice(&list), usage })",
            "(0..2).map(|part| Buffer::builder().copy_host_slice(&list[part * 5..][..5]).build()).collect()?",
        ];
        for init in all {
            assert_eq!(
                copied(init, "array.read(&mut list).enq()?; list[0] = 1;"),
                ["list"],
                "{init}"
            );
        }
        let stays = [
            "for one in &mut list { *one += 1; } list.fill(3); list.sort();",
            "queue.enqueue_read_buffer(&array, 1, 0, &mut list[2..], &[])?;",
            "println!(\"{:?}\", list); let sum: u32 = list.iter().sum();",
        ];
        for behind in stays {
            assert_eq!(copied(all[0], behind), ["list"], "{behind}");
        }
        for behind in [
            "list.push(1);",
            "list = other();",
            "change(&mut list);",
            "std::mem::swap(&mut list, &mut other);",
            "let kept = &mut list;",
            "write!(to, \"{}\", take(&mut list));",
            "let gone = list;",
        ] {
            assert!(copied(all[0], behind).is_empty(), "{behind}");
        }
    }

    #[test]
    fn a_value_of_which_an_array_has_the_bytes_may_be_another_one() {
        let with = |contents: &str, behind: &str| {
            let made = format!(
                "device.create_buffer_init(&BufferInitDescriptor {{ label: None, contents: {contents}, usage }})"
            );
            copied(&made, behind)
        };
        for contents in [
            "bytemuck::bytes_of(&count)",
            "bytemuck::cast_slice(&[count])",
            "bytemuck::cast_slice(&[count, count])",
        ] {
            for behind in [
                "count += 1;",
                "count = other();",
                "change(&mut count);",
                "let gone = count;",
            ] {
                assert_eq!(with(contents, behind), ["count"], "{contents} {behind}");
            }
        }
        for contents in [
            "bytemuck::cast_slice(&count)",
            "bytemuck::bytes_of(&made(count))",
            "bytemuck::cast_slice(&[list[count]])",
            "bytemuck::cast_slice(&list[..count])",
        ] {
            assert!(
                !with(contents, "count = 1;").contains(&"count".to_owned()),
                "{contents}"
            );
        }
    }

    #[test]
    fn a_number_that_a_kernel_has_as_an_argument_may_be_another_one_where_a_checkpoint_has_that() {
        let sets = "kernel.set_arg(1, &count)?; count += 1;";
        let made = "pq.kernel_builder(\"f\").arg(&list).arg_named(\"count\", count).build()?";
        assert_eq!(copied(made, sets), ["count"]);
        assert!(copied(made, "count += 1;").is_empty());
        for other in [
            "pq.kernel_builder(\"f\").global_work_size(count).arg(count).build()?",
            "pq.kernel_builder(\"f\").arg(half(count)).build()?",
            "pq.kernel_builder(name(count)).arg(&list).build()?",
            "Stage { kernel: pq.kernel_builder(\"f\").arg(count).build()? }",
        ] {
            assert!(copied(other, sets).is_empty(), "{other}");
        }
    }

    #[test]
    fn what_says_how_an_array_is_made_may_not() {
        for init in [
            "Buffer::builder().len(list[0] as usize).copy_host_slice(&list).build()?",
            "Buffer::builder().len(count).copy_host_slice(&made(&list)).build()?",
            "Buffer::builder().len(first(&list)).build()?",
            "array_of(&queue, &list)?",
            "unsafe { Buffer::<u32>::create(&context, 1, list.iter().sum(), null_mut())? }",
        ] {
            assert!(copied(init, "list[0] = 1;").is_empty(), "{init}");
        }
    }
}
