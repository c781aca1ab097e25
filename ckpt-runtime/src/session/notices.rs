//! What is said when a session opens, because it may not be what was meant.

use std::sync::Once;

use super::config;
use super::runs::{self, RunRecord};
use crate::base::report::say;
use crate::base::typed::restart_command;
use crate::storage::Store;

/// Nobody would notice a misspelt variable: it has no effect. Said once in the life of a process; it may be why there is
/// no session.
pub(super) fn mention_unknown_variables(has_session: bool) {
    static SAID: Once = Once::new();
    SAID.call_once(|| {
        let consequence = match has_session {
            true => "",
            false => "\n  nothing else asks for checkpoints: the program runs without them",
        };
        for name in config::unknown_variables() {
            say(&format!(
                "warning[W2001]: {name} is set, but ckpt knows no variable of that name{consequence}"
            ));
        }
    });
}

/// A start where other runs could be continued is often a forgotten restart.
pub(super) fn mention_unfinished_runs(records: &[RunRecord], store: &Store) {
    let unfinished = runs::others_to_continue(records, None, store);
    for (record, newest) in &unfinished {
        say(&format!(
            "starts from the beginning; {} holds {}, which {} ({} \
             continues it; it stays until `cargo ckpt prune --run {}`)",
            store.folder().display(),
            runs::described(record, *newest),
            runs::not_completed(record),
            restart_command(Some(record.run)),
            record.run.short(),
        ));
    }
}

/// The program does not depend on it: where it cannot be had, blocks are compared by their hashes.
pub(super) fn watch_pages(store: &mut Store, has_ranks: bool) {
    let why = match has_ranks {
        true => "network cards write to memory without the kernel's knowledge, so it is not done with several ranks".into(),
        false => match store.watch_pages() {
            Ok(()) => return,
            Err(error) => format!("this machine cannot do it (Linux 6.7 or newer, userfaultfd): {error}"),
        },
    };
    say(&format!(
        "warning[W2002]: memory is not watched for what is written to it: {why}\n  blocks are compared by their hashes instead"
    ));
}

/// The program does not depend on it: where it cannot be had, large arrays are copied while it waits.
pub(super) fn copy_on_write(store: &mut Store, has_ranks: bool, watches_pages: bool) {
    let why = match (has_ranks, watches_pages) {
        (true, _) => {
            "the memory that network cards write to cannot be shared with another process, so it is not done with several ranks"
        }
        (_, true) => "`watch-pages` is on, which finds out what has not changed and copies the rest",
        _ if cfg!(not(target_os = "linux")) => "it is done on Linux only",
        _ => return store.copy_on_write(),
    };
    say(&format!(
        "warning[W2003]: arrays are not copied by another process (`copy-on-write`): {why}\n  the program waits for the copy instead"
    ));
}
