//! The files and folders that the program changes, held open or not: an undo journal, as databases have one.
//!
//! Before something changes for the first time since a checkpoint, what it was goes into the journal, in the folder of the
//! run, and to the disk. A restart from the checkpoint undoes what the journal says from there on, when its walk has
//! arrived: the tree is then what it was, whatever has happened in between.
//!
//! [`interposition`] sees what is about to change, [`watch`] keeps it, [`log`] has it on the disk, [`undo`] brings it back.

mod descriptors;
mod interposition;
mod log;
mod paths;
mod ranges;
mod record;
mod segment;
mod undo;
mod watch;

use std::cell::Cell;
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use super::snapshot::SnapshotBuilder;
use super::source::{Recorded, StateSource};
use crate::base::changes::{Change, Coming, FileObserver};
use crate::base::current;
use crate::base::documents::Documents;
use crate::base::lock::locked;
use crate::base::report::{Fatal, headline};
use crate::handles::{moved, start_folder};
use crate::value::LoadError;
use log::{History, Log};
use record::Record;
use undo::{Plan, Records};
use watch::Watch;

/// The note in which a checkpoint says the epoch that it began.
const EPOCH_NOTE: &str = "files_epoch";

/// The files that the program changes, from the beginning of a session to its end.
#[derive(Debug)]
pub(crate) struct Journal {
    /// `None` where files cannot be watched at all.
    watch: Option<Arc<Shared>>,
    /// What a checkpoint that is being written needs on the disk.
    in_flight: BTreeSet<PathBuf>,
    /// Whether the checkpoint in the making has begun an epoch.
    began: Option<u64>,
}

/// What functions of the C library reach as well. A leaf lock: nothing of the program is called while it is held.
#[derive(Debug)]
struct Shared {
    watch: Mutex<Watch>,
    /// What a restart has to bring back, until it has; or why it cannot.
    coming: Mutex<Option<Result<Return, String>>>,
}

/// The way back to a checkpoint.
#[derive(Debug)]
struct Return {
    to: u64,
    plan: Plan,
    /// It is written down that it has begun.
    has_begun: bool,
}

thread_local! {
    /// Set while this module itself opens files. Of the thread, whatever session there is.
    static OWN: Cell<bool> = const { Cell::new(false) };
}

/// Who is to hear of what the program does to its files now.
fn observer() -> Option<Arc<dyn FileObserver>> {
    // A thread that ends has no such flag any more.
    match OWN.try_with(Cell::get) {
        Ok(false) => current::observer(),
        _ => None,
    }
}

/// What is opened meanwhile is ckpt's own business.
fn unobserved<R>(act: impl FnOnce() -> R) -> R {
    let before = OWN.try_with(|own| own.replace(true)).unwrap_or(true);
    let result = act();
    let _ = OWN.try_with(|own| own.set(before));
    result
}

/// The epoch that a checkpoint began.
pub(crate) fn epoch_of(restored: &dyn Recorded) -> Option<u64> {
    restored.note(EPOCH_NOTE)?.parse().ok()
}

/// The same of what is noted with a checkpoint.
pub(crate) fn epoch_in(notes: &[(String, String)]) -> Option<u64> {
    let note = notes.iter().find(|(name, _)| name == EPOCH_NOTE)?;
    note.1.parse().ok()
}

/// Whether a rank's files can be brought back to what they were at the begin of an epoch.
///
/// # Errors
/// Why they cannot.
pub(crate) fn can_return(
    documents: Arc<dyn Documents>,
    run: u128,
    rank: u32,
    epoch: u64,
) -> Result<(), String> {
    unobserved(|| {
        let history = read(documents, run, rank)?;
        history.to_undo(epoch).map(drop)
    })
}

/// Ranks whose journals in a folder say more than that they have begun.
pub(crate) fn ranks_with_changes(documents: &dyn Documents) -> BTreeSet<u32> {
    unobserved(|| log::ranks_with_records(documents))
}

fn read(documents: Arc<dyn Documents>, run: u128, rank: u32) -> Result<History, String> {
    History::read(documents, run, rank)
        .map_err(|error| format!("the journal of files cannot be read: {error}"))
}

