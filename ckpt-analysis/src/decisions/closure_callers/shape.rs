//! Which functions do nothing with a closure but call it, and which closures are no more than a block.

use super::text::{self, Changes, Token};
use super::types::{are_free, at_call, called_with, output};
use super::{Call, bytes};
use crate::Analysis;
use crate::items::{Def, Function, ScopeId};
use crate::source::Program;
use ckpt_compiler::library::{Library, Prelude};
use ckpt_compiler::syntax::language::{is_prelude_variant, is_primitive_type};
use ckpt_compiler::syntax::mentions::names_in;
use ckpt_compiler::syntax::patterns::likely_bindings;
use ckpt_compiler::visit::{self, Visit};
use quote::ToTokens;
use std::collections::{BTreeMap, HashMap, HashSet};
use syn::spanned::Spanned;
use syn::{
    Expr, ExprCall, ExprClosure, FnArg, GenericParam, ItemFn, ParenthesizedGenericArguments, Pat, ReturnType,
    Type,
};

/// A function that calls a closure which it is given, at one place and as itself.
#[derive(Debug)]
pub struct Wrapper<'a> {
    /// The function.
    pub function: &'a Function,
    /// Which of its parameters is the closure, `self` counted.
    pub parameter: usize,
    /// Where it is called.
    call: &'a ExprCall,
    /// What it takes and gives, as far as the signature says.
    called: &'a ParenthesizedGenericArguments,
}

impl<'a> Wrapper<'a> {
    /// The function as such a one, if it is.
    pub fn of(function: &'a Function) -> Option<Self> {
        let item = &function.written;
        let signature = &item.sig;
        let owns_self = signature
            .receiver()
            .is_some_and(|receiver| receiver.reference.is_none());
        if signature.asyncness.is_some() || signature.unsafety.is_some() || owns_self {
            return None;
        }
        let mut closures = signature
            .inputs
            .iter()
            .enumerate()
            .filter_map(|(index, input)| match input {
                FnArg::Typed(typed) => {
                    let called = called_with(&typed.ty, &signature.generics)?;
                    Some((index, &*typed.pat, called))
                }
                FnArg::Receiver(_) => None,
            });
        let (parameter, Pat::Ident(pattern), called) = closures.next()? else {
            return None;
        };
        if closures.next().is_some() || leaves(&item.block) || !are_free(signature, parameter, called) {
            return None;
        }
        let name = pattern.ident.to_string();
        let mut search = CallOf {
            name: &name,
            found: Vec::new(),
        };
        search.visit_block(&item.block);
        let [call] = search.found[..] else { return None };
        let mentions = text::tokens(&item.block.to_token_stream(), 0)
            .iter()
            .filter(|token| token.text == name)
            .count();
        (mentions == 1).then_some(Self {
            function,
            parameter,
            call,
            called,
        })
    }

    pub fn has_receiver(&self) -> bool {
        self.function.has_receiver()
    }

    /// Other names for the variables that are called like something in these words: names that nothing has.
    pub fn renamed(&self, words: &HashSet<String>) -> HashMap<String, String> {
        let of = &self.function.name;
        let own = text::words(&self.function.written.to_token_stream());
        let locals = locals(&self.function.written);
        let other = |name: &String| {
            let first = format!("{name}_of_{of}");
            let numbered = (2..).map(|number| format!("{first}_{number}"));
            let mut names = std::iter::once(first.clone()).chain(numbered);
            let is_free = |name: &String| !words.contains(name) && !own.contains(name);
            (name.clone(), names.find(is_free).unwrap_or(first))
        };
        locals
            .iter()
            .filter(|name| words.contains(*name))
            .map(other)
            .collect()
    }

    /// What its body calls by names that it does not declare: functions, constants, types.
    pub fn free_names(&self, library: &Library) -> HashSet<String> {
        let mut paths = Paths::in_library(library);
        paths.visit_block(&self.function.written.block);
        let locals = locals(&self.function.written);
        let single = paths.found.into_iter().filter(|path| path.len() == 1).flatten();
        single.filter(|name| !locals.contains(name)).collect()
    }

    /// The types that are written at a call.
    fn types(&self) -> impl Iterator<Item = &Type> {
        let signature = &self.function.written.sig;
        let closure = self.parameter;
        let given = signature
            .inputs
            .iter()
            .enumerate()
            .filter_map(move |(index, input)| match input {
                FnArg::Typed(typed) if index != closure => Some(&*typed.ty),
                _ => None,
            });
        let made = output(&signature.output)
            .into_iter()
            .chain(output(&self.called.output));
        given.chain(&self.called.inputs).chain(made)
    }

