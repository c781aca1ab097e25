//! Which statement comes next; the statements that hold no others.

use super::{Writer, files, site};
use crate::scope::{Hold, Type};
use crate::tree::Statement;

/// Statements are nested so deep: of what is deeper hardly anything would ever run.
const DEEPEST: usize = 3;

impl Writer {
    /// A run of statements in a scope that stays open.
    pub(super) fn statements(&mut self) -> Vec<Statement> {
        let count = 2 + self.random.below(4);
        self.depth += 1;
        let mut all = Vec::new();
        for _ in 0..count {
            if self.left == 0 {
                break;
            }
            self.left -= 1;
            all.extend(self.statement());
        }
        self.depth -= 1;
        all
    }

    /// The same in a scope of its own.
    pub(super) fn scoped(&mut self) -> Vec<Statement> {
        let mark = self.scope.enter();
        let mut body = self.statements();
        if self.random.chance(50) {
            body.push(site());
        }
        body.push(self.trace());
        self.scope.leave(mark);
        body
    }

    fn statement(&mut self) -> Vec<Statement> {
        if self.has_files && self.random.chance(files::SHARE) {
            return self.outside();
        }
        let kinds = if self.depth > DEEPEST { 55 } else { 100 };
        match self.random.below(kinds) {
            0..=14 => self.declaration(),
            15..=24 => self.change(),
            25..=34 => vec![site(), self.trace()],
            35..=39 => self.deferred(),
            40..=45 => self.borrowing(),
            46..=49 => self.closure(),
            50..=54 => self.moving(),
            55..=66 => self.branch(),
            67..=80 => self.looping(),
            81..=91 => self.call(),
            92..=94 => self.exit(),
            95..=96 => self.let_else(),
            97 => vec![Statement::block("unsafe {", self.scoped(), "}")],
            _ => self.labelled_block(),
        }
    }

    /// The last site of a block. Hardly ever the last mention of its variables: a value with a destructor that no one
    /// uses any more is refused there.
    pub(super) fn last_site(&mut self) -> Vec<Statement> {
        match self.random.chance(90) {
            true => vec![site(), self.trace()],
            false => vec![site()],
        }
    }

    /// Prints everything that can be printed.
    pub(super) fn trace(&mut self) -> Statement {
        let shown: Vec<String> = self
            .scope
            .all_readable()
            .into_iter()
            .filter(|at| self.scope.get(*at).kind.can_be_printed())
            .map(|at| self.scope.place(at))
            .collect();
        self.names += 1;
        let holes = vec!["{:?}"; shown.len()].join(" ");
        let list: String = shown.iter().map(|place| format!(", {place}")).collect();
        Statement::Line(format!("println!(\"{} {holes}\"{list});", self.names))
    }

    fn declaration(&mut self) -> Vec<Statement> {
        let kind = self.random.pick(&Type::VALUES).unwrap_or(Type::Number);
        let mutable = self.random.chance(70);
        let keyword = if mutable { "let mut" } else { "let" };
        if kind == Type::Pair && self.random.chance(40) {
            return self.destructuring();
        }
        let (head, tail) = match self.random.below(5) {
            0 => return vec![self.valued_block(kind, keyword, mutable)],
            _ => (self.value(kind, 2), ""),
        };
        let name = self.fresh();
        self.scope.declare(&name, kind, Hold::Own, mutable);
        let inferred = kind == Type::List && mutable && self.random.chance(15);
        let value = if inferred { "Vec::new()".into() } else { head };
        let mut all = vec![Statement::Line(format!("{keyword} {name} = {value}{tail};"))];
        if inferred {
            all.push(Statement::Line(format!("{name}.push({});", self.number(1))));
        }
        all
    }

    fn destructuring(&mut self) -> Vec<Statement> {
        let value = self.value(Type::Pair, 1);
        let (first, second) = (self.fresh(), self.fresh());
        if first == second {
            return vec![];
        }
        self.scope.declare(&first, Type::Number, Hold::Own, true);
        self.scope.declare(&second, Type::Text, Hold::Own, false);
        vec![Statement::Line(format!("let (mut {first}, {second}) = {value};"))]
    }

    /// Changes a variable in place.
    fn change(&mut self) -> Vec<Statement> {
        let kinds = [
            Type::Number,
            Type::Text,
            Type::List,
            Type::Maybe,
            Type::Array,
            Type::Map,
            Type::State,
        ];
        let all: Vec<(Type, usize)> = kinds
            .iter()
            .flat_map(|k| self.scope.writable(*k).into_iter().map(|at| (*k, at)))
            .collect();
        if self.random.chance(20) {
            return self.swap();
        }
        let Some((kind, at)) = self.random.pick(&all) else {
            return self.declaration();
        };
        let place = self.scope.place(at);
        self.scope.avoided.insert(at);
        let number = self.number(1);
        let line = match kind {
            Type::Number => match self.random.below(3) {
                0 => format!("{place} = mix({place}, {number});"),
                1 => format!("{place} ^= {number};"),
                _ => format!("{place} = {number};"),
            },
            Type::Text => format!("{place} += &format!(\"{{}}\", {number} % 10);"),
            Type::List => match self.random.below(4) {
                0 => format!("{place}.pop();"),
                1 => format!("{place}.reverse();"),
                2 => format!("if let Some(q) = {place}.first_mut() {{ *q = mix(*q, {number}); }}"),
                _ => format!("{place}.push({number});"),
            },
            Type::Maybe => match self.random.below(2) {
                0 => format!("{place} = {};", self.maybe(1)),
                _ => format!("let _ = {place}.take();"),
            },
            Type::Array => format!("{place}[{}] = {number};", self.random.below(4)),
            Type::Map => format!("{place}.insert({} % 5, {number});", self.number(0)),
            _ => match self.random.below(2) {
                0 => format!("{place}.size ^= {number};"),
                _ => format!("{place}.list.push({number});"),
            },
        };
        self.scope.avoided.remove(&at);
        vec![Statement::Line(line)]
    }

