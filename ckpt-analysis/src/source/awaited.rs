//! Programs that wait for one future after the other: `pollster::block_on(run())`.
//!
//! The frame of an `async fn` belongs to an executor, so no site can be in one. Where a program waits for each call of its own
//! `async fn`s as soon as it is made, to wait for the futures of others where they are awaited is the same, and the copy of the
//! program does so:
//!
//! ```text
//! async fn run() {                                         fn run() {
//!     let adapter = instance.request_adapter(&wanted).await;   let adapter = pollster::block_on(instance.request_adapter(&wanted));
//!     ..                                                       ..
//! }                                                        }
//! fn main() { pollster::block_on(run()); }                 fn main() { run(); }
//! ```

use super::edits::Edit;
use super::{FileId, Program};
use ckpt_compiler::library::{Functions, Library};
use ckpt_compiler::syntax::macros::arguments_of_macro;
use ckpt_compiler::syntax::mentions::names_in;
use ckpt_compiler::visit::{self, Visit, VisitMut};
use proc_macro2::{Span, TokenStream, TokenTree};
use quote::ToTokens;
use std::collections::BTreeSet;
use syn::spanned::Spanned;
use syn::{Expr, Signature};

impl Program {
    /// Has it wait for the futures of others where they are awaited, if it waits for its own `async fn`s one by one.
    pub fn settle_waits(&mut self) {
        self.waits = Waits::of(Library::builtin(), self);
        (0..self.files.len())
            .map(FileId)
            .for_each(|file| self.settle_waits_in(file));
    }

    /// The same again for a file that was read anew.
    pub fn settle_waits_in(&mut self, file: FileId) {
        if let Some(waits) = self.waits.clone() {
            let edits = waits.settle(self, file);
            self.waited.insert(file, edits);
        }
    }
}

/// How a program waits for its own `async fn`s.
#[derive(Debug, Clone)]
pub struct Waits {
    own: OwnFutures,
    /// The function that waits for a future, by its whole path.
    executor: syn::Path,
}

/// The `async fn`s of a program.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct OwnFutures {
    functions: BTreeSet<String>,
    /// Of a type, without a receiver: `Gpu::new`.
    associated: BTreeSet<(String, String)>,
    methods: BTreeSet<String>,
}

impl OwnFutures {
    /// Whether an expression calls one of them.
    fn are_called(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Paren(one) => self.are_called(&one.expr),
            Expr::MethodCall(call) => self.methods.contains(&call.method.to_string()),
            Expr::Call(call) => matches!(&*call.func, Expr::Path(path) if self.are(&path.path)),
            _ => false,
        }
    }

    /// Whether a path leads to one of them, as far as its last names tell.
    fn are(&self, path: &syn::Path) -> bool {
        let mut names = path.segments.iter().rev().map(|one| one.ident.to_string());
        let Some(name) = names.next() else {
            return false;
        };
        match names.next() {
            None => self.functions.contains(&name),
            Some(of) if of == "Self" => self.associated.iter().any(|(_, one)| *one == name),
            Some(of) if of.starts_with(char::is_uppercase) => self.associated.contains(&(of, name)),
            Some(_) => self.functions.contains(&name),
        }
    }
}

impl Waits {
    /// How the program waits; nothing where it does so in another way, or gains nothing.
    fn of(library: &Library, program: &Program) -> Option<Self> {
        let mut own = Declared::default();
        program.files.iter().for_each(|file| own.visit_file(&file.ast));
        if !own.has_loops || own.has_others {
            return None;
        }
        let own = own.found;
        let mut executors = BTreeSet::new();
        for file in &program.files {
            let mut calls = Calls {
                library,
                own: &own,
                imported: imported(library, &file.ast),
                executors: &mut executors,
                has_others: false,
            };
            calls.visit_file(&file.ast);
            if calls.has_others {
                return None;
            }
        }
        // With two of them it is not known which waits for what is awaited.
        let mut all = executors.into_iter();
        let executor = all.next().filter(|_| all.next().is_none())?;
        let executor = syn::parse_str(&executor).ok()?;
        Some(Self { own, executor })
    }

