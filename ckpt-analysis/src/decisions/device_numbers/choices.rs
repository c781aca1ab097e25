//! What is done with lists of devices, and with one that was chosen. A few uses are known to hang on no number of them: one is chosen,
//! by `devices[part % devices.len()]`, `devices[0]` or `devices.first()`, or it is asked whether there are any; a context or a queue is
//! made for one or for all; each gets a queue, which makes another list of that length; they are printed. Two that were chosen must
//! not be compared: where there is one device they are the same.
//!
//! Lists and devices are known by the names of their variables, parameters, fields and functions, whatever else in the program has such
//! a name: that finds more uses, not fewer.

use super::Because;
use crate::source::locate::bytes;
use crate::source::{FileId, Program};
use ckpt_compiler::library::{DeviceMethods, DeviceNumbers, Library, Macros, Types};
use ckpt_compiler::syntax::language::is_prelude_variant;
use ckpt_compiler::syntax::macros::name_of_macro;
use ckpt_compiler::syntax::mentions::names_in;
use ckpt_compiler::visit::{self, Visit};
use quote::ToTokens;
use std::collections::{BTreeMap, BTreeSet};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Expr, ExprMethodCall, Member, Pat};

/// The first use of a device, of a list of them, or of their number, that is none of these.
pub(super) fn other_use(library: &Library, program: &Program) -> Option<Because> {
    let functions = Functions::of(program);
    let mut names = Names::default();
    loop {
        let mut look = Look {
            library,
            program,
            functions: &functions,
            names: names.clone(),
            file: FileId(0),
            in_closure: false,
            of_function: None,
            other: None,
        };
        for (index, file) in program.files.iter().enumerate() {
            look.file = FileId(index);
            look.visit_file(&file.ast);
        }
        // A name that was found may stand elsewhere as well.
        if look.names == names {
            return look.other;
        }
        names = look.names;
    }
}

/// What a value has to do with the number of devices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    /// One of the devices: which one may hang on how many there are.
    Device,
    /// A list of devices.
    Devices,
    /// A list of what was made for each, as a queue.
    Handles,
    /// Something of another kind elsewhere.
    Several,
}

/// The functions of the program, by their names: the names of their parameters, nothing for one that is a pattern.
struct Functions {
    parameters: BTreeMap<String, Vec<Vec<Option<String>>>>,
    /// Names of variables: one of them may be a closure that is called.
    variables: BTreeSet<String>,
    /// Structs and enums of the program's own.
    types: BTreeSet<String>,
}

impl Functions {
    fn of(program: &Program) -> Functions {
        let mut found = Functions {
            parameters: BTreeMap::new(),
            variables: BTreeSet::new(),
            types: BTreeSet::new(),
        };
        program.files.iter().for_each(|file| found.visit_file(&file.ast));
        found
    }

    fn note(&mut self, signature: &syn::Signature) {
        let of_input = |input: &syn::FnArg| match input {
            // A method that is called by its path has it as the first argument.
            syn::FnArg::Receiver(_) => None,
            syn::FnArg::Typed(one) => name_of(&one.pat),
        };
        let names = signature.inputs.iter().map(of_input).collect();
        let named = self.parameters.entry(signature.ident.to_string());
        named.or_default().push(names);
    }
}

impl<'ast> Visit<'ast> for Functions {
    fn visit_item_fn(&mut self, function: &'ast syn::ItemFn) {
        self.note(&function.sig);
        visit::visit_item_fn(self, function);
    }

    fn visit_impl_item_fn(&mut self, function: &'ast syn::ImplItemFn) {
        self.note(&function.sig);
        visit::visit_impl_item_fn(self, function);
    }

    fn visit_trait_item_fn(&mut self, function: &'ast syn::TraitItemFn) {
        self.note(&function.sig);
        visit::visit_trait_item_fn(self, function);
    }

