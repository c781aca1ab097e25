//! Random histories of files and folders in one process: sessions follow each other, each goes on from a checkpoint of one
//! before it, and finds the tree as it was when that was taken.
//!
//! `HISTORIES` says which seeds.

use std::collections::BTreeMap;
use std::fs::{self, File, Permissions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use ckpt::Session;

/// What is at each path: kind, permissions, bytes; names of one file have the number of the first.
pub type Tree = BTreeMap<PathBuf, (u32, String, Vec<u8>)>;

/// Names that are used, so that they meet.
const NAMES: [&str; 7] = ["a", "b", "c", "d/a", "d/b", "d/e/a", "f/a"];
const FOLDERS: [&str; 4] = ["d", "d/e", "f", "g"];

/// From this seed on more can happen: folders give way to links, and files are closed to their owner.
const MORE: u64 = 1_000_000;

/// Numbers that are the same in every run.
struct Dice(u64);

impl Dice {
    fn throw(&mut self, below: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % below
    }

    fn name(&mut self, root: &Path) -> PathBuf {
        root.join(NAMES[self.throw(NAMES.len() as u64) as usize])
    }

    fn folder(&mut self, root: &Path) -> PathBuf {
        root.join(FOLDERS[self.throw(FOLDERS.len() as u64) as usize])
    }

    fn any(&mut self, root: &Path) -> PathBuf {
        match self.throw(3) {
            0 => self.folder(root),
            _ => self.name(root),
        }
    }

    /// Bytes that are hardly ever the same; some files are large.
    fn bytes(&mut self) -> Vec<u8> {
        let length = match self.throw(24) {
            0 => 1_100_000 + self.throw(900_000),
            1..4 => self.throw(20_000),
            _ => self.throw(40),
        };
        let (first, second) = (self.throw(251), self.throw(13));
        (0..length)
            .map(|at| (first + at * second + at / 256) as u8)
            .collect()
    }
}

pub fn tree(root: &Path) -> Tree {
    let mut tree = Tree::new();
    let mut files = BTreeMap::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        let mut entries: Vec<PathBuf> = fs::read_dir(&folder)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        entries.sort();
        for path in entries {
            let found = fs::symlink_metadata(&path).unwrap();
            let (kind, bytes) = if found.is_dir() {
                folders.push(path.clone());
                ("folder".to_owned(), Vec::new())
            } else if found.is_symlink() {
                (
                    format!("link to {}", fs::read_link(&path).unwrap().display()),
                    Vec::new(),
                )
            } else if !found.is_file() {
                ("no plain file".to_owned(), Vec::new())
            } else {
                let first = files.entry(found.ino()).or_insert_with(|| path.clone()).clone();
                (format!("file {}", first.display()), fs::read(&path).unwrap())
            };
            tree.insert(path, (found.permissions().mode(), kind, bytes));
        }
    }
    tree
}

pub fn differences(now: &Tree, then: &Tree) -> Vec<String> {
    let paths = now.keys().chain(then.keys());
    let all: std::collections::BTreeSet<&PathBuf> = paths.collect();
    let short = |what: Option<&(u32, String, Vec<u8>)>| match what {
        None => "nothing".to_owned(),
        Some((mode, kind, bytes)) => {
            format!(
                "{mode:o} {kind} {} bytes {:?}",
                bytes.len(),
                &bytes[..bytes.len().min(12)]
            )
        }
    };
    let differ = all.into_iter().filter(|path| now.get(*path) != then.get(*path));
    differ
        .map(|path| {
            format!(
                "{}: {}, and was {}",
                path.display(),
                short(now.get(path)),
                short(then.get(path))
            )
        })
        .collect()
}

/// The files that are held open.
type Held = Vec<File>;

/// Where each of them stands, and what is in it.
type Standing = Vec<(u64, Vec<u8>)>;

