//! Faults of the machine.

/// Who has asked for memory that is lost.
#[allow(dead_code, reason = "each program has one of them")]
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Asked {
    /// It is found by a look at all memory; the bytes are gone.
    ByNobody,
    /// The program, which waits for it; the bytes stay, so that it shows whether anybody else changes them.
    ByTheProgram,
}

/// What the system fills in for memory that is lost.
#[repr(C)]
struct Told {
    codes: [libc::c_int; 4],
    address: usize,
    size: i16,
    rest: [u8; 102],
}

/// Has the machine lose a page in the middle of a list: the system says where.
pub fn lose(list: &[u64], asked: Asked) {
    const PAGE: usize = 1 << 12;
    let (code, is_gone) = match asked {
        Asked::ByNobody => (5, true),
        Asked::ByTheProgram => (4, false),
    };
    let told = Told {
        codes: [libc::SIGBUS, 0, code, 0],
        address: (list.as_ptr().addr() + list.len() * 4) & !(PAGE - 1),
        size: 12,
        rest: [0; 102],
    };
    // SAFETY: it stands for a fault of the machine; the list is put back, or the process ends with another answer. The system reads
    // as many bytes as `told` has.
    unsafe {
        if is_gone {
            libc::madvise(
                std::ptr::without_provenance_mut(told.address),
                PAGE,
                libc::MADV_DONTNEED,
            );
        }
        let (process, thread) = (libc::getpid(), libc::gettid());
        libc::syscall(
            libc::SYS_rt_tgsigqueueinfo,
            process,
            thread,
            libc::SIGBUS,
            &raw const told,
        );
    }
}
