//! Expressions and places.

use super::{Context, Lowerer};
use crate::items::Def;
use crate::items::resolve::{Namespace, Resolved, segments};
use ckpt_compiler::syntax::language::bytes_of_number;
use ckpt_compiler::syntax::patterns::lends_exclusively;
use ckpt_safepoints::skeleton::{
    Access, CallOp, Code, ControlOp, ELEMENT, MemoryOp, Op, Outside, Pattern, ValueOp, Var,
};
use ckpt_safepoints::values::{Binary, Value};
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;
use syn::spanned::Spanned;
use syn::{BinOp, Expr, Pat, UnOp};

/// Expressions nested deeper than this are not looked into.
const DEEPEST: usize = 150;

/// Constants whose values lead to each other deeper than this are given up.
const DEEPEST_CONSTANT: usize = 24;

impl Lowerer<'_> {
    /// An expression whose value is taken apart by a pattern.
    pub(super) fn expr_for(&mut self, expr: &Expr, pat: &Pat) {
        self.subject(expr, lends_exclusively(pat));
    }

    pub(super) fn subject(&mut self, expr: &Expr, wants_place: bool) {
        if wants_place {
            self.place(expr, Access::Written);
        } else {
            self.expr(expr);
        }
    }

    /// One value on the stack.
    pub(super) fn expr(&mut self, expr: &Expr) {
        if self.depth > DEEPEST {
            self.op(ControlOp::Opaque("an expression is nested too deep".into()));
            self.push(Value::Unknown);
            return;
        }
        self.depth += 1;
        self.one_expr(expr);
        self.depth -= 1;
    }

    fn one_expr(&mut self, expr: &Expr) {
        match expr {
            Expr::Lit(one) => {
                let value = super::patterns::literal(&one.lit).unwrap_or(Value::Data);
                self.push(value);
            }
            Expr::Path(path) => self.path(path),
            Expr::Field(_) | Expr::Index(_) => self.part(expr),
            Expr::Paren(inner) => self.expr(&inner.expr),
            Expr::Group(inner) => self.expr(&inner.expr),
            Expr::Reference(inner) if inner.mutability.is_some() => {
                self.place(&inner.expr, Access::Written);
            }
            Expr::Reference(inner) => self.expr(&inner.expr),
            Expr::RawAddr(inner) => {
                self.place(&inner.expr, Access::Written);
                self.op(CallOp::Outside(Rc::new(Outside {
                    arguments: 1,
                    ..Outside::default()
                })));
            }
            Expr::Unary(unary) => self.unary(unary),
            Expr::Binary(binary) => self.binary(binary),
            Expr::Cast(cast) => {
                self.expr(&cast.expr);
                let to = match &*cast.ty {
                    syn::Type::Path(path) => {
                        let name = super::patterns::last(&path.path);
                        self.model.number_type(&name).map_or(name.clone(), Rc::from)
                    }
                    syn::Type::Ptr(_) => "*".into(),
                    _ => "".into(),
                };
                self.op(ValueOp::Cast(to));
            }
            Expr::Assign(assign) => self.assign(assign),
            Expr::Call(call) => self.call(call),
            Expr::MethodCall(call) => self.method_call(call),
            Expr::Macro(one) if ckpt_compiler::syntax::marks::Marks::is_checkpoint(&one.mac) => {
                self.user_site(&one.mac);
                self.push(Value::Unit);
            }
            Expr::Macro(one) => self.macro_call(&one.mac),
            Expr::Block(block) => match &block.label {
                Some(label) => self.labelled_block(label.name.ident.to_string(), &block.block),
                None => self.block(&block.block),
            },
            Expr::Unsafe(block) => self.block(&block.block),
            Expr::Const(block) => self.block(&block.block),
            Expr::If(one) => self.if_expr(one),
            Expr::Match(one) => self.match_expr(one),
            Expr::Let(_) => self.condition_as_value(expr),
            Expr::ForLoop(one) => self.for_loop(one),
            Expr::While(one) => self.while_loop(one),
            Expr::Loop(one) => self.endless_loop(one),
            Expr::Closure(closure) => self.closure(closure),
            Expr::Try(inner) => {
                self.expr(&inner.expr);
                self.op(ControlOp::Try);
            }
            Expr::Return(one) => {
                match &one.expr {
                    Some(value) => self.expr(value),
                    None => self.push(Value::Unit),
                }
                self.op(ControlOp::Return);
                self.push(Value::Unit);
            }
            Expr::Break(one) => self.break_expr(one),
            Expr::Continue(one) => self.continue_expr(one),
            Expr::Tuple(tuple) if tuple.elems.is_empty() => self.push(Value::Unit),
            Expr::Tuple(tuple) => {
                tuple.elems.iter().for_each(|part| self.expr(part));
                self.op(ValueOp::Tuple(tuple.elems.len()));
            }
            Expr::Array(array) => {
                array.elems.iter().for_each(|part| self.expr(part));
                self.op(ValueOp::List(array.elems.len()));
            }
            Expr::Repeat(repeat) => {
                self.expr(&repeat.expr);
                self.expr(&repeat.len);
                self.op(ValueOp::Repeat);
            }
            Expr::Range(range) => {
                for bound in [&range.start, &range.end].into_iter().flatten() {
                    self.expr(bound);
                }
                let inclusive = matches!(range.limits, syn::RangeLimits::Closed(_));
                self.op(ValueOp::Range(
                    inclusive,
                    range.start.is_some(),
                    range.end.is_some(),
                ));
            }
            Expr::Struct(one) => self.structure(one),
            _ => {
                self.op(ControlOp::Opaque("`async` code is not followed".into()));
                self.push(Value::Unknown);
            }
        }
    }

    fn condition_as_value(&mut self, expr: &Expr) {
        let mut branches = Vec::new();
        self.scoped(|lowerer| lowerer.condition(expr, &mut branches));
        self.push(Value::Bool(true));
        let jump = self.op(ControlOp::Jump(0));
        let other = self.here();
        self.push(Value::Bool(false));
        let join = self.here();
        for branch in branches {
            self.context().code.ops[branch] = Op::Control(ControlOp::Branch(other, join));
        }
        self.context().code.ops[jump] = Op::Control(ControlOp::Jump(join));
    }

    fn unary(&mut self, unary: &syn::ExprUnary) {
        match unary.op {
            UnOp::Deref(_) => {
                self.expr(&unary.expr);
                self.op(ValueOp::Deref);
            }
            UnOp::Not(_) => {
                self.expr(&unary.expr);
                self.op(ValueOp::Not);
            }
            _ => {
                self.expr(&unary.expr);
                self.op(ValueOp::Negate);
            }
        }
    }

    fn binary(&mut self, binary: &syn::ExprBinary) {
        match operator(&binary.op) {
            Some((op, true)) => {
                self.place(&binary.left, Access::Written);
                self.expr(&binary.right);
                self.op(MemoryOp::Update(op));
                self.push(Value::Unit);
            }
            Some((op, false)) => {
                self.expr(&binary.left);
                let lazy = matches!(binary.op, BinOp::And(_) | BinOp::Or(_));
                if lazy && !is_simple(&binary.right) {
                    self.lazy(op, &binary.right);
                    return;
                }
                self.expr(&binary.right);
                self.op(ValueOp::Binary(op));
            }
            None => self.push(Value::Unknown),
        }
    }

    /// `a && b` where looking at `b` may do something. The value of `a` is on the stack.
    fn lazy(&mut self, op: Binary, right: &Expr) {
        if op == Binary::Or {
            self.op(ValueOp::Not);
        }
        let branch = self.op(ControlOp::Branch(0, 0));
        self.expr(right);
        let jump = self.op(ControlOp::Jump(0));
        let other = self.here();
        self.push(Value::Bool(op == Binary::Or));
        let join = self.here();
        self.context().code.ops[branch] = Op::Control(ControlOp::Branch(other, join));
        self.context().code.ops[jump] = Op::Control(ControlOp::Jump(join));
    }

    fn assign(&mut self, assign: &syn::ExprAssign) {
        match &*assign.left {
            Expr::Infer(_) => self.expr(&assign.right),
            Expr::Tuple(tuple) => {
                // `(a, b) = ..`: by way of a variable.
                self.expr(&assign.right);
                let slot = self.slot();
                self.op(MemoryOp::Declare(slot));
                for (index, part) in tuple.elems.iter().enumerate() {
                    if matches!(part, Expr::Infer(_)) {
                        continue;
                    }
                    self.place(part, Access::Written);
                    self.op(MemoryOp::Load(Var { up: 0, slot }));
                    self.op(ValueOp::GetField(index.to_string().into()));
                    self.op(MemoryOp::Store);
                }
                self.op(MemoryOp::Clear(slot..slot + 1));
                self.push(Value::Unit);
            }
            left => {
                self.place(left, Access::Written);
                self.expr(&assign.right);
                self.op(MemoryOp::Store);
                self.push(Value::Unit);
            }
        }
    }

    /// A field or an element, as a value.
    fn part(&mut self, expr: &Expr) {
        match expr {
            Expr::Field(one) => {
                self.expr(&one.base);
                let name = member(&one.member);
                self.op(ValueOp::GetField(name.clone()));
                self.reorder_field(&name);
            }
            Expr::Index(one) if is_all(&one.index) => self.expr(&one.expr),
            Expr::Index(one) => {
                self.expr(&one.expr);
                self.expr(&one.index);
                self.op(ValueOp::GetElement);
            }
            other => self.expr(other),
        }
    }

    /// The place that an expression stands for; a value of its own where it is none. The step that names the variable is
    /// returned while only fields follow it.
    pub(super) fn place(&mut self, expr: &Expr, access: Access) -> Option<usize> {
        match expr {
            Expr::Paren(inner) => self.place(&inner.expr, access),
            Expr::Group(inner) => self.place(&inner.expr, access),
            Expr::Path(path) => {
                let name = path.path.get_ident().map(ToString::to_string);
                match name.and_then(|name| self.variable(&name)) {
                    Some((var, _)) => Some(self.op(MemoryOp::Address(var, Vec::new(), access))),
                    None => {
                        self.path(path);
                        None
                    }
                }
            }
            Expr::Field(one) => {
                let at = self.place(&one.base, access);
                let name = member(&one.member);
                self.op(MemoryOp::Field(name.clone()));
                self.reorder_field(&name);
                if let Some(at) = at
                    && let Op::Memory(MemoryOp::Address(_, names, _)) = &mut self.context().code.ops[at]
                {
                    names.push(name);
                }
                at
            }
            Expr::Index(one) if is_all(&one.index) => self.place(&one.expr, access),
            Expr::Index(one) => {
                let at = self.place(&one.expr, access);
                self.expr(&one.index);
                self.op(MemoryOp::Element);
                self.of_elements(at);
                at
            }
            Expr::Unary(one) if matches!(one.op, UnOp::Deref(_)) => {
                self.place(&one.expr, access);
                self.op(MemoryOp::Follow);
                None
            }
            other => {
                self.expr(other);
                None
            }
        }
    }

    /// Only elements of the place are touched, and not how many there are.
    pub(super) fn of_elements(&mut self, place: Option<usize>) {
        if let Some(at) = place
            && let Op::Memory(MemoryOp::Address(_, names, _)) = &mut self.context().code.ops[at]
        {
            names.push(ELEMENT.into());
        }
    }

    fn path(&mut self, path: &syn::ExprPath) {
        if let Some(name) = path.path.get_ident()
            && let Some((var, _)) = self.variable(&name.to_string())
        {
            self.op(MemoryOp::Load(var));
            return;
        }
        let scope = self.function.body_scope;
        let names = segments(&path.path);
        if let [owner, name] = &names[..] {
            let owner = match owner.as_str() {
                "Self" => self.function.self_type.as_deref().unwrap_or("Self"),
                other => other,
            };
            if let Some(id) = self.resolver.associated(owner, name) {
                self.constant(id);
                return;
            }
        }
        match self.resolver.path(scope, &names, Namespace::Values) {
            Resolved::Item(Def::Const(id)) => self.constant(id),
            Resolved::Item(Def::Function(id)) => self.push(Value::Function(id.0)),
            Resolved::Item(Def::Variant(_)) => {
                let name = super::patterns::last(&path.path);
                self.op(ValueOp::Variant(name, 0));
            }
            Resolved::Item(Def::Global(_)) => self.push(Value::Unknown),
            _ => {
                self.told_as_value(path);
                let name = super::patterns::last(&path.path);
                match &*name {
                    "None" => self.push(Value::none()),
                    "PI" | "E" | "TAU" | "EPSILON" | "INFINITY" | "NEG_INFINITY" | "NAN" => {
                        self.push(Value::uniform(&names));
                    }
                    "MAX" | "MIN" => {
                        let known = largest(&names, &*name == "MAX");
                        self.push(known.unwrap_or_else(|| Value::uniform(&names)));
                    }
                    _ => self.push(Value::Unknown),
                }
            }
        }
    }

    /// A constant: its expression, read in its own scope.
    fn constant(&mut self, id: crate::items::ConstId) {
        let one = &self.facts.items.consts[id.0];
        let folded = crate::items::fold::const_item(self.resolver, id);
        let is_float = matches!(&one.ty, syn::Type::Path(path) if path.path.is_ident("f64") || path.path.is_ident("f32"));
        match (folded, &one.value) {
            (crate::items::amount::Amount::Known(number), _) if is_float => {
                self.push(Value::float(number));
                if matches!(&one.ty, syn::Type::Path(path) if path.path.is_ident("f32")) {
                    self.op(ValueOp::Cast("f32".into()));
                }
            }
            (crate::items::amount::Amount::Known(number), _) if number.fract() == 0.0 => {
                self.push(Value::Int(number as i128));
            }
            (_, Some(value)) if self.depth < DEEPEST_CONSTANT => {
                let value = value.clone();
                self.in_empty_context(|lowerer| lowerer.expr(&value));
            }
            _ => self.push(Value::Unknown),
        }
    }

    /// With no variables in scope.
    fn in_empty_context(&mut self, inside: impl FnOnce(&mut Self)) {
        let scopes: Vec<_> = self
            .contexts
            .iter_mut()
            .map(|context| std::mem::replace(&mut context.scopes, vec![HashMap::new()]))
            .collect();
        inside(self);
        for (context, scopes) in self.contexts.iter_mut().zip(scopes) {
            context.scopes = scopes;
        }
    }

    fn structure(&mut self, one: &syn::ExprStruct) {
        let mut name = super::patterns::last(&one.path);
        if &*name == "Self"
            && let Some(own) = &self.function.self_type
        {
            name = own.as_str().into();
        }
        if let Some(rest) = &one.rest {
            self.expr(rest);
        }
        for field in &one.fields {
            self.expr(&field.expr);
            self.reorder_field(&member(&field.member));
        }
        let names: Vec<Rc<str>> = one.fields.iter().map(|field| member(&field.member)).collect();
        self.op(ValueOp::Struct(name, names.into(), one.rest.is_some()));
    }

    pub(super) fn closure(&mut self, closure: &syn::ExprClosure) {
        let taken = match closure.capture {
            Some(_) => self.copies_of_captured(closure),
            None => HashMap::new(),
        };
        self.context().scopes.push(taken);
        self.skeleton.codes.push(Code::default());
        let index = self.skeleton.codes.len() - 1;
        let parent = self.context().index;
        self.contexts.push(Context {
            index,
            code: Code {
                name: format!("a closure in {}", self.function.display),
                parent: Some(parent),
                ..Code::default()
            },
            scopes: vec![HashMap::new()],
            targets: Vec::new(),
        });
        let parameters: Vec<Pattern> = closure
            .inputs
            .iter()
            .map(|input| self.irrefutable(input))
            .collect();
        self.context().code.parameters = parameters;
        self.at = self.note(closure.or1_token.span());
        self.expr(&closure.body);
        self.op(ControlOp::Return);
        self.finish();
        self.context().scopes.pop();
        self.op(ValueOp::Closure(index));
    }

    /// A `move` closure has variables of its own, with the values that those around it have where it is made: what it
    /// assigns to them is not seen outside.
    fn copies_of_captured(&mut self, closure: &syn::ExprClosure) -> HashMap<String, (usize, bool)> {
        let mut names = BTreeSet::new();
        let tokens = quote::ToTokens::to_token_stream(&closure.body);
        self.names_in(&tokens, &mut names, &mut BTreeSet::new());
        let mut copies = HashMap::new();
        for name in names {
            if let Some((var, is_mut)) = self.variable(&name) {
                self.op(MemoryOp::Load(var));
                let slot = self.slot();
                self.op(MemoryOp::Declare(slot));
                copies.insert(name, (slot, is_mut));
            }
        }
        copies
    }
}

