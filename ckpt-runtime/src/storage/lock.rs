//! One writer per store, or per rank of an MPI program.
//!
//! The lock is `flock` on `STORE/lock` (`STORE/lock.r3` for rank 3): the kernel lets go of it when the holder dies, however it dies, so a stale one
//! is taken over at once. The text in it, `PID HOST`, is only for the message to the second job.

use std::fs::File;
use std::io::{Read, Seek, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::FlockOperation;

use crate::format::StoreError;

/// Held until dropped.
#[derive(Debug)]
pub(super) struct Lock {
    file: File,
}

impl Lock {
    pub fn take(folder: &Path, rank: u32) -> Result<Lock, StoreError> {
        let path = folder.join(match rank {
            0 => "lock".to_owned(),
            _ => format!("lock.r{rank}"),
        });
        let io = |action| {
            let path = path.clone();
            move |error: std::io::Error| StoreError::io(action, &path, &error)
        };
        let mut options = File::options();
        options.read(true).write(true).create(true).truncate(false);
        // A link in its place must not make us write elsewhere.
        options.custom_flags(rustix::fs::OFlags::NOFOLLOW.bits() as i32);
        let mut file = options.open(&path).map_err(io("open"))?;
        match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {}
            Err(rustix::io::Errno::WOULDBLOCK) => {
                let mut text = String::new();
                // Whoever holds the lock may be about to write the text; the refusal stands either way.
                let _ = Read::take(&mut file, 1000).read_to_string(&mut text);
                let mut words = text.split_whitespace().map(str::to_owned);
                let pid = words.next().unwrap_or_else(|| "?".to_owned());
                let host = words.next().unwrap_or_else(|| "?".to_owned());
                return Err(StoreError::Locked {
                    folder: folder.to_owned(),
                    pid,
                    host,
                });
            }
            Err(error) => return Err(StoreError::io("lock", &path, &error.into())),
        }
        let text = format!("{} {}\n", std::process::id(), host_name());
        file.set_len(0).map_err(io("write"))?;
        file.rewind().map_err(io("write"))?;
        file.write_all(text.as_bytes()).map_err(io("write"))?;
        Ok(Lock { file })
    }
}

impl Drop for Lock {
    /// Closing the file is not enough: a process that another thread is just starting has it as well, until it becomes
    /// another program.
    fn drop(&mut self) {
        let _ = rustix::fs::flock(&self.file, FlockOperation::Unlock);
    }
}

/// Name of this machine.
pub fn host_name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}
