//! One rank as a small machine: it follows the skeleton until it has to wait for others.

mod bags;
mod builtin;
mod calls;
mod control;
pub(crate) mod grids;
mod lists;
mod many;
mod messages;
pub(crate) mod model;
mod outside;
mod patterns;
mod places;
mod polling;
mod quiet;
mod states;

mod threads;

use crate::skeleton::call::{Gives, Waits};
use crate::skeleton::regions::Pieces;
use crate::skeleton::{Op, Skeleton, Touch, Var};
use crate::values::numbers;
use crate::values::{Fields, Place, Value};
use model::CommModel;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Lists longer than this are not followed element by element.
const LONGEST_LIST: usize = 512;

/// A step of the skeleton, for people.
pub(crate) type At = (usize, usize);

/// What a call of a function is followed by.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum After {
    /// Its value is that of the call.
    Value,
    /// `Some` of it.
    Some,
    /// The requests from this one on are waited for.
    Drain(u64),
    /// A thread of a region has ended.
    Thread,
    /// A region with threads that have sites has ended: its value is that of the call.
    Region,
    /// The next element of a list goes through the closure.
    Each(Each),
}

/// A list that goes through a closure.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Each {
    name: Rc<str>,
    closure: Value,
    current: Value,
    todo: Vec<Value>,
    done: Vec<Value>,
}

/// A loop that has been entered.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Mark {
    enter: usize,
    height: usize,
    key: Option<u64>,
    /// Whether it has gone round.
    again: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Frame {
    pub(crate) code: usize,
    pub(crate) pc: usize,
    pub(crate) slots: Vec<Value>,
    pub(crate) stack: Vec<Value>,
    marks: Vec<Mark>,
    /// Of a closure, the frame that it was made in.
    parent: Option<usize>,
    after: After,
    given: Vec<Value>,
    key: Option<u64>,
}

/// A piece without messages that is being followed as long as that is cheap.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Quiet {
    frame: usize,
    /// The loop's mark, or the whole call.
    mark: Option<usize>,
    fuel: usize,
    /// How many loops of the call may still be given up.
    loops: usize,
}

/// A message or a part in a collective call that is under way.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Request {
    pub(crate) id: u64,
    pub(crate) what: What,
    pub(crate) at: At,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum What {
    /// The message has left.
    Sent,
    /// Communicator, source, tag: nothing stands for any.
    Receive {
        comm: usize,
        source: Option<i128>,
        tag: Option<Value>,
        into: Option<Place>,
        /// Value, source and tag, once it has come.
        came: Option<(Value, i128, Value)>,
    },
    /// Communicator and number of the call.
    Collective {
        comm: usize,
        number: usize,
        into: Option<Place>,
    },
}

/// What a rank waits for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Wait {
    Receive(u64, Gives),
    /// The same, and `Some` of it is given.
    MaybeReceive(u64, Gives),
    Probe {
        comm: usize,
        source: Option<i128>,
        tag: Option<Value>,
        /// Whether `Some` status is given.
        maybe: bool,
    },
    /// All of these; the value that is given then.
    Requests(Vec<u64>, Value),
    Collective(u64),
    /// What all ranks decide alike.
    Decision(u64),
    /// A question of which the answer is known; what that tells of other values is tried case by case.
    Cases(u64, bool),
    Site(usize),
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum State {
    Runs,
    Waits(Wait),
    Ended,
    /// It cannot be followed any further, and why.
    Lost(Rc<str>),
}

/// One rank.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Rank {
    pub(crate) index: usize,
    pub(crate) state: State,
    pub(crate) frames: Vec<Frame>,
    pub(crate) requests: Vec<Request>,
    /// Messages that have been matched and not taken.
    pub(crate) held: BTreeMap<u64, (Value, Value)>,
    pub(crate) next: u64,
    /// How many collective calls it has made, by communicator.
    pub(crate) calls: BTreeMap<usize, usize>,
    quiet: Option<Quiet>,
    /// What it asks for again and again.
    testing: Option<Box<polling::Testing>>,
    /// The step that is being done.
    pub(crate) at: At,
}

