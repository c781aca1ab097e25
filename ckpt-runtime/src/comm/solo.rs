//! A program of one process: what it knows, all know.

use super::Member;
use super::counters::ChannelCounters;
use super::transport::{Calls, Delivery, Reduction, Transport};

/// The one process.
#[derive(Debug)]
pub(super) struct Solo {
    calls: Calls,
}

impl Solo {
    pub fn new() -> Solo {
        Solo { calls: Calls::new() }
    }
}

impl Transport for Solo {
    fn has_others(&self) -> bool {
        false
    }

    fn is_up(&self) -> bool {
        true
    }

    fn foretold(&self) -> Option<Member> {
        None
    }

    fn bring_up(&self, threads: Option<i32>) -> i32 {
        threads.unwrap_or_default()
    }

    fn threads(&self) -> i32 {
        0
    }

    fn join(&self) -> Member {
        Member { rank: 0, size: 1 }
    }

    fn leave(&self) {}

    fn take_down(&self) {}

    fn abort(&self, _: i32) {}

    fn largest(&self, _: &mut [i64]) {}

    fn begin_largest(&self, values: &[i64]) -> Box<dyn Reduction> {
        Box::new(Own(values.to_vec()))
    }

    fn send(&self, _: Vec<u8>) -> Box<dyn Delivery> {
        Box::new(Sent)
    }

    fn receive(&self) -> Option<(u32, Vec<u8>)> {
        None
    }

    fn counters(&self) -> ChannelCounters {
        ChannelCounters::new()
    }

    fn calls(&self) -> &Calls {
        &self.calls
    }
}

/// Of one process: its own numbers.
#[derive(Debug)]
struct Own(Vec<i64>);

impl Reduction for Own {
    fn result(&mut self) -> Option<&[i64]> {
        Some(&self.0)
    }
}

/// Nobody sends to himself.
#[derive(Debug)]
struct Sent;

impl Delivery for Sent {
    fn is_done(&mut self) -> bool {
        true
    }
}
