//! Patterns.

use super::Lowerer;
use crate::items::Def;
use crate::items::resolve::{Namespace, Resolved, segments};
use ckpt_compiler::library::last_name;
use ckpt_safepoints::skeleton::Pattern;
use ckpt_safepoints::values::Value;
use std::rc::Rc;
use syn::punctuated::Punctuated;
use syn::{Lit, Pat, Token};

impl Lowerer<'_> {
    /// A pattern that always matches: a name in it is a variable, unless a constant of that name is known.
    pub(super) fn irrefutable(&mut self, pat: &Pat) -> Pattern {
        let before = std::mem::replace(&mut self.irrefutable, true);
        let pattern = self.pattern(pat);
        self.irrefutable = before;
        pattern
    }

    /// A pattern, whose names are declared in the innermost scope.
    pub(super) fn pattern(&mut self, pat: &Pat) -> Pattern {
        match pat {
            Pat::Wild(_) | Pat::Rest(_) => Pattern::Any,
            Pat::Paren(inner) => self.pattern(&inner.pat),
            Pat::Type(inner) => self.pattern(&inner.pat),
            Pat::Reference(inner) => self.pattern(&inner.pat),
            Pat::Ident(one) => self.name_pattern(one),
            Pat::Lit(one) => literal(&one.lit).map_or(Pattern::Other(Vec::new()), Pattern::Value),
            Pat::Path(one) => self.path_pattern(&one.path),
            Pat::Range(one) => self.range_pattern(one),
            Pat::Tuple(one) => {
                let (front, back) = self.parts(&one.elems);
                Pattern::Tuple(front, back)
            }
            Pat::Slice(one) => {
                let (front, back) = self.parts(&one.elems);
                Pattern::List(front, back)
            }
            Pat::TupleStruct(one) => {
                let name = last(&one.path);
                let (mut front, mut back) = self.parts(&one.elems);
                if self.holds_hashed(&name) {
                    let parts = front.iter_mut().chain(back.iter_mut().flatten());
                    parts.for_each(|part| *part = not_told(part));
                }
                Pattern::Variant(name, front, back)
            }
            Pat::Struct(one) => {
                let name = last(&one.path);
                let fields = one.fields.iter().map(|field| {
                    let key = match &field.member {
                        syn::Member::Named(name) => name.to_string(),
                        syn::Member::Unnamed(index) => index.index.to_string(),
                    };
                    let pattern = self.pattern(&field.pat);
                    let pattern = match self.is_hashed_field(&key) {
                        true => not_told(&pattern),
                        false => pattern,
                    };
                    (Rc::from(key), pattern)
                });
                Pattern::Struct(name, fields.collect())
            }
            Pat::Or(one) => {
                let mut cases = Vec::new();
                for case in &one.cases {
                    cases.push(self.pattern(case));
                }
                let mut slots = Vec::new();
                cases.iter().for_each(|case| case.slots(&mut slots));
                if slots.is_empty() {
                    Pattern::Either(cases)
                } else {
                    Pattern::Other(slots)
                }
            }
            _ => Pattern::Other(Vec::new()),
        }
    }

    fn name_pattern(&mut self, one: &syn::PatIdent) -> Pattern {
        let name = one.ident.to_string();
        let plain = one.by_ref.is_none() && one.subpat.is_none() && one.mutability.is_none();
        // A variant of another crate, or a constant, where no variable is named so.
        let is_elsewhere = !self.irrefutable && self.variable(&name).is_none();
        let is_named_so = is_elsewhere && name.starts_with(char::is_uppercase) || self.is_item(&name);
        if plain && is_named_so {
            let mut path = syn::Path::from(one.ident.clone());
            path.leading_colon = None;
            return self.path_pattern(&path);
        }
        let by_reference = one.by_ref.is_some() && one.mutability.is_some();
        let inner = one.subpat.as_ref().map(|(_, pat)| Box::new(self.pattern(pat)));
        let slot = self.declare(&name, one.mutability.is_some() && one.by_ref.is_none());
        Pattern::Name(slot, by_reference, inner)
    }

    /// Whether a plain name is a constant or a variant.
    fn is_item(&self, name: &str) -> bool {
        let scope = self.function.body_scope;
        matches!(
            self.resolver.path(scope, &[name.to_owned()], Namespace::Values),
            Resolved::Item(Def::Const(_) | Def::Variant(_))
        )
    }

    fn path_pattern(&mut self, path: &syn::Path) -> Pattern {
        match self
            .resolver
            .path(self.function.body_scope, &segments(path), Namespace::Values)
        {
            Resolved::Item(Def::Const(id)) => match self.constant_value(id) {
                Some(value) => Pattern::Value(value),
                None => Pattern::Other(Vec::new()),
            },
            Resolved::Item(Def::Variant(_)) => Pattern::Variant(last(path), Vec::new(), None),
            _ if last(path).starts_with(char::is_uppercase) => Pattern::Variant(last(path), Vec::new(), None),
            _ => Pattern::Other(Vec::new()),
        }
    }

    /// A constant whose value is a number.
    fn constant_value(&self, id: crate::items::ConstId) -> Option<Value> {
        match crate::items::fold::const_item(self.resolver, id) {
            crate::items::amount::Amount::Known(number) if number.fract() == 0.0 => {
                Some(Value::Int(number as i128))
            }
            _ => None,
        }
    }

    fn range_pattern(&mut self, one: &syn::PatRange) -> Pattern {
        let inclusive = matches!(one.limits, syn::RangeLimits::Closed(_));
        let bound = |expr: &Option<Box<syn::Expr>>| match expr.as_deref() {
            None => Some(None),
            Some(expr) => self.number(expr).map(Some),
        };
        match (bound(&one.start), bound(&one.end)) {
            (Some(from), Some(to)) => Pattern::Range(from, to, inclusive),
            _ => Pattern::Other(Vec::new()),
        }
    }

    fn number(&self, expr: &syn::Expr) -> Option<Value> {
        let scope = self.function.body_scope;
        let own = self.function.self_type.as_deref();
        match crate::items::fold::constant(self.resolver, scope, own, expr) {
            crate::items::amount::Amount::Known(number) if number.fract() == 0.0 => {
                Some(Value::Int(number as i128))
            }
            _ => None,
        }
    }

    /// The parts in front of `..`, and those behind it if there is one.
    fn parts(&mut self, elems: &Punctuated<Pat, Token![,]>) -> (Vec<Pattern>, Option<Vec<Pattern>>) {
        let mut front = Vec::new();
        let mut back = None;
        for elem in elems {
            let is_rest = match elem {
                Pat::Rest(_) => true,
                Pat::Ident(one) => {
                    matches!(one.subpat.as_ref().map(|(_, pat)| &**pat), Some(Pat::Rest(_)))
                }
                _ => false,
            };
            if is_rest {
                // `rest @ ..` gets a name of which nothing is known.
                if let Pat::Ident(one) = elem {
                    self.declare(&one.ident.to_string(), false);
                }
                back = Some(Vec::new());
                continue;
            }
            let pattern = self.pattern(elem);
            back.as_mut().unwrap_or(&mut front).push(pattern);
        }
        (front, back)
    }
}

