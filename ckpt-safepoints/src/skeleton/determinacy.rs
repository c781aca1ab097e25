//! Whether the result of a call, or of a region, is the same on all ranks.

/// How far the result follows from what is looked at.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Determinacy {
    /// It is a matter of time, of the process, or not known.
    #[default]
    Never,
    /// Of files besides, which are the same for all ranks as long as none goes ahead of the others.
    BeforeMessages,
    /// From nothing else.
    Always,
}
