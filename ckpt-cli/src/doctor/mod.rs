//! What ckpt needs from a machine: `tools` looks for programs, `hdf5` for the library and its headers, `disk` tries
//! the store's folder, `here` looks at the package, at what its store has left of killed processes and at what its runs keep, `package_manager` knows the
//! package manager's words, `fix` does what can be done.

mod disk;
mod fix;
mod hdf5;
mod here;
mod package_manager;
mod tools;

use std::path::Path;

pub use fix::Fix;

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
    /// What `--fix` does.
    #[serde(skip)]
    pub fix: Option<Fix>,
}

impl Check {
    fn good(name: &'static str, found: impl Into<String>) -> Self {
        Check {
            name,
            state: State::Good,
            found: found.into(),
            mend: None,
            fix: None,
        }
    }

    fn missing(name: &'static str, found: impl Into<String>, mend: impl Into<String>) -> Self {
        let mend = mend.into();
        Check {
            name,
            state: State::Missing,
            found: found.into(),
            fix: mend.lines().find_map(fix::unattended),
            mend: Some(mend),
        }
    }

    /// The same, where something else mends it than a command that installs.
    fn fixed_by(mut self, fix: Fix) -> Self {
        self.fix = Some(fix);
        self
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
    let system = package_manager::System::detect();
    let mut list = vec![tools::rustc(), tools::cargo(), tools::linker(system)];
    list.extend(hdf5::checks(system));
    list.extend(tools::for_mpi(system).into_iter().map(Check::optional));
    list.push(disk::space(store));
    list.push(disk::durable(store));
    list.extend(here::leftovers(store));
    list.extend(here::runs(store));
    list.extend(here::dependency(Path::new(".")));
    list
}
