//! Fields of a struct that change places: each gets the array on a device, the list of them or the handle that the other had,
//! `std::mem::swap(&mut self.now, &mut self.next)`.
//!
//! A restart makes the struct again, with each array in the field that it was made for, and with it whatever was made from them
//! (kernels, groups). So the struct gets a field that says which field has which, and a restart lets them change places once all
//! is filled.

use crate::decisions::changed_places::{Holds, join, swapped};
use crate::source::edits::Edit;
use crate::source::locate::bytes;
use crate::source::{FileId, Program};
use ckpt_compiler::library::{Functions, Library, last_name};
use ckpt_compiler::names::made;
use ckpt_compiler::syntax::mentions::names_in;
use ckpt_compiler::syntax::places::is_place;
use ckpt_compiler::visit::{self, Visit};
use proc_macro2::{Delimiter, TokenStream, TokenTree};
use quote::ToTokens;
use std::collections::{BTreeMap, BTreeSet};
use syn::spanned::Spanned;
use syn::{Expr, Ident, Member};

/// Fields of one struct that change places among each other, by their names.
pub(crate) type Group = BTreeSet<String>;

/// Two fields of one value that change places: what they are fields of, and their names.
#[derive(Debug)]
pub(crate) struct Exchange<'p> {
    pub(crate) of: &'p Expr,
    pub(crate) fields: [&'p Ident; 2],
}

impl Exchange<'_> {
    fn is_in(&self, group: &Group) -> bool {
        self.fields.iter().all(|field| group.contains(&field.to_string()))
    }

    /// Whether they are those of the value that a method is called on: its type is known.
    fn is_of_self(&self) -> bool {
        matches!(self.of, Expr::Path(path) if path.path.is_ident("self"))
    }
}

/// `mem::swap(&mut of.a, &mut of.b)`.
pub(crate) fn exchange<'p>(library: &Library, call: &'p syn::ExprCall) -> Option<Exchange<'p>> {
    let (one, other) = swapped(library, call)?;
    let (one, other) = (field_of(one)?, field_of(other)?);
    let is_same = one.0.to_token_stream().to_string() == other.0.to_token_stream().to_string();
    (is_same && is_place(one.0) && one.1 != other.1).then_some(Exchange {
        of: one.0,
        fields: [one.1, other.1],
    })
}

/// A field with a name, and what it is one of.
fn field_of(expr: &Expr) -> Option<(&Expr, &Ident)> {
    match expr {
        Expr::Field(field) => match &field.member {
            Member::Named(name) => Some((&field.base, name)),
            Member::Unnamed(_) => None,
        },
        _ => None,
    }
}

/// Whether a call does nothing but have fields of these groups change places.
pub(crate) fn changes_places(library: &Library, call: &syn::ExprCall, groups: &[Group]) -> bool {
    !groups.is_empty()
        && exchange(library, call).is_some_and(|one| groups.iter().any(|group| one.is_in(group)))
}

/// The groups of a struct, of the fields that `counts` picks. None where the source does not say whose fields change places, or a
/// value of the struct is put together or taken apart in a way that leaves no room for a field of ckpt's.
pub(crate) fn groups_of(
    library: &Library,
    program: &Program,
    item: &syn::ItemStruct,
    counts: &dyn Fn(&syn::Field) -> bool,
) -> Vec<Group> {
    let fields = item.fields.iter().filter(|field| counts(field));
    let types: BTreeMap<String, String> = fields
        .filter_map(|field| {
            Some((
                field.ident.as_ref()?.to_string(),
                field.ty.to_token_stream().to_string(),
            ))
        })
        .collect();
    if types.len() < 2 {
        return Vec::new();
    }
    let mut found = Found {
        library,
        types: &types,
        groups: Vec::new(),
    };
    program.files.iter().for_each(|file| found.visit_file(&file.ast));
    let groups = found.groups;
    if groups.is_empty() {
        return groups;
    }
    let mut made = Made {
        library,
        item,
        groups: &groups,
        is_inside: false,
        is_hidden: may_derive_more(item),
        are_elsewhere: false,
        is_of_unknown: false,
    };
    program.files.iter().for_each(|file| made.visit_file(&file.ast));
    match made.is_hidden || made.are_elsewhere && made.is_of_unknown {
        true => Vec::new(),
        false => groups,
    }
}

