//! The arrays that a program has on devices, and what is done with each, for `cargo ckpt plan`: which kernels have it as an
//! argument, and whether these write to it ([`kernels`]); which commands write to it.
//!
//! The program is followed from `main` on, through its own functions, with what stands for an array or a kernel: a variable, a
//! reference, a part of a tuple or a struct. Where an array goes where nobody follows, it is said to.

mod elements;
mod kernels;
mod values;
mod wgsl;

use crate::items::{FnId, Function};
use crate::placement::analysis::Analysis;
use crate::source::locate::bytes;
use crate::source::{FileId, Position, Program};
use ckpt_compiler::library::{Adaptor, DeviceMethods, Library, Macros, Methods, Threads, Types};
use ckpt_compiler::syntax::gathered::empty_list;
use ckpt_compiler::syntax::language::is_prelude_variant;
use ckpt_compiler::syntax::mentions::names_in;
use ckpt_compiler::visit::{self, Visit};
pub use elements::Elements;
use elements::Own;
pub use kernels::Access;
use kernels::Kernels;
pub(in crate::decisions) use kernels::without_comments;
use quote::ToTokens;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Expr, Pat};
use values::{Kernel, KnownBy, Place, Value, bind, numbered};

use super::devices::Devices;

/// An array on a device, in a variable of its own or a part of one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceArray {
    /// The function.
    pub function: FnId,
    /// Where its `let` begins, or its name in another pattern.
    pub place: Position,
    /// The variable, as the source has it.
    pub variable: String,
    /// Which part of that it is, `.left.now`; nothing where it is the variable.
    pub part: String,
    /// The line of its declaration.
    pub line: usize,
    /// What each kernel does with it that has it as an argument; no name where that was not found.
    pub kernels: BTreeMap<Option<String>, Access>,
    /// The commands that write to it, by the names of the methods.
    pub commands: BTreeSet<String>,
    /// Whether all that is done with it was seen.
    pub is_followed: bool,
    /// What its elements are, as far as shaders and the types of the program say.
    pub elements: Elements,
}

impl DeviceArray {
    /// Whether neither a kernel nor a command writes to it.
    pub fn is_only_read(&self) -> bool {
        let kernels = self.kernels.values().all(|access| *access == Access::Reads);
        self.is_followed && kernels && self.commands.is_empty()
    }
}

/// The fields of what describes a group of arrays for shaders, and of its entries.
const GROUP: &str = "layout";
const ENTRIES: &str = "entries";
const BINDING: &str = "binding";

/// So many calls are followed.
const MOST_CALLS: usize = 20_000;

/// The arrays of a program that begins in `main`, in the order in which they are declared.
pub(crate) fn device_arrays(program: &Program, analysis: &Analysis, main: FnId) -> Vec<DeviceArray> {
    let devices = Devices::of(&analysis.library, program);
    if !devices.are_used() {
        return Vec::new();
    }
    let mut callees: HashMap<(FileId, usize), Vec<FnId>> = HashMap::new();
    for call in &analysis.graph.calls {
        let at = (call.place.file, call.place.bytes.start);
        callees.entry(at).or_default().extend(&call.callees);
    }
    let mut walk = Walk {
        program,
        analysis,
        devices,
        callees,
        kernels: Kernels::of(program),
        own: Own::of(program),
        arrays: BTreeMap::new(),
        parts: vec![String::new()],
        done: HashMap::new(),
        calls: 0,
    };
    walk.function(main, Vec::new());
    let is_complete = walk.calls < MOST_CALLS;
    let arrays = walk.arrays.into_values().map(|array| DeviceArray {
        is_followed: array.is_followed && is_complete,
        ..array
    });
    arrays.collect()
}

struct Walk<'a> {
    program: &'a Program,
    analysis: &'a Analysis,
    devices: Devices<'a>,
    /// By the file and the byte at which the path or the name of the method begins.
    callees: HashMap<(FileId, usize), Vec<FnId>>,
    kernels: Kernels,
    own: Own<'a>,
    arrays: BTreeMap<Place, DeviceArray>,
    /// The parts of variables that are arrays, by their numbers.
    parts: Vec<String>,
    /// What functions have returned for what they were given; nothing while they are being followed.
    done: HashMap<(FnId, Vec<Value>), Value>,
    calls: usize,
}

