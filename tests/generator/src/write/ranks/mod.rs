//! Programs of several processes. What communicates and what visits sites is decided by numbers that are the same on all ranks, so
//! that all do the same in the same order; between these stand statements of the other kinds, on data that every rank has of
//! its own, which neither leave the place where they stand nor come to a site.

mod messages;

use super::{Around, Callee, Returns, WITH_A_TEAM, WITH_FILES, Writer, function, signature, site, team};
use crate::random::Random;
use crate::scope::{Hold, Type};
use crate::tree::{Function, Program, Statement};

/// A number that is the same on all ranks.
#[derive(Debug, Clone)]
struct Same {
    name: String,
    /// Whether it may be given another value.
    changes: bool,
}

/// A communicator in scope.
#[derive(Debug, Clone)]
struct Communicator {
    name: String,
    /// Whether all ranks are in it, so that what it gives to all of its own is the same everywhere.
    is_whole: bool,
}

/// A place to go back to when a scope ends.
struct Mark {
    scope: usize,
    same: usize,
    communicators: usize,
}

struct Together {
    /// Writes what concerns one rank only.
    writer: Writer,
    /// Functions that communicate and hold sites.
    callees: Vec<String>,
    has_a_team: bool,
    calls: Vec<String>,
    same: Vec<Same>,
    communicators: Vec<Communicator>,
    around: Vec<Around>,
    /// How the communicator of all is passed on.
    passed_on: &'static str,
    /// Statements that may still be written.
    left: usize,
    depth: usize,
}

/// Loops that communicate or visit sites may be nested so deep.
const DEEPEST_LOOP: usize = 2;
/// Blocks may be nested so deep.
const DEEPEST: usize = 4;
/// Statements of one rank only in a row, at most.
const ALONE: usize = 3;

/// The program of several processes of that number in the run of that seed.
pub fn program_of_ranks(seed: u64, number: u64) -> Program {
    let mut random = Random::new(seed ^ 0x6b73, number);
    let has_files = random.chance(WITH_FILES);
    let mut functions = Vec::new();
    let mut alone: Vec<Callee> = Vec::new();
    for index in 0..random.below(3) {
        let callee = signature(&mut random, index, has_files);
        functions.insert(0, function_alone(&mut random, &callee, &alone, has_files));
        alone.push(callee);
    }
    let has_a_team = has_files && random.chance(WITH_A_TEAM);
    if has_a_team {
        let (_, team) = team(&mut random);
        functions.insert(0, team);
    }
    let mut callees = Vec::new();
    for index in 0..random.below(3) {
        let name = format!("g{index}");
        let mut writer = Together::new(&mut random, &alone, &callees, 8);
        writer.writer.has_files = has_files;
        writer.has_a_team = has_a_team;
        functions.insert(0, writer.function(&name));
        random = writer.writer.random;
        callees.push(name);
    }
    let mut writer = Together::new(&mut random, &alone, &callees, 18);
    writer.writer.has_files = has_files;
    writer.has_a_team = has_a_team;
    functions.insert(0, writer.entry());
    Program {
        name: format!("p{number:05}"),
        functions: called(functions),
    }
}

/// Without the functions with sites that nobody calls: a site that nobody comes to is refused. Each stands before those that it calls.
fn called(functions: Vec<Function>) -> Vec<Function> {
    let mut kept: Vec<Function> = Vec::new();
    for function in functions {
        let name = function
            .signature
            .trim_start_matches("fn ")
            .split('(')
            .next()
            .unwrap_or_default();
        let is_called = kept
            .iter()
            .any(|caller| caller.calls.iter().any(|call| call == name));
        if kept.is_empty() || !function.instrumented || is_called {
            kept.push(function);
        }
    }
    kept
}

/// A function of one rank only.
fn function_alone(random: &mut Random, callee: &Callee, callees: &[Callee], has_files: bool) -> Function {
    let function = function(random, callee, callees, has_files);
    Function {
        body: without_sites(function.body),
        instrumented: false,
        ..function
    }
}

