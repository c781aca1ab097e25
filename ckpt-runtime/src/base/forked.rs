//! Copies of large lists that another process makes while the program goes on.
//!
//! A fork shares all memory with the program until one of the two writes to it. The other process copies the lists as they
//! were at the site, into memory that both see, and ends. The program waits for the fork alone; the first write to each
//! page while the copy is under way costs it a copy of that page.

use std::io;
use std::ptr::NonNull;
use std::sync::{Mutex, MutexGuard};

use super::lock::locked;

/// Memory of this process and of those that it forks.
#[derive(Debug)]
pub(crate) struct Shared {
    at: NonNull<u8>,
    bytes: usize,
}

// SAFETY: it owns its memory, like a `Box` of bytes.
unsafe impl Send for Shared {}
// SAFETY: the same; nothing writes to it through a shared reference.
unsafe impl Sync for Shared {}

/// Memory that no snapshot needs at the moment: the process's, and given back when a session closes.
static POOL: Mutex<Vec<Shared>> = Mutex::new(Vec::new());

fn pool() -> MutexGuard<'static, Vec<Shared>> {
    locked(&POOL)
}

/// Gives the system back what the snapshot just taken had no use for.
pub(crate) fn release_unused() {
    let unused = std::mem::take(&mut *pool());
    drop(unused);
}

impl Shared {
    /// Memory for `bytes`, used before if there is some; `None` where the system has none.
    pub fn for_bytes(bytes: usize) -> Option<Shared> {
        let mut pool = pool();
        let fitting = pool.iter().position(|shared| shared.bytes == bytes);
        fitting
            .map(|place| pool.swap_remove(place))
            .or_else(|| Shared::map(bytes))
    }

    fn map(bytes: usize) -> Option<Shared> {
        use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous};
        let rights = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: the system chooses a place where nothing is.
        let at = unsafe { mmap_anonymous(std::ptr::null_mut(), bytes, rights, MapFlags::SHARED) };
        let at = NonNull::new(at.ok()?.cast())?;
        Some(Shared { at, bytes })
    }

    pub fn as_ptr(&self) -> *const u8 {
        self.at.as_ptr()
    }

    pub fn capacity(&self) -> usize {
        self.bytes
    }

    /// Keeps it to be used again.
    pub fn give_back(self) {
        pool().push(self);
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        // SAFETY: this is the whole mapping, and nobody has a pointer into it any more.
        let _ = unsafe { rustix::mm::munmap(self.at.as_ptr().cast(), self.bytes) };
    }
}

/// Copies that are to be made.
#[derive(Debug, Default)]
pub(crate) struct Order {
    copies: Vec<Copy>,
}

#[derive(Debug, Clone, Copy)]
struct Copy {
    from: *const u8,
    to: *mut u8,
    bytes: usize,
}

// SAFETY: the pointers are used by `begin` only, whose caller answers for them.
unsafe impl Send for Order {}

impl Order {
    /// `bytes` are to be copied, to the memory that this returns; `None` where there is none.
    pub fn add(&mut self, bytes: &[u8]) -> Option<Shared> {
        let shared = Shared::for_bytes(bytes.len())?;
        self.copies.push(Copy {
            from: bytes.as_ptr(),
            to: shared.at.as_ptr(),
            bytes: bytes.len(),
        });
        Some(shared)
    }

    /// Begins to make the copies; `None` if there are none, or if the system gave no process and they are made already.
    ///
    /// # Safety
    /// What was given to [`Order::add`] is still there, as it was, and what that gave.
    pub unsafe fn begin(self) -> Option<Copier> {
        if self.copies.is_empty() {
            return None;
        }
        // SAFETY: the caller's promise; the other process does nothing but copy and end.
        match unsafe { fork(|| self.copy_all()) } {
            Ok(process) => Some(Copier {
                process: Mutex::new(Some(process)),
            }),
            Err(_) => {
                self.copy_all();
                None
            }
        }
    }

    fn copy_all(&self) {
        for copy in &self.copies {
            // SAFETY: `begin`'s caller says that both are there. They do not overlap: `to` was mapped for this copy.
            unsafe { std::ptr::copy_nonoverlapping(copy.from, copy.to, copy.bytes) };
        }
    }
}