/// The same names, of which nothing is known.
fn not_told(pattern: &Pattern) -> Pattern {
    let mut slots = Vec::new();
    pattern.slots(&mut slots);
    Pattern::Other(slots)
}

/// The last segment of a path.
pub(super) fn last(path: &syn::Path) -> Rc<str> {
    last_name(path).into()
}

/// The value of a literal.
pub(super) fn literal(lit: &Lit) -> Option<Value> {
    Some(match lit {
        Lit::Bool(one) => Value::Bool(one.value),
        Lit::Int(one) if one.suffix() == "f64" => Value::float(one.base10_parse::<f64>().ok()?),
        // What is computed with shorter numbers is not what the machine would compute.
        Lit::Int(one) if one.suffix() == "f32" => Value::uniform(&("f32", one.base10_digits())),
        Lit::Float(one) if one.suffix() == "f32" => Value::uniform(&("f32", one.base10_digits())),
        Lit::Int(one) => Value::Int(one.base10_parse().ok()?),
        Lit::Float(one) => Value::float(one.base10_parse::<f64>().ok()?),
        Lit::Str(one) => Value::Text(one.value().into()),
        Lit::Byte(one) => Value::Int(i128::from(one.value())),
        Lit::Char(one) => Value::Text(one.value().to_string().into()),
        _ => return None,
    })
}
