//! Files of the program's own. Whatever cannot be done with them ends the program with a message: it goes on from its last
//! checkpoint then.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::str::FromStr;

/// Which there are.
#[derive(ckpt::Checkpoint, Clone, Copy, PartialEq, Eq)]
pub enum Files {
    None,
    /// One that grows, one that is held open, a counter that is read and written over.
    Kept,
    /// These, one that is replaced by a rename, and folders with files that come and go.
    Tree,
}

impl FromStr for Files {
    type Err = ();
    fn from_str(name: &str) -> Result<Files, ()> {
        match name {
            "none" => Ok(Files::None),
            "kept" => Ok(Files::Kept),
            "tree" => Ok(Files::Tree),
            _ => Err(()),
        }
    }
}

fn must<T>(what: &str, path: &str, done: std::io::Result<T>) -> T {
    match done {
        Ok(value) => value,
        Err(error) => panic!("own file: cannot {what} {path}: {error}"),
    }
}

fn append(path: &str, text: &str) {
    let file = File::options().append(true).create(true).open(path);
    let mut file = must("open", path, file);
    must("append to", path, file.write_all(text.as_bytes()));
}

impl Files {
    /// A file that stays open across the sites.
    pub fn held(self) -> Option<File> {
        (self != Files::None).then(|| must("make", "held.txt", File::create("held.txt")))
    }

    /// What is done with files in a step.
    pub fn step(self, step: u64, digest: u64) {
        if self == Files::None {
            return;
        }
        append("grows.txt", &format!("{step} {digest:016x}\n"));
        let counter = match fs::read_to_string("counter.txt") {
            Ok(text) => text.trim().parse::<u64>().unwrap_or(u64::MAX / 2),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => 0,
            Err(error) => panic!("own file: cannot read counter.txt: {error}"),
        };
        must(
            "write",
            "counter.txt",
            fs::write("counter.txt", format!("{}\n", counter + step)),
        );
        if self == Files::Tree {
            let text = format!("state {step} {digest:x}\n");
            must("write", "new.tmp", fs::write("new.tmp", text));
            must("rename", "new.tmp", fs::rename("new.tmp", "state.txt"));
            tree(step);
        }
    }

    /// A number that depends on all of them.
    pub fn sum(self) -> u64 {
        match self {
            Files::None => 0,
            _ => {
                let text = must("read", "grows.txt", fs::read_to_string("grows.txt"));
                let counter = must("read", "counter.txt", fs::read_to_string("counter.txt"));
                text.len() as u64 + counter.trim().parse::<u64>().unwrap_or(0)
            }
        }
    }
}

/// Folders with files that come and go.
fn tree(step: u64) {
    let folder = format!("out/{}", step % 3);
    must("make", &folder, fs::create_dir_all(&folder));
    let made = format!("{folder}/{step}.txt");
    must("write", &made, fs::write(&made, format!("made in step {step}\n")));
    if let Some(old) = step.checked_sub(4) {
        let old = format!("out/{}/{old}.txt", old % 3);
        if must("look for", &old, Path::new(&old).try_exists()) {
            must("remove", &old, fs::remove_file(&old));
        }
    }
}

/// Adds to the file that is open.
pub fn write_held(held: &mut Option<File>, step: u64) {
    if let Some(held) = held {
        must(
            "write to",
            "held.txt",
            held.write_all(format!("held {step}\n").as_bytes()),
        );
    }
}
