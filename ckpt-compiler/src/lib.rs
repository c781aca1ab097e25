//! The ckpt compiler as a plain library.
