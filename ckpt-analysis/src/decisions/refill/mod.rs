//! Structs of which a checkpoint holds a part: a restart rebuilds the value, by the initialiser of its variable, and
//! fills that part in. What it keeps from the initialiser are functions and shared references.

mod callers;
mod copied;
mod kinds;
mod looked_at;
mod owners;
mod parts;
pub(crate) mod replaced;
pub(crate) mod replacing;
mod through;

pub(crate) use copied::copied_contents;
pub use parts::initialiser;
pub use through::through_fields;

use kinds::{Kind, Kinds, Named, has_shared_state, is_text_field};
use owners::Owners;
use parts::{let_at, moved_parts};
use replaced::{Watched, WatchedField, may_change_in, replaced, replaces};
use replacing::Replacing;
use through::lent_parts;

use crate::decisions::changed_fields::{self, Group, changes_places, groups_of};
use crate::decisions::changed_places::Holds;
use crate::decisions::devices::is_of_array;
use crate::diagnostics::OpaqueField;
use crate::items::{Function, Items};
use crate::source::edits::Edit;
use crate::source::locate::bytes;
use crate::source::{Extent, FileId, Position, Program};
use ckpt_compiler::library::{DeviceMethods, Functions, Library, Methods, PlaceOf, Types, last_name};
use ckpt_compiler::syntax::macros::arguments_of_macro;
use ckpt_compiler::syntax::mentions::names_in;
use ckpt_compiler::syntax::patterns::{assigned_places, irrefutable_bindings, lends_exclusively};
use ckpt_compiler::syntax::purity::is_assignment;
use ckpt_compiler::visit::{self, Visit};
use proc_macro2::Span;
use quote::ToTokens;
use std::collections::{BTreeMap, BTreeSet};
use syn::spanned::Spanned;
use syn::{Expr, Member};

/// The fields of the struct that begins there which a restart can keep as the initialiser has made them; nothing where
/// there is no such field, or one of them may change, or another stands in the way.
pub fn kept_fields(library: &Library, program: &Program, place: Position) -> Option<BTreeSet<Position>> {
    let item = struct_at(program, place)?;
    kept_of(&Named::of(library, program), (place.0, item), 0)
}

fn kept_of(
    names: &Named<'_>,
    (file, item): (FileId, &syn::ItemStruct),
    depth: usize,
) -> Option<BTreeSet<Position>> {
    let (library, program) = (names.library, names.program);
    let kinds = Kinds {
        generics: &item.generics,
        named: names,
        depth,
    };
    let place = (file, bytes(program, file, item.span()).start);
    let groups = groups_in(names, item);
    let change = |name, within| changes(names, (item, &groups), name, within).is_some();
    let mut kept = BTreeSet::new();
    let mut is_filled = false;
    for (name, field) in named_fields(item) {
        let kind = kinds.of(&field.ty);
        match kind {
            Kind::Saved => continue,
            Kind::Plain if names.moves_text && is_text_field(field) && change(name.clone(), false) => {
                continue;
            }
            Kind::Filled if field.attrs.iter().any(|one| one.path().is_ident("ckpt")) => return None,
            Kind::Filled => {
                if gets_others(names, (item, &groups), (field, name)).is_some() {
                    return None;
                }
                is_filled = true;
                continue;
            }
            Kind::Exclusive if through::is_exclusive_reference(field) => continue,
            Kind::Exclusive => return None,
            Kind::Object | Kind::Objects if has_shared_state(library, program) => return None,
            Kind::Plain | Kind::Object | Kind::Objects | Kind::Within => {}
        }
        if field.attrs.iter().any(|one| one.path().is_ident("ckpt")) {
            return None;
        }
        if change(name, matches!(kind, Kind::Within | Kind::Objects)) {
            return None;
        }
        kept.insert((place.0, bytes(program, place.0, field.span()).start));
    }
    let has_through = item.fields.iter().any(through::is_exclusive_reference);
    if has_through && through_fields(library, program, place).is_none() {
        return None;
    }
    (!kept.is_empty() || has_through || is_filled).then_some(kept)
}

