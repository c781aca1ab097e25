//! Structs that borrow exclusively what others own, `Simulation { mesh: &mut mesh, time: 0.0 }`: what the references stand
//! for is saved with the struct. A restart makes the struct again from variables that hold nothing yet, and fills both.
//!
//! For this to be the same, a reference must never stand for anything else than the variable in the initialiser: no code of
//! the program gives the field another value, and there is one place at which the struct is made.

use super::parts::{let_at, makers};
use super::{exchanges, named_fields, struct_at};
use crate::items::Items;
use crate::source::Position;
use crate::source::Program;
use crate::source::locate::bytes;
use ckpt_compiler::library::{Library, Methods, last_name};
use ckpt_compiler::syntax::macros::makes_a_list;
use ckpt_compiler::visit::{self, Visit};
use std::collections::{BTreeMap, BTreeSet};
use syn::spanned::Spanned;
use syn::{Expr, Member};

/// A field `&mut T` where `T` has a size, so that a value of its own can be made of it.
pub(super) fn is_exclusive_reference(field: &syn::Field) -> bool {
    let has_size = |ty: &syn::Type| match ty {
        syn::Type::Path(path) => !path.path.is_ident("str"),
        syn::Type::Array(_) | syn::Type::Tuple(_) => true,
        _ => false,
    };
    matches!(&field.ty, syn::Type::Reference(one) if one.mutability.is_some() && has_size(&one.elem))
}

/// The fields of the struct that begins there which are exclusive references; nothing where there is none, or one of them
/// may come to stand for something else.
pub fn through_fields(library: &Library, program: &Program, place: Position) -> Option<BTreeSet<Position>> {
    let item = struct_at(program, place)?;
    let fields: Vec<(String, &syn::Field)> = named_fields(item)
        .filter(|(_, field)| is_exclusive_reference(field))
        .collect();
    let mut uses = Uses {
        library,
        owner: item.ident.to_string(),
        fields: fields.iter().map(|(name, _)| name.clone()).collect(),
        inside: false,
        literals: 0,
        structs: 0,
        found: false,
    };
    program.files.iter().for_each(|file| uses.visit_file(&file.ast));
    let is_sound = !fields.is_empty() && !uses.found && uses.literals == 1 && uses.structs == 1;
    let starts = fields
        .iter()
        .map(|(_, field)| (place.0, bytes(program, place.0, field.span()).start));
    is_sound.then(|| starts.collect())
}

/// The variables which the `let` at `variable` lends to all such fields of the struct at `ty` for good; nothing where one
/// of them is lent in part, or something else.
pub fn lent_parts(
    library: &Library,
    program: &Program,
    items: &Items,
    variable: Position,
    ty: Position,
) -> Option<Vec<String>> {
    let item = struct_at(program, ty)?;
    let fields: BTreeSet<String> = named_fields(item)
        .filter(|(_, field)| is_exclusive_reference(field))
        .map(|(name, _)| name)
        .collect();
    let owner = item.ident.to_string();
    // Only what is saved may be computed from what a restart has not filled yet.
    let is_saved = super::kept_fields(library, program, ty)?.is_empty();
    let looking = Looking { library, is_saved };
    let (operands, values) = match &*let_at(program, items, variable)?.1.init.as_ref()?.expr {
        Expr::Struct(literal) if is_literal_of(literal, &owner) => {
            let operands: Vec<&Expr> = literal.fields.iter().map(|field| &field.expr).collect();
            (operands, values_of(literal)?)
        }
        Expr::Call(call) => {
            let operands: Vec<&Expr> = call.args.iter().collect();
            (
                operands,
                values_through((program, items), call, &owner, &fields, looking)?,
            )
        }
        _ => return None,
    };
    let mut names = Vec::new();
    for field in &fields {
        let name = lent_variable(values.get(field)?)?;
        let mut others = operands
            .iter()
            .filter(|operand| lent_variable(operand).as_ref() != Some(&name));
        if names.contains(&name) || others.any(|operand| is_used(operand, &name, looking)) {
            return None;
        }
        if super::callers::look_at(library, program, items, variable, &name) {
            return None;
        }
        names.push(name);
    }
    Some(names)
}

/// `&mut mesh`, or `rng`, which is a reference itself.
fn lent_variable(value: &Expr) -> Option<String> {
    match value {
        Expr::Reference(one) if one.mutability.is_some() => super::parts::variable(&one.expr),
        value => super::parts::variable(value),
    }
}

/// What only looks at a variable.
#[derive(Clone, Copy)]
struct Looking<'l> {
    library: &'l Library,
    /// Whether what it gives is saved.
    is_saved: bool,
}

impl Looking<'_> {
    /// `mesh.len()`, `mesh.clone()`: of a value that holds nothing as well as of any other.
    fn is_look(self, expr: &Expr, name: &str) -> bool {
        let says = |call, key| self.library.is_call(call, key);
        self.is_saved
            && matches!(expr, Expr::MethodCall(call) if call.args.is_empty()
                && (says(call, Methods::Measures) || says(call, Methods::Copies))
                && super::parts::variable(&call.receiver).is_some_and(|of| of == name))
    }
}

