//! What is measured: each bar is a function that gives the ratios.

mod disk;
mod memory;
mod values;
mod wait;

use std::path::{Path, PathBuf};

use super::Wish;
use super::measure::Measured;

pub type BarOf = fn(&Wish) -> anyhow::Result<Vec<Measured>>;

pub const ALL: &[(&str, BarOf)] = &[
    ("wait", wait::dirty),
    ("first", wait::first),
    ("unchanged", wait::unchanged),
    ("watched", wait::watched),
    ("known", wait::known),
    ("forked", wait::forked),
    ("zeros", wait::zeros),
    ("scale", wait::scale),
    ("disk", disk::durable),
    ("direct", disk::direct),
    ("compressed", disk::compressed),
    ("restart", disk::restart),
    ("nested", values::nested),
    ("variables", values::variables),
    ("memory", memory::copies),
    ("memory-without-copies", memory::without_copies),
];

/// A session in a folder of its own, which becomes the working directory.
fn session(folder: &Path, settings: &str) -> anyhow::Result<ckpt::Session> {
    session_every(1, folder, settings)
}

/// The same, with a checkpoint at every so manieth visit.
fn session_every(every: u64, folder: &Path, settings: &str) -> anyhow::Result<ckpt::Session> {
    std::env::set_current_dir(folder)?;
    let store = folder.join("store");
    let settings = format!("[session]\ndir = {store:?}\nevery = {every}\n{settings}\n");
    std::fs::write("ckpt.toml", settings)?;
    Ok(ckpt::Session::open("pipeline")?)
}

/// Takes a checkpoint of one value.
fn save<T: ckpt::Checkpoint + ?Sized>(session: &mut ckpt::Session, value: &T) -> anyhow::Result<()> {
    anyhow::ensure!(
        session.save_if_due(|to| to.save("state", value))?,
        "no checkpoint was taken"
    );
    Ok(())
}

/// The checkpoint files in a folder.
fn files(folder: &Path) -> anyhow::Result<impl Iterator<Item = PathBuf>> {
    let entries = std::fs::read_dir(folder.join("store"))?
        .flatten()
        .map(|entry| entry.path());
    Ok(entries.filter(|path| path.extension().is_some_and(|extension| extension == "h5")))
}

/// The newest of them.
fn newest(folder: &Path) -> anyhow::Result<PathBuf> {
    files(folder)?
        .max()
        .ok_or_else(|| anyhow::anyhow!("there is no checkpoint"))
}

/// Removes them, so that no checkpoint has to.
fn remove_all(folder: &Path) -> anyhow::Result<()> {
    for file in files(folder)? {
        std::fs::remove_file(file)?;
    }
    Ok(())
}
