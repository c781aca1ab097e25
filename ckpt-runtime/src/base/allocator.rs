//! What the C library does with memory that the program has freed.

/// From here on the process keeps what it frees: it is used again without being touched for the first time, which takes many times
/// longer than a copy into it. A program that goes back frees its state and asks for as much at once.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub(crate) fn keeps_what_is_freed() {
    // No piece is a mapping of its own, which would end when it is freed; what is free at the end is not given back.
    // SAFETY: both say how the library goes on, and change nothing that there is.
    unsafe {
        libc::mallopt(libc::M_MMAP_MAX, 0);
        libc::mallopt(libc::M_TRIM_THRESHOLD, -1);
    }
}

/// Other libraries do as they do.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(crate) fn keeps_what_is_freed() {}
