//! What can be told from syntax alone, with the tables of the library: sites, where values come from, what macros that the
//! program defines do. All stages use it; it knows none of them.

pub mod captured;
pub mod gathered;
pub mod language;
pub mod macros;
pub mod marks;
pub mod mentions;
pub mod origins;
pub mod own_macros;
pub mod owners;
pub mod patterns;
pub mod places;
pub mod purity;
pub mod region_marks;
pub mod text;
pub mod without_ckpt;
pub mod words;