impl Journal {
    /// A session begins: of a rank of a run, which may go on from a checkpoint. `others` are ranks that keep their journals
    /// in the same folder, each with the epoch that its part of the checkpoint began.
    ///
    /// # Errors
    /// The journal cannot be begun.
    pub fn begin(
        store: &Path,
        documents: Arc<dyn Documents>,
        run: u128,
        rank: u32,
        restored: Option<&dyn Recorded>,
        others: &[(u32, u64)],
    ) -> io::Result<Journal> {
        let mut journal = Journal {
            watch: None,
            in_flight: BTreeSet::new(),
            began: None,
        };
        if !interposition::is_used() {
            return Ok(journal);
        }
        let named = start_folder().join(store);
        let store = [fs::canonicalize(&named).unwrap_or_else(|_| named.clone()), named];
        let history = History::read(Arc::clone(&documents), run, rank)?;
        let to = restored.and_then(epoch_of);
        let coming = to.map(|to| {
            let own = Ok(Records {
                rank,
                history: &history,
                to,
            });
            Return::prepare(Arc::clone(&documents), run, own, others)
        });
        let log = Log::begin(documents, run, rank, &history, to.unwrap_or(0))?;
        descriptors::next_epoch();
        let watch = Arc::new(Shared {
            watch: Mutex::new(Watch::new(store, log)),
            coming: Mutex::new(coming),
        });
        let observer: Arc<dyn FileObserver> = watch.clone();
        current::observe_with(Some(observer));
        current::observe(true);
        journal.watch = Some(watch);
        Ok(journal)
    }

    /// Whether files can be watched at all.
    pub fn sees_files(&self) -> bool {
        self.watch.is_some()
    }

    /// The restart has arrived: the files become what they were at its checkpoint. What was undone is kept until
    /// [`Journal::go_on`]: other ranks may need it.
    ///
    /// # Errors
    /// Which file cannot be brought back, and why.
    pub fn arrive(&self) -> Result<(), LoadError> {
        self.with_return(|coming, watch| {
            let coming = coming.as_mut().map_err(|why| why.clone())?;
            // Where nothing has changed, later checkpoints found the same files and stay of use.
            if coming.plan.changes || coming.has_begun {
                coming.begins(watch)?;
                coming.plan.apply()?;
            }
            Ok(())
        })
    }

    /// All ranks have arrived: the program goes on from here.
    ///
    /// # Errors
    /// The journal cannot be written.
    pub fn go_on(&self) -> Result<(), LoadError> {
        self.with_return(|coming, watch| match coming {
            Ok(coming) if coming.has_begun => coming.ends(watch),
            Ok(coming) => coming.note_moves(watch),
            Err(why) => Err(why.clone()),
        })?;
        if let Some(shared) = &self.watch {
            *locked(&shared.coming) = None;
        }
        Ok(())
    }

    fn with_return(
        &self,
        act: impl FnOnce(&mut Result<Return, String>, &mut Watch) -> Result<(), String>,
    ) -> Result<(), LoadError> {
        let Some(shared) = &self.watch else {
            return Ok(());
        };
        unobserved(|| match &mut *locked(&shared.coming) {
            Some(coming) => act(coming, &mut locked(&shared.watch)),
            None => Ok(()),
        })
        .map_err(LoadError::invalid)
    }

    /// The last checkpoint counts.
    pub fn committed(&mut self) {
        self.in_flight.clear();
    }

    /// No checkpoint of the run is older than the one that began this epoch.
    pub fn forget_before(&mut self, epoch: u64) {
        if let Some(shared) = &self.watch {
            unobserved(|| locked(&shared.watch).forget(|other| other < epoch));
        }
    }
}

impl Return {
    fn prepare(
        documents: Arc<dyn Documents>,
        run: u128,
        own: Result<Records<'_>, String>,
        others: &[(u32, u64)],
    ) -> Result<Return, String> {
        let own = own?;
        let (rank, to) = (own.rank, own.to);
        let histories = others.iter().map(|(other, epoch)| {
            let history = read(Arc::clone(&documents), run, *other)?;
            Ok((*other, *epoch, history))
        });
        let histories: Vec<(u32, u64, History)> = histories.collect::<Result<_, String>>()?;
        let mut all = vec![own];
        all.extend(histories.iter().map(|(rank, to, history)| Records {
            rank: *rank,
            history,
            to: *to,
        }));
        let plan = Plan::new(&all, rank, &moved::moves())?;
        Ok(Return {
            to,
            plan,
            has_begun: false,
        })
    }