/// Where the program gives a field with arrays on devices other ones.
fn gets_others(
    names: &Named<'_>,
    (item, groups): (&syn::ItemStruct, &[Group]),
    (field, name): (&syn::Field, String),
) -> Option<Extent> {
    match names.is_array(&field.ty) {
        true => changes(names, (item, groups), name, false),
        // Which arrays there are may change.
        false => replaced_at(names, item, &name, groups),
    }
}

/// The fields of a struct that change places among each other.
fn groups_in(names: &Named<'_>, item: &syn::ItemStruct) -> Vec<Group> {
    groups_of(names.library, names.program, item, &|field| {
        names.holds_on_device(&field.ty).is_some()
    })
}

/// The program's own text with what says which field has what, where fields of the struct that begins there change places.
pub(crate) fn field_edits(library: &Library, program: &Program, place: Position) -> Vec<Edit> {
    let Some(item) = struct_at(program, place) else {
        return Vec::new();
    };
    let names = Named::of(library, program);
    // All of a group are of one type.
    let with_holds = |group: Group| {
        let (_, field) = named_fields(item).find(|(name, _)| group.contains(name))?;
        Some((group, names.holds_on_device(&field.ty)?))
    };
    let groups = groups_in(&names, item).into_iter();
    let groups: Vec<(Group, Holds)> = groups.filter_map(with_holds).collect();
    match groups.is_empty() {
        true => Vec::new(),
        false => changed_fields::edits(library, program, (place.0, item), &groups),
    }
}

/// A field of a struct with arrays on devices because of which a restart cannot make the struct again.
#[derive(Debug)]
pub(crate) struct ChangedField {
    pub(crate) field: OpaqueField,
    /// Whether it has arrays there itself.
    pub(crate) has_arrays: bool,
    /// What may give it something else.
    pub(crate) at: Extent,
}

impl ChangedField {
    fn of(item: &syn::ItemStruct, (name, field): (&str, &syn::Field), has_arrays: bool, at: Extent) -> Self {
        Self {
            field: opaque(item, name, field),
            has_arrays,
            at,
        }
    }
}

fn opaque(item: &syn::ItemStruct, name: &str, field: &syn::Field) -> OpaqueField {
    OpaqueField {
        name: format!("{}.{name}", item.ident),
        type_name: Some(field.ty.to_token_stream().to_string().replace(' ', "")),
    }
}

/// The first field of the struct that begins there which gets other arrays later, or something else that a restart would have as it
/// was made; nothing where the struct has no arrays.
pub(crate) fn changed_field(library: &Library, program: &Program, place: Position) -> Option<ChangedField> {
    let item = struct_at(program, place)?;
    let names = Named::of(library, program);
    let kinds = Kinds {
        generics: &item.generics,
        named: &names,
        depth: 0,
    };
    let fields: Vec<(String, &syn::Field, Kind)> = named_fields(item)
        .map(|(name, field)| (name, field, kinds.of(&field.ty)))
        .collect();
    let groups = groups_in(&names, item);
    let has_arrays = fields.iter().any(|(_, _, kind)| *kind == Kind::Filled);
    let changed = |(name, field, kind): &(String, &syn::Field, Kind)| {
        let struct_and_groups = (item, groups.as_slice());
        let at = match kind {
            Kind::Filled => gets_others(&names, struct_and_groups, (field, name.clone())),
            Kind::Plain => changes(&names, struct_and_groups, name.clone(), false),
            Kind::Within => changes(&names, struct_and_groups, name.clone(), true),
            _ => None,
        };
        let has_arrays = *kind == Kind::Filled;
        Some(ChangedField::of(item, (name.as_str(), *field), has_arrays, at?))
    };
    fields.iter().filter(|_| has_arrays).find_map(changed)
}

/// The first field of the struct that begins there which changes behind shared references; nothing where the struct has nothing that
/// leads to a device.
pub(crate) fn shared_field(library: &Library, program: &Program, place: Position) -> Option<ChangedField> {
    let item = struct_at(program, place)?;
    let names = Named::of(library, program);
    let leads_there = |field: &syn::Field| names.holds_on_device(&field.ty) == Some(Holds::Handles);
    item.fields.iter().any(leads_there).then_some(())?;
    named_fields(item).find_map(|(name, field)| {
        let types = names_in(&field.ty.to_token_stream());
        let is_shared = { types.iter() }.any(|name| library.changes_behind_references(name, false));
        let at = is_shared.then(|| changes(&names, (item, &[]), name.clone(), true))?;
        Some(ChangedField::of(item, (&name, field), false, at?))
    })
}

