//! The instructions: steps of a small machine with a stack.

use super::call::CommCall;
use super::{Determinacy, Pattern, StdFunction, StdMethod};
use crate::values::{Binary, Value};
use std::ops::Range;
use std::rc::Rc;

/// A variable: `up` closures outwards.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Var {
    /// How many closures outwards it is declared.
    pub up: usize,
    /// Its number among the variables of that code.
    pub slot: usize,
}

/// What happens to a place that is named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// It is looked at.
    Never,
    /// It may be written to.
    Written,
    /// It may be written to if it holds a reference.
    Through,
    /// A function of the program is given a reference to it, as this parameter.
    Given(usize, usize),
    /// A function of the program is given its value, as this parameter.
    Passed(usize, usize),
}

/// What becomes of the order of elements in a value.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ElementOrder {
    /// It stays.
    #[default]
    Kept,
    /// It is another, the same on all ranks: a set that sorts.
    Sorted,
    /// It is another on every rank.
    Hashed,
    /// The same of something in it.
    Lost,
    /// Each part for itself.
    Tuple(Vec<ElementOrder>),
}

impl ElementOrder {
    /// Whether it may be another on every rank.
    pub fn is_hashed(&self) -> bool {
        match self {
            Self::Hashed | Self::Lost => true,
            Self::Tuple(parts) => parts.iter().any(Self::is_hashed),
            Self::Kept | Self::Sorted => false,
        }
    }
}

/// What a method call may be.
#[derive(Debug, Clone)]
pub struct Method {
    /// Its name.
    pub name: Rc<str>,
    /// Functions of the program, by number and the type that they are of.
    pub own: Vec<(usize, Option<Rc<str>>)>,
    /// Methods of the program with this name, where it is not known which is meant.
    pub perhaps: Vec<(usize, Option<Rc<str>>)>,
    /// What it does to messages, if it is one of the communication library.
    pub message: Option<Rc<CommCall>>,
    /// Methods of this name of crates of which it is told what they exchange.
    pub told: Vec<ToldCode>,
    /// What it is on values that are known, if it is one of the standard library.
    pub std: StdMethod,
    /// Whether it takes its receiver by shared reference or value, as far as the tables know.
    pub pure: bool,
    /// Whether it may give an exclusive reference to its receiver, or to a part of it, as far as the tables know.
    pub lends: bool,
    /// Whether it is one of those that give an exclusive reference and nothing else.
    pub exclusive: bool,
    /// Whether it leaves a list as long as it is.
    pub keeps_length: bool,
    /// Whether it starts threads with its last argument.
    pub starts_threads: bool,
    /// Whether what it gives is told by its receiver and arguments.
    pub determinacy: Determinacy,
    /// Whether it is one of a number without a sign.
    pub unsigned: bool,
    /// How many arguments it is given, without the receiver.
    pub arguments: usize,
}

/// A call of a crate of which it is told what it exchanges, with the code for that.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToldCode {
    /// The crate.
    pub of: Rc<str>,
    /// The call, with the crate in front.
    pub name: Rc<str>,
    /// The code.
    pub code: usize,
    /// What tells the communicators that it uses.
    pub on: TellsOn,
}

/// What tells the communicators that a call uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TellsOn {
    /// One that is not what it is called on is an argument.
    Arguments,
    /// All are those of what it is called on, or the one of all ranks.
    Receiver,
}

/// One of the things that such a call does.
#[derive(Debug)]
pub struct ToldStep {
    /// What: it is given a tag and a destination.
    pub call: CommCall,
    /// Whether a message may come from any rank.
    pub any: bool,
}

/// A function outside of the program.
#[derive(Debug, Default)]
pub struct Outside {
    /// Its path.
    pub path: Rc<[Rc<str>]>,
    /// How many arguments it is given.
    pub arguments: usize,
    /// What it does to messages, if it is one of the communication library.
    pub message: Option<Rc<CommCall>>,
    /// What it does to values that are known, if it is one of the standard library.
    pub std: StdFunction,
    /// Whether what it gives is told by what it is given.
    pub determinacy: Determinacy,
    /// Whether it gives its argument behind a pointer of its own.
    pub wraps: bool,
}

