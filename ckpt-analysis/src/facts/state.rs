//! State that outlives a statement and that the statement does not name as a variable which changes: statics, generators of random
//! numbers, files that the program writes, and what changes behind shared references.
//!
//! A restart that re-executes a statement finds such state as it is at the checkpoint, and not as it was when the statement was first
//! executed: the statement would make another value, and perhaps change the state a second time. So what may be re-executed must
//! look at none of it. That is asked here by names, and rather once too often: of a type, a trait or an import all of one name count
//! as one.

mod inside;
mod vocabulary;

use crate::calls::CallGraph;
use crate::items::{FnId, Function, Items};
use crate::source::locate::bytes;
use crate::source::{Extent, FileId, Program};
use ckpt_compiler::library::{Library, Methods, Types, last_name, segments};
use ckpt_compiler::syntax::macros::{arguments_of_macro, name_of_macro};
use ckpt_compiler::syntax::mentions::names_in;
use ckpt_compiler::syntax::origins::is_box;
use ckpt_compiler::visit::{self, Visit};
use inside::is_access;
use proc_macro2::{Span, TokenStream, TokenTree};
use quote::ToTokens;
use std::collections::{BTreeSet, HashMap, HashSet};
use syn::Expr;
use syn::spanned::Spanned;
use vocabulary::Vocabulary;

/// What a statement looks at, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Looked {
    /// Where that stands in the program.
    pub at: Extent,
    /// What it is.
    pub kind: State,
}

/// A kind of such state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// A static that changes.
    Static,
    /// A generator of random numbers that is no variable of the program.
    Drawn,
    /// A file, in a program that writes files.
    File,
    /// What changes behind a shared reference.
    Inside,
    /// The order of a hash table.
    Order,
}

/// What is known of such state in a program.
#[derive(Debug, Default)]
pub struct OuterState {
    /// Names that stand for statics which change: those of macros and imports among them.
    statics: HashSet<String>,
    /// Names that stand for functions which draw random numbers.
    draws: HashSet<String>,
    /// Types that change behind shared references or hold such a type, and traits that such a type has.
    changing: HashSet<String>,
    /// Texts of the files that the program writes, where all of them are written out.
    written: Option<Written>,
    /// What each function looks at that no argument of it leads to, itself or by what it calls.
    outside: Vec<Option<Looked>>,
    /// What it looks at through its arguments.
    through_arguments: Vec<Option<Looked>>,
    /// What functions look at that are called without their names, conversions and the like, by the types that they are of.
    unseen: Vec<(HashSet<String>, Looked)>,
    /// Whether the program has tables whose order is another one in every process.
    has_hashed: bool,
    calls: HashMap<(FileId, usize), Vec<FnId>>,
}

/// Which files a program writes.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Written {
    /// Any.
    Any,
    /// Those of these names.
    Named(BTreeSet<String>),
}

impl OuterState {
    /// Of a program.
    pub fn of(program: &Program, library: &Library, items: &Items, graph: &CallGraph) -> Self {
        let imports = Imports::of(program);
        let mut found = Self {
            changing: changing(program, library, items),
            draws: imports.naming(&|path| library.draws(path, false) && path.len() > 1),
            written: written(program, library),
            has_hashed: program.files.iter().any(|file| {
                names_in(&file.ast.to_token_stream())
                    .iter()
                    .any(|name| library.says(name, Types::Hashed))
            }),
            ..Self::default()
        };
        found.statics = statics(program, library, items, &found.changing);
        loop {
            let before = found.statics.len();
            let more = imports.naming(&|path| path.last().is_some_and(|last| found.statics.contains(last)));
            found.statics.extend(more);
            let macros = { items.macros.iter() }
                .filter(|(_, tokens)| names_in(tokens).iter().any(|name| found.statics.contains(name)));
            let macros: Vec<String> = macros.map(|(name, _)| name.clone()).collect();
            found.statics.extend(macros);
            if found.statics.len() == before {
                break;
            }
        }
        for call in &graph.calls {
            found
                .calls
                .entry((call.place.file, call.place.bytes.start))
                .or_default()
                .extend(call.callees.iter().copied());
        }
        found.look_into_functions(program, library, items, graph);
        found.unseen = found.called_unseen(program, items);
        found
    }

    /// The names of statics that change, and of what stands for them.
    pub fn statics(&self) -> &HashSet<String> {
        &self.statics
    }

