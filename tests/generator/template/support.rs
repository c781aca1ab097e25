//! What all generated programs use.

pub use std::collections::BTreeMap;

pub fn mix(a: u64, b: u64) -> u64 {
    (a % 100_003 * 31 + b % 100_003 * 7 + 11) % 1009
}

pub fn digest(items: &[u64]) -> u64 {
    items.iter().fold(17, |hash, item| mix(hash, *item))
}

#[derive(Debug, Clone, ckpt::Checkpoint)]
pub enum Kind {
    Empty,
    One(u64),
    Two { size: u64, name: String },
}

impl Kind {
    pub fn pick(n: u64) -> Self {
        match mix(n, 8) % 5 {
            0 => Kind::Empty,
            1 | 2 => Kind::One(n),
            _ => Kind::Two { size: n, name: format!("k{n}") },
        }
    }
}

#[derive(Debug, ckpt::Checkpoint)]
pub struct Loud {
    name: String,
    size: u64,
}

impl Loud {
    pub fn new(name: &str, size: u64) -> Self {
        Loud { name: name.to_string(), size }
    }
}

impl Drop for Loud {
    fn drop(&mut self) {
        println!("drop {} {}", self.name, self.size);
    }
}

pub use std::fs::{File, Permissions};
pub use std::io::{BufRead, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
pub use std::os::unix::fs::{PermissionsExt, symlink};
pub use std::path::Path;

/// How an operation has ended, as a number that a program can compute with.
pub fn done<T>(result: std::io::Result<T>) -> u64 {
    match result {
        Ok(_) => 1,
        Err(error) => 100 + error.raw_os_error().unwrap_or(0) as u64,
    }
}

pub fn sum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(19, |hash, byte| mix(hash, u64::from(*byte)))
}

pub fn read_up_to(from: &mut impl Read, most: u64) -> u64 {
    let mut bytes = Vec::new();
    let result = from.take(most).read_to_end(&mut bytes);
    mix(done(result), sum(&bytes))
}

pub fn read_line(from: &mut impl BufRead) -> u64 {
    let mut line = String::new();
    let result = from.read_line(&mut line);
    mix(done(result), sum(line.as_bytes()))
}

/// What is there by that name. The length of a folder is not a program's business.
pub fn look(path: &str) -> u64 {
    match std::fs::symlink_metadata(path) {
        Ok(found) if found.is_file() => mix(found.len(), u64::from(found.permissions().mode())),
        Ok(found) if found.is_dir() => 300 + u64::from(found.permissions().mode()),
        Ok(_) => std::fs::read_link(path).map_or(2, |target| sum(target.as_os_str().as_encoded_bytes())),
        Err(error) => error.raw_os_error().unwrap_or(0) as u64,
    }
}

pub fn contents(path: &str) -> u64 {
    match std::fs::read(path) {
        Ok(bytes) => sum(&bytes),
        Err(error) => error.raw_os_error().unwrap_or(0) as u64,
    }
}

pub fn names(path: &str) -> u64 {
    let Ok(entries) = std::fs::read_dir(path) else {
        return 4;
    };
    let mut names: Vec<_> = entries.flatten().map(|entry| entry.file_name()).collect();
    names.sort();
    names.iter().fold(23, |hash, name| mix(hash, sum(name.as_encoded_bytes())))
}

pub fn append(path: &str, text: &str) -> u64 {
    let file = File::options().append(true).create(true).open(path);
    done(file.and_then(|mut file| file.write_all(text.as_bytes())))
}

pub fn write_at(path: &str, at: u64, text: &str) -> u64 {
    let file = File::options().write(true).open(path);
    done(file.and_then(|mut file| {
        file.seek(SeekFrom::Start(at))?;
        file.write_all(text.as_bytes())
    }))
}

pub fn cut(path: &str, length: u64) -> u64 {
    let file = File::options().write(true).open(path);
    done(file.and_then(|file| file.set_len(length)))
}

pub fn both(path: &str) -> Option<File> {
    File::options().read(true).write(true).create(true).truncate(false).open(path).ok()
}

pub fn variable(name: &str) -> u64 {
    std::env::var(name).map_or(6, |text| sum(text.as_bytes()))
}

/// Goes to another folder, never out of the one that the program was started in, which is called `work`.
pub fn go(path: &str) -> u64 {
    let outermost = std::env::current_dir().map_or(true, |at| at.ends_with("work"));
    if path == ".." && outermost {
        return 5;
    }
    done(std::env::set_current_dir(path))
}
