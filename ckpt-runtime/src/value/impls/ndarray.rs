//! `ndarray`.
