//! Values made of those on the stack.

use super::{LONGEST_LIST, Rank};
use crate::skeleton::ValueOp;
use crate::values::numbers;
use crate::values::{Fields, Value};
use std::rc::Rc;

impl Rank {
    /// Nothing where the stack has not what the step needs.
    pub(super) fn value_op(&mut self, op: &ValueOp) -> Option<()> {
        match op {
            ValueOp::Push(value) => self.push(value.clone()),
            ValueOp::Pop => {
                self.pop()?;
            }
            ValueOp::GetField(name) => {
                let top = self.pop()?;
                let value = self.get_field(&top, name);
                self.push(value);
            }
            ValueOp::GetElement => {
                let index = self.pop()?;
                let top = self.pop()?;
                let value = self.get_element(&top, &index);
                self.push(value);
            }
            ValueOp::Deref => {
                let top = self.pop()?;
                let value = self.value(&top);
                self.push(value);
            }
            ValueOp::Negate | ValueOp::Not => {
                let top = self.pop()?;
                let top = self.value(&top);
                self.push(numbers::unary(matches!(op, ValueOp::Not), &top));
            }
            ValueOp::Binary(operator) => {
                let right = self.pop()?;
                let left = self.pop()?;
                let (left, right) = (self.value(&left), self.value(&right));
                self.push(operator.apply(&left, &right, &self.provenance));
            }
            ValueOp::Cast(to) => {
                let top = self.pop()?;
                let top = self.value(&top);
                self.push(numbers::cast(&top, to, &self.provenance));
            }
            ValueOp::Tuple(count) => {
                let parts = self.pop_many(*count)?;
                self.push(Value::tuple(parts));
            }
            ValueOp::List(count) => {
                let parts = self.pop_many(*count)?;
                let list = self.listed(parts);
                self.push(list);
            }
            ValueOp::Repeat => {
                let count = self.pop()?;
                let element = self.pop()?;
                let (count, element) = (self.value(&count), self.value(&element));
                self.push(match count {
                    Value::Int(count) if (0..=64).contains(&count) => {
                        Value::list(vec![element; count as usize])
                    }
                    count => Value::summary(count, element),
                });
            }
            ValueOp::Struct(name, names, has_base) => self.struct_op(name, names, *has_base)?,
            ValueOp::Variant(name, count) => {
                let parts = self.pop_many(*count)?;
                self.push(Value::Variant(name.clone(), Rc::new(parts)));
            }
            ValueOp::Range(inclusive, start, end) => {
                let end = if *end { Some(self.pop()?) } else { None };
                let start = if *start { Some(self.pop()?) } else { None };
                let (start, end) = (start.map(|one| self.value(&one)), end.map(|one| self.value(&one)));
                self.push(numbers::range(start, end, *inclusive, &self.provenance));
            }
            ValueOp::Iterate => {
                let top = self.pop()?;
                let iterator = self.iterator(top);
                self.push(iterator);
            }
            ValueOp::Closure(index) => {
                let frame = self.frames.len() - 1;
                self.push(Value::Closure(*index, frame));
            }
            ValueOp::Reorder(shape) => {
                let top = self.pop()?;
                let in_order = self.in_order(top, shape);
                self.push(in_order);
            }
        }
        Some(())
    }

    fn struct_op(&mut self, name: &Rc<str>, names: &Rc<[Rc<str>]>, has_base: bool) -> Option<()> {
        let values = self.pop_many(names.len())?;
        let mut fields = Fields::new();
        if has_base {
            let base = self.pop()?;
            match self.value(&base) {
                Value::Struct(_, base) => fields = (*base).clone(),
                _ => {
                    // The fields that are not named are not known.
                    self.push(Value::Unknown);
                    return Some(());
                }
            }
        }
        fields.extend(names.iter().cloned().zip(values));
        self.push(Value::Struct(name.clone(), Rc::new(fields)));
        Some(())
    }

    /// A list, unless it is too long to be followed.
    pub(super) fn listed(&self, parts: Vec<Value>) -> Value {
        if parts.len() <= LONGEST_LIST {
            return Value::list(parts);
        }
        if parts.iter().all(Value::is_uniform) {
            Value::uniform(&parts)
        } else {
            Value::Unknown
        }
    }
}