/// `i32::MAX`, `u8::MIN`; nothing where a number of the machine cannot hold it.
fn largest(names: &[String], is_max: bool) -> Option<Value> {
    let [.., ty, _] = names else { return None };
    let bits = bytes_of_number(ty)
        .map(|bytes| 8 * bytes)
        .filter(|bits| *bits <= 64)?;
    let number = match (ty.as_bytes()[0], is_max) {
        (b'u', true) => (1_i128 << bits) - 1,
        (b'u', false) => 0,
        (b'i', true) => (1_i128 << (bits - 1)) - 1,
        (b'i', false) => -(1_i128 << (bits - 1)),
        _ => return None,
    };
    Some(Value::Int(number))
}

/// `..`
fn is_all(index: &Expr) -> bool {
    matches!(index, Expr::Range(range) if range.start.is_none() && range.end.is_none())
}

/// Whether looking at it does nothing.
fn is_simple(expr: &Expr) -> bool {
    match expr {
        Expr::Lit(_) | Expr::Path(_) => true,
        Expr::Paren(inner) => is_simple(&inner.expr),
        Expr::Field(inner) => is_simple(&inner.base),
        Expr::Unary(inner) => is_simple(&inner.expr),
        Expr::Cast(inner) => is_simple(&inner.expr),
        Expr::Binary(both) => {
            !ckpt_compiler::syntax::purity::is_assignment(&both.op)
                && is_simple(&both.left)
                && is_simple(&both.right)
        }
        _ => false,
    }
}

