//! What the calls of a communication library mean, one library a file.

pub mod rsmpi;