    /// Makes plain functions of them in a file, and says what that changes in its text.
    fn settle(&self, program: &mut Program, file: FileId) -> Vec<Edit> {
        let source = &mut program.files[file.0];
        let mut settles = Settles {
            waits: self,
            at: (file, source.base),
            edits: Vec::new(),
        };
        settles.visit_file_mut(&mut source.ast);
        settles.edits
    }
}

/// Finds them, and what cannot be among them.
#[derive(Default)]
struct Declared {
    found: OwnFutures,
    /// The type whose `impl` this is.
    of: Option<String>,
    has_loops: bool,
    has_others: bool,
}

impl Declared {
    /// Whether somebody else may have a part in it: an attribute may make anything of it.
    fn is_own(&mut self, signature: &Signature, attributes: &[syn::Attribute]) -> bool {
        let is = signature.asyncness.is_some();
        let plain = ["doc", "allow", "inline", "must_use"];
        let is_plain = |one: &syn::Attribute| plain.iter().any(|name| one.path().is_ident(name));
        self.has_others |= is && !attributes.iter().all(is_plain);
        is
    }

    fn look_for_loops(&mut self, block: &syn::Block) {
        struct Loops(bool);
        impl<'ast> Visit<'ast> for Loops {
            fn visit_expr(&mut self, expr: &'ast Expr) {
                self.0 |= matches!(expr, Expr::ForLoop(_) | Expr::While(_) | Expr::Loop(_));
                visit::visit_expr(self, expr);
            }
        }
        let mut loops = Loops(false);
        loops.visit_block(block);
        self.has_loops |= loops.0;
    }
}

impl<'ast> Visit<'ast> for Declared {
    fn visit_item_fn(&mut self, function: &'ast syn::ItemFn) {
        if self.is_own(&function.sig, &function.attrs) {
            self.found.functions.insert(function.sig.ident.to_string());
            self.look_for_loops(&function.block);
        }
        visit::visit_item_fn(self, function);
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        let of = match &*item.self_ty {
            syn::Type::Path(path) => path.path.segments.last().map(|one| one.ident.to_string()),
            _ => None,
        };
        let is_trait = item.trait_.is_some();
        let before = std::mem::replace(&mut self.of, of.filter(|_| !is_trait));
        visit::visit_item_impl(self, item);
        self.of = before;
    }

    fn visit_impl_item_fn(&mut self, method: &'ast syn::ImplItemFn) {
        if self.is_own(&method.sig, &method.attrs) {
            let name = method.sig.ident.to_string();
            match (&self.of, method.sig.receiver()) {
                (None, _) => self.has_others = true,
                (Some(_), Some(_)) => _ = self.found.methods.insert(name),
                (Some(of), None) => _ = self.found.associated.insert((of.clone(), name)),
            }
            self.look_for_loops(&method.block);
        }
        visit::visit_impl_item_fn(self, method);
    }

    fn visit_trait_item_fn(&mut self, method: &'ast syn::TraitItemFn) {
        self.has_others |= method.sig.asyncness.is_some();
        visit::visit_trait_item_fn(self, method);
    }
}

/// Looks at what is made of futures in a file.
struct Calls<'a> {
    library: &'a Library,
    own: &'a OwnFutures,
    /// The executor that the file imports, by its whole path.
    imported: Option<String>,
    executors: &'a mut BTreeSet<String>,
    /// Something else is made of them than to wait for each.
    has_others: bool,
}

impl Calls<'_> {
    /// What of an expression has a future of its own, for which it waits.
    fn waits_for<'e>(&mut self, expr: &'e Expr) -> Option<&'e Expr> {
        match expr {
            Expr::Await(one) => self.own.are_called(&one.base).then_some(&*one.base),
            Expr::Call(call) => {
                let executor = executor_of(self.library, self.imported.as_ref(), call)?;
                let future = call
                    .args
                    .first()
                    .filter(|one| call.args.len() == 1 && self.own.are_called(one))?;
                self.executors.insert(executor);
                Some(future)
            }
            _ => None,
        }
    }
}