    /// Whether there is none.
    fn is_none(&self) -> bool {
        !self.has_hashed
            && self.statics.is_empty()
            && self.changing.is_empty()
            && self.unseen.is_empty()
            && self.outside.iter().all(Option::is_none)
    }

    fn look_into_functions(
        &mut self,
        program: &Program,
        library: &Library,
        items: &Items,
        graph: &CallGraph,
    ) {
        let callees: Vec<Vec<FnId>> = { graph.calls_by_function().into_iter() }
            .map(|ids| {
                ids.into_iter()
                    .flat_map(|id| graph.call(id).callees.clone())
                    .collect()
            })
            .collect();
        let is_trusted = |function: &Function| {
            let path: Vec<String> = function.display.split("::").map(str::to_owned).collect();
            library.added().may_be_reexecuted(&path)
        };
        let (mut outside, mut through_arguments) = (Vec::new(), Vec::new());
        for function in &items.functions {
            let mut looks = Looks::of(self, library, function.place.file, true);
            looks.base = program.file(function.place.file).base;
            if !is_trusted(function) {
                looks.visit_block(&function.written.block);
            }
            let of = |(span, kind): (Span, State)| Looked {
                at: (function.place.file, bytes(program, function.place.file, span)),
                kind,
            };
            let is_lent = self.is_changing_signature(function);
            outside.push(looks.outside.map(of));
            through_arguments.push(
                looks
                    .inside
                    .filter(|_| is_lent)
                    .map(|span| of((span, State::Inside))),
            );
        }
        (self.outside, self.through_arguments) = (outside, through_arguments);
        loop {
            let mut changed = false;
            for function in &items.functions {
                let id = function.id.0;
                let called = callees.get(id).into_iter().flatten();
                for callee in called.filter(|_| !is_trusted(function)) {
                    if self.outside[id].is_none() && self.outside[callee.0].is_some() {
                        self.outside[id] = self.outside[callee.0].clone();
                        changed = true;
                    }
                    let leads =
                        self.through_arguments[callee.0].is_some() && self.is_changing_signature(function);
                    if self.through_arguments[id].is_none() && leads {
                        self.through_arguments[id] = self.through_arguments[callee.0].clone();
                        changed = true;
                    }
                }
            }
            if !changed {
                return;
            }
        }
    }

    /// Whether what a function is lent may change behind a shared reference.
    fn is_changing_signature(&self, function: &Function) -> bool {
        let signature = &function.item.sig;
        let mut names = names_in(&signature.inputs.to_token_stream());
        names.extend(names_in(&signature.generics.to_token_stream()));
        names.extend(names_in(&signature.generics.where_clause.to_token_stream()));
        names.extend(function.self_type.clone().filter(|_| function.has_receiver()));
        names.iter().any(|name| self.changing.contains(name))
    }

    fn called_unseen(&self, program: &Program, items: &Items) -> Vec<(HashSet<String>, Looked)> {
        let own: HashSet<&str> = items.traits.iter().map(|one| one.name.as_str()).collect();
        let mut found = Vec::new();
        for one in &items.impls {
            let Some(of_trait) = &one.of_trait else { continue };
            let name = last_name(of_trait);
            // A value that is made again ends once, as the first did.
            let is_destructor = one.functions.iter().any(|id| items.function(*id).is_destructor());
            if own.contains(name.as_str()) || is_destructor {
                continue;
            }
            let looked = one.functions.iter().find_map(|id| {
                let through = self.through_arguments[id.0].as_ref();
                self.outside[id.0].as_ref().or(through)
            });
            let Some(looked) = looked else { continue };
            let mut names = names_in(&of_trait.to_token_stream());
            names.extend(names_in(&one.self_type.to_token_stream()));
            let of_program: HashSet<String> = { items.types.iter() }
                .filter(|of| names.contains(&of.name))
                .map(|of| of.name.clone())
                .collect();
            let mut types = types_with(program, &|name| of_program.contains(name));
            types.extend(of_program);
            found.push((types, looked.clone()));
        }
        found
    }

    /// The first such state that an expression of a function looks at, itself, by what it calls, or by a closure in a variable that it
    /// names. `declares` is the statement around it, which tells the types of what it declares.
    pub fn looked_at(
        &self,
        (program, library, items): (&Program, &Library, &Items),
        function: &Function,
        expr: &Expr,
        declares: &TokenStream,
    ) -> Option<Looked> {
        let base = program.file(function.place.file).base;
        let (at, kind) = self.looked_at_in(library, items, (base, function), expr, declares)?;
        Some(match at {
            Ok(span) => Looked {
                at: (function.place.file, bytes(program, function.place.file, span)),
                kind,
            },
            Err(looked) => looked,
        })
    }

