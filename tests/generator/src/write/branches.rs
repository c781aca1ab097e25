//! `if`, `if let`, `match`, blocks with a value.

use super::Writer;
use crate::scope::{Hold, Type};
use crate::tree::Statement;

/// A head, and the variables that its pattern binds.
type Head = (String, Vec<(String, Type, Hold)>);

/// A variable that is bound by value.
fn own(name: impl Into<String>, kind: Type) -> (String, Type, Hold) {
    (name.into(), kind, Hold::Own)
}

/// The branches as one statement: the arms of what `open` opens, or parts one after the other.
fn whole(open: Option<String>, parts: Vec<(String, Vec<Statement>)>, close: String) -> Vec<Statement> {
    match open {
        Some(open) => {
            let arms = parts
                .into_iter()
                .map(|(head, body)| Statement::block(head, body, "}"))
                .collect();
            vec![Statement::block(open, arms, close)]
        }
        None => vec![Statement::Block { parts, close }],
    }
}

impl Writer {
    pub(super) fn branch(&mut self) -> Vec<Statement> {
        match self.random.below(12) {
            0 => return self.borrowing_chain(),
            1 => return self.match_place(),
            _ => {}
        }
        let (open, heads, close) = match self.random.below(7) {
            0 | 1 => self.if_chain(),
            2 => self.if_let(),
            3 => self.let_chain(),
            4 => self.match_number(),
            5 => self.match_kind(),
            _ => self.match_maybe(),
        };
        let parts = self.arms(heads);
        whole(open, parts, close)
    }

    /// The bodies under heads of which one is taken.
    fn arms(&mut self, heads: Vec<Head>) -> Vec<(String, Vec<Statement>)> {
        let before = self.scope.moves();
        let mut after = before.clone();
        let mut parts = Vec::new();
        for (head, bound) in heads {
            self.scope.set_moves(&before);
            let mark = self.scope.enter();
            for (name, kind, hold) in bound {
                self.scope.declare(&name, kind, hold, false);
            }
            let body = self.scoped();
            self.scope.leave(mark);
            after
                .iter_mut()
                .zip(self.scope.moves())
                .for_each(|(all, one)| *all |= one);
            parts.push((head, body));
        }
        self.scope.set_moves(&after);
        parts
    }

    fn if_chain(&mut self) -> (Option<String>, Vec<Head>, String) {
        let mut heads = vec![(format!("if {} {{", self.flag(2)), vec![])];
        if self.random.chance(40) {
            heads.push((format!("}} else if {} {{", self.flag(1)), vec![]));
        }
        if self.random.chance(60) {
            heads.push(("} else {".into(), vec![]));
        }
        (None, heads, "}".into())
    }

    fn if_let(&mut self) -> (Option<String>, Vec<Head>, String) {
        let lists = self.scope.writable(Type::List);
        let scrutinee = match self.random.pick(&lists) {
            Some(at) if self.random.chance(40) => format!("{}.pop()", self.scope.place(at)),
            _ => self.maybe(1),
        };
        let name = self.fresh();
        let mut heads = vec![(
            format!("if let Some({name}) = {scrutinee} {{"),
            vec![own(name, Type::Number)],
        )];
        if self.random.chance(60) {
            heads.push(("} else {".into(), vec![]));
        }
        (None, heads, "}".into())
    }

    fn let_chain(&mut self) -> (Option<String>, Vec<Head>, String) {
        let (scrutinee, second, flag) = (self.maybe(1), self.maybe(1), self.flag(1));
        let head = format!(
            "if let Some(y0) = {scrutinee} && {flag} && let Some(y1) = {second} && mix(y0, y1) % 3 > 0 {{"
        );
        let bound = vec![own("y0", Type::Number), own("y1", Type::Number)];
        let mut heads = vec![(head, bound)];
        if self.random.chance(40) {
            heads.push(("} else {".into(), vec![]));
        }
        (None, heads, "}".into())
    }

    /// A chain that looks into a list, which stays borrowed.
    fn borrowing_chain(&mut self) -> Vec<Statement> {
        let places = self.scope.readable(Type::List);
        let Some(at) = self.random.pick(&places) else {
            return self.branch();
        };
        let (scrutinee, place) = (self.maybe(1), self.scope.place(at));
        let head = format!(
            "if let Some(y6) = {scrutinee} && let Some(y7) = {place}.get(1) && mix(y6, *y7) % 3 > 0 {{"
        );
        let bound = vec![
            own("y6", Type::Number),
            ("y7".to_string(), Type::Number, Hold::Shared),
        ];
        self.under_borrow(at, vec![(head, bound), ("} else {".into(), vec![])], None)
    }

