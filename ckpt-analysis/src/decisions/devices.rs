//! What a program has on devices. An array there has content: made again at a restart it would be another one, without a word.
//! Of some types a checkpoint holds the content of what a variable has.

use crate::source::Program;
use ckpt_compiler::library::{Library, Types};
use ckpt_compiler::syntax::mentions::names_in;
use ckpt_compiler::visit::{self, Visit};
use proc_macro2::{Delimiter, TokenStream, TokenTree};
use quote::ToTokens;
use std::collections::BTreeSet;
use syn::Expr;

/// What is found in all files of a program.
#[derive(Debug)]
pub(crate) struct Devices<'l> {
    library: &'l Library,
    /// The crates for devices that it uses.
    crates: BTreeSet<String>,
    /// Whether kernels get other arguments once they are made.
    rebinds: bool,
}

impl<'l> Devices<'l> {
    pub(crate) fn of(library: &'l Library, program: &Program) -> Self {
        let mut found = Self {
            library,
            crates: BTreeSet::new(),
            rebinds: false,
        };
        for file in &program.files {
            let tokens = file.ast.to_token_stream();
            let names = names_in(&tokens).into_iter();
            found
                .crates
                .extend(names.filter(|name| library.says(name, Types::DeviceCrates)));
            found.rebinds |= rebinds(library, tokens);
        }
        found
    }

    /// Whether something of this name, made again, would be another thing than it was.
    pub(crate) fn change(&self, name: &str) -> bool {
        self.are_used() && self.is_memory_or_kernel(name)
    }

    /// The same of a type as rustc writes it: `ocl::Buffer<f32>`, also inside of another.
    pub(crate) fn change_type(&self, type_name: &str) -> bool {
        let names = type_name.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
        let mut names = names.filter(|name| !name.is_empty());
        let names_crate = names
            .clone()
            .any(|name| self.library.says(name, Types::DeviceCrates));
        let mut paths =
            type_name.split(|letter: char| !letter.is_alphanumeric() && !matches!(letter, '_' | ':'));
        self.are_used()
            && (names_crate && names.any(|name| self.is_memory_or_kernel(name))
                || paths.any(|path| {
                    self.is(path, Types::DeviceArrays)
                        || self.rebinds && self.is(path, Types::DeviceKernelTypes)
                }))
    }

    /// Whether a checkpoint holds the content of a value of this type, as rustc writes it: that of an array, or the
    /// arguments of a kernel.
    pub(crate) fn are_saved(&self, type_name: &str) -> bool {
        self.are_arrays(type_name) || self.rebinds && self.is(type_name, Types::DeviceKernelTypes)
    }

    /// Whether a value of this type, as rustc writes it, is an array of which a checkpoint holds the content.
    pub(crate) fn are_arrays(&self, type_name: &str) -> bool {
        let (path, _) = type_name.split_once('<').unwrap_or((type_name, ""));
        self.is(path, Types::DeviceArrays)
    }

    /// Whether the type of this path is one of these. It may be the name alone: rustc leaves the path out where there is one type
    /// of that name in all crates, which is that of the crate in use then.
    fn is(&self, path: &str, these: Types) -> bool {
        let of = |one: &String| self.library.says(&format!("{one}::{path}"), these);
        let is_the_only = || !path.contains(':') && self.crates.iter().any(of);
        self.are_used() && (self.library.says(path, these) || is_the_only())
    }

    /// Whether the program uses a crate for devices.
    pub(crate) fn are_used(&self) -> bool {
        !self.crates.is_empty()
    }

    /// Whether a function of this path makes something on a device, and does nothing else.
    pub(crate) fn make(&self, path: &syn::Path) -> bool {
        let mut names = path.segments.iter().rev().map(|one| one.ident.to_string());
        let (Some(function), Some(of)) = (names.next(), names.next()) else {
            return false;
        };
        self.are_used()
            && self
                .library
                .says(&format!("{of}::{function}"), Types::DeviceMakers)
    }

    fn is_memory_or_kernel(&self, name: &str) -> bool {
        self.library.says(name, Types::DeviceMemory)
            || self.rebinds && self.library.says(name, Types::DeviceKernels)
    }
}

/// Whether something gives a kernel another argument, by its number or name. What is given the argument alone gives a kernel
/// all of its arguments before it starts it.
fn rebinds(library: &Library, tokens: TokenStream) -> bool {
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        let is = match token {
            TokenTree::Ident(name) => {
                library.says(&name.to_string(), Types::DeviceRebinds) && !has_one_argument(tokens.peek())
            }
            TokenTree::Group(group) => rebinds(library, group.stream()),
            _ => false,
        };
        if is {
            return true;
        }
    }
    false
}

/// Whether this stands in parentheses, and is one thing.
fn has_one_argument(arguments: Option<&TokenTree>) -> bool {
    let Some(TokenTree::Group(group)) = arguments else {
        return false;
    };
    let is_comma = |token: &TokenTree| matches!(token, TokenTree::Punct(one) if one.as_char() == ',');
    let tokens: Vec<TokenTree> = group.stream().into_iter().collect();
    let commas = tokens.iter().filter(|token| is_comma(token)).count();
    let has_last = tokens.last().is_some_and(is_comma);
    group.delimiter() == Delimiter::Parenthesis && !tokens.is_empty() && commas == usize::from(has_last)
}

