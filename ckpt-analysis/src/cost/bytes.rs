//! How many bytes variables take, as far as their types or initialisers tell: `vec![0.0; n]` where `n` is known.

use crate::facts::Facts;
use crate::items::amount::Amount;
use crate::items::fold::{constant, operation};
use crate::items::resolve::Resolver;
use crate::items::{FnId, Function, ScopeId, TypeKind};
use ckpt_compiler::library::{Functions, Methods, Types, segments};
use ckpt_compiler::syntax::language::bytes_of_number;
use ckpt_compiler::syntax::macros::makes_a_list;
use ckpt_compiler::visit::{self, Visit};
use std::collections::HashMap;
use syn::punctuated::Punctuated;
use syn::{Expr, ExprRepeat, Lit, Pat, Token, Type};

/// Initialisers and types that refer to others deeper than this are given up.
const DEEPEST: usize = 16;

/// The sizes of variables and types of a program.
pub struct Bytes<'a> {
    facts: &'a Facts,
    resolver: Resolver<'a>,
}

/// What the variables of a function are made from, with the lines of their names.
type Lets<'f> = HashMap<String, (usize, &'f syn::Local)>;

impl<'a> Bytes<'a> {
    /// Of a program.
    pub(crate) fn of(facts: &'a Facts) -> Self {
        Self {
            facts,
            resolver: Resolver::new(&facts.items, &facts.library),
        }
    }

    /// Of what the `let`s of a function make, by name and line; only those that can be told. Where an initialiser is a
    /// list, its elements count, as in a checkpoint.
    pub fn of_variables(&self, function: FnId) -> HashMap<(String, usize), u64> {
        let function = self.facts.items.function(function);
        let mut lets = Gatherer(HashMap::new());
        lets.visit_block(&function.item.block);
        let one = OneFunction {
            all: self,
            function,
            lets: &lets.0,
        };
        let of_variable = |(name, (line, local)): (&String, &(usize, &syn::Local))| {
            let key = (function.name_in_source(name), *line);
            Some((key, one.of_local(local, 0)?))
        };
        lets.0.iter().filter_map(of_variable).collect()
    }

    /// Of a value of a type that its text tells: numbers, structs, and arrays and tuples of them.
    pub fn of_type_text(&self, text: &str) -> Option<u64> {
        self.of_type(
            self.facts.items.roots.first().copied(),
            &syn::parse_str(text).ok()?,
            0,
        )
    }

    fn of_type(&self, scope: Option<ScopeId>, ty: &Type, depth: usize) -> Option<u64> {
        if depth > DEEPEST {
            return None;
        }
        match ty {
            Type::Path(path) => {
                let last = path.path.segments.last()?;
                let name = last.ident.to_string();
                if !last.arguments.is_none() {
                    return None;
                }
                bytes_of_number(&name).or_else(|| self.of_struct(&name, depth + 1))
            }
            Type::Array(array) => {
                let length = whole(&constant(&self.resolver, scope?, None, &array.len))?;
                self.of_type(scope, &array.elem, depth + 1)?.checked_mul(length)
            }
            Type::Tuple(tuple) => tuple
                .elems
                .iter()
                .map(|one| self.of_type(scope, one, depth + 1))
                .sum(),
            Type::Paren(one) => self.of_type(scope, &one.elem, depth + 1),
            _ => None,
        }
    }

    /// Of a struct without parameters whose name is no one else's.
    fn of_struct(&self, name: &str, depth: usize) -> Option<u64> {
        let mut all = self.facts.items.types.iter().filter(|one| one.name == name);
        let (one, None) = (all.next()?, all.next()) else {
            return None;
        };
        if one.kind != TypeKind::Struct || !one.generics.params.is_empty() {
            return None;
        }
        one.fields
            .iter()
            .map(|field| self.of_type(Some(one.scope), &field.ty, depth))
            .sum()
    }
}

fn whole(amount: &Amount) -> Option<u64> {
    match amount {
        Amount::Known(number) if *number >= 0.0 && *number < 1e15 => Some(*number as u64),
        _ => None,
    }
}

/// The `let`s with one name.
struct Gatherer<'f>(Lets<'f>);

impl<'f> Visit<'f> for Gatherer<'f> {
    fn visit_local(&mut self, local: &'f syn::Local) {
        let pattern = match &local.pat {
            Pat::Type(typed) => &*typed.pat,
            other => other,
        };
        if let Pat::Ident(one) = pattern {
            let line = one.ident.span().start().line;
            self.0.insert(one.ident.to_string(), (line, local));
        }
        visit::visit_local(self, local);
    }
    fn visit_item(&mut self, _: &'f syn::Item) {}
}