    fn visit_pat(&mut self, pattern: &'ast Pat) {
        self.variables.extend(name_of(pattern));
        visit::visit_pat(self, pattern);
    }

    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        self.types.insert(item.ident.to_string());
        visit::visit_item_struct(self, item);
    }

    fn visit_item_enum(&mut self, item: &'ast syn::ItemEnum) {
        self.types.insert(item.ident.to_string());
        visit::visit_item_enum(self, item);
    }
}

/// The names of what has to do with the number of devices.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Names {
    /// Variables and parameters.
    variables: BTreeMap<String, Kind>,
    fields: BTreeMap<String, Kind>,
    /// Functions, by what they give.
    functions: BTreeMap<String, Kind>,
}

fn note(names: &mut BTreeMap<String, Kind>, name: String, kind: Kind) {
    let known = names.entry(name).or_insert(kind);
    if *known != kind {
        *known = Kind::Several;
    }
}

struct Look<'l> {
    library: &'l Library,
    program: &'l Program,
    functions: &'l Functions,
    names: Names,
    file: FileId,
    in_closure: bool,
    /// The function whose end gives what it gives.
    of_function: Option<String>,
    other: Option<Because>,
}

impl Look<'_> {
    fn found(&mut self, used: &impl Spanned) {
        if self.other.is_none() {
            let text = &self.program.file(self.file).text[bytes(self.program, self.file, used.span())];
            self.other = Some(Because::Used {
                file: self.file,
                line: used.span().start().line,
                text: shortened(text),
            });
        }
    }

    fn says(&self, name: &syn::Ident, key: DeviceNumbers) -> bool {
        self.library.says(&name.to_string(), key)
    }

    /// What an expression gives, and the part of it that stands below what leaves that as it is.
    fn kind<'e>(&self, expr: &'e Expr) -> Option<(Kind, &'e Expr)> {
        match expr {
            Expr::Path(path) => {
                let kind = self.names.variables.get(&path.path.get_ident()?.to_string())?;
                Some((*kind, expr))
            }
            Expr::Field(one) => match &one.member {
                Member::Named(name) => Some((*self.names.fields.get(&name.to_string())?, expr)),
                Member::Unnamed(_) => None,
            },
            Expr::Call(call) => self.kind_of_call(call).map(|kind| (kind, expr)),
            Expr::MethodCall(call) => self.kind_of_method(call).or_else(|| self.chosen(expr)),
            Expr::Index(one) if is_full_range(&one.index) => self.kind(&one.expr),
            Expr::Index(_) => self.chosen(expr),
            Expr::Try(one) => self.kind(&one.expr),
            Expr::Await(one) => self.kind(&one.base),
            Expr::Paren(one) => self.kind(&one.expr),
            Expr::Group(one) => self.kind(&one.expr),
            Expr::Reference(one) if one.mutability.is_none() => self.kind(&one.expr),
            Expr::Unary(one) if matches!(one.op, syn::UnOp::Deref(_)) => self.kind(&one.expr),
            _ => None,
        }
    }

    fn kind_of_call(&self, call: &syn::ExprCall) -> Option<Kind> {
        let Expr::Path(path) = &*call.func else {
            return None;
        };
        let last = &path.path.segments.last()?.ident;
        if self.says(last, DeviceNumbers::Lists) {
            return Some(Kind::Devices);
        }
        if let Some(kind) = self.names.functions.get(&last.to_string()) {
            return Some(*kind);
        }
        let first = self.kind(call.args.first()?)?.0;
        let is_same = self.says(last, DeviceNumbers::Waits)
            || first == Kind::Device
                && self.is_of_handle(&path.path, &|of| self.says(of, DeviceNumbers::Wraps));
        is_same.then_some(first)
    }

    fn kind_of_method<'e>(&self, call: &'e ExprMethodCall) -> Option<(Kind, &'e Expr)> {
        let name = call.method.to_string();
        let whole = |kind| Some((kind, &*call.receiver));
        // With something that it is given it is told devices.
        let is_told = self.says(&call.method, DeviceNumbers::Takes) && !call.args.is_empty();
        if self.says(&call.method, DeviceNumbers::Lists) && !is_told {
            return whole(Kind::Devices);
        }
        if let Some(kind) = self.names.functions.get(&name) {
            return whole(*kind);
        }
        if self.says(&call.method, DeviceNumbers::Gives) && call.args.is_empty() {
            return whole(Kind::Device);
        }
        let (kind, below) = self.kind(&call.receiver)?;
        let makes_handles =
            |body: &Expr| self.says(&call.method, DeviceNumbers::Maps) && self.makes_a_handle(body);
        let kind = match call.args.first() {
            None => self.says(&call.method, DeviceNumbers::Keeps).then_some(kind),
            Some(argument) if is_plain(argument) && self.kind(argument).is_none() => {
                self.says(&call.method, DeviceNumbers::Unpacks).then_some(kind)
            }
            Some(Expr::Closure(closure)) if kind == Kind::Devices => {
                makes_handles(&closure.body).then_some(Kind::Handles)
            }
            Some(_) => None,
        };
        Some((kind?, below))
    }

    /// A device that is chosen here, with the list.
    fn chosen<'e>(&self, expr: &'e Expr) -> Option<(Kind, &'e Expr)> {
        let (kind, list) = self.choice(expr)?;
        (kind == Kind::Devices).then_some((Kind::Device, list))
    }

    /// The list out of which one is chosen here.
    fn choice<'e>(&self, expr: &'e Expr) -> Option<(Kind, &'e Expr)> {
        let (kind, list) = match expr {
            Expr::Index(one) => {
                let found = self.kind(&one.expr)?;
                let text = found.1.to_token_stream().to_string();
                let is_length = |counted: &Expr| {
                    matches!(counted, Expr::MethodCall(call) if call.args.is_empty() && self.says(&call.method, DeviceNumbers::Lengths)
                        && self.kind(&call.receiver).is_some_and(|(_, list)| list.to_token_stream().to_string() == text))
                };
                let is_one = match &*one.index {
                    Expr::Lit(number) => is_zero(number),
                    Expr::Binary(of) => matches!(of.op, syn::BinOp::Rem(_)) && is_length(&of.right),
                    _ => false,
                };
                is_one.then_some(found)?
            }
            Expr::MethodCall(call)
                if call.args.is_empty() && self.says(&call.method, DeviceNumbers::Picks) =>
            {
                // An iterator that has a name may have given some before.
                let moves = self.says(&call.method, DeviceNumbers::Moves) && is_name(&call.receiver);
                self.kind(&call.receiver).filter(|_| !moves)?
            }
            _ => return None,
        };
        matches!(kind, Kind::Devices | Kind::Handles).then_some((kind, list))
    }

    /// Whether a path is one of a function of such a handle.
    fn is_of_handle(&self, path: &syn::Path, is: &dyn Fn(&syn::Ident) -> bool) -> bool {
        let of = path.segments.iter().rev().nth(1);
        of.is_some_and(|of| is(&of.ident) && !self.functions.types.contains(&of.ident.to_string()))
    }

    fn makes_handles(&self, path: &syn::Path) -> bool {
        self.is_of_handle(path, &|of| {
            self.library.says(&of.to_string(), Types::DeviceHandles)
        })
    }

    /// Whether a closure's body only makes a queue or the like: `Queue::new(&context, *device, None).unwrap()`.
    fn makes_a_handle(&self, body: &Expr) -> bool {
        match body {
            Expr::Call(call) => {
                let is_plain = |argument: &Expr| is_plain(argument) && self.kind(argument).is_none();
                matches!(&*call.func, Expr::Path(path) if self.makes_handles(&path.path)
                    && !self.is_of_handle(&path.path, &|of| self.says(of, DeviceNumbers::Wraps)))
                    && call.args.iter().all(is_plain)
            }
            Expr::MethodCall(call) => {
                let unpacks = self.says(&call.method, DeviceNumbers::Keeps)
                    || self.says(&call.method, DeviceNumbers::Unpacks);
                unpacks && call.args.iter().all(is_plain) && self.makes_a_handle(&call.receiver)
            }
            Expr::Try(one) => self.makes_a_handle(&one.expr),
            Expr::Paren(one) => self.makes_a_handle(&one.expr),
            _ => false,
        }
    }

    /// Looks into what it is made by: what functions and methods are given, receivers, and what chooses one.
    fn within(&mut self, expr: &Expr) {
        match expr {
            Expr::Call(call) => self.given(call.args.iter()),
            Expr::MethodCall(call) => {
                self.within(&call.receiver);
                if !matches!(call.args.first(), Some(Expr::Closure(_))) {
                    self.given(call.args.iter());
                }
            }
            Expr::Index(one) => {
                self.within(&one.expr);
                if let Expr::Binary(of) = &*one.index {
                    self.visit_expr(&of.left);
                }
            }
            Expr::Try(one) => self.within(&one.expr),
            Expr::Await(one) => self.within(&one.base),
            Expr::Paren(one) => self.within(&one.expr),
            Expr::Group(one) => self.within(&one.expr),
            Expr::Reference(one) => self.within(&one.expr),
            Expr::Unary(one) => self.within(&one.expr),
            Expr::Field(one) => self.within(&one.base),
            Expr::Path(_) | Expr::Lit(_) => {}
            other => self.visit_expr(other),
        }
    }

    /// Looks at what is given to something that is told devices.
    fn given<'e>(&mut self, arguments: impl Iterator<Item = &'e Expr>) {
        for argument in arguments {
            match self.kind(argument) {
                Some(_) => self.within(argument),
                None => self.visit_expr(argument),
            }
        }
    }

    /// Takes the variable that a value is put into for another of its kind; gives whether it has a kind and a name.
    fn is_named(&mut self, value: &Expr, pattern: &Pat) -> bool {
        let (Some((kind, _)), Some(name)) = (self.kind(value), unpacked_name(pattern)) else {
            return false;
        };
        self.within(value);
        note(&mut self.names.variables, name, kind);
        true
    }

    /// The same of what a function gives.
    fn is_given(&mut self, value: &Expr) -> bool {
        let inner = match value {
            Expr::Call(call) if is_variant(&call.func) && call.args.len() == 1 => &call.args[0],
            value => value,
        };
        let of_function = self.of_function.clone().filter(|_| !self.in_closure);
        let (Some(function), Some((kind, _))) = (of_function, self.kind(inner)) else {
            return false;
        };
        self.within(inner);
        note(&mut self.names.functions, function, kind);
        true
    }

    /// Looks at what a function of this name is given: the parameters of the program's own are of the same kind.
    fn arguments(&mut self, arguments: &Punctuated<Expr, syn::Token![,]>, name: &str, is_method: bool) {
        let functions = self.functions;
        let all = functions
            .parameters
            .get(name)
            .map(Vec::as_slice)
            .unwrap_or_default();
        for (at, argument) in arguments.iter().enumerate() {
            let Some((kind, _)) = self.kind(argument) else {
                self.visit_expr(argument);
                continue;
            };
            let of_function =
                |names: &Vec<Option<String>>| names.get(at + usize::from(is_method)).cloned().flatten();
            let names: Option<Vec<String>> = all.iter().map(of_function).collect();
            match names {
                // A variable of this name may be a closure.
                Some(names) if !names.is_empty() && !functions.variables.contains(name) => {
                    self.within(argument);
                    for name in names {
                        note(&mut self.names.variables, name, kind);
                    }
                }
                _ => self.found(argument),
            }
        }
    }

    /// Whether it is printed, with nothing else: a device or a list of them, what is asked of it, or how long it is.
    fn is_printed(&mut self, mac: &syn::Macro) -> bool {
        if !self.prints(mac) {
            return false;
        }
        let Ok(arguments) = mac.parse_body_with(Punctuated::<Expr, syn::Token![,]>::parse_terminated) else {
            return false;
        };
        for argument in &arguments {
            let shown = match argument {
                // A name within the text.
                Expr::Assign(one) => &*one.right,
                argument => argument,
            };
            match self.asked(shown) {
                Some(of) => self.within(of),
                None => self.visit_expr(shown),
            }
        }
        true
    }

    /// What something is asked of that has a kind: `device.name()?`.
    fn asked<'e>(&self, expr: &'e Expr) -> Option<&'e Expr> {
        match expr {
            _ if self.kind(expr).is_some() => Some(expr),
            Expr::MethodCall(call) if call.args.iter().all(|one| matches!(one, Expr::Lit(_))) => {
                self.asked(&call.receiver)
            }
            Expr::Try(one) => self.asked(&one.expr),
            _ => None,
        }
    }

    /// Whether nothing is done there but printing.
    fn only_prints(&self, block: &syn::Block) -> bool {
        block.stmts.iter().all(|statement| {
            let mac = match statement {
                syn::Stmt::Macro(one) => &one.mac,
                syn::Stmt::Expr(Expr::Macro(one), _) => &one.mac,
                _ => return false,
            };
            self.prints(mac)
        })
    }

    fn prints(&self, mac: &syn::Macro) -> bool {
        self.library.says(&name_of_macro(mac), Macros::Prints)
    }

    fn tokens(&mut self, tokens: &proc_macro2::TokenStream) {
        let mentions = names_in(tokens).into_iter().any(|name| {
            let says = |key| self.library.says(&name, key);
            let all = [&self.names.variables, &self.names.fields, &self.names.functions];
            says(DeviceNumbers::Lists)
                || says(DeviceNumbers::Counts)
                || all.into_iter().any(|names| names.contains_key(&name))
        });
        if mentions {
            self.found(tokens);
        }
    }

    fn function(&mut self, name: &syn::Ident, block: &syn::Block) {
        let before = (
            self.of_function.replace(name.to_string()),
            std::mem::replace(&mut self.in_closure, false),
        );
        let (last, others) = match block.stmts.split_last() {
            Some((syn::Stmt::Expr(last, None), others)) => (Some(last), others),
            _ => (None, block.stmts.as_slice()),
        };
        others.iter().for_each(|statement| self.visit_stmt(statement));
        if let Some(last) = last.filter(|last| !self.is_given(last)) {
            self.visit_expr(last);
        }
        (self.of_function, self.in_closure) = before;
    }
}

