use std::fmt;

use serde::Serialize;

use crate::deck::Deck;
use crate::reactor::Reactor;

#[derive(Debug, Clone, Serialize)]
pub struct Sample {
    pub step: u32,
    pub time: f64,
    pub mean_u: f64,
    pub mean_v: f64,
    pub variance: f64,
}

impl Sample {
    pub fn take(step: u32, reactor: &Reactor) -> Self {
        let (mean_u, mean_v) = reactor.means();
        Sample { step, time: reactor.elapsed(), mean_u, mean_v, variance: reactor.variance_of_v() }
    }
}

#[derive(Debug, Serialize)]
pub struct Outcome {
    deck: Deck,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    samples: Vec<Sample>,
}

impl Outcome {
    pub fn new(deck: &Deck, samples: Vec<Sample>) -> Self {
        Outcome { deck: deck.clone(), samples }
    }

    /// How strongly the end state is patterned.
    pub fn pattern(&self) -> f64 {
        self.samples.last().map_or(0.0, |s| s.variance.sqrt() / s.mean_v.max(1e-12))
    }

    pub fn summary(&self) -> String {
        let kind = match self.pattern() {
            p if p < 0.1 => "uniform",
            p if p < 0.8 => "weak pattern",
            _ => "strong pattern",
        };
        format!("{kind} ({:.6})", self.pattern())
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}: {}", self.deck.title, self.summary())?;
        for s in self.samples.iter().rev().take(3).rev() {
            writeln!(f, "{:8} {:10.3} {:.9} {:.9}", s.step, s.time, s.mean_u, s.mean_v)?;
        }
        Ok(())
    }
}
