//! Lists: vectors, slices, arrays and iterators, as far as their elements are distinguished.

use super::{LONGEST_LIST, Rank, View};
use crate::skeleton::Method;
use crate::skeleton::std_calls::{ListCall, PartCall};
use crate::values::numbers;
use crate::values::{MemoryPlace, Projection, Value};
use std::rc::Rc;

impl Rank {
    pub(crate) fn list(
        &mut self,
        method: &Method,
        parts: &Rc<Vec<Value>>,
        receiver: &Value,
        arguments: &[Value],
        view: &mut View<'_>,
    ) -> bool {
        let place = match self.followed(receiver.clone()) {
            Value::Ref(place) => Some(place),
            _ => None,
        };
        let first = arguments.first().map(|one| self.value(one));
        let number = match &first {
            Some(Value::Int(number)) => usize::try_from(*number).ok(),
            _ => None,
        };
        if let Some(found) = self.part_of_list(method, parts, &place, first.as_ref()) {
            self.push(found);
            return true;
        }
        if let Some(call) = method.std.traversals
            && arguments.len() == 1
        {
            self.each(call, first.unwrap_or_default(), (**parts).clone(), view);
            return true;
        }
        let Some(call) = method.std.lists else {
            return false;
        };
        let found = match (call, arguments.len()) {
            (ListCall::Iterate, 0) if !self.is_lent(receiver) => Value::List(Rc::clone(parts)),
            (ListCall::Iterate | ListCall::IterateExclusive, 0) => match &place {
                Some(place) => Value::list((0..parts.len()).map(|at| element(place, at)).collect()),
                None => return false,
            },
            (ListCall::Length, 0) => Value::Int(parts.len() as i128),
            (ListCall::IsEmpty, 0) => Value::Bool(parts.is_empty()),
            (ListCall::Itself, 0) => Value::List(Rc::clone(parts)),
            (ListCall::Next, 0) => {
                let first = parts.first().cloned().map_or_else(Value::none, Value::some);
                self.rewrite(place, parts.iter().skip(1).cloned().collect());
                first
            }
            (ListCall::Append, 1) => {
                let mut longer = (**parts).clone();
                longer.extend(arguments.iter().cloned());
                self.rewrite(place, longer);
                Value::Unit
            }
            (ListCall::TakeLast, 0) => {
                let mut shorter = (**parts).clone();
                let last = shorter.pop();
                self.rewrite(place, shorter);
                last.map_or_else(Value::none, Value::some)
            }
            (ListCall::Clear, 0) => {
                self.rewrite(place, Vec::new());
                Value::Unit
            }
            (ListCall::Drain, 1) => {
                self.rewrite(place, Vec::new());
                match &first {
                    Some(Value::Range(range)) if range[0] == Value::Unit && range[1] == Value::Unit => {
                        Value::List(Rc::clone(parts))
                    }
                    _ => return false,
                }
            }
            (ListCall::Reverse, 0) => Value::list(parts.iter().rev().cloned().collect()),
            (ListCall::Skip, 1) if number.is_some() => {
                Value::list(parts.iter().skip(number.unwrap_or(0)).cloned().collect())
            }
            (ListCall::Take, 1) if number.is_some() => {
                Value::list(parts.iter().take(number.unwrap_or(0)).cloned().collect())
            }
            (ListCall::StepBy, 1) if number.is_some_and(|by| by > 0) => {
                Value::list(parts.iter().step_by(number.unwrap_or(1)).cloned().collect())
            }
            (ListCall::Enumerate, 0) => {
                let pairs = parts.iter().enumerate();
                Value::list(
                    pairs
                        .map(|(at, one)| Value::tuple(vec![Value::Int(at as i128), one.clone()]))
                        .collect(),
                )
            }
            (ListCall::Flatten, 0) => match flattened(parts) {
                Some(list) => Value::list(list),
                None => return false,
            },
            (ListCall::Zip | ListCall::Chain | ListCall::Contains | ListCall::Extend, 1) => {
                let other = first.as_ref().and_then(|other| self.as_list(other, parts.len()));
                match self.with_list(call, parts, other, first, place) {
                    Some(value) => value,
                    None => return false,
                }
            }
            (_, 0) => match folded(call, parts) {
                Some(value) => value,
                None => return false,
            },
            _ => return false,
        };
        self.push(found);
        true
    }

