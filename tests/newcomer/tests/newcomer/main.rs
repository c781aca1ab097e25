//! A newcomer at a terminal: the tutorial, and what is often done wrong.
//!
//! What is shown is compared as for the pages of the book: `consoles/compare.rs` says what counts as the same. Beside that, lines in
//! which cargo says what it is doing are left out, and what was written over on the screen, as bars are.

mod account;
#[path = "../../../../ckpt-cli/tests/consoles/compare.rs"]
mod compare;
mod misuses;
#[path = "../../../../ckpt-cli/tests/consoles/page.rs"]
mod page;
#[path = "../../../harness/src/profile.rs"]
mod profile;
#[path = "../../../harness/src/screen.rs"]
mod screen;
mod terminal;
mod tutorial;

use std::path::{Path, PathBuf};

use account::Account;
use terminal::Terminal;

fn root() -> PathBuf {
    std::fs::canonicalize(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")).unwrap()
}

fn tutorial() -> String {
    std::fs::read_to_string(root().join("docs/src/tutorial.md")).unwrap()
}

/// The command that was just built: the one that `CARGO_CKPT` names, or the one that is beside the tests.
fn command() -> Option<PathBuf> {
    let named = std::env::var_os("CARGO_CKPT").map(PathBuf::from);
    let test = std::env::current_exe().unwrap();
    let beside = test.parent()?.parent()?.join("cargo-ckpt");
    named.or(Some(beside)).filter(|path| path.is_file())
}

#[test]
fn what_is_done_wrong_ends_in_a_message_that_the_book_has() {
    let Some(command) = command() else {
        harness::skipped(
            "misuses at a terminal",
            "there is no `cargo-ckpt`: set CARGO_CKPT",
        );
        return;
    };
    // The dependencies of programs are built once for all tests.
    let programs = Path::new(env!("CARGO_TARGET_TMPDIR")).join("programs");
    let account = Account::with_command(&command, &programs);
    misuses::are_answered(&account, &mut Terminal::open(&account));
}

#[test]
#[ignore = "it builds everything anew: ./test-release newcomer"]
fn with_the_packed_command_the_tutorial_is_what_happens() {
    let archive =
        std::env::var_os("NEWCOMER_ARCHIVE").expect("NEWCOMER_ARCHIVE names what `./release` has packed");
    let account = Account::with_archive(Path::new(&archive));
    let mut terminal = Terminal::open(&account);
    tutorial::is_what_happens(&account, &mut terminal);
    // What the tutorial has built is used again.
    terminal.types("export CARGO_TARGET_DIR=$PWD/target; cd");
    misuses::are_answered(&account, &mut terminal);
}
