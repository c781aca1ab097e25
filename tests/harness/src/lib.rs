//! Runs programs plain and instrumented, kills and restarts them, and compares what they print
//! and what they leave in their folder.
//!
//! The reference is always a run of the plain program. A restart is right when what the killed run printed, followed
//! by what the restarted run prints, is the reference byte for byte: nothing twice, nothing missing, nothing else.

mod compare;
mod every_rollback;
mod every_visit;
mod held;
pub mod messages;
mod place;
mod pool;
mod process;
mod report;
mod skipped;
mod small_disk;
mod sweep;
mod tree;

pub use compare::Difference;
pub use every_rollback::{AGAIN, Marks, Rollbacks, every_rollback};
pub use every_visit::{Disagreement, Program, Reference, Tally, every_visit};
pub use held::{hold_when_it_has_printed, is_pending, is_stopped};
pub use place::{Events, Place};
pub use pool::in_parallel;
pub use process::{Ended, Run, Runner, scratch_directory};
pub use report::Report;
pub use skipped::skipped;
pub use small_disk::SmallDisk;
pub use sweep::is_all_swept;
pub use tree::Tree;

#[cfg(test)]
mod tests {
    use super::messages;

    #[test]
    fn messages_are_compared_but_for_what_is_another_each_time() {
        let noted = tempfile::NamedTempFile::new().unwrap();
        let wanted = "ckpt: error[E2201]: HERE/x.ckpt.d is in use by process # at u64 #.#\n  help: wait\nmore: E2201\n\n";
        std::fs::write(noted.path(), wanted).unwrap();
        let here = std::env::temp_dir().join(".tmpAbC1/x.ckpt.d");
        let said = format!(
            "step 1\nckpt: error[E2201]: {} is in use by process 17 at u64 0.5\n  help: wait\nmore: E2201\nstep 2\n",
            here.display()
        );
        messages::compare(noted.path(), &said);
        let other = said.replace("wait", "go on");
        let compared = std::panic::catch_unwind(|| messages::compare(noted.path(), &other));
        assert!(compared.is_err() || std::env::var_os("CKPT_BLESS").is_some());
    }
}