/// The whole path of the function that waits for a future, if this is a call of one.
fn executor_of(library: &Library, imported: Option<&String>, call: &syn::ExprCall) -> Option<String> {
    let Expr::Path(path) = &*call.func else {
        return None;
    };
    match path.path.get_ident() {
        Some(name) => imported
            .filter(|whole| whole.ends_with(&format!("::{name}")))
            .cloned(),
        None if library.says_of_path(&path.path, Functions::WaitsForFuture) => {
            Some(path.path.to_token_stream().to_string().replace(' ', ""))
        }
        None => None,
    }
}

/// The function that waits for a future, as a file imports it.
fn imported(library: &Library, file: &syn::File) -> Option<String> {
    fn within(library: &Library, tree: &syn::UseTree, before: &str) -> Option<String> {
        match tree {
            syn::UseTree::Path(path) => within(library, &path.tree, &format!("{before}{}::", path.ident)),
            syn::UseTree::Name(name) => {
                let whole = format!("{before}{}", name.ident);
                library.says(&whole, Functions::WaitsForFuture).then_some(whole)
            }
            syn::UseTree::Group(group) => group.items.iter().find_map(|one| within(library, one, before)),
            _ => None,
        }
    }
    file.items.iter().find_map(|item| match item {
        syn::Item::Use(one) => within(library, &one.tree, ""),
        _ => None,
    })
}

impl<'ast> Visit<'ast> for Calls<'_> {
    fn visit_expr(&mut self, expr: &'ast Expr) {
        if let Some(future) = self.waits_for(expr) {
            // What the call is given may wait for others.
            return visit::visit_expr(self, future);
        }
        let is_closure = matches!(expr, Expr::Closure(one) if one.asyncness.is_some());
        self.has_others |= is_closure || matches!(expr, Expr::Async(_)) || self.own.are_called(expr);
        visit::visit_expr(self, expr);
    }

    /// As the function of a call it was seen before.
    fn visit_expr_call(&mut self, call: &'ast syn::ExprCall) {
        if !matches!(&*call.func, Expr::Path(_)) {
            self.visit_expr(&call.func);
        }
        call.args.iter().for_each(|one| self.visit_expr(one));
    }

    fn visit_expr_path(&mut self, path: &'ast syn::ExprPath) {
        self.has_others |= self.own.are(&path.path);
    }

    fn visit_macro(&mut self, mac: &'ast syn::Macro) {
        if let Some(arguments) = arguments_of_macro(self.library, mac) {
            return arguments.iter().for_each(|one| self.visit_expr(one));
        }
        let names = names_in(&mac.tokens);
        let is_own = |name: &String| {
            let of_type = self.own.associated.iter().any(|(of, _)| of == name);
            of_type || self.own.functions.contains(name) || self.own.methods.contains(name)
        };
        self.has_others |= mentions_waiting(mac.tokens.clone()) || names.iter().any(is_own);
    }
}

fn mentions_waiting(tokens: TokenStream) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(name) => name == "await" || name == "async",
        TokenTree::Group(group) => mentions_waiting(group.stream()),
        _ => false,
    })
}

struct Settles<'a> {
    waits: &'a Waits,
    at: (FileId, usize),
    edits: Vec<Edit>,
}