/// Whether a variable has the same array from its declaration on, although it may be changed: it is lent exclusively only to
/// what changes the content of arrays, and gets no other value.
pub(crate) fn stays_the_same(library: &Library, function: &syn::ItemFn, variable: &syn::Ident) -> bool {
    struct Exchanges<'a>(&'a Library, &'a syn::Ident, bool);
    impl Exchanges<'_> {
        fn is(&self, expr: &Expr) -> bool {
            matches!(expr, Expr::Path(path) if path.path.is_ident(self.1))
        }
    }
    impl<'ast> Visit<'ast> for Exchanges<'_> {
        fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
            let is_command = self.0.says(&call.method.to_string(), Types::DeviceCommands);
            self.visit_expr(&call.receiver);
            for argument in &call.args {
                match argument {
                    Expr::Reference(one) if is_command && self.is(&one.expr) => {}
                    _ => self.visit_expr(argument),
                }
            }
        }
        fn visit_expr_reference(&mut self, one: &'ast syn::ExprReference) {
            self.2 |= one.mutability.is_some() && self.is(&one.expr);
            visit::visit_expr_reference(self, one);
        }
        fn visit_expr_assign(&mut self, one: &'ast syn::ExprAssign) {
            self.2 |= mentions(&one.left.to_token_stream(), self.1);
            visit::visit_expr_assign(self, one);
        }
        fn visit_macro(&mut self, mac: &'ast syn::Macro) {
            self.2 |= mentions(&mac.tokens, self.1);
        }
        fn visit_pat_ident(&mut self, pattern: &'ast syn::PatIdent) {
            // A closure's own, or another loan.
            self.2 |= pattern.by_ref.is_some() && pattern.mutability.is_some();
            visit::visit_pat_ident(self, pattern);
        }
    }
    let mut exchanges = Exchanges(library, variable, false);
    exchanges.visit_block(&function.block);
    !exchanges.2
}

fn mentions(tokens: &TokenStream, variable: &syn::Ident) -> bool {
    names_in(tokens).contains(&variable.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_on_devices_are_not_what_they_were_when_they_are_made_again() {
        let library = Library::default();
        let used = Program::of_main("use ocl::Buffer; fn main() {}");
        let devices = Devices::of(&library, &used);
        assert!(devices.change("Buffer") && !devices.change("Kernel") && !devices.change("Context"));
        assert!(devices.change_type("ocl::Buffer<f32>"));
        assert!(devices.change_type("Vec<ocl::Buffer<f32>>"));
        assert!(!devices.change_type("ocl::ProQue") && !devices.change_type("mine::Buffer"));
        assert!(devices.are_saved("ocl::Buffer<f32>") && !devices.are_saved("Vec<ocl::Buffer<f32>>"));
        assert!(!devices.are_saved("ocl::Image<f32>") && !devices.are_saved("wgpu::Buffer"));
        assert!(devices.are_saved("Buffer<f32>") && devices.change_type("Vec<Buffer<f32>>"));
        let of_vulkan = Program::of_main("use wgpu::Buffer; fn main() {}");
        assert!(!Devices::of(&library, &of_vulkan).are_saved("Buffer"));
        let rebound = Program::of_main("use ocl::Kernel; fn main() { kernel.set_arg(0, 1); }");
        let rebound = Devices::of(&library, &rebound);
        assert!(rebound.change("Kernel") && rebound.are_saved("ocl::Kernel") && rebound.are_saved("Kernel"));
        assert!(!rebound.are_arrays("Kernel") && !rebound.are_saved("Vec<ocl::Kernel>"));
        assert!(!devices.are_saved("ocl::Kernel"));
        let all_at_once = Program::of_main(
            "use opencl3::kernel::*; fn main() { ExecuteKernel::new(&kernel).set_arg(&sum(1, 2)).set_arg_local_buffer(8,); }",
        );
        assert!(!Devices::of(&library, &all_at_once).change("Kernel"));
        let by_name = Program::of_main("use opencl3::kernel::*; fn main() { each(args, Kernel::set_arg); }");
        assert!(Devices::of(&library, &by_name).change("Kernel"));
        let of_buffer = syn::parse_quote!(opencl3::memory::Buffer::<f32>::create);
        assert!(Devices::of(&library, &all_at_once).make(&of_buffer));
        assert!(!Devices::of(&library, &all_at_once).make(&syn::parse_quote!(File::create)));
        let other = Program::of_main("struct Buffer; fn main() {}");
        assert!(!Devices::of(&library, &other).change("Buffer"));
    }

    #[test]
    fn an_array_that_only_commands_change_stays_the_same() {
        let stays = |body: &str| {
            let text = format!("fn f() {{ let mut a = made(); {body} }}");
            let function: syn::ItemFn = syn::parse_str(&text).expect("Rust");
            stays_the_same(&Library::default(), &function, &syn::parse_quote!(a))
        };
        assert!(stays(
            "queue.enqueue_write_buffer(&mut a, 1, 0, &numbers, &[])?; use_it(&a);"
        ));
        assert!(stays(
            "queue.enqueue_copy_buffer(&b, &mut a, 0, 0, 8, &[])?; b = a.size();"
        ));
        for exchanged in [
            "std::mem::swap(&mut a, &mut b);",
            "a = made();",
            "(a, b) = (b, a);",
            "step(&mut a);",
            "queue.enqueue_write_buffer(other(&mut a), 1, 0, &numbers, &[])?;",
            "queue.upload(&mut a);",
            "twice!(a);",
            "let ref mut b = a;",
        ] {
            assert!(!stays(exchanged), "{exchanged}");
        }
    }
}
