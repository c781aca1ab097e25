//! What the declaration of a variable tells of its type.

use crate::library::{Library, Types};
use crate::names::{LocalSet, Locals};
use crate::syntax::language::is_number_type;
use crate::syntax::macros::{items_of_list, makes_a_list, repeated_in_list};
use crate::syntax::places::{Place, Projection, variable};
use crate::syntax::purity::is_arithmetic;
use crate::visit::{self, Visit};
use syn::{Expr, FnArg, GenericArgument, Ident, ItemFn, Local, Pat, PathArguments, Type};

/// Variables of which something is known wherever they are declared.
#[derive(Default)]
pub(super) struct DeclaredTypes {
    /// They are no references.
    values: LocalSet,
    /// Lists that own their elements.
    lists: LocalSet,
    /// Lists of numbers, lists of such lists, and references to those.
    lists_of_numbers: LocalSet,
    /// They are numbers.
    numbers: LocalSet,
}

impl DeclaredTypes {
    pub(super) fn of(library: &Library, locals: &Locals, function: &ItemFn) -> Self {
        let mut finder = Finder {
            library,
            locals,
            found: Self::default(),
            others: Self::default(),
        };
        for argument in &function.sig.inputs {
            match argument {
                FnArg::Receiver(receiver) => {
                    let name = Ident::new("self", receiver.self_token.span);
                    let is_value = receiver.reference.is_none() && receiver.colon_token.is_none();
                    finder.add(
                        &name,
                        Declared {
                            is_value,
                            ..Declared::default()
                        },
                    );
                }
                FnArg::Typed(typed) => finder.typed(&typed.pat, &typed.ty),
            }
        }
        finder.visit_block(&function.block);
        let Finder {
            mut found, others, ..
        } = finder;
        found.values.remove_all(&others.values);
        found.lists.remove_all(&others.lists);
        found.lists_of_numbers.remove_all(&others.lists_of_numbers);
        found.numbers.remove_all(&others.numbers);
        found
    }

    /// Whether the variable is certainly no reference.
    pub(super) fn is_value(&self, local: crate::names::LocalId) -> bool {
        self.values.contains(local)
    }

    /// Whether the variable is certainly a list that owns its elements.
    pub(super) fn is_list(&self, local: crate::names::LocalId) -> bool {
        self.lists.contains(local)
    }

    /// Whether the value is certainly a number: one that is written out, a variable, or what is computed from such.
    pub(super) fn is_number(&self, locals: &Locals, value: &Expr) -> bool {
        let is_variable = |name: &Ident| locals.id(name).is_some_and(|local| self.numbers.contains(local));
        is_computed_number(value, &is_variable)
    }

    /// Whether the place is an element of a list of numbers.
    pub(super) fn is_number_in_list(&self, locals: &Locals, place: &Expr) -> bool {
        Place::of(place).is_some_and(|place| {
            let is_element = |step: &Projection| matches!(step, Projection::Index(_));
            let is_list = locals
                .id(place.root)
                .is_some_and(|root| self.lists_of_numbers.contains(root));
            is_list && !place.path.is_empty() && place.path.iter().all(is_element)
        })
    }
}

struct Finder<'a> {
    library: &'a Library,
    locals: &'a Locals,
    found: DeclaredTypes,
    /// What is declared at more than one place, and not known of each.
    others: DeclaredTypes,
}

/// What one declaration tells.
#[derive(Default)]
struct Declared {
    is_value: bool,
    is_list: bool,
    is_list_of_numbers: bool,
    is_number: bool,
}

