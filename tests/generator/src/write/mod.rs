//! Writes one program: random choices that always make a program which rustc accepts and which ends.

mod borrows;
mod branches;
mod calls;
mod expressions;
mod files;
mod loops;
mod ranks;
mod statements;

pub use ranks::program_of_ranks;

use crate::random::Random;
use crate::scope::{Hold, Scope, Type};
use crate::tree::{Function, Program, Statement};

/// What a function gives back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Returns {
    Nothing,
    Number,
    Maybe,
    Outcome,
}

/// How an argument is passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pass {
    Value,
    Shared,
    Exclusive,
}

/// A function that can be called: it holds a site, or leads to one.
#[derive(Debug, Clone)]
struct Callee {
    name: String,
    parameters: Vec<(Type, Pass)>,
    returns: Returns,
    method: bool,
    /// Takes a depth as its last argument and calls itself with one less.
    recursive: bool,
}

/// A loop around the statement being written.
#[derive(Debug, Clone)]
struct Around {
    label: String,
    /// Whether a `continue` does no harm: a `while` that counts at its end would never finish.
    can_continue: bool,
}

struct Writer {
    random: Random,
    scope: Scope,
    callees: Vec<Callee>,
    calls: Vec<String>,
    around: Vec<Around>,
    returns: Returns,
    /// Whether it has statements on files.
    has_files: bool,
    /// Whether nothing that is written may leave the function, or a loop that is around it.
    confined: bool,
    /// Statements that may still be written.
    left: usize,
    /// Blocks around the statement being written.
    depth: usize,
    names: usize,
}

/// Of a hundred programs, so many have files; the others compute only.
const WITH_FILES: usize = 50;
/// Of a hundred programs with files, so many have threads with sites.
const WITH_A_TEAM: usize = 20;

/// The program of that number in the run of that seed.
pub fn program(seed: u64, number: u64) -> Program {
    let mut random = Random::new(seed, number);
    let has_files = Random::new(!seed, number).chance(WITH_FILES);
    let mut callees: Vec<Callee> = Vec::new();
    let mut functions = Vec::new();
    if has_files && random.chance(WITH_A_TEAM) {
        let (callee, team) = team(&mut random);
        functions.insert(0, team);
        callees.push(callee);
    }
    for index in 0..1 + random.below(3) {
        let callee = signature(&mut random, index, has_files);
        functions.insert(0, function(&mut random, &callee, &callees, has_files));
        callees.push(callee);
    }
    functions.insert(0, entry(&mut random, &callees, has_files));
    Program {
        name: format!("p{number:05}"),
        functions,
    }
}

fn signature(random: &mut Random, index: usize, has_files: bool) -> Callee {
    let returns = [
        Returns::Nothing,
        Returns::Number,
        Returns::Maybe,
        Returns::Outcome,
    ];
    let mut choices = vec![
        (Type::Number, Pass::Value),
        (Type::Number, Pass::Exclusive),
        (Type::Text, Pass::Value),
        (Type::Text, Pass::Shared),
        (Type::List, Pass::Value),
        (Type::List, Pass::Shared),
        (Type::List, Pass::Exclusive),
        (Type::Map, Pass::Exclusive),
        (Type::State, Pass::Exclusive),
        (Type::State, Pass::Shared),
        (Type::Kind, Pass::Value),
        (Type::Array, Pass::Exclusive),
    ];
    if has_files {
        choices.extend([
            (Type::File, Pass::Exclusive),
            (Type::File, Pass::Shared),
            (Type::File, Pass::Value),
            (Type::Buffer, Pass::Exclusive),
            (Type::Reader, Pass::Exclusive),
        ]);
    }
    let parameters = (0..1 + random.below(3))
        .filter_map(|_| random.pick(&choices))
        .collect();
    Callee {
        name: format!("f{index}"),
        parameters,
        returns: random.pick(&returns).unwrap_or(Returns::Nothing),
        method: random.chance(25),
        recursive: random.chance(15),
    }
}

fn team(random: &mut Random) -> (Callee, Function) {
    let callee = Callee {
        name: "team".into(),
        parameters: vec![(Type::Number, Pass::Value)],
        returns: Returns::Number,
        method: false,
        recursive: false,
    };
    let mut writer = Writer::new(random.clone(), &[], callee.returns, 0);
    let (signature, body) = writer.team(&callee.name);
    *random = writer.random;
    let function = Function {
        signature,
        calls: Vec::new(),
        body,
        method: false,
        instrumented: true,
    };
    (callee, function)
}

fn entry(random: &mut Random, callees: &[Callee], has_files: bool) -> Function {
    let mut writer = Writer::new(random.clone(), callees, Returns::Nothing, 30);
    writer.has_files = has_files;
    let mut body = vec![
        Statement::Line("let mut a = 1;".into()),
        Statement::Line("let mut v = vec![a, 2];".into()),
    ];
    writer.scope.declare("a", Type::Number, Hold::Own, true);
    writer.scope.declare("v", Type::List, Hold::Own, true);
    if has_files {
        body.extend(writer.planted());
    }
    body.extend(writer.body());
    *random = writer.random.clone();
    Function {
        signature: "pub fn run()".into(),
        calls: writer.calls,
        body,
        method: false,
        instrumented: true,
    }
}

