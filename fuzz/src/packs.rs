//! Packs of anybody's: unpacked in a folder, with nothing written outside of it, and nothing left of one that is refused.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use serde_json::{Value, json};
use twox_hash::xxhash3_128::Hasher;

use crate::pack;

/// A run of which there are records.
const RUN: &str = "0123456789abcdef0123456789abcdef";
const PACK: &str = "../pack.tar";
const STORE: &str = "again";
const LINK: &str = "link";
const BLOCK: usize = 512;

/// A folder to unpack in, with a link that leads out of it, and what lies around. This process works in it from now on.
pub struct Ground {
    folder: tempfile::TempDir,
}

impl Ground {
    /// In memory.
    pub fn new() -> Ground {
        let folder = crate::scratch();
        let path = |name: &str| folder.path().join(name);
        fs::create_dir(path("outside")).expect("it is empty");
        fs::write(path("outside/file.csv"), "untouched").expect("there is room");
        fs::create_dir(path("inside")).expect("it is empty");
        symlink("../outside", path("inside/link")).expect("there are links");
        std::env::set_current_dir(path("inside")).expect("it is there");
        Ground { folder }
    }

    /// Unpacks any bytes as they are, and once more with lengths, names and checksums that fit.
    pub fn any(&self, bytes: &[u8]) {
        self.unpack(bytes);
        self.unpack(&fitting(bytes));
    }

    /// Unpacks a pack.
    ///
    /// # Panics
    /// Something was written elsewhere, or is left though it was refused.
    pub fn unpack(&self, bytes: &[u8]) -> bool {
        fs::write(PACK, bytes).expect("there is room");
        let unpacked = pack::unpack(Path::new(PACK), Some(Path::new(STORE)), &[]);
        let mut found = names_in(Path::new("."));
        found.retain(|name| name != LINK);
        match &unpacked {
            Ok(_) => found.iter().for_each(|name| is_plain(Path::new(name))),
            Err(why) => assert!(found.is_empty(), "{why}, and there is {found:?}"),
        }
        self.nothing_is_elsewhere();
        for name in found {
            let removed = match Path::new(&name).is_dir() {
                true => fs::remove_dir_all(&name),
                false => fs::remove_file(&name),
            };
            removed.expect("it can be removed");
        }
        unpacked.is_ok()
    }

    fn nothing_is_elsewhere(&self) {
        assert_eq!(names_in(self.folder.path()), ["inside", "outside", "pack.tar"]);
        assert_eq!(names_in(&self.folder.path().join("outside")), ["file.csv"]);
        let file = fs::read(self.folder.path().join("outside/file.csv"));
        assert_eq!(file.expect("it is there"), b"untouched");
        assert!(Path::new(LINK).is_symlink());
    }
}

impl Default for Ground {
    fn default() -> Self {
        Ground::new()
    }
}

fn names_in(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("it is there");
    let name = |entry: std::io::Result<fs::DirEntry>| entry.expect("it can be read").file_name();
    let mut names: Vec<String> = entries
        .map(|entry| name(entry).into_string().expect("it is a text"))
        .collect();
    names.sort();
    names
}

/// Files and folders, of names that nothing takes for anything else.
fn is_plain(path: &Path) {
    let found = fs::symlink_metadata(path).expect("it is there");
    assert!(found.is_file() || found.is_dir(), "{}", path.display());
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    assert!(!name.starts_with(['.', '-']), "{}", path.display());
    assert!(!name.chars().any(char::is_control), "{name:?}");
    if found.is_dir() {
        names_in(path).iter().for_each(|name| is_plain(&path.join(name)));
    }
}

