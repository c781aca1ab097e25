//! The communication skeleton: each function as a list of steps of a small machine.
//!
//! `ops` has the instructions, `pattern` what values are taken apart by, [`call`] what a call of a communication library
//! does, `std_calls` what one of the standard library is; `family` is how tables have that. `regions` finds which parts of a skeleton exchange no messages, and what they may write to; `determinacy` whether
//! what comes of a call is the same on all ranks.

pub mod call;
mod determinacy;
pub(crate) mod family;
mod ops;
mod pattern;
pub(crate) mod regions;
pub(crate) mod std_calls;

pub use determinacy::Determinacy;
pub(crate) use ops::is_error;
pub use ops::{
    Access, CallOp, ControlOp, ElementOrder, MemoryOp, Method, Op, Outside, TellsOn, ToldCode, ToldStep,
    ValueOp, Var,
};
pub use pattern::Pattern;
pub use std_calls::{StdFunction, StdMethod};

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::ops::Range;
use std::rc::Rc;

/// Stands for an element among the names of fields.
pub const ELEMENT: &str = "[]";

/// A place in the source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourcePlace {
    /// The file, by its number.
    pub file: usize,
    /// The bytes of the file.
    pub bytes: Range<usize>,
    /// The line, from 1.
    pub line: usize,
    /// The column, from 0.
    pub column: usize,
}

/// A place where a site could stand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Boundary {
    /// The function, by its number.
    pub function: usize,
    /// The byte of the file.
    pub at: usize,
    /// The line, from 1.
    pub line: usize,
    /// Where the body of the loop begins whose statements it stands between.
    pub body_at: usize,
    /// Whether the user has put a site there, and vouches for it.
    pub user: Option<bool>,
    /// Whether each rank comes to the user's site as often as it does, or waits for the others there.
    pub for_itself: bool,
    /// For one behind a loop, the steps of that: `body_at` is its own.
    pub behind: Option<Range<usize>>,
}

/// A function or a closure.
#[derive(Debug, Clone, Default)]
pub struct Code {
    /// What it is called, for people.
    pub name: String,
    /// For a closure, the code that it is written in.
    pub parent: Option<usize>,
    /// What its arguments are bound to.
    pub parameters: Vec<Pattern>,
    /// How many variables it has.
    pub slots: usize,
    /// Its steps.
    pub ops: Vec<Op>,
    /// Where each step is written.
    pub places: Vec<u32>,
    /// Whether `self` is taken by value.
    pub consumes_self: bool,
    /// For each parameter whether it is a plain shared reference.
    pub shared: Vec<bool>,
    /// The steps that name a variable for a method that goes by key or takes all of it: the order of what a hashed
    /// collection holds does not matter to it.
    pub by_key: HashSet<usize>,
    /// Variables that stand for a closure that is written here.
    pub closures: HashMap<usize, usize>,
    /// The steps that call the closure of such a variable.
    pub told_calls: HashMap<usize, usize>,
}

impl Code {
    /// Whether what a parameter refers to may be written to.
    pub fn is_lent(&self, parameter: usize) -> bool {
        !self.shared.get(parameter).copied().unwrap_or(false)
    }
}

/// The skeleton of a program.
#[derive(Debug, Default)]
pub struct Skeleton {
    /// The functions by their numbers, then the closures.
    pub codes: Vec<Code>,
    /// The places where a site could stand.
    pub boundaries: Vec<Boundary>,
    /// The places in the source that steps are written at.
    pub places: Vec<SourcePlace>,
    /// The names of fields that hold an exclusive reference, in any type.
    pub references: HashSet<Rc<str>>,
    /// The number of the function that the program begins in.
    pub main: usize,
    /// Crates whose calls may exchange messages, and are not followed.
    pub unseen: Vec<Unseen>,
}

/// A crate of which it is not known what its calls exchange.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unseen {
    /// Its name in paths.
    pub name: String,
    /// The library of messages that it depends on.
    pub library: String,
    /// Where the program names it first.
    pub place: SourcePlace,
}

impl Skeleton {
    /// Where a step is written.
    pub fn place(&self, code: usize, pc: usize) -> Option<&SourcePlace> {
        let index = *self.codes.get(code)?.places.get(pc)?;
        self.places.get(index as usize)
    }
}

impl fmt::Display for Skeleton {
    /// The steps that have to do with messages, function by function.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, code) in self.codes.iter().enumerate() {
            let told = code.ops.iter().enumerate().filter_map(|(pc, op)| {
                let text = match op {
                    Op::Call(CallOp::Method(one)) if one.message.is_some() => format!(".{}(..)", one.name),
                    Op::Call(CallOp::Outside(one)) if one.message.is_some() => {
                        format!("{}(..)", one.path.join("::"))
                    }
                    Op::Call(CallOp::Told(one)) => format!("{}(..)", one.call.name),
                    Op::Call(CallOp::Function(callee, _)) => format!("{}(..)", self.codes.get(*callee)?.name),
                    Op::Control(ControlOp::Boundary(at)) if self.boundaries[*at].user.is_some() => {
                        "checkpoint!()".to_owned()
                    }
                    Op::Control(ControlOp::Opaque(why)) => format!("not followed: {why}"),
                    _ => return None,
                };
                Some((self.place(index, pc).map_or(0, |place| place.line), text))
            });
            let told: Vec<_> = told.collect();
            if !told.is_empty() {
                writeln!(f, "{}", code.name)?;
                for (line, text) in told {
                    writeln!(f, "  {line:4} {text}")?;
                }
            }
        }
        Ok(())
    }
}
