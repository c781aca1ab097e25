//! What can go wrong between a value and its columns.

use crate::handles::{Forbidden, NotReopened};

/// In place of the key of a variable: it is about the program's files.
pub(crate) const FILES: &str = "";
/// The key of what is on devices, which no variable has.
pub(crate) const DEVICES: &str = "on devices";

/// Why a value could not be saved: the variable, and what about it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("E2301: {} cannot be saved: {why}", subject(.variable))]
pub struct SaveError {
    /// The variable's key; empty where it is about the program's files, `on devices` where about arrays there.
    pub variable: String,
    /// What is wrong and what to do.
    pub why: String,
}

/// Why a value could not be restored: where in the file, and what about it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}{problem}", place(.path))]
pub struct LoadError {
    /// Path of the column below the variable, empty for the variable itself.
    pub path: String,
    /// What is wrong.
    pub problem: LoadProblem,
}

fn subject(variable: &str) -> String {
    match variable {
        FILES => "what the program's files are".to_owned(),
        DEVICES => "what the program has on devices".to_owned(),
        variable => format!("variable `{variable}`"),
    }
}

fn or_none(is_there: bool) -> &'static str {
    match is_there {
        true => "one",
        false => "none",
    }
}

fn place(path: &str) -> String {
    if path.is_empty() {
        String::new()
    } else {
        format!("at `{path}`: ")
    }
}

/// The kinds of [`LoadError`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LoadProblem {
    /// The file holds something else than the program expects.
    #[error("E2302: the program expects {expected}, the checkpoint holds {found}")]
    Mismatch {
        /// What the program's type needs.
        expected: String,
        /// What the file has.
        found: String,
    },
    /// A struct of the program has a field that the file does not.
    #[error(
        "E2303: the checkpoint has no field `{field}` (it has: {present}); `#[ckpt(default)]` on the field accepts that, `#[ckpt(alias = \"old\")]` that it had another name"
    )]
    MissingField {
        /// The field.
        field: String,
        /// The fields of the file.
        present: String,
    },
    /// An enum of the file has a variant that the program does not.
    #[error(
        "E2304: the checkpoint holds the variant `{variant}`, which the program's enum does not have (it has: {known})"
    )]
    UnknownVariant {
        /// The variant in the file.
        variant: String,
        /// The variants of the program.
        known: String,
    },
    /// A type stands behind a trait object of the file that the program's list does not have.
    #[error(
        "E2305: the checkpoint holds a `{object}` behind `dyn {name}`, which `#[ckpt::object(..)]` on the trait does not have (it has: {known})"
    )]
    UnknownObject {
        /// The type in the file.
        object: String,
        /// The trait.
        name: String,
        /// The types of the program.
        known: String,
    },
    /// The column ends before the value does.
    #[error("E2306: the column ends too early: {wanted} more elements are needed, {left} are left")]
    TooShort {
        /// Elements needed.
        wanted: u64,
        /// Elements left.
        left: u64,
    },
    /// The variable was read, but there is more in its columns.
    #[error("E2307: the column holds {left} more elements than the value needs")]
    TooLong {
        /// Elements left over.
        left: u64,
    },
    /// A value that its type cannot hold.
    #[error("E2308: {0}")]
    Invalid(String),
    /// An option with something on a device is not what it was, and no other one of the same struct or tuple is in its place.
    #[error("E2445: of what is on devices there is {}, the checkpoint holds {}", or_none(*is_there), or_none(!*is_there))]
    Moved {
        /// Whether the program has something there.
        is_there: bool,
    },
    /// A device has no memory for an array.
    #[error("E2450: device `{device}` has no memory for its {bytes} bytes ({answer})")]
    NoMemory {
        /// The device.
        device: String,
        /// How many bytes the array has.
        bytes: usize,
        /// What the library says.
        answer: String,
    },
    /// A file that a checkpoint does not decide to write to.
    #[error("E2350: {0}")]
    Forbidden(String),
    /// The files of the run cannot be brought back, whatever the value.
    #[error("E2029: {error}")]
    Files {
        /// Why they cannot.
        error: String,
    },
    /// There is no such variable in the frame.
    #[error("E2309: the checkpoint has no variable `{0}` in this frame")]
    NoVariable(String),
    /// The bytes could not be read, or are not those that were written.
    #[error("E2310: {0}")]
    Damaged(String),
}

impl LoadProblem {
    /// Whether it is about what the value stands for, such as a file, and not about its type.
    pub(crate) fn is_of_the_value(&self) -> bool {
        matches!(
            self,
            LoadProblem::Invalid(_)
                | LoadProblem::Moved { .. }
                | LoadProblem::Forbidden(_)
                | LoadProblem::Damaged(_)
        )
    }
}

impl LoadError {
    /// An error about the value itself, for implementations of [`crate::Checkpoint`] by hand.
    pub fn invalid(why: impl std::fmt::Display) -> Self {
        LoadProblem::Invalid(why.to_string()).into()
    }

    /// What another error of the kind of [`LoadError::invalid`] says because of this one.
    pub(crate) fn as_reason(&self) -> String {
        match &self.problem {
            LoadProblem::Invalid(why) => format!("{}{why}", place(&self.path)),
            LoadProblem::Files { error } => error.clone(),
            _ => self.to_string(),
        }
    }

    /// The same error, seen from one level up.
    #[must_use]
    pub(crate) fn below(mut self, name: &str) -> Self {
        self.path = if self.path.is_empty() {
            name.to_owned()
        } else {
            format!("{name}/{}", self.path)
        };
        self
    }
}

impl From<Forbidden> for LoadError {
    fn from(forbidden: Forbidden) -> Self {
        LoadProblem::Forbidden(forbidden.to_string()).into()
    }
}

impl From<NotReopened> for LoadError {
    fn from(why: NotReopened) -> Self {
        match why {
            NotReopened::Forbidden(forbidden) => forbidden.into(),
            NotReopened::Failed(why) => LoadError::invalid(why),
            NotReopened::All(error) => LoadProblem::Files { error }.into(),
        }
    }
}

impl From<LoadProblem> for LoadError {
    fn from(problem: LoadProblem) -> Self {
        LoadError {
            path: String::new(),
            problem,
        }
    }
}