fn without_sites(body: Vec<Statement>) -> Vec<Statement> {
    body.into_iter().filter_map(Statement::without_sites).collect()
}

impl Together {
    fn new(random: &mut Random, alone: &[Callee], callees: &[String], left: usize) -> Self {
        let mut writer = Writer::new(random.clone(), alone, Returns::Nothing, 0);
        writer.confined = true;
        Together {
            writer,
            callees: callees.to_vec(),
            has_a_team: false,
            calls: Vec::new(),
            same: Vec::new(),
            communicators: vec![Communicator {
                name: "world".into(),
                is_whole: true,
            }],
            around: Vec::new(),
            passed_on: "world",
            left,
            depth: 0,
        }
    }

    fn entry(&mut self) -> Function {
        self.passed_on = "&world";
        let mut body: Vec<Statement> = [
            "let universe = mpi::initialize().expect(\"MPI comes up\");",
            "#[ckpt(reexecute)] let world = universe.world();",
            "let rank = world.rank() as u64;",
            "let size = world.size() as u64;",
            "let mut u0 = mix(size, 3);",
            "let mut u1: u64 = 5;",
            "let mut a = mix(rank, 1);",
            "let mut v = vec![a, 2, rank];",
        ]
        .map(|line| Statement::Line(line.into()))
        .into();
        self.declare_first();
        self.declare_same("u1", true);
        self.writer.scope.declare("a", Type::Number, Hold::Own, true);
        self.writer.scope.declare("v", Type::List, Hold::Own, true);
        if self.writer.has_files {
            body.extend(self.writer.planted());
        }
        body.extend(self.body());
        Function {
            signature: "pub fn run()".into(),
            calls: std::mem::take(&mut self.calls),
            body,
            method: false,
            instrumented: true,
        }
    }

    fn function(&mut self, name: &str) -> Function {
        let mut body: Vec<Statement> = [
            "let rank = world.rank() as u64;",
            "let size = world.size() as u64;",
        ]
        .map(|line| Statement::Line(line.into()))
        .into();
        self.declare_first();
        self.writer.scope.declare("m", Type::Number, Hold::Own, true);
        self.writer.scope.declare("n", Type::List, Hold::Exclusive, true);
        body.extend(self.body());
        body.push(Statement::Line(self.same(1)));
        Function {
            signature: format!(
                "fn {name}(world: &SimpleCommunicator, mut u0: u64, mut m: u64, n: &mut Vec<u64>) -> u64"
            ),
            calls: std::mem::take(&mut self.calls),
            body,
            method: false,
            instrumented: true,
        }
    }

    fn declare_first(&mut self) {
        self.writer.scope.declare("rank", Type::Number, Hold::Own, false);
        self.declare_same("size", false);
        self.declare_same("u0", true);
    }

    /// Statements of one rank only may read it, and no more.
    fn declare_same(&mut self, name: &str, changes: bool) {
        self.writer.scope.declare(name, Type::Number, Hold::Own, false);
        self.same.push(Same {
            name: name.to_string(),
            changes,
        });
    }

    fn enter(&self) -> Mark {
        Mark {
            scope: self.writer.scope.enter(),
            same: self.same.len(),
            communicators: self.communicators.len(),
        }
    }

    fn leave(&mut self, mark: &Mark) {
        self.writer.scope.leave(mark.scope);
        self.same.truncate(mark.same);
        self.communicators.truncate(mark.communicators);
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.writer.random.chance(percent)
    }

    fn below(&mut self, end: usize) -> usize {
        self.writer.random.below(end)
    }

    fn numbered(&mut self, letter: char) -> String {
        self.writer.names += 1;
        format!("{letter}{}", self.writer.names)
    }

    /// A number that is the same on all ranks.
    fn same(&mut self, depth: usize) -> String {
        let known: Vec<String> = self.same.iter().map(|same| same.name.clone()).collect();
        match self.below(4) {
            0 => self.below(9).to_string(),
            1 if depth > 0 => format!("mix({}, {})", self.same(depth - 1), self.same(depth - 1)),
            _ => self.writer.random.pick(&known).unwrap_or_default(),
        }
    }