/// A pack with a file of every kind.
pub fn written() -> Vec<u8> {
    let of_run = |name: &str| format!("store/runs/{RUN}/{name}");
    let files: Vec<(String, &[u8])> = vec![
        ("store/000001.r0.h5".to_owned(), b"a checkpoint"),
        (of_run("job.json"), b"{}"),
        (of_run("files.000001.log"), b"what was there"),
        ("files/energy.csv".to_owned(), b"1,2\n"),
        ("files/out/grid.dat".to_owned(), b"3"),
    ];
    let entries = files
        .iter()
        .map(|(path, bytes)| json!({ "path": path, "bytes": bytes.len(), "xxh3_128": sum(bytes) }));
    let manifest = json!({
        "format": "ckpt-pack", "version": 2, "store": "heat.ckpt.d", "run": RUN, "program": "heat", "host": "h",
        "files": entries.collect::<Vec<_>>(),
    });
    let manifest = manifest.to_string();
    let all = std::iter::once(("manifest.json", manifest.as_bytes()))
        .chain(files.iter().map(|(path, bytes)| (path.as_str(), *bytes)));
    let mut archive = tar::Builder::new(Vec::new());
    for (path, bytes) in all {
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes.len() as u64);
        header.set_mode(0o644);
        archive
            .append_data(&mut header, path, bytes)
            .expect("it is short");
    }
    archive.into_inner().expect("it is in memory")
}

fn sum(bytes: &[u8]) -> String {
    format!("{:032x}", Hasher::oneshot(bytes))
}

/// An entry of a tar file: its head, and what it has.
struct Piece {
    head: [u8; BLOCK],
    bytes: Vec<u8>,
}

/// Where a head has its fields.
mod field {
    use std::ops::Range;
    pub const NAME: Range<usize> = 0..100;
    pub const SIZE: Range<usize> = 124..136;
    pub const SUM: Range<usize> = 148..156;
    pub const PREFIX: Range<usize> = 345..500;
}

impl Piece {
    /// The next one, as far as it is there.
    fn take(rest: &mut &[u8]) -> Option<Piece> {
        let (head, behind) = rest.split_at_checked(BLOCK)?;
        let digits = head[field::SIZE]
            .iter()
            .take_while(|digit| digit.is_ascii_digit());
        let length = digits.fold(0_usize, |sum, digit| {
            sum.saturating_mul(8).saturating_add(usize::from(digit - b'0'))
        });
        let length = length.min(behind.len());
        let padded = length.next_multiple_of(BLOCK).min(behind.len());
        *rest = &behind[padded..];
        Some(Piece {
            head: head.try_into().ok()?,
            bytes: behind[..length].to_vec(),
        })
    }

    /// It is called so, where a head has room for that.
    fn rename(&mut self, name: &str) {
        if name.len() < field::NAME.len() {
            self.head[field::NAME].fill(0);
            self.head[..name.len()].copy_from_slice(name.as_bytes());
            self.head[field::PREFIX].fill(0);
        }
    }

    fn write(mut self, to: &mut Vec<u8>) {
        let size = format!("{:011o}\0", self.bytes.len());
        self.head[field::SIZE].copy_from_slice(size.as_bytes());
        self.head[field::SUM].fill(b' ');
        let sum: u32 = self.head.iter().map(|byte| u32::from(*byte)).sum();
        self.head[field::SUM].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        to.extend(self.head);
        to.extend(&self.bytes);
        to.resize(to.len().next_multiple_of(BLOCK), 0);
    }
}

/// The same entries, with heads that fit, under the names and with the checksums that the manifest has: a fuzzer finds no sums.
fn fitting(bytes: &[u8]) -> Vec<u8> {
    let mut rest = bytes;
    let mut pieces: Vec<Piece> = std::iter::from_fn(|| Piece::take(&mut rest)).collect();
    let Some((first, others)) = pieces.split_first_mut() else {
        return Vec::new();
    };
    first.rename("manifest.json");
    if let Ok(mut manifest) = serde_json::from_slice::<Value>(&first.bytes) {
        let files = manifest.get_mut("files").and_then(Value::as_array_mut);
        for (file, piece) in files.into_iter().flatten().zip(others) {
            if let Some(name) = file.get("path").and_then(Value::as_str) {
                piece.rename(name);
            }
            if let Some(file) = file.as_object_mut() {
                file.insert("bytes".into(), piece.bytes.len().into());
                file.insert("xxh3_128".into(), sum(&piece.bytes).into());
            }
        }
        first.bytes = manifest.to_string().into_bytes();
    }
    let mut fitting = Vec::new();
    pieces.into_iter().for_each(|piece| piece.write(&mut fitting));
    fitting
}
