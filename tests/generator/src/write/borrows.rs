//! References and closures that stay in scope.

use super::Writer;
use crate::scope::{Hold, Type};
use crate::tree::Statement;

impl Writer {
    /// `let r = &x;`, `let r = &mut x;` or the two halves of a list.
    pub(super) fn borrowing(&mut self) -> Vec<Statement> {
        let kinds = [
            Type::Number,
            Type::Text,
            Type::List,
            Type::Map,
            Type::State,
            Type::Array,
        ];
        let kind = self.random.pick(&kinds).unwrap_or(Type::List);
        let exclusive = self.random.chance(45);
        let places = if exclusive {
            self.scope.writable(kind)
        } else {
            self.scope.readable(kind)
        };
        let Some(at) = self.random.pick(&places) else {
            return vec![];
        };
        // A field of `self` locked by name would still be reachable through `self`.
        if exclusive && self.scope.get(at).name.starts_with("self.") {
            return vec![];
        }
        let place = self.scope.place(at);
        let name = self.fresh();
        let (hold, sign) = if exclusive {
            (Hold::Exclusive, "&mut ")
        } else {
            (Hold::Shared, "&")
        };
        let borrower = self.scope.declare(&name, kind, hold, false);
        self.scope.borrow(borrower, at, exclusive);
        vec![Statement::Line(format!("let {name} = {sign}{place};"))]
    }

    /// A closure that reads its surroundings.
    pub(super) fn closure(&mut self) -> Vec<Statement> {
        let numbers = self.scope.readable(Type::Number);
        let lists = self.scope.readable(Type::List);
        let mut captured: Vec<usize> = self.random.pick(&numbers).into_iter().collect();
        if self.random.chance(40) {
            captured.extend(self.random.pick(&lists));
        }
        let mut text = String::from("q");
        for at in &captured {
            let place = self.scope.place(*at);
            text = match self.scope.get(*at).kind {
                Type::List => format!("mix({text}, {place}.len() as u64)"),
                _ => format!("mix({text}, {place})"),
            };
        }
        self.names += 1;
        let name = format!("f_{}", self.names);
        let closure = self.scope.declare(&name, Type::Closure, Hold::Own, false);
        captured
            .into_iter()
            .for_each(|at| self.scope.borrow(closure, at, false));
        vec![Statement::Line(format!("let {name} = |q: u64| {text};"))]
    }
}