    fn swap(&mut self) -> Vec<Statement> {
        let kind = self
            .random
            .pick(&[Type::Number, Type::List, Type::Text])
            .unwrap_or(Type::Number);
        let places = self.scope.writable(kind);
        let (Some(one), Some(two)) = (self.random.pick(&places), self.random.pick(&places)) else {
            return vec![];
        };
        if one == two
            || self.scope.get(one).name.split('.').next() == self.scope.get(two).name.split('.').next()
        {
            return vec![];
        }
        let (one, two) = (self.scope.place(one), self.scope.place(two));
        vec![Statement::Line(format!(
            "std::mem::swap(&mut {one}, &mut {two});"
        ))]
    }

    /// `let x;` and an assignment in every branch.
    fn deferred(&mut self) -> Vec<Statement> {
        let kind = self.random.pick(&Type::VALUES).unwrap_or(Type::Number);
        let condition = self.flag(1);
        self.names += 1;
        let name = format!("late{}", self.names);
        let mut arms = Vec::new();
        for _ in 0..2 {
            let moves = self.scope.moves();
            let mark = self.scope.enter();
            let mut body = if self.random.chance(50) {
                self.statements()
            } else {
                vec![]
            };
            body.push(Statement::Line(format!("{name} = {};", self.value(kind, 1))));
            if self.random.chance(30) {
                body.extend(self.last_site());
            }
            self.scope.leave(mark);
            self.scope.join_moves(&moves);
            arms.push(body);
        }
        let parts = vec![
            (format!("if {condition} {{"), arms.remove(0)),
            ("} else {".into(), arms.remove(0)),
        ];
        self.scope.declare(&name, kind, Hold::Own, false);
        vec![
            Statement::Line(format!("let {name};")),
            Statement::Block {
                parts,
                close: "}".into(),
            },
        ]
    }

    /// Moves a value: into another variable, away, or back.
    fn moving(&mut self) -> Vec<Statement> {
        let empty = self.scope.refillable();
        if let Some(at) = self.random.pick(&empty)
            && self.random.chance(60)
        {
            let value = self.value(self.scope.get(at).kind, 1);
            self.scope.refill(at);
            return vec![Statement::Line(format!("{} = {value};", self.scope.place(at)))];
        }
        let kinds = [
            Type::Text,
            Type::List,
            Type::Map,
            Type::State,
            Type::Kind,
            Type::Guard,
            Type::Pair,
            Type::File,
            Type::Buffer,
            Type::Reader,
        ];
        let all: Vec<usize> = kinds.iter().flat_map(|kind| self.scope.movable(*kind)).collect();
        let Some(at) = self.random.pick(&all) else {
            return self.declaration();
        };
        let (kind, place) = (self.scope.get(at).kind, self.scope.place(at));
        self.scope.take(at);
        if self.random.chance(30) {
            return vec![Statement::Line(format!("drop({place});"))];
        }
        let name = self.fresh();
        self.scope.declare(&name, kind, Hold::Own, true);
        vec![Statement::Line(format!("let mut {name} = {place};"))]
    }

    /// Leaves a loop or the function, on a condition.
    fn exit(&mut self) -> Vec<Statement> {
        let outer = self.random.pick(&self.around);
        if self.confined && outer.is_none() {
            return self.declaration();
        }
        let condition = match outer {
            Some(_) => self.flag(1),
            None => format!("mix({}, 9) % 6 == 0", self.number(2)),
        };
        let line = match (self.random.below(6), outer) {
            (0 | 1, Some(around)) if around.can_continue => format!("continue '{};", around.label),
            (0..=4, Some(around)) => format!("break '{};", around.label),
            (_, Some(around)) if self.confined => format!("break '{};", around.label),
            _ => self.leave_function(),
        };
        let mut body = if self.random.chance(30) {
            vec![site()]
        } else {
            vec![]
        };
        body.push(Statement::Line(line));
        vec![Statement::block(format!("if {condition} {{"), body, "}")]
    }

    fn let_else(&mut self) -> Vec<Statement> {
        let scrutinee = match self.random.chance(60) || self.around.is_empty() {
            true => format!(
                "({}).checked_sub({})",
                self.typed_number(),
                self.random.below(150)
            ),
            false => self.maybe(1),
        };
        let innermost = self.around.last().cloned();
        if self.confined && innermost.is_none() {
            return self.declaration();
        }
        let leave = match innermost {
            Some(around) if self.confined || self.random.chance(70) => format!("break '{};", around.label),
            _ => self.leave_function(),
        };
        // No site in there: it is refused.
        let body = vec![self.trace(), Statement::Line(leave)];
        let name = self.fresh();
        self.scope.declare(&name, Type::Number, Hold::Own, false);
        vec![Statement::block(
            format!("let Some({name}) = {scrutinee} else {{"),
            body,
            "};",
        )]
    }
}