/// Finds the exchanges among the fields of these types.
struct Found<'n> {
    library: &'n Library,
    types: &'n BTreeMap<String, String>,
    groups: Vec<Group>,
}

impl<'ast> Visit<'ast> for Found<'_> {
    fn visit_expr_call(&mut self, call: &'ast syn::ExprCall) {
        if let Some(one) = exchange(self.library, call) {
            let names: Group = one.fields.iter().map(ToString::to_string).collect();
            let types: BTreeSet<_> = names.iter().map(|name| self.types.get(name)).collect();
            if types.len() == 1 && !types.contains(&None) {
                join(&mut self.groups, names);
            }
        }
        visit::visit_expr_call(self, call);
    }
}

/// Looks for what cannot be followed: another struct with such fields, a value of this one that is put together or taken apart in
/// another way, and a function of the program that has the name of what exchanges.
struct Made<'n> {
    library: &'n Library,
    item: &'n syn::ItemStruct,
    groups: &'n [Group],
    /// In an `impl` of the struct.
    is_inside: bool,
    is_hidden: bool,
    /// Whether another struct has two fields of the same names.
    are_elsewhere: bool,
    /// Whether some change places of which the source does not say whose they are.
    is_of_unknown: bool,
}

impl Made<'_> {
    fn is_own(&self, path: &syn::Path) -> bool {
        is_of(self.item, self.is_inside, path)
    }
}

fn is_of(item: &syn::ItemStruct, is_inside: bool, path: &syn::Path) -> bool {
    let last = path.segments.last().map(|last| &last.ident);
    last.is_some_and(|last| *last == item.ident || is_inside && last == "Self")
}

fn is_impl_of(item: &syn::ItemStruct, one: &syn::ItemImpl) -> bool {
    matches!(&*one.self_ty, syn::Type::Path(path) if item.ident == last_name(&path.path))
}

impl<'ast> Visit<'ast> for Made<'_> {
    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        let before = std::mem::replace(&mut self.is_inside, is_impl_of(self.item, item));
        visit::visit_item_impl(self, item);
        self.is_inside = before;
    }

    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        let names = item.fields.iter().filter_map(|field| field.ident.as_ref());
        let names: Group = names.map(ToString::to_string).collect();
        let has = |group: &Group| group.intersection(&names).count() > 1;
        if !std::ptr::eq(item, self.item) {
            self.is_hidden |= item.ident == self.item.ident;
            self.are_elsewhere |= self.groups.iter().any(has);
        }
    }

    fn visit_expr_call(&mut self, call: &'ast syn::ExprCall) {
        self.is_of_unknown |= exchange(self.library, call)
            .is_some_and(|one| !one.is_of_self() && self.groups.iter().any(|group| one.is_in(group)));
        visit::visit_expr_call(self, call);
    }

    fn visit_item_type(&mut self, item: &'ast syn::ItemType) {
        let names = names_in(&item.ty.to_token_stream());
        self.is_hidden |= names.contains(&self.item.ident.to_string());
    }

    fn visit_use_rename(&mut self, one: &'ast syn::UseRename) {
        self.is_hidden |= one.ident == self.item.ident;
    }

    // A method has another name where it is called: `self.swap()`.
    fn visit_item_fn(&mut self, function: &'ast syn::ItemFn) {
        self.is_hidden |= self
            .library
            .says(&function.sig.ident.to_string(), Functions::Swaps);
        visit::visit_item_fn(self, function);
    }

    fn visit_expr_struct(&mut self, one: &'ast syn::ExprStruct) {
        self.is_hidden |= self.is_own(&one.path) && one.rest.is_some();
        visit::visit_expr_struct(self, one);
    }

    fn visit_pat_struct(&mut self, pattern: &'ast syn::PatStruct) {
        self.is_hidden |= self.is_own(&pattern.path) && pattern.rest.is_none();
        visit::visit_pat_struct(self, pattern);
    }

    fn visit_macro(&mut self, mac: &'ast syn::Macro) {
        self.is_hidden |= has_literal(self.item, self.is_inside, mac.tokens.clone());
    }
}

