//! The communication skeleton: each function as a list of steps of a small machine.

pub mod call;
pub(crate) mod regions;
pub(crate) mod settled;

use crate::values::{Binary, Value};
use call::CommCall;
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::ops::Range;
use std::rc::Rc;

/// Stands for an element among the names of fields.
pub const ELEMENT: &str = "[]";

/// Methods that leave their list as long as it is.
pub fn keeps_length(method: &str) -> bool {
    const NAMES: [&str; 17] = [
        "copy_from_slice",
        "clone_from_slice",
        "copy_within",
        "fill",
        "fill_with",
        "reverse",
        "rotate_left",
        "rotate_right",
        "swap",
        "swap_with_slice",
        "sort",
        "iter_mut",
        "first_mut",
        "last_mut",
        "get_mut",
        "par_sort",
        "as_mut_slice",
    ];
    let starts = ["sort_", "par_sort_", "select_nth_"];
    let slices = method.contains("chunks") || method.contains("split_") || method == "par_iter_mut";
    NAMES.contains(&method)
        || starts.iter().any(|start| method.starts_with(start))
        || (slices && method.ends_with("_mut"))
}

/// `return Err(..)`
pub fn is_error(ops: &[Op], at: usize) -> bool {
    at.checked_sub(1)
        .and_then(|before| ops.get(before))
        .is_some_and(|op| matches!(op, Op::Variant(name, _) if &**name == "Err"))
}

/// A variable: `up` closures outwards.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Var {
    /// How many closures outwards it is declared.
    pub up: usize,
    /// Its number among the variables of that code.
    pub slot: usize,
}

/// What becomes of the order of elements in a value.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Shape {
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
    Tuple(Vec<Shape>),
}

impl Shape {
    /// Whether it may be another on every rank.
    pub fn is_hashed(&self) -> bool {
        match self {
            Self::Hashed | Self::Lost => true,
            Self::Tuple(parts) => parts.iter().any(Self::is_hashed),
            Self::Kept | Self::Sorted => false,
        }
    }
}

/// What happens to a place that is named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Touch {
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

/// What a value is tested against and taken apart by.
#[derive(Debug, Clone)]
pub enum Pattern {
    /// Anything.
    Any,
    /// Anything, and it gets a name; with what it must be besides. By reference where it says so.
    Name(usize, bool, Option<Box<Pattern>>),
    /// This value.
    Value(Value),
    /// From, to, and whether that belongs to it.
    Range(Option<Value>, Option<Value>, bool),
    /// The parts in front of `..` and those behind it.
    Tuple(Vec<Pattern>, Option<Vec<Pattern>>),
    /// An array.
    List(Vec<Pattern>, Option<Vec<Pattern>>),
    /// A variant with parts.
    Variant(Rc<str>, Vec<Pattern>, Option<Vec<Pattern>>),
    /// A struct or variant with named fields.
    Struct(Rc<str>, Vec<(Rc<str>, Pattern)>),
    /// A struct or variant of which it is not known whether it is this one.
    Either(Vec<Pattern>),
    /// Not understood: the slots of its names.
    Other(Vec<usize>),
}

impl Pattern {
    /// The slots that it gives values to.
    pub fn slots(&self, into: &mut Vec<usize>) {
        match self {
            Self::Any | Self::Value(_) | Self::Range(..) => {}
            Self::Name(slot, _, inner) => {
                into.push(*slot);
                if let Some(inner) = inner {
                    inner.slots(into);
                }
            }
            Self::Tuple(front, back) | Self::List(front, back) | Self::Variant(_, front, back) => {
                front
                    .iter()
                    .chain(back.iter().flatten())
                    .for_each(|one| one.slots(into));
            }
            Self::Struct(_, fields) => fields.iter().for_each(|(_, one)| one.slots(into)),
            Self::Either(cases) => cases.iter().for_each(|one| one.slots(into)),
            Self::Other(slots) => into.extend(slots),
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
    /// Methods of the program with this name, where it is not told which is meant.
    pub perhaps: Vec<(usize, Option<Rc<str>>)>,
    /// What it does to messages, if it is one of the communication library.
    pub message: Option<Rc<CommCall>>,
    /// Whether it takes its receiver by shared reference or value, as far as the tables know.
    pub pure: bool,
    /// Whether it may give an exclusive reference to its receiver, or to a part of it, as far as the tables know.
    pub lends: bool,
    /// Whether it is one of a number without a sign.
    pub unsigned: bool,
    /// How many arguments it is given, without the receiver.
    pub arguments: usize,
}

/// A step.
#[derive(Debug, Clone)]
pub enum Op {
    /// A value that is known.
    Push(Value),
    /// The value on top is not needed.
    Pop,
    /// The value of a variable.
    Load(Var),
    /// The place of a variable; how it and its named parts are touched is told at the end of the chain.
    Place(Var, Vec<Rc<str>>, Touch),
    /// A part of the place on top.
    Field(Rc<str>),
    /// The element whose index is on top, of the place below it.
    Element,
    /// Where the reference at the place on top leads.
    Follow,
    /// Puts the value on top into the place below it.
    Write,
    /// The same, put together with what is there.
    Update(Binary),
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
    /// The value on top becomes that of a new variable.
    Declare(usize),
    /// Variables that are no more.
    Clear(Range<usize>),
    /// Whether the variable's value fits.
    Test(usize, Rc<Pattern>),
    /// Takes the variable's value apart.
    Bind(usize, Rc<Pattern>),
    /// Goes on at this step.
    Jump(usize),
    /// With false on top, goes on at the first number; all that is decided ends at the second, where a value is on top.
    Branch(usize, usize),
    /// A loop begins that ends before the step of this number.
    Enter(usize),
    /// The next element of the iterator in a variable, or on to the number behind.
    Next(usize, usize),
    /// The turn ends early, or the loop: as many loops as this end.
    Leave(usize, usize),
    /// The next turn of the loop that is innermost once as many have ended.
    Again(usize, usize),
    /// A macro that may call these functions.
    Mention(Vec<usize>),
    /// The innermost loop has ended.
    Exit,
    /// Makes an iterator of the value on top.
    Iterate,
    /// A function of the program, and the number of its arguments.
    Call(usize, usize),
    /// A method.
    Method(Rc<Method>),
    /// Calls what the value below so many arguments stands for.
    CallValue(usize),
    /// A function outside of the program, its path and the number of its arguments.
    Outside(Rc<[Rc<str>]>, usize, Option<Rc<CommCall>>),
    /// A text made of so many values, and the functions of the program that may write them.
    Text(Rc<str>, usize, Rc<[usize]>),
    /// Makes the closure with this code.
    Closure(usize),
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
    /// May write to what is named.
    Forget(Vec<Var>),
    /// The value on top, or at the place on top, is put into this order.
    Gather(Rc<Shape>),
}

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
                    Op::Method(one) if one.message.is_some() => format!(".{}(..)", one.name),
                    Op::Outside(path, _, Some(_)) => format!("{}(..)", path.join("::")),
                    Op::Call(callee, _) => format!("{}(..)", self.codes.get(*callee)?.name),
                    Op::Boundary(at) if self.boundaries[*at].user.is_some() => "checkpoint!()".to_owned(),
                    Op::Opaque(why) => format!("not followed: {why}"),
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