/// The name of a field.
pub(super) fn member(member: &syn::Member) -> Rc<str> {
    match member {
        syn::Member::Named(name) => name.to_string().into(),
        syn::Member::Unnamed(index) => index.index.to_string().into(),
    }
}

/// The operator, and whether it assigns.
fn operator(op: &syn::BinOp) -> Option<(Binary, bool)> {
    use syn::BinOp as Op;
    Some(match op {
        Op::Add(_) => (Binary::Add, false),
        Op::Sub(_) => (Binary::Sub, false),
        Op::Mul(_) => (Binary::Mul, false),
        Op::Div(_) => (Binary::Div, false),
        Op::Rem(_) => (Binary::Rem, false),
        Op::And(_) | Op::BitAnd(_) => (Binary::And, false),
        Op::Or(_) | Op::BitOr(_) => (Binary::Or, false),
        Op::BitXor(_) => (Binary::Xor, false),
        Op::Shl(_) => (Binary::Shl, false),
        Op::Shr(_) => (Binary::Shr, false),
        Op::Eq(_) => (Binary::Eq, false),
        Op::Ne(_) => (Binary::Ne, false),
        Op::Lt(_) => (Binary::Lt, false),
        Op::Le(_) => (Binary::Le, false),
        Op::Gt(_) => (Binary::Gt, false),
        Op::Ge(_) => (Binary::Ge, false),
        Op::AddAssign(_) => (Binary::Add, true),
        Op::SubAssign(_) => (Binary::Sub, true),
        Op::MulAssign(_) => (Binary::Mul, true),
        Op::DivAssign(_) => (Binary::Div, true),
        Op::RemAssign(_) => (Binary::Rem, true),
        Op::BitAndAssign(_) => (Binary::And, true),
        Op::BitOrAssign(_) => (Binary::Or, true),
        Op::BitXorAssign(_) => (Binary::Xor, true),
        Op::ShlAssign(_) => (Binary::Shl, true),
        Op::ShrAssign(_) => (Binary::Shr, true),
        _ => return None,
    })
}
