//! `if`, `if let`, `match`, blocks with a value.

use super::Writer;
use crate::scope::{Hold, Type};
use crate::tree::Statement;

/// A head, and the variables that its pattern binds.
type Head = (String, Vec<(String, Type)>);

impl Writer {
    pub(super) fn branch(&mut self) -> Vec<Statement> {
        let (open, heads, close) = match self.random.below(7) {
            0 | 1 => self.if_chain(),
            2 => self.if_let(),
            3 => self.let_chain(),
            4 => self.match_number(),
            5 => self.match_kind(),
            _ => self.match_maybe(),
        };
        let parts = self.arms(heads);
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

    /// The bodies under heads of which one is taken.
    fn arms(&mut self, heads: Vec<Head>) -> Vec<(String, Vec<Statement>)> {
        let before = self.scope.moves();
        let mut after = before.clone();
        let mut parts = Vec::new();
        for (head, bound) in heads {
            self.scope.set_moves(&before);
            let mark = self.scope.enter();
            for (name, kind) in bound {
                self.scope.declare(&name, kind, Hold::Own, false);
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
            vec![(name, Type::Number)],
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
        let bound = vec![("y0".into(), Type::Number), ("y1".into(), Type::Number)];
        let mut heads = vec![(head, bound)];
        // With an `else`, ckpt takes a chain only if it binds no references, which it cannot always see.
        if self.random.chance(15) {
            heads.push(("} else {".into(), vec![]));
        }
        (None, heads, "}".into())
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
                vec![(name, Type::Number)],
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
            ("Kind::One(y2) => {".into(), vec![("y2".into(), Type::Number)]),
            (
                "Kind::Two { size, name } => {".into(),
                vec![("size".into(), Type::Number), ("name".into(), Type::Text)],
            ),
            ("Kind::Empty => {".into(), vec![]),
        ];
        (Some(format!("match {scrutinee} {{")), heads, "}".into())
    }

    fn match_maybe(&mut self) -> (Option<String>, Vec<Head>, String) {
        let heads = vec![
            (
                "Some(y3) if y3 % 2 == 0 => {".into(),
                vec![("y3".into(), Type::Number)],
            ),
            ("Some(y4) => {".into(), vec![("y4".into(), Type::Number)]),
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
