//! How far ckpt reaches: every package of `testdata/`, none of which has ever heard of ckpt, goes through
//! `cargo ckpt plan` and `cargo ckpt crashtest` as it stands, and what comes of it is a page of the book.
//!
//! `programs` reads what is to be run, `tool` calls `cargo ckpt`, `trial` turns its answers into a row, `lines` counts
//! Rust, `table` keeps the rows and `page` writes them down. Nothing here knows how ckpt works.

pub mod lines;
pub mod page;
pub mod programs;
pub mod table;
pub mod tool;
pub mod trial;