impl Finder<'_> {
    fn add(&mut self, name: &Ident, declared: Declared) {
        let Some(local) = self.locals.id(name) else {
            return;
        };
        let both = [&mut self.others, &mut self.found];
        both[usize::from(declared.is_value)].values.insert(local);
        both[usize::from(declared.is_list)].lists.insert(local);
        both[usize::from(declared.is_list_of_numbers)]
            .lists_of_numbers
            .insert(local);
        both[usize::from(declared.is_number)].numbers.insert(local);
    }

    fn is_list_type(&self, ty: &Type) -> bool {
        match ty {
            Type::Paren(one) => self.is_list_type(&one.elem),
            Type::Group(one) => self.is_list_type(&one.elem),
            Type::Path(path) => self.library.says_of_path(&path.path, Types::Lists),
            _ => false,
        }
    }

    /// Whether the value is a list that owns its elements: `vec![0; n]`, `Vec::with_capacity(n)`, `items.collect::<Vec<_>>()`.
    fn is_list(&self, value: &Expr) -> bool {
        match value {
            Expr::Paren(one) => self.is_list(&one.expr),
            Expr::Macro(one) => makes_a_list(self.library, &one.mac),
            Expr::Call(call) => {
                let Expr::Path(path) = &*call.func else {
                    return false;
                };
                let of = path.path.segments.iter().rev().nth(1);
                of.is_some_and(|of| self.library.says(&of.ident.to_string(), Types::Lists))
            }
            Expr::MethodCall(call) => {
                let named = call.turbofish.as_ref().and_then(|one| one.args.first());
                self.library.collects(&call.method.to_string())
                    && matches!(named, Some(GenericArgument::Type(ty)) if self.is_list_type(ty))
            }
            _ => false,
        }
    }

    /// Whether the variable is a number by all of its declarations so far.
    fn is_number(&self, name: &Ident) -> bool {
        let is_in = |types: &DeclaredTypes, local| types.numbers.contains(local);
        let local = self.locals.id(name);
        local.is_some_and(|local| is_in(&self.found, local) && !is_in(&self.others, local))
    }

    fn typed(&mut self, pattern: &Pat, ty: &Type) {
        if let Pat::Ident(ident) = pattern
            && ident.by_ref.is_none()
        {
            let declared = Declared {
                is_value: is_value_type(ty),
                is_list: self.is_list_type(ty),
                is_list_of_numbers: self.is_list_of_numbers_type(ty),
                is_number: is_number(ty),
            };
            self.add(&ident.ident, declared);
        }
    }

    fn is_list_of_numbers_type(&self, ty: &Type) -> bool {
        match ty {
            Type::Paren(one) => self.is_list_of_numbers_type(&one.elem),
            Type::Group(one) => self.is_list_of_numbers_type(&one.elem),
            Type::Reference(one) => self.is_list_of_numbers_type(&one.elem),
            Type::Array(one) => is_number(&one.elem) || self.is_list_of_numbers_type(&one.elem),
            Type::Slice(one) => is_number(&one.elem) || self.is_list_of_numbers_type(&one.elem),
            Type::Path(path) if self.library.says_of_path(&path.path, Types::Lists) => {
                let last = path.path.segments.last().map(|last| &last.arguments);
                matches!(last, Some(PathArguments::AngleBracketed(of))
                    if matches!(of.args.first(), Some(GenericArgument::Type(element))
                        if of.args.len() == 1 && (is_number(element) || self.is_list_of_numbers_type(element))))
            }
            _ => false,
        }
    }

    fn is_list_of_numbers(&self, value: &Expr) -> bool {
        let is_element = |one: &Expr| is_number_literal(one) || self.is_list_of_numbers(one);
        match value {
            Expr::Paren(one) => self.is_list_of_numbers(&one.expr),
            Expr::Reference(one) => self.is_list_of_numbers(&one.expr),
            Expr::Repeat(one) => is_element(&one.expr),
            Expr::Array(one) => one.elems.first().is_some_and(is_element),
            Expr::Macro(one) => match repeated_in_list(self.library, &one.mac) {
                Some((value, _)) => is_element(&value),
                None => items_of_list(self.library, &one.mac)
                    .is_some_and(|items| items.first().is_some_and(is_element)),
            },
            _ => false,
        }
    }
}

