//! TypeScope, fields, elements, literals, operators.

use super::walk::{Value, Walker};
use super::{CallForm, Trap, WhatChanges};
use crate::items::amount::{Amount, Hop, Operation, Root, Shape};
use crate::items::fold;
use crate::items::hints::{Ty, TypeKey, TypeScope, field_type};
use crate::items::methods::functions_of_path;
use crate::items::resolve::{Namespace, Resolved, segments};
use crate::items::{Def, TypeId};
use ckpt_compiler::syntax::purity::is_assignment;
use syn::spanned::Spanned;
use syn::{BinOp, Expr};

impl Walker<'_> {
    /// What the types in this function mean.
    pub fn names(&self) -> TypeScope<'_> {
        TypeScope {
            resolver: self.resolver,
            scope: self.function.body_scope,
            parameters: &self.signature.generics,
            own: self.signature.own.as_ref(),
        }
    }

    pub(super) fn place_expr(&mut self, expr: &Expr) -> Value {
        match expr {
            Expr::Lit(lit) => literal(&lit.lit),
            Expr::Path(path) => self.path_expr(path),
            Expr::Field(field) => {
                self.spend(0.5);
                let base = self.eval(&field.base);
                self.field(&base, &field.member)
            }
            Expr::Index(index) => {
                self.spend(1.0);
                let base = self.eval(&index.expr);
                let at = self.eval(&index.index);
                if at.ty.is_iterator() {
                    let length = self.slice_length(&index.index, &base, at.length);
                    let shape = Shape::of(length, base.shape().element());
                    return Value::shaped(Ty::other("[]", vec![base.ty.element(self.library)]), shape);
                }
                if let Ty::Named(TypeKey::Own(_), _) = &base.ty {
                    return self.operator(&base, "index", expr, "an index");
                }
                let ty = base.ty.held(self.library);
                Value::shaped(ty, base.shape().element())
            }
            Expr::Struct(one) => self.struct_expr(one),
            _ => Value::default(),
        }
    }

    fn path_expr(&mut self, path: &syn::ExprPath) -> Value {
        if let Some(name) = path.path.get_ident()
            && let Some(value) = self.local(&name.to_string())
        {
            return value.clone();
        }
        let list = segments(&path.path);
        let scope = self.function.body_scope;
        if path.qself.is_none() {
            match self.resolver.path(scope, &list, Namespace::Values) {
                Resolved::Item(Def::Const(id)) => {
                    let ty = &self.resolver.items.consts[id.0];
                    return Value {
                        ty: self.type_in(ty.scope, &ty.ty.clone()),
                        number: fold::const_item(self.resolver, id),
                        length: fold::constant_length(self.resolver, id),
                        ..Value::default()
                    };
                }
                Resolved::Item(Def::Global(id)) => {
                    let global = &self.resolver.items.globals[id.0];
                    return Value::of(self.type_in(global.scope, &global.ty.clone()));
                }
                Resolved::Item(Def::Variant(of)) => {
                    return Value::of(Ty::Named(TypeKey::Own(of), Vec::new()));
                }
                _ => {}
            }
        }
        let own = self.function.self_type.clone();
        let number = fold::constant(self.resolver, scope, own.as_deref(), &Expr::Path(path.clone()));
        if number != Amount::Unknown {
            return Value::number(number);
        }
        let functions =
            functions_of_path(self.resolver, self.methods, scope, self.signature, path).unwrap_or_default();
        if functions.is_empty() {
            if let Some(Def::Type(id)) = self.type_of_path(&path.path) {
                return Value::of(Ty::Named(TypeKey::Own(id), Vec::new()));
            }
            return Value::default();
        }
        let output = self.output_of(&functions);
        Value {
            ty: Ty::Callable(Box::new(output)),
            functions,
            ..Value::default()
        }
    }

    /// The type that a path stands for: a unit struct or a tuple struct's constructor.
    pub(super) fn type_of_path(&self, path: &syn::Path) -> Option<Def> {
        let scope = self.function.body_scope;
        match self.resolver.path(scope, &segments(path), Namespace::Types) {
            Resolved::Item(def @ (Def::Type(_) | Def::Alias(_))) => Some(def),
            _ => None,
        }
    }

    fn type_in(&self, scope: crate::items::ScopeId, ty: &syn::Type) -> Ty {
        TypeScope {
            scope,
            ..self.names()
        }
        .ty(ty)
    }

    /// What the functions return, as far as they agree.
    pub(super) fn output_of(&self, functions: &[crate::items::FnId]) -> Ty {
        functions
            .first()
            .and_then(|id| self.methods.signatures.get(id.0))
            .map(|signature| signature.output.clone())
            .unwrap_or_default()
    }

    fn field(&mut self, base: &Value, member: &syn::Member) -> Value {
        let name = match member {
            syn::Member::Named(name) => name.to_string(),
            syn::Member::Unnamed(index) => index.index.to_string(),
        };
        let mut ty = base.ty.clone();
        for _ in 0..4 {
            match &ty {
                Ty::Named(TypeKey::Own(id), arguments) => {
                    let id = *id;
                    let found = field_type(self.resolver, self.resolver.items, id, &name, arguments);
                    let has = self.has_field(id, &name);
                    if !has && let Some(target) = self.methods.target(id) {
                        ty = target.clone();
                        continue;
                    }
                    return Value::shaped(found, Shape::at(Root::Field(id, name), Vec::new()));
                }
                Ty::Tuple(parts) => {
                    let Ok(index) = name.parse::<usize>() else {
                        break;
                    };
                    let part = parts.get(index).cloned().unwrap_or_default();
                    return Value::shaped(part, base.shape().step(Hop::Part(index)));
                }
                _ => break,
            }
        }
        Value::default()
    }

    fn has_field(&self, of: TypeId, name: &str) -> bool {
        let item = &self.resolver.items.types[of.0];
        item.fields.iter().any(|field| field.name == name)
    }

    fn struct_expr(&mut self, one: &syn::ExprStruct) -> Value {
        let ty = self.names().ty(&syn::Type::Path(syn::TypePath {
            qself: one.qself.clone(),
            path: one.path.clone(),
        }));
        let ty = match ty {
            Ty::Named(TypeKey::Own(id), arguments) => Ty::Named(TypeKey::Own(id), arguments),
            other => match self.variant_of(&one.path) {
                Some(id) => Ty::Named(TypeKey::Own(id), Vec::new()),
                None => other,
            },
        };
        for field in &one.fields {
            let value = self.stored(&field.expr);
            if let (Ty::Named(TypeKey::Own(id), _), syn::Member::Named(name)) = (&ty, &field.member) {
                self.set_field(*id, &name.to_string(), &value);
            }
        }
        if let Some(rest) = &one.rest {
            self.eval(rest);
        }
        Value::of(ty)
    }

    fn variant_of(&self, path: &syn::Path) -> Option<TypeId> {
        let list = segments(path);
        match self
            .resolver
            .path(self.function.body_scope, &list, Namespace::Values)
        {
            Resolved::Item(Def::Variant(id)) => Some(id),
            _ => None,
        }
    }

    pub(super) fn set_field(&mut self, of: TypeId, name: &str, value: &Value) {
        let place = (Root::Field(of, name.to_owned()), Vec::new());
        self.change(Some(&place), WhatChanges::Set(value.shape()));
    }

    /// How long a part of a list is, by the range that it is taken with.
    fn slice_length(&mut self, range: &Expr, of: &Value, length: Amount) -> Amount {
        let Expr::Range(syn::ExprRange { start, end: None, .. }) = range else {
            return length;
        };
        let start = start.as_ref().and_then(|start| self.quietly(start));
        let start = start.unwrap_or(Amount::Known(0.0));
        Amount::both(Operation::Subtract, of.length.clone(), start)
    }

    pub(super) fn unary(&mut self, unary: &syn::ExprUnary) -> Value {
        let value = self.eval(&unary.expr);
        match unary.op {
            syn::UnOp::Deref(_) => value,
            syn::UnOp::Neg(_) => {
                self.spend(1.0);
                if matches!(value.ty, Ty::Named(TypeKey::Own(_), _)) {
                    return self.operator(&value, "neg", &unary.expr, "an operator");
                }
                let number = Amount::both(Operation::Subtract, Amount::Known(0.0), value.number);
                Value {
                    number,
                    ..Value::of(value.ty)
                }
            }
            _ => {
                self.spend(1.0);
                if matches!(value.ty, Ty::Named(TypeKey::Own(_), _)) {
                    return self.operator(&value, "not", &unary.expr, "an operator");
                }
                Value::of(value.ty)
            }
        }
    }

    /// `a + b + c`: the left side is gone down without recursion.
    pub(super) fn binary(&mut self, expr: &Expr) -> Value {
        let mut chain = Vec::new();
        let mut at = expr;
        while let Expr::Binary(binary) = at {
            chain.push(binary);
            at = &binary.left;
        }
        let mut left = self.eval(at);
        while let Some(binary) = chain.pop() {
            let rarely = matches!(binary.op, BinOp::And(_) | BinOp::Or(_));
            let weight = if rarely { 0.7 } else { 1.0 };
            let right = self.with_weight(weight, |walker| walker.eval(&binary.right));
            self.spend(1.0);
            if is_assignment(&binary.op) {
                self.forget_field(&binary.left);
            }
            left = self.combine(left, right, binary);
        }
        left
    }

    fn combine(&mut self, left: Value, right: Value, binary: &syn::ExprBinary) -> Value {
        let owner = [&left, &right]
            .into_iter()
            .find(|value| matches!(value.ty, Ty::Named(TypeKey::Own(_), _)));
        if let Some(owner) = owner
            && let Some(name) = operator_method(&binary.op)
        {
            let owner = owner.clone();
            let whole = Expr::Binary(binary.clone());
            return self.operator(&owner, name, &whole, "an operator");
        }
        match fold::operation(&binary.op) {
            Some(operation) => Value {
                number: Amount::both(operation, left.number, right.number),
                ..Value::of(if left.ty == Ty::Unknown { right.ty } else { left.ty })
            },
            None => Value::of(Ty::other("bool", Vec::new())),
        }
    }

    /// A call that is written as something else.
    pub(super) fn operator(&mut self, owner: &Value, name: &str, at: &Expr, what: &str) -> Value {
        let Ty::Named(key, _) = &owner.ty else {
            return Value::default();
        };
        let functions = self.methods.of_type(self.resolver.items, key, name);
        if functions.is_empty() {
            if let (TypeKey::Own(id), "index") = (key, name)
                && let Some(target) = self.methods.target(*id)
            {
                return Value::of(target.element(self.library));
            }
            return Value::default();
        }
        let ty = match self.methods.associated(key, "Output") {
            Some(output) => output.clone(),
            None => self.output_of(&functions),
        };
        self.trapped(Trap::Implicit(what.into()), |walker| {
            walker.call(functions, true, CallForm::Unnamed, at.span(), &[]);
        });
        Value::of(ty)
    }

    pub(super) fn assign(&mut self, assign: &syn::ExprAssign) -> Value {
        let value = self.stored(&assign.right);
        self.spend(1.0);
        let target = self.eval(&assign.left);
        self.change(target.place.as_ref(), WhatChanges::Set(value.shape()));
        if let Expr::Path(path) = &*assign.left
            && let Some(name) = path.path.get_ident()
        {
            self.learn(&name.to_string(), value);
        }
        Value::default()
    }

    /// A variable declared without a value, or of unknown type, gets its type where it is assigned.
    fn learn(&mut self, name: &str, value: Value) {
        if let Some(local) = self.local_mut(name) {
            if local.ty == Ty::Unknown {
                local.ty = value.ty;
            }
            if local.length == Amount::Unknown {
                local.length = value.length;
                local.element = value.element;
            }
            local.functions.extend(value.functions);
        }
    }

    /// `self.n += 1`: the field is no constant.
    fn forget_field(&mut self, place: &Expr) {
        if let Expr::Field(field) = place {
            let base = self.type_of_place(&field.base);
            if let (Some(Ty::Named(TypeKey::Own(of), _)), syn::Member::Named(name)) = (base, &field.member) {
                self.set_field(of, &name.to_string(), &Value::default());
            }
        }
    }

    /// The type of a place, without entering anything.
    fn type_of_place(&self, place: &Expr) -> Option<Ty> {
        match place {
            Expr::Path(path) => {
                let name = path.path.get_ident()?.to_string();
                self.local(&name).map(|value| value.ty.clone())
            }
            Expr::Paren(inner) => self.type_of_place(&inner.expr),
            Expr::Field(field) => match (self.type_of_place(&field.base)?, &field.member) {
                (Ty::Named(TypeKey::Own(id), arguments), syn::Member::Named(name)) => Some(field_type(
                    self.resolver,
                    self.resolver.items,
                    id,
                    &name.to_string(),
                    &arguments,
                )),
                _ => None,
            },
            Expr::Index(index) => self.type_of_place(&index.expr).map(|ty| ty.element(self.library)),
            _ => None,
        }
    }
}