    /// A condition that is the same on all ranks.
    fn same_flag(&mut self) -> String {
        let modulus = 2 + self.below(3);
        format!("mix({}, 3) % {modulus} == {}", self.same(1), self.below(modulus))
    }

    /// One of these numbers that may be given another value here.
    fn changing(&mut self) -> Option<String> {
        let free: Vec<String> = self
            .same
            .iter()
            .filter(|same| same.changes && self.writer.scope.is_free(&same.name))
            .map(|same| same.name.clone())
            .collect();
        self.writer.random.pick(&free)
    }

    /// The body of a function, with at least one site.
    fn body(&mut self) -> Vec<Statement> {
        let mut body = self.steps();
        while self.left > 0 {
            body.extend(self.steps());
        }
        if !body.iter().any(Statement::holds_site) {
            body.push(site());
        }
        body.push(self.writer.trace());
        if self.writer.has_files {
            body.push(self.writer.files_at_the_end());
        }
        body
    }

    fn steps(&mut self) -> Vec<Statement> {
        let count = 2 + self.below(4);
        self.depth += 1;
        let mut all = Vec::new();
        for _ in 0..count {
            if self.left == 0 {
                break;
            }
            self.left -= 1;
            all.extend(self.step());
        }
        self.depth -= 1;
        all
    }

    /// The same in a scope of its own.
    fn scoped(&mut self) -> Vec<Statement> {
        let mark = self.enter();
        let mut body = self.steps();
        if self.chance(50) {
            body.push(site());
        }
        body.push(self.writer.trace());
        self.leave(&mark);
        body
    }

    fn step(&mut self) -> Vec<Statement> {
        let kinds = if self.depth > DEEPEST { 68 } else { 100 };
        match self.below(kinds) {
            0..=21 => self.alone(),
            22..=45 => self.communication(),
            46..=58 => vec![site(), self.writer.trace()],
            59..=63 => self.communicator(),
            64..=67 => self.number(),
            68..=81 => self.looping(),
            82..=88 => self.branch(),
            89..=95 => self.call(),
            _ => self.exit(),
        }
    }

    /// Statements of one rank only.
    fn alone(&mut self) -> Vec<Statement> {
        self.writer.left = 1 + self.below(ALONE);
        without_sites(self.writer.statements())
    }

    /// A number that is the same on all ranks is declared, or changed.
    fn number(&mut self) -> Vec<Statement> {
        let value = self.same(2);
        match self.changing() {
            Some(name) if self.chance(60) => {
                vec![Statement::Line(format!("{name} = mix({name}, {value});"))]
            }
            _ => {
                let name = self.numbered('u');
                let changes = self.chance(70);
                let keyword = if changes { "let mut" } else { "let" };
                self.declare_same(&name, changes);
                vec![Statement::Line(format!("{keyword} {name}: u64 = {value};"))]
            }
        }
    }

    fn looping(&mut self) -> Vec<Statement> {
        if self.around.len() >= DEEPEST_LOOP {
            return self.communication();
        }
        let label = self.numbered('l');
        let turn = self.numbered('t');
        let kind = self.below(6);
        // A `while` that counts at its end would never finish behind a `continue`.
        let can_continue = kind != 4;
        let (before, head) = match kind {
            0 => (None, format!("for {turn} in 0..2 + {} % 3", self.same(0))),
            1 => (None, format!("for {turn} in [3, {}, 7]", self.same(1))),
            2 => (None, format!("for {turn} in (1..=3_u64).rev()")),
            3 => {
                let list: Vec<String> = (0..1 + self.below(3)).map(|_| self.same(0)).collect();
                let list = format!("vec![{}]", list.join(", "));
                (None, format!("for {turn} in {list}"))
            }
            4 => {
                let most = 2 + self.below(2);
                let first = Statement::Line(format!("let mut {turn} = 0_u64;"));
                (Some(first), format!("while {turn} < {most}"))
            }
            _ => (None, format!("for {turn} in 0..{}_u64", 2 + self.below(3))),
        };
        let moves = self.writer.scope.moves();
        let mark = self.enter();
        self.writer.scope.loops += 1;
        self.declare_same(&turn, false);
        self.around.push(Around {
            label: label.clone(),
            can_continue,
        });
        let mut body = self.scoped();
        if kind == 4 {
            body.push(Statement::Line(format!("{turn} += 1;")));
        }
        self.around.pop();
        self.writer.scope.loops -= 1;
        self.leave(&mark);
        self.writer.scope.join_moves(&moves);
        let whole = Statement::block(format!("'{label}: {head} {{"), body, "}");
        before.into_iter().chain([whole]).collect()
    }

