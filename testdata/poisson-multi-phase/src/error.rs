use std::io;

#[derive(thiserror::Error, Debug)]
pub enum Error {
    #[error("cannot make sense of the argument '{0}'")]
    Argument(String),
    #[error("{0}: {1}")]
    Open(String, #[source] io::Error),
    #[error("line {line}: {what}")]
    Syntax { line: usize, what: String },
    #[error("triangle {0} has no area")]
    Degenerate(usize),
    #[error("diverged after {iterations} iterations with omega = {omega}")]
    Diverged { iterations: usize, omega: f64 },
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl Error {
    pub fn exit_code(&self) -> i32 {
        match self {
            Error::Argument(_) => 2,
            Error::Diverged { .. } => 3,
            _ => 1,
        }
    }
}