/// Whether tokens have the struct's name with braces behind it.
fn has_literal(item: &syn::ItemStruct, is_inside: bool, tokens: TokenStream) -> bool {
    let mut is_name = false;
    tokens.into_iter().any(|token| match token {
        TokenTree::Group(group) => {
            let is_literal = is_name && group.delimiter() == Delimiter::Brace;
            is_name = false;
            is_literal || has_literal(item, is_inside, group.stream())
        }
        TokenTree::Ident(name) => {
            is_name = name == item.ident || is_inside && name == "Self";
            false
        }
        _ => {
            is_name = false;
            false
        }
    })
}

/// Whether the struct has a derive for which its new field has nothing.
fn may_derive_more(item: &syn::ItemStruct) -> bool {
    let has = |one: &syn::Attribute| {
        let names = names_in(&one.meta.to_token_stream());
        let known = ["derive", "Debug", "Clone", "PartialEq", "Eq"];
        names.iter().any(|name| !known.contains(&name.as_str()))
    };
    let derives = item.attrs.iter().filter(|one| one.path().is_ident("derive"));
    let is_laid_out = item.attrs.iter().any(|one| one.path().is_ident("repr"));
    is_laid_out || derives.into_iter().any(has)
}

/// The program's own text with what says which field of a struct has which array, or handle.
pub(crate) fn edits(
    library: &Library,
    program: &Program,
    (file, item): (FileId, &syn::ItemStruct),
    groups: &[(Group, Holds)],
) -> Vec<Edit> {
    let syn::Fields::Named(fields) = &item.fields else {
        return Vec::new();
    };
    let declared = groups.iter().enumerate().map(|(number, (group, holds))| {
        let names: Vec<&str> = group.iter().map(String::as_str).collect();
        let word = match holds {
            Holds::Arrays => "places",
            Holds::Handles => "handle_places",
        };
        let places = name_of(number);
        format!(
            "#[ckpt({word}({}))] #[doc(hidden)] pub {places}: ckpt::device::Places, ",
            names.join(", ")
        )
    });
    let initial = groups.iter().enumerate().map(|(number, (group, _))| {
        format!(
            "{}: ckpt::device::Places::new({}), ",
            name_of(number),
            group.len()
        )
    });
    let at = bytes(program, file, fields.brace_token.span.open()).end;
    let mut edits = vec![Edit::insert(file, at, declared.collect::<String>())];
    let initial: String = initial.collect();
    for (index, source) in program.files.iter().enumerate() {
        let mut rewritten = Rewritten {
            library,
            program,
            item,
            groups,
            initial: &initial,
            file: FileId(index),
            is_inside: false,
            edits: Vec::new(),
        };
        rewritten.visit_file(&source.ast);
        edits.extend(rewritten.edits);
    }
    edits
}

fn name_of(number: usize) -> Ident {
    made(format_args!("field_places{number}"))
}

struct Rewritten<'n> {
    library: &'n Library,
    program: &'n Program,
    item: &'n syn::ItemStruct,
    groups: &'n [(Group, Holds)],
    /// What literals get.
    initial: &'n str,
    file: FileId,
    is_inside: bool,
    edits: Vec<Edit>,
}

