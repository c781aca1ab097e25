//! Small files that a run keeps beside its checkpoints: how it stands, what has happened, what the program's files were.
//! Where they lie is the business of the storage level; whoever has something to keep is given this.

use std::fmt::Debug;
use std::io;
use std::path::PathBuf;

/// Whether what is written has to outlive a power cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Durability {
    /// It is on the disk when the call returns.
    Synced,
    /// A power cut leaves it, or what was there before, as a whole; which of the two is of no matter.
    Whole,
    /// It informs, and nothing is lost with it.
    Unsynced,
}

/// The small files of a run. A name is a plain one.
pub(crate) trait Documents: Debug + Send + Sync {
    /// What messages call it.
    fn path_of(&self, name: &str) -> PathBuf;

    /// The store that they are in.
    fn store(&self) -> PathBuf;

    /// What is in it; `None` where there is none.
    ///
    /// # Errors
    /// It is there and cannot be read.
    fn read(&self, name: &str) -> io::Result<Option<Vec<u8>>>;

    /// Makes it, or replaces it: a reader sees the old one or the new one, never half of it.
    ///
    /// # Errors
    /// It is what it was.
    fn replace(&self, name: &str, bytes: &[u8], durability: Durability) -> io::Result<()>;

    /// Opens it to add to its end; it is made where there is none.
    ///
    /// # Errors
    /// What the system says.
    fn log(&self, name: &str, durability: Durability) -> io::Result<Box<dyn Log>>;

    /// The names of all that are there, in no order.
    ///
    /// # Errors
    /// What the system says.
    fn names(&self) -> io::Result<Vec<String>>;

    /// Removes it, if it is there.
    ///
    /// # Errors
    /// It is still there.
    fn remove(&self, name: &str) -> io::Result<()>;
}

/// A document that grows.
pub(crate) trait Log: Debug + Send {
    /// Its length in bytes.
    ///
    /// # Errors
    /// What the system says.
    fn length(&self) -> io::Result<u64>;

    /// Cuts it off after so many bytes.
    ///
    /// # Errors
    /// What the system says.
    fn cut(&mut self, length: u64) -> io::Result<()>;

    /// Adds to its end in one piece: a process that is killed leaves all of it or nothing.
    ///
    /// # Errors
    /// It may be there in part.
    fn add(&mut self, bytes: &[u8]) -> io::Result<()>;

    /// Writes over bytes that are there. It informs, and is on the disk some time later.
    ///
    /// # Errors
    /// What the system says.
    fn overwrite(&mut self, at: u64, bytes: &[u8]) -> io::Result<()>;
}

/// Documents in memory.
#[cfg(test)]
pub(crate) mod in_memory {
    use std::collections::BTreeMap;
    use std::sync::{Arc, Mutex};

    use super::*;

    pub(crate) type Bytes = Arc<Mutex<Vec<u8>>>;

    #[derive(Debug, Default)]
    pub(crate) struct Shelf(pub(crate) Mutex<BTreeMap<String, Bytes>>);

    impl Documents for Shelf {
        fn path_of(&self, name: &str) -> PathBuf {
            PathBuf::from("memory").join(name)
        }

        fn store(&self) -> PathBuf {
            PathBuf::from("memory")
        }

        fn read(&self, name: &str) -> io::Result<Option<Vec<u8>>> {
            let all = self.0.lock().unwrap();
            Ok(all.get(name).map(|bytes| bytes.lock().unwrap().clone()))
        }

        fn replace(&self, name: &str, bytes: &[u8], _: Durability) -> io::Result<()> {
            let bytes = Arc::new(Mutex::new(bytes.to_vec()));
            self.0.lock().unwrap().insert(name.to_owned(), bytes);
            Ok(())
        }

        fn log(&self, name: &str, _: Durability) -> io::Result<Box<dyn Log>> {
            let mut all = self.0.lock().unwrap();
            Ok(Box::new(Arc::clone(all.entry(name.to_owned()).or_default())))
        }

        fn names(&self) -> io::Result<Vec<String>> {
            Ok(self.0.lock().unwrap().keys().cloned().collect())
        }

        fn remove(&self, name: &str) -> io::Result<()> {
            self.0.lock().unwrap().remove(name);
            Ok(())
        }
    }

    impl Log for Bytes {
        fn length(&self) -> io::Result<u64> {
            Ok(self.lock().unwrap().len() as u64)
        }

        fn cut(&mut self, length: u64) -> io::Result<()> {
            self.lock().unwrap().truncate(length as usize);
            Ok(())
        }

        fn add(&mut self, bytes: &[u8]) -> io::Result<()> {
            self.lock().unwrap().extend_from_slice(bytes);
            Ok(())
        }

        fn overwrite(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
            self.lock().unwrap()[at as usize..][..bytes.len()].copy_from_slice(bytes);
            Ok(())
        }
    }
}