impl Settles<'_> {
    fn bytes(&self, span: Span) -> std::ops::Range<usize> {
        let bytes = span.byte_range();
        bytes.start + self.at.1..bytes.end + self.at.1
    }

    fn put(&mut self, bytes: std::ops::Range<usize>, text: &str) {
        self.edits.push(Edit {
            file: self.at.0,
            start: bytes.start,
            end: bytes.end,
            text: text.to_owned(),
        });
    }

    fn plain(&mut self, signature: &mut Signature) {
        if let Some(token) = signature.asyncness.take() {
            let bytes = self.bytes(token.span);
            let spaces = " ".repeat(bytes.len());
            self.put(bytes, &spaces);
        }
    }

    /// A call of the executor that begins where the future does.
    fn waited(&self, future: Expr, end: Span) -> Expr {
        let first = future.to_token_stream().into_iter().next();
        let begin = first.map_or(end, |token| token.span());
        let mut path = self.waits.executor.clone();
        { path.segments.iter_mut() }.for_each(|one| one.ident.set_span(begin));
        Expr::Call(syn::ExprCall {
            attrs: Vec::new(),
            func: Box::new(Expr::Path(syn::ExprPath {
                attrs: Vec::new(),
                qself: None,
                path,
            })),
            paren_token: syn::token::Paren(end),
            args: std::iter::once(future).collect(),
        })
    }

    /// Whether it waits for a future of the program's own; which executors there are was seen before.
    fn is_executor(&self, call: &syn::ExprCall) -> bool {
        let last = self.waits.executor.segments.last().map(|one| &one.ident);
        let is = matches!(&*call.func, Expr::Path(path) if path.path.segments.last().map(|one| &one.ident) == last);
        is && call.args.len() == 1 && self.waits.own.are_called(&call.args[0])
    }
}

impl VisitMut for Settles<'_> {
    fn visit_item_fn_mut(&mut self, function: &mut syn::ItemFn) {
        self.plain(&mut function.sig);
        visit::visit_item_fn_mut(self, function);
    }

    fn visit_impl_item_fn_mut(&mut self, method: &mut syn::ImplItemFn) {
        self.plain(&mut method.sig);
        visit::visit_impl_item_fn_mut(self, method);
    }

    fn visit_macro_mut(&mut self, mac: &mut syn::Macro) {
        let executor = self.waits.executor.segments.last();
        let names = names_in(&mac.tokens);
        if !mentions_waiting(mac.tokens.clone())
            && !executor.is_some_and(|one| names.contains(&one.ident.to_string()))
        {
            return;
        }
        if let Some(mut arguments) = arguments_of_macro(Library::builtin(), mac) {
            arguments.iter_mut().for_each(|one| self.visit_expr_mut(one));
            mac.tokens = arguments.into_token_stream();
        }
    }

    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        let nothing = Expr::Verbatim(TokenStream::new());
        match expr {
            Expr::Await(one) => {
                let end = self.bytes(one.dot_token.span()).start..self.bytes(one.await_token.span).end;
                let is_own = self.waits.own.are_called(&one.base);
                if !is_own {
                    let begin = self.bytes(one.base.span()).start;
                    let path = self.waits.executor.to_token_stream().to_string().replace(' ', "");
                    self.put(begin..begin, &format!("{path}("));
                }
                self.put(end, if is_own { "" } else { ")" });
                let span = one.await_token.span;
                let future = std::mem::replace(&mut *one.base, nothing);
                *expr = if is_own { future } else { self.waited(future, span) };
                // What was made begins with a call that nobody has written.
                match expr {
                    Expr::Call(call) if !is_own => {
                        call.args.iter_mut().for_each(|one| self.visit_expr_mut(one))
                    }
                    _ => visit::visit_expr_mut(self, expr),
                }
                return;
            }
            Expr::Call(call) if self.is_executor(call) => {
                let (whole, future) = (self.bytes(call.span()), self.bytes(call.args[0].span()));
                self.put(whole.start..future.start, "");
                self.put(future.end..whole.end, "");
                *expr = std::mem::replace(&mut call.args[0], nothing);
            }
            _ => {}
        }
        visit::visit_expr_mut(self, expr);
    }
}

#[cfg(test)]
mod tests {
    use super::super::edits::Edited;
    use super::*;

    /// The text of a program with what changes, and whether its tree is that of this text.
    fn settled(text: &str) -> Option<String> {
        let mut program = Program::of_main(text);
        program.settle_waits();
        program.waits.as_ref()?;
        let edits: Vec<Edit> = program.waited.values().flatten().cloned().collect();
        let edited = Edited::new(text, &edits).text;
        let again = syn::parse_file(&edited).unwrap_or_else(|error| panic!("{error}: {edited}"));
        let tokens = |file: &syn::File| file.to_token_stream().to_string();
        assert_eq!(tokens(&program.files[0].ast), tokens(&again), "{edited}");
        Some(edited)
    }

