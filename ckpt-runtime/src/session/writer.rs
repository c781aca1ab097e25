//! The thread that brings checkpoints to the disk while the program goes on.
//!
//! One checkpoint is on its way at a time: its copy of the state is all the memory that ckpt takes, and the order of the
//! files is that of the visits. The outcome is reported at the next visit of a site, and at the end.

use std::io::ErrorKind;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::at_exit::Ending;
use super::events::{Parts, What};
use super::job::Record;
use super::policy::Reason;
use crate::base::current;
use crate::base::lock::locked;
use crate::base::own::unobserved;
use crate::base::own_threads;
use crate::base::signals::undisturbed;
use crate::format::{CheckpointId, Meta, StoreError};
use crate::handles::{self, Entered, Outside};
use crate::state::snapshot::Snapshot;
use crate::storage::{Commit, Cost};

/// A checkpoint that has been taken and is to be written.
#[derive(Debug)]
pub(super) struct Taken {
    pub snapshot: Snapshot,
    pub meta: Meta,
    pub commit: Commit,
    pub visits: u64,
    pub reason: Reason,
    /// When the program stopped for it.
    pub began: Instant,
    /// Where the time went until it was taken.
    pub parts: Parts,
    /// How long it stood still, where it has gone on since; it waits otherwise until the disk has all.
    pub waited: Option<Duration>,
}

/// What came of a checkpoint.
#[derive(Debug)]
pub(super) struct Written {
    pub visits: u64,
    pub reason: Reason,
    /// From the moment when the program stopped for it.
    pub took: Duration,
    pub outcome: Result<CheckpointId, NotWritten>,
    /// The checkpoint is there, and so is an older one that should not be: why.
    pub remains: Option<StoreError>,
}

/// Why a checkpoint was not written.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct NotWritten {
    pub why: String,
    /// Whether it was the store that could not be written to: another folder may do.
    pub is_of_store: bool,
}

impl NotWritten {
    /// For a reason that holds wherever it is written.
    pub fn anywhere(why: String) -> NotWritten {
        NotWritten {
            why,
            is_of_store: false,
        }
    }
}

impl From<StoreError> for NotWritten {
    fn from(error: StoreError) -> NotWritten {
        NotWritten {
            is_of_store: match &error {
                StoreError::DiskFull { .. } | StoreError::Hdf5 { .. } => true,
                StoreError::Io { kind, .. } => *kind != ErrorKind::OutOfMemory,
                _ => false,
            },
            why: error.to_string(),
        }
    }
}

/// Writes checkpoints, one after the other.
#[derive(Debug)]
pub(super) struct Writer {
    ending: Arc<Ending>,
    outside: Arc<Outside>,
    desk: Arc<Desk>,
    thread: Option<JoinHandle<()>>,
    /// Files of the program whose entries in their folders are on the disk, where there is no thread.
    entered: Entered,
}

/// Where work is put down and results are picked up.
#[derive(Debug, Default)]
pub(super) struct Desk {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    taken: Option<Taken>,
    busy: bool,
    written: Option<Written>,
    closed: bool,
}

impl Writer {
    /// Says in the record of the session what came of its checkpoints, and has noted what its files are.
    pub fn new(ending: Arc<Ending>, outside: Arc<Outside>) -> Writer {
        Writer {
            ending,
            outside,
            desk: Arc::default(),
            thread: None,
            entered: Entered::default(),
        }
    }

    /// Whether a checkpoint is being written.
    pub fn is_busy(&self) -> bool {
        self.desk.lock().is_busy()
    }

    /// Begins to write a checkpoint. The one before it is done with, and its result has been picked up.
    pub fn begin(&mut self, taken: Taken) {
        if self.thread.is_none() {
            self.thread = self.start();
        }
        if self.thread.is_none() {
            // The system has no thread left: the program waits.
            let (entered, record, outside) = (&mut self.entered, &self.ending.record, &self.outside);
            let written = unobserved(|| unharmed(taken, &mut |taken| write(taken, entered, record, outside)));
            self.desk.lock().written = Some(written);
            return;
        }
        self.desk.lock().taken = Some(taken);
        self.desk.changed.notify_all();
    }

    /// What came of the checkpoint that was begun, once it is known.
    pub fn result(&self) -> Option<Written> {
        self.desk.lock().written.take()
    }

    /// The same, waiting for it; `None` if nothing was begun.
    pub fn wait(&self) -> Option<Written> {
        self.desk.idle().written.take()
    }

