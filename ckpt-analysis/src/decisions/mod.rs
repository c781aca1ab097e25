//! What it takes that the program around the sites can be saved and restarted: rules that look at the sources and say
//! what a type, a variable, a function or a call needs.
//!
//! | module | what it finds |
//! | --- | --- |
//! | [`reexecution`] | statements that a restart executes again instead of reading what they declare |
//! | [`effects`] | statements that may run a second time |
//! | [`changed_inputs`] | variables that would be another value if they were made a second time |
//! | [`other_branches`] | variables that are used in other branches than those with the sites |
//! | [`refill`] | structs of which a checkpoint holds a part |
//! | [`saved_types`] | what stands in the way of saving a struct or an enum |
//! | [`objects`] | what the objects of a trait need to be saved |
//! | [`writers`] | `Box<dyn Write>` |
//! | [`mutable_loans`] | exclusive references to what a signature does not name |
//! | [`generic_loans`] | exclusive references to types that hang on type parameters |
//! | [`globals`] | statics and thread-locals that a run may change |
//! | [`mpi_handles`] | types that stand for something in the library of MPI |
//! | [`threads`] | threads that outlive the statement that starts them |
//! | [`barriers`] | `std::sync::Barrier` |
//! | [`outlined_kernels`] | kernels that stay functions, compiled as before |
//! | [`closure_callers`] | calls of functions that only call a closure, inlined |

mod barriers;
pub mod changed_inputs;
pub mod closure_callers;
pub mod effects;
mod generic_loans;
pub mod globals;
mod mpi_handles;
pub mod mutable_loans;
pub mod objects;
pub mod other_branches;
pub mod outlined_kernels;
pub mod reexecution;
pub mod refill;
pub mod saved_types;
pub mod threads;
pub mod writers;
