//! Changes of the process's memory that come from outside of the program: a bit that a fault of the machine turns, for tests, and
//! the repair of one. To the program neither is a write. What the compiler knows of its memory says what is there if nothing
//! goes wrong with it, and a repair makes just that true again.

/// Puts bytes where the program has some; whether that could be done.
#[cfg(target_os = "linux")]
pub(crate) fn write(at: usize, bytes: &[u8]) -> bool {
    let from = libc::iovec {
        iov_base: bytes.as_ptr().cast_mut().cast(),
        iov_len: bytes.len(),
    };
    let to = libc::iovec {
        iov_base: std::ptr::without_provenance_mut(at),
        iov_len: bytes.len(),
    };
    // SAFETY: the system reads `bytes`, and looks at whether there is memory at `at`; `write`'s callers put there what the
    // program takes for its own: another bit pattern of numbers, any of which is one, or what was there.
    let written = unsafe { libc::process_vm_writev(libc::getpid(), &raw const from, 1, &raw const to, 1, 0) };
    usize::try_from(written).is_ok_and(|written| written == bytes.len())
}

/// Not done on this system.
#[cfg(not(target_os = "linux"))]
pub(crate) fn write(_: usize, _: &[u8]) -> bool {
    false
}

/// Puts other memory in the place of whole pages, whose bytes are those that `fill` gives from where it is told on; whether that could be
/// done. Nobody sees a state between the two. It is for handlers of signals: nothing is allocated, nor locked.
#[cfg(target_os = "linux")]
pub(crate) fn replace(at: usize, length: usize, fill: &dyn Fn(&mut [u8]) -> bool) -> bool {
    let (access, kind) = (
        libc::PROT_READ | libc::PROT_WRITE,
        libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
    );
    // SAFETY: memory of the system's choice, which nobody has.
    let fresh = unsafe { libc::mmap(std::ptr::null_mut(), length, access, kind, -1, 0) };
    if fresh == libc::MAP_FAILED {
        return false;
    }
    // SAFETY: these are the bytes of that memory, zeros so far, and this is the only way to them.
    let bytes = unsafe { std::slice::from_raw_parts_mut(fresh.cast::<u8>(), length) };
    let place = std::ptr::with_exposed_provenance_mut(at);
    let how = libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED;
    // SAFETY: the pages at `at` are whole ones of a list of the program's, as the caller has seen, and become what the program takes
    // for their bytes.
    if fill(bytes) && unsafe { libc::mremap(fresh, length, length, how, place) } == place {
        return true;
    }
    // SAFETY: nobody has a way to this memory any more.
    unsafe { libc::munmap(fresh, length) };
    false
}

/// Not done on this system.
#[cfg(not(target_os = "linux"))]
pub(crate) fn replace(_: usize, _: usize, _: &dyn Fn(&mut [u8]) -> bool) -> bool {
    false
}

/// Turns one bit of a byte that was `byte`; whether that could be done.
pub(crate) fn flip(at: usize, byte: u8, bit: u32) -> bool {
    write(at, &[byte ^ 1 << (bit % 8)])
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_bit_is_turned_and_the_byte_is_put_back() {
        let bytes = std::hint::black_box(vec![1_u8, 2, 3]);
        let at = bytes.as_ptr().addr() + 1;
        assert!(flip(at, 2, 7));
        assert_eq!(*std::hint::black_box(&bytes), [1, 0x82, 3]);
        assert!(write(at, &[2]));
        assert_eq!(*std::hint::black_box(&bytes), [1, 2, 3]);
        assert!(!write(8, &[0]), "nothing is there");
    }
}