fn is_used(operand: &Expr, name: &str, looking: Looking<'_>) -> bool {
    let mut uses = Looks {
        name,
        looking,
        others: 0,
    };
    uses.visit_expr(operand);
    uses.others > 0
}

/// Uses of a variable that do more than look at it.
struct Looks<'n> {
    name: &'n str,
    looking: Looking<'n>,
    others: usize,
}

impl<'ast> Visit<'ast> for Looks<'_> {
    fn visit_expr(&mut self, expr: &'ast Expr) {
        if !self.looking.is_look(expr, self.name) {
            visit::visit_expr(self, expr);
        }
    }

    fn visit_expr_path(&mut self, path: &'ast syn::ExprPath) {
        self.others += usize::from(path.path.is_ident(self.name));
    }

    fn visit_macro(&mut self, mac: &'ast syn::Macro) {
        let parser = syn::punctuated::Punctuated::<Expr, syn::Token![;]>::parse_terminated;
        let names = ckpt_compiler::syntax::mentions::names_in(&mac.tokens);
        self.others += match makes_a_list(self.looking.library, mac).then(|| mac.parse_body_with(parser)) {
            // `vec![0.0; mesh.len()]`
            Some(Ok(parts)) => parts
                .iter()
                .filter(|part| is_used(part, self.name, self.looking))
                .count(),
            _ => 2 * usize::from(names.contains(self.name)),
        };
    }
}

fn is_literal_of(literal: &syn::ExprStruct, owner: &str) -> bool {
    let name = last_name(&literal.path);
    literal.rest.is_none() && (name == owner || name == "Self")
}

fn values_of(literal: &syn::ExprStruct) -> Option<BTreeMap<String, &Expr>> {
    let values = literal
        .fields
        .iter()
        .map(|field| (name_of(&field.member), &field.expr));
    literal.rest.is_none().then(|| values.collect())
}

/// The arguments of `Simulation::new(..)` that become such fields, where it does nothing but make a literal of them.
fn values_through<'p>(
    (program, items): (&Program, &'p Items),
    call: &'p syn::ExprCall,
    owner: &str,
    fields: &BTreeSet<String>,
    looking: Looking<'_>,
) -> Option<BTreeMap<String, &'p Expr>> {
    let Expr::Path(callee) = &*call.func else {
        return None;
    };
    let mut segments = callee.path.segments.iter().rev().map(|one| one.ident.to_string());
    let (function, of) = (segments.next()?, segments.next()?);
    let makers = makers(items, owner, &function);
    let [maker] = makers[..] else { return None };
    let Some(syn::Stmt::Expr(Expr::Struct(literal), None)) = maker.block.stmts.last() else {
        return None;
    };
    if of != owner || !is_literal_of(literal, owner) || calls_of(program, owner, &function) != 1 {
        return None;
    }
    let inside = values_of(literal)?;
    let parameters: Vec<Option<String>> = maker.sig.inputs.iter().map(parameter).collect();
    let mut values = BTreeMap::new();
    for field in fields {
        let name = super::parts::variable(inside.get(field)?)?;
        let mut uses = Looks {
            name: &name,
            looking,
            others: 0,
        };
        uses.visit_block(&maker.block);
        if uses.others != 1 {
            return None;
        }
        let index = parameters.iter().position(|one| one.as_ref() == Some(&name))?;
        values.insert(field.clone(), call.args.get(index)?);
    }
    Some(values)
}

fn parameter(input: &syn::FnArg) -> Option<String> {
    match input {
        syn::FnArg::Typed(typed) => match &*typed.pat {
            syn::Pat::Ident(name) if name.subpat.is_none() => Some(name.ident.to_string()),
            _ => None,
        },
        syn::FnArg::Receiver(_) => None,
    }
}

fn name_of(member: &Member) -> String {
    match member {
        Member::Named(name) => name.to_string(),
        Member::Unnamed(index) => index.index.to_string(),
    }
}

/// How often the function of the type is named, to be called or given away.
fn calls_of(program: &Program, owner: &str, function: &str) -> usize {
    struct Named<'n>(&'n str, &'n str, usize);
    impl<'ast> Visit<'ast> for Named<'_> {
        fn visit_path(&mut self, path: &'ast syn::Path) {
            let mut names = path.segments.iter().rev().map(|one| one.ident.to_string());
            let is_function = names.next().is_some_and(|name| name == self.1);
            let is_own = names.next().is_some_and(|of| of == self.0 || of == "Self");
            self.2 += usize::from(is_function && is_own);
            visit::visit_path(self, path);
        }
        fn visit_macro(&mut self, mac: &'ast syn::Macro) {
            let names = ckpt_compiler::syntax::mentions::names_in(&mac.tokens);
            self.2 += 2 * usize::from(names.contains(self.0) && names.contains(self.1));
        }
    }
    let mut named = Named(owner, function, 0);
    program.files.iter().for_each(|file| named.visit_file(&file.ast));
    named.2
}

