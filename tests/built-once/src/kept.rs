//! What was built, by the key of its build.

use crate::key::Build;
use anyhow::Context;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

/// What rustc has said.
const SAID: &str = "said";

/// A build that has been made, or is made now, by nobody else.
#[derive(Debug)]
pub struct Kept {
    key: String,
    folder: PathBuf,
    /// Held until it is made: what another has made is the same to the last bit.
    _lock: File,
}

impl Kept {
    pub fn of(folder: &Path, build: &Build) -> anyhow::Result<Self> {
        let key = build.key()?;
        fs::create_dir_all(folder)?;
        let lock = File::create(folder.join(format!("{key}.lock")))?;
        lock.lock()?;
        Ok(Self {
            folder: folder.join(&key),
            key,
            _lock: lock,
        })
    }

    /// Whether nobody has made it yet.
    pub fn is_new(&self) -> bool {
        !self.folder.exists()
    }

    /// Unpacks the files to where rustc would make them. Gives what it said when it made them; nothing if they are not there, or
    /// were made with another environment.
    pub fn put_back(&self, build: &Build) -> anyhow::Result<Option<String>> {
        let Ok(said) = fs::read_to_string(self.folder.join(SAID)) else {
            return Ok(None);
        };
        let noted = fs::read_to_string(self.folder.join(format!("{}.d", build.stem)));
        let noted = noted.map(|noted| build.here(&noted)).ok();
        if noted
            .as_ref()
            .is_some_and(|noted| !Build::has_same_environment(noted))
        {
            return Ok(None);
        }
        for file in files_of(&self.folder, &build.stem)? {
            let to = build.made_in().join(file.file_name().unwrap_or_default());
            match (&noted, is_note(&file)) {
                (Some(noted), true) => fs::write(&to, noted),
                _ => fs::remove_file(&to).or(Ok(())).and_then(|()| unpack(&file, &to)),
            }
            .with_context(|| format!("{} cannot be written", to.display()))?;
        }
        self.note(build)?;
        Ok(Some(build.here(&said)))
    }

    /// Notes that what is in the target folder, or comes there, is this build.
    pub fn note(&self, build: &Build) -> anyhow::Result<()> {
        Ok(fs::write(build.note(&build.stem), &self.key)?)
    }

    /// Keeps what rustc has made.
    pub fn keep(&self, build: &Build, said: &str) -> anyhow::Result<()> {
        let unfinished = self.folder.with_extension("unfinished");
        let _ = fs::remove_dir_all(&unfinished);
        fs::create_dir_all(&unfinished)?;
        for file in files_of(&build.made_in(), &build.stem)? {
            let to = unfinished.join(file.file_name().unwrap_or_default());
            match is_note(&file) {
                true => fs::write(&to, build.anywhere(&fs::read_to_string(&file)?))?,
                false => pack(&file, &to)?,
            }
        }
        fs::write(unfinished.join(SAID), build.anywhere(said))?;
        fs::rename(&unfinished, &self.folder)?;
        Ok(())
    }
}

/// Most libraries get a third of their size, which the disk has once more for each target folder. The fastest level: it is in the
/// way of the next build.
const LEVEL: i32 = 1;

fn pack(from: &Path, to: &Path) -> io::Result<()> {
    zstd::stream::copy_encode(File::open(from)?, File::create(to)?, LEVEL)
}

fn unpack(from: &Path, to: &Path) -> io::Result<()> {
    zstd::stream::copy_decode(File::open(from)?, File::create(to)?)
}

/// What rustc notes of the sources: with the paths of what it has made.
fn is_note(file: &Path) -> bool {
    file.extension().is_some_and(|end| end == "d")
}

/// The files that one build has made: `libckpt-0123.rlib`, `libckpt-0123.rmeta`, `ckpt-0123.d`.
fn files_of(folder: &Path, stem: &str) -> anyhow::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for end in ["rmeta", "rlib", "so"] {
        files.push(folder.join(format!("lib{stem}.{end}")));
    }
    files.push(folder.join(format!("{stem}.d")));
    files.retain(|file| file.exists());
    Ok(files)
}
