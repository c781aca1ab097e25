//! Memory that the machine has lost. The system takes such a page from the process and says so by SIGBUS with the address, before a byte
//! of it was read: nothing that the program has computed is wrong yet.
//!
//! Where a caller has a list there of which no statement writes while its call lasts, its bytes are in the newest snapshot: they
//! are put back into other memory, and the program goes on at the instruction that it was at. The call is still the one that
//! the compiler has looked at, as the caller stands on the stack of calls, and lends the list for as long. So it is with lists of the
//! function that the session ends with, to which nothing writes any more. Everything else is as without ckpt.

use std::io;
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use std::time::Instant;

use super::events::{Repair, What};
use crate::base::current;
use crate::base::from_outside;
use crate::base::report::say;
use crate::format::{InMemory, LivePlace};
use crate::frame;

/// Codes of SIGBUS, for memory that is lost: the program has asked for it, or not yet.
const ASKED_FOR: libc::c_int = 4;
const NOT_YET: libc::c_int = 5;

/// What the handler knows.
struct Watch {
    /// The snapshot that lists are put back from.
    snapshot: AtomicPtr<Arc<InMemory>>,
    /// Handlers that look at it now.
    looks: AtomicUsize,
    /// Which list of that snapshot has had something put back, counted from one, and how many bytes in all.
    list: AtomicUsize,
    bytes: AtomicUsize,
    /// How long that took, in nanoseconds.
    took: AtomicUsize,
    /// What was done on the signal before; nothing as long as nobody listens.
    before: AtomicPtr<libc::sigaction>,
}

static WATCH: Watch = Watch {
    snapshot: AtomicPtr::new(ptr::null_mut()),
    looks: AtomicUsize::new(0),
    list: AtomicUsize::new(0),
    bytes: AtomicUsize::new(0),
    took: AtomicUsize::new(0),
    before: AtomicPtr::new(ptr::null_mut()),
};

/// What the system tells of a page that is lost: a `siginfo_t`, whose union is aligned as pointers are.
#[repr(C)]
struct Lost {
    signal: libc::c_int,
    _error: libc::c_int,
    code: libc::c_int,
    #[cfg(target_pointer_width = "64")]
    _space: libc::c_int,
    address: usize,
    /// The logarithm of how many bytes are lost.
    size: i16,
    /// As long as that of any system.
    _rest: [u8; 110],
}

