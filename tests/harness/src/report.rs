//! What a runner tells at its end: every failure, then one line of totals.

use crate::every_visit::{Disagreement, Tally};

/// Collects results and decides whether the whole was a success.
#[derive(Debug, Default)]
pub struct Report {
    programs: usize,
    visits: usize,
    relays: usize,
    failures: Vec<Disagreement>,
}

impl Report {
    /// Counts one program.
    pub fn add(&mut self, result: Result<Tally, Disagreement>) {
        self.programs += 1;
        match result {
            Ok(tally) => {
                self.visits += tally.visits;
                self.relays += tally.relays;
            }
            Err(disagreement) => self.failures.push(disagreement),
        }
    }

    /// Everything that went wrong.
    pub fn failures(&self) -> &[Disagreement] {
        &self.failures
    }

    /// Prints it; true if nothing failed and anything was run at all.
    pub fn print(&self, what: &str) -> bool {
        for failure in &self.failures {
            println!("FAILED {failure}\n");
        }
        println!(
            "{} {what}, killed and restarted at {} visits, {} links of relays, {} failed",
            self.programs,
            self.visits,
            self.relays,
            self.failures.len()
        );
        self.failures.is_empty() && self.programs > 0
    }
}