    fn branch(&mut self) -> Vec<Statement> {
        let (open, heads) = match self.below(3) {
            0 => {
                let open = format!("match mix({}, 5) % 3 {{", self.same(1));
                (
                    Some(open),
                    vec!["0 => {".to_string(), "1 => {".into(), "_ => {".into()],
                )
            }
            1 => (None, vec![format!("if {} {{", self.same_flag())]),
            _ => (
                None,
                vec![format!("if {} {{", self.same_flag()), "} else {".into()],
            ),
        };
        let before = self.writer.scope.moves();
        let mut after = before.clone();
        let mut parts = Vec::new();
        for head in heads {
            self.writer.scope.set_moves(&before);
            let body = self.scoped();
            let moves = self.writer.scope.moves();
            after.iter_mut().zip(moves).for_each(|(all, one)| *all |= one);
            parts.push((head, body));
        }
        self.writer.scope.set_moves(&after);
        match open {
            Some(open) => {
                let arms = parts
                    .into_iter()
                    .map(|(head, body)| Statement::block(head, body, "}"))
                    .collect();
                vec![Statement::block(open, arms, "}")]
            }
            None => vec![Statement::Block {
                parts,
                close: "}".into(),
            }],
        }
    }

    /// A call of a function that holds sites.
    fn call(&mut self) -> Vec<Statement> {
        // Calls in loops in calls: the visits multiply.
        if self.around.len() > 1 {
            return self.communication();
        }
        if self.has_a_team && self.chance(25) {
            self.calls.push("team".into());
            let (number, name) = (self.writer.number(1), self.writer.fresh());
            self.writer.scope.declare(&name, Type::Number, Hold::Own, true);
            return vec![Statement::Line(format!("let mut {name} = team({number});"))];
        }
        let Some(callee) = self.writer.random.pick(&self.callees) else {
            return self.looping();
        };
        self.calls.push(callee.clone());
        let (same, number) = (self.same(1), self.writer.number(1));
        let outer = self.writer.scope.avoided.clone();
        self.writer.names += 1;
        let argument = format!("arg{}", self.writer.names);
        let mut all = vec![Statement::Line(format!("let {argument} = {number};"))];
        let (list, made) = self.writer.lent(Type::List, true);
        all.extend(made);
        self.writer.scope.avoided = outer;
        let call = format!("{callee}({}, {same}, {argument}, &mut {list})", self.passed_on);
        all.push(match self.changing() {
            Some(name) if self.chance(50) => Statement::Line(format!("{name} = mix({name}, {call});")),
            _ => {
                let name = self.numbered('u');
                self.declare_same(&name, true);
                Statement::Line(format!("let mut {name} = {call};"))
            }
        });
        all
    }

    /// Leaves a loop, on a condition.
    fn exit(&mut self) -> Vec<Statement> {
        let Some(around) = self.writer.random.pick(&self.around) else {
            return self.communication();
        };
        let line = match self.chance(40) && around.can_continue {
            true => format!("continue '{};", around.label),
            false => format!("break '{};", around.label),
        };
        let mut body = match self.chance(30) {
            true => vec![site()],
            false => vec![],
        };
        body.push(Statement::Line(line));
        let condition = self.same_flag();
        vec![Statement::block(format!("if {condition} {{"), body, "}")]
    }
}
