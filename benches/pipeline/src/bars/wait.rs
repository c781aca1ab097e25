//! How long the program stands still.

use std::process::Command;

use super::{newest, remove_all, save, session, session_every};
use crate::Wish;
use crate::measure::{Bar, Measured, timed};
use crate::state::{change, change_some, copy, noise, read};

/// Everything has changed.
pub fn dirty(wish: &Wish) -> anyhow::Result<Vec<Measured>> {
    let folder = tempfile::tempdir_in(&wish.folders[0])?;
    let mut session = session(folder.path(), "keep = 1")?;
    let mut state = noise(wish.megabytes << 20);
    let mut memory = state.clone();
    let mut pairs = Vec::new();
    // The first checkpoint finds no memory that was used before.
    for round in 0..=wish.rounds {
        change(&mut state);
        let (memcpy, ()) = timed(|| copy(&state, &mut memory));
        let (wait, saved) = timed(|| save(&mut session, &state));
        saved?;
        session.wait();
        if round > 0 {
            pairs.push((wait, memcpy));
        }
    }
    Ok(vec![Measured::of(
        "wait, all changed",
        "memcpy",
        Bar::AtMost(1.15),
        &pairs,
    )])
}

/// The first checkpoint of a session, and the first since the state has grown to twice its size: both find no memory that was
/// used before but what was made ready half-way to them.
pub fn first(wish: &Wish) -> anyhow::Result<Vec<Measured>> {
    let mut state = noise(wish.megabytes << 20);
    let mut memory = state.clone();
    // A visit in the middle, and time to touch as much memory as the state has.
    let half_way = |session: &mut ckpt::Session, state: &[u64]| -> anyhow::Result<()> {
        anyhow::ensure!(!session.save_if_due(|to| to.save("state", state))?);
        std::thread::sleep(std::time::Duration::from_millis(1000 + wish.megabytes as u64 * 6));
        Ok(())
    };
    let (mut first, mut grown) = (Vec::new(), Vec::new());
    for _ in 0..wish.rounds {
        let folder = tempfile::tempdir_in(&wish.folders[0])?;
        let half = state.len() / 2;
        for (before, pairs) in [(None, &mut first), (Some(half), &mut grown)] {
            remove_all(folder.path()).ok();
            let mut session = session_every(2, folder.path(), "keep = 1")?;
            if let Some(half) = before {
                half_way(&mut session, &state[..half])?;
                save(&mut session, &state[..half])?;
                session.wait();
            }
            half_way(&mut session, &state)?;
            change(&mut state);
            let (memcpy, ()) = timed(|| copy(&state, &mut memory));
            let (wait, saved) = timed(|| save(&mut session, &state));
            saved?;
            session.wait();
            pairs.push((wait, memcpy));
        }
    }
    let row = |what, pairs| Measured::of(what, "memcpy", Bar::AtMost(1.2), pairs);
    Ok(vec![
        row("wait, the first checkpoint", &first),
        row("wait, the first after the state has grown", &grown),
    ])
}

/// Little has changed, or nothing: found out by hashes.
pub fn unchanged(wish: &Wish) -> anyhow::Result<Vec<Measured>> {
    let found = few_changes(wish, "keep = 2\nfull-every = 1000000")?;
    Ok(vec![
        Measured::of(
            "wait, 5 % of the blocks changed",
            "memcpy",
            Bar::AtMost(0.5),
            &found.some,
        ),
        Measured::of("wait, nothing changed", "memcpy", Bar::None, &found.none),
        Measured::of(
            "one read of the state: the floor",
            "memcpy",
            Bar::None,
            &found.reads,
        ),
    ])
}

