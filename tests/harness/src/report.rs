//! What a runner tells at its end: every failure, then one line of totals.

use crate::every_rollback::Rollbacks;
use crate::every_visit::{Disagreement, Tally};

/// Collects results and decides whether the whole was a success.
#[derive(Debug, Default)]
pub struct Report {
    killed: usize,
    visits: usize,
    relays: usize,
    gone_back: usize,
    rollbacks: usize,
    in_process: usize,
    failures: Vec<Disagreement>,
}

impl Report {
    /// Counts one program that was killed.
    pub fn add(&mut self, result: Result<Tally, Disagreement>) {
        self.killed += 1;
        match result {
            Ok(tally) => {
                self.visits += tally.visits;
                self.relays += tally.relays;
            }
            Err(disagreement) => self.failures.push(disagreement),
        }
    }

    /// Counts one program that went back.
    pub fn add_rollbacks(&mut self, result: Result<Rollbacks, Disagreement>) {
        self.gone_back += 1;
        match result {
            Ok(rollbacks) => {
                self.rollbacks += rollbacks.all;
                self.in_process += rollbacks.in_process;
            }
            Err(disagreement) => self.failures.push(disagreement),
        }
    }

    /// Everything that went wrong.
    pub fn failures(&self) -> &[Disagreement] {
        &self.failures
    }

    /// Whether what went back did so in its process, most of the time.
    pub fn most_stayed(&self) -> bool {
        self.in_process * 2 >= self.rollbacks
    }

    /// Prints it; true if nothing failed and anything was run at all.
    pub fn print(&self, what: &str) -> bool {
        for failure in &self.failures {
            println!("FAILED {failure}\n");
        }
        if self.killed > 0 {
            println!(
                "{} {what}, killed and restarted at {} visits, {} links of relays",
                self.killed, self.visits, self.relays
            );
        }
        if self.gone_back > 0 {
            println!(
                "{} {what}, gone back {} times, {} of them in their process",
                self.gone_back, self.rollbacks, self.in_process
            );
        }
        println!("{} failed", self.failures.len());
        self.failures.is_empty() && self.killed + self.gone_back > 0
    }
}
