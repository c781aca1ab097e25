//! What is read of a function: Rust as syn takes it, and what its attributes say.

pub mod dialect;
pub mod function;
pub mod options;
mod parameters_by_ref;
mod spelling;
mod unnamed_parameters;