/// The first field of the struct that begins there which is of the type of one of its parameters.
pub(crate) fn field_of_parameter(program: &Program, place: Position) -> Option<OpaqueField> {
    let item = struct_at(program, place)?;
    let is_parameter = |name: &String| item.generics.type_params().any(|one| one.ident == *name);
    let mut fields = named_fields(item);
    let (name, field) = fields.find(|(_, field)| {
        let names = names_in(&field.ty.to_token_stream());
        names.iter().any(is_parameter)
    })?;
    Some(opaque(item, &name, field))
}

/// Where a function of the program puts another value in the place of the field of this name, or exchanges what is in it.
fn replaced_at(names: &Named<'_>, item: &syn::ItemStruct, field: &str, groups: &[Group]) -> Option<Extent> {
    struct Functions<'a>(&'a Library, Watched<'a>, Option<Span>);
    impl Functions<'_> {
        fn look(&mut self, block: &syn::Block) {
            if self.2.is_none() {
                self.2 = replaced(self.0, block, self.1);
            }
        }
    }
    impl<'ast> Visit<'ast> for Functions<'_> {
        fn visit_item_fn(&mut self, function: &'ast syn::ItemFn) {
            self.look(&function.block);
        }
        fn visit_impl_item_fn(&mut self, function: &'ast syn::ImplItemFn) {
            self.look(&function.block);
        }
        fn visit_trait_item_fn(&mut self, function: &'ast syn::TraitItemFn) {
            function.default.iter().for_each(|block| self.look(block));
        }
        fn visit_macro(&mut self, mac: &'ast syn::Macro) {
            let names = names_in(&mac.tokens);
            let declares = names.contains("fn") && names.contains(self.1.name());
            if (declares || may_change_in(self.0, mac, self.1.name())) && self.2.is_none() {
                self.2 = Some(mac.span());
            }
        }
    }
    let watched = WatchedField {
        name: field,
        groups,
        owner: &item.ident.to_string(),
        owners: &names.owners,
        replacing: &names.replacing,
    };
    let mut functions = Functions(names.library, Watched::Field(&watched), None);
    first_in(names.program, |file| {
        functions.visit_file(file);
        functions.2
    })
}

/// The first place in the files of a program at which something is found.
fn first_in(program: &Program, mut find: impl FnMut(&syn::File) -> Option<Span>) -> Option<Extent> {
    (0..program.files.len()).map(FileId).find_map(|file| {
        let found = find(&program.file(file).ast)?;
        Some((file, bytes(program, file, found)))
    })
}

/// Whether the struct that begins there is the same type wherever it is named.
pub fn has_no_parameters(program: &Program, place: Position) -> bool {
    struct_at(program, place).is_some_and(|item| item.generics.type_params().next().is_none())
}

/// Whether the values in the list, tuple or option that the `let` there declares, or the parameter, stay where they are.
pub fn holds_the_same(library: &Library, program: &Program, items: &Items, place: Position) -> bool {
    let replacing = Replacing::of(library, program);
    declared_at(program, items, place).is_some_and(|(function, names)| {
        let stays = |name: &syn::Ident| {
            !replaces(
                library,
                &function.item.block,
                Watched::Variable(&name.to_string(), &replacing),
            )
        };
        names.iter().all(stays)
    })
}

/// The fields of the struct that begins there which have content on a device.
pub fn filled_fields(library: &Library, program: &Program, place: Position) -> BTreeSet<Position> {
    filled_with_words(library, program, place).into_keys().collect()
}

/// The names in the types of these fields.
pub fn names_in_filled(library: &Library, program: &Program, place: Position) -> BTreeSet<String> {
    let filled = filled_fields(library, program, place);
    let fields = struct_at(program, place).map(|item| item.fields.iter());
    let fields = fields.into_iter().flatten();
    let fields =
        fields.filter(|field| filled.contains(&(place.0, bytes(program, place.0, field.span()).start)));
    fields
        .flat_map(|field| names_in(&field.ty.to_token_stream()))
        .collect()
}