struct OneFunction<'a, 'f> {
    all: &'a Bytes<'a>,
    function: &'f Function,
    lets: &'f Lets<'f>,
}

impl OneFunction<'_, '_> {
    fn scope(&self) -> Option<ScopeId> {
        Some(self.function.body_scope)
    }

    fn of_local(&self, local: &syn::Local, depth: usize) -> Option<u64> {
        let ty = match &local.pat {
            Pat::Type(typed) => Some(&*typed.ty),
            _ => None,
        };
        if let Some(bytes) = ty.and_then(|ty| self.all.of_type(self.scope(), ty, 0)) {
            return Some(bytes);
        }
        self.of(&local.init.as_ref()?.expr, ty, depth + 1)
    }

    fn copies(&self, method: &syn::Ident) -> bool {
        let library = &self.all.facts.library;
        library.says(&method.to_string(), Methods::Copies)
    }

    /// Of an expression, where `hint` is the type that its place has.
    fn of(&self, expr: &Expr, hint: Option<&Type>, depth: usize) -> Option<u64> {
        if depth > DEEPEST {
            return None;
        }
        let hinted = || self.all.of_type(self.scope(), hint?, 0);
        match expr {
            Expr::Paren(inner) => self.of(&inner.expr, hint, depth + 1),
            Expr::Group(inner) => self.of(&inner.expr, hint, depth + 1),
            Expr::Unary(unary) => self.of(&unary.expr, hint, depth + 1),
            Expr::Cast(cast) => self.all.of_type(self.scope(), &cast.ty, 0),
            Expr::Lit(lit) => of_literal(&lit.lit, hinted()),
            Expr::Tuple(tuple) => tuple.elems.iter().map(|one| self.of(one, None, depth + 1)).sum(),
            Expr::Array(array) => self.of_list(array.elems.iter(), element(hint), depth),
            Expr::Repeat(repeat) => self.repeated(&repeat.expr, &repeat.len, hint, depth),
            Expr::Struct(one) => self
                .all
                .of_struct(&one.path.segments.last()?.ident.to_string(), 0),
            Expr::Macro(one) if makes_a_list(&self.all.facts.library, &one.mac) => {
                self.of_vec(&one.mac, hint, depth)
            }
            Expr::Path(path) => match path.path.get_ident() {
                Some(name) => self.of_local(self.declaration(&name.to_string())?, depth + 1),
                None => bytes_of_number(&path.path.segments.first()?.ident.to_string()),
            },
            Expr::Call(call) => self.of_call(call, depth),
            Expr::MethodCall(call) if self.copies(&call.method) => self.of(&call.receiver, hint, depth + 1),
            _ => hinted(),
        }
    }

    /// `f64::from(..)`, `Cell::new(..)`, `Box::new(..)`.
    fn of_call(&self, call: &syn::ExprCall, depth: usize) -> Option<u64> {
        let Expr::Path(path) = &*call.func else {
            return None;
        };
        let library = &self.all.facts.library;
        let names = segments(&path.path);
        let [.., owner, method] = names.as_slice() else {
            return None;
        };
        if let (true, Some(inner)) = (
            library.says(owner, Types::Boxes) && library.says_of_path(&path.path, Functions::Boxes),
            call.args.first(),
        ) {
            return self.of(inner, None, depth + 1);
        }
        let makes_one = library.says(method, Functions::MakesFlat);
        let bytes = bytes_of_number(owner).or_else(|| self.all.of_struct(owner, 0));
        bytes.filter(|_| makes_one)
    }

    fn of_vec(&self, mac: &syn::Macro, hint: Option<&Type>, depth: usize) -> Option<u64> {
        let repeat = format!("[{}]", mac.tokens);
        if let Ok(repeat) = syn::parse_str::<ExprRepeat>(&repeat) {
            return self.repeated(&repeat.expr, &repeat.len, hint, depth);
        }
        let list = mac.parse_body_with(Punctuated::<Expr, Token![,]>::parse_terminated);
        self.of_list(list.ok()?.iter(), element(hint), depth)
    }

