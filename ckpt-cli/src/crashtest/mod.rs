//! The crash test: runs the program uninterrupted, then kills and restarts it in many ways, and compares what it
//! printed and wrote.
//!
//! `plan` chooses the kills, `scratch` makes fresh working folders, `process` runs one process, `text`, `varying`,
//! `ranking`, `shuffled`, `cover` and `files` compare, `trial` puts one trial together and `report` shows the verdict.

mod cover;
mod files;
pub mod flips;
pub mod plan;
pub mod process;
mod ranking;
pub mod report;
pub mod scratch;
mod shuffled;
mod text;
pub mod trial;
mod varying;
