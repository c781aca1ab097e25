//! Program and watcher on one core: they take turns, and waking somebody on another core takes longer than what is done there.

/// The thread stays on the core that it is on, and so do the programs that it starts, until this is dropped.
pub(super) struct OneCore(Option<libc::cpu_set_t>);

const SIZE: usize = size_of::<libc::cpu_set_t>();

impl OneCore {
    pub fn stay() -> OneCore {
        // SAFETY: all zeros is an empty set.
        let (mut before, mut one): (libc::cpu_set_t, libc::cpu_set_t) = unsafe { std::mem::zeroed() };
        // SAFETY: the calls read and write the sets only, which outlive them; a core that there is fits into one.
        let is_done = unsafe {
            let core = libc::sched_getcpu();
            libc::sched_getaffinity(0, SIZE, &mut before) == 0 && core >= 0 && {
                libc::CPU_SET(core as usize, &mut one);
                libc::sched_setaffinity(0, SIZE, &one) == 0
            }
        };
        OneCore(is_done.then_some(before))
    }
}

impl Drop for OneCore {
    fn drop(&mut self) {
        if let Some(before) = &self.0 {
            // SAFETY: the call only reads the set, which outlives it.
            unsafe { libc::sched_setaffinity(0, SIZE, before) };
        }
    }
}