impl<'ast> Visit<'ast> for Look<'_> {
    fn visit_item_fn(&mut self, function: &'ast syn::ItemFn) {
        self.function(&function.sig.ident, &function.block);
    }

    fn visit_impl_item_fn(&mut self, function: &'ast syn::ImplItemFn) {
        self.function(&function.sig.ident, &function.block);
    }

    fn visit_expr_closure(&mut self, closure: &'ast syn::ExprClosure) {
        let before = std::mem::replace(&mut self.in_closure, true);
        visit::visit_expr_closure(self, closure);
        self.in_closure = before;
    }

    fn visit_local(&mut self, local: &'ast syn::Local) {
        let Some(init) = &local.init else {
            return;
        };
        if self.is_named(&init.expr, &local.pat) {
            if let Some((_, otherwise)) = &init.diverge {
                self.visit_expr(otherwise);
            }
            return;
        }
        visit::visit_local(self, local);
    }

    fn visit_expr(&mut self, expr: &'ast Expr) {
        match expr {
            // Out of a list of queues one is taken, with which anything may be done; or it is asked whether there are any.
            _ if self.choice(expr).is_some_and(|(kind, _)| kind == Kind::Handles) => self.within(expr),
            Expr::MethodCall(call)
                if call.args.is_empty()
                    && self.says(&call.method, DeviceNumbers::AsksIfAny)
                    && self.kind(&call.receiver).is_some() =>
            {
                self.within(&call.receiver);
            }
            Expr::Let(one) if self.is_named(&one.expr, &one.pat) => {}
            Expr::Return(one) if one.expr.as_ref().is_some_and(|value| self.is_given(value)) => {}
            Expr::Assign(one) if self.kind(&one.right).is_some() => self.assigned(one),
            Expr::Struct(made) => {
                for field in &made.fields {
                    match (self.kind(&field.expr), &field.member) {
                        (Some((kind, _)), Member::Named(name)) => {
                            self.within(&field.expr);
                            note(&mut self.names.fields, name.to_string(), kind);
                        }
                        (Some(_), Member::Unnamed(_)) => self.found(&field.expr),
                        (None, _) => self.visit_expr(&field.expr),
                    }
                }
                made.rest.iter().for_each(|rest| self.visit_expr(rest));
            }
            Expr::ForLoop(one) if self.kind(&one.expr).is_some() => match self.only_prints(&one.body) {
                true => {
                    self.within(&one.expr);
                    self.visit_block(&one.body);
                }
                false => self.found(&one.expr),
            },
            _ if self.kind(expr).is_some() => self.found(expr),
            Expr::Index(one) if self.kind(&one.expr).is_some() => self.found(expr),
            Expr::Call(call) => match &*call.func {
                Expr::Path(path) => self.called(expr, call, &path.path),
                _ => visit::visit_expr(self, expr),
            },
            Expr::MethodCall(call) => {
                if self.says(&call.method, DeviceNumbers::Counts) || self.kind(&call.receiver).is_some() {
                    return self.found(expr);
                }
                self.visit_expr(&call.receiver);
                let name = call.method.to_string();
                let is_told = self.says(&call.method, DeviceNumbers::Takes)
                    || self.library.is_call(call, DeviceMethods::Completes)
                    || self.library.is_call(call, DeviceMethods::Sets);
                match is_told && !self.functions.parameters.contains_key(&name) {
                    true => self.given(call.args.iter()),
                    false => self.arguments(&call.args, &name, true),
                }
            }
            Expr::Path(path) => {
                let is_variable = |name: &syn::Ident| self.functions.variables.contains(&name.to_string());
                if path.path.get_ident().is_some_and(is_variable) {
                    return;
                }
                let last = path.path.segments.last().map(|last| &last.ident);
                let is = |key| last.is_some_and(|name| self.says(name, key));
                if is(DeviceNumbers::Lists) || is(DeviceNumbers::Counts) {
                    self.found(path);
                }
            }
            _ => visit::visit_expr(self, expr),
        }
    }

    fn visit_pat(&mut self, pattern: &'ast Pat) {
        if let Pat::Struct(of) = pattern {
            for field in &of.fields {
                let Member::Named(name) = &field.member else {
                    continue;
                };
                let kind = self.names.fields.get(&name.to_string()).copied();
                match (kind, unpacked_name(&field.pat)) {
                    (Some(kind), Some(name)) => note(&mut self.names.variables, name, kind),
                    (Some(_), None) => self.found(field),
                    (None, _) => {}
                }
            }
        }
        visit::visit_pat(self, pattern);
    }

    fn visit_macro(&mut self, mac: &'ast syn::Macro) {
        if self.is_printed(mac) {
            return;
        }
        let arguments = mac.parse_body_with(Punctuated::<Expr, syn::Token![,]>::parse_terminated);
        match arguments {
            // What else is in its text stands among the names of the tokens.
            Ok(arguments) if self.library.formats(&name_of_macro(mac)) => {
                arguments.iter().for_each(|argument| self.visit_expr(argument));
                self.texts(&arguments);
            }
            _ => self.tokens(&mac.tokens),
        }
    }

    fn visit_item_macro(&mut self, item: &'ast syn::ItemMacro) {
        self.tokens(&item.mac.tokens);
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        self.renamed(&item.tree);
    }
}