    fn start(&self) -> Option<JoinHandle<()>> {
        let desk = Arc::clone(&self.desk);
        let ending = Arc::clone(&self.ending);
        let outside = Arc::clone(&self.outside);
        ending.writes_at(Arc::clone(&desk));
        let thread = std::thread::Builder::new().name("ckpt-writer".into());
        let work = move || {
            let _ours = own_threads::is_ours();
            let mut entered = Entered::default();
            // All that this thread does to files is ckpt's own business.
            unobserved(|| {
                desk.work(|taken| write(taken, &mut entered, &ending.record, &outside));
            });
        };
        // It is not for it to run handlers of the program's: what they do to files is the program's.
        undisturbed(|| thread.spawn(work)).ok()
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.desk.lock().closed = true;
        self.desk.changed.notify_all();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl State {
    fn is_busy(&self) -> bool {
        self.busy || self.taken.is_some()
    }
}

impl Desk {
    fn lock(&self) -> MutexGuard<'_, State> {
        locked(&self.state)
    }

    /// Waits until nothing is being written.
    pub fn drain(&self) {
        drop(self.idle());
    }

    /// The state when nothing is being written.
    fn idle(&self) -> MutexGuard<'_, State> {
        self.changed
            .wait_while(self.lock(), |state| state.is_busy())
            .unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// The life of the thread.
    fn work(&self, mut write: impl FnMut(Taken) -> Written) {
        let mut state = self.lock();
        loop {
            match state.taken.take() {
                Some(taken) => {
                    state.busy = true;
                    drop(state);
                    let written = unharmed(taken, &mut write);
                    state = self.lock();
                    state.busy = false;
                    state.written = Some(written);
                    current::call_attention(current::WRITTEN);
                    self.changed.notify_all();
                }
                None if state.closed => return,
                None => {
                    state = self
                        .changed
                        .wait(state)
                        .unwrap_or_else(|poisoned| poisoned.into_inner());
                }
            }
        }
    }
}

/// Writes one checkpoint; a panic on the way is one that could not be written. The program would otherwise wait for it
/// for ever.
fn unharmed(taken: Taken, write: &mut dyn FnMut(Taken) -> Written) -> Written {
    let Taken {
        visits,
        reason,
        began,
        ..
    } = taken;
    catch_unwind(AssertUnwindSafe(|| write(taken))).unwrap_or_else(|panic| {
        let message = panic.downcast_ref::<&str>().copied();
        let message = message.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
        Written {
            visits,
            reason,
            took: began.elapsed(),
            outcome: Err(NotWritten::anywhere(format!(
                "the code that writes it panicked: {}; this is a bug in ckpt",
                message.unwrap_or("no message")
            ))),
            remains: None,
        }
    })
}

/// Writes one checkpoint. What the program wrote to its files is on the disk before the checkpoint is.
fn write(taken: Taken, entered: &mut Entered, record: &Record, outside: &Outside) -> Written {
    let Taken {
        snapshot,
        meta,
        commit,
        visits,
        reason,
        began,
        mut parts,
        waited,
    } = taken;
    outside.note(handles::paths(&snapshot.files));
    let mut remains = None;
    let mut cost = Cost::default();
    let begins = Instant::now();
    let synced = handles::sync(&snapshot.files, entered).map_err(NotWritten::anywhere);
    let own_files = begins.elapsed();
    let outcome = synced.and_then(|()| {
        commit
            .write(&snapshot, &meta, &mut cost)
            .or_else(|error| match error {
                StoreError::NotRemoved { id, .. } => {
                    remains = Some(error);
                    Ok(id)
                }
                error => Err(error.into()),
            })
    });
    if let Ok(id) = &outcome {
        record.update(|job| {
            job.last_checkpoint = Some(id.0);
            job.visits = visits;
        });
    }
    let ends = Instant::now();
    let took = ends - began;
    let synced = own_files + cost.synced;
    parts.written = (ends - begins).saturating_sub(synced).as_secs_f64();
    parts.synced = synced.as_secs_f64();
    if let Ok(id) = &outcome {
        record.happened(What::Checkpoint {
            id: id.0,
            visits,
            waited: waited.unwrap_or(took).as_secs_f64(),
            took: took.as_secs_f64(),
            bytes: snapshot.bytes(),
            file: cost.file,
            reason: reason.to_string(),
            parts,
        });
    }
    Written {
        visits,
        reason,
        took,
        outcome,
        remains,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::{Mode, Store};

    fn taken(store: &mut Store, visits: u64) -> Taken {
        Taken {
            snapshot: Snapshot::default(),
            meta: Meta::default(),
            commit: store.begin().unwrap(),
            visits,
            reason: Reason::Interval,
            began: Instant::now(),
            parts: Parts::default(),
            waited: None,
        }
    }

    #[test]
    fn a_panic_while_writing_is_a_checkpoint_that_failed() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::open(folder.path(), Mode::ReadWrite).unwrap();
        let outside = Arc::new(Outside::of(folder.path(), 0));
        let mut writer = Writer::new(Arc::default(), outside.clone());
        let desk = Arc::clone(&writer.desk);
        writer.thread = Some(std::thread::spawn(move || {
            desk.work(|taken| match taken.visits {
                7 => panic!("no such luck"),
                _ => write(taken, &mut Entered::default(), &Record::default(), &outside),
            });
        }));
        writer.begin(taken(&mut store, 7));
        let written = writer.wait().unwrap();
        assert_eq!((written.visits, written.reason), (7, Reason::Interval));
        assert!(written.outcome.unwrap_err().why.contains("no such luck"));
        // The thread goes on.
        writer.begin(taken(&mut store, 8));
        assert_eq!(writer.wait().unwrap().outcome, Ok(CheckpointId(1)));
    }
}