/// Something happens. What cannot be done fails, as it would in a program that does not mind.
fn act(dice: &mut Dice, root: &Path, held: &mut Held, kinds: u64) {
    let (name, bytes) = (dice.name(root), dice.bytes());
    match dice.throw(kinds) {
        26 | 27 => {
            let (folder, other) = (
                dice.folder(root),
                root.join(["h", "f", "d/e"][dice.throw(3) as usize]),
            );
            if fs::rename(&folder, &other).is_ok() || dice.throw(4) == 0 {
                let _ = fs::remove_file(&folder);
                drop(symlink(other, folder));
            }
        }
        28 => drop(symlink(dice.any(root), dice.any(root))),
        29 => {
            let mode = [0o444, 0o400, 0o600, 0o644][dice.throw(4) as usize];
            let is_file = fs::metadata(&name).is_ok_and(|found| found.is_file());
            let _ = is_file.then(|| fs::set_permissions(&name, Permissions::from_mode(mode)));
        }
        30 => {
            let folder = dice.folder(root);
            let is_folder = fs::symlink_metadata(&folder).is_ok_and(|found| found.is_dir());
            let mode = [0o555, 0o755][dice.throw(2) as usize];
            let _ = is_folder.then(|| fs::set_permissions(&folder, Permissions::from_mode(mode)));
        }
        31 | 32 => {
            let other = dice.name(root);
            if fs::hard_link(&name, other).is_ok() {
                let _ = fs::remove_file(name);
            }
        }
        33 => {
            let _ = fs::remove_file(&name);
            if fs::create_dir(&name).is_ok() {
                let _ = fs::write(name.join("a"), bytes);
            }
        }
        34 => drop(super::held::exchange(dice.any(root), dice.any(root))),
        35 => drop(fs::remove_dir_all(name)),
        0 | 1 => drop(fs::write(name, bytes)),
        2 => drop(File::create_new(name).map(|mut file| file.write_all(&bytes))),
        3 | 4 => drop(
            File::options()
                .append(true)
                .create(true)
                .open(name)
                .map(|mut file| file.write_all(&bytes)),
        ),
        5 => drop(fs::remove_file(name)),
        6 | 7 => drop(fs::rename(name, dice.name(root))),
        8 => drop(fs::rename(dice.any(root), dice.any(root))),
        9 => drop(fs::create_dir(dice.folder(root))),
        10 => drop(fs::create_dir_all(dice.folder(root))),
        11 => drop(fs::remove_dir(dice.folder(root))),
        12 => drop(fs::remove_dir_all(dice.folder(root))),
        13 => drop(symlink("c", name)),
        14 => drop(fs::hard_link(name, dice.name(root))),
        15 => {
            let mode = 0o600 | dice.throw(0o200) as u32;
            drop(fs::set_permissions(
                dice.any(root),
                Permissions::from_mode(mode | 0o100),
            ));
        }
        16 => drop(fs::copy(name, dice.name(root))),
        17 => drop(File::options().write(true).open(name).map(|mut file| {
            let _ = file.seek(SeekFrom::Start(dice.throw(30)));
            file.write_all(&bytes)
        })),
        18 => drop(
            File::options()
                .write(true)
                .open(name)
                .map(|file| file.set_len(dice.throw(1_500_000))),
        ),
        19 | 20 => {
            let mut options = File::options();
            options
                .read(true)
                .write(true)
                .create(true)
                .truncate(dice.throw(2) == 0);
            if dice.throw(3) == 0 {
                options = File::options();
                options.append(true).create(true);
            }
            if held.len() < 4 {
                held.extend(options.open(name));
            }
        }
        21 if !held.is_empty() => drop(held.remove(dice.throw(held.len() as u64) as usize)),
        what if !held.is_empty() && what < 26 => {
            let which = dice.throw(held.len() as u64) as usize;
            let file = &mut held[which];
            match what {
                22 => drop(file.set_len(dice.throw(50))),
                23 => drop(file.write_all_at(&bytes, dice.throw(1_200_000))),
                24 => {
                    let _ = file.seek(SeekFrom::Start(dice.throw(20)));
                    drop(file.write_all(&bytes));
                }
                _ => drop(file.write_all(&bytes)),
            }
        }
        _ => {}
    }
}

/// Whether a restart could open it again: it has its name still, or another one beside that.
fn can_be_held(file: &File) -> bool {
    use std::os::fd::AsRawFd;
    let found = file.metadata().unwrap();
    let path = fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd())).unwrap();
    let is_at = |path: &Path| {
        fs::symlink_metadata(path).is_ok_and(|there| (there.dev(), there.ino()) == (found.dev(), found.ino()))
    };
    let beside = fs::read_dir(path.parent().unwrap()).into_iter().flatten();
    is_at(&path) || found.nlink() > 0 && beside.map(Result::unwrap).any(|entry| is_at(&entry.path()))
}

