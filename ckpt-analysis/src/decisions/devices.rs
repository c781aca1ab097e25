//! What a program has on devices. An array there has content: made again at a restart it would be another one, without a word.
//! Of some types a checkpoint holds the content of what a variable has.

use crate::decisions::changed_places::changes_places;
use crate::decisions::hidden_on_devices::hidden;
use crate::source::Program;
use ckpt_compiler::library::{DeviceHidden, DeviceMethods, Library, Macros, Methods, Section, Types};
use ckpt_compiler::syntax::macros::{arguments_of_macro, name_of_macro};
use ckpt_compiler::syntax::mentions::names_in;
use ckpt_compiler::visit::{self, Visit};
use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};
use quote::ToTokens;
use std::collections::BTreeSet;
use syn::Expr;
use syn::spanned::Spanned;

/// What is found in all files of a program.
#[derive(Debug)]
pub(crate) struct Devices<'l> {
    library: &'l Library,
    /// The crates for devices that it uses.
    crates: BTreeSet<String>,
    /// Whether kernels get other arguments once they are made.
    rebinds: bool,
    /// What leads to content on a device that no variable holds, where nobody counts what is there.
    hidden: Option<String>,
    /// The types that the program declares: without a path a name stands for one of these.
    own: BTreeSet<String>,
}

struct OwnTypes<'n>(&'n mut BTreeSet<String>);

impl<'ast> Visit<'ast> for OwnTypes<'_> {
    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        self.0.insert(item.ident.to_string());
    }

    fn visit_item_enum(&mut self, item: &'ast syn::ItemEnum) {
        self.0.insert(item.ident.to_string());
    }
}

impl<'l> Devices<'l> {
    pub(crate) fn of(library: &'l Library, program: &Program) -> Self {
        let mut found = Self {
            library,
            crates: BTreeSet::new(),
            rebinds: false,
            hidden: None,
            own: BTreeSet::new(),
        };
        for file in &program.files {
            OwnTypes(&mut found.own).visit_file(&file.ast);
            let tokens = file.ast.to_token_stream();
            let names = names_in(&tokens).into_iter();
            found
                .crates
                .extend(names.filter(|name| library.says(name, Types::DeviceCrates)));
            found.rebinds |= rebinds(library, tokens);
        }
        let is_uncounted = |one: &String| library.says(one, Types::DeviceUncountedCrates);
        if found.crates.iter().any(is_uncounted) {
            found.hidden = hidden(library, program);
        }
        found
    }

    /// Whether something of this name, made again, would be another thing than it was.
    pub(crate) fn change(&self, name: &str) -> bool {
        self.are_used() && self.is_memory_or_kernel(name)
    }

