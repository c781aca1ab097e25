//! What a restart could not bring back: while it is there, no checkpoint is taken.

use std::path::PathBuf;

use rustix::process::{getegid, geteuid, getgid, getuid};

use super::locks::Held;
use crate::base::children;
use crate::devices;

/// Why the process cannot be brought back to where it is now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Obstacle {
    /// A process that the program has started runs.
    Child { pid: u32, name: String },
    /// The working folder has no path.
    NoFolder,
    /// A part of a file is locked, or a file that has no name.
    Lock(PathBuf),
    /// A timer runs that will send a signal.
    Timer,
    /// The process has another user or group than at its start.
    User,
    /// The process has another root folder than at its start.
    Root,
    /// A standard stream leads elsewhere than at the start.
    Stream(&'static str),
    /// Floating-point numbers are rounded otherwise than at the start.
    Rounding,
    /// Something on a device.
    Device(devices::Obstacle),
}

/// What is compared with the start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Identity {
    user: [u32; 4],
    root: Option<(u64, u64)>,
    streams: [Option<(u64, u64)>; 3],
    rounding: u32,
}

const STREAMS: [&str; 3] = ["standard input", "standard output", "standard error"];

impl Identity {
    pub fn now() -> Identity {
        Identity {
            user: [
                getuid().as_raw(),
                geteuid().as_raw(),
                getgid().as_raw(),
                getegid().as_raw(),
            ],
            root: rustix::fs::stat("/").ok().map(|root| (root.st_dev, root.st_ino)),
            streams: streams(),
            rounding: rounding(),
        }
    }
}

/// The files that the standard streams lead to.
fn streams() -> [Option<(u64, u64)>; 3] {
    use rustix::fd::BorrowedFd;
    use rustix::fs::fstat;
    let place = |stream: BorrowedFd<'_>| fstat(stream).ok().map(|file| (file.st_dev, file.st_ino));
    [
        place(rustix::stdio::stdin()),
        place(rustix::stdio::stdout()),
        place(rustix::stdio::stderr()),
    ]
}

