//! Safe points: places that no message between processes crosses.
//!
//! A checkpoint of a program of many ranks is taken by each rank for itself, at the same visit of the same site
//! (coordination in space). That is one state of the whole program only if no message is under way there: none that was
//! sent before the site and is received behind it, none the other way round, no request open, no collective call half
//! done.
//!
//! | stage | module | what it makes |
//! | --- | --- | --- |
//! | table | `table` | what rsmpi's calls do |
//! | lower | `lower` | the skeleton: functions as steps of a small machine (`code`) |
//! | region | `region` | which pieces exchange no messages, and what they may write to |
//! | machine | `machine` | one rank followed through the skeleton, with values as far as they are known (`value`) |
//! | world | `world`, `team`, `together` | all ranks, messages under way, collective calls |
//! | search | `search` | all ways that messages may take, from visit to visit (`widen` brings loops to an end, `facts` splits cases) |
//!
//! The method is that of CPPC (G. Rodriguez, M. J. Martin, P. Gonzalez, J. Tourino, JUCS 15(14), 2009), a set of
//! communications begun and not yet matched, for concrete numbers of ranks and with all orders of messages tried. Where
//! anything that decides about messages cannot be followed, a place is not safe.

mod code;
mod facts;
mod lower;
mod machine;
mod region;
mod search;
mod table;
mod team;
mod together;
mod value;
mod verdict;
mod widen;
mod world;

pub(crate) use verdict::uses_mpi;
pub use verdict::{Obstacle, Safe, SafePoints};