/// The same, with the kernel's help.
pub fn watched(wish: &Wish) -> anyhow::Result<Vec<Measured>> {
    let found = few_changes(wish, "keep = 2\nfull-every = 1000000\nwatch-pages = true")?;
    Ok(vec![
        Measured::of(
            "wait, 5 % changed, pages watched",
            "memcpy",
            Bar::AtMost(0.2),
            &found.some,
        ),
        Measured::of(
            "wait, nothing changed, pages watched",
            "memcpy",
            Bar::None,
            &found.none,
        ),
        Measured::of(
            "first writes to pages that are watched",
            "second writes",
            Bar::None,
            &found.writes,
        ),
    ])
}

struct FewChanges {
    /// Waits against copies, of a state of which some blocks have changed.
    some: Vec<(f64, f64)>,
    /// The same where nothing has.
    none: Vec<(f64, f64)>,
    /// Reads of the state against copies.
    reads: Vec<(f64, f64)>,
    /// The first change after a checkpoint against the next.
    writes: Vec<(f64, f64)>,
}

fn few_changes(wish: &Wish, settings: &str) -> anyhow::Result<FewChanges> {
    let folder = tempfile::tempdir_in(&wish.folders[0])?;
    let mut session = session(folder.path(), settings)?;
    let mut state = noise(wish.megabytes << 20);
    let mut memory = state.clone();
    let (mut some, mut none, mut reads, mut writes) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    // The first is full, the second finds out what is worth to be watched.
    for round in -1..=wish.rounds as isize {
        for (changed, pairs) in [(true, &mut some), (false, &mut none)] {
            if changed {
                let (first, ()) = timed(|| change_some(&mut state));
                let (second, ()) = timed(|| change_some(&mut state));
                if round > 0 {
                    writes.push((first, second));
                }
            }
            let (memcpy, ()) = timed(|| copy(&state, &mut memory));
            let (once, ()) = timed(|| read(&state));
            let (wait, saved) = timed(|| save(&mut session, &state));
            saved?;
            session.wait();
            if round > 0 {
                pairs.push((wait, memcpy));
                reads.push((once, memcpy));
            }
        }
    }
    Ok(FewChanges {
        some,
        none,
        reads,
        writes,
    })
}

