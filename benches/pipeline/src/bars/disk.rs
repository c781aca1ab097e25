//! How long until a checkpoint is on the disk, and until its values are back.

use ckpt::store::{Mode, Store};

use super::{newest, remove_all, save, session};
use crate::Wish;
use crate::measure::{Bar, Measured, cpu, timed};
use crate::plain::{bytes_of, read_hdf5, write_hdf5, write_raw};
use crate::state::{change, noise};

/// What a checkpoint that the program waits for costs, against the same bytes in a plain file and in plain HDF5.
pub fn durable(wish: &Wish) -> anyhow::Result<Vec<Measured>> {
    let mut all = Vec::new();
    for place in &wish.folders {
        let folder = tempfile::tempdir_in(place)?;
        // A file is removed outside of the measurement, whoever wrote it.
        let mut session = session(folder.path(), "keep = 1000\nbackground = false")?;
        let mut state = noise(wish.megabytes << 20);
        let (mut raw, mut hdf5, mut cores) = (Vec::new(), Vec::new(), Vec::new());
        let path = folder.path().join("plain");
        for round in 0..=wish.rounds {
            change(&mut state);
            let (used, (ours, saved)) = cpu(|| timed(|| save(&mut session, &state)));
            saved?;
            remove_all(folder.path())?;
            let bytes = bytes_of(&state);
            let (plain, written) = timed(|| write_raw(&path, &bytes));
            written?;
            std::fs::remove_file(&path)?;
            drop(bytes);
            let (used_by_hdf5, (library, written)) = cpu(|| timed(|| write_hdf5(&path, &state)));
            written?;
            std::fs::remove_file(&path)?;
            if round > 0 {
                raw.push((plain, ours));
                hdf5.push((plain, library));
                cores.push((used, used_by_hdf5));
            }
        }
        let name = place.display();
        all.extend([
            Measured::of(
                &format!("raw write + fsync, {name}"),
                "checkpoint",
                Bar::AtLeast(0.9),
                &raw,
            ),
            Measured::of(
                &format!("raw write + fsync, {name}"),
                "plain HDF5",
                Bar::None,
                &hdf5,
            ),
            Measured::of(
                &format!("CPU seconds, {name}"),
                "of plain HDF5",
                Bar::AtMost(1.4),
                &cores,
            ),
        ]);
    }
    Ok(all)
}

/// A checkpoint that the program waits for, through the system's cache and past it.
pub fn direct(wish: &Wish) -> anyhow::Result<Vec<Measured>> {
    let folder = tempfile::tempdir_in(&wish.folders[0])?;
    let mut state = noise(wish.megabytes << 20);
    let (mut times, mut cores) = (Vec::new(), Vec::new());
    for round in 0..=wish.rounds {
        let mut both = [(0.0, 0.0); 2];
        for (way, of) in ["off", "on"].into_iter().zip(&mut both) {
            let settings = format!("keep = 1000\nbackground = false\ndirect = \"{way}\"");
            let mut session = session(folder.path(), &settings)?;
            change(&mut state);
            let (used, (time, saved)) = cpu(|| timed(|| save(&mut session, &state)));
            saved?;
            drop(session);
            remove_all(folder.path())?;
            *of = (time, used);
        }
        let [cached, direct] = both;
        if round > 0 {
            times.push((cached.0, direct.0));
            cores.push((direct.1, cached.1));
        }
    }
    let against = "past it";
    let name = wish.folders[0].display();
    Ok(vec![
        Measured::of(
            &format!("checkpoint through the cache, {name}"),
            against,
            Bar::AtLeast(1.3),
            &times,
        ),
        Measured::of(
            &format!("CPU seconds past the cache, {name}"),
            "through it",
            Bar::None,
            &cores,
        ),
    ])
}

/// Numbers that get smaller, as they are and packed.
pub fn compressed(wish: &Wish) -> anyhow::Result<Vec<Measured>> {
    let mut all = Vec::new();
    let count = ((wish.megabytes / 4) << 20) / 8;
    let state: Vec<f64> = (0..count).map(|n| (n as f64 * 1e-4).sin()).collect();
    for codec in ["lz4", "zstd", "deflate"] {
        let (mut times, mut sizes) = (Vec::new(), Vec::new());
        for _ in 0..wish.rounds.min(3) {
            let mut one = [(0.0, 0.0); 2];
            for (way, of) in ["off", codec].into_iter().zip(&mut one) {
                let folder = tempfile::tempdir_in(&wish.folders[0])?;
                let settings = format!("keep = 1\nbackground = false\ncompression = \"{way}\"");
                let mut session = session(folder.path(), &settings)?;
                let (time, saved) = timed(|| save(&mut session, &state));
                saved?;
                *of = (time, newest(folder.path())?.metadata()?.len() as f64);
            }
            times.push((one[1].0, one[0].0));
            sizes.push((one[1].1, one[0].1));
        }
        all.push(Measured::of(
            &format!("file, smooth numbers, {codec}"),
            "as they are",
            Bar::None,
            &sizes,
        ));
        all.push(Measured::of(
            &format!("time, smooth numbers, {codec}"),
            "as they are",
            Bar::None,
            &times,
        ));
    }
    Ok(all)
}

fn into_the_cache(path: &std::path::Path) -> std::io::Result<()> {
    std::io::copy(&mut std::fs::File::open(path)?, &mut std::io::sink()).map(drop)
}

/// Verify and read, from the cache of the system.
pub fn restart(wish: &Wish) -> anyhow::Result<Vec<Measured>> {
    let folder = tempfile::tempdir_in(&wish.folders[0])?;
    let state = noise(wish.megabytes << 20);
    let mut session = session(folder.path(), "keep = 1\nbackground = false")?;
    save(&mut session, &state)?;
    drop(session);
    let path = folder.path().join("plain");
    write_hdf5(&path, &state)?;
    let mut pairs = Vec::new();
    let own = newest(folder.path())?;
    for round in 0..=wish.rounds {
        // The system may have let go of either of them.
        into_the_cache(&path)?;
        into_the_cache(&own)?;
        let (library, read) = timed(|| read_hdf5(&path));
        anyhow::ensure!(read? == state);
        let (ours, read) = timed(|| {
            let store = Store::open(folder.path().join("store"), Mode::ReadOnly)?;
            let restored = store.newest_whole(&mut |_, _| {})?;
            let restored = restored.ok_or_else(|| anyhow::anyhow!("there is no checkpoint"))?;
            Ok::<_, anyhow::Error>(restored.decode::<Vec<u64>>(0, "state")?)
        });
        anyhow::ensure!(read? == state);
        if round > 0 {
            pairs.push((library, ours));
        }
    }
    Ok(vec![Measured::of(
        "plain HDF5 read",
        "restart",
        Bar::AtLeast(0.85),
        &pairs,
    )])
}
