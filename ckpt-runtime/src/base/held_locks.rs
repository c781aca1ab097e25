//! Locks on whole files that a restart holds for the program: of a file that was locked and that no variable of use has open any
//! more. They last as long as the process, or until the program locks the file itself.

use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::sync::Mutex;

use libc::c_int;

use super::lock::locked;
use super::own::unobserved;

/// The open files.
static HELD: Mutex<Vec<File>> = Mutex::new(Vec::new());

/// Holds a locked file.
pub(crate) fn hold(file: File) {
    locked(&HELD).push(file);
}

/// The program is about to lock or unlock a file: what is held of it is let go of, for two handles exclude each other also within
/// a process.
pub(crate) fn let_go(file: c_int) {
    let mut held = locked(&HELD);
    if held.is_empty() {
        return;
    }
    let mut status = std::mem::MaybeUninit::<libc::stat64>::uninit();
    // SAFETY: the system fills what it is given, or says that it has not.
    let Some(status) =
        (unsafe { (libc::fstat64(file, status.as_mut_ptr()) == 0).then(|| status.assume_init()) })
    else {
        return;
    };
    let is_another = |one: &File| {
        let same = one
            .metadata()
            .is_ok_and(|found| (found.dev(), found.ino()) == (status.st_dev, status.st_ino));
        !same || one.as_raw_fd() == file
    };
    unobserved(|| held.retain(is_another));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_the_program_locks_is_let_go_of() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let ours = File::create(&path).unwrap();
        ours.lock().unwrap();
        hold(ours);
        let theirs = File::open(&path).unwrap();
        let other = File::create(folder.path().join("other")).unwrap();
        let_go(other.as_raw_fd());
        let_go(-1);
        let is_free =
            || rustix::fs::flock(&theirs, rustix::fs::FlockOperation::NonBlockingLockShared).is_ok();
        // SAFETY: nothing of `theirs` is changed by the system call itself.
        let is_locked =
            unsafe { libc::syscall(libc::SYS_flock, theirs.as_raw_fd(), libc::LOCK_SH | libc::LOCK_NB) } != 0;
        assert!(is_locked);
        let_go(theirs.as_raw_fd());
        assert!(is_free());
    }
}
