//! What ckpt needs from a machine: `tools` looks for programs, `hdf5` for the library and its headers, `disk` tries
//! the store's folder, `mend` knows the package manager's words.

mod disk;
mod hdf5;
mod mend;
mod tools;

use std::path::Path;

use serde::Serialize;

/// How a check came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// As it should be.
    Good,
    /// Required, and not there or not as it should be.
    Missing,
    /// Not there, and needed for some programs only.
    Optional,
}

/// One thing that was looked at.
#[derive(Debug, Clone, Serialize)]
pub struct Check {
    /// What.
    pub name: &'static str,
    /// How it is.
    pub state: State,
    /// What was found, with its version.
    pub found: String,
    /// The command that mends it.
    pub mend: Option<String>,
}

impl Check {
    fn good(name: &'static str, found: impl Into<String>) -> Self {
        Check {
            name,
            state: State::Good,
            found: found.into(),
            mend: None,
        }
    }

    fn missing(name: &'static str, found: impl Into<String>, mend: impl Into<String>) -> Self {
        Check {
            name,
            state: State::Missing,
            found: found.into(),
            mend: Some(mend.into()),
        }
    }

    /// The same, for something that only some programs need.
    fn optional(mut self) -> Self {
        if self.state == State::Missing {
            self.state = State::Optional;
        }
        self
    }
}

/// Looks at everything; `store` is the folder that a program started here would use.
pub fn checks(store: &Path) -> Vec<Check> {
    let system = mend::System::detect();
    let mut list = vec![tools::rustc(), tools::cargo(), tools::linker(system)];
    list.extend(hdf5::checks(system));
    list.extend(tools::for_mpi(system).into_iter().map(Check::optional));
    list.push(disk::space(store));
    list.push(disk::durable(store));
    list
}