/// A step that makes values of those on the stack.
#[derive(Debug, Clone)]
pub enum ValueOp {
    /// A value that is known.
    Push(Value),
    /// The value on top is not needed.
    Pop,
    /// A part of the value on top.
    GetField(Rc<str>),
    /// The element whose index is on top, of the value below it.
    GetElement,
    /// What the reference on top leads to.
    Deref,
    /// `-x`
    Negate,
    /// `!x`
    Not,
    /// An operator with two operands.
    Binary(Binary),
    /// `x as T`
    Cast(Rc<str>),
    /// Makes a tuple of so many values.
    Tuple(usize),
    /// Makes an array of so many values.
    List(usize),
    /// `[x; n]`
    Repeat,
    /// Makes a struct: its name, those of its fields, and whether the others are those of a base.
    Struct(Rc<str>, Rc<[Rc<str>]>, bool),
    /// Makes a variant, or a struct without names, of so many values.
    Variant(Rc<str>, usize),
    /// Inclusive, whether it has a start and an end.
    Range(bool, bool, bool),
    /// Makes an iterator of the value on top.
    Iterate,
    /// Makes the closure with this code.
    Closure(usize),
    /// The value on top, or at the place on top, is put into this order.
    Reorder(Rc<ElementOrder>),
}

/// A step that looks at variables, or writes to them.
#[derive(Debug, Clone)]
pub enum MemoryOp {
    /// The value of a variable.
    Load(Var),
    /// The place of a variable; how it and its named parts are touched is said at the end of the chain.
    Address(Var, Vec<Rc<str>>, Access),
    /// A part of the place on top.
    Field(Rc<str>),
    /// The element whose index is on top, of the place below it.
    Element,
    /// Where the reference at the place on top leads.
    Follow,
    /// Puts the value on top into the place below it.
    Store,
    /// The same, put together with what is there.
    Update(Binary),
    /// The value on top becomes that of a new variable.
    Declare(usize),
    /// Variables that are no more.
    Clear(Range<usize>),
    /// Whether the variable's value fits.
    Test(usize, Rc<Pattern>),
    /// Takes the variable's value apart.
    Bind(usize, Rc<Pattern>),
    /// May write to what is named.
    Havoc(Vec<Var>),
    /// What a part of a variable holds is about to be sent: what is not known of it has a name from now on, and is the same
    /// on every rank that gets it.
    Name(Var, Vec<Rc<str>>),
}

/// A step that decides where the rank goes on.
#[derive(Debug, Clone)]
pub enum ControlOp {
    /// Goes on at this step.
    Jump(usize),
    /// With false on top, goes on at the first number; all that is decided ends at the second, where a value is on top.
    Branch(usize, usize),
    /// A loop begins that ends before the step of this number.
    Enter(usize),
    /// The next element of the iterator in a variable, or on to the number behind.
    Next(usize, usize),
    /// The turn ends early, or the loop: as many loops as this end.
    Break(usize, usize),
    /// The next turn of the loop that is innermost once as many have ended.
    Continue(usize, usize),
    /// The innermost loop has ended.
    Exit,
    /// The value on top is that of the call.
    Return,
    /// `?`
    Try,
    /// A boundary between statements.
    Boundary(usize),
    /// The process ends, or panics.
    End,
    /// Communication that cannot be followed.
    Opaque(Rc<str>),
}

/// A step that calls something; what it is given lies on the stack.
#[derive(Debug, Clone)]
pub enum CallOp {
    /// A function of the program, and the number of its arguments.
    Function(usize, usize),
    /// A method.
    Method(Rc<Method>),
    /// Calls what the value below so many arguments stands for.
    Value(usize),
    /// A function outside of the program.
    Outside(Rc<Outside>),
    /// What a call of a crate does of which that is told: communicator, rank, tag and destination lie on the stack.
    Told(Rc<ToldStep>),
    /// The communicator on top becomes what a crate has made of it.
    ToldHandle(Rc<str>),
    /// A text made of so many values, and the functions of the program that may write them.
    Text(Rc<str>, usize, Rc<[usize]>),
    /// A macro that may call these functions.
    Any(Vec<usize>),
}

/// A step of the skeleton.
#[derive(Debug, Clone)]
pub enum Op {
    /// A step that makes values of those on the stack.
    Value(ValueOp),
    /// A step that looks at variables, or writes to them.
    Memory(MemoryOp),
    /// A step that decides where the rank goes on.
    Control(ControlOp),
    /// A step that calls something; what it is given lies on the stack.
    Call(CallOp),
}

impl From<ValueOp> for Op {
    fn from(op: ValueOp) -> Self {
        Self::Value(op)
    }
}

impl From<MemoryOp> for Op {
    fn from(op: MemoryOp) -> Self {
        Self::Memory(op)
    }
}

impl From<ControlOp> for Op {
    fn from(op: ControlOp) -> Self {
        Self::Control(op)
    }
}

impl From<CallOp> for Op {
    fn from(op: CallOp) -> Self {
        Self::Call(op)
    }
}

/// `return Err(..)`
pub fn is_error(ops: &[Op], at: usize) -> bool {
    at.checked_sub(1)
        .and_then(|before| ops.get(before))
        .is_some_and(|op| matches!(op, Op::Value(ValueOp::Variant(name, _)) if &**name == "Err"))
}
