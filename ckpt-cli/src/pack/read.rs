//! Unpacking: into a folder of another name first, with every length and checksum compared, then everything to its place.

use std::collections::{BTreeSet, HashSet};
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use ckpt::store::{Noted, settle};

use super::{Destination, Entry, FORMAT, MANIFEST, Manifest, STORE, VERSION, copy, names};
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

/// Unpacks a pack in this folder: the store under its own name unless another is given. Files of the program are taken out
/// if they hold data, or are `wanted`.
pub fn unpack(pack: &Path, store: Option<&Path>, wanted: &[PathBuf]) -> Outcome<Unpacked> {
    let file = File::open(pack).about("cannot open", pack)?;
    let length = file.metadata().about("cannot read", pack)?.len();
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
    holds_data_or_is_wanted(pack, &places, wanted)?;
    let bytes = bytes_of(&manifest);
    let bytes = bytes.ok_or_else(|| not_one(&"it says that more is in it than any disk holds"))?;
    if bytes > length {
        // The rest of it has been lost on the way.
        let why = format!("it should hold {bytes} bytes, and is no longer than {length}");
        return Err(damaged(pack, &why));
    }
    let store = match store {
        Some(store) => store.to_owned(),
        None => store_of(&manifest).map_err(|why| not_one(&why))?,
    };
    if let Some(path) = in_the_way_of(&store, &places) {
        let path = path.display();
        return Err(not_one(&format!("it has `{path}` where its store would be")));
    }
    nothing_is_in_the_way(&store, &places)?;

    let around = store
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    fs::create_dir_all(around).about("cannot make", around)?;
    there_is_room(around, bytes)?;
    let aside = tempfile::Builder::new()
        .prefix(".unpack-")
        .tempdir_in(around)
        .about("cannot write in", around)?;
    fs::create_dir(aside.path().join(STORE)).about("cannot make", aside.path())?;
    let bar = output::bytes_bar("unpacking", bytes);
    let mut expected = manifest.files.iter();
    for entry in entries {
        let entry = entry.map_err(|error| damaged(pack, &error))?;
        take_out(&bar, entry, expected.next(), aside.path()).map_err(|why| match why {
            NotTaken::Damaged(why) => damaged(pack, &why),
            NotTaken::Here(path, error) => Err::<(), _>(error).about("cannot write", &path).unwrap_err(),
        })?;
    }
    if let Some(missing) = expected.next() {
        return Err(damaged(pack, &format!("it ends before `{}`", missing.path)));
    }
    drop(bar);
    // Under its name the store is whole, also after a power cut.
    for folder in folders_of(&manifest) {
        let folder = aside.path().join(folder);
        settle(&folder).about("cannot write in", &folder)?;
    }
    // What was said on this machine was said of another store.
    Noted::of(&store).forget();
    let files = move_in(aside.path(), &store, &manifest, &places)?;
    settle(around).about("cannot write in", around)?;
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
    let mut seen = HashSet::new();
    let place = |entry: &Entry| {
        let place = entry.place().filter(|_| seen.insert(entry.path.clone()));
        // Where a message has lines of its own, no name has any.
        place.ok_or_else(|| format!("it has a file for `{}`", entry.path.replace('\n', "\\n")))
    };
    manifest.files.iter().map(place).collect()
}

/// What cargo, git or a shell could read as a program or its settings is not put before them unasked.
fn holds_data_or_is_wanted(pack: &Path, places: &[Destination], wanted: &[PathBuf]) -> Outcome<()> {
    let refused: Vec<String> = places
        .iter()
        .filter_map(|place| match place {
            Destination::File(path) if !names::is_data(path) && !wanted.contains(path) => {
                Some(format!("--with {}", path.display()))
            }
            _ => None,
        })
        .collect();
    match refused.is_empty() {
        true => Ok(()),
        false => Err(Failure::store(says!(
            "E3184: `{}` has files whose names may be those of programs or settings",
            pack.display()
        ))
        .because("nothing was unpacked: cargo, git, a shell or an editor may do what stands in such a file")
        .help(format!(
            "look at them (`tar -tvf`), and name those that you want: {}",
            refused.join(" ")
        ))),
    }
}

/// How the names of stores end that ckpt names itself.
const STORES_END: &str = ".ckpt.d";

/// The folder that it names, if that is a name as ckpt gives stores.
fn store_of(manifest: &Manifest) -> Result<PathBuf, String> {
    let name = &manifest.store;
    if !names::is_plain_name(name) {
        return Err(format!("`{name}` is no name of a store"));
    }
    match name.ends_with(STORES_END) {
        true => Ok(name.into()),
        false => Err(format!(
            "its store was named `{name}`, which may be the name of something else here; give it one with `--dir FOLDER`"
        )),
    }
}

/// The length of all its files; `None` if no disk has so many bytes.
fn bytes_of(manifest: &Manifest) -> Option<u64> {
    let mut lengths = manifest.files.iter().map(|entry| entry.bytes);
    lengths.try_fold(0_u64, u64::checked_add)
}

