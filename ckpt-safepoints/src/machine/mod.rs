//! One rank as a small machine: it follows the skeleton until it has to wait for others.
//!
//! | what | modules |
//! | --- | --- |
//! | the steps | `expressions`, `places`, `control`, `calls`, a group of instructions each; `patterns` |
//! | the standard library | `std_methods`, `std_functions`, `std_numbers`, `lists`, `summaries` and `unordered` for its collections, `threads` |
//! | communication | `messages` as a table describes it, `model` for what the library's model says besides, `told` for crates of which a user tells it, `polling`, `grids` |
//! | what is not followed | `way_out` for what can be done about that, `quiet` for regions without messages, `states` for a rank as a whole |
//!
//! What a rank says to others it only notes ([`CommEvent`]): bringing it about is the explorer's.

mod calls;
mod control;
mod expressions;
pub(crate) mod grids;
mod lists;
mod messages;
pub(crate) mod model;
mod patterns;
mod places;
mod polling;
mod quiet;
mod states;
mod std_functions;
mod std_methods;
mod std_numbers;
mod summaries;
mod threads;
mod told;
mod unordered;
pub(crate) mod way_out;

use crate::skeleton::call::{CollectiveOrder, Gives};
use crate::skeleton::regions::Regions;
use crate::skeleton::std_calls::TraversalCall;
use crate::skeleton::{Op, Skeleton};
use crate::values::{MemoryPlace, Provenance, Value};
use model::CommModel;
use std::collections::BTreeMap;
use std::rc::Rc;
use way_out::WayOut;

/// Lists longer than this are not followed element by element.
const LONGEST_LIST: usize = 512;

/// A step of the skeleton, for people.
pub(crate) type ProgramPoint = (usize, usize);

/// What a call of a function is followed by.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Continuation {
    /// Its value is that of the call.
    Value,
    /// `Some` of it.
    Some,
    /// The requests from this one on are waited for.
    Drain(u64),
    /// A thread of a region has ended.
    Thread,
    /// A region with threads that have sites has ended: its value is that of the call.
    ParallelRegion,
    /// The next element of a list goes through the closure.
    Each(Traversal),
}

/// A list that goes through a closure.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Traversal {
    call: TraversalCall,
    closure: Value,
    current: Value,
    todo: Vec<Value>,
    done: Vec<Value>,
}

/// A loop that has been entered.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct LoopMark {
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
    marks: Vec<LoopMark>,
    /// Of a closure, the frame that it was made in.
    parent: Option<usize>,
    after: Continuation,
    given: Vec<Value>,
    key: Option<u64>,
}

/// A region without messages that is being followed as long as that is cheap.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct QuietRegion {
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
    pub(crate) operation: Operation,
    pub(crate) at: ProgramPoint,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Operation {
    /// The message has left.
    Sent,
    /// Communicator, source, tag: nothing stands for any.
    Receive {
        comm: usize,
        source: Option<i128>,
        tag: Option<Value>,
        into: Option<MemoryPlace>,
        /// Value, source and tag, once it has come.
        came: Option<(Value, i128, Value)>,
    },
    /// Communicator and number of the call.
    Collective {
        comm: usize,
        number: usize,
        into: Option<MemoryPlace>,
    },
}

/// What a rank waits for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum BlockedOn {
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
    /// A question of which the answer is known; what that says of other values is tried case by case.
    Cases(u64, bool),
    /// Whether this rank leaves here for good, by what only it knows, and ends without another message or site; else it
    /// goes on where it stands.
    Leaving,
    Site(usize),
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum RankState {
    Runs,
    Blocked(BlockedOn),
    Ended,
    /// It cannot be followed any further.
    Lost(Lost),
}

/// Why a rank cannot be followed any further.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Lost {
    pub(crate) why: Rc<str>,
    /// Whether it is that what the rank does hangs on data that may differ between the ranks.
    pub(crate) on_data: bool,
    /// What can be done about it.
    pub(crate) way: WayOut,
}