/// Where the held files stand, and what is in them.
fn standing(held: &mut Held) -> Standing {
    let mut all = Vec::new();
    for file in held {
        let at = file.stream_position().unwrap();
        let mut bytes = Vec::new();
        let _ = file.rewind();
        let _ = file.read_to_end(&mut bytes);
        let _ = file.seek(SeekFrom::Start(at));
        all.push((at, bytes));
    }
    all
}

fn history(seed: u64, top: &Path) -> Result<u64, String> {
    let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    for _ in 0..5 {
        dice.throw(2);
    }
    let kinds = if seed < MORE { 26 } else { 36 };
    let root = top.join("root");
    fs::create_dir(&root).unwrap();
    for _ in 0..dice.throw(12) {
        act(&mut dice, &root, &mut Vec::new(), kinds);
    }
    // SAFETY: nothing else runs in this process that reads the environment.
    let set = |name: &str, value: &str| unsafe { std::env::set_var(name, value) };
    set("CKPT_DIR", top.join("store").to_str().unwrap());
    set("CKPT_EVERY", "1");
    set("CKPT_BACKGROUND", "0");
    set("CKPT_QUIET", "1");
    set("CKPT_KEEP", "all");
    // SAFETY: as above.
    unsafe { std::env::remove_var("CKPT_RESTART") };
    let mut session = Session::open("histories").map_err(|error| error.to_string())?;
    let mut held: Held = Vec::new();
    // Of each checkpoint that can be restored: its number, and what there was.
    let mut known: Vec<(u64, Tree, Standing)> = Vec::new();
    let mut last = 0;
    for _ in 0..2 + dice.throw(4) {
        for _ in 0..1 + dice.throw(4) {
            for _ in 0..dice.throw(7) {
                act(&mut dice, &root, &mut held, kinds);
            }
            held.retain(can_be_held);
            let taken = session.save_if_due(|to| to.save("held", &held));
            if !taken.map_err(|error| error.to_string())? {
                return Err("no checkpoint was taken".to_owned());
            }
            last += 1;
            known.push((last, tree(&root), standing(&mut held)));
        }
        for _ in 0..dice.throw(9) {
            act(&mut dice, &root, &mut held, kinds);
        }
        held.clear();
        drop(session);
        let back = dice.throw(known.len() as u64) as usize;
        let back = if dice.throw(2) == 0 { known.len() - 1 } else { back };
        known.truncate(back + 1);
        let (id, then, stood) = &known[back];
        set("CKPT_RESTART", &id.to_string());
        session = Session::open("histories").map_err(|error| error.to_string())?;
        held = session
            .restore("held")
            .map_err(|error| error.to_string())?
            .ok_or("there is nothing to restore")?;
        let now = tree(&root);
        if now != *then {
            return Err(format!("checkpoint {id}: {}", differences(&now, then).join("; ")));
        }
        if standing(&mut held) != *stood {
            return Err(format!(
                "checkpoint {id}: the files that were held are not as they were"
            ));
        }
    }
    Ok(last)
}

pub fn main() -> Result<(), String> {
    let seeds = std::env::var("HISTORIES").map_err(|error| error.to_string())?;
    let (from, to) = seeds.split_once("..").ok_or("HISTORIES=FROM..TO")?;
    let number = |text: &str| text.parse::<u64>().map_err(|error| error.to_string());
    let (mut histories, mut checkpoints) = (0, 0);
    for seed in number(from)?..number(to)? {
        // Links may lead anywhere in the run's folder.
        let place = match seed < MORE {
            true => PathBuf::from("/dev/shm"),
            false => std::env::current_dir().map_err(|error| error.to_string())?,
        };
        let top = tempfile::Builder::new().prefix("top").tempdir_in(place);
        let top = top.map_err(|error| error.to_string())?;
        let ended = history(seed, top.path());
        for (path, (_, kind, _)) in tree(top.path()) {
            if kind == "folder" {
                let _ = fs::set_permissions(path, Permissions::from_mode(0o755));
            }
        }
        checkpoints += ended.map_err(|what| format!("history {seed}: {what}"))?;
        histories += 1;
    }
    println!("{histories} histories with {checkpoints} checkpoints");
    Ok(())
}
