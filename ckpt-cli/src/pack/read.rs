//! Unpacking: into a folder of another name first, with every length and checksum compared, then everything to its place.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use super::{Destination, Entry, FORMAT, MANIFEST, Manifest, STORE, VERSION, copy};
use crate::failure::{AboutFile, Failure, Outcome, says};
use crate::output::{self, Bar};

/// A manifest is not longer.
const LONGEST_MANIFEST: u64 = 64 << 20;

/// What has been unpacked.
#[derive(Debug)]
pub struct Unpacked {
    /// The store.
    pub store: PathBuf,
    /// Files of the program.
    pub files: Vec<PathBuf>,
    /// What was in the pack.
    pub manifest: Manifest,
}

/// Unpacks a pack in this folder: the store under its own name unless another is given.
pub fn unpack(pack: &Path, store: Option<&Path>) -> Outcome<Unpacked> {
    let file = File::open(pack).about("cannot open", pack)?;
    let mut archive = tar::Archive::new(std::io::BufReader::new(file));
    let not_one = |why: &dyn std::fmt::Display| {
        Failure::store(says!("E3053: `{}` is not a pack", pack.display()))
            .because(why)
            .help("`cargo ckpt pack` makes one")
    };
    // What the reader of tar says of another file quotes its bytes.
    let no_tar = |error: std::io::Error| match error.raw_os_error() {
        Some(_) => not_one(&error),
        None => not_one(&"it is no tar file"),
    };
    let mut entries = archive.entries().map_err(no_tar)?;
    let first = entries.next().ok_or_else(|| not_one(&"it is empty"))?;
    let manifest = manifest(first.map_err(no_tar)?).map_err(|why| not_one(&why))?;
    let places = places(&manifest).map_err(|why| not_one(&why))?;
    let store = store.map_or_else(|| PathBuf::from(&manifest.store), Path::to_owned);
    nothing_is_in_the_way(&store, &places)?;

    let around = store
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    fs::create_dir_all(around).about("cannot make", around)?;
    let aside = tempfile::Builder::new()
        .prefix(".unpack-")
        .tempdir_in(around)
        .about("cannot write in", around)?;
    fs::create_dir(aside.path().join(STORE)).about("cannot make", aside.path())?;
    let bar = output::bytes_bar("unpacking", manifest.files.iter().map(|entry| entry.bytes).sum());
    let mut expected = manifest.files.iter();
    for entry in entries {
        let entry = entry.map_err(|error| damaged(pack, &error))?;
        take_out(&bar, entry, expected.next(), aside.path()).map_err(|why| damaged(pack, &why))?;
    }
    if let Some(missing) = expected.next() {
        return Err(damaged(pack, &format!("it ends before `{}`", missing.path)));
    }
    drop(bar);
    let files = move_in(aside.path(), &store, &manifest, &places)?;
    Ok(Unpacked {
        store,
        files,
        manifest,
    })
}

fn damaged(pack: &Path, why: &dyn std::fmt::Display) -> Failure {
    Failure::store(says!(
        "E3054: `{}` is damaged, nothing was unpacked",
        pack.display()
    ))
    .because(why)
    .help("carry it once more")
}

fn manifest(entry: tar::Entry<'_, impl Read>) -> Result<Manifest, String> {
    if entry.path().ok().as_deref() != Some(Path::new(MANIFEST)) {
        return Err(format!("it does not begin with `{MANIFEST}`"));
    }
    let mut text = String::new();
    let read = entry.take(LONGEST_MANIFEST).read_to_string(&mut text);
    read.map_err(|error| error.to_string())?;
    let manifest: Manifest = serde_json::from_str(&text).map_err(|error| error.to_string())?;
    match (manifest.format.as_str(), manifest.version) {
        (FORMAT, VERSION) => Ok(manifest),
        (FORMAT, other) => Err(format!(
            "it is of version {other}, this ckpt knows version {VERSION}: another ckpt made it"
        )),
        _ => Err("its manifest is that of something else".into()),
    }
}

fn places(manifest: &Manifest) -> Result<Vec<Destination>, String> {
    let plain = Path::new(&manifest.store).components();
    if !plain.eq([std::path::Component::Normal(manifest.store.as_ref())]) {
        return Err(format!("`{}` is no name of a store", manifest.store));
    }
    let mut seen = HashSet::new();
    let place = |entry: &Entry| {
        let place = entry.place().filter(|_| seen.insert(entry.path.clone()));
        place.ok_or_else(|| format!("it has a file for `{}`", entry.path))
    };
    manifest.files.iter().map(place).collect()
}

/// What is here already is not overwritten.
fn nothing_is_in_the_way(store: &Path, places: &[Destination]) -> Outcome<()> {
    let is_there = |path: &Path| fs::symlink_metadata(path).is_ok();
    let is_empty = |folder: &Path| fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_none());
    if is_there(store) && !is_empty(store) {
        return Err(
            Failure::store(says!("E3009: `{}` is there already", store.display()))
                .help("unpack into another folder with `--dir FOLDER`, or remove it"),
        );
    }
    for place in places {
        if let Destination::File(path) = place
            && is_there(path)
        {
            return Err(
                Failure::store(says!("E3055: the file `{}` is there already", path.display()))
                    .help("unpack in another folder, or remove it"),
            );
        }
    }
    Ok(())
}

/// Writes an entry aside, if it is the one that the manifest has next.
fn take_out(
    bar: &Bar,
    mut entry: tar::Entry<'_, impl Read>,
    expected: Option<&Entry>,
    aside: &Path,
) -> Result<(), String> {
    let path = entry.path().map_err(|error| error.to_string())?.into_owned();
    let Some(expected) = expected.filter(|expected| Path::new(&expected.path) == path) else {
        return Err(format!("`{}` is not what the manifest has next", path.display()));
    };
    if !entry.header().entry_type().is_file() {
        return Err(format!("`{}` is no plain file", path.display()));
    }
    let to = aside.join(&path);
    let failed = |error: std::io::Error| format!("`{}`: {error}", to.display());
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder).map_err(failed)?;
    }
    let mut file = File::options()
        .write(true)
        .create_new(true)
        .open(&to)
        .map_err(failed)?;
    let (bytes, sum) = copy(&mut entry, &mut file, bar).map_err(failed)?;
    if (bytes, &sum) != (expected.bytes, &expected.xxh3_128) {
        return Err(format!(
            "`{}` has {bytes} bytes and the checksum {sum}, and should have {} and {}",
            expected.path, expected.bytes, expected.xxh3_128
        ));
    }
    file.sync_all().map_err(failed)
}

/// Gives everything its place: the files of the program, then the store.
fn move_in(aside: &Path, store: &Path, manifest: &Manifest, places: &[Destination]) -> Outcome<Vec<PathBuf>> {
    let mut files = Vec::new();
    for (entry, place) in manifest.files.iter().zip(places) {
        if let Destination::File(path) = place {
            if let Some(folder) = path.parent() {
                fs::create_dir_all(folder).about("cannot make", folder)?;
            }
            let from = aside.join(&entry.path);
            // The store may be on another disk.
            fs::rename(&from, path)
                .or_else(|_| fs::copy(&from, path).map(drop))
                .about("cannot write", path)?;
            files.push(path.clone());
        }
    }
    fs::rename(aside.join(STORE), store).about("cannot make", store)?;
    Ok(files)
}
