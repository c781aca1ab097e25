//! Whether a request to stop has reached the ranks of a program. Launchers are to pass signals on, and some do not: a library
//! that is loaded into one may have taken the signal for itself.
//!
//! Each rank that listens has a file in the store, and notes there what it has heard. One that has heard is enough: the ranks
//! agree on what only one of them knows.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use ckpt::session::stop::{Listener, listeners};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::output::told;

use super::ranks;

/// How long a launcher has to pass a signal on.
const PATIENCE: Duration = Duration::from_secs(2);
/// Time between two looks at the store.
const PAUSE: Duration = Duration::from_millis(50);

/// The ranks that a launcher starts, and where they say what they have heard.
#[derive(Debug, Clone)]
pub struct Ranks {
    /// The store, as it was named.
    pub store: PathBuf,
    /// How many there are.
    pub number: u32,
}

/// What is known of a request.
#[derive(Debug, PartialEq, Eq)]
enum Known {
    /// It has arrived.
    Heard,
    /// Nobody listens yet.
    NobodyListens,
    /// These listen, and have heard nothing.
    NotHeard(Vec<Listener>),
}

impl Ranks {
    fn know(&self) -> Known {
        let all = listeners(&self.store, self.number);
        match all.iter().any(|rank| rank.has_heard) {
            true => Known::Heard,
            false if all.is_empty() => Known::NobodyListens,
            false => Known::NotHeard(all),
        }
    }

    /// A launcher has been told to have its ranks stop: sees that the request arrives, as long as `runs` says that the launcher
    /// does. A rank that is only starting is waited for.
    pub fn see_to_it(&self, launcher: &Path, runs: &dyn Fn() -> bool) {
        let mut deaf_since = None;
        while runs() {
            match self.know() {
                Known::Heard => return,
                Known::NobodyListens => deaf_since = None,
                Known::NotHeard(all) => {
                    let since = *deaf_since.get_or_insert_with(Instant::now);
                    if since.elapsed() >= PATIENCE {
                        return tell(&all, launcher);
                    }
                }
            }
            std::thread::sleep(PAUSE);
        }
    }
}

/// Tells those that run on this machine.
fn tell(all: &[Listener], launcher: &Path) {
    // What a store says is no reason to send a signal to anybody else's process.
    let ours = ranks::descendants();
    let here: Vec<i32> = all
        .iter()
        .filter_map(|rank| i32::try_from(rank.pid).ok())
        .filter(|pid| ours.contains(pid))
        .collect();
    let launcher = launcher.display();
    if here.is_empty() {
        told!(
            "ckpt: warning[W3041]: no rank has confirmed the request to stop, and none of them is on this machine\n  \
             why:   `{launcher}` may not have passed the signal SIGUSR1 on to them\n  \
             help:  send it to one of the ranks on its machine, `kill -USR1 PID`; they agree on it. Until then the program goes on"
        );
        return;
    }
    told!(
        "ckpt: warning[W3040]: `{launcher}` has not passed the request to stop on to the ranks; those on this machine are told directly\n  \
         why:   a library in it may have taken the signal SIGUSR1 for itself, such as one for OpenCL that hwloc loads\n  \
         help:  for Open MPI, HWLOC_COMPONENTS=-opencl keeps hwloc from that; or use another launcher"
    );
    for pid in here {
        // It may have ended by itself.
        let _ = kill(Pid::from_raw(pid), Signal::SIGUSR1);
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn one_rank_that_has_heard_is_enough() {
        let store = tempfile::tempdir().unwrap();
        let ranks = Ranks {
            store: store.path().to_owned(),
            number: 2,
        };
        assert_eq!(ranks.know(), Known::NobodyListens);
        let says =
            |rank: u32, text: &str| fs::write(store.path().join(format!("stop.r{rank}")), text).unwrap();
        says(0, "7 here\n");
        assert!(matches!(ranks.know(), Known::NotHeard(all) if all.len() == 1));
        says(1, "8 here\nheard\n");
        assert_eq!(ranks.know(), Known::Heard);
        // Whoever does not run is waited for no longer.
        says(1, "8 here\n");
        ranks.see_to_it(Path::new("mpirun"), &|| false);
    }
}
