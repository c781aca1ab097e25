//! Loops of every kind, all of which end.

use super::{Around, Writer, site};
use crate::scope::{Hold, Type};
use crate::tree::Statement;

/// Loops may be nested so deep: the visits multiply.
const DEEPEST: usize = 3;

impl Writer {
    pub(super) fn looping(&mut self) -> Vec<Statement> {
        if self.scope.loops >= DEEPEST {
            return vec![site(), self.trace()];
        }
        self.names += 1;
        let label = format!("l{}", self.names);
        match self.random.below(14) {
            0..=3 => self.for_range(&label),
            4..=7 => self.for_list(&label),
            8 => self.for_owned(&label),
            9 => self.for_map(&label),
            10 => self.while_counting(&label),
            11 => self.while_pop(&label),
            12 => self.loop_with_value(&label),
            _ => self.for_text(&label),
        }
    }

    /// The statements in a loop, with what its head binds.
    fn body_of(&mut self, label: &str, bound: &[(String, Type, Hold)], can_continue: bool) -> Vec<Statement> {
        let moves = self.scope.moves();
        let mark = self.scope.enter();
        self.scope.loops += 1;
        for (name, kind, hold) in bound {
            self.scope.declare(name, *kind, *hold, false);
        }
        self.around.push(Around {
            label: label.to_string(),
            can_continue,
        });
        let body = self.scoped();
        self.around.pop();
        self.scope.loops -= 1;
        self.scope.leave(mark);
        self.scope.join_moves(&moves);
        body
    }

    fn for_range(&mut self, label: &str) -> Vec<Statement> {
        let (low, high) = (self.random.below(3), 3 + self.random.below(2));
        let name = self.fresh();
        let range = match self.random.below(6) {
            0 => format!("{low}..={high}"),
            1 => format!("({low}..{high}).rev()"),
            2 => format!("({low}..{}).step_by(3)", high + 6),
            3 => format!("(0..mix({}, 4) % 4)", self.number(1)),
            4 => format!("({low}..={high}).rev().skip(1)"),
            _ => format!("{low}..{high}"),
        };
        let body = self.body_of(label, &[(name.clone(), Type::Number, Hold::Own)], true);
        vec![Statement::block(
            format!("'{label}: for {name} in {range} {{"),
            body,
            "}",
        )]
    }

    /// Over a list that stays borrowed.
    fn for_list(&mut self, label: &str) -> Vec<Statement> {
        let places = self.scope.readable(Type::List);
        let Some(at) = self.random.pick(&places) else {
            return self.for_range(label);
        };
        let place = self.scope.place(at);
        let (index, item) = (format!("i_{label}"), self.fresh());
        let number = (item.clone(), Type::Number, Hold::Shared);
        let counted = (index.clone(), Type::Number, Hold::Own);
        let (head, bound) = match self.random.below(6) {
            0 => (format!("{item} in &{place}"), vec![number]),
            1 => (
                format!("({index}, {item}) in (0u64..).zip({place}.iter())"),
                vec![counted, number],
            ),
            2 => (format!("{item} in {place}.iter().rev().take(3)"), vec![number]),
            3 => (
                format!("({index}, {item}) in {place}.iter().map(|q| mix(*q, 1)).zip({place}.iter())"),
                vec![counted, number],
            ),
            4 => (
                format!("{item} in {place}.iter().copied().filter(|q| q % 3 != 0)"),
                vec![(item.clone(), Type::Number, Hold::Own)],
            ),
            _ => (
                format!("{item} in {place}.chunks(2).map(|q| digest(q))"),
                vec![(item.clone(), Type::Number, Hold::Own)],
            ),
        };
        // Held by the iterator for as long as the loop runs.
        let mark = self.scope.enter();
        let holder = self.scope.declare("(iterator)", Type::Closure, Hold::Own, false);
        self.scope.avoided.insert(holder);
        self.scope.borrow(holder, at, false);
        let mut body = self.body_of(label, &bound, true);
        self.scope.avoided.remove(&holder);
        self.scope.leave(mark);
        // Lists grow, the loop stays short.
        body.insert(
            0,
            Statement::Line(format!("if {} == 0 {{ break '{label}; }}", sum_of(&bound))),
        );
        vec![Statement::block(format!("'{label}: for {head} {{"), body, "}")]
    }

    fn for_owned(&mut self, label: &str) -> Vec<Statement> {
        let list = self.list(1);
        let item = self.fresh();
        let body = self.body_of(label, &[(item.clone(), Type::Number, Hold::Own)], true);
        vec![Statement::block(
            format!("'{label}: for {item} in {list} {{"),
            body,
            "}",
        )]
    }