    /// The same where the place of what stands in the function itself does not matter.
    pub fn is_looked_at(
        &self,
        library: &Library,
        items: &Items,
        (base, function): (usize, &Function),
        expr: &Expr,
        declares: &TokenStream,
    ) -> Option<State> {
        let found = self.looked_at_in(library, items, (base, function), expr, declares);
        found.map(|(_, kind)| kind)
    }

    fn looked_at_in(
        &self,
        library: &Library,
        items: &Items,
        (base, function): (usize, &Function),
        expr: &Expr,
        declares: &TokenStream,
    ) -> Option<(Result<Span, Looked>, State)> {
        if self.is_none() {
            return None;
        }
        let file = function.place.file;
        let vocabulary = Vocabulary::of(function);
        let mut looks = Looks::of(self, library, file, false);
        looks.base = base;
        looks.visit_without_guards(expr);
        let mut callees = looks.callees(without_last_closure(library, expr).to_token_stream());
        let names = names_in(&expr.to_token_stream());
        let called = if looks.calls {
            vocabulary.closures_of(&names)
        } else {
            Vec::new()
        };
        for closure in called {
            looks.visit_expr(&closure.body);
            callees.extend(looks.callees(closure.body.to_token_stream()));
        }
        if let Some((span, kind)) = looks.outside {
            return Some((Ok(span), kind));
        }
        let mut words = vocabulary.words(&names);
        words.extend(names_in(declares));
        for place in vocabulary.places(&names).chain([expr.to_token_stream()]) {
            for callee in looks.callees(place) {
                let called = items.function(callee);
                words.extend(names_in(&called.item.sig.to_token_stream()));
                words.extend(called.self_type.clone());
            }
        }
        if let Some(span) = looks.inside
            && words.iter().any(|name| self.changing.contains(name))
        {
            return Some((Ok(span), State::Inside));
        }
        let is_hashed = words.iter().any(|name| library.says(name, Types::Hashed));
        if self.has_hashed && is_hashed && self.lists_in_order(library, items, expr, (&callees, declares)) {
            return Some((Ok(expr.span()), State::Order));
        }
        let of_callees = callees.iter().find_map(|id| {
            let through = self.through_arguments[id.0].as_ref();
            self.outside[id.0].as_ref().or(through)
        });
        let unseen = || {
            let is_of = |types: &HashSet<String>| words.iter().any(|name| types.contains(name));
            let found = self.unseen.iter().find(|(types, _)| looks.calls && is_of(types));
            found.map(|(_, looked)| looked)
        };
        let found = of_callees.or_else(unseen)?;
        Some((Err(found.clone()), found.kind))
    }
}

impl OuterState {
    /// Whether the expression makes a list of the items of a hash table, in the order in which they come, itself or by what it calls.
    fn lists_in_order(
        &self,
        library: &Library,
        items: &Items,
        expr: &Expr,
        (callees, declares): (&[FnId], &TokenStream),
    ) -> bool {
        struct Lists<'l> {
            library: &'l Library,
            goes_over: bool,
            gathers: bool,
            sorts: bool,
        }
        impl<'ast> Visit<'ast> for Lists<'_> {
            fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
                let method = call.method.to_string();
                self.goes_over |= self.library.begins_an_iterator(&method)
                    || self.library.says(&method, Methods::GoesOverTable);
                self.gathers |= self.library.collects(&method);
                self.sorts |= self.library.says(&method, Methods::Sorts);
                visit::visit_expr_method_call(self, call);
            }
        }
        let mut lists = Lists {
            library,
            goes_over: false,
            gathers: false,
            sorts: false,
        };
        lists.visit_expr(expr);
        let mut named = names_in(&expr.to_token_stream());
        named.extend(names_in(declares));
        let is_sorted = lists.sorts || named.iter().any(|name| library.says(name, Types::Sorted));
        let by_callee = || {
            callees.iter().any(|id| {
                let signature = &items.function(*id).item.sig;
                let given = names_in(&signature.inputs.to_token_stream());
                let gives = names_in(&signature.output.to_token_stream());
                given.iter().any(|name| library.says(name, Types::Hashed))
                    && gives
                        .iter()
                        .any(|name| library.says(name, Types::Lists) || library.says(name, Types::Iterators))
            })
        };
        !is_sorted && (lists.goes_over && lists.gathers || by_callee())
    }
}

