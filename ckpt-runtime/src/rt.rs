//! What generated code uses, and nothing else does. Not a public interface: it changes with the macros.

pub use crate::frame::{Frame, Registrar};
pub use crate::plan::{FunctionPlan, SiteKind, SitePlan, VariablePlan};
pub use crate::session::{MainSession, Program, open};