/// The same, each with how it is filled.
fn filled_with_words(
    library: &Library,
    program: &Program,
    place: Position,
) -> BTreeMap<Position, &'static str> {
    let Some(item) = struct_at(program, place) else {
        return BTreeMap::new();
    };
    let names = Named::of(library, program);
    let kinds = Kinds {
        generics: &item.generics,
        named: &names,
        depth: 0,
    };
    let fields = item.fields.iter();
    let filled = fields.filter(|field| kinds.of(&field.ty) == Kind::Filled);
    filled
        .map(|field| {
            let word = if names.is_filled_alone(&field.ty) {
                "refill"
            } else {
                "parts"
            };
            ((place.0, bytes(program, place.0, field.span()).start), word)
        })
        .collect()
}

/// What is said of the fields of such a struct: that they are kept, or looked through.
pub fn words_of_fields(
    library: &Library,
    program: &Program,
    place: Position,
) -> Option<BTreeMap<Position, &'static str>> {
    let kept = kept_fields(library, program, place)?;
    let through = through_fields(library, program, place).unwrap_or_default();
    let filled = filled_with_words(library, program, place);
    let kept = kept.into_iter().map(|field| (field, "keep"));
    let kept = kept.chain(filled);
    Some(
        kept.chain(through.into_iter().map(|field| (field, "through")))
            .collect(),
    )
}

/// What the attribute on the variable names, as the source calls it: what its initialiser moves into the value, and what
/// it lends to it; nothing where the value borrows something else exclusively.
pub fn parts_of(
    library: &Library,
    program: &Program,
    items: &Items,
    variable: Position,
    ty: Position,
) -> Option<Vec<String>> {
    let words = words_of_fields(library, program, ty)?;
    // What is on a device cannot be made of nothing.
    let kept = words.keys().copied().collect();
    let moved = moved_parts(library, program, items, variable, ty, &kept);
    let lent = lent_variables(library, program, items, variable, ty)?;
    let function = items.function_around(variable)?;
    let moved = moved.iter().map(|name| function.name_in_source(name));
    let lent = lent
        .iter()
        .map(|name| format!("&mut {}", function.name_in_source(name)));
    Some(moved.chain(lent).collect())
}

/// The variables that the value borrows exclusively.
pub fn lent_variables(
    library: &Library,
    program: &Program,
    items: &Items,
    variable: Position,
    ty: Position,
) -> Option<Vec<String>> {
    match through_fields(library, program, ty) {
        Some(_) => lent_parts(library, program, items, variable, ty),
        None => Some(Vec::new()),
    }
}

fn named_fields(item: &syn::ItemStruct) -> impl Iterator<Item = (String, &syn::Field)> {
    item.fields.iter().enumerate().map(|(index, field)| {
        let name = field.ident.as_ref();
        (name.map_or_else(|| index.to_string(), ToString::to_string), field)
    })
}

/// Where anything in the program gives the field another value; with `within` also what is in it.
fn changes(
    names: &Named<'_>,
    (item, groups): (&syn::ItemStruct, &[Group]),
    field: String,
    within: bool,
) -> Option<Extent> {
    let mut changes = Changes {
        library: names.library,
        owners: &names.owners,
        replacing: &names.replacing,
        groups,
        owner: item.ident.to_string(),
        field,
        within,
        inside: false,
        building: false,
        found: None,
    };
    first_in(names.program, |file| {
        changes.visit_file(file);
        changes.found
    })
}

