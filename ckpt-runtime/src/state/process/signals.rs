//! What the process does on signals: those that it ignores or blocks, and those for which it has a handler.
//!
//! A signal that is ignored, left to the system or blocked can be so again in another process. A handler is code: a
//! restart has it only if what installs it is executed again.

use std::ffi::c_void;
use std::io;
use std::mem::MaybeUninit;

use serde::{Deserialize, Serialize};

/// What happens on a signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Action {
    Default,
    Ignored,
    Handled,
}

/// What happens on each signal, and whether it is blocked on the thread of the session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Signals(Vec<Signal>);

/// What a checkpoint keeps of one signal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Signal {
    pub number: i32,
    pub action: Action,
    pub blocked: bool,
    /// Whether the handler is one of a library that is loaded, and none of the program's.
    #[serde(default, skip_serializing_if = "is_not")]
    of_library: bool,
    /// Where the handler is in this process.
    #[serde(skip)]
    handler: usize,
}

/// The last number of a signal.
const LAST: i32 = 64;

impl Signals {
    pub fn now() -> Signals {
        let mut blocked = MaybeUninit::<libc::sigset_t>::zeroed();
        // SAFETY: nothing is changed; the set is written to.
        unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, std::ptr::null(), blocked.as_mut_ptr()) };
        // SAFETY: a set is plain memory, and has been filled, at least with zeros.
        let blocked = unsafe { blocked.assume_init() };
        let is_blocked = |number| {
            // SAFETY: only looks at the set.
            unsafe { libc::sigismember(&blocked, number) == 1 }
        };
        let signal = |number| {
            let (action, handler) = action(number)?;
            Some(Signal {
                number,
                action,
                blocked: is_blocked(number),
                of_library: action == Action::Handled && is_of_library(handler),
                handler,
            })
        };
        Signals((1..=LAST).filter_map(signal).collect())
    }

    /// Those that are not what they were at the start, and those that have been changed before, as they are now.
    pub fn changed(&self, start: &Signals, before: &[Signal]) -> Vec<Signal> {
        let had = |signal: &&Signal| {
            !start.0.contains(signal) || before.iter().any(|one| one.number == signal.number)
        };
        self.0.iter().filter(had).cloned().collect()
    }

    /// What is ignored, left to the system or blocked becomes what it was at the start, where nobody has a handler.
    pub fn as_at_start(&self) {
        for now in Signals::now().0 {
            let Some(given) = self.0.iter().find(|given| given.number == now.number) else {
                continue;
            };
            let has_handler = [now.action, given.action].contains(&Action::Handled);
            // What cannot be is missing at a restart as well, which says so.
            if has_handler {
                let _ = block(given.number, given.blocked);
            } else if *given != now {
                let _ = restore(std::slice::from_ref(given));
            }
        }
    }

    /// The first for which the process has a handler of its own now, and had none then.
    pub fn has_more<'a>(&'a self, start: &Signals, had: &[Signal]) -> Option<&'a Signal> {
        let is_new = |now: &&Signal| {
            now.action == Action::Handled
                && !start.0.contains(now)
                && !had
                    .iter()
                    .any(|one| one.number == now.number && one.action == Action::Handled)
        };
        self.0.iter().find(is_new)
    }

    /// What has changed from the first of these to the second is as in the second.
    pub fn take_over(&mut self, before: &Signals, after: Signals) {
        for signal in after.0.into_iter().filter(|signal| !before.0.contains(signal)) {
            self.0.retain(|own| own.number != signal.number);
            self.0.push(signal);
        }
    }

    /// The first of these for which the process has no handler of its own now. `without_libraries`: those of libraries may be missing.
    pub fn lacks<'a>(
        &self,
        start: &Signals,
        had: &'a [Signal],
        without_libraries: bool,
    ) -> Option<&'a Signal> {
        let has = |number: i32| {
            let now = self.0.iter().find(|signal| signal.number == number);
            now.is_some_and(|now| now.action == Action::Handled && !start.0.contains(now))
        };
        let is_needed = |signal: &Signal| !(without_libraries && signal.of_library);
        let had = had.iter().filter(|signal| signal.action == Action::Handled);
        had.filter(|signal| is_needed(signal))
            .find(|signal| !has(signal.number))
    }
}

