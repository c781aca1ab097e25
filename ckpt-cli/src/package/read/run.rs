//! The instrumented run that the costs of a package come from.

use serde::{Deserialize, Serialize};

use crate::render;

/// A run, as people see it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// The arguments of the program.
    pub arguments: Vec<String>,
    /// How it ended.
    pub ended: String,
    /// Whether it was ended before it was done.
    pub stopped: bool,
    /// How long it took.
    pub seconds: f64,
    /// Loops that were reached.
    pub loops_reached: usize,
    /// Loops that were counted.
    pub loops_counted: usize,
}

impl Run {
    /// In a few words: `a run of 3.1 s (deck.toml), which ended with exit code 0`.
    pub fn words(&self) -> String {
        let arguments = match self.arguments.join(" ") {
            none if none.is_empty() => String::new(),
            some => format!(" with `{some}`"),
        };
        let time = render::short_time(self.seconds * 1e9);
        format!("a run of {time}{arguments}, which {}", self.ended)
    }
}