/// A function that is being followed.
struct Frame<'a> {
    function: &'a Function,
    variables: BTreeMap<String, Value>,
    /// Where lists are declared that have nothing in them at first.
    lists: BTreeMap<String, (Position, syn::Ident)>,
    /// The arrays that it was given.
    given: BTreeSet<Place>,
}

impl<'a> Walk<'a> {
    /// What a function returns for these arguments.
    fn function(&mut self, id: FnId, arguments: Vec<Value>) -> Value {
        self.calls += 1;
        let key = (id, arguments);
        if let Some(known) = self.done.get(&key) {
            return known.clone();
        }
        if self.calls >= MOST_CALLS {
            return Value::Other;
        }
        self.done.insert(key.clone(), Value::Other);
        let function = self.analysis.items.function(id);
        let mut frame = Frame {
            function,
            variables: BTreeMap::new(),
            lists: BTreeMap::new(),
            given: key.1.iter().flat_map(Value::places).collect(),
        };
        for (parameter, value) in function.item.sig.inputs.iter().zip(&key.1) {
            match parameter {
                syn::FnArg::Receiver(_) => {
                    frame.variables.insert("self".into(), value.clone());
                }
                syn::FnArg::Typed(typed) => self.parameter(&mut frame, typed, value),
            }
        }
        let mut returned = self.block(&mut frame, &function.item.block);
        // The variable of the caller is another one.
        let is_of_function = |place: &Place| !key.1.iter().any(|value| value.has(*place));
        if let Value::Arrays(places) = &returned
            && places.iter().all(is_of_function)
        {
            returned = Value::Made(self.known_by(places));
        }
        if let syn::ReturnType::Type(_, ty) = &function.item.sig.output {
            self.known_as(&returned, ty);
            if let Some(known_by) = self.array_of(ty)
                && !matches!(returned, Value::Arrays(_))
            {
                returned = Value::Made(known_by);
            }
        }
        self.done.insert(key, returned.clone());
        returned
    }

    /// Who knows what the elements of these arrays are.
    fn known_by(&self, places: &BTreeSet<Place>) -> KnownBy {
        let mut arrays = places.iter().filter_map(|place| self.arrays.get(place));
        match arrays.all(|array| array.elements == Elements::OfType) {
            true => KnownBy::Library,
            false => KnownBy::Shaders,
        }
    }

    /// Whether a value of this type is an array that a variable may be, a list of them, or a `Result` of one, and who knows what
    /// its elements are.
    fn array_of(&self, ty: &syn::Type) -> Option<KnownBy> {
        let text = ty.to_token_stream().to_string().replace(' ', "");
        if self.devices.are_arrays(self.devices.one_of(&text)) {
            return Some(self.known_by_type(&text));
        }
        let syn::Type::Path(path) = ty else {
            return None;
        };
        let last = path.path.segments.last()?;
        let is_fallible = self
            .analysis
            .library
            .says(&last.ident.to_string(), Types::Fallible);
        match &last.arguments {
            syn::PathArguments::AngleBracketed(list) if is_fallible => match list.args.first() {
                Some(syn::GenericArgument::Type(inner)) => self.array_of(inner),
                _ => None,
            },
            _ => None,
        }
    }

    fn known_by_type(&self, type_name: &str) -> KnownBy {
        match self.devices.are_bytes(type_name) {
            true => KnownBy::Shaders,
            false => KnownBy::Library,
        }
    }

    fn block(&mut self, frame: &mut Frame<'a>, block: &syn::Block) -> Value {
        let mut last = Value::Other;
        for statement in &block.stmts {
            last = match statement {
                syn::Stmt::Local(local) => {
                    self.local(frame, local);
                    Value::Other
                }
                syn::Stmt::Expr(expr, end) => {
                    let value = self.eval(frame, expr);
                    if end.is_none() { value } else { Value::Other }
                }
                syn::Stmt::Macro(one) => {
                    self.mac(frame, &one.mac);
                    Value::Other
                }
                syn::Stmt::Item(_) => Value::Other,
            };
        }
        last
    }

