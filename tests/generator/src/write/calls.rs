//! Calls that lead to sites.

use super::{Callee, Pass, Returns, Writer};
use crate::scope::{Hold, Type};
use crate::tree::Statement;

impl Writer {
    /// A call of another function of the program, used in one of the ways its result allows.
    pub(super) fn call(&mut self) -> Vec<Statement> {
        // Calls in loops in calls: the visits multiply.
        let Some(callee) = self.random.pick(&self.callees) else {
            return self.looping();
        };
        if self.around.len() > 1 {
            return vec![];
        }
        let inside = callee.recursive && self.is_inside(&callee);
        let (mark, moves) = (self.scope.enter(), self.scope.moves());
        let (mut all, call) = self.called(&callee, if inside { "depth - 1" } else { "2" });
        self.calls.push(callee.name.clone());
        all.extend(self.used(&callee, call));
        if inside {
            self.scope.leave(mark);
            self.scope.join_moves(&moves);
            return vec![Statement::block("if depth > 0 {", all, "}")];
        }
        all
    }

    /// Whether the function being written is `callee`.
    fn is_inside(&self, callee: &Callee) -> bool {
        self.callees.last().is_some_and(|last| last.name == callee.name)
            && self
                .scope
                .readable(Type::Number)
                .iter()
                .any(|at| self.scope.get(*at).name == "depth")
    }

    /// Statements that prepare the arguments, and the call.
    fn called(&mut self, callee: &Callee, depth: &str) -> (Vec<Statement>, String) {
        let mut before = Vec::new();
        let mut arguments = Vec::new();
        let outer = self.scope.avoided.clone();
        let mut receiver = String::new();
        if callee.method {
            let (place, made) = self.lent(Type::State, true);
            before.extend(made);
            receiver = format!("{place}.");
        }
        for (kind, pass) in &callee.parameters {
            match pass {
                Pass::Value => {
                    let value = self.value(*kind, 1);
                    self.names += 1;
                    let name = format!("arg{}", self.names);
                    // Evaluated before anything is lent.
                    before.push(Statement::Line(format!("let {name} = {value};")));
                    arguments.push(name);
                }
                Pass::Shared | Pass::Exclusive => {
                    let exclusive = *pass == Pass::Exclusive;
                    let (place, made) = self.lent(*kind, exclusive);
                    before.extend(made);
                    arguments.push(format!("{}{place}", if exclusive { "&mut " } else { "&" }));
                }
            }
        }
        if callee.recursive {
            arguments.push(depth.to_string());
        }
        self.scope.avoided = outer;
        (
            before,
            format!("{receiver}{}({})", callee.name, arguments.join(", ")),
        )
    }

    /// A place that can be lent, made now if there is none; nothing else in the statement touches it.
    pub(super) fn lent(&mut self, kind: Type, exclusive: bool) -> (String, Option<Statement>) {
        let places = if exclusive {
            self.scope.writable(kind)
        } else {
            self.scope.readable(kind)
        };
        if let Some(at) = self.random.pick(&places) {
            let owner = self
                .scope
                .get(at)
                .name
                .split('.')
                .next()
                .unwrap_or("")
                .to_string();
            self.scope.avoided.insert(at);
            if owner == "self" {
                for field in self.scope.all_readable() {
                    if self.scope.get(field).name.starts_with("self.") {
                        self.scope.avoided.insert(field);
                    }
                }
            }
            return (self.scope.place(at), None);
        }
        let value = self.value(kind, 1);
        self.names += 1;
        let name = format!("lent{}", self.names);
        let at = self.scope.declare(&name, kind, Hold::Own, true);
        self.scope.avoided.insert(at);
        (
            name.clone(),
            Some(Statement::Line(format!("let mut {name} = {value};"))),
        )
    }

    fn used(&mut self, callee: &Callee, call: String) -> Vec<Statement> {
        let name = self.fresh();
        let question = !self.confined
            && matches!(
                (callee.returns, self.returns),
                (Returns::Maybe, Returns::Maybe) | (Returns::Outcome, Returns::Outcome)
            );
        match (callee.returns, self.random.below(5)) {
            (Returns::Nothing, _) => vec![Statement::Line(format!("{call};"))],
            (Returns::Maybe | Returns::Outcome, 0 | 1) if question => {
                self.scope.declare(&name, Type::Number, Hold::Own, true);
                vec![Statement::Line(format!("let mut {name} = {call}?;"))]
            }
            (Returns::Maybe, 0..=2) => {
                let mark = self.scope.enter();
                self.scope.declare(&name, Type::Number, Hold::Own, false);
                let moves = self.scope.moves();
                let body = self.scoped();
                self.scope.leave(mark);
                self.scope.join_moves(&moves);
                vec![Statement::block(
                    format!("if let Some({name}) = {call} {{"),
                    body,
                    "}",
                )]
            }
            (Returns::Outcome, 0..=2) => {
                let arms = vec![
                    Statement::Line(format!("Ok({name}) => println!(\"ok {{}}\", {name}),")),
                    Statement::Line("Err(error) => println!(\"error {error}\"),".into()),
                ];
                vec![Statement::block(format!("match {call} {{"), arms, "}")]
            }
            (Returns::Number, 0) => vec![Statement::Line(format!("{call};"))],
            (Returns::Number, 1) => {
                self.scope.declare(&name, Type::Number, Hold::Own, true);
                vec![Statement::Line(format!("let mut {name} = mix({call}, 3);"))]
            }
            (Returns::Number, 2 | 3) if !self.scope.writable(Type::Number).is_empty() => {
                vec![self.accumulated(&call)]
            }
            (Returns::Number, _) => {
                self.scope.declare(&name, Type::Number, Hold::Own, true);
                vec![Statement::Line(format!("let mut {name} = {call};"))]
            }
            (Returns::Maybe, _) => {
                self.scope.declare(&name, Type::Maybe, Hold::Own, true);
                vec![Statement::Line(format!("let mut {name} = {call};"))]
            }
            (Returns::Outcome, _) => {
                self.scope.declare(&name, Type::Number, Hold::Own, true);
                vec![Statement::Line(format!(
                    "let mut {name} = {call}.unwrap_or_default();"
                ))]
            }
        }
    }

    /// A variable that gets a new value from its old one and the call, which stands to its right.
    fn accumulated(&mut self, call: &str) -> Statement {
        let places = self.scope.writable(Type::Number);
        let at = self.random.pick(&places).unwrap_or_default();
        let place = self.scope.place(at);
        let values = [
            format!("mix({place}, {call})"),
            format!("{place} % 1009 * 7 + {call} % 1009"),
            format!("({place} % 1009 + 3 + {call} % 1009) % 101"),
            format!("{place}.wrapping_add({call})"),
            format!("[{place}, {call}].iter().fold(1, |a, b| mix(a, *b))"),
            format!("({place}, {call}).0 % 1009 + 1"),
            format!("digest(&[{place} % 5, {call} % 7])"),
            format!("Some(mix({place}, {call})).unwrap_or(3)"),
            format!("if {place} % 1009 > {call} % 1009 {{ 1 }} else {{ {place} % 13 }}"),
            format!("format!(\"{{}} {{}}\", {place} % 1009, {call}).len() as u64"),
        ];
        let value = self.random.pick(&values).unwrap_or_default();
        Statement::Line(format!("{place} = {value};"))
    }
}
