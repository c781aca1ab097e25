//! One thread of the program, while it is held.

use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

/// A thread that stands at a call.
#[derive(Debug, Clone, Copy)]
pub struct Tracee(pub(super) libc::pid_t);

const PAGE: u64 = 4096;

impl Tracee {
    pub(super) fn registers(self) -> io::Result<libc::user_regs_struct> {
        // SAFETY: all zeros is a value of this structure of integers.
        let mut registers: libc::user_regs_struct = unsafe { std::mem::zeroed() };
        // SAFETY: the thread is held, and the structure is the kernel's to fill for the time of the call.
        let done = unsafe { libc::ptrace(libc::PTRACE_GETREGS, self.0, 0, &mut registers) };
        match done {
            0 => Ok(registers),
            _ => Err(io::Error::last_os_error()),
        }
    }

    pub(super) fn set_registers(self, registers: &libc::user_regs_struct) -> io::Result<()> {
        // SAFETY: the thread is held, and the kernel only reads the structure.
        let done = unsafe { libc::ptrace(libc::PTRACE_SETREGS, self.0, 0, registers) };
        match done {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// Bytes of its memory; fewer where it has no more.
    pub fn memory(self, at: u64, length: usize) -> Vec<u8> {
        let mut bytes = vec![0_u8; length];
        let local = libc::iovec {
            iov_base: bytes.as_mut_ptr().cast(),
            iov_len: length,
        };
        let remote = libc::iovec {
            iov_base: at as *mut libc::c_void,
            iov_len: length,
        };
        // SAFETY: `local` is the memory of `bytes`, which nobody else uses; the kernel checks `remote`.
        let read = unsafe { libc::process_vm_readv(self.0, &local, 1, &remote, 1, 0) };
        bytes.truncate(usize::try_from(read).unwrap_or(0));
        bytes
    }

    /// A text of its memory that ends with a zero byte.
    pub(super) fn path(self, at: u64) -> Option<OsString> {
        let mut text = Vec::new();
        let mut from = at;
        while text.len() < libc::PATH_MAX as usize {
            // The next page need not be there.
            let piece = self.memory(from, (PAGE - from % PAGE) as usize);
            if piece.is_empty() {
                return None;
            }
            if let Some(end) = piece.iter().position(|byte| *byte == 0) {
                text.extend_from_slice(&piece[..end]);
                return Some(OsString::from_vec(text));
            }
            from += piece.len() as u64;
            text.extend(piece);
        }
        None
    }

    /// The folder that it works in.
    pub fn folder(self) -> Option<PathBuf> {
        std::fs::read_link(format!("/proc/{}/cwd", self.0)).ok()
    }

    /// The file that a descriptor of it stands for, by the name that it had.
    pub fn file(self, descriptor: i32) -> Option<PathBuf> {
        let path = std::fs::read_link(format!("/proc/{}/fd/{descriptor}", self.0)).ok()?;
        let path = path.into_os_string().into_vec();
        let path = path.strip_suffix(b" (deleted)").unwrap_or(&path).to_vec();
        path.starts_with(b"/").then(|| OsString::from_vec(path).into())
    }

    /// Which file that is, whatever it is called: device and number.
    pub fn identity(self, descriptor: i32) -> Option<(u64, u64)> {
        use std::os::unix::fs::MetadataExt;
        let found = std::fs::metadata(format!("/proc/{}/fd/{descriptor}", self.0)).ok()?;
        Some((found.dev(), found.ino()))
    }

    pub(super) fn is_folder(self, descriptor: i32) -> bool {
        std::fs::metadata(format!("/proc/{}/fd/{descriptor}", self.0)).is_ok_and(|found| found.is_dir())
    }

    /// Where a descriptor reads and writes next, and whether it only adds.
    pub fn position(self, descriptor: i32) -> Option<(u64, bool)> {
        let text = std::fs::read_to_string(format!("/proc/{}/fdinfo/{descriptor}", self.0)).ok()?;
        let field = |name: &str| {
            text.lines()
                .find_map(|line| line.strip_prefix(name))
                .map(str::trim)
        };
        let position = field("pos:")?.parse().ok()?;
        let flags = i32::from_str_radix(field("flags:")?, 8).ok()?;
        Some((position, flags & libc::O_APPEND != 0))
    }
}