impl Look<'_> {
    fn assigned(&mut self, one: &syn::ExprAssign) {
        let Some((kind, _)) = self.kind(&one.right) else {
            return;
        };
        match &*one.left {
            Expr::Path(path) if path.path.get_ident().is_some() => {
                let name = path.path.to_token_stream().to_string();
                note(&mut self.names.variables, name, kind);
            }
            Expr::Field(to) => match &to.member {
                Member::Named(name) => {
                    note(&mut self.names.fields, name.to_string(), kind);
                    self.visit_expr(&to.base);
                }
                Member::Unnamed(_) => self.found(&one.right),
            },
            _ => self.found(&one.right),
        }
        self.within(&one.right);
    }

    fn called(&mut self, whole: &Expr, call: &syn::ExprCall, path: &syn::Path) {
        let Some(name) = path.segments.last().map(|last| &last.ident) else {
            return;
        };
        if self.says(name, DeviceNumbers::Counts) {
            return self.found(whole);
        }
        match self.makes_handles(path) {
            true => self.given(call.args.iter()),
            false => self.arguments(&call.args, &name.to_string(), false),
        }
    }

    /// A list may be named within the text that a macro formats.
    fn texts(&mut self, arguments: &Punctuated<Expr, syn::Token![,]>) {
        for argument in arguments {
            if let Expr::Lit(text) = argument {
                self.tokens(&text.to_token_stream());
            }
        }
    }

    /// A function that lists devices, or counts them, under another name.
    fn renamed(&mut self, tree: &syn::UseTree) {
        match tree {
            syn::UseTree::Path(one) => self.renamed(&one.tree),
            syn::UseTree::Group(all) => all.items.iter().for_each(|one| self.renamed(one)),
            syn::UseTree::Rename(one)
                if self.says(&one.ident, DeviceNumbers::Lists)
                    || self.says(&one.ident, DeviceNumbers::Counts) =>
            {
                self.found(one);
            }
            _ => {}
        }
    }
}