/// Listens from now on.
///
/// # Errors
/// The system refuses the handler.
pub(super) fn listen() -> io::Result<()> {
    if cfg!(not(target_os = "linux")) || !WATCH.before.load(Ordering::SeqCst).is_null() {
        return Ok(());
    }
    let mut before = MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: nothing is changed; what there is, is written.
    if unsafe { libc::sigaction(libc::SIGBUS, ptr::null(), before.as_mut_ptr()) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the system has filled it in.
    let before = Box::into_raw(Box::new(unsafe { before.assume_init() }));
    // The handler needs it from its first call on, and as long as the process lasts.
    WATCH.before.store(before, Ordering::SeqCst);
    // SAFETY: all zeros is an action, of which what matters is set.
    let mut ours = unsafe { MaybeUninit::<libc::sigaction>::zeroed().assume_init() };
    ours.sa_sigaction = arrived as *const () as libc::sighandler_t;
    ours.sa_flags = libc::SA_SIGINFO;
    // SAFETY: the handler is async-signal-safe: it reads atomics and memory that stays as it is meanwhile, and makes system calls. It
    // neither allocates, locks nor panics.
    if unsafe { libc::sigaction(libc::SIGBUS, &raw const ours, ptr::null_mut()) } != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// From now on lists are put back from this snapshot.
pub(super) fn puts_back_from(snapshot: &Arc<InMemory>) {
    watch(Box::into_raw(Box::new(Arc::clone(snapshot))));
}

/// Nothing is put back any more.
pub(super) fn forget() {
    watch(ptr::null_mut());
}

fn watch(snapshot: *mut Arc<InMemory>) {
    let before = WATCH.snapshot.swap(snapshot, Ordering::SeqCst);
    // A handler on another thread may still read it; one on this thread has returned.
    while WATCH.looks.load(Ordering::SeqCst) != 0 {
        std::thread::yield_now();
    }
    if !before.is_null() {
        // SAFETY: it was made by `puts_back_from`, and nobody has it any more.
        drop(unsafe { Box::from_raw(before) });
    }
}

/// Says what was put back since this was asked last, by this site visit, and gives it. To be called before the snapshot changes.
pub(super) fn tell(visits: u64) -> Option<What> {
    let bytes = WATCH.bytes.swap(0, Ordering::SeqCst);
    let took = WATCH.took.swap(0, Ordering::SeqCst);
    let number = WATCH.list.swap(0, Ordering::SeqCst).checked_sub(1)?;
    let snapshot = WATCH.snapshot.load(Ordering::SeqCst);
    // SAFETY: only this thread replaces it.
    let snapshot = unsafe { snapshot.as_ref() }?;
    let list = snapshot.places().get(number)?;
    say(&format!(
        "warning[W2412]: the machine has lost {bytes} bytes of `{}` of `{}`; they were put back from the snapshot of site visit {}\n  \
         the program goes on: it had read none of them",
        list.owner.key,
        list.function,
        snapshot.meta().visit
    ));
    Some(What::Repair {
        visits,
        function: list.function.clone(),
        variable: list.owner.key.to_owned(),
        how: Repair::MachineCheck,
        bytes,
        took: took as f64 / 1e9,
    })
}

extern "C" fn arrived(signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // SAFETY: the system has filled it in, and has what it tells of an address where these codes are.
    let (code, lost) = unsafe { ((*info).si_code, &*info.cast::<Lost>()) };
    let is_of_memory = matches!(code, ASKED_FOR | NOT_YET);
    let began = Instant::now();
    if is_of_memory && put_back(lost) {
        let took = usize::try_from(began.elapsed().as_nanos()).unwrap_or(usize::MAX);
        WATCH.took.fetch_add(took, Ordering::SeqCst);
        return;
    }
    // Where the program does not ask for it, nothing has to be done.
    if code != NOT_YET {
        pass_on(signal, info, context);
    }
}

/// Whether nothing can have written to a list since the snapshot: the call lasts that it is lent to, or it is one of the outermost
/// function that nothing writes to any more. On a thread that the session does not run on nothing is known.
fn stays_as_saved(list: &LivePlace) -> bool {
    let owner = &list.owner;
    frame::has_session()
        && (owner.lasts && frame::lasting::holds() || frame::is_in_call(owner.activation, owner.site))
}

fn page() -> usize {
    // SAFETY: a plain function of the C library, which is async-signal-safe.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    usize::try_from(page).unwrap_or(1 << 12)
}

/// For tests: a page is lost of a list that could be put back, which one by this number, and the signal says so. Gives the function and
/// the variable, and the first bit of it that is lost; nothing where there is no such list.
#[cfg(target_os = "linux")]
pub(super) fn lose_a_page(chosen: u64) -> Option<(String, String, u64)> {
    let page = page();
    let snapshot = WATCH.snapshot.load(Ordering::SeqCst);
    // SAFETY: only this thread replaces it.
    let snapshot = unsafe { snapshot.as_ref() }?;
    let whole_pages = |list: &LivePlace| {
        let first = list.place.first().next_multiple_of(page);
        let behind = (list.place.first() + list.place.bytes()) & !(page - 1);
        (first..behind.max(first)).step_by(page)
    };
    let lent = snapshot.places().iter().filter(|list| stays_as_saved(list));
    let mut pages = lent.flat_map(|list| whole_pages(list).map(move |address| (list, address)));
    let count = u64::try_from(pages.clone().count())
        .ok()
        .filter(|count| *count > 0)?;
    let (list, address) = pages.nth(usize::try_from(chosen % count).ok()?)?;
    let is_gone = from_outside::replace(address, page, &|bytes| {
        bytes.fill(0xA5);
        true
    });
    (is_gone && tells_of(address, page)).then(|| {
        let bit = (address - list.place.first()) as u64 * 8;
        (list.function.clone(), list.owner.key.to_owned(), bit)
    })
}

/// No such signal is known here.
#[cfg(not(target_os = "linux"))]
pub(super) fn lose_a_page(_: u64) -> Option<(String, String, u64)> {
    None
}

/// Sends this thread the signal that the system would send for this page; whether that could be done.
#[cfg(target_os = "linux")]
fn tells_of(address: usize, page: usize) -> bool {
    let lost = Lost {
        signal: libc::SIGBUS,
        _error: 0,
        code: NOT_YET,
        #[cfg(target_pointer_width = "64")]
        _space: 0,
        address,
        size: page.trailing_zeros() as i16,
        _rest: [0; 110],
    };
    const { assert!(size_of::<Lost>() >= size_of::<libc::siginfo_t>()) };
    // SAFETY: the system reads as many bytes as a `siginfo_t` has, and `lost` has them; a process may send itself any code.
    let sent = unsafe {
        let (process, thread) = (libc::getpid(), libc::syscall(libc::SYS_gettid));
        libc::syscall(
            libc::SYS_rt_tgsigqueueinfo,
            process,
            thread,
            libc::SIGBUS,
            &raw const lost,
        )
    };
    sent == 0
}

/// Puts back what is lost; whether that could be done.
fn put_back(lost: &Lost) -> bool {
    let page = page();
    let size = 1_usize
        .checked_shl(u32::from(lost.size.unsigned_abs()))
        .unwrap_or(page);
    let size = size.max(page);
    let first = lost.address & !(size - 1);
    WATCH.looks.fetch_add(1, Ordering::SeqCst);
    // SAFETY: `watch` frees nothing that it has taken out while `looks` is not zero.
    let snapshot = unsafe { WATCH.snapshot.load(Ordering::SeqCst).as_ref() };
    let found = snapshot.and_then(|snapshot| {
        let has_all = |list: &&LivePlace| {
            let place = list.place;
            place.first() <= first && first + size <= place.first() + place.bytes()
        };
        let number = snapshot.places().iter().position(|list| has_all(&list))?;
        let list = &snapshot.places()[number];
        let is_as_saved = stays_as_saved(list);
        let fill = |into: &mut [u8]| snapshot.part_of_place(list, first, into);
        (is_as_saved && from_outside::replace(first, size, &fill)).then_some(number)
    });
    WATCH.looks.fetch_sub(1, Ordering::SeqCst);
    if let Some(number) = found {
        WATCH.list.store(number + 1, Ordering::SeqCst);
        WATCH.bytes.fetch_add(size, Ordering::SeqCst);
        current::look_now();
    }
    found.is_some()
}

/// Does what would be done without ckpt.
fn pass_on(signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // SAFETY: `listen` has put it there before the handler was installed, for good.
    let before = unsafe { &*WATCH.before.load(Ordering::SeqCst) };
    let takes_info = before.sa_flags & libc::SA_SIGINFO != 0;
    match before.sa_sigaction {
        libc::SIG_IGN => {}
        // SAFETY: the action that there was. It comes once more where the instruction is executed again.
        libc::SIG_DFL => drop(unsafe { libc::sigaction(signal, before, ptr::null_mut()) }),
        handler if takes_info => {
            type Handler = extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void);
            // SAFETY: whoever has installed it has said that it takes these.
            let handler = unsafe { std::mem::transmute::<libc::sighandler_t, Handler>(handler) };
            handler(signal, info, context);
        }
        handler => {
            // SAFETY: whoever has installed it has said that it takes this.
            let handler =
                unsafe { std::mem::transmute::<libc::sighandler_t, extern "C" fn(libc::c_int)>(handler) };
            handler(signal);
        }
    }
}
