//! What people and programs are shown of a package.
//!
//! `plan` is the plan as data, with `sizes` and `checked` for its parts, `page` draws it; `stage` prints what
//! a stage of the compiler has made; `full` and `expand` write instrumented functions out.

pub mod checked;
pub mod expand;
pub mod full;
pub mod page;
pub mod plan;
pub mod sizes;
pub mod stage;