    /// The same of a type as rustc writes it: `ocl::Buffer<f32>`, also inside of another.
    pub(crate) fn change_type(&self, type_name: &str) -> bool {
        let mut names = names_of_type(type_name);
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

    /// Whether a type, as rustc writes it, is that of commands that have begun, or of what is there for one of them.
    pub(crate) fn are_under_way(&self, type_name: &str) -> bool {
        let is = |path: &str| {
            let is_event = self.is(path, Types::DeviceEvents);
            is_event || self.are_used() && self.library.says(last_of(path), Types::DeviceWork)
        };
        type_name
            .split(|letter: char| !letter.is_alphanumeric() && !matches!(letter, '_' | ':'))
            .any(|path| !path.is_empty() && is(path))
    }

    /// Whether a checkpoint holds the content of a value of this type, as rustc writes it: that of an array, or the
    /// arguments of a kernel.
    pub(crate) fn are_saved(&self, type_name: &str) -> bool {
        let one = self.one_of(type_name);
        self.are_arrays(one) || self.rebinds && self.is(one, Types::DeviceKernelTypes)
    }

    /// Whether a checkpoint has the arguments of kernels, and no type of the program's own has the name of one.
    pub(crate) fn saves_arguments(&self) -> bool {
        let is_one = |name: &String| self.library.says(name, Types::DeviceKernels);
        self.rebinds && !self.own.iter().any(is_one)
    }

    /// The type of the elements of a list, as long as it was made, or the type itself.
    pub(crate) fn one_of<'t>(&self, type_name: &'t str) -> &'t str {
        if let Some(inner) = type_name
            .strip_prefix('[')
            .and_then(|rest| rest.strip_suffix(']'))
        {
            return inner.rsplit_once(';').map_or(inner, |(one, _)| one).trim();
        }
        match type_name.strip_suffix('>').and_then(|rest| rest.split_once('<')) {
            Some((list, one)) if self.library.says(last_of(list), Types::Lists) => one.trim(),
            _ => type_name,
        }
    }

    /// Whether a value of this type is a handle to something that a restart makes again, and that nothing changes.
    pub(crate) fn are_handles(&self, type_name: &str) -> bool {
        let name = last_of(type_name);
        self.are_used()
            && (self.library.says(name, Types::DeviceHandles) && !self.is_not_all_seen(name)
                || !self.rebinds && self.library.says(name, Types::DeviceKernels))
    }

    /// Whether a value of this type, as rustc writes it, is a kernel that keeps its arguments: each variable gets those back that
    /// it had, whichever kernel it has.
    pub(crate) fn keep_arguments(&self, type_name: &str) -> bool {
        self.is(self.one_of(type_name), Types::DeviceKernelTypes)
    }

    /// Whether a value of this type, as rustc writes it, is an array of which a checkpoint holds the content.
    pub(crate) fn are_arrays(&self, type_name: &str) -> bool {
        let (path, _) = type_name.split_once('<').unwrap_or((type_name, ""));
        self.is(path, Types::DeviceArrays)
    }

    /// Whether the library knows of such an array, or of those in such a list, the bytes alone.
    pub(crate) fn are_bytes(&self, type_name: &str) -> bool {
        self.is(self.one_of(type_name), Types::DeviceBytes)
    }

    /// Whether a type, as rustc writes it, is that of a handle without a type, or of a list of them: it may be one to an array.
    pub(crate) fn are_untyped(&self, type_name: &str) -> bool {
        let pointer = syn::parse_str::<syn::TypePtr>(self.one_of(type_name));
        let to = pointer.ok().filter(|pointer| pointer.mutability.is_some());
        let name = |to: syn::TypePtr| to.elem.to_token_stream().to_string();
        self.are_used()
            && to
                .map(name)
                .is_some_and(|to| self.library.says(last_of(&to), Types::DeviceUntyped))
    }

    /// Whether the type of this path is one of these. It may be the name alone: rustc leaves the path out where there is one type
    /// of that name in all crates, which is that of the crate in use then.
    fn is(&self, path: &str, these: Types) -> bool {
        let of = |one: &String| self.library.says(&format!("{one}::{path}"), these);
        let is_the_only = || !path.contains(':') && !self.own.contains(path) && self.crates.iter().any(of);
        self.are_used() && (self.library.says(path, these) || is_the_only())
    }

    /// The crates for devices that a type, as rustc writes it, is of; all that the program uses, where it does not say.
    pub(crate) fn crates_of(&self, type_name: &str) -> Vec<String> {
        let of_type = |one: &&String| names_of_type(type_name).any(|name| name == one.as_str());
        let named: Vec<String> = self.crates.iter().filter(of_type).cloned().collect();
        match named.is_empty() {
            true => self.crates.iter().cloned().collect(),
            false => named,
        }
    }

    /// Whether the program uses a crate for devices.
    pub(crate) fn are_used(&self) -> bool {
        !self.crates.is_empty()
    }

    /// Whether the program uses one of which no library is beneath it.
    pub(crate) fn are_watched(&self) -> bool {
        let is = |one: &String| self.library.says(one, Types::DeviceWatchedCrates);
        self.crates.iter().any(is)
    }

    /// Whether a method of this name gives a device something to do.
    pub(crate) fn leave_a_trace(&self, method: &str) -> bool {
        self.are_used() && self.library.says(method, Types::DeviceTraces)
    }

    /// The names that stand there, but for those of what speaks of arrays and is none (`BindingType::Buffer`).
    pub(crate) fn names_in(&self, tokens: TokenStream) -> BTreeSet<String> {
        let mut names = BTreeSet::new();
        let mut before = String::new();
        for token in tokens {
            match &token {
                TokenTree::Group(group) => {
                    names.extend(self.names_in(group.stream()));
                    before.clear();
                }
                TokenTree::Punct(one) if one.as_char() == ':' => before.push(':'),
                TokenTree::Ident(name) => {
                    let name = name.to_string();
                    before = match before.ends_with("::") {
                        true => format!("{before}{name}"),
                        false => name.clone(),
                    };
                    if !self.library.says(&before, Types::DeviceNames) {
                        names.insert(name.clone());
                    }
                    before = name;
                }
                TokenTree::Punct(_) | TokenTree::Literal(_) => before.clear(),
            }
        }
        names
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

    /// Whether content hangs on what has this name that a restart cannot bring back.
    fn is_not_all_seen(&self, name: &str) -> bool {
        self.hidden.is_some() && self.library.says(name, DeviceHidden::Handles)
    }

    /// What leads to content on a device that no variable holds, if it hangs on values of this type, as rustc writes it.
    pub(crate) fn hidden_behind(&self, type_name: &str) -> Option<&str> {
        let hidden = self.hidden.as_deref()?;
        names_of_type(type_name)
            .any(|name| self.is_not_all_seen(name))
            .then_some(hidden)
    }

    fn is_memory_or_kernel(&self, name: &str) -> bool {
        self.library.says(name, Types::DeviceMemory)
            || self.library.says(name, Types::DeviceWork)
            || self.is_not_all_seen(name)
            || self.rebinds && self.library.says(name, Types::DeviceKernels)
    }
}

