//! The attribute and derive macros of ckpt.
