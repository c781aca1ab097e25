//! Half-way to a checkpoint the state is looked at, and memory for its copy is made ready: not where no copy will be made, and
//! not for zeros.

#![cfg(target_os = "linux")]

use std::time::{Duration, Instant};

use std::sync::atomic::{AtomicU32, Ordering};

use ckpt::Session;

/// How often the detector has looked at a value.
static LOOKS: AtomicU32 = AtomicU32::new(0);

#[derive(ckpt::Checkpoint)]
#[ckpt(detector = "Watched::looks")]
struct Watched(u64);

impl Watched {
    fn looks(&self) -> bool {
        LOOKS.fetch_add(1, Ordering::Relaxed);
        true
    }
}

const BYTES: usize = 64 << 20;

/// The memory of this process, in bytes.
fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes: usize = line.unwrap().split_whitespace().next().unwrap().parse().unwrap();
    kilobytes << 10
}

/// The visits at which the state is asked for, and how many bytes more the process has behind the second.
fn visits(settings: &str, list: &[u8]) -> (Vec<u32>, usize) {
    let folder = tempfile::tempdir().unwrap();
    std::env::set_current_dir(folder.path()).unwrap();
    std::fs::write("ckpt.toml", format!("[session]\nevery = 4\n{settings}")).unwrap();
    let mut session = Session::open("half-way").unwrap();
    let (mut asked, mut taken) = (Vec::new(), 0);
    LOOKS.store(0, Ordering::Relaxed);
    for visit in 1..=8 {
        let before = resident();
        session
            .save_if_due(|state| {
                asked.push(visit);
                state.save("list", list);
                state.save("watched", &Watched(7));
            })
            .unwrap();
        if visit == 2 {
            let began = Instant::now();
            while taken < list.len() * 3 / 4 && began.elapsed() < Duration::from_secs(2) {
                std::thread::sleep(Duration::from_millis(20));
                taken = resident().saturating_sub(before);
            }
        }
        session.wait();
        assert_eq!(
            LOOKS.load(Ordering::Relaxed),
            visit / 4,
            "no detector looks where nothing is saved"
        );
    }
    (asked, taken)
}

/// One test, as a process has one session and one working directory.
#[test]
fn memory_is_made_ready_half_way_to_a_checkpoint() {
    let list: Vec<u8> = (0..BYTES).map(|at| at as u8 | 1).collect();
    let (asked, taken) = visits("", &list);
    assert_eq!(asked, [2, 4, 6, 8]);
    assert!(taken >= BYTES * 3 / 4, "{taken}");
    let zeros = vec![0; BYTES];
    let (asked, taken) = visits("", &zeros);
    assert_eq!(asked, [2, 4, 6, 8]);
    assert!(taken < BYTES / 8, "{taken}");
    // Once a copy has been made its memory is used again, and lists that cannot be copied need none.
    let (asked, taken) = visits("memory = \"1MiB\"", &list);
    assert_eq!((asked.last(), taken < BYTES / 8), (Some(&8), true), "{taken}");
    for settings in ["background = false", "copy-on-write = true"] {
        let (asked, taken) = visits(settings, &list);
        assert_eq!(asked, [4, 8], "{settings}");
        assert!(taken < BYTES / 8, "{settings}: {taken}");
    }
}
