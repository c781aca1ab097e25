//! wgpu has no library beneath it that ckpt could stand before, as it does before OpenCL: where a program asks for adapters
//! and devices, and says what an array is for, the runtime has a look. There its calls are written into all files.

use crate::decisions::device_arrays::DeviceArray;
use crate::decisions::devices::Devices;
use crate::decisions::refill::initialiser;
use crate::source::edits::Edit;
use crate::source::locate::bytes;
use crate::source::{FileId, Program};
use ckpt_compiler::library::{DeviceMethods, Library, Types};
use ckpt_compiler::syntax::gathered::is_empty;
use ckpt_compiler::visit::{self, Visit};
use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use std::collections::BTreeSet;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Expr, ExprMethodCall, ExprStruct, Member, Token};

/// The field of a description that says what an array is for.
const USAGE: &str = "usage";

/// The edits that have the program's devices watched, and its arrays readable.
pub(crate) fn device_edits(library: &Library, program: &Program) -> Vec<Edit> {
    if !Devices::of(library, program).are_watched() {
        return Vec::new();
    }
    let calls = |sees| {
        let mut edits = Vec::new();
        let mut seen = 0;
        for (index, file) in program.files.iter().enumerate() {
            let mut calls = Calls {
                library,
                program,
                file: FileId(index),
                sees,
                seen: 0,
                described: None,
                edits: &mut edits,
            };
            calls.visit_file(&file.ast);
            seen += calls.seen;
        }
        (edits, seen)
    };
    // What kernels write to is known where all is seen that they are given.
    let (seen, count) = calls(true);
    let is_complete = !program.others_compute && Some(count) == mentions_of_kernels(library, program);
    if is_complete { seen } else { calls(false).0 }
}

/// How often names stand there of what makes kernels or gives them arrays; nothing if one is among them that is not looked at.
fn mentions_of_kernels(library: &Library, program: &Program) -> Option<usize> {
    let count = |key: Types| -> usize {
        let files = program.files.iter();
        let of_file = files.map(|file| names_of(file.ast.to_token_stream(), &|name| library.says(name, key)));
        of_file.sum()
    };
    (count(Types::DeviceUnseen) == 0).then(|| count(Types::DeviceSeen))
}

/// How many of these names stand there.
fn names_of(tokens: TokenStream, is: &dyn Fn(&str) -> bool) -> usize {
    let of_token = |token| match token {
        TokenTree::Group(group) => names_of(group.stream(), is),
        TokenTree::Ident(name) => usize::from(is(&name.to_string())),
        TokenTree::Punct(_) | TokenTree::Literal(_) => 0,
    };
    tokens.into_iter().map(of_token).sum()
}

/// The variables that are put into lists one by one: of what else is in the list nothing says what it is made of, and it is all
/// the same in one list.
struct PutIntoLists<'l> {
    library: &'l Library,
    names: BTreeSet<String>,
}

impl<'ast> Visit<'ast> for PutIntoLists<'_> {
    fn visit_expr_method_call(&mut self, call: &'ast ExprMethodCall) {
        if self
            .library
            .says(&call.method.to_string(), DeviceMethods::Exchanges)
        {
            let variables = call.args.iter().filter_map(|argument| match argument {
                Expr::Path(path) => path.path.get_ident(),
                _ => None,
            });
            self.names.extend(variables.map(ToString::to_string));
        }
        visit::visit_expr_method_call(self, call);
    }
}

/// The edits that say what arrays are made of which the library knows as bytes.
pub(crate) fn number_edits(library: &Library, program: &Program, arrays: &[DeviceArray]) -> Vec<Edit> {
    if !Devices::of(library, program).are_watched() {
        return Vec::new();
    }
    let mut put = PutIntoLists {
        library,
        names: BTreeSet::new(),
    };
    program.files.iter().for_each(|file| put.visit_file(&file.ast));
    let around = |array: &DeviceArray| {
        let is_alone = array.part.is_empty() && !put.names.contains(&array.variable);
        let number = array.elements.word().filter(|_| is_alone)?;
        let init = initialiser(program, array.place).filter(|init| !is_empty(library, init))?;
        let range = bytes(program, array.place.0, init.span());
        Some([
            Edit::insert(array.place.0, range.start, "ckpt::device::numbers("),
            Edit::insert(array.place.0, range.end, format!(", [0 as {number}; 0])")),
        ])
    };
    arrays.iter().filter_map(around).flatten().collect()
}