    /// What is passed by value is the function's own from here on, what is lent is not.
    fn parameter(&mut self, frame: &mut Frame<'a>, typed: &syn::PatType, value: &Value) {
        let mut value = value.clone();
        if let (Pat::Ident(name), false) = (&*typed.pat, matches!(&*typed.ty, syn::Type::Reference(_))) {
            let file = frame.function.place.file;
            let at = (file, bytes(self.program, file, name.ident.span()).start);
            value = self.declared(frame, (at, &name.ident), "", value, true);
        }
        self.known_as(&value, &typed.ty);
        bind(&mut frame.variables, &typed.pat, &value);
    }

    /// The arrays that are in this value, or in parts of it, are those of a variable that is declared there. What is made by a function
    /// of the program is an array of that as well. `is_moved`: so is what was given; else it is another name for that.
    fn declared(
        &mut self,
        frame: &Frame<'_>,
        (at, name): (Position, &syn::Ident),
        part: &str,
        value: Value,
        is_moved: bool,
    ) -> Value {
        let is_own = |place: &Place| {
            let is_of_another =
                { self.arrays.get(place) }.is_some_and(|one| one.function != frame.function.id);
            is_of_another && (is_moved || !frame.given.contains(place))
        };
        let (before, known_by) = match value {
            Value::Made(known_by) => (BTreeSet::new(), known_by),
            Value::Arrays(places) if !places.is_empty() && places.iter().all(is_own) => {
                let known_by = self.known_by(&places);
                (places, known_by)
            }
            Value::Parts(parts) => {
                let each = parts.into_iter().map(|(field, value)| {
                    let part = format!("{part}.{field}");
                    let value = self.declared(frame, (at, name), &part, value, is_moved);
                    (field, value)
                });
                return Value::Parts(each.collect());
            }
            other => return other,
        };
        let is_of_bytes = |place: &Place| {
            let known = self.arrays.get(place).map(|one| &one.elements);
            known == Some(&Elements::Several)
        };
        let are_bytes = !before.is_empty() && !self.devices.are_watched() && before.iter().all(is_of_bytes);
        let place = self.array(frame, (at, name), part, known_by);
        // What the function has given it to that made it has it still.
        let kernels: Vec<_> = { before.iter().filter_map(|one| self.arrays.get(one)) }
            .flat_map(|one| one.kernels.clone())
            .collect();
        if let Some(array) = self.arrays.get_mut(&place) {
            if are_bytes {
                array.elements = Elements::Several;
            }
            for (kernel, access) in kernels {
                let known = array.kernels.entry(kernel).or_insert(access);
                *known = access.max(*known);
            }
        }
        let mut places = before;
        places.insert(place);
        Value::Arrays(places)
    }

    /// Notes an array.
    fn array(
        &mut self,
        frame: &Frame<'_>,
        (at, name): (Position, &syn::Ident),
        part: &str,
        known_by: KnownBy,
    ) -> Place {
        let number = self.parts.iter().position(|known| known == part);
        let number = number.unwrap_or_else(|| {
            self.parts.push(part.to_owned());
            self.parts.len() - 1
        });
        let place = Place { at, part: number };
        let elements = match known_by {
            KnownBy::Shaders => Elements::NotKnown,
            KnownBy::Library => Elements::OfType,
        };
        self.arrays.entry(place).or_insert_with(|| DeviceArray {
            function: frame.function.id,
            place: at,
            variable: frame.function.name_in_source(&name.to_string()),
            part: part.to_owned(),
            line: name.span().start().line,
            kernels: BTreeMap::new(),
            commands: BTreeSet::new(),
            is_followed: true,
            elements,
        });
        place
    }

