//! A command that hangs is a failure of its test, and not of all that would come behind it.

use std::fs;
use std::process::{Child, Command, Output};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// Nothing takes longer on a slow machine, except a first build.
pub const LIMIT: Duration = Duration::from_secs(600);

/// What a child printed and how it ended: by SIGKILL, with all that it has started, where it has not after [`LIMIT`].
pub fn output_of(child: Child) -> Output {
    let pid = child.id();
    let (done, is_done) = channel::<()>();
    let watch = std::thread::spawn(move || {
        if is_done.recv_timeout(LIMIT) == Err(RecvTimeoutError::Timeout) {
            // Those that it has started hold its streams open.
            for pid in with_descendants(pid) {
                let _ = Command::new("kill").arg("-KILL").arg(pid.to_string()).status();
            }
        }
    });
    let output = child.wait_with_output().expect("it can be waited for");
    drop(done);
    watch.join().expect("the watch ends");
    output
}

/// A process and all that it has started, directly or not.
fn with_descendants(pid: u32) -> Vec<u32> {
    let mut found = vec![pid];
    let mut next = 0;
    while let Some(of) = found.get(next) {
        let children = fs::read_to_string(format!("/proc/{of}/task/{of}/children")).unwrap_or_default();
        found.extend(
            children
                .split_whitespace()
                .filter_map(|child| child.parse::<u32>().ok()),
        );
        next += 1;
    }
    found
}
