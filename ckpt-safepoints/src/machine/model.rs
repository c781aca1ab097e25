//! What the machine asks of the model of a communication library, and what a model may do with a rank.

use super::{BlockedOn, Communicator, Continuation, Rank, RankState, View};
use crate::skeleton::call::{CommCall, Gives};
use crate::values::Value;
use std::fmt;
use std::rc::Rc;

/// What a call of a library comes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// It returns this value.
    Gives(Value),
    /// The model has set what becomes of the caller: it waits, has ended, calls something else, or cannot be followed.
    Done,
    /// It is none of the library's.
    Foreign,
}

/// The meaning of a communication library.
///
/// The calls that exchange messages are described by the positions of their arguments ([`CommCall`]), and the machine does the
/// rest. A model says besides how the library's values behave: communicators, processes, statuses, requests.
pub trait CommModel: fmt::Debug {
    /// The crate that a program names if it uses the library.
    fn crate_name(&self) -> &str;

    /// What a method of this name does, if it is one of the library's that communicate.
    fn method(&self, name: &str) -> Option<Rc<CommCall>>;

    /// The same of a function that is called by its path.
    fn function(&self, path: &[String]) -> Option<Rc<CommCall>>;

    /// The type of the language that a type of this name stands for, if it is one of the library's numbers.
    fn number_type(&self, name: &str) -> Option<&str>;

    /// Whether a method of this name, if it is the library's, leaves what it is called on as it is.
    fn leaves_receiver(&self, method: &str) -> bool;

    /// A method of a value that may be one of the library's.
    fn call_method(
        &self,
        caller: &mut Caller<'_, '_>,
        method: &str,
        receiver: &Value,
        arguments: &[Value],
    ) -> Outcome;

    /// A function that exchanges nothing, and may be one of the library's.
    fn call_function(&self, caller: &mut Caller<'_, '_>, path: &[&str], arguments: &[Value]) -> Outcome;
}

/// The rank that makes a call of a communication library, as far as a model may look at it and act on it.
#[derive(Debug)]
pub struct Caller<'a, 's> {
    rank: &'a mut Rank,
    view: &'a mut View<'s>,
}

impl<'a, 's> Caller<'a, 's> {
    pub(super) fn new(rank: &'a mut Rank, view: &'a mut View<'s>) -> Self {
        Self { rank, view }
    }

    /// The rank's number among all.
    pub fn index(&self) -> usize {
        self.rank.index
    }

    /// A communicator that has been made.
    pub fn communicator(&self, comm: usize) -> Option<&Communicator> {
        self.view.comms.get(comm)
    }

    /// The rank's number in a communicator, if it is in it.
    pub fn number_in(&self, comm: usize) -> Option<i128> {
        self.rank.number_in(comm, self.view)
    }

    /// A value, with all references followed.
    pub fn value(&self, value: &Value) -> Value {
        self.rank.value(value)
    }

    /// Puts what has been received where a reference leads.
    pub fn fill(&mut self, into: &Value, value: Value) {
        if let Value::Ref(place) = self.rank.followed(into.clone()) {
            self.rank.fill(&place, value);
        }
    }

    /// A message that has been matched and is not taken yet: what it holds, and its status.
    pub fn matched(&self, message: u64) -> Option<(Value, Value)> {
        self.rank.held.get(&message).cloned()
    }

    /// Takes it.
    pub fn take_matched(&mut self, message: u64) {
        self.rank.held.remove(&message);
    }

    /// Waits for these requests, and is given this value then.
    pub fn wait(&mut self, requests: Vec<u64>, then: Value) -> Outcome {
        self.rank.state = RankState::Blocked(BlockedOn::Requests(requests, then));
        Outcome::Done
    }

    /// Waits for the message of a request, and is given this of it.
    pub fn receive(&mut self, request: u64, gives: Gives) -> Outcome {
        self.rank.state = RankState::Blocked(BlockedOn::Receive(request, gives));
        Outcome::Done
    }

    /// Calls a closure once, and waits then for all requests that were begun in it.
    pub fn call_in_scope(&mut self, closure: Value, given: Vec<Value>) -> Outcome {
        let first = self.rank.next;
        self.rank
            .call_value(closure, given, Continuation::Drain(first), self.view);
        Outcome::Done
    }

    /// The process ends.
    pub fn end(&mut self) -> Outcome {
        self.rank.state = RankState::Ended;
        Outcome::Done
    }

    /// It is not known what the rank does from here on, and why.
    pub fn lose(&mut self, why: &str) -> Outcome {
        self.rank.lose(why);
        Outcome::Done
    }
}
