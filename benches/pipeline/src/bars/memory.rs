//! What checkpoints take of the memory.

use super::{save, session};
use crate::Wish;
use crate::measure::{Bar, Measured, resident};
use crate::state::{change, noise};

/// Where the program waits for the disk.
pub fn without_copies(wish: &Wish) -> anyhow::Result<Vec<Measured>> {
    let folder = tempfile::tempdir_in(&wish.folders[0])?;
    let mut session = session(folder.path(), "keep = 1\nbackground = false")?;
    let mut state = noise(wish.megabytes << 20);
    let before = resident();
    for _ in 0..2 {
        change(&mut state);
        save(&mut session, &state)?;
    }
    // Not what is resident now: the most that ever was.
    let most = crate::measure::most_resident() - before;
    Ok(vec![Measured::of(
        "memory of checkpoints without copies",
        "64 MB",
        Bar::AtMost(1.0),
        &[(most, 64e6)],
    )])
}

/// Beyond the program's own, when several checkpoints have been taken.
pub fn copies(wish: &Wish) -> anyhow::Result<Vec<Measured>> {
    let folder = tempfile::tempdir_in(&wish.folders[0])?;
    let mut session = session(folder.path(), "keep = 1")?;
    let mut state = noise(wish.megabytes << 20);
    let own = (wish.megabytes << 20) as f64;
    let before = resident();
    let mut most: f64 = 0.0;
    for _ in 0..3 {
        change(&mut state);
        save(&mut session, &state)?;
        most = most.max(resident() - before);
        session.wait();
        most = most.max(resident() - before);
    }
    Ok(vec![Measured::of(
        "memory of checkpoints",
        "of the state",
        Bar::AtMost(1.05),
        &[(most, own)],
    )])
}