impl<'ast> Visit<'ast> for Finder<'_> {
    fn visit_local(&mut self, local: &'ast Local) {
        match (&local.pat, &local.init) {
            (Pat::Type(typed), _) => self.typed(&typed.pat, &typed.ty),
            (Pat::Ident(ident), Some(init)) if ident.by_ref.is_none() => {
                let declared = Declared {
                    is_value: is_value(&init.expr),
                    is_list: self.is_list(&init.expr),
                    is_list_of_numbers: self.is_list_of_numbers(&init.expr),
                    is_number: is_computed_number(&init.expr, &|name| self.is_number(name)),
                };
                self.add(&ident.ident, declared);
            }
            _ => {}
        }
        visit::visit_local(self, local);
    }

    fn visit_expr_for_loop(&mut self, one: &'ast syn::ExprForLoop) {
        if let (Pat::Ident(ident), Expr::Range(_)) = (&*one.pat, &*one.expr) {
            let declared = Declared {
                is_value: true,
                is_number: true,
                ..Declared::default()
            };
            self.add(&ident.ident, declared);
        }
        visit::visit_expr_for_loop(self, one);
    }
}

fn is_number(ty: &Type) -> bool {
    match ty {
        Type::Paren(one) => is_number(&one.elem),
        Type::Group(one) => is_number(&one.elem),
        Type::Path(path) => path
            .path
            .get_ident()
            .is_some_and(|name| is_number_type(&name.to_string())),
        _ => false,
    }
}

/// A number that is written out has a type of the language, and what operators make of numbers of the language is one.
fn is_computed_number(value: &Expr, is_variable: &dyn Fn(&Ident) -> bool) -> bool {
    match value {
        Expr::Paren(one) => is_computed_number(&one.expr, is_variable),
        Expr::Group(one) => is_computed_number(&one.expr, is_variable),
        Expr::Unary(one) => {
            !matches!(one.op, syn::UnOp::Deref(_)) && is_computed_number(&one.expr, is_variable)
        }
        Expr::Binary(one) => {
            is_arithmetic(&one.op)
                && is_computed_number(&one.left, is_variable)
                && is_computed_number(&one.right, is_variable)
        }
        Expr::Path(_) => variable(value).is_some_and(is_variable),
        _ => is_number_literal(value),
    }
}

fn is_number_literal(value: &Expr) -> bool {
    match value {
        Expr::Lit(one) => matches!(one.lit, syn::Lit::Int(_) | syn::Lit::Float(_)),
        Expr::Unary(one) if matches!(one.op, syn::UnOp::Neg(_)) => is_number_literal(&one.expr),
        Expr::Paren(one) => is_number_literal(&one.expr),
        Expr::Cast(one) => is_number(&one.ty),
        _ => false,
    }
}

/// A type that is written out and is no reference, whatever it holds.
fn is_value_type(ty: &Type) -> bool {
    match ty {
        Type::Paren(one) => is_value_type(&one.elem),
        Type::Group(one) => is_value_type(&one.elem),
        Type::Array(_) | Type::Tuple(_) | Type::Path(_) => true,
        _ => false,
    }
}

/// An expression whose value is certainly no reference. What holds exclusive ones is moved where it is passed, and rustc
/// allows no more use of it.
fn is_value(value: &Expr) -> bool {
    match value {
        Expr::Paren(one) => is_value(&one.expr),
        Expr::Lit(one) => !matches!(
            one.lit,
            syn::Lit::Str(_) | syn::Lit::ByteStr(_) | syn::Lit::CStr(_)
        ),
        Expr::Struct(_) | Expr::Tuple(_) | Expr::Array(_) | Expr::Repeat(_) | Expr::Cast(_) => true,
        Expr::Call(_) => crate::syntax::origins::operands_of_constructor(value).is_some(),
        _ => false,
    }
}