    #[test]
    fn what_waits_for_one_future_after_the_other_does_so_at_each() {
        let text = "
struct Gpu { queue: Queue }
impl Gpu {
    async fn new(instance: &Instance) -> Self {
        let adapter = instance.request_adapter(&wanted()).await.unwrap();
        let (device, queue) = adapter
            .request_device(&Default::default())
            .await
            .unwrap();
        Self { queue }
    }
    pub(crate) async fn step(&self, n: u32) -> u32 { read(&self.queue, n).await? + 1 }
}
async fn run(n: u32) {
    let gpu = Gpu::new(&Instance::default()).await;
    for k in 0..n { println!(\"{}\", k); let now = gpu.step(k).await; }
}
fn main() { pollster::block_on(run(3)); let other = pollster::block_on(other()); }
";
        let expected = "
struct Gpu { queue: Queue }
impl Gpu {
          fn new(instance: &Instance) -> Self {
        let adapter = pollster::block_on(instance.request_adapter(&wanted())).unwrap();
        let (device, queue) = pollster::block_on(adapter
            .request_device(&Default::default())
            )
            .unwrap();
        Self { queue }
    }
    pub(crate)       fn step(&self, n: u32) -> u32 { pollster::block_on(read(&self.queue, n))? + 1 }
}
      fn run(n: u32) {
    let gpu = Gpu::new(&Instance::default());
    for k in 0..n { println!(\"{}\", k); let now = gpu.step(k); }
}
fn main() { run(3); let other = pollster::block_on(other()); }
";
        assert_eq!(settled(text).as_deref(), Some(expected));
        let shown = "async fn run(n: u32) { loop { println!(\"{n} {}\", step(n).await + run(n).await.len(), ); } } fn main() { \
                     assert_eq!(pollster::block_on(run(3)), 2); }";
        let expected = "      fn run(n: u32) { loop { println!(\"{n} {}\", pollster::block_on(step(n)) + run(n).len(), ); } } fn main() { \
                        assert_eq!(run(3), 2); }";
        assert_eq!(settled(shown).as_deref(), Some(expected));
        let imported = "use futures::executor::block_on; async fn run() { loop { a().await.b().await; } } fn main() { block_on(run(),) }";
        let expected = "use futures::executor::block_on;       fn run() { loop { \
                        futures::executor::block_on(futures::executor::block_on(a()).b()); } } fn main() { run() }";
        assert_eq!(settled(imported).as_deref(), Some(expected));
    }

    #[test]
    fn what_waits_for_several_at_once_stays_as_it_is() {
        let run = "async fn run() { for k in 0..9 { step(k).await; } }";
        let main = "fn main() { pollster::block_on(run()) }";
        assert!(settled(&format!("{run} {main}")).is_some());
        for text in [
            format!("{run} fn main() {{ let all = run(); pollster::block_on(all) }}"),
            format!("{run} fn main() {{ pollster::block_on(join(run(), run())) }}"),
            format!("{run} fn main() {{ pollster::block_on(async {{ run().await }}) }}"),
            format!("{run} #[tokio::main] async fn main() {{ run().await }}"),
            format!("{run} {main} fn f() {{ join!(run(), 3); }}"),
            format!("{run} {main} fn f() {{ show!(other().await); }}"),
            format!("{run} {main} fn f() {{ futures::executor::block_on(run()) }}"),
            format!("{run} {main} mod a {{ fn f() {{ spawn(super::run); }} }}"),
            format!("{run} {main} fn f() {{ spawn(run); }}"),
            format!("{run} {main} trait Steps {{ async fn step(&self); }}"),
            format!("{run} {main} impl Steps for A {{ async fn step(&self) {{}} }}"),
            format!("{run} fn main() {{ runtime.block_on(run()) }}"),
            format!("async fn run() {{ step(1).await; }} {main}"),
        ] {
            assert_eq!(settled(&text), None, "{text}");
        }
    }
}
