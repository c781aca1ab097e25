//! What a run does to files beside the handles that its variables hold ([`crate::handles`]): those that are closed at the
//! site are in [`closed`], which hears of them at the [`door`]; standard input is in [`input`].

pub(crate) mod closed;
mod door;
pub(crate) mod input;
mod log;
