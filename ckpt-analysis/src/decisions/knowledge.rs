//! What rustc's answers have led to so far, about the program and about its sites.

use crate::decisions::Decisions;
use crate::diagnostics::RustcObstacle;
use crate::placement::ChooseOptions;
use crate::source::Position;
use std::collections::BTreeMap;

/// Where rounds with rustc start, and how far they have come.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Knowledge {
    /// What is decided.
    pub decisions: Decisions,
    /// Where no site can be.
    pub refused: Refused,
    /// Whether nothing is re-executed only to save less.
    pub saves_all: bool,
}

/// Places of sites that cannot be.
pub type Refused = BTreeMap<(usize, usize), RefusedSite>;

/// Why a site cannot be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusedSite {
    /// What rustc has against it.
    pub obstacle: RustcObstacle,
    /// What that is about.
    pub place: Position,
    /// The function that rustc refused.
    pub function: Position,
}

impl Knowledge {
    /// The wishes for the placement.
    pub fn wishes(&self, ranks: Option<usize>) -> ChooseOptions {
        let refused = self.refused.iter();
        ChooseOptions {
            ranks,
            refused: refused
                .map(|(&key, one)| (key, (one.obstacle.clone(), one.place)))
                .collect(),
            ..ChooseOptions::default()
        }
    }
}