struct Calls<'p> {
    library: &'p Library,
    program: &'p Program,
    file: FileId,
    /// Whether what kernels are given is seen.
    sees: bool,
    /// How often it was.
    seen: usize,
    /// Where the description begins of what a call makes that is seen.
    described: Option<usize>,
    edits: &'p mut Vec<Edit>,
}

fn is_usage(member: &Member) -> bool {
    matches!(member, Member::Named(name) if name == USAGE)
}

impl Calls<'_> {
    /// Where the description begins that the call is given, if it is written out there, with one usage in it: what the call makes
    /// was asked for with that.
    fn described(&self, call: &ExprMethodCall) -> Option<usize> {
        let Expr::Reference(description) = call.args.first()? else {
            return None;
        };
        let usages = |one: &ExprStruct| one.fields.iter().filter(|field| is_usage(&field.member)).count();
        let is = |one: &ExprStruct| {
            self.library.says_of_path(&one.path, Types::DeviceDescriptions) && usages(one) == 1
        };
        let is_one = matches!(&*description.expr, Expr::Struct(one) if is(one));
        is_one.then(|| self.begin_of(&description.expr))
    }

    fn begin_of(&self, one: &impl Spanned) -> usize {
        bytes(self.program, self.file, one.span()).start
    }

    fn around(&mut self, of: &impl Spanned, before: &str, behind: &str) {
        let range = bytes(self.program, self.file, of.span());
        self.edits.push(Edit::insert(self.file, range.start, before));
        self.edits.push(Edit::insert(self.file, range.end, behind));
    }
}