    /// A `match` over a variable of which one arm takes a part and another borrows one.
    fn match_place(&mut self) -> Vec<Statement> {
        let places = self.scope.movable(Type::Kind);
        let Some(at) = self.random.pick(&places) else {
            return self.branch();
        };
        let place = self.scope.place(at);
        let name = ("name".to_string(), Type::Text, Hold::Shared);
        let heads = vec![
            (
                "Kind::Two { size, name } if size % 3 == 0 => {".to_string(),
                vec![own("size", Type::Number), own("name", Type::Text)],
            ),
            ("Kind::Two { ref name, .. } => {".to_string(), vec![name]),
            ("Kind::One(y2) => {".to_string(), vec![own("y2", Type::Number)]),
            ("Kind::Empty => {".to_string(), vec![]),
        ];
        // Gone on one way is gone, and while it is looked at nobody may touch it.
        let all = self.under_borrow(at, heads, Some(format!("match {place} {{")));
        self.scope.take(at);
        all
    }

    /// Branches during which a variable is borrowed and not to be mentioned.
    fn under_borrow(&mut self, at: usize, heads: Vec<Head>, open: Option<String>) -> Vec<Statement> {
        let mark = self.scope.enter();
        let holder = self.scope.declare("(borrow)", Type::Closure, Hold::Own, false);
        self.scope.avoided.insert(holder);
        let is_new = open.is_some() && self.scope.avoided.insert(at);
        self.scope.borrow(holder, at, false);
        let parts = self.arms(heads);
        self.scope.avoided.remove(&holder);
        if is_new {
            self.scope.avoided.remove(&at);
        }
        self.scope.leave(mark);
        whole(open, parts, "}".into())
    }

    fn match_number(&mut self) -> (Option<String>, Vec<Head>, String) {
        let name = "y5".to_string();
        let guard = if self.random.chance(30) {
            format!(" if {}", self.flag(1))
        } else {
            String::new()
        };
        let heads = vec![
            ("0 => {".into(), vec![]),
            (
                format!("{name} @ (1 | 2){guard} => {{"),
                vec![own(name, Type::Number)],
            ),
            ("_ => {".into(), vec![]),
        ];
        (
            Some(format!("match mix({}, 5) % 4 {{", self.number(1))),
            heads,
            "}".into(),
        )
    }

    fn match_kind(&mut self) -> (Option<String>, Vec<Head>, String) {
        let places = self.scope.readable(Type::Kind);
        let scrutinee = match self.random.pick(&places) {
            Some(at) if self.random.chance(40) => format!("{}.clone()", self.scope.place(at)),
            _ => format!("Kind::pick({})", self.number(1)),
        };
        let heads = vec![
            ("Kind::One(y2) => {".into(), vec![own("y2", Type::Number)]),
            (
                "Kind::Two { size, name } => {".into(),
                vec![own("size", Type::Number), own("name", Type::Text)],
            ),
            ("Kind::Empty => {".into(), vec![]),
        ];
        (Some(format!("match {scrutinee} {{")), heads, "}".into())
    }

    fn match_maybe(&mut self) -> (Option<String>, Vec<Head>, String) {
        let heads = vec![
            (
                "Some(y3) if y3 % 2 == 0 => {".into(),
                vec![own("y3", Type::Number)],
            ),
            ("Some(y4) => {".into(), vec![own("y4", Type::Number)]),
            ("None => {".into(), vec![]),
        ];
        (Some(format!("match {} {{", self.maybe(1))), heads, "}".into())
    }

    /// `let x = { .. value };`, or the value of an `if`.
    pub(super) fn valued_block(&mut self, kind: Type, keyword: &str, mutable: bool) -> Statement {
        let name = self.fresh();
        let heads = match self.random.chance(50) {
            true => vec![format!("{keyword} {name} = {{")],
            false => vec![
                format!("{keyword} {name} = if {} {{", self.flag(1)),
                "} else {".into(),
            ],
        };
        let before = self.scope.moves();
        let mut after = before.clone();
        let mut parts = Vec::new();
        for head in heads {
            self.scope.set_moves(&before);
            let mark = self.scope.enter();
            let mut body = if self.random.chance(60) {
                self.statements()
            } else {
                vec![]
            };
            if self.random.chance(50) {
                body.extend(self.last_site());
            }
            body.push(Statement::Line(self.value(kind, 1)));
            self.scope.leave(mark);
            after
                .iter_mut()
                .zip(self.scope.moves())
                .for_each(|(all, one)| *all |= one);
            parts.push((head, body));
        }
        self.scope.set_moves(&after);
        self.scope.declare(&name, kind, Hold::Own, mutable);
        Statement::Block {
            parts,
            close: "};".into(),
        }
    }

    /// A labelled block that is left early, sometimes with a value.
    pub(super) fn labelled_block(&mut self) -> Vec<Statement> {
        self.names += 1;
        let label = format!("b{}", self.names);
        let mark = self.scope.enter();
        let mut body = self.statements();
        body.push(Statement::Line(format!(
            "if {} {{ break '{label} {}; }}",
            self.flag(1),
            self.number(1)
        )));
        body.extend(self.last_site());
        body.push(Statement::Line(self.number(1)));
        self.scope.leave(mark);
        let name = self.fresh();
        self.scope.declare(&name, Type::Number, Hold::Own, true);
        vec![Statement::block(
            format!("let mut {name} = '{label}: {{"),
            body,
            "};",
        )]
    }
}