/// One rank.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Rank {
    pub(crate) index: usize,
    pub(crate) state: RankState,
    pub(crate) frames: Vec<Frame>,
    pub(crate) requests: Vec<Request>,
    /// Messages that have been matched and not taken.
    pub(crate) held: BTreeMap<u64, (Value, Value)>,
    pub(crate) next: u64,
    /// How many values it has named that it sends.
    pub(crate) named: u64,
    /// How many collective calls it has made, by communicator.
    pub(crate) calls: BTreeMap<usize, usize>,
    quiet: Option<QuietRegion>,
    /// What it asks for again and again.
    testing: Option<Box<polling::Testing>>,
    /// The step that is being done.
    pub(crate) at: ProgramPoint,
    /// What is known of values that all ranks share.
    pub(crate) provenance: Provenance,
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
pub(crate) struct Contribution {
    /// What all ranks must agree in.
    pub(crate) collective: Rc<str>,
    /// Who waits for whom; nothing where a communicator is made.
    pub(crate) waits: Option<CollectiveOrder>,
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
pub(crate) enum CommEvent {
    /// A message to a rank of a communicator.
    Send {
        comm: usize,
        to: usize,
        tag: Value,
        data: Value,
        at: ProgramPoint,
    },
    /// Its part in a collective call.
    Join {
        comm: usize,
        number: usize,
        part: Rc<Contribution>,
        at: ProgramPoint,
    },
}

/// What a rank can see while it runs.
#[derive(Debug)]
pub(crate) struct View<'a> {
    pub(crate) skeleton: &'a Skeleton,
    pub(crate) model: &'a dyn CommModel,
    pub(crate) regions: &'a Regions<'a>,
    pub(crate) comms: &'a [Communicator],
    pub(crate) decisions: &'a BTreeMap<u64, bool>,
    /// Whether conditions that decide about values are tried both ways.
    pub(crate) fine: bool,
    /// Whether a few turns of a loop stand for all.
    pub(crate) few_turns: bool,
    pub(crate) emitted: &'a mut Vec<CommEvent>,
    /// Steps that may still be done.
    pub(crate) fuel: &'a mut u64,
}

impl Rank {
    /// A rank that is about to call `main`.
    pub(crate) fn new(index: usize, skeleton: &Skeleton, provenance: &Provenance) -> Self {
        let mut rank = Self {
            index,
            state: RankState::Runs,
            frames: Vec::new(),
            requests: Vec::new(),
            held: BTreeMap::new(),
            next: 0,
            named: 0,
            calls: BTreeMap::new(),
            quiet: None,
            testing: None,
            at: (skeleton.main, 0),
            provenance: provenance.clone(),
        };
        rank.frames.push(Frame {
            code: skeleton.main,
            pc: 0,
            slots: vec![Value::Unit; skeleton.codes[skeleton.main].slots],
            stack: Vec::new(),
            marks: Vec::new(),
            parent: None,
            after: Continuation::Value,
            given: Vec::new(),
            key: None,
        });
        rank
    }

    /// Runs until it has to wait, has ended, or is lost.
    pub(crate) fn run(&mut self, view: &mut View<'_>) {
        while self.state == RankState::Runs {
            if *view.fuel == 0 {
                self.lose("the program takes too many steps to be followed");
                return;
            }
            *view.fuel -= 1;
            self.spend(view);
            let (asked, requests) = (view.emitted.len(), self.requests.len());
            if self.step(view).is_none() {
                // The stack of the skeleton does not fit: a construct is not understood.
                self.lose("a construct is not understood");
            }
            self.watch_threads(view.emitted.len() > asked, requests);
            self.watch_testing(view);
        }
    }

    pub(crate) fn lose(&mut self, why: &str) {
        self.lose_for(why, WayOut::Follow);
    }

    /// The same, and what can be done about it.
    pub(crate) fn lose_for(&mut self, why: &str, way: WayOut) {
        let (why, on_data) = (why.into(), false);
        self.state = RankState::Lost(Lost { why, on_data, way });
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
    fn step(&mut self, view: &mut View<'_>) -> Option<()> {
        let (code, pc) = {
            let frame = self.frames.last()?;
            (frame.code, frame.pc)
        };
        self.at = (code, pc);
        let skeleton = view.skeleton;
        let Some(op) = skeleton.codes[code].ops.get(pc) else {
            return self.give_back(Value::Unit, view);
        };
        self.frame().pc += 1;
        match op {
            Op::Value(op) => self.value_op(op),
            Op::Memory(op) => self.memory_op(op),
            Op::Control(op) => self.control_op(op, pc, view),
            Op::Call(op) => self.call_op(op, view),
        }
    }
}