/// The dimensions of a grid of ranks, and whether each is periodic.
pub type Grid = (Vec<i128>, Vec<bool>);

/// Ranks that communicate with each other.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Communicator {
    /// The ranks in it, by their number among all.
    pub members: Vec<usize>,
    /// The grid that they form, if they do.
    pub grid: Option<Grid>,
}

/// What a rank brings into a collective call.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Part {
    /// What all ranks must agree in.
    pub(crate) kind: Rc<str>,
    /// Who waits for whom; nothing where a communicator is made.
    pub(crate) waits: Option<Waits>,
    pub(crate) root: Option<i128>,
    pub(crate) same: bool,
    pub(crate) data: Option<Value>,
    /// Colour and key.
    pub(crate) split: Option<(Option<i128>, i128)>,
    pub(crate) grid: Option<Grid>,
    /// Whether a rank may get no communicator.
    pub(crate) optional: bool,
}

/// What a rank asks of the others.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Ask {
    /// A message to a rank of a communicator.
    Send {
        comm: usize,
        to: usize,
        tag: Value,
        data: Value,
        at: At,
    },
    /// Its part in a collective call.
    Join {
        comm: usize,
        number: usize,
        part: Rc<Part>,
        at: At,
    },
}

/// What a rank can see while it runs.
#[derive(Debug)]
pub(crate) struct Sight<'a> {
    pub(crate) skeleton: &'a Skeleton,
    pub(crate) model: &'a dyn CommModel,
    pub(crate) pieces: &'a Pieces<'a>,
    pub(crate) comms: &'a [Communicator],
    pub(crate) decisions: &'a BTreeMap<u64, bool>,
    /// Whether conditions that decide about values are tried both ways.
    pub(crate) fine: bool,
    /// Whether a few turns of a loop stand for all.
    pub(crate) few_turns: bool,
    pub(crate) asks: &'a mut Vec<Ask>,
    /// Steps that may still be done.
    pub(crate) fuel: &'a mut u64,
}

impl Rank {
    /// A rank that is about to call `main`.
    pub(crate) fn new(index: usize, skeleton: &Skeleton) -> Self {
        let mut rank = Self {
            index,
            state: State::Runs,
            frames: Vec::new(),
            requests: Vec::new(),
            held: BTreeMap::new(),
            next: 0,
            calls: BTreeMap::new(),
            quiet: None,
            testing: None,
            at: (skeleton.main, 0),
        };
        rank.frames.push(Frame {
            code: skeleton.main,
            pc: 0,
            slots: vec![Value::Unit; skeleton.codes[skeleton.main].slots],
            stack: Vec::new(),
            marks: Vec::new(),
            parent: None,
            after: After::Value,
            given: Vec::new(),
            key: None,
        });
        rank
    }

    /// Runs until it has to wait, has ended, or is lost.
    pub(crate) fn run(&mut self, sight: &mut Sight<'_>) {
        while self.state == State::Runs {
            if *sight.fuel == 0 {
                self.lose("the program takes too many steps to be followed");
                return;
            }
            *sight.fuel -= 1;
            self.spend(sight);
            let (asked, requests) = (sight.asks.len(), self.requests.len());
            if self.step(sight).is_none() {
                // The stack of the skeleton does not fit: a construct is not understood.
                self.lose("a construct is not understood");
            }
            self.watch_threads(sight.asks.len() > asked, requests);
            self.watch_testing(sight);
        }
    }

    pub(crate) fn lose(&mut self, why: &str) {
        self.state = State::Lost(why.into());
    }

    pub(crate) fn frame(&mut self) -> &mut Frame {
        let last = self.frames.len() - 1;
        &mut self.frames[last]
    }

    pub(crate) fn push(&mut self, value: Value) {
        self.frame().stack.push(value);
    }

    fn pop(&mut self) -> Option<Value> {
        self.frame().stack.pop()
    }

    fn pop_many(&mut self, count: usize) -> Option<Vec<Value>> {
        let stack = &mut self.frame().stack;
        let from = stack.len().checked_sub(count)?;
        Some(stack.split_off(from))
    }