/// Whether the value of the variable that the `let` there declares, or of the parameter, is replaced as a whole by
/// `mem::swap`, `replace` or `take`.
pub fn is_exchanged(library: &Library, program: &Program, items: &Items, place: Position) -> bool {
    struct Exchanges<'l>(&'l Library, Vec<syn::Ident>, bool);
    impl<'ast> Visit<'ast> for Exchanges<'_> {
        fn visit_expr_call(&mut self, call: &'ast syn::ExprCall) {
            let is_own = |path: &syn::Path| path.get_ident().is_some_and(|name| self.1.contains(name));
            self.2 |= exchanges(self.0, call)
                && call.args.iter().any(|argument| {
                    matches!(argument, Expr::Reference(one)
                        if one.mutability.is_some() && matches!(&*one.expr, Expr::Path(path) if is_own(&path.path)))
                });
            visit::visit_expr_call(self, call);
        }
        fn visit_item(&mut self, _: &'ast syn::Item) {}
    }
    let Some((function, names)) = declared_at(program, items, place) else {
        return true;
    };
    let mut exchanges = Exchanges(library, names, false);
    exchanges.visit_block(&function.item.block);
    exchanges.2
}

/// What the `let` there declares, or the parameter, and its function.
fn declared_at<'i>(
    program: &Program,
    items: &'i Items,
    place: Position,
) -> Option<(&'i Function, Vec<syn::Ident>)> {
    let names = |pattern: &syn::Pat| {
        irrefutable_bindings(pattern)
            .into_iter()
            .map(|one| one.ident)
            .collect()
    };
    if let Some((function, local)) = let_at(program, items, place) {
        return Some((function, names(&local.pat)));
    }
    let is_here = |input: &&syn::FnArg| bytes(program, place.0, input.span()).start == place.1;
    let function = items.function_around(place)?;
    match function.item.sig.inputs.iter().find(is_here)? {
        syn::FnArg::Typed(typed) => Some((function, names(&typed.pat))),
        syn::FnArg::Receiver(receiver) => {
            Some((function, vec![syn::Ident::new("self", receiver.self_token.span)]))
        }
    }
}

fn exchanges(library: &Library, call: &syn::ExprCall) -> bool {
    let Expr::Path(path) = &*call.func else {
        return false;
    };
    library.says(&last_name(&path.path), Functions::Exchanges)
}

/// The struct that begins there.
pub(crate) fn struct_at(program: &Program, place: Position) -> Option<&syn::ItemStruct> {
    struct StructAt<'p>(&'p Program, Position, Option<&'p syn::ItemStruct>);
    impl<'p> Visit<'p> for StructAt<'p> {
        fn visit_item_struct(&mut self, item: &'p syn::ItemStruct) {
            if bytes(self.0, self.1.0, item.span()).start == self.1.1 {
                self.2 = Some(item);
            }
        }
    }
    let mut finder = StructAt(program, place, None);
    finder.visit_file(&program.file(place.0).ast);
    finder.2
}

/// Whether anything in the program gives a field another value.
struct Changes<'l> {
    library: &'l Library,
    owners: &'l Owners,
    replacing: &'l Replacing,
    /// Fields that may change places among each other.
    groups: &'l [Group],
    owner: String,
    field: String,
    /// Whether methods may change what is in it.
    within: bool,
    /// Inside an `impl` of the owner.
    inside: bool,
    /// Inside a method that takes a value and gives it back, `fn with(mut self, ..) -> Self`: what it sets belongs to the
    /// initialiser that calls it.
    building: bool,
    /// Where, first.
    found: Option<Span>,
}

