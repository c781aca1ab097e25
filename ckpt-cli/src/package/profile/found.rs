//! What the counters have written.

use std::path::Path;

use ckpt_analysis::Seen;

/// Nanoseconds of the run, and what each counter has seen; nothing where the run has written nothing.
pub fn read(path: &Path) -> Option<(f64, Vec<Seen>)> {
    let text = std::fs::read_to_string(path).ok()?;
    let mut lines = text.lines();
    let nanos = lines.next()?.strip_prefix("nanos ")?.parse().ok()?;
    let seen: Option<Vec<Seen>> = lines.map(one).collect();
    Some((nanos, seen?))
}

fn one(line: &str) -> Option<Seen> {
    let numbers: Vec<f64> = line
        .split(' ')
        .map(|number| number.parse().ok())
        .collect::<Option<_>>()?;
    let &[entries, outer, turns, nanos, inner, open] = numbers.as_slice() else {
        return None;
    };
    Some(Seen {
        entries,
        outer,
        turns,
        nanos,
        own: (nanos - inner).max(0.0),
        open: open > 0.0,
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// The crate as the copy gets it, with eight counters.
    #[allow(dead_code)]
    mod library {
        include!("library.rs");
        const COUNTERS: usize = 8;

        pub fn seen() -> Vec<Sums> {
            sums(&tables(), now())
        }
    }

    #[test]
    fn entries_iterations_and_times_are_counted() {
        let outer = library::enter(0);
        for _ in 0..3 {
            let mut inner = library::enter(1);
            for _ in 0..100 {
                inner.turn();
            }
            std::thread::sleep(Duration::from_millis(4));
        }
        let open = library::seen();
        drop(outer);
        let deep = library::enter(2);
        drop(library::enter(2));
        drop(deep);
        for _ in 0..10_000 {
            let mut short = library::enter(3);
            short.turn_quietly();
        }
        let thread = std::thread::spawn(|| {
            let mut entry = library::enter(4);
            let stopped = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                let _inside = library::enter(5);
                entry.turn();
                std::panic::panic_any("stopped");
            }));
            assert!(stopped.is_err());
        });
        thread.join().unwrap();

        let [entries, outer, turns, nanos, _, open_now] = open[0];
        assert_eq!((entries, outer, turns, open_now), (1, 1, 0, 1));
        assert!(nanos >= 12_000_000, "what is under way counts: {nanos}");
        let seen = library::seen();
        assert_eq!(seen[1][..3], [3, 3, 300]);
        assert!((12_000_000..seen[0][3]).contains(&seen[1][3]));
        assert!(
            seen[0][3] - seen[0][4] < seen[0][3] / 2,
            "most of it was inside: {:?}",
            seen[0]
        );
        assert_eq!(seen[2][..2], [2, 1], "a recursion is entered once from outside");
        assert_eq!(seen[3][..3], [10_000, 10_000, 10_000]);
        assert!(seen[3][3] > 0);
        assert_eq!((seen[4][2], seen[5][0]), (1, 1), "a panic loses nothing");
        assert!(seen.iter().all(|one| one[5] == 0), "nothing is under way");
    }

    #[test]
    fn what_was_written_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("numbers");
        assert!(read(&path).is_none());
        std::fs::write(&path, "nanos 70\n1 1 5 60 20 1\n0 0 0 0 0 0\n").unwrap();
        let (nanos, seen) = read(&path).unwrap();
        assert_eq!(nanos, 70.0);
        assert_eq!((seen[0].turns, seen[0].own, seen[0].open), (5.0, 40.0, true));
        assert_eq!(seen.len(), 2);
        std::fs::write(&path, "nanos 70\n1 1\n").unwrap();
        assert!(read(&path).is_none());
    }
}