    /// `: T`, or nothing where the call decides.
    fn typed(&self, ty: Option<&Type>, changes: &Changes, base: usize) -> String {
        let ty = ty.and_then(|ty| at_call(ty, &self.function.written.sig.generics));
        let text = |ty: Type| text::written(&text::tokens(&ty.to_token_stream(), base), changes);
        ty.map_or_else(String::new, |ty| format!(": {}", text(ty)))
    }

    /// By which paths the first names of its paths are known to the caller, where they are others; nothing if one cannot
    /// be told.
    pub fn paths_in(&self, analysis: &Analysis, caller: &Function) -> Option<BTreeMap<String, String>> {
        let items = &analysis.items;
        let (home, there) = (
            items.module_of(self.function.body_scope),
            items.module_of(caller.body_scope),
        );
        let generics = &self.function.written.sig.generics;
        let of_impl = self.function.of_impl.map(|of| &items.impls[of].generics);
        let of_trait = self
            .function
            .of_trait
            .map(|of| &items.traits[of.0].declaration.generics);
        let all = [Some(generics), of_impl, of_trait].into_iter().flatten();
        let names: HashSet<String> = all
            .flat_map(|all| &all.params)
            .filter_map(name_of_generic)
            .collect();
        let mut paths = Paths::in_library(&analysis.library);
        paths.visit_block(&self.function.written.block);
        let types = self.types().filter_map(|ty| at_call(ty, generics));
        types
            .collect::<Vec<_>>()
            .iter()
            .for_each(|ty| paths.visit_type(ty));
        let locals = locals(&self.function.written);
        let mut known = BTreeMap::new();
        for path in &paths.found {
            let first = &path[0];
            if first == "Self" || names.contains(first) {
                return None;
            }
            let is_variable = path.len() == 1 && (locals.contains(first) || first == "self");
            let is_everywhere = is_primitive_type(first)
                || is_prelude_variant(first)
                || analysis.library.says(first, Prelude::Names);
            if is_variable || is_everywhere || home == there {
                continue;
            }
            if first == "crate" && items.scope(home).krate == items.scope(there).krate {
                continue;
            }
            known.insert(first.clone(), path_of(analysis, home, there, first)?);
        }
        (home == there || !paths.unknown_macro).then_some(known)
    }

    /// What stands before the closure's body and behind it when the call is written out.
    pub fn around(&self, program: &Program, call: &Call<'_>, changes: &Changes) -> Option<[String; 2]> {
        let file = self.function.place.file;
        let base = program.file(file).base;
        let mut changes = Changes {
            renamed: changes.renamed.clone(),
            paths: changes.paths.clone(),
        };
        let mut before = String::from("{ ");
        for (index, input) in self.function.written.sig.inputs.iter().enumerate() {
            let argument = call.arguments.get(index)?;
            match input {
                FnArg::Receiver(_) => {
                    changes.renamed.insert("self".to_owned(), place_text(argument)?);
                }
                FnArg::Typed(_) if index == self.parameter => {}
                FnArg::Typed(typed) => {
                    let pattern = text::written(&text::tokens(&typed.pat.to_token_stream(), base), &changes);
                    let value =
                        text::written(&text::tokens(&argument.to_token_stream(), 0), &Changes::default());
                    let ty = self.typed(Some(&typed.ty), &changes, base);
                    before += &format!("let {pattern}{ty} = {value}; ");
                }
            }
        }
        let mut body = Vec::new();
        for statement in &self.function.written.block.stmts {
            body.extend(text::tokens(&statement.to_token_stream(), base));
        }
        if self.has_receiver() && !only_fields_of_self(&body) {
            return None;
        }
        let place = bytes(program, file, self.call.span());
        let (first, last): (Vec<Token>, Vec<Token>) = {
            let outside = body
                .into_iter()
                .filter(|token| !place.contains(&token.bytes.start));
            outside.partition(|token| token.bytes.start < place.start)
        };
        before += &text::written(&first, &changes);
        let [open, close] = self.braces(call, &changes, base)?;
        let after = text::written(&last, &changes);
        let mut around = [
            format!("{} {open}", before.trim_end()),
            format!("{close}{}{after} }}", space_before(&after)),
        ];
        let ty = self.typed(output(&self.function.written.sig.output), &changes, base);
        if !ty.is_empty() {
            let name = format!("value_of_{}", self.function.name);
            around[0].insert_str(0, &format!("{{ let {name}{ty} = "));
            around[1] += &format!("; {name} }}");
        }
        let is_one_line = around.iter().all(|text| !text.contains('\n'));
        is_one_line.then_some(around)
    }