impl<'ast> Visit<'ast> for Calls<'_> {
    fn visit_expr_method_call(&mut self, call: &'ast ExprMethodCall) {
        let is = |key: Types| self.library.is_call(call, key);
        let is_seen = is(Types::DeviceSeen);
        if is(Types::DeviceWatched) {
            self.around(&call.receiver, "ckpt::device::watched(&", ").it()");
        } else if self.sees {
            let described = self.described(call).filter(|_| is(Types::DeviceMade));
            if is_seen || described.is_some() {
                self.around(&call.receiver, "ckpt::device::seen(&", ").it()");
            }
            self.described = described.or(self.described);
        }
        self.seen += usize::from(is_seen);
        visit::visit_expr_method_call(self, call);
    }

    fn visit_expr_struct(&mut self, description: &'ast ExprStruct) {
        let is = self
            .library
            .says_of_path(&description.path, Types::DeviceDescriptions);
        let notes = match self.described == Some(self.begin_of(description)) {
            true => "wanted",
            false => "usage",
        };
        let fields = description.fields.iter();
        for field in fields.filter(|field| is && is_usage(&field.member)) {
            let name = if field.colon_token.is_none() {
                "usage: "
            } else {
                ""
            };
            self.around(&field.expr, &format!("{name}ckpt::device::{notes}("), ")");
        }
        visit::visit_expr_struct(self, description);
    }

    fn visit_macro(&mut self, mac: &'ast syn::Macro) {
        let name = mac.path.segments.last().map(|one| one.ident.to_string());
        // What another macro makes of its arguments is not known.
        if !name.is_some_and(|name| self.library.formats(&name)) {
            return;
        }
        let listed = mac.parse_body_with(Punctuated::<Expr, Token![,]>::parse_terminated);
        let repeated = || mac.parse_body_with(Punctuated::<Expr, Token![;]>::parse_terminated);
        let arguments = { listed.map(Vec::from_iter) }.or_else(|_| repeated().map(Vec::from_iter));
        for argument in arguments.iter().flatten() {
            self.visit_expr(argument);
        }
    }

    // What the compiler computes calls nothing of ckpt's.
    fn visit_item(&mut self, item: &'ast syn::Item) {
        if !matches!(item, syn::Item::Const(_) | syn::Item::Static(_)) {
            visit::visit_item(self, item);
        }
    }

    fn visit_item_fn(&mut self, function: &'ast syn::ItemFn) {
        if function.sig.constness.is_none() {
            visit::visit_item_fn(self, function);
        }
    }

    fn visit_impl_item_fn(&mut self, function: &'ast syn::ImplItemFn) {
        if function.sig.constness.is_none() {
            visit::visit_impl_item_fn(self, function);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::edits::Edited;

    fn edited(text: &str) -> String {
        let program = Program::of_main(text);
        Edited::new(text, &device_edits(&Library::default(), &program)).text
    }

    #[test]
    fn devices_are_known_where_they_are_asked_for() {
        let text = "use wgpu::Device; async fn f() { let a = Instance::default().request_adapter(&o).await?; \
                    let (d, q) = self.gpu.adapter.request_device(&w).await?; d.create_buffer(&BufferDescriptor { usage: A | usage, size, ..e }); \
                    d.create_buffer_init(&wgpu::util::BufferInitDescriptor { usage }); other(Descriptor { usage: A }); \
                    d.create_texture(&wgpu::TextureDescriptor { usage: A }); } \
                    const C: BufferDescriptor = BufferDescriptor { usage: A };";
        let expected = "use wgpu::Device; async fn f() { let a = ckpt::device::watched(&Instance::default()).it().request_adapter(&o).await?; \
                        let (d, q) = ckpt::device::watched(&self.gpu.adapter).it().request_device(&w).await?; \
                        ckpt::device::seen(&d).it().create_buffer(&BufferDescriptor { usage: ckpt::device::wanted(A | usage), size, ..e }); \
                        ckpt::device::seen(&d).it().create_buffer_init(&wgpu::util::BufferInitDescriptor { usage: ckpt::device::wanted(usage) }); other(Descriptor { usage: A }); \
                        d.create_texture(&wgpu::TextureDescriptor { usage: ckpt::device::usage(A) }); } \
                        const C: BufferDescriptor = BufferDescriptor { usage: A };";
        assert_eq!(edited(text), expected);
        let kernels = "use wgpu::Device; fn f() { d.create_shader_module(a); d.create_buffer(&b); d.create_bind_group(&c); ";
        let seen = "use wgpu::Device; fn f() { ckpt::device::seen(&d).it().create_shader_module(a); d.create_buffer(&b); \
                    ckpt::device::seen(&d).it().create_bind_group(&c); ";
        assert_eq!(edited(&format!("{kernels}}}")), format!("{seen}}}"));
        for more in [
            "group!(d.create_bind_group(&c));",
            "Device::create_bind_group(d, &c);",
            "d.create_shader_module_trusted(a);",
        ] {
            assert_eq!(
                edited(&format!("{kernels}{more}}}")),
                format!("{kernels}{more}}}")
            );
        }
        let listed = "use wgpu::Device; fn f() { let d = BufferDescriptor { usage: A }; other!(BufferDescriptor { usage: A }); \
                      let l = vec![d.create_buffer(&BufferDescriptor { usage: A }), d.create_buffer(&d)]; \
                      let m = vec![BufferDescriptor { usage: B }; 2]; println!(\"{}\", n = d.create_bind_group(&g)); matches!(l, Some(_)) }";
        let edited_list = "use wgpu::Device; fn f() { let d = BufferDescriptor { usage: ckpt::device::usage(A) }; other!(BufferDescriptor { usage: A }); \
                      let l = vec![ckpt::device::seen(&d).it().create_buffer(&BufferDescriptor { usage: ckpt::device::wanted(A) }), d.create_buffer(&d)]; \
                      let m = vec![BufferDescriptor { usage: ckpt::device::usage(B) }; 2]; println!(\"{}\", n = ckpt::device::seen(&d).it().create_bind_group(&g)); matches!(l, Some(_)) }";
        assert_eq!(edited(listed), edited_list);
        let other = "use ocl::Device; fn f() { a.request_device(); }";
        assert_eq!(edited(other), other);
    }
}
