//! `rand`.