/// Whether a method is one of arrays, and none by which a list of them gets others.
pub(crate) fn is_of_array(library: &Library, method: &str) -> bool {
    let is = DeviceMethods::KEYS
        .iter()
        .any(|(_, key)| library.says(method, *key));
    is && ![DeviceMethods::Exchanges, DeviceMethods::Completes]
        .into_iter()
        .any(|key| library.says(method, key))
}

/// All names in a type as rustc writes it, also those of modules.
fn names_of_type(type_name: &str) -> impl Iterator<Item = &str> + Clone {
    let names = type_name.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
    names.filter(|name| !name.is_empty())
}

/// The last name of a path.
fn last_of(path: &str) -> &str {
    path.rsplit("::").next().unwrap_or(path).trim()
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
/// what changes the content of arrays, and gets no other value. Those that it may change places with do not count.
pub(crate) fn stays_the_same(
    library: &Library,
    function: &syn::ItemFn,
    variable: &syn::Ident,
    changing: &[&String],
) -> bool {
    first_change(library, function, variable, changing).is_none()
}

/// Where it first may get another one.
pub(crate) fn first_change(
    library: &Library,
    function: &syn::ItemFn,
    variable: &syn::Ident,
    changing: &[&String],
) -> Option<Span> {
    struct Exchanges<'a>(&'a Library, &'a syn::Ident, Option<Span>, &'a [&'a String]);
    impl Exchanges<'_> {
        fn note(&mut self, changes: bool, at: &impl Spanned) {
            if changes && self.2.is_none() {
                self.2 = Some(at.span());
            }
        }
        fn is(&self, expr: &Expr) -> bool {
            match expr {
                Expr::Index(one) => self.is(&one.expr),
                expr => matches!(expr, Expr::Path(path) if path.path.is_ident(self.1)),
            }
        }
    }
    impl<'ast> Visit<'ast> for Exchanges<'_> {
        fn visit_expr(&mut self, expr: &'ast Expr) {
            if !changes_places(self.0, expr, self.3) {
                visit::visit_expr(self, expr);
            }
        }
        // What is done there may be done anywhere, and more than once.
        fn visit_expr_closure(&mut self, closure: &'ast syn::ExprClosure) {
            let changing = std::mem::take(&mut self.3);
            visit::visit_expr_closure(self, closure);
            self.3 = changing;
        }
        fn visit_expr_async(&mut self, block: &'ast syn::ExprAsync) {
            let changing = std::mem::take(&mut self.3);
            visit::visit_expr_async(self, block);
            self.3 = changing;
        }
        fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
            let method = call.method.to_string();
            let is_command =
                self.0.says(&method, Types::DeviceCommands) || self.0.says(&method, DeviceMethods::Arguments);
            // Of an array, all methods look at it or change what is in it; of a list of them some change which it has.
            let makes_another = [
                DeviceMethods::Exchanges,
                DeviceMethods::Sets,
                DeviceMethods::Completes,
            ]
            .iter()
            .any(|one| self.0.says(&method, *one));
            // One of a trait of the program's own may put another value in its place; the library's own goes before it.
            let is_of_program = self.0.own().may_change(&method)
                && ![DeviceMethods::Reads, DeviceMethods::Writes, DeviceMethods::Copies]
                    .iter()
                    .any(|one| self.0.says(&method, *one))
                && !self.0.says(&method, Methods::ByReference);
            self.note((makes_another || is_of_program) && self.is(&call.receiver), call);
            self.visit_expr(&call.receiver);
            for argument in &call.args {
                match argument {
                    Expr::Reference(one) if is_command && self.is(&one.expr) => {}
                    _ => self.visit_expr(argument),
                }
            }
        }
        fn visit_expr_reference(&mut self, one: &'ast syn::ExprReference) {
            self.note(one.mutability.is_some() && self.is(&one.expr), one);
            visit::visit_expr_reference(self, one);
        }
        fn visit_expr_raw_addr(&mut self, one: &'ast syn::ExprRawAddr) {
            let is_mutable = matches!(one.mutability, syn::PointerMutability::Mut(_));
            self.note(is_mutable && self.is(&one.expr), one);
            visit::visit_expr_raw_addr(self, one);
        }
        fn visit_expr_assign(&mut self, one: &'ast syn::ExprAssign) {
            self.note(mentions(&one.left.to_token_stream(), self.1), one);
            visit::visit_expr_assign(self, one);
        }
        fn visit_macro(&mut self, mac: &'ast syn::Macro) {
            let name = name_of_macro(mac);
            let is_own = self.0.own().has(&name) || self.0.says(&name, Macros::Takes);
            match arguments_of_macro(self.0, mac).filter(|_| !is_own) {
                // It only shows them. What changes places there is followed by nobody.
                Some(arguments) => {
                    let changing = std::mem::take(&mut self.3);
                    for argument in &arguments {
                        Visit::visit_expr(self, argument);
                    }
                    self.3 = changing;
                }
                None => self.note(mentions(&mac.tokens, self.1), mac),
            }
        }
        fn visit_pat_ident(&mut self, pattern: &'ast syn::PatIdent) {
            // A closure's own, or another loan.
            self.note(pattern.by_ref.is_some() && pattern.mutability.is_some(), pattern);
            visit::visit_pat_ident(self, pattern);
        }
    }
    let mut exchanges = Exchanges(library, variable, None, changing);
    exchanges.visit_block(&function.block);
    exchanges.2
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
        assert!(devices.are_saved("ocl::Buffer<f32>") && devices.are_saved("Vec<ocl::Buffer<f32>>"));
        assert!(devices.are_saved("[Buffer<f32>; 3]") && !devices.are_saved("Option<Buffer<f32>>"));
        assert!(
            devices.are_handles("ocl::Queue")
                && devices.are_handles("Kernel")
                && !devices.are_handles("Buffer<f32>")
        );
        assert!(devices.are_saved("ocl::Image<f32>") && devices.change_type("Vec<ocl::Image<u8>>"));
        assert!(!devices.are_saved("cudarc::Buffer") && !devices.are_saved("image::Image"));
        assert!(devices.are_saved("Buffer<f32>") && devices.change_type("Vec<Buffer<f32>>"));
        let of_vulkan = Program::of_main("use wgpu::Buffer; fn main() {}");
        let of_vulkan = Devices::of(&library, &of_vulkan);
        assert!(
            of_vulkan.are_saved("Buffer") && of_vulkan.are_saved("wgpu::Buffer") && of_vulkan.are_watched()
        );
        assert!(of_vulkan.change_type("wgpu::BufferView") && !of_vulkan.are_saved("wgpu::BufferView"));
        assert!(of_vulkan.are_saved("Texture") && of_vulkan.are_saved("Vec<wgpu::Texture>"));
        assert!(of_vulkan.are_handles("wgpu::TextureView") && !of_vulkan.change_type("wgpu::TextureView"));
        assert!(of_vulkan.are_bytes("Vec<wgpu::Buffer>") && !of_vulkan.are_bytes("wgpu::Texture"));
        assert!(!of_vulkan.change_type("wgpu::BindGroup") && !devices.are_watched());
        assert!(of_vulkan.leave_a_trace("submit") && !of_vulkan.leave_a_trace("poll"));
        let names = |text: &str| of_vulkan.names_in(text.parse().expect("tokens"));
        assert!(!names("made(wgpu::BindingType::Buffer { ty })").contains("Buffer"));
        assert!(!names("made(wgpu::BindingType::Texture { ty })").contains("Texture"));
        assert!(names("made(wgpu::Buffer, BindingType::Buffer)").contains("Buffer"));
        let of_cuda = Program::of_main("use cudarc::driver::CudaSlice; fn main() {}");
        let of_cuda = Devices::of(&library, &of_cuda);
        for array in [
            "CudaSlice<f32>",
            "cudarc::driver::CudaSlice<f32>",
            "Vec<CudaSlice<u64>>",
        ] {
            assert!(of_cuda.are_saved(array) && of_cuda.change_type(array), "{array}");
        }
        for made_again in ["CudaStream", "cudarc::driver::CudaContext", "CudaFunction"] {
            assert!(
                of_cuda.are_handles(made_again) && !of_cuda.change_type(made_again),
                "{made_again}"
            );
        }
        for under_way in [
            "cudarc::driver::CudaEvent",
            "cudarc::driver::CudaView<'_, f32>",
            "cudarc::driver::PinnedHostSlice<f32>",
        ] {
            assert!(
                of_cuda.change_type(under_way) && !of_cuda.are_saved(under_way),
                "{under_way}"
            );
        }
        for waited_for in ["cudarc::driver::CudaEvent", "CudaEvent", "CudaView<'_, f32>"] {
            assert!(of_cuda.are_under_way(waited_for), "{waited_for}");
        }
        assert!(devices.are_under_way("ocl::Event") && devices.are_under_way("Vec<Event>"));
        assert!(!devices.are_under_way("mine::Event") && !of_cuda.are_under_way("CudaSlice<f32>"));
        assert!(of_cuda.leave_a_trace("launch") && !devices.are_saved("CudaSlice<f32>"));
        let rebound = Program::of_main("use ocl::Kernel; fn main() { kernel.set_arg(0, 1); }");
        let rebound = Devices::of(&library, &rebound);
        assert!(rebound.change("Kernel") && rebound.are_saved("ocl::Kernel") && rebound.are_saved("Kernel"));
        assert!(!rebound.are_arrays("Kernel") && rebound.are_saved("Vec<ocl::Kernel>"));
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
        assert!(Devices::of(&library, &all_at_once).make(&syn::parse_quote!(Image::create)));
        assert!(Devices::of(&library, &all_at_once).are_saved("opencl3::memory::Image"));
        let own = Program::of_main("use wgpu::Queue; struct Texture { rows: Vec<u8> } fn main() {}");
        let own = Devices::of(&library, &own);
        assert!(!own.are_saved("Vec<Texture>") && own.are_saved("wgpu::Texture") && own.are_saved("Buffer"));
        for handle in [
            "*mut c_void",
            "*mut std::ffi::c_void",
            "Vec<*mut c_void>",
            "[*mut c_void; 2]",
        ] {
            assert!(devices.are_untyped(handle), "{handle}");
        }
        assert!(!devices.are_untyped("*const c_void") && !devices.are_untyped("*mut f64"));
        let low = Program::of_main("use opencl3::types::cl_mem; fn main() {}");
        let low = Devices::of(&library, &low);
        assert!(
            low.are_saved("cl_mem")
                && low.are_saved("Vec<opencl3::types::cl_mem>")
                && low.are_bytes("cl_mem")
        );
        let other = Program::of_main("struct Buffer; fn main() {}");
        assert!(!Devices::of(&library, &other).change("Buffer"));
        assert!(!Devices::of(&library, &other).are_untyped("*mut c_void"));
    }

    #[test]
    fn an_array_that_only_commands_change_stays_the_same() {
        let stays = |body: &str| {
            let text = format!("fn f() {{ let mut a = made(); {body} }}");
            let function: syn::ItemFn = syn::parse_str(&text).expect("Rust");
            stays_the_same(&Library::default(), &function, &syn::parse_quote!(a), &[])
        };
        assert!(stays(
            "queue.enqueue_write_buffer(&mut a, 1, 0, &numbers, &[])?; use_it(&a);"
        ));
        assert!(stays(
            "queue.enqueue_write_buffer(&mut a[1], 1, 0, &numbers, &[])?; a.iter().len();"
        ));
        assert!(stays(
            "queue.enqueue_copy_buffer(&b, &mut a, 0, 0, 8, &[])?; b = a.size();"
        ));
        assert!(stays(
            "println!(\"{} {a:?}\", sum(&read(&queue, &a)), a.len()); assert_eq!(a.len(), 3);"
        ));
        for exchanged in [
            "std::mem::swap(&mut a, &mut b);",
            "println!(\"{}\", { a = made(); 1 });",
            "println!(\"{}\", { std::mem::swap(&mut a, &mut b); 1 });",
            "println!(\"{}\", turned(&mut a));",
            "let list = vec![a, b];",
            "a = made();",
            "(a, b) = (b, a);",
            "step(&mut a);",
            "queue.enqueue_write_buffer(other(&mut a), 1, 0, &numbers, &[])?;",
            "queue.upload(&mut a);",
            "twice!(a);",
            "let ref mut b = a;",
            "a.swap(0, 1);",
            "a.fill(b);",
            "a[0].clone_from(&b);",
            "a.push(made());",
            "std::mem::swap(&mut a[0], &mut b[0]);",
            "a[1] = made();",
            "a.take();",
            "a.replace(made());",
            "if let Some(b) = a.as_mut() {}",
            "a.build(&devices, \"-D A=4\")?;",
        ] {
            assert!(!stays(exchanged), "{exchanged}");
        }
    }
}