impl<'ast> Visit<'ast> for Rewritten<'_> {
    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        let before = std::mem::replace(&mut self.is_inside, is_impl_of(self.item, item));
        visit::visit_item_impl(self, item);
        self.is_inside = before;
    }

    fn visit_expr_struct(&mut self, one: &'ast syn::ExprStruct) {
        if is_of(self.item, self.is_inside, &one.path) {
            let at = bytes(self.program, self.file, one.brace_token.span.open()).end;
            self.edits.push(Edit::insert(self.file, at, self.initial));
        }
        visit::visit_expr_struct(self, one);
    }

    fn visit_expr_call(&mut self, call: &'ast syn::ExprCall) {
        visit::visit_expr_call(self, call);
        let one = exchange(self.library, call).filter(|one| self.is_inside || !one.is_of_self());
        let Some(one) = one else {
            return;
        };
        let groups = self.groups.iter().enumerate();
        let Some((number, (group, holds))) = { groups }.find(|(_, (group, _))| one.is_in(group)) else {
            return;
        };
        let index = |field: &Ident| group.iter().position(|name| field == name.as_str()).unwrap_or(0);
        let of = &self.program.file(self.file).text[bytes(self.program, self.file, one.of.span())];
        let [a, b] = one.fields;
        let range = bytes(self.program, self.file, call.span());
        self.edits.push(Edit {
            end: range.end,
            ..Edit::insert(
                self.file,
                range.start,
                format!(
                    "{of}.{}.swap{}([{}, {}], &mut {of}.{a}, &mut {of}.{b})",
                    name_of(number),
                    holds.suffix(),
                    index(a),
                    index(b),
                ),
            )
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decisions::refill::field_edits;
    use crate::source::edits::Edited;

    /// What becomes of a struct with arrays, and of what `code` does with it.
    fn edited(attributes: &str, rest: &str, code: &str) -> Option<String> {
        let text = format!(
            "use ocl::{{Buffer, Queue}}; {attributes} struct S {{ now: Buffer<f32>, next: Buffer<f32>, one: Queue, \
             other: Queue, n: usize }} {rest} impl S {{ fn new() -> S {{ S {{ now: f(1), next: f(2), one: q(), other: q(), n: 3 }} }} \
             fn step(&mut self, one: &mut Whole) {{ {code} }} }}"
        );
        let program = Program::of_text(&text);
        let begins = if attributes.is_empty() {
            "struct S"
        } else {
            attributes
        };
        let place = (FileId(0), text.find(begins).unwrap());
        let edits = field_edits(Library::builtin(), &program, place);
        (!edits.is_empty()).then(|| Edited::new(&text, &edits).text)
    }

    #[test]
    fn the_struct_says_which_field_has_which() {
        let changed = edited("", "", "std::mem::swap(&mut self.now, &mut self.next);").expect("edits");
        for part in [
            "struct S {#[ckpt(places(next, now))] #[doc(hidden)] pub __ckpt_field_places0: ckpt::device::Places,  now:",
            "S {__ckpt_field_places0: ckpt::device::Places::new(2),  now: f(1)",
            "{ self.__ckpt_field_places0.swap([1, 0], &mut self.now, &mut self.next); }",
        ] {
            assert!(changed.contains(part), "{changed}");
        }
        let code = "swap(&mut one.s.one, &mut one.s.other); let S { now, .. } = &one.s;";
        let changed = edited("#[derive(Debug)]", "", code).expect("edits");
        for part in [
            "#[ckpt(handle_places(one, other))]",
            "one.s.__ckpt_field_places0.swap_handles([0, 1], &mut one.s.one, &mut one.s.other)",
        ] {
            assert!(changed.contains(part), "{changed}");
        }
    }

    #[test]
    fn what_nobody_follows_is_left_alone() {
        let swap = "std::mem::swap(&mut self.now, &mut self.next);";
        for code in [
            "std::mem::swap(&mut self.now, &mut one.now);",
            "std::mem::swap(&mut self.now, &mut self.n);",
            "std::mem::swap(&mut f().now, &mut f().next);",
        ] {
            assert_eq!(edited("", "", code), None, "{code}");
        }
        for (attributes, rest, more) in [
            (
                "",
                "struct T { now: u32, next: u32 }",
                "std::mem::swap(&mut one.now, &mut one.next);",
            ),
            ("", "type T = S;", ""),
            ("", "use S as T;", ""),
            ("", "fn swap(one: &mut A, other: &mut A) {}", ""),
            ("#[derive(Default)]", "", ""),
            ("#[repr(C)]", "", ""),
            ("", "", "let other = S { n: 4, ..made() };"),
            ("", "", "let S { now, next, one, other, n } = made();"),
            ("", "", "let all = vec![S { now, next, one, other, n }];"),
        ] {
            assert_eq!(
                edited(attributes, rest, &format!("{swap} {more}")),
                None,
                "{attributes} {rest} {more}"
            );
        }
        let other = "struct T { now: u32, next: u32 } impl T { fn f(&mut self) { std::mem::swap(&mut self.now, &mut self.next); } }";
        let changed = edited("", other, swap).expect("edits");
        assert_eq!(changed.matches(".swap([1, 0]").count(), 1, "{changed}");
        assert!(
            edited(
                "#[derive(Clone, Debug)]",
                "",
                &format!("{swap} let S {{ now, .. }} = made();")
            )
            .is_some()
        );
    }
}