/// How this thread rounds, and what it does with the smallest numbers.
fn rounding() -> u32 {
    #[cfg(target_arch = "x86_64")]
    {
        /// The flags of what has happened say nothing about how numbers are rounded.
        const FLAGS: u32 = 0x3f;
        let mut control = 0_u32;
        // SAFETY: writes the control register to the variable, and nothing else.
        unsafe {
            std::arch::asm!("stmxcsr [{}]", in(reg) &mut control, options(nostack, preserves_flags));
        }
        control & !FLAGS
    }
    #[cfg(target_arch = "aarch64")]
    {
        let control: u64;
        // SAFETY: reads the control register, and nothing else.
        unsafe {
            std::arch::asm!("mrs {}, fpcr", out(reg) control, options(nomem, nostack, preserves_flags));
        }
        control as u32
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    0
}

/// The first that is there.
pub(super) fn find(start: &Identity, held: &Held) -> Option<Obstacle> {
    if let Some((pid, name)) = children::running().into_iter().next() {
        return Some(Obstacle::Child { pid, name });
    }
    let now = Identity::now();
    let stream = (0..3).find(|at| start.streams[*at] != now.streams[*at]);
    let found = [
        (std::env::current_dir().is_err(), Obstacle::NoFolder),
        (has_timer(), Obstacle::Timer),
        (start.user != now.user, Obstacle::User),
        (start.root != now.root, Obstacle::Root),
        (start.rounding != now.rounding, Obstacle::Rounding),
    ];
    let found = found
        .into_iter()
        .find_map(|(is, obstacle)| is.then_some(obstacle));
    found
        .or(stream.map(|at| Obstacle::Stream(STREAMS[at])))
        .or_else(|| held.other.clone().map(Obstacle::Lock))
        .or_else(|| devices::obstacle().map(Obstacle::Device))
}

fn has_timer() -> bool {
    let clocks = [libc::ITIMER_REAL, libc::ITIMER_VIRTUAL, libc::ITIMER_PROF];
    let runs = |clock| {
        let mut timer = std::mem::MaybeUninit::<libc::itimerval>::zeroed();
        // SAFETY: only writes what there is.
        let known = unsafe { libc::getitimer(clock, timer.as_mut_ptr()) } == 0;
        // SAFETY: numbers, which have been written, at least as zeros.
        let value = unsafe { timer.assume_init() }.it_value;
        known && (value.tv_sec != 0 || value.tv_usec != 0)
    };
    // Those of `timer_create`.
    let others = std::fs::read("/proc/self/timers").is_ok_and(|text| !text.is_empty());
    clocks.into_iter().any(runs) || others
}

impl Obstacle {
    /// What it is, in the words of a sentence.
    pub fn what(&self) -> String {
        match self {
            Obstacle::Child { pid, name } => {
                format!("a process that the program has started is running: `{name}` (pid {pid})")
            }
            Obstacle::NoFolder => "the working folder of the program has been removed".into(),
            Obstacle::Lock(path) => format!(
                "the program holds a lock on a part of `{}`, or on a file that has been removed",
                path.display()
            ),
            Obstacle::Timer => "a timer is running that will send the program a signal".into(),
            Obstacle::User => "the program has changed its user or group".into(),
            Obstacle::Root => "the program has changed its root folder".into(),
            Obstacle::Stream(name) => format!("the program has led its {name} elsewhere"),
            Obstacle::Rounding => "the program has changed how floating-point numbers are rounded".into(),
            Obstacle::Device(obstacle) => obstacle.what().into(),
        }
    }

    /// Why a restart could not bring it back.
    pub fn why(&self) -> &'static str {
        match self {
            Obstacle::Child { .. } => {
                "what it has done would be lost, and a restart would not start it again"
            }
            Obstacle::NoFolder => "a restart could not go there again",
            Obstacle::Lock(_) => "a restart would not hold it",
            Obstacle::Timer => "a restart would not start it again",
            Obstacle::User | Obstacle::Root => "a restart would go on with those that it is started with",
            Obstacle::Stream(_) => "a restart would go on with the stream that it is started with",
            Obstacle::Rounding => "a restart would round as all programs do, and get other numbers",
            Obstacle::Device(obstacle) => obstacle.why(),
        }
    }

    /// What to do.
    pub fn help(&self) -> &'static str {
        match self {
            Obstacle::Child { .. } => {
                "wait for it before the next site is reached; where a restart may start it again, say so with `ckpt::thread::made_again()` around its start: see the book's page on limits"
            }
            Obstacle::NoFolder => "leave the folder before you remove it",
            Obstacle::Lock(_) => "give it back before the site, or lock the whole file with `File::lock`",
            Obstacle::Timer => "let it end before the site, or use a thread that is joined",
            Obstacle::User => "start the program as that user",
            Obstacle::Root => "start the program there",
            Obstacle::Stream(_) => {
                "lead it there when the program is started, `> FILE`, or write to a file of its own"
            }
            Obstacle::Rounding => "change it around a computation that has no site in it, and back",
            Obstacle::Device(obstacle) => obstacle.help(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_as_it_was_at_the_start_is_an_obstacle() {
        let now = Identity::now();
        let found = |start: Identity| find(&start, &Held::default());
        // Other tests have children.
        let is_free = |obstacle: &Option<Obstacle>| matches!(obstacle, None | Some(Obstacle::Child { .. }));
        assert!(is_free(&found(now.clone())));
        let other = |user: [u32; 4], root, streams, rounding| {
            let start = Identity {
                user,
                root,
                streams,
                rounding,
            };
            found(start)
        };
        let changed = [
            (
                other([now.user[0] + 1, 0, 0, 0], now.root, now.streams, now.rounding),
                Obstacle::User,
            ),
            (
                other(now.user, Some((0, 0)), now.streams, now.rounding),
                Obstacle::Root,
            ),
            (
                other(
                    now.user,
                    now.root,
                    [now.streams[0], Some((0, 1)), now.streams[2]],
                    now.rounding,
                ),
                Obstacle::Stream("standard output"),
            ),
            (
                other(now.user, now.root, now.streams, now.rounding ^ (1 << 15)),
                Obstacle::Rounding,
            ),
        ];
        for (found, expected) in changed {
            assert!(
                matches!(&found, Some(Obstacle::Child { .. })) || found == Some(expected),
                "{found:?}"
            );
        }
        let held = Held {
            other: Some("/part".into()),
            ..Held::default()
        };
        let found = find(&now, &held);
        assert!(
            matches!(found, Some(Obstacle::Lock(_) | Obstacle::Child { .. })),
            "{found:?}"
        );
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn flushing_the_smallest_numbers_to_zero_is_seen() {
        let before = rounding();
        std::thread::spawn(move || {
            let mut control = 0_u32;
            // SAFETY: the register is this thread's, which computes nothing with floating-point numbers and ends.
            unsafe {
                std::arch::asm!("stmxcsr [{}]", in(reg) &mut control, options(nostack));
                control |= 1 << 15;
                std::arch::asm!("ldmxcsr [{}]", in(reg) &control, options(nostack));
            }
            assert_ne!(rounding(), before);
        })
        .join()
        .unwrap();
    }
}
