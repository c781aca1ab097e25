//! Pipes, sockets and the like that the program has made, told by their numbers. A variable that is one, such as a `TcpStream`, is
//! made again by the code that is executed again, or refused. A number that `libc::pipe` has given is a number like others: a restart does
//! not open what it stood for. What is there less than at the checkpoint when a restart has arrived is told of.
//!
//! They are counted by kind, and not by their numbers: what is made again may have another.

use std::fs;
use std::path::Path;

use super::snapshot::SnapshotBuilder;
use super::source::{Recorded, StateSource};
use super::unheld_files::UnheldFiles;
use crate::base::kept_open;
use crate::base::report::{Fatal, say};
use crate::base::sorted::SortedMap;

/// Name of the note in every checkpoint of a program that has such descriptors.
pub const DESCRIPTORS_NOTE: &str = "descriptors";

/// A kind of what is behind a number. What is not listed is a file, which a restart opens again or refuses, or belongs to ckpt.
#[derive(Debug)]
struct Kind {
    /// How the kernel's name for it begins.
    begins: &'static str,
    name: &'static str,
    /// Whether that name tells one from another, so that several numbers are known to stand for one.
    tells_apart: bool,
    /// Whether libraries for messages make them, some of them only when the first message is sent.
    is_of_messages: bool,
}

const KINDS: [Kind; 8] = [
    kind("pipe:[", "pipe", true, true),
    kind("socket:[", "socket", true, true),
    kind("anon_inode:[eventfd]", "eventfd", false, true),
    kind("anon_inode:[eventpoll]", "epoll", false, true),
    kind("anon_inode:inotify", "inotify", false, false),
    kind("anon_inode:[signalfd]", "signalfd", false, false),
    kind("anon_inode:[timerfd]", "timerfd", false, false),
    kind("/memfd:", "memfd", false, true),
];

const fn kind(begins: &'static str, name: &'static str, tells_apart: bool, is_of_messages: bool) -> Kind {
    Kind {
        begins,
        name,
        tells_apart,
        is_of_messages,
    }
}

/// What each number stands for, as the kernel calls it.
pub(super) type Open = SortedMap<i32, String>;

/// The things of a kind, by its name: for each the numbers that stand for it.
type Things = SortedMap<String, Vec<Vec<i32>>>;

/// The descriptors of the process since its session began.
#[derive(Debug)]
pub(crate) struct Descriptors {
    /// Those that the program was started with, or has made before.
    at_start: Open,
    /// The program exchanges messages.
    has_messages: bool,
    files: UnheldFiles,
}

impl Descriptors {
    /// A session begins; checkpoints go to the folders `own`.
    pub fn begin<'f>(has_messages: bool, own: impl Iterator<Item = &'f Path>) -> Descriptors {
        Descriptors {
            at_start: open(),
            has_messages,
            files: UnheldFiles::beside(own),
        }
    }

    /// What has been made since.
    fn made(&self) -> Things {
        let mut open = open();
        open.retain(|number, thing| self.at_start.get(number) != Some(thing));
        let kinds = KINDS
            .iter()
            .filter(|kind| !(self.has_messages && kind.is_of_messages));
        let things = kinds.map(|kind| (kind.name.to_owned(), kind.things(&open)));
        things.filter(|(_, things)| !things.is_empty()).collect()
    }
}

impl Kind {
    /// Those of this kind.
    fn things(&self, open: &Open) -> Vec<Vec<i32>> {
        let mut things: SortedMap<(&str, Option<i32>), Vec<i32>> = SortedMap::new();
        for (number, thing) in open.iter().filter(|(_, thing)| thing.starts_with(self.begins)) {
            let apart = (!self.tells_apart).then_some(*number);
            things.entry((thing, apart)).or_default().push(*number);
        }
        things.into_values().collect()
    }
}

impl StateSource for Descriptors {
    fn save(&mut self, to: &mut SnapshotBuilder) -> Result<(), Fatal> {
        self.files.look(&self.at_start, self.has_messages, to);
        Ok(())
    }

    fn notes(&mut self) -> Vec<(&'static str, String)> {
        let made = self.made();
        let says = (!made.is_empty()).then(|| serde_json::to_string(&made).unwrap_or_default());
        says.into_iter().map(|says| (DESCRIPTORS_NOTE, says)).collect()
    }

    fn restore(&mut self, from: &dyn Recorded) -> Result<(), Fatal> {
        let Some(note) = from.note(DESCRIPTORS_NOTE) else {
            return Ok(());
        };
        // What makes no sense says nothing; the values are under checksums of their own.
        let then: Things = serde_json::from_str(note).unwrap_or_default();
        let now = self.made();
        for kind in &KINDS {
            let number = now.get(kind.name).map_or(0, Vec::len);
            if let Some(then) = then.get(kind.name).filter(|then| number < then.len()) {
                say(&lacks(kind.name, then, number));
            }
        }
        Ok(())
    }
}

/// What is said where there are fewer of a kind than there were.
fn lacks(kind: &str, then: &[Vec<i32>], now: usize) -> String {
    let numbers: Vec<String> = then
        .iter()
        .map(|numbers| {
            let numbers: Vec<String> = numbers.iter().map(i32::to_string).collect();
            numbers.join(" and ")
        })
        .collect();
    format!(
        "warning[W2051]: of kind {kind} the program had {} open at the checkpoint (as {}), and has {now} after the restart\n  \
         why:   the number of a descriptor (`libc::pipe`, `libc::socket`, `into_raw_fd`) is a number like others: a restart does not open what it stood for, and the number may stand for another file now\n  \
         help:  make it in a statement with `#[ckpt(reexecute)]` of a function that has a site, or after the site; it is nothing where a library makes its own again when it needs them",
        then.len(),
        numbers.join("; ")
    )
}

/// What is open now, by its number: what this process shows of itself left out.
pub(super) fn now() -> Open {
    let mut open = open();
    open.retain(|_, thing| !thing.starts_with("/proc/"));
    open
}

/// Whether there is a file or folder beside these, and those of ckpt.
pub(super) fn has_files_beside(before: &Open) -> bool {
    let is_file = |thing: &str| {
        thing.starts_with('/')
            && !thing.starts_with("/dev/")
            && KINDS.iter().all(|kind| !thing.starts_with(kind.begins))
    };
    now().iter().any(|(number, thing)| {
        before.get(number) != Some(thing) && !kept_open::is_ours(*number) && is_file(thing)
    })
}

/// All but these, and standard streams, are closed in a program that takes the place of this one.
pub(super) fn close_when_replaced(before: &Open) {
    for (number, thing) in now() {
        if number > 2 && before.get(&number) != Some(&thing) {
            // SAFETY: only the flag of a number is changed, which may have been closed meanwhile: then nothing is.
            unsafe { libc::fcntl(number, libc::F_SETFD, libc::FD_CLOEXEC) };
        }
    }
}

fn open() -> Open {
    let entries = fs::read_dir("/proc/self/fd").into_iter().flatten().flatten();
    let number = |name: &std::ffi::OsStr| name.to_str().and_then(|name| name.parse().ok());
    let known = entries.filter_map(|entry| {
        let thing = fs::read_link(entry.path()).ok()?;
        Some((number(&entry.file_name())?, thing.to_string_lossy().into_owned()))
    });
    known.collect()
}