impl Changes<'_> {
    fn note(&mut self, changes: bool, at: &impl Spanned) {
        if changes && self.found.is_none() {
            self.found = Some(at.span());
        }
    }

    /// Whether the place is the field, or a part of it.
    fn is_in_field(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Field(one) => {
                let is_own = self.is_field(&one.member) && !self.owners.is_of_another(one, &self.owner);
                is_own || self.is_in_field(&one.base)
            }
            Expr::Index(one) => self.is_in_field(&one.expr),
            Expr::Paren(one) => self.is_in_field(&one.expr),
            Expr::Unary(one) => matches!(one.op, syn::UnOp::Deref(_)) && self.is_in_field(&one.expr),
            Expr::MethodCall(one) => self.within && self.is_in_field(&one.receiver),
            _ => false,
        }
    }

    fn is_field(&self, member: &Member) -> bool {
        match member {
            Member::Named(name) => *name == self.field,
            Member::Unnamed(index) => index.index.to_string() == self.field,
        }
    }

    /// Whether an assignment there changes a value that is in use.
    fn changes_place(&self, place: &Expr) -> bool {
        assigned_places(place).into_iter().any(|place| {
            // What a method lends leads into what it is called on.
            let is_lent = matches!(place, Expr::Unary(one) if matches!(&*one.expr, Expr::MethodCall(call) if self.is_in_field(&first_of_chain(call).receiver)));
            self.is_in_field(place) && !(self.building && is_of_self(place))
                || self.is_self(place)
                || is_lent
        })
    }

    fn is_builder(&self, method: &syn::ImplItemFn) -> bool {
        let takes_value = method
            .sig
            .receiver()
            .is_some_and(|receiver| receiver.reference.is_none() && receiver.colon_token.is_none());
        let gives_own = matches!(&method.sig.output, syn::ReturnType::Type(_, ty)
            if matches!(&**ty, syn::Type::Path(path) if path.path.segments.last()
                .is_some_and(|last| last.ident == "Self" || last.ident == self.owner)));
        let ends_with_self = matches!(method.block.stmts.last(), Some(syn::Stmt::Expr(Expr::Path(path), None))
            if path.path.is_ident("self"));
        self.inside && takes_value && gives_own && ends_with_self
    }

    fn is_self(&self, expr: &Expr) -> bool {
        let Expr::Unary(syn::ExprUnary {
            op: syn::UnOp::Deref(_),
            expr,
            ..
        }) = expr
        else {
            return false;
        };
        self.inside && matches!(&**expr, Expr::Path(path) if path.path.is_ident("self"))
    }
}