    /// From here on files change: later checkpoints are given up before that.
    fn begins(&mut self, watch: &mut Watch) -> Result<(), String> {
        if self.has_begun {
            return Ok(());
        }
        self.plan.check()?;
        let mut records = vec![Record::Returning { to: self.to }];
        records.extend(self.moves());
        watch
            .log
            .add(&records)
            .map_err(|error| cannot_write(watch, &error))?;
        self.has_begun = true;
        Ok(())
    }

    /// The files are what they were: what was undone is of no use any more.
    fn ends(&self, watch: &mut Watch) -> Result<(), String> {
        let undone = self.to..=watch.log.epoch();
        let ended = watch.next_epoch(self.to).and_then(|()| {
            let moves: Vec<Record> = self.moves().into_iter().collect();
            watch.log.bring_to_disk(&moves)
        });
        ended.map_err(|error| cannot_write(watch, &error))?;
        watch.forget(|epoch| undone.contains(&epoch));
        Ok(())
    }

    /// What is elsewhere now is written down, where nothing else is.
    fn note_moves(&self, watch: &mut Watch) -> Result<(), String> {
        let moves: Vec<Record> = self.moves().into_iter().collect();
        let noted = match moves.is_empty() {
            true => Ok(()),
            false => watch.log.add(&moves),
        };
        noted.map_err(|error| cannot_write(watch, &error))
    }

    /// What the journal names is elsewhere now.
    fn moves(&self) -> Option<Record> {
        let mut moves = self.plan.moves.clone();
        moves.extend(moved::moves());
        (!moves.is_empty()).then_some(Record::Moved { moves })
    }
}

fn cannot_write(watch: &Watch, error: &io::Error) -> String {
    let path = watch.log.path();
    format!(
        "the journal of files cannot be written to `{}`: {error}",
        path.display()
    )
}

impl StateSource for Journal {
    fn save(&mut self, to: &mut SnapshotBuilder) -> Result<(), Fatal> {
        self.began = None;
        let Some(shared) = &self.watch else {
            return Ok(());
        };
        unobserved(|| {
            let mut watch = locked(&shared.watch);
            if let Err(error) = watch.next_epoch(0) {
                to.fail("files", cannot_write(&watch, &error));
                return;
            }
            self.began = Some(watch.log.epoch());
            self.in_flight.append(&mut watch.unsynced);
            for path in &self.in_flight {
                to.needs_on_disk(path);
            }
            to.needs_on_disk(&watch.log.path());
        });
        Ok(())
    }

    fn note(&mut self) -> Option<(&'static str, String)> {
        self.began.map(|epoch| (EPOCH_NOTE, epoch.to_string()))
    }

    /// Those that are closed become what they were, then those that are open.
    fn restore(&mut self, from: &dyn Recorded) -> Result<(), Fatal> {
        let settled = self.arrive().and_then(|()| from.settle_files());
        settled.map_err(|error| Fatal::refused(headline!("E2029: {error}")).help(FILES_NEEDED))
    }
}

const FILES_NEEDED: &str =
    "the program goes on writing where it was: it needs its output files, and the right to change them";

impl FileObserver for Shared {
    fn before(&self, change: Change<'_>) {
        unobserved(|| locked(&self.watch).before(change));
    }

    fn before_reopening(&self, path: &Path) -> Result<Coming, String> {
        unobserved(|| {
            let mut coming = locked(&self.coming);
            let coming = match &mut *coming {
                None => return Ok(Coming::AsItIs),
                Some(Err(why)) => return Err(why.clone()),
                Some(Ok(coming)) => coming,
            };
            let Some(length) = coming.plan.length(path) else {
                return Ok(Coming::AsItIs);
            };
            if coming.plan.check_one(path)? {
                coming.begins(&mut locked(&self.watch))?;
                coming.plan.bring_back_one(path)?;
            }
            Ok(Coming::Length(length))
        })
    }
}
