//! Real processes that are killed at random instants, interrupted in every step of a commit, starved of disk, and given
//! damaged files: a restart must give the rest of the right output, or say clearly why it cannot.

mod commit;
mod damage;
mod disk_full;
mod kills;
mod lock;
mod victim;
