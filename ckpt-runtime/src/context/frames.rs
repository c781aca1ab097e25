//! The frames of the program's functions: saved by having each say what it needs, brought back by walking into them.

use super::Gather;
use super::resume::Resume;
use crate::base::report::Fatal;
use crate::state::snapshot::SnapshotBuilder;
use crate::state::source::{Recorded, StateSource};

/// The frames at a site, or at the end of a walk to one.
pub(crate) enum Frames<'a> {
    /// They stand at a site, and say what they save.
    AtSite(Gather<'a>),
    /// A restart has walked to a site of the session's thread.
    Walked(&'a Resume),
}

impl StateSource for Frames<'_> {
    fn save(&mut self, to: &mut SnapshotBuilder) -> Result<(), Fatal> {
        if let Frames::AtSite(gather) = self {
            *to = gather(std::mem::take(to))?;
        }
        Ok(())
    }

    fn restore(&mut self, _: &dyn Recorded) -> Result<(), Fatal> {
        match self {
            // Each has restored its variables on the way: it is left to see that all have been reached.
            Frames::Walked(resume) => resume.arrive(0),
            Frames::AtSite(_) => Ok(()),
        }
    }
}
