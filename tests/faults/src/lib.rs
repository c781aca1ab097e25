//! What a machine can do to a program, done on purpose: every system call on files fails in turn ([`calls`]), and the program
//! must go on or say what happened, lose nothing that had been reported as written, and never give a wrong answer. So it is with
//! cuts of the power ([`power`]), stores that are damaged ([`damage`]), and memory that is not there ([`memory`]).
//!
//! [`tracer`] holds a program at its calls, [`inject`] makes them fail; [`program`] has the programs, [`verdict`] judges, and
//! [`campaign`] counts.

pub mod calls;
pub mod campaign;
pub mod commands;
pub mod damage;
pub mod inject;
pub mod memory;
pub mod power;
pub mod program;
pub mod tracer;
pub mod verdict;
