//! Folds constants: literals, `const` items, arithmetic, lengths of arrays.

use crate::items::amount::{Amount, Operation};
use crate::items::resolve::{Namespace, Resolved, Resolver, segments};
use crate::items::{ConstId, Def, ScopeId};
use ckpt_compiler::library::Numbers;
use syn::{BinOp, Expr, Lit};

/// Constants that refer to constants deeper than this are given up.
const DEEPEST: usize = 32;

/// The value of a constant expression; `own` is the name of the type that `Self` stands for.
pub fn constant(resolver: &Resolver<'_>, scope: ScopeId, own: Option<&str>, expr: &Expr) -> Amount {
    Folder { resolver, scope, own }.expr(expr, 0)
}

/// The value of a `const` item.
pub fn const_item(resolver: &Resolver<'_>, id: ConstId) -> Amount {
    item(resolver, id, 0)
}

/// The length of what a path to a constant or static holds.
pub fn constant_length(resolver: &Resolver<'_>, id: ConstId) -> Amount {
    item_length(resolver, id, 0)
}

fn item_length(resolver: &Resolver<'_>, id: ConstId, depth: usize) -> Amount {
    let Some(one) = resolver.items.consts.get(id.0) else {
        return Amount::Unknown;
    };
    let folder = Folder {
        resolver,
        scope: one.scope,
        own: one.owner.as_deref(),
    };
    let typed = folder.type_length(&one.ty);
    match &one.value {
        Some(value) if typed == Amount::Unknown => folder.length(value, depth + 1),
        _ => typed,
    }
}

/// The operation of a binary operator.
pub fn operation(op: &BinOp) -> Option<Operation> {
    Some(match op {
        BinOp::Add(_) => Operation::Add,
        BinOp::Sub(_) => Operation::Subtract,
        BinOp::Mul(_) => Operation::Multiply,
        BinOp::Div(_) => Operation::Divide,
        BinOp::Rem(_) => Operation::Remainder,
        BinOp::Shl(_) => Operation::Shift,
        BinOp::Shr(_) => Operation::ShiftBack,
        _ => return None,
    })
}

/// The number that a literal stands for.
pub fn literal(lit: &Lit) -> Amount {
    let number = match lit {
        Lit::Int(one) => one.base10_parse::<u128>().ok().map(|value| value as f64),
        Lit::Float(one) => one.base10_parse::<f64>().ok(),
        Lit::Byte(one) => Some(f64::from(one.value())),
        _ => None,
    };
    number.map_or(Amount::Unknown, Amount::Known)
}

fn item(resolver: &Resolver<'_>, id: ConstId, depth: usize) -> Amount {
    let Some(one) = resolver.items.consts.get(id.0) else {
        return Amount::Unknown;
    };
    let Some(value) = &one.value else {
        return Amount::Unknown;
    };
    let own = one.owner.as_deref();
    let folder = Folder {
        resolver,
        scope: one.scope,
        own,
    };
    folder.expr(value, depth + 1)
}

struct Folder<'a> {
    resolver: &'a Resolver<'a>,
    scope: ScopeId,
    own: Option<&'a str>,
}

impl Folder<'_> {
    fn is_length(&self, call: &syn::ExprMethodCall) -> bool {
        let library = self.resolver.library;
        library.is_call(call, Numbers::Length)
    }

    fn gives_power(&self, call: &syn::ExprMethodCall) -> bool {
        self.resolver.library.is_call(call, Numbers::Power)
    }

    fn expr(&self, expr: &Expr, depth: usize) -> Amount {
        if depth > DEEPEST {
            return Amount::Unknown;
        }
        match expr {
            Expr::Lit(lit) => literal(&lit.lit),
            Expr::Paren(inner) => self.expr(&inner.expr, depth + 1),
            Expr::Group(inner) => self.expr(&inner.expr, depth + 1),
            Expr::Cast(cast) => self.expr(&cast.expr, depth + 1),
            Expr::Unary(unary) if matches!(unary.op, syn::UnOp::Neg(_)) => Amount::two(
                Operation::Subtract,
                Amount::Known(0.0),
                self.expr(&unary.expr, depth + 1),
            ),
            Expr::Binary(binary) => operation(&binary.op).map_or(Amount::Unknown, |operation| {
                let left = self.expr(&binary.left, depth + 1);
                Amount::two(operation, left, self.expr(&binary.right, depth + 1))
            }),
            Expr::Path(path) => self
                .const_of(&path.path)
                .map_or(Amount::Unknown, |id| item(self.resolver, id, depth)),
            Expr::MethodCall(call) if self.is_length(call) => self.length(&call.receiver, depth + 1),
            Expr::MethodCall(call) if self.gives_power(call) && call.args.len() == 1 => Amount::two(
                Operation::Power,
                self.expr(&call.receiver, depth + 1),
                self.expr(&call.args[0], depth + 1),
            ),
            Expr::Block(block) => match &block.block.stmts[..] {
                [syn::Stmt::Expr(value, None)] => self.expr(value, depth + 1),
                _ => Amount::Unknown,
            },
            _ => Amount::Unknown,
        }
    }

    fn const_of(&self, path: &syn::Path) -> Option<ConstId> {
        let names = segments(path);
        if let [owner, name] = &names[..] {
            let owner = match owner.as_str() {
                "Self" => self.own.unwrap_or("Self"),
                other => other,
            };
            if let Some(id) = self.resolver.associated(owner, name) {
                return Some(id);
            }
        }
        match self.resolver.path(self.scope, &names, Namespace::Values) {
            Resolved::Item(Def::Const(id)) => Some(id),
            _ => None,
        }
    }

    fn length(&self, expr: &Expr, depth: usize) -> Amount {
        if depth > DEEPEST {
            return Amount::Unknown;
        }
        match expr {
            Expr::Array(array) => Amount::Known(array.elems.len() as f64),
            Expr::Repeat(repeat) => self.expr(&repeat.len, depth + 1),
            Expr::Reference(one) => self.length(&one.expr, depth + 1),
            Expr::Paren(one) => self.length(&one.expr, depth + 1),
            Expr::Lit(syn::ExprLit {
                lit: Lit::Str(text), ..
            }) => Amount::Known(text.value().len() as f64),
            Expr::Path(path) => match self.const_of(&path.path) {
                Some(id) => item_length(self.resolver, id, depth),
                None => Amount::Unknown,
            },
            _ => Amount::Unknown,
        }
    }

    fn type_length(&self, ty: &syn::Type) -> Amount {
        match ty {
            syn::Type::Array(array) => self.expr(&array.len, 0),
            syn::Type::Reference(one) => self.type_length(&one.elem),
            _ => Amount::Unknown,
        }
    }
}
