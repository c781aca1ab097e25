//! [`crate::Checkpoint`] for types that are not the user's own, one file for each family.

mod numbers;