    /// Nothing where the stack has not what the step needs.
    fn step(&mut self, sight: &mut Sight<'_>) -> Option<()> {
        let (code, pc) = {
            let frame = self.frames.last()?;
            (frame.code, frame.pc)
        };
        self.at = (code, pc);
        let skeleton = sight.skeleton;
        let Some(op) = skeleton.codes[code].ops.get(pc) else {
            return self.give_back(Value::Unit, sight);
        };
        self.frame().pc += 1;
        match op {
            Op::Push(value) => self.push(value.clone()),
            Op::Pop => {
                self.pop()?;
            }
            Op::Load(var) => {
                let value = self.variable(*var)?.clone();
                self.push(value);
            }
            Op::Place(var, _, touch) => self.place_op(*var, *touch)?,
            Op::Field(name) => self.field_op(name)?,
            Op::Element => self.element_op()?,
            Op::Follow => {
                let top = self.pop()?;
                let followed = self.follow(top);
                self.push(followed);
            }
            Op::Write => {
                let value = self.pop()?;
                let place = self.pop()?;
                self.write(&place, value);
            }
            Op::Update(operator) => {
                let right = self.pop()?;
                let place = self.pop()?;
                // `*x += 1` and `x += 1` where `x` is a reference: what it leads to.
                let place = self.followed(place);
                let (left, right) = (self.value(&place), self.value(&right));
                self.write(&place, operator.apply(&left, &right));
            }
            Op::GetField(name) => {
                let top = self.pop()?;
                let value = self.get_field(&top, name);
                self.push(value);
            }
            Op::GetElement => {
                let index = self.pop()?;
                let top = self.pop()?;
                let value = self.get_element(&top, &index);
                self.push(value);
            }
            Op::Deref => {
                let top = self.pop()?;
                let value = self.value(&top);
                self.push(value);
            }
            Op::Negate | Op::Not => {
                let top = self.pop()?;
                let top = self.value(&top);
                self.push(numbers::unary(matches!(op, Op::Not), &top));
            }
            Op::Binary(operator) => {
                let right = self.pop()?;
                let left = self.pop()?;
                let (left, right) = (self.value(&left), self.value(&right));
                self.push(operator.apply(&left, &right));
            }
            Op::Cast(to) => {
                let top = self.pop()?;
                let top = self.value(&top);
                self.push(numbers::cast(&top, to));
            }
            Op::Tuple(count) => {
                let parts = self.pop_many(*count)?;
                self.push(Value::tuple(parts));
            }
            Op::List(count) => {
                let parts = self.pop_many(*count)?;
                let list = self.listed(parts);
                self.push(list);
            }
            Op::Repeat => {
                let count = self.pop()?;
                let element = self.pop()?;
                let (count, element) = (self.value(&count), self.value(&element));
                self.push(match count {
                    Value::Int(count) if (0..=64).contains(&count) => {
                        Value::list(vec![element; count as usize])
                    }
                    count => Value::many(count, element),
                });
            }
            Op::Struct(name, names, has_base) => self.struct_op(name, names, *has_base)?,
            Op::Variant(name, count) => {
                let parts = self.pop_many(*count)?;
                self.push(Value::Variant(name.clone(), Rc::new(parts)));
            }
            Op::Range(inclusive, start, end) => {
                let end = if *end { Some(self.pop()?) } else { None };
                let start = if *start { Some(self.pop()?) } else { None };
                let (start, end) = (start.map(|one| self.value(&one)), end.map(|one| self.value(&one)));
                self.push(numbers::range(start, end, *inclusive));
            }
            Op::Declare(slot) => {
                let value = self.pop()?;
                *self.frame().slots.get_mut(*slot)? = value;
            }
            Op::Clear(range) => {
                let frame = self.frame();
                for slot in frame.slots.get_mut(range.clone())? {
                    *slot = Value::Unit;
                }
            }
            Op::Test(slot, pattern) => {
                let value = self.frame().slots.get(*slot)?.clone();
                let fits = self.fits(&value, pattern);
                self.push(fits);
            }
            Op::Bind(slot, pattern) => {
                let value = self.frame().slots.get(*slot)?.clone();
                self.bind(value, pattern);
            }
            Op::Jump(to) => self.frame().pc = *to,
            Op::Branch(other, join) => self.branch(*other, *join, sight)?,
            Op::Enter(_) => self.enter(pc, sight),
            Op::Next(slot, exit) => self.next_element(*slot, *exit, sight)?,
            Op::Leave(ends, to) => self.leave(*ends, *to),
            Op::Again(ends, to) => self.again(*ends, *to)?,
            Op::Exit => self.exit(),
            Op::Iterate => {
                let top = self.pop()?;
                let iterator = self.iterator(top);
                self.push(iterator);
            }
            Op::Call(callee, count) => {
                let arguments = self.pop_many(*count)?;
                self.call(*callee, arguments, None, After::Value, sight);
            }
            Op::CallValue(count) => {
                let arguments = self.pop_many(*count)?;
                let callee = self.pop()?;
                let callee = self.value(&callee);
                self.call_value(callee, arguments, After::Value, sight);
            }
            Op::Method(method) => {
                let arguments = self.pop_many(method.arguments)?;
                let receiver = self.pop()?;
                self.method(method, receiver, arguments, sight);
            }
            Op::Outside(path, count, message) => {
                let arguments = self.pop_many(*count)?;
                self.outside(path, arguments, message.as_ref(), sight);
            }
            Op::Text(pattern, count, writers) => {
                let parts = self.pop_many(*count)?;
                self.text(pattern, &parts, writers, sight);
            }
            Op::Closure(index) => {
                let frame = self.frames.len() - 1;
                self.push(Value::Closure(*index, frame));
            }
            Op::Return => {
                let value = self.pop()?;
                self.give_back(value, sight)?;
            }
            Op::Try => {
                let top = self.pop()?;
                self.question_mark(top, sight)?;
            }
            Op::Boundary(index) => {
                if sight.pieces.is_site(*index) {
                    self.state = State::Waits(Wait::Site(*index));
                }
            }
            Op::End => self.state = State::Ended,
            Op::Opaque(why) => self.state = State::Lost(why.clone()),
            Op::Mention(callees) => {
                if callees.iter().any(|callee| sight.pieces.has_events(*callee)) {
                    self.lose("which function is called here cannot be told");
                }
            }
            Op::Gather(shape) => {
                let top = self.pop()?;
                let gathered = self.gathered(top, shape);
                self.push(gathered);
            }
            Op::Forget(vars) => {
                for var in vars {
                    let place = self.place_of(*var)?;
                    self.forget(&place, None);
                }
            }
        }
        Some(())
    }