    /// The braces around the closure's body, with what it is given; none where it needs none.
    fn braces(&self, call: &Call<'_>, changes: &Changes, base: usize) -> Option<[String; 2]> {
        let closure = call.closure;
        if closure.inputs.len() != self.call.args.len() {
            return None;
        }
        let ty = match &closure.output {
            ReturnType::Type(_, ty) => {
                let tokens = text::tokens(&ty.to_token_stream(), 0);
                format!(": {}", text::written(&tokens, &Changes::default()))
            }
            ReturnType::Default => self.typed(output(&self.called.output), changes, base),
        };
        let stands_alone = matches!(
            *closure.body,
            Expr::Block(_) | Expr::Call(_) | Expr::MethodCall(_)
        );
        if stands_alone && closure.inputs.is_empty() && ty.is_empty() {
            return Some([String::new(), String::new()]);
        }
        let mut open = String::from("{ ");
        let types = self.called.inputs.iter().map(Some).chain(std::iter::repeat(None));
        for ((pattern, argument), ty) in closure.inputs.iter().zip(&self.call.args).zip(types) {
            let ty = match pattern {
                Pat::Type(_) => String::new(),
                _ => self.typed(ty, changes, base),
            };
            let pattern = text::written(&text::tokens(&pattern.to_token_stream(), 0), &Changes::default());
            let value = text::written(&text::tokens(&argument.to_token_stream(), base), changes);
            open += &format!("let {pattern}{ty} = {value}; ");
        }
        if ty.is_empty() {
            return Some([open, String::from(" }")]);
        }
        let name = format!("result_of_{}", self.function.name);
        Some([format!("{open}let {name}{ty} = "), format!("; {name} }}")])
    }
}

/// The path by which module `there` knows what module `home` calls by this name.
fn path_of(analysis: &Analysis, home: ScopeId, there: ScopeId, name: &str) -> Option<String> {
    let items = &analysis.items;
    let scope = items.scope(home);
    let is_one_crate = scope.krate == items.scope(there).krate;
    if let Some(declared) = scope.names.get(name) {
        let is_visible = |def: &Def| match def {
            Def::Function(id) => !matches!(items.function(*id).item.vis, syn::Visibility::Inherited),
            _ => true,
        };
        let path = ["crate"]
            .into_iter()
            .chain(scope.path.iter().map(String::as_str))
            .chain([name]);
        let is_known = is_one_crate && declared.iter().all(is_visible);
        return is_known.then(|| path.collect::<Vec<_>>().join("::"));
    }
    let [import] = &scope.uses.get(name)?[..] else {
        return None;
    };
    let is_known = match import.first().map(String::as_str) {
        Some("crate") => is_one_crate,
        first => first.is_some_and(|first| analysis.library.says(first, Prelude::Crates)),
    };
    is_known.then(|| import.join("::"))
}

fn space_before(text: &str) -> &'static str {
    match text.starts_with([';', '.', ',', '?', ')']) {
        true => "",
        false => " ",
    }
}

/// The closure that an argument is: `|| ..`, `&mut || ..`. One that owns what it captures changes copies of it, one that
/// returns early or passes on errors leaves only itself.
pub fn closure_of(argument: &Expr) -> Option<&ExprClosure> {
    match argument {
        Expr::Reference(one) => closure_of(&one.expr),
        Expr::Paren(one) => closure_of(&one.expr),
        Expr::Closure(closure) => {
            let is_plain = closure.capture.is_none()
                && closure.asyncness.is_none()
                && closure.constness.is_none()
                && closure.lifetimes.is_none()
                && closure.attrs.is_empty();
            let mut ways = Ways(false);
            ways.visit_expr(&closure.body);
            (is_plain && !ways.0).then_some(closure)
        }
        _ => None,
    }
}

/// Whether a function may be left before its end, or has items of its own.
fn leaves(block: &syn::Block) -> bool {
    let mut ways = Ways(false);
    ways.visit_block(block);
    let has_items = block.stmts.iter().any(|one| matches!(one, syn::Stmt::Item(_)));
    ways.0 || has_items
}