    /// A list has this element as well; whether that is an array.
    fn gathered(&mut self, frame: &mut Frame<'a>, list: String, element: &Value) -> bool {
        let (mut places, known_by) = match element {
            Value::Made(known_by) => (BTreeSet::new(), *known_by),
            Value::Arrays(places) if !places.is_empty() => (places.clone(), self.known_by(places)),
            _ => return false,
        };
        if let Some((at, name)) = frame.lists.get(&list) {
            places.insert(self.array(frame, (*at, name), "", known_by));
        }
        let before = { frame.variables.get(&list) }.map(Value::places);
        places.extend(before.unwrap_or_default());
        frame.variables.insert(list, Value::Arrays(places));
        true
    }

    /// The same of all names of a pattern.
    fn declared_in(&mut self, frame: &Frame<'_>, at: Position, pattern: &Pat, value: Value) -> Value {
        match (pattern, value) {
            (Pat::Ident(name), value) => self.declared(frame, (at, &name.ident), "", value, false),
            (Pat::Type(typed), value) => self.declared_in(frame, at, &typed.pat, value),
            (Pat::Tuple(list), Value::Parts(mut parts)) => {
                for (index, one) in list.elems.iter().enumerate() {
                    if let Some(part) = parts.remove(&index.to_string()) {
                        let at = (at.0, bytes(self.program, at.0, one.span()).start);
                        parts.insert(index.to_string(), self.declared_in(frame, at, one, part));
                    }
                }
                Value::Parts(parts)
            }
            (_, value) => value,
        }
    }

    fn local(&mut self, frame: &mut Frame<'a>, local: &syn::Local) {
        let Some(init) = &local.init else { return };
        if let Some(list) = empty_list(&self.analysis.library, local) {
            let file = frame.function.place.file;
            let at = (file, bytes(self.program, file, local.span()).start);
            frame.lists.insert(list.to_string(), (at, list.clone()));
        }
        let mut value = self.eval(frame, &init.expr);
        if let Some((_, diverge)) = &init.diverge {
            self.eval(frame, diverge);
        }
        let (pattern, ty) = match &local.pat {
            Pat::Type(typed) => (&*typed.pat, Some(&*typed.ty)),
            pattern => (pattern, None),
        };
        if value == Value::Other
            && let Some(known_by) = ty.and_then(|ty| self.array_of(ty))
        {
            value = Value::Made(known_by);
        }
        let file = frame.function.place.file;
        let at = (file, bytes(self.program, file, local.span()).start);
        let value = self.declared_in(frame, at, pattern, value);
        self.known_as_made(frame, &value, &init.expr);
        if let Some(ty) = ty {
            self.known_as(&value, ty);
        }
        bind(&mut frame.variables, pattern, &value);
    }

