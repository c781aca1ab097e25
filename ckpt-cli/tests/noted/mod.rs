//! What commands say, compared with what is noted of it beside the tests.

// Every test uses one or the other.
#![allow(dead_code)]

#[path = "../../../tests/harness/src/messages.rs"]
mod messages;
#[path = "../../../tests/harness/src/profile.rs"]
mod profile;

use std::path::Path;

use assert_cmd::assert::Assert;
#[allow(unused_imports, reason = "every test uses one or the other")]
pub use profile::PROFILE;

/// Of all tests of the command.
const MESSAGES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/messages.txt");

/// Compares what was said on standard error.
pub fn compare(said: &[u8]) {
    messages::compare(Path::new(MESSAGES), &String::from_utf8_lossy(said));
}

/// The same of a command that is to be asserted on.
pub fn noted(assert: Assert) -> Assert {
    compare(&assert.get_output().stderr);
    assert
}