fn function(random: &mut Random, callee: &Callee, callees: &[Callee], has_files: bool) -> Function {
    let mut callees = callees.to_vec();
    if callee.recursive {
        // Last, as the one that is being written.
        callees.push(callee.clone());
    }
    let mut writer = Writer::new(random.clone(), &callees, callee.returns, 12);
    writer.has_files = has_files;
    let signature = writer.parameters(callee);
    let body = writer.body();
    *random = writer.random.clone();
    Function {
        signature,
        calls: writer.calls,
        body,
        method: callee.method,
        instrumented: true,
    }
}

impl Writer {
    fn new(random: Random, callees: &[Callee], returns: Returns, left: usize) -> Self {
        Writer {
            random,
            scope: Scope::default(),
            callees: callees.to_vec(),
            calls: Vec::new(),
            around: Vec::new(),
            returns,
            has_files: false,
            confined: false,
            left,
            depth: 0,
            names: 0,
        }
    }

    /// Declares the parameters of `callee`; gives the head of the function.
    fn parameters(&mut self, callee: &Callee) -> String {
        let mut list = Vec::new();
        if callee.method {
            list.push("&mut self".to_string());
        }
        for (index, (kind, pass)) in callee.parameters.iter().enumerate() {
            let name = ["m", "n", "o", "p"][index % 4];
            let (hold, text) = match pass {
                Pass::Value => (Hold::Own, format!("mut {name}: {}", type_text(*kind))),
                Pass::Shared => (Hold::Shared, format!("{name}: &{}", type_text(*kind))),
                Pass::Exclusive => (Hold::Exclusive, format!("{name}: &mut {}", type_text(*kind))),
            };
            self.scope.declare(name, *kind, hold, true);
            list.push(text);
        }
        if callee.method {
            self.scope.declare("self.size", Type::Number, Hold::Own, true);
            self.scope.declare("self.list", Type::List, Hold::Own, true);
            // Fields behind `&mut self` cannot be moved out: as if declared outside of a loop.
            self.scope.loops += 1;
        }
        if callee.recursive {
            list.push("depth: u64".into());
            self.scope.declare("depth", Type::Number, Hold::Own, false);
        }
        let result = match callee.returns {
            Returns::Nothing => "",
            Returns::Number => " -> u64",
            Returns::Maybe => " -> Option<u64>",
            Returns::Outcome => " -> Result<u64, String>",
        };
        format!("fn {}({}){result}", callee.name, list.join(", "))
    }

    /// The whole body of a function, with at least one site.
    fn body(&mut self) -> Vec<Statement> {
        let mut body = self.statements();
        while self.left > 0 && self.random.chance(85) {
            body.extend(self.statements());
        }
        if !body.iter().any(Statement::holds_site) {
            body.push(site());
        }
        body.push(self.trace());
        if self.has_files {
            body.push(self.files_at_the_end());
        }
        body.extend(self.tail());
        body
    }

    fn tail(&mut self) -> Option<Statement> {
        let value = self.number(1);
        match self.returns {
            Returns::Nothing => None,
            Returns::Number => Some(Statement::Line(value)),
            Returns::Maybe => Some(Statement::Line(format!("({}).then_some({value})", self.flag(1)))),
            Returns::Outcome => Some(Statement::Line(format!("Ok({value})"))),
        }
    }

    /// A statement that leaves the function.
    fn leave_function(&mut self) -> String {
        match self.returns {
            Returns::Nothing => "return;".into(),
            Returns::Number => format!("return {};", self.number(1)),
            Returns::Maybe => "return None;".into(),
            Returns::Outcome => format!("return Err({});", self.text(1)),
        }
    }

    /// A name for a new variable: often one that is taken, so that it shadows.
    fn fresh(&mut self) -> String {
        const POOL: [&str; 9] = ["a", "b", "c", "d", "e", "v", "w", "s", "t"];
        if self.random.chance(60) {
            return self.random.pick(&POOL).unwrap_or("a").to_string();
        }
        self.names += 1;
        format!("x{}", self.names)
    }
}

fn site() -> Statement {
    Statement::Line("ckpt::checkpoint!();".into())
}

fn type_text(kind: Type) -> &'static str {
    match kind {
        Type::Number => "u64",
        Type::Flag => "bool",
        Type::Text => "String",
        Type::List => "Vec<u64>",
        Type::Maybe => "Option<u64>",
        Type::Array => "[u64; 4]",
        Type::Map => "BTreeMap<u64, u64>",
        Type::Pair => "(u64, String)",
        Type::Kind => "Kind",
        Type::State => "State",
        Type::File => "Option<File>",
        Type::Buffer => "Option<BufWriter<File>>",
        Type::Reader => "Option<BufReader<File>>",
        Type::Guard => "Loud",
        Type::Closure => "fn(u64) -> u64",
    }
}