    fn eval(&mut self, frame: &mut Frame<'a>, expr: &Expr) -> Value {
        match expr {
            Expr::Path(path) => match path.path.get_ident() {
                Some(name) => {
                    let known = frame.variables.get(&name.to_string());
                    known.cloned().unwrap_or_default()
                }
                None => Value::Other,
            },
            Expr::Lit(syn::ExprLit {
                lit: syn::Lit::Str(text),
                ..
            }) => Value::Text(text.value()),
            Expr::Lit(syn::ExprLit {
                lit: syn::Lit::Int(number),
                ..
            }) => number.base10_parse().map_or(Value::Other, Value::Number),
            Expr::Cast(one) => self.eval(frame, &one.expr),
            Expr::Reference(one) => self.eval(frame, &one.expr),
            Expr::Paren(one) => self.eval(frame, &one.expr),
            Expr::Group(one) => self.eval(frame, &one.expr),
            Expr::Try(one) => self.eval(frame, &one.expr),
            Expr::Unary(one) => self.eval(frame, &one.expr),
            Expr::Await(one) => self.eval(frame, &one.base),
            Expr::Field(one) => self
                .eval(frame, &one.base)
                .part(&one.member.to_token_stream().to_string()),
            Expr::Index(one) => {
                let index = self.eval(frame, &one.index).number();
                match (self.eval(frame, &one.expr), index) {
                    (list @ Value::Parts(_), Some(index)) => list.part(&index.to_string()),
                    (list, _) => list.any_part(),
                }
            }
            Expr::Tuple(list) => self.list(frame, list.elems.iter()),
            Expr::Array(list) => self.list(frame, list.elems.iter()),
            Expr::Struct(one) => {
                let fields = one.fields.iter().map(|field| {
                    let name = field.member.to_token_stream().to_string();
                    (name, self.eval(frame, &field.expr))
                });
                let value = Value::Parts(fields.collect());
                self.known_as_fields(&one.path, &value);
                value
            }
            Expr::Block(one) => self.block(frame, &one.block),
            Expr::Unsafe(one) => self.block(frame, &one.block),
            Expr::If(one) => {
                self.eval(frame, &one.cond);
                let then = self.block(frame, &one.then_branch);
                match &one.else_branch {
                    Some((_, other)) => self.eval(frame, other).or(then),
                    None => then,
                }
            }
            Expr::Let(one) => {
                let value = self.eval(frame, &one.expr);
                bind(&mut frame.variables, &one.pat, &value);
                Value::Other
            }
            Expr::Match(one) => {
                let value = self.eval(frame, &one.expr);
                let arms = one.arms.iter().map(|arm| {
                    bind(&mut frame.variables, &arm.pat, &value);
                    if let Some((_, guard)) = &arm.guard {
                        self.eval(frame, guard);
                    }
                    self.eval(frame, &arm.body)
                });
                arms.reduce(Value::or).unwrap_or_default()
            }
            Expr::ForLoop(one) => {
                let over = self.eval(frame, &one.expr).any_part();
                bind(&mut frame.variables, &one.pat, &over);
                self.block(frame, &one.body);
                Value::Other
            }
            Expr::Assign(one) => {
                let value = self.eval(frame, &one.right);
                if let Expr::Path(path) = &*one.left
                    && let Some(name) = path.path.get_ident()
                {
                    frame.variables.insert(name.to_string(), value);
                }
                Value::Other
            }
            Expr::Call(call) => self.call(frame, call),
            Expr::MethodCall(call) => self.method(frame, call),
            Expr::Macro(one) => self.mac(frame, &one.mac),
            _ => {
                visit::visit_expr(&mut Below(self, frame), expr);
                Value::Other
            }
        }
    }

