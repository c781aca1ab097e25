//! The call graph as text, for `--stage calls`.

use super::{CallGraph, LoopKind};
use std::fmt;

impl fmt::Display for LoopKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::For => f.write_str("for"),
            Self::While => f.write_str("while"),
            Self::Loop => f.write_str("loop"),
            Self::Each(name) => write!(f, ".{name}(..)"),
            Self::Closure => f.write_str("closure"),
        }
    }
}

impl fmt::Display for CallGraph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for call in &self.calls {
            write!(
                f,
                "function {} line {}: {:?}",
                call.caller.0, call.place.line, call.form
            )?;
            let callees: Vec<_> = call.callees.iter().map(|id| id.0.to_string()).collect();
            write!(f, " -> {}", callees.join(", "))?;
            match &call.trap {
                Some(trap) => writeln!(f, " in {trap}")?,
                None => writeln!(f)?,
            }
        }
        for one in &self.loops {
            let (function, line) = (one.function.0, one.place.line);
            writeln!(
                f,
                "function {function} line {line}: {} trips {}",
                one.kind, one.trips
            )?;
        }
        Ok(())
    }
}
