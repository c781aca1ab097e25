//! The choice as text, for `--stage place`.

use super::{Placement, Reason};
use std::fmt;

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.cause.words().what)?;
        match self.line {
            Some(line) => write!(f, " (line {line})"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for Placement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for site in &self.sites {
            let known = if site.known { "" } else { " (guessed)" };
            writeln!(
                f,
                "site in function {} line {}: `{}`, {:.1} % of the run, {:.0} trips{known}, {:.2e} operations each: {}",
                site.function.0,
                site.place.line,
                site.header,
                100.0 * site.share,
                site.trips,
                site.per_visit,
                site.why
            )?;
            if let Some(safe) = &site.safe {
                writeln!(f, "  safe point: {safe}")?;
            }
        }
        for one in &self.functions {
            let names: Vec<_> = one.calls.iter().map(|name| name.name.as_str()).collect();
            writeln!(f, "function {} calls({})", one.function.0, names.join(", "))?;
        }
        for one in &self.rejected {
            let reasons: Vec<_> = one.reasons.iter().map(ToString::to_string).collect();
            writeln!(
                f,
                "not in function {} line {}: `{}`: {}",
                one.function.0,
                one.place.line,
                one.header,
                reasons.join("; ")
            )?;
        }
        writeln!(f, "coverage {:.3}", self.coverage)
    }
}
