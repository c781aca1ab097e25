//! What becomes of bits that are turned in a program's memory.

use ckpt::session::events::What;
use serde::Serialize;

use super::trial::Verdict;

/// What became of the bits that a trial has turned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fate {
    /// Found, and the program went back: the answer is right.
    Repaired,
    /// The answer is right without.
    Masked,
    /// The program ended with an error: a restart continues it.
    Ended,
    /// Nobody has noticed, and the answer is wrong.
    Silent,
    /// Found, and the answer is wrong all the same.
    NotRepaired,
    /// No bit was turned: there was none, or the program did not come so far.
    None,
}

impl Fate {
    /// In words, for tables.
    pub fn words(self) -> &'static str {
        match self {
            Fate::Repaired => "found and repaired",
            Fate::Masked => "masked by the program",
            Fate::Ended => "ended with an error",
            Fate::Silent => "silent, wrong answer",
            Fate::NotRepaired => "found, wrong answer",
            Fate::None => "nothing turned",
        }
    }
}

/// A bit that was turned.
#[derive(Debug, Clone, Serialize)]
pub struct Flip {
    /// Behind this site visit.
    pub visit: u64,
    /// In this function; empty for one of a snapshot.
    pub function: String,
    /// In this variable; empty for one of a snapshot.
    pub variable: String,
    /// Its number in there.
    pub bit: u64,
    /// Whether no statement writes to the variable between two visits of its site.
    pub unchanged: bool,
}

/// The bits that a trial has turned, and what became of them.
#[derive(Debug, Clone, Serialize)]
pub struct Flips {
    /// What became of them.
    pub fate: Fate,
    /// Which they are.
    pub flips: Vec<Flip>,
    /// Why nobody has noticed, where the answer is wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<&'static str>,
}

impl Flips {
    /// Those among the events of a run, which went on for so many visits and ended so; `is_right` is its answer.
    pub fn of(events: &[What], visits: u64, verdict: &Verdict, is_right: bool) -> Flips {
        let flips: Vec<Flip> = events
            .iter()
            .filter_map(|what| match what {
                What::Flip {
                    visits,
                    function,
                    variable,
                    bit,
                    is_unchanged,
                } => Some(Flip {
                    visit: *visits,
                    function: function.clone(),
                    variable: variable.clone(),
                    bit: *bit,
                    unchanged: *is_unchanged,
                }),
                _ => None,
            })
            .collect();
        let is_found = |what: &What| matches!(what, What::Rollback { .. } | What::Repair { .. });
        let found = events.iter().any(is_found);
        let fate = match (verdict, found) {
            _ if flips.is_empty() => Fate::None,
            (Verdict::Failed { .. }, _) => Fate::Ended,
            (_, true) if is_right => Fate::Repaired,
            (_, true) => Fate::NotRepaired,
            (_, false) if is_right => Fate::Masked,
            (_, false) => Fate::Silent,
        };
        let why = flips.iter().find(|flip| !flip.variable.is_empty()).map(|flip| {
            if flip.visit >= visits {
                "no site was visited after it"
            } else if flip.unchanged {
                "no look came after it: its function had returned"
            } else {
                "it is written to between two visits, so that it has no checksum, and what came of it is a finite number"
            }
        });
        Flips {
            fate,
            flips,
            why: why.filter(|_| fate == Fate::Silent),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flip(is_unchanged: bool) -> What {
        What::Flip {
            visits: 7,
            function: "relax".into(),
            variable: "cells".into(),
            bit: 3,
            is_unchanged,
        }
    }

    #[test]
    fn what_became_of_a_bit() {
        let back = What::Rollback {
            to: Some(1),
            snapshot: Some(7),
            visits: 8,
            reason: String::new(),
            lost: None,
            alone: false,
            rank: None,
        };
        let failed = Verdict::Failed {
            what: String::new(),
            stderr: String::new(),
        };
        let found = [flip(true), back];
        let fate =
            |events: &[What], verdict: &Verdict, is_right| Flips::of(events, 20, verdict, is_right).fate;
        assert_eq!(fate(&found, &Verdict::Same, true), Fate::Repaired);
        assert_eq!(fate(&found, &Verdict::Same, false), Fate::NotRepaired);
        assert_eq!(fate(&found[..1], &Verdict::Same, true), Fate::Masked);
        assert_eq!(fate(&found[..1], &Verdict::Same, false), Fate::Silent);
        assert_eq!(fate(&found[..1], &failed, false), Fate::Ended);
        assert_eq!(fate(&[], &Verdict::Same, true), Fate::None);
        let why = |is_unchanged, visits| Flips::of(&[flip(is_unchanged)], visits, &Verdict::Same, false).why;
        assert!(why(true, 20).unwrap().contains("returned"));
        assert!(why(false, 20).unwrap().contains("no checksum"));
        assert!(why(false, 7).unwrap().contains("no site"));
    }
}