    fn place_op(&mut self, var: Var, touch: Touch) -> Option<()> {
        let value = self.variable(var)?.clone();
        let place = Value::Ref(self.place_of(var)?);
        self.push(match touch {
            Touch::Written | Touch::Given(..) => place,
            // A method's receiver, or a plain argument: what the variable holds.
            Touch::Never | Touch::Through | Touch::Passed(..) => value,
        });
        Some(())
    }

    fn struct_op(&mut self, name: &Rc<str>, names: &Rc<[Rc<str>]>, has_base: bool) -> Option<()> {
        let values = self.pop_many(names.len())?;
        let mut fields = Fields::new();
        if has_base {
            let base = self.pop()?;
            match self.value(&base) {
                Value::Struct(_, base) => fields = (*base).clone(),
                _ => {
                    // The fields that are not named are not known.
                    self.push(Value::Unknown);
                    return Some(());
                }
            }
        }
        fields.extend(names.iter().cloned().zip(values));
        self.push(Value::Struct(name.clone(), Rc::new(fields)));
        Some(())
    }

    /// A list, unless it is too long to be followed.
    fn listed(&self, parts: Vec<Value>) -> Value {
        if parts.len() <= LONGEST_LIST {
            return Value::list(parts);
        }
        if parts.iter().all(Value::is_same) {
            Value::uniform(&parts)
        } else {
            Value::Unknown
        }
    }
}