    fn of_list<'e>(
        &self,
        list: impl Iterator<Item = &'e Expr>,
        hint: Option<&Type>,
        depth: usize,
    ) -> Option<u64> {
        list.map(|one| self.of(one, hint, depth + 1)).sum()
    }

    fn repeated(&self, one: &Expr, length: &Expr, hint: Option<&Type>, depth: usize) -> Option<u64> {
        let length = whole(&self.number(length, depth + 1))?;
        self.of(one, element(hint), depth + 1)?.checked_mul(length)
    }

    /// A number that literals, constants and variables that never change tell.
    fn number(&self, expr: &Expr, depth: usize) -> Amount {
        let known = constant(
            &self.all.resolver,
            self.function.body_scope,
            self.function.self_type.as_deref(),
            expr,
        );
        if depth > DEEPEST || matches!(known, Amount::Known(_)) {
            return known;
        }
        match expr {
            Expr::Paren(inner) => self.number(&inner.expr, depth + 1),
            Expr::Group(inner) => self.number(&inner.expr, depth + 1),
            Expr::Cast(cast) => self.number(&cast.expr, depth + 1),
            Expr::Binary(both) => operation(&both.op).map_or(Amount::Unknown, |operation| {
                let left = self.number(&both.left, depth + 1);
                Amount::two(operation, left, self.number(&both.right, depth + 1))
            }),
            Expr::Path(path) => {
                let local = path
                    .path
                    .get_ident()
                    .and_then(|name| self.declaration(&name.to_string()));
                let init = local
                    .filter(|local| !is_mutable(local))
                    .and_then(|local| local.init.as_ref());
                init.map_or(Amount::Unknown, |init| self.number(&init.expr, depth + 1))
            }
            _ => Amount::Unknown,
        }
    }

    /// The `let` of a variable.
    fn declaration(&self, name: &str) -> Option<&syn::Local> {
        self.lets.get(name).map(|(_, local)| *local)
    }
}

fn is_mutable(local: &syn::Local) -> bool {
    let pattern = match &local.pat {
        Pat::Type(typed) => &*typed.pat,
        other => other,
    };
    matches!(pattern, Pat::Ident(one) if one.mutability.is_some())
}

/// The type of the elements of a list.
fn element(ty: Option<&Type>) -> Option<&Type> {
    match ty? {
        Type::Array(array) => Some(&array.elem),
        Type::Path(path) => match &path.path.segments.last()?.arguments {
            syn::PathArguments::AngleBracketed(list) => match list.args.first()? {
                syn::GenericArgument::Type(Type::Infer(_)) => None,
                syn::GenericArgument::Type(one) => Some(one),
                _ => None,
            },
            _ => None,
        },
        _ => None,
    }
}

/// Without a suffix or a type, a float is most likely the usual one; an integer may be any.
fn of_literal(lit: &Lit, hinted: Option<u64>) -> Option<u64> {
    match lit {
        Lit::Int(one) => bytes_of_number(one.suffix()).or(hinted),
        Lit::Float(one) => bytes_of_number(one.suffix()).or(hinted).or(Some(8)),
        Lit::Bool(_) | Lit::Byte(_) => Some(1),
        Lit::Char(_) => Some(4),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Program, analyse};

    #[test]
    fn what_literals_constants_and_variables_tell_is_known() {
        let text = "\
const N: usize = 10;
struct Cell { a: [f32; 3], b: (u8, u64) }
fn main() {
    let n = 2 * N + 1;
    let mut m = 7;
    let a = vec![0.0; n * n];
    let b = vec![vec![0u16; N]; 3];
    let c: Vec<Vec<f32>> = vec![vec![0.0; N]; n];
    let d = vec![Cell::new(); 4];
    let e = [[false; 5]; N];
    let f = a.clone();
    let g = vec![f64::NAN, 1.0, 2.5];
    let h: [[u8; N]; 2] = make();
    let i = Box::new([-1.0f32; 8]);
    let j: Vec<usize> = vec![0; 100];
    let no = vec![0.0; m];
    let none = vec![0; N];
    let nothing = vec![read(); N];
}
";
        let program = Program::of_main(text);
        let analysis = analyse(&program);
        let bytes = Bytes::of(&analysis);
        let main = analysis.items.main_of(0).expect("a main");
        let mut known: Vec<_> = bytes
            .of_variables(main)
            .into_iter()
            .map(|((name, _), bytes)| (name, bytes))
            .collect();
        known.sort();
        let expected = [
            ("a", 21 * 21 * 8),
            ("b", 60),
            ("c", 21 * 40),
            ("d", 4 * 21),
            ("e", 50),
            ("f", 21 * 21 * 8),
            ("g", 24),
            ("h", 20),
            ("i", 32),
            ("j", 800),
        ];
        assert_eq!(known, expected.map(|(name, bytes)| (name.to_owned(), bytes)));
        for (text, size) in [
            ("f64", Some(8)),
            ("[[f32; 10]; 3]", Some(120)),
            ("(u8, [i64; 2])", Some(17)),
            ("[Cell; N]", Some(210)),
            ("Vec<f64>", None),
        ] {
            assert_eq!(bytes.of_type_text(text), size, "{text}");
        }
    }
}
