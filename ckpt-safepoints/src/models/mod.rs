//! What the calls of a communication library mean, one library a file.
//!
//! A new one is a table of its calls in `tables/`, a file here that implements [`CommModel`], and a line in `MODELS`.

pub mod rsmpi;
pub mod table;
#[cfg(test)]
mod toy;

pub use crate::machine::model::{Caller, CommModel, Outcome};
pub use crate::machine::{Communicator, Grid};

use std::rc::Rc;

type Make = fn() -> Rc<dyn CommModel>;

/// The models that there are, by the crate that a program names if it uses the library.
const MODELS: [(&str, Make); 1] = [("mpi", || Rc::new(rsmpi::Rsmpi::default()))];

/// What the libraries stand on: C's functions by their own names.
const BELOW: [&str; 1] = ["mpi-sys"];

/// The crates of the libraries that there are models of.
pub fn crates() -> impl Iterator<Item = &'static str> {
    MODELS.iter().map(|(name, _)| *name)
}

/// What packages say in their manifests that they link, if they are bindings of such a library.
pub fn linked() -> impl Iterator<Item = &'static str> {
    crates()
}

/// The packages of those libraries: the crates, and those below them that programs may call as well.
pub fn packages() -> impl Iterator<Item = &'static str> {
    crates().chain(BELOW)
}

/// The model of a library, by the name of its crate.
pub fn of_crate(name: &str) -> Option<Rc<dyn CommModel>> {
    let found = MODELS.iter().find(|(one, _)| *one == name)?;
    Some(found.1())
}
