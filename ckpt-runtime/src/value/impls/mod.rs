//! [`crate::Checkpoint`] for types that are not the user's own, one file for each family.

mod errors;
mod files;
mod lists;
mod maps;
#[cfg(feature = "nalgebra")]
mod nalgebra;
#[cfg(feature = "ndarray")]
mod ndarray;
mod numbers;
#[cfg(feature = "rand")]
mod rand;
mod ranges;
mod shared;
mod streams;
#[cfg(test)]
mod streams_tests;
mod structs;
mod text;
mod times;
mod wrappers;

pub(crate) use wrappers::transparent;
