//! Tests of the compiler as a library: what each stage makes of small functions, what the whole makes of every form of
//! the transformation, what it refuses and how, and that no Rust source brings it down.

mod cfg;
mod function;
mod liveness;
mod plan;
mod recursion;
mod refusals;
mod robustness;
mod snapshots;
mod spine;
mod stages;
mod strategies;

#[path = "../support/sources.rs"]
mod sources;