    fn list<'e>(&mut self, frame: &mut Frame<'a>, elements: impl Iterator<Item = &'e Expr>) -> Value {
        let parts = elements
            .enumerate()
            .map(|(index, one)| (index.to_string(), self.eval(frame, one)));
        Value::Parts(parts.collect())
    }

    /// The functions of the program that may be called there.
    fn callees(&self, frame: &Frame<'_>, span: proc_macro2::Span) -> Vec<FnId> {
        let file = frame.function.place.file;
        let at = bytes(self.program, file, span).start;
        self.callees.get(&(file, at)).cloned().unwrap_or_default()
    }

    fn call(&mut self, frame: &mut Frame<'a>, call: &syn::ExprCall) -> Value {
        self.eval(frame, &call.func);
        let arguments: Vec<Value> = call.args.iter().map(|one| self.eval(frame, one)).collect();
        let callees = self.callees(frame, call.func.span());
        if !callees.is_empty() {
            return self.own_call(&callees, &arguments);
        }
        let Expr::Path(path) = &*call.func else {
            self.goes_away(&arguments);
            return Value::Other;
        };
        let library = &self.analysis.library;
        let segments = &path.path.segments;
        let name = segments.last().map(|one| one.ident.to_string());
        let name = name.unwrap_or_default();
        let owner = segments.iter().rev().nth(1).map(|one| one.ident.to_string());
        let [value] = &arguments[..] else {
            return match self.kernel_named(&arguments) {
                Some(kernel) => kernel,
                None => match owner.filter(|owner| self.devices.are_arrays(owner)) {
                    // What functions of that type give is one, or makes one.
                    Some(owner) => Value::Made(self.known_by_type(&owner)),
                    // Of a handle without a type nobody knows more than the bytes.
                    None if library.says(&name, DeviceMethods::Makes) => Value::Made(KnownBy::Shaders),
                    None => {
                        self.goes_away(&arguments);
                        Value::Other
                    }
                },
            };
        };
        let is_pointer = owner
            .as_deref()
            .is_some_and(|owner| library.says(owner, Types::Owners));
        let is_run = owner
            .as_deref()
            .is_some_and(|owner| library.says(owner, Types::DeviceKernels));
        match value {
            // It starts a kernel, and gives it its arguments anew.
            Value::Kernel(kernel) if is_run => Value::Kernel(Kernel {
                next: 0,
                ..kernel.clone()
            }),
            _ if is_pointer
                || is_prelude_variant(&name)
                || library.says_of_path(&path.path, Types::DeviceNames) =>
            {
                value.clone()
            }
            _ if library.says(&name, Threads::Drops) => Value::Other,
            _ => {
                self.goes_away(&arguments);
                self.kernel_named(&arguments).unwrap_or_default()
            }
        }
    }

    /// The kernel whose name is among the arguments.
    fn kernel_named(&self, arguments: &[Value]) -> Option<Value> {
        let named = arguments.iter().find_map(|value| match value {
            Value::Text(text) if self.kernels.has(text) => Some(text.clone()),
            _ => None,
        });
        named.map(|name| {
            Value::Kernel(Kernel {
                name: Some(name),
                next: 0,
            })
        })
    }

    fn own_call(&mut self, callees: &[FnId], arguments: &[Value]) -> Value {
        let values = callees
            .iter()
            .map(|callee| self.function(*callee, arguments.to_vec()));
        values.reduce(Value::or).unwrap_or_default()
    }

    fn method(&mut self, frame: &mut Frame<'a>, call: &syn::ExprMethodCall) -> Value {
        let receiver = self.eval(frame, &call.receiver);
        let arguments: Vec<Value> = call.args.iter().map(|one| self.eval(frame, one)).collect();
        let callees = self.callees(frame, call.method.span());
        if !callees.is_empty() {
            let all: Vec<Value> = std::iter::once(receiver).chain(arguments).collect();
            return self.own_call(&callees, &all);
        }
        // What gives a list of what a closure makes.
        if let (Value::Other, Some(Expr::Closure(closure))) = (&receiver, call.args.first())
            && let made @ Value::Made(_) = self.eval(frame, &closure.body)
        {
            return made;
        }
        let library = &self.analysis.library;
        let is = |key: DeviceMethods| library.is_call(call, key);
        if let Value::Kernel(kernel) = receiver {
            let kernel = self.given(call, kernel, &arguments);
            if let Some(name) = root(&call.receiver)
                && let Some(known @ Value::Kernel(_)) = frame.variables.get_mut(&name)
            {
                *known = Value::Kernel(kernel.clone());
            }
            return Value::Kernel(kernel);
        }
        if is(DeviceMethods::Makes) {
            return Value::Made(match self.devices.are_watched() {
                true => KnownBy::Shaders,
                false => KnownBy::Library,
            });
        }
        if is(DeviceMethods::MakesTexels) {
            return Value::Made(KnownBy::Library);
        }
        if is(DeviceMethods::Groups) {
            return arguments.into_iter().next().unwrap_or_default();
        }
        if is(DeviceMethods::Binds) {
            arguments.iter().for_each(|description| self.bound(description));
            return Value::Other;
        }
        if library.is_call(call, Adaptor::Numbers)
            && let Value::Parts(items) = receiver
        {
            return numbered(items, is_whole_list(&call.receiver));
        }
        if let (Value::Parts(parts), Some(Expr::Closure(closure))) = (&receiver, call.args.first())
            && let [parameter] = &closure.inputs.iter().collect::<Vec<_>>()[..]
        {
            let of_each = parts.iter().map(|(name, part)| {
                bind(&mut frame.variables, parameter, part);
                (name.clone(), self.eval(frame, &closure.body))
            });
            return Value::Parts(of_each.collect());
        }
        if let Some(kernel) = self.kernel_named(&arguments) {
            if let Some(name) = root(&call.receiver) {
                frame.variables.insert(name, kernel.clone());
            }
            return kernel;
        }
        if library.is_call(call, Types::DeviceKernels) {
            return Value::Kernel(Kernel::default());
        }
        if let ([value], Some(list)) = (&arguments[..], gathered_by(&self.analysis.library, call))
            && self.gathered(frame, list, value)
        {
            return Value::Other;
        }
        let name = call.method.to_string();
        let writes = is(DeviceMethods::Writes);
        match &receiver {
            Value::Arrays(places) if writes => self.written(places, &name),
            // What it is asked for is a number or the like.
            Value::Arrays(_) if arguments.is_empty() && !self.gives_itself(call) => return Value::Other,
            _ => {}
        }
        let is_command =
            writes || is(DeviceMethods::Copies) || is(DeviceMethods::Between) || is(DeviceMethods::Reads);
        let lends = |one: &Expr| matches!(one, Expr::Reference(one) if one.mutability.is_some());
        let changes = library.is_call(call, Types::DeviceCommands);
        let last = arguments.iter().rposition(|one| !one.places().is_empty());
        for (index, (value, expr)) in arguments.iter().zip(&call.args).enumerate() {
            // It may be in a description: `TexelCopyTextureInfo { texture: &now, .. }`.
            let places: BTreeSet<Place> = value.places().into_iter().collect();
            match value {
                _ if places.is_empty() => {}
                _ if is(DeviceMethods::Between) && Some(index) != last => {}
                _ if is(DeviceMethods::Reads) => {}
                Value::Arrays(_) if changes && !lends(expr) => {}
                _ if is_command || changes => self.written(&places, &name),
                _ => self.goes_away(std::slice::from_ref(value)),
            }
        }
        let is_unpacked = library.is_call(call, Methods::Unpacks);
        match receiver {
            // Up to the call that ends it, what makes an array has no other values.
            made @ Value::Made(_) => made,
            value if arguments.is_empty() || is_unpacked || is(DeviceMethods::Same) => value,
            value @ Value::Parts(_) => value,
            _ => Value::Other,
        }
    }

    fn gives_itself(&self, call: &syn::ExprMethodCall) -> bool {
        let library = &self.analysis.library;
        library.is_call(call, DeviceMethods::Same)
            || library.is_call(call, Methods::Clones)
            || library.is_call(call, Methods::Unpacks)
            || library.is_call(call, Methods::Leaves)
    }

    /// What a kernel is after it was given these arguments by a method of its own.
    fn given(&mut self, call: &syn::ExprMethodCall, mut kernel: Kernel, arguments: &[Value]) -> Kernel {
        let library = &self.analysis.library;
        let rebinds = library.is_call(call, Types::DeviceRebinds);
        let is_next = library.is_call(call, DeviceMethods::Arguments) || rebinds && arguments.len() == 1;
        if !is_next && !rebinds {
            if let Some(Value::Text(name)) = arguments.iter().find(|one| self.is_kernel(one)) {
                kernel.name = Some(name.clone());
            }
            return kernel;
        }
        let number = match call.args.first() {
            _ if is_next => Some(kernel.next),
            Some(Expr::Lit(syn::ExprLit {
                lit: syn::Lit::Int(number),
                ..
            })) => number.base10_parse().ok(),
            _ => None,
        };
        kernel.next += usize::from(is_next);
        let name = kernel.name.clone();
        let access = name
            .as_deref()
            .map_or(Access::NotKnown, |name| self.kernels.access(name, number));
        for place in arguments.iter().flat_map(Value::places) {
            if let Some(array) = self.arrays.get_mut(&place) {
                let known = array.kernels.entry(name.clone()).or_insert(access);
                *known = access.max(*known);
            }
        }
        kernel
    }

    /// Shaders have these arrays from here on: the description of a group of them.
    fn bound(&mut self, description: &Value) {
        let group = description.clone().part(GROUP).number();
        let Value::Parts(entries) = description.clone().part(ENTRIES) else {
            return self.goes_away(std::slice::from_ref(description));
        };
        for entry in entries.into_values() {
            let binding = entry.clone().part(BINDING).number();
            let shaders = self.kernels.shaders.bound(group, binding);
            let shaders: Vec<wgsl::Bound> = shaders.cloned().collect();
            for place in entry.places() {
                let Some(array) = self.arrays.get_mut(&place) else {
                    continue;
                };
                if shaders.is_empty() {
                    array.kernels.insert(None, Access::NotKnown);
                }
                for shader in &shaders {
                    array.elements = array.elements.and(shader.elements.as_ref());
                    for entry in &shader.entries {
                        let known = array.kernels.entry(Some(entry.clone())).or_insert(shader.access);
                        *known = shader.access.max(*known);
                    }
                }
            }
        }
    }

    fn is_kernel(&self, value: &Value) -> bool {
        matches!(value, Value::Text(text) if self.kernels.has(text))
    }

    fn written(&mut self, places: &BTreeSet<Place>, command: &str) {
        for place in places {
            if let Some(array) = self.arrays.get_mut(place) {
                array.commands.insert(command.to_owned());
            }
        }
    }

    /// What becomes of these is not seen.
    fn goes_away(&mut self, values: &[Value]) {
        for place in values.iter().flat_map(Value::places) {
            if let Some(array) = self.arrays.get_mut(&place) {
                array.is_followed = false;
            }
        }
    }

    fn mac(&mut self, frame: &mut Frame<'a>, mac: &syn::Macro) -> Value {
        let list = Punctuated::<Expr, syn::Token![,]>::parse_terminated;
        let Ok(arguments) = mac.parse_body_with(list) else {
            let names = names_in(&mac.tokens);
            let mentioned = frame.variables.iter().filter(|(name, _)| names.contains(*name));
            let values: Vec<Value> = mentioned.map(|(_, value)| value.clone()).collect();
            self.goes_away(&values);
            return Value::Other;
        };
        let name = mac.path.segments.last().map(|one| one.ident.to_string());
        let name = name.unwrap_or_default();
        if self.analysis.library.says(&name, Macros::Lists) {
            return self.list(frame, arguments.iter());
        }
        let values: Vec<Value> = arguments
            .iter()
            .map(|argument| match argument {
                // A name within the text.
                Expr::Assign(one) => self.eval(frame, &one.right),
                argument => self.eval(frame, argument),
            })
            .collect();
        if !self.analysis.library.formats(&name) {
            self.goes_away(&values);
        }
        Value::Other
    }
}

