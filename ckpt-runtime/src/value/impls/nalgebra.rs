//! `nalgebra`.
