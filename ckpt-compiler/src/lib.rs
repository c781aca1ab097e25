//! The ckpt compiler as a plain library.

pub mod derive;