/// The process that makes the copies.
#[derive(Debug)]
pub(crate) struct Copier {
    /// Until it has been waited for.
    process: Mutex<Option<libc::pid_t>>,
}

impl Copier {
    /// Waits until the copies are there.
    ///
    /// # Errors
    /// The process was ended before they were.
    pub fn wait(&self) -> io::Result<()> {
        let mut process = locked(&self.process);
        match process.take() {
            Some(process) => wait_for(process),
            None => Ok(()),
        }
    }
}

impl Drop for Copier {
    fn drop(&mut self) {
        // It must be gone before the memory it writes to is used again.
        let _ = self.wait();
    }
}

/// Lets another process do `work` and end. It sends the program no signal when it ends, and a `wait` of the program's for
/// its own children does not see it. Signals to the group of processes do not reach it. Where the program's first thread has begun it,
/// it ends with the program.
///
/// # Safety
/// `work` must not allocate, take locks or do anything else that needs other threads: there are none in that process.
unsafe fn fork(work: impl FnOnce()) -> io::Result<libc::pid_t> {
    // What follows the death of a parent follows that of its thread: of another than the first, which may end before.
    // SAFETY: both only tell numbers.
    let is_first = unsafe { libc::gettid() == libc::getpid() };
    let mut before = std::mem::MaybeUninit::<libc::sigset_t>::uninit();
    let mut all = std::mem::MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: both sets are written to before they are read. A `clone` without flags is a fork that goes on behind the call
    // in a copy of all memory, with this thread alone.
    let process = unsafe {
        libc::sigfillset(all.as_mut_ptr());
        libc::pthread_sigmask(libc::SIG_SETMASK, all.as_ptr(), before.as_mut_ptr());
        libc::syscall(libc::SYS_clone, 0, 0, 0, 0, 0)
    };
    if process == 0 {
        if is_first {
            // SAFETY: a call of the system only.
            unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
        }
        work();
        // SAFETY: the same; nothing is flushed or dropped, as it is the program's.
        unsafe { libc::_exit(0) };
    }
    let error = io::Error::last_os_error();
    // SAFETY: the set that was in force.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, before.as_ptr(), std::ptr::null_mut()) };
    if process < 0 {
        return Err(error);
    }
    Ok(process as libc::pid_t)
}

fn wait_for(process: libc::pid_t) -> io::Result<()> {
    let mut status = 0;
    loop {
        // SAFETY: `status` is written to. The process is a child of this one, and nobody else waits for it.
        let ended = unsafe { libc::waitpid(process, &raw mut status, libc::__WALL) };
        if ended == process {
            break;
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
    if libc::WIFSIGNALED(status) {
        let signal = libc::WTERMSIG(status);
        return Err(io::Error::other(format!(
            "the process that copied it was ended by signal {signal}"
        )));
    }
    Ok(())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    fn seen(shared: &Shared) -> &[u8] {
        // SAFETY: the tests have waited for the process that fills it.
        unsafe { std::slice::from_raw_parts(shared.as_ptr(), shared.capacity()) }
    }

    #[test]
    fn the_copy_is_of_what_was_there_at_the_fork() {
        let mut list: Vec<u8> = (0..3_usize << 20).map(|n| (n % 251) as u8).collect();
        let expected = list.clone();
        let mut order = Order::default();
        let shared = order.add(&list).unwrap();
        // SAFETY: the list and the memory for it live on.
        let copier = unsafe { order.begin() }.unwrap();
        list.fill(7);
        copier.wait().unwrap();
        copier.wait().unwrap();
        assert!(seen(&shared) == expected && list[0] == 7);
    }

    #[test]
    fn a_process_that_is_killed_is_told_of() {
        // SAFETY: it only waits.
        let process = unsafe {
            fork(|| {
                libc::pause();
            })
        };
        let copier = Copier {
            process: Mutex::new(Some(process.unwrap())),
        };
        let pid = copier.process.lock().unwrap().unwrap();
        // SAFETY: that process is ours.
        unsafe { libc::kill(pid, libc::SIGKILL) };
        assert!(copier.wait().unwrap_err().to_string().contains("signal 9"));
    }
}