/// The name that a plain pattern binds.
fn name_of(pattern: &Pat) -> Option<String> {
    match pattern {
        Pat::Ident(one) if one.subpat.is_none() => Some(one.ident.to_string()),
        Pat::Type(one) => name_of(&one.pat),
        _ => None,
    }
}

/// The name that a pattern binds to a whole list, also to one out of what may have failed: `Ok(devices)`.
fn unpacked_name(pattern: &Pat) -> Option<String> {
    match pattern {
        Pat::TupleStruct(one) => {
            let name = one.path.segments.last()?.ident.to_string();
            match (is_prelude_variant(&name), one.elems.first()) {
                (true, Some(inner)) if one.elems.len() == 1 => name_of(inner),
                _ => None,
            }
        }
        Pat::Reference(one) => name_of(&one.pat),
        pattern => name_of(pattern),
    }
}

fn is_variant(function: &Expr) -> bool {
    matches!(function, Expr::Path(path)
        if path.path.segments.last().is_some_and(|last| is_prelude_variant(&last.ident.to_string())))
}

/// Whether it is a variable or a field, with its name.
fn is_name(expr: &Expr) -> bool {
    match expr {
        Expr::Path(_) | Expr::Field(_) => true,
        Expr::Paren(one) => is_name(&one.expr),
        Expr::Group(one) => is_name(&one.expr),
        Expr::Reference(one) => is_name(&one.expr),
        Expr::Unary(one) => is_name(&one.expr),
        _ => false,
    }
}

/// Whether an expression names a value and does nothing.
fn is_plain(expr: &Expr) -> bool {
    match expr {
        Expr::Path(_) | Expr::Lit(_) => true,
        Expr::Reference(one) => one.mutability.is_none() && is_plain(&one.expr),
        Expr::Unary(one) => is_plain(&one.expr),
        Expr::Field(one) => is_plain(&one.base),
        Expr::Call(call) => is_variant(&call.func) && call.args.iter().all(is_plain),
        _ => false,
    }
}

fn is_full_range(index: &Expr) -> bool {
    matches!(index, Expr::Range(range) if range.start.is_none() && range.end.is_none())
}

fn is_zero(number: &syn::ExprLit) -> bool {
    matches!(&number.lit, syn::Lit::Int(digits) if digits.base10_parse::<u64>().is_ok_and(|value| value == 0))
}

/// The beginning of a text, in a line.
fn shortened(text: &str) -> String {
    const MOST: usize = 48;
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{} ..", text[..end].trim_end()),
        None => text,
    }
}