    fn with_list(
        &mut self,
        call: ListCall,
        parts: &[Value],
        other: Option<Vec<Value>>,
        first: Option<Value>,
        place: Option<MemoryPlace>,
    ) -> Option<Value> {
        if call == ListCall::Contains {
            let known = |one: &Value| matches!(one, Value::Int(_) | Value::Bool(_) | Value::Text(_));
            let wanted = first.filter(known)?;
            return parts
                .iter()
                .all(known)
                .then(|| Value::Bool(parts.contains(&wanted)));
        }
        let other = other?;
        Some(match call {
            ListCall::Zip => {
                let pairs = parts.iter().cloned().zip(other);
                Value::list(pairs.map(|(a, b)| Value::tuple(vec![a, b])).collect())
            }
            ListCall::Chain => self.listed(parts.iter().cloned().chain(other).collect()),
            _ => {
                self.rewrite(place, parts.iter().cloned().chain(other).collect());
                Value::Unit
            }
        })
    }

    fn as_list(&self, value: &Value, most: usize) -> Option<Vec<Value>> {
        match value {
            Value::List(parts) => Some((**parts).clone()),
            Value::Range(range) if range[1] == Value::Unit => match &range[0] {
                Value::Int(from) => Some((0..most as i128).map(|at| Value::Int(from + at)).collect()),
                _ => None,
            },
            Value::Range(range) => numbers::numbers(range, LONGEST_LIST),
            _ => None,
        }
    }

    fn rewrite(&mut self, place: Option<MemoryPlace>, parts: Vec<Value>) {
        if let Some(place) = place {
            let list = self.listed(parts);
            self.put(&place, list);
        }
    }

    /// Parts of a list, by exclusive reference where the method gives them so.
    fn part_of_list(
        &self,
        method: &Method,
        parts: &[Value],
        place: &Option<MemoryPlace>,
        first: Option<&Value>,
    ) -> Option<Value> {
        let call = method.std.parts?;
        let elements: Vec<Value> = match (method.exclusive, place) {
            (false, _) => parts.to_vec(),
            (true, Some(place)) => (0..parts.len()).map(|at| element(place, at)).collect(),
            (true, _) if parts.iter().all(|one| matches!(one, Value::Ref(_))) => parts.to_vec(),
            (true, _) => return None,
        };
        let number = match first {
            Some(Value::Int(number)) => usize::try_from(*number).ok(),
            _ => None,
        };
        let option = |found: Option<Value>| found.map_or_else(Value::none, Value::some);
        let list = |parts: &[Value]| Value::list(parts.to_vec());
        Some(match (call, number) {
            (PartCall::First, None) => option(elements.first().cloned()),
            (PartCall::Last, None) => option(elements.last().cloned()),
            (PartCall::Get, Some(at)) => option(elements.get(at).cloned()),
            (PartCall::SplitFirst, None) => {
                let parts = elements.split_first();
                option(parts.map(|(one, rest)| Value::tuple(vec![one.clone(), list(rest)])))
            }
            (PartCall::SplitLast, None) => {
                let parts = elements.split_last();
                option(parts.map(|(one, rest)| Value::tuple(vec![one.clone(), list(rest)])))
            }
            (PartCall::SplitAt, Some(at)) if at <= elements.len() => {
                Value::tuple(vec![list(&elements[..at]), list(&elements[at..])])
            }
            (PartCall::Chunks, Some(by)) if by > 0 => Value::list(elements.chunks(by).map(list).collect()),
            (PartCall::ChunksExact, Some(by)) if by > 0 => {
                Value::list(elements.chunks_exact(by).map(list).collect())
            }
            (PartCall::Windows, Some(by)) if by > 0 => Value::list(elements.windows(by).map(list).collect()),
            _ => return None,
        })
    }

