//! Values that are not large arrays.

use super::{newest, save, session};
use crate::Wish;
use crate::measure::{Bar, Measured, timed};
use crate::plain::write_raw;
use crate::state::Nested;

/// Structs, lists and a map, against a compact encoding in a plain file.
pub fn nested(wish: &Wish) -> anyhow::Result<Vec<Measured>> {
    let folder = tempfile::tempdir_in(&wish.folders[0])?;
    let mut session = session(folder.path(), "keep = 1\nbackground = false")?;
    let state = Nested::new();
    let path = folder.path().join("plain");
    let (mut times, mut size) = (Vec::new(), 0);
    for round in 0..=wish.rounds {
        let (plain, written) = timed(|| {
            let bytes = postcard::to_allocvec(&state)?;
            write_raw(&path, &bytes)?;
            Ok::<_, anyhow::Error>(bytes.len())
        });
        size = written?;
        let (ours, saved) = timed(|| save(&mut session, &state));
        saved?;
        if round > 0 {
            times.push((plain, ours));
        }
    }
    let file = newest(folder.path())?.metadata()?.len() as f64;
    Ok(vec![
        Measured::of(
            "postcard + write, nested values",
            "checkpoint",
            Bar::AtLeast(0.5),
            &times,
        ),
        Measured::of(
            "file, nested values",
            "of postcard",
            Bar::AtMost(1.5),
            &[(file, size as f64)],
        ),
    ])
}

/// Ten thousand single numbers.
pub fn variables(wish: &Wish) -> anyhow::Result<Vec<Measured>> {
    let folder = tempfile::tempdir_in(&wish.folders[0])?;
    let mut session = session(folder.path(), "keep = 1\nbackground = false")?;
    let names: Vec<String> = (0..10_000).map(|n| format!("variable {n}")).collect();
    let mut times = Vec::new();
    for round in 0..=wish.rounds {
        let (time, saved) = timed(|| {
            session.save_if_due(|to| {
                for (name, value) in names.iter().zip(0_u64..) {
                    to.save(name.clone(), &(value + round as u64));
                }
            })
        });
        anyhow::ensure!(saved?, "no checkpoint was taken");
        times.push((time, 0.050));
    }
    let file = newest(folder.path())?.metadata()?.len() as f64;
    Ok(vec![
        Measured::of(
            "checkpoint of 10,000 variables",
            "50 ms",
            Bar::AtMost(1.0),
            &times,
        ),
        Measured::of("file, 10,000 variables", "2 MB", Bar::AtMost(1.0), &[(file, 2e6)]),
    ])
}