/// What a program does with the references of a struct.
struct Uses<'l> {
    library: &'l Library,
    owner: String,
    fields: BTreeSet<String>,
    /// Inside an `impl` of the owner.
    inside: bool,
    /// Literals of the struct.
    literals: usize,
    /// Structs of that name.
    structs: usize,
    /// Whether one may come to stand for something else.
    found: bool,
}

impl Uses<'_> {
    /// `simulation.mesh` itself, not a part of what it stands for.
    fn is_field(&self, place: &Expr) -> bool {
        match place {
            Expr::Field(one) => self.fields.contains(&name_of(&one.member)),
            Expr::Paren(one) => self.is_field(&one.expr),
            _ => false,
        }
    }

    fn names_owner(&self, path: &syn::Path) -> bool {
        let name = last_name(path);
        name == self.owner || self.inside && name == "Self"
    }

    /// `*simulation = Simulation { .. }`: another value in the place of one that is in use.
    fn replaces(&self, one: &syn::ExprAssign) -> bool {
        let names_owner = |expr: &Expr| match expr {
            Expr::Struct(literal) => self.names_owner(&literal.path),
            Expr::Call(call) => matches!(&*call.func, Expr::Path(path)
                if path.path.segments.iter().any(|part| part.ident == self.owner || part.ident == "Self")),
            _ => false,
        };
        names_owner(&one.right) || self.inside && matches!(&*one.left, Expr::Unary(_)) && is_self(&one.left)
    }
}

fn is_self(expr: &Expr) -> bool {
    match expr {
        Expr::Unary(one) => is_self(&one.expr),
        Expr::Path(path) => path.path.is_ident("self"),
        _ => false,
    }
}

impl<'ast> Visit<'ast> for Uses<'_> {
    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        // What is behind a pointer of the program's own may be a part of what is lent.
        let of_trait = item.trait_.as_ref().and_then(|(_, path, _)| path.segments.last());
        self.found |= of_trait
            .is_some_and(|last| last.ident == "DerefMut" || last.ident == "Drop" && self.is_own(item));
        let is_own = self.is_own(item);
        let before = std::mem::replace(&mut self.inside, is_own);
        visit::visit_item_impl(self, item);
        self.inside = before;
    }

    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        self.structs += usize::from(item.ident == self.owner);
        visit::visit_item_struct(self, item);
    }

    fn visit_expr_struct(&mut self, literal: &'ast syn::ExprStruct) {
        self.literals += usize::from(self.names_owner(&literal.path));
        visit::visit_expr_struct(self, literal);
    }

    fn visit_expr_assign(&mut self, one: &'ast syn::ExprAssign) {
        self.found |= self.is_field(&one.left) || self.replaces(one);
        visit::visit_expr_assign(self, one);
    }

    fn visit_expr_reference(&mut self, one: &'ast syn::ExprReference) {
        self.found |= one.mutability.is_some() && self.is_field(&one.expr);
        visit::visit_expr_reference(self, one);
    }

    fn visit_expr_call(&mut self, call: &'ast syn::ExprCall) {
        let takes_self = |argument: &Expr| matches!(argument, Expr::Path(path) if path.path.is_ident("self"));
        self.found |= self.inside && exchanges(self.library, call) && call.args.iter().any(takes_self);
        visit::visit_expr_call(self, call);
    }

    /// A field that a pattern takes by name could be changed under that name.
    fn visit_pat_struct(&mut self, pattern: &'ast syn::PatStruct) {
        self.found |= self.names_owner(&pattern.path);
        visit::visit_pat_struct(self, pattern);
    }

    fn visit_pat_tuple_struct(&mut self, pattern: &'ast syn::PatTupleStruct) {
        self.found |= self.names_owner(&pattern.path);
        visit::visit_pat_tuple_struct(self, pattern);
    }

    fn visit_pat_ident(&mut self, pattern: &'ast syn::PatIdent) {
        self.found |= pattern.by_ref.is_some() && pattern.mutability.is_some();
        visit::visit_pat_ident(self, pattern);
    }

    fn visit_macro(&mut self, mac: &'ast syn::Macro) {
        let names = ckpt_compiler::syntax::mentions::names_in(&mac.tokens);
        self.found |= names.contains("mut") && self.fields.iter().any(|field| names.contains(field));
        self.literals += 2 * usize::from(names.contains(&self.owner));
    }
}

impl Uses<'_> {
    fn is_own(&self, item: &syn::ItemImpl) -> bool {
        matches!(&*item.self_ty, syn::Type::Path(path)
            if last_name(&path.path) == self.owner)
    }
}
