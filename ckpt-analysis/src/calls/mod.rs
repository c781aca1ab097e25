//! The call graph and the loops: what each function calls, how often, and from inside what.

mod apply;
mod defaults;
mod exprs;
mod lists;
pub(super) mod look;
mod macros;
mod patterns;
mod places;
mod resolve_values;
mod show;
mod std_calls;
mod trips;
mod walk;

pub use look::statement_start;
pub use walk::build;

use crate::items::amount::{Amount, Hop, Root, Shape};
use crate::items::{FnId, SourceRange};
use std::collections::HashSet;
use std::fmt;

/// Index of a call in `CallGraph::calls`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallId(pub usize);

/// Index of a loop in `CallGraph::loops`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LoopId(pub usize);

/// What no walk of a restart can enter.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Trap {
    /// A closure.
    Closure,
    /// A closure that a thread of rayon's pool runs.
    Pool,
    /// An `async` block.
    Async,
    /// A macro whose meaning is not known.
    Macro(String),
    /// An operator or the like: no call that could be marked.
    Implicit(String),
    /// A function handed to another crate, which calls it.
    Handed,
    /// A call of something that has no name: `(self.rule)(x)`.
    Nameless,
    /// A destructor of the program, which runs where a value is dropped.
    Destructor,
}

impl fmt::Display for Trap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Closure => f.write_str("a closure"),
            Self::Pool => f.write_str("a closure that a thread of rayon's pool runs"),
            Self::Async => f.write_str("an `async` block"),
            Self::Macro(name) => write!(f, "the macro `{name}!`"),
            Self::Implicit(what) => write!(f, "{what}"),
            Self::Handed => f.write_str("a function that another crate calls"),
            Self::Nameless => f.write_str("a call of a function without a name"),
            Self::Destructor => f.write_str("a destructor"),
        }
    }
}

impl Trap {
    /// What to write instead of a call in there.
    pub fn instead(&self) -> &'static str {
        match self {
            Self::Pool => {
                "start threads for it, `std::thread::scope(|s| ..)` with `s.spawn(|| ..)`, which can have sites, or put a loop \
                 around what rayon does"
            }
            Self::Destructor => {
                "call it where the value is used last, and leave to its `drop` what takes no time: a function of its own, or nothing"
            }
            _ => "make the call from the function's own body",
        }
    }
}

/// How a call is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallForm {
    /// `a::b(..)`: the names of the path.
    Path(Vec<String>),
    /// `x.method(..)`.
    Method(String),
    /// A call of a function in a variable; with its index if it is a parameter.
    Variable(String, Option<usize>),
    /// Nothing that could be marked.
    Unnamed,
}

impl CallForm {
    /// Its last name.
    pub fn last(&self) -> Option<&str> {
        match self {
            Self::Path(names) => names.last().map(String::as_str),
            Self::Method(name) | Self::Variable(name, _) => Some(name),
            Self::Unnamed => None,
        }
    }
}

/// A call that may lead to functions of the program.
#[derive(Debug, Clone)]
pub struct Call {
    /// Its number.
    pub id: CallId,
    /// Who calls.
    pub caller: FnId,
    /// What may be called.
    pub callees: Vec<FnId>,
    /// Whether the types have told which; otherwise the name has.
    pub certain: bool,
    /// How it is written.
    pub form: CallForm,
    /// Where.
    pub place: SourceRange,
    /// The innermost loop around it.
    pub within: Option<LoopId>,
    /// How often it is reached in one go through what is around it.
    pub weight: f64,
    /// How often each of the callees is entered by it in one go, where that was measured.
    pub measured: Vec<f64>,
    /// The branches that lead to it: the number of each `if` or `match` of the function, and of its arm.
    pub arms: Vec<(usize, usize)>,
    /// What no walk can enter, if it is in there.
    pub trap: Option<Trap>,
    /// Numbers and lengths of each argument, `self` first.
    pub arguments: Vec<Shape>,
    /// Functions given as arguments, with the argument's index.
    pub passes: Vec<(usize, FnId)>,
    /// Where the statement begins that holds the call: the innermost one outside of all loops.
    pub statement_at: usize,
    /// Its line.
    pub statement_line: usize,
}

impl Call {
    /// How often the callee of this index is entered in one go through what is around the call.
    pub fn times(&self, index: usize) -> f64 {
        match self.measured.get(index) {
            Some(times) => *times,
            None => self.weight / self.callees.len().max(1) as f64,
        }
    }
}

/// What kind of loop it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LoopKind {
    /// `for`
    For,
    /// `while`
    While,
    /// `loop`
    Loop,
    /// A method that calls a closure for each element.
    Each(String),
    /// The body of a closure with a name, entered where it is called.
    Closure,
}

/// What is done in one go through a function or a loop.
#[derive(Debug, Clone, Default)]
pub struct Work {
    /// Operations.
    pub own: f64,
    /// Operations that depend on a length.
    pub bulk: Vec<(f64, Amount)>,
    /// Calls.
    pub calls: Vec<CallId>,
    /// Loops.
    pub loops: Vec<LoopId>,
    /// Calls of closures with a name, with their weight.
    pub closures: Vec<(LoopId, f64)>,
}