impl Signal {
    pub fn name(&self) -> String {
        let name = signal_hook::low_level::signal_name(self.number);
        name.map_or_else(|| format!("signal {}", self.number), str::to_owned)
    }
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde's")]
fn is_not(is: &bool) -> bool {
    !is
}

/// Whether a function is in a shared library, and not in the file that this one is in, the executable. Not by `dladdr`, which looks
/// at all names of a library: milliseconds where that is as large as LLVM.
fn is_of_library(function: usize) -> bool {
    let own: fn(usize) -> bool = is_of_library;
    let mut wanted = Wanted {
        function,
        own: (own as *const ()).expose_provenance(),
        is_of_library: false,
    };
    // SAFETY: the function gets `wanted`, which nobody else uses meanwhile.
    unsafe { libc::dl_iterate_phdr(Some(look), (&raw mut wanted).cast()) };
    wanted.is_of_library
}

struct Wanted {
    function: usize,
    own: usize,
    is_of_library: bool,
}

/// Called for each file of the process's code, until one has the function that is wanted.
///
/// # Safety
/// `info` is one of the system's, and `wanted` a [`Wanted`].
unsafe extern "C" fn look(info: *mut libc::dl_phdr_info, _: libc::size_t, wanted: *mut c_void) -> i32 {
    // SAFETY: see above.
    let (info, wanted) = unsafe { (&*info, &mut *wanted.cast::<Wanted>()) };
    let count = usize::from(info.dlpi_phnum);
    if info.dlpi_phdr.is_null() {
        return 0;
    }
    // SAFETY: the system says that there are so many.
    let segments = unsafe { std::slice::from_raw_parts(info.dlpi_phdr, count) };
    let has = |address: usize| {
        segments.iter().any(|segment| {
            let begin = (info.dlpi_addr as usize).wrapping_add(segment.p_vaddr as usize);
            segment.p_type == libc::PT_LOAD && address.wrapping_sub(begin) < segment.p_memsz as usize
        })
    };
    let is_there = has(wanted.function);
    wanted.is_of_library = is_there && !has(wanted.own);
    i32::from(is_there)
}

/// What happens on a signal, and where its handler is; `None` where there is no such signal, or where it is the C
/// library's own.
fn action(number: i32) -> Option<(Action, usize)> {
    let mut found = MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: nothing is changed; what there is, is written.
    let known = unsafe { libc::sigaction(number, std::ptr::null(), found.as_mut_ptr()) } == 0;
    // SAFETY: the system has filled it in, where it knows the signal.
    let handler = known.then(|| unsafe { found.assume_init() }.sa_sigaction)?;
    let action = match handler {
        libc::SIG_DFL => Action::Default,
        libc::SIG_IGN => Action::Ignored,
        _ => Action::Handled,
    };
    Some((action, handler))
}

/// The signals are ignored, left to the system and blocked as they were.
///
/// # Errors
/// Which one cannot be, and what the system says.
pub(super) fn restore(signals: &[Signal]) -> Result<(), (Signal, io::Error)> {
    for signal in signals {
        let failed = |error: io::Error| (signal.clone(), error);
        let handler = match signal.action {
            Action::Default => Some(libc::SIG_DFL),
            Action::Ignored => Some(libc::SIG_IGN),
            Action::Handled => None,
        };
        if let Some(handler) = handler {
            // SAFETY: no code of the program runs as a handler by this.
            let before = unsafe { libc::signal(signal.number, handler) };
            if before == libc::SIG_ERR {
                return Err(failed(io::Error::last_os_error()));
            }
        }
        block(signal.number, signal.blocked).map_err(failed)?;
    }
    Ok(())
}

fn block(number: i32, blocked: bool) -> io::Result<()> {
    let mut set = MaybeUninit::<libc::sigset_t>::zeroed();
    let how = if blocked {
        libc::SIG_BLOCK
    } else {
        libc::SIG_UNBLOCK
    };
    // SAFETY: the set is filled before it is used; the mask of this thread is all that changes.
    let code = unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        libc::sigaddset(set.as_mut_ptr(), number);
        libc::pthread_sigmask(how, set.as_ptr(), std::ptr::null_mut())
    };
    match code {
        0 => Ok(()),
        code => Err(io::Error::from_raw_os_error(code)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handlers_of_libraries_are_told_from_those_of_the_program() {
        extern "C" fn own(_: libc::c_int) {}
        let of_program: extern "C" fn(libc::c_int) = own;
        let of_c: unsafe extern "C" fn(libc::c_int) -> ! = libc::_exit;
        assert!(!is_of_library((of_program as *const ()).expose_provenance()));
        assert!(is_of_library((of_c as *const ()).expose_provenance()) && !is_of_library(1));
        let signal = |number, of_library| Signal {
            number,
            action: Action::Handled,
            blocked: false,
            of_library,
            handler: 0,
        };
        let (now, had) = (Signals(Vec::new()), [signal(1, true), signal(2, false)]);
        let lacks = |without| now.lacks(&now, &had, without).map(|one| one.number);
        assert_eq!((lacks(false), lacks(true)), (Some(1), Some(2)));
        assert_eq!(now.lacks(&now, &had[..1], true), None);
    }
}