/// What a program with sites prints that runs in a process of its own.
fn program<T: serde::de::DeserializeOwned>(
    wish: &Wish,
    arguments: [&str; 2],
    setting: (&str, &str),
) -> anyhow::Result<T> {
    let folder = tempfile::tempdir_in(&wish.folders[0])?;
    let output = Command::new(std::env::current_exe()?)
        .args(["--rounds", &(wish.rounds + 2).to_string()])
        .args(arguments)
        .env("CKPT_DIR", folder.path().join("store"))
        .env("CKPT_EVERY", "1")
        .env(setting.0, setting.1)
        .output()?;
    anyhow::ensure!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// The compiler has seen that nothing has changed.
pub fn known(wish: &Wish) -> anyhow::Result<Vec<Measured>> {
    let mut all = Vec::new();
    for megabytes in [32, wish.megabytes] {
        let arguments = ["--known", &megabytes.to_string()];
        let waits: Vec<f64> = program(wish, arguments, ("CKPT_FULL_EVERY", "1000000"))?;
        // The first has everything to store, and the next is the first to be compared with one.
        let pairs: Vec<(f64, f64)> = waits.into_iter().skip(2).map(|wait| (wait, 1e-3)).collect();
        all.push(Measured::of(
            &format!("wait, {megabytes} MB known not to have changed"),
            "1 ms",
            Bar::AtMost(1.0),
            &pairs,
        ));
    }
    Ok(all)
}

/// Another process makes the copy, of an array that all of it is changed of afterwards.
pub fn forked(wish: &Wish) -> anyhow::Result<Vec<Measured>> {
    let arguments = ["--changing", &wish.megabytes.to_string()];
    let times: Vec<[f64; 4]> = program(wish, arguments, ("CKPT_COPY_ON_WRITE", "1"))?;
    // The first finds no memory that is warm.
    let times = times.into_iter().skip(2);
    let (mut waits, mut all) = (Vec::new(), Vec::new());
    for [wait, memcpy, first, second] in times {
        waits.push((wait, memcpy));
        all.push((wait + first - second, memcpy));
    }
    Ok(vec![
        Measured::of("wait, copied by another process", "memcpy", Bar::None, &waits),
        Measured::of(
            "the same, with what the first change of everything takes longer",
            "memcpy",
            Bar::None,
            &all,
        ),
    ])
}

/// A state that is nearly all zeros.
pub fn zeros(wish: &Wish) -> anyhow::Result<Vec<Measured>> {
    let folder = tempfile::tempdir_in(&wish.folders[0])?;
    let mut session = session(folder.path(), "keep = 1")?;
    let mut state = vec![0_u64; (wish.megabytes.min(600) << 20) / 8];
    let count = state.len();
    state[count / 2..count / 2 + count / 1000].fill(7);
    read(&state);
    let mut pairs = Vec::new();
    for round in 0..=wish.rounds {
        let (once, ()) = timed(|| read(&state));
        let (wait, saved) = timed(|| save(&mut session, &state));
        saved?;
        session.wait();
        if round > 0 {
            pairs.push((wait, once));
        }
    }
    let size = newest(folder.path())?.metadata()?.len() as f64;
    Ok(vec![
        Measured::of(
            "wait, 99.9 % zeros",
            "one read of the state",
            Bar::AtMost(1.0),
            &pairs,
        ),
        Measured::of("file, 99.9 % zeros", "1 MB", Bar::AtMost(1.0), &[(size, 1e6)]),
    ])
}

/// The time grows as the state does, and not with the checkpoints that are there.
pub fn scale(wish: &Wish) -> anyhow::Result<Vec<Measured>> {
    /// What is copied beside is copied into memory of this size, so that it does not need as much as the state.
    const MEMORY: usize = 1 << 30;
    let folder = tempfile::tempdir_in(&wish.folders[0])?;
    let mut session = session(folder.path(), "keep = \"all\"")?;
    let waits = |session: &mut ckpt::Session, state: &mut [u64]| -> anyhow::Result<Vec<(f64, f64)>> {
        let is_huge = size_of_val(state) > MEMORY;
        let mut memory = state[..state.len().min(MEMORY / 8)].to_vec();
        let mut pairs = Vec::new();
        let rounds = if is_huge { wish.rounds.min(3) } else { wish.rounds };
        for round in 0..=rounds {
            change(state);
            let (memcpy, ()) = timed(|| {
                for part in state.chunks(MEMORY / 8) {
                    copy(part, &mut memory[..part.len()]);
                }
            });
            let (wait, saved) = timed(|| save(session, &*state));
            saved?;
            session.wait();
            if is_huge {
                remove_all(folder.path())?;
            }
            if round > 0 {
                pairs.push((wait, memcpy));
            }
        }
        Ok(pairs)
    };
    let mut all = Vec::new();
    let sizes = [1, 4, 32, 256, 1024, 2048, 4096, 8192];
    for megabytes in sizes.into_iter().filter(|size| *size <= wish.scale) {
        let pairs = waits(&mut session, &mut noise(megabytes << 20))?;
        all.push(Measured::of(
            &format!("wait, {megabytes} MB"),
            "memcpy",
            Bar::None,
            &pairs,
        ));
        remove_all(folder.path())?;
    }
    let mut list = noise(1 << 20);
    let best = |pairs: Vec<(f64, f64)>| pairs.iter().map(|pair| pair.0).fold(f64::INFINITY, f64::min);
    let first = best(waits(&mut session, &mut list)?);
    for _ in 0..200 {
        save(&mut session, &list)?;
    }
    let last = best(waits(&mut session, &mut list)?);
    all.push(Measured::of(
        "wait after 200 checkpoints more",
        "before",
        Bar::AtMost(1.5),
        &[(last, first)],
    ));
    Ok(all)
}
