//! What is known of values that are the same on all ranks and not known: from `pi * pj == size` the numbers that `pi` and
//! `pj` can be.
//!
//! A number that stands for a value says nothing of how it was made, so that is remembered here, by the number.

use crate::values::{Binary, Value};
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::hash::{Hash, Hasher};
use std::rc::Rc;

/// Cases that are distinguished.
const MOST_CASES: usize = 64;

/// How a value was made.
#[derive(Debug, Clone)]
enum Made {
    Binary(Binary, Value, Value),
    Cast(Rc<str>, Value),
}

#[derive(Debug, Default)]
struct Known {
    made: HashMap<u64, Made>,
    /// The least number that a value can be.
    least: HashMap<u64, i128>,
    /// Values that stand for what some variable holds in one turn of a loop: they have one name for good.
    turns: HashSet<u64>,
}

/// What is known of the values of one exploration: all its ranks share it, and no two states are distinguished by it.
#[derive(Debug, Clone, Default)]
pub struct Provenance(Rc<RefCell<Known>>);

impl PartialEq for Provenance {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Provenance {}

impl Hash for Provenance {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}

/// Sums of sums deeper than this are not looked into for the least that they can be.
const DEEPEST: usize = 8;

impl Provenance {
    /// A value that is not known, the same wherever it is made of the same things, and at least this.
    pub(crate) fn at_least(&self, of: &impl Hash, least: Option<i128>) -> Value {
        let value = Value::uniform(&(of, least));
        if let (Value::Uniform(number), Some(least)) = (&value, least) {
            self.0.borrow_mut().least.insert(*number, least);
        }
        value
    }

    /// What a variable that holds this in one of the first turns of a loop holds in any turn.
    pub(crate) fn in_any_turn(&self, value: &Value) -> Value {
        let least = match value {
            Value::Int(number) => Some(*number),
            _ => None,
        };
        let symbol = self.at_least(&("turn", value), least);
        if let Value::Uniform(number) = symbol {
            self.0.borrow_mut().turns.insert(number);
        }
        symbol
    }

    /// Whether a value keeps its name for good.
    pub(crate) fn is_of_turn(&self, number: u64) -> bool {
        self.0.borrow().turns.contains(&(number & !1))
    }

    /// The least that a number can be, as far as that is known.
    pub(crate) fn least(&self, value: &Value) -> Option<i128> {
        self.least_in(value, DEEPEST)
    }

    fn least_in(&self, value: &Value, deep: usize) -> Option<i128> {
        let number = match value {
            Value::Int(known) => return Some(*known),
            Value::Uniform(number) if deep > 0 => *number,
            _ => return None,
        };
        if let Some(known) = self.0.borrow().least.get(&number).copied() {
            return Some(known);
        }
        match self.made(number)? {
            Made::Binary(Binary::Add, left, right) => self
                .least_in(&left, deep - 1)?
                .checked_add(self.least_in(&right, deep - 1)?),
            Made::Cast(to, of) if !to.starts_with('f') => self.least_in(&of, deep - 1),
            _ => None,
        }
    }

    /// What follows for a comparison from the least that its sides can be.
    pub(crate) fn compared(&self, operator: Binary, left: &Value, right: &Value) -> Option<bool> {
        match (operator, left, right) {
            (Binary::Lt, Value::Int(number), other) => (self.least(other)? > *number).then_some(true),
            (Binary::Lt, other, Value::Int(number)) => (self.least(other)? >= *number).then_some(false),
            (Binary::Le, Value::Int(number), other) => (self.least(other)? >= *number).then_some(true),
            (Binary::Le, other, Value::Int(number)) => (self.least(other)? > *number).then_some(false),
            (Binary::Eq, Value::Int(number), other) | (Binary::Eq, other, Value::Int(number)) => {
                (self.least(other)? > *number).then_some(false)
            }
            _ => None,
        }
    }

    fn remember(&self, value: &Value, how: Made) {
        if let Value::Uniform(number) = value {
            self.0.borrow_mut().made.insert(*number, how);
        }
    }

    /// Remembers what a value was computed from.
    pub(crate) fn note(&self, value: &Value, operator: Binary, left: &Value, right: &Value) {
        self.remember(value, Made::Binary(operator, left.clone(), right.clone()));
    }

    /// The same of `value as T`.
    pub(crate) fn note_cast(&self, value: &Value, to: &str, of: &Value) {
        self.remember(value, Made::Cast(to.into(), of.clone()));
    }

    fn made(&self, number: u64) -> Option<Made> {
        self.0.borrow().made.get(&number).cloned()
    }

    /// The numbers that a value was computed from; nothing where that is not known.
    pub(crate) fn operands(&self, number: u64) -> Option<Vec<u64>> {
        let parts = match self.made(number & !1)? {
            Made::Binary(_, left, right) => vec![left, right],
            Made::Cast(_, of) => vec![of],
        };
        let mut found = Vec::new();
        for part in &parts {
            part.map(&mut |part| {
                if let Value::Uniform(number) = part {
                    found.push(number & !1);
                }
                None
            });
        }
        Some(found)
    }