/// `return`, `?` and `.await`, also where a macro is given them.
struct Ways(bool);

impl<'ast> Visit<'ast> for Ways {
    fn visit_expr(&mut self, expr: &'ast Expr) {
        match expr {
            Expr::Return(_) | Expr::Try(_) | Expr::Await(_) | Expr::Yield(_) => self.0 = true,
            Expr::Closure(_) => {}
            _ => visit::visit_expr(self, expr),
        }
    }

    fn visit_macro(&mut self, one: &'ast syn::Macro) {
        let has = |word: &str| names_in(&one.tokens).contains(word);
        let asks = text::tokens(&one.tokens, 0).iter().any(|token| token.text == "?");
        self.0 |= asks || has("return") || has("await") || one.path.is_ident("try");
    }

    fn visit_item(&mut self, _: &'ast syn::Item) {}
}

/// The calls of a variable, outside of closures.
struct CallOf<'n, 'a> {
    name: &'n str,
    found: Vec<&'a ExprCall>,
}

impl<'ast> Visit<'ast> for CallOf<'_, 'ast> {
    fn visit_expr_call(&mut self, call: &'ast ExprCall) {
        let mut function = &*call.func;
        while let Expr::Paren(inner) = function {
            function = &inner.expr;
        }
        if matches!(function, Expr::Path(path) if path.path.is_ident(self.name)) {
            self.found.push(call);
        }
        visit::visit_expr_call(self, call);
    }

    fn visit_expr_closure(&mut self, _: &'ast ExprClosure) {}

    fn visit_item(&mut self, _: &'ast syn::Item) {}
}

/// The paths of a body, and whether it has macros whose arguments mean who knows what.
struct Paths<'l> {
    library: &'l Library,
    found: Vec<Vec<String>>,
    unknown_macro: bool,
}

impl<'l> Paths<'l> {
    fn in_library(library: &'l Library) -> Self {
        Self {
            library,
            found: Vec::new(),
            unknown_macro: false,
        }
    }
}

impl<'ast> Visit<'ast> for Paths<'_> {
    fn visit_path(&mut self, path: &'ast syn::Path) {
        let names = path.segments.iter().map(|one| one.ident.to_string()).collect();
        self.found.push(names);
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, one: &'ast syn::Macro) {
        let is_known = one
            .path
            .get_ident()
            .is_some_and(|name| self.library.says(&name.to_string(), Prelude::Macros));
        let arguments =
            one.parse_body_with(syn::punctuated::Punctuated::<Expr, syn::Token![,]>::parse_terminated);
        match arguments {
            Ok(arguments) if is_known => arguments.iter().for_each(|one| self.visit_expr(one)),
            _ => self.unknown_macro = true,
        }
    }
}

/// What a function declares: its parameters, and all that patterns in it bind.
pub fn locals(function: &ItemFn) -> HashSet<String> {
    struct Bound(HashSet<String>);
    impl<'ast> Visit<'ast> for Bound {
        fn visit_pat(&mut self, pattern: &'ast Pat) {
            let names = likely_bindings(pattern)
                .into_iter()
                .map(|one| one.ident.to_string());
            self.0.extend(names);
            visit::visit_pat(self, pattern);
        }
        fn visit_item(&mut self, _: &'ast syn::Item) {}
    }
    let mut bound = Bound(HashSet::new());
    function
        .sig
        .inputs
        .iter()
        .for_each(|input| bound.visit_fn_arg(input));
    bound.visit_block(&function.block);
    bound.0
}

pub fn name_of_generic(generic: &GenericParam) -> Option<String> {
    match generic {
        GenericParam::Type(one) => Some(one.ident.to_string()),
        GenericParam::Const(one) => Some(one.ident.to_string()),
        GenericParam::Lifetime(_) => None,
    }
}

/// A receiver that can be named again and again: `timers`, `self.timers`.
fn place_text(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Path(path) => path.path.get_ident().map(ToString::to_string),
        Expr::Field(field) => {
            let member = field.member.to_token_stream().to_string();
            Some(format!("{}.{member}", place_text(&field.base)?))
        }
        _ => None,
    }
}

/// Whether `self` is only there for what is in it: `self.total`, `self.add(..)`.
fn only_fields_of_self(body: &[Token]) -> bool {
    body.iter().enumerate().all(|(index, token)| {
        let next = body.get(index + 1).map(|next| next.text.as_str());
        token.text != "self" || next == Some(".")
    })
}
