use std::fmt;
use std::io;
use std::path::PathBuf;

#[derive(Debug)]
pub enum Error {
    Usage(String),
    Io { path: PathBuf, source: io::Error },
    BlewUp { step: u64 },
}

impl Error {
    pub fn code(&self) -> u8 {
        match self {
            Error::Usage(_) => 2,
            Error::Io { .. } => 3,
            Error::BlewUp { .. } => 4,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Usage(what) => write!(f, "usage: gas [--steps N] [--atoms M] [--dt X] [--seed S]: {what}"),
            Error::Io { path, source } => write!(f, "{}: {source}", path.display()),
            Error::BlewUp { step } => write!(f, "the energy is no longer finite at step {step}; try a smaller dt"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Io { source, .. } => Some(source),
            _ => None,
        }
    }
}