fn literal(lit: &syn::Lit) -> Value {
    let ty = match lit {
        syn::Lit::Str(text) => {
            return Value {
                length: Amount::Known(text.value().len() as f64),
                ..Value::of(Ty::other("str", Vec::new()))
            };
        }
        syn::Lit::Int(number) if number.suffix().is_empty() => Ty::other("int", Vec::new()),
        syn::Lit::Int(number) => Ty::other(number.suffix(), Vec::new()),
        syn::Lit::Float(_) => Ty::other("f64", Vec::new()),
        syn::Lit::Bool(_) => Ty::other("bool", Vec::new()),
        syn::Lit::Char(_) => Ty::other("char", Vec::new()),
        _ => Ty::Unknown,
    };
    Value {
        ty,
        ..Value::number(fold::literal(lit))
    }
}

fn operator_method(op: &BinOp) -> Option<&'static str> {
    Some(match op {
        BinOp::Add(_) => "add",
        BinOp::Sub(_) => "sub",
        BinOp::Mul(_) => "mul",
        BinOp::Div(_) => "div",
        BinOp::Rem(_) => "rem",
        BinOp::AddAssign(_) => "add_assign",
        BinOp::SubAssign(_) => "sub_assign",
        BinOp::MulAssign(_) => "mul_assign",
        BinOp::DivAssign(_) => "div_assign",
        BinOp::RemAssign(_) => "rem_assign",
        BinOp::BitXor(_) => "bitxor",
        BinOp::BitAnd(_) => "bitand",
        BinOp::BitOr(_) => "bitor",
        BinOp::Shl(_) => "shl",
        BinOp::Shr(_) => "shr",
        BinOp::Eq(_) | BinOp::Ne(_) => "eq",
        BinOp::Lt(_) | BinOp::Le(_) | BinOp::Gt(_) | BinOp::Ge(_) => "partial_cmp",
        _ => return None,
    })
}
