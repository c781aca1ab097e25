//! Expressions of every type, from the variables that can be read.

use super::Writer;
use crate::scope::Type;

impl Writer {
    /// An expression of type `u64`.
    pub(super) fn number(&mut self, depth: usize) -> String {
        if depth == 0 || self.random.chance(30) {
            return self.plain_number();
        }
        match self.random.below(12) {
            0..=2 => format!("mix({}, {})", self.number(depth - 1), self.number(depth - 1)),
            3 => self.of(Type::List, |v| format!("{v}.len() as u64")),
            4 => self.of(Type::List, |v| format!("digest(&{v})")),
            5 => self.of(Type::Text, |s| format!("{s}.len() as u64")),
            6 => self.of(Type::Maybe, |m| format!("{m}.unwrap_or(7)")),
            7 => self.of(Type::State, |s| format!("{s}.size")),
            8 => self.of(Type::Pair, |p| format!("{p}.0")),
            9 => self.of(Type::Map, |m| format!("{m}.values().copied().max().unwrap_or(3)")),
            10 => self.of(Type::Closure, |f| format!("{f}(5)")),
            _ => self.of(Type::Array, |a| format!("{a}[1] + {a}[3] % 8")),
        }
    }

    fn plain_number(&mut self) -> String {
        if self.random.chance(70) {
            let places = self.scope.readable(Type::Number);
            if let Some(at) = self.random.pick(&places) {
                return self.scope.place(at);
            }
        }
        self.random.below(20).to_string()
    }

    /// An expression over a variable of that type; a plain number if there is none.
    fn of(&mut self, kind: Type, text: impl Fn(&str) -> String) -> String {
        let places = self.scope.readable(kind);
        match self.random.pick(&places) {
            Some(at) => text(&self.scope.place(at)),
            None => self.plain_number(),
        }
    }

    /// A condition.
    pub(super) fn flag(&mut self, depth: usize) -> String {
        let places = self.scope.readable(Type::Flag);
        match self.random.below(6) {
            0 => match self.random.pick(&places) {
                Some(at) => self.scope.place(at),
                None => format!("mix({}, 6) % 5 != 0", self.number(depth)),
            },
            1 => format!("mix({}, 1) < mix({}, 2)", self.number(depth), self.number(depth)),
            2 if depth > 0 => format!("!({})", self.flag(depth - 1)),
            3 if depth > 0 => format!("{} && {}", self.flag(depth - 1), self.flag(depth - 1)),
            _ => {
                let modulus = 2 + self.random.below(3);
                format!(
                    "mix({}, 3) % {modulus} == {}",
                    self.number(depth),
                    self.random.below(modulus)
                )
            }
        }
    }

    /// An expression of type `String`.
    pub(super) fn text(&mut self, depth: usize) -> String {
        let places = self.scope.readable(Type::Text);
        let known = self.random.pick(&places).map(|at| self.scope.place(at));
        match (self.random.below(4), known) {
            (0, Some(text)) => format!("{text}.clone()"),
            (1, Some(text)) => format!("format!(\"{{}}-{{}}\", {text}, {})", self.number(depth)),
            (2, _) => format!("format!(\"t{{}}\", {} % 100)", self.number(depth)),
            _ => format!("String::from(\"w{}\")", self.random.below(10)),
        }
    }

    /// An expression of type `Vec<u64>`.
    pub(super) fn list(&mut self, depth: usize) -> String {
        let places = self.scope.readable(Type::List);
        let known = self.random.pick(&places).map(|at| self.scope.place(at));
        match (self.random.below(5), known) {
            (0, Some(list)) => format!("{list}.clone()"),
            (1, Some(list)) => format!(
                "{list}.iter().map(|q| mix(*q, {})).collect::<Vec<u64>>()",
                self.number(0)
            ),
            (2, _) => {
                let count = 1 + self.random.below(4);
                format!(
                    "(0..{count}).map(|q| mix(q, {})).collect::<Vec<u64>>()",
                    self.number(0)
                )
            }
            (3, _) => format!("vec![{}; {}]", self.number(depth), 1 + self.random.below(3)),
            _ => format!(
                "vec![{}, {}, {}]",
                self.number(depth),
                self.number(0),
                self.number(0)
            ),
        }
    }

    /// An expression of type `Option<u64>`.
    pub(super) fn maybe(&mut self, depth: usize) -> String {
        let places = self.scope.readable(Type::List);
        let known = self.random.pick(&places).map(|at| self.scope.place(at));
        match (self.random.below(6), known) {
            (0, _) => "None::<u64>".into(),
            (1, Some(list)) => format!("{list}.last().copied()"),
            (2, Some(list)) => format!("{list}.get({}).copied()", self.random.below(4)),
            (3, _) => format!("({}).then_some({})", self.flag(depth), self.number(depth)),
            (4, _) => format!("({}).checked_sub({})", self.typed_number(), self.random.below(9)),
            _ => format!("Some({})", self.number(depth)),
        }
    }

    /// A number on which a method can be called: its type is known.
    pub(super) fn typed_number(&mut self) -> String {
        format!("mix({}, {})", self.number(0), self.number(0))
    }

    /// An expression of that type, by value.
    pub(super) fn value(&mut self, kind: Type, depth: usize) -> String {
        match kind {
            Type::Number => self.number(depth),
            Type::Flag => self.flag(depth),
            Type::Text => self.text(depth),
            Type::List => self.list(depth),
            Type::Maybe => self.maybe(depth),
            Type::Array => {
                let (first, second) = (self.number(depth), self.number(0));
                format!("[{first}, {second}, 3, {}]", self.random.below(9))
            }
            Type::Map => format!(
                "BTreeMap::from([({}, {}), (40, {})])",
                self.random.below(30),
                self.number(depth),
                self.number(0)
            ),
            Type::Pair => format!("({}, {})", self.number(depth), self.text(depth)),
            Type::Kind => match self.random.below(3) {
                0 => "Kind::Empty".into(),
                1 => format!("Kind::One({})", self.number(depth)),
                _ => format!(
                    "(Kind::Two {{ size: {}, name: {} }})",
                    self.number(depth),
                    self.text(depth)
                ),
            },
            Type::State => format!("State::new({})", self.number(depth)),
            Type::Guard => {
                self.names += 1;
                let name = self.names;
                format!("Loud::new(\"g{name}\", {})", self.number(depth))
            }
            Type::File | Type::Buffer | Type::Reader => self.open_file(kind),
            Type::Closure => "|q: u64| mix(q, 1)".into(),
        }
    }
}
