//! What the threads of a team have saved is looked at as what `main` has.

use crate::failing::said;

/// Two runs whose threads compute different things.
const TWO_RUNS: &str = "parts runs; CKPT_FAULT=visit:5 ckpt run --every 3 --dir a -- 1000 2>/dev/null; \
    sed -i 's/+= 1.0/+= 2.0/' src/main.rs; CKPT_FAULT=visit:5 ckpt run --every 3 --dir b -- 1000 2>/dev/null; ";

#[test]
fn values_of_threads_are_shown_exported_and_compared() {
    let commands = "ckpt inspect latest --dir a >&2; ckpt inspect latest --dir a --format json >&2; \
        ckpt export latest --all --to a.npz --dir a >&2; ckpt diff a b >&2";
    let said = said(&format!("{TWO_RUNS}{commands}"));
    for (words, number) in [
        ("Threads run at the line where it waits", 1),
        ("thread 1 of the team", 1),
        ("thread 2 of the team", 1),
        ("\"waits_for_threads\": true", 1),
        ("\"thread\": 2", 1),
        ("f64 [1000]", 2),
        ("1 of 1000 elements differ", 2),
        (", thread 1", 2),
        (", thread 2", 2),
    ] {
        assert_eq!(said.matches(words).count(), number, "{words}: {said}");
    }
    assert!(!said.contains("empty"), "{said}");
}
