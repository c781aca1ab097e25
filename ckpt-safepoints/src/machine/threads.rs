//! Threads of a rank that have sites.
//!
//! All threads of a region stand at the same count when their rank takes a checkpoint, and they exchange no messages.
//! So what is true of one is true of all: each is followed where it is started, as if it were called there. What they
//! share behind locks and atomics is not known in here anyway; what else they change is given up when they have ended.

use super::way_out::WayOut;
use super::{BlockedOn, Continuation, Rank, RankState, View};
use crate::skeleton::std_calls::FunctionCall;
use crate::values::Value;

impl Rank {
    /// The closure of `thread::scope` runs where it stands. What other threads there are goes on at the same time as what
    /// the rank does next.
    pub(crate) fn begins_parallel_region(
        &mut self,
        call: Option<FunctionCall>,
        arguments: &[Value],
        view: &mut View<'_>,
    ) -> bool {
        match call {
            Some(FunctionCall::ParallelRegion) => {
                self.follow_body(arguments, Continuation::ParallelRegion, view)
            }
            Some(FunctionCall::Thread) if self.body(arguments, view).is_some() => {
                self.lose(
                    "threads with sites are followed in `std::thread::scope` only, which waits for them",
                );
                true
            }
            _ => false,
        }
    }

    /// Follows what the last argument is, if it leads to a site.
    pub(super) fn follow_body(
        &mut self,
        arguments: &[Value],
        after: Continuation,
        view: &mut View<'_>,
    ) -> bool {
        let Some((code, parent)) = self.body(arguments, view) else {
            return false;
        };
        arguments.iter().for_each(|one| self.leak(one));
        let given = view.skeleton.codes[code].parameters.len();
        self.call(code, vec![Value::Unknown; given], parent, after, view);
        true
    }

    /// The closure or function that is the last argument, if it leads to a site; of a closure, the frame that it is of.
    fn body(&self, arguments: &[Value], view: &View<'_>) -> Option<(usize, Option<usize>)> {
        let body = match self.value(arguments.last()?) {
            Value::Closure(code, parent) => (code, Some(parent)),
            Value::Function(code) => (code, None),
            _ => return None,
        };
        view.regions.leads_to_a_site(body.0).then_some(body)
    }

    /// A thread has ended: what it has captured and may have changed is not known any more.
    pub(crate) fn thread_ended(&mut self, code: usize, parent: Option<usize>, view: &View<'_>) {
        let all = 0..view.skeleton.codes[code].ops.len();
        let region = view.regions.region(code, all);
        self.forget_captured(&region, parent);
        self.push(Value::Unknown);
    }

    /// Threads of a region that exchange messages are not followed: which of them comes first is a matter of time.
    pub(crate) fn watch_threads(&mut self, asked: bool, requests: usize) {
        let waits = match &self.state {
            RankState::Blocked(
                BlockedOn::Site(_) | BlockedOn::Decision(_) | BlockedOn::Cases(..) | BlockedOn::Leaving,
            ) => false,
            RankState::Blocked(_) => true,
            _ => false,
        };
        let exchanges = waits || asked || self.requests.len() > requests;
        let in_parallel_region =
            |frame: &super::Frame| matches!(frame.after, Continuation::Thread | Continuation::ParallelRegion);
        if exchanges && self.frames.iter().any(in_parallel_region) {
            let why = "a region whose threads have sites exchanges messages, and which thread comes first cannot be told";
            self.lose_for(why, WayOut::OutsideOfThreads);
        }
    }
}