    /// Whether what is there belongs to others: an iterator over it yields references.
    pub(crate) fn is_lent(&self, receiver: &Value) -> bool {
        match receiver {
            Value::Ref(place) => {
                place.frame + 1 < self.frames.len() || matches!(self.at_place(place), Some(Value::Ref(_)))
            }
            _ => false,
        }
    }

    /// What an iteration over a value goes over.
    pub(crate) fn iterator(&mut self, top: Value) -> Value {
        if let Value::Ref(place) = self.followed(top.clone()) {
            return self.lent_iterator(&place);
        }
        match top {
            Value::Variant(name, parts) if &*name == "Some" => Value::List(parts),
            Value::Variant(name, _) if &*name == "None" => Value::list(Vec::new()),
            other => other,
        }
    }

    /// An iterator that yields references to what is at a place.
    pub(crate) fn lent_iterator(&mut self, place: &MemoryPlace) -> Value {
        match self.at_place(place).unwrap_or_default() {
            Value::List(parts) => Value::list((0..parts.len()).map(|at| element(place, at)).collect()),
            Value::Summary(parts) => {
                let [from, count, _] = &*parts;
                Value::Summary(Rc::new([from.clone(), count.clone(), some_element(place)]))
            }
            // An iterator that is lent itself.
            found @ Value::Range(_) => found,
            Value::Variant(name, _) if &*name == "Some" => {
                let mut part = place.clone();
                part.path.push(Projection::Part(0));
                Value::list(vec![Value::Ref(part)])
            }
            Value::Variant(name, _) if &*name == "None" => Value::list(Vec::new()),
            // How many elements there are stays as it is; what they are is not known from now on.
            other => match other.length(&self.provenance).filter(|_| other.is_data()) {
                Some(count) => {
                    self.put(place, Value::summary(count.clone(), Value::Data));
                    Value::summary(count, some_element(place))
                }
                None => {
                    self.forget(place, None);
                    Value::Unknown
                }
            },
        }
    }
}

/// The element of a list at this index, by reference.
pub(crate) fn element(place: &MemoryPlace, at: usize) -> Value {
    let mut place = place.clone();
    place.path.push(Projection::Index(at));
    Value::Ref(place)
}

/// An element of a list in which they are not distinguished.
pub(crate) fn some_element(place: &MemoryPlace) -> Value {
    let mut place = place.clone();
    place.path.push(Projection::Any);
    Value::Ref(place)
}

fn flattened(parts: &[Value]) -> Option<Vec<Value>> {
    let mut list = Vec::new();
    for part in parts {
        match part {
            Value::List(inner) => list.extend(inner.iter().cloned()),
            Value::Variant(name, inner) if matches!(&**name, "Some" | "None" | "Ok") => {
                list.extend(inner.iter().cloned())
            }
            _ => return None,
        }
    }
    Some(list)
}

fn folded(call: ListCall, parts: &[Value]) -> Option<Value> {
    let numbers: Option<Vec<i128>> = parts
        .iter()
        .map(|part| match part {
            Value::Int(number) => Some(*number),
            _ => None,
        })
        .collect();
    let numbers = numbers?;
    Some(match call {
        ListCall::Sum if !numbers.is_empty() => Value::Int(numbers.iter().sum()),
        ListCall::Product if !numbers.is_empty() => {
            Value::Int(numbers.iter().try_fold(1_i128, |a, b| a.checked_mul(*b))?)
        }
        ListCall::Least => numbers
            .iter()
            .min()
            .map_or_else(Value::none, |one| Value::some(Value::Int(*one))),
        ListCall::Greatest => numbers
            .iter()
            .max()
            .map_or_else(Value::none, |one| Value::some(Value::Int(*one))),
        _ => return None,
    })
}