/// The expression without the closure that is its value.
fn without_last_closure(library: &Library, expr: &Expr) -> Expr {
    let mut alone = expr.clone();
    let mut at = &mut alone;
    loop {
        match at {
            Expr::Closure(closure) => {
                *closure.body = syn::parse_quote!(());
                return alone;
            }
            Expr::Paren(one) => at = &mut one.expr,
            Expr::Block(one) => match one.block.stmts.last_mut() {
                Some(syn::Stmt::Expr(last, None)) => at = last,
                _ => return alone,
            },
            Expr::Call(call) if is_box(library, &call.func) => match call.args.last_mut() {
                Some(last) => at = last,
                None => return alone,
            },
            _ => return alone,
        }
    }
}

/// The types of a program that hold something of a name that counts, or hold such a type.
pub fn types_with(program: &Program, counts: &dyn Fn(&str) -> bool) -> HashSet<String> {
    struct Types(Vec<(String, HashSet<String>)>);
    impl<'ast> Visit<'ast> for Types {
        fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
            let names = names_in(&item.fields.to_token_stream());
            self.0.push((item.ident.to_string(), names));
        }
        fn visit_item_enum(&mut self, item: &'ast syn::ItemEnum) {
            let names = names_in(&item.variants.to_token_stream());
            self.0.push((item.ident.to_string(), names));
        }
        fn visit_item_type(&mut self, item: &'ast syn::ItemType) {
            let names = names_in(&item.ty.to_token_stream());
            self.0.push((item.ident.to_string(), names));
        }
    }
    let mut types = Types(Vec::new());
    program.files.iter().for_each(|file| types.visit_file(&file.ast));
    let mut found: HashSet<String> = HashSet::new();
    loop {
        let before = found.len();
        for (name, names) in &types.0 {
            if names.iter().any(|one| counts(one) || found.contains(one)) {
                found.insert(name.clone());
            }
        }
        if found.len() == before {
            return found;
        }
    }
}

/// The names of all that changes behind shared references: of types, and of the traits of the program that such a type has.
fn changing(program: &Program, library: &Library, items: &Items) -> HashSet<String> {
    let own: HashSet<&str> = items.traits.iter().map(|one| one.name.as_str()).collect();
    let is_of_library = |name: &str| library.changes_behind_references(name, false);
    let mut found = HashSet::new();
    let imports = Imports::of(program);
    loop {
        let before = found.len();
        let is_one = |found: &HashSet<String>, name: &str| found.contains(name) || is_of_library(name);
        found.extend(imports.naming(&|path| path.last().is_some_and(|last| is_one(&found, last))));
        found.extend(types_with(program, &|name| is_one(&found, name)));
        for one in &items.impls {
            let name = one.of_trait.as_ref().map(last_name);
            let changes = names_in(&one.self_type.to_token_stream())
                .iter()
                .any(|name| is_one(&found, name));
            found.extend(name.filter(|name| changes && own.contains(name.as_str())));
        }
        if found.len() == before {
            break;
        }
    }
    let mentioned = program
        .files
        .iter()
        .flat_map(|file| names_in(&file.ast.to_token_stream()));
    found.extend(mentioned.filter(|name| is_of_library(name)));
    found
}

/// The statics of a program that change, those of threads and those that are computed late among them. What is set once does not: a
/// restart has set it by then.
fn statics(
    program: &Program,
    library: &Library,
    items: &Items,
    changing: &HashSet<String>,
) -> HashSet<String> {
    struct Mutable(HashSet<String>);
    impl<'ast> Visit<'ast> for Mutable {
        fn visit_item_static(&mut self, item: &'ast syn::ItemStatic) {
            if matches!(item.mutability, syn::StaticMutability::Mut(_)) {
                self.0.insert(item.ident.to_string());
            }
        }
    }
    let mut found = Mutable(HashSet::new());
    { program.files.iter() }.for_each(|file| found.visit_file(&file.ast));
    let changes = |name: &String| changing.contains(name) || library.changes_behind_references(name, false);
    let all = items.globals.iter();
    let those = all.filter(|one| names_in(&one.ty.to_token_stream()).iter().any(changes));
    found.0.extend(those.map(|one| one.name.clone()));
    found.0
}

