//! What everybody uses and what uses nobody: threads that share work on memory, copies and checksums of memory, the time
//! of day, the name of the machine, the identity of a run, messages to the user, the registration of the session that is open,
//! events for a subscriber of `tracing`, what is done to files, which of that is ckpt's own, how small files are kept, which stay open, what this machine remembers of a store, maps in lists, how its texts are shown, what a user types, processes
//! of this machine and those that this one has started, what a fork of it leaves alone, what no signal interrupts, how often somebody has pressed Ctrl-C, which locks are held for the program, what becomes of memory that is freed, changes of memory from outside of the program, and the steps at which a test makes a commit die.
//!
//! Not here: anything that knows a value or a checkpoint. Of the session that is open there is only its registration.

pub(crate) mod allocator;
pub(crate) mod bound;
pub(crate) mod changes;
pub(crate) mod checksum;
pub(crate) mod children;
pub(crate) mod columns;
pub(crate) mod copying;
pub(crate) mod current;
pub(crate) mod documents;
pub(crate) mod events;
pub(crate) mod fault;
pub(crate) mod files;
pub(crate) mod folders;
pub(crate) mod forked;
pub(crate) mod forks;
pub(crate) mod from_outside;
pub(crate) mod held_locks;
pub(crate) mod host;
pub(crate) mod interrupts;
pub(crate) mod kept_open;
pub(crate) mod lock;
pub(crate) mod looks;
pub(crate) mod noted;
pub(crate) mod own;
pub(crate) mod own_threads;
pub(crate) mod pages;
pub(crate) mod parallel;
pub(crate) mod printable;
pub(crate) mod processes;
pub(crate) mod report;
pub(crate) mod rollback;
pub(crate) mod room;
pub(crate) mod run_id;
pub(crate) mod signals;
pub(crate) mod sorted;
pub(crate) mod time;
pub(crate) mod trust;
pub(crate) mod typed;
pub(crate) mod visit_number;