    fn for_map(&mut self, label: &str) -> Vec<Statement> {
        let places = self.scope.readable(Type::Map);
        let Some(at) = self.random.pick(&places) else {
            return self.for_owned(label);
        };
        let place = self.scope.place(at);
        let bound = [
            ("key".to_string(), Type::Number, Hold::Shared),
            ("held".to_string(), Type::Number, Hold::Shared),
        ];
        let mark = self.scope.enter();
        let holder = self.scope.declare("(iterator)", Type::Closure, Hold::Own, false);
        self.scope.avoided.insert(holder);
        self.scope.borrow(holder, at, false);
        let body = self.body_of(label, &bound, true);
        self.scope.avoided.remove(&holder);
        self.scope.leave(mark);
        vec![Statement::block(
            format!("'{label}: for (key, held) in &{place} {{"),
            body,
            "}",
        )]
    }

    fn while_counting(&mut self, label: &str) -> Vec<Statement> {
        self.names += 1;
        let counter = format!("turn{}", self.names);
        let bound = [(counter.clone(), Type::Number, Hold::Own)];
        let condition = if self.random.chance(40) {
            format!(" && !({})", self.flag(1))
        } else {
            String::new()
        };
        let first = self.random.chance(50);
        let mut body = self.body_of(label, &bound, first);
        let step = Statement::Line(format!("{counter} += 1;"));
        if first {
            body.insert(0, step)
        } else {
            body.push(step)
        }
        vec![
            Statement::Line(format!("let mut {counter} = 0;")),
            Statement::block(
                format!(
                    "'{label}: while {counter} < {}{condition} {{",
                    2 + self.random.below(3)
                ),
                body,
                "}",
            ),
        ]
    }

    /// Works off a list of its own.
    fn while_pop(&mut self, label: &str) -> Vec<Statement> {
        self.names += 1;
        let stack = format!("stack{}", self.names);
        let item = self.fresh();
        let list = self.list(1);
        let body = self.body_of(label, &[(item.clone(), Type::Number, Hold::Own)], true);
        vec![
            Statement::Line(format!("let mut {stack} = {list};")),
            Statement::Line(format!("{stack}.truncate(4);")),
            Statement::block(
                format!("'{label}: while let Some({item}) = {stack}.pop() {{"),
                body,
                "}",
            ),
        ]
    }

    fn loop_with_value(&mut self, label: &str) -> Vec<Statement> {
        self.names += 1;
        let counter = format!("turn{}", self.names);
        let mut body = vec![Statement::Line(format!("{counter} += 1;"))];
        // Not pushed to `around`: its exits need a value.
        let moves = self.scope.moves();
        let mark = self.scope.enter();
        self.scope.declare(&counter, Type::Number, Hold::Own, false);
        self.scope.loops += 1;
        body.extend(self.statements());
        if self.random.chance(50) {
            body.push(site());
        }
        let (value, early, most) = (self.number(1), self.flag(0), 1 + self.random.below(3));
        body.push(Statement::Line(format!(
            "if {counter} > {most} || {early} {{ break '{label} {value}; }}"
        )));
        if self.random.chance(50) {
            body.push(site());
        }
        self.scope.loops -= 1;
        self.scope.leave(mark);
        self.scope.join_moves(&moves);
        let name = self.fresh();
        self.scope.declare(&name, Type::Number, Hold::Own, true);
        vec![
            Statement::Line(format!("let mut {counter} = 0;")),
            Statement::block(format!("let mut {name} = '{label}: loop {{"), body, "};"),
        ]
    }

    fn for_text(&mut self, label: &str) -> Vec<Statement> {
        let word = self.text(1);
        self.names += 1;
        let name = format!("text{}", self.names);
        let body = self.body_of(label, &[("at".into(), Type::Number, Hold::Own)], true);
        vec![
            Statement::Line(format!("let {name} = {word};")),
            Statement::block(
                format!("'{label}: for at in {name}.bytes().map(u64::from).take(4) {{"),
                body,
                "}",
            ),
        ]
    }
}

/// A small number made of all that a loop's head binds.
fn sum_of(bound: &[(String, Type, Hold)]) -> String {
    let place = |(name, _, hold): &(String, Type, Hold)| match hold {
        Hold::Shared => format!("*{name}"),
        _ => name.clone(),
    };
    format!(
        "digest(&[{}]) % 7",
        bound.iter().map(place).collect::<Vec<_>>().join(", ")
    )
}