/// Whether these are the items of a list, all of them in their order: `list.iter()`.
fn is_whole_list(items: &Expr) -> bool {
    match items {
        Expr::MethodCall(call) => call.args.is_empty() && is_list(&call.receiver),
        items => is_list(items),
    }
}

/// Whether it is no chain of methods, which may leave some out, or give them in another order.
fn is_list(expr: &Expr) -> bool {
    match expr {
        Expr::Path(_) | Expr::Array(_) | Expr::Field(_) => true,
        Expr::Reference(one) => is_list(&one.expr),
        Expr::Paren(one) => is_list(&one.expr),
        _ => false,
    }
}

/// The list that a call puts another element into.
fn gathered_by(library: &Library, call: &syn::ExprMethodCall) -> Option<String> {
    match &*call.receiver {
        Expr::Path(path) if library.is_call(call, Methods::Adds) => {
            path.path.get_ident().map(ToString::to_string)
        }
        _ => None,
    }
}

/// The variable that a chain of methods begins with.
fn root(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Path(path) => path.path.get_ident().map(ToString::to_string),
        Expr::MethodCall(call) => root(&call.receiver),
        Expr::Reference(one) => root(&one.expr),
        Expr::Paren(one) => root(&one.expr),
        _ => None,
    }
}

/// Follows what stands below an expression that has no value for itself.
struct Below<'w, 'f, 'a>(&'w mut Walk<'a>, &'f mut Frame<'a>);

impl<'ast> Visit<'ast> for Below<'_, '_, '_> {
    fn visit_expr(&mut self, expr: &'ast Expr) {
        self.0.eval(self.1, expr);
    }

    fn visit_block(&mut self, block: &'ast syn::Block) {
        self.0.block(self.1, block);
    }
}