impl<'ast> Visit<'ast> for Changes<'_> {
    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        let before = self.inside;
        self.inside = matches!(&*item.self_ty, syn::Type::Path(path)
            if last_name(&path.path) == self.owner);
        visit::visit_item_impl(self, item);
        self.inside = before;
    }

    fn visit_impl_item_fn(&mut self, method: &'ast syn::ImplItemFn) {
        let builds = self.is_builder(method);
        let before = std::mem::replace(&mut self.building, builds);
        visit::visit_impl_item_fn(self, method);
        self.building = before;
    }

    fn visit_expr_assign(&mut self, one: &'ast syn::ExprAssign) {
        self.note(self.changes_place(&one.left), one);
        visit::visit_expr_assign(self, one);
    }

    fn visit_expr_binary(&mut self, one: &'ast syn::ExprBinary) {
        self.note(is_assignment(&one.op) && self.is_in_field(&one.left), one);
        visit::visit_expr_binary(self, one);
    }

    fn visit_expr_reference(&mut self, one: &'ast syn::ExprReference) {
        self.note(one.mutability.is_some() && self.is_in_field(&one.expr), one);
        visit::visit_expr_reference(self, one);
    }

    fn visit_expr_call(&mut self, call: &'ast syn::ExprCall) {
        if changes_places(self.library, call, self.groups) {
            return;
        }
        let takes_self = |argument: &Expr| matches!(argument, Expr::Path(path) if path.path.is_ident("self"));
        let exchanges = self.inside && exchanges(self.library, call);
        self.note(exchanges && call.args.iter().any(takes_self), call);
        visit::visit_expr_call(self, call);
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        let method = call.method.to_string();
        let looks = (self.library.is_pure(&method) || self.library.borrows(&method) || self.library.adapts(&method))
            && !self.library.borrows_mutably(&method)
            // `Option::take`; that of an iterator says how many.
            && !(self.library.says(&method, Methods::TakesOut) && call.args.is_empty());
        let first = first_of_chain(call);
        let is_of_element = matches!(&*first.receiver, Expr::Index(_))
            && is_of_array(self.library, &first.method.to_string());
        // What it gives is another value.
        let of_first = first.method.to_string();
        let leads_on = self.library.says(&of_first, Methods::ByReference)
            && !self.library.says(&of_first, DeviceMethods::Arguments);
        let is_in_field = self.is_in_field(&call.receiver);
        let sets = self.library.says(&method, DeviceMethods::Sets);
        let changes = self.within && !looks && !is_of_element && !leads_on;
        let replaces = self.replacing.has(self.library, &method);
        let lends = self.library.borrows_mutably(&method) || self.library.says(&method, PlaceOf::Boxed);
        self.note((changes || sets || replaces || lends) && is_in_field, call);
        // Behind another one it belongs to what that has begun.
        let completes = self.library.says(&of_first, DeviceMethods::Completes);
        self.note(completes && self.is_in_field(&first.receiver), call);
        let changes_content = self.library.says(&method, Types::DeviceCommands)
            || self.library.says(&method, DeviceMethods::Arguments);
        self.visit_expr(&call.receiver);
        for argument in &call.args {
            match argument {
                Expr::Reference(one) if changes_content && self.is_in_field(&one.expr) => {}
                argument => self.visit_expr(argument),
            }
        }
    }

    fn visit_macro(&mut self, mac: &'ast syn::Macro) {
        self.note(may_change_in(self.library, mac, &self.field), mac);
        // What changes places there is followed by nobody.
        let groups = std::mem::take(&mut self.groups);
        for one in arguments_of_macro(self.library, mac).iter().flatten() {
            Visit::visit_expr(self, one);
        }
        self.groups = groups;
    }

    fn visit_expr_raw_addr(&mut self, one: &'ast syn::ExprRawAddr) {
        let is_mutable = matches!(one.mutability, syn::PointerMutability::Mut(_));
        self.note(is_mutable && self.is_in_field(&one.expr), one);
        visit::visit_expr_raw_addr(self, one);
    }

    fn visit_local(&mut self, local: &'ast syn::Local) {
        let lends = |init: &syn::LocalInit| self.is_in_field(&init.expr) && lends_exclusively(&local.pat);
        self.note(local.init.as_ref().is_some_and(lends), local);
        looked_at::local(self, local);
    }

    fn visit_expr_let(&mut self, one: &'ast syn::ExprLet) {
        self.note(self.is_in_field(&one.expr) && lends_exclusively(&one.pat), one);
        looked_at::condition(self, one);
    }

    fn visit_expr_match(&mut self, one: &'ast syn::ExprMatch) {
        let lends = one.arms.iter().any(|arm| lends_exclusively(&arm.pat));
        self.note(lends && self.is_in_field(&one.expr), one);
        looked_at::branches(self, one);
    }

    fn visit_pat_tuple_struct(&mut self, pattern: &'ast syn::PatTupleStruct) {
        let last = last_name(&pattern.path);
        let is_owner = last == self.owner || last == "Self" && self.inside;
        self.note(is_owner && takes_field(pattern, &self.field), pattern);
        visit::visit_pat_tuple_struct(self, pattern);
    }

    /// A field that a pattern takes by name could be changed under that name.
    fn visit_pat_struct(&mut self, pattern: &'ast syn::PatStruct) {
        let is_owner = pattern
            .path
            .segments
            .last()
            .is_some_and(|last| last.ident == self.owner || last.ident == "Self" && self.inside);
        let has_field = pattern.fields.iter().any(|field| self.is_field(&field.member));
        self.note(is_owner && has_field, pattern);
        visit::visit_pat_struct(self, pattern);
    }
}

/// The call that stands first in `a.b().c()`.
fn first_of_chain(call: &syn::ExprMethodCall) -> &syn::ExprMethodCall {
    match &*call.receiver {
        Expr::MethodCall(before) => first_of_chain(before),
        _ => call,
    }
}

/// Whether a pattern gives the field of this number a name.
fn takes_field(pattern: &syn::PatTupleStruct, field: &str) -> bool {
    let Ok(number) = field.parse::<usize>() else {
        return false;
    };
    let has_rest = { pattern.elems.iter() }.any(|one| matches!(one, syn::Pat::Rest(_)));
    // Behind `..` it is another one.
    has_rest || !matches!(pattern.elems.iter().nth(number), None | Some(syn::Pat::Wild(_)))
}

/// `self.field`, or a part of it.
fn is_of_self(place: &Expr) -> bool {
    match place {
        Expr::Field(one) => {
            matches!(&*one.base, Expr::Path(path) if path.path.is_ident("self")) || is_of_self(&one.base)
        }
        Expr::Index(one) => is_of_self(&one.expr),
        Expr::Paren(one) => is_of_self(&one.expr),
        _ => false,
    }
}

#[cfg(test)]
mod tests;