/// What comes of a parallel iterator that is cut into blocks of items.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InBlocks {
    /// The same to the last bit.
    Exact,
    /// Of floats, the sum of parts that are not the same in every run, as without blocks.
    OfParts,
}

/// A loop.
#[derive(Debug, Clone)]
pub struct Loop {
    /// Its number.
    pub id: LoopId,
    /// The function.
    pub function: FnId,
    /// The loop around it.
    pub parent: Option<LoopId>,
    /// What it is.
    pub kind: LoopKind,
    /// Its first line, shortened.
    pub header: String,
    /// Where.
    pub place: SourceRange,
    /// Just behind the opening brace of its body; nothing for one that has no body of its own.
    pub body_at: Option<usize>,
    /// A body without braces, which begins at `body_at`.
    pub wraps: Option<Wrapped>,
    /// For a parallel iterator, where a site in it stands between blocks of items: it is come by every so often, however short
    /// these are.
    pub in_blocks: Option<InBlocks>,
    /// How many iterations.
    pub trips: Amount,
    /// How often it is reached in one go through what is around it.
    pub weight: f64,
    /// The branches that lead to it, as for a call.
    pub arms: Vec<(usize, usize)>,
    /// What no walk can enter, if it is in there.
    pub trap: Option<Trap>,
    /// One iteration.
    pub work: Work,
}

/// An expression that is put between braces when a site goes in front of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Wrapped {
    /// The byte behind it.
    pub end: usize,
    /// For a function that is named in the place of a closure, how many arguments it is given; otherwise 0.
    pub given: usize,
}

impl Loop {
    /// Whether a site can stand in it, as far as its form goes.
    pub fn can_hold(&self) -> bool {
        self.body_at.is_some() && self.trap.is_none()
    }
}

/// Where something happens, and so how often.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Occasion {
    /// The function in which it happens.
    pub function: FnId,
    /// The innermost loop around it.
    pub within: Option<LoopId>,
    /// How often it is reached in one go through what is around it.
    pub weight: f64,
}

/// Something that a function does to a field or to one of its variables.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// To which one.
    pub root: Root,
    /// To what in it.
    pub way: Vec<Hop>,
    /// Where.
    pub at: Occasion,
    /// What.
    pub what: WhatChanges,
}

/// What is done to a variable.
#[derive(Debug, Clone, PartialEq)]
pub enum WhatChanges {
    /// It gets a value.
    Set(Shape),
    /// It gets so many more elements, each like this.
    Adds(Amount, Box<Shape>),
    /// It is lent to the call of this number as its argument of that index.
    Lent(usize, usize),
    /// All elements are taken from it.
    Empties,
    /// Some elements are taken from it.
    Takes,
}

/// A variable that its function changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Changed {
    /// The function.
    pub function: FnId,
    /// The parameter that it is.
    pub parameter: Option<usize>,
}

/// What a function gives back.
#[derive(Debug, Clone, Default)]
pub struct Results {
    /// Where it returns.
    pub told: Vec<Shape>,
    /// Whether something returned is not known.
    pub others: bool,
}

/// Calls and loops of the whole program.
#[derive(Debug, Default)]
pub struct CallGraph {
    /// The calls.
    pub calls: Vec<Call>,
    /// The loops.
    pub loops: Vec<Loop>,
    /// One for each function.
    pub bodies: Vec<Work>,
    /// What is done to fields and variables.
    pub changes: Vec<Change>,
    /// The variables that their functions change, by number.
    pub changed: Vec<Changed>,
    /// What each function gives back.
    pub results: Vec<Results>,
    /// Functions whose address is taken somewhere.
    pub taken: Vec<FnId>,
    /// Calls of methods of numbers without a sign: the function that makes them, and the byte of the method's name.
    pub unsigned: HashSet<(FnId, usize)>,
}

impl CallGraph {
    /// The loop of a number handed out by this graph.
    pub fn one_loop(&self, id: LoopId) -> &Loop {
        &self.loops[id.0]
    }

    /// The call of a number handed out by this graph.
    pub fn call(&self, id: CallId) -> &Call {
        &self.calls[id.0]
    }

    /// A loop and those around it, outermost first.
    pub fn nest(&self, within: Option<LoopId>) -> Vec<LoopId> {
        let mut nest = Vec::new();
        let mut at = within;
        while let Some(id) = at {
            nest.push(id);
            at = self.one_loop(id).parent;
        }
        nest.reverse();
        nest
    }

    /// All calls of each function, by its number.
    pub fn calls_by_function(&self) -> Vec<Vec<CallId>> {
        let mut lists = vec![Vec::new(); self.bodies.len()];
        for call in &self.calls {
            lists[call.caller.0].push(call.id);
        }
        lists
    }
}
