//! Whether a message is there already is a matter of time. A loop that asks until it is does the same as one that waits,
//! but for what it does meanwhile: that may be done any number of times, so what changes by it is not known.

use super::way_out::WayOut;
use super::{BlockedOn, ProgramPoint, Rank, RankState, View};
use crate::values::Value;

/// Turns without an answer after which nothing new may change.
const MOST_TURNS: usize = 8;

/// A rank that has learnt that it is not there yet.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Testing {
    at: ProgramPoint,
    /// The rank when it asked last.
    before: Rank,
    turns: usize,
    /// What it had asked of the others by then.
    emitted: usize,
}

impl Rank {
    /// `request.test()`
    pub(crate) fn test_request(&mut self, id: u64, view: &View<'_>) {
        if self.is_not_there_yet(view) {
            let again = Value::Request(id);
            return self.push(Value::Variant("Err".into(), vec![again].into()));
        }
        if self.state == RankState::Runs {
            let done = Value::Variant("Ok".into(), vec![Value::Data].into());
            self.state = RankState::Blocked(BlockedOn::Requests(vec![id], done));
        }
    }

    /// Whether it is not there yet when this is asked: so until nothing changes any more by asking again. From then on the
    /// rank waits for it.
    pub(crate) fn is_not_there_yet(&mut self, view: &View<'_>) -> bool {
        let asked = self.testing.take();
        let turns = match asked {
            None => 0,
            Some(testing) => {
                let before = testing.before;
                self.widen(&before, &mut |_, _, value: &Value| value.blurred());
                if self.frames == before.frames {
                    return false;
                }
                testing.turns + 1
            }
        };
        if turns == MOST_TURNS {
            self.lose_for(
                "what changes while it is not there yet cannot be followed",
                WayOut::WaitForIt,
            );
            return false;
        }
        self.testing = Some(Box::new(Testing {
            at: self.at,
            before: self.clone(),
            turns,
            emitted: view.emitted.len(),
        }));
        true
    }

    /// While it asks again and again, a rank does nothing that concerns others, and it does not go on without an answer.
    pub(crate) fn watch_testing(&mut self, view: &View<'_>) {
        let Some(testing) = &self.testing else { return };
        let is_alone = self.state == RankState::Runs
            && view.emitted.len() == testing.emitted
            && self.requests == testing.before.requests
            && self.held == testing.before.held;
        // What changes while it asks differs between the ranks.
        let another = match &self.state {
            RankState::Lost(lost) => !lost.on_data,
            _ => false,
        };
        if !is_alone && !another {
            self.at = testing.at;
            let why = "whether it is there already is a matter of time, and what is done if it is not concerns other ranks";
            self.lose_for(why, WayOut::WaitForIt);
        }
        if !is_alone {
            self.testing = None;
        }
    }
}
