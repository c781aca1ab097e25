//! Documents in a folder of their own, for tests and for fuzzing.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use crate::base::documents::{self, Documents, Durability};
use crate::base::lock::locked;

/// Documents in a folder, of which additions fail as often as is said.
#[derive(Debug)]
pub(super) struct Folder {
    folder: PathBuf,
    /// Removed with this.
    #[cfg(test)]
    _scratch: Option<tempfile::TempDir>,
    failures: Arc<Mutex<u32>>,
}

impl Folder {
    /// A new one.
    #[cfg(test)]
    pub fn new() -> Arc<Folder> {
        let scratch = tempfile::tempdir().unwrap();
        Arc::new(Folder {
            folder: scratch.path().to_owned(),
            _scratch: Some(scratch),
            failures: Arc::default(),
        })
    }

    /// One that there is.
    #[cfg(fuzzing)]
    pub fn at(folder: PathBuf) -> Arc<Folder> {
        Arc::new(Folder {
            folder,
            #[cfg(test)]
            _scratch: None,
            failures: Arc::default(),
        })
    }

    /// So many additions fail from now on.
    #[cfg(test)]
    pub fn fail(&self, times: u32) {
        *locked(&self.failures) = times;
    }
}

#[derive(Debug)]
struct Part {
    file: File,
    /// To write where it is not the end.
    anywhere: File,
    failures: Arc<Mutex<u32>>,
}

impl documents::Log for Part {
    fn length(&self) -> io::Result<u64> {
        Ok(self.file.metadata()?.len())
    }

    fn cut(&mut self, length: u64) -> io::Result<()> {
        self.file.set_len(length)
    }

    fn add(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut failures = locked(&self.failures);
        if *failures > 0 {
            *failures -= 1;
            // A disk that is full takes a part.
            self.file.write_all(&bytes[..bytes.len() / 2])?;
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.file.write_all(bytes)
    }

    fn overwrite(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        self.anywhere.write_all_at(bytes, at)
    }
}

impl Documents for Folder {
    fn path_of(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    fn store(&self) -> PathBuf {
        self.folder.clone()
    }

    fn read(&self, name: &str) -> io::Result<Option<Vec<u8>>> {
        match fs::read(self.path_of(name)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            read => read.map(Some),
        }
    }

    fn replace(&self, name: &str, bytes: &[u8], _: Durability) -> io::Result<()> {
        fs::write(self.path_of(name), bytes)
    }

    fn log(&self, name: &str, _: Durability) -> io::Result<Box<dyn documents::Log>> {
        let file = File::options()
            .append(true)
            .create(true)
            .open(self.path_of(name))?;
        Ok(Box::new(Part {
            file,
            anywhere: File::options().write(true).open(self.path_of(name))?,
            failures: Arc::clone(&self.failures),
        }))
    }

    fn names(&self) -> io::Result<Vec<String>> {
        let entries = fs::read_dir(&self.folder)?;
        Ok(entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect())
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        match fs::remove_file(self.path_of(name)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }
}
