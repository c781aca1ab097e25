//! Safe points: places that no message between processes crosses.
//!
//! A checkpoint of a program of many ranks is taken by each rank for itself, at the same visit of the same site
//! (coordination in space). That is one state of the whole program only if no message is under way there: none that was
//! sent before the site and is received behind it, none the other way round, no request open, no collective call half
//! done.
//!
//! This crate is a model checker: it is given a skeleton, the program as steps of a small machine, and explores what the
//! ranks may do. It knows neither the program's source nor its syntax; what makes the skeleton of a program is the crate
//! `ckpt-analysis`.
//!
//! | layer | module | what it makes |
//! | --- | --- | --- |
//! | values | [`values`] | what a variable of one rank holds, as far as it matters to messages |
//! | skeleton | [`skeleton`] | the instructions, and which regions exchange no messages |
//! | machine | `machine` | one rank followed through the skeleton |
//! | models | [`models`] | what the calls of a communication library mean |
//! | explorer | `explorer` | all ranks, messages in transit, and all ways that these may take, from visit to visit |
//! | verdict | [`SafePoints`] | whether a site is safe, and for which numbers of ranks |
//!
//! Each layer knows those above it in this table.
//!
//! The method is that of CPPC (G. Rodriguez, M. J. Martin, P. Gonzalez, J. Tourino, JUCS 15(14), 2009), a set of
//! communications begun and not yet matched, for concrete numbers of ranks and with all orders of messages tried. Where
//! anything that decides about messages cannot be followed, a place is not safe.

mod explorer;
mod machine;
pub mod models;
pub mod skeleton;
pub mod values;
mod verdict;

pub use machine::way_out::WayOut;
pub use verdict::{Obstacle, Safe, SafePoints};