fn there_is_room(folder: &Path, bytes: u64) -> Outcome<()> {
    let Ok(disk) = nix::sys::statvfs::statvfs(folder) else {
        return Ok(()); // the writes will tell
    };
    // Wide enough whatever the system's types are.
    let free = u128::from(disk.blocks_available()) * u128::from(disk.fragment_size());
    match u128::from(bytes) <= free {
        true => Ok(()),
        false => Err(Failure::store(says!(
            "E3183: there is no room for {bytes} bytes in `{}`, {free} are free",
            folder.display()
        ))
        .help("free some space, or unpack in a folder on another disk")),
    }
}

/// A file of the program that would be in the store, or that the store would be in.
fn in_the_way_of<'p>(store: &Path, places: &'p [Destination]) -> Option<&'p Path> {
    let absolute = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let store = absolute(store);
    places.iter().find_map(|place| match place {
        Destination::File(path) => {
            let at = absolute(path);
            (at.starts_with(&store) || store.starts_with(&at)).then_some(path.as_path())
        }
        Destination::Store => None,
    })
}

/// What is here already is not overwritten.
fn nothing_is_in_the_way(store: &Path, places: &[Destination]) -> Outcome<()> {
    let is_there = |path: &Path| fs::symlink_metadata(path).is_ok();
    let is_empty = |folder: &Path| fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_none());
    let is_link = |path: &Path| fs::symlink_metadata(path).is_ok_and(|seen| seen.is_symlink());
    if is_there(store) && (is_link(store) || !is_empty(store)) {
        return Err(
            Failure::store(says!("E3009: `{}` is there already", store.display()))
                .help("unpack into another folder with `--dir FOLDER`, or remove it"),
        );
    }
    for place in places {
        let Destination::File(path) = place else {
            continue;
        };
        let folders = path.ancestors().skip(1);
        let no_folder = folders
            .filter(|folder| is_there(folder) && !folder.is_dir())
            .last();
        if let Some(path) = no_folder.or(is_there(path).then_some(path)) {
            return Err(
                Failure::store(says!("E3055: the file `{}` is there already", path.display()))
                    .help("unpack in another folder, or remove it"),
            );
        }
        let mut around = path.ancestors().skip(1).filter(|folder| *folder != Path::new(""));
        if let Some(link) = around.find(|folder| folder.is_symlink()) {
            return Err(Failure::store(says!(
                "E3182: `{}` is a link, and `{}` would be written where it leads",
                link.display(),
                path.display()
            ))
            .help("unpack in another folder, and move the file"));
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
) -> Result<(), NotTaken> {
    let path = entry
        .path()
        .map_err(|error| NotTaken::Damaged(error.to_string()))?
        .into_owned();
    let Some(expected) = expected.filter(|expected| Path::new(&expected.path) == path) else {
        return Err(NotTaken::Damaged(format!(
            "`{}` is not what the manifest has next",
            path.display()
        )));
    };
    if !entry.header().entry_type().is_file() {
        return Err(NotTaken::Damaged(format!(
            "`{}` is no plain file",
            path.display()
        )));
    }
    if entry.size() != expected.bytes {
        return Err(NotTaken::Damaged(format!(
            "`{}` has {} bytes, and should have {}",
            expected.path,
            entry.size(),
            expected.bytes
        )));
    }
    let to = aside.join(&path);
    let here = |error: io::Error| NotTaken::Here(to.clone(), error);
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder).map_err(here)?;
    }
    let mut file = File::options()
        .write(true)
        .create_new(true)
        .open(&to)
        .map_err(here)?;
    let (bytes, sum) = copy(&mut entry, &mut file, bar).map_err(|error| match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
            here(error)
        }
        _ => NotTaken::Damaged(format!("`{}`: {error}", to.display())),
    })?;
    if (bytes, &sum) != (expected.bytes, &expected.xxh3_128) {
        return Err(NotTaken::Damaged(format!(
            "`{}` has {bytes} bytes and the checksum {sum}, and should have {} and {}",
            expected.path, expected.bytes, expected.xxh3_128
        )));
    }
    file.sync_all().map_err(here)
}

/// Why an entry could not be taken out of a pack.
enum NotTaken {
    /// It is not what the manifest says.
    Damaged(String),
    /// It cannot be written here.
    Here(PathBuf, io::Error),
}

/// The folders that its entries are in.
fn folders_of(manifest: &Manifest) -> BTreeSet<&Path> {
    let paths = manifest.files.iter().map(|entry| Path::new(&entry.path));
    paths.filter_map(Path::parent).chain([Path::new(STORE)]).collect()
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
            move_to(&from, path).about("cannot write", path)?;
            files.push(path.clone());
        }
    }
    let here = Path::new(".");
    let folder_of = |path: &PathBuf| here.join(path).parent().map(Path::to_owned);
    let folders: BTreeSet<PathBuf> = files.iter().filter_map(folder_of).collect();
    for folder in folders {
        settle(&folder).about("cannot write in", &folder)?;
    }
    fs::rename(aside.join(STORE), store).about("cannot make", store)?;
    Ok(files)
}

/// Moves a file, not over another. The store may be on another disk.
fn move_to(from: &Path, to: &Path) -> io::Result<()> {
    match fs::hard_link(from, to) {
        Ok(()) => fs::remove_file(from),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(error),
        Err(_) => {
            let mut copy = File::create_new(to)?;
            io::copy(&mut File::open(from)?, &mut copy)?;
            copy.sync_all()
        }
    }
}