/// What imports give names to: the path, and the name.
struct Imports(Vec<(Vec<String>, String)>);

impl Imports {
    fn of(program: &Program) -> Self {
        struct Uses(Imports);
        impl<'ast> syn::visit::Visit<'ast> for Uses {
            fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
                self.0.add(&item.tree, &mut Vec::new());
            }
        }
        let mut uses = Uses(Self(Vec::new()));
        { program.files.iter() }.for_each(|file| syn::visit::Visit::visit_file(&mut uses, &file.ast));
        uses.0
    }

    fn add(&mut self, tree: &syn::UseTree, path: &mut Vec<String>) {
        match tree {
            syn::UseTree::Path(one) => {
                path.push(one.ident.to_string());
                self.add(&one.tree, path);
                path.pop();
            }
            syn::UseTree::Group(one) => one.items.iter().for_each(|tree| self.add(tree, path)),
            syn::UseTree::Name(one) => {
                let of = path.iter().cloned().chain([one.ident.to_string()]).collect();
                self.0.push((of, one.ident.to_string()));
            }
            syn::UseTree::Rename(one) => {
                let of = path.iter().cloned().chain([one.ident.to_string()]).collect();
                self.0.push((of, one.rename.to_string()));
            }
            syn::UseTree::Glob(_) => {}
        }
    }

    /// The names of what has such a path.
    fn naming(&self, is_one: &dyn Fn(&[String]) -> bool) -> HashSet<String> {
        let all = self.0.iter().filter(|(path, _)| is_one(path));
        all.map(|(_, name)| name.clone()).collect()
    }
}

/// The files that a program writes.
fn written(program: &Program, library: &Library) -> Option<Written> {
    struct Writes<'l>(&'l Library, Option<Written>);
    impl<'ast> Visit<'ast> for Writes<'_> {
        fn visit_expr_call(&mut self, call: &'ast syn::ExprCall) {
            visit::visit_expr_call(self, call);
            let Expr::Path(path) = &*call.func else { return };
            if !self.0.writes_file(&segments(&path.path)) {
                return;
            }
            self.1 = Some(match (text_of(call.args.first()), self.1.take()) {
                (Some(name), None) => Written::Named([name].into()),
                (Some(name), Some(Written::Named(mut names))) => {
                    names.insert(name);
                    Written::Named(names)
                }
                _ => Written::Any,
            });
        }
    }
    let mut writes = Writes(library, None);
    { program.files.iter() }.for_each(|file| writes.visit_file(&file.ast));
    writes.1
}

/// A text that is written out.
fn text_of(expr: Option<&Expr>) -> Option<String> {
    match expr? {
        Expr::Lit(one) => match &one.lit {
            syn::Lit::Str(text) => Some(text.value()),
            _ => None,
        },
        Expr::Reference(one) => text_of(Some(&one.expr)),
        Expr::Paren(one) => text_of(Some(&one.expr)),
        _ => None,
    }
}

/// Looks for such state in code.
struct Looks<'s> {
    state: &'s OuterState,
    library: &'s Library,
    file: FileId,
    base: usize,
    /// Whether methods count that change what is behind a shared reference, and that other types have as well.
    all_methods: bool,
    outside: Option<(Span, State)>,
    inside: Option<Span>,
    /// Whether anything is called.
    calls: bool,
}

impl<'s> Looks<'s> {
    fn of(state: &'s OuterState, library: &'s Library, file: FileId, all_methods: bool) -> Self {
        Self {
            state,
            library,
            file,
            base: 0,
            all_methods,
            outside: None,
            inside: None,
            calls: false,
        }
    }

    fn finds(&mut self, kind: State, at: Span) {
        self.outside.get_or_insert((at, kind));
    }

    /// The functions that are called in code, by where the calls stand.
    fn callees(&self, code: TokenStream) -> Vec<FnId> {
        let mut found = Vec::new();
        for token in code {
            let at = token.span().byte_range().start + self.base;
            found.extend(self.state.calls.get(&(self.file, at)).into_iter().flatten());
            if let TokenTree::Group(group) = token {
                found.extend(self.callees(group.stream()));
            }
        }
        found
    }