    /// The number of a value once those that it was computed from have other names; nothing where one of them has none.
    pub(crate) fn renamed(&self, number: u64, names: &HashMap<u64, u64>) -> Option<u64> {
        let polarity = number & 1;
        if self.is_of_turn(number) {
            return Some(number);
        }
        if let Some(new) = names.get(&(number & !1)) {
            return Some(new | polarity);
        }
        let again = |value: &Value| {
            let mut known = true;
            let value = value.map(&mut |part| match part {
                Value::Uniform(number) => {
                    let new = self.renamed(*number, names);
                    known &= new.is_some();
                    new.map(Value::Uniform)
                }
                _ => None,
            });
            known.then_some(value)
        };
        let value = match self.made(number & !1)? {
            Made::Binary(operator, left, right) => operator.apply(&again(&left)?, &again(&right)?, self),
            Made::Cast(to, of) => super::numbers::cast(&again(&of)?, &to, self),
        };
        match value {
            Value::Uniform(new) => Some(new ^ polarity),
            _ => None,
        }
    }

    /// The cases in which a question has this answer: `a * b == 6` with yes means that `a` is 1 and `b` is 6, or 2 and 3, and so
    /// on. Numbers of ranks in a dimension are taken to be positive. Nothing where the answer says nothing.
    pub(crate) fn cases(&self, question: u64, answer: bool) -> Option<Vec<Case>> {
        if (question & 1 == 0) != answer {
            return None;
        }
        let Made::Binary(Binary::Eq, left, right) = self.made(question & !1)? else {
            return None;
        };
        let (product, number) = match (left, right) {
            (Value::Int(number), product) | (product, Value::Int(number)) => (product, number),
            _ => return None,
        };
        let mut factors = Vec::new();
        let rest = self.take_apart(&product, number, &mut factors)?;
        let mut list = Vec::new();
        shares(&factors, rest, &mut Vec::new(), &mut list);
        (!list.is_empty() && list.len() <= MOST_CASES).then_some(list)
    }

    /// The factors that are not known, each with the numbers that stand for it; what those that are known leave of a number.
    fn take_apart(&self, product: &Value, number: i128, factors: &mut Vec<Vec<u64>>) -> Option<i128> {
        match product {
            Value::Int(known) if *known > 0 && number % known == 0 => Some(number / known),
            Value::Uniform(name) => match self.made(*name) {
                Some(Made::Binary(Binary::Mul, left, right)) => {
                    let rest = self.take_apart(&left, number, factors)?;
                    self.take_apart(&right, rest, factors)
                }
                Some(Made::Cast(_, of)) => {
                    let first = factors.len();
                    let rest = self.take_apart(&of, number, factors)?;
                    if let [only] = &mut factors[first..] {
                        only.push(*name);
                    }
                    Some(rest)
                }
                _ => {
                    factors.push(vec![*name]);
                    Some(number)
                }
            },
            _ => None,
        }
    }
}

/// What values stand for in one case.
pub(crate) type Case = Vec<(u64, Value)>;

fn shares(factors: &[Vec<u64>], rest: i128, case: &mut Case, list: &mut Vec<Case>) {
    let Some((first, others)) = factors.split_first() else {
        list.push(case.clone());
        return;
    };
    let is_last = others.is_empty();
    if is_last {
        push_share(first, rest, case, |case| list.push(case.clone()));
        return;
    }
    for share in 1..=rest.min(1 << 12) {
        if rest % share == 0 && list.len() <= MOST_CASES {
            push_share(first, share, case, |case| {
                shares(others, rest / share, case, list)
            });
        }
    }
}

fn push_share(names: &[u64], share: i128, case: &mut Case, then: impl FnOnce(&mut Case)) {
    let before = case.len();
    case.extend(names.iter().map(|name| (*name, Value::Int(share))));
    then(case);
    case.truncate(before);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_product_is_taken_apart() {
        let known = Provenance::default();
        let [a, b] = [1, 2].map(|at| Value::uniform(&at));
        let product = Binary::Mul.apply(&a, &b, &known);
        let Value::Uniform(question) = Binary::Ne.apply(&product, &Value::Int(6), &known) else {
            panic!("it is not known");
        };
        assert!(known.cases(question, true).is_none());
        let found = known.cases(question, false).unwrap();
        let pairs: Vec<Vec<&Value>> = found
            .iter()
            .map(|case| case.iter().map(|(_, value)| value).collect())
            .collect();
        let pair = |a: i128, b: i128| [a, b].map(Value::Int);
        assert_eq!(
            pairs,
            [pair(1, 6), pair(2, 3), pair(3, 2), pair(6, 1)]
                .each_ref()
                .map(|pair| pair.iter().collect::<Vec<_>>())
        );
    }
}