    /// A guard that the statement holds shows what is there: it need not be what was there.
    fn visit_without_guards(&mut self, expr: &Expr) {
        match expr {
            // It runs later.
            Expr::Closure(_) => {}
            Expr::Block(one) => match one.block.stmts.split_last() {
                Some((syn::Stmt::Expr(last, None), before)) => {
                    before.iter().for_each(|stmt| self.visit_stmt(stmt));
                    self.visit_without_guards(last);
                }
                _ => self.visit_expr(expr),
            },
            Expr::Call(call) if is_box(self.library, &call.func) => {
                call.args.iter().for_each(|one| self.visit_without_guards(one));
            }
            Expr::Paren(one) => self.visit_without_guards(&one.expr),
            Expr::Reference(one) => self.visit_without_guards(&one.expr),
            Expr::Unary(one) => self.visit_without_guards(&one.expr),
            Expr::Field(one) => self.visit_without_guards(&one.base),
            Expr::Try(one) => self.visit_without_guards(&one.expr),
            Expr::Index(one) => {
                self.visit_without_guards(&one.expr);
                self.visit_expr(&one.index);
            }
            Expr::MethodCall(call) if self.is_guard(call) => self.visit_without_guards(&call.receiver),
            Expr::MethodCall(call) => {
                self.method(call);
                self.visit_without_guards(&call.receiver);
                call.args.iter().for_each(|one| self.visit_expr(one));
            }
            other => self.visit_expr(other),
        }
    }

    fn is_guard(&self, call: &syn::ExprMethodCall) -> bool {
        call.args.is_empty() && self.library.says(&call.method.to_string(), Methods::Guards)
    }

    fn method(&mut self, call: &syn::ExprMethodCall) {
        self.calls = true;
        let is_own = || {
            let at = (self.file, call.method.span().byte_range().start + self.base);
            self.state
                .calls
                .get(&at)
                .is_some_and(|callees| !callees.is_empty())
        };
        let is_access = is_access(self.library, call, self.all_methods) && (self.all_methods || !is_own());
        if is_access {
            self.inside.get_or_insert(call.span());
        }
    }

    fn tokens(&mut self, tokens: TokenStream) {
        for token in tokens {
            match token {
                TokenTree::Ident(name) if self.state.statics.contains(&name.to_string()) => {
                    self.finds(State::Static, name.span());
                }
                TokenTree::Group(group) => self.tokens(group.stream()),
                _ => {}
            }
        }
    }
}

impl<'ast> Visit<'ast> for Looks<'_> {
    fn visit_expr_path(&mut self, path: &'ast syn::ExprPath) {
        let is_static = path
            .path
            .segments
            .last()
            .is_some_and(|last| self.state.statics.contains(&last.ident.to_string()));
        if is_static {
            self.finds(State::Static, path.span());
        }
    }

    fn visit_expr_call(&mut self, call: &'ast syn::ExprCall) {
        self.calls = true;
        if let Expr::Path(path) = &*call.func {
            let names = segments(&path.path);
            let is_own = !self.callees(path.to_token_stream()).is_empty();
            let is_renamed = matches!(&names[..], [name] if self.state.draws.contains(name));
            if !is_own && (is_renamed || self.library.draws(&names, false)) {
                self.finds(State::Drawn, call.span());
            }
            let is_written = match (&self.state.written, text_of(call.args.first())) {
                (None, _) => false,
                (Some(Written::Named(all)), Some(name)) => all.contains(&name),
                _ => true,
            };
            if is_written && self.library.reads_file(&names) {
                self.finds(State::File, call.span());
            }
        }
        visit::visit_expr_call(self, call);
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        self.method(call);
        visit::visit_expr_method_call(self, call);
    }

    fn visit_macro(&mut self, mac: &'ast syn::Macro) {
        self.calls = true;
        if self.state.statics.contains(&name_of_macro(mac)) {
            self.finds(State::Static, mac.path.span());
        }
        match arguments_of_macro(self.library, mac) {
            Some(arguments) => {
                for argument in &arguments {
                    // They are parsed anew and live no longer.
                    let mut inside = Looks {
                        outside: None,
                        inside: None,
                        ..*self
                    };
                    inside.visit_expr(argument);
                    self.outside = self.outside.or(inside.outside);
                    self.inside = self.inside.or(inside.inside);
                }
            }
            None => self.tokens(mac.tokens.clone()),
        }
    }

    fn visit_item(&mut self, _: &'ast syn::Item) {}
}
